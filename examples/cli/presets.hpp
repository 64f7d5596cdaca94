// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"

#include <coppice/config.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace coppice_cli {

inline std::string_view preset_name(const Options& options) {
    return options.config.empty() ? std::string_view(options.preset) : std::string_view("config");
}

/// The preset's pipeline, its cadence replaced where the command line asks for another: its size to begin at stays.
inline coppice::AnyPipeline chosen_pipeline(const Options& options) {
    nlohmann::json document{{"preset", options.preset}};
    if (options.cadence.is_null()) { return coppice::pipeline_from_json(document); }
    document["cadence"] = options.cadence;
    const std::string name = options.cadence["name"];
    const bool begins = name != "watermark" && name != "regrowth" && name != "pressure";
    if (begins && options.preset == "standard") { document["cadence"]["engage"] = 40'000; }
    if (begins && options.preset == "openswarm") { document["cadence"]["engage"] = {{"utf16", 300'000}}; }
    return coppice::pipeline_from_json(document);
}

}  // namespace coppice_cli
