// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/spill.hpp>
#include <coppice/spill/files.hpp>
#include <coppice/spill/names.hpp>
#include <coppice/spill/posix.hpp>
#include <coppice/text.hpp>

#include <algorithm>
#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

/// How a DiskSpillStore keeps its files.
struct DiskSpillOptions {
    std::string session{};   ///< any bytes; each session has a directory of its own
    std::string shown_as{};  ///< how the model reaches the root, where that is not the root's own path
    std::uintmax_t most_bytes = std::uintmax_t{256} << 20U;  ///< of one content
    std::size_t most_files =
        10'000;  ///< of one session; processes that write at once may pass it by one each
};

/// A content on the disk.
struct StoredContent {
    std::string reference;               ///< what a preview names it by
    std::optional<std::string> session;  ///< nothing where the id was too long to be spelled
    std::optional<std::string> id;       ///< likewise
    std::uintmax_t bytes = 0;            ///< of the content

    bool operator==(const StoredContent&) const = default;
};

/// What is on the disk, ordered by reference.
struct SpillManifest {
    std::vector<StoredContent> contents;   ///< what the store holds
    std::vector<StoredContent> leftovers;  ///< half-written files of writers that died, without an id
    std::error_code error;                 ///< the first failure; what could be read is listed all the same
};

/// What was removed.
struct SpillRemoval {
    std::size_t contents = 0;   ///< that were removed
    std::size_t leftovers = 0;  ///< half-written files
    std::uintmax_t bytes = 0;   ///< of both
    std::error_code error;      ///< the first failure; the others were removed all the same
};

/// Keeps contents in files, ROOT/SESSION/ID-HASH.txt, for a model that can read files. Safe to share between threads
/// and between processes; keep one for as long as a session runs. POSIX.
///
/// A promise is a file that is whole, synced, and found under its full path after that. It is made for the moment:
/// whoever removes files of a session that somebody prunes makes stubs point nowhere.
///
/// Directories have mode 0700 and files 0600, whatever the umask. Session and message ids are spelled as
/// `detail::id_component` says; two long ids made so that their hashes meet share a session's directory, and files only
/// where the contents are equal, so that a host gives sessions ids of up to 32 bytes, or ones that it chose itself.
///
/// `System` holds the system calls, for tests.
template <class System = detail::PosixSystem>
class BasicDiskSpillStore {
public:
    /// Touches no disk. Throws std::invalid_argument where the root, or the name it is shown under, cannot be used. The
    /// root is made with the first content where its parent is there; it must not be a link.
    explicit BasicDiskSpillStore(const std::filesystem::path& root, DiskSpillOptions options = {})
        : root_(without_slashes(root.native())),
          shown_(options.shown_as.empty() ? root_ : without_slashes(options.shown_as)),
          session_(detail::id_component('s', options.session)),
          most_bytes_(options.most_bytes),
          most_files_(options.most_files) {
        if (root.empty()) { throw std::invalid_argument("coppice::DiskSpillStore: `root` is empty"); }
        if (!names_directory(root_)) {
            throw std::invalid_argument(
                "coppice::DiskSpillStore: `root` must name a directory of the store's own");
        }
        if (!names_directory(shown_)) {
            throw std::invalid_argument("coppice::DiskSpillStore: `shown_as` must name the root");
        }
        const std::size_t longest = shown_.size() + 1 + session_.size() + 1 + detail::content_name_limit;
        if (!detail::is_safe(shown_) || longest > longest_reference) {
            throw std::invalid_argument(
                "coppice::DiskSpillStore: a reference must be printable ASCII without quotes, brackets and "
                "backslashes, and at most 512 characters; say in `shown_as` under which other name the model "
                "reaches the root");
        }
    }

    /// Where a content of this session is, or would be. A pure function, and the same in every process.
    std::string reference(std::string_view id, std::string_view content) const {
        return reference_to(session_, detail::content_name(id, content));
    }

    /// No error: the content is on the disk at its reference. Never throws. EINVAL where the reference is not that of
    /// this content in this session, EFBIG and EDQUOT above the limits, EEXIST where the place is taken by something
    /// else, ESTALE where it has moved in between, otherwise what the system says.
    std::error_code try_put(std::string_view reference, std::string_view content) noexcept {
        return attempt([&] { store(reference, content); });
    }

    /// Whether the content is on the disk at its reference.
    bool put(std::string_view reference, std::string_view content) noexcept {
        return !try_put(reference, content);
    }

