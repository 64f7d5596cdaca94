// SPDX-License-Identifier: MIT
// The sessions of session_generator.hpp as other providers' clients would send them: the same calls and results,
// in the shape and by the rules of each.
//
// Everywhere but in `anthropic`:
//   - tools that the server runs, and their blocks, are left out; a tool_reference becomes a text
//   - a document that the shape cannot hold becomes a text, an image is left out
//   - a result of which nothing remains is a short text in parentheses where the shape wants one, and empty where
//     it may be empty: openai_responses, gemini, ollama
//   - cache marks are dropped, but for `bedrock` and `openrouter`

#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice_examples {

/// Whose request it is.
enum class SessionDialect : std::uint8_t {
    anthropic,         ///< Messages: the generated body itself
    openai_chat,       ///< Chat Completions. Thinking, error states and images in results are left out.
    openai_responses,  ///< Responses, stateless: thinking is a reasoning item with encrypted_content
    gemini,            ///< generateContent: each step is signed, by its thinking if it has one
    bedrock,     ///< Converse: cache marks are blocks; at most 20 images and 5 documents, the first ones
    ollama,      ///< Its own /api/chat: contents are strings, arguments objects
    mistral,     ///< Chat with ids of 9 characters; an assistant message parts results from the user's text
    deepseek,    ///< Chat with reasoning_content, all contents are strings
    openrouter,  ///< Chat with reasoning_details and cache_control
    legacy_functions,  ///< Chat with function_call: no ids, and parallel calls are made one after the other
};

inline constexpr std::array<SessionDialect, 10> session_dialects{
    SessionDialect::anthropic,       SessionDialect::openai_chat, SessionDialect::openai_responses,
    SessionDialect::gemini,          SessionDialect::bedrock,     SessionDialect::ollama,
    SessionDialect::mistral,         SessionDialect::deepseek,    SessionDialect::openrouter,
    SessionDialect::legacy_functions};

/// "openai-chat", and so on.
constexpr std::string_view name_of(SessionDialect dialect) {
    switch (dialect) {
        case SessionDialect::anthropic: return "anthropic";
        case SessionDialect::openai_chat: return "openai-chat";
        case SessionDialect::openai_responses: return "openai-responses";
        case SessionDialect::gemini: return "gemini";
        case SessionDialect::bedrock: return "bedrock";
        case SessionDialect::ollama: return "ollama";
        case SessionDialect::mistral: return "mistral";
        case SessionDialect::deepseek: return "deepseek";
        case SessionDialect::openrouter: return "openrouter";
        case SessionDialect::legacy_functions: return "legacy-functions";
    }
    return {};
}

constexpr std::optional<SessionDialect> session_dialect_named(std::string_view name) {
    for (const SessionDialect dialect : session_dialects) {
        if (name_of(dialect) == name) { return dialect; }
    }
    return std::nullopt;
}

struct RenderOptions {
    /// The ids that a client may leave out: of calls and results in gemini and ollama, of items other than reasoning in
    /// openai_responses.
    bool ids = true;
    /// In openai_responses, Bash is the shell tool (without the description; error texts are in stderr) and Edit is the
    /// custom tool apply_patch. In bedrock, a result text that is a JSON object is a json block.
    bool typed_items = false;
    bool snake_case = false;  ///< gemini: function_call instead of functionCall, and so on
};

namespace detail {

/// A text, image or document.
struct SessionPart {
    enum class Kind : std::uint8_t { text, image, document };

    Kind kind = Kind::text;
    std::string text;  ///< of a document: its title
    std::string media_type;
    std::string data;  ///< base64
    bool is_marked = false;
};

struct SessionCall {
    std::string id;
    std::string name;
    nlohmann::ordered_json input;
};

struct SessionResult {
    SessionCall call;
    std::vector<SessionPart> parts;
    bool is_list = false;          ///< it was an array of blocks
    std::optional<bool> is_error;  ///< as far as it was said
    bool is_marked = false;        ///< so is one of the parts then, if there are any
};

struct SessionThought {
    std::string text;       ///< empty if redacted
    std::string signature;  ///< or the redacted data
    bool is_redacted = false;
};

/// A message. The user's results come before the parts, the assistant's calls after them.
struct SessionTurn {
    bool is_user = false;
    bool is_string = false;  ///< the content was a string
    std::vector<SessionThought> thoughts;
    std::vector<SessionPart> parts;
    std::vector<SessionCall> calls;
    std::vector<SessionResult> results;
};

/// What a dialect has room for.
struct SessionRoom {
    std::size_t images = 0;  ///< in results
    std::size_t documents = 0;
    bool user_images = true;
    bool empty_results = false;
};

inline constexpr std::size_t room_for_all = std::numeric_limits<std::size_t>::max();

/// A generated body, read into what a dialect has room for. What comes later in a session changes nothing about
/// what came before, so that longer sessions begin like shorter ones.
class SessionReader {
public:
    using Json = nlohmann::ordered_json;

