// SPDX-License-Identifier: MIT
#include <coppice/policies/keep_ends.hpp>

#include "support/pruned.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
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

TEST_CASE("keep_ends: messages of the system before the others are no part of the head") {
    const Ordered system = message("system", Ordered("Be terse."));
    const Ordered developer = message("developer", Ordered("Be quick."));
    Ordered messages = list(system, developer, user("start"));
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string id = "c" + std::to_string(i);
        messages.push_back(
            Ordered{{"role", "assistant"},
                    {"content", nullptr},
                    {"tool_calls",
                     list(Ordered{{"id", id}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}})}});
        messages.push_back(Ordered{{"role", "tool"}, {"tool_call_id", id}, {"content", filler(i, 9000)}});
    }
    // one in the middle is a message as any other
    messages.push_back(system);
    messages.push_back(assistant("done"));
    const Ordered document = {{"model", "m"}, {"messages", messages}};
    const auto whole = [&](std::size_t head) {
        const Pruned p = pruned(document, coppice::Pipeline{coppice::KeepEnds<>{.head = head, .tail = 0}});
        std::string out;
        for (const std::size_t at : {4U, 6U, 8U}) {
            out += p.after["messages"][at] == document["messages"][at] ? '-' : 's';
        }
        return out;
    };
    CHECK(whole(0) == "sss");
    CHECK(whole(2) == "sss");
    CHECK(whole(3) == "-ss");
    CHECK(whole(4) == "-ss");
    CHECK(whole(5) == "--s");
    CHECK(whole(static_cast<std::size_t>(-1)) == "---");
    CHECK(whole(static_cast<std::size_t>(-3)) == "---");
}

TEST_CASE("keep_ends: a tail in tokens has as many of the newest messages as fit, and never fewer than eight") {
    // each result has some 2,250 tokens and a bit; messages: user, then pairs, then the answer
    const Ordered document = session_of_sizes(std::vector<std::size_t>(20, 9000));
    const auto ends = [&](std::size_t tail, std::size_t tokens) {
        return fates(
            pruned(document, coppice::Pipeline{coppice::KeepEnds<>{.head = 0, .tail = tail, .tail_tokens = tokens}}));
    };
    // what two results and a half have: fewer than eight messages, of which the pressure inside takes the oldest
    const std::string few = ends(20, 5'600);
    CHECK(few == times(17, 's') + "---");
    // ten and a half: more than twenty messages
    CHECK(ends(20, 24'000) == times(10, 's') + times(10, '-'));
    CHECK(ends(0, 24'000) == ends(20, 24'000));
    // eight messages are the answer, three pairs and a result
    CHECK(ends(20, 6'500) == times(16, 's') + times(4, '-'));
    CHECK(ends(8, 6'500) == ends(20, 6'500));
    CHECK(ends(2, 6'500) == times(18, 's') + times(2, '-'));
    CHECK(ends(20, 1'000'000) == times(20, '-'));
    for (const std::size_t part : {1U, 2U, 3U, 8U, 9U}) {
        CHECK(ends(20, static_cast<std::size_t>(-1) / part) == times(20, '-'));
    }
}

TEST_CASE("keep_ends: inside a tail that has more than half as much again, the oldest go first") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(20, 9000));
    const auto ends = [&](std::size_t tokens) {
        return fates(pruned(document, coppice::Pipeline{coppice::KeepEnds<>{.head = 0, .tail_tokens = tokens}}));
    };
    // the tail of eight messages holds four results
    std::size_t before = 20;
    for (const std::size_t tokens : {1U, 500U, 1'000U, 2'000U, 2'700U, 4'000U, 5'500U, 7'000U}) {
        CAPTURE(tokens);
        const std::string fate = ends(tokens);
        const auto gone = static_cast<std::size_t>(std::count(fate.begin(), fate.end(), 's'));
        CHECK(fate == times(gone, 's') + times(20 - gone, '-'));
        CHECK(gone <= before);
        before = gone;
        // so many results stay as half as much again holds, with the calls and stubs beside them
        CHECK(20 - gone == (tokens + tokens / 2) / 2'400);
    }
    CHECK(before == 16);
}

TEST_CASE("keep_ends: what others cleared does not fill the tail") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(20, 9000));
    const coppice::KeepEnds<0, 20, coppice::chars(8000), 9'500> ends;
    CHECK(fates(pruned(document, coppice::Pipeline{ends})) == times(16, 's') + times(4, '-'));
    const coppice::Pipeline cut{coppice::OversizedOutput<coppice::chars(1500), 800, 400, 1, 0>{}, ends};
    CHECK(pruned(document, cut).report.edits.size() == 20);
    CHECK(fates(pruned(document, cut)) == times(20, 'i'));
}

TEST_CASE("keep_ends: a tail in tokens counts what policies before it left") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 20; ++i) {
        const Ordered input = {{"text", filler(i, 9000)}};
        add_pair(messages, "c" + std::to_string(i), "f", input, Ordered(filler(i + 20, 9000)));
    }
    messages.push_back(assistant("done"));
    const coppice::KeepEnds<0, 20, coppice::chars(8000), 25'000> ends;
    const coppice::StaleInput<0, 0> inputs;
    CHECK(fates(pruned(body(messages), coppice::Pipeline{inputs, ends})) == times(10, 's') + times(10, '-'));
    CHECK(fates(pruned_once(body(messages), coppice::Pipeline{ends, inputs})) == times(15, 's') + times(5, '-'));
}

TEST_CASE("keep_ends: a tail in tokens under every cadence, and behind a horizon") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(60, 9000));
    const coppice::KeepEnds<2, 20, coppice::chars(8000), 20'000> ends;
    const auto gone = [&](auto cadence) {
        const std::string fate = fates(pruned(document, coppice::Pipeline{ends, cadence}));
        return std::count(fate.begin(), fate.end(), 's');
    };
    CHECK(gone(coppice::EveryRequest<>{}) == 52);
    CHECK(gone(coppice::Stepped<7>{}) > 40);
    CHECK(gone(coppice::MinReclaim<10'000>{}) > 40);
    CHECK(gone(coppice::SkiRental<>{}) > 20);
    CHECK(gone(coppice::Watermark<30'000, 25'000>{}) > 20);
}

TEST_CASE("keep_ends: defaults and wrong numbers") {
    constexpr coppice::KeepEnds<> defaults;
    CHECK(defaults.tail_tokens == 0);
    CHECK(defaults.head == 3);
    CHECK(defaults.tail == 20);
    CHECK(defaults.min == coppice::chars(8000));
    CHECK_THROWS_AS(coppice::Pipeline(coppice::KeepEnds<>{.min = coppice::chars(0)}), std::invalid_argument);
}
