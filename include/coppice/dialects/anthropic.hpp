// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialect.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace coppice {

/// Reads an Anthropic Messages request (a body with `messages`, or the array alone) into a transcript.
///
/// Known and open to change: `tool_use` inputs and `tool_result` contents. Kept as they are: thinking, server
/// tools and their results, `tool_reference`, system messages, and everything of an unknown type or in an
/// unexpected place; the whole user turn that answers a call whose `caller` is not `direct`, or that answers while
/// a server tool is still at work; everything from the newest `compaction` block on, which the server continues.
template <json_cursor Value>
class AnthropicReader {
public:
    explicit AnthropicReader(Transcript& transcript) : out_(transcript) {}

    /// Why the body is not one of this dialect; empty when it is. With `forced`, only what cannot be read at all
    /// is refused.
    std::string_view read(Value body, bool forced) {
        out_.block = {.type = "text", .text_key = "text", .mark_key = "cache_control"};
        bool found = false;
        if (body.type() == JsonType::array) {
            found = true;
            read_messages(body);
        } else if (body.type() == JsonType::object) {
            body.members([&](Text key, Value value) {
                if (same_text(key, std::string_view("messages")) && value.type() == JsonType::array) {
                    found = true;
                    read_messages(value);
                } else if (same_text(key, std::string_view("system")) ||
                           same_text(key, std::string_view("anthropic_version"))) {
                    evidence_ = true;
                }
            });
        }
        if (!found) { return "no array of messages"; }
        if (foreign_ && !forced) { return "tool messages of another provider's shape"; }
        if (!evidence_ && !forced) { return "nothing that tells which provider this body is for"; }
        for (std::size_t i = compacted_; i < out_.all().size(); ++i) { out_.all()[i].immutable = true; }
        if (!out_.messages.empty()) { out_.frame = body.seen() - out_.messages.back().until_here; }
        out_.dialect = "anthropic";
        return {};
    }

private:
    void read_messages(Value messages) {
        pairs_.clear();
        std::optional<Extent> start;
        Role before = Role::other;
        std::size_t steps = 0;
        std::size_t user_turns = 0;
        messages.elements([&](Value message) {
            if (!start) { start = message.seen(); }
            Message& read = out_.messages.emplace_back();
            read.first_entry = out_.all().size();
            const Text role = message.type() == JsonType::object ? message.peek("role") : Text{};
            read.role = same_text(role, std::string_view("user"))        ? Role::user
                        : same_text(role, std::string_view("assistant")) ? Role::assistant
                                                                         : Role::other;
            foreign_ = foreign_ || same_text(role, std::string_view("tool")) ||
                       same_text(role, std::string_view("function"));
            const bool turn_starts = read.role == Role::assistant && before != Role::assistant;
            if (turn_starts) {
                pairs_.next_turn();
                programmatic_ = false;
                server_calls_ = 0;
            }
            before = read.role;
            user_content_ = false;
            if (message.type() == JsonType::object) {
                read_message(message, out_.messages.size() - 1);
            } else {
                message.skip();
            }
            if (user_content_) { ++user_turns; }
            for (std::size_t i = out_.messages.back().first_entry; i < out_.all().size(); ++i) {
                out_.all()[i].step = steps;
                out_.all()[i].user_turn = user_turns;
            }
            if (turn_starts) { ++steps; }
            out_.messages.back().until_here = message.seen() - *start;
        });
    }

    void read_message(Value message, std::size_t index) {
        const Role role = out_.messages[index].role;
        message.members([&](Text key, Value value) {
            if (same_text(key, std::string_view("tool_calls")) || same_text(key, std::string_view("function_call"))) {
                foreign_ = true;
            }
            if (!same_text(key, std::string_view("content"))) { return; }
            if (value.type() == JsonType::string) {
                add(role == Role::user        ? Kind::user_text
                    : role == Role::assistant ? Kind::assistant_text
                                              : Kind::opaque,
                    index, 0);
                user_content_ = role == Role::user;
            } else if (value.type() == JsonType::array) {
                std::size_t block = 0;
                value.elements([&](Value item) { read_block(item, role, index, block++); });
            }
        });
    }

