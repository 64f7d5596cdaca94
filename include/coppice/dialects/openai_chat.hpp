// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/reader.hpp>

#include <cstddef>
#include <string_view>

namespace coppice::inline v0 {

/// Reads an OpenAI Chat Completions request (a body with `messages`, or the array alone) into a transcript.
///
/// Known and open to change: the content of `tool` and `function` messages, which keeps its kind, and the arguments of
/// calls: a string that holds a JSON object stays one, with every other byte inside; `image_url` parts of user messages
/// for a policy that is meant for them. Kept as they are: what users, assistants, system and developer say; reasoning
/// in every spelling; the input of custom tools, whose grammar is the host's; every object that has two members of one
/// name, and all that it holds.
///
/// Those that speak like it differ here, and are read alike:
///
/// Ollama      `arguments` is an object, results name their tool (`tool_name`) where others have an id, or nothing:
///             then results answer calls by tool, or by order. `thinking` and `images` stay.
/// llama.cpp   `arguments` is a string or an object; reasoning is `reasoning_content`
/// vLLM        every `arguments` has to hold JSON; reasoning is `reasoning` or `reasoning_content`
/// DeepSeek    `reasoning_content` of turns with calls has to come back whole
/// OpenRouter  `reasoning_details` is signed; `cache_control` in text parts is a cache mark
/// Mistral     `tool_call_id` and `name` of a result may be missing, and content may be a list of chunks
template <json_cursor Value>
class OpenAiChatReader : private detail::Reader<Value> {
    using Base = detail::Reader<Value>;

public:
    /// Reads into this transcript.
    OpenAiChatReader(Transcript& transcript, detail::ReaderScratch& scratch) : Base(transcript, scratch) {}

    /// Why the body is not one of this dialect; empty when it is. With `forced`, only what cannot be read at
    /// all is refused.
    std::string_view read(Value body, bool forced) {
        out_.block = {.type = "text",
                      .text_key = "text",
                      .mark_keys = {"cache_control", "prompt_cache_breakpoint"}};
        const std::string_view refusal = this->read_body(
            body, "messages", "no array of messages",
            [this](Value messages) { messages.elements([this](Value message) { read_message(message); }); },
            [](Text, Value) {});
        if (!refusal.empty()) { return refusal; }
        if (foreign_ && !forced) { return "content blocks of another provider's shape"; }
        out_.dialect = name_of(Dialect::openai_chat);
        return {};
    }

private:
    void read_message(Value message) {
        const Text role = message.peek("role");
        const bool tool = detail::is(role, "tool");
        const bool answer = tool || detail::is(role, "function");
        this->begin_message(answer || detail::is(role, "user")   ? Role::user
                            : detail::is(role, "assistant") ? Role::assistant
                                                            : Role::other,
                            message.node());
        if (answer) {
            read_result(message, tool);
        } else {
            read_speech(message);
        }
        this->end_message(message.repeats_keys());
    }

    void read_speech(Value message) {
        message.members([this](Text key, Value value) {
            if (detail::is(key, "content")) {
                if (value.type() == JsonType::string) { this->add_speech(0); }
                std::size_t block = 0;
                value.elements([&](Value item) {
                    const Text type = item.peek("type");
                    note_foreign(type);
                    if (detail::is(type, "image_url")) {
                        this->add_image(item, block++, "/content/*");
                    } else {
                        this->add_speech(block++);
                    }
                });
            } else if (role_ != Role::assistant) {
                return;
            } else if (detail::is(key, "tool_calls")) {
                std::size_t block = 0;
                value.elements([&](Value call) { read_call(call, this->add(Kind::call, block++)); });
            } else if (detail::is(key, "function_call") && value.type() == JsonType::object) {
                Entry& call = this->add(Kind::call, 0);
                call.immutable = value.repeats_keys();
                read_function(value, call, "/function_call/arguments");
                this->arm(call, true);
            } else if (detail::is_one_of(key, "reasoning_content", "reasoning", "reasoning_details", "thinking")) {
                if (value.type() != JsonType::null) { this->add(Kind::reasoning, 0); }
            }
        });
    }

    void read_call(Value value, Entry& call) {
        call.immutable = value.repeats_keys();
        value.members([&](Text key, Value member) {
            if (detail::is(key, "id")) {
                call.id = member.text();
            } else if (detail::is(key, "function")) {
                call.immutable = call.immutable || member.repeats_keys();
                read_function(member, call, "/tool_calls/*/function/arguments");
            } else if (detail::is(key, "custom")) {
                call.immutable = true;
                call.tool = member.peek("name");
                call.content = member.node();
                this->name_by_patch(member.peek("input"), call);
            }
        });
        this->arm(call, true);
    }

    void read_function(Value function, Entry& call, std::string_view path) {
        function.members([&](Text key, Value value) {
            if (detail::is(key, "name")) {
                call.tool = value.text();
            } else if (detail::is(key, "arguments")) {
                this->read_input(value, call, path, true);
            }
        });
    }

    void read_result(Value message, bool tool) {
        Entry& result = this->add(Kind::result, 0);
        Text name;
        message.members([&](Text key, Value value) {
            if (detail::is(key, "content")) {
                this->read_content(value, result, "/content", kind_of);
                value.elements([this](Value item) { note_foreign(item.peek("type")); });
            } else if (detail::is(key, "images") && value.type() == JsonType::array) {
                // they stay beside the text, and nobody compares them
                result.elided = 1;
            } else if (detail::is(key, "tool_call_id") && tool) {
                result.id = value.text();
            } else if (!value.text().empty() &&
                       (detail::is(key, "tool_name") || (detail::is(key, "name") && name.empty()))) {
                name = value.text();
            }
        });
        result.outcome_in_text = true;
        this->link(result, this->find_call(result.id, name));
    }

    static Part::Kind kind_of(Text type) {
        return detail::is_one_of(type, "image_url", "image")                          ? Part::Kind::image
               : detail::is_one_of(type, "file", "input_audio", "document_url") ? Part::Kind::document
                                                                                : Part::Kind::other;
    }

    void note_foreign(Text type) { foreign_ = foreign_ || detail::is_one_of(type, "tool_use", "tool_result"); }

    using Base::out_;
    using Base::role_;
    bool foreign_ = false;
};

}  // namespace coppice
