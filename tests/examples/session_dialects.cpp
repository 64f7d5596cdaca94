// SPDX-License-Identifier: MIT
// A session says the same in every dialect: each body is read back, by code that shares nothing with what wrote it.

#include "../../examples/session_dialects.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "../../examples/session_generator.hpp"
#include "../support/anthropic_validator.hpp"
#include "../support/bedrock_validator.hpp"
#include "../support/gemini_validator.hpp"
#include "../support/openai_chat_validator.hpp"
#include "../support/openai_responses_validator.hpp"

namespace {

using coppice_examples::make_session;
using coppice_examples::name_of;
using coppice_examples::render;
using coppice_examples::RenderOptions;
using coppice_examples::session_dialects;
using coppice_examples::SessionDialect;
using coppice_examples::SessionShape;
using Json = nlohmann::ordered_json;

Json session(std::uint64_t seed, std::size_t results) {
    SessionShape shape;
    shape.seed = seed;
    shape.results = results;
    shape.ends_with_user_text = seed % 2 == 1;
    return make_session(shape);
}

const Json& list_of(const Json& body) {
    return body.contains("input")      ? body["input"]
           : body.contains("contents") ? body["contents"]
                                       : body["messages"];
}

// --- what a body says --------------------------------------------------------------------------------------

struct Call {
    std::string id;
    std::string name;
    std::string arguments;

    bool operator==(const Call&) const = default;
};

struct Result {
    std::string id;
    std::string text;
    bool is_error = false;
    std::vector<std::string> media;  ///< base64

    bool operator==(const Result&) const = default;
};

struct Thought {
    std::string text;
    std::string signature;

    bool operator==(const Thought&) const = default;
};

struct Log {
    std::vector<std::vector<Call>> steps;
    std::vector<Result> results;
    std::vector<std::string> texts;  ///< of user and assistant
    std::vector<Thought> thoughts;

