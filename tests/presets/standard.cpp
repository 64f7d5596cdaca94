// SPDX-License-Identifier: MIT
#include <coppice/presets/standard.hpp>

#include "support/pruned.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace support;

namespace {

const coppice::presets::Standard<coppice::EveryRequest<>> every_request =
    coppice::presets::standard(coppice::EveryRequest<>{});

// One turn of the user for each of these thoughts.
Ordered reasoning_turns(const std::vector<std::string>& thoughts) {
    Ordered messages = Ordered::array();
    for (const std::string& thought : thoughts) {
        messages.push_back(user("go on"));
        messages.push_back(assistant_blocks(thinking(thought), text("answer")));
    }
    Ordered document = body(std::move(messages));
    document["model"] = "claude-sonnet-4-5";
    return document;
}

/// What became of a session that grew by one result a request.
struct Growth {
    std::size_t rewrites = 0;
    std::size_t first_rewritten_at = 0;  ///< bytes of the whole body
    Pruned last;
};

// Checks that what was sent is repeated until a rewrite is reported.
template <class Pipeline>
Growth growth(const Pipeline& pipeline, std::size_t requests) {
    Growth out;
    Ordered messages = list(user("start"));
    Ordered sent = Ordered::array();
    for (std::size_t request = 1; request <= requests; ++request) {
        Pruned p{body(messages), body(messages), {}};
        p.report = coppice::prune(p.after, pipeline);
        const Ordered& now = messages_of(p.after);
        const bool repeats = sent.size() <= now.size() && std::equal(sent.begin(), sent.end(), now.begin());
        CHECK(repeats != p.report.rewrites);
        if (p.report.rewrites && ++out.rewrites == 1) { out.first_rewritten_at = p.before.dump().size(); }
        sent = now;
        out.last = std::move(p);
        add_pair(messages, "c" + std::to_string(request), "Read", Ordered::object(), Ordered(filler(request, 6000)));
    }
    return out;
}

}  // namespace

