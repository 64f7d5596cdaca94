// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

inline std::uint64_t mix(std::uint64_t value) {
    value ^= value >> 30U;
    value *= 0xBF58476D1CE4E5B9ULL;
    value ^= value >> 27U;
    value *= 0x94D049BB133111EBULL;
    return value ^ (value >> 31U);
}

/// Both halves of the product, folded.
inline std::uint64_t fold(std::uint64_t left, std::uint64_t right) {
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = static_cast<Wide>(left) * right;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
#else
    constexpr std::uint64_t low = 0xFFFFFFFFULL;
    const std::uint64_t low_low = (left & low) * (right & low);
    const std::uint64_t low_high = (left & low) * (right >> 32U);
    const std::uint64_t high_low = (left >> 32U) * (right & low);
    const std::uint64_t middle = (low_low >> 32U) + (low_high & low) + (high_low & low);
    const std::uint64_t high =
        (left >> 32U) * (right >> 32U) + (low_high >> 32U) + (high_low >> 32U) + (middle >> 32U);
    return ((middle << 32U) | (low_low & low)) ^ high;
#endif
}

/// Sixteen bytes a step, and in long texts four steps at a time. Every step multiplies by what nobody knows who does
/// not know the seed, so that no two texts have one hash for all seeds. Only a filter all the same: whoever finds two
/// equal hashes compares the bytes.
inline std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed = 0) {
    constexpr std::size_t step = 16;
    constexpr std::size_t lane_count = 4;
    std::uint64_t hash = mix(seed + 0x9E3779B97F4A7C15ULL + bytes.size());
    const std::uint64_t key = mix(hash + 0x9FB21C651E98DF25ULL);
    const auto mixed_in = [](const char* from, std::uint64_t secret, std::uint64_t state) {
        std::array<std::uint64_t, 2> words;
        std::memcpy(words.data(), from, step);
        return fold(words[0] ^ secret, words[1] ^ state);
    };
    if (bytes.size() >= 2 * step * lane_count) {
        std::array<std::uint64_t, lane_count> lanes;
        std::array<std::uint64_t, lane_count> keys;
        for (std::size_t i = 0; i < lane_count; ++i) {
            lanes[i] = mix(hash + i + 1);
            keys[i] = mix(key + i + 1);
        }
        for (; bytes.size() >= step * lane_count; bytes.remove_prefix(step * lane_count)) {
            for (std::size_t i = 0; i < lane_count; ++i) {
                lanes[i] = mixed_in(bytes.data() + step * i, keys[i], lanes[i]);
            }
        }
        for (const std::uint64_t lane : lanes) { hash = mix(hash ^ lane); }
    }
    for (; bytes.size() >= step; bytes.remove_prefix(step)) { hash = mixed_in(bytes.data(), key, hash); }
    std::array<char, step> rest{};
    if (!bytes.empty()) { std::memcpy(rest.data(), bytes.data(), bytes.size()); }
    return mix(mixed_in(rest.data(), key, hash));
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
