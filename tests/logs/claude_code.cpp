// SPDX-License-Identifier: MIT
#include <coppice/logs/claude_code.hpp>

#include <coppice/cadences/every_request.hpp>
#include <coppice/dom.hpp>
#include <coppice/preset.hpp>

#include "../support/builders.hpp"
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
using support::call_block;
using support::has_note;
using support::list;
using support::log_text;
using support::result_block;
using support::text;
using Lines = std::vector<std::size_t>;

Json linked(Json line, const std::string& uuid, const std::string& parent) {
    if (!uuid.empty()) {
        line["uuid"] = uuid;
        line["parentUuid"] = parent.empty() ? Json() : Json(parent);
    }
    return line;
}

Json user_line(const std::string& uuid, const std::string& parent, Json content) {
    Json line = {{"type", "user"}, {"isSidechain", false}};
    line["message"] = support::message("user", std::move(content));
    return linked(std::move(line), uuid, parent);
}

Json assistant_line(const std::string& uuid, const std::string& parent, const std::string& message,
                    Json content) {
    Json line = {{"type", "assistant"}, {"isSidechain", false}, {"requestId", "req_" + message}};
    line["message"] = {{"id", message}, {"role", "assistant"}};
    line["message"]["content"] = std::move(content);
    return linked(std::move(line), uuid, parent);
}

Json boundary_line(const std::string& uuid, const std::string& logical_parent = "") {
    Json line = {{"type", "system"}, {"subtype", "compact_boundary"}, {"logicalParentUuid", logical_parent}};
    return linked(std::move(line), uuid, "");
}

Json with(Json line, const std::string& key, Json value = true) {
    line[key] = std::move(value);
    return line;
}

SessionLog read(const std::vector<Json>& lines) { return coppice::read_claude_code_log(log_text(lines)); }

const Json& messages(const SessionLog& log) { return log.body.at("messages"); }

// The texts of a body in their order, results with an arrow before their id.
std::string shown(const SessionLog& log) {
    std::string out;
    for (const Json& message : messages(log)) {
        if (!out.empty()) { out += " | "; }
        out += message.at("role") == "user" ? "U:" : "A:";
        const Json& content = message.at("content");
        if (content.is_string()) {
            out += " " + content.get<std::string>();
            continue;
        }
        for (const Json& block : content) {
            out +=
                " " + (block.at("type") == "text"       ? block.at("text").get<std::string>()
                       : block.at("type") == "tool_use" ? "+" + block.at("id").get<std::string>()
                                                        : ">" + block.at("tool_use_id").get<std::string>());
        }
    }
    return out;
}

TEST_CASE("claude_code: a conversation becomes a request") {
    const SessionLog log =
        read({user_line("u1", "", "open a.c"), assistant_line("a1", "u1", "m1", list(text("yes"))),
              user_line("u2", "a1", list(text("thanks")))});
    CHECK(log.format == coppice::LogFormat::claude_code);
    CHECK(log.dialect == coppice::Dialect::anthropic);
    const Json expected = Json::parse(R"({"messages":[{"role":"user","content":"open a.c"},)"
                                      R"({"role":"assistant","content":[{"type":"text","text":"yes"}]},)"
                                      R"({"role":"user","content":[{"type":"text","text":"thanks"}]}]})");
    CHECK(log.body == expected);
    CHECK(log.lines == Lines{1, 2, 3});
    CHECK(log.notes.empty());
}

TEST_CASE("claude_code: lines of one response become one message") {
    const SessionLog log =
        read({user_line("u1", "", "go"), assistant_line("a1", "u1", "m1", list(support::thinking())),
              assistant_line("a2", "a1", "m1", list(text("reading"))),
              assistant_line("a3", "a2", "m1", list(call_block("c1", "Read"))),
              user_line("u2", "a3", list(result_block("c1", "text"))),
              assistant_line("a4", "u2", "m2", list(text("done")))});
    REQUIRE(messages(log).size() == 4);
    CHECK(messages(log)[1]["content"] ==
          list(support::thinking(), text("reading"), call_block("c1", "Read")));
    CHECK(messages(log)[3]["content"] == list(text("done")));
    CHECK(log.lines == Lines{1, 2, 5, 6});
}

