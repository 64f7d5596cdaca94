// expect: coppice::Pipeline: this part is a pipeline itself
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
const coppice::Pipeline pipeline{coppice::presets::standard(), coppice::ExemptPaths{}};
#else
const coppice::Pipeline pipeline = coppice::presets::standard().with(coppice::ExemptPaths{});
#endif
