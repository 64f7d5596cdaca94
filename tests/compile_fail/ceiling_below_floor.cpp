// expect: <throw-expression>|subexpression not valid in a constant expression
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
constexpr coppice::Pipeline<coppice::Ceiling<coppice::Size{1000}, 2>> pipeline;
#else
constexpr coppice::Pipeline<coppice::Ceiling<coppice::Size{4000}, 2>> pipeline;
#endif
