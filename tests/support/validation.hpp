// SPDX-License-Identifier: MIT

// What the request validators of several dialects share. Written without the library on purpose: a mistake
// there must not be repeated here.
//
// A finding is the name of a predicate and the path it failed at: "C-V1 messages[3]". Names with V are about
// one body, names with Δ about a body and what became of it, names with Σ about two prunings of one body.
//
// Nothing here recurses per level of a document, but `dumped` and `dumped_size`: those are for values that are
// known to nest at most `max_depth` levels.

#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace validation {

using Json = nlohmann::ordered_json;
using Findings = std::vector<std::string>;

inline constexpr std::size_t max_depth = 1000;

// --- members of documents of any shape ---------------------------------------------------------------------

/// The string a value holds, or null.
inline const std::string* string_of(const Json& value) { return value.get_ptr<const Json::string_t*>(); }
inline const Json::array_t* array_of(const Json& value) { return value.get_ptr<const Json::array_t*>(); }
inline const Json::object_t* object_of(const Json& value) { return value.get_ptr<const Json::object_t*>(); }

/// The value under `key`, or null, also when `object` is none.
inline const Json* find(const Json& object, std::string_view key) {
    if (const Json::object_t* const fields = object_of(object)) {
        for (const auto& field : *fields) {
            if (field.first == key) { return &field.second; }
        }
    }
    return nullptr;
}

inline bool has(const Json& object, std::string_view key) { return find(object, key) != nullptr; }

/// `key` is there and not null.
inline bool has_value(const Json& object, std::string_view key) {
    const Json* const value = find(object, key);
    return value != nullptr && !value->is_null();
}

/// The string under `key`, or null.
inline const std::string* string_at(const Json& object, std::string_view key) {
    const Json* const value = find(object, key);
    return value == nullptr ? nullptr : string_of(*value);
}

/// The string under `key`, or an empty one.
inline std::string_view text_at(const Json& object, std::string_view key) {
    const std::string* const text = string_at(object, key);
    return text == nullptr ? std::string_view{} : std::string_view{*text};
}

inline const Json::array_t* array_at(const Json& object, std::string_view key) {
    const Json* const value = find(object, key);
    return value == nullptr ? nullptr : array_of(*value);
}

inline std::string_view type_of(const Json& value) { return text_at(value, "type"); }
inline std::string_view role_of(const Json& message) { return text_at(message, "role"); }

template <std::size_t Count>
bool is_one_of(std::string_view text, const std::array<std::string_view, Count>& names) {
    return std::find(names.begin(), names.end(), text) != names.end();
}

// --- paths and findings --------------------------------------------------------------------------------------

/// "path[index]"
inline std::string at(std::string_view path, std::size_t index) {
    return std::string{path} + "[" + std::to_string(index) + "]";
}

/// "path.key", or the key alone where the path is empty.
inline std::string member(std::string_view path, std::string_view key) {
    return path.empty() ? std::string{key} : std::string{path} + "." + std::string{key};
}

inline void report(Findings& findings, std::string_view predicate, std::string_view path) {
    findings.push_back(std::string{predicate} + " " + std::string{path});
}

/// Some finding has this predicate: "C-V1" is named by "C-V1 messages[3]", not by "C-V12 body".
inline bool names(const Findings& findings, std::string_view predicate) {
    return std::any_of(findings.begin(), findings.end(), [predicate](std::string_view finding) {
        return finding.substr(0, predicate.size()) == predicate &&
               finding.substr(predicate.size()).substr(0, 1) == " ";
    });
}

/// What `after` has more often than `before`, in the order of `after`.
inline Findings added(Findings before, const Findings& after) {
    std::sort(before.begin(), before.end());
    Findings result;
    for (const std::string& finding : after) {
        const auto found = std::lower_bound(before.begin(), before.end(), finding);
        if (found != before.end() && *found == finding) {
            before.erase(found);
        } else {
            result.push_back(finding);
        }
    }
    return result;
}

// --- strings -------------------------------------------------------------------------------------------------

