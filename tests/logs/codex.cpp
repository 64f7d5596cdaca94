// SPDX-License-Identifier: MIT
#include <coppice/logs/codex.hpp>

#include <coppice/cadences/every_request.hpp>
#include <coppice/dom.hpp>
#include <coppice/preset.hpp>

#include "../support/log_text.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;
using coppice::SessionLog;
using support::has_note;
using support::log_text;
using Lines = std::vector<std::size_t>;

Json line(const std::string& type, Json payload) {
    Json out = {{"timestamp", "2026-01-01T00:00:00.000Z"}, {"type", type}};
    out["payload"] = std::move(payload);
    return out;
}

Json meta() { return line("session_meta", {{"id", "t1"}, {"cwd", "/p"}, {"originator", "codex"}}); }

Json words(const std::string& role, const std::string& text) {
    Json content = Json::array();
    content.push_back({{"type", role == "assistant" ? "output_text" : "input_text"}, {"text", text}});
    Json item = {{"type", "message"}, {"role", role}};
    item["content"] = std::move(content);
    return item;
}

Json call(const std::string& id, const std::string& arguments = "{}") {
    return {{"type", "function_call"}, {"name", "exec_command"}, {"arguments", arguments}, {"call_id", id}};
}

Json output(const std::string& id, Json text) {
    Json item = {{"type", "function_call_output"}, {"call_id", id}};
    item["output"] = std::move(text);
    return item;
}

Json item(Json payload) { return line("response_item", std::move(payload)); }

Json rolled_back(Json turns) {
    Json payload = {{"type", "thread_rolled_back"}};
    payload["num_turns"] = std::move(turns);
    return line("event_msg", std::move(payload));
}

SessionLog read(const std::vector<Json>& lines) { return coppice::read_codex_log(log_text(lines)); }

const Json& input(const SessionLog& log) { return log.body.at("input"); }

std::string shown(const SessionLog& log) {
    std::string out;
    for (const Json& item : input(log)) {
        out += out.empty() ? "" : " | ";
        out += item.at("type") == "message"         ? item.at("content").at(0).at("text").get<std::string>()
               : item.at("type") == "function_call" ? "+" + item.at("call_id").get<std::string>()
                                                    : ">" + item.value("call_id", "?");
    }
    return out;
}

TEST_CASE("codex: the items become a request in their order") {
    const std::vector<Json> items = {
        words("developer", "be terse"),
        words("user", "fix"),
        Json{{"type", "reasoning"}, {"id", "rs"}, {"summary", Json::array()}, {"encrypted_content", "Z0FB"}},
        call("c1", R"({"cmd":"cat a.c"})"),
        output("c1", "int main(){}"),
        words("assistant", "done")};
    std::vector<Json> lines = {meta()};
    for (const Json& each : items) { lines.push_back(item(each)); }
    const SessionLog log = read(lines);
    CHECK(log.format == coppice::LogFormat::codex);
    CHECK(log.dialect == coppice::Dialect::openai_responses);
    CHECK(log.body.size() == 1);
    CHECK(input(log) == Json(items));
    CHECK(log.lines == Lines{2, 3, 4, 5, 6, 7});
    CHECK(log.notes.empty());
}

TEST_CASE("codex: what stands beside the payload is ignored") {
    Json marked = item(words("assistant", "hi"));
    marked["metadata"] = {{"delivered", true}};
    marked["ordinal"] = 7;
    CHECK(input(read({marked})) == Json::array({words("assistant", "hi")}));
}

TEST_CASE("codex: outputs keep their kind") {
    const Json parts = Json::array({{{"type", "input_text"}, {"text", "a"}}});
    const Json object = {{"content", "a"}, {"success", true}};
    const SessionLog log =
        read({item(output("c1", parts)), item(output("c2", object)), item(output("c3", "a"))});
    CHECK(input(log)[0]["output"] == parts);
    CHECK(input(log)[1]["output"] == object);
    CHECK(input(log)[2]["output"] == "a");
}

TEST_CASE("codex: what the harness says in the role of the user was sent") {
    CHECK(shown(read({item(words("user", "<environment_context>x")), item(words("user", "go"))})) ==
          "<environment_context>x | go");
}

