// SPDX-License-Identifier: MIT
#include <coppice/dialect.hpp>

#include <coppice/dom.hpp>

#include "support/batches.hpp"
#include "support/builders.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::none;
using coppice::Text;
using coppice::detail::Pairs;
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

Text id(std::string_view text) { return Text(text); }

Pairs fresh() {
    Pairs pairs;
    pairs.clear();
    return pairs;
}

Json request() { return body(list(user("hi"), assistant("hello"))); }

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

TEST_CASE("pairs: a result answers the call with its id") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 3);
    pairs.arm(id("b"), 5);
    CHECK(pairs.answer(id("b")) == 5);
    CHECK(pairs.answer(id("a")) == 3);
}

TEST_CASE("pairs: an id is answered once") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 3);
    CHECK(pairs.answer(id("a")) == 3);
    CHECK(pairs.answer(id("a")) == none);
}

TEST_CASE("pairs: an id that nobody armed answers nothing") {
    Pairs pairs = fresh();
    CHECK(pairs.answer(id("a")) == none);
    pairs.arm(id("a"), 3);
    CHECK(pairs.answer(id("A")) == none);
    CHECK(pairs.answer(id("")) == none);
    CHECK(pairs.answer(id("a")) == 3);
}

TEST_CASE("pairs: calls with one id are answered in the order they were made") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 1);
    pairs.arm(id("a"), 2);
    pairs.arm(id("a"), 3);
    CHECK(pairs.answer(id("a")) == 1);
    pairs.arm(id("a"), 4);
    CHECK(pairs.answer(id("a")) == 2);
    CHECK(pairs.answer(id("a")) == 3);
    CHECK(pairs.answer(id("a")) == 4);
    CHECK(pairs.answer(id("a")) == none);
    pairs.arm(id("a"), 5);
    CHECK(pairs.answer(id("a")) == 5);
}

TEST_CASE("pairs: a new turn disarms what was not answered") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 1);
    pairs.next_turn();
    CHECK(pairs.answer(id("a")) == none);
    pairs.arm(id("a"), 2);
    CHECK(pairs.answer(id("a")) == 2);
}

TEST_CASE("pairs: two spellings of an id are one id") {
    Pairs pairs = fresh();
    pairs.arm(Text::still_escaped(R"(toolu\u005f1)"), 1);
    CHECK(pairs.answer(id("toolu_1")) == 1);
    pairs.arm(id("a/b"), 2);
    CHECK(pairs.answer(Text::still_escaped(R"(a\/b)")) == 2);
}

TEST_CASE("pairs: cleared it knows nothing of before") {
    Pairs pairs = fresh();
    pairs.arm(id("a"), 1);
    pairs.clear();
    CHECK(pairs.answer(id("a")) == none);
}

TEST_CASE("pairs: a thousand parallel calls find their answers in reverse") {
    Pairs pairs = fresh();
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < 1000; ++i) { ids.push_back("call_" + std::to_string(i)); }
    for (std::size_t i = 0; i < ids.size(); ++i) { pairs.arm(id(ids[i]), i); }
    std::size_t wrong = 0;
    for (std::size_t i = ids.size(); i-- > 0;) { wrong += pairs.answer(id(ids[i])) != i; }
    CHECK(wrong == 0);
}

TEST_CASE("unwrapped: a batch entry gives its params and a batch line its body") {
    const Json of_batch = entry("a", request());
    CHECK(unwrapped(of_batch) == &of_batch["params"]);
    const Json of_file = batch_line("a", request());
    CHECK(unwrapped(of_file) == &of_file["body"]);
}

TEST_CASE("unwrapped: a request is itself whatever else it has") {
    for (const std::string key : {"messages", "contents", "input", "role"}) {
        CAPTURE(key);
        Json value = entry("a", request());
        value[key] = "x";
        CHECK(unwrapped(value) == &value);
        Json key_first = {{key, list()}};
        key_first["body"] = request();
        CHECK(unwrapped(key_first) == &key_first);
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