TEST_CASE("standard: leaves short bodies alone, whatever could go") {
    // what has been read for the last time is nearly all of it
    const auto body_with = [](std::size_t size) { return reasoning_turns({std::string(size, 'x'), "two", "three"}); };
    const std::size_t rest = body_with(0).dump().size();
    const Pruned below = pruned(body_with(39'999 - rest), coppice::presets::standard());
    CHECK(below.before.dump().size() == 39'999);
    CHECK(below.unchanged());
    CHECK_FALSE(pruned(body_with(40'000 - rest), coppice::presets::standard()).unchanged());
}

TEST_CASE("standard: rewrites rarely, and what it sent before is a beginning of the next request meanwhile") {
    const Growth billed = growth(coppice::presets::standard(), 60);
    CHECK(billed.rewrites > 1);
    CHECK(billed.rewrites < 20);
    CHECK(billed.first_rewritten_at >= 40'000);
    // old results are gone all the same
    CHECK(fates(billed.last).find("ssss") == 0);

    const Growth uncached = growth(coppice::presets::standard(coppice::SkiRental<coppice::prices::no_cache>{}), 60);
    CHECK(uncached.rewrites > 2 * billed.rewrites);
}

TEST_CASE("standard: of results that are worth a stub it keeps the newest eight, and all that are smaller") {
    std::vector<std::size_t> sizes(20, 6000);
    CHECK(fates(pruned(session_of_sizes(sizes), every_request)) == times(12, 's') + times(8, '-'));
    sizes.assign(20, 399);
    CHECK(pruned(session_of_sizes(sizes), every_request).unchanged());
    // these take no place
    sizes.assign({6000, 400, 6000, 399, 400, 400, 400, 6000, 399, 400, 400, 400, 399});
    CHECK(fates(pruned(session_of_sizes(sizes), every_request)) == "ss" + times(11, '-'));
}

TEST_CASE("standard: keeps the images of the newest three results with images") {
    std::vector<Ordered> contents;
    for (std::size_t i = 0; i < 5; ++i) {
        contents.push_back(list(text("page"), image(3000, static_cast<char>('A' + i))));
    }
    CHECK(fates(pruned(session(contents), every_request)) == "ii---");
}

TEST_CASE("standard: keeps the newest five bulky inputs, and all small ones") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 9; ++i) {
        add_pair(messages, "w" + std::to_string(i), "Write",
                 Ordered{{"file_path", "/a"}, {"content", filler(i, i % 4 == 0 ? 399 : 400)}}, Ordered("ok"));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), every_request);
    CHECK(input_fates(p) == "-c-------");
    CHECK(call_input(p.after, 1).at("file_path") == "/a");
}

TEST_CASE("standard: keeps the reasoning of the newest two turns") {
    const Pruned p = pruned(reasoning_turns({"one", "two", "three"}), every_request);
    const auto left = blocks_of(p.after, "thinking");
    REQUIRE(left.size() == 2);
    CHECK(left[0]->at("thinking") == "two");
    CHECK(left[1]->at("thinking") == "three");
}

TEST_CASE("standard: what the model has not read yet stays, however much it is") {
    Ordered messages = list(user("start"));
    add_pair(messages, "old", "Read", Ordered::object(), Ordered(filler(99, 6000)));
    Ordered calls = Ordered::array();
    Ordered results = Ordered::array();
    for (std::size_t i = 0; i < 12; ++i) {
        calls.push_back(call_block("c" + std::to_string(i), "Read"));
        results.push_back(result_block("c" + std::to_string(i), filler(i, 6000)));
    }
    messages.push_back(message("assistant", calls));
    messages.push_back(message("user", results));
    CHECK(pruned(body(messages), every_request).unchanged());
}

TEST_CASE("standard: keeps tools that steer the session") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 12; ++i) {
        add_pair(messages, "s" + std::to_string(i), i % 2 == 0 ? "Skill" : "mcp__team__todoread",
                 Ordered{{"content", filler(i, 3000)}}, Ordered(filler(i, 6000)));
    }
    messages.push_back(assistant("done"));
    CHECK(pruned(body(messages), every_request).unchanged());
}

TEST_CASE("standard: collapses the same answer to the same call") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 3; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered{{"file_path", i == 1 ? "/b" : "/a"}},
                 Ordered(filler(0, 500)));
    }
    messages.push_back(assistant("done"));
    CHECK(fates(pruned(body(messages), every_request)) == "d--");
}

TEST_CASE("standard: a body that is still huge then is cut further, to a floor of four") {
    const Pruned p = pruned(session_of_sizes(std::vector<std::size_t>(8, 90'000)), every_request);
    CHECK(fates(p) == "ssss----");
    CHECK(p.report.under_target == true);
    const Pruned worse = pruned(session_of_sizes(std::vector<std::size_t>(8, 150'000)), every_request);
    CHECK(fates(worse) == "ssss----");
    CHECK(worse.report.under_target == false);
}

TEST_CASE("standard: speaks the neutral wording") {
    const Pruned p = pruned(session_of_sizes(std::vector<std::size_t>(9, 6000)), every_request);
    CHECK(result_content(p.after, 0) == "[tool result cleared: 6000 characters, ok; Read /src/0.c]");
}

TEST_CASE("standard: pruned twice is pruned once, also with many results that are hardly worth it") {
    // what is too short for the cadence to weigh is not cleared behind its back
    const coppice::Pipeline pipeline = coppice::presets::standard(coppice::SkiRental<>{});
    for (unsigned seed = 0; seed < 120; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const auto between = [&](std::size_t low, std::size_t high) { return low + random() % (high - low); };
        Ordered messages = list(user("go"));
        for (std::size_t i = 0, calls = between(30, 150); i < calls; ++i) {
            const bool again = between(0, 10) < 6;
            const std::size_t size = again ? 230 : between(0, 10) < 3 ? between(90, 250) : between(500, 1900);
            add_pair(messages, "t" + std::to_string(i), "Read",
                     Ordered{{"file_path", again ? "/same" : "/f" + std::to_string(i)}},
                     Ordered(again ? std::string(size, 'd') : filler(i, size)));
        }
        Ordered once = body(messages);
        coppice::prune(once, pipeline);
        Ordered twice = once;
        coppice::prune(twice, pipeline);
        const bool same = once == twice;
        CHECK(same);
    }
}
