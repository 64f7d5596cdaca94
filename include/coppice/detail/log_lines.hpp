// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/json_shape.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0::detail {

using LogJson = nlohmann::ordered_json;

/// The lines of a log that hold something, in their order. Only LF ends a line; blank lines, a byte order mark and a CR
/// before the end are passed over.
class LogLines {
public:
    explicit LogLines(std::string_view text) : rest_(text) {
        constexpr std::string_view mark = "\xEF\xBB\xBF";
        if (rest_.substr(0, mark.size()) == mark) { rest_.remove_prefix(mark.size()); }
    }

    bool next() {
        while (!rest_.empty()) {
            const std::size_t end = rest_.find('\n');
            ended_ = end != std::string_view::npos;
            line_ = rest_.substr(0, end);
            rest_.remove_prefix(ended_ ? end + 1 : rest_.size());
            ++number_;
            if (!line_.empty() && line_.back() == '\r') { line_.remove_suffix(1); }
            if (line_.find_first_not_of(" \t\r") != std::string_view::npos) { return true; }
        }
        return false;
    }

    std::string_view line() const { return line_; }
    std::size_t number() const { return number_; }
    /// The line and all that follows.
    std::string_view from_here() const {
        return {line_.data(), static_cast<std::size_t>(rest_.data() + rest_.size() - line_.data())};
    }
    /// Whether an end was written. Without one, the writer may have been cut off.
    bool ended() const { return ended_; }

private:
    std::string_view rest_;
    std::string_view line_;
    std::size_t number_ = 0;
    bool ended_ = true;
};

/// What there is to say of lines: "line 7 and 2 more: left out, no JSON".
class LogNotes {
public:
    /// `what` is one of few, and a literal.
    void add(std::string_view what, std::size_t line) {
        for (Note& note : notes_) {
            if (note.what != what) { continue; }
            ++note.count;
            note.first = std::min(note.first, line);
            return;
        }
        notes_.push_back({what, line, 1});
    }

    std::vector<std::string> written() const {
        std::vector<std::string> out;
        for (const Note& note : notes_) {
            std::string text = "line " + std::to_string(note.first);
            if (note.count > 1) { text += " and " + std::to_string(note.count - 1) + " more"; }
            text += ": ";
            text += note.what;
            out.push_back(std::move(text));
        }
        return out;
    }

private:
    struct Note {
        std::string_view what;
        std::size_t first;
        std::size_t count;
    };
    std::vector<Note> notes_;
};

/// Of a member of an object, or nothing.
inline LogJson* log_member(LogJson& value, std::string_view name) {
    if (auto* object = value.get_ptr<LogJson::object_t*>()) {
        for (auto& [key, member] : *object) {
            if (key == name) { return &member; }
        }
    }
    return nullptr;
}
inline const LogJson* log_member(const LogJson& value, std::string_view name) {
    return log_member(const_cast<LogJson&>(value), name);
}

/// A string member, or an empty text.
inline std::string_view log_text(const LogJson& value, std::string_view name) {
    const LogJson* member = log_member(value, name);
    const auto* text = member == nullptr ? nullptr : member->get_ptr<const LogJson::string_t*>();
    return text == nullptr ? std::string_view() : std::string_view(*text);
}

inline bool log_is_true(const LogJson& value, std::string_view name) {
    const LogJson* member = log_member(value, name);
    const auto* flag = member == nullptr ? nullptr : member->get_ptr<const LogJson::boolean_t*>();
    return flag != nullptr && *flag;
}

/// Parses a line into `out`. Why it cannot be, or nothing.
inline std::string_view parse_log_line(std::string_view line, LogJson& out) {
    // far above what is written, and what a DOM that is copied can bear
    constexpr std::size_t deepest = 1000;
    constexpr std::size_t widest = 2000;
    const JsonShape shape = json_shape(line);
    if (shape.depth > deepest) { return "left out, nested deeper than 1000 levels"; }
    if (shape.members > widest) { return "left out, an object of more than 2000 members"; }
    // nlohmann takes a NUL between tokens for the end
    const bool nul = line.find('\0') != std::string_view::npos;
    if (!nul) { out = LogJson::parse(line.begin(), line.end(), nullptr, false); }
    if (nul || out.is_discarded()) { return "left out, no JSON"; }
    return out.is_object() ? std::string_view() : "left out, no object";
}

/// Calls `visit(LogJson& object, std::size_t line)` for every line that holds one, and notes the others.
template <class Visit>
void for_each_log_line(std::string_view text, LogNotes& notes, Visit visit) {
    LogLines lines(text);
    LogJson object;
    while (lines.next()) {
        std::string_view why = parse_log_line(lines.line(), object);
        if (why.empty()) {
            visit(object, lines.number());
            continue;
        }
        if (!lines.ended() && why == "left out, no JSON") { why = "left out, torn: the log ends in it"; }
        notes.add(why, lines.number());
    }
}

/// For tables whose keys somebody else chose.
struct SeededHash {
    std::size_t operator()(std::string_view text) const {
        return static_cast<std::size_t>(hash_bytes(text, process_seed()));
    }
};

}  // namespace coppice::detail
