// SPDX-License-Identifier: MIT
#include <coppice/elide.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::append_elided;
using coppice::head_and_tail;
using coppice::notable_lines;
using coppice::NotableLines;
using Texts = std::vector<std::string>;

constexpr std::array<std::string_view, 4> characters = {"a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};

std::size_t chars(std::string_view text) { return coppice::measure_plain(text).chars; }

// Whether nlohmann can write it, which it does for valid UTF-8 only.
bool is_utf8(std::string_view text) {
    try {
        return !nlohmann::json(std::string(text)).dump().empty();
    } catch (const nlohmann::json::exception&) { return false; }
}

std::string repeated(std::string_view piece, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) { out += piece; }
    return out;
}

// `count` characters, of every width in turn.
Texts mixed(std::size_t count) {
    Texts out;
    for (std::size_t i = 0; i < count; ++i) { out.emplace_back(characters[(i * 7 + i / 3) % 4]); }
    return out;
}

std::string joined(const Texts& pieces, std::size_t from = 0, std::size_t to = coppice::none) {
    std::string out;
    for (std::size_t i = from; i < std::min(to, pieces.size()); ++i) { out += pieces[i]; }
    return out;
}

void plain_marker(std::string& out, std::size_t left_out) {
    out += "[" + std::to_string(left_out) + " gone]";
}
void wide_marker(std::string& out, std::size_t left_out) {
    out += "\xE2\x80\xA6" + std::to_string(left_out) + "\xF0\x9F\x98\x80";
}

template <class Marker>
std::string elided(std::string_view text, std::size_t budget, Marker marker) {
    std::string out;
    append_elided(out, text, budget, marker);
    return out;
}

// The same, character by character.
template <class Marker>
std::string slowly_elided(const Texts& text, std::size_t budget, Marker marker) {
    if (text.size() <= budget) { return joined(text); }
    std::string longest;
    marker(longest, text.size());
    if (chars(longest) >= budget) { return joined(text, 0, budget); }
    const std::size_t room = budget - chars(longest);
    const std::size_t tail = room * 2 / 5;
    std::string out = joined(text, 0, room - tail);
    marker(out, text.size() - room);
    return out + joined(text, text.size() - tail);
}

Texts found(std::string_view text, std::size_t budget, std::size_t line_limit) {
    const NotableLines lines = notable_lines(text, budget, line_limit);
    std::size_t sum = 0;
    Texts out;
    for (const std::string_view line : lines.lines) {
        sum += chars(line) + 1;
        out.emplace_back(line);
    }
    CHECK(lines.chars == sum);
    CHECK(sum <= budget);
    return out;
}

bool is_notable(const std::string& line) {
    return !found("before\n" + line + "\nbehind", 10'000, 1000).empty();
}

// The same of lines that are all notable, one after another.
Texts slowly_found(const Texts& lines, std::size_t budget) {
    Texts first;
    std::size_t used = 0;
    while (first.size() < lines.size() && used + chars(lines[first.size()]) + 1 <= budget / 2) {
        used += chars(lines[first.size()]) + 1;
        first.push_back(lines[first.size()]);
    }
    Texts last;
    for (std::size_t i = lines.size(); i > first.size() && used + chars(lines[i - 1]) + 1 <= budget; --i) {
        used += chars(lines[i - 1]) + 1;
        last.push_back(lines[i - 1]);
    }
    first.insert(first.end(), last.rbegin(), last.rend());
    return first;
}

}  // namespace

TEST_CASE("head and tail: three pieces add up to the text and split no character") {
    for (std::size_t size = 0; size <= 10; ++size) {
        const Texts pieces = mixed(size);
        const std::string text = joined(pieces);
        for (std::size_t head = 0; head <= 12; ++head) {
            for (std::size_t tail = 0; tail <= 12; ++tail) {
                const coppice::HeadTail cut = head_and_tail(text, head, tail);
                const std::size_t head_size = std::min(head, size);
                const std::size_t tail_size = std::min(tail, size - head_size);
                CHECK(cut.head == joined(pieces, 0, head_size));
                CHECK(cut.middle == joined(pieces, head_size, size - tail_size));
                CHECK(cut.tail == joined(pieces, size - tail_size));
            }
        }
    }
}

