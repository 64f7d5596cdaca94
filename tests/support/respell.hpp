// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace support {

/// Writes valid JSON anew in another spelling of the same value: white space, escapes in strings and keys, a byte
/// order mark. Numbers stay.
class Respeller {
public:
    explicit Respeller(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ULL + 1), how_(seed % 3) {}

    std::string operator()(std::string_view json) {
        std::string out = below(3) == 0 ? "\xEF\xBB\xBF" : "";
        put_blank(out);
        for (std::size_t at = 0; at < json.size();) {
            const char c = json[at];
            if (c == '"') {
                at = put_string(out, json, at);
            } else if (std::string_view("{}[],:").find(c) != std::string_view::npos) {
                put_blank(out);
                out += c;
                put_blank(out);
                ++at;
            } else {
                out += c;
                ++at;
            }
        }
        put_blank(out);
        return out;
    }

private:
    std::size_t below(std::size_t bound) {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::size_t>(state_ >> 33U) % bound;
    }

    void put_blank(std::string& out) {
        if (how_ == 1) { return; }
        for (std::size_t count = below(4) == 0 ? below(4) : 0; count > 0; --count) {
            out += " \n\r\t"[below(4)];
        }
    }

    void put_unit(std::string& out, std::uint32_t unit) {
        out += "\\u";
        for (const unsigned shift : {12U, 8U, 4U, 0U}) {
            const std::size_t digit = unit >> shift & 0xFU;
            out += (below(2) == 0 ? "0123456789abcdef" : "0123456789ABCDEF")[digit];
        }
    }

    // answers with the place behind the string
    std::size_t put_string(std::string& out, std::string_view json, std::size_t at) {
        // one in so many characters is escaped; 0 is none
        constexpr std::array<std::size_t, 8> rates = {0, 0, 0, 0, 0, 1, 3, 40};
        const std::size_t rate = how_ == 2 ? 0 : rates[below(rates.size())];
        out += json[at++];
        while (json[at] != '"') {
            const bool chosen = rate > 0 && below(rate) == 0;
            const std::string_view rest = json.substr(at);
            if (rest[0] == '\\') {
                at += put_escape(out, rest, chosen);
            } else {
                at += put_character(out, rest, chosen);
            }
        }
        out += '"';
        return at + 1;
    }

    std::size_t put_escape(std::string& out, std::string_view rest, bool chosen) {
        const std::size_t size = rest[1] == 'u' ? 6 : 2;
        const std::size_t letter = std::string_view("bfnrt").find(rest[1]);
        if (!chosen || size == 6) {
            out += rest.substr(0, size);
        } else {
            put_unit(out, static_cast<unsigned char>(letter < 5 ? "\b\f\n\r\t"[letter] : rest[1]));
        }
        return size;
    }

    std::size_t put_character(std::string& out, std::string_view rest, bool chosen) {
        const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
        const std::uint32_t first = byte(0);
        const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
        std::uint32_t code = size == 1 ? first : first & (0xFFU >> (size + 1));
        for (std::size_t i = 1; i < size; ++i) { code = code << 6U | (byte(i) & 0x3FU); }
        if (!chosen) {
            out += rest.substr(0, size);
        } else if (code == '/' && below(2) == 0) {
            out += "\\/";
        } else if (code < 0x10000) {
            put_unit(out, code);
        } else {
            put_unit(out, 0xD800 + ((code - 0x10000) >> 10U));
            put_unit(out, 0xDC00 + ((code - 0x10000) & 0x3FFU));
        }
        return size;
    }

    std::uint64_t state_;
    std::uint64_t how_;  // 0: everything, 1: no white space, 2: white space alone
};

inline std::string respelled(std::string_view json, std::uint64_t seed) { return Respeller(seed)(json); }

}  // namespace support
