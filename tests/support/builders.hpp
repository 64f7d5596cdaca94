// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

/// Small builders of Anthropic messages. Each is a template on the DOM type and makes an ordered_json unless
/// told otherwise: `support::user("hi")`, `support::user<nlohmann::json>("hi")`.
namespace support {

using Ordered = nlohmann::ordered_json;

// An argument of the DOM type that plain strings convert to.
template <class Json>
using Value = std::type_identity_t<Json>;

/// A text block.
template <class Json = Ordered>
Json text(const std::string& words) {
    return Json{{"type", "text"}, {"text", words}};
}

/// A base64 image block with `size` bytes of data.
template <class Json = Ordered>
Json image(std::size_t size = 3000, char fill = 'A') {
    return Json{
        {"type", "image"},
        {"source", {{"type", "base64"}, {"media_type", "image/png"}, {"data", std::string(size, fill)}}}};
}

/// A base64 PDF block with `size` bytes of data.
template <class Json = Ordered>
Json document(std::size_t size = 3000, char fill = 'D') {
    return Json{{"type", "document"},
                {"source",
                 {{"type", "base64"}, {"media_type", "application/pdf"}, {"data", std::string(size, fill)}}}};
}

/// The block with a cache mark at its end, `{"type":"ephemeral"}` unless told otherwise.
template <class Json = Ordered>
Json marked(Json block, Value<Json> mark = Json{{"type", "ephemeral"}}) {
    block["cache_control"] = std::move(mark);
    return block;
}

/// An array of the given values, one element too: `list(text("a"))`, `list(text("a"), image())`.
template <class Json = Ordered, class... Values>
Json list(Values... values) {
    Json array = Json::array();
    (array.push_back(Json(std::move(values))), ...);
    return array;
}

/// A signed thinking block.
template <class Json = Ordered>
Json thinking(const std::string& words = "hm", const std::string& signature = "c2ln") {
    return Json{{"type", "thinking"}, {"thinking", words}, {"signature", signature}};
}

/// A tool_use block.
template <class Json = Ordered>
Json call_block(const std::string& id, const std::string& name, Value<Json> input = Json::object()) {
    Json block = {{"type", "tool_use"}, {"id", id}, {"name", name}};
    block["input"] = std::move(input);
    return block;
}

/// A tool_result block. `content` is a string or an array of blocks; pass `error` for a failed call.
template <class Json = Ordered>
Json result_block(const std::string& id, Value<Json> content, bool error = false) {
    Json block = {{"type", "tool_result"}, {"tool_use_id", id}};
    block["content"] = std::move(content);
    if (error) { block["is_error"] = true; }
    return block;
}

/// A message with any role and content.
template <class Json = Ordered>
Json message(const std::string& role, Value<Json> content) {
    Json out = {{"role", role}};
    out["content"] = std::move(content);
    return out;
}

/// A user message of one string.
template <class Json = Ordered>
Json user(const std::string& words) {
    return message<Json>("user", Json(words));
}

/// An assistant message of one string.
template <class Json = Ordered>
Json assistant(const std::string& words) {
    return message<Json>("assistant", Json(words));
}

/// A user message of several blocks: `user_blocks(result_block(...), text("and now"))`.
template <class Json = Ordered, class... Blocks>
Json user_blocks(Blocks... blocks) {
    return message<Json>("user", list<Json>(std::move(blocks)...));
}

/// An assistant message of several blocks: `assistant_blocks(thinking(), call_block(...))`.
template <class Json = Ordered, class... Blocks>
Json assistant_blocks(Blocks... blocks) {
    return message<Json>("assistant", list<Json>(std::move(blocks)...));
}

/// An assistant message that makes one call.
template <class Json = Ordered>
Json call(const std::string& id, const std::string& name, Value<Json> input = Json::object()) {
    return assistant_blocks<Json>(call_block<Json>(id, name, std::move(input)));
}

/// A user message that answers one call.
template <class Json = Ordered>
Json result(const std::string& id, Value<Json> content, bool error = false) {
    return user_blocks<Json>(result_block<Json>(id, std::move(content), error));
}

/// Appends a call and its answer to an array of messages.
template <class Json>
void add_pair(Json& messages, const std::string& id, const std::string& name, Value<Json> input,
              Value<Json> content, bool error = false) {
    messages.push_back(call<Json>(id, name, std::move(input)));
    messages.push_back(result<Json>(id, std::move(content), error));
}

/// `count` reads of different files whose distinct results have `size` ASCII characters each (at least 20).
template <class Json = Ordered>
Json reads(std::size_t count, std::size_t size = 5000) {
    Json messages = list<Json>(user<Json>("start"));
    for (std::size_t i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        std::string content = "result " + number + ":";
        content.resize(size, static_cast<char>('a' + i % 26));
        add_pair<Json>(messages, "call_" + number, "Read", Json{{"file_path", "/src/file_" + number + ".c"}},
                       Json(content));
    }
    return messages;
}

/// A request body around an array of messages, with model and system prompt.
template <class Json = Ordered>
Json body(Json messages) {
    Json out = {{"model", "m"}, {"max_tokens", 64}, {"system", "You are terse."}};
    out["messages"] = std::move(messages);
    return out;
}

/// The block at a place of a body (or of a bare array of messages).
template <class Json>
const Json& block_at(const Json& document, std::size_t message, std::size_t block) {
    const Json& messages = document.is_array() ? document : document.at("messages");
    return messages.at(message).at("content").at(block);
}

}  // namespace support
