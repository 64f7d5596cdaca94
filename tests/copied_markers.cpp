// SPDX-License-Identifier: MIT
#include <coppice/copied_markers.hpp>

#include "../examples/session_generator.hpp"

#include <coppice/dom.hpp>
#include <coppice/policies.hpp>
#include <coppice/presets/openswarm.hpp>
#include <coppice/presets/standard.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::CopiedMarker;
using coppice::find_copied_markers;
using coppice::OpenSwarmWording;
using coppice::PlainWording;
using Json = nlohmann::ordered_json;

// The markers in one string, with a `|` behind each.
template <class W = PlainWording>
std::string in(const std::string& text, const W& wording = {}) {
    const Json arguments = {{"content", text}};
    std::string out;
    for (const CopiedMarker& marker : find_copied_markers(arguments, wording)) {
        CHECK(marker.path == "/content");
        out.append(marker.text).append("|");
    }
    return out;
}

const std::vector<std::string> plain = {
    "[tool result cleared: 9001 characters, ok; Read /src/main.c]",
    "[tool result cleared: 9001 characters]",
    "[tool result cleared: 412 characters, failed; Bash make; first line: cc1: error; last line: Error 1]",
    "[tool result cleared: 9001 characters, 2 images, 1 document, 3 other parts, ok, same as a later result; Read /a]",
    "[tool result cleared: 9001 characters; read_file /src/main.c; stored at /tmp/x]",
    "[tool input cleared: 5120 characters; content]",
    "[tool input cleared: 5120 characters; command; first line: python3 - ((END]",
    "[tool result cut: 9001 characters, ok; Read /src/main.c; first 800 and last 400 follow]",
    "[tool result cut: 9001 characters; first 0 and last 0 follow]",
    "[middle of a tool result left out: 57000 of 60000 characters, with notable lines: 3; not stored]",
    "[middle of a tool result left out: 57000 of 60000 characters; stored at /tmp/spill/1.txt]",
};
const std::vector<std::string> openswarm = {
    "[Duplicate tool output: same content as a more recent result.]",
    "[Old screenshot cleared by OpenSwarm to keep this long chat inside the model's context window.]",
    "[Old result cleared by OpenSwarm: 412 characters from an earlier step.]",
    "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: 9001 characters "
    "from an earlier step; full output at /tmp/x.txt.]",
    "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: 9001 characters "
    "from an earlier step, plus a screenshot.]",
    "[5120 characters, cleared by OpenSwarm; re-read the file if you need them]",
    "[... 57000 chars elided by OpenSwarm; full output at /tmp/x.txt ...]",
};

template <class W>
void check_found(const std::vector<std::string>& markers, const W& wording, std::size_t enough) {
    for (const std::string& marker : markers) {
        CAPTURE(marker);
        CHECK(in(marker, wording) == marker + "|");
        CHECK(in("int main() {\n    " + marker + "\n}\n", wording) == marker + "|");
        CHECK(in("[x] [" + marker + "]" + marker + ".", wording) == marker + "|" + marker + "|");
        for (std::size_t size = 1; size < marker.size(); ++size) {
            const std::string cut = marker.substr(0, size);
            CAPTURE(cut);
            // goes on with something else
            CHECK(in(cut + "\"", wording).empty());
            CHECK(in(cut + "\xC3\xA9", wording).empty());
            if (size < enough) { continue; }
            // all that goes before a number is not enough
            const bool counted = cut.find_first_of("0123456789") != std::string::npos;
            if (!counted && marker.find_first_of("0123456789") != std::string::npos) { continue; }
            CHECK(in("a\n" + cut, wording) == cut + "|");
            CHECK(in(cut + "\nb", wording) == cut + "|");
            CHECK(in(cut + "\r\nb", wording) == cut + "|");
        }
    }
}

}  // namespace

TEST_CASE("copied_markers: stubs of the plain wording are found anywhere in a text, whole or cut off") {
    check_found(plain, PlainWording{}, 2);
    CHECK(in("a [image cleared: shot http://localhost:3000] b") == "[image cleared: shot http://localhost:3000]|");
}

