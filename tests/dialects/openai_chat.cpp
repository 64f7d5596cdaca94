// SPDX-License-Identifier: MIT
#include <coppice/dialects/openai_chat.hpp>

#include <coppice/coppice.hpp>
#include <coppice/dom.hpp>
#include <coppice/wire.hpp>

#include "../support/batches.hpp"
#include "../support/builders.hpp"
#include "../support/pruned.hpp"
#include "../support/reading.hpp"
#include "../support/respell.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::Entry;
using coppice::Form;
using coppice::Kind;
using coppice::none;
using coppice::Part;
using coppice::Role;
using coppice::Transcript;
using Json = nlohmann::ordered_json;
using support::assistant;
using support::filler;
using support::list;
using support::marked;
using support::message;
using support::Pruned;
using support::pruned;
using support::pruned_once;
using support::text;
using support::user;

// A call as OpenAI writes it: the arguments are a string.
Json function_call(const std::string& id, const std::string& name, Json arguments) {
    Json function = {{"name", name}};
    function["arguments"] = std::move(arguments);
    Json out = {{"id", id}, {"type", "function"}};
    out["function"] = std::move(function);
    return out;
}

Json packed_call(const std::string& id, const std::string& name, const Json& input = Json::object()) {
    return function_call(id, name, input.dump());
}

// A call as Ollama writes it: no id, the arguments are an object.
Json ollama_call(const std::string& name, Json input = Json::object()) {
    Json out = function_call("", name, std::move(input));
    out.erase("id");
    out.erase("type");
    return out;
}

template <class... Calls>
Json calls(Calls... made) {
    Json out = {{"role", "assistant"}, {"content", nullptr}};
    out["tool_calls"] = list(std::move(made)...);
    return out;
}

Json tool(const std::string& id, Json content) {
    Json out = {{"role", "tool"}, {"tool_call_id", id}};
    out["content"] = std::move(content);
    return out;
}

Json ollama_result(const std::string& name, Json content) {
    Json out = {{"role", "tool"}};
    if (!name.empty()) { out["tool_name"] = name; }
    out["content"] = std::move(content);
    return out;
}

Json image_part(std::size_t size = 3000) {
    return Json{{"type", "image_url"},
                {"image_url", {{"url", "data:image/png;base64," + std::string(size, 'A')}}}};
}

Json chat(Json messages) {
    Json out = {{"model", "m"}};
    out["messages"] = std::move(messages);
    return out;
}

using Reading = support::ReadingOf<coppice::OpenAiChatReader>;
using Repeating = support::RepeatingOf<coppice::OpenAiChatReader>;
using support::twice;

constexpr coppice::Pipeline clearing{coppice::BulkyInputClear<0, coppice::Size{100}>{}};
constexpr coppice::Pipeline emptying{coppice::KeepRecent<0, coppice::Size{100}, 0>{}};
constexpr coppice::Pipeline merging{coppice::Dedup<>{}};

// Other spellings of a body become the same value, and the reports tell the same of them.
template <class Pipeline>
void check_respelled(const Json& before, const Json& after, const coppice::Report& report,
                     const Pipeline& pipeline) {
    const std::string bytes = before.dump();
    for (std::uint64_t seed = 1; seed <= 9; ++seed) {
        CAPTURE(seed);
        const support::PrunedText spelled = support::pruned_text(support::respelled(bytes, seed), pipeline);
        const bool same = Json::parse(spelled.out) == after;
        CHECK(same);
        support::check_same_report(spelled.report, report, false);
    }
}

// All laws, in several spellings.
template <class Pipeline>
Pruned pruned_everywhere(const Json& document, const Pipeline& pipeline) {
    Pruned done = pruned(document, pipeline);
    check_respelled(done.before, done.after, done.report, pipeline);
    return done;
}

// A call that has its answer, and the answer was read.
Json answered(Json arguments, const std::string& name = "write") {
    return chat(list(user("hi"), calls(function_call("c1", name, std::move(arguments))), tool("c1", "ok"),
                     assistant("done")));
}

std::string arguments_of(const Json& document, std::size_t call = 0) {
    return document["messages"][1]["tool_calls"][call]["function"]["arguments"].get<std::string>();
}

std::string cleared(std::size_t size, const std::string& name) {
    return "[tool input cleared: " + std::to_string(size) + " characters; " + name + "]";
}

// The arguments as they are, and as they are to become.
struct Packed {
    std::string before;
    std::string after;
};

void check_packed(const Packed& packed) {
    CAPTURE(packed.before.substr(0, 100));
    const Pruned done = pruned_everywhere(answered(packed.before), clearing);
    CHECK(done.report.engaged == (packed.before != packed.after));
    CHECK(arguments_of(done.after) == packed.after);
}

const std::string x9(900, 'x');

// Pairs of a call and a result, and something read behind them.
Json with_results(const std::vector<Json>& contents, const std::string& name = "read") {
    Json messages = list(user("start"));
    for (std::size_t i = 0; i < contents.size(); ++i) {
        const std::string id = "call_" + std::to_string(i);
        messages.push_back(calls(packed_call(id, name, Json{{"path", "/src/a.c"}})));
        messages.push_back(tool(id, contents[i]));
    }
    messages.push_back(assistant("done"));
    return chat(messages);
}

const Json& content_of(const Json& document, std::size_t result) {
    return document["messages"][2 + 2 * result]["content"];
}

}  // namespace

TEST_CASE("openai chat: a conversation becomes entries in its order") {
    Json asks = calls(packed_call("c1", "read", Json{{"path", "/a.c"}}));
    asks["reasoning_content"] = "hm";
    asks["content"] = "on it";
    const Reading reading(chat(list(message("developer", "D"), user("hi"), asks, tool("c1", "out"),
                                    user("go on"), assistant("done"))));
    const std::vector<Kind> kinds = {Kind::opaque,    Kind::user_text,     Kind::assistant_text,
                                     Kind::call,      Kind::reasoning,     Kind::result,
                                     Kind::user_text, Kind::assistant_text};
    const std::vector<std::size_t> messages = {0, 1, 2, 2, 2, 3, 4, 5};
    REQUIRE(reading.size() == kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        CAPTURE(i);
        CHECK(reading[i].kind == kinds[i]);
        CHECK(reading[i].message == messages[i]);
        CHECK(reading[i].immutable == (kinds[i] != Kind::call && kinds[i] != Kind::result));
    }
    CHECK(reading.transcript().dialect == "openai-chat");
    CHECK(reading[5].peer == 3);
    CHECK(reading[3].peer == 5);
    CHECK(reading[5].tool.raw() == "read");
    CHECK(reading[5].identity.raw() == "/a.c");
}

TEST_CASE("openai chat: tool and function messages are the user's, system and developer nobody's") {
    const Reading reading(
        chat(list(message("system", "s"), message("developer", "d"), user("a"), assistant("b"),
                  tool("c", "x"), message("function", "x"), Json{{"content", "x"}}, Json{{"role", 7}},
                  Json(42), Json(nullptr), Json::array())));
    const std::vector<Role> roles = {Role::other, Role::other, Role::user,  Role::assistant,
                                     Role::user,  Role::user,  Role::other, Role::other,
                                     Role::other, Role::other, Role::other};
    REQUIRE(reading.transcript().messages.size() == roles.size());
    for (std::size_t i = 0; i < roles.size(); ++i) {
        CHECK(reading.transcript().messages[i].role == roles[i]);
    }
}

