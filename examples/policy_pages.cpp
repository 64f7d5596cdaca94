// SPDX-License-Identifier: MIT
// A page for each policy: what its header says, and one session before and after it.
//
//     policy_pages include/coppice/policies FOLDER
#include <coppice/config.hpp>
#include <coppice/coppice.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

// With numbers so small that a session of a page reaches them.
const std::map<std::string, std::string> settings = {
    {"bulky_input_clear", R"({"keep": 1, "min": 300})"},
    {"cap_on_arrival", R"({"above": {"chars": 3000}, "head": 600, "tail": 400})"},
    {"ceiling", R"({"target": 6000, "keep": 1, "big": 500})"},
    {"clear_hinted", R"({"keep_regenerable": 1})"},
    {"dedup", R"({"min": 200})"},
    {"failed_call", R"({"keep_turns": 1, "keep_steps": 2, "min": 200, "keep_error": 120})"},
    {"keep_ends", R"({"head": 3, "tail": 8, "min": 500})"},
    {"keep_recent", R"({"keep": 2, "big": 500, "keep_images": 1})"},
    {"oversized_output", R"({"above": {"chars": 1000}, "head": 80, "tail": 60, "keep_turns": 1, "keep_steps": 2})"},
    {"repeated_call", R"({"keep_turns": 1, "keep_steps": 1, "min": 200})"},
    {"small_aging", R"({"keep": 1, "big": 900})"},
    {"spill", R"({"above": 16000})"},
    {"stale_input", R"({"head": 1, "tail": 4, "above": 300, "min": 150})"},
    {"stale_media", R"({"keep_images": 1})"},
    {"stale_output", R"({"keep_turns": 1, "keep_steps": 3, "min": 200})"},
    {"stale_reasoning", R"({"keep_turns": 1})"},
};

// Lines of made-up output, so many characters of them.
std::string output(const std::string& line, std::size_t size) {
    std::string text;
    for (std::size_t number = 1; text.size() < size; ++number) {
        text += line + ", line " + std::to_string(number) + '\n';
    }
    text.resize(size);
    return text;
}

Json image(char fill) {
    return {{"type", "image"},
            {"source", {{"type", "base64"}, {"media_type", "image/png"}, {"data", std::string(900, fill)}}}};
}

class Session {
public:
    Session() {
        ask("Make the tests pass.");
        call("c1", "Read", {{"path", "src/main.c"}}, output("int main", 700));
        call("c2", "Bash", {{"command", "make test"}}, output("error: expected ;", 1400), true);
        call("c3", "Write", {{"path", "src/main.c"}, {"content", output("int main", 800)}}, "written");
        call("c4", "Screenshot", {{"url", "http://localhost:3000"}}, Json::array({image('A')}));
        call("c5", "Read", {{"path", "src/main.c"}}, output("int main", 700));
        say("The tests pass.");
        ask("Now the log.");
        messages_.back()["content"].push_back(image('B'));
        const Json edit = {{"path", "log.c"}, {"old_string", output("old", 400)}, {"new_string", output("new", 500)}};
        call("c6", "Edit", edit, "no such file", true);
        call("c7", "Bash", {{"command", "cat log"}}, output("entry", 18000));
        call("c8", "Screenshot", {{"url", "http://localhost:3000"}}, Json::array({image('C')}));
        call("c9", "Bash", {{"command", "make test"}}, output("ok", 700));
        say("Done.");
    }

    Json body() const { return {{"model", "claude-sonnet-4-5"}, {"max_tokens", 1024}, {"messages", messages_}}; }

private:
    void ask(const std::string& words) {
        messages_.push_back({{"role", "user"}, {"content", Json::array({{{"type", "text"}, {"text", words}}})}});
    }
    void say(const std::string& words) {
        messages_.push_back({{"role", "assistant"}, {"content", Json::array({{{"type", "text"}, {"text", words}}})}});
    }
    void call(const std::string& id, const std::string& tool, Json input, Json content, bool failed = false) {
        Json thought = {{"type", "thinking"}, {"thinking", "I use " + tool + "."}, {"signature", "c2lnbmVk"}};
        Json use = {{"type", "tool_use"}, {"id", id}, {"name", tool}, {"input", std::move(input)}};
        messages_.push_back({{"role", "assistant"}, {"content", Json::array({std::move(thought), std::move(use)})}});
        Json result = {{"type", "tool_result"}, {"tool_use_id", id}, {"content", std::move(content)}};
        if (failed) { result["is_error"] = true; }
        messages_.push_back({{"role", "user"}, {"content", Json::array({std::move(result)})}});
    }

    Json messages_ = Json::array();
};

// A text as far as a page has room for it, stubs whole.
std::string shown(std::string text) {
    constexpr std::size_t room = 100;
    const bool stub = coppice::PlainWording().recognise(text).kind == coppice::Recognised::Kind::stub;
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (stub || text.size() <= room) { return text; }
    const std::size_t gap = text.find("[middle of a tool result left out");
    if (gap != std::string::npos) {
        return text.substr(0, 60) + " ... " + text.substr(gap, text.find(']', gap) + 1 - gap) + " ...";
    }
    return text.substr(0, 60) + " ... (" + std::to_string(text.size()) + " characters)";
}

// What a block says, a line for each of its texts.
void list(const Json& value, const std::string& label, std::string& out) {
    if (value.is_string()) {
        out += label + ": " + shown(value.get<std::string>()) + '\n';
        return;
    }
    for (const auto& [key, inner] : value.items()) {
        const bool told = key == "type" || key == "id" || key == "tool_use_id" || key == "name" || key == "signature" ||
                          key == "is_error";
        if (!told) { list(inner, label, out); }
    }
}

