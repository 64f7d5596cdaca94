// SPDX-License-Identifier: MIT
#pragma once

#include "json_spans.hpp"

#include <coppice/dom.hpp>
#include <coppice/wire.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace support {

/// The text that an edit left: a string, or a block around one, alone or in an array.
inline std::string text_left_at(const JsonSpans& spans, Span value) {
    if (spans.kind(value) == '[') {
        const std::vector<Span> blocks = spans.elements(value);
        if (blocks.empty()) { return {}; }
        REQUIRE(blocks.size() == 1);
        value = blocks[0];
    }
    if (spans.kind(value) == '{') {
        const Span type = spans.member(value, "type");
        const std::string name = type.size() > 0 ? spans.decoded(type) : "text";
        CHECK((name == "text" || name == "input_text"));
        value = spans.member(value, "text");
    }
    REQUIRE(spans.kind(value) == '"');
    return spans.decoded(value);
}

/// The text that an edit left inside a string that holds JSON.
inline std::string text_packed_at(std::string_view out, Span value) {
    const std::string outer = '"' + std::string(out.substr(value.begin, value.size())) + '"';
    const std::string inner = JsonSpans(outer).decoded({0, outer.size()});
    REQUIRE(inner.front() == '"');
    return JsonSpans(inner).decoded({0, inner.size()});
}

/// Walks two texts with the edits of a report: what they replaced has the stated place and size in both, and
/// everything else is the same byte by byte. Returns how much they saved in all.
inline std::size_t check_spans(std::string_view in, std::string_view out, const coppice::Report& report) {
    if (report.edits.empty()) {
        const bool same = in == out;
        CHECK(same);
        return 0;
    }
    BlockSpans before(in);
    BlockSpans after(out);
    std::size_t saved = 0;
    std::size_t in_at = 0;
    std::size_t out_at = 0;
    for (const coppice::EditRecord& edit : report.edits) {
        CAPTURE(edit.message);
        CAPTURE(edit.block);
        CAPTURE(edit.path);
        const auto find = [&](BlockSpans& blocks) {
            return blocks.spans().follow_into(
                blocks.block(report.dialect, edit.request, edit.message, edit.block), edit.path);
        };
        const Span old = find(before);
        const Span written = find(after);
        CHECK(old.size() == edit.bytes_before);
        CHECK(written.size() == edit.bytes_after);
        CHECK(edit.bytes_after < edit.bytes_before);
        const bool packed = edit.path.find('#') != std::string::npos;
        CHECK((packed ? text_packed_at(out, written) : text_left_at(after.spans(), written)) == edit.replacement);
        REQUIRE(old.begin >= in_at);
        const std::size_t gap = old.begin - in_at;
        REQUIRE(written.begin == out_at + gap);
        const bool same = in.substr(in_at, gap) == out.substr(out_at, gap);
        CHECK(same);
        in_at = old.end;
        out_at = written.end;
        saved += edit.bytes_before - edit.bytes_after;
    }
    const bool same_tail = in.substr(in_at) == out.substr(out_at);
    CHECK(same_tail);
    return saved;
}

/// What two reports share whoever held the document, and, where sizes are not those of the same spelling, without them.
inline void check_same_report(const coppice::Report& left, const coppice::Report& right,
                              bool same_spelling = true) {
    const auto comparable = [&](const coppice::Report& report) {
        auto json = coppice::to_json(report);
        for (const char* const key : {"first_changed_offset", "repeated_keys"}) { json.erase(key); }
        if (same_spelling) { return json; }
        json.erase("saved_bytes");
        for (auto& edit : json["edits"]) {
            edit.erase("bytes_before");
            edit.erase("bytes_after");
        }
        for (auto& total : json["by_reason"]) { total.erase("saved_bytes"); }
        return json;
    };
    const auto left_json = comparable(left);
    const auto right_json = comparable(right);
    const bool same = left_json == right_json && left.requests == right.requests;
    CHECK(same);
    if (same) { return; }
    CHECK(left.why == right.why);
    CHECK(left.edits.size() == right.edits.size());
    for (const auto& item : left_json.items()) {
        CAPTURE(item.key());
        const bool equal = right_json.contains(item.key()) && item.value() == right_json[item.key()];
        CHECK(equal);
    }
}

