// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/openai_responses_validator.hpp"

namespace {

using openai_responses_validator::AllowedChanges;
using openai_responses_validator::changes_forbidden;
using openai_responses_validator::Findings;
using openai_responses_validator::Json;
using openai_responses_validator::new_violations;
using openai_responses_validator::violations;
using validation::names;

/// Places of items in the valid body.
constexpr std::size_t user = 0;
constexpr std::size_t reasoning = 1;
constexpr std::size_t function_call = 2;
constexpr std::size_t custom_call = 3;
constexpr std::size_t function_output = 4;
constexpr std::size_t custom_output = 5;
constexpr std::size_t local_output = 7;
constexpr std::size_t shell_output = 9;
constexpr std::size_t patch_output = 11;
constexpr std::size_t screenshot = 13;
constexpr std::size_t search_output = 15;
constexpr std::size_t mcp_call = 16;
constexpr std::size_t assistant = 17;
constexpr std::size_t second_reasoning = 18;
constexpr std::size_t unread_call = 19;
constexpr std::size_t unread_output = 20;

Json valid_body() {
    return Json::parse(
        R"({
      "model": "m", "store": false, "instructions": "I", "tools": [],
      "include": ["reasoning.encrypted_content"],
      "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "fix it"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "Z0FB"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "write", "status": "completed",
         "arguments": "{\"path\": \"a.c\", \"text\": \"int main() {}\", )"
        R"(\"mode\": 1.0, \"size\": 9223372036854775808, \"edits\": [{\"old\": \"a long line\"}], )"
        R"(\"deep\": {\"in\": \"x\"}}"},
        {"type": "custom_tool_call", "call_id": "call_2", "name": "apply_patch", "input": "*** Begin Patch"},
        {"type": "function_call_output", "call_id": "call_1", "output": "a long text that was written"},
        {"type": "custom_tool_call_output", "call_id": "call_2", "output": [
          {"type": "input_text", "text": "a long text that is done",
           "prompt_cache_breakpoint": {"mode": "explicit"}},
          {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}]},
        {"type": "local_shell_call", "id": "ls_1", "call_id": "call_3",
         "action": {"type": "exec", "command": ["ls"], "env": {}}},
        {"type": "local_shell_call_output", "id": "call_3", "output": "{\"output\":\"a long list of files\"}"},
        {"type": "shell_call", "call_id": "call_4", "action": {"commands": ["ls", "false"]}},
        {"type": "shell_call_output", "call_id": "call_4", "max_output_length": 4096, "output": [
          {"stdout": "a long list of files", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
          {"stdout": "", "stderr": "a long story about time", "outcome": {"type": "timeout"}}]},
        {"type": "apply_patch_call", "call_id": "call_5", "status": "completed",
         "operation": {"type": "update_file", "path": "a.c", "diff": "@@"}},
        {"type": "apply_patch_call_output", "call_id": "call_5", "status": "failed",
         "output": "a long text on why"},
        {"type": "computer_call", "call_id": "call_6", "action": {"type": "screenshot"}},
        {"type": "computer_call_output", "call_id": "call_6",
         "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,iVBORw0KGgo="}},
        {"type": "tool_search_call", "call_id": "call_7", "arguments": {}},
        {"type": "tool_search_output", "call_id": "call_7", "tools": [{"name": "deploy"}]},
        {"type": "mcp_call", "id": "mcp_1", "name": "ask", "arguments": "{}", "output": "a long answer of it"},
        {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed", "phase": "final_answer",
         "content": [{"type": "output_text", "text": "ok", "annotations": []}]},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "Z0FC"},
        {"type": "function_call", "id": "fc_2", "call_id": "call_8", "name": "read",
           "arguments": "{\"path\":\"a long path\"}"},
        {"type": "function_call_output", "call_id": "call_8", "output": "a result nobody has read so far"}
      ]})");
}

Json& item(Json& body, std::size_t index) { return body["input"][index]; }

