// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>

namespace coppice::inline v0 {

/// The horizon is now: policies see the whole history with every request, once the body has `engage`.
/// Right where there is no prompt cache; elsewhere each request rewrites what the provider had cached.
template <Size Engage = Size{0}>
struct EveryRequest {
    static constexpr std::string_view name = "every_request";
    struct State {};

    Size engage = Engage;  ///< smaller bodies stay as they are; of the body as compact JSON

    bool moves(State&, const Request& request) const { return request.body_at_least(engage); }
};
static_assert(cadence<EveryRequest<>>);

}  // namespace coppice
