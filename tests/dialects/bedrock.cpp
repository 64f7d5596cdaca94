// SPDX-License-Identifier: MIT
#include <coppice/dialects/bedrock.hpp>

#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include "../../examples/session_dialects.hpp"
#include "../../examples/session_generator.hpp"
#include "../support/batches.hpp"
#include "../support/pruned.hpp"
#include "../support/reading.hpp"
#include "../support/spoiled_nodes.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
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
using support::list;
using support::message;
using support::pruned;

using Reading = support::ReadingOf<coppice::BedrockReader>;
using Repeating = support::RepeatingOf<coppice::BedrockReader>;
using support::twice;

Json text(const std::string& words) { return Json{{"text", words}}; }
Json json(Json value) {
    Json out = Json::object();
    out["json"] = std::move(value);
    return out;
}
Json image(std::size_t size = 3000, char fill = 'A') {
    return Json{{"image", {{"format", "png"}, {"source", {{"bytes", std::string(size, fill)}}}}}};
}
Json document(std::size_t size = 3000) {
    return Json{
        {"document", {{"format", "pdf"}, {"name", "d"}, {"source", {{"bytes", std::string(size, 'D')}}}}}};
}
Json cache_point() { return Json{{"cachePoint", {{"type", "default"}}}}; }

template <class... Blocks>
Json user(Blocks... blocks) {
    return message("user", list(std::move(blocks)...));
}
template <class... Blocks>
Json assistant(Blocks... blocks) {
    return message("assistant", list(std::move(blocks)...));
}

Json call(const std::string& id, const std::string& name, Json input = Json::object()) {
    Json use = {{"toolUseId", id}, {"name", name}};
    use["input"] = std::move(input);
    return Json{{"toolUse", std::move(use)}};
}

Json result(const std::string& id, Json content, const std::string& status = "") {
    Json made = {{"toolUseId", id}};
    made["content"] = std::move(content);
    if (!status.empty()) { made["status"] = status; }
    return Json{{"toolResult", std::move(made)}};
}

Json body(Json messages) {
    Json out = {{"system", list(text("You are terse."), cache_point())}};
    out["messages"] = std::move(messages);
    out["inferenceConfig"] = {{"maxTokens", 64}};
    return out;
}

// One call and its result, read by the model.
Json answered(Json block) {
    return body(list(user(text("hi")), assistant(call("t1", "read", Json{{"path", "/a.c"}})),
                     user(std::move(block)), assistant(text("done"))));
}

// these bodies do not say which model they are for
constexpr coppice::ThinkingBinding<coppice::Binds::never> unbound;
constexpr coppice::Pipeline clear_all{coppice::KeepRecent<0, coppice::Size{100}, 0>{}, unbound};
constexpr coppice::Pipeline only_duplicates{coppice::Dedup<>{}};
constexpr coppice::Pipeline clear_images{coppice::KeepRecent<9, coppice::Size{1'000'000}, 0>{}};
constexpr coppice::Pipeline clear_inputs{coppice::BulkyInputClear<0, coppice::Size{100}>{}};

// What became of one result.
Json pruned_result(Json block) {
    return pruned(answered(std::move(block)), clear_all).after["messages"][2]["content"][0]["toolResult"];
}

// The entries of a body, a letter each.
std::string kinds(const Reading& reading) {
    std::string out;
    for (const Entry& entry : reading.transcript().all()) {
        out += "crtuao"[static_cast<std::size_t>(entry.kind)];
    }
    return out;
}

}  // namespace

TEST_CASE("bedrock: a conversation becomes entries in its order") {
    const Json thinks = {{"reasoningContent", {{"reasoningText", {{"text", "hm"}, {"signature", "c2ln"}}}}}};
    const Json redacted = {{"reasoningContent", {{"redactedContent", "ZGF0YQ=="}}}};
    const Reading reading(
        body(list(user(text("hi"), image(), document(), cache_point()),
                  assistant(thinks, redacted, text("on it"), call("t1", "read")),
                  user(result("t1", list(text("x"))), text("go on")), assistant(text("done")))));
    CHECK(kinds(reading) == "uuuottacrua");
    CHECK(reading[7].message == 1);
    CHECK(reading[7].block == 3);
    CHECK(reading[9].message == 2);
    CHECK(reading[9].block == 1);
    CHECK(reading.transcript().dialect == "bedrock");
    for (const std::size_t i : std::vector<std::size_t>{0, 2, 3, 4, 5, 6, 9, 10}) {
        CHECK(reading[i].immutable);
        CHECK(reading[i].images == 0);
    }
    CHECK_FALSE(reading[1].immutable);
    CHECK(reading[1].images == 1);
    CHECK(reading[7].path == "/toolUse/input");
    CHECK(reading[8].path == "/toolResult/content");
}

