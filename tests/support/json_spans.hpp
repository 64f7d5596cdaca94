// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

/// Where a value stands in a JSON text.
struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t size() const { return end - begin; }
    std::string_view of(std::string_view json) const { return json.substr(begin, size()); }
};

inline void put_utf8(std::string& out, std::uint32_t code) {
    const auto put = [&out](std::uint32_t byte) {
        out += static_cast<char>(static_cast<unsigned char>(byte));
    };
    if (code < 0x80) { return put(code); }
    if (code < 0x800) {
        put(0xC0 + code / 64);
    } else {
        if (code < 0x10000) {
            put(0xE0 + code / 4096);
        } else {
            put(0xF0 + code / 262144);
            put(0x80 + code / 4096 % 64);
        }
        put(0x80 + code / 64 % 64);
    }
    put(0x80 + code % 64);
}

/// Finds values in valid JSON text of any depth. Written without the library on purpose: a mistake there must not be
/// repeated here.
class JsonSpans {
public:
    using Members = std::vector<std::pair<std::string, Span>>;

    explicit JsonSpans(std::string_view json) : json_(json) {}

    std::string_view json() const { return json_; }
    char kind(Span value) const { return json_[value.begin]; }

    Span root() const {
        constexpr std::string_view mark = "\xEF\xBB\xBF";
        return value_at(json_.substr(0, 3) == mark ? 3 : 0);
    }

    /// The value that begins at or behind a place.
    Span value_at(std::size_t at) const {
        at = skip_blank(at);
        const std::size_t begin = at;
        std::size_t depth = 0;
        do {
            const char c = json_.at(at);
            if (c == '"') {
                at = string_end(at);
            } else if (c == '{' || c == '[') {
                ++depth;
                ++at;
            } else if (c == '}' || c == ']') {
                --depth;
                ++at;
            } else if (depth > 0) {
                ++at;
            } else {
                while (at < json_.size() && std::string_view(",]} \t\r\n").find(json_[at]) == npos) { ++at; }
            }
        } while (depth > 0);
        return {begin, at};
    }

    std::vector<Span> elements(Span array) const {
        std::vector<Span> found;
        if (kind(array) != '[') { return found; }
        std::size_t at = skip_blank(array.begin + 1);
        while (json_.at(at) != ']') {
            found.push_back(value_at(at));
            at = skip_comma(found.back().end);
        }
        return found;
    }

    /// Names are decoded; the half of a surrogate pair becomes three bytes of its own.
    Members members(Span object) const {
        Members found;
        if (kind(object) != '{') { return found; }
        std::size_t at = skip_blank(object.begin + 1);
        while (json_.at(at) != '}') {
            const Span key = value_at(at);
            at = skip_blank(key.end) + 1;
            found.emplace_back(decoded(key), value_at(at));
            at = skip_comma(found.back().second.end);
        }
        return found;
    }

    /// The last member of this name; an empty span where there is none.
    Span member(Span object, std::string_view name) const {
        Span found;
        for (const auto& [key, value] : members(object)) {
            if (key == name) { found = value; }
        }
        return found;
    }

    /// Whether two members of this object have one name.
    bool repeats_keys(Span object) const {
        std::vector<std::string> names;
        for (auto& [key, value] : members(object)) { names.push_back(key); }
        std::sort(names.begin(), names.end());
        return std::adjacent_find(names.begin(), names.end()) != names.end();
    }

    /// Where the path of an edit leads to: a JSON Pointer, and behind a `#` another one into the JSON that a string holds.
    Span follow_into(Span value, std::string_view path) const {
        const std::size_t hash = path.find('#');
        if (hash == npos) { return follow(value, path); }
        const Span holder = follow(value, path.substr(0, hash));
        std::vector<std::size_t> places;
        const std::string packed = decoded(holder, places);
        const JsonSpans inner(packed);
        const Span found = inner.follow(inner.root(), path.substr(hash + 1));
        return {places.at(found.begin), places.at(found.end)};
    }

    /// Where a JSON Pointer leads to. No object on the way has two members of one name.
    Span follow(Span value, std::string_view pointer) const {
        while (!pointer.empty()) {
            const std::size_t next = std::min(pointer.find('/', 1), pointer.size());
            std::string step;
            for (std::size_t i = 1; i < next; ++i) {
                if (pointer[i] != '~') {
                    step += pointer[i];
                } else {
                    step += pointer[++i] == '0' ? '~' : '/';
                }
            }
            pointer.remove_prefix(next);
            if (kind(value) == '[') {
                value = elements(value).at(std::stoul(step));
            } else {
                if (repeats_keys(value)) { throw std::logic_error("a key stands there twice"); }
                value = member(value, step);
                if (value.size() == 0) { throw std::out_of_range("no member " + step); }
            }
        }
        return value;
    }

    std::string decoded(Span string) const {
        std::vector<std::size_t> places;
        return decoded(string, places);
    }

