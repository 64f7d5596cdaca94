// SPDX-License-Identifier: MIT
#include <coppice/config.hpp>

#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include "../examples/session_generator.hpp"
#include "support/config_json.hpp"
#include "support/everything.hpp"
#include "support/hints.hpp"
#include "support/laws.hpp"
#include "support/requests.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::AnyPipeline;
using coppice::pipeline_from_json;
using Json = nlohmann::ordered_json;
using coppice_examples::SessionShape;

AnyPipeline configured(const std::string& text) { return pipeline_from_json(Json::parse(text)); }

// The policies and words of the presets, as somebody would write them.
const std::string standard_list = R"("exempt_tools": "steering", "policies": [
    {"name": "stale_reasoning", "keep_turns": 2}, "dedup",
    {"name": "keep_recent", "keep": 8, "big": 400, "keep_images": 3},
    {"name": "bulky_input_clear", "keep": 5, "min": {"bytes": 400}},
    {"name": "ceiling", "target": 400000, "keep": 4, "big": 2000, "above": 400}])";
const std::string openswarm_list = R"("wording": "openswarm", "policies": [
    {"name": "small_aging", "keep": 30, "above": {"utf16": 80}, "big": {"utf16": 2000}, "count_unread": true},
    {"name": "dedup", "min": {"utf16": 2000}, "same_call": "ignored", "media_only": false},
    {"name": "keep_recent", "keep": 5, "big": {"utf16": 2000}, "keep_images": "share_window", "count_unread": true},
    {"name": "bulky_input_clear", "keep": 5, "min": {"utf16": 2000}, "count_every_call": true,
     "fields": ["content", "new_string", "old_string", "new_str", "old_str"]},
    {"name": "ceiling", "target": {"utf16": 120000}, "keep": 2, "big": {"utf16": 2000}, "above": {"utf16": 80},
     "fields": ["content", "new_string", "old_string", "new_str", "old_str"], "count_unread": true}])";

const std::string hermes_list = R"("wording": "summary", "policies": [
    {"name": "dedup", "min": {"chars": 200}, "same_call": "ignored"},
    {"name": "keep_ends", "head": 3, "tail": 20, "min": {"chars": 8000}, "tail_tokens": 0},
    {"name": "stale_input", "head": 3, "tail": 20, "above": {"chars": 500}, "min": {"chars": 200}},
    {"name": "keep_recent", "keep": 18446744073709551615, "keep_images": 3}])";
const std::string triage_list = R"("exempt_tools": ["task", "skill", "todowrite", "todoread", "write", "edit", "batch"],
    "policies": ["repeated_call", "stale_output", {"name": "failed_call", "keep_error": 400}, "oversized_output",
    {"name": "stale_reasoning", "keep_turns": 3}])";

std::string document(const std::string& first, const std::string& cadence) {
    return "{" + first + (cadence.empty() ? "" : ", \"cadence\": " + cadence) + "}";
}

// Each preset of the tests as files: what starts from a preset, and the whole list.
std::vector<std::string> files_of(const std::string& preset) {
    struct Written {
        std::string list;
        std::string cadence;  // its own
    };
    static const std::map<std::string, Written> presets = {
        {"hermes", {hermes_list, R"({"name": "regrowth", "trigger": 48000, "min_reclaim": 4096, "again": 24000})"}},
        {"openswarm", {openswarm_list, R"({"name": "every_request", "engage": {"utf16": 300000}})"}},
        {"standard", {standard_list, R"({"name": "ski_rental", "prices": "anthropic", "engage": 40000})"}},
        {"triage", {triage_list, R"("pressure")"}},
    };
    static const std::map<std::string, std::string> cadences = {
        {"hermes", ""},
        {"openswarm", ""},
        {"standard", ""},
        {"hermes/every", R"("every_request")"},
        {"hermes/regrowth", R"({"name": "regrowth", "trigger": 6000, "min_reclaim": 500, "again": 3000})"},
        {"openswarm/every", R"("every_request")"},
        {"standard/every", R"({"name": "every_request"})"},
        {"standard/stepped", R"({"name": "stepped", "requests": 7})"},
        {"standard/min_reclaim", R"({"name": "min_reclaim", "tokens": 2000})"},
        {"standard/ski_rental", R"({"name": "ski_rental", "prices": {"write": 1000, "read": 500}})"},
        {"openswarm/watermark", R"({"name": "watermark", "high": 10000, "low": 5000})"},
        {"triage/every", R"({"name": "every_request"})"},
        {"triage/pressure", R"({"name": "pressure", "window": 20000, "soft": 50, "hard": 70, "min_savings": 500})"},
    };
    const auto found = cadences.find(preset);
    if (found == cadences.end()) { return {}; }
    const std::string name = preset.substr(0, preset.find('/'));
    const Written& written = presets.at(name);
    const std::string& cadence = found->second;
    return {document(R"("preset": ")" + name + '"', cadence),
            document(written.list, cadence.empty() ? written.cadence : cadence)};
}

