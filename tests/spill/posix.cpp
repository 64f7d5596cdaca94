// SPDX-License-Identifier: MIT
#include <coppice/spill/posix.hpp>

#include "support/scratch.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <optional>
#include <utility>

using coppice::detail::Descriptor;
using coppice::detail::PosixSystem;
using coppice::detail::SystemFailure;
using namespace support;

namespace {

int open_in(const Scratch& scratch, const char* name, int flags) {
    const std::string path = (scratch.outside() / name).string();
    return PosixSystem::open_at(AT_FDCWD, path.c_str(), flags, 0600);
}

}  // namespace

TEST_CASE("posix: a descriptor is closed once with its last owner") {
    const Scratch scratch;
    const std::size_t before = open_descriptors();
    {
        Descriptor<PosixSystem> first(open_in(scratch, "theirs.txt", O_RDONLY));
        REQUIRE(first.get() >= 0);
        Descriptor<PosixSystem> second(std::move(first));
        CHECK(first.get() == -1);
        first = std::move(second);
        CHECK(open_descriptors() == before + 1);
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("posix: closing reports what was lost but not a signal") {
    const Scratch scratch;
    const std::size_t before = open_descriptors();
    for (const int error : {EIO, EINTR}) {
        Descriptor<FaultySystem> file(open_in(scratch, "theirs.txt", O_RDONLY));
        const Faults faults({.fail_at = 1, .error = error});
        std::optional<int> failure;
        try {
            file.close();
        } catch (const SystemFailure& thrown) { failure = thrown.error; }
        CHECK(failure == (error == EIO ? std::optional<int>(EIO) : std::nullopt));
    }
    CHECK(open_descriptors() == before);
}

TEST_CASE("posix: a call that a signal interrupts is made again") {
    int calls = 0;
    const int answer = coppice::detail::uninterrupted([&calls] {
        errno = EINTR;
        return ++calls < 3 ? -1 : 7;
    });
    CHECK(answer == 7);
    CHECK(calls == 3);
    calls = 0;
    CHECK(coppice::detail::uninterrupted([&calls] {
              errno = EIO;
              return ++calls < 3 ? -1 : 7;
          }) == -1);
    CHECK(calls == 1);
}

TEST_CASE("posix: renaming to a taken name leaves both files") {
    const Scratch scratch;
    write_text(scratch.outside() / "a", "a");
    write_text(scratch.outside() / "b", "b");
    const Descriptor<PosixSystem> directory(open_in(scratch, "", O_RDONLY | O_DIRECTORY));
    const int answer = PosixSystem::rename_new_at(directory.get(), "a", "b");
    const int error = errno;
    CHECK(answer == -1);
    CHECK((error == EEXIST || error == ENOSYS || error == EINVAL));
    CHECK(file_text(scratch.outside() / "a") == "a");
    CHECK(file_text(scratch.outside() / "b") == "b");
}

TEST_CASE("posix: a lock belongs to the open file and ends with it") {
    const Scratch scratch;
    Descriptor<PosixSystem> first(open_in(scratch, "theirs.txt", O_RDWR));
    const Descriptor<PosixSystem> second(open_in(scratch, "theirs.txt", O_RDWR));
    CHECK(PosixSystem::lock(first.get()) == 0);
    CHECK(PosixSystem::lock(second.get()) == -1);
    first.close();
    CHECK(PosixSystem::lock(second.get()) == 0);
}
