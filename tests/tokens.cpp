// SPDX-License-Identifier: MIT
#include <coppice/tokens.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::CharsPerToken;
using coppice::ScriptAwareTokens;
using coppice::token_estimator;
using coppice::tokens_of;

constexpr ScriptAwareTokens script_aware;
constexpr CharsPerToken<> four_chars;
constexpr std::size_t largest = std::numeric_limits<std::size_t>::max();

std::string repeated(std::string_view piece, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) { text += piece; }
    return text;
}

std::string random_of(std::string_view alphabet, std::size_t size, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::string text;
    while (text.size() < size) { text += alphabet[random() % alphabet.size()]; }
    return text;
}

constexpr std::string_view base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view hex = "0123456789abcdef";

double per_token(double length, std::string_view text) {
    return length / static_cast<double>(tokens_of(script_aware, text));
}

// Quarters of a token that `after` adds to `before`.
std::size_t added(std::string_view before, std::string_view after) {
    return script_aware.weight(std::string(before) + std::string(after)) - script_aware.weight(before);
}

// What ScriptAwareTokens says of printable ASCII, by its description: every window of 64 characters is looked
// at by itself.
std::size_t slow_ascii_weight(std::string_view text) {
    const auto kind = [](char c) {
        if (c >= 'a' && c <= 'z') { return 'a'; }
        if (c >= 'A' && c <= 'Z') { return 'A'; }
        if (c >= '0' && c <= '9') { return '0'; }
        return std::string_view("+/=-_").find(c) != std::string_view::npos ? '+' : ' ';
    };
    std::vector<bool> encoded(text.size());
    for (std::size_t start = 0; start + 64 <= text.size(); ++start) {
        const std::string_view window = text.substr(start, 64);
        std::size_t alternations = 0;
        bool unbroken = true;
        for (std::size_t i = 0; i < 64; ++i) {
            const char here = kind(window[i]);
            unbroken = unbroken && here != ' ';
            const char next = i + 1 < 64 ? kind(window[i + 1]) : here;
            alternations += here != next && here != '+' && next != '+' && !(here == 'A' && next == 'a');
        }
        for (std::size_t i = 0; unbroken && alternations >= 16 && i < 64; ++i) { encoded[start + i] = true; }
    }
    std::size_t weight = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char here = kind(text[i]);
        const bool light = here == 'a' || here == 'A' || text[i] == ' ';
        weight += light && !encoded[i] ? 1 : 2;
    }
    return weight;
}

// Texts of pieces that are each difficult, cut off anywhere.
std::string hostile_text(std::mt19937& random) {
    const std::array<std::string, 16> pieces = {
        "plain words ",
        "\xE4\xBD\xA0\xE5\xA5\xBD",
        "\xF0\x9F\x98\x80",
        "\xC3\xA9",
        "\xD4\xB1",
        "\xC2\x85",
        "\\u4f60",
        "\\ud83d\\ude00",
        "\x1B[31m",
        std::string("\0\x7F", 2),
        "\xFF\xFE\x80",
        "\xF0\x9F",
        "\xED\xA0\x80",
        random_of(base64, 1 + random() % 200, static_cast<std::uint32_t>(random())),
        random_of(hex, 1 + random() % 150, static_cast<std::uint32_t>(random())),
        random_of("aB", 1 + random() % 150, static_cast<std::uint32_t>(random())),
    };
    std::string text;
    for (std::size_t count = random() % 8; count > 0; --count) { text += pieces[random() % pieces.size()]; }
    return text.substr(0, text.size() - (text.empty() ? 0 : random() % text.size() % 5));
}

