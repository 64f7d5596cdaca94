// SPDX-License-Identifier: MIT
#include <coppice/logs.hpp>

#include "support/builders.hpp"
#include "support/log_text.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::log_format_of;
using coppice::LogFormat;
using coppice::read_log;
using Json = nlohmann::ordered_json;

constexpr std::string_view claude_code =
    "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{\"role\":"
    "\"user\",\"content\":\"hi\"}}\n"
    "{\"type\":\"assistant\",\"uuid\":\"a1\",\"parentUuid\":\"u1\",\"message\":{\"id\":\"m\",\"role\":"
    "\"assistant\",\"content\":\"yo\"}}\n";
constexpr std::string_view codex =
    "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"t1\",\"cwd\":\"/p\"}}\n"
    "{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
    "\"content\":\"hi\"}}\n";
constexpr std::string_view dsh =
    "{\"type\":\"session\",\"version\":0,\"id\":\"s1\",\"createdAt\":1,\"cwd\":\"/"
    "p\",\"delegationDepth\":0}\n"
    "{\"type\":\"user/"
    "message\",\"seq\":0,\"data\":{\"role\":\"user\",\"content\":\"hi\"},\"surfaceOp\":\"append\"}\n";

std::string_view last_line(std::string_view text) { return text.substr(text.find('\n') + 1); }

TEST_CASE("logs: each format is known by its first line or by a later one") {
    CHECK(log_format_of(claude_code) == LogFormat::claude_code);
    CHECK(log_format_of(codex) == LogFormat::codex);
    CHECK(log_format_of(dsh) == LogFormat::dsh);
    CHECK(log_format_of(last_line(claude_code)) == LogFormat::claude_code);
    CHECK(log_format_of(last_line(codex)) == LogFormat::codex);
    CHECK(log_format_of(last_line(dsh)) == LogFormat::dsh);
    const std::string_view strange = "{\"x\":1}\n{\"type\":\"never seen\"}\n[]\nnull\nbroken\n\n";
    for (const std::string_view log : {claude_code, codex, dsh}) {
        CHECK(log_format_of(std::string(strange) + std::string(log)) == log_format_of(log));
    }
}

TEST_CASE("logs: Claude Code begins its logs in several ways") {
    for (const std::string_view first :
         {R"({"type":"summary","summary":"s","leafUuid":"u"})",
          R"({"type":"file-history-snapshot","messageId":"m"})",
          R"({"type":"queue-operation","operation":"enqueue"})",
          R"({"parentUuid":null,"type":"attachment","uuid":"u","sessionId":"s"})",
          R"({"type":"user","message":{"role":"user","content":"no links"}})"}) {
        CAPTURE(first);
        CHECK(log_format_of(first) == LogFormat::claude_code);
    }
}

TEST_CASE("logs: a byte order mark and carriage returns do no harm") {
    std::string text = "\xEF\xBB\xBF";
    for (const char c : dsh) { text += c == '\n' ? std::string("\r\n") : std::string(1, c); }
    CHECK(log_format_of(text) == LogFormat::dsh);
    const auto log = read_log(text);
    REQUIRE(log);
    CHECK(log->lines == std::vector<std::size_t>{2});
    CHECK(log->notes.empty());
}

TEST_CASE("logs: a request body is none") {
    const Json body = support::body(support::reads(3));
    CHECK(!log_format_of(body.dump()));
    CHECK(!log_format_of(body.dump() + "\n"));
    CHECK(!log_format_of(body.dump(2)));
    CHECK(!log_format_of("\xEF\xBB\xBF" + body.dump(2)));
    CHECK(!log_format_of(body["messages"].dump()));
    const Json responses = {
        {"input", Json::array({{{"type", "message"}, {"role", "user"}, {"content", "hi"}}})}};
    CHECK(!log_format_of(responses.dump()));
    // one line of it might be one of a log
    std::string lines = "[\n";
    lines += claude_code.substr(0, claude_code.find('\n'));
    CHECK(!log_format_of(lines + "\n]\n"));
    CHECK(!log_format_of("\n \n" + lines + "\n]"));
    // a value too deep for a DOM
    CHECK(!log_format_of("{\"messages\":" + support::nested_array(2000) + "}"));
}

TEST_CASE("logs: other lines of JSON are none") {
    for (const std::string_view text :
         {"", "\n\n", "hello", "{", "null\n7\n", "{\"custom_id\":\"a\",\"body\":{\"messages\":[]}}\n",
          "{\"type\":\"user\"}\n",
          "{\"type\":\"session\",\"version\":3,\"id\":\"x\",\"timestamp\":\"t\",\"cwd\":\"/p\"}\n",
          "{\"type\":\"response_item\"}\n", "{\"type\":\"user/message\"}\n",
          "{\"type\":\"message\",\"role\":\"user\"}\n"}) {
        CAPTURE(text);
        CHECK(!log_format_of(text));
        CHECK(!read_log(text));
    }
}

TEST_CASE("logs: only the first lines are looked at") {
    std::string text;
    for (int i = 0; i < 99; ++i) { text += "{}\n"; }
    CHECK(log_format_of(text + std::string(codex)) == LogFormat::codex);
    CHECK(!log_format_of(text + "{}\n" + std::string(codex)));
}

TEST_CASE("logs: a log is read by what it is") {
    const auto first = read_log(claude_code);
    REQUIRE(first);
    CHECK(first->format == LogFormat::claude_code);
    CHECK(first->dialect == coppice::Dialect::anthropic);
    CHECK(first->body["messages"].size() == 2);
    const auto second = read_log(codex);
    REQUIRE(second);
    CHECK(second->format == LogFormat::codex);
    CHECK(second->dialect == coppice::Dialect::openai_responses);
    CHECK(second->body["input"].size() == 1);
    const auto third = read_log(dsh);
    REQUIRE(third);
    CHECK(third->format == LogFormat::dsh);
    CHECK(third->dialect == coppice::Dialect::openai_chat);
    CHECK(third->body["messages"].size() == 1);
}

TEST_CASE("logs: who knows the format says so") {
    CHECK(read_log("", LogFormat::dsh).format == LogFormat::dsh);
    CHECK(read_log("", LogFormat::codex).format == LogFormat::codex);
    CHECK(read_log("", LogFormat::claude_code).format == LogFormat::claude_code);
    CHECK(read_log(codex, LogFormat::dsh).body["messages"].empty());
}

TEST_CASE("logs: no text makes the detection fail") {
    std::string all;
    for (const std::string& line : support::hostile_lines()) {
        if (const auto log = read_log(line)) { CHECK(log->body.is_object()); }
        all += line + "\n";
    }
    CHECK(read_log(all));
}

}  // namespace
