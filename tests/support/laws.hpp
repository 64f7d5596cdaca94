// SPDX-License-Identifier: MIT
#pragma once

#include "any_pipeline.hpp"
#include "batches.hpp"
#include "validators.hpp"
#include "wire_laws.hpp"

#include <coppice/coppice.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>

namespace support {

/// The edits of a report, found again in the two documents: the value at the edit's path had and has the stated size,
/// and nothing else changed. Returns how much they saved in all.
std::size_t check_edits(const nlohmann::ordered_json& before, const nlohmann::ordered_json& after,
                        const coppice::Report& report);

/// Laws 1 to 6, 8 and 9 for one pipeline and one body.
coppice::Report check_laws(const nlohmann::ordered_json& body, const AnyPipeline& pipeline,
                           const AllowedChanges& allowed = {});

}  // namespace support
