// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

namespace coppice::inline v0 {

/// No cache mark is lost or doubled. A stub carries the one mark of the content that it replaces, as it was;
/// content with several marks, or with a mark that no stub could carry, stays whole
/// (rossoctl/context-guru #271, headroomlabs-ai/headroom #2651).
struct CacheMarks {
    static constexpr std::string_view name = "cache_marks";

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        const Entry& entry = transcript.all()[proposal.entry];
        if (entry.kind != Kind::result) { return true; }
        if (entry.nested_cache_mark) { return false; }
        // an elided image hands its mark to the text block in its place, one by one
        return proposal.fate == Fate::elide || entry.cache_marks <= 1;
    }
};
static_assert(guard<CacheMarks>);

}  // namespace coppice
