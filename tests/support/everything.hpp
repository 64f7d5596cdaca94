// SPDX-License-Identifier: MIT
#pragma once

// The lists that the generic tests run over. A header without its line here fails the test "everything: ...".

#include <coppice/coppice.hpp>

#include <array>
#include <string_view>

namespace support {

// One of each policy, with small numbers so that short sessions reach them.
template <class Visit>
void for_each_policy(Visit visit) {
    visit(coppice::BulkyInputClear<1, coppice::Size{300}>{});
    visit(coppice::CapOnArrival<coppice::chars(4000), 1200, 800>{});
    visit(coppice::Ceiling<coppice::Size{20'000}, 2, coppice::Size{1500}>{});
    visit(coppice::ClearHinted<1>{});
    visit(coppice::Dedup<>{});
    visit(coppice::FailedCall<2, 4, coppice::Size{200}>{});
    visit(coppice::KeepEnds<2, 6, coppice::Size{900}>{});
    visit(coppice::KeepRecent<2, coppice::Size{900}, 1>{});
    visit(coppice::OversizedOutput<coppice::chars(1500), 400, 200, 2, 4>{});
    visit(coppice::RepeatedCall<2, 4, coppice::Size{200}>{});
    visit(coppice::SmallAging<3, coppice::Size{80}, coppice::Size{900}>{});
    visit(coppice::Spill<coppice::Size{16'000}>{});
    visit(coppice::StaleInput<1, 6, coppice::chars(300), coppice::chars(150)>{});
    visit(coppice::StaleMedia<1>{});
    visit(coppice::StaleOutput<2, 4, coppice::Size{200}>{});
    visit(coppice::StaleReasoning<1>{});
}

template <class Visit>
void for_each_preset(Visit visit) {
    visit("hermes", coppice::presets::hermes());
    visit("openswarm", coppice::presets::openswarm());
    visit("standard", coppice::presets::standard());
    // the same at every request, without a size to reach first
    visit("hermes/every", coppice::presets::hermes(coppice::EveryRequest<>{}));
    visit("hermes/regrowth", coppice::presets::hermes(coppice::Regrowth<6'000, 500>{}));
    // whose own window no session of a test fills
    visit("triage/every", coppice::presets::triage(coppice::EveryRequest<>{}));
    visit("triage/pressure", coppice::presets::triage(coppice::Pressure<20'000, 50, 70, 500>{}));
    visit("openswarm/every", coppice::presets::openswarm(coppice::EveryRequest<>{}));
    visit("standard/every", coppice::presets::standard(coppice::EveryRequest<>{}));
    visit("standard/stepped", coppice::presets::standard(coppice::Stepped<7>{}));
    visit("standard/min_reclaim", coppice::presets::standard(coppice::MinReclaim<2'000>{}));
    visit("standard/ski_rental", coppice::presets::standard(coppice::SkiRental<coppice::prices::openai_half>{}));
    visit("openswarm/watermark", coppice::presets::openswarm(coppice::Watermark<10'000>{}));
}

template <class Visit>
void for_each_guard(Visit visit) {
    visit(coppice::BlankText{});
    visit(coppice::CacheMarks{});
    visit(coppice::ExemptPaths{});
    visit(coppice::ExemptTools{});
    visit(coppice::Opaque{});
    visit(coppice::Pairing{});
    visit(coppice::Pinned{});
    visit(coppice::ThinkingBinding<>{});
    visit(coppice::Unread{});
}

template <class Visit>
void for_each_cadence(Visit visit) {
    visit(coppice::EveryRequest<>{});
    visit(coppice::MinReclaim<4'000>{});
    visit(coppice::Pressure<60'000, 40, 60, 1'000>{});
    visit(coppice::Regrowth<12'000, 1'500, 5'000>{});
    visit(coppice::SkiRental<>{});
    visit(coppice::Stepped<>{});
    visit(coppice::Watermark<30'000>{});
}

inline constexpr std::array<std::string_view, 4> preset_names = {"hermes", "openswarm", "standard", "triage"};
inline constexpr std::array<std::string_view, 5> dialect_names = {"anthropic", "bedrock", "gemini", "openai_chat",
                                                                  "openai_responses"};

}  // namespace support
