// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/json_pointer.hpp>
#include <coppice/text.hpp>
#include <coppice/wording.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// A text of ours in what a model wrote.
struct CopiedMarker {
    std::string path;         ///< JSON Pointer (RFC 6901) to the string that holds it; empty where that is all there is
    std::string_view text{};  ///< the marker, in the arguments
};

namespace detail {

/// Calls `visit(std::string_view)` for each marker of a wording in a text.
template <marking_wording W, class Visit>
void for_each_marker(std::string_view text, const W& wording, Visit visit) {
    for (std::size_t at = text.find(W::opening); at != std::string_view::npos; at = text.find(W::opening, at)) {
        const std::size_t size = wording.marker(text.substr(at));
        if (size > 0) { visit(text.substr(at, size)); }
        at += size > 0 ? size : 1;
    }
}

}  // namespace detail

/// The stubs of ours that stand in the arguments of a call which a model has just made, in the order of the arguments.
///
/// Models copy what they see in their history: a file is written anew, and where the old call said
/// `[tool input cleared: 5120 characters; content]`, the file does (NousResearch/hermes-agent #83435, #83714). A host
/// that looks before it runs the call can refuse it and say what happened.
///
///     for (const coppice::CopiedMarker& marker : coppice::find_copied_markers(arguments)) {
///         return refuse(marker.path + " holds a note in place of the text: " + std::string(marker.text));
///     }
///
/// Found are whole markers of the wording by their exact grammar, whatever stands before and behind, and those that are
/// cut off where the line or the string ends. Text that only speaks of them is not, nor are names of members. Arguments
/// that are still a string of JSON are to be parsed before: cut-off markers end with their line.
template <class Json, marking_wording W = PlainWording>
std::vector<CopiedMarker> find_copied_markers(const Json& arguments, const W& wording = {}) {
    std::vector<CopiedMarker> found;
    std::string path;
    const auto look = [&](const Json& value) {
        if (!value.is_string()) { return; }
        const auto& text = value.template get_ref<const typename Json::string_t&>();
        detail::for_each_marker(text, wording, [&](std::string_view marker) { found.push_back({path, marker}); });
    };
    // an object or array that is being looked through; models nest to any depth
    struct Open {
        const Json* value;
        typename Json::const_iterator next;
        std::size_t index;
        std::size_t path;
    };
    std::vector<Open> open;
    const auto enter = [&](const Json& value) {
        look(value);
        if (value.is_structured()) { open.push_back({&value, value.begin(), 0, path.size()}); }
    };
    enter(arguments);
    while (!open.empty()) {
        Open& now = open.back();
        path.resize(now.path);
        if (now.next == now.value->end()) {
            open.pop_back();
            continue;
        }
        const auto item = now.next++;
        if (now.value->is_object()) {
            detail::append_pointer_step(path, item.key());
        } else {
            path += '/';
            append_number(path, now.index++);
        }
        enter(*item);
    }
    return found;
}

/// What this answers with would point into what is gone.
template <class Json, marking_wording W = PlainWording>
std::vector<CopiedMarker> find_copied_markers(const Json&& arguments, const W& wording = {}) = delete;

}  // namespace coppice
