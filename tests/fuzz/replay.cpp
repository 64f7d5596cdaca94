// SPDX-License-Identifier: MIT
// Runs a fuzz target over files, without libFuzzer: each with every first byte, then mutations of each, the same ones
// every time.
//
//     coppice_replay_TARGET FOLDER [MUTATIONS]
#include "mutate.hpp"
#include "target.hpp"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                                                     std::size_t max_size, unsigned seed);
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t limit);

namespace {

constexpr std::size_t max_size = 4096;
fuzz::Random bytes_random(1);
std::string current;
std::string current_name;
std::size_t executions = 0;

// what the target was given when it aborted, so that it can be saved and run again
void show_current(int) {
    std::fprintf(stderr, "in %s, execution %zu:\n", current_name.c_str(), executions);
    for (const char c : current) {
        const auto byte = static_cast<unsigned char>(c);
        const bool plain = byte >= 0x20 && byte < 0x7F && c != '\\';
        std::fprintf(stderr, plain ? "%c" : "\\x%02x", static_cast<unsigned>(byte));
    }
    std::fputc('\n', stderr);
}

void run(const std::string& input) {
    ++executions;
    current = input;
    // exactly as long as the input, so that a sanitizer sees what reads behind it
    const std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[input.size()]);
    std::copy(input.begin(), input.end(), bytes.get());
    LLVMFuzzerTestOneInput(bytes.get(), input.size());
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void run_file(const std::filesystem::path& path, unsigned mutations, unsigned seed) {
    const std::string input = read_file(path);
    current_name = path.string();
    run(input);
    if (input.empty()) { return; }
    for (const std::uint8_t first : fuzz::first_bytes()) {
        std::string chosen = input;
        chosen[0] = static_cast<char>(first);
        run(chosen);
    }
    std::vector<std::uint8_t> buffer(max_size);
    std::string mutated = input;
    for (unsigned i = 0; i < mutations; ++i) {
        // a few on top of each other, then from the file again
        if (i % 4 == 0 || mutated.size() > max_size) { mutated = input; }
        if (mutated.size() > max_size) { return; }
        std::memcpy(buffer.data(), mutated.data(), mutated.size());
        const std::size_t size =
            LLVMFuzzerCustomMutator != nullptr
                ? LLVMFuzzerCustomMutator(buffer.data(), mutated.size(), max_size, seed + i)
                : LLVMFuzzerMutate(buffer.data(), mutated.size(), max_size);
        mutated.assign(reinterpret_cast<const char*>(buffer.data()), size);
        run(mutated);
    }
}

}  // namespace

// Changes, drops, doubles or adds a few bytes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t limit) {
    constexpr std::string_view telling = "{}[]\",:\\/u0-.eE \n\x80\xC3\xED\xF4\xFF";
    std::string bytes(reinterpret_cast<const char*>(data), size);
    const std::size_t place = bytes_random.below(size + 1);
    const std::size_t count = 1 + bytes_random.below(4);
    const char byte = telling[bytes_random.below(telling.size())];
    switch (bytes_random.below(4)) {
        case 0: bytes.insert(place, 1, byte); break;
        case 1: bytes.erase(place, count); break;
        case 2: bytes.insert(place, bytes.substr(place, 8 * count)); break;
        default:
            if (place < size) { bytes[place] = byte; }
    }
    bytes.resize(std::min(bytes.size(), limit));
    if (!bytes.empty()) { std::memcpy(data, bytes.data(), bytes.size()); }
    return bytes.size();
}

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fputs("usage: coppice_replay_TARGET FOLDER [MUTATIONS]\n", stderr);
        return 2;
    }
    std::signal(SIGABRT, show_current);
    const unsigned mutations = argc > 2 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)) : 0;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
        if (entry.is_regular_file()) { files.push_back(entry.path()); }
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) {
        std::fprintf(stderr, "no files in %s\n", argv[1]);
        return 1;
    }
    unsigned seed = 1;
    for (const std::filesystem::path& file : files) { run_file(file, mutations, seed++ * 1'000'003U); }
    std::printf("%zu files, %zu executions\n", files.size(), executions);
    return 0;
}
