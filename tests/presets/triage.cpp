// SPDX-License-Identifier: MIT
#include <coppice/presets/triage.hpp>

#include "support/pruned.hpp"

#include <coppice/cadences/every_request.hpp>
#include <coppice/guards/exempt_paths.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

// What dsh-context-triage's own tests ask of it, and where it is known to be wrong.

namespace {

constexpr auto every_request = coppice::presets::triage(coppice::EveryRequest<>{});

struct Step {
    std::string tool;
    Ordered input;
    Ordered content;
    bool fails = false;
};

// One turn of the user for each step, and `later` turns without any.
Ordered turns(const std::vector<Step>& steps, std::size_t later) {
    Ordered messages = Ordered::array();
    std::size_t number = 0;
    for (const Step& step : steps) {
        const std::string id = "c" + std::to_string(number++);
        messages.push_back(user("question"));
        messages.push_back(call(id, step.tool, step.input));
        messages.push_back(step.fails ? result(id, step.content, true) : result(id, step.content));
        messages.push_back(assistant("answer"));
    }
    for (std::size_t i = 0; i < later; ++i) {
        messages.push_back(user("and"));
        messages.push_back(assistant("yes"));
    }
    return body(std::move(messages));
}

const Ordered at_a{{"pattern", "main"}, {"path", "/a"}};

Step grep(const Ordered& input, std::size_t number, std::size_t size = 900) {
    return {"grep", input, Ordered(filler(number, size))};
}

}  // namespace

TEST_CASE("triage: of three answers to one call the newest stays, whatever the order of keys") {
    const Ordered turned{{"path", "/a"}, {"pattern", "main"}};
    CHECK(fates(pruned(turns({grep(at_a, 0), grep(turned, 1), grep(at_a, 2)}, 3), every_request)) == "ss-");
    const Ordered nested{{"q", {{"x", 1}, {"y", list(1, 2)}}}};
    const Ordered turned_inside{{"q", {{"y", list(1, 2)}, {"x", 1}}}};
    CHECK(fates(pruned(turns({grep(nested, 0), grep(turned_inside, 1)}, 3), every_request)) == "s-");
    const Ordered other{{"q", {{"y", list(2, 1)}, {"x", 1}}}};
    CHECK(fates(pruned(turns({grep(nested, 0), grep(other, 1)}, 3), every_request)) == "--");
}

TEST_CASE("triage: a call without a result is no repetition") {
    Ordered document = turns({grep(at_a, 0)}, 3);
    document["messages"].push_back(user("again"));
    document["messages"].push_back(call("open", "grep", at_a));
    CHECK(pruned(document, every_request).unchanged());
}

