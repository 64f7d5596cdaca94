// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/json_pointer.hpp>
#include <coppice/detail/running_sums.hpp>
#include <coppice/detail/text_arena.hpp>
#include <coppice/measure.hpp>
#include <coppice/text.hpp>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// A value of the document, as the back end that read it knows it. Nobody else looks inside.
struct Node {
    const void* where = nullptr;  ///< what the back end finds it by
    std::size_t length = 0;       ///< bytes, where the back end is one of bytes

    /// Whether it is a value at all.
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
    /// What it is.
    enum class Kind : std::uint8_t {
        text,
        image,
        document,
        other,  ///< counted by its serialised size
        stub,   ///< a text that the wording recognises as its own: counts nothing
    };

    Kind kind = Kind::text;     ///< what it is
    bool plain = false;         ///< a text block with nothing but type, text and perhaps a cache mark
    bool bare = false;          ///< a string on its own, no block
    bool own_outcome = false;   ///< of a piece: `failed` is for it alone
    bool failed = false;        ///< with `own_outcome`: the call failed
    std::uint8_t mark_key = 0;  ///< of `cache_mark`, in BlockSpelling::mark_keys
    MeasuredText text{};        ///< of a text part
    Node node{};                ///< the whole part; the string itself where it is bare; a list of media that may be emptied
    Node cache_mark{};          ///< its cache mark, if it carries one
};

/// A string inside a call's input: at the top level (`content`), in an array of objects one level down
/// (`edits[2].new_string`), or deeper, where it is long enough. Of a result in pieces, the name of each part.
struct Field {
    /// Bytes that a deep one has at least. A stub in its place has no fewer, or nobody would find it again.
    static constexpr std::size_t shortest_deep = 8;

    Text name{};            ///< of the nearest member that it stands in
    Text list{};            ///< name of the array, which may be empty, too; of a deep one, the JSON Pointer in the input
    std::size_t index = 0;  ///< position in the array
    MeasuredText text{};    ///< the string
    Node node{};            ///< the same, where it stands in the document
    bool in_list = false;   ///< of an object in an array
    bool packed = false;    ///< of input that is JSON in a string: `node` is the spelling inside, quotes included
    bool deep = false;      ///< deeper than that
    bool cleared = false;   ///< by an earlier pruning
};

/// How content is written, so that a replacement can keep the form it found.
enum class Form : std::uint8_t {
    absent,
    string,
    blocks,  ///< an array of content blocks
    pieces,  ///< an object or array that stays as it is but for the values that are its parts
    other,   ///< anything else: an object, a number, ...
};

