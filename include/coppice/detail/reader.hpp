// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/json_pointer.hpp>
#include <coppice/detail/json_text.hpp>
#include <coppice/detail/outcome.hpp>
#include <coppice/detail/pairs.hpp>
#include <coppice/dialect.hpp>
#include <coppice/transcript.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// What a reader works with, kept from call to call for its capacity.
struct ReaderScratch {
    Pairs pairs;
    Pairs tool_pairs;    // calls by the name of their tool, for results without an id
    Pairs server_pairs;  // calls that the provider answers itself
    std::vector<std::size_t> calls;
    JsonText json;
    std::string text;
    std::string words;
    std::string pointer;
};

/// Where a text is the word, whatever its spelling.
template <std::size_t Size>
bool is(Text text, const char (&word)[Size]) {
    constexpr std::size_t length = Size - 1;
    if (text.escaped()) { return same_text(text, std::string_view(word, length)); }
    // of known length, so that it becomes a comparison of words
    return text.raw().size() == length && std::memcmp(text.raw().data(), word, length) == 0;
}

template <std::size_t... Sizes>
bool is_one_of(Text text, const char (&... words)[Sizes]) {
    return (is(text, words) || ...);
}

/// The path that a patch in the format of `apply_patch` names first; empty where it is none. A beginning is enough.
inline std::string_view path_of_patch(std::string_view patch) {
    constexpr std::string_view start = "*** Begin Patch";
    if (patch.substr(0, start.size()) != start) { return {}; }
    constexpr std::array<std::string_view, 3> headers = {"*** Update File: ", "*** Add File: ", "*** Delete File: "};
    std::size_t at = std::string_view::npos;
    for (const std::string_view header : headers) {
        // a header stands near the beginning
        const std::size_t found = patch.substr(0, 200).find(header);
        if (found != std::string_view::npos && found < at) { at = found + header.size(); }
    }
    if (at == std::string_view::npos) { return {}; }
    patch.remove_prefix(at);
    return patch.substr(0, patch.find_first_of("\r\n"));
}

/// What the readers of all dialects share: entries and their turns, calls and their input, results and their content.
template <json_cursor Value>
class Reader {
protected:
    Reader(Transcript& transcript, ReaderScratch& scratch)
        : out_(transcript),
          pairs_(scratch.pairs),
          tool_pairs_(scratch.tool_pairs),
          calls_(scratch.calls),
          json_(scratch.json),
          scratch_(scratch.text),
          words_(scratch.words),
          pointer_(scratch.pointer) {
        pairs_.clear();
        tool_pairs_.clear();
        calls_.clear();
    }

    /// Reads the history, which is the member `list` of the body or the body itself, with `read(Value)`, and shows all
    /// other members to `note(Text, Value)`. Answers with `missing` where there is no such list.
    template <class Read, class Note>
    std::string_view read_body(Value body, std::string_view list, std::string_view missing, Read read, Note note) {
        bool found = false;
        if (body.repeats_keys()) { return "a key of the body stands there twice"; }
        out_.frame_keys = ascii(2);
        if (body.type() == JsonType::array) {
            read(body);
            return {};
        }
        body.members([&](Text key, Value value) {
            // a comma before all but the first
            const bool first = out_.frame_values.empty() && !found;
            out_.frame_keys += measure(key).serialised() + ascii(first ? 1 : 2);
            if (same_text(key, list) && value.type() == JsonType::array) {
                found = true;
                out_.frame_keys += ascii(2);
                read(value);
                return;
            }
            out_.frame_values.push_back(value.node());
            read_setting(key, value);
            note(key, value);
        });
        return found ? std::string_view() : missing;
    }

    // Which model it is, and what becomes of thinking that does not fit what precedes it any more.
    void read_setting(Text key, Value value) {
        if (is_one_of(key, "model", "modelId")) {
            out_.model = out_.keep_exact(value.text());
        } else if (is(key, "thinking")) {
            const auto type = value.peek("type");
            out_.thinking_mode = is_one_of(type, "enabled", "adaptive") ? ThinkingMode::on
                                 : is(type, "disabled")                 ? ThinkingMode::off
                                                                        : ThinkingMode::unsaid;
            value.members([this](Text name, Value binding) {
                if (!is(name, "block_binding")) { return; }
                out_.drops_unbound_thinking = is(binding.peek("prefix_mismatch_behavior"), "drop_block");
            });
        } else if (is(key, "additionalModelRequestFields")) {
            value.members([this](Text name, Value setting) {
                if (is(name, "thinking")) { read_setting(name, setting); }
            });
        }
    }

