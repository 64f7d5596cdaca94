// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/elide.hpp>
#include <coppice/measure.hpp>
#include <coppice/text.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace coppice::inline v0 {

class CallView;

/// What a stub may say about the result it stands for. All texts are raw: a wording makes them safe.
struct ResultFacts {
    std::string_view tool{};         ///< the call's
    std::string_view identity{};     ///< path, command, ... of the call
    Extent size{};                   ///< joined text, with documents and unknown parts as serialised
    std::size_t images = 0;          ///< that go with it
    std::size_t documents = 0;       ///< that go with it
    std::size_t others = 0;          ///< parts of a kind the dialect does not know
    bool error = false;              ///< the call failed
    bool outcome_known = true;       ///< otherwise nothing says whether the call failed
    bool duplicate = false;          ///< a later result with the same content stays
    std::string_view first_line{};   ///< of a failed result
    std::string_view last_line{};    ///< of a failed result
    std::string_view reference{};    ///< where the full content was stored
    bool of_user = false;            ///< an image that the user sent, and no result
    const CallView* call = nullptr;  ///< more of the call and its output, for who says more; never of an image of the user
};

/// What a stub may say about a cleared field of a call's input.
struct FieldFacts {
    std::string_view tool{};        ///< the call's
    std::string_view field{};       ///< name of the member
    Extent size{};                  ///< of the text that goes
    std::string_view first_line{};  ///< of the text that the call is known by; of others none
};

/// What a preview may say about a result whose full content was stored elsewhere.
struct PreviewFacts {
    std::string_view content{};    ///< what was stored, UTF-8
    std::string_view reference{};  ///< where it was stored
    Extent size{};                 ///< of the content
};

/// What is known of a result of which head and tail stay.
struct CapFacts {
    std::string_view content{};  ///< valid UTF-8
    std::size_t head = 0;        ///< code points that stay from the beginning
    std::size_t tail = 0;        ///< and from the end
};

/// What a wording says of a text it is shown.
struct Recognised {
    /// What a text is.
    enum class Kind { content, stub, preview, capped };
    Kind kind = Kind::content;     ///< what the text is
    Extent size{};                 ///< of what a preview stands for
    std::string_view reference{};  ///< of a preview
};

/// How a cleared result is written.
enum class Shape { as_it_was, always_blocks };

/// A wording: every text that the library writes into a transcript.
///
/// Its texts are passive statements in printable ASCII without quotes or backslashes, so that they have one
/// spelling at any depth of JSON. `recognise` knows its own texts by their exact grammar and bounds, never by
/// how they begin. `longest` bounds every text but previews and capped results, in bytes; a longer one is not
/// written. What `recognise` does not know again counts as content the next time: pruning twice would prune more. A
/// wording may have `static constexpr char opening`, the first character of every text of its own but these two: texts
/// that begin otherwise are not even shown to it. Of one that says what the call did, `static constexpr std::size_t
/// summary_limit` bounds that in bytes, and `identity_limit` what it shows of `identity` (else: all of `longest`). An
/// earlier pruning may have taken both from the call; a result that was too short for a stub with them stays without.
///
/// Exemplar
///
///     struct Terse {
///         static constexpr std::string_view name = "terse";
///         static constexpr std::size_t longest = 9;
///         coppice::Shape shape = coppice::Shape::as_it_was;
///         void result(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
///         void field(std::string& out, const coppice::FieldFacts&) const { out += "[cleared]"; }
///         void image(std::string& out, const coppice::ResultFacts&) const { out += "[cleared]"; }
///         coppice::Recognised recognise(std::string_view text) const {
///             using enum coppice::Recognised::Kind;
///             return {.kind = text == "[cleared]" ? stub : content};
///         }
///     };
///
/// Models: PlainWording, OpenSwarmWording, SummaryWording.
template <class W>
concept wording = std::copyable<W> && requires(const W& w, std::string& out, const ResultFacts& result,
                                               const FieldFacts& field, std::string_view text) {
    { W::name } -> std::convertible_to<std::string_view>;
    { W::longest } -> std::convertible_to<std::size_t>;
    { w.shape } -> std::convertible_to<Shape>;
    w.result(out, result);
    w.field(out, field);
    w.image(out, result);
    { w.recognise(text) } -> std::same_as<Recognised>;
};

