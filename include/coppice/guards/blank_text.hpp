// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

namespace coppice::inline v0 {

/// Nothing blank is ever written: providers reject empty and white-space-only text
/// (bytedance/trae-agent #230, anthropics/claude-code #23440).
struct BlankText {
    static constexpr std::string_view name = "blank_text";

    bool allows(const Transcript&, const Proposal& proposal) const {
        // of what is dropped, nothing is written
        return proposal.fate == Fate::drop || !trimmed(proposal.text).empty();
    }
};
static_assert(guard<BlankText>);

}  // namespace coppice
