// SPDX-License-Identifier: MIT
#include <coppice/detail/packed_json.hpp>

#include <coppice/detail/canonical.hpp>
#include <coppice/dom.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace {

std::string canonical(std::string_view json) {
    coppice::detail::PackedJsonWriter writer;
    std::string out;
    writer.append_canonical(json, out);
    return out;
}

}  // namespace

TEST_CASE("packed json: equal values give equal bytes whatever their spelling") {
    const std::string one = canonical(R"({"path":"a/b","n":[1,2.50],"o":{"x":null,"y":true}})");
    CHECK(canonical(R"( {"o" : {"y":true,"x":null}, "n":[1 ,25e-1],"p\u0061th":"a\/b"} )") == one);
    CHECK(canonical(R"({"path":"a/b","n":[1,2.5],"o":{"x":null,"y":true}})") == one);
}

TEST_CASE("packed json: other values give other bytes") {
    const std::string one = canonical(R"({"path":"a","n":1})");
    for (const std::string_view other :
         {R"({"path":"a","n":2})", R"({"path":"b","n":1})", R"({"path":"a"})", R"({"path":"a","n":"1"})",
          R"({"path":"a","n":1.0})", R"([{"path":"a","n":1}])", R"({"path":"a","n":1,"m":1})",
          R"({"path":"a","n":[1]})", R"({"path":1,"n":"a"})", R"("{\"path\":\"a\",\"n\":1}")"}) {
        CAPTURE(other);
        CHECK(canonical(other) != one);
    }
    CHECK(canonical(R"([1,2])") != canonical(R"([2,1])"));
    CHECK(canonical(R"(["ab","c"])") != canonical(R"(["a","bc"])"));
    CHECK(canonical(R"(["\ud800"])") != canonical("[\"\xEF\xBF\xBD\"]"));
}

TEST_CASE("packed json: a packed value is written as the value in a document is") {
    const std::string_view json =
        R"({"z":[1,{"b":"\u00e9","a":[]}],"a":false,"k":null,"n":123456789012345678})";
    coppice::detail::CanonicalWriter<coppice::detail::DomCursor<nlohmann::json>> writer;
    const auto document = nlohmann::json::parse(json);
    std::string out;
    writer.append(coppice::detail::DomCursor<nlohmann::json>(document), out);
    CHECK(canonical(json) == out);
}

TEST_CASE("packed json: what is no JSON comes as it is") {
    for (const std::string_view text : {"", "{", "{\"a\":}", "ls -la", "{'a':1}", "\xFF"}) {
        CHECK(canonical(text) == text);
    }
}

TEST_CASE("packed json: one writer does many behind what is there") {
    coppice::detail::PackedJsonWriter writer;
    std::string out = "kept ";
    writer.append_canonical("{\"b\":1,\"a\":2}", out);
    writer.append_canonical("{\"b\":", out);
    writer.append_canonical("{\"a\":2,\"b\":1}", out);
    const std::string one = canonical("{\"a\":2,\"b\":1}");
    CHECK(out == "kept " + one + "{\"b\":" + one);
}

TEST_CASE("packed json: it may be nested to any depth") {
    constexpr std::size_t levels = 200'000;
    std::string json;
    for (std::size_t i = 0; i < levels; ++i) { json += "[{\"b\":1,\"a\":"; }
    json += "0";
    for (std::size_t i = 0; i < levels; ++i) { json += "}]"; }
    std::string turned;
    for (std::size_t i = 0; i < levels; ++i) { turned += "[{\"a\":"; }
    turned += "0";
    for (std::size_t i = 0; i < levels; ++i) { turned += ",\"b\":1}]"; }
    const bool same = canonical(json) == canonical(turned);
    CHECK(same);
    CHECK(canonical(json).size() > levels);
}