    SessionReader(const Json& body, SessionRoom room) : body_{body}, room_{room} {
        const std::vector<SessionPart> system = parts_of(body.at("system"));
        system_text_ = joined(system);
        system_is_marked_ = !system.empty() && system.back().is_marked;
        for (const Json& tool : body.at("tools")) {
            if (tool.contains("input_schema")) { tools_.push_back(&tool); }
        }
        for (const Json& message : body.at("messages")) { add_turn(message); }
    }

    const std::string& system_text() const { return system_text_; }
    bool system_is_marked() const { return system_is_marked_; }
    bool thinks() const { return body_.contains("thinking"); }
    const Json& max_tokens() const { return body_.at("max_tokens"); }
    const Json& stream() const { return body_.at("stream"); }
    const std::vector<const Json*>& tools() const { return tools_; }
    const std::vector<SessionTurn>& turns() const { return turns_; }

    static std::string joined(const std::vector<SessionPart>& parts) {
        std::string out;
        bool is_first = true;
        for (const SessionPart& part : parts) {
            if (part.kind == SessionPart::Kind::text) {
                out += is_first ? "" : "\n";
                out += part.text;
                is_first = false;
            }
        }
        return out;
    }

private:
    static std::string string_at(const Json& object, const char* key) {
        return object.contains(key) ? object.at(key).get<std::string>() : std::string{};
    }

    static std::vector<SessionPart> parts_of(const Json& content) {
        using Kind = SessionPart::Kind;
        std::vector<SessionPart> parts;
        if (content.is_string()) {
            if (!content.get_ref<const std::string&>().empty()) {
                parts.push_back({Kind::text, content.get<std::string>(), {}, {}, false});
            }
            return parts;
        }
        for (const Json& block : content) {
            const std::string& type = block.at("type").get_ref<const std::string&>();
            const bool is_marked = block.contains("cache_control");
            if (type == "text") {
                parts.push_back({Kind::text, string_at(block, "text"), {}, {}, is_marked});
            } else if (type == "tool_reference") {
                parts.push_back(
                    {Kind::text, "(loaded tool " + string_at(block, "tool_name") + ")", {}, {}, is_marked});
            } else if (type == "image" || type == "document") {
                const Json& source = block.at("source");
                parts.push_back({type == "image" ? Kind::image : Kind::document, string_at(block, "title"),
                                 string_at(source, "media_type"), string_at(source, "data"), is_marked});
            }
        }
        return parts;
    }

    void add_turn(const Json& message) {
        SessionTurn turn;
        const Json& content = message.at("content");
        turn.is_user = message.at("role") == "user";
        turn.is_string = content.is_string();
        turn.parts = parts_of(content);
        if (!room_.user_images) {
            std::erase_if(turn.parts,
                          [](const SessionPart& part) { return part.kind == SessionPart::Kind::image; });
        }
        if (!turn.is_string) {
            for (const Json& block : content) {
                const std::string& type = block.at("type").get_ref<const std::string&>();
                if (type == "thinking") {
                    turn.thoughts.push_back(
                        {string_at(block, "thinking"), string_at(block, "signature"), false});
                } else if (type == "redacted_thinking") {
                    turn.thoughts.push_back({{}, string_at(block, "data"), true});
                } else if (type == "tool_use") {
                    turn.calls.push_back(
                        {string_at(block, "id"), string_at(block, "name"), block.at("input")});
                    calls_[turn.calls.back().id] = turn.calls.back();
                } else if (type == "tool_result") {
                    turn.results.push_back(result_of(block));
                }
            }
        }
        turns_.push_back(std::move(turn));
    }

    SessionResult result_of(const Json& block) {
        SessionResult result;
        result.call = calls_.at(string_at(block, "tool_use_id"));
        if (block.contains("is_error")) { result.is_error = block.at("is_error").get<bool>(); }
        if (block.contains("content")) {
            result.is_list = block.at("content").is_array();
            result.parts = fitting(parts_of(block.at("content")), result.is_marked);
        }
        result.is_marked = result.is_marked || block.contains("cache_control");
        if (result.parts.empty() && !room_.empty_results) {
            result.parts.push_back({SessionPart::Kind::text, "(no output)", {}, {}, false});
        }
        if (result.is_marked && !result.parts.empty() &&
            std::none_of(result.parts.begin(), result.parts.end(),
                         [](const SessionPart& part) { return part.is_marked; })) {
            result.parts.back().is_marked = true;
        }
        return result;
    }