TEST_CASE("bedrock: roles are read and unknown ones are other") {
    const Reading reading(list(user(text("a")), assistant(text("b")), message("system", list(text("c"))),
                               Json{{"content", list(text("d"))}}, Json(42)));
    const std::vector<Role> roles = {Role::user, Role::assistant, Role::other, Role::other, Role::other};
    REQUIRE(reading.transcript().messages.size() == roles.size());
    for (std::size_t i = 0; i < roles.size(); ++i) {
        CHECK(reading.transcript().messages[i].role == roles[i]);
    }
    CHECK(kinds(reading) == "uaoo");
}

TEST_CASE("bedrock: guarded content is speech of the user alone") {
    const Json guarded = {{"guardContent", {{"text", {{"text", "x"}}}}}};
    CHECK(kinds(Reading(list(user(guarded), assistant(guarded)))) == "uo");
}

TEST_CASE("bedrock: what nobody knows and blocks with more than one member are opaque") {
    Json two = text("x");
    two["cachePoint"] = {{"type", "default"}};
    Json call_and_more = call("t1", "read");
    call_and_more["more"] = 1;
    for (const Json& block : {Json(nullptr), Json(42), Json("words"), Json::array(), Json::object(), two,
                              call_and_more, Json{{"citationsContent", {{"content", Json::array()}}}},
                              Json{{"searchResult", Json::object()}}, Json{{"hologram", 1}},
                              Json{{"toolUse", 7}}, Json{{"toolResult", "x"}}, Json{{"toolUse", nullptr}}}) {
        for (const std::string role : {"user", "assistant", "system"}) {
            const Reading reading(list(message(role, list(block))));
            CHECK(kinds(reading) == "o");
            CHECK(reading[0].immutable);
        }
    }
}

TEST_CASE("bedrock: message content of every odd shape is read without entries") {
    for (const Json& content : {Json(nullptr), Json(42), Json(true), Json::object(), Json::array()}) {
        for (const std::string role : {"user", "assistant"}) {
            const Reading reading(list(message(role, content), user(text("next"))));
            CHECK(reading.refused().empty());
            CHECK(reading.size() == 1);
        }
    }
    CHECK(kinds(Reading(list(message("user", "words"), message("assistant", "words")))) == "ua");
}

TEST_CASE("bedrock: calls of the user results of the model and tools of the server are opaque") {
    Json server = call("s1", "nova_grounding");
    server["toolUse"]["type"] = "server_tool_use";
    Json answer = result("s1", list(text("x")));
    answer["toolResult"]["type"] = "nova_grounding_result";
    CHECK(kinds(Reading(list(user(call("t1", "a")), assistant(result("t1", list(text("x"))), server, answer),
                             user(answer)))) == "ooooo");
}

TEST_CASE("bedrock: ids pair calls and results of one turn in any order") {
    const Json one = list(text("1"));
    const Reading shuffled(
        list(assistant(call("a", "A"), call("b", "B")), user(result("b", one), result("a", one))));
    CHECK(shuffled[2].peer == 1);
    CHECK(shuffled[3].peer == 0);
    CHECK(shuffled[3].tool.raw() == "A");
    const Reading same(
        list(assistant(call("a", "A"), call("a", "B")), user(result("a", one), result("a", one))));
    CHECK(same[2].peer == 0);
    CHECK(same[3].peer == 1);
    const Reading reused(list(assistant(call("a", "A")), user(result("a", one)), assistant(call("a", "B")),
                              user(result("a", one), result("a", one))));
    CHECK(reused[1].peer == 0);
    CHECK(reused[3].peer == 2);
    CHECK(reused[4].peer == none);
    const Reading late(
        list(assistant(call("a", "A")), user(text("wait")), assistant(text("well")), user(result("a", one))));
    CHECK(late[0].peer == none);
    CHECK(late[3].peer == none);
    const Reading orphan(list(user(result("a", one)), assistant(call("b", "B"))));
    CHECK(orphan[0].peer == none);
    CHECK(orphan[1].peer == none);
}

