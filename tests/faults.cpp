// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/nested.hpp"
#include "support/pruned.hpp"

#include <coppice/coppice.hpp>
#include <coppice/tags.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

using namespace std::string_literals;

// clears everything that may be cleared
const coppice::Pipeline<coppice::SmallAging<0>, coppice::KeepRecent<0, coppice::Size{2000}, 0>,
                        coppice::BulkyInputClear<0>>
    clear_all{};

Ordered cleared(const std::string& facts) { return Ordered("[tool result cleared: " + facts + "]"); }

const Ordered none_yet = Ordered::object();

std::size_t marks(const Ordered& document) {
    const std::string bytes = document.dump();
    std::size_t count = 0;
    for (std::size_t at = bytes.find("cache_control"); at != std::string::npos;
         at = bytes.find("cache_control", at + 1)) {
        ++count;
    }
    return count;
}

std::size_t levels_of(const Ordered& value) {
    std::size_t levels = 0;
    for (const Ordered* at = &value; !at->empty(); at = &at->front()) { ++levels; }
    return levels;
}

}  // namespace

TEST_CASE("B01: a ceiling between a call and its result leaves both in place") {
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "Read", none_yet, Ordered(std::string(9000, 'x')));
    add_pair(messages, "t2", "Read", none_yet, Ordered(std::string(9000, 'y')));
    messages.push_back(user("and now"));
    messages.push_back(assistant("done"));
    const Ordered document = body(messages);
    const Pruned p = pruned(
        document, coppice::Pipeline{coppice::Ceiling<>{.target = document.dump().size() - 100, .keep = 0}});
    CHECK(fates(p) == "s-");
    CHECK(blocks_of(p.after, "tool_use").size() == 2);
}

TEST_CASE("B03: text beside a result stays with its bytes and its place when the result is cleared") {
    const Ordered document =
        body(list(user("start"), call("t1", "Read"),
                  user_blocks(result_block("t1", Ordered(std::string(9000, 'z'))), text("also rename it")),
                  assistant("done")));
    Ordered expected = document;
    expected["messages"][2]["content"][0]["content"] = cleared("9000 characters, ok; Read");
    CHECK(pruned(document, clear_all).after.dump() == expected.dump());
}

