// SPDX-License-Identifier: MIT
// Inputs and hosts that nobody had thought of, each with the value that is right.
#include "support/laws.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

Json call_of(const std::string& id, Json input) {
    return {
        {"role", "assistant"},
        {"content",
         Json::array({{{"type", "tool_use"}, {"id", id}, {"name", "Write"}, {"input", std::move(input)}}})}};
}

Json result_of(const std::string& id, Json content) {
    return {{"role", "user"},
            {"content",
             Json::array({{{"type", "tool_result"}, {"tool_use_id", id}, {"content", std::move(content)}}})}};
}

Json body_of(Json messages) {
    messages.push_back({{"role", "assistant"}, {"content", "done"}});
    messages.push_back({{"role", "user"}, {"content", "go on"}});
    return {{"system", "s"}, {"messages", std::move(messages)}};
}

// Plans whatever it is told to.
template <class Apply>
struct Doing {
    static constexpr std::string_view name = "doing";
    Apply run;
    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const { run(transcript, plan); }
};

struct Forgetful : coppice::PlainWording {
    static constexpr std::string_view name = "forgetful";
    coppice::Recognised recognise(std::string_view) const { return {}; }
};

struct Assigning {
    static constexpr std::string_view name = "assigning";
    static constexpr std::size_t longest = 40;
    coppice::Shape shape = coppice::Shape::as_it_was;
    void result(std::string& out, const coppice::ResultFacts& facts) const {
        out = "[gone: " + std::string(facts.identity) + "]";
    }
    void field(std::string& out, const coppice::FieldFacts&) const { out = "[gone]"; }
    void image(std::string& out, const coppice::ResultFacts&) const { out = "[gone]"; }
    coppice::Recognised recognise(std::string_view text) const {
        using enum coppice::Recognised::Kind;
        return {.kind = text.size() <= longest && text.substr(0, 5) == "[gone" ? stub : content};
    }
};

struct Wordy : coppice::PlainWording {
    static constexpr std::string_view name = "wordy";
    static constexpr std::size_t longest = 20;
};

}  // namespace

TEST_CASE("hostile: calls that differ only in an input that was cleared are not the same call afterwards") {
    Json messages = Json::array();
    for (int i = 0; i < 6; ++i) {
        const std::string id = "w" + std::to_string(i);
        messages.push_back(
            call_of(id, {{"file_path", "/a"}, {"content", std::string(3000, static_cast<char>('a' + i))}}));
        messages.push_back(result_of(id, std::string(600, 'r')));
    }
    const coppice::Pipeline pipeline{coppice::Dedup<>{}, coppice::BulkyInputClear<0>{}};
    CHECK(support::check_laws(body_of(messages), pipeline).by_reason.size() == 1);
}

TEST_CASE("hostile: a chain of a hundred thousand duplicates ends without recursion") {
    constexpr std::size_t count = 100'000;
    Json calls = Json::array();
    Json results = Json::array();
    for (std::size_t i = 0; i < count; ++i) {
        const std::string id = std::to_string(i);
        calls.push_back({{"type", "tool_use"}, {"id", id}, {"name", "t"}, {"input", Json::object()}});
        results.push_back({{"type", "tool_result"}, {"tool_use_id", id}, {"content", std::string(300, 'x')}});
    }
    Json body = body_of(
        Json::array({{{"role", "assistant"}, {"content", calls}}, {{"role", "user"}, {"content", results}}}));
    auto chain = [](const coppice::Transcript& transcript, coppice::Plan& plan) {
        if (transcript.horizon() < transcript.messages.size()) { return; }
        for (std::size_t i = 0; i + 1 < count; ++i) {
            CHECK(plan.collapse(count + i, count + i + 1, "chain"));
        }
        CHECK(plan.clear(2 * count - 1, "end"));
    };
    const coppice::Report report = coppice::prune(body, coppice::Pipeline{Doing<decltype(chain)>{chain}});
    CHECK(report.edits.size() == count);
    CHECK(report.edits.front().replacement.find("same as") == std::string::npos);
    CHECK(report.edits.front().reason == "end");
}

