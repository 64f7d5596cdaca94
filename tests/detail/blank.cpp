// SPDX-License-Identifier: MIT
#include <coppice/detail/blank.hpp>

#include <doctest/doctest.h>

#include <string>

using coppice::detail::is_blank;

TEST_CASE("blank: white space, controls and the invisible are") {
    CHECK(is_blank(""));
    CHECK(is_blank(" \r\n\t\f\v\x01\x7F"));
    CHECK(is_blank(std::string(3, '\0')));
    CHECK(is_blank("\u200B\u00A0\u2060\uFEFF"));
}

TEST_CASE("blank: what can be seen is not, nor a byte that is no UTF-8") {
    for (const char* text : {"x", " .", "\u4F60", "\U0001F600", "\u200Bx", "\xFF", "\xC2", "  \xE2\x80"}) {
        CHECK(!is_blank(text));
    }
}
