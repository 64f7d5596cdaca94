// SPDX-License-Identifier: MIT
#include <coppice/recap/options.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using coppice::RecapOptions;

static_assert((RecapOptions{}.validate(), true));

TEST_CASE("recap options: a bound has room for the frame and a line") {
    for (const coppice::Unit unit : {coppice::Unit::bytes, coppice::Unit::chars, coppice::Unit::utf16}) {
        CHECK_THROWS_AS((RecapOptions{.most = {999, unit}}.validate()), std::invalid_argument);
        CHECK_NOTHROW((RecapOptions{.most = {1'000, unit}}.validate()));
    }
    CHECK_THROWS_AS((RecapOptions{.most_tokens = 499}.validate()), std::invalid_argument);
    CHECK_NOTHROW((RecapOptions{.most_tokens = 500}.validate()));
}

TEST_CASE("recap options: the head of an ask is part of it where markers come on top") {
    CHECK_THROWS_AS((RecapOptions{.ask_chars = 2'499, .exact_markers = true}.validate()),
                    std::invalid_argument);
    CHECK_NOTHROW((RecapOptions{.ask_chars = 2'500, .exact_markers = true}.validate()));
    CHECK_NOTHROW((RecapOptions{.ask_chars = 10}.validate()));
}
