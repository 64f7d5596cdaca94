// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/ages.hpp>
#include <coppice/detail/call_identity.hpp>
#include <coppice/detail/hash.hpp>
#include <coppice/policy.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace coppice::inline v0 {

namespace detail {

struct RepeatedCallOptions {
    std::size_t fresh;  // the message where what is new begins
    Size min;
    std::string_view name;
};

/// Whether anything of a result stays that can stand for an older one, so that it does the next time, too.
inline bool can_be_read(const Transcript& transcript, const Plan& plan, std::size_t result) {
    const Entry& entry = transcript.all()[result];
    if (entry.stub || plan.fate(result) == Fate::stub || plan.fate(result) == Fate::clip) { return false; }
    for (std::size_t i = entry.first_part; i < entry.first_part + entry.part_count; ++i) {
        const bool gone = plan.fate(result) == Fate::elide && plan.changes_part(i);
        if (transcript.parts[i].kind != Part::Kind::stub && !gone) { return true; }
    }
    return false;
}

inline void clear_repeated_calls(const Transcript& transcript, Plan& plan, const RepeatedCallOptions& options) {
    const auto entries = transcript.entries();
    Plan::Scratch& scratch = plan.scratch();
    const auto spelled = [&](const Entry& call, std::string& out) -> const std::string& {
        out.clear();
        append_call(transcript, call, out, scratch.tool);
        return out;
    };
    Index& newest = scratch.newest;
    newest.start(0);
    for (std::size_t i = entries.size(); i-- > 0;) {
        const Entry& call = entries[i];
        // what an earlier pruning took out of a call may be all that told it from others
        const bool whole = call.kind == Kind::call && !call.cleared && call.peer != none && call.peer < entries.size();
        if (!whole || plan.fate(i) != Fate::keep) { continue; }
        const Entry& result = entries[call.peer];
        // a history is asked for its calls again and again
        if (call.hash == 0) { call.hash = hash_bytes(spelled(call, scratch.left), process_seed()); }
        std::size_t& found = newest[call.hash];
        // a failure does not make an older answer worthless
        const bool stands = found != Index::absent && (result.error || !entries[entries[found].peer].error);
        if (!stands) {
            if (can_be_read(transcript, plan, call.peer)) { found = i; }
            continue;
        }
        if (result.message >= options.fresh || !transcript.at_least(result, options.min)) { continue; }
        if (spelled(call, scratch.left) != spelled(entries[found], scratch.right)) { continue; }
        plan.clear(call.peer, options.name);
    }
}

}  // namespace detail

/// A call was made again: what it answered before is out of date.
///
/// keeps          the result of the newest of calls with one tool and one input (whatever the order of keys), as long as
///                something of it stays; every result of the newest `keep_turns` turns of the user and of the newest `keep_steps`
///                steps of the model; an answer where what came of the same call later is a failure
/// changes        older results of at least `min` into a stub each, whether they differ or not
/// does nothing   where an earlier pruning has taken anything out of the call
///
/// Results that are the same are found by `Dedup`, which leaves the newest whole; here the older one may have said what
/// the newer one does not, so that it is not among the defaults.
template <std::size_t KeepTurns = 3, std::size_t KeepSteps = 10, Size Min = Size{400}>
struct RepeatedCall {
    static constexpr std::string_view name = "repeated_call";

    std::size_t keep_turns = KeepTurns;  ///< turns of the user, the open one among them
    std::size_t keep_steps = KeepSteps;  ///< steps of the model
    Size min = Min;                      ///< joined text

    constexpr void validate() const {
        if (min.value == 0) { throw std::invalid_argument("coppice::RepeatedCall: `min` must be at least 1"); }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        const std::size_t fresh = detail::newest_begin(transcript, keep_turns, keep_steps);
        detail::clear_repeated_calls(transcript, plan, {fresh, min, name});
    }
};

}  // namespace coppice
