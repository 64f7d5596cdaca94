// SPDX-License-Identifier: MIT
#include <coppice/dialects/gemini.hpp>

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
using support::filler;
using support::list;
using support::pruned;

using Reading = support::ReadingOf<coppice::GeminiReader>;
using Repeating = support::RepeatingOf<coppice::GeminiReader>;
using support::twice;

Json text(const std::string& words) { return Json{{"text", words}}; }

Json media(std::size_t size = 3000, char fill = 'A') {
    return Json{{"inlineData", {{"mimeType", "image/png"}, {"data", std::string(size, fill)}}}};
}

template <class... Parts>
Json content(const std::string& role, Parts... parts) {
    Json out = {{"role", role}};
    out["parts"] = list(std::move(parts)...);
    return out;
}
template <class... Parts>
Json user(Parts... parts) {
    return content("user", std::move(parts)...);
}
template <class... Parts>
Json model(Parts... parts) {
    return content("model", std::move(parts)...);
}

// An empty id is none.
Json call(const std::string& id, const std::string& name, Json args = Json::object()) {
    Json function = Json::object();
    if (!id.empty()) { function["id"] = id; }
    function["name"] = name;
    function["args"] = std::move(args);
    return Json{{"functionCall", std::move(function)}};
}

Json response(const std::string& id, const std::string& name, Json value) {
    Json function = Json::object();
    if (!id.empty()) { function["id"] = id; }
    function["name"] = name;
    function["response"] = std::move(value);
    return Json{{"functionResponse", std::move(function)}};
}

Json output(const std::string& words) { return Json{{"output", words}}; }

Json shown(Json part, Json parts) {
    part["functionResponse"]["parts"] = std::move(parts);
    return part;
}

Json body(Json contents) {
    Json out = {{"systemInstruction", {{"parts", list(text("You are terse."))}}}};
    out["contents"] = std::move(contents);
    return out;
}

// One call and its response, read by the model.
Json answered(Json part) {
    return body(list(user(text("hi")), model(call("1", "read", Json{{"path", "/a.c"}})),
                     user(std::move(part)), model(text("done"))));
}

constexpr coppice::Pipeline clear_all{coppice::KeepRecent<0, coppice::Size{100}, 0>{}};
constexpr coppice::Pipeline only_duplicates{coppice::Dedup<>{}};
constexpr coppice::Pipeline clear_media{coppice::KeepRecent<9, coppice::Size{1'000'000}, 0>{}};
constexpr coppice::Pipeline clear_inputs{coppice::BulkyInputClear<0, coppice::Size{100}>{}};

// What became of one response.
Json pruned_response(Json value) {
    const support::Pruned done = pruned(answered(response("1", "read", std::move(value))), clear_all);
    return done.after["contents"][2]["parts"][0]["functionResponse"]["response"];
}

// The entries of a body, a letter each.
std::string kinds(const Reading& reading) {
    std::string out;
    for (const Entry& entry : reading.transcript().all()) {
        out += "crtuao"[static_cast<std::size_t>(entry.kind)];
    }
    return out;
}

// Which call each response answers, by its number among the calls of the turn; `-` for none.
std::string pairs(const std::vector<Json>& calls, const std::vector<Json>& responses) {
    Json asks = model();
    for (const Json& part : calls) { asks["parts"].push_back(part); }
    Json answers = user();
    for (const Json& part : responses) { answers["parts"].push_back(part); }
    const Reading reading(list(asks, answers));
    std::string out;
    for (std::size_t i = calls.size(); i < reading.size(); ++i) {
        out += reading[i].peer == none ? "-" : std::to_string(reading[i].peer);
    }
    return out;
}

}  // namespace

TEST_CASE("gemini: a conversation becomes entries in its order") {
    const Reading reading(
        body(list(user(text("hi"), media()),
                  model(Json{{"text", "hm"}, {"thought", true}}, text("on it"), call("1", "read")),
                  user(response("1", "read", output("x")), text("go on")), model(text("done")))));
    CHECK(kinds(reading) == "uutacrua");
    CHECK(reading[4].message == 1);
    CHECK(reading[4].block == 2);
    CHECK(reading[6].message == 2);
    CHECK(reading[6].block == 1);
    CHECK(reading.transcript().dialect == "gemini");
    for (const std::size_t i : std::vector<std::size_t>{0, 2, 3, 6, 7}) { CHECK(reading[i].immutable); }
    CHECK_FALSE(reading[1].immutable);
    CHECK(reading[1].images == 1);
}

