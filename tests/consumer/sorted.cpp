#include "consumer.hpp"

bool sorted_agrees(const std::string& body, const coppice::Report& report) {
    auto document = nlohmann::json::parse(body);
    return coppice::prune(document, coppice::Pipeline{coppice::KeepRecent<1>{}}).saved_bytes == report.saved_bytes;
}
