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

namespace coppice::inline v0::detail {

/// Finds recaps and notes that this wording wrote into a text: opening tag, nonce and all, preamble, and everything to
/// the closing tag.
template <recap_wording Wording>
class OwnBlocks {
public:
    explicit OwnBlocks(const Wording& wording) : note_(wording.tags.note), recap_(wording.tags.recap) {
        wording.open(open_note_, note_);
        wording.open(open_recap_, recap_);
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
            const bool recap = text.substr(open, open_recap_.size()) == open_recap_;
            bool& ends = recap ? recaps_end : notes_end;
            const std::size_t end = ends ? closing_tag(text, recap, at) : none;
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
            const bool recap = rest.starts_with(open_recap_);
            const std::string_view open = recap ? open_recap_ : open_note_;
            const std::size_t preamble = rest.substr(0, open.size() + 2 + preamble_.size()).find(preamble_);
            if (preamble == std::string_view::npos || opening_tag(rest, 0, preamble) != 0) { return text; }
            const std::size_t end = closing_tag(rest, recap, preamble + preamble_.size());
            if (end == none) { return text; }
            text = trimmed(rest.substr(end));
        }
    }

private:
    // where the tag of ours begins that stands on the line before the preamble
    std::size_t opening_tag(std::string_view text, std::size_t from, std::size_t preamble) const {
        std::string_view before = text.substr(from, preamble - from);
        if (!before.ends_with('\n')) { return none; }
        before.remove_suffix(before.ends_with("\r\n") ? 2 : 1);
        for (const std::string_view open : {std::string_view(open_recap_), std::string_view(open_note_)}) {
            if (before.ends_with(open)) { return from + before.size() - open.size(); }
        }
        return none;
    }

    // behind the tag that closes it
    std::size_t closing_tag(std::string_view text, bool recap, std::size_t from) const {
        std::string close = "\n</";
        close.append(recap ? recap_ : note_).append(">");
        const std::size_t at = text.find(close, from);
        return at == std::string_view::npos ? none : at + close.size();
    }

    std::string_view note_;
    std::string_view recap_;
    std::string open_note_;
    std::string open_recap_;
    std::string preamble_;
};

}  // namespace coppice::detail