/// A wording that can also write the inline preview of a stored result, as `Spill` needs.
template <class W>
concept previewing_wording = wording<W> && requires(const W& w, std::string& out, const PreviewFacts& facts) {
    w.preview(out, facts);
};

/// A wording that can also write what stays of a result without its middle, as `CapOnArrival` needs. It recognises that
/// as `capped`.
template <class W>
concept capping_wording = wording<W> && requires(const W& w, std::string& out, const CapFacts& facts) {
    w.cap(out, facts);
};

/// A wording that can also write the stub of an old result that still holds head and tail, as `OversizedOutput` and
/// `FailedCall` need. It recognises that as `stub`. Of these, `longest_clip` bounds each, in bytes; they have the same
/// `opening` as the others.
template <class W>
concept clipping_wording = wording<W> &&
    requires(const W& w, std::string& out, const ResultFacts& result, const CapFacts& facts) {
    { W::longest_clip } -> std::convertible_to<std::size_t>;
    w.clip(out, result, facts);
};

/// A wording that knows its markers in the middle of any text, as `find_copied_markers` needs. Its `opening` is the first
/// character of all of them. `marker` answers with how many bytes at the front of a text are one: a stub, or the line
/// that says what a preview leaves out; whole, or cut off where its line or the text ends, as far as what is there can be
/// nothing else. 0 where there is none.
template <class W>
concept marking_wording = wording<W> && requires(const W& w, std::string_view text) {
    { W::opening } -> std::convertible_to<char>;
    { w.marker(text) } -> std::same_as<std::size_t>;
};

namespace detail {

/// Reads an exact grammar off the front of a text; one failed step fails all that follow.
class Scanner {
public:
    constexpr explicit Scanner(std::string_view text) : rest_(text) {}

    constexpr Scanner& literal(std::string_view expected) {
        if (ok_ && rest_.substr(0, expected.size()) == expected) {
            rest_.remove_prefix(expected.size());
        } else {
            ok_ = false;
        }
        return *this;
    }
    constexpr bool try_literal(std::string_view expected) {
        if (!ok_ || rest_.substr(0, expected.size()) != expected) { return false; }
        rest_.remove_prefix(expected.size());
        return true;
    }
    /// A decimal number as we print it: no sign, no leading zero, at most 19 digits.
    constexpr Scanner& number(std::size_t* value = nullptr) {
        std::size_t digits = 0;
        std::size_t read = 0;
        while (digits < rest_.size() && digits < 20 && rest_[digits] >= '0' && rest_[digits] <= '9') {
            read = read * 10 + static_cast<std::size_t>(rest_[digits] - '0');
            ++digits;
        }
        if (digits == 0 || digits > 19 || (digits > 1 && rest_[0] == '0')) { ok_ = false; }
        if (ok_) { rest_.remove_prefix(digits); }
        if (ok_ && value != nullptr) { *value = read; }
        return *this;
    }
    constexpr bool ok() const { return ok_; }
    constexpr bool done() const { return ok_ && rest_.empty(); }
    constexpr std::string_view rest() const { return rest_; }

private:
    std::string_view rest_{};
    bool ok_ = true;
};

/// Reads the same grammar off a text that was cut off: from where it ends on, every step succeeds.
class CutScanner {
public:
    constexpr explicit CutScanner(std::string_view text) : rest_(text) {}

