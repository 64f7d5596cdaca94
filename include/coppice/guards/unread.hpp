// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

namespace coppice::inline v0 {

/// What the model has not read yet stays whole: results and images after the last assistant message, and the inputs
/// of the results' calls. What becomes of a result as it arrives is allowed, a preview for instance: it depends on the
/// result alone, so that the model never sees it otherwise.
struct Unread {
    static constexpr std::string_view name = "unread";

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        return proposal.assume_read || is_arrival(proposal.fate) ||
               !transcript.unread(transcript.all()[proposal.entry]);
    }
};
static_assert(guard<Unread>);

}  // namespace coppice
