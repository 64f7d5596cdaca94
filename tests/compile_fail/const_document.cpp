// expect: coppice::prune: the document is const. copy it, or call coppice::plan
#include <coppice/coppice.hpp>

#include <nlohmann/json.hpp>

coppice::Report pruned(const nlohmann::json& document) {
    const coppice::Pipeline<coppice::KeepRecent<5>> pipeline;
#if COPPICE_FAIL
    return coppice::prune(document, pipeline);
#else
    nlohmann::json copy = document;
    return coppice::prune(copy, pipeline);
#endif
}
