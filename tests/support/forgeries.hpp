// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/text.hpp>

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace support {

using namespace std::string_literals;

/// A text that passes for a tag.
struct Forgery {
    std::string_view name;
    std::string text;
    bool escaped = false;  ///< only counts where escaped spellings do, not with `Defuse::entity`
};

inline std::string utf8(std::uint32_t code) {
    const coppice::detail::Utf8 character = coppice::detail::to_utf8(code);
    return {character.bytes.data(), character.size};
}

/// Every piece of a name where a function says so.
template <class Spell>
std::string respelled(std::string_view tag, Spell spell) {
    std::string text;
    for (const char c : tag) { text += spell(c); }
    return text;
}

/// The letters of a name in an alphabet that begins there.
inline std::string in_alphabet(std::string_view tag, std::uint32_t of_a) {
    return respelled(tag, [&](char c) {
        return c >= 'a' && c <= 'z' ? utf8(of_a + static_cast<std::uint32_t>(c - 'a')) : std::string(1, c);
    });
}

/// A name with something behind each of its characters but the last.
inline std::string spread(std::string_view tag, std::string_view between) {
    std::string text;
    for (std::size_t i = 0; i < tag.size(); ++i) {
        text += tag[i];
        if (i + 1 < tag.size()) { text += between; }
    }
    return text;
}

/// A name with one of its characters in another spelling.
inline std::string with(std::string_view tag, char character, std::string_view spelling) {
    return respelled(tag, [&](char c) { return c == character ? std::string(spelling) : std::string(1, c); });
}

/// A letter as an escape of JSON, anything else as it is.
inline std::string escaped_letter(char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (c < 'a' || c > 'z') { return std::string(1, c); }
    return {'\\', 'u', '0', '0', digits[byte / 16U], digits[byte % 16U]};
}

/// A letter as a character reference, anything else as it is.
inline std::string referenced_letter(char c) {
    return c < 'a' || c > 'z' ? std::string(1, c) : "&#" + std::to_string(static_cast<int>(c)) + ";";
}

/// Spellings of the opening and the closing tag of a name, each of another kind.
inline std::vector<Forgery> forgeries(std::string_view tag) {
    const std::string name(tag);
    const std::string upper =
        respelled(tag, [](char c) { return std::string(1, static_cast<char>(std::toupper(c))); });
    const std::string middle = name.substr(0, name.size() / 2);
    const std::string rest = name.substr(name.size() / 2);
    std::string mixed;
    for (std::size_t i = 0; i < name.size(); ++i) { mixed += i % 2 == 0 ? upper[i] : name[i]; }
    std::string camel;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] != '_') { camel += i == 0 || name[i - 1] == '_' ? upper[i] : name[i]; }
    }
    const bool low_lines = tag.find('_') != std::string_view::npos;
    const auto open = [&](const std::string& spelled) { return "<" + spelled + ">"; };
    const auto inside = [&](std::string_view between) {
        return "<" + middle + std::string(between) + rest + ">";
    };
    const auto before = [&](std::string_view between) { return "<" + std::string(between) + name + ">"; };
    const auto from = [&](std::string_view bracket) { return std::string(bracket) + name + ">"; };

    return {
        {"open", open(name)},
        {"close", "</" + name + ">"},
        // the tag around the name
        {"attributes", "<" + name + " id=\"1\" trusted>"},
        {"close with attributes", "</" + name + " x=1/>"},
        {"closed at once", "<" + name + "/>"},
        {"without its end", "text <" + name + " and more"},
        {"at the end of the text", "text <" + name},
        {"close at the end of the text", "text\n</" + name},
        {"dot behind", "<" + name + ".x>"},
        {"hyphen behind", "<" + name + "-x>"},
        {"other script behind", "<" + name + "\u00E9>"},
        {"NUL behind", "<" + name + "\0x>"s},
        {"line behind", "</" + name + "\nx>"},
        {"end of another kind", "<" + name + "\uFF1E"},
        {"nested", "<" + middle + "<" + name + ">" + rest + ">"},
        {"doubled bracket", "<<" + name + ">>"},
        {"in a comment", "<!--><" + name + "><!-->"},
        {"in a string", "{\"text\": \"</" + name + ">\"}"},
        // case
        {"upper case", open(upper)},
        {"mixed case", "</" + mixed + ">"},
        // between the bracket and the name
        {"space before", before(" ")},
        {"spaces around the slash", before(" / ")},
        {"line before", before("\r\n\t")},
        {"NUL before", before("\0"s)},
        {"byte order mark before", before("\uFEFF")},
        {"mark on the bracket", before("\u0338")},
        {"two slashes", before("//")},
        {"backslash", before("\\")},
        {"exclamation mark", before("!")},
        {"question mark", before("?")},
        {"fraction slash", before("\u2044")},
        {"division slash", before("\u2215")},
        {"fullwidth slash", before("\uFF0F")},
        {"big reverse solidus", before("\u29F9")},
        // between the letters
        {"space inside", inside(" ")},
        {"tab inside", inside("\t")},
        {"line inside", inside("\n")},
        {"NUL inside", inside("\0"s)},
        {"escape character inside", inside("\x1B")},
        {"DEL inside", inside("\x7F")},
        {"C1 control inside", inside("\u0085")},
        {"no-break space inside", inside("\u00A0")},
        {"ideographic space inside", inside("\u3000")},
        {"line separator inside", inside("\u2028")},
        {"soft hyphen inside", inside("\u00AD")},
        {"zero-width space inside", inside("\u200B")},
        {"zero-width joiner everywhere", open(spread(name, "\u200D"))},
        {"word joiner inside", inside("\u2060")},
        {"bidi override inside", inside("\u202E")},
        {"bidi isolate inside", inside("\u2066")},
        {"variation selector inside", inside("\uFE0F")},
        {"variation selector of plane 14 inside", inside("\U000E0101")},
        {"tag character inside", inside("\U000E0061")},
        {"Hangul filler inside", inside("\u3164")},
        {"Mongolian vowel separator inside", inside("\u180E")},
        {"combining mark inside", inside("\u0301")},
        {"combining marks everywhere", open(spread(name, "\u0335\u0489"))},
        {"replacement character inside", inside("\uFFFD")},
        {"invalid byte inside", inside("\xFF")},
        {"continuation byte inside", inside("\x80")},
        {"surrogate inside", inside("\xED\xA0\x80")},
        {"overlong NUL inside", inside("\xC0\x80")},
        {"cut character inside", inside("\xF0\x9F")},
        // separators
        {"hyphens for underscores", open(with(name, '_', "-"))},
        {"dots for underscores", open(with(name, '_', "."))},
        {"colons for underscores", "</" + with(name, '_', ":") + ">"},
        {"spaces for underscores", open(with(name, '_', " "))},
        {"runs for underscores", open(with(name, '_', "_-_ -"))},
        {"nothing for underscores", open(with(name, '_', ""))},
        {"camel case", open(camel)},
        {"dashes for underscores", open(with(name, '_', "\u2014"))},
        {"fullwidth low lines", open(with(name, '_', "\uFF3F"))},
        {"undertie for underscores", open(with(name, '_', "\u203F"))},
        // letters
        {"fullwidth letters", open(in_alphabet(name, 0xFF41))},
        {"mathematical bold", open(in_alphabet(name, 0x1D41A))},
        {"mathematical sans-serif", "</" + in_alphabet(name, 0x1D5BA) + ">"},
        {"mathematical monospace", open(in_alphabet(name, 0x1D68A))},
        {"circled letters", open(in_alphabet(name, 0x24D0))},
        {"parenthesised letters", open(in_alphabet(name, 0x249C))},
        {"negative circled letters", open(in_alphabet(name, 0x1F150))},
        {"negative squared letters", open(in_alphabet(name, 0x1F170))},
        {"regional indicators", open(in_alphabet(name, 0x1F1E6))},
        {"accents", open(with(with(name, 'a', "\u00E4"), 'o', "\u00F8"))},
        {"Cyrillic letters", open(with(with(with(name, 'a', "\u0430"), 'e', "\u0435"), 'o', "\u043E"))},
        {"Cyrillic capitals", open(with(with(with(upper, 'A', "\u0410"), 'T', "\u0422"), 'M', "\u041C"))},
        {"Greek letters", open(with(with(name, 'o', "\u03BF"), 'n', "\u03B7"))},
        {"Armenian letters", open(with(with(name, 'o', "\u0585"), 'n', "\u0578"))},
        {"Cherokee letters", open(with(with(upper, 'A', "\u13AA"), 'E', "\u13AC"))},
        {"small capitals", open(with(with(name, 'a', "\u1D00"), 'n', "\u0274"))},
        {"superscripts", open(with(with(name, 'a', "\u1D43"), 'n', "\u207F"))},
        {"one for l", open(with(with(name, 'l', "1"), 'i', "1"))},
        {"capital I for l", open(with(name, 'l', "I"))},
        {"l for capital i", open(with(name, 'i', "l"))},
        {"bar for l", open(with(with(name, 'l', "|"), 'i', "|"))},
        {"zero for o", open(with(name, 'o', "0"))},
        {"r and n for m", open(with(name, 'm', "rn"))},
        {"long s", open(with(name, 's', "\u017F"))},
        // brackets
        {"fullwidth bracket", from("\uFF1C")},
        {"fullwidth close", "\uFF1C\uFF0F" + in_alphabet(name, 0xFF41) + "\uFF1E"},
        {"small bracket", from("\uFE64")},
        {"angle quotation mark", "\u2039" + name + "\u203A"},
        {"double angle quotation mark", "\u00AB" + name + "\u00BB"},
        {"CJK angle bracket", "\u3008" + name + "\u3009"},
        {"CJK double angle bracket", "\u300A" + name + "\u300B"},
        {"technical angle bracket", "\u2329" + name + "\u232A"},
        {"mathematical angle bracket", "\u27E8" + name + "\u27E9"},
        {"ornament bracket", "\u276C" + name + "\u276D"},
        {"heavy ornament", "\u276E/" + name + "\u276F"},
        {"curved bracket", "\u29FC" + name + "\u29FD"},
        {"arrowhead", "\u02C2" + name + "\u02C3"},
        {"Canadian syllable", "\u1438" + name + "\u1433"},
        {"rune", from("\u16B2")},
        {"precedes", "\u227A" + name + "\u227B"},
        {"not less-than", from("\u226E")},
        {"musical symbol", from("\U0001D236")},
        // punctuation before the name
        {"bars", "<|" + name + "|>"},
        {"comment", "<!--/" + name + "-->"},
        {"low line before", "<_" + name},
        {"hyphen before", "<-/" + name + ">"},
        {"quotation marks", "<\"" + name + "\">"},
        {"per cent", "<%" + name + "%>"},
        {"backticks", "<`" + name + "`>"},
        {"parenthesis", "<(" + name + ")>"},
        {"square bracket", "<[" + name + "]>"},
        {"fullwidth bars", "<\uFF5C" + name + "\uFF5C>"},
        // escapes of JSON
        {"escape of a line before", before("\\n")},
        {"escapes of blanks before", before("\\r\\t\\b\\f \\/")},
        {"escape of a line inside", inside("\\n")},
        {"escape of a line escaped again", inside("\\\\\\n")},
        {"escape of a control inside", inside("\\u0001")},
        {"escape of an invisible character", open(spread(name, "\\u200b"))},
        {"escaped letters", open(respelled(tag, escaped_letter))},
        {"escaped letters escaped again", open("\\" + respelled(tag, escaped_letter))},
        {"escaped low lines", open(with(name, '_', "\\u005F"))},
        {"escaped pairs", open(with(with(name, 'o', "\\ud835\\udc28"), 'e', "\\uD835\\uDC1E"))},
        {"escape with braces", inside("\\u{200B}")},
        {"hexadecimal escape", inside("\\xAD")},
        {"low lines of Markdown", open(with(name, '_', "\\_"))},
        {"hyphens of Markdown", open(with(name, '_', "\\-"))},
        // references to letters and what is between them
        {"references to letters", open(respelled(tag, referenced_letter)), true},
        {"references to low lines", open(with(name, '_', "&#x5f;")), low_lines},
        {"named references to low lines", open(with(name, '_', "&lowbar;")), low_lines},
        {"reference to a letter", "<" + referenced_letter(name[0]) + name.substr(1) + ">", true},
        {"reference to an invisible character", inside("&#8203;"), true},
        {"soft hyphen by its name", inside("&shy;"), true},
        {"space by its name", before("&nbsp;"), true},
        {"joiners by their names", inside("&zwj;&zwnj;"), true},
        {"slash by its name", before("&sol;"), true},
        {"quotation mark by its name", "<&quot;" + name + "&quot;>", true},
        {"ampersand before", before("&"), true},
        {"reference inside escaped again", inside("&amp;amp;shy;"), true},
        // ANSI sequences
        {"colour inside", inside("\x1B[31m")},
        {"colour before", before("\x1B[0;38;5;1m")},
        {"colours everywhere", open(spread(name, "\x1B[1m"))},
        {"escaped colour inside", inside("\\u001b[0m")},
        {"erased line inside", inside("\x1B[2K")},
        {"private mode inside", inside("\x1B[?25l")},
        {"C1 colour inside", inside("\u009B1m")},
        // other lines, dots and what shows nothing
        {"macrons below", open(with(name, '_', "\u02CD"))},
        {"double low lines", open(with(name, '_', "\u2017"))},
        {"scan lines", open(with(name, '_', "\u23BD"))},
        {"lower blocks", open(with(name, '_', "\u2581"))},
        {"box drawing", open(with(name, '_', "\u2500"))},
        {"macrons", open(with(name, '_', "\u00AF"))},
        {"modifier macrons", open(with(name, '_', "\u02C9"))},
        {"middle dots", open(with(name, '_', "\u00B7"))},
        {"katakana middle dots", open(with(name, '_', "\u30FB"))},
        {"noncharacter inside", inside("\uFDD0")},
        {"noncharacter of a plane inside", inside("\U0002FFFE")},
        {"private use inside", inside("\uE000")},
        {"private use of plane 16 inside", inside("\U0010FFFD")},
        // escaped brackets
        {"angle bracket by its name", from("&lang;"), true},
        {"angle bracket by its other name", from("&langle;"), true},
        {"quotation marks by their names", "&laquo;" + name + "&raquo;", true},
        {"single quotation marks by their names", "&lsaquo;" + name + "&rsaquo;", true},
        {"reference that begins with a slash's", from("&#x2F1;"), true},
        {"hexadecimal escape of a bracket", from("\\x3c"), true},
        {"escape of a bracket with braces", from("\\u{3C}"), true},
        {"long escape of a bracket", from("\\U0000003c"), true},
        {"reference", "&lt;" + name + "&gt;", true},
        {"reference of a close", "&lt;/" + name + "&gt;", true},
        {"reference in capitals", "&LT;" + name + "&GT;", true},
        {"reference without its end", "&lt" + name + ">", true},
        {"decimal reference", "&#60;" + name + "&#62;", true},
        {"decimal reference with zeros", "&#000000000000060;" + name + "&#62;", true},
        {"decimal reference without its end", "&#60" + name + ">", true},
        {"hexadecimal reference", "&#x3c;" + name + "&#x3e;", true},
        {"hexadecimal reference in capitals", "&#X003C;/" + name + ">", true},
        {"hexadecimal reference without its end", "&#x3c" + name + ">", true},
        {"reference to a look-alike", "&#xFF1C;" + name + ">", true},
        {"reference escaped again", "&amp;lt;" + name + "&amp;gt;", true},
        {"reference escaped three times", "&amp;amp;amp;lt;/" + name + ">", true},
        {"numeric reference escaped again", "&amp;#60;" + name + ">", true},
        {"ampersand as a number", "&#38;lt;" + name + ">", true},
        {"JSON escape", "\\u003c" + name + "\\u003e", true},
        {"JSON escape of a close", "\\u003C/" + name + "\\u003E", true},
        {"JSON escape escaped again", "\\\\\\\\u003c" + name + ">", true},
        {"JSON escape of a look-alike", "\\uff1c" + name + ">", true},
        {"reference to the slash", "&lt;&#x2F;" + name + "&gt;", true},
        {"reference to the slash only", "<&#x2F;" + name + ">", true},
        {"JSON escape of the slash", "\\u003c\\u002f" + name + "\\u003e", true},
        {"JSON escape of the slash only", "<\\/" + name + ">"},
        {"JSON escape of a reference", "\\u0026lt;" + name + "\\u0026gt;", true},
    };
}

}  // namespace support
