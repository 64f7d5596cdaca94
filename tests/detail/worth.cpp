// SPDX-License-Identifier: MIT
#include <coppice/detail/worth.hpp>

#include "../../examples/session_dialects.hpp"
#include "../../examples/session_generator.hpp"
#include "support/builders.hpp"
#include "support/requests.hpp"
#include "support/six.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::BlockPlace;
using coppice::CacheRules;
using coppice::Prices;
using coppice::Report;
using coppice::Size;
using Json = nlohmann::ordered_json;
using support::assistant;
using support::assistant_blocks;
using support::body;
using support::call;
using support::call_block;
using support::list;
using support::result;
using support::Six;
using support::text;
using support::thinking;
using support::user;

// Moves at the requests with these numbers; finds any prefix, however short.
struct At {
    static constexpr std::string_view name = "at";
    struct State {};
    std::vector<std::size_t> numbers{};
    Prices prices{1250, 100};
    CacheRules rules{.look_back = 0, .minimum_tokens = 0};
    bool looks = false;

    bool moves(State&, const coppice::Request& request) const {
        if (looks) { request.reclaim(rules); }
        return std::find(numbers.begin(), numbers.end(), request.number) != numbers.end();
    }
};

constexpr coppice::KeepRecent<1, Size{300}> keep_one{};

// Clears inputs once there are nine messages.
struct Late {
    static constexpr std::string_view name = "late";
    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
        if (transcript.horizon() < 9) { return; }
        coppice::BulkyInputClear<0, Size{300}>{}.apply(transcript, plan);
    }
};

Report planned(const Json& document, const At& cadence) {
    return coppice::plan(document, coppice::Pipeline{keep_one, cadence, Six{}}, coppice::Dialect::anthropic);
}

// A message of exactly this many bytes: {"role":"user","content":"..."} has 28 beside its words.
Json user_of(std::size_t bytes) { return user(std::string(bytes - 28, 'u')); }
// {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"p":"..."}}]} has 92.
Json call_of(const std::string& id, std::size_t bytes) {
    return call(id, "Read", Json{{"p", std::string(bytes - 92, 'p')}});
}
// {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"..."}]} has 81.
Json result_of(const std::string& id, std::size_t bytes) { return result(id, std::string(bytes - 81, 'r')); }

// A body whose frame has 100 bytes.
Json framed(Json messages) {
    Json document = {{"model", ""}};
    document["messages"] = Json::array();
    document["model"] = std::string(100 - document.dump().size(), 'm');
    document["messages"] = std::move(messages);
    return document;
}

// A frame of 100 bytes, the user's 99, and calls of 199 and results of 399, each with a comma. Bodies of 1, 3, 5, 7
// messages have 199, 799, 1399 and 1999 bytes. A cleared result spares 399 - 81 - 6 = 312.
Json round_figures(std::size_t pairs) {
    Json messages = list(user_of(99));
    for (std::size_t i = 0; i < pairs; ++i) {
        const std::string id(1, static_cast<char>('a' + i));
        messages.push_back(call_of(id, 199));
        messages.push_back(result_of(id, 399));
    }
    return framed(std::move(messages));
}

bool is_near(double left, double right) { return left - right < 1e-6 && right - left < 1e-6; }

}  // namespace

TEST_CASE("worth: the bodies of these tests have the sizes that they say") {
    CHECK(round_figures(0).dump().size() == 199);
    CHECK(round_figures(1).dump().size() == 799);
    CHECK(round_figures(3).dump().size() == 1999);
}

TEST_CASE("worth: a first request costs what it costs") {
    const Report report = planned(round_figures(0), At{{1}});
    CHECK(report.tokens_before == 49);
    CHECK(report.tokens_after == 49);
    CHECK_FALSE(report.rewrites);
    CHECK(report.net_tokens == 0);
    CHECK(report.tokens_rebilled == 0);
    CHECK_FALSE(report.first_rewritten_message);
    CHECK_FALSE(report.break_even_requests);
    // one that comes with a history: all of that is asked about once more, but the last request was sent before
    const Json history = round_figures(3);
    const Report nothing = planned(history, At{});
    CHECK(nothing.tokens_before == 1999 / 4);
    CHECK(nothing.net_tokens == 0);
    CHECK_FALSE(nothing.rewrites);
}

