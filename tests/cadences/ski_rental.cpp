// SPDX-License-Identifier: MIT
#include <coppice/cadences/ski_rental.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

using namespace support;

namespace {

// Answers with figures of the test's.
class Fixed final : public coppice::Prospect {
public:
    explicit Fixed(coppice::Reclaim reclaim) : reclaim_(reclaim) {}
    coppice::Reclaim reclaim(const coppice::CacheRules&) override { return reclaim_; }
    std::size_t pruned_tokens() override { return 0; }
    bool left_stubs() override { return false; }

private:
    coppice::Reclaim reclaim_;
};

// At which of the requests, counted from 1, the cadence says yes when they all offer the same.
std::size_t first_yes(const coppice::SkiRental<>& cadence, coppice::Reclaim reclaim, std::size_t most = 1'000) {
    static const coppice::Transcript nothing;
    Fixed fixed(reclaim);
    coppice::SkiRental<>::State state;
    for (std::size_t i = 1; i <= most; ++i) {
        const coppice::Request request{.number = i, .transcript = &nothing, .prospect = &fixed};
        if (cadence.moves(state, request)) { return i; }
    }
    return 0;
}

std::size_t rewrites_of(const coppice::Prices& prices, std::size_t requests) {
    const coppice::Pipeline pipeline{coppice::KeepRecent<2>{}, coppice::SkiRental<>{.prices = prices}};
    Ordered messages = list(user("start"));
    std::size_t rewrites = 0;
    for (std::size_t i = 0; i < requests; ++i) {
        rewrites += coppice::plan(body(messages), pipeline).rewrites;
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered::object(), Ordered(filler(i, 4000)));
    }
    return rewrites;
}

}  // namespace

TEST_CASE("ski_rental: rewrites when the rent has come to the price") {
    // rent: 0.1 * 1,000 a request; price: 1.15 * 2,000
    CHECK(first_yes({}, {.removed = 1'000, .rewritten = 2'000}) == 23);
    CHECK(first_yes({}, {.removed = 2'000, .rewritten = 2'000}) == 12);
    CHECK(first_yes({}, {.removed = 23'000, .rewritten = 2'000}) == 1);
    CHECK(first_yes({.prices = coppice::prices::anthropic_fable}, {.removed = 1'000, .rewritten = 2'000}) == 98);
    CHECK(first_yes({.prices = coppice::prices::openai_half}, {.removed = 1'000, .rewritten = 2'000}) == 2);
}

TEST_CASE("ski_rental: what costs nothing is done at once, and nothing is not done") {
    CHECK(first_yes({}, {.removed = 1, .rewritten = 0}) == 1);
    CHECK(first_yes({.prices = coppice::prices::no_cache}, {.removed = 1, .rewritten = 50'000}) == 1);
    CHECK(first_yes({}, {.removed = 0, .rewritten = 0}) == 0);
    CHECK(first_yes({.prices = {.write = 1'000, .read = 0}}, {.removed = 1'000, .rewritten = 1}) == 0);
}

TEST_CASE("ski_rental: an account as large as can be wraps around nowhere") {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    CHECK(first_yes({}, {.removed = most, .rewritten = 1}) == 1);
    CHECK(first_yes({}, {.removed = most, .rewritten = most}, 3) == 1);
    CHECK(first_yes({}, {.removed = 1, .rewritten = most}, 3) == 0);
}

TEST_CASE("ski_rental: the account starts anew with a rewrite") {
    coppice::SkiRental<>::State state{.account = 5};
    coppice::SkiRental<>{}.moved(state, {});
    CHECK(state.account == 0);
}

TEST_CASE("ski_rental: the dearer a rewrite, the fewer of them") {
    const std::size_t cheap = rewrites_of(coppice::prices::openai_half, 40);
    const std::size_t usual = rewrites_of(coppice::prices::anthropic, 40);
    const std::size_t dear = rewrites_of(coppice::prices::anthropic_fable, 40);
    // with every request from the first on where three results have been read
    CHECK(rewrites_of(coppice::prices::no_cache, 40) == 36);
    CHECK(cheap < 36);
    CHECK(usual < cheap);
    CHECK(dear < usual);
    CHECK(dear > 0);
}

TEST_CASE("ski_rental: smaller bodies stay as they are") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(8, 4000));
    const auto horizon = [&](std::size_t engage) {
        return pruned(document, coppice::Pipeline{coppice::KeepRecent<2>{},
                                                  coppice::SkiRental<coppice::prices::no_cache>{.engage = engage}})
            .report.horizon;
    };
    CHECK(horizon(0) == 18);
    CHECK(horizon(1'000'000) == 0);
}

TEST_CASE("ski_rental: prices that make no sense are refused") {
    CHECK_THROWS_AS((coppice::SkiRental<>{.prices = {.write = 100, .read = 200}}.validate()), std::invalid_argument);
    CHECK_THROWS_AS((coppice::SkiRental<>{.prices = {.write = 0, .read = 0}}.validate()), std::invalid_argument);
    CHECK_NOTHROW(coppice::SkiRental<>{}.validate());
}
