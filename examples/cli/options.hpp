// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/any_pipeline.hpp>
#include <coppice/dialect.hpp>
#include <coppice/hints.hpp>
#include <coppice/ledger.hpp>
#include <coppice/prompt_cache.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace coppice_cli {

/// Wrong words on the command line: exit code 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline constexpr std::string_view usage =
    "usage: coppice prune   [OPTIONS] [IN [OUT]]   shorten a request body\n"
    "       coppice explain [OPTIONS] [IN]         print what prune would do, as a table\n"
    "       coppice recap   [OPTIONS] [SESSION]    print the recap of a session file\n"
    "       coppice replay  [OPTIONS] BODY...      print what policies would have done to recorded sessions\n"
    "\n"
    "  --preset standard|openswarm|hermes|triage   default: standard\n"
    "  --config FILE                           the whole pipeline as JSON, instead of --preset and --cadence\n"
    "                                          (coppice/config.hpp, config.schema.json)\n"
    "  --dialect auto|anthropic|openai-chat|openai-responses|gemini|bedrock   default: auto, from the body alone\n"
#if COPPICE_CLI_WIRE
    "  --via wire|dom                          default: wire, which keeps every byte that is not edited\n"
#else
    "  --via dom                               default: dom; this build has no simdjson for wire\n"
#endif
    "  --cadence every-request|stepped:N|min-reclaim:TOKENS|watermark:HIGH:LOW|regrowth:TOKENS|pressure:WINDOW\n"
    "            |ski-rental[:PRICES]\n"
    "                                          default: the preset's own, whose size to begin at stays\n"
    "  --ledger FILE                           what was known at earlier requests, as JSON (coppice/ledger.hpp)\n"
    "  --hints FILE                            what is known of single calls, as JSON: lists of ids under pin, useless\n"
    "                                          and regenerable\n"
    "  --model NAME                            which model it is for, whatever the body says\n"
    "  --report FILE                           write what was done, as JSON; - is standard output, if OUT is a file\n"
    "  --format text|markdown|json             of explain: how it prints; default: text\n"
    "\n"
    "of recap, where --preset says whose texts and numbers, standard's or openswarm's:\n"
    "  --branch ID                             default: the session's active branch\n"
    "  --cutoff ID                             default: the session's own; results up to this message are "
    "stubs\n"
    "\n"
    "of replay, which feeds every request of each session through every policy; no model runs:\n"
    "  --presets A,B,...                       default: all; a wrong name is answered with a list\n"
    "  --prices NAME                           one row of prices; default: all\n"
    "  --json                                  everything as JSON, instead of a table\n"
    "  --html FILE                             a page with charts and what the sessions say, too; - is standard output\n"
    "\n"
    "explain and replay read session logs of Claude Code, Codex and dsh, too.\n"
    "IN, OUT, SESSION and BODY are files; without them, or with -, standard input and output.\n"
    "A body that cannot be pruned comes back as it was, and a session that cannot be read gives nothing, "
    "with a\n"
    "line on stderr that says why.\n"
    "Exit codes: 0, also for any body; 1 a file cannot be read or written; 2 wrong usage.\n"
    "With --preset openswarm, OSW_HISTORY_PRUNE=off switches pruning off and OSW_HISTORY_PRUNE_DEBUG=1 "
    "prints\n"
    "a line of figures on stderr.\n";

inline constexpr bool has_wire = COPPICE_CLI_WIRE;

inline constexpr std::string_view version_line = "coppice " COPPICE_VERSION "\n";

struct Options {
    enum class Command { prune, explain, recap, replay, help, version };
    enum class Via { wire, dom };
    enum class Format { text, markdown, json };

    Command command = Command::help;
    std::string preset = "standard";
    Via via = has_wire ? Via::wire : Via::dom;
    coppice::Dialect dialect = coppice::Dialect::detect;
    nlohmann::json cadence;  // other than the preset's, as a configuration has it
    bool preset_named = false;
    std::string config;  // a file
    std::optional<coppice::AnyPipeline> pipeline;  // what it says, or preset and cadence do
    std::string ledger;  // a file; what it says:
    coppice::Ledger notes;
    std::string hints;  // the same
    std::vector<std::string> hinted_ids;
    std::vector<coppice::Hint> known;  // in the order of these
    std::string model;
    std::string report;
    Format format = Format::text;  // of what `explain` prints
    std::optional<std::string> branch;  // of a recap, as the next one
    std::optional<std::string> cutoff;
    std::string presets;                // of a replay, as the next ones
    std::string prices;
    std::string html;
    bool json = false;
    std::vector<std::string> files;
    std::string in = "-";
    std::string out = "-";
};

/// What pruning calls are told.
inline coppice::Inputs inputs_of(const Options& options) {
    coppice::Inputs inputs{options.notes, options.dialect};
    inputs.model = options.model;
    inputs.hints = options.known;
    return inputs;
}

