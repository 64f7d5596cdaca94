// SPDX-License-Identifier: MIT
#include <coppice/dialects/openai_responses.hpp>

#include <coppice/dialects/anthropic.hpp>
#include <coppice/policies.hpp>

#include "../support/nested.hpp"
#include "../support/openai_responses_validator.hpp"
#include "../support/pruned.hpp"
#include "../support/reading.hpp"
#include "../support/spoiled_nodes.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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
using coppice::Size;
using coppice::Transcript;
using support::filler;
using support::list;
using support::Pruned;
using support::pruned;
using Json = nlohmann::ordered_json;

using Reading = support::ReadingOf<coppice::OpenAiResponsesReader>;
using Repeating = support::RepeatingOf<coppice::OpenAiResponsesReader>;
using support::twice;

// The builders of items.

Json message(const std::string& role, Json content) {
    return {{"type", "message"}, {"role", role}, {"content", std::move(content)}};
}
Json user(const std::string& words) {
    return message("user", list(Json{{"type", "input_text"}, {"text", words}}));
}
Json assistant(const std::string& words) {
    return message("assistant",
                   list(Json{{"type", "output_text"}, {"text", words}, {"annotations", list()}}));
}
Json reasoning(const std::string& id = "rs_1") {
    return {
        {"type", "reasoning"}, {"id", id}, {"summary", list()}, {"encrypted_content", std::string(900, 'g')}};
}
Json raw_call(const std::string& id, const std::string& name, Json arguments) {
    return {{"type", "function_call"}, {"call_id", id}, {"name", name}, {"arguments", std::move(arguments)}};
}
Json call(const std::string& id, const std::string& name = "read", const Json& arguments = Json::object()) {
    return raw_call(id, name, arguments.dump());
}
Json answer(const std::string& type, const std::string& id, Json content) {
    return {{"type", type}, {"call_id", id}, {"output", std::move(content)}};
}
Json output(const std::string& id, Json content) {
    return answer("function_call_output", id, std::move(content));
}
Json custom(const std::string& id, const std::string& input) {
    return {{"type", "custom_tool_call"}, {"call_id", id}, {"name", "apply_patch"}, {"input", input}};
}
Json local_shell(const std::string& id, const std::string& call_id) {
    return {{"type", "local_shell_call"},
            {"id", id},
            {"call_id", call_id},
            {"status", "completed"},
            {"action",
             {{"type", "exec"}, {"command", list("bash", "-lc", "make all")}, {"env", Json::object()}}}};
}
Json local_shell_output(const std::string& id, Json content) {
    return {{"type", "local_shell_call_output"}, {"id", id}, {"output", std::move(content)}};
}
Json shell(const std::string& id) {
    return {{"type", "shell_call"},
            {"call_id", id},
            {"action", {{"commands", list("make all", "make test")}, {"max_output_length", 4096}}}};
}
Json chunk(const std::string& out, const std::string& err, Json outcome) {
    return {{"stdout", out}, {"stderr", err}, {"outcome", std::move(outcome)}};
}
Json exited(int code) { return {{"type", "exit"}, {"exit_code", code}}; }
Json shell_output(const std::string& id, Json chunks) {
    return {{"type", "shell_call_output"},
            {"call_id", id},
            {"max_output_length", 4096},
            {"output", std::move(chunks)}};
}
Json patch(const std::string& id) {
    return {{"type", "apply_patch_call"},
            {"call_id", id},
            {"status", "completed"},
            {"operation", {{"type", "update_file"}, {"path", "/src/a.c"}, {"diff", std::string(3000, '+')}}}};
}
Json patch_output(const std::string& id, const std::string& status, Json content) {
    return {{"type", "apply_patch_call_output"},
            {"call_id", id},
            {"status", status},
            {"output", std::move(content)}};
}
Json computer(const std::string& id) {
    return {{"type", "computer_call"},
            {"id", "cu_" + id},
            {"call_id", id},
            {"status", "completed"},
            {"pending_safety_checks", list()},
            {"action", {{"type", "screenshot"}}}};
}
Json computer_output(const std::string& id) {
    return answer(
        "computer_call_output", id,
        Json{{"type", "computer_screenshot"}, {"image_url", "data:image/png;base64," + filler(7, 4000)}});
}
Json words(const std::string& text) { return {{"type", "input_text"}, {"text", text}}; }
Json picture(char fill = 'A') {
    return {{"type", "input_image"}, {"image_url", "data:image/png;base64," + std::string(3000, fill)}};
}
Json file() { return {{"type", "input_file"}, {"filename", "a.pdf"}, {"file_data", std::string(3000, 'D')}}; }

template <class... Items>
Json body(Items... items) {
    Json out = {{"model", "m"}, {"instructions", "Be terse."}, {"store", false}};
    out["input"] = list(Json(std::move(items))...);
    return out;
}

// One call and its output with this content.
Reading with_output(Json content) { return Reading(body(call("c1"), output("c1", std::move(content)))); }

std::string identity(const Json& item) {
    const Reading reading(body(item));
    REQUIRE(reading.size() == 1);
    std::string scratch;
    return std::string(coppice::decoded(reading[0].identity, scratch));
}

// The results of a body, each with the number of its call or `-`.
std::string pairs(const Json& whole) {
    const Reading reading(whole);
    std::string out;
    for (std::size_t i = 0; i < reading.size(); ++i) {
        if (reading[i].kind != Kind::result) { continue; }
        const std::size_t peer = reading[i].peer;
        if (peer != none) { CHECK(reading[peer].peer == i); }
        out += peer == none ? "-" : std::to_string(peer);
    }
    return out;
}

// Everything that a policy may clear goes.
constexpr coppice::Pipeline<coppice::KeepRecent<0, Size{200}, 0>, coppice::BulkyInputClear<0, Size{200}>>
    clearing;

// The items behind, when the model has read all of this.
template <class... Items>
Json cleared(Items... items) {
    return pruned(body(user("start"), std::move(items)..., assistant("done")), clearing).after.at("input");
}