TEST_CASE("openai chat: results make no turn of the user and what is said beside them does") {
    const Reading reading(
        chat(list(user("one"), calls(packed_call("a", "A")), tool("a", "x"), assistant("b"), user("two"),
                  calls(packed_call("c", "C")), tool("c", "x"), user("three"), assistant("d"))));
    const std::vector<std::size_t> turns = {0, 1, 1, 1, 1, 2, 2, 2, 3};
    REQUIRE(reading.size() == turns.size());
    for (std::size_t i = 0; i < turns.size(); ++i) {
        CAPTURE(i);
        CHECK(reading[i].user_turn == turns[i]);
    }
}

TEST_CASE("openai chat: the fields of packed arguments are those of the object inside") {
    const Reading reading(answered(Json{
        {"path", "/a"}, {"n", 1}, {"edits", list(Json{{"old_string", "x"}}, 7, Json{{"new_string", "y"}})}}
                                       .dump()));
    CHECK(reading.names(reading[1]) == "path edits[0].old_string edits[2].new_string");
    CHECK(reading[1].identity.raw() == "/a");
    CHECK_FALSE(reading[1].immutable);
    CHECK(reading[1].packed == R"({"path":"/a","n":1,"edits":[{"old_string":"x"},7,{"new_string":"y"}]})");
}

TEST_CASE("openai chat: arguments that hold no object have no fields and stay") {
    using namespace std::string_literals;
    for (const Json& arguments :
         {Json(""), Json("{"), Json("[1]"), Json("7"), Json("null"), Json("\"{}\""), Json("ls -la"),
          Json("{\"a\":\"b\"} x"), Json("{\"a\":\"b\",}"), Json("{\"a\":\"\xFF\"}"),
          Json("{\"a\":\"\xED\xA0\x80\"}"), Json("{\"a\":\"b\"}\0"s), Json("{\"a\":\"\0\"}"s),
          Json(R"({"a":"1","a":"2"})"), Json(R"({"a":"1","\u0061":"2"})"), Json(nullptr), Json(7), Json(true),
          list(Json{{"a", "b"}})}) {
        const Reading reading(answered(arguments));
        REQUIRE(reading.size() == 4);
        CHECK(reading[1].kind == Kind::call);
        CHECK(reading[1].immutable);
        CHECK(reading[1].field_count == 0);
        CHECK(reading[1].packed.empty());
        CHECK(reading[2].peer == 1);
        CHECK_FALSE(reading[2].immutable);
    }
}

TEST_CASE("openai chat: arguments may be an object") {
    const Reading reading(answered(Json{{"path", "/a"}, {"content", "x"}}));
    CHECK(reading.names(reading[1]) == "path content");
    CHECK(reading[1].packed.empty());
    CHECK_FALSE(reading[1].immutable);
}

TEST_CASE("openai chat: a call without arguments is one") {
    Json bare = function_call("c1", "now", "");
    bare["function"].erase("arguments");
    const Reading reading(chat(list(calls(bare), tool("c1", "x"))));
    CHECK(reading.peers() == "0");
    CHECK(reading[0].field_count == 0);
    CHECK(reading[1].tool.raw() == "now");
}

TEST_CASE("openai chat: custom tools have a name and a path and no fields") {
    const Json custom = {
        {"id", "c1"},
        {"type", "custom"},
        {"custom", {{"name", "apply_patch"}, {"input", "*** Begin Patch\n*** Add File: a.c\n+x"}}}};
    const Reading reading(chat(list(calls(custom), tool("c1", "Done"))));
    CHECK(reading[0].immutable);
    CHECK(reading[0].field_count == 0);
    CHECK(reading[1].peer == 0);
    CHECK(reading[1].tool.raw() == "apply_patch");
    CHECK(reading[1].identity.raw() == "a.c");
    CHECK_FALSE(reading[1].immutable);
}

TEST_CASE("openai chat: reasoning in every spelling is read and nothing where it is null") {
    for (const std::string key : {"reasoning_content", "reasoning", "reasoning_details", "thinking"}) {
        for (const Json& value : {Json("hm"), Json(""), list(Json{{"type", "reasoning.text"}})}) {
            Json speaks = assistant("a");
            speaks[key] = value;
            const Reading reading(chat(list(speaks)));
            REQUIRE(reading.size() == 2);
            CHECK(reading[1].kind == Kind::reasoning);
            CHECK(reading[1].immutable);
        }
        Json speaks = assistant("a");
        speaks[key] = nullptr;
        CHECK(Reading(chat(list(speaks))).size() == 1);
        Json asks = user("a");
        asks[key] = "hm";
        CHECK(Reading(chat(list(asks))).size() == 1);
    }
}

TEST_CASE("openai chat: results find their calls by id in any order") {
    const Json asks = calls(packed_call("a", "A"), packed_call("b", "B"), packed_call("c", "C"));
    CHECK(Reading(chat(list(asks, tool("c", "1"), tool("a", "2"), tool("b", "3")))).peers() == "2 0 1");
    // another message between them, or a system message
    CHECK(Reading(chat(list(asks, tool("c", "1"), message("system", "s"), tool("a", "2")))).peers() == "2 0");
}

TEST_CASE("openai chat: an id is answered once and in its turn") {
    const Json one = calls(packed_call("x", "A"));
    CHECK(Reading(chat(list(one, tool("x", "1"), tool("x", "2")))).peers() == "0 -");
    CHECK(Reading(chat(list(tool("x", "1"), one))).peers() == "-");
    CHECK(Reading(chat(list(one, user("wait"), assistant("b"), tool("x", "1")))).peers() == "-");
    CHECK(Reading(chat(list(one, tool("x", "1"), calls(packed_call("x", "B")), tool("x", "2")))).peers() ==
          "0 2");
    const Json constant = calls(packed_call("x", "A"), packed_call("x", "B"));
    CHECK(Reading(chat(list(constant, tool("x", "1"), tool("x", "2"), tool("x", "3")))).peers() == "0 1 -");
}

TEST_CASE("openai chat: a result with an id that no call has is nobody's") {
    const Json asks = calls(packed_call("a", "A"), packed_call("b", "B"));
    CHECK(Reading(chat(list(asks, tool("z", "1"), tool("b", "2")))).peers() == "- 1");
    Json named = tool("z", "1");
    named["name"] = "A";
    CHECK(Reading(chat(list(asks, named))).peers() == "-");
}

TEST_CASE("openai chat: legacy functions are answered by name") {
    const auto calls_function = [](const std::string& name) {
        return Json{{"role", "assistant"},
                    {"content", nullptr},
                    {"function_call", {{"name", name}, {"arguments", "{}"}}}};
    };
    const auto function_result = [](const std::string& name) {
        return Json{{"role", "function"}, {"name", name}, {"content", "x"}};
    };
    const Reading reading(chat(list(user("a"), calls_function("f"), function_result("f"), calls_function("g"),
                                    function_result("h"), calls_function("f"), function_result("f"))));
    CHECK(reading.peers() == "1 - 5");
    CHECK(reading[2].tool.raw() == "f");
    CHECK(reading[1].id.empty());
    Json without = function_result("f");
    without.erase("name");
    CHECK(Reading(chat(list(calls_function("f"), without))).peers() == "0");
    // the id of a tool message is not one of a function message
    Json with_id = function_result("g");
    with_id["tool_call_id"] = "c1";
    CHECK(Reading(chat(list(calls(packed_call("c1", "f")), with_id))).peers() == "-");
    for (const Json& odd : {Json(nullptr), Json("f"), Json(7), list("f")}) {
        Json speaks = assistant("a");
        speaks["function_call"] = odd;
        CHECK(Reading(chat(list(speaks))).size() == 1);
    }
}