    constexpr CutScanner& literal(std::string_view expected) {
        if (cut_ || try_literal(expected)) { return *this; }
        ok_ = false;
        return *this;
    }
    constexpr bool try_literal(std::string_view expected) {
        if (!ok_ || cut_) { return ok_; }
        const std::size_t size = std::min(rest_.size(), expected.size());
        if (rest_.substr(0, size) != expected.substr(0, size)) { return false; }
        cut_ = size < expected.size();
        rest_.remove_prefix(size);
        return true;
    }
    constexpr CutScanner& number() {
        if (!ok_ || cut_) { return *this; }
        Scanner digits(rest_);
        cut_ = rest_.empty();
        ok_ = cut_ || digits.number().ok();
        rest_ = digits.rest();
        return *this;
    }
    constexpr bool ok() const { return ok_; }
    /// Nothing is left.
    constexpr bool done() const { return ok_ && rest_.empty(); }
    constexpr std::string_view rest() const { return rest_; }

private:
    std::string_view rest_{};
    bool ok_ = true;
    bool cut_ = false;
};

/// What a text begins with that may be a marker in brackets: up to the closing one, or, where it has none, to the end of
/// its line; empty where something stands in it that no marker has.
inline std::string_view bracketed(std::string_view text, std::size_t longest) {
    std::size_t end = 1;
    const auto fits = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '[' && c != ']'; };
    while (end < text.size() && end < longest && fits(text[end])) { ++end; }
    if (end >= text.size() || text[end] == '\n' || text[end] == '\r') { return text.substr(0, end); }
    return text[end] == ']' ? text.substr(0, end + 1) : std::string_view();
}

/// Whether a wording wrote it for a reference, which `append_safe` leaves as it is; nothing where it had none.
inline bool is_reference(std::string_view text, std::size_t limit) {
    return text.size() <= limit && (text.empty() || is_safe(text));
}

}  // namespace detail

/// The neutral default. Each text says tool, size, outcome and what the call named, and nothing that could be
/// taken for an order:
///
///     [tool result cleared: 9001 characters, ok; Read /src/main.c]
///     [tool result cleared: 412 characters, failed; Bash make; first line: cc1: error; last line: Error 1]
///     [tool result cleared: 9001 characters, ok, same as a later result; Read /src/main.c]
///     [tool result cleared: 9001 characters; read_file /src/main.c]    where the provider has no flag for the outcome
///     [tool input cleared: 5120 characters; content]
///     [tool input cleared: 5120 characters; command; first line: python3 - <(END]
///     [tool result cut: 9001 characters, ok; Read /src/main.c; first 800 and last 400 follow]
///     [image cleared: mcp__browser__screenshot http://localhost:3000]
///     [image cleared: sent by the user]
///
/// Sizes are Unicode code points.
struct PlainWording {
    static constexpr std::string_view name = "plain";
    static constexpr std::size_t tool_limit = 64;  ///< bytes of a tool's name
    static constexpr std::size_t identity_limit = 120;
    static constexpr std::size_t line_limit = 100;  ///< bytes of a line of an output
    static constexpr std::size_t reference_limit = 512;
    static constexpr std::size_t longest = 1200;
    static constexpr std::size_t clip_limit = 4096;  ///< of head and tail of clipped results, code points
    static constexpr std::size_t longest_clip = longest + 4 * clip_limit;  ///< bytes
    static constexpr char opening = '[';
    static constexpr std::size_t preview_head_chars = 1800;   ///< code points of the front that stay inline
    static constexpr std::size_t preview_tail_chars = 1200;   ///< code points of the end that stay inline
    static constexpr std::size_t preview_lines_chars = 1000;  ///< of notable lines from between
    static constexpr std::size_t preview_line_limit = 400;    ///< code points of one of these

    Shape shape = Shape::as_it_was;

    void result(std::string& out, const ResultFacts& facts) const {
        result(out, facts, [&facts](std::string& what) { describe(what, facts); });
    }

    /// The same with other words, in printable ASCII, in the place of tool and identity.
    template <class Describe>
    void result(std::string& out, const ResultFacts& facts, Describe description) const {
        out += result_open;
        begin(out, facts, description);
        write(out, "; first line: ", facts.first_line, line_limit);
        if (facts.last_line != facts.first_line) { write(out, "; last line: ", facts.last_line, line_limit); }
        write(out, "; stored at ", facts.reference, reference_limit);
        out += ']';
    }

    void field(std::string& out, const FieldFacts& facts) const {
        out += field_open;
        append_number(out, facts.size.chars);
        out += " characters; ";
        append_safe(out, facts.field, tool_limit);
        write(out, field_line, facts.first_line, line_limit);
        out += ']';
    }

