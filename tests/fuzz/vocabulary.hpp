// SPDX-License-Identifier: MIT
#pragma once

#include "json_text.hpp"

#include <coppice/dialect.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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
    std::string_view one_of(std::span<const std::string_view> all) { return all[below(all.size())]; }

private:
    std::uint64_t state_;
};

/// What mutations put into bodies.
namespace words {

using Words = std::string_view;

inline constexpr std::array<Words, 14> junk = {
    "null", "true", "false", "0",    "-1",       "\"\"",     "\"a\"",
    "[]",   "{}",   "[[]]",  "[{}]", "{\"\":0}", "\"text\"", "[null]",
};
inline constexpr std::array<Words, 16> numbers = {
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
// of all dialects and all inputs, as they stand between quotes
inline constexpr std::array<Words, 25> keys = {
    "type",       "text",       "content",       "id",    "name", "role",    "messages",  "system", "data",
    "old_string", "new_string", "new_str",       "edits", "path", "command", "signature", "params", "body",
    "requests",   "t\\u0065xt", "\\u0063ontent", "a",     "",     "a/b~c",   "a#/b",
};
inline constexpr std::array<Words, 12> anthropic_keys = {
    "input",     "tool_use_id", "is_error",   "cache_control",     "source",    "caller",
    "file_path", "description", "tool_calls", "encrypted_content", "citations", "tool_name",
};
inline constexpr std::array<Words, 15> openai_chat_keys = {
    "tool_calls",
    "tool_call_id",
    "tool_name",
    "function",
    "arguments",
    "function_call",
    "custom",
    "input",
    "cache_control",
    "reasoning_content",
    "refusal",
    "prompt_cache_breakpoint",
    "reasoning_details",
    "images",
    "\\u0061rguments",
};
inline constexpr std::array<Words, 20> openai_responses_keys = {
    "input",
    "output",
    "call_id",
    "arguments",
    "stdout",
    "stderr",
    "outcome",
    "status",
    "success",
    "action",
    "commands",
    "caller",
    "encrypted_content",
    "prompt_cache_breakpoint",
    "summary",
    "operation",
    "exit_code",
    "previous_response_id",
    "max_output_length",
    "\\u006futput",
};
inline constexpr std::array<Words, 20> gemini_keys = {
    "contents",
    "parts",
    "functionCall",
    "function_call",
    "functionResponse",
    "function_response",
    "args",
    "response",
    "output",
    "error",
    "result",
    "inlineData",
    "inline_data",
    "thought",
    "thoughtSignature",
    "thought_signature",
    "$ref",
    "executableCode",
    "request",
    "p\\u0061rts",
};
inline constexpr std::array<Words, 14> bedrock_keys = {
    "toolUse",  "toolResult", "toolUseId",        "input",      "status",       "json",  "image",
    "document", "cachePoint", "reasoningContent", "toolConfig", "guardContent", "video", "modelInput",
};

inline constexpr std::array<Words, 6> tools = {"Read", "Write", "mcp__a__TodoWrite", "skill", "", "R\\u00e9"};
inline constexpr std::array<Words, 26> snippets = {
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
    "Error: ",
    "exit code 1\\n",
    "0123456789012345678901234567890123456789012345678901234567890123456789",
};

inline constexpr std::array<Words, 26> anthropic_pieces = {
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
inline constexpr std::array<Words, 19> openai_chat_pieces = {
    R"({"type":"text","text":"some words that are long enough to go"})",
    R"({"type":"text","text":"marked words, long enough","cache_control":{"type":"ephemeral"}})",
    R"({"type":"text","text":"marked words, long enough","prompt_cache_breakpoint":{ "mode" : "explicit" }})",
    R"({"type":"text","text":"marked by both","cache_control":null,"prompt_cache_breakpoint":{}})",
    R"({"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"}})",
    R"({"type":"image_url","image_url":{"url":"http://a/b.png"},"cache_control":{"type":"ephemeral"}})",
    R"({"type":"file","file":{"file_id":"f1"}})",
    R"({"type":"thinking","thinking":[{"type":"text","text":"hm"}]})",
    R"({"type":"hologram","data":{"n":1.50,"signature":"abc"}})",
    R"({"id":"i1","type":"function","function":{"name":"Read","arguments":"{\"path\":\"/a\",\"content\":\"cccccccccccccccccccccccc\"}"}})",
    R"({"id":"i2","type":"function","function":{"name":"Edit","arguments":"{ \u0022edits\u0022:[{\"old_string\":\"aaaaaaaaaaaaaaaaaaaaaa\\n\"},{\"new_str\":\"\\u00e9bbbbbbbbbbbbbbbbbbbb\"}]}"}})",
    R"({"function":{"name":"Write","arguments":{"path":"/a","content":"cccccccccccccccccccccccccccccccc"}}})",
    R"({"id":"i3","type":"custom","custom":{"name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.c\n"}})",
    R"({"name":"Write","arguments":"{\"content\":\"dddddddddddddddddddddddddddddd\"}"})",
    R"({"role":"tool","tool_call_id":"i1","content":"a result that is long enough to be worth it"})",
    R"({"role":"tool","tool_name":"Read","content":[{"type":"text","text":"part one is this"},{"type":"text","text":"part two is that"}]})",
    R"({"role":"function","name":"Write","content":"a result of old that is long enough to be worth it"})",
    R"({"role":"assistant","content":null,"tool_calls":[]})",
    R"({"a":{"a":1,"a":2}})",
};
inline constexpr std::array<Words, 23> openai_responses_pieces = {
    R"({"type":"input_text","text":"some words that are long enough to go"})",
    R"({"type":"input_text","text":"marked words, long enough","prompt_cache_breakpoint":{ "mode" : "explicit" }})",
    R"({"type":"input_text","text":"marked by null","prompt_cache_breakpoint":null})",
    R"({"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"})",
    R"({"type":"input_file","file_id":"f1"})",
    R"({"stdout":"a chunk of output, long enough to be worth it","stderr":"","outcome":{"type":"exit","exit_code":0}})",
    R"({"stderr":"a chunk of complaints, long enough to be worth it","outcome":{"type":"timeout"}})",
    R"({"type":"exit","exit_code":1.0})",
    R"({"content":"the output of an old log, long enough to be worth it","success":false})",
    R"({"type":"computer_screenshot","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUg"})",
    R"({"type":"function_call","call_id":"i1","name":"Write","arguments":"{\"path\":\"/a\",\"content\":\"cccccccccccccccccccccccc\"}"})",
    R"({"type":"function_call","call_id":"i2","name":"Edit","arguments":"{ \u0022edits\u0022:[{\"old_string\":\"aaaaaaaaaaaaaaaaaaaaaa\\n\"},{\"new_str\":\"\\u00e9bbbbbbbbbbbbbbbbbbbb\"}]}"})",
    R"({"type":"function_call","call_id":"i3","name":"Run","arguments":"{}","caller":{"type":"program"}})",
    R"({"type":"custom_tool_call","call_id":"i2","name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.c\n"})",
    R"({"type":"local_shell_call","id":"l1","call_id":"i4","action":{"type":"exec","command":["ls","-l"]}})",
    R"({"type":"shell_call","call_id":"i1","action":{"commands":["ls"]}})",
    R"({"type":"function_call_output","call_id":"i1","output":"a result that is long enough to be worth it"})",
    R"({"type":"custom_tool_call_output","call_id":"i2","output":"a result that is long enough to be worth it"})",
    R"({"type":"local_shell_call_output","id":"l1","output":"a result that is long enough to be worth it"})",
    R"({"type":"apply_patch_call_output","call_id":"i1","status":"failed","output":"a result that is long enough to be worth it"})",
    R"({"type":"reasoning","id":"r1","summary":[],"encrypted_content":"Z0FB"})",
    R"({"type":"compaction","encrypted_content":"Z0FB"})",
    R"({"a":{"a":1,"a":2}})",
};
inline constexpr std::array<Words, 18> gemini_pieces = {
    R"({"text":"some words that are long enough to go"})",
    R"({"text":"a thought","thought":true})",
    R"({"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"}})",
    R"({"inline_data":{"mime_type":"image/png","data":"iVBORw0KGgo="}})",
    R"([{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUg==","displayName":"a"}}])",
    R"({"output":"a result that is long enough to be worth it"})",
    R"({"error":"a complaint that is long enough to be worth it","output":""})",
    R"({"a#/b":["one","two","three","four","five","six"],"n":1.50,"c~/":{"x":"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"}})",
    R"({"$ref":"a"})",
    R"({"functionCall":{"id":"i1","name":"Read","args":{"path":"/a","content":"cccccccccccccccccccccccccc"}}})",
    R"({"function_call":{"name":"Edit","args":{"edits":[{"old_string":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa"}]}},"thoughtSignature":"c2ln"})",
    R"({"functionCall":null})",
    R"({"functionResponse":{"id":"i1","name":"Read","response":{"output":"a result that is long enough to be worth it"}}})",
    R"({"function_response":{"name":"Read","parts":[{"inlineData":{"data":"iVBORw0KGgo="}}],"response":{"output":"a result that is long enough to be worth it"}}})",
    R"({"functionResponse":{"name":"","response":{"r":{"list":["one","two","three","four","five","six"]}}}})",
    R"({"executableCode":{"code":"1"}})",
    R"({"role":"model","parts":[{"text":"ok"}]})",
    R"({"a":{"a":1,"a":2}})",
};
inline constexpr std::array<Words, 18> bedrock_pieces = {
    R"({"text":"some words that are long enough to go"})",
    R"({"text":"some words that are long enough to go","more":1})",
    R"({"json":{"rows":[1,2,3,4,5,6,7,8,9],"words":"enough of them to be worth it"}})",
    R"({"json":{}})",
    R"({"image":{"format":"png","source":{"bytes":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"}}})",
    R"({"document":{"format":"txt","name":"d","source":{"bytes":"ZG9jdW1lbnQ="}}})",
    R"({"video":{"format":"mp4","source":{"bytes":"ZG9jdW1lbnQ="}}})",
    R"({"searchResult":{"title":"t","source":"s","content":[{"text":"found"}]}})",
    R"({"cachePoint":{"type":"default"}})",
    R"({"reasoningContent":{"reasoningText":{"text":"hm","signature":"c2ln"}}})",
    R"({"guardContent":{"text":{"text":"guarded"}}})",
    R"({"toolUse":{"toolUseId":"i1","name":"Write","input":{"path":"/a","content":"cccccccccccccccccccccccccc"}}})",
    R"({"toolUse":{"toolUseId":"i2","name":"Edit","input":{"edits":[{"old_string":"aaaaaaaaaaaaaaaaaaaaaaaaaaaa"}]}}})",
    R"({"toolUse":{"toolUseId":"i3","name":"nova_grounding","type":"server_tool_use","input":{}}})",
    R"({"toolResult":{"toolUseId":"i1","content":[{"text":"a result that is long enough to be worth it"}]}})",
    R"({"toolResult":{"toolUseId":"i2","status":"error","content":[{"text":"part one"},{"json":{"part":"two, which is longer"}}]}})",
    R"({"role":"user","content":[{"text":"go on"}]})",
    R"({"a":{"a":1,"a":2}})",
};

}  // namespace words

