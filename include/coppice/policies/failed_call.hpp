// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/ages.hpp>
#include <coppice/policy.hpp>

#include <cstddef>
#include <stdexcept>

namespace coppice::inline v0 {

/// What was tried and failed: the error is worth keeping, the text of the attempt is not.
///
/// keeps          of the failed result head and tail, `keep_error` in all; of its call path, command and every value
///                shorter than `min`; all calls of the newest `keep_turns` turns of the user and of the newest
///                `keep_steps` steps of the model
/// changes        longer strings of older calls that failed, whatever their names: a stub each; the middle of long errors
/// does nothing   where nothing says that the call failed
template <std::size_t KeepTurns = 4, std::size_t KeepSteps = 10, Size Min = Size{400}, std::size_t KeepError = 1200>
struct FailedCall {
    static constexpr std::string_view name = "failed_call";
    using needs_clip = void;

    std::size_t keep_turns = KeepTurns;  ///< turns of the user, the open one among them
    std::size_t keep_steps = KeepSteps;  ///< steps of the model
    Size min = Min;                      ///< a string of the input has at least this
    std::size_t keep_error = KeepError;  ///< code points of the error

    /// `keep_error` is no more than this.
    static constexpr std::size_t most_error = PlainWording::clip_limit;

    constexpr void validate() const {
        if (min.value == 0) { throw std::invalid_argument("coppice::FailedCall: `min` must be at least 1"); }
        if (keep_error > most_error) {
            throw std::invalid_argument("coppice::FailedCall: `keep_error` must be at most 4096");
        }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        const std::size_t fresh = detail::newest_begin(transcript, keep_turns, keep_steps);
        const auto entries = transcript.entries();
        for (std::size_t i = 0; i < entries.size() && entries[i].message < fresh; ++i) {
            const Entry& call = entries[i];
            const bool answered = call.kind == Kind::call && call.peer != none && call.peer < entries.size();
            if (!answered || !entries[call.peer].error || entries[call.peer].message >= fresh) { continue; }
            const auto fields = transcript.fields_of(call);
            for (std::size_t field = 0; field < fields.size(); ++field) {
                const MeasuredText& text = fields[field].text;
                if (text.at_least(min) && !detail::names_call(call, fields[field])) { plan.clear_field(i, field, name); }
            }
            if (!transcript.exceeds(entries[call.peer], chars(keep_error))) { continue; }
            // verdicts stand at the end, causes at the beginning
            const std::size_t tail = keep_error * 2 / 5;
            plan.clip(call.peer, keep_error - tail, tail, name);
        }
    }
};

}  // namespace coppice
