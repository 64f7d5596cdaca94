// SPDX-License-Identifier: MIT
#pragma once

#include "json_text.hpp"
#include "pipelines.hpp"
#include "places.hpp"
#include "target.hpp"

#include <coppice/dialect.hpp>
#include <coppice/report.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// How a dialect writes text into a list of blocks.
struct TextBlock {
    std::string_view type;  ///< empty where blocks have none
    std::array<std::string_view, 2> marks{};
};

inline TextBlock text_block_of(coppice::Dialect dialect) {
    switch (dialect) {
        case coppice::Dialect::anthropic: return {"text", {"cache_control"}};
        case coppice::Dialect::openai_chat: return {"text", {"cache_control", "prompt_cache_breakpoint"}};
        case coppice::Dialect::openai_responses:
            return {"input_text", {"cache_control", "prompt_cache_breakpoint"}};
        default: return {};
    }
}

inline bool is_mark(const TextBlock& block, std::string_view name) {
    return !name.empty() && std::find(block.marks.begin(), block.marks.end(), name) != block.marks.end();
}

/// Cache marks in a value, at any depth, by their names.
inline std::array<std::size_t, 2> count_marks(const JsonText& json, std::size_t index,
                                              const TextBlock& block) {
    std::array<std::size_t, 2> counts{};
    for (std::size_t i = index + 1; i < json.values()[index].past; ++i) {
        const Span key = json.values()[i].key;
        const std::string name = key.size() > 0 ? json.decoded(key) : std::string();
        for (std::size_t k = 0; k < counts.size(); ++k) {
            counts[k] += !name.empty() && name == block.marks[k];
        }
    }
    return counts;
}

/// A text block says what the record says, and nothing but that and the cache mark that was there.
inline void require_text_block(const JsonText& after, std::string_view out, std::size_t index,
                               std::string_view before, const TextBlock& block, const std::string& text) {
    std::size_t marks = 0;
    std::size_t members = 0;
    after.for_each_child(index, [&](std::size_t i) {
        const Value& member = after.values()[i];
        const std::string name = after.decoded(member.key);
        ++members;
        if (name == "type" && !block.type.empty()) {
            require(after.decoded(member.span) == block.type, "a text block");
        } else if (name == "text") {
            require(after.decoded(member.span) == text, "the text that was written");
        } else {
            require(is_mark(block, name), "no other member");
            require(before.find(member.span.in(out)) != std::string_view::npos, "the bytes of a cache mark");
            ++marks;
        }
    });
    require(members - marks == (block.type.empty() ? 1U : 2U) && marks <= 1, "a whole text block");
}

/// What a value may become: a list of blocks stays one, a block stays one, and what stands alone becomes a string, or
/// a list where the dialect allows it.
inline bool may_become(const Place& old, Type now) {
    using Tail = Route::Tail;
    const bool anthropic = old.route->dialect == coppice::Dialect::anthropic;
    switch (old.route->tail) {
        case Tail::list: return old.type == Type::array && now == Type::array;
        case Tail::fields: return old.type == Type::string && now == Type::string;
        case Tail::name: return old.type >= Type::string && now == Type::string;
        case Tail::output:
            if (old.steps == 2) { return old.type == Type::string && now == Type::string; }
            break;
        case Tail::content: break;
    }
    if (old.steps == 1) { return old.type == now && (now == Type::object || now == Type::string); }
    if (old.type == Type::array) { return now == Type::array; }
    if (old.type == Type::string) { return now == Type::string || (anthropic && now == Type::array); }
    if (old.type == Type::object && now == Type::object) { return true; }  // an image that stands alone
    return now == (anthropic ? Type::array : Type::string) && old.route->dialect != coppice::Dialect::bedrock;
}

/// The written value says what the record says.
inline void require_written(const JsonText& before, std::string_view in, const JsonText& after,
                            std::string_view out, const Place& old, const Place& now,
                            const std::string& replacement) {
    require(may_become(old, now.type), "a value keeps its kind");
    if (now.route->tail == Route::Tail::list) {
        require(now.span.in(out) == "[]" && replacement.empty(), "an empty list");
        return;
    }
    require(!replacement.empty(), "something is said");
    if (now.type == Type::string) {
        require(now.text == replacement, "the string that was written");
        if (old.index == nowhere) { return; }
        const TextBlock marked = text_block_of(now.route->dialect);
        const std::array<std::size_t, 2> none{};
        require(count_marks(before, old.index, marked) == none, "no cache mark is lost");
        return;
    }
    const TextBlock block = text_block_of(now.route->dialect);
    require(count_marks(before, old.index, block) == count_marks(after, now.index, block),
            "a cache mark stays");
    std::size_t index = now.index;
    if (now.type == Type::array) {
        index = after.element(now.index, 0);
        require(index != nowhere && after.element(now.index, 1) == nowhere, "an array of one block");
    }
    require_text_block(after, out, index, old.span.in(in), block, replacement);
}

inline void require_totals(const coppice::Report& report, std::size_t saved) {
    std::size_t by_reason = 0;
    std::size_t count = 0;
    for (const coppice::ReasonTotal& total : report.by_reason) {
        by_reason += total.saved_bytes;
        count += total.count;
    }
    require(saved == report.saved_bytes, "saved_bytes");
    require(by_reason == saved && count == report.edits.size(), "totals by reason");
}

