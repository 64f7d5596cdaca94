// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coppice_replay {

/// How a provider's prompt cache decides what it can serve.
enum class CacheModel : unsigned char {
    ideal,      ///< A: the longest common prefix with the previous request
    anthropic,  ///< B: entries at breakpoints, a look-back of 20 blocks, a least length
    openai,     ///< C: at least 1,024 tokens, in steps of 128
    deepseek,   ///< D: whole units of 64 tokens
};
inline constexpr std::size_t cache_model_count = 4;

constexpr std::string_view name_of(CacheModel model) {
    constexpr std::array<std::string_view, cache_model_count> names = {"ideal", "anthropic", "openai", "deepseek"};
    return names[static_cast<std::size_t>(model)];
}

/// One request of a session, as a policy sends it. All figures are tokens unless said otherwise.
struct RequestFigures {
    std::size_t messages = 0;       ///< of the history
    std::size_t tokens = 0;         ///< of the body that is sent
    std::size_t tokens_whole = 0;   ///< of the body without pruning
    std::array<std::size_t, cache_model_count> hits{};  ///< what each cache model can serve
    std::size_t hits_suggested = 0;  ///< of `anthropic`, where the host sets the suggested breakpoint as well
    std::size_t rebilled = 0;       ///< of a rewrite: what the previous body had and the ideal cache lost
    bool rewrite = false;           ///< the body is no extension of the previous one
};

/// How sure it is that what was cleared was not needed any more: of results cleared, how many were asked for again
/// within 24 calls, and how many had a line of their own quoted later.
struct LostEvidence {
    std::size_t cleared = 0;
    std::size_t called_again = 0;
    std::size_t quoted = 0;
    double base_rate = 0;  ///< share of all results that are called again within 24 calls anyway, without pruning
};

/// A piece of the transcript at the last request of the session.
struct StripEntry {
    std::string kind;         ///< "call", "result", "reasoning", "user text", "assistant text", "other"
    std::size_t message = 0;
    std::string tool;
    std::string identity;     ///< path, command, ...
    std::size_t tokens = 0;   ///< before pruning
    std::size_t left = 0;     ///< after it
    std::string replacement;  ///< the stub, empty where it stayed
    std::string beginning;    ///< of what it was, for a tooltip
    std::size_t cleared_at = 0;  ///< number of the request that cleared it, from 1; 0: never
};

/// One session replayed through one policy.
struct PolicyRun {
    std::string policy;
    std::vector<RequestFigures> requests;
    LostEvidence lost;
    std::size_t stub_tokens = 0;     ///< of all stubs in the last body
    std::size_t removed_tokens = 0;  ///< what they replaced
    std::size_t growths = 0;         ///< edits that did not shrink: must be none
    std::vector<StripEntry> strip;   ///< of this policy at the last request
};

/// One session replayed through every policy asked for. The first run is always `none`.
struct SessionRun {
    std::string session;
    std::string dialect;
    std::vector<PolicyRun> runs;
};

}  // namespace coppice_replay