    /// A content of any session of the root. Nothing where it is missing or not what was stored.
    std::optional<std::string> get(std::string_view reference) const {
        std::optional<std::string> content;
        const std::error_code error = attempt([&] {
            const std::optional<Place> place = place_of(reference);
            if (!place || place->hash.empty()) { detail::fail(EINVAL); }
            const Handle session = open_session(place->session, Owner::us);
            const auto found = Files::find(session.get(), place->file.c_str());
            if (!found) { detail::fail(ENOENT); }
            content = Files::contents(*found);
            if (detail::hash_name(*content) != place->hash) { detail::fail(EIO); }
        });
        if (error) { content.reset(); }
        return content;
    }

    /// Whether a path or a command mentions the root or a place in it, by the name it is shown under or its own.
    bool refers(std::string_view text) const {
        return mentions(text, shown_) || (root_ != shown_ && mentions(text, root_));
    }

    /// Whether a content is at this reference, by its name and kind alone: `get` looks inside.
    bool holds(std::string_view reference) const noexcept {
        return !attempt([&] {
            const std::optional<Place> place = place_of(reference);
            if (!place || place->hash.empty()) { detail::fail(EINVAL); }
            if (!Files::find(open_session(place->session, Owner::us).get(), place->file.c_str())) {
                detail::fail(ENOENT);
            }
        });
    }

    /// What this session has on the disk.
    SpillManifest list() const {
        SpillManifest manifest;
        note(manifest.error, attempt([&] { list_session(open_root(), session_, manifest); }));
        if (is_missing(manifest.error)) { manifest.error.clear(); }
        return manifest;
    }

    /// What all sessions of the root have on the disk.
    SpillManifest list_all() const {
        SpillManifest manifest;
        const std::error_code error = attempt([&] {
            const Handle root = open_root();
            for (const std::string& name : Files::names(root.get())) {
                if (!detail::read_id_component('s', name)) { continue; }
                const std::error_code one = attempt([&] { list_session(root, name, manifest); });
                if (!is_missing(one)) { note(manifest.error, one); }
            }
        });
        if (!is_missing(error)) { note(manifest.error, error); }
        return manifest;
    }

    /// Removes a content or a leftover of any session of the root, and the session's directory with the last one.
    /// ENOENT where there is none, EBUSY for a file that somebody may still be writing.
    std::error_code remove(std::string_view reference) noexcept {
        return attempt([&] {
            const std::optional<Place> place = place_of(reference);
            if (!place) { detail::fail(EINVAL); }
            const Handle root = open_root();
            {
                const Handle session = open_session(root, place->session, Owner::anybody);
                remove_file(session, place->file);
            }
            remove_empty(root, place->session);
        });
    }

    /// Removes this session: its contents, its leftovers and its directory. ENOTEMPTY where a living writer's or a
    /// stranger's file stays.
    SpillRemoval remove_session() noexcept {
        SpillRemoval removal;
        const std::error_code error = attempt([&] {
            const Handle root = open_root();
            {
                const Handle session = open_session(root, session_, Owner::anybody);
                for (const std::string& name : Files::names(session.get())) {
                    const bool temporary = detail::is_temporary_name(name);
                    const bool ours = temporary || detail::read_content_name(name);
                    if (ours && !(temporary && !Files::abandoned(session.get(), name.c_str()))) {
                        remove_counted(session, name, temporary, removal);
                    }
                }
            }
            detail::checked(System::unlink_at(root.get(), session_.c_str(), AT_REMOVEDIR));
        });
        if (!is_missing(error)) { note(removal.error, error); }
        return removal;
    }

    /// Removes the contents of this session whose reference `keep` answers false for, and its leftovers. Ask about the
    /// transcript as it is after its last pruning, while nobody prunes it. What `keep` throws passes, before anything
    /// is removed.
    template <std::predicate<std::string_view> Keep>
    SpillRemoval remove_unreferenced(Keep keep) {
        SpillManifest manifest = list();
        std::erase_if(manifest.contents, [&keep](const StoredContent& content) {
            return static_cast<bool>(keep(std::string_view(content.reference)));
        });
        SpillRemoval removal;
        removal.error = manifest.error;
        const std::error_code error = attempt([&] {
            const Handle root = open_root();
            {
                const Handle session = open_session(root, session_, Owner::anybody);
                for (const auto* files : {&manifest.contents, &manifest.leftovers}) {
                    for (const StoredContent& file : *files) {
                        const std::string name = file.reference.substr(file.reference.rfind('/') + 1);
                        remove_counted(session, name, files == &manifest.leftovers, removal);
                    }
                }
            }
            remove_empty(root, session_);
        });
        if (!is_missing(error)) { note(removal.error, error); }
        return removal;
    }

