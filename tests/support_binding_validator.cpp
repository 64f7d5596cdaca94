// SPDX-License-Identifier: MIT
#include "support/binding_validator.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

using binding_validator::BindingValidator;
using validation::Findings;
using validation::Json;
using validation::names;

/// What a session is spelled in.
enum class Shape { anthropic, bedrock };

Json thought(Shape shape, const std::string& words) {
    if (shape == Shape::anthropic) {
        return {{"type", "thinking"}, {"thinking", words}, {"signature", "s-" + words}};
    }
    return {{"reasoningContent", {{"reasoningText", {{"text", words}, {"signature", "s-" + words}}}}}};
}

Json hidden_thought(Shape shape, const std::string& data) {
    if (shape == Shape::anthropic) { return {{"type", "redacted_thinking"}, {"data", data}}; }
    return {{"reasoningContent", {{"redactedContent", data}}}};
}

Json text(Shape shape, const std::string& words) {
    return shape == Shape::anthropic ? Json{{"type", "text"}, {"text", words}} : Json{{"text", words}};
}

Json call(Shape shape, const std::string& id) {
    if (shape == Shape::anthropic) {
        return {{"type", "tool_use"}, {"id", id}, {"name", "read"}, {"input", {{"path", "/" + id}}}};
    }
    return {{"toolUse", {{"toolUseId", id}, {"name", "read"}, {"input", {{"path", "/" + id}}}}}};
}

Json result(Shape shape, const std::string& id) {
    const std::string words = "what " + id + " gave";
    if (shape == Shape::anthropic) {
        return {{"type", "tool_result"}, {"tool_use_id", id}, {"content", words}};
    }
    Json made = {{"toolUseId", id}, {"content", Json::array()}};
    made["content"].push_back(Json{{"text", words}});
    return {{"toolResult", std::move(made)}};
}

Json said(const std::string& role, std::vector<Json> blocks) {
    Json message = {{"role", role}, {"content", Json::array()}};
    for (Json& block : blocks) { message["content"].push_back(std::move(block)); }
    return message;
}

/// Two turns of a human, of three and of two rounds, and a third that ends it:
///
///     0 user   1 T1 call a   2 result a   3 T2 call b   4 result b   5 T3 "done"
///     6 user   7 T4 call c   8 result c   9 T5 call d  10 result d  11 T6 "done"
///     12 user
Json session(Shape shape) {
    Json body = {{"model", "m"}, {"system", "S"}, {"messages", Json::array()}};
    Json& messages = body["messages"];
    std::size_t thoughts = 0;
    const auto add = [&messages](const std::string& role, std::vector<Json> blocks) {
        messages.push_back(said(role, std::move(blocks)));
    };
    const auto think = [&] {
        const std::string name = "T" + std::to_string(++thoughts);
        return thoughts == 2 ? hidden_thought(shape, name) : thought(shape, name);
    };
    for (const std::vector<std::string>& turn : {std::vector<std::string>{"a", "b"}, {"c", "d"}}) {
        add("user", {text(shape, "go on")});
        for (const std::string& id : turn) {
            add("assistant", {think(), call(shape, id)});
            add("user", {result(shape, id)});
        }
        add("assistant", {think(), text(shape, "done")});
    }
    add("user", {text(shape, "thanks")});
    return body;
}

Json first(const Json& body, std::size_t count) {
    Json cut = body;
    while (cut["messages"].size() > count) { cut["messages"].erase(cut["messages"].size() - 1); }
    return cut;
}

Json& blocks(Json& body, std::size_t message) { return body["messages"][message]["content"]; }

/// What became of a tool result.
void shorten(Json& body, std::size_t message) {
    Json& block = blocks(body, message)[0];
    if (block.contains("content")) {
        block["content"] = "[cleared]";
    } else {
        block["toolResult"]["content"][0]["text"] = "[cleared]";
    }
}

void drop_thinking(Json& body, std::size_t message) { blocks(body, message).erase(0); }

