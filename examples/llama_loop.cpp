// SPDX-License-Identifier: MIT
// How does an agent on llama.cpp stay within the context it started the server with? It prunes the messages of each
// request when they fill a share of `n_ctx`; between two changes the server finds their prefix in its KV cache.
#include <coppice/coppice.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t n_ctx = 8'192;   // llama-server --ctx-size 8192
constexpr std::size_t answer = 1'024;  // max_tokens

// Stands in for POST /v1/chat/completions: reads one file after the other, then has nothing more to do.
Json chat_completions(const Json& request, std::size_t turn) {
    constexpr std::size_t files = 40;
    if (request["messages"].size() < 2 || turn == files) { return {{"role", "assistant"}, {"content", "All read."}}; }
    const std::string arguments = Json{{"path", fmt::format("src/file_{}.cpp", turn)}}.dump();
    const Json call = {{"id", fmt::format("call_{}", turn)},
                       {"type", "function"},
                       {"function", {{"name", "read_file"}, {"arguments", arguments}}}};
    return {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", Json::array({call})}};
}

std::string read_file(std::size_t number) {
    std::string text;
    for (std::size_t line = 0; line < 60; ++line) { text += fmt::format("int value_{}_{} = {};\n", number, line, line); }
    return text;
}

}  // namespace

int main() {
    using namespace coppice;
    // at 60 percent of what is left for messages, and at 85 whatever it brings
    constexpr Pipeline pruner{Dedup<>{}, KeepRecent<3, chars(800)>{}, BulkyInputClear<3>{},
                              Pressure<n_ctx - answer, 60, 85, 500>{}, ToolSummaries{}};
    Workspace workspace;

    Json history = {{"role", "system"}, {"content", "You read code."}};
    history = Json::array({history, {{"role", "user"}, {"content", "Read all files."}}});
    std::size_t rewrites = 0;
    std::size_t largest = 0;
    for (std::size_t turn = 0;; ++turn) {
        Json request = {{"model", "local"}, {"cache_prompt", true}, {"max_tokens", answer}, {"messages", history}};
        const Report report = prune(request, pruner, workspace, Dialect::openai_chat);
        rewrites += report.rewrites;
        largest = report.tokens_after > largest ? report.tokens_after : largest;
        if (report.saturated) { fmt::print("request {}: what cannot go fills the context\n", turn); }

        Json reply = chat_completions(request, turn);
        const bool done = !reply.contains("tool_calls");
        history.push_back(std::move(reply));  // whole, as the pruned request is only for sending
        if (done) { break; }
        const Json& call = history.back()["tool_calls"][0];
        history.push_back({{"role", "tool"}, {"tool_call_id", call["id"]}, {"content", read_file(turn)}});
    }
    const std::size_t whole = measure_document(history).bytes / 4;
    fmt::print("a history of about {} tokens; the largest request had {} of {}, and {} changed what was cached\n", whole,
               largest, n_ctx, rewrites);
    return largest + answer <= n_ctx ? 0 : 1;
}
