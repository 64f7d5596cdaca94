// SPDX-License-Identifier: MIT
// The program of the README's first screen.
#include <coppice/coppice.hpp>
#include <iostream>

int main() {
    auto body = nlohmann::ordered_json::parse(std::cin);
    const coppice::Report report = coppice::prune(body, coppice::presets::standard());
    for (const coppice::ReasonTotal& total : report.by_reason) {
        std::cout << total.reason << ": " << total.count << " edits, " << total.saved_bytes << " bytes\n";
    }
    std::cout << (report.engaged ? report.edits.front().replacement : report.why) << '\n';
    std::cout << report.tokens_after << " of " << report.tokens_before << " tokens left\n";
}
