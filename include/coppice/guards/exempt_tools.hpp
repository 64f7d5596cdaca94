// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

#include <array>
#include <span>

namespace coppice::inline v0 {

/// Tools whose output steers the rest of the session: plans, to-do lists, loaded skills, what the user was asked.
inline constexpr std::array<std::string_view, 17> steering_tools = {
    "skill",      "Skill",      "todowrite",    "todoread",        "TodoWrite", "TodoRead",
    "TaskCreate", "TaskUpdate", "TaskList",     "TaskGet",         "ExitPlanMode", "AskUserQuestion",
    "ask_user",   "question",   "update_plan",  "write_todos",     "manage_todo_list",
};

/// Calls and results of the named tools (upper and lower case matter) stay as they are, also under a ceiling. A name
/// covers a tool behind a server prefix too: `skill` covers `mcp__team__skill`. The name of a result is that of its
/// own call (anomalyco/opencode #32189).
///
///     static constexpr std::array<std::string_view, 2> mine = {"Plan", "run_tests"};
///     coppice::ExemptTools{.tools = mine}
struct ExemptTools {
    static constexpr std::string_view name = "exempt_tools";

    std::span<const std::string_view> tools = steering_tools;  ///< not owned; outlives the pipeline

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        const Text tool = transcript.all()[proposal.entry].tool;
        // no provider takes a name this long, and nobody shall have it read again and again
        constexpr std::size_t longest_name = 4096;
        constexpr std::size_t longest_spelling = 6;  // of one byte
        if (tool.raw().size() > longest_name * longest_spelling) { return true; }
        const std::size_t size = tool.escaped() ? measure(tool).plain.bytes : tool.raw().size();
        if (size > longest_name) { return true; }
        for (const std::string_view exempt : tools) {
            if (same_text(tool, exempt) || is_behind_prefix(tool, size, exempt)) { return false; }
        }
        return true;
    }

private:
    static bool is_behind_prefix(Text tool, std::size_t size, std::string_view exempt) {
        constexpr std::string_view separator = "__";
        const std::size_t tail = separator.size() + exempt.size();
        if (size <= tail) { return false; }
        detail::TextBytes bytes(tool);
        bool same = true;
        for (std::size_t i = 0; same && i < size; ++i) {
            char c = '\0';
            bytes.next(c);
            if (i < size - tail) { continue; }
            const std::size_t at = i - (size - tail);
            same = c == (at < separator.size() ? separator[at] : exempt[at - separator.size()]);
        }
        return same;
    }
};
static_assert(guard<ExemptTools>);

}  // namespace coppice
