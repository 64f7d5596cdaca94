// SPDX-License-Identifier: MIT
#include <coppice/policy.hpp>

#include "support/pruned.hpp"

#include <coppice/cadences/stepped.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/policies/dedup.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/small_aging.hpp>
#include <coppice/policies/spill.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

// A policy of the user's own, as the concept's exemplar has it.
struct ClearGlobs {
    static constexpr std::string_view name = "clear_globs";
    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
        for (std::size_t i = 0; i < transcript.entries().size(); ++i) {
            if (coppice::same_text(transcript.entries()[i].tool, std::string_view("Glob"))) {
                plan.clear(i, name);
            }
        }
    }
};

// Does to a plan what the test says.
struct Do {
    static constexpr std::string_view name = "do";
    std::function<void(const coppice::Transcript&, coppice::Plan&)> what;
    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const { what(transcript, plan); }
};

Pruned doing(const Ordered& document, std::function<void(const coppice::Transcript&, coppice::Plan&)> what) {
    return pruned_once(document, coppice::Pipeline{Do{[what](const coppice::Transcript& transcript, coppice::Plan& plan) {
                           // the request before is planned, too, to tell what changes with this one
                           if (transcript.horizon() == transcript.messages.size()) { what(transcript, plan); }
                       }}});
}

// In `session(...)`, entry 0 is the user's, then a call and a result in turn.
constexpr std::size_t call_at(std::size_t n) { return 1 + 2 * n; }
constexpr std::size_t result_at(std::size_t n) { return 2 + 2 * n; }

}  // namespace

TEST_CASE("policy: one of the user's own runs beside the others and signs its edits") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Glob", Ordered{{"pattern", "*.c"}}, Ordered(filler(0, 300)));
    add_pair(messages, "b", "Read", Ordered{{"file_path", "/b"}}, Ordered(filler(1, 300)));
    add_pair(messages, "c", "Read", Ordered{{"file_path", "/c"}}, Ordered(filler(2, 3000)));
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), coppice::Pipeline{ClearGlobs{}, coppice::KeepRecent<0>{}});
    CHECK(fates(p) == "s-s");
    REQUIRE(p.report.by_reason.size() == 2);
    CHECK(p.report.by_reason[0].reason == "clear_globs");
    CHECK(p.report.by_reason[1].reason == "keep_recent");
    CHECK(result_content(p.after, 0) == "[tool result cleared: 300 characters, ok; Glob *.c]");
}

TEST_CASE("policy: a plan answers whether it took a change and takes each once") {
    const Pruned p = doing(session_of_sizes({3000, 5}), [](const coppice::Transcript&, coppice::Plan& plan) {
        CHECK(plan.could_clear(result_at(0)));
        CHECK(plan.clear(result_at(0), "one"));
        CHECK_FALSE(plan.could_clear(result_at(0)));
        CHECK_FALSE(plan.clear(result_at(0), "two"));
        CHECK_FALSE(plan.could_clear(result_at(1)));
        CHECK_FALSE(plan.clear(result_at(1), "one"));
        CHECK_FALSE(plan.clear(0, "one"));
        CHECK_FALSE(plan.clear(call_at(0), "one"));
        CHECK(plan.fate(result_at(0)) == coppice::Fate::stub);
        CHECK(plan.reason(result_at(0)) == "one");
        CHECK(plan.fate(result_at(1)) == coppice::Fate::keep);
    });
    CHECK(fates(p) == "s-");
    CHECK(p.report.by_reason.at(0).reason == "one");
}

TEST_CASE("policy: asking leaves no trace") {
    const Ordered document = session_of_sizes({3000, 3000});
    const Pruned asked = doing(document, [](const coppice::Transcript&, coppice::Plan& plan) {
        for (int i = 0; i < 100; ++i) { CHECK(plan.could_clear(result_at(0))); }
        CHECK(plan.clear(result_at(1), "x"));
        for (int i = 0; i < 100; ++i) { CHECK(plan.could_clear(result_at(0), true)); }
    });
    const Pruned not_asked = doing(document, [](const coppice::Transcript&, coppice::Plan& plan) {
        CHECK(plan.clear(result_at(1), "x"));
    });
    CHECK(asked.after.dump() == not_asked.after.dump());
}

