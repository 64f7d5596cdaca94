// SPDX-License-Identifier: MIT
#include <coppice/policies/stale_input.hpp>

#include "support/allocations.hpp"
#include "support/dialects.hpp"
#include "support/pruned.hpp"

#include <coppice/cadences/min_reclaim.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_ends.hpp>
#include <coppice/policies/small_aging.hpp>
#include <coppice/summaries.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace support;

namespace {

Ordered calls(const std::vector<Ordered>& inputs, const std::string& output = "ok", const std::string& tool = "Edit") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        add_pair(messages, "c" + std::to_string(i), tool, inputs[i], Ordered(output));
    }
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

std::string cleared_input(std::size_t size, const std::string& name) {
    return "[tool input cleared: " + std::to_string(size) + " characters; " + name + "]";
}

// Where an edit of an input says that it is, there it is.
void check_pointers(const Spelling& in, const Pruned& p) {
    const std::vector<Ordered> before = in.inputs(p.before);
    const std::vector<Ordered> after = in.inputs(p.after);
    const bool packed = in.is(coppice::Dialect::openai_chat) || in.is(coppice::Dialect::openai_responses);
    REQUIRE(before.size() == 1);
    Ordered expected = before[0];
    for (const coppice::EditRecord& edit : p.report.edits) {
        CAPTURE(edit.path);
        const std::string input = in.is(coppice::Dialect::openai_chat)        ? "/tool_calls/0/function/arguments"
                                  : in.is(coppice::Dialect::openai_responses) ? "/arguments"
                                  : in.is(coppice::Dialect::gemini)           ? "/functionCall/args"
                                  : in.is(coppice::Dialect::bedrock)          ? "/toolUse/input"
                                                                              : "/input";
        const std::string root = packed ? input + "#" : input;
        REQUIRE(edit.path.substr(0, root.size()) == root);
        const Ordered::json_pointer inside(edit.path.substr(root.size()));
        CHECK(before[0].at(inside).is_string());
        CHECK(after[0].at(inside) == edit.replacement);
        expected.at(inside) = edit.replacement;
    }
    CHECK(after[0] == expected);
}

constexpr coppice::StaleInput<0, 0> all_inputs{};

}  // namespace

TEST_CASE("stale_input: long texts of any name go whole, all that is short and no text stays") {
    const Ordered input = {{"file_path", filler(0, 300)},
                           {"anything", filler(1, 200)},
                           {"other", filler(2, 199)},
                           {"id", "12345678901234567890"},
                           {"n", 12345678901234567890ULL},
                           {"flag", true},
                           {"none", nullptr},
                           {"list", list(1, "a", filler(3, 400))}};
    const Pruned p = pruned(calls({input}), coppice::Pipeline{all_inputs});
    Ordered expected = input;
    expected["anything"] = cleared_input(200, "anything");
    expected["list"][2] = cleared_input(400, "list");
    CHECK(call_input(p.after, 0).dump() == expected.dump());
    REQUIRE(p.report.edits.size() == 2);
    CHECK(p.report.edits[0].reason == "stale_input");
    CHECK(p.report.edits[1].path == "/input/list/2");
}

TEST_CASE("stale_input: an input goes only where its texts have enough together") {
    const auto fate = [](std::vector<std::size_t> sizes) {
        Ordered input = Ordered::object();
        for (std::size_t i = 0; i < sizes.size(); ++i) { input["t" + std::to_string(i)] = filler(i, sizes[i]); }
        return input_fates(pruned(calls({input}), coppice::Pipeline{all_inputs}));
    };
    CHECK(fate({500}) == "-");
    CHECK(fate({501}) == "c");
    CHECK(fate({250, 250}) == "-");
    CHECK(fate({250, 251}) == "c");
    CHECK(fate({200, 150, 151}) == "c");
    CHECK(fate({199, 199, 199}) == "-");
    // the path counts, but stays
    CHECK(input_fates(pruned(calls({{{"path", filler(0, 400)}, {"x", filler(1, 150)}}}), coppice::Pipeline{all_inputs})) ==
          "-");
}