    /// The parts of a result for which there is room; `is_marked` is set if any of all was.
    std::vector<SessionPart> fitting(std::vector<SessionPart> parts, bool& is_marked) {
        using Kind = SessionPart::Kind;
        std::vector<SessionPart> kept;
        bool has_lost_image = false;
        for (SessionPart& part : parts) {
            is_marked = is_marked || part.is_marked;
            if (part.kind == Kind::document && documents_++ >= room_.documents) {
                part = {Kind::text, "(document " + part.text + ")", {}, {}, part.is_marked};
            }
            if (part.kind == Kind::image && images_++ >= room_.images) {
                has_lost_image = true;
            } else {
                kept.push_back(std::move(part));
            }
        }
        if (kept.empty() && has_lost_image) { kept.push_back({Kind::text, "(image)", {}, {}, false}); }
        return kept;
    }

    const Json& body_;
    const SessionRoom room_;
    std::string system_text_;
    bool system_is_marked_ = false;
    std::vector<const Json*> tools_;
    std::vector<SessionTurn> turns_;
    std::map<std::string, SessionCall> calls_;
    std::size_t images_ = 0;
    std::size_t documents_ = 0;
};

inline nlohmann::ordered_json session_data_url(const SessionPart& part) {
    return "data:" + part.media_type + ";base64," + part.data;
}

/// The Chat Completions shape and its relatives.
class ChatWriter {
public:
    using Json = nlohmann::ordered_json;
    using Kind = SessionPart::Kind;

    ChatWriter(const Json& body, SessionDialect dialect)
        : session_{body, {.user_images = dialect != SessionDialect::deepseek}}, dialect_{dialect} {}

    Json write() {
        messages_ = Json::array();
        Json system = session_.system_text();
        if (dialect_ == SessionDialect::openrouter && session_.system_is_marked()) {
            system = Json::array({text_part(session_.system_text(), true)});
        }
        messages_.push_back(Json::object({{"role", "system"}, {"content", std::move(system)}}));
        for (const SessionTurn& turn : session_.turns()) {
            if (turn.is_user) {
                add_user(turn);
            } else if (dialect_ == SessionDialect::legacy_functions) {
                add_function_calls(turn);
            } else {
                add_assistant(turn);
            }
        }
        return request();
    }

private:
    Json text_part(const std::string& text, bool is_marked) const {
        Json part = Json::object({{"type", "text"}, {"text", text}});
        if (is_marked && dialect_ == SessionDialect::openrouter) {
            part["cache_control"] = Json::object({{"type", "ephemeral"}});
        }
        return part;
    }

    Json parts(const std::vector<SessionPart>& from) const {
        Json out = Json::array();
        for (const SessionPart& part : from) {
            if (part.kind == Kind::text) {
                out.push_back(text_part(part.text, part.is_marked));
            } else if (part.kind == Kind::image) {
                out.push_back(Json::object(
                    {{"type", "image_url"}, {"image_url", Json::object({{"url", session_data_url(part)}})}}));
            }
        }
        return out;
    }

    /// Mistral wants exactly nine letters or digits. The last ones of a generated id hold its number.
    std::string id(const std::string& generated) const {
        return dialect_ == SessionDialect::mistral ? generated.substr(generated.size() - 9) : generated;
    }

    void add_user(const SessionTurn& turn) {
        for (const SessionResult& result : turn.results) { add_result(result); }
        if (turn.parts.empty()) { return; }
        if (dialect_ == SessionDialect::mistral && !turn.results.empty()) {
            messages_.push_back(Json::object({{"role", "assistant"}, {"content", "Noted."}}));
        }
        const bool is_string = turn.is_string || dialect_ == SessionDialect::deepseek;
        messages_.push_back(Json::object(
            {{"role", "user"},
             {"content", is_string ? Json(SessionReader::joined(turn.parts)) : parts(turn.parts)}}));
    }

    void add_result(const SessionResult& result) {
        if (dialect_ == SessionDialect::legacy_functions) {
            Json content = SessionReader::joined(result.parts);
            function_results_[result.call.id] = std::move(content);
            if (function_results_.size() == function_calls_.size()) { add_function_rounds(); }
            return;
        }
        Json message = Json::object({{"role", "tool"}, {"tool_call_id", id(result.call.id)}});
        if (dialect_ == SessionDialect::mistral) { message["name"] = result.call.name; }
        const bool is_list = dialect_ != SessionDialect::deepseek &&
                             (result.is_list || (dialect_ == SessionDialect::openrouter && result.is_marked));
        message["content"] = is_list ? parts(result.parts) : Json(SessionReader::joined(result.parts));
        messages_.push_back(std::move(message));
    }

