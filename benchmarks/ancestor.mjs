// SPDX-License-Identifier: MIT
// The job of the `openswarm` preset as a JavaScript server would do it: bytes, JSON.parse, stubs,
// JSON.stringify, bytes. The other side of wire.cpp. By value its output is that of
// `coppice prune --preset openswarm`, for generated sessions and recorded ones; wire.cpp checks that again
// with each body it measures.
//
//     node ancestor.mjs BODY.json OUT.json REPETITIONS
//
// writes the pruned body to OUT.json and prints the seconds of each repetition, after a warm-up, as JSON.

import { readFileSync, writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";

// Lengths are UTF-16 units, as JavaScript counts them.
const ENGAGE = 300_000;
const TARGET = 120_000;
const BIG = 2000;
const TINY = 80;
const KEEP_BIG = 5;
const KEEP_SMALL = 30;
const KEEP_CALLS = 5;
const KEEP_FLOOR = 2;
const BULKY = new Set(["content", "new_string", "old_string", "new_str", "old_str"]);
const SIGNED = new Set(["signature", "encrypted_content", "encrypted_stdout", "encrypted_index"]);

const DUPLICATE = "[Duplicate tool output: same content as a more recent result.]";
const SCREENSHOT =
    "[Old screenshot cleared by OpenSwarm to keep this long chat inside the model's context window.]";
const smallStub = (units) => `[Old result cleared by OpenSwarm: ${units} characters from an earlier step.]`;
const bigStub = (units, image) =>
    "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: " +
    `${units} characters from an earlier step${image ? ", plus a screenshot" : ""}.]`;
const fieldStub = (units) => `[${units} characters, cleared by OpenSwarm; re-read the file if you need them]`;

const LONGEST_STUB = 200;
const OWN_STUBS = new Set([
    DUPLICATE, SCREENSHOT, smallStub(0), bigStub(0, false), bigStub(0, true), fieldStub(0),
]);
const isOwnStub = (text) => text.length <= LONGEST_STUB && OWN_STUBS.has(text.replace(/\d+/, "0"));

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const idOf = (value) => (typeof value === "string" ? value : "");
const bytesOf = (value) => Buffer.byteLength(JSON.stringify(value));

function countMembers(value, wanted) {
    if (typeof value !== "object" || value === null) return 0;
    let count = 0;
    for (const key in value) {
        if (!Array.isArray(value) && wanted(key)) ++count;
        count += countMembers(value[key], wanted);
    }
    return count;
}

function sameValue(a, b) {
    if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return a === b;
    const keys = Object.keys(a);
    return (
        Array.isArray(a) === Array.isArray(b) &&
        keys.length === Object.keys(b).length &&
        keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]))
    );
}

// --- reading: what there is, and what may change -----------------------------------------------------------

function readResult(block) {
    const result = {
        block,
        call: null,
        parts: [],
        units: 0,
        images: 0,
        own: 0, // parts that are stubs already
        mark: undefined, // the cache mark that a stub would have to carry
        marks: 0,
        open: block.content !== undefined,
        stubbed: false,
        was: undefined, // the content that a stub replaced
        duplicates: [],
    };
    const content = block.content;
    if (typeof content === "string") {
        addText(result, content);
    } else if (Array.isArray(content)) {
        for (const part of content) readPart(result, part, true);
    } else if (isObject(content)) {
        readPart(result, content, false);
    }
    if (result.marks > 1 || (result.own > 0 && result.own === result.parts.length)) result.open = false;
    return result;
}

function addText(result, text) {
    const own = isOwnStub(text);
    result.parts.push({ kind: own ? "stub" : "text", text });
    if (own) ++result.own;
    else result.units += text.length;
}

function readPart(result, part, inList) {
    const type = isObject(part) ? part.type : undefined;
    if (type === "text" && typeof part.text === "string") {
        addText(result, part.text);
    } else if (type === "image") {
        result.parts.push({ kind: "image", part });
        ++result.images;
    } else {
        const document = type === "document" || type === "search_result";
        result.parts.push({ kind: document ? "document" : "other", part });
        result.units += JSON.stringify(part).length;
        if (type === "tool_reference") result.open = false;
        if (!document && countMembers(part, (key) => SIGNED.has(key)) > 0) result.open = false;
    }
    const mark = inList && isObject(part) ? part.cache_control : undefined;
    const carried = mark === null || isObject(mark);
    if (carried) {
        result.mark = result.marks === 0 ? mark : result.mark;
        ++result.marks;
    }
    if (countMembers(part, (key) => key === "cache_control") > (carried ? 1 : 0)) result.open = false;
}

