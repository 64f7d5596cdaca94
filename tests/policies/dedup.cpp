// SPDX-License-Identifier: MIT
#include <coppice/policies/dedup.hpp>

#include "support/pruned.hpp"

#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/small_aging.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace support;

namespace {

struct Step {
    std::string tool = "Read";
    Ordered input;
    Ordered content;
    bool error = false;
};

Ordered session_of(const std::vector<Step>& steps) {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        add_pair(messages, "c" + std::to_string(i), steps[i].tool, steps[i].input, steps[i].content,
                 steps[i].error);
    }
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

// two reads of one file that gave these contents
Ordered twice(Ordered first, Ordered second) {
    const Ordered input = {{"file_path", "/a.c"}};
    return session_of({{"Read", input, std::move(first), false}, {"Read", input, std::move(second), false}});
}

const coppice::Pipeline<coppice::Dedup<>> by_call{};
const coppice::Pipeline<coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>> by_content{};

// The stub of a duplicate is short and the other one long, so that a text may have room for one alone.
struct Wordy : coppice::PlainWording {
    static constexpr std::string_view name = "wordy";
    static constexpr std::size_t longest = 4000;
    void result(std::string& out, const coppice::ResultFacts& facts) const {
        out += facts.duplicate ? "[same]" : std::string(2500, '.');
    }
};

struct CollapseThenClear {
    static constexpr std::string_view name = "collapse_then_clear";
    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
        if (transcript.horizon() < transcript.messages.size()) { return; }
        CHECK(plan.collapse(2, 4, name));
        CHECK(plan.clear(4, name));
    }
};

}  // namespace

TEST_CASE("dedup: only the newest of equal results stays and the stubs say so") {
    const Ordered input = {{"file_path", "/a.c"}};
    const std::string same = filler(0, 3000);
    const Pruned p = pruned(session_of({{"Read", input, Ordered(same), false},
                                        {"Read", input, Ordered(filler(1, 3000)), false},
                                        {"Read", input, Ordered(same), false},
                                        {"Read", input, Ordered(same), false}}),
                            by_call);
    CHECK(fates(p) == "d-d-");
    CHECK(result_content(p.after, 0) ==
          "[tool result cleared: 3000 characters, ok, same as a later result; Read /a.c]");
    CHECK(p.report.by_reason.at(0).reason == "dedup");
    CHECK(p.report.by_reason.at(0).count == 2);
}

TEST_CASE("dedup: one byte is a difference") {
    std::string other = filler(0, 3000);
    other.back() = '!';
    CHECK(pruned(twice(Ordered(filler(0, 3000)), Ordered(other)), by_call).unchanged());
}

TEST_CASE("dedup: the error flag is a difference") {
    const Ordered input = {{"command", "make"}};
    const std::string same = filler(0, 3000);
    CHECK(pruned(session_of({{"Bash", input, Ordered(same), true}, {"Bash", input, Ordered(same), false}}),
                 by_content)
              .unchanged());
    CHECK(
        fates(pruned(session_of({{"Bash", input, Ordered(same), true}, {"Bash", input, Ordered(same), true}}),
                     by_content)) == "d-");
}

TEST_CASE("dedup: media are part of the content") {
    const Ordered words = text(filler(0, 3000));
    CHECK(pruned(twice(list(words, image(900, 'A')), list(words, image(900, 'B'))), by_call).unchanged());
    CHECK(pruned(twice(list(words, image(900, 'A')), list(words)), by_call).unchanged());
    CHECK(
        pruned(twice(list(words, document(900, 'A')), list(words, document(900, 'B'))), by_call).unchanged());
    CHECK(fates(pruned(twice(list(words, image(900, 'A')), list(words, image(900, 'A'))), by_call)) == "d-");
}

