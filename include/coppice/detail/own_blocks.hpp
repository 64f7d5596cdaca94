// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>
#include <coppice/recap/wording.hpp>
#include <coppice/text.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace coppice::detail {

/// Finds recaps and notes that the library wrote into a text: opening tag, preamble, and everything to the closing tag.
template <recap_wording Wording>
class OwnBlocks {
public:
    explicit OwnBlocks(const Wording& wording) : note_(wording.tags.note), recap_(wording.tags.recap) {
        wording.preamble(preamble_);
    }

    /// The text without such blocks, and without the white space around one. `scratch` is filled only where there are
    /// any.
    std::string_view remove(std::string_view text, std::string& scratch) const {
        bool recaps_end = true;  // false: no closing tag comes any more, so nobody looks for it again
        bool notes_end = true;
        bool removed = false;
        std::size_t done = 0;
        for (std::size_t at = text.find(preamble_); at != std::string_view::npos;
             at = text.find(preamble_, at)) {
            const std::size_t open = opening_tag(text, done, at);
            at += preamble_.size();
            if (open == none) { continue; }
            bool& ends = tag_at(text, open) == recap_ ? recaps_end : notes_end;
            const std::size_t end = ends ? closing_tag(text, open, at) : none;
            ends = end != none;
            if (!ends) { continue; }
            if (!std::exchange(removed, true)) { scratch.clear(); }
            scratch += text.substr(done, open - done);
            done = at = end;
        }
        if (!removed) { return text; }
        scratch += text.substr(done);
        return trimmed(scratch);
    }

    /// The text behind the blocks that it begins with.
    std::string_view behind(std::string_view text) const {
        while (true) {
            const std::string_view rest =
                text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
            const std::size_t preamble = rest.substr(0, longest_tag + preamble_.size()).find(preamble_);
            if (preamble == std::string_view::npos || opening_tag(rest, 0, preamble) != 0) { return text; }
            const std::size_t end = closing_tag(rest, 0, preamble + preamble_.size());
            if (end == none) { return text; }
            text = trimmed(rest.substr(end));
        }
    }

private:
    static constexpr std::size_t longest_tag = 256;

    static std::string_view tag_at(std::string_view text, std::size_t open) {
        const std::string_view name = text.substr(open + 1);
        return name.substr(0, name.find_first_of(" >"));
    }

    // where the tag of ours begins that ends at the preamble
    std::size_t opening_tag(std::string_view text, std::size_t from, std::size_t preamble) const {
        const std::size_t start = std::max(from, preamble > longest_tag ? preamble - longest_tag : 0);
        const std::string_view before = text.substr(start, preamble - start);
        if (!before.ends_with(">\n") && !before.ends_with(">\r\n")) { return none; }
        const std::size_t open = before.rfind('<');
        if (open == std::string_view::npos) { return none; }
        const std::string_view tag = tag_at(text, start + open);
        return tag == recap_ || tag == note_ ? start + open : none;
    }

    // behind the tag that closes what was opened there
    static std::size_t closing_tag(std::string_view text, std::size_t open, std::size_t from) {
        std::string close = "\n</";
        close.append(tag_at(text, open)).append(">");
        const std::size_t at = text.find(close, from);
        return at == std::string_view::npos ? none : at + close.size();
    }

    std::string_view note_;
    std::string_view recap_;
    std::string preamble_;
};

}  // namespace coppice::detail
