// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/reader.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// Reads an OpenAI Responses request (a body with a list `input`, or the list alone) into a transcript. Each item of
/// the list is a message; its only block has the number 0, and paths begin at the item.
///
/// Known and open to change: the outputs of calls that the host answers, which keep their kind and of a shell their
/// chunks and outcomes; and the `arguments` of function calls, a string that holds a JSON object and stays one, with
/// every other byte inside. Kept as they are: messages and reasoning; the input of custom tools, whose grammar is the
/// host's, and what built-in tools are asked; screenshots of `computer_call_output`, which nothing may replace; what
/// the provider calls and answers itself; calls of a program and what answers them; items of an unknown type;
/// everything from the first `compaction` item on, which the server continues; every object that has two members of
/// one name, and all that it holds.
///
/// Ids are those of one kind of call: the output of a function does not answer a custom tool. Outputs whose call is
/// not there stay as they are: with `previous_response_id` or `conversation` the server has it.
template <json_cursor Value>
class OpenAiResponsesReader : private detail::Reader<Value> {
    using Base = detail::Reader<Value>;

public:
    /// Reads into this transcript.
    OpenAiResponsesReader(Transcript& transcript, detail::ReaderScratch& scratch)
        : Base(transcript, scratch) {
        pairs_.clear(detail::Pairs::Reach::history);
    }

    /// Why the body is not one of this dialect; empty when it is.
    std::string_view read(Value body, bool) {
        // the second is what gateways in front of other providers take
        out_.block = {.type = "input_text",
                      .text_key = "text",
                      .mark_keys = {"prompt_cache_breakpoint", "cache_control"}};
        bool words = false;
        const std::string_view refusal = this->read_body(
            body, "input", "no list of items",
            [this](Value items) { items.elements([this](Value item) { read_item(item); }); },
            [&words](Text key, Value value) {
                words = words || (detail::is(key, "input") && value.type() == JsonType::string);
            });
        if (words) { return "an input of words alone, without a history"; }
        if (!refusal.empty()) { return refusal; }
        for (std::size_t i = compacted_; i < out_.all().size(); ++i) { out_.all()[i].immutable = true; }
        out_.dialect = name_of(Dialect::openai_responses);
        return {};
    }

private:
    // a tool whose calls are answered by an item of their own
    enum class Tool : std::uint8_t { function, custom, local_shell, shell, apply_patch, computer };

    struct ToolNames {
        std::string_view call;  // type of the item, and with `_output` that of its answer
        std::string_view tool;  // where the item does not name it
    };
    static constexpr std::array<ToolNames, 6> tools = {{
        {"function_call", ""},
        {"custom_tool_call", ""},
        {"local_shell_call", "local_shell"},
        {"shell_call", "shell"},
        {"apply_patch_call", "apply_patch"},
        {"computer_call", "computer"},
    }};

    struct Shape {
        Role role = Role::other;
        Kind kind = Kind::opaque;
        Tool tool = Tool::function;
    };

    void read_item(Value item) {
        const Shape shape = shape_of(item);
        this->begin_message(shape.role, item.node());
        switch (shape.kind) {
            case Kind::call: read_call(item, shape.tool, this->add(Kind::call, 0)); break;
            case Kind::result: read_result(item, shape.tool, this->add(Kind::result, 0)); break;
            case Kind::user_text:
            case Kind::assistant_text: this->add_speech(0); break;
            default: this->add(shape.kind, 0);
        }
        this->end_message(item.repeats_keys());
    }

