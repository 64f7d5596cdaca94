// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>
#include <coppice/recap/builder.hpp>
#include <coppice/recap/wording.hpp>
#include <coppice/tags.hpp>
#include <coppice/text.hpp>
#include <coppice/tokens.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace coppice::inline v0 {

/// The exact texts of OpenSwarm's recap and notes.
struct OpenSwarmRecapWording {
    static constexpr std::string_view name = "openswarm";

    /// Names of the tags.
    FenceTags tags{
        .note = "openswarm_platform_note", .recap = "openswarm_session_recap", .defuse = Defuse::entity};

    /// Appends the opening tag.
    void open(std::string& out, std::string_view tag) const { out.append("<").append(tag).append(">"); }

    /// Appends what a note begins with.
    void preamble(std::string& out) const {
        out +=
            "This block is authored by the OpenSwarm platform, not tool output and not a prior message. It "
            "is "
            "trusted context.";
    }

    /// Appends what a recap begins with.
    void frame(std::string& out) const {
        out +=
            "Recap of YOUR OWN earlier turns in this same conversation (what was asked and which tools you "
            "ran), "
            "kept locally by the OpenSwarm app so you can continue where you left off. Reference only: do "
            "not "
            "answer or redo anything in it; respond to the message that follows.";
    }

    /// Appends what a recap ends with.
    void end(std::string& out) const {
        out += "--- end of recap; respond to the message below, not the recap above ---";
    }

    /// Appends a line.
    void line(std::string& out, const RecapLine& line) const {
        switch (line.kind) {
            case RecapLine::Kind::ask: out.append("The user asked: ").append(line.text); return;
            case RecapLine::Kind::call:
                out.append("Tool call: ").append(named(line.tool)).append("(").append(line.text).append(")");
                return;
            default: break;
        }
        out += "Tool result";
        if (!line.tool.empty()) { out.append(" (").append(line.tool).append(")"); }
        out += ": ";
        if (line.kind == RecapLine::Kind::duplicate) {
            out += "[Duplicate tool output \xE2\x80\x94 same content as a more recent call]";
        } else if (line.kind == RecapLine::Kind::stub) {
            out.append("[").append(named(line.tool.empty() ? line.call_tool : line.tool)).append("] ");
            out.append(line.input).append(" (");
            append_grouped(out, line.chars);
            out += " chars result)";
        } else {
            out += line.text;
        }
    }

    /// Appends the line for what is left out.
    void gap(std::string& out, Gap gap, std::size_t count) const {
        if (gap == Gap::input) {
            out += "...";
            return;
        }
        if (gap == Gap::earlier) {
            out += "...(earlier steps trimmed)...";
            return;
        }
        out += "\n[... ";
        if (gap == Gap::ask) {
            append_number(out, count);
            out += " chars elided from recap ...]\n";
        } else {
            append_grouped(out, count);
            out += " chars elided ...]\n";
        }
    }

private:
    static std::string_view named(std::string_view tool) { return tool.empty() ? "tool" : tool; }

    static void append_grouped(std::string& out, std::size_t number) {
        std::string digits;
        append_number(digits, number);
        for (std::size_t i = 0; i < digits.size(); ++i) {
            if (i > 0 && (digits.size() - i) % 3 == 0) { out += ','; }
            out += digits[i];
        }
    }
};
static_assert(recap_wording<OpenSwarmRecapWording>);

namespace presets {

/// OpenSwarm's recap by its rules, texts and numbers: no bound on the whole, markers beyond the lengths, an ask that
/// nothing followed among the lines. Where the original loses data or can be forged, this does the safe thing:
/// results belong to their own calls, names of tools are untrusted, too, a duplicate points at a text that is shown,
/// a stub is shorter than what it stands for.
inline constexpr RecapOptions openswarm_recap_options{.tool_chars = none,
                                                      .most_tokens = none,
                                                      .exact_markers = true,
                                                      .quote_pending = true,
                                                      .keep_controls = true};

constexpr RecapBuilder<OpenSwarmRecapWording, CharsPerToken<4>> openswarm_recap() {
    return RecapBuilder<OpenSwarmRecapWording, CharsPerToken<4>>(openswarm_recap_options);
}

}  // namespace presets

/// Input tokens after a compaction as OpenSwarm reckons them: a fixed sum for the recap, whatever its length. Kept for
/// hosts that compare; `Compaction::estimate` weighs the recap itself.
constexpr std::size_t openswarm_estimate(std::size_t chars_behind_cutoff, std::size_t overhead_tokens,
                                         bool has_cutoff) {
    constexpr std::size_t recap_tokens = 200;
    return overhead_tokens + (has_cutoff ? recap_tokens : 0) + CharsPerToken<4>{}.tokens(chars_behind_cutoff);
}

}  // namespace coppice
