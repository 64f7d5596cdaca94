// Checks Anthropic Messages request bodies, alone and against the body they were made from.
//
// Written without the library on purpose: a mistake there must not be repeated here.
// A finding is the name of a predicate and the path it failed at, "A-V7 messages[3].content[0]".
// Paths start with "messages" for a bare array of messages as well.
//
// Precondition: bodies nest at most `max_depth` levels. Deeper ones are not descended into; they get one
// U-V1 finding, and U-Δ3 when they are to be compared.

#pragma once

#include "dropped_blocks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anthropic_validator {

using Json = nlohmann::ordered_json;
using Findings = std::vector<std::string>;

inline constexpr std::size_t max_depth = 1000;

/// Limits of the receiving end, which differ between models and platforms.
struct RequestLimits {
    std::size_t bytes = std::size_t{32} * 1024 * 1024;
    std::size_t images = 600;
    std::size_t cache_marks = 4;
};

/// What a pruner may do beyond shortening read tool results and strings in tool call inputs.
struct AllowedChanges {
    bool string_to_blocks = true;         ///< a string result may become an array of blocks
    bool blocks_to_string = false;        ///< an array of blocks may become a string
    bool input_strings = true;            ///< strings inside tool_use.input may be replaced
    bool unread_results = false;          ///< results after the last assistant message may be replaced
    bool edits_after_compaction = false;  ///< turns after a compaction block may be edited at all
    bool user_images = false;             ///< image blocks of the user that were read may become a text block each
    bool thinking_removal =
        false;  ///< thinking may go: a prefix, a suffix, all, or between edit and user turn
    bool stale_thinking_removal = false;  ///< the same, of turns that are over, and of each all or none

    bool any_removal() const { return thinking_removal || stale_thinking_removal; }
};

namespace detail {

inline const Json* find(const Json& object, std::string_view key) {
    if (const auto* const fields = object.get_ptr<const Json::object_t*>()) {
        for (const auto& field : *fields) {
            if (field.first == key) {
                return &field.second;
            }
        }
    }
    return nullptr;
}

/// The string under `key`, or an empty one.
inline std::string_view text_at(const Json& object, std::string_view key) {
    const Json* const value = find(object, key);
    const auto* const text = value == nullptr ? nullptr : value->get_ptr<const Json::string_t*>();
    return text == nullptr ? std::string_view{} : std::string_view{*text};
}

inline std::string_view type_of(const Json& block) {
    return text_at(block, "type");
}
inline std::string_view role_of(const Json& message) {
    return text_at(message, "role");
}

inline const Json::array_t* array_at(const Json& object, std::string_view key) {
    const Json* const value = find(object, key);
    return value == nullptr ? nullptr : value->get_ptr<const Json::array_t*>();
}

inline const Json::array_t* messages_of(const Json& body) {
    return body.is_array() ? body.get_ptr<const Json::array_t*>() : array_at(body, "messages");
}

inline std::string at(std::string_view path, std::size_t index) {
    return std::string{path} + "[" + std::to_string(index) + "]";
}

inline std::string block_path(std::size_t message, std::size_t block) {
    return at(at("messages", message) + ".content", block);
}

inline void report(Findings& findings, std::string_view predicate, std::string_view path) {
    findings.push_back(std::string{predicate} + " " + std::string{path});
}

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// White space as Unicode has it, for a text that is valid UTF-8.
inline bool is_blank(std::string_view text) {
    constexpr std::array<std::string_view, 19> wide{
        "\u0085", "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
        "\u2007", "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
    while (!text.empty()) {
        std::size_t step = 0;
        if (contains(" \t\n\v\f\r", text.substr(0, 1))) {
            step = 1;
        } else {
            for (const std::string_view space : wide) {
                if (text.substr(0, space.size()) == space) {
                    step = space.size();
                }
            }
        }
        if (step == 0) {
            return false;
        }
        text.remove_prefix(step);
    }
    return true;
}

inline bool is_utf8(std::string_view text) {
    std::size_t at_byte = 0;
    while (at_byte < text.size()) {
        const auto lead = static_cast<unsigned char>(text[at_byte]);
        std::size_t length = 1;
        std::uint32_t code_point = lead;
        if (lead >= 0xf0) {
            length = 4;
            code_point = lead & 0x07U;
        } else if (lead >= 0xe0) {
            length = 3;
            code_point = lead & 0x0fU;
        } else if (lead >= 0xc0) {
            length = 2;
            code_point = lead & 0x1fU;
        }
        if ((lead >= 0x80 && lead < 0xc0) || lead > 0xf4 || at_byte + length > text.size()) {
            return false;
        }
        for (std::size_t i = 1; i < length; ++i) {
            const auto next = static_cast<unsigned char>(text[at_byte + i]);
            if ((next & 0xc0U) != 0x80U) {
                return false;
            }
            code_point = (code_point << 6U) | (next & 0x3fU);
        }
        constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
        if (code_point < least[length] || code_point > 0x10ffff ||
            (code_point >= 0xd800 && code_point <= 0xdfff)) {
            return false;
        }
        at_byte += length;
    }
    return true;
}

/// RFC 4648 with padding, and not empty.
inline bool is_base64(std::string_view text) {
    if (text.empty() || text.size() % 4 != 0) {
        return false;
    }
    const std::size_t padding = text.substr(text.size() - 2) == "==" ? 2U : (text.back() == '=' ? 1U : 0U);
    text.remove_suffix(padding);
    return std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
               c == '/';
    });
}

inline bool is_deeper_than(const Json& value, std::size_t levels) {
    if (!value.is_structured()) {
        return false;
    }
    if (levels == 0) {
        return true;
    }
    return std::any_of(value.begin(), value.end(),
                       [levels](const Json& child) { return is_deeper_than(child, levels - 1); });
}

inline bool has_valid_strings(const Json& value) {
    if (const auto* const text = value.get_ptr<const Json::string_t*>()) {
        return is_utf8(*text);
    }
    if (const auto* const fields = value.get_ptr<const Json::object_t*>()) {
        return std::all_of(fields->begin(), fields->end(), [](const auto& field) {
            return is_utf8(field.first) && has_valid_strings(field.second);
        });
    }
    if (const auto* const items = value.get_ptr<const Json::array_t*>()) {
        return std::all_of(items->begin(), items->end(),
                           [](const Json& item) { return has_valid_strings(item); });
    }
    return true;
}

