// SPDX-License-Identifier: MIT
#include <coppice/policies/bulky_input_clear.hpp>

#include "support/pruned.hpp"

#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/presets/openswarm.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

Ordered calls(const std::vector<Ordered>& inputs, const std::string& tool = "Write") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        add_pair(messages, "w" + std::to_string(i), tool, inputs[i], Ordered("ok"));
    }
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

Ordered write_of(std::size_t number, std::size_t size) {
    return Ordered{{"file_path", "/w" + std::to_string(number)}, {"content", filler(number, size)}};
}

coppice::Pipeline<coppice::BulkyInputClear<>> keeping(std::size_t keep) {
    return coppice::Pipeline{coppice::BulkyInputClear<>{.keep = keep}};
}

}  // namespace

TEST_CASE("bulky_input_clear: the newest five inputs stay and older ones lose the text they wrote") {
    std::vector<Ordered> inputs;
    for (std::size_t i = 0; i < 8; ++i) { inputs.push_back(write_of(i, 3000)); }
    const Pruned p = pruned(calls(inputs), coppice::Pipeline<coppice::BulkyInputClear<>>{});
    CHECK(input_fates(p) == "ccc-----");
    CHECK(call_input(p.after, 0) ==
          Ordered{{"file_path", "/w0"}, {"content", "[tool input cleared: 3000 characters; content]"}});
    CHECK(p.report.edits.at(0).path == "/input/content");
    CHECK(p.report.edits.at(0).id == "w0");
    CHECK(p.report.edits.at(0).tool == "Write");
    CHECK(p.report.edits.at(0).reason == "bulky_input_clear");
}

TEST_CASE("bulky_input_clear: five or fewer stay as they are") {
    CHECK(pruned(calls(std::vector<Ordered>(5, write_of(0, 3000))),
                 coppice::Pipeline<coppice::BulkyInputClear<>>{})
              .unchanged());
}

TEST_CASE("bulky_input_clear: each named field goes whole and everything else of the input stays") {
    const Ordered input = {{"command", std::string(3000, 'c')},
                           {"path", std::string(3000, 'p')},
                           {"content", filler(0, 2500)},
                           {"id", "123456789012345678901"},
                           {"n", 12345678901234567890ULL},
                           {"new_string", filler(1, 2500)},
                           {"old_string", filler(2, 2500)},
                           {"new_str", filler(3, 2500)},
                           {"old_str", filler(4, 2500)},
                           {"other", filler(5, 9000)},
                           {"flag", true},
                           {"none", nullptr}};
    const Pruned p = pruned(calls({input}), keeping(0));
    Ordered expected = input;
    for (const char* field : {"content", "new_string", "old_string", "new_str", "old_str"}) {
        expected[field] = "[tool input cleared: 2500 characters; " + std::string(field) + "]";
    }
    CHECK(call_input(p.after, 0).dump() == expected.dump());
    CHECK(p.report.edits.size() == 5);
}

TEST_CASE("bulky_input_clear: fields are cleared at any depth") {
    const Ordered input =
        Ordered::parse(R"({"path":"a","edits":[{"old_string":")" + std::string(5000, 'o') +
                       R"(","new_string":"short"},7,{"old_string":"s","new_string":")" +
                       std::string(5000, 'n') + R"(","deep":{"content":")" + std::string(5000, 'd') +
                       R"("},"list":[{"content":")" + std::string(5000, 'l') + R"("}]}]})");
    const Pruned p = pruned(calls({input}, "MultiEdit"), keeping(0));
    Ordered expected = input;
    expected["edits"][0]["old_string"] = "[tool input cleared: 5000 characters; old_string]";
    expected["edits"][2]["new_string"] = "[tool input cleared: 5000 characters; new_string]";
    expected["edits"][2]["deep"]["content"] = "[tool input cleared: 5000 characters; content]";
    expected["edits"][2]["list"][0]["content"] = "[tool input cleared: 5000 characters; content]";
    CHECK(call_input(p.after, 0).dump() == expected.dump());
    REQUIRE(p.report.edits.size() == 4);
    CHECK(p.report.edits[0].path == "/input/edits/0/old_string");
    CHECK(p.report.edits[1].path == "/input/edits/2/new_string");
    CHECK(p.report.edits[2].path == "/input/edits/2/deep/content");
    CHECK(p.report.edits[3].path == "/input/edits/2/list/0/content");
}

