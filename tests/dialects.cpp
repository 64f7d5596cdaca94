// SPDX-License-Identifier: MIT
#include <coppice/dialects.hpp>

#include <coppice/coppice.hpp>
#include <coppice/dom.hpp>
#include <coppice/wire.hpp>

#include "support/batches.hpp"
#include "support/builders.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::Dialect;
using Json = nlohmann::ordered_json;
using Cursor = coppice::detail::DomCursor<Json>;
using support::assistant;
using support::assistant_blocks;
using support::call;
using support::list;
using support::message;
using support::result;
using support::text;
using support::thinking;
using support::user;
using support::user_blocks;

struct Found {
    Dialect dialect = Dialect::detect;
    std::string why;
};

template <class Value>
Found found_by(Value value) {
    std::string_view why;
    const Dialect dialect = coppice::detail::Detection<Value>().detect(value, why);
    return {dialect, std::string(why)};
}

// Both back ends say the same.
Found found(const Json& body) {
    const Found in_dom = found_by(Cursor(body));
    const std::string bytes = body.dump();
    coppice::detail::WireStructure structure;
    std::string why;
    if (structure.read(bytes, 0, why)) {
        const Found in_bytes = found_by(coppice::detail::WireCursor(structure));
        CHECK(in_bytes.dialect == in_dom.dialect);
        CHECK(in_bytes.why == in_dom.why);
    }
    // why there is none, and only then
    CHECK((in_dom.dialect == Dialect::detect) == !in_dom.why.empty());
    return in_dom;
}

Dialect dialect_of(const Json& body) { return found(body).dialect; }
std::string why(const Json& body) { return found(body).why; }

Json with_messages(Json messages) { return Json{{"messages", std::move(messages)}}; }

constexpr const char* nothing_tells = "nothing that tells which provider this body is for";
constexpr const char* no_messages = "no list of messages, contents or input";
constexpr const char* several = "histories of more than one provider's shape";

const Json chat_asks = {
    {"role", "assistant"},
    {"content", nullptr},
    {"tool_calls",
     list(Json{{"id", "c1"}, {"type", "function"}, {"function", {{"name", "read"}, {"arguments", "{}"}}}})}};
const Json chat_answers = {{"role", "tool"}, {"tool_call_id", "c1"}, {"content", std::string(9000, 'x')}};
const Json chat_history = list(user("hi"), chat_asks, chat_answers, assistant("done"));

const Json gemini_history =
    list(Json{{"role", "user"}, {"parts", list(Json{{"text", "hi"}})}},
         Json{{"role", "model"},
              {"parts", list(Json{{"functionCall", {{"name", "f"}, {"args", Json::object()}}}})}});

const Json responses_history =
    list(Json{{"role", "user"}, {"content", "hi"}},
         Json{{"type", "function_call"}, {"call_id", "c1"}, {"name", "f"}, {"arguments", "{}"}},
         Json{{"type", "function_call_output"}, {"call_id", "c1"}, {"output", "x"}});

const Json bedrock_history =
    list(message("user", list(Json{{"text", "hi"}})),
         message("assistant",
                 list(Json{{"toolUse", {{"toolUseId", "t1"}, {"name", "f"}, {"input", Json::object()}}}})),
         message("user",
                 list(Json{{"toolResult", {{"toolUseId", "t1"}, {"content", list(Json{{"text", "x"}})}}}})));

}  // namespace

TEST_CASE("detection: Anthropic is told by its blocks") {
    for (const std::string type : {"tool_use", "tool_result", "thinking", "redacted_thinking",
                                   "server_tool_use", "document", "search_result", "compaction"}) {
        CAPTURE(type);
        const Json messages = list(user("hi"), assistant_blocks(text("a"), Json{{"type", type}}));
        CHECK(dialect_of(with_messages(messages)) == Dialect::anthropic);
        CHECK(dialect_of(messages) == Dialect::anthropic);
    }
    CHECK(dialect_of(list(assistant_blocks(thinking("", "S==")))) == Dialect::anthropic);
    CHECK(dialect_of(list(user("hi"), call("t1", "Read"), result("t1", "x"))) == Dialect::anthropic);
}

