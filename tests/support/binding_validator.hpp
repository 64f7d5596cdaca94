// SPDX-License-Identifier: MIT

// Whether a sequence of requests keeps the rules for the model's thinking, held against what was sent before: A-Δ1,
// A-Δ2, A-Δ3 and A-Σ1 for Anthropic's `thinking` and `redacted_thinking` and for `reasoningContent` of Bedrock. Written
// without the library on purpose: a mistake there must not be repeated here.

#pragma once

#include "validation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace binding_validator {

using validation::Findings;
using validation::Json;

inline constexpr std::size_t max_depth = 200;

namespace detail {

inline bool is_union(const Json& block, std::string_view kind) { return validation::has(block, kind); }

inline bool is_thinking(const Json& block) {
    const std::string_view type = validation::type_of(block);
    return type == "thinking" || type == "redacted_thinking" ||
           (type.empty() && is_union(block, "reasoningContent"));
}

inline bool is_cache_point(const Json& block) {
    return block.is_object() && block.size() == 1 && is_union(block, "cachePoint");
}

inline bool is_result(const Json& block) {
    return validation::type_of(block) == "tool_result" ||
           (validation::type_of(block).empty() && is_union(block, "toolResult"));
}

/// Where a human speaks: a message of the user with anything but tool results. Marks are nothing.
inline bool is_real_user_turn(const Json& message) {
    if (validation::role_of(message) != "user") { return false; }
    const Json::array_t* const blocks = validation::array_at(message, "content");
    return blocks == nullptr || std::any_of(blocks->begin(), blocks->end(), [](const Json& block) {
               return !is_result(block) && !is_cache_point(block);
           });
}

using Hash = std::uint64_t;

inline Hash mixed(Hash hash, Hash with) {
    Hash bits = hash * 0x9e3779b97f4a7c15U + with + 0x7f4a7c15U;
    bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31U);
}

inline Hash hash_of_text(std::string_view text) { return std::hash<std::string_view>{}(text); }

/// Equal for equal values, whatever the order of keys and wherever cache marks are.
inline Hash hash_of(const Json& value, std::size_t depth = 0) {
    if (depth > max_depth) { return 1; }
    if (const std::string* const text = validation::string_of(value)) {
        return mixed(2, hash_of_text(*text));
    }
    if (const Json::array_t* const items = validation::array_of(value)) {
        Hash hash = 3;
        for (const Json& item : *items) {
            if (!is_cache_point(item)) { hash = mixed(hash, hash_of(item, depth + 1)); }
        }
        return hash;
    }
    if (const Json::object_t* const fields = validation::object_of(value)) {
        Hash sum = 4;
        for (const auto& field : *fields) {
            if (field.first == "cache_control") { continue; }
            sum += mixed(hash_of_text(field.first), hash_of(field.second, depth + 1));
        }
        return mixed(5, sum);
    }
    return mixed(6, hash_of_text(value.dump()));
}

/// What stands before the messages, and binds as they do.
inline Hash hash_of_setting(const Json& body) {
    Hash hash = 7;
    for (const char* const key : {"system", "tools", "toolConfig"}) {
        const Json* value = validation::find(body, key);
        if (value != nullptr && std::string_view{key} == "toolConfig") {
            value = validation::find(*value, "tools");
        }
        hash = mixed(hash, value == nullptr ? 0 : hash_of(*value));
    }
    return hash;
}

inline bool server_drops_what_does_not_fit(const Json& body) {
    const Json* fields = validation::find(body, "additionalModelRequestFields");
    for (const Json* holder : {&body, fields}) {
        for (const char* const key : {"thinking", "block_binding"}) {
            if (holder != nullptr) { holder = validation::find(*holder, key); }
        }
        if (holder != nullptr && validation::text_at(*holder, "prefix_mismatch_behavior") == "drop_block") {
            return true;
        }
    }
    return false;
}

/// A message as far as binding goes: what it adds to the prefix, and the thinking between. `before` counts the values
/// that stand before a block in its message.
struct Reduced {
    struct Thinking {
        std::size_t block = 0;
        std::size_t before = 0;
    };
    std::vector<Hash> values;
    std::vector<Thinking> thinking;

    explicit Reduced(const Json& message) {
        Hash sum = 8;
        if (const Json::object_t* const fields = validation::object_of(message)) {
            for (const auto& field : *fields) {
                if (field.first != "content") {
                    sum += mixed(hash_of_text(field.first), hash_of(field.second));
                }
            }
        }
        values.push_back(sum);
        const Json::array_t* const blocks = validation::array_at(message, "content");
        if (blocks == nullptr) {
            const Json* const content = validation::find(message, "content");
            values.push_back(content == nullptr ? 9 : hash_of(*content));
            return;
        }
        const bool of_the_model = validation::role_of(message) == "assistant";
        for (std::size_t i = 0; i < blocks->size(); ++i) {
            if (of_the_model && is_thinking((*blocks)[i])) {
                thinking.push_back({i, values.size()});
            } else if (!is_cache_point((*blocks)[i])) {
                values.push_back(hash_of((*blocks)[i]));
            }
        }
    }
};

