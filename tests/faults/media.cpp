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

using coppice::Dialect;

const Ordered none_yet = Ordered::object();

// An image, or a PDF, as a part of a message or of a result.
Ordered media(const Spelling& in, std::size_t size, char fill = 'A', bool pdf = false) {
    const std::string data(size, fill);
    const std::string url = (pdf ? "data:application/pdf;base64," : "data:image/png;base64,") + data;
    switch (in.dialect()) {
        case Dialect::openai_chat:
            if (pdf) { return {{"type", "file"}, {"file", {{"filename", "a.pdf"}, {"file_data", url}}}}; }
            return {{"type", "image_url"}, {"image_url", {{"url", url}}}};
        case Dialect::openai_responses:
            if (pdf) { return {{"type", "input_file"}, {"filename", "a.pdf"}, {"file_data", url}}; }
            return {{"type", "input_image"}, {"image_url", url}};
        case Dialect::gemini:
            return {{"inlineData", {{"mimeType", pdf ? "application/pdf" : "image/png"}, {"data", data}}}};
        case Dialect::bedrock:
            if (pdf) {
                return {{"document", {{"format", "pdf"}, {"name", "a"}, {"source", {{"bytes", data}}}}}};
            }
            return {{"image", {{"format", "png"}, {"source", {{"bytes", data}}}}}};
        default: return pdf ? document(size, fill) : image(size, fill);
    }
}

Ordered words(const Spelling& in, const std::string& said) {
    if (in.is(Dialect::openai_responses)) { return {{"type", "input_text"}, {"text", said}}; }
    return in.is(Dialect::bedrock) || in.is(Dialect::gemini) ? Ordered{{"text", said}} : text(said);
}

// Gives the n-th result these media beside its text, where it has one.
void set_media(const Spelling& in, Ordered& document, std::size_t n, const std::string& said, Ordered with) {
    const auto place = in.contents(document).at(n);
    if (in.is(Dialect::gemini)) {
        document[place] = said.empty() ? Ordered::object() : in.content(said);
        document[place.parent_pointer()]["parts"] = std::move(with);
        return;
    }
    if (!said.empty()) { with.insert(with.begin(), words(in, said)); }
    document[place] = std::move(with);
}

}  // namespace

