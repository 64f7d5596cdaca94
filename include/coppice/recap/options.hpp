// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>
#include <coppice/recap/aging.hpp>

#include <cstddef>
#include <stdexcept>

namespace coppice::inline v0 {

/// What a recap shows. Lengths are code points.
struct RecapOptions {
    std::size_t ask_chars = 4'000;        ///< a longer ask of the user loses its middle
    std::size_t ask_head = 2'500;         ///< of it the beginning, for exact markers
    std::size_t input_chars = 200;        ///< of a call
    std::size_t stub_input_chars = 160;   ///< of a call, in the stub of its result
    std::size_t tool_chars = 64;          ///< of a tool's name
    std::size_t last_line_chars = 100;    ///< in a stub
    std::size_t lone_result_chars = 500;  ///< of a result whose line stands alone
    ResultAging aging{};                  ///< how results age
    Size most{
        none,
        Unit::chars};                  ///< of the whole recap, which then keeps its newest lines; a bare number is bytes
    std::size_t most_tokens = 20'000;  ///< the same, by the estimator
    bool exact_markers =
        false;  ///< a marker for what is left out comes on top of the lengths above; off: is part of them
    bool quote_pending =
        false;                   ///< also asks that nothing followed yet, and that the host sends after the recap
    bool keep_controls = false;  ///< control characters as they are instead of spaces

    constexpr void validate() const {
        if (most.value < 1'000 || most_tokens < 500) {
            throw std::invalid_argument(
                "coppice::RecapOptions: `most` must be at least 1000 and `most_tokens` at least 500, what "
                "frame and "
                "newest line take");
        }
        if (exact_markers && ask_head > ask_chars) {
            throw std::invalid_argument("coppice::RecapOptions: `ask_head` must not exceed `ask_chars`");
        }
    }
};

}  // namespace coppice
