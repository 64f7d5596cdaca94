// SPDX-License-Identifier: MIT
// What a provider's prompt cache can serve of a request, after the requests before it. No entry ever expires.
#pragma once

#include "result.hpp"

#include <coppice/detail/hash.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

namespace coppice_replay {

/// One content block of a request. Blocks of one id are the same to the last byte.
struct Block {
    std::uint64_t id = 0;
    std::size_t tokens = 0;
    bool starts_message = false;
};

/// A request, with what its prefixes are: `hash[n]` and `tokens[n]` are of its first n blocks.
class Prompt {
public:
    Prompt() : hashes_(1), tokens_(1) {}
    explicit Prompt(std::vector<Block> blocks) : Prompt() { assign(std::move(blocks)); }

    void assign(std::vector<Block> blocks) {
        blocks_ = std::move(blocks);
        hashes_.resize(blocks_.size() + 1);
        tokens_.resize(blocks_.size() + 1);
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            hashes_[i + 1] = coppice::detail::mix(hashes_[i] * 31 + coppice::detail::mix(blocks_[i].id + 1));
            tokens_[i + 1] = tokens_[i] + blocks_[i].tokens;
        }
    }
    /// The blocks, so that their memory can be used again.
    std::vector<Block> take_blocks() { return std::move(blocks_); }

    std::span<const Block> blocks() const { return blocks_; }
    std::size_t size() const { return blocks_.size(); }
    std::size_t tokens() const { return tokens_.back(); }
    std::size_t tokens_until(std::size_t count) const { return tokens_[count]; }
    std::uint64_t hash(std::size_t count) const { return hashes_[count]; }

private:
    std::vector<Block> blocks_;
    std::vector<std::uint64_t> hashes_;
    std::vector<std::size_t> tokens_;
};

/// How many blocks two requests have in common from the beginning on.
inline std::size_t common_blocks(const Prompt& left, const Prompt& right) {
    const std::size_t most = std::min(left.size(), right.size());
    std::size_t count = 0;
    while (count < most && left.hash(count + 1) == right.hash(count + 1)) { ++count; }
    return count;
}

/// The longest prefix that any earlier request had as well, in blocks. What C and D build on.
class SeenPrefixes {
public:
    /// `known` blocks are known to be common with one of them, which spares looking.
    std::size_t longest(const Prompt& prompt, std::size_t known) const {
        while (known < prompt.size() && seen_.contains(prompt.hash(known + 1))) { ++known; }
        return known;
    }
    /// From now on this request is one of them; its first `known` blocks are already.
    void add(const Prompt& prompt, std::size_t known) {
        for (std::size_t i = known; i < prompt.size(); ++i) { seen_.insert(prompt.hash(i + 1)); }
    }

private:
    std::unordered_set<std::uint64_t> seen_;
};

/// C: of a common prefix, at least 1,024 tokens, in steps of 128.
constexpr std::size_t openai_hit(std::size_t common_tokens) {
    return common_tokens < 1024 ? 0 : common_tokens - common_tokens % 128;
}

/// D: of a common prefix, whole units of 64 tokens.
constexpr std::size_t deepseek_hit(std::size_t common_tokens) { return common_tokens - common_tokens % 64; }

/// B: an entry is written at each breakpoint, and looked for at each breakpoint and at the blocks before it, twenty
/// places in all.
class BreakpointCache {
public:
    static constexpr std::size_t look_back = 20;
    static constexpr std::size_t minimum_tokens = 1024;  ///< shorter prefixes are not cached

    /// Breakpoints are counts of blocks: the end of a prefix. Answers with the tokens that are served.
    std::size_t serve(const Prompt& prompt, std::span<const std::size_t> breakpoints) {
        std::size_t hit = 0;
        for (const std::size_t end : breakpoints) {
            for (std::size_t back = 0; back < look_back && back < end; ++back) {
                if (!entries_.contains(prompt.hash(end - back))) { continue; }
                hit = std::max(hit, prompt.tokens_until(end - back));
                break;
            }
        }
        for (const std::size_t end : breakpoints) {
            if (end > 0 && prompt.tokens_until(end) >= minimum_tokens) { entries_.insert(prompt.hash(end)); }
        }
        return hit;
    }

private:
    std::unordered_set<std::uint64_t> entries_;
};

/// Breakpoints as Claude Code sets them: the end of system prompt and tools, which are the first block, and the ends of
/// the last two messages. `suggested`, a count of blocks, is one more where it is not 0; there may be four.
inline std::vector<std::size_t> breakpoints_of(const Prompt& prompt, std::size_t suggested = 0) {
    std::vector<std::size_t> found;
    const auto add = [&](std::size_t end) {
        const bool known = std::find(found.begin(), found.end(), end) != found.end();
        if (end > 0 && end <= prompt.size() && !known) { found.push_back(end); }
    };
    std::size_t last_message = prompt.size();
    while (last_message > 0 && !prompt.blocks()[last_message - 1].starts_message) { --last_message; }
    add(std::min<std::size_t>(1, prompt.size()));
    add(suggested);
    if (last_message > 0) { add(last_message - 1); }
    add(prompt.size());
    return found;
}

/// All four models over the requests of one session.
class CacheModels {
public:
    struct Served {
        std::array<std::size_t, cache_model_count> hits{};
        std::size_t hits_suggested = 0;  ///< of B, with the suggested breakpoint as well
        bool extends = false;            ///< all of the previous request stands at the beginning of this one
    };

    /// A host sets one more breakpoint behind the first `suggested` blocks. Without a number: with a rewrite, before
    /// the first block that is not what it was; otherwise behind the first `unchanging` blocks, which is where the
    /// next rewrite will look.
    Served serve(const Prompt& prompt, std::optional<std::size_t> suggested = {}, std::size_t unchanging = 0) {
        Served served;
        const std::size_t common = common_blocks(previous_, prompt);
        served.extends = common == previous_.size();
        if (!suggested) { suggested = served.extends ? unchanging : common; }
        served.hits[static_cast<std::size_t>(CacheModel::ideal)] = prompt.tokens_until(common);
        const std::size_t seen = seen_.longest(prompt, common);
        seen_.add(prompt, seen);
        const std::size_t seen_tokens = prompt.tokens_until(seen);
        served.hits[static_cast<std::size_t>(CacheModel::openai)] = openai_hit(seen_tokens);
        served.hits[static_cast<std::size_t>(CacheModel::deepseek)] = deepseek_hit(seen_tokens);
        served.hits[static_cast<std::size_t>(CacheModel::anthropic)] =
            plain_.serve(prompt, breakpoints_of(prompt));
        served.hits_suggested = suggesting_.serve(prompt, breakpoints_of(prompt, *suggested));
        return served;
    }
    /// The request that was served last becomes the previous one; what that was comes back, to be used again.
    Prompt exchange_previous(Prompt prompt) { return std::exchange(previous_, std::move(prompt)); }
    const Prompt& previous() const { return previous_; }

private:
    Prompt previous_;
    SeenPrefixes seen_;
    BreakpointCache plain_;
    BreakpointCache suggesting_;
};

}  // namespace coppice_replay
