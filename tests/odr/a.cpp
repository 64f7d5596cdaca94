#include <coppice/coppice.hpp>
#if COPPICE_TEST_WIRE
#include <coppice/wire.hpp>
#endif

std::size_t edits_of(const nlohmann::json& body);

int main() {
    const auto body = nlohmann::json::parse(R"({"system":"s","messages":[]})");
    const std::size_t here = coppice::plan(body, coppice::presets::openswarm()).edits.size();
#if COPPICE_TEST_WIRE
    if (coppice::plan(body.dump(), coppice::presets::openswarm()).edits.size() != here) { return 1; }
#endif
    return here == edits_of(body) ? 0 : 1;
}
