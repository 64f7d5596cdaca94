// expect: <throw-expression>|subexpression not valid in a constant expression
#include <coppice/recap/builder.hpp>

#if COPPICE_FAIL
constexpr coppice::RecapBuilder<> builder({}, {.nonce = "no spaces"});
#else
constexpr coppice::RecapBuilder<> builder({}, {.nonce = "no-spaces"});
#endif