    void add_assistant(const SessionTurn& turn) {
        Json message = Json::object({{"role", "assistant"}, {"content", assistant_content(turn)}});
        if (dialect_ == SessionDialect::deepseek && session_.thinks() && !turn.calls.empty()) {
            // wanted with every call, empty or not
            message["reasoning_content"] = thinking_text(turn);
        }
        if (dialect_ == SessionDialect::openrouter && !turn.thoughts.empty()) {
            const std::string text = thinking_text(turn);
            if (!text.empty()) { message["reasoning"] = text; }
            message["reasoning_details"] = reasoning_details(turn);
        }
        for (const SessionCall& call : turn.calls) {
            message["tool_calls"].push_back(Json::object(
                {{"id", id(call.id)},
                 {"type", "function"},
                 {"function", Json::object({{"name", call.name}, {"arguments", call.input.dump()}})}}));
        }
        messages_.push_back(std::move(message));
    }

    Json assistant_content(const SessionTurn& turn) const {
        const std::string text = SessionReader::joined(turn.parts);
        if (dialect_ == SessionDialect::mistral) {
            const std::string thinking = thinking_text(turn);
            if (thinking.empty()) { return text; }
            Json content = Json::array();
            content.push_back(Json::object(
                {{"type", "thinking"}, {"thinking", Json::array({text_part(thinking, false)})}}));
            if (!text.empty()) { content.push_back(text_part(text, false)); }
            return content;
        }
        return text.empty() && dialect_ != SessionDialect::deepseek ? Json(nullptr) : Json(text);
    }

    static std::string thinking_text(const SessionTurn& turn) {
        std::string out;
        for (const SessionThought& thought : turn.thoughts) { out += thought.text; }
        return out;
    }

    static Json reasoning_details(const SessionTurn& turn) {
        Json details = Json::array();
        for (const SessionThought& thought : turn.thoughts) {
            Json detail;
            if (thought.is_redacted) {
                detail = Json::object({{"type", "reasoning.encrypted"}, {"data", thought.signature}});
            } else {
                detail = Json::object(
                    {{"type", "reasoning.text"}, {"text", thought.text}, {"signature", thought.signature}});
            }
            detail["format"] = "anthropic-claude-v1";
            detail["index"] = details.size();
            details.push_back(std::move(detail));
        }
        return details;
    }

    // One call a message: the calls of a step wait for their results.

    void add_function_calls(const SessionTurn& turn) {
        function_text_ = SessionReader::joined(turn.parts);
        function_calls_ = turn.calls;
        function_results_.clear();
        if (turn.calls.empty()) {
            messages_.push_back(Json::object({{"role", "assistant"}, {"content", function_text_}}));
        }
    }

    void add_function_rounds() {
        for (const SessionCall& call : function_calls_) {
            Json content = function_text_.empty() ? Json(nullptr) : Json(std::exchange(function_text_, {}));
            messages_.push_back(Json::object(
                {{"role", "assistant"},
                 {"content", std::move(content)},
                 {"function_call", Json::object({{"name", call.name}, {"arguments", call.input.dump()}})}}));
            messages_.push_back(Json::object({{"role", "function"},
                                              {"name", call.name},
                                              {"content", std::move(function_results_.at(call.id))}}));
        }
    }

    Json request() {
        Json tools = Json::array();
        for (const Json* const tool : session_.tools()) {
            Json function = Json::object({{"name", tool->at("name")},
                                          {"description", tool->at("description")},
                                          {"parameters", tool->at("input_schema")}});
            tools.push_back(dialect_ == SessionDialect::legacy_functions
                                ? std::move(function)
                                : Json::object({{"type", "function"}, {"function", std::move(function)}}));
        }
        Json body = Json::object({{"model", model()}, {"messages", std::move(messages_)}});
        body[dialect_ == SessionDialect::legacy_functions ? "functions" : "tools"] = std::move(tools);
        body[dialect_ == SessionDialect::openai_chat ? "max_completion_tokens" : "max_tokens"] =
            session_.max_tokens();
        if (session_.thinks() && dialect_ == SessionDialect::deepseek) {
            body["thinking"]["type"] = "enabled";
        }
        if (session_.thinks() && dialect_ == SessionDialect::openrouter) {
            body["reasoning"]["enabled"] = true;
        }
        body["stream"] = session_.stream();
        return body;
    }

    std::string_view model() const {
        switch (dialect_) {
            case SessionDialect::mistral: return "magistral-medium-latest";
            case SessionDialect::deepseek: return "deepseek-chat";
            case SessionDialect::openrouter: return "anthropic/claude-sonnet-4.6";
            case SessionDialect::legacy_functions: return "gpt-4-0613";
            default: return "gpt-5.1";
        }
    }

    const SessionReader session_;
    const SessionDialect dialect_;
    Json messages_;
    std::string function_text_;
    std::vector<SessionCall> function_calls_;
    std::map<std::string, Json> function_results_;
};

class OllamaWriter {
public:
    using Json = nlohmann::ordered_json;

