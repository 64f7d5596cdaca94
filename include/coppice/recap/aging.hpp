// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/measure.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// What becomes of a tool result in a recap.
enum class ResultFate : std::uint8_t { whole, duplicate, stub };

/// How many results a recap shows. Lengths are code points.
///
/// keeps     results shorter than `whole_below`, always; of the others behind the cutoff the newest, until there are
///           `tail_results` of them and they fill `tail_chars`
/// changes   older ones to a stub; copies of a result that stays to a line that says so
struct ResultAging {
    std::size_t whole_below = 200;    ///< shorter ones stay whole
    std::size_t tail_chars = 12'000;  ///< newest results that stay fill at least this
    std::size_t tail_results = 7;     ///< and are at least so many
    std::size_t item_chars = 6'000;   ///< a longer result that stays loses its middle
};

/// Decides on results from the newest to the oldest.
class ResultAger {
public:
    /// Of so many results in all.
    ResultAger(const ResultAging& numbers, std::size_t results) : numbers_(numbers) { index_.start(results); }

    /// `body` stays as it is until the last result was decided.
    ResultFate decide(std::string_view body, std::size_t chars, bool error, bool before_cutoff) {
        if (chars < numbers_.whole_below) { return ResultFate::whole; }
        const std::uint64_t seed = detail::process_seed() + (error ? 1U : 0U);
        const std::uint64_t hash = detail::hash_bytes(body, seed);
        std::size_t& known = index_[hash];
        // only what is shown can be pointed at
        if (known != detail::Index::absent && shown_[known] == body) { return ResultFate::duplicate; }
        if (before_cutoff || (kept_ >= numbers_.tail_results && spent_ >= numbers_.tail_chars)) {
            return ResultFate::stub;
        }
        known = shown_.size();
        shown_.push_back(body);
        last_ = hash;
        ++kept_;
        return ResultFate::whole;
    }

    /// The result that was decided last to stay whole is not shown after all: nothing may point at it.
    void take_back() {
        index_[last_] = detail::Index::absent;
        shown_.pop_back();
        --kept_;
    }

    /// What the result that was decided last takes in the recap.
    void spend(std::size_t chars) { spent_ += chars; }

private:
    ResultAging numbers_;
    detail::Index index_;
    std::vector<std::string_view> shown_;
    std::uint64_t last_ = 0;  // hash of the newest of them
    std::size_t kept_ = 0;
    std::size_t spent_ = 0;
};

}  // namespace coppice