    Shape shape_of(Value item) {
        const Text role = item.peek("role");
        std::string_view type = decoded(item.peek("type"), scratch_);
        if (type.empty() || type == "message") {
            return detail::is(role, "user")        ? Shape{Role::user, Kind::user_text}
                   : detail::is(role, "assistant") ? Shape{Role::assistant, Kind::assistant_text}
                                                   : Shape{};
        }
        if (type == "reasoning") { return {Role::assistant, Kind::reasoning}; }
        // older logs have the second
        if (type == "compaction" || type == "compaction_summary") { compacted_ = std::min(compacted_, out_.all().size()); }
        const bool output = take_suffix(type, "_output");
        for (std::size_t i = 0; i < tools.size(); ++i) {
            if (type != tools[i].call) { continue; }
            const auto tool = static_cast<Tool>(i);
            return output ? Shape{Role::user, Kind::result, tool} : Shape{Role::assistant, Kind::call, tool};
        }
        if (output || type == "mcp_approval_response") { return {Role::user, Kind::opaque}; }
        const bool from_model =
            take_suffix(type, "_call") || type == "mcp_approval_request" || type == "program";
        return {from_model ? Role::assistant : Role::other, Kind::opaque};
    }

    static bool take_suffix(std::string_view& word, std::string_view suffix) {
        const bool there = word.size() > suffix.size() && word.substr(word.size() - suffix.size()) == suffix;
        if (there) { word.remove_suffix(suffix.size()); }
        return there;
    }

    void read_call(Value item, Tool tool, Entry& call) {
        call.immutable = tool != Tool::function;
        call.tool = tools[static_cast<std::size_t>(tool)].tool;
        Text item_id;
        bool by_program = false;
        item.members([&](Text key, Value value) {
            if (detail::is(key, "call_id")) {
                call.id = value.text();
            } else if (detail::is(key, "id")) {
                item_id = value.text();
            } else if (detail::is(key, "caller")) {
                by_program = is_program(value);
            } else {
                read_request(key, value, tool, call);
            }
        });
        const std::size_t number = out_.all().size() - 1;
        if (by_program) {
            call.immutable = true;
            programmatic_.push_back(number);
        }
        // its answer has the one id or the other
        if (tool == Tool::local_shell) {
            if (call.id.empty()) { call.id = item_id; }
            if (!same_text(call.id, item_id)) { arm(item_id, number, tool); }
            // Codex answers it like a function
            arm(call.id, number, Tool::function);
        }
        arm(call.id, number, tool);
    }

    // what a call asks for
    void read_request(Text key, Value value, Tool tool, Entry& call) {
        switch (tool) {
            case Tool::function:
            case Tool::custom:
                if (detail::is(key, "name")) {
                    call.tool = value.text();
                } else if (tool == Tool::function && detail::is(key, "arguments")) {
                    this->read_input(value, call, "/arguments", true);
                } else if (tool == Tool::custom && detail::is(key, "input")) {
                    call.content = value.node();
                    this->name_by_patch(value.text(), call);
                }
                break;
            case Tool::local_shell:
            case Tool::shell:
                if (detail::is(key, "action")) {
                    call.content = value.node();
                    read_action(value, call);
                }
                break;
            case Tool::apply_patch:
                if (detail::is(key, "operation")) {
                    call.content = value.node();
                    this->name_by_path(value.peek("path"), call);
                }
                break;
            case Tool::computer: break;
        }
    }

    // one command in words, or several commands
    void read_action(Value action, Entry& call) {
        action.members([&](Text key, Value value) {
            if (detail::is(key, "command")) {
                call.identity = value.type() == JsonType::array ? this->joined_words(value) : value.text();
            } else if (detail::is(key, "commands")) {
                call.identity = this->joined_words(value, "; ");
            }
        });
    }

