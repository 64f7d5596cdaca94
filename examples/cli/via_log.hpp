// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"
#include "outcome.hpp"

#include <coppice/coppice.hpp>
#include <coppice/logs.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace coppice_cli {

/// What pruning would do to the request that a session log leads to. Nothing, where the text is no session log.
inline std::optional<Outcome> explain_log(const Options& options, std::string_view text) {
    const std::optional<coppice::SessionLog> log = coppice::read_log(text);
    if (!log) { return {}; }
    Outcome outcome(text);
    const coppice::Dialect dialect =
        options.dialect == coppice::Dialect::detect ? log->dialect : options.dialect;
    coppice::Inputs inputs = inputs_of(options);
    inputs.dialect = dialect;
    outcome.report = coppice::plan(log->body, *options.pipeline, inputs);
    outcome.bytes_in = coppice::measure_document(log->body).bytes;
    outcome.bytes_out = outcome.bytes_in - outcome.report.saved_bytes;
    outcome.lines = log->lines;
    outcome.report.warnings.push_back("a log has no system prompt and no tools, so sizes are without them");
    outcome.report.warnings.insert(outcome.report.warnings.end(), log->notes.begin(), log->notes.end());
    return outcome;
}

/// The same for `prune`, which writes no logs: why it is left as it is.
inline std::optional<Outcome> refuse_log(std::string_view text) {
    if (!coppice::log_format_of(text)) { return {}; }
    return unchanged(text, "a session log; those are read by coppice explain, and never written");
}

}  // namespace coppice_cli
