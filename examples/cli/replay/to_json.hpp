// SPDX-License-Identifier: MIT
#pragma once

#include "figures.hpp"
#include "policy.hpp"
#include "result.hpp"
#include "weights.hpp"

#include <coppice/prompt_cache.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice_replay {

namespace detail {

inline Json hits_json(const std::array<std::size_t, cache_model_count>& hits, std::size_t suggested) {
    Json out = Json::object();
    for (std::size_t i = 0; i < cache_model_count; ++i) {
        out[std::string(name_of(static_cast<CacheModel>(i)))] = hits[i];
    }
    out["anthropic_suggested"] = suggested;
    return out;
}

inline Json lost_json(const LostEvidence& lost) {
    return {{"cleared", lost.cleared},
            {"called_again", lost.called_again},
            {"quoted", lost.quoted},
            {"base_rate", lost.base_rate}};
}

inline Json billed_json(const Totals& row, const Totals& whole, std::string_view wanted) {
    Json out = Json::object();
    for (const coppice::prices::Row& prices : coppice::prices::rows) {
        if (!wanted.empty() && prices.name != wanted) { continue; }
        const auto of = [&](double billed, double unpruned) {
            return Json{{"tokens", billed}, {"relative", unpruned > 0 ? billed / unpruned : 0}};
        };
        Json models = Json::object();
        const std::optional<CacheModel> own = model_of(prices.name);
        for (std::size_t i = 0; i < cache_model_count; ++i) {
            const auto model = static_cast<CacheModel>(i);
            models[std::string(name_of(model))] =
                of(row.billed_tokens(prices.prices, model), whole.billed_tokens(prices.prices, model));
        }
        models["anthropic_suggested"] =
            of(row.billed_suggested(prices.prices), whole.billed_suggested(prices.prices));
        models["none"] = of(row.billed_tokens(prices.prices, {}), whole.billed_tokens(prices.prices, {}));
        out[std::string(prices.name)] =
            Json{{"model", own ? std::string(name_of(*own)) : "none"}, {"billed", std::move(models)}};
    }
    return out;
}

inline Json total_json(const Totals& row, const Totals& whole, std::string_view wanted) {
    Json rates = Json::object();
    for (std::size_t i = 0; i < cache_model_count; ++i) {
        const auto model = static_cast<CacheModel>(i);
        rates[std::string(name_of(model))] = row.hit_rate(model);
    }
    return {{"policy", row.policy},
            {"sessions", row.sessions},
            {"requests", row.requests},
            {"tokens", row.tokens},
            {"tokens_whole", row.tokens_whole},
            {"mean_reduction", row.mean_reduction},
            {"last_reduction", row.last_reduction},
            {"cumulative_reduction", row.reduction()},
            {"hits", hits_json(row.hits, row.hits_suggested)},
            {"hit_rate", std::move(rates)},
            {"rewrites", row.rewrites},
            {"rebilled", row.rebilled},
            {"peak", row.peak},
            {"requests_over_200k", row.long_requests},
            {"lost", lost_json(row.lost)},
            {"recall_above_base_rate", row.recall_rate()},
            {"quote_rate", row.quote_rate()},
            {"stub_tokens", row.stub_tokens},
            {"removed_tokens", row.removed_tokens},
            {"stub_overhead", row.stub_overhead()},
            {"growths", row.growths},
            {"billed", billed_json(row, whole, wanted)}};
}

// Columns once and then rows of numbers: a session has hundreds of requests.
inline Json requests_json(const PolicyRun& run) {
    Json rows = Json::array();
    for (const RequestFigures& request : run.requests) {
        rows.push_back({request.messages, request.tokens, request.tokens_whole, request.hits[0], request.hits[1],
                        request.hits[2], request.hits[3], request.hits_suggested, request.rewrite,
                        request.rebilled});
    }
    return rows;
}

inline Json entries_json(const PolicyRun& run) {
    Json out = Json::array();
    for (const StripEntry& entry : run.strip) {
        out.push_back({{"kind", entry.kind},
                       {"message", entry.message},
                       {"tool", entry.tool},
                       {"identity", entry.identity},
                       {"tokens", entry.tokens},
                       {"beginning", entry.beginning}});
    }
    return out;
}

inline Json changes_json(const PolicyRun& run) {
    Json out = Json::array();
    for (std::size_t i = 0; i < run.strip.size(); ++i) {
        const StripEntry& entry = run.strip[i];
        if (entry.cleared_at == 0) { continue; }
        out.push_back({{"entry", i},
                       {"cleared_at", entry.cleared_at},
                       {"left", entry.left},
                       {"replacement", entry.replacement}});
    }
    return out;
}

inline Json session_json(const SessionRun& session) {
    Json runs = Json::array();
    for (const PolicyRun& run : session.runs) {
        runs.push_back({{"policy", run.policy},
                        {"requests", requests_json(run)},
                        {"lost", lost_json(run.lost)},
                        {"stub_tokens", run.stub_tokens},
                        {"removed_tokens", run.removed_tokens},
                        {"growths", run.growths},
                        {"changes", changes_json(run)}});
    }
    // the transcript is the same for all of them
    return {{"session", session.session},
            {"dialect", session.dialect},
            {"entries", session.runs.empty() ? Json::array() : entries_json(session.runs.front())},
            {"runs", std::move(runs)}};
}

}  // namespace detail

/// What `coppice replay --json` prints. `prices` names one row, or is empty for all.
inline Json to_json(const std::vector<SessionRun>& sessions, const std::vector<NamedPolicy>& policies,
                    std::string_view prices) {
    const std::vector<Totals> totals = totals_of(sessions);
    Json out = Json::object();
    out["kind"] = "fixed-trajectory replay";
    out["tokens"] = how_tokens_are_counted;
    out["request_columns"] = {"messages",   "tokens",       "tokens_whole",            "hit_ideal", "hit_anthropic",
                              "hit_openai", "hit_deepseek", "hit_anthropic_suggested", "rewrite",   "rebilled"};
    out["prices"] = Json::object();
    for (const coppice::prices::Row& row : coppice::prices::rows) {
        if (!prices.empty() && row.name != prices) { continue; }
        out["prices"][std::string(row.name)] = {{"write", static_cast<double>(row.prices.write) / 1000},
                                                {"read", static_cast<double>(row.prices.read) / 1000}};
    }
    out["policies"] = Json::array();
    for (const NamedPolicy& policy : policies) {
        out["policies"].push_back({{"policy", policy.name}, {"what", policy.what}});
    }
    out["totals"] = Json::array();
    for (const Totals& row : totals) { out["totals"].push_back(detail::total_json(row, totals.front(), prices)); }
    out["sessions"] = Json::array();
    for (const SessionRun& session : sessions) { out["sessions"].push_back(detail::session_json(session)); }
    return out;
}

}  // namespace coppice_replay
