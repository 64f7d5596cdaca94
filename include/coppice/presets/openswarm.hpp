// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadences/every_request.hpp>
#include <coppice/elide.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies.hpp>
#include <coppice/recap/note.hpp>
#include <coppice/recap/openswarm.hpp>
#include <coppice/tags.hpp>
#include <coppice/wording.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace coppice::inline v0 {

/// The exact texts of OpenSwarm's wire pruner and of its spills. Sizes of stubs are UTF-16 units, of previews code
/// points. A stub in the place of a preview goes on to say where the full output is, which the original forgets.
struct OpenSwarmWording {
    static constexpr std::string_view name = "openswarm";
    static constexpr std::size_t identity_limit = 0;  ///< it does not name calls
    static constexpr std::size_t reference_limit = 512;
    static constexpr std::size_t longest = 200 + reference_limit;
    static constexpr std::size_t preview_head_chars = 2500;  ///< code points of the front that stay inline
    static constexpr std::size_t preview_tail_chars = 1500;  ///< code points of the end that stay inline
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
            out += from_earlier;
            place(out, facts.reference);
            out += without_screenshot;
        } else {
            out += big_open;
            append_number(out, facts.size.utf16);
            out += from_earlier;
            place(out, facts.reference);
            out += facts.images > 0 ? with_screenshot : without_screenshot;
        }
    }

    void field(std::string& out, const FieldFacts& facts) const {
        out += '[';
        append_number(out, facts.size.utf16);
        out += field_close;
    }

    void image(std::string& out, const ResultFacts&) const { out += screenshot; }

    /// Head and tail of the content, in which forged tags are made harmless, and a note that says where it is.
    void preview(std::string& out, const PreviewFacts& facts) const {
        const OpenSwarmRecapWording notes;
        std::string reference;
        append_safe(reference, facts.reference, reference_limit);
        const auto [head, middle, tail] =
            head_and_tail(facts.content, preview_head_chars, preview_tail_chars);
        if (middle.empty()) {
            append_neutralised(out, facts.content, notes.tags);
        } else {
            append_neutralised(out, head, notes.tags);
            append_gap(out, measure_plain(middle).chars, reference);
            append_neutralised(out, tail, notes.tags);
        }
        append_note(out, facts.size.chars, reference);
    }

    Recognised recognise(std::string_view text) const {
        const bool stub = text.size() <= longest && (text == duplicate || text == screenshot ||
                                                     is_small(text) || is_big(text) || is_field(text));
        return stub ? Recognised{Recognised::Kind::stub, {}, {}} : as_preview(text);
    }

    std::size_t marker(std::string_view text) const {
        const std::string_view line = detail::bracketed(text, longest);
        if (line.empty()) { return 0; }
        const bool whole = line.back() == ']';
        const bool ours = whole ? recognise(line).kind == Recognised::Kind::stub || is_gap(line) : is_beginning(line);
        return ours ? line.size() : 0;
    }

