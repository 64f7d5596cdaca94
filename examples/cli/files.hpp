// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#else
#include <unistd.h>
#endif

namespace coppice_cli {

/// Has standard input and output keep every byte. Elsewhere they do so by themselves.
inline void keep_bytes() {
#if defined(_WIN32)
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
}

/// Whether somebody watches what `say` says.
inline bool on_terminal() {
#if defined(_WIN32)
    return _isatty(_fileno(stderr)) != 0;
#else
    return ::isatty(STDERR_FILENO) == 1;
#endif
}

/// A file that cannot be read or written: exit code 1.
struct FileError : std::runtime_error {
    FileError(std::string_view doing, const std::string& path)
        : std::runtime_error(std::string(doing) + " '" + path + "': " + std::strerror(errno)) {}
};

/// Says something to people. Whether they hear it is none of our business: never fails.
inline void say(std::string_view words) noexcept { std::fwrite(words.data(), 1, words.size(), stderr); }

/// Whether both names mean one file, and writing one would overwrite the other.
inline bool same_file(const std::string& left, const std::string& right) {
    if (left == right) { return true; }
    if (left == "-" || right == "-") { return false; }
    std::error_code failed;
    return std::filesystem::is_regular_file(left, failed) && std::filesystem::equivalent(left, right, failed);
}

/// Throws what `read_file` would throw, where that can be told without reading.
inline void check_readable(const std::string& path) {
    if (path == "-") { return; }
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) { throw FileError("cannot read", path); }
    std::fclose(file);
}

/// Throws what `write_file` would throw, where that can be told without writing.
inline void check_writable(const std::string& path) {
    if (path == "-") { return; }
    std::error_code failed;
    const bool known = std::filesystem::exists(path, failed);
    std::FILE* const file = std::fopen(path.c_str(), "ab");
    if (file == nullptr) { throw FileError("cannot write", path); }
    std::fclose(file);
    if (!known) { std::filesystem::remove(path, failed); }
}

inline std::string read_file(const std::string& path) {
    std::string content;
    std::error_code unknown;
    const std::uintmax_t size = path == "-" ? 0 : std::filesystem::file_size(path, unknown);
    if (!unknown) { content.reserve(size); }
    std::FILE* const file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
    if (file == nullptr) { throw FileError("cannot read", path); }
    char block[1 << 16];
    std::size_t count = 0;
    while ((count = std::fread(block, 1, sizeof block, file)) > 0) { content.append(block, count); }
    const bool failed = std::ferror(file) != 0;
    if (failed) {
        const FileError error("cannot read", path);
        if (file != stdin) { std::fclose(file); }
        throw error;
    }
    if (file != stdin) { std::fclose(file); }
    return content;
}

inline void write_file(const std::string& path, std::span<const std::string_view> pieces) {
    std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
    if (file == nullptr) { throw FileError("cannot write", path); }
    bool written = true;
    for (const std::string_view piece : pieces) {
        written = written && std::fwrite(piece.data(), 1, piece.size(), file) == piece.size();
    }
    written = (file == stdout ? std::fflush(file) : std::fclose(file)) == 0 && written;
    if (!written) { throw FileError("cannot write", path); }
}

inline void write_file(const std::string& path, std::string_view content) {
    write_file(path, std::span(&content, 1));
}

}  // namespace coppice_cli
