// SPDX-License-Identifier: MIT
// One disk store, several threads. `sh cmake/run.sh tsan` watches this file.
#include <coppice/spill/disk.hpp>

#include "support/scratch.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/spill.hpp>
#include <coppice/wire.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

using coppice::DiskSpillStore;
using namespace support;

namespace {

// Tells when somebody writes, and waits a while then.
struct WaitingSystem : coppice::detail::PosixSystem {
    static inline std::function<void()> on_write;

    static ::ssize_t write(int file, const void* bytes, std::size_t size) {
        if (on_write) { std::exchange(on_write, nullptr)(); }
        return PosixSystem::write(file, bytes, size);
    }
};

}  // namespace

TEST_CASE("disk store: two threads of one store do not pass the limit of files together") {
    const Scratch scratch;
    coppice::BasicDiskSpillStore<WaitingSystem> store(scratch.root(), {.session = "s", .most_files = 1});
    std::atomic<bool> done{false};
    bool second = false;
    std::thread other;
    WaitingSystem::on_write = [&] {
        other = std::thread([&] {
            second = store.put(store.reference("b", "x"), "x");
            done = true;
        });
        // it cannot be done before we are
        for (int i = 0; i < 20 && !done; ++i) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }
    };
    CHECK(store.put(store.reference("a", "x"), "x"));
    REQUIRE(other.joinable());
    other.join();
    CHECK_FALSE(second);
    CHECK(store.list().contents.size() == 1);
}

TEST_CASE("disk store: threads may share it") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), {.session = "s", .most_files = 30});
    std::atomic<int> wrong{0};
    std::atomic<int> stored{0};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (std::size_t i = 0; i < 20; ++i) {
                // ten that all have, and ten of one's own
                const std::string content = lines(i < 10 ? i : 100 * (t + 1) + i, 3000);
                const std::string reference = store.reference("id", content);
                const bool put = store.put(reference, content);
                if ((store.get(reference) == content) != put) { ++wrong; }
                if (put && i >= 10) { ++stored; }
                if (!put && i < 10) { ++wrong; }
            }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    CHECK(wrong == 0);
    CHECK(stored == 20);
    CHECK(store.list().contents.size() == 30);
    CHECK(scratch.temporaries().empty());
}

TEST_CASE("disk store: threads that prune one body with it send the same, and what they name is there") {
    using nlohmann::ordered_json;
    ordered_json messages = ordered_json::array({{{"role", "user"}, {"content", "go on"}}});
    for (std::size_t i = 0; i < 6; ++i) {
        const std::string id = "call_" + std::to_string(i);
        messages.push_back({{"role", "assistant"},
                            {"content", {{{"type", "tool_use"}, {"id", id}, {"name", "Bash"},
                                          {"input", {{"command", "make " + id}}}}}}});
        messages.push_back({{"role", "user"},
                            {"content", {{{"type", "tool_result"}, {"tool_use_id", id}, {"content", lines(i, 30'000)}}}}});
    }
    const std::string body = ordered_json{{"model", "m"}, {"messages", messages}}.dump();

    const Scratch scratch;
    DiskSpillStore store(scratch.root(), {.session = "s"});
    const coppice::Pipeline pipeline{coppice::Spill<coppice::Size{16'000}, DiskSpillStore>{.store = &store}};
    std::vector<std::string> sent(4);
    std::vector<std::thread> threads;
    for (std::string& out : sent) {
        threads.emplace_back([&] {
            const coppice::PrunedBody pruned = coppice::prune(std::string_view(body), pipeline);
            out = pruned.bytes(body);
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    CHECK(sent[0].size() < body.size() / 3);
    for (const std::string& out : sent) { CHECK(out == sent[0]); }
    CHECK(store.list().contents.size() == 6);
    for (std::size_t i = 0; i < 6; ++i) {
        const std::string reference = store.reference("call_" + std::to_string(i), lines(i, 30'000));
        CHECK(store.get(reference) == lines(i, 30'000));
        CHECK(sent[0].find(reference) != std::string::npos);
    }
    CHECK(scratch.temporaries().empty());
}
