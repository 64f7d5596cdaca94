// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace coppice {

/// What a number counts.
enum class Unit : std::uint8_t {
    bytes,  ///< UTF-8 bytes
    chars,  ///< Unicode code points
    utf16,  ///< UTF-16 code units, what JavaScript's `length` counts
};

constexpr std::string_view name_of(Unit unit) {
    return unit == Unit::bytes ? "bytes" : unit == Unit::chars ? "chars" : "utf16";
}

/// A threshold together with its unit. A bare number means bytes.
///
///     coppice::Ceiling<120'000>                   // bytes
///     coppice::Ceiling<coppice::utf16(120'000)>   // UTF-16 code units
struct Size {
    std::size_t value = 0;
    Unit unit = Unit::bytes;

    constexpr Size() = default;
    constexpr Size(std::size_t count, Unit counted = Unit::bytes) : value(count), unit(counted) {}
    friend constexpr bool operator==(const Size&, const Size&) = default;
};

constexpr Size bytes(std::size_t count) { return {count, Unit::bytes}; }
constexpr Size chars(std::size_t count) { return {count, Unit::chars}; }
constexpr Size utf16(std::size_t count) { return {count, Unit::utf16}; }

/// One length in every unit at once.
struct Extent {
    std::size_t bytes = 0;
    std::size_t chars = 0;
    std::size_t utf16 = 0;

    constexpr std::size_t in(Unit unit) const {
        return unit == Unit::bytes ? bytes : unit == Unit::chars ? chars : utf16;
    }
    constexpr bool at_least(Size size) const { return in(size.unit) >= size.value; }
    constexpr bool exceeds(Size size) const { return in(size.unit) > size.value; }

    constexpr Extent& operator+=(const Extent& other) {
        bytes += other.bytes;
        chars += other.chars;
        utf16 += other.utf16;
        return *this;
    }
    /// The caller subtracts only what it added before.
    constexpr Extent& operator-=(const Extent& other) {
        bytes -= other.bytes;
        chars -= other.chars;
        utf16 -= other.utf16;
        return *this;
    }
    friend constexpr Extent operator+(Extent left, const Extent& right) { return left += right; }
    friend constexpr Extent operator-(Extent left, const Extent& right) { return left -= right; }
    friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

/// `count` ASCII characters: the same number in every unit.
constexpr Extent ascii(std::size_t count) { return {count, count, count}; }

/// The length of a text, and how many characters JSON escaping adds to it (quotes not included).
struct TextExtent {
    Extent plain{};
    std::size_t escapes = 0;

    /// The length of the text as a JSON string, quotes included.
    constexpr Extent serialised() const { return plain + ascii(escapes + 2); }
};

namespace detail {

// Fixed-size blocks with byte-wide sums let both compilers vectorise the loop; this is the only
// place where every byte of a body is looked at.
struct ByteCounts {
    std::size_t continuation = 0;  // 10xxxxxx
    std::size_t four_byte = 0;     // 11110xxx
    std::size_t escaped = 0;       // bytes that JSON writes as \x
    std::size_t control = 0;       // bytes that JSON writes as \u00xx
};

inline bool is_long_control(unsigned char byte) {
    return byte < 0x20 && !(byte == '\b' || byte == '\t' || byte == '\n' || byte == '\f' || byte == '\r');
}

inline void count_slowly(const char* data, std::size_t size, ByteCounts& counts) {
    for (std::size_t i = 0; i < size; ++i) {
        const auto byte = static_cast<unsigned char>(data[i]);
        counts.continuation += (byte & 0xC0U) == 0x80U;
        counts.four_byte += byte >= 0xF0U;
        counts.escaped += byte < 0x20 || byte == '"' || byte == '\\';
        counts.control += is_long_control(byte);
    }
}

inline constexpr std::size_t count_block = 64;

inline void count_fast(const char* data, ByteCounts& counts) {
    std::uint8_t high = 0;
    std::uint8_t low = 0;
    std::uint8_t escaped = 0;
    for (std::size_t i = 0; i < count_block; ++i) {
        const auto byte = static_cast<std::uint8_t>(data[i]);
        high = static_cast<std::uint8_t>(high | byte);
        // 1 for every control byte but newline: those are common, the rest is left to the slow loop
        low = static_cast<std::uint8_t>(low | static_cast<std::uint8_t>((byte < 0x20) & (byte != '\n')));
        escaped = static_cast<std::uint8_t>(
            escaped + static_cast<std::uint8_t>((byte == '\n') | (byte == '"') | (byte == '\\')));
    }
    if ((high & 0x80U) != 0 || low != 0) {
        count_slowly(data, count_block, counts);
    } else {
        counts.escaped += escaped;
    }
}

}  // namespace detail

/// Measures UTF-8 text. Invalid bytes are counted, never an error: each one that is not a
/// continuation byte counts as a character.
inline TextExtent measure(std::string_view text) {
    detail::ByteCounts counts;
    std::size_t at = 0;
    for (; at + detail::count_block <= text.size(); at += detail::count_block) {
        detail::count_fast(text.data() + at, counts);
    }
    detail::count_slowly(text.data() + at, text.size() - at, counts);
    const std::size_t characters = text.size() - counts.continuation;
    return {.plain = {text.size(), characters, characters + counts.four_byte},
            .escapes = counts.escaped + 4 * counts.control};
}

}  // namespace coppice
