// expect: bytes_need_coppice_wire_hpp
#include <coppice/coppice.hpp>

#if !COPPICE_FAIL
#include <coppice/wire.hpp>
#endif

bool pruned(const std::string& body) {
    constexpr coppice::Pipeline<coppice::KeepRecent<5>> pruner;
    return coppice::prune(body, pruner).report.engaged;
}
