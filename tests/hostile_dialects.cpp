// SPDX-License-Identifier: MIT
// Bodies in other providers' shapes that nobody had thought of, each with the value that is right.
#include "support/pruned.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace {

using Json = nlohmann::ordered_json;
using support::filler;
using support::list;
using support::pruned;

const coppice::Pipeline merging{coppice::Dedup<>{}};
const coppice::Pipeline emptying{coppice::KeepRecent<0, coppice::Size{100}, 0>{}};

Json chat_call(const std::string& id, const std::string& name, const Json& arguments) {
    Json call = {{"type", "function"}, {"function", {{"name", name}, {"arguments", arguments.dump()}}}};
    if (!id.empty()) { call["id"] = id; }
    return call;
}

template <class... Calls>
Json asks(Calls... calls) {
    Json message = {{"role", "assistant"}, {"content", nullptr}};
    message["tool_calls"] = list(std::move(calls)...);
    return message;
}

Json answers(Json content, Json more = Json::object()) {
    Json message = {{"role", "tool"}};
    message.update(more);
    message["content"] = std::move(content);
    return message;
}

Json say(const std::string& role, const std::string& words) { return {{"role", role}, {"content", words}}; }

template <class... Items>
Json responses(Items... items) {
    Json body = Json::object();
    body["input"] = list(std::move(items)...);
    body["input"].push_back({{"type", "message"}, {"role", "assistant"}, {"content", "done"}});
    return body;
}

}  // namespace

TEST_CASE("dialects hostile: calls of typed tools that ask for different things are different calls") {
    const std::string text = filler(1, 500);
    for (const char* const type : {"shell_call", "local_shell_call", "apply_patch_call"}) {
        CAPTURE(type);
        const auto pair = [&](const std::string& id, const std::string& what) {
            Json call = {{"type", type}, {"call_id", id}};
            const std::string kind = type;
            if (kind == "shell_call") { call["action"] = {{"commands", list(Json("cat " + what))}}; }
            if (kind == "local_shell_call") { call["action"] = {{"command", list(Json("cat"), Json(what))}}; }
            if (kind == "apply_patch_call") { call["operation"] = {{"type", "update_file"}, {"path", what}}; }
            Json output = {{"type", kind + "_output"}, {"call_id", id}};
            if (kind == "apply_patch_call") { output["status"] = "completed"; }
            output["output"] = Json(text);
            if (kind == "shell_call") {
                output["output"] = list(Json{
                    {"stdout", text}, {"stderr", ""}, {"outcome", {{"type", "exit"}, {"exit_code", 0}}}});
            }
            return std::pair(call, output);
        };
        const auto [call_a, output_a] = pair("a", "one");
        const auto [call_b, output_b] = pair("b", "two");
        const auto [call_c, output_c] = pair("c", "one");
        CHECK(pruned(responses(call_a, output_a, call_b, output_b), merging).unchanged());
        CHECK(pruned(responses(call_a, output_a, call_c, output_c), merging).report.edits.size() == 1);
    }
}

TEST_CASE("dialects hostile: a failure is told from the first text of the result's own") {
    const std::string failure = "Error: page 0\n" + filler(0, 2500);
    const Json image = {{"type", "image_url"}, {"image_url", {{"url", "data:image/png;base64," + filler(1, 3000)}}}};
    const auto session = [&](const Json& first) {
        return Json{{"messages",
                     list(say("user", "go"), asks(chat_call("c", "shot", {{"url", "u"}})),
                          answers(list(first, Json{{"type", "text"}, {"text", failure}}), {{"tool_call_id", "c"}}),
                          say("assistant", "seen"))}};
    };
    const coppice::Pipeline images{coppice::KeepRecent<1, coppice::Size{100}, 0>{}};
    const auto elided = pruned(session(image), images);
    REQUIRE(elided.report.edits.size() == 1);
    const auto later = pruned(elided.after, emptying);
    REQUIRE(later.report.edits.size() == 1);
    CHECK(later.report.edits[0].replacement.find(", failed; shot u; first line: Error: page 0;") != std::string::npos);
}

