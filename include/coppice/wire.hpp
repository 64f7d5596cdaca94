// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/exceptions.hpp>

#include <coppice/detail/reporting.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/report.hpp>
#include <coppice/wire/cursor.hpp>
#include <coppice/wire/source.hpp>
#include <coppice/wire/structure.hpp>
#include <coppice/wire/writer.hpp>

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace coppice::inline v0 {

/// What became of a body of bytes.
struct PrunedBody {
    Report report;          ///< what was done
    std::string rewritten;  ///< empty while the input stands: nothing is copied then

    /// The body to send. `input` is what was passed to `prune`.
    std::string_view bytes(std::string_view input) const& { return report.engaged ? rewritten : input; }
    std::string_view bytes(std::string_view) const&& = delete;  // it would point into what is gone
};

/// What pruning calls work with, and the report of the latest. A proxy keeps one per thread: after the first bodies of a
/// size, calls allocate nothing.
struct WireWorkspace {
    Report report;                       ///< of the call before; the others are of no use to anybody else
    Workspace planning;                  ///< what any back end works with
    detail::WireStructure structure;     ///< where values begin and end
    detail::WireSource::Scratch source;  ///< of questions about values
    detail::WireWriter writer;           ///< the pieces of the pruned body
};

namespace detail {

template <pipeline_like Pruner>
void prune_bytes(std::string_view body, const Pruner& pipeline, const Inputs& inputs, Commit commit,
                 WireWorkspace& workspace) {
    Report& report = workspace.report;
    workspace.writer.start(body);
    fail_open(report, [&] {
        reuse(report, workspace.planning.spare);
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
        const bool marked = body.substr(0, byte_order_mark.size()) == byte_order_mark;
        const std::size_t start = marked ? byte_order_mark.size() : 0;
        WireStructure& structure = workspace.structure;
        if (!structure.read(body.substr(start), start, report.why)) { return; }
        const WireSource source(structure, workspace.source);
        report.repeated_keys = structure.repeated_keys();
        prune_bodies(WireCursor(structure), pipeline, inputs, commit, workspace.planning, source, report,
                     [&](const Edit& edit) {
                         return workspace.writer.add(edit, workspace.planning.transcript.block);
                     });
        report.first_changed_offset = workspace.writer.first_difference();
    });
    if (!report.engaged) { workspace.writer.start(body); }
}

}  // namespace detail

/// Shortens the body of a request, or of a batch of requests, given as JSON text. Only the edited values differ in what
/// comes out; every other byte is the byte that came in. Never throws on data: whatever goes wrong, the input is what
/// is to be sent, and the report says why.
///
/// Text that has been compressed or signed is not for this: prune before that.
template <pipeline_like Pruner>
PrunedBody prune(std::string_view body, const Pruner& pipeline, const Inputs& inputs = {}) {
    PrunedBody out;
    detail::fail_open(out.report, [&] {
        WireWorkspace workspace;
        detail::prune_bytes(body, pipeline, inputs, detail::Commit::yes, workspace);
        out.report = std::move(workspace.report);
        if (!out.report.engaged) { return; }
        // not needed for writing, and the body is about to be in memory twice
        workspace.planning = {};
        workspace.structure = {};
        out.rewritten = std::move(workspace.writer.joined());
    });
    return out;
}

/// The same with a workspace, whose `report` tells what was done. The answer is `body` itself where nothing changes, and
/// otherwise lies in the workspace until its next use.
template <pipeline_like Pruner>
std::string_view prune(std::string_view body, const Pruner& pipeline, WireWorkspace& workspace,
                       const Inputs& inputs = {}) {
    std::string_view out = body;
    detail::prune_bytes(body, pipeline, inputs, detail::Commit::yes, workspace);
    detail::fail_open(workspace.report, [&] {
        if (workspace.report.engaged) { out = workspace.writer.joined(); }
    });
    return out;
}

/// What this answers with would point into what is gone.
template <std::same_as<std::string> Temporary, pipeline_like Pruner>
std::string_view prune(Temporary&&, const Pruner&, WireWorkspace&, const Inputs& = {}) = delete;

/// The same without joining: pieces of `body` and of the workspace, none of them empty, for a vectored write. They are
/// valid until the workspace is used again, and have `body.size() - report.saved_bytes` bytes in all.
template <pipeline_like Pruner>
std::span<const std::string_view> prune_pieces(std::string_view body, const Pruner& pipeline,
                                               WireWorkspace& workspace, const Inputs& inputs = {}) {
    detail::prune_bytes(body, pipeline, inputs, detail::Commit::yes, workspace);
    std::span<const std::string_view> out = workspace.writer.untouched();
    detail::fail_open(workspace.report, [&] {
        if (workspace.report.engaged) { out = workspace.writer.pieces(); }
    });
    return out;
}

template <std::same_as<std::string> Temporary, pipeline_like Pruner>
std::span<const std::string_view> prune_pieces(Temporary&&, const Pruner&, WireWorkspace&, const Inputs& = {}) = delete;

/// Says what `prune` would do to a body.
template <pipeline_like Pruner>
Report plan(std::string_view body, const Pruner& pipeline, const Inputs& inputs = {}) {
    Report report;
    detail::fail_open(report, [&] {
        WireWorkspace workspace;
        detail::prune_bytes(body, pipeline, inputs, detail::Commit::no, workspace);
        report = std::move(workspace.report);
    });
    return report;
}

}  // namespace coppice
