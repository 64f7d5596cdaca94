// SPDX-License-Identifier: MIT
// What other systems do to tool results, as far as it can be said in numbers: when they clear, and how much they keep.
// All of them write coppice's stubs, leave unread results alone and results that a stub would not make shorter, so that
// only their decisions are compared. A result that is cleared stays cleared, but where it says otherwise.
#pragma once

#include "policy.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice_replay {

/// What a rule sees and does at a request: results are numbered, oldest first.
class Clearing {
public:
    void begin(const Session& session, const Request& request) {
        session_ = &session;
        request_ = &request;
        cleared_.resize(session.results().size());
    }

    const Request& request() const { return *request_; }
    std::size_t count() const { return request_->results; }
    const Result& result(std::size_t i) const { return session_->results()[i]; }
    bool cleared(std::size_t i) const { return cleared_[i]; }
    /// Whether it can be cleared now.
    bool open(std::size_t i) const { return i < request_->read && !cleared_[i] && !result(i).stub.empty(); }
    void clear(std::size_t i) {
        if (!open(i)) { return; }
        cleared_[i] = true;
        saved_ += result(i).gain;
    }
    void clear_before(std::size_t end) {
        for (std::size_t i = 0; i < std::min(end, count()); ++i) { clear(i); }
    }
    /// Everything is whole again.
    void forget() {
        std::fill(cleared_.begin(), cleared_.end(), false);
        saved_ = 0;
    }

    /// Tokens of the body as it is sent.
    std::size_t tokens() const { return request_->tokens - std::min(saved_, request_->tokens); }
    /// Results before this one are older than the newest `keep`.
    std::size_t end_of_old(std::size_t keep) const { return count() > keep ? count() - keep : 0; }
    /// Tokens that clearing all before `end` would take out.
    std::size_t reclaim(std::size_t end) const {
        std::size_t sum = 0;
        for (std::size_t i = 0; i < end; ++i) { sum += open(i) ? result(i).gain : 0; }
        return sum;
    }
    /// Tokens that would be behind the first change, if all before `end` were cleared.
    std::size_t rewritten(std::size_t end) const {
        std::size_t first = 0;
        while (first < end && !open(first)) { ++first; }
        if (first >= end) { return 0; }
        const std::size_t unit = session_->pieces()[result(first).piece].unit;
        std::size_t tokens = 0;
        for (std::size_t i = unit; i < request_->units; ++i) { tokens += session_->units()[i].tokens; }
        std::size_t saved = reclaim(end);
        for (std::size_t i = first; i < count(); ++i) { saved += cleared_[i] ? result(i).gain : 0; }
        return tokens - std::min(saved, tokens);
    }

private:
    const Session* session_ = nullptr;
    const Request* request_ = nullptr;
    std::vector<bool> cleared_;
    std::size_t saved_ = 0;
};

using Rule = std::function<void(Clearing&)>;

class RulePolicy final : public ReplayPolicy {
public:
    explicit RulePolicy(Rule rule) : rule_(std::move(rule)) {}

    void next(Session& session, const Request& request, Sent& sent) override {
        clearing_.begin(session, request);
        rule_(clearing_);
        for (std::size_t i = 0; i < request.results; ++i) {
            if (!clearing_.cleared(i)) { continue; }
            const auto& stub = session.results()[i].stub;
            sent.edits.insert(sent.edits.end(), stub.begin(), stub.end());
        }
    }

private:
    Rule rule_;
    Clearing clearing_;
};

