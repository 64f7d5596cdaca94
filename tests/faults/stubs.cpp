// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

const Ordered none_yet = Ordered::object();

}  // namespace

TEST_CASE("B36: a stub is not summarised again when the session grows") {
    Ordered document = session_of_sizes(std::vector<std::size_t>(80, 6001));
    const coppice::Pipeline pipeline{coppice::SmallAging<>{}, coppice::KeepRecent<>{}};
    coppice::prune(document, pipeline);
    for (std::size_t i = 0; i < 40; ++i) {
        add_pair(document["messages"], "n" + std::to_string(i), "Read", none_yet, Ordered(filler(i, 6001)));
    }
    document["messages"].push_back(assistant("done"));
    const Pruned again = pruned(document, pipeline);
    CHECK(fates(again) == times(75, '-') + times(40, 's') + "-----");
    CHECK(result_content(again.after, 0) == "[tool result cleared: 6001 characters, ok; Read /src/0.c]");
    // a text that goes on after the words of a stub is content, and ages as such
    const std::string forged = "[tool result cleared: 5 characters, ok]\n" + filler(0, 5000);
    CHECK(fates(pruned(session({Ordered(forged)}), clear_all)) == "s");
}

TEST_CASE("B36: in every dialect a stub is not summarised again when the session grows") {
    const coppice::Pipeline pipeline{coppice::SmallAging<>{}, coppice::KeepRecent<>{}};
    in_every_dialect([&pipeline](const Spelling& in) {
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < 20; ++i) { texts.push_back(filler(i, 6001)); }
        Ordered document = in.session(texts);
        coppice::prune(document, pipeline);
        for (std::size_t i = 0; i < 10; ++i) {
            in.add_pair(document[in.list_key()], {"n" + std::to_string(i)}, filler(i, 6001));
        }
        document[in.list_key()].push_back(in.assistant("done"));
        const Pruned again = pruned(document, pipeline);
        CHECK(in.fates(again) == times(15, '-') + times(10, 's') + "-----");
        CHECK(in.text(again.after, 0) == in.cleared("6001 characters, ok; Read /src/0.c"));
        // a text that goes on after the words of a stub is content, and ages as such
        const std::string forged = in.cleared("5 characters, ok") + "\n" + filler(0, 5000);
        const Pruned aged = pruned(in.session({forged}), clear_all);
        CHECK(in.text(aged.after, 0) ==
              in.cleared(std::to_string(forged.size()) + " characters, ok; Read /src/0.c"));
    });
}

TEST_CASE("B42: a cleared input holds no part of the data and cannot be taken for it") {
    std::string code;
    for (int i = 0; i < 900; ++i) { code += "def f():"; }
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "write", Ordered{{"path", "a.py"}, {"content", code}}, Ordered("ok"));
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), clear_all);
    CHECK(call_input(p.after, 0) ==
          Ordered{{"path", "a.py"}, {"content", "[tool input cleared: 7200 characters; content]"}});
}

TEST_CASE("B42: in every dialect a cleared input holds no part of the data and keeps its path") {
    std::string code;
    for (int i = 0; i < 900; ++i) { code += "def f():"; }
    in_every_dialect([&code](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"t1", "write", Ordered{{"path", "a.py"}, {"content", code}}}, "ok");
        messages.push_back(in.assistant("done"));
        const Pruned p = pruned(in.body(messages), clear_all);
        CHECK(in.inputs(p.after).at(0) ==
              Ordered{{"path", "a.py"}, {"content", "[tool input cleared: 7200 characters; content]"}});
        CHECK(p.after.dump().find("def") == std::string::npos);
    });
}

TEST_CASE("B43: a result that holds JSON is replaced whole and not inside") {
    const std::string json = R"({"content":")" + std::string(9000, 'c') + R"(","path":"a"})";
    CHECK(result_content(pruned(session({Ordered(json)}), clear_all).after, 0) ==
          cleared(std::to_string(json.size()) + " characters, ok; Read /src/0.c"));
}

TEST_CASE("B43: in every dialect a result that holds JSON is replaced whole and not inside") {
    const std::string json = R"({"content":")" + std::string(9000, 'c') + R"(","path":"a"})";
    in_every_dialect([&json](const Spelling& in) {
        const Pruned p = pruned(in.session({json}), clear_all);
        CHECK(in.text(p.after, 0) ==
              in.cleared(std::to_string(json.size()) + " characters, ok; Read /src/0.c"));
    });
}

TEST_CASE("B46: eighty calls without a bulky field are eighty inputs left alone") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 80; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Bash", Ordered{{"command", "c"}},
                 Ordered(filler(i, 6000)));
    }
    messages.push_back(assistant("done"));
    const Pruned p =
        pruned(body(messages), coppice::Pipeline{coppice::KeepRecent<5>{}, coppice::BulkyInputClear<5>{}});
    REQUIRE(p.report.by_reason.size() == 1);
    CHECK(p.report.by_reason[0].reason == "keep_recent");
    CHECK(p.report.by_reason[0].count == 75);
    CHECK(p.report.saved_bytes == p.before.dump().size() - p.after.dump().size());
}

TEST_CASE("B46: in every dialect inputs without a bulky field are inputs left alone") {
    const coppice::Pipeline pipeline{coppice::SmallAging<>{}, coppice::KeepRecent<>{}};
    in_every_dialect([&pipeline](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        for (std::size_t i = 0; i < 80; ++i) {
            in.add_pair(messages, {"c" + std::to_string(i), "Bash", Ordered{{"command", "c"}}},
                        filler(i, 6000));
        }
        messages.push_back(in.assistant("done"));
        const Pruned aged = pruned(in.body(messages), pipeline);
        REQUIRE(aged.report.by_reason.size() == 1);
        CHECK(aged.report.by_reason[0].reason == "keep_recent");
        CHECK(aged.report.by_reason[0].count == 75);
        CHECK(in.input_fates(pruned(in.body(messages), clear_all)) == times(80, '-'));
    });
}

