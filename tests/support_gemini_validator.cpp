// SPDX-License-Identifier: MIT
#include "support/gemini_validator.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "support/spoiled_nodes.hpp"

namespace {

using gemini_validator::AllowedChanges;
using gemini_validator::changes_forbidden;
using gemini_validator::Findings;
using gemini_validator::Json;
using gemini_validator::new_violations;
using gemini_validator::violations;
using validation::names;

/// Calls with ids and without, both spellings, the server's own tools, and a response not yet read.
Json valid_body() {
    return Json::parse(R"({
      "systemInstruction": {"parts": [{"text": "S"}]},
      "tools": [{"functionDeclarations": [{"name": "read"}]}],
      "cachedContent": "cachedContents/1",
      "generationConfig": {"temperature": 1.0},
      "contents": [
        {"role": "user", "parts": [
          {"text": "open it"}, {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}]},
        {"role": "model", "parts": [
          {"text": "a summary", "thought": true},
          {"functionCall": {"id": "f1", "name": "read", "args": {"path": "/a.c", "limit": 10}},
           "thoughtSignature": "c2ln"},
          {"functionCall": {"id": "f2", "name": "shot"}}]},
        {"role": "user", "parts": [
          {"functionResponse": {"id": "f1", "name": "read", "response": {
            "output": "a long text that is worth being shortened", "lines": 3, "more": false, "next": null}}},
          {"functionResponse": {"id": "f2", "name": "shot",
            "response": {"output": {"image": {"$ref": "shot.png"}}},
            "parts": [{"inlineData": {"mimeType": "image/png", "displayName": "shot.png", "data": "iVBO"}}]}},
          {"text": "and explain"}]},
        {"role": "model", "parts": [
          {"executableCode": {"language": "PYTHON", "code": "1 + 1"}},
          {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
          {"toolCall": {"id": "s1", "toolType": "GOOGLE_SEARCH_WEB"}},
          {"toolResponse": {"id": "s1", "response": {"found": "much, and more of it"}}},
          {"function_call": {"name": "write", "args": {
            "path": "/b.c", "content": "int main() { return 0; }", "mode": 1.0, "size": 9223372036854775808,
            "where": {"host": "a host of some name"}, "words": ["a word", "another word"],
            "edits": [{"old": "some old text", "new": "some new text", "line": 3}]}},
           "thought_signature": "c2lo"},
          {"functionCall": {"name": "write", "args": {"path": "/d.c", "content": "int d() { return 0; }"}}}]},
        {"role": "function", "parts": [
          {"function_response": {"name": "write", "response": {"error": "the disk is full, as so often"}}},
          {"functionResponse": {"name": "write", "response": {"output": ["one line", "and another one"]}}}]},
        {"role": "model", "parts": [
          {"functionCall": {"id": "f5", "name": "read", "args": {
            "path": "/e.c", "why": "for no reason at all"}},
           "thoughtSignature": "c2lp"}]},
        {"role": "user", "parts": [
          {"functionResponse": {"id": "f5", "name": "read", "response": {
            "output": "a response nobody has read so far"}}}]}
      ]})");
}

Json& part(Json& body, std::size_t content, std::size_t index) {
    return body["contents"][content]["parts"][index];
}

Json& response(Json& body, std::size_t content, std::size_t index) {
    Json& owner = part(body, content, index);
    return owner.contains("function_response") ? owner["function_response"] : owner["functionResponse"];
}

Json& call(Json& body, std::size_t content, std::size_t index) {
    Json& owner = part(body, content, index);
    return owner.contains("function_call") ? owner["function_call"] : owner["functionCall"];
}

bool names_exactly(const Findings& findings, std::string_view finding) {
    return findings.size() == 1 && findings.front() == finding;
}

}  // namespace

