// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"
#include "support/nested.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace support;

namespace {

using coppice::Dialect;

const Ordered none_yet = Ordered::object();
constexpr std::size_t deepest = 200'000;  // more levels than any stack

std::size_t levels_of(const Ordered& value) {
    std::size_t levels = 0;
    for (const Ordered* at = &value; !at->empty(); at = &at->front()) { ++levels; }
    return levels;
}

bool packs(const Spelling& in) { return in.is(Dialect::openai_chat) || in.is(Dialect::openai_responses); }

// A session of one call with these arguments, spelled as they are here, and what is put in at the top of the body.
std::string session_with(const Spelling& in, const std::string& arguments, const std::string& told,
                         const std::string& top = "") {
    Ordered messages = list(in.user("start"));
    in.add_pair(messages, {"t1", "write", Ordered{{"here", true}}}, told);
    messages.push_back(in.assistant("done"));
    std::string bytes = in.body(messages).dump();
    const std::string here = Ordered{{"here", true}}.dump();
    const std::string spelled = packs(in) ? Ordered(here).dump() : here;
    bytes.replace(bytes.find(spelled), spelled.size(), packs(in) ? Ordered(arguments).dump() : arguments);
    return "{" + top + bytes.substr(1);
}

}  // namespace

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

TEST_CASE("B69: in every dialect nesting without end overflows no stack and what is deep stays as it was") {
    in_every_dialect([](const Spelling& in) {
        const std::string big(9000, 'x');
        // in the content itself, in the body, in a message and in a block
        for (const std::string place : {"content", "body", "message", "block"}) {
            CAPTURE(place);
            Ordered document = in.session({big, big});
            const auto content = in.contents(document).at(0);
            Ordered& deep = place == "content"   ? document[content]
                            : place == "body"    ? document["deep"]
                            : place == "message" ? document[in.list_key()][1]["deep"]
                                                 : document[content.parent_pointer()]["deep"];
            deep = nested(deepest);
            const coppice::Report report = coppice::prune(document, clear_all);
            CHECK((report.engaged || !report.why.empty()));
            if (place != "content") { CHECK(levels_of(deep) == deepest); }
        }
        // in arguments
        const std::string deep = std::string(deepest, '[') + std::string(deepest, ']');
        const std::string arguments =
            R"({"deep":)" + deep + R"(,"content":")" + std::string(9000, 'c') + "\"}";
        const std::string bytes = session_with(in, arguments, big);
        const coppice::PrunedBody left = coppice::prune(bytes, clear_all);
        CHECK((left.report.engaged || !left.report.why.empty()));
        CHECK(left.bytes(bytes).find(deep) != std::string_view::npos);
    });
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

TEST_CASE("B70: in every dialect numbers keep their digits at every place") {
    const std::string numbers =
        R"({"id":123456789012345678901,"t":1E5,"z":-0,"p":100.00,"n":12345678901234567890,"e":1e-7})";
    in_every_dialect([&numbers](const Spelling& in) {
        const auto build = [&](const std::string& content, const std::string& told) {
            const std::string arguments =
                R"({"a":)" + numbers + R"(,"content":")" + content + R"(","b":)" + numbers + R"(,"c":-0.0})";
            return session_with(in, arguments, told, R"("metadata":)" + numbers + ",");
        };
        const PrunedText p = pruned_text(build(std::string(9000, 'c'), std::string(9000, 'x')), clear_all);
        const bool same_digits = p.out == build("[tool input cleared: 9000 characters; content]",
                                                in.cleared("9000 characters, ok; write"));
        CHECK(same_digits);
    });
}

