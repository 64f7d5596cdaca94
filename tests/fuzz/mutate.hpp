// SPDX-License-Identifier: MIT
#pragma once

#include "json_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// libFuzzer's, or the one of replay.cpp.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace fuzz {

/// The same numbers for the same seed, everywhere.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::size_t below(std::size_t limit) {
        state_ += 0x9E3779B97F4A7C15ULL;
        std::uint64_t mixed = state_;
        mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBULL;
        return static_cast<std::size_t>((mixed ^ (mixed >> 31U)) % limit);
    }
    template <std::size_t Count>
    std::string_view one_of(const std::array<std::string_view, Count>& all) {
        return all[below(Count)];
    }

private:
    std::uint64_t state_;
};

/// Changes a body so that most of what was valid stays valid: values and members are dropped, doubled, swapped and
/// replaced as pieces of the text, so that also what no DOM could hold stays in it.
class Mutator {
public:
    Mutator(std::string body, Random random) : body_(std::move(body)), random_(random) {}

    /// False where the body is not valid JSON.
    bool mutate(std::size_t max_size) {
        const std::size_t rounds = 1 + random_.below(4);
        for (std::size_t round = 0; round < rounds; ++round) {
            if (!json_.read(body_)) { return round > 0; }
            std::string before = body_;
            change();
            if (body_.size() > max_size) {
                body_ = std::move(before);
                return round > 0;
            }
        }
        return true;
    }

    const std::string& body() const { return body_; }

private:
    const Value& value(std::size_t index) const { return json_.values()[index]; }
    std::size_t any_value() { return random_.below(json_.values().size()); }

    // of up to ten, the first that is one of these
    std::size_t any_of_type(Type type) {
        for (int tries = 0; tries < 10; ++tries) {
            const std::size_t index = any_value();
            if (value(index).type == type) { return index; }
        }
        return nowhere;
    }

    void change() {
        switch (random_.below(18)) {
            case 0: return put(value(any_value()).span, random_.one_of(junk));
            case 1: return put(value(any_value()).span, random_.one_of(pieces));
            case 2: return drop();
            case 3: return duplicate();
            case 4: return swap();
            case 5: return add_member();
            case 6: return rename();
            case 7:
            case 8: return put_into_string();
            case 9:
            case 10: return respell();
            case 11: return add_blanks();
            case 12: return wrap();
            case 13:
            case 14:
            case 15: return add_messages();
            case 16: return nest();
            default: return put(value(any_value()).span, random_.one_of(numbers));
        }
    }

    void put(Span span, std::string_view text) { body_.replace(span.begin, span.size(), text); }

    // a value with its key
    Span whole(std::size_t index) const {
        const Value& one = value(index);
        return {one.key.size() > 0 ? one.key.begin : one.span.begin, one.span.end};
    }

    void drop() {
        const std::size_t index = any_value();
        if (index == 0) { return; }
        Span span = whole(index);
        std::size_t end = span.end;
        while (JsonText::is_blank(body_[end])) { ++end; }
        std::size_t begin = span.begin;
        while (JsonText::is_blank(body_[begin - 1])) { --begin; }
        if (body_[end] == ',') {
            span.end = end + 1;
        } else if (body_[begin - 1] == ',') {
            span.begin = begin - 1;
        }
        body_.erase(span.begin, span.size());
    }

    void duplicate() {
        const std::size_t index = any_value();
        if (index == 0) { return; }
        const Span span = whole(index);
        body_.insert(span.begin, std::string(span.in(body_)) + ',');
    }

    void swap() {
        const Span left = value(any_value()).span;
        const Span right = value(any_value()).span;
        if (left.begin > right.begin || left.end > right.begin) { return; }
        const std::string moved(left.in(body_));
        const std::string other(right.in(body_));
        put(right, moved);
        put(left, other);
    }

