// SPDX-License-Identifier: MIT
#pragma once

#include "fidelity.hpp"
#include "json.hpp"
#include "options.hpp"

#include <coppice/recap.hpp>
#include <coppice/text.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coppice_cli {

struct RecapOutcome {
    std::string text{};
    std::vector<std::string> notes{};  ///< for people
};

namespace detail {

template <class Builder>
RecapOutcome recap(const Builder& builder, const coppice::Session& session) {
    const coppice::SessionHistory history = session.history();
    const coppice::Recap recap = builder.build(history.messages, history.cutoff);
    RecapOutcome outcome{.text = recap.text};
    // what nothing followed yet comes after the recap, so that no ask is lost
    if (const auto whole = builder.with_pending(recap, history.messages)) { outcome.text = *whole; }
    const auto note = [&outcome](bool yes, std::string_view text) {
        if (yes) { outcome.notes.emplace_back(text); }
    };
    note(!recap.why.empty(), "no recap: " + recap.why);
    note(history.unknown_cutoff, "the cutoff is no message of this branch: nothing counts as older");
    note(history.branch.unknown_branch, "there is no record of the branch: it was put behind the main one");
    note(history.branch.unknown_parent,
         "a branch hangs on one that is not there: messages were taken by their order");
    note(history.branch.cycle, "a branch is its own ancestor: messages were taken by their order");
    note(history.branch.unknown_fork_point && !history.branch.unknown_parent && !history.branch.cycle,
         "a fork point is no message of the parent: messages were taken by their order");
    note(recap.lines_left_out > 0, std::to_string(recap.lines_left_out) + " older lines are left out");
    return outcome;
}

// What a parser takes: bytes that are no UTF-8 and halves of surrogate pairs, which tools cut into logs, as U+FFFD.
inline std::string readable(std::string_view file) {
    std::string scratch;
    std::string json(coppice::detail::valid_utf8(file, scratch));
    for (std::size_t at = json.find('\\'); at != std::string::npos; at = json.find('\\', at)) {
        const auto unit = coppice::detail::next_unit(std::string_view(json).substr(at));
        if (unit.lone_surrogate) { json.replace(at + 2, 4, "fffd"); }
        at += unit.length;
    }
    return json;
}

}  // namespace detail

/// Prints what a session file comes to; what is wrong with the data is said, never an error.
inline RecapOutcome recap(const Options& options, std::string_view file) {
    // before parsing: ordered_json copies values, and so calls itself once a level, when an object grows
    if (coppice::json_shape(file).depth > 1000) { return {.notes = {"no recap: the session is nested too deeply for a DOM"}}; }
    const auto document = parse_json<nlohmann::ordered_json>(detail::readable(file));
    if (document.is_discarded()) { return {.notes = {"no recap: not JSON that a DOM can hold"}}; }
    const bool openswarm = options.preset == "openswarm";
    coppice::Session session(document, openswarm ? coppice::none : coppice::Session::default_longest_string);
    if (!session.why().empty()) { return {.notes = {"no recap: " + std::string(session.why())}}; }
    if (options.branch) { session.active_branch = *options.branch; }
    if (options.cutoff) { session.cutoff_id = *options.cutoff; }
    if (openswarm) { return detail::recap(coppice::presets::openswarm_recap(), session); }
    return detail::recap(coppice::RecapBuilder<>(), session);
}

}  // namespace coppice_cli