inline std::size_t parse_count(std::string_view option, std::string_view text) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value == 0) {
        throw UsageError(std::string(option) + " takes a whole number of at least 1, not '" +
                         std::string(text) + "'");
    }
    return value;
}

// Names that the program will know; saying so is kinder than calling them unknown.
inline std::string reject(std::string_view option, std::string_view value, std::string_view known) {
    return std::string(option) + " '" + std::string(value) + "' is not available; choose " +
           std::string(known);
}

/// The prices of a row; `option` is what it was named for.
inline coppice::Prices prices_named(std::string_view option, std::string_view name) {
    std::string known;
    for (const coppice::prices::Row& row : coppice::prices::rows) {
        if (row.name == name) { return row.prices; }
        known += (known.empty() ? "" : ", ") + std::string(row.name);
    }
    throw UsageError(reject(option, name, known));
}

/// The cadence as a configuration has it.
inline nlohmann::json read_cadence(std::string_view value) {
    const std::string_view kind = value.substr(0, value.find(':'));
    const bool has_number = kind.size() < value.size();
    const std::string_view number = has_number ? value.substr(kind.size() + 1) : std::string_view();
    if (value == "every-request") { return {{"name", "every_request"}}; }
    if (kind == "stepped" && has_number) {
        return {{"name", "stepped"}, {"requests", parse_count("--cadence stepped:N", number)}};
    }
    if (kind == "min-reclaim" && has_number) {
        return {{"name", "min_reclaim"}, {"tokens", parse_count("--cadence min-reclaim:TOKENS", number)}};
    }
    if (kind == "watermark" && has_number) {
        constexpr std::string_view form = "--cadence watermark:HIGH:LOW";
        const std::size_t colon = number.find(':');
        if (colon == std::string_view::npos) { throw UsageError(std::string(form) + " takes two numbers"); }
        const std::size_t high = parse_count(form, number.substr(0, colon));
        const std::size_t low = parse_count(form, number.substr(colon + 1));
        if (low >= high) { throw UsageError(std::string(form) + " needs a LOW less than HIGH"); }
        return {{"name", "watermark"}, {"high", high}, {"low", low}};
    }
    if (kind == "regrowth" && has_number) {
        const std::size_t trigger = parse_count("--cadence regrowth:TOKENS", number);
        return {{"name", "regrowth"}, {"trigger", trigger}, {"again", trigger / 2}};
    }
    if (kind == "pressure" && has_number) {
        const std::size_t window = parse_count("--cadence pressure:WINDOW", number);
        if (window == 0 || window > coppice::none / 100) {
            throw UsageError("--cadence pressure:WINDOW takes the tokens of a context window");
        }
        return {{"name", "pressure"}, {"window", window}};
    }
    if (kind == "ski-rental") {
        nlohmann::json cadence{{"name", "ski_rental"}};
        if (has_number) {
            prices_named("--cadence ski-rental:PRICES", number);
            cadence["prices"] = number;
        }
        return cadence;
    }
    throw UsageError(reject("--cadence", value,
                            "every-request, stepped:N, min-reclaim:TOKENS, watermark:HIGH:LOW, regrowth:TOKENS, "
                            "pressure:WINDOW or ski-rental[:PRICES]"));
}

inline void read_option(Options& options, std::string_view name, std::string_view value) {
    if (name == "--preset") {
        const bool has_recap = value == "standard" || value == "openswarm";
        if (options.command == Options::Command::recap && !has_recap) {
            throw UsageError(reject(name, value, "standard or openswarm"));
        }
        if (!has_recap && value != "hermes" && value != "triage") {
            throw UsageError(reject(name, value, "standard, openswarm, hermes or triage"));
        }
        options.preset_named = true;
        options.preset = value;
    } else if (name == "--dialect") {
        options.dialect = coppice::Dialect::detect;
        if (value == "auto") { return; }
        options.dialect = coppice::dialect_named(value);
        if (options.dialect == coppice::Dialect::detect) {
            throw UsageError(reject(name, value,
                                    "auto, anthropic, openai-chat, openai-responses, gemini or bedrock"));
        }
    } else if (name == "--via") {
        if (value == "wire" && !has_wire) {
            throw UsageError("--via wire needs simdjson, which this program was built without; choose dom");
        }
        if (value != "wire" && value != "dom") {
            throw UsageError(reject(name, value, has_wire ? "wire or dom" : "dom"));
        }
        options.via = value == "wire" ? Options::Via::wire : Options::Via::dom;
    } else if (name == "--cadence") {
        options.cadence = read_cadence(value);
    } else if (name == "--config") {
        if (value.empty()) { throw UsageError("--config needs a file"); }
        options.config = value;
    } else if (name == "--ledger") {
        if (value.empty()) { throw UsageError("--ledger needs a file"); }
        options.ledger = value;
    } else if (name == "--hints") {
        if (value.empty()) { throw UsageError("--hints needs a file"); }
        options.hints = value;
    } else if (name == "--model") {
        if (value.empty()) { throw UsageError("--model needs a name"); }
        options.model = value;
    } else if (name == "--report") {
        if (value.empty()) { throw UsageError("--report needs a file"); }
        options.report = value;
    } else if (name == "--format") {
        if (value != "text" && value != "markdown" && value != "json") {
            throw UsageError(reject(name, value, "text, markdown or json"));
        }
        options.format = value == "text"       ? Options::Format::text
                         : value == "markdown" ? Options::Format::markdown
                                               : Options::Format::json;
    } else if (name == "--branch") {
        options.branch = value;
    } else if (name == "--presets") {
        if (value.empty()) { throw UsageError("--presets needs a name"); }
        options.presets = value;
    } else if (name == "--prices") {
        if (value.empty()) { throw UsageError("--prices needs a name"); }
        options.prices = value;
    } else if (name == "--html") {
        if (value.empty()) { throw UsageError("--html needs a file"); }
        options.html = value;
    } else {
        options.cutoff = value;
    }
}