function readInput(call) {
    const add = (holder) => {
        for (const key in holder) {
            const text = holder[key];
            if (typeof text === "string" && text.length >= BIG && BULKY.has(key)) {
                call.fields.push({ holder, key });
            } else if (holder === call.block.input && Array.isArray(text)) {
                text.filter(isObject).forEach(add);
            }
        }
    };
    if (isObject(call.block.input)) add(call.block.input);
    else call.open = false;
}

// Calls and results in the order of the messages, or null where the body is of another shape.
function readHistory(messages) {
    const entries = [];
    let waiting = new Map(); // calls of this turn by id, oldest first
    let serverCalls = new Set();
    let byProgram = false;
    let before = "";
    let known = false;
    let unreadFrom = 0; // what follows the last words of the model it has not read
    for (const message of messages) {
        const role = isObject(message) ? message.role : undefined;
        if (role === "tool" || role === "function") return null;
        if (isObject(message) && ("tool_calls" in message || "function_call" in message)) return null;
        if (role === "assistant" && before !== "assistant") {
            waiting = new Map();
            serverCalls = new Set();
            byProgram = false;
        }
        before = role;
        for (const block of isObject(message) && Array.isArray(message.content) ? message.content : []) {
            const type = isObject(block) ? block.type : undefined;
            if (role === "assistant" && type === "tool_use") {
                known = true;
                const call = { block, fields: [], open: true, result: null };
                const caller = block.caller ?? null;
                if (caller !== null && caller.type !== "direct") {
                    byProgram = true;
                    call.open = false;
                }
                readInput(call);
                const id = idOf(block.id);
                if (waiting.has(id)) waiting.get(id).push(call);
                else waiting.set(id, [call]);
                entries.push(call);
            } else if (role === "user" && type === "tool_result") {
                known = true;
                const result = readResult(block);
                result.call = waiting.get(idOf(block.tool_use_id))?.shift() ?? null;
                if (result.call !== null) result.call.result = result;
                if (result.call === null || byProgram || serverCalls.size > 0) result.open = false;
                entries.push(result);
            } else if (type === "compaction") {
                for (const entry of entries) entry.beforeCompaction = true;
            } else if (role === "assistant" && (type === "thinking" || type === "redacted_thinking")) {
                known = true;
            } else if (role === "assistant" && (type === "server_tool_use" || type === "mcp_tool_use")) {
                serverCalls.add(idOf(block.id));
            } else if (role === "assistant" && typeof type === "string" && type.endsWith("_tool_result")) {
                serverCalls.delete(idOf(block.tool_use_id));
            }
        }
        if (role === "assistant") unreadFrom = entries.length;
    }
    entries.forEach((entry, index) => (entry.unread = index >= unreadFrom));
    if (entries.some((entry) => entry.beforeCompaction)) {
        for (const entry of entries) entry.open &&= entry.beforeCompaction === true;
    }
    for (const entry of entries) {
        if (!entry.parts) {
            entry.open &&= entry.result !== null;
            entry.unread = entry.result === null || entry.result.unread;
        }
    }
    return { entries, known };
}

// --- pruning: changes are made at once, and not counted before the ceiling ---------------------------------

const isBig = (result) => result.images > 0 || result.units >= BIG;
const isSmall = (result) =>
    result.images + result.own === 0 && result.units > TINY && result.units < BIG;

function stubOf(result) {
    if (result.units >= BIG) return bigStub(result.units, result.images > 0);
    return result.images > 0 ? SCREENSHOT : smallStub(result.units);
}

function contentOf(result, text) {
    const part = { type: "text", text };
    if (result.marks > 0) part.cache_control = result.mark;
    return [part];
}

// Whether a stub may be put here once the result is read. It must be shorter, in bytes; it is where there is
// more text than any stub has.
function couldClear(result, text) {
    if (!result.open || result.stubbed) return false;
    if (result.units > LONGEST_STUB + 50) return true;
    return bytesOf(contentOf(result, text ?? stubOf(result))) < bytesOf(result.block.content);
}

class Pruner {
    constructor(entries) {
        this.entries = entries;
        this.results = entries.filter((entry) => entry.parts);
        this.calls = entries.filter((entry) => !entry.parts);
        this.changed = false;
        this.size = null; // of the body, once it is counted
    }

    replace(holder, key, value) {
        const sizeOf = (content) => JSON.stringify(content).length;
        if (this.size !== null) this.size += sizeOf(value) - sizeOf(holder[key]);
        holder[key] = value;
        this.changed = true;
    }

