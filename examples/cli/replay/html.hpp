// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/prompt_cache.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "result.hpp"
#include "weights.hpp"

namespace coppice_replay {

namespace page {

/// How much of the recorded text a page takes along. The first of `limits` that keeps the data within `data_budget`
/// bytes is used; where none does, the last.
struct Limits {
    std::size_t beginning = 0;      ///< bytes of what an entry was
    std::size_t text = 0;           ///< bytes of each tool name, identity and stub
    std::size_t strip_entries = 0;  ///< of all strips together; the first policies of every session come first
};

inline constexpr std::array<Limits, 6> limits = {{{400, 400, 4'000'000},
                                                  {160, 240, 2'000'000},
                                                  {80, 160, 1'200'000},
                                                  {60, 120, 400'000},
                                                  {40, 80, 100'000},
                                                  {0, 0, 0}}};
inline constexpr std::size_t data_budget = 18'000'000;

/// The first `most` bytes, not ending within a code point, and a sign that there was more.
inline std::string shortened(std::string_view text, std::size_t most) {
    if (text.size() <= most) { return std::string(text); }
    std::size_t end = most;
    while (end > 0 && most - end < 3 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) { --end; }
    return std::string(text.substr(0, end)) + "\xE2\x80\xA6";
}

/// As JSON in ASCII that an HTML parser reads over: it never sees `</script>` or `<!--`.
inline std::string quoted(const std::string& text) {
    const std::string json =
        nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    std::string safe;
    safe.reserve(json.size());
    for (const char c : json) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe += c;
        }
    }
    return safe;
}

inline void append(std::string& out, std::int64_t number) {
    std::array<char, 24> digits{};
    out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

inline std::int64_t difference(std::size_t value, std::size_t from) { return static_cast<std::int64_t>(value - from); }

/// Texts that are written once and meant by number.
class Pool {
public:
    std::size_t number_of(std::string text) {
        const auto [place, is_new] = numbers_.try_emplace(std::move(text), list_.size());
        if (is_new) {
            list_.push_back(&place->first);
            bytes_ += place->first.size();
        }
        return place->second;
    }
    const std::vector<const std::string*>& list() const { return list_; }
    std::size_t bytes() const { return bytes_; }

private:
    std::unordered_map<std::string, std::size_t> numbers_;
    std::vector<const std::string*> list_;
    std::size_t bytes_ = 0;
};

/// Writes what the page draws as JSON. Figures are columns, mostly of small differences. Columns and strings are
/// pooled, as most of them are the same for every policy of a session.
class Data {
public:
    explicit Data(const Limits& allowed) : limits_(allowed) { strings_.number_of(""); }

    /// Empty where it would be more than `most` bytes.
    std::string text(const std::vector<SessionRun>& sessions, std::string_view title, std::size_t most) {
        take_strips(sessions);
        std::string list;
        for (std::size_t i = 0; i < sessions.size(); ++i) {
            list += list.empty() ? "{" : ",\n{";
            member(list, "session", string(sessions[i].session));
            member(list, "dialect", string(sessions[i].dialect));
            list += "\"runs\":[";
            for (std::size_t j = 0; j < sessions[i].runs.size(); ++j) {
                if (j > 0) { list += ",\n"; }
                run(list, sessions[i].runs[j], takes_[i][j]);
                if (columns_.bytes() + strings_.bytes() > most) { return {}; }
            }
            list += "]}";
        }

        std::string out;
        out.reserve(list.size() + columns_.bytes() + strings_.bytes() + 4096);
        out += "{\"title\":" + quoted(std::string(title)) +
               ",\n\"tokens\":" + quoted(std::string(how_tokens_are_counted)) + ",\n\"limits\":{";
        member(out, "beginning", limits_.beginning);
        member(out, "text", limits_.text);
        member(out, "strips", strips_);
        member(out, "strips_left_out", left_out_);
        out.back() = '}';
        out += ",\n\"models\":[";
        for (std::size_t model = 0; model < cache_model_count; ++model) {
            out += quoted(std::string(name_of(static_cast<CacheModel>(model)))) + ",";
        }
        out += quoted("anthropic, marks as suggested") + "],\n\"prices\":[";
        for (const coppice::prices::Row& row : coppice::prices::rows) {
            out += "{\"name\":" + quoted(std::string(row.name)) + ",";
            member(out, "write", row.prices.write);
            member(out, "read", row.prices.read);
            out.back() = '}';
            out += ',';
        }
        out.back() = ']';
        out += ",\n\"strings\":[";
        for (const std::string* const text : strings_.list()) { out.append(quoted(*text)).append(",\n"); }
        out.resize(out.size() - 2);
        out += "],\n\"columns\":[";
        for (const std::string* const column : columns_.list()) { out.append(*column).append(",\n"); }
        if (!columns_.list().empty()) { out.resize(out.size() - 2); }
        out += "],\n\"sessions\":[" + list + "]}";
        return out.size() > most ? std::string() : out;
    }

private:
    static void member(std::string& out, std::string_view name, std::size_t value) {
        out.append("\"").append(name).append("\":");
        append(out, static_cast<std::int64_t>(value));
        out += ',';
    }
    std::size_t string(std::string_view text) { return strings_.number_of(std::string(text)); }
    std::size_t string(std::string_view text, std::size_t most) {
        return strings_.number_of(shortened(text, most));
    }

    /// The number of the column of `value(i)` for every i below `count`. Of more than two zeros in a row it is written
    /// how many there are, in quotes.
    template <typename Value>
    std::size_t column(std::size_t count, Value value) {
        std::string json;
        std::size_t zeros = 0;
        const auto put_zeros = [&] {
            if (zeros > 2) {
                json.append(",\"").append(std::to_string(zeros)).append("\"");
            } else {
                for (; zeros > 0; --zeros) { json += ",0"; }
            }
            zeros = 0;
        };
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t number = value(i);
            if (number == 0) {
                zeros += 1;
                continue;
            }
            put_zeros();
            append(json += ',', number);
        }
        put_zeros();
        if (json.empty()) { json = " "; }
        json.front() = '[';
        return columns_.number_of(std::move(json += ']'));
    }
    /// The same of what each item has more than the one before.
    template <typename Item>
    std::size_t steps(const std::vector<Item>& items, std::size_t Item::* figure) {
        return column(items.size(), [&](std::size_t i) {
            return difference(items[i].*figure, i > 0 ? items[i - 1].*figure : 0);
        });
    }

    void take_strips(const std::vector<SessionRun>& sessions) {
        std::size_t most = 0;
        for (const SessionRun& session : sessions) {
            takes_.emplace_back(session.runs.size(), false);
            most = session.runs.size() > most ? session.runs.size() : most;
        }
        std::size_t entries = 0;
        for (std::size_t j = 0; j < most; ++j) {
            for (std::size_t i = 0; i < sessions.size(); ++i) {
                if (j >= sessions[i].runs.size()) { continue; }
                const std::size_t size = sessions[i].runs[j].strip.size();
                const bool takes = size <= limits_.strip_entries - entries;
                if (takes) { entries += size; }
                if (size > 0) { strips_ += 1; }
                if (!takes) { left_out_ += 1; }
                takes_[i][j] = takes;
            }
        }
    }

    void run(std::string& out, const PolicyRun& run, bool with_strip) {
        const std::vector<RequestFigures>& requests = run.requests;
        out += '{';
        member(out, "policy", string(run.policy));
        member(out, "messages", steps(requests, &RequestFigures::messages));
        member(out, "tokens", steps(requests, &RequestFigures::tokens));
        member(out, "whole", steps(requests, &RequestFigures::tokens_whole));
        out += "\"hits\":[";
        for (std::size_t model = 0; model <= cache_model_count; ++model) {
            const std::size_t number = column(requests.size(), [&](std::size_t i) {
                const RequestFigures& request = requests[i];
                const std::size_t hit = model < cache_model_count ? request.hits[model] : request.hits_suggested;
                return difference(hit, i > 0 ? requests[i - 1].tokens : 0);
            });
            append(out, static_cast<std::int64_t>(number));
            out += model < cache_model_count ? "," : "],";
        }
        member(out, "rebilled", column(requests.size(), [&](std::size_t i) {
                   return difference(requests[i].rebilled, 0);
               }));
        std::vector<std::size_t> rewrites;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (requests[i].rewrite) { rewrites.push_back(i); }
        }
        member(out, "rewrites", column(rewrites.size(), [&](std::size_t i) { return difference(rewrites[i], 0); }));
        out += "\"evidence\":{";
        member(out, "cleared", run.lost.cleared);
        member(out, "called_again", run.lost.called_again);
        member(out, "quoted", run.lost.quoted);
        out += "\"base_rate\":" + nlohmann::json(run.lost.base_rate).dump() + "},";
        member(out, "stub_tokens", run.stub_tokens);
        member(out, "removed_tokens", run.removed_tokens);
        member(out, "growths", run.growths);
        out += "\"strip\":";
        if (with_strip) {
            strip(out, run.strip);
        } else {
            out += "null";
        }
        out += '}';
    }

