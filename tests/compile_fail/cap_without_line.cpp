// expect: coppice::Pipeline: this wording has no line for results that lose their middle
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
coppice::Pipeline<coppice::CapOnArrival<>, coppice::OpenSwarmWording> pipeline;
#else
coppice::Pipeline<coppice::CapOnArrival<>, coppice::PlainWording> pipeline;
#endif
