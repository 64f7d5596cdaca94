// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/measure.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace coppice_replay {

/// Characters that a line needs to count as distinctive.
inline constexpr std::size_t distinctive_chars = 40;

namespace detail {

inline std::string_view trimmed_line(std::string_view line) {
    constexpr std::string_view blank = " \t\r\v\f";
    const std::size_t first = line.find_first_not_of(blank);
    if (first == std::string_view::npos) { return {}; }
    return line.substr(first, line.find_last_not_of(blank) + 1 - first);
}

// Tools that read files number the lines: `12→`, `12:`, `12|` or a tab.
inline std::string_view without_number(std::string_view line) {
    constexpr std::string_view arrow = "\xE2\x86\x92";
    const std::size_t end = line.find_first_not_of("0123456789");
    if (end == 0 || end == std::string_view::npos) { return line; }
    const std::string_view rest = line.substr(end);
    if (rest.substr(0, arrow.size()) == arrow) { return trimmed_line(rest.substr(arrow.size())); }
    const bool mark = rest[0] == ':' || rest[0] == '|' || rest[0] == '\t';
    return mark ? trimmed_line(rest.substr(1)) : line;
}

}  // namespace detail

/// Calls `visit(std::string_view)` for every line that is long enough to be told from others, without indentation and
/// line number.
template <class Visit>
void for_each_distinctive_line(std::string_view text, Visit visit) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = detail::without_number(detail::trimmed_line(text.substr(0, end)));
        const bool perhaps = line.size() >= distinctive_chars;
        if (perhaps && coppice::measure_plain(line).chars >= distinctive_chars) { visit(line); }
        if (end == std::string_view::npos) { return; }
        text.remove_prefix(end + 1);
    }
}

/// Finds out which results are quoted later. Texts are shown to it in the order of the session.
class Quotes {
public:
    /// A text of a tool result.
    void read_result(std::size_t result, std::string_view text) {
        for_each_distinctive_line(text, [&](std::string_view line) {
            const auto [found, added] = owners_.try_emplace(coppice::detail::hash_bytes(line), result);
            if (!added && found->second != result) { found->second = nobody; }
        });
    }
    /// What the user or the host says.
    void read_other(std::string_view text) {
        for_each_distinctive_line(text, [&](std::string_view line) {
            owners_.try_emplace(coppice::detail::hash_bytes(line), nobody);
        });
    }
    /// What the model writes in a message: text, or the input of a tool.
    void read_model(std::size_t message, std::string_view text) {
        for_each_distinctive_line(text, [&](std::string_view line) {
            const std::uint64_t hash = coppice::detail::hash_bytes(line);
            const auto [found, added] = owners_.try_emplace(hash, nobody);
            if (!added && found->second != nobody) { quotes_.emplace_back(hash, message); }
        });
    }

    /// For each result, the last message that quotes a line that no other result has; `coppice::none` where none does.
    std::vector<std::size_t> last_quotes(std::size_t results) const {
        std::vector<std::size_t> last(results, coppice::none);
        for (const auto& [hash, message] : quotes_) {
            const std::size_t owner = owners_.at(hash);
            // messages come in order
            if (owner != nobody) { last[owner] = message; }
        }
        return last;
    }

private:
    static constexpr std::size_t nobody = coppice::none;
    std::unordered_map<std::uint64_t, std::size_t> owners_;
    std::vector<std::pair<std::uint64_t, std::size_t>> quotes_;
};

}  // namespace coppice_replay
