// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/policy.hpp>

#include <array>
#include <span>
#include <stdexcept>

namespace coppice::inline v0 {

/// Fields that hold whole files or pieces of them.
inline constexpr std::array<std::string_view, 11> bulky_input_fields = {
    "content",   "new_string", "old_string", "new_str", "old_str",    "file_text",
    "new_source", "insert_text", "patch",     "diff",    "patch_text",
};

namespace detail {

inline bool is_bulky(const Field& field, std::span<const std::string_view> names, Size min) {
    if (field.text.most(min.unit) < min.value) { return false; }
    for (const std::string_view name : names) {
        if (same_text(field.name, name)) { return field.text.at_least(min); }
    }
    return false;
}

template <class Visit>
void for_each_bulky_field(const Transcript& transcript, const Entry& call,
                          std::span<const std::string_view> names, Size min, Visit visit) {
    const auto fields = transcript.fields_of(call);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (is_bulky(fields[i], names, min)) { visit(i); }
    }
}

struct BulkyInputOptions {
    std::size_t keep;
    Size min;
    std::span<const std::string_view> fields;
    bool count_every_call;
    std::string_view name;
};

inline void clear_bulky_inputs(const Transcript& transcript, Plan& plan, BulkyInputOptions options) {
    const auto entries = transcript.entries();
    for (std::size_t i = entries.size(); i-- > 0;) {
        if (entries[i].kind != Kind::call) { continue; }
        bool counts = options.count_every_call;
        if (!counts) {
            for_each_bulky_field(transcript, entries[i], options.fields, options.min, [&](std::size_t field) {
                counts = counts || plan.could_clear_field(i, field);
            });
        }
        if (!counts) { continue; }
        if (options.keep > 0) {
            --options.keep;
            continue;
        }
        for_each_bulky_field(transcript, entries[i], options.fields, options.min,
                             [&](std::size_t field) { plan.clear_field(i, field, options.name); });
    }
}

}  // namespace detail

/// Old calls that wrote or edited files lose the text they wrote.
///
/// keeps          the inputs of the newest `keep` calls that have something to clear (of all calls, with
///                `count_every_call`); everywhere path, command, ids, numbers and every field not named
/// changes        each named field of at least `min`, at any depth (`content`, `edits[].new_string`,
///                `args.files[].content`): the whole value becomes a stub, never a part of it, so that no model takes
///                it for text to write (NousResearch/hermes-agent #83435)
/// does nothing   to calls that are unanswered, or whose result the model has not read; inside members named `meta`,
///                `_meta` or `metadata`
template <std::size_t Keep = 5, Size Min = Size{2000}, bool CountEveryCall = false>
struct BulkyInputClear {
    static constexpr std::string_view name = "bulky_input_clear";

    std::size_t keep = Keep;  ///< calls
    Size min = Min;           ///< a bulky field has at least this
    std::span<const std::string_view> fields =
        bulky_input_fields;                  ///< names; not owned, outlives the pipeline
    bool count_every_call = CountEveryCall;  ///< calls without a bulky field take a place, too

    constexpr void validate() const {
        if (fields.empty()) {
            throw std::invalid_argument("coppice::BulkyInputClear: `fields` names no field");
        }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        detail::clear_bulky_inputs(transcript, plan, {keep, min, fields, count_every_call, name});
    }
};

}  // namespace coppice