inline std::span<const std::string_view> keys_of(coppice::Dialect dialect) {
    switch (dialect) {
        case coppice::Dialect::openai_chat: return words::openai_chat_keys;
        case coppice::Dialect::openai_responses: return words::openai_responses_keys;
        case coppice::Dialect::gemini: return words::gemini_keys;
        case coppice::Dialect::bedrock: return words::bedrock_keys;
        default: return words::anthropic_keys;
    }
}

inline std::span<const std::string_view> pieces_of(coppice::Dialect dialect) {
    switch (dialect) {
        case coppice::Dialect::openai_chat: return words::openai_chat_pieces;
        case coppice::Dialect::openai_responses: return words::openai_responses_pieces;
        case coppice::Dialect::gemini: return words::gemini_pieces;
        case coppice::Dialect::bedrock: return words::bedrock_pieces;
        default: return words::anthropic_pieces;
    }
}

/// A call and its result, as the messages or items of a dialect.
class Exchange {
public:
    Exchange(coppice::Dialect dialect, Random& random) : dialect_(dialect), random_(random) {
        // as it stands in a string; half of them are equal
        said_ = random_.one_of(words::snippets);
        said_.append(random_.below(90), "xyz"[random_.below(3)]);
        id_ = "i";
        id_ += static_cast<char>('0' + random_.below(5));
        tool_ = random_.one_of(words::tools);
        const std::string_view key = random_.below(2) == 0 ? "content" : random_.one_of(words::keys);
        input_.append("{\"").append(key).append("\":\"").append(said_).append("\",\"path\":\"/a\"}");
        failed_ = random_.below(4) == 0;
    }

