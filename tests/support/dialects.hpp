// SPDX-License-Identifier: MIT
#pragma once

#include "pruned.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// For cases that have to hold in every dialect: a conversation is said once, each provider spells it.
namespace support {

/// A call that the model makes.
struct Asked {
    std::string id;
    std::string tool = "Read";
    Ordered input = Ordered::object();
};

/// What the host answers it with.
struct Told {
    std::string id;
    std::string text;
    std::string tool = "Read";
    bool failed = false;  ///< said by a flag where there is one; otherwise the text has to say it
};

/// One provider's shape of a conversation.
class Spelling {
public:
    explicit Spelling(coppice::Dialect dialect) : dialect_(dialect) {}

    coppice::Dialect dialect() const { return dialect_; }
    std::string name() const { return std::string(coppice::name_of(dialect_)); }
    bool is(coppice::Dialect dialect) const { return dialect_ == dialect; }

    /// A message of words alone.
    Ordered says(const std::string& role, const std::string& words) const {
        switch (dialect_) {
            case coppice::Dialect::gemini:
                return {{"role", role == "assistant" ? "model" : role},
                        {"parts", list(Ordered{{"text", words}})}};
            case coppice::Dialect::bedrock:
                return {{"role", role}, {"content", list(Ordered{{"text", words}})}};
            default: return {{"role", role}, {"content", words}};
        }
    }
    Ordered user(const std::string& words) const { return says("user", words); }
    Ordered assistant(const std::string& words) const { return says("assistant", words); }

    /// Appends calls that are made side by side.
    void add_calls(Ordered& messages, const std::vector<Asked>& calls) const {
        Ordered made = Ordered::array();
        for (const Asked& call : calls) { made.push_back(spelled(call)); }
        switch (dialect_) {
            case coppice::Dialect::openai_responses:
                for (Ordered& item : made) { messages.push_back(std::move(item)); }
                break;
            case coppice::Dialect::openai_chat:
                messages.push_back(
                    Ordered{{"role", "assistant"}, {"content", nullptr}, {"tool_calls", std::move(made)}});
                break;
            case coppice::Dialect::gemini:
                messages.push_back(Ordered{{"role", "model"}, {"parts", std::move(made)}});
                break;
            default: messages.push_back(Ordered{{"role", "assistant"}, {"content", std::move(made)}});
        }
    }

    /// Appends results that belong to the calls of one turn.
    void add_results(Ordered& messages, const std::vector<Told>& results) const {
        Ordered made = Ordered::array();
        for (const Told& result : results) { made.push_back(spelled(result)); }
        if (is(coppice::Dialect::openai_chat) || is(coppice::Dialect::openai_responses)) {
            for (Ordered& one : made) { messages.push_back(std::move(one)); }
        } else {
            const char* const list = is(coppice::Dialect::gemini) ? "parts" : "content";
            messages.push_back(Ordered{{"role", "user"}, {list, std::move(made)}});
        }
    }

    void add_pair(Ordered& messages, const Asked& call, const std::string& text, bool failed = false) const {
        add_calls(messages, {call});
        add_results(messages, {{call.id, text, call.tool, failed}});
    }

    /// A request around messages or items.
    Ordered body(Ordered messages) const {
        Ordered out = {{"model", "m"}};
        if (is(coppice::Dialect::anthropic)) { out["system"] = "You are terse."; }
        if (is(coppice::Dialect::bedrock)) { out["inferenceConfig"] = Ordered{{"maxTokens", 64}}; }
        out[list_key()] = std::move(messages);
        return out;
    }

    /// A pair for each text, which the model has read. Each call reads a file of its own.
    Ordered session(const std::vector<std::string>& texts) const {
        Ordered messages = list(user("start"));
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const std::string number = std::to_string(i);
            add_pair(messages, {"call_" + number, "Read", Ordered{{"file_path", "/src/" + number + ".c"}}},
                     texts[i]);
        }
        messages.push_back(assistant("done"));
        return body(std::move(messages));
    }

    std::string list_key() const {
        return is(coppice::Dialect::gemini)             ? "contents"
               : is(coppice::Dialect::openai_responses) ? "input"
                                                        : "messages";
    }
    const Ordered& messages(const Ordered& document) const { return document.at(list_key()); }

