// SPDX-License-Identifier: MIT

// What the validators share where blocks of reasoning may leave their messages as a whole. Written without the library
// on purpose: a mistake there must not be repeated here.

#pragma once

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dropped_blocks {

using Json = nlohmann::ordered_json;

/// How a dialect writes what this asks for.
struct Shape {
    bool (*is_reasoning)(const Json& block);
    bool (*is_real_user_message)(const Json& message);
    bool (*is_same)(const Json& left, const Json& right);
};

inline const Json::array_t* blocks_of(const Json& message) {
    const Json::object_t* const fields = message.get_ptr<const Json::object_t*>();
    if (fields == nullptr) { return nullptr; }
    for (const auto& field : *fields) {
        if (field.first == "content") { return field.second.get_ptr<const Json::array_t*>(); }
    }
    return nullptr;
}

/// A block of reasoning and its message.
struct Placed {
    std::size_t message;
    const Json* block;
};

inline std::vector<Placed> reasoning_of(const Json::array_t& messages, const Shape& shape) {
    std::vector<Placed> found;
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json::array_t* const blocks = blocks_of(messages[m]);
        for (std::size_t b = 0; blocks != nullptr && b < blocks->size(); ++b) {
            if (shape.is_reasoning((*blocks)[b])) { found.push_back(Placed{m, &(*blocks)[b]}); }
        }
    }
    return found;
}

/// The first message of each turn that does not keep its reasoning as it was, or lose it whole. Of the latest one,
/// which may still go on, all has to be there.
struct BrokenTurns {
    std::vector<std::size_t> older;
    std::vector<std::size_t> latest;
};

inline BrokenTurns broken_turns(const Json::array_t& before, const Json::array_t& after, const Shape& shape) {
    const std::vector<Placed> left = reasoning_of(before, shape);
    const std::vector<Placed> right = reasoning_of(after, shape);
    BrokenTurns broken;
    std::size_t l = 0;
    std::size_t r = 0;
    std::size_t start = 0;
    for (std::size_t end = 1; end <= before.size(); ++end) {
        if (end < before.size() && !shape.is_real_user_message(before[end])) { continue; }
        const std::size_t first = r;
        bool whole = true;
        for (; l < left.size() && left[l].message < end; ++l) {
            const bool kept = r < right.size() && right[r].message == left[l].message &&
                              shape.is_same(*left[l].block, *right[r].block);
            whole = whole && kept;
            r += kept;
        }
        bool none_left = r == first;
        for (; r < right.size() && right[r].message < end; ++r) { whole = none_left = false; }
        if (end == before.size()) {
            if (!whole) { broken.latest.push_back(start); }
        } else if (!whole && !none_left) {
            broken.older.push_back(start);
        }
        start = end;
    }
    return broken;
}

/// The first message that is not the same without its reasoning; the number of messages where there is none.
inline std::size_t first_other_change(const Json::array_t& before, const Json::array_t& after, const Shape& shape) {
    for (std::size_t m = 0; m < before.size() && m < after.size(); ++m) {
        const Json::array_t* const left = blocks_of(before[m]);
        const Json::array_t* const right = blocks_of(after[m]);
        if (left == nullptr || right == nullptr) {
            if (!shape.is_same(before[m], after[m])) { return m; }
            continue;
        }
        std::size_t r = 0;
        const auto skip = [&] {
            while (r < right->size() && shape.is_reasoning((*right)[r])) { ++r; }
        };
        for (const Json& block : *left) {
            if (shape.is_reasoning(block)) { continue; }
            skip();
            if (r == right->size() || !shape.is_same(block, (*right)[r])) { return m; }
            ++r;
        }
    }
    return before.size();
}

/// Each run of reasoning that was removed is the oldest one, or reaches behind a change that made it invalid; all the
/// rest is there as it was. More than one such run is left by several rewrites.
inline bool is_explained(const Json::array_t& before, const Json::array_t& after, const Shape& shape) {
    const std::vector<Placed> left = reasoning_of(before, shape);
    const std::vector<Placed> right = reasoning_of(after, shape);
    const std::size_t change = first_other_change(before, after, shape);
    std::size_t r = 0;
    for (std::size_t l = 0; l < left.size();) {
        const auto is_kept = [&] {
            return r < right.size() && right[r].message == left[l].message &&
                   shape.is_same(*left[l].block, *right[r].block);
        };
        if (is_kept()) {
            ++l;
            ++r;
            continue;
        }
        const std::size_t first = l;
        while (l < left.size() && !is_kept()) { ++l; }
        if (first > 0 && left[l - 1].message <= change) { return false; }
    }
    return r == right.size();
}

/// A finding in the output, with the number that its block had in the input.
inline std::string at_original_place(const std::string& finding, const Json::array_t& before,
                                     const Json::array_t& after, const Shape& shape) {
    constexpr std::string_view list = "messages[";
    constexpr std::string_view content = "].content[";
    const std::size_t at = finding.find(list);
    if (at == std::string::npos) { return finding; }
    const auto number_at = [&finding](std::size_t place, std::size_t& number) {
        const auto read = std::from_chars(finding.data() + place, finding.data() + finding.size(), number);
        return static_cast<std::size_t>(read.ptr - finding.data());
    };
    std::size_t message = 0;
    const std::size_t behind_message = number_at(at + list.size(), message);
    if (finding.compare(behind_message, content.size(), content) != 0) { return finding; }
    std::size_t block = 0;
    const std::size_t block_at = behind_message + content.size();
    const std::size_t behind_block = number_at(block_at, block);
    if (message >= before.size() || message >= after.size()) { return finding; }
    const Json::array_t* const left = blocks_of(before[message]);
    const Json::array_t* const right = blocks_of(after[message]);
    if (left == nullptr || right == nullptr || block >= right->size() || right->size() >= left->size()) {
        return finding;
    }
    std::size_t l = 0;
    for (std::size_t r = 0; r <= block && l < left->size(); ++r, ++l) {
        while (l < left->size() && shape.is_reasoning((*left)[l]) && !shape.is_same((*left)[l], (*right)[r])) { ++l; }
    }
    return finding.substr(0, block_at) + std::to_string(l - 1) + finding.substr(behind_block);
}

}  // namespace dropped_blocks
