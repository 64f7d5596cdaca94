// SPDX-License-Identifier: MIT
#include <coppice/tags.hpp>

#include <support/forgeries.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::append_neutralised;
using coppice::Defuse;
using coppice::FenceTags;
using coppice::find_tag;
using support::Forgery;
using namespace std::string_literals;

constexpr std::size_t npos = std::string_view::npos;
constexpr FenceTags quoted{};
constexpr FenceTags entity{.defuse = Defuse::entity};
constexpr FenceTags seed{"openswarm_platform_note", "openswarm_session_recap", Defuse::entity};

std::string neutralised(std::string_view text, const FenceTags& tags) {
    std::string out;
    append_neutralised(out, text, tags);
    return out;
}

std::string repeated(std::string_view piece, std::size_t count) {
    std::string text;
    text.reserve(piece.size() * count);
    for (std::size_t i = 0; i < count; ++i) { text += piece; }
    return text;
}

// What holds of every text.
bool keeps_its_word(const std::string& text, const FenceTags& tags) {
    const std::string once = neutralised(text, tags);
    const std::size_t tag = find_tag(text, tags);
    if (find_tag(once, tags) != npos) { return false; }
    if (neutralised(once, tags) != once) { return false; }
    if ((tag == npos) != (once == text)) { return false; }
    // the shortest tag has a bracket and one code point of several letters
    if (once.size() > 4 * text.size()) { return false; }
    if (coppice::detail::is_utf8(text) && !coppice::detail::is_utf8(once)) { return false; }
    return tag == npos || once.compare(0, tag, text, 0, tag) == 0;
}

bool is_refused(const FenceTags& tags) {
    try {
        tags.validate();
    } catch (const std::invalid_argument&) { return true; }
    return false;
}

// ---- a second reading of the same rules: slow, with sets of states, and with a small table of its own

struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    char kind = '?';  // < > / _ : a, a blank, \\ or # for other punctuation
    std::vector<std::string> letters{};
    std::size_t second = 0;  // where it is read otherwise, byte by byte
    bool unfinished = false;
};

class Oracle {
public:
    Oracle(std::string_view text, const FenceTags& tags) : text_(text), tags_(tags) {
        for (std::size_t at = 0; at < text.size(); at = pieces_.back().end) { pieces_.push_back(piece(at)); }
    }

    struct Tag {
        Piece bracket;
        std::size_t name = 0;
    };

    std::vector<Tag> tags() const {
        std::vector<Tag> found;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            if (pieces_[i].kind != '<') { continue; }
            const std::set<std::size_t> starts = starts_behind(pieces_[i].end);
            if (!starts.empty()) { found.push_back({pieces_[i], *starts.begin()}); }
        }
        return found;
    }

    std::string written() const { return tags_.defuse == Defuse::quoted ? as_quoted() : as_entity(); }

