// SPDX-License-Identifier: MIT
#include <coppice/dialects/anthropic.hpp>

#include <coppice/dom.hpp>

#include "../support/batches.hpp"
#include "../support/builders.hpp"
#include "../support/reading.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::Entry;
using coppice::Field;
using coppice::Form;
using coppice::Kind;
using coppice::none;
using coppice::Part;
using coppice::Role;
using coppice::Transcript;
using Json = nlohmann::ordered_json;
using support::assistant;
using support::assistant_blocks;
using support::body;
using support::call;
using support::call_block;
using support::document;
using support::image;
using support::list;
using support::marked;
using support::message;
using support::result;
using support::result_block;
using support::text;
using support::thinking;
using support::user;
using support::user_blocks;

using Reading = support::ReadingOf<coppice::AnthropicReader>;
using Repeating = support::RepeatingOf<coppice::AnthropicReader>;
using support::twice;

// One call and its result with this content.
Reading with_content(Json content) {
    return Reading(body(list(user("hi"), call("t1", "Read"), result("t1", std::move(content)))));
}

// Only the call, with this input.
Reading with_input(Json input) { return Reading(body(list(call("t1", "Tool", std::move(input))))); }

std::string_view refusal(Json read) {
    const Reading reading(std::move(read));
    return reading.refused().empty() ? std::string_view("accepted") : std::string_view("refused");
}

coppice::Extent extent_of(const std::string& bytes) {
    return coppice::measure(std::string_view(bytes)).plain;
}

}  // namespace

TEST_CASE("anthropic: a conversation becomes entries in its order") {
    const Reading reading(
        body(list(user("hi"), assistant_blocks(thinking(), text("on it"), call_block("t1", "Read")),
                  user_blocks(result_block("t1", "out"), text("go on")), assistant("done"))));
    REQUIRE(reading.size() == 7);
    const std::vector<Kind> kinds = {Kind::user_text, Kind::reasoning, Kind::assistant_text, Kind::call,
                                     Kind::result,    Kind::user_text, Kind::assistant_text};
    const std::vector<std::pair<std::size_t, std::size_t>> places = {{0, 0}, {1, 0}, {1, 1}, {1, 2},
                                                                     {2, 0}, {2, 1}, {3, 0}};
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        CAPTURE(i);
        CHECK(reading[i].kind == kinds[i]);
        CHECK(reading[i].message == places[i].first);
        CHECK(reading[i].block == places[i].second);
    }
}

TEST_CASE("anthropic: roles are read and unknown ones are other") {
    const Reading reading(
        body(list(user("a"), assistant("b"), message("system", "c"), message("developer", "d"),
                  Json{{"content", "no role"}}, Json{{"role", 7}, {"content", "e"}}, Json(42))));
    const std::vector<Role> roles = {Role::user,  Role::assistant, Role::other, Role::other,
                                     Role::other, Role::other,     Role::other};
    REQUIRE(reading.transcript().messages.size() == roles.size());
    for (std::size_t i = 0; i < roles.size(); ++i) {
        CHECK(reading.transcript().messages[i].role == roles[i]);
    }
}

TEST_CASE("anthropic: text and media of a user message are the user's") {
    const Reading reading(body(list(user_blocks(text("look"), image(), document()))));
    REQUIRE(reading.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(reading[i].kind == Kind::user_text);
        CHECK(reading[i].immutable == (i != 1));
        CHECK(reading[i].images == (i == 1 ? 1 : 0));
    }
    // the image is the block
    REQUIRE(reading.transcript().parts.size() == 1);
    CHECK(reading.transcript().parts[0].kind == coppice::Part::Kind::image);
    CHECK(reading.transcript().parts[0].node.where == reading[1].content.where);
    CHECK(reading[1].path.empty());
}

TEST_CASE("anthropic: system messages and unknown roles are opaque") {
    const Reading reading(
        body(list(user("a"), message("system", "rule"), message("developer", list(text("rule"))))));
    REQUIRE(reading.size() == 3);
    CHECK(reading[1].kind == Kind::opaque);
    CHECK(reading[2].kind == Kind::opaque);
    CHECK(reading[2].immutable);
}

TEST_CASE("anthropic: message content of every odd shape is read without entries") {
    for (const Json& content : {Json(nullptr), Json(42), Json(true), Json::object(), Json::array()}) {
        for (const std::string role : {"user", "assistant"}) {
            const Reading reading(body(list(message(role, content), user("next"))));
            CHECK(reading.refused().empty());
            CHECK(reading.size() == 1);
            CHECK(reading.transcript().messages.size() == 2);
        }
    }
    const Reading missing(body(list(Json{{"role", "assistant"}}, user("next"))));
    CHECK(missing.size() == 1);
}

