// SPDX-License-Identifier: MIT
#include <coppice/dialect.hpp>

#include <coppice/dom.hpp>

#include "support/batches.hpp"
#include "support/builders.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;
using Cursor = coppice::detail::DomCursor<Json>;
using Repeating = support::RepeatingCursor<Json>;
using support::assistant;
using support::batch;
using support::batch_line;
using support::body;
using support::entry;
using support::list;
using support::user;

static_assert(coppice::json_cursor<coppice::detail::DomCursor<nlohmann::json>>);
static_assert(coppice::json_cursor<coppice::detail::DomCursor<nlohmann::ordered_json>>);
static_assert(coppice::json_cursor<Repeating>);
static_assert(!coppice::json_cursor<nlohmann::json>);

Json request() { return body(list(user("hi"), assistant("hello"))); }

Json wrapper(const std::string& key) {
    Json out = {{"key", "a"}};
    out[key] = request();
    return out;
}

template <class C = Cursor>
const Json* unwrapped(const Json& value) {
    return static_cast<const Json*>(coppice::detail::unwrapped(C(value)).node().where);
}

// The values that are visited, in order.
template <class C = Cursor>
std::vector<const Json*> bodies_of(const Json& root) {
    std::vector<const Json*> visited;
    coppice::detail::for_each_body(
        C(root), [&](C value) { visited.push_back(static_cast<const Json*>(value.node().where)); });
    return visited;
}

using Bodies = std::vector<const Json*>;

}  // namespace

TEST_CASE("unwrapped: a batch entry gives its params and a batch line its body") {
    const Json of_batch = entry("a", request());
    CHECK(unwrapped(of_batch) == &of_batch["params"]);
    const Json of_file = batch_line("a", request());
    CHECK(unwrapped(of_file) == &of_file["body"]);
}

TEST_CASE("unwrapped: Gemini's wrapper gives its request and Bedrock's its model input") {
    const Json of_gemini = wrapper("request");
    CHECK(unwrapped(of_gemini) == &of_gemini["request"]);
    const Json of_bedrock = wrapper("modelInput");
    CHECK(unwrapped(of_bedrock) == &of_bedrock["modelInput"]);
}

TEST_CASE("unwrapped: of several the same is taken whatever their order") {
    const std::vector<std::string> ranked = {"params", "body", "request", "modelInput"};
    for (std::size_t better = 0; better < ranked.size(); ++better) {
        for (std::size_t worse = better + 1; worse < ranked.size(); ++worse) {
            CAPTURE(ranked[better]);
            CAPTURE(ranked[worse]);
            Json first = wrapper(ranked[better]);
            first[ranked[worse]] = request();
            CHECK(unwrapped(first) == &first[ranked[better]]);
            Json last = wrapper(ranked[worse]);
            last[ranked[better]] = request();
            CHECK(unwrapped(last) == &last[ranked[better]]);
            last[ranked[better]] = "no object";
            CHECK(unwrapped(last) == &last[ranked[worse]]);
        }
    }
}

TEST_CASE("unwrapped: a request is itself whatever else it has") {
    for (const std::string key : {"messages", "contents", "input", "role"}) {
        CAPTURE(key);
        Json value = entry("a", request());
        value[key] = "x";
        CHECK(unwrapped(value) == &value);
        for (const std::string wrap : {"params", "body", "request", "modelInput"}) {
            Json key_first = {{key, list()}};
            key_first[wrap] = request();
            CHECK(unwrapped(key_first) == &key_first);
            Json key_last = wrapper(wrap);
            key_last[key] = list();
            CHECK(unwrapped(key_last) == &key_last);
        }
    }
}

TEST_CASE("unwrapped: what is no object inside is no wrapper") {
    for (const Json& inner : {Json("{}"), Json(nullptr), list(user("hi")), Json(7)}) {
        const Json value = entry("a", inner);
        CHECK(unwrapped(value) == &value);
    }
    for (const Json& value : {Json(), Json("params"), list(), Json::object(), Json(7)}) {
        CHECK(unwrapped(value) == &value);
    }
}

TEST_CASE("unwrapped: one wrapper is taken off and not two") {
    const Json value = entry("a", entry("b", request()));
    CHECK(unwrapped(value) == &value["params"]);
}

TEST_CASE("unwrapped: a wrapper that repeats a key stays as it is") {
    Json value = entry("a", request());
    value["twice"] = 1;
    CHECK(unwrapped<Repeating>(value) == &value);
    CHECK(unwrapped(value) == &value["params"]);
}

