// SPDX-License-Identifier: MIT
#include <coppice/dom.hpp>

#include <coppice/preset.hpp>

#include "support/allocations.hpp"
#include "support/batches.hpp"
#include "support/builders.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using coppice::Dialect;
using coppice::plan;
using coppice::prune;
using coppice::Report;
using coppice::Workspace;
using Ordered = nlohmann::ordered_json;
using Sorted = nlohmann::json;
using support::assistant;
using support::assistant_blocks;
using support::batch;
using support::batch_line;
using support::body;
using support::call;
using support::call_block;
using support::document;
using support::entry;
using support::Heap;
using support::heap;
using support::image;
using support::list;
using support::marked;
using support::result;
using support::result_block;
using support::text;
using support::thinking;
using support::user;
using support::user_blocks;

// Everything but the cadence of the default, so that short histories are pruned too.
constexpr auto every = coppice::presets::standard(coppice::EveryRequest<>{});
// Two results stay, the rest goes.
constexpr coppice::Pipeline<coppice::KeepRecent<2, coppice::Size{2000}, 2>> keep_two;
// All big results that were read go.
constexpr coppice::Pipeline<coppice::KeepRecent<0, coppice::Size{2000}, 0>> keep_none;

const std::string big(5000, 'x');

template <class Json>
std::string words(const Json& value) {
    return value.template get<std::string>();
}

// One of each: strings and blocks, images, documents, errors, edits, duplicates, thinking, floats, odd
// spellings.
template <class Json>
Json session(std::size_t pairs) {
    Json messages = list<Json>(user<Json>("start \xC3\xA9 \"quoted\" \xF0\x9F\x98\x80"));
    for (std::size_t i = 0; i < pairs; ++i) {
        const std::string id = "call_" + std::to_string(i);
        const std::string content =
            std::to_string(i) + ": \xE2\x82\xAC \"line\"\n\t\x1B[0m\\" + std::string(2500 + i * 7, 'r');
        const Json path =
            Json{{"file_path", "/f/" + std::to_string(i % 7)}, {"share", 0.1}, {"limit", 1e300}, {"neg", -7}};
        switch (i % 6) {
            case 0: support::add_pair<Json>(messages, id, "Read", path, content); break;
            case 1:
                support::add_pair<Json>(messages, id, "Read", path,
                                        list<Json>(text<Json>(content), text<Json>("x")));
                break;
            case 2:
                support::add_pair<Json>(messages, id, "Shot", path,
                                        list<Json>(text<Json>("small"), image<Json>(4000)));
                break;
            case 3:
                support::add_pair<Json>(messages, id, "Bash", Json{{"command", "make"}}, content, true);
                break;
            case 4:
                support::add_pair<Json>(messages, id, "Same", Json{{"path", "/same"}},
                                        std::string(3000, 's'));
                break;
            default:
                messages.push_back(assistant_blocks<Json>(
                    thinking<Json>(), text<Json>("now"),
                    call_block<Json>(
                        id, "Edit",
                        Json{{"path", "/e"}, {"edits", list<Json>(Json{{"new_string", content}})}})));
                messages.push_back(user_blocks<Json>(result_block<Json>(id, list<Json>(document<Json>(3000))),
                                                     text<Json>("go on")));
        }
    }
    messages.push_back(assistant<Json>("done"));
    return body<Json>(std::move(messages));
}

template <class Json>
bool same_report(const Report& left, const Report& right) {
    return coppice::to_json<Json>(left) == coppice::to_json<Json>(right);
}

// Prunes and checks every number of the report against the documents themselves.
template <class Json, class Pipeline>
Report pruned(Json& document, const Pipeline& pipeline) {
    const std::string before = document.dump();
    const Report report = prune(document, pipeline);
    const std::string after = document.dump();
    CHECK(report.saved_bytes == before.size() - after.size());
    CHECK(coppice::measure_document(document).bytes == after.size());
    CHECK(report.engaged == (before != after));
    CHECK(report.engaged == report.why.empty());
    return report;
}

// Nothing was done, and the report says so.
void check_untouched(const Report& report) {
    CHECK_FALSE(report.engaged);
    CHECK_FALSE(report.why.empty());
    CHECK(report.edits.empty());
    CHECK(report.saved_bytes == 0);
}

template <class Json>
std::size_t depth_of(const Json* value) {
    std::size_t depth = 0;
    for (; value->is_structured() && !value->empty(); ++depth) { value = &*value->begin(); }
    return depth;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); }

// A body with a big old result and `odd` in one place, as text. What is odd comes last in its objects: where
// one grows, ordered_json copies what it holds already, level by level.
std::string with_text(const std::string& odd, std::string_view place) {
    const std::string call_input = place == "input" ? odd : "{}";
    const std::string content = place == "content" ? odd : '"' + std::string(3000, 'c') + '"';
    const std::string user_block = place == "block" ? odd : R"({"type":"text","text":"hi"})";
    const std::string first = place == "top" ? "" : R"("top":1,)";
    const std::string last = place == "top" ? R"(,"top":)" + odd : "";
    return "{" + first + R"("messages":[{"role":"user","content":[)" + user_block +
           R"(]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"T","input":{}}]},)"
           R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":")" +
           std::string(5000, 'x') +
           R"("}]},{"role":"assistant","content":[{"type":"tool_use","id":"b","name":"T","input":)" +
           call_input +
           R"(}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":)" + content +
           R"(}]},{"role":"assistant","content":"done"}])" + last + "}";
}

constexpr std::array<std::string_view, 4> places = {"input", "content", "block", "top"};

// Plans something, then fails.
struct Failing {
    static constexpr std::string_view name = "failing";
    void (*fail)() = nullptr;
    void apply(const coppice::Transcript&, coppice::Plan& planned) const {
        planned.clear(2, name);
        fail();
    }
};

