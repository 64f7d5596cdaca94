// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dialect.hpp>
#include <coppice/hints.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// What a host knew at its requests and the history does not say. A request is named by the number of messages that it
/// had: a request ends with what the user says or tools bring, so that is the size of the history when it is sent. Decisions that used a note stay the same as long as the ledger goes along: save it with the history.
///
///     if (idle > ttl) { ledger.note_cold(messages.size()); }
///     coppice::prune(body, pruner, ledger);
///     ledger.note_billed(messages.size(), usage.input_tokens);
class Ledger {
public:
    /// What is known of one request.
    struct Note {
        std::size_t messages = 0;             ///< that the request had
        bool cold = false;                    ///< the cache held nothing of it
        std::optional<std::size_t> billed{};  ///< input tokens, as the provider counts them
        std::optional<std::size_t> limit{};   ///< tokens that fit from here on

        friend bool operator==(const Note&, const Note&) = default;
    };

    /// The provider's cache was gone when this request was sent (idle for longer than entries live, another account, a
    /// new system prompt): a rewrite costs nothing then, so everything clearable goes. A note between two
    /// requests is one on the later of them. As with limits, now and then one
    /// is passed over where thousands of results stay whole at each of thousands of requests.
    void note_cold(std::size_t messages) { note(messages).cold = true; }
    /// Input tokens that the provider billed for this request, cached ones included: later requests are measured by it,
    /// as long as the history is given as it was, and not as it came out of an earlier call.
    void note_billed(std::size_t messages, std::size_t tokens) { note(messages).billed = tokens; }
    /// From this request on, bodies must not have more tokens. When one would, everything clearable goes, if that is
    /// enough or at least a sixteenth of the body; where it is not enough, the report says `saturated`.
    void note_limit(std::size_t messages, std::size_t tokens) { note(messages).limit = tokens; }

    /// Notes, oldest first.
    const std::vector<Note>& notes() const { return notes_; }

    friend bool operator==(const Ledger&, const Ledger&) = default;

private:
    Note& note(std::size_t messages) {
        const auto before = [](const Note& left, std::size_t number) { return left.messages < number; };
        auto at = std::lower_bound(notes_.begin(), notes_.end(), messages, before);
        if (at == notes_.end() || at->messages != messages) {
            at = notes_.insert(at, Note{.messages = messages});
        }
        return *at;
    }

    std::vector<Note> notes_;
};

/// What a call is told beside the body. A dialect or a ledger is one by itself.
struct Inputs {
    /// Nothing but the dialect.
    constexpr Inputs(Dialect which = Dialect::detect) : dialect(which) {}
    /// The ledger of this session, and the dialect.
    constexpr Inputs(const Ledger& notes, Dialect which = Dialect::detect) : dialect(which), ledger(&notes) {}

    Dialect dialect;                 ///< whose body it is
    const Ledger* ledger = nullptr;  ///< not owned; of a batch, it is for every request in it
    std::string_view model{};        ///< not owned; instead of the one that the body names
    std::span<const Hint> hints{};   ///< not owned; what the host knows of single calls, in any order
};

/// The ledger as a nlohmann JSON value.
template <class Json>
Json to_json(const Ledger& ledger) {
    Json notes = Json::array();
    for (const Ledger::Note& note : ledger.notes()) {
        Json item = Json::object();
        item["messages"] = note.messages;
        if (note.cold) { item["cold"] = true; }
        if (note.billed) { item["billed"] = *note.billed; }
        if (note.limit) { item["limit"] = *note.limit; }
        notes.push_back(std::move(item));
    }
    Json out = Json::object();
    out["notes"] = std::move(notes);
    return out;
}

/// A ledger as `to_json` wrote it. Throws std::invalid_argument, naming the place, on anything else.
template <class Json>
Ledger ledger_from_json(const Json& json) {
    const auto fail = [](const std::string& what) {
        throw std::invalid_argument("coppice::Ledger: " + what);
    };
    if (!json.is_object() || !json.contains("notes") || !json["notes"].is_array() || json.size() != 1) {
        fail("is no object with an array `notes`");
    }
    Ledger ledger;
    std::size_t index = 0;
    for (const Json& item : json["notes"]) {
        const std::string place = "/notes/" + std::to_string(index++);
        if (!item.is_object() || !item.contains("messages")) { fail(place + " has no `messages`"); }
        const auto count = [&](const Json& value, const std::string& key) {
            if (!value.is_number_unsigned()) { fail(place + "/" + key + " is no whole number"); }
            return value.template get<std::size_t>();
        };
        const std::size_t messages = count(item["messages"], "messages");
        for (const auto& member : item.items()) {
            const std::string& key = member.key();
            const Json& value = member.value();
            if (key == "cold") {
                if (!value.is_boolean()) { fail(place + "/cold is neither true nor false"); }
                if (value.template get<bool>()) { ledger.note_cold(messages); }
            } else if (key == "billed") {
                ledger.note_billed(messages, count(value, key));
            } else if (key == "limit") {
                ledger.note_limit(messages, count(value, key));
            } else if (key != "messages") {
                fail(place + "/" + key + " is unknown");
            }
        }
    }
    return ledger;
}

}  // namespace coppice