inline std::string dumped(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

inline std::size_t dumped_size(const Json& value) {
    return dumped(value).size();
}

/// Equal down to key order and number spelling, as far as a parsed value still knows it.
inline bool same(const Json& left, const Json& right) {
    if (left.is_number_integer() && right.is_number_integer()) {
        return left == right;  // signed or unsigned storage is no difference in spelling
    }
    if (left.type() != right.type()) {
        return false;
    }
    if (left.is_number_float()) {
        return left.dump() == right.dump();
    }
    if (const auto* const fields = left.get_ptr<const Json::object_t*>()) {
        const auto* const others = right.get_ptr<const Json::object_t*>();
        return std::equal(
            fields->begin(), fields->end(), others->begin(), others->end(),
            [](const auto& a, const auto& b) { return a.first == b.first && same(a.second, b.second); });
    }
    if (const auto* const items = left.get_ptr<const Json::array_t*>()) {
        const auto* const others = right.get_ptr<const Json::array_t*>();
        return std::equal(items->begin(), items->end(), others->begin(), others->end(),
                          [](const Json& a, const Json& b) { return same(a, b); });
    }
    return left == right;
}

inline bool same_or_both_absent(const Json* left, const Json* right) {
    return left == nullptr || right == nullptr ? left == right : same(*left, *right);
}

inline bool is_thinking(const Json& block) {
    const std::string_view type = type_of(block);
    return type == "thinking" || type == "redacted_thinking";
}

inline bool is_server_call(const Json& block) {
    const std::string_view type = type_of(block);
    return type == "server_tool_use" || type == "mcp_tool_use";
}

inline bool is_server_result(const Json& block) {
    constexpr std::string_view suffix = "_tool_result";
    const std::string_view type = type_of(block);
    return type.size() > suffix.size() && type.substr(type.size() - suffix.size()) == suffix;
}

inline bool is_tool_result(const Json& block) {
    return type_of(block) == "tool_result";
}
inline bool is_tool_use(const Json& block) {
    return type_of(block) == "tool_use";
}

inline bool is_error(const Json& result) {
    const Json* const flag = find(result, "is_error");
    return flag != nullptr && flag->is_boolean() && flag->get<bool>();
}

/// The blocks directly inside a block, wherever its type keeps them.
inline const Json::array_t* inner_blocks(const Json& block) {
    if (const Json::array_t* const content = array_at(block, "content")) {
        return content;
    }
    const Json* const source = find(block, "source");
    return source == nullptr ? nullptr : array_at(*source, "content");
}

/// Calls `visit(block, path)` for a block and all blocks inside it, inner ones first.
template <class Visitor>
void for_each_nested(const Json& block, const std::string& path, const Visitor& visit) {
    if (const Json::array_t* const inner = inner_blocks(block)) {
        const std::string inner_path =
            path + (array_at(block, "content") != nullptr ? ".content" : ".source.content");
        for (std::size_t i = 0; i < inner->size(); ++i) {
            for_each_nested((*inner)[i], at(inner_path, i), visit);
        }
    }
    visit(block, path);
}

/// Calls `visit(block, path)` for every block of every message.
template <class Visitor>
void for_each_block(const Json::array_t& messages, const Visitor& visit) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        if (const Json::array_t* const blocks = array_at(messages[m], "content")) {
            for (std::size_t b = 0; b < blocks->size(); ++b) {
                for_each_nested((*blocks)[b], block_path(m, b), visit);
            }
        }
    }
}

inline std::size_t count_images(const Json::array_t& messages) {
    std::size_t images = 0;
    for_each_block(messages, [&images](const Json& block, const std::string&) {
        images += type_of(block) == "image" ? 1U : 0U;
    });
    return images;
}

/// A block of a turn and where it is. A message whose content is a string counts as one text block.
struct PlacedBlock {
    const Json* block = nullptr;
    std::size_t message = 0;
    std::string path;

    bool is_result() const { return is_tool_result(*block); }
};

/// Adjacent messages of one role, which the server joins.
struct Turn {
    std::string_view role;
    std::size_t first_message = 0;
    std::size_t end_message = 0;
    std::vector<PlacedBlock> blocks;
};

inline std::vector<Turn> turns_of(const Json::array_t& messages) {
    static const Json text_block = Json::object({{"type", "text"}});
    std::vector<Turn> turns;
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const std::string_view role = role_of(messages[m]);
        if (turns.empty() || turns.back().role != role || role == "system") {
            turns.push_back(Turn{role, m, m, {}});
        }
        Turn& turn = turns.back();
        turn.end_message = m + 1;
        if (const Json::array_t* const blocks = array_at(messages[m], "content")) {
            for (std::size_t b = 0; b < blocks->size(); ++b) {
                turn.blocks.push_back(PlacedBlock{&(*blocks)[b], m, block_path(m, b)});
            }
        } else {
            turn.blocks.push_back(PlacedBlock{&text_block, m, at("messages", m) + ".content"});
        }
    }
    return turns;
}

inline bool has_call(const Turn& turn, std::string_view id) {
    return std::any_of(turn.blocks.begin(), turn.blocks.end(), [id](const PlacedBlock& placed) {
        return is_tool_use(*placed.block) && text_at(*placed.block, "id") == id;
    });
}

inline bool has_client_calls(const Turn& turn) {
    return std::any_of(turn.blocks.begin(), turn.blocks.end(),
                       [](const PlacedBlock& placed) { return is_tool_use(*placed.block); });
}

/// A server tool call of this turn still waits for its result.
inline bool has_pending_server_call(const Turn& turn) {
    return std::any_of(turn.blocks.begin(), turn.blocks.end(), [&turn](const PlacedBlock& call) {
        if (!is_server_call(*call.block)) {
            return false;
        }
        const std::string_view id = text_at(*call.block, "id");
        return std::none_of(turn.blocks.begin(), turn.blocks.end(), [id](const PlacedBlock& result) {
            return is_server_result(*result.block) && text_at(*result.block, "tool_use_id") == id;
        });
    });
}

inline bool is_programmatic_call(const Json& block) {
    const Json* const caller = find(block, "caller");
    return caller != nullptr && !caller->is_null() && type_of(*caller) != "direct";
}

/// The user turn that answers this assistant turn must not be touched at all.
inline bool demands_untouched_answer(const Turn& turn) {
    return (has_client_calls(turn) && has_pending_server_call(turn)) ||
           std::any_of(turn.blocks.begin(), turn.blocks.end(), [](const PlacedBlock& placed) {
               return is_tool_use(*placed.block) && is_programmatic_call(*placed.block);
           });
}

// --- predicates on one body -------------------------------------------------------------------------------