TEST_CASE("B52: an image counts as no text and its bytes count towards the ceiling") {
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "Read", none_yet, Ordered(filler(0, 1500)));
    messages.push_back(user_blocks(image(400'000), text("what is this?")));
    const Ordered document = body(messages);
    CHECK(pruned(document,
                 coppice::Pipeline<coppice::SmallAging<>, coppice::KeepRecent<0, coppice::Size{2000}, 0>>{})
              .unchanged());
    CHECK(pruned(document, coppice::Pipeline<coppice::Ceiling<>>{}).report.under_target == false);
    // beside an image in a result the text alone decides whether it is big
    const Pruned p = pruned(session({list(text(filler(0, 100)), image(400'000))}),
                            coppice::Pipeline<coppice::KeepRecent<0>>{});
    CHECK(p.unchanged());
}

TEST_CASE("B52: in every dialect an image counts as no text and its bytes count towards the ceiling") {
    in_every_dialect([](const Spelling& in) {
        // fresh, in what the user says
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"t1"}, filler(0, 1500));
        Ordered asked = in.user("");
        asked[in.is(Dialect::gemini) ? "parts" : "content"] =
            list(media(in, 400'000), words(in, "what is this?"));
        messages.push_back(asked);
        const Ordered fresh = in.body(messages);
        const coppice::Pipeline aging{coppice::SmallAging<>{},
                                      coppice::KeepRecent<0, coppice::Size{2000}, 0>{}};
        CHECK(pruned(fresh, aging).unchanged());
        CHECK(pruned(fresh, coppice::Pipeline<coppice::Ceiling<>>{}).report.under_target == false);
        // in a result, beside which the text alone decides whether it is big
        Ordered old = in.session({""});
        set_media(in, old, 0, filler(0, 100), list(media(in, 400'000)));
        CHECK(pruned(old, coppice::Pipeline<coppice::KeepRecent<0>>{}).unchanged());
    });
}

TEST_CASE("B53: old images without any text are clearable") {
    std::vector<Ordered> contents;
    for (int i = 0; i < 60; ++i) { contents.push_back(list(image(20'000, static_cast<char>('A' + i % 26)))); }
    CHECK(fates(pruned(session(contents), coppice::Pipeline<coppice::KeepRecent<>>{})) ==
          times(57, 'i') + "---");
    const Pruned p =
        pruned(session(contents), coppice::Pipeline<coppice::Ceiling<coppice::Size{120'000}, 2>>{});
    CHECK(p.report.under_target == true);
    CHECK(fates(p).substr(0, 50) == times(50, 's'));
}

TEST_CASE("B53: in every dialect old images without any text are clearable") {
    in_every_dialect([](const Spelling& in) {
        Ordered document = in.session(std::vector<std::string>(12));
        for (std::size_t i = 0; i < 12; ++i) {
            set_media(in, document, i, "", list(media(in, 20'000, static_cast<char>('A' + i))));
        }
        const Pruned aged = pruned(document, coppice::Pipeline<coppice::KeepRecent<0>>{});
        CHECK(aged.report.edits.size() == 9);
        CHECK(aged.report.saved_bytes > 9 * 19'000);
        const Pruned bounded = pruned(document, coppice::Pipeline<coppice::Ceiling<>>{});
        // a result of media alone has no place for a stub in Gemini
        CHECK(bounded.report.under_target == !in.is(Dialect::gemini));
    });
}

TEST_CASE("B54: in every dialect base64 in a text is text and moves into the store even when it is fresh") {
    in_every_dialect([](const Spelling& in) {
        const std::string hit =
            "a.css: match: data:image/webp;base64," + std::string(90'000, 'Q') + "\nb.css: no";
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"t1"}, hit);
        const Ordered fresh = in.body(messages);
        coppice::MemorySpillStore store;
        AllowedChanges unread_too;
        unread_too.unread_results = true;
        const Pruned p = pruned(fresh, coppice::Pipeline{coppice::Spill<>{.store = &store}}, unread_too);
        REQUIRE(in.fates(p) == "p");
        const std::string preview = in.text(p.after, 0);
        CHECK(preview.substr(0, 37) == hit.substr(0, 37));
        CHECK(preview.substr(preview.size() - 9) == "b.css: no");
        CHECK(preview.find(std::to_string(hit.size()) + " characters") != std::string::npos);
        CHECK(preview.size() < 4000 + 200);
        CHECK(store.size() == 1);
        // and once it is old it ages like any text
        messages.push_back(in.assistant("done"));
        CHECK(in.fates(pruned(in.body(messages), coppice::Pipeline<coppice::KeepRecent<0>>{})) == "s");
    });
}

TEST_CASE("B56: results of nothing but documents or unknown blocks have a size") {
    std::vector<Ordered> contents;
    for (int i = 0; i < 20; ++i) { contents.push_back(list(document(20'000, static_cast<char>('a' + i)))); }
    contents[0] = list(Ordered{{"type", "resource"}, {"blob", std::string(20'000, 'b')}});
    contents[1] = list(Ordered{{"type", "search_result"},
                               {"source", "s"},
                               {"title", "t"},
                               {"content", list(text(filler(0, 20'000)))}});
    const Pruned p = pruned_once(session(contents), coppice::Pipeline<coppice::KeepRecent<5>>{});
    CHECK(fates(p) == times(15, 's') + "-----");
    CHECK(text_of(result_content(p.after, 0)).find(", 1 other part, ok") != std::string::npos);
    CHECK(text_of(result_content(p.after, 1)).find(", 1 document, ok") != std::string::npos);
    CHECK(text_of(result_content(p.after, 2)) ==
          "[tool result cleared: " + std::to_string(document(20'000).dump().size()) +
              " characters, 1 document, ok; Read /src/2.c]");
}

TEST_CASE("B56: in every dialect results of nothing but documents have a size") {
    in_every_dialect([](const Spelling& in) {
        Ordered document = in.session(std::vector<std::string>(8));
        for (std::size_t i = 0; i < 8; ++i) {
            set_media(in, document, i, "", list(media(in, 20'000, static_cast<char>('a' + i), true)));
        }
        const Pruned p = pruned(document, coppice::Pipeline<coppice::KeepRecent<0>>{});
        // what stands beside a response of Gemini is media, whatever its type, with the window of images
        CHECK(p.report.edits.size() == (in.is(Dialect::gemini) ? 5 : 8));
        if (in.is(Dialect::gemini)) { return; }
        CHECK(in.fates(p) == times(8, 's'));
        const std::size_t size = media(in, 20'000, 'a', true).dump().size();
        CHECK(in.text(p.after, 0) ==
              in.cleared(std::to_string(size) + " characters, 1 document, ok; Read /src/0.c"));
    });
}

TEST_CASE("B57: a small text survives when the picture beside it goes") {
    const Pruned p = pruned(session({list(text(R"({"chart_id":7})"), image(1'000'000))}), clear_all);
    CHECK(result_content(p.after, 0) ==
          list(text(R"({"chart_id":7})"), text("[image cleared: Read /src/0.c]")));
}

TEST_CASE("B57: in every dialect a small text survives when the picture beside it goes") {
    in_every_dialect([](const Spelling& in) {
        Ordered document = in.session({""});
        set_media(in, document, 0, R"({"chart_id":7})", list(media(in, 100'000)));
        const Pruned p = pruned(document, clear_all);
        Ordered expected = document;
        set_media(
            in, expected, 0, R"({"chart_id":7})",
            in.is(Dialect::gemini) ? Ordered::array() : list(words(in, "[image cleared: Read /src/0.c]")));
        const bool only_picture_gone = p.after.dump() == expected.dump();
        CHECK(only_picture_gone);
    });
}

TEST_CASE("B58: pictures in the outputs of functions go without anybody reading them") {
    const Spelling in(Dialect::openai_responses);
    Ordered document = in.session(std::vector<std::string>(3));
    for (std::size_t i = 0; i < 3; ++i) {
        set_media(in, document, i, filler(i, 300),
                  list(media(in, 1'000'000), media(in, 1'000'000, 'B'), words(in, "end")));
    }
    const Pruned p = pruned(document, clear_all);
    CHECK(p.report.saved_bytes > 5'990'000);
    CHECK(p.after.dump().size() < 5'000);
    for (const Ordered::json_pointer& place : in.contents(p.after)) { CHECK(p.after[place].is_array()); }
    // one alone may be kept
    const Pruned kept = pruned(document, coppice::Pipeline<coppice::KeepRecent<0, coppice::Size{2000}, 1>>{});
    const auto newest = in.contents(document).at(2);
    const bool same = kept.after[newest] == document[newest];
    CHECK(same);
    CHECK(kept.report.edits.size() == 4);
}