TEST_CASE("B04: a result that comes after another turn of the model answers no call before it") {
    Ordered messages = list(user("start"), call("t1", "Read"), user("recap of earlier turns"),
                            assistant("I see"), result("t1", Ordered(std::string(9000, 'l'))));
    for (std::size_t i = 0; i < 30; ++i) {
        add_pair(messages, "p" + std::to_string(i), "Read", none_yet, Ordered(filler(i, 6000)));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned_once(body(messages), clear_all);
    CHECK(fates(p) == "-" + times(30, 's'));
    CHECK(p.report.unpaired_calls == 1);
    CHECK(p.report.unpaired_results == 1);
}

TEST_CASE("B06: a result row that is there twice stays there twice") {
    const Ordered row = result_block("t1", Ordered(std::string(5000, 'a')));
    const Ordered document =
        body(list(user("start"), call("t1", "Read"), user_blocks(row, row), assistant("done")));
    const Pruned p = pruned_once(document, clear_all);
    CHECK(blocks_of(p.after, "tool_result").size() == 2);
    CHECK(fates(p) == "s-");
    CHECK(p.report.unpaired_results == 1);
}

TEST_CASE("B07: parallel results stay in their message and order when one of them is cleared") {
    const Ordered document = body(list(
        user("start"),
        assistant_blocks(call_block("a", "A", none_yet), call_block("b", "B", none_yet),
                         call_block("c", "C", none_yet)),
        user_blocks(result_block("a", Ordered("one")), result_block("b", Ordered(std::string(90'000, 'b'))),
                    result_block("c", Ordered("three"))),
        assistant("done")));
    Ordered expected = document;
    expected["messages"][2]["content"][1]["content"] = cleared("90000 characters, ok; B");
    CHECK(pruned(document, clear_all).after.dump() == expected.dump());
}

TEST_CASE("B14: thinking beside a call whose input is cleared keeps its bytes and its place") {
    const Ordered document =
        body(list(user("start"),
                  assistant_blocks(Ordered{{"type", "thinking"}, {"thinking", ""}, {"signature", "S=="}},
                                   Ordered{{"type", "redacted_thinking"}, {"data", "D=="}},
                                   call_block("t1", "write", Ordered{{"content", std::string(9000, 'c')}})),
                  result("t1", Ordered("ok")), assistant("done")));
    Ordered expected = document;
    expected["messages"][1]["content"][2]["input"]["content"] =
        "[tool input cleared: 9000 characters; content]";
    CHECK(pruned(document, clear_all).after.dump() == expected.dump());
}

TEST_CASE("B17 B19: no thinking is ever removed and no message emptied") {
    const Ordered document =
        body(list(user("start"), message("assistant", list(thinking("alone"))), user("go on"),
                  assistant_blocks(thinking("old"), call_block("t1", "Read", none_yet)),
                  result("t1", Ordered(std::string(9000, 'x'))),
                  assistant_blocks(thinking("open loop"), call_block("t2", "Read", none_yet)),
                  result("t2", Ordered(std::string(9000, 'y')))));
    Ordered expected = document;
    expected["messages"][4]["content"][0]["content"] = cleared("9000 characters, ok; Read");
    CHECK(pruned(document, clear_all).after.dump() == expected.dump());
}

TEST_CASE("B18: a blank signature comes out as blank as it went in") {
    const Ordered blank = {{"type", "thinking"}, {"thinking", "x"}, {"signature", ""}};
    const Ordered document =
        body(list(user("start"), assistant_blocks(blank, call_block("t1", "Read", none_yet)),
                  result("t1", Ordered(std::string(9000, 'x'))), assistant("done")));
    const Pruned p = pruned_once(document, clear_all);
    CHECK(fates(p) == "s");
    CHECK(block_at(p.after, 1, 0).dump() == blank.dump());
}

TEST_CASE("B23: encrypted payloads are never cut or shared and count towards the ceiling") {
    const Ordered encrypted = {{"type", "redacted_thinking"}, {"data", std::string(60'000, 'g')}};
    Ordered messages = list(user("start"));
    for (int i = 0; i < 2; ++i) {
        messages.push_back(
            assistant_blocks(encrypted, call_block("t" + std::to_string(i), "Read", none_yet)));
        messages.push_back(result("t" + std::to_string(i), Ordered(filler(0, 9000))));
    }
    messages.push_back(assistant("done"));
    coppice::MemorySpillStore store;
    const coppice::Pipeline pipeline{coppice::Spill<>{.store = &store}, coppice::Dedup<>{},
                                     coppice::Ceiling<>{.keep = 0}};
    const Pruned p = pruned(body(messages), pipeline);
    CHECK(block_at(p.after, 1, 0) == encrypted);
    CHECK(block_at(p.after, 3, 0) == encrypted);
    CHECK(p.report.under_target == false);
    CHECK(fates(p) == "ss");
    CHECK(store.size() == 0);
}

TEST_CASE("B24: an empty or blank result is left as it was and no stub is blank") {
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "Read", none_yet, Ordered("   \n"));
    add_pair(messages, "t2", "Read", none_yet, Ordered(""));
    add_pair(messages, "t3", "Read", none_yet, list(text("")));
    add_pair(messages, "t4", "Read", none_yet, Ordered::array());
    messages.push_back(assistant("done"));
    CHECK(pruned_once(body(messages), clear_all).unchanged());
    CHECK(
        pruned_once(body(messages), coppice::Pipeline{coppice::Ceiling<coppice::Size{0}, 0>{}}).unchanged());
}

TEST_CASE("B25: content that was nothing but an image becomes one text block") {
    const Pruned p = pruned(session({list(image())}), clear_all);
    CHECK(result_content(p.after, 0) == list(text("[image cleared: Read /src/0.c]")));
    const coppice::Pipeline whole{coppice::KeepRecent<0, coppice::Size{2000}, coppice::share_window>{}};
    CHECK(result_content(pruned(session({list(image())}), whole).after, 0).size() == 1);
}

TEST_CASE("B26: a ceiling of one byte leaves the user's words and writes nothing empty") {
    Ordered messages = list(user(std::string(50'000, 'u')));
    add_pair(messages, "t1", "Read", none_yet, Ordered(std::string(50'000, 'x')));
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), coppice::Pipeline{coppice::Ceiling<coppice::Size{1}, 0>{}});
    CHECK(p.after["messages"][0] == p.before["messages"][0]);
    CHECK(result_content(p.after, 0) == cleared("50000 characters, ok; Read"));
    CHECK(p.report.under_target == false);
    CHECK(p.report.ceiling_why == "only what cannot be cleared is left");
}

TEST_CASE("B28: no cache mark is added or doubled") {
    Ordered document = session({list(marked(text(filler(0, 9000)))), list(marked(text(filler(1, 9000))))});
    document["messages"][4]["content"][0]["cache_control"] = {{"type", "ephemeral"}};
    document["system"] = list(marked(text("You are terse.")));
    document["tools"] = list(marked(Ordered{{"name", "Read"}, {"input_schema", none_yet}}));
    REQUIRE(marks(document) == 5);
    const Pruned p = pruned_once(document, clear_all);
    CHECK(fates(p) == "ss");
    CHECK(marks(p.after) == 5);
}

TEST_CASE("B29 B31: the mark on a cleared block moves onto the stub with every key it had") {
    const Ordered mark = {{"type", "ephemeral"}, {"ttl", "1h"}, {"unknown", {1, 2}}};
    const Pruned p = pruned(session({list(marked(text(std::string(9000, 'x')), mark))}), clear_all);
    CHECK(result_content(p.after, 0) ==
          list(marked(text("[tool result cleared: 9000 characters, ok; Read /src/0.c]"), mark)));
    CHECK(result_content(p.after, 0)[0]["cache_control"].dump() == mark.dump());
}

TEST_CASE("B32: the old prefix changes rarely and in batches") {
    Ordered messages = list(user("start"));
    const coppice::Pipeline pipeline{coppice::KeepRecent<3>{}, coppice::Stepped<10>{}};
    std::string before;
    std::size_t rewrites = 0;
    for (std::size_t request = 1; request <= 50; ++request) {
        Ordered document = body(messages);
        coppice::prune(document, pipeline);
        const std::string after = document["messages"].dump();
        if (!before.empty()) {
            rewrites += after.compare(0, before.size() - 1, before, 0, before.size() - 1) != 0;
        }
        before = after;
        add_pair(messages, "c" + std::to_string(request), "Read", none_yet, Ordered(filler(request, 5000)));
    }
    CHECK(rewrites == 5);
}

TEST_CASE("B33: members keep their order also where one of them was cleared") {
    const Ordered input =
        Ordered::parse(R"({"z":1,"content":")" + std::string(9000, 'c') + R"(","a":{"y":2,"b":3}})");
    Ordered messages = list(user("start"));
    messages.push_back(Ordered::parse(R"({"content":[{"name":"x","input":)" + input.dump() +
                                      R"(,"id":"t1","type":"tool_use"}],"role":"assistant"})"));
    messages.push_back(Ordered::parse(R"({"content":[{"is_error":false,"content":")" +
                                      std::string(9000, 'r') +
                                      R"(","tool_use_id":"t1","type":"tool_result"}],"role":"user"})"));
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), clear_all);
    CHECK(
        p.after["messages"][1].dump() ==
        R"({"content":[{"name":"x","input":{"z":1,"content":"[tool input cleared: 9000 characters; content]","a":{"y":2,"b":3}},"id":"t1","type":"tool_use"}],"role":"assistant"})");
    CHECK(
        p.after["messages"][2].dump() ==
        R"({"content":[{"is_error":false,"content":"[tool result cleared: 9000 characters, ok; x]","tool_use_id":"t1","type":"tool_result"}],"role":"user"})");
}

TEST_CASE("B34: a pass with nothing to clear writes nothing") {
    const Ordered document = Ordered::parse(
        R"({"system":"s","messages":[{"role":"user","content":"start"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{ "path" : "a\u0062c" , "n": 1.0, "content":"short" }}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},{"role":"assistant","content":"done"}]})");
    const Pruned p = pruned(document, clear_all);
    CHECK(p.unchanged());
    CHECK(p.report.why == "nothing to clear");
}

TEST_CASE("B36: a stub is not summarised again when the session grows") {
    Ordered document = session_of_sizes(std::vector<std::size_t>(80, 6001));
    const coppice::Pipeline pipeline{coppice::SmallAging<>{}, coppice::KeepRecent<>{}};
    coppice::prune(document, pipeline);
    for (std::size_t i = 0; i < 40; ++i) {
        add_pair(document["messages"], "n" + std::to_string(i), "Read", none_yet, Ordered(filler(i, 6001)));
    }
    document["messages"].push_back(assistant("done"));
    const Pruned again = pruned(document, pipeline);
    CHECK(fates(again) == times(75, '-') + times(40, 's') + "-----");
    CHECK(result_content(again.after, 0) == "[tool result cleared: 6001 characters, ok; Read /src/0.c]");
    // a text that goes on after the words of a stub is content, and ages as such
    const std::string forged = "[tool result cleared: 5 characters, ok]\n" + filler(0, 5000);
    CHECK(fates(pruned(session({Ordered(forged)}), clear_all)) == "s");
}

TEST_CASE("B42: a cleared input holds no part of the data and cannot be taken for it") {
    std::string code;
    for (int i = 0; i < 900; ++i) { code += "def f():"; }
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "write", Ordered{{"path", "a.py"}, {"content", code}}, Ordered("ok"));
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), clear_all);
    CHECK(call_input(p.after, 0) ==
          Ordered{{"path", "a.py"}, {"content", "[tool input cleared: 7200 characters; content]"}});
}

TEST_CASE("B43: a result that holds JSON is replaced whole and not inside") {
    const std::string json = R"({"content":")" + std::string(9000, 'c') + R"(","path":"a"})";
    CHECK(result_content(pruned(session({Ordered(json)}), clear_all).after, 0) ==
          cleared(std::to_string(json.size()) + " characters, ok; Read /src/0.c"));
}

TEST_CASE("B46: eighty calls without a bulky field are eighty inputs left alone") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 80; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Bash", Ordered{{"command", "c"}},
                 Ordered(filler(i, 6000)));
    }
    messages.push_back(assistant("done"));
    const Pruned p =
        pruned(body(messages), coppice::Pipeline{coppice::KeepRecent<5>{}, coppice::BulkyInputClear<5>{}});
    REQUIRE(p.report.by_reason.size() == 1);
    CHECK(p.report.by_reason[0].reason == "keep_recent");
    CHECK(p.report.by_reason[0].count == 75);
    CHECK(p.report.saved_bytes == p.before.dump().size() - p.after.dump().size());
}

