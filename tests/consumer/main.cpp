#include <coppice/coppice.hpp>

int main() {
    auto body = nlohmann::ordered_json::parse(R"({"system":"s","messages":[]})");
    const coppice::Report report = coppice::prune(body, coppice::presets::standard());
    return report.engaged || report.why.empty() ? 1 : 0;
}
