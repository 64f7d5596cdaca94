// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace coppice::detail {

inline std::uint64_t mix(std::uint64_t value) {
    value ^= value >> 30U;
    value *= 0xBF58476D1CE4E5B9ULL;
    value ^= value >> 27U;
    value *= 0x94D049BB133111EBULL;
    return value ^ (value >> 31U);
}

/// Eight bytes a step, and in long texts four steps at a time. Only a filter: whoever finds two equal hashes
/// compares the bytes.
inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0) {
    std::uint64_t hash = mix(seed + 0x9E3779B97F4A7C15ULL + bytes.size());
    if (bytes.size() >= 64) {
        std::array<std::uint64_t, 4> lanes{hash, hash + 1, hash + 2, hash + 3};
        for (; bytes.size() >= 32; bytes.remove_prefix(32)) {
            std::array<std::uint64_t, 4> words;
            std::memcpy(words.data(), bytes.data(), 32);
            for (std::size_t i = 0; i < 4; ++i) {
                lanes[i] = (lanes[i] ^ words[i]) * 0x9FB21C651E98DF25ULL;
                lanes[i] ^= lanes[i] >> 32U;
            }
        }
        for (const std::uint64_t lane : lanes) { hash = mix(hash ^ lane); }
    }
    while (bytes.size() >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), 8);
        hash = (hash ^ word) * 0x9FB21C651E98DF25ULL;
        hash ^= hash >> 32U;
        bytes.remove_prefix(8);
    }
    std::uint64_t word = 0;
    if (!bytes.empty()) { std::memcpy(&word, bytes.data(), bytes.size()); }
    return mix(hash ^ word);
}

/// A number that nobody outside this process knows: inputs cannot be made so that their hashes meet.
inline std::uint64_t process_seed() {
    static const std::uint64_t seed = [] {
        try {
            std::random_device device;
            return (static_cast<std::uint64_t>(device()) << 32U) ^ device();
        } catch (...) {
            // without one, where the program was loaded
            static const char here = 0;
            return mix(reinterpret_cast<std::uintptr_t>(&here));
        }
    }();
    return seed;
}

/// Maps 64-bit keys to a position in an outside list. Open addressing, no erase, storage kept for reuse: starting
/// anew takes no time, however large it once was.
class Index {
public:
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);

    void start(std::size_t expected) {
        std::size_t capacity = slots_.empty() ? 16 : slots_.size();
        while (capacity < expected * 2) { capacity *= 2; }
        used_ = 0;
        if (capacity != slots_.size() || ++round_ == 0) {
            slots_.assign(capacity, Slot{});
            round_ = 1;
        }
    }

    /// The value stored under `key`, added as `absent` where there is none.
    std::size_t& operator[](std::uint64_t key) {
        if ((used_ + 1) * 2 > slots_.size()) { grow(); }
        Slot& slot = find(key);
        if (slot.round != round_) {
            slot = Slot{key, absent, round_};
            ++used_;
        }
        return slot.value;
    }

private:
    struct Slot {
        std::uint64_t key = 0;
        std::size_t value = absent;
        std::uint32_t round = 0;  // of the last use
    };

    Slot& find(std::uint64_t key) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = static_cast<std::size_t>(mix(key)) & mask;
        while (slots_[at].round == round_ && slots_[at].key != key) { at = (at + 1) & mask; }
        return slots_[at];
    }

    void grow() {
        std::vector<Slot> old(slots_.empty() ? 16 : slots_.size() * 2);
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.round == round_) { find(slot.key) = slot; }
        }
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
    std::uint32_t round_ = 1;
};

}  // namespace coppice::detail