TEST_CASE("triage: exempt tools stay, in every screener") {
    const std::string huge = filler(0, 9'000);
    std::vector<Step> steps;
    for (const std::string_view tool : coppice::presets::triage_tools) {
        const Ordered input{{"description", filler(1, 2'000)}};
        steps.push_back({std::string(tool), input, Ordered(huge)});
        steps.push_back({std::string(tool), input, Ordered("error: no\n" + huge), true});
        steps.push_back({std::string(tool), input, Ordered(huge)});
    }
    CHECK(pruned(turns(steps, 30), every_request).unchanged());
    steps[0].tool = "mcp__x__task";
    CHECK(pruned(turns(steps, 30), every_request).unchanged());
    steps[0].tool = "tasks";
    CHECK_FALSE(pruned(turns(steps, 30), every_request).unchanged());
}

TEST_CASE("triage: paths can be exempt in every screener, too") {
    static constexpr std::array<std::string_view, 1> globs = {"**/keep.md"};
    const auto kept = [](std::size_t n) {
        return Ordered{{"filePath", "/src/keep.md"}, {"content", filler(n, 900)}};
    };
    const std::vector<Step> steps{{"read", kept(0), Ordered(filler(0, 900))},
                                  {"read", kept(1), Ordered("error: " + filler(1, 900)), true},
                                  {"read", kept(2), Ordered(filler(3, 9'000))},
                                  {"read", kept(2), Ordered(filler(4, 900))}};
    const Ordered document = turns(steps, 30);
    CHECK(fates(pruned(document, every_request)) == "siss");
    CHECK(pruned(document, every_request.with(coppice::ExemptPaths{.globs = globs})).unchanged());
}

TEST_CASE("triage: a result that came late is new, however old its call") {
    Ordered messages = turns({grep(at_a, 0), grep(at_a, 1)}, 0)["messages"];
    // the first result comes in the newest turn but two
    Ordered late = messages[2]["content"][0];
    late["content"] = filler(3, 900);
    messages[2]["content"] = "not yet";
    Ordered document = body(messages);
    for (int i = 0; i < 30; ++i) { document["messages"].push_back(i % 2 == 0 ? user("and") : assistant("yes")); }
    document["messages"].push_back(user_blocks(late));
    document["messages"].push_back(assistant("thanks"));
    Ordered after = document;
    coppice::prune(after, every_request, coppice::Dialect::anthropic);
    CHECK(after["messages"][document["messages"].size() - 2] == document["messages"][document["messages"].size() - 2]);
}

TEST_CASE("triage: stale output goes when eight turns of the user have come since, not earlier") {
    CHECK(pruned(turns({grep(at_a, 0)}, 7), every_request).unchanged());
    CHECK(fates(pruned(turns({grep(at_a, 0)}, 8), every_request)) == "s");
}

TEST_CASE("triage: what goes says which call it was and how it ended, and is shorter") {
    const Pruned p = pruned(turns({{"read", Ordered{{"filePath", "/src/a.c"}}, Ordered(filler(0, 900))}}, 30), every_request);
    CHECK(text_of(result_content(p.after, 0)) == "[tool result cleared: 900 characters, ok; read /src/a.c]");
    CHECK(call_input(p.after, 0) == call_input(p.before, 0));
    CHECK(pruned(turns({{"read", Ordered::object(), Ordered("tiny")}}, 30), every_request).unchanged());
    CHECK(pruned(turns({{"read", Ordered::object(), Ordered("")}}, 30), every_request).unchanged());
    CHECK(pruned(turns({{"read", Ordered::object(), Ordered::array()}}, 30), every_request).unchanged());
}

TEST_CASE("triage: of a failed call the error stays, and nothing of its arguments is in the stub") {
    const Ordered input{{"filePath", "/a.c"}, {"text", "secret " + filler(0, 900)}};
    Pruned p = pruned(turns({{"apply", input, Ordered("error: no match"), true}}, 30), every_request);
    CHECK(text_of(result_content(p.after, 0)) == "error: no match");
    CHECK(call_input(p.after, 0)["text"] == "[tool input cleared: 907 characters; text]");
    CHECK(call_input(p.after, 0)["filePath"] == "/a.c");

    const std::string long_error = "error: first\n" + filler(1, 3'000) + "\nlast words";
    p = pruned(turns({{"apply", input, Ordered(long_error), true}}, 30), every_request);
    const std::string left = text_of(result_content(p.after, 0));
    CHECK(left.size() < 600);
    CHECK(left.find("error: first") != std::string::npos);
    CHECK(left.find("last words") != std::string::npos);
    CHECK(left.find("secret") == std::string::npos);
}

TEST_CASE("triage: the screener that comes first acts, and each figure is counted once") {
    const Ordered input{{"text", filler(0, 900)}};
    const Pruned p = pruned(turns({{"apply", input, Ordered("error: x\n" + filler(1, 9'000)), true}}, 30), every_request);
    REQUIRE(p.report.by_reason.size() == 1);
    CHECK(p.report.by_reason[0].reason == "failed_call");
    std::size_t sum = 0;
    for (const coppice::EditRecord& edit : p.report.edits) { sum += edit.bytes_before - edit.bytes_after; }
    CHECK(sum == p.report.saved_bytes);
    CHECK(sum == p.before.dump().size() - p.after.dump().size());
    CHECK(p.report.by_reason[0].saved_bytes == sum);
}

TEST_CASE("triage: oversized output keeps head and tail, from the first character above the cap") {
    const auto one = [](Ordered content) { return turns({{"cat", Ordered{{"path", "/a"}}, std::move(content)}}, 15); };
    const auto cut_only = coppice::Pipeline{coppice::OversizedOutput<>{}};
    CHECK(pruned(one(Ordered(filler(0, 6'000))), cut_only).unchanged());
    const std::string text = filler(0, 6'001);
    const std::string left = text_of(result_content(pruned(one(Ordered(text)), cut_only).after, 0));
    CHECK(left == "[tool result cut: 6001 characters, ok; cat /a; first 800 and last 400 follow]\n" + text.substr(0, 800) +
                      "\n[4801 characters cut]\n" + text.substr(5'601));
    // in parts it is one text
    const Pruned parts = pruned(one(list(support::text(filler(1, 4'000)), support::text(filler(2, 4'000)))), cut_only);
    CHECK(text_of(result_content(parts.after, 0)).find("[tool result cut: 8000 characters") == 0);
    // a character is cut as a whole
    std::string faces;
    for (int i = 0; i < 6'001; ++i) { faces += "\xF0\x9F\x98\x80"; }
    const std::string cut = text_of(result_content(pruned(one(Ordered(faces)), cut_only).after, 0));
    CHECK(coppice::measure_plain(cut).chars < 1'400);
}

TEST_CASE("triage: reasoning of older turns goes whole, and what stays is not cut") {
    Ordered messages = Ordered::array();
    for (int i = 0; i < 6; ++i) {
        messages.push_back(user("go on"));
        messages.push_back(assistant_blocks(thinking(filler(static_cast<std::size_t>(i), 5'000)), text("answer")));
    }
    Ordered document = body(messages);
    document["model"] = "claude-sonnet-4-5";
    AllowedChanges allowed;
    const Pruned p = pruned(document, every_request, allowed);
    CHECK(p.after["messages"][1]["content"].size() == 1);
    CHECK(p.after["messages"][5]["content"].size() == 1);
    CHECK(p.after["messages"][7] == p.before["messages"][7]);
    CHECK(p.after["messages"][11] == p.before["messages"][11]);
}

TEST_CASE("triage: a run of one turn ages by steps") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 40; ++i) {
        add_pair(messages, "c" + std::to_string(i), "read", Ordered{{"path", std::to_string(i)}},
                 Ordered(filler(i, 900)));
    }
    messages.push_back(assistant("done"));
    CHECK(fates(pruned(body(messages), every_request)) == times(21, 's') + times(19, '-'));
}

TEST_CASE("triage: an empty history, one without results and one of few messages stay") {
    CHECK(pruned_once(body(Ordered::array()), every_request).unchanged());
    CHECK(pruned(body(list(user("hi"))), every_request).unchanged());
    CHECK(pruned(turns({grep(at_a, 0, 9'000)}, 1), every_request).unchanged());
}

TEST_CASE("triage: pairs stay pairs, also where a result is empty or an image") {
    const std::vector<Step> steps{{"shot", at_a, list(image(3'000))}, {"shot", at_a, list(image(4'000))},
                                  {"ls", at_a, Ordered("")},          {"ls", at_a, Ordered("")},
                                  {"rm", at_a, Ordered("error: x"), true}};
    // `pruned` asks the dialect's rules: no call without its result, none the other way round
    const Pruned p = pruned(turns(steps, 30), every_request);
    CHECK(blocks_of(p.after, "tool_use").size() == 5);
    CHECK(blocks_of(p.after, "tool_result").size() == 5);
}

TEST_CASE("triage: an answer is not out of date when what came of the same call later is a failure") {
    std::vector<Step> steps{grep(at_a, 0), {"grep", at_a, Ordered("error: " + filler(1, 900)), true}};
    CHECK(fates(pruned(turns(steps, 5), every_request))[0] == '-');
    steps.push_back(grep(at_a, 2));
    CHECK(fates(pruned(turns(steps, 5), every_request))[0] == 's');
}

TEST_CASE("triage: under pressure only, from the soft share on with enough to save, from the hard share on with anything") {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < 12; ++i) { steps.push_back({"cat", Ordered{{"path", std::to_string(i)}}, Ordered(filler(i, 8'000))}); }
    const Ordered document = turns(steps, 12);
    const std::size_t tokens = coppice::plan(document, every_request).tokens_before;
    const auto at_share = [&](std::size_t percent, std::size_t min_savings) {
        coppice::Pressure<> pressure;
        pressure.window = tokens * 100 / percent;
        pressure.min_savings = min_savings;
        return pruned(document, coppice::presets::triage(pressure)).report.engaged;
    };
    CHECK_FALSE(at_share(69, 2'000));
    CHECK(at_share(72, 2'000));
    CHECK_FALSE(at_share(72, 1'000'000));
    CHECK(at_share(95, 1'000'000));
}

TEST_CASE("triage: ids that are there twice do no harm") {
    Ordered document = turns({grep(at_a, 0, 9'000), grep(at_a, 1, 9'000), grep(at_a, 2, 9'000)}, 30);
    Ordered& messages = document["messages"];
    messages[5]["content"][0]["id"] = "c0";
    messages[6]["content"][0]["tool_use_id"] = "c0";
    const Ordered before = document;
    const coppice::Report report = coppice::prune(document, every_request);
    CHECK(report.unpaired_calls + report.unpaired_results == 0);
    CHECK(before["messages"].size() == document["messages"].size());
    Ordered again = document;
    CHECK_FALSE(coppice::prune(again, every_request).engaged);
}
