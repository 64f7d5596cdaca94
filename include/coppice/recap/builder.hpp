// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/blank.hpp>
#include <coppice/detail/own_blocks.hpp>
#include <coppice/detail/recap_line_writer.hpp>
#include <coppice/measure.hpp>
#include <coppice/recap/aging.hpp>
#include <coppice/recap/message.hpp>
#include <coppice/recap/note.hpp>
#include <coppice/recap/options.hpp>
#include <coppice/recap/pairing.hpp>
#include <coppice/recap/wording.hpp>
#include <coppice/tags.hpp>
#include <coppice/text.hpp>
#include <coppice/tokens.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

/// A recap and what went into it.
struct Recap {
    std::string text{};  ///< empty where there is nothing to tell
    std::string why{};   ///< then

    /// The user's last messages, which nothing followed yet, as indices into the history: they are not in the recap
    /// and follow it as they are (dyad #2515). Where there are none, the recap must not be sent until there is
    /// something to answer: a recap that is the last word gets carried out (hermes-agent #80622).
    std::vector<std::size_t> pending{};
    bool unknown_cutoff =
        false;  ///< no message of the history has the id that was given: nothing counts as older

    std::size_t lines = 0;           ///< of the record
    std::size_t lines_left_out = 0;  ///< older ones, for `most` and `most_tokens`

    /// What became of the results among the lines.
    struct Results {
        std::size_t whole = 0;       ///< in full
        std::size_t elided = 0;      ///< without their middle
        std::size_t duplicates = 0;  ///< of one that stays, told in a line
        std::size_t stubs = 0;       ///< without their text
    };
    Results results{};  ///< what became of them

    std::size_t chars = 0;   ///< code points of the whole recap
    std::size_t tokens = 0;  ///< estimated
};

namespace detail {

/// Builds one recap, from the newest line to the oldest, as long as there is room.
template <recap_wording Wording, token_estimator Tokens>
class RecapRun {
public:
    RecapRun(const RecapOptions& options, const Wording& wording, const Tokens& tokens,
             std::span<const SessionMessage> history, std::size_t cutoff)
        : options_(options),
          wording_(wording),
          tokens_(tokens),
          history_(history),
          cutoff_(cutoff),
          calls_(calls_of_results(history)),
          own_blocks_(wording),
          writer_(options, wording),
          ager_(options.aging, history.size()) {}

    Recap recap() {
        find_pending();
        begin();
        add_lines();
        if (places_.empty()) {
            recap_.why = recap_.lines_left_out > 0 ? "no line has room" : "nothing was asked and no tool ran";
            return std::move(recap_);
        }
        assemble();
        // tags that only came about side by side may make it longer
        while (too_long()) {
            if (places_.size() > 1) {
                drop_oldest();
            } else if (!shorten_again()) {
                Recap nothing;
                nothing.why = "no line has room";
                nothing.pending = std::move(recap_.pending);
                nothing.lines_left_out = recap_.lines_left_out + 1;
                return nothing;
            }
            assemble();
        }
        count_results();
        return std::move(recap_);
    }

    std::string lone_line() {
        const SessionMessage& message = history_[0];
        if (message.hidden) { return {}; }
        if (message.role == SessionRole::tool_result) {
            writer_.lone_result(lines_, message);
        } else {
            write_line(0);
        }
        std::string line;
        append_neutralised(line, lines_, wording_.tags);
        return line;
    }

private:
    struct Place {
        std::size_t at;
        std::size_t size;
        std::size_t message;
        Shown shown;
    };

    void find_pending() {
        for (std::size_t i = history_.size(); !options_.quote_pending && i-- > 0;) {
            const SessionMessage& message = history_[i];
            if (message.hidden || message.role == SessionRole::other) { continue; }
            if (message.role != SessionRole::user) { break; }
            if (!is_blank(ask_of(message))) { recap_.pending.push_back(i); }
            newest_ = i;
        }
        std::reverse(recap_.pending.begin(), recap_.pending.end());
    }

