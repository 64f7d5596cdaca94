// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/lookalikes.hpp>
#include <coppice/detail/tag_name.hpp>
#include <coppice/text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace coppice::detail {

/// The code point of a character of valid UTF-8 that is not ASCII.
constexpr char32_t code_point(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    char32_t code = byte(0) & (0xFFU >> (character.size() + 1));
    for (std::size_t i = 1; i < character.size(); ++i) { code = (code << 6U) | (byte(i) & 0x3FU); }
    return code;
}

/// What a piece of text may be in a tag.
enum class TagPart : std::uint8_t { none, opening, closing, skippable, slash, separator, letters };

struct TagUnit {
    TagPart part = TagPart::none;
    std::size_t size = 1;  // bytes
    char letter = '\0';    // of one letter, and what else that may be
    char other = '\0';
    std::string_view sequence{};  // of several letters
};

// whether any code point of 256 in a row is in a table: most scripts are in none
inline constexpr auto listed_pages = [] {
    std::array<bool, 0x1100> pages{};
    const auto list = [&](char32_t first, char32_t last) {
        for (char32_t page = first >> 8U; page <= last >> 8U; ++page) { pages[page] = true; }
    };
    for (const char32_t code : opening_brackets) { list(code, code); }
    for (const char32_t code : closing_brackets) { list(code, code); }
    for (const CodeRange& range : slashes) { list(range.first, range.last); }
    for (const CodeRange& range : separators) { list(range.first, range.last); }
    for (const CodeRange& range : skippables) { list(range.first, range.last); }
    for (const LetterRun& run : letter_runs) { list(run.first, run.first + run.count - 1); }
    for (const LetterSequence& sequence : letter_sequences) { list(sequence.code, sequence.code); }
    return pages;
}();

constexpr TagUnit classify(char32_t code, std::size_t size) {
    if (!listed_pages[code >> 8U]) { return {TagPart::none, size}; }
    const auto unit = [&](TagPart part) { return TagUnit{part, size}; };
    if (const char letter = letter_in(letter_runs, code); letter != '\0') {
        return {TagPart::letters, size, letter, letter_in(second_letters, code), {}};
    }
    if (contains(skippables, code)) { return unit(TagPart::skippable); }
    if (contains(separators, code)) { return unit(TagPart::separator); }
    if (contains(slashes, code)) { return unit(TagPart::slash); }
    if (contains(opening_brackets, code)) { return unit(TagPart::opening); }
    if (contains(closing_brackets, code)) { return unit(TagPart::closing); }
    const std::string_view sequence = sequence_of(code);
    return {sequence.empty() ? TagPart::none : TagPart::letters, size, '\0', '\0', sequence};
}

inline constexpr auto ascii_units = [] {
    std::array<TagUnit, 128> units{};
    for (std::size_t code = 0; code < units.size(); ++code) {
        units[code] = classify(static_cast<char32_t>(code), 1);
    }
    return units;
}();

