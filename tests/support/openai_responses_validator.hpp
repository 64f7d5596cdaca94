// SPDX-License-Identifier: MIT

// Checks OpenAI Responses request bodies, alone and against the body they were made from.
//
// Written without the library on purpose: a mistake there must not be repeated here.
// Paths start with "input" for a bare array of items as well.
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
#include <utility>
#include <vector>

namespace openai_responses_validator {

using Json = validation::Json;
using Findings = validation::Findings;
using validation::max_depth;

/// Characters a function or custom tool may answer with.
inline constexpr std::size_t max_output_length = 10'485'760;

/// What a pruner may do beyond replacing outputs that were read, and strings in the inputs of their calls.
struct AllowedChanges {
    bool unread_results = false;  ///< outputs after the last item of the model may be replaced
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

/// The items, or null where the input is no array.
inline const Json::array_t* items_of(const Json& body) {
    return body.is_array() ? array_of(body) : array_at(body, "input");
}

inline std::string item_path(std::size_t item) { return at("input", item); }

/// Messages may come without a type.
inline std::string_view type_of(const Json& item) {
    const std::string_view type = validation::type_of(item);
    return type.empty() && !role_of(item).empty() ? std::string_view{"message"} : type;
}

/// The kinds of calls the sender of the request answers with an item.
inline constexpr std::array<std::string_view, 6> call_types{"function_call",    "custom_tool_call",
                                                            "local_shell_call", "shell_call",
                                                            "apply_patch_call", "computer_call"};
inline constexpr std::array<std::string_view, 6> output_types{
    "function_call_output", "custom_tool_call_output", "local_shell_call_output",
    "shell_call_output",    "apply_patch_call_output", "computer_call_output"};

inline bool is_call(const Json& item) { return is_one_of(type_of(item), call_types); }
inline bool is_output(const Json& item) { return is_one_of(type_of(item), output_types); }

/// What joins a call and its output. The output of a local shell has it under `id`.
inline std::string_view call_id_of(const Json& item) {
    const std::string_view call_id = text_at(item, "call_id");
    return call_id.empty() && type_of(item).substr(0, 11) == "local_shell" ? text_at(item, "id") : call_id;
}

/// A local shell is also answered as a function.
inline bool is_answer(const Json& output, const Json& call) {
    const std::string_view call_type = type_of(call);
    const std::string_view output_type = type_of(output);
    const bool fits = output_type == std::string{call_type} + "_output" ||
                      (call_type == "local_shell_call" && output_type == "function_call_output");
    if (!is_call(call) || !fits) { return false; }
    const std::string_view id = call_id_of(output);
    return !id.empty() &&
           (id == call_id_of(call) || (call_type == "local_shell_call" && id == text_at(call, "id")));
}

/// The server knows more of the conversation than the body says.
inline bool has_history_elsewhere(const Json& body, const Json::array_t& items) {
    return has_value(body, "previous_response_id") || has_value(body, "conversation") ||
           std::any_of(items.begin(), items.end(),
                       [](const Json& item) { return type_of(item) == "item_reference"; });
}

/// Pairs of ids and items, sorted by id.
using Ids = std::vector<std::pair<std::string_view, std::size_t>>;

template <class IdOf>
Ids ids_of(const Json::array_t& items, const IdOf& id_of) {
    Ids ids;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string_view id = id_of(items[i]);
        if (!id.empty()) { ids.emplace_back(id, i); }
    }
    std::sort(ids.begin(), ids.end());
    return ids;
}

/// Indices of the items that have this id.
inline std::vector<std::size_t> with_id(const Ids& ids, std::string_view id) {
    std::vector<std::size_t> found;
    for (auto at_id = std::lower_bound(ids.begin(), ids.end(), std::pair{id, std::size_t{0}});
         at_id != ids.end() && at_id->first == id; ++at_id) {
        found.push_back(at_id->second);
    }
    return found;
}

inline Ids outputs_by_id(const Json::array_t& items) {
    return ids_of(items,
                  [](const Json& item) { return is_output(item) ? call_id_of(item) : std::string_view{}; });
}

/// The first output of a call after it, or the number of items.
inline std::size_t output_of(const Json::array_t& items, const Ids& outputs, std::size_t call) {
    std::size_t first = items.size();
    for (const std::string_view id : {call_id_of(items[call]), text_at(items[call], "id")}) {
        for (const std::size_t output : with_id(outputs, id)) {
            if (output > call && output < first && is_answer(items[output], items[call])) { first = output; }
        }
    }
    return first;
}

/// `visit(text, path)` for each field that has to be a string another party reads as JSON or as its own language.
template <class Visitor>
void for_each_input(const Json::array_t& items, const Visitor& visit) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string_view type = type_of(items[i]);
        if (type == "function_call" || type == "mcp_call" || type == "mcp_approval_request") {
            visit(find(items[i], "arguments"), item_path(i) + ".arguments");
        } else if (type == "custom_tool_call") {
            visit(find(items[i], "input"), item_path(i) + ".input");
        }
    }
}

