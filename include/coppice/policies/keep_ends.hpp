// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policy.hpp>

#include <cstddef>
#include <stdexcept>

namespace coppice {

/// Results between the beginning and the end of a session lose their content: the beginning says what it is about, the
/// end what is going on.
///
/// keeps          the first `head` and the newest `tail` messages, whole
/// changes        between them, results of at least `min` into a stub each, and images of others into one line each
/// does nothing   to smaller results, and while the history has no more than `head + tail` messages
template <std::size_t Head = 3, std::size_t Tail = 20, Size Min = chars(8000)>
struct KeepEnds {
    static constexpr std::string_view name = "keep_ends";

    std::size_t head = Head;  ///< messages
    std::size_t tail = Tail;  ///< messages before the horizon
    Size min = Min;           ///< joined text; documents and unknown parts count as serialised

    constexpr void validate() const {
        if (min.value == 0) { throw std::invalid_argument("coppice::KeepEnds: `min` must be at least 1"); }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        if (transcript.horizon() <= tail) { return; }
        const std::size_t end = transcript.horizon() - tail;
        const auto entries = transcript.entries();
        for (std::size_t i = 0; i < entries.size() && entries[i].message < end; ++i) {
            const Entry& entry = entries[i];
            if (entry.kind != Kind::result || entry.message < head) { continue; }
            const bool gone = transcript.at_least(entry, min) && plan.clear(i, name);
            if (!gone && entry.images > 0) { plan.elide_images(i, name); }
        }
    }
};

}  // namespace coppice
