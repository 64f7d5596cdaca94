#include "consumer.hpp"
#if !defined(CONSUMER_HEADER)
#include <coppice/wire.hpp>
#endif

#include <string_view>

int main() {
    const std::string body = body_of_two_results();
    const coppice::PrunedBody pruned = coppice::prune(body, coppice::Pipeline{coppice::KeepRecent<1>{}});
    const std::string_view out = pruned.bytes(body);
    const bool shorter =
        pruned.report.edits.size() == 1 && out.size() + pruned.report.saved_bytes == body.size();
    const bool same = sorted_agrees(body, pruned.report);
    return shorter && same && out.substr(0, 20) == body.substr(0, 20) ? 0 : 1;
}
