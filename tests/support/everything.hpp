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
    visit(coppice::Ceiling<coppice::Size{20'000}, 2, coppice::Size{1500}>{});
    visit(coppice::Dedup<>{});
    visit(coppice::KeepRecent<2, coppice::Size{900}, 1>{});
    visit(coppice::SmallAging<3, coppice::Size{80}, coppice::Size{900}>{});
    visit(coppice::Spill<coppice::Size{16'000}>{});
}

template <class Visit>
void for_each_preset(Visit visit) {
    visit("openswarm", coppice::presets::openswarm());
    visit("standard", coppice::presets::standard());
    // the same at every request, without a size to reach first
    visit("openswarm/every", coppice::presets::openswarm(coppice::EveryRequest<>{}));
    visit("standard/every", coppice::presets::standard(coppice::EveryRequest<>{}));
    visit("standard/stepped", coppice::presets::standard(coppice::Stepped<7>{}));
}

template <class Visit>
void for_each_guard(Visit visit) {
    visit(coppice::BlankText{});
    visit(coppice::CacheMarks{});
    visit(coppice::ExemptTools{});
    visit(coppice::Opaque{});
    visit(coppice::Pairing{});
    visit(coppice::Unread{});
}

template <class Visit>
void for_each_cadence(Visit visit) {
    visit(coppice::EveryRequest<>{});
    visit(coppice::Stepped<>{});
}

inline constexpr std::array<std::string_view, 2> preset_names = {"openswarm", "standard"};
inline constexpr std::array<std::string_view, 5> dialect_names = {"anthropic", "bedrock", "gemini", "openai_chat",
                                                                  "openai_responses"};

}  // namespace support
