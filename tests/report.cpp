// SPDX-License-Identifier: MIT
#include <coppice/report.hpp>

#include <coppice/cadences/stepped.hpp>
#include <coppice/dom.hpp>
#include <coppice/policies.hpp>

#include "support/batches.hpp"
#include "support/builders.hpp"
#include "support/pruned.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::EditRecord;
using coppice::Report;
using Json = nlohmann::ordered_json;
using support::assistant;
using support::assistant_blocks;
using support::batch;
using support::batch_line;
using support::body;
using support::call;
using support::call_block;
using support::entry;
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
    std::vector<std::string_view> expected;
    for (const EditRecord& edit : report.edits) {
        bool known = false;
        for (const std::string_view reason : expected) { known = known || reason == edit.reason; }
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

TEST_CASE("report: as JSON it says what it is worth") {
    Report report;
    Json written = coppice::to_json(report);
    for (const std::string key : {"first_rewritten_message", "break_even_requests", "suggested_breakpoint",
                                  "suggested_compaction"}) {
        CAPTURE(key);
        CHECK(written.at(key).is_null());
    }
    CHECK(written.at("rewrites") == false);
    CHECK(written.at("saturated") == false);
    report.tokens_before = 1200;
    report.tokens_after = 800;
    report.rewrites = true;
    report.first_rewritten_message = 0;
    report.tokens_rebilled = 300;
    report.net_tokens = -12.5;
    report.break_even_requests = 7;
    report.suggested_breakpoint = coppice::BlockPlace{3, 1};
    report.suggested_compaction = coppice::CompactionRange{1, 7, 2, 900};
    report.saturated = true;
    EditRecord edit;
    edit.identity = "/src/a.c";
    edit.out_of_sight = true;
    report.edits.push_back(edit);
    written = coppice::to_json(report);
    CHECK(written.at("tokens_before") == 1200);
    CHECK(written.at("tokens_after") == 800);
    CHECK(written.at("rewrites") == true);
    CHECK(written.at("first_rewritten_message") == 0);
    CHECK(written.at("tokens_rebilled") == 300);
    CHECK(written.at("net_tokens") == -12.5);
    CHECK(written.at("break_even_requests") == 7.0);
    CHECK(written.at("suggested_breakpoint") == Json{{"message", 3}, {"block", 1}});
    CHECK(written.at("suggested_compaction") ==
          Json{{"first_message", 1}, {"end_message", 7}, {"user_messages", 2}, {"tokens", 900}});
    CHECK(written.at("saturated") == true);
    CHECK(written.at("edits").at(0).at("identity") == "/src/a.c");
    CHECK(written.at("edits").at(0).at("out_of_sight") == true);
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

namespace {

// Reads whose newest result stays; the others go.
Json reading_request(std::size_t count) {
    Json messages = support::reads(count);
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

constexpr coppice::Pipeline<coppice::KeepRecent<1>> keep_one;

// Nothing that tells a provider.
Json refused_request() { return Json{{"messages", list(user("hi"), assistant("hello"))}}; }

}  // namespace

TEST_CASE("report of a batch: every edit says which request it is in") {
    const auto p = support::pruned_once(batch(entry("a", reading_request(3)), entry("b", reading_request(1)),
                                              batch_line("c", reading_request(4))),
                                        keep_one);
    CHECK(p.report.requests == 3);
    std::vector<std::size_t> where;
    for (const EditRecord& edit : p.report.edits) { where.push_back(edit.request); }
    CHECK(where == std::vector<std::size_t>{0, 0, 2, 2, 2});
    CHECK(p.report.warnings.empty());
    CHECK(p.report.why.empty());
    const bool second_untouched = p.after["requests"][1] == p.before["requests"][1];
    CHECK(second_untouched);
}

TEST_CASE("report of a batch: its figures are those of its requests added up") {
    const std::vector<Json> requests = {reading_request(3), busy(), reading_request(6)};
    Json whole = batch(entry("a", requests[0]), entry("b", requests[1]), entry("c", requests[2]));
    const std::size_t before = whole.dump().size();
    const Report together = coppice::prune(whole, Pruner());
    CHECK(together.saved_bytes == before - whole.dump().size());

    std::size_t saved = 0;
    std::size_t next = 0;
    std::size_t horizon = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        Json alone = requests[i];
        const Report report = coppice::prune(alone, Pruner());
        const bool same = whole["requests"][i]["params"] == alone;
        CHECK(same);
        saved += report.saved_bytes;
        horizon = std::max(horizon, report.horizon);
        for (const EditRecord& edit : report.edits) {
            REQUIRE(next < together.edits.size());
            const EditRecord& there = together.edits[next++];
            CHECK(there.request == i);
            CHECK(there.message == edit.message);
            CHECK(there.block == edit.block);
            CHECK(there.path == edit.path);
            CHECK(there.reason == edit.reason);
            CHECK(there.id == edit.id);
            CHECK(there.tool == edit.tool);
            CHECK(there.replacement == edit.replacement);
            CHECK(there.bytes_before == edit.bytes_before);
            CHECK(there.bytes_after == edit.bytes_after);
        }
    }
    CHECK(next == together.edits.size());
    CHECK(saved == together.saved_bytes);
    CHECK(horizon == together.horizon);
    std::size_t reasons = 0;
    std::size_t count = 0;
    for (const coppice::ReasonTotal& total : together.by_reason) {
        reasons += total.saved_bytes;
        count += total.count;
    }
    CHECK(reasons == together.saved_bytes);
    CHECK(count == together.edits.size());
    CHECK(together.by_reason.size() == 4);
}

TEST_CASE("report of a batch: unpaired calls and results of all requests are counted") {
    const Json odd = body(list(user("hi"), result("nobody", "x"), call("a", "A")));
    const Report report = coppice::plan(batch(entry("a", odd), entry("b", odd)), Pruner());
    CHECK(report.unpaired_calls == 2);
    CHECK(report.unpaired_results == 2);
}

TEST_CASE("report of a batch: a request that is refused stays as it is and a warning says so") {
    for (const bool refused_first : {false, true}) {
        CAPTURE(refused_first);
        Json good = entry("good", reading_request(3));
        Json odd = entry("odd", refused_request());
        const auto p = support::pruned_once(refused_first ? batch(odd, good) : batch(good, odd), keep_one);
        CHECK(p.report.engaged);
        CHECK(p.report.requests == 2);
        CHECK(p.report.dialect == "anthropic");
        CHECK(p.report.why.empty());
        const std::size_t at = refused_first ? 0 : 1;
        const bool untouched = p.after["requests"][at] == p.before["requests"][at];
        CHECK(untouched);
        CHECK(p.report.edits.size() == 2);
        for (const EditRecord& edit : p.report.edits) { CHECK(edit.request == 1 - at); }
        REQUIRE(p.report.warnings.size() == 1);
        CHECK(p.report.warnings[0] ==
              "1 of 2 requests stay as they are: nothing that tells which provider this body is for");
    }
}

TEST_CASE("report of a batch: what is no request at all is refused alone") {
    const auto p = support::pruned_once(
        batch(entry("a", reading_request(3)), 7, entry("c", "text"), entry("d", reading_request(2))),
        keep_one);
    CHECK(p.report.requests == 4);
    CHECK(p.report.edits.size() == 3);
    CHECK(p.report.edits.back().request == 3);
    REQUIRE(p.report.warnings.size() == 1);
    CHECK(p.report.warnings[0] == "2 of 4 requests stay as they are: no list of messages, contents or input");
}

TEST_CASE("report of a batch: nothing done says why and warns of nothing") {
    const Json idle = batch(entry("a", refused_request()), entry("b", refused_request()));
    const Report refused = coppice::plan(idle, keep_one);
    CHECK_FALSE(refused.engaged);
    CHECK(refused.why == "nothing that tells which provider this body is for");
    CHECK(refused.requests == 2);
    CHECK(refused.warnings.empty());

    const Report closed = coppice::plan(batch(entry("a", reading_request(1))), keep_one);
    CHECK_FALSE(closed.engaged);
    CHECK(closed.why == "nothing to clear");
}

TEST_CASE("report of a batch: an empty one says so") {
    const Report report = coppice::plan(batch(), keep_one);
    CHECK_FALSE(report.engaged);
    CHECK(report.requests == 0);
    CHECK(report.why == "an empty batch");
}

TEST_CASE("report of a batch: one request above the target is not under it") {
    const coppice::Pipeline<coppice::Ceiling<coppice::Size{20'000}, 1>> ceiling;
    const Json fits = reading_request(10);
    const Json too_big =
        body(list(user(std::string(50'000, 'u')), call("a", "A"), result("a", big), assistant("done")));
    const Report both = coppice::plan(batch(entry("a", fits), entry("b", fits)), ceiling);
    REQUIRE(both.under_target.has_value());
    CHECK(*both.under_target);
    CHECK(both.ceiling_why.empty());
    for (const Json& mixed :
         {batch(entry("a", fits), entry("b", too_big)), batch(entry("a", too_big), entry("b", fits))}) {
        const Report report = coppice::plan(mixed, ceiling);
        REQUIRE(report.under_target.has_value());
        CHECK_FALSE(*report.under_target);
        CHECK(report.ceiling_why == coppice::plan(too_big, ceiling).ceiling_why);
    }
}

TEST_CASE("report of a batch: as JSON its edits carry their request") {
    const Json alone = coppice::to_json(coppice::plan(reading_request(3), keep_one));
    CHECK_FALSE(alone.at("edits").at(0).contains("request"));
    const Json together = coppice::to_json(
        coppice::plan(batch(entry("a", reading_request(1)), entry("b", reading_request(3))), keep_one));
    REQUIRE(together.at("edits").size() == 2);
    CHECK(together.at("edits").at(0).at("request") == 1);
    CHECK(together.at("repeated_keys") == 0);
    CHECK(together.at("first_changed_offset").is_null());
}

TEST_CASE("report: a plain request is one request without a position in bytes") {
    const Report report = report_of(busy());
    CHECK(report.requests == 1);
    CHECK(report.repeated_keys == 0);
    CHECK_FALSE(report.first_changed_offset.has_value());
    for (const EditRecord& edit : report.edits) { CHECK(edit.request == 0); }
}