    OllamaWriter(const Json& body, const RenderOptions& options)
        : session_{body, {.images = room_for_all, .empty_results = true}}, options_{options} {}

    Json write() const {
        Json messages = Json::array();
        messages.push_back(Json::object({{"role", "system"}, {"content", session_.system_text()}}));
        for (const SessionTurn& turn : session_.turns()) {
            for (const SessionResult& result : turn.results) {
                Json message = content_message("tool", result.parts);
                message["tool_name"] = result.call.name;
                if (options_.ids) { message["tool_call_id"] = result.call.id; }
                messages.push_back(std::move(message));
            }
            if (turn.is_user && turn.parts.empty()) { continue; }
            Json message = content_message(turn.is_user ? "user" : "assistant", turn.parts);
            for (const SessionThought& thought : turn.thoughts) {
                if (!thought.is_redacted) { message["thinking"] = thought.text; }
            }
            for (const SessionCall& call : turn.calls) {
                Json made = Json::object();
                if (options_.ids) { made["id"] = call.id; }
                made["function"] = Json::object({{"name", call.name}, {"arguments", call.input}});
                message["tool_calls"].push_back(std::move(made));
            }
            messages.push_back(std::move(message));
        }
        Json tools = Json::array();
        for (const Json* const tool : session_.tools()) {
            tools.push_back(
                Json::object({{"type", "function"},
                              {"function", Json::object({{"name", tool->at("name")},
                                                         {"description", tool->at("description")},
                                                         {"parameters", tool->at("input_schema")}})}}));
        }
        return Json::object({{"model", "qwen3-coder:30b"},
                             {"messages", std::move(messages)},
                             {"tools", std::move(tools)},
                             {"think", session_.thinks()},
                             {"options", Json::object({{"num_predict", session_.max_tokens()}})},
                             {"stream", session_.stream()}});
    }

private:
    static Json content_message(std::string_view role, const std::vector<SessionPart>& parts) {
        Json message = Json::object({{"role", role}, {"content", SessionReader::joined(parts)}});
        for (const SessionPart& part : parts) {
            if (part.kind == SessionPart::Kind::image) { message["images"].push_back(part.data); }
        }
        return message;
    }

    const SessionReader session_;
    const RenderOptions options_;
};

class ResponsesWriter {
public:
    using Json = nlohmann::ordered_json;
    using Kind = SessionPart::Kind;

    ResponsesWriter(const Json& body, const RenderOptions& options)
        : session_{body, {.images = room_for_all, .documents = room_for_all, .empty_results = true}},
          options_{options} {}

    Json write() {
        items_ = Json::array();
        for (const SessionTurn& turn : session_.turns()) {
            for (const SessionResult& result : turn.results) { add_result(result); }
            for (const SessionThought& thought : turn.thoughts) {
                Json summary = Json::array();
                if (!thought.is_redacted) {
                    summary.push_back(Json::object({{"type", "summary_text"}, {"text", thought.text}}));
                }
                items_.push_back(Json::object({{"type", "reasoning"},
                                               {"id", "rs_" + std::to_string(++ids_)},
                                               {"summary", std::move(summary)},
                                               {"encrypted_content", thought.signature}}));
            }
            if (!turn.parts.empty()) { add_message(turn); }
            for (const SessionCall& call : turn.calls) { add_call(call); }
        }
        return request();
    }

private:
    Json item(std::string_view type, std::string_view id_prefix) {
        Json made = Json::object({{"type", type}});
        if (options_.ids) { made["id"] = std::string{id_prefix} + std::to_string(++ids_); }
        return made;
    }

    bool is_shell(const SessionCall& call) const { return options_.typed_items && call.name == "Bash"; }
    bool is_patch(const SessionCall& call) const { return options_.typed_items && call.name == "Edit"; }

    static Json input_parts(const std::vector<SessionPart>& parts) {
        Json out = Json::array();
        for (const SessionPart& part : parts) {
            if (part.kind == Kind::text) {
                out.push_back(Json::object({{"type", "input_text"}, {"text", part.text}}));
            } else if (part.kind == Kind::image) {
                out.push_back(Json::object(
                    {{"type", "input_image"}, {"image_url", session_data_url(part)}, {"detail", "auto"}}));
            } else {
                out.push_back(Json::object({{"type", "input_file"},
                                            {"filename", part.text.substr(part.text.rfind('/') + 1)},
                                            {"file_data", session_data_url(part)}}));
            }
        }
        return out;
    }

