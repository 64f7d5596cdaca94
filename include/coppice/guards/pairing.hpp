// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

namespace coppice {

/// A call and its result live and die together: the input of a call without an answer, and a result
/// without its call, stay as they are. Pairs are found by position, not by id alone
/// (earendil-works/pi #4570, NousResearch/hermes-agent #58327).
struct Pairing {
    static constexpr std::string_view name = "pairing";

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        return transcript.all()[proposal.entry].peer != none;
    }
};
static_assert(guard<Pairing>);

}  // namespace coppice
