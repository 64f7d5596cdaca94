// SPDX-License-Identifier: MIT
#pragma once

#include "anthropic_validator.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace support {

using anthropic_validator::AllowedChanges;

/// The rules of a provider that `after` breaks and `before` did not, and everything that no pruner may change.
std::vector<std::string> new_violations(std::string_view dialect, const nlohmann::ordered_json& before,
                                        const nlohmann::ordered_json& after, const AllowedChanges& allowed = {});

}  // namespace support
