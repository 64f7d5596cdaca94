// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/log_lines.hpp>
#include <coppice/logs/session_log.hpp>
#include <coppice/transcript.hpp>

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

/// Folds the events of a log into its surface, which is what the model sees.
class DshLog {
public:
    SessionLog read(std::string_view text) {
        for_each_log_line(text, notes_, [this](LogJson& line, std::size_t number) { take(line, number); });
        for (std::size_t slot = live_from(0); slot < slots_.size(); slot = live_from(slot + 1)) {
            write(slots_[slot]);
        }
        SessionLog log{.format = LogFormat::dsh, .dialect = Dialect::openai_chat};
        log.body = LogJson::object();
        log.body["messages"] = std::move(messages_);
        log.lines = std::move(lines_);
        log.notes = notes_.written();
        return log;
    }

private:
    // a place on the surface, with the event that has it now
    struct Slot {
        std::uint64_t first_seq = 0;  // of the event that opened it
        std::size_t line = 0;
        std::size_t next = 0;     // itself while live, else where to look on for one that is
        std::string_view role{};  // by the type of the event; empty where it says nothing
        LogJson data{};
    };

    struct Event {
        std::uint64_t seq;
        std::size_t slot;
    };

    void take(LogJson& line, std::size_t number) {
        const std::string_view type = log_text(line, "type");
        if (type == "session" && log_member(line, "seq") == nullptr) { return; }
        const std::uint64_t seq = next_seq(line, number);
        const LogJson* const op = log_member(line, "surfaceOp");
        LogJson* const data = log_member(line, "data");
        const auto* word = op == nullptr ? nullptr : op->get_ptr<const LogJson::string_t*>();
        const bool append = word != nullptr && *word == "append";
        const bool replace = op != nullptr && log_text(*op, "op") == "replace";
        if (!append && !replace && (op == nullptr || log_text(*op, "op") != "append")) {
            notes_.add(op == nullptr ? why_left_out(type) : "left out, no known operation on the surface",
                       number);
            return;
        }
        LogJson content = data == nullptr ? LogJson() : std::move(*data);
        const std::string_view role = role_by(type);
        if (!replace || !put_in_range(*op, seq, number, role, content)) {
            events_.push_back({seq, slots_.size()});
            slots_.push_back({seq, number, slots_.size(), role, std::move(content)});
        }
    }

    static std::string_view role_by(std::string_view type) {
        if (type == "user/message") { return "user"; }
        if (type == "assistant/message") { return "assistant"; }
        return type == "tool/result" ? "tool" : "";
    }

    // Numbers rise by one a line; a line of packed chunks stands for several.
    std::uint64_t next_seq(const LogJson& line, std::size_t number) {
        const auto own = [&](std::string_view name, std::uint64_t otherwise) {
            const LogJson* const member = log_member(line, name);
            if (member == nullptr || !member->is_number_unsigned()) { return otherwise; }
            const auto seq = member->get<std::uint64_t>();
            if (seq >= next_seq_ && seq < furthest_seq) { return seq; }
            notes_.add("its number is out of order, the place in the log counts", number);
            return otherwise;
        };
        const std::uint64_t seq = own("seq", own("seq0", next_seq_));
        next_seq_ = seq + 1;
        if (log_member(line, "seq0") != nullptr) {
            std::size_t count = longest_array(line);
            if (const LogJson* const data = log_member(line, "data")) {
                count = std::max(count, longest_array(*data));
            }
            next_seq_ = seq + std::max<std::size_t>(count, 1);
        }
        return seq;
    }

    static std::size_t longest_array(const LogJson& value) {
        std::size_t longest = 0;
        if (const auto* object = value.get_ptr<const LogJson::object_t*>()) {
            for (const auto& [key, member] : *object) {
                if (member.is_array()) { longest = std::max(longest, member.size()); }
            }
        }
        return longest;
    }

    // Whether there was anything in the range.
    bool put_in_range(const LogJson& op, std::uint64_t seq, std::size_t number, std::string_view role,
                      LogJson& content) {
        const std::uint64_t start = end_of_range(op, "start", "startSeq");
        const std::uint64_t end = end_of_range(op, "end", "endSeq");
        const auto by_first_seq = [](const Slot& slot, std::uint64_t wanted) {
            return slot.first_seq < wanted;
        };
        // an event has the place that it was given; other numbers, the one that they would have
        std::size_t first = slot_of(start);
        if (first == none) {
            first = static_cast<std::size_t>(
                std::lower_bound(slots_.begin(), slots_.end(), start, by_first_seq) - slots_.begin());
        }
        std::size_t last = slot_of(end);
        if (last == none) {
            last = static_cast<std::size_t>(
                std::lower_bound(slots_.begin(), slots_.end(), end, by_first_seq) - slots_.begin());
            if (last == 0) { first = slots_.size(); }
            last -= last > 0;
        }
        const std::size_t target = live_from(first);
        if (target >= slots_.size() || target > last) {
            notes_.add("what it replaces is not there, it was added to the end", number);
            return false;
        }
        for (std::size_t slot = live_from(target + 1); slot <= last && slot < slots_.size();
             slot = live_from(slot + 1)) {
            slots_[slot].next = slot + 1;
            slots_[slot].data = nullptr;
        }
        slots_[target].line = number;
        slots_[target].role = role;
        slots_[target].data = std::move(content);
        events_.push_back({seq, target});
        return true;
    }