private:
    static std::string lower(std::string text) {
        for (char& c : text) { c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
        return text;
    }

    // every letter as the letters that it looks like
    static std::string folded(const std::string& text) {
        std::string out;
        for (const char c : lower(text)) {
            out += c == 'm'                           ? "rn"
                   : c == 'i' || c == '1' || c == '|' ? "l"
                   : c == '0'                         ? "o"
                                                      : std::string(1, c);
        }
        return out;
    }

    static const std::map<std::string, Piece>& table() {
        static const std::map<std::string, Piece> entries = [] {
            std::map<std::string, Piece> made;
            const auto all = [&](char kind, std::initializer_list<const char*> spellings) {
                for (const char* spelling : spellings) { made[spelling] = {0, 0, kind, {}}; }
            };
            all('<', {"<", "\uFF1C", "\u00AB", "\u3008", "\u2039", "\u1438", "\u02C2", "\U0001D236"});
            all('>', {">", "\uFF1E", "\u00BB", "\u3009"});
            all('/', {"/", "!", "?", "\u2044", "\uFF0F"});
            all('_', {"_", "-", ".", "\u2014", "\uFF3F", "\u30FB", "\u2581"});
            all(':', {":"});
            all('\\', {"\\"});
            for (const char c : std::string_view("\"#$%'()*+,;@[]^`{}~")) {
                made[std::string(1, c)] = {0, 0, '#', {}};
            }
            all(' ', {" ",      "\x01",   "\x07",   "\n",         "\t",     "\x1B",   "\x7F",
                      "\u0085", "\u009B", "\u00A0", "\u00AD",     "\u2000", "\u200B", "\u0301",
                      "\uFE0F", "\u3164", "\uFFFD", "\U000E0061", "\uE000", "\uFDD0"});
            for (char c = 0; c < ' '; ++c) { made[std::string(1, c)] = {0, 0, ' ', {}}; }
            for (const char* pair : {"\u0430a", "\u0435e", "\u03BFo", "\u0455s", "\u043Cm", "\u0131i",
                                     "\u13AAa", "\u2113l", "\u1D00a", "\u00EBe"}) {
                const std::string spelling(pair, std::string_view(pair).size() - 1);
                made[spelling] = {0, 0, 'a', {std::string(1, pair[spelling.size()])}};
            }
            made["\u03B7"] = {0, 0, 'a', {"n", "h"}};
            made["\u017F"] = {0, 0, 'a', {"s", "f"}};
            made["\uFB06"] = {0, 0, 'a', {"st"}};
            made["\u33C2"] = {0, 0, 'a', {"am"}};
            made["|"] = {0, 0, 'a', {"|"}};
            for (char c = 'a'; c <= 'z'; ++c) {
                const auto index = static_cast<std::uint32_t>(c - 'a');
                for (const std::string& spelling :
                     {std::string(1, c), std::string(1, static_cast<char>(c - 32)),
                      support::utf8(0xFF41 + index), support::utf8(0x1D41A + index)}) {
                    made[spelling] = {0, 0, 'a', {std::string(1, c)}};
                }
            }
            for (char c = '0'; c <= '9'; ++c) { made[std::string(1, c)] = {0, 0, 'a', {std::string(1, c)}}; }
            return made;
        }();
        return entries;
    }

    bool with_references() const { return tags_.defuse == Defuse::quoted; }

    static Piece known(const std::string& character, std::size_t begin, std::size_t end) {
        const auto found = table().find(character);
        Piece piece = found == table().end() ? Piece{} : found->second;
        piece.begin = begin;
        piece.end = end;
        return piece;
    }

    Piece piece(std::size_t at) const {
        const bool backslash = text_[at] == '\\';
        const bool ampersand = text_[at] == '&' && with_references();
        if (backslash || ampersand) {
            std::size_t plain = at + 1;
            while (backslash && plain < text_.size() && text_[plain] == '\\') { ++plain; }
            std::size_t end = plain;
            std::string character = backslash ? from_escape(end) : from_reference(end);
            if (backslash && character == "&" && with_references()) { character = from_reference(end); }
            Piece made = known(character, at, end);
            // one that stands for nothing
            if (character.empty()) { made.kind = ampersand || end > plain ? '#' : '\\'; }
            if (character == "none") { made.kind = ' '; }
            if (made.kind == '<' && !with_references()) { made.kind = '?'; }
            if (made.kind != '<' && end > plain) { made.second = plain; }
            return sequence(made, character);
        }
        const Piece made = unescaped(at);
        return sequence(made, std::string(text_.substr(at, made.end - at)));
    }

    // the longest character that is one
    Piece unescaped(std::size_t at) const {
        for (std::size_t size = 4; size > 0; --size) {
            const std::string character(text_.substr(at, size));
            if (character.size() != size || !coppice::detail::is_utf8(character)) { continue; }
            if (coppice::first_chars(character, 1) != character) { continue; }
            return known(character, at, at + size);
        }
        return {at, at + 1, ' ', {}};
    }

    // with what else of an ANSI sequence there is
    Piece sequence(Piece piece, const std::string& character) const {
        std::string_view rest = text_.substr(piece.end);
        const std::size_t introducer = character == "\x1B" ? 1 : 0;
        if (character != "\u009B" && (character != "\x1B" || !rest.starts_with("["))) { return piece; }
        rest = rest.substr(introducer, 32);
        const std::size_t last = rest.find_first_not_of(" !\"#$%'()*+,-./0123456789:;=>?");
        if (last == npos || static_cast<unsigned char>(rest[last]) > '~' || rest[last] < '@' ||
            rest[last] == '\\') {
            piece.unfinished = true;
        } else {
            piece.second = piece.end;
            piece.end += introducer + last + 1;
        }
        return piece;
    }

    // how many digits there are, `most` at most
    std::size_t digits(std::size_t at, bool hexadecimal, std::size_t most) const {
        const std::string rest = lower(std::string(text_.substr(at)));
        const std::size_t count = rest.find_first_not_of(hexadecimal ? "0123456789abcdef" : "0123456789");
        return std::min(most, count == npos ? rest.size() : count);
    }

    std::uint32_t value(std::size_t at, std::size_t count, int base) const {
        std::string number(text_.substr(at, count));
        number.erase(0, number.find_first_not_of('0'));
        if (number.empty()) { return 0; }
        return number.size() > 7 ? 0xFFFFFFFF : static_cast<std::uint32_t>(std::stoul(number, nullptr, base));
    }

    static std::string character_of(std::uint32_t code) {
        return code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? "none" : support::utf8(code);
    }

    bool stands_at(std::size_t at, std::string_view word) const {
        return lower(std::string(text_.substr(at, word.size()))) == word;
    }

    // what stands behind backslashes
    std::string from_escape(std::size_t& at) const {
        if (at < text_.size() && std::string_view("nrtbf").find(text_[at]) != npos) {
            ++at;
            return "\n";
        }
        const std::string_view rest = text_.substr(at);
        std::size_t first = at + 1;
        std::size_t count = rest.starts_with("u")   ? 4
                            : rest.starts_with("x") ? 2
                            : rest.starts_with("U") ? 8
                                                    : 0;
        if (count == 0) { return {}; }
        const bool braces = count < 8 && rest.substr(1).starts_with("{");
        if (braces) { count = digits(++first, true, 8); }
        if (count == 0 || digits(first, true, count) < count) { return {}; }
        if (braces && !text_.substr(first + count).starts_with("}")) { return {}; }
        at = first + count + (braces ? 1 : 0);
        std::uint32_t code = value(first, count, 16);
        const std::size_t next = text_.find_first_not_of('\\', at);
        if (code >= 0xD800 && code < 0xDC00 && next != at && next != npos && text_[next] == 'u' &&
            digits(next + 1, true, 4) == 4) {
            const std::uint32_t low = value(next + 1, 4, 16);
            if (low >= 0xDC00 && low < 0xE000) {
                code = 0x10000 + ((code - 0xD800) * 0x400) + (low - 0xDC00);
                at = next + 5;
            }
        }
        return character_of(code);
    }

    // what stands behind an ampersand
    std::string from_reference(std::size_t& at) const {
        static const std::map<std::string, std::string> names = {
            {"amp", "&"},        {"lt", "<"},         {"shy", "\u00AD"},     {"nbsp", "\u00A0"},
            {"laquo", "\u00AB"}, {"lang;", "\uFF1C"}, {"lsaquo;", "\u2039"}, {"zwj;", "\u200B"},
            {"zwnj;", "\u200B"}, {"lowbar;", "_"},    {"sol;", "/"},         {"langle;", "\uFF1C"},
            {"quot", "\""},      {"colon;", ":"}};
        if (text_.substr(at).starts_with("#")) {
            const bool hexadecimal = stands_at(at + 1, "x");
            const std::size_t first = at + (hexadecimal ? 2 : 1);
            const int base = hexadecimal ? 16 : 10;
            const std::size_t count = digits(first, hexadecimal, npos);
            if (count == 0) { return {}; }
            std::string character = character_of(value(first, count, base));
            at = first + count;
            if (text_.substr(at).starts_with(";")) {
                ++at;
            } else {
                for (std::size_t less = 1; less <= count; ++less) {
                    const std::string shorter = character_of(value(first, less, base));
                    if (shorter == "&" || shorter == "/" || known(shorter, 0, 0).kind == '<') {
                        character = shorter;
                        at = first + less;
                        break;
                    }
                }
            }
            if (character != "&") { return character; }
        } else {
            const auto found = std::find_if(names.begin(), names.end(),
                                            [&](const auto& name) { return stands_at(at, name.first); });
            if (found == names.end()) { return {}; }
            at += found->first.size();
            if (found->first.back() != ';' && text_.substr(at).starts_with(";")) { ++at; }
            if (found->second != "&") { return found->second; }
        }
        const std::size_t behind = at;
        std::string further = from_reference(at);
        if (further.empty()) { at = behind; }
        return further;
    }

    // Where names begin behind a bracket, empty where none ends: every reading at once.
    std::set<std::size_t> starts_behind(std::size_t from) const {
        std::set<std::size_t> starts;
        const bool note = is_name(from, tags_.note, starts);
        const bool recap = is_name(from, tags_.recap, starts);
        return note || recap ? starts : std::set<std::size_t>{};
    }

    struct State {
        std::size_t escape;  // the reading is within it up to `until`
        std::size_t until;
        std::size_t read;  // letters of the name, `outside` before
        auto operator<=>(const State&) const = default;
    };
    static constexpr std::size_t outside = npos;

    bool is_name(std::size_t from, std::string_view name, std::set<std::size_t>& starts) const {
        const std::string wanted = folded(std::string(name));
        bool found = false;
        std::set<std::size_t> begun;
        std::size_t last = npos;
        std::map<std::size_t, std::set<State>> at;
        at[from].insert({0, 0, outside});
        while (!at.empty() && at.begin()->first < text_.size()) {
            const auto [place, states] = *at.begin();
            at.erase(at.begin());
            for (const State& state : states) {
                const bool within = place < state.until;
                Piece now = within ? known(std::string(1, text_[place]), place, place + 1) : piece(place);
                if (within && text_[place] == '\x1B') { now.kind = ' '; }
                const std::size_t begin = within ? state.escape : place;
                if (now.unfinished && state.read == outside) { begun.insert(begin); }
                if (!within && now.second != 0) {
                    // skipped: one that is read on within it
                    if (text_[place] != '&' || state.read == outside) {
                        at[now.second].insert({place, now.end, state.read});
                    }
                }
                const bool goes_on =
                    now.end < text_.size() && std::string_view("abcdefghijklmnopqrstuvwxyz0123456789_")
                                                      .find(lower(std::string(1, text_[now.end]))) != npos;
                for (const std::size_t after : advanced(now, state.read, wanted)) {
                    if (state.read == outside && after != outside) { begun.insert(begin); }
                    if (after == wanted.size() && now.kind == 'a' && !goes_on && !found) {
                        found = true;
                        last = now.end;
                    }
                    const bool still = within && now.end < state.until;
                    at[now.end].insert({still ? state.escape : 0, still ? state.until : 0, after});
                }
            }
        }
        for (const std::size_t start : begun) {
            if (start < last) { starts.insert(start); }
        }
        return found;
    }

    static std::set<std::size_t> advanced(const Piece& now, std::size_t read, const std::string& wanted) {
        const bool before = read == outside;
        const auto kept = std::set<std::size_t>{read};
        switch (now.kind) {
            case ' ':
            case '\\': return kept;
            case '/':
            case '#': return before ? kept : std::set<std::size_t>{};
            case '_':
            case ':':
                if (before) { return now.kind == '_' ? kept : std::set<std::size_t>{}; }
                return read < wanted.size() && wanted[read] == '_' ? kept : std::set<std::size_t>{};
            case 'a': break;
            default: return {};
        }
        std::set<std::size_t> after;
        for (const std::string& reading : now.letters) {
            std::size_t to = before ? 0 : read;
            bool fits = true;
            for (const char c : folded(reading)) {
                while (to < wanted.size() && wanted[to] == '_') { ++to; }
                fits = fits && to < wanted.size() && wanted[to] == c;
                ++to;
            }
            if (fits) { after.insert(to); }
        }
        if (before && now.letters.front() == "|") { after.insert(outside); }
        return after;
    }

    std::string as_quoted() const {
        std::string out(text_);
        const std::vector<Tag> found = tags();
        for (std::size_t i = found.size(); i-- > 0;) { out.insert(found[i].name, "quoted:"); }
        return out;
    }

    std::string as_entity() const {
        std::vector<Piece> characters;
        for (std::size_t at = 0; at < text_.size(); at = characters.back().end) {
            characters.push_back(unescaped(at));
        }
        std::map<std::size_t, std::string> instead;  // of the character that begins there
        for (const Tag& tag : tags()) {
            instead[tag.bracket.begin] = "&lt;";
            const bool plain = text_[tag.bracket.begin] == '<';
            for (const Piece& end : characters) {
                if (end.begin < tag.bracket.end || end.kind != '>') { continue; }
                if (plain && text_[end.begin] != '>') { continue; }
                instead[end.begin] = "&gt;";
                for (std::size_t at = tag.bracket.begin; at < end.begin; ++at) {
                    if (text_[at] == '<') { instead[at] = "&lt;"; }
                }
                break;
            }
        }
        std::string out;
        for (const Piece& piece : characters) {
            const auto found = instead.find(piece.begin);
            out += found != instead.end() ? found->second
                                          : std::string(text_.substr(piece.begin, piece.end - piece.begin));
        }
        return out;
    }

    std::string_view text_;
    const FenceTags& tags_;
    std::vector<Piece> pieces_{};
};

