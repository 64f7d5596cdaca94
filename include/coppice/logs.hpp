// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/json_grammar.hpp>
#include <coppice/detail/log_lines.hpp>
#include <coppice/logs/claude_code.hpp>
#include <coppice/logs/codex.hpp>
#include <coppice/logs/dsh.hpp>
#include <coppice/logs/session_log.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

namespace detail {

template <std::size_t Size>
bool is_listed(std::string_view word, const std::array<std::string_view, Size>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

inline bool is_dsh_line(const LogJson& line, std::string_view type) {
    if (type == "session") {
        // others begin with a line of that type, too
        return log_member(line, "createdAt") != nullptr || log_member(line, "delegationDepth") != nullptr;
    }
    return type.find('/') != std::string_view::npos &&
           (log_member(line, "seq") != nullptr || log_member(line, "seq0") != nullptr);
}

inline bool is_codex_line(const LogJson& line, std::string_view type) {
    constexpr std::array<std::string_view, 7> types = {"session_meta",      "response_item", "compacted",
                                                       "event_msg",         "turn_context",  "world_state",
                                                       "token_usage_record"};
    const LogJson* const payload = log_member(line, "payload");
    return is_listed(type, types) && payload != nullptr && payload->is_object();
}

inline bool is_claude_code_line(const LogJson& line, std::string_view type) {
    const auto has = [&](std::string_view name) { return log_member(line, name) != nullptr; };
    if (type == "user" || type == "assistant") {
        const LogJson* const message = log_member(line, "message");
        return message != nullptr && message->is_object();
    }
    if (type == "summary") { return has("leafUuid"); }
    if (type == "file-history-snapshot" || type == "queue-operation") { return true; }
    return has("uuid") && (has("parentUuid") || has("sessionId") || has("session_id"));
}

}  // namespace detail

/// Which session log a text is, as its first lines say. Nothing, where it is none: a request body is one JSON value
/// without the marks of a log, on one line or on many.
inline std::optional<LogFormat> log_format_of(std::string_view text) {
    constexpr std::size_t looked_at = 100;
    detail::LogLines lines(text);
    detail::LogJson line;
    for (std::size_t i = 0; i < looked_at && lines.next(); ++i) {
        if (!detail::parse_log_line(lines.line(), line).empty()) {
            // broken, or the first of many that are one value
            std::vector<bool> room;
            if (i == 0 && !detail::JsonGrammar<>(lines.from_here(), room).find_fault()) { return {}; }
            continue;
        }
        const std::string_view type = detail::log_text(line, "type");
        if (type.empty()) { continue; }
        if (detail::is_dsh_line(line, type)) { return LogFormat::dsh; }
        if (detail::is_codex_line(line, type)) { return LogFormat::codex; }
        if (detail::is_claude_code_line(line, type)) { return LogFormat::claude_code; }
    }
    return {};
}

/// Reads a session log as a request body, for `plan`, `prune` and whatever else takes one. It is read only: a log is
/// not what a pruned body can be written back to. See the reader of each format for what becomes of its lines; time and
/// memory grow with the text. Never throws on data: lines that cannot be read are left out with a note.
inline SessionLog read_log(std::string_view text, LogFormat format) {
    switch (format) {
        case LogFormat::codex: return read_codex_log(text);
        case LogFormat::dsh: return read_dsh_log(text);
        case LogFormat::claude_code: break;
    }
    return read_claude_code_log(text);
}

/// The same for a text of unknown format. Nothing, where it is no log.
inline std::optional<SessionLog> read_log(std::string_view text) {
    const std::optional<LogFormat> format = log_format_of(text);
    if (!format) { return {}; }
    return read_log(text, *format);
}

}  // namespace coppice