TEST_CASE("dialects hostile: among calls of one id the tool that a result names decides") {
    const std::string text = filler(0, 400);
    const Json gemini = {
        {"contents",
         list(Json{{"role", "user"}, {"parts", list(Json{{"text", "go"}})}},
              Json{{"role", "model"},
                   {"parts", list(Json{{"functionCall", {{"id", "x"}, {"name", "Read"}, {"args", Json::object()}}}},
                                  Json{{"functionCall", {{"id", "x"}, {"name", "Skill"}, {"args", Json::object()}}}})}},
              Json{{"role", "user"},
                   {"parts",
                    list(Json{{"functionResponse", {{"id", "x"}, {"name", "Skill"}, {"response", {{"output", text}}}}}},
                         Json{{"functionResponse", {{"id", "x"}, {"name", "Read"}, {"response", {{"output", text}}}}}})}},
              Json{{"role", "model"}, {"parts", list(Json{{"text", "done"}})}})}};
    const Json chat = {{"messages", list(say("user", "go"),
                                         asks(chat_call("call_0", "Read", Json::object()),
                                              chat_call("call_0", "Skill", Json::object())),
                                         answers(text, {{"tool_call_id", "call_0"}, {"name", "Skill"}}),
                                         answers(text, {{"tool_call_id", "call_0"}, {"name", "Read"}}),
                                         say("assistant", "done"))}};
    const coppice::Pipeline exempting{coppice::KeepRecent<0, coppice::Size{100}, 0>{}, coppice::ExemptTools{}};
    for (const Json& body : {gemini, chat}) {
        const auto p = support::pruned_once(body, exempting);
        REQUIRE(p.report.edits.size() == 1);
        CHECK(p.report.edits[0].tool == "Read");
        CHECK(p.report.unpaired_results == 0);
    }
}

TEST_CASE("dialects hostile: a result without an id gives way to the one that has it") {
    const Json body = {{"messages", list(say("user", "go"),
                                         asks(chat_call("a", "A", {{"path", "/a"}}), chat_call("b", "B", {{"path", "/b"}})),
                                         answers(filler(0, 400)), answers(filler(1, 400), {{"tool_call_id", "a"}}),
                                         say("assistant", "done"))}};
    const auto p = support::pruned_once(body, emptying);
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].message == 3);
    CHECK(p.report.edits[0].tool == "A");
    CHECK(p.report.unpaired_results == 1);
}

TEST_CASE("dialects hostile: the beginning of an output is the same in bytes and in a DOM") {
    for (const char* const blank : {"\n", "\t", "\xE2\x80\x83"}) {
        for (const int count : {100, 250, 399, 420}) {
            CAPTURE(count);
            std::string text;
            for (int i = 0; i < count; ++i) { text += blank; }
            text += "Error: boom\n" + filler(0, 3000);
            const Json body = {{"messages", list(say("user", "go"), asks(chat_call("a", "A", Json::object())),
                                                 answers(text, {{"tool_call_id", "a"}}), say("assistant", "done"))}};
            CHECK(pruned(body, emptying).report.edits.size() == 1);
        }
    }
    const std::string patch = "*** Begin Patch\n" + std::string(150, '\n') + "*** Update File: a.c\n" + filler(0, 300);
    const Json asked = {{"type", "custom_tool_call"}, {"call_id", "c"}, {"name", "apply_patch"}, {"input", patch}};
    const Json output = {{"type", "custom_tool_call_output"}, {"call_id", "c"}, {"output", filler(1, 400)}};
    CHECK(pruned(responses(asked, output), emptying).report.edits.size() == 1);
}