    bool operator==(const Log&) const = default;
};

std::string string_at(const Json& object, const char* key) {
    return object.contains(key) ? object.at(key).get<std::string>() : std::string{};
}

void append(std::string& text, const std::string& more) { text += (text.empty() ? "" : "\n") + more; }

void add_text(Log& log, const std::string& text) {
    if (!text.empty()) { log.texts.push_back(text); }
}

std::string after_comma(const std::string& data_url) { return data_url.substr(data_url.find(',') + 1); }

/// What a dialect is expected to keep of a session.
struct Kept {
    bool ids = true;
    bool short_ids = false;
    bool parallel = true;
    bool errors = true;
    bool images = true;
    bool documents = true;
    bool empty_results = true;
    bool thoughts = true;
    bool signatures = true;
};

Kept kept_by(SessionDialect dialect, const RenderOptions& options) {
    Kept kept;
    switch (dialect) {
        case SessionDialect::anthropic: break;
        case SessionDialect::openai_responses: kept.errors = false; break;
        case SessionDialect::gemini: kept.ids = options.ids; break;
        case SessionDialect::bedrock: kept.empty_results = false; break;
        case SessionDialect::ollama:
            kept.ids = options.ids;
            kept.documents = kept.signatures = kept.errors = false;
            break;
        default: {
            const bool is_openrouter = dialect == SessionDialect::openrouter;
            kept.images = kept.documents = kept.empty_results = kept.errors = false;
            kept.signatures = is_openrouter;
            kept.short_ids = dialect == SessionDialect::mistral;
            kept.thoughts =
                is_openrouter || dialect == SessionDialect::mistral || dialect == SessionDialect::deepseek;
            kept.ids = kept.parallel = dialect != SessionDialect::legacy_functions;
        }
    }
    return kept;
}

Log read_anthropic(const Json& body, const Kept& kept) {
    const auto id_of = [&kept](const std::string& id) {
        return !kept.ids ? std::string{} : kept.short_ids ? id.substr(id.size() - 9) : id;
    };
    Log log;
    for (const Json& message : body["messages"]) {
        if (message["content"].is_string()) {
            add_text(log, message["content"]);
            continue;
        }
        std::vector<Call> calls;
        for (const Json& block : message["content"]) {
            const std::string type = block["type"];
            if (type == "text") {
                add_text(log, block["text"]);
            } else if (type == "thinking" && kept.thoughts) {
                log.thoughts.push_back(
                    {block["thinking"], kept.signatures ? string_at(block, "signature") : ""});
            } else if (type == "redacted_thinking" && kept.thoughts && kept.signatures) {
                log.thoughts.push_back({"", block["data"]});
            } else if (type == "tool_use") {
                calls.push_back({id_of(block["id"]), block["name"], block["input"].dump()});
            } else if (type == "tool_result") {
                Result result{id_of(block["tool_use_id"]), "", false, {}};
                result.is_error = kept.errors && block.contains("is_error") && block["is_error"].get<bool>();
                bool has_image = false;
                const Json content = block.contains("content") ? block["content"] : Json("");
                if (content.is_string()) {
                    result.text = content;
                } else {
                    for (const Json& part : content) {
                        const std::string kind = part["type"];
                        has_image = has_image || kind == "image";
                        if (kind == "text") {
                            append(result.text, part["text"]);
                        } else if (kind == "tool_reference") {
                            append(result.text, "(loaded tool " + string_at(part, "tool_name") + ")");
                        } else if (kind == "document" && !kept.documents) {
                            append(result.text, "(document " + string_at(part, "title") + ")");
                        } else if (kind == "document" || kept.images) {
                            result.media.push_back(part["source"]["data"]);
                        }
                    }
                }
                if (result.text.empty() && result.media.empty() && !kept.empty_results) {
                    result.text = has_image ? "(image)" : "(no output)";
                }
                log.results.push_back(std::move(result));
            }
        }
        if (!kept.parallel) {
            for (const Call& call : calls) { log.steps.push_back({call}); }
        } else if (!calls.empty()) {
            log.steps.push_back(std::move(calls));
        }
    }
    return log;
}

std::string chat_text(const Json& content) {
    if (!content.is_array()) { return content.is_null() ? std::string{} : content.get<std::string>(); }
    std::string text;
    for (const Json& part : content) {
        if (part["type"] == "text") { append(text, part["text"]); }
    }
    return text;
}

/// Chat and Ollama.
Log read_chat(const Json& body) {
    Log log;
    for (const Json& message : body["messages"]) {
        const std::string role = message["role"];
        const std::string text = chat_text(message["content"]);
        if (role == "tool" || role == "function") {
            Result result{string_at(message, "tool_call_id"), text, false, {}};
            if (message.contains("images")) {
                result.media = message["images"].get<std::vector<std::string>>();
            }
            log.results.push_back(std::move(result));
            continue;
        }
        if (role == "system" || (role == "assistant" && text == "Noted.")) { continue; }
        if (role == "assistant" && message["content"].is_array() &&
            message["content"][0]["type"] == "thinking") {
            log.thoughts.push_back({chat_text(message["content"][0]["thinking"]), ""});
        }
        for (const char* const key : {"reasoning_content", "thinking"}) {
            if (!string_at(message, key).empty()) { log.thoughts.push_back({string_at(message, key), ""}); }
        }
        if (message.contains("reasoning_details")) {
            for (const Json& detail : message["reasoning_details"]) {
                const bool is_text = detail["type"] == "reasoning.text";
                log.thoughts.push_back({string_at(detail, "text"), detail[is_text ? "signature" : "data"]});
            }
        }
        add_text(log, text);
        std::vector<Call> calls;
        const auto add_call = [&calls](const std::string& id, const Json& function) {
            const Json& arguments = function["arguments"];
            calls.push_back({id, function["name"],
                             arguments.is_string() ? Json::parse(arguments.get<std::string>()).dump()
                                                   : arguments.dump()});
        };
        if (message.contains("function_call")) { add_call("", message["function_call"]); }
        if (message.contains("tool_calls")) {
            for (const Json& call : message["tool_calls"]) {
                add_call(string_at(call, "id"), call["function"]);
            }
        }
        if (!calls.empty()) { log.steps.push_back(std::move(calls)); }
    }
    return log;
}

/// Without typed items.
Log read_responses(const Json& body) {
    Log log;
    bool in_step = false;
    for (const Json& item : body["input"]) {
        const std::string type = item.contains("type") ? item["type"].get<std::string>() : "message";
        if (type == "function_call") {
            if (!std::exchange(in_step, true)) { log.steps.emplace_back(); }
            log.steps.back().push_back(
                {item["call_id"], item["name"], Json::parse(item["arguments"].get<std::string>()).dump()});
            continue;
        }
        in_step = false;
        if (type == "reasoning") {
            const Json& summary = item["summary"];
            log.thoughts.push_back(
                {summary.empty() ? "" : summary[0]["text"].get<std::string>(), item["encrypted_content"]});
        } else if (type == "function_call_output") {
            Result result{item["call_id"], "", false, {}};
            if (item["output"].is_string()) {
                result.text = item["output"];
            } else {
                for (const Json& part : item["output"]) {
                    if (part["type"] == "input_text") {
                        append(result.text, part["text"]);
                    } else {
                        result.media.push_back(
                            after_comma(part[part["type"] == "input_image" ? "image_url" : "file_data"]));
                    }
                }
            }
            log.results.push_back(std::move(result));
        } else if (type == "message") {
            const Json& content = item["content"];
            add_text(log, content.is_string() ? content.get<std::string>() : string_at(content[0], "text"));
        }
    }
    return log;
}

Log read_gemini(const Json& body, bool is_snake_case) {
    const auto key = [is_snake_case](const char* camel, const char* snake) {
        return is_snake_case ? snake : camel;
    };
    const char* const call_key = key("functionCall", "function_call");
    const char* const response_key = key("functionResponse", "function_response");
    const char* const signature_key = key("thoughtSignature", "thought_signature");
    Log log;
    for (const Json& content : body["contents"]) {
        std::vector<Call> calls;
        Thought thought;
        for (const Json& part : content["parts"]) {
            if (part.contains("thought")) {
                thought.text = part["text"];
            } else if (part.contains("text")) {
                add_text(log, part["text"]);
            } else if (part.contains(call_key)) {
                const Json& call = part[call_key];
                CHECK(part.contains(signature_key) == calls.empty());
                if (calls.empty()) { thought.signature = part[signature_key]; }
                calls.push_back({string_at(call, "id"), call["name"], call["args"].dump()});
            } else {
                const Json& response = part[response_key];
                const bool is_error = response["response"].contains("error");
                Result result{string_at(response, "id"),
                              response["response"][is_error ? "error" : "output"],
                              is_error,
                              {}};
                if (response.contains("parts")) {
                    for (const Json& media : response["parts"]) {
                        result.media.push_back(media[key("inlineData", "inline_data")]["data"]);
                    }
                }
                log.results.push_back(std::move(result));
            }
        }
        const bool is_made_up = thought.text.empty() && thought.signature.starts_with("CtQB");
        if (!calls.empty() && !is_made_up) { log.thoughts.push_back(thought); }
        if (!calls.empty()) { log.steps.push_back(std::move(calls)); }
    }
    return log;
}

Log read_bedrock(const Json& body) {
    Log log;
    for (const Json& message : body["messages"]) {
        std::vector<Call> calls;
        for (const Json& block : message["content"]) {
            const std::string kind = block.items().begin().key();
            const Json& value = block.begin().value();
            if (kind == "text") {
                add_text(log, value);
            } else if (kind == "reasoningContent") {
                const bool is_text = value.contains("reasoningText");
                log.thoughts.push_back(
                    {is_text ? value["reasoningText"]["text"].get<std::string>() : "",
                     is_text ? value["reasoningText"]["signature"] : value["redactedContent"]});
            } else if (kind == "toolUse") {
                calls.push_back({value["toolUseId"], value["name"], value["input"].dump()});
            } else if (kind == "toolResult") {
                Result result{value["toolUseId"], "", string_at(value, "status") == "error", {}};
                for (const Json& part : value["content"]) {
                    if (part.contains("text")) {
                        append(result.text, part["text"]);
                    } else if (part.contains("json")) {
                        append(result.text, part["json"].dump());
                    } else {
                        result.media.push_back(part.begin().value()["source"]["bytes"]);
                    }
                }
                log.results.push_back(std::move(result));
            }
        }
        if (!calls.empty()) { log.steps.push_back(std::move(calls)); }
    }
    return log;
}

Log read(SessionDialect dialect, const Json& body, const RenderOptions& options) {
    switch (dialect) {
        case SessionDialect::anthropic: return read_anthropic(body, {});
        case SessionDialect::openai_responses: return read_responses(body);
        case SessionDialect::gemini: return read_gemini(body, options.snake_case);
        case SessionDialect::bedrock: return read_bedrock(body);
        default: return read_chat(body);
    }
}

// --- whether it is a request -------------------------------------------------------------------------------

std::vector<std::string> violations(SessionDialect dialect, const Json& body) {
    switch (dialect) {
        case SessionDialect::anthropic: return anthropic_validator::violations(body);
        case SessionDialect::openai_responses: return openai_responses_validator::violations(body);
        case SessionDialect::gemini: return gemini_validator::violations(body);
        case SessionDialect::bedrock: return bedrock_validator::violations(body);
        default: break;
    }
    std::vector<std::string> found = openai_chat_validator::violations(body);
    for (const std::string& finding : openai_chat_validator::deviant_violations(body)) {
        const std::string_view rule = std::string_view{finding}.substr(0, finding.find(' '));
        const bool is_for_mistral = rule == "M-V1";
        const bool is_for_ollama = rule == "O-V2";
        if (dialect == SessionDialect::mistral
                ? is_for_mistral
                : dialect == SessionDialect::deepseek && !is_for_mistral && !is_for_ollama) {
            found.push_back(finding);
        }
    }
    return found;
}

/// All that make a difference.
std::vector<RenderOptions> options_of(SessionDialect dialect) {
    switch (dialect) {
        case SessionDialect::openai_responses:
            return {{}, {.ids = false}, {.typed_items = true}, {.ids = false, .typed_items = true}};
        case SessionDialect::gemini:
            return {{}, {.ids = false}, {.snake_case = true}, {.ids = false, .snake_case = true}};
        case SessionDialect::bedrock: return {{}, {.typed_items = true}};
        case SessionDialect::ollama: return {{}, {.ids = false}};
        default: return {{}};
    }
}

std::size_t count_keys(const Json& value, std::string_view key) {
    std::size_t count = 0;
    for (const auto& field : value.items()) {
        count += value.is_object() && field.key() == key ? 1U : 0U;
        count += field.value().is_structured() ? count_keys(field.value(), key) : 0U;
    }
    return count;
}

}  // namespace

