// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/report.hpp>
#include <coppice/text.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

namespace detail {

enum class Page : bool { text, markdown };

/// Appends a name out of a session so that it stays in its place: printable ASCII, in Markdown a span of code.
inline void append_name(std::string& out, std::string_view name, std::size_t limit, Page page) {
    std::string safe;
    append_safe(safe, name, limit);
    if (page == Page::text || safe.empty()) {
        out += safe;
        return;
    }
    out += '`';
    for (const char c : safe) {
        if (c == '|') { out += '\\'; }
        out += c == '`' ? '\'' : c;
    }
    out += '`';
}

/// Appends a sentence; in Markdown nothing in it is markup.
inline void append_words(std::string& out, std::string_view words, Page page) {
    constexpr std::size_t longest = 400;
    std::string safe;
    append_safe(safe, words, longest);
    for (const char c : safe) {
        const bool markup = std::string_view("`*_|~#&$!@").find(c) != std::string_view::npos;
        if (page == Page::markdown && markup) { out += '\\'; }
        out += c;
    }
}

/// A table, whose cells are given row by row.
class AuditTable {
public:
    struct Column {
        std::string_view title{};
        bool number = false;
    };

    AuditTable(std::vector<Column> columns, Page page) : columns_(std::move(columns)), page_(page) {
        for (const Column& column : columns_) { cells_.emplace_back(column.title); }
    }
    void add(std::size_t number) { append_number(cells_.emplace_back(), number); }
    void add(std::string_view name, std::size_t limit) { append_name(cells_.emplace_back(), name, limit, page_); }
    /// A word of ours.
    void add_label(std::string_view label) { cells_.emplace_back(label); }

    void print(std::string& out) const {
        std::vector<std::size_t> widths(columns_.size(), 0);
        for (std::size_t i = 0; i < cells_.size(); ++i) {
            std::size_t& width = widths[i % widths.size()];
            width = std::max(width, cells_[i].size());
        }
        for (std::size_t row = 0; row < cells_.size(); row += columns_.size()) {
            print_row(out, row, widths);
            if (row == 0 && page_ == Page::markdown) { print_rule(out); }
        }
    }

private:
    void print_row(std::string& out, std::size_t row, const std::vector<std::size_t>& widths) const {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            const std::string& cell = cells_[row + i];
            if (page_ == Page::markdown) {
                out.append(i == 0 ? "| " : " ").append(cell).append(" |");
                continue;
            }
            const std::size_t padding = widths[i] - cell.size();
            if (columns_[i].number) { out.append(padding, ' '); }
            out += cell;
            if (i + 1 == columns_.size()) { continue; }
            if (!columns_[i].number) { out.append(padding, ' '); }
            out += "  ";
        }
        if (page_ == Page::text) { out.resize(out.find_last_not_of(' ') + 1); }
        out += '\n';
    }
    void print_rule(std::string& out) const {
        out += '|';
        for (const Column& column : columns_) { out += column.number ? "---:|" : "---|"; }
        out += '\n';
    }

    std::vector<Column> columns_;
    Page page_;
    std::vector<std::string> cells_;  // the titles first
};

constexpr std::size_t name_limit = 64;
constexpr std::size_t identity_limit = 120;

inline void append_totals(std::string& out, const Report& report, Page page) {
    AuditTable table({{"reason"}, {"edits", true}, {"bytes before", true}, {"bytes after", true}, {"saved", true}},
                     page);
    std::size_t all_before = 0;
    std::size_t all_after = 0;
    for (const ReasonTotal& total : report.by_reason) {
        std::size_t before = 0;
        std::size_t after = 0;
        for (const EditRecord& edit : report.edits) {
            if (edit.reason != total.reason) { continue; }
            before += edit.bytes_before;
            after += edit.bytes_after;
        }
        table.add(total.reason, name_limit);
        for (const std::size_t number : {total.count, before, after, total.saved_bytes}) { table.add(number); }
        all_before += before;
        all_after += after;
    }
    table.add_label("all");
    for (const std::size_t number : {report.edits.size(), all_before, all_after, report.saved_bytes}) {
        table.add(number);
    }
    table.print(out);
}

