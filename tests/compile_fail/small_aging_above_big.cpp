// expect: <throw-expression>|subexpression not valid in a constant expression
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
constexpr coppice::Pipeline<coppice::SmallAging<30, coppice::Size{2000}, coppice::Size{2000}>> pipeline;
#else
constexpr coppice::Pipeline<coppice::SmallAging<30, coppice::Size{1999}, coppice::Size{2000}>> pipeline;
#endif
