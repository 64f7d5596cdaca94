// SPDX-License-Identifier: MIT
#include <coppice/detail/dom_walk.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

using coppice::detail::OpenValue;
using coppice::detail::walk;
using Json = nlohmann::ordered_json;

// Writes down what it is told.
template <class Value>
struct Recording {
    std::string seen{};
    std::string closed = "no such key";  // what it does not go into

    void member(const std::string& key, bool first) { seen += (first ? " " : ", ") + key + ":"; }
    void element(bool first) { seen += first ? " " : ", "; }
    bool enter(const Value& value) {
        if (value.is_object() && value.contains(closed)) {
            seen += "closed";
            return false;
        }
        seen += value.is_object() ? "{" : value.is_array() ? "[" : value.dump();
        return true;
    }
    void leave(bool object) { seen += object ? " }" : " ]"; }
};

template <class Value = Json>
std::string walked(const std::string& text, const std::string& closed = "no such key") {
    const Value value = Value::parse(text);
    Recording<Value> recording;
    recording.closed = closed;
    std::vector<OpenValue<Value>> stack;
    walk(value, recording, stack);
    CHECK(stack.empty());
    return recording.seen;
}

// Counts, and has no `leave`.
struct Counting {
    std::size_t members = 0;
    std::size_t elements = 0;
    std::size_t values = 0;

    void member(const std::string&, bool) { ++members; }
    void element(bool) { ++elements; }
    bool enter(const Json&) { return ++values > 0; }
};

struct Depth {
    std::size_t now = 0;
    std::size_t most = 0;

    void member(const std::string&, bool) {}
    void element(bool) {}
    bool enter(const Json& value) {
        if (value.is_structured()) { most = std::max(most, ++now); }
        return true;
    }
    void leave(bool) { --now; }
};

}  // namespace

TEST_CASE("walk: every value is entered in its order and every container is left") {
    CHECK(walked(R"({"b":[1,{"c":null},[]],"a":{},"d":"x"})") ==
          R"({ b:[ 1, { c:null }, [ ] ], a:{ }, d:"x" })");
    CHECK(walked("[[[1],2],3]") == "[ [ [ 1 ], 2 ], 3 ]");
    CHECK(walked<nlohmann::json>(R"({"b":[1],"a":{}})") == "{ a:{ }, b:[ 1 ] }");
}

TEST_CASE("walk: a value that is no container is entered alone") {
    for (const std::string text : {"null", "true", "-7", "1.5", R"("x")"}) { CHECK(walked(text) == text); }
    CHECK(walked("{}") == "{ }");
    CHECK(walked("[]") == "[ ]");
}

TEST_CASE("walk: what the visitor does not go into is not left either") {
    CHECK(walked(R"([{"shut":[1,2]},{"open":3}])", "shut") == "[ closed, { open:3 } ]");
    CHECK(walked(R"({"shut":1})", "shut") == "closed");
    CHECK(walked(R"({"a":{"shut":{}},"b":[{"shut":1}]})", "shut") == "{ a:closed, b:[ closed ] }");
}

TEST_CASE("walk: a visitor needs no word for leaving") {
    const Json value = Json::parse(R"({"a":[1,2,{}],"b":{"c":[]}})");
    Counting counting;
    std::vector<OpenValue<Json>> stack;
    walk(value, counting, stack);
    CHECK(counting.members == 3);
    CHECK(counting.elements == 3);
    CHECK(counting.values == 7);
}

TEST_CASE("walk: what an earlier walk left on the stack is forgotten") {
    const Json other = Json::parse("[1,2,3]");
    const Json value = Json::parse("[4]");
    std::vector<OpenValue<Json>> stack;
    const auto& elements = other.get_ref<const Json::array_t&>();
    stack.push_back({{}, {}, elements.begin(), elements.end(), false});
    Recording<Json> recording;
    walk(value, recording, stack);
    CHECK(recording.seen == "[ 4 ]");
}

TEST_CASE("walk: depth is no danger") {
    constexpr std::size_t levels = 200'000;
    Json value = Json::object();
    for (std::size_t i = 1; i < levels; ++i) {
        Json outer = i % 2 == 0 ? Json::object() : Json::array();
        if (i % 2 == 0) {
            outer["a"] = std::move(value);
        } else {
            outer.push_back(std::move(value));
        }
        value = std::move(outer);
    }
    Depth depth;
    std::vector<OpenValue<Json>> stack;
    walk(value, depth, stack);
    CHECK(depth.most == levels);
    CHECK(depth.now == 0);
}