TEST_CASE("anthropic: blocks of every odd shape are opaque") {
    for (const Json& block : {Json(nullptr), Json(42), Json("words"), Json::array(), Json::object(),
                              Json{{"type", 7}}, Json{{"type", "hologram"}}}) {
        for (const std::string role : {"user", "assistant", "system"}) {
            const Reading reading(body(list(message(role, list(block)))));
            REQUIRE(reading.size() == 1);
            CHECK(reading[0].kind == Kind::opaque);
            CHECK(reading[0].immutable);
        }
    }
}

TEST_CASE("anthropic: a call in a user message and a result in an assistant message are opaque") {
    const Reading reading(
        body(list(user_blocks(call_block("t1", "Read")), assistant_blocks(result_block("t1", "out")))));
    REQUIRE(reading.size() == 2);
    CHECK(reading[0].kind == Kind::opaque);
    CHECK(reading[1].kind == Kind::opaque);
}

TEST_CASE("anthropic: thinking of both kinds is reasoning and immutable") {
    const Reading reading(body(
        list(assistant_blocks(thinking("", "S=="), Json{{"type", "redacted_thinking"}, {"data", "D=="}}))));
    REQUIRE(reading.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(reading[i].kind == Kind::reasoning);
        CHECK(reading[i].immutable);
    }
}

TEST_CASE("anthropic: server tools and their results are opaque") {
    const Reading reading(
        body(list(user("search"),
                  assistant_blocks(
                      Json{{"type", "server_tool_use"},
                           {"id", "srv1"},
                           {"name", "web_search"},
                           {"input", {{"query", "q"}}}},
                      Json{{"type", "web_search_tool_result"},
                           {"tool_use_id", "srv1"},
                           {"content", list(text("found"))}},
                      Json{{"type", "mcp_tool_use"},
                           {"id", "m1"},
                           {"name", "n"},
                           {"server_name", "s"},
                           {"input", Json::object()}},
                      Json{{"type", "mcp_tool_result"}, {"tool_use_id", "m1"}, {"content", list(text("x"))}},
                      Json{{"type", "shiny_new_tool_result"}, {"tool_use_id", "srv9"}, {"content", "x"}}))));
    REQUIRE(reading.size() == 6);
    for (std::size_t i = 1; i < 6; ++i) {
        CHECK(reading[i].kind == Kind::opaque);
        CHECK(reading[i].immutable);
    }
}

TEST_CASE("anthropic: call and result know each other and the result has its call's tool and identity") {
    const Reading reading(body(list(call("t1", "Read", Json{{"file_path", "/a.c"}}), result("t1", "out"))));
    REQUIRE(reading.size() == 2);
    CHECK(reading[0].peer == 1);
    CHECK(reading[1].peer == 0);
    CHECK(reading[1].tool.raw() == "Read");
    CHECK(reading[1].identity.raw() == "/a.c");
    CHECK(reading[1].id.raw() == "t1");
}

TEST_CASE("anthropic: results out of order find their own calls") {
    const Reading reading(
        body(list(assistant_blocks(call_block("a", "A"), call_block("b", "B"), call_block("c", "C")),
                  user_blocks(result_block("c", "1"), result_block("a", "2"), result_block("b", "3")))));
    REQUIRE(reading.size() == 6);
    CHECK(reading[3].tool.raw() == "C");
    CHECK(reading[4].tool.raw() == "A");
    CHECK(reading[5].tool.raw() == "B");
    CHECK(reading[0].peer == 4);
}

TEST_CASE("anthropic: an id that is used again in a later turn means the later call") {
    const Reading reading(
        body(list(call("t1", "First"), result("t1", "1"), call("t1", "Second"), result("t1", "2"))));
    REQUIRE(reading.size() == 4);
    CHECK(reading[1].peer == 0);
    CHECK(reading[3].peer == 2);
    CHECK(reading[3].tool.raw() == "Second");
}

TEST_CASE("anthropic: parallel calls with one constant id are paired in order") {
    const Reading reading(body(list(assistant_blocks(call_block("x", "A"), call_block("x", "B")),
                                    user_blocks(result_block("x", "1"), result_block("x", "2")))));
    REQUIRE(reading.size() == 4);
    CHECK(reading[2].peer == 0);
    CHECK(reading[3].peer == 1);
}

TEST_CASE("anthropic: the second result with one id has no call") {
    const Reading reading(
        body(list(call("t1", "A"), user_blocks(result_block("t1", "1"), result_block("t1", "1")))));
    REQUIRE(reading.size() == 3);
    CHECK(reading[0].peer == 1);
    CHECK(reading[1].peer == 0);
    CHECK(reading[2].peer == none);
    CHECK(reading[2].tool.empty());
}

TEST_CASE("anthropic: a result that comes after another assistant turn has no call") {
    const Reading reading(body(list(call("t1", "A"), user("wait"), assistant("well"), result("t1", "late"))));
    REQUIRE(reading.size() == 4);
    CHECK(reading[0].peer == none);
    CHECK(reading[3].peer == none);
}

