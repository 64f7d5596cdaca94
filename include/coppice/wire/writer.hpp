// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>
#include <coppice/plan.hpp>
#include <coppice/text.hpp>
#include <coppice/transcript.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// Collects edits of a text and writes it anew: what is not edited is copied, byte by byte, or not even that.
class WireWriter {
public:
    /// The text must stay where it is until the next `start`; it may be what was written last.
    void start(std::string_view text) {
        text_ = text;
        splices_.clear();
        replacements_.clear();
        pieces_.clear();
        unpacked_ = {};
        current_ = holds(bodies_[0], text) ? 1 : 0;
    }

    /// Takes an edit that lies behind all earlier ones.
    EditBytes add(const Edit& edit, const BlockSpelling& spelling) {
        const std::string_view replaced = edit.as == Edit::As::packed ? unpack(edit)
                                          : edit.as == Edit::As::drop ? with_comma(edit)
                                                                      : bytes_of(edit.node);
        const auto offset = static_cast<std::size_t>(replaced.data() - text_.data());
        const std::size_t free_from = splices_.empty() ? 0 : splices_.back().offset + splices_.back().size;
        // cannot be; it would tear the body apart
        if (offset < free_from) { throw std::logic_error("two edits of one place"); }
        const std::size_t start = replacements_.size();
        switch (edit.as) {
            case Edit::As::string: append_json_string(replacements_, edit.text); break;
            case Edit::As::packed: append_packed(edit.text); break;
            case Edit::As::empty: replacements_ += "[]"; break;
            case Edit::As::drop: break;
            case Edit::As::blocks:
            case Edit::As::block: append_block(edit, spelling); break;
        }
        splices_.push_back({offset, replaced.size(), start, replacements_.size() - start});
        return {replaced.size(), splices_.back().replacement_size};
    }

    /// Where the written text differs from the given one.
    std::optional<std::size_t> first_difference() const {
        if (splices_.empty()) { return std::nullopt; }
        // what follows a dropped block may begin like it
        std::size_t at = splices_.front().offset;
        std::size_t copied = at;
        bool same = true;
        const auto compare = [&](std::string_view written) {
            if (!same) { return; }
            const std::string_view given = text_.substr(at, written.size());
            const auto differs = std::mismatch(given.begin(), given.end(), written.begin(), written.end());
            at += static_cast<std::size_t>(differs.first - given.begin());
            same = differs.second == written.end();
        };
        for (const Splice& splice : splices_) {
            compare(text_.substr(copied, splice.offset - copied));
            compare(replacement(splice));
            copied = splice.offset + splice.size;
            if (!same) { break; }
        }
        compare(text_.substr(copied));
        return at;
    }

    /// The given text, as pieces.
    std::span<const std::string_view> untouched() const { return {&text_, text_.empty() ? 0U : 1U}; }

    /// What is written, in pieces of the given text and of the replacements.
    std::span<const std::string_view> pieces() {
        pieces_.clear();
        std::size_t at = 0;
        const auto add_piece = [this](std::string_view piece) {
            if (!piece.empty()) { pieces_.push_back(piece); }
        };
        for (const Splice& splice : splices_) {
            add_piece(text_.substr(at, splice.offset - at));
            add_piece(replacement(splice));
            at = splice.offset + splice.size;
        }
        add_piece(text_.substr(at));
        return pieces_;
    }

    /// What is written, in one piece.
    std::string& joined() {
        std::size_t size = text_.size();
        for (const Splice& splice : splices_) { size = size - splice.size + splice.replacement_size; }
        std::string& body = bodies_[current_];
        body.clear();
        body.reserve(size);
        for (const std::string_view piece : pieces()) { body += piece; }
        return body;
    }

private:
    struct Splice {
        std::size_t offset;
        std::size_t size;
        std::size_t replacement_at;
        std::size_t replacement_size;
    };

    static bool holds(const std::string& body, std::string_view text) {
        const std::less_equal<const char*> before;
        return before(body.data(), text.data()) && before(text.data(), body.data() + body.size());
    }

    std::string_view replacement(const Splice& splice) const {
        return std::string_view(replacements_).substr(splice.replacement_at, splice.replacement_size);
    }