TEST_CASE("openai chat: Ollama's results answer by tool and those of one tool in order") {
    const Json asks = calls(ollama_call("read"), ollama_call("list"), ollama_call("read"));
    CHECK(Reading(chat(list(asks, ollama_result("list", "1"), ollama_result("read", "2"),
                            ollama_result("read", "3"))))
              .peers() == "1 0 2");
    CHECK(Reading(chat(list(asks, ollama_result("read", "1"), ollama_result("read", "2"),
                            ollama_result("read", "3"))))
              .peers() == "0 2 -");
    CHECK(Reading(chat(list(asks, ollama_result("write", "1"), ollama_result("list", "2")))).peers() ==
          "- 1");
}

TEST_CASE("openai chat: results without a name answer in order") {
    const Json asks = calls(ollama_call("read"), ollama_call("list"));
    CHECK(Reading(chat(list(asks, ollama_result("", "1"), ollama_result("", "2"), ollama_result("", "3"))))
              .peers() == "0 1 -");
    // one with a name takes its own call out of the order
    CHECK(Reading(chat(list(asks, ollama_result("read", "1"), ollama_result("", "2")))).peers() == "0 1");
    CHECK(Reading(chat(list(asks, ollama_result("list", "1"), ollama_result("", "2")))).peers() == "1 0");
    // of the turn before nothing waits any more
    CHECK(Reading(chat(list(asks, ollama_result("", "1"), calls(ollama_call("w")), ollama_result("", "2"),
                            ollama_result("", "3"))))
              .peers() == "0 3 -");
}

TEST_CASE("openai chat: Mistral's results may lack their id or their name") {
    const Json asks = calls(packed_call("abcdefgh1", "read"), packed_call("abcdefgh2", "list"));
    Json by_name = ollama_result("", "1");
    by_name["name"] = "list";
    CHECK(Reading(chat(list(asks, by_name, ollama_result("", "2")))).peers() == "1 0");
    Json null_id = ollama_result("", "1");
    null_id["tool_call_id"] = nullptr;
    CHECK(Reading(chat(list(asks, null_id))).peers() == "0");
    // by id what has one
    CHECK(Reading(chat(list(asks, ollama_result("", "1"), tool("abcdefgh2", "2")))).peers() == "0 1");
    CHECK(Reading(chat(list(asks, tool("abcdefgh2", "2"), ollama_result("", "1")))).peers() == "1 0");
    CHECK(Reading(chat(list(asks, tool("abcdefgh1", "2"), ollama_result("", "1"), ollama_result("", "1"))))
              .peers() == "0 1 -");
}

TEST_CASE("openai chat: a result with an id may answer a call that has none") {
    CHECK(Reading(chat(list(calls(ollama_call("read")), tool("c1", "x")))).peers() == "0");
    Json named = tool("c1", "x");
    named["tool_name"] = "list";
    CHECK(Reading(chat(list(calls(ollama_call("read"), ollama_call("list")), named))).peers() == "1");
}

TEST_CASE("openai chat: a name is one whatever other member is null") {
    const Json asks = calls(ollama_call("read"), ollama_call("list"));
    const Json first = {{"role", "tool"}, {"name", "list"}, {"tool_name", nullptr}, {"content", "x"}};
    const Json last = {{"role", "tool"}, {"tool_name", ""}, {"name", "list"}, {"content", "x"}};
    const Json both = {{"role", "tool"}, {"name", "read"}, {"tool_name", "list"}, {"content", "x"}};
    const Json turned = {{"role", "tool"}, {"tool_name", "list"}, {"name", "read"}, {"content", "x"}};
    for (const Json& result : {first, last, both, turned}) {
        CHECK(Reading(chat(list(asks, result))).peers() == "1");
    }
}

