// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/json_grammar.hpp>
#include <coppice/detail/lexical.hpp>
#include <coppice/text.hpp>
#include <coppice/wire/strings.hpp>

#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// An array or object. Containers are numbered in the order in which they open.
struct Container {
    std::uint32_t open = 0;  ///< its brackets, as tokens
    std::uint32_t close = 0;
    std::uint32_t next = 0;  ///< the first container that opens behind it
    bool repeats_keys = false;
    bool holds_repeated_keys = false;  ///< itself or something inside
};

/// A string with a backslash in it, and how far it is from its meaning (see StringFacts).
struct EscapedString {
    struct Count {
        std::uint32_t bytes;
        std::uint32_t chars;
        std::uint32_t utf16;

        static Count of(const Extent& extent) {
            return {static_cast<std::uint32_t>(extent.bytes), static_cast<std::uint32_t>(extent.chars),
                    static_cast<std::uint32_t>(extent.utf16)};
        }
        Extent extent() const { return {bytes, chars, utf16}; }
    };
    std::uint32_t token;
    Count removed;
    Count escapes;
};

/// A member of an object, for those that need a closer look.
struct Member {
    std::string_view name;        ///< decoded
    std::uint32_t key = 0;        ///< token
    std::uint32_t container = 0;  ///< the first container that opens behind the key
};

/// A JSON text in place: where its tokens stand, which bracket closes which, what its strings mean. simdjson finds the
/// tokens and checks UTF-8; one walk over them checks the grammar, so that nothing is taken for JSON that is none, also
/// where nobody will look. A token is a bracket, a comma, a colon, a whole string or another scalar. Containers may be
/// nested to any depth: nothing here calls itself.
///
/// The object can be used again: after the first texts of a size it allocates nothing.
class WireStructure {
public:
    /// False where the text is not valid JSON, or is neither object nor array; `why` then says so, with the byte.
    /// The text must stay where it is; `before` bytes that stand in front of it count in what is said.
    bool read(std::string_view json, std::size_t before, std::string& why) {
        json_ = json;
        before_ = before;
        containers_.clear();
        escaped_strings_.clear();
        hint_ = 0;
        frames_.clear();
        repeated_ = 0;
        compact_ = true;
        one_spelling_ = true;
        escaped_keys_ = false;
        if (!find_tokens(why)) { return false; }
        map_.read(json_);
        strings_.start(json_, map_);
        if (!walk()) {
            say_where(why);
            return false;
        }
        find_repeated_keys();
        return true;
    }

    std::string_view json() const { return json_; }
    std::size_t repeated_keys() const { return repeated_; }
    /// No white space between tokens.
    bool compact() const { return compact_; }
    /// No string could be spelled otherwise in as many bytes or fewer: equal texts are equal bytes.
    bool one_spelling() const { return one_spelling_; }

    std::uint32_t offset(std::uint32_t token) const { return tokens_[token]; }
    char first_char(std::uint32_t token) const { return json_.data()[tokens_[token]]; }
    bool is_container(std::uint32_t token) const {
        return first_char(token) == '{' || first_char(token) == '[';
    }
    const Container& container(std::uint32_t number) const { return containers_[number]; }
    /// The number of the first container at or behind this token.
    std::uint32_t container_at(std::uint32_t token) const {
        const auto below = [](const Container& container, std::uint32_t wanted) {
            return container.open < wanted;
        };
        return static_cast<std::uint32_t>(
            std::lower_bound(containers_.begin(), containers_.end(), token, below) - containers_.begin());
    }
    /// The first token at or behind this offset.
    std::uint32_t token_at(std::size_t offset) const {
        return static_cast<std::uint32_t>(std::lower_bound(tokens_, tokens_ + count_, offset) - tokens_);
    }

    /// The whole of a token that is no bracket, quotes included.
    std::string_view scalar(std::uint32_t token) const {
        const char* const begin = json_.data() + tokens_[token];
        const char* end = json_.data() + tokens_[token + 1];
        while (is_blank(end[-1])) { --end; }
        return {begin, static_cast<std::size_t>(end - begin)};
    }
    std::string_view inside_of_string(std::uint32_t token) const {
        const char* const begin = json_.data() + tokens_[token] + 1;
        const char* end = json_.data() + tokens_[token + 1] - 1;
        while (*end != '"') { --end; }
        return {begin, static_cast<std::size_t>(end - begin)};
    }

