// SPDX-License-Identifier: MIT

// The requests of a session, one after the other, and the sessions to cut. Written without the library on purpose: what
// it takes for a request is read from the JSON a second time here.

#pragma once

#include "../../examples/session_dialects.hpp"
#include "../../examples/session_generator.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

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

namespace support {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

/// Of requests, and of pairs of a session and a pipeline, only one of so many is looked at: a sanitizer makes the work
/// 10 to 20 times slower, and what it looks for shows in any of them.
inline constexpr std::size_t one_of = sanitized ? 8 : 1;

/// The history of a body of any dialect: the body itself where it is a list, null where there is none.
inline nlohmann::ordered_json* history_of(nlohmann::ordered_json& body) {
    if (body.is_array()) { return &body; }
    for (const char* const key : {"messages", "input", "contents"}) {
        const auto found = body.is_object() ? body.find(key) : body.end();
        if (found != body.end() && found->is_array()) { return &*found; }
    }
    return nullptr;
}
inline const nlohmann::ordered_json* history_of(const nlohmann::ordered_json& body) {
    return history_of(const_cast<nlohmann::ordered_json&>(body));
}

/// Whether a message or an item is what the model said: by its role, or by its type where it is an item without one.
inline bool is_of_the_model(const nlohmann::ordered_json& message) {
    const auto word = [&message](const char* key) -> std::string_view {
        const auto found = message.is_object() ? message.find(key) : message.end();
        if (found == message.end() || !found->is_string()) { return {}; }
        return found->get_ref<const std::string&>();
    };
    const std::string_view type = word("type");
    const bool is_item = !type.empty() && type != "message";
    if (!is_item) { return word("role") == "assistant" || word("role") == "model"; }
    constexpr std::string_view call = "_call";
    return type == "reasoning" || type == "mcp_approval_request" || type == "program" ||
           (type.size() > call.size() && type.substr(type.size() - call.size()) == call);
}

/// The requests that a session consists of, from its last one: the history cut wherever a turn of the model begins
/// after something else, and the whole. One document grows and shrinks, its messages are moved and never copied.
///
///     Requests requests(body);
///     while (requests.next()) { look_at(requests.body()); }
class Requests {
public:
    explicit Requests(nlohmann::ordered_json whole) : body_(std::move(whole)) {
        nlohmann::ordered_json* const history = history_of(body_);
        if (history == nullptr || history->empty()) { return; }
        for (std::size_t i = 1; i < history->size(); ++i) {
            if (is_of_the_model((*history)[i]) && !is_of_the_model((*history)[i - 1])) { ends_.push_back(i); }
        }
        ends_.push_back(history->size());
        move_to(0);
    }

    std::size_t size() const { return ends_.size(); }
    /// Messages of the n-th request, counted from 0.
    std::size_t messages(std::size_t n) const { return ends_.at(n); }
    /// The first request that has at least so many messages; `size()` where none has.
    std::size_t first_with(std::size_t count) const {
        return static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), count) - ends_.begin());
    }

    /// The next request, from the first one on; false behind the last.
    bool next() {
        if (next_ >= size()) { return false; }
        go_to(next_);
        return true;
    }
    /// Any request, counted from 0. `next` goes on behind it.
    const nlohmann::ordered_json& go_to(std::size_t n) {
        move_to(ends_.at(n));
        next_ = n + 1;
        return body_;
    }
    const nlohmann::ordered_json& body() const { return body_; }

private:
    void move_to(std::size_t count) {
        auto& history = history_of(body_)->get_ref<nlohmann::ordered_json::array_t&>();
        while (history.size() > count) {
            rest_.push_back(std::move(history.back()));
            history.pop_back();
        }
        while (history.size() < count) {
            history.push_back(std::move(rest_.back()));
            rest_.pop_back();
        }
    }

    nlohmann::ordered_json body_;
    std::vector<nlohmann::ordered_json> rest_;  // the next message is the last here
    std::vector<std::size_t> ends_;
    std::size_t next_ = 0;
};

/// The recorded bodies of one family: ../shared/corpus, or the folder COPPICE_CORPUS names. None where there is no such
/// folder.
inline std::vector<std::filesystem::path> recorded_bodies(const char* family) {
    const char* const named = std::getenv("COPPICE_CORPUS");
    const std::filesystem::path root = named != nullptr
                                           ? std::filesystem::path(named)
                                           : std::filesystem::path(COPPICE_SOURCE_DIR) / "../shared/corpus";
    std::vector<std::filesystem::path> found;
    if (!std::filesystem::is_directory(root / family)) {
        MESSAGE("skipped: no recorded sessions at ", (root / family).string());
        return found;
    }
    for (const auto& file : std::filesystem::directory_iterator(root / family)) {
        if (file.path().extension() == ".json") { found.push_back(file.path()); }
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// Calls `visit(name, body)` for each recorded session of these families.
template <class Visit>
void for_each_recorded_session(const std::vector<const char*>& families, Visit visit) {
    for (const char* const family : families) {
        for (const std::filesystem::path& path : recorded_bodies(family)) {
            std::ifstream file(path, std::ios::binary);
            visit(path.stem().string(), nlohmann::ordered_json::parse(file));
        }
    }
}
inline const std::vector<const char*> recorded_families = {"anthropic", "openai_chat", "openai_responses",
                                                           "gemini"};

/// Calls `visit(name, body)` for one generated session in each spelling there is.
template <class Visit>
void for_each_generated_session(const coppice_examples::SessionShape& shape, Visit visit) {
    const nlohmann::ordered_json made = coppice_examples::make_session(shape);
    for (const coppice_examples::SessionDialect dialect : coppice_examples::session_dialects) {
        visit("generated " + std::string(coppice_examples::name_of(dialect)),
              coppice_examples::render(dialect, made));
    }
}

}  // namespace support
