// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/spill/disk.hpp>

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// For tests of a store on a disk.
namespace support {

namespace fs = std::filesystem;

inline std::string file_text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_text(const fs::path& path, std::string_view words) {
    std::ofstream(path, std::ios::binary) << words;
}

inline ::mode_t mode_of(const fs::path& path) {
    struct ::stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return status.st_mode & 07777U;
}

/// Everything below a directory: kind and mode, and what files hold and links say.
inline std::map<std::string, std::string> snapshot(const fs::path& top) {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
        struct ::stat status {};
        if (::lstat(entry.path().c_str(), &status) != 0) { continue; }
        std::string& what = all[entry.path().lexically_relative(top).string()];
        what = std::to_string(status.st_mode) + ' ' + std::to_string(status.st_nlink) + ' ';
        if (S_ISREG(status.st_mode)) { what += file_text(entry.path()); }
        if (S_ISLNK(status.st_mode)) { what += fs::read_symlink(entry.path()).string(); }
    }
    return all;
}

/// A directory of the test's own, with a place for the store and something beside it that nobody may touch.
class Scratch {
public:
    Scratch() {
        // in memory where that can be: these tests make thousands of files and sync many of them
        std::string name = "/dev/shm/coppice-XXXXXX";
        if (::mkdtemp(name.data()) == nullptr) {
            name = (fs::temp_directory_path() / "coppice-XXXXXX").string();
            REQUIRE(::mkdtemp(name.data()) != nullptr);
        }
        top_ = name;
        fs::create_directory(outside());
        write_text(outside() / "theirs.txt", "not ours");
        before_ = snapshot(outside());
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
        std::error_code ignored;
        for (const fs::path& path : {root(), top_}) {
            if (fs::is_directory(fs::symlink_status(path, ignored))) {
                fs::permissions(path, fs::perms::owner_all, ignored);
            }
        }
        fs::remove_all(top_, ignored);
    }

    fs::path top() const { return top_; }
    fs::path root() const { return top_ / "root"; }
    fs::path outside() const { return top_ / "outside"; }

    /// Nothing beside the store changed or came.
    bool untouched() const {
        std::size_t beside = 0;
        for (const auto& entry : fs::directory_iterator(top_)) {
            const fs::path name = entry.path().filename();
            beside += name != "root" && name != "outside" ? 1U : 0U;
        }
        return beside == 0 && snapshot(outside()) == before_;
    }

    std::vector<std::string> temporaries() const {
        std::vector<std::string> found;
        std::error_code error;
        for (const auto& entry : fs::recursive_directory_iterator(top_, error)) {
            const std::string name = entry.path().filename().string();
            if (coppice::detail::is_temporary_name(name)) { found.push_back(entry.path().string()); }
        }
        return found;
    }

private:
    fs::path top_;
    std::map<std::string, std::string> before_;
};

inline std::string lines(std::size_t number, std::size_t size) {
    std::string out;
    while (out.size() < size) {
        out += "line " + std::to_string(number) + ' ' + std::to_string(out.size()) + '\n';
    }
    out.resize(size);
    return out;
}

inline coppice::DiskSpillOptions session(std::string id) { return {.session = std::move(id)}; }

/// A file's change of two minutes ago.
inline void make_old(const fs::path& path, long seconds = 120) {
    struct ::timeval times[2]{};
    ::gettimeofday(&times[0], nullptr);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    REQUIRE(::lutimes(path.c_str(), times) == 0);
}

/// What a child process answers: its exit code, or below zero the signal that ended it. One that hangs is ended.
inline ::pid_t start_child(const std::function<int()>& work) {
    const ::pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::alarm(60);
        int code = 99;
        try {
            code = work();
        } catch (...) { code = 98; }
        ::_exit(code);
    }
    return child;
}

inline int wait_for(::pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0) { REQUIRE(errno == EINTR); }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

inline int in_child(const std::function<int()>& work) { return wait_for(start_child(work)); }

/// Runs as somebody who may not write everywhere.
inline int as_nobody(const fs::path& home, const std::function<int()>& work) {
    if (::geteuid() == 0) {
        REQUIRE(::chmod(home.parent_path().c_str(), 0711) == 0);
        REQUIRE(::chown(home.c_str(), 65'534, 65'534) == 0);
    }
    return in_child([&work] {
        if (::geteuid() == 0 && (::setgid(65'534) != 0 || ::setuid(65'534) != 0)) { return 97; }
        return work();
    });
}

inline std::size_t open_descriptors() {
    std::size_t count = 0;
    for (int number = 0; number < 256; ++number) { count += ::fcntl(number, F_GETFD) >= 0 ? 1U : 0U; }
    return count;
}