    /// The same, where `referenced` holds the references that are still in a transcript.
    SpillRemoval remove_unreferenced(std::span<const std::string> referenced) {
        const std::set<std::string_view> kept(referenced.begin(), referenced.end());
        return remove_unreferenced([&kept](std::string_view reference) { return kept.contains(reference); });
    }

private:
    using Files = detail::SpillFiles<System>;
    using Handle = typename Files::Handle;
    using Owner = detail::Owner;
    using Missing = detail::Missing;

    static constexpr std::size_t longest_reference = 512;

    // A reference taken apart.
    struct Place {
        std::string session;
        std::string file;
        std::string hash;  // of a content, empty for a temporary file
    };

    static std::string without_slashes(std::string path) {
        while (path.ends_with('/') || path.ends_with("/.")) { path.pop_back(); }
        return path;
    }

    static bool names_directory(std::string_view path) {
        const std::string_view last = path.substr(path.rfind('/') + 1);
        return !last.empty() && last != "." && last != ".." && path.find('\0') == std::string_view::npos;
    }

    template <class Action>
    static std::error_code attempt(Action action) noexcept {
        try {
            action();
            return {};
        } catch (const detail::SystemFailure& failure) {
            return {failure.error, std::system_category()};
        } catch (const std::bad_alloc&) {
            return std::make_error_code(std::errc::not_enough_memory);
        } catch (const std::system_error& error) { return error.code(); } catch (...) {
            return std::make_error_code(std::errc::value_too_large);
        }
    }

    static void note(std::error_code& first, std::error_code error) {
        if (!first) { first = error; }
    }

    static bool is_missing(std::error_code error) { return error == std::errc::no_such_file_or_directory; }

