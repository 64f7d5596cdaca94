// SPDX-License-Identifier: MIT
#include <coppice/policies/failed_call.hpp>

#include "support/pruned.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

using namespace support;

namespace {

constexpr coppice::Pipeline<coppice::FailedCall<1, 1>> newest_step_stays{};

Ordered attempt(std::size_t number, bool fails, Ordered input) {
    const std::string id = "c" + std::to_string(number);
    return list(call(id, "Edit", input), fails ? result(id, Ordered("error: no match in " + filler(number, 600)), true)
                                               : result(id, Ordered("done")));
}

Ordered session_of(std::initializer_list<Ordered> attempts) {
    Ordered messages = list(user("start"));
    for (const Ordered& attempt : attempts) {
        for (const Ordered& message : attempt) { messages.push_back(message); }
    }
    messages.push_back(assistant("enough"));
    return body(messages);
}

const Ordered& input_of(const Ordered& document, std::size_t message) {
    return document.at("messages").at(message).at("content").at(0).at("input");
}

}  // namespace

TEST_CASE("failed_call: what was tried goes, and the error stays") {
    const Ordered input{{"file_path", "/src/a.cpp"}, {"anything", filler(0, 900)}, {"short", filler(1, 399)}, {"n", 7}};
    const Pruned p = pruned(session_of({attempt(0, true, input), attempt(1, false, input)}), newest_step_stays);
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].reason == "failed_call");
    const Ordered& left = input_of(p.after, 1);
    CHECK(left["file_path"] == "/src/a.cpp");
    CHECK(left["short"] == filler(1, 399));
    CHECK(left["n"] == 7);
    CHECK(left["anything"].get<std::string>().size() < 100);
    CHECK(text_of(result_content(p.after, 0)) == "error: no match in " + filler(0, 600));
    CHECK(input_of(p.after, 3) == input);
}

TEST_CASE("failed_call: strings in lists go, too, and what the call is known by stays however long it is") {
    const Ordered input{{"command", filler(0, 2000)}, {"edits", list(Ordered{{"new_string", filler(1, 900)}})}};
    const Pruned p = pruned(session_of({attempt(0, true, input), attempt(1, false, input)}), newest_step_stays);
    const Ordered& left = input_of(p.after, 1);
    CHECK(left["command"] == filler(0, 2000));
    CHECK(left["edits"][0]["new_string"].get<std::string>().size() < 100);
}

TEST_CASE("failed_call: the newest steps and turns keep what was tried") {
    const Ordered input{{"text", filler(0, 900)}};
    const Ordered document = session_of({attempt(0, true, input), attempt(1, true, input), attempt(2, true, input)});
    const auto cleared = [&](auto policy) { return pruned(document, coppice::Pipeline{policy}).report.edits.size(); };
    // the answer is the newest step
    CHECK(cleared(coppice::FailedCall<4, 1>{}) == 3);
    CHECK(cleared(coppice::FailedCall<4, 2>{}) == 2);
    CHECK(cleared(coppice::FailedCall<4, 4>{}) == 0);
    Ordered later = document;
    later["messages"].push_back(user("again"));
    CHECK(pruned(later, coppice::Pipeline{coppice::FailedCall<1, 100>{}}).report.edits.size() == 3);
    CHECK(pruned(later, coppice::Pipeline{coppice::FailedCall<2, 100>{}}).unchanged());
}

TEST_CASE("failed_call: a long error keeps its ends, the beginning the larger one") {
    Ordered messages = list(user("start"));
    const std::string error = "cause\n" + filler(0, 5000) + "\nverdict";
    add_pair(messages, "a", "Bash", Ordered{{"command", "make"}}, Ordered(error), true);
    add_pair(messages, "b", "Bash", Ordered{{"command", "make"}}, Ordered(error));
    messages.push_back(assistant("enough"));
    const auto left = [&](std::size_t keep) {
        const coppice::FailedCall<> policy{.keep_turns = 1, .keep_steps = 1, .keep_error = keep};
        const Pruned p = pruned(body(messages), coppice::Pipeline{policy});
        CHECK(text_of(result_content(p.after, 1)) == error);
        for (const coppice::EditRecord& edit : p.report.edits) { CHECK(edit.reason == "failed_call"); }
        return text_of(result_content(p.after, 0));
    };
    CHECK(left(1200) == "[tool result cut: 5014 characters, failed; Bash make; first 720 and last 480 follow]\n" +
                            error.substr(0, 720) + "\n[3814 characters cut]\n" + error.substr(error.size() - 480));
    CHECK(left(0) ==
          "[tool result cut: 5014 characters, failed; Bash make; first 0 and last 0 follow]\n\n[5014 characters cut]\n");
    CHECK(left(1) ==
          "[tool result cut: 5014 characters, failed; Bash make; first 1 and last 0 follow]\nc\n[5013 characters cut]\n");
    CHECK(left(4096).size() < 4096 + 130);
    CHECK(left(4096) == "[tool result cut: 5014 characters, failed; Bash make; first 2458 and last 1638 follow]\n" +
                            error.substr(0, 2458) + "\n[918 characters cut]\n" + error.substr(error.size() - 1638));
}

TEST_CASE("failed_call: an error that is hardly longer than what is kept stays whole") {
    for (std::size_t size = 1190; size < 1360; ++size) {
        Ordered messages = list(user("start"));
        add_pair(messages, "a", "Bash", Ordered{{"command", "make"}}, Ordered(filler(0, size)), true);
        messages.push_back(assistant("enough"));
        const Pruned p = pruned(body(messages), newest_step_stays);
        // line, breaks and the count between them
        CHECK(p.unchanged() == (size <= 1200 + 84 + 2 + 21 + (size >= 1300 ? 1 : 0)));
    }
}

TEST_CASE("failed_call: an error that is known by its words alone is cut, and still an error the next time") {
    Ordered messages = list(user("start"));
    const std::string error = "Error: no such file\n" + filler(0, 3000);
    const Ordered asked = {{"id", "a"},
                           {"type", "function"},
                           {"function", {{"name", "f"}, {"arguments", Ordered{{"text", filler(1, 900)}}.dump()}}}};
    messages.push_back(Ordered{{"role", "assistant"}, {"content", nullptr}, {"tool_calls", list(asked)}});
    messages.push_back(Ordered{{"role", "tool"}, {"tool_call_id", "a"}, {"content", error}});
    messages.push_back(assistant("enough"));
    const Pruned p = pruned(Ordered{{"model", "m"}, {"messages", messages}}, newest_step_stays);
    CHECK(p.report.edits.size() == 2);
    const std::string left = p.after["messages"][2]["content"];
    CHECK(left.substr(0, left.find('\n')) ==
          "[tool result cut: 3020 characters, failed; f; first 720 and last 480 follow]");
}

TEST_CASE("failed_call: defaults and wrong numbers") {
    constexpr coppice::FailedCall<> defaults;
    CHECK(defaults.keep_error == 1200);
    CHECK_THROWS_WITH_AS(coppice::Pipeline(coppice::FailedCall<>{.keep_error = 4097}),
                         "coppice::FailedCall: `keep_error` must be at most 4096", std::invalid_argument);
    CHECK(defaults.keep_turns == 4);
    CHECK(defaults.keep_steps == 10);
    CHECK(defaults.min == coppice::Size{400});
    CHECK_THROWS_AS(coppice::Pipeline(coppice::FailedCall<>{.min = coppice::Size{0}}), std::invalid_argument);
}
