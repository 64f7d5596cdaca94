// SPDX-License-Identifier: MIT
#include <coppice/guards/pinned.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>

using namespace support;

namespace {

using coppice::Hint;

struct Ask {
    std::size_t pinned_from = 0;
    std::size_t horizon = 0;
    coppice::Fate fate = coppice::Fate::stub;
    bool binds = false;
};

// Whether a result in a history of three messages may change.
bool allows(const Ask& ask) {
    coppice::Transcript transcript;
    for (int i = 0; i < 3; ++i) { transcript.messages.push_back({coppice::Role::user, 0, {}, {}, 0}); }
    transcript.add().kind = coppice::Kind::result;
    transcript.all()[0].pinned_from = ask.pinned_from;
    transcript.set_horizon(ask.horizon);
    transcript.binds_thinking = ask.binds;
    return coppice::Pinned{}.allows(transcript, {.entry = 0, .fate = ask.fate, .text = "x"});
}

}  // namespace

TEST_CASE("pinned: what was pinned from the start never changes") {
    for (const coppice::Fate fate : {coppice::Fate::stub, coppice::Fate::elide, coppice::Fate::clear_fields,
                                     coppice::Fate::spill, coppice::Fate::cap}) {
        CHECK_FALSE(allows({.pinned_from = 0, .horizon = 3, .fate = fate}));
        CHECK_FALSE(allows({.pinned_from = 0, .horizon = 3, .fate = fate, .binds = true}));
        CHECK(allows({.pinned_from = coppice::none, .horizon = 3, .fate = fate}));
    }
}

TEST_CASE("pinned: what was pinned later may change where the horizon has not come to the hint") {
    CHECK(allows({.pinned_from = 2, .horizon = 1}));
    CHECK_FALSE(allows({.pinned_from = 2, .horizon = 2}));
    CHECK_FALSE(allows({.pinned_from = 2, .horizon = 3}));
    CHECK(allows({.pinned_from = 2, .horizon = 3, .fate = coppice::Fate::spill}));
    CHECK(allows({.pinned_from = 2, .horizon = 3, .fate = coppice::Fate::cap}));
    CHECK(allows({.pinned_from = 2, .horizon = 3, .binds = true}));
}

TEST_CASE("pinned: calls and results and images that are pinned stay whatever policies are listed") {
    Ordered messages = list(user("start"));
    for (const char* id : {"a", "b"}) {
        const std::size_t number = id[0] == 'a' ? 0 : 10;
        const auto named = [&](const char* what) { return std::string(id) + what; };
        add_pair(messages, named("1"), "Write", Ordered{{"content", filler(number + 1, 3000)}},
                 Ordered(filler(number + 2, 3000)));
        add_pair(messages, named("2"), "Shot", Ordered::object(), list(text("see"), image()));
        add_pair(messages, named("3"), "Read", Ordered::object(), Ordered(filler(5, 3000)));
        add_pair(messages, named("4"), "Bash", Ordered::object(), Ordered(filler(number + 4, 60'000)));
        add_pair(messages, named("5"), "Bash", Ordered::object(), Ordered(filler(number + 5, 300)));
    }
    messages.push_back(assistant("done"));
    const Ordered document = body(std::move(messages));
    coppice::MemorySpillStore store;
    const coppice::Pipeline everything{coppice::CapOnArrival<>{},
                                       coppice::Spill<coppice::Size{20'000}>{.store = &store},
                                       coppice::ClearHinted<0>{},
                                       coppice::SmallAging<0>{},
                                       coppice::Dedup<>{},
                                       coppice::StaleMedia<0>{},
                                       coppice::KeepRecent<0, coppice::Size{2000}, 0>{},
                                       coppice::BulkyInputClear<0>{},
                                       coppice::Ceiling<coppice::Size{100}, 0>{.big = coppice::bytes(90)}};
    CHECK(pruned_once(document, everything).report.edits.size() > 10);
    std::vector<Hint> pins;
    const std::array<std::string, 5> ids = {"a1", "a2", "a3", "a4", "a5"};
    for (const std::string& id : ids) {
        pins.push_back({id, Hint::Kind::useless});
        pins.push_back({id, Hint::Kind::pin});
        pins.push_back({id, Hint::Kind::regenerable});
    }
    AllowedChanges arrivals;
    arrivals.unread_results = true;
    const Pruned half = pruned(document, {everything, pins}, arrivals);
    CHECK(fates(half).substr(0, 5) == "-----");
    CHECK(input_fates(half).substr(0, 5) == "-----");
    CHECK(fates(half).substr(5).find('-') == std::string::npos);
    CHECK(input_fates(half)[5] == 'c');
}

TEST_CASE("pinned: a pinned result takes no place among those kept") {
    const std::array<Hint, 1> pins = {Hint{"call_3"}};
    const coppice::Pipeline pipeline{coppice::KeepRecent<2>{}};
    CHECK(fates(pruned(session_of_sizes({3000, 3000, 3000, 3000}), pipeline)) == "ss--");
    CHECK(fates(pruned(session_of_sizes({3000, 3000, 3000, 3000}), {pipeline, pins})) == "s---");
}
