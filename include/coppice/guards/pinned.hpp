// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

namespace coppice::inline v0 {

/// What the host has pinned (`Hint::Kind::pin`) stays as it is, call and result, also under a ceiling and on arrival.
/// Where the hint came later than the result, it holds from the next rewrite on.
struct Pinned {
    static constexpr std::string_view name = "pinned";

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        const Entry& entry = transcript.all()[proposal.entry];
        if (entry.pinned_from == 0 || entry.pinned_from == none) { return entry.pinned_from != 0; }
        // the model has never seen it otherwise
        if (is_arrival(proposal.fate)) { return true; }
        // earlier rewrites are repeated here, and what they changed, thinking is bound to
        if (transcript.binds_thinking && !transcript.narrowed()) { return true; }
        return entry.pinned_from > transcript.horizon();
    }
};
static_assert(guard<Pinned>);

}  // namespace coppice