TEST_CASE("session dialects: names are unique and found again") {
    std::vector<std::string_view> names;
    for (const SessionDialect dialect : session_dialects) {
        const std::string_view name = name_of(dialect);
        CHECK(!name.empty());
        CHECK(std::find(names.begin(), names.end(), name) == names.end());
        names.push_back(name);
        CHECK(coppice_examples::session_dialect_named(name) == dialect);
    }
    CHECK(!coppice_examples::session_dialect_named(""));
    CHECK(!coppice_examples::session_dialect_named("openai"));
}

TEST_CASE("session dialects: the same session gives the same bytes") {
    const Json body = session(3, 60);
    for (const SessionDialect dialect : session_dialects) {
        CAPTURE(name_of(dialect));
        const Json made = render(dialect, body);
        CHECK((made.dump() == render(dialect, session(3, 60)).dump()));
        CHECK((made.dump() != render(dialect, session(4, 60)).dump()));
        CHECK((Json::parse(made.dump()) == made));
    }
    CHECK((render(SessionDialect::anthropic, body).dump() == body.dump()));
}

TEST_CASE("session dialects: every dialect says the same") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Json body = session(seed, 150);
        for (const SessionDialect dialect : session_dialects) {
            for (const RenderOptions& options : options_of(dialect)) {
                if (dialect == SessionDialect::openai_responses && options.typed_items) { continue; }
                CAPTURE(seed);
                CAPTURE(name_of(dialect));
                CAPTURE(options.ids);
                CAPTURE(options.snake_case);
                const Log expected = read_anthropic(body, kept_by(dialect, options));
                const Log log = read(dialect, render(dialect, body, options), options);
                REQUIRE(log.results.size() == 150);
                CHECK(log.steps.size() == expected.steps.size());
                CHECK((log.steps == expected.steps));
                CHECK((log.results == expected.results));
                CHECK((log.texts == expected.texts));
                CHECK((log.thoughts == expected.thoughts));
            }
        }
    }
}

