// SPDX-License-Identifier: MIT
// The `coppice` program: a request body in, a shorter one out.
#include "fidelity.hpp"
#include "files.hpp"
#include "options.hpp"

#include <coppice/coppice.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice_cli::Fidelity;
using coppice_cli::Options;
using Json = nlohmann::ordered_json;

struct Outcome {
    coppice::Report report;
    std::string body;  ///< to be written; empty while the input stands
    std::size_t bytes_in = 0;
    std::size_t bytes_out = 0;
};

std::string_view preset_name(const Options& options) {
    return options.preset == Options::Preset::openswarm ? "openswarm" : "standard";
}

bool switched_off(const Options& options) {
    const char* const value = std::getenv("OSW_HISTORY_PRUNE");
    if (options.preset != Options::Preset::openswarm || value == nullptr) { return false; }
    std::string lower;
    for (const char* c = value; *c != '\0'; ++c) {
        lower += static_cast<char>(std::tolower(static_cast<unsigned char>(*c)));
    }
    return lower == "off";
}

bool debugging(const Options& options) {
    const char* const value = std::getenv("OSW_HISTORY_PRUNE_DEBUG");
    return options.preset == Options::Preset::openswarm && value != nullptr && std::string_view(value) == "1";
}

// Calls `work` with the preset's pipeline, its cadence replaced where the command line asks for another.
template <class Work>
auto with_pipeline(const Options& options, Work work) {
    const auto with_cadence = [&](auto make, coppice::Size engage) {
        if (options.stepped) {
            coppice::Stepped<> cadence;
            cadence.requests = *options.stepped;
            cadence.engage = engage;
            return work(make(cadence));
        }
        coppice::EveryRequest<> cadence;
        cadence.engage = engage;
        return work(make(cadence));
    };
    if (options.preset == Options::Preset::openswarm) {
        const auto preset = coppice::presets::openswarm();
        if (!options.every_request && !options.stepped) { return work(preset); }
        return with_cadence([](auto cadence) { return coppice::presets::openswarm(cadence); },
                            preset.template part<coppice::EveryRequest<coppice::utf16(300'000)>>().engage);
    }
    const auto preset = coppice::presets::standard();
    if (!options.every_request && !options.stepped) { return work(preset); }
    return with_cadence([](auto cadence) { return coppice::presets::standard(cadence); },
                        preset.template part<coppice::Stepped<10, coppice::Size{100'000}>>().engage);
}

// What surrounds the JSON value, kept as it came: a byte order mark and white space.
std::string_view margin_before(std::string_view body) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    const std::size_t start = body.substr(0, mark.size()) == mark ? mark.size() : 0;
    const std::size_t value = body.find_first_not_of(" \t\r\n", start);
    return body.substr(0, value == std::string_view::npos ? body.size() : value);
}

std::string_view margin_after(std::string_view body) {
    const std::size_t last = body.find_last_not_of(" \t\r\n");
    return last == std::string_view::npos ? std::string_view() : body.substr(last + 1);
}

Outcome unchanged(std::string why) {
    Outcome outcome;
    outcome.report.why = std::move(why);
    return outcome;
}

Outcome run(const Options& options, const std::string& body) {
    if (switched_off(options)) { return unchanged("switched off by OSW_HISTORY_PRUNE"); }
    // before parsing: ordered_json copies values, and so calls itself once a level, when an object grows
    if (coppice_cli::depth_of(body) > 1000) {
        return unchanged("nested too deeply for a DOM to be written again");
    }
    Json document = Json::parse(body, nullptr, false);
    if (document.is_discarded()) { return unchanged("not valid JSON"); }
    const auto dialect = options.force_dialect ? coppice::Dialect::anthropic : coppice::Dialect::detect;
    return with_pipeline(options, [&](const auto& pipeline) {
        Outcome outcome;
        outcome.report = coppice::plan(document, pipeline, dialect);
        if (!outcome.report.engaged) { return outcome; }
        const std::string_view before = margin_before(body);
        const std::string_view after = margin_after(body);
        const std::string_view value =
            std::string_view(body).substr(before.size(), body.size() - before.size());
        const Fidelity fidelity = coppice_cli::compare(value, document.dump());
        if (fidelity == Fidelity::lossy) {
            return unchanged("writing the body again would lose a duplicate key or digits of a number");
        }
        outcome.report = coppice::prune(document, pipeline, dialect);
        if (fidelity == Fidelity::respelled) {
            outcome.report.warnings.push_back(
                "some numbers or strings have another spelling of the same value");
        }
        outcome.body.append(before).append(document.dump()).append(after);
        if (outcome.body.size() >= body.size()) {
            return unchanged("writing the numbers of the body again would take more than the edits save");
        }
        return outcome;
    });
}

Json report_json(const Options& options, const Outcome& outcome) {
    coppice::Report report = outcome.report;
    const std::size_t edits_saved = report.saved_bytes;
    report.saved_bytes = outcome.bytes_in - outcome.bytes_out;
    if (report.saved_bytes != edits_saved) {
        report.warnings.push_back(fmt::format(
            "the edits saved {} bytes; the rest is white space and spelling that a DOM does not keep",
            edits_saved));
    }
    Json json = coppice::to_json(report);
    Json out = Json::object();
    for (auto item = json.begin(); item != json.end(); ++item) {
        out[item.key()] = item.value();
        if (item.key() == "dialect") {
            out["preset"] = preset_name(options);
            out["bytes_in"] = outcome.bytes_in;
            out["bytes_out"] = outcome.bytes_out;
        }
        if (item.key() == "saved_bytes") { out["first_changed_offset"] = nullptr; }
    }
    return out;
}

std::string cell(std::string_view text, std::size_t width) {
    std::string safe;
    coppice::append_safe(safe, text, width);
    return safe;
}

// As it is written, but for what would act on a terminal.
std::string line(std::string_view text) {
    std::string safe(text);
    for (char& c : safe) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) { c = ' '; }
    }
    return safe;
}

std::string table(const Options& options, const Outcome& outcome) {
    const coppice::Report& report = outcome.report;
    std::string out;
    const auto end = [&out] { return std::back_inserter(out); };
    if (!report.engaged) {
        fmt::format_to(end(), "{}: nothing would change: {}\n", preset_name(options), report.why);
        return out;
    }
    fmt::format_to(end(), "{:>9}  {:<18}{:<16}{:>9} {:>7}  {}\n", "msg.block", "reason", "tool", "bytes",
                   "after", "written instead");
    for (const coppice::EditRecord& edit : report.edits) {
        const std::string place = fmt::format("{}.{}", edit.message, edit.block);
        fmt::format_to(end(), "{:>9}  {:<18}{:<16}{:>9} {:>7}  {}\n", place, cell(edit.reason, 17),
                       cell(edit.tool, 15), edit.bytes_before, edit.bytes_after, line(edit.replacement));
    }
    out += '\n';
    for (const coppice::ReasonTotal& total : report.by_reason) {
        fmt::format_to(end(), "{:<18}{:>6} edits {:>10} bytes saved\n", total.reason, total.count,
                       total.saved_bytes);
    }
    fmt::format_to(end(), "{:<18}{:>6} edits {:>10} bytes saved, {} of {} left\n", "all", report.edits.size(),
                   report.saved_bytes, outcome.bytes_out, outcome.bytes_in);
    if (report.under_target && !*report.under_target) {
        fmt::format_to(end(), "still above the ceiling: {}\n", report.ceiling_why);
    }
    return out;
}

int run_program(const std::vector<std::string_view>& words) {
    const Options options = coppice_cli::parse_options(words);
    if (options.command == Options::Command::help) {
        coppice_cli::write_file("-", coppice_cli::usage);
        return 0;
    }
    if (options.command == Options::Command::version) {
        coppice_cli::write_file("-", coppice_cli::version_line);
        return 0;
    }
    const bool body_to_out = options.command == Options::Command::prune;
    const bool report_hits_body = coppice_cli::same_file(options.report, body_to_out ? options.out : "-") ||
                                  (options.in != "-" && coppice_cli::same_file(options.report, options.in));
    if (!options.report.empty() && report_hits_body) {
        throw coppice_cli::UsageError("--report would overwrite the body");
    }
    const std::string body = coppice_cli::read_file(options.in);
    Outcome outcome = run(options, body);
    outcome.bytes_in = body.size();
    outcome.bytes_out = outcome.report.engaged ? outcome.body.size() : body.size();
    if (options.command == Options::Command::explain) {
        coppice_cli::write_file("-", table(options, outcome));
    } else {
        coppice_cli::write_file(options.out, outcome.report.engaged ? outcome.body : body);
        if (!outcome.report.engaged) {
            coppice_cli::say(fmt::format("coppice: unchanged: {}\n", outcome.report.why));
        }
    }
    if (!options.report.empty()) {
        const Json report = report_json(options, outcome);
        coppice_cli::write_file(options.report,
                                report.dump(2, ' ', false, Json::error_handler_t::replace) + '\n');
    }
    if (debugging(options)) {
        coppice_cli::say(fmt::format("[history-prune] {} edits, {} bytes saved\n",
                                     outcome.report.edits.size(), outcome.report.saved_bytes));
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
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
