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

// Contents without a text, as each provider has them.
std::vector<Ordered> empty_contents(const Spelling& in) {
    switch (in.dialect()) {
        case Dialect::gemini: return {Ordered::object(), Ordered{{"output", nullptr}}};
        case Dialect::bedrock: return {Ordered::array(), list(Ordered{{"text", ""}}, Ordered{{"text", " "}})};
        case Dialect::openai_responses:
            return {Ordered::array(), list(Ordered{{"type", "input_text"}, {"text", ""}})};
        default: return {Ordered::array(), list(text(""))};
    }
}

// An image in a result, as each provider has it.
Ordered image_in(const Spelling& in, std::size_t size) {
    const std::string data(size, 'A');
    const std::string url = "data:image/png;base64," + data;
    switch (in.dialect()) {
        case Dialect::openai_chat: return Ordered{{"type", "image_url"}, {"image_url", {{"url", url}}}};
        case Dialect::openai_responses: return Ordered{{"type", "input_image"}, {"image_url", url}};
        case Dialect::gemini: return Ordered{{"inlineData", {{"mimeType", "image/png"}, {"data", data}}}};
        case Dialect::bedrock: return Ordered{{"image", {{"format", "png"}, {"source", {{"bytes", data}}}}}};
        default: return image(size);
    }
}

}  // namespace

TEST_CASE("B24: an empty or blank result is left as it was and no stub is blank") {
    Ordered messages = list(user("start"));
    add_pair(messages, "t1", "Read", none_yet, Ordered("   \n"));
    add_pair(messages, "t2", "Read", none_yet, Ordered(""));
    add_pair(messages, "t3", "Read", none_yet, list(text("")));
    add_pair(messages, "t4", "Read", none_yet, Ordered::array());
    messages.push_back(assistant("done"));
    CHECK(pruned_once(body(messages), clear_all).unchanged());
    CHECK(
        pruned_once(body(messages), coppice::Pipeline{coppice::Ceiling<coppice::Size{0}, 0>{}}).unchanged());
}

TEST_CASE("B24: in every dialect an empty or blank result is left as it was") {
    in_every_dialect([](const Spelling& in) {
        std::vector<Ordered> contents = empty_contents(in);
        contents.push_back(in.content("   \n"));
        contents.push_back(in.content(""));
        Ordered document = in.session(std::vector<std::string>(contents.size()));
        const auto places = in.contents(document);
        for (std::size_t i = 0; i < places.size(); ++i) { document[places[i]] = contents[i]; }
        CHECK(pruned_alike(document, clear_all).unchanged());
        CHECK(pruned_alike(document, coppice::Pipeline{coppice::Ceiling<coppice::Size{0}, 0>{}}).unchanged());
    });
}

TEST_CASE("B25: content that was nothing but an image becomes one text block") {
    const Pruned p = pruned(session({list(image())}), clear_all);
    CHECK(result_content(p.after, 0) == list(text("[image cleared: Read /src/0.c]")));
    const coppice::Pipeline whole{coppice::KeepRecent<0, coppice::Size{2000}, coppice::share_window>{}};
    CHECK(result_content(pruned(session({list(image())}), whole).after, 0).size() == 1);
}

TEST_CASE("B25: in every dialect content that was nothing but an image has something in its place") {
    in_every_dialect([](const Spelling& in) {
        Ordered document = in.session({""});
        const auto place = in.contents(document).at(0);
        const std::string line = "[image cleared: Read /src/0.c]";
        if (in.is(Dialect::gemini)) {
            // the object that the response has to be is there still, and its media have no place for a text
            document[place] = Ordered::object();
            document[place.parent_pointer()]["parts"] = list(image_in(in, 3000));
        } else {
            document[place] = list(image_in(in, 3000));
        }
        const Pruned p = pruned(document, clear_all);
        if (in.is(Dialect::gemini)) {
            CHECK(p.after[place] == Ordered::object());
            CHECK(p.after[place.parent_pointer()]["parts"] == Ordered::array());
        } else {
            CHECK(p.after[place].size() == 1);
            CHECK(text_of(p.after[place]) == line);
            CHECK(p.after[place][0].contains("type") == !in.is(Dialect::bedrock));
        }
        CHECK(p.report.edits.size() == 1);
    });
}

TEST_CASE("B25: in every dialect a message of the user that is only an image stays") {
    in_every_dialect([](const Spelling& in) {
        Ordered document = in.session({std::string(9000, 'x')});
        Ordered& spoken = document[in.list_key()][0];
        spoken[in.is(Dialect::gemini) ? "parts" : "content"] = list(image_in(in, 200'000));
        const Ordered said = spoken;
        const Pruned p = pruned(document, clear_all);
        CHECK(in.fates(p) == "s");
        const bool same = in.messages(p.after)[0] == said;
        CHECK(same);
    });
}

TEST_CASE("B26: a ceiling of one byte leaves the user's words and writes nothing empty") {
    Ordered messages = list(user(std::string(50'000, 'u')));
    add_pair(messages, "t1", "Read", none_yet, Ordered(std::string(50'000, 'x')));
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), coppice::Pipeline{coppice::Ceiling<coppice::Size{1}, 0>{}});
    CHECK(p.after["messages"][0] == p.before["messages"][0]);
    CHECK(result_content(p.after, 0) == cleared("50000 characters, ok; Read"));
    CHECK(p.report.under_target == false);
    CHECK(p.report.ceiling_why == "only what cannot be cleared is left");
}

TEST_CASE("B26: in every dialect a ceiling of one byte leaves the user's words and writes nothing empty") {
    in_every_dialect([](const Spelling& in) {
        const auto build = [&in](const std::string& told) {
            Ordered messages = list(in.user(std::string(50'000, 'u')));
            in.add_pair(messages, {"t1"}, told);
            messages.push_back(in.assistant("done"));
            return in.body(messages);
        };
        const Pruned p = pruned(build(std::string(50'000, 'x')),
                                coppice::Pipeline{coppice::Ceiling<coppice::Size{1}, 0>{}});
        const bool only_result_changed = p.after == build(in.cleared("50000 characters, ok; Read"));
        CHECK(only_result_changed);
        CHECK(p.report.under_target == false);
        CHECK(p.report.ceiling_why == "only what cannot be cleared is left");
    });
}

TEST_CASE("B27: a compaction that holds nothing stays as it is") {
    Ordered messages = session_of_sizes({9000, 9000}).at("messages");
    messages[3]["content"].insert(messages[3]["content"].begin(),
                                  Ordered{{"type", "compaction"}, {"content", ""}});
    const Pruned block = pruned_alike(body(messages), clear_all);
    CHECK(fates(block) == "s-");
    CHECK(block_at(block.after, 3, 0) == Ordered{{"type", "compaction"}, {"content", ""}});

    const Spelling in(Dialect::openai_responses);
    Ordered document = in.session({std::string(9000, 'x'), std::string(9000, 'y')});
    const Ordered item = {{"type", "compaction"}, {"encrypted_content", ""}};
    document["input"].insert(document["input"].begin() + 3, item);
    const Pruned items = pruned_alike(document, clear_all);
    CHECK(in.fates(items) == "s-");
    CHECK(items.after["input"][3] == item);
}
