// SPDX-License-Identifier: MIT
#include <coppice/spill/disk.hpp>

#include "support/scratch.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

using coppice::DiskSpillStore;
using namespace support;

TEST_CASE("disk store: a writer that dies before renaming leaves a leftover and no content") {
    const Scratch scratch;
    const std::string content = lines(0, 100'000);
    DiskSpillStore store(scratch.root(), session("s"));
    const std::string reference = store.reference("call_1", content);
    CHECK(in_child([&] {
              FaultySystem::plan.before = [](Call call, const char*) {
                  if (call == Call::rename_new) { ::raise(SIGKILL); }
              };
              FaultyStore dying(scratch.root(), session("s"));
              return dying.put(reference, content) ? 1 : 2;
          }) == -SIGKILL);
    CHECK_FALSE(fs::exists(reference));
    CHECK_FALSE(store.get(reference).has_value());
    REQUIRE(scratch.temporaries().size() == 1);
    CHECK(store.list().contents.empty());
    CHECK(store.list().leftovers.empty());  // too young to be sure
    CHECK(store.put(reference, content));
    const bool read = store.get(reference) == content;
    CHECK(read);
    make_old(scratch.temporaries().front());
    const coppice::SpillManifest manifest = store.list();
    CHECK(manifest.contents.size() == 1);
    REQUIRE(manifest.leftovers.size() == 1);
    CHECK(manifest.leftovers.front().bytes == 100'000);
    CHECK(manifest.leftovers.front().reference == scratch.temporaries().front());
    CHECK_FALSE(store.remove(manifest.leftovers.front().reference));
    CHECK(scratch.temporaries().empty());
    CHECK(store.list().contents == manifest.contents);
}

TEST_CASE("disk store: what a living writer writes is never a leftover") {
    const Scratch scratch;
    DiskSpillStore store(scratch.root(), session("s"));
    int at_work[2];
    int go_on[2];
    REQUIRE(::pipe(at_work) == 0);
    REQUIRE(::pipe(go_on) == 0);
    const ::pid_t child = start_child([&] {
        bool first = true;
        bool written = false;
        FaultySystem::plan.before = [&](Call call, const char*) {
            written = written || call == Call::write;
            if (call != Call::sync || !written || !first) { return; }
            first = false;
            char byte = 0;
            if (::write(at_work[1], &byte, 1) != 1 || ::read(go_on[0], &byte, 1) != 1) { ::_exit(3); }
        };
        FaultyStore writer(scratch.root(), session("s"));
        return writer.put(writer.reference("a", "content"), "content") ? 0 : 1;
    });
    ::close(at_work[1]);
    ::close(go_on[0]);
    char byte = 0;
    CHECK(::read(at_work[0], &byte, 1) == 1);
    REQUIRE(scratch.temporaries().size() == 1);
    const std::string half = scratch.temporaries().front();
    make_old(half, 1'000'000);
    CHECK(store.list().leftovers.empty());
    CHECK(store.remove(half) == std::errc::device_or_resource_busy);
    CHECK(store.remove_unreferenced([](std::string_view) { return false; }).leftovers == 0);
    const coppice::SpillRemoval removal = store.remove_session();
    CHECK(removal.leftovers == 0);
    CHECK(removal.error == std::errc::directory_not_empty);
    CHECK(fs::exists(half));
    CHECK(::write(go_on[1], &byte, 1) == 1);
    CHECK(wait_for(child) == 0);
    CHECK(store.get(store.reference("a", "content")) == "content");
    ::close(at_work[0]);
    ::close(go_on[1]);
}

TEST_CASE("disk store: processes that spill the same id get along") {
    const Scratch scratch;
    const auto spill = [&scratch](std::size_t own) {
        int wrong = 0;
        for (std::size_t round = 0; round < 50; ++round) {
            DiskSpillStore store(scratch.root(), session("s"));
            for (const std::size_t number : {round, 1000 * own + round}) {
                const std::string content = lines(number, 20'000);
                const std::string reference = store.reference("call_1", content);
                wrong += store.put(reference, content) && store.get(reference) == content ? 0 : 1;
            }
        }
        return wrong;
    };
    std::vector<::pid_t> children;
    for (std::size_t own = 1; own <= 3; ++own) {
        children.push_back(start_child([&, own] { return spill(own); }));
    }
    for (const ::pid_t child : children) { CHECK(wait_for(child) == 0); }
    CHECK(DiskSpillStore(scratch.root(), session("s")).list().contents.size() == 200);
    CHECK(scratch.temporaries().empty());
    CHECK(scratch.untouched());
}

TEST_CASE("disk store: one process writes while another removes and no promise is false") {
    const Scratch scratch;
    const ::pid_t remover = start_child([&] {
        DiskSpillStore store(scratch.root(), session("s"));
        for (int round = 0; round < 300; ++round) { store.remove_session(); }
        return 0;
    });
    // a promise cannot be checked while somebody removes, but nothing may break or hang
    DiskSpillStore store(scratch.root(), session("s"));
    std::size_t stored = 0;
    for (std::size_t i = 0; i < 100; ++i) {
        stored += store.put(store.reference("a", lines(i, 100)), lines(i, 100)) ? 1U : 0U;
    }
    CHECK(wait_for(remover) == 0);
    CHECK(stored > 0);
    const std::string last = store.reference("a", "last");
    CHECK(store.put(last, "last"));
    CHECK(store.get(last) == "last");
    CHECK(scratch.temporaries().empty());
}

TEST_CASE("disk store: a file that may not grow is a refusal") {
    const Scratch scratch;
    CHECK(in_child([&] {
              ::signal(SIGXFSZ, SIG_IGN);
              const ::rlimit limit{10'000, 10'000};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) { return 1; }
              DiskSpillStore store(scratch.root(), session("s"));
              const std::string large = lines(0, 50'000);
              if (store.try_put(store.reference("a", large), large) != std::errc::file_too_large) {
                  return 2;
              }
              if (!scratch.temporaries().empty()) { return 3; }
              if (store.get(store.reference("a", large))) { return 4; }
              return store.put(store.reference("a", "small"), "small") ? 0 : 5;
          }) == 0);
}

TEST_CASE("disk store: no descriptor left is a refusal") {
    const Scratch scratch;
    CHECK(in_child([&] {
              ::rlimit usual{};
              if (::getrlimit(RLIMIT_NOFILE, &usual) != 0) { return 1; }
              const ::rlimit none_left{open_descriptors(), usual.rlim_max};
              DiskSpillStore store(scratch.root(), session("s"));
              if (::setrlimit(RLIMIT_NOFILE, &none_left) != 0) { return 2; }
              const std::error_code error = store.try_put(store.reference("a", "x"), "x");
              // UBSan looks at an object's type through a pipe: comparing needs descriptors again
              if (::setrlimit(RLIMIT_NOFILE, &usual) != 0) { return 3; }
              return error == std::errc::too_many_files_open ? 0 : 4;
          }) == 0);
}

TEST_CASE("disk store: a place where nobody may write is a refusal") {
    const Scratch scratch;
    const fs::path home = scratch.root();
    fs::create_directory(home);
    CHECK(as_nobody(home, [&] {
              DiskSpillStore inside(home / "store", session("s"));
              const std::string reference = inside.reference("a", "content");
              if (::chmod(home.c_str(), 0500) != 0) { return 1; }
              if (inside.try_put(reference, "content") != std::errc::permission_denied) { return 2; }
              DiskSpillStore store(home, session("s"));
              if (store.try_put(store.reference("a", "content"), "content") != std::errc::permission_denied) {
                  return 3;
              }
              if (::chmod(home.c_str(), 0700) != 0) { return 4; }
              if (!inside.put(reference, "content")) { return 5; }
              // a root that its owner closed stays closed
              if (::chmod((home / "store").c_str(), 0) != 0) { return 6; }
              if (inside.put(reference, "content") || inside.get(reference)) { return 7; }
              return mode_of(home / "store") == 0 ? 0 : 8;
          }) == 0);
}

TEST_CASE("disk store: a root below a directory that can only be passed is reached") {
    const Scratch scratch;
    const fs::path home = scratch.root();
    fs::create_directory(home);
    CHECK(as_nobody(home, [&] {
              fs::create_directory(home / "store");
              if (::chmod(home.c_str(), 0100) != 0) { return 1; }
              DiskSpillStore store(home / "store", session("s"));
              return store.put(store.reference("a", "content"), "content") ? 0 : 2;
          }) == 0);
}
