// expect: <throw-expression>|subexpression not valid in a constant expression
#include <coppice/coppice.hpp>

#if COPPICE_FAIL
constexpr coppice::Pipeline<coppice::KeepRecent<5>, coppice::Stepped<0>> pipeline;
#else
constexpr coppice::Pipeline<coppice::KeepRecent<5>, coppice::Stepped<1>> pipeline;
#endif