    void add_member() {
        const std::size_t index = any_value();
        const Value& parent = value(index);
        if (parent.type != Type::object && parent.type != Type::array) { return; }
        std::string member;
        if (parent.type == Type::object) { member.append("\"").append(random_.one_of(keys)).append("\":"); }
        member += random_.below(2) == 0 ? random_.one_of(pieces) : random_.one_of(junk);
        if (parent.past == index + 1) {
            body_.insert(parent.span.end - 1, member);
        } else if (random_.below(2) == 0) {
            body_.insert(parent.span.end - 1, "," + member);
        } else {
            body_.insert(parent.span.begin + 1, member + ",");
        }
    }

    void rename() {
        for (int tries = 0; tries < 5; ++tries) {
            const Span key = value(any_value()).key;
            if (key.size() == 0) { continue; }
            return put({key.begin + 1, key.end - 1}, random_.one_of(keys));
        }
    }

    // where in a string something may be put or replaced: at a character that is no part of an escape
    std::size_t place_in(Span string) {
        std::vector<std::size_t> places;
        for (std::size_t at = string.begin + 1; at + 1 < string.end;) {
            if (body_[at] == '\\') {
                at += body_[at + 1] == 'u' ? 6 : 2;
                continue;
            }
            const bool first = (static_cast<unsigned char>(body_[at]) & 0xC0U) != 0x80U;
            if (first) { places.push_back(at); }
            ++at;
        }
        return places.empty() ? nowhere : places[random_.below(places.size())];
    }

    Span any_string() {
        const std::size_t index = any_value();
        if (value(index).key.size() > 0 && random_.below(4) == 0) { return value(index).key; }
        const std::size_t found = any_of_type(Type::string);
        return found == nowhere ? Span{} : value(found).span;
    }

    void put_into_string() {
        const Span string = any_string();
        if (string.size() == 0) { return; }
        const std::size_t place = place_in(string);
        const std::string_view snippet = random_.one_of(snippets);
        std::string text;
        for (std::size_t count = random_.below(8) == 0 ? 90 : 1; count > 0; --count) { text += snippet; }
        if (random_.below(4) == 0) { text.append(random_.below(300), 'a'); }
        body_.insert(place == nowhere ? string.end - 1 : place, text);
    }

    void respell() {
        const Span string = any_string();
        if (string.size() == 0) { return; }
        const std::size_t place = place_in(string);
        if (place == nowhere) { return; }
        const auto byte = static_cast<unsigned char>(body_[place]);
        if (byte == '/') { return put({place, place + 1}, "\\/"); }
        if (byte >= 0x80) { return; }
        const std::string_view digits = random_.below(2) == 0 ? "0123456789abcdef" : "0123456789ABCDEF";
        std::string escape = "\\u00";
        escape += digits[byte >> 4U];
        escape += digits[byte & 0xFU];
        put({place, place + 1}, escape);
    }

    void add_blanks() {
        constexpr std::array<std::string_view, 5> blanks = {" ", "\n", "\t", "\r\n",
                                                            "                                "};
        if (random_.below(12) == 0) {
            const bool marked = body_.substr(0, byte_order_mark.size()) == byte_order_mark;
            if (!marked) { body_.insert(0, byte_order_mark); }
            return;
        }
        const Value& one = value(any_value());
        const std::array<std::size_t, 4> places = {
            one.span.begin, one.span.end, one.key.size() > 0 ? one.key.end : one.span.end,
            whole(static_cast<std::size_t>(&one - json_.values().data())).begin};
        body_.insert(places[random_.below(places.size())], random_.one_of(blanks));
    }

    void wrap() {
        const Span root = value(0).span;
        const std::string inner(root.in(body_));
        const std::size_t messages = messages_array();
        switch (random_.below(5)) {
            case 0: return put(root, R"({"requests":[{"custom_id":"a","params":)" + inner + "}]}");
            case 1: return put(root, R"([{"custom_id":"a","method":"POST","body":)" + inner + "}]");
            case 2: return put(root, R"([{"params":)" + inner + R"(},{"params":)" + inner + "}]");
            case 3: return put(root, "[" + inner + "]");
            default:
                if (messages != nowhere) {
                    const std::string list(value(messages).span.in(body_));
                    put(root, list);
                }
        }
    }

