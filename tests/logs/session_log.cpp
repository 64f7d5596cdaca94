// SPDX-License-Identifier: MIT
#include <coppice/logs.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

TEST_CASE("session log: nothing is nothing, and copies stand on their own") {
    static_assert(std::is_nothrow_move_constructible_v<coppice::SessionLog>);
    const coppice::SessionLog none;
    CHECK(none.body.is_null());
    CHECK(none.dialect == coppice::Dialect::detect);
    CHECK(none.lines.empty());
    CHECK(none.notes.empty());
}

TEST_CASE("session log: every message of the body has a line, whatever the format") {
    const std::string_view logs[] = {
        R"({"type":"summary","summary":"s","leafUuid":"a1"}
{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"hi"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m","role":"assistant","content":"yo"}}
)",
        R"({"type":"session_meta","payload":{"id":"t"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":"hi"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":"yo"}}
)",
        R"({"type":"session","version":0,"id":"s","createdAt":1}
{"type":"user/message","seq":0,"data":{"role":"user","content":"hi"},"surfaceOp":"append"}
{"type":"user/message","seq":1,"data":{"role":"user","content":"yo"},"surfaceOp":"append"}
)"};
    for (const std::string_view text : logs) {
        CAPTURE(std::string(text.substr(0, 40)));
        const std::optional<coppice::SessionLog> log = coppice::read_log(text);
        REQUIRE(log);
        const char* const list = log->dialect == coppice::Dialect::openai_responses ? "input" : "messages";
        REQUIRE(log->body.at(list).size() == log->lines.size());
        REQUIRE(log->lines.size() == 2);
        // the first line is a header or a summary
        CHECK(log->lines[0] == 2);
        CHECK(log->lines[1] == 3);
    }
}
