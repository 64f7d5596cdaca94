// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/any_pipeline.hpp>
#include <coppice/detail/chosen_parts.hpp>
#include <coppice/detail/config_table.hpp>
#include <coppice/detail/config_value.hpp>
#include <coppice/guards/exempt_paths.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/guards/thinking_binding.hpp>
#include <coppice/spill.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

namespace coppice::inline v0::detail {

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
            constexpr std::array<std::string_view, 8> keys = {"preset",       "policies",     "cadence",
                                                              "wording",      "exempt_tools", "exempt_paths",
                                                              "thinking_binding", "$schema"};
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
        where_given("exempt_tools", [&](const Value& value) { read_exempt(value, exempt_.tools, steering_tools); });
        where_given("exempt_paths", [&](const Value& value) {
            read_exempt(value, exempt_paths_.globs, steering_paths);
            check_config_part(value, exempt_paths_);
        });
        where_given("thinking_binding", [&](const Value& value) { read_config(value, binding_.when, *policies_); });
        if (names_.empty()) { root.fail(" has neither preset nor policies"); }
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
        needs_cap_.reset();
        needs_clip_.reset();
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
        if (needs_clip_v<P>) { needs_clip_ = place; }
    }

    void read_exempt(const Value& value, std::span<const std::string_view>& to,
                     std::span<const std::string_view> steering) {
        if (!value.json.is_string()) {
            read_config(value, to, *policies_);
            return;
        }
        if (value.text() != "steering") { value.fail(" is neither a list of names nor steering"); }
        to = steering;
    }

    template <wording Wording>
    AnyPipeline composed(const Wording& words, const Value& root) const {
        static_assert(previewing_wording<Wording>, "coppice::config: each wording in the table has previews");
        const auto check = [&root](const std::optional<std::string>& place, std::string_view results) {
            if (!place) { return; }
            Value{root.json, *place}.fail(std::string(" needs a line for ")
                                              .append(results)
                                              .append(", which the wording ")
                                              .append(Wording::name)
                                              .append(" does not have"));
        };
        if (!capping_wording<Wording>) { check(needs_cap_, "results that lose their middle"); }
        if (!clipping_wording<Wording>) { check(needs_clip_, "old results of which head and tail stay"); }
        const ChosenOthers others{policies_};
        if (policies_->arrivals.empty()) { return Pipeline{cadence_, exempt_, exempt_paths_, binding_, others, words}; }
        return Pipeline{cadence_, exempt_, exempt_paths_, binding_, ChosenArrivals{policies_}, others, words};
    }

    Store* store_;
    std::shared_ptr<ChosenPolicies> policies_ = std::make_shared<ChosenPolicies>();
    std::vector<std::string_view> names_;  // of the policies
    std::optional<std::string> needs_cap_;   // where a policy stands that does
    std::optional<std::string> needs_clip_;  // the same
    Cadence cadence_{EveryRequest<>{}};
    decltype(one_of(config_wordings)) wording_;
    ExemptTools exempt_{.tools = {}};
    ExemptPaths exempt_paths_{.globs = {}};
    ThinkingBinding<> binding_;
};

}  // namespace coppice::detail