TEST_CASE("gemini: roles are read and a missing one is the user's") {
    Json bare = Json::object();
    bare["parts"] = list(text("hi"));
    const Reading reading(list(user(text("a")), model(text("b")), content("function", text("c")),
                               content("system", text("d")), bare, Json(42), Json(nullptr)));
    const std::vector<Role> roles = {Role::user, Role::assistant, Role::user, Role::other, Role::user};
    REQUIRE(reading.transcript().messages.size() == 7);
    for (std::size_t i = 0; i < roles.size(); ++i) {
        CAPTURE(i);
        CHECK(reading.transcript().messages[i].role == roles[i]);
    }
    CHECK(kinds(reading) == "uauou");
}

TEST_CASE("gemini: snake case and camel case are read alike and may be mixed") {
    Json asks = Json{{"function_call", {{"id", "1"}, {"name", "read"}, {"args", {{"path", "/a"}}}}}};
    Json answers = Json{{"function_response", {{"id", "1"}, {"name", "read"}, {"response", output("x")}}}};
    const Reading snake(list(model(asks), user(answers)));
    const Reading mixed(list(model(asks), user(response("1", "read", output("x")))));
    for (const Reading* reading : {&snake, &mixed}) {
        CHECK(kinds(*reading) == "cr");
        CHECK((*reading)[1].peer == 0);
        CHECK((*reading)[1].identity.raw() == "/a");
        CHECK((*reading)[0].path == "/function_call/args");
    }
    CHECK(snake[1].path == "/function_response/response");
    CHECK(mixed[1].path == "/functionResponse/response");
    const Reading media_of_user(list(
        user(Json{{"inline_data", {{"mime_type", "image/png"}}}}, Json{{"file_data", {{"file_uri", "u"}}}})));
    CHECK(kinds(media_of_user) == "uu");
}

TEST_CASE("gemini: what the server runs and what nobody knows is opaque") {
    const std::vector<std::string> names = {
        "executableCode", "codeExecutionResult",   "toolCall", "toolResponse", "executable_code",
        "tool_call",      "code_execution_result", "hologram", "tool_response"};
    for (const std::string& name : names) {
        CAPTURE(name);
        for (const std::string role : {"user", "model"}) {
            const Reading reading(list(content(role, Json{{name, {{"id", "1"}}}})));
            CHECK(kinds(reading) == "o");
            CHECK(reading[0].immutable);
        }
    }
}

TEST_CASE("gemini: calls of the user and responses of the model are opaque") {
    CHECK(kinds(Reading(list(user(call("1", "a")), model(response("1", "a", output("x")))))) == "oo");
}

TEST_CASE("gemini: a part with two kinds of content is opaque and null is no content") {
    Json both = call("1", "a");
    both["text"] = "and";
    Json spelled_twice = call("1", "a");
    spelled_twice["function_call"] = spelled_twice["functionCall"];
    Json with_null = call("1", "a");
    with_null["text"] = nullptr;
    with_null["function_call"] = nullptr;
    CHECK(kinds(Reading(list(model(both, spelled_twice, with_null)))) == "ooc");
    CHECK(kinds(Reading(list(model(Json{{"functionCall", nullptr}}, Json{{"thoughtSignature", "s"}})))) ==
          "oo");
}

TEST_CASE("gemini: parts of every odd shape are opaque") {
    for (const Json& part :
         {Json(nullptr), Json(42), Json("words"), Json::array(), Json::object(), Json{{"functionCall", 7}},
          Json{{"functionResponse", "x"}}, Json{{"functionCall", Json::array()}}}) {
        for (const std::string role : {"user", "model", "system"}) {
            const Reading reading(list(content(role, part)));
            CHECK(kinds(reading) == "o");
            CHECK(reading[0].immutable);
        }
    }
    for (const Json& parts : {Json(nullptr), Json("x"), Json(3), Json::object(), Json::array()}) {
        Json odd = user();
        odd["parts"] = parts;
        CHECK(Reading(list(odd)).size() == 0);
    }
}

