// SPDX-License-Identifier: MIT
#include <coppice/cadence.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/spill.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

struct Seen {
    std::size_t number = 0;
    std::size_t messages = 0;
    std::size_t results = 0;
    coppice::Extent body;
    coppice::Reclaim reclaim;
    std::size_t pruned_tokens = 0;
};

// Writes down what it is asked, and moves at every request, or at none.
struct Recorder {
    static constexpr std::string_view name = "recorder";
    struct State {};
    std::vector<Seen>* seen = nullptr;
    bool probe = false;
    bool moving = true;

    bool moves(State&, const coppice::Request& request) const {
        seen->push_back({request.number, request.messages, request.results, request.body(),
                         probe ? request.reclaim({.look_back = 0, .minimum_tokens = 0}) : coppice::Reclaim{}, probe ? request.pruned_tokens() : 0});
        return moving;
    }
};

std::vector<Seen> requests_of(const Ordered& document) {
    std::vector<Seen> seen;
    coppice::plan(document, coppice::Pipeline{coppice::KeepRecent<>{}, Recorder{&seen}});
    return seen;
}

std::vector<std::size_t> places(const Ordered& messages) {
    std::vector<std::size_t> found;
    for (const Seen& request : requests_of(body(messages))) { found.push_back(request.messages); }
    return found;
}

// Moves whenever as many results have come since it last did.
struct EveryFewResults {
    static constexpr std::string_view name = "every_few_results";
    struct State {
        std::size_t last = 0;
    };
    std::size_t few = 2;

    bool moves(State& state, const coppice::Request& request) const {
        if (request.results < state.last + few) { return false; }
        state.last = request.results;
        return true;
    }
};

// Moves when it is worth it.
struct WorthIt {
    static constexpr std::string_view name = "worth_it";
    struct State {};
    std::size_t least = 0;

    bool moves(State&, const coppice::Request& request) const {
        return request.reclaim().removed >= least;
    }
};

// Moves at the sixth request without a look, and looks at what came after it.
struct Late {
    static constexpr std::string_view name = "late";
    struct State {};
    std::vector<std::size_t>* removed = nullptr;
    bool moves(State&, const coppice::Request& request) const {
        if (request.number == 6) { return true; }
        if (request.number > 6) { removed->push_back(request.reclaim().removed); }
        return false;
    }
};

// Writes down when its yes was followed.
struct Told {
    static constexpr std::string_view name = "told";
    struct State {};
    std::vector<std::size_t>* told = nullptr;
    bool moves(State&, const coppice::Request& request) const { return request.number % 3 == 0; }
    void moved(State&, const coppice::Request& request) const { told->push_back(request.number); }
};

Ordered first_messages(Ordered document, std::size_t count) {
    while (document["messages"].size() > count) { document["messages"].erase(document["messages"].size() - 1); }
    return document;
}

// Of plain ASCII, a quarter of a token for each character.
std::size_t tokens_between(const Ordered& document, std::size_t first, std::size_t end) {
    std::size_t characters = 0;
    for (std::size_t i = first; i < end; ++i) { characters += document["messages"][i].dump().size() + 1; }
    return characters / 4;
}

bool is_close(std::size_t left, std::size_t right) { return left <= right + 1 && right <= left + 1; }

}  // namespace

TEST_CASE("cadence: a request is sent before each turn of the model and once at the end") {
    const auto read = [](Ordered& messages, const std::string& id) {
        add_pair(messages, id, "Read", Ordered::object(), Ordered("x"));
    };
    Ordered messages = list(user("start"));
    CHECK(places(messages) == std::vector<std::size_t>{1});
    read(messages, "a");
    CHECK(places(messages) == std::vector<std::size_t>{1, 3});
    read(messages, "b");
    CHECK(places(messages) == std::vector<std::size_t>{1, 3, 5});
    messages.push_back(assistant("done"));
    messages.push_back(user("more"));
    CHECK(places(messages) == std::vector<std::size_t>{1, 3, 5, 7});
}

