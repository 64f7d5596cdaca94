// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

inline constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
    std::string_view in(std::string_view text) const { return text.substr(begin, size()); }
};

enum class Type : std::uint8_t { null, boolean, number, string, array, object };

struct Value {
    Type type = Type::null;
    Span span{};
    Span key{};            ///< quotes included; empty where the value is no member
    std::size_t past = 0;  ///< the first value behind this one and all that it holds
};

/// A JSON text by its spans, by the letter of RFC 8259; a byte order mark may stand in front. Shares no code with the
/// library, and nothing calls itself.
class JsonText {
public:
    bool read(std::string_view text) {
        text_ = text;
        at_ = text.substr(0, byte_order_mark.size()) == byte_order_mark ? byte_order_mark.size() : 0;
        values_.clear();
        open_.clear();
        deepest_ = 0;
        lone_surrogates_ = false;
        return read_values();
    }

    const std::vector<Value>& values() const { return values_; }
    /// After a failed `read`: the first byte that cannot stand where it stands.
    std::size_t fault() const { return at_; }
    std::size_t deepest() const { return deepest_; }
    bool lone_surrogates() const { return lone_surrogates_; }

    /// Calls `visit(index)` for each element or member.
    template <class Visit>
    void for_each_child(std::size_t index, Visit visit) const {
        for (std::size_t i = index + 1; i < values_[index].past; i = values_[i].past) { visit(i); }
    }

    std::size_t element(std::size_t array, std::size_t n) const {
        std::size_t found = nowhere;
        std::size_t count = 0;
        if (values_[array].type != Type::array) { return nowhere; }
        for_each_child(array, [&](std::size_t i) { found = count++ == n ? i : found; });
        return found;
    }

    /// The last one of this name.
    std::size_t member(std::size_t object, std::string_view name) const {
        std::size_t found = nowhere;
        if (values_[object].type != Type::object) { return nowhere; }
        for_each_child(object, [&](std::size_t i) { found = decoded(values_[i].key) == name ? i : found; });
        return found;
    }

    std::size_t member_of_type(std::size_t object, std::string_view name, Type type) const {
        const std::size_t found = member(object, name);
        return found != nowhere && values_[found].type == type ? found : nowhere;
    }

    bool repeats_keys(std::size_t object) const {
        if (values_[object].type != Type::object) { return false; }
        std::vector<std::string> names;
        for_each_child(object, [&](std::size_t i) { names.push_back(decoded(values_[i].key)); });
        std::sort(names.begin(), names.end());
        return std::adjacent_find(names.begin(), names.end()) != names.end();
    }

    /// Objects with two members of one name.
    std::size_t repeated_keys() const {
        std::size_t count = 0;
        for (std::size_t i = 0; i < values_.size(); ++i) { count += repeats_keys(i); }
        return count;
    }

    /// What a string means; U+FFFD stands for a lone surrogate.
    std::string decoded(Span string) const {
        std::string out;
        for_each_char(string, [&](std::uint32_t code, Span) {
            append_utf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFDU : code);
        });
        return out;
    }

    /// The same, and for each byte of it where its character is spelled; last, where the string ends.
    std::string decoded(Span string, std::vector<std::size_t>& places) const {
        std::string out;
        places.clear();
        for_each_char(string, [&](std::uint32_t code, Span spelling) {
            append_utf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFDU : code);
            places.resize(out.size(), spelling.begin);
        });
        places.push_back(string.end - 1);
        return out;
    }

    /// The same, but lone surrogates stay different from each other and from all characters.
    std::string exact(Span string) const {
        std::string out;
        for_each_char(string, [&](std::uint32_t code, Span) { append_utf8(out, code); });
        return out;
    }

    /// The text without white space and with every string in its shortest spelling. Numbers stay.
    std::string compact() const {
        std::string out;
        for (std::size_t at = values_.front().span.begin; at < values_.front().span.end;) {
            const char c = text_[at];
            if (c == '"') {
                const Span string{at, string_end(at)};
                append_shortest(string, out);
                at = string.end;
                continue;
            }
            if (!is_blank(c)) { out += c; }
            ++at;
        }
        return out;
    }

    std::size_t string_end(std::size_t quote) const {
        std::size_t at = quote + 1;
        while (text_[at] != '"') { at += text_[at] == '\\' ? 2 : 1; }
        return at + 1;
    }

    static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

