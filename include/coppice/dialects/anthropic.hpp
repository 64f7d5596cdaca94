// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialect.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace coppice {

/// Reads an Anthropic Messages request (a body with `messages`, or the array alone) into a transcript.
///
/// Known and open to change: `tool_use` inputs and `tool_result` contents. Kept as they are: thinking, server
/// tools and their results, `tool_reference`, system messages, and everything of an unknown type or in an
/// unexpected place; the whole user turn that answers a call whose `caller` is not `direct`, or that answers
/// while a server tool is still at work; everything from the newest `compaction` block on, which the server
/// continues; every object that has two members of one name, and all that it holds.
template <json_cursor Value>
class AnthropicReader {
public:
    AnthropicReader(Transcript& transcript, detail::ReaderScratch& scratch)
        : out_(transcript),
          pairs_(scratch.pairs),
          server_pairs_(scratch.server_pairs),
          scratch_(scratch.text) {}

    /// Why the body is not one of this dialect; empty when it is. With `forced`, only what cannot be read at
    /// all is refused.
    std::string_view read(Value body, bool forced) {
        out_.block = {.type = "text", .text_key = "text", .mark_key = "cache_control"};
        out_.frame_keys = ascii(2);
        bool found = false;
        if (body.repeats_keys()) { return "a key of the body stands there twice"; }
        if (body.type() == JsonType::array) {
            found = true;
            read_messages(body);
        } else {
            body.members([&](Text key, Value value) {
                // a comma before all but the first
                const bool first = out_.frame_values.empty() && !found;
                out_.frame_keys += measure(key).serialised() + ascii(first ? 1 : 2);
                if (is(key, "messages") && value.type() == JsonType::array) {
                    found = true;
                    out_.frame_keys += ascii(2);
                    read_messages(value);
                    return;
                }
                out_.frame_values.push_back(value.node());
                evidence_ = evidence_ || is(key, "system") || is(key, "anthropic_version");
            });
        }
        if (!found) { return "no array of messages"; }
        if (foreign_ && !forced) { return "tool messages of another provider's shape"; }
        if (!evidence_ && !forced) { return "nothing that tells which provider this body is for"; }
        for (std::size_t i = compacted_; i < out_.all().size(); ++i) { out_.all()[i].immutable = true; }
        out_.dialect = "anthropic";
        return {};
    }

private:
    void read_messages(Value messages) {
        pairs_.clear();
        server_pairs_.clear();
        Role before = Role::other;
        std::size_t steps = 0;
        std::size_t user_turns = 0;
        bool turn_spoken = false;  // the user said something in this turn
        messages.elements([&](Value message) {
            const std::size_t index = out_.messages.size();
            const std::size_t first_entry = out_.all().size();
            const Role role = role_of(message.peek("role"));
            out_.messages.push_back({role, first_entry, message.node()});
            const bool turn_starts = role == Role::assistant && before != Role::assistant;
            if (before != role) { turn_spoken = false; }
            before = role;
            steps += turn_starts;
            if (turn_starts) {
                pairs_.next_turn();
                server_pairs_.next_turn();
                programmatic_ = false;
                server_calls_ = 0;
            }
            user_content_ = false;
            read_message(message, role, index);
            const bool repeats = message.repeats_keys();
            for (std::size_t i = first_entry; i < out_.all().size(); ++i) {
                out_.all()[i].immutable = out_.all()[i].immutable || repeats;
                out_.all()[i].step = steps - (role == Role::assistant);
                out_.all()[i].user_turn = user_turns - (role == Role::user && turn_spoken);
            }
            if (user_content_ && !turn_spoken) {
                for (std::size_t i = first_entry; i < out_.all().size(); ++i) {
                    out_.all()[i].user_turn = user_turns;
                }
                turn_spoken = true;
                ++user_turns;
            }
        });
    }

    Role role_of(Text role) {
        foreign_ = foreign_ || is(role, "tool") || is(role, "function");
        return is(role, "user") ? Role::user : is(role, "assistant") ? Role::assistant : Role::other;
    }

    void read_message(Value message, Role role, std::size_t index) {
        message.members([&](Text key, Value value) {
            if (is(key, "content")) {
                if (value.type() == JsonType::string) {
                    user_content_ = role == Role::user;
                    add(speech_of(role), index, 0);
                } else {
                    std::size_t block = 0;
                    value.elements([&](Value item) { read_block(item, role, index, block++); });
                }
            } else if (is(key, "tool_calls") || is(key, "function_call")) {
                foreign_ = true;
            }
        });
    }

