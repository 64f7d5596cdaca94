// SPDX-License-Identifier: MIT
// How does one write a policy? A name and one function that reads the transcript and writes the plan.
#include "session_generator.hpp"

#include <coppice/coppice.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

/// Listings of files age fast.
///
/// keeps          the newest `keep` results of Glob
/// changes        older ones into a stub each
/// does nothing   to other tools
struct OldListings {
    static constexpr std::string_view name = "old_listings";
    std::size_t keep = 2;

    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
        std::size_t left = keep;
        for (std::size_t i = transcript.entries().size(); i-- > 0;) {
            const coppice::Entry& entry = transcript.entries()[i];
            if (!coppice::same_text(entry.tool, std::string_view("Glob")) || !plan.could_clear(i)) {
                continue;
            }
            if (left > 0) {
                --left;
            } else {
                plan.clear(i, name);
            }
        }
    }
};

int main() {
    constexpr coppice::Pipeline pruner{OldListings{.keep = 1}, coppice::Dedup<>{}};
    auto body = coppice_examples::make_session({});
    const coppice::Report report = coppice::prune(body, pruner);
    for (const coppice::EditRecord& edit : report.edits) {
        fmt::print("message {:>3}  {:<13} {:>6} -> {:>3}  {}\n", edit.message, edit.reason, edit.bytes_before,
                   edit.bytes_after, edit.replacement);
    }
    return report.engaged ? 0 : 1;
}