TEST_CASE("anthropic: an orphan result and an unanswered call have no peer") {
    const Reading reading(body(list(result("t0", "orphan"), call("t1", "A"))));
    REQUIRE(reading.size() == 2);
    CHECK(reading[0].peer == none);
    CHECK(reading[1].peer == none);
}

TEST_CASE("anthropic: a result before its call is not its answer") {
    const Reading reading(body(list(result("t1", "early"), call("t1", "A"), result("t1", "right"))));
    REQUIRE(reading.size() == 3);
    CHECK(reading[0].peer == none);
    CHECK(reading[2].peer == 1);
}

TEST_CASE("anthropic: adjacent messages of one role are one turn") {
    const Reading reading(body(list(call("a", "A"), call("b", "B"), result("b", "1"), result("a", "2"))));
    REQUIRE(reading.size() == 4);
    CHECK(reading[2].peer == 1);
    CHECK(reading[3].peer == 0);
}

TEST_CASE("anthropic: what answers a program is immutable") {
    Json programmatic = call_block("a", "A", Json{{"content", "x"}});
    programmatic["caller"] = {{"type", "code_execution_20250825"}, {"tool_id", "srv1"}};
    const Reading reading(body(list(assistant_blocks(programmatic), user_blocks(result_block("a", "1")))));
    REQUIRE(reading.size() == 2);
    CHECK(reading[0].immutable);
    CHECK(reading[1].immutable);
}

TEST_CASE("anthropic: the whole turn that answers a program is immutable") {
    Json programmatic = call_block("a", "A");
    programmatic["caller"] = {{"type", "code_execution_20250825"}};
    const Reading reading(body(list(assistant_blocks(call_block("b", "B"), programmatic),
                                    user_blocks(result_block("b", "1"), result_block("a", "2")),
                                    call("c", "C"), result("c", "3"))));
    REQUIRE(reading.size() == 6);
    CHECK(reading[2].immutable);
    CHECK(reading[3].immutable);
    CHECK_FALSE(reading[5].immutable);
}

TEST_CASE("anthropic: what answers beside a waiting server tool is immutable") {
    const Json server = Json{
        {"type", "server_tool_use"}, {"id", "srv1"}, {"name", "code_execution"}, {"input", Json::object()}};
    const Json done =
        Json{{"type", "code_execution_tool_result"}, {"tool_use_id", "srv1"}, {"content", Json::object()}};
    const Reading waiting(body(list(assistant_blocks(server, call_block("b", "B")), result("b", "1"))));
    CHECK(waiting[2].immutable);
    const Reading finished(
        body(list(assistant_blocks(server, done, call_block("b", "B")), result("b", "1"))));
    CHECK_FALSE(finished[3].immutable);
}

TEST_CASE("anthropic: the answer of one server's tool does not stand for that of another") {
    const Json waiting = Json{
        {"type", "server_tool_use"}, {"id", "srv1"}, {"name", "code_execution"}, {"input", Json::object()}};
    const Json other = Json{{"type", "mcp_tool_use"},
                            {"id", "m1"},
                            {"name", "n"},
                            {"server_name", "s"},
                            {"input", Json::object()}};
    const Json answer =
        Json{{"type", "mcp_tool_result"}, {"tool_use_id", "m1"}, {"content", list(text("x"))}};
    const Reading reading(
        body(list(assistant_blocks(waiting, other, answer, call_block("b", "B")), result("b", "1"))));
    REQUIRE(reading.size() == 5);
    CHECK(reading[4].immutable);
}

TEST_CASE("anthropic: a direct caller and no caller leave a call open") {
    for (const Json& caller : {Json(nullptr), Json{{"type", "direct"}}}) {
        Json block = call_block("a", "A");
        block["caller"] = caller;
        const Reading reading(body(list(assistant_blocks(block), result("a", "1"))));
        CHECK_FALSE(reading[0].immutable);
        CHECK_FALSE(reading[1].immutable);
    }
    const Reading without(body(list(call("a", "A"), result("a", "1"))));
    CHECK_FALSE(without[0].immutable);
    CHECK_FALSE(without[1].immutable);
}

TEST_CASE("anthropic: a loaded tool reference is immutable") {
    const Reading reading =
        with_content(list(text("x"), Json{{"type", "tool_reference"}, {"tool_name", "T"}}));
    CHECK(reading[2].immutable);
}

TEST_CASE("anthropic: everything from the first compaction block on is immutable") {
    const Json compaction = Json{{"type", "compaction"}, {"content", "so far"}};
    const Reading reading(body(list(call("a", "A"), result("a", "1"),
                                    assistant_blocks(compaction, call_block("b", "B")), result("b", "2"),
                                    assistant_blocks(compaction), user("more"))));
    REQUIRE(reading.size() == 7);
    CHECK_FALSE(reading[1].immutable);
    // a later one opens nothing that was closed before
    for (std::size_t i = 2; i < 7; ++i) { CHECK(reading[i].immutable); }
}

