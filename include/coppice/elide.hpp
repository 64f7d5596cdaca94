// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>
#include <coppice/text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// A text in three pieces that add up to it, cut between characters.
struct HeadTail {
    std::string_view head{};    ///< what stays of the front
    std::string_view middle{};  ///< what goes
    std::string_view tail{};    ///< what stays of the end
};

/// Head and tail of at most so many code points; what is between them is the middle.
inline HeadTail head_and_tail(std::string_view text, std::size_t head_chars, std::size_t tail_chars) {
    const std::string_view head = first_chars(text, head_chars);
    const std::string_view tail = last_chars(text.substr(head.size()), tail_chars);
    return {head, text.substr(head.size(), text.size() - head.size() - tail.size()), tail};
}

/// Appends the text, or where it has more than `budget` code points, its head and its tail around
/// `marker(out, left_out)`, the marker included in the budget. The head gets three fifths of the room, the tail two:
/// verdicts stand at the end (hermes-agent #110094). A budget with no room for the marker gets the head alone. What
/// is appended is valid UTF-8.
template <class Marker>
void append_elided(std::string& out, std::string_view text, std::size_t budget, Marker marker) {
    std::string scratch;
    text = detail::valid_utf8(text, scratch);
    const std::size_t length = measure_plain(text).chars;
    if (length <= budget) {
        out += text;
        return;
    }
    const std::size_t start = out.size();
    marker(out, length);  // no count of what is left out is longer
    const std::size_t marked = measure_plain(std::string_view(out).substr(start)).chars;
    out.resize(start);
    if (marked >= budget) {
        out += first_chars(text, budget);
        return;
    }
    const std::size_t room = budget - marked;
    const std::size_t tail = room * 2 / 5;
    const HeadTail pieces = head_and_tail(text, room - tail, tail);
    out += pieces.head;
    marker(out, length - room);
    out += pieces.tail;
}

namespace detail {

/// What the lines say that a reader looks for in a long output: failures, verdicts, exit codes, ids to ask about.
inline constexpr std::array<std::string_view, 19> notable_words = {"assert",
                                                                   "critical",
                                                                   "error",
                                                                   "exception",
                                                                   "exit code",
                                                                   "exit status",
                                                                   "exited with",
                                                                   "fail",
                                                                   "fatal",
                                                                   "no such file",
                                                                   "nothing to commit",
                                                                   "panic:",
                                                                   "permission denied",
                                                                   "request id",
                                                                   "request_id",
                                                                   "sigsegv",
                                                                   "trace id",
                                                                   "trace_id",
                                                                   "traceback"};

inline constexpr std::string_view passed = " passed";  // behind a number

constexpr bool begins_with(std::string_view text, std::string_view lower_case) {
    if (text.size() < lower_case.size()) { return false; }
    for (std::size_t i = 0; i < lower_case.size(); ++i) {
        if (lower(text[i]) != lower_case[i]) { return false; }
    }
    return true;
}

// which words begin with a byte, as bits
inline constexpr auto words_by_first_letter = [] {
    std::array<std::uint32_t, 256> words{};
    for (std::size_t i = 0; i < notable_words.size(); ++i) {
        const auto letter = static_cast<unsigned char>(notable_words[i][0]);
        words[letter] |= std::uint32_t{1} << i;
        words[letter - ('a' - 'A')] |= std::uint32_t{1} << i;
    }
    return words;
}();

inline bool is_notable(std::string_view line) {
    for (std::size_t at = 0; at < line.size(); ++at) {
        const auto byte = static_cast<unsigned char>(line[at]);
        std::uint32_t words = words_by_first_letter[byte];
        if (words == 0) {
            const bool digit = byte >= '0' && byte <= '9';
            if (digit && begins_with(line.substr(at + 1), passed)) { return true; }
            continue;
        }
        for (std::size_t i = 0; words != 0; ++i, words >>= 1U) {
            if ((words & 1U) != 0 && begins_with(line.substr(at), notable_words[i])) { return true; }
        }
    }
    return false;
}

}  // namespace detail

/// Lines that a head and tail would lose and a reader looks for.
struct NotableLines {
    std::vector<std::string_view> lines{};  ///< in their order, each cut to the limit of a line
    std::size_t chars = 0;                  ///< of all of them, with a line break for each
};

/// The lines of `text` that tell of failures, verdicts and exit codes: at most `budget` code points in all, each line
/// its first `line_limit`. Half of the room goes to the first such lines, where causes stand, and the rest to the last
/// ones, where verdicts do.
inline NotableLines notable_lines(std::string_view text, std::size_t budget, std::size_t line_limit) {
    NotableLines found;
    std::vector<std::string_view> last;  // newest at the back, from `oldest` on
    std::size_t oldest = 0;
    std::size_t last_chars = 0;
    const auto cost = [](std::string_view line) { return measure_plain(line).chars + 1; };
    bool first_half = true;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view whole = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!detail::is_notable(whole)) { continue; }
        const std::string_view line = first_chars(trimmed(whole), line_limit);
        const std::size_t size = cost(line);
        if (first_half && found.chars + size <= budget / 2) {
            found.lines.push_back(line);
            found.chars += size;
            continue;
        }
        first_half = false;
        last.push_back(line);
        last_chars += size;
        while (oldest < last.size() && found.chars + last_chars > budget) {
            last_chars -= cost(last[oldest++]);
        }
        if (oldest > 64 && oldest > last.size() / 2) {
            last.erase(last.begin(), last.begin() + static_cast<std::ptrdiff_t>(oldest));
            oldest = 0;
        }
    }
    found.lines.insert(found.lines.end(), last.begin() + static_cast<std::ptrdiff_t>(oldest), last.end());
    found.chars += last_chars;
    return found;
}

}  // namespace coppice
