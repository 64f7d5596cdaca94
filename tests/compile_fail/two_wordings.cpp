// expect: coppice::Pipeline: more than one wording is listed
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
coppice::Pipeline<coppice::PlainWording, coppice::KeepRecent<5>, coppice::OpenSwarmWording> pipeline;
#else
coppice::Pipeline<coppice::KeepRecent<5>, coppice::OpenSwarmWording> pipeline;
#endif