struct Exemplar {
    static constexpr std::string_view name = "bytes_per_token";
    std::size_t weight(std::string_view text) const { return text.size(); }
    std::size_t tokens(std::size_t weight) const { return weight / 3; }
};
struct Nameless {
    std::size_t weight(std::string_view text) const { return text.size(); }
    std::size_t tokens(std::size_t weight) const { return weight; }
};
struct WeightOfInt {
    static constexpr std::string_view name = "weight_of_int";
    int weight(std::string_view) const { return 0; }
    std::size_t tokens(std::size_t weight) const { return weight; }
};
struct NotConst {
    static constexpr std::string_view name = "not_const";
    std::size_t weight(std::string_view text) { return text.size(); }
    std::size_t tokens(std::size_t weight) const { return weight; }
};
struct WithoutTokens {
    static constexpr std::string_view name = "without_tokens";
    std::size_t weight(std::string_view text) const { return text.size(); }
};
struct NotCopyable : Exemplar {
    NotCopyable() = default;
    NotCopyable(const NotCopyable&) = delete;
    NotCopyable& operator=(const NotCopyable&) = delete;
};

static_assert(token_estimator<Exemplar>);
static_assert(token_estimator<CharsPerToken<>>);
static_assert(token_estimator<CharsPerToken<3>>);
static_assert(token_estimator<ScriptAwareTokens>);
static_assert(!token_estimator<Nameless>);
static_assert(!token_estimator<WeightOfInt>);
static_assert(!token_estimator<NotConst>);
static_assert(!token_estimator<WithoutTokens>);
static_assert(!token_estimator<NotCopyable>);
static_assert(!token_estimator<int>);

// at compile time
static_assert(tokens_of(four_chars, "four char") == 2);
static_assert(tokens_of(four_chars, "\xE4\xBD\xA0\xE5\xA5\xBD\xE4\xB8\x96\xE7\x95\x8C") == 1);
static_assert(tokens_of(script_aware, "\xE4\xBD\xA0\xE5\xA5\xBD") == 2);
static_assert(tokens_of(script_aware, "words") == 2);
static_assert(tokens_of(script_aware, "0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0c1d2e3f4a5b6c7d8e9f0a1b") ==
              32);

}  // namespace

TEST_CASE("token estimator: an empty text costs nothing") {
    CHECK(tokens_of(four_chars, "") == 0);
    CHECK(tokens_of(script_aware, "") == 0);
    CHECK(tokens_of(script_aware, std::string_view()) == 0);
}

TEST_CASE("token estimator: a total is rounded once") {
    const std::size_t three = four_chars.weight("abc");
    CHECK(four_chars.tokens(three) == 0);
    CHECK(four_chars.tokens(three + three) == 1);
    const std::size_t one = script_aware.weight("a");
    CHECK(script_aware.tokens(one) == 1);
    CHECK(script_aware.tokens(one + one) == 1);
    CHECK(tokens_of(Exemplar{}, "1234567") == 2);
}

TEST_CASE("token estimator: a sum of weights stops at the largest number") {
    CHECK(coppice::add_weights(2, 3) == 5);
    CHECK(coppice::add_weights(largest - 1, 1) == largest);
    CHECK(coppice::add_weights(largest - 1, 2) == largest);
    CHECK(coppice::add_weights(largest, largest) == largest);
}

TEST_CASE("chars per token: code points count, rounded down") {
    CHECK(tokens_of(four_chars, "abc") == 0);
    CHECK(tokens_of(four_chars, "abcd") == 1);
    CHECK(tokens_of(four_chars, std::string(4003, 'x')) == 1000);
    CHECK(tokens_of(four_chars, repeated("\xF0\x9F\x98\x80", 9)) == 2);
    CHECK(tokens_of(CharsPerToken<3>{}, "abcdef") == 2);
    CHECK(tokens_of(CharsPerToken<>{.chars = 2}, "abcdef") == 3);
}

TEST_CASE("chars per token: no characters at all are refused") {
    CHECK_THROWS_AS(CharsPerToken<0>{}.validate(), std::invalid_argument);
    CHECK_THROWS_AS(CharsPerToken<>{.chars = 0}.validate(), std::invalid_argument);
    CHECK_NOTHROW(CharsPerToken<1>{}.validate());
    // who did not ask gets an answer all the same
    CHECK(tokens_of(CharsPerToken<0>{}, "abc") == 3);
}

