// SPDX-License-Identifier: MIT
#include <coppice/report.hpp>

#include <coppice/cadences/stepped.hpp>
#include <coppice/dom.hpp>
#include <coppice/policies.hpp>

#include "support/builders.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::EditRecord;
using coppice::Report;
using Json = nlohmann::ordered_json;
using support::assistant;
using support::assistant_blocks;
using support::body;
using support::call;
using support::call_block;
using support::image;
using support::list;
using support::result;
using support::text;
using support::user;

using Pruner = coppice::Pipeline<coppice::SmallAging<1>, coppice::Dedup<>,
                                 coppice::KeepRecent<1, coppice::Size{2000}, 1>, coppice::BulkyInputClear<1>>;

const std::string big(5000, 'x');

// Two edits with a bulky field each, a duplicate pair, two small results, two screenshots, three big results.
Json busy() {
    Json messages = list(user("start"));
    support::add_pair<Json>(messages, "e1", "Edit",
                            Json{{"path", "/a"}, {"edits", list(Json{{"new_string", big}})}}, "ok");
    support::add_pair<Json>(messages, "e2", "Write", Json{{"path", "/a"}, {"content", big}}, "ok");
    support::add_pair<Json>(messages, "e3", "Write", Json{{"path", "/a"}, {"content", big}}, "ok");
    support::add_pair<Json>(messages, "d1", "Read", Json{{"path", "/d"}}, std::string(3000, 'd'));
    for (const std::string id : {"s1", "s2"}) {
        support::add_pair<Json>(messages, id, "Bash", Json{{"command", id}}, std::string(500, 's') + id);
    }
    for (const std::string id : {"i1", "i2"}) {
        support::add_pair<Json>(messages, id, "Shot", Json{{"url", id}}, list(text("beside"), image()));
    }
    for (const std::string id : {"b1", "b2", "b3"}) {
        support::add_pair<Json>(messages, id, "Read", Json{{"path", id}}, big + id);
    }
    support::add_pair<Json>(messages, "d2", "Read", Json{{"path", "/d"}}, std::string(3000, 'd'));
    messages.push_back(assistant("done"));
    return body(messages);
}

Report report_of(Json document) { return coppice::prune(document, Pruner()); }

const EditRecord* edit_of(const Report& report, std::string_view id) {
    for (const EditRecord& edit : report.edits) {
        if (edit.id == id) { return &edit; }
    }
    return nullptr;
}

}  // namespace

TEST_CASE("report: what was saved is what the documents differ in as compact JSON") {
    Json document = busy();
    const std::size_t before = document.dump().size();
    const Report report = coppice::prune(document, Pruner());
    CHECK(report.engaged);
    CHECK(report.why.empty());
    CHECK(report.dialect == "anthropic");
    CHECK(report.saved_bytes == before - document.dump().size());
}

TEST_CASE("report: edits and reasons add up to what was saved") {
    const Report report = report_of(busy());
    std::size_t edits = 0;
    for (const EditRecord& edit : report.edits) { edits += edit.bytes_before - edit.bytes_after; }
    CHECK(edits == report.saved_bytes);
    std::size_t reasons = 0;
    std::size_t count = 0;
    for (const coppice::ReasonTotal& total : report.by_reason) {
        reasons += total.saved_bytes;
        count += total.count;
    }
    CHECK(reasons == report.saved_bytes);
    CHECK(count == report.edits.size());
}

TEST_CASE("report: reasons are the names of the policies in the order of their first edit") {
    const Report report = report_of(busy());
    std::vector<std::string> expected;
    for (const EditRecord& edit : report.edits) {
        bool known = false;
        for (const std::string& reason : expected) { known = known || reason == edit.reason; }
        if (!known) { expected.push_back(edit.reason); }
    }
    REQUIRE(report.by_reason.size() == expected.size());
    CHECK(expected.size() == 4);
    for (std::size_t i = 0; i < expected.size(); ++i) { CHECK(report.by_reason[i].reason == expected[i]); }
}

TEST_CASE("report: an edit says where it is and what it did") {
    const Json before = busy();
    Json after = before;
    const Report report = coppice::prune(after, Pruner());
    const EditRecord* edit = edit_of(report, "b1");
    REQUIRE(edit != nullptr);
    CHECK(edit->path == "/content");
    CHECK(edit->tool == "Read");
    CHECK(edit->reason == "keep_recent");
    CHECK(edit->replacement ==
          support::block_at(after, edit->message, edit->block)["content"].get<std::string>());
    CHECK(edit->bytes_before ==
          support::block_at(before, edit->message, edit->block)["content"].dump().size());
    CHECK(edit->bytes_after == support::block_at(after, edit->message, edit->block)["content"].dump().size());
}

TEST_CASE("report: paths name the part the field and the position in a list") {
    const Report report = report_of(busy());
    REQUIRE(edit_of(report, "e1") != nullptr);
    CHECK(edit_of(report, "e1")->path == "/input/edits/0/new_string");
    REQUIRE(edit_of(report, "e2") != nullptr);
    CHECK(edit_of(report, "e2")->path == "/input/content");
    REQUIRE(edit_of(report, "i1") != nullptr);
    CHECK(edit_of(report, "i1")->path == "/content/1");
}

TEST_CASE("report: the first changed message is the one of the first edit") {
    const Report report = report_of(busy());
    REQUIRE(report.first_changed_message.has_value());
    CHECK(*report.first_changed_message == report.edits.front().message);
    CHECK(*report.first_changed_message == 1);
}

TEST_CASE("report: nothing done is nothing counted and says why") {
    const Json small = body(support::reads(1, 100));
    const Report report = report_of(small);
    CHECK_FALSE(report.engaged);
    CHECK_FALSE(report.why.empty());
    CHECK(report.edits.empty());
    CHECK(report.by_reason.empty());
    CHECK(report.saved_bytes == 0);
    CHECK_FALSE(report.first_changed_message.has_value());
}