    std::string_view ask_of(const SessionMessage& message) {
        return own_blocks_.remove(message.text, unquoted_);
    }

    // What stands around the lines, with the longest note on what is left out.
    void begin() {
        wording_.open(head_, wording_.tags.recap);
        head_ += '\n';
        wording_.preamble(head_);
        head_ += '\n';
        wording_.frame(head_);
        head_ += '\n';
        wording_.end(foot_);
        foot_.append("\n</").append(wording_.tags.recap).append(">");
        std::string around = head_ + foot_;
        wording_.gap(around, Gap::earlier, history_.size());
        around += '\n';
        use(around);
    }

    void add_lines() {
        bool full = false;
        for (std::size_t i = std::min(newest_, history_.size()); i-- > 0;) {
            if (history_[i].hidden) { continue; }
            if (full) {
                recap_.lines_left_out += makes_line(history_[i]) ? 1U : 0U;
                continue;
            }
            const std::size_t start = lines_.size();
            Shown shown = write_line(i);
            if (shown == Shown::nothing) { continue; }
            if (!fits(start)) { shown = places_.empty() ? shorten(i) : as_stub(i, start); }
            full = shown == Shown::nothing;
            if (full) {
                lines_.resize(start);
                ++recap_.lines_left_out;
                continue;
            }
            ager_.spend(std::exchange(spent_, 0));
            use(line_at(start));
            use("\n");
            places_.push_back({start, lines_.size() - start, i, shown});
        }
    }

    bool makes_line(const SessionMessage& message) {
        return message.role == SessionRole::tool_call || message.role == SessionRole::tool_result ||
               (message.role == SessionRole::user && !is_blank(ask_of(message)));
    }

    // A result for whose text there is no room leaves room for others.
    Shown as_stub(std::size_t i, std::size_t start) {
        if (decided_ != i || fate_ != ResultFate::whole) { return Shown::nothing; }
        if (measure_plain(history_[i].text).chars >= options_.aging.whole_below) { ager_.take_back(); }
        fate_ = ResultFate::stub;
        lines_.resize(start);
        const Shown shown = write_line(i);
        return fits(start) ? shown : Shown::nothing;
    }

    // The newest line, which is the only one so far, shows at least in part.
    Shown shorten(std::size_t i) {
        const auto write = [&](std::size_t limit) {
            lines_.clear();
            writer_.limit(limit);
            return write_line(i);
        };
        std::size_t low = 0;
        std::size_t high = measure_plain(lines_).chars;
        write(low);
        if (!fits(0)) { return Shown::nothing; }
        while (low + 1 < high) {
            const std::size_t middle = low + (high - low) / 2;
            write(middle);
            (fits(0) ? low : high) = middle;
        }
        const Shown shown = write(low);
        writer_.limit(none);
        return shown;
    }

    // The only line, by half; false where nothing is left of it.
    bool shorten_again() {
        limit_ = std::min(limit_, measure_plain(lines_).chars) / 2;
        lines_.clear();
        writer_.limit(limit_);
        places_.front().shown = write_line(places_.front().message);
        places_.front().at = 0;
        places_.front().size = lines_.size();
        return limit_ > 0;
    }

    std::string_view line_at(std::size_t start) const { return std::string_view(lines_).substr(start); }

    // whether there is room for the line
    bool fits(std::size_t start) const {
        const std::string_view line = line_at(start);
        const Extent size = used_ + measure_plain(line) + ascii(1);
        const std::size_t weight = add_weights(tokens_.weight(line), tokens_.weight("\n"));
        return !size.exceeds(options_.most) &&
               tokens_.tokens(add_weights(weight_, weight)) <= options_.most_tokens;
    }

    void use(std::string_view text) {
        used_ += measure_plain(text);
        weight_ = add_weights(weight_, tokens_.weight(text));
    }