TEST_CASE("dedup: results that would hash alike are told apart by all that they are") {
    const Ordered words = text(filler(0, 3000));
    const Ordered document =
        session_of({{"Read", {{"path", "/a"}}, list(words, image(900, 'A')), false},
                    {"Read", {{"path", "/a"}}, list(words, image(900, 'A')), false},
                    {"Read", {{"path", "/a"}}, list(words, image(900, 'B')), false},
                    {"Read", {{"path", "/a"}}, list(words, image(900, 'A')), true},
                    {"Read", {{"path", "/b"}}, list(words, image(900, 'A')), false},
                    {"Read", {{"path", "/a"}}, list(image(900, 'A'), words), false},
                    {"Read", {{"path", "/a"}}, list(words), false},
                    {"Read", {{"path", "/a"}}, list(text(filler(1, 3000)), image(900, 'A')), false}});
    coppice::Workspace workspace;
    coppice::plan(document, by_call, workspace);
    // the document's own source of bytes has gone with the call that read it
    const coppice::detail::DomSource<Ordered> source;
    workspace.transcript.source = &source;
    const auto equal = [&](std::size_t n, coppice::SameCall same_call) {
        coppice::detail::ResultIdentity identity(workspace.transcript, same_call, workspace.plan.scratch());
        return identity.equal(workspace.transcript.all()[2], workspace.transcript.all()[2 + 2 * n]);
    };
    CHECK(equal(1, coppice::SameCall::required));
    for (std::size_t n = 2; n < 8; ++n) {
        CAPTURE(n);
        CHECK_FALSE(equal(n, coppice::SameCall::required));
    }
    CHECK(equal(4, coppice::SameCall::ignored));
    CHECK_FALSE(equal(3, coppice::SameCall::ignored));
}

TEST_CASE("dedup: the order of parts is part of the content") {
    const Ordered words = text(filler(0, 3000));
    CHECK(pruned(twice(list(words, image(900)), list(image(900), words)), by_call).unchanged());
    const Ordered more = text(filler(1, 3000));
    CHECK(pruned(twice(list(words, more), list(more, words)), by_call).unchanged());
}

TEST_CASE("dedup: where one text ends and the next begins is part of the content") {
    CHECK(pruned(twice(list(text(filler(0, 900) + "x"), text("yz")), list(text(filler(0, 900)), text("xyz"))),
                 by_call)
              .unchanged());
}

TEST_CASE("dedup: a string and one text block with the same text are the same content") {
    const Pruned p = pruned(twice(list(text(filler(0, 3000))), Ordered(filler(0, 3000))), by_call);
    CHECK(fates(p) == "d-");
    CHECK(result_content(p.after, 0).is_array());
}

TEST_CASE("dedup: the keys of media have no order") {
    const Ordered one =
        Ordered::parse(R"([{"type":"image","source":{"type":"base64","media_type":"image/png","data":")" +
                       std::string(900, 'A') + R"("}}])");
    const Ordered other = Ordered::parse(R"([{"source":{"data":")" + std::string(900, 'A') +
                                         R"(","media_type":"image/png","type":"base64"},"type":"image"}])");
    CHECK(fates(pruned(twice(one, other), by_call)) == "d-");
}

TEST_CASE("dedup: another tool or other arguments are a difference unless the call is ignored") {
    const std::string same = filler(0, 3000);
    const Ordered tools = session_of(
        {{"Read", {{"path", "/a"}}, Ordered(same), false}, {"Cat", {{"path", "/a"}}, Ordered(same), false}});
    CHECK(pruned(tools, by_call).unchanged());
    CHECK(fates(pruned(tools, by_content)) == "d-");
    const Ordered arguments = session_of(
        {{"Read", {{"path", "/a"}}, Ordered(same), false}, {"Read", {{"path", "/b"}}, Ordered(same), false}});
    CHECK(pruned(arguments, by_call).unchanged());
    CHECK(fates(pruned(arguments, by_content)) == "d-");
    const Ordered types = session_of(
        {{"Read", {{"line", 1}}, Ordered(same), false}, {"Read", {{"line", "1"}}, Ordered(same), false}});
    CHECK(pruned(types, by_call).unchanged());
}

