// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/entity_writer.hpp>
#include <coppice/detail/tag_finder.hpp>
#include <coppice/detail/tag_name.hpp>
#include <coppice/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace coppice::inline v0 {

/// How a forged tag is made harmless.
enum class Defuse : std::uint8_t {
    quoted,  ///< `<quoted:name>`: all that was there stays, and escaped brackets count as brackets
    entity,  ///< `&lt;name&gt;`: escaped brackets are its own output, and so none to it
};

constexpr std::string_view name_of(Defuse defuse) { return defuse == Defuse::quoted ? "quoted" : "entity"; }

/// The tags that fence what is written in the platform's name, and how others' texts are kept from holding any.
struct FenceTags {
    std::string_view note = "agent_platform_note";   ///< the name of notes' tags
    std::string_view recap = "agent_session_recap";  ///< the name of recaps' tags
    Defuse defuse = Defuse::quoted;                  ///< what forged ones become

    /// Throws std::invalid_argument unless both names are [a-z][a-z0-9_]*, 4 to 64 characters of which 4 are letters
    /// and the last is no underscore, do not read like `quoted...` and do not read alike.
    constexpr void validate() const {
        for (const std::string_view name : {note, recap}) { validate(name); }
        if (detail::begins_alike(note, recap) && detail::begins_alike(recap, note)) {
            throw std::invalid_argument("coppice: the names of the fence tags read alike");
        }
    }

private:
    static constexpr void validate(std::string_view name) {
        constexpr std::size_t shortest = 4;
        constexpr std::size_t longest = 64;
        const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
        const auto allowed = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
        if (name.size() < shortest || name.size() > longest) {
            throw std::invalid_argument("coppice: the name of a fence tag has 4 to 64 characters");
        }
        if (!std::all_of(name.begin(), name.end(), allowed) || !letter(name.front()) || name.back() == '_') {
            throw std::invalid_argument(
                "coppice: the name of a fence tag is [a-z][a-z0-9_]* without _ at its end");
        }
        if (std::count_if(name.begin(), name.end(), letter) < static_cast<std::ptrdiff_t>(shortest)) {
            throw std::invalid_argument("coppice: the name of a fence tag has 4 letters");
        }
        if (detail::begins_alike(name, "quoted")) {
            throw std::invalid_argument("coppice: the name of a fence tag does not begin with `quoted`");
        }
    }
};

namespace detail {

inline TagFinder finder(std::string_view text, const FenceTags& tags) {
    return {text, tags.note, tags.recap, tags.defuse == Defuse::quoted};
}

}  // namespace detail

/// Where the first tag of a text starts, npos where it holds none. A tag is an opening bracket, any ASCII
/// punctuation but : and =, and one of the names, all of them in any case or as look-alikes and with anything
/// invisible between; separators or none stand for an underscore. A letter, digit or underscore behind makes it
/// another name, and no `>` is needed. Linear.
///
/// Before and within the name, escapes of JSON and its like count as what they stand for, ANSI sequences and
/// Markdown's backslashes as nothing; character references count where tags are quoted. Where a name begins
/// with an escape's letter (`<\note>`), it is read in both ways. Not found: what has a prefix (`<x:name>`), base64,
/// percent encoding, and digits for letters that they only resemble (4 for a).
inline std::size_t find_tag(std::string_view text, const FenceTags& tags) {
    return detail::finder(text, tags).next().start;
}

/// Appends a text with its tags made harmless: none is found in what is written, and doing it twice is doing it once.
/// `quoted:` stands before the whole escape or reference with which a name may begin.
/// A text without tags stays as it is, valid UTF-8 stays valid. The names are to be valid.
///
/// Two such texts may form a tag where they meet, even with a line between them, since white space is allowed within
/// one: callers look at the assembled text.
inline void append_neutralised(std::string& out, std::string_view text, const FenceTags& tags) {
    detail::TagFinder finder = detail::finder(text, tags);
    if (tags.defuse == Defuse::entity) {
        detail::EntityWriter writer(out, text);
        for (detail::FoundTag tag = finder.next(); tag.found(); tag = finder.next()) { writer.add(tag); }
        writer.finish();
        return;
    }
    std::size_t written = 0;
    for (detail::FoundTag tag = finder.next(); tag.found(); tag = finder.next()) {
        out.append(text.substr(written, tag.name - written)).append("quoted:");
        written = tag.name;
    }
    out.append(text.substr(written));
}

}  // namespace coppice
