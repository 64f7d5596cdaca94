// SPDX-License-Identifier: MIT
#include <coppice/plan.hpp>

#include <coppice/dom.hpp>
#include <coppice/presets/openswarm.hpp>

#include "support/builders.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::Edit;
using coppice::Extent;
using coppice::Fate;
using coppice::none;
using coppice::PlainWording;
using coppice::Plan;
using coppice::Proposal;
using coppice::Transcript;
using Json = nlohmann::ordered_json;
using support::assistant;
using support::assistant_blocks;
using support::call;
using support::call_block;
using support::image;
using support::list;
using support::marked;
using support::result;
using support::result_block;
using support::text;
using support::thinking;
using support::user;
using support::user_blocks;

// Refuses every change of one entry.
struct Refusing {
    static constexpr std::string_view name = "refusing";
    std::size_t entry = none;
    bool allows(const Transcript&, const Proposal& proposal) const { return proposal.entry != entry; }
};

struct KeepsUnread {
    static constexpr std::string_view name = "keeps_unread";
    bool allows(const Transcript& transcript, const Proposal& proposal) const {
        return proposal.assume_read || !transcript.unread(transcript.all()[proposal.entry]);
    }
};

// Writes no previews.
struct Terse {
    static constexpr std::string_view name = "terse";
    static constexpr std::size_t longest = 9;
    coppice::Shape shape = coppice::Shape::as_it_was;
    void result(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
    void field(std::string& out, const coppice::FieldFacts&) const { out += "[cleared]"; }
    void image(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
    coppice::Recognised recognise(std::string_view said) const {
        using enum coppice::Recognised::Kind;
        return {.kind = said == "[cleared]" ? stub : content};
    }
};

// A document, what the reader made of it, and a plan for it.
template <class Wording = PlainWording>
class Planning {
public:
    explicit Planning(Json messages, Refusing refusing = {})
        : document_(std::move(messages)), refusing_(refusing) {
        transcript.source = &source_;
        coppice::AnthropicReader<coppice::detail::DomCursor<Json>> reader(transcript, scratch_);
        REQUIRE(reader.read(coppice::detail::DomCursor<Json>(document_), true).empty());
        const auto knows = [](std::string_view) { return true; };
        coppice::detail::recognise_own_texts(transcript, wording(), true, knows, scratch_.text);
        transcript.set_horizon(transcript.messages.size());
        start();
    }
    Planning(const Planning&) = delete;
    Planning& operator=(const Planning&) = delete;

    coppice::detail::AnyWording wording() const { return coppice::detail::AnyWording::of(wording_); }
    void start() {
        const std::vector<coppice::detail::AnyGuard> guards = {coppice::detail::AnyGuard::of(refusing_),
                                                               coppice::detail::AnyGuard::of(keeps_unread_)};
        plan.start(transcript, wording(), guards);
    }

    std::vector<Edit> edits() const {
        std::vector<Edit> all;
        plan.for_each_edit([&](const Edit& edit) { all.push_back(edit); });
        return all;
    }
    // The text that takes the place of this entry, or nothing.
    std::string text_of(std::size_t entry) const {
        for (const Edit& edit : edits()) {
            if (edit.entry == entry) { return std::string(edit.text); }
        }
        return {};
    }
    // Every size is that of the value itself, and the body is the document less what the edits save.
    void check_sizes() {
        std::size_t saved = 0;
        for (const Edit& edit : edits()) {
            const bool drop = edit.as == Edit::As::drop;
            // the comma goes along
            const std::size_t before = static_cast<const Json*>(edit.node.where)->dump().size() + (drop ? 1 : 0);
            CHECK(plan.bytes_before(edit) == before);
            CHECK(edit.after == (drop ? 0 : written(edit).dump().size()));
            CHECK(edit.after < before);
            saved += before - edit.after;
        }
        CHECK(plan.saved().bytes == saved);
        CHECK(plan.body().bytes == document_.dump().size() - saved);
    }

    Transcript transcript;
    Plan plan;

private:
    static Json written(const Edit& edit) {
        if (edit.as == Edit::As::string) { return std::string(edit.text); }
        Json block = text(std::string(edit.text));
        if (edit.cache_mark) { block["cache_control"] = *static_cast<const Json*>(edit.cache_mark.where); }
        return edit.as == Edit::As::block ? block : list(block);
    }

    coppice::detail::DomSource<Json> source_;
    coppice::detail::ReaderScratch scratch_;
    Json document_;
    Wording wording_{};
    Refusing refusing_;
    KeepsUnread keeps_unread_{};
};

const std::string big(5000, 'x');

// call, result, call, result, ... each result with this content, and a last word: results are entries 1,
// 3, 5.
Json results(const std::vector<Json>& contents) {
    Json messages = Json::array();
    for (std::size_t i = 0; i < contents.size(); ++i) {
        support::add_pair<Json>(messages, "t" + std::to_string(i), "Read", Json{{"file_path", "/f"}},
                                contents[i]);
    }
    messages.push_back(assistant("done"));
    return messages;
}

// One call with this input, its result, and a last word.
Json with_input(Json input) {
    return list(call("t", "Edit", std::move(input)), result("t", "ok"), assistant("done"));
}

bool says(const std::string& text, std::string_view what) { return text.find(what) != std::string::npos; }

}  // namespace

TEST_CASE("plan: at the start nothing changes") {
    Planning<> planning(results({big}));
    CHECK(planning.edits().empty());
    CHECK(planning.plan.fate(1) == Fate::keep);
    CHECK(planning.plan.body() == planning.transcript.body());
    CHECK_FALSE(planning.plan.ceiling().has_value());
}

TEST_CASE("plan: a cleared result becomes a stub with the reason") {
    Planning<> planning(results({big}));
    CHECK(planning.plan.clear(1, "age"));
    CHECK(planning.plan.fate(1) == Fate::stub);
    CHECK(planning.plan.reason(1) == "age");
    REQUIRE(planning.edits().size() == 1);
    CHECK(planning.edits()[0].text == "[tool result cleared: 5000 characters, ok; Read /f]");
    CHECK(planning.edits()[0].reason == "age");
    planning.check_sizes();
}

TEST_CASE("plan: a result is cleared once") {
    Planning<> planning(results({big}));
    CHECK(planning.plan.clear(1, "age"));
    CHECK_FALSE(planning.plan.could_clear(1));
    CHECK_FALSE(planning.plan.clear(1, "pressure"));
    CHECK(planning.plan.reason(1) == "age");
}

TEST_CASE("plan: only results can be cleared") {
    Planning<> planning(list(user(big), call("t", "Read"), result("t", big), assistant(big)));
    for (const std::size_t entry : {0U, 1U, 3U}) { CHECK_FALSE(planning.plan.clear(entry, "age")); }
}

TEST_CASE("plan: a result that a stub would not shorten stays") {
    const std::string stub = "[tool result cleared: 50 characters, ok; Read /f]";
    Planning<> planning(results({std::string(stub.size(), 'x'), std::string(stub.size() + 1, 'x'), ""}));
    CHECK_FALSE(planning.plan.clear(1, "age"));
    CHECK(planning.plan.clear(3, "age"));
    CHECK_FALSE(planning.plan.clear(5, "age"));
    planning.check_sizes();
}

TEST_CASE("plan: shorter is measured after escaping") {
    // 30 control bytes are 180 bytes of JSON
    Planning<> planning(results({std::string(30, '\x01'), std::string(30, 'x')}));
    CHECK(planning.plan.clear(1, "age"));
    CHECK_FALSE(planning.plan.clear(3, "age"));
    planning.check_sizes();
}

TEST_CASE("plan: one refusing guard keeps an entry whole") {
    Planning<> planning(results({big, big}), Refusing{.entry = 1});
    CHECK_FALSE(planning.plan.could_clear(1));
    CHECK_FALSE(planning.plan.clear(1, "age"));
    CHECK_FALSE(planning.plan.collapse(1, 3, "dedup"));
    CHECK_FALSE(planning.plan.spill(1, "memory:1", "spill"));
    CHECK(planning.plan.clear(3, "age"));
}

TEST_CASE("plan: asking changes nothing") {
    Planning<> planning(results({big, big}));
    planning.plan.clear(3, "age");
    const std::string before = planning.text_of(3);
    const Extent body = planning.plan.body();
    CHECK(planning.plan.could_clear(1));
    CHECK(planning.plan.body() == body);
    CHECK(planning.edits().size() == 1);
    CHECK(planning.text_of(3) == before);
}

TEST_CASE("plan: what is unread could be cleared once it is read") {
    Planning<> planning(list(call("t", "Read"), result("t", big)));
    CHECK_FALSE(planning.plan.could_clear(1));
    CHECK(planning.plan.could_clear(1, true));
    CHECK_FALSE(planning.plan.clear(1, "age"));
}

TEST_CASE("plan: one of our own stubs is not cleared again") {
    Planning<> planning(
        results({"[tool result cleared: 5000 characters, ok; Read /f]",
                 list(text("[tool result cleared: 5000 characters, ok; " + std::string(60, 'R') + "]"))}));
    CHECK(planning.transcript.all()[1].stub);
    CHECK(planning.transcript.all()[3].stub);
    for (const std::size_t entry : {1U, 3U}) {
        CHECK_FALSE(planning.plan.could_clear(entry));
        CHECK_FALSE(planning.plan.clear(entry, "age"));
        CHECK_FALSE(planning.plan.elide_images(entry, "age"));
    }
}

TEST_CASE("plan: the form of the content is kept") {
    Planning<> planning(results({big, list(text(big)), Json{{"a", big}}, list(text(big), text(big))}));
    for (const std::size_t entry : {1U, 3U, 5U, 7U}) { CHECK(planning.plan.clear(entry, "age")); }
    const std::vector<Edit> edits = planning.edits();
    REQUIRE(edits.size() == 4);
    CHECK(edits[0].as == Edit::As::string);
    for (const std::size_t i : {1U, 2U, 3U}) { CHECK(edits[i].as == Edit::As::blocks); }
    planning.check_sizes();
}

TEST_CASE("plan: a wording may want blocks always") {
    Planning<coppice::OpenSwarmWording> planning(results({big, list(text(big))}));
    planning.plan.clear(1, "age");
    planning.plan.clear(3, "age");
    for (const Edit& edit : planning.edits()) { CHECK(edit.as == Edit::As::blocks); }
    planning.check_sizes();
}

TEST_CASE("plan: a stub carries the cache mark of what it replaces") {
    Planning<> planning(
        results({list(text(big), marked(text(big), Json{{"type", "ephemeral"}, {"ttl", "1h"}}))}));
    REQUIRE(planning.plan.clear(1, "age"));
    const Edit edit = planning.edits().at(0);
    REQUIRE(edit.cache_mark);
    CHECK(static_cast<const Json*>(edit.cache_mark.where)->dump() == R"({"type":"ephemeral","ttl":"1h"})");
    planning.check_sizes();
}

TEST_CASE("plan: a failed result keeps its first and last line") {
    Planning<> planning(list(
        call("t", "Bash"), result("t", list(text("\n cc1: error\n" + big), text("make: Error 1\n\n")), true),
        assistant("hm")));
    planning.plan.clear(1, "age");
    const std::string stub = planning.text_of(1);
    CHECK(says(stub, ", failed; Bash"));
    CHECK(says(stub, "; first line: cc1: error"));
    CHECK(says(stub, "; last line: make: Error 1]"));
}

TEST_CASE("plan: the last line of escaped text survives a blank part behind it") {
    Planning<> planning(
        list(call("t", "Bash"), result("t", list(text(big), text("x")), true), assistant("hm")));
    const std::string first = R"(first line\nsomething\nverdict: 2 failed)";
    std::string blank;
    while (blank.size() < 400) { blank += R"(\n)"; }
    planning.transcript.parts[0].text = coppice::MeasuredText(coppice::Text::still_escaped(first));
    planning.transcript.parts[1].text = coppice::MeasuredText(coppice::Text::still_escaped(blank));
    planning.plan.clear(1, "age");
    CHECK(says(planning.text_of(1), "; last line: verdict: 2 failed]"));
}

TEST_CASE("plan: escaped names stand decoded in a stub") {
    Planning<> planning(results({big}));
    planning.transcript.all()[1].tool = coppice::Text::still_escaped(R"(Re\u0061d)");
    planning.transcript.all()[1].identity = coppice::Text::still_escaped(R"(\/src\/a.c)");
    planning.plan.clear(1, "age");
    CHECK(planning.text_of(1) == "[tool result cleared: 5000 characters, ok; Read /src/a.c]");
}

TEST_CASE("plan: a duplicate says that a later result is the same") {
    Planning<> planning(results({big, big}));
    CHECK(planning.plan.collapse(1, 3, "dedup"));
    CHECK(says(planning.text_of(1), "same as a later result"));
    CHECK(planning.plan.fate(3) == Fate::keep);
    CHECK(planning.plan.reason(1) == "dedup");
    planning.check_sizes();
}

TEST_CASE("plan: nothing is a duplicate of itself or of what does not stay") {
    Planning<> planning(results({big, big, list(text(big), image())}));
    CHECK_FALSE(planning.plan.collapse(1, 1, "dedup"));
    planning.plan.clear(3, "age");
    CHECK_FALSE(planning.plan.collapse(1, 3, "dedup"));
    planning.plan.elide_images(5, "age");
    CHECK_FALSE(planning.plan.collapse(1, 5, "dedup"));
    CHECK(planning.plan.fate(1) == Fate::keep);
}

TEST_CASE("plan: duplicates become ordinary stubs when their original is cleared after all") {
    Planning<> planning(results({big, big, big}));
    CHECK(planning.plan.collapse(1, 5, "dedup"));
    CHECK(planning.plan.collapse(3, 5, "dedup"));
    CHECK(planning.plan.clear(5, "age"));
    for (const std::size_t entry : {1U, 3U, 5U}) {
        CHECK(planning.plan.fate(entry) == Fate::stub);
        CHECK(planning.plan.reason(entry) == "age");
        CHECK(planning.text_of(entry) == "[tool result cleared: 5000 characters, ok; Read /f]");
    }
    planning.check_sizes();
}

TEST_CASE("plan: duplicates become ordinary stubs when their original loses its images") {
    const Json content = list(text(big), image());
    Planning<> planning(results({content, content}));
    CHECK(planning.plan.collapse(1, 3, "dedup"));
    CHECK(planning.plan.elide_images(3, "age"));
    CHECK(planning.plan.fate(1) == Fate::stub);
    CHECK_FALSE(says(planning.text_of(1), "same as"));
    planning.check_sizes();
}

TEST_CASE("plan: a chain of duplicates does not outlive its end") {
    Planning<> planning(results({big, big, big}));
    CHECK(planning.plan.collapse(1, 3, "dedup"));
    CHECK(planning.plan.collapse(3, 5, "dedup"));
    CHECK(planning.plan.clear(5, "age"));
    for (const std::size_t entry : {1U, 3U, 5U}) {
        CAPTURE(entry);
        CHECK(planning.plan.fate(entry) == Fate::stub);
        CHECK_FALSE(says(planning.text_of(entry), "same as"));
    }
    planning.check_sizes();
}

TEST_CASE("plan: elided images become one stub each and text stays") {
    Planning<> planning(results({list(image(), text("beside"), image())}));
    CHECK(planning.plan.elide_images(1, "age"));
    CHECK(planning.plan.fate(1) == Fate::elide);
    const std::vector<Edit> edits = planning.edits();
    REQUIRE(edits.size() == 2);
    CHECK(edits[0].part == 0);
    CHECK(edits[1].part == 2);
    for (const Edit& edit : edits) {
        CHECK(edit.as == Edit::As::block);
        CHECK(edit.text == "[image cleared: Read /f]");
        CHECK(edit.reason == "age");
    }
    planning.check_sizes();
}

TEST_CASE("plan: every elided image hands over its own mark") {
    Planning<> planning(results(
        {list(marked(image(), Json{{"type", "one"}}), image(), marked(image(), Json{{"type", "two"}}))}));
    REQUIRE(planning.plan.elide_images(1, "age"));
    const std::vector<Edit> edits = planning.edits();
    REQUIRE(edits.size() == 3);
    CHECK(static_cast<const Json*>(edits[0].cache_mark.where)->at("type") == "one");
    CHECK_FALSE(edits[1].cache_mark);
    CHECK(static_cast<const Json*>(edits[2].cache_mark.where)->at("type") == "two");
    planning.check_sizes();
}

TEST_CASE("plan: images that a stub would not shorten stay") {
    const Json tiny = {{"type", "image"}};
    Planning<> planning(results({list(tiny), list(tiny, image()), list(text(big)), big}));
    CHECK_FALSE(planning.plan.elide_images(1, "age"));
    CHECK(planning.plan.elide_images(3, "age"));
    CHECK(planning.edits().size() == 1);
    CHECK(planning.edits()[0].part == 2);
    CHECK_FALSE(planning.plan.elide_images(5, "age"));
    CHECK_FALSE(planning.plan.elide_images(7, "age"));
    planning.check_sizes();
}

TEST_CASE("plan: a result without its images can still be cleared whole") {
    Planning<> planning(results({list(text(big), image())}));
    CHECK(planning.plan.elide_images(1, "images"));
    CHECK(planning.plan.clear(1, "age"));
    CHECK(planning.plan.fate(1) == Fate::stub);
    CHECK(planning.edits().size() == 1);
    CHECK(planning.text_of(1) == "[tool result cleared: 5000 characters, 1 image, ok; Read /f]");
    planning.check_sizes();
}

TEST_CASE("plan: what is cleared whole has no images left to elide") {
    Planning<> planning(results({list(text(big), image())}));
    CHECK(planning.plan.clear(1, "age"));
    CHECK_FALSE(planning.plan.elide_images(1, "images"));
}

TEST_CASE("plan: a cleared field becomes a stub that says its size and name") {
    Planning<> planning(with_input({{"path", "/a"}, {"content", big}}));
    CHECK(planning.plan.could_clear_field(0, 1));
    CHECK(planning.plan.clear_field(0, 1, "inputs"));
    CHECK(planning.plan.fate(0) == Fate::clear_fields);
    REQUIRE(planning.edits().size() == 1);
    CHECK(planning.edits()[0].text == "[tool input cleared: 5000 characters; content]");
    CHECK(planning.edits()[0].as == Edit::As::string);
    CHECK(planning.edits()[0].field == 1);
    planning.check_sizes();
}

TEST_CASE("plan: a field is cleared once and only where it exists") {
    Planning<> planning(with_input({{"content", big}}));
    CHECK_FALSE(planning.plan.clear_field(0, 1, "inputs"));
    CHECK_FALSE(planning.plan.could_clear_field(0, 1));
    CHECK_FALSE(planning.plan.clear_field(1, 0, "inputs"));
    CHECK(planning.plan.clear_field(0, 0, "inputs"));
    CHECK_FALSE(planning.plan.could_clear_field(0, 0));
    CHECK_FALSE(planning.plan.clear_field(0, 0, "pressure"));
    CHECK(planning.edits().size() == 1);
    planning.check_sizes();
}

TEST_CASE("plan: short fields and our own stubs in fields stay") {
    Planning<> planning(
        with_input({{"content", "short"},
                    {"old", "[tool input cleared: 5000 characters; " + std::string(60, 'f') + "]"}}));
    CHECK_FALSE(planning.plan.clear_field(0, 0, "inputs"));
    CHECK_FALSE(planning.plan.could_clear_field(0, 1));
    CHECK_FALSE(planning.plan.clear_field(0, 1, "inputs"));
}

TEST_CASE("plan: fields of several calls cleared in any order come out in the order of the transcript") {
    Planning<> planning(
        list(assistant_blocks(
                 call_block("a", "Edit", Json{{"old_string", big}, {"new_string", big}, {"content", big}}),
                 call_block("b", "Edit", Json{{"old_string", big}, {"new_string", big}})),
             user_blocks(result_block("a", "ok"), result_block("b", "ok")), assistant("done")));
    CHECK(planning.plan.clear_field(0, 2, "one"));
    CHECK(planning.plan.clear_field(1, 1, "two"));
    CHECK(planning.plan.clear_field(0, 0, "three"));
    CHECK(planning.plan.clear_field(1, 0, "four"));
    CHECK(planning.plan.clear_field(0, 1, "five"));
    const std::vector<Edit> edits = planning.edits();
    REQUIRE(edits.size() == 5);
    std::size_t of_first = 0;
    for (std::size_t i = 0; i < edits.size(); ++i) {
        of_first += edits[i].entry == 0;
        if (i > 0) { CHECK(edits[i].entry >= edits[i - 1].entry); }
        const std::vector<std::string_view> reasons = {"three", "five", "one", "four", "two"};
        CHECK(edits[i].reason == reasons[edits[i].field]);
    }
    CHECK(of_first == 3);
    planning.check_sizes();
}

TEST_CASE("plan: a spilled result becomes the wording's preview and names its place") {
    const std::string content(60'000, 'x');
    Planning<> planning(
        results({content, list(text(content.substr(0, 30'000)), text(content.substr(0, 30'000)))}));
    CHECK(planning.plan.spill(1, "memory:1", "spill"));
    CHECK(planning.plan.spill(3, "memory:2", "spill"));
    CHECK(planning.plan.fate(1) == Fate::spill);
    CHECK(planning.plan.spilled(1));
    CHECK(planning.plan.reference(1) == "memory:1");
    const std::string preview = planning.text_of(1);
    const auto found = PlainWording().recognise(preview);
    CHECK(found.kind == coppice::Recognised::Kind::preview);
    CHECK(found.reference == "memory:1");
    CHECK(found.size.chars == 60'000);
    CHECK(planning.edits()[0].as == Edit::As::string);
    CHECK(planning.edits()[1].as == Edit::As::blocks);
    planning.check_sizes();
}

TEST_CASE("plan: a result that a preview would not shorten is not spilled") {
    Planning<> planning(results({std::string(3050, 'x')}));
    CHECK_FALSE(planning.plan.spill(1, "memory:1", "spill"));
    CHECK_FALSE(planning.plan.spilled(1));
    CHECK(planning.plan.fate(1) == Fate::keep);
}

TEST_CASE("plan: a wording without previews spills nothing") {
    Planning<Terse> planning(results({std::string(60'000, 'x')}));
    CHECK_FALSE(planning.plan.spill(1, "memory:1", "spill"));
    CHECK(planning.edits().empty());
}

TEST_CASE("plan: a place that a preview would show otherwise is none") {
    for (const std::string reference :
         {"", " ", "memory: ", "memory:[1]", "memory:\n1", "<memory>", "memory:\"1\""}) {
        CAPTURE(reference);
        Planning<> plain(results({std::string(60'000, 'x')}));
        CHECK_FALSE(plain.plan.spill(1, reference, "spill"));
        CHECK(plain.edits().empty());
        Planning<coppice::OpenSwarmWording> openswarm(results({std::string(60'000, 'x')}));
        CHECK_FALSE(openswarm.plan.spill(1, reference, "spill"));
        CHECK(openswarm.edits().empty());
    }
}

TEST_CASE("plan: a content that is no text is not spilled where its preview would be none") {
    const std::string bytes = "\xFF\xF0\x9F\x80";
    for (const std::size_t at : {0U, 10U, 59'990U}) {
        std::string content(60'000, 'x');
        content.insert(at, bytes);
        Planning<> planning(results({content}));
        CHECK_FALSE(planning.plan.spill(1, "memory:1", "spill"));
    }
}

TEST_CASE("plan: a preview that is cleared still says where the content is") {
    Planning<> planning(results({std::string(60'000, 'x')}));
    CHECK(planning.plan.spill(1, "memory:1", "spill"));
    CHECK(planning.plan.clear(1, "age"));
    CHECK(planning.text_of(1) == "[tool result cleared: 60000 characters, ok; Read /f; stored at memory:1]");
    CHECK(planning.plan.spilled(1));
    CHECK(planning.plan.reference(1) == "memory:1");
    planning.check_sizes();
}

TEST_CASE("plan: a preview from before is cleared with its number and place") {
    std::string preview;
    PlainWording().preview(
        preview,
        {.content = std::string(60'000, 'x'), .reference = "memory:1", .size = coppice::ascii(60'000)});
    Planning<> planning(results({preview}));
    CHECK(planning.transcript.size(planning.transcript.all()[1]) == coppice::ascii(60'000));
    CHECK(planning.plan.clear(1, "age"));
    CHECK(planning.text_of(1) == "[tool result cleared: 60000 characters, ok; Read /f; stored at memory:1]");
}

TEST_CASE("plan: a promise that was not kept is taken back") {
    Planning<> planning(results({std::string(60'000, 'x')}));
    planning.plan.spill(1, "memory:1", "spill");
    planning.plan.withdraw_spill(1);
    CHECK(planning.plan.fate(1) == Fate::keep);
    CHECK_FALSE(planning.plan.spilled(1));
    CHECK(planning.edits().empty());
    CHECK(planning.plan.body() == planning.transcript.body());
}

TEST_CASE("plan: a stub whose content was not stored names no place") {
    Planning<> planning(results({std::string(60'000, 'x')}));
    planning.plan.spill(1, "memory:1", "spill");
    planning.plan.clear(1, "age");
    planning.plan.withdraw_spill(1);
    CHECK(planning.text_of(1) == "[tool result cleared: 60000 characters, ok; Read /f]");
    CHECK(planning.plan.reason(1) == "age");
    CHECK_FALSE(planning.plan.spilled(1));
    planning.check_sizes();
}

TEST_CASE("plan: what is a duplicate of a preview is told apart when the preview is cleared") {
    const std::string content(60'000, 'x');
    Planning<> planning(results({content, content}));
    planning.plan.spill(3, "memory:1", "spill");
    CHECK(planning.plan.collapse(1, 3, "dedup"));
    CHECK(planning.plan.clear(3, "age"));
    CHECK_FALSE(says(planning.text_of(1), "same as"));
    planning.check_sizes();
}

TEST_CASE("plan: duplicates survive the withdrawal of one among them") {
    const std::string content(60'000, 'x');
    Planning<> planning(results({content, content, content}));
    planning.plan.spill(3, "memory:1", "spill");
    CHECK(planning.plan.collapse(1, 5, "dedup"));
    CHECK(planning.plan.collapse(3, 5, "dedup"));
    planning.plan.withdraw_spill(3);
    CHECK(planning.plan.clear(5, "age"));
    CHECK_FALSE(says(planning.text_of(1), "same as"));
    CHECK_FALSE(says(planning.text_of(3), "same as"));
    planning.check_sizes();
}

TEST_CASE("plan: joined text has no separator and leaves media out") {
    const Planning<> planning(results({list(text("a\n"), image(), text("b"))}));
    std::string joined = "before ";
    planning.plan.append_joined_text(1, joined);
    CHECK(joined == "before a\nb");
}

TEST_CASE("plan: the body at the horizon leaves out what lies behind") {
    Planning<> planning(results({big, big}));
    planning.transcript.set_horizon(3);
    planning.start();
    CHECK(planning.plan.body() == planning.transcript.body_until(3));
    CHECK(planning.plan.clear(1, "age"));
    CHECK(planning.plan.body() == planning.transcript.body_until(3) - planning.plan.saved());
    CHECK(planning.plan.whole_body_exceeds(coppice::bytes(planning.plan.body().bytes + big.size())));
}

TEST_CASE("plan: whether the body exceeds a limit is answered as its size would") {
    for (int cleared = 0; cleared < 4; ++cleared) {
        for (const std::size_t slack : {0U, 1U, 100U}) {
            // each question alone, and all of them after each other
            Planning<> asked(results({big, list(text(big), image()), big}));
            Planning<> measured(results({big, list(text(big), image()), big}));
            for (int i = 0; i < cleared; ++i) {
                const auto entry = static_cast<std::size_t>(2 * i + 1);
                static_cast<void>(asked.plan.body_exceeds(coppice::bytes(3000)));
                CHECK(asked.plan.clear(entry, "age"));
                CHECK(measured.plan.clear(entry, "age"));
            }
            const std::size_t size = measured.plan.body().bytes;
            CHECK(asked.plan.body_exceeds(coppice::bytes(size - 1 - slack)));
            CHECK_FALSE(asked.plan.body_exceeds(coppice::bytes(size + slack)));
            CHECK_FALSE(asked.plan.whole_body_exceeds(coppice::bytes(size + slack)));
            CHECK(asked.plan.whole_body_exceeds(coppice::bytes(size - 1 - slack)));
            CHECK(asked.plan.body() == measured.plan.body());
        }
    }
}

TEST_CASE("plan: the body stays right when measured between changes of every kind") {
    const Json content = list(text(big), image(), image());
    Json messages = results({content, content, big, big, std::string(60'000, 'x')});
    messages.push_back(call("e", "Edit", Json{{"old_string", big}, {"new_string", big}}));
    messages.push_back(result("e", "ok"));
    messages.push_back(assistant("done"));
    Planning<> planning(messages);
    planning.check_sizes();
    CHECK(planning.plan.elide_images(1, "images"));
    planning.check_sizes();
    CHECK(planning.plan.collapse(5, 7, "dedup"));
    planning.check_sizes();
    CHECK(planning.plan.spill(9, "memory:1", "spill"));
    planning.check_sizes();
    CHECK(planning.plan.clear(1, "age"));
    CHECK(planning.plan.clear(7, "age"));
    planning.check_sizes();
    CHECK(planning.plan.clear_field(11, 1, "inputs"));
    planning.check_sizes();
    planning.plan.withdraw_spill(9);
    CHECK(planning.plan.clear_field(11, 0, "inputs"));
    planning.check_sizes();
}

TEST_CASE("plan: started again it knows nothing of before") {
    Planning<> planning(results({big, big}));
    planning.plan.clear(1, "age");
    planning.plan.collapse(1, 3, "dedup");
    planning.plan.set_ceiling({.target = 1});
    planning.start();
    CHECK(planning.edits().empty());
    CHECK(planning.plan.body() == planning.transcript.body());
    CHECK_FALSE(planning.plan.ceiling().has_value());
    CHECK(planning.plan.clear(3, "age"));
    planning.check_sizes();
}

TEST_CASE("plan: many results cleared and relabelled add up") {
    std::vector<Json> contents(60, Json(big));
    Planning<> planning(results(contents));
    for (std::size_t entry = 1; entry < 100; entry += 2) {
        CHECK(planning.plan.collapse(entry, 119, "dedup"));
    }
    planning.check_sizes();
    CHECK(planning.plan.clear(119, "age"));
    planning.check_sizes();
    CHECK(planning.edits().size() == 51);
}

TEST_CASE("plan: dropped reasoning leaves its messages with a comma each") {
    Planning<> planning(list(user("start"),
                             assistant_blocks(thinking("aa"), thinking("bbb"), text("said"), thinking("c"),
                                              call_block("t", "Read"), thinking("dd"), thinking("ee")),
                             result("t", big), assistant_blocks(text("hm"), thinking("f"), text("done")),
                             user("next")));
    // the result first, so that its message is measured with it
    CHECK(planning.plan.clear(8, "age"));
    planning.plan.body();
    CHECK(planning.plan.could_drop(1));
    CHECK(planning.plan.drop(4, "stale"));
    for (const std::size_t entry : {1U, 2U, 4U, 6U, 7U, 10U}) {
        CHECK(planning.plan.fate(entry) == Fate::drop);
        CHECK(planning.plan.reason(entry) == "stale");
        CHECK_FALSE(planning.plan.could_drop(entry));
        CHECK_FALSE(planning.plan.drop(entry, "again"));
    }
    std::string leading;
    for (const Edit& edit : planning.edits()) {
        if (edit.as != Edit::As::drop) { continue; }
        CHECK(edit.index == planning.transcript.all()[edit.entry].block);
        leading += edit.leads ? '1' : '0';
        CHECK(edit.text.empty());
    }
    CHECK(leading == "110000");
    planning.check_sizes();
}

TEST_CASE("plan: reasoning goes by whole turns or not at all") {
    const Json messages = list(user("one"), assistant_blocks(thinking("a"), text("hm")),
                               assistant_blocks(thinking("b"), text("done")), user("two"), assistant_blocks(thinking("c"), text("hm")), user("three"));
    Planning<> planning(messages);
    CHECK(planning.plan.drop(1, "stale"));
    CHECK(planning.plan.fate(3) == Fate::drop);
    CHECK(planning.plan.fate(6) == Fate::keep);
    CHECK(planning.plan.drop(6, "stale"));
    planning.check_sizes();

    for (const std::size_t refused : {1U, 3U}) {
        Planning<> partly(messages, Refusing{refused});
        CHECK_FALSE(partly.plan.could_drop(1));
        CHECK_FALSE(partly.plan.drop(3, "stale"));
        CHECK(partly.edits().empty());
        CHECK(partly.plan.drop(6, "stale"));
    }
}

TEST_CASE("plan: reasoning of the loop that is open at the horizon is not dropped") {
    Planning<> planning(list(user("one"), assistant_blocks(thinking("a"), call_block("t", "Read")), result("t", "ok"),
                             assistant_blocks(thinking("b"), text("done")), user("two"), assistant("hm")));
    CHECK(planning.plan.could_drop(1));
    planning.transcript.set_horizon(3);
    planning.start();
    CHECK_FALSE(planning.plan.drop(1, "stale"));
    CHECK_FALSE(planning.plan.drop(4, "stale"));
    // a person is about to speak: the loop is over
    planning.transcript.set_horizon(4);
    planning.start();
    CHECK(planning.plan.drop(1, "stale"));
    // whatever policies that see more are asked
    planning.transcript.set_horizon(3);
    planning.start();
    planning.transcript.set_horizon(6);
    CHECK_FALSE(planning.plan.drop(1, "stale"));
}

TEST_CASE("plan: only reasoning that may leave its message is dropped") {
    Planning<> planning(list(user("one"), assistant_blocks(thinking("a")), call("t", "Read"), result("t", big),
                             assistant("done"), user("two"), assistant_blocks(thinking("b"), text("hm")), user("three")));
    for (std::size_t i = 0; i < planning.transcript.all().size(); ++i) {
        CHECK(planning.plan.could_drop(i) == (i == 6));
    }
    CHECK(planning.plan.drop(6, "stale"));
    planning.check_sizes();
}

TEST_CASE("plan: what is dropped counts in no body and may be what brings it under a limit") {
    Planning<> planning(list(user("one"), assistant_blocks(thinking(big), text("hm")), user("two")));
    CHECK(planning.plan.body_exceeds(coppice::bytes(3000)));
    CHECK(planning.plan.drop(1, "stale"));
    CHECK_FALSE(planning.plan.body_exceeds(coppice::bytes(3000)));
    CHECK_FALSE(planning.plan.whole_body_exceeds(coppice::bytes(3000)));
    // measured when it is gone already
    Planning<> fresh(list(user("one"), assistant_blocks(thinking(big), text("hm")), user("two")));
    CHECK(fresh.plan.drop(1, "stale"));
    CHECK_FALSE(fresh.plan.body_exceeds(coppice::bytes(3000)));
    CHECK(fresh.plan.body() == planning.plan.body());
    CHECK(fresh.plan.saved() == planning.plan.saved());
    CHECK(fresh.plan.first_difference(planning.plan) == none);
}

TEST_CASE("plan: what is spared in eighths of a token is two for each ASCII byte") {
    Planning<Terse> planning(list(user("start"), call("a", "Edit", Json{{"content", big}, {"old_string", big}}),
                                  result("a", big), assistant_blocks(thinking("hm"), text("done")), user("on"),
                                  assistant("well"), user("and")));
    Plan& plan = planning.plan;
    CHECK(plan.saved_eighths(2) == 0);
    CHECK(plan.clear(2, "age"));
    // 5,000 characters become nine, in quotes both
    CHECK(plan.saved_eighths(2) == 2 * (5000 - 9));
    CHECK(plan.clear_field(1, 0, "bulk"));
    CHECK(plan.saved_eighths(1) == 2 * (5000 - 9));
    CHECK(plan.clear_field(1, 1, "bulk"));
    CHECK(plan.saved_eighths(1) == 2 * 2 * (5000 - 9));
    CHECK(plan.changes_field(0));
    CHECK(plan.field_reason(1) == "bulk");
    // a dropped block takes its comma along
    CHECK(plan.drop(3, "stale"));
    CHECK(plan.saved_eighths(3) == 2 * (thinking("hm").dump().size() + 1));
    CHECK(plan.saved_eighths(4) == 0);
}

TEST_CASE("plan: what is spared of other scripts is told by the widths of their characters") {
    std::string words;
    for (std::size_t i = 0; i < 500; ++i) { words += "\u4e2d"; }
    Planning<Terse> planning(results({words, "ok"}));
    CHECK(planning.plan.clear(1, "age"));
    // 500 characters of three bytes are a token each; nine letters take their place
    CHECK(planning.plan.saved_eighths(1) == 8 * 500 - 2 * 9);
}

TEST_CASE("plan: an image spares what it costs") {
    for (const std::size_t bytes : {3'000U, 60'000U}) {
        CAPTURE(bytes);
        const std::size_t size = image(bytes).dump().size();
        const std::size_t costs = std::min(2 * size, 8 * coppice::image_tokens);
        const std::size_t stub = text("[cleared]").dump().size();
        Planning<Terse> elided(results({list(text(big), image(bytes)), "ok"}));
        CHECK(elided.plan.elide_images(1, "media"));
        CHECK(elided.plan.saved_eighths(1) == costs - 2 * stub);
        CHECK(elided.plan.changes_part(1));
        CHECK_FALSE(elided.plan.changes_part(0));
        CHECK(elided.plan.part_text(1) == "[cleared]");
        Planning<Terse> cleared(results({list(text(big), image(bytes)), "ok"}));
        CHECK(cleared.plan.clear(1, "age"));
        // the brackets stay, the text and a comma go
        CHECK(cleared.plan.saved_eighths(1) == 2 * (text(big).dump().size() + 1) + costs - 2 * stub);
    }
}

TEST_CASE("plan: a duplicate knows its original as long as that stays") {
    Planning<> planning(results({big, "ok", big}));
    CHECK(planning.plan.original(1) == none);
    CHECK(planning.plan.collapse(1, 5, "dup"));
    CHECK(planning.plan.original(1) == 5);
    CHECK(planning.plan.original(5) == none);
    CHECK(planning.plan.clear(5, "age"));
    CHECK(planning.plan.original(1) == none);
}

TEST_CASE("plan: a result of one image reads alike where the image went and where all of it did, if the words are the same") {
    Planning<Terse> planning(results({list(image(4000)), "ok", list(image(4000), text(big)), "ok"}));
    const auto plan_with = [&](auto change) {
        planning.start();
        change(planning.plan);
        return planning.plan;
    };
    const Plan whole = plan_with([](Plan& plan) { plan.clear(1, "x"); });
    const Plan image_only = plan_with([](Plan& plan) { plan.elide_images(1, "x"); });
    CHECK(whole.first_difference(image_only) == none);
    CHECK(image_only.first_difference(whole) == none);
    // of two blocks one stays
    const Plan both = plan_with([](Plan& plan) { plan.clear(5, "x"); });
    const Plan first = plan_with([](Plan& plan) { plan.elide_images(5, "x"); });
    CHECK(both.first_difference(first) == 5);
    CHECK(first.first_difference(both) == 5);
}

TEST_CASE("plan: two plans of a transcript differ first where they do not leave an entry alike") {
    Planning<> planning(list(call("a", "Edit", Json{{"content", big}, {"old_string", big}}), result("a", big),
                             call("b", "Read"), result("b", list(text(big), image(), image(4000))),
                             call("c", "Read"), result("c", big), assistant("done")));
    const auto plan_with = [&](auto change) {
        planning.start();
        change(planning.plan);
        return planning.plan;
    };
    const auto nothing = plan_with([](Plan&) {});
    CHECK(nothing.first_difference(nothing) == none);
    const Plan field = plan_with([](Plan& plan) { plan.clear_field(0, 0, "x"); });
    const Plan other_field = plan_with([](Plan& plan) { plan.clear_field(0, 1, "x"); });
    const Plan both_fields = plan_with([](Plan& plan) { plan.clear_field(0, 0, "x"), plan.clear_field(0, 1, "x"); });
    CHECK(field.first_difference(nothing) == 0);
    CHECK(nothing.first_difference(field) == 0);
    CHECK(field.first_difference(other_field) == 0);
    CHECK(field.first_difference(both_fields) == 0);
    // why it was changed makes no difference
    CHECK(field.first_difference(plan_with([](Plan& plan) { plan.clear_field(0, 0, "y"); })) == none);
    const Plan stub = plan_with([](Plan& plan) { plan.clear(1, "x"), plan.clear(5, "x"); });
    CHECK(stub.first_difference(nothing) == 1);
    CHECK(stub.first_difference(plan_with([](Plan& plan) { plan.clear(1, "x"); })) == 5);
    CHECK(stub.first_difference(plan_with([](Plan& plan) { plan.clear(5, "x"), plan.clear(1, "y"); })) == none);
    // a duplicate reads otherwise than a stub
    CHECK(plan_with([](Plan& plan) { plan.collapse(1, 5, "x"); })
              .first_difference(plan_with([](Plan& plan) { plan.clear(1, "x"); })) == 1);
    // images that went, and all that went
    const Plan images = plan_with([](Plan& plan) { plan.elide_images(3, "x"); });
    CHECK(images.first_difference(nothing) == 3);
    CHECK(images.first_difference(plan_with([](Plan& plan) { plan.clear(3, "x"); })) == 3);
    CHECK(images.first_difference(plan_with([](Plan& plan) { plan.elide_images(3, "y"); })) == none);
}

TEST_CASE("plan: a clipped result keeps its ends behind a line, and is changed once") {
    Planning<> planning(results({big, list(text(big), marked(text(big))), Json{{"a", big}}}));
    CHECK(planning.plan.clip(1, 10, 5, "age"));
    CHECK(planning.plan.fate(1) == Fate::clip);
    CHECK(planning.plan.reason(1) == "age");
    CHECK(planning.plan.clipped_head(1) == 10);
    CHECK(planning.plan.clipped_tail(1) == 5);
    CHECK(planning.text_of(1) ==
          "[tool result cut: 5000 characters, ok; Read /f; first 10 and last 5 follow]\nxxxxxxxxxx\n"
          "[4985 characters cut]\nxxxxx");
    CHECK(planning.plan.clip(3, 0, 0, "age"));
    CHECK(says(planning.text_of(3), "[10000 characters cut]"));
    CHECK_FALSE(planning.plan.clip(5, 10, 5, "age"));
    planning.check_sizes();
    for (const std::size_t entry : {1U, 3U}) {
        CHECK_FALSE(planning.plan.could_clear(entry));
        CHECK_FALSE(planning.plan.clear(entry, "other"));
        CHECK_FALSE(planning.plan.clip(entry, 1, 1, "other"));
        CHECK_FALSE(planning.plan.spill(entry, "memory:1", "other"));
        CHECK_FALSE(planning.plan.cap(entry, coppice::chars(4000), 10, 10, "other"));
        CHECK_FALSE(planning.plan.collapse(entry, 5, "other"));
    }
    CHECK_FALSE(planning.plan.collapse(1, 3, "other"));
    planning.check_sizes();
}

TEST_CASE("plan: a result is not clipped where that is no shorter, has no line, is refused or unread") {
    const std::size_t line =
        std::string("[tool result cut: 150 characters, ok; Read /f; first 10 and last 5 follow]\n").size();
    const std::size_t size = line + 10 + std::string("\n[135 characters cut]\n").size() + 5;
    // line breaks are two bytes each
    Planning<> planning(results({std::string(size + 3, 'x'), std::string(size + 4, 'x'), "", "short"}));
    CHECK_FALSE(planning.plan.clip(1, 10, 5, "age"));
    CHECK(planning.plan.clip(3, 10, 5, "age"));
    CHECK_FALSE(planning.plan.clip(5, 0, 0, "age"));
    CHECK_FALSE(planning.plan.clip(7, 10, 5, "age"));
    CHECK_FALSE(planning.plan.clip(0, 10, 5, "age"));
    planning.check_sizes();
    Planning<Terse> terse(results({big}));
    CHECK_FALSE(terse.plan.clip(1, 10, 5, "age"));
    Planning<coppice::OpenSwarmWording> openswarm(results({big}));
    CHECK_FALSE(openswarm.plan.clip(1, 10, 5, "age"));
    Planning<> guarded(results({big}), Refusing{.entry = 1});
    CHECK_FALSE(guarded.plan.clip(1, 10, 5, "age"));
    Planning<> unread(list(call("t", "Read"), result("t", big)));
    CHECK_FALSE(unread.plan.clip(1, 10, 5, "age"));
    // nothing between the ends, and more than the wording knows again
    Planning<> whole(results({big, std::string(90'000, 'x')}));
    CHECK_FALSE(whole.plan.clip(1, 2500, 2500, "age"));
    CHECK_FALSE(whole.plan.clip(3, 20'000, 20'000, "age"));
    CHECK(whole.edits().empty());
}

TEST_CASE("plan: duplicates become ordinary stubs when their original is clipped") {
    Planning<> planning(results({big, big, big}));
    CHECK(planning.plan.collapse(1, 5, "dedup"));
    CHECK(planning.plan.collapse(3, 5, "dedup"));
    CHECK(planning.plan.clip(5, 10, 5, "size"));
    for (const std::size_t entry : {1U, 3U}) {
        CHECK_FALSE(says(planning.text_of(entry), "same as a later result"));
        CHECK(planning.plan.reason(entry) == "size");
        CHECK(planning.plan.original(entry) == none);
    }
    planning.check_sizes();
    Planning<> late(results({big, big}));
    CHECK(late.plan.clip(3, 10, 5, "size"));
    CHECK_FALSE(late.plan.collapse(1, 3, "dedup"));
}

TEST_CASE("plan: a clip from before is a stub, and one that is measured before and after adds up") {
    Planning<> planning(results({big, big}));
    const Extent before = planning.plan.body();
    CHECK(planning.plan.clip(1, 10, 5, "age"));
    CHECK(planning.plan.body().bytes == before.bytes - planning.plan.saved(1).bytes);
    planning.check_sizes();
    Planning<> again(results({planning.text_of(1), big}));
    CHECK(again.transcript.all()[1].stub);
    CHECK_FALSE(again.plan.clear(1, "age"));
    CHECK_FALSE(again.plan.clip(1, 1, 1, "age"));
}

TEST_CASE("plan: a call whose long command was cleared does not name its result any more") {
    const std::string stub = "[tool input cleared: 5000 characters; command; first line: x]";
    Planning<> planning(
        list(call("t", "Bash", Json{{"command", stub}, {"timeout", 7}}), result("t", big),
             call("u", "Write", Json{{"path", "/f"}, {"content", "[tool input cleared: 5000 characters; content]"}}),
             result("u", big), assistant("done")));
    CHECK(planning.transcript.all()[0].cleared);
    CHECK(planning.transcript.all()[0].unnamed);
    CHECK(planning.transcript.all()[0].identity.empty());
    CHECK(planning.transcript.all()[2].cleared);
    CHECK_FALSE(planning.transcript.all()[2].unnamed);
    CHECK(planning.plan.clear(1, "age"));
    CHECK(planning.plan.clear(3, "age"));
    CHECK(planning.text_of(1) == "[tool result cleared: 5000 characters, ok; Bash]");
    CHECK(planning.text_of(3) == "[tool result cleared: 5000 characters, ok; Write /f]");
    CHECK_FALSE(planning.plan.clear_field(0, 0, "age"));
    planning.check_sizes();
    // nor does it free a result that a stub with a command was no shorter than
    const std::string bare = "[tool result cleared: 170 characters, ok; Bash]";
    for (const std::size_t more : {1U, 122U, 123U}) {
        Planning<> short_one(list(call("t", "Bash", Json{{"command", stub}}),
                                  result("t", std::string(bare.size() + more, 'x')), assistant("done")));
        CHECK(short_one.plan.clear(1, "age") == (more > 122));
    }
}