Json comparable(const coppice::Report& report) {
    Json out = coppice::to_json(report);
    out["requests"] = report.requests;
    out["repeated_keys"] = report.repeated_keys;
    return out;
}

// Whether both make the same bytes and the same report of a body. Answers with the number of edits.
std::size_t check_alike(const std::string& body, const AnyPipeline& left, const AnyPipeline& right) {
    static coppice::WireWorkspace workspace;
    const std::string of_left(coppice::prune(std::string_view(body), left, workspace));
    const Json report = comparable(workspace.report);
    const std::string why = workspace.report.why;
    const std::string_view of_right = coppice::prune(std::string_view(body), right, workspace);
    const bool same_bytes = of_left == of_right;
    CHECK(same_bytes);
    const bool same_report = report == comparable(workspace.report);
    CHECK(same_report);
    CHECK(why == workspace.report.why);
    return workspace.report.edits.size();
}

SessionShape shape_of(std::uint64_t seed, std::size_t results) {
    SessionShape shape;
    shape.seed = seed;
    shape.results = results;
    shape.image_share = 0.05;
    shape.duplicate_share = 0.15;
    shape.edit_share = 0.25;
    shape.ends_with_user_text = seed % 2 == 0;
    return shape;
}

// One session in each shape that there is, and those that have been recorded.
const std::vector<std::string>& bodies() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> made;
        for (const std::uint64_t seed : {1U, 2U}) {
            const SessionShape shape = shape_of(seed, seed == 1 ? 40 : 160);
            support::for_each_generated_session(
                shape, [&](const auto&, const Json& body) { made.push_back(body.dump()); });
        }
        support::for_each_recorded_session(support::recorded_families, [&](const auto&, const Json& body) {
            if (made.size() % support::one_of == 0) { made.push_back(body.dump()); }
        });
        return made;
    }();
    return all;
}