/// The texts of a result's content; other parts are of no interest.
inline std::vector<std::string> texts_of(const JsonText& json, std::size_t content, const TextBlock& block) {
    std::vector<std::string> texts;
    const auto add = [&](std::size_t part) {
        const std::size_t type = json.member_of_type(part, "type", Type::string);
        const std::size_t text = json.member_of_type(part, "text", Type::string);
        const bool typed =
            block.type.empty() || (type != nowhere && json.decoded(json.values()[type].span) == block.type);
        texts.push_back(typed && text != nowhere ? json.exact(json.values()[text].span) : std::string());
    };
    switch (json.values()[content].type) {
        case Type::string: texts.push_back(json.exact(json.values()[content].span)); break;
        case Type::array: json.for_each_child(content, add); break;
        case Type::object: add(content); break;
        default: break;
    }
    return texts;
}

/// Where a cadence weighs, a duplicate gets an ordinary stub, since its copy may go with a later rewrite.
inline bool says_duplicate(const coppice::EditRecord& edit) {
    const std::string_view text = edit.replacement;
    return edit.reason == "dedup" && (text.substr(0, 2) != "[~" || text.substr(0, 3) == Terse::duplicate_opening);
}

/// What is called a duplicate stands further on, whole.
inline void require_true_duplicate(const JsonText& before, const JsonText& after, const Place& old,
                                   const Place& now) {
    require(!now.route->of_call(), "only results are duplicates");
    const TextBlock block = text_block_of(now.route->dialect);
    const Span own_key = before.values()[old.index].key;
    const std::string name = own_key.size() > 0 ? before.decoded(own_key) : std::string();
    const Type type = old.type;
    const auto same = [&](std::size_t i) {
        if (after.values()[i].type == Type::string && type == Type::string) {
            return after.exact(after.values()[i].span) == before.exact(before.values()[old.index].span);
        }
        if (now.route->tail == Route::Tail::list) { return after.element(i, 0) != nowhere; }
        // whatever the order of its keys
        if (now.route->tail == Route::Tail::name) { return after.values()[i].type == type; }
        return texts_of(after, i, block) == texts_of(before, old.index, block);
    };
    bool found = false;
    for (std::size_t i = now.index + 1; i < after.values().size() && !found; ++i) {
        const Span key = after.values()[i].key;
        found = key.size() > 0 && after.decoded(key) == name && same(i);
    }
    require(found, "a duplicate has the same texts as a later result");
}

inline bool is_drop(const coppice::EditRecord& edit) { return edit.path.empty() && edit.bytes_after == 0; }

/// A block of reasoning that left its message, with the comma behind it where all before it went, too, and otherwise
/// with the one before it.
inline Span dropped_span(std::string_view in, const JsonText& before, const coppice::EditRecord& edit, bool leads) {
    const Places places(before);
    const std::size_t blocks = places.blocks_of(edit);
    const std::size_t block = before.element(blocks, edit.block);
    require(block != nowhere && places.is_reasoning(block), "reasoning is dropped");
    require(edit.replacement.empty(), "nothing is said instead");
    const Span own = before.values()[block].span;
    if (!leads) {
        const std::size_t left = before.element(blocks, edit.block - 1);
        return {in.find(',', before.values()[left].span.end), own.end};
    }
    const std::size_t right = before.element(blocks, edit.block + 1);
    require(right != nowhere, "something is left");
    return {own.begin, before.values()[right].span.begin};
}

/// Edits stand where the report says, have the sizes it says, say what it says, and all other bytes are as they were.
inline void require_only_edits(std::string_view in, const JsonText& before, std::string_view out,
                               const JsonText& after, const coppice::Report& report, bool one_dialect) {
    std::size_t in_end = 0;
    std::size_t out_end = 0;
    std::size_t saved = 0;
    std::size_t dropped = 0;  // of this message
    const coppice::EditRecord* last = nullptr;
    for (const coppice::EditRecord& edit : report.edits) {
        if (last == nullptr || last->request != edit.request || last->message != edit.message) { dropped = 0; }
        last = &edit;
        if (is_drop(edit)) {
            const Span old = dropped_span(in, before, edit, dropped == edit.block);
            ++dropped;
            require(old.begin >= in_end, "edits in the order of the body");
            const std::size_t gap = old.begin - in_end;
            require(in.substr(in_end, gap) == out.substr(out_end, gap), "the bytes between edits");
            require(old.size() == edit.bytes_before, "bytes_before");
            saved += edit.bytes_before;
            in_end = old.end;
            out_end += gap;
            continue;
        }
        coppice::EditRecord moved = edit;
        moved.block -= dropped;
        const Place old = Places(before).find(edit);
        const Place now = Places(after).find(moved);
        require(old && now && old.route == now.route, "an edit's place exists in both bodies");
        require(!one_dialect || name_of(old.route->dialect) == report.dialect, "a place of the dialect");
        require(old.span.begin >= in_end && now.span.begin >= out_end, "edits in the order of the body");
        require(in.substr(in_end, old.span.begin - in_end) == out.substr(out_end, now.span.begin - out_end),
                "the bytes between edits");
        require(old.span.size() == edit.bytes_before, "bytes_before");
        require(now.span.size() == edit.bytes_after, "bytes_after");
        require(edit.bytes_after < edit.bytes_before, "an edit makes its value smaller");
        require_written(before, in, after, out, old, now, edit.replacement);
        if (says_duplicate(edit)) { require_true_duplicate(before, after, old, now); }
        saved += edit.bytes_before - edit.bytes_after;
        in_end = old.span.end;
        out_end = now.span.end;
    }
    require(in.substr(in_end) == out.substr(out_end), "the bytes behind the edits");
    require(in.size() - out.size() == saved, "saved_bytes");
    require_totals(report, saved);
}

}  // namespace fuzz
