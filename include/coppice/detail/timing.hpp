// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>
#include <coppice/detail/outlook.hpp>
#include <coppice/ledger.hpp>
#include <coppice/transcript.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace coppice::inline v0::detail {

/// What the fold over the requests came to.
struct Timing {
    std::size_t horizon = 0;
    bool moved = false;              ///< with the last request
    std::size_t horizon_before = 0;  ///< where it stood before that
    std::size_t cached = 0;          ///< messages of the request before the last
    bool keeps_changes = false;      ///< of the outlook; they are all there is,
    std::size_t loose_horizon = 0;   ///< beside what was planned up to here before the model was known to bind thinking
    std::size_t first_change = 0;
    std::size_t changes = 0;         ///< so many were made
    std::size_t changes_before = 0;  ///< and before the last request
    std::size_t next_change = none;  ///< the first entry that the next rewrite would change, as far as that is known
    bool waits_for_user = false;     ///< the cadence has said yes, and only a turn of the user allows it
    bool cold = false;  ///< nothing was cached when the last request was sent
    bool saturated = false;
    double tokens_an_eighth = 0.125;
};

/// Estimated tokens, corrected by what the provider billed before.
class TokenScale {
public:
    std::size_t tokens(std::size_t eighths) const {
        return static_cast<std::size_t>(static_cast<double>(eighths) * an_eighth_);
    }
    void learn(std::size_t billed, std::size_t eighths) {
        // what is further off was billed for something else
        constexpr double most = 4;
        if (eighths == 0) { return; }
        const double found = static_cast<double>(billed) / static_cast<double>(eighths);
        an_eighth_ = std::clamp(found, 0.125 / most, 0.125 * most);
    }
    double an_eighth() const { return an_eighth_; }

private:
    double an_eighth_ = 0.125;
};

/// The ledger, read along with the requests.
class LedgerReader {
public:
    explicit LedgerReader(const Ledger* ledger) : ledger_(ledger) {}

    /// Goes on to the request with this many messages.
    void go_to(std::size_t messages) {
        cold_ = false;
        billed_.reset();
        if (ledger_ == nullptr) { return; }
        const auto& notes = ledger_->notes();
        for (; next_ < notes.size() && notes[next_].messages <= messages; ++next_) {
            const Ledger::Note& note = notes[next_];
            if (note.limit) { limit_ = *note.limit; }
            cold_ = cold_ || note.cold;
            if (note.messages == messages) { billed_ = note.billed; }
        }
    }
    bool cold() const { return cold_; }
    std::optional<std::size_t> billed() const { return billed_; }
    std::size_t limit() const { return limit_; }

private:
    const Ledger* ledger_;
    std::size_t next_ = 0;
    std::size_t limit_ = none;
    bool cold_ = false;
    std::optional<std::size_t> billed_{};
};

/// The message at which a person began to speak in this request, `none` where it only brings results.
inline std::size_t user_turn_of(const Transcript& transcript, std::size_t messages) {
    for (std::size_t i = messages; i-- > 0 && transcript.messages[i].role != Role::assistant;) {
        if (transcript.starts_user_turn(i)) { return i; }
    }
    return none;
}

/// Weighs rewrites for a cadence and for the ledger. What it needs for that is made when it is asked first.
template <class PlanPart>
class Weighing final : public Prospect {
public:
    /// `plan_part` runs the policies, as the outlook asks; its `arrive()` answers with the plan of what is done to results
    /// as they arrive, or with nothing, and its `least_bytes()` with what is worth a look.
    Weighing(const Transcript& whole, Outlook& outlook, PlanPart& plan_part)
        : whole_(whole), outlook_(outlook), plan_part_(plan_part) {}

    void go_to(std::size_t number, std::size_t open, std::size_t messages, std::size_t cached) {
        number_ = number;
        open_ = open;
        messages_ = messages;
        cached_ = cached;
    }

    /// From the next request on, nothing that was changed may come back. Whether anything was that is not kept.
    bool bind() {
        const bool loose = decided_ && !keeps_;
        bound_ = true;
        keeps_ = decided_;
        if (!loose) { return false; }
        catch_up();
        first_change_ = outlook_.changes().size();
        return true;
    }

    Reclaim reclaim(const CacheRules& rules) override {
        catch_up();
        if (outlook_.is_due(number_)) { outlook_.look(plan_part_); }
        return {.removed = scale.tokens(outlook_.removed()),
                .rewritten = scale.tokens(outlook_.rewritten(rules.resolved(whole_.dialect)))};
    }
    std::size_t pruned_tokens() override { return scale.tokens(eighths_now()); }
    bool left_stubs() override {
        catch_up();
        return outlook_.left_stubs();
    }

    std::size_t eighths_now() {
        catch_up();
        return outlook_.eighths(messages_);
    }
    /// What could go now, however little time it is since the last look, as long as it can be afforded.
    std::size_t removed_now() {
        catch_up();
        if (can_afford()) { outlook_.look(plan_part_); }
        return scale.tokens(outlook_.removed());
    }

