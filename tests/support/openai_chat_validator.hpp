// SPDX-License-Identifier: MIT

// Checks OpenAI Chat Completions request bodies and those of servers that speak nearly the same (Ollama,
// llama.cpp, vLLM, DeepSeek, OpenRouter, Mistral), alone and against the body they were made from.
//
// Written without the library on purpose: a mistake there must not be repeated here.
// Paths start with "messages" for a bare array of messages as well.
//
// Which server a body is for can be told of one only: a body is for Ollama's own endpoint when the body has
// `options` or `keep_alive`, or a message `tool_name`, `images` or `thinking`. That server does not check which
// result belongs to which call, so C-V1 to C-V7 do not hold there and O-V1 does. The rules of the others
// (O-V2, L-V1, VL-V1, D-V1, D-V2, OR-Δ1, M-V1) cannot be asked of a body alone. `deviant_violations` has them for
// a body of any server, and only what got worse is a finding of `new_violations`.
//
// Bodies that nest more than `max_depth` levels are not descended into; they get one U-V1 finding, and U-Δ3 when
// they are to be compared.

#pragma once

#include "validation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace openai_chat_validator {

using Json = validation::Json;
using Findings = validation::Findings;
using validation::max_depth;

/// What a pruner may do beyond replacing results that were read, and strings in the inputs of their calls.
struct AllowedChanges {
    bool unread_results = false;  ///< results after the last assistant message may be replaced
    bool user_images = false;     ///< image_url parts of the user that were read may become a text part each
};

namespace detail {

using validation::array_at;
using validation::array_of;
using validation::at;
using validation::compare_fields;
using validation::find;
using validation::has;
using validation::has_value;
using validation::is_one_of;
using validation::member;
using validation::report;
using validation::role_of;
using validation::same;
using validation::string_at;
using validation::string_of;
using validation::text_at;
using validation::type_of;

inline const Json::array_t* messages_of(const Json& body) {
    return body.is_array() ? array_of(body) : array_at(body, "messages");
}

inline std::string message_path(std::size_t message) { return at("messages", message); }

inline std::string call_path(std::size_t message, std::size_t call) {
    return at(message_path(message) + ".tool_calls", call);
}

inline bool is_assistant(const Json& message) { return role_of(message) == "assistant"; }
inline bool is_tool(const Json& message) { return role_of(message) == "tool"; }
inline bool is_result(const Json& message) { return is_tool(message) || role_of(message) == "function"; }

/// The calls of an assistant message, or null.
inline const Json::array_t* calls_of(const Json& message) {
    return is_assistant(message) ? array_at(message, "tool_calls") : nullptr;
}

inline std::size_t count_calls(const Json& message) {
    const Json::array_t* const calls = calls_of(message);
    return calls == nullptr ? 0 : calls->size();
}

inline bool is_for_ollama(const Json& body) {
    if (has(body, "options") || has(body, "keep_alive")) { return true; }
    const Json::array_t& messages = *messages_of(body);
    return std::any_of(messages.begin(), messages.end(), [](const Json& message) {
        return has(message, "tool_name") || has(message, "images") || has(message, "thinking");
    });
}

/// `visit(arguments, path)` for the arguments of every call, also of the old kind; null where they are missing.
template <class Visitor>
void for_each_arguments(const Json::array_t& messages, const Visitor& visit) {
    const auto visit_function = [&visit](const Json& function, const std::string& path) {
        visit(find(function, "arguments"), path + ".arguments");
    };
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json::array_t* const calls = calls_of(messages[m]);
        for (std::size_t c = 0; calls != nullptr && c < calls->size(); ++c) {
            const Json* const function = find((*calls)[c], "function");
            if (function != nullptr) { visit_function(*function, call_path(m, c) + ".function"); }
        }
        const Json* const function = is_assistant(messages[m]) ? find(messages[m], "function_call") : nullptr;
        if (function != nullptr && !function->is_null()) {
            visit_function(*function, message_path(m) + ".function_call");
        }
    }
}

// --- predicates on one body ----------------------------------------------------------------------------------

