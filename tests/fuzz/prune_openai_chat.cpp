// SPDX-License-Identifier: MIT
// Pruning of bodies in the shape of OpenAI Chat Completions, and those that speak like it.
//
//     CXX=clang++ cmake -B build/fuzz && cmake --build build/fuzz --target coppice_fuzz_prune_openai_chat
//     mkdir -p finds && cp tests/fuzz/seeds/prune_openai_chat/* finds
//     build/fuzz/tests/fuzz/coppice_fuzz_prune_openai_chat -max_len=4096 -timeout=20 finds
//
// `replay.cpp` runs the seeds without libFuzzer.
#include "mutate.hpp"
#include "prune.hpp"
#include "target.hpp"

#include <coppice/dialect.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::check_pruning(coppice::Dialect::openai_chat, data, size);
    return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
    return fuzz::mutate(coppice::Dialect::openai_chat, data, size, max_size, seed);
}

std::vector<std::uint8_t> fuzz::first_bytes() { return fuzz::pruning_first_bytes(); }
