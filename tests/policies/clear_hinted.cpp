// SPDX-License-Identifier: MIT
#include <coppice/policies/clear_hinted.hpp>

#include "support/pruned.hpp"

#include <coppice/cadences/stepped.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

using namespace support;

namespace {

using coppice::Hint;
using enum coppice::Hint::Kind;

// What becomes of results of the same size with these hints, a letter each: `u` useless, `r` regenerable, `p` pinned, and
// `b` both of the first two.
template <class Pipeline>
std::string with_hints(const std::string& letters, const Pipeline& pipeline, std::size_t size = 3000) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < letters.size(); ++i) { ids.push_back("call_" + std::to_string(i)); }
    std::vector<Hint> hints;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        const char letter = letters[i];
        if (letter == 'u' || letter == 'b') { hints.push_back({ids[i], useless}); }
        if (letter == 'r' || letter == 'b') { hints.push_back({ids[i], regenerable}); }
        if (letter == 'p') { hints.push_back({ids[i], pin}); }
    }
    return fates(pruned(session_of_sizes(std::vector<std::size_t>(letters.size(), size)), {pipeline, hints}));
}

const coppice::Pipeline<coppice::ClearHinted<2>> hinted{};

}  // namespace

TEST_CASE("clear_hinted: useless results go whichever place they have, and those without hints stay") {
    CHECK(with_hints("u--u-u", hinted) == "s--s-s");
    CHECK(with_hints("------", hinted) == "------");
    CHECK(with_hints("pppppp", hinted) == "------");
    CHECK(with_hints("u", hinted, 200) == "s");
    CHECK(with_hints("u", hinted, 30) == "-");
}

TEST_CASE("clear_hinted: of regenerable results the newest stay") {
    CHECK(with_hints("r-r-r-r", hinted) == "s-s----");
    CHECK(with_hints("rr", hinted) == "--");
    CHECK(with_hints("rr", coppice::Pipeline{coppice::ClearHinted<0>{}}) == "ss");
    CHECK(with_hints("rrrrr", coppice::Pipeline{coppice::ClearHinted<>{}}) == "ss---");
    CHECK(with_hints("rrrrr", coppice::Pipeline{coppice::ClearHinted<>{.keep_regenerable = 4}}) == "s----");
}

TEST_CASE("clear_hinted: what is useless takes no place among regenerable results kept") {
    CHECK(with_hints("rrrbb", hinted) == "s--ss");
}

TEST_CASE("clear_hinted: what it clears takes no place among those that other policies keep") {
    const coppice::Pipeline both{coppice::ClearHinted<2>{}, coppice::KeepRecent<2>{}};
    CHECK(with_hints("----uu", both) == "ss--ss");
    CHECK(with_hints("------", both) == "ssss--");
}

TEST_CASE("clear_hinted: unread results and inputs of calls stay") {
    Ordered messages = list(user("start"));
    add_pair(messages, "old", "Write", Ordered{{"content", filler(0, 3000)}}, Ordered(filler(1, 3000)));
    add_pair(messages, "new", "Write", Ordered{{"content", filler(2, 3000)}}, Ordered(filler(3, 3000)));
    const std::array<Hint, 2> hints = {Hint{"old", useless}, Hint{"new", useless}};
    const Pruned p = pruned(body(messages), {hinted, hints});
    CHECK(fates(p) == "s-");
    CHECK(input_fates(p) == "--");
}

TEST_CASE("clear_hinted: the cadence decides when") {
    const coppice::Pipeline stepped{coppice::Stepped<3>{}, coppice::ClearHinted<2>{}};
    // requests: one before all results, one with each of them, and the last one
    CHECK(with_hints("uu", stepped) == "s-");
    CHECK(with_hints("uuu", stepped) == "s--");
    CHECK(with_hints("uuuu", stepped) == "ssss");
}
