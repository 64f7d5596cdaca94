// SPDX-License-Identifier: MIT
#include <coppice/presets/standard.hpp>

#include "support/pruned.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace support;

namespace {

const coppice::presets::Standard<coppice::EveryRequest<>> every_request =
    coppice::presets::standard(coppice::EveryRequest<>{});

}  // namespace

TEST_CASE("standard: leaves bodies below 100000 bytes alone") {
    const Pruned p =
        pruned_once(session_of_sizes(std::vector<std::size_t>(15, 6000)), coppice::presets::standard());
    CHECK(p.before.dump().size() < 100'000);
    CHECK(p.unchanged());
}

TEST_CASE("standard: changes the prefix with every tenth request") {
    Ordered messages = list(user("start"));
    std::vector<std::size_t> horizons;
    for (std::size_t request = 1; request <= 32; ++request) {
        Ordered document = body(messages);
        const std::size_t horizon = coppice::prune(document, coppice::presets::standard()).horizon;
        if (horizons.empty() || horizons.back() != horizon) { horizons.push_back(horizon); }
        add_pair(messages, "c" + std::to_string(request), "Read", Ordered::object(),
                 Ordered(filler(request, 6000)));
    }
    // the tenth request is too small yet; the twentieth and thirtieth have 39 and 59 messages
    CHECK(horizons == std::vector<std::size_t>{0, 39, 59});
}

TEST_CASE("standard: keeps eight big results and forty small ones") {
    std::vector<std::size_t> sizes(10, 6000);
    sizes.resize(10 + 43, 1000);
    CHECK(fates(pruned(session_of_sizes(sizes), every_request)) ==
          "ss" + times(8, '-') + "sss" + times(40, '-'));
}

TEST_CASE("standard: leaves results of up to 400 bytes alone") {
    std::vector<std::size_t> sizes(50, 400);
    CHECK(pruned(session_of_sizes(sizes), every_request).unchanged());
    sizes.assign(50, 401);
    CHECK(fates(pruned(session_of_sizes(sizes), every_request)) == times(10, 's') + times(40, '-'));
}

TEST_CASE("standard: keeps the images of the newest three results with images") {
    std::vector<Ordered> contents;
    for (std::size_t i = 0; i < 5; ++i) {
        contents.push_back(list(text("page"), image(3000, static_cast<char>('A' + i))));
    }
    CHECK(fates(pruned(session(contents), every_request)) == "ii---");
}

TEST_CASE("standard: keeps the newest five bulky inputs from 1000 bytes on") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 8; ++i) {
        add_pair(messages, "w" + std::to_string(i), "Write",
                 Ordered{{"content", filler(i, i == 0 ? 999 : 1000)}}, Ordered("ok"));
    }
    messages.push_back(assistant("done"));
    CHECK(input_fates(pruned(body(messages), every_request)) == "-cc-----");
}

TEST_CASE("standard: keeps tools that steer the session") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 12; ++i) {
        add_pair(messages, "s" + std::to_string(i), i % 2 == 0 ? "Skill" : "mcp__team__todoread",
                 Ordered{{"content", filler(i, 3000)}}, Ordered(filler(i, 6000)));
    }
    messages.push_back(assistant("done"));
    CHECK(pruned(body(messages), every_request).unchanged());
}

TEST_CASE("standard: collapses the same answer to the same call") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 3; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered{{"file_path", i == 1 ? "/b" : "/a"}},
                 Ordered(filler(0, 500)));
    }
    messages.push_back(assistant("done"));
    CHECK(fates(pruned(body(messages), every_request)) == "d--");
}

TEST_CASE("standard: above 400000 bytes it goes on to a floor of four") {
    const Pruned p = pruned(session_of_sizes(std::vector<std::size_t>(8, 90'000)), every_request);
    CHECK(fates(p) == "ssss----");
    CHECK(p.report.under_target == true);
    const Pruned worse = pruned(session_of_sizes(std::vector<std::size_t>(8, 150'000)), every_request);
    CHECK(fates(worse) == "ssss----");
    CHECK(worse.report.under_target == false);
}

TEST_CASE("standard: speaks the neutral wording") {
    const Pruned p = pruned(session_of_sizes(std::vector<std::size_t>(9, 6000)), every_request);
    CHECK(result_content(p.after, 0) == "[tool result cleared: 6000 characters, ok; Read /src/0.c]");
}