TEST_CASE("B47: the same text from another command is no duplicate") {
    std::string ok;
    for (int i = 0; i < 1500; ++i) { ok += "OK\n"; }
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "bash", Ordered{{"cmd", "make test"}}, Ordered(ok));
    add_pair(messages, "t2", "bash", Ordered{{"cmd", "make lint"}}, Ordered(ok));
    messages.push_back(assistant("done"));
    CHECK(pruned(body(messages), coppice::Pipeline<coppice::Dedup<>>{}).unchanged());
}

TEST_CASE("B48: another range of the same file is no duplicate") {
    const auto read = [](std::size_t first, std::size_t second) {
        Ordered messages = list(user("start"));
        add_pair(messages, "t1", "read", Ordered{{"path", "a"}, {"offset", 0}, {"limit", 100}},
                 Ordered(filler(first, 3000)));
        add_pair(messages, "t2", "read", Ordered{{"path", "a"}, {"offset", 100}, {"limit", 100}},
                 Ordered(filler(second, 3000)));
        messages.push_back(assistant("done"));
        return body(messages);
    };
    CHECK(pruned(read(0, 1),
                 coppice::Pipeline<coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>>{})
              .unchanged());
    CHECK(pruned(read(0, 0), coppice::Pipeline<coppice::Dedup<>>{}).unchanged());
}

TEST_CASE("B51: duplicates inside the keep window collapse and the window still means distinct results") {
    const coppice::Pipeline pipeline{coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{},
                                     coppice::KeepRecent<5>{}};
    CHECK(fates(pruned(session(std::vector<Ordered>(80, Ordered(filler(0, 6000)))), pipeline)) ==
          times(79, 'd') + "-");
    std::vector<Ordered> contents;
    for (std::size_t i = 0; i < 10; ++i) { contents.emplace_back(filler(i / 2, 6000)); }
    CHECK(fates(pruned(session(contents), pipeline)) == "d-d-d-d-d-");
}