/// Follows a session: what the client has grows by itself, what is sent is said for each request.
class Followed {
public:
    explicit Followed(Shape shape, bool bound = true) : whole_(session(shape)), validator_(bound) {}

    Json cut(std::size_t count) const { return first(whole_, count); }
    Findings as_it_is(std::size_t count) { return validator_.feed(cut(count), cut(count)); }
    template <class Change>
    Findings changed(std::size_t count, Change change) {
        Json sent = cut(count);
        change(sent);
        return validator_.feed(cut(count), sent);
    }
    /// All requests up to this one, as they are.
    void up_to(std::size_t count) {
        for (const std::size_t request : {1U, 3U, 5U, 7U, 9U, 11U, 13U}) {
            if (request <= count) { CHECK(as_it_is(request) == Findings{}); }
        }
    }
    BindingValidator& validator() { return validator_; }

private:
    Json whole_;
    BindingValidator validator_;
};

/// A case in both spellings.
template <class Check>
void in_both(Check check) {
    for (const Shape shape : {Shape::anthropic, Shape::bedrock}) {
        CAPTURE(static_cast<int>(shape));
        check(shape);
    }
}

}  // namespace

TEST_CASE("binding validator: a history that only grows keeps every rule") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(13);
        CHECK(session.validator().thinking() == 6);
        CHECK(session.validator().kept() == 6);
    });
}

TEST_CASE("binding validator: an edit before a kept block, and none behind the last one") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(7);
        // behind T4, which is the last there is
        CHECK(session.changed(9, [](Json& sent) { shorten(sent, 8); }) == Findings{});
        // T5 and T6 saw the short one
        CHECK(session.changed(11, [](Json& sent) { shorten(sent, 8); }) == Findings{});
        CHECK(session.changed(13, [](Json& sent) { shorten(sent, 8); }) == Findings{});
    });
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(11);
        CHECK(session.changed(13, [](Json& sent) { shorten(sent, 4); }) ==
              Findings{"A-Δ2 messages[5].content[0]", "A-Δ2 messages[7].content[0]",
                       "A-Δ2 messages[9].content[0]", "A-Δ2 messages[11].content[0]"});
    });
}

TEST_CASE("binding validator: a result that is whole again is an edit too") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(7);
        CHECK(session.changed(9, [](Json& sent) { shorten(sent, 8); }) == Findings{});
        CHECK(session.as_it_is(11) == Findings{"A-Δ2 messages[9].content[0]"});
    });
}

TEST_CASE("binding validator: in the edited message itself, what stands behind the edit") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(9);
        const auto edit_the_call = [](Json& sent) {
            Json& block = blocks(sent, 7)[1];
            (block.contains("input") ? block : block["toolUse"])["input"]["path"] = "/";
        };
        CHECK(session.changed(11, edit_the_call) == Findings{"A-Δ2 messages[9].content[0]"});
    });
}

TEST_CASE("binding validator: system prompt and tools stand before everything") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(3);
        CHECK(session.changed(5, [](Json& sent) { sent["system"] = "T"; }) ==
              Findings{"A-Δ2 messages[1].content[0]", "A-Δ2 messages[3].content[0]"});
    });
}

TEST_CASE("binding validator: a model that does not bind takes edits, and a server that drops by itself") {
    in_both([](Shape shape) {
        Followed session(shape, false);
        session.up_to(11);
        CHECK(session.changed(13, [](Json& sent) { shorten(sent, 4); }) == Findings{});
    });
    for (const bool nested : {false, true}) {
        Json had = session(Shape::anthropic);
        const Json drops = {{"block_binding", {{"prefix_mismatch_behavior", "drop_block"}}}};
        (nested ? had["additionalModelRequestFields"] : had)["thinking"] = drops;
        BindingValidator validator;
        CHECK(validator.feed(first(had, 11), first(had, 11)) == Findings{});
        Json sent = had;
        shorten(sent, 4);
        CHECK(validator.feed(had, sent) == Findings{});
    }
}