TEST_CASE("session dialects: every rendered session is a valid request") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        for (const std::size_t results : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{150}}) {
            const Json body = session(seed, results);
            for (const SessionDialect dialect : session_dialects) {
                for (const RenderOptions& options : options_of(dialect)) {
                    CAPTURE(seed);
                    CAPTURE(results);
                    CAPTURE(name_of(dialect));
                    CHECK(violations(dialect, render(dialect, body, options)) == std::vector<std::string>{});
                }
            }
        }
    }
}

TEST_CASE("session dialects: extreme sessions are valid requests") {
    SessionShape shape;
    shape.results = 120;
    for (double* const share :
         {&shape.error_share, &shape.empty_share, &shape.image_share, &shape.document_share,
          &shape.tool_reference_share, &shape.block_list_share, &shape.thinking_share,
          &shape.mixed_turn_share, &shape.user_turn_share, &shape.server_search_share}) {
        *share = 0.5;
    }
    shape.parallel_share = 0.9;
    shape.cache_marks = 4;
    const Json everything = make_session(shape);
    shape = SessionShape{};
    shape.thinking_share = 0.0;
    shape.cache_marks = 0;
    const Json plain = make_session(shape);
    for (const SessionDialect dialect : session_dialects) {
        for (const RenderOptions& options : options_of(dialect)) {
            CAPTURE(name_of(dialect));
            CHECK(violations(dialect, render(dialect, everything, options)) == std::vector<std::string>{});
            CHECK(violations(dialect, render(dialect, plain, options)) == std::vector<std::string>{});
        }
    }
    CHECK(count_keys(render(SessionDialect::deepseek, plain), "reasoning_content") == 0);
}