    void strip(std::string& out, const std::vector<StripEntry>& entries) {
        const auto texts = [&](std::string StripEntry::* text, std::size_t most) {
            return column(entries.size(), [&](std::size_t i) { return difference(string(entries[i].*text, most), 0); });
        };
        out += '{';
        member(out, "kind", texts(&StripEntry::kind, limits_.text));
        member(out, "message", steps(entries, &StripEntry::message));
        member(out, "tool", texts(&StripEntry::tool, limits_.text));
        member(out, "identity", texts(&StripEntry::identity, limits_.text));
        member(out, "tokens", column(entries.size(), [&](std::size_t i) { return difference(entries[i].tokens, 0); }));
        member(out, "saved", column(entries.size(), [&](std::size_t i) {
                   return difference(entries[i].tokens, entries[i].left);
               }));
        member(out, "replacement", texts(&StripEntry::replacement, limits_.text));
        member(out, "beginning", texts(&StripEntry::beginning, limits_.beginning));
        member(out, "cleared_at", column(entries.size(), [&](std::size_t i) {
                   return difference(entries[i].cleared_at, 0);
               }));
        out.back() = '}';
    }

    Limits limits_;
    Pool strings_;  ///< number 0 is the empty one
    Pool columns_;
    std::vector<std::vector<bool>> takes_;  ///< the strip of each session's runs
    std::size_t strips_ = 0;
    std::size_t left_out_ = 0;
};

inline constexpr std::string_view style = R"css(
:root {
    color-scheme: light dark;
    --paper: #fcfcfa; --ink: #1c1c1a; --muted: #5a5a55; --rule: #d8d7d0; --faint: #8a8a84; --panel: #f3f2ee;
    --c0: #0a5fae; --c1: #a63a0c; --c2: #04493a; --c3: #cf4fa0; --c4: #a88900; --c5: #2a98c4; --base: #6f6f69;
    --call: #0a5fae; --result: #c07a10; --reasoning: #a83282; --user: #04493a; --assistant: #2a98c4; --other: #6b6b6e;
    --mono: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
    :root {
        --paper: #161615; --ink: #e8e6e1; --muted: #a8a69f; --rule: #3b3a37; --faint: #77756f; --panel: #201f1d;
        --c0: #62a3f2; --c1: #ee7a3c; --c2: #1f9e70; --c3: #eaa6d2; --c4: #f2dc6a; --c5: #aee8f5; --base: #98968f;
        --call: #62a3f2; --result: #f3b25f; --reasoning: #d46fb0; --user: #1f9e70; --assistant: #b8ecf7;
        --other: #85837c;
    }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
    margin: 0; background: var(--paper); color: var(--ink);
    font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "Liberation Sans", sans-serif;
    font-variant-numeric: tabular-nums lining-nums; overflow-wrap: anywhere;
}
main { max-width: 1320px; margin: 0 auto; padding: 28px clamp(14px, 3vw, 40px) 64px; }
h1 { font-size: 24px; line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; margin: 0 0 4px; }
h2 { font-size: 17px; line-height: 1.3; font-weight: 650; margin: 40px 0 4px; }
h3 { font-size: 14px; font-weight: 600; margin: 0; }
p { margin: 0 0 8px; max-width: 76ch; }
.note, caption, .muted { color: var(--muted); font-size: 13.5px; }
.word { unicode-bidi: isolate; }
.warning { border-left: 3px solid var(--c1); padding-left: 10px; }
[hidden] { display: none !important; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }

.controls {
    display: flex; flex-wrap: wrap; gap: 10px 22px; margin: 20px 0 0; padding: 12px 0;
    border: solid var(--rule); border-width: 1px 0;
}
label { display: flex; flex-direction: column; gap: 2px; font-size: 13px; color: var(--muted); min-width: 0; }
select, button { font: inherit; font-size: 14px; color: var(--ink); max-width: 100%; min-width: 0; }
select {
    padding: 4px 6px; background: var(--paper); border: 1px solid var(--faint); border-radius: 3px;
    text-overflow: ellipsis;
}
#session { width: min(40ch, calc(100vw - 32px)); }
button { padding: 2px 9px; background: none; border: 1px solid var(--faint); border-radius: 3px; cursor: pointer; }
button:hover { background: var(--panel); }
[aria-pressed=true]:not(.legend *) { background: var(--ink); color: var(--paper); }
.buttons { display: flex; flex-wrap: wrap; gap: 6px; margin: 6px 0 10px; }

.choice { padding: 4px 0 8px; }
.choice label { align-items: flex-start; }

.scroll { overflow-x: auto; max-width: 100%; position: relative; }
table { border-collapse: collapse; font-size: 14px; line-height: 1.4; }
.wide { width: 100%; }
th, td { padding: 5px 10px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
th { font-weight: 500; color: var(--muted); font-size: 13px; vertical-align: bottom; }
thead tr:first-child:not(:last-child) th { border-bottom: 0; padding-bottom: 0; }
thead tr:last-child th { border-bottom: 1px solid var(--faint); }
tbody th { font-weight: 400; color: var(--ink); font-size: 14px; vertical-align: top; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 2px; }
.name { text-align: left; white-space: normal; min-width: 8.5em; max-width: 26em; }
.group { text-align: center; border-bottom: 0; padding-bottom: 0; }
thead button { border: 0; padding: 0; font-size: 13px; color: inherit; font-weight: 500; text-align: inherit; }
thead button:hover { background: none; text-decoration: underline; }
thead [aria-sort=ascending] button::after { content: " \2191"; }
thead [aria-sort=descending] button::after { content: " \2193"; }
.summary .name { position: sticky; left: 0; background: var(--paper); z-index: 1; padding-right: 12px; }
.lowest td:nth-child(3) { font-weight: 650; }
.meter { display: block; position: relative; width: 92px; height: 9px; background: var(--panel); }
.meter i { position: absolute; left: 0; top: 0; bottom: 0; background: var(--base); }
.meter b { position: absolute; top: -3px; bottom: -3px; width: 1px; background: var(--ink); }
.swatch { flex: none; width: 22px; height: 10px; overflow: visible; }
.key { display: inline-flex; align-items: baseline; gap: 8px; text-align: left; }
.key .swatch { align-self: center; }

.compare { display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px 28px; align-items: start; }
.legend td, .legend th { padding-top: 2px; padding-bottom: 2px; }
.legend .name { min-width: 9em; max-width: 15em; }
.legend td, .legend thead th { padding-left: 5px; padding-right: 5px; }
.legend tr > :first-child { padding-left: 0; }
.legend td:last-child { min-width: 1.4em; }
.link {
    border: 0; padding: 0; text-align: left; text-decoration: underline; text-underline-offset: 3px;
    text-decoration-color: var(--faint);
}
.legend button { border-color: transparent; text-align: left; padding: 1px 6px 1px 0; width: 100%; }
.legend [aria-pressed=false] { color: var(--muted); }
.legend [aria-pressed=false] .swatch { opacity: 0.25; }
.legend tr:hover th, .legend tr:hover td { background: var(--panel); }
@media (min-width: 1040px) {
    .compare { grid-template-columns: minmax(0, 1fr) minmax(0, 27rem); }
    .compare .plot { position: sticky; top: 12px; }
}
@media (max-width: 480px) {
    .legend td, .legend th { padding-left: 4px; padding-right: 4px; }
    .legend td, .legend button { font-size: 13px; }
}
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 22px 28px; }
.panels figure { margin: 0; min-width: 0; }
.panels figcaption span { display: block; }
.panels figcaption .key { display: inline-flex; }
.plot { position: relative; touch-action: pan-y; cursor: crosshair; }
.plot svg { display: block; width: 100%; }
svg text { font-size: 11.5px; fill: var(--muted); font-family: inherit; }
.grid { stroke: var(--rule); stroke-width: 1; fill: none; }
.axis { stroke: var(--faint); stroke-width: 1; fill: none; }
.whole { stroke: var(--base); stroke-width: 1; fill: none; stroke-dasharray: 1 3; stroke-linecap: round; }
.line { fill: none; stroke-width: 1.75; stroke-linejoin: round; }
.strong .line { stroke-width: 3.25; }
.area { stroke: none; fill-opacity: 0.24; }
.ticks { stroke: var(--ink); stroke-width: 1; fill: none; }
.cursor { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 2 2; }
.figure { fill: var(--ink); font-size: 12.5px; }
.mark { stroke: var(--ink); stroke-width: 1.5; }
.dot { stroke: var(--paper); stroke-width: 1; }

.transcript { display: grid; grid-template-columns: minmax(0, 1fr); gap: 14px 28px; align-items: start; }
@media (min-width: 1040px) { .transcript { grid-template-columns: minmax(0, 1fr) 25.5rem; } }
.strip { cursor: pointer; }
.outline { fill-opacity: 0.1; stroke-width: 1; }
.chosen { fill: none; stroke: var(--ink); stroke-width: 2; }
.detail { background: var(--panel); padding: 10px 14px; font-size: 14px; border-radius: 3px; }
.detail dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 2px 14px; margin: 6px 0; }
.detail dt { color: var(--muted); }
.detail dd { margin: 0; unicode-bidi: isolate; }
.detail pre {
    margin: 2px 0 8px; padding: 6px 8px; font: 12.5px/1.45 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere;
    background: var(--paper); max-height: 15em; overflow: auto; unicode-bidi: isolate;
}
@media (min-width: 1040px) { .detail { position: sticky; top: 12px; min-height: 24em; } }
@media (max-width: 1039px) {
    .detail {
        order: -1; position: sticky; top: 0; height: min(17em, 42vh); overflow: auto;
        border-bottom: 1px solid var(--faint);
    }
}
dl.words { display: grid; grid-template-columns: minmax(6em, auto) minmax(0, 1fr); gap: 4px 18px; margin: 8px 0; }
dl.words dt { color: var(--ink); font-weight: 500; }
dl.words dd { margin: 0; color: var(--muted); max-width: 72ch; }
summary { cursor: pointer; margin-top: 36px; }
)css";

