// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/text.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace coppice::detail {

/// What one pass over the inside of a JSON string tells.
struct StringFacts {
    KnownLength length{};
    bool escaped = false;         ///< there is a backslash in it
    const char* fault = nullptr;  ///< the first escape that JSON does not know
};

/// Bit i is set where `bytes[i]` is a backslash.
inline std::uint64_t backslashes_of_64(const char* bytes) {
#if defined(__SSE2__)
    // part of every x86-64, and a third of the time of the loop below
    const __m128i wanted = _mm_set1_epi8('\\');
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
        const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, wanted)));
        mask |= static_cast<std::uint64_t>(found) << i;
    }
    return mask;
#else
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < 64; ++i) { mask |= static_cast<std::uint64_t>(bytes[i] == '\\') << i; }
    return mask;
#endif
}

enum EscapeKind : std::uint8_t { escape_simple = 0, escape_special = 1, escape_unknown = 2 };

// by the character after the backslash; a slash and a code point may be spelled shorter
inline constexpr auto escape_kinds = [] {
    std::array<std::uint8_t, 256> kinds{};
    kinds.fill(escape_unknown);
    for (const char c : {'"', '\\', 'b', 'f', 'n', 'r', 't'}) {
        kinds[static_cast<unsigned char>(c)] = escape_simple;
    }
    kinds['/'] = kinds['u'] = escape_special;
    return kinds;
}();

inline constexpr auto hex_digits = [] {
    std::array<bool, 256> digits{};
    for (const char c : std::string_view("0123456789abcdefABCDEF")) { digits[static_cast<unsigned char>(c)] = true; }
    return digits;
}();

/// Reads the escapes of one string.
class StringScanner {
public:
    /// `limit` is the end of what may be read, at or behind `end`.
    StringScanner(const char* begin, const char* end, const char* limit)
        : begin_(begin), end_(end), limit_(limit) {}

    StringFacts scan() {
        bool carried = false;  // a backslash at the end of the last block
        for (const char* block = begin_; block < end_ && facts_.fault == nullptr; block += 64) {
            std::uint64_t mask = mask_of(block);
            if (carried) { mask &= ~std::uint64_t{1}; }
            carried = false;
            if (mask == 0) { continue; }
            // backslashes side by side: only every other one starts an escape
            if ((mask & (mask << 1U)) != 0) { mask = starts_of(mask); }
            carried = (mask >> 63U) != 0;
            read(block, mask);
        }
        facts_.escaped = escapes_ > 0;
        facts_.length.bytes = static_cast<std::size_t>(end_ - begin_) - escapes_ - shorter_;
        return facts_;
    }

private:
    std::uint64_t mask_of(const char* block) const {
        const auto left = static_cast<std::size_t>(end_ - block);
        if (static_cast<std::size_t>(limit_ - block) >= 64) {
            const std::uint64_t mask = backslashes_of_64(block);
            return left >= 64 ? mask : mask & ((std::uint64_t{1} << left) - 1);
        }
        std::array<char, 64> rest{};
        std::memcpy(rest.data(), block, left);
        return backslashes_of_64(rest.data());
    }

    static std::uint64_t starts_of(std::uint64_t mask) {
        std::uint64_t starts = 0;
        while (mask != 0) {
            const int at = std::countr_zero(mask);
            starts |= std::uint64_t{1} << at;
            mask &= ~(std::uint64_t{3} << at);
        }
        return starts;
    }

    // a backslash is never the last character: the string would not end there
    void read(const char* block, std::uint64_t starts) {
        escapes_ += static_cast<std::size_t>(std::popcount(starts));
        unsigned kinds = 0;
        for (std::uint64_t left = starts; left != 0; left &= left - 1) {
            kinds |= escape_kinds[static_cast<unsigned char>(block[std::countr_zero(left) + 1])];
        }
        if (kinds != escape_simple) { read_special(block, starts); }
    }

    void read_special(const char* block, std::uint64_t starts) {
        for (; starts != 0; starts &= starts - 1) {
            const char* const escape = block + std::countr_zero(starts);
            switch (escape[1]) {
                case '/': ++facts_.length.respelled; break;
                case 'u':
                    if (escape != paired_) { read_code(escape); }
                    break;
                default:
                    if (escape_kinds[static_cast<unsigned char>(escape[1])] == escape_unknown) { fail(escape); }
            }
        }
    }

    void read_code(const char* escape) {
        const auto left = static_cast<std::size_t>(end_ - escape);
        if (left < 6 || !are_hex(escape + 2)) { return fail(escape); }
        facts_.length.simple = false;
        const EscapedUnit unit = next_unit(std::string_view(escape, left < 12 ? left : 12));
        if (unit.length == 12) {
            if (!are_hex(escape + 8)) { return fail(escape + 6); }
            paired_ = escape + 6;
        }
        const std::size_t width = unit.lone_surrogate ? 3 : utf8_width(unit.code);
        const std::size_t spelling = unit.lone_surrogate ? unit.length : width + escape_width(unit.code);
        // each backslash has been counted off once already
        shorter_ += unit.length - (unit.length == 12 ? 2 : 1) - width;
        facts_.length.respelled += unit.length - spelling;
    }

    static bool are_hex(const char* digits) {
        bool all = true;
        for (int i = 0; i < 4; ++i) { all = all && hex_digits[static_cast<unsigned char>(digits[i])]; }
        return all;
    }

    void fail(const char* escape) {
        if (facts_.fault == nullptr) { facts_.fault = escape; }
    }

    const char* begin_;
    const char* end_;
    const char* limit_;
    const char* paired_ = nullptr;  // the second half of a surrogate pair
    std::size_t escapes_ = 0;
    std::size_t shorter_ = 0;
    StringFacts facts_{};
};

/// The inside of a JSON string, without its quotes; as far as `limit`, bytes may be read.
inline StringFacts scan_string(std::string_view inside, const char* limit) {
    return StringScanner(inside.data(), inside.data() + inside.size(), limit).scan();
}

}  // namespace coppice::detail
