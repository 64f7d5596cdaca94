// SPDX-License-Identifier: MIT
#include <coppice/guard.hpp>

#include "support/pruned.hpp"

#include <coppice/guards/blank_text.hpp>
#include <coppice/guards/cache_marks.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/guards/opaque.hpp>
#include <coppice/guards/pairing.hpp>
#include <coppice/guards/unread.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/policies/dedup.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/small_aging.hpp>
#include <coppice/policies/spill.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

// Keeps what one tool said, and writes down what it was asked.
struct KeepTool {
    static constexpr std::string_view name = "keep_tool";
    std::string_view tool = "run_tests";
    std::vector<coppice::Proposal>* asked = nullptr;

    bool allows(const coppice::Transcript& transcript, const coppice::Proposal& proposal) const {
        if (asked != nullptr) { asked->push_back(proposal); }
        return !coppice::same_text(transcript.all()[proposal.entry].tool, tool);
    }
};

struct ForbidEverything {
    static constexpr std::string_view name = "forbid_everything";
    bool allows(const coppice::Transcript&, const coppice::Proposal&) const { return false; }
};

Ordered mixed(const std::string& tool) {
    Ordered messages = list(user("start"));
    for (int i = 0; i < 3; ++i) {
        add_pair(messages, "a" + std::to_string(i), tool, Ordered{{"content", filler(0, 3000)}},
                 Ordered(filler(1, 3000)));
        add_pair(messages, "b" + std::to_string(i), tool, Ordered::object(), list(text("see"), image()));
        add_pair(messages, "c" + std::to_string(i), tool, Ordered::object(), Ordered(filler(2, 500)));
        add_pair(messages, "d" + std::to_string(i), tool, Ordered::object(), Ordered(filler(3, 60'000)));
    }
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

}  // namespace

TEST_CASE("guard: one of the user's own holds against every policy") {
    coppice::MemorySpillStore store;
    const auto all = [&](auto guard) {
        return coppice::Pipeline{coppice::Spill<>{.store = &store},
                                 coppice::SmallAging<0>{},
                                 coppice::Dedup<>{},
                                 coppice::KeepRecent<0, coppice::Size{2000}, 0>{},
                                 coppice::BulkyInputClear<0>{},
                                 coppice::Ceiling<coppice::Size{100}, 0>{.big = coppice::bytes(90)},
                                 guard};
    };
    CHECK(pruned(mixed("run_tests"), all(KeepTool{})).unchanged());
    CHECK(fates(pruned_once(mixed("Read"), all(KeepTool{}))).find('-') == std::string::npos);
    CHECK(pruned(mixed("Read"), all(ForbidEverything{})).unchanged());
    CHECK(store.size() > 0);
}

TEST_CASE("guard: it sees what would be written and where") {
    std::vector<coppice::Proposal> asked;
    coppice::Pipeline pipeline{coppice::KeepRecent<0>{}, KeepTool{.tool = "none", .asked = &asked}};
    const Pruned p = pruned_once(session_of_sizes({3000}), pipeline);
    REQUIRE(!asked.empty());
    for (const coppice::Proposal& proposal : asked) {
        CHECK(proposal.entry == 2);
        CHECK(proposal.fate == coppice::Fate::stub);
    }
    CHECK(fates(p) == "s");
}

TEST_CASE("guard: one refusal among several is enough wherever it stands in the list") {
    const Ordered document = session_of_sizes({3000});
    CHECK(pruned(document, coppice::Pipeline{ForbidEverything{}, coppice::KeepRecent<0>{}, KeepTool{}})
              .unchanged());
    CHECK(pruned(document, coppice::Pipeline{KeepTool{}, coppice::KeepRecent<0>{}, ForbidEverything{}})
              .unchanged());
    CHECK_FALSE(pruned(document, coppice::Pipeline{KeepTool{}, coppice::KeepRecent<0>{}}).unchanged());
}

TEST_CASE("guard: the five that are always on may be listed too") {
    const Ordered document = session_of_sizes({3000, 3000});
    const coppice::Pipeline pipeline{coppice::Pairing{},    coppice::Unread{},    coppice::Opaque{},
                                     coppice::CacheMarks{}, coppice::BlankText{}, coppice::KeepRecent<1>{}};
    CHECK(fates(pruned(document, pipeline)) == "s-");
}

TEST_CASE("guard: the concept asks for a name and an answer") {
    struct Nothing {};
    static_assert(coppice::guard<KeepTool>);
    static_assert(coppice::guard<coppice::ExemptTools>);
    static_assert(!coppice::guard<Nothing>);
    static_assert(!coppice::guard<coppice::KeepRecent<>>);
}