inline void check_strings(const Json& body, Findings& findings) {
    if (const auto* const fields = body.get_ptr<const Json::object_t*>()) {
        for (const auto& field : *fields) {
            if (field.first != "messages" && !(is_utf8(field.first) && has_valid_strings(field.second))) {
                report(findings, "U-V1", is_utf8(field.first) ? field.first : "body");
            }
        }
    }
    const Json::array_t& messages = *messages_of(body);
    for (std::size_t m = 0; m < messages.size(); ++m) {
        if (!has_valid_strings(messages[m])) {
            report(findings, "U-V1", at("messages", m));
        }
    }
}

inline void check_message_contents(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json& message = messages[m];
        const Json* const content = find(message, "content");
        const bool is_last_assistant = m + 1 == messages.size() && role_of(message) == "assistant";
        const bool is_effort_only = role_of(message) == "system" && find(message, "effort") != nullptr;
        const auto* const text = content == nullptr ? nullptr : content->get_ptr<const Json::string_t*>();
        const bool has_content =
            content != nullptr &&
            (text != nullptr ? !is_blank(*text) : content->is_array() && !content->empty());
        if (!has_content && !is_last_assistant && !is_effort_only) {
            report(findings, "A-V1", at("messages", m));
        }
    }
}

inline void check_text_blocks(const Json::array_t& messages, Findings& findings) {
    for_each_block(messages, [&findings](const Json& block, const std::string& path) {
        if (type_of(block) == "text" && is_blank(text_at(block, "text"))) {
            report(findings, "A-V2", path);
        }
    });
}

inline void check_answers(const std::vector<Turn>& turns, Findings& findings) {
    for (std::size_t t = 0; t < turns.size(); ++t) {
        const Turn& turn = turns[t];
        const Turn* const answer =
            t + 1 < turns.size() && turns[t + 1].role == "user" ? &turns[t + 1] : nullptr;
        for (const PlacedBlock& placed : turn.blocks) {
            if (!is_tool_use(*placed.block)) {
                continue;
            }
            if (turn.role != "assistant") {
                report(findings, "A-V3", placed.path);
                continue;
            }
            if (t + 1 == turns.size()) {
                report(findings, "A-V13", placed.path);
                continue;
            }
            const std::string_view id = text_at(*placed.block, "id");
            const auto is_its_result = [id](const PlacedBlock& candidate) {
                return candidate.is_result() && text_at(*candidate.block, "tool_use_id") == id;
            };
            if (answer == nullptr ||
                std::count_if(answer->blocks.begin(), answer->blocks.end(), is_its_result) != 1) {
                report(findings, "A-V3", placed.path);
            }
        }
    }
}

inline void check_results_come_first(const std::vector<Turn>& turns, Findings& findings) {
    for (std::size_t t = 0; t < turns.size(); ++t) {
        if (turns[t].role != "user") {
            continue;
        }
        const bool only_results = t > 0 && turns[t - 1].role == "assistant" &&
                                  has_client_calls(turns[t - 1]) && has_pending_server_call(turns[t - 1]);
        bool other_seen = false;
        for (const PlacedBlock& placed : turns[t].blocks) {
            if (placed.is_result() ? other_seen : only_results) {
                report(findings, "A-V4", placed.path);
            }
            other_seen = other_seen || !placed.is_result();
        }
    }
}

inline void check_results_have_calls(const std::vector<Turn>& turns, Findings& findings) {
    for (std::size_t t = 0; t < turns.size(); ++t) {
        for (const PlacedBlock& placed : turns[t].blocks) {
            if (!placed.is_result()) {
                continue;
            }
            const bool follows_its_call = turns[t].role == "user" && t > 0 &&
                                          turns[t - 1].role == "assistant" &&
                                          has_call(turns[t - 1], text_at(*placed.block, "tool_use_id"));
            if (!follows_its_call) {
                report(findings, "A-V5", placed.path);
            }
        }
    }
}

inline void check_calls(const Json::array_t& messages, Findings& findings) {
    std::vector<std::pair<std::string_view, std::size_t>> ids;
    std::vector<std::string> paths;
    for (std::size_t m = 0; m < messages.size(); ++m) {
        const Json::array_t* const blocks = array_at(messages[m], "content");
        for (std::size_t b = 0; blocks != nullptr && b < blocks->size(); ++b) {
            const Json& block = (*blocks)[b];
            if (!is_tool_use(block)) {
                continue;
            }
            ids.push_back({text_at(block, "id"), paths.size()});
            paths.push_back(block_path(m, b));
            const Json* const input = find(block, "input");
            if (input == nullptr || !input->is_object()) {
                report(findings, "A-V9", paths.back());
            }
        }
    }
    std::sort(ids.begin(), ids.end());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (ids[i].first.empty() || (i > 0 && ids[i - 1].first == ids[i].first)) {
            report(findings, "A-V6", paths[ids[i].second]);
        }
    }
}

inline bool is_result_part(const Json& part) {
    constexpr std::array<std::string_view, 5> types{"text", "image", "document", "search_result",
                                                    "tool_reference"};
    return std::find(types.begin(), types.end(), type_of(part)) != types.end();
}

inline void check_result_contents(const Json::array_t& messages, Findings& findings) {
    for_each_block(messages, [&findings](const Json& block, const std::string& path) {
        if (!is_tool_result(block)) {
            return;
        }
        const Json* const content = find(block, "content");
        const auto* const text = content == nullptr ? nullptr : content->get_ptr<const Json::string_t*>();
        const auto* const parts = content == nullptr ? nullptr : content->get_ptr<const Json::array_t*>();
        const bool known_kind =
            content == nullptr || text != nullptr ||
            (parts != nullptr && std::all_of(parts->begin(), parts->end(), is_result_part));
        if (!known_kind) {
            report(findings, "A-V8", path);
        }
        const bool has_only_text = (text != nullptr && !is_blank(*text)) ||
                                   (parts != nullptr && !parts->empty() &&
                                    std::all_of(parts->begin(), parts->end(),
                                                [](const Json& part) { return type_of(part) == "text"; }));
        if (is_error(block) && !has_only_text) {
            report(findings, "A-V7", path);
        }
    });
}