inline constexpr std::string_view script = R"js(
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const space = document.getElementById('space').namespaceURI;
const main = document.querySelector('main');
const colours = 6;
const dashes = ['', '7 3', '2 3', '9 3 2 3'];
const kinds = ['call', 'result', 'reasoning', 'user text', 'assistant text', 'other'];
const kindColours = ['--call', '--result', '--reasoning', '--user', '--assistant', '--other'];

// What is not to be seen or turns the line round is shown as a sign; all text comes onto the page through here.
const shown = text => String(text)
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
             c => '\u27e8' + c.charCodeAt(0).toString(16) + '\u27e9');
const short = (text, most) => text.length > most ? text.slice(0, most) + '\u2026' : text;

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (typeof value === 'function') node.addEventListener(name, value);
        else node.setAttribute(name, value === true ? '' : value);
    }
    for (const child of children) {
        if (child === null || child === undefined) continue;
        node.append(child instanceof Node ? child : document.createTextNode(shown(child)));
    }
    return node;
}
const put = (node, ...children) => {
    node.replaceChildren();
    fill(node, null, children);
};
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => fill(document.createElementNS(space, tag), attributes, children);

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const num = value => Number.isFinite(value) ? whole.format(value) : '\u2013';
const brief = value => !Number.isFinite(value) ? '\u2013'
    : Math.abs(value) < 1e5 ? whole.format(value)
    : Math.abs(value) < 999500 ? (value / 1e3).toFixed(0) + ' k'
    : Math.abs(value) < 1e9 ? (value / 1e6).toFixed(2) + ' M' : (value / 1e9).toFixed(2) + ' G';
const pct = value => Number.isFinite(value) ? (100 * value).toFixed(1) + '\u2009%' : '\u2013';
const ratio = (part, all) => all > 0 ? part / all : NaN;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const sum = list => list.reduce((all, value) => all + value, 0);
const text = id => data.strings[id];
const plural = (count, one, many) => num(count) + ' ' + (count === 1 ? one : many);

// The data: columns, mostly of differences, shared by whatever has the same ones; "7" means seven zeros.
const expanded = new Map();
function figures(id) {
    if (!expanded.has(id)) {
        const list = [];
        for (const step of data.columns[id]) {
            if (typeof step === 'number') list.push(step);
            else for (let zeros = Number(step); zeros > 0; --zeros) list.push(0);
        }
        expanded.set(id, list);
    }
    return expanded.get(id);
}
const summed = new Map();
function running(id) {
    if (!summed.has(id)) {
        let last = 0;
        summed.set(id, figures(id).map(step => last += step));
    }
    return summed.get(id);
}
function decode(run, name) {
    const tokens = running(run.tokens);
    const hits = run.hits.map(id => figures(id).map((step, k) => (k > 0 ? tokens[k - 1] : 0) + step));
    const rewritten = new Set(figures(run.rewrites));
    const before = running(run.whole);
    const rebilled = figures(run.rebilled);
    return {
        name, tokens, hits, rewritten, rebilled, whole: before, messages: running(run.messages),
        count: tokens.length, sent: sum(tokens), served: hits.map(sum), wholeSent: sum(before),
        peak: tokens.reduce((most, value) => Math.max(most, value), 0),
        wholePeak: before.reduce((most, value) => Math.max(most, value), 0),
        lost: sum(rebilled), evidence: run.evidence, stubs: run.stub_tokens, removed: run.removed_tokens,
        growths: run.growths, strip: run.strip,
    };
}
const policies = [];
const sessions = data.sessions.map(session => {
    const names = new Set();
    const runs = session.runs.map(run => {
        let name = text(run.policy);
        for (let n = 2; names.has(name); ++n) name = text(run.policy) + ' (' + n + ')';
        names.add(name);
        if (!policies.includes(name)) policies.push(name);
        return decode(run, name);
    });
    return {name: text(session.session) || '(no name)', dialect: text(session.dialect), runs,
            of: new Map(runs.map(run => [run.name, run]))};
});
const models = data.models.map((name, id) => ({name, id}))
    .filter(model => model.id < data.models.length - 1 ||
                     sessions.some(session => session.runs.some(run => run.served[model.id] > 0)));

const firstPolicy = policies[0] ?? 'none';

const state = {session: sessions.length > 1 ? -1 : 0, model: 1, price: 0, chosen: new Set(policies.slice(0, 7)),
               strip: null, request: -1, dot: -1, entry: -1, sort: null, down: false, fit: false};
const bill = (served, sent, price = data.prices[state.price]) =>
    (price.read * served + price.write * (sent - served)) / 1000;
const billed = run => bill(run.served[state.model], run.sent);

function summary(list) {
    // over several sessions: only those where both the policy and the first run are known
    const rows = [];
    for (const name of policies) {
        const pairs = list.map(session => [session.of.get(name), session.runs[0]]).filter(([run]) => run);
        if (pairs.length === 0) continue;
        const of = figure => sum(pairs.map(([run]) => figure(run)));
        const base = figure => sum(pairs.map(([, run]) => figure(run)));
        const sent = of(run => run.sent), served = of(run => run.served[state.model]);
        const cleared = of(run => run.evidence.cleared);
        const anyway = of(run => run.evidence.cleared * run.evidence.base_rate);
        rows.push({
            name, sessions: pairs.length, billed: of(billed), relative: ratio(of(billed), base(billed)), sent,
            sentRelative: ratio(sent, base(run => run.sent)), hitRate: ratio(served, sent),
            rewrites: of(run => run.rewritten.size), lost: of(run => run.lost),
            peak: pairs.reduce((most, [run]) => Math.max(most, run.peak), 0), cleared,
            again: of(run => run.evidence.called_again), quoted: of(run => run.evidence.quoted),
            againRate: ratio(of(run => run.evidence.called_again), cleared), anyway: ratio(anyway, cleared),
            growths: of(run => run.growths),
        });
    }
    return rows;
}

