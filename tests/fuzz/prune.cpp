// SPDX-License-Identifier: MIT
#include "prune.hpp"

#include "json_text.hpp"
#include "pipelines.hpp"
#include "target.hpp"
#include "written.hpp"

#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::Dialect;
using coppice::EditRecord;
using coppice::Report;
using fuzz::JsonText;
using fuzz::require;
using fuzz::Type;
using fuzz::Value;
using Json = nlohmann::ordered_json;

// What edits two reports tell of, whatever the spelling of the bodies.
void require_same_decisions(const Report& left, const Report& right) {
    require(left.engaged == right.engaged, "same engaged");
    require(left.why == right.why, "same why");
    require(left.dialect == right.dialect, "same dialect");
    require(left.first_changed_message == right.first_changed_message, "same first_changed_message");
    require(left.under_target == right.under_target, "same under_target");
    require(left.ceiling_why == right.ceiling_why, "same ceiling_why");
    require(left.unpaired_calls == right.unpaired_calls, "same unpaired_calls");
    require(left.unpaired_results == right.unpaired_results, "same unpaired_results");
    require(left.horizon == right.horizon, "same horizon");
    require(left.requests == right.requests, "same requests");
    require(left.warnings == right.warnings, "same warnings");
    require(left.edits.size() == right.edits.size(), "same number of edits");
    for (std::size_t i = 0; i < left.edits.size(); ++i) {
        const EditRecord& a = left.edits[i];
        const EditRecord& b = right.edits[i];
        require(a.request == b.request && a.message == b.message && a.block == b.block && a.path == b.path,
                "same place of an edit");
        require(a.reason == b.reason, "same reason of an edit");
        require(a.id == b.id && a.tool == b.tool, "same call of an edit");
        require(a.replacement == b.replacement, "same replacement");
    }
}

void require_same_sizes(const Report& left, const Report& right) {
    require(left.saved_bytes == right.saved_bytes, "same saved_bytes");
    for (std::size_t i = 0; i < left.edits.size(); ++i) {
        require(left.edits[i].bytes_before == right.edits[i].bytes_before, "same bytes_before");
        require(left.edits[i].bytes_after == right.edits[i].bytes_after, "same bytes_after");
    }
    require(left.by_reason.size() == right.by_reason.size(), "same reasons");
    for (std::size_t i = 0; i < left.by_reason.size(); ++i) {
        require(left.by_reason[i].reason == right.by_reason[i].reason &&
                    left.by_reason[i].count == right.by_reason[i].count &&
                    left.by_reason[i].saved_bytes == right.by_reason[i].saved_bytes,
                "same totals by reason");
    }
}

void require_same_report(const Report& left, const Report& right) {
    require_same_decisions(left, right);
    require_same_sizes(left, right);
    require(left.first_changed_offset == right.first_changed_offset, "same first_changed_offset");
    require(left.repeated_keys == right.repeated_keys, "same repeated_keys");
}

void require_offset(std::string_view in, std::string_view out, const Report& report) {
    require(report.first_changed_offset.has_value() == report.engaged,
            "first_changed_offset where something changed");
    if (!report.engaged) { return; }
    const auto place = std::mismatch(in.begin(), in.end(), out.begin(), out.end());
    const auto same = static_cast<std::size_t>(place.first - in.begin());
    require(*report.first_changed_offset == same, "first_changed_offset");
}

struct Numbers {
    bool too_large = false;  // for a DOM
    bool respelled = false;  // by a DOM
};

Numbers look_at_numbers(const JsonText& json, std::string_view body) {
    Numbers numbers;
    for (const Value& value : json.values()) {
        if (value.type != Type::number) { continue; }
        const std::string spelling(value.span.in(body));
        if (!std::isfinite(std::strtod(spelling.c_str(), nullptr))) {
            numbers.too_large = numbers.respelled = true;
        } else {
            numbers.respelled = numbers.respelled || Json::parse(spelling).dump() != spelling;
        }
    }
    return numbers;
}

bool holds_values(const JsonText& json) {
    return json.values().front().type == Type::object || json.values().front().type == Type::array;
}

void require_refused(std::string_view body, const Report& report, const JsonText& json, bool valid) {
    constexpr std::string_view refusal = "not valid JSON at byte ";
    const bool refused = report.why.substr(0, refusal.size()) == refusal;
    require(refused == !valid, "what is not valid JSON is refused, and nothing else");
    const bool no_body = report.why == "the body is neither an object nor an array";
    require(no_body == (valid && !holds_values(json)), "a scalar is no body");
    if (!refused) { return; }
    require(!report.engaged, "what is refused stays");
    const std::size_t place = std::strtoull(report.why.c_str() + refusal.size(), nullptr, 10);
    require(place <= body.size(), "the place of a fault");
    require(place <= json.fault() || place == body.size(), "the place of the first fault");
}

struct Subject {
    std::string_view body;
    Dialect dialect;
    JsonText json{};
    bool valid = false;
};

// One workspace for all executions, so that nothing may depend on what went before.
coppice::WireWorkspace& reused_workspace() {
    static coppice::WireWorkspace workspace;
    return workspace;
}

