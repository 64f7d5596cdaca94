// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace support;

namespace {

using coppice::Dialect;

const Ordered none_yet = Ordered::object();

}  // namespace

TEST_CASE("B01: a ceiling between a call and its result leaves both in place") {
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "Read", none_yet, Ordered(std::string(9000, 'x')));
    add_pair(messages, "t2", "Read", none_yet, Ordered(std::string(9000, 'y')));
    messages.push_back(user("and now"));
    messages.push_back(assistant("done"));
    const Ordered document = body(messages);
    const Pruned p = pruned(
        document, coppice::Pipeline{coppice::Ceiling<>{.target = document.dump().size() - 100, .keep = 0}});
    CHECK(fates(p) == "s-");
    CHECK(blocks_of(p.after, "tool_use").size() == 2);
}

TEST_CASE("B01: in every dialect a ceiling between a call and its result leaves both in place") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& first) {
            Ordered messages = list(in.user("start"));
            in.add_pair(messages, {"t1"}, first);
            in.add_pair(messages, {"t2"}, std::string(9000, 'y'));
            messages.push_back(in.user("and now"));
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        const Ordered document = build(std::string(9000, 'x'));
        const Pruned p =
            pruned(document,
                   coppice::Pipeline{coppice::Ceiling<>{.target = document.dump().size() - 100, .keep = 0}});
        const bool one_cleared = p.after == build(in.cleared("9000 characters, ok; Read"));
        CHECK(one_cleared);
    });
}

TEST_CASE("B03: text beside a result stays with its bytes and its place when the result is cleared") {
    const Ordered document =
        body(list(user("start"), call("t1", "Read"),
                  user_blocks(result_block("t1", Ordered(std::string(9000, 'z'))), text("also rename it")),
                  assistant("done")));
    Ordered expected = document;
    expected["messages"][2]["content"][0]["content"] = cleared("9000 characters, ok; Read");
    CHECK(pruned(document, clear_all).after.dump() == expected.dump());
}

TEST_CASE("B03: in every dialect text beside a result stays with its place when the result is cleared") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& told) {
            Ordered messages = list(in.user("start"));
            in.add_pair(messages, {"t1"}, told);
            const Ordered speech = in.user("also rename it");
            if (in.is(Dialect::gemini)) {
                messages.back()["parts"].push_back(speech["parts"][0]);
            } else if (in.is(Dialect::bedrock) || in.is(Dialect::anthropic)) {
                messages.back()["content"].push_back(in.is(Dialect::bedrock) ? speech["content"][0]
                                                                             : text("also rename it"));
            } else {
                messages.push_back(speech);
            }
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        const bool text_stays = pruned(build(std::string(9000, 'z')), clear_all).after.dump() ==
                                build(in.cleared("9000 characters, ok; Read")).dump();
        CHECK(text_stays);
    });
}

