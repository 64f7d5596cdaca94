// SPDX-License-Identifier: MIT
#include <coppice/hints.hpp>

#include "support/dialects.hpp"
#include "support/pruned.hpp"
#include "support/requests.hpp"

#include <coppice/cadences/ski_rental.hpp>
#include <coppice/cadences/stepped.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

using namespace support;

namespace {

using coppice::Hint;
using enum coppice::Hint::Kind;

const coppice::Pipeline<coppice::ClearHinted<0>, coppice::KeepRecent<1>> hinted{};

std::string with(const Ordered& document, const std::vector<Hint>& hints) {
    return fates(pruned(document, {hinted, hints}));
}

// What the host knows, and since when: as `messages` of a request that came later than the result.
struct Late {
    std::string id;
    Hint::Kind kind = pin;
    std::size_t messages = 0;
};

// Requests of a session, each pruned with the hints known by then; counts the rewrites that the report tells of.
template <class Pipeline>
std::size_t check_beginnings(const Ordered& whole, const std::vector<Late>& known, const Pipeline& pipeline) {
    Requests requests(whole);
    Ordered before = Ordered::array();
    std::size_t rewrites = 0;
    while (requests.next()) {
        Ordered sent = requests.body();
        const std::size_t messages = sent["messages"].size();
        std::vector<Hint> hints;
        for (const Late& late : known) {
            if (late.messages <= messages) { hints.push_back({late.id, late.kind, late.messages}); }
        }
        coppice::Inputs inputs;
        inputs.hints = hints;
        const coppice::Report report = coppice::prune(sent, pipeline, inputs);
        std::size_t first = 0;
        while (first < before.size() && sent["messages"][first] == before[first]) { ++first; }
        CAPTURE(messages);
        CHECK(report.rewrites == (first < before.size()));
        if (report.rewrites) { CHECK(report.first_rewritten_message == first); }
        rewrites += report.rewrites;
        before = sent["messages"];
    }
    return rewrites;
}

}  // namespace

TEST_CASE("hints: they hold for all calls with the id, and where an id repeats in them all of them hold") {
    Ordered messages = list(user("start"));
    for (int i = 0; i < 3; ++i) {
        add_pair(messages, "same", "Read", Ordered::object(), Ordered(filler(static_cast<std::size_t>(i), 3000)));
    }
    add_pair(messages, "other", "Read", Ordered::object(), Ordered(filler(5, 3000)));
    messages.push_back(assistant("done"));
    const auto once = [&](const std::vector<Hint>& hints) {
        return fates(pruned_once(body(messages), AnyPipeline(hinted, hints)));
    };
    CHECK(once({}) == "sss-");
    CHECK(once({{"same", pin}}) == "----");
    CHECK(once({{"same", useless}, {"same", pin}, {"same", useless}}) == "----");
    CHECK(once({{"other", useless}, {"other", useless}}) == "ss-s");
}

TEST_CASE("hints: ids that no call has, and odd ones, are harmless") {
    const Ordered document = session_of_sizes({3000, 3000, 3000});
    const std::string long_id(1'000'000, 'c');
    CHECK(with(document, {{"", pin}, {"call", pin}, {"call_", pin}, {"call_00", pin}, {long_id, pin}}) == "ss-");
    CHECK(with(document, {{std::string_view("call_0\0", 7), pin}, {"\xFF\xFE", useless}, {"call_0 ", pin}}) == "ss-");
    CHECK(with(document, {{long_id, useless}, {"call_0", pin}, {"", useless}}) == "-s-");
}