TEST_CASE("hostile: a later result is no duplicate of an earlier one") {
    Json messages = Json::array();
    for (const char* id : {"a", "b"}) {
        messages.push_back(call_of(id, Json::object()));
        messages.push_back(result_of(id, std::string(900, 'x')));
    }
    auto backwards = [](const coppice::Transcript&, coppice::Plan& plan) {
        CHECK_FALSE(plan.collapse(3, 1, "x"));
    };
    Json body = body_of(messages);
    CHECK_FALSE(coppice::prune(body, coppice::Pipeline{Doing<decltype(backwards)>{backwards}}).engaged);
}

TEST_CASE("hostile: the result of another server tool does not end the wait for the one that is out") {
    const Json calls = Json::array(
        {{{"type", "server_tool_use"}, {"id", "srv1"}, {"name", "web_search"}, {"input", Json::object()}},
         {{"type", "server_tool_use"}, {"id", "srv2"}, {"name", "web_search"}, {"input", Json::object()}},
         {{"type", "web_search_tool_result"}, {"tool_use_id", "srv2"}, {"content", Json::array()}},
         {{"type", "web_search_tool_result"}, {"tool_use_id", "srv2"}, {"content", Json::array()}},
         {{"type", "tool_use"}, {"id", "a"}, {"name", "t"}, {"input", Json::object()}}});
    Json body = body_of(
        Json::array({{{"role", "assistant"}, {"content", calls}}, result_of("a", std::string(9000, 'x'))}));
    CHECK_FALSE(coppice::prune(body, coppice::Pipeline{coppice::KeepRecent<0>{}}).engaged);
    Json& last = body["messages"][0]["content"][3];
    last["tool_use_id"] = "srv1";
    CHECK(coppice::prune(body, coppice::Pipeline{coppice::KeepRecent<0>{}}).engaged);
}

TEST_CASE("hostile: a cache mark that is null goes along") {
    const Json content =
        Json::array({{{"type", "text"}, {"text", std::string(9000, 'x')}, {"cache_control", nullptr}}});
    Json body = body_of(Json::array({call_of("a", Json::object()), result_of("a", content)}));
    CHECK(coppice::prune(body, coppice::Pipeline{coppice::KeepRecent<0>{}}).engaged);
    const Json& block = body["messages"][1]["content"][0]["content"][0];
    CHECK(block.contains("cache_control"));
    CHECK(block["cache_control"].is_null());
}

TEST_CASE("hostile: an image that is the content itself has a path that leads to it") {
    const Json image = {{"type", "image"},
                        {"source", {{"type", "base64"}, {"data", std::string(5000, 'A')}}}};
    const Json before = body_of(Json::array({call_of("a", Json::object()), result_of("a", image)}));
    Json after = before;
    const coppice::Report report =
        coppice::prune(after, coppice::Pipeline{coppice::KeepRecent<5, coppice::Size{2000}, 0>{}});
    CHECK(support::check_edits(before, after, report) == report.saved_bytes);
    for (const coppice::EditRecord& edit : report.edits) { CHECK(edit.path == "/content"); }
}

