// SPDX-License-Identifier: MIT
// What does pruning a DOM cost beside parsing it? The counter `of_parse` is the ratio in the same run.
#include "../examples/session_generator.hpp"

#include <coppice/coppice.hpp>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

const std::string& body() {
    static const std::string text = [] {
        coppice_examples::SessionShape shape;
        shape.results = 1000;
        return coppice_examples::make_session(shape).dump();
    }();
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

double parse_seconds() {
    static const double best = seconds(15, [] { benchmark::DoNotOptimize(Json::parse(body())); });
    return best;
}

template <class Pipeline>
void plan_document(benchmark::State& state, const Pipeline& pipeline) {
    const Json document = Json::parse(body());
    coppice::Workspace workspace;
    for (auto _ : state) { benchmark::DoNotOptimize(coppice::plan(document, pipeline, workspace)); }
    const double pass =
        seconds(60, [&] { benchmark::DoNotOptimize(coppice::plan(document, pipeline, workspace)); });
    state.counters["of_parse"] = pass / parse_seconds();
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(body().size()));
}

void parse(benchmark::State& state) {
    for (auto _ : state) { benchmark::DoNotOptimize(Json::parse(body())); }
    state.counters["of_parse"] = 1;
    state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(body().size()));
}
BENCHMARK(parse)->Unit(benchmark::kMicrosecond);

void untouched(benchmark::State& state) {
    constexpr coppice::EveryRequest<> never{.engage = coppice::bytes(1'000'000'000)};
    plan_document(state, coppice::presets::standard(never));
}
BENCHMARK(untouched)->Unit(benchmark::kMicrosecond);

void standard(benchmark::State& state) { plan_document(state, coppice::presets::standard()); }
BENCHMARK(standard)->Unit(benchmark::kMicrosecond);

void openswarm(benchmark::State& state) { plan_document(state, coppice::presets::openswarm()); }
BENCHMARK(openswarm)->Unit(benchmark::kMicrosecond);

void prune_in_place(benchmark::State& state) {
    const Json document = Json::parse(body());
    const auto pipeline = coppice::presets::openswarm();
    coppice::Workspace workspace;
    double best = 1e9;
    for (auto _ : state) {
        state.PauseTiming();
        Json copy = document;
        state.ResumeTiming();
        const auto start = Clock::now();
        benchmark::DoNotOptimize(coppice::prune(copy, pipeline, workspace));
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
        state.PauseTiming();
        copy = Json();
        state.ResumeTiming();
    }
    state.counters["of_parse"] = best / parse_seconds();
}
BENCHMARK(prune_in_place)->Unit(benchmark::kMicrosecond)->Iterations(60);

}  // namespace

BENCHMARK_MAIN();
