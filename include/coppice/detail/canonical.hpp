// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialect.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0::detail {

/// Writes values so that equal ones, whatever the order of their keys and the spelling of their strings, give equal
/// bytes. A cursor for it writes numbers and literals itself, with `append_scalar`. Values may be nested to any depth.
template <json_cursor Cursor>
class CanonicalWriter {
public:
    void append(Cursor value, std::string& out) {
        frames_.clear();
        members_.clear();
        append_value(value, out);
        while (!frames_.empty()) {
            Frame& frame = frames_.back();
            if (frame.next == members_.size()) {
                members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(frame.first), members_.end());
                frames_.pop_back();
                continue;
            }
            const auto [key, member] = members_[frame.next++];
            if (frame.object) { append_text(key, out); }
            append_value(member, out);
        }
    }

private:
    // an array or object that the spelling is inside of: its members stand last in the common list
    struct Frame {
        std::size_t first;
        std::size_t next;
        bool object;
    };
    using Member = std::pair<Text, Cursor>;

    static bool comes_first(const Member& left, const Member& right) {
        return compare_text(left.first, right.first) < 0;
    }

    void append_text(Text text, std::string& out) {
        const std::string_view plain = exact(text, scratch_);
        out += '"';
        append_number(out, plain.size());
        out += ':';
        out += plain;
    }

    void append_value(Cursor value, std::string& out) {
        const std::size_t first = members_.size();
        const JsonType type = value.type();
        if (type == JsonType::object) {
            value.members([&](Text key, Cursor member) { members_.emplace_back(key, member); });
            std::sort(members_.begin() + static_cast<std::ptrdiff_t>(first), members_.end(), comes_first);
        } else if (type == JsonType::array) {
            value.elements([&](Cursor element) { members_.emplace_back(Text(), element); });
        } else if (type == JsonType::string) {
            append_text(value.text(), out);
            return;
        } else {
            value.append_scalar(out);
            out += ',';
            return;
        }
        out += type == JsonType::object ? '{' : '[';
        append_number(out, members_.size() - first);
        out += ':';
        frames_.push_back({first, first, type == JsonType::object});
    }

    // kept for their capacity
    std::vector<Frame> frames_;
    std::vector<Member> members_;
    std::string scratch_;
};

/// A value as the writer above wrote it, to be looked into without the document. Of what it did not write, nothing is
/// found.
class CanonicalValue {
public:
    /// Takes the value at the front of `rest` off it.
    static CanonicalValue take(std::string_view& rest) {
        CanonicalValue value;
        if (rest.empty()) { return value; }
        value.kind_ = rest[0];
        if (value.kind_ != '"' && value.kind_ != '{' && value.kind_ != '[') {
            value.inside_ = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(value.inside_.size() + 1, rest.size()));
            return value;
        }
        value.count_ = take_count(rest);
        if (value.kind_ == '"') {
            value.inside_ = rest.substr(0, value.count_);
            rest.remove_prefix(value.inside_.size());
            return value;
        }
        // values of which the end has not been seen
        const std::string_view inside = rest;
        std::size_t left = value.parts();
        for (; left > 0 && !rest.empty(); --left) {
            CanonicalValue next;
            next.kind_ = rest[0];
            if (next.kind_ != '{' && next.kind_ != '[') {
                take(rest);
                continue;
            }
            next.count_ = take_count(rest);
            left += next.parts();
        }
        value.inside_ = inside.substr(0, inside.size() - rest.size());
        return value;
    }

    bool is_object() const { return kind_ == '{'; }
    bool is_text() const { return kind_ == '"'; }
    bool is_null() const { return kind_ == 'n'; }
    bool is_number() const { return kind_ == '-' || kind_ == 'e' || (kind_ >= '0' && kind_ <= '9'); }
    /// Of a string what it means, of a number or literal its spelling; nothing of arrays and objects.
    std::string_view text() const { return kind_ == '{' || kind_ == '[' ? std::string_view() : inside_; }

    /// Calls `visit(std::string_view key, CanonicalValue)`, by the order of the keys.
    template <class Visit>
    void members(Visit visit) const {
        std::string_view rest = is_object() ? inside_ : std::string_view();
        while (!rest.empty()) {
            const CanonicalValue key = take(rest);
            visit(key.text(), take(rest));
        }
    }
    template <class Visit>
    void elements(Visit visit) const {
        std::string_view rest = kind_ == '[' ? inside_ : std::string_view();
        while (!rest.empty()) { visit(take(rest)); }
    }

private:
    std::size_t parts() const { return kind_ == '{' ? 2 * count_ : count_; }

    // the number between a sign and a colon
    static std::size_t take_count(std::string_view& rest) {
        std::size_t count = 0;
        std::size_t at = 1;
        for (; at < rest.size() && rest[at] >= '0' && rest[at] <= '9'; ++at) {
            count = count * 10 + static_cast<std::size_t>(rest[at] - '0');
        }
        rest.remove_prefix(std::min(at + 1, rest.size()));
        return count;
    }

    char kind_ = '\0';
    std::size_t count_ = 0;
    std::string_view inside_{};
};

}  // namespace coppice::detail
