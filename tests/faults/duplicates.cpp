// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace support;

namespace {

using Collapse = coppice::Pipeline<coppice::Dedup<>>;

}  // namespace

TEST_CASE("B47: the same text from another command is no duplicate") {
    std::string ok;
    for (int i = 0; i < 1500; ++i) { ok += "OK\n"; }
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "bash", Ordered{{"cmd", "make test"}}, Ordered(ok));
    add_pair(messages, "t2", "bash", Ordered{{"cmd", "make lint"}}, Ordered(ok));
    messages.push_back(assistant("done"));
    CHECK(pruned(body(messages), coppice::Pipeline<coppice::Dedup<>>{}).unchanged());
}

TEST_CASE("B47: in every dialect the same text is a duplicate where call and outcome are the same too") {
    std::string ok;
    for (int i = 0; i < 1500; ++i) { ok += "OK\n"; }
    in_every_dialect([&ok](const Spelling& in) {
        const auto after = [&](const Asked& first, const Asked& second, bool failed) {
            Ordered messages = list(in.user("start"));
            in.add_pair(messages, first, ok);
            in.add_pair(messages, second, ok, failed);
            messages.push_back(in.assistant("done"));
            return in.fates(pruned(in.body(messages), Collapse{}));
        };
        const Ordered test = {{"cmd", "make test"}, {"cwd", "/a"}};
        const Ordered turned = {{"cwd", "/a"}, {"cmd", "make test"}};
        const Ordered lint = {{"cmd", "make lint"}, {"cwd", "/a"}};
        CHECK(after({"t1", "bash", test}, {"t2", "bash", lint}, false) == "--");
        CHECK(after({"t1", "bash", test}, {"t2", "shell", test}, false) == "--");
        CHECK(after({"t1", "bash", test}, {"t2", "bash", turned}, false) == "d-");
        // those without a flag have nothing but the text
        const bool flag = !in.is(coppice::Dialect::openai_chat) && !in.is(coppice::Dialect::openai_responses);
        CHECK(after({"t1", "bash", test}, {"t2", "bash", test}, true) == (flag ? "--" : "d-"));
    });
}

TEST_CASE("B48: another range of the same file is no duplicate") {
    const auto read = [](std::size_t first, std::size_t second) {
        Ordered messages = list(user("start"));
        add_pair(messages, "t1", "read", Ordered{{"path", "a"}, {"offset", 0}, {"limit", 100}},
                 Ordered(filler(first, 3000)));
        add_pair(messages, "t2", "read", Ordered{{"path", "a"}, {"offset", 100}, {"limit", 100}},
                 Ordered(filler(second, 3000)));
        messages.push_back(assistant("done"));
        return body(messages);
    };
    CHECK(pruned(read(0, 1),
                 coppice::Pipeline<coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>>{})
              .unchanged());
    CHECK(pruned(read(0, 0), coppice::Pipeline<coppice::Dedup<>>{}).unchanged());
}

TEST_CASE("B48: in every dialect another range of the same file is no duplicate") {
    in_every_dialect([](const Spelling& in) {
        const auto read = [&in](std::size_t first, std::size_t second) {
            Ordered messages = list(in.user("start"));
            in.add_pair(messages, {"t1", "read", Ordered{{"path", "a"}, {"offset", 0}, {"limit", 100}}},
                        filler(first, 3000));
            in.add_pair(messages, {"t2", "read", Ordered{{"path", "a"}, {"offset", 100}, {"limit", 100}}},
                        filler(second, 3000));
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        CHECK(pruned(read(0, 1), Collapse{}).unchanged());
        CHECK(pruned(read(0, 0), Collapse{}).unchanged());
    });
}

TEST_CASE("B51: duplicates inside the keep window collapse and the window still means distinct results") {
    const coppice::Pipeline pipeline{coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{},
                                     coppice::KeepRecent<5>{}};
    CHECK(fates(pruned(session(std::vector<Ordered>(80, Ordered(filler(0, 6000)))), pipeline)) ==
          times(79, 'd') + "-");
    std::vector<Ordered> contents;
    for (std::size_t i = 0; i < 10; ++i) { contents.emplace_back(filler(i / 2, 6000)); }
    CHECK(fates(pruned(session(contents), pipeline)) == "d-d-d-d-d-");
}

TEST_CASE("B51: in every dialect duplicates inside the keep window collapse and it means distinct results") {
    const coppice::Pipeline pipeline{coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{},
                                     coppice::KeepRecent<5>{}};
    in_every_dialect([&pipeline](const Spelling& in) {
        CHECK(in.fates(pruned(in.session(std::vector<std::string>(20, filler(0, 6000))), pipeline)) ==
              times(19, 'd') + "-");
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < 10; ++i) { texts.push_back(filler(i / 2, 6000)); }
        CHECK(in.fates(pruned(in.session(texts), pipeline)) == "d-d-d-d-d-");
    });
}