inline void check_cache_marks(const Json& body, const RequestLimits& limits, Findings& findings) {
    std::size_t marks = 0;
    bool short_lived_seen = false;
    const auto visit_mark = [&](const Json& owner, const std::string& path, bool has_place_in_order) {
        const Json* const mark = find(owner, "cache_control");
        if (mark == nullptr || mark->is_null()) {
            return;
        }
        ++marks;
        if (is_thinking(owner) || (type_of(owner) == "text" && is_blank(text_at(owner, "text")))) {
            report(findings, "A-V10", path);
        }
        const bool is_long_lived = text_at(*mark, "ttl") == "1h";
        if (has_place_in_order && is_long_lived && short_lived_seen) {
            report(findings, "A-V10", path);
        }
        short_lived_seen = short_lived_seen || (has_place_in_order && !is_long_lived);
    };
    for (const char* const section : {"tools", "system"}) {
        const Json::array_t* const items = array_at(body, section);
        for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
            visit_mark((*items)[i], at(section, i), true);
        }
    }
    for_each_block(*messages_of(body), [&visit_mark](const Json& block, const std::string& path) {
        visit_mark(block, path, true);
    });
    if (body.is_object()) {
        visit_mark(body, "cache_control", false);
    }
    if (marks > limits.cache_marks) {
        report(findings, "A-V10", "body");
    }
}

inline void check_images(const Json::array_t& messages, Findings& findings) {
    for_each_block(messages, [&findings](const Json& block, const std::string& path) {
        if (type_of(block) != "image") {
            return;
        }
        const Json* const source = find(block, "source");
        if (source == nullptr) {
            report(findings, "A-V11", path);
            return;
        }
        constexpr std::array<std::string_view, 4> media{"image/jpeg", "image/png", "image/gif", "image/webp"};
        const bool is_known_medium =
            std::find(media.begin(), media.end(), text_at(*source, "media_type")) != media.end();
        if (type_of(*source) == "base64" && !(is_known_medium && is_base64(text_at(*source, "data")))) {
            report(findings, "A-V11", path);
        }
    });
}

inline void check_system_messages(const Json::array_t& messages, Findings& findings) {
    for (std::size_t m = 0; m < messages.size(); ++m) {
        if (role_of(messages[m]) != "system") {
            continue;
        }
        bool may_stand_here = false;
        if (m > 0) {
            const Json& previous = messages[m - 1];
            const Json::array_t* const blocks = array_at(previous, "content");
            const bool ends_in_server_tool =
                blocks != nullptr && !blocks->empty() &&
                (is_server_call(blocks->back()) || is_server_result(blocks->back()));
            may_stand_here =
                role_of(previous) == "user" || (role_of(previous) == "assistant" && ends_in_server_tool);
        }
        if (!may_stand_here || (m + 1 < messages.size() && role_of(messages[m + 1]) != "assistant")) {
            report(findings, "A-V12", at("messages", m));
        }
    }
}

inline void check_size(const Json& body, const RequestLimits& limits, Findings& findings) {
    if (dumped_size(body) > limits.bytes) {
        report(findings, "A-V14", "body");
    }
    if (count_images(*messages_of(body)) > limits.images) {
        report(findings, "A-V14", "images");
    }
}

// --- predicates on a body and what became of it ------------------------------------------------------------

struct PlacedThinking {
    std::size_t message = 0;
    std::size_t block = 0;
    const Json* value = nullptr;
};

inline std::vector<PlacedThinking> thinking_of(const Json::array_t& messages, std::size_t from = 0) {
    std::vector<PlacedThinking> found;
    for (std::size_t m = from; m < messages.size(); ++m) {
        const Json::array_t* const blocks = array_at(messages[m], "content");
        for (std::size_t b = 0; blocks != nullptr && b < blocks->size(); ++b) {
            if (is_thinking((*blocks)[b])) {
                found.push_back(PlacedThinking{m, b, &(*blocks)[b]});
            }
        }
    }
    return found;
}

/// A user message that holds more than tool results.
inline bool is_real_user_message(const Json& message) {
    const Json::array_t* const blocks = array_at(message, "content");
    return role_of(message) == "user" &&
           (blocks == nullptr || !std::all_of(blocks->begin(), blocks->end(), is_tool_result));
}

/// Index of the latest message from a human, or 0.
inline std::size_t latest_user_message(const Json::array_t& messages) {
    std::size_t latest = 0;
    for (std::size_t m = 0; m < messages.size(); ++m) {
        latest = is_real_user_message(messages[m]) ? m : latest;
    }
    return latest;
}

/// The value a thinking block is bound to: no cache marks, no thinking, no key order.
inline nlohmann::json bound_value(const Json& value) {
    if (const auto* const fields = value.get_ptr<const Json::object_t*>()) {
        nlohmann::json object = nlohmann::json::object();
        for (const auto& field : *fields) {
            if (field.first != "cache_control") {
                object[field.first] = bound_value(field.second);
            }
        }
        return object;
    }
    if (const auto* const items = value.get_ptr<const Json::array_t*>()) {
        nlohmann::json array = nlohmann::json::array();
        for (const Json& item : *items) {
            if (!is_thinking(item)) {
                array.push_back(bound_value(item));
            }
        }
        return array;
    }
    return nlohmann::json(value);
}

inline bool is_bound_equal(const Json* left, const Json* right) {
    if (left == nullptr || right == nullptr) {
        return left == right;
    }
    return same(*left, *right) || bound_value(*left) == bound_value(*right);
}

/// Where the first changed value is: message and block; `message == end` when nothing changed.
struct FirstChange {
    std::size_t message = 0;
    std::size_t block = 0;  ///< counted in the output
    bool before_messages = false;
};

inline FirstChange first_change(const Json& in, const Json& out) {
    FirstChange change;
    for (const char* const section : {"system", "tools"}) {
        if (!is_bound_equal(find(in, section), find(out, section))) {
            change.before_messages = true;
            return change;
        }
    }
    const Json::array_t& before = *messages_of(in);
    const Json::array_t& after = *messages_of(out);
    std::size_t m = 0;
    while (m < before.size() && m < after.size() && is_bound_equal(&before[m], &after[m])) {
        ++m;
    }
    change.message = m;
    const Json::array_t* const left = m < before.size() ? array_at(before[m], "content") : nullptr;
    const Json::array_t* const right = m < after.size() ? array_at(after[m], "content") : nullptr;
    if (left == nullptr || right == nullptr) {
        return change;
    }
    std::size_t l = 0;
    for (; change.block < right->size(); ++change.block) {
        if (is_thinking((*right)[change.block])) {
            continue;
        }
        while (l < left->size() && is_thinking((*left)[l])) {
            ++l;
        }
        if (l == left->size() || !is_bound_equal(&(*left)[l], &(*right)[change.block])) {
            break;
        }
        ++l;
    }
    return change;
}

