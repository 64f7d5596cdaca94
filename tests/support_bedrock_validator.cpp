// SPDX-License-Identifier: MIT
#include "support/bedrock_validator.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "support/spoiled_nodes.hpp"

namespace {

using bedrock_validator::AllowedChanges;
using bedrock_validator::bound_reasoning_violations;
using bedrock_validator::changes_forbidden;
using bedrock_validator::Findings;
using bedrock_validator::Json;
using bedrock_validator::new_violations;
using bedrock_validator::violations;
using validation::names;

/// Two rounds with reasoning, cache points, media, and a result not yet read.
Json valid_body() {
    return Json::parse(R"({
      "modelId": "m",
      "system": [{"text": "S"}, {"cachePoint": {"type": "default"}}],
      "toolConfig": {"tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}}]},
      "inferenceConfig": {"maxTokens": 64},
      "messages": [
        {"role": "user", "content": [
          {"text": "open it"},
          {"document": {"format": "pdf", "name": "d", "source": {"bytes": "JVBERi0="}}},
          {"guardContent": {"text": {"text": "g"}}}]},
        {"role": "assistant", "content": [
          {"reasoningContent": {"reasoningText": {"text": "first", "signature": "c2ln"}}},
          {"text": "Reading."},
          {"toolUse": {"toolUseId": "t1", "name": "read", "input": {"path": "/a.c", "limit": 10}}},
          {"toolUse": {"toolUseId": "t2", "name": "shot", "input": {}}}]},
        {"role": "user", "content": [
          {"toolResult": {"toolUseId": "t1", "status": "success", "content": [
            {"text": "a long text that is worth being shortened"},
            {"json": {"n": 1, "words": "a few of them"}}]}},
          {"toolResult": {"toolUseId": "t2", "content": [
            {"text": "the whole page"},
            {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}]}},
          {"cachePoint": {"type": "default"}},
          {"text": "and explain"}]},
        {"role": "assistant", "content": [
          {"reasoningContent": {"redactedContent": "ZW5j"}},
          {"citationsContent": {"content": [{"text": "cited"}], "citations": []}},
          {"toolUse": {"toolUseId": "t3", "name": "write", "input": {
            "path": "/b.c", "content": "int main() { return 0; }", "mode": 1.0, "size": 9223372036854775808,
            "where": {"host": "a host of some name"}, "words": ["a word", "another word"],
            "edits": [{"old": "some old text", "new": "some new text", "line": 3}]}}}]},
        {"role": "user", "content": [
          {"toolResult": {"toolUseId": "t3", "content": [{"text": "the disk is full, as so often"}],
                          "status": "error"}},
          {"searchResult": {"source": "u", "title": "t", "content": [{"text": "found"}]}}]},
        {"role": "assistant", "content": [
          {"reasoningContent": {"reasoningText": {"text": "third", "signature": "c2lo"}}},
          {"toolUse": {"toolUseId": "t4", "name": "read", "input": {
            "path": "/e.c", "why": "for no reason at all"}}}]},
        {"role": "user", "content": [
          {"toolResult": {"toolUseId": "t4", "content": [{"text": "a result nobody has read so far"}]}}]}
      ]})");
}

Json& block(Json& body, std::size_t message, std::size_t index) {
    return body["messages"][message]["content"][index];
}

Json& result(Json& body, std::size_t message, std::size_t index) {
    return block(body, message, index)["toolResult"];
}

Json& call(Json& body, std::size_t message, std::size_t index) {
    return block(body, message, index)["toolUse"];
}

Json text_block(std::string_view text) { return Json::object({{"text", std::string{text}}}); }

Json cache_point() { return Json::parse(R"({"cachePoint": {"type": "default"}})"); }

bool names_exactly(const Findings& findings, std::string_view finding) {
    return findings.size() == 1 && findings.front() == finding;
}

}  // namespace

TEST_CASE("bedrock validator: a valid body has no findings") {
    const Json body = valid_body();
    CHECK(violations(body) == Findings{});
    CHECK(violations(body["messages"]) == Findings{});
    CHECK(new_violations(body, body) == Findings{});
    CHECK(new_violations(body["messages"], body["messages"]) == Findings{});
    CHECK(bound_reasoning_violations(body, body) == Findings{});
}

TEST_CASE("bedrock validator: what is no request body") {
    CHECK(names_exactly(violations(Json::object()), "U-V1 body"));
    CHECK(names_exactly(violations(Json("text")), "U-V1 body"));
    CHECK(names_exactly(violations(Json{{"messages", "text"}}), "U-V1 body"));
    CHECK(violations(Json::array()) == Findings{});
    CHECK(new_violations(Json::object(), Json::object()) == Findings{});
    CHECK(names_exactly(changes_forbidden(Json::object(), Json("text")), "U-Δ3 body"));
    CHECK(names_exactly(changes_forbidden(valid_body(), valid_body()["messages"]), "U-Δ3 body"));
}

