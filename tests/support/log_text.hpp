// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/logs/session_log.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// Texts of session logs, and what was said of them.
namespace support {

/// JSON Lines, each with its end.
inline std::string log_text(const std::vector<nlohmann::ordered_json>& lines) {
    std::string text;
    for (const nlohmann::ordered_json& line : lines) { text += line.dump() + "\n"; }
    return text;
}

inline bool has_note(const coppice::SessionLog& log, std::string_view note) {
    return std::find(log.notes.begin(), log.notes.end(), note) != log.notes.end();
}

/// An array nested so deep, as JSON.
inline std::string nested_array(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

/// Lines that every reader of logs has to bear, whatever the format.
inline std::vector<std::string> hostile_lines() {
    std::vector<std::string> lines = {"null",
                                      "7",
                                      "\"x\"",
                                      "[]",
                                      "[{}]",
                                      "{}",
                                      "{",
                                      "}",
                                      "{\"type\":",
                                      "{\"type\":7}",
                                      "{\"type\":null}",
                                      "\"",
                                      "{\"type\":\"user\"}{}",
                                      "\xFF\xFE",
                                      "{\"type\":\"\xC3\x28\"}",
                                      std::string("{\"a\":1}\0x", 9),
                                      std::string("\0", 1),
                                      "{\"type\":\"user\",\"n\":1e999}",
                                      "{\"seq\":123456789012345678901234567890}",
                                      "\xE2\x80\xA8",
                                      "{\"deep\":" + nested_array(200'000) + "}",
                                      "{\"deep\":" + nested_array(999) + "}"};
    std::string wide = "{";
    for (int i = 0; i < 50'000; ++i) { wide += "\"" + std::to_string(i) + "\":0,"; }
    lines.push_back(wide + "\"type\":\"user\"}");
    const std::vector<std::string> types = {
        "user",          "assistant", "system",    "session",      "session_meta", "summary",
        "response_item", "compacted", "event_msg", "user/message", "tool/result",  "assistant/message"};
    const std::vector<std::string> values = {
        "null", "true", "0", "-1", "18446744073709551615", "\"\"", "[]", "[null,[],{}]", "{}"};
    for (const std::string& type : types) {
        for (const std::string& value : values) {
            std::string line = "{\"type\":\"" + type + "\"";
            for (const std::string_view key : {"uuid", "parentUuid", "isSidechain", "message", "payload",
                                               "data", "seq", "surfaceOp", "compactMetadata"}) {
                line += ",\"" + std::string(key) + "\":" + value;
            }
            lines.push_back(line + "}");
            lines.push_back("{\"type\":\"" + type + "\",\"message\":{\"content\":" + value +
                            ",\"id\":" + value + "},\"payload\":{\"replacement_history\":" + value +
                            ",\"num_turns\":" + value +
                            ",\"type\":\"thread_rolled_back\"},\"data\":{\"message\":{\"role\":\"assistant\","
                            "\"content\":" +
                            value + "}},\"surfaceOp\":{\"op\":\"replace\",\"start\":" + value +
                            ",\"end\":" + value + "},\"seq0\":" + value + "}");
            lines.push_back(
                "{\"type\":\"" + type +
                "\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":" + value +
                "},{\"type\":\"tool_use\",\"id\":" + value +
                "}]},\"payload\":{\"role\":\"user\",\"content\":" + value +
                "},\"data\":{\"role\":\"user\",\"content\":[{\"type\":\"tool-result\",\"content\":" + value +
                "},{\"type\":\"image\",\"attachment\":" + value + "}]},\"surfaceOp\":\"append\"}");
        }
    }
    return lines;
}

}  // namespace support