    void image(std::string& out, const ResultFacts& facts) const {
        const std::size_t before = out.size();
        out += image_open;
        if (facts.of_user) { out += "sent by the user"; }
        append_safe(out, facts.tool, tool_limit);
        if (!facts.identity.empty()) {
            if (out.size() > before + image_open.size()) { out += ' '; }
            append_safe(out, facts.identity, identity_limit);
        }
        out += ']';
    }

    /// Head and tail of the content; between them what is missing and where it is, and those of the missing lines that
    /// tell of failures, verdicts and exit codes, which head and tail alone mostly lose.
    void preview(std::string& out, const PreviewFacts& facts) const {
        const auto [head, middle, tail] =
            head_and_tail(facts.content, preview_head_chars, preview_tail_chars);
        out += head;
        gap(out, middle, facts.size.chars, [&] {
            out += preview_place;
            append_safe(out, facts.reference, reference_limit);
        });
        out += tail;
    }

    /// The same for a result whose middle is nowhere else:
    ///
    ///     [middle of a tool result left out: 57000 of 60000 characters, with notable lines: 3; not stored]
    void cap(std::string& out, const CapFacts& facts) const {
        const auto [head, middle, tail] = head_and_tail(facts.content, facts.head, facts.tail);
        out += head;
        gap(out, middle, measure_plain(facts.content).chars, [&] { out += cap_place; });
        out += tail;
    }

    /// The same of an old result, told at its front:
    ///
    ///     [tool result cut: 9001 characters, ok; Read /src/main.c; first 800 and last 400 follow]
    void clip(std::string& out, const ResultFacts& facts, const CapFacts& cut) const {
        const auto [head, middle, tail] = head_and_tail(cut.content, cut.head, cut.tail);
        out += clip_open;
        begin(out, facts, [&facts](std::string& what) { describe(what, facts); });
        out += clip_head;
        append_number(out, measure_plain(head).chars);
        out += clip_tail;
        append_number(out, measure_plain(tail).chars);
        out.append(clip_close).append("]\n").append(head).append(cut_open);
        append_number(out, measure_plain(middle).chars);
        out.append(cut_close).append(tail);
    }

    Recognised recognise(std::string_view text) const {
        if (is_stub(text) || is_clip(text)) { return {Recognised::Kind::stub, {}, {}}; }
        const Recognised found = as_preview(text);
        const bool capped = found.kind == Recognised::Kind::content && is_capped(text);
        return capped ? Recognised{Recognised::Kind::capped, {}, {}} : found;
    }

    std::size_t marker(std::string_view text) const {
        const auto begins = [text](std::string_view open) { return text.substr(0, open.size()) == open; };
        if (!begins(result_open) && !begins(clip_open) && !begins(field_open) && !begins(image_open) &&
            !begins(gap_open)) {
            return 0;
        }
        const std::string_view line = detail::bracketed(text, longest);
        if (line.empty()) { return 0; }
        const bool whole = line.back() == ']';
        const auto is_marker = [&] { return is_stub(line) || is_gap(line) || clip_line(line).has_value(); };
        return (whole ? is_marker() : is_beginning(line)) ? line.size() : 0;
    }

private:
    static constexpr std::string_view result_open = "[tool result cleared: ";
    static constexpr std::string_view field_open = "[tool input cleared: ";
    static constexpr std::string_view image_open = "[image cleared: ";
    static constexpr std::string_view field_line = "; first line: ";
    static constexpr std::string_view clip_open = "[tool result cut: ";
    static constexpr std::string_view clip_head = "; first ";
    static constexpr std::string_view clip_tail = " and last ";
    static constexpr std::string_view clip_close = " follow";
    static constexpr std::string_view cut_open = "\n[";
    static constexpr std::string_view cut_close = " characters cut]\n";
    static constexpr std::string_view same_as_later = ", same as a later result";
    static constexpr std::string_view preview_open = "\n\n[middle of a tool result left out: ";
    static constexpr std::string_view gap_open = preview_open.substr(2);
    static constexpr std::string_view preview_lines = ", with notable lines: ";
    static constexpr std::string_view preview_place = "; stored at ";
    static constexpr std::string_view cap_place = "; not stored";
    static constexpr std::string_view preview_rest = "[end of these lines]\n";

