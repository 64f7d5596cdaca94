// SPDX-License-Identifier: MIT
#include <coppice/detail/lookalikes.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace {

namespace detail = coppice::detail;

using Codes = std::initializer_list<char32_t>;

constexpr char32_t last_code = 0x10FFFF;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '|'; }

char letter_of(char32_t code) { return detail::letter_in(detail::letter_runs, code); }

// Ranges that neither overlap nor stand in another order.
template <class Table, class Last>
bool is_sorted(const Table& table, Last last) {
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (last(table[i]).first > last(table[i]).last || last(table[i]).last > last_code) { return false; }
        if (i > 0 && last(table[i - 1]).last >= last(table[i]).first) { return false; }
    }
    return true;
}

constexpr auto as_range = [](const detail::CodeRange& range) { return range; };
constexpr auto of_code = [](char32_t code) { return detail::CodeRange{code, code}; };
constexpr auto of_run = [](const detail::LetterRun& run) {
    return detail::CodeRange{run.first, run.first + run.count - 1};
};
constexpr auto of_sequence = [](const detail::LetterSequence& sequence) {
    return detail::CodeRange{sequence.code, sequence.code};
};

}  // namespace

TEST_CASE("lookalikes: every table is sorted and without overlaps") {
    CHECK(is_sorted(detail::opening_brackets, of_code));
    CHECK(is_sorted(detail::closing_brackets, of_code));
    CHECK(is_sorted(detail::slashes, as_range));
    CHECK(is_sorted(detail::separators, as_range));
    CHECK(is_sorted(detail::skippables, as_range));
    CHECK(is_sorted(detail::letter_runs, of_run));
    CHECK(is_sorted(detail::second_letters, of_run));
    CHECK(is_sorted(detail::letter_sequences, of_sequence));
}

TEST_CASE("lookalikes: no code point is of two kinds") {
    std::size_t shared = 0;
    for (char32_t code = 0; code <= last_code; ++code) {
        const int kinds = static_cast<int>(detail::contains(detail::opening_brackets, code)) +
                          static_cast<int>(detail::contains(detail::closing_brackets, code)) +
                          static_cast<int>(detail::contains(detail::slashes, code)) +
                          static_cast<int>(detail::contains(detail::separators, code)) +
                          static_cast<int>(detail::contains(detail::skippables, code)) +
                          static_cast<int>(letter_of(code) != '\0') +
                          static_cast<int>(!detail::sequence_of(code).empty());
        shared += kinds > 1;
    }
    CHECK(shared == 0);
}

TEST_CASE("lookalikes: everything is read as letters and digits of names") {
    std::size_t wrong = 0;
    for (char32_t code = 0; code <= last_code; ++code) {
        const char letter = letter_of(code);
        wrong += letter != '\0' && !is_letter(letter);
        const char other = detail::letter_in(detail::second_letters, code);
        // only what is one letter is another one, and never one of another width
        wrong += other != '\0' && (!is_letter(other) || letter == '\0' || other == letter);
        wrong += other != '\0' && (other == 'm' || letter == 'm');
        const std::string_view sequence = detail::sequence_of(code);
        wrong += sequence.size() == 1;
        for (const char c : sequence) { wrong += !is_letter(c); }
    }
    CHECK(wrong == 0);
}

TEST_CASE("lookalikes: ASCII is what it is") {
    std::size_t wrong = 0;
    for (char32_t code = 0; code < 0x80; ++code) {
        const char c = static_cast<char>(code);
        const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
        wrong += letter_of(code) != (is_letter(lower) ? lower : '\0');
        wrong += detail::letter_in(detail::second_letters, code) != '\0';
        wrong += !detail::sequence_of(code).empty();
        const bool blank = code <= 0x20 || code == 0x7F;
        wrong += detail::contains(detail::skippables, code) != blank;
        const auto one_of = [&](std::string_view some) { return some.find(c) != std::string_view::npos; };
        wrong += detail::contains(detail::separators, code) != one_of("_-.:");
        wrong += detail::contains(detail::slashes, code) != one_of("/\\!?");
        wrong += detail::contains(detail::opening_brackets, code) != one_of("<");
        wrong += detail::contains(detail::closing_brackets, code) != one_of(">");
    }
    CHECK(wrong == 0);
}

