// SPDX-License-Identifier: MIT
#include <coppice/guards/unread.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

using namespace support;

namespace {

const coppice::Pipeline<coppice::KeepRecent<0, coppice::Size{2000}, 0>, coppice::BulkyInputClear<0>>
    clear_all{};

Ordered unread_session() {
    const Ordered input = {{"file_path", "/a"}, {"content", filler(0, 3000)}};
    return body(list(user("start"), call("a", "Write", input), result("a", Ordered(filler(1, 3000))),
                     call("b", "Write", input), result("b", Ordered(filler(2, 3000))), user("and?")));
}

}  // namespace

TEST_CASE("unread: allows what the model has read") {
    const Ordered document = unread_session();
    coppice::Workspace workspace;
    coppice::plan(document, clear_all, workspace);
    const auto allows = [&](std::size_t entry, coppice::Fate fate, bool assume_read = false) {
        return coppice::Unread{}.allows(
            workspace.transcript, {.entry = entry, .fate = fate, .text = "x", .assume_read = assume_read});
    };
    CHECK(allows(1, coppice::Fate::clear_fields));
    CHECK(allows(2, coppice::Fate::stub));
    CHECK_FALSE(allows(3, coppice::Fate::clear_fields));
    CHECK_FALSE(allows(4, coppice::Fate::stub));
    CHECK_FALSE(allows(4, coppice::Fate::elide));
    CHECK(allows(4, coppice::Fate::spill));
    CHECK(allows(4, coppice::Fate::cap));
    CHECK(allows(0, coppice::Fate::elide));
    CHECK_FALSE(allows(5, coppice::Fate::elide));
    CHECK(allows(4, coppice::Fate::stub, true));
}

TEST_CASE("unread: results after the last assistant message and the inputs of their calls stay") {
    const Pruned p = pruned(unread_session(), clear_all);
    CHECK(fates(p) == "s-");
    CHECK(input_fates(p) == "c-");
}

TEST_CASE("unread: parallel results in several user messages are all unread") {
    Ordered messages = list(user("start"),
                            assistant_blocks(call_block("a", "Read", Ordered::object()),
                                             call_block("b", "Read", Ordered::object())),
                            result("a", Ordered(filler(0, 3000))), result("b", Ordered(filler(1, 3000))));
    CHECK(pruned_once(body(messages), clear_all).unchanged());
    messages.push_back(assistant("seen"));
    CHECK(fates(pruned_once(body(messages), clear_all)) == "ss");
}

TEST_CASE("unread: the newest image stays whatever the window") {
    const Ordered document = body(list(user("start"), call("a", "Shot"), result("a", list(image()))));
    CHECK(pruned(document, clear_all).unchanged());
}