TEST_CASE("worth: a rewrite costs what is read anew and spares what is gone") {
    const Report report = planned(round_figures(3), At{{4}});
    REQUIRE(report.edits.size() == 1);
    CHECK(report.edits[0].message == 2);
    CHECK(report.rewrites);
    CHECK(report.first_rewritten_message == 2);
    CHECK(report.tokens_before == 1999 / 4);
    CHECK(report.tokens_after == (1999 - 312) / 4);
    // cached were 1,399 bytes; 399 stand before the first change (frame, two messages, one comma), and 312 are gone
    CHECK(report.tokens_rebilled == (1399 - 399 - 312) / 4);
    // as it was: 1,399 read and 600 written; now 399 read and 1,288 written. In thousandths of tokens, four bytes each:
    //   139,900 + 750,000 - 39,900 - 1,610,000 = -760,000
    CHECK(is_near(report.net_tokens, -760.0 / 4));
    // 688 bytes cost 1,150 more each, and 312 are spared at 100 each: 791,200 / 31,200 = 25.4
    CHECK(report.break_even_requests == 26.0);
    CHECK(report.suggested_breakpoint == BlockPlace{1, 0});
}

TEST_CASE("worth: of a cold cache nothing is read, and nothing that was there is lost") {
    coppice::Ledger ledger;
    ledger.note_cold(7);
    const Json document = round_figures(3);
    const coppice::Pipeline pipeline{keep_one, At{.numbers = {4}}, Six{}};
    const Report report = coppice::plan(document, pipeline, {ledger, coppice::Dialect::anthropic});
    REQUIRE(report.rewrites);
    CHECK(report.tokens_rebilled == 0);
    CHECK(report.break_even_requests == 0.0);
    // all that is sent is written, and without the rewrite that would have been all there is
    const auto gone = static_cast<double>(report.tokens_before - report.tokens_after);
    CHECK(report.net_tokens == doctest::Approx(1.25 * gone).epsilon(0.01));
    // what follows is served as ever
    coppice::Ledger earlier;
    earlier.note_cold(5);
    CHECK(coppice::plan(document, pipeline, {earlier, coppice::Dialect::anthropic}).tokens_rebilled > 0);
}

TEST_CASE("worth: while nothing is rewritten, what is gone is not read") {
    const Report report = planned(round_figures(4), At{{4}});
    CHECK(report.edits.size() == 1);
    CHECK_FALSE(report.rewrites);
    CHECK(report.tokens_rebilled == 0);
    CHECK_FALSE(report.break_even_requests);
    // 312 bytes at 100 thousandths
    CHECK(is_near(report.net_tokens, 31.2 / 4));
}

TEST_CASE("worth: what an earlier rewrite spared is none of the next one's") {
    const Report report = planned(round_figures(4), At{{4, 5}});
    CHECK(report.edits.size() == 2);
    CHECK(report.first_rewritten_message == 4);
    // cached were 1,999 - 312 bytes; before the change stand 399 + 1 + 399 - 312 + 1 + 199, and 312 more are gone
    CHECK(report.tokens_rebilled == (1687 - 687 - 312) / 4);
    // as it was: 1,999 read, 600 written; now 687 read and 2,599 - 624 - 687 written
    //   199,900 + 750,000 - 68,700 - 1,610,000 = -728,800
    CHECK(is_near(report.net_tokens, -728.8 / 4));
    // spared by this rewrite are 312, not 624
    CHECK(report.break_even_requests == 26.0);
}

TEST_CASE("worth: prices are those of the cadence") {
    // reading costs as much as writing: only what is gone counts
    Report report = planned(round_figures(3), At{.numbers = {4}, .prices = {1000, 1000}});
    CHECK(is_near(report.net_tokens, 312.0 / 4));
    CHECK(report.break_even_requests == 0.0);
    // reading costs nothing: a rewrite never pays
    report = planned(round_figures(3), At{.numbers = {4}, .prices = {1000, 0}});
    CHECK(report.rewrites);
    CHECK_FALSE(report.break_even_requests);
    // (600 - 1,288) * 1,000
    CHECK(is_near(report.net_tokens, -688.0 / 4));
    // without a cadence that has some, those of Anthropic
    const coppice::Pipeline every{keep_one, Six{}};
    const Report plain = coppice::plan(round_figures(3), every);
    // below 1,024 tokens nothing is found: all that stays of 1,399 is read anew
    CHECK(plain.tokens_rebilled == (1399 - 312) / 4);
}