bool is_stub(const Json& text) {
    return text.is_string() && text.get<std::string>().substr(0, 22) == "[tool result cleared: ";
}

}  // namespace

TEST_CASE("openai_responses: a conversation becomes entries in its order") {
    const Reading reading(body(user("hi"), reasoning(), assistant("on it"), call("c1"), output("c1", "out"),
                               user("go on"), assistant("done")));
    const std::vector<Kind> kinds = {Kind::user_text, Kind::reasoning, Kind::assistant_text, Kind::call,
                                     Kind::result,    Kind::user_text, Kind::assistant_text};
    CHECK(reading.refused().empty());
    CHECK(reading.transcript().dialect == "openai-responses");
    REQUIRE(reading.size() == kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        CAPTURE(i);
        CHECK(reading[i].kind == kinds[i]);
        CHECK(reading[i].message == i);
        CHECK(reading[i].block == 0);
        CHECK(reading[i].immutable == (kinds[i] != Kind::call && kinds[i] != Kind::result));
    }
}

TEST_CASE("openai_responses: every type of item has its role and its kind") {
    struct Expected {
        std::string type;
        Role role;
        Kind kind;
    };
    const std::vector<Expected> table = {
        {"reasoning", Role::assistant, Kind::reasoning},
        {"function_call", Role::assistant, Kind::call},
        {"custom_tool_call", Role::assistant, Kind::call},
        {"local_shell_call", Role::assistant, Kind::call},
        {"shell_call", Role::assistant, Kind::call},
        {"apply_patch_call", Role::assistant, Kind::call},
        {"computer_call", Role::assistant, Kind::call},
        {"function_call_output", Role::user, Kind::result},
        {"custom_tool_call_output", Role::user, Kind::result},
        {"local_shell_call_output", Role::user, Kind::result},
        {"shell_call_output", Role::user, Kind::result},
        {"apply_patch_call_output", Role::user, Kind::result},
        {"computer_call_output", Role::user, Kind::result},
        {"web_search_call", Role::assistant, Kind::opaque},
        {"file_search_call", Role::assistant, Kind::opaque},
        {"code_interpreter_call", Role::assistant, Kind::opaque},
        {"image_generation_call", Role::assistant, Kind::opaque},
        {"mcp_call", Role::assistant, Kind::opaque},
        {"mcp_approval_request", Role::assistant, Kind::opaque},
        {"tool_search_call", Role::assistant, Kind::opaque},
        {"program", Role::assistant, Kind::opaque},
        {"hologram_call", Role::assistant, Kind::opaque},
        {"mcp_approval_response", Role::user, Kind::opaque},
        {"tool_search_output", Role::user, Kind::opaque},
        {"program_output", Role::user, Kind::opaque},
        {"hologram_call_output", Role::user, Kind::opaque},
        {"compaction", Role::other, Kind::opaque},
        {"compaction_trigger", Role::other, Kind::opaque},
        {"item_reference", Role::other, Kind::opaque},
        {"mcp_list_tools", Role::other, Kind::opaque},
        {"additional_tools", Role::other, Kind::opaque},
        {"hologram", Role::other, Kind::opaque},
        {"_call", Role::other, Kind::opaque},
        {"_output", Role::other, Kind::opaque},
    };
    for (const Expected& expected : table) {
        CAPTURE(expected.type);
        const Reading reading(body(Json{{"type", expected.type}, {"id", "x"}, {"output", "y"}}));
        REQUIRE(reading.size() == 1);
        CHECK(reading.transcript().messages[0].role == expected.role);
        CHECK(reading[0].kind == expected.kind);
        if (expected.kind == Kind::opaque) { CHECK(reading[0].immutable); }
    }
}

TEST_CASE("openai_responses: messages are whose role says so with and without a type") {
    struct Expected {
        std::string role;
        Role as;
        Kind kind;
    };
    const std::vector<Expected> table = {{"user", Role::user, Kind::user_text},
                                         {"assistant", Role::assistant, Kind::assistant_text},
                                         {"system", Role::other, Kind::opaque},
                                         {"developer", Role::other, Kind::opaque},
                                         {"narrator", Role::other, Kind::opaque}};
    for (const Expected& expected : table) {
        for (const Json& content :
             {Json("words"), list(words("words")), Json(nullptr), Json(7), Json::array()}) {
            Json typed = message(expected.role, content);
            Json easy = typed;
            easy.erase("type");
            for (const Json& item : {typed, easy}) {
                const Reading reading(body(item));
                REQUIRE(reading.size() == 1);
                CHECK(reading.transcript().messages[0].role == expected.as);
                CHECK(reading[0].kind == expected.kind);
                CHECK(reading[0].immutable);
            }
        }
    }
}

TEST_CASE("openai_responses: items of every odd shape are opaque") {
    for (const Json& item : {Json(nullptr), Json(42), Json(true), Json("words"), Json::array(),
                             Json::object(), Json{{"type", 7}}, Json{{"content", "no role"}},
                             Json{{"role", 7}, {"content", "x"}}, list(call("c1"))}) {
        const Reading reading(body(item, user("next")));
        CHECK(reading.refused().empty());
        REQUIRE(reading.size() == 2);
        CHECK(reading[0].kind == Kind::opaque);
        CHECK(reading[0].immutable);
        CHECK(reading.transcript().messages[0].role == Role::other);
    }
}

TEST_CASE("openai_responses: a function call has id and tool and the strings of its arguments") {
    Json item = call("c1", "write", Json{{"path", "/a.c"}, {"n", 7}, {"content", "line\n\"two\""}});
    item["namespace"] = "files";
    const Reading reading(body(item, output("c1", "ok")));
    const Entry& entry = reading[0];
    CHECK(entry.id.raw() == "c1");
    CHECK(entry.tool.raw() == "write");
    CHECK(entry.identity.raw() == "/a.c");
    CHECK(entry.path == "/arguments");
    CHECK(entry.packed == item["arguments"].get<std::string>());
    CHECK_FALSE(entry.immutable);
    REQUIRE(entry.field_count == 2);
    CHECK(reading.field(entry, 1).name.raw() == "content");
    CHECK(reading.field(entry, 1).packed);
    CHECK(reading[1].tool.raw() == "write");
    CHECK(reading[1].identity.raw() == "/a.c");
}

