// SPDX-License-Identifier: MIT
#include <coppice/cadences/watermark.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

using namespace support;

namespace {

// The reports of a history that grows by a result of `size` characters with each request.
template <class Pipeline>
std::vector<coppice::Report> grow(const Pipeline& pipeline, std::size_t requests, std::size_t size,
                                  const std::string& asked = "start") {
    Ordered messages = list(user(asked));
    std::vector<coppice::Report> reports;
    for (std::size_t i = 0; i < requests; ++i) {
        reports.push_back(coppice::plan(body(messages), pipeline));
        add_pair(messages, "c" + std::to_string(i), "Read", Ordered::object(), Ordered(filler(i, size)));
    }
    return reports;
}

std::size_t rewrites(const std::vector<coppice::Report>& reports) {
    return static_cast<std::size_t>(
        std::count_if(reports.begin(), reports.end(), [](const auto& report) { return report.rewrites; }));
}

}  // namespace

TEST_CASE("watermark: rewrites above the high mark and is near the low one afterwards") {
    const coppice::Pipeline pipeline{coppice::KeepRecent<2>{}, coppice::Watermark<>{.high = 20'000, .low = 8'000}};
    const auto reports = grow(pipeline, 60, 4000);
    std::size_t peak = 0;
    for (const coppice::Report& report : reports) {
        peak = std::max(peak, report.tokens_after);
        if (report.rewrites) { CHECK(report.tokens_after < 8'000); }
        CHECK_FALSE(report.saturated);
    }
    CHECK(peak > 19'000);
    CHECK(peak <= 20'000);
    // 60 results of 1,000 tokens, some 12,000 of them at a time
    CHECK(rewrites(reports) >= 3);
    CHECK(rewrites(reports) <= 4);
}

TEST_CASE("watermark: what cannot be cleared passes the mark, is told, and nothing is rewritten for it") {
    // NousResearch/hermes-agent #53008: 45 futile rounds
    const coppice::Pipeline pipeline{coppice::KeepRecent<2>{}, coppice::Watermark<>{.high = 20'000, .low = 15'000}};
    const auto reports = grow(pipeline, 24, 2500, filler(0, 90'000));
    // every result gives back 600 tokens: after 9 of them, and once more
    CHECK(rewrites(reports) <= 2);
    CHECK(reports.back().saturated);
    CHECK(reports.front().saturated);
}

TEST_CASE("watermark: the marks have to be in order") {
    CHECK_THROWS_AS((coppice::Watermark<>{.high = 10, .low = 10}.validate()), std::invalid_argument);
    CHECK_NOTHROW((coppice::Watermark<>{.high = 10, .low = 9}.validate()));
    CHECK(coppice::Watermark<60'000>{}.low == 30'000);
}