TEST_CASE("detection: Anthropic is told by what stands around the messages") {
    for (const Json& system : {Json("terse"), list(text("terse")), list(support::marked(text("terse")))}) {
        const Json body = {{"system", system}, {"messages", list(user("hi"))}};
        CHECK(dialect_of(body) == Dialect::anthropic);
    }
    CHECK(dialect_of(Json{{"messages", list(user("hi"))}, {"anthropic_version", "v"}}) == Dialect::anthropic);
    CHECK(dialect_of(Json{{"system", "s"}, {"messages", list(user_blocks(text("hi")))}}) ==
          Dialect::anthropic);
}

TEST_CASE("detection: Chat is told by roles, by members of messages and by parts") {
    for (const std::string role : {"tool", "function", "developer"}) {
        CAPTURE(role);
        const Json messages = list(user("hi"), message(role, "x"));
        CHECK(dialect_of(with_messages(messages)) == Dialect::openai_chat);
        CHECK(dialect_of(messages) == Dialect::openai_chat);
    }
    for (const std::string key :
         {"tool_calls", "function_call", "tool_call_id", "reasoning_content", "reasoning_details"}) {
        CAPTURE(key);
        for (const Json& value : {Json(nullptr), Json("x"), list(7)}) {
            Json speaks = assistant("a");
            speaks[key] = value;
            CHECK(dialect_of(with_messages(list(user("hi"), speaks))) == Dialect::openai_chat);
            CHECK(dialect_of(list(speaks)) == Dialect::openai_chat);
        }
    }
    for (const std::string type : {"image_url", "input_audio", "file", "refusal"}) {
        CAPTURE(type);
        CHECK(dialect_of(with_messages(list(user_blocks(text("hi"), Json{{"type", type}})))) ==
              Dialect::openai_chat);
    }
    CHECK(dialect_of(chat_history) == Dialect::openai_chat);
}

TEST_CASE("detection: thinking in chunks is Mistral's") {
    const Json chunk = {{"type", "thinking"}, {"thinking", list(text("hm"))}};
    Json asks = message("assistant", list(chunk, text("a")));
    asks["tool_calls"] = chat_asks["tool_calls"];
    CHECK(dialect_of(list(user("hi"), asks, chat_answers)) == Dialect::openai_chat);
    Json document = with_messages(list(user("hi"), asks, chat_answers, assistant("done")));
    constexpr coppice::Pipeline emptying{coppice::KeepRecent<0, coppice::Size{100}, 0>{}};
    CHECK(coppice::prune(document, emptying).edits.size() == 1);
}

TEST_CASE("detection: Responses are told by their input") {
    CHECK(dialect_of(Json{{"model", "m"}, {"input", "hi"}}) == Dialect::openai_responses);
    CHECK(dialect_of(Json{{"input", list()}}) == Dialect::openai_responses);
    CHECK(dialect_of(Json{{"instructions", "i"}, {"input", responses_history}}) == Dialect::openai_responses);
    for (const Json& odd : {Json(nullptr), Json(7), Json::object()}) {
        CHECK(why(Json{{"input", odd}}) == no_messages);
    }
}

TEST_CASE("detection: an array of Responses items is told by the first that has a type and no role") {
    CHECK(dialect_of(responses_history) == Dialect::openai_responses);
    CHECK(dialect_of(list(Json{{"type", "message"}, {"role", "user"}, {"content", "hi"}})) ==
          Dialect::openai_responses);
    CHECK(dialect_of(list(Json{{"type", "reasoning"}, {"summary", list()}})) == Dialect::openai_responses);
    CHECK(why(list(responses_history[0])) == nothing_tells);
}

