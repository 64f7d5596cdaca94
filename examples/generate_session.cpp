// SPDX-License-Identifier: MIT
// Which input can I measure with? Writes a made-up agent session as a request body of any provider.
//
//     generate_session [--seed N] [--results N] [--dialect NAME] [OUT]

#include "session_dialects.hpp"
#include "session_generator.hpp"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace {

constexpr std::uint64_t most_results = 1'000'000;

int usage_error(std::string_view message) {
    std::cerr << "generate_session: " << message
              << "\nusage: generate_session [--seed N] [--results N] [--dialect NAME] [OUT]\ndialects:";
    for (const coppice_examples::SessionDialect dialect : coppice_examples::session_dialects) {
        std::cerr << ' ' << coppice_examples::name_of(dialect);
    }
    std::cerr << '\n';
    return 2;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const std::from_chars_result parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc{} || parsed.ptr != end) { return std::nullopt; }
    return number;
}

bool write(std::ostream& out, const std::string& text) {
    out << text << '\n';
    out.flush();
    return out.good();
}

}  // namespace

int main(int argc, char** argv) {
    coppice_examples::SessionShape shape;
    coppice_examples::SessionDialect dialect = coppice_examples::SessionDialect::anthropic;
    std::string out_path;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument == "--seed" || argument == "--results") {
            const std::optional<std::uint64_t> number =
                i + 1 < argc ? parse_number(argv[i + 1]) : std::nullopt;
            if (!number) { return usage_error(argument + " needs a number"); }
            ++i;
            if (argument == "--seed") {
                shape.seed = *number;
            } else if (*number <= most_results) {
                shape.results = static_cast<std::size_t>(*number);
            } else {
                return usage_error("--results is at most " + std::to_string(most_results));
            }
        } else if (argument == "--dialect") {
            if (i + 1 == argc) { return usage_error("--dialect needs a name"); }
            const std::string name = argv[++i];
            const auto named = coppice_examples::session_dialect_named(name);
            if (!named) { return usage_error("unknown dialect '" + name + "'"); }
            dialect = *named;
        } else if (argument.empty() || argument.front() == '-') {
            return usage_error("unknown option '" + argument + "'");
        } else if (!out_path.empty()) {
            return usage_error("more than one output");
        } else {
            out_path = argument;
        }
    }
    const std::string body = coppice_examples::render(dialect, coppice_examples::make_session(shape)).dump();
    if (out_path.empty()) {
        if (!write(std::cout, body)) {
            std::cerr << "generate_session: cannot write to standard output\n";
            return 1;
        }
        return 0;
    }
    std::ofstream file{out_path, std::ios::binary};
    if (!file || !write(file, body)) {
        std::cerr << "generate_session: cannot write " << out_path << '\n';
        return 1;
    }
    return 0;
}
