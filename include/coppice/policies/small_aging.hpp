// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policy.hpp>

#include <stdexcept>

namespace coppice::inline v0 {

namespace detail {

/// More than `above`, less than `big`, and no image now or before.
inline bool is_small(const Transcript& transcript, const Entry& entry, Size above, Size big) {
    return entry.kind == Kind::result && entry.images + entry.elided == 0 &&
           transcript.exceeds(entry, above) && !transcript.at_least(entry, big);
}

/// At least `big`, or with an image.
inline bool is_big(const Transcript& transcript, const Entry& entry, Size big) {
    return entry.kind == Kind::result && (entry.images > 0 || transcript.at_least(entry, big));
}

}  // namespace detail

/// Small results lose their text when many newer ones are there. One alone weighs little; together they can
/// be a third of a long session.
///
/// keeps          the newest `keep` small results, whole
/// changes        older ones into a stub each
/// does nothing   to tiny results (`above` or less), to results with images, to big ones (`KeepRecent`), and
///                to whatever a stub would not make smaller; such results take no place among those kept
template <std::size_t Keep = 30, Size Above = Size{80}, Size Big = Size{2000}, bool CountUnread = false>
struct SmallAging {
    static constexpr std::string_view name = "small_aging";

    std::size_t keep = Keep;          ///< results
    Size above = Above;               ///< a small result exceeds this
    Size big = Big;                   ///< and is shorter than this
    bool count_unread = CountUnread;  ///< whether unread results take a place among those kept

    constexpr void validate() const {
        if (above.unit != big.unit) {
            throw std::invalid_argument("coppice::SmallAging: `above` and `big` need one unit");
        }
        if (above.value >= big.value) {
            throw std::invalid_argument("coppice::SmallAging: `above` must be less than `big`");
        }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        detail::clear_all_but_newest(transcript, plan, keep, count_unread, name, [&](const Entry& entry) {
            return detail::is_small(transcript, entry, above, big);
        });
    }
};

}  // namespace coppice
