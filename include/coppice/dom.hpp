// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/canonical.hpp>
#include <coppice/detail/dom_walk.hpp>
#include <coppice/detail/packed_json.hpp>
#include <coppice/detail/reporting.hpp>
#include <coppice/pipeline.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

namespace detail {

template <class Json>
class DomCursor {
public:
    explicit DomCursor(const Json& value) : value_(&value) {}

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
        const auto* flag = as<typename Json::boolean_t>();
        return flag != nullptr && *flag;
    }

    Text text() const {
        const auto* text = as<typename Json::string_t>();
        return text != nullptr ? Text(std::string_view(*text)) : Text();
    }

    MeasuredText measured() const { return MeasuredText(text()); }

    // a DOM has dropped all but one of such members
    bool repeats_keys() const { return false; }
    bool holds_repeated_keys() const { return false; }

    template <class Visit>
    void members(Visit visit) const {
        if (const auto* object = as<typename Json::object_t>()) {
            for (const auto& [key, value] : *object) { visit(Text(std::string_view(key)), DomCursor(value)); }
        }
    }

    template <class Visit>
    void elements(Visit visit) const {
        if (const auto* array = as<typename Json::array_t>()) {
            for (const Json& element : *array) { visit(DomCursor(element)); }
        }
    }

    Text peek(std::string_view wanted) const {
        if (const auto* object = as<typename Json::object_t>()) {
            for (const auto& [key, value] : *object) {
                if (key == wanted) { return DomCursor(value).text(); }
            }
        }
        return {};
    }

    Node node() const { return {value_, 0}; }

    /// A number, literal or null in a spelling that equal values share.
    void append_scalar(std::string& out) const { out += value_->dump(); }

private:
    template <class T>
    const T* as() const {
        return value_->template get_ptr<const T*>();
    }

    const Json* value_;
};

/// Adds up what compact `dump` would write.
template <class Json>
struct SizeVisitor {
    std::span<const Node> except;
    Extent size{};

    void member(const std::string& key, bool first) {
        size += measure(std::string_view(key)).serialised() + ascii(first ? 1 : 2);
    }
    void element(bool first) { size += ascii(first ? 0 : 1); }

    bool enter(const Json& value) {
        if (!except.empty() && except.front().where == &value) {
            except = except.subspan(1);
            return false;
        }
        switch (value.type()) {
            case Json::value_t::object:
            case Json::value_t::array: size += ascii(2); return true;
            case Json::value_t::string:
                size += measure(DomCursor<Json>(value).text().raw()).serialised();
                break;
            case Json::value_t::null: size += ascii(4); break;
            case Json::value_t::boolean: size += ascii(DomCursor<Json>(value).is_true() ? 4 : 5); break;
            case Json::value_t::number_unsigned:
                size += ascii(digits(value.template get<std::uint64_t>()));
                break;
            default: size += ascii(value.dump().size());
        }
        return false;
    }

    static std::size_t digits(std::uint64_t number) {
        std::size_t count = 1;
        for (; number > 9; number /= 10) { ++count; }
        return count;
    }
};

template <class Json>
struct MemberCounter {
    std::string_view name;
    std::size_t count = 0;

    void member(const std::string& key, bool) { count += key == name; }
    void element(bool) {}
    bool enter(const Json&) { return true; }
};

/// Answers for a transcript whose nodes are values of a DOM.
template <class Json>
class DomSource final : public Source {
public:
    Extent serialised(Node node, std::span<const Node> except = {}) const override {
        SizeVisitor<Json> visitor{except};
        walk(value_of(node), visitor, stack_);
        return visitor.size;
    }

    bool one_spelling() const override { return true; }

    std::size_t count_members(Node node, std::string_view name) const override {
        MemberCounter<Json> visitor{name};
        walk(value_of(node), visitor, stack_);
        return visitor.count;
    }

    void append_canonical(Node node, std::string& out) const override {
        writer_.append(DomCursor<Json>(value_of(node)), out);
    }

    void append_canonical(std::string_view packed, std::string& out) const override {
        packed_writer_.append_canonical(packed, out);
    }

private:
    static const Json& value_of(Node node) { return *static_cast<const Json*>(node.where); }

    // kept for their capacity
    mutable std::vector<OpenValue<Json>> stack_;
    mutable CanonicalWriter<DomCursor<Json>> writer_;
    mutable PackedJsonWriter packed_writer_;
};

