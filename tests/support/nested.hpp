// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <utility>

namespace support {

/// Arrays inside arrays, built and later destroyed without a call for each level.
inline nlohmann::ordered_json nested(std::size_t levels) {
    auto value = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < levels; ++i) {
        auto outer = nlohmann::ordered_json::array();
        outer.push_back(std::move(value));
        value = std::move(outer);
    }
    return value;
}

}  // namespace support
