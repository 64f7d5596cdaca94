// SPDX-License-Identifier: MIT
#include <coppice/policies/keep_ends.hpp>

#include "support/pruned.hpp"

#include <coppice/cadences/stepped.hpp>
#include <coppice/pipeline.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

using namespace support;

// A session of n results has the messages user, call, result, call, result, ..., assistant.

TEST_CASE("keep_ends: results between the first and the newest messages are cleared") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(10, 9000));
    // 22 messages: of the results at 2, 4, ... 20 the first one is in the head, and those from 16 on in the tail
    const coppice::Pipeline ends{coppice::KeepEnds<>{.head = 3, .tail = 6}};
    CHECK(fates(pruned(document, ends)) == "-ssssss---");
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::KeepEnds<0, 0>{}})) == "ssssssssss");
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::KeepEnds<0, 20>{}})) == "----------");
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::KeepEnds<0, 19>{}})) == "s---------");
    CHECK(pruned(document, coppice::Pipeline{coppice::KeepEnds<3, 100>{}}).unchanged());
}

TEST_CASE("keep_ends: only results of the floor's size go") {
    const Ordered document = session_of_sizes({5'000, 8'000, 7'999, 9'000, 100});
    const coppice::Pipeline all{coppice::KeepEnds<0, 0>{}};
    CHECK(fates(pruned(document, all)) == "-s-s-");
    const coppice::Pipeline small{coppice::KeepEnds<>{.head = 0, .tail = 0, .min = coppice::chars(200)}};
    CHECK(fates(pruned(document, small)) == "ssss-");
}

TEST_CASE("keep_ends: of a result that is too short to go its images do") {
    const Ordered document = session({list(text("short"), image(3000)), list(text(filler(1, 9000)), image(3000)),
                                      list(text("short"), image(3000))});
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::KeepEnds<0, 2>{}})) == "is-");
}

TEST_CASE("keep_ends: the newest messages are counted from the horizon") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(8, 9000));
    const coppice::Pipeline stepped{coppice::KeepEnds<0, 4>{}, coppice::Stepped<6>{}};
    // six requests, eleven messages: the result at 6 is the last one before the newest four
    CHECK(fates(pruned(document, stepped)) == "sss-----");
}

TEST_CASE("keep_ends: defaults and wrong numbers") {
    constexpr coppice::KeepEnds<> defaults;
    CHECK(defaults.head == 3);
    CHECK(defaults.tail == 20);
    CHECK(defaults.min == coppice::chars(8000));
    CHECK_THROWS_AS(coppice::Pipeline(coppice::KeepEnds<>{.min = coppice::chars(0)}), std::invalid_argument);
}
