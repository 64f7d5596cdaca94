// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice::inline v0 {

/// One replaced value, or one block that left its message. Of names and ids, at most 1,024 characters.
struct EditRecord {
    std::size_t request = 0;  ///< position in a batch, otherwise 0
    std::size_t message = 0;  ///< index in the body's list
    std::size_t block = 0;    ///< index in the message's content
    /// JSON Pointer inside the block: `/content`, `/input/edits/0/new_string`; empty where it is the block itself:
    /// an image of the user's, or reasoning that was dropped. Inside a string that holds JSON, a `#` and a pointer follow:
    /// `/function/arguments#/content`.
    std::string path;
    std::string_view reason;    ///< name of the policy, which lives as long as the program
    std::string id;             ///< of the call
    std::string tool;           ///< empty where nobody knows
    std::string identity;       ///< path, command, ... of the call
    bool out_of_sight = false;  ///< no other result of this path or command stays whole
    std::string replacement;    ///< the text that was written; none where a list of media was emptied or a block dropped
    /// Of the value: as it stood in the bytes; of a DOM, as compact JSON. Of a dropped block, with the comma.
    std::size_t bytes_before = 0;
    std::size_t bytes_after = 0;  ///< of what takes its place, serialised
};

/// A content block of the body that is sent.
struct BlockPlace {
    std::size_t message = 0;  ///< index in the body's list
    std::size_t block = 0;    ///< index in the message's content

    friend bool operator==(const BlockPlace&, const BlockPlace&) = default;
};

/// Messages that a host may replace by a summary: what was pruned, with both halves of every call that it holds.
struct CompactionRange {
    std::size_t first_message = 0;  ///< the first that may go
    std::size_t end_message = 0;    ///< the first one behind it
    std::size_t user_messages = 0;  ///< in which the user says something; a summary should keep that
    std::size_t tokens = 0;         ///< as they are sent now, estimated

    friend bool operator==(const CompactionRange&, const CompactionRange&) = default;
};

/// Edits of one reason, added up.
struct ReasonTotal {
    std::string_view reason;      ///< name of the policy
    std::size_t count = 0;        ///< edits
    std::size_t saved_bytes = 0;  ///< of the body, serialised
};

/// What a pruning call did, or would do. `saved_bytes` is the sum over `edits`, and the sum over `by_reason`.
///
/// Tokens are estimates: a quarter of a token for an ASCII character, more for others, a fixed number for an image.
/// Prices are those of the cadence, where it has some, otherwise Anthropic's for entries of five minutes. What they give
/// holds while the provider has cached the request before this one.
struct Report {
    bool engaged = false;         ///< something changed
    std::string why;              ///< when nothing did
    std::string dialect;          ///< empty when none was recognised
    std::size_t saved_bytes = 0;  ///< what the body is shorter; of a DOM, as compact JSON
    std::optional<std::size_t> first_changed_message;  ///< index in the body's list
    std::optional<std::size_t> first_changed_offset;  ///< of bytes: where they differ first
    std::optional<bool> under_target;  ///< where a ceiling is part of the pipeline and was looked at
    std::string ceiling_why;           ///< why the ceiling was not reached
    std::vector<EditRecord> edits;  ///< in the order of the body
    std::vector<ReasonTotal> by_reason;  ///< in the order of their first edit
    std::size_t unpaired_calls = 0;      ///< calls without an answer
    std::size_t unpaired_results = 0;    ///< results without their call
    std::size_t horizon = 0;             ///< messages up to here were open to change; in a batch, the most
    std::size_t requests = 0;            ///< requests that were read: 1, or those of a batch
    std::size_t repeated_keys = 0;  ///< of bytes: objects with two members of one name, all left as they are
    std::vector<std::string> warnings;  ///< what a host should know beside

    std::size_t tokens_before = 0;  ///< of the body as it came, estimated
    std::size_t tokens_after = 0;   ///< of the body as it goes, estimated
    /// What was cached is not a beginning of this body any more: the cadence let the history change with this request.
    bool rewrites = false;
    std::optional<std::size_t> first_rewritten_message;  ///< index in the body's list
    std::size_t tokens_rebilled = 0;                     ///< of a rewrite: what was cached, stays, and has to be read anew
    /// What this request costs less than the whole history would, in input tokens; negative where a rewrite has not paid
    /// yet.
    double net_tokens = 0;
    /// Of a rewrite: with so many requests, this one counted, it has paid; empty where it spares nothing.
    std::optional<double> break_even_requests;
    /// A cache breakpoint here, with this request, lets the provider find what stands before the first change: of this
    /// rewrite, and otherwise of the next one, as far as it can be told. Where the provider has breakpoints. A host that
    /// sets it tells the cadence: `CacheRules{.look_back = 0}`.
    std::optional<BlockPlace> suggested_breakpoint;
    /// Of one request, where pruning has taken 2,000 tokens or more out of these messages. Nothing in it waits for an answer
    /// or is unread, and no step of the model is cut in two.
    std::optional<CompactionRange> suggested_compaction;
    /// What cannot be cleared exceeds the mark of the cadence or the limit of the host; nothing is rewritten for it. In a
    /// tool loop of a model that binds its thinking, that is all.
    bool saturated = false;
};

}  // namespace coppice