TEST_CASE("session dialects: the nine characters of an id are enough") {
    std::vector<std::string> ids;
    for (const auto& step : read_chat(render(SessionDialect::mistral, session(1, 3000))).steps) {
        for (const Call& call : step) { ids.push_back(call.id); }
    }
    std::sort(ids.begin(), ids.end());
    CHECK(ids.size() == 3000);
    CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
}

TEST_CASE("session dialects: DeepSeek gets strings and the reasoning of every call") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        const Json made = render(SessionDialect::deepseek, session(seed, 150));
        for (const Json& message : made["messages"]) {
            CHECK(message["content"].is_string());
            CHECK(message.contains("reasoning_content") == message.contains("tool_calls"));
        }
    }
}

TEST_CASE("session dialects: a longer session begins like a shorter one") {
    Json body = session(5, 200);
    Json shorter = body;
    const std::size_t size = body["messages"].size() / 4 * 2 + 1;
    while (shorter["messages"].size() > size) { shorter["messages"].erase(shorter["messages"].size() - 1); }
    for (const SessionDialect dialect : session_dialects) {
        CAPTURE(name_of(dialect));
        const Json whole = render(dialect, body);
        const Json part = render(dialect, shorter);
        REQUIRE(list_of(part).size() < list_of(whole).size());
        REQUIRE(list_of(part).size() > 50);
        CHECK(std::equal(list_of(part).begin(), list_of(part).end(), list_of(whole).begin()));
        CHECK(violations(dialect, part) == std::vector<std::string>{});
    }
}

