// SPDX-License-Identifier: MIT
#pragma once

#include "json_text.hpp"
#include "target.hpp"

#include <coppice/dialect.hpp>
#include <coppice/report.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// Where an edit may stand: the path of every edit begins with that of one of these.
struct Route {
    /// What may follow.
    enum class Tail : std::uint8_t {
        content,  ///< nothing, or the number of a part
        output,   ///< that, or the name of a member, or the number of a chunk and a name
        fields,   ///< a name, and names and numbers of what it holds, to a depth
        name,     ///< a name
        list,     ///< nothing: the whole list goes
    };

    std::string_view path;  ///< `*` is the number of the block
    coppice::Dialect dialect;
    Tail tail;
    bool may_be_packed = false;  ///< a string that holds JSON may stand there

    bool of_call() const { return tail == Tail::fields; }
};

inline constexpr std::array<Route, 15> routes = {{
    {"/content", coppice::Dialect::anthropic, Route::Tail::content},
    {"/input", coppice::Dialect::anthropic, Route::Tail::fields},
    {"/content", coppice::Dialect::openai_chat, Route::Tail::content},
    {"/tool_calls/*/function/arguments", coppice::Dialect::openai_chat, Route::Tail::fields, true},
    {"/function_call/arguments", coppice::Dialect::openai_chat, Route::Tail::fields, true},
    {"/output", coppice::Dialect::openai_responses, Route::Tail::output},
    {"/arguments", coppice::Dialect::openai_responses, Route::Tail::fields, true},
    {"/functionCall/args", coppice::Dialect::gemini, Route::Tail::fields},
    {"/function_call/args", coppice::Dialect::gemini, Route::Tail::fields},
    {"/functionResponse/response", coppice::Dialect::gemini, Route::Tail::name},
    {"/function_response/response", coppice::Dialect::gemini, Route::Tail::name},
    {"/functionResponse/parts", coppice::Dialect::gemini, Route::Tail::list},
    {"/function_response/parts", coppice::Dialect::gemini, Route::Tail::list},
    {"/toolUse/input", coppice::Dialect::bedrock, Route::Tail::fields},
    {"/toolResult/content", coppice::Dialect::bedrock, Route::Tail::content},
}};

/// A value that an edit replaces or has written.
struct Place {
    const Route* route = nullptr;  ///< none where the path leads nowhere
    std::size_t steps = 0;         ///< behind the route
    Type type = Type::null;
    Span span{};                  ///< in the body
    std::size_t index = nowhere;  ///< among the values of the body; not of what stands inside a string
    std::string text{};           ///< what it means, where it is a string

    explicit operator bool() const { return route != nullptr; }
};

/// Finds edits in a body by their places.
class Places {
public:
    explicit Places(const JsonText& json) : json_(json) {}

    Place find(const coppice::EditRecord& edit) const {
        const std::size_t request = request_of(edit.request);
        for (const Route& route : routes) {
            if (Place place = along(route, request, edit)) { return place; }
        }
        return {};
    }

    /// The content of the model's message that an edit took a block out of.
    std::size_t blocks_of(const coppice::EditRecord& edit) const {
        std::size_t at = request_of(edit.request);
        if (is(at, Type::object)) {
            require(!json_.repeats_keys(at), "no edit in a request that repeats a key");
            at = member(json_, at, "messages");
        }
        const std::size_t message = element(at, edit.message);
        require(is(message, Type::object) && word(message, "role") == "assistant", "a message of the model");
        require(!json_.repeats_keys(message), "no edit in a message that repeats a key");
        const std::size_t blocks = member(json_, message, "content");
        require(is(blocks, Type::array), "a list of blocks");
        return blocks;
    }

    bool is_reasoning(std::size_t block) const {
        if (!is(block, Type::object) || json_.repeats_keys(block)) { return false; }
        const std::string type = word(block, "type");
        return type == "thinking" || type == "redacted_thinking" || member(json_, block, "reasoningContent") != nowhere;
    }

private:
    using Tail = Route::Tail;
    using Dialect = coppice::Dialect;