std::string read(const char* name) {
    std::ifstream file(std::filesystem::path(COPPICE_SOURCE_DIR) / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string error_of(const std::string& text, coppice::MemorySpillStore* store = nullptr) {
    try {
        pipeline_from_json(Json::parse(text), store);
    } catch (const std::invalid_argument& error) { return error.what(); }
    return "none";
}

// How many public fields an aggregate has.
struct Anything {
    template <class T>
    operator T() const;
};
template <class T, class... Fields>
constexpr std::size_t fields_of() {
    if constexpr (requires { T{Fields{}..., Anything{}}; }) {
        return fields_of<T, Fields..., Anything>();
    } else {
        return sizeof...(Fields);
    }
}

// One session of each dialect, long enough for small numbers.
template <class Visit>
void for_each_short_session(Visit visit) {
    for (const std::uint64_t seed : {3U, 4U}) {
        support::for_each_generated_session(shape_of(seed, 50),
                                            [&](const auto& name, const Json& body) { visit(name, body); });
    }
}

}  // namespace

TEST_CASE("config: each preset can be written as a file and prunes as it does in code") {
    support::for_each_preset([](const std::string& name, const auto& in_code) {
        CAPTURE(name);
        const std::vector<std::string> files = files_of(name);
        REQUIRE_MESSAGE(files.size() == 2, "the preset needs a file here");
        const AnyPipeline twin = in_code;
        for (const std::string& file : files) {
            CAPTURE(file);
            const AnyPipeline pipeline = configured(file);
            CHECK(pipeline.prices() == twin.prices());
            CHECK(pipeline.cache_rules() == twin.cache_rules());
            std::size_t edits = 0;
            for (const std::string& body : bodies()) { edits += check_alike(body, pipeline, twin); }
            CHECK(edits > 20);
        }
    });
}

TEST_CASE("config: the presets that need more than the sessions of the tests begin when they do in code") {
    const AnyPipeline triage = coppice::presets::triage();
    for (const std::string& file : files_of("triage/every")) { CHECK_NOTHROW(configured(file)); }
    const AnyPipeline pipeline = configured(R"({"preset": "triage"})");
    for (const std::string& body : bodies()) { CHECK(check_alike(body, pipeline, triage) == 0); }
}

TEST_CASE("config: each policy can be configured and does what it does in code") {
    coppice::MemorySpillStore store;
    support::for_each_policy([&](auto policy) {
        CAPTURE(policy.name);
        const Json part = support::written_part(policy, coppice::detail::config_policies);
        REQUIRE_MESSAGE(!part.empty(), "the policy needs an entry in detail/config_table.hpp");
        if constexpr (requires { policy.store; }) { policy.store = &store; }
        const AnyPipeline pipeline = pipeline_from_json(Json{{"policies", {part}}}, &store);
        const AnyPipeline twin = coppice::Pipeline{policy};
        std::size_t edits = 0;
        for_each_short_session(
            [&](const auto&, const Json& body) { edits += check_alike(body.dump(), pipeline, twin); });
        // without hints some have nothing to do
        CHECK((edits > 0) != support::needs_hints<decltype(policy)>);
    });
}

TEST_CASE("config: each cadence can be configured and says yes when it does in code") {
    support::for_each_cadence([&](auto cadence) {
        CAPTURE(cadence.name);
        const Json part = support::written_part(cadence, coppice::detail::config_cadences);
        REQUIRE_MESSAGE(!part.empty(), "the cadence needs an entry in detail/config_table.hpp");
        const AnyPipeline pipeline =
            pipeline_from_json(Json{{"cadence", part}, {"policies", {{{"name", "keep_recent"}, {"keep", 1}}}}});
        const AnyPipeline twin = coppice::Pipeline{cadence, coppice::KeepRecent<1>{}};
        CHECK(pipeline.prices() == twin.prices());
        CHECK(pipeline.cache_rules() == twin.cache_rules());
        for_each_short_session([&](const auto&, const Json& body) { check_alike(body.dump(), pipeline, twin); });
    });
}

TEST_CASE("config: the table names every preset, and each public field of each part") {
    std::set<std::string_view> presets;
    support::config::for_each(coppice::detail::config_presets, [&](const auto& entry) { presets.insert(entry.name); });
    CHECK(presets == std::set<std::string_view>(support::preset_names.begin(), support::preset_names.end()));
    const auto check = [](const auto& entry) {
        using Part = support::config::part_of<decltype(entry)>;
        CAPTURE(Part::name);
        std::size_t keys = 0;
        const Part part;
        entry.fields(part, [&](auto...) { ++keys; });
        constexpr std::size_t stores = requires { part.store; } ? 1 : 0;
        CHECK(keys + stores == fields_of<Part>());
    };
    support::config::for_each(coppice::detail::config_policies, check);
    support::config::for_each(coppice::detail::config_cadences, check);
    support::config::for_each(coppice::detail::config_wordings, check);
}

TEST_CASE("config: the schema of the package is that of the table") {
    const std::string text = read("cmake/config.schema.json");
    const std::string expected = support::config_schema().dump(2) + "\n";
    const bool same = text == expected;
    CHECK(same);
    if (!same) {
        const std::filesystem::path place = std::filesystem::temp_directory_path() / "coppice-config.schema.json";
        std::ofstream(place, std::ios::binary) << expected;
        MESSAGE("what it should be is in ", place.string());
    }
}

TEST_CASE("config: configured pipelines keep the laws") {
    coppice::MemorySpillStore store;
    const std::string documents[] = {
        R"({"preset": "standard", "cadence": "every_request", "thinking_binding": "never"})",
        R"({"policies": [{"name": "cap_on_arrival", "above": {"chars": 4000}, "head": 1200, "tail": 800},
            {"name": "stale_reasoning", "keep_turns": 1}, {"name": "small_aging", "keep": 3, "big": 900}, "dedup"],
            "cadence": {"name": "stepped", "requests": 3}, "exempt_tools": ["Bash"]})",
        R"({"policies": [{"name": "spill", "above": 16000}, {"name": "keep_recent", "keep": 2, "big": {"utf16": 900}}],
            "wording": {"name": "openswarm", "big_utf16": 1000}})",
    };
    for (const std::string& text : documents) {
        CAPTURE(text);
        const AnyPipeline pipeline = pipeline_from_json(Json::parse(text), &store);
        std::size_t engaged = 0;
        for_each_short_session([&](const auto&, const Json& body) {
            anthropic_validator::AllowedChanges allowed;
            allowed.unread_results = true;
            engaged += support::check_laws(body, pipeline, allowed).engaged;
        });
        CHECK(engaged > 10);
    }
}

