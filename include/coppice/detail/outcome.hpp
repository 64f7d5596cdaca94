// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace coppice::inline v0::detail {

/// What an output says of itself, for providers that have no flag for it.
enum class Outcome { unsaid, ok, failed };

/// Where the text begins with the word, in any letter case.
inline bool begins_with_word(std::string_view text, std::string_view word) {
    if (text.size() < word.size()) { return false; }
    for (std::size_t i = 0; i < word.size(); ++i) {
        if (lower(text[i]) != word[i]) { return false; }
    }
    return true;
}

/// The exit code behind a label; unsaid where that is no whole number.
inline Outcome outcome_of_code(std::string_view text) {
    while (!text.empty() && text[0] == ' ') { text.remove_prefix(1); }
    if (!text.empty() && text[0] == '-') { text.remove_prefix(1); }
    if (text.empty() || text[0] < '0' || text[0] > '9') { return Outcome::unsaid; }
    // of 0, and of 00, nothing else follows
    const std::size_t nonzero = text.find_first_not_of('0');
    const bool other = nonzero < text.size() && text[nonzero] >= '0' && text[nonzero] <= '9';
    return other ? Outcome::failed : Outcome::ok;
}

inline bool is_word_of_failure(std::string_view line) {
    constexpr std::array<std::string_view, 5> words = {"error:", "fatal:", "panic:", "<error>",
                                                       "traceback (most recent call last)"};
    return line == "error" || line == "Error" || line == "ERROR" ||
           std::any_of(words.begin(), words.end(),
                       [line](std::string_view word) { return begins_with_word(line, word); });
}

/// Of a line that is an exit code and nothing else.
inline Outcome outcome_of_line(std::string_view line) {
    constexpr std::array<std::string_view, 5> labels = {"exit code:", "[exit code:", "process exited with code ",
                                                        "command failed with exit code ", "exit code "};
    for (const std::string_view label : labels) {
        if (!begins_with_word(line, label)) { continue; }
        const std::string_view code = line.substr(label.size());
        const std::string_view behind = code.substr(std::min(code.find_first_not_of(" -0123456789"), code.size()));
        if (behind.empty() || behind == "]" || behind[0] == ':' || behind[0] == ';') { return outcome_of_code(code); }
    }
    return Outcome::unsaid;
}

/// Looks at the first lines.
inline Outcome outcome_of_lines(std::string_view head) {
    if (is_word_of_failure(first_line(head))) { return Outcome::failed; }
    constexpr std::size_t lines = 5;
    for (std::size_t i = 0; i < lines && !trimmed(head).empty(); ++i) {
        const std::string_view line = first_line(head);
        const Outcome outcome = outcome_of_line(line);
        if (outcome != Outcome::unsaid) { return outcome; }
        head.remove_prefix(static_cast<std::size_t>(line.data() + line.size() - head.data()));
    }
    return Outcome::unsaid;
}

/// Looks at the end of JSON for an `exit_code`, as Codex has it.
inline Outcome outcome_of_json(std::string_view tail) {
    constexpr std::string_view key = "\"exit_code\":";
    const std::size_t at = tail.rfind(key);
    return at == std::string_view::npos ? Outcome::unsaid : outcome_of_code(tail.substr(at + key.size()));
}

/// At most `count` bytes from the beginning of what a text means, whatever its spelling.
inline std::string_view beginning(Text text, std::size_t count, std::string& scratch) {
    const auto decode = [&](std::size_t size) {
        return decoded(Text::still_escaped(text.raw().substr(0, size), text.escaped()), scratch);
    };
    // a byte may be spelled with six
    const std::string_view mostly = decode(count + 24);
    // an escape that was cut off stands behind what is asked for
    const bool enough = mostly.size() > count + 12 || text.raw().size() <= count + 24;
    return (enough ? mostly : decode(6 * count + 12)).substr(0, count);
}

/// The same from the end.
inline std::string_view ending(Text text, std::size_t count, std::string& scratch) {
    const std::size_t size = std::min(text.raw().size(), 6 * count + 24);
    const std::string_view raw = text.raw().substr(text.raw().size() - size);
    const std::string_view meaning = decoded(Text::still_escaped(raw, text.escaped()), scratch);
    return meaning.substr(meaning.size() - std::min(meaning.size(), count));
}

/// What an output says of itself; no more of it is read than that takes.
inline Outcome said_outcome(Text output, std::string& scratch) {
    constexpr std::size_t enough = 400;
    const std::string_view head = beginning(output, enough, scratch);
    const bool json = !head.empty() && head[0] == '{';
    return json ? outcome_of_json(ending(output, enough, scratch)) : outcome_of_lines(head);
}

}  // namespace coppice::detail
