#include "support/anthropic_validator.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using anthropic_validator::AllowedChanges;
using anthropic_validator::bound_thinking_violations;
using anthropic_validator::changes_forbidden;
using anthropic_validator::Findings;
using anthropic_validator::Json;
using anthropic_validator::new_violations;
using anthropic_validator::RequestLimits;
using anthropic_validator::violations;

/// Two rounds with thinking, a human turn, a server tool, and two results not yet read.
Json valid_body() {
    return Json::parse(R"({
      "model": "m", "max_tokens": 64,
      "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
      "tools": [{"name": "Read", "input_schema": {"type": "object"}}],
      "thinking": {"type": "enabled", "budget_tokens": 1024},
      "messages": [
        {"role": "user", "content": "open it"},
        {"role": "assistant", "content": [
          {"type": "thinking", "thinking": "first", "signature": "c2ln"},
          {"type": "text", "text": "Reading."},
          {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a.c", "limit": 10}},
          {"type": "tool_use", "id": "t2", "name": "Shot", "input": {}, "caller": {"type": "direct"}}]},
        {"role": "user", "content": [
          {"type": "tool_result", "tool_use_id": "t1", "content": "a long text that is worth being shortened"},
          {"type": "tool_result", "tool_use_id": "t2", "content": [
            {"type": "text", "text": "the whole page", "cache_control": {"type": "ephemeral"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}]},
          {"type": "text", "text": "and explain"}]},
        {"role": "assistant", "content": [
          {"type": "thinking", "thinking": "second", "signature": "c2ln"},
          {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
          {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [
            {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "ZW5j"}]},
          {"type": "tool_use", "id": "t3", "name": "Write",
           "input": {"file_path": "/b.c", "content": "int main() { return 0; }", "mode": 1.0,
                     "size": 9223372036854775808}}]},
        {"role": "user", "content": [
          {"type": "tool_result", "tool_use_id": "t3", "is_error": true, "content": "the disk is full, as so often"}]},
        {"role": "assistant", "content": [
          {"type": "thinking", "thinking": "third", "signature": "c2ln"},
          {"type": "tool_use", "id": "t4", "name": "Find", "input": {}},
          {"type": "tool_use", "id": "t5", "name": "Read", "input": {"file_path": "/c.c"}}]},
        {"role": "user", "content": [
          {"type": "tool_result", "tool_use_id": "t4", "content": [
            {"type": "tool_reference", "tool_name": "Deploy"}]},
          {"type": "tool_result", "tool_use_id": "t5", "content": "a result nobody has read so far"}]}
      ]})");
}

Json& block(Json& body, std::size_t message, std::size_t index) {
    return body["messages"][message]["content"][index];
}

Json text_block(std::string_view text) {
    return Json::object({{"type", "text"}, {"text", std::string{text}}});
}

bool names(const Findings& findings, std::string_view predicate) {
    for (const std::string& finding : findings) {
        if (finding.substr(0, predicate.size()) == predicate && finding[predicate.size()] == ' ') {
            return true;
        }
    }
    return false;
}

bool names_exactly(const Findings& findings, std::string_view finding) {
    return findings.size() == 1 && findings.front() == finding;
}

}  // namespace

TEST_CASE("anthropic validator: a valid body has no findings") {
    const Json body = valid_body();
    CHECK(violations(body) == Findings{});
    CHECK(violations(body["messages"]) == Findings{});
    CHECK(new_violations(body, body) == Findings{});
    CHECK(bound_thinking_violations(body, body) == Findings{});
}

TEST_CASE("anthropic validator: what is no request body") {
    CHECK(names_exactly(violations(Json::object()), "U-V1 body"));
    CHECK(names_exactly(violations(Json("text")), "U-V1 body"));
    CHECK(violations(Json::array()) == Findings{});
    CHECK(changes_forbidden(Json::object(), Json::object()) == Findings{});
    CHECK(names(changes_forbidden(Json::object(), Json("text")), "U-Δ3"));

    Json deep = "x";
    for (std::size_t i = 0; i <= anthropic_validator::max_depth; ++i) {
        deep = Json::array({std::move(deep)});
    }
    CHECK(names_exactly(violations(deep), "U-V1 body"));
    CHECK(names_exactly(changes_forbidden(deep, deep), "U-Δ3 body"));
}

TEST_CASE("anthropic validator: strings must be UTF-8") {
    const char* const broken[] = {
        "\x80", "\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "cut \xf0\x9f\x98"};
    for (const char* const text : broken) {
        Json body = valid_body();
        block(body, 2, 0)["content"] = text;
        CHECK(names_exactly(violations(body), "U-V1 messages[2]"));
    }
    Json body = valid_body();
    block(body, 2, 0)["content"] = "\u00e9\u6f22\U0001f600";
    CHECK(violations(body) == Findings{});
    body["system"] = "\xff";
    CHECK(names_exactly(violations(body), "U-V1 system"));
}

TEST_CASE("anthropic validator: message contents") {
    for (const Json& content : {Json(""), Json(" \n"), Json::array(), Json(nullptr)}) {
        Json body = valid_body();
        body["messages"][0]["content"] = content;
        CHECK(names_exactly(violations(body), "A-V1 messages[0]"));
    }
    Json body = valid_body();
    body["messages"].push_back(Json{{"role", "assistant"}, {"content", ""}});
    CHECK(violations(body) == Findings{});
}

TEST_CASE("anthropic validator: blank texts at any depth") {
    for (const char* const text : {"", " ", "\t\r\n", "\u00a0\u3000"}) {
        Json body = valid_body();
        block(body, 1, 1)["text"] = text;
        CHECK(names_exactly(violations(body), "A-V2 messages[1].content[1]"));
        body = valid_body();
        block(body, 2, 1)["content"][0] = text_block(text);
        CHECK(names_exactly(violations(body), "A-V2 messages[2].content[1].content[0]"));
    }
    Json body = valid_body();
    block(body, 2, 1)["content"][0] = Json::parse(
        R"({"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": " "}]}})");
    CHECK(names_exactly(violations(body), "A-V2 messages[2].content[1].content[0].source.content[0]"));
}

TEST_CASE("anthropic validator: every call has one answer") {
    SUBCASE("a stripped result") {
        Json body = valid_body();
        body["messages"][2]["content"].erase(0);
        CHECK(names_exactly(violations(body), "A-V3 messages[1].content[2]"));
        CHECK(names(new_violations(valid_body(), body), "U-Δ2"));
    }
    SUBCASE("a doubled result") {
        Json body = valid_body();
        body["messages"][4]["content"].push_back(block(body, 4, 0));
        CHECK(names_exactly(violations(body), "A-V3 messages[3].content[3]"));
    }
    SUBCASE("a stripped call") {
        Json body = valid_body();
        body["messages"][1]["content"].erase(2);
        CHECK(names_exactly(violations(body), "A-V5 messages[2].content[0]"));
    }
    SUBCASE("a result in an assistant message") {
        Json body = valid_body();
        body["messages"][3]["content"].push_back(block(body, 2, 0));
        CHECK(names(violations(body), "A-V5"));
    }
    SUBCASE("a call in a user message") {
        Json body = valid_body();
        body["messages"][0]["content"] = Json::array({block(body, 5, 2)});
        CHECK(names(violations(body), "A-V3"));
    }
    SUBCASE("a doubled id") {
        Json body = valid_body();
        block(body, 5, 1)["id"] = "t3";
        block(body, 6, 0)["tool_use_id"] = "t3";
        CHECK(names_exactly(violations(body), "A-V6 messages[5].content[1]"));
        CHECK(names(new_violations(valid_body(), body), "U-Δ2"));
    }
    SUBCASE("results spread over adjacent user messages") {
        Json body = valid_body();
        Json second = Json{{"role", "user"}, {"content", Json::array({block(body, 6, 1)})}};
        body["messages"][6]["content"].erase(1);
        body["messages"].push_back(second);
        CHECK(violations(body) == Findings{});
    }
}

TEST_CASE("anthropic validator: results come first") {
    Json body = valid_body();
    std::swap(block(body, 2, 1), block(body, 2, 2));
    CHECK(names_exactly(violations(body), "A-V4 messages[2].content[2]"));
    CHECK(names(changes_forbidden(valid_body(), body), "U-Δ2"));

    body = valid_body();  // beside a pending server call only results may come
    body["messages"][1]["content"].push_back(Json{
        {"type", "server_tool_use"}, {"id", "s0"}, {"name", "code_execution"}, {"input", Json::object()}});
    CHECK(names_exactly(violations(body), "A-V4 messages[2].content[2]"));
}

TEST_CASE("anthropic validator: contents of results") {
    Json shown = valid_body();
    const Json picture = block(shown, 2, 1)["content"][1];
    for (const Json& content : {Json(""), Json(" "), Json::array(), Json::array({picture}),
                                Json::array({text_block("t"), picture})}) {
        Json body = valid_body();
        block(body, 4, 0)["content"] = content;
        CHECK(names_exactly(violations(body), "A-V7 messages[4].content[0]"));
    }
    Json body = valid_body();
    block(body, 4, 0).erase("content");
    CHECK(names_exactly(violations(body), "A-V7 messages[4].content[0]"));

    body = valid_body();
    block(body, 2, 0).erase("content");
    CHECK(violations(body) == Findings{});
    for (const Json& content : {Json::object(), Json(nullptr), Json(1), Json::array({"text"}),
                                Json::array({Json{{"type", "thinking"}}})}) {
        block(body, 2, 0)["content"] = content;
        CHECK(names(violations(body), "A-V8"));
    }
}

TEST_CASE("anthropic validator: inputs are objects") {
    for (const Json& input : {Json("{}"), Json::array(), Json(nullptr)}) {
        Json body = valid_body();
        block(body, 1, 2)["input"] = input;
        CHECK(names_exactly(violations(body), "A-V9 messages[1].content[2]"));
        CHECK(names(changes_forbidden(valid_body(), body), "U-Δ3"));
    }
}

TEST_CASE("anthropic validator: cache marks") {
    const Json mark = Json{{"type", "ephemeral"}};
    SUBCASE("at most four") {
        Json body = valid_body();
        block(body, 2, 0)["cache_control"] = mark;
        block(body, 4, 0)["cache_control"] = mark;
        CHECK(violations(body) == Findings{});
        body["tools"][0]["cache_control"] = Json{{"type", "ephemeral"}, {"ttl", "1h"}};
        CHECK(names_exactly(violations(body), "A-V10 body"));
    }
    SUBCASE("none on thinking or blank text") {
        Json body = valid_body();
        block(body, 3, 0)["cache_control"] = mark;
        CHECK(names_exactly(violations(body), "A-V10 messages[3].content[0]"));
    }
    SUBCASE("longer lives first") {
        Json body = valid_body();
        block(body, 4, 0)["cache_control"] = Json{{"type", "ephemeral"}, {"ttl", "1h"}};
        CHECK(names_exactly(violations(body), "A-V10 messages[4].content[0]"));
    }
    SUBCASE("added, removed, moved to another block") {
        Json body = valid_body();
        block(body, 2, 0)["cache_control"] = mark;
        CHECK(changes_forbidden(valid_body(), body) ==
              Findings{"A-V10 messages[2].content[0].cache_control", "A-V14 body"});
        CHECK(names_exactly(changes_forbidden(body, valid_body()),
                            "A-V10 messages[2].content[0].cache_control"));
    }
    SUBCASE("added to a text") {
        Json body = valid_body();
        block(body, 1, 1)["cache_control"] = mark;
        CHECK(changes_forbidden(valid_body(), body) ==
              Findings{"A-V10 messages[1].content[1]", "A-V14 body"});
    }
    SUBCASE("a mark moves with its result") {
        Json body = valid_body();
        block(body, 2, 1)["content"] = Json::array({text_block("[pruned]")});
        CHECK(names_exactly(changes_forbidden(valid_body(), body), "A-V10 messages[2].content[1]"));
        Json inside = body;
        block(inside, 2, 1)["content"][0]["cache_control"] = mark;
        CHECK(new_violations(valid_body(), inside) == Findings{});
        Json outside = body;
        block(outside, 2, 1)["cache_control"] = mark;
        CHECK(new_violations(valid_body(), outside) == Findings{});
    }
}

TEST_CASE("anthropic validator: images") {
    Json body = valid_body();
    Json& source = block(body, 2, 1)["content"][1]["source"];
    for (const char* const data : {"", "iVBOR", "iVBO*w0=", "====", "iVBO\nRw0"}) {
        source["data"] = data;
        CHECK(names_exactly(violations(body), "A-V11 messages[2].content[1].content[1]"));
    }
    CHECK(violations(body).size() == 1);
    block(body, 2, 1)["content"][1].erase("source");
    CHECK(names_exactly(violations(body), "A-V11 messages[2].content[1].content[1]"));
    body = valid_body();
    Json& tiff = block(body, 2, 1)["content"][1]["source"];
    tiff["media_type"] = "image/tiff";
    CHECK(names_exactly(violations(body), "A-V11 messages[2].content[1].content[1]"));

    RequestLimits limits;
    limits.images = 0;
    CHECK(names_exactly(violations(valid_body(), limits), "A-V14 images"));
    limits = RequestLimits{};
    limits.bytes = 100;
    CHECK(names_exactly(violations(valid_body(), limits), "A-V14 body"));

    body = valid_body();
    block(body, 2, 0)["content"] = Json::array({block(body, 2, 1)["content"][1]});
    CHECK(names(changes_forbidden(valid_body(), body), "A-V14"));
}

TEST_CASE("anthropic validator: system messages") {
    const Json system = Json{{"role", "system"}, {"content", "be brief"}};
    const auto with_system_at = [&system](std::size_t index) {
        Json body = valid_body();
        Json messages = Json::array();
        for (std::size_t m = 0; m < body["messages"].size(); ++m) {
            if (m == index) {
                messages.push_back(system);
            }
            messages.push_back(body["messages"][m]);
        }
        if (index == body["messages"].size()) {
            messages.push_back(system);
        }
        body["messages"] = messages;
        return body;
    };
    CHECK(violations(with_system_at(1)) == Findings{});
    CHECK(violations(with_system_at(7)) == Findings{});
    CHECK(names_exactly(violations(with_system_at(0)), "A-V12 messages[0]"));
    CHECK(names(violations(with_system_at(2)), "A-V12"));
    CHECK(names(violations(with_system_at(2)), "A-V3"));

    Json edited = with_system_at(1);
    edited["messages"][1]["content"] = "brief";
    CHECK(names_exactly(changes_forbidden(with_system_at(1), edited), "A-Δ5 messages[1]"));
}

TEST_CASE("anthropic validator: an unanswered call at the end") {
    Json body = valid_body();
    body["messages"].erase(6);
    CHECK(violations(body) == Findings{"A-V13 messages[5].content[1]", "A-V13 messages[5].content[2]"});
}

TEST_CASE("anthropic validator: messages and roles stay") {
    Json body = valid_body();
    body["messages"].erase(6);
    CHECK(names(changes_forbidden(valid_body(), body), "U-Δ1"));
    body = valid_body();
    body["messages"][0]["role"] = "assistant";
    CHECK(changes_forbidden(valid_body(), body) == Findings{"U-Δ1 messages[0]", "A-V14 body"});
    CHECK(names(changes_forbidden(valid_body(), valid_body()["messages"]), "U-Δ3"));
    CHECK(names_exactly(changes_forbidden(Json::array({"a"}), Json::array({"b"})), "U-Δ3 messages[0]"));
}

TEST_CASE("anthropic validator: replaced results") {
    const Json in = valid_body();
    SUBCASE("a stub is fine, in every kind that is allowed") {
        Json out = in;
        block(out, 2, 0)["content"] = "[pruned]";
        CHECK(new_violations(in, out) == Findings{});
        block(out, 2, 0)["content"] = Json::array({text_block("[p]")});
        CHECK(new_violations(in, out) == Findings{});
        AllowedChanges strict;
        strict.string_to_blocks = false;
        CHECK(names_exactly(changes_forbidden(in, out, strict), "U-Δ4 messages[2].content[0] (kind)"));
        out = in;
        block(out, 2, 1)["content"] = "[pruned]";
        block(out, 2, 1)["cache_control"] = Json{{"type", "ephemeral"}};
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ4 messages[2].content[1] (kind)"));
        AllowedChanges loose;
        loose.blocks_to_string = true;
        CHECK(changes_forbidden(in, out, loose) == Findings{});
        out = in;
        block(out, 4, 0)["content"] = "[pruned]";
        CHECK(new_violations(in, out) == Findings{});
    }
    SUBCASE("blank or missing") {
        for (const Json& content : {Json(""), Json(" "), Json::array(), Json::array({text_block(" ")})}) {
            Json out = in;
            block(out, 2, 0)["content"] = content;
            CHECK(names(changes_forbidden(in, out), "U-Δ4"));
        }
        Json out = in;
        block(out, 2, 0).erase("content");
        CHECK(names(changes_forbidden(in, out), "U-Δ4"));
    }
    SUBCASE("larger") {
        Json out = in;
        block(out, 2, 0)["content"] = std::string(500, 'x');
        CHECK(names(changes_forbidden(in, out), "U-Δ4"));
        CHECK(names(changes_forbidden(in, out), "A-V14"));
    }
    SUBCASE("not read by the model yet") {
        Json out = in;
        block(out, 6, 1)["content"] = "[pruned]";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[6].content[1] (unread)"));
        AllowedChanges loose;
        loose.unread_results = true;
        CHECK(changes_forbidden(in, out, loose) == Findings{});
    }
    SUBCASE("other fields of the result") {
        Json out = in;
        block(out, 4, 0)["is_error"] = false;
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        block(out, 4, 0).erase("is_error");
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        block(out, 2, 0) = Json{{"tool_use_id", "t1"}, {"type", "tool_result"}, {"content", "[pruned]"}};
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[2].content[0] (keys)"));
    }
    SUBCASE("a picture goes as a whole") {
        Json out = in;
        block(out, 2, 1)["content"][1] = text_block("[image pruned]");
        CHECK(new_violations(in, out) == Findings{});
        out = in;
        block(out, 2, 1)["content"][1]["source"]["data"] = "iVBO";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[2].content[1] (parts)"));
    }
    SUBCASE("a document may keep its place with a short source") {
        Json before = in;
        block(before, 2, 1)["content"][1] = Json::parse(
            R"({"type": "document", "title": "T", "source": {"type": "base64", "media_type": "application/pdf",
                "data": "JVBERi0xLjcKJeLjz9MKMSAwIG9iago8PC9UeXBlL0NhdGFsb2c+Pg=="}})");
        Json out = before;
        block(out, 2, 1)["content"][1]["source"] =
            Json{{"type", "text"}, {"media_type", "text/plain"}, {"data", "[pruned]"}};
        CHECK(new_violations(before, out) == Findings{});
        block(out, 2, 1)["content"][1]["title"] = "U";
        CHECK(names(new_violations(before, out), "U-Δ3"));
    }
    SUBCASE("unknown parts stay") {
        Json before = in;
        block(before, 2, 1)["content"][1] = Json{{"type", "hologram"}, {"data", "x"}};
        Json out = before;
        block(out, 2, 1)["content"][0]["text"] = "[pruned]";
        CHECK(new_violations(before, out) == Findings{});
        block(out, 2, 1)["content"].erase(1);
        CHECK(names(new_violations(before, out), "U-Δ3"));
    }
}