    void read_result(Value item, Tool tool, Entry& result) {
        Text item_id;
        bool for_program = false;
        says_success_ = false;
        item.members([&](Text key, Value value) {
            if (detail::is(key, "call_id")) {
                result.id = value.text();
            } else if (detail::is(key, "id")) {
                item_id = value.text();
            } else if (detail::is(key, "output")) {
                read_output(value, tool, result);
            } else if (detail::is(key, "status")) {
                result.error = result.error || detail::is(value.text(), "failed");
            } else if (detail::is(key, "caller")) {
                for_program = is_program(value);
            }
        });
        // the others have a place where they say it, and old logs have one for these
        const bool words_alone = tool == Tool::function || tool == Tool::custom || tool == Tool::local_shell;
        if (words_alone && !result.error && !says_success_) { result.outcome_in_text = true; }

        std::size_t call = answered_by(result.id, tool);
        if (tool == Tool::local_shell) {
            if (call == none) { call = answered_by(item_id, tool); }
            if (result.id.empty()) { result.id = item_id; }
        }
        this->link(result, call);
        for_program = for_program || std::binary_search(programmatic_.begin(), programmatic_.end(), call);
        result.immutable = result.immutable || for_program;
    }

    void read_output(Value output, Tool tool, Entry& result) {
        if (tool == Tool::shell) {
            read_chunks(output, result);
        } else if (output.type() == JsonType::object && tool != Tool::computer) {
            read_payload(output, result);
        } else {
            result.immutable = tool == Tool::computer;
            this->read_content(output, result, "/output", kind_of);
        }
    }

    // of a shell, for each of its commands
    void read_chunks(Value chunks, Entry& result) {
        this->begin_pieces(chunks, result, "");
        result.immutable = result.immutable || chunks.type() != JsonType::array;
        Field place{.list = std::string_view("output"), .in_list = true};
        chunks.elements([&](Value chunk) {
            const std::size_t first = out_.parts.size();
            bool said = false;
            bool failed = false;
            chunk.members([&](Text key, Value value) {
                place.name = key;
                if (detail::is(key, "outcome")) {
                    said = true;
                    failed = is_failure(value);
                } else if (detail::is_one_of(key, "stdout", "stderr") && value.type() == JsonType::string) {
                    this->read_piece(value, result, place);
                }
            });
            ++place.index;
            result.error = result.error || failed;
            for (std::size_t i = first; i < out_.parts.size(); ++i) {
                out_.parts[i].own_outcome = said;
                out_.parts[i].failed = failed;
            }
        });
    }

    bool is_failure(Value outcome) {
        bool failure = detail::is(outcome.peek("type"), "timeout");
        outcome.members([&](Text key, Value value) {
            failure = failure || (detail::is(key, "exit_code") && this->is_nonzero(value));
        });
        return failure;
    }

    // Old Codex logs write `{"content": ..., "success": ...}`. Of what else may be in it only strings can be replaced
    // by one.
    void read_payload(Value payload, Entry& result) {
        this->begin_pieces(payload, result, "/output");
        payload.members([&](Text key, Value value) {
            if (detail::is(key, "success")) {
                result.error = result.error || (value.type() == JsonType::boolean && !value.is_true());
                says_success_ = value.is_true();
            } else if (value.type() == JsonType::string) {
                this->read_piece(value, result, {.name = key});
            }
        });
    }

    static Part::Kind kind_of(Text type) {
        return detail::is_one_of(type, "input_image", "computer_screenshot") ? Part::Kind::image
               : detail::is(type, "input_file")                              ? Part::Kind::document
                                                                             : Part::Kind::other;
    }

    static bool is_program(Value caller) {
        return caller.type() != JsonType::null && !detail::is(caller.peek("type"), "direct");
    }

    // without an id nothing tells what belongs together
    void arm(Text id, std::size_t call, Tool tool) {
        if (!id.empty()) { pairs_.arm(id, call, static_cast<std::uint8_t>(tool)); }
    }
    std::size_t answered_by(Text id, Tool tool) {
        if (id.empty()) { return none; }
        const auto answered = [this](std::size_t call) { return out_.all()[call].peer != none; };
        return pairs_.answer(id, answered, static_cast<std::uint8_t>(tool));
    }

    using Base::out_;
    using Base::pairs_;
    using Base::scratch_;
    bool says_success_ = false;              // the result that is read
    std::vector<std::size_t> programmatic_;  // calls that a program made, not the model
    std::size_t compacted_ = none;           // entry of the first compaction item
};

}  // namespace coppice