TEST_CASE("bedrock validator: deep bodies are not looked into") {
    Json deep = "x";
    for (std::size_t i = 0; i < bedrock_validator::max_depth; ++i) { deep = Json::array({std::move(deep)}); }
    CHECK(names(violations(deep), "B-V1"));
    deep = Json::array({std::move(deep)});
    CHECK(names_exactly(violations(deep), "U-V1 body"));
    CHECK(new_violations(deep, deep) == Findings{});
    CHECK(names_exactly(new_violations(deep, Json::array({deep})), "U-Δ3 body"));

    for (std::size_t i = 0; i < 100000; ++i) { deep = Json::array({std::move(deep)}); }
    CHECK(names_exactly(violations(deep), "U-V1 body"));
    CHECK(new_violations(deep, deep) == Findings{});
    CHECK(bound_reasoning_violations(deep, deep) == Findings{});
}

TEST_CASE("bedrock validator: strings must be UTF-8") {
    Json body = valid_body();
    result(body, 2, 0)["content"][0]["text"] = "cut \xf0\x9f\x98";
    CHECK(names_exactly(violations(body), "U-V1 messages[2]"));
    result(body, 2, 0)["content"][0]["text"] = "\u00e9\u6f22\U0001f600";
    CHECK(violations(body) == Findings{});
    body["system"][0]["text"] = "\xff";
    CHECK(names_exactly(violations(body), "U-V1 system"));
}

TEST_CASE("bedrock validator: blocks are unions of one key") {
    for (const Json& content : {Json("text"), Json::array(), Json(nullptr), Json::object()}) {
        Json body = valid_body();
        body["messages"][0]["content"] = content;
        CHECK(names_exactly(violations(body), "B-V1 messages[0]"));
    }
    for (const Json& broken : {Json::object(), Json(nullptr), Json("text"), Json{{"image", "x"}},
                               Json{{"video", nullptr}}, Json{{"image", Json::object()}, {"text", "t"}}}) {
        Json body = valid_body();
        block(body, 0, 2) = broken;
        CHECK(names_exactly(violations(body), "B-V1 messages[0].content[2]"));
        body = valid_body();
        result(body, 2, 0)["content"][1] = broken;
        CHECK(names_exactly(violations(body), "B-V1 messages[2].content[0].toolResult.content[1]"));
    }
    Json body = valid_body();
    block(body, 0, 2) = Json{{"hologram", Json::object()}};
    CHECK(violations(body) == Findings{});
}

TEST_CASE("bedrock validator: every call has one result") {
    SUBCASE("a stripped result") {
        Json body = valid_body();
        body["messages"][2]["content"].erase(0);
        CHECK(names(violations(body), "B-V2"));
    }
    SUBCASE("a doubled result") {
        Json body = valid_body();
        body["messages"][4]["content"].push_back(block(body, 4, 0));
        CHECK(names_exactly(violations(body), "B-V2 messages[3].content[2]"));
    }
    SUBCASE("a stripped call") {
        Json body = valid_body();
        body["messages"][1]["content"].erase(3);
        CHECK(names_exactly(violations(body), "B-V2 messages[2].content[1]"));
    }
    SUBCASE("results in any order") {
        Json body = valid_body();
        std::swap(block(body, 2, 0), block(body, 2, 1));
        CHECK(violations(body) == Findings{});
    }
    SUBCASE("one id for two calls") {
        Json body = valid_body();
        call(body, 1, 3)["toolUseId"] = "t1";
        result(body, 2, 1)["toolUseId"] = "t1";
        CHECK(violations(body) == Findings{"B-V2 messages[1].content[2]", "B-V2 messages[1].content[3]"});
    }
    SUBCASE("a result in an assistant message") {
        Json body = valid_body();
        body["messages"][3]["content"].push_back(block(body, 2, 0));
        CHECK(names_exactly(violations(body), "B-V2 messages[3].content[3]"));
    }
    SUBCASE("a call in a user message") {
        Json body = valid_body();
        body["messages"][0]["content"].push_back(block(body, 5, 1));
        CHECK(names_exactly(violations(body), "B-V2 messages[0].content[3]"));
    }
    SUBCASE("no message after the call") {
        Json body = valid_body();
        body["messages"].erase(6);
        CHECK(names_exactly(violations(body), "B-V2 messages[5].content[1]"));
    }
}

TEST_CASE("bedrock validator: contents of results") {
    for (const Json& content : {Json("text"), Json::array(), Json(nullptr), Json::object()}) {
        Json body = valid_body();
        result(body, 2, 0)["content"] = content;
        CHECK(names_exactly(violations(body), "B-V3 messages[2].content[0]"));
    }
    Json body = valid_body();
    result(body, 2, 0).erase("content");
    CHECK(names_exactly(violations(body), "B-V3 messages[2].content[0]"));
    for (const char* const text : {"", " ", "\t\r\n", "\u00a0\u3000"}) {
        body = valid_body();
        result(body, 2, 1)["content"][0] = text_block(text);
        CHECK(names_exactly(violations(body), "B-V3 messages[2].content[1].toolResult.content[0]"));
    }
    for (const Json& value : {Json("{}"), Json::array(), Json(7)}) {
        body = valid_body();
        result(body, 2, 0)["content"][1]["json"] = value;
        CHECK(names(violations(body), "B-V3"));
    }
    body = valid_body();
    result(body, 2, 0)["content"][1]["json"] = Json::object();
    CHECK(violations(body) == Findings{});
}

