// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace coppice::inline v0 {

/// Reads a Gemini generateContent request (a body with `contents`, or the array alone) into a transcript. Names may be
/// spelled either way that proto JSON has, `functionCall` and `function_call`, also mixed; null is an absent member.
///
/// Known and open to change: the `args` of a `functionCall`, and of a `functionResponse` the members of `response`,
/// each on its own, so that it stays the object that it has to be, and its `parts`, which become an empty array; of
/// user contents, parts that hold an image and nothing else, for a policy that is meant for them. Kept as they are:
/// what users and the model say; thoughts; signatures, which stand beside what changes; code that the server runs, its
/// own tools and their answers; a response that is no object; a response that refers to its `parts` (`$ref`); parts with
/// no known content or with two; every object that has two members of one name, and all that it holds.
template <json_cursor Value>
class GeminiReader : private detail::Reader<Value> {
    using Base = detail::Reader<Value>;

public:
    /// Reads into this transcript.
    GeminiReader(Transcript& transcript, detail::ReaderScratch& scratch) : Base(transcript, scratch) {}

    /// Why the body is not one of this dialect; empty when it is.
    std::string_view read(Value body, bool) {
        out_.block = {.type = {}, .text_key = "text", .mark_keys = {}};
        const std::string_view refusal = this->read_body(
            body, "contents", "no list of contents",
            [this](Value contents) { contents.elements([this](Value content) { read_message(content); }); },
            [](Text, Value) {});
        if (!refusal.empty()) { return refusal; }
        out_.dialect = name_of(Dialect::gemini);
        return {};
    }

private:
    enum class Data : std::uint8_t { nothing, text, media, call, response, other };

    static Data data_of(Text key) {
        if (detail::is(key, "text")) { return Data::text; }
        if (detail::is_one_of(key, "inlineData", "inline_data", "fileData", "file_data")) { return Data::media; }
        if (detail::is_one_of(key, "functionCall", "function_call")) { return Data::call; }
        if (detail::is_one_of(key, "functionResponse", "function_response")) { return Data::response; }
        const bool server = detail::is_one_of(key, "executableCode", "executable_code", "codeExecutionResult",
                                              "code_execution_result", "toolCall", "tool_call",
                                              "toolResponse", "tool_response");
        return server ? Data::other : Data::nothing;
    }

    // without a role it is the user's
    static Role role_of(Text role) {
        return detail::is(role, "model")                                     ? Role::assistant
               : role.empty() || detail::is_one_of(role, "user", "function") ? Role::user
                                                                             : Role::other;
    }

    void read_message(Value content) {
        if (this->begin_message(role_of(content.peek("role")), content.node())) { responses_ = 0; }
        content.members([this](Text key, Value parts) {
            if (!detail::is(key, "parts")) { return; }
            std::size_t block = 0;
            parts.elements([&](Value part) { read_block(part, block++); });
        });
        this->end_message(content.repeats_keys());
    }

    void read_block(Value part, std::size_t index) {
        Data data = Data::nothing;
        bool thought = false;
        part.members([&](Text key, Value value) {
            thought = thought || (detail::is(key, "thought") && value.is_true());
            Data found = value.type() == JsonType::null ? Data::nothing : data_of(key);
            const bool function = found == Data::call || found == Data::response;
            if (function && value.type() != JsonType::object) { found = Data::other; }
            if (found != Data::nothing) { data = data == Data::nothing ? found : Data::other; }
        });
        const bool speech = data == Data::text || data == Data::media;
        if (role_ == Role::assistant && data == Data::call) {
            Entry& call = this->add(Kind::call, index);
            call.immutable = part.repeats_keys();
            part.members([&](Text key, Value value) {
                if (data_of(key) == Data::call) { read_call(value, call, detail::is(key, "functionCall")); }
            });
        } else if (role_ == Role::user && data == Data::response) {
            Entry& result = this->add(Kind::result, index);
            result.immutable = part.repeats_keys();
            part.members([&](Text key, Value value) {
                if (data_of(key) == Data::response) {
                    read_result(value, result, detail::is(key, "functionResponse"));
                }
            });
        } else if (data == Data::media && role_ == Role::user && is_image(part)) {
            this->add_image(part, index, {});
        } else if (speech && !(role_ == Role::assistant && thought)) {
            this->add_speech(index);
        } else {
            user_spoke_ = user_spoke_ || role_ == Role::user;
            this->add(speech ? Kind::reasoning : Kind::opaque, index);
        }
    }

    // An image alone: a signature, or whatever else stands beside it, would be lost with it. Sound and documents come
    // in the same shape.
    bool is_image(Value part) {
        constexpr std::string_view prefix = "image/";
        std::size_t images = 0;
        std::size_t others = 0;
        part.members([&](Text key, Value value) {
            if (data_of(key) != Data::media) {
                others += !detail::is_one_of(key, "mediaResolution", "media_resolution");
                return;
            }
            value.members([&](Text name, Value type) {
                if (!detail::is_one_of(name, "mimeType", "mime_type")) { return; }
                ++(detail::beginning(type.text(), prefix.size(), scratch_) == prefix ? images : others);
            });
        });
        return images == 1 && others == 0;
    }