/// Nothing but white space as Unicode has it, for a text that is valid UTF-8.
inline bool is_blank(std::string_view text) {
    constexpr std::array<std::string_view, 25> spaces{
        " ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085", "\u00a0", "\u1680",
        "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006", "\u2007", "\u2008",
        "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
    while (!text.empty()) {
        const auto space = std::find_if(spaces.begin(), spaces.end(), [text](std::string_view candidate) {
            return text.substr(0, candidate.size()) == candidate;
        });
        if (space == spaces.end()) { return false; }
        text.remove_prefix(space->size());
    }
    return true;
}

inline bool is_utf8(std::string_view text) {
    std::size_t place = 0;
    while (place < text.size()) {
        const auto lead = static_cast<unsigned char>(text[place]);
        std::size_t length = 1;
        std::uint32_t code_point = lead;
        if (lead >= 0xf0) {
            length = 4;
            code_point = lead & 0x07U;
        } else if (lead >= 0xe0) {
            length = 3;
            code_point = lead & 0x0fU;
        } else if (lead >= 0xc0) {
            length = 2;
            code_point = lead & 0x1fU;
        }
        if ((lead >= 0x80 && lead < 0xc0) || lead > 0xf4 || length > text.size() - place) { return false; }
        for (std::size_t i = 1; i < length; ++i) {
            const auto next = static_cast<unsigned char>(text[place + i]);
            if ((next & 0xc0U) != 0x80U) { return false; }
            code_point = (code_point << 6U) | (next & 0x3fU);
        }
        constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
        const bool is_surrogate = code_point >= 0xd800 && code_point <= 0xdfff;
        if (code_point < least[length] || code_point > 0x10ffff || is_surrogate) { return false; }
        place += length;
    }
    return true;
}

// --- whole values --------------------------------------------------------------------------------------------

/// Arrays and objects lie more than `levels` deep in each other.
inline bool is_deeper_than(const Json& value, std::size_t levels) {
    std::vector<std::pair<const Json*, std::size_t>> open{{&value, 0}};
    while (!open.empty()) {
        const Json& next = *open.back().first;
        const std::size_t depth = open.back().second + 1;
        open.pop_back();
        if (!next.is_structured()) { continue; }
        if (depth > levels) { return true; }
        for (const Json& child : next) { open.emplace_back(&child, depth); }
    }
    return false;
}

/// Every string and every key is UTF-8.
inline bool has_valid_strings(const Json& value) {
    std::vector<const Json*> open{&value};
    while (!open.empty()) {
        const Json& next = *open.back();
        open.pop_back();
        const std::string* const text = string_of(next);
        if (text != nullptr && !is_utf8(*text)) { return false; }
        if (const Json::object_t* const fields = object_of(next)) {
            for (const auto& field : *fields) {
                if (!is_utf8(field.first)) { return false; }
                open.push_back(&field.second);
            }
        } else if (const Json::array_t* const items = array_of(next)) {
            for (const Json& item : *items) { open.push_back(&item); }
        }
    }
    return true;
}

inline std::string dumped(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Bytes of the value as JSON without white space.
inline std::size_t dumped_size(const Json& value) { return dumped(value).size(); }

/// Equal down to key order and number spelling, as far as a parsed value still knows it.
inline bool same(const Json& left, const Json& right) {
    std::vector<std::pair<const Json*, const Json*>> open{{&left, &right}};
    while (!open.empty()) {
        const Json& a = *open.back().first;
        const Json& b = *open.back().second;
        open.pop_back();
        if (a.is_number_integer() && b.is_number_integer()) {
            if (a != b) {  // signed or unsigned storage is no difference in spelling
                return false;
            }
            continue;
        }
        if (a.type() != b.type()) { return false; }
        if (const Json::object_t* const fields = object_of(a)) {
            const Json::object_t& others = *object_of(b);
            if (fields->size() != others.size()) { return false; }
            auto other = others.begin();
            for (const auto& field : *fields) {
                if (field.first != other->first) { return false; }
                open.emplace_back(&field.second, &other->second);
                ++other;
            }
        } else if (const Json::array_t* const items = array_of(a)) {
            const Json::array_t& others = *array_of(b);
            if (items->size() != others.size()) { return false; }
            for (std::size_t i = 0; i < items->size(); ++i) { open.emplace_back(&(*items)[i], &others[i]); }
        } else if (a.is_number_float() ? a.dump() != b.dump() : a != b) {
            return false;
        }
    }
    return true;
}

inline bool same_or_both_absent(const Json* left, const Json* right) {
    return left == nullptr || right == nullptr ? left == right : same(*left, *right);
}

inline bool is_same_at(const Json& left, const Json& right, std::string_view key) {
    return same_or_both_absent(find(left, key), find(right, key));
}

/// All fields that are not open are the same, all keys are in the same order, but for those that are ignored.
/// A change of a field is reported as `predicate_for(key)`, one of the keys as U-Δ3.
template <class IsOpen, class IsIgnored, class PredicateFor>
void compare_fields(const Json& before, const Json& after, std::string_view path, const IsOpen& is_open,
                    const IsIgnored& is_ignored, const PredicateFor& predicate_for, Findings& findings) {
    const Json::object_t* const left = object_of(before);
    const Json::object_t* const right = object_of(after);
    const std::string_view shown = path.empty() ? std::string_view{"body"} : path;
    if (left == nullptr || right == nullptr) {
        if (!same(before, after)) { report(findings, "U-Δ3", shown); }
        return;
    }
    std::vector<std::string_view> left_keys;
    std::vector<std::string_view> right_keys;
    for (const auto& field : *left) {
        const std::string_view key = field.first;
        if (is_ignored(key)) { continue; }
        left_keys.push_back(key);
        if (!is_open(key) && !same_or_both_absent(&field.second, find(after, key))) {
            report(findings, predicate_for(key), member(path, key));
        }
    }
    for (const auto& field : *right) {
        const std::string_view key = field.first;
        if (is_ignored(key)) { continue; }
        right_keys.push_back(key);
        if (!is_open(key) && !has(before, key)) { report(findings, predicate_for(key), member(path, key)); }
    }
    if (left_keys != right_keys) { report(findings, "U-Δ3", std::string{shown} + " (keys)"); }
}

template <class IsOpen, class PredicateFor>
void compare_fields(const Json& before, const Json& after, std::string_view path, const IsOpen& is_open,
                    const PredicateFor& predicate_for, Findings& findings) {
    compare_fields(
        before, after, path, is_open, [](std::string_view) { return false; }, predicate_for, findings);
}

/// Strings that are not UTF-8, as U-V1. Items under `list_key` have paths of their own.
inline void check_strings(const Json& body, std::string_view list_key, Findings& findings) {
    if (const Json::object_t* const fields = object_of(body)) {
        for (const auto& field : *fields) {
            if (!is_utf8(field.first)) {
                report(findings, "U-V1", "body");
            } else if ((field.first != list_key || !field.second.is_array()) &&
                       !has_valid_strings(field.second)) {
                report(findings, "U-V1", field.first);
            }
        }
    }
    const Json::array_t* const items = body.is_array() ? array_of(body) : array_at(body, list_key);
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
        if (!has_valid_strings((*items)[i])) { report(findings, "U-V1", at(list_key, i)); }
    }
}

// --- inputs of tool calls ------------------------------------------------------------------------------------
//
// A pruner may replace string values of an input that is an object, at any depth. Nothing else, and never by a blank
// string.

/// Compares an input that is a value. Says nothing about its size.
inline void compare_input(const Json& before, const Json& after, std::string_view path, Findings& findings) {
    struct Pair {
        const Json* left;
        const Json* right;
        std::string path;
    };
    std::vector<Pair> open;
    const auto compare_objects = [&](const Pair& pair) {
        const Json::object_t& left = *object_of(*pair.left);
        auto other = object_of(*pair.right)->begin();
        for (const auto& field : left) {
            if (field.first != other->first) {
                report(findings, "U-Δ3", pair.path + " (keys)");
                return;
            }
            open.push_back(Pair{&field.second, &other->second, member(pair.path, field.first)});
            ++other;
        }
    };
    if (object_of(before) == nullptr || object_of(after) == nullptr) {
        if (!same(before, after)) { report(findings, "U-Δ3", path); }
        return;
    }
    open.push_back(Pair{&before, &after, std::string{path}});
    while (!open.empty()) {
        const Pair pair = std::move(open.back());
        open.pop_back();
        if (same(*pair.left, *pair.right)) { continue; }
        if (pair.left->is_string() && pair.right->is_string()) {
            if (is_blank(*string_of(*pair.right))) { report(findings, "U-Δ4", pair.path + " (blank)"); }
        } else if (pair.left->type() != pair.right->type() || !pair.left->is_structured() ||
                   pair.left->size() != pair.right->size()) {
            report(findings, "U-Δ3", pair.path);
        } else if (pair.left->is_object()) {
            compare_objects(pair);
        } else {
            for (std::size_t i = 0; i < pair.left->size(); ++i) {
                open.push_back(Pair{&(*pair.left)[i], &(*pair.right)[i], at(pair.path, i)});
            }
        }
    }
}

/// One token of a JSON text: a structural character, a key, a string value, or another scalar.
struct TextToken {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool is_replaceable = false;  ///< a string value where a pruner may replace it

    std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
};

namespace detail {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// End of the string that starts at `begin` with its quote, or `npos`.
inline std::size_t string_end(std::string_view text, std::size_t begin) {
    for (std::size_t i = begin + 1; i < text.size(); ++i) {
        if (text[i] == '"') { return i + 1; }
        if (static_cast<unsigned char>(text[i]) < 0x20) { return std::string_view::npos; }
        if (text[i] != '\\') { continue; }
        ++i;
        if (i < text.size() && text[i] == 'u') {
            if (text.size() - i < 5 ||
                !std::all_of(text.begin() + static_cast<std::ptrdiff_t>(i + 1),
                             text.begin() + static_cast<std::ptrdiff_t>(i + 5), is_hex)) {
                return std::string_view::npos;
            }
            i += 4;
        } else if (i >= text.size() ||
                   std::string_view{"\"\\/bfnrt"}.find(text[i]) == std::string_view::npos) {
            return std::string_view::npos;
        }
    }
    return std::string_view::npos;
}

/// End of the number, `true`, `false` or `null` that starts at `begin`, or `npos`.
inline std::size_t scalar_end(std::string_view text, std::size_t begin) {
    for (const std::string_view word : {"true", "false", "null"}) {
        if (text.substr(begin, word.size()) == word) { return begin + word.size(); }
    }
    std::size_t i = begin;
    const auto is_at = [&](char c) { return i < text.size() && text[i] == c; };
    const auto skip_digits = [&] {
        const std::size_t first = i;
        while (i < text.size() && is_digit(text[i])) { ++i; }
        return i > first;
    };
    i += is_at('-') ? 1U : 0U;
    if (is_at('0')) {
        ++i;
    } else if (!skip_digits()) {
        return std::string_view::npos;
    }
    if (is_at('.')) {
        ++i;
        if (!skip_digits()) { return std::string_view::npos; }
    }
    if (is_at('e') || is_at('E')) {
        ++i;
        i += is_at('+') || is_at('-') ? 1U : 0U;
        if (!skip_digits()) { return std::string_view::npos; }
    }
    return i;
}

}  // namespace detail

/// The tokens of a text that is one JSON value, in UTF-8, with numbers of any size.
inline std::optional<std::vector<TextToken>> tokens_of(std::string_view text) {
    enum class Expected { value, value_or_end, key, key_or_end, colon, comma_or_end, nothing };
    if (!is_utf8(text)) { return std::nullopt; }
    std::vector<TextToken> tokens;
    std::string open;  // the brackets around a place
    Expected expected = Expected::value;
    const auto after_value = [&open] { return open.empty() ? Expected::nothing : Expected::comma_or_end; };
    std::size_t i = 0;
    while (i < text.size()) {
        const char c = text[i];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            ++i;
            continue;
        }
        const bool wants_value = expected == Expected::value || expected == Expected::value_or_end;
        const bool wants_key = expected == Expected::key || expected == Expected::key_or_end;
        std::size_t end = i + 1;
        bool is_replaceable = false;
        if (c == '"' && (wants_value || wants_key)) {
            end = detail::string_end(text, i);
            is_replaceable = wants_value && !open.empty() && open.front() == '{';
            expected = wants_key ? Expected::colon : after_value();
        } else if ((c == '{' || c == '[') && wants_value) {
            open.push_back(c);
            expected = c == '{' ? Expected::key_or_end : Expected::value_or_end;
        } else if (c == '}' && !open.empty() && open.back() == '{' &&
                   (expected == Expected::key_or_end || expected == Expected::comma_or_end)) {
            open.pop_back();
            expected = after_value();
        } else if (c == ']' && !open.empty() && open.back() == '[' &&
                   (expected == Expected::value_or_end || expected == Expected::comma_or_end)) {
            open.pop_back();
            expected = after_value();
        } else if (c == ':' && expected == Expected::colon) {
            expected = Expected::value;
        } else if (c == ',' && expected == Expected::comma_or_end) {
            expected = open.back() == '{' ? Expected::key : Expected::value;
        } else if (wants_value) {
            end = detail::scalar_end(text, i);
            expected = after_value();
        } else {
            return std::nullopt;
        }
        if (end == std::string_view::npos) { return std::nullopt; }
        tokens.push_back(TextToken{i, end, is_replaceable});
        i = end;
    }
    if (expected != Expected::nothing) { return std::nullopt; }
    return tokens;
}

