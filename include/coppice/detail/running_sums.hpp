// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace coppice::inline v0::detail {

/// A row of numbers, each of which may grow, and the sums of its beginnings.
class RunningSums {
public:
    void start(std::size_t size) { tree_.assign(size + 1, 0); }
    void add(std::size_t at, std::size_t value) {
        for (std::size_t i = at + 1; i < tree_.size(); i += i & (~i + 1)) { tree_[i] += value; }
    }
    /// The sum of the first `count` numbers.
    std::size_t until(std::size_t count) const {
        std::size_t sum = 0;
        for (std::size_t i = count; i > 0; i -= i & (~i + 1)) { sum += tree_[i]; }
        return sum;
    }

private:
    std::vector<std::size_t> tree_;
};

}  // namespace coppice::detail
