// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace support;

namespace {

const Ordered none_yet = Ordered::object();

std::vector<std::string> texts_of(const std::vector<std::size_t>& sizes) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < sizes.size(); ++i) { texts.push_back(filler(i, sizes[i])); }
    return texts;
}

}  // namespace

TEST_CASE("B106: a ceiling that cannot be met is one pass that says so and a second one that does nothing") {
    Ordered document = session_of_sizes({1000, 1000, 1000});
    document["system"] = std::string(50'000, 's');
    document["messages"][0]["content"] = std::string(50'000, 'u');
    const coppice::Pipeline pipeline{coppice::Ceiling<coppice::Size{20'000}, 2>{}};
    const Pruned p = pruned(document, pipeline);
    CHECK(fates(p) == "sss");
    CHECK(p.report.under_target == false);
    CHECK_FALSE(p.report.ceiling_why.empty());
    const Pruned again = pruned(p.after, pipeline);
    CHECK(again.unchanged());
    CHECK(again.report.under_target == false);
    CHECK_FALSE(again.report.ceiling_why.empty());
}

TEST_CASE("B106: in every dialect a ceiling that cannot be met is one pass that says so") {
    const coppice::Pipeline pipeline{coppice::Ceiling<coppice::Size{20'000}, 2>{}};
    in_every_dialect([&pipeline](const Spelling& in) {
        Ordered document = in.session(texts_of({1000, 1000, 1000}));
        document[in.list_key()][0] = in.user(std::string(100'000, 'u'));
        const Pruned p = pruned(document, pipeline);
        CHECK(in.fates(p) == "sss");
        CHECK(p.report.under_target == false);
        CHECK_FALSE(p.report.ceiling_why.empty());
        const Pruned again = pruned(p.after, pipeline);
        CHECK(again.unchanged());
        CHECK(again.report.under_target == false);
        CHECK(again.report.ceiling_why == p.report.ceiling_why);
    });
}

TEST_CASE("B107: a newest turn above the ceiling is kept by the floor") {
    const Pruned p = pruned(session_of_sizes({9000, 300'000, 300'000}),
                            coppice::Pipeline<coppice::Ceiling<coppice::Size{120'000}, 2>>{});
    CHECK(fates(p) == "s--");
    CHECK(p.report.under_target == false);
    CHECK(p.report.ceiling_why == "only the floor and what cannot be cleared is left");
}

TEST_CASE("B107: in every dialect a newest turn above the ceiling is kept by the floor") {
    in_every_dialect([](const Spelling& in) {
        const Pruned p = pruned(in.session(texts_of({9000, 70'000, 70'000})),
                                coppice::Pipeline<coppice::Ceiling<coppice::Size{120'000}, 2>>{});
        CHECK(in.fates(p) == "s--");
        CHECK(p.report.under_target == false);
        CHECK(p.report.ceiling_why == "only the floor and what cannot be cleared is left");
    });
}

TEST_CASE("B108: after one pass many more turns fit before the next") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 24; ++i) {
        add_pair(messages, "s" + std::to_string(i), "Read", none_yet, Ordered(filler(i, 1500)));
    }
    for (std::size_t i = 0; i < 6; ++i) {
        add_pair(messages, "h" + std::to_string(i), "Read", none_yet, Ordered(filler(i, 45'000)));
    }
    Ordered document = body(messages);
    std::size_t passes = 0;
    for (std::size_t turn = 0; turn < 20; ++turn) {
        const coppice::Report report = coppice::prune(document, coppice::presets::openswarm());
        passes += report.engaged;
        if (report.engaged) { CHECK(report.under_target == true); }
        add_pair(document["messages"], "n" + std::to_string(turn), "Read", none_yet,
                 Ordered(filler(turn, 3000)));
    }
    CHECK(passes == 1);
}

TEST_CASE("B108: in every dialect many more turns fit after one pass before the next") {
    std::vector<std::size_t> sizes(24, 1500);
    sizes.resize(30, 45'000);
    in_every_dialect([&sizes](const Spelling& in) {
        Ordered document = in.session(texts_of(sizes));
        std::size_t passes = 0;
        for (std::size_t turn = 0; turn < 20; ++turn) {
            const coppice::Report report = coppice::prune(document, coppice::presets::openswarm());
            passes += report.engaged;
            if (report.engaged) { CHECK(report.under_target == true); }
            in.add_pair(document[in.list_key()], {"n" + std::to_string(turn)}, filler(turn, 3000));
        }
        CHECK(passes == 1);
    });
}

TEST_CASE("B110: a declared ceiling is enforced to the byte") {
    std::vector<std::size_t> sizes(25, 3000);
    sizes.resize(30, 100'000);
    const Ordered document = session_of_sizes(sizes);
    const Pruned p = pruned(document, coppice::Pipeline<coppice::Ceiling<coppice::Size{120'000}, 2>>{});
    CHECK(fates(p) == times(28, 's') + "--");
    CHECK(p.report.under_target == false);

    // what is left after five are cleared, and one byte around it
    coppice::Ceiling<> ceiling;
    ceiling.target = document.dump().size() - 14'000;
    const std::size_t left = pruned(document, coppice::Pipeline{ceiling}).after.dump().size();
    const auto with = [&](std::size_t target) {
        ceiling.target = target;
        const Pruned near = pruned(document, coppice::Pipeline{ceiling});
        CHECK(near.report.under_target == true);
        return fates(near).substr(0, 7);
    };
    CHECK(with(left - 1) == "ssssss-");
    CHECK(with(left) == "sssss--");
    CHECK(with(left + 1) == "sssss--");
}

TEST_CASE("B110: in every dialect a declared ceiling is enforced to the byte") {
    std::vector<std::size_t> sizes(10, 3000);
    sizes.resize(13, 70'000);
    in_every_dialect([&sizes](const Spelling& in) {
        const Ordered document = in.session(texts_of(sizes));
        const Pruned p = pruned(document, coppice::Pipeline<coppice::Ceiling<coppice::Size{120'000}, 2>>{});
        CHECK(in.fates(p) == times(11, 's') + "--");
        CHECK(p.report.under_target == false);

        // what is left after five are cleared, and one byte around it
        coppice::Ceiling<> ceiling;
        ceiling.target = document.dump().size() - 14'000;
        const std::size_t left = pruned(document, coppice::Pipeline{ceiling}).after.dump().size();
        const auto with = [&](std::size_t target) {
            ceiling.target = target;
            const Pruned near = pruned(document, coppice::Pipeline{ceiling});
            CHECK(near.report.under_target == true);
            return in.fates(near).substr(0, 7);
        };
        CHECK(with(left - 1) == "ssssss-");
        CHECK(with(left) == "sssss--");
        CHECK(with(left + 1) == "sssss--");
    });
}

TEST_CASE("B111 B112: ten thousand results are one pass with exact figures") {
    const auto many = [](bool equal) {
        Ordered messages = list(user("start"));
        for (std::size_t i = 0; i < 10'000; ++i) {
            const std::string content =
                filler(0, 2980) +
                (equal ? std::string(20, '.') : std::to_string(10'000'000'000'000'000'000ULL + i));
            add_pair(messages, "c" + std::to_string(i), "Read", none_yet, Ordered(content));
        }
        messages.push_back(assistant("done"));
        return body(std::move(messages));
    };
    const auto at_once = [](Ordered document, const auto& pipeline, const std::string& reason,
                            std::size_t count) {
        const std::size_t before = document.dump().size();
        const coppice::Report report = coppice::prune(document, pipeline);
        CHECK(report.saved_bytes == before - document.dump().size());
        REQUIRE(report.by_reason.size() == 1);
        CHECK(report.by_reason[0].reason == reason);
        CHECK(report.by_reason[0].count == count);
    };
    const Ordered distinct = many(false);
    const Ordered equal = many(true);
    using Same = coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>;
    at_once(distinct, coppice::Pipeline<Same, coppice::Ceiling<coppice::Size{0}, 0>>{}, "ceiling", 10'000);
    at_once(distinct, coppice::Pipeline<Same, coppice::Ceiling<coppice::Size{20'000}, 10>>{}, "ceiling",
            9'990);
    at_once(distinct, coppice::Pipeline<Same, coppice::KeepRecent<5>>{}, "keep_recent", 9'995);
    at_once(equal, coppice::Pipeline<Same>{}, "dedup", 9'999);
    at_once(equal, coppice::Pipeline<Same, coppice::KeepRecent<0>>{}, "keep_recent", 10'000);
    Ordered untouched = distinct;
    CHECK_FALSE(coppice::prune(untouched, coppice::Pipeline<Same>{}).engaged);
}

TEST_CASE("B111 B112: in every dialect hundreds of results are one pass with exact figures") {
    in_every_dialect([](const Spelling& in) {
        const auto many = [&in](bool equal) {
            std::vector<std::string> texts;
            for (std::size_t i = 0; i < 500; ++i) {
                texts.push_back(filler(0, 2980) + (equal ? std::string(4, '.') : std::to_string(1000 + i)));
            }
            return in.session(texts);
        };
        const auto at_once = [](Ordered document, const auto& pipeline, const std::string& reason,
                                std::size_t count) {
            const std::size_t before = document.dump().size();
            const coppice::Report report = coppice::prune(document, pipeline);
            CHECK(report.saved_bytes == before - document.dump().size());
            REQUIRE(report.by_reason.size() == 1);
            CHECK(report.by_reason[0].reason == reason);
            CHECK(report.by_reason[0].count == count);
        };
        using Same = coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>;
        at_once(many(false), coppice::Pipeline<Same, coppice::Ceiling<coppice::Size{0}, 0>>{}, "ceiling",
                500);
        at_once(many(false), coppice::Pipeline<Same, coppice::KeepRecent<5>>{}, "keep_recent", 495);
        at_once(many(true), coppice::Pipeline<Same>{}, "dedup", 499);
        at_once(many(true), coppice::Pipeline<Same, coppice::KeepRecent<0>>{}, "keep_recent", 500);
    });
}
