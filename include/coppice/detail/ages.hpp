// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/transcript.hpp>

#include <algorithm>
#include <cstddef>

namespace coppice::detail {

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

/// What is older than the newest `turns` turns or the newest `steps` steps stands before this message.
inline std::size_t newest_begin(const Transcript& transcript, std::size_t turns, std::size_t steps) {
    return std::max(newest_turns_begin(transcript, turns), newest_steps_begin(transcript, steps));
}

}  // namespace coppice::detail
