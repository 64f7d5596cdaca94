// SPDX-License-Identifier: MIT
// What does pruning bytes cost? Beside copying the body, beside the structural scan that simdjson starts
// every parse with (the limit: each byte looked at once), beside a DOM, and beside the same job in JavaScript
// where there is `node`. All are ratios of one run, in which the sides take turns.
//
// And how much memory: the peak of a process that loads a body and prunes it, beside one that only loads it.
#include "../examples/session_generator.hpp"
#include "turns.hpp"

#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdio.h>
#include <stdlib.h>  // mkdtemp, popen and pclose are POSIX

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;
using coppice_bench::expect;
using coppice_bench::Side;
using coppice_bench::StructuralScan;

constexpr auto standard = coppice::presets::standard();
constexpr auto openswarm = coppice::presets::openswarm();

// Numbers of results that give bodies of about 0.4, 2 and 10 MB.
constexpr std::array<std::size_t, 3> session_lengths = {140, 600, 2900};

std::string make_body(std::size_t results) {
    coppice_examples::SessionShape shape;
    shape.results = results;
    return coppice_examples::make_session(shape).dump();
}

std::string read_file(const fs::path& path) {
    std::string text(fs::file_size(path), '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    expect(file.good(), "cannot read a body");
    return text;
}

void write_file(const fs::path& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    expect(file.flush().good(), "cannot write a body");
}

class ScratchFolder {
public:
    ScratchFolder() {
        std::string name = (fs::temp_directory_path() / "coppice_bench_XXXXXX").string();
        expect(mkdtemp(name.data()) != nullptr, "cannot make a folder for bodies");
        path_ = name;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    fs::path body() const { return path_ / "body.json"; }
    fs::path pruned() const { return path_ / "pruned.json"; }

private:
    fs::path path_;
};

// What a program prints, or nothing where it fails.
std::string output_of(const std::string& command) {
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) { return {}; }
    std::string text;
    std::array<char, 4096> buffer{};
    while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        text.append(buffer.data(), count);
    }
    return pclose(pipe) == 0 ? text : std::string();
}

// --- time --------------------------------------------------------------------------------------------------

// The JavaScript side runs in a process of its own, which warms up and measures itself.
class JavaScript {
public:
    explicit JavaScript(const ScratchFolder& folder) : folder_(folder) {
        available_ = !output_of("node --version 2>/dev/null").empty();
    }

    bool available() const { return available_; }

    void take_turn(std::size_t runs, Side& side) const {
        const std::string command = fmt::format("node '{}' '{}' '{}' {}", script, folder_.body().string(),
                                                folder_.pruned().string(), runs);
        const std::string out = output_of(command);
        expect(!out.empty(), "the JavaScript side failed");
        for (const Json& seconds : Json::parse(out)) { side.add(seconds.get<double>()); }
    }

    Json pruned() const { return Json::parse(read_file(folder_.pruned())); }

private:
    static constexpr std::string_view script = COPPICE_SOURCE_DIR "/benchmarks/ancestor.mjs";

    const ScratchFolder& folder_;
    bool available_ = false;
};

void print_row(std::size_t bytes, std::string_view preset, std::string_view form, double wire,
               const Side& copy, const Side& scan, const Side& dom, const Side* javascript) {
    fmt::print("{:>5.1f} MB  {:<10} {:<7} {:>11.2f} {:>15.2f} {:>12.1f} ", static_cast<double>(bytes) / 1e6,
               preset, form, wire / copy.best(), scan.best() / wire, dom.best() / wire);
    if (javascript == nullptr) {
        fmt::print("{:>15}\n", "-");
    } else {
        fmt::print("{:>15.1f}\n", javascript->best() / wire);
    }
    std::fflush(stdout);
}

