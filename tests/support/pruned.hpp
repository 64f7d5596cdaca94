// SPDX-License-Identifier: MIT
#pragma once

#include "builders.hpp"
#include "laws.hpp"

#include <coppice/dom.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {

/// A document before and after a pruning call, and what the call reported.
struct Pruned {
    Ordered before;
    Ordered after;
    coppice::Report report;

    bool unchanged() const { return before == after; }
};

/// Prunes, and holds the result against every law: figures that add up, nothing less valid, twice is once.
inline Pruned pruned(const Ordered& document, const AnyPipeline& pipeline, const AllowedChanges& allowed = {}) {
    Pruned out{document, document, check_laws(document, pipeline, allowed)};
    pipeline.prune(out.after, coppice::Dialect::detect);
    return out;
}

/// Prunes, and checks the report's figures alone: for documents that break rules themselves, and for stores
/// that answer differently every time.
inline Pruned pruned_once(const Ordered& document, const AnyPipeline& pipeline,
                          coppice::Dialect dialect = coppice::Dialect::detect) {
    Pruned out{document, document, {}};
    out.report = pipeline.prune(out.after, dialect);
    CHECK(out.report.saved_bytes == out.before.dump().size() - out.after.dump().size());
    CHECK(check_edits(out.before, out.after, out.report) == out.report.saved_bytes);
    CHECK(out.report.engaged == !out.report.edits.empty());
    return out;
}

inline const Ordered& messages_of(const Ordered& document) {
    return document.is_array() ? document : document.at("messages");
}

/// All blocks of one type, in order.
inline std::vector<const Ordered*> blocks_of(const Ordered& document, std::string_view type) {
    std::vector<const Ordered*> found;
    for (const Ordered& message : messages_of(document)) {
        if (!message.is_object() || !message.contains("content") || !message["content"].is_array()) {
            continue;
        }
        for (const Ordered& block : message["content"]) {
            if (block.is_object() && block.value("type", "") == type) { found.push_back(&block); }
        }
    }
    return found;
}

/// The content of the n-th tool result.
inline const Ordered& result_content(const Ordered& document, std::size_t n) {
    return blocks_of(document, "tool_result").at(n)->at("content");
}

/// The input of the n-th tool call.
inline const Ordered& call_input(const Ordered& document, std::size_t n) {
    return blocks_of(document, "tool_use").at(n)->at("input");
}

/// The text of a content that is a string, or an array of one text block.
inline std::string text_of(const Ordered& content) {
    if (content.is_string()) { return content.get<std::string>(); }
    if (content.is_array() && content.size() == 1 && content[0].contains("text")) {
        return content[0]["text"].get<std::string>();
    }
    return {};
}

/// What became of the tool results, a letter each: `-` as it was, `d` duplicate stub, `s` any other stub, `i`
/// an image gone and the rest there, `p` preview.
inline std::string fates(const Pruned& pruned) {
    const auto before = blocks_of(pruned.before, "tool_result");
    const auto after = blocks_of(pruned.after, "tool_result");
    std::string out;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (*before[i] == *after[i]) {
            out += '-';
            continue;
        }
        const std::string text = text_of(after[i]->at("content"));
        if (text.find("[middle of a tool result left out: ") != std::string::npos) {
            out += 'p';
        } else if (text.find("same as a later result") != std::string::npos ||
                   text.find("same content as a more recent result") != std::string::npos) {
            out += 'd';
        } else if (text.find("[tool result cleared: ") == 0 || text.find("[Old ") == 0) {
            out += 's';
        } else {
            out += 'i';
        }
    }
    return out;
}

/// What became of the inputs of the calls, a letter each: `-` as it was, `c` changed.
inline std::string input_fates(const Pruned& pruned) {
    const auto before = blocks_of(pruned.before, "tool_use");
    const auto after = blocks_of(pruned.after, "tool_use");
    std::string out;
    for (std::size_t i = 0; i < before.size(); ++i) { out += *before[i] == *after[i] ? '-' : 'c'; }
    return out;
}

/// `count` times the letter, to write long fates.
inline std::string times(std::size_t count, char letter) { return std::string(count, letter); }

/// A text of `size` ASCII characters that no other number gives.
inline std::string filler(std::size_t number, std::size_t size) {
    std::string text = std::to_string(number) + ": ";
    for (std::size_t i = 0; text.size() < size; ++i) {
        text += static_cast<char>('a' + (i * 7 + number) % 26);
        if (i % 60 == 59) { text += '\n'; }
    }
    text.resize(size);
    return text;
}

/// A session of one tool, one pair for each content; the model has read all of it.
inline Ordered session(const std::vector<Ordered>& contents, const std::string& tool = "Read") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < contents.size(); ++i) {
        const std::string number = std::to_string(i);
        add_pair(messages, "call_" + number, tool, Ordered{{"file_path", "/src/" + number + ".c"}},
                 contents[i]);
    }
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

/// The same with distinct texts of these sizes.
inline Ordered session_of_sizes(const std::vector<std::size_t>& sizes) {
    std::vector<Ordered> contents;
    for (std::size_t i = 0; i < sizes.size(); ++i) { contents.emplace_back(filler(i, sizes[i])); }
    return session(contents);
}

}  // namespace support
