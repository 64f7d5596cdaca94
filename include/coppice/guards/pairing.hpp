// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

namespace coppice::inline v0 {

/// A call and its result live and die together: the input of a call without an answer, and a result
/// without its call, stay as they are. Images of the user's and thinking have no other half. Pairs are found by
/// position, not by id alone (earendil-works/pi #4570, NousResearch/hermes-agent #58327).
struct Pairing {
    static constexpr std::string_view name = "pairing";

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        const Entry& entry = transcript.all()[proposal.entry];
        return entry.peer != none || (entry.kind == Kind::user_text && proposal.fate == Fate::elide) ||
               (entry.kind == Kind::reasoning && proposal.fate == Fate::drop);
    }
};
static_assert(guard<Pairing>);

}  // namespace coppice