TEST_CASE("anthropic: steps count the assistant turns before") {
    const Reading reading(
        body(list(user("a"), call("1", "A"), result("1", "x"), call("2", "B"), result("2", "y"))));
    const std::vector<std::size_t> steps = {0, 0, 1, 1, 2};
    REQUIRE(reading.size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) { CHECK(reading[i].step == steps[i]); }
}

TEST_CASE("anthropic: two messages of one assistant turn are one step") {
    const Reading reading(body(list(user("a"), assistant("b"), call("1", "A"), result("1", "x"))));
    REQUIRE(reading.size() == 4);
    CHECK(reading[1].step == 0);
    CHECK(reading[2].step == 0);
    CHECK(reading[3].step == 1);
}

TEST_CASE("anthropic: user turns count what the user said before") {
    const Reading reading(body(list(user("a"), call("1", "A"), result("1", "x"), call("2", "B"),
                                    user_blocks(result_block("2", "y"), text("and now")), assistant("z"))));
    const std::vector<std::size_t> turns = {0, 1, 1, 1, 1, 1, 2};
    REQUIRE(reading.size() == turns.size());
    for (std::size_t i = 0; i < turns.size(); ++i) {
        CAPTURE(i);
        CHECK(reading[i].user_turn == turns[i]);
    }
}

TEST_CASE("anthropic: results alone are no user turn") {
    const Reading reading(
        body(list(user("a"), call("1", "A"), result("1", "x"), call("2", "B"), result("2", "y"))));
    CHECK(reading[4].user_turn == reading[1].user_turn);
}

TEST_CASE("anthropic: two user messages in a row are one user turn") {
    const Reading one(body(list(user("a"), assistant("z"))));
    const Reading two(body(list(user("a"), user("b"), assistant("z"))));
    CHECK(two[2].user_turn == one[1].user_turn);
}

TEST_CASE("anthropic: identity is the best of path command and the like whatever their order") {
    const auto identity = [](Json input) {
        return std::string(with_input(std::move(input))[0].identity.raw());
    };
    CHECK(identity({{"file_path", "/a"}, {"content", "x"}}) == "/a");
    CHECK(identity({{"description", "lists"}, {"command", "ls"}}) == "ls");
    CHECK(identity({{"command", "ls"}, {"description", "lists"}}) == "ls");
    CHECK(identity({{"pattern", "x.*"}, {"path", "/src"}}) == "/src");
    CHECK(identity({{"query", "q"}, {"url", "https://a.example"}}) == "https://a.example");
    CHECK(identity({{"notebook_path", "/n.ipynb"}, {"cell", 3}}) == "/n.ipynb");
    CHECK(identity({{"path", 7}, {"command", "ls"}}) == "ls");
    CHECK(identity({{"other", "x"}}).empty());
    CHECK(identity(Json::object()).empty());
    CHECK(identity({{"meta", {{"path", "/deeper"}}}}).empty());
}

TEST_CASE("anthropic: every string at the top of an input is a field") {
    const Reading reading = with_input({{"path", "/a"}, {"n", 7}, {"content", "caf\xC3\xA9\n"}});
    REQUIRE(reading[0].field_count == 2);
    const Field& field = reading.field(reading[0], 1);
    CHECK(field.name.raw() == "content");
    CHECK(field.list.empty());
    CHECK(field.text.text().raw() == "caf\xC3\xA9\n");
    CHECK(field.text.extent().serialised() == extent_of(R"("cafe\n")") + coppice::Extent{1, 0, 0});
    CHECK(field.node.where == &reading.document()["messages"][0]["content"][0]["input"]["content"]);
}

TEST_CASE("anthropic: strings in an array of objects are fields with their position") {
    const Reading reading =
        with_input({{"edits", list(Json{{"old_string", "a"}, {"n", 1}, {"new_string", "b"}}, "odd",
                                   Json{{"new_string", "c"}})}});
    REQUIRE(reading[0].field_count == 3);
    const Field& last = reading.field(reading[0], 2);
    CHECK(reading.field(reading[0], 0).name.raw() == "old_string");
    CHECK(reading.field(reading[0], 1).index == 0);
    CHECK(last.list.raw() == "edits");
    CHECK(last.name.raw() == "new_string");
    CHECK(last.index == 2);
    CHECK(last.node.where ==
          &reading.document()["messages"][0]["content"][0]["input"]["edits"][2]["new_string"]);
}