TEST_CASE("gemini validator: a valid body has no findings") {
    const Json body = valid_body();
    CHECK(violations(body) == Findings{});
    CHECK(violations(body["contents"]) == Findings{});
    CHECK(new_violations(body, body) == Findings{});
    CHECK(new_violations(body["contents"], body["contents"]) == Findings{});
}

TEST_CASE("gemini validator: what is no request body") {
    CHECK(names_exactly(violations(Json::object()), "U-V1 body"));
    CHECK(names_exactly(violations(Json("text")), "U-V1 body"));
    CHECK(names_exactly(violations(Json{{"contents", "text"}}), "U-V1 body"));
    CHECK(violations(Json::array()) == Findings{});
    CHECK(new_violations(Json::object(), Json::object()) == Findings{});
    CHECK(names_exactly(changes_forbidden(Json::object(), Json("text")), "U-Δ3 body"));
    CHECK(names_exactly(changes_forbidden(valid_body(), valid_body()["contents"]), "U-Δ3 body"));
}

TEST_CASE("gemini validator: deep bodies are not looked into") {
    Json deep = "x";
    for (std::size_t i = 0; i < gemini_validator::max_depth; ++i) { deep = Json::array({std::move(deep)}); }
    CHECK(names(violations(deep), "G-V1"));
    deep = Json::array({std::move(deep)});
    CHECK(names_exactly(violations(deep), "U-V1 body"));
    CHECK(new_violations(deep, deep) == Findings{});
    CHECK(names_exactly(new_violations(deep, Json::array({deep})), "U-Δ3 body"));

    for (std::size_t i = 0; i < 100000; ++i) { deep = Json::array({std::move(deep)}); }
    CHECK(names_exactly(violations(deep), "U-V1 body"));
    CHECK(new_violations(deep, deep) == Findings{});
}

TEST_CASE("gemini validator: strings must be UTF-8") {
    Json body = valid_body();
    response(body, 2, 0)["response"]["output"] = "cut \xf0\x9f\x98";
    CHECK(names_exactly(violations(body), "U-V1 contents[2]"));
    response(body, 2, 0)["response"]["output"] = "\u00e9\u6f22\U0001f600";
    CHECK(violations(body) == Findings{});
    body["systemInstruction"]["parts"][0]["text"] = "\xff";
    CHECK(names_exactly(violations(body), "U-V1 systemInstruction"));
}

TEST_CASE("gemini validator: parts") {
    SUBCASE("none") {
        for (const Json& parts : {Json::array(), Json(nullptr), Json("text"), Json::object()}) {
            Json body = valid_body();
            body["contents"][0]["parts"] = parts;
            CHECK(names_exactly(violations(body), "G-V1 contents[0]"));
        }
    }
    SUBCASE("no data") {
        for (const Json& empty : {Json::object(), Json(nullptr), Json("text"), Json{{"text", nullptr}},
                                  Json{{"text", 7}}, Json{{"inlineData", "x"}}, Json{{"", Json::object()}},
                                  Json{{"thought", true}, {"thoughtSignature", "c2ln"}}}) {
            Json body = valid_body();
            part(body, 0, 0) = empty;
            CHECK(names_exactly(violations(body), "G-V1 contents[0].parts[0]"));
        }
    }
    SUBCASE("more than one data field") {
        Json body = valid_body();
        part(body, 0, 0)["fileData"] = Json{{"fileUri", "u"}};
        CHECK(names_exactly(violations(body), "G-V1 contents[0].parts[0]"));
        part(body, 0, 0).erase("text");
        CHECK(violations(body) == Findings{});
        part(body, 0, 0)["file_data"] = Json{{"file_uri", "u"}};
        CHECK(names_exactly(violations(body), "G-V1 contents[0].parts[0]"));
    }
    SUBCASE("an unset field is none") {
        Json body = valid_body();
        part(body, 0, 0)["functionCall"] = nullptr;
        CHECK(violations(body) == Findings{});
    }
}