TEST_CASE("detection: Gemini is told by its contents") {
    CHECK(dialect_of(Json{{"contents", gemini_history}}) == Dialect::gemini);
    CHECK(dialect_of(Json{{"contents", list()}, {"systemInstruction", Json::object()}}) == Dialect::gemini);
    CHECK(dialect_of(gemini_history) == Dialect::gemini);
    CHECK(dialect_of(list(Json{{"parts", list()}})) == Dialect::gemini);
    CHECK(why(Json{{"contents", "hi"}}) == no_messages);
}

TEST_CASE("detection: Bedrock is told by blocks without a type") {
    for (const std::string key : {"text", "toolUse", "toolResult", "image", "document", "video",
                                  "reasoningContent", "cachePoint", "guardContent", "citationsContent"}) {
        CAPTURE(key);
        Json block = Json::object();
        block[key] = "x";
        const Json messages = list(message("user", list(block)));
        CHECK(dialect_of(with_messages(messages)) == Dialect::bedrock);
        CHECK(dialect_of(messages) == Dialect::bedrock);
    }
    CHECK(dialect_of(bedrock_history) == Dialect::bedrock);
    for (const Json& block :
         {Json{{"hologram", 1}}, Json::object(), Json(7), Json("text"), Json(nullptr), list("text")}) {
        CHECK(why(with_messages(list(message("user", list(block))))) == nothing_tells);
    }
}

TEST_CASE("detection: Bedrock is told by what stands around the messages") {
    for (const std::string key :
         {"toolConfig", "inferenceConfig", "modelId", "additionalModelRequestFields"}) {
        CAPTURE(key);
        Json body = with_messages(list(user("hi")));
        body[key] = Json::object();
        CHECK(dialect_of(body) == Dialect::bedrock);
        Json first = {{key, Json::object()}, {"system", "s"}};
        first["messages"] = list(user("hi"));
        CHECK(dialect_of(first) == Dialect::bedrock);
    }
    const Json body = {{"system", list(Json{{"text", "s"}})}, {"messages", list(user("hi"))}};
    CHECK(dialect_of(body) == Dialect::bedrock);
}

TEST_CASE("detection: the messages decide before what stands around them and in any order of the keys") {
    for (const Json& history : {chat_history, bedrock_history, list(call("t1", "Read"), result("t1", "x"))}) {
        const Dialect expected = dialect_of(with_messages(history));
        CHECK(expected != Dialect::detect);
        for (const std::string key : {"system", "anthropic_version", "modelId"}) {
            CAPTURE(key);
            Json before = Json::object();
            before[key] = "x";
            before["messages"] = history;
            CHECK(dialect_of(before) == expected);
            Json behind = with_messages(history);
            behind[key] = "x";
            CHECK(dialect_of(behind) == expected);
        }
    }
}

TEST_CASE("detection: text alone tells nothing") {
    for (const Json& messages :
         {list(), list(user("hi"), assistant("hello")), list(message("system", "s"), user("hi")),
          list(user_blocks(text("hi"), support::image())), list(message("user", nullptr), message("user", 7)),
          list(Json::object()), list(nullptr), list(Json{{"role", 7}, {"content", Json::object()}})}) {
        CHECK(why(with_messages(messages)) == nothing_tells);
        Json named = with_messages(messages);
        named["model"] = "claude";
        named["max_tokens"] = 7;
        named["tools"] = list();
        CHECK(why(named) == nothing_tells);
    }
    CHECK(why(list(user("hi"), assistant("hello"))) == nothing_tells);
}

TEST_CASE("detection: what holds no history is none") {
    for (const Json& body :
         {Json(nullptr), Json(7), Json("messages"), Json(true), Json::object(), list(), list(1, 2),
          list(list()), list(Json{{"role", "user"}}), list(Json::object()), Json{{"messages", "x"}},
          Json{{"messages", Json::object()}}, Json{{"model", "m"}}}) {
        CHECK(why(body) == no_messages);
    }
}

