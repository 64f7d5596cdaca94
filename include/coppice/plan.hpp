// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>
#include <coppice/transcript.hpp>
#include <coppice/wording.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

/// One value of the document and what takes its place.
struct Edit {
    enum class As : std::uint8_t {
        string,  ///< the text as a JSON string
        blocks,  ///< an array that holds one text block
        block,   ///< one text block
    };

    std::size_t entry = none;
    std::size_t field = none;  ///< index into the transcript's fields
    std::size_t part = none;   ///< index into the transcript's parts
    Node node{};
    As as = As::string;
    std::string_view text{};
    Node cache_mark{};           ///< goes into the text block
    std::string_view reason{};
    std::size_t before = 0;    ///< bytes, serialised
    std::size_t after = 0;
};

/// A ceiling that was looked at, and what stood in its way.
struct CeilingOutcome {
    Size target{};
    std::string_view why{};  ///< when the history up to the horizon could not be brought under the target
};

/// What will be done to a transcript. Policies write it, nothing is edited while they run.
///
/// A change is taken only if every guard allows it and the result, as JSON, has fewer bytes than before; each
/// call answers whether it was. Every name of a policy that is passed as `reason` must outlive the plan.
/// The object can be used again: after the first run it allocates nothing for histories of the same size.
class Plan {
public:
    void start(const Transcript& transcript, const detail::AnyWording& wording,
               std::span<const detail::AnyGuard> guards) {
        transcript_ = &transcript;
        wording_ = wording;
        guards_.assign(guards.begin(), guards.end());
        decisions_.assign(transcript.all().size(), Decision{});
        pieces_.clear();
        texts_.clear();
        ceiling_.reset();
        open_ = transcript.entries().size();
        body_ = transcript.body_until(transcript.horizon());
        newer_ = transcript.body() - body_;
    }

    Fate fate(std::size_t entry) const { return decisions_[entry].fate; }
    std::string_view reason(std::size_t entry) const { return decisions_[entry].reason; }

    /// Size of the body at the horizon with everything that is planned so far.
    Extent body() const { return body_; }
    /// The same with the messages behind the horizon.
    Extent whole_body() const { return body_ + newer_; }

    /// Whether `clear` would take this result. With `assume_read`, as if the model had read it already.
    bool could_clear(std::size_t entry, bool assume_read = false) {
        const std::size_t mark = texts_.size();
        Decision decision;
        const bool possible = can_change(entry) && propose_stub(entry, false, assume_read, decision);
        texts_.resize(mark);
        return possible;
    }

    /// Replaces the whole content of a result by a stub.
    bool clear(std::size_t entry, std::string_view reason) {
        if (!can_change(entry)) { return false; }
        const std::size_t mark = texts_.size();
        Decision decision;
        if (!propose_stub(entry, false, false, decision)) {
            texts_.resize(mark);
            return false;
        }
        take(entry, decision, reason);
        relabel_duplicates(entry);
        return true;
    }

    /// Replaces a result by a stub that says that `original`, a later result with the same content, is still
    /// there. When that one is cleared after all, this one becomes an ordinary stub.
    bool collapse(std::size_t entry, std::size_t original, std::string_view reason) {
        const Fate fate = decisions_[original].fate;
        const bool stays = fate == Fate::keep || fate == Fate::spill;
        if (!can_change(entry) || !stays || entry == original) { return false; }
        const std::size_t mark = texts_.size();
        Decision decision;
        if (!propose_stub(entry, true, false, decision)) {
            texts_.resize(mark);
            return false;
        }
        take(entry, decision, reason);
        decisions_[entry].original = original;
        decisions_[entry].next_duplicate = decisions_[original].first_duplicate;
        decisions_[original].first_duplicate = entry;
        return true;
    }

    /// Replaces the images of a result by one stub each, in their places. The text beside them stays.
    bool elide_images(std::size_t entry, std::string_view reason) {
        if (decisions_[entry].fate != Fate::keep || !is_open_result(entry)) { return false; }
        const Entry& result = transcript_->all()[entry];
        const std::size_t text_mark = texts_.size();
        const std::size_t piece_mark = pieces_.size();
        Decision decision;
        decision.first_piece = piece_mark;
        for (std::size_t i = result.first_part; i < result.first_part + result.part_count; ++i) {
            const Part& part = transcript_->parts[i];
            if (part.kind != Part::Kind::image) { continue; }
            Piece piece{.index = i, .text_at = texts_.size()};
            wording_.image(texts_, facts_of(entry));
            piece.text_size = texts_.size() - piece.text_at;
            piece.before = part.serialised;
            piece.after = block_size(text_of(piece), part);
            if (piece.after.bytes >= piece.before.bytes || !allowed(entry, Fate::elide, text_of(piece))) {
                texts_.resize(piece.text_at);
                continue;
            }
            decision.after += piece.after;
            decision.before += piece.before;
            pieces_.push_back(piece);
        }
        decision.piece_count = pieces_.size() - piece_mark;
        if (decision.piece_count == 0) {
            texts_.resize(text_mark);
            return false;
        }
        decision.fate = Fate::elide;
        take(entry, decision, reason);
        relabel_duplicates(entry);
        return true;
    }