TEST_CASE("openai chat: very many calls of one turn are paired in good time") {
    Json asks = calls();
    Json messages = Json::array();
    for (int i = 0; i < 20'000; ++i) { asks["tool_calls"].push_back(ollama_call("read")); }
    messages.push_back(asks);
    for (int i = 0; i < 20'000; ++i) { messages.push_back(ollama_result(i % 2 == 0 ? "read" : "", "x")); }
    const Reading reading(chat(messages));
    std::size_t unpaired = 0;
    for (const Entry& entry : reading.transcript().all()) { unpaired += entry.peer == none; }
    CHECK(unpaired == 0);
}

TEST_CASE("openai chat: the content of a result keeps its form") {
    struct Shape {
        Json content;
        Form form;
        std::size_t parts;
        std::size_t others;
    };
    const std::vector<Shape> shapes = {
        {nullptr, Form::other, 0, 0},
        {42, Form::other, 0, 0},
        {true, Form::other, 0, 0},
        {Json{{"a", "x"}}, Form::other, 1, 1},
        {Json::array(), Form::blocks, 0, 0},
        {list("str"), Form::blocks, 1, 1},
        {list(nullptr), Form::blocks, 1, 1},
        {list(Json{{"type", "text"}}), Form::blocks, 1, 1},
        {list(Json{{"type", "text"}, {"text", 7}}), Form::blocks, 1, 1},
        {list(text("a"), text("b")), Form::blocks, 2, 0},
        {list(text("a"), Json{{"type", "resource"}}), Form::blocks, 2, 1},
        {"", Form::string, 1, 0},
        {"abc", Form::string, 1, 0},
    };
    for (const Shape& shape : shapes) {
        const std::string bytes = shape.content.dump();
        CAPTURE(bytes);
        const Reading reading(chat(list(calls(packed_call("c", "f")), tool("c", shape.content))));
        REQUIRE(reading.size() == 2);
        CHECK(reading[1].form == shape.form);
        CHECK(reading[1].part_count == shape.parts);
        CHECK(reading[1].others == shape.others);
        CHECK(reading.transcript().serialised(reading[1]).bytes == bytes.size());
        CHECK_FALSE(reading[1].immutable);
    }
    Json without = tool("c", "x");
    without.erase("content");
    const Reading absent(chat(list(calls(packed_call("c", "f")), without)));
    CHECK(absent[1].form == Form::absent);
    CHECK(absent.peers() == "0");
}

TEST_CASE("openai chat: media in a result are told apart") {
    const Reading reading(chat(
        list(calls(packed_call("c", "f")),
             tool("c", list(image_part(), Json{{"type", "image"}},
                            Json{{"type", "file"}, {"file", Json::object()}}, Json{{"type", "input_audio"}},
                            Json{{"type", "document_url"}}, Json{{"type", "reference"}})))));
    CHECK(reading[1].images == 2);
    CHECK(reading[1].documents == 3);
    CHECK(reading[1].others == 1);
}

TEST_CASE("openai chat: a result says itself whether it is one of a failure") {
    const auto failed = [](Json content) {
        return Reading(chat(list(calls(packed_call("c", "f")), tool("c", std::move(content))))).failed(1);
    };
    CHECK(failed("Error: no such file"));
    CHECK(failed(list(text("error: x"), text("ok"))));
    CHECK(failed(list(image_part(), text("fatal: x"))));
    CHECK_FALSE(failed(list(text("ok"), text("Error: x"))));
    CHECK_FALSE(failed("errors: 0"));
    CHECK_FALSE(failed(nullptr));
    CHECK_FALSE(failed(list()));
    CHECK_FALSE(failed(Json{{"error", "x"}}));
}

TEST_CASE("openai chat: two members of one name hold what they stand in") {
    const auto immutable = [](const Json& messages) {
        const Repeating reading(chat(messages));
        REQUIRE(reading.refused().empty());
        std::string out;
        for (std::size_t i = 0; i < reading.size(); ++i) { out += reading[i].immutable ? 'x' : '-'; }
        return out;
    };
    const Json plain = list(calls(packed_call("a", "A", Json{{"content", "x"}}), packed_call("b", "B")),
                            tool("a", list(text("x"))), tool("b", "y"));
    CHECK(immutable(plain) == "----");
    Json messages = plain;
    messages[0] = twice(messages[0]);
    CHECK(immutable(messages) == "xx--");
    messages = plain;
    messages[0]["tool_calls"][0] = twice(messages[0]["tool_calls"][0]);
    CHECK(immutable(messages) == "x---");
    messages = plain;
    messages[0]["tool_calls"][0]["function"] = twice(messages[0]["tool_calls"][0]["function"]);
    CHECK(immutable(messages) == "x---");
    messages = plain;
    messages[0]["tool_calls"][0]["function"]["arguments"] = twice(Json{{"content", "x"}});
    CHECK(immutable(messages) == "x---");
    messages[0]["tool_calls"][0]["function"]["arguments"] = R"({"content":"x","content":"y"})";
    CHECK(immutable(messages) == "x---");
    // deeper inside nothing is changed anyway
    messages[0]["tool_calls"][0]["function"]["arguments"] = R"({"content":"x","o":{"a":1,"a":2}})";
    CHECK(immutable(messages) == "----");
    messages = plain;
    messages[1] = twice(messages[1]);
    CHECK(immutable(messages) == "--x-");
    messages = plain;
    messages[1]["content"][0] = twice(messages[1]["content"][0]);
    CHECK(immutable(messages) == "--x-");
    Json legacy = {{"role", "assistant"}, {"function_call", twice(Json{{"name", "f"}, {"arguments", "{}"}})}};
    CHECK(immutable(list(legacy)) == "x");
    CHECK(Repeating(twice(chat(plain)), true).refused() == "a key of the body stands there twice");
}

TEST_CASE("openai chat: an edit inside arguments that repeats a key has no fields") {
    const Reading reading(answered(R"({"edits":[{"old_string":"x","old_string":"y"},{"new_string":"z"}]})"));
    CHECK_FALSE(reading[1].immutable);
    CHECK(reading.names(reading[1]) == "edits[1].new_string");
}

TEST_CASE("openai chat: blocks of another provider's shape are refused unless it is forced") {
    for (const std::string type : {"tool_use", "tool_result"}) {
        for (const std::string role : {"user", "assistant", "tool"}) {
            const Json document = chat(list(message(role, list(Json{{"type", type}})), tool("c", "x")));
            CHECK_FALSE(Reading(document).refused().empty());
            CHECK(Reading(document).transcript().dialect.empty());
            CHECK(Reading(document, true).refused().empty());
        }
    }
    CHECK_FALSE(Reading(Json{{"input", "x"}}, true).refused().empty());
    CHECK_FALSE(Reading(Json(7), true).refused().empty());
    CHECK_FALSE(Reading(Json{{"messages", "x"}}, true).refused().empty());
    CHECK(Reading(list(user("hi"))).refused().empty());
}

TEST_CASE("openai chat: one cleared field leaves every other byte of the arguments") {
    const std::string head =
        R"({ "z" : 1.0,"n":[1E5 , -0, 100.00,12345678901234567890123],"p\u0061th":"a\/b\u00e9\ud83d\ude00é",)";
    const std::string tail = R"(,  "o":{"y":2,"b":null } ,"a":true}  )";
    const std::string name = R"("content" : )";
    check_packed(
        {head + name + '"' + x9 + '"' + tail, head + name + '"' + cleared(900, "content") + '"' + tail});
    // the spelling of what goes does not matter
    const std::string escaped = R"(a\n\"\\\u0041\/)" + x9;
    check_packed(
        {head + name + '"' + escaped + '"' + tail, head + name + '"' + cleared(906, "content") + '"' + tail});
    const std::string cjk(R"(\u6587)" + x9 + "\xE6\x96\x87\xF0\x9F\x98\x80");
    check_packed(
        {head + name + '"' + cjk + '"' + tail, head + name + '"' + cleared(903, "content") + '"' + tail});
}

TEST_CASE("openai chat: two fields and those of edits are cleared on their own") {
    const std::string before = R"({"path":"/a","old_string":")" + x9 + R"(" , "k":1.50,"new_string":")" + x9 +
                               R"(y\n","edits":[{"old_string":")" + x9 +
                               R"("}, 7,{"new_string":"small","old_string": ")" + x9 + R"(zz"}],"end":{}})";
    const std::string after =
        R"({"path":"/a","old_string":")" + cleared(900, "old_string") + R"(" , "k":1.50,"new_string":")" +
        cleared(902, "new_string") + R"(","edits":[{"old_string":")" + cleared(900, "old_string") +
        R"("}, 7,{"new_string":"small","old_string": ")" + cleared(902, "old_string") + R"("}],"end":{}})";
    check_packed({before, after});
    const Pruned done = pruned(answered(before), clearing);
    REQUIRE(done.report.edits.size() == 4);
    const std::vector<std::string> paths = {"/tool_calls/0/function/arguments#/old_string",
                                            "/tool_calls/0/function/arguments#/new_string",
                                            "/tool_calls/0/function/arguments#/edits/0/old_string",
                                            "/tool_calls/0/function/arguments#/edits/2/old_string"};
    for (std::size_t i = 0; i < paths.size(); ++i) {
        CHECK(done.report.edits[i].path == paths[i]);
        CHECK(done.report.edits[i].message == 1);
        CHECK(done.report.edits[i].id == "c1");
        CHECK(done.report.edits[i].tool == "write");
    }
}

TEST_CASE("openai chat: the named fields go at any depth, and no others") {
    const std::string p(3000, 'p');
    const std::string gone = cleared(3000, "content");
    const auto arguments = [&](const std::string& content) {
        return R"({"path":")" + p + R"(","command":")" + p + R"(","args":{"content":")" + content +
               R"("},"edits":{"content":")" + content + R"("},"list":[[{"content":")" + content + R"("}],")" + p +
               R"("],"content":["x"],"new_string":null})";
    };
    check_packed({arguments(p), arguments(gone)});
}

TEST_CASE("openai chat: arguments without anything to clear keep their bytes") {
    for (const std::string& arguments :
         {std::string(R"({ "path" : "a\u0062c" , "n": 1.0 })"), x9, "[\"" + x9 + "\"]", "\"" + x9 + "\"",
          R"({"content":")" + x9, R"({"content":")" + x9 + R"(","content":"a"})",
          R"("{\"content\":\")" + x9 + R"(\"}")", R"({"other":{"contents":")" + x9 + R"("}})",
          R"({"in":{"content":")" + x9 + R"(","content":"a"}})", R"({"content":)" + std::string(2000, '1') + "}",
          R"({"content":")" + x9 + "\n\"}", R"({"content":")" + x9 + R"("}})", std::string()}) {
        check_packed({arguments, arguments});
    }
}

