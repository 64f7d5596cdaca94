// Made-up agent sessions as Anthropic Messages request bodies: any size, the same bytes for the same shape on
// every platform and standard library, always a request the server would take (as long as it stays below the
// size limit).

#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice_examples {

/// What a session is made of. Shares are fractions of the tool results, if nothing else is said; what does
/// not fit a share comes later, so shares are met closely and even rare things appear in a session of some
/// hundred results.
struct SessionShape {
    std::uint64_t seed = 1;
    std::size_t results = 100;  ///< tool results, exactly

    std::size_t median_result_bytes = 600;  ///< roughly; the distribution has a long tail
    std::size_t max_result_bytes = 120'000;
    std::size_t image_bytes = 16'000;  ///< base64 characters on average
    std::size_t max_images = 100;

    double edit_share = 0.15;       ///< Edit, MultiEdit and Write calls
    double error_share = 0.05;      ///< results with is_error
    double empty_share = 0.02;      ///< results with "" or without content
    double duplicate_share = 0.06;  ///< the same unchanged file read again
    double image_share = 0.02;
    double document_share = 0.01;
    double tool_reference_share = 0.01;
    double unicode_share = 0.08;     ///< texts of CJK, emoji or box drawing
    double block_list_share = 0.25;  ///< text results as an array of blocks instead of a string

    double parallel_share = 0.25;       ///< chance that one more call joins an assistant message
    double thinking_share = 0.4;        ///< of the assistant messages
    double user_turn_share = 0.06;      ///< of the rounds: the human speaks again
    double mixed_turn_share = 0.03;     ///< of the rounds: a text after the results in the same message
    double server_search_share = 0.02;  ///< of the rounds: a web search run by the server

    std::size_t cache_marks = 3;       ///< cache_control marks, at most 4
    bool ends_with_user_text = false;  ///< otherwise with the results just received
};

namespace detail {

using Json = nlohmann::ordered_json;

/// splitmix64. Calls never stand twice in one expression, where their order would be the compiler's choice.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_{seed} {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15U;
        std::uint64_t bits = state_;
        bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
        bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
        return bits ^ (bits >> 31U);
    }

    /// In [0, limit); `limit` is not 0 and below 2^32.
    std::size_t below(std::size_t limit) {
        return static_cast<std::size_t>(((next() >> 32U) * std::uint64_t{limit}) >> 32U);
    }

    std::size_t between(std::size_t least, std::size_t most) { return least + below(most - least + 1); }

    /// In [0, 1).
    double unit() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

    bool chance(double share) { return unit() < share; }

    template <std::size_t N>
    std::string_view pick(const std::array<std::string_view, N>& choices) {
        return choices[below(N)];
    }

private:
    std::uint64_t state_;
};

/// Spreads a share evenly, with some jitter. What was due and not taken stays due.
class Quota {
public:
    void accrue(Random& random, double share) { credit_ += 2.0 * share * random.unit(); }

    bool is_due() const { return credit_ >= 1.0; }

    bool take() {
        const bool due = is_due();
        credit_ -= due ? 1.0 : 0.0;
        return due;
    }

private:
    double credit_ = 0.0;
};

inline constexpr std::array<std::string_view, 40> words{
    "cache",  "token",   "user",    "config", "parser", "index",  "buffer", "stream", "queue",  "worker",
    "client", "request", "message", "policy", "report", "reader", "writer", "cursor", "record", "field",
    "result", "event",   "session", "budget", "prefix", "range",  "column", "metric", "filter", "socket",
    "retry",  "limit",   "batch",   "plan",   "node",   "edge",   "entry",  "handle", "offset", "window"};
inline constexpr std::array<std::string_view, 10> folders{"src",  "src/core", "src/api", "lib",   "tests",
                                                          "docs", "internal", "pkg/io",  "tools", "web/app"};
inline constexpr std::array<std::string_view, 7> extensions{".cpp", ".hpp", ".py", ".ts",
                                                            ".go",  ".rs",  ".md"};

