// SPDX-License-Identifier: MIT
#include <coppice/guards/thinking_binding.hpp>

#include "support/binding_validator.hpp"
#include "support/pruned.hpp"
#include "support/requests.hpp"

#include <coppice/cadences/every_request.hpp>
#include <coppice/cadences/min_reclaim.hpp>
#include <coppice/cadences/ski_rental.hpp>
#include <coppice/cadences/stepped.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/cap_on_arrival.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/policies/dedup.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/stale_reasoning.hpp>
#include <coppice/wire.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

constexpr std::string_view bound_model = "claude-opus-5-5";

Ordered thinking_step(std::size_t i, std::size_t size = 3000) {
    const std::string id = "c" + std::to_string(i);
    return list(assistant_blocks(thinking("thought " + std::to_string(i)),
                                 call_block(id, "Read", Ordered{{"path", id}})),
                user_blocks(result_block(id, Ordered(filler(i, size)))));
}

void append(Ordered& messages, const Ordered& more) {
    for (const Ordered& message : more) { messages.push_back(message); }
}

// Turns of the user, each with so many steps of thinking and reading, behind one with nothing to clear.
Ordered turns(std::size_t count, std::size_t steps, std::string_view model = bound_model) {
    Ordered messages = list(user("first"), assistant_blocks(thinking("kept"), text("yes")));
    for (std::size_t turn = 0; turn < count; ++turn) {
        messages.push_back(user("question " + std::to_string(turn)));
        for (std::size_t step = 0; step < steps; ++step) { append(messages, thinking_step(turn * steps + step)); }
        messages.push_back(assistant_blocks(thinking("end"), text("answer")));
    }
    messages.push_back(user("and now"));
    Ordered document = body(messages);
    document["model"] = std::string(model);
    return document;
}

// The thinking that is left, by its words.
std::string thoughts(const Ordered& document) {
    std::string out;
    for (const Ordered* const block : blocks_of(document, "thinking")) {
        out += (out.empty() ? "" : " ") + block->at("thinking").get<std::string>();
    }
    return out;
}

const coppice::Pipeline keep_one{coppice::KeepRecent<1>{}};

}  // namespace

TEST_CASE("thinking_binding: models that bind are told by their names") {
    using coppice::detail::model_binds_thinking;
    for (const std::string_view model :
         {"claude-opus-5-5", "claude-sonnet-5-5-20261001", "claude-haiku-5.5", "claude-fable-5-1", "claude-fable-5-2",
          "claude-mythos-5-1", "anthropic/claude-opus-5.5", "us.anthropic.claude-sonnet-5-5-v1:0", "claude-opus-6",
          "claude-saga-5", "claude-next", "claude-opus-5-10", "claude-opus-10", "claude-epic-7-20270101",
          "claude-mythos-6", "claude-", "claude", "my_claude_opus_6",
          "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5-5-v1:0"}) {
        CAPTURE(model);
        CHECK(model_binds_thinking(model));
    }
    for (const std::string_view model :
         {"claude-opus-5", "claude-sonnet-5", "claude-fable-5", "claude-mythos-5", "claude-mythos-preview",
          "claude-opus-4-6", "claude-opus-4.8", "claude-sonnet-4-5-20250929", "claude-opus-4-20250514",
          "claude-haiku-4-5", "claude-3-7-sonnet-20250219", "claude-3-opus-20240229", "claude-2.1",
          "claude-instant-1.2", "claude-v2", "us.anthropic.claude-opus-4-6-v1:0", "kimi-k2", "glm-5", "gpt-5.5", "",
          "arn:aws:bedrock:us-east-1:1:foundation-model/anthropic.claude-opus-4-6-v1:0"}) {
        CAPTURE(model);
        CHECK_FALSE(model_binds_thinking(model));
    }
}

TEST_CASE("thinking_binding: thinking behind the first change goes with it as one run") {
    const Ordered document = turns(2, 3);
    const Pruned p = pruned(document, keep_one);
    // the newest of six results stays; of the turn that has the first of them, no thinking does
    CHECK(fates(p) == "sssss-");
    CHECK(thoughts(p.after) == "kept");
    CHECK(p.report.horizon == document["messages"].size() - 1);
    // where nothing binds, all of it stays
    const Pruned free = pruned(turns(2, 3, "claude-opus-5"), keep_one);
    CHECK(fates(free) == "sssss-");
    CHECK(thoughts(free.after) == thoughts(free.before));
}

