// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#include <immintrin.h>
#endif

namespace coppice::inline v0::detail {

/// What 64 bytes hold, a bit for each byte.
struct TextMasks {
    std::uint64_t backslash = 0;
    std::uint64_t common = 0;        ///< mostly follows a backslash: a backslash, a quote, n or t
    std::uint64_t continuation = 0;  ///< 10xxxxxx
    std::uint64_t astral = 0;        ///< 11110xxx, the first of four bytes
};

// The same answer from registers of different width. As signed numbers, continuation bytes are the smallest, and the
// first of four bytes the largest below zero.

inline TextMasks mask_portably(const char* bytes) {
    TextMasks found;
    for (unsigned i = 0; i < 64; ++i) {
        const auto c = static_cast<unsigned char>(bytes[i]);
        const auto bit = [i](bool is) { return static_cast<std::uint64_t>(is) << i; };
        found.backslash |= bit(c == '\\');
        found.common |= bit(c == '\\' || c == '"' || c == 'n' || c == 't');
        found.continuation |= bit((c & 0xC0U) == 0x80U);
        found.astral |= bit(c >= 0xF0U);
    }
    return found;
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

// part of every x86-64
inline TextMasks mask_sse2(const char* bytes) {
    TextMasks found;
    for (unsigned i = 0; i < 64; i += 16) {
        const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
        const auto equal = [block](char c) { return _mm_cmpeq_epi8(block, _mm_set1_epi8(c)); };
        const auto bits = [i](__m128i is) {
            return (static_cast<std::uint64_t>(_mm_movemask_epi8(is)) & 0xFFFFU) << i;
        };
        const __m128i backslash = equal('\\');
        const __m128i letters = _mm_or_si128(equal('n'), equal('t'));
        found.backslash |= bits(backslash);
        found.common |= bits(_mm_or_si128(_mm_or_si128(backslash, equal('"')), letters));
        found.continuation |= bits(_mm_cmplt_epi8(block, _mm_set1_epi8(-64)));
        found.astral |= bits(block) & bits(_mm_cmpgt_epi8(block, _mm_set1_epi8(-17)));
    }
    return found;
}

__attribute__((target("avx2"))) inline std::uint64_t bits_avx2(__m256i is) {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(is));
}

__attribute__((target("avx2"))) inline TextMasks mask_avx2(const char* bytes) {
    TextMasks found;
    for (unsigned i = 0; i < 64; i += 32) {
        const __m256i block = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + i));
        const __m256i backslash = _mm256_cmpeq_epi8(block, _mm256_set1_epi8('\\'));
        const __m256i quote = _mm256_cmpeq_epi8(block, _mm256_set1_epi8('"'));
        const __m256i n = _mm256_cmpeq_epi8(block, _mm256_set1_epi8('n'));
        const __m256i t = _mm256_cmpeq_epi8(block, _mm256_set1_epi8('t'));
        const __m256i common = _mm256_or_si256(_mm256_or_si256(backslash, quote), _mm256_or_si256(n, t));
        const __m256i continuation = _mm256_cmpgt_epi8(_mm256_set1_epi8(-64), block);
        const __m256i high = _mm256_cmpgt_epi8(block, _mm256_set1_epi8(-17));
        found.backslash |= bits_avx2(backslash) << i;
        found.common |= bits_avx2(common) << i;
        found.continuation |= bits_avx2(continuation) << i;
        found.astral |= (bits_avx2(block) & bits_avx2(high)) << i;
    }
    return found;
}

#endif

}  // namespace coppice::detail
