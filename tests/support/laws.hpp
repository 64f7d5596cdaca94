// SPDX-License-Identifier: MIT
#pragma once

#include "batches.hpp"
#include "validators.hpp"
#include "wire_laws.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <string_view>

namespace support {

/// The edits of a report, found again in the two documents: the value at the edit's path had and has the stated size,
/// and nothing else changed. Returns how much they saved in all.
inline std::size_t check_edits(const nlohmann::ordered_json& before, const nlohmann::ordered_json& after,
                               const coppice::Report& report) {
    std::map<std::string_view, std::pair<std::size_t, std::size_t>> by_reason;
    for (const coppice::EditRecord& edit : report.edits) {
        ++by_reason[edit.reason].first;
        by_reason[edit.reason].second += edit.bytes_before - edit.bytes_after;
    }
    CHECK(by_reason.size() == report.by_reason.size());
    for (const coppice::ReasonTotal& total : report.by_reason) {
        CHECK(by_reason[total.reason].first == total.count);
        CHECK(by_reason[total.reason].second == total.saved_bytes);
    }
    return check_spans(before.dump(), after.dump(), report);
}

/// Laws 1 to 6, 8 and 9 for one pipeline and one body.
template <class Pipeline>
coppice::Report check_laws(const nlohmann::ordered_json& body, const Pipeline& pipeline,
                           const AllowedChanges& allowed = {}) {
    const nlohmann::ordered_json original = body;
    const std::string bytes = body.dump();

    const coppice::Report planned = coppice::plan(body, pipeline);
    const bool untouched = body == original;  // not inside CHECK: doctest would print both bodies
    CHECK(untouched);                         // law 8

    nlohmann::ordered_json pruned = body;
    const coppice::Report report = coppice::prune(pruned, pipeline);
    const std::string pruned_bytes = pruned.dump();

    CHECK(planned.engaged == report.engaged);
    CHECK(planned.saved_bytes == report.saved_bytes);
    CHECK(planned.edits.size() == report.edits.size());

    CHECK(coppice::measure_document(body).bytes == bytes.size());
    CHECK(coppice::measure_document(pruned).bytes == pruned_bytes.size());
    CHECK(report.saved_bytes == bytes.size() - pruned_bytes.size());
    CHECK(check_edits(body, pruned, report) == report.saved_bytes);  // law 6
    CHECK(report.engaged == !report.edits.empty());
    CHECK(report.engaged == report.why.empty());
    const bool same_bytes = pruned_bytes == bytes;
    CHECK(same_bytes == !report.engaged);  // law 1

    const auto violations = new_violations(report.dialect, body, pruned, allowed);  // laws 3, 4, 5
    for (const std::string& violation : violations) { CHECK_MESSAGE(false, violation); }

    nlohmann::ordered_json twice = pruned;
    const coppice::Report again = coppice::prune(twice, pipeline);
    const bool idempotent = twice.dump() == pruned_bytes;
    CHECK(idempotent);  // law 2
    CHECK_FALSE(again.engaged);

    nlohmann::json sorted = nlohmann::json::parse(bytes);  // both kinds of DOM agree
    coppice::prune(sorted, pipeline);
    const bool kinds_agree = sorted == nlohmann::json::parse(pruned_bytes);
    CHECK(kinds_agree);

    check_wire_laws(bytes, pruned_bytes, report, pipeline);
    return report;
}

}  // namespace support
