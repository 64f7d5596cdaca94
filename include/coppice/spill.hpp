// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>

#include <concepts>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace coppice::inline v0 {

/// A store for full contents that a transcript only refers to.
///
/// `reference` names the place of a content without touching the store: a pure function of its arguments, in
/// printable ASCII. `put` stores the content there, and answers false where it could not: then nothing is
/// promised and the content stays in the transcript. Storing the same content twice is one entry. A store may have
/// `bool refers(std::string_view) const`, whether a path or command leads to what it holds: what a call reads back from
/// there is not stored again; and `bool holds(std::string_view reference) const`: a preview that names another place is
/// a text like any other.
///
/// Exemplar: MemorySpillStore.
/// Models: MemorySpillStore, DiskSpillStore.
template <class S>
concept spill_store = requires(S& store, const S& same, std::string_view id, std::string_view content) {
    { same.reference(id, content) } -> std::convertible_to<std::string>;
    { store.put(std::string_view(), content) } -> std::same_as<bool>;
};

/// Keeps contents in memory, for tests and for hosts that write them elsewhere themselves. Safe to share
/// between threads.
class MemorySpillStore {
public:
    /// Two ids, or one id used twice, never share a reference unless their contents are equal.
    std::string reference(std::string_view id, std::string_view content) const {
        static constexpr char digits[] = "0123456789abcdef";
        std::string name(scheme);
        std::uint64_t low = detail::hash_bytes(content, detail::hash_bytes(id));
        std::uint64_t high = detail::hash_bytes(content, low);
        for (std::uint64_t* word : {&high, &low}) {
            for (int i = 0; i < 16; ++i, *word >>= 4U) { name += digits[*word & 15U]; }
        }
        return name;
    }

    /// Stores a content.
    bool put(std::string_view reference, std::string_view content) {
        const std::scoped_lock lock(mutex_);
        const auto [place, added] = contents_.try_emplace(std::string(reference), content);
        return added || place->second == content;
    }

    /// The content stored there, nothing where there is none.
    std::optional<std::string> get(std::string_view reference) const {
        const std::scoped_lock lock(mutex_);
        const auto found = contents_.find(reference);
        if (found == contents_.end()) { return std::nullopt; }
        return found->second;
    }

    /// Whether the text holds a reference of such a store.
    bool refers(std::string_view text) const {
        for (std::size_t at = text.find(scheme); at != std::string_view::npos;
             at = text.find(scheme, at + 1)) {
            const std::string_view name = text.substr(at + scheme.size(), hash_digits);
            const bool hash = name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
            if (name.size() == hash_digits && hash) { return true; }
        }
        return false;
    }

    /// Whether it holds something there.
    bool holds(std::string_view reference) const {
        const std::scoped_lock lock(mutex_);
        return contents_.find(reference) != contents_.end();
    }

    /// How many contents it holds.
    std::size_t size() const {
        const std::scoped_lock lock(mutex_);
        return contents_.size();
    }

private:
    static constexpr std::string_view scheme = "memory:";
    static constexpr std::size_t hash_digits = 32;

    mutable std::mutex mutex_;
    std::map<std::string, std::string, std::less<>> contents_;
};
static_assert(spill_store<MemorySpillStore>);

}  // namespace coppice