// --- predicates on one body ----------------------------------------------------------------------------------

inline void check_items(const Json::array_t& items, Findings& findings) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (type_of(items[i]).empty()) { report(findings, "U-V1", item_path(i)); }
        if (type_of(items[i]) == "compaction_trigger" && i + 1 < items.size()) {
            report(findings, "R-V9", item_path(i));
        }
    }
    for_each_input(items, [&findings](const Json* value, const std::string& path) {
        const std::string* const text = value == nullptr ? nullptr : string_of(*value);
        if (text == nullptr) {
            report(findings, "R-V8", path);
        } else if (path.substr(path.size() - 9) == "arguments" && validation::has_lone_surrogate(*text)) {
            report(findings, "U-V1", path);
        }
    });
}

inline void check_pairs(const Json& body, const Json::array_t& items, Findings& findings) {
    if (has_history_elsewhere(body, items)) { return; }
    std::size_t trailing = items.size();  // calls at the very end wait for the outputs of the next request
    while (trailing > 0 && (is_call(items[trailing - 1]) || type_of(items[trailing - 1]) == "reasoning")) {
        --trailing;
    }
    const Ids outputs = outputs_by_id(items);
    std::vector<bool> is_paired(items.size(), false);
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!is_call(items[i])) { continue; }
        const std::size_t output = output_of(items, outputs, i);
        if (output < items.size()) {
            is_paired[output] = true;
        } else if (i < trailing) {
            report(findings, "R-V1", item_path(i));
        }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (is_output(items[i]) && !is_paired[i]) { report(findings, "R-V2", item_path(i)); }
    }
}

inline void check_ids(const Json::array_t& items, Findings& findings) {
    const auto report_repeated = [&findings](const Ids& ids, std::string_view key) {
        for (std::size_t i = 1; i < ids.size(); ++i) {
            if (ids[i - 1].first == ids[i].first) {
                report(findings, "R-V3", member(item_path(ids[i].second), key));
            }
        }
    };
    for (std::size_t kind = 0; kind < call_types.size(); ++kind) {
        for (const std::string_view type : {call_types[kind], output_types[kind]}) {
            report_repeated(ids_of(items,
                                   [type](const Json& item) {
                                       return type_of(item) == type ? call_id_of(item) : std::string_view{};
                                   }),
                            "call_id");
        }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
        if ((is_call(items[i]) || is_output(items[i])) && call_id_of(items[i]).empty()) {
            report(findings, "R-V3", item_path(i) + ".call_id");
        }
    }
    // A reference has the id of another item, and so may the output of a local shell.
    report_repeated(ids_of(items,
                           [](const Json& item) {
                               const std::string_view type = type_of(item);
                               const bool is_own =
                                   type != "item_reference" && type != "local_shell_call_output";
                               return is_own ? text_at(item, "id") : std::string_view{};
                           }),
                    "id");
}

inline bool is_output_part(const Json& part) {
    constexpr std::array<std::string_view, 3> types{"input_text", "input_image", "input_file"};
    const std::string_view type = validation::type_of(part);
    return is_one_of(type, types) && (type != "input_text" || string_at(part, "text") != nullptr);
}

inline std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

inline bool is_output_value(const Json* output) {
    if (output == nullptr) { return false; }
    if (const std::string* const text = string_of(*output)) {
        return count_characters(*text) <= max_output_length;
    }
    return output->is_array() && !output->empty() &&
           std::all_of(output->begin(), output->end(), is_output_part);
}