    /// Begins a message. Whether a turn of the model begins with it.
    bool begin_message(Role role, Node node) {
        first_entry_ = out_.all().size();
        role_ = role;
        out_.messages.push_back({role, first_entry_, node, {}, none});
        const bool turn_starts = role == Role::assistant && before_ != Role::assistant;
        if (before_ != role) { turn_spoken_ = turn_answers_ = false; }
        before_ = role;
        steps_ += turn_starts;
        if (turn_starts) {
            pairs_.next_turn();
            tool_pairs_.next_turn();
            calls_.clear();
            next_in_order_ = 0;
        }
        user_spoke_ = false;
        return turn_starts;
    }

    /// Ends it. With two members of one name in it, it stays as it is.
    void end_message(bool repeats_keys) {
        const bool starts_user_turn = user_spoke_ && !turn_spoken_;
        for (std::size_t i = first_entry_; i < out_.all().size(); ++i) {
            Entry& entry = out_.all()[i];
            entry.immutable = entry.immutable || repeats_keys;
            entry.removable = entry.removable && !repeats_keys;
            turn_answers_ = turn_answers_ || entry.kind == Kind::result;
            entry.step = steps_ - (role_ == Role::assistant);
            entry.user_turn = user_turns_ - (role_ == Role::user && turn_spoken_);
        }
        const std::size_t number = out_.messages.size() - 1;
        // what is said beside results does not end the tool loop
        if (starts_user_turn && !turn_answers_) { user_turn_at_ = number; }
        out_.messages.back().user_turn_at = user_turn_at_;
        if (starts_user_turn) {
            turn_spoken_ = true;
            ++user_turns_;
        }
    }

    Entry& add(Kind kind, std::size_t block) {
        Entry& entry = out_.add();
        entry.kind = kind;
        entry.message = out_.messages.size() - 1;
        entry.block = block;
        entry.immutable = kind != Kind::call && kind != Kind::result;
        return entry;
    }

    /// What somebody says in the message.
    void add_speech(std::size_t block) {
        user_spoke_ = user_spoke_ || role_ == Role::user;
        add(role_ == Role::user        ? Kind::user_text
            : role_ == Role::assistant ? Kind::assistant_text
                                       : Kind::opaque,
            block);
    }

    /// An image in the message. Of one that the user sent, the whole block may become a text block; `path` leads to it
    /// from where the entry begins.
    void add_image(Value block, std::size_t index, std::string_view path) {
        add_speech(index);
        if (role_ != Role::user) { return; }
        Entry& image = out_.all().back();
        image.form = Form::blocks;
        image.content = block.node();
        image.path = path;
        image.first_part = out_.parts.size();
        image.part_count = 1;
        image.immutable = block.holds_repeated_keys();
        Part& part = out_.parts.emplace_back();
        part.kind = Part::Kind::image;
        part.node = block.node();
        read_marks(block, true, part, image);
        count(part, image);
        image.immutable = image.immutable || image.nested_cache_mark;
    }

    /// Reasoning that may leave its message as a whole.
    void add_reasoning(Value block, std::size_t index) {
        Entry& entry = add(Kind::reasoning, index);
        entry.content = block.node();
        entry.removable = !block.holds_repeated_keys();
        for (const std::string_view name : out_.block.mark_keys) {
            if (!name.empty() && out_.source->count_members(entry.content, name) > 0) { entry.removable = false; }
        }
    }

    /// Of the entries from `first` on, reasoning stays.
    void keep_reasoning(std::size_t first) {
        for (std::size_t i = first; i < out_.all().size(); ++i) { out_.all()[i].removable = false; }
    }

