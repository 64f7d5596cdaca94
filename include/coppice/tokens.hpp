// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>
#include <coppice/text.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace coppice::inline v0 {

/// A token estimator: guesses what a text costs without a tokenizer. `weight` weighs one text in a unit of
/// its own; `tokens` turns a sum of weights (`add_weights`) into tokens, so that a total is rounded once.
///
/// Exemplar
///
///     struct BytesPerToken {
///         static constexpr std::string_view name = "bytes_per_token";
///         std::size_t weight(std::string_view text) const { return text.size(); }
///         std::size_t tokens(std::size_t weight) const { return weight / 3; }
///     };
///
/// Models: CharsPerToken, ScriptAwareTokens.
template <class T>
concept token_estimator = std::copyable<T> &&
    requires(const T& t, std::string_view text, std::size_t weight) {
    { T::name } -> std::convertible_to<std::string_view>;
    { t.weight(text) } -> std::same_as<std::size_t>;
    { t.tokens(weight) } -> std::same_as<std::size_t>;
};

/// A sum of weights; where a number cannot hold it, the largest there is.
constexpr std::size_t add_weights(std::size_t left, std::size_t right) {
    return right > std::numeric_limits<std::size_t>::max() - left ? std::numeric_limits<std::size_t>::max()
                                                                  : left + right;
}

/// What one text costs alone.
template <token_estimator Estimator>
constexpr std::size_t tokens_of(const Estimator& estimator, std::string_view text) {
    return estimator.tokens(estimator.weight(text));
}

/// One token for so many code points, rounded down. Four suit English prose; East Asian text costs up to six
/// times as much (openclaw/openclaw issue 70052): there `ScriptAwareTokens` comes closer.
template <std::size_t Chars = 4>
struct CharsPerToken {
    static constexpr std::string_view name = "chars_per_token";

    std::size_t chars = Chars;  ///< code points a token

    constexpr void validate() const {
        if (chars == 0) { throw std::invalid_argument("coppice::CharsPerToken: `chars` must be at least 1"); }
    }
    /// In code points. Invalid bytes count as `measure_plain` counts them.
    constexpr std::size_t weight(std::string_view text) const {
        if (!std::is_constant_evaluated()) { return measure_plain(text).chars; }
        std::size_t count = 0;
        for (const char c : text) { count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }
        return count < text.size() / 4 ? text.size() / 4 : count;
    }
    /// Tokens of a weight, rounded down.
    constexpr std::size_t tokens(std::size_t weight) const { return weight / (chars == 0 ? 1 : chars); }
};
static_assert(token_estimator<CharsPerToken<>>);

namespace detail {

// What ScriptAwareTokens takes a character for: quarters of a token.
namespace quarters {
inline constexpr std::size_t token = 4;
inline constexpr std::size_t letter = 1;
inline constexpr std::size_t dense = 2;         // an ASCII digit or punctuation, a letter of base64 or hex
inline constexpr std::size_t alphabetic = 2;    // Latin with marks, Greek, Cyrillic
inline constexpr std::size_t other = token;     // the rest of the BMP, and control characters
inline constexpr std::size_t astral = 8;        // behind the BMP
inline constexpr std::size_t escape = 12;       // \uXXXX
inline constexpr std::size_t invalid_byte = 2;  // no more: the character it begins may still follow
}  // namespace quarters

// What runs of base64, of its variant for URLs and of hex are written in; 0 for what breaks a run.
enum RunClass : std::uint8_t { no_run = 0, run_symbol, run_digit, run_lower, run_upper };

inline constexpr auto run_classes = [] {
    std::array<RunClass, 256> classes{};
    for (char c = 'a'; c <= 'z'; ++c) { classes[static_cast<unsigned char>(c)] = run_lower; }
    for (char c = 'A'; c <= 'Z'; ++c) { classes[static_cast<unsigned char>(c)] = run_upper; }
    for (char c = '0'; c <= '9'; ++c) { classes[static_cast<unsigned char>(c)] = run_digit; }
    for (const char c : std::string_view("+/=-_")) { classes[static_cast<unsigned char>(c)] = run_symbol; }
    return classes;
}();

constexpr RunClass run_class(char c) { return run_classes[static_cast<unsigned char>(c)]; }

constexpr bool is_letter(RunClass kind) { return kind >= run_lower; }

// Small letters, capitals and digits alternate in encoded data. A capital before a small letter begins a word
// in names, too.
constexpr bool alternates(RunClass before, RunClass after) {
    const bool symbols = (before == run_symbol) | (after == run_symbol);
    return (before != after) & !symbols & !((before == run_upper) & (after == run_lower));
}

inline constexpr auto ascii_quarters = [] {
    std::array<std::uint8_t, 128> weights{};
    for (std::size_t byte = 0; byte < weights.size(); ++byte) {
        const char c = static_cast<char>(byte);
        const bool blank = c == '\t' || c == '\n' || c == '\r';
        const bool control = (byte < 0x20 && !blank) || byte == 0x7F;
        const bool light = c == ' ' || is_letter(run_class(c));
        weights[byte] = static_cast<std::uint8_t>(control ? quarters::other
                                                  : light ? quarters::letter
                                                          : quarters::dense);
    }
    return weights;
}();

inline constexpr std::size_t run_window = 64;
// Random hex has 29 in a window and random base64 26, give or take 4; long names and paths stay below.
inline constexpr std::size_t run_alternations = 16;

// What the letters in those windows of a run weigh more that look like encoded data. Windows begin at every
// character, so that nothing depends on where the run begins.
constexpr std::size_t run_surcharge(std::string_view run) {
    std::size_t surcharge = 0;
    std::size_t alternations = 0;  // in the window
    std::size_t letters = 0;       // in the window, from `surcharged` on
    std::size_t surcharged = 0;    // how far the run has been paid for
    for (std::size_t i = 0; i < run.size(); ++i) {
        const RunClass here = run_class(run[i]);
        alternations += i > 0 && alternates(run_class(run[i - 1]), here);
        letters += is_letter(here);
        if (i >= run_window) {
            const std::size_t left = i - run_window;
            const RunClass leaving = run_class(run[left]);
            alternations -= alternates(leaving, run_class(run[left + 1]));
            letters -= (left >= surcharged) & is_letter(leaving);
        }
        if (i + 1 >= run_window && alternations >= run_alternations) {
            surcharge += letters * (quarters::dense - quarters::letter);
            letters = 0;
            surcharged = i + 1;
        }
    }
    return surcharge;
}

// What \uXXXX at the start of the text weighs more than its characters do.
constexpr std::size_t escape_surcharge(std::string_view text) {
    constexpr std::size_t length = 6;
    if (text.size() < length || text[1] != 'u') { return 0; }
    std::size_t weight = quarters::dense + quarters::letter;
    for (const char c : text.substr(2, length - 2)) {
        const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (!hex) { return 0; }
        weight += ascii_quarters[static_cast<unsigned char>(c)];
    }
    return quarters::escape - weight;
}

// A character of `size` bytes, more than one, that the text begins with.
constexpr std::size_t wide_quarters(std::string_view text, std::size_t size) {
    if (size == 4) { return quarters::astral; }
    if (size == 3) { return quarters::other; }
    const auto byte = [&](std::size_t i) {
        return static_cast<unsigned>(static_cast<unsigned char>(text[i]));
    };
    const unsigned code = (byte(0) & 0x1FU) << 6U | (byte(1) & 0x3FU);
    return code < 0xA0 || code >= 0x530 ? quarters::other : quarters::alphabetic;
}

}  // namespace detail