    // size, parts, outcome, and what was called
    template <class Describe>
    static void begin(std::string& out, const ResultFacts& facts, Describe description) {
        append_number(out, facts.size.chars);
        out += " characters";
        count(out, facts.images, "image");
        count(out, facts.documents, "document");
        count(out, facts.others, "other part");
        if (facts.outcome_known || facts.error) { out += facts.error ? ", failed" : ", ok"; }
        if (facts.duplicate) { out += same_as_later; }
        const std::size_t before = out.size();
        out += "; ";
        description(out);
        if (out.size() == before + 2) { out.resize(before); }
    }

    static void describe(std::string& out, const ResultFacts& facts) {
        const std::size_t before = out.size();
        append_safe(out, facts.tool, tool_limit);
        if (facts.identity.empty()) { return; }
        if (out.size() > before) { out += ' '; }
        append_safe(out, facts.identity, identity_limit);
    }

    // what stands between head and tail
    template <class Place>
    static void gap(std::string& out, std::string_view middle, std::size_t characters, Place place) {
        const NotableLines notable = notable_lines(middle, preview_lines_chars, preview_line_limit);
        out += preview_open;
        append_number(out, measure_plain(middle).chars);
        out += " of ";
        append_number(out, characters);
        out += " characters";
        if (!notable.lines.empty()) {
            out += preview_lines;
            append_number(out, notable.lines.size());
        }
        place();
        out += "]\n";
        for (const std::string_view line : notable.lines) { out.append(line).append(1, '\n'); }
        if (!notable.lines.empty()) { out += preview_rest; }
        out += '\n';
    }

    static void count(std::string& out, std::size_t number, std::string_view what) {
        if (number == 0) { return; }
        out += ", ";
        append_number(out, number);
        out += ' ';
        out += what;
        if (number != 1) { out += 's'; }
    }

    static void write(std::string& out, std::string_view label, std::string_view text, std::size_t limit) {
        const std::size_t before = out.size();
        out += label;
        append_safe(out, text, limit);
        if (out.size() == before + label.size()) { out.resize(before); }
    }

    static void skip_count(detail::Scanner& scan, std::string_view what) {
        detail::Scanner probe = scan;
        std::size_t count = 0;
        if (!probe.literal(", ").number(&count).literal(" ").literal(what).ok() || count == 0) { return; }
        if (count == 1 || probe.literal("s").ok()) { scan = probe; }
    }

    static constexpr bool safe(std::string_view text) {
        for (const char byte : text) {
            const bool printable = byte >= 0x20 && byte < 0x7F;
            if (!printable || byte == '"' || byte == '\\' || byte == '[' || byte == ']') { return false; }
        }
        return true;
    }

    static bool is_stub(std::string_view text) {
        if (text.size() > longest || text.size() < 2 || text.front() != '[' || text.back() != ']') {
            return false;
        }
        if (!safe(text.substr(1, text.size() - 2))) { return false; }
        const std::string_view inside = text.substr(0, text.size() - 1);
        detail::Scanner scan(inside);
        if (scan.try_literal(image_open)) { return scan.rest().size() <= tool_limit + 1 + identity_limit; }
        if (scan.try_literal(field_open)) {
            const std::string_view field = scan.number().literal(" characters; ").rest();
            if (!scan.ok() || field.size() <= tool_limit) { return scan.ok(); }
            // the name may hold what stands behind it, too
            for (std::size_t at = field.find(field_line); at <= tool_limit; at = field.find(field_line, at + 1)) {
                if (field.size() - at <= field_line.size() + line_limit) { return true; }
            }
            return false;
        }
        scan.literal(result_open);
        skip_beginning(scan);
        return scan.done() || (scan.ok() && scan.rest().substr(0, 2) == "; ");
    }

    // what `begin` writes, to what was called
    static void skip_beginning(detail::Scanner& scan) {
        scan.number().literal(" characters");
        skip_count(scan, "image");
        skip_count(scan, "document");
        skip_count(scan, "other part");
        if (!scan.try_literal(", failed")) { scan.try_literal(", ok"); }
        scan.try_literal(same_as_later);
    }

