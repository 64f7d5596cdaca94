// SPDX-License-Identifier: MIT
#include <coppice/any_pipeline.hpp>

#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include "../examples/session_generator.hpp"
#include "support/allocations.hpp"
#include "support/everything.hpp"
#include "support/laws.hpp"
#include "support/requests.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace {

using coppice::AnyPipeline;
using coppice::Pipeline;
using Json = nlohmann::ordered_json;

static_assert(coppice::pipeline_like<AnyPipeline> && coppice::pipeline_like<Pipeline<coppice::Dedup<>>>);
static_assert(!coppice::pipeline_like<coppice::Dedup<>> && !coppice::pipeline_like<int>);
static_assert(!std::is_convertible_v<coppice::Dedup<>, AnyPipeline> && !std::is_default_constructible_v<AnyPipeline>);
static_assert(std::is_convertible_v<Pipeline<coppice::Dedup<>>, AnyPipeline>);

Json session(std::size_t results) {
    coppice_examples::SessionShape shape;
    shape.results = results;
    return make_session(shape);
}

bool same_report(const coppice::Report& left, const coppice::Report& right) {
    return coppice::to_json(left) == coppice::to_json(right) && left.requests == right.requests;
}

// Every call there is, with a pipeline and with what holds it.
template <class Direct>
std::size_t check_same(const Json& body, const Direct& direct, const AnyPipeline& any) {
    const coppice::Report planned = coppice::plan(body, direct);
    CHECK(same_report(planned, coppice::plan(body, any)));
    coppice::Workspace workspace;
    CHECK(same_report(planned, coppice::plan(body, any, workspace)));
    Json by_direct = body;
    Json by_any = body;
    CHECK(same_report(coppice::prune(by_direct, direct), coppice::prune(by_any, any)));
    CHECK(coppice::prune(by_any, any, workspace).edits.empty());
    const bool same_document = by_direct == by_any;
    CHECK(same_document);

    const std::string text = body.dump();
    const std::string_view bytes = text;
    const coppice::PrunedBody pruned = coppice::prune(bytes, direct);
    const coppice::PrunedBody through = coppice::prune(bytes, any);
    const bool same_bytes = pruned.bytes(bytes) == through.bytes(bytes);
    CHECK(same_bytes);
    CHECK(same_report(pruned.report, through.report));
    CHECK(same_report(coppice::plan(bytes, direct), coppice::plan(bytes, any)));
    coppice::WireWorkspace kept;
    const bool same_kept = coppice::prune(bytes, any, kept) == pruned.bytes(bytes);
    CHECK(same_kept);
    std::string joined;
    for (const std::string_view piece : coppice::prune_pieces(bytes, any, kept)) { joined += piece; }
    const bool same_pieces = joined == pruned.bytes(bytes);
    CHECK(same_pieces);
    return planned.edits.size();
}

}  // namespace

TEST_CASE("any_pipeline: every call gives what it gives with the pipeline itself") {
    coppice::MemorySpillStore store;
    const Pipeline arriving{coppice::Spill<coppice::Size{16'000}>{.store = &store},
                            coppice::CapOnArrival<coppice::chars(6000), 1200, 800>{}, coppice::KeepRecent<2>{},
                            coppice::Stepped<3>{}};
    std::size_t edits = 0;
    for (const std::size_t results : {0U, 30U, 250U}) {
        const Json body = session(results);
        edits += check_same(body, coppice::presets::standard(), coppice::presets::standard());
        edits += check_same(body, coppice::presets::openswarm(), coppice::presets::openswarm());
        edits += check_same(body, arriving, arriving);
    }
    CHECK(edits > 100);
    CHECK(store.size() > 0);
}

TEST_CASE("any_pipeline: a ledger, a dialect and a model pass through it") {
    const Json body = session(200);
    coppice::Ledger ledger;
    ledger.note_cold(body["messages"].size());
    const Pipeline direct{coppice::KeepRecent<2>{}, coppice::Stepped<1000>{}};
    const AnyPipeline any = direct;
    CHECK_FALSE(coppice::plan(body, any).engaged);
    CHECK(coppice::plan(body, any, ledger).engaged);
    CHECK(same_report(coppice::plan(body, any, ledger), coppice::plan(body, direct, ledger)));
    const auto gemini = coppice::Dialect::gemini;
    CHECK(coppice::plan(body, any, gemini).why == coppice::plan(body, direct, gemini).why);
    coppice::Inputs inputs;
    inputs.model = "claude-fable-5-1";
    CHECK(same_report(coppice::plan(body, any, inputs), coppice::plan(body, direct, inputs)));
}

TEST_CASE("any_pipeline: another pipeline may take its place, and none is ever empty") {
    const Json body = session(60);
    const auto edits = [&body](const AnyPipeline& pipeline) { return coppice::plan(body, pipeline).edits.size(); };
    const Pipeline one{coppice::KeepRecent<>{.keep = 1}};
    const Pipeline four{coppice::KeepRecent<>{.keep = 4}};
    AnyPipeline any = one;
    const AnyPipeline copy = any;
    CHECK(edits(any) == coppice::plan(body, one).edits.size());
    any = four;
    CHECK(edits(any) == coppice::plan(body, four).edits.size());
    CHECK(edits(copy) == coppice::plan(body, one).edits.size());
    CHECK(edits(any) < edits(copy));
    const AnyPipeline moved = std::move(any);
    CHECK(edits(moved) == edits(any));
}

TEST_CASE("any_pipeline: what it holds keeps the laws") {
    const AnyPipeline pipeline = coppice::presets::standard(coppice::EveryRequest<>{});
    coppice_examples::SessionShape shape;
    shape.results = 60;
    std::size_t engaged = 0;
    support::for_each_generated_session(shape, [&](const auto& name, const Json& body) {
        CAPTURE(name);
        engaged += support::check_laws(body, pipeline).engaged;
    });
    CHECK(engaged > 5);
}

TEST_CASE("any_pipeline: with a workspace, calls through it allocate nothing after the first") {
    const std::string body = session(120).dump();
    const AnyPipeline pipeline = coppice::presets::standard();
    coppice::WireWorkspace workspace;
    const auto prune = [&] { coppice::prune_pieces(std::string_view(body), pipeline, workspace); };
    for (int warm_up = 0; warm_up < 3; ++warm_up) { prune(); }
    const std::size_t before = support::heap.requests;
    prune();
    const std::size_t asked = support::heap.requests - before;
    CHECK(workspace.report.engaged);
    CHECK(asked == 0);
}