    static std::uint64_t end_of_range(const LogJson& op, std::string_view name, std::string_view later_name) {
        for (const std::string_view key : {name, later_name}) {
            const LogJson* const member = log_member(op, key);
            if (member != nullptr && member->is_number_unsigned()) { return member->get<std::uint64_t>(); }
        }
        return furthest_seq;
    }

    std::size_t slot_of(std::uint64_t seq) const {
        const auto event = std::lower_bound(events_.begin(), events_.end(), seq,
                                            [](Event left, std::uint64_t right) { return left.seq < right; });
        return event == events_.end() || event->seq != seq ? none : event->slot;
    }

    // The first live place from here on, or the end. Paths become shorter as they are walked.
    std::size_t live_from(std::size_t slot) {
        while (slot < slots_.size() && slots_[slot].next != slot) {
            std::size_t& next = slots_[slot].next;
            if (next < slots_.size()) { next = slots_[next].next; }
            slot = next;
        }
        return slot;
    }

    void write(Slot& slot) {
        LogJson* message = log_member(slot.data, "message");
        if (message == nullptr || !message->is_object()) { message = &slot.data; }
        std::string_view role = log_text(*message, "role");
        if (role.empty()) { role = slot.role; }
        // early results are messages of the user
        const bool results = role == "tool" || slot.role == "tool" || holds_results(*message);
        if (results) {
            write_results(*message, slot);
        } else if (role == "assistant") {
            write_assistant(*message, slot.line);
        } else if (role == "user" || role == "system" || role == "developer") {
            LogJson out = {{"role", std::string(role)}};
            out["content"] = text_of(log_member(*message, "content"), slot.line);
            add(std::move(out), slot.line);
        } else {
            notes_.add("left out, no message that is known", slot.line);
        }
    }

    static bool is_of_type(const LogJson& block, std::string_view type) {
        return log_text(block, "type") == type;
    }

    static bool holds_results(const LogJson& message) {
        const LogJson* const content = log_member(message, "content");
        return content != nullptr && content->is_array() &&
               std::any_of(content->begin(), content->end(),
                           [](const LogJson& block) { return is_of_type(block, "tool-result"); });
    }

    void write_results(LogJson& message, const Slot& slot) {
        const LogJson* const source = log_member(message, "source");
        std::string id(log_text(message, "toolCallId"));
        for (const LogJson* const value : {source, static_cast<const LogJson*>(&message), &slot.data}) {
            if (id.empty() && value != nullptr) { id = log_text(*value, "callId"); }
        }
        LogJson* const content = log_member(message, "content");
        if (!holds_results(message)) {
            write_result(id, content, slot.line);
            return;
        }
        LogJson said = LogJson::array();
        for (LogJson& block : *content) {
            if (!is_of_type(block, "tool-result")) {
                said.push_back(std::move(block));
                continue;
            }
            const std::string_view own = log_text(block, "toolCallId");
            write_result(own.empty() ? id : std::string(own), log_member(block, "content"), slot.line);
        }
        if (said.empty()) { return; }
        LogJson out = {{"role", "user"}};
        out["content"] = text_of(&said, slot.line);
        add(std::move(out), slot.line);
    }

    void write_result(const std::string& id, LogJson* content, std::size_t line) {
        LogJson out = {{"role", "tool"}, {"tool_call_id", id}};
        out["content"] = text_of(content, line);
        add(std::move(out), line);
    }

    void write_assistant(LogJson& message, std::size_t line) {
        LogJson* const content = log_member(message, "content");
        LogJson said = LogJson::array();
        LogJson calls = LogJson::array();
        std::string reasoning;
        if (content != nullptr && content->is_string()) { said.push_back(std::move(*content)); }
        if (content != nullptr && content->is_array()) {
            for (LogJson& block : *content) {
                if (is_of_type(block, "tool-call")) {
                    calls.push_back(call_of(block));
                } else if (is_of_type(block, "reasoning") || is_of_type(block, "thinking")) {
                    reasoning += log_text(block, "text");
                } else {
                    said.push_back(std::move(block));
                }
            }
        }
        LogJson out = {{"role", "assistant"}};
        out["content"] = said.empty() ? LogJson() : text_of(&said, line);
        if (!reasoning.empty()) { out["reasoning_content"] = std::move(reasoning); }
        if (!calls.empty()) { out["tool_calls"] = std::move(calls); }
        if (out.size() == 2 && out["content"].is_null()) {
            notes_.add("left out, a message without content", line);
            return;
        }
        add(std::move(out), line);
    }

