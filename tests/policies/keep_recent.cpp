// SPDX-License-Identifier: MIT
#include <coppice/policies/keep_recent.hpp>

#include "support/pruned.hpp"

#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/dedup.hpp>
#include <coppice/policies/small_aging.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace support;

namespace {

coppice::Pipeline<coppice::KeepRecent<>> keeping(std::size_t keep, std::size_t images = 3) {
    return coppice::Pipeline{coppice::KeepRecent<>{.keep = keep, .keep_images = images}};
}

Ordered picture(std::size_t number, std::size_t words) {
    return words == 0 ? list(image(3000, static_cast<char>('A' + number)))
                      : list(text(filler(number, words)), image(3000, static_cast<char>('A' + number)));
}

}  // namespace

TEST_CASE("keep_recent: the newest five stay and older ones become stubs") {
    const Pruned p = pruned(session_of_sizes(std::vector<std::size_t>(8, 2500)),
                            coppice::Pipeline<coppice::KeepRecent<>>{});
    CHECK(fates(p) == "sss-----");
    CHECK(result_content(p.after, 2) == "[tool result cleared: 2500 characters, ok; Read /src/2.c]");
    CHECK(p.report.by_reason.at(0).reason == "keep_recent");
    CHECK(p.report.first_changed_message == 2);
}

TEST_CASE("keep_recent: five or fewer stay as they are") {
    CHECK(pruned(session_of_sizes(std::vector<std::size_t>(5, 9000)),
                 coppice::Pipeline<coppice::KeepRecent<>>{})
              .unchanged());
}

TEST_CASE("keep_recent: big begins at its number") {
    CHECK(fates(pruned(session_of_sizes({1999, 2000, 2001}), keeping(0))) == "-ss");
}

TEST_CASE("keep_recent: smaller results take no place") {
    CHECK(fates(pruned(session_of_sizes({2500, 2500, 100, 1999, 0}), keeping(1))) == "s----");
}

TEST_CASE("keep_recent: keep zero clears every big result") {
    CHECK(fates(pruned(session_of_sizes(std::vector<std::size_t>(3, 2500)), keeping(0))) == "sss");
}

TEST_CASE("keep_recent: unread results stay and take no place unless asked to") {
    Ordered messages = session_of_sizes({2500, 2500, 2500}).at("messages");
    messages.erase(messages.size() - 1);
    CHECK(fates(pruned(body(messages), keeping(0))) == "ss-");
    CHECK(fates(pruned(body(messages), keeping(1))) == "s--");
    coppice::KeepRecent<> counting{.keep = 1};
    counting.count_unread = true;
    CHECK(fates(pruned(body(messages), coppice::Pipeline{counting})) == "ss-");
    counting.keep_images = coppice::share_window;
    CHECK(fates(pruned(body(messages), coppice::Pipeline{counting})) == "ss-");
}

TEST_CASE("keep_recent: duplicates take no place so that as many distinct results stay") {
    const std::string same = filler(99, 2500);
    const Ordered document = session({Ordered(filler(0, 2500)), Ordered(filler(1, 2500)), Ordered(same),
                                      Ordered(same), Ordered(same), Ordered(filler(5, 2500))});
    const coppice::Pipeline pipeline{coppice::Dedup<coppice::Size{200}, coppice::SameCall::ignored>{},
                                     coppice::KeepRecent<3>{}};
    CHECK(fates(pruned(document, pipeline)) == "s-dd--");
}

TEST_CASE("keep_recent: exempt results and their images take no place") {
    Ordered messages = list(user("start"));
    for (int i = 0; i < 2; ++i) {
        add_pair(messages, "r" + std::to_string(i), "Read", Ordered{{"file_path", "/r"}},
                 Ordered(filler(0, 2500)));
        add_pair(messages, "s" + std::to_string(i), "Shot", Ordered::object(), picture(1, 100));
    }
    add_pair(messages, "x", "Skill", Ordered::object(), picture(2, 3000));
    messages.push_back(assistant("done"));
    const coppice::Pipeline pipeline{coppice::KeepRecent<1, coppice::Size{2000}, 1>{},
                                     coppice::ExemptTools{}};
    CHECK(fates(pruned(body(messages), pipeline)) == "si---");
}

TEST_CASE("keep_recent: images that no text could shorten take no place") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Shot", Ordered::object(), picture(0, 100));
    add_pair(messages, "b", "Shot", Ordered::object(), picture(1, 100));
    add_pair(messages, "c", "Shot", Ordered{{"path", std::string(110, 'p')}}, list(text("icon"), image(4)));
    messages.push_back(assistant("done"));
    CHECK(fates(pruned(body(messages), keeping(5, 1))) == "i--");
}

TEST_CASE("keep_recent: images have a window of their own and the text beside them stays") {
    const Pruned p =
        pruned(session({picture(0, 100), picture(1, 0), picture(2, 0), picture(3, 0), picture(4, 0)}),
               coppice::Pipeline<coppice::KeepRecent<>>{});
    CHECK(fates(p) == "ii---");
    CHECK(result_content(p.after, 0) == list(text(filler(0, 100)), text("[image cleared: Read /src/0.c]")));
    CHECK(result_content(p.after, 1) == list(text("[image cleared: Read /src/1.c]")));
    CHECK(p.report.edits.at(0).path == "/content/1");
}

