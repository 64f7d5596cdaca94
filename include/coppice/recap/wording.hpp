// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/tags.hpp>
#include <coppice/text.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace coppice::inline v0 {

/// One line of a recap. Its texts are safe to write: valid UTF-8, cut to their limits, without tags.
struct RecapLine {
    /// What it tells of.
    enum class Kind : std::uint8_t {
        ask,        ///< what the user asked
        call,       ///< a tool call
        result,     ///< a result, whole or elided
        duplicate,  ///< a result whose content a later one shows
        stub,       ///< a result that is left out
    };

    Kind kind = Kind::ask;         ///< what it tells of
    std::string_view text{};       ///< the ask, the input of the call, the body of the result
    std::string_view tool{};       ///< of a call, or what a result states itself; may be empty
    std::string_view call_tool{};  ///< of a result: through its call
    std::string_view input{};      ///< of a stub or duplicate: the input of its call
    std::string_view last_line{};  ///< of a stub
    std::string_view reference{};  ///< of a result: where its full content is stored
    std::size_t chars = 0;         ///< of a stub or duplicate: length of the body, in code points
    bool error = false;            ///< of a result: the call failed
};

/// What a marker stands for.
enum class Gap : std::uint8_t {
    ask,      ///< the middle of a long ask, in code points
    result,   ///< the middle of a long result, in code points
    input,    ///< the rest of a long input; the number is its whole length
    earlier,  ///< older lines
};

/// A recap wording: every text that a recap or note adds to what it quotes.
///
/// Its texts state; they do not order, and they address nobody, since models take such text inside quoted output for
/// an attack (claude-code #52018). None holds a tag or looks like a call that a model could write on (opencode
/// #50814).
///
/// Models: PlainRecapWording, OpenSwarmRecapWording.
template <class W>
concept recap_wording = std::copyable<W> &&
    requires(const W& w, std::string& out, const RecapLine& line, std::size_t count) {
    { W::name } -> std::convertible_to<std::string_view>;
    { w.tags } -> std::convertible_to<FenceTags>;
    w.open(out, std::string_view());  // an opening tag of this name
    w.preamble(out);                  // says who wrote the block
    w.frame(out);                     // says what a recap is
    w.end(out);
    w.line(out, line);
    w.gap(out, Gap::ask, count);
};

/// The neutral default. It names no product unless it is told one:
///
///     <agent_session_recap>
///     This block was written by the platform that runs this session. It is no tool output and no message.
///     Record of earlier steps of this session: what was asked and which tools ran. All of it is past; ...
///     The user asked: make the tests pass
///     Tool used: Bash, with {"command": "make test"}
///     Result of Bash (failed):
///       cc -c main.c
///       main.c:3: error: expected ';'
///     --- end of the record; the live message follows ---
///     </agent_session_recap>
///
/// Lines of what is quoted are indented, so that none of them can pose as a line of the record.
struct PlainRecapWording {
    static constexpr std::string_view name = "plain";

    FenceTags tags{};  ///< names of the tags
    std::string_view
        product{};  ///< who writes the block; not owned. Empty: "the platform that runs this session"
    /// Put into the opening tag, so that a host can tell its blocks from others: letters, digits, '-' and '_'. One that
    /// stays the same through a session leaves the provider's cache alone. Not owned.
    std::string_view nonce{};

    constexpr void validate() const {
        tags.validate();
        if (nonce.size() > 64 || product.size() > 100) {
            throw std::invalid_argument(
                "coppice::PlainRecapWording: `nonce` takes up to 64 characters, `product` up to 100");
        }
        for (const char c : nonce) {
            const bool digit = c >= '0' && c <= '9';
            const bool letter = detail::lower(c) >= 'a' && detail::lower(c) <= 'z';
            if (!digit && !letter && c != '-' && c != '_') {
                throw std::invalid_argument(
                    "coppice::PlainRecapWording: `nonce` takes letters, digits, '-' and '_'");
            }
        }
        for (const char c : product) {
            if (c < ' ' || c > '~' || c == '<' || c == '>' || c == '&' || c == '\\') {
                throw std::invalid_argument(
                    "coppice::PlainRecapWording: `product` takes printable ASCII without '<', '>', '&' and "
                    "'\\'");
            }
        }
    }

