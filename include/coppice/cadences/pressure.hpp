// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>

#include <cstddef>
#include <stdexcept>

namespace coppice::inline v0 {

/// By how full the context window is, as dsh-context-triage has it: early only where that saves enough, late always.
///
/// Changes when the body, as it is pruned, has `soft` percent of the window and at least `min_savings` tokens can go, or
/// has `hard` percent and any can. A report says `saturated` where what can go leaves `hard` percent or more.
template <std::size_t Window = 1'000'000, std::size_t Soft = 70, std::size_t Hard = 90, std::size_t MinSavings = 2'000>
struct Pressure {
    static constexpr std::string_view name = "pressure";
    /// What it remembers from request to request.
    struct State {
        bool saturated = false;  ///< at the request that was asked last
    };

    std::size_t window = Window;           ///< tokens
    std::size_t soft = Soft;               ///< percent of the window
    std::size_t hard = Hard;               ///< percent of the window
    std::size_t min_savings = MinSavings;  ///< tokens, estimated

    constexpr void validate() const {
        if (window == 0 || window > none / 100) {
            throw std::invalid_argument("coppice::Pressure: `window` is a number of tokens and not 0");
        }
        if (soft == 0 || soft >= hard || hard > 100) {
            throw std::invalid_argument("coppice::Pressure: 0 < `soft` < `hard` <= 100 must hold");
        }
    }
    bool moves(State& state, const Request& request) const {
        state.saturated = false;
        const std::size_t size = request.pruned_tokens();
        if (!fills(size, soft)) { return false; }
        const std::size_t removed = request.reclaim().removed;
        const bool pressed = fills(size, hard);
        state.saturated = pressed && (fills(size - (removed < size ? removed : size), hard) || !request.may_change);
        return removed > 0 && (pressed || removed >= min_savings);
    }
    /// Whether what cannot go keeps the body over the hard share.
    bool saturated(const State& state) const { return state.saturated; }

private:
    constexpr bool fills(std::size_t tokens, std::size_t percent) const {
        return tokens >= window / 100 * percent + (window % 100 * percent + 99) / 100;
    }
};
static_assert(cadence<Pressure<>>);

}  // namespace coppice
