// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace coppice::inline v0 {

/// A view of text that somebody else owns: either plain UTF-8 or the inside of a JSON string that is
/// still escaped. Nothing is copied or decoded before somebody needs it.
class Text {
public:
    constexpr Text() = default;
    /// A text that reads as it is spelled.
    constexpr Text(std::string_view plain)
        : data_(plain.data()), size_(plain.size() & (~std::uint64_t{0} >> 1U)) {}
    /// A text that stands in the document with escapes of JSON.
    static constexpr Text still_escaped(std::string_view raw) {
        // without a backslash both spellings are the same bytes
        return still_escaped(raw, raw.find('\\') != std::string_view::npos);
    }
    /// For who knows already whether a backslash is in it.
    static constexpr Text still_escaped(std::string_view raw, bool has_backslash) {
        Text text(raw);
        text.escaped_ = has_backslash;
        return text;
    }

    /// As it stands in the document.
    constexpr std::string_view raw() const { return {data_, static_cast<std::size_t>(size_)}; }
    /// Whether escapes of JSON stand in that.
    constexpr bool escaped() const { return escaped_ != 0; }
    /// Whether there is nothing.
    constexpr bool empty() const { return size_ == 0; }

private:
    // a transcript holds many of these
    const char* data_ = nullptr;
    std::uint64_t size_ : 63 = 0;
    std::uint64_t escaped_ : 1 = 0;
};

namespace detail {

constexpr char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter;
}

inline bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

struct Utf8 {
    std::array<char, 4> bytes{};
    std::size_t size = 0;
};

/// The width of one character of UTF-8.
constexpr std::size_t utf8_width(std::uint32_t code) {
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/// A code point, or half a surrogate pair, in the bytes that UTF-8 would give it.
constexpr Utf8 to_utf8(std::uint32_t code) {
    constexpr std::array<std::uint32_t, 5> first = {0, 0, 0xC0, 0xE0, 0xF0};
    Utf8 out;
    out.size = utf8_width(code);
    for (std::size_t i = out.size; i-- > 1; code >>= 6U) {
        out.bytes[i] = static_cast<char>(0x80U | (code & 0x3FU));
    }
    out.bytes[0] = static_cast<char>(first[out.size] | code);
    return out;
}

/// How long the UTF-8 character is that the text begins with; 0 where it begins with none (Unicode 15, table 3-7).
constexpr std::size_t utf8_size(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
    };
    const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
        return byte(i) >= low && byte(i) <= high;
    };
    const unsigned first = byte(0);
    if (first < 0x80) { return 1; }
    if (first >= 0xC2 && first <= 0xDF) { return follows(1) ? 2 : 0; }
    if (first >= 0xE0 && first <= 0xEF) {
        const bool second = follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
        return second && follows(2) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool second = follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
        return second && follows(2) && follows(3) ? 4 : 0;
    }
    return 0;
}

/// How many bytes of ASCII the text begins with, in steps of eight: most of most texts, for who has to look at each
/// character.
inline std::size_t ascii_run(std::string_view text) {
    std::size_t at = 0;
    for (std::uint64_t word = 0; at + 8 <= text.size(); at += 8) {
        std::memcpy(&word, text.data() + at, 8);
        if ((word & 0x8080808080808080ULL) != 0) { break; }
    }
    return at;
}

/// Whether all of a text is UTF-8.
inline bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t run = ascii_run(text);
        const std::size_t size = run > 0 ? run : utf8_size(text);
        if (size == 0) { return false; }
        text.remove_prefix(size);
    }
    return true;
}

/// The text with U+FFFD in place of each byte that is part of no character; `scratch` is filled only where there are
/// any.
inline std::string_view valid_utf8(std::string_view text, std::string& scratch) {
    if (is_utf8(text)) { return text; }
    scratch.clear();
    while (!text.empty()) {
        const std::size_t run = ascii_run(text);
        const std::size_t size = run > 0 ? run : utf8_size(text);
        scratch += size > 0 ? text.substr(0, size) : std::string_view("\xEF\xBF\xBD");
        text.remove_prefix(size > 0 ? size : 1);
    }
    return scratch;
}