TEST_CASE("bedrock: steps and user turns are counted and cache points are no speech") {
    const Json one = list(text("1"));
    const Reading reading(list(user(text("a")), assistant(call("1", "x")),
                               user(result("1", one), cache_point()), assistant(call("2", "x")),
                               user(result("2", one), text("now")), assistant(text("z"))));
    const std::vector<std::size_t> steps = {0, 0, 1, 1, 1, 2, 2, 2};
    const std::vector<std::size_t> turns = {0, 1, 1, 1, 1, 1, 1, 2};
    REQUIRE(reading.size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CAPTURE(i);
        CHECK(reading[i].step == steps[i]);
        CHECK(reading[i].user_turn == turns[i]);
    }
}

TEST_CASE("bedrock: an input that is no object closes the call") {
    for (const Json& input : {Json(nullptr), Json("text"), Json(7), list("a")}) {
        const Reading reading(list(assistant(call("t1", "a", input))));
        CHECK(reading[0].immutable);
        CHECK(reading[0].field_count == 0);
    }
    const Reading open(list(assistant(call("t1", "a", Json{{"command", "ls"}, {"n", 1}}))));
    CHECK_FALSE(open[0].immutable);
    CHECK(open[0].field_count == 1);
    CHECK(open[0].identity.raw() == "ls");
}

TEST_CASE("bedrock: the parts of a result are read by their one member") {
    const Json video = {{"video", {{"format", "mp4"}, {"source", {{"s3Location", {{"uri", "s3://b/k"}}}}}}}};
    const Json search = {{"searchResult", {{"source", "s"}, {"title", "t"}, {"content", list(text("x"))}}}};
    const Json data = json(Json{{"signature", "int main()"}});
    const Json content = list(text("caf\xC3\xA9\n"), image(500), document(600), video, search, data);
    const Reading reading(answered(result("t1", content)));
    const Entry& entry = reading[2];
    CHECK(entry.form == Form::blocks);
    REQUIRE(entry.part_count == 6);
    CHECK(reading.part(entry, 0).kind == Part::Kind::text);
    CHECK(reading.part(entry, 0).plain);
    CHECK(reading.part(entry, 1).kind == Part::Kind::image);
    CHECK(entry.images == 1);
    CHECK(entry.documents == 3);
    CHECK(entry.others == 1);
    // what a tool names like a signature is none
    CHECK_FALSE(entry.immutable);
    const std::size_t whole =
        document(600).dump().size() + video.dump().size() + search.dump().size() + data.dump().size();
    CHECK(reading.transcript().size(entry).bytes == 6 + whole);
    CHECK(reading.transcript().serialised(entry).bytes == content.dump().size());
}

TEST_CASE("bedrock: a result with a part that is not known stays as it is") {
    Json two = text(std::string(9000, 'x'));
    two["more"] = 1;
    const std::string big(9000, 'x');
    for (const Json& part : {two, cache_point(), Json{{"hologram", big}}, Json{{"text", 7}},
                             Json{{"text", nullptr}}, Json{{"type", "text"}, {"text", big}}, Json(big),
                             Json(nullptr), Json(7), list(text(big)), Json::object()}) {
        const Json block = result("t1", list(text(big), part));
        CAPTURE(part.dump().substr(0, 60));
        CHECK(Reading(answered(block))[2].immutable);
        CHECK(Reading(answered(block)).transcript().serialised(Reading(answered(block))[2]).bytes > 0);
        CHECK(pruned(answered(block), clear_all).unchanged());
    }
}

TEST_CASE("bedrock: a content that is no array stays as it is") {
    const std::string big(9000, 'x');
    for (const Json& content :
         {Json(big), Json(nullptr), Json(7), Json(true), text(big), json(Json{{"a", big}})}) {
        CHECK(Reading(answered(result("t1", content)))[2].immutable);
        CHECK(pruned(answered(result("t1", content)), clear_all).unchanged());
    }
    Json without = result("t1", Json::array());
    without["toolResult"].erase("content");
    CHECK(Reading(answered(without))[2].form == Form::absent);
    CHECK(pruned(answered(without), clear_all).unchanged());
    CHECK(pruned(answered(result("t1", Json::array())), clear_all).unchanged());
}

TEST_CASE("bedrock: only the status error is an error") {
    const auto failed = [](const Json& status) {
        Json block = result("t1", list(text("Error: x")));
        block["toolResult"]["status"] = status;
        return Reading(answered(block))[2].error;
    };
    CHECK(failed("error"));
    for (const Json& other : {Json("success"), Json("Error"), Json(nullptr), Json(1), Json(true)}) {
        CHECK_FALSE(failed(other));
    }
    CHECK_FALSE(Reading(answered(result("t1", list(text("x")))))[2].error);
}