    std::string write() {
        std::string out;
        switch (dialect_) {
            case coppice::Dialect::openai_chat: out = chat(); break;
            case coppice::Dialect::openai_responses: out = responses(); break;
            case coppice::Dialect::gemini: out = gemini(); break;
            case coppice::Dialect::bedrock: out = bedrock(); break;
            default: out = anthropic();
        }
        if (random_.below(2) == 0) { out.append(",").append(answer()); }
        return out;
    }

private:
    std::string anthropic() {
        std::string out = R"({"role":"assistant","content":[{"type":"tool_use","id":")" + id_ +
                          R"(","name":")" + tool_ + R"(","input":)" + input_ + "}]},";
        out += R"({"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id_ +
               R"(","content":)" + content(R"({"type":"text","text":")");
        if (failed_) { out += R"(,"is_error":true)"; }
        return out + "}]}";
    }

    std::string chat() {
        const std::string id = random_.below(4) == 0 ? "" : R"("id":")" + id_ + "\",";
        std::string out = R"({"role":"assistant","content":null,"tool_calls":[{)" + id +
                          R"("function":{"name":")" + tool_ + R"(","arguments":)" + packed() + "}}]},";
        out += R"({"role":"tool",)";
        out += id.empty() ? R"("tool_name":")" + tool_ : R"("tool_call_id":")" + id_;
        return out + R"(","content":)" + content(R"({"type":"text","text":")") + "}";
    }

    std::string responses() {
        const std::string call_id = R"("call_id":")" + id_ + "\",";
        if (random_.below(3) == 0) {
            return R"({"type":"shell_call",)" + call_id +
                   R"("action":{"commands":["ls"]}},{"type":"shell_call_output",)" + call_id +
                   R"("output":[{"stdout":")" + said_ + R"(","stderr":")" + said_ +
                   R"(","outcome":{"type":"exit","exit_code":)" + (failed_ ? "1" : "0") + "}}]}";
        }
        return R"({"type":"function_call",)" + call_id + R"("name":")" + tool_ + R"(","arguments":)" +
               packed() + R"(},{"type":"function_call_output",)" + call_id + R"("output":)" +
               content(R"({"type":"input_text","text":")") + "}";
    }

    std::string gemini() {
        const bool snake = random_.below(4) == 0;
        const std::string id = random_.below(2) == 0 ? "" : R"("id":")" + id_ + "\",";
        const std::string name = R"("name":")" + tool_ + "\"";
        std::string out = R"({"role":"model","parts":[{")";
        out += snake ? "function_call" : "functionCall";
        out += "\":{" + id + name + R"(,"args":)" + input_ + R"(}}]},{"role":"user","parts":[{")";
        out += snake ? "function_response" : "functionResponse";
        out += "\":{" + id + name + R"(,"response":{")";
        out += failed_ ? "error" : "output";
        out += "\":";
        out += random_.below(3) == 0 ? random_.one_of(words::gemini_pieces) : "\"" + said_ + "\"";
        out += "}";
        if (random_.below(4) == 0) { out += R"(,"parts":[{"inlineData":{"data":"iVBORw0KGgo="}}])"; }
        return out + "}}]}";
    }

    std::string bedrock() {
        std::string out = R"({"role":"assistant","content":[{"toolUse":{"toolUseId":")" + id_ +
                          R"(","name":")" + tool_ + R"(","input":)" + input_ + "}}]},";
        out += R"({"role":"user","content":[{"toolResult":{"toolUseId":")" + id_ +
               R"(","content":[{"text":")" + said_ + "\"}";
        if (random_.below(3) == 0) { out.append(",").append(random_.one_of(words::bedrock_pieces)); }
        out += "]";
        if (failed_) { out += R"(,"status":"error")"; }
        return out + "}}]}";
    }

    std::string answer() const {
        switch (dialect_) {
            case coppice::Dialect::openai_responses:
                return R"({"type":"message","role":"assistant","content":"ok"})";
            case coppice::Dialect::gemini: return R"({"role":"model","parts":[{"text":"ok"}]})";
            case coppice::Dialect::bedrock: return R"({"role":"assistant","content":[{"text":"ok"}]})";
            default: return R"({"role":"assistant","content":"ok"})";
        }
    }

    std::string content(std::string_view block) {
        std::string out = "\"" + said_ + "\"";
        if (random_.below(3) == 0) { out = std::string(random_.one_of(pieces_of(dialect_))); }
        if (random_.below(3) > 0) { return out; }
        return "[" + std::string(block) + said_ + "\"}," + out + "]";
    }

    // arguments in a string, as most have them
    std::string packed() {
        if (random_.below(6) == 0) { return input_; }
        std::string out = "\"";
        append_escaped(out, input_);
        return out + "\"";
    }

    coppice::Dialect dialect_;
    Random& random_;
    std::string said_, id_, tool_, input_;
    bool failed_ = false;
};

}  // namespace fuzz