    /// Replaces one field of a call's input, whole, by a stub. `field` counts from the call's first field.
    bool clear_field(std::size_t entry, std::size_t field, std::string_view reason) {
        const Entry& call = transcript_->all()[entry];
        if (call.kind != Kind::call || field >= call.field_count) { return false; }
        Decision& decision = decisions_[entry];
        const std::size_t index = call.first_field + field;
        Piece piece{.index = index};
        if (is_cleared(decision, index) || !propose_field(entry, index, piece)) { return false; }
        // the pieces of one entry stand together: when another entry's came between, this entry's move behind them
        if (decision.piece_count == 0) {
            decision.first_piece = pieces_.size();
        } else if (decision.first_piece + decision.piece_count != pieces_.size()) {
            const std::size_t moved = pieces_.size();
            for (std::size_t i = 0; i < decision.piece_count; ++i) {
                const Piece copy = pieces_[decision.first_piece + i];
                pieces_.push_back(copy);
            }
            decision.first_piece = moved;
        }
        pieces_.push_back(piece);
        ++decision.piece_count;
        decision.fate = Fate::clear_fields;
        if (decision.reason.empty()) { decision.reason = reason; }
        pieces_.back().reason = reason;
        decision.before += piece.before;
        decision.after += piece.after;
        account(entry, piece.before, piece.after);
        return true;
    }

    /// Whether `clear_field` would take this field.
    bool could_clear_field(std::size_t entry, std::size_t field, bool assume_read = false) {
        const Entry& call = transcript_->all()[entry];
        if (call.kind != Kind::call || field >= call.field_count) { return false; }
        const std::size_t index = call.first_field + field;
        Piece piece{.index = index};
        const std::size_t mark = texts_.size();
        const bool possible =
            !is_cleared(decisions_[entry], index) && propose_field(entry, index, piece, assume_read);
        texts_.resize(mark);
        return possible;
    }

    /// Replaces a result that is all text by the wording's preview of it; the full content will be at
    /// `reference`. Whoever proposes it stores the content before the plan is carried out.
    bool spill(std::size_t entry, std::string_view reference, std::string_view reason) {
        const Entry& result = transcript_->all()[entry];
        if (decisions_[entry].fate != Fate::keep || !is_open_result(entry)) { return false; }
        const std::size_t mark = texts_.size();
        Decision decision;
        decision.fate = Fate::spill;
        decision.reference_at = mark;
        decision.reference_size = reference.size();
        texts_ += reference;
        decision.text_at = texts_.size();
        joined_.clear();
        append_joined_text(entry, joined_);
        const bool worded = wording_.preview(
            texts_, {.content = joined_, .reference = reference, .size = result.text});
        decision.text_size = texts_.size() - decision.text_at;
        if (!worded || !fits(entry, decision, false)) {
            texts_.resize(mark);
            return false;
        }
        take(entry, decision, reason);
        return true;
    }

    /// Takes a promise back: the content could not be stored, so nothing may say that it was.
    void withdraw_spill(std::size_t entry) {
        const Decision old = decisions_[entry];
        undo(entry);
        decisions_[entry] = Decision{.first_duplicate = old.first_duplicate};
        if (old.fate == Fate::stub) { clear(entry, old.reason); }
    }
    bool spilled(std::size_t entry) const { return decisions_[entry].reference_size != 0; }
    std::string_view reference(std::size_t entry) const {
        return std::string_view(texts_).substr(decisions_[entry].reference_at, decisions_[entry].reference_size);
    }

    /// The result's text parts, joined without a separator.
    void append_joined_text(std::size_t entry, std::string& out) const {
        std::string scratch;
        for (const Part& part : transcript_->parts_of(transcript_->all()[entry])) {
            if (part.kind == Part::Kind::text) { out += decoded(part.text, scratch); }
        }
    }

