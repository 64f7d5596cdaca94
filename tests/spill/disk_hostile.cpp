// SPDX-License-Identifier: MIT
#include <coppice/spill/disk.hpp>

#include "support/scratch.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

using coppice::DiskSpillStore;
using namespace support;

namespace {

const std::vector<std::string> hostile_ids = {
    "../../x",
    "/abs",
    "..",
    ".",
    "",
    std::string("a\0b", 3),
    std::string("\0", 1),
    "a\r\nb",
    "con",
    "CON",
    "-rf",
    "a/b",
    "a\\b",
    "id",
    "ID",
    "Id",
    "\xE4\xB8\xAD\xE6\x96\x87",
    "\xFF\xFE",
    "~",
    "$(x)",
    std::string(300, 'x'),
    std::string(301, 'x'),
    std::string(300, 'X'),
    std::string(100'000, '/'),
    std::string(100'000, '\xE9'),
};

// Where the reference is, a store may not put anything, and says so without waiting.
void check_refused(const Scratch& scratch, const std::string& reference) {
    const auto before = snapshot(scratch.top());
    CHECK(in_child([&] {
              DiskSpillStore store(scratch.root(), session("s"));
              if (store.put(reference, "content")) { return 1; }
              return store.get(reference) ? 2 : 0;
          }) == 0);
    const bool same = snapshot(scratch.top()) == before;
    CHECK(same);
    CHECK(scratch.untouched());
}

std::string reference_in(const Scratch& scratch) {
    return DiskSpillStore(scratch.root(), session("s")).reference("a", "content");
}

}  // namespace

TEST_CASE("disk store: hostile ids stay below the root and apart") {
    const Scratch scratch;
    std::set<std::string> references;
    for (const std::string& session_id : hostile_ids) {
        DiskSpillStore store(scratch.root(), session(session_id));
        for (const std::string& id : hostile_ids) {
            const std::string reference = store.reference(id, "content");
            references.insert(reference);
            CHECK(reference.size() <= 512);
            std::string safe;
            coppice::append_safe(safe, reference, 512);
            CHECK(safe == reference);
        }
        const std::string reference = store.reference(session_id, "content");
        CHECK(store.put(reference, "content"));
        CHECK(store.get(reference) == "content");
        const fs::path place = fs::canonical(reference);
        CHECK(place.parent_path().parent_path() == fs::canonical(scratch.root()));
    }
    CHECK(references.size() == hostile_ids.size() * hostile_ids.size());
    CHECK(scratch.untouched());
    const coppice::SpillManifest manifest = DiskSpillStore(scratch.root(), session("")).list_all();
    CHECK(manifest.contents.size() == hostile_ids.size());
    std::set<std::string> read;
    for (const coppice::StoredContent& content : manifest.contents) {
        CHECK(content.id == content.session);
        if (content.id) { read.insert(*content.id); }
    }
    for (const std::string& id : hostile_ids) { CHECK(read.contains(id) == (id.size() < 50)); }
}

TEST_CASE("disk store: one id with hostile contents has a file for each") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    for (const std::string& content : hostile_ids) {
        CHECK(store.put(store.reference("../id", content), content));
    }
    for (const std::string& content : hostile_ids) {
        const bool same = store.get(store.reference("../id", content)) == content;
        CHECK(same);
    }
    CHECK(store.list().contents.size() == hostile_ids.size());
}

TEST_CASE("disk store: a root that is a link is refused") {
    const Scratch scratch;
    fs::create_directory_symlink("outside", scratch.root());
    check_refused(scratch, reference_in(scratch));
    DiskSpillStore store(scratch.root(), session("s"));
    CHECK(store.list_all().error);
    CHECK(store.remove_session().error);
    fs::remove(scratch.root());
    fs::create_directory_symlink("nowhere", scratch.root());
    check_refused(scratch, reference_in(scratch));
    CHECK_FALSE(fs::exists(scratch.top() / "nowhere"));
}

TEST_CASE("disk store: a root that is no directory is refused") {
    const Scratch scratch;
    write_text(scratch.root(), "a file");
    check_refused(scratch, reference_in(scratch));
    fs::remove(scratch.root());
    REQUIRE(::mkfifo(scratch.root().c_str(), 0600) == 0);
    check_refused(scratch, reference_in(scratch));
}

TEST_CASE("disk store: a session directory that is a link or a pipe or a file is refused") {
    const Scratch scratch;
    const fs::path place = scratch.root() / "s-s";
    fs::create_directory(scratch.root());
    // one that has the very file, so that reading would show it
    write_text(scratch.outside() / fs::path(reference_in(scratch)).filename(), "content");
    const auto before = snapshot(scratch.outside());
    const std::vector<std::function<void()>> plants = {
        [&] { fs::create_directory_symlink("../outside", place); },
        [&] { fs::create_directory_symlink("nowhere", place); },
        [&] { REQUIRE(::mkfifo(place.c_str(), 0600) == 0); },
        [&] { write_text(place, "a file"); },
    };
    for (const auto& plant : plants) {
        plant();
        CHECK(in_child([&] {
                  DiskSpillStore store(scratch.root(), session("s"));
                  if (store.put(reference_in(scratch), "content")) { return 1; }
                  if (store.get(reference_in(scratch))) { return 2; }
                  if (!store.remove(reference_in(scratch))) { return 3; }
                  if (!store.remove_session().error) { return 4; }
                  return store.list_all().contents.empty() ? 0 : 5;
              }) == 0);
        fs::remove(place);
    }
    const bool same = snapshot(scratch.outside()) == before;
    CHECK(same);
}

TEST_CASE("disk store: a session directory of somebody else is refused") {
    if (::geteuid() != 0) { return; }  // nobody else can make one
    const Scratch scratch;
    fs::create_directories(scratch.root() / "s-s");
    REQUIRE(::chown((scratch.root() / "s-s").c_str(), 65'534, 65'534) == 0);
    check_refused(scratch, reference_in(scratch));
    write_text(reference_in(scratch), "content");
    CHECK_FALSE(DiskSpillStore(scratch.root(), session("s")).get(reference_in(scratch)).has_value());
}

TEST_CASE("disk store: a file of somebody else is not taken for ours") {
    if (::geteuid() != 0) { return; }  // nobody else can make one
    const Scratch scratch;
    fs::create_directories(scratch.root() / "s-s");
    REQUIRE(::chmod((scratch.root() / "s-s").c_str(), 0700) == 0);
    write_text(reference_in(scratch), "content");
    REQUIRE(::chown(reference_in(scratch).c_str(), 65'534, 65'534) == 0);
    check_refused(scratch, reference_in(scratch));
}

TEST_CASE("disk store: whatever else has the name is refused and stays") {
    const Scratch scratch;
    const std::string place = reference_in(scratch);
    fs::create_directories(scratch.root() / "s-s");
    REQUIRE(::chmod((scratch.root() / "s-s").c_str(), 0700) == 0);
    const fs::path theirs = scratch.outside() / "theirs.txt";
    const std::vector<std::function<void()>> plants = {
        [&] { fs::create_symlink(theirs, place); },     [&] { fs::create_symlink("nowhere", place); },
        [&] { fs::create_symlink(place, place); },      [&] { REQUIRE(::mkfifo(place.c_str(), 0600) == 0); },
        [&] { fs::create_directory(place); },           [&] { write_text(place, "conteNt"); },
        [&] { write_text(place, "content and more"); }, [&] { write_text(place, ""); },
    };
    for (const auto& plant : plants) {
        plant();
        check_refused(scratch, place);
        fs::remove(place);
    }
}

TEST_CASE("disk store: a pipe is not taken for an empty content") {
    const Scratch scratch;
    const std::string place = DiskSpillStore(scratch.root(), session("s")).reference("a", "");
    fs::create_directories(scratch.root() / "s-s");
    REQUIRE(::mkfifo(place.c_str(), 0600) == 0);
    CHECK(in_child([&] {
              DiskSpillStore store(scratch.root(), session("s"));
              if (store.put(place, "")) { return 1; }
              return store.get(place) ? 2 : 0;
          }) == 0);
}

TEST_CASE("disk store: a pipe that comes between looking and opening keeps nobody waiting") {
    const Scratch scratch;
    DiskSpillStore(scratch.root(), session("s")).put(reference_in(scratch), "content");
    CHECK(in_child([&] {
              bool first = true;
              FaultySystem::plan.before = [&](Call call, const char* name) {
                  if (call != Call::open || !coppice::detail::read_content_name(name) || !first) { return; }
                  first = false;
                  fs::remove(reference_in(scratch));
                  if (::mkfifo(reference_in(scratch).c_str(), 0600) != 0) { ::_exit(3); }
              };
              FaultyStore store(scratch.root(), session("s"));
              return store.put(reference_in(scratch), "content") || first ? 1 : 0;
          }) == 0);
}

TEST_CASE("disk store: a link to a file that holds the content is refused") {
    const Scratch scratch;
    const fs::path place = reference_in(scratch);
    fs::create_directories(place.parent_path());
    REQUIRE(::chmod(place.parent_path().c_str(), 0700) == 0);
    write_text(scratch.root() / "same", "content");
    for (const bool hard : {false, true}) {
        if (hard) {
            fs::create_hard_link(scratch.root() / "same", place);
        } else {
            fs::create_symlink(scratch.root() / "same", place);
        }
        check_refused(scratch, place.string());
        CHECK(file_text(scratch.root() / "same") == "content");
        fs::remove(place);
    }
}

TEST_CASE("disk store: a hard link to a file outside is refused and the file is unchanged") {
    const Scratch scratch;
    const fs::path place = reference_in(scratch);
    fs::create_directories(place.parent_path());
    const fs::path theirs = scratch.root() / "theirs";
    write_text(theirs, "not ours");
    fs::create_hard_link(theirs, place);
    DiskSpillStore store(scratch.root(), session("s"));
    CHECK_FALSE(store.put(place.string(), "content"));
    CHECK_FALSE(store.get(place.string()).has_value());
    CHECK(file_text(theirs) == "not ours");
    CHECK_FALSE(store.remove(place.string()));
    CHECK(file_text(theirs) == "not ours");
}

TEST_CASE("disk store: links planted at temporary names are not followed") {
    const Scratch scratch;
    FaultyStore store(scratch.root(), session("s"));
    const Faults faults;
    std::size_t planted = 0;
    const fs::path theirs = scratch.outside() / "theirs.txt";
    FaultySystem::plan.before = [&](Call call, const char* name) {
        if (call != Call::open || !coppice::detail::is_temporary_name(name) || planted == 3) { return; }
        const fs::path place = scratch.root() / "s-s" / name;
        if (planted == 0) {
            fs::create_symlink(theirs, place);
        } else if (planted == 1) {
            fs::create_symlink(scratch.outside() / "new", place);
        } else {
            REQUIRE(::mkfifo(place.c_str(), 0600) == 0);
        }
        ++planted;
    };
    CHECK(store.put(reference_in(scratch), "content"));
    CHECK(planted == 3);
    CHECK(store.get(reference_in(scratch)) == "content");
    CHECK(scratch.untouched());
    CHECK(scratch.temporaries().size() == 3);
    // and where every name is taken it is a refusal
    FaultySystem::plan.before = [&](Call call, const char* name) {
        if (call != Call::open || !coppice::detail::is_temporary_name(name)) { return; }
        fs::create_symlink(theirs, scratch.root() / "s-s" / name);
    };
    CHECK_FALSE(store.put(store.reference("b", "content"), "content"));
    CHECK(scratch.untouched());
}

TEST_CASE("disk store: a root that vanishes between two puts is made again") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    CHECK(store.put(reference_in(scratch), "content"));
    fs::remove_all(scratch.root());
    CHECK_FALSE(store.get(reference_in(scratch)).has_value());
    CHECK(store.put(reference_in(scratch), "content"));
    CHECK(store.get(reference_in(scratch)) == "content");
}