    /// For each byte of what a string means, and for its end, where in the text it is spelled.
    std::string decoded(Span string, std::vector<std::size_t>& places) const {
        const std::string_view inside = json_.substr(string.begin + 1, string.size() - 2);
        std::string out;
        places.clear();
        for (std::size_t at = 0; at < inside.size();) {
            const std::size_t plain = std::min(inside.find('\\', at), inside.size());
            out += inside.substr(at, plain - at);
            while (places.size() < out.size()) { places.push_back(string.begin + 1 + at++); }
            at = plain;
            if (at == inside.size()) { break; }
            const std::size_t spelled_at = string.begin + 1 + at;
            const char c = inside.at(at + 1);
            at += 2;
            constexpr std::string_view letters = "bfnrt";
            const std::size_t letter = letters.find(c);
            if (c == 'u') {
                std::uint32_t code = hex(inside, at);
                at += 4;
                const bool first = code >= 0xD800 && code <= 0xDBFF && inside.substr(at, 2) == "\\u";
                const std::uint32_t second = first ? hex(inside, at + 2) : 0;
                if (second >= 0xDC00 && second <= 0xDFFF) {
                    code = 0x10000 + (code - 0xD800) * 0x400 + (second - 0xDC00);
                    at += 6;
                }
                put_utf8(out, code);
            } else {
                out += letter == npos ? c : std::string_view("\b\f\n\r\t")[letter];
            }
            places.resize(out.size(), spelled_at);
        }
        places.push_back(string.end - 1);
        return out;
    }

private:
    static constexpr std::size_t npos = std::string_view::npos;

    static std::uint32_t hex(std::string_view text, std::size_t at) {
        return static_cast<std::uint32_t>(std::stoul(std::string(text.substr(at, 4)), nullptr, 16));
    }

    std::size_t skip_blank(std::size_t at) const {
        while (at < json_.size() && std::string_view(" \t\r\n").find(json_[at]) != npos) { ++at; }
        return at;
    }
    std::size_t skip_comma(std::size_t at) const {
        at = skip_blank(at);
        return json_.at(at) == ',' ? skip_blank(at + 1) : at;
    }
    std::size_t string_end(std::size_t at) const {
        for (++at;; ++at) {
            at = json_.find('"', at);
            if (at == npos) { throw std::logic_error("no JSON: a string without end"); }
            std::size_t slashes = 0;
            while (json_[at - 1 - slashes] == '\\') { ++slashes; }
            if (slashes % 2 == 0) { return at + 1; }
        }
    }

    std::string_view json_;
};

/// The blocks of the requests in a text, looked up by the numbers that a report gives.
class BlockSpans {
public:
    explicit BlockSpans(std::string_view json) : spans_(json) {
        const Span root = spans_.root();
        const Span list =
            spans_.kind(root) == '{' && !is_request(root) ? spans_.member(root, "requests") : root;
        requests_ = {unwrapped(root)};
        if (list.size() == 0 || spans_.kind(list) != '[') { return; }
        std::vector<Span> entries = spans_.elements(list);
        const bool wrapped = !entries.empty() && unwrapped(entries[0]).begin != entries[0].begin;
        if (list.begin == root.begin && !wrapped) { return; }
        requests_.clear();
        for (const Span entry : entries) { requests_.push_back(unwrapped(entry)); }
    }

    const JsonSpans& spans() const { return spans_; }
    const std::vector<Span>& requests() const { return requests_; }

    /// What the path of an edit starts from: a block of a message's content, a part, or the whole message or item.
    Span block(std::string_view dialect, std::size_t request, std::size_t message, std::size_t block) {
        if (dialect == "openai-chat" || dialect == "openai-responses") { return messages(request).at(message); }
        if (blocks_.empty() || request != request_ || message != message_) {
            request_ = request;
            message_ = message;
            const char* const list = dialect == "gemini" ? "parts" : "content";
            blocks_ = spans_.elements(spans_.member(messages(request).at(message), list));
        }
        return blocks_.at(block);
    }

    const std::vector<Span>& messages(std::size_t request) {
        const auto [found, fresh] = messages_.try_emplace(request);
        if (fresh) {
            Span value = requests_.at(request);
            if (spans_.kind(value) == '{') {
                const Span whole = value;
                for (const char* const name : {"messages", "contents", "input"}) {
                    const Span list = spans_.member(whole, name);
                    if (list.size() > 0 && spans_.kind(list) == '[') { value = list; }
                }
            }
            found->second = spans_.elements(value);
        }
        return found->second;
    }

private:
    bool is_request(Span object) const {
        if (spans_.repeats_keys(object)) { return true; }
        for (const char* const name : {"messages", "contents", "input", "role"}) {
            if (spans_.member(object, name).size() > 0) { return true; }
        }
        return false;
    }

    Span unwrapped(Span value) const {
        if (spans_.kind(value) != '{' || is_request(value)) { return value; }
        Span inner = value;
        for (const auto& [key, member] : spans_.members(value)) {
            const bool wraps = key == "params" || key == "body" || key == "request" || key == "modelInput";
            if (wraps && spans_.kind(member) == '{') { inner = member; }
        }
        return inner;
    }

    JsonSpans spans_;
    std::vector<Span> requests_;
    std::map<std::size_t, std::vector<Span>> messages_;
    std::size_t request_ = 0;
    std::size_t message_ = 0;
    std::vector<Span> blocks_;
};

}  // namespace support