TEST_CASE("gemini validator: every call has its response") {
    SUBCASE("fewer responses") {
        Json body = valid_body();
        body["contents"][2]["parts"].erase(0);
        CHECK(names_exactly(violations(body), "G-V2 contents[1]"));
        body = valid_body();
        body["contents"][4]["parts"].erase(0);
        CHECK(names_exactly(violations(body), "G-V2 contents[3]"));
    }
    SUBCASE("more responses") {
        Json body = valid_body();
        body["contents"][4]["parts"].push_back(part(body, 4, 1));
        CHECK(names_exactly(violations(body), "G-V2 contents[3]"));
    }
    SUBCASE("ids match in any order") {
        Json body = valid_body();
        std::swap(part(body, 2, 0), part(body, 2, 1));
        CHECK(violations(body) == Findings{});
        response(body, 2, 0)["id"] = "f3";
        CHECK(names_exactly(violations(body), "G-V2 contents[1]"));
        response(body, 2, 0)["id"] = "f1";  // twice
        CHECK(names_exactly(violations(body), "G-V2 contents[1]"));
    }
    SUBCASE("without ids the names match in order") {
        Json body = valid_body();
        response(body, 2, 0).erase("id");
        response(body, 2, 1).erase("id");
        CHECK(violations(body) == Findings{});
        std::swap(part(body, 2, 0), part(body, 2, 1));
        CHECK(names_exactly(violations(body), "G-V2 contents[1]"));
    }
    SUBCASE("an id beside a call without one") {
        Json body = valid_body();
        call(body, 1, 1).erase("id");
        std::swap(part(body, 2, 0), part(body, 2, 1));
        CHECK_FALSE(names(violations(body), "G-V2"));
    }
    SUBCASE("something between them") {
        Json body = valid_body();
        Json& contents = body["contents"];
        contents.insert(contents.begin() + 2, contents[0]);
        CHECK(names(violations(body), "G-V2"));
        CHECK(names(violations(body), "G-V3"));
    }
    SUBCASE("a call of the user, a response of the model") {
        Json body = valid_body();
        body["contents"][1]["role"] = "user";
        CHECK(names(violations(body), "G-V2"));
        body = valid_body();
        body["contents"][2]["role"] = "model";
        CHECK(violations(body) == Findings{"G-V2 contents[1]", "G-V3 contents[2]"});
    }
    SUBCASE("the last calls may wait") {
        Json body = valid_body();
        body["contents"].erase(6);
        CHECK(violations(body) == Findings{});
    }
}

TEST_CASE("gemini validator: responses follow calls") {
    Json body = valid_body();
    body["contents"][0]["parts"].push_back(part(body, 2, 0));
    CHECK(names_exactly(violations(body), "G-V3 contents[0]"));
    body = valid_body();
    part(body, 5, 0) = Json{{"text", "done"}};
    CHECK(names_exactly(violations(body), "G-V3 contents[6]"));
    body = valid_body();
    body["contents"].erase(0);
    CHECK(names_exactly(violations(body), "G-V3 contents[0]"));
}

TEST_CASE("gemini validator: responses and args are objects") {
    for (const Json& value : {Json("text"), Json::array({Json::object()}), Json(7)}) {
        Json body = valid_body();
        response(body, 2, 0)["response"] = value;
        CHECK(names_exactly(violations(body), "G-V4 contents[2].parts[0]"));
        body = valid_body();
        call(body, 3, 4)["args"] = value;
        CHECK(names_exactly(violations(body), "G-V5 contents[3].parts[4]"));
    }
    Json body = valid_body();
    response(body, 4, 0).erase("response");
    CHECK(names_exactly(violations(body), "G-V4 contents[4].parts[0]"));
    body = valid_body();
    response(body, 2, 0)["name"] = "";
    CHECK(names_exactly(violations(body), "G-V4 contents[2].parts[0]"));
    body = valid_body();
    call(body, 3, 5).erase("args");
    CHECK(violations(body) == Findings{});
}

