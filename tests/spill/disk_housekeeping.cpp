// SPDX-License-Identifier: MIT
#include <coppice/spill/disk.hpp>

#include "support/scratch.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

using coppice::DiskSpillStore;
using coppice::SpillManifest;
using coppice::SpillRemoval;
using coppice::StoredContent;
using namespace support;

namespace {

std::string put(DiskSpillStore& store, const std::string& id, const std::string& content) {
    std::string reference = store.reference(id, content);
    REQUIRE(store.put(reference, content));
    return reference;
}

std::string leave_half(const fs::path& directory, std::uint64_t number) {
    const std::string path = (directory / coppice::detail::temporary_name(7, number)).string();
    write_text(path, "half");
    make_old(path);
    return path;
}

}  // namespace

TEST_CASE("disk store: of three sessions one can be deleted and the others stay whole") {
    const Scratch scratch;
    std::vector<std::string> references;
    for (std::size_t i = 0; i < 200; ++i) {
        DiskSpillStore store(scratch.root(), session("chat/" + std::to_string(i % 3)));
        references.push_back(put(store, "call_" + std::to_string(i), lines(i, 1000 + i)));
    }
    DiskSpillStore second(scratch.root(), session("chat/1"));
    CHECK(second.list().contents.size() == 67);
    CHECK(second.list_all().contents.size() == 200);
    const SpillRemoval removal = second.remove_session();
    CHECK_FALSE(removal.error);
    CHECK(removal.contents == 67);
    CHECK(removal.leftovers == 0);
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < 200; ++i) {
        const auto content = second.get(references[i]);
        const bool right = i % 3 == 1 ? !content : content == lines(i, 1000 + i);
        CHECK(right);
        bytes += i % 3 == 1 ? 1000 + i : 0;
    }
    CHECK(removal.bytes == bytes);
    CHECK_FALSE(fs::exists(scratch.root() / coppice::detail::id_component('s', "chat/1")));
    const SpillManifest left = second.list_all();
    CHECK(left.contents.size() == 133);
    std::set<std::optional<std::string>> sessions;
    for (const StoredContent& content : left.contents) { sessions.insert(content.session); }
    CHECK(sessions == std::set<std::optional<std::string>>{"chat/0", "chat/2"});
    CHECK(second.remove_session().contents == 0);
    CHECK_FALSE(second.remove_session().error);
    CHECK(scratch.untouched());
}

TEST_CASE("disk store: a manifest says what is where") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), {.session = "a b", .shown_as = "/shown"});
    const std::string b = put(store, "b\n", "four");
    const std::string a = put(store, "a", "");
    const std::string longest = put(store, std::string(300, 'c'), "x");
    SpillManifest manifest = store.list();
    CHECK_FALSE(manifest.error);
    const std::vector<StoredContent> expected = {
        {a, "a b", "a", 0}, {b, "a b", "b\n", 4}, {longest, "a b", std::nullopt, 1}};
    CHECK(manifest.contents == expected);
    CHECK(store.list_all().contents == expected);
    CHECK(manifest.leftovers.empty());
    DiskSpillStore other(scratch.root(), session(std::string(300, 'z')));
    const std::string there = put(other, "a", "x");
    CHECK(other.list().contents == std::vector<StoredContent>{{there, std::nullopt, "a", 1}});
    CHECK(store.list().contents == expected);
    CHECK(store.list_all().contents.size() == 4);
}

TEST_CASE("disk store: what is not the store's is not listed and not removed") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    const std::string reference = put(store, "a", "content");
    const fs::path place = scratch.root() / "s-s";
    write_text(place / "notes.txt", "a stranger's");
    write_text(place / "m-a.txt", "a stranger's");
    write_text(scratch.root() / "README", "a stranger's");
    fs::create_directory(scratch.root() / "S-S");
    write_text(scratch.root() / "S-S" / fs::path(reference).filename(), "content");
    fs::create_directory_symlink("../outside", scratch.root() / "s-link");
    write_text(scratch.root() / "s-file", "a file");
    REQUIRE(::mkfifo((scratch.root() / "s-pipe").c_str(), 0600) == 0);
    fs::create_symlink("../../outside/theirs.txt", store.reference("b", "x"));
    fs::create_directory(store.reference("c", "x"));
    const SpillManifest all = store.list_all();
    CHECK(all.contents.size() == 1);
    CHECK(store.list().contents == all.contents);
    const std::string file = fs::path(reference).filename().string();
    fs::copy_file(reference, scratch.top() / file);
    for (const std::string& other :
         {scratch.root().string() + "/S-S/" + file, scratch.root().string() + "/../" + file}) {
        CHECK(fs::exists(other));
        CHECK_FALSE(store.get(other).has_value());
        CHECK(store.remove(other) == std::errc::invalid_argument);
        CHECK(fs::exists(other));
    }
    fs::remove(scratch.top() / file);
    const SpillRemoval removal = store.remove_session();
    CHECK(removal.error);
    CHECK(removal.contents == 2);  // and the link itself
    CHECK(file_text(place / "notes.txt") == "a stranger's");
    CHECK(file_text(place / "m-a.txt") == "a stranger's");
    CHECK(fs::exists(scratch.root() / "README"));
    CHECK(fs::is_directory(store.reference("c", "x")));
    CHECK(scratch.untouched());
}