TEST_CASE("openai chat: JSON inside the JSON of arguments is a text like any other") {
    const Json inner = {{"content", std::string(500, '"') + "\\" + std::string(500, 'x')}};
    const Json outer = {{"content", inner.dump()}, {"path", Json{{"a", "\"\\"}}.dump()}};
    Json expected = outer;
    expected["content"] = cleared(inner.dump().size(), "content");
    check_packed({outer.dump(), expected.dump()});
}

TEST_CASE("openai chat: arguments nested to any depth lose their field and nothing else") {
    constexpr std::size_t levels = 200'000;
    const std::string deep = std::string(levels, '[') + std::string(levels, ']');
    const std::string before = R"({"content":")" + x9 + R"(","deep":)" + deep + "}";
    const Json document = answered(before);
    const Pruned done = pruned(document, clearing);
    const bool same =
        arguments_of(done.after) == R"({"content":")" + cleared(900, "content") + R"(","deep":)" + deep + "}";
    CHECK(same);
    // and where it never ends it stays
    const Json cut = answered(R"({"content":")" + x9 + R"(","deep":)" + std::string(levels, '[') + "}");
    CHECK(pruned(cut, clearing).unchanged());
}

TEST_CASE("openai chat: half a surrogate pair in arguments") {
    // inside the JSON it is a spelling that stays, and may go with a field
    check_packed({R"({"a":"\ud800","content":")" + x9 + R"("})",
                  R"({"a":"\ud800","content":")" + cleared(900, "content") + R"("})"});
    check_packed({R"({"a":1,"content":"\udc00)" + x9 + R"("})",
                  R"({"a":1,"content":")" + cleared(901, "content") + R"("})"});
    // in the string around it nobody can say what the JSON is
    const std::string inside = R"({\"a\":\"\ud800\",\"content\":\")" + x9 + R"(\"})";
    const std::string body =
        R"({"messages":[{"role":"assistant","tool_calls":[{"id":"c1","function":{"name":"f","arguments":")" +
        inside +
        R"("}}]},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"y"}]})";
    CHECK_FALSE(support::pruned_text(body, clearing).report.engaged);
}

TEST_CASE("openai chat: a DOM with bytes that are no UTF-8 is pruned beside them") {
    Json document = chat(list(calls(function_call("c1", "f", R"({"content":")" + x9 + "\xFF\"}"),
                                    function_call("c2", "f", R"({"content":")" + x9 + "\"}")),
                              tool("c1", "a\xC3"), tool("c2", std::string("b\0", 2)), assistant("\xFF")));
    const Json before = document;
    const coppice::Report report = coppice::prune(document, clearing);
    REQUIRE(report.edits.size() == 1);
    CHECK(report.edits[0].block == 1);
    CHECK(report.edits[0].path == "/tool_calls/1/function/arguments#/content");
    const bool first_stays =
        document["messages"][0]["tool_calls"][0] == before["messages"][0]["tool_calls"][0];
    CHECK(first_stays);
    CHECK(document["messages"][0]["tool_calls"][1]["function"]["arguments"] ==
          R"({"content":")" + cleared(900, "content") + R"("})");
}

TEST_CASE("openai chat: the string around arguments may be spelled in any way") {
    const std::string start =
        R"({"messages":[{"role":"assistant","content":null,"tool_calls":[)"
        R"({"id":"c1","type":"function","function":{"name":"f","arguments":")";
    const std::string end =
        R"("}}]},{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"assistant","content":"y"}]})";
    const std::string stub = R"(\")" + cleared(900, "content") + R"(\")";
    struct Spelling {
        std::string before;
        std::string after;
    };
    const std::string u = "\\u0022";
    const std::vector<Spelling> spellings = {
        {"{" + u + "path" + u + ":" + u + "a\\/b\\u00e9\\ud83d\\ude00" + u + "," + u + "content" + u + ":",
         "}"},
        {R"(\u007b\"caf)"
         "\xC3\xA9"
         R"(\":1.0,\t\n \"content\" \u003a)",
         R"(,\"\\u0061\":\"\\\\ \\\" \\ud800\"\u007D\r)"},
        {R"({\u0022\u0063\u006f\u006e\u0074\u0065\u006et\":)", R"(,\"b\":[\u0031E5]})"},
    };
    const std::vector<std::string> values = {R"(\")" + x9 + R"(\")", u + x9 + u,
                                             u + "\\u0078" + x9.substr(1) + R"(\")"};
    for (const Spelling& spelling : spellings) {
        for (const std::string& value : values) {
            const std::string before = start + spelling.before + value + spelling.after + end;
            const std::string expected = start + spelling.before + stub + spelling.after + end;
            CAPTURE(spelling.before);
            const support::PrunedText done = support::pruned_text(before, clearing);
            CHECK(done.report.engaged);
            const bool same = done.out == expected;
            CHECK(same);
            REQUIRE(done.report.edits.size() == 1);
            CHECK(done.report.edits[0].bytes_before == value.size());
            CHECK(done.report.edits[0].bytes_after == stub.size());
            CHECK(done.report.saved_bytes == value.size() - stub.size());
            Json document = Json::parse(before);
            const coppice::Report report = coppice::prune(document, clearing);
            const bool same_value = document == Json::parse(expected);
            CHECK(same_value);
            support::check_same_report(done.report, report, false);
        }
    }
}

namespace {

// Needs escaping in every way there is.
struct Awkward {
    static constexpr std::string_view name = "awkward";
    static constexpr std::string_view words = "\"\\\n\x01/\xE6\x96\x87\xF0\x9F\x98\x80\"";
    static constexpr std::size_t longest = 40;
    coppice::Shape shape = coppice::Shape::as_it_was;
    void result(std::string& out, const coppice::ResultFacts&) const { out += words; }
    void field(std::string& out, const coppice::FieldFacts&) const { out += words; }
    void image(std::string& out, const coppice::ResultFacts&) const { out += words; }
    coppice::Recognised recognise(std::string_view shown) const {
        using enum coppice::Recognised::Kind;
        return {.kind = shown == words ? stub : content};
    }
};

}  // namespace

TEST_CASE("openai chat: a wording's quotes and backslashes are escaped once for each string around them") {
    const coppice::Pipeline pipeline{coppice::BulkyInputClear<0, coppice::Size{30}>{},
                                     coppice::KeepRecent<0, coppice::Size{30}, 0>{}, Awkward{}};
    const Json input = {{"path", "a\"b"}, {"content", x9}, {"edits", list(Json{{"new_string", x9 + "\""}})}};
    Json document = answered(input.dump());
    document["messages"][2]["content"] = x9;
    const Pruned done = pruned_everywhere(document, pipeline);
    REQUIRE(done.report.edits.size() == 3);
    Json expected = input;
    expected["content"] = Awkward::words;
    expected["edits"][0]["new_string"] = Awkward::words;
    CHECK(arguments_of(done.after) == expected.dump());
    CHECK(done.after["messages"][2]["content"] == Awkward::words);
}

TEST_CASE("openai chat: a field is cleared only where that makes the body smaller") {
    // each of these characters is two in JSON and four in JSON in a string
    for (std::size_t size = 40; size < 60; ++size) {
        const coppice::Pipeline pipeline{coppice::BulkyInputClear<0, coppice::Size{1}>{}};
        pruned(answered(Json{{"content", std::string(size, 'x')}}.dump()), pipeline);
        pruned(answered(Json{{"content", std::string(size / 4, '"')}}.dump()), pipeline);
        pruned(answered(Json{{"content", std::string(size / 8, '\x01')}}.dump()), pipeline);
    }
}