TEST_CASE("detection: histories of several shapes are nobody's") {
    CHECK(why(Json{{"messages", chat_history}, {"contents", gemini_history}}) == several);
    CHECK(why(Json{{"messages", chat_history}, {"input", "x"}}) == several);
    CHECK(why(Json{{"input", responses_history}, {"messages", list()}}) == several);
    CHECK(why(Json{{"contents", list()}, {"input", list()}}) == several);
    CHECK(dialect_of(Json{{"messages", chat_history}, {"input", 7}, {"contents", "x"}}) ==
          Dialect::openai_chat);
}

TEST_CASE("detection: once decided it stays while the conversation grows") {
    const std::vector<Json> histories = {
        chat_history,
        bedrock_history,
        gemini_history,
        responses_history,
        list(user("hi"), call("t1", "Read"), result("t1", "x"), assistant("done"), chat_asks, chat_answers,
             bedrock_history[0]),
        list(user("hi"), chat_asks, chat_answers, call("t1", "Read"), bedrock_history[0], gemini_history[0],
             responses_history[1]),
        list(bedrock_history[0], chat_asks, call("t1", "Read")),
        list(user("hi"), responses_history[1], chat_asks, call("t1", "Read"), gemini_history[0]),
        list(gemini_history[0], user("hi"), chat_asks, responses_history[1]),
        list(user("hi"), message("assistant", list(Json{{"type", "thinking"}, {"thinking", list()}})),
             call("t1", "A"))};
    for (const Json& history : histories) {
        for (const std::string key : {"", "messages"}) {
            Dialect decided = Dialect::detect;
            Json prefix = Json::array();
            for (const Json& item : history) {
                prefix.push_back(item);
                Json body = prefix;
                if (!key.empty()) { body = Json{{key, prefix}}; }
                const Dialect now = dialect_of(body);
                if (decided != Dialect::detect) { CHECK(now == decided); }
                decided = now;
            }
        }
    }
}

TEST_CASE("detection: keys and words may be escaped") {
    const std::string body =
        R"({"m\u0065ssages":[{"r\u006fle":"\u0074ool","content":"x"},{"role":"assistant","content":"y"}]})";
    coppice::detail::WireStructure structure;
    std::string reason;
    REQUIRE(structure.read(body, 0, reason));
    CHECK(found_by(coppice::detail::WireCursor(structure)).dialect == Dialect::openai_chat);
}

namespace {

constexpr coppice::Pipeline emptying{coppice::KeepRecent<0, coppice::Size{100}, 0>{}};

const Json anthropic_history =
    list(user("hi"), call("t1", "Read"), result("t1", std::string(9000, 'x')), assistant("done"));

// Prunes in both back ends, which do the same.
coppice::Report report_of(const Json& body, Dialect dialect = Dialect::detect) {
    Json document = body;
    const coppice::Report report = coppice::prune(document, emptying, dialect);
    const std::string bytes = body.dump();
    const coppice::PrunedBody pruned = coppice::prune(bytes, emptying, dialect);
    const bool same = pruned.bytes(bytes) == document.dump();
    CHECK(same);
    if (!bytes.empty() && (bytes[0] == '{' || bytes[0] == '[')) {
        CHECK(pruned.report.why == report.why);
        CHECK(pruned.report.dialect == report.dialect);
        CHECK(pruned.report.requests == report.requests);
        CHECK(pruned.report.edits.size() == report.edits.size());
    }
    return report;
}

}  // namespace

