// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/dom_walk.hpp>
#include <coppice/detail/json_spelling.hpp>
#include <coppice/measure.hpp>
#include <coppice/recap/branch.hpp>
#include <coppice/recap/message.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

/// The messages of one branch of a session in their order, as a recap is built from them.
struct SessionHistory {
    std::vector<SessionMessage> messages{};  ///< oldest first
    std::size_t cutoff = none;               ///< position of the last message before the cut
    bool unknown_cutoff = false;             ///< nowhere on this branch: no cut
    BranchHistory branch{};                  ///< which messages of the file these are
};

/// A session file as OpenSwarm keeps it, read into views that a recap is built from:
///
///     messages                array of: `id`; `role` user | assistant | tool_call | tool_result | system;
///                             `content`, a string or an object; perhaps `hidden`, `branch_id` ("main" when absent)
///     active_branch_id        branches: object of id -> `parent_branch_id`, `fork_point_message_id`
///     compacted_through_msg_id, framework_overhead_tokens
///
/// A call is `{"tool" or "name", "input"}`, a result `{"tool_name", "text"}`, both perhaps with an id of the call
/// (`tool_use_id`, `tool_call_id`, `call_id`, for calls also `id`) and `is_error`. Any other content is shown as JSON.
/// Null, and members of another type than this, count as absent. The document outlives the session and does not change; the session outlives its
/// histories.
class Session {
public:
    /// In the input of calls, longer strings are shown as their length.
    static constexpr std::size_t default_longest_string = 120;

    /// Reads a file. It points into the document, which has to stay as it is.
    template <class Json>
    explicit Session(const Json& document, std::size_t longest_string = default_longest_string) {
        static_assert(detail::is_basic_json_v<Json>, "coppice::Session reads a nlohmann::basic_json");
        const auto* body = document.template get_ptr<const typename Json::object_t*>();
        const Json* const messages = body == nullptr ? nullptr : find(*body, "messages");
        const auto* list =
            messages == nullptr ? nullptr : messages->template get_ptr<const typename Json::array_t*>();
        if (list == nullptr) {
            why_ = body == nullptr ? "the session is not an object" : "the session has no array `messages`";
            return;
        }
        messages_.reserve(list->size());
        for (const Json& message : *list) { add_message(message, longest_string); }
        active_branch = text_of(find(*body, "active_branch_id"));
        cutoff_id = text_of(find(*body, "compacted_through_msg_id"));
        if (const Json* overhead = find(*body, "framework_overhead_tokens")) {
            // a parsed number is unsigned, one that a program put there perhaps not
            if (overhead->is_number_unsigned() ||
                (overhead->is_number_integer() && overhead->template get<std::int64_t>() >= 0)) {
                overhead_tokens = overhead->template get<std::size_t>();
            }
        }
        const Json* const branches = find(*body, "branches");
        if (branches == nullptr) { return; }
        if (const auto* object = branches->template get_ptr<const typename Json::object_t*>()) {
            for (const auto& [id, branch] : *object) {
                branches_.push_back({id, member_text(branch, "parent_branch_id"),
                                     member_text(branch, "fork_point_message_id")});
            }
        }
    }
    template <class Json>
    explicit Session(const Json&&, std::size_t = 0) = delete;  // the session would outlive it

    // the views point into it
    Session(Session&&) = default;
    Session& operator=(Session&&) = default;

    /// Why nothing could be read; empty where it was.
    std::string_view why() const { return why_; }

    /// All messages of the file, in its order.
    std::span<const SessionMessage> messages() const { return messages_; }
    /// All branches of the file.
    std::span<const SessionBranch> branches() const { return branches_; }

    /// What the active branch saw, with the cutoff resolved.
    SessionHistory history() const&& = delete;  // the history would outlive the session
    /// What the active branch saw, with the cutoff resolved. Points into the session.
    SessionHistory history() const& {
        SessionHistory history;
        history.branch = branch_history(messages_, branches_, active_branch);
        const Cutoff cutoff = resolve_cutoff(messages_, history.branch, cutoff_id);
        history.cutoff = cutoff.position.value_or(none);
        history.unknown_cutoff = cutoff.unknown;
        history.messages.reserve(history.branch.messages.size());
        for (const std::size_t i : history.branch.messages) { history.messages.push_back(messages_[i]); }
        return history;
    }

    // the session's own, for the host to change
    std::string_view active_branch{};  ///< whose history is asked for
    std::string_view cutoff_id{};      ///< empty: none
    std::size_t overhead_tokens = 0;   ///< of what stands beside the messages, such as system prompt and tools

private:
    template <class Object>
    static const typename Object::mapped_type* find(const Object& object, std::string_view name) {
        for (const auto& [key, value] : object) {
            if (key == name) { return &value; }
        }
        return nullptr;
    }