inline void check_messages(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        if (role_of(messages[m]).empty()) { report(findings, "U-V1", message_path(m)); }
    }
    for_each_arguments(messages, [&findings](const Json* arguments, const std::string& path) {
        const std::string* const text = arguments == nullptr ? nullptr : string_of(*arguments);
        if (text != nullptr && validation::has_lone_surrogate(*text)) { report(findings, "U-V1", path); }
    });
}

/// Calls and the tool messages right after them: each id once on both sides, in any order.
inline void check_pairs(const Json::array_t& messages, Findings& findings) {
    std::size_t m = 0;
    while (m < messages.size()) {
        const Json::array_t* const calls = calls_of(messages[m]);
        std::vector<std::string_view> waiting;
        for (std::size_t c = 0; calls != nullptr && c < calls->size(); ++c) {
            const std::string_view id = text_at((*calls)[c], "id");
            if (id.empty() || std::find(waiting.begin(), waiting.end(), id) != waiting.end()) {
                report(findings, "C-V1", call_path(m, c) + ".id");
            } else {
                waiting.push_back(id);
            }
        }
        std::size_t result = is_tool(messages[m]) ? m : m + 1;
        for (; result < messages.size() && is_tool(messages[result]); ++result) {
            const auto call =
                std::find(waiting.begin(), waiting.end(), text_at(messages[result], "tool_call_id"));
            if (call == waiting.end()) {
                report(findings, "C-V2", message_path(result));
            } else {
                waiting.erase(call);
            }
        }
        if (!waiting.empty()) { report(findings, "C-V1", message_path(m)); }
        m = result;
    }
}

inline bool is_text_part(const Json& part) {
    return type_of(part) == "text" && string_at(part, "text") != nullptr;
}

inline bool is_filled_array(const Json* value) {
    return value != nullptr && value->is_array() && !value->empty();
}

inline void check_results(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json& message = messages[m];
        const Json* const content = find(message, "content");
        if (is_tool(message)) {
            const bool has_texts =
                is_filled_array(content) && std::all_of(content->begin(), content->end(), is_text_part);
            if (!has_texts && (content == nullptr || !content->is_string())) {
                report(findings, "C-V3", message_path(m));
            }
        } else if (role_of(message) == "function") {
            const Json* const call = m > 0 ? find(messages[m - 1], "function_call") : nullptr;
            const std::string* const name = string_at(message, "name");
            const bool answers = call != nullptr && is_assistant(messages[m - 1]) && name != nullptr &&
                                 text_at(*call, "name") == *name;
            if (!answers || content == nullptr || !(content->is_string() || content->is_null())) {
                report(findings, "C-V6", message_path(m));
            }
        }
    }
}

inline void check_assistants(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json& message = messages[m];
        if (!is_assistant(message)) { continue; }
        const Json* const content = find(message, "content");
        const bool says_something =
            (content != nullptr && content->is_string()) || is_filled_array(content) ||
            is_filled_array(find(message, "tool_calls")) || has_value(message, "function_call") ||
            has_value(message, "audio") || string_at(message, "refusal") != nullptr;
        if (!says_something) { report(findings, "C-V4", message_path(m)); }
        const Json* const calls = find(message, "tool_calls");
        if (calls != nullptr && !calls->is_null() && !calls->is_array()) {
            report(findings, "C-V5", message_path(m) + ".tool_calls");
        }
        for (std::size_t c = 0; c < count_calls(message); ++c) {
            const Json& call = (*calls_of(message))[c];
            const Json* const function = find(call, "function");
            const Json* const custom = find(call, "custom");
            const bool is_call = (function != nullptr && string_at(*function, "name") != nullptr) ||
                                 (custom != nullptr && string_at(*custom, "name") != nullptr &&
                                  string_at(*custom, "input") != nullptr);
            if (!is_call) { report(findings, "C-V5", call_path(m, c)); }
        }
    }
    // OpenAI wants strings; llama.cpp and Mistral take objects as well.
    for_each_arguments(messages, [&findings](const Json* arguments, const std::string& path) {
        if (arguments == nullptr || !(arguments->is_string() || arguments->is_object())) {
            report(findings, "C-V5", path);
        }
    });
}

