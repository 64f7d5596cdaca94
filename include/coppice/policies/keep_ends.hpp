// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/ages.hpp>
#include <coppice/policy.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>

namespace coppice::inline v0 {

/// Results between the beginning and the end of a session lose their content: the beginning says what it is about, the
/// end what is going on.
///
/// keeps          the first `head` and the newest `tail` messages, whole; with `tail_tokens` as many of the newest as have
///                no more than that, but never fewer than the newest 8, or `tail` where that is less
/// changes        between them, results of at least `min` into a stub each, and images of others into one line each; with
///                `tail_tokens` the same inside the tail, oldest first, where its few messages have half as much again
/// does nothing   to smaller results, and while the history has no more than `head + tail` messages
template <std::size_t Head = 3, std::size_t Tail = 20, Size Min = chars(8000), std::size_t TailTokens = 0>
struct KeepEnds {
    static constexpr std::string_view name = "keep_ends";

    std::size_t head = Head;               ///< messages, behind those of the system
    std::size_t tail = Tail;               ///< messages before the horizon
    Size min = Min;                        ///< joined text; documents and unknown parts count as serialised
    std::size_t tail_tokens = TailTokens;  ///< estimated; 0 counts messages alone

    constexpr void validate() const {
        if (min.value == 0) { throw std::invalid_argument("coppice::KeepEnds: `min` must be at least 1"); }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        constexpr std::size_t fewest = 8;
        const std::size_t end =
            tail_tokens == 0 ? detail::newest_messages_begin(transcript, tail)
                             : detail::newest_tokens_begin(transcript, plan, tail_tokens, std::min(tail, fewest));
        const std::size_t beginning = detail::beginning_end(transcript, head);
        const auto entries = transcript.entries();
        std::size_t i = 0;
        for (; i < entries.size() && entries[i].message < end; ++i) { change(transcript, plan, i, beginning); }
        if (tail_tokens == 0) { return; }
        std::size_t size = detail::eighths_from(transcript, plan, end);
        const auto too_big = [&] { return size / 8 > tail_tokens && size / 8 - tail_tokens > tail_tokens / 2; };
        for (; i < entries.size() && too_big(); ++i) {
            const std::size_t before = plan.saved_eighths(i);
            change(transcript, plan, i, beginning);
            size -= std::min(size, plan.saved_eighths(i) - before);
        }
    }

private:
    void change(const Transcript& transcript, Plan& plan, std::size_t i, std::size_t beginning) const {
        const Entry& entry = transcript.entries()[i];
        if (entry.kind != Kind::result || entry.message < beginning) { return; }
        const bool gone = transcript.at_least(entry, min) && plan.clear(i, name);
        if (!gone && entry.images > 0) { plan.elide_images(i, name); }
    }
};

}  // namespace coppice
