// SPDX-License-Identifier: MIT
#include <coppice/cadences/min_reclaim.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

using namespace support;

namespace {

std::size_t horizon(std::size_t tokens, coppice::Size engage = {}) {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(8, 4000));
    const coppice::Pipeline pipeline{coppice::KeepRecent<2>{}, coppice::MinReclaim<>{.tokens = tokens, .engage = engage}};
    return pruned(document, pipeline).report.horizon;
}

}  // namespace

TEST_CASE("min_reclaim: the horizon moves when enough can go") {
    // each cleared result of 4,000 characters gives back a little less than 1,000 tokens
    CHECK(horizon(1) == 18);
    CHECK(horizon(1'900) == 18);
    CHECK(horizon(4'500) == 17);
    CHECK(horizon(100'000) == 0);
}

TEST_CASE("min_reclaim: what went counts no more") {
    // two at a time: after the fourth and sixth result, and the eighth
    const Ordered document = session_of_sizes(std::vector<std::size_t>(8, 4000));
    std::vector<std::size_t> horizons;
    for (std::size_t messages = 1; messages <= document["messages"].size(); messages += 2) {
        Ordered then = document;
        while (then["messages"].size() > messages) { then["messages"].erase(then["messages"].size() - 1); }
        const std::size_t found =
            coppice::plan(then, coppice::Pipeline{coppice::KeepRecent<2>{}, coppice::MinReclaim<1'900>{}}).horizon;
        if (horizons.empty() || horizons.back() != found) { horizons.push_back(found); }
    }
    CHECK(horizons == std::vector<std::size_t>{0, 11, 15});
}

TEST_CASE("min_reclaim: smaller bodies stay as they are") {
    CHECK(horizon(1, coppice::Size{1'000'000}) == 0);
    CHECK(horizon(1, coppice::Size{10'000}) == 18);
}

TEST_CASE("min_reclaim: a gate of nothing is refused") {
    CHECK_THROWS_AS(coppice::MinReclaim<>{.tokens = 0}.validate(), std::invalid_argument);
    CHECK_NOTHROW(coppice::MinReclaim<>{}.validate());
}