/// One step of the conversation, in the order of the transcript.
struct Entry {
    Kind kind = Kind::opaque;  ///< what it is
    Form form = Form::absent;        ///< of a result's content
    bool error = false;              ///< the result says that the call failed
    bool outcome_known = true;       ///< otherwise nothing says whether it did
    bool outcome_in_text = false;    ///< only its text can say so
    bool guessed = false;            ///< of a call: its result was found by order alone
    bool immutable = false;          ///< the provider's rules forbid every change
    bool removable = false;          ///< reasoning that the provider lets go as a whole, in turns that are over
    bool nested_cache_mark = false;  ///< a cache mark deeper than its parts
    bool stub = false;               ///< a result that is nothing but one of our own stubs
    bool capped = false;             ///< head and tail of a result whose middle an earlier pruning left out
    bool cleared = false;            ///< a call that lost fields of its input to an earlier pruning
    bool unnamed = false;            ///< and perhaps among them what it was known by
    bool names_path = false;         ///< `identity` is the path of a file, not a command, a URL or a name
    std::size_t message = 0;  ///< index of the message that it stands in
    std::size_t block = 0;  ///< index in the message's content
    std::size_t peer = none;    ///< the call of a result, the result of a call
    std::size_t step = 0;       ///< how many assistant turns came before
    std::size_t user_turn = 0;  ///< how many user turns came before
    std::size_t pinned_from = none;       ///< the host says so: holds at horizons from here on; 0 where it always did
    std::size_t useless_from = none;      ///< the same
    std::size_t regenerable_from = none;  ///< the same
    Text id{};  ///< of the call, as the provider pairs by it
    Text tool{};      ///< of a result: through its own call
    Text identity{};  ///< path, command, ... of the call
    Text identity_member{};  ///< of a call: the member of its input that this was read from; empty where that was a patch
    std::size_t first_part = 0;  ///< of its parts, an index into Transcript::parts
    std::size_t part_count = 0;  ///< how many these are
    std::size_t first_field = 0;  ///< of its fields, an index into Transcript::fields
    std::size_t field_count = 0;  ///< how many these are
    std::size_t images = 0;  ///< parts that are images
    std::size_t elided = 0;  ///< images that were there before an earlier pruning replaced them
    std::size_t documents = 0;  ///< parts that are documents
    std::size_t others = 0;  ///< parts of another kind
    std::size_t cache_marks = 0;  ///< on its parts
    Text reference{};             ///< where the full content is, when the result is one of our previews
    Extent stands_for{};          ///< of a preview, written or planned: the size of the full content
    Node content{};               ///< the content of a result, the input of a call; of reasoning, the whole block
    std::string_view path{};      ///< where that is inside its block, as a JSON Pointer
    std::string_view packed{};    ///< of a call whose input is a string that holds a JSON object: that JSON
    mutable std::uint64_t hash = 0;  ///< of a result or a call, by which its equals are found; 0 until somebody asks
};

namespace detail {

/// Whether the call is known by this text of its input.
inline bool names_call(const Entry& call, const Field& field) {
    return !call.identity.empty() && field.text.text().raw().data() == call.identity.raw().data();
}

/// Whether this text of its input is, or stands in, the member of that name.
inline bool stands_in(const Field& field, Text member) {
    if (!field.deep) { return same_text(field.in_list ? field.list : field.name, member); }
    std::string name;
    std::string pointer;
    append_pointer_step(pointer, shown(member, name));
    pointer += '/';
    return field.list.raw().starts_with(pointer);
}

/// Notes that a field of a call is cleared. Whether the document still says what the call was known by, makes no
/// difference here: a history that is pruned and one that is not are to be treated alike.
inline void note_cleared(Entry& call, const Field& field) {
    call.cleared = true;
    // nothing tells what a patch that is gone named
    const bool named_elsewhere = !call.identity.empty() && !call.identity_member.empty();
    call.unnamed = call.unnamed || !named_elsewhere || stands_in(field, call.identity_member);
}

}  // namespace detail

/// How a dialect writes a text block, in pieces: the text and perhaps a cache mark go between them.
struct BlockSpelling {
    std::string_view type{};                      ///< value of "type"; empty where blocks have none
    std::string_view text_key{};                  ///< "text"
    std::array<std::string_view, 2> mark_keys{};  ///< "cache_control"
    /// Content that was no array of blocks may become one; otherwise it becomes a string.
    bool may_widen = false;

    /// The block without its text and mark: braces, keys, colons, commas.
    constexpr Extent frame() const {
        const std::size_t type_member =
            type.empty() ? 0 : std::string_view(R"("type":"",)").size() + type.size();
        return ascii(2 + type_member + text_key.size() + std::string_view(R"("":)").size());
    }
    /// What a mark of this kind adds to that, without its value.
    constexpr Extent mark_frame(std::size_t key) const {
        return ascii(mark_keys[key].size() + std::string_view(R"(,"":)").size());
    }
};

/// Whether a body asks for thinking.
enum class ThinkingMode : std::uint8_t { unsaid, off, on };

/// Who speaks.
enum class Role : std::uint8_t { user, assistant, other };

