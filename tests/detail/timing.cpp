// SPDX-License-Identifier: MIT
#include <coppice/detail/timing.hpp>

#include "support/builders.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::Ledger;
using coppice::none;
using coppice::Size;
using coppice::detail::LedgerReader;
using coppice::detail::Timing;
using coppice::detail::TokenScale;
using Json = nlohmann::ordered_json;
using support::assistant;
using support::assistant_blocks;
using support::body;
using support::call_block;
using support::image;
using support::list;
using support::result;
using support::text;
using support::thinking;
using support::user;

// Moves at the requests with these numbers, and sees what could go where it is told to look.
struct At {
    static constexpr std::string_view name = "at";
    struct State {
        std::size_t moved = 0;
    };
    std::vector<std::size_t> numbers{};
    bool looks = false;
    std::vector<std::size_t>* told = nullptr;

    bool moves(State&, const coppice::Request& request) const {
        if (looks) { request.reclaim(); }
        for (const std::size_t number : numbers) {
            if (number == request.number) { return true; }
        }
        return false;
    }
    void moved(State&, const coppice::Request& request) const {
        if (told != nullptr) { told->push_back(request.messages); }
    }
};

// Is full at every request of even number.
struct Full {
    static constexpr std::string_view name = "full";
    struct State {
        bool even = false;
    };
    bool moves(State& state, const coppice::Request& request) const {
        state.even = request.number % 2 == 0;
        return false;
    }
    bool saturated(const State& state) const { return state.even; }
};

// user, then a call and a result of 1,000 characters each. Requests have 1, 3, 5, ... messages.
Json reads(std::size_t results) { return body(support::reads(results, 1000)); }

using coppice::KeepRecent;
constexpr KeepRecent<1, Size{500}> keep_one{};

template <class Cadence>
Timing timing_of(const Json& document, const Cadence& cadence, const Ledger* ledger = nullptr) {
    coppice::Workspace workspace;
    const coppice::Pipeline pipeline{keep_one, cadence};
    if (ledger != nullptr) {
        coppice::plan(document, pipeline, workspace, *ledger);
    } else {
        coppice::plan(document, pipeline, workspace);
    }
    return workspace.timing;
}

// A turn of the user's, of three steps with thinking each, on a model that binds it.
void add_turn(Json& messages, std::size_t number) {
    const std::string turn = std::to_string(number);
    messages.push_back(user("turn " + turn));
    for (const char* const step : {"a", "b", "c"}) {
        const std::string id = turn + step;
        messages.push_back(assistant_blocks(thinking("hm " + id), call_block(id, "Read", Json{{"file_path", id}})));
        messages.push_back(result(id, id + std::string(1000, 'x')));
    }
    messages.push_back(assistant_blocks(thinking("end " + turn), text("done")));
}

Json binding(Json messages) {
    Json document = body(std::move(messages));
    document["model"] = "claude-opus-5-5";
    document["thinking"] = Json{{"type", "adaptive"}};
    return document;
}

}  // namespace

TEST_CASE("timing: the ledger is read along with the requests") {
    Ledger ledger;
    ledger.note_cold(3);
    ledger.note_limit(4, 900);
    ledger.note_billed(4, 50);
    ledger.note_cold(6);
    ledger.note_billed(7, 70);
    ledger.note_limit(9, 500);
    LedgerReader reader(&ledger);
    CHECK(reader.limit() == none);
    reader.go_to(1);
    CHECK_FALSE(reader.cold());
    reader.go_to(3);
    CHECK(reader.cold());
    CHECK(reader.limit() == none);
    // no request has four or six messages: what is noted there is of the next one, but not what was billed
    reader.go_to(5);
    CHECK_FALSE(reader.cold());
    CHECK(reader.limit() == 900);
    CHECK_FALSE(reader.billed().has_value());
    reader.go_to(7);
    CHECK(reader.cold());
    CHECK(reader.billed() == 70);
    CHECK(reader.limit() == 900);
    reader.go_to(11);
    CHECK_FALSE(reader.cold());
    CHECK_FALSE(reader.billed().has_value());
    CHECK(reader.limit() == 500);

    LedgerReader without(nullptr);
    without.go_to(3);
    CHECK_FALSE(without.cold());
    CHECK(without.limit() == none);
}

TEST_CASE("timing: estimated tokens follow what was billed, within four times") {
    TokenScale scale;
    CHECK(scale.tokens(800) == 100);
    CHECK(scale.tokens(7) == 0);
    CHECK(scale.an_eighth() == 0.125);
    scale.learn(200, 800);
    CHECK(scale.tokens(800) == 200);
    // nothing is learnt from nothing
    scale.learn(5, 0);
    CHECK(scale.tokens(800) == 200);
    // the newest bill counts
    scale.learn(50, 800);
    CHECK(scale.tokens(800) == 50);
    scale.learn(1'000'000, 800);
    CHECK(scale.tokens(800) == 400);
    scale.learn(0, 800);
    CHECK(scale.tokens(800) == 25);
}

