// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <limits>

namespace support {

/// What a thread asked of the heap, and after how many more requests it is refused. The test program's own operator new
/// keeps count.
struct Heap {
    std::size_t requests = 0;
    std::size_t bytes = 0;
    std::size_t until_refusal = std::numeric_limits<std::size_t>::max();
};
extern constinit thread_local Heap heap;

}  // namespace support
