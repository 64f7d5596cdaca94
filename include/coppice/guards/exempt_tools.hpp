// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

#include <array>
#include <span>

namespace coppice {

/// Tools whose output steers the rest of the session: plans, to-do lists, loaded skills.
inline constexpr std::array<std::string_view, 7> steering_tools = {
    "skill", "Skill", "todowrite", "todoread", "TodoWrite", "TodoRead", "ExitPlanMode",
};

/// Calls and results of the named tools (upper and lower case matter) stay as they are, also under a ceiling. A name covers a tool behind a
/// server prefix too: `skill` covers `mcp__team__skill`. The name of a result is that of its own call
/// (anomalyco/opencode #32189).
///
///     static constexpr std::array<std::string_view, 2> mine = {"Plan", "run_tests"};
///     coppice::ExemptTools{.tools = mine}
struct ExemptTools {
    static constexpr std::string_view name = "exempt_tools";

    std::span<const std::string_view> tools = steering_tools;  ///< not owned; outlives the pipeline

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        std::string scratch;
        const std::string_view tool = decoded(transcript.all()[proposal.entry].tool, scratch);
        for (const std::string_view exempt : tools) {
            if (tool == exempt || is_behind_prefix(tool, exempt)) { return false; }
        }
        return true;
    }

private:
    static bool is_behind_prefix(std::string_view tool, std::string_view exempt) {
        constexpr std::string_view separator = "__";
        if (tool.size() <= exempt.size() + separator.size()) { return false; }
        const std::string_view server = tool.substr(0, tool.size() - exempt.size());
        return tool.substr(server.size()) == exempt &&
               server.substr(server.size() - separator.size()) == separator;
    }
};
static_assert(guard<ExemptTools>);

}  // namespace coppice
