// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/call_view.hpp>
#include <coppice/detail/hash.hpp>
#include <coppice/guard.hpp>
#include <coppice/transcript.hpp>
#include <coppice/wording.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

/// One value of the document and what takes its place.
struct Edit {
    /// How the replacement is written.
    enum class As : std::uint8_t {
        string,  ///< the text as a JSON string
        blocks,  ///< an array that holds one text block
        block,   ///< one text block
        packed,  ///< the text as a JSON string, inside a string that holds JSON
        empty,   ///< an empty array
        drop,    ///< nothing: the block leaves its array, with a comma
    };

    std::size_t entry = none;     ///< index into the transcript's entries
    std::size_t field = none;     ///< index into the transcript's fields
    std::size_t part = none;      ///< index into the transcript's parts
    Node node{};                  ///< what is replaced
    As as = As::string;           ///< how the replacement is written
    std::string_view text{};      ///< what takes its place, as it reads
    Node cache_mark{};            ///< goes into the text block
    std::string_view mark_key{};  ///< the member that the mark is the value of
    Node holder{};                ///< of packed JSON: the string that holds it; of a dropped block: its array
    std::string_view packed{};    ///< and what that string means, with `node` inside
    std::size_t index = 0;        ///< of a dropped block: its place in the array
    bool leads = false;           ///< and whether all blocks before it go, too, so that the comma behind it goes
    std::string_view reason{};    ///< name of the policy
    std::size_t after = 0;        ///< bytes, serialised
};

/// What an edit does to the length of the body.
struct EditBytes {
    std::size_t before;  ///< as it was
    std::size_t after;   ///< as it is written
};

/// A ceiling that was looked at, and what stood in its way.
struct CeilingOutcome {
    Size target{};           ///< what was to be reached
    std::string_view why{};  ///< when the history up to the horizon could not be brought under the target
};

/// What will be done to a transcript. Policies write it, nothing is edited while they run.
///
/// A change is taken only if every guard allows it and the result, as JSON, has fewer bytes than before; each
/// call answers whether it was. Every name of a policy that is passed as `reason` must outlive the plan.
/// The object can be used again: after the first run it allocates nothing for histories of the same size.
class Plan {
public:
    /// Begins anew, with nothing planned.
    void start(const Transcript& transcript, const detail::AnyWording& wording,
               std::span<const detail::AnyGuard> guards) {
        transcript_ = &transcript;
        wording_ = wording;
        guards_.assign(guards.begin(), guards.end());
        decisions_.assign(transcript.all().size(), Decision{});
        changed_parts_.assign(transcript.parts.size(), Piece{});
        changed_fields_.assign(transcript.fields.size(), Piece{});
        texts_.clear();
        ceiling_.reset();
        withdrawn_ = 0;
        follow_horizon();
    }

    /// Goes on with what is planned so far, after the transcript's horizon has moved.
    void follow_horizon() {
        horizon_ = transcript_->horizon();
        open_from_ = transcript_->open_loop_from();
        measured_ = 0;
        open_size_ = newer_size_ = {};
        refused_ = false;
        if (transcript_->narrowed()) {
            measured_ = horizon_;
            open_size_ = transcript_->narrowed_body() - transcript_->body_until(0);
        }
    }

    /// What becomes of an entry.
    Fate fate(std::size_t entry) const { return decisions_[entry].fate; }
    /// Which policy said so; empty where none did.
    std::string_view reason(std::size_t entry) const { return decisions_[entry].reason; }

    /// What is planned so far takes this much out of the body.
    Extent saved() const {
        Extent sum;
        for (std::size_t i = 0; i < decisions_.size(); ++i) { sum += saved(i); }
        return sum;
    }

    /// The same for one entry.
    Extent saved(std::size_t entry) const {
        return decisions_[entry].fate == Fate::keep ? Extent{} : before(entry) - decisions_[entry].after;
    }
    /// What is planned for an entry spares, in eighths of a token, with images for what they cost.
    std::size_t saved_eighths(std::size_t entry) const { return spared(entry, 0); }
    /// The same, but where the input of a call was cleared before, with the longest text that its result can have got while
    /// it was there: no less is planned for the history that is fed back pruned.
    std::size_t surely_saved_eighths(std::size_t entry) const {
        return spared(entry, token_eighths(ascii(decisions_[entry].unsaid)));
    }

    /// The first entry that this plan and another one of the same transcript do not leave alike; `none` where they do.
    std::size_t first_difference(const Plan& other) const {
        for (std::size_t i = 0; i < decisions_.size(); ++i) {
            if (!leaves_alike(other, i)) { return i; }
        }
        return none;
    }

    /// The text that takes the place of a result as a whole.
    std::string_view text(std::size_t entry) const { return text_of(decisions_[entry]); }
    /// Whether this part of a result is replaced on its own.
    bool changes_part(std::size_t part) const { return changed_parts_[part].changed; }
    /// The text that takes the place of a part.
    std::string_view part_text(std::size_t part) const { return text_of(changed_parts_[part]); }
    /// Whether this field of an input is cleared.
    bool changes_field(std::size_t field) const { return changed_fields_[field].changed; }
    /// Which policy cleared it.
    std::string_view field_reason(std::size_t field) const { return changed_fields_[field].reason; }
    /// Of a duplicate: the later result that it says is still there.
    std::size_t original(std::size_t entry) const { return decisions_[entry].original; }

