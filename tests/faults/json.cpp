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

// Gives the only result of a session this content, and prunes.
Pruned with_content(const Spelling& in, Ordered content) {
    Ordered document = in.session({""});
    document[in.contents(document).at(0)] = std::move(content);
    return pruned_alike(document, clear_all);
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
        const std::string arguments = R"({"deep":)" + deep + R"(,"content":")" + std::string(9000, 'c') + "\"}";
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
            const std::string arguments = R"({"a":)" + numbers + R"(,"content":")" + content + R"(","b":)" + numbers +
                                          R"(,"c":-0.0})";
            return session_with(in, arguments, told, R"("metadata":)" + numbers + ",");
        };
        const PrunedText p = pruned_text(build(std::string(9000, 'c'), std::string(9000, 'x')), clear_all);
        const bool same_digits = p.out == build("[tool input cleared: 9000 characters; content]",
                                                cleared("9000 characters, ok; write"));
        CHECK(same_digits);
    });
}

TEST_CASE("B74: arguments that are JSON in a string stay that") {
    in_dialects({Dialect::openai_chat, Dialect::openai_responses}, [](const Spelling& in) {
        const auto build = [&in](const std::string& content) {
            const std::string arguments = "{ \"path\":\"\\u0061\\/b\",\n\t\"content\" : \"" + content +
                                          R"(" , "last":[1.0, "\"\\"]})";
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
        for (const std::string& broken : {"{\"content\":\"" + std::string(9000, 'c'), "[\"" + std::string(9000, 'c') + "\"]",
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
            in.add_pair(messages,
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
    const std::string big(9000, 'x');
    const Ordered rows = list(Ordered{{"row", big}}, Ordered(1));
    const std::string facts = " characters, ok; ls";
    const std::string rows_stub =
        cleared(std::to_string(rows.dump().size()) + " characters, 1 other part, ok; ls");
    const std::vector<std::pair<Ordered, Ordered>> cases = {
        {{{"output", big}}, {{"output", cleared("9000" + facts)}}},
        {{{"result", rows}}, {{"result", rows_stub}}},
        {{{"exit_code", 0}, {"stdout", big}, {"stderr", ""}},
         {{"exit_code", 0}, {"stdout", cleared("9000" + facts)}, {"stderr", ""}}},
        {{{"error", big}},
         {{"error",
           cleared("9000 characters, failed; ls; first line: " + std::string(77, 'x') + "...; last line: " +
                   std::string(77, 'x') + "...")}}},
    };
    for (const bool snake_case : {false, true}) {
        for (const auto& [response, expected] : cases) {
            const char* const call = snake_case ? "function_call" : "functionCall";
            const char* const answer = snake_case ? "function_response" : "functionResponse";
            Ordered asked = Ordered::object();
            asked[call] = Ordered{{"id", "f1"}, {"name", "ls"}, {"args", none_yet}};
            Ordered told = Ordered::object();
            told[answer] = Ordered{{"id", "f1"}, {"name", "ls"}, {"response", response}};
            const Spelling in(Dialect::gemini);
            const Ordered document = in.body(list(in.user("start"), Ordered{{"role", "model"}, {"parts", list(asked)}},
                                                  Ordered{{"role", "user"}, {"parts", list(told)}},
                                                  in.assistant("done")));
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

TEST_CASE("B78: in every dialect content of any type is read and odd small ones stay") {
    in_every_dialect([](const Spelling& in) {
        for (const Ordered& odd : {Ordered(nullptr), Ordered(42), Ordered(true), Ordered::array(), Ordered::object(),
                                   list(Ordered("str")), list(Ordered(nullptr)), list(Ordered{{"type", "text"}}),
                                   list(Ordered{{"type", "text"}, {"text", 7}}), list(Ordered::array()),
                                   Ordered{{"output", nullptr}}, Ordered{{"output", 7}, {"more", false}}}) {
            CHECK(with_content(in, odd).unchanged());
        }
        Ordered missing = in.session({""});
        const auto place = in.contents(missing).at(0);
        missing[place.parent_pointer()].erase(place.back());
        CHECK(pruned_alike(missing, clear_all).unchanged());
    });
}

TEST_CASE("B78: big content of an odd type is cleared where the provider takes a text in its place") {
    const Ordered object = {{"a", std::string(9000, 'x')}};
    const std::string stub = cleared("9008 characters, 1 other part, ok; Read /src/0.c");
    const std::string inner = cleared("9000 characters, ok; Read /src/0.c");
    in_every_dialect([&](const Spelling& in) {
        const Pruned p = with_content(in, object);
        const Ordered& left = p.after[in.contents(p.after).at(0)];
        switch (in.dialect()) {
            case Dialect::anthropic: CHECK(left == list(text(stub))); break;
            case Dialect::openai_chat: CHECK(left == stub); break;
            // objects whose strings can be replaced one by one
            case Dialect::openai_responses: CHECK(left == Ordered{{"a", inner}}); break;
            case Dialect::gemini: CHECK(left == Ordered{{"a", inner}}); break;
            // nothing but a list of blocks is valid there
            default: CHECK(p.unchanged());
        }
        // a string where a list has to be
        const Pruned bare = with_content(in, Ordered(std::string(9000, 'x')));
        const bool strings = in.is(Dialect::anthropic) || packs(in);
        CHECK(bare.unchanged() == !strings);
    });
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

TEST_CASE("B79: a turn of the model in Chat keeps what it has beside its calls") {
    const Spelling in(Dialect::openai_chat);
    std::vector<Ordered> turns(7, Ordered{{"role", "assistant"}});
    turns[1]["content"] = nullptr;
    turns[2]["content"] = "";
    turns[3]["content"] = std::string(9000, 's');
    turns[4]["content"] = list(text(std::string(9000, 't')), Ordered{{"type", "refusal"}, {"refusal", "no"}});
    turns[5]["refusal"] = std::string(9000, 'r');
    turns[6]["audio"] = Ordered{{"id", "audio_1"}};
    for (const bool with_call : {false, true}) {
        Ordered document = in.session({std::string(9000, 'x')});
        Ordered& messages = document["messages"];
        for (std::size_t i = 0; i < turns.size(); ++i) {
            const std::string id = "more_" + std::to_string(i);
            Ordered turn = turns[i];
            if (with_call) {
                in.add_pair(messages, {id}, "ok");
                turn["tool_calls"] = messages[messages.size() - 2]["tool_calls"];
                messages[messages.size() - 2] = turn;
            } else {
                messages.push_back(in.user("go on"));
                messages.push_back(turn);
            }
        }
        messages.push_back(in.assistant("done"));
        Ordered expected = document;
        expected["messages"][2]["content"] = cleared("9000 characters, ok; Read /src/0.c");
        const bool turns_kept = pruned_alike(document, clear_all).after.dump() == expected.dump();
        CHECK(turns_kept);
    }
}

TEST_CASE("B79: in every dialect a turn of the model with odd content keeps it") {
    in_every_dialect([](const Spelling& in) {
        const char* const key = in.is(Dialect::gemini) ? "parts" : "content";
        Ordered document = in.session({std::string(9000, 'x')});
        for (const Ordered& odd : {Ordered(nullptr), Ordered(), Ordered(7), Ordered::array(), Ordered::object(),
                                   Ordered(std::string(9000, 's')), list(Ordered(std::string(9000, 's')))}) {
            Ordered turn = in.assistant("");
            turn[key] = odd;
            document[in.list_key()].push_back(in.user("go on"));
            document[in.list_key()].push_back(turn);
            turn.erase(key);
            document[in.list_key()].push_back(in.user("go on"));
            document[in.list_key()].push_back(turn);
        }
        Ordered expected = document;
        expected[in.contents(document).at(0)] = in.content(cleared("9000 characters, ok; Read /src/0.c"));
        const bool turns_kept = pruned_alike(document, clear_all).after.dump() == expected.dump();
        CHECK(turns_kept);
    });
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

TEST_CASE("B80: in every dialect what system and developer say stays wherever it stands") {
    in_every_dialect([](const Spelling& in) {
        Ordered document = in.session({std::string(9000, 'x'), std::string(9000, 'y')});
        Ordered& messages = document[in.list_key()];
        for (const std::string role : {"system", "developer"}) {
            messages.insert(messages.begin() + 3, in.says(role, std::string(9000, 's')));
            messages.push_back(in.says(role, std::string(9000, 'e')));
        }
        if (in.is(Dialect::openai_chat) || in.is(Dialect::openai_responses)) {
            messages.insert(messages.begin(), in.says("system", std::string(9000, 'b')));
        }
        messages.push_back(in.assistant("done"));
        Ordered expected = document;
        for (const std::size_t i : {0U, 1U}) {
            expected[in.contents(document).at(i)] =
                in.content(cleared("9000 characters, ok; Read /src/" + std::to_string(i) + ".c"));
        }
        const bool others_stay = pruned_alike(document, clear_all).after.dump() == expected.dump();
        CHECK(others_stay);
    });
}

TEST_CASE("B80: results of functions answer by order and name and are cleared") {
    const Spelling in(Dialect::openai_chat);
    const auto build = [&in](bool pruned_already) {
        const auto told = [&](const std::string& tool, char fill) {
            return pruned_already ? cleared("9000 characters, ok; " + tool) : std::string(9000, fill);
        };
        Ordered messages = list(in.says("system", std::string(9000, 's')), in.says("developer", std::string(9000, 'd')),
                                in.user("start"));
        for (const std::string name : {"f", "g", "f"}) {
            messages.push_back(Ordered{{"role", "assistant"},
                                       {"content", nullptr},
                                       {"function_call", {{"name", name}, {"arguments", "{}"}}}});
            messages.push_back(Ordered{{"role", "function"}, {"name", name}, {"content", told(name, 'x')}});
        }
        for (std::size_t i = 0; i < 40; ++i) {
            in.add_pair(messages, {"p" + std::to_string(i)},
                        pruned_already ? cleared("6000 characters, ok; Read") : filler(i, 6000));
        }
        messages.insert(messages.begin() + 9, in.says("system", std::string(9000, 'm')));
        messages.push_back(in.assistant("done"));
        return in.body(messages);
    };
    const Pruned p = pruned(build(false), clear_all);
    const bool all_results_cleared = p.after.dump() == build(true).dump();
    CHECK(all_results_cleared);
    CHECK(p.report.unpaired_results == 0);
}
