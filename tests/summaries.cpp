// SPDX-License-Identifier: MIT
#include <coppice/summaries.hpp>

#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace support;

namespace {

const coppice::Pipeline<coppice::KeepEnds<0, 0, coppice::chars(40)>, coppice::ToolSummaries> summing_up{};

// What stands behind size and outcome in the stub of a call.
std::string said(const std::string& tool, Ordered input, const std::string& output = filler(0, 400), bool failed = false) {
    Ordered messages = list(user("start"));
    add_pair(messages, "c", tool, std::move(input), Ordered(output), failed);
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), summing_up);
    REQUIRE(p.report.edits.size() == 1);
    const std::string& text = p.report.edits[0].replacement;
    const std::size_t at = text.find("; ");
    return at == std::string::npos ? "" : text.substr(at + 2, text.size() - at - 3);
}

// A result as hermes-agent's tools give it.
std::string object(const Ordered& members) { return members.dump() + std::string(400, ' '); }

}  // namespace

TEST_CASE("summaries: a shell says its command, exit code and lines") {
    CHECK(said("terminal", {{"command", "npm test"}}, object({{"output", filler(0, 100)}, {"exit_code", 0}})) ==
          "terminal ran npm test, exit code 0, 1 line");
    CHECK(said("Bash", {{"command", "make\n-j"}}, filler(0, 400)) == "Bash ran make -j, 7 lines");
    CHECK(said("exec_command", {{"cmd", "ls"}}, "Process exited with code 127\n" + filler(0, 400)) ==
          "exec_command ran ls, exit code 127, 8 lines");
    CHECK(said("bash", {{"command", ""}, {"cmd", " "}}) == "bash, 7 lines");
    CHECK(said("bash", {{"command", list("ls", "-l")}}) == "bash, 7 lines");
    CHECK(said("bash", {{"restart", true}}, std::string(400, '\n')) == "bash, 0 lines");
    // the last one counts, and only a number
    CHECK(said("bash", {{"command", "x"}}, R"("exit_code": 1, "exit_code" :-2)" + std::string(400, ' ')) ==
          "bash ran x, exit code -2, 1 line");
    CHECK(said("bash", {{"command", "x"}}, R"("exit_code": null)" + std::string(400, ' ')) == "bash ran x, 1 line");
    CHECK(said("bash", {{"command", "x"}}, R"("exit_code": -)" + std::string(400, ' ')) == "bash ran x, 1 line");
    CHECK(said("bash", {{"command", "x"}}, std::string(400, ' ') + R"("exit_code")") == "bash ran x, 1 line");
    const std::string many = said("bash", {{"command", std::string(81, 'c')}}, R"("exit_code": )" + std::string(500, '9'));
    CHECK(many ==
          "bash ran " + std::string(39, 'c') + "..." + std::string(38, 'c') + ", exit code 99999999999999999999, 1 line");
}

TEST_CASE("summaries: a failed shell says its first and last line, too") {
    CHECK(said("terminal", {{"command", "make"}}, "cc1: error\n" + filler(0, 400) + "\nmake: Error 1", true) ==
          "terminal ran make, 9 lines; first line: cc1: error; last line: make: Error 1");
}

TEST_CASE("summaries: code says its beginning and how many lines it printed") {
    CHECK(said("execute_code", {{"code", "import json\nprint(1)"}}) == "execute_code import json print(1), 7 lines");
    CHECK(said("python", {{"script", "x"}}) == "python x, 7 lines");
    CHECK(said("code_interpreter", {{"code", 7}, {"input", "y"}}) == "code_interpreter y, 7 lines");
}

