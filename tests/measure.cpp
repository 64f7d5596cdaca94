// SPDX-License-Identifier: MIT
#include <coppice/measure.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using coppice::Extent;
using coppice::measure;
using coppice::Size;
using coppice::TextExtent;
using coppice::Unit;

// Decodes valid UTF-8 code point by code point, by the definition and without the library.
Extent decoded_extent(std::string_view text) {
    Extent extent{text.size(), 0, 0};
    for (std::size_t at = 0; at < text.size();) {
        const auto lead = static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
        const std::size_t width = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        std::uint32_t code = width == 1 ? lead : lead & (0x7FU >> width);
        for (std::size_t i = 1; i < width; ++i) {
            code =
                (code << 6U) | (static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i])) & 0x3FU);
        }
        ++extent.chars;
        extent.utf16 += code > 0xFFFF ? 2 : 1;
        at += width;
    }
    return extent;
}

// What the definition and nlohmann's own writer say about valid UTF-8.
void check_against_dump(const std::string& text) {
    const TextExtent measured = measure(std::string_view(text));
    const std::string written = nlohmann::json(text).dump();
    CHECK(measured.plain == decoded_extent(text));
    CHECK(measured.serialised() == decoded_extent(written));
}

// Puts `piece` at every position of texts that end before, at and behind a block of the fast loop.
void check_everywhere(std::string_view piece) {
    for (const std::size_t size :
         {7U, 8U, 9U, 31U, 32U, 33U, 63U, 64U, 65U, 127U, 128U, 129U, 191U, 192U, 193U}) {
        for (std::size_t at = 0; at + piece.size() <= size; ++at) {
            std::string text(size, 'x');
            text.replace(at, piece.size(), piece);
            check_against_dump(text);
        }
    }
}

}  // namespace

TEST_CASE("measure: an empty text has no length and two quotes") {
    CHECK(measure(std::string_view()).plain == Extent{});
    CHECK(measure(std::string_view()).serialised() == coppice::ascii(2));
}

TEST_CASE("measure: ASCII has one length in every unit") {
    CHECK(measure(std::string_view("plain text")).plain == coppice::ascii(10));
    CHECK(measure(std::string_view("plain text")).serialised() == coppice::ascii(12));
}

TEST_CASE("measure: characters of two three and four bytes count once and the last as two UTF-16 units") {
    CHECK(measure(std::string_view("\xC3\xA9")).plain == Extent{2, 1, 1});
    CHECK(measure(std::string_view("\xE2\x82\xAC")).plain == Extent{3, 1, 1});
    CHECK(measure(std::string_view("\xF0\x9F\x98\x80")).plain == Extent{4, 1, 2});
}