TEST_CASE("gemini: what holds no list of contents is refused") {
    for (const Json& odd : {Json(nullptr), Json(42), Json::object(), Json{{"contents", nullptr}},
                            Json{{"contents", Json::object()}}, Json{{"messages", Json::array()}}}) {
        CHECK(Reading(odd).refused() == "no list of contents");
        CHECK(Reading(odd).transcript().dialect.empty());
    }
}

TEST_CASE("gemini: ids pair calls and responses in any order") {
    CHECK(pairs({call("a", "x"), call("b", "x"), call("c", "x")},
                {response("c", "x", output("1")), response("a", "x", output("2")),
                 response("b", "x", output("3"))}) == "201");
    CHECK(pairs({call("a", "x")}, {response("z", "x", output("1"))}) == "-");
    // nobody else's answer
    CHECK(pairs({call("a", "x"), call("b", "x")},
                {response("z", "x", output("1")), response("b", "x", output("2"))}) == "-1");
}

TEST_CASE("gemini: one id for two calls pairs them in order") {
    CHECK(pairs({call("a", "x"), call("a", "y")},
                {response("a", "x", output("1")), response("a", "y", output("2"))}) == "01");
    CHECK(pairs({call("a", "x")}, {response("a", "x", output("1")), response("a", "x", output("2"))}) ==
          "0-");
}

TEST_CASE("gemini: without ids the response in the place of a call answers it") {
    const Json one = output("1");
    CHECK(pairs({call("", "ls"), call("", "ls")}, {response("", "ls", one), response("", "ls", one)}) ==
          "01");
    CHECK(pairs({call("", "a"), call("", "b"), call("", "a")},
                {response("", "b", one), response("", "a", one), response("", "a", one)}) == "102");
    CHECK(pairs({call("", "a"), call("", "a"), call("", "b")},
                {response("", "b", one), response("", "a", one), response("", "a", one)}) == "210");
    CHECK(pairs({call("", "a")}, {response("", "b", one)}) == "-");
    CHECK(pairs({call("", "a")}, {response("", "a", one), response("", "a", one)}) == "0-");
}

TEST_CASE("gemini: an id on one side alone does not keep a pair apart") {
    const Json one = output("1");
    CHECK(pairs({call("", "a"), call("", "b")}, {response("x", "b", one), response("y", "a", one)}) == "10");
    CHECK(pairs({call("x", "a"), call("y", "b")}, {response("", "a", one), response("", "b", one)}) == "01");
}

TEST_CASE("gemini: a response without id and name answers by order and the call stays as it is") {
    Json nameless = response("", "", output("1"));
    nameless["functionResponse"].erase("name");
    CHECK(pairs({call("", "a"), call("", "b")}, {nameless, nameless}) == "01");
    const Reading reading(list(model(call("", "a")), user(nameless)));
    CHECK(reading[0].immutable);
    CHECK_FALSE(reading[1].immutable);
    CHECK(reading[1].tool.raw() == "a");
    nameless["functionResponse"]["id"] = "x";
    CHECK(Reading(list(model(call("", "a")), user(nameless)))[0].immutable);
    CHECK_FALSE(Reading(list(model(call("x", "a")), user(nameless)))[0].immutable);
}

TEST_CASE("gemini: pairs are those of one turn") {
    const Json one = output("1");
    const Reading reused(list(model(call("a", "x")), user(response("a", "x", one)), model(call("a", "y")),
                              user(response("a", "y", one))));
    CHECK(reused[1].peer == 0);
    CHECK(reused[3].peer == 2);
    const Reading late(
        list(model(call("", "x")), user(text("wait")), model(text("well")), user(response("", "x", one))));
    CHECK(late[0].peer == none);
    CHECK(late[3].peer == none);
    const Reading early(
        list(user(response("", "x", one)), model(call("", "x")), user(response("", "x", one))));
    CHECK(early[0].peer == none);
    CHECK(early[2].peer == 1);
    // places are counted anew
    const Reading steps(
        list(model(call("", "x"), call("", "x")), user(response("", "x", one), response("", "x", one)),
             model(call("", "x"), call("", "x")), user(response("", "x", one), response("", "x", one))));
    CHECK(steps[6].peer == 4);
    CHECK(steps[7].peer == 5);
}

