// SPDX-License-Identifier: MIT
#include <coppice/dom.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/version.hpp>
#if defined(TEST_WIRE)
#include <coppice/wire.hpp>
#endif

#include <nlohmann/json.hpp>

#include <iostream>
#include <string>

int main() {
    constexpr coppice::Pipeline<coppice::KeepRecent<5>> pruner;
    auto body = nlohmann::ordered_json::parse(R"({"system":"s","messages":[]})");
    const coppice::Report report = coppice::prune(body, pruner);
    std::cout << "coppice " << coppice::library_version << ": " << report.why << '\n';
#if defined(TEST_WIRE)
    const std::string bytes = body.dump();
    const coppice::PrunedBody pruned = coppice::prune(bytes, pruner);
    if (pruned.bytes(bytes) != bytes) { return 1; }
#endif
    return report.engaged ? 1 : 0;
}
