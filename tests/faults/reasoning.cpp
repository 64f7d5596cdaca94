// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace support;

namespace {

using coppice::Dialect;

const Ordered none_yet = Ordered::object();

// Gives the newest turn of the model, which may be empty so far, the reasoning that came before it.
void add_reasoning(const Spelling& in, Ordered& messages, const std::string& signature) {
    Ordered& turn = messages.back();
    const auto put_first = [](Ordered& blocks, Ordered block) {
        blocks.insert(blocks.begin(), std::move(block));
    };
    switch (in.dialect()) {
        case Dialect::openai_chat:
            turn["reasoning_content"] = "hm";
            turn["reasoning_details"] = list(Ordered{{"type", "reasoning.encrypted"}, {"data", signature}});
            break;
        case Dialect::openai_responses:
            messages.insert(messages.end() - 1, Ordered{{"type", "reasoning"},
                                                        {"id", "rs1"},
                                                        {"summary", Ordered::array()},
                                                        {"encrypted_content", signature}});
            break;
        case Dialect::gemini:
            if (!turn["parts"].empty()) { turn["parts"][0]["thoughtSignature"] = signature; }
            put_first(turn["parts"], Ordered{{"text", "hm"}, {"thought", true}});
            break;
        case Dialect::bedrock:
            put_first(turn["content"], Ordered{{"reasoningContent", {{"redactedContent", signature}}}});
            put_first(
                turn["content"],
                Ordered{{"reasoningContent", {{"reasoningText", {{"text", ""}, {"signature", signature}}}}}});
            break;
        default:
            put_first(turn["content"], Ordered{{"type", "redacted_thinking"}, {"data", signature}});
            put_first(turn["content"], thinking("", signature));
    }
}

}  // namespace

TEST_CASE("B14: thinking beside a call whose input is cleared keeps its bytes and its place") {
    const Ordered document =
        body(list(user("start"),
                  assistant_blocks(Ordered{{"type", "thinking"}, {"thinking", ""}, {"signature", "S=="}},
                                   Ordered{{"type", "redacted_thinking"}, {"data", "D=="}},
                                   call_block("t1", "write", Ordered{{"content", std::string(9000, 'c')}})),
                  result("t1", Ordered("ok")), assistant("done")));
    Ordered expected = document;
    expected["messages"][1]["content"][2]["input"]["content"] =
        "[tool input cleared: 9000 characters; content]";
    CHECK(pruned(document, clear_all).after.dump() == expected.dump());
}

TEST_CASE("B14: in every dialect reasoning beside a cleared input keeps its bytes and its place") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& content) {
            Ordered messages = list(in.user("start"));
            in.add_calls(messages, {{"t1", "write", Ordered{{"content", content}}}});
            add_reasoning(in, messages, "S==");
            in.add_results(messages, {{"t1", "ok", "write"}});
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        const bool only_input_changed = pruned(build(std::string(9000, 'c')), clear_all).after.dump() ==
                                        build("[tool input cleared: 9000 characters; content]").dump();
        CHECK(only_input_changed);
    });
}

TEST_CASE("B17 B19: no thinking is ever removed and no message emptied") {
    const Ordered document =
        body(list(user("start"), message("assistant", list(thinking("alone"))), user("go on"),
                  assistant_blocks(thinking("old"), call_block("t1", "Read", none_yet)),
                  result("t1", Ordered(std::string(9000, 'x'))),
                  assistant_blocks(thinking("open loop"), call_block("t2", "Read", none_yet)),
                  result("t2", Ordered(std::string(9000, 'y')))));
    Ordered expected = document;
    expected["messages"][4]["content"][0]["content"] = cleared("9000 characters, ok; Read");
    CHECK(pruned(document, clear_all).after.dump() == expected.dump());
}

TEST_CASE("B17 B19: in every dialect no reasoning is ever removed and no message emptied") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& first) {
            Ordered messages = list(in.user("start"));
            in.add_calls(messages, {});
            if (in.is(Dialect::openai_responses)) { messages.push_back(in.user("go on")); }
            add_reasoning(in, messages, "alone");
            if (in.is(Dialect::openai_chat)) { messages.back().erase("tool_calls"); }
            if (!in.is(Dialect::openai_responses)) { messages.push_back(in.user("go on")); }
            in.add_calls(messages, {{"t1"}});
            add_reasoning(in, messages, "old");
            in.add_results(messages, {{"t1", first}});
            in.add_calls(messages, {{"t2"}});
            add_reasoning(in, messages, "open loop");
            in.add_results(messages, {{"t2", std::string(9000, 'y')}});
            return in.body(messages);
        };
        const bool only_read_result_changed = pruned(build(std::string(9000, 'x')), clear_all).after.dump() ==
                                              build(in.cleared("9000 characters, ok; Read")).dump();
        CHECK(only_read_result_changed);
    });
}

