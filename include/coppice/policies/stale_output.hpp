// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/ages.hpp>
#include <coppice/policy.hpp>

#include <cstddef>
#include <stdexcept>

namespace coppice::inline v0 {

/// Results lose their content when the session has moved on, by turns of the user or by steps of the model.
///
/// keeps          the results of the newest `keep_turns` turns of the user, and of the newest `keep_steps` steps of the
///                model: what either leaves out is old, so that a run of one turn ages, too; failures, with `keep_errors`
/// changes        older results of at least `min` into a stub each
/// does nothing   to smaller results, and to what no guard lets go
///
/// Age counts where the result stands: what came late is new, however old its call.
template <std::size_t KeepTurns = 8, std::size_t KeepSteps = 20, Size Min = Size{400}, bool KeepErrors = true>
struct StaleOutput {
    static constexpr std::string_view name = "stale_output";

    std::size_t keep_turns = KeepTurns;  ///< turns of the user, the open one among them
    std::size_t keep_steps = KeepSteps;  ///< steps of the model
    Size min = Min;                      ///< joined text
    bool keep_errors = KeepErrors;       ///< whether failed results stay whole

    constexpr void validate() const {
        if (min.value == 0) { throw std::invalid_argument("coppice::StaleOutput: `min` must be at least 1"); }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        const std::size_t fresh = detail::newest_begin(transcript, keep_turns, keep_steps);
        const auto entries = transcript.entries();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Entry& entry = entries[i];
            if (entry.kind != Kind::result || entry.peer == none || entry.message >= fresh) { continue; }
            if ((entry.error && keep_errors) || !transcript.at_least(entry, min)) { continue; }
            plan.clear(i, name);
        }
    }
};

}  // namespace coppice