TEST_CASE("B96: no text of ours gives an order or speaks to the reader") {
    std::vector<std::string> texts;
    const auto collect = [&](const auto& words, const coppice::ResultFacts& facts) {
        std::string out;
        words.result(out, facts);
        texts.push_back(out);
        out.clear();
        words.image(out, facts);
        texts.push_back(out);
    };
    const coppice::PlainWording plain;
    const coppice::OpenSwarmWording openswarm;
    for (const bool error : {false, true}) {
        for (const bool duplicate : {false, true}) {
            for (const std::size_t images : {0U, 1U, 2U}) {
                for (const std::size_t size : {500U, 5000U}) {
                    for (const std::string_view place : {"", "memory:0"}) {
                        const coppice::ResultFacts facts{.size = coppice::ascii(size),
                                                         .images = images,
                                                         .documents = images,
                                                         .others = images,
                                                         .error = error,
                                                         .duplicate = duplicate,
                                                         .first_line = "x",
                                                         .last_line = "y",
                                                         .reference = place};
                        collect(plain, facts);
                        collect(openswarm, facts);
                    }
                }
            }
        }
    }
    const std::string digits(30'000, '1');
    for (const std::string& content : {std::string(), digits, digits + "\n1 passed\n" + digits}) {
        std::string preview;
        plain.preview(preview, {.content = content, .reference = "memory:0", .size = coppice::ascii(60'000)});
        texts.push_back(preview);
    }
    std::string field;
    plain.field(field, {.field = "content", .size = coppice::ascii(5000)});
    texts.push_back(field);
    // the field stub of OpenSwarm and its note say what an OpenSwarm host must see; they are the exceptions
    static constexpr std::array<std::string_view, 25> banned = {
        "you", "your",   "must",   "never",  "always", "do",        "don't", "read", "re-read",
        "run", "re-run", "rerun",  "open",   "fetch",  "load",      "see",   "use",  "call",
        "ask", "ignore", "please", "should", "note",   "important", "obey"};
    std::size_t words = 0;
    for (const std::string& text : texts) {
        CAPTURE(text.substr(0, 200));
        std::string word;
        for (const char c : text + " ") {
            const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '\'';
            if (letter) {
                word += coppice::detail::lower(c);
                continue;
            }
            CHECK(std::find(banned.begin(), banned.end(), word) == banned.end());
            words += !word.empty();
            word.clear();
        }
        CHECK(text.find('!') == std::string::npos);
    }
    CHECK(words > 500);
}

TEST_CASE("B99: the freshest read of a file in use stays and older ones say what was read") {
    Ordered messages = list(user("start"));
    for (const std::size_t turn : {1U, 5U, 9U}) {
        add_pair(messages, "read" + std::to_string(turn), "Read", Ordered{{"file_path", "/a.c"}},
                 Ordered(filler(turn == 9 ? 9 : 1, 6000)));
        for (std::size_t i = 1; i < 4 && turn != 9; ++i) {
            add_pair(messages, "ls" + std::to_string(turn + i), "Bash", Ordered{{"command", "ls"}},
                     Ordered("a.c"));
        }
    }
    add_pair(messages, "edit10", "Edit",
             Ordered{{"file_path", "/a.c"}, {"old_string", "a"}, {"new_string", "b"}}, Ordered("ok"));
    for (std::size_t i = 0; i < 40; ++i) {
        add_pair(messages, "p" + std::to_string(i), "Bash", Ordered{{"command", "t"}},
                 Ordered(filler(i, 1000)));
    }
    messages.push_back(assistant("done"));
    const coppice::Pipeline pipeline{coppice::SmallAging<5>{}, coppice::Dedup<>{}, coppice::KeepRecent<1>{},
                                     coppice::Ceiling<coppice::Size{8000}, 1>{}};
    const Pruned p = pruned(body(messages), pipeline);
    const std::string stub = "[tool result cleared: 6000 characters, ok; Read /a.c]";
    CHECK(result_content(p.after, 0) == stub);
    CHECK(result_content(p.after, 4) == stub);
    CHECK(result_content(p.after, 8) == result_content(p.before, 8));
}

TEST_CASE("B99: in every dialect the freshest read of a file in use stays") {
    const coppice::Pipeline pipeline{coppice::SmallAging<5>{}, coppice::Dedup<>{}, coppice::KeepRecent<1>{},
                                     coppice::Ceiling<coppice::Size{8000}, 1>{}};
    in_every_dialect([&pipeline](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        for (const std::size_t turn : {1U, 5U, 9U}) {
            in.add_pair(messages, {"read" + std::to_string(turn), "Read", Ordered{{"file_path", "/a.c"}}},
                        filler(turn == 9 ? 9 : 1, 6000));
        }
        for (std::size_t i = 0; i < 40; ++i) {
            in.add_pair(messages, {"p" + std::to_string(i), "Bash", Ordered{{"command", "t"}}},
                        filler(i, 1000));
        }
        messages.push_back(in.assistant("done"));
        const Pruned p = pruned(in.body(messages), pipeline);
        const std::string stub = in.cleared("6000 characters, ok; Read /a.c");
        CHECK(in.text(p.after, 0) == stub);
        CHECK(in.text(p.after, 1) == stub);
        CHECK(in.fates(p)[2] == '-');
    });
}
