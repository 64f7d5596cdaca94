// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialect.hpp>
#include <coppice/wire/structure.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// A value of a JSON text.
class WireCursor {
public:
    /// The value that is the whole text.
    explicit WireCursor(const WireStructure& structure) : WireCursor(structure, 0, 0) {}

    /// The value at a token; `container` is the number that it has if it is an array or object.
    WireCursor(const WireStructure& structure, std::uint32_t token, std::uint32_t container)
        : structure_(&structure), token_(token), container_(container) {}

    JsonType type() const {
        switch (structure_->first_char(token_)) {
            case '{': return JsonType::object;
            case '[': return JsonType::array;
            case '"': return JsonType::string;
            case 't':
            case 'f': return JsonType::boolean;
            case 'n': return JsonType::null;
            default: return JsonType::number;
        }
    }

    bool is_true() const { return structure_->first_char(token_) == 't'; }

    Text text() const { return is_string() ? structure_->text(token_) : Text(); }
    MeasuredText measured() const { return is_string() ? structure_->measured(token_) : MeasuredText(); }

    bool repeats_keys() const {
        return structure_->repeated_keys() > 0 && is_container() &&
               structure_->container(container_).repeats_keys;
    }
    bool holds_repeated_keys() const {
        return structure_->repeated_keys() > 0 && is_container() &&
               structure_->container(container_).holds_repeated_keys;
    }

    template <class Visit>
    void members(Visit visit) const {
        if (structure_->first_char(token_) != '{') { return; }
        const auto visit_member = [&](std::uint32_t key, std::uint32_t container) {
            visit(structure_->key(key), WireCursor(*structure_, key + 2, container));
        };
        if (!repeats_keys()) {
            structure_->for_each_member(container_, visit_member);
            return;
        }
        for (const Member& member : last_of_each_name()) { visit_member(member.key, member.container); }
    }

    template <class Visit>
    void elements(Visit visit) const {
        if (structure_->first_char(token_) != '[') { return; }
        structure_->for_each_element(container_, [&](std::uint32_t token, std::uint32_t container) {
            visit(WireCursor(*structure_, token, container));
        });
    }

    Text peek(std::string_view wanted) const {
        Text found;
        if (structure_->first_char(token_) != '{') { return found; }
        if (repeats_keys()) {
            members([&](Text key, WireCursor value) {
                if (same_text(key, wanted)) { found = value.text(); }
            });
            return found;
        }
        const std::uint32_t close = structure_->container(container_).close;
        std::uint32_t next = container_ + 1;
        for (std::uint32_t token = token_ + 1; token < close; ++token) {
            if (same_text(structure_->key(token), wanted)) {
                return WireCursor(*structure_, token + 2, next).text();
            }
            token = structure_->behind(token + 2, next);
        }
        return found;
    }

    Node node() const {
        const std::string_view json = structure_->json();
        const std::uint32_t start = structure_->offset(token_);
        const std::size_t size = is_container()
                                     ? structure_->offset(structure_->container(container_).close) + 1 - start
                                     : structure_->scalar(token_).size();
        return {json.data() + start, size};
    }

    /// A number, literal or null in a spelling that equal values share.
    void append_scalar(std::string& out) const {
        const std::string_view spelling = structure_->scalar(token_);
        if (type() == JsonType::number) {
            append_normal_number(out, spelling);
        } else {
            out += spelling;
        }
    }

private:
    bool is_string() const { return structure_->first_char(token_) == '"'; }
    bool is_container() const { return structure_->is_container(token_); }

    // in the order of the text; most servers take the last
    std::vector<Member> last_of_each_name() const {
        std::vector<Member> members;
        std::string names;
        structure_->sort_members(container_, members, names);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < members.size(); ++i) {
            const bool last = i + 1 == members.size() || members[i].name != members[i + 1].name;
            if (last) { members[kept++] = members[i]; }
        }
        members.resize(kept);
        std::sort(members.begin(), members.end(),
                  [](const Member& left, const Member& right) { return left.key < right.key; });
        return members;
    }

    const WireStructure* structure_;
    std::uint32_t token_;
    std::uint32_t container_;
};

}  // namespace coppice::detail
