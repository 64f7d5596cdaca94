// SPDX-License-Identifier: MIT
// One session, said in every provider's shape, is pruned alike.
#include "../examples/session_dialects.hpp"
#include "../examples/session_generator.hpp"
#include "support/everything.hpp"
#include "support/laws.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;
using coppice_examples::RenderOptions;
using coppice_examples::SessionDialect;
using coppice_examples::SessionShape;

// What every shape can hold: no media, no failed results, no empty ones.
SessionShape plain_shape(std::uint64_t seed) {
    SessionShape shape;
    shape.seed = seed;
    shape.results = 120;
    shape.edit_share = 0.3;
    shape.error_share = 0;
    shape.empty_share = 0;
    shape.duplicate_share = 0.15;
    shape.image_share = 0;
    shape.document_share = 0;
    shape.tool_reference_share = 0;
    shape.server_search_share = 0;
    shape.mixed_turn_share = 0;
    return shape;
}

// What becomes of each call and each result, in the order of the calls.
template <class Pipeline>
std::string plan_of(const Json& body, const Pipeline& pipeline, std::string_view dialect) {
    coppice::Workspace workspace;
    const coppice::Report report = coppice::plan(body, pipeline, workspace);
    CHECK(report.dialect == dialect);
    CHECK(report.unpaired_calls == 0);
    CHECK(report.unpaired_results == 0);
    const coppice::Transcript& transcript = workspace.transcript;
    std::vector<std::string> cleared_fields(transcript.all().size());
    workspace.plan.for_each_edit([&](const coppice::Edit& edit) {
        if (edit.field == coppice::none) { return; }
        std::string name;
        cleared_fields[edit.entry] += ' ';
        cleared_fields[edit.entry] += coppice::decoded(transcript.fields[edit.field].name, name);
    });
    std::string out;
    std::size_t number = 0;
    for (std::size_t i = 0; i < transcript.all().size(); ++i) {
        const coppice::Entry& call = transcript.all()[i];
        if (call.kind != coppice::Kind::call) { continue; }
        std::string tool;
        out += std::to_string(number++);
        out.append(" ").append(coppice::decoded(call.tool, tool)).append(cleared_fields[i]);
        if (call.peer != coppice::none) {
            out.append(" -> ").append(workspace.plan.reason(call.peer));
            if (workspace.plan.fate(call.peer) != coppice::Fate::keep) { out += '!'; }
        }
        out += '\n';
    }
    return out;
}

// Those that speak like another read as it.
std::string_view read_as(SessionDialect dialect) {
    switch (dialect) {
        case SessionDialect::anthropic: return "anthropic";
        case SessionDialect::openai_responses: return "openai-responses";
        case SessionDialect::gemini: return "gemini";
        case SessionDialect::bedrock: return "bedrock";
        default: return "openai-chat";
    }
}

}  // namespace

TEST_CASE("conformance: the same session in every shape gives the same plan") {
    // from a size on that every stub makes smaller: some providers have no outcome to say
    const coppice::Pipeline pipeline{coppice::SmallAging<20, coppice::Size{400}>{}, coppice::Dedup<coppice::Size{400}>{},
                                     coppice::KeepRecent<5>{},
                                     coppice::BulkyInputClear<3, coppice::Size{600}>{},
                                     // a Bedrock body does not say which model it is for
                                     coppice::ThinkingBinding<coppice::Binds::never>{}};
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        CAPTURE(seed);
        const Json body = make_session(plain_shape(seed));
        const std::string expected = plan_of(body, pipeline, "anthropic");
        const bool clears_all_kinds = expected.find("keep_recent!") != std::string::npos &&
                                      expected.find("dedup!") != std::string::npos &&
                                      expected.find("small_aging!") != std::string::npos &&
                                      expected.find(" content -> ") != std::string::npos;
        CHECK(clears_all_kinds);
        for (const SessionDialect dialect : coppice_examples::session_dialects) {
            for (const bool ids : {true, false}) {
                CAPTURE(std::string(name_of(dialect)));
                CAPTURE(ids);
                const Json rendered = render(dialect, body, {.ids = ids, .snake_case = !ids});
                const std::string plan = plan_of(rendered, pipeline, read_as(dialect));
                // not compared as a whole: doctest would print both
                std::size_t at = 0;
                while (at < plan.size() && at < expected.size() && plan[at] == expected[at]) { ++at; }
                CAPTURE(expected.substr(at > 30 ? at - 30 : 0, 80));
                CAPTURE(plan.substr(at > 30 ? at - 30 : 0, 80));
                const bool same = plan == expected;
                CHECK(same);
            }
        }
    }
}

TEST_CASE("conformance: the horizon of a cadence lies at the same request in every shape") {
    const coppice::Pipeline pipeline{coppice::KeepRecent<2>{}, coppice::Stepped<7>{},
                                     coppice::ThinkingBinding<coppice::Binds::never>{}};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(seed);
        const Json body = make_session(plain_shape(seed));
        const std::string expected = plan_of(body, pipeline, "anthropic");
        for (const SessionDialect dialect : coppice_examples::session_dialects) {
            // these two need turns of their own
            if (dialect == SessionDialect::mistral || dialect == SessionDialect::legacy_functions) { continue; }
            CAPTURE(std::string(name_of(dialect)));
            const bool same = plan_of(render(dialect, body), pipeline, read_as(dialect)) == expected;
            CHECK(same);
        }
    }
}

TEST_CASE("conformance: every preset keeps the laws in every shape") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(seed);
        SessionShape shape;
        shape.seed = seed;
        shape.results = 150;
        shape.image_share = 0.05;
        shape.ends_with_user_text = seed % 2 == 0;
        const Json body = make_session(shape);
        for (const SessionDialect dialect : coppice_examples::session_dialects) {
            CAPTURE(std::string(name_of(dialect)));
            const RenderOptions options{.ids = seed != 2, .typed_items = seed != 1, .snake_case = seed == 3};
            const Json rendered = render(dialect, body, options);
            support::for_each_preset([&](const char* name, const auto& pipeline) {
                CAPTURE(std::string(name));
                const coppice::Report report = support::check_laws(rendered, pipeline);
                CHECK(report.dialect == read_as(dialect));
                CHECK(report.unpaired_results == 0);
                const bool at_every_request = std::string_view(name).find("/every") != std::string_view::npos;
                CHECK((report.engaged || !at_every_request));
            });
        }
    }
}

TEST_CASE("conformance: each policy alone keeps the laws in every shape") {
    coppice::MemorySpillStore store;
    SessionShape shape;
    shape.seed = 5;
    shape.results = 60;
    shape.image_share = 0.08;
    shape.duplicate_share = 0.2;
    shape.edit_share = 0.3;
    const Json body = make_session(shape);
    for (const SessionDialect dialect : coppice_examples::session_dialects) {
        CAPTURE(std::string(name_of(dialect)));
        const Json rendered = render(dialect, body, {.typed_items = true});
        support::for_each_policy([&](auto policy) {
            CAPTURE(policy.name);
            if constexpr (requires { policy.store; }) { policy.store = &store; }
            anthropic_validator::AllowedChanges allowed;
            allowed.unread_results = coppice::on_arrival_v<decltype(policy)>;
            allowed.user_images = policy.name == std::string_view("stale_media");
            support::check_laws(rendered, coppice::Pipeline{policy}, allowed);
        });
    }
}
