// SPDX-License-Identifier: MIT
#include <coppice/text.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::append_safe;
using coppice::decoded;
using coppice::first_chars;
using coppice::first_line;
using coppice::last_chars;
using coppice::last_line;
using coppice::measure;
using coppice::MeasuredText;
using coppice::same_text;
using coppice::Text;
using coppice::TextExtent;

// Insides of JSON strings, each valid.
constexpr std::array<std::string_view, 22> spellings = {
    R"()",
    R"(plain)",
    R"(\"quoted\")",
    R"(back\\slash\\)",
    R"(a\/b)",
    R"(\b\f\n\r\t)",
    R"(\u0000)",
    R"(\u001b[31m)",
    R"(\u0041\u00e9\u00E9\u20ac\u20AC)",
    R"(\ud83d\ude00)",
    R"(\uD83D\uDE00 and \uD83D\uDE00)",
    R"(\uDBFF\uDFFF\uD800\uDC00)",
    "raw \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 only",
    "mixed \xC3\xA9\\n\xF0\x9F\x98\x80\\ud83d\\ude00",
    R"(C:\\new\\table)",
    R"(\\u0041)",
    R"(\/\/home\/dev\n\/)",
    R"(\u0008\u0009\u000a\u000C\u000d)",
    R"(\u0022\u005c\u002f)",
    R"(\u0000\u000b\u001B\u001f\u007f)",
    "raw \xC3\xA9\\n\xE2\x82\xAC\\\"\xF0\x9F\x98\x80\\\\",
    "raw \xC3\xA9\\/\xE2\x82\xAC\\t\xF0\x9F\x98\x80",
};

// The same, but nlohmann does not read them: each holds a lone surrogate.
struct Lone {
    std::string_view spelling;
    std::string_view decoded;
    std::size_t shortest;  // as JSON, quotes included
};
constexpr std::array<Lone, 5> lone_surrogates = {{
    {R"(\ud83d)", "\xEF\xBF\xBD", 8},
    {R"(\uDE00\uD83D)", "\xEF\xBF\xBD\xEF\xBF\xBD", 14},
    {R"(\ud83d\n)", "\xEF\xBF\xBD\n", 10},
    {R"(\ud83d\u0041\/)",
     "\xEF\xBF\xBD"
     "A/",
     10},
    {R"(\ud83d\ud83d\ude00)", "\xEF\xBF\xBD\xF0\x9F\x98\x80", 12},
}};

std::string parsed(std::string_view inside) {
    return nlohmann::json::parse('"' + std::string(inside) + '"').get<std::string>();
}

// What nlohmann writes for it: the shortest spelling, quotes included.
std::string shortest(std::string_view inside) { return nlohmann::json(parsed(inside)).dump(); }

std::string decoded_copy(Text text) {
    std::string scratch = "left over from before";
    return std::string(decoded(text, scratch));
}

std::string safe(std::string_view text, std::size_t limit) {
    std::string out;
    append_safe(out, text, limit);
    return out;
}

// Whether nlohmann can write it, which it does for valid UTF-8 only.
bool is_utf8(std::string_view text) {
    try {
        return !nlohmann::json(std::string(text)).dump().empty();
    } catch (const nlohmann::json::exception&) { return false; }
}

// Whatever may stand in a text, often next to each other.
std::string random_bytes(std::mt19937& random, std::size_t count) {
    static const std::vector<std::string> pieces = {"a",
                                                    "B",
                                                    "\n",
                                                    "\r",
                                                    "\t",
                                                    " ",
                                                    "<",
                                                    ">",
                                                    "[",
                                                    "\"",
                                                    "\x7F",
                                                    "\x1B",
                                                    "\xC3\xA9",
                                                    "\xE2\x82\xAC",
                                                    "\xC2",
                                                    "\xE2",
                                                    "\xF0",
                                                    "\x80",
                                                    "\xC2\x85",
                                                    "\xC2\x9F",
                                                    "\xC2\xA0",
                                                    "\xE2\x80\xA8",
                                                    "\xE2\x80\xA9",
                                                    "\xED\xA0\x80",
                                                    "\xF0\x9F\x98\x80",
                                                    "\xF4\x90\x80\x80",
                                                    "\xC0\xAF",
                                                    "\xFF",
                                                    "12345678",
                                                    std::string(1, '\0')};
    std::string out;
    while (count-- > 0) { out += pieces[random() % pieces.size()]; }
    return out;
}