/// The text with a space for each control character but tabs and line breaks, C1 and the Unicode line separators
/// included: no line can begin where readers of lines see none. The text is UTF-8 and may stand in `scratch`, which is
/// filled only where there are any.
inline std::string_view without_controls(std::string_view text, std::string& scratch) {
    // how long the control character is that the text begins with; 0 where there is none
    const auto control = [](std::string_view rest) -> std::size_t {
        const auto byte = [&](std::size_t i) {
            return i < rest.size() ? static_cast<unsigned char>(rest[i]) : 0U;
        };
        if (byte(0) < 0x20) { return byte(0) != '\t' && byte(0) != '\n' ? 1 : 0; }
        if (byte(0) == 0x7F) { return 1; }
        if (byte(0) == 0xC2) { return byte(1) < 0xA0 ? 2 : 0; }
        return byte(0) == 0xE2 && byte(1) == 0x80 && (byte(2) == 0xA8 || byte(2) == 0xA9) ? 3 : 0;
    };
    std::size_t at = 0;
    while (at < text.size() && control(text.substr(at)) == 0) { ++at; }
    if (at == text.size()) { return text; }
    if (text.data() == scratch.data()) {
        scratch.resize(text.size());
    } else {
        scratch = text;
    }
    std::size_t end = at;
    while (at < scratch.size()) {
        const std::size_t size = control(std::string_view(scratch).substr(at));
        const bool line_break = scratch[at] == '\r' && at + 1 < scratch.size() && scratch[at + 1] == '\n';
        if (!line_break) { scratch[end++] = size > 0 ? ' ' : scratch[at]; }
        at += size > 0 ? size : 1;
    }
    scratch.resize(end);
    return scratch;
}

/// The text without its ANSI control sequences (ECMA-48 5.4: ESC, '[', parameters, a final byte), colours for the most
/// part. It may stand in `scratch`, which is filled only where there are any.
inline std::string_view without_ansi(std::string_view text, std::string& scratch) {
    constexpr std::string_view begin = "\x1B[";
    constexpr std::size_t longest = 64;
    if (text.find(begin) == std::string_view::npos) { return text; }
    if (text.data() == scratch.data()) {
        scratch.resize(text.size());
    } else {
        scratch = text;
    }
    std::size_t end = 0;
    for (std::size_t at = 0; at < scratch.size();) {
        if (std::string_view(scratch).substr(at, begin.size()) == begin) {
            std::size_t last = at + begin.size();
            while (last < scratch.size() && last - at < longest && scratch[last] >= 0x20 &&
                   scratch[last] < 0x40) {
                ++last;
            }
            if (last < scratch.size() && scratch[last] >= 0x40 && scratch[last] < 0x7F) {
                at = last + 1;
                continue;
            }
        }
        scratch[end++] = scratch[at++];
    }
    scratch.resize(end);
    return scratch;
}

inline std::uint32_t hex4(std::string_view digits) {
    std::uint32_t value = 0;
    for (const char digit : digits) {
        const auto lower = static_cast<unsigned char>(digit | 0x20);
        value = value * 16 + static_cast<std::uint32_t>(lower >= 'a' ? lower - 'a' + 10 : digit - '0');
    }
    return value;
}

// One character of an escaped string: how many raw bytes it takes, and what it means.
struct EscapedUnit {
    std::size_t length = 1;
    std::uint32_t code = 0;  // only for escapes
    bool escape = false;
    bool lone_surrogate = false;
};

