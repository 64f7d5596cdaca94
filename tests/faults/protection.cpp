// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

using namespace support;

TEST_CASE("B114: planning never changes the document and pruning changes no copy of it") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(8, 6000));
    const Ordered saved = document;
    CHECK(coppice::plan(document, clear_all).edits.size() == 8);
    const bool planned_only = document == saved;
    CHECK(planned_only);
    Ordered pruned_copy = document;
    coppice::prune(pruned_copy, clear_all);
    const bool original_kept = document == saved && pruned_copy != saved;
    CHECK(original_kept);
}

TEST_CASE("B114: in every dialect planning never changes the document, in two threads neither") {
    in_every_dialect([](const Spelling& in) {
        const Ordered document = in.session(std::vector<std::string>(8, filler(0, 6000)));
        const Ordered saved = document;
        Ordered pruned_copy = document;
        coppice::prune(pruned_copy, clear_all);
        std::vector<std::size_t> edits(2);
        std::vector<std::thread> threads;
        for (std::size_t& found : edits) {
            threads.emplace_back([&document, &found] {
                for (int i = 0; i < 20; ++i) { found += coppice::plan(document, clear_all).edits.size(); }
            });
        }
        for (std::thread& thread : threads) { thread.join(); }
        CHECK(edits[0] == 160);
        CHECK(edits[1] == 160);
        const bool original_kept = document == saved && pruned_copy != saved;
        CHECK(original_kept);
    });
}

TEST_CASE("B115: outputs that must survive do, under a ceiling too and behind a server prefix") {
    Ordered messages = list(user("start"));
    for (const std::string tool : {"skill", "Skill", "todoread", "TodoWrite", "mcp__x__skill", "Read"}) {
        add_pair(messages, tool, tool, Ordered{{"content", filler(0, 3000)}}, Ordered(filler(1, 9000)));
    }
    messages.push_back(assistant("done"));
    const coppice::Pipeline pipeline{coppice::SmallAging<0>{},
                                     coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{},
                                     coppice::KeepRecent<0>{},
                                     coppice::BulkyInputClear<0>{},
                                     coppice::Ceiling<coppice::Size{100}, 0>{},
                                     coppice::ExemptTools{}};
    const Pruned p = pruned(body(messages), pipeline);
    CHECK(fates(p) == "-----s");
    CHECK(input_fates(p) == "-----c");
}

TEST_CASE("B115: in every dialect outputs that must survive do, under a ceiling too") {
    const coppice::Pipeline pipeline{coppice::SmallAging<0>{},
                                     coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{},
                                     coppice::KeepRecent<0>{},
                                     coppice::BulkyInputClear<0>{},
                                     coppice::Ceiling<coppice::Size{100}, 0>{},
                                     coppice::ExemptTools{}};
    in_every_dialect([&pipeline](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        for (const std::string tool : {"skill", "Skill", "todoread", "TodoWrite", "mcp__x__skill", "Read"}) {
            in.add_pair(messages, {"id_" + tool, tool, Ordered{{"content", filler(0, 3000)}}},
                        filler(1, 9000));
        }
        messages.push_back(in.assistant("done"));
        const Pruned p = pruned(in.body(messages), pipeline);
        CHECK(in.fates(p) == "-----s");
        CHECK(in.input_fates(p) == "-----c");
    });
}