inline void check_users(const Json::array_t& messages, Findings& findings) {
    constexpr std::array<std::string_view, 8> kinds{"text",      "image_url", "input_audio",  "file",
                                                    "audio_url", "video_url", "document_url", "reference"};
    for (std::size_t m = 0; m < messages.size(); ++m) {
        if (role_of(messages[m]) != "user") { continue; }
        const Json* const content = find(messages[m], "content");
        const bool has_known_parts =
            is_filled_array(content) &&
            std::all_of(content->begin(), content->end(),
                        [&kinds](const Json& part) { return is_one_of(type_of(part), kinds); });
        if (!has_known_parts && (content == nullptr || !content->is_string())) {
            report(findings, "C-V7", message_path(m));
        }
    }
}

inline void check_for_ollama(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json& message = messages[m];
        const bool has_no_content = !has_value(message, "content");
        if (string_at(message, "content") == nullptr && !(has_no_content && count_calls(message) > 0)) {
            report(findings, "O-V1", message_path(m));
        }
        const Json* const images = find(message, "images");
        const bool are_images =
            images == nullptr || images->is_null() ||
            (images->is_array() && std::all_of(images->begin(), images->end(),
                                               [](const Json& image) { return image.is_string(); }));
        if (!are_images) { report(findings, "O-V1", message_path(m) + ".images"); }
    }
    for_each_arguments(messages, [&findings](const Json* arguments, const std::string& path) {
        if (arguments == nullptr || !arguments->is_object()) { report(findings, "O-V1", path); }
    });
}

inline bool is_short_id(std::string_view id) {
    return id.size() == 9 && std::all_of(id.begin(), id.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
           });
}

inline void check_for_mistral(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json::array_t* const calls = calls_of(messages[m]);
        for (std::size_t c = 0; calls != nullptr && c < calls->size(); ++c) {
            if (!is_short_id(text_at((*calls)[c], "id"))) {
                report(findings, "M-V1", call_path(m, c) + ".id");
            }
        }
        if (is_tool(messages[m]) && !is_short_id(text_at(messages[m], "tool_call_id"))) {
            report(findings, "M-V1", message_path(m) + ".tool_call_id");
        }
        std::size_t next = m + 1;
        while (next < messages.size() && is_tool(messages[next])) { ++next; }
        if (!is_tool(messages[m]) && next - m - 1 != count_calls(messages[m])) {
            report(findings, "M-V1", message_path(m) + " (number of results)");
        }
        if (is_tool(messages[m]) && next == m + 1 && next < messages.size() &&
            !is_assistant(messages[next])) {
            report(findings, "M-V1", message_path(next));
        }
    }
}

/// llama.cpp, vLLM, DeepSeek, and Ollama where it stands in for OpenAI.
inline void check_for_others(const Json::array_t& messages, Findings& findings) {
    for_each_arguments(messages, [&findings](const Json* arguments, const std::string& path) {
        const std::string* const text = arguments == nullptr ? nullptr : string_of(*arguments);
        if (text == nullptr ? arguments == nullptr || !arguments->is_object() : text->empty()) {
            report(findings, "L-V1", path);
        }
        if (text == nullptr || !validation::is_json_text(*text)) { report(findings, "VL-V1", path); }
    });
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json& message = messages[m];
        const Json* const content = find(message, "content");
        if (content == nullptr && !has(message, "tool_calls")) { report(findings, "L-V1", message_path(m)); }
        if (is_tool(message) ? text_at(message, "content").empty()
                             : !has_value(message, "content") && count_calls(message) == 0) {
            report(findings, "D-V2", message_path(m));
        }
        if (is_tool(message) && content != nullptr && content->is_array() && content->empty()) {
            report(findings, "O-V2", message_path(m));
        }
    }
}

// --- predicates on a body and what became of it --------------------------------------------------------------

inline bool is_replaceable_part(std::string_view type) {
    constexpr std::array<std::string_view, 7> types{"text",      "image_url", "input_audio", "file",
                                                    "audio_url", "video_url", "document_url"};
    return is_one_of(type, types);
}

inline constexpr validation::PartRules part_rules{"text", is_replaceable_part};

/// Names what a changed field of a message, a call or a function breaks.
inline std::string_view predicate_for(std::string_view key) {
    constexpr std::array<std::string_view, 6> words{"content", "refusal",      "audio",
                                                    "name",    "tool_call_id", "id"};
    constexpr std::array<std::string_view, 6> round_trip{"extra_content", "reasoning_content",
                                                         "reasoning",     "reasoning_details",
                                                         "cache_control", "prompt_cache_breakpoint"};
    if (is_one_of(key, words)) { return "C-Δ1"; }
    return is_one_of(key, round_trip) ? "C-Δ2" : "U-Δ3";
}

