// SPDX-License-Identifier: MIT
// Does planning stay linear? The counter `of_5k` is the time per result, relative to 5,000 results in the
// same run: near 1 is linear, near 4 would be quadratic. All results distinct, all equal, and under a ceiling
// that clears nearly everything.
#include "../examples/session_generator.hpp"

#include <coppice/coppice.hpp>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

enum class Texts { distinct, equal };

Json session(std::size_t results, Texts texts) {
    coppice_examples::SessionShape shape;
    shape.results = results;
    shape.median_result_bytes = 300;
    shape.max_result_bytes = 6000;
    Json body = coppice_examples::make_session(shape);
    if (texts == Texts::distinct) { return body; }
    for (Json& message : body["messages"]) {
        if (!message["content"].is_array()) { continue; }
        for (Json& block : message["content"]) {
            if (block["type"] == "tool_result") { block["content"] = std::string(3000, 'x'); }
        }
    }
    return body;
}

template <class Pipeline>
void plan(benchmark::State& state, const Pipeline& pipeline, Texts texts) {
    static std::map<const void*, double> at_5k;
    const auto results = static_cast<std::size_t>(state.range(0));
    const Json document = session(results, texts);
    coppice::Workspace workspace;
    double best = 1e9;
    for (auto _ : state) {
        const auto start = Clock::now();
        benchmark::DoNotOptimize(coppice::plan(document, pipeline, workspace));
        best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
    }
    const double per_result = best / static_cast<double>(results);
    if (results == 5000) { at_5k[&pipeline] = per_result; }
    state.counters["of_5k"] = per_result / at_5k[&pipeline];
}

constexpr auto openswarm = coppice::presets::openswarm(coppice::EveryRequest<>{});
constexpr auto standard = coppice::presets::standard(coppice::EveryRequest<>{});
constexpr auto standard_of_equals = standard;
constexpr coppice::Pipeline tight{coppice::Ceiling<4000, 2>{}};

void all_policies(benchmark::State& state) { plan(state, openswarm, Texts::distinct); }
void default_preset(benchmark::State& state) { plan(state, standard, Texts::distinct); }
void equal_results(benchmark::State& state) { plan(state, standard_of_equals, Texts::equal); }
void ceiling_clears_all(benchmark::State& state) { plan(state, tight, Texts::distinct); }

BENCHMARK(all_policies)->Arg(5000)->Arg(10000)->Arg(20000)->Unit(benchmark::kMillisecond)->Iterations(10);
BENCHMARK(default_preset)->Arg(5000)->Arg(10000)->Arg(20000)->Unit(benchmark::kMillisecond)->Iterations(10);
BENCHMARK(equal_results)->Arg(5000)->Arg(10000)->Arg(20000)->Unit(benchmark::kMillisecond)->Iterations(10);
BENCHMARK(ceiling_clears_all)
    ->Arg(5000)
    ->Arg(10000)
    ->Arg(20000)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(10);

}  // namespace

BENCHMARK_MAIN();
