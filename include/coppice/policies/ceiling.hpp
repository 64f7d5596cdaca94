// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/small_aging.hpp>
#include <coppice/policy.hpp>

#include <span>
#include <stdexcept>

namespace coppice::inline v0 {

namespace detail {

struct CeilingOptions {
    Size target;
    std::size_t keep;
    Size big;
    Size above;
    std::span<const std::string_view> fields;
    bool count_unread;
    std::string_view name;
};

// Index of the oldest result that the floor keeps.
inline std::size_t floor_begin(const Transcript& transcript, Plan& plan, const CeilingOptions& options) {
    const auto entries = transcript.entries();
    std::size_t keep = options.keep;
    for (std::size_t i = entries.size(); i-- > 0 && keep > 0;) {
        if (!is_big(transcript, entries[i], options.big) || !plan.could_clear(i, options.count_unread)) {
            continue;
        }
        if (--keep == 0) { return i; }
    }
    return keep == 0 ? entries.size() : 0;
}

inline void enforce_ceiling(const Transcript& transcript, Plan& plan, const CeilingOptions& options) {
    const auto entries = transcript.entries();
    const auto over = [&] { return plan.body_exceeds(options.target); };
    plan.set_ceiling({.target = options.target});
    if (!over()) { return; }
    const std::size_t floor = floor_begin(transcript, plan, options);
    for (std::size_t i = 0; i < entries.size() && over(); ++i) {
        if (entries[i].kind == Kind::call) {
            for_each_bulky_field(transcript, entries[i], options.fields, options.big, [&](std::size_t field) {
                if (over()) { plan.clear_field(i, field, options.name); }
            });
        } else if (i < floor && is_big(transcript, entries[i], options.big)) {
            plan.clear(i, options.name);
        }
    }
    for (std::size_t i = 0; i < entries.size() && over(); ++i) {
        if (is_small(transcript, entries[i], options.above, options.big)) { plan.clear(i, options.name); }
    }
    if (over()) {
        const bool at_floor = options.keep > 0 && floor < entries.size();
        plan.set_ceiling({.target = options.target,
                          .why = at_floor ? "only the floor and what cannot be cleared is left"
                                          : "only what cannot be cleared is left"});
    }
}

}  // namespace detail

/// A bound on the whole body, enforced after the gentler policies: list it last.
///
/// keeps          the newest `keep` big results that could be cleared, whatever the pressure; all text of
///                the user
/// changes        oldest first, one pass: big results and bulky inputs, then small results, until the body
///                has at most `target`
/// does nothing   when the body fits; below the floor; the report says whether the body is under the
///                target, and if not, why
template <Size Target = Size{120'000}, std::size_t Keep = 2, Size Big = Size{2000},
          Size Above = Size{80, Big.unit}, bool CountUnread = false>
struct Ceiling {
    static constexpr std::string_view name = "ceiling";

    Size target = Target;     ///< of the body as compact JSON
    std::size_t keep = Keep;  ///< big results: the floor
    Size big = Big;           ///< a result or input field of at least this is big
    Size above = Above;       ///< results up to this are never touched
    std::span<const std::string_view> fields =
        bulky_input_fields;           ///< names; not owned, outlives the pipeline
    bool count_unread = CountUnread;  ///< whether unread results count towards the floor

    constexpr void validate() const {
        if (target.unit != big.unit || above.unit != big.unit) {
            throw std::invalid_argument("coppice::Ceiling: `target`, `big` and `above` need one unit");
        }
        if (above.value >= big.value) {
            throw std::invalid_argument("coppice::Ceiling: `above` must be less than `big`");
        }
        if (target.value / big.value < keep) {
            throw std::invalid_argument(
                "coppice::Ceiling: the floor of `keep` big results alone exceeds the target; raise `target` "
                "or lower `keep`");
        }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        detail::enforce_ceiling(transcript, plan, {target, keep, big, above, fields, count_unread, name});
    }
};

}  // namespace coppice