TEST_CASE("binding validator: cache marks and the order of keys are no edits") {
    Followed session(Shape::anthropic);
    session.up_to(11);
    CHECK(session.changed(13, [](Json& sent) {
        blocks(sent, 4)[0]["cache_control"] = {{"type", "ephemeral"}};
        Json& block = blocks(sent, 8)[0];
        block = Json{{"content", block["content"]}, {"tool_use_id", "c"}, {"type", "tool_result"}};
        Json& thinking = blocks(sent, 5)[0];
        thinking = Json{{"signature", "s-T3"}, {"thinking", "T3"}, {"type", "thinking"}};
    }) == Findings{});
    Followed points(Shape::bedrock);
    points.up_to(11);
    CHECK(points.changed(13, [](Json& sent) {
        blocks(sent, 4).push_back(Json{{"cachePoint", {{"type", "default"}}}});
    }) == Findings{});
}

TEST_CASE("binding validator: the newest thinking behind an edit leaves when the human speaks") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(5);
        const auto clear = [](Json& sent) {
            shorten(sent, 4);
            drop_thinking(sent, 5);
        };
        CHECK(session.changed(7, clear) == Findings{});
        // what is made from now on is bound to the short result, and to the absence of T3
        CHECK(session.changed(9, clear) == Findings{});
        CHECK(session.changed(11, clear) == Findings{});
        CHECK(session.validator().kept() == 4);
        CHECK(session.changed(13, [&](Json& sent) {
            clear(sent);
            shorten(sent, 2);
            for (const std::size_t message : {3U, 7U, 9U, 11U}) { drop_thinking(sent, message); }
        }) == Findings{});
        CHECK(session.validator().kept() == 1);
    });
}

TEST_CASE("binding validator: oldest first, and all of it") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(5);
        CHECK(session.changed(7, [](Json& sent) { drop_thinking(sent, 1); }) == Findings{});
        CHECK(session.changed(9, [](Json& sent) { drop_thinking(sent, 1); }) == Findings{});
        CHECK(session.changed(11, [](Json& sent) { drop_thinking(sent, 1); }) == Findings{});
        CHECK(session.changed(13, [](Json& sent) {
            for (const std::size_t message : {1U, 3U, 5U, 7U, 9U, 11U}) { drop_thinking(sent, message); }
            shorten(sent, 2);
            shorten(sent, 10);
        }) == Findings{});
        CHECK(session.validator().kept() == 0);
    });
}

TEST_CASE("binding validator: thinking that leaves from the middle") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(5);
        CHECK(session.changed(7, [](Json& sent) { drop_thinking(sent, 3); }) ==
              Findings{"A-Δ1 messages[3].content[0] (middle)"});
        // that it is out is no new fault
        CHECK(session.changed(9, [](Json& sent) { drop_thinking(sent, 3); }) == Findings{});
    });
}

TEST_CASE("binding validator: thinking that comes back") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(5);
        CHECK(session.changed(7, [](Json& sent) { drop_thinking(sent, 5); }) == Findings{});
        CHECK(session.as_it_is(9) == Findings{"A-Σ1 messages[5].content[0]"});
        CHECK(session.as_it_is(11) == Findings{});
    });
}

TEST_CASE("binding validator: thinking of an open loop stays") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(9);
        CHECK(session.changed(11, [](Json& sent) { drop_thinking(sent, 9); }) ==
              Findings{"A-Δ3 messages[9].content[0]"});
    });
    // oldest first would do if it did not reach into the loop
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(9);
        CHECK(session.changed(11, [](Json& sent) {
            for (const std::size_t message : {1U, 3U, 5U}) { drop_thinking(sent, message); }
        }) == Findings{});
    });
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(9);
        CHECK(session.changed(11, [](Json& sent) {
            for (const std::size_t message : {1U, 3U, 5U, 7U}) { drop_thinking(sent, message); }
        }) == Findings{"A-Δ3 messages[7].content[0]"});
    });
}

