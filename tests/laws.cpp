// SPDX-License-Identifier: MIT
// The laws that hold for every policy, preset and guard there is, over generated sessions.
#include "support/laws.hpp"
#include "../examples/session_dialects.hpp"
#include "../examples/session_generator.hpp"
#include "support/builders.hpp"
#include "support/everything.hpp"
#include "support/hints.hpp"
#include "support/pruned.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;
using coppice_examples::make_session;
using coppice_examples::SessionShape;

SessionShape shape_of(std::uint64_t seed) {
    SessionShape shape;
    shape.seed = seed;
    shape.results = 10 + seed * 7 % 90;
    shape.ends_with_user_text = seed % 3 == 0;
    shape.parallel_share = seed % 4 == 0 ? 0.6 : 0.2;
    shape.image_share = seed % 5 == 0 ? 0.2 : 0.03;
    shape.duplicate_share = seed % 2 == 0 ? 0.25 : 0.06;
    return shape;
}

struct Random {
    std::uint64_t state;
    std::size_t below(std::size_t bound) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::size_t>(state >> 33U) % bound;
    }
};

// A policy chosen at run time; its number keeps the names in one pipeline apart.
template <char Number>
struct Chosen {
    static constexpr char letters[] = {'c', Number, '\0'};
    static constexpr std::string_view name = letters;
    std::function<void(const coppice::Transcript&, coppice::Plan&)> run;
    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const { run(transcript, plan); }
};