TEST_CASE("stale_input: the first and the newest messages keep what they were made with") {
    // messages: user, then pairs with the calls at 1, 3, 5, 7, 9, then the answer at 11
    const Ordered document = calls(std::vector<Ordered>(5, Ordered{{"x", filler(0, 600)}}));
    const auto input = [&](std::size_t head, std::size_t tail) {
        return input_fates(pruned(document, coppice::Pipeline{coppice::StaleInput<>{.head = head, .tail = tail}}));
    };
    CHECK(input(0, 0) == "ccccc");
    CHECK(input(2, 0) == "-cccc");
    CHECK(input(1, 0) == "ccccc");
    CHECK(input(0, 2) == "ccccc");
    CHECK(input(0, 3) == "cccc-");
    CHECK(input(2, 4) == "-ccc-");
    CHECK(input(100, 0) == "-----");
    CHECK(input(0, 100) == "-----");
    CHECK(input(static_cast<std::size_t>(-1), 0) == "-----");
}

TEST_CASE("stale_input: of a long command the first line stays in the stub") {
    const std::string script = "python3 - <<'END'\nimport \"json\"\n" + filler(0, 900);
    const Pruned p = pruned(calls({{{"command", script}, {"timeout", 7}}}, "ok", "Bash"), coppice::Pipeline{all_inputs});
    CHECK(call_input(p.after, 0)["command"] ==
          "[tool input cleared: " + std::to_string(script.size()) + " characters; command; first line: python3 - (('END']");
    // a text that names nothing has none
    const Pruned q = pruned(calls({{{"command", "x"}, {"stdin", script}}}), coppice::Pipeline{all_inputs});
    CHECK(call_input(q.after, 0)["stdin"] == cleared_input(script.size(), "stdin"));
}

TEST_CASE("stale_input: a patch goes although it names the file") {
    const std::string patch = "*** Begin Patch\n*** Update File: src/a.c\n" + filler(0, 900);
    const Pruned p = pruned(calls({{{"input", patch}}}, filler(1, 900), "apply_patch"),
                            coppice::Pipeline{coppice::SmallAging<0>{}, all_inputs});
    CHECK(call_input(p.after, 0)["input"] == cleared_input(patch.size(), "input"));
    CHECK(result_content(p.after, 0) == cleared("900 characters, ok; apply_patch src/a.c"));
}

TEST_CASE("stale_input: of two patches in one input one names the call, in whatever order they come") {
    const auto patch = [](const char* file) {
        return "*** Begin Patch\n*** Update File: src/" + std::string(file) + "\n@@\n";
    };
    for (const bool first : {false, true}) {
        const Ordered input = first ? Ordered{{"a", patch("one.c")}, {"b", patch("two.c")}}
                                    : Ordered{{"b", patch("two.c")}, {"a", patch("one.c")}};
        const Pruned p = pruned(calls({input}, filler(0, 900), "apply_patch"),
                                coppice::Pipeline{coppice::KeepEnds<0, 0, coppice::chars(500)>{}});
        CHECK(result_content(p.after, 0) == cleared("900 characters, ok; apply_patch src/one.c"));
    }
}

TEST_CASE("stale_input: an unanswered call stays, and one whose result is unread") {
    Ordered messages = calls(std::vector<Ordered>(2, Ordered{{"x", filler(0, 600)}})).at("messages");
    messages.erase(messages.size() - 1);
    CHECK(input_fates(pruned(body(messages), coppice::Pipeline{all_inputs})) == "c-");
    messages.erase(messages.size() - 1);
    CHECK(input_fates(pruned_once(body(messages), coppice::Pipeline{all_inputs})) == "c-");
}