TEST_CASE(
    "binding validator: what a human says beside results ends a loop, what a mark or a system says does "
    "not") {
    struct Beside {
        std::vector<Json> blocks;
        bool ends;
    };
    for (const Beside& beside : {Beside{{text(Shape::anthropic, "and now")}, true}, Beside{{}, false}}) {
        Json had = first(session(Shape::anthropic), 5);
        for (const Json& block : beside.blocks) { blocks(had, 4).push_back(block); }
        if (!beside.ends) { had["messages"].push_back(Json{{"role", "system"}, {"content", "low effort"}}); }
        Json sent = had;
        drop_thinking(sent, 3);
        BindingValidator validator;
        CHECK(validator.feed(first(had, 3), first(had, 3)) == Findings{});
        CHECK(names(validator.feed(had, sent), "A-Δ3") == !beside.ends);
    }
    Json had = first(session(Shape::bedrock), 5);
    blocks(had, 4).push_back(Json{{"cachePoint", {{"type", "default"}}}});
    Json sent = had;
    drop_thinking(sent, 3);
    CHECK(names(BindingValidator().feed(had, sent), "A-Δ3"));
}

TEST_CASE("binding validator: a changed block, and one that is nobody's") {
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(9);
        CHECK(session.changed(11, [shape](Json& sent) {
            blocks(sent, 5)[0] = thought(shape, "T3 in short");
        }) == Findings{"A-Δ1 messages[5].content[0] (changed)"});
    });
    in_both([](Shape shape) {
        Followed session(shape);
        session.up_to(9);
        CHECK(session.changed(11, [shape](Json& sent) {
            blocks(sent, 7).insert(blocks(sent, 7).begin(), thought(shape, "of my own"));
        }) == Findings{"A-Δ1 messages[7].content[0] (changed)"});
    });
}

TEST_CASE("binding validator: two blocks of one message that change places") {
    Json had = session(Shape::anthropic);
    blocks(had, 5).insert(blocks(had, 5).begin(), thought(Shape::anthropic, "T0"));
    Json sent = had;
    std::swap(blocks(sent, 5)[0], blocks(sent, 5)[1]);
    CHECK(names(BindingValidator().feed(had, sent), "A-Δ1"));
    sent = had;
    blocks(sent, 5).erase(0);
    CHECK(BindingValidator().feed(had, sent) == Findings{"A-Δ1 messages[5].content[0] (middle)"});
}

TEST_CASE("binding validator: thinking that was there before the first request saw what the client had") {
    in_both([](Shape shape) {
        Json sent = session(shape);
        shorten(sent, 8);
        CHECK(BindingValidator().feed(session(shape), sent) ==
              Findings{"A-Δ2 messages[9].content[0]", "A-Δ2 messages[11].content[0]"});
    });
}

TEST_CASE("binding validator: requests that are left out sent how the next one begins") {
    in_both([](Shape shape) {
        const Json whole = session(shape);
        Json sent = whole;
        shorten(sent, 8);
        BindingValidator validator;
        CHECK(validator.skip_to(first(whole, 11), first(sent, 11)) == Findings{});
        CHECK(validator.feed(whole, sent) == Findings{});
        CHECK(validator.skip_to(whole, whole) ==
              Findings{"A-Δ2 messages[9].content[0]", "A-Δ2 messages[11].content[0]"});
    });
}

TEST_CASE("binding validator: what is no request of the same session") {
    const Json whole = session(Shape::anthropic);
    BindingValidator validator;
    CHECK(names(validator.feed(whole, first(whole, 12)), "U-Δ1"));
    CHECK(names(validator.feed(Json::object(), whole), "U-Δ1"));
    CHECK(validator.feed(whole, whole) == Findings{});
    CHECK(names(validator.feed(first(whole, 11), first(whole, 11)), "U-Δ1"));
}
