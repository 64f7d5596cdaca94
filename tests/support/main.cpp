// SPDX-License-Identifier: MIT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "allocations.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>
#include <new>

namespace support {
constinit thread_local Heap heap;
}  // namespace support

namespace {

void* allocate(std::size_t size) {
    support::Heap& heap = support::heap;
    ++heap.requests;
    heap.bytes += size;
    if (heap.until_refusal == 0) { throw std::bad_alloc(); }
    if (heap.until_refusal != std::numeric_limits<std::size_t>::max()) { --heap.until_refusal; }
    void* const memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) { throw std::bad_alloc(); }
    return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