TEST_CASE("measure: the first and last code point of every length agree with the definition") {
    for (const std::string_view edge :
         {"\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF",
          "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
        check_against_dump(std::string(edge));
    }
}

TEST_CASE("measure: every byte below 0x80 is escaped as nlohmann escapes it") {
    for (int byte = 0; byte < 0x80; ++byte) {
        CAPTURE(byte);
        check_against_dump(std::string(1, static_cast<char>(byte)));
        check_against_dump(std::string(130, static_cast<char>(byte)));
    }
}

TEST_CASE("measure: DEL is written as it is") {
    CHECK(measure(std::string_view("\x7F")).serialised() == coppice::ascii(3));
}

TEST_CASE("measure: quotes and backslashes are found at every position around a block") {
    check_everywhere("\"");
    check_everywhere("\\");
}

TEST_CASE("measure: control bytes are found at every position around a block") {
    check_everywhere("\n");
    check_everywhere("\t");
    check_everywhere("\x1B");
    check_everywhere(std::string_view("\0", 1));
}

TEST_CASE("measure: longer characters are found at every position around a block") {
    check_everywhere("\xC3\xA9");
    check_everywhere("\xE2\x82\xAC");
    check_everywhere("\xF0\x9F\x98\x80");
}

TEST_CASE("measure: every byte at every position of a short text is seen") {
    std::size_t wrong = 0;
    for (std::size_t size = 1; size <= 20; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            for (unsigned byte = 0; byte < 256; ++byte) {
                std::string text(size, '~');
                text[at] = static_cast<char>(byte);
                const bool short_escape =
                    byte == '"' || byte == '\\' || (byte >= 8 && byte <= 13 && byte != 11);
                const std::size_t added = short_escape ? 1 : byte < 0x20 ? 5 : 0;
                const TextExtent measured = measure(std::string_view(text));
                wrong += measured.plain.bytes != size;
                wrong += measured.plain.chars != size - (byte >= 0x80 && byte < 0xC0 ? 1 : 0);
                wrong += measured.serialised().bytes != size + 2 + added;
            }
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("measure: blocks full of escaped bytes are counted whole") {
    for (const std::size_t size : {63U, 64U, 65U, 128U, 192U, 255U, 256U, 640U, 1000U}) {
        check_against_dump(std::string(size, '\n'));
        check_against_dump(std::string(size, '"'));
        check_against_dump(std::string(size, '\x02'));
    }
}

TEST_CASE("measure: mixed text of every length up to two blocks agrees with nlohmann") {
    const std::string piece = "a\"\xC3\xA9\\\n\xF0\x9F\x98\x80\t\xE2\x82\xAC\x1F/";
    std::string text;
    while (text.size() < 420) {
        text += piece;
        check_against_dump(text);
        check_against_dump(std::string(text.size() % 64, 'p') + text);
    }
}

TEST_CASE("measure: invalid bytes count as characters unless they are continuation bytes") {
    // name of the fault, bytes, characters
    struct Fault {
        std::string_view bytes;
        std::size_t chars;
    };
    constexpr std::array faults = {
        Fault{"\xFF", 1},                      // never a byte of UTF-8
        Fault{"\xC0\xAF", 1},                  // overlong
        Fault{"\xED\xA0\xBD\xED\xB8\x80", 2},  // a surrogate pair in two times three bytes
        Fault{"\xE5", 1},                      // cut off
        Fault{"\xF0\x9F\x98", 1},              // cut off
        Fault{"\x80\x80", 0},                  // continuation bytes alone
    };
    for (const Fault& fault : faults) {
        for (const std::size_t before : {0U, 62U, 63U, 64U}) {
            const std::string text = std::string(before, 'x') + std::string(fault.bytes);
            const TextExtent measured = measure(std::string_view(text));
            CHECK(measured.plain.bytes == text.size());
            CHECK(measured.plain.chars == before + fault.chars);
            CHECK(measured.serialised().bytes == text.size() + 2);
        }
    }
}

TEST_CASE("measure: every single byte and every pair of bytes can be measured") {
    for (unsigned first = 0; first < 256; ++first) {
        for (unsigned second = 0; second < 256; ++second) {
            const std::string text = {static_cast<char>(first), static_cast<char>(second)};
            const Extent plain = measure(std::string_view(text)).plain;
            REQUIRE(plain.bytes == 2);
            REQUIRE(plain.chars <= 2);
            REQUIRE(plain.utf16 >= plain.chars);
            REQUIRE(plain.utf16 <= 2 * plain.chars);
        }
    }
}

TEST_CASE("measure: tokens are told by the widths of characters") {
    using coppice::token_eighths;
    CHECK(token_eighths(Extent{}) == 0);
    // a quarter of a token for an ASCII character
    CHECK(token_eighths(coppice::ascii(8)) == 16);
    // five eighths for one of two bytes, one for one of three, eleven eighths for one of four
    CHECK(token_eighths(measure("\u00e9").plain) == 5);
    CHECK(token_eighths(measure("\u4e2d").plain) == 8);
    CHECK(token_eighths(measure("\U0001f600").plain) == 11);
    CHECK(token_eighths(measure("a\u4e2d\u6587").plain) == 18);
    // sums are rounded once
    CHECK(token_eighths(measure("ab").plain + measure("c").plain) == token_eighths(measure("abc").plain));
}

TEST_CASE("size: a bare number means bytes") {
    constexpr Size bare = 2000;
    CHECK(bare == coppice::bytes(2000));
    CHECK_FALSE(bare == coppice::chars(2000));
    CHECK_FALSE(bare == coppice::utf16(2000));
}

TEST_CASE("extent: thresholds are compared in their own unit") {
    constexpr Extent extent{4, 1, 2};
    CHECK(extent.at_least(coppice::bytes(4)));
    CHECK_FALSE(extent.exceeds(coppice::bytes(4)));
    CHECK(extent.exceeds(coppice::bytes(3)));
    CHECK_FALSE(extent.at_least(coppice::chars(2)));
    CHECK(extent.at_least(coppice::utf16(2)));
    CHECK_FALSE(extent.exceeds(coppice::utf16(2)));
}

TEST_CASE("extent: sums and differences hold in every unit") {
    constexpr Extent left{4, 1, 2};
    constexpr Extent right{10, 7, 8};
    CHECK(left + right == Extent{14, 8, 10});
    CHECK(left + right - left == right);
    CHECK(left + coppice::ascii(3) == Extent{7, 4, 5});
}

TEST_CASE("unit: each has its name") {
    CHECK(coppice::name_of(Unit::bytes) == "bytes");
    CHECK(coppice::name_of(Unit::chars) == "chars");
    CHECK(coppice::name_of(Unit::utf16) == "utf16");
}
