// SPDX-License-Identifier: MIT
#include <coppice/detail/log_lines.hpp>

#include "../support/log_text.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::detail::LogJson;
using coppice::detail::LogLines;
using coppice::detail::LogNotes;
using coppice::detail::parse_log_line;
using Lines = std::vector<std::pair<std::size_t, std::string>>;

Lines lines_of(std::string_view text) {
    Lines found;
    for (LogLines lines(text); lines.next();) { found.emplace_back(lines.number(), lines.line()); }
    return found;
}

TEST_CASE("log_lines: only a line feed ends a line") {
    const Lines expected = {{1,
                             "a\xE2\x80\xA8"
                             "b\x0B"
                             "c\rd"},
                            {2, "e"}};
    CHECK(lines_of("a\xE2\x80\xA8"
                   "b\x0B"
                   "c\rd\ne\n") == expected);
}

TEST_CASE("log_lines: a byte order mark and carriage returns before the end are passed over") {
    const Lines expected = {{1, "a"}, {2, "b"}};
    CHECK(lines_of("\xEF\xBB\xBF"
                   "a\r\nb\r\n") == expected);
}

TEST_CASE("log_lines: blank lines are passed over and counted") {
    const Lines expected = {{3, "a"}, {6, "b"}};
    CHECK(lines_of("\n \t\na\n\n\r\nb") == expected);
    CHECK(lines_of("").empty());
    CHECK(lines_of("\n\n").empty());
}

TEST_CASE("log_lines: the last line knows whether its end was written") {
    LogLines cut("a\nb");
    REQUIRE(cut.next());
    CHECK(cut.ended());
    CHECK(cut.from_here() == "a\nb");
    REQUIRE(cut.next());
    CHECK(!cut.ended());
    CHECK(cut.from_here() == "b");
    CHECK(!cut.next());
}

TEST_CASE("log_lines: what cannot be parsed has a reason") {
    LogJson out;
    CHECK(parse_log_line("{\"a\":1}", out).empty());
    CHECK(out["a"] == 1);
    CHECK(parse_log_line("[1]", out) == "left out, no object");
    CHECK(parse_log_line("{\"a\":", out) == "left out, no JSON");
    CHECK(parse_log_line("{} {}", out) == "left out, no JSON");
    CHECK(parse_log_line("{\"a\":\"\xC3\x28\"}", out) == "left out, no JSON");
    CHECK(parse_log_line("{\"a\":1e999}", out) == "left out, no JSON");
    // which nlohmann would take
    CHECK(parse_log_line(std::string_view("{}\0{", 4), out) == "left out, no JSON");
}

TEST_CASE("log_lines: depth and width have a limit") {
    const auto why = [](const std::string& text) {
        LogJson out;
        return std::string(parse_log_line(text, out));
    };
    CHECK(why("{\"a\":" + support::nested_array(999) + "}").empty());
    CHECK(why("{\"a\":" + support::nested_array(1000) + "}") == "left out, nested deeper than 1000 levels");
    const auto object = [](int members) {
        std::string text = "{\"0\":0";
        for (int i = 1; i < members; ++i) { text += ",\"" + std::to_string(i) + "\":0"; }
        return text + "}";
    };
    CHECK(why(object(2000)).empty());
    CHECK(why(object(2001)) == "left out, an object of more than 2000 members");
}

TEST_CASE("log_lines: notes are added up by what they say") {
    LogNotes notes;
    notes.add("left out, no JSON", 7);
    notes.add("left out, no object", 2);
    notes.add("left out, no JSON", 9);
    notes.add("left out, no JSON", 3);
    const std::vector<std::string> expected = {"line 3 and 2 more: left out, no JSON",
                                               "line 2: left out, no object"};
    CHECK(notes.written() == expected);
}

TEST_CASE("log_lines: members are found in objects alone and by their type") {
    const LogJson value = LogJson::parse(R"({"a":"x","b":true,"c":7})");
    CHECK(coppice::detail::log_text(value, "a") == "x");
    CHECK(coppice::detail::log_text(value, "c").empty());
    CHECK(coppice::detail::log_text(value, "d").empty());
    CHECK(coppice::detail::log_text(LogJson("a"), "a").empty());
    CHECK(coppice::detail::log_is_true(value, "b"));
    CHECK(!coppice::detail::log_is_true(value, "a"));
    CHECK(coppice::detail::log_member(LogJson::array(), "a") == nullptr);
}

}  // namespace