TEST_CASE("B18: a blank signature comes out as blank as it went in") {
    const Ordered blank = {{"type", "thinking"}, {"thinking", "x"}, {"signature", ""}};
    const Ordered document =
        body(list(user("start"), assistant_blocks(blank, call_block("t1", "Read", none_yet)),
                  result("t1", Ordered(std::string(9000, 'x'))), assistant("done")));
    const Pruned p = pruned_once(document, clear_all);
    CHECK(fates(p) == "s");
    CHECK(block_at(p.after, 1, 0).dump() == blank.dump());
}

TEST_CASE("B18: in every dialect a blank signature comes out as blank as it went in") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& told) {
            Ordered messages = list(in.user("start"));
            in.add_calls(messages, {{"t1"}});
            add_reasoning(in, messages, "");
            in.add_results(messages, {{"t1", told}});
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        const bool still_blank = pruned_alike(build(std::string(9000, 'x')), clear_all).after.dump() ==
                                 build(in.cleared("9000 characters, ok; Read")).dump();
        CHECK(still_blank);
    });
}

TEST_CASE("B21: nothing comes between a reasoning item of Responses and the call that follows it") {
    const Spelling in(Dialect::openai_responses);
    const auto build = [&in](const std::string& content, const std::string& output) {
        Ordered messages = list(in.user("start"));
        for (const std::string number : {"1", "2"}) {
            messages.push_back(
                Ordered{{"type", "reasoning"}, {"id", "rs" + number}, {"summary", Ordered::array()}});
            messages.push_back(Ordered{{"type", "function_call"},
                                       {"id", "fc" + number},
                                       {"call_id", "c" + number},
                                       {"name", "w"},
                                       {"arguments", Ordered{{"path", "a"}, {"content", content}}.dump()}});
            messages.push_back(
                Ordered{{"type", "function_call_output"}, {"call_id", "c" + number}, {"output", output}});
        }
        messages.push_back(in.assistant("done"));
        return in.body(messages);
    };
    const bool only_values_changed =
        pruned(build(std::string(9000, 'c'), std::string(9000, 'o')), clear_all).after.dump() ==
        build("[tool input cleared: 9000 characters; content]", in.cleared("9000 characters, ok; w a"))
            .dump();
    CHECK(only_values_changed);
}

TEST_CASE("B23: encrypted payloads are never cut or shared and count towards the ceiling") {
    const Ordered encrypted = {{"type", "redacted_thinking"}, {"data", std::string(60'000, 'g')}};
    Ordered messages = list(user("start"));
    for (int i = 0; i < 2; ++i) {
        messages.push_back(
            assistant_blocks(encrypted, call_block("t" + std::to_string(i), "Read", none_yet)));
        messages.push_back(result("t" + std::to_string(i), Ordered(filler(0, 9000))));
    }
    messages.push_back(assistant("done"));
    coppice::MemorySpillStore store;
    const coppice::Pipeline pipeline{coppice::Spill<>{.store = &store}, coppice::Dedup<>{},
                                     coppice::Ceiling<>{.keep = 0}};
    const Pruned p = pruned(body(messages), pipeline);
    CHECK(block_at(p.after, 1, 0) == encrypted);
    CHECK(block_at(p.after, 3, 0) == encrypted);
    CHECK(p.report.under_target == false);
    CHECK(fates(p) == "ss");
    CHECK(store.size() == 0);
}

TEST_CASE("B23: in every dialect encrypted payloads are whole and count towards the ceiling") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& told) {
            Ordered messages = list(in.user("start"));
            for (const std::string id : {"t1", "t2"}) {
                in.add_calls(messages, {{id}});
                add_reasoning(in, messages, std::string(60'000, 'g'));
                in.add_results(messages, {{id, told}});
            }
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        coppice::MemorySpillStore store;
        const coppice::Pipeline pipeline{coppice::Spill<>{.store = &store}, coppice::Dedup<>{},
                                         coppice::Ceiling<>{.keep = 0}};
        const Pruned p = pruned(build(filler(0, 9000)), pipeline);
        const bool payloads_whole = p.after.dump() == build(in.cleared("9000 characters, ok; Read")).dump();
        CHECK(payloads_whole);
        CHECK(p.report.under_target == false);
        CHECK(store.size() == 0);
    });
}

TEST_CASE("B23: a compaction item of Responses keeps its bytes and all that follows it") {
    const Spelling in(Dialect::openai_responses);
    const Ordered compaction = {{"type", "compaction"}, {"encrypted_content", std::string(60'000, 'g')}};
    Ordered messages = list(in.user("start"));
    in.add_pair(messages, {"c1"}, std::string(9000, 'x'));
    messages.push_back(compaction);
    in.add_pair(messages, {"c2"}, std::string(9000, 'y'));
    messages.push_back(in.assistant("done"));
    const Pruned p = pruned(in.body(messages), clear_all);
    CHECK(in.fates(p) == "s-");
    const bool whole = in.messages(p.after)[3] == compaction;
    CHECK(whole);
}