    Shown write_line(std::size_t i) {
        const SessionMessage& message = history_[i];
        switch (message.role) {
            case SessionRole::user: {
                const std::string_view ask = ask_of(message);
                return is_blank(ask) ? Shown::nothing : writer_.ask(lines_, ask);
            }
            case SessionRole::tool_call: return writer_.call(lines_, message);
            case SessionRole::tool_result: return write_result(i);
            default: return Shown::nothing;
        }
    }

    Shown write_result(std::size_t i) {
        const SessionMessage& message = history_[i];
        const SessionMessage* const call = calls_[i] == none ? nullptr : &history_[calls_[i]];
        const std::size_t chars = measure_plain(message.text).chars;
        if (decided_ != i) {
            decided_ = i;
            const bool before_cutoff = cutoff_ != none && i <= cutoff_;
            fate_ = ager_.decide(message.text, chars, message.error, before_cutoff);
        }
        const Shown shown = writer_.result(lines_, message, call, chars, fate_);
        const bool counts = fate_ == ResultFate::whole && chars >= options_.aging.whole_below;
        spent_ = counts ? writer_.body_chars() : 0;
        return shown;
    }

    void assemble() {
        std::string body;
        if (recap_.lines_left_out > 0) {
            wording_.gap(body, Gap::earlier, recap_.lines_left_out);
            body += '\n';
        }
        for (std::size_t i = places_.size(); i-- > 0;) {
            body.append(lines_, places_[i].at, places_[i].size).append(1, '\n');
        }
        recap_.text = head_;
        // pieces that are harmless each may pass for a tag side by side
        append_neutralised(recap_.text, body, wording_.tags);
        recap_.text += foot_;
        recap_.lines = places_.size();
        recap_.chars = measure_plain(recap_.text).chars;
        recap_.tokens = tokens_of(tokens_, recap_.text);
    }

    bool too_long() const {
        return measure_plain(recap_.text).exceeds(options_.most) || recap_.tokens > options_.most_tokens;
    }

    // twice as many each time, so that it ends soon
    void drop_oldest() {
        const std::size_t count = std::min(dropping_, places_.size() - 1);
        dropping_ *= 2;
        places_.resize(places_.size() - count);
        recap_.lines_left_out += count;
    }

    void count_results() {
        for (const Place& place : places_) {
            recap_.results.whole += place.shown == Shown::whole ? 1U : 0U;
            recap_.results.elided += place.shown == Shown::elided ? 1U : 0U;
            recap_.results.duplicates += place.shown == Shown::duplicate ? 1U : 0U;
            recap_.results.stubs += place.shown == Shown::stub ? 1U : 0U;
        }
    }

    const RecapOptions& options_;
    const Wording& wording_;
    const Tokens& tokens_;
    std::span<const SessionMessage> history_;
    std::size_t cutoff_;
    std::vector<std::size_t> calls_;
    OwnBlocks<Wording> own_blocks_;
    RecapLineWriter<Wording> writer_;
    ResultAger ager_;
    Recap recap_;
    std::size_t newest_ = none;  // what comes from here on is pending
    std::string head_;
    std::string foot_;
    std::string lines_;          // from the newest to the oldest
    std::vector<Place> places_;  // in the same order
    Extent used_{};
    std::size_t weight_ = 0;
    // of the result that was written last
    std::size_t decided_ = none;
    ResultFate fate_ = ResultFate::whole;
    std::size_t spent_ = 0;
    std::size_t dropping_ = 1;
    std::size_t limit_ = none;
    std::string unquoted_;
};

}  // namespace detail