/// The valid body with another text as arguments of its first call.
Json with_arguments(std::string_view from, std::string_view to) {
    Json body = valid_body();
    std::string text = item(body, function_call)["arguments"].get<std::string>();
    text.replace(text.find(from), from.size(), to);
    item(body, function_call)["arguments"] = std::move(text);
    return body;
}

Json text_part(std::string_view text) { return Json{{"type", "input_text"}, {"text", std::string{text}}}; }

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

/// What the valid body breaks alone after a change.
template <class Change>
Findings alone_after(const Change& change) {
    Json body = valid_body();
    change(body);
    return violations(body);
}

std::vector<Json::json_pointer> places_of(const Json& body) {
    std::vector<Json::json_pointer> places;
    std::vector<Json::json_pointer> open{Json::json_pointer{}};
    while (!open.empty()) {
        const Json::json_pointer place = open.back();
        open.pop_back();
        places.push_back(place);
        for (const auto& member : body[place].items()) {
            if (body[place].is_array()) {
                open.push_back(place / static_cast<std::size_t>(std::stoul(member.key())));
            } else if (body[place].is_object()) {
                open.push_back(place / member.key());
            }
        }
    }
    return places;
}

}  // namespace

TEST_CASE("openai responses validator: a valid body has no findings") {
    const Json body = valid_body();
    CHECK(violations(body) == Findings{});
    CHECK(violations(body["input"]) == Findings{});
    CHECK(new_violations(body, body) == Findings{});
    CHECK(violations(Json{{"model", "m"}, {"input", "a text alone"}}) == Findings{});
}

TEST_CASE("openai responses validator: what is no request body") {
    CHECK(is_exactly(violations(Json::object()), "U-V1 body"));
    CHECK(is_exactly(violations(Json("text")), "U-V1 body"));
    CHECK(is_exactly(violations(Json{{"input", 7}}), "U-V1 body"));
    CHECK(violations(Json::array()) == Findings{});
    CHECK(changes_forbidden(Json::object(), Json::object()) == Findings{});
    CHECK(names(changes_forbidden(Json::object(), Json("text")), "U-Δ3"));
    CHECK(names(changes_forbidden(Json{{"input", "a"}}, Json{{"input", "b"}}), "U-Δ3"));
    CHECK(is_exactly(violations(Json::array({7})), "U-V1 input[0]"));
    CHECK(is_exactly(violations(Json::array({Json::object()})), "U-V1 input[0]"));

    Json deep = "x";
    for (std::size_t i = 0; i <= openai_responses_validator::max_depth; ++i) {
        deep = Json::array({std::move(deep)});
    }
    CHECK(is_exactly(violations(deep), "U-V1 body"));
    CHECK(is_exactly(changes_forbidden(deep, deep), "U-Δ3 body"));
}

TEST_CASE("openai responses validator: strings must be UTF-8") {
    for (const char* const text : {"\x80", "\xed\xa0\x80", "cut \xf0\x9f\x98"}) {
        CHECK(is_exactly(alone_after([text](Json& body) { item(body, function_output)["output"] = text; }),
                         "U-V1 input[4]"));
        CHECK(is_exactly(alone_after([text](Json& body) { body["instructions"] = text; }),
                         "U-V1 instructions"));
    }
}

TEST_CASE("openai responses validator: every call has an output later on") {
    for (const std::size_t output :
         {function_output, custom_output, local_output, shell_output, patch_output, screenshot}) {
        CHECK(names(alone_after([output](Json& body) { body["input"].erase(output); }), "R-V1"));
    }
    SUBCASE("not before it") {
        const Findings findings = alone_after(
            [](Json& body) { std::swap(item(body, function_call), item(body, function_output)); });
        CHECK(findings == Findings{"R-V1 input[4]", "R-V2 input[2]"});
    }
    SUBCASE("of its own kind") {
        const Findings findings =
            alone_after([](Json& body) { item(body, function_output)["type"] = "custom_tool_call_output"; });
        CHECK(findings == Findings{"R-V1 input[2]", "R-V2 input[4]"});
    }
    SUBCASE("unless it comes last") {
        CHECK(alone_after([](Json& body) { body["input"].erase(unread_output); }) == Findings{});
    }
    SUBCASE("unless the server has the rest") {
        for (const char* const key : {"previous_response_id", "conversation"}) {
            CHECK(alone_after([key](Json& body) {
                      body["input"].erase(function_call);
                      body[key] = "id";
                  }) == Findings{});
        }
        CHECK(alone_after([](Json& body) {
                  item(body, function_call) = Json{{"type", "item_reference"}, {"id", "fc_1"}};
              }) == Findings{});
    }
    SUBCASE("and a local shell is answered as a function as well") {
        CHECK(alone_after([](Json& body) {
                  item(body, local_output) =
                      Json{{"type", "function_call_output"}, {"call_id", "call_3"}, {"output", "x"}};
              }) == Findings{});
    }
}

