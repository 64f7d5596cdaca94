// SPDX-License-Identifier: MIT
// How does an agent keep its own message history short? It prunes the request it is about to send, each turn,
// and keeps the full history for itself.
#include "session_generator.hpp"

#include <coppice/coppice.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <iterator>

int main() {
    using Json = nlohmann::ordered_json;  // keeps the order of keys, and with it the provider's prompt cache

    // A recorded session stands in for the model and its tools here.
    coppice_examples::SessionShape shape;
    shape.results = 150;
    const Json session = coppice_examples::make_session(shape);

    constexpr auto pruner = coppice::presets::standard();
    coppice::Workspace workspace;  // spares each turn the allocations of the one before

    Json history = session;
    history["messages"] = Json::array();
    std::size_t turn = 0;
    for (const Json& message : session["messages"]) {
        history["messages"].push_back(message);
        if (message["role"] != "user") { continue; }

        Json request = history;  // the history itself stays whole
        const coppice::Report report = coppice::prune(request, pruner, workspace);
        if (++turn % 20 == 0) {
            const std::size_t bytes = coppice::measure_document(request).bytes;
            fmt::print("request {:>3}: {:>7} bytes instead of {:>7}, {:>3} edits{}\n", turn, bytes,
                       bytes + report.saved_bytes, report.edits.size(),
                       report.engaged ? "" : " (" + report.why + ")");
        }
        // send(request) ...
    }
}