TEST_CASE("gemini: an orphan response has the tool that it names") {
    const Reading reading(list(user(response("z", "grep", output("x")))));
    CHECK(reading[0].peer == none);
    CHECK(reading[0].tool.raw() == "grep");
}

TEST_CASE("gemini: steps and user turns are counted and responses alone are no user turn") {
    const Reading reading(list(user(text("a")), model(call("1", "x")), user(response("1", "x", output("1"))),
                               model(call("2", "x")), user(response("2", "x", output("2")), text("now")),
                               model(text("z"))));
    const std::vector<std::size_t> steps = {0, 0, 1, 1, 2, 2, 2};
    const std::vector<std::size_t> turns = {0, 1, 1, 1, 1, 1, 2};
    REQUIRE(reading.size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CAPTURE(i);
        CHECK(reading[i].step == steps[i]);
        CHECK(reading[i].user_turn == turns[i]);
    }
}

TEST_CASE("gemini: args that are no object close the call") {
    for (const Json& args : {Json(nullptr), Json("{}"), Json(7), Json::array()}) {
        const Reading reading(list(model(call("1", "a", args))));
        CHECK(reading[0].immutable);
        CHECK(reading[0].field_count == 0);
    }
    const Reading open(
        list(model(call("1", "a", Json{{"path", "/a"}, {"edits", list(Json{{"old", "x"}})}}))));
    CHECK_FALSE(open[0].immutable);
    CHECK(open[0].field_count == 2);
    CHECK(open[0].identity.raw() == "/a");
}

TEST_CASE("gemini: every string list and object of a response is a piece and the rest stays") {
    const Reading reading(list(model(call("1", "sh")), user(response("1", "sh",
                                                                     Json{{"output", "abc"},
                                                                          {"code", 0},
                                                                          {"lines", list("x", 2)},
                                                                          {"ok", true},
                                                                          {"empty", ""},
                                                                          {"nothing", nullptr},
                                                                          {"meta", {{"a", 1}}}}))));
    const Entry& entry = reading[1];
    CHECK(entry.form == Form::pieces);
    CHECK(reading.names(entry) == "output lines meta");
    REQUIRE(entry.part_count == 3);
    CHECK(reading.part(entry, 0).bare);
    CHECK(reading.part(entry, 0).kind == Part::Kind::text);
    CHECK(reading.part(entry, 1).kind == Part::Kind::other);
    CHECK(entry.others == 2);
    CHECK(reading.transcript().size(entry).bytes == 3 + std::string_view(R"(["x",2]{"a":1})").size());
}

TEST_CASE("gemini: a response that is no object stays as it is") {
    for (const Json& value :
         {Json(std::string(9000, 'x')), Json(nullptr), Json(7), Json(true), list(std::string(9000, 'x'))}) {
        const Reading reading(answered(response("1", "read", value)));
        CHECK(reading[2].kind == Kind::result);
        CHECK(reading[2].immutable);
        CHECK(reading[2].part_count == 0);
        CHECK(pruned(answered(response("1", "read", value)), clear_all).unchanged());
    }
    Json without = response("1", "read", output(""));
    without["functionResponse"].erase("response");
    without = shown(without, list(media()));
    CHECK(Reading(answered(without))[2].form == Form::absent);
    CHECK(pruned(answered(without), clear_all).unchanged());
}

TEST_CASE("gemini: the error key tells that a call failed") {
    const auto failed = [](const Json& value) {
        return Reading(answered(response("1", "read", value)))[2].error;
    };
    CHECK(failed(Json{{"error", "no such file"}}));
    CHECK(failed(Json{{"error", {{"code", 404}}}}));
    CHECK(failed(Json{{"output", "partial"}, {"error", "cut"}}));
    CHECK(failed(Json{{"error", true}}));
    CHECK_FALSE(failed(Json{{"error", nullptr}}));
    CHECK_FALSE(failed(Json{{"error", false}}));
    CHECK_FALSE(failed(Json{{"error", ""}, {"output", "fine"}}));
    CHECK_FALSE(failed(Json{{"errors", "none"}}));
    CHECK_FALSE(failed(Json{{"details", {{"error", "deeper"}}}}));
    // said in the text
    CHECK(failed(output("Error: no such file")));
    CHECK(failed(Json{{"result", "Traceback (most recent call last):\n..."}}));
    CHECK_FALSE(failed(output("errors: 0")));
    CHECK_FALSE(failed(Json{{"listing", "Error: quoted"}}));
}