TEST_CASE("bedrock: the keys of a block may come in any order") {
    Json backwards =
        Json{{"toolResult", {{"status", "error"}, {"content", list(text("abc"))}, {"toolUseId", "t1"}}}};
    const Reading reading(answered(backwards));
    CHECK(reading[2].peer == 1);
    CHECK(reading[2].error);
    CHECK(reading[2].identity.raw() == "/a.c");
}

TEST_CASE("bedrock: the body until each message is what that request had weighed") {
    const Json whole = answered(result("t1", list(text("caf\xC3\xA9\n"), image(50))));
    const Reading reading(whole);
    for (std::size_t count = 0; count <= whole["messages"].size(); ++count) {
        Json until = whole;
        until["messages"] = Json::array();
        for (std::size_t i = 0; i < count; ++i) { until["messages"].push_back(whole["messages"][i]); }
        CAPTURE(count);
        CHECK(reading.transcript().body_until(count).bytes == until.dump().size());
    }
}

TEST_CASE("bedrock: repeated keys hold what they stand in") {
    const auto held = [](const Json& messages) {
        const Repeating reading(body(messages));
        std::string out;
        for (std::size_t i = 0; i < reading.size(); ++i) { out += reading[i].immutable ? 'x' : '-'; }
        return out;
    };
    const Json open = list(assistant(call("a", "x", Json{{"path", "/a"}})),
                           user(result("a", list(text("1"), json(Json{{"b", {{"c", 1}}}})))));
    CHECK(held(open) == "--");
    for (const char* const place :
         {"/0", "/0/content/0", "/0/content/0/toolUse", "/0/content/0/toolUse/input"}) {
        Json messages = open;
        Json& object = messages[Json::json_pointer(place)];
        object = twice(object);
        CAPTURE(place);
        CHECK(held(messages) == "x-");
    }
    for (const char* const place :
         {"/1", "/1/content/0", "/1/content/0/toolResult", "/1/content/0/toolResult/content/0",
          "/1/content/0/toolResult/content/1/json/b"}) {
        Json messages = open;
        Json& object = messages[Json::json_pointer(place)];
        object = twice(object);
        CAPTURE(place);
        CHECK(held(messages) == "-x");
    }
    CHECK(Repeating(twice(body(open)), true).refused() == "a key of the body stands there twice");
}

TEST_CASE("bedrock: a block that repeats its one key is held in bytes") {
    const std::string big(3000, 'x');
    const std::string in =
        R"({"messages":[{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"x","input":{}}}]},
        {"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1","text":")" +
        big + R"("}]}}]},{"role":"assistant","content":[{"text":"."}]}]})";
    const support::PrunedText done = support::pruned_text(in, clear_all);
    CHECK(done.report.dialect == "bedrock");
    CHECK_FALSE(done.report.engaged);
}

TEST_CASE("bedrock: another provider's body is refused unless the dialect is told") {
    const Json typed = {{"type", "text"}, {"text", "x"}};
    const Json chat = {{"role", "assistant"}, {"content", list(text("x"))}, {"tool_calls", Json::array()}};
    for (const Json& messages : {list(user(text("hi")), user(typed)), list(user(text("hi")), chat)}) {
        CHECK(Reading(body(messages)).refused() == "content blocks of another provider's shape");
        CHECK(Reading(body(messages), true).refused().empty());
    }
    for (const Json& odd : {Json(nullptr), Json(42), Json::object(), Json{{"messages", "hi"}}}) {
        CHECK(Reading(odd, true).refused() == "no array of messages");
    }
}

TEST_CASE("bedrock: a result becomes one text in an array and keeps id and status") {
    const Json ok = pruned_result(result("t1", list(text(std::string(9000, 'x'))), "success"));
    CHECK(ok == result("t1", list(text("[tool result cleared: 9000 characters, ok; read /a.c]")),
                       "success")["toolResult"]);
    const Json failed = pruned_result(result("t1", list(text("no\n" + std::string(9000, 'x'))), "error"));
    CHECK(failed["status"] == "error");
    CHECK(failed["content"].size() == 1);
    const std::string words = failed["content"][0]["text"];
    CHECK(words.find("failed; read /a.c; first line: no") != std::string::npos);
}