    static std::string_view bytes_of(Node node) { return {static_cast<const char*>(node.where), node.length}; }

    // A block to be dropped, with what stands between it and the block behind it, where it is among the first of its
    // array, and otherwise the one before it.
    std::string_view with_comma(const Edit& edit) const {
        const std::string_view block = bytes_of(edit.node);
        const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
        auto begin = static_cast<std::size_t>(block.data() - text_.data());
        std::size_t end = begin + block.size();
        bool comma = false;
        if (edit.leads) {
            while (end < text_.size() && is_space(text_[end])) { ++end; }
            comma = end < text_.size() && text_[end] == ',';
            ++end;
            while (comma && end < text_.size() && is_space(text_[end])) { ++end; }
        } else {
            while (begin > 0 && is_space(text_[begin - 1])) { --begin; }
            comma = begin > 0 && text_[begin - 1] == ',';
            --begin;
        }
        // cannot be; the array would be none any more
        if (!comma) { throw std::logic_error("a block without a neighbour is dropped"); }
        return text_.substr(begin, end - begin);
    }

    // Where the edit's piece of JSON stands in the text, where it is spelled as part of a string.
    std::string_view unpack(const Edit& edit) {
        const std::string_view holder = bytes_of(edit.holder);
        const std::string_view inside = holder.substr(1, holder.size() - 2);
        const std::size_t begin = static_cast<std::size_t>(static_cast<const char*>(edit.node.where) -
                                                           edit.packed.data());
        // edits come in order, so that the way here is walked once
        const bool behind = unpacked_.holder == inside.data() && unpacked_.meaning <= begin;
        if (!behind) { unpacked_ = {inside.data(), 0, 0}; }
        const std::size_t first = walk(inside, begin);
        return inside.substr(first, walk(inside, begin + edit.node.length) - first);
    }

    std::size_t walk(std::string_view inside, std::size_t meaning) {
        while (unpacked_.meaning < meaning) {
            const std::string_view rest = inside.substr(unpacked_.spelling);
            const std::size_t run = std::min(std::min(rest.find('\\'), rest.size()), meaning - unpacked_.meaning);
            unpacked_.meaning += run;
            unpacked_.spelling += run;
            if (unpacked_.meaning == meaning) { break; }
            const EscapedUnit unit = next_unit(rest.substr(run));
            unpacked_.meaning += extent_of(unit).plain.bytes;
            unpacked_.spelling += unit.length;
        }
        return unpacked_.spelling;
    }

    void append_packed(std::string_view text) {
        packed_.clear();
        append_json_string(packed_, text);
        const std::size_t start = replacements_.size();
        append_json_string(replacements_, packed_);
        // without the quotes of the string around it
        replacements_.pop_back();
        replacements_.erase(start, 1);
    }

    void append_block(const Edit& edit, const BlockSpelling& spelling) {
        if (edit.as == Edit::As::blocks) { replacements_ += '['; }
        replacements_ += '{';
        if (!spelling.type.empty()) {
            replacements_ += R"("type":)";
            append_json_string(replacements_, spelling.type);
            replacements_ += ',';
        }
        append_json_string(replacements_, spelling.text_key);
        replacements_ += ':';
        append_json_string(replacements_, edit.text);
        if (edit.cache_mark) {
            replacements_ += ',';
            append_json_string(replacements_, edit.mark_key);
            replacements_ += ':';
            replacements_.append(static_cast<const char*>(edit.cache_mark.where), edit.cache_mark.length);
        }
        replacements_ += '}';
        if (edit.as == Edit::As::blocks) { replacements_ += ']'; }
    }

    std::string_view text_;
    std::vector<Splice> splices_;
    std::string replacements_;
    std::string packed_;
    std::vector<std::string_view> pieces_;
    // how far a string that holds JSON was read, in bytes of what it means and of how it is spelled
    struct {
        const char* holder = nullptr;
        std::size_t meaning = 0;
        std::size_t spelling = 0;
    } unpacked_;
    std::array<std::string, 2> bodies_;  // one to read from, if need be, and one to write to
    std::size_t current_ = 0;
};

}  // namespace coppice::detail