TEST_CASE("session dialects: images of the user") {
    Json body = session(2, 5);
    const Json image = Json::parse(
        R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}})");
    body["messages"][0]["content"] =
        Json::array({image, Json::parse(R"({"type":"text","text":"see there"})")});
    for (const SessionDialect dialect : session_dialects) {
        CAPTURE(name_of(dialect));
        const Json made = render(dialect, body);
        CHECK(violations(dialect, made) == std::vector<std::string>{});
        const Json& list = list_of(made);
        const bool has_system = list[0].contains("role") && list[0]["role"] == "system";
        const std::string first = list[has_system ? 1 : 0].dump();
        CHECK((first.find("see there") != std::string::npos));
        CHECK(((first.find("iVBORw0KGgo=") != std::string::npos) == (dialect != SessionDialect::deepseek)));
    }
}

TEST_CASE("session dialects: cache marks go where there is room for them") {
    SessionShape shape;
    shape.cache_marks = 4;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        shape.seed = seed;
        shape.empty_share = shape.image_share = seed % 2 == 0 ? 0.3 : 0.02;
        const Json body = make_session(shape);
        for (const SessionDialect dialect : session_dialects) {
            CAPTURE(name_of(dialect));
            const Json made = render(dialect, body);
            const bool is_bedrock = dialect == SessionDialect::bedrock;
            const bool is_openrouter = dialect == SessionDialect::openrouter;  // there, tools have none
            const bool is_anthropic = dialect == SessionDialect::anthropic;
            CHECK(count_keys(made, "cachePoint") == (is_bedrock ? 4U : 0U));
            CHECK(count_keys(made, "cache_control") == (is_anthropic ? 4U : is_openrouter ? 3U : 0U));
        }
    }
}

TEST_CASE("session dialects: Bedrock keeps the first images and documents") {
    SessionShape shape;
    shape.image_share = shape.document_share = 0.5;
    const Json made = render(SessionDialect::bedrock, make_session(shape));
    CHECK(count_keys(made, "image") == 20);
    CHECK(count_keys(made, "document") == 5);
    CHECK((list_of(made).dump().find("{\"text\":\"(document /home") != std::string::npos));
    CHECK(violations(SessionDialect::bedrock, made) == std::vector<std::string>{});
}

TEST_CASE("session dialects: shells and patches as items of their own") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        CAPTURE(seed);
        const Json body = session(seed, 150);
        const Log expected = read_anthropic(body, {});
        std::vector<Call> calls;
        for (const auto& step : expected.steps) { calls.insert(calls.end(), step.begin(), step.end()); }
        const Json made = render(SessionDialect::openai_responses, body, {.typed_items = true});
        std::size_t at_call = 0;
        std::size_t at_result = 0;
        for (const Json& item : made["input"]) {
            if (!item.contains("call_id")) { continue; }
            const std::string type = item["type"];
            if (!type.ends_with("_output")) {
                const Call& call = calls.at(at_call++);
                const Json input = Json::parse(call.arguments);
                CHECK((item["call_id"] == call.id));
                if (call.name == "Bash") {
                    CHECK(type == "shell_call");
                    CHECK((item["action"]["commands"] == Json::array({input["command"]})));
                    CHECK(item["action"].contains("timeout_ms") == input.contains("timeout"));
                } else if (call.name == "Edit") {
                    CHECK(type == "custom_tool_call");
                    CHECK((item["name"] == "apply_patch"));
                    std::string patch = item["input"];
                    std::string start =
                        "*** Begin Patch\n*** Update File: " + string_at(input, "file_path") + "\n@@\n-";
                    std::string first_line = string_at(input, "old_string");
                    first_line.resize(std::min(first_line.find('\n'), first_line.size()));
                    CHECK(patch.starts_with(start + first_line + "\n"));
                    std::string last_line = string_at(input, "new_string");
                    last_line.erase(0, last_line.rfind('\n') + 1);
                    CHECK(patch.ends_with("+" + last_line + "\n*** End Patch"));
                } else {
                    CHECK(type == "function_call");
                }
                continue;
            }
            const Result& result = expected.results.at(at_result);
            const Call& call = calls.at(at_result++);
            CHECK((item["call_id"] == result.id));
            if (call.name == "Edit") { CHECK(type == "custom_tool_call_output"); }
            if (call.name != "Bash") { continue; }
            CHECK(type == "shell_call_output");
            CHECK(item.contains("max_output_length") == Json::parse(call.arguments).contains("timeout"));
            std::string text;
            for (const Json& chunk : item["output"]) {
                append(text, string_at(chunk, result.is_error ? "stderr" : "stdout"));
                CHECK(string_at(chunk, result.is_error ? "stdout" : "stderr").empty());
                const bool is_success = chunk["outcome"] == Json({{"type", "exit"}, {"exit_code", 0}});
                CHECK(is_success == !result.is_error);
            }
            CHECK((text == result.text));
        }
        CHECK(at_call == 150);
        CHECK(at_result == 150);
        CHECK(count_keys(made, "outcome") > 0);
    }
}

