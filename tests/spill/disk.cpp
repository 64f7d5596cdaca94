// SPDX-License-Identifier: MIT
#include <coppice/spill/disk.hpp>

#include "support/allocations.hpp"
#include "support/pruned.hpp"
#include "support/scratch.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/spill.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

using coppice::DiskSpillStore;
using namespace support;

namespace {

std::string complaint(const fs::path& root, const std::string& shown_as = {}) {
    try {
        const DiskSpillStore store(root, {.session = std::string(300, 'x'), .shown_as = shown_as});
        return {};
    } catch (const std::invalid_argument& error) { return error.what(); }
}

const anthropic_validator::AllowedChanges unread_too = [] {
    anthropic_validator::AllowedChanges allowed;
    allowed.unread_results = true;
    return allowed;
}();

}  // namespace

TEST_CASE("disk store: what was put is in a file at its reference") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("chat-1"));
    for (const std::string& content : {std::string("full content"), std::string(),
                                       std::string("nul\0 and \xFF\n", 12), lines(1, 1'000'000)}) {
        const std::string reference = store.reference("call_1", content);
        CHECK_FALSE(store.try_put(reference, content));
        const bool read = store.get(reference) == content;
        CHECK(read);
        const bool found = file_text(reference) == content;
        CHECK(found);
        CHECK(reference.starts_with((scratch.root() / "s-chat-1" / "m-call_1-").string()));
    }
    CHECK(scratch.untouched());
    CHECK(scratch.temporaries().empty());
}

TEST_CASE("disk store: naming a place and making a store touches no disk") {
    const Scratch scratch;
    const DiskSpillStore store(scratch.root(), session("chat-1"));
    CHECK_FALSE(store.reference("call_1", "full content").empty());
    CHECK_FALSE(store.get(store.reference("call_1", "full content")).has_value());
    CHECK(store.list_all().contents.empty());
    CHECK_FALSE(store.list_all().error);
    CHECK_FALSE(fs::exists(scratch.root()));
}

TEST_CASE("disk store: a reference is a pure function that every process computes alike") {
    const DiskSpillStore one("/data/spill", session("s"));
    const DiskSpillStore other("/data/spill/", session("s"));
    const std::string reference = one.reference("call_1", "a content");
    CHECK(reference == other.reference("call_1", "a content"));
    // a hash that is pinned where names are tested
    CHECK(reference == "/data/spill/s-s/m-call_1-" + coppice::detail::hash_name("a content") + ".txt");
}

TEST_CASE("disk store: the model may know the root by another name") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), {.session = "s", .shown_as = "/mnt/spilled/"});
    const std::string reference = store.reference("call_1", "content");
    CHECK(reference.starts_with("/mnt/spilled/s-s/m-call_1-"));
    CHECK(store.put(reference, "content"));
    CHECK(store.get(reference) == "content");
    CHECK(store.list().contents.at(0).reference == reference);
    CHECK(fs::exists(scratch.root() / "s-s" / fs::path(reference).filename()));
}

TEST_CASE("disk store: a root or a name that cannot be used is refused at once") {
    CHECK(complaint("") == "coppice::DiskSpillStore: `root` is empty");
    const std::string own = "coppice::DiskSpillStore: `root` must name a directory of the store's own";
    for (const std::string& root : {std::string("/"), std::string("//"), std::string("."), std::string("./"),
                                    std::string(".."), std::string("/a/.."), std::string("/a\0b", 4)}) {
        CHECK(complaint(root) == own);
    }
    CHECK(complaint("/a", "/") == "coppice::DiskSpillStore: `shown_as` must name the root");
    CHECK(complaint("/a", "..") == "coppice::DiskSpillStore: `shown_as` must name the root");
    for (const std::string& root : {std::string("/a\nb"), std::string("/a\"b"), std::string("/a]b"),
                                    std::string("/a\\b"), std::string("/a  b"), std::string("/a b "),
                                    std::string("/\xC3\xA9"), "/" + std::string(400, 'x')}) {
        CHECK(complaint(root).find("`shown_as`") != std::string::npos);
        CHECK(complaint(root, "/mnt/spilled").empty());
        CHECK(complaint("/a", root).find("`shown_as`") != std::string::npos);
    }
    CHECK(complaint("/a b/c/.").empty());
    // as long as can be
    const std::size_t room = 512 - 2 - coppice::detail::id_component('s', std::string(300, 'x')).size() -
                             coppice::detail::content_name_limit;
    CHECK(complaint("/" + std::string(room - 1, 'x')).empty());
    CHECK_FALSE(complaint("/" + std::string(room, 'x')).empty());
}

