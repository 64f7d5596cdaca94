// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

// The one place that says it: CMakeLists.txt reads these lines. While the first is 0, the second counts what breaks.
#define COPPICE_VERSION_MAJOR 0
#define COPPICE_VERSION_MINOR 1
#define COPPICE_VERSION_PATCH 0

#define COPPICE_DETAIL_JOIN(major, minor, patch) #major "." #minor "." #patch
#define COPPICE_DETAIL_SPELL(major, minor, patch) COPPICE_DETAIL_JOIN(major, minor, patch)

namespace coppice::inline v0 {

/// "MAJOR.MINOR.PATCH", as in semantic versioning, https://semver.org.
inline constexpr std::string_view library_version =
    COPPICE_DETAIL_SPELL(COPPICE_VERSION_MAJOR, COPPICE_VERSION_MINOR, COPPICE_VERSION_PATCH);

}  // namespace coppice

#undef COPPICE_DETAIL_SPELL
#undef COPPICE_DETAIL_JOIN