// Where there are many policies, the page begins with the library's own and the cheapest.
if (policies.length > 7) {
    const ranked = summary(sessions).filter(row => Number.isFinite(row.relative))
        .sort((a, b) => a.relative - b.relative);
    state.chosen = new Set([firstPolicy, ...policies.filter(name => name === 'standard'),
                            ...ranked.slice(0, 5).map(row => row.name)]);
}

// Those that are shown first are the easiest to tell apart.
const byColour = [...state.chosen, ...policies.filter(name => !state.chosen.has(name))];
const style = new Map(byColour.map((name, i) => [name, i === 0 ? {colour: 'var(--base)', dash: ''}
    : {colour: `var(--c${(i - 1) % colours})`, dash: dashes[Math.floor((i - 1) / colours) % dashes.length]}]));

function swatch(name) {
    const look = style.get(name);
    return draw('svg', {class: 'swatch', viewBox: '0 0 22 10', 'aria-hidden': 'true'},
        draw('path', {d: 'M0 5H22', class: 'line', style: `stroke:${look.colour};stroke-width:2.5`,
                      'stroke-dasharray': look.dash || null}));
}
const word = name => el('span', {class: 'word'}, short(name, 120));
const label = name => el('span', {class: 'key', title: name.length > 60 ? shown(short(name, 400)) : null}, swatch(name),
    el('span', {class: 'word'}, short(name, 60)));

// The parts of the page, filled again by `show`.
const parts = {};
for (const name of ['summary', 'overview', 'curves', 'transcript']) {
    parts[name] = el('section', {'aria-label': name});
}
function scroller(name, table) {
    return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name}, table);
}

const columns = [
    {id: 'name', head: 'Policy', tip: 'in the order they were asked for'},
    {id: 'billed', head: 'Billed', tip: 'input-token equivalents', show: brief},
    {id: 'relative', head: 'vs none', tip: 'billed, relative to sending everything', show: pct},
    {id: 'bar', head: ''},
    {id: 'sent', head: 'Sent', tip: 'tokens of all requests together', show: brief},
    {id: 'sentRelative', head: 'vs none', tip: 'tokens sent, relative to sending everything', show: pct},
    {id: 'hitRate', head: 'Hit rate', tip: 'share of the tokens sent that the cache served', show: pct},
    {id: 'rewrites', head: 'Rewrites', tip: 'requests that do not continue the one before', show: num},
    {id: 'lost', head: 'Re-billed', tip: 'tokens that rewrites took from the cache', show: brief},
    {id: 'peak', head: 'Peak', tip: 'tokens of the largest request', show: num},
    {id: 'cleared', head: 'Cleared', tip: 'results', show: num},
    {id: 'againRate', head: 'Again', tip: 'called again within 24 calls, of those cleared', show: pct},
    {id: 'anyway', head: 'Anyway', tip: 'called again within 24 calls without pruning, of all results', show: pct},
    {id: 'quoted', head: 'Quoted', tip: 'results of which a line was quoted later', show: num},
];

function showSummary() {
    const list = state.session < 0 ? sessions : [sessions[state.session]];
    const rows = summary(list);
    const most = Math.max(1, ...rows.map(row => Number.isFinite(row.relative) ? row.relative : 0));
    const lowest = Math.min(...rows.map(row => row.relative).filter(Number.isFinite));
    if (state.sort !== null) {
        const value = row => Number.isFinite(row[state.sort]) ? row[state.sort] : Infinity;
        rows.sort((a, b) => (state.down ? -1 : 1) * (value(a) - value(b)) || 0);
    }
    const head = columns.map(column => {
        if (column.head === '') return el('th', {});
        const sorted = (state.sort === null ? 'name' : state.sort) === column.id;
        return el('th', {scope: 'col', class: column.id === 'name' ? 'name' : null, title: column.tip,
                         'aria-sort': sorted && state.sort !== null ? (state.down ? 'descending' : 'ascending') : null},
            el('button', {type: 'button', 'data-sort': column.id, click() {
                state.down = state.sort === column.id && !state.down;
                state.sort = column.id === 'name' ? null : column.id;
                showSummary();
                parts.summary.querySelector(`[data-sort=${column.id}]`).focus();
            }}, column.head));
    });
    const body = rows.map(row => el('tr', {class: row.relative === lowest ? 'lowest' : null}, ...columns.map(column => {
        if (column.id === 'name') {
            const partly = row.sessions < list.length ? ` (in ${row.sessions} of ${list.length} sessions)` : null;
            return el('th', {scope: 'row', class: 'name'}, label(row.name), partly);
        }
        if (column.id === 'bar') {
            const width = Number.isFinite(row.relative) ? 100 * row.relative / most : 0;
            return el('td', {}, el('span', {class: 'meter', 'aria-hidden': 'true'},
                el('i', {style: `width:${width.toFixed(1)}%`}), el('b', {style: `left:${(100 / most).toFixed(1)}%`})));
        }
        return el('td', {}, column.show(row[column.id]));
    })));
    const grown = sum(rows.map(row => row.growths));
    const title = state.session < 0 ? plural(sessions.length, 'session', 'sessions') + ' together' : 'Summary';
    put(parts.summary,
        el('h2', {}, title),
        el('p', {class: 'note'}, 'Fixed-trajectory replay: no model ran. Recorded requests are sent again through ' +
            `each policy, billed as ${data.prices[state.price].name} (write ${data.prices[state.price].write}, read ` +
            `${data.prices[state.price].read} thousandths of a token), served as by the cache model ` +
            `${data.models[state.model]}. "vs none": relative to what ${short(firstPolicy, 60)} costs or sends.`),
        scroller('Summary', el('table', {class: 'wide summary'},
            el('thead', {}, el('tr', {}, el('th', {class: 'name'}), el('th', {colspan: 9}),
                               el('th', {colspan: 4, scope: 'colgroup', class: 'group'}, 'Lost evidence')),
               el('tr', {}, ...head)),
            el('tbody', {}, ...body))),
        grown > 0 ? el('p', {class: 'warning'}, plural(grown, 'edit', 'edits') + ' did not shrink the body.') : null);
}

// A group that arrow keys walk through like a slider.
function walk(node, options) {
    node.setAttribute('tabindex', '0');
    node.setAttribute('role', 'slider');
    node.setAttribute('aria-label', options.label);
    node.setAttribute('aria-valuemin', '1');
    node.setAttribute('aria-valuemax', String(options.count));
    const row = options.row || 1;
    const steps = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row, PageUp: -options.page,
                   PageDown: options.page, Home: -Infinity, End: Infinity};
    node.addEventListener('keydown', event => {
        if (event.key === 'Enter' && options.enter) options.enter();
        if (!(event.key in steps) || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        const now = options.now();
        options.go(clamp((now < 0 ? 0 : now) + steps[event.key], 0, options.count - 1));
    });
}
function told(node, at, words) {
    node.setAttribute('aria-valuenow', String(at + 1));
    node.setAttribute('aria-valuetext', shown(words));
}

function steps(most, wanted) {
    const raw = Math.max(most, 1) / wanted;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = Math.max(1, [1, 2, 5, 10].find(n => n * power >= raw) * power);
    const list = [];
    for (let at = 0; at <= most; at += step) list.push(at);
    return list;
}
const axisNumber = value => value >= 1e6 ? +(value / 1e6).toFixed(2) + ' M'
    : value >= 1e3 ? +(value / 1e3).toFixed(1) + ' k' : String(value);

