// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/text.hpp>

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

namespace coppice_cli {

/// What becomes of a body that a DOM reads and writes again.
enum class Fidelity {
    same,       ///< every value as it was
    respelled,  ///< some number or string has another spelling of the same value
    lossy,      ///< a value would change: a duplicate key vanishes, an integer loses digits
};

namespace detail {

/// Hands out the tokens of valid JSON.
class Tokens {
public:
    explicit Tokens(std::string_view text) : rest_(text) {}

    std::string_view next() {
        const std::size_t start = rest_.find_first_not_of(" \t\r\n");
        if (start == std::string_view::npos) { return {}; }
        rest_.remove_prefix(start);
        std::size_t end = 1;
        if (rest_[0] == '"') {
            while (end < rest_.size() && rest_[end] != '"') { end += rest_[end] == '\\' ? 2 : 1; }
            ++end;
        } else if (std::string_view("{}[],:").find(rest_[0]) == std::string_view::npos) {
            end = rest_.find_first_of("{}[],: \t\r\n");
        }
        const std::string_view token = rest_.substr(0, end);
        rest_.remove_prefix(token.size());
        return token;
    }

private:
    std::string_view rest_;
};

inline bool same_string(std::string_view left, std::string_view right) {
    const auto inside = [](std::string_view token) {
        return coppice::Text::still_escaped(token.substr(1, token.size() - 2));
    };
    return coppice::same_text(inside(left), inside(right));
}

inline bool same_number(std::string_view left, std::string_view right) {
    const auto is_integer = [](std::string_view token) {
        return token.find_first_of(".eE") == std::string_view::npos;
    };
    const bool digits_lost = is_integer(left) && !is_integer(right);
    return !digits_lost && std::strtod(std::string(left).c_str(), nullptr) ==
                               std::strtod(std::string(right).c_str(), nullptr);
}

}  // namespace detail

/// Compares a body with what the DOM that was read from it writes. Both are valid JSON.
inline Fidelity compare(std::string_view body, std::string_view written) {
    detail::Tokens original(body);
    detail::Tokens copy(written);
    Fidelity found = Fidelity::same;
    while (true) {
        const std::string_view left = original.next();
        const std::string_view right = copy.next();
        if (left.empty() && right.empty()) { return found; }
        if (left == right) { continue; }
        if (left.empty() || right.empty()) { return Fidelity::lossy; }
        const bool strings = left[0] == '"' && right[0] == '"';
        const bool numbers = std::string_view("-0123456789").find(left[0]) != std::string_view::npos &&
                             std::string_view("-0123456789").find(right[0]) != std::string_view::npos;
        const bool same =
            strings ? detail::same_string(left, right) : numbers && detail::same_number(left, right);
        if (!same) { return Fidelity::lossy; }
        found = Fidelity::respelled;
    }
}

}  // namespace coppice_cli
