// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialects/anthropic.hpp>
#include <coppice/pipeline.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace coppice {

/// Deepest nesting of a document that is pruned; a deeper one is left untouched. nlohmann's own copy and dump
/// call themselves once a level (nlohmann/json #5387).
inline constexpr std::size_t max_depth = 500;

namespace detail {

template <class T>
inline constexpr bool is_basic_json_v = nlohmann::detail::is_basic_json<std::remove_cvref_t<T>>::value;

template <class Json>
class DomCursor {
public:
    /// A container that the walk is inside of.
    struct Open {
        typename Json::const_iterator at;
        typename Json::const_iterator end;
        bool object;
        bool first;
    };

    /// What all cursors of one reading share.
    struct Scan {
        Extent seen;
        std::size_t marks = 0;
        std::size_t consumed = 0;
        std::vector<Open> stack;  // kept for its capacity
    };

    DomCursor(const Json& value, Scan& scan, std::size_t depth = 1) : value_(&value), scan_(&scan), depth_(depth) {}

    JsonType type() const {
        switch (value_->type()) {
            case Json::value_t::object: return JsonType::object;
            case Json::value_t::array: return JsonType::array;
            case Json::value_t::string: return JsonType::string;
            case Json::value_t::boolean: return JsonType::boolean;
            case Json::value_t::number_integer:
            case Json::value_t::number_unsigned:
            case Json::value_t::number_float: return JsonType::number;
            default: return JsonType::null;
        }
    }

    bool is_true() const {
        const auto* flag = value_->template get_ptr<const typename Json::boolean_t*>();
        return flag != nullptr && *flag;
    }

    MeasuredText text() {
        ++scan_->consumed;
        const std::string_view text = view(*value_);
        const TextExtent extent = measure(text);
        scan_->seen += extent.serialised();
        return {Text(text), extent};
    }

    void skip() {
        ++scan_->consumed;
        walk();
    }

    template <class Visit>
    void members(Visit visit) {
        ++scan_->consumed;
        scan_->seen += ascii(2);
        bool first = true;
        for (auto member = value_->begin(); member != value_->end(); ++member) {
            count_key(member.key(), first);
            visit_one(*member, [&](DomCursor value) { visit(Text(std::string_view(member.key())), value); });
        }
    }

    template <class Visit>
    void elements(Visit visit) {
        ++scan_->consumed;
        scan_->seen += ascii(2);
        bool first = true;
        for (const Json& element : *value_) {
            if (!first) { scan_->seen += ascii(1); }
            first = false;
            visit_one(element, visit);
        }
    }

    Text peek(std::string_view key) const {
        // not find(): a linear look costs less than a std::string for the key
        for (auto member = value_->begin(); member != value_->end(); ++member) {
            if (member.key() == key) { return member->is_string() ? Text(view(*member)) : Text{}; }
        }
        return {};
    }

    Node node() const { return {value_, 0}; }
    Extent seen() const { return scan_->seen; }
    std::size_t marks() const { return scan_->marks; }

private:
    static std::string_view view(const Json& value) {
        return *value.template get_ptr<const typename Json::string_t*>();
    }

    void count_key(const std::string& key, bool& first) {
        scan_->seen += measure(std::string_view(key)).serialised() + ascii(first ? 1 : 2);
        scan_->marks += key == "cache_control";
        first = false;
    }

    template <class Visit>
    void visit_one(const Json& value, Visit&& visit) {
        DomCursor cursor(value, *scan_, depth_ + 1);
        const std::size_t consumed = scan_->consumed;
        visit(cursor);
        if (scan_->consumed == consumed) { cursor.skip(); }
    }

    // counts a scalar, or opens a container
    void enter(const Json& value) {
        switch (value.type()) {
            case Json::value_t::object:
            case Json::value_t::array:
                if (scan_->stack.size() + depth_ > max_depth) { throw std::length_error("nested too deeply"); }
                scan_->seen += ascii(2);
                scan_->stack.push_back({value.begin(), value.end(), value.is_object(), true});
                break;
            case Json::value_t::string: scan_->seen += measure(view(value)).serialised(); break;
            case Json::value_t::null: scan_->seen += ascii(4); break;
            case Json::value_t::boolean: scan_->seen += ascii(DomCursor(value, *scan_).is_true() ? 4 : 5); break;
            default: scan_->seen += ascii(value.dump().size());
        }
    }

    // depth first with a stack of its own: how deep to go is the input's choice
    void walk() {
        auto& stack = scan_->stack;
        stack.clear();
        enter(*value_);
        while (!stack.empty()) {
            Open& open = stack.back();
            if (open.at == open.end) {
                stack.pop_back();
                continue;
            }
            if (open.object) {
                count_key(open.at.key(), open.first);
            } else {
                scan_->seen += ascii(open.first ? 0 : 1);
                open.first = false;
            }
            const Json& value = *open.at;
            ++open.at;
            enter(value);
        }
    }

