// SPDX-License-Identifier: MIT
#include <coppice/guards/exempt_paths.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/wire.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace support;

namespace {

bool matches(std::string_view glob, std::string_view path) { return coppice::detail::Glob(glob).matches(path); }

bool is_separator(char c) { return c == '/' || c == '\\'; }

// The same by trying everything, for ASCII.
bool naive(std::string_view glob, std::string_view path, bool at_name = true) {
    if (glob.empty()) { return path.empty(); }
    const bool stars = glob.substr(0, 2) == "**";
    if (stars && at_name && glob.size() > 2 && is_separator(glob[2])) {
        if (naive(glob.substr(3), path)) { return true; }
        for (std::size_t i = 0; i < path.size(); ++i) {
            if (is_separator(path[i]) && naive(glob.substr(3), path.substr(i + 1))) { return true; }
        }
        return false;
    }
    if (glob[0] == '*') {
        for (std::size_t i = 0;; ++i) {
            if (naive(glob.substr(stars ? 2 : 1), path.substr(i), false)) { return true; }
            if (i == path.size() || (!stars && is_separator(path[i]))) { return false; }
        }
    }
    if (path.empty()) { return false; }
    const bool separator = is_separator(glob[0]);
    const bool same = separator ? is_separator(path[0]) : glob[0] == '?' ? !is_separator(path[0]) : glob[0] == path[0];
    return same && naive(glob.substr(1), path.substr(1), separator);
}

template <class... Parts>
auto clear_all(Parts... parts) {
    return coppice::Pipeline{coppice::KeepRecent<0, coppice::Size{2000}, 0>{}, coppice::BulkyInputClear<0>{},
                             coppice::Ceiling<coppice::Size{100}, 0, coppice::Size{90}>{}, parts...};
}

// One call with a bulky input and a big result.
Ordered asked(Ordered input, const std::string& tool = "Tool") {
    Ordered messages = list(user("start"));
    input["content"] = filler(0, 3000);
    add_pair(messages, "a", tool, std::move(input), Ordered(filler(1, 3000)));
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

constexpr std::array<std::string_view, 2> notes = {"**/*.md", "/docs/**"};

std::string kept(Ordered input) {
    const Pruned p = pruned(asked(std::move(input)), clear_all(coppice::ExemptPaths{.globs = notes}));
    return input_fates(p) + fates(p);
}

}  // namespace

TEST_CASE("exempt_paths: a glob is anchored at both ends and stars stop at separators") {
    CHECK(matches("a.md", "a.md"));
    CHECK_FALSE(matches("a.md", "/a.md"));
    CHECK_FALSE(matches("a.md", "a.md2"));
    CHECK_FALSE(matches("a.md", "A.md"));
    CHECK(matches("*.md", "a.md"));
    CHECK(matches("*.md", ".md"));
    CHECK_FALSE(matches("*.md", "b/a.md"));
    CHECK_FALSE(matches("*.md", "b\\a.md"));
    CHECK(matches("src/*/a*b*.c", "src/x/a1b2.c"));
    CHECK_FALSE(matches("src/*/a*b*.c", "src/x/y/a1b2.c"));
    CHECK(matches("/work/docs/**", "/work/docs/a/b.txt"));
    CHECK(matches("/work/docs/**", "/work/docs/"));
    CHECK_FALSE(matches("/work/docs/**", "/work/docs"));
    CHECK(matches("**", ""));
    CHECK(matches("**", "any/thing\nat all"));
    CHECK(matches("", ""));
    CHECK_FALSE(matches("", "a"));
    CHECK(matches("a**z", "a/b/c/z"));
    CHECK(matches("***.md", "b/a.md"));
}

TEST_CASE("exempt_paths: two stars and a slash are any directories or none") {
    for (const char* path :
         {"TODO.md", "/TODO.md", "a/TODO.md", "a/b/TODO.md", "C:\\a\\TODO.md", "\\\\host\\TODO.md"}) {
        CAPTURE(path);
        CHECK(matches("**/TODO.md", path));
    }
    CHECK_FALSE(matches("**/TODO.md", "myTODO.md"));
    CHECK_FALSE(matches("**/TODO.md", "a/myTODO.md"));
    CHECK_FALSE(matches("**/TODO.md", "TODO.md/a"));
    CHECK(matches("src/**/a.c", "src/a.c"));
    CHECK(matches("src/**/a.c", "src/b/c/a.c"));
    CHECK_FALSE(matches("src/**/a.c", "srca.c"));
    CHECK(matches("**/**/a", "a"));
    CHECK(matches("x**/a", "xy/z/a"));
    CHECK_FALSE(matches("x**/a", "xa"));
}

TEST_CASE("exempt_paths: separators of both kinds are one, in globs and in paths") {
    CHECK(matches("docs\\*.md", "docs/a.md"));
    CHECK(matches("docs/*.md", "docs\\a.md"));
    CHECK(matches("**\\a.md", "b/a.md"));
    CHECK_FALSE(matches("docs?a.md", "docs\\a.md"));
    CHECK_FALSE(matches("docs?a.md", "docs/a.md"));
}

TEST_CASE("exempt_paths: a question mark is one character of UTF-8 and brackets are themselves") {
    CHECK(matches("?.md", "a.md"));
    CHECK(matches("?.md", "\xC3\xA9.md"));
    CHECK(matches("?.md", "\xF0\x9F\x98\x80.md"));
    CHECK(matches("?.md", "\xFF.md"));
    CHECK_FALSE(matches("?.md", ".md"));
    CHECK_FALSE(matches("?.md", "ab.md"));
    CHECK_FALSE(matches("?.md", "\xC3\xA9" "b.md"));
    CHECK(matches("\xC3\xA9*", "\xC3\xA9" "b"));
    CHECK_FALSE(matches("\xC3\xA9", "\xC3\xA8"));
    CHECK(matches("[id].ts", "[id].ts"));
    CHECK_FALSE(matches("[id].ts", "i.ts"));
    CHECK(matches("a{b,c}", "a{b,c}"));
}

TEST_CASE("exempt_paths: globs match what trying everything matches") {
    std::mt19937 random(7);
    const auto word = [&](std::string_view letters, std::size_t longest) {
        std::string out;
        for (std::size_t i = random() % (longest + 1); i > 0; --i) { out += letters[random() % letters.size()]; }
        return out;
    };
    std::size_t matched = 0;
    for (int i = 0; i < 60'000; ++i) {
        const std::string glob = word("ab/**?", 8);
        const std::string path = word("ab/\\", 7);
        CAPTURE(glob);
        CAPTURE(path);
        const bool expected = naive(glob, path);
        const bool same = matches(glob, path) == expected;
        CHECK(same);
        matched += expected;
    }
    CHECK(matched > 1000);
}

TEST_CASE("exempt_paths: hostile globs and paths take no time that grows beyond both lengths") {
    std::string stars;
    while (stars.size() < 500) { stars += "a*"; }
    CHECK_FALSE(matches(stars + "b", std::string(4096, 'a')));
    CHECK(matches(stars, std::string(4096, 'a')));
    std::string directories;
    while (directories.size() < 500) { directories += "**/"; }
    CHECK(matches(directories + "x", std::string(4000, '/') + "x"));
    CHECK_FALSE(matches(directories + "x", std::string(4000, '/') + "y"));
    CHECK(matches(std::string(512, '*'), std::string(4096, '/')));
    CHECK_FALSE(matches(std::string(513, '*'), "a"));
}

TEST_CASE("exempt_paths: calls and results of the files that match stay under any pressure") {
    CHECK(kept({{"file_path", "/src/a.md"}}) == "--");
    CHECK(kept({{"file_path", "C:\\src\\a.md"}}) == "--");
    CHECK(kept({{"path", "a.md"}}) == "--");
    CHECK(kept({{"filePath", "/docs/x/y.txt"}}) == "--");
    CHECK(kept({{"notebook_path", "b/a.md"}, {"command", "run"}}) == "--");
    CHECK(kept({{"command", "view"}, {"path", "a.md"}}) == "--");
    CHECK(kept({{"filename", "a.md"}}) == "--");
    CHECK(kept({{"file_path", "/src/a.c"}}) == "cs");
}

TEST_CASE("exempt_paths: what is no path matches nothing whatever it looks like") {
    CHECK(kept({{"command", "cat a/b.md"}}) == "cs");
    CHECK(kept({{"cmd", "/docs/a.md"}}) == "cs");
    CHECK(kept({{"url", "https://example.org/a.md"}}) == "cs");
    CHECK(kept({{"pattern", "**/a.md"}}) == "cs");
    CHECK(kept({{"description", "a.md"}}) == "cs");
    CHECK(kept({{"path", list("a", "b.md")}}) == "cs");
    CHECK(kept({{"file_path", ""}, {"command", "cat a.md"}}) == "cs");
    CHECK(kept({{"content", ""}}) == "cs");
}

TEST_CASE("exempt_paths: of a patch the first path counts, unless a command names the call") {
    const std::string patch = "*** Begin Patch\n*** Update File: docs/a.md\n@@\n-x\n+y\n*** End Patch\n";
    CHECK(kept({{"input", patch}}) == "--");
    CHECK(kept({{"input", patch}, {"command", "apply"}}) == "cs");
    CHECK(kept({{"command", "apply"}, {"input", patch}}) == "cs");
    CHECK(kept({{"input", "*** Begin Patch\n*** Update File: a.c\n*** Update File: a.md\n"}}) == "cs");
}

TEST_CASE("exempt_paths: every spelling of a path is the path, and one longer than systems have is none") {
    const coppice::Pipeline pipeline = clear_all(coppice::ExemptPaths{.globs = notes});
    std::string bytes = asked({{"file_path", "NAME"}}).dump();
    const auto changes = [&](const std::string& spelled) {
        std::string spoken = bytes;
        spoken.replace(spoken.find("NAME"), 4, spelled);
        const bool by_bytes = coppice::plan(spoken, pipeline).engaged;
        const bool by_dom = coppice::plan(Ordered::parse(spoken), pipeline).engaged;
        CHECK(by_bytes == by_dom);
        return by_bytes;
    };
    CHECK_FALSE(changes("x\\\\a.md"));
    CHECK_FALSE(changes("x\\/a\\u002emd"));
    CHECK(changes("x\\/a\\u002ecc"));
    std::string escaped;
    for (int i = 0; i < 4093; ++i) { escaped += "\\u0061"; }
    CHECK_FALSE(changes(escaped + ".md"));
    CHECK(changes(escaped + "a.md"));
    CHECK_FALSE(changes(std::string(4093, 'a') + ".md"));
    CHECK(changes(std::string(4094, 'a') + ".md"));
    CHECK(changes(std::string(100'000, 'a') + ".md"));
}

TEST_CASE("exempt_paths: the default list holds instructions and skills, and no list exempts nothing") {
    const auto changed = [](const char* path, const auto& pipeline) {
        return !pruned(asked({{"file_path", path}}), pipeline).unchanged();
    };
    for (const char* path : {"/a/CLAUDE.md", "AGENTS.md", "skills/x/SKILL.md", "/r/.github/copilot-instructions.md"}) {
        CAPTURE(path);
        CHECK_FALSE(changed(path, clear_all(coppice::ExemptPaths{})));
        CHECK(changed(path, clear_all(coppice::ExemptPaths{.globs = {}})));
        CHECK(changed(path, clear_all()));
    }
    CHECK(changed("/a/README.md", clear_all(coppice::ExemptPaths{})));
}

TEST_CASE("exempt_paths: a glob that is too long is refused") {
    const std::string long_glob(513, 'a');
    const std::array<std::string_view, 1> globs = {long_glob};
    CHECK_THROWS_AS(clear_all(coppice::ExemptPaths{.globs = globs}), std::invalid_argument);
    const std::array<std::string_view, 1> longest = {std::string_view(long_glob).substr(1)};
    CHECK_NOTHROW(clear_all(coppice::ExemptPaths{.globs = longest}));
}

TEST_CASE("exempt_paths: files that custom tools and patches of other providers name are known as paths") {
    const auto names_path = [](const Ordered& document) {
        const coppice::ReadDocument read(document);
        REQUIRE(read.refusal() == "");
        std::string out;
        for (const coppice::Entry& entry : read.transcript().all()) {
            if (entry.kind == coppice::Kind::call || entry.kind == coppice::Kind::result) {
                out += entry.names_path ? 'p' : '-';
            }
        }
        return out;
    };
    const std::string patch = "*** Begin Patch\n*** Add File: a.md\n+x\n";
    const Ordered custom = {{"type", "custom_tool_call"}, {"call_id", "c"}, {"name", "apply_patch"}, {"input", patch}};
    const Ordered answer = {{"type", "custom_tool_call_output"}, {"call_id", "c"}, {"output", "ok"}};
    const Ordered operation = {{"type", "apply_patch_call"},
                               {"call_id", "d"},
                               {"operation", {{"type", "update_file"}, {"path", "b.md"}, {"diff", "x"}}}};
    const Ordered shell = {{"type", "shell_call"}, {"call_id", "e"}, {"action", {{"commands", list("a.md")}}}};
    CHECK(names_path(Ordered{{"input", list(custom, answer, operation, shell)}}) == "ppp-");
    const Ordered chat_call = {
        {"id", "c"}, {"type", "custom"}, {"custom", {{"name", "apply_patch"}, {"input", patch}}}};
    CHECK(names_path(Ordered{{"messages", list(user("x"),
                                               Ordered{{"role", "assistant"}, {"tool_calls", list(chat_call)}},
                                               Ordered{{"role", "tool"}, {"tool_call_id", "c"}, {"content", "ok"}})}}) ==
          "pp");
}
