// SPDX-License-Identifier: MIT
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <utility>

namespace coppice::inline v0::detail {

/// The system calls of a disk store, each as the system has it: -1 or null, and `errno`.
struct PosixSystem {
    static int open_at(int directory, const char* name, int flags, ::mode_t mode) {
        return ::openat(directory, name, flags, mode);
    }
    static int make_directory_at(int directory, const char* name, ::mode_t mode) {
        return ::mkdirat(directory, name, mode);
    }
    static int status(int file, struct ::stat* out) { return ::fstat(file, out); }
    /// Of a link itself, not of what it leads to.
    static int status_at(int directory, const char* name, struct ::stat* out) {
        return ::fstatat(directory, name, out, AT_SYMLINK_NOFOLLOW);
    }
    static int change_mode(int file, ::mode_t mode) { return ::fchmod(file, mode); }
    static int change_mode_at(int directory, const char* name, ::mode_t mode) {
        return ::fchmodat(directory, name, mode, AT_SYMLINK_NOFOLLOW);
    }
    static ::ssize_t read(int file, void* out, std::size_t size) { return ::read(file, out, size); }
    static ::ssize_t write(int file, const void* bytes, std::size_t size) {
        return ::write(file, bytes, size);
    }
    static int sync(int file) { return ::fsync(file); }
    static int close(int file) { return ::close(file); }
    /// Of the open file, not of the process, and gone with its last descriptor. Does not wait.
    static int lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB); }
    /// EEXIST where the new name is taken; ENOSYS where the system cannot tell.
    static int rename_new_at(int directory, const char* from, const char* to) {
#if defined(RENAME_NOREPLACE)
        return ::renameat2(directory, from, directory, to, RENAME_NOREPLACE);
#elif defined(RENAME_EXCL)
        return ::renameatx_np(directory, from, directory, to, RENAME_EXCL);
#else
        static_cast<void>(directory), static_cast<void>(from), static_cast<void>(to);
        errno = ENOSYS;
        return -1;
#endif
    }
    static int rename_at(int directory, const char* from, const char* to) {
        return ::renameat(directory, from, directory, to);
    }
    static int unlink_at(int directory, const char* name, int flags) {
        return ::unlinkat(directory, name, flags);
    }
    static ::DIR* open_listing(int directory) { return ::fdopendir(directory); }
    static ::dirent* next_entry(::DIR* listing) { return ::readdir(listing); }
    static int close_listing(::DIR* listing) { return ::closedir(listing); }
    static ::uid_t user() { return ::geteuid(); }
    static ::pid_t process() { return ::getpid(); }
    static std::time_t now() { return std::time(nullptr); }
};

/// What a system call answered.
struct SystemFailure {
    int error = EIO;
};

[[noreturn]] inline void fail(int error) { throw SystemFailure{error == 0 ? EIO : error}; }

/// The answer of a system call, thrown where it failed.
template <class Answer>
Answer checked(Answer answer) {
    if (answer < 0) { fail(errno); }
    return answer;
}

/// Calls again where a signal came between.
template <class Call>
auto uninterrupted(Call call) {
    auto answer = call();
    while (answer < 0 && errno == EINTR) { answer = call(); }
    return answer;
}

/// An open file or directory, closed with its owner.
template <class System>
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() {
        if (number_ >= 0) { System::close(number_); }
    }

    int get() const { return number_; }
    int release() { return std::exchange(number_, -1); }

    /// Closes, for who has to know that nothing was lost.
    void close() {
        // the descriptor is gone after a signal too, and what was synced before stays
        if (System::close(release()) < 0 && errno != EINTR) { fail(errno); }
    }

private:
    int number_ = -1;
};

}  // namespace coppice::detail