    Text key(std::uint32_t token) const {
        return escaped_keys_ ? text(token) : Text(inside_of_string(token));
    }
    Text text(std::uint32_t token) const {
        const std::string_view inside = inside_of_string(token);
        const std::size_t begin = tokens_[token] + 1;
        return Text::still_escaped(inside, map_.any_escapes(begin, begin + inside.size()));
    }
    MeasuredText measured(std::uint32_t token) const {
        const Text text = this->text(token);
        TextExtent extent{measure(text.raw()), {}};
        if (text.escaped()) {
            const EscapedString& escapes = escaped_string(token);
            extent.plain -= escapes.removed.extent();
            extent.escapes = escapes.escapes.extent();
        }
        return {text, extent};
    }
    /// A piece of the text, as it stands there.
    Extent measure(std::string_view piece) const {
        const auto begin = static_cast<std::size_t>(piece.data() - json_.data());
        return map_.measure(begin, begin + piece.size());
    }
    /// The token behind a value; `container`, the number of the first container at or behind it, moves along.
    std::uint32_t behind(std::uint32_t token, std::uint32_t& container) const {
        if (!is_container(token)) { return token + 1; }
        const Container& skipped = containers_[container];
        container = skipped.next;
        return skipped.close + 1;
    }

    /// Calls `visit(key, container)` for each member of an object: the token of its key, and the number of the first
    /// container behind it.
    template <class Visit>
    void for_each_member(std::uint32_t number, Visit visit) const {
        const Container& object = containers_[number];
        std::uint32_t next = number + 1;
        for (std::uint32_t token = object.open + 1; token < object.close; ++token) {
            visit(token, next);
            token = behind(token + 2, next);
        }
    }
    template <class Visit>
    void for_each_element(std::uint32_t number, Visit visit) const {
        const Container& array = containers_[number];
        std::uint32_t next = number + 1;
        for (std::uint32_t token = array.open + 1; token < array.close; ++token) {
            visit(token, next);
            token = behind(token, next);
        }
    }

    /// The members of an object by name, those of one name in the order of the text. Names that are spelled with
    /// escapes are decoded into `arena`.
    void sort_members(std::uint32_t number, std::vector<Member>& members, std::string& arena) const {
        members.clear();
        arena.clear();
        std::size_t escaped = 0;
        for_each_member(number, [&](std::uint32_t key, std::uint32_t container) {
            const Text name = this->key(key);
            if (name.escaped()) { escaped += name.raw().size(); }
            members.push_back({name.raw(), key, container});
        });
        if (escaped > 0) {
            // decoded names are no longer than these, so that nothing moves
            arena.reserve(escaped);
            for (Member& member : members) {
                const Text name = key(member.key);
                if (!name.escaped()) { continue; }
                const std::size_t at = arena.size();
                TextBytes bytes(name);
                for (char byte = '\0'; bytes.next(byte);) { arena += byte; }
                member.name = std::string_view(arena).substr(at);
            }
        }
        std::sort(members.begin(), members.end(), [](const Member& left, const Member& right) {
            return left.name != right.name ? left.name < right.name : left.key < right.key;
        });
    }

private:
    // an array or object that the walk is inside of
    struct Frame {
        std::uint32_t container;
        bool object;
        bool suspect;        // two of its keys may be the same
        std::uint64_t seen;  // a bit for each key that was there
    };

    // of a string that has a backslash in it; readers move on in small steps
    const EscapedString& escaped_string(std::uint32_t token) const {
        std::size_t at = hint_;
        for (int steps = 0; steps < 8 && at < escaped_strings_.size(); ++steps, ++at) {
            if (escaped_strings_[at].token == token) {
                hint_ = at;
                return escaped_strings_[at];
            }
        }
        const auto below = [](const EscapedString& string, std::uint32_t wanted) {
            return string.token < wanted;
        };
        const auto found = std::lower_bound(escaped_strings_.begin(), escaped_strings_.end(), token, below);
        hint_ = static_cast<std::size_t>(found - escaped_strings_.begin());
        return *found;
    }