TEST_CASE("openai_responses: arguments that hold no object close the call and not its output") {
    for (const Json& arguments : {Json(nullptr), Json(7), Json(""), Json("{"), Json("[1]"), Json("\"text\""),
                                  Json(R"({"a":"1","a":"2"})"), list("a")}) {
        const Reading reading(body(raw_call("c1", "read", arguments), output("c1", "x")));
        REQUIRE(reading.size() == 2);
        CHECK(reading[0].immutable);
        CHECK(reading[0].field_count == 0);
        CHECK(reading[1].peer == 0);
        CHECK_FALSE(reading[1].immutable);
    }
}

TEST_CASE("openai_responses: what built-in tools and custom ones are asked stays as it is") {
    for (const Json& item :
         {custom("c1", "x"), local_shell("ls_1", "c1"), shell("c1"), patch("c1"), computer("c1")}) {
        const Reading reading(body(item));
        REQUIRE(reading.size() == 1);
        CHECK(reading[0].kind == Kind::call);
        CHECK(reading[0].immutable);
        CHECK(reading[0].field_count == 0);
        CHECK(reading[0].id.raw() == "c1");
    }
}

TEST_CASE("openai_responses: items that name no tool are named by their type") {
    const Reading reading(
        body(custom("1", "x"), local_shell("2", "2"), shell("3"), patch("4"), computer("5")));
    const std::vector<std::string> tools = {"apply_patch", "local_shell", "shell", "apply_patch", "computer"};
    REQUIRE(reading.size() == tools.size());
    for (std::size_t i = 0; i < tools.size(); ++i) { CHECK(reading[i].tool.raw() == tools[i]); }
}

TEST_CASE("openai_responses: identity is the path or the command that a call names") {
    CHECK(identity(call("c", "shell", Json{{"command", list("cat", "a.c")}})) == "cat a.c");
    CHECK(identity(call("c", "exec_command", Json{{"cmd", "make"}, {"workdir", "/p"}})) == "make");
    CHECK(identity(custom("c", "*** Begin Patch\n*** Update File: /src/b.c\n@@\n")) == "/src/b.c");
    CHECK(identity(custom("c", "no patch")).empty());
    CHECK(identity(local_shell("i", "c")) == "bash -lc make all");
    CHECK(identity(shell("c")) == "make all; make test");
    CHECK(identity(patch("c")) == "/src/a.c");
    CHECK(identity(computer("c")).empty());
}

TEST_CASE("openai_responses: identity of calls whose members have odd types is empty") {
    for (const Json& odd :
         {Json(nullptr), Json(7), Json::array(), Json::object(), list(nullptr), list(list("x"))}) {
        for (const std::string member : {"action", "operation", "arguments", "input"}) {
            for (Json item : {local_shell("i", "c"), shell("c"), patch("c"), call("c"), custom("c", "x")}) {
                if (!item.contains(member)) { continue; }
                item[member] = odd;
                CHECK(identity(item).empty());
            }
        }
        for (Json item : {local_shell("i", "c"), shell("c")}) {
            const bool local = item["action"].contains("command");
            item["action"][local ? "command" : "commands"] = odd;
            CHECK(identity(item).empty());
        }
    }
}

TEST_CASE("openai_responses: every kind of call is answered by the output of its kind") {
    CHECK(pairs(body(call("c"), output("c", "x"))) == "0");
    CHECK(pairs(body(custom("c", "x"), answer("custom_tool_call_output", "c", "x"))) == "0");
    CHECK(pairs(body(shell("c"), shell_output("c", list(chunk("x", "", exited(0)))))) == "0");
    CHECK(pairs(body(patch("c"), patch_output("c", "completed", "x"))) == "0");
    CHECK(pairs(body(computer("c"), computer_output("c"))) == "0");
    CHECK(pairs(body(local_shell("i", "c"), local_shell_output("i", "x"))) == "0");
}

TEST_CASE("openai_responses: an output of another kind answers nothing") {
    const std::vector<Json> calls = {call("c"),  custom("c", "x"), local_shell("c", "c"),
                                     shell("c"), patch("c"),       computer("c")};
    const std::vector<Json> outputs = {
        output("c", "x"),          answer("custom_tool_call_output", "c", "x"), local_shell_output("c", "x"),
        shell_output("c", list()), patch_output("c", "completed", "x"),         computer_output("c")};
    for (std::size_t i = 0; i < calls.size(); ++i) {
        for (std::size_t j = 0; j < outputs.size(); ++j) {
            CAPTURE(i);
            CAPTURE(j);
            const bool codex = i == 2 && j == 0;
            CHECK(pairs(body(calls[i], outputs[j])) == (i == j || codex ? "0" : "-"));
        }
    }
}

TEST_CASE("openai_responses: one id may stand in calls of several kinds") {
    CHECK(pairs(body(call("c"), custom("c", "x"), shell("c"), shell_output("c", list()), output("c", "x"),
                     answer("custom_tool_call_output", "c", "x"))) == "201");
}

TEST_CASE("openai_responses: a local shell is answered under either id and like a function and once") {
    const Json made = local_shell("i", "c");
    CHECK(pairs(body(made, local_shell_output("c", "x"))) == "0");
    CHECK(pairs(body(made, answer("local_shell_call_output", "c", "x"))) == "0");
    CHECK(pairs(body(made, output("c", "x"))) == "0");
    CHECK(pairs(body(made, output("i", "x"))) == "-");
    CHECK(pairs(body(made, output("c", "x"), local_shell_output("i", "x"), local_shell_output("c", "x"))) ==
          "0--");
    Json older = made;
    older["call_id"] = nullptr;
    CHECK(pairs(body(older, output("i", "x"))) == "0");
    CHECK(pairs(body(older, local_shell_output("i", "x"))) == "0");
    CHECK(Reading(body(older))[0].id.raw() == "i");
    Json both = answer("local_shell_call_output", "other", "x");
    both["id"] = "i";
    CHECK(pairs(body(made, both)) == "0");
}