template <class Pipeline>
void check_reuse(const Subject& subject, const Pipeline& pipeline, std::string_view out,
                 const Report& report) {
    coppice::WireWorkspace& workspace = reused_workspace();
    const std::string_view again = coppice::prune(subject.body, pipeline, workspace, subject.dialect);
    require(again == out, "a workspace used before gives the same bytes");
    require(report.engaged || again.data() == subject.body.data(), "what is not changed is not copied");
    require_same_report(workspace.report, report);

    std::string joined;
    for (const std::string_view piece :
         coppice::prune_pieces(subject.body, pipeline, workspace, subject.dialect)) {
        require(!piece.empty(), "no piece is empty");
        joined += piece;
    }
    require(joined == out, "the pieces, joined");
    require_same_report(workspace.report, report);

    require_same_report(coppice::plan(subject.body, pipeline, subject.dialect), report);
}

// Wire and DOM do the same to a text that a DOM writes as it stands.
template <class Pipeline>
void check_dom(const Subject& subject, const Pipeline& pipeline, std::string_view out, const Report& report,
               bool compact) {
    static coppice::Workspace workspace;
    Json document = Json::parse(subject.body);
    const Report dom = coppice::prune(document, pipeline, workspace, subject.dialect);
    require_same_decisions(report, dom);
    require(Json::parse(out) == document, "bytes and DOM give the same document");
    if (compact) {
        require_same_sizes(report, dom);
        require(document.dump() == out, "bytes and DOM give the same bytes");
    }
}

template <class Pipeline>
void check_valid(const Subject& subject, const Pipeline& pipeline, std::string_view out,
                 const Report& report) {
    const std::string_view body = subject.body;
    const JsonText& json = subject.json;
    JsonText after;
    require(after.read(out), "what is written is valid JSON");
    require(report.repeated_keys == json.repeated_keys(), "repeated_keys");
    const bool one_dialect = report.requests == 1 || subject.dialect != Dialect::detect;
    fuzz::require_only_edits(body, json, out, after, report, one_dialect);

    const coppice::PrunedBody twice = coppice::prune(out, pipeline, subject.dialect);
    require(!twice.report.engaged, "pruning twice is pruning once");

    const std::string compact = json.compact();
    if (compact != body) {
        const coppice::PrunedBody other = coppice::prune(compact, pipeline, subject.dialect);
        require_same_decisions(report, other.report);
        require(other.bytes(compact) == after.compact(), "the spelling of a body does not matter");
    }

    const Numbers numbers = look_at_numbers(json, body);
    const bool holdable = !json.lone_surrogates() && !numbers.too_large;
    require(Json::accept(body) == holdable, "both back ends accept what is valid");
    if (!holdable || report.repeated_keys > 0 || json.deepest() > 500) { return; }
    if (!numbers.respelled) {
        check_dom(subject, pipeline, out, report, compact == body);
        return;
    }
    const std::string respelled = Json::parse(body).dump();
    const coppice::PrunedBody other = coppice::prune(respelled, pipeline, subject.dialect);
    check_dom({respelled, subject.dialect}, pipeline, other.bytes(respelled), other.report, true);
}

template <class Pipeline>
void check(const Subject& subject, const Pipeline& pipeline) {
    const std::string_view body = subject.body;
    const coppice::PrunedBody pruned = coppice::prune(body, pipeline, subject.dialect);
    const std::string_view out = pruned.bytes(body);
    const Report& report = pruned.report;
    require(report.engaged == !report.edits.empty(), "engaged where there are edits");
    require(report.engaged == report.why.empty(), "a reason where nothing changes");
    require(report.engaged || (pruned.rewritten.empty() && report.saved_bytes == 0),
            "nothing is written without an edit");
    require(!report.engaged || out.size() < body.size(), "what is written is smaller");
    require_offset(body, out, report);
    require_refused(body, report, subject.json, subject.valid);
    check_reuse(subject, pipeline, out, report);
    if (subject.valid && holds_values(subject.json)) {
        check_valid(subject, pipeline, out, report);
    } else if (!subject.valid &&
               body.find('\0') == std::string_view::npos) {  // which a DOM takes for the end
        require(!Json::accept(body), "both back ends refuse what is not valid");
    }
}

}  // namespace

void fuzz::check_pruning(Dialect dialect, const std::uint8_t* data, std::size_t size) {
    if (size == 0) { return; }
    Subject subject{{reinterpret_cast<const char*>(data) + 1, size - 1},
                    (data[0] & 0x20U) != 0 ? dialect : Dialect::detect};
    subject.valid = subject.json.read(subject.body);
    with_pipeline(data[0] & 0x1FU, [&](const auto& pipeline) { check(subject, pipeline); });
}

std::vector<std::uint8_t> fuzz::pruning_first_bytes() {
    std::vector<std::uint8_t> bytes;
    for (unsigned forced : {0x40U, 0x60U}) {
        for (unsigned i = 0; i < pipeline_count; ++i) {
            bytes.push_back(static_cast<std::uint8_t>(forced + i));
        }
    }
    return bytes;
}
