// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/dom_walk.hpp>
#include <coppice/tokens.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace coppice_replay {

using Json = nlohmann::ordered_json;

/// How tokens are counted, for whoever reads the figures.
inline constexpr std::string_view how_tokens_are_counted =
    "estimated by script from strings, keys and structure; 1,600 for an image or document";

inline constexpr coppice::ScriptAwareTokens estimator{};
inline constexpr std::size_t media_tokens = 1600;
inline constexpr std::size_t quarters = 4;  ///< of a token: the unit of the estimator's weights

/// Whether a string is an image or a document itself.
inline bool is_data_url(std::string_view text) {
    const std::string_view head = text.substr(0, 100);
    return head.substr(0, 5) == "data:" && head.find(";base64,") != std::string_view::npos;
}

namespace detail {

template <std::size_t Size>
bool is_listed(std::string_view word, const std::array<std::string_view, Size>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace detail

/// Whether an object is an image, a document or another medium, in the shape of any provider.
inline bool is_media(const Json& value) {
    constexpr std::array<std::string_view, 9> types = {"image",      "document",    "input_image",
                                                       "image_url",  "input_file",  "file",
                                                       "input_audio", "document_url", "computer_screenshot"};
    constexpr std::array<std::string_view, 9> holders = {"source",      "image_url", "file_url",
                                                         "file_data",   "file_id",   "file",
                                                         "input_audio", "data",      "document_url"};
    constexpr std::array<std::string_view, 4> of_gemini = {"inlineData", "inline_data", "fileData", "file_data"};
    constexpr std::array<std::string_view, 3> of_bedrock = {"image", "document", "video"};
    const auto* object = value.get_ptr<const Json::object_t*>();
    // all of them have few members
    if (object == nullptr || object->size() > 8) { return false; }
    bool type = false;
    bool holder = false;
    for (const auto& [key, member] : *object) {
        const auto* text = member.get_ptr<const std::string*>();
        type = type || (key == "type" && text != nullptr && detail::is_listed(*text, types));
        holder = holder || detail::is_listed(key, holders);
        if (member.is_object() && detail::is_listed(key, of_gemini)) { return true; }
        if (member.is_object() && detail::is_listed(key, of_bedrock) && member.contains("source")) { return true; }
    }
    return type && holder;
}

namespace detail {

struct WeightVisitor {
    std::size_t weight = 0;

    // half a token each for a colon and a comma
    void member(const std::string& key, bool first) { weight += estimator.weight(key) + (first ? 2 : 4); }
    void element(bool first) { weight += first ? 0 : 2; }

    bool enter(const Json& value) {
        if (const auto* text = value.get_ptr<const std::string*>()) {
            weight += is_data_url(*text) ? media_tokens * quarters : estimator.weight(*text);
            return false;
        }
        if (!value.is_structured()) {
            weight += estimator.weight(value.dump());
            return false;
        }
        if (is_media(value)) {
            weight += media_tokens * quarters;
            return false;
        }
        weight += 4;  // two brackets
        return true;
    }
};

// Calls `visit(std::string_view)` for every string that is no medium.
template <class Visit>
struct TextVisitor {
    Visit visit;

    void member(const std::string&, bool) {}
    void element(bool) {}
    bool enter(const Json& value) {
        if (const auto* text = value.get_ptr<const std::string*>()) {
            if (!is_data_url(*text)) { visit(std::string_view(*text)); }
            return false;
        }
        return value.is_structured() && !is_media(value);
    }
};

}  // namespace detail

/// What a value weighs, in quarters of a token.
inline std::size_t weight_of(const Json& value) {
    detail::WeightVisitor visitor;
    std::vector<coppice::detail::OpenValue<Json>> stack;
    coppice::detail::walk(value, visitor, stack);
    return visitor.weight;
}

/// Calls `visit(std::string_view)` for every string in the value that is no image or document.
template <class Visit>
void for_each_text(const Json& value, Visit visit) {
    detail::TextVisitor<Visit> visitor{visit};
    std::vector<coppice::detail::OpenValue<Json>> stack;
    coppice::detail::walk(value, visitor, stack);
}

}  // namespace coppice_replay
