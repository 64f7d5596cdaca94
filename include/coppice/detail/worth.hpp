// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/prompt_cache.hpp>
#include <coppice/report.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coppice::inline v0::detail {

/// What a plan is worth at the prices of a provider.
class Worth {
public:
    Worth(const Workspace& workspace, const Prices& prices, const CacheRules& rules)
        : transcript_(workspace.transcript),
          plan_(workspace.plan),
          before_(workspace.timing.moved ? &workspace.probe : nullptr),
          timing_(workspace.timing),
          prices_(prices),
          rules_(rules.resolved(workspace.transcript.dialect)) {}

    void add_to(Report& report) {
        const std::size_t messages = transcript_.messages.size();
        const std::size_t whole = transcript_.eighths_until(messages);
        const bool cached = timing_.cached > 0 && !timing_.cold;
        const std::size_t whole_cached = cached ? transcript_.eighths_until(timing_.cached) : 0;
        const std::size_t changed = before_ == nullptr ? none : plan_.first_difference(*before_);
        const std::size_t changed_message = changed == none ? none : transcript_.all()[changed].message;
        std::size_t saved = 0;
        std::size_t saved_cached = 0;    // of what the request before had
        std::size_t saved_unchanged = 0; // of what stands before the first change
        std::size_t saved_before = 0;    // by the request before
        for (std::size_t i = 0; i < transcript_.all().size(); ++i) {
            const std::size_t message = transcript_.all()[i].message;
            if (changed != none && message < timing_.cached) { saved_before += before_->saved_eighths(i); }
            const std::size_t here = plan_.saved_eighths(i);
            saved += here;
            if (message < timing_.cached) { saved_cached += here; }
            if (message < changed_message) { saved_unchanged += here; }
        }
        const std::size_t sent = whole - saved;
        std::size_t served = cached ? whole_cached - saved_cached : 0;
        report.tokens_before += tokens(whole);
        report.tokens_after += tokens(sent);
        // of the first request, nothing was sent before
        if (changed != none && changed_message < timing_.cached) {
            report.rewrites = true;
            report.first_rewritten_message = changed_message;
            report.suggested_breakpoint = block_before(changed);
            const std::size_t behind = transcript_.first_entry_of(messages) - changed;
            // entries written before the rewrite before this one hold what that changed
            const bool written = changed_message >= timing_.horizon_before;
            const bool found = rules_.look_back == 0 || (written && behind <= rules_.look_back);
            std::size_t unchanged = found ? transcript_.eighths_until(changed_message) - saved_unchanged
                                          : transcript_.eighths_until(0);
            if (tokens(unchanged) < rules_.minimum_tokens) { unchanged = 0; }
            const std::size_t rebilled = served > unchanged ? served - unchanged : 0;
            report.tokens_rebilled += tokens(rebilled);
            served = unchanged < served ? unchanged : served;
            const std::size_t gone = saved_cached > saved_before ? saved_cached - saved_before : 0;
            const double spared = static_cast<double>(gone) * static_cast<double>(prices_.read);
            const double price = static_cast<double>(rebilled) * static_cast<double>(prices_.write - prices_.read);
            if (spared > 0) { report.break_even_requests = std::ceil(price / spared); }
        }
        if (!report.rewrites && timing_.next_change != none) {
            report.suggested_breakpoint = block_before(timing_.next_change);
        }
        const double as_it_was = cost(whole_cached, whole - whole_cached);
        const double now = cost(served, sent > served ? sent - served : 0);
        report.net_tokens += (as_it_was - now) * timing_.tokens_an_eighth / 1000;
        report.saturated = report.saturated || timing_.saturated;
        report.suggested_compaction.reset();
        if (report.requests == 1) { report.suggested_compaction = compaction(); }
    }

