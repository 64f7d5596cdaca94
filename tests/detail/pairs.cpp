// SPDX-License-Identifier: MIT
#include <coppice/detail/pairs.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::none;
using coppice::Text;
using coppice::detail::Pairs;

Text id(std::string_view text) { return Text(text); }

Pairs fresh(Pairs::Reach reach = Pairs::Reach::turn) {
    Pairs pairs;
    pairs.clear(reach);
    return pairs;
}

}  // namespace

TEST_CASE("pairs: a result answers the call with its id") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 3);
    pairs.arm(id("b"), 5);
    CHECK(pairs.answer(id("b")) == 5);
    CHECK(pairs.answer(id("a")) == 3);
}

TEST_CASE("pairs: an id is answered once") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 3);
    CHECK(pairs.answer(id("a")) == 3);
    CHECK(pairs.answer(id("a")) == none);
}

TEST_CASE("pairs: an id that nobody armed answers nothing") {
    Pairs pairs = fresh();
    CHECK(pairs.answer(id("a")) == none);
    pairs.arm(id("a"), 3);
    CHECK(pairs.answer(id("A")) == none);
    CHECK(pairs.answer(id("")) == none);
    CHECK(pairs.answer(id("a")) == 3);
}

TEST_CASE("pairs: calls with one id are answered in the order they were made") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 1);
    pairs.arm(id("a"), 2);
    pairs.arm(id("a"), 3);
    CHECK(pairs.answer(id("a")) == 1);
    pairs.arm(id("a"), 4);
    CHECK(pairs.answer(id("a")) == 2);
    CHECK(pairs.answer(id("a")) == 3);
    CHECK(pairs.answer(id("a")) == 4);
    CHECK(pairs.answer(id("a")) == none);
    pairs.arm(id("a"), 5);
    CHECK(pairs.answer(id("a")) == 5);
}

TEST_CASE("pairs: a new turn disarms what was not answered") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 1);
    pairs.next_turn();
    CHECK(pairs.answer(id("a")) == none);
    pairs.arm(id("a"), 2);
    CHECK(pairs.answer(id("a")) == 2);
}

TEST_CASE("pairs: two spellings of an id are one id") {
    Pairs pairs = fresh();
    pairs.arm(Text::still_escaped(R"(toolu\u005f1)"), 1);
    CHECK(pairs.answer(id("toolu_1")) == 1);
    pairs.arm(id("a/b"), 2);
    CHECK(pairs.answer(Text::still_escaped(R"(a\/b)")) == 2);
}

TEST_CASE("pairs: cleared it knows nothing of before") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 1);
    pairs.clear();
    CHECK(pairs.answer(id("a")) == none);
}

TEST_CASE("pairs: a thousand parallel calls find their answers in reverse") {
    Pairs pairs = fresh();
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < 1000; ++i) { ids.push_back("call_" + std::to_string(i)); }
    for (std::size_t i = 0; i < ids.size(); ++i) { pairs.arm(id(ids[i]), i); }
    std::size_t wrong = 0;
    for (std::size_t i = ids.size(); i-- > 0;) { wrong += pairs.answer(id(ids[i])) != i; }
    CHECK(wrong == 0);
}

TEST_CASE("pairs: a call that has its answer already is passed over") {
    Pairs pairs = fresh();
    for (std::size_t i = 1; i <= 4; ++i) { pairs.arm(id("a"), i); }
    const auto odd = [](std::size_t call) { return call % 2 == 1; };
    CHECK(pairs.answer(id("a"), odd) == 2);
    CHECK(pairs.answer(id("a"), odd) == 4);
    CHECK(pairs.answer(id("a")) == none);
    pairs.arm(id("a"), 5);
    CHECK(pairs.answer(id("a"), [](std::size_t) { return true; }) == none);
    CHECK(pairs.answer(id("a")) == none);
}

TEST_CASE("pairs: calls armed behind answered ones keep their order") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 1);
    pairs.arm(id("a"), 2);
    CHECK(pairs.answer(id("a"), [](std::size_t call) { return call == 1; }) == 2);
    pairs.arm(id("a"), 3);
    pairs.arm(id("a"), 4);
    CHECK(pairs.answer(id("a")) == 3);
    CHECK(pairs.answer(id("a")) == 4);
}

TEST_CASE("pairs: an empty id is one like any other") {
    Pairs pairs = fresh();
    pairs.arm(id(""), 1);
    pairs.arm(id(""), 2);
    CHECK(pairs.answer(id("")) == 1);
    CHECK(pairs.answer(Text()) == 2);
    CHECK(pairs.answer(Text()) == none);
}

TEST_CASE("pairs: an id with a lone surrogate is not the one with a replacement character") {
    Pairs pairs = fresh();
    pairs.arm(Text::still_escaped(R"(a\ud800)"), 1);
    CHECK(pairs.answer(id("a\xEF\xBF\xBD")) == none);
    CHECK(pairs.answer(Text::still_escaped(R"(\u0061\uD800)")) == 1);
}

TEST_CASE("pairs: with a reach of the history a call waits over turns") {
    Pairs pairs = fresh(Pairs::Reach::history);
    pairs.arm(id("a"), 1);
    pairs.arm(id("b"), 2);
    pairs.next_turn();
    pairs.next_turn();
    CHECK(pairs.answer(id("b")) == 2);
    CHECK(pairs.answer(id("a")) == 1);
    CHECK(pairs.answer(id("a")) == none);
}

TEST_CASE("pairs: with a reach of the history the calls of a later turn take over their id") {
    Pairs pairs = fresh(Pairs::Reach::history);
    pairs.arm(id("a"), 1);
    pairs.arm(id("a"), 2);
    pairs.arm(id("b"), 3);
    pairs.next_turn();
    pairs.arm(id("a"), 4);
    pairs.arm(id("a"), 5);
    CHECK(pairs.answer(id("a")) == 4);
    CHECK(pairs.answer(id("a")) == 5);
    CHECK(pairs.answer(id("a")) == none);
    CHECK(pairs.answer(id("b")) == 3);
}

TEST_CASE("pairs: clearing sets the reach anew") {
    Pairs pairs = fresh(Pairs::Reach::history);
    pairs.arm(id("a"), 1);
    pairs.clear();
    CHECK(pairs.answer(id("a")) == none);
    pairs.arm(id("a"), 2);
    pairs.next_turn();
    CHECK(pairs.answer(id("a")) == none);
    pairs.clear(Pairs::Reach::history);
    pairs.arm(id("a"), 3);
    pairs.next_turn();
    CHECK(pairs.answer(id("a")) == 3);
}