// Patterns: $w word, $W capitalised word, $n small number, $N large number, $h eight hex digits, $p path,
// $d day, $m minute, $s time.
inline constexpr std::array<std::string_view, 14> code_lines{
    "    const auto $w = make_$w($w, $n);",
    "    if ($w.empty() || $w_$w == nullptr) {",
    "        return $W{.$w = $n, .$w = std::move($w)};",
    "    }",
    "",
    "    for (const auto& $w : $w_list) {",
    "        $w.push_back($w + $n);    // keep the $w of the last $w",
    "/// Gives the $w of a $w, or $n when the $w has none.",
    "[[nodiscard]] std::size_t count_$w(const $W& $w, std::size_t $w) {",
    "    log_debug(\"$w: {} of {} $ws in {} ms\", $w, $w.size(), $n);",
    "    auto& $w = registry.at(\"$w.$w\");",
    "#include \"$w/$w_$w.hpp\"",
    "    throw $WError{\"no $w for $w \" + std::to_string($w)};",
    "}"};
inline constexpr std::array<std::string_view, 6> log_lines{
    "$s INFO  [worker-$n] $w: loaded $n entries from $p",
    "$s DEBUG [$w] retrying $w in $n ms (attempt $n)",
    "$s WARN  [$w] $w took $N us, budget is $n ms",
    "$s INFO  [http] GET /api/$w/$N 200 $nms trace=$h$h",
    "$s ERROR [$w] connection to 10.0.$n.$n:$n closed by peer",
    "$s INFO  [$w] flushed $N bytes, $n pending, checksum $h"};
inline constexpr std::array<std::string_view, 4> test_lines{
    "test $w_$w::returns_the_$w ... ok", "test $w_$w::rejects_a_blank_$w ... ok", "[ RUN      ] $WTest.$W$W",
    "[       OK ] $WTest.$W$W ($n ms)"};
inline constexpr std::array<std::string_view, 4> shell_lines{
    "-rw-r--r-- 1 dev dev $N Mar $d 09:$m $w_$w.cpp", "$h Fix the $w of the $w when the $w is empty",
    "[ $m%] Building CXX object CMakeFiles/$w.dir/$w/$w_$w.cpp.o", " $p | $n ++++++----"};
inline constexpr std::array<std::string_view, 3> page_lines{
    "## The $w of a $w",
    "A $w keeps one $w per $w. When the $w is closed, its $w is flushed and the $w counter starts at $n "
    "again.",
    "- `$w.$w`: the $w, by default $n; see [$w](https://docs.example.com/$w/$w)"};
inline constexpr std::array<std::string_view, 3> cjk_lines{
    "配置文件 $p 的第 $n 行缺少 $w，请检查后重试。",
    "テスト $w を実行しました。$n 件のうち $n 件が成功しました。",
    "요청 $w 처리에 실패했습니다. $n 번째 시도를 다시 시작합니다."};
inline constexpr std::array<std::string_view, 3> emoji_lines{
    "✅ $w_$w passed in $n ms", "⚠️  $w is deprecated, use $w 🚀", "❌ $p: expected $n, got $n 😕"};
inline constexpr std::array<std::string_view, 3> box_lines{"├──────────────┼────────┼──────────┤",
                                                           "│ $w           │ $n     │ $h │",
                                                           "│ └─ $w        │ $n     │ ████░░░░ │"};
inline constexpr std::array<std::string_view, 8> short_outputs{
    "ok", "done", "$n", "main", "$h", "$n files changed", "Already up to date.", "$w: $n"};
inline constexpr std::array<std::string_view, 8> commands{
    "git status --short", "cmake --build build -j 2", "ctest --test-dir build", "grep -rn \"$w\" $p",
    "ls -la src/$w",      "git log --oneline -n $n",  "python -m pytest -q $p", "tail -n $n /var/log/$w.log"};
inline constexpr std::array<std::string_view, 7> user_texts{
    "Please fix the $w in $p.",
    "The $w test still fails, can you have a look?",
    "Good. Now do the same for the $w.",
    "Why does $w need a $w at all? Explain first, then change it.",
    "Revert the last change to $p and try with a $w instead.",
    "谢谢，请继续处理 $w 的部分。",
    "Looks right 👍 go on with the $w."};
inline constexpr std::array<std::string_view, 6> assistant_texts{
    "Let me look at the $w first.",        "The $w is built in $p, so I read that next.",
    "The build passes. Now the $w tests.", "That explains it: the $w is read before the $w is set.",
    "I will search for other uses of $w.", "Next, the $w."};