/// Removed thinking is a run of the original ones that a pruner may take out.
inline bool is_allowed_removal(const Json& in, const Json& out) {
    const std::vector<PlacedThinking> before = thinking_of(*messages_of(in));
    const std::vector<PlacedThinking> after = thinking_of(*messages_of(out));
    if (after.size() > before.size()) {
        return false;
    }
    const auto is_same_block = [](const PlacedThinking& a, const PlacedThinking& b) {
        return a.message == b.message && same(*a.value, *b.value);
    };
    const std::size_t removed = before.size() - after.size();
    const FirstChange change = first_change(in, out);
    const std::size_t user = latest_user_message(*messages_of(in));
    for (std::size_t from = 0; from <= after.size(); ++from) {
        if (from > 0 && !is_same_block(before[from - 1], after[from - 1])) {
            return false;
        }
        bool rest_is_same = true;
        for (std::size_t i = from; i < after.size() && rest_is_same; ++i) {
            rest_is_same = is_same_block(before[i + removed], after[i]);
        }
        if (!rest_is_same) {
            continue;
        }
        if (removed == 0 || from == 0 || from == after.size()) {
            return true;
        }
        const bool lies_after_change = change.before_messages || before[from].message > change.message;
        const bool earlier_ones_kept = !change.before_messages && before[from - 1].message <= change.message;
        const bool lies_before_user = before[from + removed - 1].message < user;
        const bool later_ones_kept = before[from + removed].message >= user;
        if (lies_after_change && earlier_ones_kept && lies_before_user && later_ones_kept) {
            return true;
        }
    }
    return false;
}

inline dropped_blocks::Shape shape() { return {is_thinking, is_real_user_message, same}; }

/// Of the turn that may still go on all thinking is there as it was (A-Δ3), and of each older one all or none.
inline void compare_thinking_of_turns(const Json::array_t& before, const Json::array_t& after, Findings& findings) {
    const dropped_blocks::BrokenTurns broken = dropped_blocks::broken_turns(before, after, shape());
    for (const std::size_t start : broken.older) {
        report(findings, "A-Δ1", at("messages", start) + " (turn)");
    }
    for (const std::size_t start : broken.latest) {
        report(findings, "A-Δ3", at("messages", start) + " (turn)");
    }
}

inline void compare_thinking(const Json& in, const Json& out, const AllowedChanges& allowed,
                             Findings& findings) {
    if (allowed.any_removal()) {
        const bool explained = allowed.stale_thinking_removal &&
                               dropped_blocks::is_explained(*messages_of(in), *messages_of(out), shape());
        if (!explained && !is_allowed_removal(in, out)) {
            report(findings, "A-Δ1", "messages");
        }
        if (allowed.stale_thinking_removal) {
            compare_thinking_of_turns(*messages_of(in), *messages_of(out), findings);
        }
        return;
    }
    const std::vector<PlacedThinking> before = thinking_of(*messages_of(in));
    const std::vector<PlacedThinking> after = thinking_of(*messages_of(out));
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
        if (i >= before.size() || i >= after.size() || before[i].message != after[i].message ||
            before[i].block != after[i].block || !same(*before[i].value, *after[i].value)) {
            const PlacedThinking& place = i < before.size() ? before[i] : after[i];
            report(findings, "A-Δ1", block_path(place.message, place.block));
            return;
        }
    }
}

/// Signed and encrypted values in document order. Inputs of client tools are not looked into.
inline void collect_opaque(const Json& value, bool with_thinking, std::vector<const Json*>& found) {
    if (const auto* const items = value.get_ptr<const Json::array_t*>()) {
        for (const Json& item : *items) {
            collect_opaque(item, with_thinking, found);
        }
        return;
    }
    const auto* const fields = value.get_ptr<const Json::object_t*>();
    if (fields == nullptr || (is_thinking(value) && !with_thinking)) {
        return;
    }
    constexpr std::array<std::string_view, 4> keys{"signature", "encrypted_content", "encrypted_stdout",
                                                   "encrypted_index"};
    for (const auto& field : *fields) {
        const bool is_opaque = std::find(keys.begin(), keys.end(), field.first) != keys.end() ||
                               (field.first == "data" && type_of(value) == "redacted_thinking");
        if (is_opaque) {
            found.push_back(&field.second);
        } else if (!(is_tool_use(value) && field.first == "input")) {
            collect_opaque(field.second, with_thinking, found);
        }
    }
}

inline void compare_opaque(const Json& before, const Json& after, std::string_view path, bool with_thinking,
                           Findings& findings) {
    std::vector<const Json*> left;
    std::vector<const Json*> right;
    collect_opaque(before, with_thinking, left);
    collect_opaque(after, with_thinking, right);
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Json* a, const Json* b) { return same(*a, *b); })) {
        report(findings, "U-Δ6", path);
    }
}

/// All fields that are not open are the same and in the same order. `predicate_for(key)` names what a changed
/// field breaks.
template <class IsOpen, class Predicate>
void compare_fields(const Json& before, const Json& after, const std::string& path, const IsOpen& is_open,
                    const Predicate& predicate_for, Findings& findings) {
    const auto* const left = before.get_ptr<const Json::object_t*>();
    const auto* const right = after.get_ptr<const Json::object_t*>();
    if (left == nullptr || right == nullptr) {
        if (!same(before, after)) {
            report(findings, "U-Δ3", path);
        }
        return;
    }
    std::vector<std::string_view> left_keys;
    std::vector<std::string_view> right_keys;
    for (const auto& field : *left) {
        if (field.first != "cache_control") {
            left_keys.push_back(field.first);
        }
        if (!is_open(field.first) && !same_or_both_absent(&field.second, find(after, field.first))) {
            report(findings, predicate_for(field.first),
                   path.empty() ? field.first : path + "." + field.first);
        }
    }
    for (const auto& field : *right) {
        if (field.first != "cache_control") {
            right_keys.push_back(field.first);
        } else if (!is_open(field.first) && find(before, field.first) == nullptr) {
            report(findings, predicate_for(field.first), path + ".cache_control");
        }
    }
    if (left_keys != right_keys) {
        report(findings, "U-Δ3", (path.empty() ? std::string{"body"} : path) + " (keys)");
    }
}

inline std::string_view block_field_predicate(std::string_view key) {
    if (key == "caller" || key == "toolset_name") {
        return "A-Δ7";
    }
    return key == "cache_control" ? "A-V10" : "U-Δ3";
}

inline bool is_untouchable_type(const Json& block) {
    constexpr std::array<std::string_view, 8> types{"compaction",     "fallback",        "container_upload",
                                                    "tool_reference", "mid_conv_system", "tool_addition",
                                                    "tool_removal",   "mcp_tool_listing"};
    return is_server_call(block) || is_server_result(block) ||
           std::find(types.begin(), types.end(), type_of(block)) != types.end();
}

