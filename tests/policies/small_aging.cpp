// SPDX-License-Identifier: MIT
#include <coppice/policies/small_aging.hpp>

#include "support/pruned.hpp"

#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/presets/openswarm.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace support;

namespace {

coppice::Pipeline<coppice::SmallAging<>> keeping(std::size_t keep) {
    return coppice::Pipeline{coppice::SmallAging<>{.keep = keep}};
}

}  // namespace

TEST_CASE("small_aging: the newest thirty stay and older ones become stubs") {
    const Pruned p = pruned(session_of_sizes(std::vector<std::size_t>(33, 500)),
                            coppice::Pipeline<coppice::SmallAging<>>{});
    CHECK(fates(p) == "sss" + times(30, '-'));
    CHECK(result_content(p.after, 0) == "[tool result cleared: 500 characters, ok; Read /src/0.c]");
    CHECK(p.report.edits.size() == 3);
    CHECK(p.report.by_reason.at(0).reason == "small_aging");
}

TEST_CASE("small_aging: thirty or fewer stay as they are") {
    const Pruned p = pruned(session_of_sizes(std::vector<std::size_t>(30, 500)),
                            coppice::Pipeline<coppice::SmallAging<>>{});
    CHECK(p.unchanged());
    CHECK(p.report.why == "nothing to clear");
}

TEST_CASE("small_aging: small is more than above and less than big") {
    const Pruned p = pruned(session_of_sizes({80, 81, 1999, 2000, 5000}), keeping(0));
    CHECK(fates(p) == "-ss--");
}

TEST_CASE("small_aging: tiny and big results and images take no place among those kept") {
    const Pruned p =
        pruned(session({Ordered(filler(0, 500)), Ordered(filler(1, 500)), Ordered(filler(2, 40)),
                        Ordered(filler(3, 3000)), Ordered(""), list(text(filler(4, 500)), image())}),
               keeping(1));
    CHECK(fates(p) == "s-----");
}

TEST_CASE("small_aging: keep zero clears every small result") {
    CHECK(fates(pruned(session_of_sizes(std::vector<std::size_t>(4, 300)), keeping(0))) == "ssss");
}

TEST_CASE("small_aging: a result that its stub would not shorten stays and takes no place") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Read", Ordered{{"file_path", "/a"}}, Ordered(filler(0, 100)));
    add_pair(messages, "b", "Read", Ordered{{"file_path", "/b"}}, Ordered(filler(1, 100)));
    add_pair(messages, "c", "Read", Ordered{{"file_path", std::string(110, 'p')}}, Ordered(filler(2, 100)));
    messages.push_back(assistant("done"));
    const Ordered document = body(messages);
    CHECK(fates(pruned(document, keeping(1))) == "s--");
    CHECK(fates(pruned(document, keeping(0))) == "ss-");
}

TEST_CASE("small_aging: what the model has not read stays and takes no place unless asked to") {
    Ordered messages = session_of_sizes({500, 500, 500}).at("messages");
    messages.erase(messages.size() - 1);
    CHECK(fates(pruned(body(messages), keeping(0))) == "ss-");
    CHECK(fates(pruned(body(messages), keeping(1))) == "s--");

    coppice::SmallAging<> counting{.keep = 1};
    counting.count_unread = true;
    CHECK(fates(pruned(body(messages), coppice::Pipeline{counting})) == "ss-");
    counting.keep = 2;
    CHECK(fates(pruned(body(messages), coppice::Pipeline{counting})) == "s--");
}

TEST_CASE("small_aging: exempt tools stay and take no place") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Read", Ordered{{"file_path", "/a"}}, Ordered(filler(0, 500)));
    add_pair(messages, "b", "Read", Ordered{{"file_path", "/b"}}, Ordered(filler(1, 500)));
    add_pair(messages, "c", "TodoWrite", Ordered::object(), Ordered(filler(2, 500)));
    messages.push_back(assistant("done"));
    const coppice::Pipeline pipeline{coppice::SmallAging<>{.keep = 1}, coppice::ExemptTools{}};
    CHECK(fates(pruned(body(messages), pipeline)) == "s--");
}