TEST_CASE("gemini: media of a response are one list and may stand before or behind it") {
    const Json behind = shown(response("1", "shot", output("abc")), list(media(), media()));
    Json before = Json::object();
    before["functionResponse"] = {{"parts", list(media(), media())}, {"id", "1"}, {"name", "shot"}};
    before["functionResponse"]["response"] = output("abc");
    const Reading reading_behind(answered(behind));
    const Reading reading_before(answered(before));
    CHECK(reading_behind.names(reading_behind[2]) == "output parts");
    CHECK(reading_before.names(reading_before[2]) == "parts output");
    for (const Reading* reading : {&reading_behind, &reading_before}) {
        const Entry& entry = (*reading)[2];
        CHECK(entry.images == 2);
        CHECK(entry.part_count == 2);
        CHECK_FALSE(entry.immutable);
        CHECK(reading->transcript().size(entry) == coppice::ascii(3));
    }
}

TEST_CASE("gemini: media that the response refers to hold the whole result") {
    const Json refers = Json{{"output", std::string(3000, 'x')}, {"image", {{"$ref", "a.png"}}}};
    const Reading held(answered(shown(response("1", "shot", refers), list(media()))));
    CHECK(held[2].immutable);
    CHECK(pruned(answered(shown(response("1", "shot", refers), list(media()))), clear_all).unchanged());
    // without media it is output like any other
    CHECK_FALSE(Reading(answered(response("1", "shot", refers)))[2].immutable);
}

TEST_CASE("gemini: parts of a response that are no list are nothing to us") {
    for (const Json& odd : {Json(nullptr), Json(7), Json("x"), media()}) {
        const Reading reading(answered(shown(response("1", "shot", output("abc")), odd)));
        CHECK(reading[2].images == 0);
        CHECK(reading[2].part_count == 1);
        CHECK_FALSE(reading[2].immutable);
    }
}

TEST_CASE("gemini: the body until each message is what that request had weighed") {
    const Json whole = answered(shown(response("1", "read", output("caf\xC3\xA9\n")), list(media(50))));
    const Reading reading(whole);
    for (std::size_t count = 0; count <= whole["contents"].size(); ++count) {
        Json until = whole;
        until["contents"] = Json::array();
        for (std::size_t i = 0; i < count; ++i) { until["contents"].push_back(whole["contents"][i]); }
        CAPTURE(count);
        CHECK(reading.transcript().body_until(count).bytes == until.dump().size());
    }
}

TEST_CASE("gemini: repeated keys hold what they stand in") {
    const auto held = [](const Json& contents) {
        const Repeating reading(body(contents));
        std::string out;
        for (std::size_t i = 0; i < reading.size(); ++i) { out += reading[i].immutable ? 'x' : '-'; }
        return out;
    };
    const Json open =
        list(model(call("a", "x", Json{{"path", "/a"}})),
             user(shown(response("a", "x", Json{{"output", "1"}, {"meta", {{"b", 1}}}}), list(media()))));
    CHECK(held(open) == "--");
    for (const char* const place :
         {"/0", "/0/parts/0", "/0/parts/0/functionCall", "/0/parts/0/functionCall/args"}) {
        Json contents = open;
        Json& object = contents[Json::json_pointer(place)];
        object = twice(object);
        CAPTURE(place);
        CHECK(held(contents) == "x-");
    }
    const std::string in_response = "/1/parts/0/functionResponse/response";
    for (const std::string& place :
         {std::string("/1"), std::string("/1/parts/0"), std::string("/1/parts/0/functionResponse"),
          in_response, in_response + "/meta", std::string("/1/parts/0/functionResponse/parts/0")}) {
        Json contents = open;
        Json& object = contents[Json::json_pointer(place)];
        object = twice(object);
        CAPTURE(place);
        CHECK(held(contents) == "-x");
    }
    CHECK(Repeating(twice(body(open))).refused() == "a key of the body stands there twice");
}

TEST_CASE("gemini: a response keeps its key and becomes a text") {
    const Json after = pruned_response(output(std::string(9000, 'x')));
    CHECK(after == output("[tool result cleared: 9000 characters; read /a.c]"));
}