    Entry& add(Kind kind, std::size_t message, std::size_t block) {
        Entry entry;
        entry.kind = kind;
        entry.message = message;
        entry.block = block;
        entry.immutable = kind != Kind::call && kind != Kind::result;
        return out_.add(entry);
    }

    void read_block(Value block, Role role, std::size_t message, std::size_t index) {
        const Text type = block.type() == JsonType::object ? block.peek("type") : Text{};
        const auto is = [&](std::string_view name) { return same_text(type, name); };
        if (role == Role::assistant && is("tool_use")) {
            evidence_ = true;
            read_call(block, message, index);
        } else if (role == Role::user && is("tool_result")) {
            evidence_ = true;
            read_result(block, message, index);
        } else if (role == Role::assistant && (is("thinking") || is("redacted_thinking"))) {
            evidence_ = true;
            add(Kind::reasoning, message, index);
            block.skip();
        } else {
            const bool text = is("text") || is("image") || is("document");
            const Kind kind = !text                   ? Kind::opaque
                              : role == Role::user      ? Kind::user_text
                              : role == Role::assistant ? Kind::assistant_text
                                                        : Kind::opaque;
            user_content_ = user_content_ || role == Role::user;
            if (is("compaction")) { compacted_ = out_.all().size(); }
            if (role == Role::assistant && is("server_tool_use")) { ++server_calls_; }
            if (role == Role::assistant && ends_with_tool_result(type) && server_calls_ > 0) { --server_calls_; }
            add(kind, message, index);
            block.skip();
        }
    }

    void read_call(Value block, std::size_t message, std::size_t index) {
        Entry call;
        call.kind = Kind::call;
        call.message = message;
        call.block = index;
        call.first_field = out_.fields.size();
        std::size_t rank = identity_keys.size();
        block.members([&](Text key, Value value) {
            const bool text = value.type() == JsonType::string;
            if (same_text(key, std::string_view("id")) && text) {
                call.id = value.text().text;
            } else if (same_text(key, std::string_view("name")) && text) {
                call.tool = value.text().text;
            } else if (same_text(key, std::string_view("caller"))) {
                programmatic_ = programmatic_ || !is_direct(value);
                call.immutable = call.immutable || !is_direct(value);
            } else if (same_text(key, std::string_view("input"))) {
                call.content = value.node();
                if (value.type() == JsonType::object) {
                    read_input(value, call, rank);
                } else {
                    call.immutable = true;
                }
            }
        });
        call.field_count = out_.fields.size() - call.first_field;
        out_.add(call);
        pairs_.arm(call.id, out_.all().size() - 1);
    }

    static bool is_direct(Value caller) {
        return caller.type() == JsonType::null ||
               (caller.type() == JsonType::object && same_text(caller.peek("type"), std::string_view("direct")));
    }

    void read_input(Value input, Entry& call, std::size_t& rank) {
        input.members([&](Text key, Value value) {
            if (value.type() == JsonType::string) {
                const Node node = value.node();
                const MeasuredText text = value.text();
                out_.fields.push_back({key, {}, 0, text.text, text.extent, node});
                for (std::size_t i = 0; i < rank; ++i) {
                    if (same_text(key, identity_keys[i])) {
                        call.identity = text.text;
                        rank = i;
                    }
                }
            } else if (value.type() == JsonType::array) {
                std::size_t index = 0;
                value.elements([&](Value item) {
                    if (item.type() == JsonType::object) { read_edit(item, key, index); }
                    ++index;
                });
            }
        });
    }

    void read_edit(Value edit, Text list, std::size_t index) {
        edit.members([&](Text key, Value value) {
            if (value.type() != JsonType::string) { return; }
            const Node node = value.node();
            const MeasuredText text = value.text();
            out_.fields.push_back({key, list, index, text.text, text.extent, node});
        });
    }

