// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>
#include <coppice/policy.hpp>
#include <coppice/prompt_cache.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace coppice::inline v0::detail {

/// A policy behind virtual calls. It says its own name to the plan, so that reports name it.
struct ChosenPolicy {
    ChosenPolicy() = default;
    ChosenPolicy(const ChosenPolicy&) = delete;
    ChosenPolicy& operator=(const ChosenPolicy&) = delete;
    virtual ~ChosenPolicy() = default;
    virtual void apply(const Transcript& transcript, Plan& plan) const = 0;
    virtual bool commit(const Transcript& transcript, const Plan& plan, std::size_t entry) const = 0;
    virtual bool knows(std::string_view reference) const = 0;
};

template <policy P>
struct ChosenPolicyModel final : ChosenPolicy {
    explicit ChosenPolicyModel(P chosen) : part(std::move(chosen)) {}
    void apply(const Transcript& transcript, Plan& plan) const override { part.apply(transcript, plan); }
    bool commit(const Transcript& transcript, const Plan& plan, std::size_t entry) const override {
        if constexpr (committing_policy<P>) {
            return part.commit(transcript, plan, entry);
        } else {
            return true;
        }
    }
    bool knows(std::string_view reference) const override {
        if constexpr (preview_knowing_policy<P>) {
            return part.knows(reference);
        } else {
            return true;
        }
    }
    P part;
};

/// Policies chosen at run time, in the order of running, and the names that they, or a guard, only view.
struct ChosenPolicies {
    template <policy P>
    void add(P part) {
        auto& list = on_arrival_v<P> ? arrivals : others;
        list.push_back(std::make_unique<ChosenPolicyModel<P>>(std::move(part)));
    }

    std::vector<std::unique_ptr<const ChosenPolicy>> arrivals;
    std::vector<std::unique_ptr<const ChosenPolicy>> others;
    std::deque<std::string> names;
    std::deque<std::vector<std::string_view>> name_lists;
};

/// Those that act on arrival, as one part of a pipeline. Not to be listed where there are none: a pipeline looks for
/// previews of its own only where a part acts on arrival.
struct ChosenArrivals {
    static constexpr std::string_view name = "chosen_arrivals";
    using on_arrival = void;

    std::shared_ptr<const ChosenPolicies> chosen;

    void apply(const Transcript& transcript, Plan& plan) const {
        for (const auto& each : chosen->arrivals) { each->apply(transcript, plan); }
    }
    bool commit(const Transcript& transcript, const Plan& plan, std::size_t entry) const {
        const auto& all = chosen->arrivals;
        return std::all_of(all.begin(), all.end(),
                           [&](const auto& each) { return each->commit(transcript, plan, entry); });
    }
    bool knows(std::string_view reference) const {
        const auto& all = chosen->arrivals;
        return std::all_of(all.begin(), all.end(), [&](const auto& each) { return each->knows(reference); });
    }
};
static_assert(committing_policy<ChosenArrivals> && preview_knowing_policy<ChosenArrivals>);

/// The others, as one part of a pipeline.
struct ChosenOthers {
    static constexpr std::string_view name = "chosen_others";

    std::shared_ptr<const ChosenPolicies> chosen;

    void apply(const Transcript& transcript, Plan& plan) const {
        for (const auto& each : chosen->others) { each->apply(transcript, plan); }
    }
};
static_assert(policy<ChosenOthers>);

/// One of several cadences, chosen at run time. Without allocations, since it is asked at every request.
template <cadence... C>
class ChosenCadence {
public:
    static constexpr std::string_view name = "chosen_cadence";
    using State = std::tuple<typename C::State...>;

    template <class Chosen>
    requires(std::same_as<Chosen, C> || ...)
    explicit ChosenCadence(const Chosen& which) : chosen_(which) {
        if constexpr (requires { which.engage; }) { engage = which.engage; }
        if constexpr (requires { which.prices; }) { prices = which.prices; }
        if constexpr (requires { which.rules; }) { rules = which.rules; }
    }

    // for the report; what a cadence does not have is as a pipeline has it without one
    Size engage{};
    Prices prices = coppice::prices::anthropic;
    CacheRules rules{};

    std::string_view stands_for() const {
        return std::visit([](const auto& which) { return std::string_view(which.name); }, chosen_);
    }

    bool moves(State& state, const Request& request) const {
        return std::visit([&](const auto& which) { return which.moves(state_of(which, state), request); }, chosen_);
    }
    void moved(State& state, const Request& request) const {
        std::visit(
            [&](const auto& which) {
                if constexpr (requires { which.moved(state_of(which, state), request); }) {
                    which.moved(state_of(which, state), request);
                }
            },
            chosen_);
    }
    bool saturated(const State& state) const {
        return std::visit(
            [&](const auto& which) {
                if constexpr (requires { which.saturated(state_of(which, state)); }) {
                    return which.saturated(state_of(which, state));
                } else {
                    return false;
                }
            },
            chosen_);
    }

private:
    template <class Which, class States>
    static auto& state_of(const Which&, States& states) {
        return std::get<typename Which::State>(states);
    }

    std::variant<C...> chosen_;
};

}  // namespace coppice::detail