    /// Appends the opening tag.
    void open(std::string& out, std::string_view tag) const {
        out.append("<").append(tag);
        if (!nonce.empty()) { out.append(" id=\"").append(nonce).append("\""); }
        out += '>';
    }

    /// Appends what a note begins with.
    void preamble(std::string& out) const {
        out += "This block was written by ";
        out += product.empty() ? std::string_view("the platform that runs this session") : product;
        out += ". It is no tool output and no message.";
    }

    /// Appends what a recap begins with.
    void frame(std::string& out) const {
        out +=
            "Record of earlier steps of this session: what was asked and which tools ran. All of it is past; "
            "the "
            "live message comes after this block.";
    }

    /// Appends what a recap ends with.
    void end(std::string& out) const { out += "--- end of the record; the live message follows ---"; }

    /// Appends a line.
    void line(std::string& out, const RecapLine& line) const {
        using enum RecapLine::Kind;
        if (line.kind == ask) {
            out += "The user asked:";
            quote(out, line.text);
            return;
        }
        const std::string_view tool = line.tool.empty() ? line.call_tool : line.tool;
        switch (line.kind) {
            case call:
                out += "Tool used: ";
                out += tool.empty() ? std::string_view("(no name)") : tool;
                if (line.text.empty() || line.text == "null") { return; }
                out += ", with";
                quote(out, line.text);
                return;
            case duplicate:
                out += "Repeated: ";
                result_of(out, "result", tool, line.error);
                out += ", same content as a later result in this record";
                return;
            case stub:
                out += "Left out: ";
                result_of(out, "result", tool, line.error);
                out += ", ";
                count(out, line.chars, " character");
                if (!line.input.empty()) {
                    out += "; its input was";
                    quote(out, line.input);
                }
                if (!line.last_line.empty()) {
                    out += "; last line:";
                    quote(out, line.last_line);
                }
                if (!line.reference.empty()) {
                    out += "; stored at";
                    quote(out, line.reference);
                }
                return;
            default:
                result_of(out, "Result", tool, line.error);
                if (!line.reference.empty()) { out.append(", stored at ").append(line.reference); }
                out += ':';
                quote(out, line.text);
        }
    }

    /// Appends the line for what is left out.
    void gap(std::string& out, Gap gap, std::size_t number) const {
        if (gap == Gap::input) {
            out += "... [";
            count(out, number, " character");
            out += ']';
        } else if (gap == Gap::earlier) {
            out += '[';
            count(out, number, " earlier line");
            out += " left out]";
        } else {
            out += "\n[";
            count(out, number, " character");
            out += " left out]\n";
        }
    }

private:
    static void result_of(std::string& out, std::string_view result, std::string_view tool, bool error) {
        out += result;
        if (!tool.empty()) { out.append(" of ").append(tool); }
        if (error) { out += " (failed)"; }
    }

    static void count(std::string& out, std::size_t number, std::string_view what) {
        append_number(out, number);
        out += what;
        if (number != 1) { out += 's'; }
    }

    // one line stays on its label's line, several stand below it
    static void quote(std::string& out, std::string_view text) {
        if (text.find('\n') == std::string_view::npos) {
            if (!text.empty()) { out.append(" ").append(text); }
            return;
        }
        while (true) {
            const std::size_t end = text.find('\n');
            out += "\n  ";
            out += text.substr(0, end);
            if (end == std::string_view::npos) { return; }
            text.remove_prefix(end + 1);
        }
    }
};

}  // namespace coppice
