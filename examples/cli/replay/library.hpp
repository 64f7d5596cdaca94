// SPDX-License-Identifier: MIT
#pragma once

#include "policy.hpp"

#include <coppice/dom.hpp>
#include <coppice/preset.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace coppice_replay {

/// A pipeline of the library, asked for every request as a host does.
template <class Pipeline>
class PipelinePolicy final : public ReplayPolicy {
public:
    explicit PipelinePolicy(Pipeline pipeline) : pipeline_(std::move(pipeline)) {}

    void next(Session& session, const Request& request, Sent& sent) override {
        const coppice::Report report =
            coppice::plan(session.document_at(request), pipeline_, workspace_, session.dialect());
        for (const coppice::EditRecord& record : report.edits) { sent.edits.push_back(session.number_of(record)); }
        follow(report, session, sent);
    }

private:
    template <class Report>
    static void follow(const Report& report, const Session& session, Sent& sent) {
        if constexpr (requires { report.suggested_breakpoint; }) {
            sent.suggests = true;
            if (!report.suggested_breakpoint) { return; }
            sent.breakpoint_unit =
                session.unit_of(report.suggested_breakpoint->message, report.suggested_breakpoint->block);
        }
    }

    Pipeline pipeline_;
    coppice::Workspace workspace_;
};

/// The library's presets.
inline std::vector<NamedPolicy> library_policies() {
    const auto made = [](auto pipeline) {
        return [pipeline] { return std::make_unique<PipelinePolicy<decltype(pipeline)>>(pipeline); };
    };
    using coppice::utf16;
    constexpr coppice::BulkyInputClear<5, utf16(2000), true> inputs{.fields = coppice::presets::openswarm_input_fields};
    return {
        {"openswarm-code", "OpenSwarm's rule as its code has it: without the ceiling that it declares",
         made(coppice::Pipeline{coppice::EveryRequest<utf16(300'000)>{},
                                coppice::SmallAging<30, utf16(80), utf16(2000), true>{},
                                coppice::Dedup<utf16(2000), coppice::SameCall::ignored, false>{},
                                coppice::KeepRecent<5, utf16(2000), coppice::share_window, true>{}, inputs,
                                coppice::OpenSwarmWording{}})},
        {"openswarm", "the preset of that name: OpenSwarm's wire pruner", made(coppice::presets::openswarm())},
        {"hermes", "the preset of that name: hermes-agent's proactive prune", made(coppice::presets::hermes())},
        {"triage", "the preset of that name, for a window of 200,000 tokens: dsh-context-triage's screeners",
         made(coppice::presets::triage(coppice::Pressure<200'000>{}))},
        {"standard", "the preset of that name", made(coppice::presets::standard())},
    };
}

}  // namespace coppice_replay