enum class Call {
    open,
    make_directory,
    status,
    status_at,
    change_mode,
    change_mode_at,
    read,
    write,
    sync,
    close,
    lock,
    rename_new,
    rename,
    unlink,
    open_listing,
    next_entry,
    close_listing,
};

/// Which calls fail, and how.
struct FaultPlan {
    std::size_t fail_at = 0;  ///< 0: nothing fails
    int error = EIO;
    bool lasting = false;
    bool short_writes = false;  ///< a byte or two thousand at a time
    bool no_rename_new = false;
    bool no_locks = false;
    std::function<void(Call, const char*)> before = [](Call, const char*) {};
    std::size_t calls = 0;
    std::vector<Call> failed{};
};

/// The system with a fault: the n-th call fails, or every call from then on.
struct FaultySystem : coppice::detail::PosixSystem {
    static inline FaultPlan plan;

    static bool fails(Call call, const char* name = "") {
        const int error = errno;
        plan.before(call, name);
        errno = error;
        const std::size_t number = ++plan.calls;
        const bool now =
            plan.fail_at != 0 && (plan.lasting ? number >= plan.fail_at : number == plan.fail_at);
        if (!now) { return false; }
        plan.failed.push_back(call);
        errno = plan.error;
        return true;
    }

    using Real = coppice::detail::PosixSystem;
    static int open_at(int directory, const char* name, int flags, ::mode_t mode) {
        return fails(Call::open, name) ? -1 : Real::open_at(directory, name, flags, mode);
    }
    static int make_directory_at(int directory, const char* name, ::mode_t mode) {
        return fails(Call::make_directory, name) ? -1 : Real::make_directory_at(directory, name, mode);
    }
    static int status(int file, struct ::stat* out) {
        return fails(Call::status) ? -1 : Real::status(file, out);
    }
    static int status_at(int directory, const char* name, struct ::stat* out) {
        return fails(Call::status_at, name) ? -1 : Real::status_at(directory, name, out);
    }
    static int change_mode(int file, ::mode_t mode) {
        return fails(Call::change_mode) ? -1 : Real::change_mode(file, mode);
    }
    static int change_mode_at(int directory, const char* name, ::mode_t mode) {
        return fails(Call::change_mode_at, name) ? -1 : Real::change_mode_at(directory, name, mode);
    }
    static ::ssize_t read(int file, void* out, std::size_t size) {
        return fails(Call::read) ? -1 : Real::read(file, out, size);
    }
    static ::ssize_t write(int file, const void* bytes, std::size_t size) {
        if (fails(Call::write)) { return -1; }
        const std::size_t most = plan.calls % 2 == 0 ? 1 : 2000;
        return Real::write(file, bytes, plan.short_writes && size > most ? most : size);
    }
    // without the disk: what is tested is who asks for it
    static int sync(int) { return fails(Call::sync) ? -1 : 0; }
    static int close(int file) {
        const bool failing = fails(Call::close);
        const int error = errno;
        const int answer = Real::close(file);
        errno = error;
        return failing ? -1 : answer;
    }
    static int lock(int file) {
        if (fails(Call::lock)) { return -1; }
        if (plan.no_locks) {
            errno = ENOLCK;
            return -1;
        }
        return Real::lock(file);
    }
    static int rename_new_at(int directory, const char* from, const char* to) {
        if (fails(Call::rename_new, to)) { return -1; }
        if (plan.no_rename_new) {
            errno = EINVAL;
            return -1;
        }
        return Real::rename_new_at(directory, from, to);
    }
    static int rename_at(int directory, const char* from, const char* to) {
        return fails(Call::rename, to) ? -1 : Real::rename_at(directory, from, to);
    }
    static int unlink_at(int directory, const char* name, int flags) {
        return fails(Call::unlink, name) ? -1 : Real::unlink_at(directory, name, flags);
    }
    static ::DIR* open_listing(int directory) {
        return fails(Call::open_listing) ? nullptr : Real::open_listing(directory);
    }
    static ::dirent* next_entry(::DIR* listing) {
        return fails(Call::next_entry) ? nullptr : Real::next_entry(listing);
    }
    static int close_listing(::DIR* listing) {
        const bool failing = fails(Call::close_listing);
        const int answer = Real::close_listing(listing);
        return failing ? -1 : answer;
    }
};

using FaultyStore = coppice::BasicDiskSpillStore<FaultySystem>;

/// Faults end with the scope.
class Faults {
public:
    explicit Faults(FaultPlan plan = {}) { FaultySystem::plan = std::move(plan); }
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;
    ~Faults() { FaultySystem::plan = {}; }
};

}  // namespace support
