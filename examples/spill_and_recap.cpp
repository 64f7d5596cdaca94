// SPDX-License-Identifier: MIT
// How does a host keep huge tool output out of the transcript, and carry on after a break? It spills what is huge to
// its own disk, where the model can read it in pieces, and builds a recap from its own log when it starts anew.
#include <coppice/coppice.hpp>
#include <coppice/spill/disk.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace {

using Json = nlohmann::ordered_json;

// What this host keeps of each step, in a type of its own.
struct LogEntry {
    enum class Kind { ask, call, result };
    Kind kind;
    std::string call_id;
    std::string tool;
    std::string text;
    bool failed = false;
};

coppice::SessionMessage as_message(const LogEntry& entry) {
    coppice::SessionMessage message{.call_id = entry.call_id, .tool = entry.tool, .text = entry.text};
    switch (entry.kind) {
        case LogEntry::Kind::ask: message.role = coppice::SessionRole::user; break;
        case LogEntry::Kind::call: message.role = coppice::SessionRole::tool_call; break;
        case LogEntry::Kind::result: message.role = coppice::SessionRole::tool_result; break;
    }
    message.error = entry.failed;
    return message;
}

std::string build_output() {
    std::string output;
    for (int i = 0; i < 3000; ++i) {
        output += fmt::format("[{}/3000] cc -c src/unit_{}.c\n", i + 1, i);
        if (i == 1700) { output += "src/unit_1700.c:12:5: error: unknown type name 'size'\n"; }
    }
    return output + "make: *** [all] Error 1\n";
}

Json request_from(const std::vector<LogEntry>& log) {
    Json messages = Json::array();
    const auto add = [&messages](const char* role, Json block) {
        messages.push_back({{"role", role}, {"content", Json::array({std::move(block)})}});
    };
    for (const LogEntry& entry : log) {
        switch (entry.kind) {
            case LogEntry::Kind::ask: add("user", {{"type", "text"}, {"text", entry.text}}); break;
            case LogEntry::Kind::call:
                add("assistant", {{"type", "tool_use"},
                                  {"id", entry.call_id},
                                  {"name", entry.tool},
                                  {"input", Json::parse(entry.text)}});
                break;
            case LogEntry::Kind::result:
                add("user", {{"type", "tool_result"},
                             {"tool_use_id", entry.call_id},
                             {"content", entry.text},
                             {"is_error", entry.failed}});
        }
    }
    return {{"model", "a-model"}, {"max_tokens", 1024}, {"messages", messages}};
}

}  // namespace

int main() {
    const auto root = std::filesystem::temp_directory_path() / fmt::format("coppice-example-{}", ::getpid());
    coppice::DiskSpillStore store(root, {.session = "the session's id"});

    using Kind = LogEntry::Kind;
    const std::vector<LogEntry> log = {
        {Kind::ask, "", "", "make the build pass"},
        {Kind::call, "call_1", "Bash", R"({"command": "make -j8"})"},
        {Kind::result, "call_1", "Bash", build_output(), true},
    };

    // before each request: the model sees head, tail, the lines that matter, and where the rest is
    const coppice::Pipeline pruner{
        coppice::Spill<coppice::Size{50'000}, coppice::DiskSpillStore>{.store = &store},
        coppice::KeepRecent<5>{}};
    Json request = request_from(log);
    const coppice::Report report = coppice::prune(request, pruner);
    fmt::print("request: {} bytes saved\n", report.saved_bytes);
    for (const coppice::StoredContent& stored : store.list().contents) {
        fmt::print("stored: {} bytes of {}\n", stored.bytes, stored.id.value_or("?"));
    }

    // after a break: one message instead of the history, with what the user asks now
    std::vector<coppice::SessionMessage> history;
    for (const LogEntry& entry : log) { history.push_back(as_message(entry)); }
    constexpr coppice::RecapBuilder<> builder;
    const coppice::Recap recap = builder.build(history);
    if (const auto message = builder.with_message(recap, "go on, please")) { fmt::print("\n{}\n", *message); }

    // the host deletes what nobody refers to any more
    store.remove_session();
    std::filesystem::remove_all(root);
}
