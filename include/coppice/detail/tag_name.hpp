// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/lookalikes.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coppice::inline v0::detail {

/// Reads a tag's name letter by letter, from every place at once where it may have begun. An underscore in it stands
/// for any separators, and for none. A name has 64 characters at most.
class NameReader {
public:
    /// About to read the first letter.
    constexpr explicit NameReader(std::string_view name) : name_(name) {}

    /// Whether the name may go on, or begin.
    constexpr bool alive() const { return (read_ | halves_) != 0; }
    /// Whether it ended with the last letter.
    constexpr bool done() const { return done_; }
    /// Whether it may still begin.
    constexpr bool outside() const { return (read_ & 1U) != 0; }

    /// Whether it has begun, or may have.
    constexpr bool begun() const { return (read_ & ~std::uint64_t{1}) != 0 || halves_ != 0 || done_; }

    /// It may begin here, whatever was read.
    constexpr void begin() { read_ |= 1U; }
    /// It does not begin here.
    constexpr void begin_no_more() { read_ &= ~std::uint64_t{1}; }
    /// Something is read that no name has in it.
    constexpr void interrupt() {
        read_ &= 1U;
        halves_ = 0;
        done_ = false;
    }
    constexpr void stop() {
        interrupt();
        read_ = 0;
    }

    /// A separator is read, as part of the name where that has begun.
    constexpr void separator() {
        std::uint64_t kept = read_ & 1U;
        for (std::uint64_t left = read_; left != 0; left &= left - 1) {
            const auto at = static_cast<std::size_t>(std::countr_zero(left));
            if (name_[at] == '_') { kept |= bit(at); }
        }
        read_ = kept;
        halves_ = 0;
        done_ = false;
    }

    /// A letter is read that may be either of two.
    constexpr void letter(char one, char other) {
        if (one == 'm') {
            single('r', '\0');
            single('n', '\0');
        } else {
            single(one, other);
        }
    }

    /// It may also have been read as another reader has it.
    constexpr void join(const NameReader& reader) {
        read_ |= reader.read_;
        halves_ |= reader.halves_;
        done_ = done_ || reader.done_;
    }

private:
    static constexpr std::uint64_t bit(std::size_t at) { return std::uint64_t{1} << at; }

    constexpr void single(char one, char other) {
        const char first = same_looking(one);
        const char second = other == '\0' ? first : same_looking(other);
        std::uint64_t read = 0;
        std::uint64_t halves = 0;
        done_ = false;
        const auto advance = [&](std::size_t at) {
            if (at + 1 == name_.size()) {
                done_ = true;
            } else {
                read |= bit(at + 1);
            }
        };
        for (std::uint64_t left = read_; left != 0; left &= left - 1) {
            auto at = static_cast<std::size_t>(std::countr_zero(left));
            while (at < name_.size() && name_[at] == '_') { ++at; }
            if (at == name_.size()) { continue; }
            const char expected = same_looking(name_[at]);
            if (expected == 'm' && (first == 'r' || second == 'r')) { halves |= bit(at); }
            if (expected == first || expected == second) { advance(at); }
        }
        for (std::uint64_t left = halves_; left != 0; left &= left - 1) {
            if (first == 'n' || second == 'n') { advance(static_cast<std::size_t>(std::countr_zero(left))); }
        }
        read_ = read;
        halves_ = halves;
    }

    std::string_view name_;
    std::uint64_t read_ = 1;    // how many characters are, a bit for each number
    std::uint64_t halves_ = 0;  // the r of the m behind so many is too
    bool done_ = false;
};

/// Whether a name may begin with a letter of ASCII: never false where it does.
constexpr bool may_begin(std::string_view name, char letter) {
    const auto first = [](char c) { return c == 'm' ? 'r' : same_looking(c); };
    return first(name.front()) == first(letter);
}

/// Whether one name, read as a tag's, may be the beginning of the other.
constexpr bool begins_alike(std::string_view text, std::string_view name) {
    NameReader reader(name);
    for (const char c : text) {
        if (reader.done()) { return true; }
        if (c == '_') { continue; }
        reader.letter(c, '\0');
        if (!reader.alive() && !reader.done()) { return false; }
    }
    return reader.done();
}

}  // namespace coppice::detail