    /// Size of the body at the horizon with everything that is planned so far.
    Extent body() {
        while (measured_ < horizon_) { measure_next_message(); }
        return transcript_->body_until(0) + open_size_;
    }
    /// Whether that is more than `limit`; looks no further than it has to.
    bool body_exceeds(Size limit) { return exceeds(limit, horizon_); }
    /// The same with the messages behind the horizon.
    bool whole_body_exceeds(Size limit) { return exceeds(limit, transcript_->messages.size()); }

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
        // what was left of two results may be the same where they were not
        const bool capped = decisions_[entry].fate == Fate::cap;
        if (!can_change(entry) || capped || !stays || entry >= original) { return false; }
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

    /// Duplicates say what any stub says, and not that a copy is still there.
    void make_duplicates_ordinary() {
        for (std::size_t i = 0; i < decisions_.size(); ++i) {
            if (decisions_[i].first_duplicate != none) { relabel_duplicates(i); }
        }
    }

    /// Whether `elide_images` would take this result.
    bool could_elide_images(std::size_t entry, bool assume_read = false) {
        return transcript_->all()[entry].kind == Kind::result && could_elide(entry, assume_read);
    }

    /// Replaces the images of a result by one stub each, in their places. The text beside them stays.
    bool elide_images(std::size_t entry, std::string_view reason) {
        return transcript_->all()[entry].kind == Kind::result && elide(entry, reason);
    }

    /// Whether `elide_user_image` would take this entry.
    bool could_elide_user_image(std::size_t entry, bool assume_read = false) {
        return transcript_->all()[entry].kind == Kind::user_text && could_elide(entry, assume_read);
    }

    /// Replaces an image in a message of the user by a stub, in its place. It is data of the user's, which no policy
    /// takes by the way: this is a call of its own.
    bool elide_user_image(std::size_t entry, std::string_view reason) {
        return transcript_->all()[entry].kind == Kind::user_text && elide(entry, reason);
    }

    /// Replaces one field of a call's input, whole, by a stub. `field` counts from the call's first field.
    bool clear_field(std::size_t entry, std::size_t field, std::string_view reason) {
        Piece piece{.changed = true, .reason = reason};
        if (!propose_field(entry, field, false, piece)) { return false; }
        const std::size_t index = transcript_->all()[entry].first_field + field;
        changed_fields_[index] = piece;
        Decision& decision = decisions_[entry];
        decision.fate = Fate::clear_fields;
        if (decision.reason.empty()) { decision.reason = reason; }
        decision.after += piece.after;
        if (Extent* size = measured_size(entry)) {
            *size -= transcript_->serialised(transcript_->fields[index]);
            *size += piece.after;
        }
        return true;
    }

    /// Whether `clear_field` would take this field.
    bool could_clear_field(std::size_t entry, std::size_t field, bool assume_read = false) {
        const std::size_t mark = texts_.size();
        Piece piece;
        const bool possible = propose_field(entry, field, assume_read, piece);
        texts_.resize(mark);
        return possible;
    }

    /// Whether `drop` would take this entry.
    bool could_drop(std::size_t entry) {
        if (!may_drop(entry)) { return false; }
        // who asks for each block of a long turn shall not have it read anew each time
        const std::size_t turn = transcript_->messages[transcript_->all()[entry].message].user_turn_at;
        if (refused_ && refused_turn_ == turn && refused_while_ == transcript_->may_drop_thinking) { return false; }
        bool possible = true;
        for_each_reasoning_of_turn(entry, [&](std::size_t other) { possible = possible && may_drop(other); });
        if (!possible) {
            refused_ = true;
            refused_turn_ = turn;
            refused_while_ = transcript_->may_drop_thinking;
        }
        return possible;
    }

    /// Takes reasoning out of its message, and with it all that the model thought in that turn: of a turn it stays
    /// whole or goes whole (anomalyco/opencode #3077). Never in the tool loop that is open at the horizon.
    bool drop(std::size_t entry, std::string_view reason) {
        if (!could_drop(entry)) { return false; }
        std::size_t message = none;
        std::size_t leading = 0;
        for_each_reasoning_of_turn(entry, [&](std::size_t other) {
            const Entry& block = transcript_->all()[other];
            if (block.message != message) { leading = 0; }
            message = block.message;
            Decision decision;
            decision.fate = Fate::drop;
            decision.leads = block.block == leading;
            leading += decision.leads;
            take(other, decision, reason);
        });
        return true;
    }

    /// Replaces a result that is all text by the wording's preview of it; the full content will be at
    /// `reference`. Whoever proposes it stores the content before the plan is carried out.
    bool spill(std::size_t entry, std::string_view reference, std::string_view reason) {
        const Entry& result = transcript_->all()[entry];
        const bool open = decisions_[entry].fate == Fate::keep && is_open_result(entry);
        if (!open || reference.empty()) { return false; }
        for (const Part& part : transcript_->parts_of(result)) {
            // the store would not get what is taken away
            if (detail::has_lone_surrogate(part.text.text())) { return false; }
        }
        const std::size_t mark = texts_.size();
        Decision decision;
        decision.fate = Fate::spill;
        decision.reference_at = mark;
        decision.reference_size = reference.size();
        texts_ += reference;
        decision.text_at = texts_.size();
        joined_.clear();
        append_joined_text(entry, joined_);
        const PreviewFacts facts{
            .content = joined_, .reference = reference, .size = transcript_->size(result)};
        bool worded = false;
        append([&](std::string& out) { worded = wording_.preview(out, facts); });
        decision.text_size = texts_.size() - decision.text_at;
        if (!worded || !reads_back(decision) || !fits(entry, decision, false)) {
            texts_.resize(mark);
            return false;
        }
        take(entry, decision, reason);
        return true;
    }

