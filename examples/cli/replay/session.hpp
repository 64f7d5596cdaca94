// SPDX-License-Identifier: MIT
#pragma once

#include "cache_models.hpp"
#include "lines.hpp"
#include "weights.hpp"

#include <coppice/dom.hpp>
#include <coppice/json_shape.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/report.hpp>
#include <coppice/wording.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coppice_replay {

/// What is compared from request to request: a content block where the dialect has some, otherwise a message or item.
/// The first one is the frame: all that stands beside the messages.
struct Unit {
    std::size_t message = coppice::none;
    std::size_t weight = 0;  ///< in quarters of a token
    std::size_t tokens = 0;
    std::uint64_t id = 0;
    std::size_t around = 0;  ///< weight in it that the next block of the message takes over, where this one leaves
};

/// A piece of the transcript.
struct Piece {
    coppice::Kind kind = coppice::Kind::opaque;
    std::size_t message = 0;
    std::size_t block = 0;
    std::size_t unit = 0;
    std::size_t turn = 0;    ///< how many model turns came before
    std::size_t weight = 0;  ///< in quarters of a token
    std::size_t number = coppice::none;  ///< of a call among the calls, of a result among the results
    std::string tool;
    std::string identity;
    std::string beginning;
};

/// A tool call, in the order of the session.
struct Call {
    std::size_t piece = 0;
    std::size_t message = 0;
    std::uint64_t signature = 0;  ///< equal for equal tool and input
    std::uint64_t identity = 0;   ///< of path, command, ...; 0 where there is none
};

/// A tool result, in the order of the session.
struct Result {
    std::size_t piece = 0;
    std::size_t message = 0;
    std::size_t turn = 0;
    std::size_t user_turn = 0;
    std::size_t tokens = 0;                 ///< of its content
    std::size_t call = coppice::none;       ///< number of its call
    std::size_t last_quote = coppice::none;  ///< message in which the model last used a line that only it has
    std::vector<std::size_t> stub;  ///< edits that clear it, in coppice's plain words; none where that saves nothing
    std::size_t gain = 0;           ///< tokens that they save
};

/// The moment at which the first `messages` messages were sent.
struct Request {
    std::size_t number = 0;  ///< from 1
    std::size_t messages = 0;
    std::size_t units = 0;   ///< the frame included
    std::size_t pieces = 0;
    std::size_t calls = 0;
    std::size_t results = 0;
    std::size_t read = 0;    ///< results that the model has seen before: those before the last assistant message
    std::size_t tokens = 0;  ///< without pruning
};

/// An edit that some policy makes at some request. All that is equal is one.
struct KnownEdit {
    std::size_t piece = coppice::none;
    std::size_t unit = 0;
    std::size_t before = 0;  ///< weight of the value, in quarters of a token
    std::size_t after = 0;
    bool grows = false;          ///< more bytes than before
    bool content_stays = false;  ///< a later result with the same content is there
    bool drops_unit = false;
    std::string replacement;
};