TEST_CASE("openai responses validator: every output has a call before") {
    CHECK(is_exactly(alone_after([](Json& body) { body["input"].erase(function_call); }), "R-V2 input[3]"));
    CHECK(is_exactly(alone_after([](Json& body) { body["input"].erase(unread_call); }), "R-V2 input[19]"));
    CHECK(names(alone_after([](Json& body) { item(body, function_output)["call_id"] = "call_9"; }), "R-V2"));
}

TEST_CASE("openai responses validator: ids are there once") {
    CHECK(names(alone_after([](Json& body) {
                    item(body, unread_call)["call_id"] = "call_1";
                    item(body, unread_output)["call_id"] = "call_1";
                }),
                "R-V3"));
    CHECK(is_exactly(alone_after([](Json& body) { item(body, second_reasoning)["id"] = "rs_1"; }),
                     "R-V3 input[18].id"));
    CHECK(names(alone_after([](Json& body) { item(body, function_call).erase("call_id"); }), "R-V3"));
    CHECK(names(alone_after([](Json& body) { body["input"].push_back(item(body, unread_output)); }), "R-V3"));
    CHECK(alone_after([](Json& body) {  // kinds have ids of their own
              item(body, unread_call)["call_id"] = "call_2";
              item(body, unread_output)["call_id"] = "call_2";
          }) == Findings{});
}

TEST_CASE("openai responses validator: outputs of functions and custom tools") {
    for (const Json& output : {Json::array(), Json(nullptr), Json(7), Json::object(), Json::array({"text"}),
                               Json::array({Json{{"type", "input_text"}}}),
                               Json::array({Json{{"type", "output_text"}, {"text", "x"}}})}) {
        CHECK(is_exactly(alone_after([&](Json& body) { item(body, function_output)["output"] = output; }),
                         "R-V4 input[4]"));
        CHECK(is_exactly(alone_after([&](Json& body) { item(body, custom_output)["output"] = output; }),
                         "R-V4 input[5]"));
    }
    CHECK(is_exactly(alone_after([](Json& body) { item(body, function_output).erase("output"); }),
                     "R-V4 input[4]"));
    CHECK(is_exactly(alone_after([](Json& body) { item(body, local_output)["output"] = Json::array(); }),
                     "R-V4 input[7]"));
    CHECK(alone_after([](Json& body) { item(body, function_output)["output"] = ""; }) == Findings{});

    std::string longest(openai_responses_validator::max_output_length - 1, 'x');
    longest += "\u6f22";
    CHECK(alone_after([&](Json& body) { item(body, function_output)["output"] = longest; }).empty());
    longest += "x";
    CHECK(alone_after([&](Json& body) { item(body, function_output)["output"] = longest; }).size() == 1);
}

TEST_CASE("openai responses validator: outputs of shells") {
    const auto chunk = [](Json& body) -> Json& { return item(body, shell_output)["output"][0]; };
    for (const char* const key : {"stdout", "stderr", "outcome"}) {
        CHECK(is_exactly(alone_after([&](Json& body) { chunk(body).erase(key); }), "R-V5 input[9]"));
    }
    CHECK(is_exactly(alone_after([&](Json& body) { chunk(body)["outcome"].erase("exit_code"); }),
                     "R-V5 input[9]"));
    CHECK(is_exactly(alone_after([&](Json& body) { chunk(body)["outcome"]["type"] = "end"; }),
                     "R-V5 input[9]"));
    CHECK(is_exactly(alone_after([](Json& body) { item(body, shell_output)["output"] = "x"; }),
                     "R-V5 input[9]"));
}

