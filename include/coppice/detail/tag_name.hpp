// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/lookalikes.hpp>

#include <cstddef>
#include <string_view>

namespace coppice::detail {

/// Reads a tag's name letter by letter. An underscore in it stands for any separators, and for none.
class NameReader {
public:
    constexpr explicit NameReader(std::string_view name) : name_(name) {}

    constexpr bool done() const { return at_ == name_.size(); }

    /// A separator is read: whether the name has one here.
    constexpr bool separator() const { return at_ > 0 && !half_ && !done() && name_[at_] == '_'; }

    /// A letter is read that may be either of two: whether the name goes on with it.
    constexpr bool letter(char one, char other) {
        if (one == 'm') { return single('r', '\0') && single('n', '\0'); }
        return single(one, other);
    }

private:
    constexpr bool single(char one, char other) {
        while (!done() && name_[at_] == '_') { ++at_; }
        if (done()) { return false; }
        char expected = same_looking(name_[at_]);
        const bool wide = expected == 'm';
        if (wide) { expected = half_ ? 'n' : 'r'; }
        half_ = wide && !half_;
        if (!half_) { ++at_; }
        return expected == same_looking(one) || (other != '\0' && expected == same_looking(other));
    }

    std::string_view name_;
    std::size_t at_ = 0;
    bool half_ = false;  // the r of an m is read
};

/// Whether one name, read as a tag's, may be the beginning of the other.
constexpr bool begins_alike(std::string_view text, std::string_view name) {
    NameReader reader(name);
    for (const char c : text) {
        if (reader.done()) { return true; }
        if (c != '_' && !reader.letter(c, '\0')) { return false; }
    }
    return reader.done();
}

}  // namespace coppice::detail