TEST_CASE("anthropic validator: replaced inputs") {
    const Json in = valid_body();
    Json out = in;
    block(out, 3, 3)["input"]["content"] = "[pruned]";
    CHECK(new_violations(in, out) == Findings{});
    AllowedChanges strict;
    strict.input_strings = false;
    CHECK(names_exactly(changes_forbidden(in, out, strict), "U-Δ3 messages[3].content[3].input"));

    SUBCASE("key order") {
        block(out, 3, 3)["input"] = Json::parse(R"({"content": "c", "file_path": "/b.c", "mode": 1.0,
                                                    "size": 9223372036854775808})");
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[3].content[3].input"));
    }
    SUBCASE("number spelling") {
        block(out, 3, 3)["input"]["mode"] = 1;
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[3].content[3].input.mode"));
    }
    SUBCASE("a large integer that became a double") {
        block(out, 3, 3)["input"]["size"] = 9223372036854775808.0;
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[3].content[3].input.size"));
    }
    SUBCASE("a missing key, an added key, another kind") {
        block(out, 3, 3)["input"].erase("mode");
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        block(out, 1, 3)["input"]["note"] = "x";
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        block(out, 3, 3)["input"]["content"] = nullptr;
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
    }
    SUBCASE("blank or larger") {
        block(out, 3, 3)["input"]["content"] = "";
        CHECK(names(changes_forbidden(in, out), "U-Δ4"));
        block(out, 3, 3)["input"]["content"] = std::string(100, 'x');
        CHECK(names(changes_forbidden(in, out), "U-Δ4"));
    }
    SUBCASE("name, caller") {
        block(out, 3, 3)["name"] = "Edit";
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        block(out, 1, 3).erase("caller");
        CHECK(names(changes_forbidden(in, out), "A-Δ7"));
    }
    SUBCASE("a call without an answer") {
        Json open = in;
        open["messages"].erase(6);
        out = open;
        block(out, 5, 2)["input"]["file_path"] = "/";
        CHECK(names(new_violations(open, out), "U-Δ3"));
    }
}

