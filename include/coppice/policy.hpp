// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/plan.hpp>
#include <coppice/transcript.hpp>

#include <concepts>
#include <string_view>

namespace coppice::inline v0 {

/// A policy: says what to change. It reads the transcript, of which it sees the entries up to the horizon,
/// and writes the plan. It is a pure function of both: no clock, no counter, no state between calls. Running
/// it on its own output plans nothing. In one call it may run several times: at the request before, and where the
/// cadence weighs, on parts of the history that hold what may still change.
///
/// Calls and results are entries of their own, and both know the tool. What cannot be cleared, a call for
/// instance, `clear` refuses; nothing has to be checked before.
///
/// Exemplar
///
///     struct ClearGlobs {
///         static constexpr std::string_view name = "clear_globs";
///         void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
///             for (std::size_t i = 0; i < transcript.entries().size(); ++i) {
///                 if (coppice::same_text(transcript.entries()[i].tool, std::string_view("Glob"))) {
///                     plan.clear(i, name);
///                 }
///             }
///         }
///     };
///
/// Models: those in policies.hpp.
template <class P>
concept policy = std::copyable<P> && requires(const P& p, const Transcript& transcript, Plan& plan) {
    { P::name } -> std::convertible_to<std::string_view>;
    { p.apply(transcript, plan) } -> std::same_as<void>;
};

/// A policy whose decision on an entry depends on that entry alone. It runs before the others and on the
/// whole history whatever the horizon, so that the model never sees the entry otherwise.
template <class P>
inline constexpr bool on_arrival_v = requires {
    typename P::on_arrival;
};

/// A policy that writes previews: the pipeline's wording has to have some.
template <class P>
inline constexpr bool needs_preview_v = requires {
    typename P::needs_preview;
};

/// A policy that cuts results down to head and tail: the pipeline's wording has to have a line for that.
template <class P>
inline constexpr bool needs_cap_v = requires {
    typename P::needs_cap;
};

/// A policy that clips old results: the pipeline's wording has to have a line for that.
template <class P>
inline constexpr bool needs_clip_v = requires {
    typename P::needs_clip;
};

/// A policy that has to do something before its plan may be carried out; false takes the change back.
template <class P>
concept committing_policy = policy<P> &&
    requires(const P& p, const Transcript& transcript, const Plan& plan, std::size_t entry) {
    { p.commit(transcript, plan, entry) } -> std::same_as<bool>;
};

/// A policy that can tell whether a preview in the transcript is one that it wrote.
template <class P>
concept preview_knowing_policy = policy<P> && requires(const P& p, std::string_view reference) {
    { p.knows(reference) } -> std::same_as<bool>;
};

namespace detail {

/// Clears the results that belong to a policy, all but the newest `keep`. What could not be cleared anyway takes no
/// place among these; with `count_unread`, what is only unread does.
template <class Belongs>
void clear_all_but_newest(const Transcript& transcript, Plan& plan, std::size_t keep, bool count_unread,
                          std::string_view name, Belongs belongs) {
    const auto entries = transcript.entries();
    for (std::size_t i = entries.size(); i-- > 0;) {
        if (!belongs(entries[i])) { continue; }
        if (keep == 0) {
            plan.clear(i, name);
        } else if (plan.could_clear(i, count_unread)) {
            --keep;
        }
    }
}

}  // namespace detail
}  // namespace coppice
