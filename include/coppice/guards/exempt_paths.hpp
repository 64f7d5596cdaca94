// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/guard.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

namespace coppice::inline v0 {

/// Files whose text steers the rest of the session: instructions to agents, and skills.
inline constexpr std::array<std::string_view, 5> steering_paths = {
    "**/AGENTS.md", "**/CLAUDE.md", "**/GEMINI.md", "**/SKILL.md", "**/.github/copilot-instructions.md",
};

namespace detail {

/// Matches paths with a glob: all of its states at once, one character of the path after the other, so that the time
/// is at most the product of both lengths.
class Glob {
public:
    static constexpr std::size_t longest = 512;  ///< bytes

    /// A longer one than `longest` matches nothing.
    explicit Glob(std::string_view glob) : glob_(glob) {}

    bool matches(std::string_view path) {
        if (glob_.size() > longest) { return false; }
        next_ = {};
        enter(0);
        now_ = next_;
        while (!path.empty()) {
            const std::size_t size = std::max<std::size_t>(utf8_size(path), 1);
            if (!step(path.substr(0, size))) { return false; }
            path.remove_prefix(size);
        }
        return has(now_, glob_.size());
    }

private:
    // a state is a place in the glob: what stands before it has matched
    using States = std::array<std::uint64_t, longest / 64 + 1>;

    static bool has(const States& states, std::size_t at) { return (states[at / 64] >> at % 64 & 1U) != 0; }
    static bool is_separator(char c) { return c == '/' || c == '\\'; }
    bool is(std::size_t at, char c) const { return at < glob_.size() && glob_[at] == c; }
    bool stars(std::size_t at) const { return is(at, '*') && is(at + 1, '*'); }
    // any number of whole directories
    bool directories(std::size_t at) const {
        return stars(at) && at + 2 < glob_.size() && is_separator(glob_[at + 2]) &&
               (at == 0 || is_separator(glob_[at - 1]));
    }
    // between the stars of `**/`: inside a directory
    bool inside(std::size_t at) const { return at > 0 && directories(at - 1); }

    void enter(std::size_t at) {
        while (!has(next_, at)) {
            next_[at / 64] |= std::uint64_t{1} << at % 64;
            if (inside(at)) { return; }
            if (directories(at)) {
                next_[(at + 1) / 64] |= std::uint64_t{1} << (at + 1) % 64;
                at += 3;
            } else if (is(at, '*')) {
                at += stars(at) ? 2 : 1;
            } else {
                return;
            }
        }
    }

    // whether anything may still match
    bool step(std::string_view character) {
        const bool separator = is_separator(character[0]);
        next_ = {};
        for (std::size_t word = 0; word * 64 <= glob_.size(); ++word) {
            std::size_t at = word * 64;
            for (std::uint64_t left = now_[word]; left != 0; left >>= 1U, ++at) {
                if ((left & 1U) != 0 && at < glob_.size()) { step_from(at, character, separator); }
            }
        }
        now_ = next_;
        return std::any_of(now_.begin(), now_.end(), [](std::uint64_t states) { return states != 0; });
    }
    void step_from(std::size_t at, std::string_view character, bool separator) {
        if (inside(at)) {
            enter(at);
            if (separator) { enter(at + 2); }
        } else if (glob_[at] == '*') {
            if (directories(at)) { return; }
            if (stars(at) || !separator) { enter(at); }
        } else if (is_separator(glob_[at])) {
            if (separator) { enter(at + 1); }
        } else if (glob_[at] == '?') {
            if (!separator) { enter(at + 1); }
        } else if (glob_.substr(at, character.size()) == character) {
            enter(at + character.size());
        }
    }

    std::string_view glob_;
    States now_{};
    States next_{};
};

}  // namespace detail

/// Calls that name a file by a path that matches, and their results, stay as they are, also under a ceiling.
///
/// The path is the one that stubs show, of a patch the first that it names. A command, a URL or a pattern is none,
/// whatever it looks like. Upper and lower case matter; a glob matches the whole path, and `/` and `\` match each other:
///
/// - `**/` at the front or behind a `/`: any directories, or none: `**/TODO.md` matches `TODO.md` and `C:\a\TODO.md`
/// - `**`: any characters; `*`: any but `/` and `\`; `?`: one character but these
/// - anything else, `[` too: itself
///
///     static constexpr std::array<std::string_view, 2> mine = {"**/TODO.md", "/work/docs/**"};
///     coppice::ExemptPaths{.globs = mine}
struct ExemptPaths {
    static constexpr std::string_view name = "exempt_paths";

    std::span<const std::string_view> globs = steering_paths;  ///< not owned; outlives the pipeline

    constexpr void validate() const {
        for (const std::string_view glob : globs) {
            if (glob.size() > detail::Glob::longest) {
                throw std::invalid_argument("coppice::ExemptPaths: a glob has more than 512 bytes");
            }
        }
    }
    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        const Entry& entry = transcript.all()[proposal.entry];
        if (!entry.names_path) { return true; }
        // no system has a path this long, and nobody shall have it read again and again
        constexpr std::size_t longest_path = 4096;
        constexpr std::size_t longest_spelling = 6;  // of one byte
        const Text path = entry.identity;
        if (path.raw().size() > longest_path * longest_spelling) { return true; }
        if (path.raw().size() > longest_path && measure(path).plain.bytes > longest_path) { return true; }
        std::array<char, longest_path * longest_spelling> room;
        std::string_view meant = path.raw();
        if (path.escaped()) {
            meant = {room.data(), detail::decode_to(room.data(), path, detail::LoneSurrogate::kept)};
        }
        return std::none_of(globs.begin(), globs.end(),
                            [meant](std::string_view glob) { return detail::Glob(glob).matches(meant); });
    }
};
static_assert(guard<ExemptPaths>);

}  // namespace coppice