inline EscapedUnit next_unit(std::string_view raw) {
    if (raw[0] != '\\' || raw.size() < 2) { return {}; }
    switch (raw[1]) {
        case 'b': return {2, '\b', true, false};
        case 'f': return {2, '\f', true, false};
        case 'n': return {2, '\n', true, false};
        case 'r': return {2, '\r', true, false};
        case 't': return {2, '\t', true, false};
        case 'u': break;
        default: return {2, static_cast<unsigned char>(raw[1]), true, false};
    }
    if (raw.size() < 6) { return {}; }
    const std::uint32_t first = hex4(raw.substr(2, 4));
    if (first >= 0xD800 && first < 0xDC00 && raw.size() >= 12 && raw[6] == '\\' && raw[7] == 'u') {
        const std::uint32_t second = hex4(raw.substr(8, 4));
        if (second >= 0xDC00 && second < 0xE000) {
            return {12, 0x10000U + ((first - 0xD800U) << 10U) + (second - 0xDC00U), true, false};
        }
    }
    return {6, first, true, first >= 0xD800 && first < 0xE000};
}

}  // namespace detail

/// The longest prefix of at most `count` code points. Never splits a character.
inline std::string_view first_chars(std::string_view text, std::size_t count) {
    std::size_t at = 0;
    for (; at < text.size() && (count > 0 || detail::is_continuation(text[at])); ++at) {
        if (!detail::is_continuation(text[at])) { --count; }
    }
    return text.substr(0, at);
}

/// The longest suffix of at most `count` code points. Never splits a character.
inline std::string_view last_chars(std::string_view text, std::size_t count) {
    std::size_t at = text.size();
    while (at > 0 && count > 0) {
        --at;
        while (at > 0 && detail::is_continuation(text[at])) { --at; }
        --count;
    }
    return text.substr(at);
}

namespace detail {

/// What becomes of half a surrogate pair, which UTF-8 cannot hold.
enum class LoneSurrogate : bool {
    replaced,  ///< U+FFFD, for everybody who reads
    kept,      ///< three bytes of its own that no UTF-8 has, so that texts differ where their meaning does
};

/// Copies what comes before the next backslash, and answers how much that was.
inline std::size_t copy_to_backslash(char* to, std::string_view raw) {
    constexpr std::uint64_t ones = 0x0101010101010101ULL;
    std::size_t at = 0;
    for (std::uint64_t word = 0; at + 8 <= raw.size(); at += 8) {
        std::memcpy(&word, raw.data() + at, 8);
        const std::uint64_t zero_at_backslash = word ^ (ones * '\\');
        if (((zero_at_backslash - ones) & ~zero_at_backslash & (ones * 0x80)) != 0) { break; }
        std::memcpy(to + at, &word, 8);
    }
    for (; at < raw.size() && raw[at] != '\\'; ++at) { to[at] = raw[at]; }
    return at;
}

/// Writes what a text means, which takes no more room than its spelling, and answers how long it is.
inline std::size_t decode_to(char* to, Text text, LoneSurrogate lone) {
    const char* const begin = to;
    std::string_view raw = text.raw();
    while (!raw.empty()) {
        const std::size_t plain = copy_to_backslash(to, raw);
        to += plain;
        raw.remove_prefix(plain);
        if (raw.empty()) { break; }
        const EscapedUnit unit = next_unit(raw);
        if (!unit.escape) {
            *to++ = raw[0];
        } else if (unit.code < 0x80) {
            *to++ = static_cast<char>(unit.code);
        } else {
            const bool replace = unit.lone_surrogate && lone == LoneSurrogate::replaced;
            const Utf8 character = to_utf8(replace ? 0xFFFDU : unit.code);
            std::memcpy(to, character.bytes.data(), character.size);
            to += character.size;
        }
        raw.remove_prefix(unit.length);
    }
    return static_cast<std::size_t>(to - begin);
}

inline std::string_view decode(Text text, std::string& scratch, LoneSurrogate lone) {
    if (!text.escaped()) { return text.raw(); }
    scratch.resize(text.raw().size());
    scratch.resize(decode_to(scratch.data(), text, lone));
    return scratch;
}

/// The beginning of a text, for who shows it: no more is read of it than that takes, however long it is.
inline std::string_view shown(Text text, std::string& scratch) {
    constexpr std::size_t most = 1024;
    constexpr std::size_t longest_spelling = 12 * most;
    const bool cut = text.raw().size() > longest_spelling;
    const std::string_view raw = cut ? text.raw().substr(0, longest_spelling) : text.raw();
    return first_chars(decode(Text::still_escaped(raw, text.escaped()), scratch, LoneSurrogate::replaced),
                       most);
}

/// The text's meaning, to compare it with others.
inline std::string_view exact(Text text, std::string& scratch) {
    return decode(text, scratch, LoneSurrogate::kept);
}

/// Calls `visit(const EscapedUnit&)` for each escape of a text.
template <class Visit>
void for_each_escape(Text text, Visit visit) {
    if (!text.escaped()) { return; }
    std::string_view raw = text.raw();
    for (std::size_t at = raw.find('\\'); at != std::string_view::npos; at = raw.find('\\')) {
        raw.remove_prefix(at);
        const EscapedUnit unit = next_unit(raw);
        if (unit.escape) { visit(unit); }
        raw.remove_prefix(unit.length);
    }
}

/// Whether `decoded` cannot say what the text is.
inline bool has_lone_surrogate(Text text) {
    bool found = false;
    for_each_escape(text, [&found](const EscapedUnit& unit) { found = found || unit.lone_surrogate; });
    return found;
}

}  // namespace detail