    void say_where(std::string& why) {
        const std::optional<std::size_t> fault = JsonGrammar<>(json_, nesting_).find_fault();
        why = "the body is neither an object nor an array";
        if (!fault) { return; }
        why = "not valid JSON at byte ";
        append_number(why, before_ + *fault);
    }

    bool find_tokens(std::string& why) {
        // tokens are counted in 32 bits
        if (json_.size() >= std::numeric_limits<std::uint32_t>::max()) {
            why = "more than 4 GiB";
            return false;
        }
        if (json_.size() > capacity_ || parser_ == nullptr) { grow(); }
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(json_.data());
        // the walk needs a bracket at the end; and of a text that ends inside a character, simdjson's plain C++ reads on
        if (!ends_in_bracket() ||
            parser_->stage1(bytes, json_.size(), simdjson::stage1_mode::regular) != simdjson::SUCCESS) {
            say_where(why);
            return false;
        }
        tokens_ = parser_->structural_indexes.get();
        count_ = parser_->n_structural_indexes;
        // simdjson leaves room for it: what is behind the last token begins at the end
        parser_->structural_indexes[count_] = static_cast<std::uint32_t>(json_.size());
        return true;
    }

    bool ends_in_bracket() const {
        const std::size_t last = json_.find_last_not_of(" \t\n\r");
        return last != std::string_view::npos && (json_[last] == '}' || json_[last] == ']');
    }

    void grow() {
        // a history grows with every request: not each of them shall allocate
        constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
        const std::size_t wanted =
            std::min(most, std::max({json_.size(), capacity_ + capacity_ / 2, std::size_t{4096}}));
        capacity_ = 0;
        // whatever goes wrong here is memory
        if (simdjson::get_active_implementation()->create_dom_parser_implementation(wanted, 1, parser_) !=
            simdjson::SUCCESS) {
            throw std::bad_alloc();
        }
        capacity_ = wanted;
    }

    // The grammar. What is known of the container around stays in `here` while the walk is in it.
    bool walk() {
        const char* const text = json_.data();
        const std::uint32_t* at = tokens_;
        const std::uint32_t* const last = tokens_ + count_ - 1;
        // a bracket stands last, so that only `close` can come to the end
        if (text[*at] != '{' && text[*at] != '[') { return false; }
        std::uint32_t gaps = 0;
        Frame here{};
        next_escape_ = map_.next_escape(0);
        const auto open = [&](bool object) {
            frames_.push_back(here);
            here = {static_cast<std::uint32_t>(containers_.size()), object, false, 0};
            containers_.emplace_back().open = static_cast<std::uint32_t>(at - tokens_);
        };

    value:
        switch (text[*at]) {
            case '{':
                open(true);
                gaps |= at[1] - at[0] - 1;
                ++at;
                if (text[*at] == '}') { goto close; }
                goto key;
            case '[':
                open(false);
                gaps |= at[1] - at[0] - 1;
                ++at;
                if (text[*at] == ']') { goto close; }
                goto value;
            case '"':
                if (!read_string(at, nullptr)) { return false; }
                break;
            default: {
                const std::size_t size = scalar_size({text + at[0], at[1] - at[0]});
                if (size == 0) { return false; }
                gaps |= at[1] - at[0] - static_cast<std::uint32_t>(size);
            }
        }
        ++at;

    next:
        switch (text[*at]) {
            case ',':
                gaps |= at[1] - at[0] - 1;
                ++at;
                if (!here.object) { goto value; }
                goto key;
            case '}':
                if (!here.object) { return false; }
                goto close;
            case ']':
                if (here.object) { return false; }
                goto close;
            default: return false;
        }

    key:
        if (text[*at] != '"') { return false; }
        if (!read_string(at, &here)) { return false; }
        ++at;
        if (text[*at] != ':') { return false; }
        gaps |= at[1] - at[0] - 1;
        ++at;
        goto value;

    close : {
        Container& container = containers_[here.container];
        container.close = static_cast<std::uint32_t>(at - tokens_);
        container.next = static_cast<std::uint32_t>(containers_.size());
        container.repeats_keys = here.suspect;
        here = frames_.back();
        frames_.pop_back();
        if (frames_.empty()) {
            compact_ = compact_ && gaps == 0;
            return at == last;
        }
        if (at == last) { return false; }
        gaps |= at[1] - at[0] - 1;
        ++at;
        goto next;
    }
    }