// The first result of `with_text`, which is old and big.
template <class Json>
const Json& old_result(const Json& document) {
    return document["messages"][2]["content"][0]["content"];
}

// Either all is as it was and the report says why, or the old results went, a deep one too. The deep value is
// neither copied nor compared here: nlohmann calls itself once a level for both.
template <class Json>
void check_depth_is_survived(Json& document, const Json& deep, bool is_result) {
    const std::size_t messages = document["messages"].size();
    const Report planned = plan(document, keep_none);
    const Report report = prune(document, keep_none);
    CHECK(planned.engaged == report.engaged);
    CHECK(report.engaged == report.why.empty());
    CHECK((old_result(document) == big) == !report.engaged);
    prune(document, every);
    CHECK((depth_of(&deep) == 200'000) == !(is_result && report.engaged));
    CHECK(document["messages"].size() == messages);
}

template <class Json>
void check_depth_is_survived_everywhere() {
    for (const std::string_view place : places) {
        CAPTURE(place);
        Json document = Json::parse(with_text(nested(200'000), place));
        const Json& deep = place == "input"     ? document["messages"][3]["content"][0]["input"]
                           : place == "content" ? document["messages"][4]["content"][0]["content"]
                           : place == "block"   ? document["messages"][0]["content"][0]
                                                : document["top"];
        check_depth_is_survived(document, deep, place == "content");
    }
}

}  // namespace

TEST_CASE("dom: both kinds of nlohmann DOM are pruned") {
    Ordered ordered = session<Ordered>(60);
    Sorted sorted = session<Sorted>(60);
    const Report first = pruned(ordered, every);
    const Report second = pruned(sorted, every);
    CHECK(first.engaged);
    CHECK(first.saved_bytes == second.saved_bytes);
    CHECK(Sorted::parse(ordered.dump()) == sorted);
}

TEST_CASE("dom: report figures are those of the documents for histories of every length") {
    for (const std::size_t pairs : {0U, 1U, 2U, 5U, 13U, 24U, 60U}) {
        CAPTURE(pairs);
        Ordered document = session<Ordered>(pairs);
        pruned(document, every);
        pruned(document, keep_none);
    }
}

TEST_CASE("dom: a body without messages is left alone") {
    Ordered document = body(Ordered::array());
    check_untouched(pruned(document, every));
}

TEST_CASE("dom: whatever is no request is left alone") {
    for (const Ordered& odd :
         {Ordered(nullptr), Ordered(42), Ordered(-1.5), Ordered(true), Ordered("text"), Ordered::array(),
          Ordered::object(), list(1, 2), Ordered{{"messages", "none"}}}) {
        CAPTURE(odd.dump());
        Ordered document = odd;
        check_untouched(pruned(document, every));
        CHECK(document == odd);
    }
}

TEST_CASE("dom: a document is measured in every unit as it would be written") {
    for (const std::size_t pairs : {0U, 6U, 13U}) {
        const Ordered document = session<Ordered>(pairs);
        CHECK(coppice::measure_document(document) ==
              coppice::measure(std::string_view(document.dump())).plain);
        const Sorted sorted = session<Sorted>(pairs);
        CHECK(coppice::measure_document(sorted) == coppice::measure(std::string_view(sorted.dump())).plain);
    }
}

TEST_CASE("dom: a document of two hundred thousand levels is measured") {
    CHECK(coppice::measure_document(Ordered::parse(nested(200'000))) == coppice::ascii(400'001));
}

TEST_CASE("dom: a read document shows calls and results as policies see them") {
    const Ordered document = body(list(user("go"), call("a", "Read", {{"path", "x.c"}}), result("a", "text")));
    const coppice::ReadDocument<Ordered> reading(document);
    REQUIRE(reading.refusal() == "");
    const coppice::Transcript& transcript = reading.transcript();
    CHECK(transcript.dialect == "anthropic");
    CHECK(transcript.messages.size() == 3);
    REQUIRE(transcript.entries().size() == 3);
    const coppice::Entry& answer = transcript.entries()[2];
    CHECK(answer.kind == coppice::Kind::result);
    CHECK(answer.peer == 1);
    CHECK(coppice::same_text(answer.tool, std::string_view("Read")));
    CHECK(coppice::same_text(answer.identity, std::string_view("x.c")));
    CHECK(transcript.size(answer).bytes == 4);
    CHECK(transcript.body().bytes == document.dump().size());
}

TEST_CASE("dom: a read document is one request alone or in a wrapper") {
    const Sorted alone = Sorted::parse(R"({"system":"s","messages":[{"role":"user","content":"go"}]})");
    const Sorted wrapped = {{"custom_id", "1"}, {"params", alone}};
    CHECK(coppice::ReadDocument<Sorted>(wrapped).transcript().messages.size() == 1);
    const Sorted batch = {{"requests", Sorted::array({wrapped, wrapped})}};
    const coppice::ReadDocument<Sorted> refused(batch);
    CHECK(refused.refusal() == "a batch of several requests");
    CHECK(refused.transcript().entries().empty());
    const Sorted empty = {{"requests", Sorted::array()}};
    CHECK(coppice::ReadDocument<Sorted>(empty).refusal() == "an empty batch");
}

TEST_CASE("dom: a document that cannot be read has a reason and no entries") {
    const Ordered foreign = Ordered::parse(R"({"messages":[{"role":"user","content":"go"}]})");
    const coppice::ReadDocument<Ordered> unsure(foreign);
    CHECK(!unsure.refusal().empty());
    CHECK(unsure.transcript().messages.empty());
    CHECK(coppice::ReadDocument<Ordered>(foreign, Dialect::anthropic).refusal() == "");
    const Ordered none = 1;
    CHECK(!coppice::ReadDocument<Ordered>(none).refusal().empty());
}

TEST_CASE("dom: planning leaves a const document alone and says what pruning does") {
    const Ordered document = session<Ordered>(60);
    const std::string before = document.dump();
    const Report planned = plan(document, every);
    CHECK(document.dump() == before);
    CHECK(planned.engaged);
    Ordered copy = document;
    CHECK(same_report<Ordered>(planned, prune(copy, every)));
}

TEST_CASE("dom: two threads may plan one const document with one pipeline") {
    const Ordered document = session<Ordered>(60);
    const Report alone = plan(document, every);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&document, &alone, &wrong] {
            Workspace workspace;
            for (int i = 0; i < 20; ++i) {
                if (!same_report<Ordered>(plan(document, every, workspace), alone)) { ++wrong; }
            }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    CHECK(wrong == 0);
}

TEST_CASE("dom: only the cleared value changes") {
    Ordered document = body(support::reads(3));
    document["messages"].push_back(assistant("done"));
    Ordered expected = document;
    expected["messages"][2]["content"][0]["content"] =
        "[tool result cleared: 5000 characters, ok; Read /src/file_0.c]";
    pruned(document, keep_two);
    CHECK(document.dump() == expected.dump());
}

TEST_CASE("dom: the order of keys survives everywhere") {
    const std::string before =
        R"({"zeta":1,"messages":[{"content":[{"input":{"z":1,"a":{"y":2,"b":3},"path":"/p"},"name":"T","id":"a","type":"tool_use"}],"role":"assistant"},)"
        R"({"role":"user","content":[{"zz":0,"content":"BIG","is_error":false,"tool_use_id":"a","type":"tool_result","aa":0}]},)"
        R"({"content":"done","role":"assistant"}],"alpha":2})";
    const std::string stub = "[tool result cleared: 5000 characters, ok; T /p]";
    const auto with = [&before](const std::string& content) {
        std::string out = before;
        return out.replace(out.find("BIG"), 3, content);
    };
    Ordered document = Ordered::parse(with(big));
    pruned(document, keep_none);
    CHECK(document.dump() == with(stub));
}

TEST_CASE("dom: the order of keys survives in an input that loses a field") {
    Ordered document =
        body(list(call("a", "Write", Ordered{{"z", 1}, {"content", big}, {"a", Ordered{{"y", 2}, {"b", 3}}}}),
                  result("a", "ok"), assistant("done")));
    Ordered expected = document;
    expected["messages"][0]["content"][0]["input"]["content"] =
        "[tool input cleared: 5000 characters; content]";
    pruned(document, coppice::Pipeline<coppice::BulkyInputClear<0>>());
    CHECK(document.dump() == expected.dump());
}

TEST_CASE("dom: cache marks are carried over to the letter") {
    const Ordered mark = {{"zz", 1}, {"type", "ephemeral"}, {"ttl", "1h"}, {"later", {{"b", 1}, {"a", 2}}}};
    Ordered document = body(
        list(call("a", "T"), result("a", list(text("see"), marked(text(big), mark))), assistant("done")));
    pruned(document, keep_none);
    const Ordered& content = document["messages"][1]["content"][0]["content"];
    REQUIRE(content.size() == 1);
    CHECK(content[0].dump() ==
          R"({"type":"text","text":"[tool result cleared: 5003 characters, ok; T]","cache_control":)" +
              mark.dump() + "}");
}

TEST_CASE("dom: a mark on an elided image goes to the line in its place") {
    Ordered document =
        body(list(call("a", "T"), result("a", list(text("see"), marked(image()))), assistant("done")));
    pruned(document, keep_none);
    const Ordered& content = document["messages"][1]["content"][0]["content"];
    REQUIRE(content.size() == 2);
    CHECK(content[0].dump() == R"({"type":"text","text":"see"})");
    CHECK(content[1].dump() ==
          R"({"type":"text","text":"[image cleared: T]","cache_control":{"type":"ephemeral"}})");
}

TEST_CASE("dom: a mark on the result block stays where it is") {
    Ordered document =
        body(list(call("a", "T"), user_blocks(marked(result_block("a", big))), assistant("done")));
    pruned(document, keep_none);
    const Ordered& block = document["messages"][1]["content"][0];
    CHECK(block["content"].is_string());
    CHECK(block["cache_control"].dump() == R"({"type":"ephemeral"})");
}

TEST_CASE("dom: content with two marks or a deeper one stays whole") {
    const Ordered deep = {{"type", "search_result"}, {"content", list(marked(text(big)))}};
    for (const Ordered& content : {list(marked(text(big)), marked(text("b"))), list(deep)}) {
        Ordered document = body(list(call("a", "T"), result("a", content), assistant("done")));
        check_untouched(pruned(document, keep_none));
    }
}

TEST_CASE("dom: the error flag stays and the stub says failed") {
    Ordered document = body(list(call("a", "T"), result("a", "E1\n" + big, true), assistant("done")));
    pruned(document, keep_none);
    const Ordered& block = document["messages"][1]["content"][0];
    CHECK(block["is_error"] == true);
    CHECK(words(block["content"]).find(", failed; T; first line: E1; last line: x") != std::string::npos);
}

TEST_CASE("dom: a string stays a string and blocks stay blocks") {
    Ordered document =
        body(list(assistant_blocks(call_block("a", "T"), call_block("b", "T"), call_block("c", "T")),
                  user_blocks(result_block("a", big), result_block("b", list(text(big))),
                              result_block("c", Ordered{{"odd", big}})),
                  assistant("done")));
    CHECK(pruned(document, keep_none).edits.size() == 3);
    const Ordered& blocks = document["messages"][1]["content"];
    CHECK(blocks[0]["content"].is_string());
    for (const std::size_t i : {1U, 2U}) {
        REQUIRE(blocks[i]["content"].is_array());
        CHECK(blocks[i]["content"].size() == 1);
        CHECK(blocks[i]["content"][0]["type"] == "text");
    }
}

TEST_CASE("dom: the OpenSwarm wording makes a block of every content") {
    Ordered document = body(list(call("a", "T"), result("a", big), assistant("done")));
    pruned(document, coppice::Pipeline<coppice::KeepRecent<0>, coppice::OpenSwarmWording>());
    CHECK(
        document["messages"][1]["content"][0]["content"].dump() ==
        R"([{"type":"text","text":"[Old tool output cleared by OpenSwarm to keep this long chat inside the model's )"
        R"(context window: 5000 characters from an earlier step.]"}])");
}

TEST_CASE("dom: text beside a cleared result keeps its bytes and its place") {
    Ordered document = body(
        list(call("a", "T"), user_blocks(result_block("a", big), text("also rename it")), assistant("done")));
    pruned(document, keep_none);
    CHECK(document["messages"][1]["content"][1].dump() == R"({"type":"text","text":"also rename it"})");
    CHECK(document["messages"][1]["content"].size() == 2);
}

TEST_CASE("dom: signed and server blocks keep their bytes") {
    const Ordered search = {{"type", "web_search_tool_result"},
                            {"tool_use_id", "s"},
                            {"content", list(Ordered{{"encrypted_content", big}})}};
    const Ordered asks = {
        {"type", "server_tool_use"}, {"id", "s"}, {"name", "web_search"}, {"input", {{"content", big}}}};
    const Ordered blocks = list(thinking(big, ""), Ordered{{"type", "redacted_thinking"}, {"data", big}},
                                asks, search, Ordered{{"type", "hologram"}, {"content", big}});
    Ordered document = body(list(user(big), support::message("assistant", blocks), call("a", "T"),
                                 result("a", big), assistant("done")));
    pruned(document, every);
    pruned(document, keep_none);
    CHECK(document["messages"][1]["content"].dump() == blocks.dump());
    CHECK(document["messages"][0]["content"] == big);
}

namespace {

// The history of a turn with reasoning in every place, and of one that goes on.
template <class Json>
Json thoughtful() {
    using namespace support;
    return body<Json>(list<Json>(
        user<Json>("start"),
        assistant_blocks<Json>(thinking<Json>("a"), thinking<Json>("b"), text<Json>("said"), thinking<Json>("c"),
                               call_block<Json>("1", "Write", Json{{"content", big}}), thinking<Json>("d"),
                               call_block<Json>("2", "T"), thinking<Json>("e"), thinking<Json>("f")),
        user_blocks<Json>(result_block<Json>("1", list<Json>(marked<Json>(text<Json>(big)))),
                          result_block<Json>("2", Json(big))),
        assistant_blocks<Json>(text<Json>("well"), thinking<Json>("g"), text<Json>("done")), user<Json>("next"),
        assistant_blocks<Json>(thinking<Json>("h"), text<Json>("so"))));
}

// All that can go goes.
constexpr coppice::Pipeline<coppice::StaleReasoning<1>, coppice::KeepRecent<0, coppice::Size{2000}, 0>,
                            coppice::BulkyInputClear<0>>
    keep_nothing;

}  // namespace

TEST_CASE("dom: dropped blocks leave their message and its other blocks are those that stay") {
    const auto check = [](auto document) {
        using Json = decltype(document);
        const Json before = document;
        CHECK(pruned(document, keep_nothing).edits.size() == 10);
        const Json& said = document["messages"][1]["content"];
        const Json& was = before["messages"][1]["content"];
        REQUIRE(said.size() == 3);
        CHECK(said[0] == was[2]);
        CHECK(words(said[1]["input"]["content"]).substr(0, 20) == "[tool input cleared:");
        CHECK(said[1]["id"] == "1");
        CHECK(said[2] == was[6]);
        CHECK(document["messages"][2]["content"][0]["content"][0].contains("cache_control"));
        CHECK(document["messages"][3]["content"] ==
              Json::array({before["messages"][3]["content"][0], before["messages"][3]["content"][2]}));
        CHECK(document["messages"][5] == before["messages"][5]);
        CHECK_FALSE(prune(document, keep_nothing).engaged);
    };
    check(thoughtful<Ordered>());
    check(thoughtful<Sorted>());
}

TEST_CASE("dom: a block that is null stays where others leave") {
    Ordered document = body(list(user("start"), assistant_blocks(Ordered(nullptr), thinking("a"), Ordered(nullptr),
                                                                thinking("b"), text("said")),
                                 user("next")));
    CHECK(pruned(document, keep_nothing).edits.size() == 2);
    CHECK(document["messages"][1]["content"] == list(Ordered(nullptr), Ordered(nullptr), text("said")));
}

TEST_CASE("dom: wherever memory runs out no block has left, or all have") {
    const auto check = [](auto original) {
        // nlohmann asks for memory to destroy an array or an object, and has to get it: results here are strings, and a
        // block that has left takes one request when all is done
        original["messages"][2]["content"][0]["content"] = big;
        auto whole = original;
        const std::size_t asked = heap.requests;
        const Report pruned = prune(whole, keep_nothing);
        const std::size_t needed = heap.requests - asked - 7;
        CHECK(pruned.edits.size() == 10);
        for (std::size_t requests = 0; requests < needed; ++requests) {
            auto document = original;
            heap.until_refusal = requests;
            const Report report = prune(document, keep_nothing);
            heap.until_refusal = std::numeric_limits<std::size_t>::max();
            REQUIRE_FALSE(report.engaged);
            REQUIRE_FALSE(report.why.empty());
            const bool as_it_was = document == original;
            REQUIRE(as_it_was);
        }
    };
    check(thoughtful<Ordered>());
    check(thoughtful<Sorted>());
}

TEST_CASE("dom: a failure after a drop was planned leaves the document as it was") {
    Ordered document = thoughtful<Ordered>();
    const Ordered original = document;
    const coppice::Pipeline pipeline{coppice::StaleReasoning<1>{},
                                     Failing{[] { throw std::runtime_error("no luck"); }}};
    const Report report = prune(document, pipeline);
    check_untouched(report);
    CHECK(document == original);
}

TEST_CASE("dom: a hundred thousand blocks leave one message at once") {
    Ordered document = body(list(user("start"), assistant_blocks(thinking("a")), user("next")));
    Ordered& blocks = document["messages"][1]["content"];
    for (int i = 0; i < 100'000; ++i) { blocks.push_back(i % 1000 == 999 ? text("said") : thinking("b")); }
    CHECK(pruned(document, keep_nothing).edits.size() == 99'901);
    CHECK(blocks.size() == 100);
    CHECK(blocks[99] == text("said"));
}

TEST_CASE("dom: an old duplicate of an unread result is collapsed and the unread one stays") {
    Ordered document = body(list(call("a", "T"), result("a", big), call("b", "T"), result("b", big)));
    pruned(document, coppice::Pipeline<coppice::Dedup<>>());
    CHECK(words(document["messages"][1]["content"][0]["content"]).find("same as a later result") !=
          std::string::npos);
    CHECK(document["messages"][3]["content"][0]["content"] == big);
}

TEST_CASE("dom: pruned again nothing changes") {
    Ordered document = session<Ordered>(60);
    CHECK(pruned(document, every).engaged);
    const std::string once = document.dump();
    check_untouched(pruned(document, every));
    CHECK(document.dump() == once);
}

TEST_CASE("dom: sizes of every kind of scalar agree with nlohmann's writer") {
    const double infinity = std::numeric_limits<double>::infinity();
    const Ordered odd =
        list(nullptr, true, false, 0, -1, 1.0, 1e-7, 1e300, 0.1, -0.0, infinity, -infinity, std::nan(""),
             std::numeric_limits<double>::denorm_min(), std::numeric_limits<std::int64_t>::min(),
             std::numeric_limits<std::uint64_t>::max(), Ordered::binary({1, 2, 255}), Ordered::binary({}, 42),
             Ordered(Ordered::value_t::discarded), "", "\n\"\\\x7F/", Ordered::object(), Ordered::array(),
             list(list(), Ordered{{"", ""}, {"k\n", nullptr}}));
    Ordered document =
        body(list(call("a", "T", Ordered{{"odd", odd}}), result("a", big),
                  call("b", "T", Ordered{{"n", odd}}), result("b", list(odd)), assistant("done")));
    document["odd"] = odd;
    CHECK(pruned(document, keep_none).engaged);
}

TEST_CASE("dom: binary and discarded values in every place are no obstacle") {
    for (const Ordered& odd : {Ordered::binary({1, 2, 3}), Ordered(Ordered::value_t::discarded)}) {
        Ordered document =
            body(list(odd, support::message("user", odd), support::message("assistant", list(odd)),
                      call("a", "T", odd), result("a", odd), call("b", "T", Ordered{{"content", odd}}),
                      result("b", list(odd)), call("c", "T"), result("c", big), assistant("done")));
        pruned(document, every);
        CHECK(pruned(document, keep_none).engaged);
        Ordered alone = odd;
        check_untouched(prune(alone, every));
    }
}

TEST_CASE("dom: numbers too big for a double are no obstacle") {
    Ordered odd;
    try {
        odd = Ordered::parse("1e400");
    } catch (const nlohmann::json::exception&) { odd = std::numeric_limits<double>::infinity(); }
    Ordered document = body(list(call("a", "T", Ordered{{"n", odd}}), result("a", big), assistant("done")));
    CHECK(pruned(document, keep_none).engaged);
}

TEST_CASE("dom: two hundred thousand levels in any place are survived") {
    check_depth_is_survived_everywhere<Ordered>();
    check_depth_is_survived_everywhere<Sorted>();
}

TEST_CASE("dom: two hundred thousand levels of objects are survived") {
    std::string deep;
    for (int i = 0; i < 200'000; ++i) { deep += R"({"a":)"; }
    deep += "1" + std::string(200'000, '}');
    Ordered document = Ordered::parse(with_text(deep, "input"));
    check_depth_is_survived(document, document["messages"][3]["content"][0]["input"], false);
}

TEST_CASE("dom: a hostile depth alone and in place of messages leaves the document as it is") {
    Ordered alone = Ordered::parse(nested(200'000));
    check_untouched(prune(alone, every));
    CHECK(depth_of(&alone) == 200'000);
    Ordered messages = Ordered::parse(R"({"system":"s","messages":)" + nested(200'000) + "}");
    check_untouched(prune(messages, every));
    CHECK(depth_of(&messages["messages"]) == 200'000);
}

TEST_CASE("dom: a hostile depth in a duplicate a mark and an identity is survived") {
    const std::string deep_call =
        R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"T","input":)" +
        nested(200'000) + "}]}";
    const std::string answer =
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":")" +
        std::string(5000, 'x') + R"(","cache_control":{"type":"ephemeral","deep":)" + nested(200'000) +
        "}}]}]}";
    const std::string part =
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"hologram","deep":)" +
        nested(200'000) + "}]}]}";
    std::string messages;
    for (int i = 0; i < 3; ++i) { messages += deep_call + "," + answer + "," + deep_call + "," + part + ","; }
    Ordered document = Ordered::parse("[" + messages + R"({"role":"assistant","content":"done"}])");
    CHECK(plan(document, every).engaged == plan(document, every).why.empty());
    const Report report = prune(document, keep_none);
    CHECK(report.engaged == report.why.empty());
    if (report.engaged) {
        CHECK(depth_of(&document[1]["content"][0]["content"][0]["cache_control"]["deep"]) == 200'000);
    }
    CHECK(depth_of(&document[0]["content"][0]["input"]) == 200'000);
}

TEST_CASE("dom: a sane depth is pruned and nothing else changes") {
    for (const std::string_view place : places) {
        Ordered document = Ordered::parse(with_text(nested(400), place));
        Ordered expected = document;
        CHECK(pruned(document, coppice::Pipeline<coppice::KeepRecent<0, coppice::Size{4000}>>()).engaged);
        expected["messages"][2]["content"][0]["content"] = old_result(document);
        CHECK(document == expected);
    }
}

TEST_CASE("dom: invalid UTF-8 in every place is no obstacle and keeps its bytes") {
    for (const std::string& bad : {std::string("\xFF"), std::string("\xE5"), std::string("\xC0\xAF"),
                                   std::string("\xED\xA0\xBD\xED\xB8\x80"), std::string("\xF0\x9F\x98"),
                                   std::string("a\0b", 3), std::string("\x80\x80")}) {
        Ordered document =
            body(list(user(bad), call(bad, bad, Ordered{{"path", bad}, {bad, bad}, {"content", bad + big}}),
                      result(bad, bad + big + bad, true), call("b", "T", Ordered{{"content", big + bad}}),
                      result("b", list(text(bad + big), Ordered{{bad, bad}})), assistant("done")));
        const Ordered original = document;
        const Report report = prune(document, keep_none);
        CHECK(report.engaged);
        CHECK(report.edits.size() == 2);
        CHECK(document["messages"][0] == original["messages"][0]);
        CHECK(document["messages"][1] == original["messages"][1]);
        // what was written is clean
        CHECK_NOTHROW(static_cast<void>(document["messages"][2]["content"][0]["content"].dump()));
        CHECK_NOTHROW(static_cast<void>(document["messages"][4]["content"][0]["content"].dump()));
        Ordered whole = original;
        CHECK_NOTHROW(static_cast<void>(prune(whole, every)));
    }
}

TEST_CASE("dom: a result of invalid bytes alone is cleared or kept but never cut") {
    for (const char byte : {'\x80', '\xFF', '\xC3', '\xF0'}) {
        const std::string bytes(60'000, byte);
        Ordered document = body(list(call("a", "T"), result("a", bytes), assistant("done")));
        coppice::MemorySpillStore store;
        const coppice::Pipeline spilling{coppice::Spill<>{.store = &store}, coppice::KeepRecent<0>{}};
        const Report report = prune(document, spilling);
        CHECK(report.engaged);
        CHECK_NOTHROW(static_cast<void>(document["messages"][1]["content"][0]["content"].dump()));
    }
}

TEST_CASE("dom: NUL bytes are kept and counted") {
    const std::string nul("a\0b", 3);
    Ordered document = body(
        list(call("a", "T", Ordered{{"path", nul}}), result("a", std::string(3000, '\0')), assistant(nul)));
    CHECK(pruned(document, keep_none).engaged);
    CHECK(document["messages"][2]["content"] == nul);
}

TEST_CASE("dom: what is refused says why without a word of the input") {
    const std::string secret = "hunter2";
    for (const Ordered& odd : {Ordered(secret), Ordered{{secret, secret}}, list(user(secret)),
                               Ordered{{"messages", list(Ordered{{"role", "critic"}, {"content", secret}})}}}) {
        Ordered document = odd;
        const Report report = prune(document, every);
        check_untouched(report);
        CHECK(report.why.find(secret) == std::string::npos);
        CHECK(report.dialect.empty());
        CHECK(document == odd);
    }
}

TEST_CASE("dom: histories of two providers in one body are left alone") {
    Ordered document = support::reads(5);
    document = Ordered{{"messages", document}, {"contents", Ordered::array()}};
    const Ordered original = document;
    const Report report = pruned(document, keep_none);
    check_untouched(report);
    CHECK(report.why == "histories of more than one provider's shape");
    const bool same = document == original;
    CHECK(same);
}

TEST_CASE("dom: a bare array of messages is pruned as it is") {
    Ordered document = support::reads(5);
    CHECK(pruned(document, keep_two).engaged);
    CHECK(document.is_array());
}

namespace {

// One request in every form that a body may have, so that its place can be compared.
template <class Json>
std::vector<Json> forms_of(const Json& request) {
    return {request,
            entry<Json>("a", request),
            batch_line<Json>("a", request),
            batch<Json>(entry<Json>("a", request)),
            batch<Json>(request),
            list<Json>(entry<Json>("a", request)),
            list<Json>(batch_line<Json>("a", request), batch_line<Json>("b", request))};
}

template <class Json>
void check_forms() {
    const Json request = session<Json>(12);
    Json expected = request;
    const Report alone = prune(expected, keep_two);
    CHECK(alone.engaged);
    for (const Json& form : forms_of<Json>(request)) {
        Json document = form;
        const Report report = pruned(document, keep_two);
        CHECK(report.saved_bytes == alone.saved_bytes * report.requests);
        Json wanted = form;
        for (std::size_t i = 0; i < report.requests; ++i) { support::request_of(wanted, i) = expected; }
        // the wrapper and its other members too
        CHECK((document == wanted));
    }
}

}  // namespace

TEST_CASE("dom: a request is pruned the same alone in a wrapper and in a batch") {
    check_forms<Ordered>();
    check_forms<Sorted>();
}

TEST_CASE("dom: a batch keeps all that is no request") {
    Ordered document =
        batch(entry("a", session<Ordered>(12)), 7, entry("c", "text"), Ordered::object(), list(1, 2),
              Ordered{{"custom_id", "f"}, {"params", nullptr}}, batch_line("g", session<Ordered>(6)));
    document["betas"] = list("one", "two");
    document["requests"][0]["note"] = big;
    const Ordered original = document;
    const Report report = pruned(document, keep_two);
    CHECK(report.engaged);
    CHECK(report.requests == 7);
    Ordered wanted = original;
    prune(wanted["requests"][0]["params"], keep_two);
    prune(wanted["requests"][6]["body"], keep_two);
    CHECK((document == wanted));
    CHECK((document["requests"][0]["note"] == big));
}

TEST_CASE("dom: a body that has messages and requests is one request") {
    Ordered document = session<Ordered>(12);
    document["requests"] = list(entry("a", session<Ordered>(12)));
    const Ordered requests = document["requests"];
    const Report report = pruned(document, keep_two);
    CHECK(report.engaged);
    CHECK(report.requests == 1);
    CHECK((document["requests"] == requests));
}

TEST_CASE("dom: an empty batch is left alone") {
    Ordered document = batch();
    const Report report = prune(document, keep_two);
    check_untouched(report);
    CHECK(report.why == "an empty batch");
    CHECK((document == batch()));
}

TEST_CASE("dom: a batch pruned again stays the same") {
    Ordered document = batch(entry("a", session<Ordered>(12)), entry("b", list(user("hi"))),
                             entry("c", session<Ordered>(24)));
    prune(document, every);
    const Ordered once = document;
    CHECK_FALSE(prune(document, every).engaged);
    CHECK((document == once));
}

TEST_CASE("dom: a failure in the last request of a batch leaves the first as it was") {
    static std::size_t calls = 0;
    calls = 0;
    constexpr auto fail_third = [] {
        if (++calls == 3) { throw std::runtime_error("no luck"); }
    };
    Ordered document = batch(entry("a", session<Ordered>(6)), entry("b", session<Ordered>(6)),
                             entry("c", session<Ordered>(6)));
    const Ordered original = document;
    const Report report = prune(document, coppice::Pipeline{coppice::KeepRecent<0>{}, Failing{fail_third}});
    CHECK(calls == 3);
    check_untouched(report);
    CHECK(report.why == "no luck");
    CHECK((document == original));
}

TEST_CASE("dom: wherever memory runs out a batch is as it was or pruned whole") {
    const Ordered original = batch(entry("a", body(support::reads(4))), entry("b", body(support::reads(4))));
    Ordered whole = original;
    CHECK(prune(whole, keep_two).engaged);
    bool survived = false;
    for (std::size_t requests = 0; !survived; ++requests) {
        REQUIRE(requests < 10'000);
        Ordered document = original;
        Report report;
        heap.until_refusal = requests;
        report = prune(document, keep_two);
        heap.until_refusal = std::numeric_limits<std::size_t>::max();
        survived = report.engaged;
        const bool as_expected = document == (survived ? whole : original);
        REQUIRE(as_expected);
        REQUIRE(report.why.empty() == survived);
    }
}

TEST_CASE("dom: a forced dialect is taken at its word") {
    Ordered document = list(user("hi"), assistant("hello"));
    check_untouched(prune(document, keep_two));
    const Report forced = prune(document, keep_two, Dialect::anthropic);
    CHECK(forced.dialect == "anthropic");
    check_untouched(forced);
}

TEST_CASE("dom: a policy that fails leaves the document as it was") {
    Ordered document = body(support::reads(3));
    const Ordered original = document;
    const Report report =
        prune(document, coppice::Pipeline{Failing{[] { throw std::runtime_error("no luck"); }}});
    check_untouched(report);
    CHECK(report.why == "no luck");
    CHECK(document == original);  // law 7
}

TEST_CASE("dom: a failure without a message has a reason all the same") {
    Ordered document = body(support::reads(3));
    check_untouched(prune(document, coppice::Pipeline{Failing{[] { throw std::runtime_error(""); }}}));
}

TEST_CASE("dom: a failure that is no exception of the standard library does not get out") {
    Ordered document = body(support::reads(3));
    const Ordered original = document;
    Report report;
    CHECK_NOTHROW(report = prune(document, coppice::Pipeline{Failing{[] { throw 42; }}}));  // law 7
    CHECK_FALSE(report.why.empty());
    CHECK(document == original);
}

TEST_CASE("dom: a store that fails leaves the document as it was") {
    struct Broken {
        std::string reference(std::string_view, std::string_view) const { return "broken:1"; }
        bool put(std::string_view, std::string_view) { throw std::runtime_error("disk full"); }
    };
    Broken store;
    const coppice::Pipeline spilling{coppice::Spill<coppice::Size{50'000}, Broken>{.store = &store}};
    Ordered document = body(list(call("a", "T"), result("a", std::string(60'000, 'x')), assistant("done")));
    const Ordered original = document;
    check_untouched(prune(document, spilling));
    CHECK(document == original);
}

TEST_CASE("dom: wherever memory runs out the document is as it was or pruned whole") {
    Ordered messages = support::reads(6);
    support::add_pair<Ordered>(messages, "w", "Write", Ordered{{"path", "/w"}, {"content", big}}, "ok");
    support::add_pair<Ordered>(messages, "d1", "Read", Ordered{{"path", "/d"}}, big);
    support::add_pair<Ordered>(messages, "d2", "Read", Ordered{{"path", "/d"}}, big);
    messages.push_back(assistant("done"));
    const Ordered original = body(std::move(messages));
    constexpr coppice::Pipeline<coppice::Dedup<>, coppice::KeepRecent<2>, coppice::BulkyInputClear<0>>
        pipeline;
    Ordered whole = original;
    CHECK(prune(whole, pipeline).engaged);

    std::size_t survived = 0;
    for (std::size_t requests = 0; survived == 0; ++requests) {
        REQUIRE(requests < 10'000);
        Ordered document = original;
        Report report;
        bool threw = false;
        heap.until_refusal = requests;
        try {
            report = prune(document, pipeline);
        } catch (...) { threw = true; }
        heap.until_refusal = std::numeric_limits<std::size_t>::max();
        REQUIRE_FALSE(threw);
        if (report.engaged) {
            CHECK(document == whole);
            ++survived;
        } else {
            REQUIRE_FALSE(report.why.empty());
            REQUIRE(document == original);
        }
    }
}

TEST_CASE("workspace: used again it gives the same result as a fresh one") {
    Workspace workspace;
    for (const std::size_t pairs : {60U, 3U, 0U, 24U, 60U, 1U}) {
        CAPTURE(pairs);
        Ordered with_used = session<Ordered>(pairs);
        Ordered with_fresh = with_used;
        const Report used = prune(with_used, every, workspace);
        const Report fresh = prune(with_fresh, every);
        CHECK(same_report<Ordered>(used, fresh));
        CHECK(with_used == with_fresh);
    }
}

TEST_CASE("workspace: a refused or failed document leaves no trace for the next") {
    Workspace workspace;
    Ordered first = session<Ordered>(30);
    prune(first, every, workspace);
    Ordered refused = list(user("hi"));
    prune(refused, every, workspace);
    Ordered failed = body(support::reads(30));
    prune(failed, coppice::Pipeline{Failing{[] { throw std::runtime_error("no luck"); }}}, workspace);
    Ordered with_used = session<Ordered>(24);
    Ordered with_fresh = with_used;
    CHECK(same_report<Ordered>(prune(with_used, every, workspace), prune(with_fresh, every)));
    CHECK(with_used == with_fresh);
}

TEST_CASE("workspace: it serves other pipelines and other kinds of DOM in between") {
    Workspace workspace;
    Sorted sorted = session<Sorted>(30);
    prune(sorted, keep_two, workspace);
    Ordered with_used = session<Ordered>(24);
    Ordered with_fresh = with_used;
    CHECK(same_report<Ordered>(prune(with_used, every, workspace), prune(with_fresh, every)));
}

namespace {

// What the second planning of a session costs when the first one was of the same size. Reading is not
// counted.
template <class Pipeline>
Heap second_planning(const Ordered& document, const Pipeline& pipeline) {
    const coppice::detail::DomSource<Ordered> source;
    Workspace workspace;
    Heap cost;
    for (int i = 0; i < 2; ++i) {
        workspace.transcript.clear();
        workspace.transcript.source = &source;
        coppice::AnthropicReader<coppice::detail::DomCursor<Ordered>> reader(workspace.transcript,
                                                                             workspace.reader);
        CHECK(reader.read(coppice::detail::DomCursor<Ordered>(document), false).empty());
        const Heap before = heap;
        pipeline.run(workspace);
        cost = {heap.requests - before.requests, heap.bytes - before.bytes};
    }
    return cost;
}

// Results of different sizes, so that none can be a duplicate.
Ordered distinct_sizes(std::size_t count) {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < count; ++i) {
        support::add_pair<Ordered>(messages, "call_" + std::to_string(i), i % 3 == 0 ? "Write" : "Read",
                                   Ordered{{"path", "/f" + std::to_string(i)}, {"content", big}},
                                   std::string(100 + i * 3, 'x'), i % 5 == 0);
    }
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

}  // namespace

TEST_CASE("workspace: the second planning by age costs the same for twice as many results") {
    constexpr coppice::Pipeline<coppice::SmallAging<5>, coppice::KeepRecent<5>, coppice::BulkyInputClear<5>>
        by_age;
    const Heap half = second_planning(distinct_sizes(500), by_age);
    const Heap whole = second_planning(distinct_sizes(1000), by_age);
    CHECK(whole.requests == half.requests);
    CHECK(whole.bytes == half.bytes);
}

TEST_CASE("workspace: the second planning with Ceiling costs the same for twice as many results") {
    constexpr coppice::Pipeline<coppice::Ceiling<coppice::Size{20'000}, 2>> ceiling;
    const Heap half = second_planning(distinct_sizes(500), ceiling);
    const Heap whole = second_planning(distinct_sizes(1000), ceiling);
    CHECK(whole.requests == half.requests);
    CHECK(whole.bytes == half.bytes);
}

TEST_CASE("workspace: the second planning with Dedup costs the same for twice as many results") {
    constexpr coppice::Pipeline<coppice::Dedup<>> dedup;
    const Heap half = second_planning(distinct_sizes(500), dedup);
    const Heap whole = second_planning(distinct_sizes(1000), dedup);
    CHECK(whole.requests == half.requests);
    CHECK(whole.bytes == half.bytes);
}

TEST_CASE("workspace: the second planning of results that look alike costs the same for twice as many") {
    constexpr coppice::Pipeline<coppice::Dedup<>> dedup;
    const Heap half = second_planning(body(support::reads(500)), dedup);
    const Heap whole = second_planning(body(support::reads(1000)), dedup);
    CHECK(whole.requests == half.requests);
    CHECK(whole.bytes == half.bytes);
}