inline bool is_json_text(std::string_view text) { return tokens_of(text).has_value(); }

inline bool is_object_text(std::string_view text) {
    const std::optional<std::vector<TextToken>> tokens = tokens_of(text);
    return tokens.has_value() && text[tokens->front().begin] == '{';
}

/// A \uXXXX escape is one half of a pair whose other half is missing. The text is JSON or was once.
inline bool has_lone_surrogate(std::string_view text) {
    const auto code_unit = [text](std::size_t place) -> std::uint32_t {
        if (text.size() - std::min(text.size(), place) < 6 || text[place] != '\\' || text[place + 1] != 'u') {
            return 0;
        }
        std::uint32_t value = 0;
        for (std::size_t i = place + 2; i < place + 6; ++i) {
            const char c = text[i];
            if (!detail::is_hex(c)) { return 0; }
            const int digit = detail::is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
            value = value * 16 + static_cast<std::uint32_t>(digit);
        }
        return value;
    };
    const auto is_high = [](std::uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; };
    const auto is_low = [](std::uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; };
    std::size_t i = 0;
    while (i < text.size()) {
        if (text[i] != '\\') {
            ++i;
            continue;
        }
        const std::uint32_t unit = code_unit(i);
        if (is_low(unit) || (is_high(unit) && !is_low(code_unit(i + 6)))) { return true; }
        i += is_high(unit) ? 12U : 2U;
    }
    return false;
}

