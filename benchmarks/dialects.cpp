// SPDX-License-Identifier: MIT
// What does a provider's shape cost? The same session in each, pruned as bytes: the time for a byte beside that of the
// Anthropic body. All are ratios of one run, in which the sides take turns.
#include "../examples/session_dialects.hpp"
#include "../examples/session_generator.hpp"
#include "turns.hpp"

#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>

namespace {

using coppice_examples::SessionDialect;

constexpr std::array<SessionDialect, 6> compared = {
    SessionDialect::anthropic, SessionDialect::openai_chat, SessionDialect::openai_responses,
    SessionDialect::gemini,    SessionDialect::bedrock,     SessionDialect::ollama};

template <class Pipeline>
void compare(std::string_view preset, const Pipeline& pipeline, std::size_t results) {
    constexpr std::size_t rounds = 9;
    coppice_examples::SessionShape shape;
    shape.results = results;
    const nlohmann::ordered_json session = make_session(shape);
    std::array<std::string, compared.size()> bodies;
    std::array<coppice::WireWorkspace, compared.size()> workspaces;
    std::array<coppice_bench::Side, compared.size()> pruning;
    std::array<coppice_bench::Side, compared.size()> scanning;
    for (std::size_t i = 0; i < compared.size(); ++i) { bodies[i] = render(compared[i], session).dump(); }
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t i = 0; i < compared.size(); ++i) {
            coppice_bench::StructuralScan scan(bodies[i].size());
            scanning[i].take_turn(7, [&] { scan.run(bodies[i]); });
            pruning[i].take_turn(7, [&] {
                benchmark::DoNotOptimize(
                    coppice::prune_pieces(std::string_view(bodies[i]), pipeline, workspaces[i]));
            });
        }
    }
    const auto for_a_byte = [&](std::size_t i) {
        return pruning[i].best() / static_cast<double>(bodies[i].size());
    };
    for (std::size_t i = 0; i < compared.size(); ++i) {
        const coppice::Report& report = workspaces[i].report;
        coppice_bench::expect(report.engaged, "there is nothing to prune in a body");
        const double size = static_cast<double>(bodies[i].size());
        fmt::print("{:>5.1f} MB  {:<10} {:<17} {:>8.2f} {:>16.2f} {:>15.2f}\n", size / 1e6, preset,
                   name_of(compared[i]), for_a_byte(i) / for_a_byte(0), scanning[i].best() / pruning[i].best(),
                   static_cast<double>(report.saved_bytes) / size);
    }
}

}  // namespace

int main() {
    try {
        fmt::print(
            "The time for a byte beside that of the Anthropic body; the share of the scan's speed; what is "
            "saved.\n\n");
        fmt::print("    body  preset     shape             time/byte  of scan's speed  share of body\n");
        for (const std::size_t results : {std::size_t{140}, std::size_t{1200}}) {
            compare("standard", coppice::presets::standard(), results);
            compare("openswarm", coppice::presets::openswarm(), results);
        }
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_dialects: {}\n", error.what());
        return 1;
    }
}