TEST_CASE("B74: arguments that are JSON in a string stay that") {
    in_dialects({Dialect::openai_chat, Dialect::openai_responses}, [](const Spelling& in) {
        const auto build = [&in](const std::string& content) {
            const std::string arguments =
                "{ \"path\":\"\\u0061\\/b\",\n\t\"content\" : \"" + content + R"(" , "last":[1.0, "\"\\"]})";
            return session_with(in, arguments, "ok");
        };
        std::string lines;
        for (int i = 0; i < 900; ++i) { lines += R"(a \"b\"\n\\)"; }
        const PrunedText p = pruned_text(build(lines), clear_all);
        const std::string stub = "[tool input cleared: " + std::to_string(900 * 7) + " characters; content]";
        const bool only_the_span = p.out == build(stub);
        CHECK(only_the_span);
        const std::vector<Ordered> inputs = in.inputs(Ordered::parse(p.out));
        CHECK(inputs.at(0)["content"] == stub);
        CHECK(inputs.at(0)["path"] == "a/b");
        // what is no JSON, or not a whole object, stays
        for (const std::string& broken :
             {"{\"content\":\"" + std::string(9000, 'c'), "[\"" + std::string(9000, 'c') + "\"]",
              std::string(9000, 'c'), std::string()}) {
            const std::string bytes = session_with(in, broken, "ok");
            const bool same = pruned_text(bytes, clear_all).out == bytes;
            CHECK(same);
        }
    });
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

TEST_CASE("B76: in every dialect paths and commands and metadata keep their text") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& old_string, const std::string& new_string) {
            Ordered messages = list(in.user("start"));
            in.add_pair(
                messages,
                {"t1", "MultiEdit",
                 Ordered{{"path", std::string(300, 'p')},
                         {"command", std::string(3000, 'c')},
                         {"edits", list(Ordered{{"old_string", old_string}, {"new_string", new_string}})},
                         {"meta", {{"content", std::string(5000, 'm')}}}}},
                "ok");
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        const bool only_edits_changed =
            pruned(build(std::string(5000, 'o'), std::string(5000, 'n')), clear_all).after.dump() ==
            build("[tool input cleared: 5000 characters; old_string]",
                  "[tool input cleared: 5000 characters; new_string]")
                .dump();
        CHECK(only_edits_changed);
    });
}

TEST_CASE("B77: a response of Gemini stays an object with its keys in both spellings") {
    const Spelling in(Dialect::gemini);
    const std::string big(9000, 'x');
    const Ordered rows = list(Ordered{{"row", big}}, Ordered(1));
    const std::string facts = " characters, ok; ls";
    const std::string rows_stub =
        in.cleared(std::to_string(rows.dump().size()) + " characters, 1 other part, ok; ls");
    const std::vector<std::pair<Ordered, Ordered>> cases = {
        {{{"output", big}}, {{"output", in.cleared("9000" + facts)}}},
        {{{"result", rows}}, {{"result", rows_stub}}},
        // the code says that it went well
        {{{"exit_code", 0}, {"stdout", big}, {"stderr", ""}},
         {{"exit_code", 0}, {"stdout", cleared("9000" + facts)}, {"stderr", ""}}},
        {{{"error", big}}, {{"error", nullptr}}},  // what it becomes is looked at below
    };
    for (const bool snake_case : {false, true}) {
        for (const auto& [response, expected] : cases) {
            const char* const call = snake_case ? "function_call" : "functionCall";
            const char* const answer = snake_case ? "function_response" : "functionResponse";
            Ordered asked = Ordered::object();
            asked[call] = Ordered{{"id", "f1"}, {"name", "ls"}, {"args", none_yet}};
            Ordered told = Ordered::object();
            told[answer] = Ordered{{"id", "f1"}, {"name", "ls"}, {"response", response}};
            const Ordered document =
                in.body(list(in.user("start"), Ordered{{"role", "model"}, {"parts", list(asked)}},
                             Ordered{{"role", "user"}, {"parts", list(told)}}, in.assistant("done")));
            const Pruned p = pruned(document, clear_all);
            const Ordered& left = p.after["contents"][2]["parts"][0][answer];
            CHECK(left["id"] == "f1");
            CHECK(left["name"] == "ls");
            if (expected.contains("error")) {
                CHECK(left["response"].size() == 1);
                CHECK(left["response"]["error"].get<std::string>().find(
                          "[tool result cleared: 9000 characters, failed; ls; first line: ") == 0);
            } else {
                CHECK(left["response"].dump() == expected.dump());
            }
        }
    }
}