TEST_CASE("worth: what is not found behind a rewrite is read anew from the frame on") {
    // entries: user, call, result, call, result, call, result; the third is changed, five blocks behind
    const auto rebilled = [](CacheRules rules) {
        return planned(round_figures(3), At{.numbers = {4}, .rules = rules}).tokens_rebilled;
    };
    CHECK(rebilled({.look_back = 5, .minimum_tokens = 0}) == (1399 - 399 - 312) / 4);
    CHECK(rebilled({.look_back = 4, .minimum_tokens = 0}) == (1399 - 100 - 312) / 4);
    // 399 bytes are 99 tokens
    CHECK(rebilled({.look_back = 0, .minimum_tokens = 99}) == (1399 - 399 - 312) / 4);
    CHECK(rebilled({.look_back = 0, .minimum_tokens = 100}) == (1399 - 312) / 4);
    // and at the second rewrite the entries in front of the first one hold what that changed
    const auto again = [](CacheRules rules) {
        return planned(round_figures(4), At{.numbers = {4, 5}, .rules = rules}).tokens_rebilled;
    };
    CHECK(again({.look_back = 20, .minimum_tokens = 0}) == (1687 - 100 - 312) / 4);
    CHECK(again({.look_back = 0, .minimum_tokens = 0}) == (1687 - 687 - 312) / 4);
}

TEST_CASE("worth: tokens are what was billed") {
    coppice::Ledger ledger;
    // the second request has 799 bytes, and was billed one token each
    ledger.note_billed(3, 799);
    const coppice::Pipeline pipeline{keep_one, At{{4}}, Six{}};
    const Report report = coppice::plan(round_figures(3), pipeline, ledger);
    CHECK(report.tokens_before == 1999);
    CHECK(report.tokens_after == 1999 - 312);
    CHECK(is_near(report.net_tokens, -760.0));
}

TEST_CASE("worth: a breakpoint stands before the first change of this rewrite or of the next one") {
    const auto place = [](const Json& messages, const auto& pipeline) {
        return coppice::plan(body(messages), pipeline).suggested_breakpoint;
    };
    const std::string big(400, 'x');
    const Json last = list(call("z", "Read"), result("z", big), assistant("done"), user("and"));
    const auto with = [&](Json messages) {
        for (const Json& message : last) { messages.push_back(message); }
        return messages;
    };
    const coppice::Pipeline results{keep_one, At{{4}}, Six{}};
    const coppice::Pipeline inputs{coppice::BulkyInputClear<0, Size{300}>{}, At{{4}}, Six{}};
    // behind the call
    CHECK(place(with(list(user("go"), call("a", "Read"), result("a", big))), results) == BlockPlace{1, 0});
    // behind the other result in its message, which stays since it is small
    const Json two = list(user("go"), assistant_blocks(call_block("a", "Read"), call_block("b", "Read")),
                          support::user_blocks(support::result_block("a", "ok"), support::result_block("b", big)));
    CHECK(place(with(two), results) == BlockPlace{2, 0});
    // behind the text in front of the call
    const Json input = {{"content", big}};
    const Json write = call_block("a", "Write", input);
    CHECK(place(with(list(user("go"), assistant_blocks(text("hm"), write), result("a", "ok"))), inputs) ==
          BlockPlace{1, 0});
    // reasoning carries none
    CHECK(place(with(list(user("go"), assistant_blocks(text("hm"), thinking(), write), result("a", "ok"))), inputs) ==
          BlockPlace{1, 0});
    CHECK(place(with(list(user("go"), assistant_blocks(thinking(), write), result("a", "ok"))), inputs) ==
          BlockPlace{0, 0});
    // nothing is known of a next rewrite where nobody has looked
    const Json reads = with(list(user("go"), call("a", "Read"), result("a", big)));
    CHECK_FALSE(place(reads, coppice::Pipeline{keep_one, At{}, Six{}}));
    CHECK(place(reads, coppice::Pipeline{keep_one, At{.looks = true}, Six{}}) == BlockPlace{1, 0});
    // and where nothing will change, none is needed
    CHECK_FALSE(place(reads, coppice::Pipeline{coppice::KeepRecent<9>{}, At{.looks = true}, Six{}}));
}