TEST_CASE("openai responses validator: outputs of computers and patches") {
    CHECK(is_exactly(alone_after([](Json& body) { item(body, screenshot)["output"] = "x"; }),
                     "R-V6 input[13]"));
    CHECK(is_exactly(alone_after([](Json& body) { item(body, screenshot)["output"].erase("image_url"); }),
                     "R-V6 input[13]"));
    CHECK(is_exactly(alone_after([](Json& body) { item(body, screenshot)["output"]["type"] = "input_text"; }),
                     "R-V6 input[13]"));
    CHECK(alone_after([](Json& body) {
              item(body, screenshot)["output"] = Json{{"type", "computer_screenshot"}, {"file_id", "f"}};
          }) == Findings{});

    CHECK(is_exactly(alone_after([](Json& body) { item(body, patch_output)["status"] = "done"; }),
                     "R-V7 input[11]"));
    CHECK(is_exactly(alone_after([](Json& body) { item(body, patch_output)["output"] = Json::array(); }),
                     "R-V7 input[11]"));
    CHECK(alone_after([](Json& body) { item(body, patch_output).erase("output"); }) == Findings{});
}

TEST_CASE("openai responses validator: inputs of calls are strings") {
    for (const Json& value : {Json::object(), Json(nullptr), Json(7)}) {
        CHECK(is_exactly(alone_after([&](Json& body) { item(body, function_call)["arguments"] = value; }),
                         "R-V8 input[2].arguments"));
        CHECK(is_exactly(alone_after([&](Json& body) { item(body, custom_call)["input"] = value; }),
                         "R-V8 input[3].input"));
    }
    CHECK(is_exactly(alone_after([](Json& body) { item(body, mcp_call).erase("arguments"); }),
                     "R-V8 input[16].arguments"));
}

TEST_CASE("openai responses validator: a trigger of compaction is last") {
    const Json trigger{{"type", "compaction_trigger"}};
    CHECK(alone_after([&](Json& body) { body["input"].push_back(trigger); }) == Findings{});
    CHECK(is_exactly(alone_after([&](Json& body) { body["input"].insert(body["input"].begin(), trigger); }),
                     "R-V9 input[0]"));
}

TEST_CASE("openai responses validator: what a pruner may do") {
    SUBCASE("to outputs") {
        CHECK(after_change([](Json& after) {
                  item(after, function_output)["output"] = "[pruned]";
                  item(after, local_output)["output"] = "[pruned]";
                  item(after, shell_output)["output"][0]["stdout"] = "[pruned]";
                  item(after, shell_output)["output"][1]["stderr"] = "[pruned]";
                  item(after, patch_output)["output"] = "[pruned]";
              }) == Findings{});
    }
    SUBCASE("to lists in place") {
        CHECK(after_change([](Json& after) {
                  item(after, custom_output)["output"][0]["text"] = "[pruned]";
                  item(after, custom_output)["output"][1] = text_part("[image]");
              }) == Findings{});
    }
    SUBCASE("to lists as a whole") {
        CHECK(after_change([](Json& after) {
                  item(after, custom_output)["output"].erase(1);
                  item(after, custom_output)["output"][0]["text"] = "[pruned]";
              }) == Findings{});
    }
    SUBCASE("to inputs") {
        CHECK(new_violations(valid_body(), with_arguments("int main() {}", "[cut]")) == Findings{});
        CHECK(new_violations(valid_body(), with_arguments("a long line", "[cut]")) == Findings{});
    }
    SUBCASE("to outputs that were not read where that is allowed") {
        const auto change = [](Json& after) { item(after, unread_output)["output"] = "[pruned]"; };
        CHECK(names(after_change(change), "U-Δ3"));
        CHECK(after_change(change, AllowedChanges{true}) == Findings{});
    }
}