/// Compares an input that is a JSON text. Outside of replaced strings not a byte may differ.
/// An object that is none any more is reported as `broken`.
inline void compare_input_text(std::string_view before, std::string_view after, std::string_view path,
                               std::string_view broken, Findings& findings) {
    if (before == after) { return; }
    if (!is_object_text(before)) {
        report(findings, "U-Δ3", path);
        return;
    }
    if (!is_object_text(after)) {
        report(findings, broken, path);
        return;
    }
    const std::vector<TextToken> left = *tokens_of(before);
    const std::vector<TextToken> right = *tokens_of(after);
    if (left.size() != right.size()) {
        report(findings, "U-Δ3", path);
        return;
    }
    std::size_t left_end = 0;
    std::size_t right_end = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        const std::string_view old_token = left[i].in(before);
        const std::string_view new_token = right[i].in(after);
        const bool has_same_space = before.substr(left_end, left[i].begin - left_end) ==
                                    after.substr(right_end, right[i].begin - right_end);
        left_end = left[i].end;
        right_end = right[i].end;
        if (has_same_space && old_token == new_token) { continue; }
        if (!has_same_space || !left[i].is_replaceable || !right[i].is_replaceable) {
            report(findings, "U-Δ3", path);
            return;
        }
        const Json old_value = Json::parse(old_token, nullptr, false);
        const Json new_value = Json::parse(new_token, nullptr, false);
        if (!new_value.is_string() || is_blank(*string_of(new_value))) {
            report(findings, "U-Δ4", std::string{path} + " (blank)");
        } else if (old_value.is_string() && old_value == new_value) {
            report(findings, "U-Δ3", std::string{path} + " (spelling)");
        }
    }
    if (before.substr(left_end) != after.substr(right_end)) { report(findings, "U-Δ3", path); }
}

