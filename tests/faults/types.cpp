// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace support;

namespace {

using coppice::Dialect;

bool packs(const Spelling& in) { return in.is(Dialect::openai_chat) || in.is(Dialect::openai_responses); }

// Gives the only result of a session this content, and prunes.
Pruned with_content(const Spelling& in, Ordered content) {
    Ordered document = in.session({""});
    document[in.contents(document).at(0)] = std::move(content);
    return pruned_alike(document, clear_all);
}

}  // namespace

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
        for (const Ordered& odd :
             {Ordered(nullptr), Ordered(42), Ordered(true), Ordered::array(), Ordered::object(),
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
    in_every_dialect([&](const Spelling& in) {
        const std::string stub = in.cleared("9008 characters, 1 other part, ok; Read /src/0.c");
        const std::string inner = in.cleared("9000 characters, ok; Read /src/0.c");
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
        expected["messages"][2]["content"] = in.cleared("9000 characters, ok; Read /src/0.c");
        const bool turns_kept = pruned_alike(document, clear_all).after.dump() == expected.dump();
        CHECK(turns_kept);
    }
}

TEST_CASE("B79: in every dialect a turn of the model with odd content keeps it") {
    in_every_dialect([](const Spelling& in) {
        const char* const key = in.is(Dialect::gemini) ? "parts" : "content";
        Ordered document = in.session({std::string(9000, 'x')});
        for (const Ordered& odd :
             {Ordered(nullptr), Ordered(), Ordered(7), Ordered::array(), Ordered::object(),
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
        expected[in.contents(document).at(0)] = in.content(in.cleared("9000 characters, ok; Read /src/0.c"));
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
                in.content(in.cleared("9000 characters, ok; Read /src/" + std::to_string(i) + ".c"));
        }
        const bool others_stay = pruned_alike(document, clear_all).after.dump() == expected.dump();
        CHECK(others_stay);
    });
}

TEST_CASE("B80: results of functions answer by order and name and are cleared") {
    const Spelling in(Dialect::openai_chat);
    const auto build = [&in](bool pruned_already) {
        const auto told = [&](const std::string& tool, char fill) {
            return pruned_already ? in.cleared("9000 characters, ok; " + tool) : std::string(9000, fill);
        };
        Ordered messages = list(in.says("system", std::string(9000, 's')),
                                in.says("developer", std::string(9000, 'd')), in.user("start"));
        for (const std::string name : {"f", "g", "f"}) {
            messages.push_back(Ordered{{"role", "assistant"},
                                       {"content", nullptr},
                                       {"function_call", {{"name", name}, {"arguments", "{}"}}}});
            messages.push_back(Ordered{{"role", "function"}, {"name", name}, {"content", told(name, 'x')}});
        }
        for (std::size_t i = 0; i < 40; ++i) {
            in.add_pair(messages, {"p" + std::to_string(i)},
                        pruned_already ? in.cleared("6000 characters, ok; Read") : filler(i, 6000));
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
