// expect: coppice::Pipeline: more than one cadence is listed
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
coppice::Pipeline<coppice::EveryRequest<>, coppice::KeepRecent<5>, coppice::Stepped<10>> pipeline;
#else
coppice::Pipeline<coppice::KeepRecent<5>, coppice::Stepped<10>> pipeline;
#endif