/// The text itself, decoded into `scratch` only where it is still escaped. A lone surrogate, which
/// UTF-8 cannot hold, becomes U+FFFD in this copy; the original is not touched.
inline std::string_view decoded(Text text, std::string& scratch) {
    return detail::decode(text, scratch, detail::LoneSurrogate::replaced);
}

namespace detail {

/// How many characters compact JSON adds to this one.
constexpr std::size_t escape_width(std::uint32_t code) {
    if (code == '"' || code == '\\' || code == '\b' || code == '\f') { return 1; }
    if (code == '\n' || code == '\r' || code == '\t') { return 1; }
    return code < 0x20 ? 5 : 0;
}

/// What an escape stands for, and what its shortest spelling as JSON adds. A lone surrogate is shown as U+FFFD and has
/// no other spelling than its six bytes.
inline TextExtent extent_of(const EscapedUnit& unit) {
    const std::uint32_t code = unit.lone_surrogate ? 0xFFFDU : unit.code;
    const Extent width{utf8_width(code), 1, code < 0x10000 ? std::size_t{1} : std::size_t{2}};
    return {width, unit.lone_surrogate ? ascii(unit.length) - width : ascii(escape_width(code))};
}

}  // namespace detail

/// Measures the decoded text without decoding it. `escapes` is what its shortest spelling as JSON adds, whatever
/// spelling it has now, so that equal texts have equal sizes.
inline TextExtent measure(Text text) {
    if (!text.escaped()) { return measure(text.raw()); }
    TextExtent sum{measure_plain(text.raw()), {}};
    detail::for_each_escape(text, [&sum](const detail::EscapedUnit& unit) {
        const TextExtent extent = detail::extent_of(unit);
        sum.plain -= ascii(unit.length);
        sum.plain += extent.plain;
        sum.escapes += extent.escapes;
    });
    return sum;
}

/// A text that is measured when somebody asks for more than its length in bytes can tell, and then once.
class MeasuredText {
public:
    MeasuredText() = default;
    /// Measures nothing yet.
    explicit MeasuredText(Text text) : text_(text) {}
    /// For a back end that knows.
    MeasuredText(Text text, const TextExtent& extent)
        : text_(text), extent_(extent), plain_known_(true), escapes_known_(true) {}

