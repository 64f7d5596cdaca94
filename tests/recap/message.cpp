// SPDX-License-Identifier: MIT
#include <coppice/recap/message.hpp>

#include "support/recaps.hpp"

#include <coppice/recap/builder.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <type_traits>

using namespace support;

TEST_CASE("session message: it is a view that is copied as it is") {
    CHECK(std::is_trivially_copyable_v<coppice::SessionMessage>);
    const coppice::SessionMessage message;
    CHECK(message.role == coppice::SessionRole::other);
    CHECK(!message.hidden);
    CHECK(!message.error);
    CHECK((message.id.empty() && message.branch.empty() && message.call_id.empty()));
    CHECK((message.tool.empty() && message.text.empty()));
}

TEST_CASE("session message: asks, calls and results show in a recap and nothing else does") {
    using enum coppice::SessionRole;
    constexpr std::array roles = {user, assistant, tool_call, tool_result, other};
    for (const coppice::SessionRole role : roles) {
        const coppice::SessionMessage shown{.role = role, .text = "the text"};
        const std::array history = {shown, coppice::SessionMessage{.role = assistant, .text = "reply"}};
        const std::string text = coppice::RecapBuilder{}.build(history).text;
        const bool quoted = role == user || role == tool_call || role == tool_result;
        CHECK((text.find("the text") != std::string::npos) == quoted);
        CHECK(text.find("reply") == std::string::npos);

        coppice::SessionMessage hidden = shown;
        hidden.hidden = true;
        CHECK(coppice::RecapBuilder{}.build({&hidden, 1}).text.empty());
    }
}