TEST_CASE("bedrock validator: a failed call says something") {
    Json body = valid_body();
    result(body, 4, 0)["content"] = Json::array();
    CHECK(violations(body) == Findings{"B-V3 messages[4].content[0]", "B-V4 messages[4].content[0]"});
    result(body, 4, 0).erase("content");
    CHECK(names(violations(body), "B-V4"));
    result(body, 4, 0)["status"] = "success";
    CHECK_FALSE(names(violations(body), "B-V4"));

    const Json in = valid_body();
    for (const Json& status : {Json("success"), Json(nullptr), Json("")}) {
        Json out = in;
        result(out, 4, 0)["status"] = status;
        CHECK(names_exactly(changes_forbidden(in, out), "B-V4 messages[4].content[0].toolResult.status"));
    }
    Json out = in;
    result(out, 4, 0).erase("status");
    CHECK(names(changes_forbidden(in, out), "B-V4"));
    out = in;
    result(out, 2, 1)["status"] = "success";
    CHECK(names(changes_forbidden(in, out), "B-V4"));
}

TEST_CASE("bedrock validator: texts of messages") {
    for (const char* const text : {"", " ", "\t\r\n", "\u00a0\u3000"}) {
        Json body = valid_body();
        block(body, 1, 1)["text"] = text;
        CHECK(names_exactly(violations(body), "B-V5 messages[1].content[1]"));
    }
    Json body = valid_body();
    block(body, 1, 1)["text"] = 7;
    CHECK(violations(body) == Findings{"B-V1 messages[1].content[1]", "B-V5 messages[1].content[1]"});

    for (const char* const text : {"So ", "So\n", "So\u00a0", "So\u3000"}) {
        body = valid_body();
        block(body, 1, 1)["text"] = text;
        CHECK(violations(body) == Findings{});
        body["messages"].push_back(Json{{"role", "assistant"}, {"content", Json::array({text_block(text)})}});
        CHECK(names_exactly(violations(body), "B-V5 messages[7].content[0] (end)"));
    }
    for (const char* const text : {"So", "\u3000So\u6f22"}) {
        body = valid_body();
        body["messages"].push_back(Json{{"role", "assistant"}, {"content", Json::array({text_block(text)})}});
        CHECK(violations(body) == Findings{});
    }
}

TEST_CASE("bedrock validator: cache points") {
    SUBCASE("never first or alone") {
        Json body = valid_body();
        std::swap(block(body, 2, 0), block(body, 2, 2));
        CHECK(names_exactly(violations(body), "B-V6 messages[2].content[0]"));
        body = valid_body();
        body["messages"][0]["content"] = Json::array({cache_point()});
        CHECK(names_exactly(violations(body), "B-V6 messages[0].content[0]"));
        body = valid_body();
        body["system"].erase(0);
        CHECK(names_exactly(violations(body), "B-V6 system[0]"));
        body = valid_body();
        body["toolConfig"]["tools"] = Json::array({cache_point()});
        CHECK(names_exactly(violations(body), "B-V6 toolConfig.tools[0]"));
        body = valid_body();
        result(body, 2, 0)["content"][0] = cache_point();
        CHECK(names_exactly(violations(body), "B-V6 messages[2].content[0].toolResult.content[0]"));
    }
    SUBCASE("at most four") {
        Json body = valid_body();
        body["toolConfig"]["tools"].push_back(cache_point());
        body["messages"][4]["content"].push_back(cache_point());
        CHECK(violations(body) == Findings{});
        body["messages"][6]["content"].push_back(cache_point());
        CHECK(names_exactly(violations(body), "B-V6 body"));
    }
    SUBCASE("none added, removed, moved, changed") {
        const Json in = valid_body();
        Json out = in;
        out["messages"][4]["content"].push_back(cache_point());
        CHECK(changes_forbidden(in, out) ==
              Findings{"B-V6 messages[4].content[2]", "U-Δ2 messages[4].content"});
        CHECK(names(changes_forbidden(out, in), "B-V6"));
        out = in;
        std::swap(block(out, 2, 2), block(out, 2, 3));
        CHECK(names(changes_forbidden(in, out), "B-V6"));
        out = in;
        block(out, 2, 2)["cachePoint"]["ttl"] = "1h";
        CHECK(names_exactly(changes_forbidden(in, out), "B-V6 messages[2].content[2]"));
    }
}

TEST_CASE("bedrock validator: a document needs a text beside it") {
    Json body = valid_body();
    body["messages"][0]["content"].erase(0);
    CHECK(names_exactly(violations(body), "B-V7 messages[0]"));
    body = valid_body();  // inside a result it does not
    result(body, 6, 0)["content"][0] = block(body, 0, 1);
    CHECK(violations(body) == Findings{});
}

