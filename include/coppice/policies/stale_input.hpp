// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/ages.hpp>
#include <coppice/policy.hpp>

#include <cstddef>
#include <stdexcept>

namespace coppice::inline v0 {

/// Old calls lose every long text they were made with, whatever its name and however deep it stands.
///
/// keeps          the inputs of the first `head` and the newest `tail` messages; paths, numbers and all that is shorter
///                than `min`; of a long command, its first line in the stub
/// changes        in inputs whose texts exceed `above` together, each text of at least `min`: the whole value becomes a
///                stub, never a part of it, so that no model takes it for text to write (NousResearch/hermes-agent #83435)
/// does nothing   to calls that are unanswered, or whose result the model has not read; inside members named `meta`,
///                `_meta` or `metadata`
///
/// `BulkyInputClear` does that by names, and keeps the newest such calls.
template <std::size_t Head = 3, std::size_t Tail = 20, Size Above = chars(500), Size Min = chars(200)>
struct StaleInput {
    static constexpr std::string_view name = "stale_input";

    std::size_t head = Head;  ///< messages, behind those of the system
    std::size_t tail = Tail;  ///< messages before the horizon
    Size above = Above;       ///< the texts of one input together
    Size min = Min;           ///< one text

    constexpr void validate() const {
        if (min.value == 0) { throw std::invalid_argument("coppice::StaleInput: `min` must be at least 1"); }
    }
    void apply(const Transcript& transcript, Plan& plan) const {
        const std::size_t end = detail::newest_messages_begin(transcript, tail);
        const std::size_t beginning = detail::beginning_end(transcript, head);
        const auto entries = transcript.entries();
        for (std::size_t i = 0; i < entries.size() && entries[i].message < end; ++i) {
            const Entry& call = entries[i];
            if (call.kind != Kind::call || call.message < beginning) { continue; }
            const auto fields = transcript.fields_of(call);
            if (!exceeds(fields)) { continue; }
            for (std::size_t field = 0; field < fields.size(); ++field) {
                const bool path = call.names_path && detail::names_call(call, fields[field]);
                if (!path && fields[field].text.at_least(min)) { plan.clear_field(i, field, name); }
            }
        }
    }

private:
    bool exceeds(std::span<const Field> fields) const {
        Extent sum;
        for (const Field& field : fields) {
            if (!field.cleared) { sum += field.text.plain(); }
        }
        return sum.exceeds(above);
    }
};

}  // namespace coppice
