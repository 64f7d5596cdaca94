// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace fuzz {

/// What each target gives beside its entry: the first bytes that choose what it does, to be tried with every seed.
std::vector<std::uint8_t> first_bytes();

/// Ends the run where a property does not hold.
inline void require(bool holds, const char* what) {
    if (holds) { return; }
    std::fprintf(stderr, "fuzz: does not hold: %s\n", what);
    std::abort();
}

}  // namespace fuzz
