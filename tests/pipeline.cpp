// SPDX-License-Identifier: MIT
#include <coppice/pipeline.hpp>

#include "support/pruned.hpp"

#include <coppice/cadences/stepped.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/policies.hpp>
#include <coppice/presets/openswarm.hpp>
#include <coppice/presets/standard.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

// A wording of the user's own, as the concept's exemplar has it.
struct Terse {
    static constexpr std::string_view name = "terse";
    static constexpr std::size_t longest = 9;
    coppice::Shape shape = coppice::Shape::as_it_was;
    void result(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
    void field(std::string& out, const coppice::FieldFacts&) const { out += "[cleared]"; }
    void image(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
    coppice::Recognised recognise(std::string_view text) const {
        return {text == "[cleared]" ? coppice::Recognised::Kind::stub : coppice::Recognised::Kind::content,
                {},
                {}};
    }
};

struct Everything {
    static constexpr std::string_view name = "everything";
    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
        for (std::size_t i = 0; i < transcript.entries().size(); ++i) { plan.clear(i, name); }
    }
};

struct EveryThirdRequest {
    static constexpr std::string_view name = "every_third_request";
    struct State {};
    bool moves(State&, const coppice::Request& request) const { return request.number % 3 == 0; }
};

struct KeepTests {
    static constexpr std::string_view name = "keep_tests";
    bool allows(const coppice::Transcript& transcript, const coppice::Proposal& proposal) const {
        return !coppice::same_text(transcript.all()[proposal.entry].tool, std::string_view("run_tests"));
    }
};

}  // namespace

TEST_CASE("pipeline: every part may be one of the user's own") {
    Ordered messages = list(user("start"));
    for (int i = 0; i < 4; ++i) {
        add_pair(messages, "c" + std::to_string(i), i == 1 ? "run_tests" : "Read", Ordered::object(),
                 Ordered(filler(7, 300)));
    }
    // requests at 1, 3, 5, 7 and 9 messages
    const coppice::Pipeline pipeline{Terse{}, KeepTests{}, EveryThirdRequest{}, Everything{}};
    const Pruned p = pruned(body(messages), pipeline);
    CHECK(p.report.horizon == 5);
    CHECK(result_content(p.after, 0) == "[cleared]");
    for (std::size_t i = 1; i < 4; ++i) { CHECK(result_content(p.after, i) == result_content(p.before, i)); }
}

TEST_CASE("pipeline: policies run in the order of the list") {
    const Ordered document =
        session({Ordered(filler(0, 3000)), Ordered(filler(0, 3000)), Ordered(filler(1, 3000))});
    using Same = coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>;
    CHECK(fates(pruned(document, coppice::Pipeline<Same, coppice::KeepRecent<2>>{})) == "d--");
    CHECK(fates(pruned(document, coppice::Pipeline<coppice::KeepRecent<2>, Same>{})) == "s--");
}

TEST_CASE("pipeline: guards and cadence and wording may stand anywhere") {
    const Ordered document = session_of_sizes({3000, 3000, 3000});
    const std::string expected =
        pruned(document, coppice::Pipeline{coppice::KeepRecent<0>{}, coppice::SmallAging<0>{}, Terse{},
                                           coppice::Stepped<2>{}, KeepTests{}})
            .after.dump();
    CHECK(pruned(document, coppice::Pipeline{KeepTests{}, coppice::Stepped<2>{}, Terse{},
                                             coppice::KeepRecent<0>{}, coppice::SmallAging<0>{}})
              .after.dump() == expected);
    CHECK(pruned(document, coppice::Pipeline{coppice::KeepRecent<0>{}, Terse{}, coppice::SmallAging<0>{},
                                             KeepTests{}, coppice::Stepped<2>{}})
              .after.dump() == expected);
}

TEST_CASE("pipeline: numbers in the type and numbers at run time do the same") {
    using Static =
        coppice::Pipeline<coppice::SmallAging<2>, coppice::Dedup<coppice::Size{300}>, coppice::KeepRecent<1>>;
    const coppice::Pipeline dynamic{coppice::SmallAging<>{.keep = 2},
                                    coppice::Dedup<>{.min = coppice::bytes(300)},
                                    coppice::KeepRecent<>{.keep = 1}};
    const Ordered document = session_of_sizes({500, 3000, 500, 3000, 500, 3000});
    CHECK(pruned(document, Static{}).after.dump() == pruned(document, dynamic).after.dump());
}

TEST_CASE("pipeline: it can be a constant expression") {
    static constexpr coppice::Pipeline<coppice::SmallAging<2>, coppice::KeepRecent<1>, coppice::ExemptTools,
                                       coppice::Stepped<1>>
        fixed{};
    static constexpr coppice::Pipeline chosen{coppice::KeepRecent<>{.keep = 1},
                                              coppice::Ceiling<>{.target = 9000, .keep = 1}};
    static_assert(fixed.part<coppice::KeepRecent<1>>().keep == 1);
    static_assert(chosen.part<coppice::KeepRecent<>>().keep == 1);
    static_assert(chosen.part<coppice::Ceiling<>>().target == coppice::bytes(9000));
    static constexpr auto openswarm = coppice::presets::openswarm();
    static constexpr auto standard = coppice::presets::standard();
    CHECK(fates(pruned(session_of_sizes({3000, 3000}), fixed)) == "s-");
    CHECK(fates(pruned(session_of_sizes({3000, 3000}), chosen)) == "s-");
    CHECK(pruned_once(session_of_sizes({3000}), openswarm).unchanged());
    CHECK(pruned_once(session_of_sizes({3000}), standard).unchanged());
}