TEST_CASE("anthropic: what lies deeper in an input is a field where it is long enough, in the order of the text") {
    const std::string deep(8, 'd');
    const Reading reading = with_input({{"args", {{"b", list(deep, Json{{"a", deep}})}, {"a", deep}, {"metadata", {{"a", deep}}}}},
                                        {"meta", {{"a", deep}}},
                                        {"_meta", list(deep)},
                                        {"edits", list(Json{{"old", "o"}, {"more", {{"new_string", deep}}}, {"z", "z"}})},
                                        {"lists", list(list(Json{{"content", deep}}))},
                                        {"words", list(deep, "short", std::string(7, 'd'))},
                                        {"path", "p"}});
    CHECK(reading.names(reading[0]) ==
          "/args/b/0 /args/b/1/a /args/a edits[0].old /edits/0/more/new_string edits[0].z /lists/0/0/content /words/0 path");
    CHECK(reading.field(reading[0], 0).name.raw() == "b");
    CHECK(reading.field(reading[0], 4).name.raw() == "new_string");
    CHECK(reading.field(reading[0], 7).name.raw() == "words");
    CHECK(reading.field(reading[0], 7).node.where == &reading.document()["messages"][0]["content"][0]["input"]["words"][0]);
}

TEST_CASE("anthropic: what lies deeper in an input and is short is no field") {
    const Reading reading = with_input({{"meta", {{"content", "deep"}}},
                                        {"edits", list(Json{{"more", {{"new_string", "deep"}}}})},
                                        {"lists", list(list(Json{{"content", "deep"}}))},
                                        {"words", list("deep")}});
    CHECK(reading[0].field_count == 0);
}

TEST_CASE("anthropic: an input that is no object closes the call") {
    for (const Json& input : {Json(nullptr), Json("text"), Json(7), list("a")}) {
        const Reading reading = with_input(input);
        CHECK(reading[0].immutable);
        CHECK(reading[0].field_count == 0);
    }
}

TEST_CASE("anthropic: a string content is one text part") {
    const Reading reading = with_content("line\n\"two\" caf\xC3\xA9");
    const Entry& entry = reading[2];
    CHECK(entry.form == Form::string);
    REQUIRE(entry.part_count == 1);
    CHECK(reading.part(entry).kind == Part::Kind::text);
    CHECK(reading.part(entry).text.text().raw() == "line\n\"two\" caf\xC3\xA9");
    CHECK(reading.size(2) == coppice::Extent{16, 15, 15});
    CHECK(reading.serialised(2) == extent_of(Json("line\n\"two\" caf\xC3\xA9").dump()));
    CHECK(entry.content.where == &reading.document()["messages"][2]["content"][0]["content"]);
}

TEST_CASE("anthropic: blocks are parts in order and text is joined") {
    const Reading reading = with_content(list(text("abc"), image(500), text("de"), document(600)));
    const Entry& entry = reading[2];
    CHECK(entry.form == Form::blocks);
    REQUIRE(entry.part_count == 4);
    CHECK(reading.part(entry, 0).kind == Part::Kind::text);
    CHECK(reading.part(entry, 1).kind == Part::Kind::image);
    CHECK(reading.part(entry, 2).kind == Part::Kind::text);
    CHECK(reading.part(entry, 3).kind == Part::Kind::document);
    CHECK(entry.images == 1);
    CHECK(entry.documents == 1);
    CHECK(entry.others == 0);
    // images weigh nothing as text, documents weigh what they weigh in the body
    CHECK(reading.size(2) == coppice::ascii(5) + extent_of(document(600).dump()));
    CHECK(reading.serialised(2) ==
          extent_of(list(text("abc"), image(500), text("de"), document(600)).dump()));
}

TEST_CASE("anthropic: parts of every type are counted") {
    const Json search = {
        {"type", "search_result"}, {"source", "s"}, {"title", "t"}, {"content", list(text("x"))}};
    const Json resource = {{"type", "resource"}, {"uri", "u"}};
    const Reading reading =
        with_content(list(search, resource, Json{{"type", "tool_reference"}, {"tool_name", "T"}}));
    const Entry& entry = reading[2];
    CHECK(entry.documents == 1);
    CHECK(entry.others == 2);
    CHECK(reading.size(2).bytes == search.dump().size() + resource.dump().size() +
                                       Json{{"type", "tool_reference"}, {"tool_name", "T"}}.dump().size());
}