    /// Replaces a result that is all text by its first `head` and last `tail` code points, with the wording's line
    /// between them. What is written does not exceed `above`, so that who caps what exceeds it caps it once.
    bool cap(std::size_t entry, Size above, std::size_t head, std::size_t tail, std::string_view reason) {
        return take_ends(
            entry, Fate::cap, head, tail, reason,
            [&](const CapFacts& facts) {
                bool worded = false;
                append([&](std::string& out) { worded = wording_.cap(out, facts); });
                return worded ? std::optional<std::size_t>(0) : std::nullopt;
            },
            [&](std::string_view text) {
                return !measure_plain(text).exceeds(above) &&
                       wording_.recognise(text).kind == Recognised::Kind::capped;
            });
    }

    /// Replaces an old result that is all text by a stub that still holds its first `head` and last `tail` code points.
    /// It is no more changed after that.
    bool clip(std::size_t entry, std::size_t head, std::size_t tail, std::string_view reason) {
        const bool taken =
            !transcript_->all()[entry].capped &&
            take_ends(
                entry, Fate::clip, head, tail, reason,
                [&](const CapFacts& cut) {
                    bool worded = false;
                    const auto write = [&](std::string& out, const ResultFacts& facts) {
                        worded = wording_.clip(out, facts, cut);
                    };
                    const std::size_t unsaid = append_of(entry, facts_of(entry), write);
                    return worded ? std::optional(unsaid) : std::nullopt;
                },
                [&](std::string_view text) { return wording_.recognise(text).kind == Recognised::Kind::stub; });
        if (taken) { relabel_duplicates(entry); }
        return taken;
    }

    /// Code points that stay of a clipped result's front.
    std::size_t clipped_head(std::size_t entry) const { return decisions_[entry].head; }
    /// Code points that stay of a clipped result's end.
    std::size_t clipped_tail(std::size_t entry) const { return decisions_[entry].tail; }

    /// The size that the next pruning will find of a capped result.
    Extent capped_size(std::size_t entry) const { return measure_plain(text_of(decisions_[entry])); }

    /// The size that the next pruning will read from the preview of a spilled result.
    Extent preview_size(std::size_t entry) const {
        return wording_.recognise(text_of(decisions_[entry])).size;
    }

    /// Takes a promise back: the content could not be stored, so nothing may say that it was.
    void withdraw_spill(std::size_t entry) {
        const Decision old = decisions_[entry];
        ++withdrawn_;
        undo(entry);
        decisions_[entry] = Decision{.first_duplicate = old.first_duplicate};
        if (old.fate == Fate::stub && old.original == none) { clear(entry, old.reason); }
        if (old.original == none) { return; }
        // still a duplicate, and still in its original's list
        Decision again;
        const std::size_t mark = texts_.size();
        if (propose_stub(entry, true, false, again)) {
            take(entry, again, old.reason);
            decisions_[entry].original = old.original;
        } else {
            texts_.resize(mark);
        }
        decisions_[entry].next_duplicate = old.next_duplicate;
    }
    /// How many promises were taken back.
    std::size_t withdrawn() const { return withdrawn_; }
    /// Whether its content goes to a store.
    bool spilled(std::size_t entry) const { return decisions_[entry].reference_size != 0; }
    /// Where the store will have it.
    std::string_view reference(std::size_t entry) const {
        return std::string_view(texts_).substr(decisions_[entry].reference_at,
                                               decisions_[entry].reference_size);
    }

    /// The result's text parts, joined without a separator.
    void append_joined_text(std::size_t entry, std::string& out) const {
        std::string scratch;
        for (const Part& part : transcript_->parts_of(transcript_->all()[entry])) {
            if (part.kind == Part::Kind::text) { out += decoded(part.text.text(), scratch); }
        }
    }

    /// Room for a policy to work in, kept from run to run.
    struct Scratch {
        detail::Index sizes;   ///< results by their size
        detail::Index newest;  ///< results by their content
        std::string left;      ///< one of two texts to compare
        std::string right;     ///< the other one
        std::string tool;      ///< a tool's name, decoded
    };
    /// What policies may use while they run.
    Scratch& scratch() { return scratch_; }

    /// The ceiling that was looked at, where there was one.
    const std::optional<CeilingOutcome>& ceiling() const { return ceiling_; }
    /// Says what came of a ceiling.
    void set_ceiling(const CeilingOutcome& outcome) { ceiling_ = outcome; }

    /// What an edit replaces, as it stands in the document.
    Extent size_before(const Edit& edit) const {
        if (edit.part != none) { return transcript_->serialised(transcript_->parts[edit.part]); }
        if (edit.field != none) { return transcript_->serialised(transcript_->fields[edit.field]); }
        return size_of_whole(edit.entry);
    }
    /// The same in bytes.
    std::size_t bytes_before(const Edit& edit) const { return size_before(edit).bytes; }

