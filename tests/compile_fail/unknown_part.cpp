// expect: coppice::Pipeline: this part is no policy, cadence, guard or wording
#include <coppice/coppice.hpp>

struct Unknown {
    static constexpr std::string_view name = "unknown";
};

#if COPPICE_FAIL
coppice::Pipeline<coppice::KeepRecent<5>, Unknown> pipeline;
#else
coppice::Pipeline<coppice::KeepRecent<5>> pipeline;
#endif