TEST_CASE("anthropic validator: texts and media of the user stay") {
    const Json in = valid_body();
    Json out = in;
    out["messages"][0]["content"] = "open";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[0].content"));
    out = in;
    block(out, 2, 2)["text"] = "explain";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 messages[2].content[2]"));

    Json shown = in;
    shown["messages"][2]["content"].push_back(block(shown, 2, 1)["content"][1]);
    out = shown;
    block(out, 2, 3) = text_block("[image pruned]");
    CHECK(names(changes_forbidden(shown, out), "U-Δ2"));
    AllowedChanges loose;
    loose.user_images = true;
    CHECK(changes_forbidden(shown, out, loose) == Findings{});
    block(out, 2, 3)["text"] = " ";
    CHECK(names_exactly(changes_forbidden(shown, out, loose), "U-Δ4 messages[2].content[3]"));
    block(out, 2, 3)["text"] = "[image pruned]";
    block(out, 2, 3)["more"] = 1;
    CHECK(names_exactly(changes_forbidden(shown, out, loose), "U-Δ4 messages[2].content[3]"));
    block(out, 2, 3).erase("more");
    block(out, 2, 3)["text"] = std::string(500, 'x');
    CHECK(names(changes_forbidden(shown, out, loose), "U-Δ4"));
    block(out, 2, 3)["text"] = "[image pruned]";
    block(shown, 2, 3)["cache_control"] = Json{{"type", "ephemeral"}};
    CHECK(names_exactly(changes_forbidden(shown, out, loose), "A-V10 messages[2].content[3]"));
    block(shown, 2, 3).erase("cache_control");

    // one of the model's, a document, one that was not read
    for (const char* const type : {"document", "video"}) {
        Json other = shown;
        block(other, 2, 3)["type"] = type;
        CHECK(names(changes_forbidden(other, out, loose), "U-Δ2"));
    }
    Json other = shown;
    other["messages"][2]["role"] = out["messages"][2]["role"] = "assistant";
    CHECK(names(changes_forbidden(other, out, loose), "U-Δ2"));
    other = out = shown;
    for (Json* const body : {&other, &out}) {
        (*body)["messages"].push_back(Json{{"role", "user"}, {"content", Json::array({block(shown, 2, 3)})}});
    }
    const std::size_t last = out["messages"].size() - 1;
    block(out, last, 0) = text_block("[image pruned]");
    CHECK(names(changes_forbidden(other, out, loose), "U-Δ2"));
}

