// SPDX-License-Identifier: MIT

// Checks Bedrock Converse bodies, alone and against the body they were made from.
//
// Written without the library on purpose: a mistake there must not be repeated here.
// A finding is the name of a predicate and the path it failed at, "B-V2 messages[3].content[0]".
// Paths start with "messages" for a bare array of messages as well.
//
// Bodies that nest deeper than `max_depth` levels are not looked into: they get one U-V1 finding, and U-Δ3 when
// they differ.

#pragma once

#include "dropped_blocks.hpp"
#include "validation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bedrock_validator {

using Json = validation::Json;
using Findings = validation::Findings;

inline constexpr std::size_t max_depth = validation::max_depth;
inline constexpr std::size_t max_cache_points = 4;

/// What a pruner may do beyond shortening read tool results and strings in the inputs of their calls.
struct AllowedChanges {
    bool unread_results =
        false;  ///< results after the last assistant message, and their calls, may be replaced
    bool user_images = false;  ///< image blocks of the user that were read may become a text block each
    bool reasoning_removal = false;  ///< reasoning of older turns may go, whole turns of it, as one run
};

namespace detail {

using validation::array_at;
using validation::array_of;
using validation::at;
using validation::compare_fields;
using validation::dumped_size;
using validation::find;
using validation::is_blank;
using validation::is_one_of;
using validation::member;
using validation::object_of;
using validation::report;
using validation::role_of;
using validation::same;
using validation::text_at;

/// The one key of a block, or an empty text.
inline std::string_view kind_of(const Json& block) {
    const Json::object_t* const fields = object_of(block);
    return fields != nullptr && fields->size() == 1 ? std::string_view{fields->begin()->first}
                                                    : std::string_view{};
}

inline bool is_kind(const Json& block, std::string_view kind) { return kind_of(block) == kind; }

/// The value of a block with exactly one key.
inline const Json& value_of(const Json& block) { return object_of(block)->begin()->second; }

inline const Json::array_t* messages_of(const Json& body) {
    return body.is_array() ? array_of(body) : array_at(body, "messages");
}

inline const Json::array_t* blocks_of(const Json& message) { return array_at(message, "content"); }

inline std::string block_path(std::size_t message, std::size_t block) {
    return at(at("messages", message) + ".content", block);
}

inline bool is_user(const Json& message) { return role_of(message) == "user"; }
inline bool is_assistant(const Json& message) { return role_of(message) == "assistant"; }

/// A tool use or tool result and the index of its block.
struct Placed {
    std::size_t block = 0;
    const Json* value = nullptr;

    std::string_view id() const { return text_at(*value, "toolUseId"); }
};

inline std::vector<Placed> placed_in(const Json& message, std::string_view kind) {
    std::vector<Placed> found;
    const Json::array_t* const blocks = blocks_of(message);
    for (std::size_t b = 0; blocks != nullptr && b < blocks->size(); ++b) {
        if (is_kind((*blocks)[b], kind)) { found.push_back(Placed{b, &value_of((*blocks)[b])}); }
    }
    return found;
}

inline std::size_t count_id(const std::vector<Placed>& found, std::string_view id) {
    return static_cast<std::size_t>(
        std::count_if(found.begin(), found.end(), [id](const Placed& placed) { return placed.id() == id; }));
}

/// Calls `visit(block, path)` for every block of every message.
template <class Visitor>
void for_each_block(const Json::array_t& messages, const Visitor& visit) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json::array_t* const blocks = blocks_of(messages[m]);
        for (std::size_t b = 0; blocks != nullptr && b < blocks->size(); ++b) {
            visit((*blocks)[b], block_path(m, b));
        }
    }
}

// --- predicates on one body --------------------------------------------------------------------------------

inline void check_union(const Json& block, const std::string& path, Findings& findings) {
    const std::string_view kind = kind_of(block);
    const bool has_value = !kind.empty() && (kind == "text" ? value_of(block).is_string()  //
                                                            : value_of(block).is_object());
    if (!has_value) { report(findings, "B-V1", path); }
}

