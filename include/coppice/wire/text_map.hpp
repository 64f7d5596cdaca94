// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>
#include <coppice/wire/masks.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// Where the escapes of a JSON text are, and how long its parts are in every unit: after one pass, no string has to be
/// read for either.
///
/// Every backslash counts, also where no string is: there the grammar will find it. The object can be used again.
class TextMap {
public:
    class Pass;

    /// Reads `count` blocks of 64 bytes. There is one for each width of registers.
    using Loop = void (*)(Pass& pass, const char* bytes, std::size_t count);

    /// The text must stay where it is.
    void read(std::string_view json, Loop loop = best_loop());

    /// Whether an escape starts from `begin` on and before `end`.
    bool any_escapes(std::size_t begin, std::size_t end) const {
        const std::size_t first = begin / 64;
        const std::size_t last = end / 64;
        const std::uint64_t from = starts_[first] & ~below(begin);
        if (first == last) { return (from & below(end)) != 0; }
        return (from | (starts_[last] & below(end))) != 0 ||
               before_[first + 1].escapes != before_[last].escapes;
    }

    /// Where the first escape starts from `place` on; the size of the text, where none does.
    std::size_t next_escape(std::size_t place) const {
        const std::size_t last = json_.size() / 64;
        std::size_t block = place / 64;
        std::uint64_t starts = starts_[block] & ~below(place);
        while (starts == 0 && block < last) { starts = starts_[++block]; }
        return starts == 0 ? json_.size() : block * 64 + static_cast<std::size_t>(std::countr_zero(starts));
    }

    /// How many escapes start from `begin` on and before `end`.
    std::size_t escapes(std::size_t begin, std::size_t end) const {
        const std::size_t first = begin / 64;
        const std::size_t last = end / 64;
        const auto partial = [this](std::size_t block, std::size_t place) {
            return static_cast<std::size_t>(std::popcount(starts_[block] & below(place)));
        };
        return before_[last].escapes + partial(last, end) - before_[first].escapes - partial(first, begin);
    }

    /// The bytes from `begin` on and before `end`, as they stand there.
    Extent measure(std::size_t begin, std::size_t end) const {
        const Extent from = until(begin);
        const Extent to = until(end);
        return {end - begin, to.chars - from.chars, to.utf16 - from.utf16};
    }

    /// The characters behind a backslash that are not the most common ones, by their place.
    std::span<const std::uint32_t> others() const { return others_; }

    static void loop_portably(Pass& pass, const char* bytes, std::size_t count);
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    static void loop_sse2(Pass& pass, const char* bytes, std::size_t count);
    __attribute__((target("avx2,bmi,lzcnt,popcnt"))) static void loop_avx2(Pass& pass, const char* bytes,
                                                                           std::size_t count);
    static Loop best_loop() {
        static const Loop best = __builtin_cpu_supports("avx2") ? loop_avx2 : loop_sse2;
        return best;
    }
#else
    static Loop best_loop() { return loop_portably; }
#endif

private:
    // what there is before a block
    struct Counts {
        std::uint32_t escapes = 0;
        std::uint32_t continuations = 0;
        std::uint32_t astral = 0;
    };

    static std::uint64_t below(std::size_t place) { return (std::uint64_t{1} << (place % 64)) - 1; }

    Extent until(std::size_t place) const {
        const std::size_t block = place / 64;
        const Counts& before = before_[block];
        std::size_t continuations = before.continuations;
        std::size_t astral = before.astral;
        // mostly there is none in the block
        if (before_[block + 1].continuations != before.continuations) {
            for (std::size_t i = block * 64; i < place; ++i) {
                const auto byte = static_cast<unsigned char>(json_[i]);
                continuations += (byte & 0xC0U) == 0x80U;
                astral += byte >= 0xF0U;
            }
        }
        return {place, place - continuations, place - continuations + astral};
    }