TEST_CASE("copied_markers: stubs of OpenSwarm's wording are found anywhere in a text, whole or cut off") {
    check_found(openswarm, OpenSwarmWording{}, 40);
}

TEST_CASE("copied_markers: text that only speaks of markers is none") {
    for (const char* text :
         {"Old results are shown as `[tool result cleared: ...]`.",
          "it begins with [tool result cleared:",
          "[tool result cleared: ",
          "[tool result cleared: <number> characters]",
          "[tool result cleared: nine characters]",
          "[tool result cleared: 09 characters]",
          "[tool result cleared: 9 chars]",
          "[tool result cleared: 9 characters.]",
          "[tool result cleared: 9 characters, fine; Read]",
          "[tool result cleared: 9 characters; a [b] c]",
          "[tool result cleared: 9 characters, which is little\n",
          "[tool result cleared: 9 characters \"quoted\"]",
          "[tool input cleared: 5 characters]",
          "[tool input cleared: 5 characters of it",
          "[tool input cleared: N; x]",
          "[tool result cut: 9 characters, ok; Read /a]",
          "[tool result cut: 9 characters; first 8 follow]",
          "[tool result cut: 9 characters; first 08 and last 1 follow]",
          "[tool result cut: 9 characters, ok; first 8 and last 1 follow.]",
          "[tool result cut: 9 characters, ok, first 8 and last 1 follow]",
          "[tool result cut: nine characters; first 8 and last 1 follow]",
          "[tool result cut: ",
          "[image cleared: ",
          "[image cleared: and then there was",
          "[Image cleared: x]",
          "tool result cleared: 9 characters]",
          "[middle of a tool result left out: 1 of 2 lines",
          "[middle of a tool result left out: 1 of 2 characters; lost]",
          "[middle of a tool result left out]",
          "[",
          "[]",
          "[[[",
          ""}) {
        CAPTURE(text);
        CHECK(in(text).empty());
    }
    for (const char* text :
         {"[1]",
          "[5120",
          "[5120 characters",
          "[12, 13]",
          "[... ]",
          "[...",
          "[... and more ...]",
          "[Old result",
          "[Old result cleared by OpenSwarm: ",
          "[Old result cleared by OpenSwarm: many characters from an earlier step.]",
          "[Duplicate tool output]",
          "[Old screenshot]",
          "[7 characters, cleared by hand]",
          "[Old screenshot cleared by ",
          "[Duplicate tool output: the same one was seen before]"}) {
        CAPTURE(text);
        CHECK(in(text, OpenSwarmWording{}).empty());
    }
    for (const std::string& marker : plain) { CHECK(in(marker, OpenSwarmWording{}).empty()); }
    for (const std::string& marker : openswarm) { CHECK(in(marker).empty()); }
}

TEST_CASE("copied_markers: paths are JSON Pointers in the order of the arguments, in both kinds of a DOM") {
    const std::string text = R"({"z/":{"a~b":["x","[tool input cleared: 1 characters; content]",
        {"":"[image cleared: s]"}]},"n":[1,null,true,[],{}],"edits":[
        {"new_string":"a\n[tool input cleared: 2 characters; new_string]\nb"}],
        "[tool input cleared: 3 characters; key]":7})";
    const auto paths = [&](const auto& arguments) {
        std::string out;
        for (const CopiedMarker& marker : find_copied_markers(arguments)) { out += marker.path + " "; }
        return out;
    };
    const auto ordered = Json::parse(text);
    const auto sorted = nlohmann::json::parse(text);
    CHECK(paths(ordered) == "/z~1/a~0b/1 /z~1/a~0b/2/ /edits/0/new_string ");
    CHECK(paths(sorted) == "/edits/0/new_string /z~1/a~0b/1 /z~1/a~0b/2/ ");
    for (const CopiedMarker& marker : find_copied_markers(ordered)) {
        const auto& held = ordered.at(Json::json_pointer(marker.path)).get_ref<const std::string&>();
        const bool inside = marker.text.data() >= held.data() && marker.text.data() < held.data() + held.size();
        CHECK(inside);
    }
    const Json only = plain[0];
    CHECK(paths(only) == " ");
    CHECK(paths(Json(7)).empty());
    CHECK(paths(Json()).empty());
}

