// SPDX-License-Identifier: MIT
#include <coppice/policies/ceiling.hpp>

#include "support/pruned.hpp"

#include <coppice/cadences/stepped.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/dedup.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/presets/openswarm.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace support;

namespace {

coppice::Pipeline<coppice::Ceiling<>> under(std::size_t target, std::size_t keep = 2) {
    return coppice::Pipeline{coppice::Ceiling<>{.target = target, .keep = keep}};
}

Ordered write_of(const std::string& path, std::size_t size) {
    return Ordered{{"file_path", path}, {"content", filler(0, size)}};
}

}  // namespace

TEST_CASE("ceiling: a body that fits stays as it is and the report says so") {
    const Ordered document = session_of_sizes({9000, 9000, 9000, 9000});
    for (const std::size_t spare : {0U, 1U, 1000U}) {
        const Pruned p = pruned(document, under(document.dump().size() + spare));
        CHECK(p.unchanged());
        CHECK(p.report.under_target == true);
        CHECK(p.report.ceiling_why.empty());
    }
}

TEST_CASE("ceiling: clears oldest first and not one more than the target asks for") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(8, 9000));
    const std::size_t whole = document.dump().size();
    CHECK(fates(pruned(document, under(whole - 1))) == "s-------");
    const std::size_t without_three = pruned(document, under(whole - 20'000)).after.dump().size();
    CHECK(fates(pruned(document, under(without_three - 1))) == "ssss----");
    CHECK(fates(pruned(document, under(without_three))) == "sss-----");
    CHECK(fates(pruned(document, under(without_three + 1))) == "sss-----");
}

TEST_CASE("ceiling: the newest big results stay whatever the pressure and the report says why") {
    const Pruned p = pruned(session_of_sizes(std::vector<std::size_t>(6, 9000)), under(4000));
    CHECK(fates(p) == "ssss--");
    CHECK(p.report.under_target == false);
    CHECK(p.report.ceiling_why == "only the floor and what cannot be cleared is left");
    CHECK(p.report.by_reason.at(0).reason == "ceiling");
}

TEST_CASE("ceiling: without a floor everything that can be cleared goes") {
    const Pruned p = pruned(session_of_sizes({9000, 500, 9000, 80}), under(100, 0));
    CHECK(fates(p) == "sss-");
    CHECK(p.report.under_target == false);
    CHECK(p.report.ceiling_why == "only what cannot be cleared is left");
}

TEST_CASE("ceiling: big results and bulky inputs go by age and small results after all of them") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Bash", Ordered{{"command", "a"}}, Ordered(filler(0, 1500)));
    add_pair(messages, "b", "Read", Ordered{{"file_path", "/b"}}, Ordered(filler(1, 9000)));
    add_pair(messages, "c", "Write", write_of("/c", 9000), Ordered("ok"));
    add_pair(messages, "d", "Read", Ordered{{"file_path", "/d"}}, list(text("a picture"), image(9000)));
    add_pair(messages, "e", "Write", write_of("/e", 9000), Ordered("ok"));
    add_pair(messages, "f", "Bash", Ordered{{"command", "f"}}, Ordered(filler(2, 1500)));
    messages.push_back(assistant("done"));
    const Ordered document = body(messages);
    const std::size_t whole = document.dump().size();
    const auto steps = [&](std::size_t saved) {
        const Pruned p = pruned(document, under(whole - saved, 0));
        return input_fates(p) + " " + fates(p);
    };
    CHECK(steps(8'000) == "------ -s----");
    CHECK(steps(17'000) == "--c--- -s----");
    CHECK(steps(26'000) == "--c--- -s-s--");
    CHECK(steps(35'000) == "--c-c- -s-s--");
    CHECK(steps(36'500) == "--c-c- ss-s--");
    CHECK(steps(38'000) == "--c-c- ss-s-s");
}

TEST_CASE("ceiling: fields of one call go one by one") {
    const Ordered input = {
        {"file_path", "/a"}, {"old_string", filler(0, 4000)}, {"new_string", filler(1, 4000)}};
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Edit", input, Ordered("ok"));
    messages.push_back(assistant("done"));
    const Ordered document = body(messages);
    // which field is older is a matter of the document's order, in which the two kinds of DOM differ
    const Pruned p = pruned_once(document, under(document.dump().size() - 1000, 0));
    CHECK(call_input(p.after, 0)["old_string"] == "[tool input cleared: 4000 characters; old_string]");
    CHECK(call_input(p.after, 0)["new_string"] == input["new_string"]);
}

TEST_CASE("ceiling: unread results stay and count towards the floor only where asked") {
    Ordered messages = session_of_sizes(std::vector<std::size_t>(5, 9000)).at("messages");
    messages.erase(messages.size() - 1);
    CHECK(fates(pruned(body(messages), under(4000, 2))) == "ss---");
    coppice::Ceiling<> counting{.target = 4000, .keep = 2};
    counting.count_unread = true;
    CHECK(fates(pruned(body(messages), coppice::Pipeline{counting})) == "sss--");
}

TEST_CASE("ceiling: text of the user and exempt tools stay and take no place in the floor") {
    Ordered messages = list(user(std::string(50'000, 'u')));
    add_pair(messages, "a", "Read", Ordered{{"file_path", "/a"}}, Ordered(filler(0, 9000)));
    add_pair(messages, "b", "Read", Ordered{{"file_path", "/b"}}, Ordered(filler(1, 9000)));
    add_pair(messages, "c", "Skill", Ordered::object(), Ordered(filler(2, 9000)));
    messages.push_back(assistant(std::string(9000, 'a')));
    const coppice::Pipeline pipeline{coppice::Ceiling<>{.target = 2000, .keep = 1}, coppice::ExemptTools{}};
    const Pruned p = pruned(body(messages), pipeline);
    CHECK(fates(p) == "s--");
    CHECK(p.after["messages"][0] == p.before["messages"][0]);
    CHECK(p.report.under_target == false);
}

TEST_CASE("ceiling: tiny results are never touched") {
    CHECK(fates(pruned(session_of_sizes({80, 81, 60}), under(100, 0))) == "-s-");
    coppice::Ceiling<> higher{.target = 100, .keep = 0};
    higher.above = coppice::bytes(400);
    CHECK(fates(pruned(session_of_sizes({400, 401}), coppice::Pipeline{higher})) == "-s");
}

TEST_CASE("ceiling: twenty-five small and five huge results come down to the floor") {
    std::vector<std::size_t> sizes(25, 3000);
    sizes.resize(30, 100'000);
    const Pruned p =
        pruned(session_of_sizes(sizes), coppice::Pipeline<coppice::KeepRecent<5>, coppice::Ceiling<>>{});
    CHECK(fates(p) == times(28, 's') + "--");
    CHECK(p.report.under_target == false);
    CHECK(p.after.dump().size() > 200'000);
    CHECK(p.after.dump().size() < 215'000);
}

TEST_CASE("ceiling: its running total is the size of the document for every target") {
    Ordered messages = list(user("start \xF0\x9F\x98\x80 \"quoted\"\n"));
    for (std::size_t i = 0; i < 24; ++i) {
        const std::string number = std::to_string(i);
        const std::string odd =
            "\x01\t\"\\ \xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80" + filler(i % 3, 2500 + 400 * (i % 5));
        const Ordered content = i % 6 == 0   ? list(text(odd), image(3000 + i))
                                : i % 6 == 1 ? list(document(2600), text("beside"))
                                             : Ordered(odd);
        add_pair(messages, "c" + number, i % 4 == 0 ? "Write" : "Read",
                 i % 4 == 0 ? write_of("/\xC3\xA9" + number, 2300) : Ordered{{"file_path", "/r" + number}},
                 content, i % 7 == 0);
    }
    messages.push_back(assistant("done"));
    const Ordered document = body(messages);
    const std::size_t whole = document.dump().size();
    for (std::size_t target = 8000; target < whole + 5000; target += 4999) {
        CAPTURE(target);
        coppice::Ceiling<> ceiling{.target = target};
        const coppice::Pipeline pipeline{coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{},
                                         coppice::KeepRecent<12, coppice::Size{2000}, 2>{}, ceiling};
        const Pruned p = pruned(document, pipeline);
        CHECK(p.report.under_target == (p.after.dump().size() <= target));
    }
}

TEST_CASE("ceiling: a target in UTF-16 units is measured in UTF-16 units") {
    std::string faces;
    for (int i = 0; i < 3000; ++i) { faces += "\xF0\x9F\x98\x80"; }  // 6000 units, 12000 bytes
    const Ordered document = session({Ordered(faces), Ordered(faces + "x"), Ordered(faces + "y")});
    const auto counted = coppice::measure(std::string_view(document.dump())).plain;
    const auto at = [&](std::size_t target) {
        return coppice::Pipeline{coppice::Ceiling<coppice::utf16(120'000), 1, coppice::utf16(2000)>{
            .target = coppice::utf16(target)}};
    };
    CHECK(pruned(document, at(counted.utf16)).unchanged());
    CHECK(fates(pruned(document, at(counted.utf16 - 1))) == "s--");
}

TEST_CASE("ceiling: looks at the history up to the horizon and owns up to what lies behind it") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 3; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered{{"file_path", "/r"}},
                 Ordered(filler(i, 9000)));
    }
    // the third request, with two results, is the horizon of four requests
    const Pruned p = pruned(body(messages), coppice::Pipeline{coppice::Ceiling<>{.target = 25'000, .keep = 0},
                                                              coppice::Stepped<3>{}});
    CHECK(p.report.horizon == 5);
    CHECK(p.unchanged());
    CHECK(p.report.under_target == false);
    CHECK(p.report.ceiling_why == "the messages since the last change stay whole");
}

TEST_CASE("ceiling: what nobody looked at is not reported") {
    const Ordered document = session_of_sizes({9000});
    CHECK_FALSE(pruned(document, coppice::Pipeline{coppice::Ceiling<>{}, coppice::Stepped<50>{}})
                    .report.under_target);
    CHECK_FALSE(pruned(document, coppice::Pipeline<coppice::KeepRecent<>>{}).report.under_target);
}

TEST_CASE("ceiling: defaults and run-time fields") {
    constexpr coppice::Ceiling<> standard;
    static_assert(standard.target == coppice::bytes(120'000) && standard.keep == 2);
    static_assert(standard.big == coppice::bytes(2000) && standard.above == coppice::bytes(80));
    static_assert(standard.fields.size() == 11 && !standard.count_unread);
    constexpr coppice::Ceiling<coppice::utf16(9000), 1, coppice::utf16(3000)> wide;
    static_assert(wide.above == coppice::utf16(80));
}

TEST_CASE("ceiling: numbers that cannot be met together are refused") {
    using Top = coppice::Ceiling<>;
    CHECK_THROWS_WITH_AS((coppice::Pipeline{Top{.target = coppice::utf16(9000)}}),
                         "coppice::Ceiling: `target`, `big` and `above` need one unit",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS((coppice::Pipeline{Top{.above = coppice::chars(80)}}),
                         "coppice::Ceiling: `target`, `big` and `above` need one unit",
                         std::invalid_argument);
    CHECK_THROWS_WITH_AS((coppice::Pipeline{Top{.above = coppice::bytes(2000)}}),
                         "coppice::Ceiling: `above` must be less than `big`", std::invalid_argument);
    CHECK_THROWS_WITH_AS((coppice::Pipeline{Top{.target = coppice::bytes(3999)}}),
                         "coppice::Ceiling: the floor of `keep` big results alone exceeds the target; raise "
                         "`target` or lower `keep`",
                         std::invalid_argument);
    CHECK_NOTHROW((coppice::Pipeline{Top{.target = coppice::bytes(4000)}}));
}
