// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadences/ski_rental.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>
#include <coppice/wording.hpp>

namespace coppice::inline v0::presets {

/// The default for hosts without numbers of their own.
///
/// Changes the prefix when that pays (`SkiRental`), from 40,000 bytes on. Then it keeps whole: the newest 8 results of
/// 400 bytes and more, the images of the newest 3, the newest 5 bulky inputs, the reasoning of the newest 2 turns,
/// everything unread, tools that steer the session, and every smaller result, where a stub would save next to nothing.
/// Above 400,000 bytes it goes on, oldest first, to a floor of 4 big results.
template <cadence Cadence = SkiRental<prices::anthropic, Size{40'000}>>
using Standard = Pipeline<Cadence, ExemptTools, StaleReasoning<2>, Dedup<>, KeepRecent<8, Size{400}, 3>,
                          BulkyInputClear<5, Size{400}>, Ceiling<Size{400'000}, 4, Size{2000}, Size{400}>,
                          PlainWording>;

/// `when` replaces the whole cadence, its threshold included: `standard(SkiRental<prices::openai>{})` for other prices.
template <cadence Cadence = SkiRental<prices::anthropic, Size{40'000}>>
constexpr Standard<Cadence> standard(Cadence when = {}) {
    return Standard<Cadence>(when, {}, {}, {}, {}, {}, {}, {});
}

}  // namespace coppice::presets