    /// Calls `visit(const Edit&)` for every value that changes, in the order of the transcript.
    template <class Visit>
    void for_each_edit(Visit visit) const {
        for (std::size_t entry = 0; entry < decisions_.size(); ++entry) { for_each_edit_of(entry, visit); }
    }

private:
    template <class Visit>
    void for_each_edit_of(std::size_t entry, Visit& visit) const {
        const Decision& decision = decisions_[entry];
        if (decision.fate == Fate::keep) { return; }
        const Entry& subject = transcript_->all()[entry];
        if (decision.fate == Fate::drop) {
            visit(Edit{.entry = entry,
                       .node = subject.content,
                       .as = Edit::As::drop,
                       .holder = transcript_->messages[subject.message].blocks,
                       .index = subject.block,
                       .leads = decision.leads,
                       .reason = decision.reason});
            return;
        }
        if (replaces_whole(decision.fate, subject)) {
            const Part& marked = mark_of(subject);
            visit(Edit{.entry = entry,
                       .node = subject.content,
                       .as = writes_blocks(subject) ? Edit::As::blocks : Edit::As::string,
                       .text = text_of(decision),
                       .cache_mark = marked.cache_mark,
                       .mark_key = transcript_->block.mark_keys[marked.mark_key],
                       .reason = decision.reason,
                       .after = decision.after.bytes});
            return;
        }
        const bool parts = decision.fate != Fate::clear_fields;
        const std::size_t first = parts ? subject.first_part : subject.first_field;
        const std::size_t count = parts ? subject.part_count : subject.field_count;
        for (std::size_t i = first; i < first + count; ++i) {
            const Piece& piece = parts ? changed_parts_[i] : changed_fields_[i];
            if (!piece.changed) { continue; }
            Edit edit{.entry = entry,
                      .as = piece.as,
                      .text = text_of(piece),
                      .reason = piece.reason,
                      .after = piece.after.bytes};
            if (parts) {
                const Part& part = transcript_->parts[i];
                edit.part = i;
                edit.node = part.node;
                edit.cache_mark = part.cache_mark;
                edit.mark_key = transcript_->block.mark_keys[part.mark_key];
            } else {
                edit.field = i;
                edit.node = transcript_->fields[i].node;
                edit.holder = subject.content;
                edit.packed = subject.packed;
            }
            visit(edit);
        }
    }

    // in eighths of a token, less what a text may have had more
    std::size_t spared(std::size_t entry, std::size_t unsaid) const {
        if (decisions_[entry].fate == Fate::keep) { return 0; }
        std::size_t saved = 0;
        const auto add = [&](const Edit& edit) {
            std::size_t was = token_eighths(size_before(edit));
            if (edit.part != none) {
                const Part& part = transcript_->parts[edit.part];
                if (part.kind == Part::Kind::image) { was -= transcript_->image_surplus(part); }
            } else if (edit.field == none) {
                was -= transcript_->image_surplus(transcript_->all()[entry]);
            }
            const Extent& after = edit.part != none    ? changed_parts_[edit.part].after
                                  : edit.field != none ? changed_fields_[edit.field].after
                                                       : decisions_[entry].after;
            const std::size_t is = token_eighths(after);
            saved += was > is ? was - is : 0;
        };
        for_each_edit_of(entry, add);
        return saved > unsaid ? saved - unsaid : 0;
    }

    // A result of one block, of which this plan replaces all, and the other one the block: both may write the same.
    bool same_block(const Plan& other, std::size_t entry) const {
        const Entry& result = transcript_->all()[entry];
        if (result.form != Form::blocks || result.part_count != 1 || !is_stub(decisions_[entry].fate)) { return false; }
        const Piece& block = other.changed_parts_[result.first_part];
        return block.changed && block.as == Edit::As::block && other.text_of(block) == text_of(decisions_[entry]);
    }

    bool leaves_alike(const Plan& other, std::size_t entry) const {
        const Decision& left = decisions_[entry];
        const Decision& right = other.decisions_[entry];
        if (left.fate == Fate::keep || right.fate == Fate::keep) { return left.fate == right.fate; }
        const Entry& subject = transcript_->all()[entry];
        const bool whole = replaces_whole(left.fate, subject);
        if (whole != replaces_whole(right.fate, subject)) {
            return whole ? same_block(other, entry) : other.same_block(*this, entry);
        }
        if (whole) { return text_of(left) == other.text_of(right); }
        const auto same = [&](const Piece& one, const Piece& two) {
            return one.changed == two.changed && (!one.changed || text_of(one) == other.text_of(two));
        };
        for (std::size_t i = subject.first_part; i < subject.first_part + subject.part_count; ++i) {
            if (!same(changed_parts_[i], other.changed_parts_[i])) { return false; }
        }
        // the fields of a result in pieces are the names of its parts
        if (subject.kind != Kind::call) { return true; }
        for (std::size_t i = subject.first_field; i < subject.first_field + subject.field_count; ++i) {
            if (!same(changed_fields_[i], other.changed_fields_[i])) { return false; }
        }
        return true;
    }

    // and not only some of its parts
    static bool replaces_whole(Fate fate, const Entry& result) {
        return fate == Fate::drop || ((is_stub(fate) || is_arrival(fate)) && result.form != Form::pieces);
    }

    // What a decision on all of an entry replaces, with the comma that a dropped block takes along.
    Extent size_of_whole(std::size_t entry) const {
        const Extent size = transcript_->serialised(transcript_->all()[entry]);
        return decisions_[entry].fate == Fate::drop ? size + ascii(1) : size;
    }

    bool may_drop(std::size_t entry) const {
        const Entry& block = transcript_->all()[entry];
        return decisions_[entry].fate == Fate::keep && block.message < open_from_ && block.removable &&
               allowed(entry, Fate::drop, {});
    }

    template <class Visit>
    void for_each_reasoning_of_turn(std::size_t entry, Visit visit) const {
        const std::span<const Entry> all = transcript_->all();
        const auto turn = [&](std::size_t other) { return transcript_->messages[all[other].message].user_turn_at; };
        std::size_t first = entry;
        while (first > 0 && turn(first - 1) == turn(entry)) { --first; }
        for (std::size_t i = first; i < all.size() && turn(i) == turn(entry); ++i) {
            if (all[i].kind == Kind::reasoning) { visit(i); }
        }
    }

