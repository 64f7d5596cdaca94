// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>

#include <stdexcept>

namespace coppice::inline v0 {

/// The horizon moves when that takes at least `tokens` out of the body: the gate that most tools have, at 20,000 or more.
/// Which number is right depends on the prices (2,000 where the cache halves the price, 20,000 where it takes all but a
/// fortieth off); `SkiRental` finds it by itself.
template <std::size_t Tokens = 10'000, Size Engage = Size{0}>
struct MinReclaim {
    static constexpr std::string_view name = "min_reclaim";
    struct State {};

    std::size_t tokens = Tokens;  ///< estimated
    Size engage = Engage;         ///< smaller bodies stay as they are; of the body as compact JSON

    constexpr void validate() const {
        if (tokens == 0) {
            throw std::invalid_argument("coppice::MinReclaim: `tokens` must be at least 1; EveryRequest moves always");
        }
    }
    bool moves(State&, const Request& request) const {
        return request.body_at_least(engage) && request.reclaim().removed >= tokens;
    }
};
static_assert(cadence<MinReclaim<>>);

}  // namespace coppice