    std::size_t messages_array() {
        const std::size_t start = any_value();
        for (std::size_t i = 0; i < json_.values().size(); ++i) {
            const std::size_t index = (start + i) % json_.values().size();
            const Value& one = value(index);
            if (one.type == Type::array && one.key.size() > 0 && json_.decoded(one.key) == "messages") {
                return index;
            }
        }
        return value(0).type == Type::array ? 0 : nowhere;
    }

    void add_messages() {
        const std::size_t index = messages_array();
        if (index == nowhere) { return; }
        std::string words(random_.one_of(snippets));
        words.append(random_.below(90), "xyz"[random_.below(3)]);
        std::string id = "i";
        id += static_cast<char>('0' + random_.below(5));
        std::string call =
            R"({"role":"assistant","content":[{"type":"tool_use","id":")" + id + R"(","name":")";
        call.append(random_.one_of(tools))
            .append(R"(","input":{")")
            .append(random_.one_of(keys))
            .append(R"(":")");
        call.append(words).append(R"(","path":"/a"}}]},)");
        std::string content = "\"" + words + "\"";
        if (random_.below(3) == 0) { content = std::string(random_.one_of(pieces)); }
        if (random_.below(3) == 0) {
            content = R"([{"type":"text","text":")" + words + "\"}," + content + "]";
        }
        call += R"({"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id + R"(","content":)";
        call += content;
        if (random_.below(4) == 0) { call += R"(,"is_error":true)"; }
        call += "}]}";
        if (random_.below(2) == 0) { call += R"(,{"role":"assistant","content":"ok"})"; }
        insert_element(index, call);
    }

    void insert_element(std::size_t array, const std::string& element) {
        std::vector<std::size_t> elements;
        json_.for_each_child(array, [&](std::size_t i) { elements.push_back(i); });
        const std::size_t before = random_.below(elements.size() + 1);
        if (before < elements.size()) {
            body_.insert(value(elements[before]).span.begin, element + ",");
        } else {
            body_.insert(value(array).span.end - 1, elements.empty() ? element : "," + element);
        }
    }

    void nest() {
        const Span span = value(any_value()).span;
        const std::size_t depth = 1 + random_.below(random_.below(16) == 0 ? 700 : 4);
        std::string nested;
        const bool objects = random_.below(2) == 0;
        for (std::size_t i = 0; i < depth; ++i) { nested += objects ? "{\"a\":" : "["; }
        nested += span.in(body_);
        nested.append(depth, objects ? '}' : ']');
        put(span, nested);
    }

    static constexpr std::array<std::string_view, 14> junk = {
        "null", "true", "false", "0",    "-1",       "\"\"",     "\"a\"",
        "[]",   "{}",   "[[]]",  "[{}]", "{\"\":0}", "\"text\"", "[null]",
    };
    static constexpr std::array<std::string_view, 16> numbers = {
        "-0",
        "-0.0",
        "1.0",
        "1.00",
        "1e5",
        "1E+05",
        "0.1",
        "0.10000000000000001",
        "1e400",
        "-1e999",
        "1e-400",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "123456789012345678901234567890123456789012345678901234567890",
        "0e0",
    };
    static constexpr std::array<std::string_view, 34> keys = {
        "type",
        "text",
        "content",
        "id",
        "name",
        "input",
        "tool_use_id",
        "is_error",
        "cache_control",
        "role",
        "messages",
        "system",
        "source",
        "data",
        "old_string",
        "new_string",
        "new_str",
        "edits",
        "path",
        "file_path",
        "command",
        "description",
        "signature",
        "encrypted_content",
        "caller",
        "params",
        "body",
        "requests",
        "tool_calls",
        "a",
        "",
        "t\\u0065xt",
        "\\u0063ontent",
        "a/b~c",
    };
    static constexpr std::array<std::string_view, 6> tools = {"Read",  "Write", "mcp__a__TodoWrite",
                                                              "skill", "",      "R\\u00e9"};
    static constexpr std::array<std::string_view, 24> snippets = {
        "",
        " ",
        "\\n",
        "\\\\",
        "\\\"",
        "\\/",
        "\\u0000",
        "\\u001f",
        "\\u00e9",
        "\\u20ac",
        "\\ud83d\\ude00",
        "\\uD83D\\uDE00",
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\ud83d\\ude00",
        "\\ufffd",
        "\xC3\xA9",
        "\xE2\x82\xAC",
        "\xF0\x9F\x98\x80",
        "\x7F",
        "[~1/1/1000]",
        "[tool result cleared: 9 characters, ok]",
        "{\\\"a\\\":[1]}",
        "0123456789012345678901234567890123456789012345678901234567890123456789",
    };
    static constexpr std::array<std::string_view, 26> pieces = {
        R"({"type":"text","text":"some words that are long enough to go"})",
        R"({"type":"text","text":"marked words","cache_control":{"type":"ephemeral"}})",
        R"({"type":"text","text":"marked words, long enough","cache_control": { "type" : "ephemeral" , "ttl":"1h" } })",
        R"({"type":"text","text":"marked by null","cache_control":null})",
        R"({"type":"text","text":"cited words","citations":[{"cache_control":{"type":"ephemeral"}}]})",
        R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUg=="}})",
        R"({"type":"image","source":{"type":"url","url":"http://a/b.png"},"cache_control":{"type":"ephemeral"}})",
        R"({"type":"document","source":{"type":"text","data":"a document of some length"},"title":"t"})",
        R"({"type":"search_result","source":"s","title":"t","content":[{"type":"text","text":"found"}]})",
        R"({"type":"hologram","data":{"n":1.50,"signature":"abc"}})",
        R"({"type":"hologram","data":[1,2.5,true,null,"\u00e9"]})",
        R"({"type":"tool_reference","tool_name":"t"})",
        R"({"type":"thinking","thinking":"hm","signature":"c2ln"})",
        R"({"type":"redacted_thinking","data":"ZGF0YQ=="})",
        R"({"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"q"}})",
        R"({"type":"web_search_tool_result","tool_use_id":"s1","content":[]})",
        R"({"type":"compaction","content":"what was before"})",
        R"({"type":"tool_use","id":"i1","name":"Read","input":{"file_path":"/src/a.c"}})",
        R"({"type":"tool_use","id":"i2","name":"Edit","input":{"path":"/a","edits":[{"old_string":"aaaaaaaaaaaaaaaaaaaa","new_string":"bbbbbbbbbbbbbbbbbbbbbbbb"}]}})",
        R"({"type":"tool_use","id":"i3","name":"Run","input":{"content":"cccccccccccccccccccccccccccc"},"caller":{"type":"code_execution"}})",
        R"({"type":"tool_result","tool_use_id":"i1","content":"a result that is long enough to be worth it"})",
        R"({"type":"tool_result","tool_use_id":"i2","content":[{"type":"text","text":"part one is this"},{"type":"text","text":"part two is that"}]})",
        R"([{"old_str":"dddddddddddddddddddddddddddd","a":1},{"new_str":"eeeeeeeeeeeeeeeeeeeeeeee"}])",
        R"({"type":"ephemeral"})",
        R"({"a":{"a":1,"a":2}})",
        R"({"role":"user","content":[{"type":"text","text":"go on"}]})",
    };

    std::string body_;
    JsonText json_{};
    Random random_;
};

inline std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed) {
    Random random(seed);
    if (size == 0 || max_size < 2 || random.below(3) == 0) { return LLVMFuzzerMutate(data, size, max_size); }
    Mutator mutator(std::string(reinterpret_cast<const char*>(data) + 1, size - 1), random);
    if (random.below(24) == 0) { data[0] = static_cast<std::uint8_t>(random.below(64)); }
    if (!mutator.mutate(max_size - 1)) { return LLVMFuzzerMutate(data, size, max_size); }
    const std::string& body = mutator.body();
    if (!body.empty()) { std::memcpy(data + 1, body.data(), body.size()); }
    return body.size() + 1;
}

}  // namespace fuzz