    /// Whether what rewrites changed is all that changes, and stays changed: where somebody weighed before the first one.
    /// Otherwise each plan starts from scratch, and nobody need know what the one before it was.
    bool keeps_changes() const { return decided_ ? keeps_ : weighed(); }
    /// Whether there is time for a rewrite at this request.
    bool can_rewrite() const { return !keeps_changes() || can_afford(); }

    void rewrite() {
        keeps_ = keeps_changes();
        decided_ = true;
        unseen_ = open_;
        if (keeps_) { catch_up(); }
    }

    std::size_t next_change() const { return started_ ? outlook_.first() : none; }
    std::size_t first_change() const { return first_change_; }
    std::size_t changes() const { return keeps_ ? outlook_.changes().size() : 0; }

    TokenScale scale;

private:
    bool can_afford() const { return !started_ || outlook_.can_afford(number_); }
    bool weighed() const { return bound_ || started_; }

    // Rewrites that nobody had asked about are made up for as one.
    void catch_up() {
        if (!started_) { outlook_.start(whole_, plan_part_.arrive(), plan_part_.least_bytes()); }
        started_ = true;
        if (unseen_ > 0) {
            if (!keeps_ && !can_afford()) { return; }
            outlook_.see(unseen_, cached_);
            outlook_.rewrite(plan_part_);
            unseen_ = 0;
        }
        outlook_.see(open_, cached_);
    }

    const Transcript& whole_;
    Outlook& outlook_;
    PlanPart& plan_part_;
    bool started_ = false;
    bool bound_ = false;
    bool decided_ = false;
    bool keeps_ = false;
    std::size_t number_ = 0;
    std::size_t open_ = 0;
    std::size_t messages_ = 0;
    std::size_t cached_ = 0;
    std::size_t first_change_ = 0;
    std::size_t unseen_ = 0;  // where a rewrite was that the outlook does not know yet
};

/// Asks the cadence at every request of the history.
template <cadence Cadence, class PlanPart>
Timing find_timing(const Transcript& transcript, const Cadence& chosen, const Ledger* ledger, Outlook& outlook,
                   PlanPart& plan_part) {
    Timing timing;
    typename Cadence::State state{};
    LedgerReader notes(ledger);
    Weighing<PlanPart> weighing(transcript, outlook, plan_part);
    std::size_t before = 0;
    bool due = false;
    bool bound = false;
    for_each_request(transcript, [&](Request& request) {
        if (!bound && transcript.binds_thinking && request.messages > transcript.binds_from) {
            bound = true;
            if (weighing.bind()) { timing.loose_horizon = timing.horizon; }
        }
        const std::size_t user_turn = bound ? user_turn_of(transcript, request.messages) : request.messages;
        const bool may_move = user_turn != none && user_turn > 0;
        request.prospect = &weighing;
        request.may_change = may_move;
        weighing.go_to(request.number, may_move ? user_turn : request.messages, request.messages, before);
        notes.go_to(request.messages);
        due = chosen.moves(state, request) || due;
        bool forced = false;
        timing.saturated = false;
        if constexpr (requires { chosen.saturated(state); }) { timing.saturated = chosen.saturated(state); }
        timing.cold = notes.cold();
        if (timing.cold) { forced = weighing.removed_now() > 0; }
        if (notes.limit() != none && weighing.pruned_tokens() > notes.limit()) {
            const std::size_t body = weighing.pruned_tokens();
            // what could go later is no help now
            const std::size_t removed = may_move ? weighing.removed_now() : 0;
            const bool reached = body <= notes.limit() + removed;
            forced = forced || (removed > 0 && (reached || removed >= body / 16));
            timing.saturated = timing.saturated || !reached;
        }
        timing.moved = may_move && (due || forced) && weighing.can_rewrite();
        timing.cached = before;
        if (timing.moved) {
            timing.horizon_before = timing.horizon;
            timing.horizon = user_turn;
            timing.changes_before = weighing.changes();
            weighing.rewrite();
            due = false;
            if constexpr (requires { chosen.moved(state, request); }) { chosen.moved(state, request); }
        }
        // it moves only where it would, whatever the model
        if (transcript.guesses_binding) { due = false; }
        if (notes.billed()) { weighing.scale.learn(*notes.billed(), weighing.eighths_now()); }
        before = request.messages;
    });
    timing.waits_for_user = due && transcript.binds_thinking && weighing.removed_now() > 0;
    timing.keeps_changes = weighing.keeps_changes();
    timing.first_change = weighing.first_change();
    timing.changes = weighing.changes();
    timing.next_change = weighing.next_change();
    if (!timing.moved) { timing.changes_before = timing.changes; }
    timing.tokens_an_eighth = weighing.scale.an_eighth();
    return timing;
}

}  // namespace coppice::detail