    void read_result(Value block, std::size_t message, std::size_t index) {
        Entry result;
        result.kind = Kind::result;
        result.message = message;
        result.block = index;
        result.first_part = out_.parts.size();
        block.members([&](Text key, Value value) {
            if (same_text(key, std::string_view("tool_use_id")) && value.type() == JsonType::string) {
                result.id = value.text().text;
            } else if (same_text(key, std::string_view("is_error"))) {
                result.error = value.is_true();
            } else if (same_text(key, std::string_view("content"))) {
                read_content(value, result);
            }
        });
        result.part_count = out_.parts.size() - result.first_part;
        result.peer = pairs_.answer(result.id);
        const std::size_t at = out_.all().size();
        if (result.peer != none) {
            Entry& call = out_.all()[result.peer];
            call.peer = at;
            result.tool = call.tool;
            result.identity = call.identity;
        }
        result.immutable = result.immutable || programmatic_ || server_calls_ > 0;
        out_.add(result);
    }

    void read_content(Value content, Entry& result) {
        result.content = content.node();
        const Extent start = content.seen();
        switch (content.type()) {
            case JsonType::string: {
                result.form = Form::string;
                Part part;
                part.node = content.node();
                const MeasuredText text = content.text();
                part.text = text.text;
                part.extent = text.extent;
                part.serialised = text.extent.serialised();
                result.text += text.extent.plain;
                out_.parts.push_back(part);
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
            default: result.form = Form::other; content.skip();
        }
        result.serialised = content.seen() - start;
    }

    void read_part(Value item, Entry& result) {
        Part part;
        part.node = item.node();
        const Extent start = item.seen();
        const std::size_t marks = item.marks();
        const Text type = item.type() == JsonType::object ? item.peek("type") : Text{};
        const auto is = [&](std::string_view name) { return same_text(type, name); };
        part.kind = is("image") ? Part::Kind::image
                    : is("document") || is("search_result") ? Part::Kind::document
                                                            : Part::Kind::other;
        if (is("tool_reference")) { result.immutable = true; }
        const bool top_level = result.form == Form::blocks;
        if (item.type() == JsonType::object) {
            item.members([&](Text key, Value value) {
                if (is("text") && same_text(key, std::string_view("text")) && value.type() == JsonType::string) {
                    const MeasuredText text = value.text();
                    part.kind = Part::Kind::text;
                    part.text = text.text;
                    part.extent = text.extent;
                } else if (top_level && same_text(key, out_.block.mark_key) && value.type() == JsonType::object) {
                    part.cache_mark = value.node();
                    const Extent mark_start = value.seen();
                    value.skip();
                    part.cache_mark_size = value.seen() - mark_start;
                }
            });
        } else {
            item.skip();
        }
        part.serialised = item.seen() - start;
        const std::size_t own_mark = part.cache_mark ? 1 : 0;
        result.cache_marks += own_mark;
        result.nested_cache_mark = result.nested_cache_mark || item.marks() - marks > own_mark;
        switch (part.kind) {
            case Part::Kind::text:
            case Part::Kind::stub: result.text += part.extent.plain; break;
            case Part::Kind::image: ++result.images; break;
            case Part::Kind::document: ++result.documents; result.text += part.serialised; break;
            case Part::Kind::other: ++result.others; result.text += part.serialised; break;
        }
        out_.parts.push_back(part);
    }

    static bool ends_with_tool_result(Text type) {
        constexpr std::string_view suffix = "_tool_result";
        std::string scratch;
        const std::string_view name = decoded(type, scratch);
        return name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix;
    }

    // what tells one call of a tool from another, best first
    static constexpr std::array<std::string_view, 12> identity_keys = {
        "file_path", "notebook_path", "path", "filePath", "filename", "command",
        "cmd",       "url",           "query", "pattern", "name",     "description",
    };

    Transcript& out_;
    detail::Pairs pairs_;
    bool evidence_ = false;
    bool foreign_ = false;
    bool user_content_ = false;
    bool programmatic_ = false;      // a call of this turn was made by a program, not by the model
    std::size_t server_calls_ = 0;   // of this turn, still without their result
    std::size_t compacted_ = none;   // entry of the newest compaction block
};

}  // namespace coppice