    static Kind speech_of(Role role) {
        return role == Role::user        ? Kind::user_text
               : role == Role::assistant ? Kind::assistant_text
                                         : Kind::opaque;
    }

    Entry& add(Kind kind, std::size_t message, std::size_t block) {
        Entry& entry = out_.add();
        entry.kind = kind;
        entry.message = message;
        entry.block = block;
        entry.immutable = kind != Kind::call && kind != Kind::result;
        return entry;
    }

    void read_block(Value block, Role role, std::size_t message, std::size_t index) {
        const Text type = block.peek("type");
        if (role == Role::assistant && is(type, "tool_use")) {
            evidence_ = true;
            read_call(block, add(Kind::call, message, index));
        } else if (role == Role::user && is(type, "tool_result")) {
            evidence_ = true;
            read_result(block, add(Kind::result, message, index));
        } else if (role == Role::assistant && (is(type, "thinking") || is(type, "redacted_thinking"))) {
            evidence_ = true;
            add(Kind::reasoning, message, index);
        } else {
            const bool speech = is(type, "text") || is(type, "image") || is(type, "document");
            user_content_ = user_content_ || role == Role::user;
            if (is(type, "compaction")) { compacted_ = out_.all().size(); }
            if (!speech && role == Role::assistant) { count_server_call(block, type); }
            add(speech ? speech_of(role) : Kind::opaque, message, index);
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
        call.first_field = out_.fields.size();
        call.immutable = call.immutable || block.repeats_keys();
        block.members([&](Text key, Value value) {
            if (is(key, "id")) {
                call.id = value.text();
            } else if (is(key, "name")) {
                call.tool = value.text();
            } else if (is(key, "input")) {
                call.content = value.node();
                call.immutable = call.immutable || value.type() != JsonType::object || value.repeats_keys();
                read_input(value, call);
            } else if (is(key, "caller")) {
                const bool by_program = value.type() != JsonType::null && !is(value.peek("type"), "direct");
                programmatic_ = programmatic_ || by_program;
                call.immutable = call.immutable || by_program;
            }
        });
        call.field_count = out_.fields.size() - call.first_field;
        pairs_.arm(call.id, out_.all().size() - 1);
    }

    void read_input(Value input, Entry& call) {
        std::size_t rank = identity_keys.size();
        input.members([&](Text key, Value value) {
            if (value.type() == JsonType::string) {
                const Text text = value.text();
                out_.fields.push_back({key, {}, 0, value.measured(), value.node()});
                const std::size_t found = identity_rank(key);
                if (found < rank) {
                    call.identity = text;
                    rank = found;
                }
            } else if (value.type() == JsonType::array) {
                std::size_t index = 0;
                value.elements([&](Value item) { read_edit(item, key, index++); });
            }
        });
    }

    void read_edit(Value edit, Text list, std::size_t index) {
        if (edit.repeats_keys()) { return; }
        edit.members([&](Text key, Value value) {
            if (value.type() != JsonType::string) { return; }
            out_.fields.push_back({key, list, index, value.measured(), value.node(), true});
        });
    }

    void read_result(Value block, Entry& result) {
        result.first_part = out_.parts.size();
        result.immutable = result.immutable || block.repeats_keys();
        block.members([&](Text key, Value value) {
            if (is(key, "content")) {
                read_content(value, result);
            } else if (is(key, "tool_use_id")) {
                result.id = value.text();
            } else if (is(key, "is_error")) {
                result.error = value.is_true();
            }
        });
        result.part_count = out_.parts.size() - result.first_part;
        result.immutable = result.immutable || programmatic_ || server_calls_ > 0;
        result.peer = pairs_.answer(result.id);
        if (result.peer == none) { return; }
        Entry& call = out_.all()[result.peer];
        call.peer = out_.all().size() - 1;
        result.tool = call.tool;
        result.identity = call.identity;
    }

    void read_content(Value content, Entry& result) {
        result.content = content.node();
        result.immutable = result.immutable || content.holds_repeated_keys();
        switch (content.type()) {
            case JsonType::string: {
                result.form = Form::string;
                Part& part = out_.parts.emplace_back();
                part.node = content.node();
                part.text = content.measured();
                break;
            }
            case JsonType::array:
                result.form = Form::blocks;
                content.elements([&](Value item) { read_part(item, result); });
                break;
            case JsonType::object:
                result.form = Form::other;
                read_part(content, result);
                break;
            default: result.form = Form::other;
        }
    }

    void read_part(Value item, Entry& result) {
        Part& part = out_.parts.emplace_back();
        part.kind = Part::Kind::other;
        part.node = item.node();
        const Text type = item.peek("type");
        const bool top_level = result.form == Form::blocks;
        if (is(type, "text")) {
            read_text_part(item, top_level, part);
        } else if (is(type, "image")) {
            part.kind = Part::Kind::image;
        } else if (is(type, "document") || is(type, "search_result")) {
            part.kind = Part::Kind::document;
        } else if (is(type, "tool_reference")) {
            result.immutable = true;  // the tools that it loads would be gone
        }
        if (part.kind == Part::Kind::other) {
            for (const std::string_view name : signed_members) {
                const bool found = out_.source->count_members(part.node, name) > 0;
                result.immutable = result.immutable || found;
            }
        }
        if (!part.plain) { read_marks(item, top_level, part, result); }
        if (part.cache_mark) { ++result.cache_marks; }
        result.images += part.kind == Part::Kind::image;
        result.documents += part.kind == Part::Kind::document;
        result.others += part.kind == Part::Kind::other;
    }

    void read_text_part(Value item, bool top_level, Part& part) {
        bool plain = top_level;
        item.members([&](Text key, Value value) {
            if (is(key, "text") && value.type() == JsonType::string) {
                part.kind = Part::Kind::text;
                part.text = value.measured();
            } else if (is(key, "cache_control") && is_mark(value)) {
                part.cache_mark = top_level ? value.node() : Node{};
            } else if (!is(key, "type")) {
                plain = false;
            }
        });
        part.plain = plain && part.kind == Part::Kind::text;
    }

    // clients that write out every field write null for "no mark"; it goes along like one
    static bool is_mark(Value value) {
        return value.type() == JsonType::object || value.type() == JsonType::null;
    }

    // of a part with more to it than text
    void read_marks(Value item, bool top_level, Part& part, Entry& result) {
        if (top_level) {
            item.members([&](Text key, Value value) {
                if (same_text(key, out_.block.mark_key) && is_mark(value)) { part.cache_mark = value.node(); }
            });
        }
        const std::size_t own = part.cache_mark ? 1 : 0;
        if (out_.source->count_members(part.node, out_.block.mark_key) > own) {
            result.nested_cache_mark = true;
        }
    }

    template <std::size_t Size>
    static bool is(Text text, const char (&word)[Size]) {
        constexpr std::size_t length = Size - 1;
        if (text.escaped()) { return same_text(text, std::string_view(word, length)); }
        // of known length, so that it becomes a comparison of words
        return text.raw().size() == length && std::memcmp(text.raw().data(), word, length) == 0;
    }

    std::size_t identity_rank(Text key) {
        const std::string_view name = decoded(key, scratch_);
        for (std::size_t i = 0; i < identity_keys.size(); ++i) {
            const std::string_view wanted = identity_keys[i];
            if (name.size() == wanted.size() && name.front() == wanted.front() && name == wanted) {
                return i;
            }
        }
        return identity_keys.size();
    }

    // a part of an unknown type that holds one of these is not ours to drop
    static constexpr std::array<std::string_view, 4> signed_members = {
        "signature",
        "encrypted_content",
        "encrypted_stdout",
        "encrypted_index",
    };

    // what tells one call of a tool from another, best first
    static constexpr std::array<std::string_view, 12> identity_keys = {
        "file_path", "notebook_path", "path",  "filePath", "filename", "command",
        "cmd",       "url",           "query", "pattern",  "name",     "description",
    };

    Transcript& out_;
    detail::Pairs& pairs_;
    detail::Pairs& server_pairs_;
    std::string& scratch_;
    bool evidence_ = false;
    bool foreign_ = false;
    bool user_content_ = false;
    bool programmatic_ = false;     // a call of this turn was made by a program, not by the model
    std::size_t server_calls_ = 0;  // of this turn, still without their result
    std::size_t compacted_ = none;  // entry of the newest compaction block
};

}  // namespace coppice