inline bool is_shell_chunk(const Json& chunk) {
    const Json* const outcome = find(chunk, "outcome");
    if (outcome == nullptr || string_at(chunk, "stdout") == nullptr ||
        string_at(chunk, "stderr") == nullptr) {
        return false;
    }
    const Json* const exit_code = find(*outcome, "exit_code");
    return validation::type_of(*outcome) == "timeout" ||
           (validation::type_of(*outcome) == "exit" && exit_code != nullptr &&
            exit_code->is_number_integer());
}

inline void check_outputs(const Json::array_t& items, Findings& findings) {
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Json& item = items[i];
        const std::string_view type = type_of(item);
        const Json* const output = find(item, "output");
        const bool is_text = output != nullptr && output->is_string();
        if (type == "function_call_output" || type == "custom_tool_call_output") {
            if (!is_output_value(output)) { report(findings, "R-V4", item_path(i)); }
        } else if (type == "local_shell_call_output") {
            if (!is_text) { report(findings, "R-V4", item_path(i)); }
        } else if (type == "shell_call_output") {
            const bool are_chunks = output != nullptr && output->is_array() &&
                                    std::all_of(output->begin(), output->end(), is_shell_chunk);
            if (!are_chunks) { report(findings, "R-V5", item_path(i)); }
        } else if (type == "computer_call_output") {
            const bool is_screenshot =
                output != nullptr && validation::type_of(*output) == "computer_screenshot" &&
                (string_at(*output, "image_url") != nullptr || string_at(*output, "file_id") != nullptr);
            if (!is_screenshot) { report(findings, "R-V6", item_path(i)); }
        } else if (type == "apply_patch_call_output") {
            const std::string_view status = text_at(item, "status");
            const bool is_output_fine = output == nullptr || output->is_null() || is_text;
            if ((status != "completed" && status != "failed") || !is_output_fine) {
                report(findings, "R-V7", item_path(i));
            }
        }
    }
}

// --- predicates on a body and what became of it --------------------------------------------------------------

inline bool is_replaceable_part(std::string_view type) {
    return type == "input_text" || type == "input_image" || type == "input_file";
}

inline constexpr validation::PartRules part_rules{"input_text", is_replaceable_part};

inline bool is_immutable(const Json& item) {
    constexpr std::array<std::string_view, 12> types{
        "reasoning",        "compaction",         "compaction_trigger",    "item_reference",
        "program",          "program_output",     "mcp_list_tools",        "mcp_approval_request",
        "tool_search_call", "tool_search_output", "mcp_approval_response", "additional_tools"};
    return is_one_of(type_of(item), types);
}

inline std::string_view predicate_for_item(const Json& item) {
    if (is_immutable(item)) { return "R-Δ1"; }
    return type_of(item) == "message" ? "R-Δ2" : "U-Δ3";
}

inline std::string_view predicate_for_setting(std::string_view key) {
    constexpr std::array<std::string_view, 7> settings{
        "instructions", "tools",   "previous_response_id", "conversation",
        "truncation",   "include", "context_management"};
    return is_one_of(key, settings) ? "R-Δ3" : "U-Δ3";
}

/// The model wrote this item. Items of unknown types count as not.
inline bool is_from_model(const Json& item) {
    constexpr std::array<std::string_view, 10> types{"reasoning",
                                                     "compaction",
                                                     "mcp_call",
                                                     "mcp_list_tools",
                                                     "mcp_approval_request",
                                                     "web_search_call",
                                                     "file_search_call",
                                                     "code_interpreter_call",
                                                     "image_generation_call",
                                                     "tool_search_call"};
    const std::string_view type = type_of(item);
    return is_call(item) || is_one_of(type, types) || (type == "message" && role_of(item) == "assistant");
}

/// What the transcript says about a place, decided before items are compared one by one.
struct Surroundings {
    std::vector<bool> is_answered;      ///< per item: a call whose output was read
    std::size_t end_of_read = 0;        ///< index after the last item of the model
    std::size_t newest_compaction = 0;  ///< index of the newest compaction, or the number of items
};

inline Surroundings surroundings_of(const Json::array_t& items) {
    Surroundings around;
    around.newest_compaction = items.size();
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (is_from_model(items[i])) { around.end_of_read = i + 1; }
        if (type_of(items[i]) == "compaction") { around.newest_compaction = i; }
    }
    const Ids outputs = outputs_by_id(items);
    around.is_answered.assign(items.size(), false);
    for (std::size_t i = 0; i < items.size(); ++i) {
        around.is_answered[i] = is_call(items[i]) && output_of(items, outputs, i) < around.end_of_read;
    }
    return around;
}