TEST_CASE("claude_code: responses of different requests stay apart") {
    Json second = assistant_line("a2", "a1", "m1", list(text("two")));
    second["requestId"] = "another";
    CHECK(shown(read({user_line("u1", "", "go"), assistant_line("a1", "u1", "m1", list(text("one"))),
                      second})) == "U: go | A: one | A: two");
    // without an id, nothing says that they are one
    CHECK(shown(read({user_line("u1", "", "go"), assistant_line("a1", "u1", "", list(text("one"))),
                      assistant_line("a2", "a1", "", list(text("two")))})) == "U: go | A: one | A: two");
}

TEST_CASE("claude_code: results between the lines of one response come behind it") {
    const SessionLog log =
        read({user_line("u1", "", "go"), assistant_line("a1", "u1", "m1", list(call_block("c1", "X"))),
              user_line("r1", "a1", list(result_block("c1", "1"))),
              assistant_line("a2", "r1", "m1", list(call_block("c2", "X"))),
              user_line("r2", "a2", list(result_block("c2", "2")))});
    CHECK(shown(log) == "U: go | A: +c1 +c2 | U: >c1 >c2");
    CHECK(log.lines == Lines{1, 2, 3});
}

TEST_CASE("claude_code: words of the user end a response") {
    const SessionLog log =
        read({assistant_line("a1", "", "m1", list(text("one"))), user_line("u1", "a1", "wait"),
              assistant_line("a2", "u1", "m1", list(text("two")))});
    CHECK(shown(log) == "A: one | U: wait | A: two");
}

TEST_CASE(
    "claude_code: parallel results that the chain passes by are found and stand in the order of their "
    "calls") {
    // each result hangs on the line of its own call, and the chain goes on from one of them
    for (const std::string next : {"r1", "r2", "r3"}) {
        CAPTURE(next);
        const SessionLog log =
            read({user_line("u1", "", "go"), assistant_line("a1", "u1", "m1", list(call_block("c1", "X"))),
                  assistant_line("a2", "a1", "m1", list(call_block("c2", "X"))),
                  assistant_line("a3", "a2", "m1", list(call_block("c3", "X"))),
                  user_line("r3", "a3", list(result_block("c3", "3"))),
                  user_line("r2", "a2", list(result_block("c2", "2"))),
                  user_line("r1", "a1", list(result_block("c1", "1"))),
                  assistant_line("a4", next, "m2", list(text("done")))});
        CHECK(shown(log) == "U: go | A: +c1 +c2 +c3 | U: >c1 >c2 >c3 | A: done");
        CHECK(log.lines == Lines{1, 2, 5, 8});
        CHECK(log.notes.empty());
    }
}

TEST_CASE("claude_code: at the end too, parallel results are found") {
    const SessionLog log =
        read({user_line("u1", "", "go"), assistant_line("a1", "u1", "m1", list(call_block("c1", "X"))),
              assistant_line("a2", "a1", "m1", list(call_block("c2", "X"))),
              user_line("r2", "a2", list(result_block("c2", "2"))),
              user_line("r1", "a1", list(result_block("c1", "1")))});
    CHECK(shown(log) == "U: go | A: +c1 +c2 | U: >c1 >c2");
    // a call whose answer was not written yet
    CHECK(shown(read({user_line("u1", "", "go"),
                      assistant_line("a1", "u1", "m1", list(call_block("c1", "X")))})) == "U: go | A: +c1");
}