// Texts that are nearly made of tags.
class RandomText {
public:
    explicit RandomText(std::uint32_t seed_of_it) : engine_(seed_of_it) {}

    std::string text(const FenceTags& tags) {
        std::string out;
        for (std::size_t i = below(4) + 1; i-- > 0;) {
            if (below(3) == 0) { out += noise(); }
            std::string tag = bracket();
            while (below(3) == 0) {
                const std::size_t kind = below(3);
                tag += kind == 0 ? slash() : kind == 1 ? blank() : punctuation();
            }
            for (const char c : below(2) == 0 ? tags.note : tags.recap) {
                tag += c == '_' ? separator() : letter(c);
                if (below(8) == 0) { tag += blank(); }
                if (below(60) == 0) { tag += noise(); }
            }
            // no part of a longer character or of a number, the rest of which might be another one
            const std::size_t from = below(8 * tag.size());
            if (from < tag.size() && static_cast<unsigned char>(tag[from]) < 0x80 &&
                tag.substr(from < 12 ? 0 : from - 12, std::min<std::size_t>(from, 12)).find_first_of("&\\") ==
                    npos) {
                tag.erase(from, 1);
            }
            out += tag;
            if (below(2) == 0) { out += noise(); }
            if (below(2) == 0) { out += one_of({">", ">", "\uFF1E", "\u00BB"}); }
        }
        return out;
    }

private:
    std::size_t below(std::size_t limit) { return engine_() % limit; }
    std::string one_of(std::initializer_list<const char*> list) { return list.begin()[below(list.size())]; }

