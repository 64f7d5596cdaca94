// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>
#include <coppice/tags.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

using namespace std::string_literals;

bool is_printable(const std::string& words) {
    return std::all_of(words.begin(), words.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// Bytes that are no UTF-8: alone, cut off, longer than needed, half a surrogate pair.
const std::vector<std::string> no_text = {"\xFF", "\xE5", "\xC0\xAF", "\xED\xA0\xBD\xED\xB8\x80",
                                          "\xF0\x9F\x98"};

}  // namespace

TEST_CASE("B63 B64: no character is cut in two in a preview or a stub") {
    coppice::MemorySpillStore store;
    for (const std::string wide : {"\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"}) {
        for (std::size_t shift = 0; shift <= 8; ++shift) {
            CAPTURE(shift);
            const std::string content = std::string(1800 - 4 + shift, 'a') + wide + std::string(60'000, 'm') +
                                        wide + std::string(1200 - 4 + shift, 'b');
            Ordered messages = list(user("start"));
            add_pair(messages, "t1", "Read",
                     Ordered{{"file_path", std::string(50 + shift, 'p') + wide + std::string(90, 'q')}},
                     Ordered(content), true);
            messages.push_back(assistant("done"));
            const Pruned preview =
                pruned_once(body(messages), coppice::Pipeline{coppice::Spill<>{.store = &store}});
            REQUIRE(fates(preview) == "p");
            CHECK(anthropic_validator::detail::is_utf8(text_of(result_content(preview.after, 0))));
            CHECK_NOTHROW((void)preview.after.dump());
            const std::string stub = text_of(result_content(pruned(body(messages), clear_all).after, 0));
            CHECK(std::all_of(stub.begin(), stub.end(), [](char c) { return c >= 0x20 && c < 0x7F; }));
        }
    }
}

TEST_CASE("B63 B64: in every dialect no character is cut in two in a preview or a stub") {
    in_every_dialect([](const Spelling& in) {
        coppice::MemorySpillStore store;
        const coppice::Pipeline spilling{coppice::Spill<>{.store = &store}};
        for (const std::string wide : {"\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"}) {
            for (std::size_t shift = 0; shift <= 8; ++shift) {
                CAPTURE(shift);
                const std::string content = "Error: " + std::string(1800 - 11 + shift, 'a') + wide +
                                            std::string(50'000, 'm') + wide +
                                            std::string(1200 - 4 + shift, 'b');
                Ordered messages = list(in.user("start"));
                in.add_pair(
                    messages,
                    {"t1", "Read",
                     Ordered{{"file_path", std::string(50 + shift, 'p') + wide + std::string(90, 'q')}}},
                    content, true);
                messages.push_back(in.assistant("done"));
                const Pruned preview = pruned_alike(in.body(messages), spilling);
                REQUIRE(in.fates(preview) == "p");
                CHECK(anthropic_validator::detail::is_utf8(in.text(preview.after, 0)));
                const std::string stub = in.text(pruned_alike(in.body(messages), clear_all).after, 0);
                CHECK(stub.find("first line: ") != std::string::npos);
                CHECK(is_printable(stub));
            }
        }
    });
}

TEST_CASE("B65: in every dialect bytes that are no UTF-8 leave the body as it was and are quoted nowhere") {
    in_every_dialect([](const Spelling& in) {
        for (const std::string& bad : no_text) {
            for (const std::string place : {"HERE", "/src/0.c", "start"}) {
                std::string bytes = in.session({"HERE" + std::string(9000, 'x')}).dump();
                bytes.replace(bytes.find(place), place.size(), bad);
                const coppice::PrunedBody left = coppice::prune(bytes, clear_all);
                CHECK_FALSE(left.report.engaged);
                CHECK(left.report.why.find("not valid JSON at byte ") == 0);
                CHECK(is_printable(left.report.why));
                const bool same = left.bytes(bytes).data() == bytes.data();
                CHECK(same);
            }
        }
    });
}

TEST_CASE("B65: in every dialect a DOM may hold bytes that are no UTF-8 anywhere") {
    in_every_dialect([](const Spelling& in) {
        coppice::MemorySpillStore store;
        const coppice::Pipeline spilling{coppice::Spill<>{.store = &store}};
        for (const std::string& bad : no_text) {
            Ordered messages = list(in.user("start" + bad));
            // no string that holds JSON can be dumped with them in it
            const bool packed =
                in.is(coppice::Dialect::openai_chat) || in.is(coppice::Dialect::openai_responses);
            in.add_pair(messages, {"t1", "Read" + bad, Ordered{{"file_path", packed ? "/a" : "/a" + bad}}},
                        "Error: " + bad + filler(0, 60'000) + bad + "\n" + bad, true);
            messages.push_back(in.assistant("done" + bad));
            Ordered document = in.body(messages);
            const coppice::Report report = coppice::prune(document, clear_all);
            CHECK(report.engaged);
            CHECK(is_printable(in.text(document, 0)));
            CHECK_NOTHROW((void)coppice::to_json(report).dump());
            const bool spoken = in.messages(document)[0] == messages[0];
            CHECK(spoken);
            Ordered kept = in.body(messages);
            CHECK_NOTHROW((void)coppice::prune(kept, spilling));
        }
    });
}

TEST_CASE("B68: in every dialect control characters and line separators are in no stub and edits shrink") {
    in_every_dialect([](const Spelling& in) {
        coppice::MemorySpillStore store;
        const coppice::Pipeline spilling{coppice::Spill<>{.store = &store}};
        std::string red = "Error: \x1B[31m red \xE2\x80\xA8 next \0\x7F \xE2\x80\xA9 end"s;
        for (int i = 0; i < 20'000; ++i) { red += "\x1B[31m"; }
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"t1", "Read", Ordered{{"file_path", "/a\xE2\x80\xA8\x1B[0m\n.c"}}}, red, true);
        messages.push_back(in.assistant("done"));
        const Pruned stub = pruned(in.body(messages), clear_all);
        CHECK(in.fates(stub) == "s");
        CHECK(is_printable(in.text(stub.after, 0)));
        const Pruned preview = pruned(in.body(messages), spilling);
        REQUIRE(in.fates(preview) == "p");
        // what is quoted is quoted as it was, and counted as it is written
        CHECK(preview.report.edits.at(0).bytes_after < 6 * 4000 + 200);
        // six bytes for one are still fewer than there were
        const std::string controls = std::string(50'001, '\x01');
        CHECK(in.fates(pruned(in.session({controls}), spilling)) == "p");
        const Pruned least = pruned(in.session({std::string(20, '\x01')}), clear_all);
        CHECK(least.unchanged());
    });
}

TEST_CASE("B73: tags that nothing ends and openers without number take no stack") {
    const coppice::FenceTags tags = coppice::OpenSwarmRecapWording{}.tags;
    const std::string opener = "<openswarm_platform_note ";
    std::string many;
    for (int i = 0; i < 20'000; ++i) { many += opener; }
    for (const std::string& hostile :
         {opener + std::string(200'000, 'a') + ">", many, opener + std::string(200'000, ' '),
          std::string(200'000, '<'), "</" + std::string(200'000, '/') + opener}) {
        for (const coppice::Defuse way : {coppice::Defuse::quoted, coppice::Defuse::entity}) {
            coppice::FenceTags as = tags;
            as.defuse = way;
            std::string harmless;
            coppice::append_neutralised(harmless, hostile, as);
            CHECK(coppice::find_tag(harmless, as) == std::string::npos);
            std::string again;
            coppice::append_neutralised(again, harmless, as);
            const bool same = again == harmless;
            CHECK(same);
        }
        // beside the library's own words in a transcript
        in_every_dialect([&hostile](const Spelling& in) {
            coppice::MemorySpillStore store;
            const coppice::Pipeline fenced{coppice::Spill<>{.store = &store}, coppice::OpenSwarmWording{}};
            Ordered document = in.session({hostile});
            coppice::prune(document, fenced);
            CHECK(store.size() == 1);
        });
    }
}