/// Index after the last assistant message; 0 when there is none.
inline std::size_t end_of_read(const Json::array_t& messages) {
    std::size_t end = 0;
    for (std::size_t m = 0; m < messages.size(); ++m) { end = is_assistant(messages[m]) ? m + 1 : end; }
    return end;
}

/// The results that follow an assistant message before the next one.
inline std::vector<const Json*> results_after(const Json::array_t& messages, std::size_t assistant) {
    std::vector<const Json*> results;
    for (std::size_t m = assistant + 1; m < messages.size() && !is_assistant(messages[m]); ++m) {
        if (is_result(messages[m])) { results.push_back(&messages[m]); }
    }
    return results;
}

/// A result stands for this call: by id, and where the call has none, by name or by its place.
inline bool is_answered(const Json& call, std::size_t index, const std::vector<const Json*>& results) {
    const std::string_view id = text_at(call, "id");
    if (!id.empty()) {
        const bool has_own_result = std::any_of(results.begin(), results.end(), [id](const Json* result) {
            return text_at(*result, "tool_call_id") == id;
        });
        const bool has_ids = std::any_of(results.begin(), results.end(),
                                         [](const Json* result) { return has(*result, "tool_call_id"); });
        return has_own_result || (!has_ids && index < results.size());
    }
    const Json* const function = find(call, "function");
    const std::string_view name = function == nullptr ? std::string_view{} : text_at(*function, "name");
    return index < results.size() || std::any_of(results.begin(), results.end(), [name](const Json* result) {
               return !name.empty() &&
                      (text_at(*result, "tool_name") == name || text_at(*result, "name") == name);
           });
}

/// Compares a function with its name and arguments.
inline void compare_function(const Json& before, const Json& after, bool is_open, const std::string& path,
                             Findings& findings) {
    compare_fields(
        before, after, path, [](std::string_view key) { return key == "arguments"; }, predicate_for,
        findings);
    const Json* const left = find(before, "arguments");
    const Json* const right = find(after, "arguments");
    if (validation::same_or_both_absent(left, right)) { return; }
    const std::string arguments = path + ".arguments";
    if (left == nullptr || right == nullptr || !is_open) {
        report(findings, "U-Δ3", arguments);
        return;
    }
    if (left->is_string() && right->is_string()) {
        validation::compare_input_text(*string_of(*left), *string_of(*right), arguments, "C-V5", findings);
    } else if (left->is_object() && right->is_object()) {
        validation::compare_input(*left, *right, arguments, findings);
    } else {
        report(findings, "C-V5", arguments + " (kind)");
    }
    if (validation::dumped_size(*right) >= validation::dumped_size(*left)) {
        report(findings, "U-Δ4", arguments + " (not smaller)");
    }
}

inline void compare_calls(const Json::array_t& before, std::size_t message, const Json& after, bool is_read,
                          Findings& findings) {
    const Json& left = before[message];
    const std::vector<const Json*> results = results_after(before, message);
    const Json::array_t* const left_calls = array_at(left, "tool_calls");
    const Json::array_t* const right_calls = array_at(after, "tool_calls");
    if (left_calls != nullptr && right_calls != nullptr && left_calls->size() == right_calls->size()) {
        for (std::size_t c = 0; c < left_calls->size(); ++c) {
            const Json& call = (*left_calls)[c];
            const Json& other = (*right_calls)[c];
            const std::string path = call_path(message, c);
            const Json* const left_function = find(call, "function");
            const Json* const right_function = find(other, "function");
            const bool are_functions = left_function != nullptr && right_function != nullptr;
            compare_fields(
                call, other, path,
                [are_functions](std::string_view key) { return are_functions && key == "function"; },
                predicate_for, findings);
            if (are_functions) {
                const bool is_open = is_read && is_answered(call, c, results);
                compare_function(*left_function, *right_function, is_open, path + ".function", findings);
            }
        }
    } else if (!validation::is_same_at(left, after, "tool_calls")) {
        report(findings, "U-Δ3", message_path(message) + ".tool_calls");
    }
    const Json* const left_function = find(left, "function_call");
    const Json* const right_function = find(after, "function_call");
    if (left_function != nullptr && right_function != nullptr) {
        const std::string_view name = text_at(*left_function, "name");
        const bool is_open =
            is_read && std::any_of(results.begin(), results.end(), [name](const Json* result) {
                return role_of(*result) == "function" && text_at(*result, "name") == name;
            });
        compare_function(*left_function, *right_function, is_open, message_path(message) + ".function_call",
                         findings);
    }
}

