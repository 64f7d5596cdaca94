// SPDX-License-Identifier: MIT
#include <coppice/policies/stale_reasoning.hpp>

#include "support/pruned.hpp"

#include <coppice/cadences/ski_rental.hpp>
#include <coppice/cadences/stepped.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <stdexcept>
#include <string>

using namespace support;

namespace {

constexpr coppice::Pipeline<coppice::StaleReasoning<1>> open_turn_only{};
constexpr coppice::Pipeline<coppice::StaleReasoning<2>> two_turns{};

Ordered redacted(const std::string& data) { return Ordered{{"type", "redacted_thinking"}, {"data", data}}; }

// What a person asks, a call that was thought about, its result, and an answer that was thought about: 4 messages,
// whose reasoning is named after the number of the turn.
void add_turn(Ordered& messages, std::size_t number) {
    const std::string name = std::to_string(number);
    messages.push_back(user("question " + name));
    messages.push_back(assistant_blocks(thinking(name + "a"), call_block("c" + name, "Read")));
    messages.push_back(result("c" + name, Ordered(filler(number, 500))));
    messages.push_back(assistant_blocks(thinking(name + "b"), text("answer " + name)));
}

Ordered turns(std::size_t count) {
    Ordered messages = Ordered::array();
    for (std::size_t i = 0; i < count; ++i) { add_turn(messages, i); }
    return messages;
}

// The reasoning that is left, in order.
std::string thoughts(const Ordered& document) {
    std::string out;
    for (const Ordered& message : messages_of(document)) {
        if (!message.at("content").is_array()) { continue; }
        for (const Ordered& block : message["content"]) {
            if (block.contains("reasoningContent")) {
                out += block["reasoningContent"]["reasoningText"].value("text", "?") + " ";
            } else if (block.value("type", "") == "thinking") {
                out += block.value("thinking", "") + " ";
            } else if (block.value("type", "") == "redacted_thinking") {
                out += block.value("data", "") + " ";
            }
        }
    }
    return out;
}

std::string left_of(const Ordered& messages, const AnyPipeline& pipeline) {
    return thoughts(pruned(body(messages), pipeline).after);
}

}  // namespace

TEST_CASE("stale_reasoning: the newest turns keep theirs and older ones lose it, oldest first") {
    CHECK(left_of(turns(4), two_turns) == "2a 2b 3a 3b ");
    CHECK(left_of(turns(4), open_turn_only) == "3a 3b ");
    CHECK(left_of(turns(2), two_turns) == "0a 0b 1a 1b ");
    CHECK(left_of(turns(1), open_turn_only) == "0a 0b ");
    const coppice::Pipeline every_turn{coppice::StaleReasoning<>{.keep_turns = 99}};
    CHECK(pruned(body(turns(4)), every_turn).unchanged());
}

TEST_CASE("stale_reasoning: nothing else changes") {
    const Pruned p = pruned(body(turns(3)), two_turns);
    Ordered expected = p.before;
    expected["messages"][1]["content"].erase(0);
    expected["messages"][3]["content"].erase(0);
    CHECK(p.after == expected);
    REQUIRE(p.report.edits.size() == 2);
    const coppice::EditRecord& edit = p.report.edits[1];
    CHECK(edit.message == 3);
    CHECK(edit.block == 0);
    CHECK(edit.path.empty());
    CHECK(edit.reason == "stale_reasoning");
    CHECK(edit.replacement.empty());
    CHECK(edit.bytes_before == thinking("0b").dump().size() + 1);
    CHECK(edit.bytes_after == 0);
}

TEST_CASE("stale_reasoning: with a new question the turn before it is over") {
    Ordered messages = turns(2);
    messages.push_back(user("one more"));
    CHECK(left_of(messages, open_turn_only).empty());
    CHECK(left_of(messages, two_turns) == "1a 1b ");
}

