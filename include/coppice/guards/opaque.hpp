// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

namespace coppice::inline v0 {

/// Signed and opaque values keep their bytes: thinking, server tools, blocks of an unknown type, and whatever
/// else the dialect marks as immutable (answers to programmatic calls, loaded tool references). Thinking may leave as
/// a whole where the provider lets it go, but not in the tool loop that is open (Kilo-Org/kilocode #5219).
struct Opaque {
    static constexpr std::string_view name = "opaque";

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        const Entry& entry = transcript.all()[proposal.entry];
        const bool image_of_user = entry.kind == Kind::user_text && proposal.fate == Fate::elide;
        if (proposal.fate == Fate::drop) {
            return entry.kind == Kind::reasoning && entry.removable && entry.message < transcript.open_loop_from();
        }
        const bool known = entry.kind == Kind::result || entry.kind == Kind::call || image_of_user;
        return known && !entry.immutable;
    }
};
static_assert(guard<Opaque>);

}  // namespace coppice