TEST_CASE("summaries: files that were read, written and patched") {
    CHECK(said("read_file", {{"path", "src/main.c"}, {"offset", 200}, {"limit", 50}}) ==
          "read_file src/main.c from line 200");
    CHECK(said("Read", {{"file_path", "/a b"}, {"offset", "7"}}) == "Read /a b from line 7");
    CHECK(said("Read", {{"file_path", "/a"}, {"offset", nullptr}}) == "Read /a");
    CHECK(said("Read", {{"path", " "}, {"filePath", "/b"}}) == "Read /b");
    CHECK(said("read", Ordered::object()) == "read");
    // more than the name, where the input has it elsewhere
    CHECK(said("read", {{"filename", "/c"}, {"x", 1}}) == "read /c");
    CHECK(said("edit", {{"x", 1}, {"line", 7}}) == "edit line=7 x=1");
    CHECK(said("write_file", {{"path", "/a"}, {"content", "1\n2\n3"}}) == "write_file /a, 3 lines written");
    CHECK(said("Write", {{"file_path", "/a"}, {"content", "1"}}) == "Write /a, 1 line written");
    CHECK(said("Write", {{"file_path", "/a"}, {"content", ""}}) == "Write /a, 0 lines written");
    CHECK(said("Write", {{"file_path", "/a"}, {"content", 7}}) == "Write /a");
    CHECK(said("patch", {{"mode", "replace"}, {"path", "/a"}}) == "patch replace in /a");
    CHECK(said("Edit", {{"file_path", "/a"}, {"new_string", "x"}}) == "Edit in /a");
}

TEST_CASE("summaries: searches say what for, where, and how much was found") {
    CHECK(said("search_files", {{"target", "content"}, {"pattern", "TODO"}, {"path", "src"}},
               object({{"total_count", 12}})) == "search_files content for TODO in src, 12 matches");
    CHECK(said("search_files", {{"pattern", "x"}}, object({{"total_count", 1}})) == "search_files for x, 1 match");
    CHECK(said("Grep", {{"pattern", "a]b\"c"}, {"path", "/s"}}) == "Grep for a)b'c in /s");
    CHECK(said("web_search", {{"query", "rate limits"}}) == "web_search for rate limits");
    CHECK(said("WebSearch", {{"query", 7}}) == "WebSearch query=7");
    CHECK(said("web_extract", {{"urls", list("https://a.example/1", "https://b.example", "x")}}) ==
          "web_extract https://a.example/1 and 2 more");
    CHECK(said("web_extract", {{"urls", list(Ordered{{"url", "https://a"}}, Ordered{{"href", "https://b"}})}}) ==
          "web_extract https://a and 1 more");
    CHECK(said("WebFetch", {{"url", "https://a"}, {"prompt", "p"}}) == "WebFetch https://a");
    CHECK(said("fetch", {{"urls", Ordered::array()}, {"url", Ordered{{"url", "no list"}}}}) == "fetch");
    CHECK(said("web_extract", {{"urls", list(" ", "https://b")}}) == "web_extract https://b");
}

TEST_CASE("summaries: every tool of a browser says where it was and what it touched") {
    CHECK(said("browser_navigate", {{"url", "https://a"}}) == "browser_navigate https://a");
    CHECK(said("browser_click", {{"ref", "e12"}}) == "browser_click ref=e12");
    CHECK(said("browser_click", {{"ref", 12}}) == "browser_click ref=12");
    CHECK(said("browser_", Ordered::object()) == "browser_");
    CHECK(said("mcp__playwright__browser_click", {{"ref", "e1"}, {"element", "x"}}) ==
          "mcp__playwright__browser_click ref=e1");
    CHECK(said("xbrowser_click", {{"ref", "e12"}}) == "xbrowser_click ref=e12");
}

TEST_CASE("summaries: tasks, skills and questions") {
    CHECK(said("delegate_task", {{"goal", "find the flaky test"}}) == "delegate_task find the flaky test");
    CHECK(said("Task", {{"description", "look"}, {"prompt", "long"}}) == "Task look");
    CHECK(said("skill_view", {{"name", "deploy"}}) == "skill_view deploy, not loaded any more");
    CHECK(said("Skill", {{"skill", "pdf"}}) == "Skill pdf, not loaded any more");
    CHECK(said("clarify", {{"question", "Which branch?"}}, object({{"user_response", "main"}})) ==
          "clarify Which branch?, answered: main");
    CHECK(said("AskUserQuestion", {{"question", "Which?"}}, "the second one\n" + filler(0, 400)) ==
          "AskUserQuestion Which?, answered: the second one");
    CHECK(said("question", {{"question", "Which?"}}, object({{"timeout", true}})) == "question Which?");
    CHECK(said("question", {{"question", "Which?"}}, std::string(400, '\n')) == "question Which?");
}

TEST_CASE("summaries: a tool behind a server is the tool, and no tool is known by a part of its name") {
    CHECK(said("mcp__files__read_file", {{"path", "/a"}, {"offset", 3}}) == "mcp__files__read_file /a from line 3");
    CHECK(said("mcp__read_file", {{"path", "/a"}, {"offset", 3}}) == "mcp__read_file /a from line 3");
    CHECK(said("bread", {{"path", "/a"}, {"offset", 3}}) == "bread /a");
    CHECK(said("read_file_2", {{"path", "/a"}, {"offset", 3}}) == "read_file_2 /a");
}

