// SPDX-License-Identifier: MIT
// What is pruned in which provider's shape? One session, said in each, and what becomes of it as a table in Markdown:
// where edits were made and how many, what stayed whole, and what the provider's rules forbid to touch.
#include "session_dialects.hpp"
#include "session_generator.hpp"

#include <coppice/coppice.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace {

using Counts = std::map<std::string, std::size_t>;

// Numbers of blocks and parts are of no interest here, nor which of its names an input had its bulk under.
std::string pattern_of(const coppice::EditRecord& edit) {
    if (edit.path.empty()) { return "reasoning"; }
    std::string_view path = edit.path;
    const bool input = path.find("/input/") != path.npos || path.find("/arg") != path.npos;
    if (input) { path = path.substr(0, path.rfind('/') + 1); }
    std::string pattern;
    for (const char c : path) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit) {
            pattern += c;
        } else if (pattern.back() == '/') {
            pattern += '*';
        }
    }
    if (input) { pattern += "..."; }
    return pattern;
}

std::string cell(const Counts& counts) {
    std::string text;
    for (const auto& [what, count] : counts) {
        if (!text.empty()) { text += ", "; }
        text += what[0] == '/' ? fmt::format("`{}` {}", what, count) : fmt::format("{} {}", count, what);
    }
    return text.empty() ? "-" : text;
}

}  // namespace

int main() {
    using coppice_examples::SessionDialect;
    coppice_examples::SessionShape shape;
    shape.seed = 7;
    shape.results = 300;
    const nlohmann::ordered_json session = make_session(shape);
    fmt::print("| body | pruned | kept | opaque |\n|---|---|---|---|\n");
    for (const SessionDialect dialect :
         {SessionDialect::anthropic, SessionDialect::openai_chat, SessionDialect::ollama,
          SessionDialect::openai_responses, SessionDialect::gemini, SessionDialect::bedrock}) {
        coppice_examples::RenderOptions options;
        options.typed_items = true;
        const nlohmann::ordered_json body = render(dialect, session, options);
        coppice::Workspace workspace;
        const coppice::Report report = coppice::plan(body, coppice::presets::standard(), workspace);
        Counts pruned;
        for (const coppice::EditRecord& edit : report.edits) { ++pruned[pattern_of(edit)]; }
        Counts kept;
        Counts opaque;
        for (std::size_t i = 0; i < workspace.transcript.all().size(); ++i) {
            const coppice::Entry& entry = workspace.transcript.all()[i];
            switch (entry.kind) {
                case coppice::Kind::user_text:
                case coppice::Kind::assistant_text: ++kept["texts"]; break;
                case coppice::Kind::call:
                case coppice::Kind::result:
                    if (entry.immutable) {
                        ++opaque[entry.kind == coppice::Kind::call ? "calls" : "results"];
                    } else if (workspace.plan.fate(i) == coppice::Fate::keep) {
                        ++kept[entry.kind == coppice::Kind::call ? "calls" : "results"];
                    }
                    break;
                case coppice::Kind::reasoning:
                    if (workspace.plan.fate(i) == coppice::Fate::keep) { ++opaque["reasoning"]; }
                    break;
                case coppice::Kind::opaque: ++opaque["others"]; break;
            }
        }
        std::string header = report.dialect;
        std::replace(header.begin(), header.end(), '-', '_');
        fmt::print("| [{}](include/coppice/dialects/{}.hpp) | {} | {} | {} |\n", name_of(dialect), header,
                   cell(pruned), cell(kept), cell(opaque));
    }
    return 0;
}
