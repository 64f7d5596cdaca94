// SPDX-License-Identifier: MIT
#include <coppice/cadences/pressure.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

using namespace support;

namespace {

// A request of so many tokens, of which so many can go.
class Prospect final : public coppice::Prospect {
public:
    Prospect(std::size_t tokens, std::size_t removable) : tokens_(tokens), removable_(removable) {}
    coppice::Reclaim reclaim(const coppice::CacheRules&) override { return {.removed = removable_}; }
    std::size_t pruned_tokens() override { return tokens_; }
    bool left_stubs() override { return false; }

private:
    std::size_t tokens_;
    std::size_t removable_;
};

struct Answer {
    bool moves;
    bool saturated;
    friend bool operator==(const Answer&, const Answer&) = default;
};

Answer asked(const coppice::Pressure<>& pressure, std::size_t tokens, std::size_t removable, bool may_change = true) {
    Prospect prospect(tokens, removable);
    coppice::Request request;
    request.prospect = &prospect;
    request.may_change = may_change;
    coppice::Pressure<>::State state;
    const bool moves = pressure.moves(state, request);
    return {moves, pressure.saturated(state)};
}

}  // namespace

TEST_CASE("pressure: early where that saves enough, late whatever it saves, and both shares are included") {
    const coppice::Pressure<> pressure;
    CHECK(asked(pressure, 699'999, 500'000) == Answer{false, false});
    CHECK(asked(pressure, 700'000, 1'999) == Answer{false, false});
    CHECK(asked(pressure, 700'000, 2'000) == Answer{true, false});
    CHECK(asked(pressure, 899'999, 1) == Answer{false, false});
    CHECK(asked(pressure, 900'000, 1) == Answer{true, false});
    CHECK(asked(pressure, 900'000, 0) == Answer{false, true});
}

TEST_CASE("pressure: says so where what can go leaves too much, or where nothing may change now") {
    const coppice::Pressure<> pressure;
    CHECK(asked(pressure, 950'000, 50'000) == Answer{true, true});
    CHECK(asked(pressure, 950'000, 50'001) == Answer{true, false});
    CHECK(asked(pressure, 950'000, 500'000, false) == Answer{true, true});
    CHECK(asked(pressure, 800'000, 500'000, false) == Answer{true, false});
}

TEST_CASE("pressure: shares of small and of uneven windows") {
    coppice::Pressure<> pressure;
    pressure.window = 7;
    pressure.min_savings = 0;
    // 4.9 tokens
    CHECK(asked(pressure, 4, 1).moves == false);
    CHECK(asked(pressure, 5, 1).moves == true);
    CHECK(asked(pressure, 5, 0).moves == false);
    pressure.window = 199;
    // 139.3 tokens
    CHECK(asked(pressure, 139, 1).moves == false);
    CHECK(asked(pressure, 140, 1).moves == true);
}

TEST_CASE("pressure: a session that fills its window is rewritten when it does") {
    Ordered messages = list(user("start"));
    const coppice::Pipeline pruner{coppice::KeepRecent<2>{}, coppice::Pressure<20'000, 50, 90, 1'000>{}};
    std::vector<std::size_t> rewrites;
    for (std::size_t i = 0; i < 40; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered{{"path", std::to_string(i)}}, Ordered(filler(i, 4'000)));
        const coppice::Report report = coppice::plan(body(messages), pruner);
        CHECK(report.tokens_after < 18'000);
        if (report.rewrites) { rewrites.push_back(i); }
    }
    REQUIRE_FALSE(rewrites.empty());
    // nine results fill half of it
    CHECK(rewrites.front() == 9);
}

TEST_CASE("pressure: wrong shares and windows are refused") {
    const auto with = [](std::size_t window, std::size_t soft, std::size_t hard) {
        coppice::Pressure<> pressure;
        pressure.window = window;
        pressure.soft = soft;
        pressure.hard = hard;
        return coppice::Pipeline(coppice::KeepRecent<>{}, pressure);
    };
    CHECK_THROWS_AS(with(0, 70, 90), std::invalid_argument);
    CHECK_THROWS_AS(with(coppice::none, 70, 90), std::invalid_argument);
    CHECK_THROWS_AS(with(1'000, 0, 90), std::invalid_argument);
    CHECK_THROWS_AS(with(1'000, 90, 90), std::invalid_argument);
    CHECK_THROWS_AS(with(1'000, 70, 101), std::invalid_argument);
    CHECK_NOTHROW(with(1'000, 99, 100));
}