function chart(host, runs, options) {
    const width = Math.max(200, Math.floor(host.clientWidth)), height = options.height;
    const left = 46, right = width - 10, top = 8, bottom = height - (options.ticks ? 34 : 24);
    const count = options.count;
    const x = k => count < 2 ? (left + right) / 2 : left + (right - left) * k / (count - 1);
    const y = value => bottom - (bottom - top) * value / Math.max(options.most, 1);
    const point = (value, k) => (k ? 'L' : 'M') + x(k).toFixed(1) + ' ' + y(value).toFixed(1);
    const path = list => list.map(point).join('') + (list.length === 1 ? 'h0.1' : '');
    const picture = draw('svg', {viewBox: `0 0 ${width} ${height}`, height, 'aria-hidden': 'true'});
    for (const value of steps(options.most, height > 200 ? 6 : 3)) {
        picture.append(draw('path', {class: value ? 'grid' : 'axis', d: `M${left} ${y(value).toFixed(1)}H${right}`}),
            draw('text', {x: left - 6, y: y(value) + 4, 'text-anchor': 'end'}, axisNumber(value)));
    }
    for (const at of steps(count, Math.max(2, Math.floor(width / 110)))) {
        const k = Math.max(at, 1) - 1;
        picture.append(draw('text', {x: x(k), y: height - 4, 'text-anchor': count < 2 ? 'middle' : k === 0 ? 'start'
            : x(k) > right - 14 ? 'end' : 'middle'}, String(k + 1)));
    }
    picture.append(draw('path', {class: 'whole', d: path(options.whole)}));
    const groups = new Map();
    for (const run of runs) {
        const look = style.get(run.name);
        const group = draw('g', {});
        if (options.area && run.count > 0) {
            const list = run.hits[state.model];
            group.append(draw('path', {class: 'area', style: `fill:${look.colour}`,
                d: path(list) + `L${x(run.count - 1).toFixed(1)} ${bottom}L${x(0).toFixed(1)} ${bottom}Z`}));
        }
        if (run.count > 0) {
            group.append(draw('path', {class: 'line', style: `stroke:${look.colour}`, d: path(run.tokens),
                                       'stroke-dasharray': look.dash || null}));
        }
        if (options.ticks) {
            group.append(draw('path', {class: 'ticks',
                d: [...run.rewritten].map(k => `M${x(k).toFixed(1)} ${bottom + 4}v8`).join('') || 'M0 0'}));
        }
        groups.set(run.name, group);
        picture.append(group);
    }
    const line = draw('path', {class: 'cursor'});
    const dots = draw('g', {});
    picture.append(line, dots);
    host.replaceChildren(picture);
    const at = event => {
        const box = picture.getBoundingClientRect();
        const place = (event.clientX - box.left) * width / box.width;
        options.go(clamp(Math.round((place - left) / (right - left) * (count - 1)), 0, count - 1));
    };
    host.onpointermove = at;
    host.onpointerdown = at;
    return {
        groups,
        cursor(k) {
            line.setAttribute('d', `M${x(k).toFixed(1)} ${top}V${bottom + (options.ticks ? 12 : 0)}`);
            dots.replaceChildren(...runs.filter(run => k < run.count).map(run =>
                draw('circle', {class: 'dot', r: 3.5, cx: x(k).toFixed(1), cy: y(run.tokens[k]).toFixed(1),
                                style: `fill:${style.get(run.name).colour}`})));
        },
    };
}

function showCurves() {
    const session = sessions[state.session];
    const runs = session.runs.filter(run => state.chosen.has(run.name));
    const count = Math.max(...session.runs.map(run => run.count), 0);
    if (count === 0) {
        put(parts.curves, el('h2', {}, 'Requests'), el('p', {}, 'This session has no request.'));
        return;
    }
    const longest = session.runs.reduce((best, run) => run.count > best.count ? run : best, session.runs[0]);
    const pruned = runs.filter(run => run !== session.runs[0]);
    const fit = state.fit && pruned.length > 0;  // lines that are too high then leave the charts at the top
    const most = Math.max(...(fit ? [1.05 * Math.max(...pruned.map(run => run.peak))]
        : [longest.wholePeak, ...runs.map(run => run.peak)]));
    if (state.request < 0 || state.request >= count) state.request = count - 1;

    const charts = [], readers = [], sliders = [];
    let waiting = false;
    const go = k => {
        state.request = k;
        if (!waiting) {
            waiting = true;
            requestAnimationFrame(() => { waiting = false; update(); });
        }
    };
    const slider = (node, name) => {
        walk(node, {label: name, count, page: 10, now: () => state.request, go});
        sliders.push(node);
        return node;
    };
    const heading = el('caption', {style: 'text-align:left;padding-bottom:4px'});
    const body = el('tbody');
    const cellsOf = new Map();
    for (const run of session.runs) {
        const cells = Array.from({length: 5}, () => el('td'));
        const row = el('tr', {
            pointerenter: () => strong(run.name, true), pointerleave: () => strong(run.name, false)},
            el('th', {scope: 'row', class: 'name'}, el('button', {
                type: 'button', 'aria-pressed': String(state.chosen.has(run.name)),
                'data-toggle': policies.indexOf(run.name),
                focus: () => strong(run.name, true), blur: () => strong(run.name, false),
                click() { choose(names => { if (!names.delete(run.name)) names.add(run.name); }, this); }},
                label(run.name))), ...cells);
        cellsOf.set(run.name, cells);
        body.append(row);
    }
    const button = (words, change) => el('button', {type: 'button', 'data-all': words,
                                                    click() { choose(change, this); }}, words);
    const cheapest = names => {
        names.clear();
        for (const run of [...session.runs].sort((a, b) => billed(a) - billed(b)).slice(0, 5)) names.add(run.name);
    };
    const comparison = slider(el('div', {class: 'plot'}), 'Request, all chosen policies');
    const panels = el('div', {class: 'panels'});
    put(parts.curves,
        el('h2', {}, 'Context over the requests'),
        el('p', {class: 'note'}, 'Tokens sent with each request; dotted: never pruned. Point at the chart, or move ' +
            'with the arrow keys, to read a request.'),
        el('div', {class: 'compare'}, comparison, el('div', {},
            session.runs.length < 2 ? null : el('div', {class: 'buttons'},
                button('All', names => session.runs.forEach(run => names.add(run.name))),
                button('None', names => names.clear()),
                session.runs.length > 5 ? button('Cheapest five', cheapest) : null,
                el('button', {type: 'button', 'aria-pressed': String(fit), 'data-all': 'fit',
                              title: 'scale the charts to the pruned requests',
                              click() { choose(() => state.fit = !state.fit, this); }}, 'Fit to pruned')),
            el('div', {class: 'scroll'}, el('table', {class: 'legend wide'}, heading,
                el('thead', {}, el('tr', {}, el('th', {scope: 'col', class: 'name'}, 'Policy'),
                    ...['Sent', 'Served', '%', 'Billed', ''].map(word => el('th', {scope: 'col'}, word)))), body)))),
        el('h2', {}, 'Each policy'),
        el('p', {class: 'note'}, 'Line: tokens sent. Area: what the cache served. Dotted: never pruned. Ticks below: ' +
            'the body was rewritten. Fixed-trajectory replay: no model ran.'),
        runs.length ? panels : el('p', {}, 'No policy is chosen.'));

    charts.push(chart(comparison, runs, {height: clamp(Math.round(comparison.clientWidth * 0.5), 240, 420), count, most,
                                         whole: longest.whole, go}));
    const hosts = runs.map(run => {
        const reading = el('span', {class: 'muted'});
        const host = slider(el('div', {class: 'plot'}), 'Request, ' + short(run.name, 80));
        panels.append(el('figure', {}, el('figcaption', {}, el('h3', {}, label(run.name)), reading), host));
        readers.push([run, reading]);
        return host;
    });
    hosts.forEach((host, i) => charts.push(chart(host, [runs[i]], {height: 190, count, most, whole: runs[i].whole, go,
                                                                    area: true, ticks: true})));

    function strong(name, on) {
        const group = charts[0].groups.get(name);
        if (!group) return;
        group.setAttribute('class', on ? 'strong' : '');
        if (on) group.parentNode.insertBefore(group, group.parentNode.querySelector('.cursor'));
    }
    function update() {
        const k = state.request;
        for (const one of charts) one.cursor(k);
        const words = `Request ${num(k + 1)} of ${num(count)}, ` +
            `${plural(longest.messages[k], 'message', 'messages')}; never pruned ${num(longest.whole[k])} tokens`;
        heading.replaceChildren(words);
        const spoken = [words];
        for (const run of session.runs) {
            const cells = cellsOf.get(run.name);
            if (!state.chosen.has(run.name) || k >= run.count) {
                cells.forEach(cell => cell.replaceChildren());
                continue;
            }
            const sent = run.tokens[k], served = run.hits[state.model][k];
            const share = sent > 0 ? (100 * served / sent).toFixed(0) : '\u2013';
            const list = [num(sent), num(served), share, num(bill(served, sent)), run.rewritten.has(k) ? 'R' : ''];
            cells.forEach((cell, i) => cell.replaceChildren(list[i]));
            cells[4].title = run.rewritten.has(k) ? `rewritten; ${num(run.rebilled[k])} tokens billed again` : '';
            spoken.push(`${short(run.name, 80)}: sent ${num(sent)}, served ${num(served)}` +
                        (run.rewritten.has(k) ? ', rewritten' : ''));
        }
        for (const [run, reading] of readers) {
            reading.replaceChildren(k >= run.count ? '' : `${num(run.tokens[k])} sent, ` +
                `${pct(ratio(run.hits[state.model][k], run.tokens[k]))} served` +
                (run.rewritten.has(k) ? `, rewritten (${num(run.rebilled[k])} again)` : ''));
        }
        sliders.forEach((node, i) => told(node, k, i === 0 ? spoken.join('; ')
            : `request ${k + 1}: ${readers[i - 1][1].textContent}`));
    }
    update();
}

