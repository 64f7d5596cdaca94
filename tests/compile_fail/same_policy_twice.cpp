// expect: coppice::Pipeline: the same part, or two of one `name`, are listed
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
coppice::Pipeline<coppice::KeepRecent<5>, coppice::Dedup<>, coppice::KeepRecent<5>> pipeline;
#else
coppice::Pipeline<coppice::KeepRecent<5>, coppice::Dedup<>> pipeline;
#endif
