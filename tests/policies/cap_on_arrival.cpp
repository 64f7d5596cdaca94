// SPDX-License-Identifier: MIT
#include <coppice/policies/cap_on_arrival.hpp>

#include "support/dialects.hpp"
#include "support/pruned.hpp"

#include <coppice/cadences/ski_rental.hpp>
#include <coppice/cadences/stepped.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/dedup.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/small_aging.hpp>
#include <coppice/policies/spill.hpp>
#include <coppice/wire.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

const AllowedChanges unread_too = [] {
    AllowedChanges allowed;
    allowed.unread_results = true;
    return allowed;
}();

// What exceeds 5,000 characters becomes 1,500 and 1,000.
using Cap = coppice::CapOnArrival<coppice::chars(5000), 1500, 1000>;
const coppice::Pipeline<Cap> capping{};

// What is left of a text, where no line between head and tail is notable.
std::string capped(const std::string& content, std::size_t head = 1500, std::size_t tail = 1000) {
    return content.substr(0, head) + "\n\n[middle of a tool result left out: " +
           std::to_string(content.size() - head - tail) + " of " + std::to_string(content.size()) +
           " characters; not stored]\n\n" + content.substr(content.size() - tail);
}

bool is_valid(coppice::CapOnArrival<> policy) {
    try {
        policy.validate();
        return true;
    } catch (const std::invalid_argument&) { return false; }
}

}  // namespace

TEST_CASE("cap_on_arrival: in every dialect head and tail stay around one line") {
    in_every_dialect([](const Spelling& in) {
        const std::string content = filler(0, 6000);
        const Pruned p = pruned(in.session({content, filler(1, 5000), filler(2, 5001)}), capping, unread_too);
        CHECK(in.fates(p) == "p-p");
        const bool same = in.text(p.after, 0) == capped(content);
        CHECK(same);
        const bool written = p.report.edits.at(0).replacement == capped(content);
        CHECK(written);
        REQUIRE(p.report.by_reason.size() == 1);
        CHECK(p.report.by_reason[0].reason == "cap_on_arrival");
        CHECK(p.report.by_reason[0].count == 2);
        CHECK(p.report.edits.at(0).id == "call_0");
    });
}

TEST_CASE("cap_on_arrival: what the model has not read is capped too and no cadence holds it back") {
    in_every_dialect([](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"a", "Read", Ordered{{"file_path", "/a"}}}, filler(0, 6000));
        const Ordered document = in.body(messages);
        CHECK(in.fates(pruned(document, capping, unread_too)) == "p");
        const coppice::Pipeline rarely{Cap{}, coppice::Stepped<50>{}};
        CHECK(in.fates(pruned(document, rarely, unread_too)) == "p");
        // and what was sent stays as it was sent
        const Ordered sent = in.messages(pruned(document, rarely, unread_too).after);
        messages.push_back(in.assistant("more"));
        in.add_pair(messages, {"b", "Read", Ordered{{"file_path", "/b"}}}, filler(1, 6000));
        const Ordered later = in.messages(pruned(in.body(messages), rarely, unread_too).after);
        const bool prefix = std::equal(sent.begin(), sent.end(), later.begin());
        CHECK(prefix);
    });
}

TEST_CASE("cap_on_arrival: lines between head and tail that tell of failures stay") {
    std::string content = filler(0, 3000) + "\nmake: *** [all] Error 2\n" + filler(1, 3000) +
                          "\n   17 passed, 1 failed in 3.2s\n" + filler(2, 3000);
    const Pruned p = pruned(session({Ordered(content)}), capping, unread_too);
    const std::string left = text_of(result_content(p.after, 0));
    CHECK(left.find(", with notable lines: 2; not stored]\nmake: *** [all] Error 2\n17 passed, 1 failed in 3.2s\n"
                    "[end of these lines]\n\n") == 1500 + left.substr(1500).find(", with"));
    CHECK(left.size() < 5000);
    // however many there are
    std::string failures;
    for (int i = 0; i < 1000; ++i) { failures += "error " + std::to_string(i) + "\n"; }
    const Pruned q = pruned(session({Ordered(failures)}), capping, unread_too);
    CHECK(fates(q) == "p");
    CHECK(text_of(result_content(q.after, 0)).size() < 1500 + 1000 + Cap::between);
}