TEST_CASE("policy: fields are cleared one by one in any order and the edits keep that of the document") {
    Ordered messages = list(user("start"));
    for (int i = 0; i < 2; ++i) {
        add_pair(messages, "e" + std::to_string(i), "Edit",
                 Ordered{{"old_string", filler(0, 900)}, {"path", "/a"}, {"new_string", filler(1, 900)}},
                 Ordered("ok"));
    }
    messages.push_back(assistant("done"));
    const Pruned p = doing(body(messages), [](const coppice::Transcript&, coppice::Plan& plan) {
        CHECK(plan.clear_field(call_at(1), 2, "last"));
        CHECK(plan.clear_field(call_at(0), 2, "middle"));
        CHECK(plan.could_clear_field(call_at(1), 0));
        CHECK(plan.clear_field(call_at(1), 0, "first"));
        CHECK(plan.clear_field(call_at(0), 0, "middle"));
        CHECK_FALSE(plan.clear_field(call_at(0), 0, "again"));
        CHECK_FALSE(plan.could_clear_field(call_at(0), 0));
        CHECK_FALSE(plan.clear_field(call_at(0), 1, "short"));
        CHECK_FALSE(plan.clear_field(call_at(0), 3, "none"));
        CHECK_FALSE(plan.clear_field(result_at(0), 0, "result"));
    });
    std::vector<std::string> order;
    for (const coppice::EditRecord& edit : p.report.edits) {
        order.push_back(edit.id + " " + edit.path + " " + std::string(edit.reason));
    }
    CHECK(order == std::vector<std::string>{"e0 /input/old_string middle", "e0 /input/new_string middle",
                                            "e1 /input/old_string first", "e1 /input/new_string last"});
}

TEST_CASE("policy: a duplicate points at a copy that stays or is none") {
    const std::vector<Ordered> contents(4, Ordered(filler(0, 3000)));
    const Pruned p = doing(session(contents), [](const coppice::Transcript&, coppice::Plan& plan) {
        CHECK_FALSE(plan.collapse(result_at(0), result_at(0), "self"));
        CHECK(plan.clear(result_at(3), "gone"));
        CHECK_FALSE(plan.collapse(result_at(0), result_at(3), "points nowhere"));
        CHECK(plan.collapse(result_at(0), result_at(2), "same"));
        CHECK_FALSE(plan.collapse(result_at(0), result_at(1), "again"));
        CHECK_FALSE(plan.collapse(result_at(1), result_at(0), "points at a stub"));
    });
    CHECK(fates(p) == "d--s");
}

TEST_CASE("policy: a chain of duplicates becomes ordinary when its last copy is cleared") {
    const std::vector<Ordered> contents(3, Ordered(filler(0, 3000)));
    const Pruned p = doing(session(contents), [](const coppice::Transcript&, coppice::Plan& plan) {
        CHECK(plan.collapse(result_at(0), result_at(1), "same"));
        CHECK(plan.collapse(result_at(1), result_at(2), "same"));
        CHECK(plan.clear(result_at(2), "gone"));
    });
    CHECK(fates(p) == "sss");
}

TEST_CASE("policy: a duplicate of a result that loses its image is no duplicate any more") {
    const std::vector<Ordered> contents(2, list(text(filler(0, 300)), image()));
    const Pruned p = doing(session(contents), [](const coppice::Transcript&, coppice::Plan& plan) {
        CHECK(plan.collapse(result_at(0), result_at(1), "same"));
        CHECK(plan.elide_images(result_at(1), "gone"));
    });
    CHECK(fates(p) == "si");
}

TEST_CASE("policy: images that were elided can be cleared with their text later and count once") {
    const Ordered document = session({list(text(filler(0, 3000)), image(), image(3000, 'B'))});
    const Pruned p = doing(document, [](const coppice::Transcript&, coppice::Plan& plan) {
        CHECK(plan.elide_images(result_at(0), "elide"));
        CHECK_FALSE(plan.elide_images(result_at(0), "again"));
        CHECK(plan.fate(result_at(0)) == coppice::Fate::elide);
        CHECK(plan.clear(result_at(0), "clear"));
        CHECK_FALSE(plan.elide_images(result_at(0), "too late"));
    });
    CHECK(fates(p) == "s");
    CHECK(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].reason == "clear");
}