/// What takes the place of one value. It is made ready first; putting it in place cannot fail.
template <class Json>
class Replacement {
public:
    // the nodes were read from this very document, which the caller handed over to be changed
    Replacement(const Edit& edit, const BlockSpelling& spelling)
        : target_(mutable_value(edit.as == Edit::As::packed ? edit.holder : edit.node)),
          mark_(mutable_value(edit.cache_mark)) {
        if (edit.as == Edit::As::drop) {
            array_ = mutable_value(edit.holder);
            index_ = edit.index;
            return;
        }
        if (edit.as == Edit::As::string) {
            value_ = std::string(edit.text);
            return;
        }
        if (edit.as == Edit::As::packed) {
            value_ = std::string();
            append(edit);
            return;
        }
        if (edit.as == Edit::As::empty) {
            value_ = Json::array();
            return;
        }
        Json block = Json::object();
        if (!spelling.type.empty()) { block[std::string("type")] = std::string(spelling.type); }
        block[std::string(spelling.text_key)] = std::string(edit.text);
        mark_key_ = edit.mark_key;
        if (mark_ != nullptr) { block[mark_key_] = nullptr; }
        if (edit.as == Edit::As::block) {
            value_ = std::move(block);
        } else {
            value_ = Json::array();
            value_.push_back(std::move(block));
        }
    }

    /// Whether the edit is of the same string, which holds JSON, and is now part of this.
    bool takes(const Edit& edit) {
        if (edit.as != Edit::As::packed || edit.holder.where != target_) { return false; }
        append(edit);
        return true;
    }

    /// What can fail: to be called once, when all edits are known.
    void finish() {
        if (packed_.data() == nullptr) { return; }
        value_.template get_ref<typename Json::string_t&>() += packed_.substr(copied_);
    }

    void put_in_place() noexcept {
        if (mark_ != nullptr) {
            // moved, not copied: it is as it was, however deep
            Json& block = value_.is_array() ? value_.front() : value_;
            block.find(mark_key_)->swap(*mark_);
        }
        target_->swap(value_);
    }

    /// Closes the gaps that dropped blocks have left, when all replacements of a document are in place: other values
    /// move then.
    static void close_gaps(const std::vector<Replacement>& replacements) noexcept {
        using Array = typename Json::array_t;
        Array* array = nullptr;
        std::size_t to = 0;
        std::size_t from = 0;
        const auto move_until = [&](std::size_t end) {
            while (from < end) { (*array)[to++].swap((*array)[from++]); }
        };
        const auto finish = [&] {
            if (array == nullptr) { return; }
            move_until(array->size());
            for (; to < from; --from) { array->pop_back(); }
        };
        for (const Replacement& replacement : replacements) {
            if (replacement.array_ == nullptr) { continue; }
            Array* const next = replacement.array_->template get_ptr<Array*>();
            if (next != array) {
                finish();
                array = next;
                to = from = replacement.index_;
            }
            move_until(replacement.index_);
            ++from;
        }
        finish();
    }

private:
    static Json* mutable_value(Node node) { return const_cast<Json*>(static_cast<const Json*>(node.where)); }

    // edits come in the order of the text
    void append(const Edit& edit) {
        packed_ = edit.packed;
        const auto at = static_cast<std::size_t>(static_cast<const char*>(edit.node.where) - packed_.data());
        auto& text = value_.template get_ref<typename Json::string_t&>();
        text += packed_.substr(copied_, at - copied_);
        append_json_string(text, edit.text);
        copied_ = at + edit.node.length;
    }

    Json* target_;
    Json* mark_;
    std::string mark_key_;
    Json value_;
    std::string_view packed_{};  // JSON in a string: as it is, and how much of it has been written
    std::size_t copied_ = 0;
    Json* array_ = nullptr;  // of a dropped block: where it stands, and at which place
    std::size_t index_ = 0;
};

/// True of documents. Bytes are for `coppice/wire.hpp`, a header of its own, and the name is what a compiler says to
/// who has not included it.
template <class T>
concept bytes_need_coppice_wire_hpp =
    is_basic_json_v<T> || !std::is_convertible_v<const T&, std::string_view>;