TEST_CASE("stale_input: inputs of any depth in every dialect, and each edit is where the report says") {
    const Ordered input = Ordered::parse(
        R"({"edits":[{"new_string":"N","deep":[["L",{"a/b~c":"D","":{"~1":"E"}}]]},"T"],"a~/b":{"c":{"d":["F","short"]}}})");
    Ordered filled = input;
    const auto long_text = [](char letter) { return std::string(300, letter); };
    filled["edits"][0]["new_string"] = long_text('N');
    filled["edits"][0]["deep"][0][0] = long_text('L');
    filled["edits"][0]["deep"][0][1]["a/b~c"] = long_text('D');
    filled["edits"][0]["deep"][0][1][""]["~1"] = long_text('E');
    filled["edits"][1] = long_text('T');
    filled["a~/b"]["c"]["d"][0] = long_text('F');
    in_every_dialect([&](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"c", "Edit", filled}, "ok");
        messages.push_back(in.assistant("done"));
        const Pruned p = pruned_alike(in.body(messages), coppice::Pipeline{all_inputs}, in.dialect());
        CHECK(p.report.edits.size() == 6);
        check_pointers(in, p);
        check_laws(p.before, coppice::Pipeline{all_inputs});
    });
}

TEST_CASE("stale_input: keys that an escape spells are found, too") {
    const std::string spelled = R"({"k\u0065y\n\"":{"\ud83d\ude00":")" + std::string(600, 'x') + R"("}})";
    const Ordered document = calls({Ordered::parse(spelled)});
    const Pruned p = pruned_alike(document, coppice::Pipeline{all_inputs});
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].path == "/input/key\n\"/\xF0\x9F\x98\x80");
    std::string bytes = document.dump();
    const std::string compact = document["messages"][1]["content"][0]["input"].dump();
    bytes.replace(bytes.find(compact), compact.size(), spelled);
    const coppice::PrunedBody left = coppice::prune(bytes, coppice::Pipeline{all_inputs});
    CHECK(Ordered::parse(left.bytes(bytes)) == p.after);
}

TEST_CASE("stale_input: objects that have a key twice stay as they are, at any depth") {
    const std::string text = '"' + std::string(600, 'x') + '"';
    const auto left = [](const std::string& input) {
        const std::string marked = R"({"key":"put it here"})";
        std::string bytes = calls({Ordered::parse(marked)}).dump();
        bytes.replace(bytes.find(marked), marked.size(), input);
        const coppice::PrunedBody out = coppice::prune(bytes, coppice::Pipeline{all_inputs});
        const std::string after(out.bytes(bytes));
        const coppice::PrunedBody again = coppice::prune(after, coppice::Pipeline{all_inputs});
        CHECK(again.bytes(after) == after);
        std::size_t gone = 0;
        for (std::size_t at = after.find("[tool input cleared"); at != std::string::npos;
             at = after.find("[tool input cleared", at + 1)) {
            ++gone;
        }
        return gone;
    };
    CHECK(left(R"({"a":)" + text + R"(,"b":)" + text + "}") == 2);
    CHECK(left(R"({"a":)" + text + R"(,"a":)" + text + "}") == 0);
    CHECK(left(R"({"x":{"a":)" + text + R"(,"a":)" + text + R"(},"b":)" + text + "}") == 1);
    CHECK(left(R"({"x":[{"a":)" + text + R"(,"\u0061":)" + text + R"(}],"b":)" + text + "}") == 1);
    CHECK(left(R"({"x":{"y":[[{"a":)" + text + R"(,"a":1}]],"b":)" + text + "}}") == 1);
}

