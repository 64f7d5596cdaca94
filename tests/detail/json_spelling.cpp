// SPDX-License-Identifier: MIT
#include <coppice/detail/json_spelling.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

struct Spelling {
    std::string_view value;  // as JSON
    std::string_view python;
};

// What Python 3.11 answers for json.dumps(json.loads(value), ensure_ascii=False).
constexpr std::array<Spelling, 69> spellings = {{
    {"null", "null"},
    {"true", "true"},
    {"false", "false"},
    {"0", "0"},
    {"-0", "0"},
    {"7", "7"},
    {"-7", "-7"},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"18446744073709551615", "18446744073709551615"},
    {"0.0", "0.0"},
    {"-0.0", "-0.0"},
    {"1.0", "1.0"},
    {"1.5", "1.5"},
    {"-1.5", "-1.5"},
    {"100.0", "100.0"},
    {"123456789012345.0", "123456789012345.0"},
    {"1e15", "1000000000000000.0"},
    {"1e16", "1e+16"},
    {"-1e16", "-1e+16"},
    {"1.5e16", "1.5e+16"},
    {"9007199254740993.0", "9007199254740992.0"},
    {"1e21", "1e+21"},
    {"1e22", "1e+22"},
    {"1e23", "1e+23"},
    {"123456789e5", "12345678900000.0"},
    {"0.1", "0.1"},
    {"0.30000000000000004", "0.30000000000000004"},
    {"1e-3", "0.001"},
    {"1e-4", "0.0001"},
    {"0.0001", "0.0001"},
    {"0.00012345", "0.00012345"},
    {"1e-5", "1e-05"},
    {"1.5e-5", "1.5e-05"},
    {"-1e-7", "-1e-07"},
    {"1e-10", "1e-10"},
    {"1e100", "1e+100"},
    {"1.7976931348623157e308", "1.7976931348623157e+308"},
    {"5e-324", "5e-324"},
    {"2.2250738585072014e-308", "2.2250738585072014e-308"},
    {"3.141592653589793", "3.141592653589793"},
    {"1E5", "100000.0"},
    {"9999999999999998.0", "9999999999999998.0"},
    {"99999999999999990.0", "9.999999999999998e+16"},
    {R"("")", R"("")"},
    {"[]", "[]"},
    {"{}", "{}"},
    {"[[]]", "[[]]"},
    {"[{}]", "[{}]"},
    {R"({"a":{}})", R"({"a": {}})"},
    {"[1,2,3]", "[1, 2, 3]"},
    {"[1,[2,[3,[]]],{}]", "[1, [2, [3, []]], {}]"},
    {R"({"a":1,"b":[true,null,"x"],"c":{"d":{}}})", R"({"a": 1, "b": [true, null, "x"], "c": {"d": {}}})"},
    {R"({"":""})", R"({"": ""})"},
    {R"({"z":1,"a":2})", R"({"z": 1, "a": 2})"},
    {R"("plain")", R"("plain")"},
    {R"("say \"hi\"")", R"("say \"hi\"")"},
    {R"("C:\\dir")", R"("C:\\dir")"},
    {R"("a\/b")", R"("a/b")"},
    {R"("\b\f\n\r\t")", R"("\b\f\n\r\t")"},
    {R"("\u0000\u0001\u001f")", R"("\u0000\u0001\u001f")"},
    {R"("\u007f")", "\"\x7F\""},
    {R"("\u0080\u009f")", "\"\xC2\x80\xC2\x9F\""},
    {R"("\u00e9\u20ac\ud83d\ude00")", "\"\u00E9\u20AC\U0001F600\""},
    {R"("\u2028\u2029\ufeff")", "\"\u2028\u2029\uFEFF\""},
    {"\"\u00E9\u20AC\U0001F600\"", "\"\u00E9\u20AC\U0001F600\""},
    {R"("</script>&\u0027")", R"("</script>&'")"},
    {"{\"k\\n\\\"\\\\\\u0007\u00E9\":\"v\"}", "{\"k\\n\\\"\\\\\\u0007\u00E9\": \"v\"}"},
    {R"("\u000b")", R"("\u000b")"},
}};

template <class Value = Json>
std::string spelled(const Value& value, std::size_t longest_string = coppice::none) {
    std::string out;
    coppice::detail::JsonSpelling<Value>(out, longest_string).write(value);
    return out;
}

}  // namespace

TEST_CASE("json spelling: values are written as Python writes them") {
    for (const Spelling& spelling : spellings) {
        CAPTURE(spelling.value);
        CHECK(spelled(Json::parse(spelling.value)) == spelling.python);
    }
}