private:
    enum class Want : std::uint8_t { value, value_or_close, key, key_or_close, comma_or_close, end };

    bool read_values() {
        Want want = Want::value;
        Span key{};
        while (true) {
            while (at_ < text_.size() && is_blank(text_[at_])) { ++at_; }
            if (at_ == text_.size()) { return want == Want::end; }
            const char c = text_[at_];
            switch (want) {
                case Want::end: return false;
                case Want::comma_or_close: {
                    const bool object = values_[open_.back()].type == Type::object;
                    if (c == ',') {
                        ++at_;
                        want = object ? Want::key : Want::value;
                    } else if (c == (object ? '}' : ']')) {
                        want = close();
                    } else {
                        return false;
                    }
                    break;
                }
                case Want::key_or_close:
                case Want::key:
                    if (c == '}' && want == Want::key_or_close) {
                        want = close();
                        break;
                    }
                    key.begin = at_;
                    if (c != '"' || !read_string()) { return false; }
                    key.end = at_;
                    while (at_ < text_.size() && is_blank(text_[at_])) { ++at_; }
                    if (at_ == text_.size() || text_[at_] != ':') { return false; }
                    ++at_;
                    want = Want::value;
                    break;
                case Want::value_or_close:
                case Want::value:
                    if (c == ']' && want == Want::value_or_close) {
                        want = close();
                        break;
                    }
                    values_.push_back({.span = {at_, at_}, .key = key});
                    key = {};
                    if (c == '{' || c == '[') {
                        ++at_;
                        values_.back().type = c == '{' ? Type::object : Type::array;
                        open_.push_back(values_.size() - 1);
                        deepest_ = std::max(deepest_, open_.size());
                        want = c == '{' ? Want::key_or_close : Want::value_or_close;
                        break;
                    }
                    if (!read_scalar(values_.back().type)) { return false; }
                    values_.back().span.end = at_;
                    values_.back().past = values_.size();
                    want = open_.empty() ? Want::end : Want::comma_or_close;
                    break;
            }
        }
    }

    Want close() {
        Value& value = values_[open_.back()];
        value.span.end = ++at_;
        value.past = values_.size();
        open_.pop_back();
        return open_.empty() ? Want::end : Want::comma_or_close;
    }

    bool read_scalar(Type& type) {
        switch (text_[at_]) {
            case '"': type = Type::string; return read_string();
            case 't': type = Type::boolean; return read_word("true");
            case 'f': type = Type::boolean; return read_word("false");
            case 'n': type = Type::null; return read_word("null");
            default: type = Type::number; return read_number();
        }
    }

    bool read_word(std::string_view word) {
        for (const char c : word) {
            if (at_ == text_.size() || text_[at_] != c) { return false; }
            ++at_;
        }
        return true;
    }

    bool eat(char wanted) {
        const bool there = at_ < text_.size() && text_[at_] == wanted;
        at_ += there ? 1 : 0;
        return there;
    }

    bool eat_digits() {
        const std::size_t start = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') { ++at_; }
        return at_ > start;
    }

    bool read_number() {
        eat('-');
        if (!eat('0') && !eat_digits()) { return false; }
        if (eat('.') && !eat_digits()) { return false; }
        if (eat('e') || eat('E')) {
            if (!eat('+')) { eat('-'); }
            return eat_digits();
        }
        return true;
    }

    bool read_string() {
        bool high = false;  // the last character was the first half of a pair
        for (++at_; at_ < text_.size();) {
            const auto byte = static_cast<unsigned char>(text_[at_]);
            if (byte == '"') {
                ++at_;
                lone_surrogates_ = lone_surrogates_ || high;
                return true;
            }
            if (byte < 0x20) { return false; }
            std::uint32_t unit = 0;
            if (byte == '\\') {
                if (!read_escape(unit)) { return false; }
            } else if (!read_utf8()) {
                return false;
            }
            const bool low = unit >= 0xDC00 && unit < 0xE000;
            lone_surrogates_ = lone_surrogates_ || low != high;
            high = unit >= 0xD800 && unit < 0xDC00;
            if (low) { high = false; }
        }
        return false;
    }

    bool read_escape(std::uint32_t& unit) {
        if (at_ + 1 >= text_.size()) { return false; }
        const char c = text_[at_ + 1];
        if (std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos) {
            at_ += 2;
            return true;
        }
        if (c != 'u' || text_.size() - at_ < 6) { return false; }
        for (std::size_t i = 2; i < 6; ++i) {
            const int digit = hex(text_[at_ + i]);
            if (digit < 0) { return false; }
            unit = unit * 16 + static_cast<std::uint32_t>(digit);
        }
        at_ += 6;
        return true;
    }

    static int hex(char c) {
        if (c >= '0' && c <= '9') { return c - '0'; }
        if (c >= 'a' && c <= 'f') { return c - 'a' + 10; }
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    }

    bool read_utf8() {
        std::uint32_t code = 0;
        const std::size_t size = utf8_at(at_, code);
        at_ += size;
        return size > 0;
    }

    // 0 where no character of UTF-8 stands
    std::size_t utf8_at(std::size_t at, std::uint32_t& code) const {
        const auto first = static_cast<unsigned char>(text_[at]);
        const std::size_t size = first < 0x80   ? 1
                                 : first < 0xC0 ? 0
                                 : first < 0xE0 ? 2
                                 : first < 0xF0 ? 3
                                                : 4;
        if (size == 0 || first > 0xF7 || text_.size() - at < size) { return 0; }
        constexpr unsigned char payload[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
        code = first & payload[size];
        for (std::size_t i = 1; i < size; ++i) {
            const auto next = static_cast<unsigned char>(text_[at + i]);
            if ((next & 0xC0U) != 0x80U) { return 0; }
            code = code << 6U | (next & 0x3FU);
        }
        constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
        const bool surrogate = code >= 0xD800 && code < 0xE000;
        return code < smallest[size] || code > 0x10FFFF || surrogate ? 0 : size;
    }

    std::uint32_t unit_at(std::size_t backslash) const {
        std::uint32_t unit = 0;
        for (std::size_t i = 2; i < 6; ++i) {
            unit = unit * 16 + static_cast<std::uint32_t>(hex(text_[backslash + i]));
        }
        return unit;
    }

    // of a string that has been read; a lone surrogate comes as such
    template <class Visit>
    void for_each_char(Span string, Visit visit) const {
        const std::size_t end = string.end - 1;
        for (std::size_t at = string.begin + 1; at < end;) {
            std::uint32_t code = 0;
            std::size_t size = 2;
            if (text_[at] != '\\') {
                size = utf8_at(at, code);
            } else if (text_[at + 1] != 'u') {
                constexpr std::string_view letters = "bfnrt";
                constexpr std::string_view meant = "\b\f\n\r\t";
                const std::size_t found = letters.find(text_[at + 1]);
                code = static_cast<unsigned char>(found == std::string_view::npos ? text_[at + 1]
                                                                                  : meant[found]);
            } else {
                size = 6;
                code = unit_at(at);
                const bool high = code >= 0xD800 && code < 0xDC00;
                if (high && end - at >= 12 && text_[at + 6] == '\\' && text_[at + 7] == 'u') {
                    const std::uint32_t low = unit_at(at + 6);
                    if (low >= 0xDC00 && low < 0xE000) {
                        size = 12;
                        code = 0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00);
                    }
                }
            }
            visit(code, Span{at, at + size});
            at += size;
        }
    }

    static void append_utf8(std::string& out, std::uint32_t code) {
        const auto put = [&](std::uint32_t byte) {
            out += static_cast<char>(static_cast<unsigned char>(byte));
        };
        const std::size_t more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        constexpr std::uint32_t lead[] = {0, 0xC0, 0xE0, 0xF0};
        put(lead[more] | code >> (6 * more));
        for (std::size_t i = more; i-- > 0;) { put(0x80U | (code >> (6 * i) & 0x3FU)); }
    }

    void append_shortest(Span string, std::string& out) const {
        out += '"';
        for_each_char(string, [&](std::uint32_t code, Span spelling) {
            constexpr std::string_view short_ones = "\"\\\b\f\n\r\t";
            constexpr std::string_view letters = "\"\\bfnrt";
            const bool ascii = code < 0x80;
            const std::size_t found =
                ascii ? short_ones.find(static_cast<char>(code)) : std::string_view::npos;
            if (found != std::string_view::npos) {
                out += '\\';
                out += letters[found];
            } else if (code < 0x20) {
                constexpr std::string_view digits = "0123456789abcdef";
                out += "\\u00";
                out += digits[code >> 4U];
                out += digits[code & 0xFU];
            } else if (code >= 0xD800 && code < 0xE000) {
                out += spelling.in(text_);
            } else {
                append_utf8(out, code);
            }
        });
        out += '"';
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<Value> values_;
    std::vector<std::size_t> open_;
    std::size_t deepest_ = 0;
    bool lone_surrogates_ = false;
};

/// Appends UTF-8 as it stands in a string of JSON, without the quotes.
inline void append_escaped(std::string& out, std::string_view text) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') { out += '\\'; }
        if (byte >= 0x20) {
            out += c;
        } else {
            constexpr std::string_view digits = "0123456789abcdef";
            out += "\\u00";
            out += digits[byte >> 4U];
            out += digits[byte & 0xFU];
        }
    }
}

}  // namespace fuzz