TEST_CASE("head and tail: invalid bytes are no obstacle") {
    const std::string text = "\x80\x80\xFF\xF0\x9F and \xE5 \xC3\xA9 \x80\xBF\xE2\x82";
    for (std::size_t head = 0; head <= text.size(); ++head) {
        for (std::size_t tail = 0; tail <= text.size(); ++tail) {
            const coppice::HeadTail cut = head_and_tail(text, head, tail);
            CHECK(std::string(cut.head).append(cut.middle).append(cut.tail) == text);
        }
    }
}

TEST_CASE("elided: a text within its budget stays as it is behind what is there") {
    std::string out = "before ";
    append_elided(out, "h\xC3\xA9llo", 5, plain_marker);
    CHECK(out == "before h\xC3\xA9llo");
    CHECK(elided("", 0, plain_marker).empty());
    CHECK(elided("hello", coppice::none, plain_marker) == "hello");
}

TEST_CASE("elided: a longer text keeps three fifths of the room for its head and two for its tail") {
    const std::string text = std::string(450, 'h') + std::string(450, 't');
    CHECK(elided(text, 60, plain_marker) == std::string(30, 'h') + "[850 gone]" + std::string(20, 't'));
    std::string out = "before ";
    append_elided(out, text, 60, plain_marker);
    CHECK(out == "before " + std::string(30, 'h') + "[850 gone]" + std::string(20, 't'));
}

TEST_CASE("elided: every budget around characters of every width gives what a slow reading gives") {
    for (const std::size_t size : {0U, 1U, 2U, 7U, 9U, 10U, 11U, 12U, 30U, 99U, 100U, 101U, 110U}) {
        const Texts pieces = mixed(size);
        const std::string text = joined(pieces);
        for (std::size_t budget = 0; budget <= size + 3; ++budget) {
            for (const auto marker : {plain_marker, wide_marker}) {
                CAPTURE(size);
                CAPTURE(budget);
                const std::string out = elided(text, budget, marker);
                CHECK(out == slowly_elided(pieces, budget, marker));
                CHECK(chars(out) <= budget);
                CHECK(is_utf8(out));
            }
        }
    }
}

TEST_CASE("elided: one character that is wider than the rest may stand anywhere") {
    for (const std::string_view wide : characters) {
        for (std::size_t at = 0; at <= 40; ++at) {
            Texts pieces(40, "x");
            pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(at), std::string(wide));
            for (std::size_t budget = 0; budget <= 41; ++budget) {
                CHECK(elided(joined(pieces), budget, plain_marker) ==
                      slowly_elided(pieces, budget, plain_marker));
            }
        }
    }
}