TEST_CASE("B52: an image counts as no text and its bytes count towards the ceiling") {
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "Read", none_yet, Ordered(filler(0, 1500)));
    messages.push_back(user_blocks(image(400'000), text("what is this?")));
    const Ordered document = body(messages);
    CHECK(pruned(document,
                 coppice::Pipeline<coppice::SmallAging<>, coppice::KeepRecent<0, coppice::Size{2000}, 0>>{})
              .unchanged());
    CHECK(pruned(document, coppice::Pipeline<coppice::Ceiling<>>{}).report.under_target == false);
    // beside an image in a result the text alone decides whether it is big
    const Pruned p = pruned(session({list(text(filler(0, 100)), image(400'000))}),
                            coppice::Pipeline<coppice::KeepRecent<0>>{});
    CHECK(p.unchanged());
}

TEST_CASE("B53: old images without any text are clearable") {
    std::vector<Ordered> contents;
    for (int i = 0; i < 60; ++i) { contents.push_back(list(image(20'000, static_cast<char>('A' + i % 26)))); }
    CHECK(fates(pruned(session(contents), coppice::Pipeline<coppice::KeepRecent<>>{})) ==
          times(57, 'i') + "---");
    const Pruned p =
        pruned(session(contents), coppice::Pipeline<coppice::Ceiling<coppice::Size{120'000}, 2>>{});
    CHECK(p.report.under_target == true);
    CHECK(fates(p).substr(0, 50) == times(50, 's'));
}

TEST_CASE("B56: results of nothing but documents or unknown blocks have a size") {
    std::vector<Ordered> contents;
    for (int i = 0; i < 20; ++i) { contents.push_back(list(document(20'000, static_cast<char>('a' + i)))); }
    contents[0] = list(Ordered{{"type", "resource"}, {"blob", std::string(20'000, 'b')}});
    contents[1] = list(Ordered{{"type", "search_result"},
                               {"source", "s"},
                               {"title", "t"},
                               {"content", list(text(filler(0, 20'000)))}});
    const Pruned p = pruned_once(session(contents), coppice::Pipeline<coppice::KeepRecent<5>>{});
    CHECK(fates(p) == times(15, 's') + "-----");
    CHECK(text_of(result_content(p.after, 0)).find(", 1 other part, ok") != std::string::npos);
    CHECK(text_of(result_content(p.after, 1)).find(", 1 document, ok") != std::string::npos);
    CHECK(text_of(result_content(p.after, 2)) ==
          "[tool result cleared: " + std::to_string(document(20'000).dump().size()) +
              " characters, 1 document, ok; Read /src/2.c]");
}

TEST_CASE("B57: a small text survives when the picture beside it goes") {
    const Pruned p = pruned(session({list(text(R"({"chart_id":7})"), image(1'000'000))}), clear_all);
    CHECK(result_content(p.after, 0) ==
          list(text(R"({"chart_id":7})"), text("[image cleared: Read /src/0.c]")));
}

TEST_CASE("B59: a failure still looks like one after clearing") {
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "Bash", Ordered{{"command", "make all"}},
             Ordered("cc1: error: no such file\n" + filler(0, 9000) + "\nmake: *** Error 1\n"), true);
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), clear_all);
    CHECK(blocks_of(p.after, "tool_result").at(0)->at("is_error") == true);
    CHECK(result_content(p.after, 0) ==
          "[tool result cleared: 9044 characters, failed; Bash make all; first line: cc1: error: no such "
          "file; last line: make: *** Error 1]");
    const Pruned openswarm =
        pruned(body(messages), coppice::Pipeline{coppice::KeepRecent<0>{}, coppice::OpenSwarmWording{}});
    CHECK(blocks_of(openswarm.after, "tool_result").at(0)->at("is_error") == true);
}

TEST_CASE("B60: the verdict at the end of a long output is in the preview") {
    coppice::MemorySpillStore store;
    std::string output;
    for (int i = 0; i < 40'000; ++i) { output += "ok\n"; }
    output += "2 failed, 98 passed";
    const Pruned p =
        pruned_once(session({Ordered(output)}), coppice::Pipeline{coppice::Spill<>{.store = &store}});
    const std::string preview = text_of(result_content(p.after, 0));
    CHECK(preview.substr(preview.size() - 19) == "2 failed, 98 passed");
    CHECK(preview.substr(0, 3) == "ok\n");
    CHECK(preview.find(std::to_string(output.size()) + " characters") != std::string::npos);
    CHECK(preview.size() < 4000 + 200);
}

TEST_CASE("B60: the verdict in the middle of a long output is in the preview") {
    coppice::MemorySpillStore store;
    std::string output;
    for (int i = 0; i < 20'000; ++i) { output += "ok\n"; }
    output += "FAILED tests/test_a.py::test_b - AssertionError: 3 != 4\r\n2 failed, 98 passed in 3.2s\r\n";
    for (int i = 0; i < 20'000; ++i) { output += "cleaning up\n"; }
    const Pruned p =
        pruned_once(session({Ordered(output)}), coppice::Pipeline{coppice::Spill<>{.store = &store}});
    const std::string preview = text_of(result_content(p.after, 0));
    CHECK(preview.find(
              "\nFAILED tests/test_a.py::test_b - AssertionError: 3 != 4\n2 failed, 98 passed in 3.2s\n") !=
          std::string::npos);
    CHECK(preview.find(" " + std::to_string(output.size() - 3000) + " of " + std::to_string(output.size()) +
                       " characters") != std::string::npos);
    // however many such lines there are, the first and the last
    std::string failures = std::string(3000, 'x');
    for (int i = 1000; i < 9000; ++i) { failures += "\nFAILED test " + std::to_string(i); }
    failures += "\n8000 failed, 0 passed\n" + std::string(3000, 'x');
    const Pruned many =
        pruned_once(session({Ordered(failures)}), coppice::Pipeline{coppice::Spill<>{.store = &store}});
    const std::string shown = text_of(result_content(many.after, 0));
    CHECK(shown.find("\nFAILED test 1000\nFAILED test 1001\n") != std::string::npos);
    CHECK(shown.find("\nFAILED test 8999\n8000 failed, 0 passed\n") != std::string::npos);
    CHECK(shown.size() < 4000 + 200);
}

TEST_CASE("B61: server tools and their results stay as a pair whatever they are called") {
    const Ordered found = {{"type", "web_search_result"},
                           {"url", "u"},
                           {"title", "t"},
                           {"encrypted_content", std::string(30'000, 'E')}};
    const Ordered cited = {
        {"type", "text"},
        {"text", std::string(5000, 'c')},
        {"citations", list(Ordered{{"type", "web_search_result_location"}, {"url", "u"}})}};
    for (const std::string kind : {"web_search", "code_execution", "tool_of_tomorrow"}) {
        const Ordered document = body(list(
            user("start"),
            assistant_blocks(
                Ordered{{"type", "server_tool_use"},
                        {"id", "srv1"},
                        {"name", kind},
                        {"input", {{"content", std::string(9000, 'q')}}}},
                Ordered{{"type", kind + "_tool_result"}, {"tool_use_id", "srv1"}, {"content", list(found)}},
                cited, call_block("t1", "Read", none_yet)),
            result("t1", Ordered(std::string(9000, 'x'))), assistant("done")));
        const Pruned p = pruned_once(document, clear_all);
        CHECK(p.after["messages"][1].dump() == document["messages"][1].dump());
        CHECK(fates(p) == "s");
    }
}

TEST_CASE("B63 B64: no character is cut in two in a preview or a stub") {
    coppice::MemorySpillStore store;
    for (const std::string wide : {"\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"}) {
        for (std::size_t shift = 0; shift <= 8; ++shift) {
            CAPTURE(shift);
            const std::string content = std::string(1800 - 4 + shift, 'a') + wide + std::string(60'000, 'm') +
                                        wide + std::string(1200 - 4 + shift, 'b');
            Ordered messages = list(user("start"));
            add_pair(messages, "t1", "Read",
                     Ordered{{"file_path", std::string(50 + shift, 'p') + wide + std::string(90, 'q')}},
                     Ordered(content), true);
            messages.push_back(assistant("done"));
            const Pruned preview =
                pruned_once(body(messages), coppice::Pipeline{coppice::Spill<>{.store = &store}});
            REQUIRE(fates(preview) == "p");
            CHECK(anthropic_validator::detail::is_utf8(text_of(result_content(preview.after, 0))));
            CHECK_NOTHROW((void)preview.after.dump());
            const std::string stub = text_of(result_content(pruned(body(messages), clear_all).after, 0));
            CHECK(std::all_of(stub.begin(), stub.end(), [](char c) { return c >= 0x20 && c < 0x7F; }));
        }
    }
}

TEST_CASE("B69: nesting without end overflows no stack and what is deep stays as it was") {
    constexpr std::size_t levels = 200'000;
    const auto survives = [&](std::size_t message, auto place) {
        Ordered document = session_of_sizes({9000, 9000});
        place(document["messages"][message]["content"][0]) = nested(levels);
        const coppice::Report report = coppice::prune(document, clear_all);
        CHECK((report.engaged || !report.why.empty()));
        return levels_of(place(document["messages"][message]["content"][0]));
    };
    CHECK(survives(1, [](Ordered& block) -> Ordered& { return block["input"]["deep"]; }) == levels);
    CHECK(survives(1, [](Ordered& block) -> Ordered& { return block["input"]["edits"]; }) == levels);
    CHECK(survives(1, [](Ordered& block) -> Ordered& { return block["caller"]; }) == levels);
    CHECK(survives(2, [](Ordered& block) -> Ordered& { return block["cache_control"]; }) == levels);
    CHECK(survives(2, [](Ordered& block) -> Ordered& { return block["unknown"]; }) == levels);
    // content of that kind may be cleared like any other
    Ordered document = session_of_sizes({9000, 9000});
    document["messages"][2]["content"][0]["content"] = nested(levels);
    const coppice::Report report = coppice::prune(document, clear_all);
    CHECK((report.engaged || !report.why.empty()));
    // and equal things are told to be equal without a call for each level
    Ordered twice = session_of_sizes({9000, 9000});
    for (const std::size_t message : {2U, 4U}) {
        twice["messages"][message]["content"][0]["content"] = nested(levels);
    }
    coppice::prune(twice,
                   coppice::Pipeline<coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>>{});
}

TEST_CASE("B70: numbers beside an edit stay the numbers they were") {
    const std::string numbers =
        R"({"big":12345678901234567890,"small":-9223372036854775808,"one":1.0,"zero":-0.0,"tiny":1e-7})";
    Ordered messages = list(user("start"));
    Ordered input = Ordered::parse(numbers);
    input["content"] = std::string(9000, 'c');
    add_pair(messages, "t1", "write", input, Ordered(std::string(9000, 'x')));
    messages.push_back(assistant("done"));
    Ordered expected = input;
    expected["content"] = "[tool input cleared: 9000 characters; content]";
    CHECK(call_input(pruned(body(messages), clear_all).after, 0).dump() == expected.dump());
}

TEST_CASE("B76: paths and commands and ids and metadata keep their text") {
    const Ordered input = {{"path", std::string(300, 'p')},
                           {"command", std::string(3000, 'c')},
                           {"edits", list(Ordered{{"old_string", std::string(5000, 'o')},
                                                  {"new_string", std::string(5000, 'n')}})},
                           {"meta", {{"content", std::string(5000, 'm')}}}};
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "MultiEdit", input, Ordered("ok"));
    messages.push_back(assistant("done"));
    Ordered expected = input;
    expected["edits"][0]["old_string"] = "[tool input cleared: 5000 characters; old_string]";
    expected["edits"][0]["new_string"] = "[tool input cleared: 5000 characters; new_string]";
    CHECK(call_input(pruned(body(messages), clear_all).after, 0).dump() == expected.dump());
}

TEST_CASE("B78: content of any type is read and odd small ones stay") {
    const std::vector<Ordered> odd = {Ordered(nullptr),
                                      Ordered(42),
                                      Ordered(true),
                                      Ordered::array(),
                                      list(Ordered("str")),
                                      list(Ordered(nullptr)),
                                      list(Ordered{{"type", "text"}}),
                                      list(Ordered{{"type", "text"}, {"text", 7}}),
                                      Ordered::object(),
                                      list(Ordered::array())};
    CHECK(pruned_once(session(odd), clear_all).unchanged());
    Ordered missing = session_of_sizes({9000});
    missing["messages"][2]["content"][0].erase("content");
    CHECK(pruned_once(missing, clear_all).unchanged());
    const Pruned object = pruned_once(session({Ordered{{"a", std::string(9000, 'x')}}}), clear_all);
    CHECK(result_content(object.after, 0) ==
          list(text("[tool result cleared: 9008 characters, 1 other part, ok; Read /src/0.c]")));
    CHECK(fates(pruned_once(session({list(Ordered(std::string(9000, 'x')))}), clear_all)) == "s");
}

TEST_CASE("B79: an assistant message without content or with a string keeps what it has") {
    Ordered messages = session_of_sizes({9000}).at("messages");
    const Ordered no_content = {{"role", "assistant"}};
    const Ordered null_content = {{"role", "assistant"}, {"content", nullptr}};
    messages.push_back(user("a"));
    messages.push_back(no_content);
    messages.push_back(user("b"));
    messages.push_back(null_content);
    messages.push_back(user("c"));
    messages.push_back(assistant(std::string(9000, 's')));
    const Pruned p = pruned_once(body(messages), clear_all);
    Ordered expected = p.before;
    expected["messages"][2]["content"][0]["content"] = cleared("9000 characters, ok; Read /src/0.c");
    CHECK(p.after.dump() == expected.dump());
}

TEST_CASE("B80: system messages in the middle stay and bodies with foreign roles are left alone") {
    Ordered messages = session_of_sizes({9000, 9000}).at("messages");
    messages.insert(messages.begin() + 3, message("system", Ordered(std::string(9000, 's'))));
    messages.insert(messages.begin() + 4, message("developer", list(text(std::string(9000, 'd')))));
    const Pruned p = pruned_once(body(messages), clear_all);
    CHECK(fates(p) == "ss");
    CHECK(p.after["messages"][3] == messages[3]);
    CHECK(p.after["messages"][4] == messages[4]);

    for (const Ordered& foreign :
         {Ordered{{"role", "tool"}, {"tool_call_id", "x"}, {"content", std::string(9000, 't')}},
          Ordered{{"role", "function"}, {"name", "f"}, {"content", std::string(9000, 'f')}},
          Ordered{{"role", "assistant"},
                  {"content", nullptr},
                  {"function_call", {{"name", "f"}, {"arguments", "{}"}}}}}) {
        Ordered mixed = session_of_sizes({9000}).at("messages");
        mixed.push_back(foreign);
        const Pruned left = pruned_once(body(mixed), clear_all);
        CHECK(left.unchanged());
        CHECK(left.report.why == "tool messages of another provider's shape");
    }
}

TEST_CASE("B88: one result that could not be stored takes no place from the others") {
    struct FirstThreeFail {
        coppice::MemorySpillStore memory;
        std::size_t puts = 0;
        std::string reference(std::string_view id, std::string_view content) const {
            return memory.reference(id, content);
        }
        bool put(std::string_view reference, std::string_view content) {
            return puts++ >= 3 && memory.put(reference, content);
        }
    } store;
    const Pruned p = pruned_once(
        session_of_sizes(std::vector<std::size_t>(20, 60'000)),
        coppice::Pipeline{coppice::Spill<coppice::Size{50'000}, FirstThreeFail>{.store = &store}});
    CHECK(fates(p) == "---" + times(17, 'p'));
    CHECK(store.memory.size() == 17);
}

TEST_CASE("B95: text that mentions a tag of ours keeps its bytes where it is stored") {
    const coppice::FenceTags tags = coppice::OpenSwarmRecapWording{}.tags;
    std::string source = "const char* open = \"<openswarm_platform_note>\";\n";
    while (source.size() < 60'000) {
        source += "// \"</openswarm_platform_note>\" & &lt; \xC3\xA9 <b>\t\r\n";
    }
    source += "const char* close = \"</ OpenSwarm-Platform-Note >\";\n" + std::string(1, '\0');
    const auto spilled = [&](const auto& words) {
        coppice::MemorySpillStore store;
        const Pruned p = pruned_once(session({Ordered(source)}),
                                     coppice::Pipeline{coppice::Spill<>{.store = &store}, words});
        const std::string preview = text_of(result_content(p.after, 0));
        const bool whole = store.get(std::string(words.recognise(preview).reference)) == source;
        CHECK(whole);
        CHECK(store.size() == 1);
        return preview;
    };
    // what is shown without a fence is shown as it is
    const std::string plain = spilled(coppice::PlainWording{});
    const bool as_it_is = plain.substr(0, 1800) == coppice::first_chars(source, 1800).substr(0, 1800);
    CHECK(as_it_is);
    // beside a fence only the brackets of tags are spelled otherwise
    const std::string fenced = spilled(coppice::OpenSwarmWording{});
    CHECK(fenced.substr(0, 53) == "const char* open = \"&lt;openswarm_platform_note&gt;\";");
    const std::string_view quoted =
        std::string_view(fenced).substr(0, fenced.rfind("<openswarm_platform_note>"));
    CHECK(coppice::find_tag(quoted, tags) == std::string_view::npos);
    CHECK(quoted.find(" & &lt; \xC3\xA9 <b>\t\r\n") != std::string_view::npos);
}

TEST_CASE("B96: no text of ours gives an order or speaks to the reader") {
    std::vector<std::string> texts;
    const auto collect = [&](const auto& words, const coppice::ResultFacts& facts) {
        std::string out;
        words.result(out, facts);
        texts.push_back(out);
        out.clear();
        words.image(out, facts);
        texts.push_back(out);
    };
    const coppice::PlainWording plain;
    const coppice::OpenSwarmWording openswarm;
    for (const bool error : {false, true}) {
        for (const bool duplicate : {false, true}) {
            for (const std::size_t images : {0U, 1U, 2U}) {
                for (const std::size_t size : {500U, 5000U}) {
                    for (const std::string_view place : {"", "memory:0"}) {
                        const coppice::ResultFacts facts{.size = coppice::ascii(size),
                                                         .images = images,
                                                         .documents = images,
                                                         .others = images,
                                                         .error = error,
                                                         .duplicate = duplicate,
                                                         .first_line = "x",
                                                         .last_line = "y",
                                                         .reference = place};
                        collect(plain, facts);
                        collect(openswarm, facts);
                    }
                }
            }
        }
    }
    const std::string digits(30'000, '1');
    for (const std::string& content : {std::string(), digits, digits + "\n1 passed\n" + digits}) {
        std::string preview;
        plain.preview(preview, {.content = content, .reference = "memory:0", .size = coppice::ascii(60'000)});
        texts.push_back(preview);
    }
    std::string field;
    plain.field(field, {.field = "content", .size = coppice::ascii(5000)});
    texts.push_back(field);
    // the field stub of OpenSwarm and its note say what an OpenSwarm host must see; they are the exceptions
    static constexpr std::array<std::string_view, 25> banned = {
        "you", "your",   "must",   "never",  "always", "do",        "don't", "read", "re-read",
        "run", "re-run", "rerun",  "open",   "fetch",  "load",      "see",   "use",  "call",
        "ask", "ignore", "please", "should", "note",   "important", "obey"};
    std::size_t words = 0;
    for (const std::string& text : texts) {
        CAPTURE(text.substr(0, 200));
        std::string word;
        for (const char c : text + " ") {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '\'';
            if (letter) {
                word += coppice::detail::lower(c);
                continue;
            }
            CHECK(std::find(banned.begin(), banned.end(), word) == banned.end());
            words += !word.empty();
            word.clear();
        }
        CHECK(text.find('!') == std::string::npos);
    }
    CHECK(words > 500);
}

TEST_CASE("B99: the freshest read of a file in use stays and older ones say what was read") {
    Ordered messages = list(user("start"));
    for (const std::size_t turn : {1U, 5U, 9U}) {
        add_pair(messages, "read" + std::to_string(turn), "Read", Ordered{{"file_path", "/a.c"}},
                 Ordered(filler(turn == 9 ? 9 : 1, 6000)));
        for (std::size_t i = 1; i < 4 && turn != 9; ++i) {
            add_pair(messages, "ls" + std::to_string(turn + i), "Bash", Ordered{{"command", "ls"}},
                     Ordered("a.c"));
        }
    }
    add_pair(messages, "edit10", "Edit",
             Ordered{{"file_path", "/a.c"}, {"old_string", "a"}, {"new_string", "b"}}, Ordered("ok"));
    for (std::size_t i = 0; i < 40; ++i) {
        add_pair(messages, "p" + std::to_string(i), "Bash", Ordered{{"command", "t"}},
                 Ordered(filler(i, 1000)));
    }
    messages.push_back(assistant("done"));
    const coppice::Pipeline pipeline{coppice::SmallAging<5>{}, coppice::Dedup<>{}, coppice::KeepRecent<1>{},
                                     coppice::Ceiling<coppice::Size{8000}, 1>{}};
    const Pruned p = pruned(body(messages), pipeline);
    const std::string stub = "[tool result cleared: 6000 characters, ok; Read /a.c]";
    CHECK(result_content(p.after, 0) == stub);
    CHECK(result_content(p.after, 4) == stub);
    CHECK(result_content(p.after, 8) == result_content(p.before, 8));
}

TEST_CASE("B106: a ceiling that cannot be met is one pass that says so and a second one that does nothing") {
    Ordered document = session_of_sizes({1000, 1000, 1000});
    document["system"] = std::string(50'000, 's');
    document["messages"][0]["content"] = std::string(50'000, 'u');
    const coppice::Pipeline pipeline{coppice::Ceiling<coppice::Size{20'000}, 2>{}};
    const Pruned p = pruned(document, pipeline);
    CHECK(fates(p) == "sss");
    CHECK(p.report.under_target == false);
    CHECK_FALSE(p.report.ceiling_why.empty());
    const Pruned again = pruned(p.after, pipeline);
    CHECK(again.unchanged());
    CHECK(again.report.under_target == false);
    CHECK_FALSE(again.report.ceiling_why.empty());
}

TEST_CASE("B107: a newest turn above the ceiling is kept by the floor") {
    const Pruned p = pruned(session_of_sizes({9000, 300'000, 300'000}),
                            coppice::Pipeline<coppice::Ceiling<coppice::Size{120'000}, 2>>{});
    CHECK(fates(p) == "s--");
    CHECK(p.report.under_target == false);
    CHECK(p.report.ceiling_why == "only the floor and what cannot be cleared is left");
}

TEST_CASE("B108: after one pass many more turns fit before the next") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 24; ++i) {
        add_pair(messages, "s" + std::to_string(i), "Read", none_yet, Ordered(filler(i, 1500)));
    }
    for (std::size_t i = 0; i < 6; ++i) {
        add_pair(messages, "h" + std::to_string(i), "Read", none_yet, Ordered(filler(i, 45'000)));
    }
    Ordered document = body(messages);
    std::size_t passes = 0;
    for (std::size_t turn = 0; turn < 20; ++turn) {
        const coppice::Report report = coppice::prune(document, coppice::presets::openswarm());
        passes += report.engaged;
        if (report.engaged) { CHECK(report.under_target == true); }
        add_pair(document["messages"], "n" + std::to_string(turn), "Read", none_yet,
                 Ordered(filler(turn, 3000)));
    }
    CHECK(passes == 1);
}

TEST_CASE("B110: a declared ceiling is enforced to the byte") {
    std::vector<std::size_t> sizes(25, 3000);
    sizes.resize(30, 100'000);
    const Ordered document = session_of_sizes(sizes);
    const Pruned p = pruned(document, coppice::Pipeline<coppice::Ceiling<coppice::Size{120'000}, 2>>{});
    CHECK(fates(p) == times(28, 's') + "--");
    CHECK(p.report.under_target == false);

    // what is left after five are cleared, and one byte around it
    coppice::Ceiling<> ceiling;
    ceiling.target = document.dump().size() - 14'000;
    const std::size_t left = pruned(document, coppice::Pipeline{ceiling}).after.dump().size();
    const auto with = [&](std::size_t target) {
        ceiling.target = target;
        const Pruned near = pruned(document, coppice::Pipeline{ceiling});
        CHECK(near.report.under_target == true);
        return fates(near).substr(0, 7);
    };
    CHECK(with(left - 1) == "ssssss-");
    CHECK(with(left) == "sssss--");
    CHECK(with(left + 1) == "sssss--");
}

TEST_CASE("B111 B112: ten thousand results are one pass with exact figures") {
    const auto many = [](bool equal) {
        Ordered messages = list(user("start"));
        for (std::size_t i = 0; i < 10'000; ++i) {
            const std::string content =
                filler(0, 2980) +
                (equal ? std::string(20, '.') : std::to_string(10'000'000'000'000'000'000ULL + i));
            add_pair(messages, "c" + std::to_string(i), "Read", none_yet, Ordered(content));
        }
        messages.push_back(assistant("done"));
        return body(std::move(messages));
    };
    const auto at_once = [](Ordered document, const auto& pipeline, const std::string& reason,
                            std::size_t count) {
        const std::size_t before = document.dump().size();
        const coppice::Report report = coppice::prune(document, pipeline);
        CHECK(report.saved_bytes == before - document.dump().size());
        REQUIRE(report.by_reason.size() == 1);
        CHECK(report.by_reason[0].reason == reason);
        CHECK(report.by_reason[0].count == count);
    };
    const Ordered distinct = many(false);
    const Ordered equal = many(true);
    using Same = coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>;
    at_once(distinct, coppice::Pipeline<Same, coppice::Ceiling<coppice::Size{0}, 0>>{}, "ceiling", 10'000);
    at_once(distinct, coppice::Pipeline<Same, coppice::Ceiling<coppice::Size{20'000}, 10>>{}, "ceiling",
            9'990);
    at_once(distinct, coppice::Pipeline<Same, coppice::KeepRecent<5>>{}, "keep_recent", 9'995);
    at_once(equal, coppice::Pipeline<Same>{}, "dedup", 9'999);
    at_once(equal, coppice::Pipeline<Same, coppice::KeepRecent<0>>{}, "keep_recent", 10'000);
    Ordered untouched = distinct;
    CHECK_FALSE(coppice::prune(untouched, coppice::Pipeline<Same>{}).engaged);
}

TEST_CASE("B114: planning never changes the document and pruning changes no copy of it") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(8, 6000));
    const Ordered saved = document;
    CHECK(coppice::plan(document, clear_all).edits.size() == 8);
    const bool planned_only = document == saved;
    CHECK(planned_only);
    Ordered pruned_copy = document;
    coppice::prune(pruned_copy, clear_all);
    const bool original_kept = document == saved && pruned_copy != saved;
    CHECK(original_kept);
}

TEST_CASE("B115: outputs that must survive do, under a ceiling too and behind a server prefix") {
    Ordered messages = list(user("start"));
    for (const std::string tool : {"skill", "Skill", "todoread", "TodoWrite", "mcp__x__skill", "Read"}) {
        add_pair(messages, tool, tool, Ordered{{"content", filler(0, 3000)}}, Ordered(filler(1, 9000)));
    }
    messages.push_back(assistant("done"));
    const coppice::Pipeline pipeline{coppice::SmallAging<0>{},
                                     coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{},
                                     coppice::KeepRecent<0>{},
                                     coppice::BulkyInputClear<0>{},
                                     coppice::Ceiling<coppice::Size{100}, 0>{},
                                     coppice::ExemptTools{}};
    const Pruned p = pruned(body(messages), pipeline);
    CHECK(fates(p) == "-----s");
    CHECK(input_fates(p) == "-----c");
}
