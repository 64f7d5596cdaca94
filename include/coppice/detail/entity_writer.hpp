// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/tag_finder.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace coppice::inline v0::detail {

/// Where the next of something is, looked for once however often one asks.
class NextPlace {
public:
    /// `find(from)` is the first at `from` or behind, npos where none is. What is asked for never goes back.
    template <class Find>
    std::size_t at_or_behind(std::size_t from, Find find) {
        if (!known_ || (place_ < from && place_ != std::string_view::npos)) { place_ = find(from); }
        known_ = true;
        return place_;
    }

private:
    std::size_t place_ = 0;
    bool known_ = false;
};

/// Writes a text with the brackets of tags as character references: what begins with `<` ends with the first `>`, and
/// every `<` between is written like that too; what begins with a look-alike ends with a look-alike if that comes
/// first.
class EntityWriter {
public:
    EntityWriter(std::string& out, std::string_view text) : out_(out), text_(text) {}

    void add(const FoundTag& tag) {
        copy_to(tag.start);
        out_ += "&lt;";
        written_ = tag.start + tag.bracket;
        const std::size_t plain =
            next_plain_.at_or_behind(written_, [&](std::size_t from) { return text_.find('>', from); });
        std::size_t lookalike = npos;
        if (text_[tag.start] != '<') {
            lookalike = next_lookalike_.at_or_behind(written_,
                                                     [&](std::size_t from) { return find_lookalike(from); });
        }
        if (plain < lookalike) {
            plain_end_ = plain;
        } else if (lookalike != npos) {
            lookalike_end_ = lookalike;
        }
    }

    void finish() { copy_to(text_.size()); }

private:
    static constexpr std::size_t npos = std::string_view::npos;

    // of a closing bracket that is not ASCII
    std::size_t find_lookalike(std::size_t from) const {
        while (from < text_.size()) {
            const bool plain = static_cast<unsigned char>(text_[from]) < 0x80;
            const TagUnit unit = plain ? TagUnit{} : tag_unit(text_, from, false);
            if (unit.part == TagPart::closing) { return from; }
            from += unit.size;
        }
        return npos;
    }

    void copy_to(std::size_t to) {
        for (std::size_t end = std::min(plain_end_, lookalike_end_); end < to;
             end = std::min(plain_end_, lookalike_end_)) {
            copy_inside(end);
            out_ += "&gt;";
            written_ = end + tag_unit(text_, end, false).size;
            (end == plain_end_ ? plain_end_ : lookalike_end_) = npos;
        }
        if (plain_end_ != npos || lookalike_end_ != npos) {
            copy_inside(to);
        } else {
            out_.append(text_.substr(written_, to - written_));
            written_ = to;
        }
    }

    void copy_inside(std::size_t to) {
        const std::string_view inside = text_.substr(0, to);
        for (std::size_t at = inside.find('<', written_); at != npos; at = inside.find('<', written_)) {
            out_.append(inside.substr(written_, at - written_)).append("&lt;");
            written_ = at + 1;
        }
        out_.append(inside.substr(written_));
        written_ = to;
    }

    std::string& out_;
    std::string_view text_;
    std::size_t written_ = 0;           // of the text
    std::size_t plain_end_ = npos;      // the > of the tags that are being written
    std::size_t lookalike_end_ = npos;  // and what ends those that end before
    NextPlace next_plain_;
    NextPlace next_lookalike_;
};

}  // namespace coppice::detail
