// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"

#include <coppice/coppice.hpp>

#include <string_view>
#include <type_traits>
#include <variant>

namespace coppice_cli {

inline std::string_view preset_name(const Options& options) {
    if (options.configured) { return "config"; }
    return options.preset == Options::Preset::openswarm ? "openswarm" : "standard";
}

/// Calls `work` with the pipeline of the configuration, or the preset's, its cadence replaced where the command line
/// asks for another.
template <class Work>
auto with_pipeline(const Options& options, Work work) {
    if (options.configured) { return work(*options.configured); }
    const auto with = [&](auto make, coppice::Size engage) {
        return std::visit(
            [&](auto cadence) {
                if constexpr (std::is_same_v<decltype(cadence), std::monostate>) {
                    return work(make());
                } else {
                    if constexpr (requires { cadence.engage; }) { cadence.engage = engage; }
                    return work(make(cadence));
                }
            },
            options.cadence);
    };
    if (options.preset == Options::Preset::openswarm) {
        return with([](auto... cadence) { return coppice::presets::openswarm(cadence...); }, coppice::utf16(300'000));
    }
    return with([](auto... cadence) { return coppice::presets::standard(cadence...); }, coppice::Size{40'000});
}

}  // namespace coppice_cli
