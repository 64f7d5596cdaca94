// SPDX-License-Identifier: MIT

// Checks Gemini generateContent bodies, alone and against the body they were made from.
//
// Written without the library on purpose: a mistake there must not be repeated here.
// A finding is the name of a predicate and the path it failed at, "G-V4 contents[3].parts[0]".
// Paths start with "contents" for a bare array of contents as well.
//
// Fields may be spelled functionCall or function_call, and null is an absent field, as in proto JSON.
//
// Bodies that nest deeper than `max_depth` levels are not looked into: they get one U-V1 finding, and U-Δ3 when
// they differ.

#pragma once

#include "validation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gemini_validator {

using Json = validation::Json;
using Findings = validation::Findings;

inline constexpr std::size_t max_depth = validation::max_depth;

/// What a pruner may do beyond shortening read responses and strings in the args of their calls.
struct AllowedChanges {
    bool unread_results =
        false;  ///< responses after the last model content, and their calls, may be replaced
    bool user_images = false;  ///< parts of the user with an image that was read may become a text each
};

namespace detail {

using validation::array_at;
using validation::array_of;
using validation::at;
using validation::compare_fields;
using validation::dumped_size;
using validation::find;
using validation::is_one_of;
using validation::member;
using validation::object_of;
using validation::report;
using validation::role_of;
using validation::same;
using validation::same_or_both_absent;
using validation::text_at;

inline std::string camel_case(std::string_view key) {
    std::string name;
    bool is_upper = false;
    for (const char c : key) {
        if (c == '_') {
            is_upper = true;
            continue;
        }
        name.push_back(is_upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
        is_upper = false;
    }
    return name;
}

/// The value of a field in either spelling. Null when it is absent.
inline const Json* field_of(const Json& object, std::string_view name) {
    if (const Json::object_t* const fields = object_of(object)) {
        for (const auto& field : *fields) {
            if (!field.second.is_null() && camel_case(field.first) == name) { return &field.second; }
        }
    }
    return nullptr;
}

inline constexpr std::array<std::string_view, 9> data_fields{
    "text",           "inlineData",          "fileData", "functionCall", "functionResponse",
    "executableCode", "codeExecutionResult", "toolCall", "toolResponse"};

/// Name of the data field of a part. Empty unless there is exactly one.
inline std::string_view kind_of(const Json& part) {
    std::string_view kind;
    if (const Json::object_t* const fields = object_of(part)) {
        for (const auto& field : *fields) {
            const auto* const name =
                std::find(data_fields.begin(), data_fields.end(), camel_case(field.first));
            if (field.second.is_null() || name == data_fields.end()) { continue; }
            if (!kind.empty()) { return {}; }
            kind = *name;
        }
    }
    return kind;
}

inline const Json::array_t* contents_of(const Json& body) {
    return body.is_array() ? array_of(body) : array_at(body, "contents");
}

inline const Json::array_t* parts_at(const Json::array_t& contents, std::size_t content) {
    return content < contents.size() ? array_at(contents[content], "parts") : nullptr;
}

inline std::size_t part_count(const Json::array_t& contents, std::size_t content) {
    const Json::array_t* const parts = parts_at(contents, content);
    return parts == nullptr ? 0 : parts->size();
}

inline std::string part_path(std::size_t content, std::size_t part) {
    return at(at("contents", content) + ".parts", part);
}

inline bool is_model(const Json& content) { return role_of(content) == "model"; }

/// A function call or response and the index of its part.
struct Placed {
    std::size_t part = 0;
    const Json* value = nullptr;

    std::string_view id() const { return text_at(*value, "id"); }
    std::string_view name() const { return text_at(*value, "name"); }
};

inline std::vector<Placed> placed_in(const Json& content, std::string_view field) {
    std::vector<Placed> found;
    const Json::array_t* const parts = array_at(content, "parts");
    for (std::size_t p = 0; parts != nullptr && p < parts->size(); ++p) {
        if (const Json* const value = field_of((*parts)[p], field)) { found.push_back(Placed{p, value}); }
    }
    return found;
}

/// Which response answers which call of the content before.
struct Pairing {
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

    std::vector<std::size_t> response_of;  ///< per call, or `none`
    bool is_sound = false;                 ///< one response per call, with its id or at its place
};

/// Pairs by id, then by order where an id is missing, then by name alone.
inline Pairing pair_up(const std::vector<Placed>& calls, const std::vector<Placed>& responses) {
    Pairing pairing;
    pairing.response_of.assign(calls.size(), Pairing::none);
    std::vector<bool> is_used(responses.size(), false);
    const auto pair = [&](std::size_t call, std::size_t response) {
        pairing.response_of[call] = response;
        is_used[response] = true;
    };
    const auto pair_first = [&](const auto& fits) {
        for (std::size_t r = 0; r < responses.size(); ++r) {
            for (std::size_t c = 0; !is_used[r] && c < calls.size(); ++c) {
                if (pairing.response_of[c] == Pairing::none && fits(calls[c], responses[r])) { pair(c, r); }
            }
        }
    };
    const auto may_lack_id = [](const Placed& call, const Placed& response) {
        return call.id().empty() || response.id().empty();
    };
    pair_first([](const Placed& call, const Placed& response) {
        return !call.id().empty() && call.id() == response.id();
    });
    std::size_t next = 0;
    for (std::size_t c = 0; c < calls.size(); ++c) {
        if (pairing.response_of[c] != Pairing::none) { continue; }
        while (next < responses.size() && is_used[next]) { ++next; }
        if (next == responses.size()) { break; }
        if (may_lack_id(calls[c], responses[next]) && calls[c].name() == responses[next].name()) {
            pair(c, next);
        }
        ++next;
    }
    pairing.is_sound = calls.size() == responses.size() &&
                       std::find(pairing.response_of.begin(), pairing.response_of.end(), Pairing::none) ==
                           pairing.response_of.end();
    pair_first([&may_lack_id](const Placed& call, const Placed& response) {
        return may_lack_id(call, response) && call.name() == response.name();
    });
    return pairing;
}

// --- predicates on one body --------------------------------------------------------------------------------

inline void check_parts(const Json::array_t& contents, Findings& findings) {
    for (std::size_t c = 0; c < contents.size(); ++c) {
        const Json::array_t* const parts = array_at(contents[c], "parts");
        if (parts == nullptr || parts->empty()) {
            report(findings, "G-V1", at("contents", c));
            continue;
        }
        for (std::size_t p = 0; p < parts->size(); ++p) {
            const std::string_view kind = kind_of((*parts)[p]);
            const Json* const data = kind.empty() ? nullptr : field_of((*parts)[p], kind);
            if (data == nullptr || !(kind == "text" ? data->is_string() : data->is_object())) {
                report(findings, "G-V1", part_path(c, p));
            }
        }
    }
}

inline void check_answers(const Json::array_t& contents, Findings& findings) {
    for (std::size_t c = 0; c < contents.size(); ++c) {
        const std::vector<Placed> calls = placed_in(contents[c], "functionCall");
        if (calls.empty()) { continue; }
        const bool is_last = c + 1 == contents.size();
        const bool is_answered = !is_last && !is_model(contents[c + 1]) &&
                                 pair_up(calls, placed_in(contents[c + 1], "functionResponse")).is_sound;
        if (!is_model(contents[c]) || !(is_last || is_answered)) {
            report(findings, "G-V2", at("contents", c));
        }
    }
}

inline void check_places(const Json::array_t& contents, Findings& findings) {
    if (!contents.empty() && !placed_in(contents[0], "functionCall").empty()) {
        report(findings, "G-V3", "contents[0]");
    }
    for (std::size_t c = 0; c < contents.size(); ++c) {
        const bool follows_calls = c > 0 && !is_model(contents[c]) && is_model(contents[c - 1]) &&
                                   !placed_in(contents[c - 1], "functionCall").empty();
        if (!follows_calls && !placed_in(contents[c], "functionResponse").empty()) {
            report(findings, "G-V3", at("contents", c));
        }
    }
}

inline void check_payloads(const Json::array_t& contents, Findings& findings) {
    for (std::size_t c = 0; c < contents.size(); ++c) {
        for (const Placed& response : placed_in(contents[c], "functionResponse")) {
            const Json* const payload = field_of(*response.value, "response");
            if (response.name().empty() || payload == nullptr || !payload->is_object()) {
                report(findings, "G-V4", part_path(c, response.part));
            }
        }
        for (const Placed& call : placed_in(contents[c], "functionCall")) {
            const Json* const args = field_of(*call.value, "args");
            if (args != nullptr && !args->is_object()) { report(findings, "G-V5", part_path(c, call.part)); }
        }
    }
}

// --- predicates on a body and what became of it ------------------------------------------------------------

/// What the transcript says about a place.
struct Surroundings {
    std::size_t end_of_read = 0;  ///< one past the last model content; later responses are unread

    bool is_unread(std::size_t content) const { return content >= end_of_read; }
};

inline Surroundings surroundings_of(const Json::array_t& contents) {
    Surroundings around;
    for (std::size_t c = 0; c < contents.size(); ++c) {
        if (is_model(contents[c])) { around.end_of_read = c + 1; }
    }
    return around;
}

/// Per part of a content: a function call with a response in the next content.
inline std::vector<bool> answered_parts(const Json::array_t& contents, std::size_t content) {
    std::vector<bool> is_answered(part_count(contents, content), false);
    if (content + 1 < contents.size() && !is_model(contents[content + 1])) {
        const std::vector<Placed> calls = placed_in(contents[content], "functionCall");
        const Pairing pairing = pair_up(calls, placed_in(contents[content + 1], "functionResponse"));
        for (std::size_t i = 0; i < calls.size(); ++i) {
            is_answered[calls[i].part] = pairing.response_of[i] != Pairing::none;
        }
    }
    return is_answered;
}

/// Calls and responses with their ids, in order.
inline std::vector<std::pair<std::string_view, std::string_view>> events_of(const Json& content) {
    std::vector<std::pair<std::string_view, std::string_view>> events;
    const Json::array_t* const parts = array_at(content, "parts");
    for (std::size_t p = 0; parts != nullptr && p < parts->size(); ++p) {
        for (const std::string_view kind : {"functionCall", "functionResponse"}) {
            if (const Json* const value = field_of((*parts)[p], kind)) {
                events.emplace_back(kind, text_at(*value, "id"));
            }
        }
    }
    return events;
}

inline std::vector<std::pair<std::string_view, std::string_view>> events_of(const Json::array_t& contents) {
    std::vector<std::pair<std::string_view, std::string_view>> events;
    for (const Json& content : contents) {
        const auto more = events_of(content);
        events.insert(events.end(), more.begin(), more.end());
    }
    return events;
}

inline const Json* signature_at(const Json::array_t& contents, std::size_t content, std::size_t part) {
    return part < part_count(contents, content)
               ? field_of((*parts_at(contents, content))[part], "thoughtSignature")
               : nullptr;
}

/// Reports the first signature that changed, went, came or moved.
inline void compare_signatures(const Json::array_t& before, const Json::array_t& after, Findings& findings) {
    for (std::size_t c = 0; c < std::max(before.size(), after.size()); ++c) {
        for (std::size_t p = 0; p < std::max(part_count(before, c), part_count(after, c)); ++p) {
            if (!same_or_both_absent(signature_at(before, c, p), signature_at(after, c, p))) {
                report(findings, "G-Δ1", part_path(c, p));
                return;
            }
        }
    }
}

inline void compare_opaque(const Json& before, const Json& after, Findings& findings) {
    constexpr std::array<std::string_view, 2> opaque{"thoughtSignature", "thought_signature"};
    constexpr std::array<std::string_view, 2> payloads{"args", "response"};
    if (!validation::are_same(validation::fields_under(before, opaque, payloads),
                              validation::fields_under(after, opaque, payloads))) {
        report(findings, "U-Δ6", "contents");
    }
}

/// Members of a response keep their names, and each one may become a shorter string.
inline void compare_response_members(const Json& before, const Json& after, const std::string& path,
                                     Findings& findings) {
    const auto is_replaced = [&before, &after](std::string_view key) {
        const Json* const left = find(before, key);
        const Json* const right = find(after, key);
        return left != nullptr && right != nullptr && right->is_string() &&
               (left->is_string() || left->is_structured());
    };
    compare_fields(
        before, after, path, is_replaced, [](std::string_view) { return "U-Δ3"; }, findings);
    for (const auto& field : *object_of(before)) {
        const Json* const right = find(after, field.first);
        if (!is_replaced(field.first) || same(field.second, *right)) { continue; }
        if (validation::is_blank(*validation::string_of(*right))) {
            report(findings, "U-Δ4", member(path, field.first) + " (blank)");
        }
        if (dumped_size(*right) >= dumped_size(field.second)) {
            report(findings, "U-Δ4", member(path, field.first) + " (not smaller)");
        }
    }
}

/// A `$ref` in the response names a part by its display name.
inline bool refers_to_parts(const Json* response) {
    constexpr std::array<std::string_view, 1> reference{"$ref"};
    constexpr std::array<std::string_view, 0> nothing{};
    return response != nullptr && !validation::fields_under(*response, reference, nothing).empty();
}

inline void compare_response(const Json& before, const Json& after, std::size_t content,
                             const std::string& path, const Surroundings& around,
                             const AllowedChanges& allowed, Findings& findings) {
    if (same(before, after)) { return; }
    if (around.is_unread(content) && !allowed.unread_results) {
        report(findings, "U-Δ3", path + " (unread)");
        return;
    }
    compare_fields(
        before, after, path, [](std::string_view key) { return key == "response" || key == "parts"; },
        [](std::string_view) { return "U-Δ3"; }, findings);
    const Json* const left = find(before, "response");
    const Json* const right = find(after, "response");
    if (left != nullptr && right != nullptr && !same(*left, *right)) {
        const std::string payload_path = path + ".response";
        if (!left->is_object()) {
            report(findings, "U-Δ3", payload_path);
        } else if (!right->is_object()) {
            report(findings, "U-Δ4", payload_path + " (kind)");
        } else {
            compare_response_members(*left, *right, payload_path, findings);
        }
    }
    const Json* const left_parts = find(before, "parts");
    const Json* const right_parts = find(after, "parts");
    if (left_parts != nullptr && right_parts != nullptr && !same(*left_parts, *right_parts)) {
        if (!left_parts->is_array() || !right_parts->is_array() || !right_parts->empty()) {
            report(findings, "U-Δ3", path + ".parts");
        } else if (refers_to_parts(right)) {
            report(findings, "U-Δ3", path + ".parts (referred to)");
        }
    }
}

inline void compare_call(const Json& before, const Json& after, std::size_t content, bool is_answered,
                         const std::string& path, const Surroundings& around, const AllowedChanges& allowed,
                         Findings& findings) {
    compare_fields(
        before, after, path, [](std::string_view key) { return key == "args"; },
        [](std::string_view) { return "U-Δ3"; }, findings);
    const Json* const left = find(before, "args");
    const Json* const right = find(after, "args");
    if (left == nullptr || right == nullptr || same(*left, *right)) { return; }
    const std::string args_path = path + ".args";
    if (!is_answered) {
        report(findings, "U-Δ3", args_path + " (unanswered)");
        return;
    }
    if (around.is_unread(content + 1) && !allowed.unread_results) {
        report(findings, "U-Δ3", args_path + " (unread)");
        return;
    }
    validation::compare_input(*left, *right, args_path, findings);
    if (dumped_size(*right) >= dumped_size(*left)) { report(findings, "U-Δ4", args_path + " (not smaller)"); }
}

/// Parts of the server's own tools.
inline bool is_server_field(std::string_view name) {
    constexpr std::array<std::string_view, 4> names{"executableCode", "codeExecutionResult", "toolCall",
                                                    "toolResponse"};
    return is_one_of(name, names);
}

inline void compare_part(const Json& before, const Json& after, std::size_t content, bool is_answered,
                         const std::string& path, const Surroundings& around, const AllowedChanges& allowed,
                         Findings& findings) {
    if (same(before, after)) { return; }
    const std::string_view kind = kind_of(before);
    const std::string_view other_kind = kind_of(after);
    const Json* const left = field_of(before, kind);
    const Json* const right = field_of(after, other_kind);
    const bool is_paired = kind == "functionCall" || kind == "functionResponse";
    if (kind != other_kind || (is_paired && !validation::is_same_at(*left, *right, "id"))) {
        report(findings, is_server_field(kind) ? "G-Δ3" : "U-Δ2", path);
        return;
    }
    // A changed signature was reported for its place already.
    compare_fields(
        before, after, path,
        [kind, is_paired](std::string_view key) {
            const std::string name = camel_case(key);
            return name == "thoughtSignature" || (is_paired && name == kind);
        },
        [](std::string_view key) { return is_server_field(camel_case(key)) ? "G-Δ3" : "U-Δ3"; }, findings);
    if (kind == "functionResponse") {
        compare_response(*left, *right, content, member(path, kind), around, allowed, findings);
    } else if (kind == "functionCall") {
        compare_call(*left, *right, content, is_answered, member(path, kind), around, allowed, findings);
    }
}

/// A part that holds an image and, beside its resolution, nothing else.
inline bool is_image(const Json& part) {
    const std::string_view kind = kind_of(part);
    if (kind != "inlineData" && kind != "fileData") { return false; }
    for (const auto& field : *object_of(part)) {
        const std::string name = camel_case(field.first);
        if (name != kind && name != "mediaResolution") { return false; }
    }
    const Json* const type = field_of(*field_of(part, kind), "mimeType");
    return type != nullptr && type->is_string() && type->get<std::string>().rfind("image/", 0) == 0;
}

inline void compare_content(const Json::array_t& before, const Json::array_t& after, std::size_t index,
                            const Surroundings& around, const AllowedChanges& allowed, Findings& findings) {
    const std::string path = at("contents", index);
    const Json& old_content = before[index];
    const Json& new_content = after[index];
    if (same(old_content, new_content)) { return; }
    if (!validation::is_same_at(old_content, new_content, "role")) {
        report(findings, "U-Δ1", path);
        return;
    }
    const Json::array_t* const left = array_at(old_content, "parts");
    const Json::array_t* const right = array_at(new_content, "parts");
    const bool both_lists = left != nullptr && right != nullptr;
    compare_fields(
        old_content, new_content, path,
        [both_lists](std::string_view key) { return both_lists && key == "parts"; },
        [](std::string_view) { return "U-Δ3"; }, findings);
    if (!both_lists) { return; }
    if (left->size() != right->size()) {
        report(findings, "G-Δ2", path);
        if (events_of(old_content) != events_of(new_content)) { report(findings, "U-Δ2", path); }
        return;
    }
    const std::vector<bool> is_answered = answered_parts(before, index);
    const bool open_images = allowed.user_images && !is_model(old_content) && !around.is_unread(index);
    for (std::size_t p = 0; p < left->size(); ++p) {
        const Json& part = (*right)[p];
        if (open_images && kind_of(part) == "text" && is_image((*left)[p])) {
            const bool text = part.size() == 1 && !validation::is_blank(text_at(part, "text"));
            if (!text || dumped_size(part) >= dumped_size((*left)[p])) {
                report(findings, "U-Δ4", part_path(index, p));
            }
            continue;
        }
        compare_part((*left)[p], (*right)[p], index, is_answered[p], part_path(index, p), around, allowed,
                     findings);
    }
}

inline std::string_view body_field_predicate(std::string_view key) {
    constexpr std::array<std::string_view, 3> settings{"systemInstruction", "tools", "cachedContent"};
    return is_one_of(camel_case(key), settings) ? "G-Δ3" : "U-Δ3";
}

}  // namespace detail

/// Every predicate the body breaks on its own (U-V1, G-V1 to G-V5). Empty for a request the server takes.
inline Findings violations(const Json& body) {
    Findings findings;
    const Json::array_t* const contents = detail::contents_of(body);
    if (contents == nullptr || validation::is_deeper_than(body, max_depth)) {
        validation::report(findings, "U-V1", "body");
        return findings;
    }
    validation::check_strings(body, "contents", findings);
    detail::check_parts(*contents, findings);
    detail::check_answers(*contents, findings);
    detail::check_places(*contents, findings);
    detail::check_payloads(*contents, findings);
    return findings;
}

/// Every difference that a pruner must not make (U-Δ1 to U-Δ4, U-Δ6, G-Δ1 to G-Δ3). Members of a read response
/// may become shorter strings, its parts may become [], and strings in the args of a read call may be replaced.
inline Findings changes_forbidden(const Json& before, const Json& after, const AllowedChanges& allowed = {}) {
    Findings findings;
    const Json::array_t* const left = detail::contents_of(before);
    const Json::array_t* const right = detail::contents_of(after);
    const bool is_comparable = left != nullptr && right != nullptr && before.type() == after.type() &&
                               !validation::is_deeper_than(before, max_depth) &&
                               !validation::is_deeper_than(after, max_depth);
    if (!is_comparable) {
        if (!validation::same(before, after)) { validation::report(findings, "U-Δ3", "body"); }
        return findings;
    }
    if (before.is_object()) {
        validation::compare_fields(
            before, after, {}, [](std::string_view key) { return key == "contents"; },
            detail::body_field_predicate, findings);
    }
    detail::compare_signatures(*left, *right, findings);
    detail::compare_opaque(before, after, findings);
    if (left->size() != right->size()) {
        validation::report(findings, "U-Δ1", "contents");
        if (detail::events_of(*left) != detail::events_of(*right)) {
            validation::report(findings, "U-Δ2", "contents");
        }
        return findings;
    }
    const detail::Surroundings around = detail::surroundings_of(*left);
    for (std::size_t c = 0; c < left->size(); ++c) {
        detail::compare_content(*left, *right, c, around, allowed, findings);
    }
    return findings;
}

/// What pruning made worse: violations `before` did not have, and forbidden changes.
inline Findings new_violations(const Json& before, const Json& after, const AllowedChanges& allowed = {}) {
    Findings findings = validation::added(violations(before), violations(after));
    const Findings changes = changes_forbidden(before, after, allowed);
    findings.insert(findings.end(), changes.begin(), changes.end());
    return findings;
}

}  // namespace gemini_validator