TEST_CASE("bedrock validator: ids") {
    for (const Json& id : {Json(""), Json("t 5"), Json("t.5"), Json(std::string(65, 'x')), Json(7),
                           Json(nullptr), Json("\u00e9")}) {
        Json body = valid_body();
        call(body, 5, 1)["toolUseId"] = id;
        result(body, 6, 0)["toolUseId"] = id;
        CHECK(violations(body) == Findings{"B-V8 messages[5].content[1]", "B-V8 messages[6].content[0]"});
    }
    for (const std::string& id : {std::string(64, 'x'), std::string{"aZ_0-9"}}) {
        Json body = valid_body();
        call(body, 5, 1)["toolUseId"] = id;
        result(body, 6, 0)["toolUseId"] = id;
        CHECK(violations(body) == Findings{});
    }
}

TEST_CASE("bedrock validator: messages and roles stay") {
    const Json in = valid_body();
    Json out = in;
    out["messages"].erase(6);
    CHECK(changes_forbidden(in, out) == Findings{"U-Δ1 messages", "U-Δ2 messages"});
    out = in;
    out["messages"].push_back(in["messages"][0]);
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ1 messages"));
    out = in;
    out["messages"][4]["role"] = "assistant";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ1 messages[4]"));
    out = in;
    out["messages"][4]["note"] = "n";
    CHECK(names(changes_forbidden(in, out), "U-Δ3"));
}

TEST_CASE("bedrock validator: replaced results") {
    const Json in = valid_body();
    Json out = in;
    SUBCASE("all parts become one text or several") {
        result(out, 2, 0)["content"] = Json::array({text_block("[pruned]")});
        result(out, 2, 1)["content"] = Json::array({text_block("[pruned]")});
        result(out, 4, 0)["content"] = Json::array({text_block("[p]"), text_block("[q]")});
        CHECK(new_violations(in, out) == Findings{});
        CHECK(new_violations(in["messages"], out["messages"]) == Findings{});
    }
    SUBCASE("one part in its place") {
        result(out, 2, 0)["content"][1] = text_block("[json pruned]");
        result(out, 2, 1)["content"][1] = text_block("[image pruned]");
        CHECK(new_violations(in, out) == Findings{});
    }
    SUBCASE("the kept parts are whole and in order") {
        Json before = in;
        result(before, 2, 1)["content"].push_back(text_block("a line below the page"));
        out = before;
        result(out, 2, 1)["content"].erase(0);
        CHECK(new_violations(before, out) == Findings{});
        result(out, 2, 1)["content"][0]["image"]["source"]["bytes"] = "iVBO";
        CHECK(names(new_violations(before, out), "U-Δ3"));
        result(before, 2, 1)["content"][2] = result(before, 2, 1)["content"][1];
        result(before, 2, 1)["content"][2]["image"]["format"] = "gif";
        out = before;
        std::swap(result(out, 2, 1)["content"][1], result(out, 2, 1)["content"][2]);
        result(out, 2, 1)["content"].erase(0);
        CHECK(names(new_violations(before, out), "U-Δ3"));
    }
    SUBCASE("blank or none") {
        for (const char* const blank : {"", " \n", "\u00a0"}) {
            result(out, 2, 0)["content"] = Json::array({text_block(blank)});
            CHECK(names(changes_forbidden(in, out), "U-Δ4"));
            result(out, 2, 0)["content"] = in["messages"][2]["content"][0]["toolResult"]["content"];
            result(out, 2, 0)["content"][1] = text_block(blank);
            CHECK(names_exactly(changes_forbidden(in, out),
                                "U-Δ4 messages[2].content[0].toolResult.content[1] (blank)"));
        }
        result(out, 2, 0)["content"] = Json::array();
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ4 messages[2].content[0].toolResult.content (blank)"));
        result(out, 2, 0).erase("content");
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
    }
    SUBCASE("not smaller") {
        result(out, 4, 0)["content"][0] = text_block("the disk is full, as always !");
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ4 messages[4].content[0].toolResult.content (not smaller)"));
    }
    SUBCASE("another kind") {
        result(out, 2, 0)["content"] = "[pruned]";
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ4 messages[2].content[0].toolResult.content (kind)"));
        Json broken = in;
        result(broken, 2, 0)["content"] = "a text where a list belongs";
        out = broken;
        result(out, 2, 0)["content"] = "[pruned]";
        CHECK(names_exactly(new_violations(broken, out), "U-Δ3 messages[2].content[0].toolResult.content"));
    }
    SUBCASE("only texts come in") {
        for (const Json& part : {Json("x"), Json{{"json", Json::object()}}, Json{{"text", 7}},
                                 Json{{"text", "[p]"}, {"note", "n"}}}) {
            out = in;
            result(out, 2, 0)["content"][1] = part;
            CHECK(names(changes_forbidden(in, out), "U-Δ3"));
            result(out, 2, 0)["content"] = Json::array({part});
            CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        }
    }
    SUBCASE("unknown parts stay") {
        Json before = in;
        result(before, 2, 0)["content"][1] = Json{{"hologram", Json{{"data", "x"}}}};
        out = before;
        result(out, 2, 0)["content"][0] = text_block("[pruned]");
        CHECK(new_violations(before, out) == Findings{});
        result(out, 2, 0)["content"].erase(1);
        CHECK(names_exactly(new_violations(before, out),
                            "U-Δ3 messages[2].content[0].toolResult.content[1] (part)"));
        result(out, 2, 0)["content"].push_back(text_block("[p]"));
        CHECK(names_exactly(new_violations(before, out),
                            "U-Δ3 messages[2].content[0].toolResult.content[1] (part)"));
    }
    SUBCASE("id and other fields") {
        result(out, 2, 0)["toolUseId"] = "t9";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ2 messages[2].content[0]"));
        out = in;
        result(out, 2, 0)["note"] = "n";
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        result(out, 4, 0) =
            Json::parse(R"({"toolUseId": "t3", "status": "error", "content": [{"text": "[p]"}]})");
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[4].content[0].toolResult (keys)"));
    }
    SUBCASE("not read by the model yet") {
        result(out, 6, 0)["content"][0] = text_block("[pruned]");
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[6].content[0].toolResult (unread)"));
        AllowedChanges loose;
        loose.unread_results = true;
        CHECK(new_violations(in, out, loose) == Findings{});
    }
}