TEST_CASE("bedrock: json and documents become a text that counts them") {
    CHECK(pruned_result(result("t1", list(json(Json{{"a", std::string(500, 'x')}}))))["content"] ==
          list(text("[tool result cleared: 517 characters, 1 other part, ok; read /a.c]")));
    const std::string size = std::to_string(document(600).dump().size() + 3);
    CHECK(pruned_result(result("t1", list(text("abc"), document(600))))["content"] ==
          list(text("[tool result cleared: " + size + " characters, 1 document, ok; read /a.c]")));
}

TEST_CASE("bedrock: an image becomes a text in its place and what stands beside it stays") {
    const support::Pruned done = pruned(
        answered(result("t1", list(text("before"), image(), json(Json{{"n", 1}}), image()))), clear_images);
    const Json line = text("[image cleared: read /a.c]");
    CHECK(done.after["messages"][2]["content"][0]["toolResult"]["content"] ==
          list(text("before"), line, json(Json{{"n", 1}}), line));
    REQUIRE(done.report.edits.size() == 2);
    CHECK(done.report.edits[0].path == "/toolResult/content/1");
}

TEST_CASE("bedrock: of two equal results only the older one is replaced") {
    const std::string same(8000, 'X');
    const Json document = body(list(user(text("hi")), assistant(call("a", "ls"), call("b", "ls")),
                                    user(result("a", list(text(same))), result("b", list(text(same)))),
                                    assistant(text("done"))));
    const support::Pruned done = pruned(document, only_duplicates);
    const Json& blocks = done.after["messages"][2]["content"];
    REQUIRE(blocks.size() == 2);
    CHECK(blocks[0] ==
          result("a", list(text("[tool result cleared: 8000 characters, ok, same as a later result; ls]"))));
    const bool kept = blocks[1] == document["messages"][2]["content"][1];
    CHECK(kept);
    Json told_apart = document;
    told_apart["messages"][2]["content"][1]["toolResult"]["status"] = "error";
    CHECK(pruned(told_apart, only_duplicates).unchanged());
}

TEST_CASE("bedrock: inputs lose their long texts and stay objects") {
    const Json asks =
        call("t1", "write", Json{{"path", "/a.c"}, {"content", std::string(5000, 'x')}, {"mode", 420}});
    const support::Pruned done =
        pruned(body(list(user(text("hi")), assistant(asks), user(result("t1", list(text("ok")))),
                         assistant(text("done")))),
               clear_inputs);
    CHECK(done.after["messages"][1]["content"][0] ==
          call("t1", "write",
               Json{{"path", "/a.c"},
                    {"content", "[tool input cleared: 5000 characters; content]"},
                    {"mode", 420}}));
    REQUIRE(done.report.edits.size() == 1);
    CHECK(done.report.edits[0].path == "/toolUse/input/content");
}

TEST_CASE("bedrock: reasoning guarded text citations and cache points stay beside what changes") {
    const Json thinks = {{"reasoningContent", {{"reasoningText", {{"text", "hm"}, {"signature", "c2ln"}}}}}};
    const Json cited = {{"citationsContent", {{"content", list(text("x"))}, {"citations", Json::array()}}}};
    const Json guarded = {{"guardContent", {{"text", {{"text", std::string(5000, 'g')}}}}}};
    const Json document = body(list(user(text("hi"), guarded), assistant(thinks, cited, call("t1", "read")),
                                    user(result("t1", list(text(std::string(9000, 'x')))), cache_point()),
                                    assistant(text("done"))));
    const support::Pruned done = pruned(document, clear_all);
    CHECK(done.report.edits.size() == 1);
    Json expected = document;
    expected["messages"][2]["content"][0] =
        result("t1", list(text("[tool result cleared: 9000 characters, ok; read]")));
    const bool same = done.after == expected;
    CHECK(same);
}

TEST_CASE("bedrock: what the model has not read stays") {
    Json unread = answered(result("t1", list(text(std::string(9000, 'x')))));
    unread["messages"].erase(3);
    CHECK(pruned(unread, clear_all).unchanged());
}

TEST_CASE("bedrock: a bare array of messages is pruned like the body around it") {
    const Json messages = answered(result("t1", list(text(std::string(9000, 'x')))))["messages"];
    const support::Pruned done = pruned(messages, clear_all);
    CHECK(done.report.dialect == "bedrock");
    CHECK(done.report.edits.size() == 1);
}

