// SPDX-License-Identifier: MIT
#pragma once

#include "fidelity.hpp"
#include "json.hpp"
#include "options.hpp"
#include "outcome.hpp"

#include <coppice/coppice.hpp>
#include <coppice/json_shape.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace coppice_cli {

namespace detail {

// What surrounds the JSON value, kept as it came: a byte order mark and white space.
inline std::string_view margin_before(std::string_view body) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    const std::size_t start = body.substr(0, mark.size()) == mark ? mark.size() : 0;
    const std::size_t value = body.find_first_not_of(" \t\r\n", start);
    return body.substr(0, value == std::string_view::npos ? body.size() : value);
}

inline std::string_view margin_after(std::string_view body) {
    const std::size_t last = body.find_last_not_of(" \t\r\n");
    return last == std::string_view::npos ? std::string_view() : body.substr(last + 1);
}

}  // namespace detail

/// Prunes a body that nlohmann/json reads and writes again, and refuses where that would change more than the edits.
class ViaDom {
public:
    Outcome run(const Options& options, std::string_view body) {
        // before parsing: ordered_json copies values, and so calls itself once a level, when an object grows; and for each
        // member it looks at all that are there
        const coppice::JsonShape shape = coppice::json_shape(body);
        if (shape.depth > 1000) { return unchanged(body, "nested too deeply for a DOM to be written again"); }
        if (shape.members > 20'000) { return unchanged(body, "an object too large for a DOM that keeps its order"); }
        auto document = parse_json<nlohmann::ordered_json>(body);
        if (document.is_discarded()) { return unchanged(body, "not valid JSON"); }
        Outcome outcome(body);
        outcome.report = coppice::plan(document, *options.pipeline, inputs_of(options));
        if (!outcome.report.engaged) { return outcome; }
        const std::string_view before = detail::margin_before(body);
        const std::string_view after = detail::margin_after(body);
        const Fidelity fidelity = compare(body.substr(before.size()), document.dump());
        if (fidelity == Fidelity::lossy) {
            return unchanged(body, "writing the body again would lose a duplicate key or digits of a number");
        }
        outcome.report = coppice::prune(document, *options.pipeline, inputs_of(options));
        if (fidelity == Fidelity::respelled) {
            outcome.report.warnings.push_back("some numbers or strings have another spelling of the same value");
        }
        written_.clear();
        written_.append(before).append(document.dump()).append(after);
        if (written_.size() >= body.size()) {
            return unchanged(body, "writing the numbers of the body again would take more than the edits save");
        }
        outcome.pieces = {written_};
        outcome.bytes_out = written_.size();
        return outcome;
    }

private:
    std::string written_;
};

}  // namespace coppice_cli