TEST_CASE("stale_reasoning: a tool loop that goes on keeps all of it") {
    Ordered messages = turns(2);
    messages.push_back(user("read them all"));
    for (std::size_t i = 0; i < 5; ++i) {
        const std::string name = "t" + std::to_string(i);
        messages.push_back(assistant_blocks(thinking(name), redacted(name + "r"), call_block(name, "Read")));
        messages.push_back(result(name, Ordered(filler(i, 500))));
    }
    CHECK(left_of(messages, open_turn_only) == "t0 t0r t1 t1r t2 t2r t3 t3r t4 t4r ");
}

TEST_CASE("stale_reasoning: what is said beside results does not end a tool loop") {
    Ordered messages = turns(1);
    messages.push_back(user("and these"));
    messages.push_back(assistant_blocks(thinking("x"), call_block("x", "Read")));
    messages.push_back(user_blocks(result_block("x", Ordered("fine")), text("a reminder")));
    CHECK(left_of(messages, open_turn_only) == "x ");
    // nor in a message of its own right behind them
    messages.back()["content"].erase(1);
    messages.push_back(user("hurry up"));
    CHECK(left_of(messages, open_turn_only) == "x ");
    messages.push_back(assistant_blocks(thinking("y"), text("done")));
    CHECK(left_of(messages, open_turn_only) == "x y ");
    messages.push_back(user("thanks"));
    CHECK(left_of(messages, open_turn_only).empty());
}

TEST_CASE("stale_reasoning: blocks leave from the beginning, the middle and the end of a message") {
    const Ordered said = text("said");
    const Ordered called = call_block("c", "Read");
    const auto check = [&](const Ordered& message, const Ordered& expected) {
        Ordered messages = list(user("start"), message);
        const bool calls = !blocks_of(messages, "tool_use").empty();
        if (calls) { messages.push_back(result("c", Ordered("fine"))); }
        messages.push_back(assistant("done"));
        messages.push_back(user("next"));
        const Pruned p = pruned(body(messages), open_turn_only);
        CHECK(p.after["messages"][1]["content"] == expected);
    };
    check(assistant_blocks(thinking("a"), redacted("b"), said), list(said));
    check(assistant_blocks(said, thinking("a"), redacted("b")), list(said));
    check(assistant_blocks(said, thinking("a"), thinking("a"), called), list(said, called));
    check(assistant_blocks(thinking("a"), said, thinking("b"), called, redacted("c")), list(said, called));
    check(assistant_blocks(thinking("a"), thinking("b"), said, thinking("c"), thinking("d"), called, thinking("e"),
                           thinking("f")),
          list(said, called));
}

TEST_CASE("stale_reasoning: a turn with a message of nothing but reasoning stays, and so does what is newer") {
    Ordered messages = turns(1);
    messages.push_back(user("think"));
    messages.push_back(assistant_blocks(thinking("x"), redacted("y")));
    messages.push_back(assistant_blocks(thinking("z"), text("done")));
    add_turn(messages, 1);
    add_turn(messages, 2);
    CHECK(left_of(messages, open_turn_only) == "x y z 1a 1b 2a 2b ");
}

