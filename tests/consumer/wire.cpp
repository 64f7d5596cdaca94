#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include <string>
#include <string_view>

int main() {
    std::string body = R"({"system":"s", "messages":[)";
    for (const std::string id : {"a", "b"}) {
        body += R"({"role":"assistant","content":[{"type":"tool_use","id":")" + id +
                R"(","name":"t","input":{}}]},)";
        body += R"({"role":"user","content":[{"type":"tool_result","tool_use_id":")" + id +
                R"(","content":")" + std::string(3000, 'x') + R"("}]},)";
    }
    body += R"({"role":"assistant","content":"done"},{"role":"user","content":"go on"}]})";
    const coppice::PrunedBody pruned = coppice::prune(body, coppice::Pipeline{coppice::KeepRecent<1>{}});
    const std::string_view out = pruned.bytes(body);
    const bool shorter =
        pruned.report.edits.size() == 1 && out.size() + pruned.report.saved_bytes == body.size();
    return shorter && out.substr(0, 20) == body.substr(0, 20) ? 0 : 1;
}