    const std::optional<CeilingOutcome>& ceiling() const { return ceiling_; }
    void set_ceiling(const CeilingOutcome& outcome) { ceiling_ = outcome; }

    /// Calls `visit(const Edit&)` for every value that changes, in the order of the transcript.
    template <class Visit>
    void for_each_edit(Visit visit) const {
        for (std::size_t entry = 0; entry < decisions_.size(); ++entry) {
            const Decision& decision = decisions_[entry];
            if (decision.fate == Fate::keep) { continue; }
            const Entry& subject = transcript_->all()[entry];
            if (decision.fate == Fate::stub || decision.fate == Fate::spill) {
                visit(Edit{.entry = entry,
                           .node = subject.content,
                           .as = writes_blocks(subject) ? Edit::As::blocks : Edit::As::string,
                           .text = text_of(decision),
                           .cache_mark = mark_of(subject).cache_mark,
                           .reason = decision.reason,
                           .before = decision.before.bytes,
                           .after = decision.after.bytes});
                continue;
            }
            for (std::size_t i = 0; i < decision.piece_count; ++i) {
                const Piece& piece = pieces_[decision.first_piece + i];
                Edit edit{.entry = entry,
                          .text = text_of(piece),
                          .reason = piece.reason.empty() ? decision.reason : piece.reason,
                          .before = piece.before.bytes,
                          .after = piece.after.bytes};
                if (decision.fate == Fate::elide) {
                    edit.part = piece.index;
                    edit.node = transcript_->parts[piece.index].node;
                    edit.as = Edit::As::block;
                    edit.cache_mark = transcript_->parts[piece.index].cache_mark;
                } else {
                    edit.field = piece.index;
                    edit.node = transcript_->fields[piece.index].node;
                }
                visit(edit);
            }
        }
    }

private:
    struct Decision {
        Fate fate = Fate::keep;
        std::string_view reason{};
        std::size_t text_at = 0;
        std::size_t text_size = 0;
        std::size_t reference_at = 0;
        std::size_t reference_size = 0;
        std::size_t first_piece = 0;
        std::size_t piece_count = 0;
        std::size_t original = none;        // of a duplicate
        std::size_t first_duplicate = none; // of an original
        std::size_t next_duplicate = none;
        Extent before{};
        Extent after{};
    };

    // one changed part or field
    struct Piece {
        std::size_t index = 0;
        std::size_t text_at = 0;
        std::size_t text_size = 0;
        Extent before{};
        Extent after{};
        std::string_view reason{};
    };

    template <class Holder>
    std::string_view text_of(const Holder& holder) const {
        return std::string_view(texts_).substr(holder.text_at, holder.text_size);
    }

    bool is_open_result(std::size_t entry) const {
        const Entry& result = transcript_->all()[entry];
        return result.kind == Kind::result && !result.stub && result.form != Form::absent;
    }

    bool can_change(std::size_t entry) const {
        return decisions_[entry].fate != Fate::stub && is_open_result(entry);
    }

    bool allowed(std::size_t entry, Fate fate, std::string_view text, bool assume_read = false) const {
        const Proposal proposal{entry, fate, text, assume_read};
        for (const detail::AnyGuard& guard : guards_) {
            if (!guard.allows(guard.model, *transcript_, proposal)) { return false; }
        }
        return true;
    }

    bool writes_blocks(const Entry& result) const {
        return wording_.shape == Shape::always_blocks || result.form != Form::string;
    }

    // the part whose cache mark the stub has to carry
    const Part& mark_of(const Entry& result) const {
        static const Part no_part{};
        for (const Part& part : transcript_->parts_of(result)) {
            if (part.cache_mark) { return part; }
        }
        return no_part;
    }

    Extent block_size(std::string_view text, const Part& marked) const {
        Extent size = transcript_->block.frame() + measure(text).serialised();
        if (marked.cache_mark) { size += transcript_->block.mark_frame() + marked.cache_mark_size; }
        return size;
    }

    bool fits(std::size_t entry, Decision& decision, bool assume_read) const {
        const Entry& result = transcript_->all()[entry];
        const std::string_view text = text_of(decision);
        decision.before = result.serialised;
        decision.after = writes_blocks(result) ? block_size(text, mark_of(result)) + ascii(2)
                                               : measure(text).serialised();
        return decision.after.bytes < decision.before.bytes && allowed(entry, decision.fate, text, assume_read);
    }