TEST_CASE("bedrock validator: replaced inputs") {
    const Json in = valid_body();
    Json out = in;
    Json& input = call(out, 3, 2)["input"];
    SUBCASE("strings at any depth") {
        input["content"] = "[pruned]";
        input["edits"][0]["old"] = "[pruned]";
        input["edits"][0]["new"] = "[pruned]";
        input["where"]["host"] = "[p]";
        input["words"][1] = "[p]";
        CHECK(new_violations(in, out) == Findings{});
    }
    SUBCASE("no others") {
        input["where"] = "[p]";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[3].content[2].toolUse.input.where"));
        out = in;
        call(out, 3, 2)["input"]["where"]["host"] = 7;
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[3].content[2].toolUse.input.where.host"));
        out = in;
        call(out, 3, 2)["input"]["words"].erase(1);
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        call(out, 3, 2)["input"]["words"][1] = " ";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ4 messages[3].content[2].toolUse.input.words[1] (blank)"));
        out = in;
        call(out, 3, 2)["input"]["content"] = 7;
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        call(out, 3, 2)["input"].erase("path");
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        call(out, 3, 2)["input"] = "x";
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        call(out, 3, 2).erase("input");
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
    }
    SUBCASE("blank or not smaller") {
        input["content"] = " ";
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ4 messages[3].content[2].toolUse.input.content (blank)"));
        input["content"] = "int main() { return 1; }";
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ4 messages[3].content[2].toolUse.input (not smaller)"));
    }
    SUBCASE("of a call whose result was not read") {
        call(out, 5, 1)["input"]["why"] = "[p]";
        CHECK(
            names_exactly(changes_forbidden(in, out), "U-Δ3 messages[5].content[1].toolUse.input (unread)"));
        AllowedChanges loose;
        loose.unread_results = true;
        CHECK(new_violations(in, out, loose) == Findings{});
        Json before = in;
        before["messages"].erase(6);
        out = before;
        call(out, 5, 1)["input"]["why"] = "[p]";
        CHECK(names_exactly(new_violations(before, out, loose),
                            "U-Δ3 messages[5].content[1].toolUse.input (unanswered)"));
    }
    SUBCASE("name and id") {
        call(out, 1, 2)["name"] = "look";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[1].content[2].toolUse.name"));
        out = in;
        call(out, 1, 2)["toolUseId"] = "t9";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ2 messages[1].content[2]"));
    }
}

TEST_CASE("bedrock validator: reasoning stays") {
    const Json in = valid_body();
    Json out = in;
    block(out, 1, 0)["reasoningContent"]["reasoningText"]["signature"] = "c2lp";
    CHECK(changes_forbidden(in, out) == Findings{"B-Δ1 messages[1].content[0]", "U-Δ6 messages"});
    out = in;
    block(out, 3, 0)["reasoningContent"]["redactedContent"] = "ZW5k";
    CHECK(changes_forbidden(in, out) == Findings{"B-Δ1 messages[3].content[0]", "U-Δ6 messages"});
    out = in;
    std::swap(block(out, 1, 0), block(out, 1, 1));
    CHECK(names(changes_forbidden(in, out), "B-Δ1"));
    CHECK_FALSE(names(changes_forbidden(in, out), "U-Δ6"));
    out = in;
    out["messages"][5]["content"].erase(0);
    CHECK(names(changes_forbidden(in, out), "B-Δ1"));
}