TEST_CASE("openai_responses: parallel calls are answered in any order and much later") {
    CHECK(pairs(body(call("a"), call("b"), call("c"), output("c", "1"), output("a", "2"),
                     output("b", "3"))) == "201");
    CHECK(pairs(body(call("a"), call("b"), output("b", "1"), assistant("well"), user("wait"), reasoning(),
                     call("d"), output("d", "2"), output("a", "3"))) == "160");
}

TEST_CASE("openai_responses: reasoning between calls and outputs changes no pair") {
    CHECK(pairs(body(reasoning("r1"), call("a"), reasoning("r2"), call("b"), output("a", "1"),
                     output("b", "2"))) == "13");
}

TEST_CASE("openai_responses: an id that is used again in a later turn means the later call") {
    const Json reused = body(call("x", "First"), output("x", "1"), call("x", "Second"), output("x", "2"));
    CHECK(pairs(reused) == "02");
    CHECK(Reading(reused)[3].tool.raw() == "Second");
    CHECK(pairs(body(call("x", "First"), user("no"), call("x", "Second"), output("x", "2"),
                     output("x", "1"))) == "2-");
}

TEST_CASE("openai_responses: parallel calls with one id are answered in order and no oftener") {
    CHECK(pairs(body(call("x"), call("x"), output("x", "1"), output("x", "2"), output("x", "3"))) == "01-");
}

TEST_CASE("openai_responses: an output before its call is not its answer") {
    CHECK(pairs(body(output("x", "early"), call("x"), output("x", "right"))) == "-1");
}

TEST_CASE("openai_responses: without an id nothing is paired") {
    for (const Json& id : {Json(nullptr), Json(7), Json(""), list("c"), Json::object()}) {
        Json nameless = call("c");
        nameless["call_id"] = id;
        Json odd = output("c", "x");
        odd["call_id"] = id;
        CHECK(pairs(body(nameless, odd)) == "-");
        CHECK(pairs(body(call("c"), odd)) == "-");
        CHECK(pairs(body(nameless, output("c", "x"))) == "-");
        Json missing = odd;
        missing.erase("call_id");
        CHECK(pairs(body(nameless, missing)) == "-");
    }
}

TEST_CASE("openai_responses: outputs whose calls the server has stay as they are") {
    for (const std::string key : {"previous_response_id", "conversation"}) {
        Json whole =
            body(output("c0", filler(0, 3000)), call("c1"), output("c1", filler(1, 3000)), assistant("done"));
        whole[key] = "resp_1";
        const Pruned p = pruned(whole, clearing);
        CHECK(p.report.unpaired_results == 1);
        CHECK(p.report.unpaired_calls == 0);
        CHECK(p.after["input"][0] == whole["input"][0]);
        CHECK(is_stub(p.after["input"][2]["output"]));
    }
}

TEST_CASE("openai_responses: everything from the first compaction item on is immutable") {
    for (const std::string type : {"compaction", "compaction_summary"}) {
        const Json compaction = {{"type", type}, {"encrypted_content", std::string(900, 'g')}};
        const Reading reading(body(call("a"), output("a", "1"), compaction, call("b"), output("b", "2"),
                                   compaction, call("c"), output("c", "3")));
        const std::vector<bool> immutable = {false, false, true, true, true, true, true, true};
        REQUIRE(reading.size() == immutable.size());
        for (std::size_t i = 0; i < immutable.size(); ++i) {
            CAPTURE(i);
            CHECK(reading[i].immutable == immutable[i]);
        }
        CHECK(reading[7].peer == 6);
    }
}

TEST_CASE("openai_responses: what a program called and what answers it is immutable") {
    Json made = call("a");
    made["caller"] = {{"type", "program"}, {"caller_id", "p1"}};
    const Reading reading(body(call("b"), made, output("a", "1"), output("b", "2")));
    CHECK_FALSE(reading[0].immutable);
    CHECK(reading[1].immutable);
    CHECK(reading[2].immutable);
    CHECK_FALSE(reading[3].immutable);
    Json answered = output("b", "2");
    answered["caller"] = made["caller"];
    CHECK(Reading(body(call("b"), answered))[1].immutable);
    for (const Json& caller : {Json(nullptr), Json{{"type", "direct"}}}) {
        made["caller"] = caller;
        answered["caller"] = caller;
        const Reading direct(body(made, call("b"), output("a", "1"), answered));
        for (std::size_t i = 0; i < 4; ++i) { CHECK_FALSE(direct[i].immutable); }
    }
}

TEST_CASE("openai_responses: an output is a string or a list of parts") {
    const Reading string = with_output("line\n\"two\"");
    CHECK(string[1].form == Form::string);
    CHECK(string[1].path == "/output");
    CHECK(string.part(string[1]).text.text().raw() == "line\n\"two\"");
    const Reading parts =
        with_output(list(words("abc"), picture(), file(), words("de"), Json{{"type", "hologram"}}));
    const Entry& entry = parts[1];
    const std::vector<Part::Kind> kinds = {Part::Kind::text, Part::Kind::image, Part::Kind::document,
                                           Part::Kind::text, Part::Kind::other};
    CHECK(entry.form == Form::blocks);
    REQUIRE(entry.part_count == kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) { CHECK(parts.part(entry, i).kind == kinds[i]); }
    CHECK(entry.images == 1);
    CHECK(entry.documents == 1);
    CHECK(entry.others == 1);
    CHECK(parts.transcript().serialised(entry).bytes == parts.document()["input"][1]["output"].dump().size());
}

TEST_CASE("openai_responses: a cache mark on a part is found and one deeper is nested") {
    Json marked = words("abc");
    marked["prompt_cache_breakpoint"] = {{"mode", "explicit"}};
    const Reading reading = with_output(list(marked, words("de")));
    CHECK(reading[1].cache_marks == 1);
    CHECK_FALSE(reading[1].nested_cache_mark);
    CHECK(with_output(list(Json{{"type", "hologram"}, {"of", marked}}))[1].nested_cache_mark);
}

