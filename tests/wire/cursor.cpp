// SPDX-License-Identifier: MIT
#include <coppice/wire/cursor.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using coppice::JsonType;
using coppice::Text;
using coppice::detail::WireCursor;
using coppice::detail::WireStructure;

static_assert(coppice::json_cursor<WireCursor>);

// A text and its structure.
struct Read {
    std::string json;
    WireStructure structure;

    explicit Read(std::string text) : json(std::move(text)) {
        std::string why;
        const bool valid = structure.read(json, 0, why);
        REQUIRE_MESSAGE(valid, why);
    }
    WireCursor root() const { return WireCursor(structure); }
};

std::string spelling(WireCursor value) {
    return {static_cast<const char*>(value.node().where), value.node().length};
}

// The members as they are visited: `key=value`, a blank between.
std::string members_of(WireCursor value) {
    std::string out;
    std::string scratch;
    value.members([&](Text key, WireCursor member) {
        if (!out.empty()) { out += ' '; }
        out += std::string(decoded(key, scratch)) + "=" + spelling(member);
    });
    return out;
}

}  // namespace

TEST_CASE("cursor: every kind of value, where it stands and where it ends") {
    const Read read(R"( [ {"a" : 1 } , [ ] , "x\n" , true , false , null , -1.5e3 ,{}] )");
    std::string kinds;
    std::string spelled;
    read.root().elements([&](WireCursor item) {
        constexpr std::string_view names = "0bn\"[{";
        kinds += names[static_cast<std::size_t>(item.type())];
        spelled += spelling(item) + "|";
    });
    CHECK(kinds == "{[\"bb0n{");
    CHECK(spelled == R"({"a" : 1 }|[ ]|"x\n"|true|false|null|-1.5e3|{}|)");
}

TEST_CASE("cursor: what a value is not gives nothing") {
    const Read read(R"([{"a":1},[2],"s",true,null,3])");
    read.root().elements([&](WireCursor item) {
        const bool object = item.type() == JsonType::object;
        const bool array = item.type() == JsonType::array;
        CHECK((members_of(item) != "") == object);
        bool any = false;
        item.elements([&](WireCursor) { any = true; });
        CHECK(any == array);
        CHECK((item.text().raw() == "s") == (item.type() == JsonType::string));
        CHECK(item.measured().plain().bytes == (item.type() == JsonType::string ? 1 : 0));
        CHECK(item.is_true() == (spelling(item) == "true"));
        CHECK(item.peek("a").empty());
    });
}

TEST_CASE("cursor: keys in any order and spelling") {
    const Read read(R"({"x":{"deep":[1,{"type":"no"}]},"\u0074ype":"tool_\u0075se","n":[[]],"type2":"z"})");
    std::string scratch;
    CHECK(decoded(read.root().peek("type"), scratch) == "tool_use");
    CHECK(read.root().peek("type2").raw() == "z");
    CHECK(read.root().peek("x").empty());
    CHECK(read.root().peek("typ").empty());
    CHECK(members_of(read.root()) == R"(x={"deep":[1,{"type":"no"}]} type="tool_\u0075se" n=[[]] type2="z")");
    CHECK_FALSE(read.root().repeats_keys());
    CHECK_FALSE(read.root().holds_repeated_keys());
}

TEST_CASE("cursor: of members of one name the last is visited, whatever their spelling") {
    const Read read(R"({"a":1,"b":[{}],"\u0061":{"c":2},"d":{"e":0,"e":1},"b":3})");
    CHECK(members_of(read.root()) == R"(a={"c":2} d={"e":0,"e":1} b=3)");
    CHECK(read.root().repeats_keys());
    CHECK(read.root().holds_repeated_keys());
    read.root().members([&](Text key, WireCursor value) {
        const bool repeats = key.raw() == "d";
        CHECK(value.repeats_keys() == repeats);
        CHECK(value.holds_repeated_keys() == repeats);
    });
    CHECK(read.structure.repeated_keys() == 2);
}

TEST_CASE("cursor: only what is around an object with repeated keys holds them") {
    const Read read(R"([[1],[{"x":[{"a":1,"a":2}]}],[{"a":1,"b":2}]])");
    std::string holds;
    read.root().elements([&](WireCursor item) { holds += item.holds_repeated_keys() ? 'y' : 'n'; });
    CHECK(holds == "nyn");
}

TEST_CASE("cursor: many members, those of one bit in the filter among them") {
    std::string json = "{";
    for (int i = 0; i < 2000; ++i) { json += "\"key" + std::to_string(i) + "\":" + std::to_string(i) + ","; }
    const Read distinct(json + "\"end\":0}");
    CHECK_FALSE(distinct.root().repeats_keys());
    const Read repeated(json + "\"key77\":0}");
    CHECK(repeated.root().repeats_keys());
}

TEST_CASE("cursor: numbers of one value have one spelling") {
    const auto spelled = [](const std::string& number) {
        const Read read("[" + number + "]");
        std::string out;
        read.root().elements([&](WireCursor item) { item.append_scalar(out); });
        return out;
    };
    CHECK(spelled("1.0") == spelled("1.00"));
    CHECK(spelled("10e-1") == spelled("0.1E+1"));
    CHECK(spelled("-0.0") != spelled("0.0"));
    CHECK(spelled("1e400") == spelled("10.0e399"));
    CHECK(spelled("1.5") != spelled("15"));
    CHECK(spelled("1e5") != spelled("1e6"));
    CHECK(spelled("12345678901234567890123") == "12345678901234567890123");
    CHECK(spelled("1e99999999999") == "1e99999999999");
    CHECK(spelled("null") == "null");
}