TEST_CASE("session dialects: options change what they name and nothing else") {
    const Json body = session(6, 300);
    const Json gemini = render(SessionDialect::gemini, body, {.ids = false});
    CHECK(count_keys(list_of(gemini), "id") == 0);
    CHECK(count_keys(list_of(render(SessionDialect::gemini, body)), "id") == 600);
    const Json snake = render(SessionDialect::gemini, body, {.snake_case = true});
    for (const char* const key :
         {"functionCall", "functionResponse", "inlineData", "mimeType", "thoughtSignature",
          "systemInstruction", "functionDeclarations", "generationConfig"}) {
        CAPTURE(key);
        CHECK(count_keys(snake, key) == 0);
        CHECK(count_keys(gemini, key) > 0);
    }
    CHECK(count_keys(render(SessionDialect::ollama, body, {.ids = false}), "tool_call_id") == 0);
    CHECK(count_keys(render(SessionDialect::ollama, body), "tool_call_id") == 300);
    CHECK(count_keys(render(SessionDialect::bedrock, body), "json") ==
          count_keys(render(SessionDialect::bedrock, body), "inputSchema"));
    CHECK(count_keys(render(SessionDialect::bedrock, body, {.typed_items = true}), "json") >
          count_keys(render(SessionDialect::bedrock, body), "inputSchema"));
    const Json responses = render(SessionDialect::openai_responses, body, {.ids = false});
    CHECK(count_keys(list_of(responses), "id") == count_keys(list_of(responses), "summary"));
}

#ifdef COPPICE_SESSION
TEST_CASE("session dialects: the program writes the dialect it is asked for") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("coppice-dialects-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const auto text_of = [&folder](const char* name) {
        std::ifstream file{folder / name, std::ios::binary};
        return std::string{std::istreambuf_iterator<char>{file}, {}};
    };
    const auto run = [&folder](const std::string& words) {
        const std::string command = "'" COPPICE_SESSION "' " + words + " >'" + (folder / "out").string() +
                                    "' 2>'" + (folder / "err").string() + "'";
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };

    SessionShape shape;
    shape.seed = 2;
    shape.results = 7;
    const Json body = make_session(shape);
    for (const SessionDialect dialect : session_dialects) {
        CAPTURE(name_of(dialect));
        CHECK(run("--seed 2 --dialect " + std::string{name_of(dialect)} + " --results 7") == 0);
        CHECK((text_of("out") == render(dialect, body).dump() + "\n"));
        CHECK(text_of("err").empty());
    }
    CHECK(run("--seed 2 --results 7") == 0);
    CHECK((text_of("out") == body.dump() + "\n"));

    for (const char* const words : {"--dialect", "--dialect klingon", "--dialect ''", "--dialect --seed 2"}) {
        CAPTURE(words);
        CHECK(run(words) == 2);
        CHECK(text_of("out").empty());
        const std::string message = text_of("err");
        for (const SessionDialect dialect : session_dialects) {
            CHECK((message.find(" " + std::string{name_of(dialect)}) != std::string::npos));
        }
    }
    fs::remove_all(folder);
}
#endif