TEST_CASE("dialects hostile: the stub of a stored result in pieces says its whole size") {
    const std::string text = filler(0, 60'000);
    const auto session = [&](int more) {
        Json contents = list(Json{{"role", "user"}, {"parts", list(Json{{"text", "go"}})}});
        for (int i = 0; i <= more; ++i) {
            const std::string id = std::to_string(i);
            contents.push_back(
                {{"role", "model"},
                 {"parts", list(Json{{"functionCall", {{"id", id}, {"name", "Read"}, {"args", {{"path", id}}}}}})}});
            contents.push_back(
                {{"role", "user"},
                 {"parts", list(Json{{"functionResponse",
                                      {{"id", id},
                                       {"name", "Read"},
                                       {"response", {{"output", i == 0 ? text : filler(1, 3000)}}}}}})}});
        }
        contents.push_back({{"role", "model"}, {"parts", list(Json{{"text", "done"}})}});
        return Json{{"contents", contents}};
    };
    coppice::MemorySpillStore store;
    const coppice::Pipeline storing{coppice::Spill<>{.store = &store}};
    const coppice::Pipeline both{coppice::Spill<>{.store = &store}, coppice::KeepRecent<1>{}};
    Json first = session(0);
    CHECK(coppice::prune(first, storing).engaged);
    Json grown = session(1);
    grown["contents"][2] = first["contents"][2];
    coppice::prune(grown, both);
    Json at_once = session(1);
    coppice::prune(at_once, both);
    const std::string stub = grown["contents"][2]["parts"][0]["functionResponse"]["response"]["output"];
    CHECK(stub.find("60000 characters") != std::string::npos);
    CHECK(at_once["contents"][2]["parts"][0]["functionResponse"]["response"]["output"] == stub);
}

TEST_CASE("dialects hostile: the order of keys decides nothing") {
    const std::string x = filler(0, 400);
    const std::string y = filler(1, 400);
    const auto session = [&](const Json& one, const Json& two) {
        const auto call = [](const char* id) {
            return Json{{"functionCall", {{"id", id}, {"name", "Read"}, {"args", Json::object()}}}};
        };
        const auto answer = [](const char* id, const Json& response) {
            return Json{{"functionResponse", {{"id", id}, {"name", "Read"}, {"response", response}}}};
        };
        return Json{{"contents", list(Json{{"role", "user"}, {"parts", list(Json{{"text", "go"}})}},
                                      Json{{"role", "model"}, {"parts", list(call("1"), call("2"))}},
                                      Json{{"role", "user"}, {"parts", list(answer("1", one), answer("2", two))}},
                                      Json{{"role", "model"}, {"parts", list(Json{{"text", "done"}})}})}};
    };
    // both kinds of DOM and the bytes agree, which `pruned` checks
    CHECK(pruned(session({{"a", x}, {"b", y}}, {{"b", y}, {"a", x}}), merging).report.edits.size() == 2);
    CHECK(pruned(session({{"a", x}, {"b", y}}, {{"a", y}, {"b", x}}), merging).unchanged());

    const Json thinking = list(Json{{"type", "thinking"}, {"thinking", "t"}, {"signature", "s"}});
    Json content_first = {{"role", "assistant"}, {"content", thinking}};
    content_first["tool_calls"] = list(chat_call("a", "A", Json::object()));
    Json calls_first = asks(chat_call("a", "A", Json::object()));
    calls_first.erase("content");
    calls_first["content"] = thinking;
    for (const Json& message : {content_first, calls_first}) {
        const Json body = {{"messages", list(say("user", "go"), message, answers(x, {{"tool_call_id", "a"}}),
                                             say("assistant", "done"))}};
        const auto p = pruned(body, emptying);
        CHECK(p.report.dialect == "openai-chat");
        CHECK(p.report.edits.size() == 1);
    }
}

TEST_CASE("dialects hostile: results with images beside their text are no duplicates") {
    const std::string text = filler(0, 500);
    const auto session = [&](const char* first, const char* second) {
        const Json call = {{"function", {{"name", "shot"}, {"arguments", Json::object()}}}};
        return Json{{"messages", list(say("user", "go"), asks(call), answers(text, {{"images", list(Json(first))}}),
                                      asks(call), answers(text, {{"images", list(Json(second))}}),
                                      say("assistant", "done"))}};
    };
    CHECK(pruned(session("aW1nMA==", "aW1nMQ=="), merging).unchanged());
}

TEST_CASE("dialects hostile: an exit code that is no whole number is one of a failure in bytes and in a DOM") {
    for (const auto& [code, failed] : {std::pair<Json, bool>{0.5, true}, {0.0, false}, {-0.0, false}, {1e300, true}}) {
        const Json body = {
            {"contents",
             list(Json{{"role", "user"}, {"parts", list(Json{{"text", "go"}})}},
                  Json{{"role", "model"}, {"parts", list(Json{{"functionCall", {{"name", "sh"}, {"args", Json::object()}}}})}},
                  Json{{"role", "user"},
                       {"parts", list(Json{{"functionResponse",
                                            {{"name", "sh"},
                                             {"response", {{"output", filler(0, 500)}, {"exit_code", code}}}}}})}},
                  Json{{"role", "model"}, {"parts", list(Json{{"text", "done"}})}})}};
        const auto p = pruned(body, emptying);
        REQUIRE(p.report.edits.size() == 1);
        CHECK((p.report.edits[0].replacement.find(", failed; sh") != std::string::npos) == failed);
    }
}
