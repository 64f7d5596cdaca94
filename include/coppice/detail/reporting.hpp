// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/pipeline.hpp>
#include <coppice/report.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace coppice::detail {

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

inline void append_pointer_step(std::string& pointer, std::string_view step) {
    pointer += '/';
    for (const char c : step) {
        if (c == '~') {
            pointer += "~0";
        } else if (c == '/') {
            pointer += "~1";
        } else {
            pointer += c;
        }
    }
}

inline std::string number(std::size_t value) {
    std::string digits;
    append_number(digits, value);
    return digits;
}

/// Where inside its block an edit is, as a JSON Pointer (RFC 6901).
inline std::string path_of(const Transcript& transcript, const Edit& edit) {
    const Entry& entry = transcript.all()[edit.entry];
    if (edit.part != none && entry.form == Form::blocks) {
        return "/content/" + number(edit.part - entry.first_part);
    }
    if (edit.field == none) { return "/content"; }
    const Field& field = transcript.fields[edit.field];
    std::string scratch;
    std::string pointer = "/input";
    if (!field.list.empty()) {
        append_pointer_step(pointer, decoded(field.list, scratch));
        append_pointer_step(pointer, number(field.index));
    }
    append_pointer_step(pointer, decoded(field.name, scratch));
    return pointer;
}

/// Adds up what a plan does.
inline void fill_report(Workspace& workspace, Report& report) {
    const Transcript& transcript = workspace.transcript;
    Plan& plan = workspace.plan;
    report.dialect = transcript.dialect;
    report.horizon = transcript.horizon();
    for (const Entry& entry : transcript.all()) {
        report.unpaired_calls += entry.kind == Kind::call && entry.peer == none;
        report.unpaired_results += entry.kind == Kind::result && entry.peer == none;
    }
    std::string scratch;
    std::size_t documents = 0;
    std::size_t others = 0;
    plan.for_each_edit([&](const Edit& edit) {
        const Entry& entry = transcript.all()[edit.entry];
        if (edit.part == none && edit.field == none) {
            documents += entry.documents;
            others += entry.others;
        }
        EditRecord record;
        record.message = entry.message;
        record.block = entry.block;
        record.path = path_of(transcript, edit);
        record.reason = edit.reason;
        record.id = decoded(entry.id, scratch);
        record.tool = decoded(entry.tool, scratch);
        record.replacement = edit.text;
        record.bytes_before = plan.bytes_before(edit);
        record.bytes_after = edit.after;
        const std::size_t saved = record.bytes_before - edit.after;
        report.saved_bytes += saved;
        if (!report.first_changed_message) { report.first_changed_message = entry.message; }
        const auto same = [&](const ReasonTotal& total) { return total.reason == edit.reason; };
        auto total = std::find_if(report.by_reason.begin(), report.by_reason.end(), same);
        if (total == report.by_reason.end()) {
            total = report.by_reason.insert(total, ReasonTotal{std::string(edit.reason), 0, 0});
        }
        ++total->count;
        total->saved_bytes += saved;
        report.edits.push_back(std::move(record));
    });
    report.engaged = !report.edits.empty();
    // not every wording says so in the stub
    if (documents > 0) {
        report.warnings.push_back(number(documents) + " documents were cleared with their results");
    }
    if (others > 0) {
        report.warnings.push_back(number(others) +
                                  " parts of an unknown kind were cleared with their results");
    }
    if (const auto& ceiling = plan.ceiling()) {
        report.under_target = !plan.whole_body_exceeds(ceiling->target);
        if (!*report.under_target) {
            report.ceiling_why = !ceiling->why.empty() ? ceiling->why
                                 : plan.body_exceeds(ceiling->target)
                                     ? "contents that could not be stored"
                                     : "the messages since the last change stay whole";
        }
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