TEST_CASE("disk store: the same content twice is one file that is written once") {
    const Scratch scratch;
    FaultyStore store(scratch.root(), session("s"));
    const Faults faults;
    const std::string reference = store.reference("call_1", "content");
    std::size_t writes = 0;
    std::size_t syncs = 0;
    FaultySystem::plan.before = [&](Call call, const char*) {
        writes += call == Call::write ? 1U : 0U;
        syncs += call == Call::sync ? 1U : 0U;
    };
    CHECK(store.put(reference, "content"));
    CHECK(writes == 1);
    CHECK(syncs == 4);  // where the root was made, file, session, root
    CHECK(store.put(reference, "content"));
    CHECK(writes == 1);
    CHECK(syncs == 4);
    // another store cannot know how far the writer came
    FaultyStore other(scratch.root(), session("s"));
    CHECK(other.put(reference, "content"));
    CHECK(writes == 1);
    CHECK(syncs == 7);
    CHECK(store.list().contents.size() == 1);
}

TEST_CASE("disk store: a file has its name only after it is whole and synced") {
    const Scratch scratch;
    FaultyStore store(scratch.root(), session("s"));
    const Faults faults({.short_writes = true});
    std::vector<Call> order;
    FaultySystem::plan.before = [&](Call call, const char*) {
        const bool matters = call == Call::write || call == Call::sync || call == Call::rename_new;
        if (matters && (order.empty() || order.back() != call)) { order.push_back(call); }
    };
    CHECK(store.put(store.reference("a", lines(0, 20'000)), lines(0, 20'000)));
    const std::vector<Call> expected = {Call::sync, Call::write, Call::sync, Call::rename_new, Call::sync};
    CHECK((order == expected));
}

TEST_CASE("disk store: a reference of another place or of another content is refused") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    const DiskSpillStore neighbour(scratch.root(), session("t"));
    const std::string good = store.reference("a", "content");
    const std::string root = scratch.root().string();
    const std::string file = good.substr(good.rfind('/') + 1);
    for (const std::string& reference : {std::string(),
                                         std::string("/etc/passwd"),
                                         std::string("memory:1"),
                                         root,
                                         root + "/",
                                         root + "/s-s",
                                         root + "/s-s/",
                                         root + "/s-s/x.txt",
                                         root + "/s-s/../" + file,
                                         root + "//s-s/" + file,
                                         root + "/s-s//" + file,
                                         root + "/../outside/" + file,
                                         root + "/S-s/" + file,
                                         good + "/",
                                         good + "x",
                                         good.substr(1),
                                         "/" + good,
                                         root + "x/s-s/" + file,
                                         good + std::string("\0", 1),
                                         root + "/s-s/" + coppice::detail::temporary_name(1, 2),
                                         neighbour.reference("a", "content"),
                                         store.reference("a", "another"),
                                         std::string(100'000, '/')}) {
        CHECK(store.try_put(reference, "content") == std::errc::invalid_argument);
    }
    CHECK_FALSE(fs::exists(scratch.root()));
    CHECK(store.put(good, "content"));
    CHECK(scratch.untouched());
}

TEST_CASE("disk store: contents of every session of the root can be read") {
    const Scratch scratch;
    DiskSpillStore one(scratch.root(), session("one"));
    const DiskSpillStore other(scratch.root(), session("other"));
    const std::string reference = one.reference("a", "content");
    CHECK(one.put(reference, "content"));
    CHECK(other.get(reference) == "content");
    CHECK_FALSE(other.get(other.reference("a", "content")).has_value());
    for (const std::string& hostile : {std::string(), std::string("/etc/passwd"), scratch.root().string(),
                                       (scratch.outside() / "theirs.txt").string()}) {
        CHECK_FALSE(other.get(hostile).has_value());
    }
}

TEST_CASE("disk store: what is not as it was stored is not read") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    const std::string reference = store.reference("a", "content");
    CHECK(store.put(reference, "content"));
    write_text(reference, "conteNt");
    CHECK_FALSE(store.get(reference).has_value());
    CHECK(store.try_put(reference, "content") == std::errc::file_exists);
    CHECK(file_text(reference) == "conteNt");
    write_text(reference, "");
    CHECK_FALSE(store.get(reference).has_value());
    CHECK_FALSE(store.put(reference, "content"));
    fs::remove(reference);
    CHECK(store.put(reference, "content"));
}

TEST_CASE("disk store: modes are private whatever the umask") {
    for (const ::mode_t mask : {::mode_t{0}, ::mode_t{0777}, ::mode_t{022}}) {
        const Scratch scratch;
        CHECK(as_nobody((fs::create_directory(scratch.top() / "home"), scratch.top() / "home"), [&] {
                  ::umask(mask);
                  const fs::path root = scratch.top() / "home" / "root";
                  DiskSpillStore store(root, session("s"));
                  const std::string reference = store.reference("a", "content");
                  if (!store.put(reference, "content")) { return 1; }
                  if (store.get(reference) != "content") { return 2; }
                  if (mode_of(reference) != 0600) { return 3; }
                  if (mode_of(root / "s-s") != 0700) { return 4; }
                  return mode_of(root) == 0700 ? 0 : 5;
              }) == 0);
    }
}

TEST_CASE("disk store: an old session directory is tightened and an old root stays as it is") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    for (const ::mode_t mode :
         {::mode_t{0777}, ::mode_t{0755}, ::mode_t{0}, ::mode_t{0300}, ::mode_t{02770}}) {
        fs::create_directories(scratch.root() / "s-s");
        REQUIRE(::chmod(scratch.root().c_str(), 0751) == 0);
        REQUIRE(::chmod((scratch.root() / "s-s").c_str(), mode) == 0);
        CHECK(store.put(store.reference("a", "content"), "content"));
        CHECK(mode_of(scratch.root() / "s-s") == 0700);
        CHECK(mode_of(scratch.root()) == 0751);
    }
}