TEST_CASE("elided: the marker says exactly how many characters are gone") {
    for (const std::size_t size : {13U, 100U, 1000U, 1001U, 12'345U}) {
        const std::string text = joined(mixed(size));
        for (std::size_t budget = 12; budget < std::min<std::size_t>(size, 130); ++budget) {
            const std::string out = elided(text, budget, plain_marker);
            const std::size_t open = out.find('[');
            if (open == std::string::npos) { continue; }
            const std::string_view marker = std::string_view(out).substr(open, out.find(']') + 1 - open);
            CHECK(chars(out) - chars(marker) + std::stoul(out.substr(open + 1)) == size);
        }
    }
}

TEST_CASE("elided: a budget without room for the marker gets the head alone") {
    const std::string text(100, 'x');
    const std::size_t marked = std::string("[100 gone]").size();
    for (std::size_t budget = 0; budget <= marked; ++budget) {
        CHECK(elided(text, budget, plain_marker) == std::string(budget, 'x'));
    }
    CHECK(elided(text, marked + 1, plain_marker) == "x[99 gone]");
}

TEST_CASE("elided: the end of a long text is there") {
    const std::string out = elided(repeated("ok\n", 40'000) + "2 failed, 98 passed", 100, plain_marker);
    const std::string_view verdict = "2 failed, 98 passed";
    CHECK(chars(out) == 100);
    CHECK(out.substr(out.size() - verdict.size()) == verdict);
}

TEST_CASE("elided: what was elided once is not elided again") {
    for (const std::size_t size : {5U, 20U, 100U, 101U, 1000U}) {
        for (const std::string& text : {joined(mixed(size)), repeated("\xFF\x80\xE2\x82", size)}) {
            for (std::size_t budget = 0; budget <= 120; ++budget) {
                const std::string once = elided(text, budget, plain_marker);
                CHECK(elided(once, budget, plain_marker) == once);
            }
        }
    }
}

TEST_CASE("elided: bytes that are no text come out as replacement characters within the budget") {
    CHECK(elided("a\xFFz", 3, plain_marker) == "a\xEF\xBF\xBDz");
    const std::string text = repeated("\x80\xFF\xF0\x9F\xE5 ok \xC3\xA9\xED\xA0\x80", 30);
    for (std::size_t budget = 0; budget <= 420; ++budget) {
        const std::string out = elided(text, budget, plain_marker);
        CHECK(is_utf8(out));
        CHECK(chars(out) <= budget);
    }
    // continuation bytes alone count as characters too
    CHECK(chars(elided(std::string(900, '\x80'), 20, plain_marker)) == 20);
}

TEST_CASE("elided: NUL bytes and line breaks are characters like others") {
    const std::string text = repeated(std::string_view("\0\n\r", 3), 30);
    const std::string out = elided(text, 20, plain_marker);
    CHECK(out == text.substr(0, 7) + "[79 gone]" + text.substr(86));
}

TEST_CASE("notable lines: each kind of word is found in any case and anywhere in its line") {
    for (const std::string word :
         {"assert",        "assertion failed",  "critical",    "error",        "errors",
          "ld: exception", "exit code",         "exit status", "exited with",  "fail",
          "failed",        "failures",          "fatal",       "no such file", "nothing to commit",
          "panic:",        "permission denied", "request id",  "request_id",   "sigsegv",
          "trace id",      "trace_id",          "traceback",   "1 passed"}) {
        CAPTURE(word);
        std::string upper = word;
        std::string camel = word;
        for (std::size_t i = 0; i < word.size(); ++i) {
            const bool letter = word[i] >= 'a' && word[i] <= 'z';
            if (letter) { upper[i] = static_cast<char>(word[i] - 'a' + 'A'); }
            if (i % 2 == 0) { camel[i] = upper[i]; }
        }
        for (const std::string& spelled : {word, upper, camel}) {
            CHECK(is_notable(spelled));
            CHECK(is_notable("x" + spelled));
            CHECK(is_notable("\xE2\x82\xAC e f n p " + spelled + " and more"));
            CHECK(is_notable(std::string("\0", 1) + spelled + "x"));
        }
    }
}

TEST_CASE("notable lines: what only resembles such words is not found") {
    for (const std::string_view line : {"",
                                        " ",
                                        "passed",
                                        "all passed",
                                        "x passed",
                                        "12passed",
                                        "12  passed",
                                        "12\tpassed",
                                        "12 passe",
                                        "errr",
                                        "erro",
                                        "e r r o r",
                                        "asser",
                                        "critica",
                                        "exceptio",
                                        "exit",
                                        "exit cod",
                                        "exit  code",
                                        "exited",
                                        "fai",
                                        "fata",
                                        "no such",
                                        "nothing to commi",
                                        "panic",
                                        "permission",
                                        "permission  denied",
                                        "request",
                                        "request-id",
                                        "sigseg",
                                        "trace",
                                        "trace-id",
                                        "tracebac",
                                        "\xC3\xA9rror",
                                        "ok"}) {
        CAPTURE(line);
        CHECK_FALSE(is_notable(std::string(line)));
        CHECK(found(line, 10'000, 1000).empty());
    }
    // words do not reach over a line break, nor bytes over half the alphabet
    CHECK(found("exit\ncode\n12\n passed", 10'000, 1000).empty());
    CHECK(found("\xC5\xD2\xD2\xCF\xD2 %22/2", 10'000, 1000).empty());
}

TEST_CASE("notable lines: they come in their order without surrounding white space") {
    CHECK(found("ok\r\n  error: one \t\r\nok\n\nmake: *** Error 1\n\t\n3 passed", 1000, 400) ==
          Texts{"error: one", "make: *** Error 1", "3 passed"});
    CHECK(found("error\n", 1000, 400) == Texts{"error"});
    CHECK(found("\nerror", 1000, 400) == Texts{"error"});
    // white space inside stays
    CHECK(found("error:\t\r a\v", 1000, 400) == Texts{"error:\t\r a"});
}

TEST_CASE("notable lines: half of the room goes to the first and the rest to the last") {
    std::string text;
    for (int i = 100; i < 200; ++i) {
        text += "error " + std::to_string(i) + "\nnoise\n";
    }  // 10 characters each
    CHECK(found(text, 60, 400) ==
          Texts{"error 100", "error 101", "error 102", "error 197", "error 198", "error 199"});
    CHECK(found(text, 59, 400) == Texts{"error 100", "error 101", "error 197", "error 198", "error 199"});
    CHECK(found(text, 19, 400) == Texts{"error 199"});
    CHECK(found(text, 9, 400).empty());
    CHECK(found(text, 1000, 400).size() == 100);
    CHECK(found(text, coppice::none, coppice::none).size() == 100);
}

TEST_CASE("notable lines: no budget is exceeded and none is wasted whatever the lengths of the lines") {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        Texts lines;
        std::string text;
        for (unsigned i = 0; i < random() % 60; ++i) {
            std::string line = "fail";
            for (unsigned more = 0; more < random() % 30; ++more) { line += characters[random() % 4]; }
            text += line + (random() % 2 == 0 ? "\n" : "\nnothing here\n");
            lines.push_back(line);
        }
        for (const std::size_t budget : {0U, 1U, 5U, 6U, 30U, 100U, 333U, 1000U, 5000U}) {
            CAPTURE(round);
            CAPTURE(budget);
            CHECK(found(text, budget, 400) == slowly_found(lines, budget));
        }
    }
}

TEST_CASE("notable lines: a line is cut to its limit between characters") {
    for (const std::string_view wide : characters) {
        const std::string line = "error" + repeated(wide, 20);
        for (std::size_t limit = 0; limit <= 30; ++limit) {
            const Texts lines = found("ok\n" + line + "\nok", 1000, limit);
            REQUIRE(lines.size() == 1);
            CHECK(chars(lines[0]) == std::min<std::size_t>(limit, 25));
            CHECK(is_utf8(lines[0]));
            CHECK(line.substr(0, lines[0].size()) == lines[0]);
        }
    }
}

TEST_CASE("notable lines: a text without line breaks is one line") {
    CHECK(found(std::string(5000, 'x') + " error", 1000, 400) == Texts{std::string(400, 'x')});
    CHECK(found("error " + std::string(5000, 'x'), 1000, 400) == Texts{"error " + std::string(394, 'x')});
    CHECK(found("error " + std::string(5000, 'x'), 400, 400).empty());
    CHECK(found(std::string(5000, 'x'), 1000, 400).empty());
}

TEST_CASE("notable lines: they are views into the text") {
    const std::string text = "ok\nfatal: x\nok";
    const NotableLines lines = notable_lines(text, 100, 100);
    REQUIRE(lines.lines.size() == 1);
    CHECK(lines.lines[0].data() == text.data() + 3);
}

TEST_CASE("notable lines: of millions the first and the last stay") {
    std::string text;
    for (int i = 1'000'000; i < 3'000'000; ++i) { text += "error " + std::to_string(i) + "\n"; }
    const Texts lines = found(text, 56, 400);
    CHECK(lines == Texts{"error 1000000", "error 1000001", "error 2999998", "error 2999999"});
    // shorter ones push longer ones out
    CHECK(found(text + repeated("fail\n", 1'000'000), 56, 400).size() == 2 + 5);
}

TEST_CASE("notable lines: megabytes that nearly hold a word hold none") {
    for (const std::string_view near :
         {"e", "exit cod exit statu ", "tracebactrace_iexceptio", "9 passe", "\xFF"}) {
        CHECK(found(repeated(near, 4'000'000 / near.size()), 1000, 400).empty());
    }
    CHECK(found(std::string(4'000'000, '\n'), 1000, 400).empty());
}

TEST_CASE("notable lines: bytes that are no text are no obstacle") {
    const Texts lines = found("\x80\x80 error \xFF\xF0\x9F\n\xBF\xBF", 1000, 8);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].substr(0, 8) == "\x80\x80 error");
    CHECK(found(std::string_view("\0error\0\n", 8), 1000, 400) == Texts{std::string("\0error\0", 7)});
}
