// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace coppice::inline v0::detail {

/// Appends one step of a JSON Pointer (RFC 6901): the name of a member.
inline void append_pointer_step(std::string& pointer, std::string_view step) {
    pointer += '/';
    for (const char c : step) {
        if (c == '~') {
            pointer += "~0";
        } else if (c == '/') {
            pointer += "~1";
        } else {
            pointer += c;
        }
    }
}

}  // namespace coppice::detail