function choose(change, button) {
    change(state.chosen);
    const mark = ['data-toggle', 'data-all'].find(name => button.hasAttribute(name));
    const value = button.getAttribute(mark);
    showCurves();
    remember();
    const again = parts.curves.querySelector(`[${mark}="${value}"]`);
    if (again) again.focus({preventScroll: true});
}

// All sessions: one row a policy, one dot a session.
function showOverview() {
    const names = policies.slice(1);
    const values = new Map(names.map(name => [name, sessions.map(session => {
        const run = session.of.get(name);
        return run ? ratio(billed(run), billed(session.runs[0])) : NaN;
    })]));
    const finite = [...values.values()].flat().filter(Number.isFinite);
    const host = el('div', {class: 'plot'});
    const reading = el('p', {class: 'note'});
    const rows = sessions.map((session, i) => {
        const base = session.runs[0];
        const ranked = session.runs.slice(1).filter(run => Number.isFinite(ratio(billed(run), billed(base))))
            .sort((a, b) => billed(a) - billed(b));
        const best = ranked[0];
        return el('tr', {}, el('th', {scope: 'row', class: 'name'}, el('button', {
            type: 'button', class: 'link', click: () => open(i)}, word(session.name))),
            el('td', {class: 'name'}, session.dialect), el('td', {}, num(base ? base.count : 0)),
            el('td', {}, num(base ? base.wholePeak : NaN)),
            el('td', {class: 'name'}, best ? label(best.name) : '\u2013'),
            el('td', {}, best ? pct(ratio(billed(best), billed(base))) : '\u2013'));
    });
    put(parts.overview,
        el('h2', {}, 'Billed, relative to none: a dot a session'),
        el('p', {class: 'note'}, 'Left is cheaper; the strong line is 100\u2009%: no pruning. Right: the median, or ' +
            'the session pointed at. Click or press Enter to open it. Fixed-trajectory replay: no model ran.'),
        names.length && finite.length ? reading : null, names.length && finite.length ? host : null,
        el('h2', {}, 'Sessions'),
        scroller('Sessions', el('table', {class: 'wide'}, el('thead', {}, el('tr', {},
            el('th', {scope: 'col', class: 'name'}, 'Session'), el('th', {scope: 'col', class: 'name'}, 'Dialect'),
            el('th', {scope: 'col'}, 'Requests'), el('th', {scope: 'col'}, 'Peak, never pruned'),
            el('th', {scope: 'col', class: 'name'}, 'Cheapest policy'), el('th', {scope: 'col'}, 'vs none'))),
            el('tbody', {}, ...rows))));
    if (!names.length || !finite.length) return;

    const most = Math.max(1.05, ...finite.map(value => Math.min(value, 20)));
    const width = Math.max(200, host.clientWidth), row = 38, height = names.length * row + 24;
    const left = 6, right = width - 76;
    const x = value => left + (right - left) * Math.min(value, most) / most;
    const picture = draw('svg', {viewBox: `0 0 ${width} ${height}`, height, 'aria-hidden': 'true'});
    const bottom = height - 24;
    for (const at of steps(100 * most, Math.max(3, Math.floor(width / 130)))) {
        picture.append(draw('path', {class: 'grid', d: `M${x(at / 100)} 0V${bottom}`}),
            draw('text', {x: x(at / 100), y: height - 6, 'text-anchor': at ? 'middle' : 'start'}, at + '\u2009%'));
    }
    picture.append(draw('path', {class: 'ticks', d: `M${x(1)} 0V${bottom}`}));
    const medians = new Map(), sides = new Map(), marks = new Map();
    names.forEach((name, i) => {
        const list = values.get(name), sorted = list.filter(Number.isFinite).sort((a, b) => a - b);
        const middle = i * row + 26;
        medians.set(name, sorted.length ? sorted[Math.floor((sorted.length - 1) / 2)] : NaN);
        const {colour} = style.get(name);
        sides.set(name, draw('text', {x: width - 4, y: middle + 4, 'text-anchor': 'end', class: 'figure'}));
        marks.set(name, draw('circle', {r: 5.5, cy: middle, class: 'mark', style: `fill:${colour}`}));
        picture.append(draw('text', {x: left, y: middle - 11, class: 'figure'}, short(name, Math.floor(width / 9))),
            draw('path', {class: 'grid', d: `M${left} ${middle}H${right}`}),
            draw('g', {style: `fill:${colour}`, 'fill-opacity': '0.55'}, ...list.filter(Number.isFinite)
                .map(value => draw('circle', {cx: x(value).toFixed(1), cy: middle, r: 3.5}))),
            draw('path', {class: 'ticks', 'stroke-width': '2', d: `M${x(medians.get(name))} ${middle - 7}v14`}),
            marks.get(name), sides.get(name));
    });
    host.replaceChildren(picture);
    const go = at => {
        state.dot = at;
        const session = at < 0 ? null : sessions[at];
        put(reading, session ? `${at + 1} of ${sessions.length}: ` : 'Median of the sessions',
            session ? word(session.name) : null);
        for (const name of names) {
            const value = session ? values.get(name)[at] : medians.get(name);
            sides.get(name).replaceChildren(pct(value));
            marks.get(name).setAttribute('visibility', session && Number.isFinite(value) ? 'visible' : 'hidden');
            if (session && Number.isFinite(value)) marks.get(name).setAttribute('cx', x(value).toFixed(1));
        }
        told(host, Math.max(at, 0), reading.textContent + ': ' + names.map(name =>
            short(name, 60) + ' ' + pct(session ? values.get(name)[at] : medians.get(name))).join('; '));
    };
    walk(host, {label: 'Session', count: sessions.length, page: 10, now: () => state.dot, go,
                enter: () => { if (state.dot >= 0) open(state.dot); }});
    const near = event => {
        const box = picture.getBoundingClientRect();
        const px = (event.clientX - box.left) * width / box.width;
        const line = clamp(Math.floor((event.clientY - box.top) / row), 0, names.length - 1);
        let best = -1, least = Infinity;
        values.get(names[line]).forEach((value, i) => {
            const far = Math.abs(x(value) - px);
            if (far < least) { least = far; best = i; }
        });
        return best;
    };
    host.onpointermove = event => go(near(event));
    host.onpointerleave = () => go(-1);
    host.onclick = event => { const at = near(event); if (at >= 0) open(at); };
    go(state.dot);
}

function open(at) {
    state.session = at;
    state.request = -1;
    state.entry = -1;
    controls.session.value = String(at);
    show();
    controls.session.focus();
    window.scrollTo(0, 0);
}

function entriesOf(strip) {
    const column = name => figures(strip[name]);
    const kind = column('kind'), tokens = column('tokens'), saved = column('saved'), message = running(strip.message);
    const tool = column('tool'), identity = column('identity'), stub = column('replacement');
    const beginning = column('beginning'), clearedAt = column('cleared_at');
    return kind.map((name, i) => {
        const known = kinds.indexOf(text(name));
        return {
            kind: known < 0 ? kinds.length - 1 : known, kindName: text(name),
            tokens: tokens[i], left: tokens[i] - saved[i], message: message[i],
            tool: text(tool[i]), identity: text(identity[i]), stub: text(stub[i]), beginning: text(beginning[i]),
            clearedAt: clearedAt[i],
            cleared: clearedAt[i] > 0 || stub[i] !== 0 || saved[i] > 0,
        };
    });
}

