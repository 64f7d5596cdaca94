// SPDX-License-Identifier: MIT
#include <coppice/guards/exempt_tools.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/wire.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>

using namespace support;

namespace {

Ordered one_of_each(const std::string& tool) {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", tool, Ordered{{"content", filler(0, 3000)}}, Ordered(filler(1, 3000)));
    add_pair(messages, "b", tool, Ordered::object(), list(image()));
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

template <class... Parts>
auto clear_all(Parts... parts) {
    return coppice::Pipeline{coppice::KeepRecent<0, coppice::Size{2000}, 0>{}, coppice::BulkyInputClear<0>{},
                             coppice::Ceiling<coppice::Size{100}, 0, coppice::Size{90}>{}, parts...};
}

}  // namespace

TEST_CASE("exempt_tools: a name covers the tool itself and the tool behind a server prefix") {
    coppice::Transcript transcript;
    const auto allows = [&](std::string_view tool) {
        transcript.clear();
        coppice::Entry& entry = transcript.add();
        entry.kind = coppice::Kind::result;
        entry.tool = coppice::Text(tool);
        return coppice::ExemptTools{}.allows(transcript,
                                             {.entry = 0, .fate = coppice::Fate::stub, .text = "x"});
    };
    for (const std::string_view tool : coppice::steering_tools) { CHECK_FALSE(allows(tool)); }
    CHECK_FALSE(allows("mcp__team__skill"));
    CHECK_FALSE(allows("team__TodoWrite"));
    CHECK(allows("Read"));
    CHECK(allows("myskill"));
    CHECK(allows("my_skill"));
    CHECK(allows("__skill"));
    CHECK(allows("skill__list"));
    CHECK(allows("SKILL"));
    CHECK(allows(""));
}

TEST_CASE("exempt_tools: calls and results and images of exempt tools stay under any pressure") {
    for (const char* tool : {"skill", "TodoWrite", "mcp__team__todoread"}) {
        CHECK(pruned(one_of_each(tool), clear_all(coppice::ExemptTools{})).unchanged());
    }
    const Pruned other = pruned(one_of_each("Read"), clear_all(coppice::ExemptTools{}));
    CHECK(fates(other) == "ss");
    CHECK(input_fates(other) == "c-");
}

TEST_CASE("exempt_tools: without the guard no tool is exempt") {
    CHECK(fates(pruned(one_of_each("skill"), clear_all())) == "ss");
}

TEST_CASE("exempt_tools: a list of one's own replaces the default one") {
    static constexpr std::array<std::string_view, 1> mine = {"recall"};
    CHECK(pruned(one_of_each("recall"), clear_all(coppice::ExemptTools{.tools = mine})).unchanged());
    CHECK(fates(pruned(one_of_each("skill"), clear_all(coppice::ExemptTools{.tools = mine}))) == "ss");
    CHECK(fates(pruned(one_of_each("skill"), clear_all(coppice::ExemptTools{.tools = {}}))) == "ss");
}

TEST_CASE("exempt_tools: the name of a result is that of its own call where ids repeat") {
    Ordered messages = list(user("start"));
    add_pair(messages, "same", "Read", Ordered::object(), Ordered(filler(0, 3000)));
    add_pair(messages, "same", "skill", Ordered::object(), Ordered(filler(1, 3000)));
    add_pair(messages, "same", "Read", Ordered::object(), Ordered(filler(2, 3000)));
    messages.push_back(assistant("done"));
    CHECK(fates(pruned_once(body(messages), clear_all(coppice::ExemptTools{}))) == "s-s");
}

TEST_CASE("exempt_tools: how a long name is spelled changes nothing") {
    const coppice::Pipeline pipeline = clear_all(coppice::ExemptTools{});
    const std::string bytes = one_of_each("NAME").dump();
    const auto changes = [&](const std::string& spelled) {
        std::string spoken = bytes;
        for (std::size_t at = 0; (at = spoken.find("NAME", at)) != std::string::npos; at += spelled.size()) {
            spoken.replace(at, 4, spelled);
        }
        const bool by_bytes = coppice::plan(spoken, pipeline).engaged;
        const bool by_dom = coppice::plan(Ordered::parse(spoken), pipeline).engaged;
        CHECK(by_bytes == by_dom);
        return by_bytes;
    };
    std::string escaped;
    for (int i = 0; i < 4089; ++i) { escaped += "\\u0061"; }
    CHECK_FALSE(changes(escaped + "__skill"));
    CHECK(changes(escaped + "a__skill"));
    CHECK_FALSE(changes(std::string(4089, 'a') + "__skill"));
    CHECK(changes(std::string(4090, 'a') + "__skill"));
}