TEST_CASE("openai_responses: a part that is encrypted closes the output") {
    CHECK(with_output(list(Json{{"type", "encrypted_content"}, {"encrypted_content", "Z0FB"}}))[1].immutable);
}

TEST_CASE("openai_responses: outputs of every odd shape are read as they are") {
    struct Shape {
        Json content;
        Form form;
        std::size_t parts;
    };
    const std::vector<Shape> shapes = {
        {nullptr, Form::other, 0},
        {42, Form::other, 0},
        {true, Form::other, 0},
        {"", Form::string, 1},
        {Json::array(), Form::blocks, 0},
        {Json::object(), Form::pieces, 0},
        {list("text"), Form::blocks, 1},
        {list(nullptr, 42), Form::blocks, 2},
        {list(Json{{"type", "input_text"}}), Form::blocks, 1},
        {list(Json{{"type", "input_text"}, {"text", 7}}), Form::blocks, 1},
        {list(list(words("nested"))), Form::blocks, 1},
    };
    for (const std::string type :
         {"function_call_output", "custom_tool_call_output", "apply_patch_call_output"}) {
        for (const Shape& shape : shapes) {
            const std::string bytes = shape.content.dump();
            CAPTURE(bytes);
            const Reading reading(body(answer(type, "c1", shape.content)));
            REQUIRE(reading.size() == 1);
            CHECK(reading[0].kind == Kind::result);
            CHECK(reading[0].form == shape.form);
            CHECK(reading[0].part_count == shape.parts);
            CHECK(reading.transcript().serialised(reading[0]).bytes == bytes.size());
        }
        const Reading absent(body(Json{{"type", type}, {"call_id", "c1"}}));
        CHECK(absent[0].form == Form::absent);
    }
}

TEST_CASE("openai_responses: an output that is an object keeps all but its strings") {
    const Reading reading =
        with_output(Json{{"content", "text"}, {"items", list(words("x"))}, {"note", ""}, {"success", true}});
    const Entry& entry = reading[1];
    CHECK(entry.form == Form::pieces);
    CHECK(entry.path == "/output");
    REQUIRE(entry.part_count == 1);
    REQUIRE(entry.field_count == 1);
    CHECK(reading.part(entry).bare);
    CHECK(reading.part(entry).text.text().raw() == "text");
    CHECK(reading.field(entry).name.raw() == "content");
    CHECK_FALSE(reading.field(entry).in_list);
    CHECK_FALSE(entry.error);
    CHECK(with_output(Json{{"content", "text"}, {"success", false}})[1].error);
    CHECK_FALSE(with_output(Json{{"content", "text"}, {"success", nullptr}})[1].error);
}

TEST_CASE("openai_responses: of a shell each stream is a part with its place") {
    const Reading reading(body(
        shell("c"), shell_output("c", list(chunk("one", "", exited(0)), chunk("two", "three", exited(0))))));
    const Entry& entry = reading[1];
    CHECK(entry.form == Form::pieces);
    CHECK(entry.path.empty());
    CHECK(entry.content.where == &reading.document()["input"][1]["output"]);
    REQUIRE(entry.part_count == 3);
    REQUIRE(entry.field_count == 3);
    const std::vector<std::string> streams = {"stdout", "stdout", "stderr"};
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(reading.part(entry, i).bare);
        CHECK(reading.field(entry, i).list.raw() == "output");
        CHECK(reading.field(entry, i).in_list);
        CHECK(reading.field(entry, i).index == (i == 0 ? 0 : 1));
        CHECK(reading.field(entry, i).name.raw() == streams[i]);
    }
    CHECK(reading.part(entry, 2).text.text().raw() == "three");
    CHECK_FALSE(entry.error);
}

TEST_CASE("openai_responses: a shell failed where a command timed out or left a code that is not zero") {
    const auto fails = [](const Json& outcome) {
        const Json ends = list(chunk("a", "", exited(0)), chunk("b", "", outcome), chunk("c", "", exited(0)));
        return Reading(body(shell("c"), shell_output("c", ends)))[1].error;
    };
    CHECK(fails(exited(1)));
    CHECK(fails(exited(-10)));
    CHECK(fails(Json{{"type", "timeout"}}));
    CHECK(fails(Json{{"type", "exit"}, {"exit_code", 0.5}}));
    for (const Json& outcome :
         {exited(0), Json{{"type", "exit"}, {"exit_code", 0.0}},
          Json{{"type", "exit"}, {"exit_code", nullptr}}, Json{{"type", "exit"}, {"exit_code", "1"}},
          Json{{"type", "exit"}}, Json(nullptr), Json(1), list(1)}) {
        CHECK_FALSE(fails(outcome));
    }
}

TEST_CASE("openai_responses: a shell output that is no list of chunks stays as it is") {
    for (const Json& odd :
         {Json(nullptr), Json(7), Json(filler(0, 3000)), Json{{"stdout", filler(0, 3000)}}}) {
        const Reading reading(body(shell("c"), shell_output("c", odd)));
        CHECK(reading[1].immutable);
        CHECK(reading[1].part_count == 0);
    }
    const Reading odd_chunks(
        body(shell("c"), shell_output("c", list(nullptr, 7, "x", list("y"), Json::object(),
                                                Json{{"stdout", 7}, {"stderr", list("z")}}))));
    CHECK(odd_chunks[1].part_count == 0);
    CHECK_FALSE(odd_chunks[1].error);
}