TEST_CASE("keep_recent: screenshots do not push text out of its window") {
    std::vector<Ordered> contents(5, Ordered());
    for (std::size_t i = 0; i < 5; ++i) { contents[i] = Ordered(filler(i, 2500)); }
    for (std::size_t i = 0; i < 8; ++i) { contents.push_back(picture(i, 0)); }
    CHECK(fates(pruned(session(contents), coppice::Pipeline<coppice::KeepRecent<>>{})) == "-----iiiii---");
}

TEST_CASE("keep_recent: several images of one result go together and take one place") {
    const Ordered both = list(image(3000, 'X'), text("between"), image(3000, 'Y'));
    const Pruned p = pruned(session({both, both, both}), keeping(5, 2));
    CHECK(fates(p) == "i--");
    CHECK(result_content(p.after, 0) == list(text("[image cleared: Read /src/0.c]"), text("between"),
                                             text("[image cleared: Read /src/0.c]")));
    CHECK(p.report.edits.size() == 2);
}

TEST_CASE("keep_recent: keep_images zero keeps no image that was read") {
    Ordered messages = session({picture(0, 0), picture(1, 0)}).at("messages");
    CHECK(fates(pruned(body(messages), keeping(5, 0))) == "ii");
    messages.erase(messages.size() - 1);
    CHECK(fates(pruned(body(messages), keeping(5, 0))) == "i-");
}

TEST_CASE("keep_recent: a big text with an image counts in both windows") {
    const Ordered document = session({picture(0, 2500), picture(1, 2500), picture(2, 2500)});
    CHECK(fates(pruned(document, keeping(3, 1))) == "ii-");
    const Pruned p = pruned(document, keeping(1, 1));
    CHECK(fates(p) == "ss-");
    CHECK(text_of(result_content(p.after, 0)) ==
          "[tool result cleared: 2500 characters, 1 image, ok; Read /src/0.c]");
}

TEST_CASE("keep_recent: with one window an image is big whatever its text and goes whole") {
    const Ordered document =
        session({picture(0, 100), Ordered(filler(1, 2500)), picture(2, 0), Ordered(filler(3, 2500))});
    const Pruned p = pruned(document, keeping(2, coppice::share_window));
    CHECK(fates(p) == "ss--");
    CHECK(result_content(p.after, 0) ==
          list(text("[tool result cleared: 100 characters, 1 image, ok; Read /src/0.c]")));
}

TEST_CASE("keep_recent: documents and unknown parts count with their serialised size") {
    const Ordered document =
        session({list(support::document(20000)),
                 list(Ordered{{"type", "resource"}, {"blob", std::string(3000, 'b')}}),
                 list(Ordered{{"type", "search_result"}, {"content", list(text(filler(0, 3000)))}})});
    const std::string size = std::to_string(support::document(20000).dump().size());
    const Pruned p = pruned_once(document, keeping(0));
    CHECK(fates(p) == "sss");
    CHECK(text_of(result_content(p.after, 0)) ==
          "[tool result cleared: " + size + " characters, 1 document, ok; Read /src/0.c]");
    CHECK(text_of(result_content(p.after, 1)).find("1 other part") != std::string::npos);
    CHECK(text_of(result_content(p.after, 2)).find("1 document") != std::string::npos);
}

TEST_CASE("keep_recent: a text that lost its image is not taken for a small result by the next pass") {
    std::vector<Ordered> contents = {Ordered(filler(0, 500)), Ordered(filler(1, 500))};
    for (std::size_t i = 2; i < 5; ++i) { contents.push_back(picture(i, 500)); }
    const coppice::Pipeline pipeline{coppice::SmallAging<2>{},
                                     coppice::KeepRecent<5, coppice::Size{2000}, 1>{}};
    CHECK(fates(pruned(session(contents), pipeline)) == "--ii-");
}

TEST_CASE("keep_recent: texts that lost different images are not taken for duplicates by the next pass") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 3; ++i) {
        add_pair(messages, "s" + std::to_string(i), "Shot", Ordered::object(),
                 list(text(filler(7, 500)), image(3000, static_cast<char>('A' + i))));
    }
    messages.push_back(assistant("done"));
    const coppice::Pipeline pipeline{coppice::Dedup<>{}, coppice::KeepRecent<5, coppice::Size{2000}, 1>{}};
    CHECK(fates(pruned(body(messages), pipeline)) == "ii-");
}

TEST_CASE("keep_recent: defaults and run-time fields") {
    constexpr coppice::KeepRecent<> standard;
    static_assert(standard.keep == 5 && standard.big == coppice::bytes(2000) && standard.keep_images == 3);
    static_assert(!standard.count_unread);
    const Ordered document = session_of_sizes(std::vector<std::size_t>(5, 3000));
    CHECK(pruned(document, coppice::Pipeline<coppice::KeepRecent<2>>{}).after.dump() ==
          pruned(document, keeping(2)).after.dump());
    CHECK(fates(pruned(document, coppice::Pipeline{coppice::KeepRecent<>{
                                     .keep = 0, .big = coppice::chars(3001)}})) == "-----");
}

TEST_CASE("keep_recent: big of nothing is refused") {
    CHECK_THROWS_WITH_AS((coppice::Pipeline{coppice::KeepRecent<>{.big = coppice::bytes(0)}}),
                         "coppice::KeepRecent: `big` must be at least 1", std::invalid_argument);
}