TEST_CASE("anthropic: contents of every odd shape are read as they are") {
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
        {Json{{"a", std::string(9000, 'x')}}, Form::other, 1, 1},
        {Json::object(), Form::other, 1, 1},
        {Json::array(), Form::blocks, 0, 0},
        {list("str"), Form::blocks, 1, 1},
        {list(nullptr), Form::blocks, 1, 1},
        {list(42, true), Form::blocks, 2, 2},
        {list(list(text("nested"))), Form::blocks, 1, 1},
        {list(Json{{"type", "text"}}), Form::blocks, 1, 1},
        {list(Json{{"type", "text"}, {"text", 7}}), Form::blocks, 1, 1},
        {list(Json{{"text", "no type"}}), Form::blocks, 1, 1},
        {"", Form::string, 1, 0},
    };
    for (const Shape& shape : shapes) {
        const std::string bytes = shape.content.dump();
        CAPTURE(bytes.substr(0, 60));
        const Reading reading = with_content(shape.content);
        REQUIRE(reading.size() == 3);
        const Entry& entry = reading[2];
        CHECK(entry.kind == Kind::result);
        CHECK(entry.form == shape.form);
        CHECK(entry.part_count == shape.parts);
        CHECK(entry.others == shape.others);
        CHECK(reading.serialised(2).bytes == bytes.size());
        CHECK_FALSE(entry.immutable);
    }
}

TEST_CASE("anthropic: a result without content has none") {
    Json block = result_block("t1", "x");
    block.erase("content");
    const Reading reading(body(list(call("t1", "A"), user_blocks(block))));
    CHECK(reading[1].form == Form::absent);
    CHECK(reading[1].part_count == 0);
    CHECK(reading[1].peer == 0);
    CHECK(reading.size(1) == coppice::Extent{});
}

TEST_CASE("anthropic: only a true error flag is an error") {
    for (const Json& flag : {Json(false), Json(nullptr), Json(1), Json("true")}) {
        Json block = result_block("t1", "x");
        block["is_error"] = flag;
        CHECK_FALSE(Reading(body(list(call("t1", "A"), user_blocks(block))))[1].error);
    }
    CHECK(Reading(body(list(call("t1", "A"), result("t1", "x", true))))[1].error);
}

TEST_CASE("anthropic: cache marks on parts are counted and found") {
    const Json mark = {{"type", "ephemeral"}, {"ttl", "1h"}};
    const Reading reading = with_content(list(text("a"), marked(text("b"), mark), marked(image(10))));
    const Entry& entry = reading[2];
    CHECK(entry.cache_marks == 2);
    CHECK_FALSE(entry.nested_cache_mark);
    CHECK_FALSE(reading.part(entry, 0).cache_mark);
    CHECK(reading.part(entry, 1).cache_mark.where ==
          &reading.document()["messages"][2]["content"][0]["content"][1]["cache_control"]);
    CHECK(reading.transcript().serialised(reading.part(entry, 1)).bytes ==
          marked(text("b"), mark).dump().size());
}

TEST_CASE("anthropic: text blocks with more in them weigh what they weigh") {
    const Json cited = {{"type", "text"}, {"text", "a"}, {"citations", list(Json{{"cited_text", "b"}})}};
    const Json reversed = {{"text", "a"}, {"type", "text"}};
    const Json odd_mark = {{"type", "text"}, {"text", "a"}, {"cache_control", nullptr}};
    for (const Json& part : {cited, reversed, odd_mark, marked(cited), marked(text("caf\xC3\xA9\n"))}) {
        const Reading reading = with_content(list(part, text("b")));
        CHECK(reading.serialised(2) == extent_of(list(part, text("b")).dump()));
        CHECK(reading[2].form == Form::blocks);
    }
}

TEST_CASE("anthropic: a mark on the result block itself is none of its parts") {
    const Reading reading(
        body(list(call("t1", "A"), user_blocks(marked(result_block("t1", list(text("a"))))))));
    CHECK(reading[1].cache_marks == 0);
    CHECK_FALSE(reading[1].nested_cache_mark);
}

TEST_CASE("anthropic: a mark deeper than a part is nested") {
    const Json search = {{"type", "search_result"}, {"content", list(marked(text("x")))}};
    CHECK(with_content(list(search))[2].nested_cache_mark);
    CHECK(with_content(list(marked(search)))[2].nested_cache_mark);
    CHECK(with_content(list(marked(search)))[2].cache_marks == 1);
    CHECK(with_content(Json{{"cache_control", {{"type", "ephemeral"}}}})[2].nested_cache_mark);
    CHECK(with_content(list(list(marked(text("x")))))[2].nested_cache_mark);
    // one that is no object could not be carried over
    CHECK(with_content(list(marked(text("x"), "ephemeral")))[2].nested_cache_mark);
}

TEST_CASE("anthropic: the keys of a block may come in any order") {
    const Json result_first = {{"content", list(Json{{"text", "abc"}, {"type", "text"}})},
                               {"is_error", true},
                               {"tool_use_id", "t1"},
                               {"type", "tool_result"}};
    const Json call_first = {
        {"input", {{"path", "/a"}}}, {"name", "Read"}, {"id", "t1"}, {"type", "tool_use"}};
    const Reading reading(Json{{"messages", list(Json{{"content", list(call_first)}, {"role", "assistant"}},
                                                 Json{{"content", list(result_first)}, {"role", "user"}})}});
    REQUIRE(reading.size() == 2);
    CHECK(reading[1].peer == 0);
    CHECK(reading[1].error);
    CHECK(reading[1].tool.raw() == "Read");
    CHECK(reading[1].identity.raw() == "/a");
    CHECK(reading.size(1) == coppice::ascii(3));
}