TEST_CASE("copied_markers: arguments of any depth and hostile texts take their time once") {
    Json deep = plain[0];
    std::string path;
    for (int i = 0; i < 20'000; ++i) {
        Json outer = Json::array();
        outer.push_back(std::move(deep));
        deep = std::move(outer);
        path += "/0";
    }
    const auto found = find_copied_markers(deep);
    REQUIRE(found.size() == 1);
    CHECK(found[0].path == path);
    std::string openings;
    while (openings.size() < 2'000'000) { openings += "[tool result cleared: 1"; }
    CHECK(in(openings) == "[tool result cleared: 1|");
    CHECK(in(std::string(2'000'000, '[')).empty());
    CHECK(in("[image cleared: " + std::string(2'000'000, 'x') + "]").empty());
    CHECK(in(std::string(2'000'000, '['), OpenSwarmWording{}).empty());
}

TEST_CASE("copied_markers: every text that pruning writes is found in a file that was made of it") {
    coppice_examples::SessionShape shape;
    shape.results = 120;
    const Json session = coppice_examples::make_session(shape);
    const auto check = [&](const auto& pipeline, const auto& wording) {
        std::size_t looked = 0;
        const coppice::Report report = coppice::plan(session, pipeline);
        for (const coppice::EditRecord& edit : report.edits) {
            if (edit.replacement.empty()) { continue; }
            const Json arguments = {{"file_path", "/a"}, {"content", "first\n" + edit.replacement + "\nlast\n"}};
            const auto found = find_copied_markers(arguments, wording);
            REQUIRE(found.size() == 1);
            CHECK(found[0].text == edit.replacement);
            ++looked;
        }
        CHECK(looked > 30);
        // and nothing in what the session itself holds
        CHECK(find_copied_markers(session, wording).empty());
    };
    check(coppice::presets::standard(coppice::EveryRequest<>{}), PlainWording{});
    check(coppice::presets::openswarm(coppice::EveryRequest<>{}), OpenSwarmWording{});
}

TEST_CASE("copied_markers: the line in the middle of what was capped or stored is found") {
    std::string capped;
    PlainWording{}.cap(capped, {.content = std::string(9000, 'x') + "\nerror: y\n" + std::string(9000, 'z'),
                                .head = 10,
                                .tail = 10});
    CHECK(in(capped) ==
          "[middle of a tool result left out: 17990 of 18010 characters, with notable lines: 1; not stored]|");
    const std::string content(9000, 'x');
    const coppice::PreviewFacts facts{.content = content, .reference = "memory:1", .size = coppice::ascii(9000)};
    std::string preview;
    PlainWording{}.preview(preview, facts);
    CHECK(in(preview) == "[middle of a tool result left out: 6000 of 9000 characters; stored at memory:1]|");
    preview.clear();
    OpenSwarmWording{}.preview(preview, facts);
    CHECK(in(preview, OpenSwarmWording{}) == "[... 5000 chars elided by OpenSwarm; full output at memory:1 ...]|");
}

TEST_CASE("copied_markers: of a result that was cut, the line before its ends is found") {
    std::string clipped;
    PlainWording{}.clip(clipped, {.tool = "Read", .identity = "/a", .size = coppice::ascii(9000)},
                        {.content = std::string(9000, 'x'), .head = 10, .tail = 5});
    CHECK(in(clipped) == "[tool result cut: 9000 characters, ok; Read /a; first 10 and last 5 follow]|");
    CHECK(in("// " + clipped) == "[tool result cut: 9000 characters, ok; Read /a; first 10 and last 5 follow]|");
}