inline bool is_option(Options::Command command, std::string_view word) {
    const std::vector<std::string_view> of_recap = {"--preset", "--branch", "--cutoff"};
    const std::vector<std::string_view> of_bodies = {"--preset", "--dialect", "--via", "--cadence", "--config",
                                                     "--ledger", "--hints",   "--model", "--report"};
    const std::vector<std::string_view> of_replay = {"--presets", "--prices", "--html", "--json"};
    if (word == "--format") { return command == Options::Command::explain; }
    const auto& known = command == Options::Command::recap    ? of_recap
                        : command == Options::Command::replay ? of_replay
                                                              : of_bodies;
    return std::find(known.begin(), known.end(), word) != known.end();
}

/// Reads the command line. Both `--option VALUE` and `--option=VALUE` are understood; `--` ends the options.
inline Options parse_options(const std::vector<std::string_view>& words) {
    Options options;
    if (words.empty()) { throw UsageError("a command is missing"); }
    if (words[0] == "prune") {
        options.command = Options::Command::prune;
    } else if (words[0] == "explain") {
        options.command = Options::Command::explain;
    } else if (words[0] == "recap") {
        options.command = Options::Command::recap;
    } else if (words[0] == "replay") {
        options.command = Options::Command::replay;
    } else if (words[0] == "help" || words[0] == "--help" || words[0] == "-h") {
        return options;
    } else if (words[0] == "--version") {
        options.command = Options::Command::version;
        return options;
    } else {
        throw UsageError("unknown command '" + std::string(words[0]) + "'");
    }
    std::vector<std::string_view> files;
    bool options_end = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string_view word = words[i];
        const std::size_t equals = word.find('=');
        const std::string_view name = word.substr(0, equals);
        if (options_end || word == "-" || word.empty() || word[0] != '-') {
            files.push_back(word);
        } else if (word == "--") {
            options_end = true;
        } else if (word == "--help" || word == "-h") {
            options.command = Options::Command::help;
            return options;
        } else if (!is_option(options.command, name)) {
            throw UsageError("'" + std::string(name) + "' is no option of " + std::string(words[0]));
        } else if (word == "--json") {
            options.json = true;
        } else if (name == "--json") {
            throw UsageError("--json takes no value");
        } else if (equals != std::string_view::npos) {
            read_option(options, name, word.substr(equals + 1));
        } else if (i + 1 < words.size()) {
            read_option(options, word, words[++i]);
        } else {
            throw UsageError("'" + std::string(word) + "' needs a value");
        }
    }
    if (options.command == Options::Command::replay) {
        if (files.empty()) { throw UsageError("replay needs a recorded session"); }
        options.files.assign(files.begin(), files.end());
        if (options.json && options.html == "-") {
            throw UsageError("the figures and the page cannot both go to standard output");
        }
        return options;
    }
    const std::size_t most = options.command == Options::Command::prune ? 2 : 1;
    if (files.size() > most) { throw UsageError("too many files"); }
    if (!files.empty()) { options.in = files[0]; }
    if (files.size() == 2) { options.out = files[1]; }
    if (options.command == Options::Command::prune && options.report == "-" && options.out == "-") {
        throw UsageError("the body and the report cannot both go to standard output");
    }
    const auto from_input = [](const std::string& file) { return file == "-" ? 1 : 0; };
    if (from_input(options.in) + from_input(options.ledger) + from_input(options.hints) +
            from_input(options.config) > 1) {
        throw UsageError("only one of body, ledger, hints and configuration can come from standard input");
    }
    if (!options.config.empty() && (options.preset_named || !options.cadence.is_null())) {
        throw UsageError("--config stands instead of --preset and --cadence; write `preset` and `cadence` into the file");
    }
    return options;
}

}  // namespace coppice_cli