/// A message of the history.
struct Message {
    Role role = Role::other;          ///< who speaks
    std::size_t first_entry = 0;      ///< index into the transcript's entries; that of the next message where it has none
    Node node{};                      ///< the whole message
    Node blocks{};                    ///< its content, where that is an array
    std::size_t user_turn_at = none;  ///< the message with which the latest turn of a person began, perhaps this one
};

/// What a transcript's back end is asked when a view of the text does not answer.
class Source {
public:
    virtual ~Source() = default;
    /// The value as compact JSON, without the values inside it that `except` lists in document order.
    virtual Extent serialised(Node value, std::span<const Node> except = {}) const = 0;
    /// Appends one spelling of the value: equal values, whatever the order of their keys, give equal bytes.
    virtual void append_canonical(Node value, std::string& out) const = 0;
    /// The same for JSON that stands in a string.
    virtual void append_canonical(std::string_view packed, std::string& out) const = 0;
    /// Whether texts that mean the same are the same bytes throughout the document.
    virtual bool one_spelling() const = 0;
    /// How many members of this name stand in the value, at any depth.
    virtual std::size_t count_members(Node value, std::string_view name) const = 0;

protected:
    Source() = default;
    Source(const Source&) = default;
    Source& operator=(const Source&) = default;
};

/// A message history as a flat list, free of JSON.
///
/// Entries stand in the order of the document: calls, results, and everything else, each with its message and
/// block. The first `horizon()` messages are open to change, and `entries()` gives theirs alone; of these, results
/// after the last assistant message, and their calls, are `unread`. `all()` goes on behind the horizon; `peer`
/// counts in it.
/// A reader fills it; it points into the document it was
/// read from and is valid as long as that does not change. Sizes are worked out when somebody asks: use one
/// transcript in one thread.
class Transcript {
public:
    std::string_view dialect;        ///< "anthropic", ...; empty when none was recognised
    std::vector<Part> parts;         ///< of all results
    std::vector<Field> fields;       ///< of all calls
    std::vector<Message> messages;   ///< all of them
    std::vector<Node> frame_values;  ///< values of the body beside its messages
    Extent frame_keys{};             ///< and the keys, colons, commas and brackets around them and the messages
    const Source* source = nullptr;  ///< the back end
    BlockSpelling block;             ///< of this dialect
    std::string_view model{};        ///< as the body names it; empty where it does not
    /// The provider is told to drop thinking that no longer fits what precedes it, instead of refusing the request.
    bool drops_unbound_thinking = false;
    ThinkingMode thinking_mode = ThinkingMode::unsaid;  ///< as the body says it
    /// Empties it, for the next document.
    void clear() {
        dialect = {};
        parts.clear();
        fields.clear();
        messages.clear();
        frame_values.clear();
        frame_keys = {};
        source = nullptr;
        model = {};
        drops_unbound_thinking = binds_thinking = guesses_binding = false;
        thinking_mode = ThinkingMode::unsaid;
        binds_from = 0;
        bound_until = {};
        may_drop_thinking = true;
        user_speaks_next = false;
        all_.clear();
        sums_.clear();
        eighths_.clear();
        kept_.clear();
        horizon_ = visible_ = unread_from_ = 0;
        narrowed_ = false;
        whole_ = nullptr;
        gone_ = nullptr;
    }

    /// Adds an entry at the end.
    Entry& add() { return all_.emplace_back(); }

    /// Keeps a text that stands nowhere in the document as it reads.
    Text keep(std::string_view text) { return Text(kept_.keep(text)); }
    /// Keeps what an escaped text means; half a surrogate pair becomes bytes that no UTF-8 has.
    std::string_view keep_exact(Text text) {
        if (!text.escaped()) { return text.raw(); }
        return kept_.keep_written(text.raw().size(), [text](char* to) {
            return detail::decode_to(to, text, detail::LoneSurrogate::kept);
        });
    }

