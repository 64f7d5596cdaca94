// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/lexical.hpp>
#include <coppice/guard.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace coppice {

namespace detail {

/// Of a model's name, the part that says which Claude it is: "opus-4-6" of "us.anthropic.claude-opus-4-6-v1:0". Empty
/// for models of others.
constexpr std::string_view claude_name(std::string_view model) {
    constexpr std::string_view family = "claude-";
    const std::size_t at = model.rfind(family);
    return at == std::string_view::npos ? std::string_view() : model.substr(at + family.size());
}

/// The version in it, times a hundred: 406 of "opus-4-6", "opus-4.6" and "opus-4-6-20260101"; 0 where there is none.
constexpr std::size_t claude_version(std::string_view name) {
    std::size_t at = 0;
    const auto number = [&] {
        std::size_t value = 0;
        std::size_t digits = 0;
        while (at < name.size() && is_digit(name[at]) && digits < 9) {
            value = value * 10 + static_cast<std::size_t>(name[at++] - '0');
            ++digits;
        }
        // more are a date
        return digits > 0 && digits < 3 ? value : none;
    };
    while (at < name.size() && !is_digit(name[at])) { ++at; }
    const std::size_t major = number();
    if (major == none) { return 0; }
    const bool goes_on = at + 1 < name.size() && (name[at] == '-' || name[at] == '.') && is_digit(name[at + 1]);
    if (!goes_on) { return major * 100; }
    ++at;
    const std::size_t minor = number();
    return major * 100 + (minor == none ? 0 : minor);
}

/// Whether a model binds its thinking to what precedes it: Claude Opus, Sonnet and Haiku from 5.5 on, Fable and Mythos
/// from 5.1 on, and whatever Claude comes with a name that nobody knows yet.
constexpr bool model_binds_thinking(std::string_view model) {
    const std::string_view name = claude_name(model);
    if (name.empty()) { return false; }
    const std::size_t version = claude_version(name);
    const auto begins = [name](std::string_view word) { return name.substr(0, word.size()) == word; };
    if (begins("instant") || begins("v2") || begins("mythos-preview")) { return false; }
    if (version == 0) { return true; }
    const bool older_kind = name.find("opus") != std::string_view::npos ||
                            name.find("sonnet") != std::string_view::npos ||
                            name.find("haiku") != std::string_view::npos;
    const bool newer_kind =
        name.find("fable") != std::string_view::npos || name.find("mythos") != std::string_view::npos;
    return version >= (older_kind ? 505U : newer_kind ? 501U : 500U);
}

}  // namespace detail

/// Which models bind thinking.
enum class Binds : unsigned char { by_name, always, never };

/// Signed thinking stays valid on models that bind it to everything before it (Claude Fable and Mythos from 5.1 on, Opus,
/// Sonnet and Haiku from 5.5 on; docs.anthropic.com, "preserved thinking"). There a change of anything older makes it
/// invalid, and the request is refused. So on these models
///
/// - the horizon moves only where a person begins to speak, up to there, and whatever is cleared before a thinking block
///   takes it along: thinking is dropped as one run, from the turn of the first change to that place;
/// - nothing changes before thinking that cannot be dropped;
/// - in a tool loop nothing changes but what is shaped as it arrives (`CapOnArrival`, `Spill`).
///
/// A request that declares `thinking.block_binding.prefix_mismatch_behavior: "drop_block"` is pruned as any other: the
/// provider leaves out what does not fit. A body that names no model is taken for one that binds, if it holds signed
/// thinking of Claude. Always on; list it to say otherwise: `ThinkingBinding<Binds::never>`.
template <Binds When = Binds::by_name>
struct ThinkingBinding {
    static constexpr std::string_view name = "thinking_binding";

    Binds when = When;

    /// Whether the model of a transcript binds what thinking there is in it.
    bool binds(const Transcript& transcript) const {
        if (when == Binds::never || transcript.drops_unbound_thinking) { return false; }
        // where we have pruned before, the thinking may be gone, and what holds for the rest still does
        const auto tells = [](const Entry& entry) {
            return entry.kind == Kind::reasoning || entry.stub || entry.cleared || entry.elided > 0;
        };
        const auto entries = transcript.all();
        if (!transcript.asks_for_thinking && std::none_of(entries.begin(), entries.end(), tells)) { return false; }
        if (when == Binds::always) { return true; }
        const bool of_claude = transcript.dialect == "anthropic" || transcript.dialect == "bedrock";
        return transcript.model.empty() ? of_claude : detail::model_binds_thinking(transcript.model);
    }

    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        if (!transcript.binds_thinking) { return true; }
        if (proposal.fate == Fate::drop) { return transcript.may_drop_thinking; }
        if (is_arrival(proposal.fate)) { return true; }
        const Entry& entry = transcript.all()[proposal.entry];
        const Transcript::Place& until = transcript.bound_until;
        return entry.message > until.message ||
               (entry.message == until.message && entry.block >= until.block);
    }
};
static_assert(guard<ThinkingBinding<>>);

}  // namespace coppice