    /// The text itself.
    Text text() const { return text_; }

    /// The decoded text.
    Extent plain() const {
        if (!plain_known_) {
            extent_.plain = text_.escaped() ? measure(text_).plain : measure_plain(text_.raw());
            plain_known_ = true;
        }
        return extent_.plain;
    }

    /// The decoded text, and how many characters more its spelling as compact JSON has.
    TextExtent extent() const {
        plain();
        if (!escapes_known_) {
            extent_.escapes = text_.escaped() ? measure(text_).escapes : ascii(measure_escapes(text_.raw()));
            escapes_known_ = true;
        }
        return extent_;
    }

    /// The decoded text has no more than this.
    std::size_t most(Unit unit) const { return plain_known_ ? extent_.plain.in(unit) : text_.raw().size(); }

    /// The decoded text has at least this: what its bytes are worth if each character is as long as can be.
    std::size_t least(Unit unit) const {
        if (plain_known_) { return extent_.plain.in(unit); }
        // the longest spelling of one byte: \u0041
        const std::size_t bytes = text_.escaped() ? text_.raw().size() / 6 : text_.raw().size();
        return unit == Unit::bytes ? bytes : unit == Unit::utf16 ? bytes / 3 : bytes / 4;
    }

    /// Whether the decoded text has at least this; mostly told without reading it.
    bool at_least(Size wanted) const {
        if (least(wanted.unit) >= wanted.value) { return true; }
        return most(wanted.unit) >= wanted.value && plain().at_least(wanted);
    }

private:
    Text text_;
    mutable TextExtent extent_{};
    mutable bool plain_known_ = false;
    mutable bool escapes_known_ = false;
};

namespace detail {

/// Hands out a text's meaning byte by byte, as `exact` would spell it, without a copy.
class TextBytes {
public:
    explicit TextBytes(Text text) : rest_(text.raw()), escaped_(text.escaped()) {}

    /// False at the end.
    bool next(char& byte) {
        if (at_ == decoded_.size && !refill()) { return false; }
        byte = decoded_.bytes[at_++];
        return true;
    }

private:
    bool refill() {
        if (rest_.empty()) { return false; }
        const EscapedUnit unit = escaped_ ? next_unit(rest_) : EscapedUnit{};
        decoded_ = unit.escape ? to_utf8(unit.code) : Utf8{{rest_[0]}, 1};
        rest_.remove_prefix(unit.length);
        at_ = 0;
        return true;
    }

    std::string_view rest_;
    bool escaped_;
    Utf8 decoded_{};
    std::size_t at_ = 0;
};

/// Below, at or above zero: the order of the meanings, whatever their spelling.
inline int compare_text(Text left, Text right) {
    if (!left.escaped() && !right.escaped()) { return left.raw().compare(right.raw()); }
    TextBytes left_bytes(left);
    TextBytes right_bytes(right);
    while (true) {
        char a = 0;
        char b = 0;
        const bool left_more = left_bytes.next(a);
        const bool right_more = right_bytes.next(b);
        if (!left_more || !right_more) { return static_cast<int>(left_more) - static_cast<int>(right_more); }
        if (a != b) { return static_cast<unsigned char>(a) < static_cast<unsigned char>(b) ? -1 : 1; }
    }
}

}  // namespace detail

/// Whether two texts mean the same, whatever their spelling.
inline bool same_text(Text left, Text right) {
    if (left.escaped() || right.escaped()) { return detail::compare_text(left, right) == 0; }
    return left.raw() == right.raw();
}

/// Without surrounding white space.
inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blank = " \t\r\n\f\v";
    const std::size_t start = text.find_first_not_of(blank);
    if (start == std::string_view::npos) { return {}; }
    return text.substr(start, text.find_last_not_of(blank) - start + 1);
}

/// First line that is not blank, without surrounding white space.
inline std::string_view first_line(std::string_view text) {
    text = trimmed(text);
    return trimmed(text.substr(0, text.find('\n')));
}

