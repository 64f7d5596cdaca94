// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace coppice::inline v0 {

/// "No such entry", "no limit".
inline constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// What a number counts.
enum class Unit : std::uint8_t {
    bytes,  ///< UTF-8 bytes
    chars,  ///< Unicode code points
    utf16,  ///< UTF-16 code units, what JavaScript's `length` counts
};

constexpr std::string_view name_of(Unit unit) {
    return unit == Unit::bytes ? "bytes" : unit == Unit::chars ? "chars" : "utf16";
}

namespace detail {

/// The most that one code point has of a unit.
constexpr std::size_t widest_character(Unit unit) {
    return unit == Unit::bytes ? 4 : unit == Unit::utf16 ? 2 : 1;
}

}  // namespace detail

/// A threshold together with its unit. A bare number means bytes.
///
///     coppice::Ceiling<120'000>                   // bytes
///     coppice::Ceiling<coppice::utf16(120'000)>   // UTF-16 code units
struct Size {
    std::size_t value = 0;    ///< how much
    Unit unit = Unit::bytes;  ///< of what

    constexpr Size() = default;
    /// So much of a unit.
    constexpr Size(std::size_t count, Unit counted = Unit::bytes) : value(count), unit(counted) {}
    friend constexpr bool operator==(const Size&, const Size&) = default;
};

constexpr Size bytes(std::size_t count) { return {count, Unit::bytes}; }
constexpr Size chars(std::size_t count) { return {count, Unit::chars}; }
constexpr Size utf16(std::size_t count) { return {count, Unit::utf16}; }

/// One length in every unit at once.
struct Extent {
    std::size_t bytes = 0;  ///< of UTF-8
    std::size_t chars = 0;  ///< code points
    std::size_t utf16 = 0;  ///< code units of UTF-16

    /// The count in one unit.
    constexpr std::size_t in(Unit unit) const {
        return unit == Unit::bytes ? bytes : unit == Unit::chars ? chars : utf16;
    }
    /// Whether it has this much or more.
    constexpr bool at_least(Size size) const { return in(size.unit) >= size.value; }
    /// Whether it has more.
    constexpr bool exceeds(Size size) const { return in(size.unit) > size.value; }

    /// Adds each of the three.
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
    /// The sum of each of the three.
    friend constexpr Extent operator+(Extent left, const Extent& right) { return left += right; }
    /// The difference of each of the three; the right one is part of the left one.
    friend constexpr Extent operator-(Extent left, const Extent& right) { return left -= right; }
    friend constexpr bool operator==(const Extent&, const Extent&) = default;
};

/// `count` ASCII characters: the same number in every unit.
constexpr Extent ascii(std::size_t count) { return {count, count, count}; }

/// What lengths alone say of tokens, in eighths of a token, so that sums are rounded once: a quarter of a token for an
/// ASCII character, five eighths for one of two bytes, one for one of three (Han, Hangul, kana). Good for weighing one
/// part of a transcript against another; `ScriptAwareTokens` looks at the text itself.
constexpr std::size_t token_eighths(const Extent& size) { return 2 * size.chars + 3 * (size.bytes - size.chars); }

/// An image costs about this many tokens whatever its bytes, which are no text: the most that Claude bills for one.
inline constexpr std::size_t image_tokens = 1600;

/// The length of a text, and how many characters JSON escaping adds to it (quotes not included).
struct TextExtent {
    Extent plain{};    ///< the text itself
    Extent escapes{};  ///< what JSON adds, but for quotes

    /// The length of the text as a JSON string, quotes included.
    constexpr Extent serialised() const { return plain + escapes + ascii(2); }
};

namespace detail {

// Byte-wide sums over blocks of fixed length, which both compilers turn into vector code: these two loops are
// the only places where every byte of a text is looked at. The rest of a text is padded with letters.
template <std::size_t Count, class CountBlock>
inline void for_each_block(std::string_view text, CountBlock count_block) {
    static_assert(Count < 256, "a byte-wide sum would wrap");
    for (; text.size() >= Count; text.remove_prefix(Count)) { count_block(text.data()); }
    if (!text.empty()) {
        std::array<char, Count> rest;
        rest.fill('a');
        std::memcpy(rest.data(), text.data(), text.size());
        count_block(rest.data());
    }
}

struct WidthCounts {
    std::size_t continuation = 0;  // 10xxxxxx
    std::size_t four_byte = 0;     // 11110xxx

