// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/spill/names.hpp>
#include <coppice/spill/posix.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0::detail {

/// Which file it is, under whatever name.
struct FileId {
    ::dev_t device{};
    ::ino_t number{};

    explicit FileId(const struct ::stat& status) : device(status.st_dev), number(status.st_ino) {}
    bool operator==(const FileId&) const = default;
};

/// Whose directory it may be.
enum class Owner : bool { us, anybody };

/// Whether what is missing is made.
enum class Missing : bool { fails, is_made };

/// Files of one root, its sessions' directories and the contents in them. Directories are held open while
/// somebody works in them, no link is followed behind the root, and what fails throws SystemFailure.
template <class System>
struct SpillFiles {
    using Handle = Descriptor<System>;

    static Handle open_root(const char* path, Missing missing) {
        const Opened root = open_directory(AT_FDCWD, path, missing);
        Handle handle(root.number);
        // an old one is the host's, with the mode that the host gave it
        if (root.made) {
            make_private(handle.get(), 0700);
            // its own name has to be on the disk too, as far as we may open where that stands
            const Handle parent(open(handle.get(), "..", O_RDONLY | O_DIRECTORY));
            if (parent.get() >= 0) {
                sync(parent.get());
            } else if (errno != EACCES) {
                fail(errno);
            }
        }
        return handle;
    }

    /// ENOENT where there is none; EPERM where it is somebody else's.
    static Handle open_session(int root, const char* name, Missing missing, Owner owner) {
        Handle handle(open_directory(root, name, missing, true).number);
        if (owner == Owner::us) { check_owner(handle.get()); }
        if (missing == Missing::is_made) { make_private(handle.get(), 0700); }
        return handle;
    }

    /// A content's file, open for reading.
    struct Found {
        Handle file;
        FileId id;
        std::uintmax_t size = 0;
    };

    /// Nothing where the name is free; EEXIST where it is taken by what is not a content: a link, a directory, a
    /// pipe, a file that has another name too, a file of somebody else.
    static std::optional<Found> find(int session, const char* name) {
        struct ::stat status {};
        if (System::status_at(session, name, &status) < 0) {
            if (errno == ENOENT) { return std::nullopt; }
            fail(errno);
        }
        check_content(status);  // before opening, which a pipe or a device would notice
        const int number = open(session, name, O_RDONLY);
        if (number < 0 && errno == ENOENT) { return std::nullopt; }
        Handle file(checked(number));
        checked(System::status(file.get(), &status));
        if (status.st_nlink == 0) { return std::nullopt; }  // removed meanwhile
        check_content(status);
        return Found{std::move(file), FileId(status), static_cast<std::uintmax_t>(status.st_size)};
    }

    static bool holds(const Found& found, std::string_view content) {
        if (found.size != content.size()) { return false; }
        std::array<char, 16'384> buffer;
        while (true) {
            const std::size_t size = read(found.file.get(), buffer.data(), buffer.size());
            if (size == 0) { return content.empty(); }
            if (content.substr(0, size) != std::string_view(buffer.data(), size)) { return false; }
            content.remove_prefix(size);
        }
    }

    static std::string contents(const Found& found) {
        std::string out;
        out.resize(found.size);
        std::size_t filled = 0;
        while (filled < out.size()) {
            const std::size_t size = read(found.file.get(), out.data() + filled, out.size() - filled);
            if (size == 0) { fail(EIO); }
            filled += size;
        }
        return out;
    }

    /// Writes a file that is whole and on the disk before it has its name. Nothing where the name is taken.
    static std::optional<FileId> write(int session, const char* name, std::string_view content) {
        Temporary temporary(session);
        const FileId id = temporary.fill(content);
        if (!rename_new(session, temporary.name(), name)) { return std::nullopt; }
        temporary.renamed();
        return id;
    }

    static void sync(int file) {
        checked(uninterrupted([&] { return System::sync(file); }));
    }

    static bool is_file_at(int session, const char* name, FileId id) {
        struct ::stat status {};
        checked(System::status_at(session, name, &status));
        return S_ISREG(status.st_mode) && status.st_nlink == 1 && FileId(status) == id;
    }

    /// All names in a directory but "." and "..", or as many as `take(name)` wants.
    template <class Take>
    static void for_each_name(int directory, Take take) {
        Handle again(checked(open(directory, ".", O_RDONLY | O_DIRECTORY)));
        Listing listing(again);
        while (true) {
            errno = 0;
            const ::dirent* const entry = System::next_entry(listing.stream);
            if (entry == nullptr && errno != 0) { fail(errno); }
            if (entry == nullptr) { return; }
            const std::string_view name = entry->d_name;
            if (name != "." && name != ".." && !take(name)) { return; }
        }
    }

    static std::vector<std::string> names(int directory) {
        std::vector<std::string> all;
        for_each_name(directory, [&all](std::string_view name) {
            all.emplace_back(name);
            return true;
        });
        std::sort(all.begin(), all.end());
        return all;
    }

