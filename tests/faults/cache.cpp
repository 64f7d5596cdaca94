// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace support;

namespace {

using coppice::Dialect;

const Ordered none_yet = Ordered::object();

std::size_t count(const Ordered& document, std::string_view word) {
    const std::string bytes = document.dump();
    std::size_t found = 0;
    for (std::size_t at = bytes.find(word); at != std::string::npos; at = bytes.find(word, at + 1)) {
        ++found;
    }
    return found;
}

std::size_t marks(const Ordered& document) { return count(document, "cache_control"); }

// The same with the members of every object the other way round.
Ordered backwards(const Ordered& value) {
    Ordered out = value.is_object() ? Ordered::object() : Ordered::array();
    if (!value.is_structured()) { return value; }
    if (value.is_array()) {
        for (const Ordered& item : value) { out.push_back(backwards(item)); }
        return out;
    }
    for (auto member = value.end(); member != value.begin();) {
        --member;
        out[member.key()] = backwards(*member);
    }
    return out;
}

}  // namespace

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

TEST_CASE("B28: no cache mark is added or doubled in Chat and Responses") {
    struct Marked {
        Dialect dialect;
        const char* type;
        const char* key;
    };
    for (const Marked& marked :
         {Marked{Dialect::openai_chat, "text", "cache_control"},
          Marked{Dialect::openai_chat, "text", "prompt_cache_breakpoint"},
          Marked{Dialect::openai_responses, "input_text", "prompt_cache_breakpoint"}}) {
        const Spelling in(marked.dialect);
        CAPTURE(in.name());
        CAPTURE(marked.key);
        const auto part = [&marked](const std::string& words) {
            Ordered made = {{"type", marked.type}, {"text", words}};
            made[marked.key] = Ordered{{"type", "ephemeral"}};
            return list(std::move(made));
        };
        Ordered document = in.session({"", "", filler(2, 9000)});
        const auto places = in.contents(document);
        document[places[0]] = part(filler(0, 9000));
        document[places[1]] = part(filler(1, 9000));
        document[in.list_key()][0]["content"] = part("start");
        document[in.list_key()].insert(document[in.list_key()].begin(),
                                       Ordered{{"role", "system"}, {"content", part("You are terse.")}});
        REQUIRE(count(document, marked.key) == 4);
        const Pruned p = pruned(document, clear_all);
        CHECK(in.fates(p) == "sss");
        CHECK(count(p.after, marked.key) == 4);
    }
}

TEST_CASE("B28 B29: cache points of Bedrock stay where they stand") {
    const Spelling in(Dialect::bedrock);
    const Ordered point = {{"cachePoint", {{"type", "default"}, {"ttl", "1h"}}}};
    Ordered document = in.session({filler(0, 9000), filler(1, 9000), filler(2, 9000)});
    document["system"] = list(Ordered{{"text", "You are terse."}}, point);
    document["toolConfig"]["tools"] =
        list(Ordered{{"toolSpec", {{"name", "Read"}, {"inputSchema", {{"json", none_yet}}}}}}, point);
    document["messages"][2]["content"].push_back(point);
    // a result has no room for one, so this one is nothing that a pruner knows
    document["messages"][4]["content"][0]["toolResult"]["content"].push_back(point);
    const Pruned p = pruned_alike(document, clear_all);
    Ordered expected = document;
    for (const std::string number : {"0", "2"}) {
        const auto place = in.contents(document).at(number == "0" ? 0 : 2);
        expected[place][0]["text"] = in.cleared("9000 characters, ok; Read /src/" + number + ".c");
    }
    const bool only_texts_changed = p.after.dump() == expected.dump();
    CHECK(only_texts_changed);
}

TEST_CASE("B29 B31: the mark on a cleared block moves onto the stub with every key it had") {
    const Ordered mark = {{"type", "ephemeral"}, {"ttl", "1h"}, {"unknown", {1, 2}}};
    const Pruned p = pruned(session({list(marked(text(std::string(9000, 'x')), mark))}), clear_all);
    CHECK(result_content(p.after, 0) ==
          list(marked(text("[tool result cleared: 9000 characters, ok; Read /src/0.c]"), mark)));
    CHECK(result_content(p.after, 0)[0]["cache_control"].dump() == mark.dump());
}