TEST_CASE("worth: a breakpoint is counted in the body that is sent, without dropped reasoning") {
    const std::string big(400, 'x');
    const Json write = {{"content", big}};
    Json messages = list(user("one"), assistant_blocks(thinking("a"), text("hm"), call_block("a", "Write", write)),
                         result("a", "ok"), assistant_blocks(thinking("b"), text("done")), user("two"),
                         assistant("yes"), user("three"), assistant("well"), user("four"));
    // dropped at the fourth request; at the last one, the input goes
    const coppice::Pipeline pipeline{coppice::StaleReasoning<1>{}, Late{}, At{{4, 5}}, Six{}};
    const Report report = coppice::plan(body(messages), pipeline);
    REQUIRE(report.edits.size() == 3);
    REQUIRE(report.rewrites);
    CHECK(report.first_rewritten_message == 1);
    // the text had number 1, and stands first now
    CHECK(report.suggested_breakpoint == BlockPlace{1, 0});
    // the thinking itself is the first change: what stands before it is the user's
    while (messages.size() > 7) { messages.erase(messages.size() - 1); }
    const Report dropping = coppice::plan(body(messages), pipeline);
    REQUIRE(dropping.edits.size() == 2);
    CHECK(dropping.suggested_breakpoint == BlockPlace{0, 0});
}

TEST_CASE("worth: where providers have no breakpoints none is suggested") {
    coppice_examples::SessionShape shape;
    shape.results = 30;
    const Json made = coppice_examples::make_session(shape);
    const coppice::Pipeline pipeline{coppice::KeepRecent<2, Size{400}>{}, coppice::EveryRequest<>{}};
    for (const coppice_examples::SessionDialect dialect : coppice_examples::session_dialects) {
        const Report report = coppice::plan(coppice_examples::render(dialect, made), pipeline);
        CAPTURE(report.dialect);
        REQUIRE(report.engaged);
        const bool has = report.dialect == "anthropic" || report.dialect == "bedrock";
        if (!has) { CHECK_FALSE(report.suggested_breakpoint); }
        if (has && report.rewrites) { CHECK(report.suggested_breakpoint); }
    }
}

TEST_CASE("worth: an edit says of what it is, and whether that is still in sight elsewhere") {
    const auto read = [](const std::string& id, const std::string& path) {
        return call(id, "Read", Json{{"file_path", path}});
    };
    const Json messages = list(user("go"), read("a", "/f"), result("a", std::string(400, '1')), read("b", "/g"),
                               result("b", std::string(400, '2')), read("c", "/f"), result("c", std::string(400, '3')),
                               read("d", "/h"), result("d", std::string(40, '4')), read("e", "/f/"),
                               result("e", "ok"), assistant("done"));
    const Report report = coppice::plan(body(messages), coppice::Pipeline{keep_one, Six{}});
    REQUIRE(report.edits.size() == 2);
    CHECK(report.edits[0].identity == "/f");
    CHECK_FALSE(report.edits[0].out_of_sight);
    CHECK(report.edits[1].identity == "/g");
    CHECK(report.edits[1].out_of_sight);

    // what is a stub itself is no sight, neither of now nor of before
    const coppice::Pipeline all{coppice::KeepRecent<0, Size{300}>{}, Six{}};
    for (const coppice::EditRecord& edit : coppice::plan(body(messages), all).edits) { CHECK(edit.out_of_sight); }
    Json stubbed = messages;
    stubbed[6] = result("c", "[gone]");
    for (const coppice::EditRecord& edit : coppice::plan(body(stubbed), all).edits) { CHECK(edit.out_of_sight); }

    // a call's input is no result, nor is an image gone with its result
    const Json write = {{"file_path", "/w"}, {"content", std::string(400, 'w')}};
    const Json inputs = list(user("go"), call("a", "Write", write), result("a", "ok"), assistant("done"));
    const Report cleared = coppice::plan(body(inputs), coppice::Pipeline{coppice::BulkyInputClear<0, Size{300}>{}});
    REQUIRE(cleared.edits.size() == 1);
    CHECK(cleared.edits[0].identity == "/w");
    CHECK_FALSE(cleared.edits[0].out_of_sight);
    // and what has no path or command is nowhere else
    const Json unnamed = list(user("go"), call("a", "Read"), result("a", std::string(400, '1')), call("b", "Read"),
                              result("b", std::string(400, '2')), assistant("done"));
    const Report lost = coppice::plan(body(unnamed), coppice::Pipeline{keep_one});
    REQUIRE(lost.edits.size() == 1);
    CHECK(lost.edits[0].identity == "");
    CHECK(lost.edits[0].out_of_sight);
}

