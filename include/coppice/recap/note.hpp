// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/recap/wording.hpp>
#include <coppice/tags.hpp>
#include <coppice/text.hpp>

#include <string>
#include <string_view>

namespace coppice::inline v0 {

/// Appends a note of the platform: opening tag, preamble, body, closing tag, each on lines of their own. What the body
/// holds of our tags is made harmless, whoever wrote it, also where it is a note itself: there is one opening and one
/// closing tag in what is appended, and the text before it in `out` is not looked at. A wording with wrong values throws
/// std::invalid_argument.
template <recap_wording Wording>
void append_platform_note(std::string& out, std::string_view body, const Wording& wording) {
    if constexpr (requires { wording.validate(); }) { wording.validate(); }
    std::string scratch;
    wording.open(out, wording.tags.note);
    out += '\n';
    wording.preamble(out);
    out += '\n';
    append_neutralised(out, detail::valid_utf8(body, scratch), wording.tags);
    out.append("\n</").append(wording.tags.note).append(">");
}

template <recap_wording Wording = PlainRecapWording>
std::string platform_note(std::string_view body, const Wording& wording = {}) {
    std::string note;
    append_platform_note(note, body, wording);
    return note;
}

}  // namespace coppice