TEST_CASE("pipeline: two of them share nothing") {
    const Ordered document = session_of_sizes({3000, 3000, 3000, 3000});
    const coppice::Pipeline one{coppice::KeepRecent<>{.keep = 1}};
    const coppice::Pipeline three{coppice::KeepRecent<>{.keep = 3}, Terse{}};
    coppice::Workspace workspace;  // not even what a shared workspace remembers
    for (int i = 0; i < 3; ++i) {
        CHECK(coppice::plan(document, one, workspace).edits.size() == 3);
        CHECK(coppice::plan(document, three, workspace).edits.size() == 1);
        CHECK(coppice::plan(session_of_sizes({10}), one, workspace).edits.empty());
    }
    coppice::Pipeline copy = three;
    CHECK(pruned(document, copy).after.dump() == pruned(document, three).after.dump());
}

TEST_CASE("pipeline: a workspace used again changes no answer") {
    const coppice::Pipeline pipeline{coppice::SmallAging<1>{}, coppice::Dedup<>{},
                                     coppice::KeepRecent<1, coppice::Size{2000}, 0>{},
                                     coppice::BulkyInputClear<0>{}, coppice::Ceiling<>{.target = 9000}};
    coppice::Workspace workspace;
    for (const std::size_t count : {9U, 1U, 20U, 0U, 5U}) {
        Ordered messages = list(user("start"));
        for (std::size_t i = 0; i < count; ++i) {
            add_pair(messages, "c" + std::to_string(i), "Write", Ordered{{"content", filler(i, 2500)}},
                     i % 3 == 0 ? list(text(filler(i, 400)), image()) : Ordered(filler(i / 2, 3000)));
        }
        messages.push_back(assistant("done"));
        Ordered reused = body(messages);
        Ordered fresh = reused;
        const coppice::Report again = coppice::prune(reused, pipeline, workspace);
        const coppice::Report first = coppice::prune(fresh, pipeline);
        CHECK(reused.dump() == fresh.dump());
        CHECK(coppice::to_json(again) == coppice::to_json(first));
    }
}

TEST_CASE("pipeline: numbers that make no sense are refused with the name of the part") {
    const auto refuses = [](auto make, const std::string& part) {
        std::string said = "nothing";
        try {
            make();
        } catch (const std::invalid_argument& error) { said = error.what(); }
        CHECK(said.substr(0, part.size()) == part);
    };
    refuses([] { coppice::Pipeline{coppice::SmallAging<>{.above = coppice::bytes(5000)}}; },
            "coppice::SmallAging:");
    refuses([] { coppice::Pipeline{coppice::KeepRecent<>{.big = coppice::bytes(0)}}; },
            "coppice::KeepRecent:");
    refuses([] { coppice::Pipeline{coppice::BulkyInputClear<>{.fields = {}}}; }, "coppice::BulkyInputClear:");
    refuses([] { coppice::Pipeline{coppice::Ceiling<>{.keep = 1000}}; }, "coppice::Ceiling:");
    refuses([] { coppice::Pipeline{coppice::Spill<>{.above = coppice::bytes(10)}}; }, "coppice::Spill:");
    refuses(
        [] {
            coppice::Pipeline{coppice::KeepRecent<>{}, coppice::Stepped<>{.requests = 0}};
        },
        "coppice::Stepped:");
    refuses([] { (void)coppice::Pipeline<coppice::KeepRecent<>, coppice::Stepped<0>>{}; },
            "coppice::Stepped:");
    refuses(
        [] { (void)coppice::Pipeline<coppice::KeepRecent<>, coppice::Ceiling<coppice::Size{1000}, 2>>{}; },
        "coppice::Ceiling:");
}

TEST_CASE("pipeline: says why nothing changed") {
    const Ordered document = session_of_sizes({3000});
    const auto why = [&](const auto& pipeline, coppice::Dialect dialect = coppice::Dialect::detect) {
        return coppice::plan(document, pipeline, dialect).why;
    };
    CHECK(why(coppice::Pipeline{coppice::KeepRecent<>{}}) == "nothing to clear");
    CHECK(why(coppice::Pipeline{coppice::KeepRecent<>{}, coppice::Stepped<9>{}}) ==
          "at no request so far the cadence stepped lets the history change");
    CHECK(
        why(coppice::Pipeline{coppice::KeepRecent<>{}, coppice::EveryRequest<coppice::utf16(9'000'000)>{}}) ==
        "the body has " + std::to_string(document.dump().size()) + " of 9000000 utf16");
    CHECK(why(coppice::Pipeline{coppice::KeepRecent<0>{}}).empty());
}

TEST_CASE("pipeline: documents that are no session are left alone and the report says why") {
    const coppice::Pipeline pipeline{coppice::KeepRecent<0>{}};
    for (const char* body : {R"({"system":"s","messages":[]})", R"({"messages":[]})", "[]", "{}", "null", "7",
                             R"("text")", R"({"model":"m","messages":"none"})",
                             R"({"system":"s","messages":[{"role":"user","content":"hi"}]})"}) {
        CAPTURE(body);
        const Pruned p = pruned_once(Ordered::parse(body), pipeline);
        CHECK(p.unchanged());
        CHECK_FALSE(p.report.engaged);
        CHECK_FALSE(p.report.why.empty());
    }
}