TEST_CASE("dedup: the order of keys in the arguments does not matter at any depth") {
    const std::string same = filler(0, 3000);
    const Pruned p = pruned(
        session_of({{"Grep", Ordered::parse(R"({"a":1,"b":{"x":[1,2],"y":null}})"), Ordered(same), false},
                    {"Grep", Ordered::parse(R"({"b":{"y":null,"x":[1,2]},"a":1})"), Ordered(same), false},
                    {"Grep", Ordered::parse(R"({"b":{"y":null,"x":[2,1]},"a":1})"), Ordered(same), false}}),
        by_call);
    CHECK(fates(p) == "d--");
}

TEST_CASE("dedup: different ranges of one file are different calls") {
    const std::string same = filler(0, 3000);
    CHECK(
        pruned(session_of({{"read", {{"path", "a"}, {"offset", 0}, {"limit", 100}}, Ordered(same), false},
                           {"read", {{"path", "a"}, {"offset", 100}, {"limit", 100}}, Ordered(same), false}}),
               by_call)
            .unchanged());
}

TEST_CASE("dedup: results below the minimum stay and images need no text") {
    CHECK(pruned(twice(Ordered(filler(0, 199)), Ordered(filler(0, 199))), by_call).unchanged());
    CHECK(fates(pruned(twice(Ordered(filler(0, 200)), Ordered(filler(0, 200))), by_call)) == "d-");
    CHECK(fates(pruned(twice(list(image()), list(image())), by_call)) == "d-");
    coppice::Dedup<> text_only;
    text_only.media_only = false;
    CHECK(pruned(twice(list(image()), list(image())), coppice::Pipeline{text_only}).unchanged());
    CHECK(fates(pruned(twice(list(text("a"), image()), list(text("a"), image())),
                       coppice::Pipeline{text_only})) == "d-");
}

TEST_CASE("dedup: empty results are no duplicates") {
    coppice::Dedup<> everything{.min = coppice::bytes(0)};
    CHECK(pruned(twice(Ordered(""), Ordered("")), coppice::Pipeline{everything}).unchanged());
    CHECK(pruned(twice(Ordered::array(), Ordered::array()), coppice::Pipeline{everything}).unchanged());
}

TEST_CASE("dedup: a copy that the model has not read yet is one that stays") {
    Ordered messages = twice(Ordered(filler(0, 3000)), Ordered(filler(0, 3000))).at("messages");
    messages.erase(messages.size() - 1);
    CHECK(fates(pruned(body(messages), by_call)) == "d-");
}

TEST_CASE("dedup: an unread copy is not collapsed onto another unread one") {
    const std::string same = filler(0, 3000);
    const Ordered input = {{"file_path", "/a.c"}};
    const Ordered messages =
        list(user("start"), assistant_blocks(call_block("a", "Read", input), call_block("b", "Read", input)),
             user_blocks(result_block("a", Ordered(same)), result_block("b", Ordered(same))));
    CHECK(pruned(body(messages), by_call).unchanged());
}

TEST_CASE("dedup: parallel copies in one message collapse and stay in place") {
    const std::string same = filler(0, 3000);
    const Ordered input = {{"file_path", "/a.c"}};
    const Ordered messages = list(
        user("start"), assistant_blocks(call_block("a", "Read", input), call_block("b", "Read", input)),
        user_blocks(result_block("a", Ordered(same)), result_block("b", Ordered(same))), assistant("done"));
    CHECK(fates(pruned(body(messages), by_call)) == "d-");
}

TEST_CASE("dedup: an exempt copy stays beside the newest one") {
    const std::string same = filler(0, 3000);
    const Ordered document = session_of({{"Read", {}, Ordered(same), false},
                                         {"TodoWrite", {}, Ordered(same), false},
                                         {"Read", {}, Ordered(same), false}});
    const coppice::Pipeline pipeline{coppice::Dedup<>{.same_call = coppice::SameCall::ignored},
                                     coppice::ExemptTools{}};
    CHECK(fates(pruned(document, pipeline)) == "d--");
}

