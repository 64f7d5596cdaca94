// SPDX-License-Identifier: MIT
#pragma once

#include "figures.hpp"
#include "result.hpp"
#include "weights.hpp"

#include <coppice/prompt_cache.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice_replay {

namespace detail {

inline std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

// 12345678 as 12.3M
inline std::string short_count(std::size_t count) {
    const auto number = static_cast<double>(count);
    if (count >= 10'000'000) { return fmt::format("{:.1f}M", number / 1e6); }
    if (count >= 10'000) { return fmt::format("{:.0f}k", number / 1e3); }
    return fmt::format("{}", count);
}

inline void add_policies(std::string& out, const std::vector<Totals>& totals) {
    const auto end = std::back_inserter(out);
    fmt::format_to(end, "{:<16}{:>9}{:>8}{:>8}{:>8}{:>8}{:>6}{:>9}{:>7}{:>9}{:>9}{:>8}{:>7}{:>7}\n", "policy",
                   "requests", "sent", "mean", "last", "peak", ">200k", "rewrites", "hits", "re-bill", "cleared",
                   "lost a", "lost b", "stubs");
    for (const Totals& row : totals) {
        fmt::format_to(end, "{:<16}{:>9}{:>8}{:>8}{:>8}{:>8}{:>6}{:>9}{:>7}{:>9}{:>9}", row.policy, row.requests,
                       percent(1 - row.reduction()), percent(row.mean_reduction), percent(row.last_reduction),
                       short_count(row.peak), row.long_requests, row.rewrites,
                       percent(row.hit_rate(CacheModel::ideal)), short_count(row.rebilled), row.lost.cleared);
        if (row.lost.cleared == 0) {
            fmt::format_to(end, "{:>8}{:>7}{:>7}\n", "-", "-", "-");
        } else {
            fmt::format_to(end, "{:>8}{:>7}{:>7}\n", fmt::format("{:+.1f}%", 100 * row.recall_rate()),
                           percent(row.quote_rate()), percent(row.stub_overhead()));
        }
        if (row.growths > 0) { fmt::format_to(end, "{:<16}{} edits made a body longer\n", "", row.growths); }
    }
}

struct PriceColumn {
    std::string provider;
    std::string variant;  ///< of its prices
    std::string cache;
    coppice::Prices prices;
    std::optional<CacheModel> model;
    bool suggested = false;

    double of(const Totals& totals) const {
        return suggested ? totals.billed_suggested(prices) : totals.billed_tokens(prices, model);
    }
};

inline void add_prices(std::string& out, const std::vector<Totals>& totals,
                       const std::vector<PriceColumn>& columns) {
    constexpr std::size_t name_width = 16;
    constexpr std::size_t width = 8;
    std::string line(name_width, ' ');
    std::string_view before;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].provider == before) { continue; }
        before = columns[i].provider;
        // above its first column, and on over the others
        line.resize(std::max(line.size(), name_width + i * width + 1), ' ');
        line += before;
    }
    out.append(line).push_back('\n');
    const auto add_line = [&](std::string_view name, auto cell) {
        line = fmt::format("{:<{}}", name, name_width);
        for (const PriceColumn& column : columns) { line += fmt::format("{:>{}}", cell(column), width); }
        line.resize(line.find_last_not_of(' ') + 1);
        out.append(line).push_back('\n');
    };
    add_line("", [](const PriceColumn& column) { return column.variant; });
    add_line("policy", [](const PriceColumn& column) { return column.cache; });
    for (const Totals& row : totals) {
        add_line(row.policy, [&](const PriceColumn& column) {
            const double whole = column.of(totals.front());
            return fmt::format("{:.3f}", whole > 0 ? column.of(row) / whole : 0);
        });
    }
}

inline PriceColumn column_of(const coppice::prices::Row& row, std::optional<CacheModel> model) {
    const std::size_t dash = row.name == "no-cache" ? row.name.size() : std::min(row.name.find('-'), row.name.size());
    PriceColumn column;
    column.prices = row.prices;
    column.model = model;
    column.provider = row.name.substr(0, dash);
    column.variant = row.name.substr(std::min(dash + 1, row.name.size()));
    column.cache = model ? std::string(1, letter_of(*model)) : "-";
    return column;
}

inline bool is_chosen(const coppice::prices::Row& row, std::string_view wanted) {
    return wanted.empty() || row.name == wanted;
}

}  // namespace detail

/// What `coppice replay` prints. `prices` names one row, or is empty for all.
inline std::string table(const std::vector<SessionRun>& sessions, std::string_view prices) {
    const std::vector<Totals> totals = totals_of(sessions);
    if (totals.empty()) { return {}; }
    std::string out = fmt::format(
        "fixed-trajectory replay: {} sessions, {} requests; no model ran, so the sessions are as recorded\n"
        "tokens: {}\n\n",
        sessions.size(), totals.front().requests, how_tokens_are_counted);
    detail::add_policies(out, totals);
    out +=
        "\n"
        "sent      tokens sent, of those without pruning    mean, last  reduction a request, and at a session's end\n"
        "peak      tokens of the longest request            rewrites    requests that do not extend the one before\n"
        "hits      tokens that an ideal cache serves        re-bill     tokens of rewrites that it no longer does\n"
        "lost a    of results cleared, asked for again within 24 calls, above the share without pruning\n"
        "lost b    of results cleared, quoted later with a line of 40 characters that only they have\n"
        "stubs     their tokens, of those they replace\n";

    std::vector<detail::PriceColumn> own;
    std::vector<detail::PriceColumn> ideal;
    for (const coppice::prices::Row& row : coppice::prices::rows) {
        if (!detail::is_chosen(row, prices)) { continue; }
        const std::optional<CacheModel> model = model_of(row.name);
        own.push_back(detail::column_of(row, model));
        if (model) { ideal.push_back(detail::column_of(row, CacheModel::ideal)); }
        if (model == CacheModel::anthropic) {
            detail::PriceColumn column = own.back();
            column.cache = "B+";
            column.suggested = true;
            ideal.push_back(column);
        }
    }
    out +=
        "\nbilled input-token equivalents, of those without pruning (fixed-trajectory replay)\n"
        "B: breakpoints behind system and tools and behind the last two messages, found 20 blocks back, from 1,024\n"
        "tokens; C: from 1,024 tokens in steps of 128, taken for Gemini too; D: units of 64 tokens; none expires\n\n";
    detail::add_prices(out, totals, own);
    if (!ideal.empty()) {
        out +=
            "\nthe same, A: with an ideal cache, which serves the longest prefix that two requests have in common;\n"
            "B+: as B, and one more breakpoint: before the first change of a rewrite, otherwise before the oldest\n"
            "result that could still be cleared, where the next rewrite will look; or where the policy suggests it\n\n";
        detail::add_prices(out, totals, ideal);
    }
    return out;
}

}  // namespace coppice_replay
