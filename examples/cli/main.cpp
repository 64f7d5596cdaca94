// SPDX-License-Identifier: MIT
// The `coppice` program: a request body in, a shorter one out; a session in, its recap out; recorded sessions in, a
// comparison of policies out.
#include "files.hpp"
#include "hints.hpp"
#include "json.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "presets.hpp"
#include "printing.hpp"
#include "recap.hpp"
#include "replay.hpp"
#include "via_dom.hpp"
#include "via_log.hpp"
#if COPPICE_CLI_WIRE
#include "via_wire.hpp"
#endif

#include <coppice/config.hpp>
#include <coppice/ledger.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice_cli::Options;
using coppice_cli::Outcome;

bool switched_off(const Options& options) {
    const char* const value = std::getenv("OSW_HISTORY_PRUNE");
    if (coppice_cli::preset_name(options) != "openswarm" || value == nullptr) { return false; }
    std::string lower;
    for (const char* c = value; *c != '\0'; ++c) {
        lower += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
    return lower == "off";
}

bool debugging(const Options& options) {
    const char* const value = std::getenv("OSW_HISTORY_PRUNE_DEBUG");
    return coppice_cli::preset_name(options) == "openswarm" && value != nullptr && std::string_view(value) == "1";
}

// Where a file was given, shows its JSON to `take`.
template <class Take>
void read_json(const std::string& option, const std::string& file, Take take) {
    if (file.empty()) { return; }
    const auto json = coppice_cli::parse_json<nlohmann::json>(coppice_cli::read_file(file));
    if (json.is_discarded()) { throw coppice_cli::UsageError(option + " " + file + " is not valid JSON"); }
    try {
        take(json);
    } catch (const std::invalid_argument& error) {
        throw coppice_cli::UsageError(option + " " + file + ": " + error.what());
    }
}

void read_ledger(Options& options) {
    read_json("--ledger", options.ledger, [&](const auto& json) { options.notes = coppice::ledger_from_json(json); });
}

void read_hints(Options& options) {
    read_json("--hints", options.hints, [&](const auto& json) { coppice_cli::read_hints(json, options); });
}

void choose_pipeline(Options& options) {
    read_json("--config", options.config,
              [&](const auto& json) { options.pipeline = coppice::pipeline_from_json(json); });
    if (!options.pipeline) { options.pipeline = coppice_cli::chosen_pipeline(options); }
}

int run_program(const std::vector<std::string_view>& words) {
    Options options = coppice_cli::parse_options(words);
    read_ledger(options);
    read_hints(options);
    if (options.command == Options::Command::help) {
        coppice_cli::write_file("-", coppice_cli::usage);
        return 0;
    }
    if (options.command == Options::Command::version) {
        coppice_cli::write_file("-", coppice_cli::version_line);
        return 0;
    }
    if (options.command == Options::Command::replay) {
        coppice_cli::replay(options);
        return 0;
    }
    if (options.command == Options::Command::recap) {
        const coppice_cli::RecapOutcome outcome =
            coppice_cli::recap(options, coppice_cli::read_file(options.in));
        coppice_cli::write_file("-", outcome.text);
        for (const std::string& note : outcome.notes) {
            coppice_cli::say(fmt::format("coppice: {}\n", note));
        }
        return 0;
    }
    choose_pipeline(options);
    const bool body_to_out = options.command == Options::Command::prune;
    const bool report_hits_body = coppice_cli::same_file(options.report, body_to_out ? options.out : "-") ||
                                  (options.in != "-" && coppice_cli::same_file(options.report, options.in));
    if (!options.report.empty() && report_hits_body) {
        throw coppice_cli::UsageError(body_to_out ? "--report would overwrite the body"
                                                  : "--report would overwrite the table or the body");
    }
    const std::string body = coppice_cli::read_file(options.in);
    coppice_cli::ViaDom dom;
#if COPPICE_CLI_WIRE
    coppice_cli::ViaWire wire;
#endif
    const Outcome outcome = [&] {
        if (switched_off(options)) {
            return coppice_cli::unchanged(body, "switched off by OSW_HISTORY_PRUNE");
        }
        Outcome pruned = [&] {
#if COPPICE_CLI_WIRE
            if (options.via == Options::Via::wire) { return wire.run(options, body); }
#endif
            return dom.run(options, body);
        }();
        if (!pruned.report.dialect.empty()) { return pruned; }
        // no request body; perhaps the log of a session
        std::optional<Outcome> log = body_to_out ? coppice_cli::refuse_log(body)
                                                 : coppice_cli::explain_log(options, body);
        return log ? *std::move(log) : std::move(pruned);
    }();
    if (options.command == Options::Command::explain) {
        coppice_cli::write_file("-", coppice_cli::explanation(options, outcome));
    } else {
        coppice_cli::write_file(options.out, outcome.pieces);
        if (!outcome.report.engaged) {
            coppice_cli::say(fmt::format("coppice: unchanged: {}\n", outcome.report.why));
        }
    }
    if (!options.report.empty()) {
        coppice_cli::write_file(options.report, coppice_cli::report_text(options, outcome));
    }
    if (debugging(options)) {
        coppice_cli::say(fmt::format("[history-prune] {} edits, {} bytes saved\n",
                                     outcome.report.edits.size(), outcome.report.saved_bytes));
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    coppice_cli::keep_bytes();
    try {
        return run_program(std::vector<std::string_view>(argv + 1, argv + argc));
    } catch (const coppice_cli::UsageError& error) {
        coppice_cli::say(fmt::format("coppice: {}\nusage: see coppice --help\n", error.what()));
        return 2;
    } catch (const std::exception& error) {
        coppice_cli::say(fmt::format("coppice: {}\n", error.what()));
        return 1;
    }
}