inline constexpr std::array<std::string_view, 5> error_texts{
    "Error: File does not exist: $p",
    "<tool_use_error>String to replace not found in file.\nString: $w_$w($w, $n)</tool_use_error>",
    "Error: Command timed out after $n s",
    "<tool_use_error>File has been modified since it was read. Read it again first.</tool_use_error>",
    "bash: line $n: $w: command not found"};

/// Writes texts of the kinds tools give back.
class TextSource {
public:
    explicit TextSource(Random& random) : random_{random} {}

    void expand(std::string& out, std::string_view pattern) {
        std::size_t from = 0;
        while (from < pattern.size()) {
            const std::size_t mark = pattern.find('$', from);
            out.append(pattern.substr(from, mark - from));
            if (mark == std::string_view::npos) {
                return;
            }
            put(out, pattern[mark + 1]);
            from = mark + 2;
        }
    }

    std::string text(std::string_view pattern) {
        std::string out;
        expand(out, pattern);
        return out;
    }

    template <std::size_t N>
    std::string any(const std::array<std::string_view, N>& patterns) {
        return text(random_.pick(patterns));
    }

    /// Lines of one kind until there are `bytes`.
    template <std::size_t N>
    std::string lines(const std::array<std::string_view, N>& patterns, std::size_t bytes) {
        std::string out;
        out.reserve(bytes + 128);
        while (out.size() < bytes) {
            if (!out.empty()) {
                out += '\n';
            }
            expand(out, random_.pick(patterns));
        }
        return out;
    }

    std::string test_output(std::size_t bytes) {
        std::string out = lines(test_lines, bytes);
        expand(out, random_.chance(0.8)
                        ? "\n\n$n passed, 0 failed in $n.$ns"
                        : "\nFAILED $p::$w_$w - expected $n, got $n\n$n passed, 1 failed in $n.$ns");
        return out;
    }

    std::string json_output(std::size_t bytes) {
        std::string out = "{\"items\":[";
        while (out.size() < bytes) {
            expand(out, out.back() == '[' ? "" : ",");
            expand(out, R"({"id":$N,"name":"$w-$w","state":"open","sha":"$h$h","size":$n,"path":"$p"})");
        }
        expand(out, R"(],"next_page":$n})");
        return out;
    }

    std::string unicode_output(std::size_t bytes) {
        switch (random_.below(3)) {
            case 0:
                return lines(cjk_lines, bytes);
            case 1:
                return lines(emoji_lines, bytes);
            default:
                return lines(box_lines, bytes);
        }
    }

    std::string path() {
        std::string out;
        put(out, 'p');
        return out;
    }

    /// Valid base64 that starts like a file of its kind would; `start` has a multiple of four characters.
    std::string base64(std::string_view start, std::size_t characters) {
        constexpr std::string_view alphabet =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        std::string out{start};
        const std::size_t size = std::max(characters, start.size() + 4) / 4 * 4;
        while (out.size() < size) {
            std::uint64_t bits = random_.next();
            for (int i = 0; i < 10 && out.size() < size; ++i) {
                out += alphabet[static_cast<std::size_t>(bits & 63U)];
                bits >>= 6U;
            }
        }
        return out;
    }