inline void check_unions(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json::array_t* const blocks = blocks_of(messages[m]);
        if (blocks == nullptr || blocks->empty()) { report(findings, "B-V1", at("messages", m)); }
    }
    for_each_block(messages, [&findings](const Json& block, const std::string& path) {
        check_union(block, path, findings);
        if (!is_kind(block, "toolResult")) { return; }
        const Json::array_t* const parts = array_at(value_of(block), "content");
        for (std::size_t p = 0; parts != nullptr && p < parts->size(); ++p) {
            check_union((*parts)[p], at(path + ".toolResult.content", p), findings);
        }
    });
}

inline void check_pairs(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const std::vector<Placed> calls = placed_in(messages[m], "toolUse");
        const bool has_answer = m + 1 < messages.size() && is_user(messages[m + 1]);
        const std::vector<Placed> answers =
            has_answer ? placed_in(messages[m + 1], "toolResult") : std::vector<Placed>{};
        for (const Placed& call : calls) {
            if (!is_assistant(messages[m]) || count_id(calls, call.id()) != 1 ||
                count_id(answers, call.id()) != 1) {
                report(findings, "B-V2", block_path(m, call.block));
            }
        }
        const bool follows_calls = m > 0 && is_user(messages[m]) && is_assistant(messages[m - 1]);
        const std::vector<Placed> asked =
            follows_calls ? placed_in(messages[m - 1], "toolUse") : std::vector<Placed>{};
        for (const Placed& result : placed_in(messages[m], "toolResult")) {
            if (count_id(asked, result.id()) == 0) { report(findings, "B-V2", block_path(m, result.block)); }
        }
    }
}

inline void check_results(const Json::array_t& messages, Findings& findings) {
    for_each_block(messages, [&findings](const Json& block, const std::string& path) {
        if (!is_kind(block, "toolResult")) { return; }
        const Json& result = value_of(block);
        const Json::array_t* const parts = array_at(result, "content");
        if (parts == nullptr || parts->empty()) {
            report(findings, "B-V3", path);
            if (text_at(result, "status") == "error") { report(findings, "B-V4", path); }
            return;
        }
        for (std::size_t p = 0; p < parts->size(); ++p) {
            const Json& part = (*parts)[p];
            const bool is_blank_text = is_kind(part, "text") && is_blank(text_at(part, "text"));
            const bool is_broken_json = is_kind(part, "json") && !value_of(part).is_object();
            if (is_blank_text || is_broken_json) {
                report(findings, "B-V3", at(path + ".toolResult.content", p));
            }
        }
    });
}

inline void check_texts(const Json::array_t& messages, Findings& findings) {
    for_each_block(messages, [&findings](const Json& block, const std::string& path) {
        if (is_kind(block, "text") && is_blank(text_at(block, "text"))) { report(findings, "B-V5", path); }
    });
    if (messages.empty() || !is_assistant(messages.back())) { return; }
    const std::vector<Placed> texts = placed_in(messages.back(), "text");
    const std::string* const text = texts.empty() ? nullptr : validation::string_of(*texts.back().value);
    if (text == nullptr || is_blank(*text)) { return; }
    std::size_t last = text->size() - 1;  // first byte of the last code point
    while (last > 0 && (static_cast<unsigned char>((*text)[last]) & 0xc0U) == 0x80U) { --last; }
    if (is_blank(std::string_view{*text}.substr(last))) {
        report(findings, "B-V5", block_path(messages.size() - 1, texts.back().block) + " (end)");
    }
}

inline void check_cache_points(const Json& body, Findings& findings) {
    std::size_t points = 0;
    const auto visit_list = [&](const Json::array_t* list, const std::string& path) {
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
            if (is_kind((*list)[i], "cachePoint")) {
                ++points;
                if (i == 0) { report(findings, "B-V6", at(path, i)); }
            }
        }
    };
    visit_list(array_at(body, "system"), "system");
    if (const Json* const tools = find(body, "toolConfig")) {
        visit_list(array_at(*tools, "tools"), "toolConfig.tools");
    }
    const Json::array_t& messages = *messages_of(body);
    for (std::size_t m = 0; m < messages.size(); ++m) {
        visit_list(blocks_of(messages[m]), at("messages", m) + ".content");
    }
    for_each_block(messages, [&visit_list](const Json& block, const std::string& path) {
        if (is_kind(block, "toolResult")) {
            visit_list(array_at(value_of(block), "content"), path + ".toolResult.content");
        }
    });
    if (points > max_cache_points) { report(findings, "B-V6", "body"); }
}