TEST_CASE("config: what is given beside a preset replaces that part of it") {
    const std::string body = make_session(shape_of(7, 160)).dump();
    const auto check = [&](const std::string& text, const AnyPipeline& twin) {
        CAPTURE(text);
        return check_alike(body, configured(text), twin);
    };
    using namespace coppice;
    static constexpr std::array<std::string_view, 1> reads = {"Read"};
    CHECK(check(R"({"preset": "standard", "policies": ["keep_recent"]})",
                Pipeline{SkiRental<>{.engage = Size{40'000}}, ExemptTools{}, KeepRecent<>{}}) > 0);
    CHECK(check(R"({"preset": "standard", "policies": ["keep_recent"], "exempt_tools": [],
                    "cadence": "every_request"})",
                Pipeline{KeepRecent<>{}}) > 0);
    CHECK(check(R"({"preset": "standard", "policies": ["keep_recent"], "exempt_tools": ["Read"],
                    "wording": {"name": "plain", "shape": "always_blocks"},
                    "cadence": {"name": "ski_rental", "rules": {"look_back": 0}, "prices": "openai-half"}})",
                Pipeline{KeepRecent<>{}, ExemptTools{.tools = reads}, PlainWording{.shape = Shape::always_blocks},
                         SkiRental<>{.prices = prices::openai_half, .rules = {.look_back = 0}}}) > 0);
    static constexpr std::array<std::string_view, 1> sources = {"**/*.cpp"};
    CHECK(check(R"({"preset": "standard", "policies": ["keep_recent"], "cadence": "every_request",
                    "exempt_paths": ["**/*.cpp"]})",
                Pipeline{KeepRecent<>{}, ExemptTools{}, ExemptPaths{.globs = sources}}) > 0);
    CHECK(check(R"({"policies": ["keep_recent"], "exempt_paths": "steering"})", Pipeline{KeepRecent<>{}, ExemptPaths{}}) > 0);
    const auto bound = [](Binds when) { return Pipeline{KeepRecent<1>{}, ThinkingBinding<>{.when = when}}; };
    for (const Binds when : {Binds::by_name, Binds::always, Binds::never}) {
        const std::string word = support::config::written(when).get<std::string>();
        check(R"({"policies": [{"name": "keep_recent", "keep": 1}], "thinking_binding": ")" + word + "\"}",
              bound(when));
    }
}

TEST_CASE("config: any kind of DOM will do, numbers made in code too, and nothing of it is needed later") {
    using nlohmann::json;
    auto document = std::make_unique<json>(
        json{{"$schema", "config.schema.json"},
             {"policies",
              {{{"name", "bulky_input_clear"}, {"keep", 1}, {"min", 300}, {"fields", {"content", "old_string"}}}}},
             {"exempt_tools", {"a tool whose name is too long for any small string"}}});
    const AnyPipeline pipeline = pipeline_from_json(*document);
    document.reset();
    static constexpr std::array<std::string_view, 2> fields = {"content", "old_string"};
    const AnyPipeline twin =
        coppice::Pipeline{coppice::BulkyInputClear<>{.keep = 1, .min = coppice::Size{300}, .fields = fields}};
    CHECK(check_alike(make_session(shape_of(5, 100)).dump(), pipeline, twin) > 0);
}