TEST_CASE("codex: events and other lines are left out and counted") {
    const SessionLog log =
        read({meta(), line("event_msg", {{"type", "exec_command_end"}, {"call_id", "c1"}}),
              line("turn_context", {{"cwd", "/p"}}), item(words("user", "go")),
              line("event_msg", {{"type", "token_count"}}), line("never_seen", Json::object()),
              item({{"type", "ghost_snapshot"}}), line("world_state", Json::object()),
              line("response_item", 7), Json{{"type", "response_item"}}});
    CHECK(shown(log) == "go");
    CHECK(log.lines == Lines{4});
    CHECK(has_note(log, "line 2 and 1 more: left out, of type event_msg"));
    CHECK(has_note(log, "line 3: left out, of type turn_context"));
    CHECK(has_note(log, "line 6: left out, of no known type"));
    CHECK(has_note(log, "line 7: left out, no item for the model"));
    CHECK(has_note(log, "line 8: left out, of type world_state"));
    CHECK(has_note(log, "line 9 and 1 more: left out, without a payload"));
    CHECK(log.notes.size() == 6);
}

TEST_CASE("codex: a compaction replaces the history before it") {
    const Json history =
        Json::array({words("user", "fix"), Json{{"type", "compaction"}, {"encrypted_content", "x"}}});
    const SessionLog log =
        read({meta(), item(words("user", "fix")), item(call("c1")), item(output("c1", "x")),
              line("compacted", {{"message", ""}, {"replacement_history", history}}),
              item(words("user", "go on"))});
    CHECK(input(log) == Json::array({history[0], history[1], words("user", "go on")}));
    CHECK(log.lines == Lines{5, 5, 6});
    CHECK(has_note(log, "line 5: replaces the history before it"));
}

TEST_CASE("codex: an empty replacement leaves nothing") {
    CHECK(shown(read({item(words("user", "old")),
                      line("compacted", {{"message", ""}, {"replacement_history", Json::array()}}),
                      item(words("user", "new"))})) == "new");
}

TEST_CASE("codex: an early compaction keeps what the user said and a summary") {
    const SessionLog log =
        read({item(words("user", "# AGENTS.md instructions for /p")), item(words("user", "one")),
              item(words("assistant", "answer")), item(words("user", "two")), item(call("c1")),
              line("compacted", {{"message", "summary"}}), item(words("user", "three"))});
    CHECK(shown(log) == "one | two | summary | three");
    CHECK(log.lines == Lines{2, 4, 6, 7});
    CHECK(input(log)[2]["role"] == "user");
    CHECK(has_note(log, "line 6: replaces the history before it by what the user said and a summary"));
}

TEST_CASE("codex: of several early compactions the last summary counts") {
    const Json early = line("compacted", {{"message", "summary"}});
    const std::vector<Json> lines = {
        item(words("developer", "d")), item(words("user", "one")), early,
        item(words("assistant", "1")), item(words("user", "two")), line("compacted", {{"message", "second"}}),
        item(words("user", "three"))};
    CHECK(shown(read(lines)) == "one | two | second | three");
    CHECK(read(lines).lines == Lines{2, 5, 6, 7});
    const auto after = [&](std::vector<Json> more) {
        more.insert(more.begin(), lines.begin(), lines.end());
        return shown(read(more));
    };
    CHECK(after({rolled_back(1)}) == "one | two | second");
    CHECK(after({rolled_back(2)}) == "one | two");
    CHECK(after({rolled_back(3), item(words("user", "other")), early}) == "one | other | summary");
    CHECK(after({line("compacted", {{"message", ""}})}) == "one | two | three");
    CHECK(after({line("compacted", {{"replacement_history", Json::array({words("user", "new")})}}),
                 item(words("user", "next")), early}) == "new | next | summary");
}