/// Plans, reports and collects what is to be put in place; changes nothing yet.
template <class Json, pipeline_like Pruner>
std::vector<Replacement<Json>> plan_document(const Json& document, const Pruner& pipeline, const Inputs& inputs,
                                             Commit commit, Workspace& workspace, Report& report) {
    std::vector<Replacement<Json>> replacements;
    const DomSource<Json> source;
    prune_bodies(DomCursor<Json>(document), pipeline, inputs, commit, workspace, source, report,
                 [&](const Edit& edit) {
                     if (commit == Commit::yes && (replacements.empty() || !replacements.back().takes(edit))) {
                         replacements.push_back(Replacement<Json>(edit, workspace.transcript.block));
                     }
                     return EditBytes{workspace.plan.bytes_before(edit), edit.after};
                 });
    for (Replacement<Json>& replacement : replacements) { replacement.finish(); }
    return replacements;
}

}  // namespace detail

/// Says what `prune` would do to the document, and does not touch it.
template <detail::bytes_need_coppice_wire_hpp Json, pipeline_like Pruner>
Report plan(const Json& document, const Pruner& pipeline, Workspace& workspace, const Inputs& inputs = {}) {
    static_assert(
        detail::is_basic_json_v<Json>,
        "coppice::plan: the document is no nlohmann::basic_json; bytes are passed as std::string_view");
    Report report;
    detail::fail_open(report, [&] {
        detail::plan_document(document, pipeline, inputs, detail::Commit::no, workspace, report);
    });
    return report;
}

template <detail::bytes_need_coppice_wire_hpp Json, pipeline_like Pruner>
Report plan(const Json& document, const Pruner& pipeline, const Inputs& inputs = {}) {
    Workspace workspace;
    return plan(document, pipeline, workspace, inputs);
}

/// Shortens the document in place: a request, or each request of a batch. Never throws on data: whatever goes wrong,
/// the document is as it was, down to the last value, and the report says why. Either all edits are made or none.
///
/// Pass a workspace to spare repeated calls their allocations; use one workspace per thread.
template <detail::bytes_need_coppice_wire_hpp Json, pipeline_like Pruner>
Report prune(Json& document, const Pruner& pipeline, Workspace& workspace, const Inputs& inputs = {}) {
    static_assert(!std::is_const_v<Json>,
                  "coppice::prune: the document is const; copy it, or call coppice::plan");
    static_assert(
        detail::is_basic_json_v<Json>,
        "coppice::prune: the document is no nlohmann::basic_json; bytes are passed as std::string_view");
    Report report;
    // where the document is none, one sentence is enough
    if constexpr (!std::is_const_v<Json> && detail::is_basic_json_v<Json>) {
        detail::fail_open(report, [&] {
            auto replacements =
                detail::plan_document(document, pipeline, inputs, detail::Commit::yes, workspace, report);
            for (detail::Replacement<Json>& replacement : replacements) { replacement.put_in_place(); }
            detail::Replacement<Json>::close_gaps(replacements);
        });
    }
    return report;
}

template <detail::bytes_need_coppice_wire_hpp Json, pipeline_like Pruner>
Report prune(Json& document, const Pruner& pipeline, const Inputs& inputs = {}) {
    Workspace workspace;
    return prune(document, pipeline, workspace, inputs);
}

/// A document as coppice sees it: one request, alone or in a wrapper. Valid as long as the document does not change.
/// Of results and calls it knows what the document says; own stubs of an earlier pruning are content here.
template <class Json>
class ReadDocument {
    static_assert(detail::is_basic_json_v<Json>, "coppice::ReadDocument: the document is no nlohmann::basic_json");

public:
    /// Reads the document, which has to stay as it is.
    explicit ReadDocument(const Json& document, Dialect dialect = Dialect::detect) {
        transcript_.source = &source_;
        std::size_t requests = 0;
        detail::for_each_body(detail::DomCursor<Json>(document), [&](detail::DomCursor<Json> body) {
            if (++requests == 1) { refusal_ = detail::read_request(body, dialect, transcript_, scratch_); }
        });
        if (requests != 1) { refusal_ = requests == 0 ? "an empty batch" : "a batch of several requests"; }
        if (refusal_.empty()) {
            transcript_.set_horizon(transcript_.messages.size());
            return;
        }
        transcript_.clear();
        transcript_.source = &source_;
    }
    ReadDocument(const Json&&, Dialect = Dialect::detect) = delete;
    ReadDocument(const ReadDocument&) = delete;
    ReadDocument& operator=(const ReadDocument&) = delete;

