// SPDX-License-Identifier: MIT
#pragma once

// Parts as a configuration has them, and its schema, both made of the library's table.

#include <coppice/config.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace support {

namespace config {

using Ordered = nlohmann::ordered_json;

inline Ordered written(std::size_t value) { return value; }
inline Ordered written(bool value) { return value; }
inline Ordered written(const coppice::Size& size) {
    if (size.unit == coppice::Unit::bytes) { return size.value; }
    return Ordered{{std::string(name_of(size.unit)), size.value}};
}
inline Ordered written(std::span<const std::string_view> names) {
    Ordered list = Ordered::array();
    for (const std::string_view name : names) { list.push_back(name); }
    return list;
}
inline Ordered written(const coppice::Prices& prices) {
    for (const coppice::prices::Row& row : coppice::prices::rows) {
        if (row.prices == prices) { return row.name; }
    }
    return {{"write", prices.write}, {"read", prices.read}};
}
inline Ordered written(const coppice::CacheRules& rules) {
    Ordered out = Ordered::object();
    const auto add = [&out](const char* key, std::size_t value) {
        if (value != coppice::CacheRules::of_dialect) { out[key] = value; }
    };
    add("look_back", rules.look_back);
    add("minimum_tokens", rules.minimum_tokens);
    return out;
}
template <class Word>
requires std::is_enum_v<Word>
Ordered written(Word value) {
    for (const auto& word : coppice::detail::config_words(value)) {
        if (word.value == value) { return word.word; }
    }
    return nullptr;
}

template <class Table, class Visit>
void for_each(const Table& table, Visit visit) {
    std::apply([&](const auto&... entry) { (visit(entry), ...); }, table);
}
template <class Entry>
using part_of = typename std::remove_cvref_t<Entry>::Part;

inline Ordered refer_to(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

inline Ordered schema_of(std::size_t) { return refer_to("count"); }
inline Ordered schema_of(bool) { return {{"type", "boolean"}}; }
inline Ordered schema_of(const coppice::Size&) { return refer_to("size"); }
inline Ordered schema_of(std::span<const std::string_view>) { return refer_to("names"); }
inline Ordered schema_of(const coppice::Prices&) { return refer_to("prices"); }
inline Ordered schema_of(const coppice::CacheRules&) { return refer_to("rules"); }
template <class Word>
requires std::is_enum_v<Word>
Ordered schema_of(Word) {
    Ordered words = Ordered::array();
    for (const auto& word : coppice::detail::config_words(Word{})) { words.push_back(word.word); }
    return {{"enum", words}};
}
inline Ordered schema_of(std::size_t, const coppice::detail::ConfigWord<std::size_t>& word) {
    return {{"oneOf", {refer_to("count"), {{"const", word.word}}}}};
}

template <class Table>
Ordered names_in(const Table& table) {
    Ordered names = Ordered::array();
    for_each(table, [&](const auto& entry) { names.push_back(part_of<decltype(entry)>::name); });
    return names;
}

// one of the parts of a table, and their definitions
template <class Table>
Ordered family(const Table& table, const std::string& name, Ordered& defs) {
    Ordered any = Ordered::array({Ordered{{"enum", names_in(table)}}});
    for_each(table, [&](const auto& entry) {
        const part_of<decltype(entry)> part;
        Ordered properties{{"name", {{"const", part.name}}}};
        entry.fields(part, [&](std::string_view key, const auto& field, auto... word) {
            Ordered of_field = schema_of(field, word...);
            of_field["default"] = written(field);
            properties[std::string(key)] = of_field;
        });
        defs[name + "." + std::string(part.name)] = {{"type", "object"},
                                                     {"required", {"name"}},
                                                     {"additionalProperties", false},
                                                     {"properties", properties}};
        any.push_back(refer_to(name + "." + std::string(part.name)));
    });
    return {{"oneOf", any}};
}

}  // namespace config

/// A part as a configuration has it, every field included.
template <class P, class Table>
nlohmann::ordered_json written_part(const P& part, const Table& table) {
    config::Ordered out = config::Ordered::object();
    config::for_each(table, [&](const auto& entry) {
        if constexpr (config::part_of<decltype(entry)>::name == P::name) {
            out["name"] = part.name;
            entry.fields(part, [&](std::string_view key, const auto& field, auto...) {
                out[std::string(key)] = config::written(field);
            });
        }
    });
    return out;
}

/// What `cmake/config.schema.json` has to say.
inline nlohmann::ordered_json config_schema() {
    using namespace config;
    namespace table = coppice::detail;
    Ordered parts = Ordered::object();
    const Ordered policy = family(table::config_policies, "policy", parts);
    const Ordered cadence = family(table::config_cadences, "cadence", parts);
    const Ordered wording = family(table::config_wordings, "wording", parts);
    Ordered presets = Ordered::array();
    for_each(table::config_presets, [&](const auto& preset) { presets.push_back(preset.name); });
    Ordered rows = Ordered::array();
    for (const coppice::prices::Row& row : coppice::prices::rows) { rows.push_back(row.name); }

    const auto count = refer_to("count");
    Ordered sizes = Ordered::array({count});
    for (const coppice::Unit unit : {coppice::Unit::bytes, coppice::Unit::chars, coppice::Unit::utf16}) {
        const std::string name(name_of(unit));
        sizes.push_back({{"type", "object"},
                         {"required", {name}},
                         {"additionalProperties", false},
                         {"properties", {{name, count}}}});
    }
    Ordered defs{
        {"count", {{"type", "integer"}, {"minimum", 0}}},
        {"size", {{"description", "A number is bytes."}, {"oneOf", sizes}}},
        {"names", {{"type", "array"}, {"items", {{"type", "string"}, {"minLength", 1}}}}},
        {"prices",
         {{"description", "Thousandths of an input token that has nothing to do with a cache, or the name of a row."},
          {"oneOf",
           {{{"enum", rows}},
            {{"type", "object"},
             {"required", {"write", "read"}},
             {"additionalProperties", false},
             {"properties", {{"write", count}, {"read", count}}}}}}}},
        {"rules",
         {{"type", "object"},
          {"additionalProperties", false},
          {"properties", {{"look_back", count}, {"minimum_tokens", count}}}}},
    };
    for (const auto& part : parts.items()) { defs[part.key()] = part.value(); }
    Ordered properties{
        {"$schema", {{"type", "string"}}},
        {"preset",
         {{"description", "What to start from. Other keys replace that part of it, whole."}, {"enum", presets}}},
        {"policies",
         {{"description", "In the order of running, each at most once. spill is only for hosts that bring a store."},
          {"type", "array"},
          {"minItems", 1},
          {"items", policy}}},
        {"cadence", cadence},
        {"wording", wording},
        {"exempt_tools", {{"oneOf", {{{"const", "steering"}}, refer_to("names")}}}},
        {"exempt_paths", {{"oneOf", {{{"const", "steering"}}, refer_to("names")}}}},
        {"thinking_binding", schema_of(coppice::Binds::by_name)},
    };
    return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
            {"title", "A pipeline of coppice"},
            {"type", "object"},
            {"anyOf", {{{"required", {"preset"}}}, {{"required", {"policies"}}}}},
            {"additionalProperties", false},
            {"properties", properties},
            {"$defs", defs}};
}

}  // namespace support