    /// To be called when all is read. What is left of a message must not be empty, nor begin with something that
    /// `may_begin(Entry)` does not allow there; and of a turn, reasoning goes whole or stays whole.
    template <class MayBegin>
    void keep_reasoning_that_must_stay(MayBegin may_begin) {
        const std::span<Entry> all = out_.all();
        for (std::size_t i = 0; i < all.size();) {
            const std::size_t message = all[i].message;
            const Entry* first_left = nullptr;
            std::size_t end = i;
            for (; end < all.size() && all[end].message == message; ++end) {
                const bool left = all[end].kind != Kind::reasoning;
                if (left && first_left == nullptr) { first_left = &all[end]; }
            }
            const bool may_go = first_left != nullptr && may_begin(*first_left);
            for (; i < end; ++i) { all[i].removable = all[i].removable && may_go; }
        }
        const auto turn = [&](std::size_t entry) { return out_.messages[all[entry].message].user_turn_at; };
        for (std::size_t i = 0; i < all.size();) {
            bool may_go = true;
            std::size_t end = i;
            for (; end < all.size() && turn(end) == turn(i); ++end) {
                may_go = may_go && (all[end].kind != Kind::reasoning || all[end].removable);
            }
            for (; i < end; ++i) { all[i].removable = all[i].removable && may_go; }
        }
    }

    /// Reads the input of a call: an object, or where the dialect has it a string that holds one. Everything else stays
    /// as it is.
    void read_input(Value input, Entry& call, std::string_view path, bool may_be_packed) {
        call.content = input.node();
        call.path = path;
        call.first_field = out_.fields.size();
        if (input.type() == JsonType::object) {
            call.immutable = call.immutable || input.repeats_keys();
            read_fields(input, call, false);
        } else if (may_be_packed && input.type() == JsonType::string && unpack(input.text(), call)) {
            read_fields(json_.root(), call, true);
        } else {
            call.immutable = true;
        }
        call.field_count = out_.fields.size() - call.first_field;
    }

    /// What a call is known by, where that is the path of a file.
    static void name_by_path(Text path, Entry& call) {
        call.identity = path;
        call.names_path = !path.empty();
    }
    /// The same for the path that a patch names first; nothing where the text is no patch.
    bool name_by_patch(Text patch, Entry& call) {
        // most texts are none at a glance
        const bool perhaps = !patch.empty() && (patch.raw()[0] == '*' || patch.raw()[0] == '\\');
        if (!perhaps) { return false; }
        const std::string_view path = detail::path_of_patch(beginning(patch, 1200, scratch_));
        if (path.empty()) { return false; }
        name_by_path(out_.keep(path), call);
        return true;
    }

    /// A command given as a list of words, as far as anybody would show it.
    template <json_cursor Input>
    Text joined_words(Input list, std::string_view separator = " ") {
        constexpr std::size_t enough = 1024;
        words_.clear();
        list.elements([&](Input item) {
            if (item.type() != JsonType::string || words_.size() > enough) { return; }
            if (!words_.empty()) { words_ += separator; }
            words_ += shown(item.text(), scratch_);
        });
        return words_.empty() ? Text() : out_.keep(words_);
    }

    /// Makes a call wait for its result. Only where results may come without an id, `by_tool` is needed.
    void arm(const Entry& call, bool by_tool = false) {
        const std::size_t number = out_.all().size() - 1;
        pairs_.arm(call.id, number);
        if (!by_tool) { return; }
        tool_pairs_.arm(call.tool, number);
        calls_.push_back(number);
    }

    /// The call that a result answers: by its id, and of several calls with that id the one of its tool; where one of
    /// both has no id, by the name of the tool among the calls of the turn, and where the result has no name, by order.
    std::size_t find_call(Text id, Text tool) {
        const auto answered = [this](std::size_t call) { return out_.all()[call].peer != none; };
        if (!id.empty()) {
            const auto surely_answered = [&](std::size_t call) { return answered(call) && !out_.all()[call].guessed; };
            const auto fits = [&](std::size_t call) {
                return tool.empty() || same_text(out_.all()[call].tool, tool);
            };
            const std::size_t call = pairs_.answer(id, surely_answered, fits);
            if (call != none) {
                take_back_guess(out_.all()[call]);
                return call;
            }
        }
        const auto no_match = [&](std::size_t call) {
            return answered(call) || (!id.empty() && !out_.all()[call].id.empty());
        };
        if (!tool.empty()) { return tool_pairs_.answer(tool, no_match); }
        while (next_in_order_ < calls_.size() && answered(calls_[next_in_order_])) { ++next_in_order_; }
        const bool open = next_in_order_ < calls_.size() && !no_match(calls_[next_in_order_]);
        if (!open) { return none; }
        out_.all()[calls_[next_in_order_]].guessed = true;
        return calls_[next_in_order_];
    }

