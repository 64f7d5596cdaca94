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
/// `text` is for strings, `members` for objects, `elements` for arrays; they may be called again on the same
/// value. `peek` gives a string member of an object, or an empty text. A visitor may leave values alone.
///
/// Models: DomCursor.
template <class V>
concept json_cursor = std::copyable<V> &&
    requires(const V value, std::string_view key, void (*on_member)(Text, V), void (*on_element)(V)) {
    { value.type() } -> std::same_as<JsonType>;
    { value.is_true() } -> std::same_as<bool>;
    { value.text() } -> std::same_as<Text>;
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

    std::uint64_t key(Text id) {
        std::string scratch;
        return hash_bytes(decoded(id, scratch), turn_);
    }

    std::vector<Armed> armed_;
    Index heads_;
    std::uint64_t turn_ = 0;
};

}  // namespace detail
}  // namespace coppice