TEST_CASE("gemini: pieces are replaced each on its own and small ones and numbers stay") {
    const Json after = pruned_response(Json{{"code", 1.5},
                                            {"lines", list(std::string(500, 'y'), 2)},
                                            {"note", "short"},
                                            {"ok", true},
                                            {"output", std::string(9000, 'x')},
                                            {"what", nullptr}});
    CHECK(after == Json{{"code", 1.5},
                        {"lines", "[tool result cleared: 506 characters, 1 other part; read /a.c]"},
                        {"note", "short"},
                        {"ok", true},
                        {"output", "[tool result cleared: 9000 characters; read /a.c]"},
                        {"what", nullptr}});
}

TEST_CASE("gemini: an error stays under its key and the text says that it failed") {
    const Json after =
        pruned_response(Json{{"error", "no such file\n" + std::string(9000, 'x') + "\nstatus 1"}});
    CHECK(after ==
          Json{{"error",
                "[tool result cleared: 9022 characters, failed; read /a.c; first line: no such file; "
                "last line: status 1]"}});
    const Json object = pruned_response(Json{{"error", {{"message", std::string(500, 'x')}}}});
    CHECK(object ==
          Json{{"error", "[tool result cleared: 514 characters, 1 other part, failed; read /a.c]"}});
}

TEST_CASE("gemini: what is left of a response is not cleared the next time") {
    // the next reader does not see any more that it failed, and a stub without the line would be short enough
    Json failed = output("Error: " + std::string(4000, 'e'));
    for (char name = 'a'; name < 'k'; ++name) { failed[std::string(1, name)] = std::string(134, name); }
    const support::Pruned done = pruned(answered(response("1", "read", failed)), clear_all);
    CHECK(done.report.edits.size() == 1);
    CHECK(done.report.edits[0].path == "/functionResponse/response/output");
}

TEST_CASE("gemini: media become an empty list and the text beside them stays") {
    const support::Pruned done = pruned(
        answered(shown(response("1", "shot", output("looks fine")), list(media(), media()))), clear_media);
    CHECK(done.after["contents"][2]["parts"][0] ==
          shown(response("1", "shot", output("looks fine")), Json::array()));
    REQUIRE(done.report.edits.size() == 1);
    CHECK(done.report.edits[0].path == "/functionResponse/parts");
    CHECK(done.report.edits[0].bytes_after == 2);
}

TEST_CASE("gemini: media go with the text that is cleared wherever they stand") {
    Json before = Json::object();
    before["function_response"] = {{"parts", list(media(50))}, {"id", "1"}, {"name", "read"}};
    before["function_response"]["response"] = output(std::string(9000, 'x'));
    const Json behind = shown(response("1", "read", output(std::string(9000, 'x'))), list(media(50)));
    for (const Json& part : {before, behind}) {
        const coppice::Pipeline texts{coppice::KeepRecent<0, coppice::Size{100}, 9>{}};
        const support::Pruned done = pruned(answered(part), texts);
        const Json& after = done.after["contents"][2]["parts"][0].front();
        CHECK(after["response"] == output("[tool result cleared: 9000 characters, 1 image; read /a.c]"));
        CHECK(after["parts"] == Json::array());
        CHECK(done.report.edits.size() == 2);
    }
}

TEST_CASE("gemini: results whose media are gone are no duplicates") {
    const auto screenshot = [](char fill) {
        return shown(response("", "shot", output(filler(1, 300))), list(media(3000, fill)));
    };
    const Json document = body(list(user(text("hi")), model(call("", "shot")), user(screenshot('A')),
                                    model(call("", "shot")), user(screenshot('B')), model(text("done"))));
    const coppice::Pipeline both{coppice::Dedup<>{}, coppice::KeepRecent<9, coppice::Size{1'000'000}, 0>{}};
    CHECK(pruned(document, both).report.edits.size() == 2);
}

TEST_CASE("gemini: of two equal parallel results without ids one is replaced and both stay") {
    const std::string same(8000, 'X');
    const Json document =
        body(list(user(text("hi")), model(call("", "ls"), call("", "ls")),
                  user(response("", "ls", Json{{"out", same}}), response("", "ls", Json{{"out", same}})),
                  model(text("done"))));
    const support::Pruned done = pruned(document, only_duplicates);
    const Json& parts = done.after["contents"][2]["parts"];
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] ==
          response("", "ls",
                   Json{{"out", "[tool result cleared: 8000 characters, same as a later result; ls]"}}));
    const bool kept = parts[1] == document["contents"][2]["parts"][1];
    CHECK(kept);
    CHECK(done.report.unpaired_calls + done.report.unpaired_results == 0);
}

