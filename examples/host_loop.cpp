// SPDX-License-Identifier: MIT
// How does an agent keep its own message history short? It prunes the request it is about to send, each turn,
// keeps the full history for itself, and notes in a ledger what the history does not say.
#include "session_generator.hpp"

#include <coppice/coppice.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>

namespace {

using Json = nlohmann::ordered_json;  // keeps the order of keys, and with it the provider's prompt cache

// Stands in for the provider, which counts in its own way.
struct Usage {
    std::size_t input_tokens = 0;  // those read from the cache and written to it included
};
Usage send(const Json& request) { return {coppice::measure_document(request).bytes * 2 / 7}; }

void print_rewrite(std::size_t request, const coppice::Report& report, bool cache_is_gone) {
    fmt::print("request {:>3}: {:>6} tokens instead of {:>6}, changed from message {:>3} on: ", request,
               report.tokens_after, report.tokens_before, report.first_rewritten_message.value_or(0));
    if (cache_is_gone) {
        fmt::print("nothing was cached\n");
        return;
    }
    fmt::print("{} tokens have to be read anew", report.tokens_rebilled);
    if (report.break_even_requests) { fmt::print(", which pays within {:.0f} requests", *report.break_even_requests); }
    fmt::print("\n");
}

}  // namespace

int main() {
    // A recorded session stands in for the model and its tools here.
    coppice_examples::SessionShape shape;
    shape.results = 150;
    const Json session = coppice_examples::make_session(shape);

    constexpr auto pruner = coppice::presets::standard();
    coppice::Workspace workspace;  // spares each turn the allocations of the one before
    coppice::Ledger ledger;        // to be stored with the history: coppice::to_json<Json>(ledger)

    Json history = session;
    history["messages"] = Json::array();
    std::size_t requests = 0;
    std::size_t tokens = 0;
    double net = 0;
    for (const Json& message : session["messages"]) {
        history["messages"].push_back(message);
        if (message["role"] != "user") { continue; }
        ++requests;
        const std::size_t messages = history["messages"].size();
        const bool was_idle = requests == 60;  // for longer than entries of the provider's cache live
        if (was_idle) { ledger.note_cold(messages); }

        Json request = history;  // the history itself stays whole
        const coppice::Report report = coppice::prune(request, pruner, workspace, ledger);
        if (report.rewrites) { print_rewrite(requests, report, was_idle); }
        ledger.note_billed(messages, send(request).input_tokens);  // by which later estimates are corrected
        tokens += report.tokens_before;
        net += report.net_tokens;
    }
    fmt::print("{} requests had {} tokens; pruning spared the price of {:.0f} uncached ones\n", requests, tokens, net);
}