/// A reasoning item or another one nobody may touch, with what has to follow it.
struct Anchor {
    std::size_t item = 0;
    std::string_view next_type;
    std::string_view next_id;
};

inline std::vector<Anchor> anchors_of(const Json::array_t& items) {
    std::vector<Anchor> anchors;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (!is_immutable(items[i])) { continue; }
        const bool is_followed = type_of(items[i]) == "reasoning" && i + 1 < items.size();
        anchors.push_back(Anchor{i, is_followed ? type_of(items[i + 1]) : std::string_view{},
                                 is_followed ? text_at(items[i + 1], "id") : std::string_view{}});
    }
    return anchors;
}

/// Reports the first item in `before` that nobody may touch and that is not in its place any more.
inline void compare_anchors(const Json::array_t& before, const Json::array_t& after, Findings& findings) {
    const std::vector<Anchor> left = anchors_of(before);
    const std::vector<Anchor> right = anchors_of(after);
    std::size_t i = 0;
    while (i < left.size() && i < right.size() && left[i].next_type == right[i].next_type &&
           left[i].next_id == right[i].next_id && same(before[left[i].item], after[right[i].item])) {
        ++i;
    }
    if (i < left.size()) {
        report(findings, "R-Δ1", item_path(left[i].item));
    } else if (i < right.size()) {
        report(findings, "R-Δ1", item_path(right[i].item));
    }
}

inline std::vector<validation::FoundField> opaque_fields(const Json& item) {
    constexpr std::array<std::string_view, 4> keys{"encrypted_content", "encrypted_stdout", "signature",
                                                   "fingerprint"};
    constexpr std::array<std::string_view, 3> payloads{"arguments", "input", "stdout"};
    return validation::fields_under(item, keys, payloads);
}

inline void compare_shell_output(const Json& before, const Json& after, const std::string& path,
                                 Findings& findings) {
    const Json::array_t* const left = array_of(before);
    const Json::array_t* const right = array_of(after);
    if (left == nullptr || right == nullptr) {
        report(findings, "U-Δ4", path + " (kind)");
        return;
    }
    if (left->size() != right->size()) {
        report(findings, "R-V5", path);
        return;
    }
    for (std::size_t i = 0; i < left->size(); ++i) {
        const Json& chunk = (*left)[i];
        const Json& other = (*right)[i];
        const std::string chunk_path = at(path, i);
        const auto is_stream = [](std::string_view key) { return key == "stdout" || key == "stderr"; };
        compare_fields(
            chunk, other, chunk_path, is_stream,
            [](std::string_view key) { return key == "outcome" ? "R-V5" : "U-Δ3"; }, findings);
        for (const char* const key : {"stdout", "stderr"}) {
            const Json* const stream = find(chunk, key);
            const Json* const other_stream = find(other, key);
            if (stream != nullptr && other_stream != nullptr) {
                validation::compare_payload(*stream, *other_stream, part_rules, member(chunk_path, key),
                                            findings);
            }
        }
    }
}

inline void compare_arguments(const Json& before, const Json& after, bool is_answered,
                              const std::string& path, Findings& findings) {
    if (same(before, after)) { return; }
    if (!is_answered || !before.is_string() || !after.is_string()) {
        report(findings, "U-Δ3", path);
        return;
    }
    validation::compare_input_text(*string_of(before), *string_of(after), path, "R-V8", findings);
    if (validation::dumped_size(after) >= validation::dumped_size(before)) {
        report(findings, "U-Δ4", path + " (not smaller)");
    }
}

/// The field of an item that a pruner may replace, or an empty name.
inline std::string_view open_field(std::string_view type) {
    constexpr std::array<std::string_view, 5> types{"function_call_output", "custom_tool_call_output",
                                                    "local_shell_call_output", "shell_call_output",
                                                    "apply_patch_call_output"};
    if (type == "function_call") { return "arguments"; }
    return is_one_of(type, types) ? std::string_view{"output"} : std::string_view{};
}

