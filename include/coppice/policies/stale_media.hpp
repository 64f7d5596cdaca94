// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policy.hpp>

#include <algorithm>
#include <cstddef>

namespace coppice::inline v0 {

/// Old images go, also those that the user sent, which no other policy touches.
///
/// keeps          the newest `keep_images` images of the whole history, of results and of the user's messages together;
///                those of one result stay or go together, and stay while a place is left for one of them
/// changes        older ones into one line of text each; the text beside them stays
/// does nothing   to documents, sound and video; to images that the model has not read yet; to those that are exempt,
///                or that the provider's rules keep (of Responses and Ollama, those of the user); none of these takes a
///                place among those kept
template <std::size_t KeepImages = 5>
struct StaleMedia {
    static constexpr std::string_view name = "stale_media";

    std::size_t keep_images = KeepImages;  ///< newest ones that stay

    void apply(const Transcript& transcript, Plan& plan) const {
        std::size_t left = keep_images;
        for (std::size_t i = transcript.entries().size(); i-- > 0;) {
            const Entry& entry = transcript.entries()[i];
            if (entry.images == 0) { continue; }
            const bool of_user = entry.kind == Kind::user_text;
            if (left > 0) {
                const bool counts = of_user ? plan.could_elide_user_image(i) : plan.could_elide_images(i);
                if (counts) { left -= std::min(entry.images, left); }
            } else if (of_user) {
                plan.elide_user_image(i, name);
            } else {
                plan.elide_images(i, name);
            }
        }
    }
};

}  // namespace coppice
