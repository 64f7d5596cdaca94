// SPDX-License-Identifier: MIT
#include <coppice/spill/files.hpp>

#include "support/scratch.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

using coppice::detail::Missing;
using coppice::detail::Owner;
using coppice::detail::SystemFailure;
using namespace support;

namespace {

using Files = coppice::detail::SpillFiles<FaultySystem>;

int failure_of(const std::function<void()>& work) {
    try {
        work();
        return 0;
    } catch (const SystemFailure& failure) { return failure.error; }
}

// A session's directory, open.
struct Session {
    Scratch scratch;
    Files::Handle root = Files::open_root(scratch.root().c_str(), Missing::is_made);
    Files::Handle handle = Files::open_session(root.get(), "s-s", Missing::is_made, Owner::us);

    fs::path path() const { return scratch.root() / "s-s"; }
    bool abandoned(const char* name) const { return Files::abandoned(handle.get(), name); }
};

}  // namespace

TEST_CASE("spill files: what is missing is made only where that was asked for") {
    const Scratch scratch;
    CHECK(failure_of([&] { Files::open_root(scratch.root().c_str(), Missing::fails); }) == ENOENT);
    const Files::Handle root = Files::open_root(scratch.root().c_str(), Missing::is_made);
    CHECK(failure_of([&] { Files::open_session(root.get(), "s-s", Missing::fails, Owner::us); }) == ENOENT);
    CHECK(fs::is_empty(scratch.root()));
}

TEST_CASE("spill files: a content is compared to its end") {
    const Session s;
    const std::string long_text = lines(0, 40'000);
    for (const std::string& content :
         {std::string(), std::string("x"), long_text.substr(0, 16'384), long_text}) {
        const fs::path path = s.path() / "f";
        write_text(path, content);
        const auto found = [&] { return *Files::find(s.handle.get(), "f"); };
        CHECK(Files::holds(found(), content));
        CHECK_FALSE(Files::holds(found(), content + "x"));
        const bool read = Files::contents(found()) == content;
        CHECK(read);
        if (content.empty()) { continue; }
        std::string other = content;
        other.back() ^= 1;
        CHECK_FALSE(Files::holds(found(), other));
        CHECK_FALSE(Files::holds(found(), std::string_view(content).substr(1)));
    }
    CHECK_FALSE(Files::find(s.handle.get(), "g").has_value());
}

TEST_CASE("spill files: a file that grows or shrinks while it is read is not taken for the content") {
    const Session s;
    for (const std::string_view now : {"conten", "", "content and more"}) {
        write_text(s.path() / "f", "content");
        const auto found = Files::find(s.handle.get(), "f");
        write_text(s.path() / "f", now);
        CHECK_FALSE(Files::holds(*found, "content"));
        if (now.size() < 7) {
            CHECK(failure_of([&] { Files::contents(*found); }) == EIO);
        }
    }
}

TEST_CASE("spill files: writing to a taken name leaves nothing behind") {
    const Session s;
    for (const bool plain_rename : {false, true}) {
        const Faults faults({.no_rename_new = plain_rename});
        write_text(s.path() / "f", "first");
        CHECK_FALSE(Files::write(s.handle.get(), "f", "second").has_value());
        CHECK(file_text(s.path() / "f") == "first");
        CHECK(s.scratch.temporaries().empty());
        fs::remove(s.path() / "f");
        const auto id = Files::write(s.handle.get(), "f", "second");
        REQUIRE(id.has_value());
        CHECK(file_text(s.path() / "f") == "second");
        CHECK(Files::is_file_at(s.handle.get(), "f", *id));
        write_text(s.path() / "g", "second");
        CHECK_FALSE(Files::is_file_at(s.handle.get(), "g", *id));
        fs::remove(s.path() / "g");
        fs::create_hard_link(s.path() / "f", s.path() / "g");
        CHECK_FALSE(Files::is_file_at(s.handle.get(), "f", *id));
        fs::remove(s.path() / "g");
    }
}

TEST_CASE("spill files: a temporary file is abandoned when its writer is gone and it is old") {
    const Session s;
    const char* const name = "t-00000000000000000000000000000000.tmp";
    write_text(s.path() / name, "half");
    CHECK_FALSE(s.abandoned(name));  // just made, perhaps not locked yet
    make_old(s.path() / name);
    CHECK(s.abandoned(name));
    {
        const int writer = ::open((s.path() / name).c_str(), O_WRONLY);
        REQUIRE(::flock(writer, LOCK_EX) == 0);
        CHECK_FALSE(s.abandoned(name));
        make_old(s.path() / name, 1'000'000);
        CHECK_FALSE(s.abandoned(name));  // however long it takes
        ::close(writer);
    }
    CHECK(s.abandoned(name));
    make_old(s.path() / name, -1'000'000);
    CHECK_FALSE(s.abandoned(name));  // a clock that was put back
    CHECK_FALSE(s.abandoned("t-11111111111111111111111111111111.tmp"));
}

TEST_CASE("spill files: without locks a day tells that a writer is gone") {
    const Session s;
    const char* const name = "t-00000000000000000000000000000000.tmp";
    const Faults faults({.no_locks = true});
    write_text(s.path() / name, "half");
    make_old(s.path() / name, 80'000);
    CHECK_FALSE(s.abandoned(name));
    make_old(s.path() / name, 90'000);
    CHECK(s.abandoned(name));
}

TEST_CASE("spill files: what is no file is never an abandoned one") {
    const Session s;
    const char* const name = "t-00000000000000000000000000000000.tmp";
    REQUIRE(::mkfifo((s.path() / name).c_str(), 0600) == 0);
    make_old(s.path() / name);
    CHECK_FALSE(s.abandoned(name));
    fs::remove(s.path() / name);
    fs::create_symlink(s.scratch.outside() / "theirs.txt", s.path() / name);
    make_old(s.path() / name);
    CHECK_FALSE(s.abandoned(name));
}

TEST_CASE("spill files: the temporary file is locked for as long as it is written") {
    const Session s;
    const Faults faults;
    std::size_t living = 0;
    std::size_t looks = 0;
    FaultySystem::plan.before = [&](Call call, const char*) {
        if (call != Call::write && call != Call::sync) { return; }
        for (const std::string& path : s.scratch.temporaries()) {
            make_old(path);
            const int file = ::open(path.c_str(), O_RDWR);
            ++looks;
            living += ::flock(file, LOCK_EX | LOCK_NB) != 0 ? 1U : 0U;
            ::close(file);
        }
    };
    CHECK(Files::write(s.handle.get(), "f", "content").has_value());
    CHECK(looks == 2);
    CHECK(living == 2);
}