TEST_CASE("gemini validator: contents and roles stay") {
    const Json in = valid_body();
    Json out = in;
    out["contents"].erase(6);
    CHECK(changes_forbidden(in, out) == Findings{"U-Δ1 contents", "U-Δ2 contents"});
    out = in;
    out["contents"].push_back(in["contents"][0]);
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ1 contents"));
    out = in;
    out["contents"][4]["role"] = "user";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ1 contents[4]"));
    out = in;
    out["contents"][4]["note"] = "n";
    CHECK(names(changes_forbidden(in, out), "U-Δ3"));
}

TEST_CASE("gemini validator: replaced responses") {
    const Json in = valid_body();
    Json out = in;
    SUBCASE("a string, an array, an object become a short string") {
        response(out, 2, 0)["response"]["output"] = "[pruned]";
        response(out, 2, 1)["response"]["output"] = "[pruned]";
        response(out, 4, 0)["response"]["error"] = "[pruned]";
        response(out, 4, 1)["response"]["output"] = "[pruned]";
        CHECK(new_violations(in, out) == Findings{});
        CHECK(new_violations(in["contents"], out["contents"]) == Findings{});
    }
    SUBCASE("blank") {
        for (const char* const blank : {"", " \n", "\u00a0"}) {
            response(out, 2, 0)["response"]["output"] = blank;
            CHECK(names_exactly(changes_forbidden(in, out),
                                "U-Δ4 contents[2].parts[0].functionResponse.response.output (blank)"));
        }
    }
    SUBCASE("not smaller") {
        response(out, 4, 0)["response"]["error"] = "the disk is full, as always !";
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ4 contents[4].parts[0].functionResponse.response.error (not smaller)"));
    }
    SUBCASE("numbers, truth values and nulls stay") {
        for (const char* const key : {"lines", "more", "next"}) {
            out = in;
            response(out, 2, 0)["response"][key] = "x";
            CHECK(names_exactly(changes_forbidden(in, out),
                                std::string{"U-Δ3 contents[2].parts[0].functionResponse.response."} + key));
        }
    }
    SUBCASE("only strings come in") {
        for (const Json& value : {Json(7), Json(nullptr), Json::object(), Json::array({"x"})}) {
            response(out, 2, 0)["response"]["output"] = value;
            CHECK(names(changes_forbidden(in, out), "U-Δ3"));
            out = in;
            response(out, 4, 1)["response"]["output"] = value;
            CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        }
    }
    SUBCASE("members stay, in order") {
        response(out, 2, 0)["response"].erase("lines");
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        response(out, 4, 0)["response"] = Json{{"output", "[pruned]"}};
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        response(out, 2, 0)["response"] =
            Json::parse(R"({"lines": 3, "output": "[pruned]", "more": false, "next": null})");
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ3 contents[2].parts[0].functionResponse.response (keys)"));
    }
    SUBCASE("another kind") {
        response(out, 2, 0)["response"] = Json::array({"[pruned]"});
        CHECK(names(changes_forbidden(in, out), "U-Δ4"));
        Json broken = in;
        response(broken, 2, 0)["response"] = "a text where an object belongs";
        out = broken;
        response(out, 2, 0)["response"] = "[pruned]";
        CHECK(names_exactly(new_violations(broken, out),
                            "U-Δ3 contents[2].parts[0].functionResponse.response"));
    }
    SUBCASE("name, id and other fields") {
        response(out, 2, 0)["name"] = "look";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[2].parts[0].functionResponse.name"));
        out = in;
        response(out, 2, 0)["id"] = "f9";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ2 contents[2].parts[0]"));
        out = in;
        response(out, 2, 0)["willContinue"] = true;
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        part(out, 4, 0) = Json{{"functionResponse", response(out, 4, 0)}};
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[4].parts[0] (keys)"));
    }
    SUBCASE("not read by the model yet") {
        response(out, 6, 0)["response"]["output"] = "[pruned]";
        CHECK(
            names_exactly(changes_forbidden(in, out), "U-Δ3 contents[6].parts[0].functionResponse (unread)"));
        AllowedChanges loose;
        loose.unread_results = true;
        CHECK(new_violations(in, out, loose) == Findings{});
    }
}

