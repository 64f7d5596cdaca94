// SPDX-License-Identifier: MIT
#include <coppice/prompt_cache.hpp>

#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <string_view>

TEST_CASE("prompt_cache: every price row is valid and has a name of its own") {
    std::set<std::string_view> names;
    for (const coppice::prices::Row& row : coppice::prices::rows) {
        CAPTURE(row.name);
        CHECK_NOTHROW(row.prices.validate());
        CHECK(names.insert(row.name).second);
    }
    CHECK(names.size() == coppice::prices::rows.size());
    CHECK(coppice::prices::rows[0].prices == coppice::Prices{});
}

TEST_CASE("prompt_cache: prices out of their range are refused") {
    CHECK_THROWS_AS((coppice::Prices{.write = 1'000, .read = 1'001}.validate()), std::invalid_argument);
    CHECK_THROWS_AS((coppice::Prices{.write = 0, .read = 0}.validate()), std::invalid_argument);
    CHECK_THROWS_AS((coppice::Prices{.write = 1'000'001, .read = 0}.validate()), std::invalid_argument);
    CHECK_NOTHROW((coppice::Prices{.write = 1'000'000, .read = 1'000'000}.validate()));
}
