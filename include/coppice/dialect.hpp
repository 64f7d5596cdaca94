// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/text.hpp>
#include <coppice/transcript.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice {

/// Which provider's shape a body has.
enum class Dialect : std::uint8_t {
    detect,     ///< from the body alone; what is ambiguous is left untouched
    anthropic,  ///< Anthropic Messages
};

/// Kind of a JSON value.
enum class JsonType : std::uint8_t { null, boolean, number, string, array, object };

/// A position in a JSON document, over whichever back end holds it. Dialects read through it, so that each is
/// written once.
///
/// `text` and `measured` are for strings, `members` for objects, `elements` for arrays; they may be called again on
/// the same value. `peek` gives a string member of an object, or an empty text. A visitor may leave values alone.
/// `repeats_keys` says that an object has two members of one name, `holds_repeated_keys` that it or an object
/// inside the value has; of such members only the last is visited.
///
/// Models: detail::DomCursor, detail::WireCursor.
template <class V>
concept json_cursor = std::copyable<V> &&
    requires(const V value, std::string_view key, void (*on_member)(Text, V), void (*on_element)(V)) {
    { value.type() } -> std::same_as<JsonType>;
    { value.is_true() } -> std::same_as<bool>;
    { value.text() } -> std::same_as<Text>;
    { value.measured() } -> std::same_as<MeasuredText>;
    { value.repeats_keys() } -> std::same_as<bool>;
    { value.holds_repeated_keys() } -> std::same_as<bool>;
    value.members(on_member);
    value.elements(on_element);
    { value.peek(key) } -> std::same_as<Text>;
    { value.node() } -> std::same_as<Node>;
};

namespace detail {

/// Pairs calls and results by position: a call arms its id for the user turn that follows, the next result
/// with that id consumes it. Ids are not unique in the wild, so the first call armed is the first one
/// answered.
class Pairs {
public:
    void clear() {
        armed_.clear();
        heads_.start(0);
        turn_ = 0;
    }
    void next_turn() { ++turn_; }

    void arm(Text id, std::size_t call) {
        std::size_t& head = heads_[key(id)];
        armed_.push_back({id, call, Index::absent, armed_.size()});
        if (head == Index::absent) {
            head = armed_.size() - 1;
        } else {
            Armed& first = armed_[head];
            armed_[first.last].next = armed_.size() - 1;
            first.last = armed_.size() - 1;
        }
    }

    /// The call that a result with this id answers, or `none`.
    std::size_t answer(Text id) {
        std::size_t& head = heads_[key(id)];
        if (head == Index::absent || !same_text(armed_[head].id, id)) { return none; }
        const Armed answered = armed_[head];
        head = answered.next;
        if (head != Index::absent) { armed_[head].last = answered.last; }
        return answered.call;
    }

private:
    struct Armed {
        Text id{};
        std::size_t call;
        std::size_t next;
        std::size_t last;
    };

    std::uint64_t key(Text id) { return hash_bytes(exact(id, scratch_), turn_ ^ process_seed()); }

    std::vector<Armed> armed_;
    Index heads_;
    std::uint64_t turn_ = 0;
    std::string scratch_;
};

/// What a reader works with, kept from call to call for its capacity.
struct ReaderScratch {
    Pairs pairs;
    Pairs server_pairs;
    std::string text;
};

/// Members of a request or a message, never of the wrapper around a request.
inline bool belongs_to_request(Text key) {
    for (const std::string_view name : {"messages", "contents", "input", "role"}) {
        if (same_text(key, name)) { return true; }
    }
    return false;
}

/// What a value may be in a batch.
enum class BatchItem : std::uint8_t { request, wrapper, other };

/// Tells a wrapper from what it wraps, a request or a message; `inner` becomes the request inside: the member
/// `params` (Anthropic Message Batches) or `body` (a line of a batch file).
template <json_cursor Value>
BatchItem look_into(Value value, Value& inner) {
    BatchItem found = BatchItem::other;
    if (value.repeats_keys()) { return found; }
    value.members([&](Text key, Value member) {
        if (belongs_to_request(key)) { found = BatchItem::request; }
        const bool params = same_text(key, std::string_view("params"));
        const bool wraps = params || same_text(key, std::string_view("body"));
        if (!wraps || member.type() != JsonType::object || found == BatchItem::request) { return; }
        // where both are, whatever their order
        if (params || found == BatchItem::other) { inner = member; }
        found = BatchItem::wrapper;
    });
    return found;
}

/// The request that a wrapper holds, or the value itself.
template <json_cursor Value>
Value unwrapped(Value value) {
    Value inner = value;
    return look_into(value, inner) == BatchItem::wrapper ? inner : value;
}

/// Calls `visit(value)` for every request that a body holds: itself, or, where it is a batch, those of its list
/// `requests` or of the array that it is.
template <json_cursor Value, class Visit>
void for_each_body(Value root, Visit visit) {
    Value list = root;
    Value inner = root;
    bool batch = false;
    root.members([&](Text key, Value member) {
        if (!same_text(key, std::string_view("requests")) || member.type() != JsonType::array) { return; }
        list = member;
        batch = true;
    });
    if (look_into(root, inner) != BatchItem::other || root.repeats_keys()) { batch = false; }
    // an array is one of messages unless the first object in it is none
    bool looked = false;
    root.elements([&](Value item) {
        if (looked || item.type() != JsonType::object) { return; }
        looked = true;
        bool message = false;
        item.members([&](Text key, Value) {
            message = message || same_text(key, std::string_view("role")) ||
                      same_text(key, std::string_view("content"));
        });
        batch = !message && look_into(item, inner) != BatchItem::other;
    });
    if (batch) {
        list.elements([&](Value item) { visit(unwrapped(item)); });
    } else {
        visit(unwrapped(root));
    }
}

}  // namespace detail
}  // namespace coppice
