// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/transcript.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coppice::inline v0 {

/// What becomes of an entry.
enum class Fate : std::uint8_t {
    keep,
    stub,          ///< the whole content becomes one stub
    clip,          ///< the same, and its stub still holds head and tail
    elide,         ///< its images become stubs, its text stays
    clear_fields,  ///< some fields of a call's input become stubs
    spill,         ///< the content was stored elsewhere, a preview stays
    cap,           ///< head and tail stay
    drop,          ///< the whole block leaves its message
};

/// What depends on the entry alone, so that the model never sees it otherwise.
constexpr bool is_arrival(Fate fate) { return fate == Fate::spill || fate == Fate::cap; }

/// A stub of ours takes the place of the whole content.
constexpr bool is_stub(Fate fate) { return fate == Fate::stub || fate == Fate::clip; }

/// One change that a policy would like to make.
struct Proposal {
    std::size_t entry = none;  ///< index into the transcript's entries
    Fate fate = Fate::keep;    ///< what is to become of it
    std::string_view text{};   ///< what would be written
    bool assume_read = false;  ///< asks what would hold once the model has read the result
};

/// A guard: something that holds whatever policies say. Every change of every policy is put to every guard
/// before it is planned, and one refusal is enough.
///
/// Exemplar
///
///     struct KeepTests {
///         static constexpr std::string_view name = "keep_tests";
///         bool allows(const coppice::Transcript& transcript, const coppice::Proposal& proposal) const {
///             const coppice::Entry& entry = transcript.all()[proposal.entry];
///             return !coppice::same_text(entry.tool, std::string_view("run_tests"));
///         }
///     };
///
/// Models: Pairing, Unread, Opaque, CacheMarks, BlankText, Pinned, ThinkingBinding (always on), ExemptPaths,
/// ExemptTools.
template <class G>
concept guard = std::copyable<G> &&
    requires(const G& g, const Transcript& transcript, const Proposal& proposal) {
    { G::name } -> std::convertible_to<std::string_view>;
    { g.allows(transcript, proposal) } -> std::same_as<bool>;
};

namespace detail {

struct AnyGuard {
    const void* model = nullptr;
    bool (*allows)(const void*, const Transcript&, const Proposal&) = nullptr;

    template <guard G>
    static AnyGuard of(const G& g) {
        return {&g, [](const void* m, const Transcript& transcript, const Proposal& proposal) {
                    return static_cast<const G*>(m)->allows(transcript, proposal);
                }};
    }
};

}  // namespace detail
}  // namespace coppice