    static LogJson call_of(LogJson& block) {
        LogJson function = {{"name", std::string(log_text(block, "name"))}};
        LogJson* const arguments = log_member(block, "arguments");
        if (arguments == nullptr) {
            function["arguments"] = "{}";
        } else if (arguments->is_string()) {
            function["arguments"] = std::move(*arguments);
        } else {
            // as deep as lines may be
            function["arguments"] = arguments->dump(-1, ' ', false, LogJson::error_handler_t::replace);
        }
        LogJson call = {{"id", std::string(log_text(block, "id"))}, {"type", "function"}};
        call["function"] = std::move(function);
        return call;
    }

    // A string where one is enough, else text parts. Media are references to attachments, and named.
    LogJson text_of(LogJson* content, std::size_t line) {
        if (content == nullptr) { return ""; }
        if (content->is_string()) { return std::move(*content); }
        LogJson parts = LogJson::array();
        if (content->is_array()) {
            for (LogJson& block : *content) {
                LogJson text = block.is_string() ? std::move(block) : text_of_block(block, line);
                if (text.is_null()) { continue; }
                LogJson part = {{"type", "text"}};
                part["text"] = std::move(text);
                parts.push_back(std::move(part));
            }
        }
        if (parts.empty()) { return ""; }
        if (parts.size() > 1) { return parts; }
        return std::move(parts.front()["text"]);
    }

    LogJson text_of_block(LogJson& block, std::size_t line) {
        if (is_of_type(block, "text")) {
            LogJson* const text = log_member(block, "text");
            if (text != nullptr && text->is_string()) { return std::move(*text); }
        }
        constexpr std::array<std::string_view, 5> media = {"image", "file", "document", "audio", "video"};
        const std::string_view type = log_text(block, "type");
        if (std::find(media.begin(), media.end(), type) == media.end()) {
            notes_.add("a block of no known type was left out", line);
            return nullptr;
        }
        const LogJson* const attachment = log_member(block, "attachment");
        const LogJson& reference = attachment == nullptr ? block : *attachment;
        std::string name = "[" + std::string(type);
        for (const std::string_view key : {"mediaType", "mimeType", "name", "hash", "sha256", "id"}) {
            const std::string_view value = log_text(reference, key);
            // a reference is short: what is not holds the media themselves
            if (value.empty() || value.size() > 200) { continue; }
            name += ' ';
            name += value;
        }
        return name + "]";
    }

    void add(LogJson message, std::size_t line) {
        messages_.push_back(std::move(message));
        lines_.push_back(line);
    }

    static std::string_view why_left_out(std::string_view type) {
        constexpr std::string_view common = "left out, of type ";
        constexpr std::array<std::string_view, 9> known = {
            "left out, of type tool/call",       "left out, of type compaction/prune",
            "left out, of type assistant/chunk", "left out, of type assistant/attempt",
            "left out, of type request/header",  "left out, of type turn/start",
            "left out, of type turn/end",        "left out, of type step/start",
            "left out, of type step/end"};
        for (const std::string_view why : known) {
            if (why.substr(common.size()) == type) { return why; }
        }
        return "left out, not on the surface";
    }

    static constexpr std::uint64_t furthest_seq = std::uint64_t{1} << 53U;

    LogNotes notes_;
    std::vector<Slot> slots_;
    std::vector<Event> events_;  // those that were given a place
    std::uint64_t next_seq_ = 0;
    LogJson messages_ = LogJson::array();
    std::vector<std::size_t> lines_;
};

}  // namespace detail

/// Reads a DeepSeek Harness session as an OpenAI Chat request: the fold of the events that have a `surfaceOp`, which
/// append to what the model sees or replace a range of it. Calls become `tool_calls`, reasoning `reasoning_content`,
/// results messages of role `tool`, whose text stays as it is; whether they failed has no place in this dialect.
/// Attached media become a text that names them. All other events are left out with a note. Never throws on data.
/// Format: deepseek-ai/deepseek-harness, `packages/core/session`, versions 0 to 4; internal to it, it changes. A
/// compressed log (`.zstd`) has to be decoded first.
inline SessionLog read_dsh_log(std::string_view text) { return detail::DshLog().read(text); }

}  // namespace coppice