TEST_CASE("bedrock validator: reasoning of older turns may go, whole turns of it") {
    // "and explain" begins the second turn, "thanks" the third
    Json in = valid_body();
    block(in, 4, 1) = cache_point();
    in["messages"].push_back(Json{{"role", "assistant"}, {"content", Json::array({text_block("done")})}});
    in["messages"].push_back(Json{{"role", "user"}, {"content", Json::array({text_block("thanks")})}});
    in["messages"].push_back(Json{{"role", "assistant"},
                                  {"content", Json::array({block(in, 1, 0), text_block("so"), cache_point()})}});
    AllowedChanges removal;
    removal.reasoning_removal = true;
    const auto without = [&in](const std::vector<std::size_t>& gone) {
        Json out = in;
        for (const std::size_t message : gone) { out["messages"][message]["content"].erase(0); }
        return out;
    };
    const auto found = [&](const Json& out) { return new_violations(in, out, removal); };
    CHECK(found(in) == Findings{});
    CHECK(found(without({1})) == Findings{});
    CHECK(found(without({1, 3, 5})) == Findings{});
    CHECK(names(new_violations(in, without({1})), "B-Δ1"));
    SUBCASE("of a turn all or none") {
        CHECK(names_exactly(found(without({1, 3})), "B-Δ1 messages[2] (turn)"));
        CHECK(names(found(without({3})), "B-Δ1"));
        CHECK(found(without({1, 9})).size() == 2);
    }
    SUBCASE("none of the turn that may go on") {
        CHECK(names(found(without({9})), "B-Δ1"));
        CHECK(names_exactly(found(without({1, 3, 5, 9})), "B-Δ1 messages[8] (latest)"));
        Json loop = valid_body();
        Json first = loop;
        first["messages"][1]["content"].erase(0);
        CHECK(new_violations(loop, first, removal) == Findings{});
        first["messages"][3]["content"].erase(0);
        first["messages"][5]["content"].erase(0);
        // what was found by a search begins the third
        CHECK(names_exactly(new_violations(loop, first, removal), "B-Δ1 messages[4] (latest)"));
    }
    SUBCASE("what is left is as it was") {
        Json out = without({1});
        block(out, 3, 0)["reasoningContent"]["redactedContent"] = "ZW5k";
        CHECK(names(found(out), "B-Δ1"));
        out = without({1});
        block(out, 1, 0)["text"] = "Writing.";
        CHECK(names_exactly(found(out), "U-Δ3 messages[1].content[1]"));
        out = without({1, 3, 5});
        block(out, 3, 0)["citationsContent"]["citations"].push_back(1);
        CHECK(names(found(out), "B-Δ2"));
    }
    SUBCASE("no other block goes along or changes its place") {
        Json out = without({1});
        out["messages"][1]["content"].erase(0);
        CHECK(names(found(out), "U-Δ2"));
        out = without({1, 3, 5});
        out["messages"][4]["content"].erase(1);
        CHECK(names(found(out), "B-V6"));
    }
    SUBCASE("no message becomes empty, and no cache point stands first") {
        in["messages"][7]["content"] = Json::array({block(in, 1, 0)});
        CHECK(names_exactly(found(without({1, 3, 5, 7})), "B-V1 messages[7]"));
        in["messages"][7]["content"].push_back(cache_point());
        CHECK(names_exactly(found(without({1, 3, 5, 7})), "B-V6 messages[7].content[1]"));
    }
    SUBCASE("faults that were there are the same in their new places") {
        block(in, 1, 1)["text"] = " ";
        CHECK(found(without({1, 3, 5})) == Findings{});
        Json out = without({1, 3, 5});
        block(out, 9, 1)["text"] = " ";
        CHECK(names(found(out), "B-V5"));
    }
}

