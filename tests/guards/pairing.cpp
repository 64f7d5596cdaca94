// SPDX-License-Identifier: MIT
#include <coppice/guards/pairing.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

using namespace support;

namespace {

const coppice::Pipeline<coppice::KeepRecent<0>, coppice::BulkyInputClear<0>> clear_all{};

Ordered written() { return Ordered{{"file_path", "/a"}, {"content", filler(0, 3000)}}; }

}  // namespace

TEST_CASE("pairing: allows an entry with a peer and nothing else") {
    const Ordered document =
        body(list(user("start"), call("a", "Write", written()), result("a", Ordered("ok")),
                  call("b", "Write", written()), user("stop"), assistant("fine")));
    coppice::Workspace workspace;
    coppice::plan(document, clear_all, workspace);
    const coppice::Transcript& transcript = workspace.transcript;
    const auto allows = [&](std::size_t entry) {
        return coppice::Pairing{}.allows(transcript,
                                         {.entry = entry, .fate = coppice::Fate::stub, .text = "x"});
    };
    REQUIRE(transcript.all().size() == 6);
    CHECK_FALSE(allows(0));
    CHECK(allows(1));
    CHECK(allows(2));
    CHECK_FALSE(allows(3));
    CHECK_FALSE(allows(4));
}

TEST_CASE("pairing: reasoning has no other half") {
    coppice::Transcript transcript;
    transcript.add().kind = coppice::Kind::reasoning;
    transcript.add().kind = coppice::Kind::assistant_text;
    CHECK(coppice::Pairing{}.allows(transcript, {.entry = 0, .fate = coppice::Fate::drop}));
    CHECK_FALSE(coppice::Pairing{}.allows(transcript, {.entry = 1, .fate = coppice::Fate::drop}));
}

TEST_CASE("pairing: an image of the user's has no peer and needs none") {
    coppice::Transcript transcript;
    transcript.add().kind = coppice::Kind::user_text;
    const auto allows = [&](coppice::Fate fate) {
        return coppice::Pairing{}.allows(transcript, {.entry = 0, .fate = fate, .text = "x"});
    };
    CHECK(allows(coppice::Fate::elide));
    CHECK_FALSE(allows(coppice::Fate::stub));
    transcript.all()[0].kind = coppice::Kind::result;
    CHECK_FALSE(allows(coppice::Fate::elide));
}

TEST_CASE("pairing: the input of an unanswered call and a result without its call stay") {
    const Ordered document =
        body(list(user("start"), call("a", "Write", written()), user("never mind"), assistant("fine"),
                  user_blocks(result_block("a", Ordered(filler(1, 9000))), text("late")), assistant("done")));
    const Pruned p = pruned_once(document, clear_all);
    CHECK(p.unchanged());
    CHECK(p.report.unpaired_calls == 1);
    CHECK(p.report.unpaired_results == 1);
}

TEST_CASE("pairing: an id that is used again pairs with the call before it") {
    const Ordered document =
        body(list(user("start"), call("same", "Write", written()), result("same", Ordered(filler(0, 3000))),
                  call("same", "Read", Ordered{{"file_path", "/b"}}),
                  result("same", Ordered(filler(1, 3000))), assistant("done")));
    const Pruned p = pruned_once(document, clear_all);
    CHECK(result_content(p.after, 0) == "[tool result cleared: 3000 characters, ok; Write /a]");
    CHECK(result_content(p.after, 1) == "[tool result cleared: 3000 characters, ok; Read /b]");
    CHECK(p.report.unpaired_calls + p.report.unpaired_results == 0);
}

TEST_CASE("pairing: parallel calls with one id are answered in their order") {
    const Ordered document = body(list(
        user("start"),
        assistant_blocks(call_block("x", "First", Ordered::object()),
                         call_block("x", "Second", Ordered::object())),
        user_blocks(result_block("x", Ordered(filler(0, 3000))), result_block("x", Ordered(filler(1, 3000)))),
        assistant("done")));
    const Pruned p = pruned_once(document, clear_all);
    CHECK(result_content(p.after, 0) == "[tool result cleared: 3000 characters, ok; First]");
    CHECK(result_content(p.after, 1) == "[tool result cleared: 3000 characters, ok; Second]");
}
