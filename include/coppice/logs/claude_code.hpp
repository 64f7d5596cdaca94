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
#include <unordered_map>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

namespace detail {

/// Finds the branch of a log that is the newest, and puts together what its lines hold pieces of.
class ClaudeCodeLog {
public:
    SessionLog read(std::string_view text) {
        for_each_log_line(text, notes_, [this](LogJson& line, std::size_t number) { take(line, number); });
        choose_main_chain();
        choose_lines();
        join_lines_to_turns();
        find_lost_siblings();
        find_lost_results();
        SessionLog log{.format = LogFormat::claude_code, .dialect = Dialect::anthropic};
        log.body = LogJson::object();
        log.body["messages"] = LogJson::array();
        for (const Turn& turn : turns_) {
            log.body["messages"].push_back(message_of(turn));
            log.lines.push_back(first_line_of(turn));
        }
        note_unused_lines();
        log.notes = notes_.written();
        return log;
    }

private:
    enum class Is : std::uint8_t { user, assistant, boundary, link };

    // a line of the log
    struct Line {
        Is is = Is::link;
        bool sidechain = false;
        bool summary = false;
        bool repeated = false;  // its uuid stands there again
        bool used = false;
        std::size_t number = 0;
        std::size_t parent = none;  // position in lines_
        std::string uuid{};
        std::string parent_uuid{};
        std::string message_id{};
        std::string request_id{};
        LogJson content{};  // of a boundary, the segment that it preserves
    };

    // a message of the body, from lines in this order
    struct Turn {
        bool assistant = false;
        std::vector<std::size_t> lines{};
    };

    using Positions = std::unordered_map<std::string_view, std::size_t, SeededHash>;
    using Lists = std::unordered_map<std::string_view, std::vector<std::size_t>, SeededHash>;

    void take(LogJson& object, std::size_t number) {
        const std::string_view type = log_text(object, "type");
        Line line;
        line.number = number;
        line.uuid = log_text(object, "uuid");
        line.parent_uuid = log_text(object, "parentUuid");
        line.sidechain =
            log_is_true(object, "isSidechain") || !log_text(object, "parent_tool_use_id").empty();
        std::string_view why;
        if (type == "user" || type == "assistant") {
            why = take_message(object, type == "user" ? Is::user : Is::assistant, line);
        } else if (type == "system" && log_text(object, "subtype") == "compact_boundary") {
            line.is = Is::boundary;
            LogJson* const metadata = log_member(object, "compactMetadata");
            LogJson* const segment =
                metadata == nullptr ? nullptr : log_member(*metadata, "preservedSegment");
            if (segment != nullptr) { line.content = std::move(*segment); }
        } else {
            why = why_left_out(type);
        }
        if (!why.empty()) { notes_.add(why, number); }
        lines_.push_back(std::move(line));
    }

    // why there is none for the model
    static std::string_view take_message(LogJson& object, Is is, Line& line) {
        // the program's own words on an error
        if (log_is_true(object, "isApiErrorMessage")) { return "left out, an error of the API"; }
        LogJson* const message = log_member(object, "message");
        LogJson* const content = message == nullptr ? nullptr : log_member(*message, "content");
        if (content == nullptr || (!content->is_string() && !content->is_array())) {
            return "left out, a message without content";
        }
        const auto* words = content->get_ptr<const LogJson::string_t*>();
        if (words != nullptr ? words->empty() : content->empty()) {
            return "left out, a message without content";
        }
        line.is = is;
        line.summary = log_is_true(object, "isCompactSummary");
        line.message_id = log_text(*message, "id");
        line.request_id = log_text(object, "requestId");
        line.content = std::move(*content);
        return {};
    }

    static std::string_view why_left_out(std::string_view type) {
        constexpr std::string_view common = "left out, of type ";
        constexpr std::array<std::string_view, 9> known = {
            "left out, of type summary",         "left out, of type system",
            "left out, of type attachment",      "left out, of type file-history-snapshot",
            "left out, of type queue-operation", "left out, of type progress",
            "left out, of type custom-title",    "left out, of type ai-title",
            "left out, of type last-prompt"};
        for (const std::string_view why : known) {
            if (why.substr(common.size()) == type) { return why; }
        }
        return "left out, of no known type";
    }

    static bool ends_chain(const Line& line) { return line.is == Is::boundary && !line.sidechain; }

    static bool speaks(const Line& line) { return line.is == Is::user || line.is == Is::assistant; }

    // A log of a subagent is one sidechain.
    void choose_main_chain() {
        const bool main = std::any_of(lines_.begin(), lines_.end(),
                                      [](const Line& line) { return speaks(line) && !line.sidechain; });
        if (main) { return; }
        for (Line& line : lines_) { line.sidechain = false; }
    }

