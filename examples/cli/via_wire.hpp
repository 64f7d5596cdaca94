// SPDX-License-Identifier: MIT
#pragma once

#include "options.hpp"
#include "outcome.hpp"

#include <coppice/wire.hpp>

#include <string_view>
#include <utility>

namespace coppice_cli {

/// Prunes bytes: what is not edited comes out as it came in.
class ViaWire {
public:
    Outcome run(const Options& options, std::string_view body) {
        Outcome outcome(body);
        if (options.command == Options::Command::explain) {
            outcome.report = coppice::plan(body, *options.pipeline, inputs_of(options));
            outcome.bytes_out -= outcome.report.saved_bytes;
            return outcome;
        }
        const auto pieces = coppice::prune_pieces(body, *options.pipeline, workspace_, inputs_of(options));
        outcome.pieces.assign(pieces.begin(), pieces.end());
        outcome.report = std::move(workspace_.report);
        outcome.bytes_out = 0;
        for (const std::string_view piece : pieces) { outcome.bytes_out += piece.size(); }
        return outcome;
    }

private:
    coppice::WireWorkspace workspace_;
};

}  // namespace coppice_cli
