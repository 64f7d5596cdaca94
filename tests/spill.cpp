// SPDX-License-Identifier: MIT
#include <coppice/spill.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using coppice::MemorySpillStore;

}  // namespace

TEST_CASE("memory store: what was put is there under its reference") {
    MemorySpillStore store;
    const std::string reference = store.reference("call_1", "full content");
    CHECK(store.put(reference, "full content"));
    CHECK(store.get(reference) == "full content");
}

TEST_CASE("memory store: naming a place stores nothing") {
    const MemorySpillStore store;
    CHECK_FALSE(store.reference("call_1", "full content").empty());
    CHECK(store.size() == 0);
}

TEST_CASE("memory store: an unknown reference holds nothing") {
    const MemorySpillStore store;
    CHECK_FALSE(store.get("memory:0").has_value());
    CHECK_FALSE(store.get("").has_value());
}

TEST_CASE("memory store: a reference is a pure function of id and content") {
    const MemorySpillStore one;
    MemorySpillStore other;
    other.put("memory:1", "something else");
    CHECK(one.reference("call_1", "content") == one.reference("call_1", "content"));
    CHECK(one.reference("call_1", "content") == other.reference("call_1", "content"));
}

TEST_CASE("memory store: a reference is printable ASCII whatever id and content hold") {
    const MemorySpillStore store;
    for (const std::string& hostile : {std::string("../../etc/passwd"), std::string("a\0b\n\"]\\", 7),
                                       std::string("\xFF\xFE"), std::string(100'000, 'x'), std::string()}) {
        const std::string reference = store.reference(hostile, hostile);
        CHECK(reference.size() == std::string("memory:").size() + 32);
        CHECK(reference.find_first_not_of("0123456789abcdef", 7) == std::string::npos);
    }
}

TEST_CASE("memory store: other ids and other contents have other references") {
    const MemorySpillStore store;
    std::set<std::string> references;
    for (int id = 0; id < 100; ++id) {
        for (int content = 0; content < 100; ++content) {
            references.insert(
                store.reference("call_" + std::to_string(id), "content " + std::to_string(content)));
        }
    }
    CHECK(references.size() == 10'000);
}

TEST_CASE("memory store: id and content do not run into each other") {
    const MemorySpillStore store;
    CHECK(store.reference("ab", "c") != store.reference("a", "bc"));
    CHECK(store.reference("", "abc") != store.reference("abc", ""));
    CHECK(store.reference("a", "x") != store.reference("a", std::string("x\0", 2)));
}

TEST_CASE("memory store: the same content twice is one entry") {
    MemorySpillStore store;
    CHECK(store.put("memory:1", "content"));
    CHECK(store.put("memory:1", "content"));
    CHECK(store.size() == 1);
}

TEST_CASE("memory store: a place that is taken by another content is refused and kept") {
    MemorySpillStore store;
    CHECK(store.put("memory:1", "first"));
    CHECK_FALSE(store.put("memory:1", "second"));
    CHECK(store.get("memory:1") == "first");
    CHECK(store.size() == 1);
}

TEST_CASE("memory store: contents keep every byte") {
    MemorySpillStore store;
    const std::string content("nul\0 and \xFF\n", 12);
    CHECK(store.put("memory:1", content));
    CHECK(store.get("memory:1") == content);
    CHECK(store.put("memory:2", ""));
    CHECK(store.get("memory:2") == "");
}

TEST_CASE("memory store: it knows what refers to it") {
    const MemorySpillStore store;
    const std::string place = store.reference("call_1", "content");
    CHECK(store.refers(place));
    CHECK(store.refers("grep -n error '" + place + "' | head"));
    CHECK(store.refers(std::string(1'000'000, 'x') + place));
    for (const std::string_view other :
         {"", "memory", "/src/memory.c", "MEMORY:1", "make memory", "mem:ory"}) {
        CAPTURE(other);
        CHECK_FALSE(store.refers(other));
    }
    CHECK_FALSE(store.refers(std::string(1'000'000, 'm')));
}

TEST_CASE("memory store: threads may share it") {
    MemorySpillStore store;
    std::atomic<int> refused{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&store, &refused] {
            for (int i = 0; i < 250; ++i) {
                const std::string content = "content " + std::to_string(i);
                const std::string reference = store.reference("id", content);
                if (!store.put(reference, content)) { ++refused; }
                if (store.get(reference) != content) { ++refused; }
            }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    CHECK(refused == 0);
    CHECK(store.size() == 250);
}