TEST_CASE("openai responses validator: items stay where they are") {
    CHECK(names(after_change([](Json& after) { after["input"].erase(user); }), "U-Δ1"));
    CHECK(names(after_change([](Json& after) { item(after, user)["role"] = "developer"; }), "U-Δ1"));
    CHECK(names(after_change([](Json& after) { std::swap(item(after, 4), item(after, 5)); }), "U-Δ1"));
    CHECK(names(after_change([](Json& after) {
                    item(after, function_call)["call_id"] = "call_9";
                    item(after, function_output)["call_id"] = "call_9";
                }),
                "U-Δ2"));
    CHECK(names(after_change([](Json& after) { item(after, function_call)["id"] = "fc_9"; }), "U-Δ2"));
}

TEST_CASE("openai responses validator: what nobody may touch") {
    CHECK(names(after_change([](Json& after) { item(after, reasoning)["summary"].push_back("x"); }), "R-Δ1"));
    CHECK(names(after_change([](Json& after) { item(after, search_output)["tools"] = Json::array(); }),
                "R-Δ1"));
    CHECK(names(after_change([](Json& after) { item(after, function_call)["id"] = "fc_9"; }), "R-Δ1"));
    CHECK(names(after_change([](Json& after) { item(after, mcp_call)["output"] = "x"; }), "U-Δ3"));
    CHECK(names(after_change([](Json& after) { item(after, custom_call)["input"] = "x"; }), "U-Δ3"));
    CHECK(names(after_change([](Json& after) { item(after, screenshot)["output"]["image_url"] = "x"; }),
                "U-Δ3"));
    CHECK(names(after_change([](Json& after) { item(after, function_call)["status"] = "failed"; }), "U-Δ3"));
    CHECK(names(after_change([](Json& after) { item(after, function_output)["note"] = 1; }), "U-Δ3"));
    const Findings findings =
        after_change([](Json& after) { item(after, reasoning)["encrypted_content"] = "Z0F"; });
    CHECK(names(findings, "R-Δ1"));
    CHECK(names(findings, "U-Δ6"));
    for (const char* const type :
         {"compaction", "item_reference", "program", "program_output", "mcp_list_tools",
          "mcp_approval_request", "mcp_approval_response", "additional_tools"}) {
        Json before = valid_body();
        before["input"].insert(before["input"].begin(), Json{{"type", type}, {"id", "x_1"}, {"data", "d"}});
        Json after = before;
        item(after, 0)["data"] = "e";
        CHECK(names(new_violations(before, after), "R-Δ1"));
    }
}

TEST_CASE("openai responses validator: messages stay the same") {
    CHECK(names(after_change([](Json& after) { item(after, user)["content"][0]["text"] = "x"; }), "R-Δ2"));
    for (const char* const key : {"phase", "status", "content"}) {
        CHECK(names(after_change([key](Json& after) { item(after, assistant).erase(key); }), "R-Δ2"));
    }
    CHECK(names(after_change([](Json& after) { item(after, assistant)["content"][0].erase("annotations"); }),
                "R-Δ2"));
}

TEST_CASE("openai responses validator: settings stay the same") {
    CHECK(names(after_change([](Json& after) { after["instructions"] = "J"; }), "R-Δ3"));
    CHECK(names(after_change([](Json& after) { after.erase("include"); }), "R-Δ3"));
    for (const char* const key :
         {"previous_response_id", "conversation", "truncation", "context_management"}) {
        CHECK(names(after_change([key](Json& after) { after[key] = "x"; }), "R-Δ3"));
    }
    CHECK(names(after_change([](Json& after) { after["store"] = true; }), "U-Δ3"));
}

TEST_CASE("openai responses validator: nothing changes from the newest compaction on") {
    Json before = valid_body();
    const Json compaction{{"type", "compaction"}, {"id", "cmp_1"}, {"encrypted_content", "Z0FB"}};
    before["input"].insert(before["input"].begin() + 8, compaction);
    CHECK(violations(before) == Findings{});
    Json after = before;
    item(after, function_output)["output"] = "[pruned]";
    CHECK(new_violations(before, after) == Findings{});
    item(after, shell_output + 1)["output"][0]["stdout"] = "[pruned]";
    CHECK(is_exactly(new_violations(before, after), "R-Δ1 input[10] (after compaction)"));
}

