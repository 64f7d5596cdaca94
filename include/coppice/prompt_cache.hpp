// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace coppice::inline v0 {

/// What a provider bills for input, in thousandths of an input token that has nothing to do with a cache: to write a
/// token into the prompt cache (or to read it where none is written), and to have it read from there.
struct Prices {
    std::size_t write = 1250;  ///< thousandths
    std::size_t read = 100;    ///< thousandths

    friend constexpr bool operator==(const Prices&, const Prices&) = default;

    constexpr void validate() const {
        if (read > write) {
            throw std::invalid_argument("coppice::Prices: `read` is more than `write`; a cache that costs more than "
                                        "it spares is not used");
        }
        if (write == 0 || write > 1'000'000) {
            throw std::invalid_argument("coppice::Prices: `write` must be from 1 to 1000000 thousandths");
        }
    }
};

/// How a provider's prompt cache finds what it can serve. Members left alone are as the provider of the dialect has it.
struct CacheRules {
    static constexpr std::size_t of_dialect = static_cast<std::size_t>(-1);  ///< as the provider has it

    /// Entries are written at breakpoints only, and looked for so many content blocks back from each. Cadences then count
    /// on system and tools alone to be found after a rewrite. 0: any prefix is found; also where the host sets the
    /// breakpoints that the report suggests.
    std::size_t look_back = of_dialect;
    std::size_t minimum_tokens = of_dialect;  ///< prefixes of less are not cached

    friend constexpr bool operator==(const CacheRules&, const CacheRules&) = default;

    /// The numbers of a dialect where these leave it to that.
    constexpr CacheRules resolved(std::string_view dialect) const {
        const bool breakpoints = dialect == "anthropic" || dialect == "bedrock";
        return {.look_back = look_back != of_dialect ? look_back : breakpoints ? 20U : 0U,
                .minimum_tokens = minimum_tokens != of_dialect ? minimum_tokens
                                  : dialect == "gemini"        ? 2048U
                                                               : 1024U};
    }
};

/// Prices as published at the end of 2026; a host that knows better passes its own.
namespace prices {

/// A name and its prices.
struct Row {
    std::string_view name{};  ///< as configurations have it
    Prices prices{};          ///< what it bills
};

inline constexpr Prices anthropic{1250, 100};       ///< entries of five minutes
inline constexpr Prices anthropic_hour{2000, 100};  ///< entries of an hour
inline constexpr Prices anthropic_fable{1250, 25};  ///< Fable and Mythos 5.1
inline constexpr Prices openai_half{1000, 500};     ///< models before GPT-5.6 that halve the price
inline constexpr Prices openai{1000, 100};          ///< those that take nine tenths off
inline constexpr Prices openai_written{1250, 100};  ///< from GPT-5.6 on, which bill the writing
inline constexpr Prices gemini{1000, 250};          ///< implicit caching
inline constexpr Prices gemini_low{1000, 100};      ///< the cheaper end of what it bills for what is cached
inline constexpr Prices deepseek{1000, 20};         ///< the dearer end
inline constexpr Prices deepseek_low{1000, 8};      ///< the cheaper end
inline constexpr Prices no_cache{1000, 1000};       ///< also local servers that reuse nothing

/// All of these, by name.
inline constexpr std::array<Row, 11> rows = {{
    {"anthropic", anthropic},
    {"anthropic-hour", anthropic_hour},
    {"anthropic-fable", anthropic_fable},
    {"openai-half", openai_half},
    {"openai", openai},
    {"openai-written", openai_written},
    {"gemini", gemini},
    {"gemini-low", gemini_low},
    {"deepseek", deepseek},
    {"deepseek-low", deepseek_low},
    {"no-cache", no_cache},
}};

}  // namespace prices
}  // namespace coppice
