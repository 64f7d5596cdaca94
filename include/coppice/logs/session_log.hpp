// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialect.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coppice::inline v0 {

/// Whose session log it is. Each is JSON Lines: one object a line.
enum class LogFormat : std::uint8_t {
    claude_code,  ///< Claude Code, `~/.claude/projects/*/*.jsonl`
    codex,        ///< Codex, `~/.codex/sessions/*/*/*/rollout-*.jsonl`
    dsh,          ///< DeepSeek Harness, `~/.dsh/sessions/*/*/session*.jsonl`; `.zstd` has to be decoded first
};

/// What a session log says the model would be shown next.
struct SessionLog {
    LogFormat format{};             ///< whose log it is
    Dialect dialect{};              ///< of the body
    nlohmann::ordered_json body{};  ///< `{"messages": [...]}` or `{"input": [...]}`, nothing else
    std::vector<std::size_t>
        lines{};                       ///< for each of these, the first line of the log that it came from, from 1
    std::vector<std::string> notes{};  ///< what was left out or repaired and why, in English
};

}  // namespace coppice