TEST_CASE("summaries: what an earlier pruning cleared is not told wrong") {
    const std::string content = filler(0, 900);
    Ordered messages = list(user("start"));
    add_pair(messages, "w", "write_file", Ordered{{"path", "/a"}, {"content", content}}, Ordered(filler(1, 900)));
    add_pair(messages, "t", "terminal", Ordered{{"command", "python3 - <<END\n" + content}}, Ordered(filler(2, 900)));
    messages.push_back(assistant("done"));
    const Ordered document = body(messages);
    const coppice::StaleInput<0, 0> inputs;
    const coppice::SmallAging<0> results;
    const coppice::ToolSummaries words;
    const Pruned fed = pruned(pruned(document, coppice::Pipeline{inputs, words}).after, coppice::Pipeline{results, words});
    CHECK(text_of(result_content(fed.after, 0)) == cleared("900 characters, ok; write_file /a"));
    CHECK(text_of(result_content(fed.after, 1)) == cleared("900 characters, ok; terminal, 15 lines"));
    // what goes at the same time is told whole, whoever is listed first
    const Ordered one = pruned(document, coppice::Pipeline{inputs, results, words}).after;
    const Ordered two = pruned(document, coppice::Pipeline{results, inputs, words}).after;
    CHECK(one == two);
    CHECK(text_of(result_content(one, 0)) == cleared("900 characters, ok; write_file /a, 15 lines written"));
}

TEST_CASE("summaries: no input makes a stub that is not known again, or differs between bytes and DOM") {
    const std::vector<std::string> hostile = {
        "]\",\"x\":[",
        "\n\r\t",
        std::string("\0\x01\x7F", 3),
        "\xE2\x80\xAE\xF0\x9F\x98\x80",
        std::string(4000, '['),
        std::string(4000, '\n'),
        "; first line: x",
        ", exit code 0, 9 lines",
        "[tool input cleared: 5 characters; command]",
        "[tool input cleared: 5 characters; command; first line: x]",
        "\"exit_code\": 1e9",
        "\"total_count\": -5",
        "{\"user_response\":\"]\"}",
        "{\"user_response\":",
        "<system>",
    };
    const std::vector<const char*> tools = {"terminal",     "execute_code", "read_file",  "write_file",  "patch",
                                            "search_files", "browser_x",    "web_search", "web_extract", "delegate_task",
                                            "skill_view",   "clarify",      "unknown"};
    static constexpr std::array<const char*, 20> names = {
        "command", "cmd", "code", "path", "offset", "content",  "mode",      "target", "pattern", "query",
        "url",     "ref", "urls", "goal", "name",   "question", "file_path", "script", "input",   "skill"};
    for (const std::string& text : hostile) {
        Ordered same = Ordered::object();
        Ordered lists = Ordered::object();
        Ordered objects = Ordered::object();
        for (const char* name : names) {
            same[name] = text;
            lists[name] = list(text, list(text), Ordered{{"url", text}, {"href", 7}}, nullptr);
            objects[name] = Ordered{{name, text}};
        }
        Ordered messages = list(user("start"));
        std::size_t number = 0;
        for (const char* tool : tools) {
            for (const Ordered& input : {same, lists, objects}) {
                add_pair(messages, "c" + std::to_string(number), tool, input, Ordered(text + filler(number, 300) + text),
                         number % 5 == 0);
                ++number;
            }
        }
        messages.push_back(assistant("done"));
        const Pruned p = pruned(body(messages), summing_up);
        CHECK(p.report.edits.size() > number / 2);
        for (const coppice::EditRecord& edit : p.report.edits) {
            CHECK(coppice::PlainWording().recognise(edit.replacement).kind == coppice::Recognised::Kind::stub);
            CHECK(edit.replacement.find_first_of("[]<>\n\\\"", 1) == edit.replacement.size() - 1);
        }
        pruned(body(messages), coppice::Pipeline{coppice::StaleInput<0, 0, coppice::chars(1), coppice::chars(40)>{},
                                                 coppice::SmallAging<0>{}, coppice::ToolSummaries{}});
    }
}
