// SPDX-License-Identifier: MIT
#include <coppice/guards/cache_marks.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/presets/openswarm.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace support;

namespace {

const coppice::Pipeline<coppice::KeepRecent<0, coppice::Size{2000}, 0>> clear_all{};
const Ordered hour = {{"type", "ephemeral"}, {"ttl", "1h"}, {"unknown", {{"z", 1}, {"a", 2}}}};

std::size_t marks(const Ordered& document) {
    const std::string bytes = document.dump();
    std::size_t count = 0;
    for (std::size_t at = bytes.find("\"cache_control\""); at != std::string::npos;
         at = bytes.find("\"cache_control\"", at + 1)) {
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("cache_marks: allows results with at most one mark that a stub can carry") {
    const Ordered nested = {{"type", "search_result"}, {"content", list(marked(text("found")))}};
    const Ordered document =
        session({Ordered("none"), list(text("none")), list(marked(text("one")), text("more")),
                 list(marked(text("two")), marked(text("marks"))), list(nested)});
    coppice::Workspace workspace;
    coppice::plan(document, clear_all, workspace);
    const auto allows = [&](std::size_t result, coppice::Fate fate) {
        // an entry for the user, then a call and a result in turn
        return coppice::CacheMarks{}.allows(workspace.transcript,
                                            {.entry = 2 + 2 * result, .fate = fate, .text = "x"});
    };
    for (const coppice::Fate fate : {coppice::Fate::stub, coppice::Fate::spill}) {
        CHECK(allows(0, fate));
        CHECK(allows(1, fate));
        CHECK(allows(2, fate));
        CHECK_FALSE(allows(3, fate));
        CHECK_FALSE(allows(4, fate));
    }
    CHECK(allows(3, coppice::Fate::elide));
    CHECK_FALSE(allows(4, coppice::Fate::elide));
    CHECK(coppice::CacheMarks{}.allows(workspace.transcript,
                                       {.entry = 1, .fate = coppice::Fate::clear_fields, .text = "x"}));
}

TEST_CASE("cache_marks: the mark of a cleared part moves onto the stub as it was") {
    const Pruned p = pruned(
        session({list(text(filler(0, 3000)), marked(text(filler(1, 3000)), hour), text("end"))}), clear_all);
    CHECK(result_content(p.after, 0) ==
          list(marked(text("[tool result cleared: 6003 characters, ok; Read /src/0.c]"), hour)));
    CHECK(result_content(p.after, 0)[0].dump().find(hour.dump()) != std::string::npos);
}

TEST_CASE("cache_marks: a mark on an image moves onto the text in its place") {
    const Pruned p = pruned(session({list(text("a"), marked(image(), hour))}), clear_all);
    CHECK(result_content(p.after, 0) ==
          list(text("a"), marked(text("[image cleared: Read /src/0.c]"), hour)));
}

TEST_CASE("cache_marks: several marks in one content keep it whole and images hand theirs over one by one") {
    const Ordered two = list(marked(text(filler(0, 3000))), marked(text(filler(1, 3000))));
    CHECK(pruned(session({two}), clear_all).unchanged());
    const Ordered pictures = list(marked(image(3000, 'X')), marked(image(3000, 'Y'), hour));
    const Pruned p = pruned(session({pictures}), clear_all);
    CHECK(fates(p) == "i");
    CHECK(marks(p.after) == 2);
}

TEST_CASE("cache_marks: a mark deeper inside keeps the content whole") {
    const Ordered found = {{"type", "search_result"},
                           {"source", "s"},
                           {"title", "t"},
                           {"content", list(marked(text(filler(0, 3000))))}};
    CHECK(pruned_once(session({list(found)}), clear_all).unchanged());
    CHECK(pruned_once(session({Ordered{{"data", filler(0, 3000)}, {"cache_control", hour}}}), clear_all)
              .unchanged());
}

TEST_CASE("cache_marks: a mark beside the content is left where it is") {
    Ordered document = session_of_sizes({3000});
    document["messages"][2]["content"][0]["cache_control"] = hour;
    const Pruned p = pruned(document, clear_all);
    CHECK(fates(p) == "s");
    CHECK(p.after["messages"][2]["content"][0]["cache_control"] == hour);
    CHECK(marks(p.after) == 1);
}

TEST_CASE("cache_marks: as many marks come out as went in") {
    Ordered document = session({list(marked(text(filler(0, 3000)))), list(text(filler(1, 3000))),
                                list(marked(image())), Ordered(filler(2, 3000))});
    document["system"] = list(marked(text("You are terse.")));
    const coppice::Pipeline<coppice::KeepRecent<0, coppice::Size{2000}, coppice::share_window>,
                            coppice::OpenSwarmWording>
        preset{};
    CHECK(marks(pruned(document, clear_all).after) == 3);
    CHECK(marks(pruned(document, preset).after) == 3);
}
