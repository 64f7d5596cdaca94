// SPDX-License-Identifier: MIT
#include <coppice/policies/oversized_output.hpp>

#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

using namespace support;

namespace {

using coppice::chars;

constexpr coppice::OversizedOutput<chars(1000), 100, 50, 1, 0> at_once{};

std::string clipped(const std::string& facts, const std::string& text, std::size_t head, std::size_t tail) {
    return "[tool result cut: " + facts + "; first " + std::to_string(head) + " and last " + std::to_string(tail) +
           " follow]\n" + text.substr(0, head) + "\n[" + std::to_string(text.size() - head - tail) + " characters cut]\n" +
           text.substr(text.size() - tail);
}

std::string left(const Pruned& p, std::size_t n = 0) { return text_of(result_content(p.after, n)); }

std::string repeated(std::string_view piece, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) { out += piece; }
    return out;
}

}  // namespace

TEST_CASE("oversized_output: of what exceeds the bound, head and tail stay behind a line that says so") {
    const Ordered document = session_of_sizes({1000, 1001, 30'000, 10});
    const Pruned p = pruned(document, coppice::Pipeline{at_once});
    CHECK(left(p, 0) == filler(0, 1000));
    CHECK(left(p, 1) == clipped("1001 characters, ok; Read /src/1.c", filler(1, 1001), 100, 50));
    CHECK(left(p, 2) == clipped("30000 characters, ok; Read /src/2.c", filler(2, 30'000), 100, 50));
    CHECK(left(p, 3) == filler(3, 10));
    REQUIRE(p.report.edits.size() == 2);
    CHECK(p.report.edits[0].reason == "oversized_output");
    CHECK(p.report.edits[0].replacement == left(p, 1));
}

TEST_CASE("oversized_output: the newest turns and steps keep their results whole") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(6, 3000));
    const auto cut = [&](std::size_t turns, std::size_t steps) {
        const coppice::OversizedOutput<> policy{
            .above = chars(1000), .head = 100, .tail = 50, .keep_turns = turns, .keep_steps = steps};
        const Pruned p = pruned(document, coppice::Pipeline{policy});
        std::string out;
        for (std::size_t i = 0; i < 6; ++i) { out += left(p, i).size() < 3000 ? 'c' : '-'; }
        return out;
    };
    // the answer is a step, too
    CHECK(cut(3, 0) == "cccccc");
    CHECK(cut(3, 1) == "cccccc");
    CHECK(cut(3, 2) == "ccccc-");
    CHECK(cut(3, 7) == "------");
    // one turn is as many as there are
    CHECK(cut(1, 2) == "ccccc-");
}

TEST_CASE("oversized_output: what stands beside text, or lost its middle before, stays") {
    const std::string big = filler(0, 9000);
    coppice::MemorySpillStore store;
    for (const Ordered& content : {list(text(big), image(3000)), list(text(big), document(3000)),
                                   list(text(big), Ordered{{"type", "hologram"}, {"x", 1}})}) {
        CHECK(pruned(session({content}), coppice::Pipeline{at_once}).unchanged());
    }
    // an image that went before leaves a line that nobody cuts in two
    const Pruned elided =
        pruned(session({list(text(big), image(3000))}), coppice::Pipeline{coppice::KeepEnds<0, 0, chars(99'999)>{}});
    REQUIRE(!elided.unchanged());
    CHECK(pruned(elided.after, coppice::Pipeline{at_once}).unchanged());
    const coppice::Spill<coppice::Size{16'000}> spill{.store = &store};
    Ordered stored = session({Ordered(filler(0, 20'000))});
    coppice::prune(stored, coppice::Pipeline{spill});
    CHECK(text_of(result_content(stored, 0)).size() < 4000);
    Ordered again = stored;
    coppice::prune(again, coppice::Pipeline{spill, at_once});
    CHECK(again == stored);
    Ordered capped = session({Ordered(big)});
    coppice::prune(capped, coppice::Pipeline{coppice::CapOnArrival<chars(8000), 1200, 800>{}});
    CHECK(text_of(result_content(capped, 0)).size() < 3000);
    again = capped;
    coppice::prune(again, coppice::Pipeline{coppice::CapOnArrival<chars(8000), 1200, 800>{}, at_once});
    CHECK(again == capped);
}

TEST_CASE("oversized_output: several texts are one, and the form of the content stays") {
    const std::string one = filler(0, 700);
    const std::string two = filler(1, 700);
    const Pruned p =
        pruned(session({list(text(one), text(two)), list(marked(text(one + two)))}), coppice::Pipeline{at_once});
    const std::string expected = clipped("1400 characters, ok; Read /src/0.c", one + two, 100, 50);
    CHECK(result_content(p.after, 0) == list(text(expected)));
    CHECK(result_content(p.after, 1) ==
          list(marked(text(clipped("1400 characters, ok; Read /src/1.c", one + two, 100, 50)))));
}

TEST_CASE("oversized_output: what was cut is not changed any more, by whichever policy, and takes no place") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(4, 9000));
    const Ordered cut = pruned(document, coppice::Pipeline{at_once}).after;
    CHECK(pruned(cut, coppice::Pipeline{at_once}).unchanged());
    CHECK(pruned(cut, coppice::Pipeline{coppice::OversizedOutput<chars(200), 10, 10, 1, 0>{}}).unchanged());
    CHECK(pruned(cut, coppice::Pipeline{coppice::KeepRecent<0>{}}).unchanged());
    CHECK(pruned(cut, coppice::Pipeline{coppice::Dedup<>{}, coppice::SmallAging<0>{}, coppice::KeepEnds<0, 0, chars(1)>{},
                                        coppice::StaleOutput<1, 0>{}, coppice::RepeatedCall<1, 0>{},
                                        coppice::Ceiling<coppice::Size{100}, 0, coppice::Size{50}, coppice::Size{10}>{}})
              .unchanged());
    // who comes first has it
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::KeepRecent<2>{}, at_once})) == "ssii");
    CHECK(fates(pruned(document, coppice::Pipeline{at_once, coppice::KeepRecent<2>{}})) == "iiii");
}

TEST_CASE("oversized_output: a copy of what is cut says nothing of one that stays") {
    const Ordered same = Ordered(filler(0, 9000));
    Ordered messages = list(user("start"));
    for (const char* id : {"a", "b"}) { add_pair(messages, id, "Read", Ordered{{"path", "/a"}}, same); }
    messages.push_back(assistant("done"));
    const std::string cut = clipped("9000 characters, ok; Read /a", filler(0, 9000), 100, 50);
    const Pruned first = pruned(body(messages), coppice::Pipeline{coppice::Dedup<>{}, at_once});
    CHECK(fates(first) == "si");
    CHECK(left(first, 0) == cleared("9000 characters, ok; Read /a"));
    CHECK(left(first, 1) == cut);
    const Pruned last = pruned(body(messages), coppice::Pipeline{at_once, coppice::Dedup<>{}});
    CHECK(left(last, 0) == cut);
    CHECK(left(last, 1) == cut);
}

TEST_CASE("oversized_output: unread results and those nobody asked for stay") {
    Ordered messages = session_of_sizes({9000}).at("messages");
    messages.erase(messages.size() - 1);
    CHECK(pruned(body(messages), coppice::Pipeline{coppice::OversizedOutput<chars(1000), 100, 50, 0, 0>{}}).unchanged());
    const Ordered orphan =
        body(list(user("start"), result("x", Ordered(filler(0, 9000))), assistant("one"), user("two"), assistant("three")));
    CHECK(pruned_once(orphan, coppice::Pipeline{at_once}).unchanged());
}

TEST_CASE("oversized_output: head and tail may be nothing") {
    const std::string text = filler(0, 2000);
    for (const auto& [head, tail] :
         std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}, {0, 50}, {50, 0}, {700, 299}}) {
        const coppice::OversizedOutput<> policy{
            .above = chars(1000), .head = head, .tail = tail, .keep_turns = 1, .keep_steps = 0};
        CHECK(left(pruned(session({Ordered(text)}), coppice::Pipeline{policy})) ==
              clipped("2000 characters, ok; Read /src/0.c", text, head, tail));
    }
}

TEST_CASE("oversized_output: hostile content is cut at whole characters and known again, in every dialect") {
    const std::string line = clipped("9 characters, ok; Read", filler(1, 400), 10, 10);
    for (const std::string& text :
         {repeated("\xF0\x9F\x98\x80", 2000), repeated("\xE2\x82\xAC", 2001), repeated("e\xCC\x81", 1500),
          repeated("\"\\", 1500), repeated("\n", 3000), repeated("\r\n", 2000), std::string(2000, '\0'),
          repeated("\x01\x1F\x7F", 900), repeated(line, 20), repeated("\n[9 characters cut]\n", 200),
          repeated("; first 1 and last 2 follow]\n", 200), repeated("[", 3000), repeated(" ", 3000),
          repeated("\xEF\xBF\xBD", 1500), repeated("\xC2\x80\xE2\x80\xA8", 1500)}) {
        CAPTURE(text.substr(0, 30));
        in_every_dialect([&](const Spelling& in) {
            const Ordered document = in.session({"x" + text, text});
            const Pruned p = pruned_alike(document, coppice::Pipeline{at_once}, in.dialect());
            const coppice::Report report = check_laws(document, coppice::Pipeline{at_once});
            REQUIRE(report.edits.size() == 2);
            for (std::size_t i = 0; i < 2; ++i) {
                const std::string cut = in.text(p.after, i);
                CHECK(cut == report.edits[i].replacement);
                CHECK(coppice::PlainWording().recognise(cut).kind == coppice::Recognised::Kind::stub);
                CHECK(coppice::last_chars(cut, 50) == coppice::last_chars(text, 50));
            }
        });
    }
}

TEST_CASE("oversized_output: half a surrogate pair in bytes is cut as what everybody reads there") {
    const std::string place = "put it here";
    for (const std::string& spelled : {repeated("\\ud83d", 3000), repeated("\\ude00\\ud83d", 1500)}) {
        std::string bytes = session({Ordered(place)}).dump();
        bytes.replace(bytes.find(place), place.size(), spelled);
        const coppice::PrunedBody out = coppice::prune(bytes, coppice::Pipeline{at_once});
        const std::string after(out.bytes(bytes));
        CHECK(Ordered::accept(after));
        const coppice::PrunedBody again = coppice::prune(after, coppice::Pipeline{at_once});
        CHECK(again.bytes(after) == after);
    }
}

TEST_CASE("oversized_output: of Gemini's results, those of one text are cut, those of several stay") {
    const Spelling in(coppice::Dialect::gemini);
    Ordered document = in.session({filler(0, 3000), filler(1, 3000)});
    document["contents"][2]["parts"][0]["functionResponse"]["response"]["also"] = filler(2, 3000);
    const Pruned p = pruned(document, coppice::Pipeline{at_once});
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].path == "/functionResponse/response/output");
    CHECK(in.text(p.after, 1) == clipped("3000 characters; Read /src/1.c", filler(1, 3000), 100, 50));
}

TEST_CASE("oversized_output: the bound counts in its unit") {
    const auto fate = [](coppice::Size above, const std::string& content) {
        const coppice::OversizedOutput<> policy{.above = above, .head = 20, .tail = 20, .keep_turns = 1, .keep_steps = 0};
        return pruned(session({Ordered(content)}), coppice::Pipeline{policy}).unchanged();
    };
    const std::string faces = repeated("\xF0\x9F\x98\x80", 500);
    CHECK(fate(chars(500), faces));
    CHECK_FALSE(fate(chars(499), faces));
    CHECK(fate(coppice::utf16(1000), faces));
    CHECK_FALSE(fate(coppice::utf16(999), faces));
    CHECK(fate(coppice::bytes(2000), faces));
    CHECK_FALSE(fate(coppice::bytes(1999), faces));
}

TEST_CASE("oversized_output: with summaries and in a failed result the line is the same") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "terminal", Ordered{{"command", "make"}}, Ordered(filler(0, 2000)), true);
    messages.push_back(assistant("done"));
    const std::string expected = clipped("2000 characters, failed; terminal make", filler(0, 2000), 100, 50);
    CHECK(left(pruned(body(messages), coppice::Pipeline{at_once})) == expected);
    CHECK(left(pruned(body(messages), coppice::Pipeline{at_once, coppice::ToolSummaries{}})) == expected);
}

