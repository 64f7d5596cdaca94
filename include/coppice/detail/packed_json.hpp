// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/canonical.hpp>
#include <coppice/detail/json_text.hpp>

#include <string>
#include <string_view>

namespace coppice::inline v0::detail {

/// Writes JSON that stands in a string so that equal values give equal bytes.
class PackedJsonWriter {
public:
    /// What is no JSON comes as it is.
    void append_canonical(std::string_view json, std::string& out) {
        if (text_.read(json)) {
            writer_.append(text_.root(), out);
        } else {
            out += json;
        }
    }

private:
    // kept for their capacity
    JsonText text_;
    CanonicalWriter<JsonText::Cursor> writer_;
};

}  // namespace coppice::detail