TEST_CASE("anthropic: the body until each message is what that request had weighed") {
    const Json whole =
        body(list(user("hi \xC3\xA9"), call("a", "A", Json{{"path", "/\xF0\x9F\x98\x80"}, {"n", 1.5}}),
                  result("a", list(text("x\n"), image(50))), assistant("done")));
    const Reading reading(whole);
    for (std::size_t count = 0; count <= whole["messages"].size(); ++count) {
        Json until = whole;
        until["messages"] = Json::array();
        for (std::size_t i = 0; i < count; ++i) { until["messages"].push_back(whole["messages"][i]); }
        CAPTURE(count);
        CHECK(reading.transcript().body_until(count) == extent_of(until.dump()));
    }
}

TEST_CASE("anthropic: a bare array of messages has a frame of two brackets") {
    const Json messages = list(call("a", "A"), result("a", "x"));
    const Reading reading(messages);
    CHECK(reading.refused().empty());
    CHECK(reading.transcript().body_until(0) == coppice::ascii(2));
    CHECK(reading.transcript().body() == extent_of(messages.dump()));
}

TEST_CASE("anthropic: a body without a single message weighs what it weighs") {
    const Json empty = body(Json::array());
    const Reading reading(empty);
    CHECK(reading.refused().empty());
    CHECK(reading.transcript().body() == extent_of(empty.dump()));
}

TEST_CASE("detection: tool blocks tell that a body is Anthropic's") {
    CHECK(refusal(Json{{"messages", list(call("a", "A"))}}) == "accepted");
    CHECK(refusal(Json{{"messages", list(result("a", "x"))}}) == "accepted");
    CHECK(refusal(Json{{"messages", list(assistant_blocks(thinking()))}}) == "accepted");
    CHECK(refusal(list(call("a", "A"), result("a", "x"))) == "accepted");
}

TEST_CASE("detection: a system prompt or a version at the top tells that a body is Anthropic's") {
    CHECK(refusal(Json{{"system", "s"}, {"messages", list(user("hi"))}}) == "accepted");
    CHECK(refusal(Json{{"messages", list(user("hi"))}, {"anthropic_version", "v"}}) == "accepted");
}

TEST_CASE("detection: a body of text alone is refused") {
    CHECK(refusal(Json{{"model", "m"}, {"messages", list(user("hi"), assistant("hello"))}}) == "refused");
    CHECK(refusal(list(user("hi"), assistant("hello"))) == "refused");
    CHECK(refusal(list(user_blocks(text("hi"), image()))) == "refused");
    CHECK(refusal(Json::array()) == "refused");
}