TEST_CASE("oversized_output: defaults and wrong numbers") {
    constexpr coppice::OversizedOutput<> defaults;
    CHECK(defaults.above == chars(6000));
    CHECK(defaults.head == 800);
    CHECK(defaults.tail == 400);
    CHECK(defaults.keep_turns == 3);
    CHECK(defaults.keep_steps == 10);
    const auto make = [](coppice::Size above, std::size_t head, std::size_t tail) {
        return coppice::Pipeline{coppice::OversizedOutput<>{.above = above, .head = head, .tail = tail}};
    };
    constexpr std::size_t most = static_cast<std::size_t>(-1);
    const char* const too_much = "coppice::OversizedOutput: `head` + `tail` must be at most 4096";
    CHECK_THROWS_WITH_AS(make(chars(9000), 4097, 0), too_much, std::invalid_argument);
    CHECK_THROWS_WITH_AS(make(chars(9000), 0, 4097), too_much, std::invalid_argument);
    CHECK_THROWS_WITH_AS(make(chars(9000), 2000, 2097), too_much, std::invalid_argument);
    CHECK_THROWS_WITH_AS(make(chars(9000), most, most), too_much, std::invalid_argument);
    CHECK_THROWS_AS(make(chars(1200), 800, 400), std::invalid_argument);
    CHECK_THROWS_AS(make(coppice::utf16(2401), 800, 400), std::invalid_argument);
    CHECK_THROWS_AS(make(coppice::bytes(4803), 800, 400), std::invalid_argument);
    CHECK_THROWS_AS(make(chars(0), 0, 0), std::invalid_argument);
    make(chars(1201), 800, 400);
    make(coppice::utf16(2402), 800, 400);
    make(coppice::bytes(4804), 800, 400);
    make(chars(4097), 4096, 0);
}