/// A recorded body as a document that grows, request by request. It is weighed once; nothing is copied or serialised
/// afterwards.
class Session {
public:
    /// Why it cannot be replayed is `refusal()`.
    Session(std::string name, Json document, coppice::Dialect dialect = coppice::Dialect::detect)
        : name_(std::move(name)), document_(std::move(document)) {
        read(dialect);
        if (refusal_.empty()) { take_apart(); }
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    const std::string& name() const { return name_; }
    const std::string& refusal() const { return refusal_; }
    coppice::Dialect dialect() const { return dialect_; }
    std::span<const Unit> units() const { return units_; }
    std::span<const Piece> pieces() const { return pieces_; }
    std::span<const Call> calls() const { return calls_; }
    std::span<const Result> results() const { return results_; }
    std::span<const Request> requests() const { return requests_; }

    /// The unit that a block of a message is, or is part of.
    std::size_t unit_of(std::size_t message, std::size_t block) const {
        const std::size_t first = first_unit_[message];
        return std::min(first + (has_blocks() ? block : 0), first_unit_[message + 1] - 1);
    }

    /// The document as it was at this request; to be asked in their order.
    const Json& document_at(const Request& request) {
        for (; shown_ < request.messages; ++shown_) { list_->push_back(std::move(messages_[shown_])); }
        return document_;
    }

    /// The number of an edit that a report tells of, whose request `document_at` was called for last.
    std::size_t number_of(const coppice::EditRecord& record) {
        key_.assign(record.path);
        for (const std::size_t part : {record.message, record.block}) { key_.append(" ").append(std::to_string(part)); }
        key_.append(" ").append(record.reason == "dedup" ? "=" : "-").append(record.replacement);
        const auto [found, added] = numbers_.try_emplace(key_, edits_.size());
        if (added) { edits_.push_back(known(record)); }
        return found->second;
    }
    const KnownEdit& edit(std::size_t number) const { return edits_[number]; }

private:
    using Transcript = coppice::Transcript;
    using Entry = coppice::Entry;

    void read(coppice::Dialect dialect) {
        const coppice::ReadDocument<Json> reading(document_, dialect);
        refusal_ = reading.refusal();
        if (!refusal_.empty()) { return; }
        const Transcript& transcript = reading.transcript();
        dialect_ = coppice::dialect_named(transcript.dialect);
        list_ = transcript.messages.empty() ? nullptr : find_list(transcript.messages[0].node.where);
        if (list_ == nullptr) {
            refusal_ = "no messages";
            return;
        }
        add_units(transcript);
        add_pieces(transcript);
        add_requests(transcript);
        add_quotes(transcript);
        add_stubs();
    }

    struct ClearAll {
        static constexpr std::string_view name = "clear_all";
        void apply(const Transcript& transcript, coppice::Plan& plan) const {
            for (std::size_t i = 0; i < transcript.entries().size(); ++i) { plan.clear(i, name); }
        }
    };

    // of all results at once: what a stub says depends on its result alone
    void add_stubs() {
        const coppice::Report report = coppice::plan(document_, coppice::Pipeline<ClearAll>(), dialect_);
        for (const coppice::EditRecord& record : report.edits) {
            const std::size_t number = number_of(record);
            const KnownEdit& edit = edits_[number];
            if (edit.piece == coppice::none || pieces_[edit.piece].kind != coppice::Kind::result) { continue; }
            Result& result = results_[pieces_[edit.piece].number];
            result.stub.push_back(number);
            if (edit.before > edit.after) { result.gain += (edit.before - edit.after) / quarters; }
        }
    }

    // The list whose first element this is: the document, or a member of it or of what it wraps.
    Json* find_list(const void* first) {
        const auto holds = [first](const Json& value) {
            const auto* list = value.get_ptr<const Json::array_t*>();
            return list != nullptr && !list->empty() && list->data() == first;
        };
        if (holds(document_)) { return &document_; }
        for (auto& outer : document_) {
            if (holds(outer)) { return &outer; }
            if (!outer.is_object()) { continue; }
            for (auto& inner : outer) {
                if (holds(inner)) { return &inner; }
            }
        }
        return nullptr;
    }

    void take_apart() {
        messages_ = std::move(list_->get_ref<Json::array_t&>());
        list_->get_ref<Json::array_t&>() = Json::array_t();
        list_->get_ref<Json::array_t&>().reserve(messages_.size());
    }

    // the blocks of a message, where they are units
    const Json::array_t* blocks_of(const Json& message) const {
        if (!has_blocks() || !message.is_object()) { return nullptr; }
        const auto found = message.find(dialect_ == coppice::Dialect::gemini ? "parts" : "content");
        if (found == message.end()) { return nullptr; }
        const auto* blocks = found->get_ptr<const Json::array_t*>();
        return blocks == nullptr || blocks->empty() ? nullptr : blocks;
    }

    void add_unit(std::size_t message, std::size_t weight, std::size_t around = 0) {
        const std::uint64_t id = coppice::detail::mix(units_.size() + 1);
        units_.push_back({message, weight, estimator.tokens(weight), id, around});
    }

    void add_units(const Transcript& transcript) {
        std::size_t frame = 4;
        for (const coppice::Node value : transcript.frame_values) { frame += 4 + weight_of(value_of(value)); }
        add_unit(coppice::none, frame);
        for (std::size_t i = 0; i < transcript.messages.size(); ++i) {
            first_unit_.push_back(units_.size());
            const Json& message = value_of(transcript.messages[i].node);
            const Json::array_t* const blocks = blocks_of(message);
            if (blocks == nullptr) {
                add_unit(i, weight_of(message));
                continue;
            }
            // role and brackets go to the first one, a comma to each of the others
            std::size_t around = message_weight - comma_weight;
            for (const Json& block : *blocks) {
                add_unit(i, weight_of(block) + around + comma_weight, around);
                around = 0;
            }
        }
        first_unit_.push_back(units_.size());
    }

    bool has_blocks() const {
        return dialect_ == coppice::Dialect::anthropic || dialect_ == coppice::Dialect::bedrock ||
               dialect_ == coppice::Dialect::gemini;
    }

    void add_pieces(const Transcript& transcript) {
        std::string scratch;
        for (std::size_t i = 0; i < transcript.all().size(); ++i) {
            const Entry& entry = transcript.all()[i];
            Piece& piece = pieces_.emplace_back();
            piece.kind = entry.kind;
            piece.message = entry.message;
            piece.block = entry.block;
            piece.unit = unit_of(entry.message, entry.block);
            piece.turn = entry.step;
            piece.tool = coppice::detail::shown(entry.tool, scratch);
            piece.identity = coppice::detail::shown(entry.identity, scratch);
            const Json* const content = static_cast<const Json*>(entry.content.where);
            piece.weight = content == nullptr ? 0 : weight_of(*content);
            piece.beginning = beginning_of(content != nullptr ? *content : value_of_unit(transcript, piece));
            if (entry.kind == coppice::Kind::call) { add_call(transcript, entry, i); }
            if (entry.kind == coppice::Kind::result) { add_result(transcript, entry, i); }
        }
        share_weights();
    }

    const Json& value_of_unit(const Transcript& transcript, const Piece& piece) const {
        const Json& message = value_of(transcript.messages[piece.message].node);
        const Json::array_t* const blocks = blocks_of(message);
        return blocks != nullptr && piece.block < blocks->size() ? (*blocks)[piece.block] : message;
    }

    static std::string beginning_of(const Json& value) {
        constexpr std::size_t enough = 160;
        std::string out;
        for_each_text(value, [&](std::string_view text) {
            if (out.size() >= enough) { return; }
            if (!out.empty()) { out += ' '; }
            out += coppice::first_chars(text, enough);
        });
        return std::string(coppice::first_chars(out, enough));
    }

    void add_call(const Transcript& transcript, const Entry& entry, std::size_t i) {
        std::string text;
        std::string scratch;
        text.append(coppice::decoded(entry.tool, scratch)).push_back('\0');
        if (!entry.packed.empty()) {
            transcript.source->append_canonical(entry.packed, text);
        } else if (entry.content) {
            transcript.source->append_canonical(entry.content, text);
        }
        const std::string_view identity = coppice::decoded(entry.identity, scratch);
        pieces_[i].number = calls_.size();
        calls_.push_back({i, entry.message, coppice::detail::hash_bytes(text),
                          identity.empty() ? 0 : coppice::detail::hash_bytes(identity) | 1U});
    }

    void add_result(const Transcript&, const Entry& entry, std::size_t i) {
        Result result;
        result.piece = i;
        result.message = entry.message;
        result.turn = entry.step;
        result.user_turn = entry.user_turn;
        result.tokens = estimator.tokens(pieces_[i].weight);
        if (entry.peer != coppice::none && entry.peer < i) { result.call = pieces_[entry.peer].number; }
        pieces_[i].number = results_.size();
        results_.push_back(result);
    }

    // what a unit weighs beside the contents of its calls and results goes to a piece that is neither
    void share_weights() {
        for (std::size_t first = 0; first < pieces_.size();) {
            std::size_t end = first;
            std::size_t sum = 0;
            std::size_t taker = first;
            for (; end < pieces_.size() && pieces_[end].unit == pieces_[first].unit; ++end) {
                sum += pieces_[end].weight;
                if (pieces_[taker].weight > 0 && pieces_[end].weight == 0) { taker = end; }
            }
            const std::size_t whole = units_[pieces_[first].unit].weight;
            pieces_[taker].weight += whole > sum ? whole - sum : 0;
            first = end;
        }
    }

    // as coppice counts them: one a model turn, and the last
    void add_requests(const Transcript& transcript) {
        const auto assistant = [&](std::size_t i) {
            return transcript.messages[i].role == coppice::Role::assistant;
        };
        Request request;
        std::size_t weighed = 0;
        const auto send = [&](std::size_t messages) {
            ++request.number;
            request.messages = messages;
            request.units = first_unit_[messages];
            for (; weighed < request.units; ++weighed) { request.tokens += units_[weighed].tokens; }
            std::size_t read = messages;
            while (read > 0 && !assistant(read - 1)) { --read; }
            for (; request.pieces < pieces_.size() && pieces_[request.pieces].message < messages; ++request.pieces) {
                request.calls += pieces_[request.pieces].kind == coppice::Kind::call;
                request.results += pieces_[request.pieces].kind == coppice::Kind::result;
            }
            while (request.read < request.results && results_[request.read].message < read) { ++request.read; }
            requests_.push_back(request);
        };
        for (std::size_t i = 1; i < transcript.messages.size(); ++i) {
            if (assistant(i) && !assistant(i - 1)) { send(i); }
        }
        send(transcript.messages.size());
    }

    void add_quotes(const Transcript& transcript) {
        Quotes quotes;
        const auto other = [&](std::string_view text) { quotes.read_other(text); };
        std::string scratch;
        for (const coppice::Node value : transcript.frame_values) { for_each_text(value_of(value), other); }
        std::size_t next = 0;
        for (std::size_t i = 0; i < transcript.messages.size(); ++i) {
            const Json& message = value_of(transcript.messages[i].node);
            if (transcript.messages[i].role == coppice::Role::assistant) {
                for_each_text(message, [&](std::string_view text) { read_of_model(quotes, i, text); });
            }
            bool answers = false;
            const std::size_t first = next;
            for (; next < pieces_.size() && pieces_[next].message == i; ++next) {
                answers = answers || pieces_[next].kind == coppice::Kind::result;
            }
            if (transcript.messages[i].role == coppice::Role::assistant) { continue; }
            if (!answers) {
                for_each_text(message, other);
                continue;
            }
            for (std::size_t p = first; p < next; ++p) {
                if (pieces_[p].kind != coppice::Kind::result) {
                    for_each_text(value_of_unit(transcript, pieces_[p]), other);
                    continue;
                }
                for (const coppice::Part& part : transcript.parts_of(transcript.all()[p])) {
                    if (part.kind != coppice::Part::Kind::text) { continue; }
                    quotes.read_result(pieces_[p].number, coppice::decoded(part.text.text(), scratch));
                }
            }
        }
        const std::vector<std::size_t> last = quotes.last_quotes(results_.size());
        for (std::size_t i = 0; i < results_.size(); ++i) { results_[i].last_quote = last[i]; }
    }

    // input may be JSON in a string
    static void read_of_model(Quotes& quotes, std::size_t message, std::string_view text) {
        if (!text.empty() && text[0] == '{' && coppice::json_shape(text).depth < 100) {
            const Json inside = Json::parse(text, nullptr, false);
            if (!inside.is_discarded()) {
                for_each_text(inside, [&](std::string_view leaf) { quotes.read_model(message, leaf); });
                return;
            }
        }
        quotes.read_model(message, text);
    }

    KnownEdit known(const coppice::EditRecord& record) const {
        KnownEdit edit;
        edit.unit = unit_of(record.message, record.block);
        edit.piece = piece_of(record);
        edit.replacement = record.replacement;
        edit.content_stays = record.reason == "dedup";
        edit.grows = record.bytes_after >= record.bytes_before;
        edit.drops_unit = record.path.empty() && record.bytes_after == 0 && dialect_ != coppice::Dialect::openai_chat;
        if (edit.drops_unit) {
            edit.before = units_[edit.unit].weight;
            return edit;
        }
        edit.before = weight_at(unit_value(record.message, record.block), record);
        const std::size_t spelled = coppice::measure(record.replacement).serialised().bytes;
        const std::size_t frame = record.bytes_after > spelled ? record.bytes_after - spelled : 0;
        // brackets and keys of a block around the text weigh about as much as they have bytes
        edit.after = estimator.weight(record.replacement) + frame;
        return edit;
    }

    const Json& unit_value(std::size_t message, std::size_t block) const {
        const Json& value = (*list_)[message];
        const Json::array_t* const blocks = blocks_of(value);
        return blocks != nullptr && block < blocks->size() ? (*blocks)[block] : value;
    }

    std::size_t piece_of(const coppice::EditRecord& record) const {
        const auto before = [](const Piece& piece, std::size_t message) { return piece.message < message; };
        auto piece = std::lower_bound(pieces_.begin(), pieces_.end(), record.message, before);
        std::size_t fallback = coppice::none;
        for (; piece != pieces_.end() && piece->message == record.message; ++piece) {
            if (piece->block != record.block) { continue; }
            const auto found = static_cast<std::size_t>(piece - pieces_.begin());
            if (piece->kind == coppice::Kind::call || piece->kind == coppice::Kind::result) { return found; }
            if (fallback == coppice::none) { fallback = found; }
        }
        return fallback;
    }

    // What the path of an edit leads to: a value, or behind a `#` one inside a string that holds JSON.
    static std::size_t weight_at(const Json& unit, const coppice::EditRecord& record) {
        const std::string_view path = record.path;
        if (const Json* const value = follow(unit, path)) { return weight_of(*value); }
        const std::size_t split = path.find('#');
        const Json* const holder = split == std::string_view::npos ? nullptr : follow(unit, path.substr(0, split));
        if (holder != nullptr && holder->is_string()) {
            const Json inside = Json::parse(holder->get_ref<const std::string&>(), nullptr, false);
            const Json* const value = inside.is_discarded() ? nullptr : follow(inside, path.substr(split + 1));
            if (value != nullptr) {
                // as it is spelled there
                return estimator.weight(value->dump(-1, ' ', false, Json::error_handler_t::replace));
            }
        }
        // names that were too long to be told whole
        return record.bytes_before * 5 / 4;
    }

    static const Json* follow(const Json& root, std::string_view path) {
        const Json* value = &root;
        while (!path.empty()) {
            if (path[0] != '/') { return nullptr; }
            const std::size_t end = std::min(path.find('/', 1), path.size());
            std::string step;
            for (std::size_t i = 1; i < end; ++i) {
                const bool escape = path[i] == '~' && i + 1 < end;
                step += !escape ? path[i] : path[++i] == '1' ? '/' : '~';
            }
            path.remove_prefix(end);
            if (value->is_object()) {
                const auto found = value->find(step);
                if (found == value->end()) { return nullptr; }
                value = &*found;
            } else if (value->is_array()) {
                std::size_t index = 0;
                const auto [stop, error] = std::from_chars(step.data(), step.data() + step.size(), index);
                const bool number = error == std::errc{} && stop == step.data() + step.size();
                if (!number || index >= value->size()) { return nullptr; }
                value = &(*value)[index];
            } else {
                return nullptr;
            }
        }
        return value;
    }

    static const Json& value_of(coppice::Node node) { return *static_cast<const Json*>(node.where); }

    static constexpr std::size_t comma_weight = 2;
    static constexpr std::size_t message_weight = 24;  // `{"role":"assistant","content":[]}`

    std::string name_;
    std::string refusal_;
    coppice::Dialect dialect_ = coppice::Dialect::detect;
    Json document_;
    Json* list_ = nullptr;
    Json::array_t messages_;  // that are still to come
    std::size_t shown_ = 0;
    std::vector<Unit> units_;
    std::vector<std::size_t> first_unit_;  // of each message, and the end
    std::vector<Piece> pieces_;
    std::vector<Call> calls_;
    std::vector<Result> results_;
    std::vector<Request> requests_;
    std::vector<KnownEdit> edits_;
    std::unordered_map<std::string, std::size_t> numbers_;
    std::string key_;
};

}  // namespace coppice_replay