    // Duplicates hang in a list of their original: `first_duplicate` of the original, then `next_duplicate`. The
    // list stands as long as the original keeps its content; when that goes, each becomes an ordinary stub.
    struct Decision {
        Fate fate = Fate::keep;
        std::string_view reason{};
        std::size_t text_at = 0;
        std::size_t text_size = 0;
        std::size_t reference_at = 0;
        std::size_t reference_size = 0;
        std::size_t head = 0;  // of a clipped or capped result
        std::size_t tail = 0;
        std::size_t original = none;         // of a duplicate
        std::size_t first_duplicate = none;  // of an original
        std::size_t next_duplicate = none;
        Extent after{};
        std::size_t unsaid = 0;  // bytes, see `append_of`
        bool leads = false;  // of a dropped block: all before it in its message go, too
    };

    // a part or field on its own
    struct Piece {
        bool changed = false;
        Edit::As as = Edit::As::string;
        std::size_t text_at = 0;
        std::size_t text_size = 0;
        Extent after{};
        std::size_t unsaid = 0;
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
        return !is_stub(decisions_[entry].fate) && is_open_result(entry);
    }

    bool allowed(std::size_t entry, Fate fate, std::string_view text, bool assume_read = false) const {
        // nobody would know it again, or no provider would take it
        const std::size_t longest = fate == Fate::clip ? wording_.longest_clip : wording_.longest;
        if (!is_arrival(fate) && text.size() > longest) { return false; }
        if (!detail::is_utf8(text)) { return false; }
        const Proposal proposal{entry, fate, text, assume_read};
        for (const detail::AnyGuard& guard : guards_) {
            if (!guard.allows(guard.model, *transcript_, proposal)) { return false; }
        }
        return true;
    }

    // a preview that names another place than the store's, or that is taken for content, loses the content
    bool reads_back(const Decision& preview) const {
        const Recognised found = wording_.recognise(text_of(preview));
        return found.kind == Recognised::Kind::preview &&
               found.reference ==
                   std::string_view(texts_).substr(preview.reference_at, preview.reference_size);
    }

    bool writes_blocks(const Entry& result) const {
        if (result.form == Form::blocks) { return true; }
        const bool widened = result.form != Form::string || wording_.shape == Shape::always_blocks;
        return transcript_->block.may_widen && widened;
    }

    // the part whose cache mark the stub has to carry
    const Part& mark_of(const Entry& result) const {
        static const Part no_part{};
        for (const Part& part : transcript_->parts_of(result)) {
            if (part.cache_mark) { return part; }
        }
        return no_part;
    }

    bool fits(std::size_t entry, Decision& decision, bool assume_read) {
        const Entry& result = transcript_->all()[entry];
        if (result.form == Form::pieces) { return fits_piece(entry, decision, assume_read); }
        const std::string_view text = text_of(decision);
        const TextExtent size = measure(text);
        decision.after = writes_blocks(result) ? transcript_->text_block(size, mark_of(result)) + ascii(2)
                                               : size.serialised();
        // mostly plain without reading the text that goes
        const std::size_t most = decision.after.bytes + decision.unsaid;
        const bool shrinks = most < transcript_->least_bytes(result) || most < transcript_->serialised(result).bytes;
        return shrinks && allowed(entry, decision.fate, text, assume_read);
    }

    // a wording gets a string of its own: whatever it does to it, the other texts stay
    template <class Write>
    void append(Write write) {
        worded_.clear();
        write(worded_);
        texts_ += worded_;
    }

    // The same for what `write(out, facts)` says of an entry. What named its call there, or told of it, may have gone with
    // the call's input. What stayed because a text with that was no shorter stays without it, too: answers with how many
    // bytes longer it may have been.
    template <class Write>
    std::size_t append_of(std::size_t entry, ResultFacts facts, Write write) {
        append([&](std::string& out) { write(out, facts); });
        const std::size_t peer = transcript_->all()[entry].peer;
        if (peer == none) { return 0; }
        const Entry& call = transcript_->all()[peer];
        const std::size_t most = wording_.unsaid(call.cleared, call.unnamed);
        if (most == 0) { return 0; }
        const std::size_t said = worded_.size();
        facts.identity = {};
        CallView call_without_input;
        if (facts.call != nullptr) {
            call_without_input = *facts.call;
            call_without_input.hide_input();
            facts.call = &call_without_input;
        }
        worded_.clear();
        write(worded_, facts);
        return worded_.size() + most > said ? worded_.size() + most - said : 0;
    }

    // Head and tail of a result that is all text: `write(facts)` words them and answers as `append_of`, or not at all where
    // it has no words, and `is_known(text)` says whether the next pruning will know what that is.
    template <class Write, class IsKnown>
    bool take_ends(std::size_t entry, Fate fate, std::size_t head, std::size_t tail, std::string_view reason,
                   Write write, IsKnown is_known) {
        const Entry& result = transcript_->all()[entry];
        const bool open = decisions_[entry].fate == Fate::keep && is_open_result(entry) && result.reference.empty();
        if (!open || result.images + result.elided + result.documents + result.others > 0) { return false; }
        const std::size_t mark = texts_.size();
        Decision decision;
        decision.fate = fate;
        decision.text_at = mark;
        decision.head = head;
        decision.tail = tail;
        joined_.clear();
        append_joined_text(entry, joined_);
        const CapFacts facts{.content = detail::valid_utf8(joined_, spelled_), .head = head, .tail = tail};
        const std::optional<std::size_t> unsaid = write(facts);
        decision.unsaid = unsaid.value_or(0);
        decision.text_size = texts_.size() - mark;
        if (!unsaid || !is_known(text_of(decision)) || !fits(entry, decision, false)) {
            texts_.resize(mark);
            return false;
        }
        take(entry, decision, reason);
        return true;
    }

