// SPDX-License-Identifier: MIT
#include <coppice/detail/reporting.hpp>

#include <coppice/dom.hpp>
#include <coppice/policies.hpp>

#include "../support/builders.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::EditRecord;
using coppice::Report;
using coppice::detail::add_reused;
using coppice::detail::add_to_totals;
using coppice::detail::append_pointer_step;
using coppice::detail::fail_open;
using coppice::detail::reuse;
using coppice::detail::SpareParts;

// Longer than what a string holds without the heap.
std::string long_words(char letter) { return std::string(100, letter); }

Report filled(std::size_t edits) {
    Report report;
    report.engaged = true;
    report.why = long_words('w');
    report.dialect = long_words('d');
    report.ceiling_why = long_words('c');
    report.saved_bytes = 7;
    report.first_changed_message = 1;
    report.first_changed_offset = 2;
    report.under_target = true;
    report.unpaired_calls = 3;
    report.unpaired_results = 4;
    report.horizon = 5;
    report.requests = 6;
    report.repeated_keys = 7;
    report.warnings.push_back("w");
    report.by_reason.push_back({"reason", 1, 7});
    for (std::size_t i = 0; i < edits; ++i) {
        EditRecord& record = report.edits.emplace_back();
        const char letter = static_cast<char>('a' + i);
        record.path = long_words(letter);
        record.id = long_words(letter);
        record.tool = long_words(letter);
        record.replacement = long_words(letter);
        record.request = record.message = record.block = i + 1;
    }
    return report;
}

// Where the texts of a record lie.
std::vector<const char*> addresses(const EditRecord& record) {
    return {record.path.data(), record.id.data(), record.tool.data(), record.replacement.data()};
}

}  // namespace

TEST_CASE("reuse: a report is as good as new") {
    SpareParts spare;
    Report report = filled(3);
    reuse(report, spare);
    const Report fresh;
    CHECK(report.engaged == fresh.engaged);
    CHECK(report.why.empty());
    CHECK(report.dialect.empty());
    CHECK(report.ceiling_why.empty());
    CHECK(report.saved_bytes == 0);
    CHECK_FALSE(report.first_changed_message.has_value());
    CHECK_FALSE(report.first_changed_offset.has_value());
    CHECK_FALSE(report.under_target.has_value());
    CHECK(report.edits.empty());
    CHECK(report.by_reason.empty());
    CHECK(report.unpaired_calls == 0);
    CHECK(report.unpaired_results == 0);
    CHECK(report.horizon == 0);
    CHECK(report.requests == 0);
    CHECK(report.repeated_keys == 0);
    CHECK(report.warnings.empty());
    CHECK(spare.edits.size() == 3);
}

TEST_CASE("reuse: strings and lists keep what they have allocated") {
    SpareParts spare;
    Report report = filled(3);
    const char* const why = report.why.data();
    const char* const dialect = report.dialect.data();
    const char* const ceiling_why = report.ceiling_why.data();
    const EditRecord* const edits = report.edits.data();
    const coppice::ReasonTotal* const reasons = report.by_reason.data();
    report.warnings.assign(2, long_words('w'));
    const char* const warning = report.warnings.front().data();
    reuse(report, spare);
    CHECK((add_reused(report.warnings, spare.warnings).data() == warning));
    const std::string next = long_words('n');
    report.why = next;
    report.dialect = next;
    report.ceiling_why = next;
    report.by_reason.push_back({"other", 1, 1});
    for (int i = 0; i < 3; ++i) { add_reused(report.edits, spare.edits); }
    CHECK((report.why.data() == why));
    CHECK((report.dialect.data() == dialect));
    CHECK((report.ceiling_why.data() == ceiling_why));
    CHECK(report.edits.data() == edits);
    CHECK(report.by_reason.data() == reasons);
}