TEST_CASE("cap_on_arrival: what stays says whether the call failed as the whole did") {
    in_every_dialect([](const Spelling& in) {
        for (const char* const first : {"exit code: 1\n", "Error: no such file\n", "all is well\n"}) {
            CAPTURE(first);
            const Ordered document = in.session({first + filler(0, 9000)});
            const Ordered once = pruned(document, capping, unread_too).after;
            const coppice::Pipeline clear{coppice::KeepRecent<0, coppice::chars(1000)>{}};
            const std::string later = in.text(pruned(once, clear).after, 0);
            const std::string at_once =
                in.text(pruned(document, coppice::Pipeline{Cap{}, coppice::KeepRecent<0, coppice::chars(1000)>{}},
                               unread_too)
                            .after,
                        0);
            CHECK(later == at_once);
        }
    });
    // also where a provider keeps it in JSON at the end
    const Spelling chat(coppice::Dialect::openai_chat);
    const std::string json = R"({"output":")" + std::string(9000, 'x') + R"(","metadata":{"exit_code":1}})";
    const Pruned p = pruned(chat.session({json}), coppice::Pipeline{Cap{}, coppice::KeepRecent<0>{}}, unread_too);
    CHECK(chat.text(p.after, 0).find(", failed") != std::string::npos);
}