    std::string bracket() {
        if (below(2) == 0) { return "<"; }
        return one_of({"\uFF1C",   "\u00AB",         "\u3008",         "\u2039",      "\u1438",
                       "\u02C2",   "\U0001D236",     "&lt;",           "&LT",         "&#60;",
                       "&amp;lt;", "&amp;amp;#x3C;", "&#x3c",          "&#60",        "&#38;lt;",
                       "\\u003c",  "&lang;",         "&laquo",         "&#x2039;",    "\\x3c",
                       "\\u{3c}",  "\\U0000003C",    "\\ud834\\uDE36", "\\u0026#60;", "\\\\\\u003C"});
    }
    std::string slash() {
        return one_of({"/", "\\", "!", "?", "\u2044", "\uFF0F", "\\/", "&#x2F;", "&amp;#47", "\\u002F"});
    }
    std::string punctuation() {
        return one_of({"|", "\"", "'",      "(",        "[",       "{",       "%",     "--", "_", "-", ".",
                       ":", "&",  "&quot;", "&lowbar;", "\\u005f", "\\u0026", "&amp;", "#",  ";", "`", "\\"});
    }
    std::string blank() {
        if (below(3) == 0) {
            return one_of({"\\n",      "\\\\t",   "\\u0001",  "\\u200b",    "\\x07",     "\\u{AD}",
                           "\\ud800",  "\\",      "\x1B[31m", "\x1B[0;1m",  "\\u001b[K", "\u009B2J",
                           "&#27;[1A", "\x1B[",   "\x1B[4",   "&shy;",      "&NBSP;",    "&zwj;",
                           "&zwnj;",   "&#8203;", "&#0",      "&#x999999;", "\uE000",    "\uFDD0"});
        }
        if (below(12) == 0) { return "\0"s; }
        return one_of({" ", "\n", "\x1B", "\x7F", "\u0085", "\u00A0", "\u00AD", "\u200B", "\u0301", "\uFE0F",
                       "\u3164", "\uFFFD", "\U000E0061", "\x80", "\xFF", "\xE2\x80", "\xC0"});
    }
    std::string separator() {
        if (below(2) == 0) { return "_"; }
        return one_of({"", "-", ".", ":", "__", "\u2014", "\uFF3F", " ", "- -", "\\_", "\\u005f", "&#95;",
                       "&#x5F", "&lowbar;", "\u30FB", "\u2581", "&colon;"});
    }
    std::string letter(char c) {
        const auto index = static_cast<std::uint32_t>(c - 'a');
        switch (below(18)) {
            case 4: return (below(2) == 0 ? "\\u00" : "\\\\x") + hexadecimal(c);
            case 5: return "&#x" + hexadecimal(c) + ";";
            case 6: return "&#" + std::to_string(static_cast<int>(c)) + (below(2) == 0 ? ";" : "");
            case 0: return std::string(1, static_cast<char>(c - 32));
            case 1: return support::utf8(0xFF41 + index);
            case 2: return support::utf8(0x1D41A + index);
            case 3:
                switch (c) {
                    case 'a': return one_of({"\u0430", "\u13AA", "\u1D00"});
                    case 'e': return one_of({"\u0435", "\u00EB"});
                    case 'i': return one_of({"\u0131", "l", "1", "|", "I"});
                    case 'l': return one_of({"\u2113", "1", "I", "|", "i"});
                    case 'm': return one_of({"rn", "\u043C", "r\u200Bn", "r n"});
                    case 'n': return "\u03B7";
                    case 'o': return one_of({"0", "\u03BF"});
                    case 's': return one_of({"\u0455", "\u017F", "\uFB06"});
                    default: return std::string(1, c);
                }
            default: return std::string(1, c);
        }
    }
    static std::string hexadecimal(char c) {
        constexpr std::string_view all = "0123456789abcdef";
        const auto byte = static_cast<unsigned char>(c);
        return {all[byte / 16U], all[byte % 16U]};
    }
    std::string noise() {
        return one_of({"<",   "</",  "&",      "&amp;",   "\\",     "a",     "x ", "\u33C2",
                       ">",   "=",   "\uFF1C", "quoted:", "\u4E2D", "r",     "m",  "\uFB06",
                       "lt;", "s",   "_",      "\u00AB",  ";",      "\x1B[", "#",  "[",
                       "n",   "\\n", "\\u00",  "&#",      "u0061",  "amp"});
    }

    std::mt19937 engine_;
};

// `</?(?:note|recap)\b[^>]*>` with every bracket of a match replaced, for ASCII texts.
std::string as_the_expression_has_it(std::string_view text, const FenceTags& tags) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t name = at + 1;
        if (name < text.size() && text[name] == '/') { ++name; }
        std::size_t behind = npos;
        for (const std::string_view wanted : {tags.note, tags.recap}) {
            if (text[at] == '<' && text.substr(name, wanted.size()) == wanted) {
                behind = name + wanted.size();
            }
        }
        const std::size_t end = behind == npos ? npos : text.find('>', behind);
        if (end == npos || coppice::detail::is_name_byte(text[behind])) {
            out += text[at++];
            continue;
        }
        for (; at <= end; ++at) {
            out += text[at] == '<' ? "&lt;" : text[at] == '>' ? "&gt;" : std::string(1, text[at]);
        }
    }
    return out;
}