TEST_CASE("chars per token: compile time and run time count alike") {
    constexpr std::string_view text = "a\xC3\xA9\xE4\xBD\xA0\xF0\x9F\x98\x80\xFF\x80\x80";
    constexpr std::size_t counted = four_chars.weight(text);
    CHECK(counted == 5);
    CHECK(four_chars.weight(text) == counted);
    constexpr std::string_view continuations = "\x80\x80\x80\x80\x80\x80\x80\x80";
    constexpr std::size_t least = four_chars.weight(continuations);
    CHECK(least == 2);
    CHECK(four_chars.weight(continuations) == least);
}

TEST_CASE("script aware: East Asian text costs about a token a character") {
    const std::array<std::string_view, 9> texts = {
        "\xE4\xBD\xA0\xE5\xA5\xBD\xE4\xB8\x96\xE7\x95\x8C",  // ideographs
        "\xED\x95\x9C\xEA\xB5\xAD",                          // Hangul
        "\xE3\x81\xB2\xE3\x82\x89",                          // hiragana
        "\xE3\x82\xAB\xE3\x82\xBF",                          // katakana
        "\xEF\xBD\xB1\xEF\xBE\x9D",                          // halfwidth katakana
        "\xEF\xBC\xA1\xEF\xBC\x91",                          // fullwidth Latin
        "\xE3\x80\x82\xE3\x80\x8C",                          // punctuation
        "\xE1\x84\x80\xE1\x85\xA1",                          // jamo
        "\xE3\x90\x80\xE4\xB6\xBF",                          // ideographs of extension A
    };
    for (const std::string_view piece : texts) {
        CAPTURE(piece);
        const std::string text = repeated(piece, 5000);
        const double ratio = per_token(static_cast<double>(text.size() / 3), text);
        CHECK(ratio <= 1.0);
        CHECK(ratio >= 1 / 1.5);
    }
    CHECK(tokens_of(script_aware, repeated(texts[0], 5000)) == 20'000);
}

TEST_CASE("script aware: East Asian text amid ASCII keeps its cost") {
    const std::string_view chinese = "\xE4\xBD\xA0\xE5\xA5\xBD";
    const std::string mixed = repeated(std::string(chinese) + " says hello, ", 1000);
    const std::string english = repeated(" says hello, ", 1000);
    CHECK(script_aware.weight(mixed) == script_aware.weight(english) + 2000 * 4);
}

TEST_CASE("script aware: English prose has close to four characters a token") {
    const std::string prose =
        "The committee met again on Tuesday to discuss what should be done about the old bridge. Most of its "
        "members agreed that repairing the deck would cost more than anyone had expected, but nobody wanted "
        "to "
        "close the road during the summer. After two hours they decided to ask the engineers for another "
        "report.\n";
    const std::string text = repeated(prose, 20);
    const double ratio = per_token(static_cast<double>(text.size()), text);
    CHECK(ratio > 3.6);
    CHECK(ratio < 4.2);
}

TEST_CASE("script aware: code and JSON are denser than prose") {
    const std::string code = repeated(
        "    for (std::size_t i = 0; i < count; ++i) {\n        total += weights[i] * 3;  // each once\n    "
        "}\n",
        50);
    const double of_code = per_token(static_cast<double>(code.size()), code);
    CHECK(of_code > 2.5);
    CHECK(of_code < 3.6);
    const std::string json =
        repeated(R"({"id":1042,"name":"invoice","paid":true,"lines":[{"sku":"A-17","count":3}]},)", 50);
    const double of_json = per_token(static_cast<double>(json.size()), json);
    CHECK(of_json > 2.0);
    CHECK(of_json < 3.2);
}

TEST_CASE("script aware: digits and punctuation weigh twice a letter") {
    CHECK(script_aware.weight(std::string(100, '7')) == 200);
    CHECK(script_aware.weight(std::string(100, '{')) == 200);
    CHECK(script_aware.weight(std::string(100, '\n')) == 200);
    CHECK(script_aware.weight(std::string(100, 'x')) == 100);
    CHECK(script_aware.weight(std::string(100, ' ')) == 100);
}

TEST_CASE("script aware: Latin with marks, Greek and Cyrillic have about two characters a token") {
    for (const std::string_view piece : {"\xC3\xA9", "\xC2\xA0", "\xCE\xB1", "\xD0\xB6", "\xD4\xAF"}) {
        CAPTURE(piece);
        CHECK(tokens_of(script_aware, repeated(piece, 1000)) == 500);
    }
}

TEST_CASE("script aware: other scripts of the BMP cost about a token a character") {
    for (const std::string_view piece : {"\xD4\xB0", "\xD7\x90", "\xD8\xB9", "\xE0\xA4\x85", "\xE0\xB8\x81",
                                         "\xE2\x80\x94", "\xEF\xBF\xBD"}) {
        CAPTURE(piece);
        CHECK(tokens_of(script_aware, repeated(piece, 1000)) == 1000);
    }
}

TEST_CASE("script aware: emoji cost two tokens and so does everything behind the BMP") {
    for (const std::string_view piece :
         {"\xF0\x9F\x98\x80", "\xF0\xA0\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
        CAPTURE(piece);
        CHECK(tokens_of(script_aware, repeated(piece, 500)) == 1000);
    }
}

TEST_CASE("script aware: joiners and variation selectors of emoji count") {
    const std::string_view joiner = "\xE2\x80\x8D";
    const std::string_view man = "\xF0\x9F\x91\xA8";
    const std::string family = std::string(man) + std::string(joiner) + std::string(man);
    CHECK(tokens_of(script_aware, family) == 5);
    CHECK(tokens_of(script_aware, "\xE2\x9D\xA4\xEF\xB8\x8F") == 2);  // a heart and its selector
    CHECK(tokens_of(script_aware, "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA") == 4);
}

TEST_CASE("script aware: base64 and hex have about two characters a token") {
    const std::string upper_hex = random_of("0123456789ABCDEF", 20'000, 3);
    for (const std::string& text :
         {random_of(base64, 20'000, 1), random_of(hex, 20'000, 2), upper_hex,
          random_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 20'000, 4)}) {
        const double ratio = per_token(20'000, text);
        CHECK(ratio > 1.8);
        CHECK(ratio < 2.1);
    }
}

TEST_CASE("script aware: base64 in the midst of other text is found") {
    const std::string blob = random_of(base64, 900'000, 5);
    const std::size_t around = tokens_of(script_aware, "match: data:image/webp;base64,\" and so on");
    const std::size_t all = tokens_of(script_aware, "match: data:image/webp;base64," + blob + "\" and so on");
    CHECK(all >= around + 449'000);
    CHECK(all <= around + 450'001);
}

TEST_CASE("script aware: most short digests and wrapped base64 are found") {
    std::size_t digests = 0;
    std::size_t lines = 0;
    for (std::uint32_t seed = 0; seed < 1000; ++seed) {
        digests += script_aware.weight(random_of(hex, 64, seed)) == 128;
        lines += script_aware.weight(random_of(base64, 76, seed) + "\n") == 154;
    }
    CHECK(digests > 990);
    CHECK(lines > 970);
}

TEST_CASE("script aware: a run below 64 characters weighs what its characters weigh") {
    const std::string pairs = repeated("a1", 32);
    CHECK(script_aware.weight(pairs.substr(0, 63)) == 32 + 31 * 2);
    CHECK(script_aware.weight(pairs) == 64 * 2);
    const std::string broken = pairs.substr(0, 63) + "." + pairs.substr(0, 63);
    CHECK(script_aware.weight(broken) == 2 * (32 + 31 * 2) + 2);
}

TEST_CASE("script aware: long names and paths are no base64") {
    for (const std::string_view text :
         {"thisMethodComputesTheTotalAmountOfAllOpenInvoicesForTheGivenCustomerAndReturnsIt",
          "/home/dev/project/internal/services/billing/invoices/open_items/retry_column/for_each_customer",
          "THIS_IS_A_VERY_LONG_CONSTANT_NAME_THAT_SOMEBODY_WROTE_IN_CAPITALS_AND_WITH_UNDERSCORES_ONLY",
          "com/example/application/services/billing/InvoiceRepositoryFactoryBean/AbstractInvoiceProvider"}) {
        CAPTURE(text);
        std::size_t expected = 0;
        for (const char c : text) { expected += c == '/' || c == '_' ? 2 : 1; }
        CHECK(script_aware.weight(text) == expected);
    }
    CHECK(tokens_of(script_aware, std::string(1000, 'Q')) == 250);
}

TEST_CASE("script aware: windows of every run agree with looking at each one by itself") {
    std::mt19937 random(11);
    std::size_t wrong = 0;
    std::size_t heavier = 0;
    for (int round = 0; round < 3000; ++round) {
        // runs that alternate about as often as the threshold asks for
        std::string text;
        const std::size_t size = 40 + random() % 300;
        const unsigned stay = 2 + static_cast<unsigned>(random() % 8);
        char last = 'a';
        while (text.size() < size) {
            if (random() % stay == 0) { last = "aaAA00+ "[random() % (random() % 6 == 0 ? 8 : 6)]; }
            text += last;
        }
        const std::size_t weight = script_aware.weight(text);
        wrong += weight != slow_ascii_weight(text);
        std::size_t plain = 0;
        for (const char c : text) { plain += c == '0' || c == '+' ? 2 : 1; }
        heavier += weight > plain;
    }
    CHECK(wrong == 0);
    CHECK(heavier > 300);
    CHECK(heavier < 2700);
}

TEST_CASE("script aware: an escape in the text costs three tokens") {
    CHECK(tokens_of(script_aware, repeated("\\u4f60\\u597d", 500)) == 3000);
    CHECK(tokens_of(script_aware, "\\ud83d\\ude00") == 6);
    CHECK(tokens_of(script_aware, "\\uABCD") == 3);
    // and what only begins like one weighs what its characters weigh
    CHECK(script_aware.weight("\\u12g4") == 2 + 1 + 2 + 2 + 1 + 2);
    CHECK(script_aware.weight("\\u123") == 2 + 1 + 6);
    CHECK(script_aware.weight("\\x1234") == 2 + 1 + 8);
    CHECK(script_aware.weight("\\") == 2);
    CHECK(script_aware.weight("\\n") == 3);
}

TEST_CASE("script aware: a control character costs a token") {
    for (int byte = 0; byte < 0x20; ++byte) {
        const bool blank = byte == '\t' || byte == '\n' || byte == '\r';
        CHECK(script_aware.weight(std::string(1, static_cast<char>(byte))) == (blank ? 2 : 4));
    }
    CHECK(script_aware.weight("\x7F") == 4);
    CHECK(tokens_of(script_aware, std::string(1000, '\0')) == 1000);
    CHECK(tokens_of(script_aware, repeated("\xC2\x9B", 1000)) == 1000);
    const std::string colours = repeated("\x1B[31mred\x1B[0m ", 1000);
    CHECK(tokens_of(script_aware, colours) >= 2 * 1000);
    CHECK(tokens_of(script_aware, colours) <= 8 * 1000);
}

TEST_CASE("script aware: invalid bytes cost half a token each wherever they stand") {
    for (const std::string_view bytes : {"\xFF", "\xC0\xAF", "\xED\xA0\xBD\xED\xB8\x80", "\xE5",
                                         "\xF0\x9F\x98", "\x80\x80", "\xF5\x80\x80\x80", "\xE0\x80\x80"}) {
        CAPTURE(bytes.size());
        CHECK(script_aware.weight(bytes) == 2 * bytes.size());
        CHECK(added("text ", bytes) == 2 * bytes.size());
        CHECK(script_aware.weight(std::string(bytes) + "a") == 2 * bytes.size() + 1);
    }
}

TEST_CASE("script aware: no byte costs less than a quarter of a token or more than one") {
    std::mt19937 random(12);
    std::size_t wrong = 0;
    for (int round = 0; round < 3000; ++round) {
        std::string text = hostile_text(random);
        if (round % 2 == 0) {
            for (char& c : text) { c = static_cast<char>(random() % 256); }
        }
        const std::size_t weight = script_aware.weight(text);
        wrong += weight < text.size() || weight > 4 * text.size();
    }
    CHECK(wrong == 0);
}

TEST_CASE("script aware: sizes near the address space weigh the largest number unread") {
    const char here = 'x';
    for (const std::size_t size : {largest, largest / 2, largest / 4 + 1}) {
        const std::string_view unreadable(&here, size);
        CHECK(script_aware.weight(unreadable) == largest);
    }
    CHECK(script_aware.tokens(largest) == largest / 4 + 1);
    CHECK(script_aware.tokens(largest - 3) == largest / 4);
}

TEST_CASE("script aware: a text never gets lighter as it grows by a byte") {
    std::mt19937 random(13);
    std::size_t lighter = 0;
    for (int round = 0; round < 400; ++round) {
        const std::string text = hostile_text(random);
        std::size_t before = 0;
        for (std::size_t size = 0; size <= text.size(); ++size) {
            const std::size_t weight = script_aware.weight(std::string_view(text).substr(0, size));
            lighter += weight < before;
            before = weight;
        }
    }
    CHECK(lighter == 0);
}

TEST_CASE("script aware: two texts in one weigh what they weigh apart but for the seam") {
    std::mt19937 random(14);
    std::size_t below = 0;
    std::size_t above = 0;
    std::size_t equal = 0;
    for (int round = 0; round < 20'000; ++round) {
        const std::string left = hostile_text(random);
        const std::string right = hostile_text(random);
        const std::size_t apart = script_aware.weight(left) + script_aware.weight(right);
        const std::size_t joined = script_aware.weight(left + right);
        below += joined + 2 < apart;
        above += joined > apart + 4 * 32;
        equal += joined == apart;
    }
    CHECK(below == 0);
    CHECK(above == 0);
    CHECK(equal > 10'000);
}

TEST_CASE("script aware: the bounds of the seam are reached") {
    // an ideograph cut in two
    CHECK(script_aware.weight("\xE4\xBD") + script_aware.weight("\xA0") ==
          script_aware.weight("\xE4\xBD\xA0") + 2);
    // 63 letters of encoded data on either side
    const std::string left = repeated("aB", 32).substr(1);
    const std::string right = repeated("aB", 32).substr(0, 63);
    CHECK(script_aware.weight(left + right) == script_aware.weight(left) + script_aware.weight(right) + 126);
    // an escape
    CHECK(script_aware.weight("\\uff") + script_aware.weight("ff") + 5 == script_aware.weight("\\uffff"));
}

TEST_CASE("script aware: texts that end in blanks and begin with words add up") {
    std::mt19937 random(15);
    std::size_t wrong = 0;
    for (int round = 0; round < 2000; ++round) {
        const std::string left = hostile_text(random) + " ";
        const std::string right = hostile_text(random);
        wrong += script_aware.weight(left + right) != script_aware.weight(left) + script_aware.weight(right);
    }
    CHECK(wrong == 0);
}

TEST_CASE("script aware: large hostile texts are read in one pass") {
    for (const std::string& text :
         {std::string(4'000'000, 'Q'), repeated("a1", 2'000'000), repeated("\\u", 2'000'000),
          std::string(4'000'000, '\\'), repeated("\xF0\x9F\x98", 1'300'000), std::string(4'000'000, '\x80'),
          repeated(random_of(base64, 63, 1) + ".", 60'000)}) {
        const std::size_t weight = script_aware.weight(text);
        CHECK(weight >= text.size());
        CHECK(weight <= 4 * text.size());
    }
}
