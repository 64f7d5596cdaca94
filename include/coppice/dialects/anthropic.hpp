// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/reader.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace coppice::inline v0 {

/// Reads an Anthropic Messages request (a body with `messages`, or the array alone) into a transcript.
///
/// Known and open to change: `tool_use` inputs, `tool_result` contents, and `image` blocks of the user's for a policy
/// that is meant for them. Kept as they are: thinking, server tools and their results, `tool_reference`, system
/// messages, and everything of an unknown type or in an unexpected place; the whole user turn that answers a call whose
/// `caller` is not `direct`, or that answers while a server tool is still at work; everything from the first
/// `compaction` block on, which the server continues; every object that has two members of one name, and all that it
/// holds. Thinking of turns that are over may leave its messages as a whole.
template <json_cursor Value>
class AnthropicReader : private detail::Reader<Value> {
    using Base = detail::Reader<Value>;

public:
    /// Reads into this transcript.
    AnthropicReader(Transcript& transcript, detail::ReaderScratch& scratch)
        : Base(transcript, scratch), server_pairs_(scratch.server_pairs) {
        server_pairs_.clear();
    }

    /// Why the body is not one of this dialect; empty when it is. With `forced`, only what cannot be read at
    /// all is refused.
    std::string_view read(Value body, bool forced) {
        out_.block = {
            .type = "text", .text_key = "text", .mark_keys = {"cache_control"}, .may_widen = true};
        const std::string_view refusal = this->read_body(
            body, "messages", "no array of messages", [this](Value messages) { read_messages(messages); },
            [this](Text key, Value) {
                evidence_ = evidence_ || detail::is_one_of(key, "system", "anthropic_version");
            });
        if (!refusal.empty()) { return refusal; }
        if (foreign_ && !forced) { return "tool messages of another provider's shape"; }
        if (!evidence_ && !forced) { return "nothing that tells which provider this body is for"; }
        for (std::size_t i = compacted_; i < out_.all().size(); ++i) { out_.all()[i].immutable = true; }
        if (stays_whole()) { this->keep_reasoning(turn_); }
        this->keep_reasoning(compacted_);
        this->keep_reasoning_that_must_stay([](const Entry&) { return true; });
        out_.dialect = name_of(Dialect::anthropic);
        return {};
    }

private:
    void read_messages(Value messages) {
        messages.elements([this](Value message) {
            const bool kept = stays_whole();
            const std::size_t entries = out_.all().size();
            if (this->begin_message(role_of(message.peek("role")), message.node())) {
                if (kept) { this->keep_reasoning(turn_); }
                turn_ = entries;
                server_pairs_.next_turn();
                programmatic_ = false;
                server_calls_ = 0;
            }
            read_message(message);
            this->end_message(message.repeats_keys());
        });
    }

    Role role_of(Text role) {
        foreign_ = foreign_ || detail::is_one_of(role, "tool", "function");
        return detail::is(role, "user")        ? Role::user
               : detail::is(role, "assistant") ? Role::assistant
                                               : Role::other;
    }

    void read_message(Value message) {
        message.members([this](Text key, Value value) {
            if (detail::is(key, "content")) {
                if (value.type() == JsonType::string) {
                    this->add_speech(0);
                } else {
                    std::size_t block = 0;
                    if (value.type() == JsonType::array) { out_.messages.back().blocks = value.node(); }
                    value.elements([&](Value item) { read_block(item, block++); });
                }
            } else if (detail::is_one_of(key, "tool_calls", "function_call")) {
                foreign_ = true;
            }
        });
    }

    void read_block(Value block, std::size_t index) {
        const Text type = block.peek("type");
        if (role_ == Role::assistant && detail::is(type, "tool_use")) {
            evidence_ = true;
            read_call(block, this->add(Kind::call, index));
        } else if (role_ == Role::user && detail::is(type, "tool_result")) {
            evidence_ = true;
            read_result(block, this->add(Kind::result, index));
        } else if (role_ == Role::assistant && detail::is_one_of(type, "thinking", "redacted_thinking")) {
            evidence_ = true;
            this->add_reasoning(block, index);
        } else if (detail::is_one_of(type, "text", "document")) {
            this->add_speech(index);
        } else if (detail::is(type, "image")) {
            this->add_image(block, index, {});
            out_.all().back().immutable = out_.all().back().immutable || stays_whole();
        } else {
            user_spoke_ = user_spoke_ || role_ == Role::user;
            if (detail::is(type, "compaction")) { compacted_ = std::min(compacted_, out_.all().size()); }
            if (role_ == Role::assistant) { count_server_call(block, type); }
            this->add(Kind::opaque, index);
        }
    }

    void count_server_call(Value block, Text type) {
        constexpr std::string_view suffix = "_tool_result";
        const std::string_view name = decoded(type, scratch_);
        if (name == "server_tool_use" || name == "mcp_tool_use") {
            ++server_calls_;
            server_pairs_.arm(block.peek("id"), server_calls_);
        } else if (server_calls_ > 0 && name.size() > suffix.size() &&
                   name.substr(name.size() - suffix.size()) == suffix) {
            if (server_pairs_.answer(block.peek("tool_use_id")) != none) { --server_calls_; }
        }
    }

    void read_call(Value block, Entry& call) {
        call.immutable = call.immutable || block.repeats_keys();
        block.members([&](Text key, Value value) {
            if (detail::is(key, "id")) {
                call.id = value.text();
            } else if (detail::is(key, "name")) {
                call.tool = value.text();
            } else if (detail::is(key, "input")) {
                this->read_input(value, call, "/input", false);
            } else if (detail::is(key, "caller")) {
                const bool by_program =
                    value.type() != JsonType::null && !detail::is(value.peek("type"), "direct");
                programmatic_ = programmatic_ || by_program;
                call.immutable = call.immutable || by_program;
            }
        });
        this->arm(call);
    }

    void read_result(Value block, Entry& result) {
        result.immutable = result.immutable || block.repeats_keys();
        block.members([&](Text key, Value value) {
            if (detail::is(key, "content")) {
                this->read_content(value, result, "/content", [&result](Text type) {
                    // the tools that it loads would be gone
                    result.immutable = result.immutable || detail::is(type, "tool_reference");
                    return detail::is(type, "image")                          ? Part::Kind::image
                           : detail::is_one_of(type, "document", "search_result") ? Part::Kind::document
                                                                                 : Part::Kind::other;
                });
            } else if (detail::is(key, "tool_use_id")) {
                result.id = value.text();
            } else if (detail::is(key, "is_error")) {
                result.error = value.is_true();
            }
        });
        result.immutable = result.immutable || stays_whole();
        this->link(result, pairs_.answer(result.id));
    }

    // of a turn of the model and the user's after it: a program calls, or a server tool is at work in between
    bool stays_whole() const { return programmatic_ || server_calls_ > 0; }

    using Base::out_;
    using Base::pairs_;
    using Base::role_;
    using Base::scratch_;
    using Base::user_spoke_;
    detail::Pairs& server_pairs_;
    bool evidence_ = false;
    bool foreign_ = false;
    bool programmatic_ = false;     // a call of this turn was made by a program, not by the model
    std::size_t server_calls_ = 0;  // of this turn, still without their result
    std::size_t turn_ = 0;          // its first entry
    std::size_t compacted_ = none;  // entry of the first compaction block
};

}  // namespace coppice
