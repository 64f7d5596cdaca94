// SPDX-License-Identifier: MIT
#include <coppice/recap/wording.hpp>

#include "support/recaps.hpp"

#include <coppice/recap/builder.hpp>
#include <coppice/recap/openswarm.hpp>

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <string_view>

using namespace support;

namespace {

using coppice::PlainRecapWording;
using coppice::RecapLine;
using Kind = coppice::RecapLine::Kind;

struct WithoutFrame {
    static constexpr std::string_view name = "no_frame";
    coppice::FenceTags tags{};
    void open(std::string&, std::string_view) const {}
    void preamble(std::string&) const {}
    void end(std::string&) const {}
    void line(std::string&, const RecapLine&) const {}
    void gap(std::string&, coppice::Gap, std::size_t) const {}
};

static_assert(coppice::recap_wording<PlainRecapWording>);
static_assert(coppice::recap_wording<coppice::OpenSwarmRecapWording>);
static_assert(!coppice::recap_wording<WithoutFrame>);
static_assert(!coppice::recap_wording<int>);
static_assert([] {
    PlainRecapWording{.product = "Acme", .nonce = "n-1_Z"}.validate();
    return true;
}());

const PlainRecapWording plain;

std::string line_of(const RecapLine& line) {
    std::string out;
    plain.line(out, line);
    return out;
}

std::string gap_of(coppice::Gap gap, std::size_t count) {
    std::string out;
    plain.gap(out, gap, count);
    return out;
}

void check_refused(const PlainRecapWording& wording) {
    CAPTURE(wording.nonce);
    CAPTURE(wording.product);
    CHECK_THROWS_AS(wording.validate(), std::invalid_argument);
    CHECK_THROWS_AS(coppice::RecapBuilder<>({}, wording), std::invalid_argument);
}

}  // namespace

TEST_CASE("recap wording: the frame says who wrote it, what it is and where it ends") {
    CHECK(
        frame_of(plain).head ==
        "<agent_session_recap>\n"
        "This block was written by the platform that runs this session. It is no tool output and no "
        "message.\n"
        "Record of earlier steps of this session: what was asked and which tools ran. All of it is past; the "
        "live message comes after this block.\n");
    CHECK(frame_of(plain).foot ==
          "--- end of the record; the live message follows ---\n"
          "</agent_session_recap>");
}

TEST_CASE("recap wording: product, nonce and tags are put where they belong") {
    const PlainRecapWording wording{
        .tags = {.note = "acme_note", .recap = "acme_recap"}, .product = "Acme Agent 2", .nonce = "a-B_9"};
    const Frame frame = frame_of(wording);
    CHECK(frame.head.starts_with("<acme_recap id=\"a-B_9\">\nThis block was written by Acme Agent 2. It is"));
    CHECK(frame.foot.ends_with("\n</acme_recap>"));
    CHECK(frame.head.find("platform") == std::string::npos);
}

TEST_CASE("recap wording: an ask, a call and a result each read as one line") {
    CHECK(line_of({.kind = Kind::ask, .text = "do it"}) == "The user asked: do it");
    CHECK(line_of({.kind = Kind::call, .text = "{}", .tool = "Bash"}) == "Tool used: Bash, with {}");
    CHECK(line_of({.kind = Kind::call, .tool = "Bash"}) == "Tool used: Bash");
    CHECK(line_of({.kind = Kind::call, .text = "{}"}) == "Tool used: (no name), with {}");
    CHECK(line_of({.kind = Kind::result, .text = "ok", .call_tool = "Bash"}) == "Result of Bash: ok");
    CHECK(line_of({.kind = Kind::result, .text = "ok", .tool = "A", .call_tool = "B"}) == "Result of A: ok");
    CHECK(line_of({.kind = Kind::result, .text = "ok"}) == "Result: ok");
    CHECK(line_of({.kind = Kind::result, .tool = "A"}) == "Result of A:");
    CHECK(line_of({.kind = Kind::result, .text = "no", .tool = "A", .error = true}) ==
          "Result of A (failed): no");
}