TEST_CASE("json spelling: what it writes reads as the same value") {
    for (const Spelling& spelling : spellings) {
        CAPTURE(spelling.value);
        const Json value = Json::parse(spelling.value);
        CHECK(Json::parse(spelled(value)) == value);
    }
}

TEST_CASE("json spelling: every control character and DEL come out as Python writes them") {
    for (char c = 0; c < 0x20; ++c) {
        // what must be escaped has one spelling, on which nlohmann and Python agree
        const Json value = std::string{'a', c, 'b'};
        CHECK(spelled(value) == value.dump());
    }
    CHECK(spelled(Json("\x7F")) == "\"\x7F\"");
}

TEST_CASE("json spelling: a float stays a float and a whole number one") {
    CHECK(spelled(Json(1.0)) == "1.0");
    CHECK(spelled(Json(1)) == "1");
    CHECK(spelled(Json(-3.0)) == "-3.0");
    CHECK(spelled(Json(std::numeric_limits<std::uint64_t>::max())) == "18446744073709551615");
    CHECK(spelled(Json(std::numeric_limits<std::int64_t>::min())) == "-9223372036854775808");
}

TEST_CASE("json spelling: floats that JSON has no number for are written as Python writes them") {
    CHECK(spelled(Json(std::numeric_limits<double>::infinity())) == "Infinity");
    CHECK(spelled(Json(-std::numeric_limits<double>::infinity())) == "-Infinity");
    CHECK(spelled(Json(std::numeric_limits<double>::quiet_NaN())) == "NaN");
}

TEST_CASE("json spelling: what no JSON text holds is null") {
    CHECK(spelled(Json::binary({1, 2, 3})) == "null");
    CHECK(spelled(Json(Json::value_t::discarded)) == "null");
    CHECK(spelled(Json{{"a", Json::binary({})}}) == R"({"a": null})");
}

TEST_CASE("json spelling: members come in the order of their container") {
    CHECK(spelled(Json::parse(R"({"z":1,"a":2})")) == R"({"z": 1, "a": 2})");
    CHECK(spelled(nlohmann::json::parse(R"({"z":1,"a":2})")) == R"({"a": 2, "z": 1})");
}

TEST_CASE("json spelling: it goes behind what is there and one writer writes several values") {
    std::string out = "input: ";
    coppice::detail::JsonSpelling<Json> writer(out, coppice::none);
    writer.write(Json::parse("[1]"));
    writer.write(Json(7));
    writer.write(Json::parse("{}"));
    CHECK(out == "input: [1]7{}");
}

TEST_CASE("json spelling: a string above the longest becomes its length") {
    const Json value = {{"path", "/a"}, {"content", std::string(501, 'x')}};
    CHECK(spelled(value, 500) == R"({"path": "/a", "content": "[501 characters]"})");
    CHECK(spelled(value, 501) == R"({"path": "/a", "content": ")" + std::string(501, 'x') + "\"}");
    CHECK(spelled(Json(""), 0) == R"("")");
    CHECK(spelled(Json("x"), 0) == R"("[1 characters]")");
    CHECK(spelled(Json{{std::string(9, 'k'), 1}}, 8) == R"({"[9 characters]": 1})");
}

TEST_CASE("json spelling: the length of a string is in code points") {
    for (const std::string_view wide : {"\u00E9", "\u20AC", "\U0001F600"}) {
        std::string text;
        for (int i = 0; i < 20; ++i) { text += wide; }
        CHECK(spelled(Json(text), 20) == '"' + text + '"');
        CHECK(spelled(Json(text), 19) == R"("[20 characters]")");
        CHECK(spelled(Json(text + "x"), 20) == R"("[21 characters]")");
    }
    // escapes do not count
    CHECK(spelled(Json("\n\n\n\""), 4) == R"("\n\n\n\"")");
}

TEST_CASE("json spelling: bytes that are no text pass as they are") {
    CHECK(spelled(Json(std::string("a\xFF\xE2\x82\0z", 6))) == "\"a\xFF\xE2\x82\\u0000z\"");
}

TEST_CASE("json spelling: depth is no danger") {
    constexpr std::size_t levels = 200'000;
    Json arrays = Json::array();
    Json objects = Json::object();
    for (std::size_t i = 0; i < levels; ++i) {
        Json outer = Json::array();
        outer.push_back(std::move(arrays));
        arrays = std::move(outer);
        Json holder = Json::object();
        holder["a"] = std::move(objects);
        objects = std::move(holder);
    }
    const bool right = spelled(arrays) == std::string(levels + 1, '[') + std::string(levels + 1, ']');
    CHECK(right);
    std::string expected;
    for (std::size_t i = 0; i < levels; ++i) { expected += "{\"a\": "; }
    expected += "{}" + std::string(levels, '}');
    const bool right_too = spelled(objects) == expected;
    CHECK(right_too);
}
