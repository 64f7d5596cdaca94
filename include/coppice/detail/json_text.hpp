// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/json_grammar.hpp>
#include <coppice/detail/lexical.hpp>
#include <coppice/dialect.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// JSON that stands in a string, such as the arguments of a tool call: what its tokens are and where. It may be nested
/// to any depth: nothing here calls itself. The object can be used again, and keeps what it has allocated.
class JsonText {
public:
    class Cursor;

    /// False where the text is no JSON. It must stay where it is.
    bool read(std::string_view json) {
        json_ = json;
        tokens_.clear();
        open_.clear();
        // places are counted in 32 bits
        if (json.size() > std::numeric_limits<std::uint32_t>::max()) { return false; }
        return !JsonGrammar<Collector>(json, objects_, Collector{this}).find_fault();
    }

    /// The whole of what was read.
    Cursor root() const;

private:
    // a value with all that is in it, or the key of a member
    struct Token {
        std::uint32_t begin;
        std::uint32_t end;
        std::uint32_t next;  // the first token behind it
        bool escaped = false;
    };

    struct Collector {
        JsonText* text;

        void open(std::size_t at, bool) {
            text->open_.push_back(text->tokens_.size());
            add(at, at, false);
        }
        void close(std::size_t at) {
            Token& token = text->tokens_[text->open_.back()];
            text->open_.pop_back();
            token.end = static_cast<std::uint32_t>(at + 1);
            token.next = static_cast<std::uint32_t>(text->tokens_.size());
        }
        void key(std::size_t begin, std::size_t end, bool escaped) { add(begin, end, escaped); }
        void string(std::size_t begin, std::size_t end, bool escaped) { add(begin, end, escaped); }
        void scalar(std::size_t begin, std::size_t end) { add(begin, end, false); }

        void add(std::size_t begin, std::size_t end, bool escaped) {
            text->tokens_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end),
                                     static_cast<std::uint32_t>(text->tokens_.size() + 1), escaped});
        }
    };

    std::string_view spelling(std::uint32_t token) const {
        return json_.substr(tokens_[token].begin, tokens_[token].end - tokens_[token].begin);
    }
    Text inside(std::uint32_t token) const {
        const std::string_view whole = spelling(token);
        return Text::still_escaped(whole.substr(1, whole.size() - 2), tokens_[token].escaped);
    }

    // of an object, its keys
    template <class Visit>
    void for_each_child(std::uint32_t token, Visit visit) const {
        const bool object = json_[tokens_[token].begin] == '{';
        const std::uint32_t end = tokens_[token].next;
        for (std::uint32_t child = token + 1; child < end;) {
            visit(child);
            child = tokens_[object ? child + 1 : child].next;
        }
    }

    // by name, and those of one name by their place
    void sort_keys(std::uint32_t object) const {
        keys_.clear();
        for_each_child(object, [this](std::uint32_t key) { keys_.push_back(key); });
        std::sort(keys_.begin(), keys_.end(), [this](std::uint32_t left, std::uint32_t right) {
            const int order = compare_text(inside(left), inside(right));
            return order != 0 ? order < 0 : left < right;
        });
    }

    bool repeats_keys(std::uint32_t object) const {
        sort_keys(object);
        const auto same = [this](std::uint32_t left, std::uint32_t right) {
            return same_text(inside(left), inside(right));
        };
        return std::adjacent_find(keys_.begin(), keys_.end(), same) != keys_.end();
    }

    // in the order of the text
    std::vector<std::uint32_t> last_of_each_name(std::uint32_t object) const {
        sort_keys(object);
        std::vector<std::uint32_t> last;
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            const bool another = i + 1 < keys_.size() && same_text(inside(keys_[i]), inside(keys_[i + 1]));
            if (!another) { last.push_back(keys_[i]); }
        }
        std::sort(last.begin(), last.end());
        return last;
    }

    std::string_view json_;
    std::vector<Token> tokens_;
    mutable std::vector<std::uint32_t> keys_;  // for sorting, kept for its capacity
    // for reading alone
    std::vector<std::size_t> open_;
    std::vector<bool> objects_;
};

/// A value of such a text. Its node is its spelling.
class JsonText::Cursor {
public:
    Cursor(const JsonText& text, std::uint32_t token) : text_(&text), token_(token) {}

    JsonType type() const {
        switch (spelling().front()) {
            case '{': return JsonType::object;
            case '[': return JsonType::array;
            case '"': return JsonType::string;
            case 't':
            case 'f': return JsonType::boolean;
            case 'n': return JsonType::null;
            default: return JsonType::number;
        }
    }

    bool is_true() const { return spelling().front() == 't'; }
    Text text() const { return type() == JsonType::string ? text_->inside(token_) : Text(); }
    MeasuredText measured() const { return MeasuredText(text()); }

    bool repeats_keys() const { return type() == JsonType::object && text_->repeats_keys(token_); }
    bool holds_repeated_keys() const {
        for (std::uint32_t token = token_; token < text_->tokens_[token_].next; ++token) {
            if (Cursor(*text_, token).repeats_keys()) { return true; }
        }
        return false;
    }

    template <class Visit>
    void members(Visit visit) const {
        if (type() != JsonType::object) { return; }
        const auto visit_member = [&](std::uint32_t key) {
            visit(text_->inside(key), Cursor(*text_, key + 1));
        };
        if (!repeats_keys()) {
            text_->for_each_child(token_, visit_member);
            return;
        }
        for (const std::uint32_t key : text_->last_of_each_name(token_)) { visit_member(key); }
    }

    template <class Visit>
    void elements(Visit visit) const {
        if (type() != JsonType::array) { return; }
        text_->for_each_child(token_, [&](std::uint32_t element) { visit(Cursor(*text_, element)); });
    }

    Text peek(std::string_view wanted) const {
        Text found;
        members([&](Text key, Cursor value) {
            if (same_text(key, wanted)) { found = value.text(); }
        });
        return found;
    }

    Node node() const { return {spelling().data(), spelling().size()}; }

    void append_scalar(std::string& out) const {
        if (type() == JsonType::number) {
            append_normal_number(out, spelling());
        } else {
            out += spelling();
        }
    }

private:
    std::string_view spelling() const { return text_->spelling(token_); }

    const JsonText* text_;
    std::uint32_t token_;
};

inline JsonText::Cursor JsonText::root() const { return {*this, 0}; }
static_assert(json_cursor<JsonText::Cursor>);

}  // namespace coppice::detail