TEST_CASE("stale_reasoning: turns that must stay as they are") {
    const auto stays = [](const Ordered& messages) {
        Ordered all = messages;
        all.push_back(user("next"));
        const Pruned p = pruned(body(all), open_turn_only);
        return thoughts(p.before) == thoughts(p.after);
    };
    const Ordered plain = list(user("start"), assistant_blocks(thinking("x"), call_block("c", "Read")),
                               result("c", Ordered("fine")), assistant_blocks(thinking("y"), text("done")));
    REQUIRE_FALSE(stays(plain));

    Ordered program = plain;
    program[1]["content"][1]["caller"] = {{"type", "code_execution_20250825"}, {"tool_id", "srv"}};
    CHECK(stays(program));
    program[1]["content"][1]["caller"] = {{"type", "direct"}};
    CHECK_FALSE(stays(program));

    Ordered pending = plain;
    pending[1]["content"].insert(pending[1]["content"].begin(), Ordered{{"type", "server_tool_use"},
                                                                        {"id", "srv1"},
                                                                        {"name", "web_search"},
                                                                        {"input", Ordered::object()}});
    CHECK(stays(pending));
    pending[1]["content"].insert(pending[1]["content"].begin() + 1, Ordered{{"type", "web_search_tool_result"},
                                                                            {"tool_use_id", "srv1"},
                                                                            {"content", Ordered::array()}});
    CHECK_FALSE(stays(pending));

    Ordered compacted = plain;
    compacted[3]["content"].insert(compacted[3]["content"].begin(),
                                   Ordered{{"type", "compaction"}, {"content", "all of it"}});
    CHECK(stays(compacted));
    compacted = plain;
    compacted.insert(compacted.begin(), user("before"));
    compacted.insert(compacted.begin() + 1,
                     assistant_blocks(Ordered{{"type", "compaction"}, {"content", "all of it"}}));
    CHECK(stays(compacted));

    for (const std::size_t message : {std::size_t{1}, std::size_t{3}}) {
        Ordered cached = plain;
        cached[message]["content"][0] = marked(cached[message]["content"][0]);
        CHECK(stays(cached));
    }
}

TEST_CASE("stale_reasoning: reasoning before the first compaction goes, and behind it it stays") {
    Ordered messages = turns(2);
    messages.push_back(user("compact"));
    messages.push_back(assistant_blocks(Ordered{{"type", "compaction"}, {"content", "all of it"}}));
    add_turn(messages, 2);
    add_turn(messages, 3);
    CHECK(left_of(messages, open_turn_only) == "2a 2b 3a 3b ");
}

TEST_CASE("stale_reasoning: pruned again, and with every turn that follows, what is left is the newest part") {
    Ordered messages = Ordered::array();
    for (std::size_t i = 0; i < 6; ++i) {
        add_turn(messages, i);
        const Pruned p = pruned(body(messages), two_turns);
        const std::string all = thoughts(p.before);
        const std::string left = thoughts(p.after);
        CHECK(all.substr(all.size() - left.size()) == left);
        CHECK(left.size() == (i == 0 ? 6U : 12U));
        messages = p.after["messages"];
    }
}

TEST_CASE("stale_reasoning: a cadence that weighs stops at what may not go, too") {
    constexpr coppice::CacheRules any{.look_back = 0, .minimum_tokens = 0};
    const coppice::Pipeline rents{coppice::StaleReasoning<1>{},
                                  coppice::SkiRental<coppice::prices::no_cache, coppice::Size{0}, any>{}};
    Ordered messages = turns(2);
    CHECK(left_of(messages, rents) == "1a 1b ");
    // nothing but reasoning, which may not leave, and in the next turn behind what might
    for (std::size_t at = 0; at < 2; ++at) {
        CAPTURE(at);
        messages = turns(2);
        add_turn(messages, 2);
        messages.insert(messages.begin() + static_cast<std::ptrdiff_t>(4 + 2 * at), assistant_blocks(thinking("alone")));
        for (std::size_t i = 3; i < 6; ++i) { add_turn(messages, i); }
        const std::string left = left_of(messages, rents);
        CHECK(left == left_of(messages, open_turn_only));
        CHECK(left.find("alone") != std::string::npos);
        CHECK(left.find("5a 5b") == left.size() - 6);
        CHECK(left.find("3a 3b") != std::string::npos);
        CHECK((left.find("0a") == std::string::npos) == (at == 1));
    }
}

TEST_CASE("stale_reasoning: behind the horizon nothing goes, and the loop that was open there stays") {
    // a request for each call and one for each answer: the horizon is the third request, in the middle of turn 1
    const coppice::Pipeline stepped{coppice::StaleReasoning<1>{}, coppice::Stepped<3>{}};
    CHECK(left_of(turns(1), stepped) == "0a 0b ");
    CHECK(left_of(turns(2), stepped) == "1a 1b ");
    Ordered messages = turns(2);
    messages.push_back(user("next"));
    CHECK(left_of(messages, stepped) == "1a 1b ");
    CHECK(left_of(turns(3), stepped) == "2a 2b ");
}