inline void check_documents(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        if (!placed_in(messages[m], "document").empty() && placed_in(messages[m], "text").empty()) {
            report(findings, "B-V7", at("messages", m));
        }
    }
}

inline bool is_tool_use_id(std::string_view id) {
    return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-';
    });
}

inline void check_ids(const Json::array_t& messages, Findings& findings) {
    for_each_block(messages, [&findings](const Json& block, const std::string& path) {
        const bool has_id = is_kind(block, "toolUse") || is_kind(block, "toolResult");
        if (has_id && !is_tool_use_id(text_at(value_of(block), "toolUseId"))) {
            report(findings, "B-V8", path);
        }
    });
}

// --- predicates on a body and what became of it ------------------------------------------------------------

/// What the transcript says about a place.
struct Surroundings {
    std::size_t end_of_read = 0;  ///< one past the last assistant message; later results are unread

    bool is_unread(std::size_t message) const { return message >= end_of_read; }
};

inline Surroundings surroundings_of(const Json::array_t& messages) {
    Surroundings around;
    for (std::size_t m = 0; m < messages.size(); ++m) {
        if (is_assistant(messages[m])) { around.end_of_read = m + 1; }
    }
    return around;
}

inline bool is_answered(const Json::array_t& messages, std::size_t message, std::string_view id) {
    return message + 1 < messages.size() && is_user(messages[message + 1]) &&
           count_id(placed_in(messages[message + 1], "toolResult"), id) > 0;
}

/// Calls and results with their ids, in order.
inline std::vector<std::pair<std::string_view, std::string_view>> events_of(const Json& message) {
    std::vector<std::pair<std::string_view, std::string_view>> events;
    const Json::array_t* const blocks = blocks_of(message);
    for (std::size_t b = 0; blocks != nullptr && b < blocks->size(); ++b) {
        const Json& block = (*blocks)[b];
        if (is_kind(block, "toolUse") || is_kind(block, "toolResult")) {
            events.emplace_back(kind_of(block), text_at(value_of(block), "toolUseId"));
        }
    }
    return events;
}

inline std::vector<std::pair<std::string_view, std::string_view>> events_of(const Json::array_t& messages) {
    std::vector<std::pair<std::string_view, std::string_view>> events;
    for (const Json& message : messages) {
        const auto more = events_of(message);
        events.insert(events.end(), more.begin(), more.end());
    }
    return events;
}

/// A block of some kind and where it is.
struct PlacedBlock {
    std::size_t message = 0;
    std::size_t block = 0;
    const Json* value = nullptr;
};

inline std::vector<PlacedBlock> blocks_of_kind(const Json::array_t& messages, std::string_view kind) {
    std::vector<PlacedBlock> found;
    for (std::size_t m = 0; m < messages.size(); ++m) {
        for (const Placed& placed : placed_in(messages[m], kind)) {
            found.push_back(PlacedBlock{m, placed.block, placed.value});
        }
    }
    return found;
}

/// Reports the first block of this kind that changed, went, came or moved.
inline void compare_blocks_of_kind(const Json::array_t& before, const Json::array_t& after,
                                   std::string_view kind, std::string_view predicate, Findings& findings) {
    const std::vector<PlacedBlock> left = blocks_of_kind(before, kind);
    const std::vector<PlacedBlock> right = blocks_of_kind(after, kind);
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
        if (i >= left.size() || i >= right.size() || left[i].message != right[i].message ||
            left[i].block != right[i].block || !same(*left[i].value, *right[i].value)) {
            const PlacedBlock& place = i < left.size() ? left[i] : right[i];
            report(findings, predicate, block_path(place.message, place.block));
            return;
        }
    }
}

inline bool is_reasoning(const Json& block) { return is_kind(block, "reasoningContent"); }

/// A message in which a person speaks: of the user, with more than tool results and cache points.
inline bool is_real_user_message(const Json& message) {
    const Json::array_t* const blocks = blocks_of(message);
    return is_user(message) && (blocks == nullptr || std::any_of(blocks->begin(), blocks->end(), [](const Json& block) {
                                    return !is_kind(block, "toolResult") && !is_kind(block, "cachePoint");
                                }));
}