    void add_others(std::size_t block, std::uint64_t others) {
        for (; others != 0; others &= others - 1) {
            others_.push_back(static_cast<std::uint32_t>(block * 64) +
                              static_cast<std::uint32_t>(std::countr_zero(others)));
        }
    }

    // Of bits side by side the first, third, ...: those backslashes start escapes. Adding a run's first bit to it
    // carries through the run, and so tells runs that start at even places from the others.
    static std::uint64_t every_other(std::uint64_t mask) {
        constexpr std::uint64_t even = 0x5555555555555555ULL;
        const std::uint64_t first = mask & ~(mask << 1U);
        const std::uint64_t from_even = mask & ~(mask + (first & even));
        return (from_even & even) | (mask & ~from_even & ~even);
    }

    std::string_view json_;
    std::vector<std::uint64_t> starts_;  // a bit for each byte that starts an escape
    std::vector<Counts> before_;
    std::vector<std::uint32_t> others_;
};

// What the next block needs to know of those before it: in registers while the loop runs.
class TextMap::Pass {
public:
    explicit Pass(TextMap& map) : map_(&map), before_(map.before_.data()), starts_(map.starts_.data()) {}

    // Part of each loop below, with the instructions that the loop may use; and without a branch that escapes
    // decide, since they are in about half of all blocks.
    [[gnu::always_inline]] void add(std::size_t block, const TextMasks& masks) {
        before_[block] = total_;
        if ((masks.continuation | masks.astral) != 0) {
            total_.continuations += static_cast<std::uint32_t>(std::popcount(masks.continuation));
            total_.astral += static_cast<std::uint32_t>(std::popcount(masks.astral));
        }
        const std::uint64_t starts = every_other(masks.backslash & ~carried_);
        const std::uint64_t others = (starts << 1U | carried_) & ~masks.common;
        starts_[block] = starts;
        total_.escapes += static_cast<std::uint32_t>(std::popcount(starts));
        // not from `starts`: the next block would have to wait for it
        const int last_run = std::countl_one(masks.backslash);
        carried_ = last_run == 64 ? carried_ : static_cast<std::uint64_t>(last_run) & 1U;
        if (others != 0) { map_->add_others(block, others); }
    }
    void end(std::size_t block) { before_[block] = total_; }

private:
    TextMap* map_;
    Counts* before_;
    std::uint64_t* starts_;
    Counts total_{};
    std::uint64_t carried_ = 0;  // the last block ended in the start of an escape
};

inline void TextMap::loop_portably(Pass& pass, const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) { pass.add(i, mask_portably(bytes + i * 64)); }
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
inline void TextMap::loop_sse2(Pass& shared, const char* bytes, std::size_t count) {
    Pass pass = shared;
    for (std::size_t i = 0; i < count; ++i) { pass.add(i, mask_sse2(bytes + i * 64)); }
    shared = pass;
}
__attribute__((target("avx2,bmi,lzcnt,popcnt"))) inline void TextMap::loop_avx2(Pass& shared,
                                                                                const char* bytes,
                                                                                std::size_t count) {
    Pass pass = shared;
    for (std::size_t i = 0; i < count; ++i) { pass.add(i, mask_avx2(bytes + i * 64)); }
    shared = pass;
}
#endif

inline void TextMap::read(std::string_view json, Loop loop) {
    json_ = json;
    others_.clear();
    const std::size_t whole = json.size() / 64;
    const std::size_t blocks = whole + 2;  // what is left, and one behind the end
    if (starts_.size() < blocks) { starts_.resize(blocks); }
    if (before_.size() < blocks) { before_.resize(blocks); }
    Pass pass(*this);
    loop(pass, json.data(), whole);
    std::array<char, 64> rest{};
    std::copy(json.begin() + static_cast<std::ptrdiff_t>(whole * 64), json.end(), rest.begin());
    pass.add(whole, mask_portably(rest.data()));
    pass.end(whole + 1);
}

}  // namespace coppice::detail