TEST_CASE("cadence: several messages of one speaker in a row are one turn") {
    Ordered messages =
        list(user("one"), user("two"), assistant("a"), assistant("b"), user("three"), user("four"));
    add_pair(messages, "a", "Read", Ordered::object(), Ordered("x"));
    CHECK(places(messages) == std::vector<std::size_t>{2, 6, 8});
}

TEST_CASE("cadence: a history that begins with the model has no request before it") {
    Ordered messages = list(assistant("hello"), user("hi"));
    add_pair(messages, "a", "Read", Ordered::object(), Ordered("x"));
    CHECK(places(messages) == std::vector<std::size_t>{2, 4});
}

TEST_CASE("cadence: a history without messages has no request") { CHECK(places(Ordered::array()).empty()); }

TEST_CASE("cadence: requests carry their number and results and the size of the body at that moment") {
    const Ordered document = session_of_sizes({3000, 500, 2000});
    const std::vector<Seen> seen = requests_of(document);
    REQUIRE(seen.size() == 5);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        CAPTURE(i);
        CHECK(seen[i].number == i + 1);
        CHECK(seen[i].results == (i < 3 ? i : 3));
        Ordered then = document;
        Ordered& messages = then["messages"];
        while (messages.size() > seen[i].messages) { messages.erase(messages.size() - 1); }
        CHECK(seen[i].body.bytes == then.dump().size());
    }
}

TEST_CASE("cadence: the answer to an earlier request does not depend on what came later") {
    Ordered messages = list(user("start"));
    std::vector<std::size_t> horizons;
    for (std::size_t i = 0; i < 7; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered::object(), Ordered(filler(i, 3000)));
        Ordered document = body(messages);
        horizons.push_back(
            coppice::prune(document, coppice::Pipeline{coppice::KeepRecent<0>{}, EveryFewResults{}}).horizon);
    }
    CHECK(horizons == std::vector<std::size_t>{0, 5, 5, 9, 9, 13, 13});
}

TEST_CASE("cadence: its state starts fresh with every call") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(5, 3000));
    const coppice::Pipeline pipeline{coppice::KeepRecent<0>{}, EveryFewResults{.few = 4}};
    coppice::Workspace workspace;
    const std::size_t first = coppice::plan(document, pipeline, workspace).horizon;
    CHECK(first == 9);
    CHECK(coppice::plan(document, pipeline, workspace).horizon == first);
}

TEST_CASE("cadence: a rewrite can be priced before it is made") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(6, 3000));
    std::vector<Seen> seen;
    const coppice::Pipeline priced{coppice::KeepRecent<2>{}, Recorder{&seen, true, false}};
    CHECK_FALSE(coppice::plan(document, priced).engaged);
    REQUIRE(seen.size() == 8);
    std::size_t cached = 0;
    for (const Seen& request : seen) {
        CAPTURE(request.number);
        const Ordered then = first_messages(document, request.messages);
        Ordered after = then;
        const coppice::Report report = coppice::prune(after, coppice::Pipeline{coppice::KeepRecent<2>{}});
        CHECK(is_close(request.reclaim.removed, report.saved_bytes / 4));
        CHECK(is_close(request.pruned_tokens, then.dump().size() / 4));
        const std::size_t rewritten =
            report.engaged ? tokens_between(after, *report.first_changed_message, cached) : 0;
        CHECK(is_close(request.reclaim.rewritten, rewritten));
        cached = request.messages;
    }
}

TEST_CASE("cadence: what a rewrite has taken out is not there to be taken out again") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(6, 3000));
    std::vector<Seen> seen;
    const coppice::Pipeline moving{coppice::KeepRecent<2>{}, Recorder{&seen, true}};
    const coppice::Report report = coppice::plan(document, moving);
    REQUIRE(seen.size() == 8);
    std::size_t removed = 0;
    for (const Seen& request : seen) {
        CAPTURE(request.number);
        Ordered then = first_messages(document, request.messages);
        // one result of 3,000 characters at a time, once a third one has been read
        const bool one = request.number >= 5;
        CHECK((request.reclaim.removed > 700) == one);
        CHECK((request.reclaim.removed == 0) == !one);
        removed += request.reclaim.removed;
    }
    CHECK(report.edits.size() == 4);
    CHECK(removed + 4 >= report.saved_bytes / 4);
    CHECK(removed <= report.saved_bytes / 4);
}

