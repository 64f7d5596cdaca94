// expect: coppice::Pipeline: this part is no policy, cadence, guard or wording
#include <coppice/coppice.hpp>

struct Always {
    static constexpr std::string_view name = "always";
#if !COPPICE_FAIL
    struct State {};
#endif
    template <class S>
    bool moves(S&, const coppice::Request&) const {
        return true;
    }
};

coppice::Pipeline<coppice::KeepRecent<5>, Always> pipeline;
