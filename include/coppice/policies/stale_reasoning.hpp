// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/ages.hpp>
#include <coppice/policy.hpp>

#include <cstddef>
#include <stdexcept>

namespace coppice::inline v0 {

/// What the model thought in turns that are over leaves the history. Where it is sent back, it is billed again with
/// each request, and nothing refers to it any more.
///
/// keeps          the reasoning of the newest `keep_turns` turns of the user, the one that is open among them; what was
///                said, called and answered in all turns
/// changes        older reasoning blocks, which leave their messages: oldest first, of a turn all of them or none, so
///                that what is left is the newest part of it as it was
/// does nothing   where the provider does not let reasoning go: all but Anthropic and Bedrock. A turn stays that has a
///                message of nothing but reasoning, calls made by a program, a server tool still at work, a cache mark
///                on its reasoning, or the first compaction block, and with it all that is newer
///
/// A turn of the user begins where a person speaks without bringing results; what is said beside results belongs to the
/// tool loop that goes on.
template <std::size_t KeepTurns = 2>
struct StaleReasoning {
    static constexpr std::string_view name = "stale_reasoning";

    std::size_t keep_turns = KeepTurns;  ///< turns of the user, at least 1

    constexpr void validate() const {
        if (keep_turns == 0) {
            throw std::invalid_argument("coppice::StaleReasoning: `keep_turns` must be at least 1, the open turn");
        }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        const std::size_t kept_from = detail::newest_turns_begin(transcript, keep_turns);
        const auto entries = transcript.entries();
        for (std::size_t i = 0; i < entries.size() && entries[i].message < kept_from; ++i) {
            if (entries[i].kind != Kind::reasoning || plan.fate(i) == Fate::drop) { continue; }
            if (!plan.drop(i, name)) { return; }
        }
    }
};

}  // namespace coppice
