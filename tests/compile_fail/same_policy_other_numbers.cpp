// expect: coppice::Pipeline: the same part, or two of one `name`, are listed
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
coppice::Pipeline pipeline{coppice::KeepRecent<5>{}, coppice::KeepRecent<7>{}};
#else
coppice::Pipeline pipeline{coppice::KeepRecent<5>{}, coppice::SmallAging<7>{}};
#endif
