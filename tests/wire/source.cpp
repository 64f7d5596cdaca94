// SPDX-License-Identifier: MIT
#include <coppice/wire/source.hpp>

#include "../../examples/session_generator.hpp"
#include "support/respell.hpp"

#include <coppice/dom.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <vector>

namespace {

using coppice::Node;
using coppice::detail::WireCursor;
using coppice::detail::WireSource;
using coppice::detail::WireStructure;
using Json = nlohmann::ordered_json;

struct Read {
    std::string json;
    WireStructure structure;
    WireSource::Scratch scratch;
    WireSource source{structure, scratch};

    explicit Read(std::string text) : json(std::move(text)) {
        std::string why;
        const bool valid = structure.read(json, 0, why);
        REQUIRE_MESSAGE(valid, why);
    }
    Node root() const { return WireCursor(structure).node(); }
    std::string canonical() const {
        std::string out;
        source.append_canonical(root(), out);
        return out;
    }
};

std::string without_mark(const std::string& json) {
    return json.substr(0, 3) == "\xEF\xBB\xBF" ? json.substr(3) : json;
}

Json session() {
    coppice_examples::SessionShape shape;
    shape.results = 30;
    shape.image_share = 0.2;
    return coppice_examples::make_session(shape);
}

}  // namespace

TEST_CASE("source: sizes are those of the same value as a document, however it is spelled") {
    const Json body = session();
    const coppice::Extent expected = coppice::measure_document(body);
    const Read compact(body.dump());
    CHECK(compact.structure.compact());
    CHECK(compact.structure.one_spelling());
    CHECK(compact.source.serialised(compact.root()) == expected);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Read other(without_mark(support::respelled(body.dump(), seed)));
        CHECK(other.source.serialised(other.root()) == expected);
    }
    const Read indented(body.dump(2));
    CHECK_FALSE(indented.structure.compact());
    CHECK(indented.structure.one_spelling());
    CHECK(indented.source.serialised(indented.root()) == expected);
}

TEST_CASE("source: values that are left out do not count") {
    for (const char* json : {R"({"a":[1,2,3],"b":"x\ny","c":{"d":null}})",
                             "{ \"a\" : [1, 2 ,3], \"b\" : \"x\\u000ay\",\"c\":{\"d\": null } }"}) {
        const Read read(json);
        std::vector<Node> nodes;
        WireCursor(read.structure).members([&](coppice::Text, WireCursor value) {
            nodes.push_back(value.node());
        });
        CHECK(read.source.serialised(read.root()).bytes == 39);
        CHECK(read.source.serialised(read.root(), std::vector<Node>{nodes[0], nodes[2]}).bytes ==
              39 - 7 - 10);
        CHECK(read.source.serialised(nodes[1]).bytes == 6);
        CHECK(read.source.serialised(nodes[1], std::vector<Node>{nodes[1]}).bytes == 0);
    }
}

TEST_CASE("source: members are counted at any depth, and only keys") {
    const Read read(R"({"k":1,"a":[{"k":{"k":"k"}},"k"],"\u006b":2,"kk":3})");
    CHECK(read.source.count_members(read.root(), "k") == 4);
    CHECK(read.source.count_members(read.root(), "kk") == 1);
    CHECK(read.source.count_members(read.root(), "none") == 0);
}

TEST_CASE("source: equal values have one canonical spelling, and it is that of a document") {
    const std::string json = R"({"b":[1,"x\n",{"z":null,"y":true}],"a":{"n":-7,"e":"caf\u00e9"},"c":[]})";
    const std::string other =
        "{ \"c\":[ ], \"a\":{\"\\u0065\":\"caf\xC3\xA9\",\"n\":-7},"
        "\"b\":[1,\"x\\u000A\",{\"y\":true,\"z\":null}]}";
    CHECK(Read(json).canonical() == Read(other).canonical());
    const Json document = Json::parse(json);
    const coppice::detail::DomSource<Json> source;
    std::string canonical;
    source.append_canonical({&document, 0}, canonical);
    CHECK(Read(json).canonical() == canonical);
    CHECK(Read(R"({"a":["b"]})").canonical() != Read(R"({"a":"b"})").canonical());
    CHECK(Read(R"([1,[2]])").canonical() != Read(R"([1,2])").canonical());
}
