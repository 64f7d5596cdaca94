#include <coppice/coppice.hpp>
#if COPPICE_TEST_WIRE
#include <coppice/wire.hpp>
#endif

std::size_t edits_of(const nlohmann::json& body);

std::size_t edits_of(const nlohmann::json& body) {
#if COPPICE_TEST_WIRE
    if (coppice::plan(body.dump(), coppice::presets::openswarm()).engaged) { return 1; }
#endif
    return coppice::plan(body, coppice::presets::openswarm()).edits.size();
}