    void add_message(const SessionTurn& turn) {
        if (turn.is_user && turn.is_string) {
            items_.push_back(
                Json::object({{"role", "user"}, {"content", SessionReader::joined(turn.parts)}}));
            return;
        }
        if (turn.is_user) {
            items_.push_back(
                Json::object({{"type", "message"}, {"role", "user"}, {"content", input_parts(turn.parts)}}));
            return;
        }
        Json content = Json::array();
        for (const SessionPart& part : turn.parts) {
            content.push_back(
                Json::object({{"type", "output_text"}, {"text", part.text}, {"annotations", Json::array()}}));
        }
        Json message = item("message", "msg_");
        message["role"] = "assistant";
        message["status"] = "completed";
        message["content"] = std::move(content);
        items_.push_back(std::move(message));
    }

    void add_call(const SessionCall& call) {
        if (is_shell(call)) {
            Json made = item("shell_call", "sh_");
            made["call_id"] = call.id;
            made["action"]["commands"] = Json::array({call.input.at("command")});
            if (call.input.contains("timeout")) {
                made["action"]["timeout_ms"] = call.input.at("timeout");
                made["action"]["max_output_length"] = most_shell_output;
            }
            made["status"] = "completed";
            items_.push_back(std::move(made));
            return;
        }
        Json made = is_patch(call) ? item("custom_tool_call", "ctc_") : item("function_call", "fc_");
        made["call_id"] = call.id;
        made["name"] = is_patch(call) ? "apply_patch" : call.name;
        if (is_patch(call)) {
            made["input"] = patch_of(call.input);
        } else {
            made["arguments"] = call.input.dump();
        }
        items_.push_back(std::move(made));
    }

    static std::string patch_of(const Json& edit) {
        std::string patch =
            "*** Begin Patch\n*** Update File: " + edit.at("file_path").get<std::string>() + "\n@@\n";
        add_lines(patch, '-', edit.at("old_string").get_ref<const std::string&>());
        add_lines(patch, '+', edit.at("new_string").get_ref<const std::string&>());
        return patch + "*** End Patch";
    }

    static void add_lines(std::string& out, char sign, std::string_view text) {
        while (!text.empty()) {
            const std::size_t size = std::min(text.find('\n'), text.size());
            out += sign;
            out += text.substr(0, size);
            out += '\n';
            text.remove_prefix(std::min(size + 1, text.size()));
        }
    }

    void add_result(const SessionResult& result) {
        if (is_shell(result.call)) {
            add_shell_result(result);
            return;
        }
        Json made = item(is_patch(result.call) ? "custom_tool_call_output" : "function_call_output",
                         is_patch(result.call) ? "ctco_" : "fco_");
        made["call_id"] = result.call.id;
        made["output"] =
            result.is_list ? input_parts(result.parts) : Json(SessionReader::joined(result.parts));
        items_.push_back(std::move(made));
    }

    void add_shell_result(const SessionResult& result) {
        const bool is_error = result.is_error.value_or(false);
        Json chunks = Json::array();
        std::vector<std::string> texts;
        for (const SessionPart& part : result.parts) { texts.push_back(part.text); }
        if (texts.empty()) { texts.emplace_back(); }
        for (const std::string& text : texts) {
            Json outcome = Json::object({{"type", "exit"}, {"exit_code", is_error ? 1 : 0}});
            if (is_error && text.find("timed out") != std::string::npos) {
                outcome = Json::object({{"type", "timeout"}});
            }
            chunks.push_back(Json::object({{"stdout", is_error ? "" : text},
                                           {"stderr", is_error ? text : ""},
                                           {"outcome", std::move(outcome)}}));
        }
        Json made = item("shell_call_output", "sho_");
        made["call_id"] = result.call.id;
        made["output"] = std::move(chunks);
        if (result.call.input.contains("timeout")) { made["max_output_length"] = most_shell_output; }
        items_.push_back(std::move(made));
    }

    Json request() {
        Json tools = Json::array();
        for (const Json* const tool : session_.tools()) {
            const Json& name = tool->at("name");
            if (options_.typed_items && name == "Bash") {
                tools.push_back(Json::object({{"type", "shell"}}));
            } else if (options_.typed_items && name == "Edit") {
                tools.push_back(Json::object(
                    {{"type", "custom"}, {"name", "apply_patch"}, {"description", tool->at("description")}}));
            } else {
                tools.push_back(Json::object({{"type", "function"},
                                              {"name", name},
                                              {"description", tool->at("description")},
                                              {"parameters", tool->at("input_schema")},
                                              {"strict", false}}));
            }
        }
        Json body = Json::object({{"model", "gpt-5.1-codex"},
                                  {"instructions", session_.system_text()},
                                  {"input", std::move(items_)},
                                  {"tools", std::move(tools)},
                                  {"parallel_tool_calls", true}});
        if (session_.thinks()) {
            body["reasoning"] = Json::object({{"effort", "medium"}, {"summary", "auto"}});
            body["include"] = Json::array({"reasoning.encrypted_content"});
        }
        body["max_output_tokens"] = session_.max_tokens();
        body["store"] = false;
        body["stream"] = session_.stream();
        return body;
    }

