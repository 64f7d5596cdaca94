// SPDX-License-Identifier: MIT
// What does pruning a DOM cost beside parsing it? The counter `of_parse` is the ratio in the same run.
#include "../examples/session_generator.hpp"

#include <coppice/coppice.hpp>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// Sessions whose results have this median: everyday tool output, and whole files.
const std::string& body(std::int64_t median) {
    static std::map<std::int64_t, std::string> bodies;
    std::string& text = bodies[median];
    if (text.empty()) {
        coppice_examples::SessionShape shape;
        shape.results = 300;
        shape.median_result_bytes = static_cast<std::size_t>(median);
        shape.max_result_bytes = 400'000;
        text = coppice_examples::make_session(shape).dump();
    }
    return text;
}

// Best of several runs: the machine's noise only ever adds.
template <class Work>
double seconds(std::size_t runs, Work work) {
    double best = 1e9;
    for (std::size_t i = 0; i < runs; ++i) {
        const auto start = Clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    return best;
}

double parse_seconds(std::int64_t median) {
    static std::map<std::int64_t, double> best;
    double& found = best[median];
    if (found == 0) {
        found = seconds(10, [&] { benchmark::DoNotOptimize(Json::parse(body(median))); });
    }
    return found;
}

template <class Pipeline>
void plan_document(benchmark::State& state, const Pipeline& pipeline) {
    const Json document = Json::parse(body(state.range(0)));
    coppice::Workspace workspace;
    double best = 1e9;
    for (auto _ : state) {
        best = std::min(best, seconds(1, [&] {
                            benchmark::DoNotOptimize(coppice::plan(document, pipeline, workspace));
                        }));
    }
    state.counters["of_parse"] = best / parse_seconds(state.range(0));
}

// A body that stays as it is: what most requests cost.
void untouched(benchmark::State& state) {
    plan_document(state, coppice::presets::openswarm(coppice::Stepped<100'000, coppice::utf16(300'000)>{}));
}

void standard(benchmark::State& state) { plan_document(state, coppice::presets::standard()); }
void openswarm(benchmark::State& state) { plan_document(state, coppice::presets::openswarm()); }

void prune_in_place(benchmark::State& state) {
    const Json document = Json::parse(body(state.range(0)));
    const auto pipeline = coppice::presets::openswarm();
    coppice::Workspace workspace;
    double best = 1e9;
    for (auto _ : state) {
        Json copy = document;
        best = std::min(
            best, seconds(1, [&] { benchmark::DoNotOptimize(coppice::prune(copy, pipeline, workspace)); }));
    }
    state.counters["of_parse"] = best / parse_seconds(state.range(0));
}

BENCHMARK(untouched)->Arg(600)->Arg(4000)->Arg(20'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(standard)->Arg(600)->Arg(4000)->Arg(20'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(openswarm)->Arg(600)->Arg(4000)->Arg(20'000)->Unit(benchmark::kMicrosecond);
BENCHMARK(prune_in_place)->Arg(600)->Arg(4000)->Arg(20'000)->Unit(benchmark::kMicrosecond)->Iterations(30);

}  // namespace

BENCHMARK_MAIN();