TEST_CASE("timing: a person speaks in a request or it only brings results") {
    Json messages = list(user("one"), user("more"));
    support::add_pair<Json>(messages, "a", "Read", Json::object(), "x");
    messages.push_back(assistant("done"));
    messages.push_back(user("two"));
    messages.push_back(user("and that"));
    coppice::Workspace workspace;
    const coppice::Pipeline pipeline{keep_one};
    const Json document = body(messages);
    coppice::plan(document, pipeline, workspace);
    const auto turn = [&](std::size_t count) { return coppice::detail::user_turn_of(workspace.transcript, count); };
    CHECK(turn(0) == none);
    CHECK(turn(1) == 0);
    CHECK(turn(4) == none);
    // ends with what the model said
    CHECK(turn(5) == none);
    CHECK(turn(6) == 5);
    const std::size_t last = turn(7);
    // the latest message with which a turn begins, behind the last word of the model
    CHECK(last >= 5);
    CHECK(workspace.transcript.starts_user_turn(last));
}

TEST_CASE("timing: without a rewrite nothing has moved") {
    const Timing timing = timing_of(reads(4), At{});
    CHECK(timing.horizon == 0);
    CHECK_FALSE(timing.moved);
    CHECK(timing.horizon_before == 0);
    CHECK(timing.cached == 7);
    CHECK(timing.changes == 0);
    CHECK(timing.next_change == none);
    CHECK_FALSE(timing.waits_for_user);
    CHECK_FALSE(timing.saturated);
    CHECK(timing.tokens_an_eighth == 0.125);
    // nothing was sent before the first request
    CHECK(timing_of(reads(0), At{}).cached == 0);
}

TEST_CASE("timing: the horizon is where it moved last, and where it stood before that") {
    const Json document = reads(6);  // seven requests, the last has 13 messages
    const Timing still = timing_of(document, At{{4, 6}});
    CHECK(still.horizon == 11);
    CHECK_FALSE(still.moved);
    CHECK(still.cached == 11);
    const Timing moved = timing_of(document, At{{4, 7}});
    CHECK(moved.horizon == 13);
    CHECK(moved.moved);
    CHECK(moved.horizon_before == 7);
    CHECK(moved.cached == 11);
    const Timing first = timing_of(document, At{{7}});
    CHECK(first.moved);
    CHECK(first.horizon_before == 0);
    std::vector<std::size_t> told;
    timing_of(document, At{.numbers = {4, 7}, .told = &told});
    CHECK(told == std::vector<std::size_t>{7, 13});
}

TEST_CASE("timing: changes are counted where somebody weighs them") {
    const Json document = reads(6);
    // at the fourth request three results, of which one is unread and one kept; at the sixth two more
    const Timing still = timing_of(document, At{{4, 6}, true});
    CHECK(still.changes == 3);
    CHECK(still.changes_before == 3);
    // the seventh request brings one more; results are the entries 2, 4, 6, ...
    CHECK(still.next_change == 8);
    const Timing moved = timing_of(document, At{{4, 7}, true});
    CHECK(moved.changes == 4);
    CHECK(moved.changes_before == 1);
    CHECK(moved.next_change == none);
    const Timing unseen = timing_of(document, At{{4, 7}});
    CHECK(unseen.changes == 0);
    CHECK(unseen.changes_before == 0);
}

TEST_CASE("timing: a rewrite at which nobody looked is known to those who look later") {
    const Json document = reads(6);
    // with the one result that was cleared at the fourth request the body is short enough
    Ledger limit;
    limit.note_limit(13, document.dump().size() / 4 - 200);
    CHECK(timing_of(document, At{}, &limit).moved);
    CHECK_FALSE(timing_of(document, At{{4}}, &limit).moved);
}

TEST_CASE("timing: changes are kept only where somebody weighed before the first one") {
    const Json document = reads(6);
    Ledger cold;
    cold.note_cold(13);
    const Timing late = timing_of(document, At{{4}}, &cold);
    CHECK(late.moved);
    CHECK(late.horizon_before == 7);
    CHECK(late.changes_before == 0);
    CHECK(late.changes == 0);
    cold.note_limit(3, 1'000'000);
    const Timing early = timing_of(document, At{{4}}, &cold);
    CHECK(early.moved);
    // one change at the fourth request, three at the seventh
    CHECK(early.changes_before == 1);
    CHECK(early.changes == 4);
}

