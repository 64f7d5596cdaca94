// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/reader.hpp>

#include <cstddef>
#include <string_view>

namespace coppice::inline v0 {

/// Reads a Bedrock Converse request (a body with `messages`, or the array alone) into a transcript.
///
/// Known and open to change: `toolUse` inputs and `toolResult` contents, which stay arrays, and `image` blocks of the
/// user's for a policy that is meant for them. Kept as they are: what users and assistants say; `reasoningContent`;
/// cache points; tools that the server runs; guarded content, citations, and everything of an unknown kind; blocks that
/// have not exactly one member, which is their kind, and results that hold such a block; contents that are no array;
/// every object that has two members of one name, and all that it holds. `reasoningContent` of turns that are over may
/// leave its messages as a whole.
template <json_cursor Value>
class BedrockReader : private detail::Reader<Value> {
    using Base = detail::Reader<Value>;

public:
    /// Reads into this transcript.
    BedrockReader(Transcript& transcript, detail::ReaderScratch& scratch) : Base(transcript, scratch) {}

    /// Why the body is not one of this dialect; empty when it is. With `forced`, only what cannot be read at
    /// all is refused.
    std::string_view read(Value body, bool forced) {
        out_.block = {.type = {}, .text_key = "text", .mark_keys = {}, .may_widen = true};
        const std::string_view refusal = this->read_body(
            body, "messages", "no array of messages",
            [this](Value messages) { messages.elements([this](Value message) { read_message(message); }); },
            [](Text, Value) {});
        if (!refusal.empty()) { return refusal; }
        if (foreign_ && !forced) { return "content blocks of another provider's shape"; }
        // a cache point never stands first
        this->keep_reasoning_that_must_stay([](const Entry& entry) { return entry.kind != Kind::opaque; });
        out_.dialect = name_of(Dialect::bedrock);
        return {};
    }

private:
    void read_message(Value message) {
        const Text role = message.peek("role");
        this->begin_message(detail::is(role, "user")        ? Role::user
                            : detail::is(role, "assistant") ? Role::assistant
                                                            : Role::other,
                            message.node());
        message.members([this](Text key, Value value) {
            if (detail::is(key, "content")) {
                if (value.type() == JsonType::string) { this->add_speech(0); }
                std::size_t block = 0;
                if (value.type() == JsonType::array) { out_.messages.back().blocks = value.node(); }
                value.elements([&](Value item) { read_block(item, block++); });
            } else if (detail::is_one_of(key, "tool_calls", "function_call", "tool_call_id")) {
                foreign_ = true;
            }
        });
        this->end_message(message.repeats_keys());
    }

    // of a block with exactly one member, its name
    static Text kind_of(Value block) {
        Text kind;
        std::size_t count = 0;
        block.members([&](Text key, Value) {
            kind = key;
            ++count;
        });
        return count == 1 ? kind : Text();
    }

    void read_block(Value block, std::size_t index) {
        const Text kind = kind_of(block);
        foreign_ = foreign_ || !block.peek("type").empty();
        if (role_ == Role::assistant && detail::is(kind, "toolUse") && is_tool_of_host(block)) {
            Entry& call = this->add(Kind::call, index);
            call.immutable = block.repeats_keys();
            block.members([&](Text, Value value) { read_call(value, call); });
        } else if (role_ == Role::user && detail::is(kind, "toolResult") && is_tool_of_host(block)) {
            Entry& result = this->add(Kind::result, index);
            result.immutable = block.repeats_keys();
            block.members([&](Text, Value value) { read_result(value, result); });
        } else if (role_ == Role::assistant && detail::is(kind, "reasoningContent")) {
            this->add_reasoning(block, index);
        } else if (detail::is(kind, "image")) {
            this->add_image(block, index, {});
        } else if (detail::is_one_of(kind, "text", "document", "video", "audio") ||
                   (role_ == Role::user && detail::is(kind, "guardContent"))) {
            this->add_speech(index);
        } else {
            const bool mark = detail::is(kind, "cachePoint");
            user_spoke_ = user_spoke_ || (role_ == Role::user && !mark);
            this->add(Kind::opaque, index);
        }
    }

    // those that the server runs have a `type`
    static bool is_tool_of_host(Value block) {
        bool found = false;
        block.members([&found](Text, Value value) {
            found = value.type() == JsonType::object && value.peek("type").empty();
        });
        return found;
    }

    void read_call(Value value, Entry& call) {
        call.immutable = call.immutable || value.repeats_keys();
        value.members([&](Text key, Value member) {
            if (detail::is(key, "toolUseId")) {
                call.id = member.text();
            } else if (detail::is(key, "name")) {
                call.tool = member.text();
            } else if (detail::is(key, "input")) {
                this->read_input(member, call, "/toolUse/input", false);
            }
        });
        this->arm(call);
    }

    void read_result(Value value, Entry& result) {
        result.immutable = result.immutable || value.repeats_keys();
        value.members([&](Text key, Value member) {
            if (detail::is(key, "content")) {
                read_output(member, result);
            } else if (detail::is(key, "toolUseId")) {
                result.id = member.text();
            } else if (detail::is(key, "status")) {
                result.error = detail::is(member.text(), "error");
            }
        });
        this->link(result, pairs_.answer(result.id));
    }

    void read_output(Value content, Entry& result) {
        const bool list = content.type() == JsonType::array;
        result.form = list ? Form::blocks : Form::other;
        result.content = content.node();
        result.path = "/toolResult/content";
        result.first_part = out_.parts.size();
        result.immutable = result.immutable || !list || content.holds_repeated_keys();
        content.elements([&](Value item) { read_output_part(item, result); });
        result.part_count = out_.parts.size() - result.first_part;
    }

    void read_output_part(Value item, Entry& result) {
        Part& part = out_.parts.emplace_back();
        part.kind = Part::Kind::other;
        part.node = item.node();
        const Text kind = kind_of(item);
        if (detail::is(kind, "json")) {
            // output of the tool, whatever it calls its members
            ++result.others;
            return;
        }
        if (detail::is(kind, "image")) {
            part.kind = Part::Kind::image;
        } else if (detail::is_one_of(kind, "document", "video", "searchResult")) {
            part.kind = Part::Kind::document;
        } else if (detail::is(kind, "text")) {
            item.members([&part](Text, Value text) {
                if (text.type() != JsonType::string) { return; }
                part.kind = Part::Kind::text;
                part.plain = true;
                part.text = text.measured();
            });
        }
        result.immutable = result.immutable || part.kind == Part::Kind::other;
        this->count(part, result);
    }

    using Base::out_;
    using Base::pairs_;
    using Base::role_;
    using Base::user_spoke_;
    bool foreign_ = false;
};

}  // namespace coppice
