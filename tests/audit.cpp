// SPDX-License-Identifier: MIT
#include <coppice/audit.hpp>

#include "../examples/session_generator.hpp"

#include <coppice/dom.hpp>
#include <coppice/presets/openswarm.hpp>
#include <coppice/presets/standard.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::EditRecord;
using coppice::Report;
using coppice::to_markdown;
using coppice::to_text;

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        out.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

// The cells of a row of Markdown, as a reader of tables cuts them; none where the line is no row.
std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> out;
    if (line.empty() || line[0] != '|') { return out; }
    std::string cell;
    for (std::size_t i = 1; i < line.size(); ++i) {
        if (line[i] == '|' && line[i - 1] != '\\') {
            out.push_back(cell);
            cell.clear();
        } else {
            cell += line[i];
        }
    }
    CHECK(cell.empty());
    return out;
}

std::size_t number(const std::string& cell) { return std::stoull(cell); }

// Two tables: by reason and by edit.
struct Tables {
    std::vector<std::vector<std::string>> reasons, edits;
};

Tables tables(const std::string& markdown) {
    Tables out;
    auto* into = &out.reasons;
    bool open = false;
    for (const std::string& line : lines(markdown)) {
        std::vector<std::string> row = cells(line);
        if (row.empty() && open) { into = &out.edits; }
        open = !row.empty();
        if (open) { into->push_back(std::move(row)); }
    }
    return out;
}

bool is_clean(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7F); });
}

Report one_edit(const std::string& tool, const std::string& identity) {
    Report report;
    report.engaged = true;
    report.dialect = "anthropic";
    report.requests = 1;
    report.horizon = 9;
    report.saved_bytes = 3900;
    report.edits.push_back({.message = 2,
                            .block = 1,
                            .path = "/content",
                            .reason = "keep_recent",
                            .id = "t1",
                            .tool = tool,
                            .identity = identity,
                            .replacement = "[x]",
                            .bytes_before = 4000,
                            .bytes_after = 100});
    report.by_reason.push_back({"keep_recent", 1, 3900});
    return report;
}

}  // namespace

TEST_CASE("audit: the Markdown of one edit reads like this") {
    Report report = one_edit("Read", "/src/a.c");
    report.tokens_before = 1500;
    report.tokens_after = 500;
    report.rewrites = true;
    report.first_rewritten_message = 2;
    report.tokens_rebilled = 70;
    report.unpaired_calls = 1;
    report.warnings.push_back("2 documents were cleared with their results");
    CHECK(to_markdown(report) ==
          "## 1 edit, 3900 bytes saved\n\n"
          "About 500 of 1500 tokens are left, read as anthropic.\n"
          "What was cached changes from message 2 on: about 70 tokens are read anew.\n\n"
          "| reason | edits | bytes before | bytes after | saved |\n"
          "|---|---:|---:|---:|---:|\n"
          "| `keep_recent` | 1 | 4000 | 100 | 3900 |\n"
          "| all | 1 | 4000 | 100 | 3900 |\n\n"
          "| message | block | tool | path or command | reason | bytes before | bytes after |\n"
          "|---:|---:|---|---|---|---:|---:|\n"
          "| 2 | 1 | `Read` | `/src/a.c` | `keep_recent` | 4000 | 100 |\n\n"
          "## Not done\n\n"
          "- messages from number 9 on were not open to change\n"
          "- 1 call without an answer stays as before\n"
          "- 2 documents were cleared with their results\n");
}

TEST_CASE("audit: the text of one edit reads like this") {
    Report report = one_edit("Read", "/src/a.c");
    report.under_target = false;
    report.ceiling_why = "only what cannot be cleared is left";
    report.saturated = true;
    report.suggested_compaction = coppice::CompactionRange{1, 7, 1, 900};
    report.unpaired_results = 2;
    report.repeated_keys = 3;
    CHECK(to_text(report) ==
          "1 edit, 3900 bytes saved\n\n"
          "About 0 of 0 tokens are left, read as anthropic.\n"
          "A summary could stand for messages 1 to 6: about 900 tokens, with 1 message of the user.\n\n"
          "reason       edits  bytes before  bytes after  saved\n"
          "keep_recent      1          4000          100   3900\n"
          "all              1          4000          100   3900\n\n"
          "message  block  tool  path or command  reason       bytes before  bytes after\n"
          "      2      1  Read  /src/a.c         keep_recent          4000          100\n\n"
          "Not done\n\n"
          "- the ceiling was not reached: only what cannot be cleared is left\n"
          "- what cannot be cleared exceeds the mark of the cadence or the limit of the host\n"
          "- messages from number 9 on were not open to change\n"
          "- 2 results without their call stay as before\n"
          "- 3 objects with two members of one name stay as before\n");
}

