// SPDX-License-Identifier: MIT
#include <coppice/cadences/stepped.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/policies/dedup.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/small_aging.hpp>
#include <coppice/presets/standard.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

using namespace support;

namespace {

// as an agent's loop appends it: every sixth result repeats an earlier one, every fourth call writes a file
void append_round(Ordered& messages, std::size_t number) {
    const std::string id = "call_" + std::to_string(number);
    const Ordered input = number % 4 == 0 ? Ordered{{"file_path", "/w"}, {"content", filler(number, 2500)}}
                                          : Ordered{{"file_path", "/r" + std::to_string(number % 6)}};
    const Ordered content = number % 5 == 0
                                ? list(text(filler(number, 300)), image())
                                : Ordered(filler(number % 6 == 1 ? 1 : number, number % 3 == 0 ? 700 : 3000));
    add_pair(messages, id, number % 4 == 0 ? "Write" : "Read", input, content);
}

// Feeds the history as it grows for 50 requests. While the horizon stands still, everything up to it must
// come out byte for byte as before. Returns the horizons.
template <class Pipeline>
std::set<std::size_t> grow(const Pipeline& pipeline) {
    Ordered messages = list(user("start"));
    std::set<std::size_t> horizons;
    std::size_t horizon = 0;
    std::string before;
    for (std::size_t request = 1; request <= 50; ++request) {
        CAPTURE(request);
        Ordered pruned_messages = body(messages);
        const coppice::Report report = coppice::prune(pruned_messages, pipeline);
        const Ordered& after = pruned_messages["messages"];
        if (report.horizon == horizon && !before.empty()) {
            // without the closing bracket, the old body is how the new one begins
            const bool stable = after.dump().compare(0, before.size() - 1, before, 0, before.size() - 1) == 0;
            CHECK(stable);
        }
        for (std::size_t i = report.horizon; i < messages.size(); ++i) { CHECK(after[i] == messages[i]); }
        horizon = report.horizon;
        horizons.insert(horizon);
        before = after.dump();
        append_round(messages, request);
    }
    return horizons;
}

}  // namespace

TEST_CASE("stepped: the horizon moves with every n-th request and stands still between") {
    Ordered messages = list(user("start"));
    const coppice::Pipeline pipeline{coppice::KeepRecent<0>{}, coppice::Stepped<3>{}};
    std::vector<std::size_t> horizons;
    for (std::size_t request = 1; request <= 8; ++request) {
        Ordered document = body(messages);
        horizons.push_back(coppice::prune(document, pipeline).horizon);
        append_round(messages, request);
    }
    CHECK(horizons == std::vector<std::size_t>{0, 0, 5, 5, 5, 11, 11, 11});
}

TEST_CASE("stepped: while the horizon stands still the pruned prefix is byte-stable for 50 requests") {
    const coppice::Stepped<7> when;
    CHECK(grow(coppice::Pipeline{
                   coppice::SmallAging<3>{}, coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{},
                   coppice::KeepRecent<2, coppice::Size{2000}, 1>{}, coppice::BulkyInputClear<1>{}, when})
              .size() == 8);
    CHECK(grow(coppice::Pipeline{coppice::Dedup<>{}, coppice::Ceiling<coppice::Size{20'000}, 2>{}, when})
              .size() == 8);
    CHECK(grow(coppice::presets::standard(coppice::Stepped<10>{})).size() == 6);
}

TEST_CASE("stepped: every request rewrites the prefix where a step would leave it alone") {
    // the same growth with a window that slides: an old block changes with nearly every request
    Ordered messages = list(user("start"));
    std::string before;
    std::size_t broken = 0;
    for (std::size_t request = 1; request <= 50; ++request) {
        Ordered document = body(messages);
        coppice::prune(document, coppice::Pipeline{coppice::KeepRecent<2>{}});
        const std::string after = document["messages"].dump();
        broken += !before.empty() && after.compare(0, before.size() - 1, before, 0, before.size() - 1) != 0;
        before = after;
        append_round(messages, request);
    }
    CHECK(broken > 20);
}

TEST_CASE("stepped: what was unread at the horizon stays until the next one") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 3; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered::object(), Ordered(filler(i, 3000)));
    }
    // requests at 1, 3, 5 and 7 messages
    const Pruned p =
        pruned(body(messages), coppice::Pipeline{coppice::KeepRecent<0>{}, coppice::Stepped<3>{}});
    CHECK(p.report.horizon == 5);
    CHECK(fates(p) == "s--");
}

TEST_CASE("stepped: before the first step nothing changes and the report says why") {
    const Pruned p = pruned(session_of_sizes({3000, 3000}),
                            coppice::Pipeline{coppice::KeepRecent<0>{}, coppice::Stepped<9>{}});
    CHECK(p.unchanged());
    CHECK(p.report.why == "at no request so far the cadence stepped lets the history change");
}

TEST_CASE("stepped: a step at which the body was too small does not count") {
    Ordered messages = list(user("start"));
    std::vector<std::size_t> horizons;
    const coppice::Pipeline pipeline{coppice::KeepRecent<0>{},
                                     coppice::Stepped<2>{.engage = coppice::bytes(7000)}};
    for (std::size_t request = 1; request <= 6; ++request) {
        Ordered document = body(messages);
        horizons.push_back(coppice::prune(document, pipeline).horizon);
        add_pair(messages, "c" + std::to_string(request), "Read", Ordered::object(),
                 Ordered(filler(request, 3000)));
    }
    CHECK(horizons == std::vector<std::size_t>{0, 0, 0, 7, 7, 11});
}

TEST_CASE("stepped: defaults and run-time fields") {
    constexpr coppice::Stepped<> standard;
    static_assert(standard.requests == 10 && standard.engage == coppice::bytes(0));
    const Ordered document = session_of_sizes({3000, 3000, 3000});
    CHECK(pruned(document, coppice::Pipeline{coppice::KeepRecent<0>{}, coppice::Stepped<2>{}}).after.dump() ==
          pruned(document, coppice::Pipeline{coppice::KeepRecent<0>{}, coppice::Stepped<>{.requests = 2}})
              .after.dump());
}

TEST_CASE("stepped: a step of no requests is refused") {
    CHECK_THROWS_WITH_AS((coppice::Pipeline{coppice::KeepRecent<>{}, coppice::Stepped<>{.requests = 0}}),
                         "coppice::Stepped: `requests` must be at least 1", std::invalid_argument);
}
