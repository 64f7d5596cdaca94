#include "consumer.hpp"

bool sorted_agrees(const std::string& body, const coppice::Report& report) {
    auto document = nlohmann::json::parse(body);
    const coppice::Report sorted = coppice::prune(document, coppice::Pipeline{coppice::KeepRecent<1>{}});
    return sorted.saved_bytes == report.saved_bytes;
}