TEST_CASE("openai chat: what is cleared once is known again in every spelling") {
    const Pruned done = pruned(answered(Json{{"content", x9}, {"path", "/a"}}.dump()), clearing);
    const coppice::Pipeline greedy{coppice::BulkyInputClear<0, coppice::Size{1}>{}};
    Json again = done.after;
    CHECK_FALSE(coppice::prune(again, greedy).engaged);
    for (std::uint64_t seed = 1; seed < 9; ++seed) {
        CHECK_FALSE(support::pruned_text(support::respelled(done.after.dump(), seed), greedy).report.engaged);
    }
}

TEST_CASE("openai chat: legacy calls and results are pruned") {
    const Json asks = {{"role", "assistant"},
                       {"content", nullptr},
                       {"function_call", {{"name", "f"}, {"arguments", Json{{"content", x9}}.dump()}}}};
    const Json document = chat(list(message("system", filler(1, 3000)), user(filler(2, 3000)), asks,
                                    Json{{"role", "function"}, {"name", "f"}, {"content", filler(3, 3000)}},
                                    message("system", filler(4, 3000)), message("developer", filler(5, 3000)),
                                    assistant("done")));
    const Pruned inputs = pruned_everywhere(document, clearing);
    REQUIRE(inputs.report.edits.size() == 1);
    CHECK(inputs.report.edits[0].path == "/function_call/arguments#/content");
    CHECK(inputs.report.edits[0].block == 0);
    const Pruned results = pruned_everywhere(document, emptying);
    REQUIRE(results.report.edits.size() == 1);
    CHECK(results.report.edits[0].path == "/content");
    CHECK(results.report.edits[0].message == 3);
    CHECK(results.after["messages"][3]["content"] == "[tool result cleared: 3000 characters; f]");
}

TEST_CASE("openai chat: arguments that are an object are cleared as one") {
    const Json input = {{"z", 1.0}, {"content", x9}, {"edits", list(Json{{"old_string", x9}})}, {"a", 2}};
    Json with_id = function_call("c1", "write", input);
    for (const Json& asked : {with_id, ollama_call("write", input)}) {
        Json answer = ollama_result("write", filler(1, 3000));
        if (asked.contains("id")) { answer["tool_call_id"] = "c1"; }
        const Json document = chat(list(user("hi"), calls(asked), answer, assistant("done")));
        const Pruned done = pruned_everywhere(document, clearing);
        REQUIRE(done.report.edits.size() == 2);
        CHECK(done.report.edits[0].path == "/tool_calls/0/function/arguments/content");
        CHECK(done.report.edits[1].path == "/tool_calls/0/function/arguments/edits/0/old_string");
        const Json& left = done.after["messages"][1]["tool_calls"][0]["function"]["arguments"];
        CHECK(left.dump() == R"({"z":1.0,"content":")" + cleared(900, "content") +
                                 R"(","edits":[{"old_string":")" + cleared(900, "old_string") +
                                 R"("}],"a":2})");
        const Pruned results = pruned_everywhere(document, emptying);
        REQUIRE(results.report.edits.size() == 1);
        CHECK(results.after["messages"][2]["content"] == "[tool result cleared: 3000 characters; write]");
    }
}

TEST_CASE("openai chat: a call of several keeps its place in the report") {
    const Json document =
        chat(list(user("hi"),
                  calls(packed_call("a", "A", Json{{"path", "/a"}}),
                        packed_call("b", "B", Json{{"edits", list(Json{{"new_string", x9}})}})),
                  tool("b", filler(1, 3000)), tool("a", filler(2, 3000)), assistant("done")));
    const Pruned done = pruned_everywhere(document, clearing);
    REQUIRE(done.report.edits.size() == 1);
    CHECK(done.report.edits[0].path == "/tool_calls/1/function/arguments#/edits/0/new_string");
    CHECK(done.report.edits[0].block == 1);
    const Pruned results = pruned_everywhere(document, emptying);
    REQUIRE(results.report.edits.size() == 2);
    CHECK(results.report.edits[0].tool == "B");
    CHECK(results.report.edits[1].tool == "A");
    CHECK(results.after["messages"][3]["content"] == "[tool result cleared: 3000 characters; A /a]");
}

TEST_CASE("openai chat: the input of custom tools and other members of calls stay") {
    Json custom = {
        {"id", "c1"}, {"type", "custom"}, {"custom", {{"name", "apply_patch"}, {"input", filler(1, 4000)}}}};
    custom["custom"]["content"] = x9;
    Json google = packed_call("c2", "write", Json{{"content", x9}});
    google["extra_content"] = {{"google", {{"thought_signature", filler(2, 900)}}}};
    google["content"] = x9;
    google["function"]["content"] = x9;
    Json asks = calls(custom, google);
    asks["refusal"] = x9;
    asks["audio"] = {{"id", x9}};
    asks["reasoning_content"] = filler(3, 3000);
    asks["reasoning"] = filler(3, 3000);
    asks["reasoning_details"] = list(Json{{"type", "reasoning.encrypted"}, {"data", filler(4, 3000)}});
    const Json document = chat(
        list(user("hi"), asks, tool("c1", filler(5, 3000)), tool("c2", filler(6, 3000)), assistant("done")));
    const coppice::Pipeline both{coppice::BulkyInputClear<0, coppice::Size{100}>{},
                                 coppice::KeepRecent<0, coppice::Size{100}, 0>{}};
    const Pruned done = pruned_everywhere(document, both);
    REQUIRE(done.report.edits.size() == 3);
    Json expected = done.before;
    expected["messages"][1]["tool_calls"][1]["function"]["arguments"] =
        Json{{"content", cleared(900, "content")}}.dump();
    expected["messages"][2]["content"] = "[tool result cleared: 3000 characters; apply_patch]";
    expected["messages"][3]["content"] = "[tool result cleared: 3000 characters; write]";
    const bool same = done.after == expected;
    CHECK(same);
}

TEST_CASE("openai chat: what the model has not read stays") {
    Json document = chat(
        list(user("hi"), calls(packed_call("a", "A", Json{{"content", x9}})), tool("a", filler(1, 3000))));
    CHECK(pruned(document, emptying).unchanged());
    CHECK(pruned(document, clearing).unchanged());
    document["messages"].push_back(user("and now"));
    CHECK(pruned(document, emptying).unchanged());
    document["messages"].push_back(assistant("ok"));
    CHECK_FALSE(pruned(document, emptying).unchanged());
    CHECK_FALSE(pruned(document, clearing).unchanged());
}

TEST_CASE("openai chat: unanswered calls and results without a call stay") {
    const Json document = chat(list(user("hi"), calls(packed_call("a", "A", Json{{"content", x9}})),
                                    tool("z", filler(1, 3000)), assistant("done")));
    CHECK(pruned(document, emptying).unchanged());
    const Pruned done = pruned(document, clearing);
    CHECK(done.unchanged());
    CHECK(done.report.unpaired_calls == 1);
    CHECK(done.report.unpaired_results == 1);
}

