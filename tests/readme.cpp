// SPDX-License-Identifier: MIT
// The README's code is compiled, here and in examples/readme.cpp, and its output is what the program prints.
#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

namespace {

std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

const std::filesystem::path project = COPPICE_SOURCE_DIR;

// The README's fenced blocks of one language.
std::vector<std::string> blocks(const std::string& language) {
    const std::string text = read(project / "README.md");
    const std::string open = "```" + language + "\n";
    std::vector<std::string> found;
    for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
        at += open.size();
        found.push_back(text.substr(at, text.find("```", at) - at));
    }
    return found;
}

std::string without_white_space(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c != ' ' && c != '\n') { out += c; }
    }
    return out;
}

struct Config {
    std::size_t keep = 3;
};

// The second block of C++, word for word.
std::size_t compose(nlohmann::ordered_json& body, const Config& config) {
    // clang-format off
    constexpr coppice::Pipeline<coppice::SmallAging<30>, coppice::Dedup<>, coppice::KeepRecent<5>, coppice::BulkyInputClear<5>,
                                coppice::Ceiling<120'000, 2>> pruner;
    const coppice::Pipeline tuned{coppice::KeepRecent<>{.keep = config.keep}, coppice::Dedup<>{},
                                  coppice::SkiRental<>{.engage = coppice::Size{100'000}}, coppice::ExemptTools{}};
    const coppice::Report planned = coppice::plan(body, tuned);  // a dry run: the document is const
    const coppice::Report report = coppice::prune(body, tuned);  // in place: all edits or none
    // clang-format on
    return planned.edits.size() + report.edits.size() + coppice::plan(body, pruner).edits.size();
}

// The third.
std::string send_pruned(const std::string& bytes) {
    constexpr coppice::Pipeline<coppice::KeepRecent<5>> pruner;
    std::string sent;
    const auto send = [&sent](std::string_view piece) { sent += piece; };

    // clang-format off
    const coppice::PrunedBody pruned = coppice::prune(bytes, pruner);  // bytes: std::string or std::string_view
    send(pruned.bytes(bytes));                                         // the input itself where nothing changed
    thread_local coppice::WireWorkspace workspace;                     // buffers and parser, kept from call to call
    send(coppice::prune(bytes, pruner, workspace));                    // what was done: workspace.report
    for (const std::string_view piece : coppice::prune_pieces(bytes, pruner, workspace)) { send(piece); }
    // clang-format on
    return sent;
}

}  // namespace

TEST_CASE("readme: its first program is the example that is built") {
    const std::string example = read(project / "examples/readme.cpp");
    const std::string program = blocks("cpp").at(0);
    CHECK(example.substr(example.find("#include")) == program);
}

TEST_CASE("readme: its other code is compiled here") {
    const std::vector<std::string> code = blocks("cpp");
    CHECK(code.size() == 3);
    const std::string here = without_white_space(read(project / "tests/readme.cpp"));
    for (std::size_t i = 1; i < code.size(); ++i) {
        CAPTURE(code[i]);
        const bool found = here.find(without_white_space(code[i])) != std::string::npos;
        CHECK(found);
    }
    nlohmann::ordered_json empty = nlohmann::ordered_json::array();
    CHECK(compose(empty, {}) == 0);
    CHECK(send_pruned("[]") == "[][][]");
}

TEST_CASE("readme: it stays short, and every header of a family has its link") {
    const std::string text = read(project / "README.md");
    CHECK(std::count(text.begin(), text.end(), '\n') < 200);
    for (const char* family : {"policies", "cadences", "guards", "presets", "recap", "dialects"}) {
        for (const auto& file : std::filesystem::directory_iterator(project / "include/coppice" / family)) {
            const std::string link =
                std::string("include/coppice/") + family + "/" + file.path().filename().string();
            CAPTURE(link);
            CHECK(text.find("(" + link + ")") != std::string::npos);
        }
    }
}

TEST_CASE("readme: the files that it links to are there, and the table of a replay has its place") {
    const std::string text = read(project / "README.md");
    std::size_t links = 0;
    for (std::size_t at = 0; (at = text.find("](", at)) != std::string::npos;) {
        at += 2;
        const std::string link = text.substr(at, text.find(')', at) - at);
        CAPTURE(link);
        CHECK(std::filesystem::exists(project / link));
        ++links;
    }
    CHECK(links > 50);
    const std::size_t from = text.find("\n<!-- replay table -->\n");
    CHECK(from != std::string::npos);
    CHECK(text.find("\n<!-- /replay table -->\n", from) != std::string::npos);
}

TEST_CASE("readme: every header has a test of the same name, and stands in the umbrella") {
    const std::filesystem::path include = project / "include/coppice";
    const std::string umbrella = read(include / "coppice.hpp") + read(include / "policies.hpp") +
                                 read(include / "preset.hpp") + read(include / "recap.hpp") +
                                 read(include / "dialects.hpp");
    for (const auto& file : std::filesystem::recursive_directory_iterator(include)) {
        const std::filesystem::path name = std::filesystem::relative(file.path(), include);
        if (!file.is_regular_file() || *name.begin() == "detail" || name == "coppice.hpp") { continue; }
        CAPTURE(name.string());
        // what needs another library, or more than the standard one of the platform, or is for few programs
        const bool apart = name == "wire.hpp" || *name.begin() == "wire" || *name.begin() == "spill" ||
                           name == "config.hpp" || name == "logs.hpp" || *name.begin() == "logs";
        const bool included =
            umbrella.find("#include <coppice/" + name.generic_string() + ">") != std::string::npos;
        CHECK(included != apart);
        if (name == "policies.hpp" || name == "preset.hpp" || name == "recap.hpp") { continue; }
        CHECK(std::filesystem::exists(project / "tests" /
                                      std::filesystem::path(name).replace_extension(".cpp")));
    }
}

#ifdef COPPICE_DIALECTS
TEST_CASE("readme: the table of dialects is what the example prints") {
    const std::filesystem::path out =
        std::filesystem::temp_directory_path() / ("coppice-dialects-" + std::to_string(::getpid()));
    CHECK(std::system(("'" COPPICE_DIALECTS "' >'" + out.string() + "'").c_str()) == 0);
    const std::string table = read(out);
    CHECK(std::count(table.begin(), table.end(), '\n') == 8);
    CHECK(read(project / "README.md").find("\n" + table) != std::string::npos);
    std::filesystem::remove(out);
}
#endif

#if defined(COPPICE_SESSION) && defined(COPPICE_README)
TEST_CASE("readme: the output shown is the output of the program") {
    const std::filesystem::path out =
        std::filesystem::temp_directory_path() / ("coppice-readme-" + std::to_string(::getpid()));
    const std::string command =
        std::string("'" COPPICE_SESSION "' --seed 7 --results 300 | '" COPPICE_README "' >'") + out.string() +
        "'";
    CHECK(std::system(command.c_str()) == 0);
    CHECK(read(out) == blocks("text").at(0));
    std::filesystem::remove(out);
}
#endif

TEST_CASE("readme: each test that it names is there") {
    const std::string text = read(project / "README.md");
    std::size_t named = 0;
    const std::string open = "](tests/";
    for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
        const std::size_t file = at + open.size();
        const std::size_t name = text.rfind('[', at) + 1;
        const std::string test = text.substr(name, at - name);
        CAPTURE(test);
        CHECK(read(project / "tests" / text.substr(file, text.find(')', file) - file)).find('"' + test + '"') !=
              std::string::npos);
        ++named;
    }
    CHECK(named > 20);
}