namespace {

// What requests cost where any beginning is found that the request before had: read off the bodies themselves, of
// ASCII, in thousandths of a byte.
class IdealCache {
public:
    explicit IdealCache(Prices prices) : prices_(prices) {}

    double cost(const Json& sent) {
        const Json& history = *support::history_of(sent);
        Json frame = sent;
        *support::history_of(frame) = Json::array();
        std::size_t served = before_.empty() ? 0 : frame.dump().size();
        std::size_t all = frame.dump().size();
        bool same = true;
        std::vector<std::string> now;
        for (const Json& message : history) {
            now.push_back(message.dump());
            const std::size_t size = now.back().size() + (now.size() > 1 ? 1 : 0);
            same = same && now.size() <= before_.size() && before_[now.size() - 1] == now.back();
            if (same) { served += size; }
            all += size;
        }
        before_ = std::move(now);
        return static_cast<double>(served * prices_.read + (all - served) * prices_.write);
    }

private:
    Prices prices_;
    std::vector<std::string> before_;
};

}  // namespace

TEST_CASE("worth: the tokens that are left are those of the body that is sent") {
    using namespace coppice;
    const Pipeline nothing{KeepRecent<1000>{}};
    const auto check = [&](const std::string& name, const Json& whole, const auto& pipeline) {
        CAPTURE(name);
        Json sent = whole;
        const Report report = coppice::prune(sent, pipeline);
        CHECK(report.engaged);
        CHECK(report.tokens_before == coppice::plan(whole, nothing).tokens_before);
        CHECK(report.tokens_after == coppice::plan(sent, nothing).tokens_before);
    };
    coppice_examples::SessionShape shape;
    shape.results = 60;
    shape.unicode_share = 0.5;
    shape.image_share = 0.1;
    shape.image_bytes = 30'000;
    support::for_each_generated_session(shape, [&](const std::string& name, const Json& whole) {
        check(name, whole, Pipeline{KeepRecent<2, Size{300}, 1>{}, BulkyInputClear<1, Size{300}>{}, Dedup<>{}});
        check(name, whole, Pipeline{CapOnArrival<chars(3000), 600, 400>{}, KeepRecent<5, Size{300}>{}});
        check(name, whole, Pipeline{StaleMedia<1>{}, StaleReasoning<1>{}, KeepRecent<9, Size{300}>{}});
    });
    // and of results that are written piece by piece, in a script of three bytes a character
    std::string words;
    for (std::size_t i = 0; i < 6000; ++i) { words += "\u4e2d"; }
    const Json call = {{"functionCall", {{"name", "run"}, {"args", {{"command", "ls"}}}}}};
    const Json answer = {{"functionResponse", {{"name", "run"}, {"response", {{"output", words}}}}}};
    const Json contents = list(Json{{"role", "user"}, {"parts", list(Json{{"text", "go"}})}},
                               Json{{"role", "model"}, {"parts", list(call)}},
                               Json{{"role", "user"}, {"parts", list(answer)}});
    check("pieces", Json{{"contents", contents}},
          Pipeline{CapOnArrival<chars(3000), 600, 400>{}, KeepRecent<5, Size{300}>{}});
}