inline dropped_blocks::Shape shape() { return {is_reasoning, is_real_user_message, same}; }

/// Reasoning that went is a run of that of older turns, all of a turn or none.
inline void compare_removal(const Json::array_t& before, const Json::array_t& after, Findings& findings) {
    if (!dropped_blocks::is_explained(before, after, shape())) { report(findings, "B-Δ1", "messages"); }
    const dropped_blocks::BrokenTurns broken = dropped_blocks::broken_turns(before, after, shape());
    for (const std::size_t start : broken.older) { report(findings, "B-Δ1", at("messages", start) + " (turn)"); }
    for (const std::size_t start : broken.latest) { report(findings, "B-Δ1", at("messages", start) + " (latest)"); }
}

/// The messages without their reasoning.
inline Json::array_t without_reasoning(const Json::array_t& messages) {
    Json::array_t left = messages;
    for (Json& message : left) {
        const auto content = message.is_object() ? message.find("content") : message.end();
        if (content == message.end() || !content->is_array()) { continue; }
        auto& blocks = content->get_ref<Json::array_t&>();
        blocks.erase(std::remove_if(blocks.begin(), blocks.end(), is_reasoning), blocks.end());
    }
    return left;
}

inline void compare_opaque(const Json& before, const Json& after, bool with_reasoning, Findings& findings) {
    constexpr std::array<std::string_view, 2> opaque{"signature", "redactedContent"};
    // what is not looked into
    const std::array<std::string_view, 3> payloads{"toolUse", "toolResult",
                                                   with_reasoning ? "toolUse" : "reasoningContent"};
    if (!validation::are_same(validation::fields_under(before, opaque, payloads),
                              validation::fields_under(after, opaque, payloads))) {
        report(findings, "U-Δ6", "messages");
    }
}

/// Parts that may become text. Others may mean something that a text cannot stand for.
inline bool is_replaceable_part(const Json& part) {
    constexpr std::array<std::string_view, 6> kinds{"text",     "json",  "image",
                                                    "document", "video", "searchResult"};
    return is_one_of(kind_of(part), kinds);
}

/// The parts may become one or more texts, each in its place or all together.
inline void compare_parts(const Json::array_t& before, const Json::array_t& after, const std::string& path,
                          Findings& findings) {
    if (after.empty()) {
        report(findings, "U-Δ4", path + " (blank)");
        return;
    }
    const auto check_new_part = [&findings](const Json& part, const std::string& part_path) {
        if (!is_kind(part, "text") || !value_of(part).is_string()) {
            report(findings, "U-Δ3", part_path);
        } else if (is_blank(text_at(part, "text"))) {
            report(findings, "U-Δ4", part_path + " (blank)");
        }
    };
    const auto check_gone_part = [&findings](const Json& part, const std::string& part_path) {
        if (!is_replaceable_part(part)) { report(findings, "U-Δ3", part_path + " (part)"); }
    };
    if (before.size() == after.size()) {
        for (std::size_t p = 0; p < after.size(); ++p) {
            if (!same(before[p], after[p])) {
                check_gone_part(before[p], at(path, p));
                check_new_part(after[p], at(path, p));
            }
        }
        return;
    }
    std::size_t next = 0;  // part of `before` that was not met so far
    for (std::size_t p = 0; p < after.size(); ++p) {
        const auto kept = std::find_if(before.begin() + static_cast<std::ptrdiff_t>(next), before.end(),
                                       [&after, p](const Json& part) { return same(part, after[p]); });
        if (kept == before.end()) {
            check_new_part(after[p], at(path, p));
            continue;
        }
        const auto found = static_cast<std::size_t>(kept - before.begin());
        for (; next < found; ++next) { check_gone_part(before[next], at(path, next)); }
        next = found + 1;
    }
    for (; next < before.size(); ++next) { check_gone_part(before[next], at(path, next)); }
}

