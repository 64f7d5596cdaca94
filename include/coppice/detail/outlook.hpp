// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>
#include <coppice/detail/running_sums.hpp>
#include <coppice/plan.hpp>
#include <coppice/transcript.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// Something that a rewrite changed, by the numbers of the whole transcript.
struct Change {
    std::size_t entry = none;
    Fate fate = Fate::keep;
    std::size_t field = none;     ///< of a call, counted from its first one
    std::size_t head = 0;         ///< of a clipped result, code points
    std::size_t tail = 0;
    std::string_view reason{};
};

/// What a rewrite would come to, request after request, without planning the whole history for each.
///
/// Policies are run on a part of the transcript: what may still change at all. What a rewrite has taken away leaves it,
/// so that it stays about as large as what they keep, and is written down: later rewrites only add to it.
class Outlook {
public:
    /// `arrived` holds what has been done to results as they arrived. What has fewer than `least_bytes` is not worth a look,
    /// and never changes.
    void start(const Transcript& whole, const Plan* arrived, std::size_t least_bytes) {
        whole_ = &whole;
        arrived_ = arrived;
        part_.narrow(whole, gone_);
        numbers_.clear();
        gone_.start(whole.messages.size());
        gone_size_ = {};
        open_ = cached_ = looked_at_ = planned_ = 0;
        reclaim_removed_ = 0;
        first_ = none;
        changes_.clear();
        left_stubs_ = false;
        field_numbers_.clear();
        least_bytes_ = least_bytes;
        ceiling_.reset();
        fixed_thinking_ = {};
        has_fixed_thinking_ = false;
        last_reasoning_ = none;
    }

    /// Goes on to the next request, at which the first `open` messages might be rewritten. The request before it had
    /// `cached` messages.
    void see(std::size_t open, std::size_t cached) {
        cached_ = cached;
        if (open <= open_) { return; }
        append(whole_->first_entry_of(open_), whole_->first_entry_of(open));
        open_ = open;
    }

    /// Whether it is time to look anew at the request of this number: how often, depends on how much there is to look at.
    bool is_due(std::size_t number) const {
        constexpr std::size_t entries_a_request = 64;
        return number % std::bit_ceil(part_.all().size() / entries_a_request + 1) == 0;
    }

    /// `plan_part(Transcript&)` runs the policies and answers with their plan.
    template <class PlanPart>
    void look(PlanPart plan_part) {
        if (looked_at_ == open_) { return; }
        looked_at_ = open_;
        const Plan& plan = plan_anew(plan_part);
        reclaim_removed_ = 0;
        first_ = none;
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            if (plan.fate(i) == Fate::keep) { continue; }
            reclaim_removed_ += plan.surely_saved_eighths(i);
            first_ = std::min(first_, numbers_[i]);
        }
    }

    std::size_t removed() const { return reclaim_removed_; }

    /// Whether there is time for a look or a rewrite that does not wait for its turn: not where thousands of entries
    /// stay open at each of thousands of requests, since all looks together would take a time that grows with the
    /// square of the history.
    bool can_afford(std::size_t number) const {
        constexpr std::size_t entries_a_request = 256;
        constexpr std::size_t entries_at_once = 500'000;
        return planned_ + part_.all().size() <= entries_at_once + number * entries_a_request;
    }
    /// The first entry that a rewrite would change, as far as the last look tells.
    std::size_t first() const { return first_; }

    /// What stays behind the first change of what was cached.
    std::size_t rewritten(const CacheRules& rules) const {
        if (first_ == none) { return 0; }
        const std::size_t cached = eighths(cached_);
        if (cached / 8 < rules.minimum_tokens) { return 0; }
        // Entries stand at the breakpoints of earlier requests. Those that hold what the rewrite before this one changed
        // are of no use, and where that was, a body that has been pruned does not say: none is counted on.
        const bool found = rules.look_back == 0;
        std::size_t served = eighths(found ? whole_->all()[first_].message : 0);
        if (served / 8 < rules.minimum_tokens) { served = 0; }
        const std::size_t gone = served + reclaim_removed_;
        return cached > gone ? cached - gone : 0;
    }

    /// The body at a request of the past or of now, as it is after the rewrites so far.
    std::size_t eighths(std::size_t messages) const {
        return whole_->eighths_until(messages) - gone_.until(messages);
    }

    /// Rewrites: what the policies take away is gone.
    template <class PlanPart>
    void rewrite(PlanPart plan_part) {
        Plan& plan = plan_anew(plan_part);
        // a later rewrite may take the copy that a stub points at, and what was rewritten is not rewritten again
        plan.make_duplicates_ordinary();
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            if (plan.fate(i) == Fate::keep) { continue; }
            gone_.add(part_.all()[i].message, plan.saved_eighths(i));
            gone_size_ += plan.saved(i);
            write_down(plan, i);
        }
        leave_out_what_is_gone(plan);
        ceiling_ = plan.ceiling();
        reclaim_removed_ = 0;
        first_ = none;
        looked_at_ = open_;
    }

    /// All that rewrites changed, in their order.
    const std::vector<Change>& changes() const { return changes_; }
    /// Whether one of them can be seen in the body: what is dropped, or was the user's, leaves nothing that tells.
    bool left_stubs() const { return left_stubs_; }
    /// What the last of them came to, where a ceiling was looked at.
    const std::optional<CeilingOutcome>& ceiling() const { return ceiling_; }