    static constexpr int most_shell_output = 1'000'000;  // characters

    const SessionReader session_;
    const RenderOptions options_;
    Json items_;
    std::size_t ids_ = 0;
};

class GeminiWriter {
public:
    using Json = nlohmann::ordered_json;
    using Kind = SessionPart::Kind;

    GeminiWriter(const Json& body, const RenderOptions& options)
        : session_{body, {.images = room_for_all, .documents = room_for_all, .empty_results = true}},
          options_{options} {}

    Json write() {
        contents_ = Json::array();
        for (const SessionTurn& turn : session_.turns()) {
            if (turn.is_user) {
                add_results(turn);
                add_content("user", parts(turn.parts));
            } else {
                add_model(turn);
            }
        }
        Json functions = Json::array();
        for (const Json* const tool : session_.tools()) {
            functions.push_back(Json::object({{"name", tool->at("name")},
                                              {"description", tool->at("description")},
                                              {key("parametersJsonSchema"), tool->at("input_schema")}}));
        }
        Json body;
        body[key("systemInstruction")]["parts"] =
            Json::array({Json::object({{"text", session_.system_text()}})});
        body["contents"] = std::move(contents_);
        body["tools"] = Json::array({Json::object({{key("functionDeclarations"), std::move(functions)}})});
        Json& config = body[key("generationConfig")];
        config[key("maxOutputTokens")] = session_.max_tokens();
        if (session_.thinks()) { config[key("thinkingConfig")][key("includeThoughts")] = true; }
        return body;
    }

private:
    /// A name of the schema, in the spelling asked for.
    std::string key(std::string_view camel_case) const {
        std::string out;
        for (const char c : camel_case) {
            if (options_.snake_case && c >= 'A' && c <= 'Z') {
                out += '_';
                out += static_cast<char>(c - 'A' + 'a');
            } else {
                out += c;
            }
        }
        return out;
    }

    void add_content(std::string_view role, Json parts) {
        if (!parts.empty()) {
            contents_.push_back(Json::object({{"role", role}, {"parts", std::move(parts)}}));
        }
    }

    Json inline_data(const SessionPart& part) const {
        return Json::object(
            {{key("inlineData"), Json::object({{key("mimeType"), part.media_type}, {"data", part.data}})}});
    }

    Json parts(const std::vector<SessionPart>& from) const {
        Json out = Json::array();
        for (const SessionPart& part : from) {
            out.push_back(part.kind == Kind::text ? Json::object({{"text", part.text}}) : inline_data(part));
        }
        return out;
    }

    void add_model(const SessionTurn& turn) {
        Json made = Json::array();
        std::string signature;
        for (const SessionThought& thought : turn.thoughts) {
            if (!thought.is_redacted) {
                made.push_back(Json::object({{"text", thought.text}, {"thought", true}}));
            }
            signature = thought.signature;
        }
        for (Json& part : parts(turn.parts)) { made.push_back(std::move(part)); }
        bool is_first = true;
        for (const SessionCall& call : turn.calls) {
            Json function = Json::object();
            if (options_.ids) { function["id"] = call.id; }
            function["name"] = call.name;
            function["args"] = call.input;
            Json part = Json::object({{key("functionCall"), std::move(function)}});
            if (is_first) {
                // The first call of each step must have one; letters and digits of an id are base64 as well.
                part[key("thoughtSignature")] =
                    signature.empty() ? "CtQB" + call.id.substr(call.id.size() - 20) : signature;
                is_first = false;
            }
            made.push_back(std::move(part));
        }
        add_content("model", std::move(made));
    }

    void add_results(const SessionTurn& turn) {
        Json made = Json::array();
        for (const SessionResult& result : turn.results) {
            Json function = Json::object();
            if (options_.ids) { function["id"] = result.call.id; }
            function["name"] = result.call.name;
            function["response"] = Json::object({{result.is_error.value_or(false) ? "error" : "output",
                                                  SessionReader::joined(result.parts)}});
            for (const SessionPart& part : result.parts) {
                if (part.kind != Kind::text) { function["parts"].push_back(inline_data(part)); }
            }
            made.push_back(Json::object({{key("functionResponse"), std::move(function)}}));
        }
        add_content("user", std::move(made));
    }

    const SessionReader session_;
    const RenderOptions options_;
    Json contents_;
};

class BedrockWriter {
public:
    using Json = nlohmann::ordered_json;
    using Kind = SessionPart::Kind;

    BedrockWriter(const Json& body, const RenderOptions& options)
        : session_{body, {.images = 20, .documents = 5}}, options_{options} {}