/// A prefix while it grows.
class Prefix {
public:
    explicit Prefix(Hash hash) : hash_(hash) {}
    /// The hash before the message's values from `count` on.
    Hash within(const Reduced& message, std::size_t count) const {
        Hash hash = hash_;
        for (std::size_t i = 0; i < count; ++i) { hash = mixed(hash, message.values[i]); }
        return hash;
    }
    void add(const Reduced& message) { hash_ = within(message, message.values.size()); }

private:
    Hash hash_;
};

}  // namespace detail

/// Follows one session. Each request is fed as the client had it and as it was sent; the history of the first must be
/// how that of the second begins. Findings are a predicate and a place: "A-Δ2 messages[3].content[0]", a place in what
/// was sent, or of a block that is missing, in what the client had.
class BindingValidator {
public:
    /// `bound` says whether the model binds thinking to what stood before it; otherwise A-Δ2 is not asked.
    explicit BindingValidator(bool bound = true) : bound_(bound) {}

    /// What has come since the last request answers that one: the thinking in it is bound to what was sent then.
    Findings feed(const Json& had, const Json& sent) { return look_at(had, sent, true); }

    /// The same where requests were left out between. The caller vouches that what they sent is how this one begins, so
    /// that thinking that has come meanwhile is bound to what stands before it here.
    Findings skip_to(const Json& had, const Json& sent) { return look_at(had, sent, false); }

    /// Thinking blocks that the client had in the last request, and those of them that were sent.
    std::size_t thinking() const { return thinking_.size(); }
    std::size_t kept() const {
        return static_cast<std::size_t>(
            std::count_if(thinking_.begin(), thinking_.end(), [](const Thinking& one) { return one.kept; }));
    }

private:
    struct Thinking {
        std::size_t message = 0;
        std::size_t block = 0;
        detail::Hash value = 0;
        detail::Hash prefix = 0;
        bool known = false;     // its prefix
        bool kept = true;       // in the last request
        bool was_kept = true;   // and in the one before
        std::size_t place = 0;  // the block in what was sent
    };
    struct Message {
        Json sent;
        detail::Reduced reduced;
    };

    static std::string place_of(std::size_t message, std::size_t block) {
        return validation::at(validation::at("messages", message) + ".content", block);
    }

    Findings look_at(const Json& had, const Json& sent, bool each_request) {
        Findings findings;
        const Json::array_t* const before = validation::array_at(had, "messages");
        const Json::array_t* const after = validation::array_at(sent, "messages");
        if (before == nullptr || after == nullptr || before->size() != after->size()) {
            validation::report(findings, "U-Δ1", "messages");
            return findings;
        }
        const std::size_t known = messages_.size();
        if (before->size() < known) {
            validation::report(findings, "U-Δ1", "messages (fewer than before)");
            return findings;
        }
        const std::size_t first_new = thinking_.size();
        add_new_thinking(*before, known, each_request, had);
        find_kept(*after, findings);
        check_run(first_new, findings);
        check_open_loop(*before, first_new, findings);
        remember(sent, *after);
        check_prefixes(had, *after, findings);
        return findings;
    }

    // thinking that the client had not when it asked last
    void add_new_thinking(const Json::array_t& had, std::size_t known, bool each_request, const Json& body) {
        detail::Prefix prefix(known == 0 ? detail::hash_of_setting(body) : setting_);
        for (const Message& message : messages_) { prefix.add(message.reduced); }
        for (std::size_t m = known; m < had.size(); ++m) {
            const detail::Reduced reduced(had[m]);
            for (const detail::Reduced::Thinking& one : reduced.thinking) {
                Thinking added;
                added.message = m;
                added.block = one.block;
                added.value = detail::hash_of(had[m]["content"][one.block]);
                added.known = each_request;
                added.prefix = prefix.within(reduced, one.before);
                thinking_.push_back(std::move(added));
            }
            prefix.add(reduced);
        }
    }