// The replacement of what is no UTF-8, one character at a time as nlohmann sees it.
std::string slowly_valid(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        std::size_t size = 1;
        while (size <= 4 && size <= text.size() && !is_utf8(text.substr(0, size))) { ++size; }
        const bool character = size <= 4 && size <= text.size();
        out += character ? text.substr(0, size) : std::string_view("\xEF\xBF\xBD");
        text.remove_prefix(character ? size : 1);
    }
    return out;
}

// The same of valid UTF-8, on code points.
std::string slowly_without_controls(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t size = coppice::detail::utf8_size(text.substr(at));
        const std::string_view character = text.substr(at, size);
        const bool c1 = character >= "\xC2\x80" && character <= "\xC2\x9F";
        const bool c0 = size == 1 && (character[0] < 0x20 || character[0] == 0x7F);
        const bool line = character == "\xE2\x80\xA8" || character == "\xE2\x80\xA9";
        const bool kept = character == "\n" || character == "\t";
        at += size;
        if (character == "\r" && text.substr(at, 1) == "\n") { continue; }
        if ((c0 || c1 || line) && !kept) {
            out += ' ';
        } else {
            out += character;
        }
    }
    return out;
}

bool is_safe(std::string_view text) {
    for (const char byte : text) {
        if (byte < 0x20 || byte > 0x7E || std::string_view("\"\\[]<>").find(byte) != std::string_view::npos) {
            return false;
        }
    }
    return true;
}

}  // namespace

TEST_CASE("text: a view without a backslash is not escaped") {
    CHECK_FALSE(Text::still_escaped("plain").escaped());
    CHECK(Text::still_escaped(R"(a\nb)").escaped());
    CHECK_FALSE(Text(std::string_view(R"(a\nb)")).escaped());
}

TEST_CASE("text: who knows whether there is a backslash may say so") {
    CHECK_FALSE(Text::still_escaped("plain", false).escaped());
    CHECK(Text::still_escaped(R"(a\nb)", true).escaped());
    CHECK(decoded_copy(Text::still_escaped(R"(a\nb)", true)) == "a\nb");
    CHECK(decoded_copy(Text::still_escaped("plain", true)) == "plain");
}

TEST_CASE("decoded: an escaped view reads as nlohmann parses it") {
    for (const std::string_view spelling : spellings) {
        CAPTURE(spelling);
        CHECK(decoded_copy(Text::still_escaped(spelling)) == parsed(spelling));
    }
}

TEST_CASE("decoded: plain text is handed back without a copy") {
    const std::string owner = "C:\\new";
    std::string scratch;
    CHECK(decoded(Text(std::string_view(owner)), scratch).data() == owner.data());
    CHECK(scratch.empty());
}

TEST_CASE("decoded: a lone surrogate becomes the replacement character") {
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    for (const std::string_view lone : {R"(\ud83d)", R"(\ude00)"}) {
        CHECK(decoded_copy(Text::still_escaped(lone)) == replacement);
    }
    CHECK(decoded_copy(Text::still_escaped(R"(\ud83dx)")) == std::string(replacement) + "x");
    CHECK(decoded_copy(Text::still_escaped(R"(\ud83d\n)")) == std::string(replacement) + "\n");
    CHECK(decoded_copy(Text::still_escaped(R"(\ud83d\u0041)")) == std::string(replacement) + "A");
    CHECK(decoded_copy(Text::still_escaped(R"(\ud83d\ud83d\ude00)")) ==
          std::string(replacement) + "\xF0\x9F\x98\x80");
}

TEST_CASE("decoded: escapes that are cut off are taken as they stand") {
    CHECK(decoded_copy(Text::still_escaped("a\\")) == "a\\");
    CHECK(decoded_copy(Text::still_escaped("a\\u12")) == "a\\u12");
    CHECK(decoded_copy(Text::still_escaped("\\ud83d\\u")).substr(0, 3) == "\xEF\xBF\xBD");
}