    Json write() const {
        Json messages = Json::array();
        for (const SessionTurn& turn : session_.turns()) {
            Json content = Json::array();
            for (const SessionThought& thought : turn.thoughts) {
                content.push_back(Json::object({{"reasoningContent", reasoning(thought)}}));
            }
            for (const SessionResult& result : turn.results) { add_result(content, result); }
            for (const SessionPart& part : turn.parts) {
                content.push_back(block(part));
                add_mark(content, part.is_marked);
            }
            for (const SessionCall& call : turn.calls) {
                content.push_back(Json::object(
                    {{"toolUse",
                      Json::object({{"toolUseId", call.id}, {"name", call.name}, {"input", call.input}})}}));
            }
            messages.push_back(Json::object(
                {{"role", turn.is_user ? "user" : "assistant"}, {"content", std::move(content)}}));
        }
        Json system = Json::array({Json::object({{"text", session_.system_text()}})});
        add_mark(system, session_.system_is_marked());
        Json tools = Json::array();
        for (const Json* const tool : session_.tools()) {
            tools.push_back(Json::object(
                {{"toolSpec",
                  Json::object({{"name", tool->at("name")},
                                {"description", tool->at("description")},
                                {"inputSchema", Json::object({{"json", tool->at("input_schema")}})}})}}));
            add_mark(tools, tool->contains("cache_control"));
        }
        Json body = Json::object({{"system", std::move(system)},
                                  {"messages", std::move(messages)},
                                  {"toolConfig", Json::object({{"tools", std::move(tools)}})},
                                  {"inferenceConfig", Json::object({{"maxTokens", session_.max_tokens()}})}});
        if (session_.thinks()) { body["additionalModelRequestFields"]["thinking"]["type"] = "adaptive"; }
        return body;
    }

private:
    static void add_mark(Json& blocks, bool is_marked) {
        if (is_marked) {
            blocks.push_back(Json::object({{"cachePoint", Json::object({{"type", "default"}})}}));
        }
    }

    static Json reasoning(const SessionThought& thought) {
        if (thought.is_redacted) { return Json::object({{"redactedContent", thought.signature}}); }
        return Json::object(
            {{"reasoningText", Json::object({{"text", thought.text}, {"signature", thought.signature}})}});
    }

    /// Letters, digits, single spaces, hyphens, parentheses and square brackets are allowed.
    static std::string document_name(std::string_view title) {
        std::string name;
        for (const char c : title) {
            const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            name += is_word ? c : '-';
        }
        return name;
    }

    static Json block(const SessionPart& part) {
        if (part.kind == Kind::text) { return Json::object({{"text", part.text}}); }
        const std::string format = part.media_type.substr(part.media_type.find('/') + 1);
        Json source = Json::object({{"bytes", part.data}});
        if (part.kind == Kind::image) {
            return Json::object(
                {{"image", Json::object({{"format", format}, {"source", std::move(source)}})}});
        }
        return Json::object({{"document", Json::object({{"format", format},
                                                        {"name", document_name(part.text)},
                                                        {"source", std::move(source)}})}});
    }

    void add_result(Json& content, const SessionResult& result) const {
        Json blocks = Json::array();
        for (const SessionPart& part : result.parts) {
            Json value;
            if (options_.typed_items && part.kind == Kind::text && part.text.starts_with('{')) {
                value = Json::parse(part.text, nullptr, false);
            }
            blocks.push_back(value.is_object() ? Json::object({{"json", std::move(value)}}) : block(part));
        }
        Json made = Json::object({{"toolUseId", result.call.id}, {"content", std::move(blocks)}});
        if (result.is_error) { made["status"] = *result.is_error ? "error" : "success"; }
        content.push_back(Json::object({{"toolResult", std::move(made)}}));
        add_mark(content, result.is_marked);  // its content has no room for one
    }

    const SessionReader session_;
    const RenderOptions options_;
};

}  // namespace detail

/// A request that says the same as `body`, which is one of make_session(). Order, arguments and texts stay; see the
/// top of the file for what does not.
inline nlohmann::ordered_json render(SessionDialect dialect, const nlohmann::ordered_json& body,
                                     const RenderOptions& options = {}) {
    switch (dialect) {
        case SessionDialect::anthropic: return body;
        case SessionDialect::openai_responses: return detail::ResponsesWriter{body, options}.write();
        case SessionDialect::gemini: return detail::GeminiWriter{body, options}.write();
        case SessionDialect::bedrock: return detail::BedrockWriter{body, options}.write();
        case SessionDialect::ollama: return detail::OllamaWriter{body, options}.write();
        default: return detail::ChatWriter{body, dialect}.write();
    }
}

}  // namespace coppice_examples