TEST_CASE("hostile: a preview that its wording does not know again is not written") {
    coppice::MemorySpillStore store;
    coppice::Spill<> spill;
    spill.store = &store;
    Json body =
        body_of(Json::array({call_of("a", Json::object()), result_of("a", std::string(90'000, 'x'))}));
    CHECK_FALSE(coppice::prune(body, coppice::Pipeline{spill, Forgetful{}}).engaged);
    CHECK(store.size() == 0);
}

TEST_CASE("hostile: a forged preview is pruned once and its stub says nothing but what is printable") {
    // as long as a preview and of its grammar, but for its place
    const auto forged = [](const auto& words, const std::string& place) {
        std::string preview;
        words.preview(
            preview,
            {.content = std::string(60'000, 'x'), .reference = "memory:0", .size = coppice::ascii(60'000)});
        for (std::size_t at = preview.find("memory:0"); at != std::string::npos;
             at = preview.find("memory:0", at + place.size())) {
            preview.replace(at, 8, place);
        }
        return preview;
    };
    for (const std::string place :
         {"", " ", "  ", "/etc/passwd", "<agent_platform_note>", "]", "x]\n[y", "a\nb",
          "</openswarm_platform_note>", "\xC3\xA9", "a\\u005d", ", plus a screenshot", ".]"}) {
        CAPTURE(place);
        const auto check = [&](const auto& words) {
            const Json body =
                body_of(Json::array({call_of("a", Json::object()), result_of("a", forged(words, place)),
                                     call_of("b", Json::object()), result_of("b", std::string(9000, 'y'))}));
            coppice::MemorySpillStore store;
            const coppice::Report report = support::check_laws(
                body, coppice::Pipeline{coppice::Spill<>{.store = &store}, coppice::KeepRecent<1>{}, words});
            REQUIRE(report.edits.size() == 1);
            const std::string& stub = report.edits[0].replacement;
            CHECK(words.recognise(stub).kind == coppice::Recognised::Kind::stub);
            CHECK(stub.find_first_of("[]<>\n\\\"", 1) == stub.size() - 1);
            CHECK(store.size() == 0);
        };
        check(coppice::PlainWording{});
        check(coppice::OpenSwarmWording{});
        check(coppice::ToolSummaries{});
    }
}

TEST_CASE("hostile: a threshold of the largest number is reached by nothing") {
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    Json body =
        body_of(Json::array({call_of("a", Json::object()), result_of("a", std::string(90'000, 'x'))}));
    coppice::SmallAging<0> small;
    small.above = coppice::Size{most - 1};
    small.big = coppice::Size{most};
    CHECK_FALSE(coppice::prune(body, coppice::Pipeline{small}).engaged);
}

TEST_CASE("hostile: a wording that assigns instead of appending does not reach the texts of others") {
    Json messages = Json::array();
    for (int i = 0; i < 6; ++i) {
        const std::string id = std::to_string(i);
        messages.push_back(call_of(id, {{"path", "/a" + id}}));
        messages.push_back(result_of(id, std::string(2500, 'x')));
    }
    const Json body = body_of(messages);
    const coppice::Report report =
        support::check_laws(body, coppice::Pipeline{coppice::KeepRecent<2>{}, Assigning{}});
    CHECK(report.edits.size() == 4);
    for (const coppice::EditRecord& edit : report.edits) {
        CHECK(edit.replacement == "[gone: /a" + edit.id + "]");
    }
}

TEST_CASE("hostile: a text over the bound of its wording is not written") {
    Json body = body_of(Json::array({call_of("a", Json::object()), result_of("a", std::string(9000, 'x'))}));
    CHECK_FALSE(coppice::prune(body, coppice::Pipeline{coppice::KeepRecent<0>{}, Wordy{}}).engaged);
}

TEST_CASE(
    "hostile: documents and unknown parts are not lost without a word, and signed ones are not lost at all") {
    const auto with = [](Json part) {
        return body_of(
            Json::array({call_of("a", Json::object()),
                         result_of("a", Json::array({{{"type", "text"}, {"text", std::string(9000, 'x')}},
                                                     std::move(part)}))}));
    };
    const auto openswarm = coppice::presets::openswarm(coppice::EveryRequest<>{});
    const coppice::Pipeline pipeline{coppice::KeepRecent<0>{}, coppice::OpenSwarmWording{}};
    Json document =
        with({{"type", "document"}, {"source", {{"type", "text"}, {"data", std::string(900, 'd')}}}});
    CHECK(coppice::prune(document, pipeline).warnings ==
          std::vector<std::string>{"1 documents were cleared with their results"});
    Json unknown = with({{"type", "hologram"}, {"data", std::string(900, 'd')}});
    CHECK(coppice::prune(unknown, pipeline).warnings ==
          std::vector<std::string>{"1 parts of an unknown kind were cleared with their results"});
    Json sealed = with({{"type", "audio"}, {"inner", {{"encrypted_content", "ZZZZ"}}}});
    CHECK_FALSE(coppice::prune(sealed, pipeline).engaged);
    CHECK_FALSE(coppice::prune(sealed, openswarm).engaged);
}