TEST_CASE("disk store: a content above the limit is refused and nothing is cut") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), {.session = "s", .most_bytes = 1000});
    const std::string fits = lines(0, 1000);
    const std::string above = lines(0, 997) + "\xF0\x9F\x98\x80";
    CHECK(store.put(store.reference("a", fits), fits));
    CHECK(store.try_put(store.reference("a", above), above) == std::errc::file_too_large);
    CHECK(store.list().contents.size() == 1);
    CHECK(scratch.temporaries().empty());
}

TEST_CASE("disk store: the limit of files counts what is stored and no attempts") {
    const Scratch scratch;
    FaultyStore store(scratch.root(), {.session = "s", .most_files = 8});
    const Faults faults;
    std::string fates;
    std::size_t failing = 3;
    FaultySystem::plan.before = [&failing](Call call, const char*) {
        if (call != Call::write || failing == 0) { return; }
        --failing;
        FaultySystem::plan.fail_at = FaultySystem::plan.calls + 1;
        FaultySystem::plan.error = ENOSPC;
    };
    for (std::size_t i = 0; i < 20; ++i) {
        const std::string content = lines(i, 5000);
        const std::string reference = store.reference("call_" + std::to_string(i), content);
        const bool put = store.put(reference, content);
        fates += put ? 'p' : '-';
        const bool read = store.get(reference) == content;
        CHECK(read == put);
    }
    CHECK(fates == "---" + std::string(8, 'p') + std::string(9, '-'));
    // what is there already is no new file, another session has a limit of its own, and a removed one makes room
    CHECK(store.put(store.reference("call_3", lines(3, 5000)), lines(3, 5000)));
    const std::error_code full = store.try_put(store.reference("b", "x"), "x");
    CHECK(full.value() == EDQUOT);
    FaultyStore other(scratch.root(), {.session = "t", .most_files = 8});
    CHECK(other.put(other.reference("b", "x"), "x"));
    CHECK_FALSE(store.remove(store.reference("call_3", lines(3, 5000))));
    CHECK(store.put(store.reference("b", "x"), "x"));
    FaultyStore none(scratch.root(), {.session = "u", .most_files = 0});
    CHECK_FALSE(none.put(none.reference("b", "x"), "x"));
    CHECK(scratch.temporaries().empty());
}

TEST_CASE("disk store: what is no content does not count towards the limit of files") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), {.session = "s", .most_files = 1});
    fs::create_directories(scratch.root() / "s-s");
    write_text(scratch.root() / "s-s" / coppice::detail::temporary_name(1, 2), "half");
    write_text(scratch.root() / "s-s" / "notes.txt", "a stranger's");
    CHECK(store.put(store.reference("a", "content"), "content"));
    CHECK_FALSE(store.put(store.reference("b", "content"), "content"));
}

