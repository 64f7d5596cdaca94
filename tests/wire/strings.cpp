// SPDX-License-Identifier: MIT
// What is known of a string without decoding it, against a decoder that goes character by character.
#include <coppice/wire/strings.hpp>

#include <coppice/wire/structure.hpp>

#include "../support/json_spans.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

struct Reference {
    std::string text;
    coppice::TextExtent extent;
};

// `inside` is valid.
Reference decode(std::string_view inside) {
    const auto hex = [&](std::size_t at) {
        return static_cast<std::uint32_t>(std::stoul(std::string(inside.substr(at, 4)), nullptr, 16));
    };
    Reference out;
    for (std::size_t at = 0; at < inside.size();) {
        std::uint32_t code = static_cast<unsigned char>(inside[at]);
        bool lone = false;
        if (code >= 0x80) {
            const std::size_t size = code < 0xE0 ? 2 : code < 0xF0 ? 3 : 4;
            code &= 0xFFU >> (size + 1);
            for (std::size_t i = 1; i < size; ++i) {
                code = code * 64 + (static_cast<unsigned char>(inside[at + i]) & 0x3FU);
            }
            at += size;
        } else if (code != '\\') {
            ++at;
        } else if (inside[at + 1] == 'u') {
            code = hex(at + 2);
            at += 6;
            const bool high = code >= 0xD800 && code < 0xDC00;
            if (high && inside.substr(at, 2) == "\\u" && hex(at + 2) >= 0xDC00 && hex(at + 2) < 0xE000) {
                code = 0x10000 + ((code - 0xD800) << 10U) + (hex(at + 2) - 0xDC00);
                at += 6;
            }
            lone = code >= 0xD800 && code < 0xE000;
        } else {
            const std::size_t letter = std::string_view("bfnrt").find(inside[at + 1]);
            code = static_cast<unsigned char>(letter < 5 ? "\b\f\n\r\t"[letter] : inside[at + 1]);
            at += 2;
        }
        const std::string_view two_characters("\"\\\b\f\n\r\t");
        const bool two =
            code < 0x80 && two_characters.find(static_cast<char>(code)) != std::string_view::npos;
        const std::size_t before = out.text.size();
        support::put_utf8(out.text, lone ? 0xFFFD : code);
        const std::size_t bytes = out.text.size() - before;
        out.extent.plain += {bytes, 1, bytes == 4 ? std::size_t{2} : std::size_t{1}};
        // half of a surrogate pair has no other spelling than six characters
        if (lone) {
            out.extent.escapes += {3, 5, 5};
        } else {
            out.extent.escapes += coppice::ascii(two ? 1 : code < 0x20 ? 5 : 0);
        }
    }
    return out;
}

class Reading {
public:
    // The string stands behind another one, of `before` characters.
    bool read(std::size_t before, std::string_view inside) {
        json_ = "[\"" + std::string(before, 'x') + "\",\"";
        begin_ = json_.size();
        json_ += inside;
        json_ += "\"]";
        return structure_.read(json_, 0, why_);
    }
    coppice::MeasuredText string() const { return structure_.measured(3); }
    bool failed_at(std::size_t at) const {
        return why_ == "not valid JSON at byte " + std::to_string(begin_ + at);
    }
    const std::string& json() const { return json_; }

private:
    coppice::detail::WireStructure structure_;
    std::string json_;
    std::string why_;
    std::size_t begin_ = 0;
};

bool is_right(Reading& reading, std::size_t before, std::string_view inside) {
    if (!reading.read(before, inside)) { return false; }
    const Reference expected = decode(inside);
    const coppice::MeasuredText string = reading.string();
    std::string scratch;
    const bool escaped = inside.find('\\') != std::string_view::npos;
    return string.text().raw() == inside && string.text().escaped() == escaped &&
           coppice::decoded(string.text(), scratch) == expected.text &&
           string.extent().plain == expected.extent.plain &&
           string.extent().escapes == expected.extent.escapes;
}

}  // namespace

