// SPDX-License-Identifier: MIT
#include <coppice/presets/hermes.hpp>

#include "support/pruned.hpp"

#include <coppice/cadences/every_request.hpp>
#include <coppice/copied_markers.hpp>
#include <coppice/ledger.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

using namespace support;

// What hermes-agent's own tests ask of its prune, and where it is known to be wrong.

namespace {

using coppice::presets::hermes;
using coppice::presets::HermesNumbers;

// A session of `results` terminal calls, each with an output of `size` characters that begins with `head`.
Ordered terminal_session(std::size_t results, std::size_t size, const std::string& head = {}) {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < results; ++i) {
        add_pair(messages, "c" + std::to_string(i), "terminal", Ordered{{"command", "run " + std::to_string(i)}},
                 Ordered(head + filler(i, size - head.size())));
    }
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

template <class... Numbers>
auto at_every_request(HermesNumbers numbers = {}) {
    return hermes(coppice::EveryRequest<>{}, numbers);
}

std::size_t tokens_of(const Ordered& document) { return document.dump().size() / 4; }

}  // namespace

TEST_CASE("hermes: fires at a trigger in tokens, long before a window of a million is full") {
    const Ordered document = terminal_session(60, 8'200);
    REQUIRE(tokens_of(document) > 120'000);
    const Pruned p = pruned(document, hermes());
    CHECK(p.report.engaged);
    CHECK(p.report.tokens_after < 70'000);
}

TEST_CASE("hermes: old results say what was done, in a line that is no bare placeholder") {
    const Pruned p = pruned(terminal_session(30, 9'000), at_every_request());
    CHECK(fates(p) == times(1, '-') + times(19, 's') + times(10, '-'));
    CHECK(text_of(result_content(p.after, 5)).find("[tool result cleared: 9000 characters, ok; terminal ran run 5, ") == 0);
}

TEST_CASE("hermes: with a trigger of 0 it never changes anything") {
    CHECK(pruned(terminal_session(200, 9'000), hermes({.trigger_tokens = 0})).unchanged());
}

TEST_CASE("hermes: below the trigger nothing changes") {
    const Ordered document = terminal_session(20, 9'000);
    REQUIRE(tokens_of(document) < 48'000);
    CHECK(pruned(document, hermes()).unchanged());
    CHECK_FALSE(pruned(document, hermes({.trigger_tokens = 40'000, .keep_last = 10})).unchanged());
}

TEST_CASE("hermes: the last messages stay, as many as one says") {
    // the last four: a result, a pair, and the answer
    const Pruned p = pruned(terminal_session(20, 9'000), at_every_request({.keep_last = 4}));
    CHECK(fates(p) == times(1, '-') + times(17, 's') + times(2, '-'));
}

TEST_CASE("hermes: a history of no more messages than are kept stays") {
    CHECK(pruned(terminal_session(9, 9'000), at_every_request()).unchanged());
    // also by tokens: eight of them always stay
    CHECK(pruned(terminal_session(3, 9'000), at_every_request({.tail_tokens = 10'000})).unchanged());
}

TEST_CASE("hermes: the first messages stay, those of the system not counted") {
    Ordered document{{"messages", list(Ordered{{"role", "system"}, {"content", "rules"}}, user("start"))}};
    for (int i = 0; i < 20; ++i) {
        const std::string id = "c" + std::to_string(i);
        Ordered call{{"id", id}, {"type", "function"}, {"function", {{"name", "terminal"}, {"arguments", "{}"}}}};
        document["messages"].push_back({{"role", "assistant"}, {"content", nullptr}, {"tool_calls", list(call)}});
        document["messages"].push_back({{"role", "tool"}, {"tool_call_id", id}, {"content", filler(2, 9'000)}});
        document["messages"].back()["content"].get_ref<std::string&>()[0] = static_cast<char>('a' + i);
    }
    document["messages"].push_back({{"role", "assistant"}, {"content", "done"}});
    const Pruned p = pruned(document, at_every_request());
    CHECK(p.after["messages"][3] == document["messages"][3]);
    CHECK(p.after["messages"][5] != document["messages"][5]);
}

TEST_CASE("hermes: results below the floor stay, and the floor has its clamps") {
    Ordered messages = terminal_session(30, 5'000)["messages"];
    CHECK(pruned(body(messages), at_every_request()).unchanged());
    CHECK_FALSE(pruned(terminal_session(30, 8'000), at_every_request()).unchanged());
    CHECK_FALSE(pruned(body(messages), at_every_request({.min_result_chars = 5'000})).unchanged());

    constexpr auto floor_of = [](std::size_t configured) { return HermesNumbers{.min_result_chars = configured}.floor(); };
    CHECK(floor_of(0) == 8'000);
    CHECK(floor_of(50) == 200);
    CHECK(floor_of(201) == 201);
    CHECK(floor_of(9'000) == 9'000);
}

TEST_CASE("hermes: no rewrite for less than the gate asks") {
    // one result in reach, worth about 2,250 tokens
    const Ordered document = terminal_session(12, 9'000);
    const HermesNumbers numbers{.trigger_tokens = 10'000, .min_reclaim_tokens = 4'096};
    CHECK(pruned(document, hermes(numbers)).unchanged());
    HermesNumbers less = numbers;
    less.min_reclaim_tokens = 2'000;
    CHECK_FALSE(pruned(document, hermes(less)).unchanged());
    less.min_reclaim_tokens = 0;
    CHECK_FALSE(pruned(document, hermes(less)).unchanged());
}

TEST_CASE("hermes: after a rewrite what was cleared has to grow anew, unless the host sets a limit") {
    const HermesNumbers numbers{.trigger_tokens = 30'000, .keep_last = 4};
    std::vector<std::size_t> rewrites;
    coppice::Ledger ledger;
    for (std::size_t results = 1; results <= 60; ++results) {
        Ordered document = terminal_session(results, 9'000);
        document["messages"].erase(document["messages"].size() - 1);
        const coppice::Report report = coppice::plan(document, hermes(numbers));
        if (report.rewrites) { rewrites.push_back(results); }
    }
    // 15,000 tokens are about seven results; 4,096 would be two
    REQUIRE(rewrites.size() > 3);
    for (std::size_t i = 1; i < rewrites.size(); ++i) { CHECK(rewrites[i] - rewrites[i - 1] >= 6); }

    Ordered document = terminal_session(rewrites[1] + 3, 9'000);
    document["messages"].erase(document["messages"].size() - 1);
    CHECK_FALSE(coppice::plan(document, hermes(numbers)).rewrites);
    ledger.note_limit(document["messages"].size(), 10'000);
    coppice::Workspace workspace;
    CHECK(coppice::plan(document, hermes(numbers), workspace, ledger).rewrites);
}

TEST_CASE("hermes: roles, ids and the number of messages stay, and the second time nothing happens") {
    const Pruned p = pruned(terminal_session(40, 9'000), at_every_request());
    REQUIRE(p.after["messages"].size() == p.before["messages"].size());
    for (std::size_t i = 0; i < p.after["messages"].size(); ++i) {
        CHECK(p.after["messages"][i]["role"] == p.before["messages"][i]["role"]);
    }
    Ordered again = p.after;
    const coppice::Report report = coppice::prune(again, at_every_request());
    CHECK_FALSE(report.engaged);
    CHECK(again == p.after);
}

TEST_CASE("hermes: a tail of few huge messages shrinks, too, and nothing is orphaned") {
    const Ordered document = terminal_session(5, 40'000);
    REQUIRE(document["messages"].size() == 12);
    const Pruned p = pruned(document, at_every_request({.tail_tokens = 4'000}));
    CHECK(p.after.dump().size() < document.dump().size() / 4);
}

TEST_CASE("hermes: messages are sized by their text, not by how many parts they have") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 12; ++i) {
        add_pair(messages, "c" + std::to_string(i), "terminal", Ordered{{"command", "ls"}},
                 list(text(filler(2 * i, 4'500)), text(filler(2 * i + 1, 4'500))));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), at_every_request({.tail_tokens = 10'000}));
    // about 2,250 tokens each: four pairs and the answer fit
    CHECK(fates(p) == "-sssssss----");
}

TEST_CASE("hermes: arguments stay JSON, with path, numbers, flags, null and lists") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 14; ++i) {
        add_pair(messages, "c" + std::to_string(i), "write_file",
                 Ordered{{"path", "/src/" + std::to_string(i) + ".c"},
                         {"content", filler(i, 9'000)},
                         {"options", {{"deep", list(filler(i, 300), "short")}, {"mode", 420}}},
                         {"force", true},
                         {"none", nullptr},
                         {"lines", list(1, 2.5)}},
                 Ordered("ok"));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), at_every_request());
    Ordered expected = call_input(p.before, 3);
    expected["content"] = "[tool input cleared: 9000 characters; content]";
    expected["options"]["deep"][0] = "[tool input cleared: 300 characters; deep]";
    const bool as_expected = call_input(p.after, 3) == expected;
    CHECK(as_expected);
    CHECK(input_fates(p) == times(1, '-') + times(4, 'c') + times(9, '-'));
}

TEST_CASE("hermes: what inputs alone save counts") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 30; ++i) {
        add_pair(messages, "c" + std::to_string(i), "write_file", Ordered{{"path", "/a.c"}, {"content", filler(i, 9'000)}},
                 Ordered("ok"));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), hermes());
    CHECK(p.report.engaged);
    CHECK(p.report.by_reason.size() == 1);
    CHECK(p.report.by_reason[0].reason == "stale_input");
}

TEST_CASE("hermes: a duplicate does not point at what is gone") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 20; ++i) {
        add_pair(messages, "c" + std::to_string(i), "terminal", Ordered{{"command", "run"}},
                 Ordered(filler(i == 4 ? 2 : i, 9'000)));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), at_every_request());
    CHECK(fates(p) == times(1, '-') + times(9, 's') + times(10, '-'));
    // where it is among those that stay, it does, and also in the tail
    messages[2 * 19 + 2]["content"][0]["content"] = filler(12, 9'000);
    CHECK(fates(pruned(body(messages), at_every_request())) == times(1, '-') + times(9, 's') + "--d-------");
}

TEST_CASE("hermes: output that looks like a stub of its own is output") {
    const std::string head = "[terminal] ran `make` (12 chars)";
    Ordered messages = terminal_session(30, 300, head)["messages"];
    const Pruned p = pruned(body(messages), at_every_request({.min_result_chars = 200}));
    CHECK(fates(p) == times(1, '-') + times(19, 's') + times(10, '-'));
}

TEST_CASE("hermes: stubs of long arguments are stubs, and not made anew") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 20; ++i) {
        add_pair(messages, "c" + std::to_string(i), "search_files",
                 Ordered{{"target", "content"}, {"pattern", filler(i, 400)}, {"path", filler(i, 400)}},
                 Ordered(R"({"total_count": 12, "matches": ")" + std::string(900 + i, 'x') + "\"}"));
    }
    messages.push_back(assistant("done"));
    // `pruned` asks that the second time changes nothing
    const Pruned p = pruned(body(messages), at_every_request({.min_result_chars = 200}));
    const std::string stub = text_of(result_content(p.after, 3));
    CHECK(stub.size() > 200);
    CHECK(stub.find("12 matches") != std::string::npos);
}

TEST_CASE("hermes: large text in blocks goes like any other, and is found twice") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 20; ++i) {
        add_pair(messages, "c" + std::to_string(i), "terminal", Ordered{{"command", "run"}},
                 list(text(filler(i == 15 ? 16 : i, 9'000))));
    }
    messages.push_back(assistant("done"));
    CHECK(fates(pruned(body(messages), at_every_request())) == times(1, '-') + times(9, 's') + "-----d----");
}

TEST_CASE("hermes: of what is left of an input nothing can be taken for all of it, and a copy is found") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 14; ++i) {
        add_pair(messages, "c" + std::to_string(i), "write_file", Ordered{{"path", "/a"}, {"content", filler(i, 9'000)}},
                 Ordered("ok"));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), at_every_request());
    const std::string left = call_input(p.after, 3)["content"];
    CHECK(left.find(filler(3, 9'000).substr(0, 20)) == std::string::npos);
    const Ordered copied{{"edits", list(Ordered{{"content", "before " + left}})}};
    const std::vector<coppice::CopiedMarker> found = coppice::find_copied_markers(copied);
    REQUIRE(found.size() == 1);
    CHECK(found[0].path == "/edits/0/content");
}

TEST_CASE("hermes: a call that is not answered, and what is not read yet, stay") {
    Ordered messages = terminal_session(40, 9'000)["messages"];
    messages.erase(messages.size() - 1);
    messages.push_back(assistant_blocks(call_block("open", "write_file", Ordered{{"content", filler(1, 9'000)}}),
                                        call_block("seen", "terminal", Ordered{{"command", "x"}})));
    messages.push_back(user_blocks(result_block("seen", filler(2, 90'000)), result_block("open", "ok")));
    const Pruned p = pruned(body(messages), at_every_request({.keep_last = 0, .tail_tokens = 100}));
    CHECK(p.after["messages"].back() == p.before["messages"].back());
    CHECK(p.after["messages"][messages.size() - 2] == p.before["messages"][messages.size() - 2]);
    CHECK(p.report.engaged);
}

TEST_CASE("hermes: a skill that is gone is not taken for loaded, an answer and a failure are not lost") {
    Ordered messages = list(user("start"));
    add_pair(messages, "s", "x", Ordered::object(), Ordered("x"));
    add_pair(messages, "a", "skill_view", Ordered{{"name", "deploy"}}, Ordered(filler(1, 9'000)));
    add_pair(messages, "b", "clarify", Ordered{{"question", "Which branch?"}},
             Ordered(R"({"user_response": "main", "log": ")" + std::string(9'000, 'x') + "\"}"));
    messages.push_back(call("f", "terminal", Ordered{{"command", "make"}}));
    messages.push_back(result("f", Ordered("make: *** no rule\n" + filler(2, 9'000) + "\nError 2"), true));
    for (std::size_t i = 0; i < 12; ++i) {
        add_pair(messages, "c" + std::to_string(i), "terminal", Ordered{{"command", "ls"}}, Ordered("x"));
    }
    const Pruned p = pruned(body(messages), at_every_request());
    CHECK(text_of(result_content(p.after, 1)) ==
          "[tool result cleared: 9000 characters, ok; skill_view deploy, not loaded any more]");
    CHECK(text_of(result_content(p.after, 2)).find("clarify Which branch?, answered: main]") != std::string::npos);
    CHECK(text_of(result_content(p.after, 3)).find(", failed; terminal ran make, ") != std::string::npos);
    CHECK(text_of(result_content(p.after, 3)).find("last line: Error 2]") != std::string::npos);
}

TEST_CASE("hermes: of results with images the newest three keep them, also in the tail, and unread ones do") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 6; ++i) {
        add_pair(messages, "c" + std::to_string(i), "browser_snapshot", Ordered::object(),
                 list(text("page"), image(3'000 + i)));
    }
    messages.push_back(assistant("done"));
    CHECK(fates(pruned(body(messages), at_every_request())) == "iii---");
    messages.erase(messages.size() - 1);
    messages.erase(messages.size() - 1);
    Ordered round = Ordered::array();
    messages.back() = assistant_blocks(call_block("p", "shot"), call_block("q", "shot"), call_block("r", "shot"),
                                       call_block("s", "shot"));
    messages.push_back(user_blocks(result_block("p", list(image(3'100))), result_block("q", list(image(3'200))),
                                   result_block("r", list(image(3'300))), result_block("s", list(image(3'400)))));
    CHECK(fates(pruned(body(messages), at_every_request())) == "ii-------");
}

TEST_CASE("hermes: ids that are there twice and results without their call do no harm") {
    Ordered messages = terminal_session(30, 9'000)["messages"];
    for (const std::size_t at : {7U, 8U}) {
        Ordered& block = messages[at]["content"][0];
        block[at == 7 ? "id" : "tool_use_id"] = "c1";
    }
    Ordered document = body(messages);
    const Ordered before = document;
    const coppice::Report report = coppice::prune(document, at_every_request());
    CHECK(report.engaged);
    CHECK(before["messages"].size() == document["messages"].size());
}

TEST_CASE("hermes: the defaults are those of the original") {
    constexpr HermesNumbers numbers;
    CHECK(numbers.trigger_tokens == 48'000);
    CHECK(numbers.min_reclaim_tokens == 4'096);
    CHECK(numbers.min_result_chars == 8'000);
    CHECK(numbers.keep_first == 3);
    CHECK(numbers.keep_last == 20);
    constexpr auto pruner = hermes();
    CHECK(pruner.part<coppice::KeepRecent<coppice::none, coppice::Size{2'000}, 3>>().keep_images == 3);
}