constexpr bool is_name_byte(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/// The value of a hexadecimal digit, 16 for everything else.
constexpr std::uint32_t digit_value(char c) {
    if (c >= '0' && c <= '9') { return static_cast<std::uint32_t>(c - '0'); }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? static_cast<std::uint32_t>(lower - 'a' + 10) : 16;
}

/// Reads an opening bracket or a slash that is spelled as a character reference or a JSON escape, however often
/// escaped again.
class EscapedOpening {
public:
    /// What stands at a backslash or an ampersand: a bracket, slashes, or nothing of interest. What it takes holds no
    /// beginning of another bracket.
    static TagUnit read(std::string_view text, std::size_t at) {
        EscapedOpening reader(text, at);
        const TagPart part = reader.part();
        return {part, reader.at_ - at};
    }

private:
    EscapedOpening(std::string_view text, std::size_t at) : text_(text), at_(at) {}

    TagPart part() {
        if (text_[at_] == '&') {
            ++at_;
            return reference();
        }
        at_ = std::min(text_.find_first_not_of('\\', at_), text_.size());
        constexpr std::size_t escape = 5;  // of u003c
        if (text_.size() - at_ < escape || text_[at_] != 'u') { return TagPart::slash; }
        char32_t code = 0;
        for (const char c : text_.substr(at_ + 1, escape - 1)) {
            if (digit_value(c) > 15) { return TagPart::slash; }
            code = code * 16 + digit_value(c);
        }
        if (!matters(code)) { return TagPart::slash; }
        at_ += escape;
        return code == '&' ? reference() : part_of(code);
    }

    static bool matters(char32_t code) {
        return code == '&' || code == '/' || contains(opening_brackets, code);
    }

    static TagPart part_of(char32_t code) { return code == '/' ? TagPart::slash : TagPart::opening; }

    // what follows an ampersand
    TagPart reference() {
        while (true) {
            char32_t code = 0;
            if (take("amp")) {
                code = '&';
            } else if (take("lt")) {
                code = '<';
            } else if (take("#")) {
                code = number();
            }
            if (code == 0) { return TagPart::none; }
            take(";");
            if (code != '&') { return part_of(code); }
        }
    }

    // the shortest number that matters, since letters of a name are digits too, or 0
    char32_t number() {
        const std::uint32_t base = take("x") ? 16 : 10;
        at_ = std::min(text_.find_first_not_of('0', at_), text_.size());
        constexpr int longest = 7;
        char32_t code = 0;
        for (int i = 0; i < longest && at_ < text_.size() && digit_value(text_[at_]) < base; ++i) {
            code = code * base + digit_value(text_[at_++]);
            if (matters(code)) { return code; }
        }
        return 0;
    }

    // in any case
    bool take(std::string_view word) {
        if (text_.size() - at_ < word.size()) { return false; }
        for (std::size_t i = 0; i < word.size(); ++i) {
            const char c = text_[at_ + i];
            const bool upper = c >= 'A' && c <= 'Z';
            if ((upper ? static_cast<char>(c | 0x20) : c) != word[i]) { return false; }
        }
        at_ += word.size();
        return true;
    }

    std::string_view text_;
    std::size_t at_;
};

/// What stands at a place of a text. Bytes that are not UTF-8 are skippable one by one.
inline TagUnit tag_unit(std::string_view text, std::size_t at, bool escapes) {
    const char byte = text[at];
    if (escapes && (byte == '&' || byte == '\\')) { return EscapedOpening::read(text, at); }
    if (static_cast<unsigned char>(byte) < 0x80) { return ascii_units[static_cast<unsigned char>(byte)]; }
    const std::size_t size = utf8_size(text.substr(at, 4));
    if (size == 0) { return {TagPart::skippable, 1}; }
    return classify(code_point(text.substr(at, size)), size);
}

/// Finds the bytes with which an opening bracket may begin. Clean text is only looked at in blocks, whose loops
/// compilers turn into vector code.
class OpeningFinder {
public:
    OpeningFinder(std::string_view text, bool escapes) : text_(text), escapes_(escapes) {}

    /// The first at `from` or behind, npos where none is. What is asked for never goes back.
    std::size_t next(std::size_t from) {
        if (from >= base_ + block || !loaded_) { load(from); }
        while (base_ < text_.size()) {
            for (std::size_t i = !any_ ? block : std::max(from, base_) - base_; i < block;) {
                if (i % word == 0 && empty_word(i)) {
                    i += word;
                } else if (misses_[i] == 0) {
                    return base_ + i;
                } else {
                    ++i;
                }
            }
            from = base_ + block;
            load(from);
        }
        return std::string_view::npos;
    }

private:
    static constexpr std::size_t block = 64;
    static constexpr std::size_t ahead = 2;  // how far a test looks beyond its byte
    static constexpr std::size_t word = sizeof(std::uint64_t);

    void load(std::size_t base) {
        base_ = base;
        loaded_ = true;
        for (; base_ < text_.size(); base_ += block) {
            const std::string_view rest = text_.substr(base_, block + ahead);
            if (rest.size() == block + ahead) {
                escapes_ ? look<true>(rest.data()) : look<false>(rest.data());
            } else {
                std::array<char, block + ahead> padded;
                padded.fill('a');
                std::memcpy(padded.data(), rest.data(), rest.size());
                escapes_ ? look<true>(padded.data()) : look<false>(padded.data());
            }
            if (any_) { return; }
        }
    }

    // whether none of eight bytes is 0
    bool empty_word(std::size_t at) const {
        constexpr std::uint64_t ones = 0x0101010101010101ULL;
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, misses_.data() + at, word);
        return ((bytes - ones) & ~bytes & (ones << 7U)) == 0;
    }

    // What follows is 0 where something holds, so that vector code needs bytes only: least is `or`, most is `and`.
    using Byte = std::uint8_t;
    static constexpr Byte differs(Byte left, Byte right) { return left ^ right; }
    static constexpr Byte least(Byte left, Byte right) { return left < right ? left : right; }
    static constexpr Byte most(Byte left, Byte right) { return left | right; }
    static constexpr Byte below(Byte left, Byte right) { return (left < right ? right : left) ^ left; }

    template <bool Escapes>
    static constexpr Byte opens(Byte byte) {
        const Byte bracket = differs(byte, '<');
        if constexpr (!Escapes) { return bracket; }
        return least(bracket, least(differs(byte, '&'), differs(byte, '\\')));
    }

    // a few characters that are no brackets, but every bracket of the table
    static constexpr Byte opens_wide(Byte first, Byte second, Byte third) {
        const Byte latin = least(most(differs(first, 0xC2), differs(second, 0xAB)), differs(first, 0xCB));
        const Byte syllable = most(differs(first, 0xE1), least(differs(second, 0x90), differs(second, 0x9A)));
        const Byte quote = most(differs(second, 0x80), differs(third, 0xB9));
        const Byte sign = most(differs(first, 0xE2), least(quote, below(second, 0x89)));
        const Byte cjk = most(most(differs(first, 0xE3), differs(second, 0x80)), differs(third | 2U, 0x8A));
        const Byte fullwidth = most(differs(second, 0xBC), differs(third, 0x9C));
        const Byte form = most(differs(second | 1U, 0xB9), below(third, 0xA4));
        const Byte wide = most(differs(first, 0xEF), least(fullwidth, form));
        const Byte music = most(differs(first, 0xF0), differs(second, 0x9D));
        return least(least(least(latin, syllable), least(sign, cjk)), least(wide, music));
    }

    template <bool Escapes>
    void look(const char* data) {
        Byte seen = 0;
        Byte miss = 0xFF;
        for (std::size_t i = 0; i < block; ++i) {
            const auto byte = static_cast<Byte>(data[i]);
            seen = most(seen, byte);
            miss = least(miss, opens<Escapes>(byte));
        }
        any_ = seen >= 0x80 || miss == 0;
        if (!any_) { return; }
        // not the member itself, which might be what `data` points at as far as a compiler knows
        std::array<Byte, block> misses;
        if (seen < 0x80) {
            for (std::size_t i = 0; i < block; ++i) {
                misses[i] = opens<Escapes>(static_cast<Byte>(data[i]));
            }
        } else {
            // copies, or a compiler carries one byte over from step to step
            std::array<Byte, block> second;
            std::array<Byte, block> third;
            std::memcpy(second.data(), data + 1, block);
            std::memcpy(third.data(), data + 2, block);
            for (std::size_t i = 0; i < block; ++i) {
                const auto first = static_cast<Byte>(data[i]);
                misses[i] = least(opens<Escapes>(first), opens_wide(first, second[i], third[i]));
            }
        }
        misses_ = misses;
    }

    std::string_view text_;
    bool escapes_;
    bool loaded_ = false;
    std::size_t base_ = 0;
    bool any_ = false;                          // openings in the block, perhaps
    std::array<std::uint8_t, block> misses_{};  // 0 where it opens, valid where any_
};

