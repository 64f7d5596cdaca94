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

void* allocate_or_null(std::size_t size) noexcept {
    try {
        return allocate(size);
    } catch (const std::bad_alloc&) { return nullptr; }
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
// libraries ask like this, and a sanitizer compares how memory was taken and given back
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate_or_null(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate_or_null(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
