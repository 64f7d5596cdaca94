// SPDX-License-Identifier: MIT
#include <coppice/detail/hash.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace {

using coppice::detail::hash_bytes;
using coppice::detail::Index;
using coppice::detail::mix;

// The slot where a fresh index of 16 places begins to look for a key.
std::size_t home(std::uint64_t key) { return static_cast<std::size_t>(mix(key)) & 15U; }

}  // namespace

TEST_CASE("hash: equal bytes have equal hashes wherever they lie") {
    for (std::size_t size = 0; size < 40; ++size) {
        const std::string text(size, 'q');
        const std::string shifted = "xyz" + text;
        CHECK(hash_bytes(text) == hash_bytes(std::string_view(shifted).substr(3)));
    }
}

TEST_CASE("hash: every length and every changed byte has its own hash") {
    std::set<std::uint64_t> seen;
    std::size_t count = 0;
    for (std::size_t size = 0; size <= 40; ++size) {
        seen.insert(hash_bytes(std::string(size, '\0')));
        ++count;
        for (std::size_t at = 0; at < size; ++at) {
            std::string text(size, '\0');
            text[at] = '\1';
            seen.insert(hash_bytes(text));
            ++count;
        }
    }
    CHECK(seen.size() == count);
}

TEST_CASE("hash: the seed matters") {
    CHECK(hash_bytes("text", 1) != hash_bytes("text", 2));
    CHECK(hash_bytes("", 1) != hash_bytes("", 2));
}

TEST_CASE("index: a new key is absent and keeps what is stored") {
    Index index;
    index.start(4);
    CHECK(index[42] == Index::absent);
    index[42] = 7;
    CHECK(index[42] == 7);
    CHECK(index[43] == Index::absent);
}

TEST_CASE("index: it works without a start") {
    Index index;
    index[1] = 10;
    CHECK(index[1] == 10);
    CHECK(index[2] == Index::absent);
}

TEST_CASE("index: zero and the largest key are keys like others") {
    Index index;
    index.start(0);
    index[0] = 1;
    index[~std::uint64_t{0}] = 2;
    CHECK(index[0] == 1);
    CHECK(index[~std::uint64_t{0}] == 2);
}

TEST_CASE("index: it grows far beyond what was expected") {
    Index index;
    index.start(1);
    for (std::uint64_t key = 0; key < 20'000; ++key) { index[key * key] = static_cast<std::size_t>(key); }
    std::size_t wrong = 0;
    for (std::uint64_t key = 0; key < 20'000; ++key) {
        wrong += index[key * key] != static_cast<std::size_t>(key);
    }
    CHECK(wrong == 0);
    CHECK(index[3] == Index::absent);
}

TEST_CASE("index: keys that begin at one slot do not mix") {
    Index index;
    index.start(0);
    std::map<std::uint64_t, std::size_t> expected;
    // seven of sixteen slots, all of which want the last one and wrap around
    for (std::uint64_t key = 0; expected.size() < 7; ++key) {
        if (home(key) != 15) { continue; }
        expected[key] = expected.size();
        index[key] = expected[key];
    }
    for (const auto& pair : expected) { CHECK(index[pair.first] == pair.second); }
}

TEST_CASE("index: keys that begin at one slot survive growing") {
    Index index;
    index.start(0);
    std::map<std::uint64_t, std::size_t> expected;
    for (std::uint64_t key = 0; expected.size() < 200; ++key) {
        if (home(key) != 3) { continue; }
        expected[key] = expected.size();
        index[key] = expected[key];
    }
    for (const auto& pair : expected) { CHECK(index[pair.first] == pair.second); }
}

TEST_CASE("index: a fresh start forgets everything") {
    Index index;
    index.start(100);
    for (std::uint64_t key = 0; key < 100; ++key) { index[key] = 1; }
    index.start(10);
    for (std::uint64_t key = 0; key < 100; ++key) { CHECK(index[key] == Index::absent); }
}

TEST_CASE("index: to start anew takes nothing with it, whatever its size") {
    coppice::detail::Index index;
    index.start(0);
    for (std::uint64_t key = 0; key < 1000; ++key) { index[key] = 1; }
    for (int round = 0; round < 3; ++round) {
        index.start(0);
        for (std::uint64_t key = 0; key < 1000; key += 7) {
            REQUIRE(index[key] == coppice::detail::Index::absent);
            index[key] = key;
        }
        for (std::uint64_t key = 0; key < 1000; ++key) {
            REQUIRE(index[key] == (key % 7 == 0 ? key : coppice::detail::Index::absent));
        }
    }
}

TEST_CASE("hash: no change of two neighbouring steps cancels out for every seed") {
    // the top bit of one step of eight bytes, and in the next what a multiplication and a shift would make of it
    for (const std::size_t size :
         {std::size_t{32}, std::size_t{64}, std::size_t{128}, std::size_t{256}, std::size_t{1000}}) {
        for (const std::size_t distance :
             {std::size_t{8}, std::size_t{16}, std::size_t{32}, std::size_t{64}}) {
            for (std::size_t at = 0; at + distance + 8 <= size; at += 8) {
                std::string text(size, 'a');
                std::string other = text;
                const auto flip = [&other](std::size_t byte) {
                    other[byte] = static_cast<char>(other[byte] ^ '\x80');
                };
                flip(at + 7);
                flip(at + distance + 3);
                flip(at + distance + 7);
                int equal = 0;
                for (std::uint64_t seed = 0; seed < 3; ++seed) {
                    equal += hash_bytes(text, seed) == hash_bytes(other, seed) ? 1 : 0;
                }
                CAPTURE(size);
                CAPTURE(at);
                CHECK(equal == 0);
            }
        }
    }
}
