// expect: coppice::SummaryWording: a summariser is default-constructible and has `tools`
#include <coppice/coppice.hpp>

#include <array>
#include <string>
#include <string_view>

struct Query {
#if !COPPICE_FAIL
    static constexpr std::array<std::string_view, 1> tools = {"db_query"};
#endif
    void summarise(std::string& out, std::string_view tool, const coppice::CallView& call) const {
        out.append(tool).append(" on ").append(call.text("database"));
    }
};

coppice::Pipeline<coppice::KeepRecent<>, coppice::SummaryWording<Query>> pipeline;
