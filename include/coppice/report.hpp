// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

/// One replaced value. Of names and ids, at most 1,024 characters.
struct EditRecord {
    std::size_t request = 0;  ///< position in a batch, otherwise 0
    std::size_t message = 0;
    std::size_t block = 0;
    /// JSON Pointer inside the block: `/content`, `/input/edits/0/new_string`. Inside a string that holds JSON, a `#`
    /// and a pointer follow: `/function/arguments#/content`.
    std::string path;
    std::string_view reason;  ///< name of the policy, which lives as long as the program
    std::string id;           ///< of the call
    std::string tool;
    std::string replacement;       ///< the text that was written; none where a list of media was emptied
    std::size_t bytes_before = 0;  ///< of the value: as it stood in the bytes; of a DOM, as compact JSON
    std::size_t bytes_after = 0;
};

/// Edits of one reason, added up.
struct ReasonTotal {
    std::string_view reason;
    std::size_t count = 0;
    std::size_t saved_bytes = 0;
};

/// What a pruning call did, or would do. `saved_bytes` is the sum over `edits`, and the sum over `by_reason`.
struct Report {
    bool engaged = false;         ///< something changed
    std::string why;              ///< when nothing did
    std::string dialect;          ///< empty when none was recognised
    std::size_t saved_bytes = 0;  ///< what the body is shorter; of a DOM, as compact JSON
    std::optional<std::size_t> first_changed_message;
    std::optional<std::size_t> first_changed_offset;  ///< of bytes: where they differ first
    std::optional<bool> under_target;  ///< where a ceiling is part of the pipeline and was looked at
    std::string ceiling_why;           ///< why the ceiling was not reached
    std::vector<EditRecord> edits;
    std::vector<ReasonTotal> by_reason;  ///< in the order of their first edit
    std::size_t unpaired_calls = 0;      ///< calls without an answer
    std::size_t unpaired_results = 0;    ///< results without their call
    std::size_t horizon = 0;             ///< messages up to here were open to change; in a batch, the most
    std::size_t requests = 0;            ///< requests that were read: 1, or those of a batch
    std::size_t repeated_keys = 0;  ///< of bytes: objects with two members of one name, all left as they are
    std::vector<std::string> warnings;
};

}  // namespace coppice