/// Cache marks of a block and the blocks inside, in the order the model reads them.
inline std::vector<const Json*> marks_of(const Json& block) {
    std::vector<const Json*> marks;
    for_each_nested(block, std::string{}, [&marks](const Json& owner, const std::string&) {
        if (const Json* const mark = find(owner, "cache_control")) {
            marks.push_back(mark);
        }
    });
    return marks;
}

inline void compare_marks(const Json& before, const Json& after, const std::string& path,
                          Findings& findings) {
    const std::vector<const Json*> left = marks_of(before);
    const std::vector<const Json*> right = marks_of(after);
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Json* a, const Json* b) { return same(*a, *b); })) {
        report(findings, "A-V10", path);
    }
}

inline Json without_mark(const Json& block) {
    Json copy = block;
    if (copy.is_object()) {
        copy.erase("cache_control");
    }
    return copy;
}

/// `part` is still the part it was, or a document whose source became a short text.
inline bool is_kept_part(const Json& before, const Json& part) {
    if (type_of(before) != type_of(part)) {
        return false;
    }
    Json left = without_mark(before);
    Json right = without_mark(part);
    if (same(left, right)) {
        return true;
    }
    if (type_of(part) != "document" || find(left, "source") == nullptr || find(right, "source") == nullptr ||
        type_of(right["source"]) != "text" || is_blank(text_at(right["source"], "data"))) {
        return false;
    }
    left["source"] = nullptr;
    right["source"] = nullptr;
    return same(left, right);
}

/// Parts other than text are whole, in order, and only images, documents and search results may go.
inline bool keeps_parts(const Json::array_t& before, const Json::array_t& after) {
    std::size_t next = 0;
    const auto may_go = [](const Json& part) {
        const std::string_view type = type_of(part);
        return type == "text" || type == "image" || type == "document" || type == "search_result";
    };
    for (const Json& part : after) {
        if (type_of(part) == "text") {
            continue;
        }
        while (next < before.size() && !is_kept_part(before[next], part)) {
            if (!may_go(before[next])) {
                return false;
            }
            ++next;
        }
        if (next == before.size()) {
            return false;
        }
        ++next;
    }
    for (; next < before.size(); ++next) {
        if (!may_go(before[next])) {
            return false;
        }
    }
    return true;
}

inline bool holds_words(const Json* content) {
    if (content == nullptr) {
        return false;
    }
    if (const auto* const text = content->get_ptr<const Json::string_t*>()) {
        return !is_blank(*text);
    }
    const auto* const parts = content->get_ptr<const Json::array_t*>();
    return parts != nullptr && !parts->empty() &&
           std::none_of(parts->begin(), parts->end(), [](const Json& part) {
               return type_of(part) == "text" && is_blank(text_at(part, "text"));
           });
}

inline void compare_result_contents(const Json& before, const Json& after, const std::string& path,
                                    const AllowedChanges& allowed, Findings& findings) {
    const Json* const left = find(before, "content");
    const Json* const right = find(after, "content");
    if (same_or_both_absent(left, right)) {
        return;
    }
    if (!holds_words(right)) {
        report(findings, "U-Δ4", path + " (blank)");
        return;
    }
    if (dumped_size(after) > dumped_size(before)) {
        report(findings, "U-Δ4", path + " (larger)");
    }
    if (left == nullptr) {
        return;
    }
    const auto* const left_parts = left->get_ptr<const Json::array_t*>();
    const auto* const right_parts = right->get_ptr<const Json::array_t*>();
    const bool kind_is_allowed = (left->is_string() && right->is_string()) ||
                                 (left_parts != nullptr && right_parts != nullptr) ||
                                 (allowed.string_to_blocks && left->is_string() && right_parts != nullptr) ||
                                 (allowed.blocks_to_string && left_parts != nullptr && right->is_string());
    if (!kind_is_allowed) {
        report(findings, "U-Δ4", path + " (kind)");
    }
    static const Json::array_t no_parts;
    if (!keeps_parts(left_parts != nullptr ? *left_parts : no_parts,
                     right_parts != nullptr ? *right_parts : no_parts)) {
        report(findings, "U-Δ3", path + " (parts)");
    }
}

/// Same shape; only strings differ. Reports the first place where that does not hold.
inline bool compare_input_values(const Json& before, const Json& after, const std::string& path,
                                 Findings& findings) {
    if (before.is_string() && after.is_string()) {
        const bool is_fine = same(before, after) || !is_blank(*after.get_ptr<const Json::string_t*>());
        if (!is_fine) {
            report(findings, "U-Δ4", path + " (blank)");
        }
        return is_fine;
    }
    const auto* const fields = before.get_ptr<const Json::object_t*>();
    const auto* const other_fields = after.get_ptr<const Json::object_t*>();
    if (fields != nullptr && other_fields != nullptr && fields->size() == other_fields->size()) {
        auto other = other_fields->begin();
        for (const auto& field : *fields) {
            if (field.first != other->first) {
                report(findings, "U-Δ3", path);
                return false;
            }
            if (!compare_input_values(field.second, other->second, path + "." + field.first, findings)) {
                return false;
            }
            ++other;
        }
        return true;
    }
    const auto* const items = before.get_ptr<const Json::array_t*>();
    const auto* const other_items = after.get_ptr<const Json::array_t*>();
    if (items != nullptr && other_items != nullptr && items->size() == other_items->size()) {
        for (std::size_t i = 0; i < items->size(); ++i) {
            if (!compare_input_values((*items)[i], (*other_items)[i], at(path, i), findings)) {
                return false;
            }
        }
        return true;
    }
    if (!same(before, after)) {
        report(findings, "U-Δ3", path);
        return false;
    }
    return true;
}

/// What the transcript says about a place, decided before blocks are compared one by one.
struct Surroundings {
    std::vector<bool> answers_program;    ///< per message: user turn that must not be touched
    std::vector<std::string> unanswered;  ///< ids of calls without a result, sorted
    std::size_t last_assistant = 0;       ///< index + 1; 0 when there is none
    std::size_t last_compaction = 0;      ///< index + 1; 0 when there is none

    bool is_after_compaction(std::size_t message) const {
        return last_compaction > 0 && message + 1 >= last_compaction;
    }
};