TEST_CASE("lookalikes: no ASCII letter passes for another but those that do in Unicode") {
    std::size_t pairs = 0;
    constexpr std::string_view all = "abcdefghijklmnopqrstuvwxyz0123456789|";
    for (const char left : all) {
        for (const char right : all) {
            if (left == right || detail::same_looking(left) != detail::same_looking(right)) { continue; }
            ++pairs;
            constexpr std::string_view strokes = "1il|";
            constexpr std::string_view rings = "0o";
            const auto both = [&](std::string_view some) {
                return some.find(left) != std::string_view::npos &&
                       some.find(right) != std::string_view::npos;
            };
            CHECK((both(strokes) || both(rings)));
        }
    }
    CHECK(pairs == 14);
    CHECK(detail::same_looking('m') == 'm');
}

TEST_CASE("lookalikes: alphabets are read from their first letter to their last") {
    struct Alphabet {
        char32_t first;
        std::string_view letters;
    };
    constexpr std::string_view latin = "abcdefghijklmnopqrstuvwxyz";
    constexpr std::array<Alphabet, 13> alphabets = {{
        {'A', latin},
        {'a', latin},
        {0xFF21, latin},
        {0xFF41, latin},
        {0x249C, latin},
        {0x24B6, latin},
        {0x24D0, latin},
        {0x1F130, latin},
        {0x1F150, latin},
        {0x1F170, latin},
        {0x1F1E6, latin},
        {0x1D400, latin},
        {0xFF10, "0123456789"},
    }};
    for (const Alphabet& alphabet : alphabets) {
        for (std::size_t i = 0; i < alphabet.letters.size(); ++i) {
            const char32_t code = alphabet.first + static_cast<char32_t>(i);
            CAPTURE(static_cast<std::size_t>(code));
            CHECK(detail::same_looking(letter_of(code)) == detail::same_looking(alphabet.letters[i]));
        }
    }
}

