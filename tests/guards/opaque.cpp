// SPDX-License-Identifier: MIT
#include <coppice/guards/opaque.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

using namespace support;

namespace {

const coppice::Pipeline<coppice::KeepRecent<0, coppice::Size{2000}, 0>, coppice::BulkyInputClear<0>>
    clear_all{};

// asks to clear everything there is, in every way
struct ClearAnything {
    static constexpr std::string_view name = "clear_anything";
    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
        for (std::size_t i = 0; i < transcript.entries().size(); ++i) {
            plan.elide_images(i, name);
            plan.clear(i, name);
            for (std::size_t field = 0; field < transcript.entries()[i].field_count; ++field) {
                plan.clear_field(i, field, name);
            }
        }
    }
};

}  // namespace

TEST_CASE("opaque: allows calls and results that are not immutable") {
    coppice::Transcript transcript;
    const auto allows = [&](coppice::Kind kind, bool immutable, coppice::Fate fate = coppice::Fate::stub) {
        transcript.clear();
        coppice::Entry& entry = transcript.add();
        entry.kind = kind;
        entry.immutable = immutable;
        return coppice::Opaque{}.allows(transcript, {.entry = 0, .fate = fate, .text = "x"});
    };
    CHECK(allows(coppice::Kind::call, false));
    CHECK(allows(coppice::Kind::result, false));
    CHECK_FALSE(allows(coppice::Kind::call, true));
    CHECK_FALSE(allows(coppice::Kind::result, true));
    CHECK_FALSE(allows(coppice::Kind::reasoning, false));
    CHECK_FALSE(allows(coppice::Kind::user_text, false));
    CHECK(allows(coppice::Kind::user_text, false, coppice::Fate::elide));
    CHECK_FALSE(allows(coppice::Kind::user_text, true, coppice::Fate::elide));
    CHECK_FALSE(allows(coppice::Kind::assistant_text, false, coppice::Fate::elide));
    CHECK_FALSE(allows(coppice::Kind::assistant_text, false));
    CHECK_FALSE(allows(coppice::Kind::opaque, false));
}

TEST_CASE("opaque: reasoning that may leave does so where the tool loop is over") {
    coppice::Transcript transcript;
    // a person speaks in the first and the third of four messages, the model in the others
    for (const std::size_t turn : {0U, 0U, 2U, 2U}) {
        const bool user = transcript.messages.size() % 2 == 0;
        transcript.messages.push_back({user ? coppice::Role::user : coppice::Role::assistant, transcript.all().size(),
                                       {}, {}, turn});
        coppice::Entry& entry = transcript.add();
        entry.kind = user ? coppice::Kind::user_text : coppice::Kind::reasoning;
        entry.message = transcript.messages.size() - 1;
        entry.removable = !user;
        entry.immutable = true;
    }
    const auto allows = [&](std::size_t entry, std::size_t horizon) {
        transcript.set_horizon(horizon);
        return coppice::Opaque{}.allows(transcript, {.entry = entry, .fate = coppice::Fate::drop});
    };
    CHECK(allows(1, 4));
    CHECK(allows(1, 3));
    CHECK(allows(1, 2));  // a person begins to speak right behind it
    CHECK_FALSE(allows(1, 1));
    CHECK_FALSE(allows(1, 0));
    CHECK_FALSE(allows(3, 4));
    CHECK_FALSE(allows(0, 4));
    transcript.all()[1].removable = false;
    CHECK_FALSE(allows(1, 4));
    transcript.all()[1].removable = true;
    for (const coppice::Kind kind : {coppice::Kind::call, coppice::Kind::result, coppice::Kind::assistant_text,
                                     coppice::Kind::opaque}) {
        transcript.all()[1].kind = kind;
        transcript.all()[1].immutable = false;
        CHECK_FALSE(allows(1, 4));
    }
}

TEST_CASE("opaque: thinking and server tools and unknown blocks stay whatever a policy asks") {
    const Ordered encrypted = {{"type", "web_search_result"},
                               {"url", "u"},
                               {"title", "t"},
                               {"encrypted_content", std::string(9000, 'E')}};
    const Ordered searched = assistant_blocks(
        thinking(std::string(9000, 't')),
        Ordered{{"type", "redacted_thinking"}, {"data", std::string(9000, 'r')}},
        Ordered{{"type", "server_tool_use"},
                {"id", "srv1"},
                {"name", "web_search"},
                {"input", {{"content", std::string(9000, 'q')}}}},
        Ordered{{"type", "web_search_tool_result"}, {"tool_use_id", "srv1"}, {"content", list(encrypted)}},
        Ordered{{"type", "something_new"}, {"content", std::string(9000, 'n')}}, text(std::string(9000, 'a')),
        call_block("a", "Read", Ordered{{"content", std::string(9000, 'c')}}));
    const Ordered document =
        body(list(user(std::string(9000, 'u')), searched, result("a", Ordered(filler(0, 9000))),
                  message("system", Ordered(std::string(9000, 's'))), assistant("done")));
    const Pruned p = pruned_once(document, coppice::Pipeline{ClearAnything{}});
    Ordered expected = document;
    expected["messages"][1]["content"][6]["input"]["content"] =
        "[tool input cleared: 9000 characters; content]";
    expected["messages"][2]["content"][0]["content"] = "[tool result cleared: 9000 characters, ok; Read]";
    CHECK(p.after.dump() == expected.dump());
}

TEST_CASE("opaque: loaded tool references stay") {
    const Ordered loaded =
        list(Ordered{{"type", "tool_reference"}, {"tool_name", "x"}}, text(filler(0, 9000)));
    CHECK(pruned_once(session({loaded}), clear_all).unchanged());
}

TEST_CASE("opaque: the answers to a program and its calls stay") {
    Ordered block = call_block("a", "Read", Ordered{{"content", filler(0, 9000)}});
    block["caller"] = {{"type", "code_execution_20250825"}, {"tool_id", "srv"}};
    Ordered messages = list(user("start"), assistant_blocks(block), result("a", Ordered(filler(1, 9000))),
                            assistant("done"));
    CHECK(pruned_once(body(messages), clear_all).unchanged());
    messages[1]["content"][0]["caller"] = {{"type", "direct"}};
    CHECK(fates(pruned_once(body(messages), clear_all)) == "s");
}
