// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadences/every_request.hpp>
#include <coppice/cadences/min_reclaim.hpp>
#include <coppice/cadences/pressure.hpp>
#include <coppice/cadences/regrowth.hpp>
#include <coppice/cadences/ski_rental.hpp>
#include <coppice/cadences/stepped.hpp>
#include <coppice/cadences/watermark.hpp>
#include <coppice/guards/thinking_binding.hpp>
#include <coppice/policies.hpp>
#include <coppice/preset.hpp>
#include <coppice/summaries.hpp>
#include <coppice/wording.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>

// What a configuration file can name: each part has one entry here and nothing else.
namespace coppice::inline v0::detail {

/// A word that stands for a value.
template <class T>
struct ConfigWord {
    std::string_view word{};
    T value{};
};

inline constexpr std::array<ConfigWord<SameCall>, 2> config_words(SameCall) {
    return {{{"ignored", SameCall::ignored}, {"required", SameCall::required}}};
}
inline constexpr std::array<ConfigWord<Shape>, 2> config_words(Shape) {
    return {{{"as_it_was", Shape::as_it_was}, {"always_blocks", Shape::always_blocks}}};
}
inline constexpr std::array<ConfigWord<Binds>, 3> config_words(Binds) {
    return {{{"by_name", Binds::by_name}, {"always", Binds::always}, {"never", Binds::never}}};
}

/// A part and its fields: `fields(part, field)` calls `field(key, part.key)` for each, for some with a word that may
/// stand for a number. The part is of this type or of the same template with other numbers.
template <class P, class Fields>
struct ConfigPart {
    using Part = P;
    Fields fields;
};

template <class P, class Fields>
constexpr ConfigPart<P, Fields> config_part(Fields fields) {
    return {fields};
}

inline constexpr std::tuple config_policies{
    config_part<BulkyInputClear<>>([](auto& part, auto field) {
        field("keep", part.keep);
        field("min", part.min);
        field("fields", part.fields);
        field("count_every_call", part.count_every_call);
    }),
    config_part<CapOnArrival<>>([](auto& part, auto field) {
        field("above", part.above);
        field("head", part.head);
        field("tail", part.tail);
    }),
    config_part<Ceiling<>>([](auto& part, auto field) {
        field("target", part.target);
        field("keep", part.keep);
        field("big", part.big);
        field("above", part.above);
        field("fields", part.fields);
        field("count_unread", part.count_unread);
    }),
    config_part<ClearHinted<>>([](auto& part, auto field) { field("keep_regenerable", part.keep_regenerable); }),
    config_part<Dedup<>>([](auto& part, auto field) {
        field("min", part.min);
        field("same_call", part.same_call);
        field("media_only", part.media_only);
    }),
    config_part<FailedCall<>>([](auto& part, auto field) {
        field("keep_turns", part.keep_turns);
        field("keep_steps", part.keep_steps);
        field("min", part.min);
        field("keep_error", part.keep_error);
    }),
    config_part<KeepEnds<>>([](auto& part, auto field) {
        field("head", part.head);
        field("tail", part.tail);
        field("min", part.min);
        field("tail_tokens", part.tail_tokens);
    }),
    config_part<KeepRecent<>>([](auto& part, auto field) {
        field("keep", part.keep);
        field("big", part.big);
        field("keep_images", part.keep_images, ConfigWord<std::size_t>{"share_window", share_window});
        field("count_unread", part.count_unread);
    }),
    config_part<OversizedOutput<>>([](auto& part, auto field) {
        field("above", part.above);
        field("head", part.head);
        field("tail", part.tail);
        field("keep_turns", part.keep_turns);
        field("keep_steps", part.keep_steps);
    }),
    config_part<RepeatedCall<>>([](auto& part, auto field) {
        field("keep_turns", part.keep_turns);
        field("keep_steps", part.keep_steps);
        field("min", part.min);
    }),
    config_part<SmallAging<>>([](auto& part, auto field) {
        field("keep", part.keep);
        field("above", part.above);
        field("big", part.big);
        field("count_unread", part.count_unread);
    }),
    // its store is no matter of a file
    config_part<Spill<>>([](auto& part, auto field) { field("above", part.above); }),
    config_part<StaleInput<>>([](auto& part, auto field) {
        field("head", part.head);
        field("tail", part.tail);
        field("above", part.above);
        field("min", part.min);
    }),
    config_part<StaleMedia<>>([](auto& part, auto field) { field("keep_images", part.keep_images); }),
    config_part<StaleOutput<>>([](auto& part, auto field) {
        field("keep_turns", part.keep_turns);
        field("keep_steps", part.keep_steps);
        field("min", part.min);
        field("keep_errors", part.keep_errors);
    }),
    config_part<StaleReasoning<>>([](auto& part, auto field) { field("keep_turns", part.keep_turns); }),
};

inline constexpr std::tuple config_cadences{
    config_part<EveryRequest<>>([](auto& part, auto field) { field("engage", part.engage); }),
    config_part<MinReclaim<>>([](auto& part, auto field) {
        field("tokens", part.tokens);
        field("engage", part.engage);
    }),
    config_part<Pressure<>>([](auto& part, auto field) {
        field("window", part.window);
        field("soft", part.soft);
        field("hard", part.hard);
        field("min_savings", part.min_savings);
    }),
    config_part<Regrowth<>>([](auto& part, auto field) {
        field("trigger", part.trigger);
        field("min_reclaim", part.min_reclaim);
        field("again", part.again);
    }),
    config_part<SkiRental<>>([](auto& part, auto field) {
        field("prices", part.prices);
        field("engage", part.engage);
        field("rules", part.rules);
    }),
    config_part<Stepped<>>([](auto& part, auto field) {
        field("requests", part.requests);
        field("engage", part.engage);
    }),
    config_part<Watermark<>>([](auto& part, auto field) {
        field("high", part.high);
        field("low", part.low);
    }),
};

inline constexpr std::tuple config_wordings{
    config_part<PlainWording>([](auto& part, auto field) { field("shape", part.shape); }),
    config_part<OpenSwarmWording>([](auto& part, auto field) {
        field("shape", part.shape);
        field("big_utf16", part.big_utf16);
    }),
    config_part<ToolSummaries>([](auto& part, auto field) { field("shape", part.shape); }),
};

template <class Make>
struct ConfigPreset {
    std::string_view name{};
    Make make;
};
template <class Make>
ConfigPreset(std::string_view, Make) -> ConfigPreset<Make>;

inline constexpr std::tuple config_presets{
    ConfigPreset{std::string_view("hermes"), [] { return presets::hermes(); }},
    ConfigPreset{std::string_view("openswarm"), [] { return presets::openswarm(); }},
    ConfigPreset{std::string_view("standard"), [] { return presets::standard(); }},
    ConfigPreset{std::string_view("triage"), [] { return presets::triage(); }},
};

}  // namespace coppice::detail