    /// Where the results have their content: what a block calls so, of Gemini the response.
    std::vector<Ordered::json_pointer> contents(const Ordered& document) const {
        std::vector<Ordered::json_pointer> found;
        each(document, [&](const Ordered::json_pointer& at, const Ordered& one) {
            const auto within = [&](const char* key, const char* inner) {
                if (one.contains(key)) { found.push_back(at / key / inner); }
            };
            switch (dialect_) {
                case coppice::Dialect::openai_chat:
                    if (one.contains("tool_call_id")) { found.push_back(at / "content"); }
                    break;
                case coppice::Dialect::openai_responses:
                    if (one.value("type", "") == "function_call_output") { found.push_back(at / "output"); }
                    break;
                case coppice::Dialect::gemini: within("functionResponse", "response"); break;
                case coppice::Dialect::bedrock: within("toolResult", "content"); break;
                default:
                    if (one.value("type", "") == "tool_result") { found.push_back(at / "content"); }
            }
        });
        return found;
    }

    /// A text as the content of a result, in the place that `contents` gives.
    Ordered content(const std::string& words) const {
        return is(coppice::Dialect::gemini)    ? Ordered{{"output", words}}
               : is(coppice::Dialect::bedrock) ? list(Ordered{{"text", words}})
                                               : Ordered(words);
    }

    /// Whether a result without a word about its outcome says by its shape alone that the call did not fail.
    bool tells_success() const { return is(coppice::Dialect::anthropic) || is(coppice::Dialect::bedrock); }
    /// A stub of a result that went well, as it reads in this dialect: facts with `, ok`.
    std::string cleared(std::string facts) const {
        const std::size_t at = tells_success() ? std::string::npos : facts.find(", ok");
        if (at != std::string::npos) { facts.erase(at, 4); }
        return "[tool result cleared: " + facts + "]";
    }

    /// The text of the n-th result.
    std::string text(const Ordered& document, std::size_t n) const {
        const Ordered& content = document.at(contents(document).at(n));
        if (content.is_object()) { return content.begin()->is_string() ? std::string(*content.begin()) : ""; }
        return text_of(content);
    }

    /// The inputs of all calls, packed ones as what they hold.
    std::vector<Ordered> inputs(const Ordered& document) const {
        std::vector<Ordered> found;
        each(document, [&](const Ordered::json_pointer&, const Ordered& one) {
            switch (dialect_) {
                case coppice::Dialect::openai_chat:
                    for (const Ordered& call : one.value("tool_calls", Ordered::array())) {
                        found.push_back(
                            Ordered::parse(call.at("function").at("arguments").get<std::string>()));
                    }
                    break;
                case coppice::Dialect::openai_responses:
                    if (one.value("type", "") == "function_call") {
                        found.push_back(Ordered::parse(one.at("arguments").get<std::string>()));
                    }
                    break;
                case coppice::Dialect::gemini:
                    if (one.contains("functionCall")) { found.push_back(one["functionCall"].at("args")); }
                    break;
                case coppice::Dialect::bedrock:
                    if (one.contains("toolUse")) { found.push_back(one["toolUse"].at("input")); }
                    break;
                default:
                    if (one.value("type", "") == "tool_use") { found.push_back(one.at("input")); }
            }
        });
        return found;
    }

    /// What became of the results, in the letters of `support::fates`.
    std::string fates(const Pruned& pruned) const {
        const auto places = contents(pruned.before);
        std::string out;
        for (std::size_t i = 0; i < places.size(); ++i) {
            const bool same = pruned.before.at(places[i]) == pruned.after.at(places[i]);
            const std::string left = text(pruned.after, i);
            const auto holds = [&left](std::string_view words) {
                return left.find(words) != std::string::npos;
            };
            out += same                                            ? '-'
                   : holds("[middle of a tool result left out: ")  ? 'p'
                   : holds("same as a later result")               ? 'd'
                   : left.substr(0, 21) == "[tool result cleared:" ? 's'
                                                                   : 'i';
        }
        return out;
    }