// The messages, each text of them a line that begins with its message, block and what it is.
std::string listed(const Json& block, std::size_t message) {
    const std::string type = block["type"];
    const std::string of = block.value("name", block.value("id", block.value("tool_use_id", "")));
    std::string label = std::to_string(message) + ' ' + type + (of.empty() ? "" : ' ' + of);
    if (block.value("is_error", false)) { label += ", failed"; }
    if (type == "image") { return label + '\n'; }
    std::string out;
    if (block.contains("content") && block["content"].is_array()) {
        for (const Json& part : block["content"]) {
            if (part["type"] == "image") {
                out += label + ": an image\n";
            } else {
                list(part, label, out);
            }
        }
        return out;
    }
    list(block, label, out);
    return out;
}

// The first line of a text, which leaves it.
std::string take_line(std::string& text) {
    const std::string line = text.substr(0, text.find('\n') + 1);
    text.erase(0, line.size());
    return line;
}

// Both sessions as a diff: lines that are alike once, others before and after.
std::string difference(const Json& before, const Json& after) {
    std::string out;
    const auto put = [&out](char mark, const std::string& line) {
        if (!line.empty()) { out.append(1, mark).append(1, ' ').append(line); }
    };
    for (std::size_t message = 0; message < before["messages"].size(); ++message) {
        const Json& old_blocks = before["messages"][message]["content"];
        const Json& new_blocks = after["messages"][message]["content"];
        std::size_t next = 0;
        for (const Json& block : old_blocks) {
            std::string old_lines = listed(block, message);
            // reasoning goes as a block
            const bool gone = block["type"] == "thinking" &&
                              (next == new_blocks.size() || new_blocks[next]["type"] != "thinking");
            std::string new_lines = gone ? "" : listed(new_blocks[next++], message);
            while (!old_lines.empty()) {
                const std::string old_line = take_line(old_lines);
                const std::string new_line = take_line(new_lines);
                put(old_line == new_line ? ' ' : '-', old_line);
                if (old_line != new_line) { put('+', new_line); }
            }
        }
    }
    return out;
}

// The comment in front of the policy, which is the last before its template.
std::string comment_of(const fs::path& header) {
    std::ifstream file(header);
    std::string comment;
    std::string block;
    bool ended = false;
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("///", 0) == 0) {
            if (ended) { block.clear(); }
            ended = false;
            block += line.size() > 4 ? line.substr(4) + '\n' : "\n";
            continue;
        }
        ended = true;
        if (block.find("\nkeeps ") != std::string::npos && comment.empty()) { comment = block; }
    }
    if (comment.empty()) { throw std::runtime_error(header.string() + " does not say what it keeps"); }
    return comment;
}

struct Pruned {
    Json body;
    coppice::Report report;
};

Pruned prune(const std::string& policy, Json configured, const Json& before) {
    coppice::MemorySpillStore store;
    Pruned pruned{before, {}};
    if (policy == "spill") {
        // where a store is, a file cannot say
        const coppice::Spill<> spill{.above = coppice::Size{configured["above"].get<std::size_t>()}, .store = &store};
        pruned.report = coppice::prune(pruned.body, coppice::Pipeline{spill});
        return pruned;
    }
    std::vector<coppice::Hint> hints;
    if (policy == "clear_hinted") {
        for (const char* id : {"c1", "c5", "c9"}) { hints.push_back({id, coppice::Hint::Kind::regenerable}); }
        hints.push_back({"c7", coppice::Hint::Kind::useless});
    }
    coppice::Inputs inputs;
    inputs.hints = hints;
    Json part = {{"name", policy}};
    part.update(configured);
    const Json document = {{"policies", Json::array({part})}};
    pruned.report = coppice::prune(pruned.body, coppice::pipeline_from_json(document), inputs);
    return pruned;
}

std::string page(const std::string& policy, const fs::path& header) {
    const auto found = settings.find(policy);
    if (found == settings.end()) { throw std::runtime_error("policy_pages: there is no session for " + policy); }
    const Json before = Session().body();
    const Pruned pruned = prune(policy, Json::parse(found->second), before);
    if (!pruned.report.engaged) { throw std::runtime_error("policy_pages: " + policy + " does nothing here"); }

    std::string out = "# " + policy + "\n\n```text\n" + comment_of(header) + "```\n\n";
    out += "One session, before and after it";
    out += policy == "spill" ? " with a store and" : policy == "clear_hinted" ? " with hints on four calls and" : " with";
    out += " `" + found->second + "`:\n\n```diff\n" + difference(before, pruned.body) + "```\n\n";
    for (const coppice::ReasonTotal& total : pruned.report.by_reason) {
        out += "`" + std::string(total.reason) + "`: " + std::to_string(total.count) + " edits, " +
               std::to_string(total.saved_bytes) + " of " + std::to_string(before.dump().size()) + " bytes less.\n";
    }
    return out;
}

}  // namespace

int main(int count, char** words) try {
    if (count != 3) {
        std::cerr << "usage: policy_pages include/coppice/policies FOLDER\n";
        return 2;
    }
    fs::create_directories(words[2]);
    for (const fs::directory_entry& header : fs::directory_iterator(words[1])) {
        const std::string policy = header.path().stem().string();
        std::ofstream(fs::path(words[2]) / (policy + ".md"), std::ios::binary) << page(policy, header.path());
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