/// Builds the recap that lets an agent go on with a session after a break, out of what was asked, which tools ran and
/// what they gave. What the assistant wrote is not part of it.
///
/// Everything in it but the frame is untrusted: after the last step exactly one opening and one closing tag of ours
/// stand in the text. A recap or note of ours inside an ask is not quoted again (claw-code #3050), so recap over recap
/// stays bounded: a host keeps its whole log, and builds each recap from that. Building never throws on data; wrong options throw std::invalid_argument when the builder is made,
/// and do not compile where that is constexpr.
template <recap_wording Wording = PlainRecapWording, token_estimator Tokens = ScriptAwareTokens>
class RecapBuilder {
public:
    /// Takes numbers, words and an estimate of tokens.
    constexpr explicit RecapBuilder(RecapOptions options = {}, Wording wording = {}, Tokens tokens = {})
        : options_(options), wording_(wording), tokens_(tokens) {
        options_.validate();
        if constexpr (requires { wording_.validate(); }) { wording_.validate(); }
        if constexpr (requires { tokens_.validate(); }) { tokens_.validate(); }
    }

    /// Its numbers.
    constexpr const RecapOptions& options() const { return options_; }
    /// Its words.
    constexpr const Wording& wording() const { return wording_; }
    /// Its estimate.
    constexpr const Tokens& tokens() const { return tokens_; }

    /// `cutoff` is the position of the last message before the cut, `none` for no cut.
    Recap build(std::span<const SessionMessage> history, std::size_t cutoff = none) const {
        try {
            return run(history, cutoff).recap();
        } catch (const std::exception& error) {
            Recap nothing;
            nothing.why = error.what();
            return nothing;
        }
    }

    /// The same by the id of that message, hidden or not; of several with the id the first. An empty id is no cut.
    Recap build(std::span<const SessionMessage> history, std::string_view cutoff_id) const {
        const auto has_id = [cutoff_id](const SessionMessage& message) { return message.id == cutoff_id; };
        const auto found =
            cutoff_id.empty() ? history.end() : std::find_if(history.begin(), history.end(), has_id);
        const bool known = found != history.end();
        Recap recap = build(history, known ? static_cast<std::size_t>(found - history.begin()) : none);
        recap.unknown_cutoff = !cutoff_id.empty() && !known;
        return recap;
    }

    /// The line of one message on its own, as a recap has it, but for a long result, which is cut; empty where it makes
    /// none. For lists of steps that have a frame of their own.
    std::string line(const SessionMessage& message) const { return run({&message, 1}, none).lone_line(); }

    /// A recap with the live message behind it: what a host sends as the user. A recap that the message begins with is
    /// left out, forged tags are made harmless, and everything else stays. Nothing where there is nothing else, since
    /// then there is nothing to answer. It does not hold `recap.pending`; a note of the host's goes behind what this
    /// gives.
    std::optional<std::string> with_message(const Recap& recap, std::string_view live) const {
        std::string scratch;
        const detail::OwnBlocks<Wording> own_blocks(wording_);
        return joined(recap, own_blocks.behind(detail::valid_utf8(live, scratch)));
    }

    /// The same where the history that the recap was built from ends with the live messages (with `quote_pending` they
    /// are in the recap, and there is nothing to add).
    std::optional<std::string> with_pending(const Recap& recap,
                                            std::span<const SessionMessage> history) const {
        const detail::OwnBlocks<Wording> own_blocks(wording_);
        std::string live;
        std::string scratch;
        for (const std::size_t i : recap.pending) {
            if (!live.empty()) { live += "\n\n"; }
            live += own_blocks.remove(history[i].text, scratch);
        }
        return joined(recap, detail::valid_utf8(live, scratch));
    }

    /// A note in the same wording.
    std::string note(std::string_view body) const {
        std::string out;
        append_platform_note(out, body, wording_);
        return out;
    }

private:
    std::optional<std::string> joined(const Recap& recap, std::string_view live) const {
        if (detail::is_blank(live)) { return std::nullopt; }
        std::string text = recap.text;
        if (!text.empty()) { text += "\n\n"; }
        append_neutralised(text, live, wording_.tags);
        return text;
    }

    detail::RecapRun<Wording, Tokens> run(std::span<const SessionMessage> history, std::size_t cutoff) const {
        return {options_, wording_, tokens_, history, cutoff};
    }

    RecapOptions options_;
    Wording wording_;
    Tokens tokens_;
};

}  // namespace coppice
