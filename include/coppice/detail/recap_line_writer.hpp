// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/elide.hpp>
#include <coppice/measure.hpp>
#include <coppice/recap/aging.hpp>
#include <coppice/recap/message.hpp>
#include <coppice/recap/options.hpp>
#include <coppice/recap/wording.hpp>
#include <coppice/tags.hpp>
#include <coppice/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace coppice::inline v0::detail {

/// What a line shows of a message.
enum class Shown : std::uint8_t { nothing, line, whole, elided, duplicate, stub };

/// Writes single lines of a recap: cuts what is untrusted, makes it valid and harmless, and has the wording say it.
template <recap_wording Wording>
class RecapLineWriter {
public:
    RecapLineWriter(const RecapOptions& options, const Wording& wording)
        : options_(options), wording_(wording) {}

    /// No text of a line is longer, whatever the options say.
    void limit(std::size_t chars) { limit_ = chars; }

    Shown ask(std::string& out, std::string_view text) {
        text_.clear();
        clip(trim_end(valid(text)), options_.ask_chars, options_.ask_head, Gap::ask);
        wording_.line(out, {.kind = RecapLine::Kind::ask, .text = harmless(text_, safe_text_)});
        return Shown::line;
    }

    Shown call(std::string& out, const SessionMessage& message) {
        read_input(message.text, options_.input_chars, safe_text_);
        read_tool(message.tool, safe_tool_);
        wording_.line(out, {.kind = RecapLine::Kind::call, .text = safe_text_, .tool = safe_tool_});
        return Shown::line;
    }

    /// A result and its call, which may be null. What the line shows is not always the fate: no stub is longer than
    /// what it stands for.
    Shown result(std::string& out, const SessionMessage& message, const SessionMessage* call,
                 std::size_t chars, ResultFate fate) {
        read_tool(message.tool, safe_tool_);
        const Call known = read_call(call);
        RecapLine line{.kind = RecapLine::Kind::result,
                       .tool = safe_tool_,
                       .call_tool = known.tool,
                       .reference = reference_of(message),
                       .chars = chars,
                       .error = message.error};
        if (fate != ResultFate::whole) {
            line.kind = fate == ResultFate::stub ? RecapLine::Kind::stub : RecapLine::Kind::duplicate;
            line.input = known.input;
            if (fate == ResultFate::stub) { line.last_line = last_line_of(message); }
            const std::size_t start = out.size();
            wording_.line(out, line);
            if (message.text.size() >= out.size() - start) {
                return fate == ResultFate::stub ? Shown::stub : Shown::duplicate;
            }
            out.resize(start);
            line = {.kind = RecapLine::Kind::result,
                    .tool = line.tool,
                    .call_tool = line.call_tool,
                    .reference = line.reference,
                    .error = line.error};
        }
        text_.clear();
        const std::size_t most = options_.aging.item_chars;
        const bool cut = clip(trim_end(valid(message.text)), most, most * 3 / 5, Gap::result);
        body_chars_ = measure_plain(text_).chars;
        line.text = harmless(text_, safe_text_);
        wording_.line(out, line);
        return cut ? Shown::elided : Shown::whole;
    }

    /// Of the body that the last result's line shows.
    std::size_t body_chars() const { return body_chars_; }

    /// A result whose line stands alone.
    Shown lone_result(std::string& out, const SessionMessage& message) {
        const std::string_view body = trim_end(valid(message.text));
        text_.clear();
        if (options_.exact_markers) {
            text_ = first_chars(body, options_.lone_result_chars);
            if (text_.size() < body.size()) { wording_.gap(text_, Gap::input, measure_plain(body).chars); }
        } else {
            append_elided(text_, body, options_.lone_result_chars, gap(Gap::result));
        }
        const std::string_view text = harmless(text_, safe_text_);
        read_tool(message.tool, safe_tool_);
        wording_.line(
            out, {.kind = RecapLine::Kind::result, .text = text, .tool = safe_tool_, .error = message.error});
        return Shown::line;
    }

private:
    static constexpr std::size_t reference_chars = 512;

    struct Call {
        std::string tool{};
        std::string input{};
    };

    // A long input is looked at once, however many results a call is given.
    Call read_call(const SessionMessage* call) {
        if (call == nullptr) { return {}; }
        const auto read = [&](Call& shown) {
            read_tool(call->tool, shown.tool);
            read_input(call->text, options_.stub_input_chars, shown.input);
        };
        if (limit_ != none) {
            Call shown;
            read(shown);
            return shown;
        }
        const auto [place, added] = calls_.try_emplace(call);
        if (added) { read(place->second); }
        return place->second;
    }

    void read_tool(std::string_view tool, std::string& out) {
        text_ = beginning(tool, options_.tool_chars);
        to_one_line(text_);
        harmless(text_, out);
    }

    void read_input(std::string_view input, std::size_t most, std::string& out) {
        const std::string_view whole = trimmed(valid(input));
        const std::string_view shown = first_chars(whole, std::min(most, limit_));
        text_ = shown;
        to_one_line(text_);
        if (shown.size() < whole.size()) { wording_.gap(text_, Gap::input, measure_plain(whole).chars); }
        harmless(text_, out);
    }

    std::string_view reference_of(const SessionMessage& message) {
        text_ = beginning(message.reference, reference_chars);
        to_one_line(text_);
        return harmless(text_, safe_reference_);
    }

    std::string_view last_line_of(const SessionMessage& message) {
        text_ = beginning(last_line(message.text), std::min(options_.last_line_chars, limit_));
        return harmless(text_, safe_last_line_);
    }

    // cut before and after: what is no UTF-8 grows
    std::string_view beginning(std::string_view text, std::size_t most) {
        return first_chars(valid(first_chars(text, most)), most);
    }

    // Valid UTF-8, without colours, and of control characters only tabs and line breaks.
    std::string_view valid(std::string_view text) {
        const std::string_view utf8 = valid_utf8(text, cleaned_);
        return options_.keep_controls ? utf8 : without_controls(without_ansi(utf8, cleaned_), cleaned_);
    }

    std::string_view trim_end(std::string_view text) const {
        if (options_.keep_controls) { return text; }
        const std::size_t last = text.find_last_not_of(" \t\n");
        return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
    }

    void to_one_line(std::string& text) const {
        if (!options_.keep_controls) { std::replace(text.begin(), text.end(), '\n', ' '); }
    }

    auto gap(Gap kind) const {
        return [this, kind](std::string& out, std::size_t count) { wording_.gap(out, kind, count); };
    }

    // To `text_`; whether something is left out.
    bool clip(std::string_view text, std::size_t most, std::size_t head, Gap kind) {
        if (!options_.exact_markers || limit_ < most) {
            most = std::min(most, limit_);
            append_elided(text_, text, most, gap(kind));
            return measure_plain(text).chars > most;
        }
        const HeadTail pieces = head_and_tail(text, head, most - head);
        text_ += pieces.head;
        if (!pieces.middle.empty()) { wording_.gap(text_, kind, measure_plain(pieces.middle).chars); }
        text_ += pieces.tail;
        return !pieces.middle.empty();
    }

    std::string_view harmless(std::string_view text, std::string& out) const {
        out.clear();
        append_neutralised(out, text, wording_.tags);
        return out;
    }

    const RecapOptions& options_;
    const Wording& wording_;
    std::size_t limit_ = none;
    std::size_t body_chars_ = 0;
    std::unordered_map<const SessionMessage*, Call> calls_;
    std::string cleaned_, text_;
    std::string safe_text_, safe_tool_, safe_last_line_, safe_reference_;
};

}  // namespace coppice::detail
