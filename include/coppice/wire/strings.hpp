// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/lexical.hpp>
#include <coppice/text.hpp>
#include <coppice/wire/text_map.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace coppice::inline v0::detail {

/// What the escapes of one string come to.
struct StringFacts {
    Extent removed{};  ///< what decoding takes off
    Extent escapes{};  ///< what the shortest spelling as JSON adds again
    bool one_spelling =
        true;           ///< none of its characters could be spelled otherwise in as many bytes or fewer
    bool valid = true;  ///< JSON knows all of its escapes
};

/// Reads strings of a JSON text by its map of escapes. They must come in the order of the text.
class StringReader {
public:
    void start(std::string_view json, const TextMap& map) {
        json_ = json;
        map_ = &map;
        next_ = 0;
    }

    /// The inside of a string with a backslash in it, from `begin` to its closing quote at `end`.
    StringFacts read(std::size_t begin, std::size_t end) {
        StringFacts facts;
        // most escapes are two characters and stand for one that cannot be spelled shorter
        facts.removed = facts.escapes = ascii(map_->escapes(begin, end));
        const auto others = map_->others();
        while (next_ < others.size() && others[next_] < begin) { ++next_; }
        std::size_t paired = 0;  // the second half of a surrogate pair
        for (; next_ < others.size() && others[next_] < end && facts.valid; ++next_) {
            const std::size_t place = others[next_];
            switch (json_[place]) {
                case 'b':
                case 'f':
                case 'r': break;
                case '/':
                    facts.escapes -= ascii(1);
                    facts.one_spelling = false;
                    break;
                case 'u':
                    if (place != paired) { paired = read_code(place, end, facts); }
                    break;
                default: facts.valid = false;
            }
        }
        return facts;
    }

private:
    // Answers with the place of the second half, if this is the first one of a pair.
    std::size_t read_code(std::size_t place, std::size_t end, StringFacts& facts) const {
        const std::string_view escape = json_.substr(place - 1, std::min<std::size_t>(end - place + 1, 12));
        if (!starts_with_hex(escape)) {
            facts.valid = false;
            return 0;
        }
        const EscapedUnit unit = next_unit(escape);
        const bool pair = unit.length == 12;
        if (pair && !starts_with_hex(escape.substr(6))) {
            facts.valid = false;
            return 0;
        }
        const TextExtent extent = extent_of(unit);
        const Extent counted = ascii(pair ? 2 : 1);  // by their backslashes
        facts.removed += ascii(unit.length) - extent.plain - counted;
        facts.escapes -= counted;
        facts.escapes += extent.escapes;
        const bool shortest = (extent.plain + extent.escapes).bytes == unit.length;
        facts.one_spelling = facts.one_spelling && shortest && is_lower(escape.substr(2, 4));
        return pair ? place + 6 : 0;
    }

    // an escape of a code point
    static bool starts_with_hex(std::string_view escape) {
        bool all = escape.size() >= 6;
        for (std::size_t i = 2; all && i < 6; ++i) {
            all = hex_digits[static_cast<unsigned char>(escape[i])];
        }
        return all;
    }
    static bool is_lower(std::string_view digits) {
        return digits.find_first_of("ABCDEF") == std::string_view::npos;
    }

    std::string_view json_;
    const TextMap* map_ = nullptr;
    std::size_t next_ = 0;  // among the map's others
};

}  // namespace coppice::detail
