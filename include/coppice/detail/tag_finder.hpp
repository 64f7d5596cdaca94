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

namespace coppice::inline v0::detail {

/// The code point of a character of valid UTF-8 that is not ASCII.
constexpr char32_t code_point(std::string_view character) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    char32_t code = byte(0) & (0xFFU >> (character.size() + 1));
    for (std::size_t i = 1; i < character.size(); ++i) { code = (code << 6U) | (byte(i) & 0x3FU); }
    return code;
}

/// What a piece of text may be in a tag.
enum class TagPart : std::uint8_t {
    none,
    opening,
    closing,
    skippable,
    slash,
    backslash,    // a slash before the name, skippable in it
    punctuation,  // other ASCII: skippable before the name, not in it
    separator,    // skippable before the name
    colon,        // not that: what is written is `<quoted:name>`
    letters,
};

struct TagUnit {
    TagPart part = TagPart::none;
    std::size_t size = 1;  // bytes
    char letter = '\0';    // of one letter, and what else that may be
    char other = '\0';
    std::string_view sequence{};  // of several letters
    std::size_t second =
        0;  // where a second reading goes on, in which every byte is what it is; 0 where none does
    bool unfinished = false;  // an ANSI sequence that something put behind it might end
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
        // an ampersand is where references are read, and `<=` compares
        const bool skippable = code != '&' && code != '=';
        if (units[code].part == TagPart::none && skippable) { units[code].part = TagPart::punctuation; }
    }
    units[':'].part = TagPart::colon;
    units['\\'].part = TagPart::backslash;
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

/// Takes the rest of an ANSI sequence (ECMA-48, 5.4) into the unit of an ESC or a CSI. A sequence holds no beginning of
/// a bracket.
constexpr void take_sequence(TagUnit& unit, char32_t code, std::string_view text, std::size_t at) {
    constexpr char32_t escape = 0x1B;
    constexpr char32_t introducer = 0x9B;
    if (code != escape && code != introducer) { return; }
    std::size_t end = at + unit.size;
    if (code == escape && (end == text.size() || text[end++] != '[')) { return; }
    constexpr std::size_t longest = 32;
    const std::size_t limit = std::min(text.size(), end + longest);
    const auto goes_on = [](char c) { return c >= 0x20 && c < 0x40 && c != '<' && c != '&'; };
    while (end < limit && goes_on(text[end])) { ++end; }
    if (end == limit || text[end] < 0x40 || text[end] == 0x7F || text[end] == '\\') {
        unit.unfinished = true;
        return;
    }
    unit.second = unit.size;
    unit.size = end + 1 - at;
}

struct NamedReference {
    std::string_view name;  // in lower case, with its semicolon where HTML needs that
    char32_t code;
};

// by their first letters, those that begin others behind these
inline constexpr auto named_references = std::to_array<NamedReference>({{"amp", '&'},
                                                                        {"apos;", '\''},
                                                                        {"af;", 0x2061},
                                                                        {"bsol;", '\\'},
                                                                        {"bull;", 0x2022},
                                                                        {"colon;", ':'},
                                                                        {"dash;", 0x2010},
                                                                        {"ensp;", 0x2002},
                                                                        {"emsp;", 0x2003},
                                                                        {"excl;", '!'},
                                                                        {"hyphen;", 0x2010},
                                                                        {"hairsp;", 0x200A},
                                                                        {"horbar;", 0x2015},
                                                                        {"ic;", 0x2063},
                                                                        {"it;", 0x2062},
                                                                        {"invisiblecomma;", 0x2063},
                                                                        {"invisibletimes;", 0x2062},
                                                                        {"lt", '<'},
                                                                        {"langle;", 0x27E8},
                                                                        {"lang;", 0x27E8},
                                                                        {"laquo", 0xAB},
                                                                        {"leftanglebracket;", 0x27E8},
                                                                        {"lowbar;", '_'},
                                                                        {"lrm;", 0x200E},
                                                                        {"lsaquo;", 0x2039},
                                                                        {"macr", 0xAF},
                                                                        {"mdash;", 0x2014},
                                                                        {"middot", 0xB7},
                                                                        {"minus;", 0x2212},
                                                                        {"nbsp", 0xA0},
                                                                        {"ndash;", 0x2013},
                                                                        {"newline;", '\n'},
                                                                        {"nobreak;", 0x2060},
                                                                        {"nonbreakingspace;", 0xA0},
                                                                        {"oline;", 0x203E},
                                                                        {"period;", '.'},
                                                                        {"quest;", '?'},
                                                                        {"quot", '"'},
                                                                        {"rlm;", 0x200F},
                                                                        {"shy", 0xAD},
                                                                        {"sol;", '/'},
                                                                        {"tab;", '\t'},
                                                                        {"thinsp;", 0x2009},
                                                                        {"underbar;", '_'},
                                                                        {"verbar;", '|'},
                                                                        {"vert;", '|'},
                                                                        {"zerowidthspace;", 0x200B},
                                                                        {"zwj;", 0x200D},
                                                                        {"zwnj;", 0x200C}});