TEST_CASE("small_aging: its own stubs of an earlier pass take no place and keep their numbers") {
    Pruned first = pruned(session_of_sizes(std::vector<std::size_t>(6, 700)), keeping(2));
    REQUIRE(fates(first) == "ssss--");
    Ordered& messages = first.after["messages"];
    for (int i = 10; i < 12; ++i) {
        add_pair(messages, "n" + std::to_string(i), "Read", Ordered{{"file_path", "/n"}},
                 Ordered(filler(9, 600)));
    }
    messages.push_back(assistant("done"));
    const Pruned second = pruned(first.after, keeping(2));
    CHECK(fates(second) == "----ss--");
    CHECK(result_content(second.after, 0) == "[tool result cleared: 700 characters, ok; Read /src/0.c]");
}

TEST_CASE("small_aging: the form of the content stays unless the wording asks for blocks") {
    const Ordered document =
        session({Ordered(filler(0, 500)), list(text(filler(1, 250)), text(filler(2, 250)))});
    const Pruned plain = pruned(document, keeping(0));
    CHECK(result_content(plain.after, 0).is_string());
    CHECK(result_content(plain.after, 1) ==
          list(text("[tool result cleared: 500 characters, ok; Read /src/1.c]")));
    const Pruned blocks =
        pruned(document, coppice::Pipeline{coppice::SmallAging<>{.keep = 0}, coppice::OpenSwarmWording{}});
    CHECK(result_content(blocks.after, 0) ==
          list(text("[Old result cleared by OpenSwarm: 500 characters from an earlier step.]")));
}

TEST_CASE("small_aging: thresholds count in their own unit") {
    std::string accents;
    for (int i = 0; i < 60; ++i) { accents += "\xC3\xA9"; }  // 60 characters, 120 bytes
    std::string faces;
    for (int i = 0; i < 60; ++i) {
        faces += "\xF0\x9F\x98\x80";
    }  // 60 characters, 120 UTF-16 units, 240 bytes
    const Ordered document = session({Ordered(accents), Ordered(faces)});
    const auto in = [&](coppice::Size above, coppice::Size big) {
        return fates(pruned(document,
                            coppice::Pipeline{coppice::SmallAging<>{.keep = 0, .above = above, .big = big}}));
    };
    CHECK(in(coppice::bytes(80), coppice::bytes(2000)) == "ss");
    CHECK(in(coppice::chars(80), coppice::chars(2000)) == "--");
    CHECK(in(coppice::utf16(80), coppice::utf16(2000)) == "-s");
    CHECK(in(coppice::bytes(80), coppice::bytes(240)) == "s-");
}

TEST_CASE("small_aging: defaults and run-time fields") {
    constexpr coppice::SmallAging<> standard;
    static_assert(standard.keep == 30 && standard.above == coppice::bytes(80) &&
                  standard.big == coppice::bytes(2000));
    static_assert(!standard.count_unread);
    constexpr coppice::SmallAging<7, coppice::utf16(9), coppice::utf16(99), true> chosen;
    static_assert(chosen.keep == 7 && chosen.above == coppice::utf16(9) && chosen.big == coppice::utf16(99));
    static_assert(chosen.count_unread);
    const Ordered document = session_of_sizes(std::vector<std::size_t>(5, 300));
    const Pruned by_type = pruned(document, coppice::Pipeline<coppice::SmallAging<2>>{});
    const Pruned by_field = pruned(document, keeping(2));
    CHECK(by_type.after.dump() == by_field.after.dump());
}

TEST_CASE("small_aging: numbers that contradict each other are refused") {
    using Aging = coppice::SmallAging<>;
    CHECK_THROWS_WITH_AS((coppice::Pipeline{Aging{.above = coppice::utf16(80)}}),
                         "coppice::SmallAging: `above` and `big` need one unit", std::invalid_argument);
    CHECK_THROWS_WITH_AS((coppice::Pipeline{Aging{.above = coppice::bytes(2000)}}),
                         "coppice::SmallAging: `above` must be less than `big`", std::invalid_argument);
    CHECK_NOTHROW((coppice::Pipeline{Aging{.above = coppice::bytes(1999)}}));
}
