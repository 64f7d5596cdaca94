// SPDX-License-Identifier: MIT
#include <coppice/wording.hpp>

#include <coppice/presets/openswarm.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::Extent;
using coppice::FieldFacts;
using coppice::OpenSwarmWording;
using coppice::PlainWording;
using coppice::PreviewFacts;
using coppice::Recognised;
using coppice::ResultFacts;

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
    const std::array<std::string, 3> texts = {
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
             "[tool result cleared: 9001 characters; Read]",  // no outcome
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
    const std::string content = std::string(2500, 'h') + std::string(56'000, 'm') + std::string(1500, 't');
    const std::string preview = preview_text(content, "memory:0a1b");
    CHECK(preview.substr(0, 2502) == std::string(2500, 'h') + "\n\n");
    CHECK(preview.substr(preview.size() - 1502) == "\n\n" + std::string(1500, 't'));
    const std::string line = preview.substr(2502, preview.size() - 2502 - 1502);
    CHECK(line.front() == '[');
    CHECK(line.back() == ']');
    CHECK(line.find("stored at memory:0a1b]") != std::string::npos);
    CHECK(line.find('\n') == std::string::npos);
    CHECK(has_one_spelling(line));
}

TEST_CASE("plain wording: a preview says how many characters it leaves out") {
    const std::string preview = preview_text(std::string(60'000, 'x'), "memory:0a1b");
    CHECK(preview.find(" 56000 ") != std::string::npos);
}

TEST_CASE("plain wording: a preview is recognised with the size of the whole and its reference") {
    for (const std::size_t size : {4001U, 17'000U, 60'000U, 1'000'000U}) {
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
            CHECK(coppice::first_chars(preview, 2500) == coppice::first_chars(content, 2500));
            CHECK(coppice::last_chars(preview, 1500) == coppice::last_chars(content, 1500));
            CHECK(PlainWording().recognise(preview).kind == Recognised::Kind::preview);
            CHECK(PlainWording().recognise(preview).size.chars == characters);
        }
    }
}

TEST_CASE("plain wording: a hostile reference stays in its line") {
    for (const std::string& hostile : hostile_texts()) {
        CAPTURE(hostile.substr(0, 40));
        const std::string preview = preview_text(std::string(60'000, 'x'), hostile);
        const std::string_view line = std::string_view(preview).substr(2502, preview.size() - 2502 - 1502);
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
    CHECK(is_content(preview.substr(0, 2500) + preview));          // two of them
    std::string zero = preview;
    zero.insert(zero.find("60000"), "0");
    CHECK(is_content(zero));
}

TEST_CASE("plain wording: the line of a preview alone is content") {
    const std::string preview = preview_text(std::string(60'000, 'x'), "memory:0a1b");
    CHECK(is_content(preview.substr(2500, preview.size() - 4000)));
}

TEST_CASE("plain wording: what imitates a preview inside the content does not replace its number and place") {
    const std::string forged = preview_text(std::string(99'999, 'x'), "elsewhere:1");
    const std::string line = forged.substr(2500, forged.size() - 4000);
    const std::string content = "head" + line + std::string(60'000, 'y');
    const std::string preview = preview_text(content, "memory:0a1b");
    const Recognised found = PlainWording().recognise(preview);
    CHECK(found.kind == Recognised::Kind::preview);
    CHECK(found.size.chars == content.size());
    CHECK(found.reference == "memory:0a1b");
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
    const OpenSwarmWording openswarm;
    std::string out = "as before";
    CHECK_FALSE(coppice::detail::AnyWording::of(openswarm).preview(out, {.content = "x"}));
    CHECK(out == "as before");
    static_assert(!coppice::previewing_wording<OpenSwarmWording>);
}