TEST_CASE("B29 B31: the mark on a cleared part of Chat and Responses moves with every key it had") {
    const Ordered mark = {{"type", "ephemeral"}, {"ttl", "1h"}, {"unknown", {1, 2}}};
    in_dialects({Dialect::openai_chat, Dialect::openai_responses}, [&mark](const Spelling& in) {
        const bool chat = in.is(Dialect::openai_chat);
        for (const std::string key : {"cache_control", "prompt_cache_breakpoint"}) {
            CAPTURE(key);
            const auto build = [&](const std::string& words) {
                Ordered part = {{"type", chat ? "text" : "input_text"}, {"text", words}};
                part[key] = mark;
                Ordered document = in.session({""});
                document[in.contents(document)[0]] = list(std::move(part));
                return document;
            };
            const Pruned p = pruned(build(std::string(9000, 'x')), clear_all);
            const bool marked =
                p.after.dump() == build(in.cleared("9000 characters, ok; Read /src/0.c")).dump();
            CHECK(marked);
        }
    });
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

TEST_CASE("B32: in every dialect the old prefix changes rarely and in batches") {
    in_every_dialect([](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        const coppice::Pipeline pipeline{coppice::KeepRecent<3>{}, coppice::Stepped<10>{}};
        std::string before;
        std::size_t rewrites = 0;
        for (std::size_t request = 1; request <= 50; ++request) {
            Ordered document = in.body(messages);
            coppice::prune(document, pipeline);
            const std::string after = in.messages(document).dump();
            if (!before.empty()) {
                rewrites += after.compare(0, before.size() - 1, before, 0, before.size() - 1) != 0;
            }
            before = after;
            in.add_pair(messages, {"c" + std::to_string(request)}, filler(request, 5000));
        }
        CHECK(rewrites == 5);
    });
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

TEST_CASE("B33: in every dialect members keep their order also where one of them was cleared") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& content, const std::string& told) {
            Ordered input = {{"z", 1}, {"content", content}, {"a", {{"y", 2}, {"b", 3}}}};
            Ordered messages = list(in.user("start"));
            in.add_pair(messages, {"t1", "x", std::move(input)}, told);
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        const Ordered document = build(std::string(9000, 'c'), std::string(9000, 'r'));
        const Ordered expected =
            build("[tool input cleared: 9000 characters; content]", in.cleared("9000 characters, ok; x"));
        const bool forwards_kept = pruned(document, clear_all).after.dump() == expected.dump();
        CHECK(forwards_kept);
        const bool backwards_kept =
            pruned(backwards(document), clear_all).after.dump() == backwards(expected).dump();
        CHECK(backwards_kept);
    });
}

TEST_CASE("B34: a pass with nothing to clear writes nothing") {
    const Ordered document = Ordered::parse(
        R"({"system":"s","messages":[{"role":"user","content":"start"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"x","input":{ "path" : "a\u0062c" , "n": 1.0, "content":"short" }}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},{"role":"assistant","content":"done"}]})");
    const Pruned p = pruned(document, clear_all);
    CHECK(p.unchanged());
    CHECK(p.report.why == "nothing to clear");
}

TEST_CASE("B34: in every dialect a pass with nothing to clear keeps the spelling of every byte") {
    // no field of this name is ever cleared, however long it is
    const std::string note(9000, 'n');
    const std::string input = R"({ "path" : "a\u0062c" , "n": 1.0, "note":")" + note + "\"}";
    in_every_dialect([&input](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"t1", "x", Ordered{{"here", true}}}, "ok");
        messages.push_back(in.assistant("done"));
        std::string bytes = in.body(messages).dump(1, '\t');
        const bool packed = in.is(Dialect::openai_chat) || in.is(Dialect::openai_responses);
        const std::string here = packed ? R"("{\"here\":true}")" : "\"here\": true";
        const std::size_t at = bytes.find(here);
        REQUIRE(at != std::string::npos);
        if (packed) {
            bytes.replace(at, here.size(), Ordered(input).dump());
        } else {
            bytes.replace(at, here.size(), input.substr(1, input.size() - 2));
        }
        const PrunedText same = pruned_text(bytes, clear_all);
        const bool unchanged = same.out == bytes;
        CHECK(unchanged);
        CHECK(same.report.why == "nothing to clear");
        CHECK(pruned(Ordered::parse(bytes), clear_all).unchanged());
    });
}
