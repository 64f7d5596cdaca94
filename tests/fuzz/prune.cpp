// SPDX-License-Identifier: MIT
// Pruning of bytes against pruning of a DOM, and against what every body must hold to. The first byte of an input
// chooses the pipeline and the dialect, the rest is the body.
//
//     CXX=clang++ cmake -B build/fuzz && cmake --build build/fuzz --target coppice_fuzz_prune
//     mkdir -p finds && build/fuzz/tests/fuzz/coppice_fuzz_prune -max_len=4096 -timeout=20 finds tests/fuzz/seeds/prune
//
// `replay.cpp` runs the seeds without libFuzzer.
#include "json_text.hpp"
#include "mutate.hpp"
#include "pipelines.hpp"
#include "target.hpp"

#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::Dialect;
using coppice::EditRecord;
using coppice::Report;
using fuzz::JsonText;
using fuzz::nowhere;
using fuzz::require;
using fuzz::Span;
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

// Finds edits in a body by their places.
class Places {
public:
    explicit Places(const JsonText& json) : json_(json) {}

    const Value* find(const EditRecord& edit) const {
        std::size_t at = request(edit.request);
        if (is(at, Type::object)) { at = json_.member(at, "messages"); }
        at = element(at, edit.message);
        at = member(at, "content");
        at = element(at, edit.block);
        for (std::string_view path = edit.path; !path.empty();) {
            path.remove_prefix(1);
            const std::string_view step = path.substr(0, path.find('/'));
            path.remove_prefix(step.size());
            at = is(at, Type::array) ? element(at, number(step)) : member(at, unescaped(step));
        }
        return at == nowhere ? nullptr : &json_.values()[at];
    }

private:
    bool is(std::size_t at, Type type) const { return at != nowhere && json_.values()[at].type == type; }
    std::size_t element(std::size_t at, std::size_t n) const {
        return is(at, Type::array) ? json_.element(at, n) : nowhere;
    }
    std::size_t member(std::size_t at, std::string_view name) const {
        return is(at, Type::object) ? json_.member(at, name) : nowhere;
    }

    static std::size_t number(std::string_view digits) {
        std::size_t value = 0;
        for (const char c : digits) { value = value * 10 + static_cast<std::size_t>(c - '0'); }
        return value;
    }
    static std::string unescaped(std::string_view step) {
        std::string out;
        for (std::size_t i = 0; i < step.size(); ++i) {
            const bool escape = step[i] == '~' && i + 1 < step.size();
            out += !escape ? step[i] : step[i + 1] == '1' ? '/' : '~';
            i += escape ? 1 : 0;
        }
        return out;
    }

    bool has_any(std::size_t at, std::initializer_list<std::string_view> names) const {
        return std::any_of(names.begin(), names.end(),
                           [&](std::string_view name) { return member(at, name) != nowhere; });
    }
    bool is_request(std::size_t at) const { return has_any(at, {"messages", "contents", "input", "role"}); }

    // the request inside a wrapper, or the value itself
    std::size_t unwrapped(std::size_t at) const {
        if (!is(at, Type::object) || is_request(at) || json_.repeats_keys(at)) { return at; }
        std::size_t inner = at;
        json_.for_each_child(at, [&](std::size_t i) {
            const std::string name = json_.decoded(json_.values()[i].key);
            if ((name == "params" || name == "body") && is(i, Type::object)) { inner = i; }
        });
        return inner;
    }

    bool is_list_of_requests(std::size_t array) const {
        std::size_t first = nowhere;
        json_.for_each_child(array, [&](std::size_t i) {
            if (first == nowhere && is(i, Type::object)) { first = i; }
        });
        if (first == nowhere || has_any(first, {"role", "content"}) || json_.repeats_keys(first)) {
            return false;
        }
        return is_request(first) || unwrapped(first) != first;
    }

    std::size_t request(std::size_t n) const {
        if (is(0, Type::array)) { return is_list_of_requests(0) ? unwrapped(json_.element(0, n)) : 0; }
        const std::size_t list = member(0, "requests");
        const bool batch = is(list, Type::array) && !is_request(0) && unwrapped(0) == 0;
        return batch ? unwrapped(json_.element(list, n)) : unwrapped(0);
    }

    const JsonText& json_;
};