TEST_CASE("wire strings: every escape is counted right wherever it falls") {
    Reading reading;
    const std::array<std::string_view, 24> units = {
        "",
        "a",
        R"(\n)",
        R"(\")",
        R"(\\)",
        R"(\/)",
        R"(\b)",
        R"(\f\r\t)",
        R"(\u0041)",
        R"(\u00e9)",
        R"(\u20AC)",
        R"(\ud83d\ude00)",
        R"(\u0000)",
        R"(\u0022)",
        R"(\ud800)",
        R"(\udc00)",
        R"(\ud83d\n)",
        R"(\ud83d\ud83d\ude00)",
        R"(\\u0041)",
        R"(\\\u0041)",
        "\xC3\xA9",
        "\xE2\x82\xAC",
        "\xF0\x9F\x98\x80",
        R"(\\\\\")",
    };
    for (const std::string_view unit : units) {
        for (std::size_t before = 0; before <= 130; ++before) {
            const std::string fill(before, 'y');
            const std::string inside = fill + std::string(unit) + "z" + std::string(unit);
            CAPTURE(inside);
            CHECK(is_right(reading, 0, inside));
            CHECK(is_right(reading, before, unit));
        }
    }
}

TEST_CASE("wire strings: runs of backslashes of any length and place") {
    Reading reading;
    for (std::size_t before = 0; before <= 130; ++before) {
        for (std::size_t length = 0; length <= 132; length += 1 + length / 4) {
            CAPTURE(before);
            CAPTURE(length);
            const std::string end = length % 2 == 1 ? "n" : "";
            CHECK(is_right(reading, before, std::string(length, '\\') + end));
            CHECK(is_right(reading, 0,
                           std::string(before, 'y') + std::string(length, '\\') + end + "\\u00e9\\\""));
        }
    }
}

TEST_CASE("wire strings: random strings") {
    Reading reading;
    std::uint64_t state = 1;
    const auto below = [&](std::size_t bound) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::size_t>(state >> 33U) % bound;
    };
    const std::array<std::string_view, 18> units = {
        "a",
        "bc",
        "\xC3\xA9",
        "\xE4\xB8\xAD",
        "\xF0\x9F\x98\x80",
        R"(\n)",
        R"(\")",
        R"(\\)",
        R"(\/)",
        R"(\t)",
        R"(\u000A)",
        R"(\u00FF)",
        R"(\u4e2d)",
        R"(\uD83D\uDE00)",
        R"(\ud83d)",
        R"(\ude00)",
        R"(\b)",
        "a longer piece of plain text, so that escapes are rare in it here and there",
    };
    for (int round = 0; round < 1500; ++round) {
        std::string inside;
        const std::size_t kinds = 1 + below(units.size());
        for (std::size_t count = below(60); count > 0; --count) { inside += units[below(kinds)]; }
        CAPTURE(inside);
        CHECK(is_right(reading, below(140), inside));
    }
}

TEST_CASE("wire strings: the first escape that JSON does not know is found") {
    Reading reading;
    for (std::size_t before = 0; before <= 130; ++before) {
        CAPTURE(before);
        const std::string fill = before < 2 ? std::string(before, 'y') : std::string(before - 2, 'y') + "\\n";
        for (const std::string_view bad : {R"(\a)", R"(\')", R"(\0)", R"(\U0041)", R"(\u)", R"(\u004)",
                                           R"(\u00g1)", R"(\u 041)", "\\\xC3\xA9", "\\ "}) {
            CAPTURE(std::string(bad));
            CHECK_FALSE(reading.read(0, fill + std::string(bad)));
            CHECK(reading.failed_at(before));
            CHECK_FALSE(reading.read(before, std::string(bad) + "\\q"));
            CHECK(reading.failed_at(0));
        }
        CHECK_FALSE(reading.read(0, fill + R"(\ud83d\ude0)"));
        CHECK(reading.failed_at(before + 6));
        CHECK_FALSE(reading.read(0, fill + R"(\ud83d\x)"));
        CHECK(reading.failed_at(before + 6));
    }
}