    /// The entries up to the horizon: all that a policy sees.
    std::span<const Entry> entries() const { return {all_.data(), visible_}; }
    /// All entries.
    std::span<const Entry> all() const { return {all_.data(), all_.size()}; }
    /// All entries, for readers.
    std::span<Entry> all() { return {all_.data(), all_.size()}; }

    /// The parts of a result.
    std::span<const Part> parts_of(const Entry& entry) const {
        return {parts.data() + entry.first_part, entry.part_count};
    }
    /// The fields of a call's input.
    std::span<const Field> fields_of(const Entry& entry) const {
        return {fields.data() + entry.first_field, entry.field_count};
    }

    /// Size of a result: its joined text, with documents and unknown parts as serialised. Images and own
    /// stubs count nothing.
    Extent size(const Entry& result) const {
        if (result.stands_for.bytes > 0) { return result.stands_for; }
        Extent sum;
        for (const Part& part : parts_of(result)) {
            if (part.kind == Part::Kind::text) { sum += part.text.plain(); }
            if (is_counted_whole(part)) { sum += source->serialised(part.node); }
        }
        return sum;
    }

    /// Whether `size(result)` is at least this much. Most results are told by their bytes alone.
    bool at_least(const Entry& result, Size wanted) const {
        if (result.stands_for.bytes == 0 && result.documents + result.others == 0) {
            std::size_t least = 0;
            std::size_t most = 0;
            for (const Part& part : parts_of(result)) {
                if (part.kind != Part::Kind::text) { continue; }
                least += part.text.least(wanted.unit);
                most += part.text.most(wanted.unit);
            }
            if (least >= wanted.value) { return true; }
            if (most < wanted.value) { return false; }
        }
        return size(result).at_least(wanted);
    }
    /// Whether `size(result)` is more than this.
    bool exceeds(const Entry& result, Size wanted) const {
        // nothing exceeds the largest number
        return wanted.value + 1 != 0 && at_least(result, {wanted.value + 1, wanted.unit});
    }

    /// The content of a result as it stands in the body.
    Extent serialised(const Entry& result) const {
        if (result.form == Form::string) { return parts[result.first_part].text.extent().serialised(); }
        if (result.form != Form::blocks) { return source->serialised(result.content); }
        Extent sum = ascii(2 + (result.part_count > 1 ? result.part_count - 1 : 0));
        for (const Part& part : parts_of(result)) { sum += serialised(part); }
        return sum;
    }
    /// A part as it stands in the body.
    Extent serialised(const Part& part) const {
        if (part.bare) { return part.text.extent().serialised(); }
        return part.plain ? text_block(part.text.extent(), part) : source->serialised(part.node);
    }
    /// A text block of this dialect, with the cache mark of a part.
    Extent text_block(const TextExtent& text, const Part& marked) const {
        Extent sum = block.frame() + text.serialised();
        if (marked.cache_mark) {
            sum += block.mark_frame(marked.mark_key) + source->serialised(marked.cache_mark);
        }
        return sum;
    }
    /// A field as it stands in the body.
    Extent serialised(const Field& field) const {
        if (!field.packed) { return field.text.extent().serialised(); }
        const std::string_view spelling(static_cast<const char*>(field.node.where), field.node.length);
        return packed(spelling);
    }
    /// JSON that stands in a string, without the string's own quotes.
    static Extent packed(std::string_view json) { return measure(json).serialised() - ascii(2); }

    /// The content of a result has at least this many bytes, as far as is known without reading its text.
    std::size_t least_bytes(const Entry& result) const {
        const auto least = [](const Part& part) { return part.text.least(Unit::bytes) + 2; };
        if (result.form == Form::string) { return least(parts[result.first_part]); }
        if (result.form != Form::blocks) { return serialised(result).bytes; }
        std::size_t sum = 2;
        for (const Part& part : parts_of(result)) {
            sum += part.plain ? block.frame().bytes + least(part) : serialised(part).bytes;
        }
        return sum;
    }

