// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"

#include <coppice/config.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace coppice_cli {

namespace detail {

inline std::string step(std::string_view key) {
    std::string place;
    coppice::detail::append_safe_step(place, key);
    return place;
}

inline coppice::Hint::Kind hint_named(const std::string& name) {
    if (name == "pin") { return coppice::Hint::Kind::pin; }
    if (name == "useless") { return coppice::Hint::Kind::useless; }
    if (name == "regenerable") { return coppice::Hint::Kind::regenerable; }
    throw std::invalid_argument(step(name) + " is unknown; there are pin, useless, regenerable");
}

}  // namespace detail

/// Reads hints: `{"pin": ["toolu_1"], "useless": [{"id": "toolu_2", "messages": 9}]}`, where `messages` says from which
/// request on it is known. Throws std::invalid_argument with the place of what is wrong.
inline void read_hints(const nlohmann::json& document, Options& options) {
    if (!document.is_object()) { throw std::invalid_argument("the hints are no object"); }
    const auto add = [&](const nlohmann::json& hint, coppice::Hint::Kind kind, const std::string& place) {
        if (!hint.is_string() && !(hint.is_object() && hint.contains("id") && hint["id"].is_string())) {
            throw std::invalid_argument(place + " is neither an id nor an object with one");
        }
        coppice::Hint known{.kind = kind};
        if (hint.is_object()) {
            for (const auto& [key, value] : hint.items()) {
                if (key == "id") { continue; }
                if (key != "messages") { throw std::invalid_argument(place + detail::step(key) + " is unknown"); }
                if (!value.is_number_unsigned()) { throw std::invalid_argument(place + "/messages is no whole number"); }
                known.messages = value.get<std::size_t>();
            }
        }
        options.hinted_ids.push_back(hint.is_string() ? hint.get<std::string>() : hint["id"].get<std::string>());
        options.known.push_back(known);
    };
    for (const auto& [name, list] : document.items()) {
        const coppice::Hint::Kind kind = detail::hint_named(name);
        if (!list.is_array()) { throw std::invalid_argument("/" + name + " is no list"); }
        for (std::size_t i = 0; i < list.size(); ++i) { add(list[i], kind, "/" + name + "/" + std::to_string(i)); }
    }
    for (std::size_t i = 0; i < options.known.size(); ++i) { options.known[i].id = options.hinted_ids[i]; }
}

}  // namespace coppice_cli