TEST_CASE("cadence: a price may decide when the prefix changes") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(6, 3000));
    const auto horizon = [&](std::size_t least) {
        return pruned_once(document, coppice::Pipeline{coppice::KeepRecent<2>{}, WorthIt{least}})
            .report.horizon;
    };
    CHECK(horizon(1'000'000) == 0);
    CHECK(horizon(2'000) == 13);
    CHECK(horizon(0) == 14);
    const Pruned p = pruned_once(document, coppice::Pipeline{coppice::KeepRecent<2>{}, WorthIt{2'000}});
    CHECK(fates(p) == "sss---");
}

TEST_CASE("cadence: what is spilled behind a request is no part of its price") {
    coppice::MemorySpillStore store;
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 4; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered::object(),
                 Ordered(filler(i, i == 2 ? 60'000 : 500)));
    }
    std::vector<Seen> seen;
    const coppice::Pipeline pipeline{coppice::Spill<>{.store = &store},
                                     coppice::KeepRecent<>{.keep = 0, .big = 2000}, Recorder{&seen, true, false}};
    coppice::plan(body(messages), pipeline);
    REQUIRE(seen.size() == 5);
    for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(i);
        CHECK(seen[i].reclaim.removed == 0);
        CHECK(seen[i].reclaim.rewritten == 0);
    }
    // of what was spilled as it came, the preview is left to be cleared
    CHECK(seen[4].reclaim.removed > 700);
    CHECK(seen[4].reclaim.removed < 1'200);
    CHECK(seen[4].reclaim.rewritten < 500);
    CHECK(seen[4].pruned_tokens < 2'000);
}

TEST_CASE("cadence: images are weighed by what they cost") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 4; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Shot", Ordered::object(), list(image(400'000)));
    }
    messages.push_back(assistant("done"));
    std::vector<Seen> seen;
    coppice::plan(body(messages), coppice::Pipeline{coppice::KeepRecent<>{}, Recorder{&seen, true, false}});
    REQUIRE(seen.size() == 6);
    CHECK(seen[5].pruned_tokens > 4 * coppice::image_tokens);
    CHECK(seen[5].pruned_tokens < 5 * coppice::image_tokens);
    // one of them is more than the newest three
    CHECK(seen[5].reclaim.removed > coppice::image_tokens - 100);
    CHECK(seen[5].reclaim.removed < coppice::image_tokens);
}

TEST_CASE("cadence: a yes of the past holds for who asks later what there is to win") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(6, 3000));
    std::vector<std::size_t> removed;
    const coppice::Report report =
        coppice::plan(document, coppice::Pipeline{coppice::KeepRecent<2>{}, Late{&removed}});
    CHECK(report.horizon == 11);
    REQUIRE(removed.size() == 2);
    CHECK(removed[0] > 700);
    CHECK(removed[0] < 760);
    CHECK(is_close(removed[1], 2 * removed[0]));
}

TEST_CASE("cadence: is told when its yes was followed") {
    std::vector<std::size_t> told;
    coppice::plan(session_of_sizes(std::vector<std::size_t>(6, 100)),
                  coppice::Pipeline{coppice::KeepRecent<>{}, Told{&told}});
    CHECK(told == std::vector<std::size_t>{3, 6});
}

TEST_CASE("cadence: a request that nobody can price is worth nothing") {
    const coppice::Request request;
    CHECK(request.reclaim().removed == 0);
    CHECK(request.reclaim().rewritten == 0);
    CHECK(request.pruned_tokens() == 0);
}

TEST_CASE("cadence: the concept asks for a name and a state and a decision") {
    struct Nothing {};
    static_assert(coppice::cadence<Recorder>);
    static_assert(coppice::cadence<EveryFewResults>);
    static_assert(!coppice::cadence<Nothing>);
    static_assert(!coppice::cadence<coppice::KeepRecent<>>);
}