    const Json* value_;
    Scan* scan_;
    std::size_t depth_;
};

/// Answers for a transcript whose nodes are values of a DOM.
template <class Json>
class DomSource final : public Source {
public:
    void append_canonical(Node node, std::string& out) const override {
        std::vector<Open> stack;
        append_value(*static_cast<const Json*>(node.where), out, stack);
        while (!stack.empty()) {
            Open& open = stack.back();
            if (open.next == open.members.size()) {
                stack.pop_back();
                continue;
            }
            const auto [key, value] = open.members[open.next++];
            if (open.object) { append_text(key, out); }
            append_value(*value, out, stack);
        }
    }

private:
    struct Open {
        std::vector<std::pair<std::string_view, const Json*>> members;
        std::size_t next = 0;
        bool object = false;
    };

    static void append_text(std::string_view text, std::string& out) {
        out += '"';
        out += std::to_string(text.size());
        out += ':';
        out += text;
    }

    static void append_value(const Json& value, std::string& out, std::vector<Open>& stack) {
        if (!value.is_structured()) {
            if (value.is_string()) {
                append_text(*value.template get_ptr<const typename Json::string_t*>(), out);
            } else {
                out += value.dump();
                out += ',';
            }
            return;
        }
        Open open;
        open.object = value.is_object();
        for (auto member = value.begin(); member != value.end(); ++member) {
            open.members.emplace_back(open.object ? std::string_view(member.key()) : std::string_view(), &*member);
        }
        if (open.object) {
            std::sort(open.members.begin(), open.members.end(),
                      [](const auto& left, const auto& right) { return left.first < right.first; });
        }
        out += open.object ? '{' : '[';
        out += std::to_string(open.members.size());
        out += ':';
        stack.push_back(std::move(open));
    }
};

template <class Json>
Json text_block(const BlockSpelling& spelling, std::string_view text, Node cache_mark) {
    Json block = Json::object();
    if (!spelling.type.empty()) { block[std::string("type")] = std::string(spelling.type); }
    block[std::string(spelling.text_key)] = std::string(text);
    if (cache_mark) { block[std::string(spelling.mark_key)] = *static_cast<const Json*>(cache_mark.where); }
    return block;
}

template <class Json>
Json replacement(const Edit& edit, const BlockSpelling& spelling) {
    if (edit.as == Edit::As::string) { return Json(std::string(edit.text)); }
    Json block = text_block<Json>(spelling, edit.text, edit.cache_mark);
    if (edit.as == Edit::As::block) { return block; }
    Json list = Json::array();
    list.push_back(std::move(block));
    return list;
}

inline std::string path_of(const Transcript& transcript, const Edit& edit) {
    const Entry& entry = transcript.all()[edit.entry];
    std::string scratch;
    if (edit.part != none) { return fmt::format("content[{}]", edit.part - entry.first_part); }
    if (edit.field == none) { return "content"; }
    const Field& field = transcript.fields[edit.field];
    std::string path = "input.";
    if (!field.list.empty()) {
        path += decoded(field.list, scratch);
        path += fmt::format("[{}].", field.index);
    }
    path += decoded(field.name, scratch);
    return path;
}

/// Adds up what a plan does.
inline void fill_report(const Workspace& workspace, Report& report) {
    const Transcript& transcript = workspace.transcript;
    const Plan& plan = workspace.plan;
    report.dialect = transcript.dialect;
    report.horizon = transcript.horizon();
    report.bytes_in = transcript.body().bytes;
    for (const Entry& entry : transcript.all()) {
        report.unpaired_calls += entry.kind == Kind::call && entry.peer == none;
        report.unpaired_results += entry.kind == Kind::result && entry.peer == none;
    }
    std::string scratch;
    plan.for_each_edit([&](const Edit& edit) {
        const Entry& entry = transcript.all()[edit.entry];
        EditRecord record;
        record.message = entry.message;
        record.block = entry.block;
        record.path = path_of(transcript, edit);
        record.reason = edit.reason;
        record.id = decoded(entry.id, scratch);
        record.tool = decoded(entry.tool, scratch);
        record.replacement = edit.text;
        record.bytes_before = edit.before;
        record.bytes_after = edit.after;
        const std::size_t saved = edit.before - edit.after;
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
    report.bytes_out = report.bytes_in - report.saved_bytes;
    report.engaged = !report.edits.empty();
    if (const auto& ceiling = plan.ceiling()) {
        report.under_target = !plan.whole_body().exceeds(ceiling->target);
        if (!*report.under_target) {
            report.ceiling_why = ceiling->why.empty() ? "messages behind the horizon" : ceiling->why;
        }
    }
}

/// Reads and plans. False when there is nothing to do; the report says why.
template <class Json, class... Parts>
bool read_and_plan(const Json& document, const Pipeline<Parts...>& pipeline, Dialect dialect, Workspace& workspace,
                   const Source& source, Report& report) {
    Transcript& transcript = workspace.transcript;
    transcript.clear();
    transcript.source = &source;
    typename DomCursor<Json>::Scan scan;
    AnthropicReader<DomCursor<Json>> reader(transcript);
    const std::string_view refused = reader.read(DomCursor<Json>(document, scan), dialect != Dialect::detect);
    if (!refused.empty()) {
        report.why = refused;
        report.bytes_in = report.bytes_out = scan.seen.bytes;
        return false;
    }
    pipeline.run(workspace);
    return true;
}

// What went wrong, in words of ours or of the standard library: never with the input's own bytes.
template <class Work>
void fail_open(Report& report, Work work) {
    try {
        work();
    } catch (const std::exception& error) {
        report = Report{};
        report.why = error.what();
    }
}

}  // namespace detail

/// Says what `prune` would do to the document, and does not touch it.
template <class Json, class... Parts>
Report plan(const Json& document, const Pipeline<Parts...>& pipeline, Workspace& workspace,
            Dialect dialect = Dialect::detect) {
    static_assert(detail::is_basic_json_v<Json>, "coppice::plan: the document is no nlohmann::basic_json");
    Report report;
    detail::fail_open(report, [&] {
        const detail::DomSource<Json> source;
        if (!detail::read_and_plan(document, pipeline, dialect, workspace, source, report)) { return; }
        detail::fill_report(workspace, report);
        if (!report.engaged) { report.why = pipeline.why_closed(workspace.transcript); }
    });
    return report;
}

template <class Json, class... Parts>
Report plan(const Json& document, const Pipeline<Parts...>& pipeline, Dialect dialect = Dialect::detect) {
    Workspace workspace;
    return plan(document, pipeline, workspace, dialect);
}

/// Shortens the document in place. Never throws on data: whatever goes wrong, the document is as it was, down to
/// the last value, and the report says why. Either all edits are made or none.
///
/// Pass a workspace to spare repeated calls their allocations; use one workspace per thread.
template <class Json, class... Parts>
Report prune(Json& document, const Pipeline<Parts...>& pipeline, Workspace& workspace,
             Dialect dialect = Dialect::detect) {
    static_assert(!std::is_const_v<Json>, "coppice::prune: the document is const; copy it, or call coppice::plan");
    static_assert(detail::is_basic_json_v<Json>, "coppice::prune: the document is no nlohmann::basic_json");
    Report report;
    detail::fail_open(report, [&] {
        const detail::DomSource<Json> source;
        if (!detail::read_and_plan(document, pipeline, dialect, workspace, source, report)) { return; }
        pipeline.commit(workspace);
        detail::fill_report(workspace, report);
        if (!report.engaged) {
            report.why = pipeline.why_closed(workspace.transcript);
            return;
        }
        std::vector<std::pair<Json*, Json>> replacements;
        replacements.reserve(report.edits.size());
        workspace.plan.for_each_edit([&](const Edit& edit) {
            // the node was read from this very document, which the caller handed over to be changed
            auto* target = const_cast<Json*>(static_cast<const Json*>(edit.node.where));
            replacements.emplace_back(target, detail::replacement<Json>(edit, workspace.transcript.block));
        });
        for (auto& [target, value] : replacements) { target->swap(value); }
    });
    return report;
}

template <class Json, class... Parts>
Report prune(Json& document, const Pipeline<Parts...>& pipeline, Dialect dialect = Dialect::detect) {
    Workspace workspace;
    return prune(document, pipeline, workspace, dialect);
}

/// The report as JSON, with the keys that the command-line program writes.
template <class Json = nlohmann::ordered_json>
Json to_json(const Report& report) {
    Json out = Json::object();
    out["engaged"] = report.engaged;
    if (!report.engaged) { out["why"] = report.why; }
    out["dialect"] = report.dialect;
    out["bytes_in"] = report.bytes_in;
    out["bytes_out"] = report.bytes_out;
    out["saved_bytes"] = report.saved_bytes;
    out["first_changed_message"] = nullptr;
    if (report.first_changed_message) { out["first_changed_message"] = *report.first_changed_message; }
    out["under_target"] = nullptr;
    if (report.under_target) { out["under_target"] = *report.under_target; }
    if (!report.ceiling_why.empty()) { out["ceiling_why"] = report.ceiling_why; }
    out["horizon"] = report.horizon;
    Json edits = Json::array();
    for (const EditRecord& edit : report.edits) {
        Json item = Json::object();
        item["message"] = edit.message;
        item["block"] = edit.block;
        item["path"] = edit.path;
        item["reason"] = edit.reason;
        item["id"] = edit.id;
        item["tool"] = edit.tool;
        item["replacement"] = edit.replacement;
        item["bytes_before"] = edit.bytes_before;
        item["bytes_after"] = edit.bytes_after;
        edits.push_back(std::move(item));
    }
    out["edits"] = std::move(edits);
    Json reasons = Json::object();
    for (const ReasonTotal& total : report.by_reason) {
        reasons[total.reason] = Json{{"count", total.count}, {"saved_bytes", total.saved_bytes}};
    }
    out["by_reason"] = std::move(reasons);
    out["unpaired_calls"] = report.unpaired_calls;
    out["unpaired_results"] = report.unpaired_results;
    out["warnings"] = report.warnings;
    return out;
}

}  // namespace coppice