    // code points
    struct Ends {
        std::size_t head = 0;
        std::size_t tail = 0;
    };

    // What the first line of a clipped result says that follows.
    static std::optional<Ends> clip_line(std::string_view line) {
        if (line.size() > longest || line.size() < 2 || line.back() != ']') { return std::nullopt; }
        line.remove_suffix(1);
        detail::Scanner scan(line);
        if (!scan.literal(clip_open).ok() || !safe(scan.rest())) { return std::nullopt; }
        skip_beginning(scan);
        const std::size_t at = scan.rest().rfind(clip_head);
        if (!scan.ok() || at == std::string_view::npos || (at > 0 && scan.rest().substr(0, 2) != "; ")) {
            return std::nullopt;
        }
        Ends ends;
        detail::Scanner last(scan.rest().substr(at));
        last.literal(clip_head).number(&ends.head).literal(clip_tail).number(&ends.tail).literal(clip_close);
        return last.done() ? std::optional(ends) : std::nullopt;
    }

    static bool is_clip(std::string_view text) {
        if (text.size() > longest_clip || text.substr(0, clip_open.size()) != clip_open) { return false; }
        const std::string_view line = text.substr(0, text.find('\n'));
        const std::optional<Ends> ends = clip_line(line);
        if (!ends || line.size() == text.size()) { return false; }
        const std::string_view rest = text.substr(line.size() + 1);
        const std::string_view head = first_chars(rest, ends->head);
        std::size_t left_out = 0;
        detail::Scanner cut(rest.substr(head.size()));
        return cut.literal(cut_open).number(&left_out).literal(cut_close).ok() && left_out > 0 &&
               measure_plain(cut.rest()).chars == ends->tail;
    }

    // the line between head and tail
    static bool is_gap(std::string_view line) {
        detail::Scanner scan(line.substr(0, line.size() - 1));
        scan.literal(gap_open).number().literal(" of ").number().literal(" characters");
        if (scan.try_literal(preview_lines)) { scan.number(); }
        if (scan.try_literal(preview_place)) { return detail::is_reference(scan.rest(), reference_limit); }
        return scan.literal(cap_place).done();
    }

    // A stub or such a line that was cut off behind its first digit. What images are cleared for may be any words, so
    // that nothing tells whether theirs were.
    static bool is_beginning(std::string_view line) {
        const auto counts = [line](std::string_view open) {
            const std::string_view digits = line.substr(std::min(open.size(), line.size()));
            return line.substr(0, open.size()) == open && detail::Scanner(digits).number().ok();
        };
        detail::CutScanner scan(line);
        if (counts(field_open)) {
            return scan.literal(field_open).number().literal(" characters; ").ok() &&
                   scan.rest().size() <= tool_limit + field_line.size() + line_limit;
        }
        if (counts(gap_open)) {
            scan.literal(gap_open).number().literal(" of ").number().literal(" characters");
            if (scan.try_literal(preview_lines)) { scan.number(); }
            detail::CutScanner place = scan;
            if (place.try_literal(preview_place)) { return place.rest().size() <= reference_limit; }
            return scan.literal(cap_place).done();
        }
        const bool clipped = counts(clip_open);
        if (!clipped && !counts(result_open)) { return false; }
        scan.literal(clipped ? clip_open : result_open).number().literal(" characters");
        for (const std::string_view what : {"image", "document", "other part"}) {
            detail::CutScanner probe = scan;
            if (!probe.literal(", ").number().literal(" ").literal(what).ok()) { continue; }
            probe.try_literal("s");
            scan = probe;
        }
        if (!scan.try_literal(", failed")) { scan.try_literal(", ok"); }
        scan.try_literal(same_as_later);
        return scan.done() || scan.try_literal("; ");
    }

