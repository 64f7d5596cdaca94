// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/text.hpp>
#include <coppice/transcript.hpp>

#include <string>

namespace coppice::inline v0::detail {

/// Appends the input of a call in one spelling, whatever the order of keys.
inline void append_input(const Transcript& transcript, const Entry& call, std::string& out) {
    if (!call.packed.empty()) {
        transcript.source->append_canonical(call.packed, out);
    } else if (call.content) {
        transcript.source->append_canonical(call.content, out);
    }
}

/// The same behind the tool.
inline void append_call(const Transcript& transcript, const Entry& call, std::string& out, std::string& scratch) {
    out += exact(call.tool, scratch);
    out += '\0';
    append_input(transcript, call, out);
}

}  // namespace coppice::detail