inline void append_edits(std::string& out, const Report& report, Page page) {
    const bool batch = report.requests > 1;
    std::vector<AuditTable::Column> columns = {{"message", true}, {"block", true},        {"tool"},
                                               {"path or command"}, {"reason"},           {"bytes before", true},
                                               {"bytes after", true}};
    if (batch) { columns.insert(columns.begin(), {"request", true}); }
    AuditTable table(std::move(columns), page);
    for (const EditRecord& edit : report.edits) {
        if (batch) { table.add(edit.request); }
        table.add(edit.message);
        table.add(edit.block);
        table.add(edit.tool, name_limit);
        table.add(edit.identity, identity_limit);
        table.add(edit.reason, name_limit);
        table.add(edit.bytes_before);
        table.add(edit.bytes_after);
    }
    table.print(out);
}

/// What was not done, and why.
inline std::vector<std::string> omissions(const Report& report) {
    std::vector<std::string> found;
    const auto add = [&](std::size_t count, std::string_view one, std::string_view many) {
        if (count == 0) { return; }
        append_number(found.emplace_back(), count);
        found.back().append(count == 1 ? one : many).append(" as before");
    };
    if (!report.engaged) { found.push_back("nothing changed: " + report.why); }
    if (report.under_target && !*report.under_target) {
        found.push_back("the ceiling was not reached: " + report.ceiling_why);
    }
    if (report.saturated) {
        found.emplace_back("what cannot be cleared exceeds the mark of the cadence or the limit of the host");
    }
    if (!report.dialect.empty()) {
        found.emplace_back("messages from number ");
        append_number(found.back(), report.horizon);
        found.back() += " on were not open to change";
    }
    add(report.unpaired_calls, " call without an answer stays", " calls without an answer stay");
    add(report.unpaired_results, " result without its call stays", " results without their call stay");
    add(report.repeated_keys, " object with two members of one name stays",
        " objects with two members of one name stay");
    found.insert(found.end(), report.warnings.begin(), report.warnings.end());
    return found;
}

inline std::string audit(const Report& report, Page page) {
    const std::string_view heading = page == Page::markdown ? "## " : "";
    std::string out;
    out += heading;
    append_number(out, report.edits.size());
    out.append(report.edits.size() == 1 ? " edit, " : " edits, ");
    append_number(out, report.saved_bytes);
    out += " bytes saved\n\n";
    if (!report.dialect.empty()) {
        out += "About ";
        append_number(out, report.tokens_after);
        out += " of ";
        append_number(out, report.tokens_before);
        out += " tokens are left, read as ";
        append_words(out, report.dialect, page);
        out += ".\n";
        if (report.first_rewritten_message) {
            out += "What was cached changes from message ";
            append_number(out, *report.first_rewritten_message);
            out += " on: about ";
            append_number(out, report.tokens_rebilled);
            out += " tokens are read anew.\n";
        }
        if (const auto& range = report.suggested_compaction) {
            out += "A summary could stand for messages ";
            append_number(out, range->first_message);
            out += " to ";
            append_number(out, range->end_message - 1);
            out += ": about ";
            append_number(out, range->tokens);
            out += " tokens, with ";
            append_number(out, range->user_messages);
            out.append(range->user_messages == 1 ? " message" : " messages").append(" of the user.\n");
        }
        out += '\n';
    }
    if (!report.edits.empty()) {
        append_totals(out, report, page);
        out += '\n';
        append_edits(out, report, page);
        out += '\n';
    }
    const std::vector<std::string> not_done = omissions(report);
    if (not_done.empty()) { return out; }
    out.append(heading).append("Not done\n\n");
    for (const std::string& reason : not_done) {
        out += "- ";
        append_words(out, reason, page);
        out += '\n';
    }
    return out;
}

}  // namespace detail

/// The report for people, as plain text: edits by reason with counts and bytes, whose last row is their sum; every edit
/// with its place, tool, path or command of the call, reason and bytes; what was not done, and why. Whatever stood in
/// the session, it is printable ASCII and no row is broken; names are cut and respelled as in stubs.
inline std::string to_text(const Report& report) { return detail::audit(report, detail::Page::text); }

/// The same as Markdown with tables (GitHub's). Names are spans of code, so that none is markup, link or mention.
inline std::string to_markdown(const Report& report) { return detail::audit(report, detail::Page::markdown); }

}  // namespace coppice