TEST_CASE("openai responses validator: replaced outputs") {
    SUBCASE("blank") {
        for (const char* const text : {"", " ", "\u00a0\n"}) {
            CHECK(names(after_change([&](Json& after) { item(after, function_output)["output"] = text; }),
                        "U-Δ4"));
            CHECK(names(
                after_change([&](Json& after) { item(after, custom_output)["output"][0]["text"] = text; }),
                "U-Δ4"));
            CHECK(names(
                after_change([&](Json& after) { item(after, shell_output)["output"][0]["stdout"] = text; }),
                "U-Δ4"));
            CHECK(names(after_change([&](Json& after) { item(after, patch_output)["output"] = text; }),
                        "U-Δ4"));
        }
    }
    SUBCASE("not smaller") {
        CHECK(is_exactly(after_change([](Json& after) {
                             item(after, function_output)["output"] = "A LONG TEXT THAT WAS WRITTEN";
                         }),
                         "U-Δ4 input[4].output (not smaller)"));
        CHECK(names(after_change([](Json& after) { item(after, shell_output)["output"][0]["stderr"] = "x"; }),
                    "U-Δ4"));
    }
    SUBCASE("of another kind") {
        CHECK(names(after_change([](Json& after) { item(after, custom_output)["output"] = "x"; }), "U-Δ4"));
        CHECK(names(after_change([](Json& after) { item(after, function_output)["output"] = Json::array(); }),
                    "U-Δ4"));
        CHECK(names(after_change([](Json& after) { item(after, shell_output)["output"] = "x"; }), "U-Δ4"));
    }
    SUBCASE("without their mark") {
        CHECK(
            names(after_change([](Json& after) { item(after, custom_output)["output"][0] = text_part("x"); }),
                  "U-Δ3"));
    }
    SUBCASE("of a shell that ended in another way") {
        CHECK(names(after_change([](Json& after) { item(after, shell_output)["output"].erase(1); }), "R-V5"));
        CHECK(names(after_change([](Json& after) { item(after, shell_output)["max_output_length"] = 1; }),
                    "R-V5"));
        CHECK(names(after_change([](Json& after) {
                        item(after, shell_output)["output"][0]["outcome"]["exit_code"] = 1;
                    }),
                    "R-V5"));
    }
    SUBCASE("of a patch that ended in another way") {
        CHECK(names(after_change([](Json& after) { item(after, patch_output)["status"] = "completed"; }),
                    "R-V7"));
    }
}

TEST_CASE("openai responses validator: replaced inputs") {
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
    CHECK(names(after_change([](Json& after) { item(after, unread_call)["arguments"] = "{\"path\":\"x\"}"; }),
                "U-Δ3"));

    Json unanswered = before;
    item(unanswered, function_output)["call_id"] = "call_9";
    Json after = unanswered;
    item(after, function_call)["arguments"] =
        item(unanswered, function_call)["arguments"].get<std::string>().replace(1, 6, "\"PATH\"");
    CHECK(names(new_violations(unanswered, after), "U-Δ3"));
    Json cut = with_arguments("int main() {}", "x");
    item(cut, function_output)["call_id"] = "call_9";
    CHECK(is_exactly(new_violations(unanswered, cut), "U-Δ3 input[2].arguments"));
}

TEST_CASE("openai responses validator: mutation 1 an output is lost") {
    const Findings findings = after_change([](Json& after) { after["input"].erase(function_output); });
    CHECK(names(findings, "R-V1"));
    CHECK(names(findings, "U-Δ1"));
}

TEST_CASE("openai responses validator: mutation 5 an id is there twice") {
    const Findings findings = after_change([](Json& after) {
        item(after, unread_call)["call_id"] = "call_1";
        item(after, unread_output)["call_id"] = "call_1";
    });
    CHECK(names(findings, "R-V3"));
    CHECK(names(findings, "U-Δ2"));
}

