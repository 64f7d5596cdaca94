// SPDX-License-Identifier: MIT
#include <coppice/json_shape.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

namespace {

using coppice::json_shape;

TEST_CASE("json_shape: depth counts arrays and objects alike") {
    CHECK(json_shape("").depth == 0);
    CHECK(json_shape("7").depth == 0);
    CHECK(json_shape("{}").depth == 1);
    CHECK(json_shape(R"([{"a":[1]},[]])").depth == 3);
}

TEST_CASE("json_shape: brackets and colons in strings are none") {
    CHECK(json_shape(R"(["[[[{:::"])").depth == 1);
    CHECK(json_shape(R"(["\"[[\\\"[{:"])").depth == 1);
    CHECK(json_shape(R"({"\\":["a:b"]})").depth == 2);
    CHECK(json_shape(R"({"a:b":":::"})").members == 1);
}

TEST_CASE("json_shape: the widest object counts") {
    CHECK(json_shape("[1,2,3]").members == 0);
    CHECK(json_shape(R"({"a":{"b":1,"c":2,"d":3},"e":{}})").members == 3);
    CHECK(json_shape(R"([{"a":1},{"a":1},{"a":1}])").members == 1);
}

TEST_CASE("json_shape: text that is no JSON has a shape too") {
    CHECK(json_shape("]]]}[").depth == 1);
    CHECK(json_shape("\"").depth == 0);
    CHECK(json_shape("\"\\").depth == 0);
    CHECK(json_shape("[\"\\\"[[").depth == 1);
    CHECK(json_shape(std::string("[\0[", 3)).depth == 2);
    CHECK(json_shape(":::").members == 3);
    CHECK(json_shape(std::string(1'000'000, '[')).depth == 1'000'000);
}

}  // namespace
