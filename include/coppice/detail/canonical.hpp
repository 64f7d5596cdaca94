// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialect.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::detail {

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

}  // namespace coppice::detail