TEST_CASE("escaped text: it has the extent of what it means") {
    for (const std::string_view spelling : spellings) {
        CAPTURE(spelling);
        const std::string meant = parsed(spelling);
        CHECK(measure(Text::still_escaped(spelling)).plain == measure(std::string_view(meant)).plain);
        CHECK(measure(Text::still_escaped(spelling)).escapes == measure(std::string_view(meant)).escapes);
    }
}

TEST_CASE("escaped text: it is as long in the body as its shortest spelling in every unit") {
    for (const std::string_view spelling : spellings) {
        CAPTURE(spelling);
        const std::string there = shortest(spelling);
        const coppice::Extent size = measure(Text::still_escaped(spelling)).serialised();
        CHECK(size == measure(std::string_view(there)).plain);
        CHECK(size.bytes == there.size());
    }
}

TEST_CASE("escaped text: every character has one size however it is spelled") {
    std::size_t wrong = 0;
    for (unsigned code = 0; code < 0x10000; ++code) {
        if (code >= 0xD800 && code < 0xE000) { continue; }
        constexpr std::string_view digits = "0123456789abcdef";
        std::string spelling = "\\u";
        for (const unsigned shift : {12U, 8U, 4U, 0U}) { spelling += digits[(code >> shift) & 0xFU]; }
        const TextExtent escaped = measure(Text::still_escaped(spelling));
        const TextExtent plain = measure(std::string_view(parsed(spelling)));
        wrong += escaped.plain != plain.plain || escaped.escapes != plain.escapes;
        wrong += escaped.serialised().bytes != shortest(spelling).size();
    }
    CHECK(wrong == 0);
}

TEST_CASE("escaped text: a slash counts the same with and without its backslash") {
    CHECK(measure(Text::still_escaped(R"(a\/b)")).serialised() == coppice::ascii(5));
    CHECK(measure(Text::still_escaped(R"(\u0061\u002f\u0062)")).serialised() == coppice::ascii(5));
    CHECK(measure(Text("a/b")).serialised() == coppice::ascii(5));
}

TEST_CASE("escaped text: a lone surrogate counts as one character") {
    CHECK(measure(Text::still_escaped(R"(\ud83d)")).plain == coppice::Extent{3, 1, 1});
}

TEST_CASE("escaped text: a lone surrogate has no shorter spelling than its six bytes") {
    CHECK(measure(Text::still_escaped(R"(\ud83d)")).serialised() == coppice::ascii(8));
    for (const Lone& lone : lone_surrogates) {
        CAPTURE(lone.spelling);
        const TextExtent measured = measure(Text::still_escaped(lone.spelling));
        CHECK(measured.plain == measure(lone.decoded).plain);
        CHECK(measured.serialised().bytes == lone.shortest);
    }
}

TEST_CASE("measured text: it is as long as measuring says in whatever order it is asked") {
    for (const std::string_view spelling : spellings) {
        CAPTURE(spelling);
        for (const Text text : {Text(spelling), Text::still_escaped(spelling)}) {
            const TextExtent expected = measure(text);
            const MeasuredText plain_first(text);
            CHECK(plain_first.plain() == expected.plain);
            CHECK(plain_first.extent().serialised() == expected.serialised());
            CHECK(plain_first.plain() == expected.plain);
            const MeasuredText extent_first(text);
            CHECK(extent_first.extent().serialised() == expected.serialised());
            CHECK(extent_first.extent().plain == expected.plain);
        }
    }
}

TEST_CASE("measured text: its bounds hold in every unit") {
    for (const std::string_view spelling : spellings) {
        CAPTURE(spelling);
        for (const Text text : {Text(spelling), Text::still_escaped(spelling)}) {
            const MeasuredText measured(text);
            for (const coppice::Unit unit :
                 {coppice::Unit::bytes, coppice::Unit::chars, coppice::Unit::utf16}) {
                CHECK(measured.least(unit) <= measured.plain().in(unit));
                CHECK(measured.most(unit) >= measured.plain().in(unit));
            }
        }
    }
}

