// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace coppice_cli {

/// The value that a text is, discarded where it is none.
template <class Json>
Json parse_json(std::string_view text) {
    // nlohmann takes a NUL between tokens for the end, and JSON has none anywhere
    if (text.find('\0') != std::string_view::npos) { return Json(Json::value_t::discarded); }
    return Json::parse(text, nullptr, false);
}

}  // namespace coppice_cli
