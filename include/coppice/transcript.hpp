// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/measure.hpp>
#include <coppice/text.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

/// "No such entry."
inline constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// A value of the document, as the back end that read it knows it. Nobody else looks inside.
struct Node {
    const void* where = nullptr;
    std::size_t length = 0;

    constexpr explicit operator bool() const { return where != nullptr; }
};

/// What an entry is.
enum class Kind : std::uint8_t {
    call,            ///< a tool call
    result,          ///< a tool result
    reasoning,       ///< thinking, signed or not
    user_text,       ///< text or media that a user message holds beside results
    assistant_text,  ///< what the model wrote
    opaque,          ///< anything the dialect does not know: never changed
};

/// One piece of a tool result's content.
struct Part {
    enum class Kind : std::uint8_t {
        text,
        image,
        document,
        other,  ///< counted by its serialised size
        stub,   ///< a text that the wording recognises as its own: counts nothing
    };

    Kind kind = Kind::text;
    Text text{};            ///< of a text part
    TextExtent extent{};    ///< of a text part
    Extent serialised{};    ///< of the whole part
    Node node{};            ///< the whole part
    Node cache_mark{};      ///< its cache mark, if it carries one
    Extent cache_mark_size{};
};

/// A string inside a call's input: at the top level (`content`), or in an array of objects one level
/// down (`edits[2].new_string`).
struct Field {
    Text name{};
    Text list{};             ///< name of the array, empty at the top level
    std::size_t index = 0; ///< position in the array
    Text text{};
    TextExtent extent{};
    Node node{};
};

/// How content is written, so that a replacement can keep the form it found.
enum class Form : std::uint8_t {
    absent,
    string,
    blocks,  ///< an array of content blocks
    other,   ///< anything else: an object, a number, ...
};

/// One step of the conversation, in the order of the transcript.
struct Entry {
    Kind kind = Kind::opaque;
    Form form = Form::absent;      ///< of a result's content
    bool error = false;            ///< the result says that the call failed
    bool immutable = false;        ///< the provider's rules forbid every change
    bool nested_cache_mark = false;///< a cache mark deeper than its parts
    bool stub = false;             ///< a result that is nothing but one of our own stubs
    std::size_t message = 0;
    std::size_t block = 0;
    std::size_t peer = none;       ///< the call of a result, the result of a call
    std::size_t step = 0;          ///< how many assistant turns came before
    std::size_t user_turn = 0;     ///< how many user turns came before
    Text id{};
    Text tool{};                     ///< of a result: through its own call
    Text identity{};                 ///< path, command, ... of the call
    std::size_t first_part = 0;
    std::size_t part_count = 0;
    std::size_t first_field = 0;
    std::size_t field_count = 0;
    std::size_t images = 0;
    std::size_t elided = 0;        ///< images that were there before an earlier pruning replaced them
    std::size_t documents = 0;
    std::size_t others = 0;
    std::size_t cache_marks = 0;   ///< on its parts
    Extent text{};                   ///< the joined text; documents and unknown parts with their serialised size
    Extent serialised{};             ///< the content of a result as it stands in the body
    Text reference{};                ///< where the full content is, when the result is one of our previews
    Node content{};                  ///< the content of a result, the input of a call
};

/// How a dialect writes a text block, in pieces: the text and perhaps a cache mark go between them.
struct BlockSpelling {
    std::string_view type{};      ///< value of "type"; empty where blocks have none
    std::string_view text_key{};  ///< "text"
    std::string_view mark_key{};  ///< "cache_control"

    /// The block without its text and mark: braces, keys, colons, commas.
    constexpr Extent frame() const {
        const std::size_t type_member = type.empty() ? 0 : std::string_view(R"("type":"",)").size() + type.size();
        return ascii(2 + type_member + text_key.size() + std::string_view(R"("":)").size());
    }
    constexpr Extent mark_frame() const { return ascii(mark_key.size() + std::string_view(R"(,"":)").size()); }
};

/// Who speaks.
enum class Role : std::uint8_t { user, assistant, other };

struct Message {
    Role role = Role::other;
    std::size_t first_entry = 0;
    Extent until_here{};  ///< of all messages up to and with this one
};

/// What a transcript's back end is asked when bytes alone do not answer.
class Source {
public:
    virtual ~Source() = default;
    /// Appends one spelling of the value: equal values, whatever the order of their keys, give equal bytes.
    virtual void append_canonical(Node value, std::string& out) const = 0;

protected:
    Source() = default;
    Source(const Source&) = default;
    Source& operator=(const Source&) = default;
};

/// A message history as a flat list, free of JSON. A reader fills it; it points into the document it was
/// read from and is valid as long as that does not change.
class Transcript {
public:
    std::string_view dialect{};      ///< "anthropic", ...; empty when none was recognised
    std::vector<Part> parts;
    std::vector<Field> fields;
    std::vector<Message> messages;
    Extent frame{};                  ///< the body without its messages
    const Source* source = nullptr;
    BlockSpelling block;

    void clear() {
        dialect = {};
        parts.clear();
        fields.clear();
        messages.clear();
        all_.clear();
        frame = {};
        source = nullptr;
        horizon_ = visible_ = unread_from_ = 0;
    }

    Entry& add(const Entry& entry) {
        all_.push_back(entry);
        return all_.back();
    }

    /// The entries up to the horizon: all that a policy sees.
    std::span<const Entry> entries() const { return {all_.data(), visible_}; }
    std::span<const Entry> all() const { return all_; }
    std::span<Entry> all() { return all_; }

    std::span<const Part> parts_of(const Entry& entry) const {
        return std::span(parts).subspan(entry.first_part, entry.part_count);
    }
    std::span<const Field> fields_of(const Entry& entry) const {
        return std::span(fields).subspan(entry.first_field, entry.field_count);
    }

    /// Limits the view to the first `count` messages. What those end with, after the last assistant
    /// message, the model has not read yet at that point.
    void set_horizon(std::size_t count) {
        horizon_ = count < messages.size() ? count : messages.size();
        visible_ = horizon_ < messages.size() ? messages[horizon_].first_entry : all_.size();
        unread_from_ = horizon_;
        while (unread_from_ > 0 && messages[unread_from_ - 1].role != Role::assistant) { --unread_from_; }
    }
    std::size_t horizon() const { return horizon_; }

    /// The body as it was when the history ended at message `count`.
    Extent body_until(std::size_t count) const {
        return count == 0 || messages.empty() ? frame : frame + messages[count - 1].until_here;
    }
    Extent body() const { return body_until(messages.size()); }

    /// A result that the model has not seen at the horizon, or a call whose result it has not seen.
    bool unread(const Entry& entry) const {
        if (entry.kind == Kind::result) { return entry.message >= unread_from_; }
        return entry.kind == Kind::call && (entry.peer == none || all_[entry.peer].message >= unread_from_);
    }

private:
    std::vector<Entry> all_;
    std::size_t horizon_ = 0;
    std::size_t visible_ = 0;
    std::size_t unread_from_ = 0;
};

}  // namespace coppice
