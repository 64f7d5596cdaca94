// SPDX-License-Identifier: MIT
#include <coppice/detail/outcome.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

using coppice::detail::Outcome;
using coppice::detail::outcome_of_code;

Outcome said(std::string_view output) {
    std::string scratch;
    const Outcome outcome = coppice::detail::said_outcome(coppice::Text(output), scratch);
    // the same in any spelling
    std::string escaped;
    for (const char c : output) {
        const auto byte = static_cast<unsigned char>(c);
        escaped += "\\u00";
        escaped += "0123456789abcdef"[byte >> 4U];
        escaped += "0123456789abcdef"[byte & 0xFU];
    }
    const bool same = coppice::detail::said_outcome(coppice::Text::still_escaped(escaped), scratch) == outcome;
    CHECK(same);
    return outcome;
}

}  // namespace

TEST_CASE("outcome: an output says that the call failed") {
    for (const char* const output :
         {"Error: no such file", "ERROR: x", "error", "Error", "ERROR", "\n\n  Error: x", "<error>bad</error>",
          "Traceback (most recent call last):\n  File", "traceback (most recent call last)", "panic: runtime error",
          "fatal: not a git repository", "Fatal: x", "Exit code: 1\nx", "Exit code: 127", "exit code 2",
          "exit code 2: x", "Exit code: -9", "Exit code: 1", "Exit Code: 2", "[exit code: 1]",
          "Command failed with exit code 1", "Command: make\nOutput: x\nExit Code: 2",
          "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 101\nOutput:\nx", "Exit code: 010",
          R"({"output":"x","metadata":{"exit_code":1,"duration_seconds":0.1}})"}) {
        CAPTURE(output);
        const bool failed = said(output) == Outcome::failed;
        CHECK(failed);
    }
}

TEST_CASE("outcome: an output says that the call succeeded") {
    for (const char* const output :
         {"Exit code: 0", "exit code 0", "Exit code: 0\nWall time: 1 s\nOutput:\nError: not the command's own",
          "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx", "[exit code: 00]",
          R"({"output":"Error: x","metadata":{"exit_code":0,"duration_seconds":0.1}})"}) {
        CAPTURE(output);
        const bool ok = said(output) == Outcome::ok;
        CHECK(ok);
    }
}

TEST_CASE("outcome: most outputs say nothing") {
    for (const char* const output : {"",
                                     "\n\n",
                                     "ok",
                                     "errors: 0",
                                     "error_log.txt",
                                     "errored",
                                     "Error handling in Rust",
                                     "Error budget: 99% fine",
                                     "ERROR handling guide",
                                     "Errors found: none",
                                     "no error",
                                     "fatality",
                                     "fatal",
                                     "Exit code: ",
                                     "Exit code: none",
                                     "Exit code 1 is documented",
                                     "0\nError: x",
                                     "Traceback",
                                     "[error]",
                                     "\"error\"",
                                     "Exit code: - none",
                                     "1\n2\n3\n4\n5\nExit code: 1",
                                     R"({"exit":1})",
                                     R"({"exit_code":"none"})"}) {
        CAPTURE(output);
        const bool unsaid = said(output) == Outcome::unsaid;
        CHECK(unsaid);
    }
}

TEST_CASE("outcome: of a long output only both ends are read") {
    const bool behind_blanks = said(std::string(500, ' ') + "Error: x") == Outcome::unsaid;
    CHECK(behind_blanks);
    const bool long_one = said("Error: " + std::string(100'000, 'x')) == Outcome::failed;
    CHECK(long_one);
    const bool at_the_end =
        said("{\"output\":\"" + std::string(100'000, 'x') + "\",\"metadata\":{\"exit_code\":2}}") == Outcome::failed;
    CHECK(at_the_end);
}

TEST_CASE("outcome: an exit code is zero in any spelling") {
    for (const char* const zero : {"0", "00", " 0", "-0", "0.0", "0e0", "0]"}) {
        CAPTURE(zero);
        const bool ok = outcome_of_code(zero) == Outcome::ok;
        CHECK(ok);
    }
    for (const char* const other : {"1", "255", "-1", " 9", "10", "25e0"}) {
        CAPTURE(other);
        const bool failed = outcome_of_code(other) == Outcome::failed;
        CHECK(failed);
    }
    for (const char* const none : {"", " ", "x", "-", "+1"}) {
        CAPTURE(none);
        const bool unsaid = outcome_of_code(none) == Outcome::unsaid;
        CHECK(unsaid);
    }
}
