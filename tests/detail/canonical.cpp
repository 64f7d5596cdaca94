// SPDX-License-Identifier: MIT
#include <coppice/detail/canonical.hpp>

#include "support/nested.hpp"

#include <coppice/dom.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using coppice::detail::CanonicalValue;
using Json = nlohmann::ordered_json;

namespace {

std::string written(const Json& value) {
    coppice::detail::CanonicalWriter<coppice::detail::DomCursor<Json>> writer;
    std::string out;
    writer.append(coppice::detail::DomCursor<Json>(value), out);
    return out;
}

// Read back, members by the order of their keys.
Json read(const CanonicalValue& value) {
    if (value.is_text()) { return std::string(value.text()); }
    if (value.is_object()) {
        Json out = Json::object();
        value.members([&](std::string_view key, const CanonicalValue& member) { out[std::string(key)] = read(member); });
        return out;
    }
    if (!value.text().empty()) { return Json::parse(value.text(), nullptr, false); }
    Json out = Json::array();
    value.elements([&](const CanonicalValue& element) { out.push_back(read(element)); });
    return out;
}

Json sorted(const Json& value) { return Json::parse(nlohmann::json::parse(value.dump()).dump()); }

Json random_value(std::mt19937& random, int depth) {
    static const std::vector<std::string> texts = {
        "", ",", ":", "1:a", "{2:", "[0:", "\"1:", "null", "7,", "\xC3\xA9", std::string("\0\n", 2), std::string(300, 'x')};
    const auto any = [&](std::size_t count) { return static_cast<std::size_t>(random()) % count; };
    switch (any(depth > 0 ? 8 : 6)) {
        case 0: return Json(nullptr);
        case 1: return any(2) == 0;
        case 2: return static_cast<std::int64_t>(random()) - 2'000'000'000;
        case 3: return static_cast<double>(any(1000)) / 8;
        case 6: {
            Json out = Json::array();
            for (std::size_t i = any(5); i > 0; --i) { out.push_back(random_value(random, depth - 1)); }
            return out;
        }
        case 7: {
            Json out = Json::object();
            for (std::size_t i = any(5); i > 0; --i) { out[texts[any(texts.size())]] = random_value(random, depth - 1); }
            return out;
        }
        default: return texts[any(texts.size())];
    }
}

}  // namespace

TEST_CASE("canonical: what the writer wrote is read back, whatever stands in it") {
    std::mt19937 random(5);
    for (int round = 0; round < 3000; ++round) {
        const Json value = random_value(random, 5);
        const std::string text = written(value);
        std::string_view rest = text;
        const CanonicalValue found = CanonicalValue::take(rest);
        CHECK(rest.empty());
        CHECK(read(found) == sorted(value));
    }
}

TEST_CASE("canonical: values one behind the other are taken off one by one") {
    const std::string text =
        written(7) + written("a,b") + written(Json::array({1, Json::array()})) + written(nullptr) + written("");
    std::string_view rest = text;
    CHECK(CanonicalValue::take(rest).text() == "7");
    CHECK(CanonicalValue::take(rest).text() == "a,b");
    CHECK(read(CanonicalValue::take(rest)) == Json::array({1, Json::array()}));
    const CanonicalValue null = CanonicalValue::take(rest);
    CHECK(null.is_null());
    CHECK_FALSE(null.is_number());
    const CanonicalValue empty = CanonicalValue::take(rest);
    CHECK(empty.is_text());
    CHECK(empty.text().empty());
    CHECK(rest.empty());
    CHECK_FALSE(CanonicalValue::take(rest).is_text());
}

TEST_CASE("canonical: numbers, literals and texts that look like them are told apart") {
    const auto taken = [](const Json& value) {
        static std::string text;
        text = written(value);
        std::string_view rest = text;
        return CanonicalValue::take(rest);
    };
    for (const Json& number : {Json(0), Json(-1), Json(0.0), Json(1e300), Json(18446744073709551615ULL)}) {
        CHECK(taken(number).is_number());
        CHECK_FALSE(taken(number).is_null());
    }
    for (const Json& other : {Json("7"), Json("null"), Json(true), Json(false), Json::array({7}), Json{{"7", 7}}}) {
        CHECK_FALSE(taken(other).is_number());
        CHECK_FALSE(taken(other).is_null());
    }
    std::size_t visited = 0;
    taken("a").members([&](std::string_view, const CanonicalValue&) { ++visited; });
    taken(Json::array({1})).members([&](std::string_view, const CanonicalValue&) { ++visited; });
    taken(Json{{"a", 1}}).elements([&](const CanonicalValue&) { ++visited; });
    CHECK(visited == 0);
}

TEST_CASE("canonical: of what the writer did not write nothing is read that is not there") {
    std::mt19937 random(6);
    const std::string alphabet = "{[\"0123456789:,ntfae-x";
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (std::size_t i = random() % 24; i > 0; --i) { text += alphabet[random() % alphabet.size()]; }
        if (round % 2 == 0) {
            text = written(random_value(random, 3));
            text.resize(random() % (text.size() + 1));
        }
        std::string_view rest = text;
        std::size_t taken = 0;
        while (!rest.empty()) {
            const std::size_t before = rest.size();
            const CanonicalValue value = CanonicalValue::take(rest);
            REQUIRE(rest.size() < before);
            value.members(
                [&](std::string_view key, const CanonicalValue& member) { taken += key.size() + member.text().size(); });
            value.elements([&](const CanonicalValue& element) { taken += element.text().size(); });
        }
        CHECK(taken <= text.size());
    }
}

TEST_CASE("canonical: any depth is passed over without a call for each level") {
    const std::string text = written(Json::array({support::nested(200'000), "behind"}));
    std::string_view rest = text;
    const CanonicalValue found = CanonicalValue::take(rest);
    std::string last;
    found.elements([&](const CanonicalValue& element) { last = element.text(); });
    CHECK(last == "behind");
}