inline Surroundings surroundings_of(const Json::array_t& messages) {
    Surroundings around;
    around.answers_program.assign(messages.size(), false);
    const std::vector<Turn> turns = turns_of(messages);
    for (std::size_t t = 0; t < turns.size(); ++t) {
        const Turn* const answer =
            t + 1 < turns.size() && turns[t + 1].role == "user" ? &turns[t + 1] : nullptr;
        if (answer != nullptr && demands_untouched_answer(turns[t])) {
            for (std::size_t m = answer->first_message; m < answer->end_message; ++m) {
                around.answers_program[m] = true;
            }
        }
        if (turns[t].role == "assistant") {
            around.last_assistant = turns[t].end_message;
        }
        for (const PlacedBlock& placed : turns[t].blocks) {
            if (type_of(*placed.block) == "compaction") {
                around.last_compaction = placed.message + 1;
            }
            if (!is_tool_use(*placed.block)) {
                continue;
            }
            const std::string_view id = text_at(*placed.block, "id");
            const bool is_answered =
                answer != nullptr &&
                std::any_of(answer->blocks.begin(), answer->blocks.end(), [id](const PlacedBlock& result) {
                    return result.is_result() && text_at(*result.block, "tool_use_id") == id;
                });
            if (!is_answered) {
                around.unanswered.push_back(std::string{id});
            }
        }
    }
    std::sort(around.unanswered.begin(), around.unanswered.end());
    return around;
}

inline bool has_tool_reference(const Json& result) {
    const Json::array_t* const parts = array_at(result, "content");
    return parts != nullptr && std::any_of(parts->begin(), parts->end(), [](const Json& part) {
               return type_of(part) == "tool_reference";
           });
}

inline void compare_result(const Json& before, const Json& after, std::size_t message,
                           const std::string& path, const Surroundings& around, const AllowedChanges& allowed,
                           Findings& findings) {
    if (around.answers_program[message]) {
        report(findings, "A-Δ7", path);
        return;
    }
    if (has_tool_reference(before)) {
        report(findings, "A-Δ5", path);
        return;
    }
    if (around.is_after_compaction(message) && !allowed.edits_after_compaction) {
        report(findings, "A-Δ6", path);
        return;
    }
    if (message >= around.last_assistant && !allowed.unread_results) {
        report(findings, "U-Δ3", path + " (unread)");
        return;
    }
    const bool content_is_same = same_or_both_absent(find(before, "content"), find(after, "content"));
    const auto is_open = [content_is_same](std::string_view key) {
        return key == "content" || (key == "cache_control" && !content_is_same);
    };
    compare_fields(before, after, path, is_open, block_field_predicate, findings);
    if (!content_is_same) {
        compare_marks(before, after, path, findings);
        compare_result_contents(before, after, path, allowed, findings);
    }
}

inline void compare_call(const Json& before, const Json& after, std::size_t message, const std::string& path,
                         const Surroundings& around, const AllowedChanges& allowed, Findings& findings) {
    compare_fields(
        before, after, path, [](std::string_view key) { return key == "input"; }, block_field_predicate,
        findings);
    const Json* const left = find(before, "input");
    const Json* const right = find(after, "input");
    if (same_or_both_absent(left, right)) {
        return;
    }
    if (around.is_after_compaction(message) && !allowed.edits_after_compaction) {
        report(findings, "A-Δ6", path);
        return;
    }
    const bool is_unanswered = std::binary_search(around.unanswered.begin(), around.unanswered.end(),
                                                  std::string{text_at(before, "id")});
    if (left == nullptr || right == nullptr || is_unanswered || !allowed.input_strings) {
        report(findings, "U-Δ3", path + ".input");
        return;
    }
    if (compare_input_values(*left, *right, path + ".input", findings) &&
        dumped_size(*right) > dumped_size(*left)) {
        report(findings, "U-Δ4", path + ".input (larger)");
    }
}

/// An image of the user's in a place where a text block may stand instead.
inline bool is_open_image(const Json& block, bool of_user, std::size_t message, const Surroundings& around,
                          const AllowedChanges& allowed) {
    return allowed.user_images && of_user && type_of(block) == "image" && message < around.last_assistant &&
           !around.answers_program[message] &&
           (allowed.edits_after_compaction || !around.is_after_compaction(message));
}

inline void compare_block(const Json& before, const Json& after, std::size_t message, bool of_user,
                          const std::string& path, const Surroundings& around, const AllowedChanges& allowed,
                          Findings& findings) {
    if (type_of(after) == "text" && is_open_image(before, of_user, message, around, allowed)) {
        compare_marks(before, after, path, findings);
        const std::size_t members = find(after, "cache_control") == nullptr ? 2 : 3;
        if (after.size() != members || is_blank(text_at(after, "text")) ||
            dumped_size(after) >= dumped_size(before)) {
            report(findings, "U-Δ4", path);
        }
        return;
    }
    if (type_of(before) != type_of(after) || text_at(before, "id") != text_at(after, "id") ||
        text_at(before, "tool_use_id") != text_at(after, "tool_use_id")) {
        report(findings, "U-Δ2", path);
        return;
    }
    if (same(before, after)) {
        return;
    }
    if (is_tool_result(before)) {
        compare_result(before, after, message, path, around, allowed, findings);
    } else if (is_tool_use(before)) {
        compare_call(before, after, message, path, around, allowed, findings);
    } else if (is_untouchable_type(before)) {
        report(findings, "A-Δ5", path);
    } else if (same(without_mark(before), without_mark(after))) {
        report(findings, "A-V10", path);
    } else {
        report(findings, "U-Δ3", path);
    }
}

inline void compare_message(const Json& before, const Json& after, std::size_t index,
                            const Surroundings& around, const AllowedChanges& allowed, Findings& findings) {
    const std::string path = at("messages", index);
    if (role_of(before) != role_of(after)) {
        report(findings, "U-Δ1", path);
        return;
    }
    if (same(before, after)) {
        return;
    }
    compare_opaque(before, after, path, !allowed.any_removal(), findings);
    if (role_of(before) == "system") {
        report(findings, "A-Δ5", path);
        return;
    }
    const Json::array_t* const left = array_at(before, "content");
    const Json::array_t* const right = array_at(after, "content");
    const bool both_blocks = left != nullptr && right != nullptr;
    compare_fields(
        before, after, path, [both_blocks](std::string_view key) { return both_blocks && key == "content"; },
        block_field_predicate, findings);
    if (!both_blocks) {
        return;
    }
    std::vector<std::size_t> left_indices;  // thinking is compared as a sequence of its own
    std::vector<std::size_t> right_indices;
    for (std::size_t b = 0; b < left->size(); ++b) {
        if (!is_thinking((*left)[b])) {
            left_indices.push_back(b);
        }
    }
    for (std::size_t b = 0; b < right->size(); ++b) {
        if (!is_thinking((*right)[b])) {
            right_indices.push_back(b);
        }
    }
    if (left_indices.size() != right_indices.size()) {
        report(findings, "U-Δ2", path + ".content");
        return;
    }
    for (std::size_t i = 0; i < left_indices.size(); ++i) {
        compare_block((*left)[left_indices[i]], (*right)[right_indices[i]], index, role_of(before) == "user",
                      block_path(index, left_indices[i]), around, allowed, findings);
    }
}