TEST_CASE("gemini validator: media of a response") {
    const Json in = valid_body();
    Json out = in;
    response(out, 2, 1)["parts"] = Json::array();
    CHECK(names_exactly(changes_forbidden(in, out),
                        "U-Δ3 contents[2].parts[1].functionResponse.parts (referred to)"));
    response(out, 2, 1)["response"]["output"] = "[pruned]";
    CHECK(new_violations(in, out) == Findings{});
    for (const Json& value : {Json(nullptr), Json("x"), Json::object(), Json::array({Json::object()})}) {
        response(out, 2, 1)["parts"] = value;
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[2].parts[1].functionResponse.parts"));
    }
    response(out, 2, 1).erase("parts");
    CHECK(names(changes_forbidden(in, out), "U-Δ3"));
    out = in;
    response(out, 2, 1)["parts"][0]["inlineData"]["data"] = "iVBP";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[2].parts[1].functionResponse.parts"));
}

TEST_CASE("gemini validator: replaced args") {
    const Json in = valid_body();
    Json out = in;
    Json& args = call(out, 3, 4)["args"];
    SUBCASE("strings at any depth") {
        args["content"] = "[pruned]";
        args["edits"][0]["old"] = "[pruned]";
        args["edits"][0]["new"] = "[pruned]";
        args["where"]["host"] = "[p]";
        args["words"][1] = "[p]";
        CHECK(new_violations(in, out) == Findings{});
    }
    SUBCASE("no others") {
        args["where"] = "[p]";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[3].parts[4].functionCall.args.where"));
        out = in;
        call(out, 3, 4)["args"]["where"]["host"] = 7;
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[3].parts[4].functionCall.args.where.host"));
        out = in;
        call(out, 3, 4)["args"]["words"].erase(1);
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        call(out, 3, 4)["args"]["words"][1] = " ";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ4 contents[3].parts[4].functionCall.args.words[1] (blank)"));
        out = in;
        call(out, 3, 4)["args"]["edits"].erase(0);
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        call(out, 3, 4)["args"]["content"] = 7;
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        call(out, 3, 4)["args"].erase("path");
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
        out = in;
        call(out, 3, 4)["args"] = "x";
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
    }
    SUBCASE("blank or not smaller") {
        args["content"] = " ";
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ4 contents[3].parts[4].functionCall.args.content (blank)"));
        args["content"] = "int main() { return 1; }";
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ4 contents[3].parts[4].functionCall.args (not smaller)"));
    }
    SUBCASE("of a call whose response was not read") {
        call(out, 5, 0)["args"]["why"] = "[p]";
        CHECK(names_exactly(changes_forbidden(in, out),
                            "U-Δ3 contents[5].parts[0].functionCall.args (unread)"));
        AllowedChanges loose;
        loose.unread_results = true;
        CHECK(new_violations(in, out, loose) == Findings{});
    }
    SUBCASE("of a call without a response") {
        AllowedChanges loose;
        loose.unread_results = true;
        Json before = in;
        before["contents"].erase(6);
        out = before;
        call(out, 5, 0)["args"]["why"] = "[p]";
        CHECK(names_exactly(new_violations(before, out, loose),
                            "U-Δ3 contents[5].parts[0].functionCall.args (unanswered)"));
        before = in;
        before["contents"][4]["parts"].erase(1);  // by position the second call lost its response
        out = before;
        call(out, 3, 5)["args"]["content"] = "[p]";
        CHECK(names_exactly(new_violations(before, out),
                            "U-Δ3 contents[3].parts[5].functionCall.args (unanswered)"));
        out = before;
        call(out, 3, 4)["args"]["content"] = "[p]";
        CHECK(new_violations(before, out) == Findings{});
    }
    SUBCASE("name and id") {
        call(out, 1, 1)["name"] = "look";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[1].parts[1].functionCall.name"));
        out = in;
        call(out, 1, 1).erase("id");
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ2 contents[1].parts[1]"));
        out = in;
        call(out, 3, 5)["id"] = "f6";
        CHECK(names_exactly(changes_forbidden(in, out), "U-Δ2 contents[3].parts[5]"));
    }
}