TEST_CASE("gemini: results that differ around their text are no duplicates") {
    const std::string same(8000, 'X');
    const auto two = [&](const Json& first, const Json& second) {
        return body(list(user(text("hi")), model(call("", "ls"), call("", "ls")),
                         user(response("", "ls", first), response("", "ls", second)), model(text("done"))));
    };
    CHECK(pruned(two(Json{{"out", same}, {"code", 0}}, Json{{"out", same}, {"code", 1}}), only_duplicates)
              .unchanged());
    CHECK(pruned(two(Json{{"out", same}}, Json{{"err", same}}), only_duplicates).unchanged());
    CHECK_FALSE(
        pruned(two(Json{{"out", same}, {"code", 0}}, Json{{"out", same}, {"code", 0}}), only_duplicates)
            .unchanged());
}

TEST_CASE("gemini: args lose their long texts and stay an object beside their signature") {
    Json asks =
        call("1", "write", Json{{"path", "/a.c"}, {"content", std::string(5000, 'x')}, {"mode", 420}});
    asks["thoughtSignature"] = "c2ln";
    const support::Pruned done =
        pruned(body(list(user(text("hi")), model(asks), user(response("1", "write", output("ok"))),
                         model(text("done")))),
               clear_inputs);
    const Json& part = done.after["contents"][1]["parts"][0];
    CHECK(part["thoughtSignature"] == "c2ln");
    CHECK(part["functionCall"]["args"] == Json{{"path", "/a.c"},
                                               {"content", "[tool input cleared: 5000 characters; content]"},
                                               {"mode", 420}});
    REQUIRE(done.report.edits.size() == 1);
    CHECK(done.report.edits[0].path == "/functionCall/args/content");
}

TEST_CASE("gemini: a signed response changes inside the response alone") {
    Json part = response("1", "read", output(std::string(9000, 'x')));
    part["thoughtSignature"] = "c2ln";
    part["functionResponse"]["willContinue"] = false;
    const support::Pruned done = pruned(answered(part), clear_all);
    part["functionResponse"]["response"] = output("[tool result cleared: 9000 characters; read /a.c]");
    CHECK(done.after["contents"][2]["parts"][0] == part);
}

TEST_CASE("gemini: what the model has not read stays") {
    Json document = answered(response("1", "read", output(std::string(9000, 'x'))));
    document["contents"].erase(3);
    CHECK(pruned(document, clear_all).unchanged());
}

TEST_CASE("gemini: a bare list of contents is pruned like the body around it") {
    const Json contents = answered(response("1", "read", output(std::string(9000, 'x'))))["contents"];
    const support::Pruned done = pruned(contents, clear_all);
    CHECK(done.report.dialect == "gemini");
    CHECK(done.report.edits.size() == 1);
}

TEST_CASE("gemini: escaped names and white space are read as what they mean") {
    const std::string same(3000, 'x');
    const std::string in = R"({ "cont\u0065nts" : [ {"role":"us\u0065r","parts":[{"text":"hi"}]},
        {"role":"model","parts":[{"function\u0043all":{"name":"l\u0073","args":{}}}]},
        {"parts":[{"functionR\u0065sponse":{"response":{"o\u0075t\/1":")" +
                           same + R"(","n": 1e3},"name":"ls"}}],"role":"user"},
        {"role":"model","parts":[{"text":"done"}]} ] })";
    const support::PrunedText done = support::pruned_text(in, clear_all);
    REQUIRE(done.report.edits.size() == 1);
    CHECK(done.report.edits[0].path == "/functionResponse/response/out~11");
    CHECK(done.report.unpaired_results == 0);
    CHECK(done.out.find(R"("n": 1e3})") != std::string::npos);
}