    void read_call(Value value, Entry& call, bool camel_case) {
        call.immutable = call.immutable || value.repeats_keys();
        value.members([&](Text key, Value member) {
            if (detail::is(key, "id")) {
                call.id = member.text();
            } else if (detail::is(key, "name")) {
                call.tool = member.text();
            } else if (detail::is(key, "args")) {
                this->read_input(member, call, camel_case ? "/functionCall/args" : "/function_call/args",
                                 false);
            }
        });
        this->arm(call, true);
    }

    void read_result(Value value, Entry& result, bool camel_case) {
        result.immutable = result.immutable || value.repeats_keys();
        std::size_t media = 0;
        value.members([&](Text key, Value member) {
            if (detail::is(key, "id")) {
                result.id = member.text();
            } else if (detail::is(key, "name")) {
                result.tool = member.text();
            } else if (detail::is(key, "parts")) {
                member.elements([&media](Value) { ++media; });
                result.immutable = result.immutable || member.holds_repeated_keys();
                // nobody knows any more what made two such results differ
                if (member.type() == JsonType::array && media == 0) { result.elided = 1; }
            } else if (detail::is(key, "response")) {
                begin_response(member, result,
                               camel_case ? "/functionResponse/response" : "/function_response/response");
            }
        });
        const bool pieces = result.form == Form::pieces;
        const bool refers = pieces && media > 0 && out_.source->count_members(result.content, "$ref") > 0;
        result.immutable = result.immutable || !pieces || refers;
        // in the order of the document, as everything that may be edited
        value.members([&](Text key, Value member) {
            if (pieces && media > 0 && detail::is(key, "parts")) { add_media(key, member, media, result); }
            if (pieces && detail::is(key, "response")) { read_response(member, result); }
        });
        const std::size_t call = call_of(result.id, result.tool);
        if (call != none && result.tool.empty()) {
            // who answers without a name is not told by order alone surely enough to cut the call
            Entry& asked = out_.all()[call];
            const bool by_id = !result.id.empty() && same_text(result.id, asked.id);
            asked.immutable = asked.immutable || !by_id;
        }
        this->link(result, call);
    }

    void begin_response(Value response, Entry& result, std::string_view path) {
        if (response.type() == JsonType::object) {
            this->begin_pieces(response, result, path);
            return;
        }
        result.form = Form::other;
        result.content = response.node();
        result.path = path;
    }

    void read_response(Value response, Entry& result) {
        result.outcome_known = false;
        response.members([&](Text key, Value value) {
            this->take(outcome_of(key, value), result);
            Field place;
            place.name = key;
            this->read_piece(value, result, place);
        });
    }

    // what a member of the response says of the call, in the ways that clients have
    detail::Outcome outcome_of(Text key, Value value) {
        using enum detail::Outcome;
        const JsonType type = value.type();
        if (detail::is(key, "error")) { return tells_failure(value) ? failed : unsaid; }
        if (detail::is_one_of(key, "output", "result") && type == JsonType::string) {
            return detail::said_outcome(value.text(), scratch_);
        }
        if (detail::is_one_of(key, "isError", "is_error") && type == JsonType::boolean) {
            return value.is_true() ? failed : ok;
        }
        if (detail::is(key, "success") && type == JsonType::boolean) { return value.is_true() ? ok : failed; }
        if (detail::is_one_of(key, "exit_code", "exitCode") && type == JsonType::number) {
            return this->is_nonzero(value) ? failed : ok;
        }
        return unsaid;
    }

    // clients that always write the key have one of these where all went well
    static bool tells_failure(Value error) {
        const JsonType type = error.type();
        return type != JsonType::null && !(type == JsonType::boolean && !error.is_true()) &&
               !(type == JsonType::string && error.text().empty());
    }

    void add_media(Text key, Value list, std::size_t count, Entry& result) {
        Part& part = out_.parts.emplace_back();
        part.kind = Part::Kind::image;
        part.node = list.node();
        Field& place = out_.fields.emplace_back();
        place.name = key;
        ++result.part_count;
        ++result.field_count;
        result.images = count;
    }

    // Responses come in the order of their calls. One without an id answers the call in its place, if that is of its
    // tool, or else the first one of its tool.
    std::size_t call_of(Text id, Text tool) {
        const std::size_t place = responses_++;
        if (id.empty() && place < calls_.size()) {
            const Entry& call = out_.all()[calls_[place]];
            if (call.peer == none && same_text(call.tool, tool)) { return calls_[place]; }
        }
        return this->find_call(id, tool);
    }

    using Base::calls_;
    using Base::out_;
    using Base::role_;
    using Base::scratch_;
    using Base::user_spoke_;
    std::size_t responses_ = 0;  // to the calls of this turn
};

}  // namespace coppice
