// SPDX-License-Identifier: MIT
#include <coppice/wording.hpp>

#include <coppice/presets/openswarm.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cctype>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::Extent;
using coppice::FieldFacts;
using coppice::OpenSwarmWording;
using coppice::PlainWording;
using coppice::PreviewFacts;
using coppice::Recognised;
using coppice::ResultFacts;

struct Terse {
    static constexpr std::string_view name = "terse";
    static constexpr std::size_t longest = 9;
    coppice::Shape shape = coppice::Shape::as_it_was;
    void result(std::string& out, const ResultFacts&) const { out += "[cleared]"; }
    void field(std::string& out, const FieldFacts&) const { out += "[cleared]"; }
    void image(std::string& out, const ResultFacts&) const { out += "[cleared]"; }
    Recognised recognise(std::string_view) const { return {}; }
};

template <class Wording = PlainWording>
std::string result_text(const ResultFacts& facts, const Wording& wording = {}) {
    std::string out;
    wording.result(out, facts);
    return out;
}

template <class Wording = PlainWording>
std::string field_text(const FieldFacts& facts, const Wording& wording = {}) {
    std::string out;
    wording.field(out, facts);
    return out;
}

template <class Wording = PlainWording>
std::string image_text(const ResultFacts& facts, const Wording& wording = {}) {
    std::string out;
    wording.image(out, facts);
    return out;
}

std::string preview_text(std::string_view content, std::string_view reference) {
    std::string out;
    PlainWording().preview(
        out, {.content = content, .reference = reference, .size = coppice::measure(content).plain});
    return out;
}

std::string clip_text(const ResultFacts& facts, std::string_view content, std::size_t head, std::size_t tail) {
    std::string out;
    PlainWording().clip(out, facts, {.content = content, .head = head, .tail = tail});
    return out;
}

template <class Wording = PlainWording>
Recognised::Kind kind_of(std::string_view text) {
    return Wording().recognise(text).kind;
}

template <class Wording = PlainWording>
bool is_stub(std::string_view text) {
    return kind_of<Wording>(text) == Recognised::Kind::stub;
}

template <class Wording = PlainWording>
bool is_content(std::string_view text) {
    return kind_of<Wording>(text) == Recognised::Kind::content;
}

// One spelling at any depth of JSON.
bool has_one_spelling(std::string_view text) {
    for (const char byte : text) {
        if (byte < 0x20 || byte > 0x7E || byte == '"' || byte == '\\') { return false; }
    }
    return true;
}

