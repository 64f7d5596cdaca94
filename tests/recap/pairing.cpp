// SPDX-License-Identifier: MIT
#include <coppice/recap/pairing.hpp>

#include "support/recaps.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

constexpr std::size_t none = coppice::none;

using Calls = std::vector<std::size_t>;

// The calls of the results alone, in their order.
Calls of_results(const History& history) {
    const Calls all = coppice::calls_of_results(history.view());
    Calls out;
    for (std::size_t i = 0; i < history.size(); ++i) {
        if (history[i].role == coppice::SessionRole::tool_result) { out.push_back(all[i]); }
    }
    return out;
}

// The same for unique ids: the call with that id, if it came before.
Calls by_ids(const History& history) {
    std::map<std::string_view, std::size_t> calls;
    Calls out;
    for (std::size_t i = 0; i < history.size(); ++i) {
        const coppice::SessionMessage& message = history[i];
        if (message.hidden) {
            if (message.role == coppice::SessionRole::tool_result) { out.push_back(none); }
            continue;
        }
        if (message.role == coppice::SessionRole::tool_call) { calls.emplace(message.call_id, i); }
        if (message.role != coppice::SessionRole::tool_result) { continue; }
        const auto call = calls.find(message.call_id);
        out.push_back(call == calls.end() ? none : call->second);
    }
    return out;
}

}  // namespace

TEST_CASE("pairing of calls: one entry for each message and only results have a call") {
    History h;
    h.ask("x").call("A", "").reply().result("a").other("").ask("y");
    CHECK(coppice::calls_of_results(h.view()) == Calls{none, none, none, 1, none, none});
    CHECK(coppice::calls_of_results({}).empty());
}

TEST_CASE("pairing of calls: ids decide where they are there") {
    History h;
    h.call("A", "", "a").call("B", "", "b").call("C", "", "c");
    h.result("", "c").result("", "a").result("", "b");
    CHECK(of_results(h) == Calls{2, 0, 1});
}

TEST_CASE("pairing of calls: an id that comes again is another call") {
    History h;
    h.call("A", "", "1").result("", "1").call("B", "", "1").result("", "1");
    CHECK(of_results(h) == Calls{0, 2});

    History twice;
    twice.call("A", "", "1").result("", "1").result("", "1");
    CHECK(of_results(twice) == Calls{0, none});

    // both open at once: the newest is meant
    History open;
    open.call("A", "", "1").call("B", "", "1").result("", "1").result("", "1");
    CHECK(of_results(open) == Calls{1, none});
}

TEST_CASE("pairing of calls: an id that no call has answers none that has another") {
    History h;
    h.call("A", "", "a").result("", "zzz");
    CHECK(of_results(h) == Calls{none});
    h.result("", "a");
    CHECK(of_results(h) == Calls{none, 0});
}

TEST_CASE("pairing of calls: a result before its call has none") {
    History h;
    h.result("", "a").call("A", "", "a");
    CHECK(of_results(h) == Calls{none});
    History bare_ids;
    bare_ids.result("").call("A", "").result("");
    CHECK(of_results(bare_ids) == Calls{none, 1});
}

TEST_CASE("pairing of calls: ids on one side only leave the order") {
    History calls_only;
    calls_only.call("A", "", "a").call("B", "", "b").result("").result("");
    CHECK(of_results(calls_only) == Calls{0, 1});
    History results_only;
    results_only.call("A", "").call("B", "").result("", "x").result("", "y");
    CHECK(of_results(results_only) == Calls{0, 1});
}

TEST_CASE("pairing of calls: an id takes its call before the order does") {
    History h;
    h.call("A", "", "a").call("B", "").result("", "a").result("");
    CHECK(of_results(h) == Calls{0, 1});
    History other_way;
    other_way.call("A", "").call("B", "", "b").result("", "b").result("");
    CHECK(of_results(other_way) == Calls{1, 0});
}

TEST_CASE("pairing of calls: without ids parallel calls are answered in their order") {
    History h;
    h.call("A", "").call("B", "").call("C", "").result("").result("").result("");
    h.call("D", "").result("");
    CHECK(of_results(h) == Calls{0, 1, 2, 6});
}