TEST_CASE("report: calls that had nothing to clear are not counted") {
    Json messages = list(user("start"));
    for (int i = 0; i < 80; ++i) {
        support::add_pair<Json>(messages, "t" + std::to_string(i), "Bash", Json{{"command", "c"}},
                                big + std::to_string(i));
    }
    messages.push_back(assistant("done"));
    const Report report = report_of(body(messages));
    CHECK(report.edits.size() == 79);
    REQUIRE(report.by_reason.size() == 1);
    CHECK(report.by_reason[0].reason == "keep_recent");
    CHECK(report.by_reason[0].count == 79);
}

TEST_CASE("report: unpaired calls and results are counted") {
    const Report report = report_of(body(list(user("hi"), result("nobody", big), call("a", "A"), user("wait"),
                                              assistant("b"), result("a", big), call("c", "C"))));
    CHECK(report.unpaired_calls == 2);
    CHECK(report.unpaired_results == 2);
    CHECK_FALSE(report.engaged);
}

TEST_CASE("report: the horizon is the number of messages that were open") {
    const Json document = body(support::reads(3));  // seven messages
    CHECK(coppice::plan(document, Pruner()).horizon == 7);
    // the requests ended at messages 1, 3, 5 and 7
    CHECK(coppice::plan(document, coppice::Pipeline<coppice::Stepped<2>, coppice::KeepRecent<1>>()).horizon ==
          7);
    CHECK(coppice::plan(document, coppice::Pipeline<coppice::Stepped<3>, coppice::KeepRecent<1>>()).horizon ==
          5);
    CHECK(coppice::plan(document, coppice::Pipeline<coppice::Stepped<9>, coppice::KeepRecent<1>>()).horizon ==
          0);
}

TEST_CASE("report: without a ceiling nothing is said about a target") {
    const Report report = report_of(busy());
    CHECK_FALSE(report.under_target.has_value());
    CHECK(report.ceiling_why.empty());
}

TEST_CASE("report: a reached target is reported") {
    const Json document = body(support::reads(10));
    const Report report =
        coppice::plan(document, coppice::Pipeline<coppice::Ceiling<coppice::Size{20'000}, 1>>());
    REQUIRE(report.under_target.has_value());
    CHECK(*report.under_target);
    CHECK(report.ceiling_why.empty());
    CHECK(document.dump().size() - report.saved_bytes <= 20'000);
}

TEST_CASE("report: a target that was not reached is reported with the reason") {
    const Json document =
        body(list(user(std::string(50'000, 'u')), call("a", "A"), result("a", big), assistant("done")));
    const Report report =
        coppice::plan(document, coppice::Pipeline<coppice::Ceiling<coppice::Size{20'000}, 1>>());
    REQUIRE(report.under_target.has_value());
    CHECK_FALSE(*report.under_target);
    CHECK_FALSE(report.ceiling_why.empty());
    CHECK(document.dump().size() - report.saved_bytes > 20'000);
}

TEST_CASE("report: as JSON it says what it says") {
    const Report report = report_of(busy());
    const Json written = coppice::to_json(report);
    CHECK(written.at("engaged") == true);
    CHECK_FALSE(written.contains("why"));
    CHECK(written.at("dialect") == "anthropic");
    CHECK(written.at("saved_bytes") == report.saved_bytes);
    CHECK(written.at("first_changed_message") == *report.first_changed_message);
    CHECK(written.at("under_target").is_null());
    CHECK(written.at("unpaired_calls") == 0);
    CHECK(written.at("warnings").is_array());
    REQUIRE(written.at("edits").size() == report.edits.size());
    const Json& edit = written.at("edits").at(0);
    for (const std::string key :
         {"message", "block", "path", "reason", "id", "tool", "replacement", "bytes_before", "bytes_after"}) {
        CHECK(edit.contains(key));
    }
    CHECK(edit.at("reason") == report.edits[0].reason);
    REQUIRE(written.at("by_reason").size() == report.by_reason.size());
    for (const coppice::ReasonTotal& total : report.by_reason) {
        CHECK(written.at("by_reason").at(total.reason).at("count") == total.count);
        CHECK(written.at("by_reason").at(total.reason).at("saved_bytes") == total.saved_bytes);
    }
}

TEST_CASE("report: as JSON it says why nothing changed") {
    const Json written = coppice::to_json(coppice::plan(Json(42), Pruner()));
    CHECK(written.at("engaged") == false);
    CHECK_FALSE(written.at("why").get<std::string>().empty());
    CHECK(written.at("dialect") == "");
    CHECK(written.at("first_changed_message").is_null());
    CHECK(written.at("edits").empty());
    CHECK(written.at("by_reason").is_object());
}

TEST_CASE("report: both kinds of DOM can hold it") {
    const Report report = report_of(busy());
    CHECK(coppice::to_json<nlohmann::json>(report) == nlohmann::json::parse(coppice::to_json(report).dump()));
}

TEST_CASE("report: it can be written whatever bytes ids tools and fields hold") {
    const std::string bad = "bad \xFF\xC0\xAF\xED\xA0\xBD bytes";
    Json messages = list(user("start"));
    for (int i = 0; i < 3; ++i) {
        support::add_pair<Json>(messages, bad, bad, Json{{"path", bad}, {bad, list(Json{{"content", big}})}},
                                big + std::to_string(i));
    }
    messages.push_back(assistant("done"));
    const Report report = report_of(body(messages));
    CHECK(report.edits.size() == 4);
    CHECK_NOTHROW(static_cast<void>(coppice::to_json(report).dump()));
}
