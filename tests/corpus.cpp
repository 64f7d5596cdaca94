// SPDX-License-Identifier: MIT
// The laws over recorded sessions, where there are any: ../shared/corpus, or the folder COPPICE_CORPUS names.
#include "support/everything.hpp"
#include "support/laws.hpp"
#include "support/requests.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

nlohmann::ordered_json load(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return nlohmann::ordered_json::parse(file);
}

}  // namespace

TEST_CASE("corpus: every preset keeps the laws on every recorded body") {
    struct Family {
        const char* folder;
        const char* dialect;
    };
    for (const Family& family : {Family{"anthropic", "anthropic"}, Family{"openai_chat", "openai-chat"},
                                 Family{"openai_responses", "openai-responses"}, Family{"gemini", "gemini"}}) {
        for (const auto& path : support::recorded_bodies(family.folder)) {
            CAPTURE(path.filename().string());
            const nlohmann::ordered_json body = load(path);
            support::for_each_preset([&](const char* name, const auto& pipeline) {
                CAPTURE(std::string(name));
                const coppice::Report report = support::check_laws(body, pipeline);
                CHECK(report.dialect == family.dialect);
                CHECK(report.unpaired_calls == 0);
                CHECK(report.unpaired_results == 0);
            });
        }
    }
}