template <class Pipeline>
void compare(std::string_view body, std::string_view preset, const Pipeline& pipeline,
             const JavaScript* javascript) {
    constexpr std::size_t rounds = 7;
    std::string room(body.size(), '\0');
    StructuralScan structural_scan(body.size());
    coppice::WireWorkspace joining;
    coppice::WireWorkspace in_pieces;
    coppice::Workspace dom_workspace;
    std::string dom_out;
    Side copy, scan, joined, pieces, dom, script;
    for (std::size_t round = 0; round < rounds; ++round) {
        copy.take_turn(9, [&] {
            std::memcpy(room.data(), body.data(), body.size());
            benchmark::DoNotOptimize(room.data());
            benchmark::ClobberMemory();
        });
        scan.take_turn(9, [&] { structural_scan.run(body); });
        joined.take_turn(9, [&] { benchmark::DoNotOptimize(coppice::prune(body, pipeline, joining)); });
        pieces.take_turn(9,
                         [&] { benchmark::DoNotOptimize(coppice::prune_pieces(body, pipeline, in_pieces)); });
        dom.take_turn(3, [&] {
            Json document = Json::parse(body);
            benchmark::DoNotOptimize(coppice::prune(document, pipeline, dom_workspace));
            dom_out = document.dump();
        });
        if (javascript != nullptr) { javascript->take_turn(3, script); }
    }

    const std::string_view out = coppice::prune(body, pipeline, joining);
    std::string from_pieces;
    for (const std::string_view piece : coppice::prune_pieces(body, pipeline, in_pieces)) {
        from_pieces += piece;
    }
    expect(out.size() < body.size(), "there is nothing to prune in this body");
    expect(out == from_pieces, "the pieces are not the joined body");
    expect(Json::parse(out) == Json::parse(dom_out), "wire and DOM differ");
    if (javascript != nullptr) {
        expect(javascript->pruned() == Json::parse(out), "wire and JavaScript differ");
    }

    const Side* const other = javascript != nullptr ? &script : nullptr;
    print_row(body.size(), preset, "joined", joined.best(), copy, scan, dom, other);
    print_row(body.size(), preset, "pieces", pieces.best(), copy, scan, dom, other);
}

// --- memory ------------------------------------------------------------------------------------------------

// Of this process since it was started, in bytes; 0 where the system does not say. Not from getrusage: that
// number is inherited from whoever started the process.
std::size_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        std::size_t kilobytes = 0;
        if (word == "VmHWM:" && status >> kilobytes) { return kilobytes * 1024; }
    }
    return 0;
}

// The fresh process: `--peak load|standard|openswarm BODY`.
int print_peak(std::string_view what, const fs::path& path) {
    const std::string body = read_file(path);
    coppice::PrunedBody pruned;
    if (what == "standard") { pruned = coppice::prune(body, standard); }
    if (what == "openswarm") { pruned = coppice::prune(body, openswarm); }
    benchmark::DoNotOptimize(pruned.bytes(body));
    fmt::print("{}\n", peak_memory());
    return pruned.report.engaged || what == "load" ? 0 : 1;
}

void compare_memory(std::string_view body, const fs::path& path) {
    const fs::path self = fs::read_symlink("/proc/self/exe");
    const auto peak = [&](std::string_view what) {
        // the system counts in lots, so that runs differ a little
        std::vector<double> peaks;
        for (int i = 0; i < 5; ++i) {
            const std::string out =
                output_of(fmt::format("'{}' --peak {} '{}'", self.string(), what, path.string()));
            expect(!out.empty(), "the process that measures memory failed");
            peaks.push_back(std::stod(out));
        }
        std::sort(peaks.begin(), peaks.end());
        return peaks[peaks.size() / 2];
    };
    const double loaded = peak("load");
    const double size = static_cast<double>(body.size());
    fmt::print("{:>5.1f} MB", size / 1e6);
    for (const std::string_view preset : {"standard", "openswarm"}) {
        fmt::print(" {:>11.2f}", 1 + (peak(preset) - loaded) / size);
    }
    fmt::print("\n");
}

void run() {
    const ScratchFolder folder;
    const JavaScript javascript(folder);
    if (!javascript.available()) { fmt::print("There is no `node` to compare with.\n\n"); }
    fmt::print(
        "How many times the time of a copy; the share of the scan's speed; how many times faster than parse, "
        "prune\nand dump of a DOM; and than the same job in JavaScript.\n\n");
    fmt::print("    body  preset     form    times a copy  of scan's speed  than a DOM  than JavaScript\n");
    for (const std::size_t results : session_lengths) {
        const std::string body = make_body(results);
        write_file(folder.body(), body);
        compare(body, "standard", standard, nullptr);
        compare(body, "openswarm", openswarm, javascript.available() ? &javascript : nullptr);
    }
    if (peak_memory() == 0) { return; }
    fmt::print(
        "\nPeak memory of a process that prunes once, in bodies, its input included. The code that is "
        "loaded for it\ncounts too, which shows with a small body only.\n\n");
    fmt::print("    body    standard   openswarm\n");
    for (const std::size_t results : session_lengths) {
        const std::string body = make_body(results);
        write_file(folder.body(), body);
        compare_memory(body, folder.body());
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc == 4 && std::string_view(argv[1]) == "--peak") { return print_peak(argv[2], argv[3]); }
        run();
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_wire: {}\n", error.what());
        return 1;
    }
}