std::function<void(const coppice::Transcript&, coppice::Plan&)> random_policy(Random& random) {
    const auto run = [](auto policy) {
        policy.validate();
        return [policy](const coppice::Transcript& transcript, coppice::Plan& plan) {
            policy.apply(transcript, plan);
        };
    };
    const coppice::Unit unit = static_cast<coppice::Unit>(random.below(3));
    const coppice::Size above{random.below(200), unit};
    const coppice::Size big{above.value + 1 + random.below(3000), unit};
    switch (random.below(11)) {
        case 0: {
            coppice::SmallAging<> policy;
            policy.keep = random.below(12);
            policy.above = above;
            policy.big = big;
            policy.count_unread = random.below(2) == 0;
            return run(policy);
        }
        case 1: {
            coppice::Dedup<> policy;
            policy.min = coppice::Size{random.below(2000), unit};
            policy.same_call =
                random.below(2) == 0 ? coppice::SameCall::ignored : coppice::SameCall::required;
            policy.media_only = random.below(2) == 0;
            return [policy](const coppice::Transcript& transcript, coppice::Plan& plan) {
                policy.apply(transcript, plan);
            };
        }
        case 2: {
            coppice::KeepRecent<> policy;
            policy.keep = random.below(8);
            policy.big = big;
            policy.keep_images = random.below(3) == 0 ? coppice::share_window : random.below(4);
            policy.count_unread = random.below(2) == 0;
            return run(policy);
        }
        case 3: {
            coppice::BulkyInputClear<> policy;
            policy.keep = random.below(6);
            policy.min = coppice::Size{random.below(2500), unit};
            policy.count_every_call = random.below(2) == 0;
            return run(policy);
        }
        case 4: {
            coppice::StaleInput<> policy;
            policy.head = random.below(4);
            policy.tail = random.below(20);
            policy.above = above;
            policy.min = coppice::Size{1 + random.below(400), unit};
            return run(policy);
        }
        case 5: {
            coppice::KeepEnds<> policy;
            policy.head = random.below(4);
            policy.tail = random.below(20);
            policy.min = big;
            policy.tail_tokens = random.below(2) * random.below(20'000);
            return run(policy);
        }
        case 6: {
            coppice::FailedCall<> policy;
            policy.keep_turns = random.below(4);
            policy.keep_steps = random.below(10);
            policy.min = big;
            policy.keep_error = random.below(1500);
            return run(policy);
        }
        case 7: {
            coppice::StaleOutput<> policy;
            policy.keep_turns = random.below(4);
            policy.keep_steps = random.below(10);
            policy.min = big;
            return run(policy);
        }
        case 8: {
            coppice::RepeatedCall<> policy;
            policy.keep_turns = random.below(4);
            policy.keep_steps = random.below(10);
            policy.min = big;
            return run(policy);
        }
        case 9: {
            coppice::OversizedOutput<> policy;
            policy.head = random.below(300);
            policy.tail = random.below(200);
            policy.above = coppice::Size{4 * (policy.head + policy.tail + 1) + random.below(1500), unit};
            policy.keep_turns = random.below(4);
            policy.keep_steps = random.below(10);
            return run(policy);
        }
        default: {
            coppice::Ceiling<> policy;
            policy.keep = random.below(4);
            policy.big = big;
            policy.above = above;
            policy.target = coppice::Size{big.value * policy.keep + random.below(60'000), unit};
            policy.count_unread = random.below(2) == 0;
            return run(policy);
        }
    }
}

// Calls whose inputs have every shape that is cleared, and results about as long as the stubs that may take their place.
Json session_of_inputs(std::uint64_t seed) {
    Random random{seed};
    const auto text = [&] {
        constexpr std::array<std::size_t, 6> sizes = {8, 40, 150, 350, 700, 3000};
        return support::filler(random.below(1000), sizes[random.below(sizes.size())] + random.below(30));
    };
    constexpr std::string_view stub = "[tool input cleared: 900 characters; content]";
    const auto input = [&]() -> Json {
        using support::list;
        switch (random.below(11)) {
            case 0: return Json{{"command", text()}};
            case 1: return Json{{"a", Json{{"b", text()}}}};
            case 2: return Json{{"items", list(text(), text())}};
            case 3: return Json{{"command", list("bash", "-lc", text())}};
            case 4: return Json{{"input", "*** Begin Patch\n*** Update File: " + text() + "\n" + text()}};
            case 5: return Json{{"edits", list(Json{{"new_string", text()}, {"old_string", text()}})}};
            case 6: return Json{{"query", text()}, {"url", text()}};
            case 7: return Json{{"content", stub}, {"a", text()}};
            case 8: return Json{{"urls", list(text(), std::string(stub), Json{{"url", text()}})}};
            case 9: return Json{{"a", text()}, {"description", text()}};
            default: return Json{{"content", text()}, {"path", "src/main.c"}};
        }
    };
    constexpr std::array<const char*, 8> tools = {"shell", "terminal", "db",         "web_extract",
                                                  "look",  "make",     "write_file", "mcp__a__search_files"};
    Json messages = support::list(support::user("start"));
    for (std::size_t i = 0, count = 4 + random.below(30); i < count; ++i) {
        const bool long_one = random.below(4) == 0;
        const std::string output = long_one ? text() : support::filler(random.below(50), 30 + random.below(420));
        const bool error = random.below(4) == 0;
        support::add_pair(messages, "toolu_0000000000000000000" + std::to_string(100 + i), tools[random.below(tools.size())], input(), Json(output),
                          error);
        if (random.below(5) == 0) {
            messages.push_back(support::assistant("done"));
            messages.push_back(support::user("go on"));
        }
    }
    messages.push_back(support::assistant("done"));
    Json body = support::body(std::move(messages));
    body["system"] = support::list(support::text("You are terse."));
    body["tools"] = Json::array();
    body["stream"] = false;
    return body;
}

}  // namespace

TEST_CASE("everything: each header of a family stands in the lists that the laws run over") {
    const std::filesystem::path root = std::filesystem::path(COPPICE_SOURCE_DIR) / "include/coppice";
    const auto stems = [&](const char* family) {
        std::set<std::string> found;
        for (const auto& file : std::filesystem::directory_iterator(root / family)) {
            found.insert(file.path().stem().string());
        }
        return found;
    };
    std::set<std::string> listed;
    const auto list = [&](const auto& part) { listed.insert(std::string(part.name)); };
    support::for_each_policy(list);
    CHECK(listed == stems("policies"));
    listed.clear();
    support::for_each_guard(list);
    CHECK(listed == stems("guards"));
    listed.clear();
    support::for_each_cadence(list);
    CHECK(listed == stems("cadences"));
    CHECK(std::set<std::string>(support::preset_names.begin(), support::preset_names.end()) ==
          stems("presets"));
    CHECK(std::set<std::string>(support::dialect_names.begin(), support::dialect_names.end()) ==
          stems("dialects"));
}

TEST_CASE("laws: each policy alone, over generated sessions") {
    std::size_t edits = 0;
    coppice::MemorySpillStore store;
    support::for_each_policy([&](auto policy) {
        if constexpr (requires { policy.store; }) { policy.store = &store; }
        CAPTURE(policy.name);
        std::size_t own = 0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            CAPTURE(seed);
            anthropic_validator::AllowedChanges allowed;
            allowed.unread_results = coppice::on_arrival_v<decltype(policy)>;
            allowed.user_images = policy.name == std::string_view("stale_media");
            const Json body = make_session(shape_of(seed));
            const support::HintsOf known(support::needs_hints<decltype(policy)> ? body : Json());
            const coppice::Pipeline pipeline{policy};
            own += support::check_laws(body, {pipeline, known.hints()}, allowed).edits.size();
        }
        CHECK(own > 0);
        edits += own;
    });
    CHECK(edits > 500);
}

TEST_CASE("laws: every preset, over generated sessions") {
    support::for_each_preset([&](const char* name, const auto& pipeline) {
        CAPTURE(name);
        std::size_t engaged = 0;
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            CAPTURE(seed);
            SessionShape shape = shape_of(seed);
            shape.results *= 4;
            engaged += support::check_laws(make_session(shape), pipeline).engaged;
        }
        CHECK(engaged > 3);
    });
}

