// SPDX-License-Identifier: MIT
#include <coppice/detail/lexical.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using coppice::detail::is_blank;
using coppice::detail::is_digit;
using coppice::detail::number_size;
using coppice::detail::scalar_size;

std::string normal(std::string_view number) {
    std::string out = "kept ";
    coppice::detail::append_normal_number(out, number);
    return out.substr(5);
}

}  // namespace

TEST_CASE("lexical: white space and digits are those of JSON") {
    for (int i = 0; i < 256; ++i) {
        const char c = static_cast<char>(static_cast<unsigned char>(i));
        CHECK(is_blank(c) == (i == ' ' || i == '\t' || i == '\n' || i == '\r'));
        CHECK(is_digit(c) == (i >= '0' && i <= '9'));
    }
}

TEST_CASE("lexical: numbers are as long as their grammar goes") {
    for (const std::string_view whole : {"0", "-0", "7", "10", "-12", "0.5", "1.50", "1e5", "1E+5",
                                         "-1.2e-34", "0e0", "123456789012345678901"}) {
        CAPTURE(whole);
        CHECK(number_size(whole) == whole.size());
        CHECK(number_size(std::string(whole) + ",1") == whole.size());
        CHECK(scalar_size(whole) == whole.size());
        CHECK(scalar_size(std::string(whole) + " \n\r\t") == whole.size());
        CHECK(scalar_size(std::string(whole) + " x") == 0);
    }
    for (const std::string_view none :
         {"", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "e5", "x", "-x", "--1"}) {
        CAPTURE(none);
        CHECK(number_size(none) == 0);
        CHECK(scalar_size(none) == 0);
    }
    CHECK(number_size("01") == 1);
    CHECK(scalar_size("01") == 0);
    CHECK(scalar_size("1x") == 0);
    CHECK(scalar_size("1e5.") == 0);
}

TEST_CASE("lexical: literals are whole words") {
    CHECK(scalar_size("true") == 4);
    CHECK(scalar_size("false  ") == 5);
    CHECK(scalar_size("null\n") == 4);
    for (const std::string_view none :
         {"tru", "truex", "true1", "nul", "nulll", "True", "falsetrue", "true null", "NaN"}) {
        CAPTURE(none);
        CHECK(scalar_size(none) == 0);
    }
}

TEST_CASE("lexical: numbers of one value have one spelling") {
    const std::array<std::array<std::string_view, 4>, 6> same = {{
        {"1.0", "1e0", "10e-1", "0.001E+3"},
        {"100.0", "1e2", "1E+02", "0.1e3"},
        {"-1.50", "-15e-1", "-0.15e1", "-1500e-3"},
        {"0.0", "0e5", "0.000e-7", "0e0"},
        {"123.456", "123456e-3", "1.23456e2", "123.45600"},
        {"1e400", "10e399", "0.1e401", "1.0e0400"},
    }};
    for (const auto& spellings : same) {
        for (const std::string_view spelling : spellings) {
            CAPTURE(spelling);
            CHECK(normal(spelling) == normal(spellings[0]));
        }
    }
    for (const auto& one : same) {
        for (const auto& other : same) { CHECK((normal(one[0]) == normal(other[0])) == (&one == &other)); }
    }
}

TEST_CASE("lexical: whole numbers keep their digits, and are told from fractions") {
    CHECK(normal("0") == "0");
    CHECK(normal("-0") == "0");
    CHECK(normal("1200") == "1200");
    CHECK(normal("-12345678901234567890123") == "-12345678901234567890123");
    CHECK(normal("1") != normal("1.0"));
    CHECK(normal("-1.5") != normal("1.5"));
    CHECK(normal("1e99999999999") != normal("1e99999999998"));
    CHECK(normal("1e-5") != normal("1e5"));
    CHECK(normal("10.5") != normal("1.5"));
    CHECK(normal("1.05") != normal("1.5"));
}