TEST_CASE("config: spill takes the store of the host, and is refused without one") {
    coppice::MemorySpillStore store;
    const std::string text = R"({"policies": ["dedup", {"name": "spill", "above": 16000}]})";
    const AnyPipeline pipeline = pipeline_from_json(Json::parse(text), &store);
    SessionShape shape = shape_of(1, 60);
    shape.median_result_bytes = 9000;
    CHECK(coppice::prune(std::string_view(make_session(shape).dump()), pipeline).report.engaged);
    CHECK(store.size() > 0);
    CHECK(error_of(text) ==
          "coppice::config: /policies/1 needs a store, which no file can name: pass one to pipeline_from_json");
}

TEST_CASE("config: whatever is wrong is told with its place") {
    const std::pair<const char*, const char*> wrong[] = {
        {"[]", "the document is no object"},
        {"7", "the document is no object"},
        {"{}", "the document has neither preset nor policies"},
        {R"({"cadence": "stepped"})", "the document has neither preset nor policies"},
        {R"({"preset": "standard", "policy": []})",
         "/policy is unknown; a configuration has preset, policies, cadence, wording, exempt_tools, exempt_paths, "
         "thinking_binding, $schema"},
        {R"({"preset": "standard", "a/b~\u001b[31m": 1})",
         "/a~1b~0 (31m is unknown; a configuration has preset, policies, cadence, wording, exempt_tools, exempt_paths, "
         "thinking_binding, $schema"},
        {R"({"preset": "standard", "$schema": 1})", "/$schema is no string"},
        {R"({"preset": 1})", "/preset is no string"},
        {R"({"preset": "Standard"})", "/preset names no preset; choose hermes, openswarm, standard, triage"},
        {R"({"preset": null})", "/preset is no string"},
        {R"({"policies": {}})", "/policies is no list"},
        {R"({"policies": []})", "/policies is empty"},
        {R"({"policies": [7]})", "/policies/0 is neither a name nor an object with one"},
        {R"({"policies": ["dedup", {}]})", "/policies/1/name is missing"},
        {R"({"policies": ["dedup", {"name": []}]})", "/policies/1/name is no string"},
        {R"({"policies": ["dedup", "keep"]})",
         "/policies/1 names no policy; choose bulky_input_clear, cap_on_arrival, ceiling, clear_hinted, "
         "dedup, failed_call, keep_ends, keep_recent, oversized_output, repeated_call, small_aging, spill, stale_input, "
         "stale_media, stale_output, stale_reasoning"},
        {R"({"policies": ["dedup", {"name": "ski_rental"}]})",
         "/policies/1/name names no policy; choose bulky_input_clear, cap_on_arrival, ceiling, clear_hinted, "
         "dedup, failed_call, keep_ends, keep_recent, oversized_output, repeated_call, small_aging, spill, stale_input, "
         "stale_media, stale_output, stale_reasoning"},
        {R"({"policies": ["dedup", "small_aging", "dedup"]})", "/policies/2 repeats dedup, which is listed before it"},
        {R"({"policies": [{"name": "keep_recent", "kep": 1}]})",
         "/policies/0/kep is unknown; keep_recent has keep, big, keep_images, count_unread"},
        {R"({"policies": ["dedup", "small_aging", {"name": "keep_recent", "keep": 1.5}]})",
         "/policies/2/keep is no whole number"},
        {R"({"policies": ["dedup", {"name": "keep_recent", "keep": -1}]})", "/policies/1/keep is no whole number"},
        {R"({"policies": [{"name": "keep_recent", "keep": "5"}]})", "/policies/0/keep is no whole number"},
        {R"({"policies": [{"name": "ceiling", "keep": 99999999999999999999}]})", "/policies/0/keep is no whole number"},
        {R"({"policies": [{"name": "keep_recent", "keep_images": "all"}]})",
         "/policies/0/keep_images is neither a whole number nor share_window"},
        {R"({"policies": [{"name": "keep_recent", "keep_images": true}]})", "/policies/0/keep_images is no whole number"},
        {R"({"policies": [{"name": "keep_recent", "count_unread": 1}]})",
         "/policies/0/count_unread is neither true nor false"},
        {R"({"policies": [{"name": "keep_recent", "big": "2 kB"}]})", "/policies/0/big is no whole number"},
        {R"({"policies": [{"name": "keep_recent", "big": {}}]})",
         "/policies/0/big is no size: it takes one of bytes, chars and utf16"},
        {R"({"policies": [{"name": "keep_recent", "big": {"bytes": 1, "chars": 1}}]})",
         "/policies/0/big is no size: it takes one of bytes, chars and utf16"},
        {R"({"policies": [{"name": "keep_recent", "big": {"kB": 2}}]})",
         "/policies/0/big/kB is no unit; choose bytes, chars or utf16"},
        {R"({"policies": [{"name": "keep_recent", "big": {"utf16": null}}]})", "/policies/0/big/utf16 is no whole number"},
        {R"({"policies": [{"name": "keep_recent", "big": 0}]})",
         "/policies/0: coppice::KeepRecent: `big` must be at least 1"},
        {R"({"policies": [{"name": "small_aging", "big": {"utf16": 2000}}]})",
         "/policies/0: coppice::SmallAging: `above` and `big` need one unit"},
        {R"({"policies": ["dedup", {"name": "stale_reasoning", "keep_turns": 0}]})",
         "/policies/1: coppice::StaleReasoning: `keep_turns` must be at least 1, the open turn"},
        {R"({"policies": [{"name": "dedup", "same_call": "no"}]})",
         "/policies/0/same_call is unknown; choose ignored, required"},
        {R"({"policies": [{"name": "dedup", "same_call": true}]})", "/policies/0/same_call is no string"},
        {R"({"policies": [{"name": "bulky_input_clear", "fields": "content"}]})", "/policies/0/fields is no list"},
        {R"({"policies": [{"name": "bulky_input_clear", "fields": ["content", 1]}]})", "/policies/0/fields/1 is no string"},
        {R"({"policies": [{"name": "bulky_input_clear", "fields": ["content", "patch", ""]}]})",
         "/policies/0/fields/2 is empty"},
        {R"({"policies": [{"name": "bulky_input_clear", "fields": []}]})",
         "/policies/0: coppice::BulkyInputClear: `fields` names no field"},
        {R"({"policies": ["dedup", "cap_on_arrival"], "wording": "openswarm"})",
         "/policies/1 needs a line for results that lose their middle, which the wording openswarm does not have"},
        {R"({"policies": ["dedup", {"name": "oversized_output"}], "wording": "openswarm"})",
         "/policies/1 needs a line for old results of which head and tail stay, which the wording openswarm does not have"},
        {R"({"policies": ["failed_call"], "wording": {"name": "openswarm"}})",
         "/policies/0 needs a line for old results of which head and tail stay, which the wording openswarm does not have"},
        {R"({"policies": [{"name": "oversized_output", "head": 5000}]})",
         "/policies/0: coppice::OversizedOutput: `head` + `tail` must be at most 4096"},
        {R"({"policies": [{"name": "failed_call", "keep_error": 5000}]})",
         "/policies/0: coppice::FailedCall: `keep_error` must be at most 4096"},
        {R"({"policies": [{"name": "stale_input", "min": 0}]})",
         "/policies/0: coppice::StaleInput: `min` must be at least 1"},
        {R"({"preset": "standard", "cadence": 10})", "/cadence is neither a name nor an object with one"},
        {R"({"preset": "standard", "cadence": "weekly"})",
         "/cadence names no cadence; choose every_request, min_reclaim, pressure, regrowth, ski_rental, stepped, watermark"},
        {R"({"preset": "standard", "cadence": {"requests": 3}})", "/cadence/name is missing"},
        {R"({"preset": "standard", "cadence": {"name": "stepped", "requests": 0}})",
         "/cadence: coppice::Stepped: `requests` must be at least 1"},
        {R"({"preset": "standard", "cadence": {"name": "watermark", "low": 100000}})",
         "/cadence: coppice::Watermark: `low` must be less than `high`"},
        {R"({"preset": "standard", "cadence": {"name": "watermark", "engage": 1}})",
         "/cadence/engage is unknown; watermark has high, low"},
        {R"({"preset": "standard", "cadence": {"name": "ski_rental", "prices": "gold"}})",
         "/cadence/prices names no prices; choose anthropic, anthropic-hour, anthropic-fable, openai-half, openai, "
         "openai-written, gemini, gemini-low, deepseek, deepseek-low, no-cache"},
        {R"({"preset": "standard", "cadence": {"name": "ski_rental", "prices": 1250}})", "/cadence/prices is no object"},
        {R"({"preset": "standard", "cadence": {"name": "ski_rental", "prices": {"write": 1250}}})",
         "/cadence/prices/read is missing"},
        {R"({"preset": "standard", "cadence": {"name": "ski_rental", "prices": {"write": 1, "read": 0, "hit": 0}}})",
         "/cadence/prices/hit is unknown; prices have write and read"},
        {R"({"preset": "standard", "cadence": {"name": "ski_rental", "prices": {"write": "1", "read": 0}}})",
         "/cadence/prices/write is no whole number"},
        {R"({"preset": "standard", "cadence": {"name": "ski_rental", "prices": {"write": 1, "read": 2}}})",
         "/cadence: coppice::Prices: `read` is more than `write`; a cache that costs more than it spares is not used"},
        {R"({"preset": "standard", "cadence": {"name": "ski_rental", "rules": []}})", "/cadence/rules is no object"},
        {R"({"preset": "standard", "cadence": {"name": "ski_rental", "rules": {"look": 1}}})",
         "/cadence/rules/look is unknown; rules have look_back and minimum_tokens"},
        {R"({"preset": "standard", "wording": "loud"})", "/wording names no wording; choose plain, openswarm, summary"},
        {R"({"preset": "standard", "wording": {"name": "plain", "big_utf16": 1}})",
         "/wording/big_utf16 is unknown; plain has shape"},
        {R"({"preset": "standard", "wording": {"name": "plain", "shape": "round"}})",
         "/wording/shape is unknown; choose as_it_was, always_blocks"},
        {R"({"preset": "standard", "exempt_tools": "all"})", "/exempt_tools is neither a list of names nor steering"},
        {R"({"preset": "standard", "exempt_tools": {"Read": true}})", "/exempt_tools is no list"},
        {R"({"preset": "standard", "exempt_paths": "*.md"})", "/exempt_paths is neither a list of names nor steering"},
        {R"({"preset": "standard", "exempt_tools": [["Read"]]})", "/exempt_tools/0 is no string"},
        {R"({"preset": "standard", "thinking_binding": "sometimes"})",
         "/thinking_binding is unknown; choose by_name, always, never"},
        {R"({"preset": "standard", "thinking_binding": false})", "/thinking_binding is no string"},
    };
    std::set<std::string> distinct;
    for (const auto& each : wrong) {
        const std::string text = each.first;
        CAPTURE(text);
        const std::string error = error_of(text);
        CHECK(error == std::string("coppice::config: ") + each.second);
        distinct.insert(error);
    }
    const std::string long_glob(513, '*');
    CHECK(error_of(R"({"preset": "standard", "exempt_paths": [")" + long_glob + R"("]})") ==
          "coppice::config: /exempt_paths: coppice::ExemptPaths: a glob has more than 512 bytes");
    CHECK(distinct.size() >= 50);
}

TEST_CASE("config: the documents that the header and the README show can be read") {
    std::vector<std::string> shown;
    std::istringstream header(read("include/coppice/config.hpp"));
    const std::string indented = "///     ";
    bool inside = false;
    for (std::string line; std::getline(header, line);) {
        const bool belongs = line.substr(0, indented.size()) == indented;
        if (belongs && !inside) { shown.emplace_back(); }
        if (belongs) { shown.back() += line.substr(indented.size()); }
        inside = belongs;
    }
    CHECK(shown.size() == 2);
    const std::string readme = read("README.md");
    const std::string opening = "`{\"";
    for (std::size_t at = readme.find(opening); at != std::string::npos; at = readme.find(opening, at + 1)) {
        shown.push_back(readme.substr(at + 1, readme.find('`', at + 1) - at - 1));
    }
    CHECK(shown.size() >= 4);
    for (const std::string& text : shown) { CHECK(error_of(text) == "none"); }
}

TEST_CASE("config: however deep or long the input, it is refused in few words") {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    CHECK(error_of(R"({"preset": )" + deep + "}") == "coppice::config: /preset is no string");
    CHECK(error_of(R"({"policies": [{"name": "keep_recent", "big": )" + deep + "}]}") ==
          "coppice::config: /policies/0/big is no whole number");
    CHECK(error_of("{\"" + std::string(100'000, 'k') + "\": 1}").size() < 300);
}