TEST_CASE("recap wording: a stub names tool, input, length, last line and failure") {
    CHECK(line_of({.kind = Kind::stub,
                   .call_tool = "Bash",
                   .input = "make",
                   .last_line = "2 failed",
                   .chars = 12'345,
                   .error = true}) ==
          "Left out: result of Bash (failed), 12345 characters; its input was make; last line: 2 failed");
    CHECK(line_of({.kind = Kind::stub, .chars = 7}) == "Left out: result, 7 characters");
    CHECK(line_of({.kind = Kind::duplicate, .tool = "Bash", .input = "make", .chars = 7}) ==
          "Repeated: result of Bash, same content as a later result in this record");
    CHECK(line_of({.kind = Kind::duplicate, .error = true}) ==
          "Repeated: result (failed), same content as a later result in this record");
}

TEST_CASE("recap wording: several lines stand indented below their label") {
    CHECK(line_of({.kind = Kind::ask, .text = "a\n\nb"}) == "The user asked:\n  a\n  \n  b");
    CHECK(line_of({.kind = Kind::ask, .text = "\na"}) == "The user asked:\n  \n  a");
    CHECK(line_of({.kind = Kind::result, .text = "a\n", .tool = "T"}) == "Result of T:\n  a\n  ");
    CHECK(line_of({.kind = Kind::call, .text = "a\nb", .tool = "T"}) == "Tool used: T, with\n  a\n  b");
    CHECK(line_of({.kind = Kind::stub, .input = "a\nb", .last_line = "c", .chars = 1}) ==
          "Left out: result, 1 character; its input was\n  a\n  b; last line: c");
}

TEST_CASE("recap wording: gaps tell how much is not there") {
    CHECK(gap_of(coppice::Gap::ask, 12) == "\n[12 characters left out]\n");
    CHECK(gap_of(coppice::Gap::result, 12) == "\n[12 characters left out]\n");
    CHECK(gap_of(coppice::Gap::input, 300) == "... [300 characters]");
    CHECK(gap_of(coppice::Gap::earlier, 5) == "[5 earlier lines left out]");
}

TEST_CASE("recap wording: a nonce is short and of plain characters") {
    const std::string longest(64, 'n');
    CHECK_NOTHROW(PlainRecapWording{.nonce = longest}.validate());
    check_refused({.nonce = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"});
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool allowed = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             c == '-' || c == '_';
        const std::string nonce = {'a', c, 'b'};
        if (allowed) {
            CHECK_NOTHROW(PlainRecapWording{.nonce = nonce}.validate());
        } else {
            check_refused({.nonce = nonce});
        }
    }
}

TEST_CASE("recap wording: a product is short, printable and holds no brackets") {
    const std::string longest(100, 'p');
    const std::string longer(101, 'p');
    CHECK_NOTHROW(PlainRecapWording{.product = longest}.validate());
    check_refused({.product = longer});
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool allowed = byte >= 0x20 && byte < 0x7F && c != '<' && c != '>' && c != '&' && c != '\\';
        const std::string product = {'a', c, 'b'};
        if (allowed) {
            CHECK_NOTHROW(PlainRecapWording{.product = product}.validate());
        } else {
            check_refused({.product = product});
        }
    }
}

TEST_CASE("recap wording: names of tags that cannot fence are refused") {
    for (const std::string_view name :
         {"", "abc", "Upper_case", "with space", "ends_", "quoted_recap", "a<b_c"}) {
        check_refused({.tags = {.recap = name}});
        check_refused({.tags = {.note = name}});
    }
    check_refused({.tags = {.note = "same_name", .recap = "same_name"}});
    check_refused({.tags = {.note = "same_name", .recap = "samename"}});
}

TEST_CASE("recap wording: a nonce changes nothing but the opening tag") {
    History h;
    h.ask("do it").step("Bash", "make", "ok").reply();
    const std::string bare_text = coppice::RecapBuilder<>{}.build(h.view()).text;
    const std::string text = coppice::RecapBuilder<>({}, {.nonce = "n1"}).build(h.view()).text;
    CHECK(text == "<agent_session_recap id=\"n1\">" + bare_text.substr(bare_text.find('\n')));
}

TEST_CASE("recap wording: a result says where its full content is stored") {
    CHECK(line_of({.kind = Kind::result, .text = "x", .tool = "T", .reference = "store/a.txt"}) ==
          "Result of T, stored at store/a.txt: x");
    CHECK(line_of({.kind = Kind::stub, .tool = "T", .reference = "store/a.txt", .chars = 7}) ==
          "Left out: result of T, 7 characters; stored at store/a.txt");
}