// where the names with a first letter begin, and end
inline constexpr auto reference_index = [] {
    std::array<std::size_t, 27> index{};
    for (std::size_t letter = 0; letter < index.size(); ++letter) {
        while (index[letter] < named_references.size() &&
               named_references[index[letter]].name[0] < static_cast<char>('a' + letter)) {
            ++index[letter];
        }
    }
    return index;
}();

/// Reads a character that is spelled as a character reference or as an escape of JSON and its like, however often
/// escaped again. Beside it, a backslash or an ampersand is only skipped: that is the second reading.
class EscapedReader {
public:
    /// What stands at a backslash or an ampersand. What it takes holds no beginning of another bracket.
    /// `references`: whether they and escaped brackets count.
    static TagUnit read(std::string_view text, std::size_t at, bool references) {
        EscapedReader reader(text, at, references);
        return text[at] == '&' ? reader.ampersand() : reader.backslashes();
    }

private:
    static constexpr char32_t last_code = 0x10FFFF;
    static constexpr char32_t no_code = 0xFFFFFFFF;

    EscapedReader(std::string_view text, std::size_t at, bool references)
        : text_(text), start_(at), at_(at), references_(references) {}

    TagUnit ampersand() {
        second_ = 1;
        ++at_;
        return reference();
    }

    TagUnit backslashes() {
        at_ = std::min(text_.find_first_not_of('\\', at_), text_.size());
        second_ = at_ - start_;
        constexpr std::string_view blanks = "bfnrt";
        if (at_ < text_.size() && blanks.find(text_[at_]) != std::string_view::npos) {
            ++at_;
            return unit(TagPart::skippable);
        }
        const std::size_t behind = at_;
        const char32_t code = number_of_escape();
        if (code == no_code) {
            at_ = behind;
            return unit(TagPart::backslash);
        }
        return code == '&' && references_ ? reference() : unit_of(code);
    }

    // what u003c, u{3c}, U0000003c or x3c stands for
    char32_t number_of_escape() {
        const char32_t code = code_unit();
        if (!is_surrogate(code, 0xD800)) { return code; }
        const std::size_t behind = at_;
        at_ = std::min(text_.find_first_not_of('\\', at_), text_.size());
        const char32_t low = at_ == behind ? no_code : code_unit();
        if (is_surrogate(low, 0xDC00)) { return 0x10000 + ((code & 0x3FFU) << 10U) + (low & 0x3FFU); }
        at_ = behind;
        return code;
    }

    static bool is_surrogate(char32_t code, char32_t first) { return code >= first && code < first + 0x400; }

    char32_t code_unit() {
        if (at_ == text_.size()) { return no_code; }
        const char kind = text_[at_++];
        if (kind != 'u' && kind != 'x' && kind != 'U') { return no_code; }
        const bool braces = kind != 'U' && take("{");
        std::size_t digits = kind == 'U' || braces ? 8 : kind == 'u' ? 4 : 2;
        char32_t code = 0;
        const std::size_t first = at_;
        for (; digits > 0 && at_ < text_.size() && digit_value(text_[at_]) < 16; --digits) {
            code = code * 16 + digit_value(text_[at_++]);
        }
        const bool whole = braces ? at_ > first && take("}") : digits == 0;
        return !whole ? no_code : code > last_code ? char32_t{0xFFFD} : code;
    }

    // what follows an ampersand
    TagUnit reference() {
        const std::size_t begin = at_;
        std::size_t taken =
            begin;  // of ampersands that stand for themselves, since a name may begin like the others
        for (bool again = false;; again = true) {
            if (again && taken == begin) { taken = at_; }
            const char32_t code = take("#") ? number() : named();
            if (code == no_code) {
                at_ = taken;
                return unit(TagPart::punctuation);
            }
            if (code != '&') { return unit_of(code); }
        }
    }