// --- what is kept around a replaced payload -----------------------------------------------------------------

/// A field found somewhere inside a value.
struct FoundField {
    std::string_view key;
    const Json* owner = nullptr;
    const Json* value = nullptr;
};

/// The fields with one of `keys` in document order. Neither they nor the fields under `skipped` are looked into.
template <std::size_t Count, std::size_t Skipped>
std::vector<FoundField> fields_under(const Json& value, const std::array<std::string_view, Count>& keys,
                                     const std::array<std::string_view, Skipped>& skipped) {
    std::vector<FoundField> found;
    std::vector<FoundField> open{FoundField{{}, nullptr, &value}};
    while (!open.empty()) {
        const FoundField next = open.back();
        open.pop_back();
        if (is_one_of(next.key, keys)) {
            found.push_back(next);
            continue;
        }
        if (const Json::object_t* const fields = object_of(*next.value)) {
            for (auto field = fields->rbegin(); field != fields->rend(); ++field) {
                if (!is_one_of(field->first, skipped)) {
                    open.push_back(FoundField{field->first, next.value, &field->second});
                }
            }
        } else if (const Json::array_t* const items = array_of(*next.value)) {
            for (auto item = items->rbegin(); item != items->rend(); ++item) {
                open.push_back(FoundField{{}, nullptr, &*item});
            }
        }
    }
    return found;
}

