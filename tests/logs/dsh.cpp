// SPDX-License-Identifier: MIT
#include <coppice/logs/dsh.hpp>

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

Json header() {
    return {{"type", "session"}, {"version", 0}, {"id", "s1"},
            {"createdAt", 1},    {"cwd", "/p"},  {"delegationDepth", 0}};
}

Json event(const std::string& type, Json seq, Json data, Json op = "append") {
    Json line = {{"type", type}};
    if (!seq.is_null()) { line["seq"] = std::move(seq); }
    line["time"] = 1;
    line["data"] = std::move(data);
    if (!op.is_null()) { line["surfaceOp"] = std::move(op); }
    return line;
}

Json words(const std::string& text) { return Json::array({{{"type", "text"}, {"text", text}}}); }

Json user(Json seq, const std::string& text, Json op = "append") {
    Json data = {{"role", "user"}};
    data["content"] = words(text);
    data["source"] = {{"kind", "user"}};
    return event("user/message", std::move(seq), std::move(data), std::move(op));
}

Json assistant(Json seq, Json content) {
    Json data = {{"turn", 1}, {"step", 1}};
    data["message"] = {{"role", "assistant"}};
    data["message"]["content"] = std::move(content);
    return event("assistant/message", std::move(seq), std::move(data));
}

Json call(const std::string& id, Json arguments = "{}", const std::string& name = "read") {
    Json block = {{"type", "tool-call"}, {"id", id}, {"name", name}};
    block["arguments"] = std::move(arguments);
    return block;
}

Json result(Json seq, const std::string& id, Json content, Json op = "append") {
    Json block = {{"type", "tool-result"}, {"toolCallId", id}};
    block["content"] = std::move(content);
    block["isError"] = false;
    Json data = {{"turn", 1}};
    data["message"] = {{"role", "user"}, {"source", {{"kind", "tool"}, {"callId", id}}}};
    data["message"]["content"] = Json::array({std::move(block)});
    return event("tool/result", std::move(seq), std::move(data), std::move(op));
}

Json range(const std::string& first, std::size_t start, const std::string& last, std::size_t end) {
    return {{"op", "replace"}, {first, start}, {last, end}};
}
Json range(std::size_t start, std::size_t end) { return range("start", start, "end", end); }

SessionLog read(const std::vector<Json>& lines) { return coppice::read_dsh_log(log_text(lines)); }

const Json& messages(const SessionLog& log) { return log.body.at("messages"); }

std::string shown(const SessionLog& log) {
    std::string out;
    for (const Json& message : messages(log)) {
        out += out.empty() ? "" : " | ";
        out += message.at("content").is_string() ? message.at("content").get<std::string>()
                                                 : message.at("content").dump();
    }
    return out;
}

TEST_CASE("dsh: a session becomes a request") {
    const SessionLog log =
        read({header(), user(0, "open"), assistant(1, Json::array({call("c1", R"({"path":"a.c"})")})),
              result(2, "c1", words("int main(){}")), assistant(3, words("done"))});
    CHECK(log.format == coppice::LogFormat::dsh);
    CHECK(log.dialect == coppice::Dialect::openai_chat);
    const Json expected = Json::parse(
        R"({"messages":[{"role":"user","content":"open"},)"
        R"({"role":"assistant","content":null,"tool_calls":[)"
        R"({"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.c\"}"}}]},)"
        R"({"role":"tool","tool_call_id":"c1","content":"int main(){}"},)"
        R"({"role":"assistant","content":"done"}]})");
    CHECK(log.body == expected);
    CHECK(log.lines == Lines{2, 3, 4, 5});
    CHECK(log.notes.empty());
}

