// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/lexical.hpp>
#include <coppice/guard.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

namespace coppice::inline v0 {

namespace detail {

/// Of a model's name, the part that says which Claude it is: "opus-4-6" of "us.anthropic.claude-opus-4-6-v1:0". Nothing
/// for models of others.
constexpr std::optional<std::string_view> claude_name(std::string_view model) {
    constexpr std::string_view family = "claude";
    const std::size_t at = model.rfind(family);
    if (at == std::string_view::npos) { return {}; }
    model.remove_prefix(at + family.size());
    if (!model.empty() && (model[0] == '-' || model[0] == '_')) { model.remove_prefix(1); }
    return model;
}

/// A name that leaves open whose model it is: none, or an inference profile of Bedrock.
constexpr bool is_anonymous(std::string_view model) {
    if (model.empty()) { return true; }
    constexpr std::string_view arn = "arn:";
    if (model.substr(0, arn.size()) != arn || claude_name(model)) { return false; }
    // vendors stand before a dot: "foundation-model/meta.llama3"
    return model.substr(model.rfind('/') + 1).find('.') == std::string_view::npos;
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
    const std::optional<std::string_view> claude = claude_name(model);
    if (!claude) { return false; }
    const std::string_view name = *claude;
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
/// provider leaves out what does not fit. So is one without thinking that switches it off (`"type": "disabled"`); one that
/// only does not mention it may still get some. Where the model has no name (Bedrock has it in the URL, unless the call
/// says it: `Inputs::model`), it is taken for one that binds from the first signed thinking of Claude on. Who changes model
/// or mode within a session changes the prefix with it.
///
/// Always on; list it to say otherwise: `ThinkingBinding<Binds::never>`.
template <Binds When = Binds::by_name>
struct ThinkingBinding {
    static constexpr std::string_view name = "thinking_binding";

    Binds when = When;  ///< which models bind

    /// Whether the model of a transcript binds thinking.
    bool binds(const Transcript& transcript) const {
        if (when == Binds::never || transcript.drops_unbound_thinking) { return false; }
        if (when == Binds::always) { return true; }
        const auto any = [&](auto is) { return std::any_of(transcript.all().begin(), transcript.all().end(), is); };
        const bool thinks = any([](const Entry& entry) { return entry.kind == Kind::reasoning; });
        if (!thinks && transcript.thinking_mode == ThinkingMode::off) { return false; }
        if (!detail::is_anonymous(transcript.model)) { return detail::model_binds_thinking(transcript.model); }
        const bool of_claude = transcript.dialect == "anthropic" || transcript.dialect == "bedrock";
        return of_claude && (thinks || transcript.thinking_mode == ThinkingMode::on || any(is_ours));
    }

    /// Of one that binds: nothing tells so but that it was pruned before, which may as well have been without any thinking.
    bool guesses(const Transcript& transcript) const {
        const bool told = when == Binds::always || !detail::is_anonymous(transcript.model) ||
                          transcript.thinking_mode == ThinkingMode::on;
        const auto& all = transcript.all();
        return !told && std::none_of(all.begin(), all.end(),
                                     [](const Entry& entry) { return entry.kind == Kind::reasoning; });
    }

    /// Of one that binds: requests of no more than so many messages did not show it. What they changed stays changed, since
    /// what was thought afterwards is bound to that.
    std::size_t binds_from(const Transcript& transcript) const {
        const bool told = when == Binds::always || !detail::is_anonymous(transcript.model) ||
                          transcript.thinking_mode == ThinkingMode::on;
        if (told) { return 0; }
        std::size_t first = none;
        for (const Entry& entry : transcript.all()) {
            if (is_ours(entry)) { return 0; }
            if (entry.kind == Kind::reasoning) { first = std::min(first, entry.message); }
        }
        return first == none ? 0 : first;
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

private:
    // where we have pruned before, the thinking may be gone, and what holds for the rest still does
    static bool is_ours(const Entry& entry) { return entry.stub || entry.cleared || entry.elided > 0; }
};
static_assert(guard<ThinkingBinding<>>);

}  // namespace coppice
