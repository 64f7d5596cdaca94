// expect: <throw-expression>|subexpression not valid in a constant expression
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
constexpr coppice::Pipeline<coppice::CapOnArrival<coppice::chars(3249), 1000, 1000>> pipeline;
#else
constexpr coppice::Pipeline<coppice::CapOnArrival<coppice::chars(3250), 1000, 1000>> pipeline;
#endif