inline bool are_same(const std::vector<FoundField>& left, const std::vector<FoundField>& right) {
    return std::equal(
        left.begin(), left.end(), right.begin(), right.end(),
        [](const FoundField& a, const FoundField& b) { return a.key == b.key && same(*a.value, *b.value); });
}

/// Keys of cache marks in dialects whose parts carry them as fields.
inline constexpr std::array<std::string_view, 2> mark_keys{"cache_control", "prompt_cache_breakpoint"};

/// The marks in `after` are those of `before` in the same order, and on no more parts. Tool call inputs are
/// not looked into.
inline bool keeps_marks(const Json& before, const Json& after) {
    constexpr std::array<std::string_view, 2> inputs{"arguments", "input"};
    const auto owners_of = [](const std::vector<FoundField>& marks) {
        std::vector<const Json*> owners;
        for (const FoundField& mark : marks) { owners.push_back(mark.owner); }
        return static_cast<std::size_t>(std::unique(owners.begin(), owners.end()) - owners.begin());
    };
    const std::vector<FoundField> left = fields_under(before, mark_keys, inputs);
    const std::vector<FoundField> right = fields_under(after, mark_keys, inputs);
    return are_same(left, right) && owners_of(right) <= owners_of(left);
}

/// How a dialect writes the parts of a tool result.
struct PartRules {
    std::string_view text_type;                               ///< type of a part with a `text`
    bool (*is_replaceable)(std::string_view type) = nullptr;  ///< parts of this type may become text or go
};

/// A list of parts may become one or more texts, in place or all together. Says nothing about marks and size.
inline void compare_parts(const Json::array_t& before, const Json::array_t& after, const PartRules& rules,
                          std::string_view path, Findings& findings) {
    const auto is_text = [&rules](const Json& part) { return type_of(part) == rules.text_type; };
    const auto is_mark = [](std::string_view key) { return is_one_of(key, mark_keys); };
    const auto check_new_text = [&](const Json& part, const std::string& part_path) {
        if (!is_text(part)) {
            report(findings, "U-Δ3", part_path);
        } else if (is_blank(text_at(part, "text"))) {
            report(findings, "U-Δ4", part_path + " (blank)");
        }
    };
    const auto check_has_no_other_fields = [&](const Json& part, const std::string& part_path) {
        if (const Json::object_t* const fields = object_of(part)) {
            for (const auto& field : *fields) {
                if (field.first != "type" && field.first != "text" && !is_mark(field.first)) {
                    report(findings, "U-Δ3", member(part_path, field.first));
                }
            }
        }
    };
    if (after.empty()) {
        report(findings, "U-Δ4", std::string{path} + " (blank)");
        return;
    }
    const bool is_in_place = before.size() == after.size();
    std::size_t next = 0;  // part of `before` that was not met so far
    for (std::size_t i = 0; i < after.size(); ++i) {
        const std::string part_path = at(path, i);
        if (is_in_place) { next = i; }
        std::size_t kept = next;
        const std::size_t end = is_in_place ? i + 1 : before.size();
        while (kept < end && !same(before[kept], after[i])) { ++kept; }
        if (kept < end) {
            for (; next < kept; ++next) {
                if (!rules.is_replaceable(type_of(before[next]))) {
                    report(findings, "U-Δ3", at(path, next) + " (part)");
                }
            }
            next = kept + 1;
            continue;
        }
        check_new_text(after[i], part_path);
        if (is_in_place && is_text(before[i])) {
            compare_fields(
                before[i], after[i], part_path, [](std::string_view key) { return key == "text"; }, is_mark,
                [](std::string_view) { return "U-Δ3"; }, findings);
        } else {
            check_has_no_other_fields(after[i], part_path);
        }
        if (is_in_place && !rules.is_replaceable(type_of(before[i]))) {
            report(findings, "U-Δ3", part_path + " (part)");
        }
    }
    for (; !is_in_place && next < before.size(); ++next) {
        if (!rules.is_replaceable(type_of(before[next]))) {
            report(findings, "U-Δ3", at(path, next) + " (part)");
        }
    }
}