TEST_CASE("anthropic validator: thinking stays") {
    const Json in = valid_body();
    AllowedChanges removal;
    removal.thinking_removal = true;
    SUBCASE("changed") {
        Json out = in;
        block(out, 3, 0)["signature"] = "c2lo";
        CHECK(names(changes_forbidden(in, out), "A-Δ1"));
        CHECK(names(changes_forbidden(in, out), "U-Δ6"));
        CHECK(names(changes_forbidden(in, out, removal), "A-Δ1"));
    }
    SUBCASE("moved") {
        Json out = in;
        std::swap(block(out, 1, 0), block(out, 1, 1));
        CHECK(names(changes_forbidden(in, out), "A-Δ1"));
    }
    SUBCASE("the middle one removed") {
        Json out = in;
        out["messages"][3]["content"].erase(0);
        CHECK(names(changes_forbidden(in, out), "A-Δ1"));
        CHECK(names(changes_forbidden(in, out, removal), "A-Δ1"));
    }
    SUBCASE("the oldest, the newest, all removed") {
        for (const std::size_t last : {std::size_t{1}, std::size_t{3}, std::size_t{5}}) {
            Json oldest = in;
            Json newest = in;
            for (std::size_t m = 1; m <= last; m += 2) {
                oldest["messages"][m]["content"].erase(0);
                newest["messages"][6 - m]["content"].erase(0);
            }
            CHECK(names(changes_forbidden(in, oldest), "A-Δ1"));
            CHECK(changes_forbidden(in, oldest, removal) == Findings{});
            CHECK(changes_forbidden(in, newest, removal) == Findings{});
        }
    }
    SUBCASE("between an edit and the user's turn") {
        Json before = in;
        before["messages"][4]["content"].push_back(text_block("go on"));
        Json out = before;
        block(out, 2, 0)["content"] = "[pruned]";
        out["messages"][3]["content"].erase(0);
        CHECK(changes_forbidden(before, out, removal) == Findings{});
        CHECK(names(changes_forbidden(in, Json(out), removal), "A-Δ1"));
    }
}