/// A tag in a text.
struct FoundTag {
    std::size_t start = std::string_view::npos;  // of its bracket
    std::size_t bracket = 0;                     // size of that
    std::size_t name = 0;                        // first letter

    bool found() const { return start != std::string_view::npos; }
};

/// Finds tags one after another. A name that is none is not read again.
class TagFinder {
public:
    /// `escapes`: whether brackets that are spelled as references or JSON escapes count.
    TagFinder(std::string_view text, std::string_view note, std::string_view recap, bool escapes)
        : text_(text), note_(note), recap_(recap), escapes_(escapes), openings_(text, escapes) {}

    FoundTag next() {
        FoundTag tag;
        for (at_ = openings_.next(at_); at_ < text_.size(); at_ = openings_.next(at_)) {
            if (fails_at_once()) {
                ++at_;
                continue;
            }
            TagUnit unit = opening();
            while (unit.part == TagPart::opening) {
                tag.start = at_;
                tag.bracket = unit.size;
                at_ += unit.size;
                if (name_follows(tag, unit)) { return tag; }
            }
            at_ = std::min(at_ + unit.size, text_.size());
        }
        at_ = text_.size();
        return {};
    }

private:
    // The byte behind tells of most openings that they are none.
    bool fails_at_once() const {
        if (at_ + 1 == text_.size()) { return true; }
        const char opening = text_[at_];
        const char next = text_[at_ + 1];
        const char lower = static_cast<char>(next | 0x20);
        if (opening == '&') { return lower != 'a' && lower != 'l' && next != '#'; }
        if (opening == '\\') { return next != 'u' && next != '\\'; }
        if (opening != '<' || static_cast<unsigned char>(next) >= 0x80) { return false; }
        const TagUnit& unit = ascii_units[static_cast<unsigned char>(next)];
        if (unit.part == TagPart::letters) { return !begins(note_, unit) && !begins(recap_, unit); }
        // an ampersand may be an escaped slash
        return unit.part != TagPart::skippable && unit.part != TagPart::slash && !(escapes_ && next == '&');
    }