TEST_CASE("gemini: a response is stored and a preview takes the place of its one text") {
    const Json document = answered(response("1", "read", Json{{"code", 7}, {"output", filler(3, 60'000)}}));
    const Json two = answered(response("1", "read", Json{{"a", filler(3, 60'000)}, {"b", "x"}}));
    coppice::Transcript transcript;
    const coppice::detail::DomSource<Json> source;
    coppice::detail::ReaderScratch scratch;
    for (const auto& [body, wanted] : {std::pair(&document, true), std::pair(&two, false)}) {
        transcript.clear();
        transcript.source = &source;
        coppice::GeminiReader<coppice::detail::DomCursor<Json>> reader(transcript, scratch);
        REQUIRE(reader.read(coppice::detail::DomCursor<Json>(*body), false).empty());
        transcript.set_horizon(4);
        constexpr coppice::PlainWording words;
        coppice::Plan plan;
        plan.start(transcript, coppice::detail::AnyWording::of(words), {});
        CHECK(plan.spill(2, "/store/1", "spill") == wanted);
    }
}

TEST_CASE("gemini: whatever stands where something else is expected nothing gets worse") {
    const std::string big(2500, 'x');
    const coppice::Pipeline pipeline{coppice::KeepRecent<0, coppice::Size{100}, 0>{},
                                     coppice::BulkyInputClear<0, coppice::Size{100}>{}};
    for (const bool ids : {true, false}) {
        const std::string first = ids ? "1" : "";
        const std::string second = ids ? "2" : "";
        const Json document = body(
            list(user(text("hi")),
                 model(Json{{"text", "hm"}, {"thought", true}},
                       call(first, "write", Json{{"path", "/a"}, {"content", big}}), call(second, "shot")),
                 user(response(first, "write", Json{{"output", big}, {"n", 1}}),
                      shown(response(second, "shot", Json{{"error", "bad " + big}}), list(media(300)))),
                 model(text("done"))));
        CHECK(pruned(document, pipeline).report.edits.size() == 4);
        std::size_t changed = 0;
        spoiled_nodes::for_each_spoiled(document, [&](const Json& spoiled, const Json::json_pointer& place) {
            CAPTURE(place.to_string());
            Json after = spoiled;
            const coppice::Report report = coppice::prune(after, pipeline, coppice::Dialect::gemini);
            const auto violations = support::new_violations(report.dialect, spoiled, after);
            for (const std::string& violation : violations) { CHECK_MESSAGE(false, violation); }
            support::check_wire_laws(spoiled.dump(), after.dump(), report, pipeline,
                                     coppice::Dialect::gemini);
            changed += report.engaged;
        });
        CHECK(changed > 50);
    }
}

TEST_CASE("gemini: whole sessions keep every law with and without ids in both spellings") {
    using namespace coppice_examples;
    SessionShape shape;
    shape.results = 40;
    shape.seed = 11;
    const Json session = make_session(shape);
    for (const bool ids : {false, true}) {
        for (const bool snake_case : {false, true}) {
            const Json document =
                render(SessionDialect::gemini, session, {.ids = ids, .snake_case = snake_case});
            CAPTURE(ids);
            CAPTURE(snake_case);
            const coppice::Pipeline pipeline{coppice::SmallAging<3>{}, coppice::Dedup<>{},
                                             coppice::KeepRecent<1, coppice::Size{900}, 0>{},
                                             coppice::BulkyInputClear<1, coppice::Size{300}>{}};
            const support::Pruned done = pruned(document, pipeline);
            CHECK(done.report.edits.size() > 10);
            CHECK(done.report.unpaired_calls + done.report.unpaired_results == 0);
        }
    }
}

TEST_CASE("gemini: depth is no danger") {
    for (const char open : {'[', '{'}) {
        const std::string one = open == '[' ? "[" : R"({"response":)";
        std::string deep;
        for (int i = 0; i < 20'000; ++i) { deep += one; }
        deep += "1";
        deep.append(20'000, open == '[' ? ']' : '}');
        const std::string in =
            R"({"contents":[{"role":"model","parts":[{"functionCall":{"name":"a","args":{"x":)" + deep +
            R"(}}}]},{"parts":[{"functionResponse":{"name":"a","response":{"y":)" + deep + R"(},"parts":[)" +
            deep + R"(]}}]},{"role":"model","parts":[{"text":"."}]}]})";
        const support::PrunedText done = support::pruned_text(in, clear_all);
        CHECK(done.report.edits.size() == 2);
    }
}
