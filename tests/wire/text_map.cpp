// SPDX-License-Identifier: MIT
#include <coppice/wire/text_map.hpp>

#include <coppice/measure.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::detail::TextMap;

// Where escapes start, found one byte at a time.
std::vector<std::size_t> escapes_of(std::string_view text) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\') { found.push_back(i++); }
    }
    return found;
}

std::vector<TextMap::Loop> loops() {
    std::vector<TextMap::Loop> found = {TextMap::loop_portably};
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
    found.push_back(TextMap::loop_sse2);
    if (__builtin_cpu_supports("avx2")) { found.push_back(TextMap::loop_avx2); }
#endif
    return found;
}

// The map's answers for pieces of a text, against one byte at a time.
void check(const std::string& text, std::size_t stride, TextMap::Loop loop) {
    TextMap map;
    map.read(text, loop);
    const std::vector<std::size_t> escapes = escapes_of(text);
    const auto starts_character = [&](std::size_t at) {
        return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
    };
    for (std::size_t begin = 0; begin <= text.size(); begin += stride) {
        for (std::size_t end = begin; end <= text.size(); end += stride) {
            std::size_t count = 0;
            for (const std::size_t at : escapes) { count += at >= begin && at < end; }
            REQUIRE(map.escapes(begin, end) == count);
            REQUIRE(map.any_escapes(begin, end) == (count > 0));
            if (count > 0) { REQUIRE(map.next_escape(begin) < end); }
            if (end == text.size() && count == 0) { REQUIRE(map.next_escape(begin) == text.size()); }
            if (!starts_character(begin) || !starts_character(end)) { continue; }
            const bool same = map.measure(begin, end) ==
                              coppice::measure_plain(std::string_view(text).substr(begin, end - begin));
            REQUIRE(same);
        }
    }
}

}  // namespace

TEST_CASE("text_map: runs of backslashes of every length, across the ends of blocks") {
    for (std::size_t before = 50; before < 66; ++before) {
        for (std::size_t run = 0; run < 140; ++run) {
            const std::string text = std::string(before, 'a') + std::string(run, '\\') + "nbcd";
            CAPTURE(before);
            CAPTURE(run);
            for (const TextMap::Loop loop : loops()) {
                TextMap map;
                map.read(text + std::string(70, 'x'), loop);
                REQUIRE(map.escapes(0, text.size()) == (run + 1) / 2);
                REQUIRE(map.others().empty());
            }
        }
    }
}

TEST_CASE("text_map: pieces of a text with escapes and characters of every width") {
    std::string text;
    std::uint64_t state = 3;
    const std::vector<std::string> pieces = {
        "a", "\\n", "\\\\", "\\\"", "\xC3\xA9", "\xE2\x94\x80", "\xF0\x9F\x98\x80"};
    for (int i = 0; i < 160; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        text += pieces[(state >> 33U) % pieces.size()];
    }
    for (const TextMap::Loop loop : loops()) {
        check("", 1, loop);
        check("\\", 1, loop);
        check(std::string(64, '\\'), 1, loop);
        check(std::string(63, 'a') + "\xF0\x9F\x98\x80" + std::string(70, 'b'), 1, loop);
        check(text, 3, loop);
        check(text.substr(1), 5, loop);
    }
}

TEST_CASE("text_map: what is behind a backslash and not common is listed by its place") {
    const std::string text = std::string(61, 'x') + R"(\u00e9\/\r\n\q\b\f\t\"\\u)";
    TextMap map;
    map.read(text);
    std::string others;
    for (const std::uint32_t place : map.others()) { others += text[place]; }
    CHECK(others == "u/rqbf");
}

TEST_CASE("text_map: it can be used again for a shorter text") {
    TextMap map;
    map.read(std::string(500, '\\'));
    map.read("ab\\ncd");
    CHECK(map.escapes(0, 6) == 1);
    CHECK(map.any_escapes(0, 2) == false);
    CHECK(map.measure(0, 6) == coppice::ascii(6));
}
