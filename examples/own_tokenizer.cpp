// SPDX-License-Identifier: MIT
// Where does a tokenizer of one's own go? A recap takes it as a token estimator. A pipeline estimates each part of a
// history many times and takes none, but learns from what requests really had, which a ledger tells it.
#include "session_generator.hpp"

#include <coppice/coppice.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

/// Stands in for the model's own: words and signs, long words in pieces.
struct Tokenizer {
    static constexpr std::string_view name = "words";

    std::size_t weight(std::string_view text) const {
        std::size_t count = 0;
        std::size_t in_word = 0;
        for (const char c : text) {
            const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
            if (letter ? in_word++ % 5 == 0 : c != ' ') { ++count; }
            if (!letter) { in_word = 0; }
        }
        return count;
    }
    std::size_t tokens(std::size_t weight) const { return weight; }
};
static_assert(coppice::token_estimator<Tokenizer>);

}  // namespace

int main() {
    coppice_examples::SessionShape shape;
    shape.results = 60;
    const Json session = coppice_examples::make_session(shape);
    Json request = session;
    coppice::prune(request, coppice::presets::standard());
    const std::size_t counted = coppice::tokens_of(Tokenizer{}, request.dump());

    // What was sent had so many tokens. Noted with the number of its messages, it corrects all estimates from there on.
    coppice::Ledger ledger;
    ledger.note_billed(session["messages"].size(), counted);
    const auto estimated = [&](const coppice::Inputs& inputs) {
        return coppice::plan(session, coppice::presets::standard(), inputs).tokens_after;
    };
    fmt::print("counted {}, estimated {}, and {} with a ledger\n", counted, estimated({}), estimated(ledger));

    const std::vector<coppice::SessionMessage> log = {
        {.role = coppice::SessionRole::user, .text = "Count the words."},
        {.role = coppice::SessionRole::assistant, .text = "There are three of them."},
    };
    const coppice::RecapBuilder<coppice::PlainRecapWording, Tokenizer> builder;
    const coppice::Recap recap = builder.build(log);
    fmt::print("a recap of {} tokens\n", recap.tokens);
    const std::size_t off = counted > estimated(ledger) ? counted - estimated(ledger) : estimated(ledger) - counted;
    return off <= counted / 20 && recap.tokens > 0 ? 0 : 1;
}