    char32_t named() {
        if (at_ == text_.size()) { return no_code; }
        const char lower = static_cast<char>(text_[at_] | 0x20);
        if (lower < 'a' || lower > 'z') { return no_code; }
        const auto letter = static_cast<std::size_t>(lower - 'a');
        for (std::size_t i = reference_index[letter]; i < reference_index[letter + 1]; ++i) {
            if (take(named_references[i].name)) {
                if (named_references[i].name.back() != ';') { take(";"); }
                return named_references[i].code;
            }
        }
        return no_code;
    }

    // All digits where a semicolon ends them. Else the shortest number that is a bracket, a slash or an ampersand,
    // since letters of a name are digits too.
    char32_t number() {
        const std::uint32_t base = take("x") ? 16 : 10;
        const std::size_t first = at_;
        std::size_t shortest = 0;  // its end
        char32_t short_code = no_code;
        char32_t code = 0;
        for (; at_ < text_.size() && digit_value(text_[at_]) < base; ++at_) {
            if (code > last_code) { continue; }
            code = code * base + digit_value(text_[at_]);
            if (short_code == no_code && matters(code)) {
                short_code = code;
                shortest = at_ + 1;
            }
        }
        if (at_ == first) { return no_code; }
        if (take(";") || short_code == no_code) { return code; }
        at_ = shortest;
        return short_code;
    }

    static bool matters(char32_t code) {
        return code == '&' || code == '/' || contains(opening_brackets, code);
    }

    TagUnit unit(TagPart part) const {
        TagUnit made{part, at_ - start_};
        made.second = second_ < made.size ? second_ : 0;
        return made;
    }

    TagUnit unit_of(char32_t code) const {
        if (code > last_code || is_surrogate(code, 0xD800) || is_surrogate(code, 0xDC00)) {
            return unit(TagPart::skippable);
        }
        TagUnit made = code < 0x80 ? ascii_units[code] : classify(code, 0);
        made.size = at_ - start_;
        if (made.part == TagPart::opening) {
            if (!references_) { made.part = TagPart::none; }
            return made;
        }
        if (code == '&') { made.part = TagPart::none; }
        made.second = second_;
        take_sequence(made, code, text_, start_);
        return made;
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
    std::size_t start_;
    std::size_t at_;
    std::size_t second_ = 0;
    bool references_;
};

/// What stands at a place of a text. Bytes that are not UTF-8 are skippable one by one. `references`: whether these and
/// escaped brackets count.
inline TagUnit tag_unit(std::string_view text, std::size_t at, bool references) {
    const char byte = text[at];
    if (byte == '\\' || (references && byte == '&')) { return EscapedReader::read(text, at, references); }
    if (static_cast<unsigned char>(byte) < 0x80) {
        TagUnit unit = ascii_units[static_cast<unsigned char>(byte)];
        take_sequence(unit, static_cast<unsigned char>(byte), text, at);
        return unit;
    }
    const std::size_t size = utf8_size(text.substr(at, 4));
    if (size == 0) { return {TagPart::skippable, 1}; }
    const char32_t code = code_point(text.substr(at, size));
    TagUnit unit = classify(code, size);
    take_sequence(unit, code, text, at);
    return unit;
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
    std::size_t name = 0;                        // first letter, or the escape that may be or hold it

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
        if (opening == '\\') { return next != 'u' && next != '\\' && next != 'x' && next != 'U'; }
        if (opening != '<' || static_cast<unsigned char>(next) >= 0x80) { return false; }
        const TagUnit& unit = ascii_units[static_cast<unsigned char>(next)];
        switch (unit.part) {
            case TagPart::letters:
                return unit.letter != '|' && !may_begin(note_, unit.letter) &&
                       !may_begin(recap_, unit.letter);
            case TagPart::none: return !(escapes_ && next == '&');
            case TagPart::opening:
            case TagPart::closing:
            case TagPart::colon: return true;
            default: return false;
        }
    }

    // What stands where an opening may: of other characters only whether they are brackets.
    TagUnit opening() const {
        if (static_cast<unsigned char>(text_[at_]) < 0x80) { return tag_unit(text_, at_, escapes_); }
        const std::size_t size = utf8_size(text_.substr(at_, 4));
        if (size == 0 || !contains(opening_brackets, code_point(text_.substr(at_, size)))) { return {}; }
        return {TagPart::opening, size};
    }

    // Both names, read at once.
    struct Names {
        NameReader note;
        NameReader recap;