TEST_CASE("dsh: results of later versions are messages of their own role") {
    Json data = {{"turn", 1}};
    data["message"] = {{"role", "tool"}, {"toolCallId", "c1"}, {"isError", true}};
    data["message"]["content"] = words("failed");
    const Json expected = Json::array({{{"role", "tool"}, {"tool_call_id", "c1"}, {"content", "failed"}}});
    CHECK(messages(read({event("tool/result", 0, data)})) == expected);

    data["message"].erase("toolCallId");
    data["message"]["source"] = {{"kind", "tool"}, {"callId", "c1"}};
    CHECK(messages(read({event("tool/result", 0, data)})) == expected);

    const Json bare = {{"callId", "c1"}, {"content", words("failed")}, {"isError", true}};
    CHECK(messages(read({event("tool/result", 0, bare)})) == expected);
}

TEST_CASE("dsh: several results of one message come apart") {
    Json line = result(0, "c1", words("one"));
    Json& content = line["data"]["message"]["content"];
    content.push_back({{"type", "text"}, {"text", "said"}});
    content.push_back({{"type", "tool-result"}, {"toolCallId", "c2"}, {"content", words("two")}});
    const SessionLog log = read({line});
    REQUIRE(shown(log) == "one | two | said");
    CHECK(messages(log)[1]["tool_call_id"] == "c2");
    CHECK(messages(log)[2]["role"] == "user");
    CHECK(log.lines == Lines{1, 1, 1});
}

TEST_CASE("dsh: reasoning and several texts keep their places") {
    const SessionLog log = read({assistant(0, Json::array({{{"type", "reasoning"}, {"text", "hm "}},
                                                           {{"type", "text"}, {"text", "one"}},
                                                           {{"type", "text"}, {"text", "two"}},
                                                           {{"type", "reasoning"}, {"text", "so"}},
                                                           call("c1", Json{{"a", 1}}),
                                                           call("c2", Json())}))});
    const Json& message = messages(log)[0];
    CHECK(message["reasoning_content"] == "hm so");
    CHECK(message["content"] ==
          Json::array({{{"type", "text"}, {"text", "one"}}, {{"type", "text"}, {"text", "two"}}}));
    CHECK(message["tool_calls"][0]["function"]["arguments"] == R"({"a":1})");
    CHECK(message["tool_calls"][1]["function"]["arguments"] == "null");
    Json none = call("c1");
    none.erase("arguments");
    CHECK(messages(read({assistant(0, Json::array({none}))}))[0]["tool_calls"][0]["function"]["arguments"] ==
          "{}");
}

TEST_CASE("dsh: media are named") {
    const Json image = {{"type", "image"},
                        {"attachment", {{"hash", "sha256:ab"}, {"mediaType", "image/png"}}}};
    Json data = {{"role", "user"}};
    data["content"] = Json::array({{{"type", "text"}, {"text", "look"}}, image});
    const SessionLog log = read({event("user/message", 0, data), result(1, "c1", Json::array({image}))});
    CHECK(messages(log)[0]["content"] ==
          Json::array({{{"type", "text"}, {"text", "look"}},
                       {{"type", "text"}, {"text", "[image image/png sha256:ab]"}}}));
    CHECK(messages(log)[1]["content"] == "[image image/png sha256:ab]");
    Json odd = {{"type", "never seen"}, {"text", "x"}};
    const SessionLog unknown = read({result(0, "c1", Json::array({odd}))});
    CHECK(messages(unknown)[0]["content"] == "");
    CHECK(has_note(unknown, "line 1: a block of no known type was left out"));
}

TEST_CASE("dsh: a replacement takes the place of what it replaces") {
    Json prune = event("compaction/prune", 4, {{"shadowedSeqs", Json::array({2})}}, nullptr);
    const std::vector<Json> lines = {header(),
                                     user(0, "open"),
                                     assistant(1, Json::array({call("c1")})),
                                     result(2, "c1", words("whole")),
                                     assistant(3, words("done")),
                                     prune};
    for (const Json& op : {range(2, 2), range("startSeq", 2, "endSeq", 2)}) {
        std::vector<Json> more = lines;
        more.push_back(result(5, "c1", words("[pruned]"), op));
        more.push_back(user(6, "next"));
        const SessionLog log = read(more);
        CHECK(shown(log) == "open | null | [pruned] | done | next");
        CHECK(log.lines == Lines{2, 3, 7, 5, 8});
        CHECK(log.notes == std::vector<std::string>{"line 6: left out, of type compaction/prune"});
    }
}