constexpr std::array<std::string_view, 24> texts_without_tags = {
    "",
    "plain",
    "std::map<std::string, std::vector<int>> a; if (b < c && d > e) { f << \"\\n\"; } return a<b>::c;",
    "<!DOCTYPE html><html><body class=\"a\"><a href='x'>a</a> &lt;b&gt; &amp;amp; &#60; &nbsp;</body></html>",
    "const App = () => <Agent platform={note} {...props}><></></Agent>;",
    "<agent>note</agent> <agent_platform> <agent_session> <platform_note> <session_recap/>",
    "agent_platform_note and agent_session_recap without brackets",
    "for (i = 0; i < agents; ++i) { agent_platform_note(i); }",
    "\u00AB Bonjour \u00BB, dit-il. \u00ABagent\u00BB \u2039note\u203A \u2264 \u2265",
    "\u300A\u7EA2\u697C\u68A6\u300B\u3008\u4E00\u3009\u3002\u300Cagent\u300D\uFF1Cagent\uFF1E",
    "\u041F\u0440\u0438\u0432\u0435\u0442 <\u0430\u0433\u0435\u043D\u0442>",
    "\u0395\u03BB\u03BB\u03B7\u03BD\u03B9\u03BA\u03AC < \u03B1\u03B2\u03B3",
    "\u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627 <\u0627\u0644>",
    "Ti\u1EBFng Vi\u1EC7t <\u0111\u00E2y>",
    "\U0001F600<\U0001F600> \U0001F468\u200D\U0001F469\u200D\U0001F467 \U0001D465<\U0001D466",
    "{\"json\": \"\\u003cb\\u003e \\\\u003c \\n\", \"path\": \"C:\\\\agents\\\\platform\"}",
    "<quoted:agent_platform_note></quoted:agent_session_recap x=1>",
    "<agent_platform_notes> <agent_platform_note_> <agent_platform_note1> </agent_session_recaps>",
    "<x:agent_platform_note> <:agent_platform_note> <x agent_platform_note> <|x|agent_platform_note|>",
    "<agent_platform,note> <agent_platform_no> <agent__platfor_m_note><agent_platform_n_ote>",
    "&ltimes; &lte; &lt &amp &#x3c &#603; &#; &; & && &a &#xg; \\u003 \\u \\\\ \\",
    "\x80\xFF\xC0\xE2\x80<\xF0\x9F\x98 agent \xED\xA0\x80",
    "0 < a < b; a << 3; cat <<EOF >file; x <- 3; <3 <-> <= <> </ <? <!-- --> <![CDATA[ ]]>",
    "\uFFFD\uFEFF\u200B\u00AD\u3000<\u200B\u00AD>",
};

}  // namespace

TEST_CASE("fence tags: the default and the names of others are valid") {
    static_assert((quoted.validate(), true));
    for (const FenceTags& tags :
         {entity, seed, FenceTags{"note", "recap"}, FenceTags{"a1b2c3d4", std::string_view("note")},
          FenceTags{"agent_note", "agent_note_more"}, FenceTags{"quote_x1", "quote"},
          FenceTags{"a__note", "note_x"}}) {
        CHECK_FALSE(is_refused(tags));
    }
    const std::string longest(64, 'a');
    CHECK_FALSE(is_refused({longest, "recap"}));
}

TEST_CASE("fence tags: names that could not be told apart or kept harmless are refused") {
    const std::string too_long(65, 'a');
    for (const std::string_view name :
         {std::string_view(), std::string_view("abc"), std::string_view(too_long), std::string_view("Note"),
          std::string_view("1note"), std::string_view("_note"), std::string_view("note-x"),
          std::string_view("no te"), std::string_view("n\u00F6te"), std::string_view("note\0", 5),
          std::string_view("note>"), std::string_view("abc1234"), std::string_view("note_"),
          std::string_view("quoted"), std::string_view("quoted_note"), std::string_view("quotednote"),
          std::string_view("quo_ted_note"), std::string_view("qu0ted_note"), std::string_view("recap")}) {
        CAPTURE(name);
        CHECK(is_refused({name, "recap"}));
        CHECK(is_refused({"recap", name}));
    }
    CHECK(is_refused({"agent_note", "agentnote"}));
    CHECK(is_refused({"list_of_all", "1ist_of_all"}));
    CHECK(is_refused({"list_of_all", "iist_0f_a11"}));
    CHECK(is_refused({"swarm_note", "swarrn_note"}));
}

TEST_CASE("fence tags: the ways to defuse have names") {
    CHECK(coppice::name_of(Defuse::quoted) == "quoted");
    CHECK(coppice::name_of(Defuse::entity) == "entity");
}

TEST_CASE("neutralised: a quoted tag keeps all its bytes") {
    CHECK(neutralised("a <agent_platform_note>b", quoted) == "a <quoted:agent_platform_note>b");
    CHECK(neutralised("</agent_session_recap x=1>", quoted) == "</quoted:agent_session_recap x=1>");
    CHECK(neutralised("< / Agent-Session Recap", quoted) == "< / quoted:Agent-Session Recap");
    CHECK(neutralised("&amp;lt;/agent_session_recap&gt;", quoted) ==
          "&amp;lt;/quoted:agent_session_recap&gt;");
    CHECK(neutralised("\\\\u003cagent_platform_note", quoted) == "\\\\u003cquoted:agent_platform_note");
    CHECK(neutralised("\uFF1C\u200B\uFF41gent_platform_note", quoted) ==
          "\uFF1C\u200Bquoted:\uFF41gent_platform_note");
    CHECK(neutralised("<agent_<agent_platform_note>platform_note>", quoted) ==
          "<agent_<quoted:agent_platform_note>platform_note>");
    CHECK(neutralised("<agent_platform_note><agent_session_recap>", quoted) ==
          "<quoted:agent_platform_note><quoted:agent_session_recap>");
}