TEST_CASE("hints: an id is found in whatever spelling the bytes have it") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a/\xC3\xA9\"", "Read", Ordered::object(), Ordered(filler(0, 3000)));
    add_pair(messages, "b", "Read", Ordered::object(), Ordered(filler(1, 3000)));
    messages.push_back(assistant("done"));
    std::string bytes = body(messages).dump();
    const std::string plain = "\"a/\xC3\xA9\\\"\"";
    for (std::size_t at = bytes.find(plain); at != std::string::npos; at = bytes.find(plain)) {
        bytes.replace(at, plain.size(), "\"\\u0061\\/\\u00e9\\u0022\"");
    }
    const std::array<Hint, 1> pins = {Hint{"a/\xC3\xA9\""}};
    coppice::Inputs inputs;
    CHECK(coppice::plan(bytes, hinted, inputs).engaged);
    inputs.hints = pins;
    CHECK_FALSE(coppice::plan(bytes, hinted, inputs).engaged);
    CHECK_FALSE(coppice::plan(body(messages), hinted, inputs).engaged);
}

TEST_CASE("hints: a call without an id has none, and what is known of it goes with its result") {
    const auto part = [](const char* kind, Ordered value) { return Ordered{{kind, std::move(value)}}; };
    const Ordered called = {{"name", "read"}, {"args", Ordered::object()}};
    Ordered named = {{"id", "g"}, {"name", "read"}, {"args", Ordered::object()}};
    const auto answer = [](Ordered response) {
        response["name"] = "read";
        response["response"] = {{"output", filler(0, 3000)}};
        return response;
    };
    const auto edits = [&](const Ordered& call, const Ordered& response) {
        const Ordered document = {
            {"contents",
             list(Ordered{{"role", "user"}, {"parts", list(Ordered{{"text", "start"}})}},
                  Ordered{{"role", "model"}, {"parts", list(part("functionCall", call))}},
                  Ordered{{"role", "user"}, {"parts", list(part("functionResponse", response))}},
                  Ordered{{"role", "model"}, {"parts", list(Ordered{{"text", "done"}})}})}};
        const std::array<Hint, 2> hints = {Hint{"g", useless}, Hint{"", useless}};
        return pruned(document, {coppice::Pipeline{coppice::ClearHinted<>{}}, hints}).report.edits.size();
    };
    CHECK(edits(called, answer(Ordered::object())) == 0);
    CHECK(edits(named, answer(Ordered{{"id", "g"}})) == 1);
    CHECK(edits(named, answer(Ordered::object())) == 1);
    CHECK(edits(called, answer(Ordered{{"id", "g"}})) == 1);
}

TEST_CASE("hints: in a batch they are for every request of it") {
    const Ordered one = session_of_sizes({3000, 3000});
    const Ordered batch = {{"requests", list(Ordered{{"custom_id", "x"}, {"params", one}},
                                             Ordered{{"custom_id", "y"}, {"params", one}})}};
    const std::array<Hint, 1> pins = {Hint{"call_0"}};
    coppice::Inputs inputs;
    CHECK(coppice::plan(batch, hinted, inputs).edits.size() == 2);
    inputs.hints = pins;
    CHECK(coppice::plan(batch, hinted, inputs).edits.empty());
}

TEST_CASE("hints: a workspace keeps none for the next call") {
    const Ordered document = session_of_sizes({3000, 3000});
    const std::array<Hint, 1> pins = {Hint{"call_0"}};
    coppice::Workspace workspace;
    coppice::Inputs inputs;
    inputs.hints = pins;
    CHECK(coppice::plan(document, hinted, workspace, inputs).edits.empty());
    CHECK(coppice::plan(document, hinted, workspace).edits.size() == 1);
}