/// A replaced result: its kind is kept, its words are no blanks, and it is smaller than before.
inline void compare_payload(const Json& before, const Json& after, const PartRules& rules,
                            std::string_view path, Findings& findings) {
    if (same(before, after)) { return; }
    if (before.is_string() && after.is_string()) {
        if (is_blank(*string_of(after))) { report(findings, "U-Δ4", std::string{path} + " (blank)"); }
    } else if (before.is_array() && after.is_array()) {
        compare_parts(*array_of(before), *array_of(after), rules, path, findings);
    } else {
        report(findings, "U-Δ4", std::string{path} + " (kind)");
    }
    if (dumped_size(after) >= dumped_size(before)) {
        report(findings, "U-Δ4", std::string{path} + " (not smaller)");
    }
}

// --- two prunings of one body --------------------------------------------------------------------------------

/// What `second` restored or replaced in another way than `first` did, as U-Σ2. `second` may be longer: its
/// lists begin with those of `first`. Strings that are JSON objects are compared token by token.
inline Findings unstable_changes(const Json& original, const Json& first, const Json& second) {
    struct Places {
        const Json* original;
        const Json* first;
        const Json* second;
        std::string path;
    };
    Findings findings;
    std::vector<Places> open{Places{&original, &first, &second, {}}};
    while (!open.empty()) {
        const Places places = std::move(open.back());
        open.pop_back();
        const Json& was = *places.original;
        const Json& became = *places.first;
        const Json& is = *places.second;
        if (same(was, became) || same(became, is)) { continue; }
        const std::string shown = places.path.empty() ? "body" : places.path;
        const Json::object_t* const fields = object_of(was);
        const Json::array_t* const items = array_of(was);
        if (fields != nullptr && became.is_object() && is.is_object()) {
            for (const auto& field : *object_of(became)) {
                const Json* const old_value = find(was, field.first);
                const Json* const new_value = find(is, field.first);
                if (old_value != nullptr && new_value != nullptr) {
                    open.push_back(
                        Places{old_value, &field.second, new_value, member(places.path, field.first)});
                } else if (new_value == nullptr || !same(field.second, *new_value)) {
                    report(findings, "U-Σ2", member(places.path, field.first));
                }
            }
            continue;
        }
        if (items != nullptr && became.is_array() && is.is_array() && items->size() == became.size() &&
            is.size() >= became.size()) {
            for (std::size_t i = 0; i < items->size(); ++i) {
                open.push_back(
                    Places{&(*items)[i], &(*array_of(became))[i], &(*array_of(is))[i], at(places.path, i)});
            }
            continue;
        }
        bool is_stable = false;
        if (was.is_string() && became.is_string() && is.is_string() && is_object_text(*string_of(was)) &&
            is_object_text(*string_of(became)) && is_object_text(*string_of(is))) {
            const std::vector<TextToken> old_tokens = *tokens_of(*string_of(was));
            const std::vector<TextToken> first_tokens = *tokens_of(*string_of(became));
            const std::vector<TextToken> second_tokens = *tokens_of(*string_of(is));
            is_stable =
                old_tokens.size() == first_tokens.size() && first_tokens.size() == second_tokens.size();
            for (std::size_t i = 0; is_stable && i < old_tokens.size(); ++i) {
                const std::string_view token = first_tokens[i].in(*string_of(became));
                is_stable = token == old_tokens[i].in(*string_of(was)) ||
                            token == second_tokens[i].in(*string_of(is));
            }
        }
        if (!is_stable) { report(findings, "U-Σ2", shown); }
    }
    return findings;
}

}  // namespace validation
