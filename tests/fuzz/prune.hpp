// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialect.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuzz {

/// Pruning of bytes against pruning of a DOM, and against what every body must hold to. The first byte of an input
/// chooses the pipeline, and whether the dialect is named or has to be detected; the rest is the body. What the
/// targets `prune_*.cpp` have in common; it stands in `prune.cpp`, which takes a while to compile.
void check_pruning(coppice::Dialect dialect, const std::uint8_t* data, std::size_t size);

/// First bytes that choose each pipeline, in both ways.
std::vector<std::uint8_t> pruning_first_bytes();

}  // namespace fuzz