TEST_CASE("dispatch: each dialect is read by its own reader") {
    const auto dialect = [](const Json& body) { return report_of(body).dialect; };
    CHECK(dialect(with_messages(anthropic_history)) == "anthropic");
    CHECK(dialect(with_messages(chat_history)) == "openai-chat");
    CHECK(dialect(Json{{"contents", gemini_history}}) == "gemini");
    CHECK(dialect(with_messages(bedrock_history)) == "bedrock");
    CHECK(dialect(Json{{"input", responses_history}}) == "openai-responses");
    CHECK(report_of(with_messages(anthropic_history)).edits.size() == 1);
    CHECK(report_of(with_messages(chat_history)).edits.size() == 1);
}

TEST_CASE("dispatch: what is ambiguous stays and the report says why") {
    const auto why_of = [](const Json& body) {
        const coppice::Report report = report_of(body);
        CHECK_FALSE(report.engaged);
        CHECK(report.dialect.empty());
        return report.why;
    };
    CHECK(why_of(with_messages(list(user("hi"), assistant("hello")))) == nothing_tells);
    CHECK(why_of(Json{{"messages", chat_history}, {"contents", gemini_history}}) == several);
    CHECK(why_of(Json{{"messages", chat_history}, {"input", "x"}}) == several);
    CHECK(why_of(Json::object()) == no_messages);
    Json mixed = chat_history;
    for (const Json& item : anthropic_history) { mixed.push_back(item); }
    CHECK(why_of(with_messages(mixed)) == "content blocks of another provider's shape");
    Json turned = anthropic_history;
    for (const Json& item : chat_history) { turned.push_back(item); }
    CHECK(why_of(with_messages(turned)) == "tool messages of another provider's shape");
    // a wrapper of a kind that nobody knows
    CHECK(why_of(Json{{"payload", with_messages(chat_history)}}) == no_messages);
    CHECK(why_of(Json{{"params", Json{{"params", with_messages(chat_history)}}}}) == no_messages);
}

TEST_CASE("dispatch: a dialect that is asked for is taken without evidence and against it") {
    for (const auto& [dialect, name] :
         std::vector<std::pair<Dialect, std::string>>{{Dialect::anthropic, "anthropic"},
                                                      {Dialect::openai_chat, "openai-chat"},
                                                      {Dialect::bedrock, "bedrock"}}) {
        CHECK(report_of(with_messages(list(user("hi"))), dialect).dialect == name);
        CHECK(report_of(with_messages(chat_history), dialect).dialect == name);
        CHECK(report_of(with_messages(anthropic_history), dialect).dialect == name);
        CHECK(report_of(list(user("hi")), dialect).dialect == name);
        CHECK_FALSE(report_of(Json{{"contents", gemini_history}}, dialect).engaged);
        CHECK_FALSE(report_of(Json::object(), dialect).why.empty());
    }
    CHECK(report_of(Json{{"contents", list()}}, Dialect::gemini).dialect == "gemini");
    CHECK(report_of(Json{{"input", list()}}, Dialect::openai_responses).dialect == "openai-responses");
    CHECK_FALSE(report_of(with_messages(chat_history), Dialect::anthropic).engaged);
    CHECK_FALSE(report_of(with_messages(anthropic_history), Dialect::openai_chat).engaged);
    CHECK(report_of(Json{{"messages", chat_history}, {"input", "x"}}, Dialect::openai_chat).engaged);
}

TEST_CASE("dispatch: no dialect at all changes nothing") {
    for (const int number : {6, 7, 100, 255}) {
        const coppice::Report report = report_of(with_messages(chat_history), static_cast<Dialect>(number));
        CHECK_FALSE(report.engaged);
        CHECK(report.why == "no such dialect");
        CHECK(report.dialect.empty());
    }
}

TEST_CASE("dispatch: a body that repeats a key is refused whatever its dialect") {
    for (const std::string body :
         {R"({"messages":[{"role":"tool","content":"x"}],"messages":[{"role":"tool","content":"x"}]})",
          R"({"contents":[],"contents":[]})", R"({"input":"x","model":"m","model":"n"})",
          R"({"system":"s","system":"s","messages":[]})"}) {
        const coppice::PrunedBody pruned = coppice::prune(body, emptying);
        CHECK(pruned.report.why == "a key of the body stands there twice");
        CHECK(pruned.bytes(body).data() == body.data());
    }
}

