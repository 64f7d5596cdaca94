// expect: coppice::Pipeline: this part is no policy, cadence, guard or wording
#include <coppice/coppice.hpp>

struct Counting {
    static constexpr std::string_view name = "counting";
    int runs = 0;
#if COPPICE_FAIL
    void apply(const coppice::Transcript&, coppice::Plan&) { ++runs; }
#else
    void apply(const coppice::Transcript&, coppice::Plan&) const {}
#endif
};

coppice::Pipeline<Counting> pipeline;