TEST_CASE("claude_code: results come before what the user says in the same turn") {
    const SessionLog log =
        read({user_line("u1", "", "go"),
              assistant_line("a1", "u1", "m1", list(call_block("c1", "X"), call_block("c2", "X"))),
              user_line("u2", "a1", "meanwhile"),
              user_line("r2", "u2", list(result_block("c2", "2"), text("note"))),
              user_line("r1", "r2", list(result_block("c1", "1"), result_block("c9", "9")))});
    CHECK(shown(log) == "U: go | A: +c1 +c2 | U: >c1 >c2 >c9 meanwhile note");
    CHECK(log.lines == Lines{1, 2, 3});
}

TEST_CASE("claude_code: the newest branch is read and others are left out") {
    const SessionLog log =
        read({user_line("u1", "", "one"), assistant_line("a1", "u1", "m1", list(text("first"))),
              user_line("u2", "a1", "wrong"), assistant_line("a2", "u2", "m2", list(text("oops"))),
              user_line("u3", "a1", "right"), assistant_line("a3", "u3", "m3", list(text("good")))});
    CHECK(shown(log) == "U: one | A: first | U: right | A: good");
    CHECK(log.lines == Lines{1, 2, 5, 6});
    CHECK(has_note(log, "line 3 and 1 more: left out, on another branch"));
}

TEST_CASE("claude_code: the order of parents counts and not that of the file") {
    CHECK(shown(read({assistant_line("a1", "u1", "m1", list(text("yes"))), user_line("u1", "", "open"),
                      user_line("u2", "a1", "thanks")})) == "U: open | A: yes | U: thanks");
}

TEST_CASE("claude_code: lines that say nothing to the model are links of the chain all the same") {
    Json progress = linked(Json{{"type", "progress"}}, "p1", "u1");
    Json attachment = linked(Json{{"type", "attachment"}, {"attachment", {{"type", "todo"}}}}, "p2", "p1");
    Json error = with(assistant_line("e1", "p2", "mx", list(text("API Error"))), "isApiErrorMessage");
    const SessionLog log = read({user_line("u1", "", "go"), progress, attachment, error,
                                 assistant_line("a1", "e1", "m1", list(text("yes")))});
    CHECK(shown(log) == "U: go | A: yes");
    CHECK(has_note(log, "line 2: left out, of type progress"));
    CHECK(has_note(log, "line 3: left out, of type attachment"));
    CHECK(has_note(log, "line 4: left out, an error of the API"));
}

TEST_CASE("claude_code: sidechains are left out and counted") {
    const SessionLog log =
        read({user_line("u1", "", "go"), with(user_line("s1", "", "sub"), "isSidechain"),
              with(assistant_line("s2", "s1", "m9", list(text("sub answer"))), "isSidechain"),
              assistant_line("a1", "u1", "m1", list(text("yes"))),
              with(user_line("s3", "s2", "more"), "isSidechain")});
    CHECK(shown(log) == "U: go | A: yes");
    CHECK(has_note(log, "line 2 and 2 more: left out, of a sidechain"));
}

TEST_CASE("claude_code: a log of nothing but a sidechain is the one of a subagent") {
    const SessionLog log =
        read({with(user_line("s1", "", "sub"), "isSidechain"),
              with(assistant_line("s2", "s1", "m9", list(text("answer"))), "isSidechain")});
    CHECK(shown(log) == "U: sub | A: answer");
}

TEST_CASE("claude_code: what the program says in the name of the user was sent") {
    const SessionLog log =
        read({with(user_line("u1", "", "<local-command-caveat>"), "isMeta"), user_line("u2", "u1", "go"),
              assistant_line("a1", "u2", "m1", list(text("yes")))});
    CHECK(shown(log) == "U: <local-command-caveat> go | A: yes");
    CHECK(log.notes.empty());
}

TEST_CASE("claude_code: after a compaction only later lines and the summary count") {
    const SessionLog log =
        read({user_line("u1", "", "old"), assistant_line("a1", "u1", "m1", list(text("old answer"))),
              boundary_line("c1", "a1"), with(user_line("s1", "c1", "summary"), "isCompactSummary"),
              user_line("u2", "s1", "new"), assistant_line("a2", "u2", "m2", list(text("new answer")))});
    CHECK(shown(log) == "U: summary new | A: new answer");
    CHECK(log.lines == Lines{4, 6});
    CHECK(has_note(log, "line 1 and 1 more: left out, before the compaction"));
}