TEST_CASE("disk store: what no transcript mentions any more is removed and the rest stays") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    DiskSpillStore other(scratch.root(), session("t"));
    const std::string elsewhere = put(other, "a", "another session's");
    std::vector<std::string> references;
    for (std::size_t i = 0; i < 10; ++i) { references.push_back(put(store, "a", lines(i, 100))); }
    leave_half(scratch.root() / "s-s", 1);
    const std::string transcript = "stored at " + references[3] + "] and " + references[7];
    const SpillRemoval removal = store.remove_unreferenced([&transcript](std::string_view reference) {
        return transcript.find(reference) != std::string::npos;
    });
    CHECK_FALSE(removal.error);
    CHECK(removal.contents == 8);
    CHECK(removal.leftovers == 1);
    CHECK(removal.bytes == 804);
    for (std::size_t i = 0; i < 10; ++i) {
        CHECK(store.get(references[i]).has_value() == (i == 3 || i == 7));
    }
    CHECK(other.get(elsewhere).has_value());
    // the same with a list
    const std::vector<std::string> kept = {"/nowhere", references[7], references[7]};
    CHECK(store.remove_unreferenced(kept).contents == 1);
    CHECK(store.get(references[7]).has_value());
    CHECK(store.remove_unreferenced(std::span<const std::string>()).contents == 1);
    CHECK_FALSE(fs::exists(scratch.root() / "s-s"));
    CHECK(store.remove_unreferenced(kept).contents == 0);
    CHECK_FALSE(store.remove_unreferenced(kept).error);
}

TEST_CASE("disk store: a question that throws removes nothing") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    for (std::size_t i = 0; i < 3; ++i) { put(store, "a", lines(i, 100)); }
    int asked = 0;
    const auto keep = [&asked](std::string_view) {
        if (++asked == 3) { throw std::runtime_error("no"); }
        return false;
    };
    CHECK_THROWS_AS(store.remove_unreferenced(keep), std::runtime_error);
    CHECK(store.list().contents.size() == 3);
}

TEST_CASE("disk store: one content is removed by its reference and the last takes the directory along") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    DiskSpillStore host(scratch.root(), session(""));
    const std::string a = put(store, "a", "content");
    const std::string b = put(store, "b", "content");
    CHECK_FALSE(host.remove(a));
    CHECK_FALSE(fs::exists(a));
    CHECK(host.remove(a) == std::errc::no_such_file_or_directory);
    CHECK(store.get(b) == "content");
    CHECK_FALSE(host.remove(b));
    CHECK_FALSE(fs::exists(scratch.root() / "s-s"));
    CHECK(host.remove(b) == std::errc::no_such_file_or_directory);
    for (const std::string& reference :
         {std::string(), std::string("/etc/passwd"), scratch.root().string(),
          scratch.root().string() + "/s-s", scratch.root().string() + "/s-s/..",
          (scratch.outside() / "theirs.txt").string(), scratch.root().string() + "/../outside/theirs.txt"}) {
        CHECK(host.remove(reference) == std::errc::invalid_argument);
    }
    CHECK(scratch.untouched());
    // and the store goes on
    CHECK(store.put(b, "content"));
    CHECK(store.get(b) == "content");
}

TEST_CASE("disk store: leftovers of all sessions are listed and removed with theirs") {
    const Scratch scratch;
    DiskSpillStore one(scratch.root(), session("one"));
    DiskSpillStore other(scratch.root(), session("other"));
    put(one, "a", "content");
    put(other, "a", "content");
    const std::string old = leave_half(scratch.root() / "s-one", 1);
    const std::string other_old = leave_half(scratch.root() / "s-other", 2);
    const std::string young = (scratch.root() / "s-one" / coppice::detail::temporary_name(7, 3)).string();
    write_text(young, "half");
    const SpillManifest all = one.list_all();
    CHECK(all.contents.size() == 2);
    CHECK(all.leftovers ==
          std::vector<StoredContent>{{old, "one", std::nullopt, 4}, {other_old, "other", std::nullopt, 4}});
    CHECK(one.list().leftovers.size() == 1);
    CHECK(one.remove(young) == std::errc::device_or_resource_busy);
    const SpillRemoval removal = other.remove_session();
    CHECK(removal.contents == 1);
    CHECK(removal.leftovers == 1);
    CHECK(removal.bytes == 11);
    CHECK_FALSE(removal.error);
    CHECK(fs::exists(old));
    CHECK_FALSE(one.get(old).has_value());
}
