// expect: p.run.workspace.. (is|would be) invalid
#include <coppice/coppice.hpp>

#include <nlohmann/json.hpp>

coppice::Report pruned(nlohmann::json& document) {
    const coppice::KeepRecent<5> policy;
#if COPPICE_FAIL
    return coppice::prune(document, policy);
#else
    return coppice::prune(document, coppice::Pipeline{policy});
#endif
}
