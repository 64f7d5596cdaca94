// SPDX-License-Identifier: MIT

// Documents of which one node has another type than readers expect.

#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace spoiled_nodes {

using Json = nlohmann::ordered_json;

/// The places of all nodes below the root, parents before children.
inline std::vector<Json::json_pointer> places_in(const Json& body) {
    std::vector<Json::json_pointer> places;
    std::vector<std::pair<const Json*, Json::json_pointer>> open{{&body, Json::json_pointer{}}};
    while (!open.empty()) {
        const auto [node, place] = std::move(open.back());
        open.pop_back();
        if (!place.empty()) { places.push_back(place); }
        if (const auto* const fields = node->get_ptr<const Json::object_t*>()) {
            for (const auto& field : *fields) { open.emplace_back(&field.second, place / field.first); }
        } else if (const auto* const items = node->get_ptr<const Json::array_t*>()) {
            for (std::size_t i = 0; i < items->size(); ++i) { open.emplace_back(&(*items)[i], place / i); }
        }
    }
    return places;
}

/// Calls `visit(spoiled, place)` for the body with null, 7, "", [], {} in turn at the place of every node.
template <class Visitor>
void for_each_spoiled(const Json& body, const Visitor& visit) {
    const std::array<Json, 5> replacements{Json(nullptr), Json(7), Json(""), Json::array(), Json::object()};
    for (const Json& replacement : replacements) { visit(replacement, Json::json_pointer{}); }
    for (const Json::json_pointer& place : places_in(body)) {
        for (const Json& replacement : replacements) {
            Json spoiled = body;
            spoiled[place] = replacement;
            visit(spoiled, place);
        }
    }
}

}  // namespace spoiled_nodes