    // A name in a text: not as a part of a longer one. A path from the file system's root may follow anything.
    static bool mentions(std::string_view text, std::string_view name) {
        const auto continues = [](char c) {
            const auto lower = static_cast<unsigned char>(c | 0x20);
            return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || lower >= 0x80 || c == '_' ||
                   c == '-' || c == '.' || c == '~';
        };
        while (name.starts_with("./")) { name.remove_prefix(2); }
        for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
            const std::size_t end = at + name.size();
            const bool starts = name.front() == '/' || at == 0 || !continues(text[at - 1]);
            if (starts && (end == text.size() || !continues(text[end]))) { return true; }
        }
        return false;
    }

    std::string reference_to(std::string_view session, std::string_view file) const {
        std::string out;
        out.reserve(shown_.size() + session.size() + file.size() + 2);
        out += shown_;
        out += '/';
        out += session;
        out += '/';
        out += file;
        return out;
    }

    std::optional<Place> place_of(std::string_view reference) const {
        if (reference.size() <= shown_.size() || !reference.starts_with(shown_)) { return std::nullopt; }
        reference.remove_prefix(shown_.size());
        const std::size_t cut = reference.find('/', 1);
        if (reference[0] != '/' || cut == std::string_view::npos) { return std::nullopt; }
        const std::string_view session = reference.substr(1, cut - 1);
        const std::string_view file = reference.substr(cut + 1);
        if (!detail::read_id_component('s', session)) { return std::nullopt; }
        if (detail::is_temporary_name(file)) { return Place{std::string(session), std::string(file), {}}; }
        const auto name = detail::read_content_name(file);
        if (!name) { return std::nullopt; }
        return Place{std::string(session), std::string(file), std::string(name->hash)};
    }

    Handle open_root() const { return Files::open_root(root_.c_str(), Missing::fails); }

    static Handle open_session(const Handle& root, const std::string& name, Owner owner) {
        return Files::open_session(root.get(), name.c_str(), Missing::fails, owner);
    }
    Handle open_session(const std::string& name, Owner owner) const {
        return open_session(open_root(), name, owner);
    }

    void store(std::string_view reference, std::string_view content) {
        const std::optional<Place> place = place_of(reference);
        if (!place || place->session != session_ || place->hash != detail::hash_name(content)) {
            detail::fail(EINVAL);
        }
        if (content.size() > most_bytes_) { detail::fail(EFBIG); }
        for (int tries = 1;; ++tries) {
            try {
                return store_once(place->file, content);
            } catch (const detail::SystemFailure& failure) {
                // a directory went, or came, while we worked in it
                if ((failure.error != ENOENT && failure.error != ESTALE) || tries == 3) { throw; }
            }
        }
    }

    void store_once(const std::string& name, std::string_view content) {
        const bool settled = is_settled(name);
        const detail::FileId id = write_once(name, content, settled);
        // The last call before the promise. Should it fail, the file stays: another process may have promised it.
        const std::string path = root_ + '/' + session_ + '/' + name;
        if (!Files::is_file_at(AT_FDCWD, path.c_str(), id)) { detail::fail(ESTALE); }
        if (!settled) { settle(name); }
    }

    detail::FileId write_once(const std::string& name, std::string_view content, bool settled) {
        const Handle root = Files::open_root(root_.c_str(), Missing::is_made);
        const Handle session = Files::open_session(root.get(), session_.c_str(), Missing::is_made, Owner::us);
        std::optional<detail::FileId> id = same_content(session, name, content, settled);
        const bool written = !id;
        if (written) { id = write(session, name, content); }
        if (written || !settled) {
            // who wrote it may not have come that far
            Files::sync(session.get());
            Files::sync(root.get());
        }
        return *id;
    }

    // Nothing where the name is free, a failure where it is taken by something else.
    static std::optional<detail::FileId> same_content(const Handle& session, const std::string& name,
                                                      std::string_view content, bool settled) {
        const auto found = Files::find(session.get(), name.c_str());
        if (!found) { return std::nullopt; }
        if (!Files::holds(*found, content)) { detail::fail(EEXIST); }
        if (!settled) { Files::sync(found->file.get()); }
        return found->id;
    }

    detail::FileId write(const Handle& session, const std::string& name, std::string_view content) {
        // one after the other, so that counting holds
        const std::scoped_lock lock(writing_);
        if (std::optional<detail::FileId> id = same_content(session, name, content, false)) { return *id; }
        std::size_t files = 0;
        if (most_files_ > 0) {
            Files::for_each_name(session.get(), [&](std::string_view file) {
                files += detail::read_content_name(file) ? 1U : 0U;
                return files < most_files_;
            });
        }
        if (files >= most_files_) { detail::fail(EDQUOT); }
        std::optional<detail::FileId> id = Files::write(session.get(), name.c_str(), content);
        if (!id) { id = same_content(session, name, content, false); }
        if (!id) { detail::fail(ESTALE); }
        return *id;
    }

    bool is_settled(const std::string& name) const {
        const std::scoped_lock lock(settling_);
        return settled_.contains(name);
    }

    void settle(const std::string& name) {
        const std::scoped_lock lock(settling_);
        settled_.insert(name);
    }

    void list_session(const Handle& root, const std::string& name, SpillManifest& manifest) const {
        const Handle session = open_session(root, name, Owner::anybody);
        const std::optional<std::string> session_id = detail::read_id_component('s', name)->id;
        for (const std::string& file : Files::names(session.get())) {
            const auto content = detail::read_content_name(file);
            const bool temporary = detail::is_temporary_name(file);
            struct ::stat status {};
            if (!content && !temporary) { continue; }
            if (temporary && !Files::abandoned(session.get(), file.c_str())) { continue; }
            if (System::status_at(session.get(), file.c_str(), &status) < 0) {
                if (errno != ENOENT) { note(manifest.error, {errno, std::system_category()}); }
                continue;
            }
            if (!S_ISREG(status.st_mode)) { continue; }
            StoredContent stored{reference_to(name, file), session_id, std::nullopt,
                                 static_cast<std::uintmax_t>(status.st_size)};
            if (content) { stored.id = content->id; }
            (content ? manifest.contents : manifest.leftovers).push_back(std::move(stored));
        }
    }

    void remove_file(const Handle& session, const std::string& name) {
        struct ::stat status {};
        detail::checked(System::status_at(session.get(), name.c_str(), &status));
        if (detail::is_temporary_name(name) && !Files::abandoned(session.get(), name.c_str())) {
            detail::fail(EBUSY);
        }
        detail::checked(System::unlink_at(session.get(), name.c_str(), 0));
    }

    void remove_counted(const Handle& session, const std::string& name, bool temporary,
                        SpillRemoval& removal) {
        struct ::stat status {};
        const std::error_code error = attempt([&] {
            detail::checked(System::status_at(session.get(), name.c_str(), &status));
            detail::checked(System::unlink_at(session.get(), name.c_str(), 0));
        });
        if (error) {
            if (!is_missing(error)) { note(removal.error, error); }
            return;
        }
        ++(temporary ? removal.leftovers : removal.contents);
        if (S_ISREG(status.st_mode)) { removal.bytes += static_cast<std::uintmax_t>(status.st_size); }
    }

    static void remove_empty(const Handle& root, const std::string& name) {
        // where it is not empty it stays
        System::unlink_at(root.get(), name.c_str(), AT_REMOVEDIR);
    }

    std::string root_;
    std::string shown_;
    std::string session_;
    std::uintmax_t most_bytes_;
    std::size_t most_files_;
    std::mutex writing_;
    mutable std::mutex settling_;
    std::set<std::string, std::less<>> settled_;  // what this store has synced itself
};

using DiskSpillStore = BasicDiskSpillStore<>;
static_assert(spill_store<DiskSpillStore>);

}  // namespace coppice
