// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"

namespace coppice_cli {

/// The command `replay`: what policies would have done to recorded sessions, as a table. Throws UsageError for a policy
/// or row of prices that there is none of, FileError for a file that cannot be read or written.
void replay(const Options& options);

}  // namespace coppice_cli