TEST_CASE("stale_reasoning: beside other policies the figures add up") {
    const coppice::Pipeline both{coppice::KeepRecent<0, coppice::Size{300}>{}, coppice::StaleReasoning<1>{}};
    const Pruned p = pruned(body(turns(3)), both);
    CHECK(fates(p) == "sss");
    CHECK(thoughts(p.after) == "2a 2b ");
    REQUIRE(p.report.by_reason.size() == 2);
    CHECK(p.report.by_reason[0].reason == "stale_reasoning");
    CHECK(p.report.by_reason[0].count == 4);
}

TEST_CASE("stale_reasoning: Bedrock's reasoning goes, but not where a cache point would come first") {
    const auto reasoning = [](const std::string& words) {
        return Ordered{{"reasoningContent", {{"reasoningText", {{"text", words}, {"signature", "c2ln"}}}}}};
    };
    const auto said = [](const std::string& words) { return Ordered{{"text", words}}; };
    const Ordered point{{"cachePoint", {{"type", "default"}}}};
    const auto document = [&](const Ordered& blocks) {
        Ordered out = Ordered::object();
        out["messages"] = list(message("user", list(said("start"))), message("assistant", blocks),
                               message("user", list(said("next"))),
                               message("assistant", list(reasoning("new"), said("done"))));
        return out;
    };
    const Pruned gone = pruned(document(list(reasoning("old"), said("hm"), point, reasoning("older"))), open_turn_only);
    CHECK(gone.report.dialect == "bedrock");
    CHECK(gone.after == document(list(said("hm"), point)));
    CHECK(pruned(document(list(reasoning("old"), point, said("hm"))), open_turn_only).unchanged());
    CHECK(pruned(document(list(reasoning("old"))), open_turn_only).unchanged());
    Ordered open = document(list(reasoning("old"), said("hm")));
    open["messages"].erase(2);
    CHECK(pruned(open, open_turn_only).unchanged());
}

TEST_CASE("stale_reasoning: providers that want it back keep it") {
    const Ordered chat = Ordered::parse(R"({"model":"m","messages":[
        {"role":"user","content":"start"},
        {"role":"assistant","content":"hm","reasoning_content":"old thoughts",
         "reasoning_details":[{"type":"reasoning.text","text":"t"}]},
        {"role":"user","content":"next"},
        {"role":"tool","tool_call_id":"x","content":"y"},
        {"role":"assistant","content":"done"}]})");
    const Ordered responses = Ordered::parse(R"({"model":"m","input":[
        {"type":"message","role":"user","content":"start"},
        {"type":"reasoning","id":"rs","summary":[],"encrypted_content":"c2ln"},
        {"type":"message","role":"assistant","content":"hm"},
        {"type":"message","role":"user","content":"next"}]})");
    const Ordered gemini = Ordered::parse(R"({"contents":[
        {"role":"user","parts":[{"text":"start"}]},
        {"role":"model","parts":[{"text":"thoughts","thought":true,"thoughtSignature":"c2ln"},{"text":"hm"}]},
        {"role":"user","parts":[{"text":"next"}]}]})");
    for (const Ordered* const document : {&chat, &responses, &gemini}) {
        const Pruned p = pruned_once(*document, open_turn_only);
        CHECK_FALSE(p.report.dialect.empty());
        CHECK(p.unchanged());
    }
}

TEST_CASE("stale_reasoning: defaults and run-time fields") {
    constexpr coppice::StaleReasoning<> standard;
    static_assert(standard.keep_turns == 2);
    constexpr coppice::StaleReasoning<7> chosen;
    static_assert(chosen.keep_turns == 7);
    CHECK_THROWS_WITH_AS((coppice::Pipeline{coppice::StaleReasoning<>{.keep_turns = 0}}),
                         "coppice::StaleReasoning: `keep_turns` must be at least 1, the open turn",
                         std::invalid_argument);
}