TEST_CASE("claude_code: the newest compaction counts") {
    const SessionLog log = read({user_line("u1", "", "old"), boundary_line("c1", "u1"),
                                 with(user_line("s1", "c1", "first summary"), "isCompactSummary"),
                                 user_line("u2", "s1", "middle"), boundary_line("c2", "u2"),
                                 with(user_line("s2", "c2", "second summary"), "isCompactSummary"),
                                 user_line("u3", "s2", "new")});
    CHECK(shown(log) == "U: second summary new");
}

TEST_CASE("claude_code: a summary beside the chain is found") {
    const Json summary = with(user_line("s1", "c1", "summary"), "isCompactSummary");
    CHECK(shown(read({user_line("u1", "", "old"), boundary_line("c1", "u1"), summary,
                      user_line("u2", "c1", "new")})) == "U: summary new");
    CHECK(shown(read({user_line("u1", "", "old"), summary, boundary_line("c1", "u1"),
                      user_line("u2", "c1", "new")})) == "U: summary new");
    // the summary of another compaction is none of this
    CHECK(shown(read({summary, user_line("u1", "s1", "old"), boundary_line("c1", "u1"),
                      user_line("u2", "c1", "new")})) == "U: new");
}

TEST_CASE("claude_code: a summary without a boundary begins the history") {
    CHECK(shown(read({user_line("u1", "", "old"), with(user_line("s1", "u1", "summary"), "isCompactSummary"),
                      user_line("u2", "s1", "new")})) == "U: summary new");
}

TEST_CASE("claude_code: a rewind to before the compaction brings the old messages back") {
    const SessionLog log =
        read({user_line("u1", "", "old"), assistant_line("a1", "u1", "m1", list(text("answer"))),
              boundary_line("c1", "a1"), with(user_line("s1", "c1", "summary"), "isCompactSummary"),
              user_line("u2", "a1", "again")});
    CHECK(shown(log) == "U: old | A: answer | U: again");
}

TEST_CASE("claude_code: messages that a compaction preserved come behind its anchor") {
    Json boundary = boundary_line("c1", "a2");
    boundary["compactMetadata"]["preservedSegment"] = {
        {"headUuid", "u2"}, {"anchorUuid", "s1"}, {"tailUuid", "a2"}};
    const std::vector<Json> lines = {user_line("u1", "", "old"),
                                     assistant_line("a1", "u1", "m1", list(text("gone"))),
                                     user_line("u2", "a1", "kept"),
                                     assistant_line("a2", "u2", "m2", list(text("kept too"))),
                                     boundary,
                                     with(user_line("s1", "c1", "summary"), "isCompactSummary"),
                                     user_line("u3", "s1", "new")};
    const SessionLog log = read(lines);
    CHECK(shown(log) == "U: summary kept | A: kept too | U: new");
    CHECK(has_note(log, "line 1 and 1 more: left out, before the compaction"));

    // a segment that is none changes nothing
    const std::vector<std::pair<std::string, std::string>> wrong = {{"headUuid", "nowhere"},
                                                                    {"tailUuid", "u1"},
                                                                    {"anchorUuid", "u2"},
                                                                    {"anchorUuid", "a2"},
                                                                    {"headUuid", "u3"}};
    for (const auto& change : wrong) {
        CAPTURE(change.second);
        std::vector<Json> broken = lines;
        broken[4]["compactMetadata"]["preservedSegment"][change.first] = change.second;
        CHECK(shown(read(broken)) == "U: summary new");
    }
}

