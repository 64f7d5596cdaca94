// expect: <throw-expression>|subexpression not valid in a constant expression
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
constexpr coppice::Pipeline<coppice::Spill<coppice::Size{15'999}>> pipeline;
#else
constexpr coppice::Pipeline<coppice::Spill<coppice::Size{16'000}>> pipeline;
#endif