    auto as_result() const {
        return [this](std::string& out, const ResultFacts& facts) { wording_.result(out, facts); };
    }

    bool propose_stub(std::size_t entry, bool duplicate, bool assume_read, Decision& decision) {
        decision.fate = Fate::stub;
        decision.reference_at = decisions_[entry].reference_at;
        decision.reference_size = decisions_[entry].reference_size;
        decision.text_at = texts_.size();
        ResultFacts facts = facts_of(entry);
        facts.duplicate = duplicate;
        if (decision.reference_size != 0) { facts.reference = reference_ = reference(entry); }
        if (transcript_->all()[entry].form == Form::pieces) {
            return propose_pieces(entry, facts, assume_read, decision) && shortens_cap(entry, decision);
        }
        decision.unsaid = append_of(entry, facts, as_result());
        decision.text_size = texts_.size() - decision.text_at;
        return fits(entry, decision, assume_read) && shortens_cap(entry, decision);
    }

    // what is left of a capped result may be shorter than a stub
    bool shortens_cap(std::size_t entry, const Decision& decision) const {
        const Decision& now = decisions_[entry];
        return now.fate != Fate::cap || decision.after.bytes < now.after.bytes;
    }

    // Each part that a stub of its own makes shorter, with its own lines where the call failed: which of them comes
    // first depends on the order of keys. Media have no place for a stub, and go along with a text.
    bool propose_pieces(std::size_t entry, ResultFacts facts, bool assume_read, Decision& decision) {
        const Entry& result = transcript_->all()[entry];
        bool worded = false;
        std::size_t media = 0;
        for (const Part& part : transcript_->parts_of(result)) { media += part.kind == Part::Kind::image; }
        proposed_.clear();
        for (std::size_t i = result.first_part; i < result.first_part + result.part_count; ++i) {
            const Part& part = transcript_->parts[i];
            if (part.kind == Part::Kind::stub) { continue; }
            Piece piece{.changed = true};
            if (part.kind == Part::Kind::image) {
                piece.as = Edit::As::empty;
                piece.after = ascii(2);
            } else {
                const Extent size = transcript_->serialised(part);
                // alone it may be a preview of more
                facts.size = part.kind != Part::Kind::text ? size
                             : result.part_count == 1      ? transcript_->size(result)
                                                           : part.text.plain();
                // of several pieces, none is the one that they belong to
                facts.images = result.part_count - media == 1 ? result.images : 0;
                facts.others = part.kind == Part::Kind::other ? 1 : 0;
                facts.error = part.own_outcome ? part.failed : result.error;
                facts.outcome_known = part.own_outcome || result.outcome_known;
                facts.first_line = facts.last_line = {};
                if (facts.error) {
                    const bool text = part.kind == Part::Kind::text;
                    const std::string_view own =
                        !text                                 ? std::string_view()
                        : decisions_[entry].fate == Fate::cap ? first_.assign(text_of(decisions_[entry]))
                                                              : decoded(part.text.text(), first_);
                    facts.first_line = first_line(own);
                    facts.last_line = last_line(own);
                }
                const auto word = [&] {
                    piece.text_at = texts_.size();
                    call_.show_part(i);
                    piece.unsaid = append_of(entry, facts, as_result());
                    piece.text_size = texts_.size() - piece.text_at;
                    piece.after = measure(text_of(piece)).serialised();
                    const bool fits = piece.after.bytes + piece.unsaid < size.bytes &&
                                      allowed(entry, decision.fate, text_of(piece), assume_read);
                    if (!fits) { texts_.resize(piece.text_at); }
                    return fits;
                };
                bool fits = word();
                if (!fits && facts.images > 0) {
                    // or the next pruning would write it, when the media are gone
                    facts.images = 0;
                    fits = word();
                }
                if (!fits) { continue; }
                worded = true;
            }
            decision.after += piece.after;
            decision.unsaid += piece.unsaid;
            proposed_.emplace_back(i, piece);
        }
        return worded;
    }

    // a preview in the place of the one text that there is
    bool fits_piece(std::size_t entry, Decision& decision, bool assume_read) {
        const Entry& result = transcript_->all()[entry];
        const std::string_view text = text_of(decision);
        if (result.part_count != 1 || transcript_->parts[result.first_part].kind != Part::Kind::text) {
            return false;
        }
        const Piece piece{.changed = true,
                          .text_at = decision.text_at,
                          .text_size = decision.text_size,
                          .after = measure(text).serialised()};
        decision.after = piece.after;
        proposed_.assign(1, {result.first_part, piece});
        const Part& part = transcript_->parts[result.first_part];
        const std::size_t most = piece.after.bytes + decision.unsaid;
        return most < transcript_->serialised(part).bytes && allowed(entry, decision.fate, text, assume_read);
    }

    bool could_elide(std::size_t entry, bool assume_read) {
        const std::size_t mark = texts_.size();
        if (transcript_->all()[entry].images == 0) { return false; }
        bool possible = false;
        const ResultFacts facts = facts_of(entry);
        for (const Part& part : transcript_->parts_of(transcript_->all()[entry])) {
            Piece piece;
            possible = possible || propose_image(entry, part, facts, assume_read, piece);
            texts_.resize(mark);
        }
        return possible;
    }