inline void compare_result(const Json& before, const Json& after, std::size_t message,
                           const std::string& path, const Surroundings& around, const AllowedChanges& allowed,
                           Findings& findings) {
    if (around.is_unread(message) && !allowed.unread_results) {
        report(findings, "U-Δ3", path + " (unread)");
        return;
    }
    compare_fields(
        before, after, path, [](std::string_view key) { return key == "content"; },
        [](std::string_view key) { return key == "status" ? "B-V4" : "U-Δ3"; }, findings);
    const Json* const left = find(before, "content");
    const Json* const right = find(after, "content");
    if (left == nullptr || right == nullptr || same(*left, *right)) { return; }
    const std::string content_path = path + ".content";
    if (!left->is_array()) {
        report(findings, "U-Δ3", content_path);
    } else if (!right->is_array()) {
        report(findings, "U-Δ4", content_path + " (kind)");
    } else {
        compare_parts(*array_of(*left), *array_of(*right), content_path, findings);
        if (dumped_size(*right) >= dumped_size(*left)) {
            report(findings, "U-Δ4", content_path + " (not smaller)");
        }
    }
}

inline void compare_call(const Json& before, const Json& after, std::size_t message, bool has_answer,
                         const std::string& path, const Surroundings& around, const AllowedChanges& allowed,
                         Findings& findings) {
    compare_fields(
        before, after, path, [](std::string_view key) { return key == "input"; },
        [](std::string_view) { return "U-Δ3"; }, findings);
    const Json* const left = find(before, "input");
    const Json* const right = find(after, "input");
    if (left == nullptr || right == nullptr || same(*left, *right)) { return; }
    const std::string input_path = path + ".input";
    if (!has_answer) {
        report(findings, "U-Δ3", input_path + " (unanswered)");
        return;
    }
    if (around.is_unread(message + 1) && !allowed.unread_results) {
        report(findings, "U-Δ3", input_path + " (unread)");
        return;
    }
    validation::compare_input(*left, *right, input_path, findings);
    if (dumped_size(*right) >= dumped_size(*left)) {
        report(findings, "U-Δ4", input_path + " (not smaller)");
    }
}

inline void compare_block(const Json::array_t& messages, const Json& before, const Json& after,
                          std::size_t message, const std::string& path, const Surroundings& around,
                          const AllowedChanges& allowed, Findings& findings) {
    if (same(before, after)) { return; }
    const std::string_view kind = kind_of(before);
    const bool is_open_image =
        allowed.user_images && kind == "image" && is_user(messages[message]) && !around.is_unread(message);
    if (is_open_image && is_kind(after, "text")) {
        if (is_blank(text_at(after, "text")) || dumped_size(after) >= dumped_size(before)) {
            report(findings, "U-Δ4", path);
        }
        return;
    }
    const bool is_paired = kind == "toolUse" || kind == "toolResult";
    if (kind != kind_of(after) ||
        (is_paired && !validation::is_same_at(value_of(before), value_of(after), "toolUseId"))) {
        report(findings, "U-Δ2", path);
        return;
    }
    if (kind == "toolResult") {
        compare_result(value_of(before), value_of(after), message, member(path, kind), around, allowed,
                       findings);
    } else if (kind == "toolUse") {
        compare_call(value_of(before), value_of(after), message,
                     is_answered(messages, message, text_at(value_of(before), "toolUseId")),
                     member(path, kind), around, allowed, findings);
    } else if (kind == "guardContent" || kind == "citationsContent") {
        report(findings, "B-Δ2", path);
    } else if (kind != "reasoningContent" && kind != "cachePoint") {  // those were compared by their places
        report(findings, "U-Δ3", path);
    }
}

inline void compare_message(const Json::array_t& before, const Json::array_t& after, std::size_t index,
                            const Surroundings& around, const AllowedChanges& allowed, Findings& findings) {
    const std::string path = at("messages", index);
    if (same(before[index], after[index])) { return; }
    if (!validation::is_same_at(before[index], after[index], "role")) {
        report(findings, "U-Δ1", path);
        return;
    }
    const Json::array_t* const left = blocks_of(before[index]);
    const Json::array_t* const right = blocks_of(after[index]);
    const bool both_lists = left != nullptr && right != nullptr;
    compare_fields(
        before[index], after[index], path,
        [both_lists](std::string_view key) { return both_lists && key == "content"; },
        [](std::string_view) { return "U-Δ3"; }, findings);
    if (!both_lists) { return; }
    // where some of it may be missing, it is compared as a sequence of its own
    const auto is_compared = [&allowed](const Json& block) {
        return !(allowed.reasoning_removal && is_reasoning(block));
    };
    const auto count = [&is_compared](const Json::array_t& blocks) {
        return std::count_if(blocks.begin(), blocks.end(), is_compared);
    };
    if (count(*left) != count(*right)) {
        report(findings, "U-Δ2", path + ".content");
        return;
    }
    std::size_t r = 0;
    for (std::size_t b = 0; b < left->size(); ++b) {
        if (!is_compared((*left)[b])) { continue; }
        while (!is_compared((*right)[r])) { ++r; }
        compare_block(before, (*left)[b], (*right)[r++], index, block_path(index, b), around, allowed, findings);
    }
}

