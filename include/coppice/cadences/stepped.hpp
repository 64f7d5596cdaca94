// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>

#include <stdexcept>

namespace coppice::inline v0 {

/// The horizon moves with every `requests`-th request and stands still between: the pruned prefix is
/// rewritten rarely and in batches, and the prompt cache holds meanwhile.
template <std::size_t Requests = 10, Size Engage = Size{0}>
struct Stepped {
    static constexpr std::string_view name = "stepped";
    struct State {};

    std::size_t requests = Requests;  ///< from one change to the next
    Size engage = Engage;             ///< smaller bodies stay as they are; of the body as compact JSON

    constexpr void validate() const {
        if (requests == 0) { throw std::invalid_argument("coppice::Stepped: `requests` must be at least 1"); }
    }
    bool moves(State&, const Request& request) const {
        return request.number % requests == 0 && request.body_at_least(engage);
    }
};
static_assert(cadence<Stepped<>>);

}  // namespace coppice