    bool elide(std::size_t entry, std::string_view reason) {
        const Entry& result = transcript_->all()[entry];
        Decision decision;
        decision.fate = Fate::elide;
        if (result.images == 0) { return false; }
        const ResultFacts facts = facts_of(entry);
        bool any = false;
        for (std::size_t i = result.first_part; i < result.first_part + result.part_count; ++i) {
            Piece piece{.changed = true, .reason = reason};
            if (!propose_image(entry, transcript_->parts[i], facts, false, piece)) { continue; }
            decision.after += piece.after;
            decision.unsaid += piece.unsaid;
            changed_parts_[i] = piece;
            any = true;
        }
        if (!any) { return false; }
        take(entry, decision, reason);
        relabel_duplicates(entry);
        return true;
    }

    bool propose_image(std::size_t entry, const Part& part, const ResultFacts& facts, bool assume_read,
                       Piece& piece) {
        const bool of_user = transcript_->all()[entry].kind == Kind::user_text;
        const bool open = decisions_[entry].fate == Fate::keep && (of_user || is_open_result(entry));
        if (!open || part.kind != Part::Kind::image) { return false; }
        const bool in_pieces = transcript_->all()[entry].form == Form::pieces;
        piece.as = in_pieces ? Edit::As::empty : Edit::As::block;
        piece.text_at = texts_.size();
        piece.unsaid = append_of(entry, facts, [this](std::string& out, const ResultFacts& said) {
            wording_.image(out, said);
        });
        if (in_pieces) { piece.unsaid = 0; }
        piece.text_size = texts_.size() - piece.text_at;
        piece.after = in_pieces ? ascii(2) : transcript_->text_block(measure(text_of(piece)), part);
        const bool shrinks = piece.after.bytes + piece.unsaid < transcript_->serialised(part).bytes;
        const bool taken = shrinks && allowed(entry, Fate::elide, text_of(piece), assume_read);
        if (!taken || in_pieces) {
            texts_.resize(piece.text_at);
            piece.text_size = 0;
        }
        return taken;
    }

    bool propose_field(std::size_t entry, std::size_t field, bool assume_read, Piece& piece) {
        const Entry& call = transcript_->all()[entry];
        if (call.kind != Kind::call || field >= call.field_count) { return false; }
        const std::size_t index = call.first_field + field;
        if (changed_fields_[index].changed) { return false; }
        const Field& subject = transcript_->fields[index];
        const Text text = subject.text.text();
        if (wording_.may_be_stub(subject.text) &&
            wording_.recognise(decoded(text, joined_)).kind != Recognised::Kind::content) {
            return false;
        }
        piece.text_at = texts_.size();
        const FieldFacts facts{.tool = detail::shown(call.tool, tool_),
                               .field = detail::shown(subject.name, identity_),
                               .size = subject.text.plain(),
                               .first_line = detail::names_call(call, subject) ? first_line(decoded(text, joined_))
                                                                       : std::string_view()};
        append([&](std::string& out) { wording_.field(out, facts); });
        piece.text_size = texts_.size() - piece.text_at;
        const bool found_again = !subject.deep || piece.text_size >= Field::shortest_deep;
        if (subject.packed) {
            piece.as = Edit::As::packed;
            spelled_.clear();
            detail::append_json_string(spelled_, text_of(piece));
            piece.after = Transcript::packed(spelled_);
        } else {
            piece.after = measure(text_of(piece)).serialised();
        }
        const bool shrinks = piece.after.bytes < subject.text.least(Unit::bytes) + 2 ||
                             piece.after.bytes < transcript_->serialised(subject).bytes;
        if (found_again && shrinks && allowed(entry, Fate::clear_fields, text_of(piece), assume_read)) { return true; }
        texts_.resize(piece.text_at);
        return false;
    }

    ResultFacts facts_of(std::size_t entry) {
        const Entry& result = transcript_->all()[entry];
        ResultFacts facts{.tool = detail::shown(result.tool, tool_),
                          .identity = decoded(result.identity, identity_),
                          .size = transcript_->size(result),
                          .images = result.images,
                          .documents = result.documents,
                          .others = result.others,
                          .error = result.error,
                          .outcome_known = result.outcome_known,
                          .of_user = result.kind == Kind::user_text};
        if (result.kind == Kind::result) {
            call_.show(*transcript_, entry, is_arrival(decisions_[entry].fate) ? text(entry) : std::string_view());
            facts.call = &call_;
        }
        if (!result.reference.empty()) { facts.reference = decoded(result.reference, reference_); }
        if (!result.error) { return facts; }
        if (decisions_[entry].fate == Fate::cap) {
            facts.first_line = first_.assign(first_line(text_of(decisions_[entry])));
            facts.last_line = kept_last_.assign(last_line(text_of(decisions_[entry])));
            return facts;
        }
        for (const Part& part : transcript_->parts_of(result)) {
            if (part.kind != Part::Kind::text) { continue; }
            if (facts.first_line.empty()) {
                facts.first_line = first_line(decoded(part.text.text(), first_));
            }
            const std::string_view last = last_line(decoded(part.text.text(), last_));
            if (!last.empty()) { facts.last_line = kept_last_.assign(last); }
        }
        return facts;
    }