    template <std::size_t Count>
    void add(const char* data) {
        std::uint8_t continuations = 0;
        std::uint8_t four_bytes = 0;
        for (std::size_t i = 0; i < Count; ++i) {
            const auto byte = static_cast<std::uint8_t>(data[i]);
            continuations = static_cast<std::uint8_t>(continuations + ((byte & 0xC0U) == 0x80U));
            four_bytes = static_cast<std::uint8_t>(four_bytes + (byte >= 0xF0U));
        }
        continuation += continuations;
        four_byte += four_bytes;
    }
};

struct EscapeCounts {
    std::size_t escaped = 0;      // what JSON does not write as it is
    std::size_t long_escape = 0;  // and of those, what it writes as \u00xx instead of \x

    template <std::size_t Count>
    void add(const char* data) {
        std::uint8_t escapes = 0;
        std::uint8_t long_escapes = 0;
        for (std::size_t i = 0; i < Count; ++i) {
            const auto byte = static_cast<std::uint8_t>(data[i]);
            const bool control = byte < 0x20;
            // \b \t \n have short escapes, then comes 0x0B, then \f \r
            const bool without_letter = (byte < 0x08) | (byte == 0x0B) | (byte > 0x0D);
            escapes = static_cast<std::uint8_t>(escapes + (control | (byte == '"') | (byte == '\\')));
            long_escapes = static_cast<std::uint8_t>(long_escapes + (control & without_letter));
        }
        escaped += escapes;
        long_escape += long_escapes;
    }
};

// Whether every byte is printable ASCII that JSON writes as it is: true of most keys, ids and names. Eight
// bytes at a time; the arithmetic may take a plain byte for another one only behind a byte that is none
// itself.
inline bool is_plain(std::string_view text) {
    constexpr std::uint64_t ones = 0x0101010101010101ULL;
    constexpr std::uint64_t highs = 0x8080808080808080ULL;
    const auto has_zero = [](std::uint64_t word) { return (word - ones) & ~word; };
    std::uint64_t found = 0;
    for (std::size_t at = 0; at < text.size(); at += 8) {
        std::uint64_t word = ones * 'a';
        std::memcpy(&word, text.data() + at, text.size() - at < 8 ? text.size() - at : 8);
        found |= word | (word - ones * 0x20) | has_zero(word ^ (ones * '"')) | has_zero(word ^ (ones * '\\'));
    }
    return (found & highs) == 0;
}

// long blocks first, then short ones
template <class Counts>
inline Counts count(std::string_view text) {
    Counts counts;
    constexpr std::size_t long_block = 192;
    constexpr std::size_t short_block = 32;
    const std::size_t long_part = text.size() - text.size() % long_block;
    for_each_block<long_block>(text.substr(0, long_part),
                               [&](const char* data) { counts.template add<long_block>(data); });
    for_each_block<short_block>(text.substr(long_part),
                                [&](const char* data) { counts.template add<short_block>(data); });
    return counts;
}

}  // namespace detail

/// The length of UTF-8 text. Invalid bytes are counted, never an error: each one that is not a continuation
/// byte counts as a character.
inline Extent measure_plain(std::string_view text) {
    const auto counts = detail::count<detail::WidthCounts>(text);
    const std::size_t size = text.size();
    const std::size_t characters = std::max(size - counts.continuation, size / 4);
    return {size, characters, std::clamp(characters + counts.four_byte, size / 3, size)};
}

/// How many characters JSON escaping adds to UTF-8 text.
inline std::size_t measure_escapes(std::string_view text) {
    const auto counts = detail::count<detail::EscapeCounts>(text);
    return counts.escaped + 4 * counts.long_escape;
}

/// The length of UTF-8 text, and what JSON escaping adds to it.
inline TextExtent measure(std::string_view text) {
    constexpr std::size_t short_text = 64;
    if (text.size() <= short_text && detail::is_plain(text)) { return {ascii(text.size()), {}}; }
    return {measure_plain(text), ascii(measure_escapes(text))};
}

}  // namespace coppice