TEST_CASE("thinking_binding: in a tool loop nothing changes") {
    Ordered document = turns(1, 0);
    document["messages"].erase(document["messages"].size() - 1);
    append(document["messages"], list(user("go on")));
    for (std::size_t i = 0; i < 6; ++i) { append(document["messages"], thinking_step(i)); }
    const Pruned p = pruned(document, keep_one);
    CHECK(p.unchanged());
    CHECK(p.report.why == "the model binds its thinking to what precedes it, so that nothing changes before the user "
                          "speaks again");
    document["messages"].push_back(assistant_blocks(thinking("end"), text("answer")));
    document["messages"].push_back(user("more"));
    const Pruned after = pruned(document, keep_one);
    CHECK(fates(after) == "sssss-");
    // and then stands still in the next loop
    append(document["messages"], thinking_step(9));
    const Pruned later = pruned(document, keep_one);
    CHECK(fates(later) == "sssss--");
    CHECK(later.after["messages"][5] == after.after["messages"][5]);
    CHECK(later.report.horizon == after.report.horizon);
}

TEST_CASE("thinking_binding: request by request, nothing that was sent becomes invalid") {
    for (const std::size_t steps : {std::size_t{1}, std::size_t{4}}) {
        CAPTURE(steps);
        Requests requests(turns(6, steps));
        binding_validator::BindingValidator validator;
        const coppice::Pipeline pipeline{coppice::KeepRecent<2>{}, coppice::StaleReasoning<1>{},
                                         coppice::SkiRental<coppice::prices::openai_half>{}};
        std::size_t rewrites = 0;
        while (requests.next()) {
            Ordered sent = requests.body();
            rewrites += coppice::prune(sent, pipeline).rewrites;
            for (const std::string& violation : validator.feed(requests.body(), sent)) { CHECK_MESSAGE(false, violation); }
        }
        CHECK(rewrites >= 2);
    }
}

TEST_CASE("thinking_binding: nothing changes before thinking that has to stay") {
    Ordered document = turns(1, 3);
    auto& messages = document["messages"];
    messages.erase(messages.size() - 1);
    messages.push_back(user("next"));
    // with nothing else in its message it cannot go
    messages.push_back(assistant_blocks(thinking("alone")));
    messages.push_back(user("next"));
    for (std::size_t i = 10; i < 13; ++i) { append(messages, thinking_step(i)); }
    messages.push_back(assistant_blocks(thinking("end"), text("answer")));
    messages.push_back(user("and now"));
    const Pruned p = pruned(document, keep_one);
    // what was cleared before that thought was there stays cleared
    CHECK(fates(p) == "ss-ss-");
    CHECK(thoughts(p.after).find("alone") != std::string::npos);
    CHECK(thoughts(p.after).find("kept") == 0);
    CHECK(thoughts(p.after).find("thought 2") == std::string::npos);
    CHECK(thoughts(p.after).find("thought 10") == std::string::npos);
}

TEST_CASE("thinking_binding: with drop_block the provider takes care of it") {
    Ordered document = turns(1, 0);
    document["messages"].erase(document["messages"].size() - 1);
    document["messages"].push_back(user("go on"));
    for (std::size_t i = 0; i < 6; ++i) { append(document["messages"], thinking_step(i)); }
    document["thinking"] = {{"type", "adaptive"}, {"block_binding", {{"prefix_mismatch_behavior", "drop_block"}}}};
    const Pruned p = pruned_once(document, keep_one);
    CHECK(fates(p) == "ssss--");
    CHECK(thoughts(p.after) == thoughts(p.before));
    document["thinking"]["block_binding"]["prefix_mismatch_behavior"] = "error";
    CHECK_FALSE(pruned_once(document, keep_one).report.engaged);
}

TEST_CASE("thinking_binding: a host may know better than the name") {
    const Ordered bound = turns(1, 3);
    const coppice::Pipeline never{coppice::KeepRecent<1>{}, coppice::ThinkingBinding<coppice::Binds::never>{}};
    const Pruned p = pruned(bound, never);
    CHECK(thoughts(p.after) == thoughts(p.before));
    CHECK(fates(p) == "ss-");
    const coppice::Pipeline always{coppice::KeepRecent<1>{}, coppice::ThinkingBinding<>{.when = coppice::Binds::always}};
    CHECK(thoughts(pruned(turns(1, 3, "claude-opus-4-6"), always).after) == "kept");
    // a body that does not say which model it is for
    Ordered nameless = turns(1, 3);
    nameless.erase("model");
    CHECK(thoughts(pruned(nameless, keep_one).after) == "kept");
    CHECK(fates(pruned(turns(1, 3, "kimi-k2"), keep_one)) == "ss-");
}