TEST_CASE("disk store: a path or a command that mentions the store is known") {
    const DiskSpillStore store("/data/spill", {.session = "s", .shown_as = "work/spilled"});
    for (const std::string& text :
         {store.reference("a", "b"), "cat " + store.reference("a", "b"),
          std::string("/data/spill/s-x/m-y.txt"), std::string("grep -r x /data/spill"),
          std::string("cat </data/spill/s-x/y"), std::string("tail '/data/spill'"),
          std::string("-f/data/spill/x"), std::string("./work/spilled/s-x"),
          std::string("cd work/spilled && ls"), std::string("/home/me/work/spilled/s-x"),
          std::string("\0/data/spill/", 13), std::string("/data/spill2 /data/spill/")}) {
        CAPTURE(text);
        CHECK(store.refers(text));
    }
    for (const std::string& text :
         {std::string(), std::string("/data"), std::string("/data/spil"), std::string("/data/spill2/x"),
          std::string("/data/spill.txt"), std::string("/data/spill-old/x"),
          std::string("/data/spill\xC3\xA9/x"), std::string("homework/spilled/x"),
          std::string("work/spilledx"), std::string("work / spilled/"), std::string("/data/./spill"),
          std::string(100'000, '/')}) {
        CAPTURE(text);
        CHECK_FALSE(store.refers(text));
    }
    CHECK(DiskSpillStore("./spill", session("s")).refers("cat spill/s-x/y"));
    CHECK(DiskSpillStore("./spill", session("s")).refers("cat ./spill/s-x/y"));
}

TEST_CASE("disk store: a pipeline spills into it and two stores give the same bytes") {
    const Scratch scratch;
    const Ordered document = session_of_sizes({60'000, 70'000, 300});
    std::vector<std::string> bytes;
    for (int run = 0; run < 2; ++run) {
        DiskSpillStore store(scratch.root(), session("chat"));
        const coppice::Pipeline pipeline{
            coppice::Spill<coppice::Size{50'000}, DiskSpillStore>{.store = &store}};
        const Pruned p = pruned(document, pipeline, unread_too);
        CHECK(fates(p) == "pp-");
        for (std::size_t i = 0; i < 2; ++i) {
            const std::string preview = text_of(result_content(p.after, i));
            const std::size_t at = preview.find("stored at ") + 10;
            const std::string reference = preview.substr(at, preview.find(']', at) - at);
            const bool whole = store.get(reference) == filler(i, i == 0 ? 60'000 : 70'000);
            CHECK(whole);
            CHECK(store.refers("cat " + reference));
        }
        bytes.push_back(p.after.dump());
        CHECK(store.list().contents.size() == 2);
    }
    const bool same = bytes.at(0) == bytes.at(1);
    CHECK(same);
    CHECK(scratch.untouched());
}

TEST_CASE("disk store: where it cannot write a pipeline leaves the content in place") {
    const Scratch scratch;
    DiskSpillStore store(scratch.top() / "missing" / "root", session("chat"));
    const Pruned p = pruned_once(
        session_of_sizes({60'000}),
        coppice::Pipeline{coppice::Spill<coppice::Size{50'000}, DiskSpillStore>{.store = &store}});
    CHECK(p.unchanged());
    CHECK_FALSE(p.report.engaged);
}

TEST_CASE("disk store: memory that ends is a refusal") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    const std::string content = lines(0, 3000);
    const std::string reference = store.reference("call_1", content);
    std::size_t refusals = 0;
    for (std::size_t allowed = 0; allowed < 100; ++allowed) {
        heap.until_refusal = allowed;
        const std::error_code error = store.try_put(reference, content);
        heap.until_refusal = static_cast<std::size_t>(-1);
        if (!error) { break; }
        ++refusals;
        CHECK(error == std::errc::not_enough_memory);
        CHECK(scratch.temporaries().empty());
    }
    CHECK(refusals > 0);
    const bool read = store.get(reference) == content;
    CHECK(read);
}

TEST_CASE("disk store: it tells whether a reference leads to a content") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    const std::string reference = store.reference("a", "content");
    CHECK(!store.holds(reference));
    CHECK(store.put(reference, "content"));
    CHECK(store.holds(reference));
    CHECK(DiskSpillStore(scratch.root(), session("other")).holds(reference));
    for (const std::string& other : {std::string(), std::string("/etc/passwd"), reference + "x",
                                     reference.substr(1), store.reference("a", "other")}) {
        CHECK(!store.holds(other));
    }
}
