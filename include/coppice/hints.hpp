// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/transcript.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// What a host knows of single calls and the history does not say. A call and its result are named by their id; where
/// it repeats, all are meant. Calls without an id have no hints, and ids that no call has do nothing.
///
///     const std::array hints = {coppice::Hint{"toolu_1", coppice::Hint::Kind::pin},
///                               coppice::Hint{"toolu_2", coppice::Hint::Kind::useless, body["messages"].size()}};
///     coppice::Inputs inputs;
///     inputs.hints = hints;
///     coppice::prune(body, pruner, inputs);
///
/// A hint that comes after the result was sent says with `messages` since when it is known, as notes of a ledger do: it
/// changes nothing of what was sent before the cadence lets the history change next. Given again with each later
/// request, it keeps what was sent the beginning of what is sent. So a result that had been cleared when it was pinned
/// comes back whole with the next rewrite: there is no edit for it any more, and the report says `rewrites` with
/// `first_rewritten_message` at its place or before. Two things stay as they were sent: what was shaped on arrival
/// (`Spill`, `CapOnArrival`), and, on models that bind thinking, all that was cleared, since thinking that came later
/// would be invalid. A history fed back pruned may not have, at the requests before, what made the cadence say yes at the
/// same one: with a late hint, and a cadence that weighs, it may change once more. Without `messages` a hint holds for the whole history at once, whatever the cadence says.
struct Hint {
    /// What a host knows of a call.
    enum class Kind : std::uint8_t {
        pin,          ///< never changed, by no policy; goes before the other two
        useless,      ///< nobody needs the result: `ClearHinted` clears it even where it is the newest
        regenerable,  ///< the same call would give it again: of these, `ClearHinted` keeps only the newest
    };

    std::string_view id{};     ///< not owned
    Kind kind = Kind::pin;     ///< what is known
    std::size_t messages = 0;  ///< of the request from which on this is known
};

namespace detail {

/// The hints of one call, found by id.
class HintIndex {
public:
    void start(std::span<const Hint> hints) {
        known_.clear();
        for (const Hint& hint : hints) {
            if (hint.id.empty()) { continue; }
            Known& known = known_.emplace_back(Known{.id = hint.id});
            known.since[static_cast<std::size_t>(hint.kind)] = hint.messages;
        }
        std::sort(known_.begin(), known_.end(), [](const Known& a, const Known& b) { return a.id < b.id; });
        std::size_t last = 0;
        for (std::size_t i = 1; i < known_.size(); ++i) {
            if (known_[i].id == known_[last].id) {
                merge(known_[last].since, known_[i].since);
            } else {
                known_[++last] = known_[i];
            }
        }
        if (!known_.empty()) { known_.resize(last + 1); }
    }

    /// Tells the calls and results of a transcript what is known of them.
    void apply(Transcript& transcript) {
        if (known_.empty()) { return; }
        find_turns(transcript);
        for (Entry& result : transcript.all()) {
            if (result.kind != Kind::result || result.peer == none) { continue; }
            Entry& call = transcript.all()[result.peer];
            Since since = find(call.id);
            // the one or the other may have none
            if (!same_text(call.id, result.id)) { merge(since, find(result.id)); }
            const auto from = [&](Hint::Kind kind) {
                const std::size_t messages = since[static_cast<std::size_t>(kind)];
                if (messages >= turns_.size()) { return none; }
                // known when the result was first sent is known always
                return turns_[messages] <= turns_[result.message + 1] ? 0 : turns_[messages];
            };
            for (Entry* entry : {&call, &result}) {
                entry->pinned_from = from(Hint::Kind::pin);
                entry->useless_from = from(Hint::Kind::useless);
                entry->regenerable_from = from(Hint::Kind::regenerable);
            }
        }
    }

private:
    using Since = std::array<std::size_t, 3>;  // by kind, in messages
    struct Known {
        std::string_view id{};
        Since since{none, none, none};
    };

    static void merge(Since& into, const Since& other) {
        for (std::size_t i = 0; i < into.size(); ++i) { into[i] = std::min(into[i], other[i]); }
    }
    Since find(Text id) const {
        const auto before = [](const Known& known, Text wanted) { return compare_text(known.id, wanted) < 0; };
        const auto at = std::lower_bound(known_.begin(), known_.end(), id, before);
        return at != known_.end() && same_text(at->id, id) ? at->since : Since{none, none, none};
    }

    // For each number of messages, where what the model has not answered begins: no horizon lies between the two, and
    // a request that moves it has all messages from there on.
    void find_turns(const Transcript& transcript) {
        turns_.assign(1, 0);
        for (const Message& message : transcript.messages) {
            turns_.push_back(message.role == Role::assistant ? turns_.size() : turns_.back());
        }
    }

    std::vector<Known> known_;
    std::vector<std::size_t> turns_;
};

}  // namespace detail
}  // namespace coppice