TEST_CASE("bulky_input_clear: texts of a list go by the name of the list") {
    const Ordered input = {{"content", list(Ordered(std::string(5000, 'x')), Ordered("short"))},
                           {"lines", list(Ordered(std::string(5000, 'y')))},
                           {"a/b~c", {{"content", list(list(Ordered(std::string(5000, 'z'))))}}}};
    const Pruned p = pruned(calls({input}), keeping(0));
    REQUIRE(p.report.edits.size() == 2);
    CHECK(p.report.edits[0].path == "/input/content/0");
    CHECK(p.report.edits[1].path == "/input/a~1b~0c/content/0/0");
}

TEST_CASE("bulky_input_clear: how deep it looks has an end, and so has how long a name it follows") {
    const auto nested = [](std::size_t levels, const std::string& name) {
        Ordered value = std::string(5000, 'x');
        for (std::size_t i = 0; i < levels; ++i) { value = Ordered{{i == 0 ? "content" : name, value}}; }
        return calls({Ordered{{"in", value}}});
    };
    CHECK(pruned(nested(16, "a"), keeping(0)).report.edits.size() == 1);
    CHECK(pruned(nested(17, "a"), keeping(0)).unchanged());
    CHECK(pruned(nested(2, std::string(240, 'a')), keeping(0)).report.edits.size() == 1);
    CHECK(pruned(nested(2, std::string(260, 'a')), keeping(0)).unchanged());
    CHECK(pruned(nested(4, std::string(120, 'a')), keeping(0)).unchanged());
}

TEST_CASE("bulky_input_clear: a field that is no string stays") {
    CHECK(pruned(calls({Ordered{{"content", 7}}, Ordered{{"content", nullptr}}}), keeping(0)).unchanged());
}

TEST_CASE("bulky_input_clear: a field counts from its minimum on in the unit of the minimum") {
    const auto sizes = [](coppice::Size min, const std::string& value) {
        return input_fates(pruned(calls({Ordered{{"content", value}}}),
                                  coppice::Pipeline{coppice::BulkyInputClear<>{.keep = 0, .min = min}}));
    };
    CHECK(sizes(coppice::bytes(2000), std::string(1999, 'x')) == "-");
    CHECK(sizes(coppice::bytes(2000), std::string(2000, 'x')) == "c");
    std::string faces = "x";
    for (int i = 0; i < 999; ++i) { faces += "\xF0\x9F\x98\x80"; }  // 1999 UTF-16 units, 1000 characters
    CHECK(sizes(coppice::utf16(2000), faces) == "-");
    CHECK(sizes(coppice::utf16(2000), faces + "x") == "c");
    CHECK(sizes(coppice::chars(2000), faces + "x") == "-");
    CHECK(sizes(coppice::bytes(2000), faces) == "c");
}

TEST_CASE("bulky_input_clear: the stub counts characters and the openswarm one UTF-16 units") {
    std::string faces;
    for (int i = 0; i < 1000; ++i) { faces += "\xF0\x9F\x98\x80"; }
    const Ordered document = calls({Ordered{{"content", faces}}});
    const coppice::BulkyInputClear<0, coppice::utf16(2000)> policy;
    CHECK(call_input(pruned(document, coppice::Pipeline{policy}).after, 0)["content"] ==
          "[tool input cleared: 1000 characters; content]");
    CHECK(call_input(pruned(document, coppice::Pipeline{policy, coppice::OpenSwarmWording{}}).after,
                     0)["content"] ==
          "[2000 characters, cleared by OpenSwarm; re-read the file if you need them]");
}

TEST_CASE("bulky_input_clear: only calls with something to clear take places unless every call counts") {
    const Ordered small = {{"command", "make"}};
    const Ordered document = calls({write_of(0, 3000), write_of(1, 3000), small, small, write_of(4, 100)});
    CHECK(input_fates(pruned(document, keeping(1))) == "c----");
    CHECK(input_fates(pruned(document, keeping(2))) == "-----");
    coppice::BulkyInputClear<> counting{.keep = 3};
    counting.count_every_call = true;
    CHECK(input_fates(pruned(document, coppice::Pipeline{counting})) == "cc---");
}

