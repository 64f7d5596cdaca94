// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace coppice::inline v0::detail {

/// What JSON calls white space.
constexpr bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline constexpr auto hex_digits = [] {
    std::array<bool, 256> digits{};
    for (const char c : std::string_view("0123456789abcdefABCDEF")) {
        digits[static_cast<unsigned char>(c)] = true;
    }
    return digits;
}();

/// How long the number is that the text begins with; 0 where it begins with none.
constexpr std::size_t number_size(std::string_view text) {
    std::size_t at = 0;
    const auto peek = [&] { return at < text.size() ? text[at] : '\0'; };
    const auto digits = [&] {
        const std::size_t start = at;
        while (is_digit(peek())) { ++at; }
        return at > start;
    };
    if (peek() == '-') { ++at; }
    if (peek() == '0') {
        ++at;
    } else if (!digits()) {
        return 0;
    }
    if (peek() == '.') {
        ++at;
        if (!digits()) { return 0; }
    }
    if (peek() == 'e' || peek() == 'E') {
        ++at;
        if (peek() == '+' || peek() == '-') { ++at; }
        if (!digits()) { return 0; }
    }
    return at;
}

/// How long the literal or number is that the text begins with; 0 where it begins with none, or where anything but
/// white space follows.
constexpr std::size_t scalar_size(std::string_view text) {
    std::size_t size = 0;
    for (const std::string_view literal : {"true", "false", "null"}) {
        if (text.substr(0, literal.size()) == literal) { size = literal.size(); }
    }
    if (size == 0) { size = number_size(text); }
    for (std::size_t i = size; i < text.size(); ++i) {
        if (!is_blank(text[i])) { return 0; }
    }
    return size;
}

/// Appends a number in a spelling that numbers of the same value share, as far as both are written with a fraction or
/// an exponent, or both without: digits without zeros at either end, and the power of ten behind them.
inline void append_normal_number(std::string& out, std::string_view number) {
    if (number.find_first_of(".eE") == std::string_view::npos) {
        out += number == "-0" ? std::string_view("0") : number;
        return;
    }
    const std::size_t exponent_at = std::min(number.find_first_of("eE"), number.size());
    std::string_view exponent = number.substr(std::min(exponent_at + 1, number.size()));
    const bool negative = !exponent.empty() && exponent[0] == '-';
    if (!exponent.empty() && !is_digit(exponent[0])) { exponent.remove_prefix(1); }
    exponent.remove_prefix(std::min(exponent.find_first_not_of('0'), exponent.size()));
    if (exponent.size() > 9) {
        out += number;  // nobody writes the same one in two ways
        return;
    }
    long long power = 0;
    for (const char c : exponent) { power = power * 10 + (c - '0'); }
    if (negative) { power = -power; }
    const std::size_t start = out.size();
    bool fraction = false;
    for (const char c : number.substr(0, exponent_at)) {
        if (c == '.') { fraction = true; }
        if (c == '-') { out += c; }
        if (!is_digit(c)) { continue; }
        power -= fraction ? 1 : 0;
        if (c != '0' || (out.size() > start && is_digit(out.back()))) { out += c; }
    }
    while (out.size() > start && out.back() == '0') {
        out.pop_back();
        ++power;
    }
    if (out.size() == start || !is_digit(out.back())) { power = 0; }
    out += 'e';
    out += std::to_string(power);
}

}  // namespace coppice::detail
