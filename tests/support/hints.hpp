// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/hints.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace support {

/// Whether a policy does nothing without hints.
template <class Policy>
inline constexpr bool needs_hints = requires { Policy::keep_regenerable; };

/// Hints on the calls of a body of any dialect: on two in three of the ids, which and what depending on the id alone.
class HintsOf {
public:
    explicit HintsOf(const nlohmann::ordered_json& body) {
        collect(body);
        for (const std::string& id : ids_) {
            const std::size_t number = std::hash<std::string>{}(id);
            if (number % 3 != 2) { hints_.push_back({id, number % 3 == 0 ? useless : regenerable}); }
        }
    }
    HintsOf(const HintsOf&) = delete;
    HintsOf& operator=(const HintsOf&) = delete;

    const std::vector<coppice::Hint>& hints() const { return hints_; }

private:
    static constexpr auto useless = coppice::Hint::Kind::useless;
    static constexpr auto regenerable = coppice::Hint::Kind::regenerable;

    void collect(const nlohmann::ordered_json& value) {
        if (!value.is_structured()) { return; }
        for (const auto& item : value.items()) {
            const std::string& key = item.key();
            const bool is_id = value.is_object() && (key == "id" || key == "call_id" || key == "toolUseId");
            if (is_id && item.value().is_string()) { ids_.insert(item.value().get<std::string>()); }
            collect(item.value());
        }
    }

    std::set<std::string> ids_;
    std::vector<coppice::Hint> hints_;
};

}  // namespace support
