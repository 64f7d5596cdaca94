// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadences/stepped.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>
#include <coppice/wording.hpp>

namespace coppice::presets {

/// The default for hosts without numbers of their own.
///
/// Starts at 100,000 bytes, a quarter of a 100K-token window, and changes the prefix with every tenth request
/// only. Keeps whole: the newest 8 big results and 40 small ones, the images of the newest 3, the newest 5
/// bulky inputs, everything unread, tools that steer the session, and every result up to 400 bytes, where a
/// stub would save next to nothing. Above 400,000 bytes it goes on, oldest first, to a floor of 4 big
/// results.
template <cadence Cadence = Stepped<10, Size{100'000}>>
using Standard = Pipeline<Cadence, ExemptTools, SmallAging<40, Size{400}, Size{2000}>, Dedup<>,
                          KeepRecent<8, Size{2000}, 3>, BulkyInputClear<5, Size{1000}>,
                          Ceiling<Size{400'000}, 4, Size{2000}, Size{400}>, PlainWording>;

/// `when` replaces the whole cadence, its threshold included: `standard(Stepped<20, Size{100'000}>{})`.
template <cadence Cadence = Stepped<10, Size{100'000}>>
constexpr Standard<Cadence> standard(Cadence when = {}) {
    return Standard<Cadence>(when, {}, {}, {}, {}, {}, {}, {});
}

}  // namespace coppice::presets
