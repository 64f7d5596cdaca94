// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadences/regrowth.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>
#include <coppice/summaries.hpp>

#include <algorithm>
#include <cstddef>

namespace coppice::inline v0::presets {

/// The numbers of hermes-agent's configuration, with its clamps.
struct HermesNumbers {
    std::size_t trigger_tokens = 48'000;     ///< the pruned body has this many, estimated; 0: never
    std::size_t min_reclaim_tokens = 4'096;  ///< so many go at once; 0: whatever can
    std::size_t min_result_chars = 8'000;    ///< from here on a result goes; at least 200, and 0 stands for 8,000
    std::size_t keep_first = 3;              ///< messages, behind those of the system
    std::size_t keep_last = 20;              ///< messages
    std::size_t tail_tokens = 0;             ///< instead, so many estimated tokens, but at least 8 messages; 0: by messages

    /// From so many characters on a result goes.
    constexpr std::size_t floor() const {
        constexpr std::size_t standard = 8'000;
        constexpr std::size_t lowest = 200;
        return min_result_chars == 0 ? standard : std::max(lowest, min_result_chars);
    }
};

/// hermes-agent's proactive prune: beginning and end of the session stay whole, old results become a line each that says
/// what was done, duplicates go anywhere, old inputs lose long texts, and of results with images the newest 3 keep them.
///
/// Where that goes wrong in the original, this does not: a duplicate never points at what is gone, savings in inputs alone
/// count, texts in blocks are texts, stubs are known by their grammar, no text is cut so that a model could take what is
/// left for all of it, and the mark for the next time is read off the history (`Regrowth`).
template <cadence Cadence = Regrowth<>>
using Hermes = Pipeline<Cadence, Dedup<chars(200), SameCall::ignored>, KeepEnds<3, 20, chars(8'000)>, StaleInput<>,
                        KeepRecent<none, Size{2'000}, 3>, ToolSummaries>;

/// `when` replaces the whole cadence, its trigger and its gate included.
template <cadence Cadence>
constexpr Hermes<Cadence> hermes(Cadence when, HermesNumbers numbers = {}) {
    return Hermes<Cadence>(when, {},
                           {.head = numbers.keep_first,
                            .tail = numbers.keep_last,
                            .min = chars(numbers.floor()),
                            .tail_tokens = numbers.tail_tokens},
                           {.head = numbers.keep_first, .tail = numbers.keep_last}, {}, {});
}

constexpr Hermes<> hermes(HermesNumbers numbers = {}) {
    Regrowth<> when;
    when.trigger = numbers.trigger_tokens;
    when.min_reclaim = numbers.min_reclaim_tokens;
    when.again = numbers.trigger_tokens / 2;
    return hermes(when, numbers);
}

}  // namespace coppice::presets