    /// A random id that `number` makes unique.
    std::string id(std::string_view prefix, std::size_t number) {
        constexpr std::string_view alphabet =
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        std::string out{prefix};
        for (int i = 0; i < 16; ++i) {
            out += alphabet[random_.below(alphabet.size())];
        }
        for (int i = 0; i < 6; ++i) {
            out += alphabet[number % alphabet.size()];
            number /= alphabet.size();
        }
        return out;
    }

private:
    void put(std::string& out, char kind) {
        switch (kind) {
            case 'w':
                out += random_.pick(words);
                break;
            case 'W': {
                const std::string_view word = random_.pick(words);
                out += static_cast<char>(word.front() - 'a' + 'A');
                out += word.substr(1);
                break;
            }
            case 'n':
                out += std::to_string(random_.between(1, 99));
                break;
            case 'N':
                out += std::to_string(random_.between(1000, 99'999));
                break;
            case 'h': {
                std::uint64_t bits = random_.next();
                for (int i = 0; i < 8; ++i) {
                    out += "0123456789abcdef"[bits & 15U];
                    bits >>= 4U;
                }
                break;
            }
            case 'p':
                out += "/home/dev/project/";
                out += random_.pick(folders);
                out += '/';
                put(out, 'w');
                out += '_';
                put(out, 'w');
                out += random_.pick(extensions);
                break;
            case 'd':
                out += std::to_string(random_.between(10, 28));
                break;
            case 'm':
                out += std::to_string(random_.between(10, 59));
                break;
            case 's': {
                const std::size_t seconds = random_.between(10, 59);
                const std::size_t minutes = random_.between(10, 59);
                out += "2026-03-14T09:" + std::to_string(minutes) + ":" + std::to_string(seconds) + "Z";
                break;
            }
            default:
                out += kind;
        }
    }

    Random& random_;
};

/// A file the session has read and not changed since.
struct KnownFile {
    std::string path;
    Json content;
    std::string excerpt;  ///< a piece of the text, without line numbers
};

/// A tool call and its result, both without id.
struct Exchange {
    std::string_view tool;
    Json input;
    Json result;  ///< the block's fields after tool_use_id
};

class SessionBuilder {
public:
    explicit SessionBuilder(const SessionShape& shape) : shape_{shape}, random_{shape.seed}, text_{random_} {}

    Json build() {
        messages_ = Json::array();
        add_user_text();
        std::size_t results = 0;
        while (results < shape_.results) {
            std::size_t calls = 1;
            while (calls < 5 && random_.chance(shape_.parallel_share)) {
                ++calls;
            }
            calls = std::min(calls, shape_.results - results);
            results += calls;
            add_round(calls, results == shape_.results);
        }
        if (shape_.ends_with_user_text && shape_.results > 0) {
            add_closing_text();
            add_user_text();
        }
        return request();
    }

private:
    // --- messages ---

    static Json text_block(std::string text) {
        Json block;
        block["type"] = "text";
        block["text"] = std::move(text);
        return block;
    }

    void add_message(std::string_view role, Json content) {
        Json message;
        message["role"] = role;
        message["content"] = std::move(content);
        messages_.push_back(std::move(message));
    }

    void add_user_text() {
        std::string text = text_.any(user_texts);
        if (random_.chance(0.3)) {
            add_message("user", Json::array({text_block(std::move(text))}));
        } else {
            add_message("user", Json(std::move(text)));
        }
    }

    void add_closing_text() {
        Json content = Json::array();
        content.push_back(text_block(text_.lines(assistant_texts, random_.between(100, 800))));
        add_message("assistant", std::move(content));
    }

    /// One assistant message with calls and the user message with their results.
    void add_round(std::size_t calls, bool is_last) {
        Json assistant = Json::array();
        Json user = Json::array();
        thinking_.accrue(random_, shape_.thinking_share);
        if (thinking_.take()) {
            assistant.push_back(thinking_block());
        }
        if (random_.chance(0.5)) {
            assistant.push_back(text_block(text_.any(assistant_texts)));
        }
        server_searches_.accrue(random_, shape_.server_search_share);
        if (server_searches_.take()) {
            add_server_search(assistant);
        }
        for (std::size_t i = 0; i < calls; ++i) {
            Exchange exchange = next_exchange();
            const std::string id = text_.id("toolu_01", ++ids_);
            Json call;
            call["type"] = "tool_use";
            call["id"] = id;
            call["name"] = exchange.tool;
            call["input"] = std::move(exchange.input);
            assistant.push_back(std::move(call));
            Json result;
            result["type"] = "tool_result";
            result["tool_use_id"] = id;
            result.update(exchange.result);
            user.push_back(std::move(result));
        }
        mixed_turns_.accrue(random_, shape_.mixed_turn_share);
        user_turns_.accrue(random_, shape_.user_turn_share);
        if (!is_last && mixed_turns_.take()) {
            user.push_back(text_block(text_.any(user_texts)));
        }
        add_message("assistant", std::move(assistant));
        add_message("user", std::move(user));
        if (!is_last && user_turns_.take()) {
            add_closing_text();
            add_user_text();
        }
    }

    Json thinking_block() {
        Json block;
        if (random_.chance(0.04)) {
            block["type"] = "redacted_thinking";
            block["data"] = text_.base64("EmwKAhgB", random_.between(200, 800));
            return block;
        }
        block["type"] = "thinking";
        block["thinking"] = text_.lines(page_lines, random_.between(60, 600));
        block["signature"] = text_.base64("EqQBCkYI", random_.between(200, 600));
        return block;
    }

    void add_server_search(Json& assistant) {
        const std::string id = text_.id("srvtoolu_01", ++ids_);
        Json call;
        call["type"] = "server_tool_use";
        call["id"] = id;
        call["name"] = "web_search";
        call["input"]["query"] = text_.text("$w $w $w");
        Json found = Json::array();
        for (int i = 0; i < 3; ++i) {
            Json page;
            page["type"] = "web_search_result";
            page["url"] = text_.text("https://docs.example.com/$w/$w");
            page["title"] = text_.text("The $w of a $w");
            page["encrypted_content"] = text_.base64("EqgfCioI", random_.between(400, 1600));
            found.push_back(std::move(page));
        }
        Json result;
        result["type"] = "web_search_tool_result";
        result["tool_use_id"] = id;
        result["content"] = std::move(found);
        assistant.push_back(std::move(call));
        assistant.push_back(std::move(result));
    }

    // --- tool calls and their results ---

    Exchange next_exchange() {
        const bool has_known_files = !known_files_.empty();
        errors_.accrue(random_, shape_.error_share);
        empties_.accrue(random_, shape_.empty_share);
        images_.accrue(random_, shape_.image_share);
        documents_.accrue(random_, shape_.document_share);
        references_.accrue(random_, shape_.tool_reference_share);
        duplicates_.accrue(random_, shape_.duplicate_share);
        edits_.accrue(random_, shape_.edit_share);
        unicode_.accrue(random_, shape_.unicode_share);
        if (references_.take()) {
            return tool_search();
        }
        if (documents_.take()) {
            return document();
        }
        if (image_count_ < shape_.max_images && images_.take()) {
            return screenshot();
        }
        if (empties_.take()) {
            return empty();
        }
        if (errors_.take()) {
            return error();
        }
        if (has_known_files && duplicates_.take()) {
            return read_again();
        }
        if (has_known_files && edits_.take()) {
            return edit();
        }
        switch (random_.below(16)) {
            case 0:
                return todo_write();
            case 1:
                return web_fetch();
            case 2:
                return glob();
            case 3:
            case 4:
                return grep();
            case 5:
            case 6:
            case 7:
            case 8:
            case 9:
                return read();
            default:
                return bash();
        }
    }

    /// Bytes of a result: a quantile function in straight pieces, so that no platform's exp() is asked. Its
    /// middle lies above the median of the session, because the answers to edits are short.
    std::size_t draw_bytes() {
        struct Quantile {
            std::size_t permille;
            std::size_t bytes;  // for a median of 600
        };
        constexpr std::array<Quantile, 12> quantiles{{{0, 2},
                                                      {70, 60},
                                                      {120, 120},
                                                      {260, 320},
                                                      {400, 600},
                                                      {570, 1200},
                                                      {740, 2400},
                                                      {880, 5000},
                                                      {960, 10'000},
                                                      {990, 20'000},
                                                      {997, 50'000},
                                                      {1000, 110'000}}};
        const std::size_t at = random_.below(1000);
        std::size_t upper = 1;
        while (quantiles[upper].permille <= at) {
            ++upper;
        }
        const Quantile& low = quantiles[upper - 1];
        const Quantile& high = quantiles[upper];
        const std::size_t bytes =
            low.bytes + (high.bytes - low.bytes) * (at - low.permille) / (high.permille - low.permille);
        return std::min(bytes * shape_.median_result_bytes / 600, shape_.max_result_bytes);
    }

    /// A text as the content of a result: a string, or blocks of text.
    Json content_of(std::string text) {
        if (!random_.chance(shape_.block_list_share)) {
            return Json(std::move(text));
        }
        Json blocks = Json::array();
        blocks.push_back(text_block(std::move(text)));
        if (random_.chance(0.2)) {
            blocks.push_back(text_block(text_.text("(exit code 0, $n ms)")));
        }
        return blocks;
    }

    Exchange exchange(std::string_view tool, Json input, Json content) {
        Exchange made{tool, std::move(input), Json::object()};
        made.result["content"] = std::move(content);
        if (random_.chance(0.15)) {
            made.result["is_error"] = false;
        }
        return made;
    }

    static Json input(std::string_view key, std::string value) {
        Json fields = Json::object();
        fields[std::string{key}] = std::move(value);
        return fields;
    }

    Exchange bash() {
        Json fields = input("command", text_.any(commands));
        if (random_.chance(0.7)) {
            fields["description"] = text_.text("Check the $w of the $w");
        }
        if (random_.chance(0.1)) {
            fields["timeout"] = 120'000;
        }
        const std::size_t bytes = draw_bytes();
        std::string output;
        if (unicode_.take()) {
            output = text_.unicode_output(bytes);
        } else if (bytes < 80) {
            output = text_.any(short_outputs);
        } else {
            switch (random_.below(5)) {
                case 0:
                    output = text_.lines(log_lines, bytes);
                    break;
                case 1:
                    output = text_.json_output(bytes);
                    break;
                case 2:
                    output = text_.lines(shell_lines, bytes);
                    break;
                default:
                    output = text_.test_output(bytes);
            }
        }
        return exchange("Bash", std::move(fields), content_of(std::move(output)));
    }

    Exchange read() {
        KnownFile file;
        file.path = text_.path();
        const std::size_t bytes = draw_bytes();
        const bool is_foreign = unicode_.take();
        std::string text;
        text.reserve(bytes + 128);
        std::size_t number = 0;
        while (text.size() < bytes || number == 0) {
            std::string line = is_foreign ? text_.any(cjk_lines) : text_.any(code_lines);
            const std::string digits = std::to_string(++number);
            text.append(digits.size() < 6 ? 6 - digits.size() : 0, ' ');
            text += digits;
            text += '\t';
            text += line;
            text += '\n';
            if (file.excerpt.size() < 400) {
                file.excerpt += line;
                file.excerpt += '\n';
            }
        }
        file.content = content_of(std::move(text));
        Json fields = input("file_path", file.path);
        Json content = file.content;
        known_files_.push_back(std::move(file));
        if (known_files_.size() > 16) {
            known_files_.pop_front();
        }
        return exchange("Read", std::move(fields), std::move(content));
    }

    Exchange read_again() {
        const KnownFile& file = known_files_[random_.below(known_files_.size())];
        return exchange("Read", input("file_path", file.path), file.content);
    }

    Exchange grep() {
        Json fields = input("pattern", text_.text("$w_$w\\("));
        fields["path"] = "/home/dev/project/src";
        fields["output_mode"] = "content";
        constexpr std::array<std::string_view, 2> hits{"$p:$n:    const auto $w = $w_$w($w);",
                                                       "$p:$n:        return $w_$w($w, $n);"};
        return exchange("Grep", std::move(fields),
                        content_of(text_.lines(hits, std::max<std::size_t>(draw_bytes(), 1))));
    }

    Exchange glob() {
        constexpr std::array<std::string_view, 1> paths{"$p"};
        const std::size_t bytes = std::min<std::size_t>(draw_bytes() + 1, 4000);
        Json fields = input("pattern", text_.text("**/$w_*.cpp"));
        return exchange("Glob", std::move(fields), content_of(text_.lines(paths, bytes)));
    }

    Exchange todo_write() {
        constexpr std::array<std::string_view, 3> states{"pending", "in_progress", "completed"};
        Json todos = Json::array();
        const std::size_t count = random_.between(2, 6);
        for (std::size_t i = 0; i < count; ++i) {
            Json todo = input("content", text_.text("Fix the $w of the $w"));
            todo["status"] = random_.pick(states);
            todo["activeForm"] = text_.text("Fixing the $w");
            todos.push_back(std::move(todo));
        }
        Json fields;
        fields["todos"] = std::move(todos);
        return exchange("TodoWrite", std::move(fields), Json("Todos have been modified successfully."));
    }

    Exchange web_fetch() {
        Json fields = input("url", text_.text("https://docs.example.com/$w/$w"));
        fields["prompt"] = text_.text("What does it say about $w?");
        const std::size_t bytes = std::max<std::size_t>(draw_bytes(), 200);
        std::string page = unicode_.take() ? text_.unicode_output(bytes) : text_.lines(page_lines, bytes);
        return exchange("WebFetch", std::move(fields), content_of(std::move(page)));
    }

    /// Edit, MultiEdit or Write of a file read before.
    Exchange edit() {
        const std::size_t index = random_.below(known_files_.size());
        const KnownFile file = std::move(known_files_[index]);
        known_files_.erase(known_files_.begin() + static_cast<std::ptrdiff_t>(index));
        Json fields = input("file_path", file.path);
        const std::size_t kind = random_.below(10);
        if (kind < 2) {
            fields["content"] = text_.lines(code_lines, std::max<std::size_t>(2 * draw_bytes(), 200));
            return exchange("Write", std::move(fields), Json("File created successfully at: " + file.path));
        }
        if (kind < 4) {
            Json edits = Json::array();
            const std::size_t count = random_.between(2, 4);
            for (std::size_t i = 0; i < count; ++i) {
                Json change = input("old_string", i == 0 ? file.excerpt : text_.lines(code_lines, 60));
                change["new_string"] = text_.lines(code_lines, random_.between(40, 700));
                edits.push_back(std::move(change));
            }
            fields["edits"] = std::move(edits);
            return exchange("MultiEdit", std::move(fields),
                            Json("Applied " + std::to_string(count) + " edits to " + file.path));
        }
        fields["old_string"] = file.excerpt;
        fields["new_string"] = text_.lines(code_lines, random_.between(40, 1500));
        std::string answer = "The file " + file.path + " has been updated.";
        if (random_.chance(0.5)) {
            answer += " Here's the result of running `cat -n` on a snippet of the edited file:\n";
            answer += text_.lines(code_lines, random_.between(100, 500));
        }
        return exchange("Edit", std::move(fields), Json(std::move(answer)));
    }

    Exchange screenshot() {
        ++image_count_;
        Json image;
        image["type"] = "image";
        image["source"]["type"] = "base64";
        image["source"]["media_type"] = "image/png";
        image["source"]["data"] = text_.base64(
            "iVBORw0KGgoAAAANSUhEUgAA", shape_.image_bytes / 2 + random_.below(shape_.image_bytes + 1));
        Json content = Json::array();
        if (random_.chance(0.6)) {
            content.push_back(text_block(text_.text("Took a screenshot of http://localhost:3000/$w")));
        }
        content.push_back(std::move(image));
        return exchange("mcp__browser__screenshot", input("url", text_.text("http://localhost:3000/$w")),
                        std::move(content));
    }

    Exchange document() {
        const std::string path = text_.text("/home/dev/project/docs/$w_$w.pdf");
        Json block;
        block["type"] = "document";
        block["source"]["type"] = "base64";
        block["source"]["media_type"] = "application/pdf";
        block["source"]["data"] = text_.base64("JVBERi0xLjcK", random_.between(4000, 16'000));
        block["title"] = path;
        return exchange("Read", input("file_path", path), Json::array({std::move(block)}));
    }

    Exchange tool_search() {
        Json reference;
        reference["type"] = "tool_reference";
        reference["tool_name"] = "mcp__tracker__get_issue";
        return exchange("ToolSearch", input("query", text_.text("$w issue")),
                        Json::array({std::move(reference)}));
    }

    Exchange empty() {
        Exchange made{"Bash", input("command", text_.text("mkdir -p build/$w && touch build/$w/.keep")),
                      Json::object()};
        if (random_.chance(0.7)) {
            made.result["content"] = "";
        }
        return made;
    }

    Exchange error() {
        std::string output = random_.chance(0.3) ? text_.test_output(std::max<std::size_t>(draw_bytes(), 80))
                                                 : text_.any(error_texts);
        const bool is_edit = output.front() == '<';
        Json fields = is_edit ? input("file_path", text_.path()) : input("command", text_.any(commands));
        if (is_edit) {
            fields["old_string"] = text_.lines(code_lines, random_.between(40, 400));
            fields["new_string"] = text_.lines(code_lines, random_.between(40, 400));
        }
        Exchange made{is_edit ? "Edit" : "Bash", std::move(fields), Json::object()};
        made.result["content"] = content_of(std::move(output));
        made.result["is_error"] = true;
        return made;
    }

    // --- the request around the messages ---

    static Json cache_mark() {
        Json mark;
        mark["type"] = "ephemeral";
        return mark;
    }

    /// Marks the last block of a message, or the last part inside it when it is a result made of blocks.
    static void mark_message(Json& message, bool inside) {
        Json& content = message["content"];
        if (content.is_string()) {
            content = Json::array({text_block(content.get<std::string>())});
        }
        Json* block = &content.back();
        if (inside && block->contains("content") && (*block)["content"].is_array() &&
            !(*block)["content"].empty()) {
            block = &(*block)["content"].back();
        }
        (*block)["cache_control"] = cache_mark();
    }

    static Json tool(std::string_view name, std::string_view description,
                     const std::vector<std::string>& required) {
        Json made;
        made["name"] = name;
        made["description"] = description;
        made["input_schema"]["type"] = "object";
        Json properties = Json::object();
        for (const std::string& field : required) {
            properties[field]["type"] = field == "edits" || field == "todos" ? "array" : "string";
        }
        made["input_schema"]["properties"] = std::move(properties);
        made["input_schema"]["required"] = required;
        return made;
    }

    static Json tools() {
        Json list = Json::array();
        list.push_back(tool("Bash", "Runs a shell command.", {"command"}));
        list.push_back(tool("Read", "Reads a file.", {"file_path"}));
        list.push_back(tool("Grep", "Searches file contents.", {"pattern"}));
        list.push_back(tool("Glob", "Finds files by name.", {"pattern"}));
        list.push_back(tool("Write", "Writes a file.", {"file_path", "content"}));
        list.push_back(
            tool("Edit", "Replaces a string in a file.", {"file_path", "old_string", "new_string"}));
        list.push_back(tool("MultiEdit", "Replaces strings in a file.", {"file_path", "edits"}));
        list.push_back(tool("WebFetch", "Fetches a web page.", {"url", "prompt"}));
        list.push_back(tool("TodoWrite", "Keeps the list of tasks.", {"todos"}));
        list.push_back(tool("ToolSearch", "Finds and loads further tools.", {"query"}));
        list.push_back(tool("mcp__browser__screenshot", "Takes a screenshot.", {"url"}));
        list.push_back(tool("mcp__tracker__get_issue", "Gives an issue.", {"number"}));
        list.back()["defer_loading"] = true;
        Json search;
        search["type"] = "web_search_20250305";
        search["name"] = "web_search";
        list.push_back(std::move(search));
        return list;
    }

    Json request() {
        Json body;
        body["model"] = "claude-sonnet-4-6";
        body["max_tokens"] = 32'000;
        body["system"] = Json::array({text_block("You are a coding agent. You work in /home/dev/project.")});
        body["tools"] = tools();
        if (shape_.thinking_share > 0.0) {
            body["thinking"]["type"] = "adaptive";
        }
        const std::size_t earlier = messages_.size() / 2 / 2 * 2;  // a message of the user
        if (shape_.cache_marks > 0) {
            body["system"].back()["cache_control"] = cache_mark();
        }
        if (shape_.cache_marks > 1) {
            mark_message(messages_.back(), false);
        }
        if (shape_.cache_marks > 2 && earlier + 1 < messages_.size()) {
            mark_message(messages_[earlier], true);
        }
        if (shape_.cache_marks > 3) {
            body["tools"].front()["cache_control"] = cache_mark();
        }
        body["messages"] = std::move(messages_);
        body["stream"] = true;
        return body;
    }

    const SessionShape shape_;
    Random random_;
    TextSource text_;
    Json messages_;
    std::deque<KnownFile> known_files_;
    std::size_t ids_ = 0;
    std::size_t image_count_ = 0;
    Quota errors_, empties_, images_, documents_, references_, duplicates_, edits_, unicode_;
    Quota thinking_, server_searches_, mixed_turns_, user_turns_;
};

}  // namespace detail

/// A request body of the given shape. It ends with a text of the user or with the results of the latest
/// calls. Time and memory grow with `results`. Bodies beyond the provider's size limit are made as well.
inline nlohmann::ordered_json make_session(const SessionShape& shape) {
    return detail::SessionBuilder{shape}.build();
}

}  // namespace coppice_examples