    /// The model binds its thinking to all that precedes it, so that an edit makes later thinking invalid.
    bool binds_thinking = false;
    /// As far as anybody could tell: requests of no more than so many messages were pruned before it was known.
    std::size_t binds_from = 0;
    /// Nothing but an earlier pruning tells so: the model may as well be another.
    bool guesses_binding = false;
    /// Where it does: nothing before this place may change, since thinking stands here that cannot be taken out.
    struct Place {
        std::size_t message = 0;  ///< index of the message
        std::size_t block = 0;    ///< index in its content
        friend auto operator<=>(const Place&, const Place&) = default;
    };
    Place bound_until{};            ///< the place
    bool may_drop_thinking = true;  ///< guards say no where it may not
    /// As if the tool loop that is open at the horizon were over: nothing will change before it is.
    bool user_speaks_next = false;

    /// Limits the view to the first `count` messages. What those end with, after the last assistant
    /// message, the model has not read yet at that point.
    void set_horizon(std::size_t count) {
        horizon_ = count < messages.size() ? count : messages.size();
        visible_ = first_entry_of(horizon_);
        unread_from_ = unread_from(horizon_);
    }
    /// What the first `count` messages end with, from this one on, the model has not read yet at that point.
    std::size_t unread_from(std::size_t count) const {
        while (count > 0 && messages[count - 1].role != Role::assistant) { --count; }
        return count;
    }
    /// So many messages are open to change.
    std::size_t horizon() const { return horizon_; }

    /// Whether a person begins to speak with this message.
    bool starts_user_turn(std::size_t message) const {
        return message < messages.size() && messages[message].user_turn_at == message;
    }
    /// The tool loop that is open at the horizon begins with this message: nothing of it has been answered to a person.
    std::size_t open_loop_from() const {
        if (horizon_ == 0 || user_speaks_next || starts_user_turn(horizon_)) { return horizon_; }
        const std::size_t latest = messages[horizon_ - 1].user_turn_at;
        return latest == none ? 0 : latest;
    }

    /// The first entry of a message, or the number of entries for the end.
    std::size_t first_entry_of(std::size_t message) const {
        if (message >= messages.size()) { return all_.size(); }
        if (!narrowed_) { return messages[message].first_entry; }
        const auto before = [](const Entry& entry, std::size_t number) { return entry.message < number; };
        return static_cast<std::size_t>(
            std::lower_bound(all_.begin(), all_.end(), message, before) - all_.begin());
    }

    /// Makes this a part of `whole`: with its messages but only some of its entries, which the caller adds, and with
    /// the size of the body given. Of each message, `gone` counts what an earlier rewrite took out, in eighths of a token.
    void narrow(const Transcript& whole, const detail::RunningSums& gone) {
        clear();
        whole_ = &whole;
        gone_ = &gone;
        dialect = whole.dialect;
        source = whole.source;
        block = whole.block;
        model = whole.model;
        drops_unbound_thinking = whole.drops_unbound_thinking;
        binds_thinking = user_speaks_next = whole.binds_thinking;
        frame_keys = whole.frame_keys;
        narrowed_ = true;
        sums_.push_back(whole.body_until(0));
    }
    /// Whether it is a part of another one.
    bool narrowed() const { return narrowed_; }
    /// Of a part: what is open to change, up to `count` messages of the whole, whose body has `size`.
    void widen(const Transcript& whole, std::size_t count, const Extent& size) {
        while (messages.size() <= count && messages.size() < whole.messages.size()) {
            messages.push_back(whole.messages[messages.size()]);
            messages.back().first_entry = 0;
        }
        narrowed_body_ = size;
        set_horizon(count);
    }
    /// The body of a part, at its horizon.
    const Extent& narrowed_body() const { return narrowed_body_; }
    /// Of a part: replaces all entries, or all parts and fields.
    void exchange(std::vector<Entry>& entries) { all_.swap(entries); }
    /// Takes other parts and fields, and gives back its own.
    void exchange(std::vector<Part>& new_parts, std::vector<Field>& new_fields) {
        parts.swap(new_parts);
        fields.swap(new_fields);
    }

