// SPDX-License-Identifier: MIT
#include <coppice/wire/structure.hpp>

#include "../support/allocations.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace {

using coppice::detail::WireStructure;

std::string why_not(std::string_view json, std::size_t before = 0) {
    WireStructure structure;
    std::string why;
    const bool valid = structure.read(json, before, why);
    CHECK(valid == why.empty());
    return why;
}

std::size_t repeats(std::string_view json) {
    WireStructure structure;
    std::string why;
    REQUIRE(structure.read(json, 0, why));
    return structure.repeated_keys();
}

bool is_compact(std::string_view json) {
    WireStructure structure;
    std::string why;
    REQUIRE(structure.read(json, 0, why));
    return structure.compact();
}

}  // namespace

TEST_CASE("wire structure: arrays and objects are read, other values are not") {
    for (const std::string_view json :
         {"[]", "{}", "[[],{}]", R"({"a":[1,"x",null,true,{"b":{}}],"c":-1.5e3})", " [ 1 , 2 ] "}) {
        CHECK(why_not(json).empty());
    }
    for (const std::string_view json : {"1", "\"a\"", "null", "", "  "}) {
        CHECK_FALSE(why_not(json).empty());
    }
}

TEST_CASE("wire structure: what stands before the text counts in the place of a fault") {
    CHECK(why_not("[1,]") == "not valid JSON at byte 3");
    CHECK(why_not("[1,]", 3) == "not valid JSON at byte 6");
}

TEST_CASE("wire structure: objects with two members of one name are counted") {
    CHECK(repeats("[]") == 0);
    CHECK(repeats(R"({"a":1,"b":2})") == 0);
    CHECK(repeats(R"({"a":1,"a":2})") == 1);
    CHECK(repeats(R"({"a":1,"a":2,"a":3})") == 1);
    CHECK(repeats(R"({"a":1,"\u0061":2})") == 1);
    CHECK(repeats(R"({"a":{"a":1},"b":{"a":1}})") == 0);
    CHECK(repeats(R"([{"a":0,"a":0},{"b":{"c":0,"c":0}},{"d":[{"":0,"":0}]}])") == 3);
    CHECK(repeats(R"({"k":{"k":0,"k":0},"k":0})") == 2);
    CHECK(repeats(R"({"\ud83d\ude00":0,"x":1,")"
                  "\xF0\x9F\x98\x80"
                  R"(":2})") == 1);
}

TEST_CASE("wire structure: every white space between tokens shows, none inside strings does") {
    const std::string_view json = R"({"a b":[1,"x y",{}],"c":{"d":null}})";
    CHECK(is_compact(json));
    std::size_t gaps = 0;
    bool in_string = false;
    for (std::size_t at = 0; at < json.size(); ++at) {
        if (json[at] == '"') { in_string = !in_string; }
        const bool word = json[at] >= 'a' && json[at] <= 'z';
        if (in_string || (word && json[at + 1] >= 'a')) { continue; }
        for (const char blank : {' ', '\n', '\r', '\t'}) {
            std::string spaced(json);
            spaced.insert(at + 1, 1, blank);
            CAPTURE(spaced);
            // white space around the whole text is between no two tokens
            if (at + 1 < json.size()) { CHECK_FALSE(is_compact(spaced)); }
            ++gaps;
        }
    }
    CHECK(gaps > 60);
    CHECK(is_compact(R"({"a\n \t":" "})"));
}

TEST_CASE("wire structure: it forgets one text for the next") {
    WireStructure structure;
    std::string why;
    const std::string odd =
        R"( {"\u0061":1, "a" : "\/", "deep":)" + std::string(100, '[') + std::string(100, ']') + "}";
    const std::string plain = R"({"a":"b","c":[]})";
    for (int i = 0; i < 3; ++i) {
        CHECK(structure.read(odd, 0, why));
        CHECK(structure.repeated_keys() == 1);
        CHECK_FALSE(structure.compact());
        CHECK_FALSE(structure.read("[[[[{\"a\":1,\"a\":", 0, why));
        CHECK(structure.read(plain, 0, why));
        CHECK(structure.repeated_keys() == 0);
        CHECK(structure.compact());
        CHECK(structure.json().data() == plain.data());
    }
}

TEST_CASE("wire structure: read again it allocates nothing, moved it still reads") {
    WireStructure structure;
    std::string why;
    std::string big = "[";
    for (int i = 0; i < 2000; ++i) { big += R"({"a":"\n","key \u00e9":[1,2,{"b":1,"b":2}]},)"; }
    big += "0]";
    CHECK(structure.read(big, 0, why));
    const std::size_t before = support::heap.requests;
    CHECK(structure.read(big, 0, why));
    CHECK(structure.read("[1,2]", 0, why));
    CHECK(structure.read(big, 0, why));
    CHECK(support::heap.requests == before);
    CHECK(structure.repeated_keys() == 2000);
    WireStructure moved = std::move(structure);
    CHECK(moved.read(big, 0, why));
    CHECK(moved.repeated_keys() == 2000);
}

TEST_CASE("wire structure: texts of every length up to some blocks of the scan") {
    WireStructure structure;
    std::string why;
    for (std::size_t size = 0; size < 300; ++size) {
        CAPTURE(size);
        // in a block of memory of exactly this size, so that a sanitizer sees who reads on
        const std::string json = "[\"" + std::string(size, 'x') + "\\n\"]";
        const std::string exact(json.begin(), json.end());
        CHECK(structure.read(exact, 0, why));
        CHECK(structure.read("[" + std::string(size, '1') + "]", 0, why) == true);
        CHECK_FALSE(structure.read("[\"" + std::string(size, 'x'), 0, why));
        CHECK_FALSE(structure.read("[\"" + std::string(size, 'x') + "\\", 0, why));
    }
}
