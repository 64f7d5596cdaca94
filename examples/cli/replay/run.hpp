// SPDX-License-Identifier: MIT
#pragma once

#include "cache_models.hpp"
#include "policy.hpp"
#include "result.hpp"
#include "session.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice_replay {

/// How many calls a result that was asked for again is looked for among.
inline constexpr std::size_t recall_calls = 24;

/// Whether one of the 24 calls from `first` on is the same as `call`, or has its path.
inline bool is_called_again(const Session& session, std::size_t call, std::size_t first) {
    const auto calls = session.calls();
    const std::size_t end = std::min(first + recall_calls, calls.size());
    return std::any_of(calls.begin() + static_cast<std::ptrdiff_t>(std::min(first, end)),
                       calls.begin() + static_cast<std::ptrdiff_t>(end), [&](const Call& later) {
                           return later.signature == calls[call].signature ||
                                  (later.identity != 0 && later.identity == calls[call].identity);
                       });
}

/// Share of the results whose call is made again within 24 calls, whatever is pruned.
inline double base_rate_of(const Session& session) {
    std::size_t again = 0;
    for (const Result& result : session.results()) {
        again += result.call != coppice::none && is_called_again(session, result.call, result.call + 1);
    }
    const std::size_t all = session.results().size();
    return all == 0 ? 0 : static_cast<double>(again) / static_cast<double>(all);
}

/// One policy on its way through a session.
class PolicyReplay {
public:
    PolicyReplay(const NamedPolicy& named, const Session& session)
        : policy_(named.make()),
          cleared_at_(session.pieces().size()),
          evidence_(session.results().size()) {
        run_.policy = named.name;
        run_.requests.reserve(session.requests().size());
        run_.lost.base_rate = base_rate_of(session);
    }

    void step(Session& session, const Request& request) {
        sent_.edits.clear();
        sent_.suggests = false;
        sent_.breakpoint_unit = 0;
        policy_->next(session, request, sent_);
        std::optional<std::size_t> suggested;
        std::size_t unchanging = 0;
        Prompt prompt = std::exchange(spare_, Prompt());
        prompt.assign(blocks(session, request, prompt.take_blocks(), suggested, unchanging));
        const std::size_t before = caches_.previous().tokens();
        const CacheModels::Served served = caches_.serve(prompt, suggested, unchanging);
        RequestFigures figures;
        figures.messages = request.messages;
        figures.tokens = prompt.tokens();
        figures.tokens_whole = request.tokens;
        figures.hits = served.hits;
        figures.hits_suggested = served.hits_suggested;
        figures.rewrite = !served.extends;
        if (figures.rewrite) { figures.rebilled = before - served.hits[0]; }
        run_.requests.push_back(figures);
        spare_ = caches_.exchange_previous(std::move(prompt));
        note_changes(session, request);
    }

    PolicyRun finish(const Session& session, bool with_strip) {
        std::size_t removed = 0;
        std::size_t stubs = 0;
        for (const std::size_t number : sent_.edits) {
            removed += session.edit(number).before;
            stubs += session.edit(number).after;
        }
        run_.removed_tokens = removed / quarters;
        run_.stub_tokens = stubs / quarters;
        if (with_strip) { add_strip(session); }
        return std::move(run_);
    }

private:
    // the body as it is sent
    std::vector<Block> blocks(const Session& session, const Request& request, std::vector<Block> out,
                              std::optional<std::size_t>& suggested, std::size_t& unchanging) const {
        out.clear();
        const std::size_t whole = oldest_whole(session, request);
        if (sent_.suggests) { suggested = 0; }
        std::size_t edit = 0;
        std::size_t message = coppice::none - 1;
        std::size_t carried = 0;  // from blocks that left the message
        for (std::size_t i = 0; i < request.units; ++i) {
            const Unit& unit = session.units()[i];
            Block block{unit.id, unit.tokens, unit.message != message};
            if (i == whole) { unchanging = out.size(); }
            if (i > 0 && unit.message != session.units()[i - 1].message) { carried = 0; }
            if (edit < sent_.edits.size() && session.edit(sent_.edits[edit]).unit == i) {
                std::size_t weight = unit.weight;
                bool dropped = false;
                for (; edit < sent_.edits.size() && session.edit(sent_.edits[edit]).unit == i; ++edit) {
                    const KnownEdit& known = session.edit(sent_.edits[edit]);
                    weight = weight + known.after - std::min(known.before, weight);
                    block.id = coppice::detail::mix(block.id ^ (sent_.edits[edit] + 1) * 0x9E3779B97F4A7C15ULL);
                    dropped = dropped || known.drops_unit;
                }
                if (dropped) {
                    carried += unit.around;
                    continue;
                }
                block.tokens = estimator.tokens(weight + carried);
            } else if (carried > 0) {
                block.tokens = estimator.tokens(unit.weight + carried);
            }
            carried = 0;
            message = unit.message;
            out.push_back(block);
            if (i > 0 && i == sent_.breakpoint_unit) { suggested = out.size(); }
        }
        return out;
    }

