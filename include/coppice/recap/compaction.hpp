// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>
#include <coppice/recap/message.hpp>
#include <coppice/recap/pairing.hpp>
#include <coppice/tokens.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace coppice {

/// Input tokens of the next request without and with a recap, on one basis: the same overhead and the same estimator.
/// A count by the provider that is older than the recap belongs to neither.
struct CompactionEstimate {
    std::size_t before = 0;
    std::size_t after = 0;

    std::size_t saved() const { return before > after ? before - after : 0; }
    friend bool operator==(const CompactionEstimate&, const CompactionEstimate&) = default;
};

/// When to put a recap in the place of old messages, where to cut, and what it saves: one estimator for all three.
/// Overhead is what the host sends beside the messages (system prompt, tools), in tokens.
template <token_estimator Tokens = ScriptAwareTokens>
struct Compaction {
    std::size_t window = 200'000;   ///< tokens that the model takes
    std::size_t percent = 65;       ///< of the window
    std::size_t ceiling = 180'000;  ///< tokens, however large the window
    std::size_t keep_messages = 6;  ///< newest ones that stay behind the cut
    [[no_unique_address]] Tokens tokens{};

    constexpr void validate() const {
        if (window == 0 || ceiling == 0 || percent == 0 || percent > 100) {
            throw std::invalid_argument(
                "coppice::Compaction: `window` and `ceiling` must be above 0, `percent` from 1 to 100");
        }
    }

    /// Input tokens from which on a recap is due.
    constexpr std::size_t trigger() const {
        const std::size_t share = window / 100 * percent + window % 100 * percent / 100;
        return std::min(share, ceiling);
    }

    /// Input tokens of the visible messages behind the cutoff, with the overhead.
    std::size_t input(std::span<const SessionMessage> history, std::size_t overhead,
                      std::size_t cutoff = none) const {
        std::size_t weight = 0;
        for (std::size_t i = cutoff == none ? 0 : cutoff + 1; i < history.size(); ++i) {
            const SessionMessage& message = history[i];
            if (message.hidden) { continue; }
            weight = add_weights(weight, tokens.weight(message.text));
            weight = add_weights(weight, tokens.weight(message.tool));
        }
        return add_weights(overhead, tokens.tokens(weight));
    }

    bool due(std::span<const SessionMessage> history, std::size_t overhead, std::size_t cutoff = none) const {
        return input(history, overhead, cutoff) >= trigger();
    }

    /// The last message before the cut, or `none` where nothing is to be cut. The newest `keep_messages` visible ones
    /// stay, and a call stays with its result.
    std::size_t cut(std::span<const SessionMessage> history) const {
        std::size_t left = keep_messages;
        std::size_t first_kept = history.size();
        while (left > 0 && first_kept > 0) { left -= history[--first_kept].hidden ? 0U : 1U; }
        const std::vector<std::size_t> calls = calls_of_results(history);
        for (std::size_t i = history.size(); i-- > first_kept;) {
            if (calls[i] != none) { first_kept = std::min(first_kept, calls[i]); }
        }
        const auto visible = [](const SessionMessage& message) { return !message.hidden; };
        const auto end = history.begin() + static_cast<std::ptrdiff_t>(first_kept);
        return std::any_of(history.begin(), end, visible) ? first_kept - 1 : none;
    }

    /// `sent` is what takes the place of the messages: recap and live message.
    CompactionEstimate estimate(std::span<const SessionMessage> history, std::string_view sent,
                                std::size_t overhead) const {
        return {input(history, overhead), add_weights(overhead, tokens_of(tokens, sent))};
    }
};

}  // namespace coppice
