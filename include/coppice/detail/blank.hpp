// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/lookalikes.hpp>
#include <coppice/detail/tag_finder.hpp>
#include <coppice/text.hpp>

#include <cstddef>
#include <string_view>

namespace coppice::inline v0::detail {

/// Whether nothing in a text can be seen: white space, controls, and what is invisible in Unicode.
inline bool is_blank(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const std::size_t size = utf8_size(text.substr(at, 4));
        if (byte < 0x80) {
            if (byte > 0x20 && byte != 0x7F) { return false; }
        } else if (size == 0 || !contains(skippables, code_point(text.substr(at, size)))) {
            return false;
        }
        at += size;
    }
    return true;
}

}  // namespace coppice::detail
