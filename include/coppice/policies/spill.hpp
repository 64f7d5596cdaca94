// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policy.hpp>
#include <coppice/spill.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace coppice::inline v0 {

/// Huge results move into a store as soon as they arrive; a preview with head, tail and the place stays.
///
/// keeps          everything: the full content is in the store before the transcript refers to it
/// changes        results of text alone that exceed `above`, also those the model has not read yet, since the
///                preview depends on nothing but the result
/// does nothing   without a store; when the store refuses (the content stays); to results with images or
///                documents; to previews; to results of calls that read from the store
///
/// Later policies may clear a preview too; the stub then still names the place.
template <Size Above = Size{50'000}, spill_store Store = MemorySpillStore>
struct Spill {
    static constexpr std::string_view name = "spill";
    using on_arrival = void;
    using needs_preview = void;

    Size above = Above;      ///< joined text
    Store* store = nullptr;  ///< not owned; outlives the call

    /// A preview holds up to 4,000 characters, 16,000 bytes, and says where the rest is.
    static constexpr std::size_t smallest = 16'000;

    constexpr void validate() const {
        if (above.value < smallest) {
            throw std::invalid_argument(
                "coppice::Spill: `above` must be at least 16000, what a preview may hold");
        }
    }

    void apply(const Transcript& transcript, Plan& plan) const {
        if (store == nullptr) { return; }
        std::string content;
        std::string id;
        for (std::size_t i = 0; i < transcript.entries().size(); ++i) {
            const Entry& entry = transcript.entries()[i];
            const bool text_only = entry.images + entry.elided + entry.documents + entry.others == 0;
            const bool preview = !entry.reference.empty();
            if (entry.kind != Kind::result || !text_only || preview || !transcript.exceeds(entry, above)) {
                continue;
            }
            if constexpr (requires { store->refers(std::string_view()); }) {
                if (store->refers(decoded(entry.identity, id))) { continue; }
            }
            content.clear();
            plan.append_joined_text(i, content);
            plan.spill(i, store->reference(decoded(entry.id, id), content), name);
        }
    }

    /// Whether a preview names a place of the store's, as far as it can tell.
    bool knows(std::string_view reference) const {
        if constexpr (requires { store->holds(reference); }) {
            return store == nullptr || store->holds(reference);
        }
        return true;
    }

    /// Stores what the plan took out; false where that failed.
    bool commit(const Transcript&, const Plan& plan, std::size_t entry) const {
        std::string content;
        plan.append_joined_text(entry, content);
        return store != nullptr && store->put(plan.reference(entry), content);
    }
};

}  // namespace coppice