// The written value says what the record says, and nothing but that and the cache mark that was there.
void require_written(const JsonText& after, std::string_view out, const Value& value, std::string_view before,
                     const std::string& replacement) {
    const auto index = static_cast<std::size_t>(&value - after.values().data());
    if (value.type == Type::string) {
        require(after.decoded(value.span) == replacement, "the string that was written");
        return;
    }
    std::size_t block = index;
    if (value.type == Type::array) {
        block = after.element(index, 0);
        require(block != nowhere && after.element(index, 1) == nowhere, "an array of one block");
    }
    std::size_t members = 0;
    after.for_each_child(block, [&](std::size_t i) {
        const Value& member = after.values()[i];
        const std::string name = after.decoded(member.key);
        ++members;
        if (name == "type") {
            require(after.decoded(member.span) == "text", "a text block");
        } else if (name == "text") {
            require(after.decoded(member.span) == replacement, "the text that was written");
        } else {
            require(name == "cache_control", "no other member");
            require(before.find(member.span.in(out)) != std::string_view::npos, "the bytes of a cache mark");
        }
    });
    require(members == 2 || members == 3, "a whole text block");
}

// Edits stand where the report says, have the sizes it says, and all other bytes are as they were.
void require_only_edits(std::string_view in, const JsonText& before, std::string_view out,
                        const JsonText& after, const Report& report) {
    std::size_t in_end = 0;
    std::size_t out_end = 0;
    std::size_t saved = 0;
    for (const EditRecord& edit : report.edits) {
        const Value* const old = Places(before).find(edit);
        const Value* const now = Places(after).find(edit);
        require(old != nullptr && now != nullptr, "an edit's place exists in both bodies");
        require(old->span.begin >= in_end && now->span.begin >= out_end, "edits in the order of the body");
        require(in.substr(in_end, old->span.begin - in_end) == out.substr(out_end, now->span.begin - out_end),
                "the bytes between edits");
        require(old->span.size() == edit.bytes_before, "bytes_before");
        require(now->span.size() == edit.bytes_after, "bytes_after");
        require(edit.bytes_after < edit.bytes_before, "an edit makes its value smaller");
        require_written(after, out, *now, old->span.in(in), edit.replacement);
        saved += edit.bytes_before - edit.bytes_after;
        in_end = old->span.end;
        out_end = now->span.end;
    }
    require(in.substr(in_end) == out.substr(out_end), "the bytes behind the edits");
    require(saved == report.saved_bytes && in.size() - out.size() == saved, "saved_bytes");
    std::size_t by_reason = 0;
    std::size_t count = 0;
    for (const coppice::ReasonTotal& total : report.by_reason) {
        by_reason += total.saved_bytes;
        count += total.count;
    }
    require(by_reason == saved && count == report.edits.size(), "totals by reason");
}

// The texts of a result's content; other parts are of no interest.
std::vector<std::string> texts_of(const JsonText& json, std::size_t content) {
    std::vector<std::string> texts;
    const auto add = [&](std::size_t part) {
        const std::size_t type = json.member_of_type(part, "type", Type::string);
        const std::size_t text = json.member_of_type(part, "text", Type::string);
        const bool is_text =
            type != nowhere && text != nowhere && json.decoded(json.values()[type].span) == "text";
        texts.push_back(is_text ? json.exact(json.values()[text].span) : std::string());
    };
    switch (json.values()[content].type) {
        case Type::string: texts.push_back(json.exact(json.values()[content].span)); break;
        case Type::array: json.for_each_child(content, add); break;
        case Type::object: add(content); break;
        default: break;
    }
    return texts;
}

// What is called a duplicate stands further on, whole.
void require_true_duplicates(const JsonText& before, const JsonText& after, const Report& report) {
    for (const EditRecord& edit : report.edits) {
        if (edit.reason != "dedup") { continue; }
        const Value* const old = Places(before).find(edit);
        const Value* const now = Places(after).find(edit);
        const auto texts = texts_of(before, static_cast<std::size_t>(old - before.values().data()));
        bool found = false;
        for (std::size_t i = static_cast<std::size_t>(now - after.values().data()) + 1;
             i < after.values().size(); ++i) {
            const bool content =
                after.values()[i].key.size() > 0 && after.decoded(after.values()[i].key) == "content";
            found = found || (content && texts_of(after, i) == texts);
        }
        require(found, "a duplicate has the same texts as a later result");
    }
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
    require_only_edits(body, json, out, after, report);
    require_true_duplicates(json, after, report);

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

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) { return 0; }
    Subject subject{{reinterpret_cast<const char*>(data) + 1, size - 1},
                    (data[0] & 0x20U) != 0 ? Dialect::anthropic : Dialect::detect};
    subject.valid = subject.json.read(subject.body);
    fuzz::with_pipeline(data[0] & 0x1FU, [&](const auto& pipeline) { check(subject, pipeline); });
    return 0;
}

std::vector<std::uint8_t> fuzz::first_bytes() {
    std::vector<std::uint8_t> bytes;
    for (unsigned forced : {0x40U, 0x60U}) {
        for (unsigned i = 0; i < pipeline_count; ++i) {
            bytes.push_back(static_cast<std::uint8_t>(forced + i));
        }
    }
    return bytes;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    return fuzz::mutate(data, size, max_size, seed);
}
