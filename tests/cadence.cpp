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
};

// Writes down what it is asked, and moves at every request.
struct Recorder {
    static constexpr std::string_view name = "recorder";
    struct State {};
    std::vector<Seen>* seen = nullptr;
    bool probe = false;

    bool moves(State&, const coppice::Request& request) const {
        seen->push_back({request.number, request.messages, request.results, request.body(),
                         probe ? request.reclaim() : coppice::Reclaim{}});
        return true;
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
        return request.reclaim().removed.bytes >= least;
    }
};

std::string tail_from(const Ordered& document, std::size_t message) {
    Ordered rest = Ordered::array();
    for (std::size_t i = message; i < document["messages"].size(); ++i) {
        rest.push_back(document["messages"][i]);
    }
    return rest.dump();
}

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
    const coppice::Pipeline priced{coppice::KeepRecent<2>{}, Recorder{&seen, true}};
    coppice::plan(document, priced);
    REQUIRE(seen.size() == 8);
    for (const Seen& request : seen) {
        CAPTURE(request.number);
        Ordered then = document;
        while (then["messages"].size() > request.messages) {
            then["messages"].erase(then["messages"].size() - 1);
        }
        Ordered after = then;
        const coppice::Report report = coppice::prune(after, coppice::Pipeline{coppice::KeepRecent<2>{}});
        CHECK(request.reclaim.removed.bytes == report.saved_bytes);
        if (report.engaged) {
            // the messages from the first changed one on, each with the comma before it
            CHECK(request.reclaim.rewritten.bytes ==
                  tail_from(after, *report.first_changed_message).size() - 1);
        } else {
            CHECK(request.reclaim.rewritten.bytes == 0);
        }
    }
}

TEST_CASE("cadence: a price may decide when the prefix changes") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(6, 3000));
    const auto horizon = [&](std::size_t least) {
        return pruned_once(document, coppice::Pipeline{coppice::KeepRecent<2>{}, WorthIt{least}})
            .report.horizon;
    };
    CHECK(horizon(1'000'000) == 0);
    CHECK(horizon(8'000) == 14);
    CHECK(horizon(0) == 14);
    const Pruned p = pruned_once(document, coppice::Pipeline{coppice::KeepRecent<2>{}, WorthIt{11'000}});
    CHECK(fates(p) == "ssss--");
}

TEST_CASE("cadence: what is spilled behind a request is no part of its price") {
    coppice::MemorySpillStore store;
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 3; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered::object(),
                 Ordered(filler(i, i == 2 ? 60'000 : 500)));
    }
    std::vector<Seen> seen;
    const coppice::Pipeline pipeline{coppice::Spill<>{.store = &store}, coppice::KeepRecent<>{},
                                     Recorder{&seen, true}};
    const Ordered document = body(messages);
    coppice::plan(document, pipeline);
    REQUIRE(seen.size() == 4);
    for (std::size_t i = 0; i < 3; ++i) {
        CAPTURE(i);
        CHECK(seen[i].reclaim.removed.bytes == 0);
        CHECK(seen[i].reclaim.rewritten.bytes == 0);
    }
    CHECK(seen[3].reclaim.removed.bytes > 50'000);
    CHECK(seen[3].reclaim.rewritten.bytes < 10'000);
}

TEST_CASE("cadence: a request that nobody can price is worth nothing") {
    const coppice::Request request;
    CHECK(request.reclaim().removed == coppice::Extent{});
    CHECK(request.reclaim().rewritten == coppice::Extent{});
}

TEST_CASE("cadence: the concept asks for a name and a state and a decision") {
    struct Nothing {};
    static_assert(coppice::cadence<Recorder>);
    static_assert(coppice::cadence<EveryFewResults>);
    static_assert(!coppice::cadence<Nothing>);
    static_assert(!coppice::cadence<coppice::KeepRecent<>>);
}
