// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

namespace coppice {

/// What the model has not read yet stays whole: results after the last assistant message, and the inputs of
/// their calls. Storing a result elsewhere is allowed: it depends on the result alone, so that the model
/// never sees it otherwise.
struct Unread {
    static constexpr std::string_view name = "unread";

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        return proposal.assume_read || proposal.fate == Fate::spill ||
               !transcript.unread(transcript.all()[proposal.entry]);
    }
};
static_assert(guard<Unread>);

}  // namespace coppice