    // which blocks are still there: those of one message in their order
    void find_kept(const Json::array_t& sent, Findings& findings) {
        std::size_t next = 0;
        for (std::size_t m = 0; m < sent.size(); ++m) {
            const std::size_t first = next;
            while (next < thinking_.size() && thinking_[next].message == m) { ++next; }
            std::vector<std::size_t> there;
            const Json::array_t* const blocks = validation::array_at(sent[m], "content");
            const bool of_the_model = validation::role_of(sent[m]) == "assistant";
            for (std::size_t i = 0; blocks != nullptr && of_the_model && i < blocks->size(); ++i) {
                if (detail::is_thinking((*blocks)[i])) { there.push_back(i); }
            }
            const bool all = there.size() == next - first;
            std::size_t candidate = first;
            for (std::size_t i = first; i < next; ++i) {
                thinking_[i].was_kept = thinking_[i].kept;
                thinking_[i].kept = false;
            }
            for (const std::size_t block : there) {
                std::size_t found = candidate;
                while (found < next && thinking_[found].value != detail::hash_of((*blocks)[block])) {
                    ++found;
                }
                if (found == next) {
                    validation::report(findings, "A-Δ1", place_of(m, block) + " (changed)");
                    // taken for the one that stood here, so that one fault is one finding
                    found = all ? candidate : next;
                }
                if (found == next) { continue; }
                thinking_[found].kept = true;
                thinking_[found].place = block;
                candidate = found + 1;
            }
        }
    }

    // A-Δ1: of what was there, all, none, the oldest or the newest; A-Σ1: nothing comes back
    void check_run(std::size_t first_new, Findings& findings) const {
        std::size_t changes = 0;
        const Thinking* last = nullptr;
        const Thinking* first_gone = nullptr;
        for (std::size_t i = 0; i < thinking_.size(); ++i) {
            const Thinking& one = thinking_[i];
            if (i < first_new && !one.was_kept) {
                if (one.kept) { validation::report(findings, "A-Σ1", place_of(one.message, one.place)); }
                continue;
            }
            changes += last != nullptr && last->kept != one.kept;
            if (!one.kept && first_gone == nullptr) { first_gone = &one; }
            last = &one;
        }
        if (changes > 1) {
            validation::report(findings, "A-Δ1",
                               place_of(first_gone->message, first_gone->block) + " (middle)");
        }
    }

    // A-Δ3: while tools are answered, what the model thought since the human spoke stays
    void check_open_loop(const Json::array_t& had, std::size_t first_new, Findings& findings) const {
        std::size_t last = had.size();
        while (last > 0 && validation::role_of(had[last - 1]) == "system") { --last; }
        const bool open = last > 0 && validation::role_of(had[last - 1]) == "user" &&
                          !detail::is_real_user_turn(had[last - 1]);
        if (!open) { return; }
        std::size_t turn = last;
        while (turn > 0 && !detail::is_real_user_turn(had[turn - 1])) { --turn; }
        for (std::size_t i = 0; i < thinking_.size(); ++i) {
            const Thinking& one = thinking_[i];
            const bool was_there = i >= first_new || one.was_kept;
            if (one.message >= turn && was_there && !one.kept) {
                validation::report(findings, "A-Δ3", place_of(one.message, one.block));
            }
        }
    }

    void remember(const Json& body, const Json::array_t& sent) {
        setting_ = detail::hash_of_setting(body);
        for (std::size_t m = 0; m < sent.size(); ++m) {
            if (m == messages_.size()) {
                messages_.push_back({sent[m], detail::Reduced(sent[m])});
            } else if (messages_[m].sent != sent[m]) {
                messages_[m] = {sent[m], detail::Reduced(sent[m])};
            }
        }
    }

    // A-Δ2: before a kept block stands what stood there when it was made
    void check_prefixes(const Json& had, const Json::array_t& sent, Findings& findings) {
        const bool asked = bound_ && !detail::server_drops_what_does_not_fit(had);
        detail::Prefix prefix(setting_);
        std::size_t next = 0;
        for (std::size_t m = 0; m < sent.size(); ++m) {
            const detail::Reduced& reduced = messages_[m].reduced;
            for (; next < thinking_.size() && thinking_[next].message == m; ++next) {
                Thinking& one = thinking_[next];
                if (!one.kept) { continue; }
                const auto placed =
                    std::find_if(reduced.thinking.begin(), reduced.thinking.end(),
                                 [&one](const auto& candidate) { return candidate.block == one.place; });
                const detail::Hash now = prefix.within(reduced, placed->before);
                if (!one.known) {
                    one.prefix = now;
                    one.known = true;
                } else if (asked && one.prefix != now) {
                    validation::report(findings, "A-Δ2", place_of(m, one.place));
                }
            }
            prefix.add(reduced);
        }
    }

    bool bound_;
    detail::Hash setting_ = 0;
    std::vector<Message> messages_;
    std::vector<Thinking> thinking_;  // of the whole session, in its order
};

}  // namespace binding_validator
