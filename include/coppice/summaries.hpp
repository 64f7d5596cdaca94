// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/summary.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

/// Summarisers for hermes-agent's tools, and for tools of other agents that do the same.
namespace coppice::inline v0::summaries {

namespace detail {

inline void add(std::string& out, std::string_view before, std::string_view text, std::size_t limit) {
    if (trimmed(text).empty()) { return; }
    out += before;
    append_safe(out, text, limit);
}

inline void add_lines(std::string& out, std::size_t lines, std::string_view behind = {}) {
    out += ", ";
    append_number(out, lines);
    out.append(lines == 1 ? " line" : " lines").append(behind);
}

/// The last whole number behind `key` in a text, as it is spelled; empty where none is.
inline std::string_view number_behind(std::string_view text, std::string_view key) {
    const std::size_t at = text.rfind(key);
    if (at == std::string_view::npos) { return {}; }
    text.remove_prefix(at + key.size());
    text.remove_prefix(std::min(text.find_first_not_of(": "), text.size()));
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    constexpr std::size_t longest = 20;
    std::size_t end = sign;
    while (end < text.size() && end < longest && text[end] >= '0' && text[end] <= '9') { ++end; }
    return end == sign ? std::string_view() : text.substr(0, end);
}

/// The first of these texts of the input that says something.
inline std::string first_text(const CallView& call, std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
        std::string found = call.text(name);
        if (!trimmed(found).empty()) { return found; }
    }
    return {};
}

inline std::string path_of(const CallView& call) {
    return first_text(call, {"path", "file_path", "filePath", "notebook_path"});
}

}  // namespace detail

/// `terminal ran npm test, exit code 0, 47 lines`
struct Shell {
    static constexpr std::array<std::string_view, 9> tools = {
        "terminal",    "Bash",              "bash",            "shell",           "exec_command",
        "run_command", "run_shell_command", "execute_command", "run_terminal_cmd"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ran ", detail::first_text(call, {"command", "cmd"}), 80);
        const std::string output = call.output();
        std::string_view code = detail::number_behind(output, "\"exit_code\"");
        if (code.empty()) { code = detail::number_behind(output, "exited with code"); }
        detail::add(out, ", exit code ", code, 20);
        detail::add_lines(out, CallView::line_count(output));
    }
};

/// `execute_code import json; print(1), 3 lines`
struct Code {
    static constexpr std::array<std::string_view, 3> tools = {"execute_code", "python", "code_interpreter"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ", detail::first_text(call, {"code", "script", "input"}), 60);
        detail::add_lines(out, CallView::line_count(call.output()));
    }
};

/// `read_file src/main.c from line 200`
struct ReadFile {
    static constexpr std::array<std::string_view, 4> tools = {"read_file", "Read", "read", "view_file"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ", detail::path_of(call), 120);
        detail::add(out, " from line ", call.value("offset"), 20);
    }
};

/// `write_file src/main.c, 120 lines written`
struct WriteFile {
    static constexpr std::array<std::string_view, 4> tools = {"write_file", "Write", "write", "create_file"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ", detail::path_of(call), 120);
        if (const auto lines = call.lines("content")) { detail::add_lines(out, *lines, " written"); }
    }
};

/// `patch replace in src/main.c`
struct Patch {
    static constexpr std::array<std::string_view, 3> tools = {"patch", "Edit", "edit"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ", call.text("mode"), 20);
        detail::add(out, " in ", detail::path_of(call), 120);
    }
};

/// `search_files content for TODO in src, 12 matches`
struct SearchFiles {
    static constexpr std::array<std::string_view, 6> tools = {"search_files", "Grep",        "grep",
                                                              "Glob",         "grep_search", "search_file_content"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ", call.text("target"), 20);
        detail::add(out, " for ", detail::first_text(call, {"pattern", "query"}), 80);
        detail::add(out, " in ", detail::path_of(call), 80);
        const std::string output = call.output();
        const std::string_view count = detail::number_behind(output, "\"total_count\"");
        if (!count.empty()) { out.append(", ").append(count).append(count == "1" ? " match" : " matches"); }
    }
};

/// `browser_click ref=e12`
struct Browser {
    static constexpr std::array<std::string_view, 1> tools = {"browser_*"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ", call.text("url"), 120);
        detail::add(out, " ref=", call.value("ref"), 40);
    }
};

/// `web_search for rate limits`
struct WebSearch {
    static constexpr std::array<std::string_view, 2> tools = {"web_search", "WebSearch"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " for ", call.text("query"), 120);
    }
};

/// `web_extract https://example.org/a and 2 more`
struct WebExtract {
    static constexpr std::array<std::string_view, 3> tools = {"web_extract", "WebFetch", "fetch"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        static constexpr std::array<std::string_view, 2> members = {"url", "href"};
        out += tool;
        std::vector<std::string> urls = call.list("urls", members);
        if (urls.empty()) { urls = call.list("url", members); }
        if (urls.empty()) { return; }
        detail::add(out, " ", urls.front(), 120);
        if (urls.size() == 1) { return; }
        out += " and ";
        append_number(out, urls.size() - 1);
        out += " more";
    }
};

/// `delegate_task find the flaky test`
struct Delegate {
    static constexpr std::array<std::string_view, 4> tools = {"delegate_task", "Task", "task", "Agent"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ", detail::first_text(call, {"goal", "description", "prompt"}), 60);
    }
};

/// `skill_view deploy, not loaded any more`: what a cleared skill says is not followed (NousResearch/hermes-agent #32106)
struct Skill {
    static constexpr std::array<std::string_view, 3> tools = {"skill_view", "skill", "Skill"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ", detail::first_text(call, {"name", "skill"}), 60);
        out += ", not loaded any more";
    }
};

/// `clarify Which branch?, answered: main`: what the user said is not lost (NousResearch/hermes-agent #106077)
struct Question {
    static constexpr std::array<std::string_view, 4> tools = {"clarify", "AskUserQuestion", "ask_user", "question"};
    void summarise(std::string& out, std::string_view tool, const CallView& call) const {
        out += tool;
        detail::add(out, " ", call.text("question"), 80);
        detail::add(out, ", answered: ", call.output_text({"user_response", "answer", "response"}), 100);
    }
};

}  // namespace coppice::summaries

namespace coppice::inline v0 {

/// The summarising wording that knows all of them.
using ToolSummaries =
    SummaryWording<summaries::Shell, summaries::Code, summaries::ReadFile, summaries::WriteFile, summaries::Patch,
                   summaries::SearchFiles, summaries::Browser, summaries::WebSearch, summaries::WebExtract,
                   summaries::Delegate, summaries::Skill, summaries::Question>;

}  // namespace coppice
