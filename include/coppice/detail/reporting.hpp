// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/json_pointer.hpp>
#include <coppice/detail/worth.hpp>
#include <coppice/dialects.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/report.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0::detail {

/// For as long as it lives, a transcript may ask a source that goes with the call.
class Reading {
public:
    Reading(Transcript& transcript, const Source& source) : transcript_(transcript) {
        transcript_.clear();
        transcript_.source = &source;
    }
    ~Reading() { transcript_.source = nullptr; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

private:
    Transcript& transcript_;
};

/// Where inside its block an edit is, as a JSON Pointer (RFC 6901); inside a string that holds JSON, the pointer of
/// the string, a `#`, and a pointer in that JSON.
inline void append_path(const Transcript& transcript, const Edit& edit, std::string& path,
                        std::string& scratch) {
    const Entry& entry = transcript.all()[edit.entry];
    for (const char c : entry.path) {
        if (c == '*') {
            append_number(path, entry.block);
        } else {
            path += c;
        }
    }
    // the entry is the image
    if (entry.kind == Kind::user_text) { return; }
    if (edit.part != none && entry.form == Form::blocks) {
        path += '/';
        append_number(path, edit.part - entry.first_part);
        return;
    }
    const bool piece = edit.part != none && entry.form == Form::pieces;
    if (edit.field == none && !piece) { return; }
    const Field& field =
        transcript.fields[piece ? entry.first_field + edit.part - entry.first_part : edit.field];
    // media stand beside the object that holds the rest
    if (edit.as == Edit::As::empty) { path.erase(path.rfind('/')); }
    if (field.packed) { path += '#'; }
    if (field.deep) {
        path += field.list.raw();
        return;
    }
    if (field.in_list) {
        append_pointer_step(path, shown(field.list, scratch));
        path += '/';
        append_number(path, field.index);
    }
    append_pointer_step(path, shown(field.name, scratch));
}

/// Moves all that is in a list aside, so that it comes back in the same order.
template <class T>
void put_aside(std::vector<T>& list, std::vector<T>& spare) {
    for (auto item = list.rbegin(); item != list.rend(); ++item) { spare.push_back(std::move(*item)); }
    list.clear();
}

/// A new last item of a list: one that was put aside, where there is one. It holds what it held.
template <class T>
T& add_reused(std::vector<T>& list, std::vector<T>& spare) {
    if (spare.empty()) { return list.emplace_back(); }
    list.push_back(std::move(spare.back()));
    spare.pop_back();
    return list.back();
}

/// Makes a report empty, and keeps what it has allocated for the next one.
inline void reuse(Report& report, SpareParts& spare) {
    put_aside(report.edits, spare.edits);
    put_aside(report.warnings, spare.warnings);
    Report empty;
    empty.why.swap(report.why);
    empty.dialect.swap(report.dialect);
    empty.ceiling_why.swap(report.ceiling_why);
    empty.edits.swap(report.edits);
    empty.by_reason.swap(report.by_reason);
    empty.warnings.swap(report.warnings);
    empty.why.clear();
    empty.dialect.clear();
    empty.ceiling_why.clear();
    empty.by_reason.clear();
    report = std::move(empty);
}

inline void add_to_totals(Report& report, std::string_view reason, std::size_t saved) {
    report.saved_bytes += saved;
    const auto same = [&](const ReasonTotal& total) { return total.reason == reason; };
    auto total = std::find_if(report.by_reason.begin(), report.by_reason.end(), same);
    if (total == report.by_reason.end()) {
        total = report.by_reason.insert(total, ReasonTotal{reason, 0, 0});
    }
    ++total->count;
    total->saved_bytes += saved;
}

inline void report_ceiling(const CeilingOutcome& ceiling, Plan& plan, Report& report) {
    const bool reached = !plan.whole_body_exceeds(ceiling.target);
    report.under_target = report.under_target.value_or(true) && reached;
    if (reached || !report.ceiling_why.empty()) { return; }
    report.ceiling_why = !ceiling.why.empty() ? ceiling.why
                         : plan.body_exceeds(ceiling.target)
                             ? "contents that could not be stored"
                             : "the messages since the last change stay whole";
}

/// What goes with results that are cleared, and that not every wording mentions.
struct Unmentioned {
    std::size_t documents = 0;
    std::size_t others = 0;
};

/// Adds what a plan does to a report. `carry_out(edit)` answers with an edit's EditBytes.
template <class CarryOut>
void add_to_report(Workspace& workspace, Report& report, Unmentioned& unmentioned, CarryOut carry_out) {
    const Transcript& transcript = workspace.transcript;
    Plan& plan = workspace.plan;
    report.dialect = transcript.dialect;
    report.horizon = std::max(report.horizon, transcript.horizon());
    for (const Entry& entry : transcript.all()) {
        report.unpaired_calls += entry.kind == Kind::call && entry.peer == none;
        report.unpaired_results += entry.kind == Kind::result && entry.peer == none;
    }
    std::string& scratch = workspace.text;
    std::optional<Sight> sight;  // most bodies stay as they are
    plan.for_each_edit([&](const Edit& edit) {
        const Entry& entry = transcript.all()[edit.entry];
        if (edit.part == none && edit.field == none) {
            unmentioned.documents += entry.documents;
            unmentioned.others += entry.others;
        }
        const EditBytes bytes = carry_out(edit);
        EditRecord& record = add_reused(report.edits, workspace.spare.edits);
        record.request = report.requests - 1;
        record.message = entry.message;
        record.block = entry.block;
        record.path.clear();
        append_path(transcript, edit, record.path, scratch);
        record.reason = edit.reason;
        record.id = shown(entry.id, scratch);
        record.tool = shown(entry.tool, scratch);
        record.identity = shown(entry.identity, scratch);
        if (!sight) { sight.emplace(workspace, workspace.seen, scratch); }
        record.out_of_sight = entry.kind == Kind::result && edit.part == none && !sight->has(entry);
        record.replacement = edit.text;
        record.bytes_before = bytes.before;
        record.bytes_after = bytes.after;
        add_to_totals(report, edit.reason, bytes.before - bytes.after);
        if (!report.first_changed_message) { report.first_changed_message = entry.message; }
    });
    if (const auto& ceiling = plan.ceiling()) { report_ceiling(*ceiling, plan, report); }
}

/// Who says whose a body is may be wrong, and would never see anything change.
template <json_cursor Value>
void append_doubt(Value body, Dialect dialect, std::string& why) {
    std::string_view ignored;
    const Dialect looks_like = Detection<Value>().detect(body, ignored);
    if (looks_like == Dialect::detect || looks_like == dialect) { return; }
    why.append("; read as ").append(name_of(dialect)).append(", but it looks like ").append(name_of(looks_like));
}

/// Whether policies store what they must before their edits may be made.
enum class Commit : bool { no, yes };

/// Reads, plans and reports every request of a body. `carry_out(edit)` is called for each edit, in the order of the
/// document.
template <json_cursor Value, pipeline_like Pruner, class CarryOut>
void prune_bodies(Value root, const Pruner& pipeline, const Inputs& inputs, Commit commit,
                  Workspace& workspace, const Source& source, Report& report, CarryOut carry_out) {
    const Dialect dialect = inputs.dialect;
    workspace.ledger = inputs.ledger;
    workspace.hints.start(inputs.hints);
    std::size_t refused = 0;
    std::string_view first_refusal;
    Unmentioned unmentioned;
    std::size_t unstored = 0;
    for_each_body(root, [&](Value body) {
        ++report.requests;
        const Reading reading(workspace.transcript, source);
        const std::string_view refusal = read_request(body, dialect, workspace.transcript, workspace.reader);
        if (!refusal.empty()) {
            if (refused++ == 0) { first_refusal = refusal; }
            return;
        }
        if (!inputs.model.empty()) { workspace.transcript.model = inputs.model; }
        workspace.hints.apply(workspace.transcript);
        pipeline.run(workspace);
        if (commit == Commit::yes) { pipeline.commit(workspace); }
        const std::size_t edits_before = report.edits.size();
        add_to_report(workspace, report, unmentioned, carry_out);
        Worth(workspace, pipeline.prices(), pipeline.cache_rules()).add_to(report);
        unstored += workspace.plan.withdrawn();
        if (report.edits.size() == edits_before && report.why.empty() && workspace.plan.withdrawn() > 0) {
            report.why = "the store took no content, so results stay whole";
        }
        if (report.edits.size() == edits_before && report.why.empty()) {
            pipeline.append_why_closed(workspace.transcript, workspace.timing, report.why);
            if (dialect != Dialect::detect) { append_doubt(body, dialect, report.why); }
        }
    });
    report.engaged = !report.edits.empty();
    if (!report.engaged) {
        if (report.why.empty()) { report.why = report.requests == 0 ? "an empty batch" : first_refusal; }
        return;
    }
    report.why.clear();
    const auto warn = [&](std::size_t count) -> std::string& {
        std::string& warning = add_reused(report.warnings, workspace.spare.warnings);
        warning.clear();
        append_number(warning, count);
        return warning;
    };
    if (unmentioned.documents > 0) {
        warn(unmentioned.documents) += " documents were cleared with their results";
    }
    if (unmentioned.others > 0) {
        warn(unmentioned.others) += " parts of an unknown kind were cleared with their results";
    }
    if (unstored > 0) { warn(unstored) += " results stay whole, since the store did not take them"; }
    if (refused > 0) {
        std::string& warning = warn(refused);
        warning += " of ";
        append_number(warning, report.requests);
        warning.append(" requests stay as they are: ").append(first_refusal);
    }
}

// What went wrong, in words of ours or of the standard library: never with the input's own bytes.
template <class Work>
void fail_open(Report& report, Work work) {
    try {
        work();
    } catch (const std::exception& error) {
        report = Report{};
        report.why = error.what();
    } catch (...) { report = Report{}; }
    if (!report.engaged && report.why.empty()) { report.why = "unknown failure"; }
}

}  // namespace coppice::detail
