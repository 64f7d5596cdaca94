// SPDX-License-Identifier: MIT
#include <coppice/recap/openswarm.hpp>

#include <coppice/presets/openswarm.hpp>
#include <coppice/recap/note.hpp>
#include <coppice/recap/session.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

// Answers of the original to inputs of ours.
std::vector<Json> golden(const std::string& group) {
    std::ifstream file(std::string(COPPICE_SOURCE_DIR) + "/tests/recap/openswarm_golden.json");
    return Json::parse(file).at(group).get<std::vector<Json>>();
}

coppice::Recap recap_of(const Json& document) {
    const coppice::Session session(document, coppice::none);
    const coppice::SessionHistory history = session.history();
    return coppice::presets::openswarm_recap().build(history.messages, history.cutoff);
}

// The one line of a recap of one message.
std::string line_of(const std::string& role, const Json& content) {
    Json document;
    document["messages"] = Json::array({{{"id", "m"}, {"role", role}, {"content", content}}});
    const std::string text = recap_of(document).text;
    const std::string before = "the message that follows.\n";
    const std::string after = "\n--- end of recap";
    const std::size_t start = text.find(before) + before.size();
    return text.substr(start, text.rfind(after) - start);
}

}  // namespace

TEST_CASE("openswarm recap: notes are exactly those of the original") {
    const auto cases = golden("note");
    CHECK(cases.size() == 3);
    for (const Json& item : cases) {
        CHECK(coppice::platform_note(item.at("body").get<std::string>(), coppice::OpenSwarmRecapWording{}) ==
              item.at("text"));
    }
}

TEST_CASE("openswarm recap: forged tags come out as from the original") {
    const auto cases = golden("sentinels");
    CHECK(cases.size() == 7);
    for (const Json& item : cases) {
        std::string out;
        coppice::append_neutralised(out, item.at("in").get<std::string>(),
                                    coppice::OpenSwarmRecapWording{}.tags);
        CHECK(out == item.at("out"));
    }
}

TEST_CASE("openswarm recap: long asks are cut as by the original") {
    const auto cases = golden("clamp");
    CHECK(cases.size() == 4);
    for (const Json& item : cases) {
        const std::string line = line_of("user", item.at("in"));
        const bool same = line == "The user asked: " + item.at("out").get<std::string>();
        CHECK(same);
    }
}

TEST_CASE("openswarm recap: calls read as from the original") {
    const auto cases = golden("call_line");
    CHECK(cases.size() == 6);
    for (const Json& item : cases) { CHECK(line_of("tool_call", item.at("content")) == item.at("line")); }
}

TEST_CASE("openswarm recap: results outside a recap read as from the original") {
    const auto cases = golden("result_line");
    CHECK(cases.size() == 5);
    for (const Json& item : cases) {
        Json document;
        document["messages"] = Json::array({{{"role", "tool_result"}, {"content", item.at("content")}}});
        const coppice::Session session(document, coppice::none);
        CHECK(coppice::presets::openswarm_recap().line(session.messages()[0]) == item.at("line"));
    }
}

TEST_CASE("openswarm recap: previews of spilled output are the original's") {
    const auto cases = golden("elided");
    CHECK(cases.size() == 4);
    for (const Json& item : cases) {
        std::string content;
        if (item.contains("in") && item.at("in").is_string()) {
            content = item.at("in");
        } else {
            while (content.size() < item.at("n")) { content += item.at("fill").get<std::string>(); }
            content.resize(item.at("n"));
        }
        std::string preview;
        const coppice::Extent size = coppice::measure_plain(content);
        CHECK(size.chars == item.at("n"));
        const std::string path = item.at("path");
        coppice::OpenSwarmWording{}.preview(preview, {.content = content, .reference = path, .size = size});
        const bool same = preview == item.at("text").get<std::string>();
        CHECK(same);
    }
}

TEST_CASE("openswarm recap: recaps are exactly those of the original") {
    const auto cases = golden("recap");
    CHECK(cases.size() == 12);
    for (const Json& item : cases) {
        CAPTURE(item.at("name"));
        Json document;
        document["messages"] = item.at("messages");
        document["compacted_through_msg_id"] = item.at("cutoff");
        const coppice::Recap recap = recap_of(document);
        const bool same = recap.text == item.at("text").get<std::string>();
        CHECK(same);
        CHECK(recap.text.empty() == !recap.why.empty());
    }
}

TEST_CASE("openswarm recap: branches hold the messages that the original finds") {
    const auto cases = golden("branch");
    CHECK(cases.size() == 2);
    for (const Json& item : cases) {
        Json document;
        document["messages"] = item.at("messages");
        document["branches"] = item.at("branches");
        document["active_branch_id"] = item.at("active");
        const coppice::Session session(document);
        const coppice::SessionHistory history = session.history();
        Json ids = Json::array();
        for (const coppice::SessionMessage& message : history.messages) {
            ids.push_back(std::string(message.id));
        }
        CHECK(ids == item.at("ids"));
    }
}

TEST_CASE("openswarm recap: the estimate is the original's") {
    const auto cases = golden("estimate");
    CHECK(cases.size() == 3);
    for (const Json& item : cases) {
        CHECK(coppice::openswarm_estimate(
                  item.at("chars").get<std::size_t>(), item.at("overhead").get<std::size_t>(),
                  item.at("cutoff").get<bool>()) == item.at("tokens").get<std::size_t>());
    }
}
