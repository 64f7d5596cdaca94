// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/text.hpp>
#include <coppice/transcript.hpp>

#include <string>

namespace coppice::detail {

/// Appends tool and input of a call in one spelling, whatever the order of keys.
inline void append_call(const Transcript& transcript, const Entry& call, std::string& out, std::string& scratch) {
    out += exact(call.tool, scratch);
    out += '\0';
    if (!call.packed.empty()) {
        transcript.source->append_canonical(call.packed, out);
    } else if (call.content) {
        transcript.source->append_canonical(call.content, out);
    }
}

}  // namespace coppice::detail