TEST_CASE("measured text: the shortest and the longest spelling stay within its bounds") {
    for (const std::string_view spelling : {R"(\u0041)", R"(\u0041\u0041\u0041\u0041)", R"(\ud83d\ude00)",
                                            R"(\ud83d)", R"(\n)", R"(\n\n\n\n\n\n\n)"}) {
        CAPTURE(spelling);
        const MeasuredText measured(Text::still_escaped(spelling));
        for (const coppice::Unit unit : {coppice::Unit::bytes, coppice::Unit::chars, coppice::Unit::utf16}) {
            CHECK(measured.least(unit) <= measured.plain().in(unit));
            CHECK(measured.most(unit) >= measured.plain().in(unit));
        }
    }
}

TEST_CASE("measured text: what a back end knows is the answer in every unit") {
    for (const std::string_view spelling : spellings) {
        CAPTURE(spelling);
        const Text text = Text::still_escaped(spelling);
        const TextExtent known = measure(text);
        const MeasuredText measured(text, known);
        CHECK(measured.plain() == known.plain);
        CHECK(measured.extent().escapes == known.escapes);
        CHECK(measured.text().raw() == spelling);
        for (const coppice::Unit unit : {coppice::Unit::bytes, coppice::Unit::chars, coppice::Unit::utf16}) {
            CHECK(measured.least(unit) == known.plain.in(unit));
            CHECK(measured.most(unit) == known.plain.in(unit));
        }
    }
}

TEST_CASE("measured text: a long text of short escapes is measured as nlohmann writes it") {
    std::string spelling;
    for (int i = 0; i < 500; ++i) { spelling += "line \xC3\xA9 of \xF0\x9F\x98\x80\\tC:\\\\dir\\/file\\n"; }
    const MeasuredText measured(Text::still_escaped(spelling));
    const std::string meant = parsed(spelling);
    CHECK(measured.plain() == measure(std::string_view(meant)).plain);
    CHECK(measured.extent().serialised().bytes == shortest(spelling).size());
}

TEST_CASE("same text: every spelling of a text is the same") {
    constexpr std::array<std::string_view, 4> type = {R"(type)", R"(\u0074ype)", R"(t\u0079pe)",
                                                      R"(\u0074\u0079\u0070\u0065)"};
    for (const std::string_view left : type) {
        for (const std::string_view right : type) {
            CHECK(same_text(Text::still_escaped(left), Text::still_escaped(right)));
        }
        CHECK(same_text(Text::still_escaped(left), std::string_view("type")));
    }
    CHECK(same_text(Text::still_escaped(R"(a\/b)"), std::string_view("a/b")));
    CHECK(same_text(Text::still_escaped(R"(\ud83d\ude00)"), std::string_view("\xF0\x9F\x98\x80")));
}

TEST_CASE("same text: texts agree exactly where nlohmann parses them alike") {
    for (const std::string_view left : spellings) {
        for (const std::string_view right : spellings) {
            CAPTURE(left);
            CAPTURE(right);
            CHECK(same_text(Text::still_escaped(left), Text::still_escaped(right)) ==
                  (parsed(left) == parsed(right)));
        }
    }
}

TEST_CASE("same text: a plain backslash is not an escape") {
    CHECK_FALSE(same_text(std::string_view(R"(a\nb)"), Text::still_escaped(R"(a\nb)")));
    CHECK(same_text(std::string_view(R"(a\nb)"), Text::still_escaped(R"(a\\nb)")));
}

TEST_CASE("first chars: every budget around longer characters ends between characters") {
    for (const std::string_view character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
        for (std::size_t before = 0; before <= 8; ++before) {
            const std::string text = std::string(before, 'a') + std::string(character) + "bcdefghi";
            for (std::size_t budget = 0; budget <= 8; ++budget) {
                const std::string_view head = first_chars(text, budget);
                CHECK(is_utf8(head));
                CHECK(measure(head).plain.chars == budget);
                CHECK(text.substr(0, head.size()) == head);
            }
        }
    }
}