TEST_CASE("bulky_input_clear: a call without an answer and one whose answer was not read stay") {
    Ordered messages = calls({write_of(0, 3000), write_of(1, 3000)}).at("messages");
    messages.erase(messages.size() - 1);  // the last answer is unread now
    CHECK(input_fates(pruned(body(messages), keeping(0))) == "c-");
    messages.erase(messages.size() - 1);  // and now there is none
    const Pruned pending = pruned_once(body(messages), keeping(0));
    CHECK(input_fates(pending) == "c-");
    CHECK(pending.report.unpaired_calls == 1);
}

TEST_CASE("bulky_input_clear: an old call that was never answered stays") {
    Ordered messages = list(user("start"), call("a", "Write", write_of(0, 3000)), user("never mind"),
                            assistant("fine"), user("go on"));
    add_pair(messages, "b", "Write", write_of(1, 3000), Ordered("ok"));
    messages.push_back(assistant("done"));
    CHECK(input_fates(pruned_once(body(messages), keeping(0))) == "-c");
}

TEST_CASE("bulky_input_clear: exempt tools keep their inputs") {
    const coppice::Pipeline pipeline{coppice::BulkyInputClear<0>{}, coppice::ExemptTools{}};
    CHECK(pruned(calls({write_of(0, 3000)}, "TodoWrite"), pipeline).unchanged());
}

TEST_CASE("bulky_input_clear: its stubs are not cleared again and take no place") {
    std::vector<Ordered> inputs(3, write_of(0, 3000));
    Pruned first = pruned(calls(inputs), keeping(1));
    REQUIRE(input_fates(first) == "cc-");
    add_pair(first.after["messages"], "n", "Write", write_of(7, 2500), Ordered("ok"));
    first.after["messages"].push_back(assistant("done"));
    const Pruned second = pruned(first.after, keeping(1));
    CHECK(input_fates(second) == "--c-");
    CHECK(call_input(second.after, 0)["content"] == "[tool input cleared: 3000 characters; content]");
    // also below the length of a stub
    coppice::BulkyInputClear<> everything{.keep = 0, .min = coppice::bytes(1)};
    pruned(second.after, coppice::Pipeline{everything});
}

TEST_CASE("bulky_input_clear: a stub that would not be shorter is not written") {
    const coppice::Pipeline pipeline{coppice::BulkyInputClear<>{.keep = 0, .min = coppice::bytes(1)}};
    CHECK(pruned(calls({Ordered{{"content", "int main() {}"}}}), pipeline).unchanged());
}

TEST_CASE(
    "bulky_input_clear: two policies may clear fields of one call and the edits keep the order of the "
    "document") {
    const Ordered input = {{"old_string", filler(0, 3000)}, {"new_string", filler(1, 6000)}};
    const coppice::Pipeline pipeline{coppice::BulkyInputClear<0, coppice::Size{5000}>{},
                                     coppice::Ceiling<coppice::Size{2000}, 0>{}};
    const Pruned p = pruned(calls({input}, "Edit"), pipeline);
    REQUIRE(p.report.edits.size() == 2);
    CHECK(p.report.edits[0].path == "/input/old_string");
    CHECK(p.report.edits[0].reason == "ceiling");
    CHECK(p.report.edits[1].path == "/input/new_string");
    CHECK(p.report.edits[1].reason == "bulky_input_clear");
}

TEST_CASE("bulky_input_clear: defaults and run-time fields") {
    constexpr coppice::BulkyInputClear<> standard;
    static_assert(standard.keep == 5 && standard.min == coppice::bytes(2000) && !standard.count_every_call);
    static_assert(standard.fields.size() == 11);
    static constexpr std::array<std::string_view, 1> sources = {"new_source"};
    const coppice::Pipeline notebook{coppice::BulkyInputClear<>{.keep = 0, .fields = sources}};
    const Ordered input = {{"new_source", filler(0, 3000)}, {"content", filler(1, 3000)}};
    const Pruned p = pruned(calls({input}, "NotebookEdit"), notebook);
    CHECK(call_input(p.after, 0)["new_source"] == "[tool input cleared: 3000 characters; new_source]");
    CHECK(call_input(p.after, 0)["content"] == input["content"]);
}

TEST_CASE("bulky_input_clear: no fields at all are refused") {
    CHECK_THROWS_WITH_AS((coppice::Pipeline{coppice::BulkyInputClear<>{.fields = {}}}),
                         "coppice::BulkyInputClear: `fields` names no field", std::invalid_argument);
}
