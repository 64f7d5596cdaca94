// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/plan.hpp>
#include <coppice/transcript.hpp>

#include <algorithm>
#include <cstddef>

namespace coppice::inline v0::detail {

/// The message with which the newest `turns` turns of the user begin, at the horizon; the turn that is open is one.
inline std::size_t newest_turns_begin(const Transcript& transcript, std::size_t turns) {
    if (turns == 0) { return transcript.horizon(); }
    std::size_t begin = transcript.open_loop_from();
    for (; turns > 1 && begin > 0; --turns) {
        const std::size_t before = transcript.messages[begin - 1].user_turn_at;
        begin = before == none ? 0 : before;
    }
    return begin;
}

/// The message with which the newest `steps` steps of the model begin, at the horizon. A step is what the model says
/// without anybody else in between, and what comes back.
inline std::size_t newest_steps_begin(const Transcript& transcript, std::size_t steps) {
    std::size_t begin = transcript.horizon();
    for (std::size_t i = begin; i-- > 0 && steps > 0;) {
        const bool model = transcript.messages[i].role == Role::assistant;
        const bool first = i == 0 || transcript.messages[i - 1].role != Role::assistant;
        if (!model || !first) { continue; }
        begin = i;
        --steps;
    }
    return steps > 0 ? 0 : begin;
}

/// The message with which the first `count` end, not counting those of the system before them.
inline std::size_t beginning_end(const Transcript& transcript, std::size_t count) {
    std::size_t system = 0;
    while (system < transcript.messages.size() && transcript.messages[system].role == Role::other) { ++system; }
    return count > none - system ? none : system + count;
}

/// The message with which the newest `count` messages begin, at the horizon.
inline std::size_t newest_messages_begin(const Transcript& transcript, std::size_t count) {
    return transcript.horizon() - std::min(count, transcript.horizon());
}

/// What the messages from this one to the horizon have, with what is planned so far, in eighths of a token.
inline std::size_t eighths_from(const Transcript& transcript, const Plan& plan, std::size_t message) {
    std::size_t sum = 0;
    for (std::size_t i = message; i < transcript.horizon(); ++i) { sum += transcript.eighths_of(i); }
    for (std::size_t i = transcript.first_entry_of(message); i < transcript.entries().size(); ++i) {
        sum -= std::min(sum, plan.saved_eighths(i));
    }
    return sum;
}

/// The message with which the newest `tokens` estimated tokens begin, but never fewer than `messages`.
inline std::size_t newest_tokens_begin(const Transcript& transcript, const Plan& plan, std::size_t tokens,
                                       std::size_t messages) {
    std::size_t begin = transcript.horizon();
    std::size_t entry = transcript.entries().size();
    std::size_t sum = 0;
    while (begin > 0) {
        const std::size_t next = begin - 1;
        std::size_t size = transcript.eighths_of(next);
        for (; entry > 0 && transcript.entries()[entry - 1].message >= next; --entry) {
            size -= std::min(size, plan.saved_eighths(entry - 1));
        }
        sum += size;
        if (sum / 8 > tokens && transcript.horizon() - begin >= messages) { break; }
        begin = next;
    }
    return begin;
}

/// What is older than the newest `turns` turns or the newest `steps` steps stands before this message.
inline std::size_t newest_begin(const Transcript& transcript, std::size_t turns, std::size_t steps) {
    return std::max(newest_turns_begin(transcript, turns), newest_steps_begin(transcript, steps));
}

}  // namespace coppice::detail