TEST_CASE("disk store: nothing is promised where a directory goes or is replaced at any moment of a put") {
    const auto move_away = [](const fs::path& path) { fs::rename(path, path.parent_path() / "gone"); };
    const std::vector<std::function<void(const Scratch&)>> blows = {
        [](const Scratch& scratch) { fs::remove_all(scratch.root()); },
        [](const Scratch& scratch) { fs::remove_all(scratch.root() / "s-s"); },
        [&](const Scratch& scratch) {
            move_away(scratch.root());
            fs::create_directory(scratch.root());
        },
        [&](const Scratch& scratch) {
            move_away(scratch.root());
            fs::create_directory_symlink("gone", scratch.root());
        },
        [&](const Scratch& scratch) {
            move_away(scratch.root() / "s-s");
            fs::create_directory_symlink("gone", scratch.root() / "s-s");
        },
        [&](const Scratch& scratch) {
            move_away(scratch.root());
            write_text(scratch.root(), "a file");
        },
    };
    std::size_t promised = 0;
    std::size_t refused = 0;
    for (std::size_t b = 0; b < blows.size(); ++b) {
        for (const bool stored_before : {false, true}) {
            for (std::size_t moment = 1;; ++moment) {
                const Scratch scratch;
                const std::string reference = reference_in(scratch);
                fs::create_directories(scratch.root() / "s-s");
                if (stored_before) {
                    REQUIRE(DiskSpillStore(scratch.root(), session("s")).put(reference, "content"));
                }
                FaultyStore store(scratch.root(), session("s"));
                const Faults faults;
                std::size_t calls = 0;
                FaultySystem::plan.before = [&](Call, const char*) {
                    if (++calls == moment) { blows[b](scratch); }
                };
                const bool put = store.put(reference, "content");
                FaultySystem::plan.before = [](Call, const char*) {};
                if (calls < moment) { break; }
                const bool there = file_text(reference) == "content";
                CAPTURE(b);
                CAPTURE(moment);
                CHECK((!put || there));
                // what only went is made again
                CHECK((put || b > 1));
                ++(put ? promised : refused);
                CHECK(snapshot(scratch.outside()).size() == 1);
                CHECK(file_text(scratch.outside() / "theirs.txt") == "not ours");
            }
        }
    }
    CHECK(promised > 0);
    CHECK(refused > 0);
}
