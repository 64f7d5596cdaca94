// SPDX-License-Identifier: MIT
// Faults that users of such systems reported, each reduced to its kind: what went wrong there, and the right
// value.
#include "support/dialects.hpp"
#include "support/scratch.hpp"

#include <coppice/coppice.hpp>
#include <coppice/spill/disk.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using coppice::DiskSpillStore;
using namespace support;

namespace {

using Spilling = coppice::Pipeline<coppice::Spill<coppice::Size{50'000}, DiskSpillStore>>;

Spilling into(DiskSpillStore& store) {
    return Spilling{coppice::Spill<coppice::Size{50'000}, DiskSpillStore>{.store = &store}};
}

const std::vector<std::string> hostile_ids = {
    "../../x", "/abs", "..", ".", "", std::string("a\0b", 3), "a\r\nb", "a\\b", "con", std::string(300, 'x')};

bool is_component(const std::string& name) {
    return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
                      c == '%' || c == '=' || c == '~' || c == '+' || c == ',';
           });
}

// For a store that refuses: planning knows nothing of that.
Pruned pruned_twice(const Ordered& document, const Spilling& pipeline) {
    Pruned out = pruned_once(document, pipeline);
    const std::string bytes = document.dump();
    const coppice::PrunedBody pruned = coppice::prune(bytes, pipeline);
    const bool same = pruned.bytes(bytes) == out.after.dump();
    CHECK(same);
    return out;
}

}  // namespace

TEST_CASE("B81: in every dialect no id of a session or of a call leads out of the root") {
    in_every_dialect([](const Spelling& in) {
        const Scratch scratch;
        std::set<std::string> references;
        for (const std::string& id : hostile_ids) {
            CAPTURE(id.substr(0, 20));
            DiskSpillStore store(scratch.root(), {.session = id});
            Ordered messages = list(in.user("start"));
            in.add_pair(messages, {id}, filler(0, 60'000));
            messages.push_back(in.assistant("done"));
            const Pruned p = pruned_alike(in.body(messages), into(store));
            // without an id nothing tells in some dialects that the two belong together
            if (id.empty() && in.fates(p) == "-") { continue; }
            REQUIRE(in.fates(p) == "p");
            const std::string preview = in.text(p.after, 0);
            const std::string reference(coppice::PlainWording{}.recognise(preview).reference);
            references.insert(reference);
            const bool whole = file_text(reference) == filler(0, 60'000);
            CHECK(whole);
            const fs::path place = fs::canonical(reference);
            CHECK(place.parent_path().parent_path() == fs::canonical(scratch.root()));
            CHECK(is_component(place.filename().string()));
            CHECK(is_component(place.parent_path().filename().string()));
        }
        CHECK(references.size() >= hostile_ids.size() - 1);
        CHECK(scratch.untouched());
    });
}

TEST_CASE("B87: what a transcript still points at stays and everything else can be removed") {
    in_every_dialect([](const Spelling& in) {
        const Scratch scratch;
        std::vector<Ordered> transcripts;
        for (const std::string name : {"one", "two", "three"}) {
            DiskSpillStore store(scratch.root(), {.session = name});
            std::vector<std::string> texts;
            for (std::size_t i = 0; i < 8; ++i) { texts.push_back(name + filler(i, 60'000)); }
            Ordered document = in.session(texts);
            CHECK(coppice::prune(document, into(store)).edits.size() == 8);
            transcripts.push_back(std::move(document));
        }
        DiskSpillStore second(scratch.root(), {.session = "two"});
        CHECK(second.list().contents.size() == 8);
        CHECK(second.list_all().contents.size() == 24);
        // of the second only the newest three are still there
        Ordered& messages = transcripts[1][in.list_key()];
        messages.erase(messages.begin() + 1, messages.begin() + 11);
        const std::string left = messages.dump();
        const coppice::SpillRemoval removal = second.remove_unreferenced(
            [&left](std::string_view reference) { return left.find(reference) != std::string::npos; });
        CHECK_FALSE(removal.error);
        CHECK(removal.contents == 5);
        CHECK(second.list().contents.size() == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            const std::string reference(
                coppice::PlainWording{}.recognise(in.text(transcripts[1], i)).reference);
            const bool whole = second.get(reference) == "two" + filler(i + 5, 60'000);
            CHECK(whole);
        }
        // a session that is over goes alone
        CHECK(DiskSpillStore(scratch.root(), {.session = "three"}).remove_session().contents == 8);
        CHECK(second.list_all().contents.size() == 11);
        CHECK(scratch.untouched());
    });
}

TEST_CASE("B87: a content above the limit of a file is not cut but stays in the transcript") {
    in_every_dialect([](const Spelling& in) {
        const Scratch scratch;
        DiskSpillStore store(scratch.root(), {.session = "s", .most_bytes = 60'000});
        const std::string above = filler(0, 59'997) + "\xF0\x9F\x98\x80";
        const Pruned p = pruned_twice(in.session({filler(0, 60'000), above}), into(store));
        CHECK(in.fates(p) == "p-");
        CHECK(store.list().contents.size() == 1);
        CHECK(scratch.temporaries().empty());
    });
}

TEST_CASE("B88: the limit of files counts what was written and each result names its own place") {
    in_every_dialect([](const Spelling& in) {
        const Scratch scratch;
        DiskSpillStore store(scratch.root(), {.session = "s", .most_files = 8});
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < 20; ++i) { texts.push_back(filler(i, 60'000)); }
        const Pruned p = pruned_twice(in.session(texts), into(store));
        CHECK(in.fates(p) == times(8, 'p') + times(12, '-'));
        std::set<std::string> places;
        for (std::size_t i = 0; i < 8; ++i) {
            places.emplace(coppice::PlainWording{}.recognise(in.text(p.after, i)).reference);
        }
        CHECK(places.size() == 8);
    });
}
