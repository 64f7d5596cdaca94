// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/ages.hpp>
#include <coppice/policy.hpp>

#include <cstddef>
#include <stdexcept>

namespace coppice::inline v0 {

/// Huge results keep their ends when the session has moved on.
///
/// keeps          head and tail of each; whole, the results of the newest `keep_turns` turns of the user and of the newest
///                `keep_steps` steps of the model
/// changes        older results of text alone that exceed `above`: a line that says so, head and tail
/// does nothing   to results with images or documents now or before; to previews and capped results, which have lost their
///                middle; to those of several named members, as Gemini can have them
///
/// What was cut stays as it is, also where another policy would clear it by now; one that is listed before this one and
/// clears it at the same time goes first. `CapOnArrival` does the same before a result is first sent.
template <Size Above = chars(6000), std::size_t Head = 800, std::size_t Tail = 400, std::size_t KeepTurns = 3,
          std::size_t KeepSteps = 10>
struct OversizedOutput {
    static constexpr std::string_view name = "oversized_output";
    using needs_clip = void;

    Size above = Above;                  ///< joined text
    std::size_t head = Head;             ///< code points
    std::size_t tail = Tail;             ///< code points
    std::size_t keep_turns = KeepTurns;  ///< turns of the user, the open one among them
    std::size_t keep_steps = KeepSteps;  ///< steps of the model

    /// Head and tail together have no more code points than this.
    static constexpr std::size_t most = PlainWording::clip_limit;

    constexpr void validate() const {
        if (head > most || tail > most - head) {
            throw std::invalid_argument("coppice::OversizedOutput: `head` + `tail` must be at most 4096");
        }
        if (above.value / detail::widest_character(above.unit) <= head + tail) {
            throw std::invalid_argument(
                "coppice::OversizedOutput: `above` must be more than `head` + `tail`, in bytes four times that and in "
                "UTF-16 twice");
        }
    }

    void apply(const Transcript& transcript, Plan& plan) const {
        const std::size_t fresh = detail::newest_begin(transcript, keep_turns, keep_steps);
        const auto entries = transcript.entries();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Entry& entry = entries[i];
            if (entry.kind != Kind::result || entry.peer == none || entry.message >= fresh) { continue; }
            if (transcript.exceeds(entry, above)) { plan.clip(i, head, tail, name); }
        }
    }
};

}  // namespace coppice