    clear(result, text = stubOf(result)) {
        if (result.unread || !couldClear(result, text)) return false;
        result.was = result.block.content;
        result.stubbed = true;
        this.replace(result.block, "content", contentOf(result, text));
        this.relabel(result);
        return true;
    }

    // A stub that names a newer copy is true only as long as that is there.
    relabel(gone) {
        for (const duplicate of gone.duplicates.splice(0)) {
            this.replace(duplicate.block, "content", duplicate.was);
            duplicate.stubbed = false;
            this.clear(duplicate);
        }
    }

    clearField(call, { holder, key }) {
        const text = holder[key];
        if (!call.open || call.unread || text.length < BIG) return;
        this.replace(holder, key, fieldStub(text.length));
    }

    keepNewest(keep, fits) {
        for (let i = this.results.length; i-- > 0; ) {
            const result = this.results[i];
            if (!fits(result)) continue;
            if (keep === 0) this.clear(result);
            else if (couldClear(result)) --keep;
        }
    }

    collapseDuplicates() {
        const newest = new Map(); // by length: most results are told apart by that alone
        for (let i = this.results.length; i-- > 0; ) {
            const result = this.results[i];
            if (result.stubbed || result.own > 0 || result.units === 0 || !isBig(result)) continue;
            const others = newest.get(result.units);
            const copy = others?.find((other) => this.same(result, other));
            if (others === undefined) newest.set(result.units, [result]);
            else if (copy === undefined) others.push(result);
            else if (this.clear(result, DUPLICATE)) copy.duplicates.push(result);
        }
    }

    same(a, b) {
        const failed = (result) => result.block.is_error === true;
        if (failed(a) !== failed(b) || a.parts.length !== b.parts.length) return false;
        return a.parts.every((part, i) => {
            const other = b.parts[i];
            return part.kind === other.kind && part.text === other.text && sameValue(part.part, other.part);
        });
    }

    clearOldInputs() {
        for (const call of this.calls.slice(0, -KEEP_CALLS)) {
            for (const field of call.fields) this.clearField(call, field);
        }
    }

    enforceCeiling() {
        const over = () => this.size > TARGET;
        let floor = this.entries.length;
        let keep = KEEP_FLOOR;
        while (keep > 0 && floor > 0) {
            const entry = this.entries[--floor];
            if (entry.parts && isBig(entry) && couldClear(entry)) --keep;
        }
        if (keep > 0) floor = 0;
        for (let i = 0; i < this.entries.length && over(); ++i) {
            const entry = this.entries[i];
            if (entry.parts) {
                if (i < floor && isBig(entry)) this.clear(entry);
            } else {
                for (const field of entry.fields) if (over()) this.clearField(entry, field);
            }
        }
        for (let i = 0; i < this.results.length && over(); ++i) {
            if (isSmall(this.results[i])) this.clear(this.results[i]);
        }
    }
}

function prune(bytes) {
    const text = bytes.toString("utf8");
    if (text.length < ENGAGE) return bytes;
    let body;
    try {
        body = JSON.parse(text);
    } catch {
        return bytes;
    }
    const messages = Array.isArray(body) ? body : body?.messages;
    if (!Array.isArray(messages)) return bytes;
    const history = readHistory(messages);
    const known = history !== null && (history.known || "system" in body || "anthropic_version" in body);
    if (!known) return bytes;

    const pruner = new Pruner(history.entries);
    pruner.keepNewest(KEEP_SMALL, isSmall);
    pruner.collapseDuplicates();
    pruner.keepNewest(KEEP_BIG, isBig);
    pruner.clearOldInputs();
    // counting the little that is left costs less than counting all that goes
    let out = JSON.stringify(body);
    if (out.length > TARGET) {
        pruner.size = out.length;
        pruner.enforceCeiling();
        if (pruner.size !== out.length) out = JSON.stringify(body);
    }
    return pruner.changed ? Buffer.from(out, "utf8") : bytes;
}

const [bodyPath, outPath, repetitions] = process.argv.slice(2);
if (repetitions === undefined) {
    console.error("usage: node ancestor.mjs BODY.json OUT.json REPETITIONS");
    process.exit(2);
}
const bytes = readFileSync(bodyPath);
const timed = () => {
    const start = performance.now();
    prune(bytes);
    return (performance.now() - start) / 1000;
};
let warmed = 0;
for (let i = 0; i < 3 || (i < 50 && warmed < 1); ++i) warmed += timed();
const seconds = [];
for (let i = 0; i < Number(repetitions); ++i) seconds.push(timed());
writeFileSync(outPath, prune(bytes));
console.log(JSON.stringify(seconds));