    /// And of the inputs: `c` where something was cleared.
    std::string input_fates(const Pruned& pruned) const {
        const std::vector<Ordered> before = inputs(pruned.before);
        const std::vector<Ordered> after = inputs(pruned.after);
        std::string out;
        for (std::size_t i = 0; i < before.size(); ++i) { out += before[i] == after.at(i) ? '-' : 'c'; }
        return out;
    }

private:
    Ordered spelled(const Asked& call) const {
        switch (dialect_) {
            case coppice::Dialect::openai_chat:
                return {{"id", call.id},
                        {"type", "function"},
                        {"function", {{"name", call.tool}, {"arguments", call.input.dump()}}}};
            case coppice::Dialect::openai_responses:
                return {{"type", "function_call"},
                        {"call_id", call.id},
                        {"name", call.tool},
                        {"arguments", call.input.dump()}};
            case coppice::Dialect::gemini:
                return {{"functionCall", {{"id", call.id}, {"name", call.tool}, {"args", call.input}}}};
            case coppice::Dialect::bedrock:
                return {{"toolUse", {{"toolUseId", call.id}, {"name", call.tool}, {"input", call.input}}}};
            default: return call_block(call.id, call.tool, call.input);
        }
    }

    Ordered spelled(const Told& result) const {
        switch (dialect_) {
            case coppice::Dialect::openai_chat:
                return {{"role", "tool"}, {"tool_call_id", result.id}, {"content", result.text}};
            case coppice::Dialect::openai_responses:
                return {{"type", "function_call_output"}, {"call_id", result.id}, {"output", result.text}};
            case coppice::Dialect::gemini: {
                Ordered response = Ordered::object();
                response[result.failed ? "error" : "output"] = result.text;
                return {{"functionResponse",
                         {{"id", result.id}, {"name", result.tool}, {"response", std::move(response)}}}};
            }
            case coppice::Dialect::bedrock: {
                Ordered made = {{"toolUseId", result.id}, {"content", list(Ordered{{"text", result.text}})}};
                if (result.failed) { made["status"] = "error"; }
                return {{"toolResult", std::move(made)}};
            }
            default: return result_block(result.id, Ordered(result.text), result.failed);
        }
    }

    // every block of every message, and every message or item that is one itself
    template <class Visit>
    void each(const Ordered& document, Visit visit) const {
        const Ordered& all = messages(document);
        const bool blocks = !is(coppice::Dialect::openai_chat) && !is(coppice::Dialect::openai_responses);
        const char* const list = is(coppice::Dialect::gemini) ? "parts" : "content";
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Ordered::json_pointer at = Ordered::json_pointer("/" + list_key()) / i;
            if (!blocks) {
                visit(at, all[i]);
            } else if (all[i].contains(list) && all[i][list].is_array()) {
                for (std::size_t j = 0; j < all[i][list].size(); ++j) {
                    if (all[i][list][j].is_object()) { visit(at / list / j, all[i][list][j]); }
                }
            }
        }
    }

    coppice::Dialect dialect_;
};

/// Calls `check(const Spelling&)` for every dialect, or for those that are told.
template <class Check>
void in_dialects(const std::vector<coppice::Dialect>& dialects, Check check) {
    for (const coppice::Dialect dialect : dialects) {
        const Spelling in(dialect);
        CAPTURE(in.name());
        check(in);
    }
}
template <class Check>
void in_every_dialect(Check check) {
    in_dialects({coppice::all_dialects.begin(), coppice::all_dialects.end()}, check);
}

/// Clears everything that may be cleared.
inline const coppice::Pipeline<coppice::SmallAging<0>, coppice::KeepRecent<0, coppice::Size{2000}, 0>,
                               coppice::BulkyInputClear<0>>
    clear_all{};

/// A stub of a result, as it is.
inline std::string cleared(const std::string& facts) { return "[tool result cleared: " + facts + "]"; }

/// Like `pruned_once`, through bytes as well.
template <class Pipeline>
Pruned pruned_alike(const Ordered& document, const Pipeline& pipeline,
                    coppice::Dialect dialect = coppice::Dialect::detect) {
    Pruned out = pruned_once(document, pipeline, dialect);
    check_wire_laws(out.before.dump(), out.after.dump(), out.report, pipeline, dialect);
    return out;
}

}  // namespace support