/// Ids of calls and results in the order of the messages.
inline std::vector<std::string> ids_of(const Json& message) {
    std::vector<std::string> ids;
    const Json::array_t* const calls = calls_of(message);
    for (std::size_t c = 0; calls != nullptr && c < calls->size(); ++c) {
        ids.push_back("call " + std::string{text_at((*calls)[c], "id")});
    }
    if (has(message, "tool_call_id")) {
        ids.push_back("result " + std::string{text_at(message, "tool_call_id")});
    }
    return ids;
}

/// Values another party signed or wrote for itself.
inline std::vector<validation::FoundField> opaque_fields(const Json& message) {
    constexpr std::array<std::string_view, 7> keys{
        "extra_content", "reasoning_content", "reasoning_details", "encrypted_content",
        "signature",     "thought_signature", "thoughtSignature"};
    constexpr std::array<std::string_view, 2> payloads{"arguments", "input"};
    return validation::fields_under(message, keys, payloads);
}

inline void compare_reasoning(const Json& before, const Json& after, const std::string& path,
                              Findings& findings) {
    if (count_calls(before) > 0 && !validation::is_same_at(before, after, "reasoning_content")) {
        report(findings, "D-V1", path);
    }
    const bool has_details = has(before, "reasoning_details") && has(after, "reasoning_details");
    if (has_details && !validation::is_same_at(before, after, "reasoning_details")) {
        report(findings, "OR-Δ1", path);
    }
    if (!validation::are_same(opaque_fields(before), opaque_fields(after))) {
        report(findings, "U-Δ6", path);
    }
}

/// The parts of a user message are those that they were, but for images that became a text. Marks were compared before.
inline void compare_user_parts(const Json& before, const Json& after, const std::string& path, Findings& findings) {
    const Json::array_t* const left = array_of(before);
    const Json::array_t* const right = array_of(after);
    if (left == nullptr || right == nullptr || left->size() != right->size()) {
        report(findings, "C-Δ1", path);
        return;
    }
    for (std::size_t p = 0; p < left->size(); ++p) {
        const Json& part = (*right)[p];
        if (same((*left)[p], part)) { continue; }
        const bool became_text =
            text_at((*left)[p], "type") == "image_url" && text_at(part, "type") == "text";
        if (!became_text) {
            report(findings, "C-Δ1", at(path, p));
            continue;
        }
        const auto is_known = [](const auto& field) {
            return field.first == "type" || field.first == "text" || is_one_of(field.first, validation::mark_keys);
        };
        const Json::object_t& fields = *validation::object_of(part);
        if (!std::all_of(fields.begin(), fields.end(), is_known) || validation::is_blank(text_at(part, "text")) ||
            validation::dumped_size(part) >= validation::dumped_size((*left)[p])) {
            report(findings, "U-Δ4", at(path, p));
        }
    }
}

