// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/recap/builder.hpp>
#include <coppice/recap/message.hpp>
#include <coppice/recap/openswarm.hpp>
#include <coppice/recap/wording.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

/// A session that owns its texts.
class History {
public:
    History& ask(std::string text) { return add(coppice::SessionRole::user, std::move(text)); }
    History& reply(std::string text = "done") {
        return add(coppice::SessionRole::assistant, std::move(text));
    }
    History& other(std::string text) { return add(coppice::SessionRole::other, std::move(text)); }
    History& call(std::string tool, std::string input, std::string id = {}) {
        add(coppice::SessionRole::tool_call, std::move(input));
        return with(std::move(tool), std::move(id));
    }
    History& result(std::string text, std::string id = {}, std::string tool = {}) {
        add(coppice::SessionRole::tool_result, std::move(text));
        return with(std::move(tool), std::move(id));
    }
    /// A call and its result, without ids.
    History& step(std::string tool, std::string input, std::string text) {
        return call(std::move(tool), std::move(input)).result(std::move(text));
    }
    /// Of the newest message.
    History& hidden() { return last().hidden = true, *this; }
    History& failed() { return last().error = true, *this; }
    History& id(std::string id) { return last().id = own(std::move(id)), *this; }

    coppice::SessionMessage& last() { return messages_.back(); }
    std::vector<coppice::SessionMessage>& messages() { return messages_; }
    std::span<const coppice::SessionMessage> view() const { return messages_; }
    std::size_t size() const { return messages_.size(); }
    const coppice::SessionMessage& operator[](std::size_t i) const { return messages_[i]; }

private:
    History& add(coppice::SessionRole role, std::string text) {
        messages_.push_back({.role = role, .text = own(std::move(text))});
        return *this;
    }
    History& with(std::string tool, std::string id) {
        last().tool = own(std::move(tool));
        last().call_id = own(std::move(id));
        return *this;
    }
    std::string_view own(std::string text) { return texts_->emplace_back(std::move(text)); }

    // copies point to the same texts
    std::shared_ptr<std::deque<std::string>> texts_ = std::make_shared<std::deque<std::string>>();
    std::vector<coppice::SessionMessage> messages_;
};

/// What a recap has around its lines.
struct Frame {
    std::string head;
    std::string foot;
};

template <class Wording>
Frame frame_of(const Wording& wording) {
    Frame frame;
    wording.open(frame.head, wording.tags.recap);
    frame.head += '\n';
    wording.preamble(frame.head);
    frame.head += '\n';
    wording.frame(frame.head);
    frame.head += '\n';
    wording.end(frame.foot);
    frame.foot += "\n</" + std::string(wording.tags.recap) + ">";
    return frame;
}

/// The lines of a recap, each with its line break. Empty where the frame is not that of the wording.
template <class Wording = coppice::PlainRecapWording>
std::string lines_of(std::string_view recap, const Wording& wording = {}) {
    const Frame frame = frame_of(wording);
    const bool framed = recap.size() > frame.head.size() + frame.foot.size() &&
                        recap.starts_with(frame.head) && recap.ends_with(frame.foot);
    if (!framed) { return {}; }
    recap.remove_prefix(frame.head.size());
    recap.remove_suffix(frame.foot.size());
    return std::string(recap);
}

inline std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos;
         at = text.find(part, at + part.size())) {
        ++count;
    }
    return count;
}

/// Tags of one name in a text.
struct Fences {
    std::size_t opening = 0;
    std::size_t closing = 0;

    friend bool operator==(const Fences&, const Fences&) = default;
};

/// Counts tags without the library: between a bracket and the end of a name nothing is looked at but ASCII letters,
/// slashes and brackets of any kind. A letter or digit behind makes it another name.
inline Fences fences(std::string_view text, std::string_view name) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    const auto letter = [&](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; };
    const auto in_name = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
    Fences found;
    for (std::size_t open = text.find('<'); open != std::string_view::npos; open = text.find('<', open + 1)) {
        bool closing = false;
        std::size_t read = 0;  // of the name
        for (std::size_t at = open + 1; at < text.size(); ++at) {
            const char c = text[at];
            closing = closing || (read == 0 && c == '/');
            if (std::string_view("<>()[]{}").find(c) != std::string_view::npos) { break; }
            if (!letter(c)) { continue; }
            while (read < name.size() && !letter(name[read])) { ++read; }
            if (lower(c) != name[read]) { break; }
            ++read;
            const std::string_view rest = name.substr(read);
            if (std::any_of(rest.begin(), rest.end(), letter)) { continue; }
            if (at + 1 < text.size() && in_name(text[at + 1])) { break; }
            ++(closing ? found.closing : found.opening);
            break;
        }
    }
    return found;
}
inline constexpr Fences one_pair{1, 1};

/// By another reader of UTF-8 than the library's.
inline bool is_valid_utf8(const std::string& text) {
    try {
        return !nlohmann::json(text).dump().empty();
    } catch (const nlohmann::json::exception&) { return false; }
}

/// Whether control characters but line breaks and tabs, or line separators of Unicode, are in valid UTF-8.
inline bool has_controls(std::string_view text) {
    const auto control = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
    };
    if (std::any_of(text.begin(), text.end(), control)) { return true; }
    for (std::size_t at = text.find('\xC2'); at != std::string_view::npos; at = text.find('\xC2', at + 1)) {
        if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0) { return true; }
    }
    return text.find("\u2028") != std::string_view::npos || text.find("\u2029") != std::string_view::npos;
}

/// The code points of valid UTF-8.
inline std::size_t code_points(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// A wording that adds nothing of its own between what it quotes.
struct BareRecapWording {
    static constexpr std::string_view name = "bare";

    coppice::FenceTags tags{};
    std::string_view between{};  ///< parts of a line, and in place of what is left out

    void open(std::string& out, std::string_view tag) const { out.append("<").append(tag).append(">"); }
    void preamble(std::string& out) const { out += "Written by the platform."; }
    void frame(std::string& out) const { out += "All of it is past."; }
    void end(std::string& out) const { out += "The end."; }
    void line(std::string& out, const coppice::RecapLine& line) const {
        for (const std::string_view part :
             {line.tool, line.call_tool, line.text, line.input, line.last_line}) {
            if (!part.empty()) { out.append(part).append(between); }
        }
    }
    void gap(std::string& out, coppice::Gap, std::size_t) const { out += between; }
};
static_assert(coppice::recap_wording<BareRecapWording>);

/// A small generator whose numbers are the same everywhere.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed * 2 + 1) {}

    std::size_t below(std::size_t end) {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::size_t>((state_ >> 33U) % end);
    }
    bool chance(std::size_t percent) { return below(100) < percent; }
    template <class Choices>
    const auto& one_of(const Choices& choices) {
        return choices[below(std::size(choices))];
    }

private:
    std::uint64_t state_;
};

inline std::string repeated(std::string_view piece, std::size_t times) {
    std::string text;
    text.reserve(piece.size() * times);
    for (std::size_t i = 0; i < times; ++i) { text += piece; }
    return text;
}

}  // namespace support