TEST_CASE("pairing of calls: a result that names its tool answers a call of it") {
    History h;
    h.call("A", "").call("B", "").call("A", "").result("", "", "B").result("", "", "A").result("", "", "A");
    CHECK(of_results(h) == Calls{1, 0, 2});
    History unknown;
    unknown.call("A", "").call("B", "").result("", "", "Z").result("", "", "A");
    CHECK(of_results(unknown) == Calls{0, 1});
}

TEST_CASE("pairing of calls: a result too many belongs to the last call") {
    History h;
    h.call("A", "").call("B", "").result("").result("").result("").reply().result("");
    CHECK(of_results(h) == Calls{0, 1, 1, 1});
    History ids;
    ids.call("A", "", "a").result("", "a").result("");
    CHECK(of_results(ids) == Calls{0, none});
}

TEST_CASE("pairing of calls: a call without a result is not answered by those of later calls") {
    History h;
    h.call("lost", "").call("A", "").result("", "", "A").call("B", "").result("").result("");
    CHECK(of_results(h) == Calls{1, 3, 3});
}

TEST_CASE("pairing of calls: what is hidden takes no part") {
    History h;
    h.call("A", "", "a").hidden().result("", "a");
    CHECK(of_results(h) == Calls{none});
    History order;
    order.call("A", "").call("B", "").hidden().call("C", "");
    order.result("").hidden().result("").result("");
    CHECK(of_results(order) == Calls{none, 0, 2});
}

TEST_CASE("pairing of calls: tools and ids may be any bytes") {
    using namespace std::string_literals;
    const std::string huge(100'000, 'i');
    History h;
    h.call("\0"s, "", "\xFF\0"s).call("\0\0"s, "", "\xFF"s).call(huge, "", huge).call(huge, "", huge + "j");
    h.result("", huge + "j").result("", huge).result("", "\xFF"s).result("", "\xFF\0"s);
    CHECK(of_results(h) == Calls{3, 2, 1, 0});
}

TEST_CASE("pairing of calls: with unique ids it finds what a slow search finds") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        History h;
        std::vector<std::string> ids;
        for (std::size_t i = 0; i < 60; ++i) {
            if (random.chance(50)) {
                ids.push_back("id" + std::to_string(i));
                h.call("T" + std::to_string(random.below(3)), "", ids.back());
            } else if (!ids.empty() && random.chance(80)) {
                const std::size_t at = random.below(ids.size());
                h.result("", ids[at], random.chance(50) ? "T1" : "");
                // an answered id does not come again
                ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at));
            } else {
                h.result("", "unknown" + std::to_string(i));
            }
            if (random.chance(10)) { h.hidden(); }
            if (random.chance(20)) { h.reply(); }
        }
        CHECK(of_results(h) == by_ids(h));
    }
}

TEST_CASE("pairing of calls: a hundred thousand at once are paired") {
    constexpr std::size_t many = 100'000;
    History by_id;
    for (std::size_t i = 0; i < many; ++i) { by_id.call("T", "", std::to_string(i)); }
    for (std::size_t i = 0; i < many; ++i) { by_id.result("", std::to_string(many - 1 - i)); }
    const Calls calls = of_results(by_id);
    bool right = true;
    for (std::size_t i = 0; i < many; ++i) { right = right && calls[i] == many - 1 - i; }
    CHECK(right);

    History in_order;
    for (std::size_t i = 0; i < many; ++i) { in_order.call("T", ""); }
    for (std::size_t i = 0; i < many; ++i) { in_order.result(""); }
    const Calls ordered = of_results(in_order);
    for (std::size_t i = 0; i < many; ++i) { right = right && ordered[i] == i; }
    CHECK(right);

    // none may be answered, and each is asked for
    History strangers;
    for (std::size_t i = 0; i < many; ++i) { strangers.call("T", "", "a" + std::to_string(i)); }
    for (std::size_t i = 0; i < many; ++i) { strangers.result("", "b" + std::to_string(i)); }
    CHECK(of_results(strangers) == Calls(many, none));
}
