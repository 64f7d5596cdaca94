// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/measure.hpp>
#include <coppice/recap/message.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// For each message, the call that it is the result of, or `none`.
///
/// By id where ids are there: a call arms its id, the next result with that id consumes it. Without ids, results
/// answer the calls since the last result in their order, the one of the same tool first where the result names one (looked
/// for among 1,024);
/// a result too many belongs to the last call. Hidden messages take no part.
inline std::vector<std::size_t> calls_of_results(std::span<const SessionMessage> messages) {
    constexpr std::size_t most_looked_at = 1024;  // of the calls that run at once
    std::vector<std::size_t> calls(messages.size(), none);
    std::vector<bool> answered(messages.size(), false);
    std::vector<std::size_t> open;  // calls since the last result
    std::size_t first_open = 0;
    std::size_t last_call = none;
    bool results_came = true;
    detail::Index armed;
    armed.start(64);
    const auto key = [](std::string_view id) { return detail::hash_bytes(id, detail::process_seed()); };

    const auto by_id = [&](const SessionMessage& result) {
        std::size_t& call = armed[key(result.call_id)];
        if (call == detail::Index::absent || messages[call].call_id != result.call_id) { return none; }
        const std::size_t found = call;
        call = detail::Index::absent;
        return found;
    };
    const auto by_order = [&](const SessionMessage& result) {
        const auto may_answer = [&](std::size_t call) {
            return !answered[call] && (result.call_id.empty() || messages[call].call_id.empty());
        };
        while (first_open < open.size() && answered[open[first_open]]) { ++first_open; }
        std::size_t found = none;
        const std::size_t end = std::min(open.size(), first_open + most_looked_at);
        for (std::size_t i = first_open; i < end; ++i) {
            if (!may_answer(open[i])) { continue; }
            if (result.tool.empty() || messages[open[i]].tool == result.tool) { return open[i]; }
            if (found == none) { found = open[i]; }
        }
        if (found != none || last_call == none) { return found; }
        const bool no_ids = result.call_id.empty() && messages[last_call].call_id.empty();
        return no_ids ? last_call : none;
    };

    for (std::size_t i = 0; i < messages.size(); ++i) {
        const SessionMessage& message = messages[i];
        if (message.hidden) { continue; }
        if (message.role == SessionRole::tool_call) {
            if (results_came) {
                open.clear();
                first_open = 0;
            }
            results_came = false;
            open.push_back(i);
            last_call = i;
            if (!message.call_id.empty()) { armed[key(message.call_id)] = i; }
        } else if (message.role == SessionRole::tool_result) {
            results_came = true;
            std::size_t call = message.call_id.empty() ? none : by_id(message);
            if (call == none) { call = by_order(message); }
            calls[i] = call;
            if (call != none) { answered[call] = true; }
        }
    }
    return calls;
}

}  // namespace coppice