TEST_CASE("policy: sees the history up to the horizon") {
    std::size_t seen = 0;
    const coppice::Pipeline pipeline{Do{[&](const coppice::Transcript& transcript, coppice::Plan&) {
                                         seen = std::max(seen, transcript.entries().size());
                                         CHECK(transcript.all().size() == 8);
                                     }},
                                     coppice::Stepped<2>{}};
    coppice::plan(session_of_sizes({10, 20, 30}), pipeline);
    CHECK(seen == 7);  // the fourth request of five, without the last word
    seen = 0;
    Ordered shorter = session_of_sizes({10, 20, 30});
    shorter["messages"].erase(shorter["messages"].size() - 1);
    const coppice::Pipeline third{Do{[&](const coppice::Transcript& transcript, coppice::Plan&) {
                                      seen = std::max(seen, transcript.entries().size());
                                  }},
                                  coppice::Stepped<3>{}};
    coppice::plan(shorter, third);
    CHECK(seen == 5);
}

TEST_CASE("policy: without a move of the cadence it is not asked") {
    bool asked = false;
    const coppice::Pipeline pipeline{Do{[&](const coppice::Transcript&, coppice::Plan&) { asked = true; }},
                                     coppice::Stepped<50>{}};
    coppice::plan(session_of_sizes({3000}), pipeline);
    CHECK_FALSE(asked);
}

TEST_CASE("policy: one that throws leaves the document as it was") {
    Ordered document = session_of_sizes({3000, 3000});
    const Ordered original = document;
    const coppice::Pipeline pipeline{
        coppice::KeepRecent<0>{},
        Do{[](const coppice::Transcript&, coppice::Plan&) { throw std::runtime_error("no idea"); }}};
    const coppice::Report report = coppice::prune(document, pipeline);
    CHECK(document == original);
    CHECK_FALSE(report.engaged);
    CHECK(report.why == "no idea");
}

TEST_CASE("policy: the last line of a failed result is found where later parts are blank") {
    const Ordered document = body(list(user("start"), call("a", "Bash", Ordered{{"command", "make"}}),
                                       result("a",
                                              list(text(filler(0, 3000)), text("\tmake: *** Error 1\n"),
                                                   text("\n \n \n \n \n \n \n \n \n \n")),
                                              true),
                                       assistant("done")));
    const coppice::Pipeline pipeline{coppice::KeepRecent<0>{}};
    coppice::Workspace workspace;
    const auto last_line = [&] {
        std::string stub;
        workspace.plan.for_each_edit([&](const coppice::Edit& edit) { stub = edit.text; });
        const std::size_t at = stub.find("; last line");
        return at == std::string::npos ? std::string() : stub.substr(at);
    };
    coppice::plan(document, pipeline, workspace);
    CHECK(last_line() == "; last line: make: *** Error 1]");

    // the same as the bytes of a body have it, still escaped
    std::vector<std::string> escaped;
    for (coppice::Part& part : workspace.transcript.parts) {
        const std::string quoted = Ordered(std::string(part.text.text().raw())).dump();
        escaped.push_back(quoted.substr(1, quoted.size() - 2));
    }
    for (std::size_t i = 0; i < escaped.size(); ++i) {
        workspace.transcript.parts[i].text = coppice::MeasuredText(coppice::Text::still_escaped(escaped[i]));
    }
    // the document's own source of bytes has gone with the call that read it
    const coppice::detail::DomSource<Ordered> source;
    workspace.transcript.source = &source;
    pipeline.run(workspace);
    CHECK(last_line() == "; last line: make: *** Error 1]");
}

TEST_CASE("policy: concepts tell policies and what they may add") {
    struct Nothing {};
    static_assert(coppice::policy<ClearGlobs>);
    static_assert(coppice::policy<coppice::SmallAging<>> && coppice::policy<coppice::Dedup<>>);
    static_assert(coppice::policy<coppice::KeepRecent<>> && coppice::policy<coppice::BulkyInputClear<>>);
    static_assert(coppice::policy<coppice::Ceiling<>> && coppice::policy<coppice::Spill<>>);
    static_assert(!coppice::policy<Nothing>);
    static_assert(!coppice::policy<coppice::Stepped<>>);
    static_assert(coppice::on_arrival_v<coppice::Spill<>> && !coppice::on_arrival_v<coppice::Dedup<>>);
    static_assert(coppice::committing_policy<coppice::Spill<>> &&
                  !coppice::committing_policy<coppice::Dedup<>>);
}
