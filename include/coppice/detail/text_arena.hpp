// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// Keeps texts, each in one piece and in its place until `clear`; what it has allocated stays for the next ones.
class TextArena {
public:
    void clear() {
        for (std::string& block : blocks_) { block.clear(); }
        current_ = 0;
    }

    std::string_view keep(std::string_view text) {
        std::string& block = block_with_room(text.size());
        const std::size_t at = block.size();
        block += text;
        return std::string_view(block).substr(at);
    }

    /// Keeps a text that `write(char*)` puts down, in at most this many bytes, and whose length it answers.
    template <class Write>
    std::string_view keep_written(std::size_t most, Write write) {
        std::string& block = block_with_room(most);
        const std::size_t at = block.size();
        block.resize(at + most);
        const std::size_t size = write(block.data() + at);
        block.resize(at + size);
        return std::string_view(block).substr(at);
    }

private:
    std::string& block_with_room(std::size_t size) {
        constexpr std::size_t usual = std::size_t{64} * 1024;
        const auto has_room = [size](const std::string& block) { return block.capacity() - block.size() >= size; };
        while (current_ < blocks_.size() && !has_room(blocks_[current_])) { ++current_; }
        if (current_ == blocks_.size()) { blocks_.emplace_back().reserve(std::max(usual, size)); }
        return blocks_[current_];
    }

    std::vector<std::string> blocks_;
    std::size_t current_ = 0;  // those before it are as good as full
};

}  // namespace coppice::detail
