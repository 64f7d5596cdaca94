// SPDX-License-Identifier: MIT
#include <coppice/detail/reader.hpp>

#include <coppice/dialects/anthropic.hpp>
#include <coppice/dialects/openai_chat.hpp>
#include <coppice/dom.hpp>

#include "../support/builders.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace {

using coppice::Text;
using coppice::detail::beginning;
using coppice::detail::path_of_patch;
using Json = nlohmann::ordered_json;
using support::body;
using support::call;
using support::list;

std::string path(const std::string& patch) {
    // both spellings of a patch give one path
    std::string scratch;
    const std::string plain(path_of_patch(beginning(Text(std::string_view(patch)), 1200, scratch)));
    const std::string spelled = Json(patch).dump();
    const std::string_view inside = std::string_view(spelled).substr(1, spelled.size() - 2);
    const std::string escaped(path_of_patch(beginning(Text::still_escaped(inside), 1200, scratch)));
    CHECK(plain == escaped);
    return plain;
}

// The identity that a reader finds in the input of a call.
std::string identity(const Json& input) {
    using Cursor = coppice::detail::DomCursor<Json>;
    const Json document = body(list(call("t1", "Tool", input)));
    const coppice::detail::DomSource<Json> source;
    coppice::detail::ReaderScratch scratch;
    coppice::Transcript transcript;
    transcript.source = &source;
    REQUIRE(coppice::AnthropicReader<Cursor>(transcript, scratch).read(Cursor(document), false).empty());
    REQUIRE(transcript.all().size() == 1);
    std::string decoding;
    const std::string found(decoded(transcript.all()[0].identity, decoding));

    // and in arguments that are a string
    Json function = {{"name", "Tool"}};
    function["arguments"] = input.dump();
    const Json asked = Json{{"id", "c1"}, {"type", "function"}, {"function", function}};
    const Json chat = {{"messages", list(Json{{"role", "assistant"}, {"tool_calls", list(asked)}})}};
    coppice::Transcript packed;
    packed.source = &source;
    REQUIRE(coppice::OpenAiChatReader<Cursor>(packed, scratch).read(Cursor(chat), false).empty());
    REQUIRE(packed.all().size() == 1);
    CHECK(decoded(packed.all()[0].identity, decoding) == found);
    return found;
}

}  // namespace

TEST_CASE("patch: the first path of a patch is its path") {
    CHECK(path("*** Begin Patch\n*** Update File: src/a.c\n@@\n-x\n+y\n*** End Patch") == "src/a.c");
    CHECK(path("*** Begin Patch\n*** Add File: a.c\n+x\n*** Update File: b.c\n") == "a.c");
    CHECK(path("*** Begin Patch\n*** Delete File: a b.c\n*** Add File: c\n") == "a b.c");
    CHECK(path("*** Begin Patch\n*** Update File: b\n*** Add File: a\n") == "b");
    CHECK(path("*** Begin Patch\n*** Update File: last") == "last");
}

TEST_CASE("patch: a path keeps its characters whatever their spelling") {
    CHECK(path("*** Begin Patch\n*** Update File: C:\\new\\\"a\".c\nx") == "C:\\new\\\"a\".c");
    CHECK(path("*** Begin Patch\n*** Update File: caf\xC3\xA9/\xE6\x96\x87.md\nx") ==
          "caf\xC3\xA9/\xE6\x96\x87.md");
    const Text unicode = Text::still_escaped(R"(*** Begin Patch\u000a*** Update File: a\/b\u000a+x)");
    std::string scratch;
    CHECK(path_of_patch(beginning(unicode, 1200, scratch)) == "a/b");
}

TEST_CASE("patch: line breaks of two bytes are no part of a path") {
    CHECK(path("*** Begin Patch\r\n*** Update File: src/a.c\r\n@@\r\n") == "src/a.c");
}

TEST_CASE("patch: what is no patch has no path") {
    for (const char* const text : {"", "*** Begin", "*** Begin Patch", "*** Begin Patch\nx", "ls -la",
                                   " *** Begin Patch\n*** Add File: a\n", "*** Update File: a\n",
                                   "*** Begin Patch\n*** Update File: "}) {
        CAPTURE(text);
        CHECK(path(text).empty());
    }
    // far behind the beginning it may be the content of a file
    CHECK(path("*** Begin Patch\n" + std::string(500, 'x') + "\n*** Update File: a\n").empty());
}

TEST_CASE("identity: a command of several words is joined") {
    CHECK(identity(Json{{"command", list("bash", "-lc", "ls -la")}}) == "bash -lc ls -la");
    CHECK(identity(Json{{"cmd", list("make")}}) == "make");
    CHECK(identity(Json{{"cmd", list("a\n\"b\"", "\xC3\xA9")}}) == "a\n\"b\" \xC3\xA9");
    CHECK(identity(Json{{"workdir", "/w"}, {"command", list("ls")}}) == "ls");
}

TEST_CASE("identity: of a list only the words count") {
    CHECK(identity(Json{{"command", list("a", 1, nullptr, list("x"), Json{{"b", "c"}}, "d")}}) == "a d");
    CHECK(identity(Json{{"command", list(1, 2)}, {"url", "u"}}) == "u");
    CHECK(identity(Json{{"command", list()}, {"description", "d"}}) == "d");
    CHECK(identity(Json{{"command", list("", "")}, {"description", "d"}}) == "d");
}

TEST_CASE("identity: better keys win whether they hold a text or a list") {
    CHECK(identity(Json{{"command", list("ls")}, {"path", "/a"}}) == "/a");
    CHECK(identity(Json{{"url", "u"}, {"command", list("ls")}}) == "ls");
    CHECK(identity(Json{{"command", list("ls")}, {"cmd", "no"}}) == "ls");
}

TEST_CASE("identity: a list of very many words is cut where nobody reads on") {
    Json words = Json::array();
    for (int i = 0; i < 20'000; ++i) { words.push_back("word"); }
    words.push_back(std::string(100'000, 'x'));
    const std::string found = identity(Json{{"command", words}});
    CHECK(found.size() >= 1024);
    CHECK(found.size() < 8192);
    const std::string long_word = identity(Json{{"command", list(std::string(100'000, 'x'), "y")}});
    CHECK(long_word.size() < 8192);
}

TEST_CASE("identity: a patch is known by its path where nothing better is there") {
    const std::string patch = "*** Begin Patch\n*** Add File: \"a\".c\n+x\n";
    CHECK(identity(Json{{"input", patch}}) == "\"a\".c");
    CHECK(identity(Json{{"input", patch}, {"path", "/b"}}) == "/b");
    CHECK(identity(Json{{"path", "/b"}, {"input", patch}}) == "/b");
    CHECK(identity(Json{{"input", patch}, {"description", "d"}}) == "d");
}