TEST_CASE("stale_input: packed input that is no object, or no JSON, stays") {
    for (const std::string& arguments :
         {std::string("{\"a\":"), "\"" + std::string(900, 'x') + "\"", "[\"" + std::string(900, 'x') + "\"]",
          std::string(900, 'x'), "{\"a\":\"" + std::string(900, 'x') + "\",\"a\":1}", std::string()}) {
        const Ordered document = {
            {"model", "m"},
            {"messages",
             list(user("start"),
                  Ordered{{"role", "assistant"},
                          {"content", nullptr},
                          {"tool_calls", list(Ordered{{"id", "c"},
                                                      {"type", "function"},
                                                      {"function", {{"name", "Edit"}, {"arguments", arguments}}}})}},
                  Ordered{{"role", "tool"}, {"tool_call_id", "c"}, {"content", "ok"}}, assistant("done"))}};
        CHECK(pruned_alike(document, coppice::Pipeline{all_inputs}).unchanged());
    }
}

TEST_CASE("stale_input: what an earlier pruning cleared names no result, and frees none that stayed") {
    const std::string script = "python3 - <<'END'\n" + filler(0, 900);
    // a stub with the command would be longer than the result, one without would not
    const Ordered document = calls({{{"command", script}}}, filler(1, 100), "Bash");
    const coppice::Pipeline pipeline{coppice::SmallAging<0>{}, all_inputs};
    const Pruned p = pruned(document, pipeline);
    CHECK(input_fates(p) == "c");
    CHECK(fates(p) == "-");
    const Pruned longer = pruned(calls({{{"command", script}}}, filler(1, 400), "Bash"), pipeline);
    CHECK(fates(longer) == "s");
    // fed back, a result that ages later says no command any more
    const Ordered fed = pruned(calls({{{"command", script}}}, filler(1, 400), "Bash"), coppice::Pipeline{all_inputs}).after;
    const Pruned later = pruned(fed, pipeline);
    CHECK(result_content(later.after, 0) == cleared("400 characters, ok; Bash"));
    for (const std::size_t size : {60U, 80U, 100U, 120U, 140U, 160U, 180U, 200U, 220U, 240U, 260U, 280U, 300U}) {
        for (const std::size_t name : {200U, 210U, 900U}) {
            CAPTURE(size);
            const coppice::StaleInput<0, 0, coppice::chars(10), coppice::chars(60)> most;
            const std::string command = filler(0, name);
            for (const char* tool : {"Bash", "write_file", "other"}) {
                const Ordered input = {{"command", command}, {"content", filler(2, name)}, {"path", "a"}};
                const Ordered bare = {{"command", command}, {"code", filler(2, name)}};
                for (const Ordered& one : {input, bare}) {
                    pruned(calls({one}, filler(1, size), tool), coppice::Pipeline{coppice::SmallAging<0>{}, most});
                    pruned(calls({one}, filler(1, size), tool),
                           coppice::Pipeline{coppice::SmallAging<0>{}, most, coppice::ToolSummaries{}});
                }
            }
        }
    }
}

TEST_CASE("stale_input: what was cleared at depth or in a list is known again, however short its stub") {
    const coppice::StaleInput<0, 0, coppice::chars(10), coppice::chars(60)> most;
    const coppice::KeepEnds<0, 6, coppice::chars(60)> ends;
    const std::string text = filler(0, 600);
    const std::vector<Ordered> inputs = {
        {{"a", Ordered{{"b", text}}}},
        {{"items", list(text)}},
        {{"command", list("bash", "-lc", text)}},
        {{"urls", list(text, Ordered{{"url", text}})}},
        {{"input", "*** Begin Patch\n*** Update File: " + filler(1, 110) + "\n" + text}},
        // as a model copies them
        {{"content", cleared_input(900, "content")}, {"a", text}},
    };
    for (std::size_t size = 60; size <= 420; size += 4) {
        CAPTURE(size);
        for (const Ordered& input : inputs) {
            Ordered document = calls({input}, filler(1, size), "db");
            for (int i = 0; i < 4; ++i) {
                add_pair(document["messages"], "l" + std::to_string(i), "Bash", Ordered{{"command", "ls"}}, Ordered("ok"));
            }
            document["messages"].push_back(assistant("done"));
            // `pruned` asks that the second time changes nothing
            const Pruned p = pruned(document, coppice::Pipeline{most, ends, coppice::MinReclaim<1>{}, coppice::ToolSummaries{}});
            CHECK(input_fates(p).find('c') == 0);
            pruned(document, coppice::Pipeline{most, ends, coppice::MinReclaim<1>{}});
        }
    }
}

