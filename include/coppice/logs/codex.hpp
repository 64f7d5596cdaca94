// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/log_lines.hpp>
#include <coppice/logs/session_log.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

namespace detail {

/// Folds a rollout into the history that a resumed thread starts with.
class CodexLog {
public:
    SessionLog read(std::string_view text) {
        for_each_log_line(text, notes_, [this](LogJson& line, std::size_t number) { take(line, number); });
        SessionLog log{.format = LogFormat::codex, .dialect = Dialect::openai_responses};
        log.body = LogJson::object();
        log.body["input"] = std::move(items_);
        log.lines = std::move(lines_);
        log.notes = notes_.written();
        return log;
    }

private:
    // of the user
    struct Turn {
        std::size_t item;
        bool summary = false;
    };

    void take(LogJson& line, std::size_t number) {
        const std::string_view type = log_text(line, "type");
        LogJson* const payload = log_member(line, "payload");
        if (type == "session_meta") { return; }
        if (payload == nullptr || !payload->is_object()) {
            notes_.add("left out, without a payload", number);
        } else if (type == "response_item") {
            add(std::move(*payload), number);
        } else if (type == "compacted") {
            compact(*payload, number);
        } else if (type == "event_msg" && log_text(*payload, "type") == "thread_rolled_back") {
            roll_back(*payload, number);
        } else {
            notes_.add(why_left_out(type), number);
        }
    }

    void add(LogJson item, std::size_t number) {
        // a mark of the state of the files, not for the model
        if (!item.is_object() || log_text(item, "type") == "ghost_snapshot") {
            notes_.add("left out, no item for the model", number);
            return;
        }
        if (is_user_turn(item)) { user_turns_.push_back({lines_.size()}); }
        items().push_back(std::move(item));
        lines_.push_back(number);
    }

    void compact(LogJson& payload, std::size_t number) {
        LogJson* const history = log_member(payload, "replacement_history");
        if (auto* replacement = history == nullptr ? nullptr : history->get_ptr<LogJson::array_t*>()) {
            if (!lines_.empty()) { notes_.add("replaces the history before it", number); }
            cut(0);
            user_turns_.clear();
            settled_ = 0;
            for (LogJson& item : *replacement) { add(std::move(item), number); }
            return;
        }
        // early logs: what the user said, and a summary
        notes_.add("replaces the history before it by what the user said and a summary", number);
        for (std::size_t i = settled_; i < user_turns_.size(); ++i) {
            const Turn turn = user_turns_[i];
            if (turn.summary) { continue; }
            if (turn.item != settled_) {
                items()[settled_] = std::move(items()[turn.item]);
                lines_[settled_] = lines_[turn.item];
            }
            user_turns_[settled_] = {settled_};
            ++settled_;
        }
        user_turns_.resize(settled_);
        cut(settled_);
        const std::string_view summary = log_text(payload, "message");
        if (summary.empty()) { return; }
        LogJson text = {{"type", "input_text"}, {"text", std::string(summary)}};
        LogJson message = {{"type", "message"}, {"role", "user"}};
        message["content"] = LogJson::array();
        message["content"].push_back(std::move(text));
        user_turns_.push_back({lines_.size(), true});
        items().push_back(std::move(message));
        lines_.push_back(number);
    }

    void roll_back(const LogJson& payload, std::size_t number) {
        const LogJson* const turns = log_member(payload, "num_turns");
        if (turns == nullptr || !turns->is_number_unsigned()) { return; }
        const auto count = static_cast<std::size_t>(
            std::min<std::uint64_t>(turns->get<std::uint64_t>(), user_turns_.size()));
        if (count == 0) { return; }
        notes_.add("takes turns of the user back", number);
        cut(user_turns_[user_turns_.size() - count].item);
        user_turns_.resize(user_turns_.size() - count);
        settled_ = std::min(settled_, user_turns_.size());
    }

    LogJson::array_t& items() { return items_.get_ref<LogJson::array_t&>(); }

    void cut(std::size_t length) {
        items().erase(items().begin() + static_cast<std::ptrdiff_t>(length), items().end());
        lines_.resize(length);
    }

    /// Whether a person wrote it: the harness speaks in the user's role, too.
    static bool is_user_turn(const LogJson& item) {
        constexpr std::array<std::string_view, 8> harness = {
            "<environment_context>", "<permissions instructions>",
            "<user_instructions>",   "# AGENTS.md instructions",
            "<turn_aborted>",        "<skill>",
            "<user_shell_command>",  "<subagent_notification>"};
        const std::string_view type = log_text(item, "type");
        if (log_text(item, "role") != "user" || (type != "message" && !type.empty())) { return false; }
        const LogJson* content = log_member(item, "content");
        if (content != nullptr && content->is_array() && !content->empty()) { content = &content->front(); }
        if (content == nullptr) { return true; }
        const auto* bare = content->get_ptr<const LogJson::string_t*>();
        const std::string_view text = bare == nullptr ? log_text(*content, "text") : std::string_view(*bare);
        return std::none_of(harness.begin(), harness.end(),
                            [&](std::string_view tag) { return text.substr(0, tag.size()) == tag; });
    }

    static std::string_view why_left_out(std::string_view type) {
        constexpr std::string_view common = "left out, of type ";
        constexpr std::array<std::string_view, 9> known = {
            "left out, of type event_msg",
            "left out, of type turn_context",
            "left out, of type world_state",
            "left out, of type token_usage_record",
            "left out, of type inter_agent_communication",
            "left out, of type inter_agent_communication_metadata",
            "left out, of type retained_context",
            "left out, of type security_risk_score",
            "left out, of type realtime_item"};
        for (const std::string_view why : known) {
            if (why.substr(common.size()) == type) { return why; }
        }
        return "left out, of no known type";
    }

    LogNotes notes_;
    LogJson items_ = LogJson::array();
    std::vector<std::size_t> lines_;
    std::vector<Turn> user_turns_;
    // so many of them come first of all and stand side by side: an early compaction left them
    std::size_t settled_ = 0;
};

}  // namespace detail

/// Reads a Codex rollout as an OpenAI Responses request. Items stand in the order of the log; a `compacted` line
/// replaces all before it by its `replacement_history`, and where it has none by what the user said and its summary;
/// turns that were rolled back are gone. What the harness says in the user's role was sent, and stays. Events, which
/// repeat outputs for the user interface, and all other lines are left out with a note. Never throws on data.
/// Format: openai/codex, `codex-rs/history` and `codex-rs/protocol`; internal to Codex, it changes.
inline SessionLog read_codex_log(std::string_view text) { return detail::CodexLog().read(text); }

}  // namespace coppice