/// Last line that is not blank, without surrounding white space.
inline std::string_view last_line(std::string_view text) {
    text = trimmed(text);
    const std::size_t line = text.rfind('\n');
    return line == std::string_view::npos ? text : trimmed(text.substr(line + 1));
}

/// Appends a number in decimal. Lighter to compile than a format string: every host compiles it.
inline void append_number(std::string& out, std::size_t number) {
    const fmt::format_int digits(number);
    out.append(digits.data(), digits.size());
}

namespace detail {

/// Appends a text as a JSON string, in its shortest spelling.
inline void append_json_string(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += '"';
    if (is_plain(text)) {
        out.append(text) += '"';
        return;
    }
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\b': out += "\\b"; break;
            case '\f': out += "\\f"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default:
                if (byte < 0x20) {
                    out += "\\u00";
                    out += digits[byte >> 4U];
                    out += digits[byte & 0xFU];
                } else {
                    out += c;
                }
        }
    }
    out += '"';
}

// what `append_safe` writes for a byte; 0 for white space and everything else unprintable
inline constexpr auto safe_chars = [] {
    std::array<char, 256> chars{};
    for (std::size_t byte = 0x21; byte < chars.size(); ++byte) {
        chars[byte] = byte < 0x7F ? static_cast<char>(byte) : '?';
    }
    chars[0x7F] = '\0';
    chars['"'] = '\'';
    chars['\\'] = '/';
    chars['['] = chars['<'] = '(';
    chars[']'] = chars['>'] = ')';
    return chars;
}();

inline bool is_safe(std::string_view text) {
    char before = ' ';
    for (const char c : text) {
        const bool single_space = c == ' ' && before != ' ';
        const bool safe = c != '\0' && safe_chars[static_cast<unsigned char>(c)] == c;
        if (!safe && !single_space) { return false; }
        before = c;
    }
    return before != ' ';
}

}  // namespace detail

/// Appends at most `limit` characters of `text` as printable ASCII without quotes, backslashes, square and angle
/// brackets, so that the result has one spelling at any depth of JSON, cannot close the stub it stands in and holds no
/// tag.
/// Longer text keeps its head and its tail around "...". White space and everything else unprintable
/// collapse.
inline void append_safe(std::string& out, std::string_view text, std::size_t limit) {
    if (text.size() <= limit && detail::is_safe(text)) {
        out += text;  // as most are
        return;
    }
    const std::size_t start = out.size();
    bool gap = false;
    // a bounded look at hostile lengths: what lies between cannot be shown anyway
    const std::size_t window = limit * 8 + 64;
    const bool long_text = text.size() > 2 * window;
    const auto put = [&](std::string_view piece) {
        std::size_t at = out.size();
        out.resize(at + piece.size() + 1);  // a space stands for a byte, perhaps one of the piece before
        for (const char c : piece) {
            const char safe = detail::safe_chars[static_cast<unsigned char>(c)];
            if (safe == '\0') { gap = true; }
            if (safe == '\0' || detail::is_continuation(c)) { continue; }
            if (gap && at > start) { out[at++] = ' '; }
            gap = false;
            out[at++] = safe;
        }
        out.resize(at);
    };
    constexpr std::string_view dots = "...";
    put(long_text ? text.substr(0, window) : text);
    const std::size_t middle = out.size();
    if (long_text) { put(text.substr(text.size() - window)); }
    const std::size_t length = out.size() - start;
    if (length + (long_text ? dots.size() : 0) > limit) {
        const std::size_t room = limit > dots.size() ? limit - dots.size() : 0;
        const std::size_t head = room - room / 2;
        if (length > room) { out.replace(start + head, length - room, dots.substr(0, limit - room)); }
    } else if (long_text) {
        out.insert(middle, dots);
    }
}

}  // namespace coppice