    /// Links the newest entry, a result, with its call.
    void link(Entry& result, std::size_t call_number) {
        result.peer = call_number;
        if (call_number == none) { return; }
        Entry& call = out_.all()[call_number];
        call.peer = out_.all().size() - 1;
        result.tool = call.tool;
        result.identity = call.identity;
        result.names_path = call.names_path;
    }

    /// Reads the content of a result: a string, or an array of blocks with a `type`. `kind_of(Text type)` says what a
    /// block is that is no text block.
    template <class KindOf>
    void read_content(Value content, Entry& result, std::string_view path, KindOf kind_of) {
        result.content = content.node();
        result.path = path;
        result.first_part = out_.parts.size();
        result.immutable = result.immutable || content.holds_repeated_keys();
        switch (content.type()) {
            case JsonType::string: result.form = Form::string; add_bare_part(content); break;
            case JsonType::array:
                result.form = Form::blocks;
                content.elements([&](Value item) { read_part(item, result, kind_of); });
                break;
            case JsonType::object:
                result.form = Form::other;
                read_part(content, result, kind_of);
                break;
            default: result.form = Form::other;
        }
        result.part_count = out_.parts.size() - result.first_part;
    }

    Part& add_bare_part(Value string) {
        Part& part = out_.parts.emplace_back();
        part.bare = true;
        part.node = string.node();
        part.text = string.measured();
        return part;
    }

    /// Adds one value of a result in pieces, which has a name or stands in a list of objects. Numbers and the like are
    /// no pieces: they cost nothing and may matter.
    void read_piece(Value value, Entry& result, const Field& place) {
        const JsonType type = value.type();
        if (type == JsonType::string) {
            if (!value.text().empty()) { add_bare_part(value); }
        } else if (type == JsonType::array || type == JsonType::object) {
            Part& part = out_.parts.emplace_back();
            part.kind = Part::Kind::other;
            part.node = value.node();
            ++result.others;
        }
        if (out_.parts.size() > result.first_part + result.field_count) {
            out_.fields.push_back(place);
            ++result.field_count;
        }
        result.part_count = out_.parts.size() - result.first_part;
    }

    /// Begins a result in pieces.
    void begin_pieces(Value content, Entry& result, std::string_view path) {
        result.form = Form::pieces;
        result.content = content.node();
        result.path = path;
        result.first_part = out_.parts.size();
        result.first_field = out_.fields.size();
        result.immutable = result.immutable || content.holds_repeated_keys();
    }

    /// Counts a part of a result, once it is known what it is.
    void count(const Part& part, Entry& result) {
        if (part.cache_mark) { ++result.cache_marks; }
        result.images += part.kind == Part::Kind::image;
        result.documents += part.kind == Part::Kind::document;
        result.others += part.kind == Part::Kind::other;
        if (part.plain || part.bare) { return; }
        for (const std::string_view name : signed_members) {
            const bool found = out_.source->count_members(part.node, name) > 0;
            result.immutable = result.immutable || found;
        }
    }

    /// Whether an exit code is not zero, whatever its spelling; what is no number is none.
    bool is_nonzero(Value code) {
        if (code.type() != JsonType::number) { return false; }
        scratch_.clear();
        out_.source->append_canonical(code.node(), scratch_);
        const std::string_view digits = std::string_view(scratch_).substr(0, scratch_.find_first_of("eE"));
        return digits.find_first_of("123456789") != std::string_view::npos;
    }

    static void take(Outcome outcome, Entry& result) {
        if (outcome == Outcome::unsaid) { return; }
        result.outcome_known = true;
        result.error = result.error || outcome == Outcome::failed;
    }

    Transcript& out_;
    Pairs& pairs_;
    Pairs& tool_pairs_;
    std::vector<std::size_t>& calls_;  // of this turn, where results may come without an id
    std::size_t next_in_order_ = 0;
    JsonText& json_;
    std::string& scratch_;
    std::string& words_;
    Role role_ = Role::other;  // of the message
    bool user_spoke_ = false;  // in this message

private:
    // A result without an id had it, and now the one with its id comes: what the other answers, nobody knows.
    void take_back_guess(Entry& call) {
        if (!call.guessed || call.peer == none) { return; }
        Entry& other = out_.all()[call.peer];
        other.peer = none;
        other.tool = {};
        other.identity = {};
        other.names_path = false;
        call.peer = none;
        call.guessed = false;
    }

