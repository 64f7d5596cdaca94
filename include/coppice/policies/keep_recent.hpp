// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policies/small_aging.hpp>
#include <coppice/policy.hpp>

#include <limits>
#include <stdexcept>

namespace coppice::inline v0 {

/// For `KeepRecent::keep_images`: images and text share one window.
inline constexpr std::size_t share_window = std::numeric_limits<std::size_t>::max();

namespace detail {

inline void keep_recent_apart(const Transcript& transcript, Plan& plan, std::size_t keep,
                              std::size_t keep_images, Size big, bool count_unread, std::string_view name) {
    const auto entries = transcript.entries();
    for (std::size_t i = entries.size(); i-- > 0;) {
        const Entry& entry = entries[i];
        if (entry.kind != Kind::result) { continue; }
        if (transcript.at_least(entry, big)) {
            if (keep == 0) {
                plan.clear(i, name);
            } else if (plan.could_clear(i, count_unread)) {
                --keep;
            }
        }
        if (entry.images == 0 || !plan.could_elide_images(i, count_unread)) { continue; }
        if (keep_images > 0) {
            --keep_images;
        } else {
            plan.elide_images(i, name);
        }
    }
}

}  // namespace detail

/// Big results lose their content when newer ones are there.
///
/// keeps          the newest `keep` results of at least `big`; the images of the newest `keep_images` results
///                that show any, in a window of their own, so that screenshots do not push text out
/// changes        older big results into a stub each; older images into one line each, the text beside
///                them stays
/// does nothing   to smaller results (`SmallAging`), and to what cannot be cleared: stubs, duplicates,
///                exempt and unread results; none of these takes a place among those kept
///
/// With `keep_images = share_window` a result with an image counts as big whatever its text, and is cleared
/// whole.
template <std::size_t Keep = 5, Size Big = Size{2000}, std::size_t KeepImages = 3, bool CountUnread = false>
struct KeepRecent {
    static constexpr std::string_view name = "keep_recent";

    std::size_t keep = Keep;               ///< results
    Size big = Big;                        ///< joined text; documents and unknown parts count as serialised
    std::size_t keep_images = KeepImages;  ///< results with images, or `share_window`
    bool count_unread = CountUnread;       ///< whether unread results take a place among those kept

    constexpr void validate() const {
        if (big.value == 0) { throw std::invalid_argument("coppice::KeepRecent: `big` must be at least 1"); }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        if (keep_images == share_window) {
            detail::clear_all_but_newest(transcript, plan, keep, count_unread, name, [&](const Entry& entry) {
                return detail::is_big(transcript, entry, big);
            });
        } else {
            detail::keep_recent_apart(transcript, plan, keep, keep_images, big, count_unread, name);
        }
    }
};

}  // namespace coppice
