// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/lexical.hpp>
#include <coppice/text.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// For who wants to know nothing but whether a text is JSON.
struct NoJsonEvents {
    void open(std::size_t, bool) {}
    void close(std::size_t) {}
    void key(std::size_t, std::size_t, bool) {}
    void string(std::size_t, std::size_t, bool) {}
    void scalar(std::size_t, std::size_t) {}
};

/// Reads JSON (RFC 8259) from its first byte to its last, and tells `events` of every token: `open` and `close` give
/// the place of a bracket, the others where a token begins and ends, quotes included, and of a string whether it has a
/// backslash in it. Where the text stops being JSON, the fault is the first byte that cannot stand there: of a number,
/// a literal or an escape that is wrong its first, of what is cut off the end of the text.
template <class Events = NoJsonEvents>
class JsonGrammar {
public:
    /// `objects` is room to work in: a text may be nested to any depth.
    JsonGrammar(std::string_view json, std::vector<bool>& objects, Events events = {})
        : json_(json), objects_(objects), events_(events) {
        objects_.clear();
    }

    /// Where the fault is. Nothing, where the text is JSON.
    std::optional<std::size_t> find_fault() {
        enum class Expect { value, value_or_close, key, key_or_close, colon, comma_or_close, end };
        Expect expect = Expect::value;
        const auto after_value = [&] { return objects_.empty() ? Expect::end : Expect::comma_or_close; };
        while (true) {
            while (at_ < json_.size() && is_blank(json_[at_])) { ++at_; }
            if (at_ == json_.size()) { return expect == Expect::end ? std::nullopt : std::optional(at_); }
            const char c = json_[at_];
            const std::size_t begin = at_;
            const bool value = expect == Expect::value || expect == Expect::value_or_close;
            const bool key = expect == Expect::key || expect == Expect::key_or_close;
            const bool may_close = expect == Expect::value_or_close || expect == Expect::key_or_close ||
                                   expect == Expect::comma_or_close;
            if ((c == '}' || c == ']') && may_close && objects_.back() == (c == '}')) {
                events_.close(at_++);
                objects_.pop_back();
                expect = after_value();
            } else if (value && (c == '{' || c == '[')) {
                events_.open(at_++, c == '{');
                objects_.push_back(c == '{');
                expect = c == '{' ? Expect::key_or_close : Expect::value_or_close;
            } else if ((value || key) && c == '"') {
                bool escaped = false;
                if (!skip_string(escaped)) { return at_; }
                if (key) {
                    events_.key(begin, at_, escaped);
                } else {
                    events_.string(begin, at_, escaped);
                }
                expect = key ? Expect::colon : after_value();
            } else if (value) {
                if (!skip_scalar()) { return at_; }
                events_.scalar(begin, at_);
                expect = after_value();
            } else if (expect == Expect::colon && c == ':') {
                ++at_;
                expect = Expect::value;
            } else if (expect == Expect::comma_or_close && c == ',') {
                ++at_;
                expect = objects_.back() ? Expect::key : Expect::value;
            } else {
                return at_;
            }
        }
    }

private:
    // Each of these leaves `at_` at the fault where it fails.

    bool skip_string(bool& escaped) {
        ++at_;
        while (true) {
            const std::string_view rest = json_.substr(at_);
            const std::size_t run = plain_run(rest);
            at_ += run;
            if (run > 0) { continue; }
            if (rest.empty()) { return false; }
            if (rest[0] == '"') { break; }
            const std::size_t size = utf8_size(rest);
            if (size == 0 || static_cast<unsigned char>(rest[0]) < 0x20) { return false; }
            if (rest[0] == '\\') {
                escaped = true;
                if (!skip_escape(rest)) { return false; }
            } else {
                at_ += size;
            }
        }
        ++at_;
        return true;
    }

    // How many bytes of ASCII without quotes, backslashes and control characters come first. The arithmetic may take a
    // plain byte for another one only behind a byte that is none itself.
    static std::size_t plain_run(std::string_view text) {
        constexpr std::uint64_t ones = 0x0101010101010101ULL;
        constexpr std::uint64_t highs = 0x8080808080808080ULL;
        const auto zeros = [](std::uint64_t word) { return (word - ones) & ~word; };
        std::size_t at = 0;
        for (std::uint64_t word = 0; at + 8 <= text.size(); at += 8) {
            std::memcpy(&word, text.data() + at, 8);
            const std::uint64_t found = (word | (word - ones * 0x20) | zeros(word ^ (ones * '"')) |
                                         zeros(word ^ (ones * '\\'))) &
                                        highs;
            if (found == 0) { continue; }
            if constexpr (std::endian::native == std::endian::little) {
                at += static_cast<std::size_t>(std::countr_zero(found)) / 8;
            }
            break;
        }
        return at;
    }

    bool skip_escape(std::string_view rest) {
        constexpr std::string_view letters = "\"\\/bfnrt";
        if (rest.size() > 1 && letters.find(rest[1]) != std::string_view::npos) {
            at_ += 2;
            return true;
        }
        std::size_t digits = 2;
        if (rest.size() > 1 && rest[1] == 'u') {
            while (digits < 6 && digits < rest.size() &&
                   hex_digits[static_cast<unsigned char>(rest[digits])]) {
                ++digits;
            }
        }
        const bool cut_off = rest.size() == 1 || (rest[1] == 'u' && digits == rest.size() && digits < 6);
        if (cut_off) { at_ = json_.size(); }
        if (digits == 6) { at_ += 6; }
        return digits == 6;
    }

    bool skip_scalar() {
        const std::string_view rest = json_.substr(at_);
        const std::string_view scalar = rest.substr(0, rest.find_first_of(" \t\r\n{}[],:\""));
        const std::size_t size = scalar_size(scalar);
        at_ += size;
        if (size > 0) { return true; }
        // a whole scalar and then a byte that is no UTF-8: that byte is the fault
        for (std::size_t i = 0; i < scalar.size();) {
            const std::size_t character = utf8_size(scalar.substr(i));
            if (character == 0 && scalar_size(scalar.substr(0, i)) > 0) { at_ += i; }
            if (character != 1) { return false; }
            ++i;
        }
        return false;
    }

    std::string_view json_;
    std::vector<bool>& objects_;  // of the containers around, from the outside in, which are objects
    Events events_;
    std::size_t at_ = 0;
};

}  // namespace coppice::detail