TEST_CASE("openai_responses: a status of failed is an error and an output says itself that it is one") {
    CHECK(Reading(body(patch_output("c", "failed", "x")))[0].error);
    CHECK_FALSE(Reading(body(patch_output("c", "completed", "x")))[0].error);
    CHECK_FALSE(Reading(body(patch_output("c", "completed", "Error: no")))[0].error);
    Json local = local_shell_output("i", "x");
    CHECK_FALSE(Reading(body(local))[0].error);
    local["status"] = "failed";
    CHECK(Reading(body(local))[0].error);
    for (const std::string type :
         {"function_call_output", "custom_tool_call_output", "local_shell_call_output"}) {
        CHECK(Reading(body(answer(type, "c", "Error: no such file"))).failed(0));
        CHECK(Reading(body(answer(type, "c", list(words("Error: no such file"))))).failed(0));
        CHECK(Reading(body(answer(type, "c", Json{{"content", "Exit code: 1\nx"}}))).failed(0));
        CHECK_FALSE(Reading(body(answer(type, "c", "errors: 0"))).failed(0));
    }
}

TEST_CASE("openai_responses: steps count the turns of the model and user turns what the user said") {
    const Reading reading(body(user("a"), user("b"), reasoning(), call("1"), call("2"), output("1", "x"),
                               output("2", "y"), reasoning(), call("3"), output("3", "z"), user("c"),
                               assistant("d")));
    const std::vector<std::size_t> steps = {0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2};
    const std::vector<std::size_t> turns = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2};
    REQUIRE(reading.size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        CAPTURE(i);
        CHECK(reading[i].step == steps[i]);
        CHECK(reading[i].user_turn == turns[i]);
    }
}

TEST_CASE("openai_responses: outputs behind the last item of the model are unread") {
    const Json old = output("a", filler(0, 3000));
    const Json newest = output("b", filler(1, 3000));
    const Json whole = body(call("a"), old, reasoning(), call("b"), newest, message("developer", "rule"));
    const Pruned p = pruned(whole, clearing);
    CHECK(is_stub(p.after["input"][1]["output"]));
    CHECK(p.after["input"][4] == newest);
}

TEST_CASE("openai_responses: the members of an item may come in any order") {
    const Json late_call = {
        {"arguments", R"({"path":"/a"})"}, {"name", "read"}, {"call_id", "c"}, {"type", "function_call"}};
    const Json late_output = {{"output", "abc"}, {"call_id", "c"}, {"type", "function_call_output"}};
    const Reading reading(body(late_call, late_output));
    REQUIRE(reading.size() == 2);
    CHECK(reading[1].peer == 0);
    CHECK(reading[1].tool.raw() == "read");
    CHECK(reading[1].identity.raw() == "/a");
}

TEST_CASE("openai_responses: the body until each item is what that request had weighed") {
    const Json whole = body(user("hi \xC3\xA9"), call("a", "A", Json{{"path", "/\xF0\x9F\x98\x80"}}),
                            output("a", list(words("x\n"), picture())), assistant("done"));
    const Reading reading(whole);
    for (std::size_t count = 0; count <= whole["input"].size(); ++count) {
        Json until = whole;
        until["input"] = Json::array();
        for (std::size_t i = 0; i < count; ++i) { until["input"].push_back(whole["input"][i]); }
        CHECK(reading.transcript().body_until(count) ==
              coppice::measure(std::string_view(until.dump())).plain);
    }
    CHECK(Reading(whole["input"]).transcript().body().bytes == whole["input"].dump().size());
}

TEST_CASE("openai_responses: an input that is a string is no history and the report says so") {
    Json whole = {{"model", "m"}, {"input", std::string(9000, 'x')}};
    CHECK(Reading(whole).refused() == "an input of words alone, without a history");
    CHECK(pruned(whole, clearing).report.why == "an input of words alone, without a history");
    CHECK(coppice::prune(whole, clearing, coppice::Dialect::openai_responses).why ==
          "an input of words alone, without a history");
}

TEST_CASE("openai_responses: what holds no list of items is refused") {
    for (const Json& odd : {Json(nullptr), Json(42), Json("input"), Json::object(), Json{{"input", nullptr}},
                            Json{{"input", Json::object()}}, Json{{"messages", list(user("x"))}}}) {
        CHECK(Reading(odd).refused() == "no list of items");
        CHECK(Reading(odd).transcript().dialect.empty());
    }
    CHECK(Reading(body()).refused().empty());
}

namespace {

// Which of the entries of two pairs may not be edited, a letter each: `-` may, `x` may not.
std::string immutable(const std::vector<Json>& items) {
    Json whole = body();
    for (const Json& item : items) { whole["input"].push_back(item); }
    const Repeating reading(whole);
    std::string out;
    for (std::size_t i = 0; i < reading.size(); ++i) { out += reading[i].immutable ? 'x' : '-'; }
    return out;
}

}  // namespace

TEST_CASE("openai_responses: what holds two members of one name stays as it is") {
    const std::vector<Json> items = {call("a"), output("a", list(words("one"))), call("b"),
                                     output("b", Json{{"content", "two"}})};
    CHECK(immutable(items) == "----");
    for (std::size_t i = 0; i < items.size(); ++i) {
        std::vector<Json> repeating = items;
        repeating[i] = twice(repeating[i]);
        std::string expected = "----";
        expected[i] = 'x';
        CHECK(immutable(repeating) == expected);
    }
    for (const std::size_t i : {std::size_t{1}, std::size_t{3}}) {
        std::vector<Json> repeating = items;
        Json& content = repeating[i]["output"];
        (content.is_array() ? content[0] : content)["twice"] = 1;
        std::string expected = "----";
        expected[i] = 'x';
        CHECK(immutable(repeating) == expected);
    }
    CHECK(immutable({shell("c"), shell_output("c", list(twice(chunk("x", "", exited(0)))))}) == "xx");
    CHECK(Repeating(twice(body(call("a")))).refused() == "a key of the body stands there twice");
}

TEST_CASE("openai_responses: a cleared output keeps its kind") {
    const Json items =
        cleared(call("a", "read", Json{{"path", "/a.c"}}), output("a", filler(0, 3000)),
                custom("b", "*** Begin Patch\n*** Add File: b.c\n"),
                answer("custom_tool_call_output", "b", list(words(filler(1, 3000)), words("end"))));
    CHECK(items[2] == output("a", "[tool result cleared: 3000 characters; read /a.c]"));
    CHECK(items[4] == answer("custom_tool_call_output", "b",
                             list(words("[tool result cleared: 3003 characters; apply_patch b.c]"))));
}

