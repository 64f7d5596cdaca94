// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/chosen_parts.hpp>
#include <coppice/detail/config_table.hpp>
#include <coppice/detail/reporting.hpp>
#include <coppice/measure.hpp>
#include <coppice/prompt_cache.hpp>
#include <coppice/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace coppice::inline v0::detail {

/// One step of a JSON Pointer for a message: keys may hold anything, and it goes to a terminal.
inline void append_safe_step(std::string& place, std::string_view key) {
    constexpr std::size_t limit = 80;
    std::string step;
    append_pointer_step(step, key);
    append_safe(place, step, limit);
}

/// A value of a configuration, and where it stands.
template <class Json>
struct ConfigValue {
    const Json& json;
    std::string place{};  // JSON Pointer

    [[noreturn]] void fail(std::string_view what) const {
        throw std::invalid_argument(
            std::string("coppice::config: ").append(place.empty() ? "the document" : place).append(what));
    }
    /// `what` of a list of names to choose from.
    template <class Table, class NameOf>
    [[noreturn]] void fail(std::string what, const Table& table, NameOf name_of) const {
        std::string_view comma;
        const auto add = [&](const auto& entry) {
            what.append(comma).append(name_of(entry));
            comma = ", ";
        };
        std::apply([&](const auto&... entry) { (add(entry), ...); }, table);
        fail(what);
    }

    ConfigValue member(std::string_view key) const {
        const auto found = json.find(std::string(key));
        ConfigValue value{found == json.end() ? json : *found, place_of(key)};
        if (found == json.end()) { value.fail(" is missing"); }
        return value;
    }
    template <class Visit>
    void for_each_member(Visit visit) const {
        if (!json.is_object()) { fail(" is no object"); }
        for (auto member = json.begin(); member != json.end(); ++member) {
            const std::string& key = member.key();
            visit(std::string_view(key), ConfigValue{*member, place_of(key)});
        }
    }
    template <class Visit>
    void for_each_item(Visit visit) const {
        if (!json.is_array()) { fail(" is no list"); }
        std::size_t index = 0;
        for (const Json& item : json) { visit(ConfigValue{item, place_of(std::to_string(index++))}); }
    }
    std::string_view text() const {
        if (!json.is_string()) { fail(" is no string"); }
        return json.template get_ref<const typename Json::string_t&>();
    }

private:
    std::string place_of(std::string_view key) const {
        std::string out = place;
        append_safe_step(out, key);
        return out;
    }
};

template <class Json>
void read_config(const ConfigValue<Json>& from, std::size_t& to, ChosenPolicies&) {
    const Json& json = from.json;
    const bool whole = json.is_number_unsigned() ||
                       (json.is_number_integer() && json.template get<std::int64_t>() >= 0);
    if (!whole) { from.fail(" is no whole number"); }
    const auto number = json.template get<std::uint64_t>();
    to = static_cast<std::size_t>(number);
    if (to != number) { from.fail(" is too large"); }
}

template <class Json>
void read_config(const ConfigValue<Json>& from, std::size_t& to, ChosenPolicies& names,
                 const ConfigWord<std::size_t>& word) {
    if (from.json.is_string()) {
        if (from.text() != word.word) {
            from.fail(std::string(" is neither a whole number nor ").append(word.word));
        }
        to = word.value;
    } else {
        read_config(from, to, names);
    }
}

template <class Json>
void read_config(const ConfigValue<Json>& from, bool& to, ChosenPolicies&) {
    if (!from.json.is_boolean()) { from.fail(" is neither true nor false"); }
    to = from.json.template get<bool>();
}

template <class Json>
void read_config(const ConfigValue<Json>& from, Size& to, ChosenPolicies& names) {
    if (!from.json.is_object()) {
        to.unit = Unit::bytes;
        read_config(from, to.value, names);
        return;
    }
    if (from.json.size() != 1) { from.fail(" is no size: it takes one of bytes, chars and utf16"); }
    from.for_each_member([&](std::string_view key, const ConfigValue<Json>& value) {
        for (const Unit unit : {Unit::bytes, Unit::chars, Unit::utf16}) {
            if (key != name_of(unit)) { continue; }
            to.unit = unit;
            read_config(value, to.value, names);
            return;
        }
        value.fail(" is no unit; choose bytes, chars or utf16");
    });
}