TEST_CASE("gemini validator: signatures stay") {
    const Json in = valid_body();
    Json out = in;
    SUBCASE("changed") {
        part(out, 1, 1)["thoughtSignature"] = "c2lo";
        CHECK(changes_forbidden(in, out) == Findings{"G-Δ1 contents[1].parts[1]", "U-Δ6 contents"});
    }
    SUBCASE("moved to another part") {
        part(out, 3, 4).erase("thought_signature");
        part(out, 3, 5)["thought_signature"] = "c2lo";
        CHECK(names(changes_forbidden(in, out), "G-Δ1"));
        CHECK_FALSE(names(changes_forbidden(in, out), "U-Δ6"));
    }
    SUBCASE("spelled otherwise") {
        part(out, 3, 4).erase("thought_signature");
        part(out, 3, 4)["thoughtSignature"] = "c2lo";
        CHECK_FALSE(names(changes_forbidden(in, out), "G-Δ1"));
        CHECK(names(changes_forbidden(in, out), "U-Δ3"));
    }
    SUBCASE("on a part whose call is replaced") {
        call(out, 3, 4)["args"]["content"] = "[p]";
        part(out, 3, 4)["thought_signature"] = "c2lp";
        CHECK(names(changes_forbidden(in, out), "G-Δ1"));
    }
    SUBCASE("a second one in another spelling") {
        Json twice = in;
        part(twice, 1, 1)["thought_signature"] = "c2lq";
        out = twice;
        part(out, 1, 1)["thought_signature"] = "c2lr";
        CHECK(names(new_violations(twice, out), "U-Δ6"));
    }
}

TEST_CASE("gemini validator: part counts stay") {
    const Json in = valid_body();
    Json out = in;
    out["contents"][1]["parts"].erase(0);
    CHECK(names(changes_forbidden(in, out), "G-Δ2"));
    CHECK_FALSE(names(changes_forbidden(in, out), "U-Δ2"));
    out = in;
    out["contents"][2]["parts"].push_back(Json{{"text", "more"}});
    CHECK(names_exactly(changes_forbidden(in, out), "G-Δ2 contents[2]"));
    out = in;
    out["contents"][0]["parts"].erase(1);
    CHECK(names_exactly(changes_forbidden(in, out), "G-Δ2 contents[0]"));
}

TEST_CASE("gemini validator: server tools and settings stay") {
    const Json in = valid_body();
    for (std::size_t p = 0; p < 4; ++p) {
        Json out = in;
        for (auto& data : part(out, 3, p)) { data["note"] = "n"; }
        CHECK(names(changes_forbidden(in, out), "G-Δ3"));
        CHECK_FALSE(names(changes_forbidden(in, out), "U-Δ3"));
        part(out, 3, p) = Json{{"text", "[pruned]"}};
        CHECK(names(changes_forbidden(in, out), "G-Δ3"));
    }
    for (const char* const key : {"systemInstruction", "tools", "cachedContent"}) {
        Json out = in;
        out[key] = "x";
        CHECK(names_exactly(changes_forbidden(in, out), std::string{"G-Δ3 "} + key));
        out.erase(key);
        CHECK(names(changes_forbidden(in, out), "G-Δ3"));
    }
    Json snake = in;
    snake["cached_content"] = "cachedContents/2";
    CHECK(names(changes_forbidden(in, snake), "G-Δ3"));
    Json out = in;
    out["generationConfig"]["temperature"] = 1;
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 generationConfig"));
}

