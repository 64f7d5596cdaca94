// SPDX-License-Identifier: MIT
#include <coppice/detail/json_text.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::JsonType;
using coppice::Text;
using coppice::detail::JsonText;
using Cursor = JsonText::Cursor;

std::string_view spelling(Cursor value) {
    return {static_cast<const char*>(value.node().where), value.node().length};
}

// Its keys and the spelling of its members, in order: `a=1 b=[2]`.
std::string members_of(Cursor value) {
    std::string out;
    value.members([&](Text key, Cursor member) {
        if (!out.empty()) { out += ' '; }
        out.append(key.raw()).append("=").append(spelling(member));
    });
    return out;
}

std::string elements_of(Cursor value) {
    std::string out;
    value.elements([&](Cursor element) {
        if (!out.empty()) { out += ' '; }
        out += spelling(element);
    });
    return out;
}

bool reads(std::string_view json) {
    JsonText text;
    return text.read(json);
}

// What is read must stay where it is, and so must the reader.
class Read {
public:
    explicit Read(std::string json) : json_(std::move(json)) { REQUIRE(text_.read(json_)); }
    Read(const Read&) = delete;
    Read& operator=(const Read&) = delete;

    Cursor root() const { return text_.root(); }
    const std::string& json() const { return json_; }

private:
    std::string json_;
    JsonText text_;
};

// The same value, as the other reader of JSON sees it.
nlohmann::ordered_json rebuilt(Cursor value) {
    auto out = nlohmann::ordered_json::parse(spelling(value));
    if (value.type() == JsonType::object) {
        out = nlohmann::ordered_json::object();
        std::string scratch;
        value.members([&](Text key, Cursor member) {
            out[std::string(coppice::decoded(key, scratch))] = rebuilt(member);
        });
    } else if (value.type() == JsonType::array) {
        out = nlohmann::ordered_json::array();
        value.elements([&](Cursor element) { out.push_back(rebuilt(element)); });
    } else if (value.type() == JsonType::string) {
        std::string scratch;
        out = std::string(coppice::decoded(value.text(), scratch));
    }
    return out;
}

}  // namespace

TEST_CASE("json text: members and elements come in order with their spelling") {
    const Read read(R"( { "b" : [ 1.0 , 1E5,{} ,[]] , "a":"x\u0041" ,"": null} )");
    CHECK(spelling(read.root()) == R"({ "b" : [ 1.0 , 1E5,{} ,[]] , "a":"x\u0041" ,"": null})");
    CHECK(members_of(read.root()) == R"(b=[ 1.0 , 1E5,{} ,[]] a="x\u0041" =null)");
    CHECK(elements_of(read.root()).empty());
    read.root().members([](Text key, Cursor member) {
        if (key.raw() != "b") { return; }
        CHECK(elements_of(member) == "1.0 1E5 {} []");
        CHECK(members_of(member).empty());
    });
}

TEST_CASE("json text: nodes are views of what was read") {
    const Read read(R"({"a":["b",{"c":1}]})");
    CHECK(read.root().node().where == read.json().data());
    read.root().members([&](Text key, Cursor member) {
        CHECK(key.raw().data() == read.json().data() + 2);
        CHECK(member.node().where == read.json().data() + 5);
        CHECK(member.node().length == read.json().size() - 6);
    });
}

TEST_CASE("json text: values have their types") {
    const Read read(R"([{},[],"s",true,false,null,-1,0.5])");
    const std::vector<JsonType> types = {JsonType::object,  JsonType::array,   JsonType::string,
                                         JsonType::boolean, JsonType::boolean, JsonType::null,
                                         JsonType::number,  JsonType::number};
    std::size_t i = 0;
    read.root().elements([&](Cursor value) {
        CAPTURE(i);
        CHECK(value.type() == types.at(i));
        CHECK(value.is_true() == (i == 3));
        CHECK(value.text().raw() == (i == 2 ? "s" : ""));
        CHECK(value.measured().plain().bytes == (i == 2 ? 1U : 0U));
        CHECK_FALSE(value.repeats_keys());
        ++i;
    });
    CHECK(i == types.size());
}

TEST_CASE("json text: scalars alone are JSON") {
    for (const std::string_view json : {"1", "-0", "1e5", "true", "null", "\"s\"", " \n\t\r7 "}) {
        CHECK(reads(json));
    }
    CHECK(Read("\"a\\nb\"").root().text().escaped());
    CHECK_FALSE(Read("\"ab\"").root().text().escaped());
}

TEST_CASE("json text: what is none is refused") {
    for (const std::string_view json : {"",
                                        " ",
                                        "{",
                                        "}",
                                        "[1",
                                        "[1,]",
                                        "{\"a\"}",
                                        "{\"a\":}",
                                        "{\"a\":1,}",
                                        "{a:1}",
                                        "{'a':1}",
                                        "01",
                                        "1.",
                                        "+1",
                                        "NaN",
                                        "tru",
                                        "\"",
                                        "\"\\x\"",
                                        "\"\\u12\"",
                                        "\"\n\"",
                                        "[1]]",
                                        "{} {}",
                                        "1 2",
                                        "// {}",
                                        "\xEF\xBB\xBF{}",
                                        "\"\xFF\"",
                                        "\"\xC3\"",
                                        "\"\xED\xA0\x80\"",
                                        "{\"a\":1]",
                                        "*** Begin Patch"}) {
        CAPTURE(json);
        CHECK_FALSE(reads(json));
    }
    using namespace std::string_view_literals;
    CHECK_FALSE(reads("{}\0"sv));
    CHECK_FALSE(reads("\"\0\""sv));
    CHECK_FALSE(reads("\0{}"sv));
}