private:
    static constexpr std::string_view duplicate =
        "[Duplicate tool output: same content as a more recent result.]";
    static constexpr std::string_view screenshot =
        "[Old screenshot cleared by OpenSwarm to keep this long chat inside the model's context window.]";
    static constexpr std::string_view small_open = "[Old result cleared by OpenSwarm: ";
    static constexpr std::string_view big_open =
        "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: ";
    static constexpr std::string_view from_earlier = " characters from an earlier step";
    static constexpr std::string_view place_open = "; full output at ";
    static constexpr std::string_view without_screenshot = ".]";
    static constexpr std::string_view with_screenshot = ", plus a screenshot.]";
    static constexpr std::string_view field_close =
        " characters, cleared by OpenSwarm; re-read the file if you need them]";

    static constexpr std::string_view gap_open = "[... ";
    static constexpr std::string_view gap_place = " chars elided by OpenSwarm; full output at ";
    static constexpr std::string_view gap_close = " ...]";

    static constexpr std::string_view note_open = "Output truncated by OpenSwarm. Full output (";
    static constexpr std::string_view note_place = " chars) saved to ";
    static constexpr std::string_view note_close =
        ". Ask the user or run a follow-up tool call if you need the rest.";

    static void place(std::string& out, std::string_view reference) {
        const std::size_t before = out.size();
        out += place_open;
        append_safe(out, reference, reference_limit);
        if (out.size() == before + place_open.size()) { out.resize(before); }
    }

    static void append_gap(std::string& out, std::size_t chars, std::string_view reference) {
        out.append("\n\n").append(gap_open);
        append_number(out, chars);
        out.append(gap_place).append(reference).append(gap_close).append("\n\n");
    }

    // the line between head and tail
    static bool is_gap(std::string_view line) {
        detail::Scanner scan(line);
        if (!scan.literal(gap_open).number().literal(gap_place).ok()) { return false; }
        const std::string_view reference = scan.rest().substr(0, scan.rest().rfind(gap_close));
        return reference.size() + gap_close.size() == scan.rest().size() &&
               detail::is_reference(reference, reference_limit);
    }

    // A stub or such a line that was cut off, where enough of it is there to know it.
    static bool is_beginning(std::string_view line) {
        constexpr std::size_t enough = 36;
        if (line.size() < enough) { return false; }
        for (const std::string_view fixed : {duplicate, screenshot}) {
            if (fixed.substr(0, line.size()) == line) { return true; }
        }
        detail::CutScanner field(line);
        constexpr std::string_view told = " characters, cleared by OpenSwarm";
        if (field.literal("[").number().literal(field_close).done()) {
            return line.find(told) != std::string_view::npos;
        }
        detail::CutScanner gap(line);
        if (gap.literal(gap_open).number().literal(gap_place).ok()) { return gap.rest().size() <= reference_limit; }
        for (const std::string_view open : {small_open, big_open}) {
            const std::string_view digits = line.substr(std::min(open.size(), line.size()));
            if (line.substr(0, open.size()) != open || !detail::Scanner(digits).number().ok()) { continue; }
            detail::CutScanner scan(line);
            scan.literal(open).number().literal(from_earlier);
            detail::CutScanner place = scan;
            if (place.try_literal(place_open)) { return place.rest().size() <= reference_limit; }
            detail::CutScanner shown = scan;
            return shown.literal(with_screenshot).done() || scan.literal(without_screenshot).done();
        }
        return false;
    }

    static void append_note(std::string& out, std::size_t chars, std::string_view reference) {
        std::string body(note_open);
        append_number(body, chars);
        body.append(note_place).append(reference).append(note_close);
        out += "\n\n";
        append_platform_note(out, body, OpenSwarmRecapWording{});
    }

    static bool is_small(std::string_view text) {
        detail::Scanner scan(text);
        scan.literal(small_open).number().literal(from_earlier);
        return ends_with_place(scan, without_screenshot);
    }
    static bool is_big(std::string_view text) {
        detail::Scanner scan(text);
        scan.literal(big_open).number().literal(from_earlier);
        return ends_with_place(scan, with_screenshot) || ends_with_place(scan, without_screenshot);
    }

    // the rest is perhaps a place, and then this
    static bool ends_with_place(detail::Scanner scan, std::string_view end) {
        if (!scan.ok() || scan.rest().size() < end.size()) { return false; }
        std::string_view rest = scan.rest();
        if (rest.substr(rest.size() - end.size()) != end) { return false; }
        rest.remove_suffix(end.size());
        if (rest.empty()) { return true; }
        if (rest.substr(0, place_open.size()) != place_open) { return false; }
        const std::string_view reference = rest.substr(place_open.size());
        return !reference.empty() && detail::is_reference(reference, reference_limit);
    }

    // What `preview` writes, told by its end: the note names size and place, and the gap before it the same.
    static Recognised as_preview(std::string_view text) {
        constexpr std::size_t shown = preview_head_chars + preview_tail_chars;
        constexpr std::size_t longest_preview = shown * 16 + 2 * longest;
        if (text.size() < shown || text.size() > longest_preview) { return {}; }
        const std::size_t note = text.rfind(note_open);
        if (note == std::string_view::npos) { return {}; }
        std::size_t characters = 0;
        detail::Scanner scan(text.substr(note));
        if (!scan.literal(note_open).number(&characters).literal(note_place).ok() || characters <= shown) {
            return {};
        }
        const std::string_view reference = scan.rest().substr(0, scan.rest().rfind(note_close));
        if (!detail::is_reference(reference, reference_limit)) { return {}; }
        std::string expected;
        append_note(expected, characters, reference);
        if (text.size() < expected.size() || text.substr(text.size() - expected.size()) != expected) {
            return {};
        }
        const std::string_view quoted = text.substr(0, text.size() - expected.size());
        if (find_tag(quoted, OpenSwarmRecapWording{}.tags) != std::string_view::npos) { return {}; }
        expected.clear();
        append_gap(expected, characters - shown, reference);
        // forged ones may stand in the head, which is no shorter for what was made harmless
        const std::size_t gap = quoted.find(expected, first_chars(quoted, preview_head_chars).size());
        if (gap == std::string_view::npos ||
            measure_plain(quoted.substr(gap + expected.size())).chars < preview_tail_chars) {
            return {};
        }
        // and longer by three characters for each bracket
        const std::size_t chars = measure_plain(quoted).chars - measure_plain(expected).chars;
        if (chars > shown + 3 * (occurrences(quoted, "&lt;") + occurrences(quoted, "&gt;"))) { return {}; }
        return {Recognised::Kind::preview, ascii(characters), reference};
    }
    static std::size_t occurrences(std::string_view text, std::string_view word) {
        std::size_t count = 0;
        for (std::size_t at = text.find(word); at != std::string_view::npos;
             at = text.find(word, at + word.size())) {
            ++count;
        }
        return count;
    }
    static bool is_field(std::string_view text) {
        return detail::Scanner(text).literal("[").number().literal(field_close).done();
    }
};
static_assert(previewing_wording<OpenSwarmWording> && marking_wording<OpenSwarmWording>);

namespace presets {

/// Of inputs, the fields that OpenSwarm clears.
inline constexpr std::array<std::string_view, 5> openswarm_input_fields = {
    "content", "new_string", "old_string", "new_str", "old_str",
};

/// OpenSwarm's wire pruner by its rules: texts, windows and numbers as an OpenSwarm host sees them. As in the
/// original, unread results and calls of every kind take their places, and a screenshot without text is never
/// called a duplicate. `openswarm()` makes one, with the fields above.
template <cadence Cadence = EveryRequest<utf16(300'000)>>
using OpenSwarm =
    Pipeline<Cadence, SmallAging<30, utf16(80), utf16(2000), true>,
             Dedup<utf16(2000), SameCall::ignored, false>, KeepRecent<5, utf16(2000), share_window, true>,
             BulkyInputClear<5, utf16(2000), true>, Ceiling<utf16(120'000), 2, utf16(2000), utf16(80), true>,
             OpenSwarmWording>;

/// `when` replaces the whole cadence, its threshold included.
template <cadence Cadence = EveryRequest<utf16(300'000)>>
constexpr OpenSwarm<Cadence> openswarm(Cadence when = {}) {
    return OpenSwarm<Cadence>(when, {}, {}, {}, {.fields = openswarm_input_fields},
                              {.fields = openswarm_input_fields}, {});
}

}  // namespace presets
}  // namespace coppice