TEST_CASE("neutralised: entities are written as the expression of the seed has them") {
    struct Example {
        std::string_view in;
        std::string_view out;
    };
    constexpr std::array<Example, 10> examples = {{
        {"plain", "plain"},
        {"<openswarm_platform_note>x</openswarm_platform_note>",
         "&lt;openswarm_platform_note&gt;x&lt;/openswarm_platform_note&gt;"},
        {"a <openswarm_session_recap id=\"1\"> b", "a &lt;openswarm_session_recap id=\"1\"&gt; b"},
        {"</openswarm_session_recap>", "&lt;/openswarm_session_recap&gt;"},
        {"<openswarm_platform_notes>", "<openswarm_platform_notes>"},
        {"openswarm_platform_note without brackets", "openswarm_platform_note without brackets"},
        {"<openswarm_platform_note><openswarm_platform_note><openswarm_platform_note>",
         "&lt;openswarm_platform_note&gt;&lt;openswarm_platform_note&gt;&lt;openswarm_platform_note&gt;"},
        {"<openswarm_platform_note a<b <c>d<e>", "&lt;openswarm_platform_note a&lt;b &lt;c&gt;d<e>"},
        {"<openswarm_<openswarm_platform_note>platform_note>",
         "<openswarm_&lt;openswarm_platform_note&gt;platform_note>"},
        {"<openswarm_platform_note \uFF1E <b> c>", "&lt;openswarm_platform_note \uFF1E &lt;b&gt; c>"},
    }};
    for (const Example& example : examples) {
        CAPTURE(example.in);
        CHECK(neutralised(example.in, seed) == example.out);
    }
    std::mt19937 engine(7);
    constexpr std::array<std::string_view, 12> pieces = {"<openswarm_platform_note",
                                                         "</openswarm_session_recap",
                                                         ">",
                                                         ">",
                                                         "x ",
                                                         "<b",
                                                         "s",
                                                         "=",
                                                         "&lt;",
                                                         "\uFF1E",
                                                         "/",
                                                         "_"};
    std::size_t wrong = 0;
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (std::size_t i = engine() % 10; i-- > 0;) { text += pieces[engine() % pieces.size()]; }
        text += ">";
        wrong += neutralised(text, seed) != as_the_expression_has_it(text, seed);
    }
    CHECK(wrong == 0);
}

TEST_CASE("neutralised: what the expression of the seed misses is written as entities too") {
    CHECK(neutralised("a <openswarm_platform_note b", seed) == "a &lt;openswarm_platform_note b");
    CHECK(neutralised("<OpenSwarm Platform Note <b>c<d>", seed) ==
          "&lt;OpenSwarm Platform Note &lt;b&gt;c<d>");
    CHECK(neutralised("\uFF1Copenswarm_platform_note\uFF1E <b>", seed) ==
          "&lt;openswarm_platform_note&gt; <b>");
    CHECK(neutralised("\uFF1Copenswarm_platform_note> <b>", seed) == "&lt;openswarm_platform_note&gt; <b>");
    CHECK(neutralised("\uFF1Copenswarm_platform_note b", seed) == "&lt;openswarm_platform_note b");
    // one tag within the other, which ends before it
    CHECK(neutralised("<openswarm_platform_note \uFF1Copenswarm_session_recap\uFF1E <b> <c>", seed) ==
          "&lt;openswarm_platform_note &lt;openswarm_session_recap&gt; &lt;b&gt; <c>");
    CHECK(neutralised("\u00ABopenswarm_platform_note <openswarm_session_recap \u00BB <b> \u00BB", seed) ==
          "&lt;openswarm_platform_note &lt;openswarm_session_recap &gt; &lt;b&gt; \u00BB");
}

TEST_CASE("neutralised: entities know no escaped brackets") {
    for (const std::string_view text : {"&lt;agent_platform_note&gt;", "&amp;lt;/agent_session_recap&gt;",
                                        "\\u003cagent_platform_note\\u003e", "&#60;agent_platform_note>"}) {
        CAPTURE(text);
        CHECK(find_tag(text, entity) == npos);
        CHECK(neutralised(text, entity) == text);
        CHECK(find_tag(text, quoted) == 0);
    }
}

TEST_CASE("neutralised: every forgery is found where it stands and stays harmless") {
    for (const FenceTags& names : {quoted, seed, FenceTags{"memo", "list_of_rooms"}}) {
        for (const Defuse defuse : {Defuse::quoted, Defuse::entity}) {
            const FenceTags tags{names.note, names.recap, defuse};
            for (const std::string_view name : {tags.note, tags.recap}) {
                const std::vector<Forgery> all = support::forgeries(name);
                CHECK(all.size() >= 60);
                for (const Forgery& forgery : all) {
                    CAPTURE(forgery.name);
                    CAPTURE(name);
                    const bool counts = defuse == Defuse::quoted || !forgery.escaped;
                    const bool found = find_tag(forgery.text, tags) != npos;
                    CHECK(found == counts);
                    const bool kept = keeps_its_word(forgery.text, tags);
                    CHECK(kept);
                    const bool agrees_with_all = neutralised(forgery.text, tags) != forgery.text;
                    CHECK(agrees_with_all == counts);
                }
            }
        }
    }
}