    // What the decision on an entry replaces, as it stands in the document.
    Extent before(std::size_t entry) const {
        const Entry& subject = transcript_->all()[entry];
        if (replaces_whole(decisions_[entry].fate, subject)) { return size_of_whole(entry); }
        Extent sum;
        auto add = [&](const Edit& edit) {
            sum += edit.part != none ? transcript_->serialised(transcript_->parts[edit.part])
                                     : transcript_->serialised(transcript_->fields[edit.field]);
        };
        for_each_edit_of(entry, add);
        return sum;
    }

    // Where the size of this entry's message has gone into, if it was measured.
    Extent* measured_size(std::size_t entry) {
        const std::size_t message = transcript_->all()[entry].message;
        if (message >= measured_) { return nullptr; }
        return message < horizon_ ? &open_size_ : &newer_size_;
    }

    bool exceeds(Size limit, std::size_t messages) {
        const Extent frame = transcript_->body_until(0);
        const auto size = [&] { return frame + open_size_ + (messages > horizon_ ? newer_size_ : Extent{}); };
        while (measured_ < messages && !size().exceeds(limit)) { measure_next_message(); }
        return size().exceeds(limit);
    }

    // With what is planned for it, so that what goes is not measured for the sake of what stays.
    void measure_next_message() {
        replaced_.clear();
        Extent size = ascii(measured_ == 0 ? 0 : 1);
        const std::size_t end = transcript_->first_entry_of(measured_ + 1);
        for (std::size_t i = transcript_->first_entry_of(measured_); i < end; ++i) {
            if (decisions_[i].fate == Fate::keep) { continue; }
            size += decisions_[i].after;
            auto note = [&](const Edit& edit) {
                if (edit.as == Edit::As::packed) {
                    size -= transcript_->serialised(transcript_->fields[edit.field]);
                } else {
                    replaced_.push_back(edit.node);
                }
                if (edit.as == Edit::As::drop) { size -= ascii(1); }
            };
            for_each_edit_of(i, note);
        }
        size += transcript_->source->serialised(transcript_->messages[measured_].node, replaced_);
        (measured_ < horizon_ ? open_size_ : newer_size_) += size;
        ++measured_;
    }

    void take(std::size_t entry, const Decision& decision, std::string_view reason) {
        const std::size_t first_duplicate = decisions_[entry].first_duplicate;
        undo(entry);
        decisions_[entry] = decision;
        decisions_[entry].reason = reason;
        decisions_[entry].first_duplicate = first_duplicate;
        if (decision.fate != Fate::elide && transcript_->all()[entry].form == Form::pieces) {
            for (auto& [part, piece] : proposed_) {
                changed_parts_[part] = piece;
                changed_parts_[part].reason = reason;
            }
        }
        if (Extent* size = measured_size(entry)) {
            *size -= before(entry);
            *size += decision.after;
        }
    }

    // a stored content stays stored, whatever stands in its place
    void undo(std::size_t entry) {
        const Decision old = decisions_[entry];
        Extent* const size = measured_size(entry);
        if (old.fate != Fate::keep && size != nullptr) {
            *size -= old.after;
            *size += before(entry);
        }
        if (old.fate != Fate::keep && !replaces_whole(old.fate, transcript_->all()[entry])) {
            const Entry& result = transcript_->all()[entry];
            for (std::size_t i = 0; i < result.part_count; ++i) {
                changed_parts_[result.first_part + i] = Piece{};
            }
        }
        decisions_[entry] = Decision{.reference_at = old.reference_at,
                                     .reference_size = old.reference_size,
                                     .first_duplicate = old.first_duplicate};
    }

    void relabel_duplicates(std::size_t original) {
        const std::string_view reason = decisions_[original].reason;
        // a duplicate may have duplicates of its own, to any depth
        relabelled_.assign(1, original);
        while (!relabelled_.empty()) {
            const std::size_t gone = relabelled_.back();
            relabelled_.pop_back();
            std::size_t duplicate = decisions_[gone].first_duplicate;
            decisions_[gone].first_duplicate = none;
            while (duplicate != none) {
                const std::size_t next = decisions_[duplicate].next_duplicate;
                const std::string_view own_reason = decisions_[duplicate].reason;
                undo(duplicate);
                const std::size_t mark = texts_.size();
                Decision decision;
                if (propose_stub(duplicate, false, false, decision)) {
                    take(duplicate, decision, reason.empty() ? own_reason : reason);
                    relabelled_.push_back(duplicate);
                } else {
                    texts_.resize(mark);
                }
                duplicate = next;
            }
        }
    }

    const Transcript* transcript_ = nullptr;
    detail::AnyWording wording_;
    std::vector<detail::AnyGuard> guards_;
    std::vector<Decision> decisions_;
    std::vector<Piece> changed_parts_;
    std::vector<Piece> changed_fields_;
    std::string texts_;
    std::optional<CeilingOutcome> ceiling_;
    // With what is planned for them, the messages before `measured_` have these sizes, up to the horizon and
    // behind.
    std::size_t horizon_ = 0;
    std::size_t open_from_ = 0;  // the message with which the open tool loop begins
    std::size_t measured_ = 0;
    bool refused_ = false;  // to drop the reasoning of this turn
    bool refused_while_ = false;
    std::size_t refused_turn_ = 0;
    std::size_t withdrawn_ = 0;
    Extent open_size_{};
    Extent newer_size_{};
    std::vector<Node> replaced_;
    std::vector<std::pair<std::size_t, Piece>> proposed_;  // parts of the result that was looked at last
    std::vector<std::size_t> relabelled_;
    Scratch scratch_;
    CallView call_;
    // decoding buffers, kept for their capacity
    std::string worded_, spelled_;
    std::string tool_, identity_, first_, last_, kept_last_, joined_, reference_;
};

}  // namespace coppice