    bool propose_stub(std::size_t entry, bool duplicate, bool assume_read, Decision& decision) {
        decision.fate = Fate::stub;
        decision.reference_at = decisions_[entry].reference_at;
        decision.reference_size = decisions_[entry].reference_size;
        decision.text_at = texts_.size();
        ResultFacts facts = facts_of(entry);
        facts.duplicate = duplicate;
        if (decision.reference_size != 0) { facts.reference = reference_ = reference(entry); }
        wording_.result(texts_, facts);
        decision.text_size = texts_.size() - decision.text_at;
        return fits(entry, decision, assume_read);
    }

    bool propose_field(std::size_t entry, std::size_t index, Piece& piece, bool assume_read = false) {
        const Field& field = transcript_->fields[index];
        // six raw bytes are the longest spelling of one character of ours
        if (field.text.raw().size() <= 6 * wording_.longest &&
            wording_.recognise(decoded(field.text, joined_)).kind != Recognised::Kind::content) {
            return false;
        }
        piece.text_at = texts_.size();
        const Entry& call = transcript_->all()[entry];
        wording_.field(texts_, {.tool = decoded(call.tool, tool_),
                                 .field = decoded(field.name, identity_),
                                 .size = field.extent.plain});
        piece.text_size = texts_.size() - piece.text_at;
        piece.before = field.extent.serialised();
        piece.after = measure(text_of(piece)).serialised();
        if (piece.after.bytes >= piece.before.bytes ||
            !allowed(entry, Fate::clear_fields, text_of(piece), assume_read)) {
            texts_.resize(piece.text_at);
            return false;
        }
        return true;
    }

    bool is_cleared(const Decision& decision, std::size_t index) const {
        for (std::size_t i = 0; i < decision.piece_count; ++i) {
            if (pieces_[decision.first_piece + i].index == index) { return true; }
        }
        return false;
    }

    ResultFacts facts_of(std::size_t entry) {
        const Entry& result = transcript_->all()[entry];
        ResultFacts facts{.tool = decoded(result.tool, tool_),
                          .identity = decoded(result.identity, identity_),
                          .size = result.text,
                          .images = result.images,
                          .documents = result.documents,
                          .others = result.others,
                          .error = result.error};
        if (!result.reference.empty()) { facts.reference = decoded(result.reference, reference_); }
        if (!result.error) { return facts; }
        for (const Part& part : transcript_->parts_of(result)) {
            if (part.kind != Part::Kind::text) { continue; }
            if (facts.first_line.empty()) { facts.first_line = first_line(decoded(part.text, first_)); }
            const std::string_view last = last_line(decoded(part.text, last_));
            if (!last.empty()) { facts.last_line = last; }
        }
        return facts;
    }

    void account(std::size_t entry, const Extent& before, const Extent& after) {
        Extent& size = entry < open_ ? body_ : newer_;
        size += after;
        size -= before;
    }

    void take(std::size_t entry, const Decision& decision, std::string_view reason) {
        const std::size_t first_duplicate = decisions_[entry].first_duplicate;
        undo(entry);
        decisions_[entry] = decision;
        decisions_[entry].reason = reason;
        decisions_[entry].first_duplicate = first_duplicate;
        account(entry, decision.before, decision.after);
    }

    // a stored content stays stored, whatever stands in its place
    void undo(std::size_t entry) {
        const Decision old = decisions_[entry];
        if (old.fate != Fate::keep) { account(entry, old.after, old.before); }
        decisions_[entry] = Decision{.reference_at = old.reference_at, .reference_size = old.reference_size};
    }

    void relabel_duplicates(std::size_t original) {
        const std::string_view reason = decisions_[original].reason;
        std::size_t duplicate = decisions_[original].first_duplicate;
        decisions_[original].first_duplicate = none;
        while (duplicate != none) {
            const std::size_t next = decisions_[duplicate].next_duplicate;
            undo(duplicate);
            clear(duplicate, reason);
            duplicate = next;
        }
    }

    const Transcript* transcript_ = nullptr;
    detail::AnyWording wording_;
    std::vector<detail::AnyGuard> guards_;
    std::vector<Decision> decisions_;
    std::vector<Piece> pieces_;
    std::string texts_;
    std::optional<CeilingOutcome> ceiling_;
    Extent body_{};
    Extent newer_{};         // behind the horizon
    std::size_t open_ = 0;  // entries up to the horizon
    // decoding buffers, kept for their capacity
    std::string tool_, identity_, first_, last_, joined_, reference_;
};

}  // namespace coppice
