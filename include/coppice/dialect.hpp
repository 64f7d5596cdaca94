// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/text.hpp>
#include <coppice/transcript.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

/// Which provider's shape a body has.
enum class Dialect : std::uint8_t {
    detect,            ///< from the body alone; what is ambiguous is left untouched
    anthropic,         ///< Anthropic Messages
    openai_chat,       ///< OpenAI Chat Completions, and those that speak like it: Ollama, llama.cpp, vLLM, Mistral, ...
    openai_responses,  ///< OpenAI Responses
    gemini,            ///< Gemini generateContent
    bedrock,           ///< Bedrock Converse
};

/// Its name, as a report and the command line have it: `openai-chat`. Empty for `detect`.
constexpr std::string_view name_of(Dialect dialect) {
    switch (dialect) {
        case Dialect::anthropic: return "anthropic";
        case Dialect::openai_chat: return "openai-chat";
        case Dialect::openai_responses: return "openai-responses";
        case Dialect::gemini: return "gemini";
        case Dialect::bedrock: return "bedrock";
        case Dialect::detect: break;
    }
    return {};
}

inline constexpr std::array<Dialect, 5> all_dialects = {
    Dialect::anthropic, Dialect::openai_chat, Dialect::openai_responses, Dialect::gemini, Dialect::bedrock,
};

/// The dialect of this name; `detect` where there is none.
constexpr Dialect dialect_named(std::string_view name) {
    for (const Dialect dialect : all_dialects) {
        if (name_of(dialect) == name) { return dialect; }
    }
    return Dialect::detect;
}

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

/// Members of a request or a message, never of the wrapper around a request.
inline bool belongs_to_request(Text key) {
    for (const std::string_view name : {"messages", "contents", "input", "role"}) {
        if (same_text(key, name)) { return true; }
    }
    return false;
}

/// What a value may be in a batch.
enum class BatchItem : std::uint8_t { request, wrapper, other };

/// Tells a wrapper from what it wraps, a request or a message; `inner` becomes the request inside: the member `params`
/// (Anthropic Message Batches), `body` (a line of an OpenAI batch file), `request` (Gemini batches) or `modelInput` (a
/// record of a Bedrock batch).
template <json_cursor Value>
BatchItem look_into(Value value, Value& inner) {
    constexpr std::array<std::string_view, 4> wraps = {"params", "body", "request", "modelInput"};
    std::size_t best = wraps.size();
    BatchItem found = BatchItem::other;
    if (value.repeats_keys()) { return found; }
    value.members([&](Text key, Value member) {
        if (belongs_to_request(key)) { found = BatchItem::request; }
        if (member.type() != JsonType::object || found == BatchItem::request) { return; }
        // where there are several the first of the list, whatever their order
        for (std::size_t i = 0; i < best; ++i) {
            if (!same_text(key, wraps[i])) { continue; }
            inner = member;
            found = BatchItem::wrapper;
            best = i;
        }
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
            for (const std::string_view name : {"role", "content", "parts", "type"}) {
                message = message || same_text(key, name);
            }
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