    // The object that a string holds, in `json_`.
    bool unpack(Text text, Entry& call) {
        // with half a surrogate pair it is no UTF-8, and so no JSON
        const std::string_view json = out_.keep_exact(text);
        if (!json_.read(json)) { return false; }
        const JsonText::Cursor root = json_.root();
        if (root.type() != JsonType::object || root.repeats_keys()) { return false; }
        call.packed = json;
        return true;
    }

    template <json_cursor Input>
    void read_fields(Input input, Entry& call, bool packed) {
        std::size_t rank = identity_keys.size();
        Text patch;
        const auto identify = [&](Text key, bool one_text, auto text) {
            const std::size_t found = identity_rank(key);
            if (found >= rank) { return; }
            const Text identity = text();
            if (identity.empty()) { return; }
            call.identity = identity;
            call.names_path = one_text && found < path_keys;
            call.identity_member = key;
            rank = found;
        };
        input.members([&](Text key, Input value) {
            if (value.type() == JsonType::string) {
                out_.fields.push_back({.name = key, .text = value.measured(), .node = value.node(), .packed = packed});
                identify(key, true, [&] { return value.text(); });
                const bool named = rank < identity_keys.size();
                // of several patches that of the first name, in whatever order they come
                const bool may_name = !named && (call.identity.empty() || comes_before(key, patch));
                if (may_name && name_by_patch(value.text(), call)) { patch = key; }
            } else if (value.type() == JsonType::array) {
                std::size_t index = 0;
                value.elements([&](Input item) { read_element(item, key, index++, packed); });
                identify(key, false, [&] { return joined_words(value); });
            } else if (is_deep(value)) {
                pointer_.clear();
                read_deep(value, key, none, packed);
            }
        });
    }

    template <json_cursor Input>
    void read_element(Input item, Text list, std::size_t index, bool packed) {
        const auto at_list = [&] {
            pointer_.clear();
            return add_step(list, none);
        };
        if (item.type() != JsonType::object) {
            if (is_deep(item) && at_list()) { read_deep(item, list, index, packed); }
            return;
        }
        if (item.repeats_keys()) { return; }
        item.members([&](Text key, Input value) {
            if (value.type() == JsonType::string) {
                out_.fields.push_back({.name = key,
                                       .list = list,
                                       .index = index,
                                       .text = value.measured(),
                                       .node = value.node(),
                                       .in_list = true,
                                       .packed = packed});
            } else if (is_deep(value) && at_list() && add_step({}, index)) {
                read_deep(value, key, none, packed);
            }
        });
    }

    // whether it is, or may hold, a string that is worth a look
    template <json_cursor Input>
    static bool is_deep(Input value) {
        return value.type() == JsonType::array || value.type() == JsonType::object ||
               (value.type() == JsonType::string && value.measured().at_least(bytes(Field::shortest_deep)));
    }

    // One step further at the end of `pointer_`: an index, where it is one, or a name. None is followed any further than
    // a report can show, nor into what tells of the call and is not its matter.
    bool add_step(Text name, std::size_t index) {
        constexpr std::size_t longest = 256;
        if (index != none) {
            pointer_ += '/';
            append_number(pointer_, index);
        } else {
            if (name.raw().size() > longest || is_one_of(name, "meta", "_meta", "metadata")) { return false; }
            append_pointer_step(pointer_, shown(name, scratch_));
        }
        return pointer_.size() <= longest;
    }

    // Of a member or an element of what is at `pointer_`, the strings that are worth a look, in their order, no deeper
    // than any tool has them: how deep an input is nested is the choice of whoever sent it.
    template <json_cursor Input>
    void read_deep(Input root, Text name, std::size_t at, bool packed) {
        struct Open {
            Input value;
            Text name;
            std::size_t index;   // in an array
            std::size_t parent;  // so long is its pointer
            std::size_t depth;
        };
        std::vector<Open> open{Open{root, name, at, pointer_.size(), 0}};
        while (!open.empty()) {
            const Open next = open.back();
            open.pop_back();
            pointer_.resize(next.parent);
            if (!add_step(next.name, next.index)) { continue; }
            if (next.value.type() == JsonType::string) {
                out_.fields.push_back({.name = next.name,
                                       .list = out_.keep(pointer_),
                                       .text = next.value.measured(),
                                       .node = next.value.node(),
                                       .packed = packed,
                                       .deep = true});
                continue;
            }
            if (next.depth == deepest || next.value.repeats_keys()) { continue; }
            const std::size_t first = open.size();
            const auto put = [&](Input inner, Text key, std::size_t index) {
                if (is_deep(inner)) { open.push_back({inner, key, index, pointer_.size(), next.depth + 1}); }
            };
            next.value.members([&](Text key, Input inner) { put(inner, key, none); });
            std::size_t index = 0;
            next.value.elements([&](Input inner) { put(inner, next.name, index++); });
            std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
        }
    }