TEST_CASE("thinking_binding: what has no name is whose the call says, and else Claude's as soon as it thinks") {
    Ordered document = turns(1, 3);
    const auto left = [&](std::string_view told) {
        coppice::Inputs inputs;
        inputs.model = told;
        Ordered after = document;
        coppice::prune(after, keep_one, inputs);
        const std::string bytes = document.dump();
        const coppice::PrunedBody same = coppice::prune(bytes, keep_one, inputs);
        CHECK(same.bytes(bytes) == after.dump());
        return thoughts(after);
    };
    const std::string all = thoughts(document);
    for (const char* const name : {"", "arn:aws:bedrock:us-east-1:1:application-inference-profile/abc"}) {
        CAPTURE(name);
        document["model"] = name;
        CHECK(left("") == "kept");
        CHECK(left("claude-opus-4-6") == all);
        CHECK(left("claude-fable-5-2") == "kept");
    }
    document["model"] = "arn:aws:bedrock:us-east-1:1:foundation-model/meta.llama4-maverick-v1:0";
    CHECK(left("") == all);
}

TEST_CASE("thinking_binding: the name decides whether or not there has been any thinking") {
    // before the first thought nothing may be cleared that would come back with it
    Ordered document = session_of_sizes(std::vector<std::size_t>(4, 3000));
    document["model"] = std::string(bound_model);
    CHECK(pruned(document, keep_one).unchanged());
    document["messages"].push_back(user("and now"));
    CHECK(fates(pruned(document, keep_one)) == "sss-");
    // a body that wants none gets none
    document["messages"].erase(document["messages"].size() - 1);
    document["thinking"] = {{"type", "disabled"}};
    CHECK(fates(pruned(document, keep_one)) == "sss-");
    // but what was thought before is bound still
    Ordered thinks = turns(1, 3);
    thinks["thinking"] = {{"type", "disabled"}};
    CHECK(thoughts(pruned(thinks, keep_one).after) == "kept");
}

namespace {

// A host that wants to see what the model thought in one message, and nothing of it dropped.
struct KeepThoughts {
    static constexpr std::string_view name = "keep_thoughts";
    std::size_t of_message = 0;

    bool allows(const coppice::Transcript& transcript, const coppice::Proposal& proposal) const {
        return proposal.fate != coppice::Fate::drop || transcript.all()[proposal.entry].message != of_message;
    }
};

// The same for the fourth message, and counts how often it is asked.
struct Counting {
    static constexpr std::string_view name = "counting";
    std::size_t* asked;

    bool allows(const coppice::Transcript& transcript, const coppice::Proposal& proposal) const {
        *asked += proposal.fate == coppice::Fate::drop;
        return KeepThoughts{3}.allows(transcript, proposal);
    }
};

// Drops the thinking that is neither oldest nor newest.
struct DropSecondTurn {
    static constexpr std::string_view name = "drop_second_turn";

    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
        const auto entries = transcript.entries();
        std::size_t turns = 0;
        std::size_t turn = coppice::none;
        for (std::size_t i = 0; i < entries.size(); ++i) {
            if (entries[i].kind != coppice::Kind::reasoning) { continue; }
            const std::size_t its = transcript.messages[entries[i].message].user_turn_at;
            turns += its != turn;
            turn = its;
            if (turns == 2) { plan.drop(i, name); }
        }
    }
};

struct DropAll {
    static constexpr std::string_view name = "drop_all";

    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
        for (std::size_t i = 0; i < transcript.entries().size(); ++i) {
            if (transcript.entries()[i].kind == coppice::Kind::reasoning) { plan.drop(i, name); }
        }
    }
};