namespace rules {

inline Rule keep_newest(std::size_t keep) {
    return [keep](Clearing& now) { now.clear_before(now.end_of_old(keep)); };
}

/// SWE-agent: keeps from `keep` to `keep` + `polling` observations, of which the first is the task and never cleared.
inline Rule polling(std::size_t keep, std::size_t polling) {
    return [keep, polling](Clearing& now) {
        const std::size_t rounded = (now.count() + 1) / polling * polling;
        if (rounded > keep + 1) { now.clear_before(rounded - keep - 1); }
    };
}

/// Moves with every `requests`-th request.
inline Rule stepped(std::size_t keep, std::size_t requests) {
    return [keep, requests](Clearing& now) {
        if (now.request().number % requests == 0) { now.clear_before(now.end_of_old(keep)); }
    };
}

/// Clears all but the newest results from `trigger` tokens on, where that takes out at least so many.
inline Rule gated(std::size_t keep, std::size_t trigger, std::size_t at_least) {
    return [keep, trigger, at_least](Clearing& now) {
        const std::size_t end = now.end_of_old(keep);
        if (now.tokens() < trigger || now.reclaim(end) < std::max<std::size_t>(at_least, 1)) { return; }
        now.clear_before(end);
    };
}

/// The same of the raw history, decided anew with every request.
inline Rule forgetful(std::size_t keep, std::size_t trigger) {
    return [keep, trigger](Clearing& now) {
        now.forget();
        if (now.tokens() >= trigger) { now.clear_before(now.end_of_old(keep)); }
    };
}

/// From `high` tokens on, oldest first until there are at most `low`.
inline Rule watermark(std::size_t keep, std::size_t high, std::size_t low) {
    return [keep, high, low](Clearing& now) {
        if (now.tokens() < high) { return; }
        const std::size_t end = now.end_of_old(keep);
        for (std::size_t i = 0; i < end && now.tokens() > low; ++i) { now.clear(i); }
    };
}

struct Protection {
    std::size_t tokens = 0;      ///< of the newest tool output
    std::size_t at_least = 0;    ///< tokens of output that have to go at once
    std::size_t user_turns = 0;  ///< the newest ones stay whole and do not count
    bool unread_counts = true;   ///< as part of the protected output
};

/// opencode and Gemini CLI: everything older than the newest tool output of so many tokens.
inline Rule protecting(Protection protection) {
    return [protection](Clearing& now) {
        std::size_t seen = 0;
        std::size_t reclaim = 0;
        std::vector<std::size_t> chosen;
        const std::size_t turns = now.count() == 0 ? 0 : now.result(now.count() - 1).user_turn;
        for (std::size_t i = now.count(); i-- > 0;) {
            if (now.cleared(i)) { break; }
            const Result& result = now.result(i);
            if (result.user_turn + protection.user_turns > turns) { continue; }
            if (i >= now.request().read && !protection.unread_counts) { continue; }
            seen += result.tokens;
            if (seen <= protection.tokens) { continue; }
            reclaim += result.tokens;
            chosen.push_back(i);
        }
        if (reclaim < protection.at_least) { return; }
        for (const std::size_t i : chosen) { now.clear(i); }
    };
}

/// All results but those of the newest model turns.
inline Rule keep_turns(std::size_t turns) {
    return [turns](Clearing& now) {
        for (std::size_t i = 0; i < now.count() && now.result(i).turn + turns < now.request().number; ++i) {
            now.clear(i);
        }
    };
}

/// Clears when what carrying the old results along has cost, at `read` thousandths a token and request, reaches what
/// writing anew what is behind them would cost more than reading it.
inline Rule ski_rental(std::size_t keep, std::size_t write, std::size_t read) {
    return [keep, write, read, paid = std::size_t{}](Clearing& now) mutable {
        const std::size_t end = now.end_of_old(keep);
        const std::size_t reclaim = now.reclaim(end);
        if (reclaim == 0) { return; }
        paid += read * reclaim;
        if (paid < (write - read) * now.rewritten(end)) { return; }
        now.clear_before(end);
        paid = 0;
    };
}

}  // namespace rules

/// What the library's policies are compared with.
inline std::vector<NamedPolicy> baselines() {
    std::vector<NamedPolicy> all;
    const auto add = [&](std::string name, std::string what, auto rule) {
        all.push_back({std::move(name), std::move(what), [rule] { return std::make_unique<RulePolicy>(rule); }});
    };
    add("none", "nothing is ever cleared", [](Clearing&) {});
    add("sliding-5", "with every request all results but the newest 5", rules::keep_newest(5));
    add("stepped-10", "the same with every tenth request", rules::stepped(5, 10));
    for (const std::size_t p : {std::size_t{1}, std::size_t{10}, std::size_t{25}}) {
        const std::string number = std::to_string(p);
        add("swe-agent-" + number, "SWE-agent's last 5 observations, polling " + number, rules::polling(5, p));
    }
    add("opencode", "all results behind the newest 40k tokens of them, at least 20k at once",
        rules::protecting({.tokens = 40'000, .at_least = 20'000}));
    add("opencode-turns", "the same, but results of the newest 2 user turns stay, as in opencode itself",
        rules::protecting({.tokens = 40'000, .at_least = 20'000, .user_turns = 2}));
    add("gemini-cli", "all results behind the newest 50k tokens of read ones, at least 30k at once",
        rules::protecting({.tokens = 50'000, .at_least = 30'000, .unread_counts = false}));
    add("anthropic", "context editing: from 100k tokens on all but the newest 3", rules::gated(3, 100'000, 0));
    add("anthropic-20k", "the same where that takes out at least 20k", rules::gated(3, 100'000, 20'000));
    add("langchain", "from 100k tokens of raw history on all but the newest 3, decided anew each time",
        rules::forgetful(3, 100'000));
    add("mark-100k-95k", "from 100k tokens on down to 95k, oldest first, keeping 5",
        rules::watermark(5, 100'000, 95'000));
    add("mark-100k-50k", "from 100k tokens on down to 50k, oldest first, keeping 5",
        rules::watermark(5, 100'000, 50'000));
    add("mark-60k-35k", "from 60k tokens on down to 35k, oldest first, keeping 5",
        rules::watermark(5, 60'000, 35'000));
    for (const std::size_t gate : {std::size_t{2}, std::size_t{4}, std::size_t{10}, std::size_t{20}}) {
        const std::string number = std::to_string(gate);
        add("reclaim-" + number + "k", "all but the newest 5 once that takes out " + number + "k tokens",
            rules::gated(5, 0, gate * 1000));
    }
    add("keep-turns-10", "Keep-Last-N: with every request all results but those of the last 10 model turns",
        rules::keep_turns(10));
    add("ski-5", "all but the newest 5 once carrying them cost what clearing costs, at Anthropic's prices",
        rules::ski_rental(5, 1250, 100));
    return all;
}

}  // namespace coppice_replay
