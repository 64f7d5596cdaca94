// SPDX-License-Identifier: MIT
#include <coppice/detail/text_arena.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::detail::TextArena;

std::string numbered(std::size_t number, std::size_t size) {
    std::string text = std::to_string(number) + ':';
    text.resize(size, static_cast<char>('a' + number % 26));
    return text;
}

// Keeps texts of these sizes, and says whether all of them are still what they were, where they were.
bool keeps(TextArena& arena, const std::vector<std::size_t>& sizes) {
    std::vector<std::string_view> kept;
    std::vector<const char*> places;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        kept.push_back(arena.keep(numbered(i, sizes[i])));
        places.push_back(kept.back().data());
    }
    bool same = true;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        same = same && kept[i] == numbered(i, sizes[i]) && kept[i].data() == places[i];
    }
    return same;
}

}  // namespace

TEST_CASE("text arena: texts of every size stay what and where they are") {
    TextArena arena;
    CHECK(keeps(arena, {0, 1, 10, 1000, 65'535, 65'536, 65'537, 3, 300'000, 7, 0, 64 * 1024, 5}));
    CHECK(keeps(arena, std::vector<std::size_t>(5000, 100)));
}

TEST_CASE("text arena: an empty text is kept as one") {
    TextArena arena;
    CHECK(arena.keep("").empty());
    CHECK(arena.keep({}).empty());
    CHECK(arena.keep("a") == "a");
}

TEST_CASE("text arena: a kept text holds bytes of every kind") {
    TextArena arena;
    const std::string odd("a\0b\xFF\xC3", 5);
    CHECK(arena.keep(odd) == odd);
}

TEST_CASE("text arena: cleared it uses what it has") {
    TextArena arena;
    const char* const first = arena.keep("one").data();
    for (int round = 0; round < 100; ++round) {
        CHECK(keeps(arena, {200'000, 10, 70'000, 20}));
        arena.clear();
    }
    const std::string_view again = arena.keep("two");
    CHECK(again == "two");
    CHECK(again.data() == first);
}

TEST_CASE("text arena: a moved one takes its texts along") {
    TextArena arena;
    const std::string_view text = arena.keep(numbered(1, 100));
    const TextArena moved = std::move(arena);
    CHECK(text == numbered(1, 100));
}
