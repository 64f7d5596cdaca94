// SPDX-License-Identifier: MIT
#include <coppice/detail/json_grammar.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::optional<std::size_t> find_fault(std::string_view json) {
    std::vector<bool> room(3, true);
    return coppice::detail::JsonGrammar<>(json, room).find_fault();
}

// By the definition: a code point in as few bytes as will do, no half of a surrogate pair.
bool is_one_character(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
    };
    const std::size_t size = byte(0) < 0x80             ? 1
                             : (byte(0) & 0xE0) == 0xC0 ? 2
                             : (byte(0) & 0xF0) == 0xE0 ? 3
                             : (byte(0) & 0xF8) == 0xF0 ? 4
                                                        : 0;
    if (size != text.size()) { return false; }
    std::uint32_t code = size == 1 ? byte(0) : byte(0) & (0xFFU >> (size + 1));
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0) != 0x80) { return false; }
        code = code * 64 + (byte(i) & 0x3F);
    }
    constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
    return code >= least[size] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

}  // namespace

TEST_CASE("json grammar: a byte that is no UTF-8 is found") {
    const std::string odd(
        "\x7F\x80\x8F\x90\x9F\xA0\xBF\xC0\xC1\xC2\xDF\xE0\xE1\xEC\xED\xEE\xEF\xF0\xF1\xF3\xF4\xF5\xF8\xFF");
    std::size_t wrong = 0;
    std::size_t valid = 0;
    const auto check = [&](const std::string& text) {
        std::size_t first = 0;  // how long the character is that it begins with
        for (std::size_t size = 1; size <= text.size(); ++size) {
            if (is_one_character(text.substr(0, size))) { first = size; }
        }
        valid += first == text.size();
        // the first byte behind what is whole characters
        const std::optional<std::size_t> found = find_fault("[\"" + text + "\"]");
        const std::size_t place = found.value_or(text.size() + 2) - 2;
        wrong += first == 0 ? place != 0 : first == text.size() ? place != first : place < first;
    };
    for (const char a : odd) {
        check(std::string{a});
        for (const char b : odd) {
            check(std::string{a, b});
            for (const char c : odd) {
                check(std::string{a, b, c});
                for (const char d : odd) { check(std::string{a, b, c, d}); }
            }
        }
    }
    CHECK(wrong == 0);
    CHECK(valid > 800);
}

TEST_CASE("json grammar: it finds one exactly where nlohmann does not accept a text") {
    const std::string_view bytes = "[]{}\",:\\ 019eE.-+truefalsnu/\n";
    std::uint64_t state = 1;
    const auto below = [&state](std::size_t bound) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::size_t>(state >> 33U) % bound;
    };
    std::size_t accepted = 0;
    std::size_t wrong = 0;
    for (int i = 0; i < 40'000; ++i) {
        std::string text = below(2) == 0 ? "[" : "";
        for (std::size_t left = below(6); left > 0; --left) { text += bytes[below(bytes.size())]; }
        if (text.substr(0, 1) == "[") { text += ']'; }
        const bool accepts = nlohmann::json::accept(text);
        accepted += accepts;
        const bool agree = accepts == !find_fault(text).has_value();
        // a number that no double holds is JSON all the same
        wrong += !agree && text.find_first_of("eE") == std::string::npos;
    }
    CHECK(accepted > 200);
    CHECK(wrong == 0);
}

TEST_CASE("json grammar: of several faults the first one counts") {
    CHECK(find_fault("[1,,2]  x") == 3U);
    CHECK(find_fault("[1,,\"\xFF\"]") == 3U);
    CHECK(find_fault("[\"\xFF\",,]") == 2U);
    CHECK(find_fault("[\\\"\"a]") == 1U);
    CHECK(find_fault(std::string_view("\0\xCD", 2)) == 0U);
    CHECK(find_fault("[1\xCD]") == 2U);
    CHECK(find_fault("[x\xCD]") == 1U);
    CHECK(find_fault("[\"a\nb\",\"\\q\"]") == 3U);
}

TEST_CASE("json grammar: what is cut off ends where the text does") {
    const std::string whole = R"({"a":["b\u00e9\n",-1.5e3,true,{}]})";
    CHECK_FALSE(find_fault(whole).has_value());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::optional<std::size_t> found = find_fault(whole.substr(0, size));
        CAPTURE(size);
        // half a literal or number is wrong from its first character on
        CHECK((found == size || whole[*found] == 't' || whole[*found] == '-'));
    }
}

TEST_CASE("json grammar: any depth") {
    CHECK(find_fault(std::string(300'000, '[')) == 300'000U);
    CHECK_FALSE(find_fault(std::string(300'000, '[') + std::string(300'000, ']')).has_value());
}