TEST_CASE("worth: the sum over a session is what the bodies that were sent cost less") {
    coppice_examples::SessionShape shape;
    shape.results = 60;
    shape.unicode_share = 0;
    shape.image_share = 0;
    const Json made = coppice_examples::make_session(shape);
    constexpr CacheRules any{.look_back = 0, .minimum_tokens = 0};
    const auto check = [&](const Json& whole, Prices prices, const auto& pipeline) {
        support::Requests requests(whole);
        IdealCache pruned(prices), unpruned(prices);
        double net = 0;
        double ideal = 0;
        std::size_t rewrites = 0;
        coppice::Workspace workspace;
        while (requests.next()) {
            Json sent = requests.body();
            const Report report = coppice::prune(sent, pipeline, workspace);
            net += report.net_tokens;
            rewrites += report.rewrites;
            const double as_it_was = unpruned.cost(requests.body());
            const double now = pruned.cost(sent);
            ideal += (as_it_was - now) / 4000;
            CAPTURE(requests.body()["messages"].size());
            REQUIRE(net - ideal < 0.01);
            REQUIRE(ideal - net < 0.01);
        }
        CHECK(rewrites > 1);
    };
    using namespace coppice;
    constexpr Prices half = prices::openai_half;
    const auto render = [&](coppice_examples::SessionDialect dialect) {
        std::string bytes = coppice_examples::render(dialect, made).dump();
        // all ASCII, a quarter of a token each
        for (char& c : bytes) { c = static_cast<unsigned char>(c) < 0x80 ? c : '?'; }
        return Json::parse(bytes);
    };
    const Json anthropic = render(coppice_examples::SessionDialect::anthropic);
    check(anthropic, half, Pipeline{SkiRental<half, Size{0}, any>{}, StaleReasoning<2>{}, Dedup<>{},
                                    KeepRecent<3, Size{400}>{}, BulkyInputClear<2, Size{400}>{}});
    check(anthropic, {1250, 100}, Pipeline{At{.numbers = {9, 10, 20, 33, 34}}, Dedup<>{}, KeepRecent<3, Size{400}>{}});
    check(anthropic, {1250, 100},
          Pipeline{At{.numbers = {9, 10, 20, 33, 34}, .looks = true}, Dedup<>{}, KeepRecent<3, Size{400}>{}});
    check(anthropic, {1250, 100},
          Pipeline{At{.numbers = {9, 10, 20, 33}}, CapOnArrival<chars(4000), 1200, 800>{}, KeepRecent<3, Size{400}>{}});
    check(render(coppice_examples::SessionDialect::openai_chat), half,
          Pipeline{SkiRental<half, Size{0}, any>{}, KeepRecent<3, Size{400}>{}, BulkyInputClear<2, Size{400}>{}});
}

// --- what a summary could stand for --------------------------------------------------------------------------------

