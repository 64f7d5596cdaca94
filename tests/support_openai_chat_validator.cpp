// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/openai_chat_validator.hpp"

namespace {

using openai_chat_validator::AllowedChanges;
using openai_chat_validator::changes_forbidden;
using openai_chat_validator::deviant_violations;
using openai_chat_validator::Findings;
using openai_chat_validator::Json;
using openai_chat_validator::new_violations;
using openai_chat_validator::violations;
using validation::names;

/// Three rounds: two calls with a string and a list as results, one of the old kind, and one not yet read.
Json valid_body() {
    return Json::parse(
        R"({
      "model": "m", "temperature": 1.0,
      "messages": [
        {"role": "system", "content": "S"},
        {"role": "user", "content": [
          {"type": "text", "text": "look", "cache_control": {"type": "ephemeral"}},
          {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]},
        {"role": "assistant", "content": null, "reasoning_content": "first",
         "reasoning_details": [{"type": "reasoning.text", "text": "first", "signature": "c2ln"}],
         "tool_calls": [
          {"id": "call_1", "type": "function", "extra_content": {"google": {"thought_signature": "c2ln"}},
           "function": {"name": "write",
             "arguments": "{\"path\": \"a.c\", \"text\": \"int main() {}\", )"
        R"(\"mode\": 1.0, \"size\": 9223372036854775808, \"edits\": [{\"old\": \"a long line\"}], )"
        R"(\"deep\": {\"in\": \"x\"}}"}},
          {"id": "call_2", "type": "custom", "custom": {"name": "apply_patch", "input": "*** Begin Patch"}}]},
        {"role": "tool", "tool_call_id": "call_2", "content": [
          {"type": "text", "text": "a long text that is done", "cache_control": {"type": "ephemeral"}},
          {"type": "text", "text": "and more of it"}]},
        {"role": "tool", "tool_call_id": "call_1", "name": "write", "content": "a long text that was written"},
        {"role": "assistant", "content": "next", "refusal": null,
         "function_call": {"name": "old", "arguments": "{\"text\":\"as it was done before\"}"}},
        {"role": "function", "name": "old", "content": "a long text of the old kind"},
        {"role": "assistant", "content": "", "tool_calls": [
          {"id": "call_1", "type": "function",
           "function": {"name": "read", "arguments": "{\"path\":\"another path\"}"}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": "a result nobody has read so far"}
      ]})");
}

Json& message(Json& body, std::size_t index) { return body["messages"][index]; }

Json& function(Json& body, std::size_t index) { return message(body, index)["tool_calls"][0]["function"]; }

/// The valid body with another text as arguments of its first call.
Json with_arguments(std::string_view from, std::string_view to) {
    Json body = valid_body();
    std::string text = function(body, 2)["arguments"].get<std::string>();
    text.replace(text.find(from), from.size(), to);
    function(body, 2)["arguments"] = std::move(text);
    return body;
}

Json text_part(std::string_view text) { return Json{{"type", "text"}, {"text", std::string{text}}}; }

Json ollama_body() {
    return Json::parse(R"({
      "model": "m",
      "messages": [
        {"role": "user", "content": "open", "images": ["iVBORw0KGgo="]},
        {"role": "assistant", "content": "", "thinking": "look", "tool_calls": [
          {"function": {"name": "read", "arguments": {"path": "a.c", "text": "a long text to shorten"}}}]},
        {"role": "tool", "tool_name": "read", "content": "a long text that was read"},
        {"role": "assistant", "content": "ok"}]})");
}

Json mistral_body() {
    return Json::parse(R"({
      "messages": [
        {"role": "user", "content": "open"},
        {"role": "assistant", "content": "", "tool_calls": [
          {"id": "abcDEF123", "function": {"name": "read", "arguments": {"path": "a long path to shorten"}}}]},
        {"role": "tool", "name": "read", "tool_call_id": "abcDEF123", "content": "a long text that was read"},
        {"role": "assistant", "content": "ok"}]})");
}

/// The only finding is this one.
bool is_exactly(const Findings& findings, std::string_view finding) {
    return findings.size() == 1 && findings.front() == finding;
}

/// What a change of the valid body breaks.
template <class Change>
Findings after_change(const Change& change, const AllowedChanges& allowed = {}) {
    const Json before = valid_body();
    Json after = before;
    change(after);
    return new_violations(before, after, allowed);
}

std::vector<Json::json_pointer> places_of(const Json& body) {
    std::vector<Json::json_pointer> places;
    std::vector<Json::json_pointer> open{Json::json_pointer{}};
    while (!open.empty()) {
        const Json::json_pointer place = open.back();
        open.pop_back();
        places.push_back(place);
        for (const auto& item : body[place].items()) {
            if (body[place].is_array()) {
                open.push_back(place / static_cast<std::size_t>(std::stoul(item.key())));
            } else if (body[place].is_object()) {
                open.push_back(place / item.key());
            }
        }
    }
    return places;
}

}  // namespace

TEST_CASE("openai chat validator: valid bodies have no findings") {
    for (const Json& body : {valid_body(), ollama_body(), mistral_body()}) {
        CHECK(violations(body) == Findings{});
        CHECK(violations(body["messages"]) == Findings{});
        CHECK(new_violations(body, body) == Findings{});
    }
}

TEST_CASE("openai chat validator: what is no request body") {
    CHECK(is_exactly(violations(Json::object()), "U-V1 body"));
    CHECK(is_exactly(violations(Json("text")), "U-V1 body"));
    CHECK(violations(Json::array()) == Findings{});
    CHECK(changes_forbidden(Json::object(), Json::object()) == Findings{});
    CHECK(names(changes_forbidden(Json::object(), Json("text")), "U-Δ3"));
    CHECK(is_exactly(violations(Json::array({7})), "U-V1 messages[0]"));

    Json deep = "x";
    for (std::size_t i = 0; i <= openai_chat_validator::max_depth; ++i) {
        deep = Json::array({std::move(deep)});
    }
    CHECK(is_exactly(violations(deep), "U-V1 body"));
    CHECK(is_exactly(changes_forbidden(deep, deep), "U-Δ3 body"));
}

TEST_CASE("openai chat validator: strings must be UTF-8") {
    for (const char* const text :
         {"\x80", "\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "cut \xf0\x9f\x98"}) {
        Json body = valid_body();
        message(body, 4)["content"] = text;
        CHECK(is_exactly(violations(body), "U-V1 messages[4]"));
    }
    Json body = valid_body();
    message(body, 4)["content"] = "\u00e9\u6f22\U0001f600";
    CHECK(violations(body) == Findings{});
    body["user"] = "\xff";
    CHECK(is_exactly(violations(body), "U-V1 user"));
}

TEST_CASE("openai chat validator: every call is answered once and right away") {
    Json body = valid_body();
    SUBCASE("in another order") {
        std::swap(message(body, 3), message(body, 4));
        CHECK(violations(body) == Findings{});
    }
    SUBCASE("one id twice in one message") {
        message(body, 2)["tool_calls"][1]["id"] = "call_1";
        CHECK(names(violations(body), "C-V1"));
    }
    SUBCASE("a call without an id") {
        message(body, 2)["tool_calls"][0].erase("id");
        CHECK(names(violations(body), "C-V1"));
    }
    SUBCASE("a result after the next user message") {
        body["messages"].insert(body["messages"].begin() + 4, Json{{"role", "user"}, {"content", "stop"}});
        CHECK(violations(body) == Findings{"C-V1 messages[2]", "C-V2 messages[5]"});
    }
    SUBCASE("calls at the very end") {
        body["messages"].erase(8);
        CHECK(is_exactly(violations(body), "C-V1 messages[7]"));
    }
}

TEST_CASE("openai chat validator: every result has a call right before") {
    Json body = valid_body();
    SUBCASE("of another id") {
        message(body, 8)["tool_call_id"] = "call_9";
        CHECK(violations(body) == Findings{"C-V2 messages[8]", "C-V1 messages[7]"});
    }
    SUBCASE("without an id") {
        message(body, 8).erase("tool_call_id");
        CHECK(names(violations(body), "C-V2"));
    }
    SUBCASE("twice") {
        body["messages"].push_back(message(body, 8));
        CHECK(is_exactly(violations(body), "C-V2 messages[9]"));
    }
    SUBCASE("at the beginning") {
        body["messages"].insert(body["messages"].begin(), message(body, 8));
        CHECK(is_exactly(violations(body), "C-V2 messages[0]"));
    }
}

TEST_CASE("openai chat validator: results are texts") {
    for (const Json& content : {Json::array(), Json(nullptr), Json(7), Json::object(), Json::array({"text"}),
                                Json::array({Json{{"type", "text"}}}),
                                Json::array({Json{{"type", "image_url"}, {"image_url", {{"url", "u"}}}}})}) {
        Json body = valid_body();
        message(body, 4)["content"] = content;
        CHECK(is_exactly(violations(body), "C-V3 messages[4]"));
    }
    Json body = valid_body();
    message(body, 4).erase("content");
    CHECK(is_exactly(violations(body), "C-V3 messages[4]"));
    message(body, 4)["content"] = "";
    CHECK(violations(body) == Findings{});
}

TEST_CASE("openai chat validator: an assistant says or does something") {
    Json body = valid_body();
    for (const Json& said : {Json{{"content", "x"}}, Json{{"content", Json::array({text_part("x")})}},
                             Json{{"refusal", "no"}}, Json{{"audio", {{"id", "a"}}}}}) {
        Json with = body;
        with["messages"].push_back(Json{{"role", "assistant"}});
        with["messages"].back().update(said);
        CHECK(violations(with) == Findings{});
    }
    for (const Json& said : {Json::object(), Json{{"content", nullptr}}, Json{{"content", Json::array()}},
                             Json{{"content", nullptr}, {"tool_calls", Json::array()}}}) {
        Json with = body;
        with["messages"].push_back(Json{{"role", "assistant"}});
        with["messages"].back().update(said);
        CHECK(is_exactly(violations(with), "C-V4 messages[9]"));
    }
}

TEST_CASE("openai chat validator: inputs of calls") {
    for (const Json& arguments : {Json(7), Json(nullptr), Json::array()}) {
        Json body = valid_body();
        function(body, 2)["arguments"] = arguments;
        CHECK(is_exactly(violations(body), "C-V5 messages[2].tool_calls[0].function.arguments"));
        body = valid_body();
        message(body, 5)["function_call"]["arguments"] = arguments;
        CHECK(is_exactly(violations(body), "C-V5 messages[5].function_call.arguments"));
    }
    Json body = valid_body();
    message(body, 2)["tool_calls"][1]["custom"]["input"] = Json::object();
    CHECK(is_exactly(violations(body), "C-V5 messages[2].tool_calls[1]"));
    body = valid_body();
    function(body, 2)["arguments"] = Json{{"path", "a.c"}};
    CHECK(violations(body) == Findings{});
    function(body, 2)["arguments"] = "no JSON at all";
    CHECK(violations(body) == Findings{});
}

TEST_CASE("openai chat validator: results of the old kind") {
    Json body = valid_body();
    SUBCASE("may be null") {
        message(body, 6)["content"] = nullptr;
        CHECK(violations(body) == Findings{});
    }
    SUBCASE("need a content") {
        message(body, 6).erase("content");
        CHECK(is_exactly(violations(body), "C-V6 messages[6]"));
    }
    SUBCASE("need a name") {
        message(body, 6).erase("name");
        CHECK(is_exactly(violations(body), "C-V6 messages[6]"));
    }
    SUBCASE("need a call of that name") {
        message(body, 5)["function_call"]["name"] = "other";
        CHECK(is_exactly(violations(body), "C-V6 messages[6]"));
    }
}

TEST_CASE("openai chat validator: user contents") {
    for (const Json& content : {Json(nullptr), Json::array(), Json::object(), Json::array({7}),
                                Json::array({Json{{"type", "tool_result"}}})}) {
        Json body = valid_body();
        message(body, 1)["content"] = content;
        CHECK(is_exactly(violations(body), "C-V7 messages[1]"));
    }
    Json body = valid_body();
    message(body, 1).erase("content");
    CHECK(is_exactly(violations(body), "C-V7 messages[1]"));
    message(body, 1)["content"] = "text";
    CHECK(violations(body) == Findings{});
}

TEST_CASE("openai chat validator: what a pruner may do") {
    SUBCASE("to results") {
        CHECK(after_change([](Json& after) {
                  message(after, 4)["content"] = "[pruned]";
                  message(after, 6)["content"] = "[pruned]";
              }) == Findings{});
    }
    SUBCASE("to lists in place") {
        CHECK(after_change([](Json& after) { message(after, 3)["content"][0]["text"] = "[pruned]"; }) ==
              Findings{});
    }
    SUBCASE("to lists as a whole") {
        CHECK(after_change([](Json& after) {
                  Json part = text_part("[pruned]");
                  part["cache_control"] = message(after, 3)["content"][0]["cache_control"];
                  message(after, 3)["content"] = Json::array({std::move(part)});
              }) == Findings{});
    }
    SUBCASE("to inputs") {
        const Json before = valid_body();
        CHECK(new_violations(before, with_arguments("int main() {}", "[cut]")) == Findings{});
        CHECK(new_violations(before, with_arguments("a long line", "[cut]")) == Findings{});
        CHECK(after_change([](Json& after) {
                  message(after, 5)["function_call"]["arguments"] = "{\"text\":\"[cut]\"}";
              }) == Findings{});
    }
    SUBCASE("to results that were not read where that is allowed") {
        const auto change = [](Json& after) { message(after, 8)["content"] = "[pruned]"; };
        CHECK(names(after_change(change), "U-Δ3"));
        CHECK(after_change(change, AllowedChanges{true}) == Findings{});
    }
}

TEST_CASE("openai chat validator: messages stay where they are") {
    CHECK(names(after_change([](Json& after) { after["messages"].erase(0); }), "U-Δ1"));
    CHECK(names(after_change([](Json& after) { message(after, 0)["role"] = "developer"; }), "U-Δ1"));
    CHECK(names(after_change([](Json& after) { std::swap(message(after, 3), message(after, 4)); }), "U-Δ2"));
    CHECK(names(after_change([](Json& after) {
                    message(after, 7)["tool_calls"][0]["id"] = "call_3";
                    message(after, 8)["tool_call_id"] = "call_3";
                }),
                "U-Δ2"));
}

TEST_CASE("openai chat validator: everything else stays the same") {
    SUBCASE("settings and their order") {
        CHECK(names(after_change([](Json& after) { after["temperature"] = 1; }), "U-Δ3"));
        CHECK(names(after_change([](Json& after) { after["top_p"] = 1; }), "U-Δ3"));
        CHECK(names(after_change([](Json& after) {
                        const Json model = after["model"];
                        after.erase("model");
                        after["model"] = model;
                    }),
                    "U-Δ3"));
    }
    SUBCASE("words and names") {
        CHECK(names(after_change([](Json& after) { message(after, 0)["content"] = "T"; }), "C-Δ1"));
        CHECK(
            names(after_change([](Json& after) { message(after, 1)["content"][0]["text"] = "x"; }), "C-Δ1"));
        CHECK(names(after_change([](Json& after) { message(after, 5)["content"] = "x"; }), "C-Δ1"));
        CHECK(names(after_change([](Json& after) { message(after, 5).erase("refusal"); }), "C-Δ1"));
        CHECK(names(after_change([](Json& after) { message(after, 4)["name"] = "x"; }), "C-Δ1"));
        CHECK(names(after_change([](Json& after) { function(after, 2)["name"] = "x"; }), "C-Δ1"));
    }
    SUBCASE("what goes back to the server") {
        CHECK(names(after_change([](Json& after) { message(after, 2).erase("reasoning_content"); }), "C-Δ2"));
        CHECK(names(after_change([](Json& after) { message(after, 2)["reasoning"] = "x"; }), "C-Δ2"));
        CHECK(names(after_change([](Json& after) { message(after, 2).erase("reasoning_details"); }), "C-Δ2"));
        const Findings findings = after_change(
            [](Json& after) { message(after, 2)["tool_calls"][0]["extra_content"]["google"] = nullptr; });
        CHECK(names(findings, "C-Δ2"));
        CHECK(names(findings, "U-Δ6"));
    }
    SUBCASE("inputs of custom tools") {
        CHECK(names(
            after_change([](Json& after) { message(after, 2)["tool_calls"][1]["custom"]["input"] = "x"; }),
            "U-Δ3"));
    }
}

TEST_CASE("openai chat validator: cache marks stay") {
    CHECK(
        names(after_change([](Json& after) { message(after, 3)["content"] = Json::array({text_part("x")}); }),
              "C-Δ2"));
    CHECK(names(after_change([](Json& after) { message(after, 1)["content"][0].erase("cache_control"); }),
                "C-Δ2"));
    CHECK(names(after_change([](Json& after) {
                    message(after, 3)["content"][1]["text"] = "x";
                    message(after, 3)["content"][1]["cache_control"] = Json{{"type", "ephemeral"}};
                }),
                "C-Δ2"));

    Json before = valid_body();  // two marks on one part must not come apart
    message(before, 3)["content"][0]["prompt_cache_breakpoint"] = Json::object();
    Json after = before;
    message(after, 3)["content"][0]["text"] = "x";
    CHECK(new_violations(before, after) == Findings{});
    message(after, 3)["content"][0].erase("prompt_cache_breakpoint");
    message(after, 3)["content"][1]["prompt_cache_breakpoint"] = Json::object();
    CHECK(names(new_violations(before, after), "C-Δ2"));
}

TEST_CASE("openai chat validator: replaced results") {
    SUBCASE("blank") {
        for (const char* const text : {"", " ", "\u00a0\n"}) {
            CHECK(names(after_change([text](Json& after) { message(after, 4)["content"] = text; }), "U-Δ4"));
            CHECK(names(after_change([text](Json& after) { message(after, 3)["content"][1]["text"] = text; }),
                        "U-Δ4"));
        }
    }
    SUBCASE("not smaller") {
        const Findings findings =
            after_change([](Json& after) { message(after, 4)["content"] = "A LONG TEXT THAT WAS WRITTEN"; });
        CHECK(is_exactly(findings, "U-Δ4 messages[4].content (not smaller)"));
    }
    SUBCASE("of another kind") {
        const Findings findings =
            after_change([](Json& after) { message(after, 4)["content"] = Json::array({text_part("")}); });
        CHECK(names(findings, "U-Δ4"));
        CHECK(names(findings, "O-V2"));
    }
    SUBCASE("with fields of their own") {
        CHECK(names(after_change([](Json& after) {
                        message(after, 3)["content"][1] = Json{{"type", "text"}, {"text", "x"}, {"note", 1}};
                    }),
                    "U-Δ3"));
    }
    SUBCASE("parts of an unknown type") {
        Json before = valid_body();
        message(before, 3)["content"].push_back(
            Json{{"type", "novelty"}, {"data", "so long that it is worth it"}});
        Json after = before;
        message(after, 3)["content"][2] = text_part("x");
        CHECK(names(new_violations(before, after), "U-Δ3"));
        after = before;
        message(after, 3)["content"].erase(2);
        CHECK(names(new_violations(before, after), "U-Δ3"));
        after = before;
        message(after, 3)["content"].erase(1);
        CHECK(new_violations(before, after) == Findings{});
    }
}

TEST_CASE("openai chat validator: replaced inputs") {
    const Json before = valid_body();
    const auto change = [&before](std::string_view from, std::string_view to) {
        return new_violations(before, with_arguments(from, to));
    };
    CHECK(names(change("int main() {}", " "), "U-Δ4"));
    CHECK(names(change("int main() {}", "int main() { }"), "U-Δ4"));
    CHECK(names(change("\"in\": \"x\"", "\"in\": \"\""), "U-Δ4"));
    CHECK(names(change("\"in\": \"x\"", "\"in\": 7"), "U-Δ3"));
    CHECK(names(change("\"in\": \"x\"", "\"on\": \"x\""), "U-Δ3"));
    CHECK(names(change("\"a.c\", ", "\"a.c\","), "U-Δ3"));
    CHECK(names(change("{\"path\"", "{ \"path\""), "U-Δ3"));
    CHECK(names(change("x\"}}", "x\"}} "), "U-Δ3"));
    CHECK(names(change("int main", "\\u0069nt main"), "U-Δ3"));
    CHECK(names(change("[{\"old\": \"a long line\"}]", "\"[cut]\""), "U-Δ3"));
    CHECK(names(change("\"old\"", "\"new\""), "U-Δ3"));

    CHECK(names(after_change([](Json& after) {
                    function(after, 2)["arguments"] = Json{{"path", "a.c"}};
                }),
                "C-V5"));
    CHECK(names(after_change([](Json& after) { function(after, 2)["arguments"] = ""; }), "L-V1"));
    CHECK(names(after_change([](Json& after) { function(after, 7)["arguments"] = "{\"path\":\"x\"}"; }),
                "U-Δ3"));

    Json broken = before;  // what was no object may become nothing else
    function(broken, 2)["arguments"] = "[\"a long list of things\"]";
    Json after = broken;
    function(after, 2)["arguments"] = "[\"x\"]";
    CHECK(names(new_violations(broken, after), "U-Δ3"));

    Json unanswered = before;
    message(unanswered, 4)["tool_call_id"] = "call_9";
    after = unanswered;
    function(after, 2)["arguments"] =
        with_arguments("int main() {}", "x")["messages"][2]["tool_calls"][0]["function"]["arguments"];
    CHECK(names(new_violations(unanswered, after), "U-Δ3"));
}

TEST_CASE("openai chat validator: Ollama alone") {
    for (const Json& content : {Json::array({text_part("x")}), Json(7), Json(nullptr)}) {
        Json body = ollama_body();
        message(body, 2)["content"] = content;
        CHECK(is_exactly(violations(body), "O-V1 messages[2]"));
    }
    Json body = ollama_body();
    function(body, 1)["arguments"] = "{\"path\":\"a.c\"}";
    CHECK(is_exactly(violations(body), "O-V1 messages[1].tool_calls[0].function.arguments"));
    body = ollama_body();
    message(body, 0)["images"] = Json::array({7});
    CHECK(is_exactly(violations(body), "O-V1 messages[0].images"));
    body = ollama_body();
    message(body, 0)["images"] = "iVBORw0KGgo=";
    CHECK(is_exactly(violations(body), "O-V1 messages[0].images"));
    body = ollama_body();
    message(body, 1).erase("content");
    body["messages"].erase(2);
    CHECK(violations(body) == Findings{});
}

TEST_CASE("openai chat validator: Ollama before and after") {
    const Json before = ollama_body();
    Json after = before;
    message(after, 2)["content"] = "[pruned]";
    function(after, 1)["arguments"]["text"] = "[cut]";
    CHECK(new_violations(before, after) == Findings{});
    function(after, 1)["arguments"]["path"] = 7;
    CHECK(names(new_violations(before, after), "U-Δ3"));
    after = before;
    message(after, 0)["images"] = Json::array();
    CHECK(names(new_violations(before, after), "U-Δ3"));
    after = before;
    message(after, 1)["thinking"] = "";
    CHECK(names(new_violations(before, after), "U-Δ3"));
    after = before;
    message(after, 2)["tool_name"] = "write";
    CHECK(names(new_violations(before, after), "U-Δ3"));
}

TEST_CASE("openai chat validator: an empty list makes a message vanish") {
    const Findings findings = after_change([](Json& after) { message(after, 3)["content"] = Json::array(); });
    CHECK(names(findings, "O-V2"));
    CHECK(names(findings, "C-V3"));
    CHECK_FALSE(names(deviant_violations(valid_body()), "O-V2"));
}

TEST_CASE("openai chat validator: llama.cpp and vLLM read the inputs") {
    Json body = valid_body();
    CHECK_FALSE(names(deviant_violations(body), "L-V1"));
    CHECK_FALSE(names(deviant_violations(body), "VL-V1"));
    function(body, 2)["arguments"] = "";
    CHECK(names(deviant_violations(body), "L-V1"));
    CHECK(names(deviant_violations(body), "VL-V1"));
    function(body, 2)["arguments"] = "{";
    CHECK_FALSE(names(deviant_violations(body), "L-V1"));
    CHECK(names(deviant_violations(body), "VL-V1"));
    body = valid_body();
    message(body, 5).erase("content");
    CHECK(names(deviant_violations(body), "L-V1"));
    CHECK(names(new_violations(valid_body(), body), "L-V1"));
    CHECK(names(new_violations(valid_body(), with_arguments("{", "")), "VL-V1"));
}

TEST_CASE("openai chat validator: DeepSeek wants its reasoning back") {
    CHECK(names(after_change([](Json& after) { message(after, 2).erase("reasoning_content"); }), "D-V1"));
    CHECK(names(after_change([](Json& after) { message(after, 2)["reasoning_content"] = ""; }), "D-V1"));
    CHECK(names(after_change([](Json& after) { message(after, 7)["reasoning_content"] = ""; }), "D-V1"));
    Json body = valid_body();
    message(body, 3)["content"] = "a text";
    CHECK_FALSE(names(deviant_violations(body), "D-V2"));
    message(body, 3)["content"] = "";
    CHECK(names(deviant_violations(body), "D-V2"));
    CHECK(names(after_change([](Json& after) { message(after, 4)["content"] = ""; }), "D-V2"));
    CHECK(names(after_change([](Json& after) { message(after, 5)["content"] = nullptr; }), "D-V2"));
}

TEST_CASE("openai chat validator: OpenRouter wants its details whole or not at all") {
    CHECK(
        names(after_change([](Json& after) { message(after, 2)["reasoning_details"][0].erase("signature"); }),
              "OR-Δ1"));
    CHECK(names(after_change([](Json& after) { message(after, 2)["reasoning_details"] = Json::array(); }),
                "OR-Δ1"));
    CHECK_FALSE(
        names(after_change([](Json& after) { message(after, 2).erase("reasoning_details"); }), "OR-Δ1"));
}

TEST_CASE("openai chat validator: Mistral counts and has short ids") {
    const Json before = mistral_body();
    CHECK_FALSE(names(deviant_violations(before), "M-V1"));
    Json after = before;
    message(after, 2)["content"] = "[pruned]";
    function(after, 1)["arguments"]["path"] = "[cut]";
    CHECK(new_violations(before, after) == Findings{});
    for (const char* const id : {"abcDEF1234", "abcDEF12", "abc-EF123", ""}) {
        after = before;
        message(after, 1)["tool_calls"][0]["id"] = id;
        message(after, 2)["tool_call_id"] = id;
        CHECK(names(new_violations(before, after), "M-V1"));
    }
    after = before;
    after["messages"].erase(2);
    CHECK(names(new_violations(before, after), "M-V1"));
    after = before;
    message(after, 3) = Json{{"role", "user"}, {"content", "go on"}};
    CHECK(names(new_violations(before, after), "M-V1"));
}

TEST_CASE("openai chat validator: what is JSON is decided as a parser does") {
    for (const char* const text : {"{}",
                                   "[]",
                                   " {\"a\" : [ ] }\n",
                                   "0",
                                   "-0.5e+10",
                                   "1E5",
                                   "true",
                                   "[null,false]",
                                   "\"\\u00e9\\n\"",
                                   "{\"a\":1,\"a\":2}",
                                   "",
                                   " ",
                                   "{",
                                   "}",
                                   "[}",
                                   "{]",
                                   "[1,]",
                                   "{\"a\":1,}",
                                   "{,}",
                                   "[,1]",
                                   "{\"a\"}",
                                   "{\"a\":}",
                                   "{a:1}",
                                   "[1 2]",
                                   "01",
                                   "-",
                                   "1.",
                                   ".5",
                                   "1e",
                                   "+1",
                                   "tru",
                                   "truex",
                                   "nullnull",
                                   "{} {}",
                                   "\"",
                                   "\"\\",
                                   "\"\\x\"",
                                   "\"\\u12\"",
                                   "\"\\u12g4\"",
                                   "\"a\tb\"",
                                   "\"\xff\"",
                                   "'a'",
                                   "[1]]",
                                   "{\"a\":1]",
                                   "{1:2}",
                                   "\xef\xbb\xbf"}) {
        CAPTURE(text);
        CHECK(validation::is_json_text(text) == Json::accept(std::string_view{text}));
    }
    CHECK(validation::is_json_text("1e999"));
    CHECK(validation::is_json_text("\"\\ud83d\""));
    const std::string deep(100000, '[');
    CHECK_FALSE(validation::is_json_text(deep));
    CHECK(validation::is_json_text(deep + std::string(100000, ']')));
}

TEST_CASE("openai chat validator: mutation 1 a result is lost") {
    const Findings findings = after_change([](Json& after) { after["messages"].erase(4); });
    CHECK(names(findings, "C-V1"));
    CHECK(names(findings, "U-Δ1"));
}

TEST_CASE("openai chat validator: mutation 5 an id is there twice") {
    const Findings findings = after_change([](Json& after) {
        message(after, 2)["tool_calls"][1]["id"] = "call_1";
        message(after, 3)["tool_call_id"] = "call_1";
    });
    CHECK(names(findings, "C-V1"));
    CHECK(names(findings, "U-Δ2"));
}

TEST_CASE("openai chat validator: mutation 8 a result is an empty list") {
    CHECK(names(after_change([](Json& after) { message(after, 3)["content"] = Json::array(); }), "C-V3"));
}

TEST_CASE("openai chat validator: mutation 9 an input is no JSON any more") {
    const Json before = valid_body();
    for (const char* const rest : {"", "}}", "\"}}x", "\\q\"}}"}) {
        CHECK(names(new_violations(before, with_arguments("x\"}}", rest)), "C-V5"));
    }
}

TEST_CASE("openai chat validator: mutation 17 the keys of an input change places") {
    CHECK(names(new_violations(valid_body(), with_arguments(R"("path": "a.c", "text": "int main() {}")",
                                                            R"("text": "int main() {}", "path": "a.c")")),
                "U-Δ3"));
    const Json before = mistral_body();
    Json wider = before;
    function(wider, 1)["arguments"]["mode"] = "r";
    Json after = wider;
    function(after, 1)["arguments"] = Json{{"mode", "r"}, {"path", "a long path to shorten"}};
    CHECK(names(new_violations(wider, after), "U-Δ3"));
}

TEST_CASE("openai chat validator: mutation 18 a number of an input is spelled in another way") {
    const Json before = valid_body();
    CHECK(names(new_violations(before, with_arguments("9223372036854775808", "9.223372036854775808e18")),
                "U-Δ3"));
    CHECK(
        names(new_violations(before, with_arguments("9223372036854775808", "9223372036854775807")), "U-Δ3"));
    CHECK(names(new_violations(before, with_arguments("1.0", "1")), "U-Δ3"));

    Json object = mistral_body();
    function(object, 1)["arguments"].update(Json{{"mode", 1.0}, {"size", 9223372036854775808U}});
    Json after = object;
    function(after, 1)["arguments"]["mode"] = 1;
    CHECK(names(new_violations(object, after), "U-Δ3"));
    after = object;
    function(after, 1)["arguments"]["size"] = 9223372036854775808.0;
    CHECK(names(new_violations(object, after), "U-Δ3"));
}

TEST_CASE("openai chat validator: mutation 19 a pair of surrogates is cut") {
    const Json before = with_arguments("int main() {}", "\\ud83d\\ude00 laughs");
    CHECK(violations(before) == Findings{});
    for (const char* const cut : {"\\ud83d", "\\ude00", "[\\ud83d]"}) {
        const Json after = with_arguments("int main() {}", cut);
        CHECK(is_exactly(violations(after), "U-V1 messages[2].tool_calls[0].function.arguments"));
        CHECK(names(new_violations(before, after), "U-V1"));
    }
    CHECK(violations(with_arguments("int main() {}", "\\\\ud83d")) == Findings{});
    CHECK(new_violations(before, with_arguments("int main() {}", "\\ud83d\\ude00")) == Findings{});
}

TEST_CASE("openai chat validator: mutation 20 one result is replaced in two ways") {
    const Json before = valid_body();
    Json first = before;
    message(first, 4)["content"] = "[cut 28]";
    Json second = first;
    second["messages"].push_back(Json{{"role", "assistant"}, {"content", "done"}});
    message(second, 8)["content"] = "[cut 31]";
    CHECK(validation::unstable_changes(before, first, second) == Findings{});
    message(second, 4)["content"] = "[cut 29]";
    CHECK(is_exactly(validation::unstable_changes(before, first, second), "U-Σ2 messages[4].content"));
    message(second, 4) = message(first, 4);
    second["messages"][4]["content"] = before["messages"][4]["content"];
    CHECK(is_exactly(validation::unstable_changes(before, first, second), "U-Σ2 messages[4].content"));

    const Json cut = with_arguments("int main() {}", "[cut]");
    Json more = cut;
    function(more, 2)["arguments"] = "";
    CHECK(names(validation::unstable_changes(before, cut, more), "U-Σ2"));
    std::string text = cut["messages"][2]["tool_calls"][0]["function"]["arguments"].get<std::string>();
    text.replace(text.find("a long line"), 11, "[cut]");
    function(more, 2)["arguments"] = text;
    CHECK(validation::unstable_changes(before, cut, more) == Findings{});
    text.replace(text.find("[cut]"), 5, "[CUT]");
    function(more, 2)["arguments"] = text;
    CHECK(names(validation::unstable_changes(before, cut, more), "U-Σ2"));
}

TEST_CASE("openai chat validator: no document makes it fall over") {
    for (const Json& body : {valid_body(), ollama_body(), mistral_body()}) {
        std::size_t unnoticed = 0;
        for (const Json::json_pointer& place : places_of(body)) {
            for (const Json& value : {Json(nullptr), Json(7), Json(""), Json::array(), Json::object()}) {
                Json hostile = body;
                hostile[place] = value;
                const bool is_other = !validation::same(body, hostile);
                static_cast<void>(violations(hostile));
                static_cast<void>(deviant_violations(hostile));
                unnoticed += is_other && new_violations(body, hostile).empty() ? 1U : 0U;
                CHECK(new_violations(hostile, hostile).empty());
                static_cast<void>(new_violations(hostile, body));
                static_cast<void>(validation::unstable_changes(body, hostile, body));
            }
        }
        CHECK(unnoticed == 0);
    }
}

TEST_CASE("openai chat validator: an image of the user's may become a text where that is allowed") {
    AllowedChanges loose;
    loose.user_images = true;
    const Json picture =
        Json{{"type", "image_url"}, {"image_url", {{"url", "data:image/png;base64,iVBORw0KGgoAAAANSU"}}}};
    const Json words = Json{{"type", "text"}, {"text", "look"}};
    const auto findings = [&](Json part, Json text, const char* role = "user", bool read = true,
                              const AllowedChanges& allowed = {}) {
        Json before = Json{{"messages", Json::array()}};
        before["messages"].push_back(Json{{"role", role}, {"content", Json::array({words, part})}});
        if (read) { before["messages"].push_back(Json{{"role", "assistant"}, {"content", "I see"}}); }
        Json after = before;
        after["messages"][0]["content"][1] = text;
        return openai_chat_validator::changes_forbidden(before, after, allowed);
    };
    const Json gone = Json{{"type", "text"}, {"text", "[image gone]"}};
    CHECK(findings(picture, gone, "user", true, loose) == Findings{});
    CHECK_FALSE(findings(picture, gone).empty());
    CHECK_FALSE(findings(picture, gone, "system", true, loose).empty());
    CHECK_FALSE(findings(picture, gone, "user", false, loose).empty());
    CHECK_FALSE(findings(picture, {{"type", "text"}, {"text", " "}}, "user", true, loose).empty());
    CHECK_FALSE(findings(picture, {{"type", "text"}, {"text", "x"}, {"more", 1}}, "user", true, loose).empty());
    const Json file = Json{{"type", "file"}, {"file", {{"file_data", std::string(200, 'x')}}}};
    CHECK_FALSE(findings(file, gone, "user", true, loose).empty());
    CHECK_FALSE(findings(words, gone, "user", true, loose).empty());
    // a mark goes along
    Json marked_picture = picture;
    marked_picture["cache_control"] = Json{{"type", "ephemeral"}};
    CHECK_FALSE(findings(marked_picture, gone, "user", true, loose).empty());
    Json marked_text = gone;
    marked_text["cache_control"] = Json{{"type", "ephemeral"}};
    CHECK(findings(marked_picture, marked_text, "user", true, loose) == Findings{});
}