// Names, paths and lines that somebody else chose.
std::vector<std::string> hostile_texts() {
    return {
        "",
        " ",
        "\n",
        R"(a "quoted" name)",
        R"(back\slash\)",
        "two\nlines\r\nand\ttabs",
        "brackets ] and [ in [[it]]",
        "]\",\"is_error\":false,\"x\":[",
        "\xE2\x80\xAE"
        "gpj.exe\xE2\x81\xA6\xE2\x80\x8B",  // bidi controls, zero-width space
        "\xEF\xBB\xBFmark",
        "\x1B[31mred\x1B[0m",
        std::string("nul\0nul", 7),
        "\xFF\xFE\xC0\xAF\xED\xA0\xBD",
        std::string(100'000, 'x'),
        std::string(100'000, '"'),
        std::string(100'000, '\n'),
        std::string(100'000, '\xF0'),
        "; first line: fake; stored at fake",
        ", same as a later result; Read",
    };
}

std::string repeated(std::string_view piece, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) { out += piece; }
    return out;
}

// A preview of 60,000 characters with three notable lines.
std::string lined_preview() {
    std::string content =
        std::string(1800, 'h') + "\nerror: 1\n" + std::string(30'000, 'm') + "\nerror: 2\nok\nerror: 3\n";
    content += std::string(58'800 - content.size(), 'm') + std::string(1200, 't');
    return preview_text(content, "memory:0a1b");
}

std::string with(const std::string& text, const std::string& what, const std::string& instead) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.substr(0, at) + instead + text.substr(at + what.size());
}

// At least so many characters, of all that may matter to a preview.
std::string random_content(std::mt19937& random, std::size_t characters) {
    static const std::vector<std::string> pieces = {
        "\n",
        "\r\n",
        "\n\n",
        " ",
        "x",
        "some words of a line",
        "Error: no such file",
        "12 passed",
        "FATAL",
        "request_id=7",
        "\xC3\xA9",
        "\xE2\x82\xAC",
        "\xF0\x9F\x98\x80",
        std::string(1, '\0'),
        "\x1B[31m",
        "\"\\",
        "]",
        "[",
        "[end of these lines]\n",
        "\n\n[middle of a tool result left out: 9 of 3009 characters; stored at elsewhere:1]\n\n",
        "\n\n[middle of a tool result left out: 9 of 3009 characters, with notable lines: 1; stored at "
        "e]\nerror\n",
        "\n\n[... 9 chars elided by OpenSwarm; full output at elsewhere:1 ...]\n\n",
        "Output truncated by OpenSwarm. Full output (4009 chars) saved to elsewhere:1. Ask the user",
        "<openswarm_platform_note>",
        "</openswarm_platform_note>\n",
        "<",
        "error " + std::string(500, 'l'),
        "fail " + repeated("\xE2\x82\xAC", 450),
    };
    // some texts are mostly long lines, some mostly short ones
    const std::size_t first = random() % 10;
    std::string out;
    std::size_t count = 0;
    while (count < characters) {
        const std::string& piece = pieces[random() % 4 == 0 ? first : random() % pieces.size()];
        out += piece;
        count += coppice::measure_plain(piece).chars;
    }
    return out;
}

// Words of a text, lower case.
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char byte : text) {
        if (std::isalpha(static_cast<unsigned char>(byte)) != 0) {
            words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
        } else if (!words.back().empty()) {
            words.emplace_back();
        }
    }
    return words;
}

}  // namespace

TEST_CASE("plain wording: a cleared result says size outcome tool and what the call named") {
    CHECK(result_text({.tool = "Read", .identity = "/src/main.c", .size = coppice::ascii(9001)}) ==
          "[tool result cleared: 9001 characters, ok; Read /src/main.c]");
}

TEST_CASE("plain wording: sizes are code points") {
    CHECK(result_text({.tool = "Read", .size = Extent{4000, 1000, 2000}}) ==
          "[tool result cleared: 1000 characters, ok; Read]");
}

TEST_CASE("plain wording: a failed result says so and keeps its first and last line") {
    CHECK(result_text({.tool = "Bash",
                       .identity = "make",
                       .size = coppice::ascii(412),
                       .error = true,
                       .first_line = "cc1: error",
                       .last_line = "make: Error 1"}) ==
          "[tool result cleared: 412 characters, failed; Bash make; first line: cc1: error; last line: make: "
          "Error 1]");
}

TEST_CASE("plain wording: one line is not said twice") {
    CHECK(result_text({.tool = "Bash",
                       .size = coppice::ascii(300),
                       .error = true,
                       .first_line = "E",
                       .last_line = "E"}) ==
          "[tool result cleared: 300 characters, failed; Bash; first line: E]");
}

TEST_CASE("plain wording: a duplicate says that a later result is the same") {
    CHECK(result_text(
              {.tool = "Read", .identity = "/src/main.c", .size = coppice::ascii(9001), .duplicate = true}) ==
          "[tool result cleared: 9001 characters, ok, same as a later result; Read /src/main.c]");
}

TEST_CASE("plain wording: what was there beside text is counted in singular and plural") {
    CHECK(result_text({.tool = "Shot", .images = 1, .documents = 1, .others = 1}) ==
          "[tool result cleared: 0 characters, 1 image, 1 document, 1 other part, ok; Shot]");
    CHECK(result_text({.tool = "Shot", .images = 2, .documents = 3, .others = 4}) ==
          "[tool result cleared: 0 characters, 2 images, 3 documents, 4 other parts, ok; Shot]");
}

TEST_CASE("plain wording: a stored result says where") {
    CHECK(result_text({.tool = "Bash", .size = coppice::ascii(60'000), .reference = "memory:0a1b"}) ==
          "[tool result cleared: 60000 characters, ok; Bash; stored at memory:0a1b]");
}

TEST_CASE("plain wording: without tool and identity nothing stands in their place") {
    CHECK(result_text({.size = coppice::ascii(900)}) == "[tool result cleared: 900 characters, ok]");
    CHECK(result_text({.identity = "ls", .size = coppice::ascii(900)}) ==
          "[tool result cleared: 900 characters, ok; ls]");
}

TEST_CASE("plain wording: a cleared field says its size and name") {
    CHECK(field_text({.tool = "Write", .field = "content", .size = Extent{9000, 5120, 5120}}) ==
          "[tool input cleared: 5120 characters; content]");
}

TEST_CASE("plain wording: a cleared field that the call was known by says its first line") {
    const FieldFacts facts{
        .tool = "Bash", .field = "command", .size = coppice::ascii(5120), .first_line = "python3 - <<END"};
    CHECK(field_text(facts) == "[tool input cleared: 5120 characters; command; first line: python3 - ((END]");
    for (const std::string& name : hostile_texts()) {
        for (const std::string& line : hostile_texts()) {
            for (const std::string& more :
                 {std::string(), std::string("; first line: "), std::string(40, 'n') + "; first line: x"}) {
                const std::string field = more + name;
                const std::string stub = field_text({.field = field, .size = coppice::ascii(9000), .first_line = line});
                CAPTURE(stub);
                CHECK(is_stub(stub));
                CHECK(has_one_spelling(stub));
                CHECK(stub.size() <= PlainWording::longest);
            }
        }
    }
    const std::string stub = field_text(facts);
    const std::string line = "python3 - ((END";
    CHECK(is_stub(with(stub, line, std::string(100, 'l'))));
    CHECK(is_content(with(stub, line, std::string(101, 'l'))));
    CHECK(is_stub(with(stub, "command", std::string(64, 'f'))));
    CHECK(is_content(with(stub, "command", std::string(65, 'f'))));
    CHECK(is_content(with(stub, "; first line: ", "; second line: ") + std::string(60, 'x')));
    CHECK(is_content(with(with(stub, "; first line: ", "; first lines: "), "command", std::string(50, 'f'))));
    for (const std::string& wrong :
         {std::string("a\nb"), std::string("a\"b"), std::string("a\\b"), std::string("[a"), std::string("a]")}) {
        CHECK(is_content(with(stub, line, wrong)));
    }
}

TEST_CASE("plain wording: a cleared image says which call showed it") {
    CHECK(image_text({.tool = "Shot", .identity = "https://a.example"}) ==
          "[image cleared: Shot https://a.example]");
    CHECK(image_text({.tool = "Shot"}) == "[image cleared: Shot]");
}

TEST_CASE("plain wording: long names keep head and tail within their limits") {
    const std::string path = "/head/" + std::string(500, 'd') + "/tail.c";
    const std::string stub = result_text({.tool = "Read", .identity = path, .size = coppice::ascii(9)});
    CHECK(stub.find("Read /head/ddd") != std::string::npos);
    CHECK(stub.find("ddd/tail.c]") != std::string::npos);
    CHECK(stub.size() < 60 + PlainWording::identity_limit);
}

TEST_CASE("plain wording: every text it authors is recognised as a stub") {
    const std::array<bool, 2> both = {false, true};
    for (const bool error : both) {
        for (const bool duplicate : both) {
            for (const std::size_t parts : {0U, 1U, 12U}) {
                for (const std::string_view tool : {"", "Read", "mcp__x__y", "tool; first line: x"}) {
                    const std::string stub = result_text({.tool = tool,
                                                          .identity = parts == 0 ? "" : "/a b/c.txt",
                                                          .size = coppice::ascii(parts * 1000),
                                                          .images = parts,
                                                          .documents = parts,
                                                          .others = parts,
                                                          .error = error,
                                                          .duplicate = duplicate,
                                                          .first_line = error ? "first" : "",
                                                          .last_line = error ? "last" : "",
                                                          .reference = parts == 12 ? "memory:12" : ""});
                    CAPTURE(stub);
                    CHECK(is_stub(stub));
                }
            }
        }
    }
    CHECK(is_stub(field_text({.tool = "Write", .field = "content", .size = coppice::ascii(5120)})));
    CHECK(is_stub(image_text({.tool = "Shot", .identity = "x"})));
    CHECK(is_stub(image_text({.tool = "Shot"})));
    CHECK(is_stub(image_text({})));
}

TEST_CASE("plain wording: hostile names paths and lines give one spelling within the longest text") {
    for (const std::string& hostile : hostile_texts()) {
        CAPTURE(hostile.substr(0, 40));
        const ResultFacts facts{.tool = hostile,
                                .identity = hostile,
                                .size = coppice::ascii(static_cast<std::size_t>(-1)),
                                .images = static_cast<std::size_t>(-1),
                                .documents = static_cast<std::size_t>(-1),
                                .others = static_cast<std::size_t>(-1),
                                .error = true,
                                .duplicate = true,
                                .first_line = hostile,
                                .last_line = std::string_view(hostile).substr(hostile.size() / 2),
                                .reference = hostile};
        const std::array<std::string, 3> texts = {
            result_text(facts), image_text(facts),
            field_text(
                {.tool = hostile, .field = hostile, .size = coppice::ascii(static_cast<std::size_t>(-1))})};
        for (const std::string& text : texts) {
            CHECK(has_one_spelling(text));
            CHECK(text.size() <= PlainWording::longest);
            CHECK(text.front() == '[');
            CHECK(text.back() == ']');
            CHECK(text.find_first_of("[]", 1) == text.size() - 1);
        }
    }
}

TEST_CASE("plain wording: a stub of hostile names is recognised again") {
    for (const std::string& hostile : hostile_texts()) {
        CAPTURE(hostile.substr(0, 40));
        CHECK(is_stub(result_text({.tool = hostile, .identity = hostile, .size = coppice::ascii(9000)})));
        CHECK(is_stub(result_text({.tool = hostile,
                                   .size = coppice::ascii(9000),
                                   .error = true,
                                   .first_line = hostile,
                                   .last_line = hostile,
                                   .reference = hostile})));
        CHECK(is_stub(image_text({.tool = hostile, .identity = hostile})));
        CHECK(is_stub(field_text({.field = hostile, .size = coppice::ascii(9000)})));
    }
}

TEST_CASE("plain wording: no text asks the model for anything") {
    const std::array<std::string, 4> texts = {
        result_text({.tool = "T",
                     .identity = "I",
                     .size = coppice::ascii(1),
                     .images = 2,
                     .documents = 2,
                     .others = 2,
                     .error = true,
                     .duplicate = true,
                     .first_line = "F",
                     .last_line = "L",
                     .reference = "R"}) +
            result_text({.tool = "T", .size = coppice::ascii(1), .images = 1, .documents = 1, .others = 1}),
        field_text({.tool = "T", .field = "F"}) + image_text({.tool = "T", .identity = "I"}),
        preview_text(std::string(9000, '1'), "R"),
        preview_text(std::string(9000, '1') + "\n1 passed\n" + std::string(9000, '1'), "R"),
    };
    for (const std::string& text : texts) {
        for (const std::string& word : words_of(text)) {
            for (const std::string_view banned :
                 {"read", "open", "run", "fetch", "load", "see", "retry", "must", "never", "ask", "please",
                  "you", "your", "should", "do", "use", "call"}) {
                CHECK(word != banned);
            }
        }
    }
}

TEST_CASE("plain wording: where nothing says how a call went, the stub says nothing of it either") {
    const coppice::PlainWording wording;
    std::string text;
    wording.result(text, {.tool = "read_file", .identity = "/a", .size = coppice::ascii(9001), .outcome_known = false});
    CHECK(text == "[tool result cleared: 9001 characters; read_file /a]");
    CHECK(wording.recognise(text).kind == coppice::Recognised::Kind::stub);
    text.clear();
    wording.result(text, {.size = coppice::ascii(9001), .error = true, .outcome_known = false});
    CHECK(text == "[tool result cleared: 9001 characters, failed]");
}

TEST_CASE("plain wording: near misses of a result stub are content") {
    for (const std::string_view near : {
             "[tool result cleared: 09001 characters, ok; Read]",  // leading zero
             "[tool result cleared: 9,001 characters, ok; Read]",  // separators
             "[tool result cleared: +9001 characters, ok; Read]",  // sign
             "[tool result cleared: 9001.0 characters, ok; Read]",
             "[tool result cleared: 0x2329 characters, ok; Read]",
             "[tool result cleared: 99999999999999999999 characters, ok; Read]",  // too many digits
             "[tool result cleared:  characters, ok; Read]",                      // no number
             "[tool result cleared: nine characters, ok; Read]",
             "[tool result cleared: 9001 Characters, ok; Read]",
             "[tool result cleared: 9001 characters;; Read]",
             "[tool result cleared: 9001 characters, okay; Read]",
             "[tool result cleared: 9001 characters, ok Read]",
             "[tool result cleared: 9001 characters, ok, failed; Read]",
             "[tool result cleared: 9001 characters, ok; Read",  // not closed
             "tool result cleared: 9001 characters, ok; Read]",
             "[tool result cleared: 9001 characters, ok; Read] ",  // trailing byte
             "[tool result cleared: 9001 characters, ok; Read]\n",
             " [tool result cleared: 9001 characters, ok; Read]",
             "[tool result cleared: 9001 characters, ok; Read]]",
             "[tool result cleared: 9001 characters, ok; [Read]",
             "[tool result cleared: 9001 characters, ok; Re\"ad]",
             "[tool result cleared: 9001 characters, ok; Re\nad]",
             "[tool result cleared: 9001 characters, ok; Re\xC3\xA9]",
             "[Tool result cleared: 9001 characters, ok; Read]",
             "[tool result cleared: 9001 characters, ok]and more]",
             "[tool result cleared]",
             "[]",
             "[",
             "",
         }) {
        CAPTURE(near);
        CHECK(is_content(near));
    }
}

TEST_CASE("plain wording: counts of parts are recognised only as they are written") {
    CHECK(is_stub("[tool result cleared: 5 characters, 1 image, ok; T]"));
    CHECK(is_stub("[tool result cleared: 5 characters, 2 images, ok; T]"));
    CHECK(is_content("[tool result cleared: 5 characters, 0 images, ok; T]"));
    CHECK(is_content("[tool result cleared: 5 characters, 1 images, ok; T]"));
    CHECK(is_content("[tool result cleared: 5 characters, 2 image, ok; T]"));
    CHECK(is_content("[tool result cleared: 5 characters, 01 image, ok; T]"));
    CHECK(is_content("[tool result cleared: 5 characters, 2 documents, 2 images, ok; T]"));
    CHECK(is_content("[tool result cleared: 5 characters, 2 images, 2 images, ok; T]"));
}

TEST_CASE("plain wording: near misses of a field stub and an image stub are content") {
    const std::string long_name(PlainWording::tool_limit + 1, 'n');
    for (const std::string& near : {
             std::string("[tool input cleared: 05120 characters; content]"),
             std::string("[tool input cleared: 5120 characters, content]"),
             std::string("[tool input cleared: 5120 chars; content]"),
             std::string("[tool input cleared: 5120 characters; content] "),
             std::string("[tool input cleared: 5120 characters; content]]"),
             "[tool input cleared: 5120 characters; " + long_name + "]",
             std::string("[image cleared Shot]"),
             std::string("[image cleared: Shot]\n"),
             std::string("[image cleared: Shot] [image cleared: Shot]"),
             "[image cleared: " +
                 std::string(PlainWording::tool_limit + PlainWording::identity_limit + 2, 'n') + "]",
         }) {
        CAPTURE(near);
        CHECK(is_content(near));
    }
}

TEST_CASE("plain wording: ninety kilobytes that begin like a stub are content") {
    const std::string stub = result_text({.tool = "Read", .identity = "/a", .size = coppice::ascii(9001)});
    CHECK(is_content(stub + repeated("\nline of a real file", 4500)));
    CHECK(is_content(stub.substr(0, stub.size() - 1) + std::string(90'000, 'x') + "]"));
    CHECK(is_content("[image cleared: " + std::string(90'000, 'x') + "]"));
    CHECK(is_content(repeated(stub, 2)));
}

TEST_CASE("plain wording: a preview is head and tail around one line with number and place") {
    const std::string content = std::string(1800, 'h') + std::string(57'000, 'm') + std::string(1200, 't');
    const std::string expected =
        std::string(1800, 'h') +
        "\n\n[middle of a tool result left out: 57000 of 60000 characters; stored at memory:0a1b]\n\n" +
        std::string(1200, 't');
    const bool same = preview_text(content, "memory:0a1b") == expected;
    CHECK(same);
}

TEST_CASE("plain wording: lines from between that tell of verdicts stand in a preview") {
    const std::string content = std::string(1800, 'h') + "\nok\n  12 passed\nok\n" +
                                std::string(50'000, 'm') + "\nmake: *** Error 2\r\nok\n" +
                                std::string(1200, 't');
    const std::string expected = std::string(1800, 'h') + "\n\n[middle of a tool result left out: " +
                                 std::to_string(content.size() - 3000) + " of " +
                                 std::to_string(content.size()) +
                                 " characters, with notable lines: 2; stored at memory:0a1b]\n"
                                 "12 passed\nmake: *** Error 2\n[end of these lines]\n\n" +
                                 std::string(1200, 't');
    const std::string preview = preview_text(content, "memory:0a1b");
    const bool same = preview == expected;
    CHECK(same);
    CHECK(kind_of(preview) == Recognised::Kind::preview);
}

TEST_CASE("plain wording: what head and tail show is not shown twice") {
    const std::string content = "error in the head\n" + std::string(60'000, 'm') + "\nerror in the tail";
    const std::string preview = preview_text(content, "memory:0a1b");
    CHECK(preview.find("notable") == std::string::npos);
    CHECK(preview.find("error in the head") == preview.rfind("error in the head"));
    CHECK(preview.find("error in the tail") == preview.rfind("error in the tail"));
}

TEST_CASE("plain wording: a preview of nothing but notable lines shows the first and the last of them") {
    std::string content;
    for (int i = 10'000; i < 20'000; ++i) { content += "error " + std::to_string(i) + "\n"; }  // 12 each
    const std::string preview = preview_text(content, "memory:0a1b");
    // 1,000 characters are 41 lines in the first half and 42 in the rest; the head ends with a line
    CHECK(preview.find(", with notable lines: 83; stored at memory:0a1b]\nerror 10150\nerror 10151\n") !=
          std::string::npos);
    CHECK(preview.find("error 10190\nerror 19858\n") != std::string::npos);
    CHECK(preview.find("error 19899\n[end of these lines]\n\nerror 19900\n") != std::string::npos);
    CHECK(kind_of(preview) == Recognised::Kind::preview);
}

TEST_CASE("plain wording: what is capped is head and tail around one line and is recognised") {
    const auto capped = [](std::string_view content, std::size_t head, std::size_t tail) {
        std::string out;
        PlainWording().cap(out, {.content = content, .head = head, .tail = tail});
        return out;
    };
    const std::string content = std::string(1000, 'h') + "\n" + std::string(500, 'm') + "\n" + std::string(1000, 't');
    const bool same = capped(content, 1000, 1000) ==
                      std::string(1000, 'h') +
                          "\n\n[middle of a tool result left out: 502 of 2502 characters; not stored]\n\n" +
                          std::string(1000, 't');
    CHECK(same);
    for (const std::size_t head : {0U, 1U, 400U, 1000U}) {
        for (const std::size_t tail : {0U, 1U, 400U, 1000U}) {
            CAPTURE(head);
            CAPTURE(tail);
            CHECK(kind_of(capped(content, head, tail)) == Recognised::Kind::capped);
            const std::string lined = std::string(1000, 'h') + "\nError 1\n" + std::string(500, 'm') +
                                      "\nexit code 2\n" + std::string(1000, 't');
            const std::string left = capped(lined, head, tail);
            CHECK(left.find(", with notable lines: 2; not stored]\nError 1\nexit code 2\n[end of these lines]\n\n") !=
                  std::string::npos);
            CHECK(kind_of(left) == Recognised::Kind::capped);
            for (const char c : {'x', ']', '\n'}) {
                CHECK(kind_of(left + c) == Recognised::Kind::content);
                CHECK(kind_of(c + left) == Recognised::Kind::content);
            }
        }
    }
    // the most that stands between the ends
    std::string failures(400, 'h');
    for (int i = 0; i < 5000; ++i) { failures += "error " + std::string(400, 'e') + "\n" + "fail\n"; }
    CHECK(capped(failures, 0, 0).size() < PlainWording::preview_lines_chars + 250);
    CHECK(kind_of(capped(failures, 400, 400)) == Recognised::Kind::capped);
    // characters are counted, not bytes
    std::string faces;
    for (int i = 0; i < 1000; ++i) { faces += "\xF0\x9F\x98\x80"; }
    CHECK(kind_of(capped(faces, 400, 500)) == Recognised::Kind::capped);
}

TEST_CASE("plain wording: a clipped result is a line that says so, head, count and tail, and is known again") {
    const ResultFacts facts{
        .tool = "Read", .identity = "/src/main.c", .size = coppice::ascii(9001), .reference = "ignored"};
    CHECK(
        clip_text(facts, "0123456789", 2, 3) ==
        "[tool result cut: 9001 characters, ok; Read /src/main.c; first 2 and last 3 follow]\n01\n[5 characters cut]\n789");
    CHECK(clip_text({.size = coppice::ascii(9), .outcome_known = false}, "012345678", 0, 0) ==
          "[tool result cut: 9 characters; first 0 and last 0 follow]\n\n[9 characters cut]\n");
    CHECK(clip_text({.tool = "Bash", .size = coppice::ascii(9), .error = true, .first_line = "E"}, "012345678", 1, 1) ==
          "[tool result cut: 9 characters, failed; Bash; first 1 and last 1 follow]\n0\n[7 characters cut]\n8");
    std::mt19937 random(21);
    const std::vector<std::string> names = hostile_texts();
    for (int round = 0; round < 2000; ++round) {
        CAPTURE(round);
        const std::string content = random_content(random, 300 + random() % 3000);
        const std::size_t characters = coppice::measure_plain(content).chars;
        const std::size_t head = random() % 150;
        const std::size_t tail = random() % 150;
        const std::string& name = names[random() % names.size()];
        const std::string clipped = clip_text({.tool = name,
                                               .identity = names[random() % names.size()],
                                               .size = coppice::ascii(characters),
                                               .error = random() % 2 == 0,
                                               .outcome_known = random() % 2 == 0},
                                              content, head, tail);
        CHECK(is_stub(clipped));
        CHECK(clipped.size() <= PlainWording::longest_clip);
        CHECK(coppice::last_chars(clipped, tail) == coppice::last_chars(content, tail));
        const std::string line = clipped.substr(0, clipped.find('\n'));
        CHECK(has_one_spelling(line));
        CHECK(PlainWording().marker(clipped) == line.size());
        CHECK(is_content(line));
        CHECK(is_content<OpenSwarmWording>(clipped));
    }
    const std::string widest = clip_text({.tool = std::string(500, 't'),
                                          .identity = std::string(500, 'i'),
                                          .size = coppice::ascii(static_cast<std::size_t>(9e18)),
                                          .images = 9,
                                          .error = true},
                                         repeated("\xF0\x9F\x98\x80", 9000), 4000, 96);
    CHECK(is_stub(widest));
    CHECK(widest.size() <= PlainWording::longest_clip);
}

TEST_CASE("plain wording: near misses of a clipped result are content") {
    const std::string clipped =
        clip_text({.tool = "Read", .identity = "/a", .size = coppice::ascii(900)}, std::string(900, 'x'), 30, 20);
    REQUIRE(is_stub(clipped));
    CHECK(is_content(clipped + "x"));
    CHECK(is_content(clipped + "\xC3\xA9"));
    CHECK(is_content(clipped.substr(0, clipped.size() - 1)));
    CHECK(is_content(" " + clipped));
    CHECK(is_content(clipped + clipped));
    // as many characters, but one of another size
    CHECK(is_stub(clipped.substr(0, clipped.size() - 1) + "\xC3\xA9"));
    for (const auto& change :
         std::vector<std::pair<std::string, std::string>>{{"first 30", "first 29"},
                                                          {"first 30", "first 31"},
                                                          {"first 30", "first 030"},
                                                          {"last 20", "last 21"},
                                                          {"last 20", "last 19"},
                                                          {"last 20", "last -1"},
                                                          {"850 characters cut", "0 characters cut"},
                                                          {"850 characters cut", "0850 characters cut"},
                                                          {"850 characters cut", "850 characters"},
                                                          {"\n[850", "[850"},
                                                          {"follow]\n", "follow] \n"},
                                                          {"follow]\n", "follow]\r\n"},
                                                          {"follow]\n", "follow]"},
                                                          {" follow]", " follow.]"},
                                                          {"; first", ", first"},
                                                          {"900 characters, ok", "0900 characters, ok"},
                                                          {", ok", ", fine"},
                                                          {"Read", "Re[d"},
                                                          {"Read", "Re\"d"},
                                                          {"Read", "Re\nd"},
                                                          {"; Read", " Read"},
                                                          {"[tool result cut", "[Tool result cut"},
                                                          {"first 30", "first 99999999999999999999"},
                                                          {"/a", std::string(1200, 'a')}}) {
        CAPTURE(change.second.substr(0, 40));
        CHECK(is_content(with(clipped, change.first, change.second)));
    }
    // what it counts nobody can count again
    CHECK(is_stub(with(clipped, "850 characters cut", "851 characters cut")));
    CHECK(is_stub(with(clipped, "900 characters", "901 characters, 1 image, 2 documents")));
    CHECK(is_stub(with(clipped, "; Read /a", "; x; first 1 and last 1 follow")));
    for (std::size_t at = 0; at < clipped.size(); ++at) {
        const std::string missing = clipped.substr(0, at) + clipped.substr(at + 1);
        const bool counted = is_stub(missing);
        // a character of a name or a number may go, none of head or tail and none of the frame
        const bool of_name = at > std::string("[tool result cut: ").size() - 1 && at < clipped.find("; first");
        const bool of_count = at > clipped.find("\n[") + 1 && at < clipped.find(" characters cut");
        CHECK((!counted || of_name || of_count));
    }
    CHECK(is_content("[tool result cut: 9 characters; first 0 and last 0 follow]"));
    CHECK(is_content(std::string("[tool result cut: 9 characters; first 0 and last 0 follow]\n")));
    CHECK(is_content("[tool result cut: 9 characters; first 0 and last 17584 follow]\n\n[1 characters cut]\n" +
                     std::string(17'584, 'x')));
    CHECK(is_content("[tool result cut: " + std::string(90'000, '9')));
}

TEST_CASE("plain wording: what only looks capped is content") {
    const std::string open = "\n\n[middle of a tool result left out: ";
    for (const char* const rest : {"5 of 7 characters; not stored]\n", "5 of 7 characters; not stored]\n\nabc",
                                   "5 of 7 characters; not stored]\n\n", "7 of 5 characters; not stored]\n\nab",
                                   "2 of 2 characters; not stored]\n\na", "05 of 7 characters; not stored]\n\nab",
                                   "5 of 7 characters, with notable lines: 0; not stored]\n\nab",
                                   "5 of 7 characters, with notable lines: 1; not stored]\nerror\n\nab",
                                   "5 of 7 characters, with notable lines: 99; not stored]\nerror\n"
                                   "[end of these lines]\n\nab",
                                   "5 of 7 characters; not stored.]\n\nab", "5 of 7 characters]\n\nab"}) {
        CAPTURE(rest);
        CHECK(kind_of(open + rest) == Recognised::Kind::content);
    }
    CHECK(kind_of(open + "5 of 7 characters; not stored]\n\nab") == Recognised::Kind::capped);
    CHECK(kind_of(open + "5 of 7 characters, with notable lines: 1; not stored]\nerror\n[end of these lines]\n\nab") ==
          Recognised::Kind::capped);
    CHECK(kind_of(open.substr(1) + "5 of 7 characters; not stored]\n\nab") == Recognised::Kind::content);
}

TEST_CASE("plain wording: an image of the user's is called so and recognised") {
    std::string out;
    PlainWording().image(out, {.of_user = true});
    CHECK(out == "[image cleared: sent by the user]");
    CHECK(kind_of(out) == Recognised::Kind::stub);
}

TEST_CASE("plain wording: a preview says how many characters it leaves out") {
    const std::string preview = preview_text(std::string(60'000, 'x'), "memory:0a1b");
    CHECK(preview.find(" 57000 ") != std::string::npos);
}

TEST_CASE("plain wording: a preview is recognised with the size of the whole and its reference") {
    for (const std::size_t size : {3001U, 17'000U, 60'000U, 1'000'000U}) {
        const std::string preview = preview_text(std::string(size, 'x'), "memory:0a1b");
        const Recognised found = PlainWording().recognise(preview);
        CHECK(found.kind == Recognised::Kind::preview);
        CHECK(found.size.chars == size);
        CHECK(found.reference == "memory:0a1b");
    }
}

TEST_CASE("plain wording: a preview of longer characters splits none and is recognised") {
    for (const std::string_view character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
        for (std::size_t shift = 0; shift < 4; ++shift) {
            const std::string content =
                std::string(shift, 'a') + repeated(character, 20'000) + std::string(shift, 'z');
            const std::string preview = preview_text(content, "memory:1");
            const std::size_t characters = 20'000 + 2 * shift;
            CHECK(coppice::first_chars(preview, 1800) == coppice::first_chars(content, 1800));
            CHECK(coppice::last_chars(preview, 1200) == coppice::last_chars(content, 1200));
            CHECK(PlainWording().recognise(preview).kind == Recognised::Kind::preview);
            CHECK(PlainWording().recognise(preview).size.chars == characters);
        }
    }
}

TEST_CASE("plain wording: a notable line is cut at 400 characters and splits none") {
    for (const std::string_view character : {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
        for (std::size_t shift = 0; shift < 4; ++shift) {
            const std::string line = "fatal" + std::string(shift, 'x') + repeated(character, 1000);
            const std::string content =
                std::string(5000, 'h') + "\n" + line + "\n" + line + "\n" + std::string(5000, 't');
            const std::string preview = preview_text(content, "memory:1");
            const std::string cut(coppice::first_chars(line, 400));
            CHECK(preview.find("lines: 2; stored at memory:1]\n" + cut + "\n" + cut + "\n[end") !=
                  std::string::npos);
            CHECK(coppice::detail::is_utf8(preview));
            CHECK(PlainWording().recognise(preview).size.chars == coppice::measure_plain(content).chars);
        }
    }
}

TEST_CASE("plain wording: a preview of the widest characters is within its bounds and recognised") {
    const std::string wide = "\xF0\x9F\x98\x80";
    const std::string line = "error" + repeated(wide, 390) + "\n";
    const std::string content = repeated(wide, 2000) + "\n" + repeated(line, 9) + repeated(wide, 2000);
    const std::string reference(PlainWording::reference_limit, 'r');
    const std::string preview = preview_text(content, reference);
    const Recognised found = PlainWording().recognise(preview);
    CHECK(found.kind == Recognised::Kind::preview);
    CHECK(found.reference == reference);
    CHECK(preview.size() <= 16'000 + PlainWording::longest);
}

TEST_CASE("plain wording: a hostile reference stays in its line") {
    for (const std::string& hostile : hostile_texts()) {
        CAPTURE(hostile.substr(0, 40));
        const std::string preview = preview_text(std::string(60'000, 'x'), hostile);
        const std::string_view line = std::string_view(preview).substr(1802, preview.size() - 1802 - 1202);
        CHECK(has_one_spelling(line));
        CHECK(line.size() < 100 + PlainWording::reference_limit);
        CHECK(kind_of(preview) == Recognised::Kind::preview);
    }
}

TEST_CASE("plain wording: near misses of a preview are content") {
    const std::string preview = preview_text(std::string(60'000, 'x'), "memory:0a1b");
    CHECK(is_content(preview.substr(1)));                          // head too short
    CHECK(is_content("x" + preview));                              // head too long
    CHECK(is_content(preview + "x"));                              // tail too long
    CHECK(is_content(preview.substr(0, preview.size() - 1)));      // tail too short
    CHECK(is_content(preview.substr(0, preview.find("stored"))));  // line cut off
    CHECK(is_content(preview.substr(0, 1800) + preview));          // two of them
    CHECK(is_content(preview + preview));
    CHECK(is_content(preview + std::string(90'000, 'x')));
    std::string zero = preview;
    zero.insert(zero.find("60000"), "0");
    CHECK(is_content(zero));
}

TEST_CASE("plain wording: a preview with wrong numbers or pieces is content") {
    const std::string preview = lined_preview();
    REQUIRE(kind_of(preview) == Recognised::Kind::preview);
    REQUIRE(PlainWording().recognise(preview).size.chars == 60'000);
    for (const std::pair<std::string, std::string>& change : std::vector<std::pair<std::string, std::string>>{
             {"57000 of", "57001 of"},
             {"57000 of", "057000 of"},
             {"57000 of", "-57000 of"},
             {"57000 of", " of"},
             {"57000 of 60000", "9999999999999999999 of 10000000000000002999"},
             {"57000 of 60000", "10000000000000000000 of 10000000000000003000"},
             {"57000 of 60000", "18446744073709551615 of 2999"},
             {"60000", "59999"},
             {"60000", "10000000000000000000"},
             {"60000", "6e4"},
             {" of ", " Of "},
             {" characters", " chars"},
             {"lines: 3", "lines: 2"},
             {"lines: 3", "lines: 4"},
             {"lines: 3", "lines: 0"},
             {"lines: 3", "lines: 03"},
             {"lines: 3; stored at memory:0a1b]\nerror: 1\nerror: 2\nerror: 3\n",
              "lines: 0; stored at memory:0a1b]\n"},
             {"lines: 3", "lines: 10000000000000000000"},
             {"lines: 3", "lines: 9999999999999999999"},
             {"lines: 3", "lines: "},
             {", with notable lines: 3", ""},
             {", with notable lines: 3", ", with notable lines: 3, with notable lines: 3"},
             {"; stored at memory:0a1b", ""},
             {"; stored at memory:0a1b", "; stored at memory:0a1b; stored in memory:\n"},
             {"memory:0a1b", "memory:[0a1b"},
             {"memory:0a1b", "memory:0a1b]"},
             {"memory:0a1b", "<memory>"},
             {"memory:0a1b", "a  b"},
             {"memory:0a1b", " a"},
             {"memory:0a1b", "a\nb"},
             {"memory:0a1b", "a\"b"},
             {"memory:0a1b", "m\xC3\xA9mory"},
             {"memory:0a1b", std::string("a\0b", 3)},
             {"memory:0a1b", std::string(513, 'r')},
             {"memory:0a1b]\n", "memory:0a1b"},
             {"memory:0a1b]\n", "memory:0a1b] "},
             {"memory:0a1b]\n", "memory:0a1b]\r\n"},
             {"memory:0a1b]\n", "memory:0a1b]\n\n"},
             {"error: 2\n", ""},
             {"error: 2\n", "error: 2\nerror: 2b\n"},
             {"error: 2\n", "error: 2"},
             {"error: 2", "error: " + std::string(1000, 'x')},
             {"error: 2", "error:\n2"},
             {"[end of these lines]\n", ""},
             {"[end of these lines]\n", "[end of these lines]"},
             {"[end of these lines]\n", "[end of these lines]\n[end of these lines]\n"},
             {"[end of these lines]\n", "[End of these lines]\n"},
             {"[end of these lines]\n\n", "[end of these lines]\n"},
             {"[end of these lines]\n\n", "[end of these lines]\n\n\n"},
         }) {
        CAPTURE(change.first);
        CAPTURE(change.second.substr(0, 60));
        CHECK(is_content(with(preview, change.first, change.second)));
    }
}

TEST_CASE("plain wording: a preview in which one byte of the marker changed is content or still adds up") {
    const std::string preview = lined_preview();
    const std::size_t end =
        preview.find("[end of these lines]") + std::string("[end of these lines]\n\n").size();
    REQUIRE(preview.size() - end == 1200);
    std::size_t still = 0;
    for (std::size_t at = 1800; at < end; ++at) {
        for (unsigned byte = 0; byte < 256; ++byte) {
            std::string changed = preview;
            changed[at] = static_cast<char>(byte);
            const Recognised found = PlainWording().recognise(changed);
            if (found.kind == Recognised::Kind::content) { continue; }
            const bool adds_up = found.kind == Recognised::Kind::preview && found.size.chars == 60'000 &&
                                 found.reference.size() == std::string("memory:0a1b").size() &&
                                 coppice::detail::is_safe(found.reference);
            CHECK(adds_up);
            ++still;
        }
        // nor is one missing or doubled
        const std::string missing = preview.substr(0, at) + preview.substr(at + 1);
        const std::string doubled = preview.substr(0, at) + preview.substr(at - 1);
        for (const std::string& changed : {missing, doubled}) {
            const Recognised found = PlainWording().recognise(changed);
            CHECK((found.kind == Recognised::Kind::content || found.size.chars == 60'000));
        }
    }
    CHECK(still > 0);
}

TEST_CASE("plain wording: the line of a preview alone is content") {
    const std::string preview = preview_text(std::string(60'000, 'x'), "memory:0a1b");
    CHECK(is_content(preview.substr(1800, preview.size() - 3000)));
}

TEST_CASE("plain wording: what imitates a preview inside the content does not replace its number and place") {
    const std::string forged = preview_text(std::string(99'999, 'x'), "elsewhere:1");
    const std::string line = forged.substr(1800, forged.size() - 3000);
    const std::string notable =
        "\n\nerror [middle of a tool result left out: 1 of 3001 characters; stored at e]\n\n";
    const std::string rest = "\n[end of these lines]\n\n";
    for (const std::string& content : {
             "head" + line + std::string(60'000, 'y'),
             std::string(60'000, 'y') + line + "tail",
             std::string(1800, 'h') + line + std::string(60'000, 'y') + line + std::string(1200, 't'),
             std::string(1800 - line.size(), 'h') + line + std::string(60'000, 'y') + line +
                 std::string(1200 - line.size(), 't'),
             repeated(line, 700),
             repeated(notable, 700),
             repeated(rest, 3000),
             repeated("error\n[end of these lines]\n\nerror [end of these lines]\n", 1000),
             repeated(forged, 5),
             std::string(1790, 'h') + repeated("\n", 60'000),
             repeated("\n", 60'000),
             repeated("\r\n", 30'000),
             repeated("error\r\n", 10'000),
             repeated("error]\n\n", 10'000),
             repeated(lined_preview(), 5),
         }) {
        const std::string preview = preview_text(content, "memory:0a1b");
        const Recognised found = PlainWording().recognise(preview);
        CHECK(found.kind == Recognised::Kind::preview);
        CHECK(found.size.chars == content.size());
        CHECK(found.reference == "memory:0a1b");
    }
}

TEST_CASE("plain wording: a preview of any content is recognised and as short as it may be") {
    std::mt19937 random(20);
    for (int round = 0; round < 3000; ++round) {
        CAPTURE(round);
        const std::string content = random_content(random, 3001 + random() % 4000);
        const coppice::Extent size = coppice::measure_plain(content);
        const std::string reference = "memory:" + std::to_string(random());
        const std::string preview = preview_text(content, reference);
        const Recognised found = PlainWording().recognise(preview);
        CHECK(found.kind == Recognised::Kind::preview);
        CHECK(found.size.chars == size.chars);
        CHECK(found.reference == reference);
        CHECK(coppice::detail::is_utf8(preview));
        CHECK(coppice::measure_plain(preview).chars <= 1800 + 1200 + 1000 + 160 + reference.size());
        const bool quoted = coppice::first_chars(preview, 1800) == coppice::first_chars(content, 1800) &&
                            coppice::last_chars(preview, 1200) == coppice::last_chars(content, 1200);
        CHECK(quoted);
    }
}

TEST_CASE("openswarm wording: the stub of a small result is exact") {
    CHECK(result_text<OpenSwarmWording>({.tool = "Read", .size = Extent{4000, 900, 1234}}) ==
          "[Old result cleared by OpenSwarm: 1234 characters from an earlier step.]");
    CHECK(result_text<OpenSwarmWording>({.size = coppice::ascii(1999)}) ==
          "[Old result cleared by OpenSwarm: 1999 characters from an earlier step.]");
}

TEST_CASE("openswarm wording: the stub of a duplicate is exact") {
    CHECK(result_text<OpenSwarmWording>({.size = coppice::ascii(5000), .images = 1, .duplicate = true}) ==
          "[Duplicate tool output: same content as a more recent result.]");
}

TEST_CASE("openswarm wording: the stub of a screenshot with little text is exact") {
    const std::string_view screenshot =
        "[Old screenshot cleared by OpenSwarm to keep this long chat inside the model's context window.]";
    CHECK(result_text<OpenSwarmWording>({.size = coppice::ascii(1999), .images = 1}) == screenshot);
    CHECK(image_text<OpenSwarmWording>({.size = coppice::ascii(0), .images = 1}) == screenshot);
}

TEST_CASE("openswarm wording: the stub of a big result is exact with and without a screenshot") {
    CHECK(result_text<OpenSwarmWording>({.size = coppice::ascii(2000)}) ==
          "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: "
          "2000 characters from an earlier step.]");
    CHECK(result_text<OpenSwarmWording>({.size = Extent{90'000, 30'000, 40'000}, .images = 2}) ==
          "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: "
          "40000 characters from an earlier step, plus a screenshot.]");
}

TEST_CASE("openswarm wording: the stub of an input field is exact") {
    CHECK(field_text<OpenSwarmWording>(
              {.tool = "Write", .field = "content", .size = Extent{9000, 5000, 5120}}) ==
          "[5120 characters, cleared by OpenSwarm; re-read the file if you need them]");
}

TEST_CASE("openswarm wording: a cleared content becomes a list of blocks") {
    CHECK(OpenSwarmWording().shape == coppice::Shape::always_blocks);
    CHECK(PlainWording().shape == coppice::Shape::as_it_was);
}

TEST_CASE("openswarm wording: every text it authors is recognised and within the longest") {
    const std::array<bool, 2> both = {false, true};
    for (const std::size_t size : {std::size_t{0}, std::size_t{81}, std::size_t{1999}, std::size_t{2000},
                                   std::size_t{9'999'999'999}}) {
        for (const bool duplicate : both) {
            for (const std::size_t images : {0U, 1U}) {
                const std::string stub = result_text<OpenSwarmWording>(
                    {.size = coppice::ascii(size), .images = images, .error = true, .duplicate = duplicate});
                CAPTURE(stub);
                CHECK(is_stub<OpenSwarmWording>(stub));
                CHECK(stub.size() <= OpenSwarmWording::longest);
                CHECK(has_one_spelling(stub));
            }
        }
        CHECK(is_stub<OpenSwarmWording>(field_text<OpenSwarmWording>({.size = coppice::ascii(size)})));
    }
    CHECK(is_stub<OpenSwarmWording>(image_text<OpenSwarmWording>({})));
}

TEST_CASE("openswarm wording: near misses are content") {
    const std::string big =
        "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: "
        "9000 characters from an earlier step.]";
    for (const std::string& near : {
             std::string("[Old result cleared by OpenSwarm: 0123 characters from an earlier step.]"),
             std::string("[Old result cleared by OpenSwarm: 1,234 characters from an earlier step.]"),
             std::string("[Old result cleared by OpenSwarm: -1 characters from an earlier step.]"),
             std::string("[Old result cleared by OpenSwarm:  characters from an earlier step.]"),
             std::string("[Old result cleared by OpenSwarm: 1234 characters from an earlier step.] "),
             std::string("[Old result cleared by OpenSwarm: 1234 characters from an earlier step.]\n"),
             std::string(
                 "[Old result cleared by OpenSwarm: 1234 characters from an earlier step. And more.]"),
             std::string("[Old result cleared by OpenSwarm: 1234 characters from an earlier step, plus a "
                         "screenshot.]"),
             std::string(" [Duplicate tool output: same content as a more recent result.]"),
             std::string("[Duplicate tool output: same content as a more recent result]"),
             std::string("[duplicate tool output: same content as a more recent result.]"),
             std::string("[05120 characters, cleared by OpenSwarm; re-read the file if you need them]"),
             std::string("[5120 characters, cleared by OpenSwarm; re-read the file if you need them] x"),
             big + " ",
             big.substr(1),
             big.substr(0, big.size() - 1),
             big + big,
             big + std::string(90'000, 'x'),
             big.substr(0, big.size() - 2) + std::string(90'000, ' ') + ".]",
             std::string(),
         }) {
        CAPTURE(near.substr(0, 120));
        CHECK(is_content<OpenSwarmWording>(near));
    }
}

TEST_CASE("openswarm wording: the stub of a stored result says where") {
    CHECK(result_text<OpenSwarmWording>({.size = coppice::ascii(60'000), .reference = "memory:0a1b"}) ==
          "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: "
          "60000 characters from an earlier step; full output at memory:0a1b.]");
    CHECK(result_text<OpenSwarmWording>({.size = coppice::ascii(1999), .reference = "memory:0a1b"}) ==
          "[Old result cleared by OpenSwarm: 1999 characters from an earlier step; full output at "
          "memory:0a1b.]");
    CHECK(result_text<OpenSwarmWording>(
              {.size = coppice::ascii(60'000), .images = 1, .reference = "memory:0a1b"}) ==
          "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: "
          "60000 characters from an earlier step; full output at memory:0a1b, plus a screenshot.]");
    for (const std::string& hostile : hostile_texts()) {
        CAPTURE(hostile.substr(0, 40));
        for (const std::size_t images : {0U, 1U}) {
            const std::string stub =
                result_text<OpenSwarmWording>({.size = coppice::ascii(static_cast<std::size_t>(9e18)),
                                               .images = images,
                                               .reference = hostile});
            CHECK(has_one_spelling(stub));
            CHECK(stub.size() <= OpenSwarmWording::longest);
            CHECK(is_stub<OpenSwarmWording>(stub));
        }
    }
}

TEST_CASE("openswarm wording: near misses of a stub that says where are content") {
    const std::string stub =
        result_text<OpenSwarmWording>({.size = coppice::ascii(9000), .reference = "memory:0a1b"});
    REQUIRE(is_stub<OpenSwarmWording>(stub));
    for (const std::string& reference :
         {std::string(), std::string(" "), std::string("a  b"), std::string(" a"), std::string("a\nb"),
          std::string("[a"), std::string("a]"), std::string("<a>"), std::string("a\"b"), std::string("a\\b"),
          std::string("\xC3\xA9"), std::string("a\0b", 3), std::string(513, 'r')}) {
        CAPTURE(reference);
        CHECK(is_content<OpenSwarmWording>(with(stub, "memory:0a1b", reference)));
    }
    CHECK(is_content<OpenSwarmWording>(with(stub, "; full output at ", "; Full output at ")));
    CHECK(is_content<OpenSwarmWording>(with(stub, "; full output at ", ", full output at ")));
    CHECK(is_content<OpenSwarmWording>(with(stub, ".]", "]")));
    CHECK(is_content<OpenSwarmWording>(stub + "."));
}

TEST_CASE("openswarm wording: a reference of nothing but blanks is no place") {
    for (const std::string_view blank : {"", " ", "\n\t ", "\x1B"}) {
        CHECK(result_text<OpenSwarmWording>({.size = coppice::ascii(9000), .reference = blank}) ==
              result_text<OpenSwarmWording>({.size = coppice::ascii(9000)}));
        CHECK(result_text({.size = coppice::ascii(9000), .reference = blank}) ==
              result_text({.size = coppice::ascii(9000)}));
    }
}

TEST_CASE("wordings: neither takes the other's previews for its own") {
    const std::string content(60'000, 'x');
    std::string openswarm;
    OpenSwarmWording().preview(
        openswarm, {.content = content, .reference = "memory:1", .size = coppice::ascii(content.size())});
    CHECK(kind_of<OpenSwarmWording>(openswarm) == Recognised::Kind::preview);
    CHECK(is_content<PlainWording>(openswarm));
    CHECK(is_content<OpenSwarmWording>(preview_text(content, "memory:1")));
}

TEST_CASE("wordings: neither takes the other's stubs for its own") {
    const ResultFacts facts{.tool = "Read", .identity = "/a", .size = coppice::ascii(9001)};
    CHECK(is_content<OpenSwarmWording>(result_text<PlainWording>(facts)));
    CHECK(is_content<PlainWording>(result_text<OpenSwarmWording>(facts)));
}

TEST_CASE("scanner: a number is read as it is printed") {
    std::size_t value = 0;
    CHECK(coppice::detail::Scanner("0").number(&value).done());
    CHECK(value == 0);
    CHECK(coppice::detail::Scanner("9999999999999999999").number(&value).done());
    CHECK(value == 9'999'999'999'999'999'999U);
    for (const std::string_view wrong : {"", "x", "-1", "+1", " 1", "00", "01", "10000000000000000000"}) {
        CAPTURE(wrong);
        CHECK_FALSE(coppice::detail::Scanner(wrong).number(&value).ok());
    }
}

TEST_CASE("scanner: a failed step fails all that follow") {
    coppice::detail::Scanner scan("ab12");
    CHECK_FALSE(scan.literal("x").literal("ab").number().ok());
    CHECK_FALSE(scan.try_literal("ab"));
    CHECK_FALSE(scan.done());
}

TEST_CASE("any wording: it says what the wording behind it says") {
    const PlainWording plain;
    const auto any = coppice::detail::AnyWording::of(plain);
    const ResultFacts facts{.tool = "Read", .size = coppice::ascii(9001)};
    std::string out;
    any.result(out, facts);
    CHECK(out == result_text(facts));
    CHECK(any.recognise(out).kind == Recognised::Kind::stub);
    CHECK(any.longest == PlainWording::longest);
    CHECK(any.preview(out, {}));
}

TEST_CASE("any wording: a wording without previews writes none") {
    const Terse terse;
    std::string out = "as before";
    CHECK_FALSE(coppice::detail::AnyWording::of(terse).preview(out, {.content = "x"}));
    CHECK_FALSE(coppice::detail::AnyWording::of(terse).clip(out, {}, {.content = "x"}));
    CHECK(out == "as before");
    static_assert(!coppice::previewing_wording<Terse>);
}
