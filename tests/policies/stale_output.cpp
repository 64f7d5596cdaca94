// SPDX-License-Identifier: MIT
#include <coppice/policies/stale_output.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

using namespace support;

namespace {

// Turns of the user with so many reads each, answered, and a question that is open.
Ordered turns(std::size_t count, std::size_t reads) {
    Ordered messages = Ordered::array();
    for (std::size_t turn = 0; turn < count; ++turn) {
        messages.push_back(user("question " + std::to_string(turn)));
        for (std::size_t i = 0; i < reads; ++i) {
            const std::size_t number = turn * reads + i;
            add_pair(messages, "c" + std::to_string(number), "Read", Ordered::object(), Ordered(filler(number, 900)));
        }
        messages.push_back(assistant("answer"));
    }
    messages.push_back(user("and now"));
    return body(messages);
}

}  // namespace

TEST_CASE("stale_output: results of older turns go, those of the newest stay") {
    // the open turn has none: three of the others are kept
    CHECK(fates(pruned(turns(5, 2), coppice::Pipeline{coppice::StaleOutput<4, 100>{}})) == "ssss------");
    CHECK(fates(pruned(turns(5, 2), coppice::Pipeline{coppice::StaleOutput<1, 100>{}})) == "ssssssssss");
    CHECK(pruned(turns(5, 2), coppice::Pipeline{coppice::StaleOutput<6, 100>{}}).unchanged());
}

TEST_CASE("stale_output: a run of one turn ages by steps of the model") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(10, 900));
    // the answer is a step, too
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::StaleOutput<8, 4>{}})) == "sssssss---");
    CHECK(pruned(document, coppice::Pipeline{coppice::StaleOutput<8, 11>{}}).unchanged());
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::StaleOutput<8, 10>{}})) == "s---------");
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::StaleOutput<8, 0>{}})) == "ssssssssss");
}

TEST_CASE("stale_output: failures stay whole unless they are to go") {
    Ordered messages = list(user("start"), call("a", "Bash"), result("a", Ordered(filler(0, 900)), true), call("b", "Bash"),
                            result("b", Ordered(filler(1, 900))), assistant("one"), assistant("done"));
    CHECK(fates(pruned(body(messages), coppice::Pipeline{coppice::StaleOutput<1, 0>{}})) == "-s");
    const coppice::Pipeline all{coppice::StaleOutput<1, 0>{.keep_errors = false}};
    CHECK(fates(pruned(body(messages), all)) == "ss");
}

TEST_CASE("stale_output: only results of some size go") {
    const Ordered document = session_of_sizes({399, 400, 401, 10});
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::StaleOutput<1, 0>{}})) == "-ss-");
}

TEST_CASE("stale_output: defaults and wrong numbers") {
    constexpr coppice::StaleOutput<> defaults;
    CHECK(defaults.keep_turns == 8);
    CHECK(defaults.keep_steps == 20);
    CHECK(defaults.min == coppice::Size{400});
    CHECK(defaults.keep_errors);
    CHECK_THROWS_AS(coppice::Pipeline(coppice::StaleOutput<>{.min = coppice::Size{0}}), std::invalid_argument);
}
