// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/text.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace coppice::inline v0::detail {

/// The longest spelling of an id in a path component.
inline constexpr std::size_t spelled_id_limit = 96;
/// What is left of the spelling of an id that is longer.
inline constexpr std::size_t spelled_head_limit = 32;

inline void append_hex(std::string& out, std::uint64_t number) {
    for (unsigned shift = 64; shift > 0; shift -= 4) {
        out += "0123456789abcdef"[(number >> (shift - 4)) & 15U];
    }
}

/// 32 hexadecimal digits, the same in every process of a machine.
inline std::string hash_name(std::string_view bytes) {
    std::string out;
    append_hex(out, hash_bytes(bytes, 0x636F707069636531ULL));
    append_hex(out, hash_bytes(bytes, 0x7370696C6C000002ULL));
    return out;
}

inline bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

inline bool is_hash_name(std::string_view text) { return text.size() == 32 && is_hex(text); }

/// Letters a-z, digits, '_' and '-' stand for themselves, a capital is '.' and the small letter, so that names stay
/// apart where a file system ignores case, and every other byte is '~' and two hexadecimal digits.
inline void append_spelled(std::string& out, char byte) {
    const bool small = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');
    if (small || byte == '_' || byte == '-') {
        out += byte;
    } else if (byte >= 'A' && byte <= 'Z') {
        out += '.';
        out += static_cast<char>(byte | 0x20);
    } else {
        const auto value = static_cast<unsigned char>(byte);
        out += '~';
        out += "0123456789abcdef"[value >> 4U];
        out += "0123456789abcdef"[value & 15U];
    }
}

/// Any id as one path component: at most 98 characters of `[a-z0-9_.~-]`, "s-" or the like in front. Two ids
/// never share one, unless both are long and agree in head, length and a hash of 128 bits that is no secret.
inline std::string id_component(char kind, std::string_view id) {
    std::string out{kind, '-'};
    std::size_t head = out.size();
    for (const char byte : id) {
        append_spelled(out, byte);
        if (out.size() <= 2 + spelled_head_limit) { head = out.size(); }
        if (out.size() <= 2 + spelled_id_limit) { continue; }
        out.resize(head);
        out += "~~";  // in no spelling of an id
        append_number(out, id.size());
        out += '~';
        out += hash_name(id);
        break;
    }
    return out;
}

/// The id that is spelled so. Nothing where no id is.
inline std::optional<std::string> read_spelled(std::string_view spelled) {
    std::string id;
    for (std::size_t at = 0; at < spelled.size(); ++at) {
        const char byte = spelled[at];
        if (byte == '.' && at + 1 < spelled.size()) {
            const char letter = spelled[++at];
            if (letter < 'a' || letter > 'z') { return std::nullopt; }
            id += static_cast<char>(letter & ~0x20);
        } else if (byte == '~' && at + 2 < spelled.size()) {
            const std::string_view digits = spelled.substr(at + 1, 2);
            if (!is_hex(digits)) { return std::nullopt; }
            const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
            id += static_cast<char>(digit(digits[0]) * 16 + digit(digits[1]));
            at += 2;
        } else {
            id += byte;
        }
    }
    std::string again;
    for (const char byte : id) { append_spelled(again, byte); }
    if (again != spelled) { return std::nullopt; }
    return id;
}

/// What a path component says about the id it stands for.
struct NamedId {
    std::optional<std::string> id;  ///< nothing where the id was too long to be spelled
};

/// Nothing for a name that `id_component` never gives.
inline std::optional<NamedId> read_id_component(char kind, std::string_view name) {
    if (name.size() < 2 || name.size() > 2 + spelled_id_limit || name[0] != kind || name[1] != '-') {
        return std::nullopt;
    }
    name.remove_prefix(2);
    const std::size_t cut = name.find("~~");
    if (cut == std::string_view::npos) {
        std::optional<std::string> id = read_spelled(name);
        if (!id) { return std::nullopt; }
        return NamedId{std::move(id)};
    }
    const std::string_view head = name.substr(0, cut);
    const std::string_view rest = name.substr(cut + 2);
    const std::size_t digits = rest.find('~');
    const bool ours = head.size() <= spelled_head_limit && read_spelled(head) && digits != 0 &&
                      digits != std::string_view::npos &&
                      rest.substr(0, digits).find_first_not_of("0123456789") == std::string_view::npos &&
                      is_hash_name(rest.substr(digits + 1));
    if (!ours) { return std::nullopt; }
    return NamedId{};
}

inline constexpr std::string_view content_ending = ".txt";
inline constexpr std::string_view temporary_ending = ".tmp";

/// The longest name of a content's file.
inline constexpr std::size_t content_name_limit = 2 + spelled_id_limit + 1 + 32 + content_ending.size();

/// The file of a content: one id used for two contents has two files.
inline std::string content_name(std::string_view id, std::string_view content) {
    std::string out = id_component('m', id);
    out += '-';
    out += hash_name(content);
    out += content_ending;
    return out;
}

/// A content's file by its name.
struct ContentName {
    std::optional<std::string> id;
    std::string_view hash;
};

/// Nothing for a name that `content_name` never gives.
inline std::optional<ContentName> read_content_name(std::string_view name) {
    if (name.size() < 33 + content_ending.size() || !name.ends_with(content_ending)) { return std::nullopt; }
    name.remove_suffix(content_ending.size());
    const std::string_view hash = name.substr(name.size() - 32);
    name.remove_suffix(32);
    if (!is_hash_name(hash) || !name.ends_with('-')) { return std::nullopt; }
    name.remove_suffix(1);
    std::optional<NamedId> named = read_id_component('m', name);
    if (!named) { return std::nullopt; }
    return ContentName{std::move(named->id), hash};
}

/// The file of a content that is being written.
inline std::string temporary_name(std::uint64_t writer, std::uint64_t number) {
    std::string out = "t-";
    append_hex(out, writer);
    append_hex(out, number);
    out += temporary_ending;
    return out;
}

inline bool is_temporary_name(std::string_view name) {
    return name.starts_with("t-") && name.ends_with(temporary_ending) &&
           name.size() == 2 + 32 + temporary_ending.size() && is_hash_name(name.substr(2, 32));
}

}  // namespace coppice::detail