TEST_CASE("openai chat: contents of strings stay strings and those of parts stay parts") {
    const Pruned done = pruned_everywhere(with_results({filler(1, 3000), list(text(filler(2, 3000))),
                                                        list(text(filler(3, 2000)), text(filler(4, 2000)))}),
                                          emptying);
    CHECK(done.report.edits.size() == 3);
    CHECK(content_of(done.after, 0).is_string());
    for (std::size_t i = 1; i < 3; ++i) {
        const Json& content = content_of(done.after, i);
        REQUIRE(content.is_array());
        REQUIRE(content.size() == 1);
        CHECK(content[0]["type"] == "text");
        CHECK(content[0].size() == 2);
    }
    // always blocks is what other providers allow
    coppice::PlainWording wording;
    wording.shape = coppice::Shape::always_blocks;
    const coppice::Pipeline blocks{coppice::KeepRecent<0, coppice::Size{100}, 0>{}, wording};
    CHECK(content_of(pruned(with_results({filler(1, 3000)}), blocks).after, 0).is_string());
}

TEST_CASE("openai chat: the one mark of a content is carried over as it is") {
    const Json mark = {{"type", "ephemeral"}, {"ttl", "1h"}, {"x", list(1.0, nullptr)}};
    for (const std::string key : {"cache_control", "prompt_cache_breakpoint"}) {
        CAPTURE(key);
        Json part = text(filler(1, 3000));
        part[key] = mark;
        const Pruned done = pruned_everywhere(with_results({list(text(filler(2, 3000)), part)}), emptying);
        REQUIRE(done.report.edits.size() == 1);
        const Json& left = content_of(done.after, 0);
        REQUIRE(left.size() == 1);
        CHECK(left[0].size() == 3);
        CHECK(left[0][key].dump() == mark.dump());
    }
}

TEST_CASE("openai chat: a mark keeps its very bytes") {
    const std::string mark = R"({ "type" : "eph\u0065meral","ttl":1.0 })";
    for (const std::string key : {"cache_control", "prompt_cache_breakpoint"}) {
        const std::string body =
            R"({"messages":[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},)"
            R"({"role":"tool","tool_call_id":"c","content":[{"text":")" +
            x9 + R"(",")" + key + R"(": )" + mark +
            R"(,"type":"text"}]},{"role":"assistant","content":"y"}]})";
        const support::PrunedText done = support::pruned_text(body, emptying);
        REQUIRE(done.report.engaged);
        CHECK(done.out.find("\"" + key + "\":" + mark + "}]") != std::string::npos);
    }
}

TEST_CASE("openai chat: two marks in a content hold it") {
    Json both = marked(text(filler(1, 3000)));
    both["prompt_cache_breakpoint"] = Json::object();
    CHECK(pruned_everywhere(with_results({list(both)}), emptying).unchanged());
    Json turned = {{"type", "text"}, {"prompt_cache_breakpoint", nullptr}, {"text", filler(1, 3000)}};
    CHECK_FALSE(pruned_everywhere(with_results({list(turned)}), emptying).unchanged());
    turned["cache_control"] = Json::object();
    CHECK(pruned_everywhere(with_results({list(turned)}), emptying).unchanged());
    Json other = text(filler(2, 3000));
    other["prompt_cache_breakpoint"] = Json::object();
    CHECK(
        pruned_everywhere(with_results({list(marked(text(filler(1, 3000))), other)}), emptying).unchanged());
    Json no_object = text(filler(2, 3000));
    no_object["prompt_cache_breakpoint"] = true;
    CHECK(pruned_everywhere(with_results({list(no_object)}), emptying).unchanged());
    CHECK(pruned_everywhere(with_results({list(Json{{"type", "x"}, {"y", marked(text(filler(1, 3000)))}})}),
                            emptying)
              .unchanged());
}

TEST_CASE("openai chat: images in a tool message become a line each in their places") {
    Json other_mark = image_part();
    other_mark["prompt_cache_breakpoint"] = {{"type", "x"}};
    const Pruned done = pruned_once(
        with_results({list(text("before"), image_part(), text("between"), marked(image_part()), other_mark)}),
        emptying);
    REQUIRE(done.report.edits.size() == 3);
    CHECK(done.report.edits[0].path == "/content/1");
    CHECK(done.report.edits[1].path == "/content/3");
    const std::string line = "[image cleared: read /src/a.c]";
    const Json expected =
        list(text("before"), text(line), text("between"), marked(text(line)),
             Json{{"type", "text"}, {"text", line}, {"prompt_cache_breakpoint", {{"type", "x"}}}});
    CHECK(content_of(done.after, 0).dump() == expected.dump());
    check_respelled(done.before, done.after, done.report, emptying);
}

TEST_CASE("openai chat: signed parts in a result hold it") {
    const Json unknown = {{"type", "x"}, {"data", filler(1, 3000)}};
    for (const Json& part :
         {unknown, text(filler(2, 3000)), image_part(), Json{{"type", "file"}, {"file", filler(3, 3000)}}}) {
        CHECK(pruned_once(with_results({list(part)}), emptying).report.engaged);
        for (const std::string key : {"signature", "encrypted_content"}) {
            Json with_key = part;
            with_key[key] = "s";
            CHECK(pruned_everywhere(with_results({list(with_key)}), emptying).unchanged());
            CHECK(pruned_everywhere(with_results({with_key}), emptying).unchanged());
            with_key = part;
            with_key["deeper"] = list(Json{{key, nullptr}});
            CHECK(pruned_everywhere(with_results({list(with_key)}), emptying).unchanged());
        }
    }
}

TEST_CASE("openai chat: failed results say so") {
    const Pruned done =
        pruned_everywhere(with_results({"Error: no such file\n" + filler(1, 3000) + "\nlast"}), emptying);
    REQUIRE(done.report.edits.size() == 1);
    const std::string& stub = done.report.edits[0].replacement;
    CHECK(stub.find(", failed; read /src/a.c; first line: Error: no such file; last line: last]") !=
          std::string::npos);
}

TEST_CASE("openai chat: duplicates are told by tool and by what the arguments mean") {
    const auto session = [](const std::string& tool_name, const std::string& left, const std::string& right) {
        const std::string content = filler(1, 3000);
        return chat(list(user("hi"), calls(function_call("a", tool_name, left)), tool("a", content),
                         calls(function_call("b", "read", right)), tool("b", content), assistant("done")));
    };
    const std::string one = R"({"path":"/a/b","n":[1,2.0],"o":{"x":1,"y":2}})";
    for (const std::string same : {R"({"path":"/a/b","n":[1,2.0],"o":{"x":1,"y":2}})",
                                   R"( {"o":{"y":2, "x":1} ,"n":[1,20e-1],"p\u0061th":"\/a\/b"})"}) {
        const Pruned done = pruned_everywhere(session("read", same, one), merging);
        REQUIRE(done.report.edits.size() == 1);
        CHECK(done.report.edits[0].message == 2);
        CHECK(done.report.edits[0].replacement.find("same as a later result") != std::string::npos);
    }
    for (const std::string other :
         {R"({"path":"/a/c","n":[1,2.0],"o":{"x":1,"y":2}})", R"({"path":"/a/b"})",
          R"({"path":"/a/b","n":[2.0,1],"o":{"x":1,"y":2}})", R"({"path":"/a/b","n":[1)", ""}) {
        CHECK(pruned_everywhere(session("read", other, one), merging).unchanged());
    }
    CHECK(pruned_everywhere(session("list", one, one), merging).unchanged());
    // what is no JSON is told by its bytes
    CHECK_FALSE(pruned_everywhere(session("read", "{x", "{x"), merging).unchanged());
    CHECK(pruned_everywhere(session("read", "{x", "{ x"), merging).unchanged());
}

