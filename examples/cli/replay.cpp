// SPDX-License-Identifier: MIT
#include "json.hpp"
#include "replay.hpp"

#include "files.hpp"
#include "replay/baselines.hpp"
#include "replay/html.hpp"
#include "replay/library.hpp"
#include "replay/run.hpp"
#include "replay/table.hpp"
#include "replay/to_json.hpp"

#include <coppice/json_shape.hpp>
#include <coppice/logs.hpp>
#include <coppice/prompt_cache.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice_cli {

namespace {

using coppice_replay::Json;
using coppice_replay::NamedPolicy;
using coppice_replay::Session;
using coppice_replay::SessionRun;

std::vector<NamedPolicy> all_policies() {
    std::vector<NamedPolicy> all = coppice_replay::baselines();
    for (NamedPolicy& policy : coppice_replay::library_policies()) { all.push_back(std::move(policy)); }
    return all;
}

// `none` first, whatever was asked for: everything is relative to it.
std::vector<NamedPolicy> chosen_policies(std::string_view wanted) {
    std::vector<NamedPolicy> all = all_policies();
    if (wanted.empty()) { return all; }
    std::vector<NamedPolicy> chosen = {all.front()};
    while (!wanted.empty()) {
        const std::size_t comma = std::min(wanted.find(','), wanted.size());
        const std::string_view name = wanted.substr(0, comma);
        wanted.remove_prefix(std::min(comma + 1, wanted.size()));
        const auto called = [name](const NamedPolicy& policy) { return policy.name == name; };
        const auto found = std::find_if(all.begin(), all.end(), called);
        if (found == all.end()) {
            std::string known;
            for (const NamedPolicy& policy : all) { known.append(known.empty() ? "" : ", ").append(policy.name); }
            throw UsageError(reject("--presets", name, known));
        }
        if (std::none_of(chosen.begin(), chosen.end(), called)) { chosen.push_back(*found); }
    }
    return chosen;
}

std::string file_name(std::string_view path) {
    return std::string(path.substr(std::min(path.rfind('/') + 1, path.size())));
}

// A request body or the log of a session; nothing where it is neither, and `why` then says so.
std::unique_ptr<Session> read_session(const std::string& path, std::string& why) {
    const std::string text = read_file(path);
    const std::string name = path == "-" ? "standard input" : file_name(path);
    std::unique_ptr<Session> session;
    if (std::optional<coppice::SessionLog> log = coppice::read_log(text)) {
        session = std::make_unique<Session>(name, std::move(log->body), log->dialect);
    } else {
        // as for the DOM that prune makes
        const coppice::JsonShape shape = coppice::json_shape(text);
        if (shape.depth > 1000 || shape.members > 20'000) {
            why = "nested too deeply, or an object too large";
            return nullptr;
        }
        Json document = parse_json<Json>(text);
        if (document.is_discarded()) {
            why = "not valid JSON";
            return nullptr;
        }
        session = std::make_unique<Session>(name, std::move(document));
    }
    why = session->refusal();
    return why.empty() ? std::move(session) : nullptr;
}

/// Where it is, on a terminal.
class Progress {
public:
    Progress(bool shown, std::size_t sessions) : shown_(shown), sessions_(sessions) {}
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void begin(std::size_t number, const std::string& path) {
        number_ = number;
        path_ = file_name(path);
    }
    void show(std::string_view policy, std::size_t request, std::size_t requests) {
        if (!shown_ || ++calls_ % 64 != 1) { return; }
        say(fmt::format("\r\x1B[Ksession {} of {} ({:.40}), request {} of {}, {}", number_, sessions_, path_, request,
                        requests, policy));
    }
    void clear() {
        if (shown_) { say("\r\x1B[K"); }
    }

private:
    bool shown_;
    std::size_t sessions_;
    std::size_t number_ = 0;
    std::size_t calls_ = 0;
    std::string path_;
};

}  // namespace

void replay(const Options& options) {
    const std::vector<NamedPolicy> policies = chosen_policies(options.presets);
    if (!options.prices.empty()) { prices_named("--prices", options.prices); }
    // minutes may pass until the last one's turn
    for (const std::string& path : options.files) { check_readable(path); }
    if (!options.html.empty()) { check_writable(options.html); }
    std::vector<SessionRun> runs;
    Progress progress(on_terminal(), options.files.size());
    const bool with_strip = options.json || !options.html.empty();
    for (std::size_t i = 0; i < options.files.size(); ++i) {
        const std::string& path = options.files[i];
        std::string why;
        progress.begin(i + 1, path);
        const std::unique_ptr<Session> session = read_session(path, why);
        if (session == nullptr) {
            progress.clear();
            say(fmt::format("coppice: {} is left out: {}\n", path, why));
            continue;
        }
        const std::size_t requests = session->requests().size();
        runs.push_back(coppice_replay::replay(
            *session, policies, with_strip, [&](const coppice_replay::Request& request, std::string_view policy) {
                progress.show(policy, request.number, requests);
            }));
    }
    progress.clear();
    if (runs.empty()) { say("coppice: no session to replay\n"); }
    if (!options.html.empty()) {
        const std::string title =
            runs.size() == 1 ? runs[0].session : fmt::format("{} recorded sessions", runs.size());
        write_file(options.html, coppice_replay::html_page(runs, title));
    }
    // the page is all that goes there
    if (options.html == "-") { return; }
    if (options.json) {
        const Json json = coppice_replay::to_json(runs, policies, options.prices);
        write_file("-", json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
    } else {
        write_file("-", coppice_replay::table(runs, options.prices));
    }
}

}  // namespace coppice_cli