TEST_CASE("B04: a result that comes after another turn of the model answers no call before it") {
    Ordered messages = list(user("start"), call("t1", "Read"), user("recap of earlier turns"),
                            assistant("I see"), result("t1", Ordered(std::string(9000, 'l'))));
    for (std::size_t i = 0; i < 30; ++i) {
        add_pair(messages, "p" + std::to_string(i), "Read", none_yet, Ordered(filler(i, 6000)));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned_once(body(messages), clear_all);
    CHECK(fates(p) == "-" + times(30, 's'));
    CHECK(p.report.unpaired_calls == 1);
    CHECK(p.report.unpaired_results == 1);
}

TEST_CASE("B04: in every dialect but one an answer has to follow the turn of its call") {
    in_every_dialect([](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        in.add_calls(messages, {{"t1"}});
        messages.push_back(in.user("recap of earlier turns"));
        messages.push_back(in.assistant("I see"));
        in.add_results(messages, {{"t1", std::string(9000, 'l')}});
        for (std::size_t i = 0; i < 30; ++i) {
            in.add_pair(messages, {"p" + std::to_string(i)}, filler(i, 6000));
        }
        messages.push_back(in.assistant("done"));
        const Pruned p = pruned_alike(in.body(messages), clear_all);
        // items of Responses belong together by their ids, however far apart they stand
        const bool anywhere = in.is(Dialect::openai_responses);
        CHECK(in.fates(p) == (anywhere ? "s" : "-") + times(30, 's'));
        CHECK(p.report.unpaired_calls == (anywhere ? 0 : 1));
        CHECK(p.report.unpaired_results == (anywhere ? 0 : 1));
    });
}

TEST_CASE("B06: a result row that is there twice stays there twice") {
    const Ordered row = result_block("t1", Ordered(std::string(5000, 'a')));
    const Ordered document =
        body(list(user("start"), call("t1", "Read"), user_blocks(row, row), assistant("done")));
    const Pruned p = pruned_once(document, clear_all);
    CHECK(blocks_of(p.after, "tool_result").size() == 2);
    CHECK(fates(p) == "s-");
    CHECK(p.report.unpaired_results == 1);
}

TEST_CASE("B06: in every dialect a result that is there twice stays there twice") {
    in_every_dialect([](const Spelling& in) {
        const Told row = {"t1", std::string(5000, 'a')};
        Ordered messages = list(in.user("start"));
        in.add_calls(messages, {{"t1"}});
        in.add_results(messages, {row, row});
        messages.push_back(in.assistant("done"));
        const Pruned p = pruned_alike(in.body(messages), clear_all);
        CHECK(in.contents(p.after).size() == 2);
        CHECK(in.fates(p) == "s-");
        CHECK(p.report.unpaired_results == 1);
    });
}

TEST_CASE("B06: in every dialect a call that is made anew with an old id is another call") {
    in_every_dialect([](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        for (const char letter : {'a', 'b'}) { in.add_pair(messages, {"t1"}, std::string(5000, letter)); }
        messages.push_back(in.assistant("done"));
        const Pruned p = pruned_alike(in.body(messages), clear_all);
        CHECK(in.fates(p) == "ss");
        CHECK(p.report.unpaired_results == 0);
    });
}

TEST_CASE("B07: parallel results stay in their message and order when one of them is cleared") {
    const Ordered document = body(list(
        user("start"),
        assistant_blocks(call_block("a", "A", none_yet), call_block("b", "B", none_yet),
                         call_block("c", "C", none_yet)),
        user_blocks(result_block("a", Ordered("one")), result_block("b", Ordered(std::string(90'000, 'b'))),
                    result_block("c", Ordered("three"))),
        assistant("done")));
    Ordered expected = document;
    expected["messages"][2]["content"][1]["content"] = cleared("90000 characters, ok; B");
    CHECK(pruned(document, clear_all).after.dump() == expected.dump());
}

TEST_CASE("B07: in every dialect parallel results stay in their order when one of them is cleared") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& second) {
            Ordered messages = list(in.user("start"));
            in.add_calls(messages, {{"a", "A"}, {"b", "B"}, {"c", "C"}});
            in.add_results(messages, {{"a", "one", "A"}, {"b", second, "B"}, {"c", "three", "C"}});
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        const bool only_one_changed = pruned(build(std::string(90'000, 'b')), clear_all).after.dump() ==
                                      build(in.cleared("90000 characters, ok; B")).dump();
        CHECK(only_one_changed);
    });
}

TEST_CASE("B09: as many responses as calls are left in Gemini where equal ones without an id collapse") {
    const Spelling in(Dialect::gemini);
    for (const bool snake_case : {false, true}) {
        CAPTURE(snake_case);
        const char* const call_key = snake_case ? "function_call" : "functionCall";
        const char* const response_key = snake_case ? "function_response" : "functionResponse";
        const auto build = [&](const std::string& first, const std::string& second) {
            Ordered calls = Ordered::array();
            Ordered responses = Ordered::array();
            for (const std::string& out : {first, second}) {
                Ordered call = {{"name", "ls"}, {"args", none_yet}};
                Ordered response = {{"name", "ls"}, {"response", {{"out", out}}}};
                calls.emplace_back()[call_key] = std::move(call);
                responses.emplace_back()[response_key] = std::move(response);
            }
            return Ordered{
                {"contents", list(Ordered{{"role", "user"}, {"parts", list(Ordered{{"text", "start"}})}},
                                  Ordered{{"role", "model"}, {"parts", std::move(calls)}},
                                  Ordered{{"role", "user"}, {"parts", std::move(responses)}},
                                  Ordered{{"role", "model"}, {"parts", list(Ordered{{"text", "done"}})}})}};
        };
        const std::string big(8000, 'X');
        const Pruned p = pruned(build(big, big), coppice::Pipeline<coppice::Dedup<>>{});
        const bool one_collapsed =
            p.after == build(in.cleared("8000 characters, ok, same as a later result; ls"), big);
        CHECK(one_collapsed);
        CHECK(p.report.unpaired_results == 0);
        const std::string stub = in.cleared("8000 characters, ok; ls");
        const bool both_cleared = pruned(build(big, big), clear_all).after == build(stub, stub);
        CHECK(both_cleared);
    }
}

TEST_CASE("B10: in every dialect a turn without calls and content stays as it is and none is made") {
    in_every_dialect([](const Spelling& in) {
        Ordered empty = in.assistant("");
        if (in.is(Dialect::openai_chat)) {
            empty["content"] = nullptr;
            empty["tool_calls"] = Ordered::array();
        } else {
            empty[in.is(Dialect::gemini) ? "parts" : "content"] = Ordered::array();
        }
        Ordered messages = list(in.user("start"));
        std::string expected;
        for (std::size_t i = 0; i < 40; ++i) {
            if (i == 20) {
                messages.push_back(empty);
                messages.push_back(in.user("go on"));
            }
            in.add_pair(messages, {"p" + std::to_string(i)}, filler(i, 6000));
        }
        messages.push_back(in.assistant("done"));
        const Pruned p = pruned_alike(in.body(messages), clear_all);
        CHECK(in.fates(p) == times(40, 's'));
        std::size_t empty_ones = 0;
        for (const Ordered& message : in.messages(p.after)) { empty_ones += message == empty; }
        CHECK(empty_ones == 1);
        CHECK(p.after.dump().find("[]", p.after.dump().find("[]") + 1) == std::string::npos);
    });
}

TEST_CASE("B13: an approval that Responses ask for keeps its arguments before and after the answer") {
    const Spelling in(Dialect::openai_responses);
    for (const bool answered : {false, true}) {
        CAPTURE(answered);
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"c1"}, std::string(9000, 'x'));
        messages.push_back(Ordered{{"type", "mcp_approval_request"},
                                   {"id", "a1"},
                                   {"name", "write"},
                                   {"server_label", "files"},
                                   {"arguments", Ordered{{"content", std::string(9000, 'c')}}.dump()}});
        if (answered) {
            in.add_pair(messages, {"c2"}, std::string(9000, 'y'));
            messages.push_back(
                Ordered{{"type", "mcp_approval_response"}, {"approval_request_id", "a1"}, {"approve", true}});
        }
        messages.push_back(in.assistant("done"));
        const Pruned p = pruned(in.body(messages), clear_all);
        Ordered expected = p.before;
        expected["input"][2]["output"] = in.cleared("9000 characters, ok; Read");
        if (answered) { expected["input"][5]["output"] = in.cleared("9000 characters, ok; Read"); }
        const bool only_outputs_changed = p.after.dump() == expected.dump();
        CHECK(only_outputs_changed);
    }
}