TEST_CASE("stale_input: an image that stayed because its line was no shorter stays without the command, too") {
    const Ordered picture = {{"type", "image"}, {"source", {{"type", "url"}, {"url", "https://a.example/0123456789"}}}};
    Ordered messages = list(user("start"));
    add_pair(messages, "c", "Shot", Ordered{{"command", filler(0, 900)}}, list(text("see"), picture));
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), coppice::Pipeline{coppice::KeepEnds<0, 0>{}, all_inputs});
    CHECK(input_fates(p) == "c");
    CHECK(fates(p) == "-");
}

TEST_CASE("stale_input: inputs of any depth and size take what they have, once") {
    std::string deep;
    for (int i = 0; i < 200'000; ++i) { deep += "{\"a\":["; }
    deep += '"' + std::string(600, 'x') + '"';
    for (int i = 0; i < 200'000; ++i) { deep += "]}"; }
    std::string wide = "[";
    for (int i = 0; i < 1'000'000; ++i) { wide += "\"abc\","; }
    wide += "[]]";
    std::string empty = "[";
    for (int i = 0; i < 300'000; ++i) { empty += "[],"; }
    empty += '"' + std::string(600, 'x') + "\"]";
    const std::string marked = R"({"key":"put it here"})";
    const auto left = [&](const std::string& value) {
        std::string bytes = calls({Ordered::parse(marked)}).dump();
        bytes.replace(bytes.find(marked), marked.size(),
                      "{\"in\":" + value + ",\"" + std::string(100'000, 'k') + "\":[[\"" + std::string(600, 'x') + "\"]]}");
        const coppice::Report report = coppice::plan(bytes, coppice::Pipeline{all_inputs});
        CHECK(report.edits.size() <= 1);
        return report.edits.empty() ? report.why : report.edits[0].path;
    };
    CHECK(left(wide).substr(0, 1) != "/");
    CHECK(left(empty) == "/input/in/300000");
    CHECK(left(deep).substr(0, 1) != "/");
}

TEST_CASE("stale_input: what reading an input takes of memory grows no faster than the input") {
    const std::string place = R"({"key":"put it here"})";
    const auto taken = [&](const std::string& item, std::size_t count) {
        std::string value = "{\"in\":[[";
        for (std::size_t i = 0; i < count; ++i) { value.append(item).append(","); }
        value += "7]]}";
        std::string bytes = calls({Ordered::parse(place)}).dump();
        bytes.replace(bytes.find(place), place.size(), value);
        const std::size_t before = heap.bytes;
        coppice::plan(bytes, coppice::Pipeline{all_inputs});
        return heap.bytes - before;
    };
    for (const std::string& item :
         {std::string(R"("abc")"), std::string("[]"), std::string(R"({"a":[[]]})"), std::string("[[[1]]]"),
          '"' + std::string(8, 'x') + '"', '"' + std::string(64, 'x') + '"', '"' + std::string(600, 'x') + '"'}) {
        CAPTURE(item.substr(0, 20));
        const std::size_t some = taken(item, 10'000);
        const std::size_t more = taken(item, 40'000);
        CHECK(more < 6 * some);
        // in all, also what was let go again
        CHECK(more < 150 * 40'000 * (item.size() + 4));
    }
}

TEST_CASE("stale_input: defaults and wrong numbers") {
    constexpr coppice::StaleInput<> defaults;
    CHECK(defaults.head == 3);
    CHECK(defaults.tail == 20);
    CHECK(defaults.above == coppice::chars(500));
    CHECK(defaults.min == coppice::chars(200));
    CHECK_THROWS_AS(coppice::Pipeline(coppice::StaleInput<>{.min = coppice::chars(0)}), std::invalid_argument);
}