TEST_CASE("laws: random pipelines, over generated sessions") {
    std::size_t engaged = 0;
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
        CAPTURE(seed);
        Random random{seed};
        const Json body = make_session(shape_of(seed));
        const coppice::Pipeline pipeline{
            Chosen<'0'>{random_policy(random)}, Chosen<'1'>{random_policy(random)},
            Chosen<'2'>{random_policy(random)}, Chosen<'3'>{random_policy(random)}};
        engaged += support::check_laws(body, pipeline).engaged;
        if (seed % 3 == 0) {
            const coppice::Pipeline worded{Chosen<'0'>{random_policy(random)},
                                           Chosen<'1'>{random_policy(random)}, coppice::OpenSwarmWording{},
                                           coppice::ExemptTools{}, coppice::Stepped<3>{}};
            engaged += support::check_laws(body, worded).engaged;
        }
        if (seed % 3 == 1) {
            const coppice::Pipeline told{Chosen<'0'>{random_policy(random)}, Chosen<'1'>{random_policy(random)},
                                         Chosen<'2'>{random_policy(random)}, coppice::ToolSummaries{}};
            engaged += support::check_laws(body, told).engaged;
        }
    }
    CHECK(engaged > 100);
}

TEST_CASE("laws: random pipelines, over calls with inputs of every shape") {
    std::size_t engaged = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        Random random{seed};
        const auto dialect = coppice_examples::session_dialects[seed % coppice_examples::session_dialects.size()];
        CAPTURE(std::string(name_of(dialect)));
        const Json body = coppice_examples::render(dialect, session_of_inputs(seed),
                                                   {.ids = seed % 3 != 0, .snake_case = seed % 2 == 0});
        const auto check = [&](auto... parts) {
            engaged += support::check_laws(body, coppice::Pipeline{Chosen<'0'>{random_policy(random)},
                                                                   Chosen<'1'>{random_policy(random)},
                                                                   Chosen<'2'>{random_policy(random)}, parts...})
                           .engaged;
        };
        switch (random.below(6)) {
            case 0: check(coppice::ToolSummaries{}, coppice::MinReclaim<1>{}); break;
            case 1: check(coppice::ToolSummaries{}, coppice::Regrowth<1'500, 200, 700>{}); break;
            case 2: check(coppice::MinReclaim<1>{}); break;
            case 3: check(coppice::SkiRental<coppice::prices::anthropic, coppice::Size{1'000}>{}); break;
            case 4: check(coppice::ToolSummaries{}); break;
            default: check(coppice::Regrowth<1'500, 200, 700>{}); break;
        }
    }
    CHECK(engaged > 150);
}

TEST_CASE("laws: two threads may prune copies of one document and plan the original with one pipeline") {
    SessionShape shape;
    shape.results = 200;
    const Json body = make_session(shape);
    const auto pipeline = coppice::presets::openswarm(coppice::EveryRequest<>{});
    Json expected = body;
    coppice::prune(expected, pipeline);
    std::array<Json, 2> results;
    std::vector<std::thread> threads;
    for (Json& result : results) {
        threads.emplace_back([&] {
            for (int i = 0; i < 5; ++i) {
                CHECK(coppice::plan(body, pipeline).engaged);
                result = body;
                coppice::prune(result, pipeline);
            }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    const bool both_right = results[0] == expected && results[1] == expected;
    CHECK(both_right);
}

TEST_CASE("laws: a broken session is never made worse, whatever member is removed or replaced") {
    SessionShape shape;
    shape.results = 24;
    const Json whole = make_session(shape);
    const std::array<Json, 8> junk = {
        Json(nullptr), Json(true),     Json(-7),      Json(1.5),
        Json("text"),  Json::object(), Json::array(), Json::array({"x", nullptr, 3})};
    const auto pipeline = coppice::presets::openswarm(coppice::EveryRequest<>{});
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        CAPTURE(seed);
        Random random{seed};
        Json body = whole;
        for (std::size_t times = 1 + random.below(3); times > 0; --times) {
            // walks down a random path and breaks what it finds there
            Json* at = &body["messages"];
            for (std::size_t depth = 2 + random.below(6); depth > 0 && at->is_structured() && !at->empty();
                 --depth) {
                at = &*std::next(at->begin(), static_cast<std::ptrdiff_t>(random.below(at->size())));
            }
            *at = junk[random.below(junk.size())];
        }
        Json pruned = body;
        const coppice::Report report = coppice::prune(pruned, pipeline, coppice::Dialect::anthropic);
        CHECK(report.saved_bytes == body.dump().size() - pruned.dump().size());
        for (const std::string& violation : anthropic_validator::new_violations(body, pruned)) {
            CHECK_MESSAGE(false, violation);
        }
        support::check_wire_laws(body.dump(), pruned.dump(), report, pipeline, coppice::Dialect::anthropic);
    }
}
