// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"

#include <coppice/coppice.hpp>

#include <string_view>

namespace coppice_cli {

inline std::string_view preset_name(const Options& options) {
    return options.preset == Options::Preset::openswarm ? "openswarm" : "standard";
}

/// Calls `work` with the preset's pipeline, its cadence replaced where the command line asks for another.
template <class Work>
auto with_pipeline(const Options& options, Work work) {
    const auto with_cadence = [&](auto make, coppice::Size engage) {
        if (options.stepped) {
            coppice::Stepped<> cadence;
            cadence.requests = *options.stepped;
            cadence.engage = engage;
            return work(make(cadence));
        }
        coppice::EveryRequest<> cadence;
        cadence.engage = engage;
        return work(make(cadence));
    };
    if (options.preset == Options::Preset::openswarm) {
        const auto preset = coppice::presets::openswarm();
        if (!options.every_request && !options.stepped) { return work(preset); }
        return with_cadence([](auto cadence) { return coppice::presets::openswarm(cadence); },
                            preset.template part<coppice::EveryRequest<coppice::utf16(300'000)>>().engage);
    }
    const auto preset = coppice::presets::standard();
    if (!options.every_request && !options.stepped) { return work(preset); }
    return with_cadence([](auto cadence) { return coppice::presets::standard(cadence); },
                        preset.template part<coppice::Stepped<10, coppice::Size{100'000}>>().engage);
}

}  // namespace coppice_cli