TEST_CASE("last chars: every budget around longer characters begins between characters") {
    for (const std::string_view character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
        for (std::size_t behind = 0; behind <= 8; ++behind) {
            const std::string text = "abcdefgh" + std::string(character) + std::string(behind, 'z');
            for (std::size_t budget = 0; budget <= 8; ++budget) {
                const std::string_view tail = last_chars(text, budget);
                CHECK(is_utf8(tail));
                CHECK(measure(tail).plain.chars == budget);
                CHECK(text.substr(text.size() - tail.size()) == tail);
            }
        }
    }
}

TEST_CASE("first and last chars: a budget beyond the text gives the text") {
    CHECK(first_chars("ab\xC3\xA9", 3) == "ab\xC3\xA9");
    CHECK(first_chars("ab\xC3\xA9", 1000) == "ab\xC3\xA9");
    CHECK(last_chars("\xC3\xA9zz", 3) == "\xC3\xA9zz");
    CHECK(last_chars("\xC3\xA9zz", 1000) == "\xC3\xA9zz");
    CHECK(first_chars("", 5).empty());
    CHECK(last_chars("", 5).empty());
}

TEST_CASE("first and last chars: invalid bytes are no obstacle") {
    const std::string text = "\xFF\x80\x80\xE5 and \xF0\x9F";
    for (std::size_t budget = 0; budget <= 12; ++budget) {
        const std::string_view head = first_chars(text, budget);
        const std::string_view tail = last_chars(text, budget);
        CHECK(measure(head).plain.chars <= budget);
        CHECK(measure(tail).plain.chars <= budget);
    }
}

TEST_CASE("lower: letters of ASCII and nothing else") {
    for (unsigned byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        CHECK(coppice::detail::lower(c) == (c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c));
    }
}

TEST_CASE("ascii run: it ends within eight bytes of the first byte that is none") {
    using coppice::detail::ascii_run;
    CHECK(ascii_run("") == 0);
    CHECK(ascii_run("1234567") == 0);
    CHECK(ascii_run("12345678") == 8);
    for (const char other : {'\x80', '\xC3', '\xFF'}) {
        for (std::size_t size = 1; size <= 40; ++size) {
            for (std::size_t at = 0; at < size; ++at) {
                std::string text(size, '\0');
                text[at] = other;
                CHECK(ascii_run(text) == at / 8 * 8);
            }
        }
    }
}

TEST_CASE("is utf8: every code point is and no surrogate is") {
    std::size_t wrong = 0;
    for (std::uint32_t code = 0; code < 0x110000; ++code) {
        const coppice::detail::Utf8 character = coppice::detail::to_utf8(code);
        const bool surrogate = code >= 0xD800 && code < 0xE000;
        wrong += coppice::detail::is_utf8({character.bytes.data(), character.size}) == surrogate;
    }
    CHECK(wrong == 0);
}

TEST_CASE("is utf8: one wrong byte or half a character at any place is seen") {
    for (const std::string_view wrong :
         {"\x80", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
          "\xE0\x80\x80", "\xF5\x80\x80\x80"}) {
        for (std::size_t before = 0; before <= 20; ++before) {
            for (std::size_t behind = 0; behind <= 20; ++behind) {
                const std::string head(before, 'a');
                const std::string tail(behind, 'z');
                CHECK_FALSE(coppice::detail::is_utf8(head + std::string(wrong) + tail));
                CHECK(coppice::detail::is_utf8(head + "\xE2\x82\xAC\xF0\x9F\x98\x80\xC3\xA9" + tail));
            }
        }
    }
}

