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

namespace coppice::inline v0 {

/// Input tokens of the next request without and with a recap, on one basis: the same overhead and the same estimator.
/// A count by the provider that is older than the recap belongs to neither.
struct CompactionEstimate {
    std::size_t before = 0;  ///< tokens without it
    std::size_t after = 0;   ///< tokens with it

    /// Tokens that it takes out.
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
    std::size_t keep_messages =
        6;  ///< newest ones, which come after the cut: the recap shows their results whole
    std::size_t keep_tokens =
        0;                                  ///< more of them stay, as long as all that stay have no more tokens than this
    [[no_unique_address]] Tokens tokens{};  ///< how texts are weighed

    constexpr void validate() const {
        if (window == 0 || ceiling == 0 || percent == 0 || percent > 100) {
            throw std::invalid_argument(
                "coppice::Compaction: `window` and `ceiling` must be above 0, `percent` from 1 to 100");
        }
    }

    /// Input tokens from which on a recap is due. Wrong numbers do not compile in a constant, and throw
    /// std::invalid_argument otherwise.
    constexpr std::size_t trigger() const {
        validate();
        const std::size_t share = window / 100 * percent + window % 100 * percent / 100;
        return std::min(share, ceiling);
    }

    /// Input tokens of the visible messages after the cutoff, with the overhead: before a recap. What is sent after one is
    /// weighed by `estimate`.
    std::size_t input(std::span<const SessionMessage> history, std::size_t overhead,
                      std::size_t cutoff = none) const {
        std::size_t weight = 0;
        for (std::size_t i = cutoff == none ? 0 : cutoff + 1; i < history.size(); ++i) {
            weight = add_weights(weight, weight_of(history[i]));
        }
        return add_weights(overhead, tokens.tokens(weight));
    }

    /// Whether the input of the next request has reached `trigger()`.
    bool due(std::span<const SessionMessage> history, std::size_t overhead, std::size_t cutoff = none) const {
        return input(history, overhead, cutoff) >= trigger();
    }

    /// The last message before the cut, or `none` where nothing is to be cut. The newest visible ones stay, at least
    /// `keep_messages` of them and as many as fit `keep_tokens`, and a call stays with its result.
    std::size_t cut(std::span<const SessionMessage> history) const {
        std::size_t left = keep_messages;
        std::size_t first_kept = history.size();
        std::size_t weight = 0;
        while (first_kept > 0) {
            const SessionMessage& message = history[first_kept - 1];
            weight = add_weights(weight, weight_of(message));
            if (left == 0 && (tokens.tokens(weight) > keep_tokens || keep_tokens == 0)) { break; }
            left -= left == 0 || message.hidden ? 0U : 1U;
            --first_kept;
        }
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

private:
    std::size_t weight_of(const SessionMessage& message) const {
        return message.hidden ? 0 : add_weights(tokens.weight(message.text), tokens.weight(message.tool));
    }
};

}  // namespace coppice