TEST_CASE("json text: a member is found by its name whatever its spelling") {
    const Read read(R"({"a":"1","\u0062":"2","c":3,"d":"x\"y"})");
    CHECK(read.root().peek("a").raw() == "1");
    CHECK(read.root().peek("b").raw() == "2");
    CHECK(read.root().peek("c").empty());
    CHECK(read.root().peek("d").raw() == R"(x\"y)");
    CHECK(read.root().peek("e").empty());
    CHECK(Read("[\"a\"]").root().peek("a").empty());
}

TEST_CASE("json text: of members of one name the last is visited in its place") {
    const Read read(R"({"a":1,"b":2,"\u0061":3,"c":4,"b":5,"a":6})");
    CHECK(read.root().repeats_keys());
    CHECK(members_of(read.root()) == "c=4 b=5 a=6");
    CHECK(Read(R"({"a":"1","a":"2"})").root().peek("a").raw() == "2");
    CHECK_FALSE(Read(R"({"a":1,"A":2,"":3})").root().repeats_keys());
    CHECK(Read(R"({"":1,"":2})").root().repeats_keys());
}

TEST_CASE("json text: repeated keys are seen at any depth and not beside it") {
    const Read read(R"({"a":[{"x":1,"x":2}],"b":{"x":1,"y":{"x":1}},"x":0})");
    CHECK_FALSE(read.root().repeats_keys());
    CHECK(read.root().holds_repeated_keys());
    std::string found;
    read.root().members([&](Text, Cursor member) { found += member.holds_repeated_keys() ? 'x' : '-'; });
    CHECK(found == "x--");
}

TEST_CASE("json text: visiting inside a visit changes nothing for the outer one") {
    const Read read(R"({"a":{"z":1,"z":2,"y":3},"b":{"q":1},"a":{"p":1,"p":2},"c":[{"k":1,"k":2}]})");
    std::string seen;
    read.root().members([&](Text key, Cursor member) {
        seen.append(key.raw()).append("{").append(members_of(member)).append("}");
        CHECK((member.holds_repeated_keys() || key.raw() == "b"));
    });
    CHECK(seen == "b{q=1}a{p=2}c{}");
}

TEST_CASE("json text: a reader can be used again") {
    JsonText text;
    const std::string one = R"({"a":[1,2,3]})";
    const std::string bad = R"([[[[{"a":1},)";
    const std::string two = R"(["b"])";
    REQUIRE(text.read(one));
    CHECK(members_of(text.root()) == "a=[1,2,3]");
    CHECK_FALSE(text.read(bad));
    REQUIRE(text.read(two));
    CHECK(elements_of(text.root()) == "\"b\"");
    REQUIRE(text.read(one));
    CHECK(members_of(text.root()) == "a=[1,2,3]");
}

TEST_CASE("json text: it may be nested to any depth") {
    constexpr std::size_t levels = 200'000;
    std::string arrays(levels, '[');
    CHECK_FALSE(reads(arrays));
    arrays.append(levels, ']');
    const Read read(arrays);
    CHECK(spelling(read.root()).size() == 2 * levels);
    CHECK_FALSE(read.root().holds_repeated_keys());
    std::string objects;
    for (std::size_t i = 0; i < levels; ++i) { objects += "{\"a\":"; }
    objects += "{\"b\":1,\"b\":2}";
    objects.append(levels, '}');
    const Read deep(objects);
    CHECK(deep.root().holds_repeated_keys());
    CHECK_FALSE(deep.root().repeats_keys());
    CHECK(members_of(deep.root()).size() == objects.size() - 4);
}

TEST_CASE("json text: an object of very many members is read in good time") {
    std::string json = "{";
    for (std::size_t i = 0; i < 50'000; ++i) { json += "\"k" + std::to_string(i) + "\":{},"; }
    json += "\"k0\":1}";
    const Read read(json);
    CHECK(read.root().repeats_keys());
    std::size_t count = 0;
    read.root().members([&](Text, Cursor) { ++count; });
    CHECK(count == 50'000);
}

TEST_CASE("json text: it takes what another parser takes and reads the same from it") {
    const std::string seed = R"({"path":"a\/b\n\u00e9","n":[1.0,-0,7,1e5],"o":{"":[]},"t":true})";
    // what is put in the place of a byte
    const std::string_view bytes = "\"\\{}[]:,0eu \x01\xC3";
    std::uint32_t state = 1;
    const auto below = [&state](std::size_t bound) {
        state = state * 1664525U + 1013904223U;
        return static_cast<std::size_t>(state >> 8U) % bound;
    };
    std::size_t taken = 0;
    for (int round = 0; round < 4000; ++round) {
        std::string json = seed;
        for (std::size_t edits = below(3); edits > 0; --edits) {
            json[below(json.size())] = bytes[below(bytes.size())];
        }
        if (below(8) == 0) { json.resize(below(json.size())); }
        CAPTURE(json);
        CHECK(reads(json) == nlohmann::ordered_json::accept(json));
        if (!nlohmann::ordered_json::accept(json)) { continue; }
        ++taken;
        const Read read(json);
        if (read.root().holds_repeated_keys()) { continue; }
        const bool equal = rebuilt(read.root()) == nlohmann::ordered_json::parse(json);
        CHECK(equal);
    }
    CHECK(taken > 500);
}