TEST_CASE("anthropic validator: thinking of older turns may go, whole turns of it") {
    // "and explain" begins the second turn, "thanks" the third
    Json in = valid_body();
    in["messages"].push_back(Json{{"role", "assistant"}, {"content", Json::array({text_block("done")})}});
    in["messages"].push_back(Json{{"role", "user"}, {"content", "thanks"}});
    in["messages"].push_back(Json{{"role", "assistant"},
                                  {"content", Json::array({block(in, 1, 0), text_block("so"), block(in, 3, 0)})}});
    AllowedChanges removal;
    removal.stale_thinking_removal = true;
    const auto without = [&in](const std::vector<std::size_t>& gone) {
        Json out = in;
        for (const std::size_t message : gone) { out["messages"][message]["content"].erase(0); }
        return out;
    };
    const auto found = [&](const Json& out) { return new_violations(in, out, removal); };
    CHECK(found(in) == Findings{});
    CHECK(found(without({1})) == Findings{});
    CHECK(found(without({1, 3, 5})) == Findings{});
    CHECK(names(new_violations(in, without({1})), "A-Δ1"));
    SUBCASE("of a turn all or none") {
        CHECK(names_exactly(found(without({1, 3})), "A-Δ1 messages[2] (turn)"));
        CHECK(names(found(without({3})), "A-Δ1"));
    }
    SUBCASE("older ones first") { CHECK(names_exactly(found(without({3, 5})), "A-Δ1 messages")); }
    SUBCASE("none of the turn that may go on") {
        CHECK(names(found(without({9})), "A-Δ3"));
        CHECK(names(found(without({1, 3, 5, 9})), "A-Δ3"));
        Json out = without({1, 3, 5});
        out["messages"][9]["content"].erase(2);
        CHECK(names(found(out), "A-Δ3"));
        Json loop = valid_body();
        Json first = loop;
        first["messages"][1]["content"].erase(0);
        CHECK(new_violations(loop, first, removal) == Findings{});
        first["messages"][3]["content"].erase(0);
        CHECK(names(new_violations(loop, first, removal), "A-Δ3"));
    }
    SUBCASE("what is left is as it was") {
        Json out = without({1});
        block(out, 3, 0)["signature"] = "c2lo";
        CHECK(names(found(out), "A-Δ1"));
        out = without({1});
        std::swap(block(out, 3, 0), block(out, 5, 0));
        CHECK(names(found(out), "A-Δ1"));
        out = without({1});
        block(out, 1, 0)["text"] = "Writing.";
        CHECK(names_exactly(found(out), "U-Δ3 messages[1].content[1]"));
    }
    SUBCASE("no other block goes along") {
        Json out = without({1});
        out["messages"][1]["content"].erase(0);
        CHECK(names(found(out), "U-Δ2"));
        out = without({1, 3, 5});
        out["messages"][3]["content"].erase(0);
        CHECK(names(found(out), "U-Δ2"));
    }
    SUBCASE("no message becomes empty") {
        in["messages"].insert(in["messages"].begin() + 7,
                              Json{{"role", "assistant"}, {"content", Json::array({block(in, 1, 0)})}});
        CHECK(names_exactly(found(without({1, 3, 5, 7})), "A-V1 messages[7]"));
    }
    SUBCASE("faults that were there are the same in their new places") {
        block(in, 1, 1)["text"] = " ";
        block(in, 3, 3)["input"] = 7;
        CHECK(found(without({1, 3, 5})) == Findings{});
        Json out = without({1, 3, 5});
        block(out, 9, 1)["text"] = " ";
        CHECK(names(found(out), "A-V2"));
    }
}