    /// For less than this, nobody should write a summary.
    static constexpr std::size_t least_compaction = 2'000;

private:
    // What was edited, with all that belongs to it. Nothing where some of it still waits for an answer.
    std::optional<CompactionRange> compaction() const {
        const auto entries = transcript_.all();
        const std::size_t unread_from = transcript_.unread_from(transcript_.messages.size());
        std::size_t first = none;
        std::size_t end = 0;
        for (std::size_t i = 0; i < transcript_.first_entry_of(unread_from); ++i) {
            if (plan_.fate(i) == Fate::keep) { continue; }
            first = std::min(first, entries[i].message);
            end = entries[i].message + 1;
        }
        if (first == none) { return {}; }
        const auto of_model = [&](std::size_t message) { return transcript_.messages[message].role == Role::assistant; };
        // each message is looked at once: those from `seen_first` to `seen_end` have been
        std::size_t seen_first = first;
        std::size_t seen_end = first;
        while (first < seen_first || seen_end < end) {
            const std::size_t message = first < seen_first ? --seen_first : seen_end++;
            for (std::size_t i = transcript_.first_entry_of(message); i < transcript_.first_entry_of(message + 1); ++i) {
                const Entry& entry = entries[i];
                if (entry.kind != Kind::call && entry.kind != Kind::result) { continue; }
                if (entry.peer == none) {
                    if (entry.kind == Kind::call) { return {}; }
                    continue;
                }
                first = std::min(first, entries[entry.peer].message);
                end = std::max(end, entries[entry.peer].message + 1);
            }
            while (first > 0 && of_model(first) && of_model(first - 1)) { --first; }
            while (end < unread_from && of_model(end) && of_model(end - 1)) { ++end; }
            if (end > unread_from) { return {}; }
        }
        CompactionRange range{.first_message = first, .end_message = end};
        std::size_t saved = 0;
        std::size_t speaks = none;  // in this message, the user
        for (std::size_t i = transcript_.first_entry_of(first); i < transcript_.first_entry_of(end); ++i) {
            saved += plan_.saved_eighths(i);
            if (entries[i].kind != Kind::user_text || entries[i].message == speaks) { continue; }
            speaks = entries[i].message;
            ++range.user_messages;
        }
        if (tokens(saved) < least_compaction) { return {}; }
        const std::size_t size = transcript_.eighths_until(end) - transcript_.eighths_until(first);
        range.tokens = tokens(size - std::min(size, saved));
        return range;
    }

    std::size_t tokens(std::size_t eighths) const {
        return static_cast<std::size_t>(static_cast<double>(eighths) * timing_.tokens_an_eighth);
    }
    double cost(std::size_t read, std::size_t written) const {
        return static_cast<double>(read) * static_cast<double>(prices_.read) +
               static_cast<double>(written) * static_cast<double>(prices_.write);
    }

    // Where providers have breakpoints, and a block can carry one.
    std::optional<BlockPlace> block_before(std::size_t changed) const {
        if (transcript_.dialect != "anthropic" && transcript_.dialect != "bedrock") { return {}; }
        const auto entries = transcript_.all();
        for (std::size_t i = changed; i-- > 0;) {
            if (entries[i].kind == Kind::reasoning) { continue; }
            std::size_t dropped = 0;
            for (std::size_t j = i; j-- > 0 && entries[j].message == entries[i].message;) {
                dropped += plan_.fate(j) == Fate::drop;
            }
            return BlockPlace{entries[i].message, entries[i].block - dropped};
        }
        return {};
    }

    const Transcript& transcript_;
    const Plan& plan_;
    const Plan* before_;
    const Timing& timing_;
    Prices prices_;
    CacheRules rules_;
};

/// Whether some other result of the same call and arguments stays whole, told by hashes.
class Sight {
public:
    Sight(const Workspace& workspace, std::vector<std::uint64_t>& seen, std::string& scratch)
        : transcript_(workspace.transcript), seen_(seen), scratch_(scratch), seed_(process_seed()) {
        seen_.clear();
        for (std::size_t i = 0; i < transcript_.all().size(); ++i) {
            const Entry& entry = transcript_.all()[i];
            const Fate fate = workspace.plan.fate(i);
            const bool whole = fate == Fate::keep || fate == Fate::elide;
            if (entry.kind == Kind::result && !entry.stub && whole && !entry.identity.empty()) {
                seen_.push_back(key(entry));
            }
        }
        std::sort(seen_.begin(), seen_.end());
    }

    bool has(const Entry& entry) const {
        return !entry.identity.empty() && std::binary_search(seen_.begin(), seen_.end(), key(entry));
    }

private:
    std::uint64_t key(const Entry& entry) const { return hash_bytes(decoded(entry.identity, scratch_), seed_); }

    const Transcript& transcript_;
    std::vector<std::uint64_t>& seen_;
    std::string& scratch_;
    std::uint64_t seed_;
};

}  // namespace coppice::detail
