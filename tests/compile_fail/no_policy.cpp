// expect: coppice::Pipeline: no policy is listed
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
coppice::Pipeline<coppice::EveryRequest<>, coppice::ExemptTools> pipeline;
#else
coppice::Pipeline<coppice::EveryRequest<>, coppice::ExemptTools, coppice::Dedup<>> pipeline;
#endif
