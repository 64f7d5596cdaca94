// SPDX-License-Identifier: MIT
// Sides of a comparison that take turns in one run.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace coppice_bench {

inline void expect(bool holds, const char* what) {
    if (!holds) { throw std::runtime_error(what); }
}

// The best of all turns: the machine's noise only ever adds.
class Side {
public:
    // Once to have the body and the code in the caches again, after the other sides had them.
    template <class Work>
    void take_turn(std::size_t runs, Work work) {
        work();
        for (std::size_t i = 0; i < runs; ++i) {
            const auto start = std::chrono::steady_clock::now();
            work();
            add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        }
    }

    void add(double seconds) { best_ = std::min(best_, seconds); }
    double best() const { return best_; }

private:
    double best_ = 1e9;
};

class StructuralScan {
public:
    explicit StructuralScan(std::size_t capacity) {
        const auto failed =
            simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, parser_);
        expect(failed == simdjson::SUCCESS, "simdjson makes no parser");
    }

    void run(std::string_view body) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(body.data());
        const auto failed = parser_->stage1(bytes, body.size(), simdjson::stage1_mode::regular);
        expect(failed == simdjson::SUCCESS, "simdjson refuses the body");
    }

private:
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
};

}  // namespace coppice_bench