    /// The body as it was when its history had `count` messages.
    Extent body_until(std::size_t count) const {
        while (sums_.size() <= count) { measure_next_message(); }
        return sums_[count];
    }
    /// The body as it came.
    Extent body() const { return body_until(messages.size()); }

    /// The same in eighths of a token, with images for what they cost.
    std::size_t eighths_until(std::size_t count) const {
        while (eighths_.size() <= count) {
            std::size_t next = 0;
            if (!eighths_.empty()) {
                const std::size_t message = eighths_.size() - 1;
                const Extent size = body_until(message + 1) - body_until(message);
                next = eighths_.back() + token_eighths(size) - image_surplus(message);
            } else {
                next = token_eighths(body_until(0));
            }
            eighths_.push_back(next);
        }
        return eighths_[count];
    }
    /// The same of one message.
    std::size_t eighths_of(std::size_t message) const {
        if (!narrowed_) { return eighths_until(message + 1) - eighths_until(message); }
        const std::size_t gone = gone_->until(message + 1) - gone_->until(message);
        return whole_->eighths_of(message) - gone;
    }
    /// What an image has more in bytes, taken for text, than it costs; nothing where it has less.
    std::size_t image_surplus(const Part& image) const {
        const std::size_t as_text = token_eighths(serialised(image));
        return as_text > 8 * image_tokens ? as_text - 8 * image_tokens : 0;
    }
    /// The same of all its images.
    std::size_t image_surplus(const Entry& entry) const {
        std::size_t sum = 0;
        for (const Part& part : parts_of(entry)) {
            if (part.kind == Part::Kind::image) { sum += image_surplus(part); }
        }
        return sum;
    }

    /// Whether that body has at least this much; looks no further than it has to.
    bool body_at_least(std::size_t count, Size wanted) const {
        if (sums_.empty()) { measure_next_message(); }
        while (sums_.size() <= count && !sums_.back().at_least(wanted)) { measure_next_message(); }
        return sums_[count < sums_.size() ? count : sums_.size() - 1].at_least(wanted);
    }

    /// A result that the model has not seen at the horizon, or a call whose result it has not seen.
    bool unread(const Entry& entry) const {
        if (entry.kind == Kind::result || entry.kind == Kind::user_text) { return entry.message >= unread_from_; }
        return entry.kind == Kind::call && (entry.peer == none || all_[entry.peer].message >= unread_from_);
    }

private:
    static bool is_counted_whole(const Part& part) {
        return part.kind == Part::Kind::document || part.kind == Part::Kind::other;
    }

    std::size_t image_surplus(std::size_t message) const {
        std::size_t sum = 0;
        for (std::size_t i = first_entry_of(message); i < first_entry_of(message + 1); ++i) {
            if (all_[i].images > 0) { sum += image_surplus(all_[i]); }
        }
        return sum;
    }

    // sums_[n] is the body with n messages
    void measure_next_message() const {
        if (sums_.empty()) {
            Extent frame = frame_keys;
            for (const Node value : frame_values) { frame += source->serialised(value); }
            sums_.push_back(frame);
            return;
        }
        const std::size_t next = sums_.size() - 1;
        sums_.push_back(sums_.back() + source->serialised(messages[next].node) + ascii(next == 0 ? 0 : 1));
    }

    std::vector<Entry> all_;
    mutable std::vector<Extent> sums_;
    mutable std::vector<std::size_t> eighths_;
    detail::TextArena kept_;
    std::size_t horizon_ = 0;
    std::size_t visible_ = 0;
    std::size_t unread_from_ = 0;
    bool narrowed_ = false;
    Extent narrowed_body_{};
    const Transcript* whole_ = nullptr;
    const detail::RunningSums* gone_ = nullptr;
};

}  // namespace coppice