TEST_CASE("lookalikes: mathematical letters are read as letters") {
    // reserved: these letters have their code points elsewhere
    constexpr std::u32string_view holes =
        U"\U0001D455\U0001D49D\U0001D4A0\U0001D4A1\U0001D4A3\U0001D4A4\U0001D4A7"
        U"\U0001D4A8\U0001D4AD\U0001D4BA\U0001D4BC\U0001D4C4\U0001D506\U0001D50B"
        U"\U0001D50C\U0001D515\U0001D51D\U0001D53A\U0001D53F\U0001D545\U0001D547"
        U"\U0001D548\U0001D549\U0001D551";
    std::size_t wrong = 0;
    for (char32_t code = 0x1D400; code < 0x1D6A4; ++code) {
        const char letter = letter_of(code);
        const char expected = static_cast<char>('a' + (code - 0x1D400) % 26);
        if (holes.find(code) != std::u32string_view::npos) {
            wrong += letter != '\0';
        } else {
            wrong += detail::same_looking(letter) != detail::same_looking(expected);
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("lookalikes: letters of other scripts and styles") {
    struct Spot {
        char32_t code;
        char letter;
    };
    constexpr std::array<Spot, 34> spots = {{
        {0x0430, 'a'}, {0x0410, 'a'}, {0x0435, 'e'}, {0x043E, 'o'}, {0x0441, 'c'}, {0x0440, 'p'},
        {0x0445, 'x'}, {0x0456, 'i'}, {0x0455, 's'}, {0x041C, 'm'}, {0x043C, 'm'}, {0x0422, 't'},
        {0x03B1, 'a'}, {0x03BF, 'o'}, {0x03BD, 'v'}, {0x0391, 'a'}, {0x03A1, 'p'}, {0x13C0, 'g'},
        {0x13AC, 'e'}, {0x0585, 'o'}, {0x057D, 'u'}, {0x00E9, 'e'}, {0x00F8, 'o'}, {0x0142, 'l'},
        {0x0131, 'i'}, {0x017F, 's'}, {0x212A, 'k'}, {0x2113, 'l'}, {0x1D00, 'a'}, {0x0274, 'n'},
        {0x2080, '0'}, {0x00B2, '2'}, {0x2460, '1'}, {0x0432, 'b'},
    }};
    for (const Spot& spot : spots) {
        CAPTURE(static_cast<std::size_t>(spot.code));
        CHECK(letter_of(spot.code) == spot.letter);
    }
    CHECK(detail::letter_in(detail::second_letters, 0x017F) == 'f');
    CHECK(detail::letter_in(detail::second_letters, 0x03BD) == 'n');
    CHECK(detail::sequence_of(0x00C6) == "ae");
    CHECK(detail::sequence_of(0xFB06) == "st");
    CHECK(detail::sequence_of(0xFB03) == "ffi");
    CHECK(detail::sequence_of(0x2122) == "tm");
    CHECK(detail::sequence_of(0xFB07).empty());
}

TEST_CASE("lookalikes: what shows nothing is skippable") {
    for (const char32_t code :
         Codes{0x0000, 0x001B, 0x007F,  0x0085,  0x00A0,  0x00AD,  0x034F,  0x0301,  0x0489,  0x061C,
               0x115F, 0x1680, 0x180E,  0x2003,  0x200B,  0x200D,  0x200F,  0x2028,  0x202E,  0x202F,
               0x2060, 0x2065, 0x2069,  0x20DD,  0x2800,  0x3000,  0x3164,  0xFE00,  0xFE0F,  0xFEFF,
               0xFFA0, 0xFFF0, 0xFFFB,  0xFFFD,  0xFFFE,  0xFFFF,  0xFDD0,  0xFDEF,  0x1FFFE, 0x10FFFF,
               0xE000, 0xF8FF, 0xF0000, 0x1D173, 0xE0001, 0xE0061, 0xE007F, 0xE0101, 0xE0FFF}) {
        CAPTURE(static_cast<std::size_t>(code));
        CHECK(detail::contains(detail::skippables, code));
    }
    for (const char32_t code : Codes{0x2019, 0x4E00, 0xAC00, 0x1F600, 0xE1000}) {
        CAPTURE(static_cast<std::size_t>(code));
        CHECK_FALSE(detail::contains(detail::skippables, code));
    }
}

TEST_CASE("lookalikes: brackets, slashes and separators") {
    for (const char32_t code :
         Codes{0xFF1C, 0xFE64, 0x2039, 0x00AB, 0x3008, 0x300A, 0x2329, 0x27E8, 0x276C, 0x276E, 0x29FC, 0x02C2,
               0x1438, 0x16B2, 0x227A, 0x226A, 0x226E, 0x1D236}) {
        CAPTURE(static_cast<std::size_t>(code));
        CHECK(detail::contains(detail::opening_brackets, code));
    }
    for (const char32_t code :
         Codes{0xFF1E, 0xFE65, 0x203A, 0x00BB, 0x3009, 0x300B, 0x232A, 0x27E9, 0x276D, 0x02C3}) {
        CAPTURE(static_cast<std::size_t>(code));
        CHECK(detail::contains(detail::closing_brackets, code));
    }
    for (const char32_t code :
         Codes{0x2044, 0x2215, 0x29F8, 0xFF0F, 0xFF3C, 0x2216, 0xFF01, 0xFF1F, 0x203C, 0x30CE}) {
        CAPTURE(static_cast<std::size_t>(code));
        CHECK(detail::contains(detail::slashes, code));
    }
    for (const char32_t code :
         Codes{0x2010, 0x2014, 0x2212, 0xFF3F, 0xFE4D, 0x203F, 0x2024, 0xFF1A, 0xA789, 0x05BE, 0x02CD,
               0x2017, 0x23BD, 0x2581, 0x2500, 0x00AF, 0x02C9, 0x00B7, 0x30FB, 0x2022, 0xFFE3}) {
        CAPTURE(static_cast<std::size_t>(code));
        CHECK(detail::contains(detail::separators, code));
    }
}