namespace {

using coppice::CompactionRange;

// A result that is worth clearing.
Json long_text(std::size_t number) { return std::to_string(number) + std::string(12'000, 'x'); }

std::optional<CompactionRange> compaction_of(const Json& document) {
    const coppice::Pipeline pruner{coppice::KeepRecent<1>{}};
    const Report report = coppice::plan(document, pruner);
    Json after = document;
    CHECK(coppice::prune(after, pruner).suggested_compaction == report.suggested_compaction);
    if (report.suggested_compaction) { CHECK(report.suggested_compaction->tokens < report.tokens_after); }
    return report.suggested_compaction;
}

Json pair_of(std::size_t number) {
    const std::string id = "c" + std::to_string(number);
    return list(call(id, "Read"), result(id, long_text(number)));
}

Json with_pairs(std::size_t count) {
    Json messages = list(user("start"));
    for (std::size_t i = 0; i < count; ++i) {
        for (const Json& message : pair_of(i)) { messages.push_back(message); }
    }
    messages.push_back(assistant("done"));
    return messages;
}

}  // namespace

TEST_CASE("worth: a summary could stand for what was pruned, from the first call to the last result") {
    const auto range = compaction_of(body(with_pairs(4)));
    REQUIRE(range);
    // the results at 2, 4 and 6
    CHECK(range->first_message == 1);
    CHECK(range->end_message == 7);
    CHECK(range->user_messages == 0);
    CHECK(range->tokens < 400);
}

TEST_CASE("worth: it counts what the user says in it, which it should keep") {
    Json messages = with_pairs(2);
    for (const Json& message : with_pairs(3)) { messages.push_back(message); }
    for (std::size_t i = 7; i < messages.size(); ++i) {
        for (Json& block : messages[i]["content"]) {
            for (const char* id : {"id", "tool_use_id"}) {
                if (block.is_object() && block.contains(id)) { block[id] = "again " + block[id].get<std::string>(); }
            }
        }
    }
    const auto range = compaction_of(body(messages));
    REQUIRE(range);
    CHECK(range->first_message == 1);
    CHECK(range->end_message == 11);
    CHECK(range->user_messages == 1);
    // also what stands beside a result
    messages[2]["content"].push_back(text("and this"));
    CHECK(compaction_of(body(messages))->user_messages == 2);
}

TEST_CASE("worth: no call is cut off from its result, however they cross") {
    const auto asks = [](const char* id) {
        return Json{{"type", "function_call"}, {"call_id", id}, {"name", "Read"}, {"arguments", "{}"}};
    };
    const auto gives = [](const char* id, const Json& output) {
        return Json{{"type", "function_call_output"}, {"call_id", id}, {"output", output}};
    };
    // each call is made before the one before it is answered, and the last is answered behind all that was cleared
    const Json document{{"input", list(user("start"), asks("a"), asks("b"), gives("a", long_text(1)), asks("c"),
                                       gives("b", long_text(2)), assistant("hm"), gives("c", "short"), assistant("so"),
                                       asks("d"), gives("d", long_text(3)), assistant("done"))}};
    const Report report = coppice::plan(document, coppice::Pipeline{coppice::KeepRecent<1>{}});
    REQUIRE(report.edits.size() == 2);
    REQUIRE(report.suggested_compaction);
    CHECK(report.suggested_compaction->first_message == 1);
    CHECK(report.suggested_compaction->end_message == 8);
}

TEST_CASE("worth: no step of the model is cut in two") {
    const auto item = [](const char* type, const char* id) {
        Json out{{"type", type}, {type == std::string("reasoning") ? "id" : "call_id", id}};
        if (type == std::string("reasoning")) {
            out["summary"] = Json::array();
            out["encrypted_content"] = "c2ln";
        } else if (type == std::string("function_call")) {
            out["name"] = "Read";
            out["arguments"] = "{}";
        } else {
            out["output"] = long_text(static_cast<std::size_t>(id[0]));
        }
        return out;
    };
    const Json document{{"input", list(user("start"), item("reasoning", "r"), item("function_call", "a"),
                                       item("function_call_output", "a"), item("reasoning", "s"), item("function_call", "b"),
                                       item("function_call_output", "b"), assistant("done"))}};
    const Report report = coppice::plan(document, coppice::Pipeline{coppice::KeepRecent<1>{}});
    REQUIRE(report.suggested_compaction);
    CHECK(report.suggested_compaction->first_message == 1);
    CHECK(report.suggested_compaction->end_message == 4);
}

TEST_CASE("worth: no summary for little, for many requests at once, or where a call waits") {
    CHECK_FALSE(compaction_of(body(with_pairs(1))));
    Json messages = list(user("start"), call("a", "Read"), result("a", Json(std::string(2'500, 'x'))));
    for (const Json& message : pair_of(1)) { messages.push_back(message); }
    messages.push_back(assistant("done"));
    CHECK_FALSE(compaction_of(body(messages)));

    const coppice::Pipeline pruner{coppice::KeepRecent<1>{}};
    CHECK_FALSE(coppice::plan(Json{{"requests", list(Json{{"params", body(with_pairs(4))}}, Json{{"params", body(with_pairs(5))}})}},
                              pruner)
                    .suggested_compaction);

    Json open = with_pairs(4);
    open[3]["content"].push_back(call_block("open", "Read"));
    const Report report = coppice::plan(body(open), pruner, coppice::Dialect::anthropic);
    CHECK(report.edits.size() == 3);
    CHECK_FALSE(report.suggested_compaction);
}
