// SPDX-License-Identifier: MIT
#include <coppice/recap/aging.hpp>

#include "support/recaps.hpp"

#include <coppice/measure.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

struct Body {
    std::string text;
    bool error = false;
    bool before_cutoff = false;
};

char letter_of(coppice::ResultFate fate) {
    using enum coppice::ResultFate;
    return fate == whole ? 'w' : fate == duplicate ? 'd' : 's';
}

// One letter for each, from the newest to the oldest, which is the order of the bodies.
std::string fates(const std::vector<Body>& bodies, const coppice::ResultAging& numbers) {
    coppice::ResultAger ager(numbers, bodies.size());
    std::string out;
    for (const Body& body : bodies) {
        const std::size_t chars = coppice::measure_plain(body.text).chars;
        const coppice::ResultFate fate = ager.decide(body.text, chars, body.error, body.before_cutoff);
        if (fate == coppice::ResultFate::whole && chars >= numbers.whole_below) {
            ager.spend(std::min(chars, numbers.item_chars));
        }
        out += letter_of(fate);
    }
    return out;
}

// Many of one length, each another text.
std::vector<Body> bodies(std::size_t count, std::size_t length) {
    std::vector<Body> out;
    for (std::size_t i = 0; i < count; ++i) {
        std::string text = std::to_string(i) + " ";
        text.resize(length, 'x');
        out.push_back({text});
    }
    return out;
}

}  // namespace

TEST_CASE("result ager: so many stay however long they are") {
    CHECK(fates(bodies(10, 6000), {}) == "wwwwwwwsss");
    CHECK(fates(bodies(7, 100'000), {}) == "wwwwwww");
    CHECK(fates(bodies(5, 6000), {.tail_chars = 1, .tail_results = 3}) == "wwwss");
}

TEST_CASE("result ager: more stay while they are short") {
    // 40 times 300 fill the budget exactly
    CHECK(fates(bodies(45, 300), {}) == std::string(40, 'w') + "sssss");
    CHECK(fates(bodies(5, 300), {.tail_chars = 301, .tail_results = 0}) == "wwsss");
    CHECK(fates(bodies(5, 300), {.tail_chars = 300, .tail_results = 0}) == "wssss");
    CHECK(fates(bodies(5, 300), {.tail_chars = 0, .tail_results = 0}) == "sssss");
    CHECK(fates(bodies(5, 300), {.tail_chars = coppice::none, .tail_results = 0}) == "wwwww");
}

TEST_CASE("result ager: short results stay and take no place") {
    std::vector<Body> mixed = bodies(2, 300);
    for (std::size_t i = 0; i < 50; ++i) { mixed.insert(mixed.begin() + 1, {std::string(199, 'y')}); }
    const coppice::ResultAging two{.tail_chars = 0, .tail_results = 2};
    CHECK(fates(mixed, two) == "w" + std::string(50, 'w') + "w");
    mixed[1].text += 'y';
    CHECK(fates(mixed, two) == "ww" + std::string(49, 'w') + "s");
    CHECK(fates({{"", false, true}, {std::string(199, 'y'), false, true}}, {}) == "ww");
}

TEST_CASE("result ager: nothing long stays that the cut leaves behind") {
    CHECK(fates({{std::string(200, 'a'), false, true}}, {}) == "s");
    CHECK(fates({{std::string(200, 'a')}, {std::string(200, 'b'), false, true}}, {}) == "ws");
}

TEST_CASE("result ager: lengths are code points") {
    CHECK(fates({{repeated("\u4F60", 199), false, true}}, {}) == "w");
    CHECK(fates({{repeated("\u4F60", 200), false, true}}, {}) == "s");
}

TEST_CASE("result ager: copies are told from the newest one") {
    const std::string text(300, 'c');
    CHECK(fates({{text}, {text}, {text}}, {}) == "wdd");
    CHECK(fates({{text}, {text, false, true}}, {}) == "wd");
    // a short one costs less than saying so
    CHECK(fates({{std::string(100, 'c')}, {std::string(100, 'c')}}, {}) == "ww");
    // equal but for the last byte
    CHECK(fates({{text}, {std::string(299, 'c') + 'd'}}, {}) == "ww");
}

TEST_CASE("result ager: a copy of what is not shown is no duplicate") {
    const std::string text(300, 'c');
    CHECK(fates({{text, false, true}, {text, false, true}}, {}) == "ss");
    const coppice::ResultAging one{.tail_chars = 0, .tail_results = 1};
    CHECK(fates({{std::string(300, 'n')}, {text}, {text}, {std::string(300, 'n')}}, one) == "wssd");
}

TEST_CASE("result ager: a failure is no copy of a success") {
    const std::string text(300, 'c');
    CHECK(fates({{text}, {text, true}, {text}, {text, true}}, {}) == "wwdd");
}

TEST_CASE("result ager: a duplicate takes no place") {
    std::vector<Body> copies(20, {std::string(300, 'c')});
    copies.push_back({std::string(300, 'd')});
    copies.push_back({std::string(300, 'e')});
    CHECK(fates(copies, {.tail_chars = 0, .tail_results = 2}) == "w" + std::string(19, 'd') + "ws");
}