function showTranscript() {
    const session = sessions[state.session];
    const usable = session.runs.filter(run => run.strip !== null && figures(run.strip.kind).length > 0);
    const missing = session.runs.filter(run => run.strip === null);
    const without = missing.length ? el('p', {class: 'note'}, 'Left out to keep the page small: the transcripts of ' +
        missing.map(run => short(run.name, 60)).join(', ') + '.') : null;
    if (usable.length === 0) {
        put(parts.transcript, el('h2', {}, 'Transcript at the last request'),
            el('p', {class: 'note'}, missing.length ? '' : 'No transcript was recorded.'), without);
        return;
    }
    let run = usable.find(one => one.name === state.strip);
    if (!run) {
        const pruned = usable.filter(one => one !== session.runs[0]);
        run = (pruned.length ? pruned : usable).reduce((best, one) => billed(one) < billed(best) ? one : best);
    }
    const entries = entriesOf(run.strip);
    const total = sum(entries.map(entry => entry.tokens)), left = sum(entries.map(entry => entry.left));
    const cleared = entries.filter(entry => entry.cleared).length;
    if (state.entry >= entries.length) state.entry = -1;

    const select = el('select', {change() {
        state.strip = usable[Number(this.value)].name;
        showTranscript();
        remember();
        parts.transcript.querySelector('select').focus();
    }}, ...usable.map((one, i) => el('option', {value: i, selected: one === run}, short(one.name, 100))));
    const kindRows = kinds.map((name, kind) => {
        const list = entries.filter(entry => entry.kind === kind);
        const tokensOf = figure => el('td', {}, num(sum(list.map(figure))));
        return list.length === 0 ? null : el('tr', {}, el('th', {scope: 'row', class: 'name'},
            el('span', {class: 'key'}, draw('svg', {class: 'swatch', viewBox: '0 0 22 10', 'aria-hidden': 'true'},
                     draw('rect', {width: 12, height: 10, style: `fill:var(${kindColours[kind]})`})), name)),
            el('td', {}, num(list.length)), el('td', {}, num(list.filter(entry => entry.cleared).length)),
            tokensOf(entry => entry.tokens), tokensOf(entry => entry.left));
    });
    const host = el('div', {class: 'plot strip'});
    const detail = el('div', {class: 'detail', tabindex: '0', role: 'region', 'aria-label': 'Entry'});
    const jump = (words, by) => el('button', {type: 'button', click() {
        let at = state.entry < 0 ? (by > 0 ? -1 : entries.length) : state.entry;
        do at += by; while (at >= 0 && at < entries.length && !entries[at].cleared);
        if (at >= 0 && at < entries.length) go(at);
    }}, words);
    put(parts.transcript,
        el('h2', {}, 'Transcript at the last request'),
        el('p', {class: 'note'}, 'One cell an entry, width by tokens before pruning. Full height: sent. Low outline: ' +
            'cleared. Point, click, or move with the arrow keys. Fixed-trajectory replay: no model ran.'),
        el('div', {class: 'choice'}, el('label', {}, 'Policy', select)),
        el('p', {}, `${plural(entries.length, 'entry', 'entries')}, ${num(cleared)} cleared; ${num(total)} tokens, ` +
            `${num(left)} left` + (run.removed > 0 ? `; stubs of ${num(run.stubs)} tokens in place of ` +
            `${num(run.removed)}.` : '.')),
        el('div', {class: 'transcript'}, el('div', {},
            el('div', {class: 'buttons'}, jump('Previous cleared', -1), jump('Next cleared', 1)), host,
            el('div', {class: 'scroll', style: 'margin-top:14px'}, el('table', {}, el('thead', {}, el('tr', {},
                el('th', {scope: 'col', class: 'name'}, 'Kind'), ...['Entries', 'Cleared', 'Tokens', 'Left'].map(word =>
                    el('th', {scope: 'col'}, word)))), el('tbody', {}, ...kindRows)))), detail),
        without);

    const gutter = 38, cell = 18, pitch = 23, low = 7, least = 2;
    const width = Math.max(120, Math.floor(host.clientWidth) - gutter - 1);
    const lines = Math.max(Math.ceil(3 * entries.length / width),
                           clamp(Math.ceil(entries.length * (width > 640 ? 13 : 8) / width), 3, 40));
    const spare = lines * width - least * entries.length;
    const starts = [];
    let place = 0;
    for (const entry of entries) {
        starts.push(place);
        place += least + (total > 0 ? spare * entry.tokens / total : spare / entries.length);
    }
    starts.push(place);
    const height = lines * pitch;
    const pieces = (from, to, each) => {
        for (let line = Math.floor(from / width); line < lines && line * width < to; ++line) {
            const a = Math.max(from - line * width, 0), b = Math.min(to - line * width, width);
            if (b > a) each(gutter + a, line * pitch + 2, b - a);
        }
    };
    const solid = kinds.map(() => []), outline = kinds.map(() => []);
    const n1 = value => value.toFixed(1);
    entries.forEach((entry, i) => {
        const from = starts[i], to = Math.max(starts[i + 1] - 1, from + 1);
        const kept = !entry.cleared ? to
            : from + (to - from) * (entry.tokens > 0 ? clamp(entry.left / entry.tokens, 0, 1) : 0);
        pieces(from, kept, (x, y, w) => solid[entry.kind].push(`M${n1(x)} ${y}h${n1(w)}v${cell}h${n1(-w)}z`));
        pieces(kept, to, (x, y, w) => outline[entry.kind].push(w < 2 ? `M${n1(x)} ${y + cell - low}v${low}`
            : `M${n1(x + 0.5)} ${y + cell - low + 0.5}h${n1(w - 1)}v${low - 1}h${n1(1 - w)}z`));
    });
    const picture = draw('svg', {viewBox: `0 0 ${width + gutter} ${height}`, height, 'aria-hidden': 'true'});
    kinds.forEach((name, kind) => {
        const colour = `var(${kindColours[kind]})`;
        if (solid[kind].length) picture.append(draw('path', {style: `fill:${colour}`, d: solid[kind].join('')}));
        if (outline[kind].length) {
            picture.append(draw('path', {class: 'outline', style: `fill:${colour};stroke:${colour}`,
                                         d: outline[kind].join('')}));
        }
    });
    const find = at => {
        let a = 0, b = entries.length - 1;
        while (a < b) {
            const middle = (a + b + 1) >> 1;
            if (starts[middle] <= at) a = middle; else b = middle - 1;
        }
        return a;
    };
    for (let line = 0; line < lines; ++line) {
        picture.append(draw('text', {x: gutter - 6, y: line * pitch + 15, 'text-anchor': 'end'},
                            String(find(line * width + 0.01) + 1)));
    }
    const frame = draw('path', {class: 'chosen', d: 'M0 0'});
    picture.append(frame);
    host.replaceChildren(picture);

    function tell(i) {
        if (i < 0) {
            frame.setAttribute('d', 'M0 0');
            put(detail, el('p', {class: 'note'}, 'No entry chosen.'));
            return;
        }
        const entry = entries[i], marks = [];
        pieces(starts[i], Math.max(starts[i + 1] - 1, starts[i] + 1), (x, y, w) =>
            marks.push(`M${n1(x - 1)} ${y - 1}h${n1(w + 2)}v${cell + 2}h${n1(-w - 2)}z`));
        frame.setAttribute('d', marks.join(''));
        const rows = [['Tool', entry.tool], ['Path or command', entry.identity],
            ['Tokens', num(entry.tokens) + (entry.cleared || entry.left !== entry.tokens
                ? ` before, ${num(entry.left)} after` : '')],
            ['Cleared', entry.clearedAt > 0 ? `at request ${num(entry.clearedAt)}` : entry.cleared ? 'yes' : 'no']];
        put(detail,
            el('h3', {}, `Entry ${num(i + 1)} of ${num(entries.length)}: ${short(entry.kindName || 'other', 60)}, ` +
                `message ${num(entry.message)}`),
            el('dl', {}, ...rows.filter(([, value]) => value !== '').flatMap(([term, value]) =>
                [el('dt', {}, term), el('dd', {}, value)])),
            entry.stub ? el('h3', {}, 'Stub') : null, entry.stub ? el('pre', {}, entry.stub) : null,
            entry.beginning ? el('h3', {}, entry.cleared ? 'What it replaced' : 'Beginning') : null,
            entry.beginning ? el('pre', {}, entry.beginning) : null);
        told(host, i, `${entry.kindName} ${short(entry.tool, 40)} ${short(entry.identity, 120)}, ` +
            `${num(entry.tokens)} tokens` + (entry.cleared ? `, cleared at request ${entry.clearedAt}, ` +
            `${num(entry.left)} left: ${short(entry.stub, 200)}` : ''));
    }
    function go(i) {
        state.entry = i;
        tell(i);
    }
    const at = event => {
        const box = picture.getBoundingClientRect();
        const px = (event.clientX - box.left) * (width + gutter) / box.width - gutter;
        const line = clamp(Math.floor((event.clientY - box.top) / pitch), 0, lines - 1);
        return find(line * width + clamp(px, 0, width - 0.01));
    };
    walk(host, {label: 'Entry of the transcript', count: entries.length, page: 25,
                row: Math.max(1, Math.round(entries.length / lines)), now: () => state.entry, go});
    host.onpointermove = event => { if (event.pointerType === 'mouse') tell(at(event)); };
    host.onpointerleave = () => tell(state.entry);
    host.onclick = event => go(at(event));
    if (state.entry < 0) state.entry = Math.max(0, entries.findIndex(entry => entry.cleared));
    tell(state.entry);
}

