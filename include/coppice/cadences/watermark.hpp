// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>

#include <stdexcept>

namespace coppice::inline v0 {

/// The horizon moves when the pruned body has grown past `high` tokens and at least `high - low` can go, so that it is
/// near `low` afterwards and many requests fit before the next rewrite. Where what cannot be cleared keeps the body over
/// the mark, nothing is rewritten for less (QwenLM/qwen-code #8464, NousResearch/hermes-agent #53008): the report says
/// that the cadence is saturated.
template <std::size_t High = 100'000, std::size_t Low = High / 2>
struct Watermark {
    static constexpr std::string_view name = "watermark";
    /// What it remembers from request to request.
    struct State {
        bool saturated = false;  ///< at the request that was asked last
    };

    std::size_t high = High;  ///< tokens, estimated
    std::size_t low = Low;    ///< tokens that it goes down to

    constexpr void validate() const {
        if (low >= high) { throw std::invalid_argument("coppice::Watermark: `low` must be less than `high`"); }
    }
    bool moves(State& state, const Request& request) const {
        state.saturated = false;
        if (request.pruned_tokens() <= high) { return false; }
        const bool enough = request.reclaim().removed >= high - low;
        state.saturated = !enough || !request.may_change;
        return enough;
    }
    /// Whether what cannot go keeps the body over the high mark.
    bool saturated(const State& state) const { return state.saturated; }
};
static_assert(cadence<Watermark<>>);

}  // namespace coppice