TEST_CASE("add reused: it overwrites the records put aside in their order") {
    SpareParts spare;
    Report report = filled(3);
    std::vector<std::vector<const char*>> before;
    for (const EditRecord& record : report.edits) { before.push_back(addresses(record)); }
    for (int round = 0; round < 3; ++round) {
        reuse(report, spare);
        for (std::size_t i = 0; i < before.size(); ++i) {
            EditRecord& record = add_reused(report.edits, spare.edits);
            CHECK(&record == &report.edits.back());
            record.path.clear();
            record.path += long_words('p').substr(0, 50);
            record.id = std::string_view("x");
            record.tool = std::string_view();
            record.replacement = std::string_view(long_words('r'));
        }
        CHECK(spare.edits.empty());
        for (std::size_t i = 0; i < before.size(); ++i) { CHECK(addresses(report.edits[i]) == before[i]); }
    }
}

TEST_CASE("add reused: beyond the records put aside it makes new ones") {
    SpareParts spare;
    Report report = filled(1);
    reuse(report, spare);
    add_reused(report.edits, spare.edits);
    const EditRecord& fresh = add_reused(report.edits, spare.edits);
    CHECK(report.edits.size() == 2);
    CHECK(fresh.path.empty());
    CHECK(fresh.request == 0);
    CHECK(fresh.bytes_before == 0);
}

TEST_CASE("add reused: records that a shorter report did not need wait for a longer one") {
    SpareParts spare;
    Report report = filled(4);
    const std::vector<const char*> first = addresses(report.edits[0]);
    const std::vector<const char*> last = addresses(report.edits[3]);
    reuse(report, spare);
    add_reused(report.edits, spare.edits);
    CHECK(spare.edits.size() == 3);
    reuse(report, spare);
    CHECK(spare.edits.size() == 4);
    for (int i = 0; i < 4; ++i) { add_reused(report.edits, spare.edits); }
    CHECK(addresses(report.edits[0]) == first);
    CHECK(addresses(report.edits[3]) == last);
}

TEST_CASE("totals: reasons stay in the order of their first edit") {
    Report report;
    add_to_totals(report, "second", 5);
    add_to_totals(report, "first", 7);
    add_to_totals(report, "second", 11);
    CHECK(report.saved_bytes == 23);
    REQUIRE(report.by_reason.size() == 2);
    CHECK(report.by_reason[0].reason == "second");
    CHECK(report.by_reason[0].count == 2);
    CHECK(report.by_reason[0].saved_bytes == 16);
    CHECK(report.by_reason[1].reason == "first");
    CHECK(report.by_reason[1].count == 1);
}

TEST_CASE("pointer step: tildes and slashes are escaped") {
    std::string pointer = "/input";
    append_pointer_step(pointer, "a/b~c");
    append_pointer_step(pointer, "");
    CHECK(pointer == "/input/a~1b~0c/");
}

TEST_CASE("fail open: a failure empties the report and leaves a reason") {
    Report report = filled(2);
    fail_open(report, [] { throw std::runtime_error("no luck"); });
    CHECK_FALSE(report.engaged);
    CHECK(report.edits.empty());
    CHECK(report.warnings.empty());
    CHECK(report.why == "no luck");
    fail_open(report, [] { throw 42; });
    CHECK(report.why == "unknown failure");
}

TEST_CASE("reports: records put aside change nothing in what is reported next") {
    using Json = nlohmann::ordered_json;
    constexpr coppice::Pipeline<coppice::KeepRecent<1>, coppice::BulkyInputClear<0>> pipeline;
    coppice::Workspace workspace;
    for (const std::size_t count : {9U, 3U, 12U, 1U, 5U}) {
        CAPTURE(count);
        Json messages = support::reads(count);
        support::add_pair<Json>(messages, "w", "Write",
                                Json{{"path", "/w"}, {"content", std::string(3000, 'w')}}, "ok");
        const Json document = support::body(std::move(messages));
        workspace.spare.edits = filled(count).edits;
        const Report used = coppice::plan(document, pipeline, workspace);
        const Report fresh = coppice::plan(document, pipeline);
        const bool same = coppice::to_json(used) == coppice::to_json(fresh);
        CHECK(same);
        CHECK(workspace.spare.edits.size() == count - std::min(used.edits.size(), count));
    }
}
