// SPDX-License-Identifier: MIT
#include <coppice/version.hpp>

#include <doctest/doctest.h>

#include <concepts>
#include <filesystem>
#include <fstream>
#include <string>

// The preprocessor can compare it.
#if COPPICE_VERSION_MAJOR == 0 && COPPICE_VERSION_MINOR < 1
#error "older than the first release"
#endif

// Two copies of the library that differ in the first number do not mix in one program.
static_assert(std::same_as<decltype(coppice::library_version), decltype(coppice::v0::library_version)>);

TEST_CASE("version: each header is in the inline namespace of the first number") {
    const std::string inside = "namespace coppice::inline v" + std::to_string(COPPICE_VERSION_MAJOR);
    std::size_t headers = 0;
    const std::filesystem::path root = std::filesystem::path(COPPICE_SOURCE_DIR) / "include";
    for (const auto& file : std::filesystem::recursive_directory_iterator(root)) {
        if (file.path().extension() != ".hpp") { continue; }
        CAPTURE(file.path().string());
        std::ifstream text(file.path());
        for (std::string line; std::getline(text, line);) {
            if (line.rfind("namespace coppice", 0) != 0) { continue; }
            ++headers;
            CHECK(line.rfind(inside, 0) == 0);
        }
    }
    CHECK(headers > 100);
}

TEST_CASE("version: the numbers and the text are those of the build") {
    CHECK(coppice::library_version == COPPICE_VERSION);
    CHECK(coppice::library_version == std::to_string(COPPICE_VERSION_MAJOR) + "." +
                                          std::to_string(COPPICE_VERSION_MINOR) + "." +
                                          std::to_string(COPPICE_VERSION_PATCH));
}