/// A body in bytes, pruned in every way there is.
struct PrunedText {
    std::string out;
    coppice::Report report;
};

/// Prunes bytes in every way there is, and holds the ways against each other and against the laws of bytes.
template <class Pipeline>
PrunedText pruned_text(std::string_view in, const Pipeline& pipeline,
                       coppice::Dialect dialect = coppice::Dialect::detect) {
    // one for all bodies of a test, so that what it kept of the last one would show
    static coppice::WireWorkspace workspace;

    const coppice::PrunedBody pruned = coppice::prune(in, pipeline, dialect);
    const coppice::Report& report = pruned.report;
    const std::string_view out = pruned.bytes(in);
    CHECK(report.engaged == !report.edits.empty());
    CHECK(report.engaged == report.why.empty());
    CHECK(report.engaged == (out.data() != in.data()));  // law 1
    CHECK(report.engaged == !pruned.rewritten.empty());
    CHECK(report.saved_bytes == in.size() - out.size());
    CHECK(check_spans(in, out, report) == report.saved_bytes);  // law 6
    std::size_t by_reason = 0;
    for (const coppice::ReasonTotal& total : report.by_reason) { by_reason += total.saved_bytes; }
    CHECK(by_reason == report.saved_bytes);

    CHECK(report.first_changed_offset.has_value() == report.engaged);
    CHECK(report.first_changed_message.has_value() == report.engaged);
    if (report.engaged) {
        const auto difference = std::mismatch(in.begin(), in.end(), out.begin(), out.end());
        CHECK(*report.first_changed_offset == static_cast<std::size_t>(difference.first - in.begin()));
        CHECK(*report.first_changed_message == report.edits.front().message);
    }

    const auto check_report = [&](const coppice::Report& other) {
        check_same_report(other, report);
        CHECK(other.first_changed_offset == report.first_changed_offset);
        CHECK(other.repeated_keys == report.repeated_keys);
    };
    check_report(coppice::plan(in, pipeline, dialect));

    const std::string_view kept = coppice::prune(in, pipeline, workspace, dialect);
    const bool same_out = kept == out;
    CHECK(same_out);
    CHECK(report.engaged == (kept.data() != in.data()));
    check_report(workspace.report);

    std::string joined;
    for (const std::string_view piece : coppice::prune_pieces(in, pipeline, workspace, dialect)) {
        CHECK_FALSE(piece.empty());
        joined += piece;
    }
    const bool same_pieces = joined == out;
    CHECK(same_pieces);
    check_report(workspace.report);

    if (report.engaged) {
        const coppice::PrunedBody again = coppice::prune(out, pipeline, dialect);  // law 2
        CHECK_FALSE(again.report.engaged);
        CHECK(again.report.edits.empty());
    }
    return {std::string(out), report};
}

/// Laws 1, 2, 6 and 9 for a body as compact JSON, given what became of it as a DOM.
template <class Pipeline>
void check_wire_laws(std::string_view in, std::string_view dom_out, const coppice::Report& dom_report,
                     const Pipeline& pipeline, coppice::Dialect dialect = coppice::Dialect::detect) {
    const PrunedText text = pruned_text(in, pipeline, dialect);
    const bool same = text.out == dom_out;
    CHECK(same);
    CHECK(text.report.repeated_keys == 0);
    // a scalar is no body for the wire, whatever a DOM says of it
    const bool body = !in.empty() && (in.front() == '{' || in.front() == '[');
    CHECK_FALSE((text.report.engaged && !body));
    if (body) { check_same_report(text.report, dom_report); }
}

}  // namespace support