        bool alive() const { return note.alive() || recap.alive(); }
        bool done() const { return note.done() || recap.done(); }
        bool outside() const { return note.outside(); }
        bool begun() const { return note.begun() || recap.begun(); }

        template <class Action>
        void both(Action action) {
            action(note);
            action(recap);
        }

        void read(const TagUnit& unit) {
            switch (unit.part) {
                case TagPart::skippable:
                case TagPart::backslash: break;
                case TagPart::slash:
                case TagPart::punctuation: both([](NameReader& name) { name.interrupt(); }); break;
                case TagPart::separator: both([](NameReader& name) { name.separator(); }); break;
                case TagPart::colon:
                    both([](NameReader& name) {
                        name.begin_no_more();
                        name.separator();
                    });
                    break;
                case TagPart::letters: {
                    const bool bar = unit.letter == '|' && outside();
                    both([&](NameReader& name) {
                        if (unit.sequence.empty()) { name.letter(unit.letter, unit.other); }
                        for (const char letter : unit.sequence) { name.letter(letter, '\0'); }
                        if (bar) { name.begin(); }
                    });
                    break;
                }
                default: both([](NameReader& name) { name.stop(); }); break;
            }
        }
    };

    Names names() const { return {NameReader(note_), NameReader(recap_)}; }

    bool ends_at(std::size_t at) const { return at == text_.size() || !is_name_byte(text_[at]); }

    bool may_begin_with(char letter) const { return may_begin(note_, letter) || may_begin(recap_, letter); }

    // Passes what is skipped before a name, up to what may be one or be read in two ways: whether there is any.
    bool something_follows(TagUnit& unit) {
        for (; at_ < text_.size(); at_ += unit.size) {
            unit = tag_unit(text_, at_, escapes_);
            if (unit.second != 0 || unit.unfinished) { return true; }
            switch (unit.part) {
                case TagPart::skippable:
                case TagPart::slash:
                case TagPart::backslash:
                case TagPart::punctuation:
                case TagPart::separator: break;
                case TagPart::letters:
                    if (!unit.sequence.empty()) { return may_begin_with(unit.sequence.front()); }
                    return unit.letter == '|' || may_begin_with(unit.letter) ||
                           (unit.other != '\0' && may_begin_with(unit.other));
                default: return false;
            }
        }
        unit = {TagPart::none, 0};
        return false;
    }

    // Reads on behind a bracket. Where this fails, `unit` is what it failed at; without a size at the end.
    bool name_follows(FoundTag& tag, TagUnit& unit) {
        if (!something_follows(unit)) { return false; }
        Names now = names();
        Names first = now;  // what the first reading of an escape makes of it, until `behind`
        std::size_t escape = 0;
        std::size_t behind = 0;
        tag.name = std::string_view::npos;
        while (at_ < text_.size()) {
            const bool second = at_ < behind;
            unit =
                second ? ascii_units[static_cast<unsigned char>(text_[at_])] : tag_unit(text_, at_, escapes_);
            // `quoted:` before everything that it might end
            if (unit.unfinished && now.outside()) { tag.name = std::min(tag.name, second ? escape : at_); }
            if (unit.second != 0) {
                first = now;
                first.read(unit);
                escape = at_;
                behind = at_ + unit.size;
                if (first.begun()) { tag.name = std::min(tag.name, escape); }
                if (first.done() && ends_at(behind)) {
                    at_ = behind;
                    return true;
                }
                at_ += unit.second;
                // what is skipped there is a backslash, an ampersand or an ESC
                if (text_[escape] == '&') {
                    now.both([](NameReader& name) { name.interrupt(); });
                }
            } else {
                now.read(unit);
                if (now.begun()) { tag.name = std::min(tag.name, second ? escape : at_); }
                if (now.done() && unit.part == TagPart::letters && ends_at(at_ + unit.size)) {
                    at_ += unit.size;
                    return true;
                }
                if (!now.alive() && !second) { return false; }
                at_ += unit.size;
            }
            if (!now.alive()) { at_ = std::max(at_, behind); }
            if (at_ == behind) {
                now.note.join(first.note);
                now.recap.join(first.recap);
                if (!now.alive()) { break; }
            }
        }
        unit = {TagPart::none, 0};
        return false;
    }

    std::string_view text_;
    std::string_view note_;
    std::string_view recap_;
    bool escapes_;
    OpeningFinder openings_;
    std::size_t at_ = 0;
};

}  // namespace coppice::detail