TEST_CASE("anthropic validator: settings stay") {
    for (const char* const key : {"system", "tools", "thinking", "model"}) {
        Json out = valid_body();
        out[key] = "m2";
        CHECK(names(changes_forbidden(valid_body(), out), "A-Δ4"));
        out.erase(key);
        CHECK(names(changes_forbidden(valid_body(), out), "A-Δ4"));
    }
    Json out = valid_body();
    out["max_tokens"] = 65;
    CHECK(names_exactly(changes_forbidden(valid_body(), out), "U-Δ3 max_tokens"));
    out = valid_body();
    out["stream"] = true;
    CHECK(names(changes_forbidden(valid_body(), out), "U-Δ3"));
}

TEST_CASE("anthropic validator: server tools and references stay") {
    const Json in = valid_body();
    Json out = in;
    block(out, 3, 2)["content"][0]["encrypted_content"] = "ZW4=";
    CHECK(names(changes_forbidden(in, out), "A-Δ5"));
    CHECK(names(changes_forbidden(in, out), "U-Δ6"));
    out = in;
    block(out, 3, 1)["input"]["query"] = "r";
    CHECK(names_exactly(changes_forbidden(in, out), "A-Δ5 messages[3].content[1]"));
    out = in;
    block(out, 6, 0)["content"] = Json::array({text_block("[p]")});
    CHECK(names_exactly(changes_forbidden(in, out), "A-Δ5 messages[6].content[0]"));
}

