// SPDX-License-Identifier: MIT
// What several threads share gives each of them what it gives one alone. `sh cmake/run.sh tsan` watches this file.
#include "../examples/session_dialects.hpp"
#include "../examples/session_generator.hpp"

#include <coppice/config.hpp>
#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using coppice_examples::SessionDialect;
using nlohmann::ordered_json;

constexpr std::size_t thread_count = 4;

// Runs `work(n)` in each of several threads that begin together, and counts those that gave something else than true.
template <class Work>
std::size_t wrong_in_threads(const Work& work) {
    std::atomic<std::size_t> waiting{thread_count};
    std::atomic<std::size_t> wrong{0};
    std::vector<std::thread> threads;
    for (std::size_t n = 0; n < thread_count; ++n) {
        threads.emplace_back([&, n] {
            --waiting;
            while (waiting > 0) { std::this_thread::yield(); }
            if (!work(n)) { ++wrong; }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    return wrong;
}

ordered_json session(std::uint64_t seed, std::size_t results) {
    coppice_examples::SessionShape shape;
    shape.seed = seed;
    shape.results = results;
    shape.duplicate_share = 0.25;
    return coppice_examples::make_session(shape);
}

std::string joined(const auto& pieces) {
    std::string out;
    for (const std::string_view piece : pieces) { out += piece; }
    return out;
}

// Of bytes, what is to be sent.
std::string sent(const std::string& body, const auto& pipeline, const coppice::Inputs& inputs = {}) {
    const coppice::PrunedBody pruned = coppice::prune(std::string_view(body), pipeline, inputs);
    return std::string(pruned.bytes(body));
}

// Every way to ask a pipeline, each with a workspace of the thread's own.
template <class Pipeline>
bool same_in_every_way(const ordered_json& document, const std::string& bytes, const Pipeline& pipeline,
                       std::string_view expected) {
    thread_local coppice::Workspace workspace;
    thread_local coppice::WireWorkspace wire_workspace;
    const bool planned = coppice::plan(document, pipeline).saved_bytes == bytes.size() - expected.size();
    ordered_json copy = document;
    coppice::prune(copy, pipeline, workspace);
    return planned && copy.dump() == expected && sent(bytes, pipeline) == expected &&
           coppice::prune(std::string_view(bytes), pipeline, wire_workspace) == expected &&
           joined(coppice::prune_pieces(std::string_view(bytes), pipeline, wire_workspace)) == expected;
}

template <class Pipeline>
void check_shared(const Pipeline& pipeline) {
    const ordered_json document = session(7, 80);
    const std::string bytes = document.dump();
    ordered_json copy = document;
    REQUIRE(coppice::prune(copy, pipeline).engaged);
    const std::string expected = copy.dump();
    CHECK(wrong_in_threads([&](std::size_t) {
              bool same = true;
              for (int i = 0; i < 2; ++i) { same = same_in_every_way(document, bytes, pipeline, expected) && same; }
              return same;
          }) == 0);
}

constexpr coppice::Pipeline<coppice::SmallAging<5>, coppice::Dedup<>, coppice::KeepRecent<3>,
                            coppice::BulkyInputClear<2>, coppice::Ceiling<120'000, 2>, coppice::ExemptTools>
    constant;

}  // namespace

TEST_CASE("concurrent: a constant pipeline and a const document give each thread what they give one") {
    check_shared(constant);
}

TEST_CASE("concurrent: presets, with cadences that weigh and wordings that look at calls") {
    check_shared(coppice::presets::standard(coppice::SkiRental<>{}));
    check_shared(coppice::presets::triage(coppice::EveryRequest<>{}));
}

TEST_CASE("concurrent: copies of one AnyPipeline share it, and come and go while others use theirs") {
    const ordered_json document = session(9, 60);
    const std::string bytes = document.dump();
    const coppice::AnyPipeline shared = constant;
    const std::string expected = sent(bytes, constant);
    REQUIRE(expected.size() < bytes.size());
    CHECK(wrong_in_threads([&](std::size_t n) {
              bool same = true;
              for (int i = 0; i < 3; ++i) {
                  coppice::AnyPipeline own = coppice::presets::openswarm();
                  own = shared;
                  const coppice::AnyPipeline& chosen = n % 2 == 0 ? own : shared;
                  same = same_in_every_way(document, bytes, chosen, expected) && same;
              }
              return same;
          }) == 0);
}

TEST_CASE("concurrent: each thread has bodies of another provider, and one pipeline serves them all") {
    const ordered_json document = session(11, 50);
    constexpr SessionDialect dialects[] = {SessionDialect::anthropic, SessionDialect::openai_chat,
                                           SessionDialect::openai_responses, SessionDialect::gemini,
                                           SessionDialect::bedrock};
    std::vector<std::string> bodies;
    std::vector<std::string> expected;
    for (const SessionDialect dialect : dialects) {
        bodies.push_back(coppice_examples::render(dialect, document).dump());
        expected.push_back(sent(bodies.back(), constant));
        REQUIRE(expected.back().size() < bodies.back().size());
    }
    CHECK(wrong_in_threads([&](std::size_t n) {
              thread_local coppice::WireWorkspace workspace;
              bool same = true;
              for (std::size_t i = 0; i < 2 * bodies.size(); ++i) {
                  const std::size_t at = (i + n) % bodies.size();
                  same = coppice::prune(std::string_view(bodies[at]), constant, workspace) == expected[at] && same;
              }
              return same;
          }) == 0);
}

TEST_CASE("concurrent: a ledger that nobody writes to may be read by all") {
    const ordered_json document = session(13, 80);
    const std::string bytes = document.dump();
    const auto pipeline = coppice::presets::standard(coppice::MinReclaim<1'000'000>{});
    coppice::Ledger ledger;
    ledger.note_cold(document["messages"].size());
    const std::string expected = sent(bytes, pipeline, ledger);
    REQUIRE(expected.size() < bytes.size());
    CHECK(wrong_in_threads([&](std::size_t) {
              return sent(bytes, pipeline, ledger) == expected &&
                     coppice::plan(document, pipeline, ledger).saved_bytes == bytes.size() - expected.size();
          }) == 0);
}

TEST_CASE("concurrent: one configuration is read by all") {
    const ordered_json config = {{"policies", {"dedup", "keep_recent"}}};
    const ordered_json document = session(15, 40);
    const std::string bytes = document.dump();
    const std::string expected = sent(bytes, coppice::pipeline_from_json(config));
    REQUIRE(expected.size() < bytes.size());
    CHECK(wrong_in_threads([&](std::size_t) {
              const coppice::AnyPipeline pipeline = coppice::pipeline_from_json(config);
              return sent(bytes, pipeline) == expected;
          }) == 0);
}

TEST_CASE("concurrent: threads that prune one body with one store agree, and each content is there once") {
    ordered_json document = session(17, 20);
    document["messages"].push_back({{"role", "assistant"},
                                    {"content", {{{"type", "tool_use"}, {"id", "huge_1"}, {"name", "Bash"},
                                                  {"input", {{"command", "make"}}}}}}});
    document["messages"].push_back(
        {{"role", "user"},
         {"content", {{{"type", "tool_result"}, {"tool_use_id", "huge_1"}, {"content", std::string(90'000, 'x')}}}}});
    const std::string bytes = document.dump();
    coppice::MemorySpillStore alone;
    const coppice::Pipeline first{coppice::Spill<coppice::Size{16'000}>{.store = &alone}};
    const std::string expected = sent(bytes, first);
    REQUIRE(alone.size() > 0);

    coppice::MemorySpillStore shared;
    const coppice::Pipeline pipeline{coppice::Spill<coppice::Size{16'000}>{.store = &shared}};
    CHECK(wrong_in_threads([&](std::size_t) {
              return sent(bytes, pipeline) == expected;
          }) == 0);
    CHECK(shared.size() == alone.size());
}