TEST_CASE("gemini validator: texts and media of the user stay") {
    const Json in = valid_body();
    Json out = in;
    part(out, 2, 2)["text"] = "explain";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[2].parts[2].text"));
    out = in;
    part(out, 0, 1)["inlineData"]["data"] = "iVBO";
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[0].parts[1].inlineData"));
    part(out, 0, 1) = Json{{"text", "[image pruned]"}};
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ2 contents[0].parts[1]"));
    out = in;
    part(out, 1, 0)["thought"] = false;
    CHECK(names_exactly(changes_forbidden(in, out), "U-Δ3 contents[1].parts[0].thought"));
}

TEST_CASE("gemini validator: an image of the user's may become a text where that is allowed") {
    AllowedChanges loose;
    loose.user_images = true;
    const Json blob = Json{{"mimeType", "image/png"}, {"data", "iVBORw0KGgoAAAANSUhEUgAAAAEA"}};
    const auto findings = [&](Json part, Json text, const char* role = "user", bool read = true,
                              const AllowedChanges& allowed = {}) {
        Json before = Json{{"contents", Json::array()}};
        before["contents"].push_back(Json{{"role", role}, {"parts", Json::array({Json{{"text", "look"}}, part})}});
        if (read) {
            before["contents"].push_back(
                Json{{"role", "model"}, {"parts", Json::array({Json{{"text", "I see"}}})}});
        }
        Json after = before;
        after["contents"][0]["parts"][1] = text;
        return changes_forbidden(before, after, allowed);
    };
    const Json gone = Json{{"text", "[image gone]"}};
    CHECK(findings({{"inlineData", blob}}, gone, "user", true, loose) == Findings{});
    CHECK(findings({{"inline_data", blob}, {"mediaResolution", {{"level", "x"}}}}, gone, "user", true, loose) ==
          Findings{});
    CHECK_FALSE(findings({{"inlineData", blob}}, gone).empty());
    CHECK_FALSE(findings({{"inlineData", blob}}, gone, "model", true, loose).empty());
    CHECK_FALSE(findings({{"inlineData", blob}}, gone, "user", false, loose).empty());
    CHECK_FALSE(findings({{"inlineData", blob}}, {{"text", " "}}, "user", true, loose).empty());
    CHECK_FALSE(findings({{"inlineData", blob}}, {{"text", "x"}, {"more", 1}}, "user", true, loose).empty());
    CHECK_FALSE(findings({{"inlineData", blob}, {"thoughtSignature", "c2ln"}}, gone, "user", true, loose).empty());
    CHECK_FALSE(findings({{"inlineData", blob}, {"partMetadata", "x"}}, gone, "user", true, loose).empty());
    Json sound = blob;
    sound["mimeType"] = "audio/wav";
    CHECK_FALSE(findings({{"inlineData", sound}}, gone, "user", true, loose).empty());
}

TEST_CASE("gemini validator: old faults are not counted as new") {
    Json in = valid_body();
    in["contents"][4]["parts"].erase(1);
    Json out = in;
    response(out, 2, 0)["response"]["output"] = "[pruned]";
    CHECK(violations(out) == Findings{"G-V2 contents[3]"});
    CHECK(new_violations(in, out) == Findings{});
    response(out, 2, 0)["name"] = "";
    CHECK(names(new_violations(in, out), "G-V4"));
}

// --- seeded faults -----------------------------------------------------------------------------------------

TEST_CASE("gemini validator: a stripped response is caught") {
    const Json in = valid_body();
    Json out = in;
    out["contents"][4]["parts"].erase(0);
    CHECK(names(new_violations(in, out), "G-V2"));
    CHECK(names(new_violations(in, out), "G-Δ2"));
    CHECK(names(new_violations(in, out), "U-Δ2"));
}