TEST_CASE("claude_code: without links the order of the file counts") {
    CHECK(shown(read({user_line("", "", "one"), assistant_line("", "", "m1", list(text("two"))),
                      user_line("", "", "three")})) == "U: one | A: two | U: three");
    const SessionLog log =
        read({user_line("", "", "old"), boundary_line(""),
              with(user_line("", "", "summary"), "isCompactSummary"), user_line("", "", "new")});
    CHECK(shown(log) == "U: summary new");
    CHECK(has_note(log, "line 1: left out, before the compaction"));
    CHECK(shown(read({user_line("", "", "old"), with(user_line("", "", "summary"), "isCompactSummary"),
                      boundary_line(""), user_line("", "", "new")})) == "U: summary new");
    CHECK(shown(read({user_line("", "", "old"), with(user_line("", "", "summary"), "isCompactSummary"),
                      user_line("", "", "new")})) == "U: summary new");
    // uuids that lead nowhere are no links
    CHECK(shown(read({with(user_line("", "", "one"), "uuid", "x"),
                      with(user_line("", "", "two"), "uuid", "y")})) == "U: one two");
}

TEST_CASE("claude_code: a parent that is not in the log ends the chain with a note") {
    const SessionLog log = read({user_line("u1", "", "lost"), user_line("u2", "gone", "here")});
    CHECK(shown(log) == "U: here");
    CHECK(has_note(log, "line 2: its parent is not in the log, nor what came before"));
}

TEST_CASE("claude_code: parents in a circle end") {
    CHECK(shown(read({user_line("u1", "u1", "self")})) == "U: self");
    const SessionLog log =
        read({user_line("u1", "a1", "one"), assistant_line("a1", "u1", "m1", list(text("two")))});
    CHECK(shown(log) == "U: one | A: two");
    CHECK(has_note(log, "line 1: its parents run in a circle"));
}

TEST_CASE("claude_code: of lines with one uuid the last counts") {
    const SessionLog log = read({user_line("u1", "", "first"), user_line("u1", "", "second"),
                                 assistant_line("a1", "u1", "m1", list(text("yes")))});
    CHECK(shown(log) == "U: second | A: yes");
    CHECK(has_note(log, "line 1: left out, its uuid stands there again"));
}

TEST_CASE("claude_code: lines that are no message are left out and counted") {
    const SessionLog log = read({Json{{"type", "summary"}, {"summary", "s"}, {"leafUuid", "x"}},
                                 Json{{"type", "file-history-snapshot"}}, Json{{"type", "queue-operation"}},
                                 Json{{"type", "queue-operation"}}, Json{{"type", "never seen"}},
                                 Json::object(), user_line("u1", "", "go"), user_line("u2", "u1", list())});
    CHECK(shown(log) == "U: go");
    CHECK(log.lines == Lines{7});
    CHECK(has_note(log, "line 1: left out, of type summary"));
    CHECK(has_note(log, "line 2: left out, of type file-history-snapshot"));
    CHECK(has_note(log, "line 3 and 1 more: left out, of type queue-operation"));
    CHECK(has_note(log, "line 5 and 1 more: left out, of no known type"));
    CHECK(has_note(log, "line 8: left out, a message without content"));
}

TEST_CASE("claude_code: a torn last line and broken ones are left out with a note") {
    const std::string whole = log_text({user_line("u1", "", "go")});
    const SessionLog torn = coppice::read_claude_code_log(whole + "{\"type\":\"assi");
    CHECK(shown(torn) == "U: go");
    CHECK(has_note(torn, "line 2: left out, torn: the log ends in it"));
    const SessionLog broken = coppice::read_claude_code_log("{\"type\":\n" + whole + "nonsense\n");
    CHECK(shown(broken) == "U: go");
    CHECK(broken.lines == Lines{2});
    CHECK(has_note(broken, "line 1 and 1 more: left out, no JSON"));
}

TEST_CASE("claude_code: what the user interface keeps beside a result is ignored") {
    Json line = user_line("u2", "a1", list(result_block("c1", "text")));
    line["toolUseResult"] = {{"stdout", "other text"}};
    const SessionLog log = read(
        {user_line("u1", "", "go"), assistant_line("a1", "u1", "m1", list(call_block("c1", "X"))), line});
    CHECK(messages(log)[2] == support::result("c1", "text"));
}

