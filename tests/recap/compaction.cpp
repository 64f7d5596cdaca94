// SPDX-License-Identifier: MIT
#include <coppice/recap/compaction.hpp>

#include "support/recaps.hpp"

#include <coppice/recap/builder.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace support;

namespace {

using coppice::Compaction;
using coppice::none;
using Four = Compaction<coppice::CharsPerToken<4>>;

static_assert(Compaction<>{}.trigger() == 130'000);

struct Heavy {
    static constexpr std::string_view name = "heavy";
    std::size_t weight(std::string_view) const { return none / 2 + 1; }
    std::size_t tokens(std::size_t weight) const { return weight; }
};

History talk(std::size_t messages) {
    History h;
    for (std::size_t i = 0; i < messages; ++i) { i % 2 == 0 ? h.ask("ask") : h.reply(); }
    return h;
}

// Whether a call and its result are on two sides of the cut.
bool parts_a_pair(const History& history, std::size_t cut) {
    const std::vector<std::size_t> calls = coppice::calls_of_results(history.view());
    for (std::size_t i = 0; cut != none && i < calls.size(); ++i) {
        if (calls[i] != none && calls[i] <= cut && i > cut) { return true; }
    }
    return false;
}

}  // namespace

TEST_CASE("compaction: the trigger is a share of the window up to a ceiling") {
    CHECK(Compaction<>{}.trigger() == 130'000);
    CHECK(Compaction<>{.window = 1'000'000}.trigger() == 180'000);
    CHECK(Compaction<>{.window = 276'923}.trigger() == 179'999);
    CHECK(Compaction<>{.window = 276'924}.trigger() == 180'000);
    CHECK(Compaction<>{.window = 1'000'000, .ceiling = none}.trigger() == 650'000);
    CHECK(Compaction<>{.window = 3, .percent = 50}.trigger() == 1);
    CHECK(Compaction<>{.window = 200'000, .percent = 100, .ceiling = none}.trigger() == 200'000);
    // no product overflows
    CHECK(Compaction<>{.window = none, .percent = 100, .ceiling = none}.trigger() == none);
}

TEST_CASE("compaction: numbers that make no sense are refused") {
    const auto refused = [](const Compaction<>& compaction) {
        CHECK_THROWS_AS(compaction.validate(), std::invalid_argument);
    };
    CHECK_NOTHROW(Compaction<>{}.validate());
    refused({.window = 0});
    refused({.ceiling = 0});
    refused({.percent = 0});
    refused({.percent = 101});
    CHECK_NOTHROW(Compaction<>{.percent = 100, .keep_messages = 0}.validate());
}

TEST_CASE("compaction: input is what the visible messages behind the cutoff weigh with the overhead") {
    History h;
    h.ask("12345678").call("Tool", "1234").reply(std::string(400, 'h')).hidden().result("123");
    const Four four;
    CHECK(four.input(h.view(), 0) == (8 + 4 + 4 + 3) / 4);
    CHECK(four.input(h.view(), 1000) == 1000 + 19 / 4);
    CHECK(four.input(h.view(), 0, 0) == 11 / 4);
    CHECK(four.input(h.view(), 7, 3) == 7);
    CHECK(four.input(h.view(), 7, 99) == 7);
    CHECK(four.input({}, 7) == 7);
}

TEST_CASE("compaction: due from the trigger on") {
    History h;
    h.ask(std::string(40'000, 'a'));
    Four four;
    four.window = 100'000;
    four.percent = 20;
    CHECK(!four.due(h.view(), 9'999));
    CHECK(four.due(h.view(), 10'000));
    CHECK(!four.due(h.view(), 10'000, 0));
    CHECK(four.due(h.view(), 20'000, 0));
}

TEST_CASE("compaction: an overhead of any size is no small sum") {
    const History h = talk(20);
    const Compaction<> compaction;
    CHECK(compaction.input(h.view(), none) == none);
    CHECK(compaction.input(h.view(), none - 1) == none);
    CHECK(compaction.due(h.view(), none));
    CHECK(compaction.estimate(h.view(), "recap", none).after == none);
}

TEST_CASE("compaction: weights of any size are no small sum") {
    CHECK(Compaction<Heavy>{}.input(talk(20).view(), 0) == none);
}

TEST_CASE("compaction: the newest six messages stay") {
    const Compaction<> compaction;
    for (std::size_t count = 0; count <= 6; ++count) { CHECK(compaction.cut(talk(count).view()) == none); }
    CHECK(compaction.cut(talk(7).view()) == 0);
    CHECK(compaction.cut(talk(20).view()) == 13);
    CHECK(Compaction<>{.keep_messages = 0}.cut(talk(20).view()) == 19);
    CHECK(Compaction<>{.keep_messages = 0}.cut({}) == none);
    CHECK(Compaction<>{.keep_messages = none}.cut(talk(20).view()) == none);
}

TEST_CASE("compaction: hidden messages do not count and are no reason to cut") {
    History h;
    for (std::size_t i = 0; i < 10; ++i) {
        h.ask("x");
        h.reply("hidden").hidden();
    }
    CHECK(Compaction<>{}.cut(h.view()) == 7);
    History front;
    for (std::size_t i = 0; i < 9; ++i) { front.reply("hidden").hidden(); }
    for (std::size_t i = 0; i < 6; ++i) { front.ask("x"); }
    CHECK(Compaction<>{}.cut(front.view()) == none);
    front.ask("one more");
    CHECK(Compaction<>{}.cut(front.view()) == 9);
}

TEST_CASE("compaction: a call stays with its result") {
    History h;
    h.ask("x").reply().call("A", "", "a").call("B", "", "b").result("", "b").result("", "a").ask("y").reply();
    for (std::size_t keep = 1; keep <= 8; ++keep) {
        const std::size_t cut = Compaction<>{.keep_messages = keep}.cut(h.view());
        CHECK(cut == (keep <= 2 ? 7 - keep : keep <= 6 ? 1 : keep == 7 ? 0 : none));
    }
    // what is moved into the rest may be a result itself
    History chain;
    chain.ask("x").call("A", "", "a").call("B", "", "b").result("", "a").call("C", "", "c").result("", "b");
    chain.result("", "c");
    CHECK(Compaction<>{.keep_messages = 1}.cut(chain.view()) == 0);
}

TEST_CASE("compaction: no cut parts a call and its result in any session") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Random random(seed);
        History h;
        std::size_t visible = 0;
        for (std::size_t i = 0; i < 40; ++i) {
            const std::size_t kind = random.below(4);
            const std::string id = random.chance(60) ? std::to_string(random.below(12)) : std::string();
            if (kind == 0) { h.ask("x"); }
            if (kind == 1) { h.reply(); }
            if (kind == 2) { h.call("T", "", id); }
            if (kind == 3) { h.result("", id); }
            if (random.chance(15)) { h.hidden(); }
            visible += h.last().hidden ? 0 : 1;
        }
        const std::size_t keep = random.below(12);
        const std::size_t cut = Compaction<>{.keep_messages = keep}.cut(h.view());
        CHECK(!parts_a_pair(h, cut));
        if (cut == none) { continue; }
        std::size_t kept = 0;
        for (std::size_t i = cut + 1; i < h.size(); ++i) { kept += h[i].hidden ? 0 : 1; }
        CHECK(kept >= keep);
        CHECK(kept < visible);
    }
}

TEST_CASE("compaction: what a recap saves is told on one basis") {
    History h;
    for (std::size_t i = 0; i < 30; ++i) {
        h.step("Bash", "ls " + std::to_string(i), std::to_string(i) + repeated(" some output", 300));
    }
    h.reply();
    const Compaction<> compaction;
    const coppice::RecapBuilder builder;
    const coppice::Recap recap = builder.build(h.view());
    const std::string sent = builder.with_message(recap, "go on").value();
    const coppice::CompactionEstimate lean = compaction.estimate(h.view(), sent, 0);
    const coppice::CompactionEstimate heavy = compaction.estimate(h.view(), sent, 60'000);
    CHECK(lean.before == compaction.input(h.view(), 0));
    CHECK(lean.after >= recap.tokens);
    CHECK(lean.after <= recap.tokens + 5);
    CHECK(heavy == coppice::CompactionEstimate{lean.before + 60'000, lean.after + 60'000});
    CHECK(heavy.saved() == lean.saved());
    CHECK(lean.saved() == lean.before - lean.after);
    CHECK(coppice::CompactionEstimate{5, 9}.saved() == 0);
    CHECK(coppice::CompactionEstimate{}.saved() == 0);
}

TEST_CASE("compaction: trigger, input and estimate go by the estimator that is plugged in") {
    History h;
    h.ask(repeated("\u4F60\u597D\u4E16\u754C", 5000));
    const Four four;
    const Compaction<> scripts;
    CHECK(four.input(h.view(), 0) == 5'000);
    CHECK(scripts.input(h.view(), 0) == 20'000);
    Four early{.window = 20'000, .percent = 50};
    CHECK(!early.due(h.view(), 0));
    CHECK(Compaction<>{.window = 20'000, .percent = 50}.due(h.view(), 0));
    CHECK(four.estimate(h.view(), "\u4F60\u597D\u4E16\u754C", 1).after == 2);
    CHECK(scripts.estimate(h.view(), "\u4F60\u597D\u4E16\u754C", 1).after == 5);
    const coppice::CharsPerToken<4> two{.chars = 2};
    CHECK(Four{.tokens = two}.input(h.view(), 0) == 10'000);
}

TEST_CASE("compaction: more messages stay as long as they fit the tokens that are to stay") {
    std::vector<coppice::SessionMessage> history(
        20, coppice::SessionMessage{.role = coppice::SessionRole::user, .text = "four"});
    const auto cut = [&](std::size_t messages, std::size_t tokens) {
        return Compaction<coppice::CharsPerToken<4>>{.keep_messages = messages, .keep_tokens = tokens}.cut(
            history);
    };
    CHECK(cut(6, 0) == 13);
    CHECK(cut(6, 6) == 13);
    CHECK(cut(6, 9) == 10);
    CHECK(cut(0, 9) == 10);
    CHECK(cut(6, 19) == 0);
    CHECK(cut(6, 20) == coppice::none);
    history[15].hidden = true;  // costs nothing
    CHECK(cut(6, 9) == 9);
}

TEST_CASE("compaction: wrong numbers are refused where they would be used") {
    CHECK_THROWS_AS((Compaction<>{.percent = 0}.trigger()), std::invalid_argument);
    CHECK_THROWS_AS((Compaction<>{.window = 0}.due({}, 0)), std::invalid_argument);
}
