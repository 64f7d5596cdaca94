// SPDX-License-Identifier: MIT
#pragma once

#include "json_text.hpp"
#include "vocabulary.hpp"

#include <coppice/dialect.hpp>

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

/// Changes a body so that most of what was valid stays valid: values and members are dropped, doubled, swapped and
/// replaced as pieces of the text, so that also what no DOM could hold stays in it. JSON that stands in a string is
/// changed in the same ways.
class Mutator {
public:
    Mutator(coppice::Dialect dialect, std::string body, Random random)
        : dialect_(dialect), body_(std::move(body)), random_(random) {}

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
        switch (random_.below(22)) {
            case 0: return put(value(any_value()).span, random_.one_of(words::junk));
            case 1: return put(value(any_value()).span, any_piece());
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
            case 17:
            case 18:
            case 19:
            case 20: return change_packed();
            default: return put(value(any_value()).span, random_.one_of(words::numbers));
        }
    }

    // mostly of the dialect
    coppice::Dialect any_dialect() {
        if (random_.below(8) > 0) { return dialect_; }
        return coppice::all_dialects[random_.below(coppice::all_dialects.size())];
    }
    std::string_view any_piece() { return random_.one_of(pieces_of(any_dialect())); }
    std::string_view any_key() {
        return random_.below(2) == 0 ? random_.one_of(words::keys) : random_.one_of(keys_of(any_dialect()));
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
        if (parent.type == Type::object) { member.append("\"").append(any_key()).append("\":"); }
        member += random_.below(2) == 0 ? any_piece() : random_.one_of(words::junk);
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
            return put({key.begin + 1, key.end - 1}, any_key());
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
        const std::string_view snippet = random_.one_of(words::snippets);
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
        switch (random_.below(7)) {
            case 0: return put(root, R"({"requests":[{"custom_id":"a","params":)" + inner + "}]}");
            case 1: return put(root, R"([{"custom_id":"a","method":"POST","body":)" + inner + "}]");
            case 2: return put(root, R"([{"params":)" + inner + R"(},{"params":)" + inner + "}]");
            case 3: return put(root, "[" + inner + "]");
            case 4: return put(root, R"({"requests":[{"request":)" + inner + R"(},{"key":1}]})");
            case 5: return put(root, R"({"recordId":"a","modelInput":)" + inner + "}");
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
            if (one.type != Type::array || one.key.size() == 0) { continue; }
            const std::string name = json_.decoded(one.key);
            if (name == "messages" || name == "contents" || name == "input") { return index; }
        }
        return value(0).type == Type::array ? 0 : nowhere;
    }

    void add_messages() {
        const std::size_t index = messages_array();
        if (index == nowhere) { return; }
        insert_element(index, Exchange(any_dialect(), random_).write());
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

    // a string that holds JSON, changed inside: what does not change there keeps its spelling
    void change_packed() {
        std::vector<std::size_t> found;
        std::vector<std::size_t> spelled;
        std::string inside;
        JsonText inner;
        for (std::size_t i = 0; i < json_.values().size(); ++i) {
            if (value(i).type != Type::string || value(i).span.size() < 4) { continue; }
            inside = json_.decoded(value(i).span);
            if ((inside[0] == '{' || inside[0] == '[') && inner.read(inside)) { found.push_back(i); }
        }
        if (found.empty()) { return pack(); }
        const Span string = value(found[random_.below(found.size())]).span;
        inside = json_.decoded(string, spelled);
        Mutator mutator(dialect_, inside, Random(random_.below(1U << 30U)));
        if (random_.below(8) == 0) {
            mutator.break_off();
        } else if (!mutator.mutate(inside.size() + 400)) {
            return;
        }
        const std::string& changed = mutator.body();
        const std::size_t shorter = std::min(inside.size(), changed.size());
        std::size_t same = 0;
        while (same < shorter && inside[same] == changed[same]) { ++same; }
        // not within a character
        while (same > 0 && spelled[same - 1] == spelled[same]) { --same; }
        std::size_t tail = 0;
        while (tail < shorter - same &&
               inside[inside.size() - 1 - tail] == changed[changed.size() - 1 - tail]) {
            ++tail;
        }
        const auto cut = [&] { return inside.size() - tail; };
        while (tail > 0 && cut() > 0 && spelled[cut()] == spelled[cut() - 1]) { --tail; }
        std::string text;
        append_escaped(text, std::string_view(changed).substr(same, changed.size() - tail - same));
        put({spelled[same], spelled[cut()]}, text);
    }

    // an object becomes a string that holds it
    void pack() {
        const std::size_t index = any_of_type(Type::object);
        if (index == nowhere || index == 0) { return; }
        std::string text = "\"";
        append_escaped(text, value(index).span.in(body_));
        put(value(index).span, text + "\"");
    }

    void break_off() {
        const std::size_t at = random_.below(body_.size());
        const bool ascii = static_cast<unsigned char>(body_[at]) < 0x80;
        if (ascii) { body_.erase(at, 1); }
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

    coppice::Dialect dialect_;
    std::string body_;
    JsonText json_{};
    Random random_;
};

inline std::size_t mutate(coppice::Dialect dialect, std::uint8_t* data, std::size_t size,
                          std::size_t max_size, unsigned seed) {
    Random random(seed);
    if (size == 0 || max_size < 2 || random.below(3) == 0) { return LLVMFuzzerMutate(data, size, max_size); }
    Mutator mutator(dialect, std::string(reinterpret_cast<const char*>(data) + 1, size - 1), random);
    if (random.below(24) == 0) { data[0] = static_cast<std::uint8_t>(random.below(64)); }
    if (!mutator.mutate(max_size - 1)) { return LLVMFuzzerMutate(data, size, max_size); }
    const std::string& body = mutator.body();
    if (!body.empty()) { std::memcpy(data + 1, body.data(), body.size()); }
    return body.size() + 1;
}

}  // namespace fuzz
