// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/prompt_cache.hpp>
#include <coppice/transcript.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace coppice::inline v0 {

/// What a rewrite at some request would come to, for cadences that weigh one against the other. Estimated tokens.
struct Reclaim {
    std::size_t removed = 0;    ///< what the pipeline would take out of the body beyond what it took out before
    std::size_t rewritten = 0;  ///< what stays behind the first change and was cached: the provider reads it anew
};

/// What a request offers to those who weigh. Nobody outside the pipeline implements it.
class Prospect {
public:
    virtual ~Prospect() = default;
    /// As Request::reclaim.
    virtual Reclaim reclaim(const CacheRules& rules) = 0;
    /// As Request::pruned_tokens.
    virtual std::size_t pruned_tokens() = 0;
    /// As Request::left_stubs.
    virtual bool left_stubs() = 0;

protected:
    Prospect() = default;
    Prospect(const Prospect&) = default;
    Prospect& operator=(const Prospect&) = default;
};

/// One request of the history: the moment at which its first `messages` messages were sent.
struct Request {
    std::size_t number = 0;    ///< 1 for the first request of the history
    std::size_t messages = 0;  ///< that were sent with it
    std::size_t results = 0;   ///< tool results among them
    bool may_change = true;    ///< otherwise a yes waits: in the tool loop of a model that binds its thinking

    /// The unpruned body of this request.
    Extent body() const { return transcript->body_until(messages); }
    /// Whether it has at least this much; cheaper than `body`.
    bool body_at_least(Size size) const { return transcript->body_at_least(messages, size); }

    /// Estimated tokens of the body as it is pruned by what was decided before.
    std::size_t pruned_tokens() const { return prospect == nullptr ? 0 : prospect->pruned_tokens(); }
    /// What a rewrite at this request would come to. Results of less than six times the shortest stub are not worth
    /// weighing, and stay whole under a cadence that asks. In long histories this is looked at with every second, fourth, ...
    /// request only, so that asking at each request costs about as much as planning the history a few times.
    Reclaim reclaim(const CacheRules& rules = {}) const {
        return prospect == nullptr ? Reclaim{} : prospect->reclaim(rules);
    }

    /// Whether rewrites at earlier requests have changed a call or a result. A body that is fed back pruned has stubs
    /// instead: `Entry::stub`, `cleared` and `elided` tell.
    bool left_stubs() const { return prospect != nullptr && prospect->left_stubs(); }

    const Transcript* transcript = nullptr;  ///< the whole history
    Prospect* prospect = nullptr;            ///< who answers what is asked of it
};

/// A cadence: decides when the pruned prefix may change. It is a fold over the requests of the history,
/// oldest first: `moves` is asked once for each, with a state that starts fresh every time. The last request
/// for which it said yes is the horizon: policies see the history up to there, everything behind it stays as
/// it is. A pure function of the history, so that every process gives the same answer and nothing has to be
/// stored.
///
/// A yes need not be followed at once: on models that bind thinking, the next turn of the user is waited for. A cadence
/// that has to know when it was, has `void moved(State&, const Request&) const`. One that weighs the prompt cache shows
/// its `prices`, for the report; one with a mark that what cannot be cleared may pass has `bool saturated(const State&)
/// const`. One that stands for another has `std::string_view stands_for() const`, the name that reports have then.
///
/// Exemplar
///
///     struct EveryThirdRequest {
///         static constexpr std::string_view name = "every_third_request";
///         struct State {};
///         bool moves(State&, const coppice::Request& request) const { return request.number % 3 == 0; }
///     };
///
/// Models: EveryRequest, Stepped, MinReclaim, Watermark, Regrowth, Pressure, SkiRental.
template <class C>
concept cadence = std::copyable<C> && std::default_initializable<typename C::State> &&
    requires(const C& c, typename C::State& state, const Request& request) {
    { C::name } -> std::convertible_to<std::string_view>;
    { c.moves(state, request) } -> std::same_as<bool>;
};

namespace detail {

/// Calls `visit(Request&)` for every request of the history, oldest first.
template <class Visit>
void for_each_request(const Transcript& transcript, Visit visit) {
    Request request;
    request.transcript = &transcript;
    std::size_t entry = 0;
    const auto send = [&](std::size_t count) {
        for (; entry < transcript.first_entry_of(count); ++entry) {
            request.results += transcript.all()[entry].kind == Kind::result;
        }
        ++request.number;
        request.messages = count;
        visit(request);
    };
    for (std::size_t i = 1; i < transcript.messages.size(); ++i) {
        const bool turn_starts = transcript.messages[i].role == Role::assistant &&
                                 transcript.messages[i - 1].role != Role::assistant;
        if (turn_starts) { send(i); }
    }
    if (!transcript.messages.empty()) { send(transcript.messages.size()); }
}

}  // namespace detail
}  // namespace coppice
