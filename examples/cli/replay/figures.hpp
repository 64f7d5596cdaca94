// SPDX-License-Identifier: MIT
#pragma once

#include "result.hpp"

#include <coppice/prompt_cache.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice_replay {

/// Requests of more than this many tokens are counted.
inline constexpr std::size_t long_request = 200'000;

/// The cache model that goes with a row of prices, by its name; of `no-cache`, none. Nobody says how Gemini's implicit
/// cache works: it is taken for one like OpenAI's.
inline std::optional<CacheModel> model_of(std::string_view prices) {
    const auto begins = [prices](std::string_view word) { return prices.substr(0, word.size()) == word; };
    if (begins("anthropic")) { return CacheModel::anthropic; }
    if (begins("openai") || begins("gemini")) { return CacheModel::openai; }
    if (begins("deepseek")) { return CacheModel::deepseek; }
    return {};
}

/// Letter of a cache model, as tables have it.
constexpr char letter_of(CacheModel model) { return static_cast<char>('A' + static_cast<int>(model)); }

/// Input of `tokens`, of which the cache serves `hit`, in thousandths of an uncached input token.
constexpr double billed(coppice::Prices prices, std::size_t tokens, std::size_t hit) {
    return static_cast<double>(prices.read) * static_cast<double>(hit) +
           static_cast<double>(prices.write) * static_cast<double>(tokens - hit);
}

/// Of one policy, added up over sessions. The names are those of the metrics' definitions.
struct Totals {
    std::string policy;
    std::size_t sessions = 0;
    std::size_t requests = 0;
    std::size_t tokens = 0;
    std::size_t tokens_whole = 0;
    std::array<std::size_t, cache_model_count> hits{};
    std::size_t hits_suggested = 0;
    std::size_t rewrites = 0;       ///< M5
    std::size_t rebilled = 0;       ///< M6
    std::size_t peak = 0;           ///< M7
    std::size_t long_requests = 0;  ///< of more than 200,000 tokens
    LostEvidence lost;              ///< `base_rate` is that of what was cleared
    std::size_t stub_tokens = 0;
    std::size_t removed_tokens = 0;
    std::size_t growths = 0;  ///< M10
    double mean_reduction = 0;  ///< M1, over all requests
    double last_reduction = 0;  ///< M1 at the last request, over sessions

    /// M2
    double reduction() const { return 1 - ratio(tokens, tokens_whole); }
    /// M3, in tokens.
    double billed_tokens(coppice::Prices prices, std::optional<CacheModel> model) const {
        return billed(prices, tokens, model ? hits[static_cast<std::size_t>(*model)] : 0) / 1000;
    }
    /// M3 with B, where the host sets the suggested breakpoint.
    double billed_suggested(coppice::Prices prices) const { return billed(prices, tokens, hits_suggested) / 1000; }
    /// M4
    double hit_rate(CacheModel model) const { return ratio(hits[static_cast<std::size_t>(model)], tokens); }
    /// M8 (a): more often than results are asked for again anyway; may be negative.
    double recall_rate() const { return ratio(lost.called_again, lost.cleared) - lost.base_rate; }
    /// M8 (b)
    double quote_rate() const { return ratio(lost.quoted, lost.cleared); }
    /// M9
    double stub_overhead() const { return ratio(stub_tokens, removed_tokens); }

    static double ratio(std::size_t part, std::size_t whole) {
        return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
    }
};

/// Adds up what one policy did; `number` is its place among the runs.
inline Totals total_of(const std::vector<SessionRun>& sessions, std::size_t number) {
    Totals sum;
    double reductions = 0;
    double last_reductions = 0;
    double expected = 0;
    for (const SessionRun& session : sessions) {
        const PolicyRun& run = session.runs[number];
        sum.policy = run.policy;
        ++sum.sessions;
        for (const RequestFigures& request : run.requests) {
            ++sum.requests;
            sum.tokens += request.tokens;
            sum.tokens_whole += request.tokens_whole;
            for (std::size_t i = 0; i < cache_model_count; ++i) { sum.hits[i] += request.hits[i]; }
            sum.hits_suggested += request.hits_suggested;
            sum.rewrites += request.rewrite;
            sum.rebilled += request.rebilled;
            sum.peak = std::max(sum.peak, request.tokens);
            sum.long_requests += request.tokens > long_request;
            reductions += 1 - Totals::ratio(request.tokens, request.tokens_whole);
        }
        if (!run.requests.empty()) {
            last_reductions += 1 - Totals::ratio(run.requests.back().tokens, run.requests.back().tokens_whole);
        }
        sum.lost.cleared += run.lost.cleared;
        sum.lost.called_again += run.lost.called_again;
        sum.lost.quoted += run.lost.quoted;
        expected += run.lost.base_rate * static_cast<double>(run.lost.cleared);
        sum.stub_tokens += run.stub_tokens;
        sum.removed_tokens += run.removed_tokens;
        sum.growths += run.growths;
    }
    if (sum.requests > 0) { sum.mean_reduction = reductions / static_cast<double>(sum.requests); }
    if (sum.sessions > 0) { sum.last_reduction = last_reductions / static_cast<double>(sum.sessions); }
    if (sum.lost.cleared > 0) { sum.lost.base_rate = expected / static_cast<double>(sum.lost.cleared); }
    return sum;
}

/// One for each policy, in the order of the runs.
inline std::vector<Totals> totals_of(const std::vector<SessionRun>& sessions) {
    std::vector<Totals> totals;
    const std::size_t policies = sessions.empty() ? 0 : sessions.front().runs.size();
    for (std::size_t i = 0; i < policies; ++i) { totals.push_back(total_of(sessions, i)); }
    return totals;
}

}  // namespace coppice_replay
