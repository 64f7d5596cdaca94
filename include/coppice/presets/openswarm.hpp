// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadences/every_request.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>
#include <coppice/wording.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace coppice {

/// The exact texts of OpenSwarm's wire pruner. Sizes are UTF-16 units.
struct OpenSwarmWording {
    static constexpr std::string_view name = "openswarm";
    static constexpr std::size_t longest = 200;
    static constexpr char opening = '[';

    Shape shape = Shape::always_blocks;
    std::size_t big_utf16 = 2000;  ///< from here on a result counts as big

    void result(std::string& out, const ResultFacts& facts) const {
        if (facts.duplicate) {
            out += duplicate;
        } else if (facts.images > 0 && facts.size.utf16 < big_utf16) {
            out += screenshot;
        } else if (facts.size.utf16 < big_utf16) {
            out += small_open;
            append_number(out, facts.size.utf16);
            out += small_close;
        } else {
            out += big_open;
            append_number(out, facts.size.utf16);
            out += big_middle;
            out += facts.images > 0 ? with_screenshot : without_screenshot;
        }
    }

    void field(std::string& out, const FieldFacts& facts) const {
        out += '[';
        append_number(out, facts.size.utf16);
        out += field_close;
    }

    void image(std::string& out, const ResultFacts&) const { out += screenshot; }

    Recognised recognise(std::string_view text) const {
        const bool stub = text.size() <= longest && (text == duplicate || text == screenshot ||
                                                     is_small(text) || is_big(text) || is_field(text));
        return {stub ? Recognised::Kind::stub : Recognised::Kind::content, {}, {}};
    }

private:
    static constexpr std::string_view duplicate =
        "[Duplicate tool output: same content as a more recent result.]";
    static constexpr std::string_view screenshot =
        "[Old screenshot cleared by OpenSwarm to keep this long chat inside the model's context window.]";
    static constexpr std::string_view small_open = "[Old result cleared by OpenSwarm: ";
    static constexpr std::string_view small_close = " characters from an earlier step.]";
    static constexpr std::string_view big_open =
        "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: ";
    static constexpr std::string_view big_middle = " characters from an earlier step";
    static constexpr std::string_view without_screenshot = ".]";
    static constexpr std::string_view with_screenshot = ", plus a screenshot.]";
    static constexpr std::string_view field_close =
        " characters, cleared by OpenSwarm; re-read the file if you need them]";

    static bool is_small(std::string_view text) {
        return detail::Scanner(text).literal(small_open).number().literal(small_close).done();
    }
    static bool is_big(std::string_view text) {
        detail::Scanner scan(text);
        scan.literal(big_open).number().literal(big_middle);
        if (!scan.try_literal(with_screenshot)) { scan.literal(without_screenshot); }
        return scan.done();
    }
    static bool is_field(std::string_view text) {
        return detail::Scanner(text).literal("[").number().literal(field_close).done();
    }
};
static_assert(wording<OpenSwarmWording>);

namespace presets {

/// OpenSwarm's wire pruner by its rules: texts, windows and numbers as an OpenSwarm host sees them. As in the
/// original, unread results and calls of every kind take their places, and a screenshot without text is never
/// called a duplicate.
template <cadence Cadence = EveryRequest<utf16(300'000)>>
using OpenSwarm =
    Pipeline<Cadence, SmallAging<30, utf16(80), utf16(2000), true>,
             Dedup<utf16(2000), SameCall::ignored, false>, KeepRecent<5, utf16(2000), share_window, true>,
             BulkyInputClear<5, utf16(2000), true>, Ceiling<utf16(120'000), 2, utf16(2000), utf16(80), true>,
             OpenSwarmWording>;

/// `when` replaces the whole cadence, its threshold included.
template <cadence Cadence = EveryRequest<utf16(300'000)>>
constexpr OpenSwarm<Cadence> openswarm(Cadence when = {}) {
    return OpenSwarm<Cadence>(when, {}, {}, {}, {}, {}, {});
}

}  // namespace presets
}  // namespace coppice