TEST_CASE("cap_on_arrival: a later stub says the size that stood there") {
    in_every_dialect([](const Spelling& in) {
        const std::string content = filler(0, 60'000);
        const coppice::Pipeline both{Cap{}, coppice::KeepRecent<1, coppice::chars(2000)>{}};
        const Pruned p = pruned(in.session({content, filler(1, 9000)}), both, unread_too);
        CHECK(in.fates(p) == "sp");
        const std::string size = std::to_string(capped(content).size());
        CHECK(in.text(p.after, 0) == in.cleared(size + " characters, ok; Read /src/0.c"));
        // the same as in two steps
        const Pruned first = pruned(in.session({content, filler(1, 9000)}), capping, unread_too);
        const Pruned second = pruned(first.after, both, unread_too);
        const bool same = second.after == p.after;
        CHECK(same);
    });
}

TEST_CASE("cap_on_arrival: later policies go by the size that is left") {
    // 60,000 characters are big, what is left of them is not
    const coppice::Pipeline big{Cap{}, coppice::KeepRecent<0, coppice::chars(3000)>{}};
    CHECK(fates(pruned(session_of_sizes({60'000, 4000}), big, unread_too)) == "ps");
    const coppice::Pipeline small{Cap{}, coppice::SmallAging<0, coppice::chars(80), coppice::chars(3000)>{}};
    CHECK(fates(pruned(session_of_sizes({60'000, 4000}), small, unread_too)) == "s-");
}

TEST_CASE("cap_on_arrival: first and last line in a later stub are those that stood there") {
    // a first line that only the middle holds
    const std::string content = std::string(2000, ' ') + "\nthe cause\n" + filler(0, 3000) + "\nthe verdict" +
                                std::string(2000, '\n');
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Bash", Ordered{{"command", "make"}}, Ordered(content), true);
    messages.push_back(assistant("done"));
    const coppice::Pipeline both{Cap{}, coppice::KeepRecent<0, coppice::chars(2000)>{}};
    const Pruned p = pruned(body(messages), both, unread_too);
    const Pruned first = pruned(body(messages), capping, unread_too);
    CHECK(fates(first) == "p");
    const Pruned second = pruned(first.after, both, unread_too);
    CHECK(text_of(result_content(p.after, 0)) == text_of(result_content(second.after, 0)));
}

TEST_CASE("cap_on_arrival: duplicates are told before the cut or not at all") {
    // they differ in what is left out
    const std::string left = filler(0, 2000) + std::string(3000, 'a') + filler(1, 2000);
    const std::string right = filler(0, 2000) + std::string(3000, 'b') + filler(1, 2000);
    const coppice::Pipeline both{Cap{}, coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{}};
    const coppice::Pipeline dedup_first{coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{}, Cap{}};
    in_every_dialect([&](const Spelling& in) {
        CHECK(in.fates(pruned(in.session({left, right, left}), both, unread_too)) == "ppp");
        CHECK(in.fates(pruned(in.session({left, right, left}), dedup_first, unread_too)) == "ppp");
    });
    // one that was capped in an earlier request, and its like
    const Spelling in(coppice::Dialect::anthropic);
    CHECK(in.fates(pruned(in.session({capped(left), left, capped(left)}), both, unread_too)) == "-p-");
    CHECK(in.fates(pruned(in.session({filler(0, 4000), filler(0, 4000)}), both, unread_too)) == "d-");
}

TEST_CASE("cap_on_arrival: a text in several blocks becomes one block") {
    const std::string content = filler(0, 6000);
    const Pruned p = pruned(session({list(text(content.substr(0, 2000)), text(content.substr(2000)))}), capping,
                            unread_too);
    const auto is_capped = [&](const Ordered& found, const Ordered& block) { return found == list(block); };
    CHECK(is_capped(result_content(p.after, 0), text(capped(content))));
    CHECK(p.report.edits.at(0).path == "/content");
    // with a cache mark, which stays, and with two, which could not
    const Pruned marked_one =
        pruned(session({list(text(content.substr(0, 2000)), marked(text(content.substr(2000))))}), capping, unread_too);
    CHECK(is_capped(result_content(marked_one.after, 0), marked(text(capped(content)))));
    CHECK(pruned(session({list(marked(text(content.substr(0, 2000))), marked(text(content.substr(2000))))}), capping,
                 unread_too)
              .unchanged());
    const Spelling chat(coppice::Dialect::openai_chat);
    Ordered messages = list(chat.user("start"));
    chat.add_pair(messages, {"a"}, "x");
    messages.back()["content"] = list(text(content.substr(0, 100)), text(content.substr(100)));
    const Pruned q = pruned(chat.body(messages), capping, unread_too);
    CHECK(is_capped(q.after["messages"].back()["content"], text(capped(content))));
}

TEST_CASE("cap_on_arrival: of Gemini one text is capped in its place and several stay") {
    const Spelling in(coppice::Dialect::gemini);
    const auto result = [&](Ordered response) {
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"a"}, "x");
        messages.back()["parts"][0]["functionResponse"]["response"] = std::move(response);
        return in.body(messages);
    };
    const std::string content = filler(0, 6000);
    const Pruned one = pruned(result({{"stdout", content}, {"exit_code", 0}}), capping, unread_too);
    CHECK(one.report.edits.at(0).path == "/functionResponse/response/stdout");
    const Ordered& left = one.after["contents"].back()["parts"][0]["functionResponse"]["response"];
    const bool same = left == Ordered{{"stdout", capped(content)}, {"exit_code", 0}};
    CHECK(same);
    CHECK(pruned(result({{"stdout", content}, {"stderr", content}}), capping, unread_too).unchanged());
    CHECK(pruned(result({{"stdout", content}, {"files", list(1, 2)}}), capping, unread_too).unchanged());
}

TEST_CASE("cap_on_arrival: results with images or documents stay, also when the images are gone") {
    const std::string content = filler(0, 6000);
    CHECK(pruned(session({list(text(content), image())}), capping, unread_too).unchanged());
    CHECK(pruned(session({list(text(content), document())}), capping, unread_too).unchanged());
    CHECK(pruned(session({list(text(content), Ordered{{"type", "x"}})}), capping, unread_too).unchanged());
    // it was sent like this before
    CHECK(pruned(session({list(text(content), text("[image cleared: Read /a]"))}), capping, unread_too).unchanged());
}

TEST_CASE("cap_on_arrival: exempt results and those without a call stay") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Skill", Ordered::object(), Ordered(filler(0, 9000)));
    messages.push_back(assistant("done"));
    CHECK(pruned(body(messages), coppice::Pipeline{Cap{}, coppice::ExemptTools{}}, unread_too).unchanged());
    CHECK_FALSE(pruned(body(messages), capping, unread_too).unchanged());
    messages[2]["content"][0]["tool_use_id"] = "other";
    CHECK(pruned_once(body(messages), capping).unchanged());
}

TEST_CASE("cap_on_arrival: beside a store whoever is listed first has the result and previews stay") {
    coppice::MemorySpillStore store;
    const coppice::Spill<> spill{.store = &store};
    const Ordered document = session_of_sizes({60'000, 9000});
    const Pruned stored_first = pruned(document, coppice::Pipeline{spill, Cap{}}, unread_too);
    CHECK(store.size() == 1);
    CHECK(text_of(result_content(stored_first.after, 0)).find("; stored at ") != std::string::npos);
    const bool second_capped = text_of(result_content(stored_first.after, 1)) == capped(filler(1, 9000));
    CHECK(second_capped);
    // a preview has more characters than this, and stays
    const coppice::CapOnArrival<> low{.above = coppice::chars(2100), .head = 400, .tail = 400};
    const Pruned again = pruned(stored_first.after, coppice::Pipeline{spill, low}, unread_too);
    CHECK(fates(again) == "-p");
    coppice::MemorySpillStore unused;
    const Pruned capped_first =
        pruned(document, coppice::Pipeline{Cap{}, coppice::Spill<>{.store = &unused}}, unread_too);
    CHECK(unused.size() == 0);
    const bool first_capped = text_of(result_content(capped_first.after, 0)) == capped(filler(0, 60'000));
    CHECK(first_capped);
}

TEST_CASE("cap_on_arrival: no character is split and nothing invalid is written") {
    const std::string face = "\xF0\x9F\x98\x80";
    std::string faces;
    for (int i = 0; i < 6000; ++i) { faces += face; }
    const Pruned p = pruned(session({Ordered(faces)}), capping, unread_too);
    const std::string left = text_of(result_content(p.after, 0));
    CHECK(left.find("3500 of 6000 characters") == 4 * 1500 + 37);
    const bool same_head = left.substr(0, 6000) == faces.substr(0, 6000);
    CHECK(same_head);
    CHECK(coppice::detail::is_utf8(left));

    // half a surrogate pair at either cut, and everywhere
    for (const std::string& escape : {std::string("\\ud83d"), std::string("\\ude00"), std::string("\\u0000")}) {
        std::string spelled;
        for (int i = 0; i < 6000; ++i) { spelled += escape; }
        const std::string bytes =
            R"({"system":"s","messages":[{"role":"assistant","content":)"
            R"([{"type":"tool_use","id":"a","name":"Read","input":{}}]},)"
            R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":")" +
            spelled + R"("}]}]})";
        const coppice::PrunedBody pruned = coppice::prune(bytes, capping);
        REQUIRE(pruned.report.engaged);
        const std::string_view out = pruned.bytes(bytes);
        CHECK(coppice::detail::is_utf8(out));
        CHECK_FALSE(coppice::prune(out, capping).report.engaged);
        const std::string& replacement = pruned.report.edits.at(0).replacement;
        CHECK(replacement.find("3500 of 6000 characters") != std::string::npos);
    }
}

TEST_CASE("cap_on_arrival: bytes that are no UTF-8 do not stop it") {
    std::string content = filler(0, 6000);
    content[100] = '\xFF';
    content[3000] = '\xC0';
    content[5900] = '\x80';
    Ordered document = session({Ordered(content)});
    const coppice::Report report = coppice::prune(document, capping);
    if (report.engaged) {
        const std::string left = text_of(result_content(document, 0));
        CHECK(coppice::detail::is_utf8(left));
        CHECK(left.substr(100, 3) == "\xEF\xBF\xBD");
        CHECK_FALSE(coppice::prune(document, capping).engaged);
    } else {
        CHECK_FALSE(report.why.empty());
    }
}

TEST_CASE("cap_on_arrival: lines like ours in the content change nothing") {
    const std::string line = "\n\n[middle of a tool result left out: 7 of 9 characters; not stored]\n\n";
    std::string decoys;
    while (decoys.size() < 20'000) { decoys += line; }
    for (const std::string& content :
         {line + filler(0, 9000) + line, decoys, filler(0, 1490) + line + filler(1, 9000),
          capped(filler(0, 20'000), 5000, 5000)}) {
        const Pruned p = pruned(session({Ordered(content)}), capping, unread_too);
        CHECK(fates(p) == "p");
        const bool same = text_of(result_content(p.after, 0)) == capped(content);
        CHECK(same);
    }
    // what looks capped and is short enough stays
    CHECK(pruned(session({Ordered(capped(filler(0, 9000)))}), capping, unread_too).unchanged());
}

TEST_CASE("cap_on_arrival: above is measured in its unit and never exceeded by what is left") {
    for (const coppice::Unit unit : {coppice::Unit::bytes, coppice::Unit::chars, coppice::Unit::utf16}) {
        const std::size_t width = unit == coppice::Unit::bytes ? 4 : unit == coppice::Unit::utf16 ? 2 : 1;
        CAPTURE(width);
        coppice::CapOnArrival<> policy;
        policy.head = 400;
        policy.tail = 400;
        policy.above = {(400 + 400 + coppice::CapOnArrival<>::between) * width, unit};
        CHECK(is_valid(policy));
        std::string faces;
        for (std::size_t i = 0; i < policy.above.value / width; ++i) { faces += "\xF0\x9F\x98\x80"; }
        const coppice::Pipeline pipeline{policy};
        CHECK(pruned(session({Ordered(faces)}), pipeline, unread_too).unchanged());
        std::string errors = "\n";
        for (int i = 0; i < 500; ++i) { errors += "error \xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\n"; }
        CHECK(fates(pruned(session({Ordered(faces + errors + faces)}), pipeline, unread_too)) == "p");
        --policy.above.value;
        CHECK_FALSE(is_valid(policy));
    }
}

TEST_CASE("cap_on_arrival: wrong numbers are refused") {
    CHECK(is_valid({}));
    CHECK(is_valid({.above = coppice::chars(11'250)}));
    CHECK_FALSE(is_valid({.above = coppice::chars(11'249)}));
    CHECK_FALSE(is_valid({.head = 399}));
    CHECK_FALSE(is_valid({.tail = 399}));
    CHECK_FALSE(is_valid({.above = coppice::chars(0)}));
    constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
    CHECK_FALSE(is_valid({.head = most}));
    CHECK_FALSE(is_valid({.tail = most}));
    CHECK_FALSE(is_valid({.head = most, .tail = most}));
    CHECK_FALSE(is_valid({.head = most - 500, .tail = 1000}));
    CHECK(is_valid({.above = coppice::chars(most), .head = 400, .tail = 400}));
    CHECK(pruned(session_of_sizes({60'000}),
                 coppice::Pipeline{coppice::CapOnArrival<>{.above = coppice::chars(most)}}, unread_too)
              .unchanged());
}

TEST_CASE("cap_on_arrival: the wording has to have a line for it") {
    struct Nothing {};
    static_assert(coppice::capping_wording<coppice::PlainWording>);
    static_assert(!coppice::capping_wording<Nothing>);
    static_assert(coppice::needs_cap_v<Cap> && !coppice::needs_cap_v<coppice::Spill<>>);
    static_assert(coppice::policy<Cap> && coppice::on_arrival_v<Cap>);
}

namespace {

// Writes what it does not know again, and what is longer than it may be.
struct Forgetful {
    static constexpr std::string_view name = "forgetful";
    static constexpr std::size_t longest = 9;
    coppice::Shape shape = coppice::Shape::as_it_was;
    bool knows = false;
    std::size_t length = 100;

    void result(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
    void field(std::string& out, const coppice::FieldFacts&) const { out += "[cleared]"; }
    void image(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
    void cap(std::string& out, const coppice::CapFacts& facts) const {
        out += "cut: ";
        out += facts.content.substr(0, length);
    }
    coppice::Recognised recognise(std::string_view text) const {
        using enum coppice::Recognised::Kind;
        return {.kind = text == "[cleared]" ? stub : knows && text.substr(0, 5) == "cut: " ? capped : content};
    }
};
static_assert(coppice::capping_wording<Forgetful>);

}  // namespace

TEST_CASE("cap_on_arrival: what is left is not cleared for a stub that is no shorter") {
    const auto left = [](std::size_t length) {
        const coppice::Pipeline pipeline{Cap{}, coppice::KeepRecent<0, coppice::chars(1)>{},
                                         Forgetful{.knows = true, .length = length}};
        Ordered document = session_of_sizes({9000});
        coppice::prune(document, pipeline);
        const Ordered once = document;
        CHECK_FALSE(coppice::prune(document, pipeline).engaged);
        return text_of(result_content(once, 0));
    };
    CHECK(left(4) == "cut: 0: a");
    CHECK(left(5) == "[cleared]");
    // the same where the result is in pieces
    const Spelling in(coppice::Dialect::gemini);
    const coppice::Pipeline pipeline{Cap{}, coppice::KeepRecent<0, coppice::chars(1)>{},
                                     Forgetful{.knows = true, .length = 4}};
    Ordered document = in.session({filler(0, 9000)});
    coppice::prune(document, pipeline);
    CHECK(in.text(document, 0) == "cut: 0: a");
}

TEST_CASE("cap_on_arrival: what a wording does not know again or makes too long is not written") {
    const auto done = [](bool knows, std::size_t length) {
        const coppice::Pipeline pipeline{Cap{}, Forgetful{.knows = knows, .length = length}};
        Ordered document = session_of_sizes({9000});
        return coppice::prune(document, pipeline).engaged;
    };
    CHECK(done(true, 100));
    CHECK(done(true, 4995));
    CHECK_FALSE(done(true, 4996));
    CHECK_FALSE(done(false, 100));
}

TEST_CASE("cap_on_arrival: results that lost what told them apart are no duplicates for a cadence that weighs") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 4; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered{{"file_path", "/same"}},
                 Ordered(std::string(2000, 'h') + std::string(6000, static_cast<char>('a' + i)) + std::string(2000, 't')));
    }
    for (std::size_t i = 0; i < 2; ++i) {
        messages.push_back(assistant("done"));
        messages.push_back(user("more"));
    }
    const coppice::Pipeline pipeline{coppice::SkiRental<>{}, coppice::CapOnArrival<coppice::chars(4000), 800, 500>{},
                                     coppice::Dedup<>{}};
    for (const char* const model : {"claude-sonnet-4-5", "claude-opus-5-5"}) {
        Ordered document = body(messages);
        document["model"] = model;
        const coppice::Report report = coppice::plan(document, pipeline);
        CHECK(report.edits.size() == 4);
        for (const coppice::EditRecord& edit : report.edits) { CHECK(edit.reason == "cap_on_arrival"); }
    }
}
