// SPDX-License-Identifier: MIT
#include <coppice/cadences/regrowth.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace support;

namespace {

// About 1,000 tokens a result.
Ordered session_with(std::size_t results) {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < results; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered{{"path", std::to_string(i)}}, Ordered(filler(i, 3'800)));
    }
    return body(messages);
}

template <class When>
auto keeping_two(When when) {
    return coppice::Pipeline<coppice::KeepRecent<2>, When>{coppice::KeepRecent<2>{}, when};
}

template <class When>
std::vector<std::size_t> rewrites(When when, std::size_t requests) {
    std::vector<std::size_t> found;
    for (std::size_t i = 1; i <= requests; ++i) {
        if (coppice::plan(session_with(i), keeping_two(when)).rewrites) { found.push_back(i); }
    }
    return found;
}

}  // namespace

TEST_CASE("regrowth: waits for the trigger, then for the gate, then for what has come since") {
    // ten results reach the trigger, and eight of them may go; after that, five have to come
    CHECK(rewrites(coppice::Regrowth<10'000, 1'500, 4'900>{}, 12) == std::vector<std::size_t>{10});
    const std::vector<std::size_t> found = rewrites(coppice::Regrowth<10'000, 1'500, 4'900>{}, 60);
    REQUIRE(found.size() > 3);
    for (std::size_t i = 1; i < found.size(); ++i) { CHECK(found[i] - found[i - 1] >= 5); }
    // without that, the trigger alone keeps them apart once what stays is below it
    const std::vector<std::size_t> gated = rewrites(coppice::Regrowth<3'500, 1'500, 0>{}, 40);
    const std::vector<std::size_t> grown = rewrites(coppice::Regrowth<3'500, 1'500, 4'900>{}, 40);
    CHECK(gated.size() > grown.size());
    CHECK(gated.front() == grown.front());
}

TEST_CASE("regrowth: never with a trigger of 0, and never for nothing") {
    CHECK(rewrites(coppice::Regrowth<0>{}, 40).empty());
    CHECK(pruned(session_with(2), keeping_two(coppice::Regrowth<1, 0, 0>{})).unchanged());
}

TEST_CASE("regrowth: a history that is fed back pruned waits as long as one that is not") {
    // `pruned` asks that the second time changes nothing
    for (std::size_t results = 1; results <= 40; ++results) {
        pruned(session_with(results), keeping_two(coppice::Regrowth<6'000, 1'500, 3'900>{}));
    }
    // and a host that keeps what it has sent
    Ordered kept = body(list(user("start")));
    std::size_t count = 0;
    std::size_t last = 0;
    for (std::size_t i = 0; i < 60; ++i) {
        Ordered& messages = kept["messages"];
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered{{"path", std::to_string(i)}}, Ordered(filler(i, 3'800)));
        const coppice::Report report = coppice::prune(kept, keeping_two(coppice::Regrowth<6'000, 1'500, 3'900>{}));
        if (!report.engaged) { continue; }
        if (count++ > 0) { CHECK(i - last >= 4); }
        last = i;
    }
    CHECK(count > 4);
}

TEST_CASE("regrowth: of a history fed back pruned, short stubs of inputs at depth tell of a rewrite, too") {
    for (const bool listed : {false, true}) {
        Ordered messages = list(user("start"));
        for (std::size_t i = 0; i < 60; ++i) {
            Ordered input = listed ? Ordered{{"items", list(filler(i, 3'000))}} : Ordered{{"a", Ordered{{"b", filler(i, 3'000)}}}};
            add_pair(messages, "c" + std::to_string(i), "Read", std::move(input), Ordered("ok"));
        }
        // `pruned` asks that the second time changes nothing
        const Pruned p = pruned(body(std::move(messages)),
                                coppice::Pipeline{coppice::StaleInput<>{}, coppice::Regrowth<12'000, 1'000, 12'000>{}});
        CHECK(p.report.edits.size() > 20);
    }
}

TEST_CASE("regrowth: what leaves no stub is no sign of a rewrite, neither before nor after") {
    // `pruned` asks that the second time changes nothing
    const auto check = [](const coppice::Pipeline<coppice::StaleReasoning<1>, coppice::StaleMedia<1>, coppice::KeepRecent<2>,
                                                  coppice::Regrowth<2'000, 600, 5'000>>& pruner) {
        for (std::size_t turns = 1; turns <= 24; ++turns) {
            for (const std::size_t calls_from : {3U, 6U, 99U}) {
                Ordered messages = Ordered::array();
                for (std::size_t i = 0; i < turns; ++i) {
                    messages.push_back(i % 3 == 2 ? user_blocks(text("look"), image(3'000 + i)) : user("go on"));
                    messages.push_back(assistant_blocks(thinking(filler(i, 3'000)), text("answer")));
                    if (i < calls_from) { continue; }
                    add_pair(messages, "c" + std::to_string(i), "Read", Ordered{{"path", std::to_string(i)}},
                             Ordered(filler(i, 3'800)));
                }
                Ordered document = body(messages);
                document["model"] = "claude-sonnet-4-5";
                AllowedChanges allowed;
                allowed.user_images = true;
                pruned(document, pruner, allowed);
            }
        }
    };
    check({});
}

TEST_CASE("regrowth: defaults") {
    constexpr coppice::Regrowth<> defaults;
    CHECK(defaults.trigger == 48'000);
    CHECK(defaults.min_reclaim == 4'096);
    CHECK(defaults.again == 24'000);
}