    void choose_lines() {
        std::size_t leaf = none;
        bool linked = false;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (lines_[i].sidechain) { continue; }
            linked = linked || !lines_[i].parent_uuid.empty();
            if (speaks(lines_[i])) { leaf = i; }
        }
        if (leaf == none) { return; }
        find_parents();
        if (linked && !lines_[leaf].uuid.empty()) {
            follow_parents(leaf);
        } else {
            follow_file();
        }
        for (const std::size_t line : chain_) { lines_[line].used = true; }
    }

    void find_parents() {
        Positions by_uuid;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const Line& line = lines_[i];
            if (line.uuid.empty()) { continue; }
            const auto [place, first] = by_uuid.try_emplace(line.uuid, i);
            if (first) { continue; }
            lines_[place->second].repeated = true;
            place->second = i;
        }
        const auto find = [&](std::string_view uuid) {
            const auto place = by_uuid.find(uuid);
            return place == by_uuid.end() || uuid.empty() ? none : place->second;
        };
        std::size_t boundary = none;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            lines_[i].parent = find(lines_[i].parent_uuid);
            if (ends_chain(lines_[i])) { boundary = i; }
        }
        if (boundary == none) { return; }
        const LogJson& segment = lines_[boundary].content;
        keep_segment(find(log_text(segment, "headUuid")), find(log_text(segment, "anchorUuid")),
                     find(log_text(segment, "tailUuid")));
    }

    // A compaction may keep messages as they are, where they stand: they come behind the anchor (the boundary or the
    // summary), and what followed that follows them.
    void keep_segment(std::size_t head, std::size_t anchor, std::size_t tail) {
        if (head == none || anchor == none || tail == none) { return; }
        std::vector<bool> kept(lines_.size());
        std::size_t line = tail;
        while (line != none && !kept[line]) {
            kept[line] = true;
            if (line == head) { break; }
            line = lines_[line].parent;
        }
        if (line != head || kept[anchor]) { return; }
        for (Line& other : lines_) {
            if (other.parent == anchor) { other.parent = tail; }
        }
        lines_[head].parent = anchor;
    }

    void follow_parents(std::size_t leaf) {
        std::vector<bool> seen(lines_.size());
        std::size_t last = leaf;
        std::size_t summary_at = none;
        std::size_t line = leaf;
        for (; line != none && !seen[line] && !ends_chain(lines_[line]); line = lines_[line].parent) {
            seen[line] = true;
            last = line;
            // a sidechain may lie between
            if (!speaks(lines_[line]) || lines_[line].sidechain) { continue; }
            chain_.push_back(line);
            if (lines_[line].summary && summary_at == none) { summary_at = chain_.size(); }
        }
        if (line == none) {
            if (!lines_[last].parent_uuid.empty()) {
                notes_.add("its parent is not in the log, nor what came before", lines_[last].number);
            }
            // old logs have a summary without a boundary
            if (summary_at != none) {
                chain_.resize(summary_at);
                compacted_before_ = lines_[chain_.back()].number;
            }
        } else if (ends_chain(lines_[line])) {
            compacted_before_ = lines_[line].number;
            const std::size_t summary = summary_at == none ? find_summary(line) : none;
            if (summary != none && !seen[summary]) { chain_.push_back(summary); }
        } else {
            notes_.add("its parents run in a circle", lines_[last].number);
        }
        std::reverse(chain_.begin(), chain_.end());
    }

    // Of a boundary: behind it, or, where there is none, right before it.
    std::size_t find_summary(std::size_t boundary) const {
        const auto on_main = [this](std::size_t i) { return !lines_[i].sidechain; };
        for (std::size_t i = boundary + 1; i < lines_.size(); ++i) {
            if (lines_[i].summary && on_main(i)) { return i; }
            if (ends_chain(lines_[i])) { break; }
        }
        for (std::size_t i = boundary; i > 0; --i) {
            if (speaks(lines_[i - 1]) && on_main(i - 1)) { return lines_[i - 1].summary ? i - 1 : none; }
        }
        return none;
    }

    void follow_file() {
        std::size_t boundary = none;
        std::size_t summary = none;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            if (lines_[i].sidechain) { continue; }
            if (ends_chain(lines_[i])) { boundary = i; }
            if (lines_[i].summary) { summary = i; }
        }
        std::size_t begin = boundary != none ? boundary : summary != none ? summary : 0;
        if (boundary != none) {
            summary = find_summary(boundary);
            if (summary != none && summary < boundary) { chain_.push_back(summary); }
        }
        if (begin > 0) { compacted_before_ = lines_[begin].number; }
        for (; begin < lines_.size(); ++begin) {
            const Line& line = lines_[begin];
            if (speaks(line) && !line.sidechain && !line.repeated) { chain_.push_back(begin); }
        }
    }

    // Blocks of one response stand on lines of their own, and results of its first calls perhaps between them.
    void join_lines_to_turns() {
        std::size_t response = none;
        bool only_results = true;  // behind that response
        for (const std::size_t at : chain_) {
            const Line& line = lines_[at];
            if (line.is == Is::user) {
                if (turns_.empty() || turns_.back().assistant) { turns_.push_back({}); }
                turns_.back().lines.push_back(at);
                only_results = only_results && holds_results_only(line.content);
                continue;
            }
            if (response != none && only_results &&
                same_response(lines_[turns_[response].lines.front()], line)) {
                turns_[response].lines.push_back(at);
                continue;
            }
            response = turns_.size();
            only_results = true;
            turns_.push_back({true, {at}});
        }
    }

    static bool same_response(const Line& left, const Line& right) {
        return !left.message_id.empty() && left.message_id == right.message_id &&
               left.request_id == right.request_id;
    }

    static bool holds_results_only(const LogJson& content) {
        return content.is_array() && std::all_of(content.begin(), content.end(), [](const LogJson& block) {
                   return log_text(block, "type") == "tool_result";
               });
    }

    // A line has one parent, so that of parallel calls the chain may hold one only.
    void find_lost_siblings() {
        Lists by_message;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const Line& line = lines_[i];
            const bool lost = line.is == Is::assistant && !line.sidechain && !line.used && !line.repeated;
            if (lost && !line.message_id.empty()) { by_message[line.message_id].push_back(i); }
        }
        if (by_message.empty()) { return; }
        std::vector<std::size_t> turn_of(lines_.size(), none);
        for (std::size_t turn = 0; turn < turns_.size(); ++turn) {
            if (!turns_[turn].assistant) { continue; }
            std::vector<std::size_t>& own = turns_[turn].lines;
            for (const std::size_t line : own) { turn_of[line] = turn; }
            const std::size_t first = own.front();
            const auto place = by_message.find(lines_[first].message_id);
            if (place == by_message.end()) { continue; }
            for (const std::size_t line : place->second) {
                // where requests have no id, messages of one id may be many
                const std::size_t parent = lines_[line].parent;
                const bool near =
                    !lines_[line].request_id.empty() || (parent != none && turn_of[parent] == turn);
                if (!same_response(lines_[first], lines_[line]) || !near) { continue; }
                own.push_back(line);
                turn_of[line] = turn;
                lines_[line].used = true;
            }
            by_message.erase(place);
            std::sort(own.begin(), own.end());
        }
    }

    void find_lost_results() {
        Lists by_call;
        for (std::size_t i = 0; i < lines_.size(); ++i) {
            const Line& line = lines_[i];
            if (line.is != Is::user || line.sidechain || line.used || line.repeated) { continue; }
            for_each_block(line.content, "tool_result", [&](const LogJson& block) {
                const std::string_view id = log_text(block, "tool_use_id");
                if (!id.empty()) { by_call[id].push_back(i); }
            });
        }
        if (by_call.empty()) { return; }
        for (auto& [id, list] : by_call) { std::reverse(list.begin(), list.end()); }
        std::vector<Turn> turns;
        turns.swap(turns_);
        for (std::size_t i = 0; i < turns.size(); ++i) {
            const bool answered = i + 1 < turns.size() && !turns[i + 1].assistant;
            std::vector<std::size_t> lost;
            if (turns[i].assistant) {
                lost = lost_results(turns[i], answered ? turns[i + 1] : Turn{}, by_call);
            }
            turns_.push_back(std::move(turns[i]));
            if (lost.empty()) { continue; }
            if (answered) {
                std::vector<std::size_t>& own = turns[i + 1].lines;
                own.insert(own.begin(), lost.begin(), lost.end());
            } else {
                turns_.push_back({false, std::move(lost)});
            }
        }
    }

    std::vector<std::size_t> lost_results(const Turn& calls, const Turn& answer, Lists& by_call) {
        Positions answered;
        for (const std::size_t line : answer.lines) {
            for_each_block(lines_[line].content, "tool_result", [&](const LogJson& block) {
                answered.try_emplace(log_text(block, "tool_use_id"), line);
            });
        }
        std::vector<std::size_t> lost;
        for (const std::size_t call : calls.lines) {
            for_each_block(lines_[call].content, "tool_use", [&](const LogJson& block) {
                const std::string_view id = log_text(block, "id");
                const auto place = by_call.find(id);
                if (place == by_call.end() || !answered.try_emplace(id, call).second) { return; }
                std::vector<std::size_t>& candidates = place->second;  // the first stands last
                while (!candidates.empty()) {
                    const std::size_t line = candidates.back();
                    candidates.pop_back();
                    if (line < call || lines_[line].used) { continue; }
                    lines_[line].used = true;
                    lost.push_back(line);
                    for_each_block(lines_[line].content, "tool_result", [&](const LogJson& result) {
                        answered.try_emplace(log_text(result, "tool_use_id"), line);
                    });
                    return;
                }
            });
        }
        return lost;
    }

    template <class Visit>
    static void for_each_block(const LogJson& content, std::string_view type, Visit visit) {
        if (!content.is_array()) { return; }
        for (const LogJson& block : content) {
            if (log_text(block, "type") == type) { visit(block); }
        }
    }

    std::size_t first_line_of(const Turn& turn) const {
        return lines_[*std::min_element(turn.lines.begin(), turn.lines.end())].number;
    }

    LogJson message_of(const Turn& turn) {
        LogJson message = {{"role", turn.assistant ? "assistant" : "user"}};
        if (turn.assistant) {
            order_.clear();
            for (const std::size_t line : turn.lines) {
                for_each_block(lines_[line].content, "tool_use", [this](const LogJson& block) {
                    order_.try_emplace(std::string(log_text(block, "id")), order_.size());
                });
            }
        }
        message["content"] = turn.lines.size() == 1 ? std::move(lines_[turn.lines.front()].content)
                             : turn.assistant       ? joined(turn)
                                                    : in_order_of_calls(joined(turn));
        return message;
    }

    LogJson joined(const Turn& turn) {
        LogJson blocks = LogJson::array();
        for (const std::size_t line : turn.lines) {
            LogJson& content = lines_[line].content;
            if (content.is_string()) {
                LogJson block = {{"type", "text"}};
                block["text"] = std::move(content);
                blocks.push_back(std::move(block));
                continue;
            }
            for (LogJson& block : content) { blocks.push_back(std::move(block)); }
        }
        return blocks;
    }

    // Results come first: so it is sent.
    LogJson in_order_of_calls(LogJson blocks) const {
        auto& list = blocks.get_ref<LogJson::array_t&>();
        std::vector<std::pair<std::size_t, std::size_t>> places;  // rank and position
        for (const LogJson& block : list) {
            std::size_t rank = none;
            if (log_text(block, "type") == "tool_result") {
                const auto call = order_.find(std::string(log_text(block, "tool_use_id")));
                rank = call == order_.end() ? order_.size() : call->second;
            }
            places.emplace_back(rank, places.size());
        }
        std::sort(places.begin(), places.end());
        LogJson sorted = LogJson::array();
        for (const auto& place : places) { sorted.push_back(std::move(list[place.second])); }
        return sorted;
    }

    void note_unused_lines() {
        for (const Line& line : lines_) {
            if (!speaks(line) || line.used) { continue; }
            notes_.add(line.sidechain                    ? "left out, of a sidechain"
                       : line.repeated                   ? "left out, its uuid stands there again"
                       : line.number < compacted_before_ ? "left out, before the compaction"
                                                         : "left out, on another branch",
                       line.number);
        }
    }

    LogNotes notes_;
    std::vector<Line> lines_;
    std::vector<std::size_t> chain_;
    std::vector<Turn> turns_;
    std::unordered_map<std::string, std::size_t, SeededHash>
        order_;  // of the calls of the last assistant message
    std::size_t compacted_before_ = 0;
};

}  // namespace detail

/// Reads a Claude Code session as an Anthropic Messages request: the chain of `parentUuid` from the newest message back
/// to the last compaction (with the messages that it kept), or, in a log without such links, the order of the file.
///
/// Lines of one response (`message.id`) become one message. Lines of the user that follow each other become one, too:
/// results first, in the order of their calls, found again where the chain passes them by. Lines with `isMeta` were
/// sent and stay. Sidechains, other branches, messages from before a compaction and all lines that are no message are
/// left out with a note; `toolUseResult` is for the user interface and ignored. A log of nothing but a sidechain is
/// one of a subagent, and read. Never throws on data.
///
/// Format: internal to Claude Code, it changes; see anthropics/claude-code#23948 and #24118.
inline SessionLog read_claude_code_log(std::string_view text) { return detail::ClaudeCodeLog().read(text); }

}  // namespace coppice
