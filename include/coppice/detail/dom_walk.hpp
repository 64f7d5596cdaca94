// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <type_traits>
#include <utility>
#include <vector>

namespace coppice::inline v0::detail {

template <class T>
inline constexpr bool is_basic_json_v = nlohmann::detail::is_basic_json<std::remove_cvref_t<T>>::value;

/// A container that a walk is inside of.
template <class Json>
struct OpenValue {
    typename Json::object_t::const_iterator member;
    typename Json::object_t::const_iterator last_member;
    typename Json::array_t::const_iterator element;
    typename Json::array_t::const_iterator last_element;
    bool is_object;
    bool first = true;
};

/// Visits a value and all that it holds, depth first, with a stack of its own: how deep to go is the input's
/// choice. `enter(value)` answers whether to go inside; `member(key, first)` and `element(first)` come before
/// it, and `leave(is_object)`, where the visitor has one, when all of a container was seen.
template <class Json, class Visitor>
void walk(const Json& root, Visitor& visitor, std::vector<OpenValue<Json>>& stack) {
    using Object = typename Json::object_t;
    using Array = typename Json::array_t;
    stack.clear();
    const auto enter = [&](const Json& value) {
        if (!visitor.enter(value)) { return; }
        if (const auto* object = value.template get_ptr<const Object*>()) {
            stack.push_back({object->begin(), object->end(), {}, {}, true});
        } else if (const auto* array = value.template get_ptr<const Array*>()) {
            stack.push_back({{}, {}, array->begin(), array->end(), false});
        }
    };
    const auto leave = [&] {
        if constexpr (requires { visitor.leave(true); }) { visitor.leave(stack.back().is_object); }
        stack.pop_back();
    };
    enter(root);
    while (!stack.empty()) {
        OpenValue<Json>& open = stack.back();
        const bool first = std::exchange(open.first, false);
        if (open.is_object) {
            if (open.member == open.last_member) {
                leave();
                continue;
            }
            const auto& [key, value] = *open.member++;
            visitor.member(key, first);
            enter(value);
        } else {
            if (open.element == open.last_element) {
                leave();
                continue;
            }
            const Json& value = *open.element++;
            visitor.element(first);
            enter(value);
        }
    }
}

}  // namespace coppice::detail