TEST_CASE("dsh: a replacement can be replaced by its own number or by that of the first") {
    for (const std::size_t seq : {2U, 0U}) {
        CHECK(shown(read({user(0, "a"), user(1, "b"), user(2, "A", range(0, 0)),
                          user(3, "AA", range(seq, seq))})) == "AA | b");
    }
}

TEST_CASE("dsh: ranges follow the surface and not the numbers") {
    // "A" has number 4 and stands first
    const std::vector<Json> lines = {user(0, "a"), user(1, "b"), user(2, "c"), user(3, "d"),
                                     user(4, "A", range(0, 0))};
    const auto after = [&](const Json& op) {
        std::vector<Json> more = lines;
        more.push_back(user(5, "X", op));
        more.push_back(user(6, "end"));
        return read(more);
    };
    CHECK(shown(after(range(4, 2))) == "X | d | end");
    CHECK(shown(after(range(1, 2))) == "A | X | d | end");
    CHECK(shown(after(range(4, 3))) == "X | end");
    CHECK(shown(after(range(3, 3))) == "A | b | c | X | end");
    // the ends in the wrong order, or nowhere
    for (const Json& op :
         {range(2, 4), range(7, 9), Json{{"op", "replace"}}, Json{{"op", "replace"}, {"start", -1}}}) {
        const SessionLog log = after(op);
        CHECK(shown(log) == "A | b | c | d | X | end");
        CHECK(has_note(log, "line 6: what it replaces is not there, it was added to the end"));
    }
}

TEST_CASE("dsh: numbers that are no place on the surface bound a range all the same") {
    const Json call_event = event("tool/call", 1, Json::object(), nullptr);
    const std::vector<Json> lines = {user(0, "a"), call_event, user(2, "b"), user(3, "c"),
                                     event("turn/end", 4, Json::object(), nullptr)};
    const auto after = [&](const Json& op) {
        std::vector<Json> more = lines;
        more.push_back(user(5, "X", op));
        return shown(read(more));
    };
    CHECK(after(range(1, 2)) == "a | X | c");
    CHECK(after(range(1, 4)) == "a | X");
    CHECK(after(range(0, 1)) == "X | b | c");
    CHECK(after(range(1, 1)) == "a | b | c | X");
    CHECK(after(range(0, 1'000'000)) == "X");
}

TEST_CASE("dsh: packed lines stand for several numbers") {
    Json packed = {
        {"type", "assistant/chunk"}, {"seq0", 1}, {"data", {{"texts", Json::array({"a", "b", "c"})}}}};
    // the next has no number of its own, and is the fifth
    const SessionLog log =
        read({user(0, "open"), packed, user(nullptr, "said"), user(nullptr, "new", range(4, 4))});
    CHECK(shown(log) == "open | new");
    CHECK(log.notes == std::vector<std::string>{"line 2: left out, of type assistant/chunk"});
}

TEST_CASE("dsh: numbers out of order do not count") {
    const SessionLog log = read({user(5, "a"), user(3, "b"), user("x", "c"), user(18446744073709551615U, "d"),
                                 user(nullptr, "E", range(6, 7))});
    CHECK(shown(log) == "a | E | d");
    CHECK(has_note(log, "line 2 and 1 more: its number is out of order, the place in the log counts"));
}

TEST_CASE("dsh: events that are not on the surface are left out and counted") {
    const SessionLog log =
        read({header(), event("turn/start", 0, Json::object(), nullptr), user(1, "open"),
              event("tool/call", 2, Json::object(), nullptr), event("tool/call", 3, Json::object(), nullptr),
              event("never/seen", 4, Json::object(), nullptr), user(5, "off", nullptr),
              user(6, "odd", "prepend"), event("never/seen", 7, {{"x", 1}})});
    CHECK(shown(log) == "open");
    CHECK(has_note(log, "line 2: left out, of type turn/start"));
    CHECK(has_note(log, "line 4 and 1 more: left out, of type tool/call"));
    CHECK(has_note(log, "line 6 and 1 more: left out, not on the surface"));
    CHECK(has_note(log, "line 8: left out, no known operation on the surface"));
    CHECK(has_note(log, "line 9: left out, no message that is known"));
}

