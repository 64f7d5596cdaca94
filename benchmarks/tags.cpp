// SPDX-License-Identifier: MIT
// Is neutralising bound by memory on clean text, and linear on hostile text? The counter `of_memchr` is the time for
// 10 MB of clean text relative to a search for a byte that is not in it; `of_1mb` is the time per byte relative to
// 1 MB of the same hostile text in the same run: near 1 is linear, near 100 at 100 MB would be quadratic.
#include <coppice/tags.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace {

constexpr std::size_t megabyte = 1'000'000;
constexpr coppice::FenceTags quoted{};
constexpr coppice::FenceTags entity{.defuse = coppice::Defuse::entity};

std::string repeated(std::string_view piece, std::size_t size) {
    std::string text;
    text.reserve(size + piece.size());
    while (text.size() < size) { text += piece; }
    return text;
}

// Of the processor, so that a busy machine does not count.
template <class Action>
double seconds(Action action) {
    const std::clock_t start = std::clock();
    action();
    return static_cast<double>(std::clock() - start + 1) / CLOCKS_PER_SEC;
}

constexpr std::string_view prose =
    "The build took longer than expected, so we looked at what changed since Monday: two new dependencies "
    "and a "
    "test that waits for a port. Neither is needed - the second one can go at once.\n";
constexpr std::string_view source =
    "    std::map<std::string, std::vector<int>> index;\n    if (a < b && c->size() > 2) { out << "
    "\"name\\n\"; }\n"
    "    for (const auto& [key, value] : index) { total += static_cast<std::size_t>(value.size()); }\n\n";
constexpr std::string_view markup =
    "<div class=\"entry\"><a href=\"/notes?id=3&amp;page=2\">A note</a> &lt;draft&gt;</div>\n";
constexpr std::string_view cjk =
    "\u6211\u4EEC\u4ECA\u5929\u770B\u4E86\u300A\u7EA2\u697C\u68A6\u300B\u7684\u7B2C\u4E00\u7AE0\uFF0C\u89C9"
    "\u5F97"
    "\u5F88\u597D\u3002\u660E\u5929\u7EE7\u7EED\uFF01\u3053\u308C\u306F\u30C6\u30B9\u30C8\u3067\u3059\u3002";
constexpr std::string_view french =
    "\u00AB L\u2019\u00E9t\u00E9 a \u00E9t\u00E9 tr\u00E8s long \u00BB, dit-elle \u2014 \u00AB et "
    "l\u2019hiver "
    "aussi\u2026 \u00BB\n";

void clean(benchmark::State& state, std::string_view piece, const coppice::FenceTags& tags, bool only_find) {
    const std::string text = repeated(piece, 10 * megabyte);
    std::string out;
    out.reserve(text.size() + 1);
    double ours = 1e9;
    double search = 1e9;
    for (auto _ : state) {
        ours = std::min(ours, seconds([&] {
                            out.clear();
                            if (only_find) {
                                benchmark::DoNotOptimize(coppice::find_tag(text, tags));
                            } else {
                                coppice::append_neutralised(out, text, tags);
                                benchmark::DoNotOptimize(out.data());
                            }
                        }));
        search = std::min(search, seconds([&] {
                              benchmark::DoNotOptimize(std::memchr(text.data(), '\x01', text.size()));
                          }));
    }
    state.counters["of_memchr"] = ours / search;
}

void hostile(benchmark::State& state, std::string_view head, std::string_view piece,
             const coppice::FenceTags& tags) {
    static std::map<std::pair<std::string_view, coppice::Defuse>, double> at_1mb;
    const std::string text =
        std::string(head) + repeated(piece, static_cast<std::size_t>(state.range(0)) * megabyte);
    double best = 1e9;
    std::string out;  // its memory is there from the first time on
    for (auto _ : state) {
        best = std::min(best, seconds([&] {
                            out.clear();
                            coppice::append_neutralised(out, text, tags);
                            benchmark::DoNotOptimize(out.data());
                        }));
    }
    const double per_byte = best / static_cast<double>(text.size());
    double& first = at_1mb[{piece, tags.defuse}];
    if (state.range(0) == 1) { first = per_byte; }
    state.counters["of_1mb"] = per_byte / first;
}

BENCHMARK_CAPTURE(clean, prose, prose, quoted, false);
BENCHMARK_CAPTURE(clean, prose_found, prose, quoted, true);
BENCHMARK_CAPTURE(clean, source, source, quoted, false);
BENCHMARK_CAPTURE(clean, source_found, source, quoted, true);
BENCHMARK_CAPTURE(clean, source_entity, source, entity, false);
BENCHMARK_CAPTURE(clean, markup, markup, quoted, false);
BENCHMARK_CAPTURE(clean, cjk, cjk, quoted, false);
BENCHMARK_CAPTURE(clean, cjk_found, cjk, quoted, true);
BENCHMARK_CAPTURE(clean, french, french, quoted, false);

void sizes(benchmark::internal::Benchmark* benchmark) {
    benchmark->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMillisecond)->Iterations(5);
}

BENCHMARK_CAPTURE(hostile, brackets, "", "<", quoted)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, lookalike_brackets, "", "\uFF1C", quoted)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, half_names, "", "<agent_platform_", quoted)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, marks, "<", "\u0301", quoted)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, ampersands, "", "&amp;amp;amp;", quoted)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, escaped_ampersands, "&", "amp;", quoted)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, backslashes, "", "\\", quoted)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, tags, "", "<agent_platform_note>", quoted)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, tags_entity, "", "<agent_platform_note>", entity)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, unclosed, "", "<agent_platform_note ", entity)->Apply(sizes);
BENCHMARK_CAPTURE(hostile, unclosed_lookalikes, "", "\uFF1Cagent_platform_note ", entity)->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