template <class Json, class Word>
requires std::is_enum_v<Word>
void read_config(const ConfigValue<Json>& from, Word& to, ChosenPolicies&) {
    const std::string_view text = from.text();
    constexpr auto words = config_words(Word{});
    const auto found = std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.word == text; });
    if (found == words.end()) {
        from.fail(" is unknown; choose ", words, [](const auto& word) { return word.word; });
    }
    to = found->value;
}

template <class Json>
void read_config(const ConfigValue<Json>& from, std::span<const std::string_view>& to, ChosenPolicies& names) {
    std::vector<std::string_view> list;
    from.for_each_item([&](const ConfigValue<Json>& item) {
        if (item.text().empty()) { item.fail(" is empty"); }
        list.push_back(names.names.emplace_back(item.text()));
    });
    to = names.name_lists.emplace_back(std::move(list));
}

template <class Json>
void read_config(const ConfigValue<Json>& from, Prices& to, ChosenPolicies& names) {
    if (from.json.is_string()) {
        const std::string_view text = from.text();
        const auto& rows = prices::rows;
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == text; });
        if (found == rows.end()) {
            from.fail(" names no prices; choose ", rows, [](const auto& row) { return row.name; });
        }
        to = found->prices;
        return;
    }
    from.for_each_member([&](std::string_view key, const ConfigValue<Json>& value) {
        if (key != "write" && key != "read") { value.fail(" is unknown; prices have write and read"); }
    });
    read_config(from.member("write"), to.write, names);
    read_config(from.member("read"), to.read, names);
}

template <class Json>
void read_config(const ConfigValue<Json>& from, CacheRules& to, ChosenPolicies& names) {
    from.for_each_member([&](std::string_view key, const ConfigValue<Json>& value) {
        const bool known = key == "look_back" || key == "minimum_tokens";
        if (!known) { value.fail(" is unknown; rules have look_back and minimum_tokens"); }
        read_config(value, key == "look_back" ? to.look_back : to.minimum_tokens, names);
    });
}

/// What a part says of its own numbers.
template <class Json, class P>
void check_config_part(const ConfigValue<Json>& from, const P& part) {
    if constexpr (requires { part.validate(); }) {
        try {
            part.validate();
        } catch (const std::invalid_argument& error) { from.fail(std::string(": ") + error.what()); }
    }
}

/// Calls `visit(part)` with the part of a table that a value names, its fields as the value has them. A part is written
/// as its name, or as an object with `name` and fields.
template <class Json, class Table, class Visit>
void read_config_part(const ConfigValue<Json>& from, std::string_view family, const Table& table,
                      ChosenPolicies& names, Visit visit) {
    const bool named_only = from.json.is_string();
    if (!named_only && !from.json.is_object()) { from.fail(" is neither a name nor an object with one"); }
    const ConfigValue<Json> name = named_only ? from : from.member("name");
    const auto read = [&](const auto& entry) {
        typename std::remove_cvref_t<decltype(entry)>::Part part;
        if (part.name != name.text()) { return false; }
        const auto read_field = [&](std::string_view key, const ConfigValue<Json>& value) {
            if (key == "name") { return; }
            bool known = false;
            std::string keys;
            entry.fields(part, [&](std::string_view own, auto& field, auto... word) {
                keys.append(keys.empty() ? "" : ", ").append(own);
                if (own != key) { return; }
                known = true;
                read_config(value, field, names, word...);
            });
            if (!known) { value.fail(std::string(" is unknown; ").append(part.name).append(" has ") + keys); }
        };
        if (!named_only) { from.for_each_member(read_field); }
        check_config_part(from, part);
        visit(part);
        return true;
    };
    if (!std::apply([&](const auto&... entry) { return (read(entry) || ...); }, table)) {
        name.fail(std::string(" names no ").append(family) + "; choose ", table,
                  [](const auto& entry) { return std::remove_cvref_t<decltype(entry)>::Part::name; });
    }
}

}  // namespace coppice::detail