TEST_CASE("audit: where nothing changed it says why") {
    Report report;
    report.why = "no *dialect* fits | `really`";
    CHECK(to_text(report) ==
          "0 edits, 0 bytes saved\n\nNot done\n\n- nothing changed: no *dialect* fits | `really`\n");
    CHECK(to_markdown(report) == "## 0 edits, 0 bytes saved\n\n## Not done\n\n"
                                 "- nothing changed: no \\*dialect\\* fits \\| \\`really\\`\n");
}

TEST_CASE("audit: of a batch every edit says its request") {
    Report report = one_edit("Read", "");
    report.requests = 2;
    report.edits[0].request = 1;
    const Tables found = tables(to_markdown(report));
    REQUIRE(found.edits.size() == 3);
    CHECK(found.edits[0].front() == " request ");
    CHECK(found.edits[2] ==
          std::vector<std::string>{" 1 ", " 2 ", " 1 ", " `Read` ", "  ", " `keep_recent` ", " 4000 ", " 100 "});
}

TEST_CASE("audit: hostile names break no row and reach nobody who reads") {
    const std::vector<std::string> hostile = {
        "a|b", "|", "||", "`", "``x`", "\\", "\\|", "a\\`|", "x\n| 1 | 2 |\n", "\r\n\r\n# head", "\x1B[31mred\x1B[0m",
        "\xE2\x80\xAE" "evil\xE2\x81\xA6", "\xC2\x85next\xE2\x80\xA8line", "<script>alert(1)</script>", "[a](http://b)",
        "@everyone", "![i](x)", std::string(10'000, '|'), std::string(10'000, '`'), std::string("\0\x7F\xFF", 3),
        "*_~ **x**", "&lt;&#96;", "\t tab ", "-->"};
    for (const std::string& name : hostile) {
        CAPTURE(name.substr(0, 30));
        Report report = one_edit(name, name);
        report.warnings.push_back(name);
        report.ceiling_why = name;
        report.under_target = false;
        const std::string markdown = to_markdown(report);
        const std::string text = to_text(report);
        CHECK(is_clean(markdown));
        CHECK(is_clean(text));
        CHECK(markdown.size() < 5000);
        CHECK(lines(markdown).size() == lines(to_markdown(one_edit("x", "x"))).size() + 2);
        CHECK(lines(text).size() == lines(to_text(one_edit("x", "x"))).size() + 2);
        const Tables found = tables(markdown);
        REQUIRE(found.reasons.size() == 4);
        REQUIRE(found.edits.size() == 3);
        for (const auto& row : found.edits) { CHECK(row.size() == 7); }
        for (const std::size_t i : {2U, 3U}) {
            const std::string& cell = found.edits[2][i];
            const auto ticks = std::count(cell.begin(), cell.end(), '`');
            // a span of code or nothing
            CHECK((cell == "  " || (ticks == 2 && cell.substr(0, 2) == " `" && cell.substr(cell.size() - 2) == "` ")));
            CHECK(cell.find_first_of("<>[]") == std::string::npos);
        }
        CHECK(number(found.edits[2][5]) == 4000);
    }
}

TEST_CASE("audit: the sums add up over whole sessions") {
    std::size_t looked = 0;
    const auto check = [&](const Report& report) {
        REQUIRE(report.engaged);
        const Tables found = tables(to_markdown(report));
        REQUIRE(found.reasons.size() == report.by_reason.size() + 3);
        REQUIRE(found.edits.size() == report.edits.size() + 2);
        std::vector<std::size_t> sums(4, 0);
        for (std::size_t row = 2; row + 1 < found.reasons.size(); ++row) {
            const std::vector<std::string>& cell = found.reasons[row];
            for (std::size_t i = 0; i < 4; ++i) { sums[i] += number(cell[i + 1]); }
            CHECK(number(cell[2]) - number(cell[3]) == number(cell[4]));
        }
        const std::vector<std::string>& last = found.reasons.back();
        CHECK(last[0] == " all ");
        for (std::size_t i = 0; i < 4; ++i) { CHECK(number(last[i + 1]) == sums[i]); }
        CHECK(sums[0] == report.edits.size());
        CHECK(sums[3] == report.saved_bytes);
        std::size_t before = 0;
        std::size_t after = 0;
        for (std::size_t row = 2; row < found.edits.size(); ++row) {
            before += number(found.edits[row][5]);
            after += number(found.edits[row][6]);
        }
        CHECK(before == sums[1]);
        CHECK(after == sums[2]);
        looked += report.by_reason.size();
    };
    for (std::size_t seed = 1; seed <= 4; ++seed) {
        coppice_examples::SessionShape shape;
        shape.seed = seed;
        shape.results = 150;
        const auto session = coppice_examples::make_session(shape);
        check(coppice::plan(session, coppice::presets::standard(coppice::EveryRequest<>{})));
        check(coppice::plan(session, coppice::presets::openswarm(coppice::EveryRequest<>{})));
    }
    CHECK(looked > 20);
}
