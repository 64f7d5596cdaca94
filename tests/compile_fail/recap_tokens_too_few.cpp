// expect: <throw-expression>|subexpression not valid in a constant expression
#include <coppice/recap/builder.hpp>

#if COPPICE_FAIL
constexpr coppice::RecapBuilder<> builder(coppice::RecapOptions{.most_tokens = 499});
#else
constexpr coppice::RecapBuilder<> builder(coppice::RecapOptions{.most_tokens = 500});
#endif