TEST_CASE("detection: OpenAI's tool messages are refused") {
    const Json calls =
        list(Json{{"id", "c1"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}});
    const Json asks = {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", calls}};
    const Json answers = {{"role", "tool"}, {"tool_call_id", "c1"}, {"content", "x"}};
    const Json old_style = {{"role", "function"}, {"name", "f"}, {"content", "x"}};
    CHECK(refusal(Json{{"messages", list(user("hi"), asks, answers)}}) == "refused");
    CHECK(refusal(Json{{"system", "s"}, {"messages", list(user("hi"), asks)}}) == "refused");
    CHECK(refusal(Json{{"system", "s"}, {"messages", list(answers)}}) == "refused");
    CHECK(refusal(Json{{"system", "s"}, {"messages", list(old_style)}}) == "refused");
    CHECK(refusal(list(asks, call("a", "A"))) == "refused");
}

TEST_CASE("detection: what holds no array of messages is refused") {
    for (const Json& odd :
         {Json(nullptr), Json(42), Json("messages"), Json::object(), Json{{"messages", nullptr}},
          Json{{"messages", "hi"}}, Json{{"messages", Json::object()}}, Json{{"input", list("x")}},
          Json{{"contents", list(Json{{"role", "user"}, {"parts", list(Json{{"text", "x"}})}})}}}) {
        CHECK(refusal(odd) == "refused");
        CHECK_FALSE(Reading(odd, true).refused().empty());
    }
}

TEST_CASE("detection: a forced dialect needs no evidence") {
    const Reading plain(list(user("hi")), true);
    CHECK(plain.refused().empty());
    CHECK(plain.transcript().dialect == "anthropic");
    const Reading mixed(Json{{"messages", list(Json{{"role", "tool"}, {"content", "x"}}, call("a", "A"))}},
                        true);
    CHECK(mixed.refused().empty());
    CHECK(mixed.size() == 2);
}

TEST_CASE("detection: a refused body names no dialect") {
    CHECK(Reading(list(user("hi"))).transcript().dialect.empty());
}

namespace {

// Two calls in two steps and their results.
Json two_pairs() {
    return list(call("a", "Write", Json{{"path", "/a"}, {"content", "x"}}), result("a", list(text("one"))),
                call("b", "Edit", Json{{"path", "/b"}, {"edits", list(Json{{"old_string", "x"}})}}),
                result("b", "two"));
}

// Which of the four entries may not be edited, a letter each: `-` may, `x` may not.
std::string immutable(const Json& messages) {
    const Repeating reading(body(messages));
    REQUIRE(reading.refused().empty());
    std::string out;
    for (std::size_t i = 0; i < reading.size(); ++i) { out += reading[i].immutable ? 'x' : '-'; }
    return out;
}

}  // namespace

TEST_CASE("repeated keys: where there are none nothing is held") { CHECK(immutable(two_pairs()) == "----"); }

TEST_CASE("repeated keys: a body that repeats one is refused whatever was asked for") {
    const Json repeating = twice(body(two_pairs()));
    CHECK(Repeating(repeating).refused() == "a key of the body stands there twice");
    CHECK(Repeating(repeating, true).refused() == "a key of the body stands there twice");
    CHECK(Repeating(repeating).size() == 0);
    CHECK(Reading(repeating).refused().empty());
}

TEST_CASE("repeated keys: a message that repeats one is held with all its blocks") {
    for (std::size_t i = 0; i < 4; ++i) {
        Json messages = two_pairs();
        messages[i] = twice(messages[i]);
        std::string expected = "----";
        expected[i] = 'x';
        CHECK(immutable(messages) == expected);
    }
}

TEST_CASE("repeated keys: a block that repeats one is held") {
    for (std::size_t i = 0; i < 4; ++i) {
        Json messages = two_pairs();
        Json& block = messages[i]["content"][0];
        block = twice(block);
        std::string expected = "----";
        expected[i] = 'x';
        CHECK(immutable(messages) == expected);
    }
}

TEST_CASE("repeated keys: a block beside one that repeats a key is not held") {
    Json messages = list(assistant_blocks(call_block("a", "A"), call_block("b", "B")),
                         user_blocks(twice(result_block("a", "x")), result_block("b", "y")));
    CHECK(immutable(messages) == "--x-");
}

TEST_CASE("repeated keys: an input that repeats one is held") {
    Json messages = two_pairs();
    messages[0]["content"][0]["input"] = twice(messages[0]["content"][0]["input"]);
    CHECK(immutable(messages) == "x---");
}

TEST_CASE("repeated keys: an edit that repeats one has no fields and the others have theirs") {
    Json input = {{"path", "/a"}};
    input["edits"] = list(twice(Json{{"old_string", "x"}}), Json{{"new_string", "y"}});
    const Repeating reading(body(list(call("a", "Edit", input))));
    REQUIRE(reading.size() == 1);
    CHECK_FALSE(reading[0].immutable);
    REQUIRE(reading[0].field_count == 2);
    CHECK(reading.field(reading[0], 0).name.raw() == "path");
    CHECK(reading.field(reading[0], 1).name.raw() == "new_string");
    CHECK(reading.field(reading[0], 1).index == 1);
}

TEST_CASE("repeated keys: a content that holds one at any depth is held") {
    const Json part = text("one");
    for (const Json& content :
         {list(twice(part)), list(part, Json{{"type", "x"}, {"y", list(twice(Json{{"z", 1}}))}}),
          twice(Json{{"type", "text"}, {"text", "one"}})}) {
        Json messages = two_pairs();
        messages[1]["content"][0]["content"] = content;
        CHECK(immutable(messages) == "-x--");
    }
}

TEST_CASE("repeated keys: what a call and a system prompt hold deeper is no concern") {
    Json messages = two_pairs();
    messages[0]["content"][0]["input"]["options"] = twice(Json{{"a", 1}});
    Json whole = body(messages);
    whole["system"] = list(twice(text("terse")));
    CHECK(Repeating(whole).refused().empty());
    CHECK(immutable(messages) == "----");
}

TEST_CASE("reader: scratch left by another body changes nothing") {
    coppice::detail::ReaderScratch scratch;
    const coppice::detail::DomSource<Json> source;
    using Cursor = coppice::detail::DomCursor<Json>;
    const Json unanswered = body(list(call("a", "A"), call("b", "B")));
    const Json answers = body(list(user("hi"), result("a", "x"), result("b", "y")));
    for (const Json* document : {&unanswered, &answers}) {
        Transcript transcript;
        transcript.source = &source;
        coppice::AnthropicReader<Cursor> reader(transcript, scratch);
        CHECK(reader.read(Cursor(*document), false).empty());
        for (const Entry& entry : transcript.all()) { CHECK(entry.peer == coppice::none); }
    }
}