TEST_CASE("anthropic validator: turns after a compaction stay") {
    Json in = valid_body();
    block(in, 3, 0) = Json{{"type", "compaction"}, {"content", "so far"}};
    Json out = in;
    block(out, 2, 0)["content"] = "[pruned]";
    CHECK(changes_forbidden(in, out) == Findings{});
    out = in;
    block(out, 4, 0)["content"] = "[pruned]";
    CHECK(names_exactly(changes_forbidden(in, out), "A-Δ6 messages[4].content[0]"));
    AllowedChanges loose;
    loose.edits_after_compaction = true;
    CHECK(changes_forbidden(in, out, loose) == Findings{});
    out = in;
    block(out, 3, 3)["input"]["content"] = "[pruned]";
    CHECK(names_exactly(changes_forbidden(in, out), "A-Δ6 messages[3].content[3]"));
    CHECK(changes_forbidden(in, out, loose) == Findings{});
}

TEST_CASE("anthropic validator: answers to programmatic calls stay") {
    Json in = valid_body();
    block(in, 1, 3)["caller"] = Json{{"type", "code_execution_20260120"}, {"tool_id", "s0"}};
    Json out = in;
    block(out, 2, 0)["content"] = "[pruned]";
    CHECK(names_exactly(changes_forbidden(in, out), "A-Δ7 messages[2].content[0]"));
}

