// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/any_pipeline.hpp>
#include <coppice/detail/chosen_parts.hpp>
#include <coppice/detail/config_table.hpp>
#include <coppice/detail/reporting.hpp>
#include <coppice/guards/exempt_tools.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace coppice::detail {

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
        // keys may hold anything, and the message goes to a terminal
        constexpr std::size_t limit = 80;
        std::string step;
        append_pointer_step(step, key);
        std::string out = place;
        append_safe(out, step, limit);
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
        if constexpr (requires { part.validate(); }) {
            try {
                part.validate();
            } catch (const std::invalid_argument& error) { from.fail(std::string(": ") + error.what()); }
        }
        visit(part);
        return true;
    };
    if (!std::apply([&](const auto&... entry) { return (read(entry) || ...); }, table)) {
        name.fail(std::string(" names no ").append(family) + "; choose ", table,
                  [](const auto& entry) { return std::remove_cvref_t<decltype(entry)>::Part::name; });
    }
}

template <class... Entry>
ChosenCadence<typename Entry::Part...> cadence_of(const std::tuple<Entry...>&);
template <class... Entry>
std::variant<typename Entry::Part...> one_of(const std::tuple<Entry...>&);

/// Reads a configuration into a pipeline.
template <class Json, spill_store Store>
class ConfigReader {
public:
    explicit ConfigReader(Store* store) : store_(store) {}

    AnyPipeline read(const Json& document) {
        const Value root{document};
        root.for_each_member([](std::string_view key, const Value& value) {
            constexpr std::array<std::string_view, 7> keys = {
                "preset", "policies", "cadence", "wording", "exempt_tools", "thinking_binding", "$schema"};
            if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
                value.fail(" is unknown; a configuration has ", keys, [](std::string_view known) { return known; });
            }
            if (key == "$schema") { value.text(); }
        });
        const auto where_given = [&](std::string_view key, auto read) {
            if (document.contains(std::string(key))) { read(root.member(key)); }
        };
        where_given("preset", [&](const Value& value) { read_preset(value); });
        where_given("policies", [&](const Value& value) { read_policies(value); });
        where_given("cadence", [&](const Value& value) {
            read_config_part(value, "cadence", config_cadences, *policies_,
                             [&](const auto& part) { cadence_ = Cadence(part); });
        });
        where_given("wording", [&](const Value& value) {
            read_config_part(value, "wording", config_wordings, *policies_, [&](const auto& part) { wording_ = part; });
        });
        where_given("exempt_tools", [&](const Value& value) { read_exempt_tools(value); });
        where_given("thinking_binding", [&](const Value& value) { read_config(value, binding_.when, *policies_); });
        if (names_.empty()) {
            root.fail(" has neither preset nor policies");
        }
        return std::visit([&](const auto& wording) { return composed(wording, root); }, wording_);
    }

private:
    using Value = ConfigValue<Json>;
    using Cadence = decltype(cadence_of(config_cadences));

    void read_preset(const Value& value) {
        const std::string_view name = value.text();
        const auto take = [&](const auto& preset) {
            if (preset.name != name) { return false; }
            take_parts(preset.make());
            return true;
        };
        if (!std::apply([&](const auto&... preset) { return (take(preset) || ...); }, config_presets)) {
            value.fail(" names no preset; choose ", config_presets, [](const auto& preset) { return preset.name; });
        }
    }

    template <class... Parts>
    void take_parts(const Pipeline<Parts...>& preset) {
        (take_part(preset.template part<Parts>()), ...);
    }
    template <class P>
    void take_part(const P& part) {
        if constexpr (policy<P>) {
            add(part, "");
        } else if constexpr (cadence<P>) {
            take_cadence(part);
        } else if constexpr (wording<P>) {
            wording_ = part;
        } else if constexpr (is_thinking_binding<P>) {
            binding_.when = part.when;
        } else {
            static_assert(std::is_same_v<P, ExemptTools>, "coppice::config: no file can name this guard of a preset");
            exempt_ = part;
        }
    }
    // the entry of the table has the same template with other numbers
    template <class C>
    void take_cadence(const C& from) {
        const auto take = [&](const auto& entry) {
            using Part = typename std::remove_cvref_t<decltype(entry)>::Part;
            if constexpr (Part::name == C::name) {
                Part part;
                entry.fields(part, [&](std::string_view key, auto& to, auto...) {
                    entry.fields(from, [&](std::string_view other, const auto& value, auto...) {
                        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>,
                                                     std::remove_cvref_t<decltype(to)>>) {
                            if (key == other) { to = value; }
                        }
                    });
                });
                cadence_ = Cadence(part);
            }
        };
        std::apply([&](const auto&... entry) { (take(entry), ...); }, config_cadences);
    }

    void read_policies(const Value& list) {
        names_.clear();
        needs_cap_.clear();
        policies_->arrivals.clear();
        policies_->others.clear();
        list.for_each_item([&](const Value& item) {
            read_config_part(item, "policy", config_policies, *policies_, [&](const auto& part) {
                if (std::find(names_.begin(), names_.end(), part.name) != names_.end()) {
                    item.fail(std::string(" repeats ").append(part.name) + ", which is listed before it");
                }
                if constexpr (requires { part.store; }) {
                    if (store_ == nullptr) {
                        item.fail(" needs a store, which no file can name: pass one to pipeline_from_json");
                    }
                    add(with_store(part), item.place);
                } else {
                    add(part, item.place);
                }
            });
        });
        if (names_.empty()) { list.fail(" is empty"); }
    }

    template <Size Above, class Other>
    Spill<Above, Store> with_store(const Spill<Above, Other>& part) const {
        return {.above = part.above, .store = store_};
    }

    template <policy P>
    void add(const P& part, std::string_view place) {
        policies_->add(part);
        names_.push_back(part.name);
        if (needs_cap_v<P>) { needs_cap_ = place; }
    }

    void read_exempt_tools(const Value& value) {
        if (!value.json.is_string()) {
            read_config(value, exempt_.tools, *policies_);
            return;
        }
        if (value.text() != "steering") { value.fail(" is neither a list of names nor steering"); }
        exempt_ = {};
    }

    template <wording Wording>
    AnyPipeline composed(const Wording& words, const Value& root) const {
        static_assert(previewing_wording<Wording>, "coppice::config: each wording in the table has previews");
        if (!capping_wording<Wording> && !needs_cap_.empty()) {
            Value{root.json, needs_cap_}.fail(
                std::string(" needs a line for results that lose their middle, which the wording ")
                    .append(Wording::name)
                    .append(" does not have"));
        }
        const ChosenOthers others{policies_};
        if (policies_->arrivals.empty()) { return Pipeline{cadence_, exempt_, binding_, others, words}; }
        return Pipeline{cadence_, exempt_, binding_, ChosenArrivals{policies_}, others, words};
    }

    Store* store_;
    std::shared_ptr<ChosenPolicies> policies_ = std::make_shared<ChosenPolicies>();
    std::vector<std::string_view> names_;  // of the policies
    std::string needs_cap_;                // where a policy stands that does
    Cadence cadence_{EveryRequest<>{}};
    decltype(one_of(config_wordings)) wording_;
    ExemptTools exempt_{.tools = {}};
    ThinkingBinding<> binding_;
};

}  // namespace coppice::detail
