// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace coppice::inline v0 {

/// From a size on, and after each rewrite only when enough has grown anew: the trigger, the commit gate and the re-arm mark
/// of hermes-agent's prune.
///
/// Changes when the body, as it is pruned, has `trigger` tokens and at least `min_reclaim` of them can go; once a rewrite
/// was, when also `again` can go, which is what has come since. hermes keeps a mark for that in its session (reclaimed, or
/// the trigger, above what was left), which goes with the process and counts messages alone (NousResearch/hermes-agent
/// #101889); here the history tells, and the whole body counts. A host with a limit of its own notes it in the ledger, and
/// what can go goes then, whatever has grown.
template <std::size_t Trigger = 48'000, std::size_t MinReclaim = 4'096, std::size_t Again = Trigger / 2>
struct Regrowth {
    static constexpr std::string_view name = "regrowth";
    /// What it remembers from request to request.
    struct State {
        bool has_stubs = false;     ///< of an earlier pruning
        std::size_t looked_at = 0;  ///< entries, for these
    };

    std::size_t trigger = Trigger;         ///< tokens, estimated; 0: never
    std::size_t min_reclaim = MinReclaim;  ///< tokens, estimated
    std::size_t again = Again;             ///< tokens, estimated

    bool moves(State& state, const Request& request) const {
        if (trigger == 0 || request.pruned_tokens() < trigger) { return false; }
        const std::size_t removed = request.reclaim().removed;
        if (removed == 0 || removed < min_reclaim) { return false; }
        return removed >= again || !(request.left_stubs() || has_stubs(state, request));
    }

private:
    static bool has_stubs(State& state, const Request& request) {
        const std::span<const Entry> all = request.transcript->all();
        const std::size_t end = request.transcript->first_entry_of(request.messages);
        for (; !state.has_stubs && state.looked_at < end; ++state.looked_at) {
            const Entry& entry = all[state.looked_at];
            state.has_stubs = entry.stub || entry.cleared || entry.elided > 0;
        }
        return state.has_stubs;
    }
};
static_assert(cadence<Regrowth<>>);

}  // namespace coppice
