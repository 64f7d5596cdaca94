// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadences/pressure.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>
#include <coppice/wording.hpp>

#include <array>
#include <string_view>

namespace coppice::inline v0::presets {

/// Tools that dsh-context-triage leaves alone.
inline constexpr std::array<std::string_view, 7> triage_tools = {"task",  "skill", "todowrite", "todoread",
                                                                 "write", "edit",  "batch"};

/// dsh-context-triage's five screeners, in its order: answers to calls that were made again, stale output, failed calls,
/// oversized output, stale reasoning; under the pressure of the context window. `.with(ExemptPaths{...})` for its globs.
///
/// Its screeners take calls out of the history. No provider takes a result without its call, so that here pairs stay, and
/// what goes are their texts. Ages count by the steps of the model, too: a run of one turn ages. Exemptions hold for all
/// of them, and an answer that a failure came after is no answer that was given again.
template <cadence Cadence = Pressure<>>
using Triage = Pipeline<Cadence, ExemptTools, RepeatedCall<3, 10>, StaleOutput<8, 20>,
                        FailedCall<4, 10, Size{400}, 400>, OversizedOutput<chars(6'000), 800, 400, 3, 10>,
                        StaleReasoning<3>, PlainWording>;

/// `when` replaces the whole cadence: `triage(Pressure<200'000>{})` for a smaller window.
template <cadence Cadence = Pressure<>>
constexpr Triage<Cadence> triage(Cadence when = {}) {
    return Triage<Cadence>(when, {.tools = triage_tools}, {}, {}, {}, {}, {}, {});
}

}  // namespace coppice::presets