inline std::string_view body_field_predicate(std::string_view key) {
    return key == "system" || key == "toolConfig" ? "B-Δ2" : "U-Δ3";
}

/// Equal values. Key order is not looked at.
inline bool is_equal_value(const Json& left, const Json& right) {
    std::vector<std::pair<const Json*, const Json*>> open{{&left, &right}};
    while (!open.empty()) {
        const auto [a, b] = open.back();
        open.pop_back();
        if (const Json::object_t* const fields = object_of(*a)) {
            if (!b->is_object() || b->size() != fields->size()) { return false; }
            for (const auto& field : *fields) {
                const Json* const other = find(*b, field.first);
                if (other == nullptr) { return false; }
                open.emplace_back(&field.second, other);
            }
        } else if (const Json::array_t* const items = array_of(*a)) {
            if (!b->is_array() || b->size() != items->size()) { return false; }
            for (std::size_t i = 0; i < items->size(); ++i) {
                open.emplace_back(&(*items)[i], &(*array_of(*b))[i]);
            }
        } else if (*a != *b) {
            return false;
        }
    }
    return true;
}

/// What a signature binds, in order: all items of the lists but cache points and reasoning. The role of a
/// message stands before its blocks.
struct BoundValues {
    std::vector<const Json*> values;
    std::vector<std::pair<PlacedBlock, std::size_t>> reasoning;  ///< and the number of values before it

    void add(const Json::array_t* list, std::size_t message) {
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
            if (is_kind((*list)[i], "reasoningContent")) {
                reasoning.emplace_back(PlacedBlock{message, i, &value_of((*list)[i])}, values.size());
            } else if (!is_kind((*list)[i], "cachePoint")) {
                values.push_back(&(*list)[i]);
            }
        }
    }
};

inline const Json::array_t* tools_of(const Json& body) {
    const Json* const config = find(body, "toolConfig");
    return config == nullptr ? nullptr : array_at(*config, "tools");
}

inline BoundValues bound_values_of(const Json& body) {
    static const Json no_role;
    static const Json end_of_list = "end";
    BoundValues bound;
    bound.add(array_at(body, "system"), 0);
    bound.values.push_back(&end_of_list);
    bound.add(tools_of(body), 0);
    bound.reasoning.clear();
    const Json::array_t& messages = *messages_of(body);
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json* const role = find(messages[m], "role");
        bound.values.push_back(role == nullptr ? &no_role : role);
        bound.add(blocks_of(messages[m]), m);
    }
    return bound;
}

inline bool server_drops_broken_reasoning(const Json& body) {
    const Json* value = &body;
    for (const char* const key : {"additionalModelRequestFields", "thinking", "block_binding"}) {
        value = find(*value, key);
        if (value == nullptr) { return false; }
    }
    return text_at(*value, "prefix_mismatch_behavior") == "drop_block";
}

}  // namespace detail

/// Every predicate the body breaks on its own (U-V1, B-V1 to B-V8). Empty for a request the server takes.
inline Findings violations(const Json& body) {
    Findings findings;
    const Json::array_t* const messages = detail::messages_of(body);
    if (messages == nullptr || validation::is_deeper_than(body, max_depth)) {
        validation::report(findings, "U-V1", "body");
        return findings;
    }
    validation::check_strings(body, "messages", findings);
    detail::check_unions(*messages, findings);
    detail::check_pairs(*messages, findings);
    detail::check_results(*messages, findings);
    detail::check_texts(*messages, findings);
    detail::check_cache_points(body, findings);
    detail::check_documents(*messages, findings);
    detail::check_ids(*messages, findings);
    return findings;
}