TEST_CASE("dsh: an unknown event replaces what it replaces") {
    const SessionLog log =
        read({user(0, "a"), user(1, "b"), event("never/seen", 2, Json::object(), range(0, 0))});
    CHECK(shown(log) == "b");
}

TEST_CASE("dsh: a message of the system keeps its role") {
    const SessionLog log = read({event("system/message", 0, {{"role", "system"}, {"content", "be terse"}})});
    CHECK(messages(log) == Json::array({{{"role", "system"}, {"content", "be terse"}}}));
}

TEST_CASE("dsh: a torn last line is left out with a note") {
    const SessionLog log = coppice::read_dsh_log(log_text({header(), user(0, "go")}) + R"({"type":"tool/)");
    CHECK(shown(log) == "go");
    CHECK(has_note(log, "line 3: left out, torn: the log ends in it"));
}

TEST_CASE("dsh: calls and results of a log are planned for") {
    std::vector<Json> lines = {header(), user(0, "go")};
    std::size_t seq = 1;
    for (int i = 0; i < 20; ++i) {
        const std::string n = std::to_string(i);
        lines.push_back(assistant(seq++, Json::array({call("c" + n, R"({"path":"a)" + n + R"("})")})));
        lines.push_back(result(seq++, "c" + n, words(n + std::string(3000, 'x'))));
    }
    const SessionLog log = read(lines);
    const coppice::Report report =
        coppice::plan(log.body, coppice::presets::standard(coppice::EveryRequest<>{}), log.dialect);
    CHECK(report.why.empty());
    CHECK(report.unpaired_calls == 0);
    CHECK(report.unpaired_results == 0);
    REQUIRE(report.edits.size() > 8);
    CHECK(report.edits.front().tool == "read");
    CHECK(log.lines[report.edits.front().message] == 4);
}

TEST_CASE("dsh: no text makes it fail") {
    std::string all;
    for (const std::string& line : support::hostile_lines()) {
        const SessionLog alone = coppice::read_dsh_log(line);
        CHECK(alone.lines.size() == messages(alone).size());
        all += line + "\n";
    }
    const SessionLog log = coppice::read_dsh_log(all + log_text({user(nullptr, "go")}));
    CHECK(log.lines.size() == messages(log).size());
    REQUIRE(!messages(log).empty());
    const coppice::Report report =
        coppice::plan(log.body, coppice::presets::standard(coppice::EveryRequest<>{}), log.dialect);
    CHECK(report.dialect == "openai-chat");
    CHECK(messages(coppice::read_dsh_log("")).empty());
}

// `count` lines that append, and as many that replace a range.
std::string replacing(std::size_t count, const std::string& start, const std::string& end) {
    const std::string append = user(nullptr, "x").dump() + "\n";
    std::string text;
    for (std::size_t i = 0; i < count; ++i) { text += append; }
    for (std::size_t i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        text += R"({"type":"user/message","data":{"role":"user","content":"y"},)";
        text += R"("surfaceOp":{"op":"replace","start":)";
        text += (start.empty() ? number : start) + ",\"end\":" + (end.empty() ? number : end) + "}}\n";
    }
    return text;
}

TEST_CASE("dsh: a hundred thousand lines are no more work each") {
    const auto read_text = [](const std::string& text) { return coppice::read_dsh_log(text); };
    // a range that grows, one whose places are gone, one that never was
    CHECK(messages(read_text(replacing(50'000, "0", ""))).size() == 1);
    CHECK(shown(read_text(replacing(50'000, "1", "49999"))) == "x | y");
    CHECK(messages(read_text(replacing(50'000, "900000", "900000"))).size() == 100'000);
}

}  // namespace