    template <class Json>
    static std::string_view text_of(const Json* value) {
        const auto* text =
            value == nullptr ? nullptr : value->template get_ptr<const typename Json::string_t*>();
        return text == nullptr ? std::string_view() : std::string_view(*text);
    }

    template <class Json>
    static std::string_view member_text(const Json& value, std::string_view name) {
        const auto* object = value.template get_ptr<const typename Json::object_t*>();
        return object == nullptr ? std::string_view() : text_of(find(*object, name));
    }

    template <class Json>
    static bool member_is_true(const Json& value, std::string_view name) {
        const auto* object = value.template get_ptr<const typename Json::object_t*>();
        const Json* const member = object == nullptr ? nullptr : find(*object, name);
        return member != nullptr && member->is_boolean() && member->template get<bool>();
    }

    template <class Json>
    std::string_view spelled(const Json& value, std::size_t longest_string) {
        return value.is_string() ? text_of(&value) : as_json(value, longest_string);
    }

    template <class Json>
    std::string_view as_json(const Json& value, std::size_t longest_string) {
        std::string text;
        detail::JsonSpelling<Json>(text, longest_string).write(value);
        return kept_.emplace_back(std::move(text));
    }

    template <class Json>
    static std::string_view first_text(const Json& value, std::span<const std::string_view> names) {
        for (const std::string_view name : names) {
            if (const std::string_view text = member_text(value, name); !text.empty()) { return text; }
        }
        return {};
    }

    static SessionRole role_of(std::string_view name) {
        if (name == "user") { return SessionRole::user; }
        if (name == "assistant") { return SessionRole::assistant; }
        if (name == "tool_call") { return SessionRole::tool_call; }
        return name == "tool_result" ? SessionRole::tool_result : SessionRole::other;
    }

    template <class Json>
    void add_message(const Json& value, std::size_t longest_string) {
        using namespace std::string_view_literals;
        static constexpr std::array call_ids = {"tool_use_id"sv, "tool_call_id"sv, "call_id"sv, "id"sv};
        static constexpr std::array tool_names = {"tool"sv, "name"sv};

        SessionMessage& message = messages_.emplace_back();
        message.role = role_of(member_text(value, "role"));
        message.id = member_text(value, "id");
        message.branch = member_text(value, "branch_id");
        message.hidden = member_is_true(value, "hidden");
        const auto* object = value.template get_ptr<const typename Json::object_t*>();
        const Json* const content = object == nullptr ? nullptr : find(*object, "content");
        if (content == nullptr || content->is_null()) { return; }
        const bool call = message.role == SessionRole::tool_call;
        const std::span ids(call_ids);
        message.call_id = first_text(*content, call ? ids : ids.first(3));
        if (message.call_id.empty()) { message.call_id = first_text(value, ids.first(3)); }
        if (call && content->is_object()) {
            message.tool = first_text(*content, tool_names);
            const auto* input = find(*content->template get_ptr<const typename Json::object_t*>(), "input");
            static const Json null;
            message.text = as_json(input == nullptr ? null : *input, longest_string);
            return;
        }
        message.tool = member_text(*content, "tool_name");
        message.error = member_is_true(*content, "is_error") || member_is_true(value, "is_error");
        const auto* members = content->template get_ptr<const typename Json::object_t*>();
        const Json* const text = members == nullptr ? nullptr : find(*members, "text");
        const bool has_text = text != nullptr && text->is_string();
        message.text =
            is_block_list(*content) ? texts_of(*content) : spelled(has_text ? *text : *content, none);
    }

    // Content blocks, as a request body has them.
    template <class Json>
    static bool is_block_list(const Json& content) {
        return content.is_array() && std::any_of(content.begin(), content.end(), [](const Json& block) {
                   return !member_text(block, "type").empty();
               });
    }

    // Of their texts alone: what tools gave must not pass for what somebody said.
    template <class Json>
    std::string_view texts_of(const Json& blocks) {
        std::string joined;
        for (const Json& block : blocks) {
            if (member_text(block, "type") != "text") { continue; }
            if (!joined.empty()) { joined += '\n'; }
            joined += member_text(block, "text");
        }
        return kept_.emplace_back(std::move(joined));
    }

    std::string_view why_{};
    std::vector<SessionMessage> messages_;
    std::vector<SessionBranch> branches_;
    std::deque<std::string> kept_;  // texts that the document does not hold as they are shown
};

}  // namespace coppice