/// Every difference that a pruner must not make (U-Δ1 to U-Δ4, U-Δ6, B-Δ1, B-Δ2, and the parts of B-V4 and B-V6
/// that compare). Parts of a read result may become texts, and strings in the input of a read call may be
/// replaced.
inline Findings changes_forbidden(const Json& before, const Json& after, const AllowedChanges& allowed = {}) {
    Findings findings;
    const Json::array_t* const left = detail::messages_of(before);
    const Json::array_t* const right = detail::messages_of(after);
    const bool is_comparable = left != nullptr && right != nullptr && before.type() == after.type() &&
                               !validation::is_deeper_than(before, max_depth) &&
                               !validation::is_deeper_than(after, max_depth);
    if (!is_comparable) {
        if (!validation::same(before, after)) { validation::report(findings, "U-Δ3", "body"); }
        return findings;
    }
    if (before.is_object()) {
        validation::compare_fields(
            before, after, {}, [](std::string_view key) { return key == "messages"; },
            detail::body_field_predicate, findings);
    }
    if (allowed.reasoning_removal) {
        detail::compare_removal(*left, *right, findings);
        detail::compare_blocks_of_kind(detail::without_reasoning(*left), detail::without_reasoning(*right),
                                       "cachePoint", "B-V6", findings);
    } else {
        detail::compare_blocks_of_kind(*left, *right, "reasoningContent", "B-Δ1", findings);
        detail::compare_blocks_of_kind(*left, *right, "cachePoint", "B-V6", findings);
    }
    detail::compare_opaque(before, after, !allowed.reasoning_removal, findings);
    if (left->size() != right->size()) {
        validation::report(findings, "U-Δ1", "messages");
        if (detail::events_of(*left) != detail::events_of(*right)) {
            validation::report(findings, "U-Δ2", "messages");
        }
        return findings;
    }
    const detail::Surroundings around = detail::surroundings_of(*left);
    for (std::size_t m = 0; m < left->size(); ++m) {
        detail::compare_message(*left, *right, m, around, allowed, findings);
    }
    return findings;
}

/// What pruning made worse: violations `before` did not have, and forbidden changes.
inline Findings new_violations(const Json& before, const Json& after, const AllowedChanges& allowed = {}) {
    Findings found = violations(after);
    const Json::array_t* const left = detail::messages_of(before);
    const Json::array_t* const right = detail::messages_of(after);
    if (allowed.reasoning_removal && left != nullptr && right != nullptr) {
        for (std::string& finding : found) {
            finding = dropped_blocks::at_original_place(finding, *left, *right, detail::shape());
        }
    }
    Findings findings = validation::added(violations(before), found);
    const Findings changes = changes_forbidden(before, after, allowed);
    findings.insert(findings.end(), changes.begin(), changes.end());
    return findings;
}

/// The rule of models that bind reasoning to everything before it: what is kept has the same values before it
/// (B-Δ1). `before` is the transcript as it was last sent, with the newly appended messages.
inline Findings bound_reasoning_violations(const Json& before, const Json& after) {
    Findings findings;
    if (detail::messages_of(before) == nullptr || detail::messages_of(after) == nullptr ||
        validation::is_deeper_than(before, max_depth) || validation::is_deeper_than(after, max_depth) ||
        detail::server_drops_broken_reasoning(before)) {
        return findings;
    }
    const detail::BoundValues then = detail::bound_values_of(before);
    const detail::BoundValues now = detail::bound_values_of(after);
    std::size_t same_values = 0;
    while (same_values < then.values.size() && same_values < now.values.size() &&
           detail::is_equal_value(*then.values[same_values], *now.values[same_values])) {
        ++same_values;
    }
    auto next = then.reasoning.begin();
    for (const auto& kept : now.reasoning) {
        const auto origin = std::find_if(next, then.reasoning.end(), [&kept](const auto& candidate) {
            return validation::same(*candidate.first.value, *kept.first.value);
        });
        const bool is_known = origin != then.reasoning.end();
        if (!is_known || origin->second != kept.second || kept.second > same_values) {
            const std::string path = detail::block_path(kept.first.message, kept.first.block);
            validation::report(findings, "B-Δ1", path + " (bound)");
        }
        next = is_known ? origin + 1 : next;
    }
    return findings;
}

}  // namespace bedrock_validator
