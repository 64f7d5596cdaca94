// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialects/anthropic.hpp>
#include <coppice/dialects/bedrock.hpp>
#include <coppice/dialects/gemini.hpp>
#include <coppice/dialects/openai_chat.hpp>
#include <coppice/dialects/openai_responses.hpp>

#include <string_view>

namespace coppice::inline v0 {
namespace detail {

/// What tells whose shape a body has. The history decides before what stands around it, and what comes first in it
/// before what comes later, so that the answer stays the same while the history grows.
template <json_cursor Value>
class Detection {
public:
    /// `Dialect::detect` where nothing tells, or where the keys of several providers do; `why` then says so.
    Dialect detect(Value body, std::string_view& why) {
        if (body.type() == JsonType::array) {
            look_at_items(body);
        } else {
            body.members([this](Text key, Value value) { look_at_member(key, value); });
        }
        if (body.repeats_keys()) {
            why = "a key of the body stands there twice";
            return Dialect::detect;
        }
        const int histories = messages_ + contents_ + items_;
        if (histories > 1) {
            why = "histories of more than one provider's shape";
            return Dialect::detect;
        }
        if (contents_) { return Dialect::gemini; }
        if (items_) { return Dialect::openai_responses; }
        const Dialect found = inside_ != Dialect::detect ? inside_ : around_;
        if (found == Dialect::detect) {
            why = messages_ ? "nothing that tells which provider this body is for" : "no list of messages, contents or input";
        }
        return found;
    }

private:
    void look_at_member(Text key, Value value) {
        const bool list = value.type() == JsonType::array;
        if (is(key, "messages") && list) {
            messages_ = true;
            value.elements([this](Value message) { look_at_message(message); });
        } else if (is(key, "contents") && list) {
            contents_ = true;
        } else if (is(key, "input") && (list || value.type() == JsonType::string)) {
            items_ = true;
        } else if (is_one_of(key, "toolConfig", "inferenceConfig", "modelId", "additionalModelRequestFields")) {
            around_ = Dialect::bedrock;
        } else if (around_ != Dialect::detect) {
            return;
        } else if (is(key, "anthropic_version") || (is(key, "system") && !list)) {
            around_ = Dialect::anthropic;
        } else if (is(key, "system")) {
            value.elements([this](Value block) {
                around_ = block.peek("type").empty() ? Dialect::bedrock : Dialect::anthropic;
            });
        }
    }

    // a history without the request around it
    void look_at_items(Value items) {
        items.elements([this](Value item) {
            if (contents_ || items_) { return; }
            bool parts = false;
            bool role = false;
            bool content = false;
            bool type = false;
            item.members([&](Text key, Value) {
                parts = parts || is(key, "parts");
                role = role || is(key, "role");
                content = content || is(key, "content");
                type = type || is(key, "type");
            });
            if (messages_) {
                look_at_message(item);
                // items of Responses may begin with messages that have no type
                items_ = inside_ == Dialect::detect && type && !role;
                messages_ = !items_;
                return;
            }
            contents_ = parts;
            items_ = !parts && type;
            messages_ = !parts && !type && role && content;
            if (messages_) { look_at_message(item); }
        });
    }

    void look_at_message(Value message) {
        if (inside_ != Dialect::detect) { return; }
        message.members([this](Text key, Value value) {
            if (inside_ != Dialect::detect) { return; }
            if (is(key, "role")) {
                if (is_one_of(value.text(), "tool", "function", "developer")) { inside_ = Dialect::openai_chat; }
            } else if (is_one_of(key, "tool_calls", "function_call", "tool_call_id", "reasoning_content",
                                 "reasoning_details")) {
                inside_ = Dialect::openai_chat;
            }
        });
        // what stands in the content counts less: some gateways put blocks of other providers into it
        message.members([this](Text key, Value value) {
            if (inside_ != Dialect::detect || !is(key, "content")) { return; }
            value.elements([this](Value block) {
                if (inside_ == Dialect::detect) { look_at_block(block); }
            });
        });
    }

    void look_at_block(Value block) {
        const Text type = block.peek("type");
        if (is(type, "thinking")) {
            // a list of chunks is Mistral's
            inside_ = Dialect::anthropic;
            block.members([this](Text key, Value value) {
                const bool chunks = is(key, "thinking") && value.type() == JsonType::array;
                if (chunks) { inside_ = Dialect::openai_chat; }
            });
        } else if (is_one_of(type, "tool_use", "tool_result", "redacted_thinking", "server_tool_use", "document",
                             "search_result", "compaction")) {
            inside_ = Dialect::anthropic;
        } else if (is_one_of(type, "image_url", "input_audio", "file", "refusal")) {
            inside_ = Dialect::openai_chat;
        } else if (type.empty()) {
            block.members([this](Text key, Value) {
                const bool known =
                    is_one_of(key, "text", "toolUse", "toolResult", "image", "document", "video",
                              "reasoningContent", "cachePoint", "guardContent", "citationsContent");
                if (known) { inside_ = Dialect::bedrock; }
            });
        }
    }

    // the lists that are there
    bool messages_ = false;
    bool contents_ = false;
    bool items_ = false;
    Dialect inside_ = Dialect::detect;
    Dialect around_ = Dialect::detect;
};

/// Reads a request into a transcript. Why it cannot be, or nothing.
template <json_cursor Value>
std::string_view read_request(Value body, Dialect dialect, Transcript& transcript, ReaderScratch& scratch) {
    const bool forced = dialect != Dialect::detect;
    std::string_view why = "no such dialect";
    if (!forced) { dialect = Detection<Value>().detect(body, why); }
    switch (dialect) {
        case Dialect::anthropic: return AnthropicReader<Value>(transcript, scratch).read(body, forced);
        case Dialect::openai_chat: return OpenAiChatReader<Value>(transcript, scratch).read(body, forced);
        case Dialect::openai_responses:
            return OpenAiResponsesReader<Value>(transcript, scratch).read(body, forced);
        case Dialect::gemini: return GeminiReader<Value>(transcript, scratch).read(body, forced);
        case Dialect::bedrock: return BedrockReader<Value>(transcript, scratch).read(body, forced);
        case Dialect::detect: break;
    }
    return why;
}

}  // namespace detail
}  // namespace coppice