    // Head and tail have the exact lengths that `preview` gives them, the lines between them no more than theirs.
    static Recognised as_preview(std::string_view text) {
        constexpr std::size_t shown = preview_head_chars + preview_tail_chars;
        if (text.size() < shown || text.size() > (shown + preview_lines_chars) * 4 + longest) { return {}; }
        detail::Scanner scan(text.substr(first_chars(text, preview_head_chars).size()));
        std::size_t left_out = 0;
        std::size_t characters = 0;
        std::size_t lines = 0;
        scan.literal(preview_open)
            .number(&left_out)
            .literal(" of ")
            .number(&characters)
            .literal(" characters");
        const bool some_lines = scan.try_literal(preview_lines);
        if (some_lines) { scan.number(&lines); }
        if (!scan.literal(preview_place).ok() || some_lines != (lines > 0)) { return {}; }
        const std::string_view reference = scan.rest().substr(0, scan.rest().find(']'));
        if (!detail::is_reference(reference, reference_limit)) { return {}; }
        std::string_view rest = scan.rest().substr(reference.size());
        const std::size_t last_line = end_of_lines(rest, lines + 1);
        detail::Scanner end(rest.substr(last_line));
        if (some_lines) { end.literal(preview_rest); }
        if (rest.substr(0, 2) != "]\n" || !end.literal("\n").ok()) { return {}; }
        const Extent quoted = measure_plain(rest.substr(2, last_line < 2 ? 0 : last_line - 2));
        if (quoted.chars > preview_lines_chars || measure_plain(end.rest()).chars != preview_tail_chars ||
            characters != left_out + shown) {
            return {};
        }
        return {Recognised::Kind::preview, ascii(characters), reference};
    }

    // Head and tail have any lengths that add up to what was not left out. A head may hold lines like ours: each of
    // these is tried, and none costs more than a look at what may stand there.
    static bool is_capped(std::string_view text) {
        std::size_t all = 0;
        // brackets are rarer than line breaks
        constexpr std::size_t breaks = 2;
        constexpr std::string_view line = preview_open.substr(breaks);
        for (std::size_t at = text.find(line, breaks); at != std::string_view::npos; at = text.find(line, at + 1)) {
            const std::string_view behind = text.substr(at - breaks);
            std::size_t left_out = 0;
            std::size_t characters = 0;
            const std::size_t size = size_of_gap(behind, left_out, characters);
            if (size == 0 || left_out > characters) { continue; }
            if (all == 0) { all = measure_plain(text).chars; }
            if (all - measure_plain(behind.substr(0, size)).chars == characters - left_out) { return true; }
        }
        return false;
    }

    // Bytes of what `cap` writes between head and tail, at the front of a text; none where it is something else.
    static std::size_t size_of_gap(std::string_view text, std::size_t& left_out, std::size_t& characters) {
        detail::Scanner scan(text);
        scan.literal(preview_open).number(&left_out).literal(" of ").number(&characters).literal(" characters");
        std::size_t lines = 0;
        const bool some_lines = scan.try_literal(preview_lines);
        if (some_lines) { scan.number(&lines); }
        if (!scan.literal(cap_place).literal("]\n").ok() || some_lines != (lines > 0)) { return 0; }
        const std::string_view quoted = scan.rest().substr(0, preview_lines_chars * 4);
        const std::size_t end_of_quoted = end_of_lines(quoted, lines);
        if (measure_plain(quoted.substr(0, end_of_quoted)).chars > preview_lines_chars) { return 0; }
        detail::Scanner end(scan.rest().substr(end_of_quoted));
        if (some_lines) { end.literal(preview_rest); }
        return end.literal("\n").ok() ? text.size() - end.rest().size() : 0;
    }

    // behind so many line breaks, or the end
    static std::size_t end_of_lines(std::string_view text, std::size_t lines) {
        std::size_t at = 0;
        while (lines-- > 0 && at < text.size()) {
            const std::size_t end = text.find('\n', at);
            at = end == std::string_view::npos ? text.size() : end + 1;
        }
        return at;
    }
};
static_assert(previewing_wording<PlainWording> && capping_wording<PlainWording> && clipping_wording<PlainWording> &&
              marking_wording<PlainWording>);

namespace detail {

/// Any wording behind function pointers, so that planning code is compiled once.
class AnyWording {
public:
    AnyWording() = default;