TEST_CASE("openai_responses: a cache mark goes along with the text that takes its place") {
    Json marked = words(filler(0, 3000));
    marked["prompt_cache_breakpoint"] = {{"mode", "explicit"}};
    const Json items = cleared(call("a"), output("a", list(words(filler(1, 900)), marked)));
    const Json& parts = items[2]["output"];
    REQUIRE(parts.size() == 1);
    CHECK(is_stub(parts[0]["text"]));
    CHECK(parts[0]["prompt_cache_breakpoint"] == marked["prompt_cache_breakpoint"]);
}

TEST_CASE("openai_responses: an image of an output becomes a text in its place") {
    const Json items = cleared(call("a", "view"), output("a", list(words("seen"), picture(), file())));
    CHECK(items[2]["output"][0]["type"] == "input_text");
    const Json looked = cleared(call("a", "view"), output("a", list(words("seen"), picture())));
    CHECK(looked[2]["output"] == list(words("seen"), words("[image cleared: view]")));
}

TEST_CASE("openai_responses: a shell keeps its chunks and outcomes and loses the text of its streams") {
    const Json chunks = list(chunk(filler(0, 3000), "", exited(0)), chunk("ok", filler(1, 3000), exited(2)),
                             chunk("", "", Json{{"type", "timeout"}}));
    const Pruned p = pruned(body(shell("c"), shell_output("c", chunks), assistant("done")), clearing);
    const Json& item = p.after["input"][1];
    CHECK(item["max_output_length"] == 4096);
    REQUIRE(item["output"].size() == 3);
    for (std::size_t i = 0; i < 3; ++i) { CHECK(item["output"][i]["outcome"] == chunks[i]["outcome"]); }
    CHECK(is_stub(item["output"][0]["stdout"]));
    CHECK(item["output"][0]["stderr"] == "");
    CHECK(item["output"][1]["stdout"] == "ok");
    CHECK(is_stub(item["output"][1]["stderr"]));
    // each says how its own command went and what its own lines were
    CHECK(item["output"][0]["stdout"] == "[tool result cleared: 3000 characters, ok; shell make all; make test]");
    CHECK(support::text_of(item["output"][1]["stderr"])
              .find("failed; shell make all; make test; first line: 1: ") != std::string::npos);
    CHECK(item["output"][2] == chunks[2]);
    REQUIRE(p.report.edits.size() == 2);
    CHECK(p.report.edits[0].message == 1);
    CHECK(p.report.edits[0].block == 0);
    CHECK(p.report.edits[0].path == "/output/0/stdout");
    CHECK(p.report.edits[1].path == "/output/1/stderr");
}

TEST_CASE("openai_responses: a patch keeps its status and a local shell its id") {
    const Json items = cleared(patch("p"), patch_output("p", "failed", filler(0, 3000)),
                               local_shell("i", "c"), local_shell_output("i", filler(1, 3000)));
    CHECK(items[1] == patch("p"));
    CHECK(items[2]["status"] == "failed");
    CHECK(items[2]["output"].get<std::string>().find(", failed; apply_patch /src/a.c; first line: 0: ") !=
          std::string::npos);
    CHECK(items[4]["id"] == "i");
    CHECK(is_stub(items[4]["output"]));
}

TEST_CASE("openai_responses: a patch without an output or with null stays as it is") {
    Json bare = patch_output("p", "completed", nullptr);
    CHECK(cleared(patch("p"), bare)[2] == bare);
    bare.erase("output");
    CHECK(cleared(patch("p"), bare)[2] == bare);
}

TEST_CASE("openai_responses: an output that is an object keeps its flag and loses its text") {
    const Json whole = body(call("a"), output("a", Json{{"content", filler(0, 3000)}, {"success", false}}),
                            assistant("done"));
    const Pruned p = support::pruned_once(whole, clearing);
    const Json& left = p.after["input"][1]["output"];
    CHECK(left["success"] == false);
    CHECK(is_stub(left["content"]));
    CHECK(left["content"].get<std::string>().find(", failed; read") != std::string::npos);
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].path == "/output/content");
    support::check_wire_laws(whole.dump(), p.after.dump(), p.report, clearing);
}

TEST_CASE("openai_responses: the text in arguments goes and every other byte of them stays") {
    const std::string arguments = "{ \"path\": \"/a.c\",\n \"n\": 1.0,  \"content\": \"" +
                                  std::string(900, 'x') + "\\n\", \"big\": 1e400 }";
    const Pruned p =
        pruned(body(raw_call("a", "write", arguments), output("a", "ok"), assistant("done")), clearing);
    CHECK(p.after["input"][0]["arguments"] ==
          "{ \"path\": \"/a.c\",\n \"n\": 1.0,  \"content\": \"[tool input cleared: 901 characters; "
          "content]\", "
          "\"big\": 1e400 }");
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].path == "/arguments#/content");
}

TEST_CASE("openai_responses: reasoning and the items around it stay in their places") {
    const Json items = cleared(reasoning("r1"), call("a", "w", Json{{"content", filler(0, 900)}}),
                               output("a", "ok"), reasoning("r2"), call("b"), output("b", filler(1, 3000)));
    CHECK(items[1] == reasoning("r1"));
    CHECK(items[4] == reasoning("r2"));
    CHECK(items[2]["arguments"] == R"({"content":"[tool input cleared: 900 characters; content]"})");
    CHECK(items[5] == call("b"));
    CHECK(is_stub(items[6]["output"]));
}

