// SPDX-License-Identifier: MIT
// What the laws ask, compiled once for all tests.
#include "laws.hpp"

#include "bedrock_validator.hpp"
#include "gemini_validator.hpp"
#include "json_spans.hpp"
#include "openai_chat_validator.hpp"
#include "openai_responses_validator.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::detail {

template std::string_view read_request(DomCursor<nlohmann::ordered_json>, Dialect, Transcript&, ReaderScratch&);
template std::string_view read_request(DomCursor<nlohmann::json>, Dialect, Transcript&, ReaderScratch&);
template std::string_view read_request(WireCursor, Dialect, Transcript&, ReaderScratch&);
template class DomSource<nlohmann::ordered_json>;
template class DomSource<nlohmann::json>;

}  // namespace coppice::detail

namespace support {

std::vector<std::string> new_violations(std::string_view dialect, const nlohmann::ordered_json& before,
                                               const nlohmann::ordered_json& after,
                                               const AllowedChanges& allowed) {
    if (dialect == "anthropic") { return anthropic_validator::new_violations(before, after, allowed); }
    if (dialect == "openai-chat") {
        return openai_chat_validator::new_violations(before, after, {allowed.unread_results, allowed.user_images});
    }
    if (dialect == "openai-responses") {
        return openai_responses_validator::new_violations(before, after, {allowed.unread_results});
    }
    if (dialect == "gemini") {
        return gemini_validator::new_violations(before, after, {allowed.unread_results, allowed.user_images});
    }
    if (dialect == "bedrock") {
        return bedrock_validator::new_violations(
            before, after, {allowed.unread_results, allowed.user_images, allowed.stale_thinking_removal});
    }
    if (dialect.empty()) { return {}; }  // nothing was read
    throw std::logic_error("a dialect without a validator");
}

std::string text_left_at(const JsonSpans& spans, Span value) {
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

std::string text_packed_at(std::string_view out, Span value) {
    const std::string outer = '"' + std::string(out.substr(value.begin, value.size())) + '"';
    const std::string inner = JsonSpans(outer).decoded({0, outer.size()});
    REQUIRE(inner.front() == '"');
    return JsonSpans(inner).decoded({0, inner.size()});
}

// A block that leaves its message, with the comma that goes along and the white space at it: behind a block that is the
// first to stay or to go, before any other.
Span dropped_span(BlockSpans& blocks, const coppice::Report& report, const coppice::EditRecord& edit, bool leads) {
    const auto block = [&](std::size_t index) {
        return blocks.block(report.dialect, edit.request, edit.message, index);
    };
    const Span own = block(edit.block);
    if (leads) { return {own.begin, block(edit.block + 1).begin}; }
    std::size_t comma = block(edit.block - 1).end;
    while (blocks.spans().json()[comma] != ',') { ++comma; }
    return {comma, own.end};
}

std::size_t check_spans(std::string_view in, std::string_view out, const coppice::Report& report) {
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
    std::size_t dropped = 0;  // of this message
    const coppice::EditRecord* last = nullptr;
    for (const coppice::EditRecord& edit : report.edits) {
        CAPTURE(edit.message);
        CAPTURE(edit.block);
        CAPTURE(edit.path);
        const bool same_message =
            last != nullptr && last->request == edit.request && last->message == edit.message;
        if (!same_message) { dropped = 0; }
        last = &edit;
        if (is_drop(edit)) {
            const Span old = dropped_span(before, report, edit, dropped == edit.block);
            CHECK(edit.replacement.empty());
            CHECK(old.size() == edit.bytes_before);
            REQUIRE(old.begin >= in_at);
            const std::size_t gap = old.begin - in_at;
            const bool same = in.substr(in_at, gap) == out.substr(out_at, gap);
            CHECK(same);
            in_at = old.end;
            out_at += gap;
            saved += edit.bytes_before;
            ++dropped;
            continue;
        }
        const auto find = [&](BlockSpans& blocks, std::size_t block) {
            return blocks.spans().follow_into(
                blocks.block(report.dialect, edit.request, edit.message, block), edit.path);
        };
        const Span old = find(before, edit.block);
        const Span written = find(after, edit.block - dropped);
        CHECK(old.size() == edit.bytes_before);
        CHECK(written.size() == edit.bytes_after);
        CHECK(edit.bytes_after < edit.bytes_before);  // law 6
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

void check_same_report(const coppice::Report& left, const coppice::Report& right,
                              bool same_spelling) {
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

PrunedText pruned_text(std::string_view in, const AnyPipeline& pipeline,
                       coppice::Dialect dialect) {
    // one for all bodies of a test, so that what it kept of the last one would show
    static coppice::WireWorkspace workspace;

    const coppice::PrunedBody pruned = pipeline.prune(in, dialect);
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
    check_report(pipeline.plan(in, dialect));

    const std::string_view kept = pipeline.prune(in, workspace, dialect);
    const bool same_out = kept == out;
    CHECK(same_out);
    CHECK(report.engaged == (kept.data() != in.data()));  // law 1
    check_report(workspace.report);

    std::string joined;
    for (const std::string_view piece : pipeline.prune_pieces(in, workspace, dialect)) {
        CHECK_FALSE(piece.empty());
        joined += piece;
    }
    const bool same_pieces = joined == out;
    CHECK(same_pieces);
    check_report(workspace.report);

    if (report.engaged) {
        const coppice::PrunedBody again = pipeline.prune(out, dialect);
        CHECK_FALSE(again.report.engaged);  // law 2
        CHECK(again.report.edits.empty());
    }
    return {std::string(out), report};
}

void check_wire_laws(std::string_view in, std::string_view dom_out, const coppice::Report& dom_report,
                     const AnyPipeline& pipeline, coppice::Dialect dialect) {
    const PrunedText text = pruned_text(in, pipeline, dialect);
    const bool same = text.out == dom_out;
    CHECK(same);  // law 9
    CHECK(text.report.repeated_keys == 0);
    // a scalar is no body for the wire, whatever a DOM says of it
    const bool body = !in.empty() && (in.front() == '{' || in.front() == '[');
    CHECK_FALSE((text.report.engaged && !body));
    if (body) { check_same_report(text.report, dom_report); }
}

std::size_t check_edits(const nlohmann::ordered_json& before, const nlohmann::ordered_json& after,
                               const coppice::Report& report) {
    std::map<std::string_view, std::pair<std::size_t, std::size_t>> by_reason;
    for (const coppice::EditRecord& edit : report.edits) {
        ++by_reason[edit.reason].first;
        by_reason[edit.reason].second += edit.bytes_before - edit.bytes_after;
    }
    CHECK(by_reason.size() == report.by_reason.size());
    for (const coppice::ReasonTotal& total : report.by_reason) {
        CHECK(by_reason[total.reason].first == total.count);
        CHECK(by_reason[total.reason].second == total.saved_bytes);
    }
    return check_spans(before.dump(), after.dump(), report);
}

coppice::Report check_laws(const nlohmann::ordered_json& body, const AnyPipeline& pipeline,
                           const AllowedChanges& allowed) {
    const nlohmann::ordered_json original = body;
    const std::string bytes = body.dump();

    const coppice::Report planned = pipeline.plan(body, coppice::Dialect::detect);
    const bool untouched = body == original;  // not inside CHECK: doctest would print both bodies
    CHECK(untouched);                         // law 8

    nlohmann::ordered_json pruned = body;
    const coppice::Report report = pipeline.prune(pruned, coppice::Dialect::detect);
    const std::string pruned_bytes = pruned.dump();

    CHECK(planned.engaged == report.engaged);
    CHECK(planned.saved_bytes == report.saved_bytes);
    CHECK(planned.edits.size() == report.edits.size());

    CHECK(coppice::measure_document(body).bytes == bytes.size());
    CHECK(coppice::measure_document(pruned).bytes == pruned_bytes.size());
    CHECK(report.saved_bytes == bytes.size() - pruned_bytes.size());
    CHECK(check_edits(body, pruned, report) == report.saved_bytes);  // law 6
    CHECK(report.engaged == !report.edits.empty());
    CHECK(report.engaged == report.why.empty());
    const bool same_bytes = pruned_bytes == bytes;
    CHECK(same_bytes == !report.engaged);  // law 1

    AllowedChanges changes = allowed;
    changes.stale_thinking_removal =
        allowed.stale_thinking_removal || std::any_of(report.edits.begin(), report.edits.end(), is_drop);
    const auto violations = new_violations(report.dialect, body, pruned, changes);
    for (const std::string& violation : violations) { CHECK_MESSAGE(false, violation); }  // laws 3, 4, 5

    nlohmann::ordered_json twice = pruned;
    const coppice::Report again = pipeline.prune(twice, coppice::Dialect::detect);
    const bool idempotent = twice.dump() == pruned_bytes;
    CHECK(idempotent);  // law 2
    CHECK_FALSE(again.engaged);

    nlohmann::json sorted = nlohmann::json::parse(bytes);  // both kinds of DOM agree
    pipeline.prune(sorted, coppice::Dialect::detect);
    const bool kinds_agree = sorted == nlohmann::json::parse(pruned_bytes);
    CHECK(kinds_agree);

    check_wire_laws(bytes, pruned_bytes, report, pipeline, coppice::Dialect::detect);
    return report;
}

}  // namespace support