    /// All its messages are open to change; empty where the document could not be read.
    const Transcript& transcript() const { return transcript_; }
    /// Why it could not be read; empty when it was.
    std::string_view refusal() const { return refusal_; }

private:
    detail::DomSource<Json> source_;
    detail::ReaderScratch scratch_;
    Transcript transcript_;
    std::string_view refusal_{};
};

/// The size of a document as compact JSON, without writing it.
template <class Json>
Extent measure_document(const Json& document) {
    static_assert(detail::is_basic_json_v<Json>,
                  "coppice::measure_document: the document is no nlohmann::basic_json");
    return detail::DomSource<Json>().serialised({&document, 0});
}

/// The report as JSON, with the keys that the command-line program writes.
template <class Json = nlohmann::ordered_json>
Json to_json(const Report& report) {
    // the document's own words may be invalid UTF-8, and dump() of the report must not throw
    const auto text = [](std::string_view words) {
        return Json::parse(Json(std::string(words)).dump(-1, ' ', false, Json::error_handler_t::replace));
    };
    Json out = Json::object();
    out["engaged"] = report.engaged;
    if (!report.engaged) { out["why"] = text(report.why); }
    out["dialect"] = report.dialect;
    out["saved_bytes"] = report.saved_bytes;
    out["first_changed_offset"] = nullptr;
    if (report.first_changed_offset) { out["first_changed_offset"] = *report.first_changed_offset; }
    out["first_changed_message"] = nullptr;
    if (report.first_changed_message) { out["first_changed_message"] = *report.first_changed_message; }
    out["under_target"] = nullptr;
    if (report.under_target) { out["under_target"] = *report.under_target; }
    if (!report.ceiling_why.empty()) { out["ceiling_why"] = text(report.ceiling_why); }
    out["horizon"] = report.horizon;
    out["tokens_before"] = report.tokens_before;
    out["tokens_after"] = report.tokens_after;
    out["rewrites"] = report.rewrites;
    out["first_rewritten_message"] = nullptr;
    if (report.first_rewritten_message) { out["first_rewritten_message"] = *report.first_rewritten_message; }
    out["tokens_rebilled"] = report.tokens_rebilled;
    out["net_tokens"] = report.net_tokens;
    out["break_even_requests"] = nullptr;
    if (report.break_even_requests) { out["break_even_requests"] = *report.break_even_requests; }
    out["suggested_compaction"] = nullptr;
    if (const auto& range = report.suggested_compaction) {
        out["suggested_compaction"] = Json{{"first_message", range->first_message},
                                           {"end_message", range->end_message},
                                           {"user_messages", range->user_messages},
                                           {"tokens", range->tokens}};
    }
    out["suggested_breakpoint"] = nullptr;
    if (const auto& place = report.suggested_breakpoint) {
        out["suggested_breakpoint"] = Json{{"message", place->message}, {"block", place->block}};
    }
    out["saturated"] = report.saturated;
    Json edits = Json::array();
    for (const EditRecord& edit : report.edits) {
        Json item = Json::object();
        if (report.requests > 1) { item["request"] = edit.request; }
        item["message"] = edit.message;
        item["block"] = edit.block;
        item["path"] = text(edit.path);
        item["reason"] = text(edit.reason);
        item["id"] = text(edit.id);
        item["tool"] = text(edit.tool);
        item["identity"] = text(edit.identity);
        item["out_of_sight"] = edit.out_of_sight;
        item["replacement"] = text(edit.replacement);
        item["bytes_before"] = edit.bytes_before;
        item["bytes_after"] = edit.bytes_after;
        edits.push_back(std::move(item));
    }
    out["edits"] = std::move(edits);
    Json reasons = Json::object();
    for (const ReasonTotal& total : report.by_reason) {
        reasons[text(total.reason).template get<std::string>()] =
            Json{{"count", total.count}, {"saved_bytes", total.saved_bytes}};
    }
    out["by_reason"] = std::move(reasons);
    out["unpaired_calls"] = report.unpaired_calls;
    out["unpaired_results"] = report.unpaired_results;
    out["repeated_keys"] = report.repeated_keys;
    out["warnings"] = Json::array();
    for (const std::string& warning : report.warnings) { out["warnings"].push_back(text(warning)); }
    return out;
}

}  // namespace coppice
