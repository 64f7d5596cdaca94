// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"

#include <coppice/coppice.hpp>
#include <coppice/tags.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace support;

TEST_CASE("B88: one result that could not be stored takes no place from the others") {
    struct FirstThreeFail {
        coppice::MemorySpillStore memory;
        std::size_t puts = 0;
        std::string reference(std::string_view id, std::string_view content) const {
            return memory.reference(id, content);
        }
        bool put(std::string_view reference, std::string_view content) {
            return puts++ >= 3 && memory.put(reference, content);
        }
    } store;
    const Pruned p = pruned_once(
        session_of_sizes(std::vector<std::size_t>(20, 60'000)),
        coppice::Pipeline{coppice::Spill<coppice::Size{50'000}, FirstThreeFail>{.store = &store}});
    CHECK(fates(p) == "---" + times(17, 'p'));
    CHECK(store.memory.size() == 17);
}

TEST_CASE("B88: in every dialect one result that could not be stored takes no place from the others") {
    struct FirstThreeFail {
        coppice::MemorySpillStore memory;
        std::size_t puts = 0;
        std::string reference(std::string_view id, std::string_view content) const {
            return memory.reference(id, content);
        }
        bool put(std::string_view reference, std::string_view content) {
            return puts++ >= 3 && memory.put(reference, content);
        }
    };
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < 20; ++i) { texts.push_back(filler(i, 60'000)); }
    in_every_dialect([&texts](const Spelling& in) {
        FirstThreeFail store;
        const Pruned p = pruned_once(
            in.session(texts),
            coppice::Pipeline{coppice::Spill<coppice::Size{50'000}, FirstThreeFail>{.store = &store}});
        CHECK(in.fates(p) == "---" + times(17, 'p'));
        CHECK(store.memory.size() == 17);
        for (std::size_t i = 3; i < 20; ++i) {
            const std::string reference(coppice::PlainWording{}.recognise(in.text(p.after, i)).reference);
            const bool whole = store.memory.get(reference) == texts[i];
            CHECK(whole);
        }
    });
}

TEST_CASE("B95: text that mentions a tag of ours keeps its bytes where it is stored") {
    const coppice::FenceTags tags = coppice::OpenSwarmRecapWording{}.tags;
    std::string source = "const char* open = \"<openswarm_platform_note>\";\n";
    while (source.size() < 60'000) {
        source += "// \"</openswarm_platform_note>\" & &lt; \xC3\xA9 <b>\t\r\n";
    }
    source += "const char* close = \"</ OpenSwarm-Platform-Note >\";\n" + std::string(1, '\0');
    const auto spilled = [&](const auto& words) {
        coppice::MemorySpillStore store;
        const Pruned p = pruned_once(session({Ordered(source)}),
                                     coppice::Pipeline{coppice::Spill<>{.store = &store}, words});
        const std::string preview = text_of(result_content(p.after, 0));
        const bool whole = store.get(std::string(words.recognise(preview).reference)) == source;
        CHECK(whole);
        CHECK(store.size() == 1);
        return preview;
    };
    // what is shown without a fence is shown as it is
    const std::string plain = spilled(coppice::PlainWording{});
    const bool as_it_is = plain.substr(0, 1800) == coppice::first_chars(source, 1800).substr(0, 1800);
    CHECK(as_it_is);
    // beside a fence only the brackets of tags are spelled otherwise
    const std::string fenced = spilled(coppice::OpenSwarmWording{});
    CHECK(fenced.substr(0, 53) == "const char* open = \"&lt;openswarm_platform_note&gt;\";");
    const std::string_view quoted =
        std::string_view(fenced).substr(0, fenced.rfind("<openswarm_platform_note>"));
    CHECK(coppice::find_tag(quoted, tags) == std::string_view::npos);
    CHECK(quoted.find(" & &lt; \xC3\xA9 <b>\t\r\n") != std::string_view::npos);
}

TEST_CASE("B95: in every dialect text that mentions a tag of ours keeps its bytes where it is stored") {
    std::string source = "const char* open = \"<openswarm_platform_note>\";\n";
    while (source.size() < 60'000) { source += "// \"</openswarm_platform_note>\" & &lt; \xC3\xA9\t\r\n"; }
    source += std::string(1, '\0');
    in_every_dialect([&source](const Spelling& in) {
        coppice::MemorySpillStore store;
        const coppice::OpenSwarmWording words;
        const Pruned p =
            pruned(in.session({source}), coppice::Pipeline{coppice::Spill<>{.store = &store}, words});
        const std::string preview = in.text(p.after, 0);
        const bool whole = store.get(std::string(words.recognise(preview).reference)) == source;
        CHECK(whole);
        CHECK(preview.substr(0, 53) == "const char* open = \"&lt;openswarm_platform_note&gt;\";");
    });
}
