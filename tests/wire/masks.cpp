// SPDX-License-Identifier: MIT
#include <coppice/wire/masks.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>

namespace {

using coppice::detail::mask_portably;
using coppice::detail::TextMasks;

using Block = std::array<char, 64>;

bool same(const TextMasks& left, const TextMasks& right) {
    return left.backslash == right.backslash && left.common == right.common &&
           left.continuation == right.continuation && left.astral == right.astral;
}

// Every width that this processor has gives the same answer.
bool all_agree(const Block& block) {
    [[maybe_unused]] const TextMasks expected = mask_portably(block.data());
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    if (!same(coppice::detail::mask_sse2(block.data()), expected)) { return false; }
    if (__builtin_cpu_supports("avx2") && !same(coppice::detail::mask_avx2(block.data()), expected)) {
        return false;
    }
#endif
    return true;
}

}  // namespace

TEST_CASE("masks: each byte, at each place") {
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        for (unsigned place = 0; place < 64; ++place) {
            Block block;
            block.fill('a');
            block[place] = static_cast<char>(byte);
            const TextMasks found = mask_portably(block.data());
            const std::uint64_t bit = std::uint64_t{1} << place;
            const bool common = byte == '\\' || byte == '"' || byte == 'n' || byte == 't';
            REQUIRE(found.backslash == (byte == '\\' ? bit : 0));
            REQUIRE(found.common == (common ? bit : 0));
            REQUIRE(found.continuation == (byte >= 0x80 && byte < 0xC0 ? bit : 0));
            REQUIRE(found.astral == (byte >= 0xF0 ? bit : 0));
            REQUIRE(all_agree(block));
        }
    }
}

TEST_CASE("masks: every width of registers gives the same answer on noise") {
    std::uint64_t state = 7;
    for (int round = 0; round < 2000; ++round) {
        Block block;
        for (char& c : block) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            c = static_cast<char>(state >> 56U);
        }
        REQUIRE(all_agree(block));
    }
}