TEST_CASE("codex: turns that were rolled back are gone") {
    const std::vector<Json> lines = {item(words("developer", "be terse")),
                                     item(words("user", "<environment_context>")),
                                     item(words("user", "one")),
                                     item(words("assistant", "1")),
                                     item(words("user", "two")),
                                     item(call("c1")),
                                     item(output("c1", "x")),
                                     item(words("user", "three"))};
    const auto after = [&](Json turns) {
        std::vector<Json> more = lines;
        more.push_back(rolled_back(std::move(turns)));
        more.push_back(item(words("user", "next")));
        return shown(read(more));
    };
    const std::string start = "be terse | <environment_context>";
    CHECK(after(0) == start + " | one | 1 | two | +c1 | >c1 | three | next");
    CHECK(after(1) == start + " | one | 1 | two | +c1 | >c1 | next");
    CHECK(after(2) == start + " | one | 1 | next");
    CHECK(after(3) == start + " | next");
    CHECK(after(18446744073709551615U) == start + " | next");
    CHECK(after(-1) == after(0));
    CHECK(after("1") == after(0));
    CHECK(after(nullptr) == after(0));
}

TEST_CASE("codex: turns are taken back one after the other") {
    const SessionLog log = read({item(words("user", "one")), item(words("user", "two")), rolled_back(1),
                                 item(words("user", "three")), rolled_back(2), item(words("user", "four"))});
    CHECK(shown(log) == "four");
    CHECK(log.lines == Lines{6});
    CHECK(has_note(log, "line 3 and 1 more: takes turns of the user back"));
}

TEST_CASE("codex: a torn last line is left out with a note") {
    const SessionLog log =
        coppice::read_codex_log(log_text({item(words("user", "go"))}) + R"({"type":"response_it)");
    CHECK(shown(log) == "go");
    CHECK(has_note(log, "line 2: left out, torn: the log ends in it"));
}

TEST_CASE("codex: calls and results of a log are planned for") {
    std::vector<Json> lines = {meta(), item(words("user", "go"))};
    for (int i = 0; i < 20; ++i) {
        const std::string n = std::to_string(i);
        lines.push_back(item(call("a" + n, R"({"cmd":"cat )" + n + R"("})")));
        lines.push_back(item(call("b" + n, R"({"cmd":"ls )" + n + R"("})")));
        lines.push_back(item(output("b" + n, n + std::string(3000, 'b'))));
        lines.push_back(item(output("a" + n, n + std::string(3000, 'a'))));
    }
    const SessionLog log = read(lines);
    const coppice::Report report =
        coppice::plan(log.body, coppice::presets::standard(coppice::EveryRequest<>{}), log.dialect);
    CHECK(report.why.empty());
    CHECK(report.unpaired_calls == 0);
    CHECK(report.unpaired_results == 0);
    REQUIRE(report.edits.size() > 20);
    CHECK(report.edits.front().tool == "exec_command");
    CHECK(log.lines[report.edits.front().message] == 5);
}

TEST_CASE("codex: no text makes it fail") {
    std::string all;
    for (const std::string& line : support::hostile_lines()) {
        const SessionLog alone = coppice::read_codex_log(line);
        CHECK(alone.lines.size() == input(alone).size());
        all += line + "\n";
    }
    const SessionLog log = coppice::read_codex_log(all + log_text({item(words("user", "go"))}));
    CHECK(log.lines.size() == input(log).size());
    REQUIRE(!input(log).empty());
    const coppice::Report report =
        coppice::plan(log.body, coppice::presets::standard(coppice::EveryRequest<>{}), log.dialect);
    CHECK(report.dialect == "openai-responses");
    CHECK(input(coppice::read_codex_log("")).empty());
}

TEST_CASE("codex: a hundred thousand lines take no more than their share") {
    std::string text;
    const std::string one = item(words("user", "go")).dump() + "\n";
    const std::string early = line("compacted", {{"message", "s"}}).dump() + "\n";
    const std::string back = rolled_back(2).dump() + "\n";
    for (int i = 0; i < 25'000; ++i) { text += one + one + one + back; }
    CHECK(input(coppice::read_codex_log(text)).size() == 25'000);
    for (int i = 0; i < 25'000; ++i) { text += early; }
    CHECK(input(coppice::read_codex_log(text)).size() == 25'001);
}

}  // namespace
