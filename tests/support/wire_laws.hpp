// SPDX-License-Identifier: MIT
#pragma once

#include "any_pipeline.hpp"
#include "json_spans.hpp"

#include <coppice/dom.hpp>
#include <coppice/wire.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace support {

/// The text that an edit left: a string, or a block around one, alone or in an array.
std::string text_left_at(const JsonSpans& spans, Span value);

/// Whether an edit took a whole block out of its message.
inline bool is_drop(const coppice::EditRecord& edit) { return edit.path.empty() && edit.bytes_after == 0; }

/// Walks two texts with the edits of a report: what they replaced has the stated place and size in both, and
/// everything else is the same byte by byte. Returns how much they saved in all.
std::size_t check_spans(std::string_view in, std::string_view out, const coppice::Report& report);

/// What two reports share whoever held the document, and, where sizes are not those of the same spelling, without them.
void check_same_report(const coppice::Report& left, const coppice::Report& right, bool same_spelling = true);

/// A body in bytes, pruned in every way there is.
struct PrunedText {
    std::string out;
    coppice::Report report;
};

/// Prunes bytes in every way there is, and holds the ways against each other and against the laws of bytes.
PrunedText pruned_text(std::string_view in, const AnyPipeline& pipeline,
                       coppice::Dialect dialect = coppice::Dialect::detect);

/// Laws 1, 2, 6 and 9 for a body as compact JSON, given what became of it as a DOM.
void check_wire_laws(std::string_view in, std::string_view dom_out, const coppice::Report& dom_report,
                     const AnyPipeline& pipeline, coppice::Dialect dialect = coppice::Dialect::detect);

}  // namespace support