/// Weighs characters by script, in quarters of a token, rounded up.
///
/// two tokens     what lies behind the BMP, such as an emoji
/// a token        a CJK ideograph, kana, Hangul syllable or fullwidth form; whatever else in the BMP lies
///                behind Cyrillic, joiners and variation selectors too; a control character (an ANSI escape
///                has one)
/// half a token   a Latin letter with marks, Greek, Cyrillic; an ASCII digit, punctuation, line break or tab;
///                a letter in 64 characters without a break that alternate as base64 and hex do; an invalid
///                byte
/// a quarter      every other ASCII letter, a space
///
/// An escape of four hex digits in the text makes three tokens. Appending never makes a text lighter. Two texts in one
/// weigh at most half a token less than apart (a cut character) and at most 32 more (a cut run of base64, a
/// cut escape). No byte weighs more than a token: nothing overflows below a quarter of the address space, and
/// a text above that is not read and weighs the largest number there is.
struct ScriptAwareTokens {
    static constexpr std::string_view name = "script_aware";

    /// What a text adds; weights of its pieces add up.
    constexpr std::size_t weight(std::string_view text) const {
        if (text.size() > std::numeric_limits<std::size_t>::max() / detail::quarters::token) {
            return std::numeric_limits<std::size_t>::max();
        }
        std::size_t sum = 0;
        std::size_t run = 0;  // characters of it so far
        for (std::size_t at = 0; at < text.size();) {
            const auto byte = static_cast<unsigned char>(text[at]);
            if (byte >= 0x80) {
                const std::string_view rest = text.substr(at);
                const std::size_t size = detail::utf8_size(rest);
                sum += size == 0 ? detail::quarters::invalid_byte : detail::wide_quarters(rest, size);
                at += size == 0 ? 1 : size;
                run = 0;
                continue;
            }
            sum += detail::ascii_quarters[byte];
            if (byte == '\\') { sum += detail::escape_surcharge(text.substr(at)); }
            ++at;
            run = detail::run_classes[byte] == detail::no_run ? 0 : run + 1;
            if (run < detail::run_window) { continue; }
            const std::size_t start = at - run;
            for (; at < text.size() && detail::run_class(text[at]) != detail::no_run; ++at) {
                sum += detail::ascii_quarters[static_cast<unsigned char>(text[at])];
            }
            sum += detail::run_surcharge(text.substr(start, at - start));
            run = 0;
        }
        return sum;
    }
    /// Tokens of a weight, rounded up.
    constexpr std::size_t tokens(std::size_t weight) const {
        return weight / detail::quarters::token + (weight % detail::quarters::token != 0);
    }
};
static_assert(token_estimator<ScriptAwareTokens>);

}  // namespace coppice