TEST_CASE("anthropic validator: thinking bound to its prefix") {
    const Json in = valid_body();
    SUBCASE("an edit with thinking after it") {
        Json out = in;
        block(out, 2, 0)["content"] = "[pruned]";
        CHECK(bound_thinking_violations(in, out) ==
              Findings{"A-Δ2 messages[3].content[0]", "A-Δ2 messages[5].content[0]"});
        Json controlled = in;
        controlled["thinking"]["block_binding"] = Json{{"prefix_mismatch_behavior", "drop_block"}};
        CHECK(bound_thinking_violations(controlled, out) == Findings{});
        out["messages"][3]["content"].erase(0);
        out["messages"][5]["content"].erase(0);
        CHECK(bound_thinking_violations(in, out) == Findings{"A-Δ3 messages[2]"});
    }
    SUBCASE("an edit after the last thinking, in its message and beyond") {
        Json out = in;
        block(out, 6, 1)["content"] = "[pruned]";
        CHECK(bound_thinking_violations(in, out) == Findings{});
        block(out, 5, 2)["input"]["file_path"] = "/";
        CHECK(bound_thinking_violations(in, out) == Findings{});
    }
    SUBCASE("a changed prefix of another section") {
        Json out = in;
        out["tools"][0]["name"] = "Look";
        CHECK(bound_thinking_violations(in, out).size() == 3);
    }
    SUBCASE("cache marks and key order are not bound") {
        Json out = in;
        block(out, 2, 1)["content"][0].erase("cache_control");
        block(out, 1, 2)["input"] = Json::parse(R"({"limit": 10, "file_path": "/a.c"})");
        CHECK(bound_thinking_violations(in, out) == Findings{});
    }
    SUBCASE("a stripped suffix at the user's turn") {
        Json ended = in;
        ended["messages"].push_back(Json{{"role", "user"}, {"content", "go on"}});
        Json out = ended;
        block(out, 2, 0)["content"] = "[pruned]";
        out["messages"][3]["content"].erase(0);
        out["messages"][5]["content"].erase(0);
        CHECK(bound_thinking_violations(ended, out) == Findings{});
    }
}

TEST_CASE("anthropic validator: old faults are not counted as new") {
    Json in = valid_body();
    block(in, 1, 1)["text"] = " ";
    Json out = in;
    block(out, 2, 0)["content"] = "[pruned]";
    CHECK(violations(out) == Findings{"A-V2 messages[1].content[1]"});
    CHECK(new_violations(in, out) == Findings{});
}
