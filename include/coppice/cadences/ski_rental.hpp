// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>
#include <coppice/tokens.hpp>

#include <cstddef>
#include <limits>

namespace coppice::inline v0 {

/// The horizon moves when carrying the old weight along has cost as much as a rewrite does.
///
/// With each request, what could be cleared costs its price as read from the cache; that goes into an account. A rewrite
/// costs what stays behind the first change once more: the difference between writing and reading it. When the account
/// has that much, everything clearable goes and the account starts anew, as who rents skis buys them when the rent has
/// come to their price: at most twice what would have been best, whatever the session does next (Karlin, Manasse, Rudolph
/// and Sleator, Competitive snoopy caching, 1988). There is no threshold to tune; where reading costs as much as writing
/// it moves with every request that has something to clear.
template <Prices Billed = prices::anthropic, Size Engage = Size{0}, CacheRules Rules = CacheRules{}>
struct SkiRental {
    static constexpr std::string_view name = "ski_rental";
    /// What it remembers from request to request.
    struct State {
        std::size_t account = 0;  ///< thousandths of a token
    };

    coppice::Prices prices = Billed;  ///< what the provider bills
    Size engage = Engage;             ///< smaller bodies stay as they are; of the body as compact JSON
    CacheRules rules = Rules;         ///< how the provider finds cached prefixes

    constexpr void validate() const { prices.validate(); }

    bool moves(State& state, const Request& request) const {
        if (!request.body_at_least(engage)) { return false; }
        const Reclaim reclaim = request.reclaim(rules);
        if (reclaim.removed == 0) { return false; }
        state.account = add_weights(state.account, times(reclaim.removed, prices.read));
        return state.account >= times(reclaim.rewritten, prices.write - prices.read);
    }
    /// A rewrite has come: the account starts anew.
    void moved(State& state, const Request&) const { state.account = 0; }

private:
    static constexpr std::size_t times(std::size_t tokens, std::size_t price) {
        constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
        return price != 0 && tokens > most / price ? most : tokens * price;
    }
};
static_assert(cadence<SkiRental<>>);

}  // namespace coppice