TEST_CASE("openai_responses: what nothing may replace is not replaced") {
    const std::string bulk = filler(0, 3000);
    const std::vector<Json> opaque = {
        computer_output("c"),
        custom("x", bulk),
        {{"type", "mcp_approval_request"},
         {"id", "a1"},
         {"name", "n"},
         {"server_label", "s"},
         {"arguments", bulk}},
        {{"type", "mcp_approval_response"},
         {"approval_request_id", "a1"},
         {"approve", true},
         {"reason", bulk}},
        {{"type", "mcp_call"},
         {"id", "m1"},
         {"name", "n"},
         {"server_label", "s"},
         {"arguments", "{}"},
         {"output", bulk}},
        {{"type", "web_search_call"}, {"id", "w1"}, {"action", {{"type", "search"}, {"query", bulk}}}},
        {{"type", "file_search_call"},
         {"id", "f1"},
         {"queries", list("q")},
         {"results", list(Json{{"text", bulk}})}},
        {{"type", "code_interpreter_call"},
         {"id", "i1"},
         {"code", bulk},
         {"outputs", list(Json{{"logs", bulk}})}},
        {{"type", "image_generation_call"}, {"id", "g1"}, {"result", bulk}},
        {{"type", "tool_search_call"}, {"call_id", "t1"}, {"arguments", {{"query", bulk}}}},
        {{"type", "tool_search_output"}, {"call_id", "t1"}, {"tools", list(Json{{"name", bulk}})}},
        {{"type", "item_reference"}, {"id", "msg_1"}},
        {{"type", "program"}, {"id", "p1"}, {"code", bulk}, {"fingerprint", bulk}},
        {{"type", "program_output"}, {"call_id", "p1"}, {"output", bulk}},
        {{"type", "hologram_call"}, {"call_id", "h1"}, {"arguments", bulk}},
        {{"type", "hologram_call_output"}, {"call_id", "h1"}, {"output", bulk}},
        user(bulk),
        assistant(bulk),
        message("developer", bulk),
    };
    Json whole = body(computer("c"));
    for (const Json& item : opaque) { whole["input"].push_back(item); }
    whole["input"].push_back(assistant("done"));
    const Pruned p = pruned(whole, clearing);
    CHECK(p.unchanged());
    CHECK(p.report.dialect == "openai-responses");
}

TEST_CASE("openai_responses: a bare list of items is a body") {
    const Json items = list(call("a"), output("a", filler(0, 3000)), assistant("done"));
    CHECK(is_stub(pruned(items, clearing).after[1]["output"]));
    const Json easy =
        list(custom("a", "x"), answer("custom_tool_call_output", "a", filler(0, 3000)), assistant("done"));
    CHECK(is_stub(pruned(easy, clearing).after[1]["output"]));
}

TEST_CASE("openai_responses: names that are spelled with escapes are read in bytes") {
    const std::string text =
        R"({"input":[{"\u0074ype":"function\u005fcall","call_id":"\u0063","name":"re\u0061d",)"
        R"("arguments":"{\u0022path\u0022:\"\/a\"}"},{"type":"function_call_outpu\u0074",)"
        R"("call_id":"c","outp\u0075t":")" +
        filler(0, 50) + std::string(900, 'x') +
        R"("},{"type":"message","role":"assis\u0074ant","content":[]}]})";
    const support::PrunedText out = support::pruned_text(text, clearing);
    REQUIRE(out.report.edits.size() == 1);
    CHECK(out.report.edits[0].replacement == "[tool result cleared: 950 characters; read /a]");
    CHECK(out.report.unpaired_results == 0);
}

TEST_CASE("openai_responses: whatever type a node has both back ends agree and nothing gets less valid") {
    const Json whole = body(
        user("hi"), reasoning(), call("a", "w", Json{{"content", filler(0, 400)}}), local_shell("i", "l"),
        shell("s"), output("a", list(words(filler(1, 400)), picture('B'))),
        local_shell_output("i", filler(2, 400)),
        shell_output("s", list(chunk(filler(3, 400), "e", exited(1)))), patch("p"), custom("x", "y"),
        patch_output("p", "failed", filler(4, 400)), answer("custom_tool_call_output", "x", filler(5, 400)),
        computer("c"), computer_output("c"), assistant("done"));
    std::size_t engaged = 0;
    spoiled_nodes::for_each_spoiled(whole, [&](const Json& spoiled, const Json::json_pointer& place) {
        CAPTURE(place.to_string());
        const Pruned p = support::pruned_once(spoiled, clearing);
        const auto found = openai_responses_validator::new_violations(p.before, p.after);
        for (const std::string& violation : found) {
            // a part of an unknown type goes along with its output
            const bool part = violation.find(" (part)") != std::string::npos;
            CHECK_MESSAGE(part, violation);
        }
        support::check_wire_laws(spoiled.dump(), p.after.dump(), p.report, clearing);
        engaged += p.report.engaged;
    });
    CHECK(engaged > 300);
}

TEST_CASE("openai_responses: deep nesting in every member is read") {
    for (const std::string member : {"output", "call_id", "type", "status", "caller"}) {
        Json item = output("a", "x");
        item[member] = support::nested(20'000);
        Json whole = body();
        whole["input"].push_back(call("a"));
        whole["input"].push_back(std::move(item));
        coppice::Report report = coppice::prune(whole, clearing);
        CHECK(report.dialect == "openai-responses");
    }
}

TEST_CASE("openai_responses: scratch left by another body changes nothing") {
    coppice::detail::ReaderScratch scratch;
    const coppice::detail::DomSource<Json> source;
    using Cursor = coppice::detail::DomCursor<Json>;
    const Json unanswered = body(call("a"), custom("b", "x"));
    const Json answers = body(output("a", "x"), answer("custom_tool_call_output", "b", "y"));
    for (const Json* document : {&unanswered, &answers}) {
        Transcript transcript;
        transcript.source = &source;
        coppice::OpenAiResponsesReader<Cursor> reader(transcript, scratch);
        CHECK(reader.read(Cursor(*document), false).empty());
        for (const Entry& entry : transcript.all()) { CHECK(entry.peer == none); }
    }
    // and for a dialect whose results have to come at once
    Transcript transcript;
    transcript.source = &source;
    coppice::AnthropicReader<Cursor> reader(transcript, scratch);
    const Json late = list(support::call("a", "A"), support::user("wait"), support::assistant("well"),
                           support::result("a", "late"));
    CHECK(reader.read(Cursor(late), true).empty());
    for (const Entry& entry : transcript.all()) { CHECK(entry.peer == none); }
}