TEST_CASE("dedup: what an earlier policy cleared is no copy to point at") {
    const coppice::Pipeline pipeline{coppice::KeepRecent<0>{},
                                     coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{}};
    CHECK(fates(pruned(twice(Ordered(filler(0, 3000)), Ordered(filler(0, 3000))), pipeline)) == "ss");
}

TEST_CASE("dedup: when the newest copy is cleared by age its duplicates become ordinary stubs") {
    const std::string same = filler(0, 3000);
    const Ordered input = {{"file_path", "/a.c"}};
    std::vector<Step> steps(3, Step{"Read", input, Ordered(same), false});
    steps.push_back({"Read", input, Ordered(filler(1, 3000)), false});
    const Pruned p =
        pruned(session_of(steps), coppice::Pipeline{coppice::Dedup<>{}, coppice::KeepRecent<1>{}});
    CHECK(fates(p) == "sss-");
    CHECK(result_content(p.after, 0) == "[tool result cleared: 3000 characters, ok; Read /a.c]");
    REQUIRE(p.report.by_reason.size() == 1);
    CHECK(p.report.by_reason[0].reason == "keep_recent");
    CHECK(p.report.by_reason[0].count == 3);
}

TEST_CASE(
    "dedup: when a ceiling clears the newest copy its duplicates become ordinary stubs and the sum holds") {
    const std::string same = filler(0, 30'000);
    const Ordered input = {{"file_path", "/a.c"}};
    std::vector<Step> steps(4, Step{"Read", input, Ordered(same), false});
    steps.push_back({"Read", input, Ordered(filler(1, 9000)), false});
    steps.push_back({"Read", input, Ordered(filler(2, 9000)), false});
    const Pruned p =
        pruned(session_of(steps),
               coppice::Pipeline{coppice::Dedup<>{}, coppice::Ceiling<coppice::Size{20'000}, 2>{}});
    CHECK(fates(p) == "ssss--");
    CHECK(p.report.under_target == true);
    for (const coppice::EditRecord& edit : p.report.edits) { CHECK(edit.reason == "ceiling"); }
}

TEST_CASE("dedup: a duplicate whose ordinary stub would be too long comes back when its copy is cleared") {
    const Ordered document = session({list(text(filler(0, 2300))), list(text(filler(0, 2300)), image(900))});
    const Pruned p = pruned_once(document, coppice::Pipeline{CollapseThenClear{}, Wordy{}});
    CHECK(result_content(p.after, 0) == result_content(p.before, 0));
    CHECK(result_content(p.after, 1) == list(text(std::string(2500, '.'))));
}

TEST_CASE("dedup: a small result that is the newest copy of an old one and is aged leaves no false claim") {
    const std::string same = filler(0, 500);
    const Ordered input = {{"file_path", "/a.c"}};
    std::vector<Step> steps(2, Step{"Read", input, Ordered(same), false});
    steps.push_back({"Read", input, Ordered(filler(1, 500)), false});
    CHECK(fates(pruned(session_of(steps), coppice::Pipeline{coppice::Dedup<>{}, coppice::SmallAging<1>{}})) ==
          "ss-");
}

TEST_CASE("dedup: defaults and run-time fields") {
    constexpr coppice::Dedup<> standard;
    static_assert(standard.min == coppice::bytes(200) && standard.same_call == coppice::SameCall::required);
    static_assert(standard.media_only);
    const Ordered document = twice(Ordered(filler(0, 999)), Ordered(filler(0, 999)));
    CHECK(pruned(document, coppice::Pipeline{coppice::Dedup<>{.min = coppice::utf16(1000)}}).unchanged());
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::Dedup<>{.min = coppice::utf16(999)}})) == "d-");
}