inline void compare_message(const Json::array_t& before, std::size_t message, const Json& after,
                            std::size_t end_of_read_messages, const AllowedChanges& allowed,
                            Findings& findings) {
    const Json& left = before[message];
    const std::string path = message_path(message);
    if (role_of(left) != role_of(after)) {
        report(findings, "U-Δ1", path);
        return;
    }
    if (same(left, after)) { return; }
    if (ids_of(left) != ids_of(after)) { report(findings, "U-Δ2", path); }
    compare_reasoning(left, after, path, findings);
    if (!validation::keeps_marks(left, after)) { report(findings, "C-Δ2", path + " (marks)"); }
    const bool has_payload = is_result(left);
    const bool has_calls = is_assistant(left);
    const bool has_images = allowed.user_images && role_of(left) == "user" && message < end_of_read_messages;
    compare_fields(
        left, after, path,
        [has_payload, has_calls, has_images](std::string_view key) {
            return ((has_payload || has_images) && key == "content") ||
                   (has_calls && (key == "tool_calls" || key == "function_call"));
        },
        predicate_for, findings);
    if (has_calls) { compare_calls(before, message, after, message + 1 < end_of_read_messages, findings); }
    const Json* const left_content = find(left, "content");
    const Json* const right_content = find(after, "content");
    if (has_images && left_content != nullptr && right_content != nullptr && !same(*left_content, *right_content)) {
        compare_user_parts(*left_content, *right_content, path + ".content", findings);
    }
    if (!has_payload || left_content == nullptr || right_content == nullptr ||
        same(*left_content, *right_content)) {
        return;
    }
    if (message >= end_of_read_messages && !allowed.unread_results) {
        report(findings, "U-Δ3", path + ".content (unread)");
        return;
    }
    if (left_content->type() != right_content->type()) { report(findings, "O-V2", path); }
    validation::compare_payload(*left_content, *right_content, part_rules, path + ".content", findings);
}

}  // namespace detail

/// Every predicate the body breaks on its own (U-V1, C-V1 to C-V7, O-V1). Empty for a request the server takes.
inline Findings violations(const Json& body) {
    Findings findings;
    const Json::array_t* const messages = detail::messages_of(body);
    if (messages == nullptr || validation::is_deeper_than(body, max_depth)) {
        detail::report(findings, "U-V1", "body");
        return findings;
    }
    validation::check_strings(body, "messages", findings);
    detail::check_messages(*messages, findings);
    if (detail::is_for_ollama(body)) {
        detail::check_for_ollama(*messages, findings);
        return findings;
    }
    detail::check_pairs(*messages, findings);
    detail::check_results(*messages, findings);
    detail::check_assistants(*messages, findings);
    detail::check_users(*messages, findings);
    return findings;
}

/// What other servers with this dialect would not like about the body (O-V2, L-V1, VL-V1, D-V2, M-V1).
/// Most bodies are for one of them and break some rule of another.
inline Findings deviant_violations(const Json& body) {
    Findings findings;
    const Json::array_t* const messages = detail::messages_of(body);
    if (messages != nullptr && !validation::is_deeper_than(body, max_depth)) {
        detail::check_for_others(*messages, findings);
        detail::check_for_mistral(*messages, findings);
    }
    return findings;
}

/// Every difference a pruner must not make (U-Δ1 to U-Δ4, U-Δ6, C-Δ1, C-Δ2, D-V1, OR-Δ1, and the parts of C-V5
/// and O-V2 that compare).
inline Findings changes_forbidden(const Json& before, const Json& after, const AllowedChanges& allowed = {}) {
    Findings findings;
    const Json::array_t* const left = detail::messages_of(before);
    const Json::array_t* const right = detail::messages_of(after);
    const bool is_deep =
        validation::is_deeper_than(before, max_depth) || validation::is_deeper_than(after, max_depth);
    if (is_deep || left == nullptr || right == nullptr || before.type() != after.type()) {
        if (is_deep || !validation::same(before, after)) { detail::report(findings, "U-Δ3", "body"); }
        return findings;
    }
    if (before.is_object()) {
        detail::compare_fields(
            before, after, {}, [](std::string_view key) { return key == "messages"; },
            [](std::string_view) { return "U-Δ3"; }, findings);
    }
    if (left->size() != right->size()) {
        detail::report(findings, "U-Δ1", "messages");
        return findings;
    }
    const std::size_t end_of_read = detail::end_of_read(*left);
    for (std::size_t m = 0; m < left->size(); ++m) {
        detail::compare_message(*left, m, (*right)[m], end_of_read, allowed, findings);
    }
    return findings;
}

/// What pruning made worse: violations `before` did not have, and forbidden changes.
inline Findings new_violations(const Json& before, const Json& after, const AllowedChanges& allowed = {}) {
    Findings findings = validation::added(violations(before), violations(after));
    for (const std::string& finding :
         validation::added(deviant_violations(before), deviant_violations(after))) {
        findings.push_back(finding);
    }
    for (const std::string& finding : changes_forbidden(before, after, allowed)) {
        findings.push_back(finding);
    }
    return findings;
}

}  // namespace openai_chat_validator