inline std::string_view body_field_predicate(std::string_view key) {
    constexpr std::array<std::string_view, 6> settings{"system",   "tools", "tool_choice",
                                                       "thinking", "model", "metadata"};
    if (std::find(settings.begin(), settings.end(), key) != settings.end()) {
        return "A-Δ4";
    }
    return key == "cache_control" ? "A-V10" : "U-Δ3";
}

}  // namespace detail

/// Every predicate the body breaks on its own (U-V1, A-V1 to A-V14). Empty for a request the server takes.
inline Findings violations(const Json& body, const RequestLimits& limits = {}) {
    Findings findings;
    const Json::array_t* const messages = detail::messages_of(body);
    if (messages == nullptr || detail::is_deeper_than(body, max_depth)) {
        detail::report(findings, "U-V1", "body");
        return findings;
    }
    const std::vector<detail::Turn> turns = detail::turns_of(*messages);
    detail::check_strings(body, findings);
    detail::check_message_contents(*messages, findings);
    detail::check_text_blocks(*messages, findings);
    detail::check_answers(turns, findings);
    detail::check_results_come_first(turns, findings);
    detail::check_results_have_calls(turns, findings);
    detail::check_calls(*messages, findings);
    detail::check_result_contents(*messages, findings);
    detail::check_cache_marks(body, limits, findings);
    detail::check_images(*messages, findings);
    detail::check_system_messages(*messages, findings);
    detail::check_size(body, limits, findings);
    return findings;
}

/// Every difference between `in` and `out` that a pruner must not make (U-Δ1 to U-Δ4, U-Δ6, A-Δ1, A-Δ4 to
/// A-Δ7, and the parts of A-V10 and A-V14 that compare). A read tool result may get another, smaller content,
/// strings in a tool call's input may be replaced, and a cache mark may move inside its tool result.
inline Findings changes_forbidden(const Json& in, const Json& out, const AllowedChanges& allowed = {}) {
    Findings findings;
    const Json::array_t* const before = detail::messages_of(in);
    const Json::array_t* const after = detail::messages_of(out);
    const bool is_comparable = before != nullptr && after != nullptr && in.type() == out.type() &&
                               !detail::is_deeper_than(in, max_depth) &&
                               !detail::is_deeper_than(out, max_depth);
    if (!is_comparable) {
        if (detail::is_deeper_than(in, max_depth) || detail::is_deeper_than(out, max_depth) ||
            !detail::same(in, out)) {
            detail::report(findings, "U-Δ3", "body");
        }
        return findings;
    }
    if (in.is_object()) {
        detail::compare_fields(
            in, out, std::string{}, [](std::string_view key) { return key == "messages"; },
            detail::body_field_predicate, findings);
    }
    if (before->size() != after->size()) {
        detail::report(findings, "U-Δ1", "messages");
        return findings;
    }
    const detail::Surroundings around = detail::surroundings_of(*before);
    for (std::size_t m = 0; m < before->size(); ++m) {
        detail::compare_message((*before)[m], (*after)[m], m, around, allowed, findings);
    }
    detail::compare_thinking(in, out, allowed, findings);
    if (detail::count_images(*after) > detail::count_images(*before)) {
        detail::report(findings, "A-V14", "images");
    }
    if (detail::dumped_size(out) > detail::dumped_size(in)) {
        detail::report(findings, "A-V14", "body");
    }
    return findings;
}

/// What pruning made worse: violations `in` did not have, and forbidden changes.
inline Findings new_violations(const Json& in, const Json& out, const AllowedChanges& allowed = {},
                               const RequestLimits& limits = {}) {
    const Findings old = violations(in, limits);
    Findings findings;
    const Json::array_t* const before = detail::messages_of(in);
    const Json::array_t* const after = detail::messages_of(out);
    for (const std::string& found : violations(out, limits)) {
        const bool may_have_moved = allowed.any_removal() && before != nullptr && after != nullptr;
        const std::string finding =
            may_have_moved ? dropped_blocks::at_original_place(found, *before, *after, detail::shape()) : found;
        if (std::find(old.begin(), old.end(), finding) == old.end()) {
            findings.push_back(finding);
        }
    }
    const Findings changes = changes_forbidden(in, out, allowed);
    findings.insert(findings.end(), changes.begin(), changes.end());
    return findings;
}

/// The rules of models that bind thinking to everything before it (A-Δ2, A-Δ3). `in` is the transcript as it
/// was last sent, with the newly appended messages.
inline Findings bound_thinking_violations(const Json& in, const Json& out) {
    Findings findings;
    const Json::array_t* const before = detail::messages_of(in);
    const Json::array_t* const after = detail::messages_of(out);
    if (before == nullptr || after == nullptr || detail::is_deeper_than(in, max_depth) ||
        detail::is_deeper_than(out, max_depth)) {
        return findings;
    }
    const Json* const thinking = detail::find(in, "thinking");
    const Json* const binding = thinking == nullptr ? nullptr : detail::find(*thinking, "block_binding");
    const bool server_drops =
        binding != nullptr && detail::text_at(*binding, "prefix_mismatch_behavior") == "drop_block";
    if (!server_drops) {
        const detail::FirstChange change = detail::first_change(in, out);
        for (const detail::PlacedThinking& kept : detail::thinking_of(*after)) {
            const bool lies_after = change.before_messages || kept.message > change.message ||
                                    (kept.message == change.message && kept.block > change.block);
            if (lies_after) {
                detail::report(findings, "A-Δ2", detail::block_path(kept.message, kept.block));
            }
        }
    }
    const bool is_in_loop = !before->empty() && detail::role_of(before->back()) == "user" &&
                            !detail::is_real_user_message(before->back());
    if (is_in_loop) {
        const std::size_t user = detail::latest_user_message(*before);
        const std::vector<detail::PlacedThinking> left = detail::thinking_of(*before, user);
        const std::vector<detail::PlacedThinking> right = detail::thinking_of(*after, user);
        if (!std::equal(left.begin(), left.end(), right.begin(), right.end(),
                        [](const detail::PlacedThinking& a, const detail::PlacedThinking& b) {
                            return a.message == b.message && detail::same(*a.value, *b.value);
                        })) {
            detail::report(findings, "A-Δ3", detail::at("messages", user));
        }
    }
    return findings;
}

}  // namespace anthropic_validator