TEST_CASE("openai responses validator: mutation 9 an input is no JSON any more") {
    for (const char* const rest : {"", "}}", "\"}}x", "\\q\"}}"}) {
        CHECK(names(new_violations(valid_body(), with_arguments("x\"}}", rest)), "R-V8"));
    }
}

TEST_CASE("openai responses validator: mutation 13 a reasoning item is dropped") {
    for (const std::size_t dropped : {reasoning, second_reasoning}) {
        const Findings findings = after_change([dropped](Json& after) { after["input"].erase(dropped); });
        CHECK(names(findings, "R-Δ1"));
        CHECK(names(findings, "U-Δ1"));
    }
    CHECK(names(after_change([](Json& after) {  // and the reverse: what followed it
                    after["input"].erase(unread_output);
                    after["input"].erase(unread_call);
                }),
                "R-Δ1"));
}

TEST_CASE("openai responses validator: mutation 17 the keys of an input change places") {
    CHECK(names(new_violations(valid_body(), with_arguments(R"("path": "a.c", "text": "int main() {}")",
                                                            R"("text": "int main() {}", "path": "a.c")")),
                "U-Δ3"));
}

TEST_CASE("openai responses validator: mutation 18 a number of an input is spelled in another way") {
    const Json before = valid_body();
    CHECK(names(new_violations(before, with_arguments("9223372036854775808", "9.223372036854775808e18")),
                "U-Δ3"));
    CHECK(
        names(new_violations(before, with_arguments("9223372036854775808", "9223372036854775807")), "U-Δ3"));
    CHECK(names(new_violations(before, with_arguments("1.0", "1")), "U-Δ3"));
}

TEST_CASE("openai responses validator: mutation 19 a pair of surrogates is cut") {
    const Json before = with_arguments("int main() {}", "\\ud83d\\ude00 laughs");
    CHECK(violations(before) == Findings{});
    for (const char* const cut : {"\\ud83d", "\\ude00", "[\\ud83d]"}) {
        CHECK(names(new_violations(before, with_arguments("int main() {}", cut)), "U-V1"));
    }
    CHECK(new_violations(before, with_arguments("int main() {}", "\\ud83d\\ude00")) == Findings{});
    CHECK(alone_after([](Json& body) { item(body, custom_call)["input"] = "\\ud83d"; }) == Findings{});
}

TEST_CASE("openai responses validator: mutation 20 one output is replaced in two ways") {
    const Json before = valid_body();
    Json first = before;
    item(first, function_output)["output"] = "[cut 28]";
    item(first, shell_output)["output"][0]["stdout"] = "[cut 20]";
    Json second = first;
    second["input"].push_back(Json{{"role", "user"}, {"content", "go on"}});
    item(second, patch_output)["output"] = "[cut]";
    CHECK(validation::unstable_changes(before, first, second) == Findings{});
    item(second, function_output)["output"] = "[cut 29]";
    CHECK(is_exactly(validation::unstable_changes(before, first, second), "U-Σ2 input[4].output"));
    item(second, function_output) = item(first, function_output);
    item(second, shell_output)["output"] = before["input"][shell_output]["output"];
    CHECK(is_exactly(validation::unstable_changes(before, first, second), "U-Σ2 input[9].output[0].stdout"));
}

TEST_CASE("openai responses validator: no document makes it fall over") {
    const Json body = valid_body();
    std::size_t unnoticed = 0;
    for (const Json::json_pointer& place : places_of(body)) {
        for (const Json& value : {Json(nullptr), Json(7), Json(""), Json::array(), Json::object()}) {
            Json hostile = body;
            hostile[place] = value;
            const bool is_other = !validation::same(body, hostile);
            static_cast<void>(violations(hostile));
            unnoticed += is_other && new_violations(body, hostile).empty() ? 1U : 0U;
            CHECK(new_violations(hostile, hostile).empty());
            static_cast<void>(new_violations(hostile, body));
            static_cast<void>(validation::unstable_changes(body, hostile, body));
        }
    }
    CHECK(unnoticed == 0);
}