TEST_CASE("gemini validator: a text moved before a response is caught") {
    const Json in = valid_body();
    Json out = in;
    std::swap(part(out, 2, 1), part(out, 2, 2));
    CHECK(names(new_violations(in, out), "U-Δ2"));
}

TEST_CASE("gemini validator: a blank replacement is caught") {
    const Json in = valid_body();
    Json out = in;
    response(out, 4, 0)["response"]["error"] = "\t";
    CHECK(names(new_violations(in, out), "U-Δ4"));
}

TEST_CASE("gemini validator: a duplicate id is caught") {
    const Json in = valid_body();
    Json out = in;
    call(out, 1, 2)["id"] = "f1";
    CHECK(names(new_violations(in, out), "G-V2"));
    response(out, 2, 1)["id"] = "f1";
    CHECK(names(new_violations(in, out), "U-Δ2"));
}

TEST_CASE("gemini validator: a response that became a string is caught") {
    const Json in = valid_body();
    Json out = in;
    response(out, 2, 0)["response"] = "[pruned]";
    CHECK(names(new_violations(in, out), "G-V4"));
    CHECK(names(new_violations(in, out), "U-Δ4"));
}

TEST_CASE("gemini validator: a lost signature in the current turn is caught") {
    const Json in = valid_body();
    Json out = in;
    part(out, 5, 0).erase("thoughtSignature");
    CHECK(names(new_violations(in, out), "G-Δ1"));
    CHECK(names(new_violations(in, out), "U-Δ6"));
}

TEST_CASE("gemini validator: another key order in args is caught") {
    const Json in = valid_body();
    Json out = in;
    call(out, 1, 1)["args"] = Json::parse(R"({"limit": 10, "path": "/a.c"})");
    CHECK(names(new_violations(in, out), "U-Δ3"));
}

TEST_CASE("gemini validator: numbers spelled otherwise are caught") {
    const Json in = valid_body();
    for (const char* const key : {"mode", "size"}) {
        Json out = in;
        call(out, 3, 4)["args"]["content"] = "[p]";
        CHECK(new_violations(in, out) == Findings{});
        if (key == std::string_view{"mode"}) {
            call(out, 3, 4)["args"][key] = 1;
        } else {
            call(out, 3, 4)["args"][key] = 9223372036854775808.0;
        }
        CHECK(names_exactly(new_violations(in, out),
                            std::string{"U-Δ3 contents[3].parts[4].functionCall.args."} + key));
    }
}

TEST_CASE("gemini validator: two replacements of one node in consecutive runs are caught") {
    const Json in = valid_body();
    Json first = in;
    response(first, 2, 0)["response"]["output"] = "[pruned: 41 bytes]";
    Json second = first;
    second["contents"].push_back(Json::parse(R"({"role": "model", "parts": [{"text": "done"}]})"));
    CHECK(validation::unstable_changes(in, first, second) == Findings{});
    response(second, 2, 0)["response"]["output"] = "[pruned]";
    CHECK(names(validation::unstable_changes(in, first, second), "U-Σ2"));
}

TEST_CASE("gemini validator: nodes of any type are taken and every spoiled one is noticed") {
    const Json body = valid_body();
    AllowedChanges loose;
    loose.unread_results = true;
    spoiled_nodes::for_each_spoiled(body, [&](const Json& spoiled, const Json::json_pointer& place) {
        CAPTURE(place.to_string());
        CHECK(new_violations(spoiled, spoiled) == Findings{});
        const bool is_same = validation::same(body, spoiled);
        CHECK(new_violations(body, spoiled).empty() == is_same);
        CHECK(new_violations(spoiled, body).empty() == is_same);
        CHECK(new_violations(body, spoiled, loose).empty() == is_same);
    });
}
