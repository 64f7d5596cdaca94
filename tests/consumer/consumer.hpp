// What a consumer includes: the headers, or one that holds them all.
#pragma once

#if defined(CONSUMER_HEADER)
#include CONSUMER_HEADER
#else
#include <coppice/coppice.hpp>
#endif

#include <string>

#if defined(CONSUMER_MIXED)
/// Is as much pruned of the body, read as `nlohmann::json`?
bool sorted_agrees(const std::string& body, const coppice::Report& report);
#else
inline bool sorted_agrees(const std::string&, const coppice::Report&) { return true; }
#endif

inline std::string body_of_two_results() {
    std::string body = R"({"system":"s", "messages":[)";
    for (const std::string id : {"a", "b"}) {
        body += R"({"role":"assistant","content":[{"type":"tool_use","id":")" + id +
                R"(","name":"t","input":{}}]},)";
        body += R"({"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id +
                R"(","content":")" + std::string(3000, 'x') + R"("}]},)";
    }
    return body + R"({"role":"assistant","content":"done"},{"role":"user","content":"go on"}]})";
}
