// SPDX-License-Identifier: MIT
#include <coppice/detail/running_sums.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <random>
#include <vector>

using coppice::detail::RunningSums;

TEST_CASE("running_sums: they are the sums of what was added") {
    std::mt19937 random(7);
    for (const std::size_t size : {0U, 1U, 2U, 3U, 8U, 31U, 100U}) {
        CAPTURE(size);
        RunningSums sums;
        std::vector<std::size_t> naive(size, 0);
        // starting again forgets
        sums.start(size + 5);
        if (size > 0) { sums.add(0, 99); }
        sums.start(size);
        for (std::size_t step = 0; step < 3 * size; ++step) {
            const std::size_t at = random() % size;
            const std::size_t value = random() % 1000;
            sums.add(at, value);
            naive[at] += value;
        }
        std::size_t sum = 0;
        CHECK(sums.until(0) == 0);
        for (std::size_t i = 0; i < size; ++i) {
            sum += naive[i];
            REQUIRE(sums.until(i + 1) == sum);
        }
    }
}

TEST_CASE("running_sums: what is added behind the end is in no sum, and nothing is the sum of none") {
    RunningSums sums;
    sums.start(0);
    CHECK(sums.until(0) == 0);
    sums.add(0, 7);
    sums.start(3);
    sums.add(3, 7);
    sums.add(2, 5);
    CHECK(sums.until(3) == 5);
    CHECK(sums.until(2) == 0);
}
