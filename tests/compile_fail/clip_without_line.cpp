// expect: coppice::Pipeline: this wording has no line for old results of which head and tail stay
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
coppice::Pipeline<coppice::OversizedOutput<>, coppice::OpenSwarmWording> pipeline;
#else
coppice::Pipeline<coppice::OversizedOutput<>, coppice::PlainWording> pipeline;
#endif