    /// Whether nobody writes a temporary file any more: its writer's lock is gone, and it is older than the moment
    /// between its making and its locking. Where a file system has no locks, a day tells.
    static bool abandoned(int session, const char* name) {
        constexpr std::time_t moment = 60;
        constexpr std::time_t day = 86'400;
        struct ::stat status {};
        if (System::status_at(session, name, &status) < 0) { return false; }
        const std::time_t now = System::now();
        if (!S_ISREG(status.st_mode) || now - moment < status.st_mtime) { return false; }
        // a lock may need a file that is open for writing
        const int number = open(session, name, O_RDWR);
        const Handle file(number);
        if (number >= 0 && lock(number) == 0) { return true; }
        return errno != EWOULDBLOCK && now - day >= status.st_mtime;
    }

private:
    struct Opened {
        int number = -1;
        bool made = false;
    };

    struct Listing {
        explicit Listing(Handle& directory) : stream(System::open_listing(directory.get())) {
            if (stream == nullptr) { fail(errno); }
            directory.release();
        }
        Listing(const Listing&) = delete;
        Listing& operator=(const Listing&) = delete;
        ~Listing() { System::close_listing(stream); }

        ::DIR* stream;
    };

    // A file that goes unless it gets its name.
    class Temporary {
    public:
        explicit Temporary(int session) : session_(session) {
            static std::atomic<std::uint64_t> made{0};
            for (int attempt = 0; attempt < 16; ++attempt) {
                // a child has its parent's numbers
                const std::uint64_t process = static_cast<std::uint64_t>(System::process());
                name_ = temporary_name(mix(process_seed() + process), made++);
                const int number = open(session, name_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
                if (number >= 0) {
                    file_ = Handle(number);
                    here_ = true;
                    return;
                }
                if (errno != EEXIST) { break; }
            }
            fail(errno);
        }
        Temporary(const Temporary&) = delete;
        Temporary& operator=(const Temporary&) = delete;
        ~Temporary() {
            if (here_) { System::unlink_at(session_, name_.c_str(), 0); }
        }

        const char* name() const { return name_.c_str(); }

        FileId fill(std::string_view content) {
            make_private(file_.get(), 0600);
            // says that the writer lives; where a file system has no locks, age has to do
            lock(file_.get());
            while (!content.empty()) {
                constexpr std::size_t most = std::size_t{1} << 30U;
                const std::size_t size = std::min(content.size(), most);
                const auto written =
                    checked(uninterrupted([&] { return System::write(file_.get(), content.data(), size); }));
                if (written == 0) { fail(EIO); }
                content.remove_prefix(static_cast<std::size_t>(written));
            }
            sync(file_.get());
            struct ::stat status {};
            checked(System::status(file_.get(), &status));
            file_.close();
            return FileId(status);
        }

        void renamed() { here_ = false; }

    private:
        int session_;
        std::string name_;
        Handle file_;
        bool here_ = false;
    };

    static int open(int directory, const char* name, int flags, ::mode_t mode = 0) {
        return uninterrupted([&] {
            return System::open_at(directory, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
        });
    }

    static int lock(int file) {
        return uninterrupted([&] { return System::lock(file); });
    }

    static std::size_t read(int file, char* out, std::size_t size) {
        return static_cast<std::size_t>(
            checked(uninterrupted([&] { return System::read(file, out, size); })));
    }

    static Opened open_directory(int at, const char* name, Missing missing, bool repair = false) {
        constexpr int flags = O_RDONLY | O_DIRECTORY;
        Opened opened{open(at, name, flags), false};
        if (opened.number >= 0 || missing == Missing::fails) { return {checked(opened.number), false}; }
        if (errno == ENOENT) {
            opened.made = System::make_directory_at(at, name, 0700) == 0;
            if (!opened.made && errno != EEXIST) { fail(errno); }
            opened.number = open(at, name, flags);
        }
        if (opened.number < 0 && errno == EACCES && (opened.made || repair)) {
            // a umask takes the owner's rights, or took them from somebody who stopped after making it
            struct ::stat status {};
            checked(System::status_at(at, name, &status));
            const bool ours = S_ISDIR(status.st_mode) && status.st_uid == System::user();
            if (!ours || (status.st_mode & 0700U) == 0700U) { fail(EACCES); }
            checked(System::change_mode_at(at, name, 0700));
            opened.number = open(at, name, flags);
        }
        checked(opened.number);
        return opened;
    }

    static void check_owner(int directory) {
        struct ::stat status {};
        checked(System::status(directory, &status));
        if (status.st_uid != System::user()) { fail(EPERM); }
    }

    static void check_content(const struct ::stat& status) {
        if (!S_ISREG(status.st_mode) || status.st_nlink != 1 || status.st_uid != System::user()) {
            fail(EEXIST);
        }
    }

    static void make_private(int file, ::mode_t mode) {
        struct ::stat status {};
        checked(System::status(file, &status));
        if ((status.st_mode & 07777U) == mode) { return; }
        checked(uninterrupted([&] { return System::change_mode(file, mode); }));
    }

    // False where the name is taken.
    static bool rename_new(int session, const char* from, const char* to) {
        if (System::rename_new_at(session, from, to) == 0) { return true; }
        if (errno == EEXIST) { return false; }
        if (errno != ENOSYS && errno != EINVAL && errno != ENOTSUP && errno != EOPNOTSUPP) { fail(errno); }
        // a file system without it: who comes between has written a file that is named after the same content
        struct ::stat status {};
        if (System::status_at(session, to, &status) == 0) { return false; }
        if (errno != ENOENT) { fail(errno); }
        checked(System::rename_at(session, from, to));
        return true;
    }
};

}  // namespace coppice::detail