// Sends a session request by request, each held against the one before; answers with how many of them rewrote something.
template <class Pipeline>
std::size_t send(const Ordered& whole, const Pipeline& pipeline) {
    Requests requests(whole);
    binding_validator::BindingValidator validator;
    std::size_t rewrites = 0;
    Ordered before = Ordered::array();
    while (requests.next()) {
        Ordered sent = requests.body();
        const coppice::Report report = coppice::prune(sent, pipeline);
        rewrites += report.rewrites;
        for (const std::string& violation : validator.feed(requests.body(), sent)) { CHECK_MESSAGE(false, violation); }
        const Ordered& now = messages_of(sent);
        const bool begins = before.size() <= now.size() && std::equal(before.begin(), before.end(), now.begin());
        CHECK(begins == !report.rewrites);
        before = now;
    }
    return rewrites;
}

}  // namespace

TEST_CASE("thinking_binding: a guard that keeps thinking keeps what is before it") {
    const Ordered document = turns(6, 3);
    // every place where something is thought, and one where nothing is
    for (std::size_t message = 0; message < document["messages"].size(); message += 3) {
        CAPTURE(message);
        const KeepThoughts guard{message};
        CHECK(send(document, coppice::Pipeline{coppice::KeepRecent<2>{}, guard}) >= 1);
        CHECK(send(document, coppice::Pipeline{coppice::KeepRecent<2>{}, coppice::StaleReasoning<1>{}, guard,
                                               coppice::SkiRental<coppice::prices::openai_half>{}}) >= 1);
    }
    // of the first turn's four thoughts the last one stays, so all of that turn does
    const Pruned p = pruned(document, coppice::Pipeline{coppice::KeepRecent<1>{}, KeepThoughts{9}});
    CHECK(thoughts(p.after) == "kept thought 0 thought 1 thought 2 end");
    CHECK(fates(p) == "---ssssssssssssss-");
}

TEST_CASE("thinking_binding: a second compaction opens nothing that was sent whole") {
    const Ordered compaction{{"type", "compaction"}, {"content", "so far"}};
    Ordered messages = list(user("go on"));
    for (std::size_t i = 0; i < 6; ++i) {
        Ordered step = thinking_step(i, i == 1 ? 40'000 : 3'000);
        if (i == 0 || i == 4) { step[0]["content"].insert(step[0]["content"].begin(), compaction); }
        append(messages, step);
    }
    messages.push_back(assistant("done"));
    messages.push_back(user("more"));
    append(messages, thinking_step(9));
    Ordered document = body(messages);
    for (const char* const model : {"claude-opus-5-5", "claude-sonnet-4-5"}) {
        CAPTURE(model);
        document["model"] = model;
        CHECK(send(document, coppice::Pipeline{coppice::CapOnArrival<>{}, coppice::KeepRecent<1>{}}) == 0);
        CHECK(send(document, coppice::Pipeline{coppice::Stepped<4>{}, coppice::KeepRecent<1>{}}) == 0);
    }
}