    template <wording W>
    static AnyWording of(const W& model) {
        AnyWording any;
        any.model_ = &model;
        any.longest = any.identity_limit_ = W::longest;
        if constexpr (requires { W::identity_limit; }) { any.identity_limit_ = W::identity_limit; }
        if constexpr (requires { W::summary_limit; }) { any.summary_limit_ = W::summary_limit; }
        any.shape = model.shape;
        if constexpr (requires {
                          { W::opening } -> std::convertible_to<char>;
                      }) {
            any.opening_ = W::opening;
        }
        any.result_ = [](const void* w, std::string& out, const ResultFacts& facts) {
            static_cast<const W*>(w)->result(out, facts);
        };
        any.field_ = [](const void* w, std::string& out, const FieldFacts& facts) {
            static_cast<const W*>(w)->field(out, facts);
        };
        any.image_ = [](const void* w, std::string& out, const ResultFacts& facts) {
            static_cast<const W*>(w)->image(out, facts);
        };
        any.recognise_ = [](const void* w, std::string_view text) {
            return static_cast<const W*>(w)->recognise(text);
        };
        if constexpr (previewing_wording<W>) {
            any.preview_ = [](const void* w, std::string& out, const PreviewFacts& facts) {
                static_cast<const W*>(w)->preview(out, facts);
            };
        }
        if constexpr (capping_wording<W>) {
            any.cap_ = [](const void* w, std::string& out, const CapFacts& facts) {
                static_cast<const W*>(w)->cap(out, facts);
            };
        }
        if constexpr (clipping_wording<W>) {
            any.longest_clip = W::longest_clip;
            any.clip_ = [](const void* w, std::string& out, const ResultFacts& result, const CapFacts& facts) {
                static_cast<const W*>(w)->clip(out, result, facts);
            };
        }
        return any;
    }

    std::size_t longest = 0;
    std::size_t longest_clip = 0;
    Shape shape = Shape::as_it_was;

    void result(std::string& out, const ResultFacts& facts) const { result_(model_, out, facts); }
    void field(std::string& out, const FieldFacts& facts) const { field_(model_, out, facts); }
    void image(std::string& out, const ResultFacts& facts) const { image_(model_, out, facts); }
    bool preview(std::string& out, const PreviewFacts& facts) const {
        if (preview_ == nullptr) { return false; }
        preview_(model_, out, facts);
        return true;
    }
    bool cap(std::string& out, const CapFacts& facts) const {
        if (cap_ == nullptr) { return false; }
        cap_(model_, out, facts);
        return true;
    }
    bool clip(std::string& out, const ResultFacts& result, const CapFacts& facts) const {
        if (clip_ == nullptr) { return false; }
        clip_(model_, out, result, facts);
        return true;
    }
    Recognised recognise(std::string_view text) const { return recognise_(model_, text); }

    /// How many bytes longer a stub may have been before the input of its call was cleared, and with it what named it.
    std::size_t unsaid(bool cleared, bool unnamed) const {
        // what is said stands behind a blank or a semicolon
        constexpr std::size_t separator = 2;
        const std::size_t most = std::max(cleared ? summary_limit_ : 0, unnamed ? identity_limit_ : 0);
        return most > 0 ? most + separator : 0;
    }

    /// False for most texts that are no stub, without reading them.
    bool may_be_stub(const MeasuredText& text) const {
        const std::string_view raw = text.text().raw();
        if (text.least(Unit::bytes) > std::max(longest, longest_clip) || raw.empty()) { return false; }
        return opening_ == '\0' || raw[0] == opening_ || raw[0] == '\\';
    }

private:
    char opening_ = '\0';
    std::size_t identity_limit_ = 0;
    std::size_t summary_limit_ = 0;
    const void* model_ = nullptr;
    void (*result_)(const void*, std::string&, const ResultFacts&) = nullptr;
    void (*field_)(const void*, std::string&, const FieldFacts&) = nullptr;
    void (*image_)(const void*, std::string&, const ResultFacts&) = nullptr;
    Recognised (*recognise_)(const void*, std::string_view) = nullptr;
    void (*preview_)(const void*, std::string&, const PreviewFacts&) = nullptr;
    void (*cap_)(const void*, std::string&, const CapFacts&) = nullptr;
    void (*clip_)(const void*, std::string&, const ResultFacts&, const CapFacts&) = nullptr;
};

}  // namespace detail
}  // namespace coppice
