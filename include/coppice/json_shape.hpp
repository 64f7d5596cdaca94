// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// How a JSON text is built, valid or not.
struct JsonShape {
    std::size_t depth = 0;    ///< how deep its arrays and objects are nested
    std::size_t members = 0;  ///< how many members its widest object has
};

/// Looks at brackets, colons and quotes alone: to be asked before a DOM is made of a text. nlohmann's `dump` calls
/// itself once a level (nlohmann/json #5387), and so does the copy that an ordered object makes of its members when it
/// grows; and for every member that an ordered object takes it looks at all that it has.
inline JsonShape json_shape(std::string_view json) {
    JsonShape shape;
    std::vector<std::size_t> open(1);  // members of the containers around
    for (std::size_t at = 0; at < json.size(); ++at) {
        const char c = json[at];
        if (c == '"') {
            for (++at; at < json.size() && json[at] != '"'; ++at) { at += json[at] == '\\' ? 1 : 0; }
        } else if (c == '{' || c == '[') {
            open.push_back(0);
            shape.depth = std::max(shape.depth, open.size() - 1);
        } else if ((c == '}' || c == ']') && open.size() > 1) {
            open.pop_back();
        } else if (c == ':') {
            shape.members = std::max(shape.members, ++open.back());
        }
    }
    return shape;
}

}  // namespace coppice