TEST_CASE("thinking_binding: what was pruned before the first thought stays as it is") {
    // nobody says which model it is, and it begins to think in the sixth step
    Ordered messages = list(user("go on"));
    for (std::size_t i = 0; i < 9; ++i) {
        Ordered step = thinking_step(i);
        if (i < 5) { step[0]["content"].erase(0); }
        append(messages, step);
    }
    messages.push_back(assistant_blocks(thinking("end"), text("answer")));
    messages.push_back(user("more"));
    append(messages, thinking_step(9));
    append(messages, thinking_step(10));
    messages.push_back(assistant("answer"));
    messages.push_back(user("and now"));
    Ordered document = body(messages);
    document.erase("model");
    constexpr coppice::CacheRules any{.look_back = 0, .minimum_tokens = 0};
    const coppice::KeepRecent<1> recent{};
    // three rewrites in the first steps, two where the user speaks
    CHECK(send(document, coppice::Pipeline{recent}) == 5);
    CHECK(send(document, coppice::Pipeline{recent, coppice::Dedup<>{}, coppice::StaleReasoning<1>{}}) == 5);
    CHECK(send(document, coppice::Pipeline{recent, coppice::Stepped<2>{}}) >= 3);
    CHECK(send(document, coppice::Pipeline{recent, coppice::SkiRental<coppice::prices::no_cache, coppice::Size{0},
                                                                      any>{}}) >= 4);
    CHECK(send(document, coppice::Pipeline{recent, coppice::MinReclaim<1'200>{}}) >= 2);
    CHECK(send(document, coppice::Pipeline{recent, coppice::CapOnArrival<coppice::chars(2500), 800, 400>{},
                                           coppice::Ceiling<coppice::Size{9'000}, 1>{}}) >= 1);
    const Pruned p = pruned(document, coppice::Pipeline{recent});
    CHECK(fates(p) == "ssssssssss-");
}

TEST_CASE("thinking_binding: who pruned before it was known whose model it is does not prune more the second time") {
    // no name, no thinking: the third request is in a tool loop, and at the fourth the user speaks
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 3; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered{{"path", std::to_string(i)}}, Ordered(filler(i, 3'000)));
    }
    messages.push_back(assistant("done"));
    messages.push_back(user("go on"));
    messages.push_back(assistant("done"));
    Ordered document = body(messages);
    document.erase("model");
    for (std::size_t requests = 1; requests <= 7; ++requests) {
        CAPTURE(requests);
        // `pruned` asks that the second time changes nothing
        const Pruned p = pruned(document, coppice::Pipeline{coppice::KeepRecent<0, coppice::Size{100}>{},
                                                            coppice::Stepped<>{.requests = requests}});
        CHECK(p.unchanged() == (requests == 7));
    }
}

TEST_CASE("thinking_binding: a giant turn that keeps one thought is asked for each of them once") {
    constexpr std::size_t steps = 1'000;
    const auto asked = [&](auto policy, std::string_view model) {
        std::size_t count = 0;
        coppice::plan(turns(1, steps, model), coppice::Pipeline{policy, Counting{&count}});
        return count;
    };
    const auto once = [&](std::size_t count) { return count > 0 && count < 10 * steps; };
    CHECK(once(asked(coppice::KeepRecent<1>{}, bound_model)));
    // a policy of the host's that wants each of them to go
    CHECK(once(asked(DropAll{}, bound_model)));
    CHECK(once(asked(DropAll{}, "claude-opus-4-6")));
}

TEST_CASE("thinking_binding: thinking that a policy drops from the middle takes all of it along") {
    const Ordered document = turns(5, 2);
    CHECK(send(document, coppice::Pipeline{DropSecondTurn{}, coppice::KeepRecent<100>{}}) >= 1);
    Ordered after = document;
    coppice::prune(after, coppice::Pipeline{DropSecondTurn{}});
    CHECK(thoughts(after) == "");
}

TEST_CASE("thinking_binding: what is shaped as it arrives is shaped in a tool loop, too") {
    Ordered messages = list(user("go on"));
    append(messages, thinking_step(0));
    append(messages, thinking_step(1, 200'000));
    append(messages, thinking_step(2));
    Ordered document = body(messages);
    document["model"] = std::string(bound_model);
    const Pruned p = pruned(document, coppice::Pipeline{coppice::CapOnArrival<>{}, coppice::KeepRecent<1>{}});
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].reason == "cap_on_arrival");
    CHECK(thoughts(p.after) == thoughts(p.before));
}

TEST_CASE("thinking_binding: reasoning in Bedrock is bound alike") {
    Ordered messages = Ordered::array();
    const auto say = [](const char* role, Ordered content) { return Ordered{{"role", role}, {"content", content}}; };
    for (std::size_t turn = 0; turn < 2; ++turn) {
        messages.push_back(say("user", list(Ordered{{"text", "question"}})));
        for (std::size_t step = 0; step < 2; ++step) {
            const std::string id = "t" + std::to_string(turn * 2 + step);
            messages.push_back(say(
                "assistant",
                list(Ordered{{"reasoningContent", {{"reasoningText", {{"text", id}, {"signature", "c2ln"}}}}}},
                     Ordered{{"toolUse", {{"toolUseId", id}, {"name", "Read"}, {"input", Ordered::object()}}}})));
            messages.push_back(
                say("user", list(Ordered{{"toolResult",
                                          {{"toolUseId", id},
                                           {"status", "success"},
                                           {"content", list(Ordered{{"text", filler(turn, 3000)}})}}}})));
        }
        messages.push_back(say("assistant", list(Ordered{{"text", "answer"}})));
    }
    messages.push_back(say("user", list(Ordered{{"text", "and now"}})));
    const Ordered document = {{"messages", messages}};
    Ordered after = document;
    const coppice::Report report = coppice::prune(after, keep_one);
    CHECK(report.dialect == "bedrock");
    const std::string left = after.dump();
    CHECK(left.find(R"("text":"t0")") == std::string::npos);
    CHECK(left.find(R"("text":"t1")") == std::string::npos);
    CHECK(left.find(R"("text":"t3")") == std::string::npos);
}