    // What stands where an opening may: of other characters only whether they are brackets.
    TagUnit opening() const {
        if (static_cast<unsigned char>(text_[at_]) < 0x80) { return tag_unit(text_, at_, escapes_); }
        const std::size_t size = utf8_size(text_.substr(at_, 4));
        if (size == 0 || !contains(opening_brackets, code_point(text_.substr(at_, size)))) { return {}; }
        return {TagPart::opening, size};
    }

    static bool begins(std::string_view name, const TagUnit& unit) {
        return NameReader(name).letter(unit.letter, unit.other);
    }

    // Reads on behind a bracket. Where this fails, `unit` is what it failed at; without a size at the end.
    bool name_follows(FoundTag& tag, TagUnit& unit) {
        NameReader note(note_);
        NameReader recap(recap_);
        bool may_be_note = true;
        bool may_be_recap = true;
        bool inside = false;
        for (; at_ < text_.size(); at_ += unit.size) {
            unit = tag_unit(text_, at_, escapes_);
            if (unit.part == TagPart::skippable) { continue; }
            if (unit.part == TagPart::slash && !inside) { continue; }
            if (unit.part == TagPart::separator && inside) {
                may_be_note = may_be_note && note.separator();
                may_be_recap = may_be_recap && recap.separator();
            } else if (unit.part == TagPart::letters) {
                if (!inside) { tag.name = at_; }
                inside = true;
                const bool ends = at_ + unit.size == text_.size() || !is_name_byte(text_[at_ + unit.size]);
                may_be_note = may_be_note && read(note, unit);
                may_be_recap = may_be_recap && read(recap, unit);
                if (ends && ((may_be_note && note.done()) || (may_be_recap && recap.done()))) {
                    at_ += unit.size;
                    return true;
                }
            } else {
                return false;
            }
            if (!may_be_note && !may_be_recap) { return false; }
        }
        unit = {TagPart::none, 0};
        return false;
    }

    static bool read(NameReader& name, const TagUnit& unit) {
        if (unit.sequence.empty()) { return name.letter(unit.letter, unit.other); }
        return std::all_of(unit.sequence.begin(), unit.sequence.end(),
                           [&](char letter) { return name.letter(letter, '\0'); });
    }

    std::string_view text_;
    std::string_view note_;
    std::string_view recap_;
    bool escapes_;
    OpeningFinder openings_;
    std::size_t at_ = 0;
};

}  // namespace coppice::detail
