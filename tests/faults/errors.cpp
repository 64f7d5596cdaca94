// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

using coppice::Dialect;

const Ordered none_yet = Ordered::object();

}  // namespace

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

TEST_CASE("B59: in every dialect a failure still looks like one after clearing") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& told) {
            Ordered messages = list(in.user("start"));
            in.add_pair(messages, {"t1", "Bash", Ordered{{"command", "make all"}}}, told, true);
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        const std::string output = "Error: no such file\n" + filler(0, 9000) + "\nmake: *** Error 1\n";
        // is_error, status and the key `error` are those that were there
        const bool only_text_changed =
            pruned(build(output), clear_all).after.dump() ==
            build(in.cleared(
                      std::to_string(output.size()) +
                      " characters, failed; Bash make all; first line: Error: no such file; last line: make: "
                      "*** Error 1"))
                .dump();
        CHECK(only_text_changed);
    });
}

TEST_CASE("B59: items of Responses that say it elsewhere failed too") {
    const Spelling in(Dialect::openai_responses);
    Ordered document = in.session({filler(0, 9000), filler(1, 9000)});
    document["input"][2]["status"] = "failed";
    document["input"][3] = Ordered{{"type", "shell_call"},
                                   {"call_id", "call_1"},
                                   {"action", {{"commands", list(Ordered("make"))}}},
                                   {"status", "completed"}};
    const Ordered outcome = {{"type", "exit"}, {"exit_code", 2}};
    document["input"][4] =
        Ordered{{"type", "shell_call_output"},
                {"call_id", "call_1"},
                {"output", list(Ordered{{"stdout", ""}, {"stderr", filler(1, 9000)}, {"outcome", outcome}})}};
    const Pruned p = pruned(document, clear_all);
    CHECK(p.after["input"][2]["status"] == "failed");
    CHECK(in.text(p.after, 0).find(" characters, failed; ") != std::string::npos);
    const Ordered& chunk = p.after["input"][4]["output"][0];
    CHECK(chunk["outcome"] == outcome);
    CHECK(chunk["stdout"] == "");
    CHECK(chunk["stderr"].get<std::string>().find("[tool result cleared: 9000 characters, failed; ") == 0);
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

TEST_CASE("B60: in every dialect the verdict at the end of a long output is in the preview") {
    std::string output;
    for (int i = 0; i < 40'000; ++i) { output += "ok\n"; }
    output += "2 failed, 98 passed";
    in_every_dialect([&output](const Spelling& in) {
        coppice::MemorySpillStore store;
        const Pruned p = pruned(in.session({output}), coppice::Pipeline{coppice::Spill<>{.store = &store}});
        const std::string preview = in.text(p.after, 0);
        REQUIRE(in.fates(p) == "p");
        CHECK(preview.substr(preview.size() - 19) == "2 failed, 98 passed");
        CHECK(preview.substr(0, 3) == "ok\n");
        CHECK(preview.find(std::to_string(output.size()) + " characters") != std::string::npos);
        CHECK(preview.size() < 4000 + 200);
    });
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

TEST_CASE("B61: in every dialect what the provider runs and answers itself stays as a pair") {
    const std::string big(9000, 'b');
    in_every_dialect([&big](const Spelling& in) {
        Ordered document = in.session({filler(0, 9000), filler(1, 9000)});
        std::vector<Ordered> blocks;
        Ordered items = Ordered::array();
        switch (in.dialect()) {
            case Dialect::openai_chat:
                items.push_back(
                    Ordered{{"role", "assistant"},
                            {"content", big},
                            {"annotations", list(Ordered{{"type", "url_citation"}, {"title", big}})}});
                break;
            case Dialect::openai_responses:
                items = list(Ordered{{"type", "web_search_call"}, {"id", "ws"}, {"status", "completed"}},
                             Ordered{{"type", "code_interpreter_call"},
                                     {"id", "ci"},
                                     {"code", big},
                                     {"outputs", list(Ordered{{"type", "logs"}, {"logs", big}})}},
                             Ordered{{"type", "mcp_call"},
                                     {"id", "m"},
                                     {"name", "w"},
                                     {"arguments", "{}"},
                                     {"output", big}},
                             Ordered{{"type", "image_generation_call"}, {"id", "ig"}, {"result", big}},
                             Ordered{{"type", "tool_of_tomorrow_call"}, {"id", "tt"}, {"output", big}});
                break;
            case Dialect::gemini:
                blocks = {Ordered{{"executableCode", {{"language", "PYTHON"}, {"code", big}}}},
                          Ordered{{"codeExecutionResult", {{"outcome", "OUTCOME_OK"}, {"output", big}}}}};
                break;
            case Dialect::bedrock:
                blocks = {Ordered{{"toolUse",
                                   {{"toolUseId", "s"},
                                    {"name", "w"},
                                    {"input", {{"content", big}}},
                                    {"type", "server_tool_use"}}}},
                          Ordered{{"toolResult",
                                   {{"toolUseId", "s"},
                                    {"type", "web_search_tool_result"},
                                    {"content", list(Ordered{{"text", big}})}}}}};
                break;
            default:
                blocks = {Ordered{{"type", "server_tool_use"},
                                  {"id", "s"},
                                  {"name", "web_search"},
                                  {"input", {{"content", big}}}},
                          Ordered{{"type", "web_search_tool_result"},
                                  {"tool_use_id", "s"},
                                  {"content", list(Ordered{{"type", "web_search_result"},
                                                           {"url", "u"},
                                                           {"encrypted_content", big}})}}};
        }
        Ordered& messages = document[in.list_key()];
        if (items.empty()) {
            Ordered turn = in.assistant("searched");
            Ordered& made = turn[in.is(Dialect::gemini) ? "parts" : "content"];
            made = Ordered::array();
            for (const Ordered& block : blocks) { made.push_back(block); }
            items.push_back(std::move(turn));
        }
        messages.insert(messages.begin() + 3, items.begin(), items.end());
        Ordered expected = document;
        for (const std::size_t i : {0U, 1U}) {
            expected[in.contents(document).at(i + (in.is(Dialect::bedrock) ? i : 0))] =
                in.content(in.cleared("9000 characters, ok; Read /src/" + std::to_string(i) + ".c"));
        }
        const bool only_results_changed = pruned_alike(document, clear_all).after.dump() == expected.dump();
        CHECK(only_results_changed);
    });
}