// The choice is kept in the address, so that it outlives a reload.
function remember() {
    const words = {s: state.session, m: state.model, p: state.price,
                   c: [...state.chosen].map(name => policies.indexOf(name)).join('.')};
    if (state.strip !== null) words.t = policies.indexOf(state.strip);
    try {
        history.replaceState(null, '', '#' + new URLSearchParams(words));
    } catch (refused) { /* some browsers forbid it to files */ }
}
function recall() {
    const words = new URLSearchParams(location.hash.slice(1));
    const within = (name, low, high) => {
        const value = words.has(name) ? Number(words.get(name)) : NaN;
        return Number.isInteger(value) && value >= low && value < high ? value : null;
    };
    state.session = within('s', sessions.length > 1 ? -1 : 0, sessions.length) ?? state.session;
    const model = within('m', 0, data.models.length);
    if (models.some(one => one.id === model)) state.model = model;
    state.price = within('p', 0, data.prices.length) ?? state.price;
    if (words.has('c')) {
        state.chosen = new Set((words.get('c') || '').split('.').filter(Boolean).map(i => policies[Number(i)])
            .filter(name => name !== undefined));
    }
    const strip = within('t', 0, policies.length);
    if (strip !== null) state.strip = policies[strip];
}

const controls = {};
function pick(name, words, options, change) {
    controls[name] = el('select', {id: name, change() { change(Number(this.value)); }},
        ...options.map(([value, label]) => el('option', {value}, short(label, 110))));
    return el('label', {}, words, controls[name]);
}
function show() {
    const all = state.session < 0;
    const empty = !all && sessions[state.session].runs.length === 0;
    parts.overview.hidden = !all;
    parts.curves.hidden = all || empty;
    parts.transcript.hidden = all || empty;
    if (empty) {
        put(parts.summary, el('p', {}, 'This session was replayed through no policy.'));
    } else {
        showSummary();
        if (all) showOverview();
        else { showCurves(); showTranscript(); }
    }
    remember();
}

put(document.getElementById('title'), short(data.title, 300));
document.title = shown(short(data.title, 120));
if (sessions.length === 0) return;
recall();
const dialects = [...new Set(sessions.map(session => session.dialect).filter(Boolean))];
const about = [plural(sessions.length, 'session', 'sessions'), plural(policies.length, 'policy', 'policies'),
               plural(sum(sessions.map(session => session.runs.length ? session.runs[0].count : 0)), 'request',
                      'requests')];
if (dialects.length === 1) about.push('dialect ' + dialects[0]);
put(document.getElementById('about'), 'Fixed-trajectory replay: no model ran. ' + about.join(', ') +
    `. Tokens: ${data.tokens}.`);
main.append(el('div', {class: 'controls'},
    sessions.length > 1 ? pick('session', 'Session', [[-1, `All ${sessions.length} sessions`],
        ...sessions.map((session, i) => [i, `${i + 1}. ${session.name}`])], value => {
        state.session = value;
        state.request = -1;
        state.entry = -1;
        show();
    }) : null,
    pick('model', 'Cache model', models.map(model => [model.id, model.name]), value => {
        state.model = value;
        const same = data.prices.findIndex(price => data.models[value].split(',')[0] === price.name);
        if (same >= 0) state.price = same;
        controls.price.value = String(state.price);
        show();
    }),
    pick('price', 'Prices', data.prices.map((price, i) => [i, `${price.name}: write ${price.write / 1000}, read ` +
        price.read / 1000]), value => {
        state.price = value;
        show();
    })), parts.summary, parts.overview, parts.curves, parts.transcript,
    el('details', {}, el('summary', {}, 'What the figures mean'), el('dl', {class: 'words'}, ...[
        ['Billed', 'Input-token equivalents: of each request, what the cache served times the price of reading, the ' +
            'rest times the price of writing, over all requests.'],
        ['vs none', 'The same figure relative to the first run, which sends everything.'],
        ['Hit rate', 'What the cache served, of all tokens sent.'],
        ['Rewrite', 'A request whose body does not continue the one before. Marked R, and by a tick.'],
        ['Re-billed', 'What the ideal cache held of the previous body and lost to a rewrite.'],
        ['Lost evidence', 'Results cleared; the share of them called again within 24 calls, beside the share that is ' +
            'called again anyway; and how many had a line of their own quoted later.'],
        ['Fixed trajectory', 'The recorded requests stay as they are. What a model would have done with less in view ' +
            'is not known.'],
    ].flatMap(([term, words]) => [el('dt', {}, term), el('dd', {}, words)]))),
    el('p', {class: 'note', style: 'margin-top:16px'}, 'Texts in the transcript are cut after ' +
        `${num(data.limits.beginning)} bytes, names and stubs after ${num(data.limits.text)}.` +
        (data.limits.strips_left_out > 0 ? ' Left out to keep the page small: ' +
        `${num(data.limits.strips_left_out)} of ${num(data.limits.strips)} transcripts ` +
        '(a session and a policy each).' : '')));
if (controls.session) controls.session.value = String(state.session);
controls.model.value = String(state.model);
controls.price.value = String(state.price);
show();
let drawn = main.clientWidth;
new ResizeObserver(() => {
    if (main.clientWidth === drawn) return;
    drawn = main.clientWidth;
    requestAnimationFrame(show);
}).observe(main);
})();
)js";

}  // namespace page

/// One HTML file that shows the runs and needs nothing else: no network, no other file. What was recorded is only ever
/// text in it, whatever bytes it is. Texts and strips are cut until the file is small enough to open quickly; the page
/// says so.
inline std::string html_page(const std::vector<SessionRun>& sessions, std::string_view title) {
    std::string data;
    for (std::size_t i = 0; data.empty(); ++i) {
        const bool is_last = i + 1 == page::limits.size();
        data = page::Data(page::limits[i]).text(sessions, title, is_last ? std::string::npos : page::data_budget);
    }
    std::string out;
    out.reserve(data.size() + page::style.size() + page::script.size() + 2048);
    // the policy forbids every request, also to whatever might get past the escaping
    out += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
           "script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<title>coppice replay</title>\n<style>";
    out += page::style;
    out += "</style>\n</head>\n<body>\n<svg id=\"space\" width=\"0\" height=\"0\" hidden></svg>\n<main>\n"
           "<h1 id=\"title\">coppice replay</h1>\n"
           "<p class=\"note\" id=\"about\">Fixed-trajectory replay: no model ran.</p>\n";
    if (sessions.empty()) { out += "<p>There is nothing to show: no session was replayed.</p>\n"; }
    out += "<noscript><p>This page draws its figures with JavaScript, which is switched off.</p></noscript>\n"
           "</main>\n<script type=\"application/json\" id=\"data\">";
    out += data;
    out += "</script>\n<script>";
    out += page::script;
    out += "</script>\n</body>\n</html>\n";
    return out;
}

}  // namespace coppice_replay
