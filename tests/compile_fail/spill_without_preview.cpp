// expect: coppice::Pipeline: this wording writes no previews
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
coppice::Pipeline<coppice::Spill<>, coppice::OpenSwarmWording> pipeline;
#else
coppice::Pipeline<coppice::Spill<>, coppice::PlainWording> pipeline;
#endif
