// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/report.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice_cli {

/// What became of a body: at first, nothing.
struct Outcome {
    explicit Outcome(std::string_view body) : pieces{body}, bytes_in(body.size()), bytes_out(body.size()) {}

    coppice::Report report;
    std::vector<std::string_view> pieces;  ///< to be written; they stay as long as the body and the route do
    std::size_t bytes_in;
    std::size_t bytes_out;
    std::vector<std::size_t> lines;  ///< of a session log: for each message, the line that it came from
};

inline Outcome unchanged(std::string_view body, std::string why) {
    Outcome outcome(body);
    outcome.report.why = std::move(why);
    return outcome;
}

}  // namespace coppice_cli