private:
    void write_down(const Plan& plan, std::size_t i) {
        const Entry& entry = part_.all()[i];
        Change change{.entry = numbers_[i], .fate = plan.fate(i), .reason = plan.reason(i)};
        const bool emptied = change.fate == Fate::elide && entry.form == Form::pieces;
        left_stubs_ = left_stubs_ || (!emptied && (entry.kind == Kind::call || entry.kind == Kind::result));
        if (change.fate == Fate::clip) {
            change.head = plan.clipped_head(i);
            change.tail = plan.clipped_tail(i);
        }
        if (change.fate != Fate::clear_fields) {
            changes_.push_back(change);
            return;
        }
        for (std::size_t field = entry.first_field; field < entry.first_field + entry.field_count; ++field) {
            if (!plan.changes_field(field)) { continue; }
            change.field = field_numbers_[field] - whole_->all()[change.entry].first_field;
            change.reason = plan.field_reason(field);
            changes_.push_back(change);
        }
    }

    template <class PlanPart>
    Plan& plan_anew(PlanPart plan_part) {
        planned_ += part_.all().size();
        part_.widen(*whole_, open_, whole_->body_until(open_) - gone_size_);
        part_.bound_until = fixed_thinking_;
        part_.may_drop_thinking = !has_fixed_thinking_;
        Plan& plan = plan_part(part_);
        // a guard kept more of it
        if (fixed_thinking_ < part_.bound_until) {
            fixed_thinking_ = part_.bound_until;
            has_fixed_thinking_ = true;
        }
        return plan;
    }

    // Whether anything of a call or result may still change, and is worth it.
    bool is_open(const Transcript& transcript, const Entry& entry) const {
        if (entry.immutable) { return false; }
        if (entry.kind == Kind::call) {
            for (const Field& field : transcript.fields_of(entry)) {
                if (field.text.at_least(Size{least_bytes_})) { return true; }
            }
            return false;
        }
        if (entry.stub || entry.form == Form::absent) { return false; }
        if (entry.images > 0) { return true; }
        if (entry.form != Form::string && entry.form != Form::blocks) {
            return transcript.least_bytes(entry) >= least_bytes_;
        }
        return transcript.at_least(entry, Size{least_bytes_});
    }

    void append(std::size_t first, std::size_t end) {
        fresh_.clear();
        for (std::size_t i = first; i < end; ++i) {
            const Entry& entry = whole_->all()[i];
            if (entry.kind == Kind::reasoning && !entry.removable) {
                fixed_thinking_ = {entry.message, entry.block};
                has_fixed_thinking_ = true;
            }
            if (arrived_ != nullptr && arrived_->fate(i) != Fate::keep) {
                gone_.add(entry.message, arrived_->saved_eighths(i));
                gone_size_ += arrived_->saved(i);
            }
            if (entry.kind == Kind::result) {
                // a call without a result, and a result without its call, stay
                if (entry.peer == none) { continue; }
                if (is_open(*whole_, entry) || is_open(*whole_, whole_->all()[entry.peer])) {
                    fresh_.push_back(entry.peer);
                    fresh_.push_back(i);
                }
            } else if (entry.kind == Kind::reasoning ? shows(i) : entry.kind != Kind::call && entry.images > 0) {
                fresh_.push_back(i);
            }
        }
        std::sort(fresh_.begin(), fresh_.end());
        const std::size_t offset = numbers_.size();
        for (const std::size_t number : fresh_) {
            numbers_.push_back(number);
            Entry& entry = part_.add();
            entry = whole_->all()[number];
            const bool from_arrival = arrived_ != nullptr && arrived_->fate(number) != Fate::keep;
            const auto stays = [](std::size_t) { return false; };
            for (std::size_t i = 0; i < entry.field_count; ++i) { field_numbers_.push_back(entry.first_field + i); }
            copy_parts(*whole_, entry, part_.parts, part_.fields, stays, stays);
            if (entry.peer != none) {
                const auto peer = std::lower_bound(fresh_.begin(), fresh_.end(), entry.peer);
                entry.peer = offset + static_cast<std::size_t>(peer - fresh_.begin());
            }
            entry.capped = entry.capped || (from_arrival && arrived_->fate(number) == Fate::cap);
            if (from_arrival && entry.form != Form::pieces) {
                Part text = part_.parts[entry.first_part];
                text.text = MeasuredText(Text(arrived_->text(number)));
                text.plain = !text.bare;
                part_.parts.resize(entry.first_part);
                part_.parts.push_back(text);
                entry.part_count = 1;
                entry.hash = 0;
                if (arrived_->spilled(number)) { entry.reference = Text(arrived_->reference(number)); }
            }
        }
    }

    // Copies parts and fields to the end of `parts` and `fields`, images that went as stubs, fields that went not at all.
    template <class PartGone, class FieldGone>
    static void copy_parts(const Transcript& from, Entry& entry, std::vector<Part>& parts,
                           std::vector<Field>& fields, PartGone part_gone, FieldGone field_gone) {
        const std::size_t first_part = parts.size();
        for (std::size_t i = entry.first_part; i < entry.first_part + entry.part_count; ++i) {
            Part part = from.parts[i];
            if (part_gone(i)) {
                entry.images -= part.kind == Part::Kind::image;
                entry.others -= part.kind == Part::Kind::other;
                ++entry.elided;
                part.kind = Part::Kind::stub;
            }
            parts.push_back(part);
        }
        const std::size_t first_field = fields.size();
        for (std::size_t i = entry.first_field; i < entry.first_field + entry.field_count; ++i) {
            // of a result in pieces they are the names of the parts
            if (entry.kind == Kind::call && field_gone(i)) {
                note_cleared(entry, from.fields[i]);
            } else {
                fields.push_back(from.fields[i]);
            }
        }
        entry.first_part = first_part;
        entry.first_field = first_field;
        entry.field_count = fields.size() - first_field;
    }

    void leave_out_what_is_gone(const Plan& plan) {
        entries_.clear();
        parts_.clear();
        fields_.clear();
        std::size_t fields_left = 0;
        places_.assign(numbers_.size(), none);
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            Entry entry = part_.all()[i];
            if (plan.fate(i) == Fate::drop) { continue; }
            for (std::size_t field = entry.first_field; field < entry.first_field + entry.field_count; ++field) {
                if (entry.kind == Kind::call && plan.changes_field(field)) { continue; }
                field_numbers_[fields_left++] = field_numbers_[field];
            }
            const std::size_t first_part = entry.first_part;
            copy_parts(part_, entry, parts_, fields_, [&](std::size_t part) { return plan.changes_part(part); },
                       [&](std::size_t field) { return plan.changes_field(field); });
            for (std::size_t part = 0; part < entry.part_count; ++part) {
                if (entry.form == Form::pieces || !plan.changes_part(first_part + part)) { continue; }
                // of an image, the stub is there from now on
                parts_[entry.first_part + part].plain = true;
                parts_[entry.first_part + part].text = MeasuredText(part_.keep(plan.part_text(first_part + part)));
            }
            if (is_stub(plan.fate(i))) {
                entry.stub = true;
                entry.images = entry.others = entry.documents = 0;
                for (std::size_t part = entry.first_part; part < parts_.size(); ++part) {
                    parts_[part].kind = Part::Kind::stub;
                }
            }
            places_[i] = entries_.size();
            entries_.push_back(entry);
        }
        field_numbers_.resize(fields_left);
        part_.exchange(parts_, fields_);
        part_.exchange(entries_);
        keep_what_may_change();
    }

    // Of pairs with neither a result nor an input that is worth it, nothing may change any more.
    void keep_what_may_change() {
        const std::span<Entry> entries = part_.all();
        entries_.clear();
        std::size_t kept = 0;
        moved_to_.assign(entries.size(), none);
        const auto may_change = [&](const Entry& entry) {
            if (entry.kind != Kind::call && entry.kind != Kind::result) {
                return entry.images > 0 || entry.kind == Kind::reasoning;
            }
            const std::size_t peer = places_[entry.peer];
            return is_open(part_, entry) || (peer != none && is_open(part_, entries[peer]));
        };
        for (std::size_t i = 0; i < numbers_.size(); ++i) {
            if (places_[i] == none || !may_change(entries[places_[i]])) { continue; }
            moved_to_[places_[i]] = kept;
            entries_.push_back(entries[places_[i]]);
            numbers_[kept++] = numbers_[i];
        }
        numbers_.resize(kept);
        for (Entry& entry : entries_) {
            if (entry.peer != none) { entry.peer = moved_to_[places_[entry.peer]]; }
        }
        part_.exchange(entries_);
    }

    // Reasoning that may go, and of what may not, the first after that and of each turn of the user: policies have to
    // stop at it, and what may not go stays with all that is thought in its turn.
    bool shows(std::size_t number) {
        const auto turn = [&](std::size_t entry) { return whole_->messages[whole_->all()[entry].message].user_turn_at; };
        const bool same = last_reasoning_ != none && !whole_->all()[last_reasoning_].removable &&
                          turn(last_reasoning_) == turn(number);
        last_reasoning_ = number;
        return whole_->all()[number].removable || !same;
    }

    const Transcript* whole_ = nullptr;
    const Plan* arrived_ = nullptr;
    Transcript part_;
    std::vector<std::size_t> numbers_;  // of the entries of the part, in the whole
    RunningSums gone_;                  // eighths of tokens, by message
    Extent gone_size_{};
    std::size_t open_ = 0;
    std::size_t cached_ = 0;
    std::size_t looked_at_ = 0;
    std::size_t planned_ = 0;  // entries, in all plans so far
    std::size_t reclaim_removed_ = 0;
    std::size_t first_ = none;
    std::vector<Change> changes_;
    bool left_stubs_ = false;
    std::vector<std::size_t> field_numbers_;  // of the fields of the part, in the whole
    std::size_t least_bytes_ = 0;
    std::optional<CeilingOutcome> ceiling_;
    Transcript::Place fixed_thinking_{};
    bool has_fixed_thinking_ = false;
    std::size_t last_reasoning_ = none;
    // kept for their capacity
    std::vector<std::size_t> fresh_, places_, moved_to_;
    std::vector<Entry> entries_;
    std::vector<Part> parts_;
    std::vector<Field> fields_;
};

}  // namespace coppice::detail
