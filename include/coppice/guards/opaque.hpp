// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

namespace coppice {

/// Signed and opaque values keep their bytes: thinking, server tools, blocks of an unknown type, and whatever
/// else the dialect marks as immutable (answers to programmatic calls, loaded tool references).
struct Opaque {
    static constexpr std::string_view name = "opaque";

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        const Entry& entry = transcript.all()[proposal.entry];
        const bool known = entry.kind == Kind::result || entry.kind == Kind::call;
        return known && !entry.immutable;
    }
};
static_assert(guard<Opaque>);

}  // namespace coppice