TEST_CASE("timing: a cold cache moves the horizon where there is something to clear") {
    Ledger ledger;
    ledger.note_cold(5);
    // two results, the last one unread
    CHECK(timing_of(reads(4), At{}, &ledger).horizon == 0);
    ledger.note_cold(7);
    const Timing timing = timing_of(reads(4), At{}, &ledger);
    CHECK(timing.horizon == 7);
    CHECK_FALSE(timing.moved);
    CHECK(timing.changes == 1);
    CHECK(timing_of(reads(3), At{}, &ledger).moved);
}

TEST_CASE("timing: a limit moves the horizon when that is enough, or much") {
    const Json document = reads(8);
    const std::size_t tokens = document.dump().size() / 4;
    // six results can go, some 236 tokens each
    Ledger enough;
    enough.note_limit(17, tokens - 200);
    Timing timing = timing_of(document, At{}, &enough);
    CHECK(timing.moved);
    CHECK_FALSE(timing.saturated);
    // not enough, but more than a sixteenth
    Ledger much;
    much.note_limit(17, 300);
    timing = timing_of(document, At{}, &much);
    CHECK(timing.moved);
    CHECK(timing.saturated);
    // neither: beside what cannot go, the six are little
    Json heavy = document;
    heavy["system"] = std::string(4 * 17 * 6 * 240, 's');
    timing = timing_of(heavy, At{}, &much);
    CHECK_FALSE(timing.moved);
    CHECK(timing.saturated);
    // a limit that is kept does nothing
    Ledger kept;
    kept.note_limit(1, tokens + 10);
    timing = timing_of(document, At{}, &kept);
    CHECK(timing.horizon == 0);
    CHECK_FALSE(timing.saturated);
}

TEST_CASE("timing: what was billed counts for the requests behind it and for the report") {
    const Json document = reads(4);
    Ledger ledger;
    Json third = document;
    while (third["messages"].size() > 5) { third["messages"].erase(third["messages"].size() - 1); }
    const std::size_t eighths = 2 * third.dump().size();
    ledger.note_billed(5, eighths / 4);
    CHECK(timing_of(document, At{}, &ledger).tokens_an_eighth == doctest::Approx(0.25).epsilon(0.001));
}

TEST_CASE("timing: a cadence says at which request it is full") {
    CHECK(timing_of(reads(3), Full{}).saturated);
    CHECK_FALSE(timing_of(reads(4), Full{}).saturated);
}

TEST_CASE("timing: where thinking is bound, a yes waits for the user") {
    Json messages = Json::array();
    add_turn(messages, 0);
    add_turn(messages, 1);
    // the loop that is open: requests are 1, 3, 5, 7 | 9, 11, 13, 15 and so on
    Json open = messages;
    open.erase(open.size() - 1);
    const Timing waits = timing_of(binding(open), At{{8}});
    CHECK(waits.waits_for_user);
    CHECK_FALSE(waits.moved);
    CHECK(waits.horizon == 0);
    messages.push_back(user("next"));
    std::vector<std::size_t> told;
    const Timing moved = timing_of(binding(messages), At{.numbers = {8}, .told = &told});
    CHECK(moved.moved);
    CHECK_FALSE(moved.waits_for_user);
    // up to where the user began to speak
    CHECK(moved.horizon == 16);
    CHECK(moved.changes > 0);
    CHECK(moved.changes_before == 0);
    CHECK(told == std::vector<std::size_t>{17});
    // where nothing can go, nobody waits
    Json small = list(user("start"));
    small.push_back(assistant_blocks(thinking("hm"), call_block("a", "Read")));
    small.push_back(result("a", "ok"));
    CHECK_FALSE(timing_of(binding(small), At{{2}}).waits_for_user);
}

TEST_CASE("timing: at the first turn of the user nothing moves where thinking is bound") {
    Json messages = list(user("one"));
    const Timing timing = timing_of(binding(messages), At{{1}});
    CHECK_FALSE(timing.moved);
    CHECK(timing.horizon == 0);
    CHECK(timing_of(body(messages), At{{1}}).moved);
}

TEST_CASE("timing: an image of the user's goes where thinking is bound, too") {
    Json messages = list(support::user_blocks(text("look"), image(2000)));
    for (std::size_t i = 0; i < 3; ++i) {
        messages.push_back(assistant_blocks(thinking("hm"), text("yes")));
        messages.push_back(support::user_blocks(text("and that"), image(2000)));
    }
    const coppice::Pipeline pipeline{coppice::StaleMedia<1>{}};
    const coppice::Report report = coppice::plan(binding(messages), pipeline);
    // of four, the newest has not been read and one is kept
    CHECK(report.edits.size() >= 2);
    std::size_t images = 0;
    for (const coppice::EditRecord& edit : report.edits) { images += edit.reason == "stale_media"; }
    CHECK(images == 2);
}