TEST_CASE("bedrock validator: reasoning bound to its prefix") {
    const Json in = valid_body();
    Json out = in;
    SUBCASE("an edit with reasoning after it") {
        result(out, 2, 0)["content"] = Json::array({text_block("[pruned]")});
        CHECK(bound_reasoning_violations(in, out) ==
              Findings{"B-Δ1 messages[3].content[0] (bound)", "B-Δ1 messages[5].content[0] (bound)"});
        Json dropping = in;
        dropping["additionalModelRequestFields"]["thinking"]["block_binding"] =
            Json{{"prefix_mismatch_behavior", "drop_block"}};
        CHECK(bound_reasoning_violations(dropping, out) == Findings{});
        out["messages"][3]["content"].erase(0);
        out["messages"][5]["content"].erase(0);
        CHECK(bound_reasoning_violations(in, out) == Findings{});
    }
    SUBCASE("an edit after the last one") {
        call(out, 5, 1)["input"]["why"] = "[p]";
        CHECK(bound_reasoning_violations(in, out) == Findings{});
        block(out, 6, 0) = text_block("[p]");
        CHECK(bound_reasoning_violations(in, out) == Findings{});
    }
    SUBCASE("an edit before it in the same message") {
        Json mixed = in;
        std::swap(block(mixed, 1, 0), block(mixed, 1, 1));
        out = mixed;
        block(out, 1, 2)["toolUse"]["input"]["path"] = "/";
        CHECK(bound_reasoning_violations(mixed, out).size() == 2);
        out = mixed;
        block(out, 1, 0)["text"] = "So.";
        CHECK(bound_reasoning_violations(mixed, out).size() == 3);
        CHECK(names_exactly(bound_reasoning_violations(in, mixed), "B-Δ1 messages[1].content[1] (bound)"));
    }
    SUBCASE("a removed message and an added one") {
        out["messages"].erase(6);
        CHECK(bound_reasoning_violations(in, out) == Findings{});
        out["messages"].erase(2);
        CHECK(bound_reasoning_violations(in, out) ==
              Findings{"B-Δ1 messages[2].content[0] (bound)", "B-Δ1 messages[4].content[0] (bound)"});
        out = in;
        out["messages"].push_back(in["messages"][1]);
        CHECK(names_exactly(bound_reasoning_violations(in, out), "B-Δ1 messages[7].content[0] (bound)"));
    }
    SUBCASE("changed settings") {
        out["system"][0]["text"] = "T";
        CHECK(bound_reasoning_violations(in, out).size() == 3);
        out = in;
        out["toolConfig"]["tools"][0]["toolSpec"]["name"] = "look";
        CHECK(bound_reasoning_violations(in, out).size() == 3);
    }
    SUBCASE("cache points and key order are not bound") {
        out["messages"][2]["content"].erase(2);
        out["system"].erase(1);
        call(out, 1, 2)["input"] = Json::parse(R"({"limit": 10, "path": "/a.c"})");
        CHECK(bound_reasoning_violations(in, out) == Findings{});
    }
}

TEST_CASE("bedrock validator: settings and guarded and cited contents stay") {
    const Json in = valid_body();
    for (const char* const key : {"system", "toolConfig"}) {
        Json out = in;
        out[key] = Json::array();
        CHECK(names(changes_forbidden(in, out), "B-Δ2"));
        out.erase(key);
        CHECK(names(changes_forbidden(in, out), "B-Δ2"));
    }
    Json out = in;
    block(out, 0, 2)["guardContent"]["text"]["text"] = "h";
    CHECK(names_exactly(changes_forbidden(in, out), "B-Δ2 messages[0].content[2]"));
    out = in;
    block(out, 3, 1)["citationsContent"]["content"][0]["text"] = "c";
    CHECK(names_exactly(changes_forbidden(in, out), "B-Δ2 messages[3].content[1]"));
    out = in;
    out["inferenceConfig"]["maxTokens"] = 65;
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 inferenceConfig"));
}

TEST_CASE("bedrock validator: texts and media of the user stay") {
    const Json in = valid_body();
    Json out = in;
    block(out, 2, 3)["text"] = "explain";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[2].content[3]"));
    out = in;
    block(out, 0, 1)["document"]["source"]["bytes"] = "JVBE";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[0].content[1]"));
    block(out, 0, 1) = text_block("[document pruned]");
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ2 messages[0].content[1]"));
    out = in;
    block(out, 4, 1)["searchResult"]["content"][0]["text"] = "f";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[4].content[1]"));
}

TEST_CASE("bedrock validator: an image of the user's may become a text where that is allowed") {
    AllowedChanges loose;
    loose.user_images = true;
    const Json picture =
        Json::parse(R"({"image": {"format": "png", "source": {"bytes": "iVBORw0KGgoAAAANSUhEUgAAAAEA"}}})");
    Json before = valid_body();
    before["messages"][0]["content"].push_back(picture);
    Json after = before;
    block(after, 0, 3) = Json{{"text", "[image gone]"}};
    CHECK(changes_forbidden(before, after, loose) == Findings{});
    CHECK(names(changes_forbidden(before, after), "U-Δ2"));
    for (const Json& wrong : {Json{{"text", " "}}, Json{{"text", std::string(200, 'x')}}}) {
        block(after, 0, 3) = wrong;
        CHECK(names(changes_forbidden(before, after, loose), "U-Δ4"));
    }
    block(after, 0, 3) = Json{{"text", "[image gone]"}, {"more", 1}};
    CHECK(names(changes_forbidden(before, after, loose), "U-Δ2"));
    // no document, none of the model's, none that was not read
    after = before;
    block(after, 0, 1) = Json{{"text", "x"}};
    CHECK(names(changes_forbidden(before, after, loose), "U-Δ2"));
    for (const std::size_t message : {std::size_t{1}, before["messages"].size() - 1}) {
        Json other = valid_body();
        other["messages"][message]["content"].push_back(picture);
        Json changed = other;
        changed["messages"][message]["content"].back() = Json{{"text", "[image gone]"}};
        CHECK(names(changes_forbidden(other, changed, loose), "U-Δ2"));
    }
}

TEST_CASE("bedrock validator: old faults are not counted as new") {
    Json in = valid_body();
    block(in, 1, 1)["text"] = " ";
    Json out = in;
    result(out, 2, 0)["content"] = Json::array({text_block("[pruned]")});
    CHECK(violations(out) == Findings{"B-V5 messages[1].content[1]"});
    CHECK(new_violations(in, out) == Findings{});
    block(out, 2, 3)["text"] = "";
    CHECK(names(new_violations(in, out), "B-V5"));
}

