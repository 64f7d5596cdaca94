// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/call_view.hpp>
#include <coppice/wording.hpp>

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace coppice::inline v0 {

/// A summariser: says in a few words what a call of certain tools did, for the stub in the place of its result. Size,
/// outcome and the lines of a failure stand there anyway. It may write anything: what it writes is cut and made safe.
///
/// `tools` are names; one that ends with `*` stands for all that begin so. A name covers a tool behind a server prefix,
/// too: `search` covers `mcp__docs__search`.
///
/// Exemplar
///
///     struct QuerySummary {
///         static constexpr std::array<std::string_view, 1> tools = {"db_query"};
///         void summarise(std::string& out, std::string_view tool, const coppice::CallView& call) const {
///             out.append(tool).append(" on ").append(call.text("database"));
///         }
///     };
///
/// Models: those in summaries.hpp.
template <class S>
concept summariser = std::default_initializable<S> &&
    requires(const S& s, std::string& out, std::string_view tool, const CallView& call) {
    { s.tools } -> std::convertible_to<std::span<const std::string_view>>;
    { s.summarise(out, tool, call) } -> std::same_as<void>;
};

namespace detail {

inline bool covers_tool(std::string_view name, std::string_view tool) {
    if (name.ends_with('*')) {
        name.remove_suffix(1);
        const std::size_t prefix = tool.rfind("__");
        return tool.starts_with(name) ||
               (prefix != std::string_view::npos && tool.substr(prefix + 2).starts_with(name));
    }
    if (!tool.ends_with(name)) { return false; }
    tool.remove_suffix(name.size());
    return tool.empty() || tool.ends_with("__");
}

/// Of a call that no summariser knows: what it names, or its first two values.
inline void summarise_any(std::string& out, const ResultFacts& facts) {
    constexpr std::size_t values = 2;
    constexpr std::size_t value_limit = 40;
    out += facts.tool;
    if (!facts.identity.empty()) {
        out.append(1, ' ');
        append_safe(out, facts.identity, PlainWording::identity_limit);
        return;
    }
    if (facts.call == nullptr) { return; }
    std::size_t left = values;
    facts.call->for_each_value([&](std::string_view key, std::string_view value) {
        if (left == 0) { return; }
        --left;
        out += ' ';
        append_safe(out, key, value_limit);
        out += '=';
        append_safe(out, value, value_limit);
    });
}

}  // namespace detail

/// Stubs that say what a call did, a line each, by summarisers of which the first speaks that knows the tool and has more
/// to say than its name:
///
///     [tool result cleared: 9001 characters, ok; terminal ran npm test, exit code 0, 47 lines]
///     [tool result cleared: 9001 characters; write_file /src/main.c, 120 lines written]
///
/// All else is as in `PlainWording`, which reads these as its own.
template <class... S>
struct SummaryWording : PlainWording {
    static_assert((summariser<S> && ...),
                  "coppice::SummaryWording: a summariser is default-constructible and has `tools`, an array of names, and "
                  "`void summarise(std::string&, std::string_view tool, const CallView&) const`");
    static constexpr std::string_view name = "summary";
    static constexpr std::size_t summary_limit = 240;  ///< bytes

    void result(std::string& out, const ResultFacts& facts) const {
        PlainWording::result(out, facts, [&](std::string& safe) {
            std::string said;
            [[maybe_unused]] const auto say = [&](const auto& each) {
                if ((!said.empty() && said != facts.tool) || facts.call == nullptr) { return; }
                said.clear();
                for (const std::string_view tool : std::span<const std::string_view>(each.tools)) {
                    if (!detail::covers_tool(tool, facts.tool)) { continue; }
                    each.summarise(said, facts.tool, *facts.call);
                    return;
                }
            };
            (say(S{}), ...);
            if (said.empty() || said == facts.tool) {
                said.clear();
                detail::summarise_any(said, facts);
            }
            append_safe(safe, said, summary_limit);
        });
    }
};

}  // namespace coppice