    Place along(const Route& route, std::size_t request, const coppice::EditRecord& edit) const {
        std::string path(route.path);
        if (const std::size_t star = path.find('*'); star != std::string::npos) {
            path.replace(star, 1, std::to_string(edit.block));
        }
        std::string_view rest = edit.path;
        if (rest.substr(0, path.size()) != path) { return {}; }
        rest.remove_prefix(path.size());
        const bool packed = route.may_be_packed && !rest.empty() && rest[0] == '#';
        if (packed) { rest.remove_prefix(1); }
        const auto steps = static_cast<std::size_t>(std::count(rest.begin(), rest.end(), '/'));
        if ((!rest.empty() && rest[0] != '/') || !may_follow(route.tail, steps)) { return {}; }

        const std::size_t start = start_of(route, request, edit);
        if (start == nowhere) { return {}; }
        const std::size_t holder = follow(json_, start, path);
        if (holder == nowhere) { return {}; }
        Place place{.steps = steps};
        if (packed) {
            if (!is(holder, Type::string)) { return {}; }
            std::vector<std::size_t> spelled;
            const std::string inside = json_.decoded(json_.values()[holder].span, spelled);
            JsonText inner;
            require(inner.read(inside), "a string that held JSON still does");
            require(inner.values().front().type == Type::object, "and an object");
            const std::size_t at = follow(inner, 0, rest);
            if (at == nowhere) { return {}; }
            const Value& value = inner.values()[at];
            place.type = value.type;
            place.span = {spelled[value.span.begin], spelled[value.span.end]};
            if (value.type == Type::string) { place.text = inner.decoded(value.span); }
        } else {
            const std::size_t at = follow(json_, holder, rest);
            if (at == nowhere) { return {}; }
            const Value& value = json_.values()[at];
            place.type = value.type;
            place.span = value.span;
            place.index = at;
            if (value.type == Type::string) { place.text = json_.decoded(value.span); }
        }
        place.route = &route;
        return place;
    }

    // a member of the input, a number in a list, and sixteen levels below
    static constexpr std::size_t deepest = 19;

    static bool may_follow(Tail tail, std::size_t steps) {
        switch (tail) {
            case Tail::content: return steps <= 1;
            case Tail::output: return steps <= 2;
            case Tail::fields: return steps >= 1 && steps <= deepest;
            case Tail::name: return steps == 1;
            case Tail::list: break;
        }
        return steps == 0;
    }

    // what a path starts from: a block, or the whole message; `nowhere` where it is of another dialect or kind
    std::size_t start_of(const Route& route, std::size_t request, const coppice::EditRecord& edit) const {
        const bool gemini = route.dialect == Dialect::gemini;
        const bool responses = route.dialect == Dialect::openai_responses;
        std::size_t at = request;
        if (is(at, Type::object)) {
            require(!json_.repeats_keys(at), "no edit in a request that repeats a key");
            at = member(json_, at, gemini ? "contents" : responses ? "input" : "messages");
        }
        const std::size_t message = element(at, edit.message);
        if (!is(message, Type::object) || !may_speak(route, message)) { return nowhere; }
        require(!json_.repeats_keys(message), "no edit in a message that repeats a key");
        if (responses || route.dialect == Dialect::openai_chat) { return message; }
        const std::size_t block = element(member(json_, message, gemini ? "parts" : "content"), edit.block);
        if (!is(block, Type::object)) { return nowhere; }
        const bool typed = route.dialect != Dialect::anthropic ||
                           word(block, "type") == (route.of_call() ? "tool_use" : "tool_result");
        return typed ? block : nowhere;
    }

    bool may_speak(const Route& route, std::size_t message) const {
        const std::string role = word(message, "role");
        switch (route.dialect) {
            case Dialect::anthropic:
            case Dialect::bedrock: return role == (route.of_call() ? "assistant" : "user");
            case Dialect::openai_chat:
                return route.of_call() ? role == "assistant" : role == "tool" || role == "function";
            case Dialect::gemini:
                return route.of_call() ? role == "model"
                                       : role == "user" || role == "function" || role.empty();
            case Dialect::openai_responses: {
                const std::string type = word(message, "type");
                if (route.of_call()) { return type == "function_call"; }
                for (const char* const known :
                     {"function_call_output", "custom_tool_call_output", "local_shell_call_output",
                      "shell_call_output", "apply_patch_call_output"}) {
                    if (type == known) { return true; }
                }
                return false;
            }
            case Dialect::detect: break;
        }
        return false;
    }