TEST_CASE("bodies: a request is visited as it is") {
    const Json plain = request();
    CHECK(bodies_of(plain) == Bodies{&plain});
    const Json array = list(user("hi"), assistant("hello"));
    CHECK(bodies_of(array) == Bodies{&array});
}

TEST_CASE("bodies: what is no request is visited once too") {
    for (const Json& value : {Json(), Json("requests"), Json(7), list(), Json::object(), list(1, 2)}) {
        CHECK(bodies_of(value) == Bodies{&value});
    }
}

TEST_CASE("bodies: one wrapper gives what it holds") {
    const Json of_batch = entry("a", request());
    CHECK(bodies_of(of_batch) == Bodies{&of_batch["params"]});
    const Json of_file = batch_line("a", request());
    CHECK(bodies_of(of_file) == Bodies{&of_file["body"]});
}

TEST_CASE("bodies: the requests of a batch come in their order") {
    const Json value = batch(entry("a", request()), entry("b", request()), batch_line("c", request()));
    const Json& requests = value["requests"];
    CHECK(bodies_of(value) == Bodies{&requests[0]["params"], &requests[1]["params"], &requests[2]["body"]});
}

TEST_CASE("bodies: requests without a wrapper make a batch as well") {
    const Json value = batch(request(), request());
    CHECK(bodies_of(value) == Bodies{&value["requests"][0], &value["requests"][1]});
}

TEST_CASE("bodies: an array of wrappers is a batch") {
    const Json entries = list(entry("a", request()), entry("b", request()));
    CHECK(bodies_of(entries) == Bodies{&entries[0]["params"], &entries[1]["params"]});
    const Json lines = list(batch_line("a", request()), batch_line("b", request()));
    CHECK(bodies_of(lines) == Bodies{&lines[0]["body"], &lines[1]["body"]});
}

TEST_CASE("bodies: wrappers of Gemini and Bedrock make batches too") {
    for (const std::string key : {"request", "modelInput"}) {
        CAPTURE(key);
        const Json alone = wrapper(key);
        CHECK(bodies_of(alone) == Bodies{&alone[key]});
        const Json lines = list(wrapper(key), wrapper(key));
        CHECK(bodies_of(lines) == Bodies{&lines[0][key], &lines[1][key]});
        const Json value = batch(wrapper(key), wrapper(key));
        const Json& requests = value["requests"];
        CHECK(bodies_of(value) == Bodies{&requests[0][key], &requests[1][key]});
    }
}

TEST_CASE("bodies: an array of messages or items of any provider is one history") {
    const Json parts = {{"parts", list(Json{{"text", "hi"}})}};
    const Json item = {{"type", "custom_tool_call"}, {"call_id", "c"}, {"name", "n"}, {"input", "x"}};
    const Json odd = {{"type", "x"}, {"request", Json::object()}};
    for (const Json& first : {parts, item, odd, Json{{"role", "tool"}, {"body", Json::object()}},
                              Json{{"content", "x"}, {"params", Json::object()}}}) {
        const Json value = list(first, user("hi"));
        CHECK(bodies_of(value) == Bodies{&value});
    }
}

TEST_CASE("bodies: what is odd inside a batch is visited and leaves the others their places") {
    const Json value = batch(entry("a", request()), 7, entry("c", "no object"), entry("d", request()));
    const Json& requests = value["requests"];
    CHECK(bodies_of(value) ==
          Bodies{&requests[0]["params"], &requests[1], &requests[2], &requests[3]["params"]});
}

TEST_CASE("bodies: a body with messages is a request whatever its requests are") {
    Json value = request();
    value["requests"] = list(entry("a", request()));
    CHECK(bodies_of(value) == Bodies{&value});
    Json requests_first = batch(entry("a", request()));
    requests_first["messages"] = list(user("hi"));
    CHECK(bodies_of(requests_first) == Bodies{&requests_first});
}

TEST_CASE("bodies: a message that holds something called body is no wrapper") {
    Json odd = user("hi");
    odd["body"] = request();
    const Json value = list(odd, assistant("hello"));
    CHECK(bodies_of(value) == Bodies{&value});
}

TEST_CASE("bodies: requests that are no array are no batch") {
    const Json value = {{"requests", {{"a", 1}}}};
    CHECK(bodies_of(value) == Bodies{&value});
}

TEST_CASE("bodies: an empty batch has none") { CHECK(bodies_of(batch()).empty()); }

TEST_CASE("bodies: a batch that repeats a key is left to the reader to refuse") {
    Json value = batch(entry("a", request()));
    value["twice"] = 1;
    CHECK(bodies_of<Repeating>(value) == Bodies{&value});
}
