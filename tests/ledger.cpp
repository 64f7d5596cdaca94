// SPDX-License-Identifier: MIT
#include <coppice/ledger.hpp>

#include "support/pruned.hpp"
#include "support/requests.hpp"

#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace support;

namespace {

Ordered growing_session(std::size_t results) { return session_of_sizes(std::vector<std::size_t>(results, 4000)); }

const coppice::Pipeline never{coppice::KeepRecent<2>{}, coppice::MinReclaim<1'000'000>{}};

}  // namespace

TEST_CASE("ledger: notes are kept in the order of the requests, one for each") {
    coppice::Ledger ledger;
    ledger.note_billed(9, 2'000);
    ledger.note_cold(5);
    ledger.note_limit(9, 90'000);
    REQUIRE(ledger.notes().size() == 2);
    CHECK(ledger.notes()[0] == coppice::Ledger::Note{.messages = 5, .cold = true});
    CHECK(ledger.notes()[1] == coppice::Ledger::Note{.messages = 9, .billed = 2'000, .limit = 90'000});
}

TEST_CASE("ledger: is the same when it was saved and loaded") {
    coppice::Ledger ledger;
    ledger.note_cold(5);
    ledger.note_billed(9, 2'000);
    ledger.note_limit(11, 90'000);
    const auto saved = coppice::to_json<nlohmann::ordered_json>(ledger);
    CHECK(saved.dump() == R"({"notes":[{"messages":5,"cold":true},{"messages":9,"billed":2000},)"
                          R"({"messages":11,"limit":90000}]})");
    CHECK(coppice::ledger_from_json(saved) == ledger);
    CHECK(coppice::ledger_from_json(nlohmann::json::parse(saved.dump())) == ledger);
    CHECK(coppice::ledger_from_json(coppice::to_json<nlohmann::json>(coppice::Ledger{})) == coppice::Ledger{});
}

TEST_CASE("ledger: what is none is refused with the place") {
    const auto refusal = [](const char* text) {
        try {
            coppice::ledger_from_json(nlohmann::json::parse(text));
        } catch (const std::invalid_argument& error) { return std::string(error.what()); }
        return std::string();
    };
    CHECK(refusal("[]") == "coppice::Ledger: is no object with an array `notes`");
    CHECK(refusal(R"({"notes":[],"more":1})") == "coppice::Ledger: is no object with an array `notes`");
    CHECK(refusal(R"({"notes":[{"cold":true}]})") == "coppice::Ledger: /notes/0 has no `messages`");
    CHECK(refusal(R"({"notes":[{"messages":-1}]})") == "coppice::Ledger: /notes/0/messages is no whole number");
    CHECK(refusal(R"({"notes":[{"messages":1},{"messages":2,"cold":1}]})") ==
          "coppice::Ledger: /notes/1/cold is neither true nor false");
    CHECK(refusal(R"({"notes":[{"messages":1,"billed":1.5}]})") == "coppice::Ledger: /notes/0/billed is no whole number");
    CHECK(refusal(R"({"notes":[{"messages":1,"limit":"x"}]})") == "coppice::Ledger: /notes/0/limit is no whole number");
    CHECK(refusal(R"({"notes":[{"messages":1,"cool":true}]})") == "coppice::Ledger: /notes/0/cool is unknown");
}

TEST_CASE("ledger: with a cold cache everything goes, and stays away") {
    const Ordered document = growing_session(8);
    CHECK_FALSE(coppice::plan(document, never).engaged);
    coppice::Ledger ledger;
    ledger.note_cold(11);
    const coppice::Report report = coppice::plan(document, never, ledger);
    CHECK(report.horizon == 11);
    CHECK(report.edits.size() == 2);
    // the same with bytes
    CHECK(coppice::plan(document.dump(), never, ledger).horizon == 11);
    // what is noted between two requests is of the later one, and what is noted on one to come of none
    coppice::Ledger between;
    between.note_cold(12);
    CHECK(coppice::plan(document, never, between).horizon == 13);
    coppice::Ledger later;
    later.note_cold(1'000);
    CHECK_FALSE(coppice::plan(document, never, later).engaged);
}

TEST_CASE("ledger: where nothing can go, a cold cache changes nothing") {
    coppice::Ledger ledger;
    ledger.note_cold(3);
    CHECK(coppice::plan(growing_session(8), never, ledger).horizon == 0);
}

TEST_CASE("ledger: a limit is kept as far as it can be") {
    coppice::Ledger ledger;
    ledger.note_limit(1, 5'000);
    const Ordered document = growing_session(8);
    const coppice::Report report = coppice::plan(document, never, ledger);
    CHECK(report.engaged);
    CHECK(report.tokens_after <= 5'000);
    CHECK_FALSE(report.saturated);
    ledger.note_limit(1, 500);
    const coppice::Report tight = coppice::plan(document, never, ledger);
    CHECK(tight.engaged);
    // from some request on only
    coppice::Ledger later;
    later.note_limit(15, 5'000);
    CHECK(coppice::plan(document, never, later).horizon >= 15);
}

TEST_CASE("ledger: a limit that what stays exceeds is told, and nothing is rewritten for it") {
    Ordered messages = list(user(filler(0, 200'000)));
    for (std::size_t i = 0; i < 6; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered::object(), Ordered(filler(i, 2'100)));
    }
    coppice::Ledger ledger;
    ledger.note_limit(1, 10'000);
    const coppice::Report report = coppice::plan(body(messages), never, ledger);
    CHECK(report.saturated);
    CHECK(report.edits.empty());
}

TEST_CASE("ledger: in a tool loop of a model that binds its thinking nothing can go, which is told") {
    Ordered document = growing_session(8);
    document["model"] = "claude-opus-5-5";
    coppice::Ledger ledger;
    ledger.note_limit(1, 5'000);
    const auto saturated = [&](const coppice::Ledger& told, auto cadence) {
        std::string answers;
        Requests requests(document);
        const coppice::Pipeline pipeline{coppice::KeepRecent<2>{}, cadence};
        while (requests.next()) { answers += coppice::plan(requests.body(), pipeline, told).saturated ? 's' : '-'; }
        return answers;
    };
    // a result has some 1,000 tokens
    CHECK(saturated(ledger, coppice::MinReclaim<1'000'000>{}) == "-----sssss");
    CHECK(saturated({}, coppice::Watermark<5'000, 4'000>{}) == "-----sssss");
    // the user speaks, and what could go does
    document["messages"].push_back(user("and now"));
    CHECK_FALSE(coppice::plan(document, never, ledger).saturated);
}

TEST_CASE("ledger: later requests are measured by what was billed") {
    const auto first_messages = [](std::size_t count) {
        Ordered document = growing_session(8);
        while (document["messages"].size() > count) { document["messages"].erase(document["messages"].size() - 1); }
        return document;
    };
    const Ordered document = first_messages(15);
    // four results can be cleared, some 3,900 tokens by their length
    const coppice::Pipeline gate{coppice::KeepRecent<2>{}, coppice::MinReclaim<5'500>{}};
    const coppice::Report whole = coppice::plan(document, gate);
    CHECK(whole.horizon == 0);
    coppice::Ledger twice;
    twice.note_billed(5, 2 * coppice::plan(first_messages(5), gate).tokens_before);
    const coppice::Report report = coppice::plan(document, gate, twice);
    CHECK(report.horizon == 13);
    CHECK(report.tokens_before >= 2 * whole.tokens_before - 10);
    CHECK(report.tokens_before <= 2 * whole.tokens_before + 10);
    // a figure that cannot be meant counts no more than four times
    coppice::Ledger absurd;
    absurd.note_billed(5, 1'000'000'000);
    CHECK(coppice::plan(document, gate, absurd).tokens_before <= 4 * whole.tokens_before + 10);
}

TEST_CASE("ledger: decides with every cadence") {
    coppice::Ledger ledger;
    ledger.note_cold(11);
    const Ordered document = growing_session(8);
    const auto horizon = [&](auto cadence) {
        return coppice::plan(document, coppice::Pipeline{coppice::KeepRecent<2>{}, cadence}, ledger).horizon;
    };
    CHECK(horizon(coppice::Stepped<100>{}) == 11);
    CHECK(horizon(coppice::SkiRental<coppice::prices::deepseek_low>{}) == 11);
}

namespace {

// Edits as the JSON of a report has them, without the sizes, which are counted as they stand in the bytes.
Ordered edits_of(const coppice::Report& report) {
    Ordered edits = coppice::to_json(report).at("edits");
    for (Ordered& edit : edits) { edit.erase("bytes_before"), edit.erase("bytes_after"); }
    return edits;
}

// Texts of several sizes, many with escapes, so that the same text is spelled in two ways by bytes and DOM; no more than
// so many different ones.
Ordered talking_session(std::size_t different = 100) {
    Ordered messages = list(user("start"));
    std::size_t number = 0;
    for (std::size_t turn = 0; turn < 6; ++turn) {
        for (std::size_t i = 0; i < 4; ++i) {
            const std::string id = "c" + std::to_string(++number);
            const bool writes = number % 4 == 0;
            const std::size_t size = writes ? 20 : number % 5 == 0 ? 6'000 : number % 3 == 0 ? 500 : 1'300;
            add_pair(messages, id, writes ? "Write" : "Read",
                     Ordered{{"file_path", "/" + id}, {"content", filler(number, writes ? 1'200 : 20)}},
                     Ordered(filler(100 + number % different, size)));
        }
        messages.push_back(assistant("done"));
        messages.push_back(user("go on"));
    }
    return body(messages);
}

// Moves at every third request, and asks what that brings only later.
struct AsksLate {
    static constexpr std::string_view name = "asks_late";
    struct State {};
    bool moves(State&, const coppice::Request& request) const {
        const bool due = request.number % 3 == 0;
        return due && (request.number < 8 || request.reclaim().removed > 0);
    }
};
// Asks, and moves whatever the answer.
struct AsksAlways {
    static constexpr std::string_view name = "asks_always";
    struct State {};
    bool moves(State&, const coppice::Request& request) const { return request.reclaim().removed < 1'000'000'000; }
};
// Counts the entries that policies are shown.
struct Counting {
    static constexpr std::string_view name = "counting";
    std::size_t* count;
    void apply(const coppice::Transcript& transcript, coppice::Plan&) const { *count += transcript.entries().size(); }
};

// Sends a session request by request, with what a host would note at each, and holds each answer against the others.
// Answers with the requests that rewrote something.
template <class Pipeline>
std::vector<std::size_t> send(const Ordered& whole, const Pipeline& pipeline, bool notes) {
    Requests requests(whole);
    coppice::Ledger ledger;
    coppice::Workspace kept;
    std::vector<std::string> before;
    std::vector<std::size_t> rewrites;
    std::vector<Ordered> decided;
    std::vector<std::size_t> sizes;
    while (requests.next()) {
        const std::size_t messages = messages_of(requests.body()).size();
        CAPTURE(messages);
        const std::size_t number = decided.size() + 1;
        // what is known before a request is sent
        if (notes && number % 9 == 0) { ledger.note_cold(messages); }
        if (notes && number == 12) { ledger.note_limit(messages, 5'000); }
        Ordered sent = requests.body();
        const coppice::Report report = coppice::prune(sent, pipeline, kept, ledger);

        // the bytes, a fresh workspace, and a ledger that went with the history to another place
        Ordered again = requests.body();
        coppice::Workspace fresh;
        const coppice::Ledger loaded =
            coppice::ledger_from_json(Ordered::parse(coppice::to_json<Ordered>(ledger).dump()));
        const coppice::Report alone = coppice::prune(again, pipeline, fresh, loaded);
        const bool same_body = again == sent;
        CHECK(same_body);
        const bool same_report = coppice::to_json(alone) == coppice::to_json(report);
        CHECK(same_report);
        const std::string whole_bytes = requests.body().dump();
        const coppice::PrunedBody bytes = coppice::prune(whole_bytes, pipeline, ledger);
        const bool same_bytes = bytes.bytes(whole_bytes) == sent.dump();
        CHECK(same_bytes);
        CHECK(bytes.report.horizon == report.horizon);
        CHECK(bytes.report.rewrites == report.rewrites);
        CHECK(bytes.report.tokens_after == report.tokens_after);
        CHECK(bytes.report.net_tokens == doctest::Approx(report.net_tokens));
        const bool same_place = bytes.report.suggested_breakpoint == report.suggested_breakpoint;
        CHECK(same_place);

        // what was sent is how this one begins, unless it says that it rewrites
        std::vector<std::string> now;
        for (const Ordered& message : messages_of(sent)) { now.push_back(message.dump()); }
        const bool begins = before.size() <= now.size() && std::equal(before.begin(), before.end(), now.begin());
        CHECK(begins == !report.rewrites);
        if (report.rewrites) { rewrites.push_back(messages); }
        before = std::move(now);
        decided.push_back(edits_of(report));
        sizes.push_back(messages);

        // and what is known after it: at first a third more than was estimated, later less
        const std::size_t billed = number % 2 == 0 ? report.tokens_after : report.tokens_after * 4 / 3;
        if (notes) { ledger.note_billed(messages, billed); }
    }
    // what came later changes nothing that was decided
    for (std::size_t i = 0; i < decided.size(); ++i) {
        CAPTURE(sizes[i]);
        const bool same = edits_of(coppice::plan(requests.go_to(i), pipeline, ledger)) == decided[i];
        CHECK(same);
    }
    return rewrites;
}

}  // namespace

TEST_CASE("ledger: request by request, decisions are the same wherever and however they are made") {
    using namespace coppice;
    const Ordered session = talking_session();
    constexpr CacheRules any{.look_back = 0, .minimum_tokens = 0};
    const KeepRecent<2, Size{400}> recent{};
    const BulkyInputClear<1, Size{300}> inputs{};
    const Pipeline rents{SkiRental<prices::openai_half, Size{0}, any>{}, recent, inputs, Dedup<>{}};
    const Pipeline waits{MinReclaim<1'500>{}, recent, inputs};
    const Pipeline marks{Watermark<6'000, 4'500>{}, recent, inputs};
    const Pipeline steps{Stepped<7>{}, recent, CapOnArrival<chars(4000), 1200, 800>{}};
    const Pipeline writes{MinReclaim<500>{}, inputs};
    const Pipeline none_by_itself{MinReclaim<1'000'000>{}, recent, inputs};
    CHECK(send(session, rents, true).size() > 2);
    CHECK(send(session, waits, true).size() > 2);
    CHECK(send(session, marks, true).size() > 1);
    CHECK(send(session, steps, true).size() > 2);
    CHECK(send(session, writes, false).size() > 1);
    // by the notes alone
    CHECK(send(session, none_by_itself, true).size() > 1);
    CHECK(send(session, none_by_itself, false).empty());
    CHECK(send(session, rents, false) != send(session, rents, true));
}

TEST_CASE("ledger: request by request, duplicates keep their stubs when the first note comes late") {
    using namespace coppice;
    const Ordered session = talking_session(3);
    const Dedup<Size{200}, SameCall::ignored> dedup{};
    const KeepRecent<6, Size{400}> recent{};
    CHECK(send(session, Pipeline{Stepped<3>{}, dedup, recent}, true).size() > 2);
    CHECK(send(session, Pipeline{EveryRequest<>{}, dedup, recent}, true).size() > 2);
    CHECK(send(session, Pipeline{EveryRequest<>{}, dedup}, true).size() > 2);
    CHECK(send(session, Pipeline{SkiRental<>{}, dedup, recent}, true).size() > 2);
    CHECK(send(session, Pipeline{AsksLate{}, dedup, recent}, true).size() > 2);
    CHECK(send(session, Pipeline{AsksLate{}, dedup, recent}, false).size() > 2);
}

TEST_CASE("ledger: what it costs to weigh grows with the history and not with its square") {
    using namespace coppice;
    constexpr std::size_t results = 4'000;
    const Ordered session = session_of_sizes(std::vector<std::size_t>(results, 500));
    Ledger ledger;
    ledger.note_billed(3, 1'000);
    ledger.note_limit(3, 10'000);
    const auto shown = [&](auto cadence, const Ledger& told) {
        std::size_t count = 0;
        coppice::plan(session, Pipeline{KeepRecent<2>{}, Counting{&count}, cadence}, told);
        return count;
    };
    // once, at the end, for the request and for the one before it
    constexpr std::size_t at_least = 2 * results;
    constexpr std::size_t at_most = 500 * results;
    const auto linear = [&](std::size_t count) { return count >= at_least && count <= at_most; };
    CHECK(linear(shown(EveryRequest<>{}, ledger)));
    CHECK(linear(shown(AsksAlways{}, Ledger{})));
    CHECK(linear(shown(AsksAlways{}, ledger)));
    CHECK(linear(shown(SkiRental<prices::no_cache>{}, ledger)));
}

TEST_CASE("ledger: request by request, on a model that binds its thinking") {
    using namespace coppice;
    Ordered session = talking_session();
    session["model"] = "claude-opus-5-5";
    std::size_t number = 0;
    for (Ordered& message : session["messages"]) {
        if (message["role"] != "assistant" || !message["content"].is_array()) { continue; }
        Ordered content = list(thinking("thought " + std::to_string(++number)));
        for (const Ordered& block : message["content"]) { content.push_back(block); }
        message["content"] = content;
    }
    const Pipeline rents{SkiRental<prices::openai_half>{}, KeepRecent<2, Size{400}>{}, StaleReasoning<1>{}};
    const Pipeline waits{MinReclaim<1'500>{}, KeepRecent<2, Size{400}>{}, BulkyInputClear<1, Size{300}>{}};
    const std::vector<std::size_t> rented = send(session, rents, true);
    CHECK(rented.size() > 1);
    CHECK(send(session, waits, true).size() > 1);
    // only where the user speaks: turns have ten messages
    for (const std::size_t messages : rented) { CHECK(messages % 10 == 1); }
}