TEST_CASE("is utf8: texts are valid where nlohmann takes them") {
    std::mt19937 random(5);
    std::size_t valid = 0;
    for (int round = 0; round < 20'000; ++round) {
        const std::string text = random_bytes(random, random() % 12);
        const bool expected = is_utf8(text);
        CHECK(coppice::detail::is_utf8(text) == expected);
        valid += expected;
    }
    CHECK(valid > 1000);
    CHECK(valid < 19'000);
}

TEST_CASE("valid utf8: a replacement character stands for each byte that is part of none") {
    std::string scratch;
    CHECK(coppice::detail::valid_utf8("a\x80\xE2\x82z\xF0\x9F\x98", scratch) ==
          "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(coppice::detail::valid_utf8("\xED\xA0\x80", scratch) == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    std::mt19937 random(6);
    for (int round = 0; round < 10'000; ++round) {
        const std::string text = random_bytes(random, random() % 12);
        scratch = "left over";
        CHECK(coppice::detail::valid_utf8(text, scratch) == slowly_valid(text));
    }
}

TEST_CASE("valid utf8: a text that is valid is handed back without a copy") {
    const std::string owner = "h\xC3\xA9llo, world";
    std::string scratch;
    CHECK(coppice::detail::valid_utf8(owner, scratch).data() == owner.data());
    CHECK(scratch.empty());
}

TEST_CASE("without controls: a space stands for each control character and separator of lines") {
    std::string scratch;
    CHECK(coppice::detail::without_controls("a\tb\nc\x1B[31m\x7F\xC2\x85\xC2\x9B\xE2\x80\xA8\xE2\x80\xA9z",
                                            scratch) == "a\tb\nc [31m     z");
    CHECK(coppice::detail::without_controls(std::string_view("\0\x01", 2), scratch) == "  ");
    CHECK(coppice::detail::without_controls("\xC2\xA0\xE2\x80\xA7\xE2\x80\xAA\xE2\x82\xA8", scratch) ==
          "\xC2\xA0\xE2\x80\xA7\xE2\x80\xAA\xE2\x82\xA8");
}

TEST_CASE("without controls: a line break of two characters is one of one") {
    std::string scratch;
    CHECK(coppice::detail::without_controls("a\r\nb\rc\r\r\nd\n\re\r", scratch) == "a\nb c \nd\n e ");
}

TEST_CASE("without controls: a text without any is handed back without a copy") {
    const std::string owner = "h\xC3\xA9llo,\tworld\n";
    std::string scratch;
    CHECK(coppice::detail::without_controls(owner, scratch).data() == owner.data());
    CHECK(scratch.empty());
}

TEST_CASE("without controls: the text may stand in the scratch, all of it or a part") {
    std::mt19937 random(8);
    for (int round = 0; round < 10'000; ++round) {
        std::string text;
        text = slowly_valid(random_bytes(random, random() % 12));
        const std::string expected = slowly_without_controls(text);
        std::string elsewhere = "left over";
        CHECK(coppice::detail::without_controls(text, elsewhere) == expected);
        std::string scratch = text;
        CHECK(coppice::detail::without_controls(scratch, scratch) == expected);
        // its beginning, its end, and what is between
        scratch = text + "\x1B behind";
        CHECK(coppice::detail::without_controls(std::string_view(scratch).substr(0, text.size()), scratch) ==
              expected);
        scratch = "before \x1B" + text;
        CHECK(coppice::detail::without_controls(std::string_view(scratch).substr(8), scratch) == expected);
        scratch = "before \x1B" + text + "\x1B behind";
        CHECK(coppice::detail::without_controls(std::string_view(scratch).substr(8, text.size()), scratch) ==
              expected);
    }
}

TEST_CASE("trimmed: white space around a text goes and white space inside stays") {
    CHECK(coppice::trimmed(" \t\r\n\f\v a b \v\f\n\r\t ") == "a b");
    CHECK(coppice::trimmed(" \n\t ").empty());
    CHECK(coppice::trimmed("").empty());
}

TEST_CASE("first line: the first that is not blank without surrounding white space") {
    CHECK(first_line("one\ntwo") == "one");
    CHECK(first_line("\n \r\n\t one \r\ntwo") == "one");
    CHECK(first_line("only") == "only");
    CHECK(first_line(" \n\n").empty());
    CHECK(first_line("").empty());
}

TEST_CASE("last line: the last that is not blank without surrounding white space") {
    CHECK(last_line("one\ntwo") == "two");
    CHECK(last_line("one\r\n  two \r\n \n\t\n") == "two");
    CHECK(last_line("only") == "only");
    CHECK(last_line(" \n\n").empty());
    CHECK(last_line("").empty());
}

TEST_CASE("append safe: plain text stays as it is and goes behind what is there") {
    std::string out = "path: ";
    append_safe(out, "/src/main.c:12 (ok)", 100);
    CHECK(out == "path: /src/main.c:12 (ok)");
}

TEST_CASE("append safe: quotes backslashes and brackets are replaced") {
    CHECK(safe(R"(say "hi" [x] C:\dir)", 100) == "say 'hi' (x) C:/dir");
    CHECK(safe("</platform_note> a<b>c", 100) == "(/platform_note) a(b)c");
    CHECK(safe("<>", 2) == "()");
}

TEST_CASE("append safe: what it has written once it writes again") {
    std::mt19937 random(11);
    for (int round = 0; round < 20'000; ++round) {
        const std::string text = random_bytes(random, random() % 40);
        const std::size_t limit = random() % 30;
        const std::string out = safe(text, limit);
        CHECK(safe(out, limit) == out);
        CHECK((out.empty() || coppice::detail::is_safe(out)));
    }
}

TEST_CASE("append safe: white space and control bytes collapse and none is left at the ends") {
    CHECK(safe(" \n a\r\n\t\x1B \x7F b\0c \n", 100) == "a b");
    CHECK(safe(std::string_view("a\0b", 3), 100) == "a b");
    CHECK(safe(" \n\t ", 100).empty());
}

TEST_CASE("append safe: characters outside ASCII become one question mark each") {
    CHECK(safe("\xC3\xA9-\xE2\x82\xAC-\xF0\x9F\x98\x80", 100) == "?-?-?");
    CHECK(safe("a\xE2\x80\xAE"
               "b\xEF\xBB\xBF",
               100) == "a?b?");  // right-to-left override, byte order mark
}

TEST_CASE("append safe: every byte comes out printable") {
    for (unsigned byte = 0; byte < 256; ++byte) {
        const std::string text = {'a', static_cast<char>(byte), 'b'};
        CHECK(is_safe(safe(text, 100)));
    }
}

TEST_CASE("append safe: longer text keeps head and tail around dots within the limit") {
    CHECK(safe("0123456789abcdef", 16) == "0123456789abcdef");
    CHECK(safe("0123456789abcdef", 15) == "012345...abcdef");
    CHECK(safe("0123456789abcdef", 10) == "0123...def");
}

TEST_CASE("append safe: no limit is exceeded however small it is") {
    for (std::size_t limit = 0; limit <= 20; ++limit) {
        for (const std::string_view text :
             {"", "a", "abc", "a b c d", "/a/very/long/path/of/some/file.cpp"}) {
            CAPTURE(limit);
            const std::string out = safe(text, limit);
            CHECK(out.size() <= limit);
            if (text.size() <= limit) { CHECK(out == text); }
        }
    }
}

TEST_CASE("append safe: the limit counts what is appended and not what stood before") {
    std::string out(500, 'x');
    append_safe(out, std::string(300, 'y'), 20);
    CHECK(out.size() == 520);
}

TEST_CASE("append safe: ten megabytes are looked at only at their ends") {
    std::string text(10'000'000, '\n');
    text.replace(0, 4, "head");
    text.replace(text.size() - 4, 4, "tail");
    const auto start = std::chrono::steady_clock::now();
    std::string out;
    for (int i = 0; i < 1000; ++i) {
        out.clear();
        append_safe(out, text, 120);
    }
    const auto spent = std::chrono::steady_clock::now() - start;
    CHECK(out.substr(0, 4) == "head");
    CHECK(out.substr(out.size() - 4) == "tail");
    // a thousand full looks at ten megabytes would take many seconds
    CHECK(spent < std::chrono::seconds(2));
}

TEST_CASE("append safe: a long text shows that something between head and tail is missing") {
    const std::string blank(5000, ' ');
    const std::string out = safe("head" + blank + "middle" + blank + "tail", 20);
    CHECK(out.size() <= 20);
    CHECK(out.find("...") != std::string::npos);
    CHECK(out.substr(0, 4) == "head");
    CHECK(out.substr(out.size() - 4) == "tail");
}

TEST_CASE("append safe: a window edge inside a character leaves no trace of half a character") {
    std::string text;
    for (int i = 0; i < 5000; ++i) { text += "\xF0\x9F\x98\x80"; }
    for (std::size_t limit = 4; limit < 40; ++limit) {
        const std::string out = safe(text, limit);
        CHECK(out.size() == limit);
        CHECK(is_safe(out));
    }
}