    template <class KindOf>
    void read_part(Value item, Entry& result, KindOf kind_of) {
        Part& part = out_.parts.emplace_back();
        part.kind = Part::Kind::other;
        part.node = item.node();
        const Text type = item.peek("type");
        const bool top_level = result.form == Form::blocks;
        if (same_text(type, out_.block.type)) {
            read_text_part(item, top_level, part);
        } else {
            part.kind = kind_of(type);
        }
        if (!part.plain) { read_marks(item, top_level, part, result); }
        count(part, result);
    }

    void read_text_part(Value item, bool top_level, Part& part) {
        bool plain = top_level;
        item.members([&](Text key, Value value) {
            if (same_text(key, out_.block.text_key) && value.type() == JsonType::string) {
                part.kind = Part::Kind::text;
                part.text = value.measured();
            } else if (top_level && take_mark(key, value, part)) {
            } else if (!is(key, "type")) {
                plain = false;
            }
        });
        part.plain = plain && part.kind == Part::Kind::text;
    }

    // clients that write out every field write null for "no mark"; it goes along like one
    bool take_mark(Text key, Value value, Part& part) {
        const bool mark = value.type() == JsonType::object || value.type() == JsonType::null;
        if (!mark || part.cache_mark) { return false; }
        for (std::size_t i = 0; i < out_.block.mark_keys.size(); ++i) {
            const std::string_view name = out_.block.mark_keys[i];
            if (name.empty() || !same_text(key, name)) { continue; }
            part.cache_mark = value.node();
            part.mark_key = static_cast<std::uint8_t>(i);
            return true;
        }
        return false;
    }

    // of a part with more to it than text
    void read_marks(Value item, bool top_level, Part& part, Entry& result) {
        if (top_level) {
            item.members([&](Text key, Value value) { take_mark(key, value, part); });
        }
        std::size_t marks = 0;
        for (const std::string_view name : out_.block.mark_keys) {
            if (!name.empty()) { marks += out_.source->count_members(part.node, name); }
        }
        if (marks > (part.cache_mark ? 1U : 0U)) { result.nested_cache_mark = true; }
    }

    static bool comes_before(Text left, Text right) {
        std::string one;
        std::string other;
        return decoded(left, one) < decoded(right, other);
    }

    std::size_t identity_rank(Text key) {
        const std::string_view name = decoded(key, scratch_);
        for (std::size_t i = 0; i < identity_keys.size(); ++i) {
            const std::string_view wanted = identity_keys[i];
            if (name.size() == wanted.size() && name.front() == wanted.front() && name == wanted) {
                return i;
            }
        }
        return identity_keys.size();
    }

    // a part that holds one of these beside its text is not ours to drop
    static constexpr std::array<std::string_view, 4> signed_members = {
        "signature",
        "encrypted_content",
        "encrypted_stdout",
        "encrypted_index",
    };

    // what tells one call of a tool from another, best first; so many of them are paths
    static constexpr std::size_t path_keys = 5;
    static constexpr std::array<std::string_view, 12> identity_keys = {
        "file_path", "notebook_path", "path",  "filePath", "filename", "command",
        "cmd",       "url",           "query", "pattern",  "name",     "description",
    };

    static constexpr std::size_t deepest = 16;  // levels below a member of the input

    std::string& pointer_;
    Role before_ = Role::other;
    std::size_t first_entry_ = 0;
    std::size_t steps_ = 0;
    std::size_t user_turns_ = 0;
    std::size_t user_turn_at_ = none;  // the message that began the latest one
    bool turn_spoken_ = false;  // the user said something in this turn
    bool turn_answers_ = false;  // and it holds results
};

}  // namespace coppice::detail
