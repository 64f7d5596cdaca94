// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"
#include "outcome.hpp"
#include "presets.hpp"

#include <coppice/coppice.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace coppice_cli {

namespace detail {

inline std::string cell(std::string_view text, std::size_t width) {
    std::string safe;
    coppice::append_safe(safe, text, width);
    return safe;
}

// As it is written, but for what would act on a terminal.
inline std::string line(std::string_view text) {
    std::string safe(text);
    for (char& c : safe) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) { c = ' '; }
    }
    return safe;
}

}  // namespace detail

/// What `--report` writes.
inline nlohmann::ordered_json report_json(const Options& options, const Outcome& outcome) {
    coppice::Report report = outcome.report;
    const std::size_t edits_saved = report.saved_bytes;
    report.saved_bytes = outcome.bytes_in - outcome.bytes_out;
    if (report.saved_bytes != edits_saved) {
        report.warnings.push_back(fmt::format(
            "the edits saved {} bytes; the rest is white space and spelling that a DOM does not keep",
            edits_saved));
    }
    const auto json = coppice::to_json(report);
    auto out = nlohmann::ordered_json::object();
    for (auto item = json.begin(); item != json.end(); ++item) {
        out[item.key()] = item.value();
        if (item.key() == "edits" && !outcome.lines.empty()) {
            // the line of the log that a message came from
            for (auto& edit : out["edits"]) {
                edit["line"] = outcome.lines.at(edit["message"].get<std::size_t>());
            }
        }
        if (item.key() == "dialect") {
            out["preset"] = preset_name(options);
            out["bytes_in"] = outcome.bytes_in;
            out["bytes_out"] = outcome.bytes_out;
        }
    }
    return out;
}

/// What `explain` prints.
inline std::string table(const Options& options, const Outcome& outcome) {
    const coppice::Report& report = outcome.report;
    std::string out;
    const auto end = [&out] { return std::back_inserter(out); };
    const auto add_notes = [&] {
        for (const std::string& note : report.warnings) {
            fmt::format_to(end(), "note: {}\n", detail::line(note));
        }
    };
    if (!report.engaged) {
        fmt::format_to(end(), "{}: nothing would change: {}\n", preset_name(options), report.why);
        add_notes();
        return out;
    }
    fmt::format_to(end(), "{:>9}  {:<18}{:<16}{:>9} {:>7}  {}\n",
                   !outcome.lines.empty() ? "line" : report.requests > 1 ? "request:msg.block" : "msg.block", "reason", "tool", "bytes",
                   "after", "written instead");
    for (const coppice::EditRecord& edit : report.edits) {
        std::string place = fmt::format("{}.{}", edit.message, edit.block);
        if (!outcome.lines.empty()) {
            place = fmt::format("{}", outcome.lines.at(edit.message));
        } else if (report.requests > 1) {
            place = fmt::format("{}:{}", edit.request, place);
        }
        fmt::format_to(end(), "{:>9}  {:<18}{:<16}{:>9} {:>7}  {}\n", place, detail::cell(edit.reason, 17),
                       detail::cell(edit.tool, 15), edit.bytes_before, edit.bytes_after,
                       !edit.replacement.empty() ? detail::line(edit.replacement)
                       : edit.path.empty()       ? "(block removed)"
                                                 : "(media removed)");
    }
    out += '\n';
    for (const coppice::ReasonTotal& total : report.by_reason) {
        fmt::format_to(end(), "{:<18}{:>6} edits {:>10} bytes saved\n", total.reason, total.count,
                       total.saved_bytes);
    }
    fmt::format_to(end(), "{:<18}{:>6} edits {:>10} bytes saved, {} of {} left, read as {}\n", "all",
                   report.edits.size(), report.saved_bytes, outcome.bytes_out, outcome.bytes_in, report.dialect);
    fmt::format_to(end(), "about {} of {} tokens left", report.tokens_after, report.tokens_before);
    if (report.first_rewritten_message) {
        fmt::format_to(end(), ", {} read anew from message {} on", report.tokens_rebilled,
                       *report.first_rewritten_message);
    }
    out += '\n';
    if (const auto& range = report.suggested_compaction) {
        fmt::format_to(end(), "a summary could stand for messages {} to {}, about {} tokens with {} of the user's turns\n",
                       range->first_message, range->end_message - 1, range->tokens, range->user_messages);
    }
    if (report.saturated) {
        out += "saturated: what cannot be cleared exceeds the mark of the cadence or the limit of the host\n";
    }
    if (report.under_target && !*report.under_target) {
        fmt::format_to(end(), "still above the ceiling: {}\n", report.ceiling_why);
    }
    add_notes();
    return out;
}

/// The same as JSON: what `--report` writes.
inline std::string report_text(const Options& options, const Outcome& outcome) {
    return report_json(options, outcome).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

/// What `explain` prints, as it was asked to.
inline std::string explanation(const Options& options, const Outcome& outcome) {
    switch (options.format) {
        case Options::Format::markdown: return coppice::to_markdown(outcome.report);
        case Options::Format::json: return report_text(options, outcome);
        case Options::Format::text: break;
    }
    return table(options, outcome);
}

}  // namespace coppice_cli