TEST_CASE("openai chat: a call that lost its text is no longer the same as another") {
    const std::string content = filler(1, 3000);
    const auto asks = [&](const std::string& id, char c) {
        return calls(packed_call(id, "write", Json{{"path", "/a"}, {"content", std::string(900, c)}}));
    };
    const Json document = chat(list(user("hi"), asks("a", 'a'), tool("a", content), asks("b", 'b'),
                                    tool("b", content), assistant("done")));
    const Pruned done = pruned(document, clearing);
    CHECK(done.report.edits.size() == 2);
    CHECK(pruned(done.after, merging).unchanged());
}

TEST_CASE("openai chat: results in messages of their own between speech and system are pruned") {
    const Json document =
        chat(list(user("hi"), calls(packed_call("a", "A"), packed_call("b", "B")), tool("b", filler(1, 3000)),
                  message("system", "note"), tool("a", filler(2, 3000)), user("go on"), assistant("done")));
    const Pruned done = pruned_once(document, emptying);
    REQUIRE(done.report.edits.size() == 2);
    CHECK(done.report.edits[0].tool == "B");
    CHECK(done.report.edits[1].tool == "A");
}

TEST_CASE("openai chat: text of users and assistants in every form stays") {
    Json parts = list(text(filler(1, 3000)), image_part(),
                      Json{{"type", "input_audio"}, {"input_audio", {{"data", x9}}}},
                      Json{{"type", "file"}, {"file", {{"file_data", x9}}}});
    Json with_images = user(filler(2, 3000));
    with_images["images"] = list(x9);
    const Json document = chat(
        list(message("user", parts), message("assistant", list(text(filler(3, 3000)))),
             message("assistant", list(Json{{"type", "refusal"}, {"refusal", x9}})),
             message("assistant",
                     list(Json{{"type", "thinking"}, {"thinking", list(text(filler(4, 3000)))}}, text("x"))),
             with_images, calls(packed_call("a", "A")), tool("a", "x"), Json{{"role", "assistant"}},
             assistant("done")));
    const coppice::Pipeline both{coppice::BulkyInputClear<0, coppice::Size{100}>{},
                                 coppice::KeepRecent<0, coppice::Size{100}, 0>{}};
    const Pruned done = pruned_once(document, both);
    CHECK(done.report.dialect == "openai-chat");
    CHECK(done.unchanged());
}

TEST_CASE("openai chat: odd values in every member are read alike by both back ends") {
    const std::vector<Json> odd = {nullptr,
                                   7,
                                   -1.5,
                                   true,
                                   "",
                                   "x",
                                   Json::array(),
                                   Json::object(),
                                   list(nullptr),
                                   list(list()),
                                   list(Json::object()),
                                   list("x"),
                                   Json{{"a", x9}},
                                   Json(x9),
                                   list(text(x9)),
                                   Json{{"name", 7}, {"arguments", list()}}};
    const std::vector<std::string> places = {"/messages/0",
                                             "/messages/1",
                                             "/messages/2",
                                             "/messages/1/role",
                                             "/messages/1/content",
                                             "/messages/1/tool_calls",
                                             "/messages/1/tool_calls/0",
                                             "/messages/1/tool_calls/0/id",
                                             "/messages/1/tool_calls/0/type",
                                             "/messages/1/tool_calls/0/function",
                                             "/messages/1/tool_calls/0/function/name",
                                             "/messages/1/tool_calls/0/function/arguments",
                                             "/messages/1/function_call",
                                             "/messages/1/reasoning_content",
                                             "/messages/1/tool_calls/0/custom",
                                             "/messages/2/role",
                                             "/messages/2/content",
                                             "/messages/2/tool_call_id",
                                             "/messages/2/name",
                                             "/messages/2/tool_name",
                                             "/messages/3/content",
                                             "/messages",
                                             "/tools"};
    const coppice::Pipeline both{coppice::BulkyInputClear<0, coppice::Size{100}>{}, coppice::Dedup<>{},
                                 coppice::KeepRecent<0, coppice::Size{100}, 0>{}};
    Json document =
        chat(list(user("hi"), calls(packed_call("a", "A", Json{{"content", x9}})), tool("a", filler(1, 3000)),
                  assistant("b"), calls(packed_call("c", "C")), tool("c", filler(2, 3000)), assistant("d")));
    CHECK(pruned(document, both).report.edits.size() == 3);
    for (const std::string& place : places) {
        for (const Json& value : odd) {
            CAPTURE(place);
            Json changed = document;
            changed[Json::json_pointer(place)] = value;
            for (const coppice::Dialect dialect : {coppice::Dialect::detect, coppice::Dialect::openai_chat}) {
                const Pruned done = pruned_once(changed, both, dialect);
                support::check_wire_laws(done.before.dump(), done.after.dump(), done.report, both, dialect);
            }
        }
    }
}

TEST_CASE("openai chat: members of one name hold their message in bytes") {
    const auto body = [](const std::string& call, const std::string& result) {
        return R"({"messages":[{"role":"assistant","tool_calls":[)" + call + R"(]},{"role":"tool",)" +
               result + R"(},{"role":"assistant","content":"y"}]})";
    };
    const std::string call =
        R"({"id":"c","function":{"name":"f","arguments":"{\"content\":\")" + x9 + R"(\"}"}})";
    const std::string result = R"("tool_call_id":"c","content":")" + x9 + "\"";
    CHECK(support::pruned_text(body(call, result), clearing).report.engaged);
    CHECK(support::pruned_text(body(call, result), emptying).report.engaged);
    for (const std::string& twice_there :
         {R"({"id":"c","id":"c","function":{"name":"f","arguments":"{\"content\":\")" + x9 + R"(\"}"}})",
          R"({"id":"c","function":{"name":"f","n\u0061me":"f","arguments":"{\"content\":\")" + x9 +
              R"(\"}"}})",
          R"({"id":"c","function":{"name":"f","arguments":"{\"content\":\"a\",\"content\":\")" + x9 +
              R"(\"}"}})",
          R"({"id":"c","function":{"name":"f","arguments":{"content":"a","content":")" + x9 + R"("}}})"}) {
        CHECK_FALSE(support::pruned_text(body(twice_there, result), clearing).report.engaged);
        CHECK(support::pruned_text(body(twice_there, result), emptying).report.engaged);
    }
    CHECK_FALSE(support::pruned_text(body(call, result + "," + result), emptying).report.engaged);
    CHECK_FALSE(support::pruned_text(body(call, result + R"(,"content":"short")"), emptying).report.engaged);
}

TEST_CASE("openai chat: scratch left by another body changes nothing") {
    coppice::detail::ReaderScratch scratch;
    const coppice::detail::DomSource<Json> source;
    using Cursor = coppice::detail::DomCursor<Json>;
    const Json unanswered =
        chat(list(calls(ollama_call("read"), packed_call("b", "B", Json{{"content", "x"}}))));
    const Json answers =
        chat(list(user("hi"), ollama_result("read", "x"), ollama_result("", "x"), tool("b", "y")));
    for (const Json* document : {&unanswered, &answers}) {
        Transcript transcript;
        transcript.source = &source;
        coppice::OpenAiChatReader<Cursor> reader(transcript, scratch);
        CHECK(reader.read(Cursor(*document), false).empty());
        for (const Entry& entry : transcript.all()) { CHECK(entry.peer == none); }
    }
}
