// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policy.hpp>

#include <cstddef>
#include <string_view>

namespace coppice::inline v0 {

/// Results go by what the host knows of them (`Inputs::hints`). List it first: what it clears takes no place among those
/// that other policies keep.
///
/// keeps          the newest `keep_regenerable` results that the same call would give again
/// changes        older ones of these, and every result that the host calls useless, each to a stub, from the next
///                time on that the cadence lets the history change
/// does nothing   to results without a hint; to what is pinned or unread; to the inputs of calls
template <std::size_t KeepRegenerable = 3>
struct ClearHinted {
    static constexpr std::string_view name = "clear_hinted";

    std::size_t keep_regenerable = KeepRegenerable;  ///< results

    void apply(const Transcript& transcript, Plan& plan) const {
        const auto is_useless = [&](const Entry& entry) { return entry.useless_from <= transcript.horizon(); };
        detail::clear_all_but_newest(transcript, plan, 0, false, name, [&](const Entry& entry) {
            return entry.kind == Kind::result && is_useless(entry);
        });
        detail::clear_all_but_newest(transcript, plan, keep_regenerable, false, name, [&](const Entry& entry) {
            return entry.kind == Kind::result && entry.regenerable_from <= transcript.horizon() && !is_useless(entry);
        });
    }
};

}  // namespace coppice