    static std::size_t follow(const JsonText& json, std::size_t at, std::string_view path) {
        while (!path.empty() && at != nowhere) {
            path.remove_prefix(1);
            const std::string_view step = path.substr(0, path.find('/'));
            path.remove_prefix(step.size());
            if (json.values()[at].type == Type::array) {
                at = is_number(step) ? json.element(at, number(step)) : nowhere;
            } else {
                require(!json.repeats_keys(at), "no edit in an object that repeats a key");
                at = member(json, at, unescaped(step));
            }
        }
        return at;
    }

    bool is(std::size_t at, Type type) const { return at != nowhere && json_.values()[at].type == type; }
    std::size_t element(std::size_t at, std::size_t n) const {
        return is(at, Type::array) ? json_.element(at, n) : nowhere;
    }
    static std::size_t member(const JsonText& json, std::size_t at, std::string_view name) {
        if (at == nowhere || json.values()[at].type != Type::object) { return nowhere; }
        std::size_t found = json.member(at, name);
        constexpr std::size_t most_shown = 1024;  // characters of a name
        if (found != nowhere || name.size() < most_shown) { return found; }
        json.for_each_child(at, [&](std::size_t i) {
            if (json.decoded(json.values()[i].key).substr(0, name.size()) == name) { found = i; }
        });
        return found;
    }
    std::string word(std::size_t object, std::string_view name) const {
        const std::size_t found = json_.member_of_type(object, name, Type::string);
        return found == nowhere ? std::string() : json_.decoded(json_.values()[found].span);
    }

    static bool is_number(std::string_view step) {
        return !step.empty() && step.size() < 10 &&
               step.find_first_not_of("0123456789") == std::string_view::npos;
    }
    static std::size_t number(std::string_view digits) {
        std::size_t value = 0;
        for (const char c : digits) { value = value * 10 + static_cast<std::size_t>(c - '0'); }
        return value;
    }
    static std::string unescaped(std::string_view step) {
        std::string out;
        for (std::size_t i = 0; i < step.size(); ++i) {
            const bool escape = step[i] == '~' && i + 1 < step.size();
            out += !escape ? step[i] : step[i + 1] == '1' ? '/' : '~';
            i += escape ? 1 : 0;
        }
        return out;
    }

    bool has_any(std::size_t at, std::initializer_list<std::string_view> names) const {
        return std::any_of(names.begin(), names.end(),
                           [&](std::string_view name) { return member(json_, at, name) != nowhere; });
    }
    bool is_request(std::size_t at) const { return has_any(at, {"messages", "contents", "input", "role"}); }

    // the request inside a wrapper, or the value itself
    std::size_t unwrapped(std::size_t at) const {
        if (!is(at, Type::object) || is_request(at) || json_.repeats_keys(at)) { return at; }
        for (const char* const name : {"params", "body", "request", "modelInput"}) {
            const std::size_t inner = member(json_, at, name);
            if (is(inner, Type::object)) { return inner; }
        }
        return at;
    }

    bool is_list_of_requests(std::size_t array) const {
        std::size_t first = nowhere;
        json_.for_each_child(array, [&](std::size_t i) {
            if (first == nowhere && is(i, Type::object)) { first = i; }
        });
        if (first == nowhere || has_any(first, {"role", "content", "parts", "type"}) ||
            json_.repeats_keys(first)) {
            return false;
        }
        return is_request(first) || unwrapped(first) != first;
    }

    std::size_t request_of(std::size_t n) const {
        if (is(0, Type::array)) { return is_list_of_requests(0) ? unwrapped(json_.element(0, n)) : 0; }
        const std::size_t list = member(json_, 0, "requests");
        const bool batch =
            is(list, Type::array) && !is_request(0) && unwrapped(0) == 0 && !json_.repeats_keys(0);
        return batch ? unwrapped(json_.element(list, n)) : unwrapped(0);
    }

    const JsonText& json_;
};

}  // namespace fuzz