    // the unit of the oldest result that could go and is there; 0 where there is none
    std::size_t oldest_whole(const Session& session, const Request& request) const {
        std::size_t edit = 0;
        for (std::size_t i = 0; i < request.results; ++i) {
            const Result& result = session.results()[i];
            const std::size_t unit = session.pieces()[result.piece].unit;
            while (edit < sent_.edits.size() && session.edit(sent_.edits[edit]).unit < unit) { ++edit; }
            const bool changed = edit < sent_.edits.size() && session.edit(sent_.edits[edit]).unit == unit;
            if (!changed && !result.stub.empty()) { return unit; }
        }
        return 0;
    }

    // what is changed for the first time
    void note_changes(const Session& session, const Request& request) {
        for (const std::size_t number : sent_.edits) {
            const KnownEdit& edit = session.edit(number);
            if (number >= counted_.size()) { counted_.resize(number + 1); }
            if (edit.grows && !counted_[number]) { ++run_.growths; }
            counted_[number] = true;
            if (edit.piece == coppice::none) { continue; }
            if (cleared_at_[edit.piece] == 0) { cleared_at_[edit.piece] = request.number; }
            const Piece& piece = session.pieces()[edit.piece];
            if (piece.kind != coppice::Kind::result || edit.content_stays || evidence_[piece.number]) { continue; }
            evidence_[piece.number] = true;
            const Result& result = session.results()[piece.number];
            ++run_.lost.cleared;
            run_.lost.called_again +=
                result.call != coppice::none && is_called_again(session, result.call, request.calls);
            run_.lost.quoted += result.last_quote != coppice::none && result.last_quote >= request.messages;
        }
    }

    void add_strip(const Session& session) {
        run_.strip.reserve(session.pieces().size());
        for (const Piece& piece : session.pieces()) {
            StripEntry& entry = run_.strip.emplace_back();
            entry.kind = kind_name(piece.kind);
            entry.message = piece.message;
            entry.tool = piece.tool;
            entry.identity = piece.identity;
            entry.beginning = piece.beginning;
            entry.tokens = entry.left = estimator.tokens(piece.weight);
        }
        std::vector<std::size_t> saved(session.pieces().size());
        for (const std::size_t number : sent_.edits) {
            const KnownEdit& edit = session.edit(number);
            if (edit.piece == coppice::none) { continue; }
            saved[edit.piece] += edit.before - std::min(edit.after, edit.before);
            StripEntry& entry = run_.strip[edit.piece];
            const std::size_t weight = session.pieces()[edit.piece].weight;
            entry.left = estimator.tokens(weight - std::min(saved[edit.piece], weight));
            entry.cleared_at = cleared_at_[edit.piece];
            if (!entry.replacement.empty() && !edit.replacement.empty()) { entry.replacement += '\n'; }
            entry.replacement += edit.replacement;
        }
    }

    static std::string_view kind_name(coppice::Kind kind) {
        switch (kind) {
            case coppice::Kind::call: return "call";
            case coppice::Kind::result: return "result";
            case coppice::Kind::reasoning: return "reasoning";
            case coppice::Kind::user_text: return "user text";
            case coppice::Kind::assistant_text: return "assistant text";
            case coppice::Kind::opaque: break;
        }
        return "other";
    }

    std::unique_ptr<ReplayPolicy> policy_;
    PolicyRun run_;
    CacheModels caches_;
    Prompt spare_;
    Sent sent_;                            // with the last request
    std::vector<std::size_t> cleared_at_;  // of each piece
    std::vector<bool> evidence_;           // results that have been counted
    std::vector<bool> counted_;            // edits that have been seen
};

/// Replays a session through policies. `progress(request, policy name)` is called now and then.
template <class Progress>
SessionRun replay(Session& session, const std::vector<NamedPolicy>& policies, bool with_strip, Progress progress) {
    std::vector<PolicyReplay> replays;
    for (const NamedPolicy& named : policies) { replays.emplace_back(named, session); }
    for (const Request& request : session.requests()) {
        session.document_at(request);
        for (std::size_t i = 0; i < replays.size(); ++i) {
            progress(request, policies[i].name);
            replays[i].step(session, request);
        }
    }
    SessionRun run;
    run.session = session.name();
    run.dialect = coppice::name_of(session.dialect());
    for (PolicyReplay& one : replays) { run.runs.push_back(one.finish(session, with_strip)); }
    return run;
}

}  // namespace coppice_replay