TEST_CASE("neutralised: forgeries are found at any place of a long text") {
    std::size_t wrong = 0;
    for (const Forgery& forgery : support::forgeries(quoted.note)) {
        const std::size_t start = find_tag(forgery.text, quoted);
        const std::string alone = neutralised(forgery.text, quoted);
        for (std::size_t before = 0; before < 140; before += before < 70 ? 1 : 13) {
            for (const std::string_view filling : {"x", "\u4E2D"}) {
                const std::string head = repeated(filling, before);
                for (const std::size_t behind : {std::size_t{0}, std::size_t{200}}) {
                    // not another letter of the name
                    const std::string tail = behind == 0 ? "" : "\n" + std::string(behind, ' ') + "x";
                    wrong += find_tag(head + forgery.text + tail, quoted) != head.size() + start;
                    wrong += neutralised(head + forgery.text + tail, quoted) != head + alone + tail;
                }
            }
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("neutralised: every bracket of the table opens a tag at any place of a block") {
    std::size_t missed = 0;
    for (const char32_t bracket : coppice::detail::opening_brackets) {
        for (std::size_t before = 0; before < 130; ++before) {
            const std::string text =
                std::string(before, ' ') + support::utf8(bracket) + "agent_platform_note";
            missed += find_tag(text, quoted) != before;
            missed += find_tag(text + std::string(200, ' '), entity) != before;
        }
    }
    CHECK(missed == 0);
}

TEST_CASE("neutralised: every look-alike stands for its letter, and every skippable for nothing") {
    std::size_t missed = 0;
    for (char32_t code = 1; code <= 0x10FFFF; ++code) {
        if (code >= 0xD800 && code < 0xE000) { continue; }
        namespace detail = coppice::detail;
        const char letter = detail::letter_in(detail::letter_runs, code);
        const std::string character = support::utf8(code);
        std::string text;
        if (letter != '\0') {
            const std::string name = "zoo_" + std::string(1, letter == '|' ? 'l' : letter) + "_zoo";
            const FenceTags tags{name, "another_name"};
            missed += find_tag("<zoo" + character + "zoo>", tags) != 0;
        } else if (detail::contains(detail::skippables, code)) {
            missed += find_tag("<" + character + "agent" + character + "_platform_no" + character + "te",
                               quoted) != 0;
        } else if (detail::contains(detail::separators, code)) {
            missed +=
                find_tag("<agent" + character + "platform" + character + character + "note>", quoted) != 0;
        } else if (detail::contains(detail::slashes, code)) {
            missed += find_tag("<" + character + "agent_platform_note>", quoted) != 0;
        }
    }
    CHECK(missed == 0);
}

TEST_CASE("neutralised: a look-alike of two letters stands for either") {
    constexpr FenceTags first{"fuse_hub_vane_x", "another_name"};
    constexpr FenceTags second{"suse_nub_nane_x", "another_name"};
    for (const FenceTags& tags : {first, second}) {
        CHECK(find_tag("<\u017Fuse_\u03B7ub_\u03BDane_x>", tags) == 0);
        CHECK(find_tag("<\u017Fuse_\u03B7ub_\u03B7ane_x>", tags) == (tags.note == second.note ? 0 : npos));
    }
}

TEST_CASE("neutralised: texts without tags stay as they are") {
    for (const std::string_view text : texts_without_tags) {
        CAPTURE(text);
        for (const FenceTags& tags : {quoted, entity}) {
            CHECK(find_tag(text, tags) == npos);
            CHECK(neutralised(text, tags) == text);
            const std::string often = repeated(std::string(text) + "\n", 40);
            const bool kept = neutralised(often, tags) == often;
            CHECK(kept);
        }
    }
}

TEST_CASE("neutralised: a letter, a digit or an underscore makes it another name") {
    for (const char behind : std::string_view("aZ09_")) {
        CAPTURE(behind);
        CHECK(find_tag("<agent_platform_note" + std::string(1, behind), quoted) == npos);
    }
    for (const std::string_view behind :
         {"", ">", "/", ".", "-", ":", " ", "\0", "\u00E9", "\uFF3F", "\xFF", "<", "&"}) {
        CAPTURE(behind);
        CHECK(find_tag("<agent_platform_note" + std::string(behind), quoted) == 0);
    }
    // of two names, one of which begins with the other
    constexpr FenceTags pair{"agent_note", "agent_note_more"};
    CHECK(find_tag("<agent_note>", pair) == 0);
    CHECK(find_tag("<agent_note_more>", pair) == 0);
    CHECK(find_tag("<agentnotemore>", pair) == 0);
    CHECK(find_tag("<agent_note_mores>", pair) == npos);
    CHECK(find_tag("<agent_notes>", pair) == npos);
}

TEST_CASE("neutralised: separators stand for underscores only") {
    for (const std::string_view text :
         {"<a-gent_platform_note>", "<agent_plat_form_note>", "<agent_platform_r_note>",
          "<:agent_platform_note>", "<agent_platforr_n_note>", "<agent/platform/note>",
          "<agent,platform,note>", "<agent_platform_note_>", "<agent|platform|note>",
          "<agent_\\\"platform_note>", "<agent&amp;_platform_note>", "<agent_platform_\\u0078note>",
          "<agent_platform_&#x78;note>"}) {
        CAPTURE(text);
        CHECK(find_tag(text, quoted) == npos);
    }
}

TEST_CASE(
    "neutralised: every ASCII punctuation but brackets, colon and equals sign may stand before the name") {
    for (char c = '!'; c < 0x7F; ++c) {
        if (coppice::detail::is_name_byte(c) && c != '_') { continue; }
        CAPTURE(c);
        const std::string text = std::string("<") + c + c + "agent_platform_note";
        const bool none = c == ':' || c == '>' || c == '=';
        CHECK(find_tag(text, quoted) == (none ? npos : c == '<' ? 2 : 0));
        CHECK(find_tag(text, entity) == (none || c == '&' ? npos : c == '<' ? 2 : 0));
    }
}

TEST_CASE("neutralised: an escape is written behind `quoted:` as a whole") {
    CHECK(neutralised("<\\u0061gent_platform_note>", quoted) == "<quoted:\\u0061gent_platform_note>");
    CHECK(neutralised("<&#97;gent_platform_note>", quoted) == "<quoted:&#97;gent_platform_note>");
    CHECK(neutralised("<agent&#95;platform&#95note>", quoted) == "<quoted:agent&#95;platform&#95note>");
    CHECK(neutralised("</\\nagent_platform_note>", quoted) == "</\\nquoted:agent_platform_note>");
    CHECK(neutralised("<|agent_platform_note|>", quoted) == "<|quoted:agent_platform_note|>");
    CHECK(neutralised("<\x1B[1magent_platform_note>", quoted) == "<\x1B[1mquoted:agent_platform_note>");
    // what ends here ends no sequence
    CHECK(neutralised("<\x1B[\uFF41gent_platform_note>", quoted) == "<quoted:\x1B[\uFF41gent_platform_note>");
    CHECK(neutralised("<\x1B[agent_platform_note>", quoted) == "<quoted:\x1B[agent_platform_note>");
}

TEST_CASE("neutralised: a name that begins with an escape's letter is read in both ways") {
    constexpr FenceTags names{"note", "list_of_rooms"};
    constexpr FenceTags others{"uab12_room", "shy_reader"};
    for (const std::string_view text :
         {"<\\note>", "<\\\\note>", "<\\nnote>", "<\\n\\note>", "<n\\note>", "<|ist_of_rooms>",
          "<|list_of_rooms>", "<||list_of_rooms>", "<list_of\\rooms>", "<list_of\\r_rooms>", "<\x1B[note>",
          "<\x1B[mnote>", "<\x1B[\\note>"}) {
        CAPTURE(text);
        for (const Defuse defuse : {Defuse::quoted, Defuse::entity}) {
            const FenceTags tags{names.note, names.recap, defuse};
            CHECK(find_tag(text, tags) == 0);
            const bool kept = keeps_its_word(std::string(text), tags);
            CHECK(kept);
        }
    }
    CHECK(neutralised("<\\note>", names) == "<quoted:\\note>");
    for (const std::string_view text : {"<\\uab12_room>", "<&shy_reader>", "<&shy;shy_reader>"}) {
        CAPTURE(text);
        CHECK(find_tag(text, others) == 0);
    }
    // a name that goes on with what ends a sequence, in front of itself
    constexpr FenceTags twice{"uoted_uoted", "list_of_rooms"};
    for (const std::string& text :
         {"<\x1B[uoted-uoted>"s, "<\x1B[\uFF55oted-uoted>"s, "<\x1B[;\\u0075oted-uoted>"s}) {
        const bool kept = keeps_its_word(text, twice);
        CHECK(kept);
        CHECK(find_tag(text, twice) == 0);
    }
}

TEST_CASE("neutralised: a number is read to its semicolon") {
    CHECK(find_tag("&#x2F1;agent_platform_note>", quoted) == 0);
    CHECK(find_tag("&#603;agent_platform_note>", quoted) == npos);
    CHECK(find_tag("&#60;agent_platform_note>", quoted) == 0);
    CHECK(find_tag("&#x3cagent_platform_note>", quoted) == 0);
    CHECK(find_tag("<&#x1" + std::string(3000, '0') + ";agent_platform_note>", quoted) == 0);
}

TEST_CASE("neutralised: what is there already stays") {
    for (const FenceTags& tags : {quoted, entity}) {
        std::string out = "<agent_";
        append_neutralised(out, "x<agent_platform_note>", tags);
        CHECK(out.compare(0, 8, "<agent_x") == 0);
    }
}

TEST_CASE("neutralised: two harmless texts may form a tag where they meet") {
    const std::string a = neutralised("<agent_platform", quoted);
    const std::string b = neutralised("note>", quoted);
    const std::string whole = a + "\n" + b;
    CHECK(find_tag(a, quoted) == npos);
    CHECK(find_tag(b, quoted) == npos);
    CHECK(find_tag(whole, quoted) == 0);
    CHECK(find_tag(neutralised(whole, quoted), quoted) == npos);
}

TEST_CASE("neutralised: random texts come out as the slow reading has them") {
    constexpr std::array<FenceTags, 6> all = {quoted,
                                              entity,
                                              seed,
                                              FenceTags{"astral_moons", "strict_form", Defuse::quoted},
                                              FenceTags{"amp_lt_list", "ltd_host_x", Defuse::quoted},
                                              FenceTags{"form_r", "formrn_a", Defuse::entity}};
    RandomText random(20240607);
    std::size_t with_tags = 0;
    std::size_t wrong = 0;
    std::string first_wrong;
    constexpr std::size_t rounds = 60000;
    for (std::size_t round = 0; round < rounds; ++round) {
        const FenceTags& tags = all[round % all.size()];
        const std::string text = random.text(tags);
        const Oracle oracle(text, tags);
        const std::vector<Oracle::Tag> found = oracle.tags();
        with_tags += !found.empty();
        const bool same_start = find_tag(text, tags) == (found.empty() ? npos : found.front().bracket.begin);
        const bool right =
            same_start && neutralised(text, tags) == oracle.written() && keeps_its_word(text, tags);
        if (!right && first_wrong.empty()) { first_wrong = text; }
        wrong += !right;
    }
    CAPTURE(first_wrong);
    CHECK(wrong == 0);
    // both kinds of texts are many
    CHECK(with_tags > rounds / 4);
    CHECK(with_tags < rounds - rounds / 8);
}

// Each would take hours if a part of the text were read again for every piece of it.
TEST_CASE("neutralised: long hostile texts are read once") {
    struct Hostile {
        std::string_view head;
        std::string_view piece;
    };
    constexpr std::size_t count = 200'000;
    for (const Hostile& hostile : std::initializer_list<Hostile>{{"", "<"},
                                                                 {"", "\uFF1C"},
                                                                 {"", "&"},
                                                                 {"", "\\"},
                                                                 {"<", "\\"},
                                                                 {"", "&amp;"},
                                                                 {"&", "amp;"},
                                                                 {"\\u0026", "amp"},
                                                                 {"", "&amp;amp;&#38;#00"},
                                                                 {"&#", "0"},
                                                                 {"&#x", "0"},
                                                                 {"", "&#0"},
                                                                 {"", "\\\\u003"},
                                                                 {"", "<agent_platform_"},
                                                                 {"<", "/"},
                                                                 {"<", " "},
                                                                 {"<", "\u0301"},
                                                                 {"<", "\xF0\x9F"},
                                                                 {"<agent", "_"},
                                                                 {"<agent", "\u200B"},
                                                                 {"", "<a\u200B"},
                                                                 {"", "<agent_platform_note "},
                                                                 {"", "\uFF1Cagent_platform_note "},
                                                                 {"", "\u00ABagent_platform_note<"},
                                                                 {">", "\uFF1Cagent_platform_note"},
                                                                 {"", "<agent_platform_note>"},
                                                                 {"", "\uFF1Cagent_platform_note\uFF1E"},
                                                                 {"\uFF1Cagent_platform_note", "\u00BB<"},
                                                                 {"", "&lt;agent_session_recap"},
                                                                 {"", "<\\n"},
                                                                 {"<", "\\n"},
                                                                 {"<", "\\\\u200b"},
                                                                 {"<", "\\ud834"},
                                                                 {"<", "\\ud834\\\\"},
                                                                 {"<", "\x1B["},
                                                                 {"<", "\x1B[0m"},
                                                                 {"<\x1B[", "0"},
                                                                 {"<", "&shy;"},
                                                                 {"<", "&#1"},
                                                                 {"<&#1", "1"},
                                                                 {"<&#60", "1"},
                                                                 {"<", "|"},
                                                                 {"<", "|\u0301"},
                                                                 {"", "<|"},
                                                                 {"", "<a\\u0067"},
                                                                 {"", "<\\u0061gent_platform_note"},
                                                                 {"<agent_platform_note", "<"}}) {
        CAPTURE(hostile.head);
        CAPTURE(hostile.piece);
        const std::string text = std::string(hostile.head) + repeated(hostile.piece, count);
        for (const FenceTags& tags : {quoted, entity}) {
            const bool kept = keeps_its_word(text, tags);
            CHECK(kept);
        }
    }
}
