// SPDX-License-Identifier: MIT
#include <coppice/policies/repeated_call.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/cap_on_arrival.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <utility>

using namespace support;

namespace {

constexpr coppice::Pipeline<coppice::RepeatedCall<1, 1>> newest_step_stays{};

struct Asked {
    Ordered input;
    bool fails = false;
    std::size_t size = 900;
};

Ordered session_of(std::initializer_list<Asked> calls) {
    Ordered messages = list(user("start"));
    std::size_t number = 0;
    for (const Asked& asked : calls) {
        const std::string id = "c" + std::to_string(number);
        messages.push_back(call(id, "Grep", asked.input));
        const std::string said = filler(number++, asked.size);
        messages.push_back(asked.fails ? result(id, Ordered(said), true) : result(id, Ordered(said)));
    }
    messages.push_back(assistant("enough"));
    return body(messages);
}

const Ordered one{{"pattern", "main"}, {"path", "/src"}};
const Ordered other{{"pattern", "main"}, {"path", "/lib"}};

}  // namespace

TEST_CASE("repeated_call: the newest answer stays, whatever the older ones said") {
    CHECK(fates(pruned(session_of({{one}, {other}, {one}, {one}}), newest_step_stays)) == "s-s-");
    // the same input in another order of keys, at any depth
    const Ordered nested{{"path", "/src"}, {"pattern", "main"}, {"options", {{"a", 1}, {"b", list(1, 2)}}}};
    const Ordered turned{{"options", {{"b", list(1, 2)}, {"a", 1}}}, {"pattern", "main"}, {"path", "/src"}};
    const Ordered else_{{"options", {{"b", list(2, 1)}, {"a", 1}}}, {"pattern", "main"}, {"path", "/src"}};
    CHECK(fates(pruned(session_of({{nested}, {else_}, {turned}}), newest_step_stays)) == "s--");
}

TEST_CASE("repeated_call: a failure does not take an older answer away") {
    CHECK(fates(pruned(session_of({{one}, {one, true}}), newest_step_stays)) == "--");
    // but what failed before it worked may go, and so may what an answer between made old
    CHECK(fates(pruned(session_of({{one, true}, {one}}), newest_step_stays)) == "s-");
    CHECK(fates(pruned(session_of({{one}, {one, true}, {one}, {one, true}}), newest_step_stays)) == "ss--");
}

TEST_CASE("repeated_call: the newest steps and turns keep theirs, and short answers stay") {
    const Ordered document = session_of({{one}, {one}, {one}});
    // the answer is a step
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::RepeatedCall<3, 3>{}})) == "s--");
    CHECK(pruned(document, coppice::Pipeline{coppice::RepeatedCall<3, 4>{}}).unchanged());
    CHECK(pruned(session_of({{one, false, 399}, {one}}), newest_step_stays).unchanged());
}

TEST_CASE("repeated_call: only an answer that stays whole stands for an older one") {
    const Ordered document = session_of({{one}, {one}, {other}});
    const coppice::Pipeline after{coppice::KeepRecent<1, coppice::Size{300}>{}, coppice::RepeatedCall<1, 1>{}};
    const Pruned p = pruned(document, after);
    CHECK(fates(p) == "ss-");
    for (const coppice::EditRecord& edit : p.report.edits) { CHECK(edit.reason == "keep_recent"); }
}

TEST_CASE("repeated_call: an answer that loses images or its middle stands for an older one as it does the next time") {
    constexpr coppice::RepeatedCall<0, 0> all;
    const auto asked_twice = [](Ordered newest) {
        Ordered messages = list(user("go"));
        add_pair(messages, "a", "Bash", Ordered{{"command", "ls"}}, Ordered(std::string(500, 'x')));
        add_pair(messages, "b", "Bash", Ordered{{"command", "ls"}}, std::move(newest));
        messages.push_back(assistant("done"));
        return body(std::move(messages));
    };
    // `pruned` asks that the second time changes nothing
    const Ordered shown = asked_twice(list(text(std::string(50, 'y')), image()));
    CHECK(fates(pruned(shown, coppice::Pipeline{coppice::KeepRecent<5, coppice::Size{2000}, 0>{}, all})) == "si");
    CHECK(fates(pruned(shown, coppice::Pipeline{all, coppice::KeepRecent<5, coppice::Size{2000}, 0>{}})) == "si");
    // nothing to read is left
    const Ordered seen = asked_twice(list(image()));
    CHECK(fates(pruned(seen, coppice::Pipeline{coppice::KeepRecent<5, coppice::Size{2000}, 0>{}, all})) == "-i");
    const Ordered huge = asked_twice(Ordered(std::string(9'000, 'y')));
    constexpr coppice::CapOnArrival<coppice::chars(3'000), 400, 400> cap;
    CHECK(fates(pruned(huge, coppice::Pipeline{cap, all})).substr(0, 1) == "s");
    CHECK(fates(pruned(huge, coppice::Pipeline{all, cap})).substr(0, 1) == "s");
}

TEST_CASE("repeated_call: calls that lost some of their input are not compared") {
    const Ordered writes{{"path", "/a"}, {"content", filler(0, 900)}};
    const Ordered document = session_of({{writes}, {writes}});
    const coppice::Pipeline after{coppice::BulkyInputClear<0, coppice::Size{300}>{}, coppice::RepeatedCall<1, 1>{}};
    CHECK(fates(pruned(document, after)) == "--");
    CHECK(fates(pruned(document, newest_step_stays)) == "s-");
}

TEST_CASE("repeated_call: defaults and wrong numbers") {
    constexpr coppice::RepeatedCall<> defaults;
    CHECK(defaults.keep_turns == 3);
    CHECK(defaults.keep_steps == 10);
    CHECK(defaults.min == coppice::Size{400});
    CHECK_THROWS_AS(coppice::Pipeline(coppice::RepeatedCall<>{.min = coppice::Size{0}}), std::invalid_argument);
}
