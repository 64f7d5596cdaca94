// SPDX-License-Identifier: MIT
#include <coppice/version.hpp>

#include <doctest/doctest.h>

#include <string>

// The preprocessor can compare it.
#if COPPICE_VERSION_MAJOR == 0 && COPPICE_VERSION_MINOR < 1
#error "older than the first release"
#endif

TEST_CASE("version: the numbers and the text are those of the build") {
    CHECK(coppice::library_version == COPPICE_VERSION);
    CHECK(coppice::library_version == std::to_string(COPPICE_VERSION_MAJOR) + "." +
                                          std::to_string(COPPICE_VERSION_MINOR) + "." +
                                          std::to_string(COPPICE_VERSION_PATCH));
}
