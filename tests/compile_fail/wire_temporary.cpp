// expect: (use of deleted function|call to deleted function 'prune')
#include <coppice/policies.hpp>
#include <coppice/wire.hpp>

std::size_t size(const std::string& body, coppice::WireWorkspace& workspace) {
    constexpr coppice::Pipeline<coppice::KeepRecent<5>> pruner;
#if COPPICE_FAIL
    return coppice::prune(body + " ", pruner, workspace).size();
#else
    return coppice::prune(body, pruner, workspace).size();
#endif
}