TEST_CASE("batches: a wrapper of any provider alone, in an array and in a list of requests") {
    for (const std::string key : {"params", "body", "request", "modelInput"}) {
        for (const Json& history : {chat_history, anthropic_history}) {
            CAPTURE(key);
            Json wrapper = {{"key", "a"}};
            wrapper[key] = with_messages(history);
            wrapper["metadata"] = {{"x", std::string(9000, 'x')}};
            const coppice::Report alone = report_of(wrapper);
            CHECK(alone.requests == 1);
            CHECK(alone.edits.size() == 1);
            const coppice::Report lines = report_of(list(wrapper, wrapper));
            CHECK(lines.requests == 2);
            REQUIRE(lines.edits.size() == 2);
            CHECK(lines.edits[1].request == 1);
            CHECK(lines.edits[1].message == 2);
            CHECK(report_of(support::batch(wrapper, wrapper)).edits.size() == 2);
        }
    }
}

TEST_CASE("batches: each request is told on its own") {
    const Json document = support::batch(support::entry("a", with_messages(chat_history)),
                                         support::entry("b", with_messages(anthropic_history)),
                                         support::entry("c", with_messages(list(user("hi")))));
    const coppice::Report report = report_of(document);
    CHECK(report.requests == 3);
    CHECK(report.edits.size() == 2);
    REQUIRE(report.warnings.size() == 1);
    CHECK(report.warnings[0] == std::string("1 of 3 requests stay as they are: ") + nothing_tells);
}

TEST_CASE("batches: Gemini's requests are found in their wrappers") {
    Json request = {{"contents", gemini_history}};
    Json wrapper = {{"metadata", {{"key", "a"}}}};
    wrapper["request"] = request;
    CHECK(report_of(support::batch(wrapper, wrapper)).requests == 2);
    CHECK(report_of(support::batch(wrapper, wrapper)).dialect == "gemini");
    CHECK(report_of(list(wrapper)).dialect == "gemini");
    CHECK(report_of(wrapper).dialect == "gemini");
}

TEST_CASE("batches: what is called like a wrapper inside a history wraps nothing") {
    Json odd = chat_history;
    odd[0]["request"] = with_messages(chat_history);
    odd[0]["modelInput"] = with_messages(chat_history);
    CHECK(report_of(odd).requests == 1);
    CHECK(report_of(odd).edits.size() == 1);
    Json body = with_messages(chat_history);
    body["request"] = with_messages(anthropic_history);
    CHECK(report_of(body).dialect == "openai-chat");
}

TEST_CASE("dialect: who names the wrong one is told so") {
    const Json body = with_messages(chat_history);
    const coppice::Report wrong = coppice::plan(body, emptying, Dialect::bedrock);
    CHECK_FALSE(wrong.engaged);
    CHECK(wrong.why == "nothing to clear; read as bedrock, but it looks like openai-chat");
    CHECK(coppice::plan(body, emptying, Dialect::openai_chat).engaged);
    // where nothing tells, there is no doubt
    const Json words = with_messages(list(user("hi"), assistant("yo")));
    CHECK(coppice::plan(words, emptying, Dialect::bedrock).why == "nothing to clear");
}

TEST_CASE("dialect: each has a name, and each name its dialect") {
    for (const Dialect dialect : coppice::all_dialects) {
        CHECK_FALSE(name_of(dialect).empty());
        CHECK(coppice::dialect_named(name_of(dialect)) == dialect);
    }
    CHECK(name_of(Dialect::detect).empty());
    CHECK(coppice::dialect_named("") == Dialect::detect);
    CHECK(coppice::dialect_named("openai") == Dialect::detect);
}