// --- seeded faults -----------------------------------------------------------------------------------------

TEST_CASE("bedrock validator: a stripped result is caught") {
    const Json in = valid_body();
    Json out = in;
    out["messages"][4]["content"].erase(0);
    CHECK(names(new_violations(in, out), "B-V2"));
    CHECK(names(new_violations(in, out), "U-Δ2"));
}

TEST_CASE("bedrock validator: a text moved before a result is caught") {
    const Json in = valid_body();
    Json out = in;
    std::swap(block(out, 2, 1), block(out, 2, 3));
    CHECK(names(new_violations(in, out), "U-Δ2"));
}

TEST_CASE("bedrock validator: a blank text is caught") {
    const Json in = valid_body();
    Json out = in;
    block(out, 1, 1)["text"] = " ";
    CHECK(names(new_violations(in, out), "B-V5"));
    out = in;
    result(out, 2, 0)["content"] = Json::array({text_block("\t")});
    CHECK(names(new_violations(in, out), "B-V3"));
    CHECK(names(new_violations(in, out), "U-Δ4"));
}

TEST_CASE("bedrock validator: a duplicate id is caught") {
    const Json in = valid_body();
    Json out = in;
    call(out, 1, 3)["toolUseId"] = "t1";
    CHECK(names(new_violations(in, out), "B-V2"));
    CHECK(names(new_violations(in, out), "U-Δ2"));
}

TEST_CASE("bedrock validator: an edit with reasoning kept after it is caught") {
    const Json in = valid_body();
    Json out = in;
    result(out, 4, 0)["content"] = Json::array({text_block("[pruned]")});
    CHECK(new_violations(in, out) == Findings{});  // models that do not bind reasoning take it
    CHECK(names(bound_reasoning_violations(in, out), "B-Δ1"));
}

TEST_CASE("bedrock validator: removed reasoning in the middle is caught") {
    const Json in = valid_body();
    Json out = in;
    out["messages"][3]["content"].erase(0);
    CHECK(names(new_violations(in, out), "B-Δ1"));
    CHECK(names(new_violations(in, out), "U-Δ6"));
}

TEST_CASE("bedrock validator: a lone cache point is caught") {
    const Json in = valid_body();
    Json out = in;
    out["messages"][2]["content"] = Json::array({cache_point()});
    CHECK(names(new_violations(in, out), "B-V6"));
    CHECK(names(violations(out), "B-V6"));
}

TEST_CASE("bedrock validator: another key order in an input is caught") {
    const Json in = valid_body();
    Json out = in;
    call(out, 1, 2)["input"] = Json::parse(R"({"limit": 10, "path": "/a.c"})");
    CHECK(names(new_violations(in, out), "U-Δ3"));
}

TEST_CASE("bedrock validator: numbers spelled otherwise are caught") {
    const Json in = valid_body();
    for (const char* const key : {"mode", "size"}) {
        Json out = in;
        call(out, 3, 2)["input"]["content"] = "[p]";
        CHECK(new_violations(in, out) == Findings{});
        if (key == std::string_view{"mode"}) {
            call(out, 3, 2)["input"][key] = 1;
        } else {
            call(out, 3, 2)["input"][key] = 9223372036854775808.0;
        }
        CHECK(names_exactly(new_violations(in, out),
                            std::string{"U-Δ3 messages[3].content[2].toolUse.input."} + key));
    }
}

TEST_CASE("bedrock validator: two replacements of one node in consecutive runs are caught") {
    const Json in = valid_body();
    Json first = in;
    result(first, 2, 0)["content"] = Json::array({text_block("[pruned: 41 bytes]")});
    Json second = first;
    second["messages"].push_back(Json{{"role", "assistant"}, {"content", Json::array({text_block("done")})}});
    CHECK(validation::unstable_changes(in, first, second) == Findings{});
    result(second, 2, 0)["content"][0]["text"] = "[pruned]";
    CHECK(names(validation::unstable_changes(in, first, second), "U-Σ2"));
}

TEST_CASE("bedrock validator: nodes of any type are taken and every spoiled one is noticed") {
    const Json body = valid_body();
    AllowedChanges loose;
    loose.unread_results = true;
    spoiled_nodes::for_each_spoiled(body, [&](const Json& spoiled, const Json::json_pointer& place) {
        CAPTURE(place.to_string());
        CHECK(new_violations(spoiled, spoiled) == Findings{});
        CHECK(bound_reasoning_violations(spoiled, spoiled) == Findings{});
        const bool is_same = validation::same(body, spoiled);
        CHECK(new_violations(body, spoiled).empty() == is_same);
        CHECK(new_violations(spoiled, body).empty() == is_same);
        CHECK(new_violations(body, spoiled, loose).empty() == is_same);
        CHECK(bound_reasoning_violations(body, spoiled).size() <= 3);
    });
}