TEST_CASE("hints: one that comes late changes nothing of what was sent before the cadence lets it") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(14, 3000));
    // a result is in message 2 + 2n, and first sent with 3 + 2n
    const std::vector<Late> known = {{"call_1", useless, 5},      {"call_2", useless, 11}, {"call_0", pin, 13},
                                     {"call_3", pin, 17},         {"call_5", pin, 3},      {"call_6", pin, 15},
                                     {"call_7", regenerable, 21}, {"call_4", useless, 9},  {"call_9", useless, 0},
                                     {"call_8", pin, 25},         {"call_0", useless, 1}};
    const coppice::Pipeline stepped{coppice::Stepped<4>{}, coppice::ClearHinted<0>{}, coppice::KeepRecent<2>{}};
    CHECK(check_beginnings(document, known, stepped) == 4);
    const coppice::Pipeline each{coppice::EveryRequest<>{}, coppice::ClearHinted<0>{}, coppice::KeepRecent<2>{}};
    CHECK(check_beginnings(document, known, each) > 6);
    const coppice::Pipeline weighed{coppice::SkiRental<>{.engage = coppice::Size{1000}}, coppice::ClearHinted<0>{},
                                    coppice::KeepRecent<1>{}};
    CHECK(check_beginnings(session_of_sizes(std::vector<std::size_t>(60, 9000)), known, weighed) > 1);
}

TEST_CASE("hints: what was cleared and then pinned comes back with the next rewrite, and the report tells") {
    const coppice::Pipeline stepped{coppice::Stepped<3>{}, coppice::KeepRecent<0>{}};
    const Ordered whole = session_of_sizes(std::vector<std::size_t>(7, 3000));
    const auto at = [&](std::size_t messages) {
        Ordered document = whole;
        auto& history = document["messages"].get_ref<Ordered::array_t&>();
        history.resize(messages);
        const std::array<Hint, 1> pins = {Hint{"call_0", pin, 7}};
        coppice::Inputs inputs;
        if (messages >= 7) { inputs.hints = pins; }
        const Pruned p{document, document, coppice::prune(document, stepped, inputs)};
        return fates({p.before, document, p.report}) + (p.report.rewrites ? " rewrites" : "");
    };
    CHECK(at(5) == "s-" + std::string(" rewrites"));
    CHECK(at(7) == "s--");
    CHECK(at(9) == "s---");
    CHECK(at(11) == "-sss- rewrites");
}

TEST_CASE("hints: a late pin leaves what was shaped on arrival as the model has seen it") {
    const coppice::Pipeline capped{coppice::CapOnArrival<>{}};
    const Ordered document = session_of_sizes({60'000, 100});
    const auto changed = [&](std::size_t messages) {
        const std::array<Hint, 1> pins = {Hint{"call_0", pin, messages}};
        coppice::Inputs inputs;
        inputs.hints = pins;
        return coppice::plan(document, capped, inputs).engaged;
    };
    CHECK_FALSE(changed(0));
    CHECK_FALSE(changed(3));
    CHECK(changed(4));
    CHECK(changed(5));
    CHECK(changed(1000));
}

TEST_CASE("hints: on models that bind thinking, what was cleared stays cleared, and what is pinned in time is kept") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 12; ++i) {
        const std::string id = "call_" + std::to_string(i);
        messages.push_back(assistant_blocks(thinking("hm " + id), call_block(id, "Read", Ordered{{"path", id}})));
        messages.push_back(result(id, Ordered(filler(i, 3000))));
        messages.push_back(assistant("done"));
        messages.push_back(user("go on"));
    }
    Ordered document = body(std::move(messages));
    document["model"] = "claude-opus-5-5";
    const coppice::Pipeline stepped{coppice::Stepped<4>{}, coppice::ClearHinted<0>{}, coppice::KeepRecent<1>{}};
    const std::vector<Late> known = {{"call_0", pin, 0},       {"call_1", pin, 29}, {"call_2", useless, 37},
                                     {"call_11", useless, 49}, {"call_5", pin, 23}, {"call_6", pin, 27}};
    CHECK(check_beginnings(document, known, stepped) > 1);
    std::vector<Hint> hints;
    for (const Late& late : known) { hints.push_back({late.id, late.kind, late.messages}); }
    const Pruned p = pruned(document, {stepped, hints});
    CHECK(fates(p).substr(0, 2) == "-s");
    CHECK(fates(p)[5] == '-');
}