TEST_CASE("claude_code: calls and results of a log are planned for") {
    std::vector<Json> lines = {user_line("u", "", "start")};
    std::string parent = "u";
    for (int i = 0; i < 20; ++i) {
        const std::string n = std::to_string(i);
        lines.push_back(assistant_line("a" + n, parent, "m" + n,
                                       list(call_block("c" + n, "Read", {{"file_path", "/f" + n}}))));
        lines.push_back(
            assistant_line("b" + n, "a" + n, "m" + n, list(call_block("d" + n, "Grep", {{"pattern", n}}))));
        lines.push_back(user_line("s" + n, "b" + n, list(result_block("d" + n, std::string(3000, 'y')))));
        lines.push_back(user_line("r" + n, "a" + n, list(result_block("c" + n, n + std::string(3000, 'x')))));
        parent = "s" + n;
    }
    const SessionLog log = read(lines);
    CHECK(messages(log).size() == 41);
    const coppice::Report report =
        coppice::plan(log.body, coppice::presets::standard(coppice::EveryRequest<>{}), log.dialect);
    CHECK(report.why.empty());
    CHECK(report.unpaired_calls == 0);
    CHECK(report.unpaired_results == 0);
    CHECK(report.edits.size() > 20);
    CHECK(report.edits.front().tool == "Read");
    CHECK(log.lines[report.edits.front().message] == 4);
}

TEST_CASE("claude_code: no text makes it fail") {
    std::string all;
    for (const std::string& line : support::hostile_lines()) {
        const SessionLog alone = coppice::read_claude_code_log(line);
        CHECK(alone.lines.size() == messages(alone).size());
        all += line + "\n";
    }
    const SessionLog log = coppice::read_claude_code_log(all + log_text({user_line("u1", "", "go")}));
    CHECK(log.lines.size() == messages(log).size());
    REQUIRE(!messages(log).empty());
    const coppice::Report report =
        coppice::plan(log.body, coppice::presets::standard(coppice::EveryRequest<>{}), log.dialect);
    CHECK(report.dialect == "anthropic");
    CHECK(messages(coppice::read_claude_code_log("")).empty());
}

// Two lines by turns, with the number of each for `#` and that of the line before it for `^`.
std::string numbered(std::size_t count, const Json& even, const Json& odd) {
    const std::vector<std::string> lines = {even.dump() + "\n", odd.dump() + "\n"};
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        for (const char c : lines[i % 2]) {
            if (c == '#') {
                text += std::to_string(i);
            } else if (c == '^') {
                text += std::to_string(i - 1);
            } else {
                text += c;
            }
        }
    }
    return text;
}

std::size_t size_of_numbered(const Json& even, const Json& odd) {
    return messages(coppice::read_claude_code_log(numbered(100'000, even, odd))).size();
}

TEST_CASE("claude_code: a hundred thousand lines in one chain are no more work each") {
    CHECK(size_of_numbered(assistant_line("#", "^", "m#", list(call_block("c#", "X"))),
                           user_line("#", "^", list(result_block("c^", "r")))) == 100'000);
}

TEST_CASE("claude_code: a hundred thousand lines with one uuid are no more work each") {
    CHECK(size_of_numbered(user_line("u", "u", "x"), user_line("u", "v", "x")) == 1);
}

TEST_CASE("claude_code: a hundred thousand lines of one response are no more work each") {
    const Json line = assistant_line("#", "0", "m", list(call_block("c", "X")));
    CHECK(size_of_numbered(line, line) == 1);
}

TEST_CASE("claude_code: a hundred thousand results beside the chain are no more work each") {
    // every call has one name, and every result hangs on the call before it
    const Json calls = assistant_line("#", "", "m#", list(call_block("c", "X")));
    const Json results = user_line("#", "^", list(result_block("c", "r")));
    CHECK(size_of_numbered(calls, results) == 2);
    CHECK(size_of_numbered(results, calls) == 1);
}

}  // namespace