inline void compare_item(const Json& before, const Json& after, std::size_t item, const Surroundings& around,
                         const AllowedChanges& allowed, Findings& findings) {
    const std::string path = item_path(item);
    const std::string_view type = type_of(before);
    if (type != type_of(after) || role_of(before) != role_of(after)) {
        report(findings, "U-Δ1", path);
        return;
    }
    if (same(before, after)) { return; }
    if (call_id_of(before) != call_id_of(after) || text_at(before, "id") != text_at(after, "id")) {
        report(findings, "U-Δ2", path);
    }
    if (!validation::are_same(opaque_fields(before), opaque_fields(after))) {
        report(findings, "U-Δ6", path);
    }
    if (item >= around.newest_compaction) {
        report(findings, "R-Δ1", path + " (after compaction)");
        return;
    }
    const std::string_view open = open_field(type);
    if (open.empty()) {
        report(findings, predicate_for_item(before), path);
        return;
    }
    const auto predicate_for = [type](std::string_view key) {
        if (type == "shell_call_output" && key == "max_output_length") { return "R-V5"; }
        return type == "apply_patch_call_output" && key == "status" ? "R-V7" : "U-Δ3";
    };
    compare_fields(
        before, after, path, [open](std::string_view key) { return key == open; }, predicate_for, findings);
    if (!validation::keeps_marks(before, after)) { report(findings, "U-Δ3", path + " (marks)"); }
    const Json* const left = find(before, open);
    const Json* const right = find(after, open);
    if (left == nullptr || right == nullptr || same(*left, *right)) { return; }
    const std::string value_path = member(path, open);
    if (type == "function_call") {
        compare_arguments(*left, *right, around.is_answered[item], value_path, findings);
    } else if (item >= around.end_of_read && !allowed.unread_results) {
        report(findings, "U-Δ3", value_path + " (unread)");
    } else if (type == "shell_call_output") {
        compare_shell_output(*left, *right, value_path, findings);
    } else {
        validation::compare_payload(*left, *right, part_rules, value_path, findings);
    }
}

}  // namespace detail

/// Every predicate the body breaks on its own (U-V1, R-V1 to R-V9). Empty for a request the server takes.
inline Findings violations(const Json& body) {
    Findings findings;
    const Json::array_t* const items = detail::items_of(body);
    const bool is_text = detail::string_at(body, "input") != nullptr;  // the short form of one user message
    if ((items == nullptr && !is_text) || validation::is_deeper_than(body, max_depth)) {
        detail::report(findings, "U-V1", "body");
        return findings;
    }
    validation::check_strings(body, "input", findings);
    if (items != nullptr) {
        detail::check_items(*items, findings);
        detail::check_pairs(body, *items, findings);
        detail::check_ids(*items, findings);
        detail::check_outputs(*items, findings);
    }
    return findings;
}

/// Every difference a pruner must not make (U-Δ1 to U-Δ4, U-Δ6, R-Δ1 to R-Δ3, and the parts of R-V5, R-V7 and
/// R-V8 that compare).
inline Findings changes_forbidden(const Json& before, const Json& after, const AllowedChanges& allowed = {}) {
    Findings findings;
    const Json::array_t* const left = detail::items_of(before);
    const Json::array_t* const right = detail::items_of(after);
    const bool is_deep =
        validation::is_deeper_than(before, max_depth) || validation::is_deeper_than(after, max_depth);
    if (is_deep || left == nullptr || right == nullptr || before.type() != after.type()) {
        if (is_deep || !validation::same(before, after)) { detail::report(findings, "U-Δ3", "body"); }
        return findings;
    }
    if (before.is_object()) {
        detail::compare_fields(
            before, after, {}, [](std::string_view key) { return key == "input"; },
            detail::predicate_for_setting, findings);
    }
    if (left->size() != right->size()) {
        detail::report(findings, "U-Δ1", "input");
        detail::compare_anchors(*left, *right, findings);
        return findings;
    }
    detail::compare_anchors(*left, *right, findings);
    const detail::Surroundings around = detail::surroundings_of(*left);
    for (std::size_t i = 0; i < left->size(); ++i) {
        detail::compare_item((*left)[i], (*right)[i], i, around, allowed, findings);
    }
    return findings;
}

/// What pruning made worse: violations `before` did not have, and forbidden changes.
inline Findings new_violations(const Json& before, const Json& after, const AllowedChanges& allowed = {}) {
    Findings findings = validation::added(violations(before), violations(after));
    for (const std::string& finding : changes_forbidden(before, after, allowed)) {
        findings.push_back(finding);
    }
    return findings;
}

}  // namespace openai_responses_validator
