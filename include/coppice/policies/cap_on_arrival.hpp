// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policy.hpp>

#include <cstddef>
#include <stdexcept>

namespace coppice::inline v0 {

/// Huge results lose their middle before the model sees them for the first time. That changes nothing that was sent
/// before, so it is legal on every model and costs no cache.
///
/// keeps          head and tail, and of the lines between them those that tell of failures, verdicts and exit codes
/// changes        results of text alone that exceed `above`, also those the model has not read yet, since what is left
///                depends on nothing but the result; a text in several blocks becomes one block
/// does nothing   to results with images or documents now or before; to those of several named members, as Gemini can
///                have them; to previews; to exempt results
///
/// Nothing is stored: the middle is in the host's own history or nowhere. Who has a store takes `Spill`, which keeps it
/// within reach. A result is capped once: later policies, and what their stubs say, go by the size that it has then.
template <Size Above = chars(30'000), std::size_t Head = 6000, std::size_t Tail = 4000>
struct CapOnArrival {
    static constexpr std::string_view name = "cap_on_arrival";
    using on_arrival = void;
    using needs_cap = void;

    Size above = Above;       ///< joined text
    std::size_t head = Head;  ///< code points
    std::size_t tail = Tail;  ///< code points

    /// For the lines between head and tail, code points.
    static constexpr std::size_t between = 1250;
    /// Shorter ends might not say any more whether the call failed.
    static constexpr std::size_t shortest_end = 400;

    constexpr void validate() const {
        if (head < shortest_end || tail < shortest_end) {
            throw std::invalid_argument("coppice::CapOnArrival: `head` and `tail` must be at least 400");
        }
        const std::size_t room = above.value / detail::widest_character(above.unit);
        if (room < between || head > room - between || tail > room - between - head) {
            throw std::invalid_argument(
                "coppice::CapOnArrival: `above` must be at least `head` + `tail` + 1250, in bytes four times that and "
                "in UTF-16 twice, or what is left would be cut again");
        }
    }

    void apply(const Transcript& transcript, Plan& plan) const {
        for (std::size_t i = 0; i < transcript.entries().size(); ++i) {
            const Entry& entry = transcript.entries()[i];
            if (entry.kind != Kind::result || !transcript.exceeds(entry, above)) { continue; }
            plan.cap(i, above, head, tail, name);
        }
    }
};

}  // namespace coppice