TEST_CASE("bedrock: escaped names and white space are read as what they mean") {
    const std::string in =
        R"({ "mess\u0061ges" : [ {"role":"user","content":[{"t\u0065xt":"hi"}]},
        {"content":[{"tool\u0055se":{"input":{},"name":"ls","toolUseId":"a\u0062"}}],"role":"\u0061ssistant"},
        {"role":"user","content":[ { "toolR\u0065sult" : {"content":[{ "te\u0078t" : ")" +
        std::string(3000, 'x') + R"(" }],"toolUseId":"\u0061b","status":"err\u006fr"} } ]},
        {"role":"assistant","content":[{"text":"done"}]} ] })";
    const support::PrunedText done = support::pruned_text(in, clear_all);
    REQUIRE(done.report.edits.size() == 1);
    CHECK(done.report.edits[0].path == "/toolResult/content");
    CHECK(done.out.find(R"("toolUseId":"\u0061b","status":"err\u006fr")") != std::string::npos);
    CHECK(done.out.find(", failed; ls") != std::string::npos);
}

TEST_CASE("bedrock: a wording that always writes arrays writes them here too") {
    const Json document = answered(result("t1", list(text(std::string(9000, 'x')))));
    const coppice::Pipeline pipeline{unbound, coppice::KeepRecent<0, coppice::Size{100}, 0>{},
                                     coppice::PlainWording{.shape = coppice::Shape::always_blocks}};
    const support::Pruned done = pruned(document, pipeline);
    CHECK(done.after["messages"][2]["content"][0]["toolResult"]["content"].is_array());
    CHECK(done.report.edits.size() == 1);
}

TEST_CASE("bedrock: whatever stands where something else is expected nothing gets worse") {
    const std::string big(2500, 'x');
    const Json thinks = {{"reasoningContent", {{"reasoningText", {{"text", "hm"}, {"signature", "c2ln"}}}}}};
    const Json whole = body(
        list(user(text("hi"), cache_point()),
             assistant(thinks, call("a", "write", Json{{"path", "/a"}, {"content", big}}), call("b", "shot")),
             user(result("a", list(text(big), json(Json{{"n", 1}})), "success"),
                  result("b", list(text("seen"), image(300)), "error"), cache_point()),
             assistant(text("done"))));
    const coppice::Pipeline pipeline{unbound, coppice::KeepRecent<0, coppice::Size{100}, 0>{},
                                     coppice::BulkyInputClear<0, coppice::Size{100}>{}};
    CHECK(pruned(whole, pipeline).report.edits.size() == 3);
    std::size_t changed = 0;
    spoiled_nodes::for_each_spoiled(whole, [&](const Json& spoiled, const Json::json_pointer& place) {
        CAPTURE(place.to_string());
        Json after = spoiled;
        const coppice::Report report = coppice::prune(after, pipeline, coppice::Dialect::bedrock);
        const auto violations = support::new_violations(report.dialect, spoiled, after);
        for (const std::string& violation : violations) { CHECK_MESSAGE(false, violation); }
        support::check_wire_laws(spoiled.dump(), after.dump(), report, pipeline, coppice::Dialect::bedrock);
        changed += report.engaged;
    });
    CHECK(changed > 50);
}

TEST_CASE("bedrock: whole sessions keep every law") {
    using namespace coppice_examples;
    SessionShape shape;
    shape.results = 40;
    shape.seed = 11;
    const Json session = make_session(shape);
    for (const bool typed : {false, true}) {
        const Json whole = render(SessionDialect::bedrock, session, {.typed_items = typed});
        CAPTURE(typed);
        const coppice::Pipeline pipeline{coppice::SmallAging<3>{}, coppice::Dedup<>{},
                                         coppice::KeepRecent<1, coppice::Size{900}, 0>{},
                                         coppice::BulkyInputClear<1, coppice::Size{300}>{}};
        const support::Pruned done = pruned(whole, pipeline);
        CHECK(done.report.edits.size() > 10);
        CHECK(done.report.unpaired_calls + done.report.unpaired_results == 0);
    }
}

TEST_CASE("bedrock: depth is no danger") {
    for (const char open : {'[', '{'}) {
        const std::string one = open == '[' ? "[" : R"({"content":)";
        std::string deep;
        for (int i = 0; i < 20'000; ++i) { deep += one; }
        deep += "1";
        deep.append(20'000, open == '[' ? ']' : '}');
        const std::string in =
            R"({"messages":[{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"a","input":{"x":)" +
            deep + R"(}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"json":)" +
            deep + R"(}]}},)" + deep + R"(]},{"role":"assistant","content":[{"text":"."}]}]})";
        const support::PrunedText done = support::pruned_text(in, clear_all);
        CHECK(done.report.edits.size() == 1);
    }
}