    // A string is followed by another token: the walk never comes here with the last one. Of a key, `object` is told.
    bool read_string(const std::uint32_t* at, Frame* object) {
        const std::size_t begin = at[0] + 1;
        std::size_t end = at[1] - 1;
        const char* const text = json_.data();
        if (text[end] != '"') {
            compact_ = false;
            while (is_blank(text[end])) { --end; }
        }
        const bool escaped = next_escape_ < end;
        if (escaped && !read_escapes(at, begin, end)) { return false; }
        if (object != nullptr) {
            escaped_keys_ = escaped_keys_ || escaped;
            note_key({text + begin, end - begin}, escaped, *object);
        }
        return true;
    }

    bool read_escapes(const std::uint32_t* at, std::size_t begin, std::size_t end) {
        const StringFacts facts = strings_.read(begin, end);
        escaped_strings_.push_back({static_cast<std::uint32_t>(at - tokens_),
                                    EscapedString::Count::of(facts.removed),
                                    EscapedString::Count::of(facts.escapes)});
        one_spelling_ = one_spelling_ && facts.one_spelling;
        next_escape_ = map_.next_escape(end);
        return facts.valid;
    }

    // Two keys that are the same have the same bit; most of those that are not, have not.
    void note_key(std::string_view key, bool escaped, Frame& object) const {
        const char* const limit = json_.data() + json_.size();
        std::uint64_t word = 0;
        if (key.size() >= 8) {
            std::uint64_t tail = 0;
            std::memcpy(&word, key.data(), 8);
            std::memcpy(&tail, key.data() + key.size() - 8, 8);
            word ^= tail << 1U;
        } else if (limit - key.data() >= 8) {
            std::memcpy(&word, key.data(), 8);
            word &= (std::uint64_t{1} << (8 * key.size())) - 1;
        } else {
            std::memcpy(&word, key.data(), key.size());
        }
        const std::uint64_t bit = std::uint64_t{1} << ((word + key.size()) * 0x9FB21C651E98DF25ULL >> 58U);
        object.suspect = object.suspect || escaped || (object.seen & bit) != 0;
        object.seen |= bit;
    }

    // Looks closer at the objects whose keys may repeat.
    void find_repeated_keys() {
        for (std::uint32_t number = 0; number < containers_.size(); ++number) {
            if (!containers_[number].repeats_keys) { continue; }
            containers_[number].repeats_keys = has_repeated_keys(number);
            repeated_ += containers_[number].repeats_keys;
        }
        if (repeated_ == 0) { return; }
        // what is inside is numbered higher, up to `next`
        std::size_t repeating = containers_.size();
        for (std::size_t number = containers_.size(); number-- > 0;) {
            if (containers_[number].repeats_keys) { repeating = number; }
            containers_[number].holds_repeated_keys = repeating < containers_[number].next;
        }
    }

    bool has_repeated_keys(std::uint32_t number) {
        sort_members(number, members_, names_);
        for (std::size_t i = 1; i < members_.size(); ++i) {
            if (members_[i - 1].name == members_[i].name) { return true; }
        }
        return false;
    }

    std::string_view json_;
    std::size_t before_ = 0;
    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
    std::size_t capacity_ = 0;
    const std::uint32_t* tokens_ = nullptr;
    std::uint32_t count_ = 0;
    std::vector<Container> containers_;
    std::vector<EscapedString> escaped_strings_;
    std::size_t repeated_ = 0;
    bool compact_ = true;
    bool one_spelling_ = true;
    bool escaped_keys_ = false;
    mutable std::size_t hint_ = 0;
    TextMap map_;
    // for the walk alone, kept for their capacity
    std::size_t next_escape_ = 0;  // where the first one starts that no string has had yet
    StringReader strings_;
    std::vector<Frame> frames_;
    std::vector<Member> members_;
    std::string names_;
    std::vector<bool> nesting_;
};

}  // namespace coppice::detail
