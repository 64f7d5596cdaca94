// SPDX-License-Identifier: MIT
// The page of `coppice replay --html`: what goes in comes out of its data again, and is never more than text.

#include "../../examples/cli/replay/html.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice_replay::cache_model_count;
using coppice_replay::html_page;
using coppice_replay::PolicyRun;
using coppice_replay::RequestFigures;
using coppice_replay::SessionRun;
using coppice_replay::StripEntry;
using Json = nlohmann::json;
using Column = std::vector<std::int64_t>;

constexpr std::string_view cut_sign = "\xE2\x80\xA6";
constexpr std::string_view nothing_to_show = "There is nothing to show";

std::string embedded(const std::string& html) {
    const std::string opening = "<script type=\"application/json\" id=\"data\">";
    const std::size_t begin = html.find(opening);
    REQUIRE(begin != std::string::npos);
    const std::size_t end = html.find("</script>", begin);
    REQUIRE(end != std::string::npos);
    return html.substr(begin + opening.size(), end - begin - opening.size());
}

Json data_of(const std::string& html) {
    Json data = Json::parse(embedded(html), nullptr, false);
    REQUIRE(!data.is_discarded());
    return data;
}

std::size_t times(std::string_view text, std::string_view word) {
    std::size_t count = 0;
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) { ++count; }
    return count;
}

// --- reading the data, by code that shares nothing with what wrote it

Column column(const Json& data, const Json& number) {
    Column out;
    for (const Json& step : data["columns"].at(number.get<std::size_t>())) {
        if (step.is_string()) {
            out.insert(out.end(), std::stoul(step.get<std::string>()), 0);
        } else {
            out.push_back(step.get<std::int64_t>());
        }
    }
    return out;
}

Column summed(Column steps) {
    for (std::size_t i = 1; i < steps.size(); ++i) { steps[i] += steps[i - 1]; }
    return steps;
}

std::vector<std::string> strings(const Json& data, const Json& number) {
    std::vector<std::string> out;
    for (const std::int64_t text : column(data, number)) {
        out.push_back(data["strings"].at(static_cast<std::size_t>(text)).get<std::string>());
    }
    return out;
}

template <typename Item, typename Value>
Column numbers(const std::vector<Item>& items, Value value) {
    Column out;
    for (const Item& item : items) { out.push_back(static_cast<std::int64_t>(value(item))); }
    return out;
}

template <typename Value>
std::vector<std::string> texts(const std::vector<StripEntry>& items, Value value) {
    std::vector<std::string> out;
    for (const StripEntry& item : items) { out.push_back(value(item)); }
    return out;
}

void check_requests(const Json& data, const Json& read, const std::vector<RequestFigures>& requests) {
    const auto figures = [&](auto value) { return numbers(requests, value); };
    CHECK((summed(column(data, read["messages"])) == figures([](const auto& r) { return r.messages; })));
    CHECK((summed(column(data, read["tokens"])) == figures([](const auto& r) { return r.tokens; })));
    CHECK((summed(column(data, read["whole"])) == figures([](const auto& r) { return r.tokens_whole; })));
    CHECK((column(data, read["rebilled"]) == figures([](const auto& r) { return r.rebilled; })));

    Column rewritten(requests.size(), 0);
    for (const std::int64_t at : column(data, read["rewrites"])) { rewritten.at(static_cast<std::size_t>(at)) = 1; }
    CHECK((rewritten == figures([](const auto& r) { return r.rewrite; })));

    REQUIRE(read["hits"].size() == cache_model_count + 1);
    REQUIRE(data["models"].size() == cache_model_count + 1);
    for (std::size_t model = 0; model <= cache_model_count; ++model) {
        Column hits = column(data, read["hits"][model]);
        REQUIRE(hits.size() == requests.size());
        for (std::size_t i = 1; i < hits.size(); ++i) { hits[i] += static_cast<std::int64_t>(requests[i - 1].tokens); }
        CHECK((hits == figures([model](const RequestFigures& r) {
                   return model < cache_model_count ? r.hits[model] : r.hits_suggested;
               })));
    }
}

void check_strip(const Json& data, const Json& read, const std::vector<StripEntry>& strip) {
    REQUIRE(read.is_object());
    const auto figures = [&](auto value) { return numbers(strip, value); };
    const auto words = [&](auto value) { return texts(strip, value); };
    CHECK((strings(data, read["kind"]) == words([](const auto& e) { return e.kind; })));
    CHECK((strings(data, read["tool"]) == words([](const auto& e) { return e.tool; })));
    CHECK((strings(data, read["identity"]) == words([](const auto& e) { return e.identity; })));
    CHECK((strings(data, read["replacement"]) == words([](const auto& e) { return e.replacement; })));
    CHECK((strings(data, read["beginning"]) == words([](const auto& e) { return e.beginning; })));
    CHECK((summed(column(data, read["message"])) == figures([](const auto& e) { return e.message; })));
    CHECK((column(data, read["cleared_at"]) == figures([](const auto& e) { return e.cleared_at; })));
    CHECK((column(data, read["tokens"]) == figures([](const auto& e) { return e.tokens; })));
    Column left = column(data, read["tokens"]);
    const Column saved = column(data, read["saved"]);
    REQUIRE(left.size() == saved.size());
    for (std::size_t i = 0; i < left.size(); ++i) { left[i] -= saved[i]; }
    CHECK((left == figures([](const auto& e) { return e.left; })));
}

void check_session(const Json& data, const Json& read, const SessionRun& session) {
    const auto text = [&](const Json& number) { return data["strings"].at(number.get<std::size_t>()); };
    CHECK(text(read["session"]) == session.session);
    CHECK(text(read["dialect"]) == session.dialect);
    REQUIRE(read["runs"].size() == session.runs.size());
    for (std::size_t i = 0; i < session.runs.size(); ++i) {
        const Json& one = read["runs"][i];
        const PolicyRun& run = session.runs[i];
        CHECK(text(one["policy"]) == run.policy);
        CHECK(one["evidence"]["cleared"] == run.lost.cleared);
        CHECK(one["evidence"]["called_again"] == run.lost.called_again);
        CHECK(one["evidence"]["quoted"] == run.lost.quoted);
        CHECK(one["evidence"]["base_rate"] == run.lost.base_rate);
        CHECK(one["stub_tokens"] == run.stub_tokens);
        CHECK(one["removed_tokens"] == run.removed_tokens);
        CHECK(one["growths"] == run.growths);
        check_requests(data, one, run.requests);
        check_strip(data, one["strip"], run.strip);
    }
}

// --- runs to show

StripEntry entry(std::string kind, std::size_t tokens, std::string beginning) {
    StripEntry out;
    out.kind = std::move(kind);
    out.tokens = tokens;
    out.left = tokens;
    out.beginning = std::move(beginning);
    return out;
}

/// Lengths, hits and rewrites in no order, with stretches where nothing changes.
PolicyRun some_run(std::mt19937& random, std::string policy, std::size_t requests) {
    const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random()) % end; };
    PolicyRun run;
    run.policy = std::move(policy);
    for (std::size_t i = 0; i < requests; ++i) {
        RequestFigures figures = run.requests.empty() || below(3) > 0 ? RequestFigures() : run.requests.back();
        if (below(2) == 0) {
            figures.messages = below(1200);
            figures.tokens = below(200'000);
            figures.tokens_whole = below(2'000'000);
            for (std::size_t& hit : figures.hits) { hit = below(200'000); }
            figures.hits_suggested = below(200'000);
            figures.rewrite = below(2) == 0;
            figures.rebilled = figures.rewrite ? below(90'000) : 0;
        }
        run.requests.push_back(figures);
    }
    run.lost = {below(300), below(30), below(30), 0.125};
    run.stub_tokens = below(9000);
    run.removed_tokens = below(90'000);
    run.growths = below(2);
    for (std::size_t i = 0; i < 2 * requests; ++i) {
        StripEntry piece = entry(i % 2 == 0 ? "call" : "result", below(5000), "line " + std::to_string(below(9)));
        piece.message = i + below(3);
        piece.tool = "Read";
        piece.identity = "/src/" + std::to_string(i) + ".cpp";
        if (below(3) == 0) {
            piece.left = below(6000);  // also more than there was
            piece.replacement = "[cleared: " + std::to_string(i) + "]";
            piece.cleared_at = 1 + below(requests);
        }
        run.strip.push_back(piece);
    }
    return run;
}

std::vector<SessionRun> some_sessions() {
    std::mt19937 random(7);
    std::vector<SessionRun> out;
    for (std::size_t i = 0; i < 3; ++i) {
        SessionRun session;
        session.session = "session-" + std::to_string(i) + ".json";
        session.dialect = i == 0 ? "anthropic" : "openai-chat";
        for (const char* policy : {"none", "standard", "sliding keep 5"}) {
            session.runs.push_back(some_run(random, policy, 4 + 23 * i));
        }
        out.push_back(std::move(session));
    }
    return out;
}

SessionRun one_run(PolicyRun run) {
    SessionRun session;
    session.session = "one";
    session.runs.push_back(std::move(run));
    return session;
}

}  // namespace

TEST_CASE("replay_html: every figure and text comes back from the page's data") {
    const std::vector<SessionRun> sessions = some_sessions();
    const Json data = data_of(html_page(sessions, "three sessions"));
    CHECK(data["title"] == "three sessions");
    CHECK(data["strings"].at(0) == "");
    CHECK(data["limits"]["strips"] == 9);
    CHECK(data["limits"]["strips_left_out"] == 0);
    REQUIRE(data["sessions"].size() == sessions.size());
    for (std::size_t i = 0; i < sessions.size(); ++i) { check_session(data, data["sessions"][i], sessions[i]); }
}

TEST_CASE("replay_html: the page offers every cache model and every row of prices") {
    const Json data = data_of(html_page(some_sessions(), ""));
    for (std::size_t i = 0; i < cache_model_count; ++i) {
        CHECK(data["models"][i] == name_of(static_cast<coppice_replay::CacheModel>(i)));
    }
    REQUIRE(data["prices"].size() == coppice::prices::rows.size());
    for (std::size_t i = 0; i < coppice::prices::rows.size(); ++i) {
        CHECK(data["prices"][i]["name"] == coppice::prices::rows[i].name);
        CHECK(data["prices"][i]["write"] == coppice::prices::rows[i].prices.write);
        CHECK(data["prices"][i]["read"] == coppice::prices::rows[i].prices.read);
    }
}

TEST_CASE("replay_html: names are in the page, and that no model ran") {
    const std::vector<SessionRun> sessions = some_sessions();
    const std::string html = html_page(sessions, "all of them");
    for (const SessionRun& session : sessions) {
        CHECK(times(html, "\"" + session.session + "\"") == 1);
        for (const PolicyRun& run : session.runs) { CHECK(times(html, "\"" + run.policy + "\"") == 1); }
    }
    CHECK(times(html, "\"all of them\"") == 1);
    CHECK(times(html, "Fixed-trajectory replay: no model ran.") >= 4);
    CHECK(times(html, nothing_to_show) == 0);
}

TEST_CASE("replay_html: hostile text stays text") {
    const std::string text = std::string("</script><script>alert(1)</script><!-- <script> ]]> \"'`&lt;\\ ") +
                             "\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAE\x1B[31m\r\n\t" + std::string(1, '\0') + "\x7F";
    const std::string broken = "\xFF<\xC3\xED\xA0\x80\xF0\x9F";
    PolicyRun run;
    run.policy = text;
    StripEntry piece = entry(text + "1", 5, text + "2");
    piece.tool = text + "3";
    piece.identity = text + "4";
    piece.replacement = broken;
    run.strip.push_back(piece);
    SessionRun session = one_run(run);
    session.session = text + "5";
    session.dialect = text + "6";

    const std::string html = html_page({session}, text);
    const std::string plain = html_page({one_run(PolicyRun())}, "");
    for (const std::string_view tag : {"<script", "</script", "<!--", "<style", "</style", "<title", "<body"}) {
        CHECK(times(html, tag) == times(plain, tag));
    }
    CHECK(times(html, "</script") == 2);
    CHECK(times(html, "<!--") == 0);

    const std::string written = embedded(html);
    CHECK(std::all_of(written.begin(), written.end(), [](char c) {
        return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '<');
    }));
    const Json data = data_of(html);
    const auto holds = [&](const std::string& wanted) {
        return std::count(data["strings"].begin(), data["strings"].end(), Json(wanted)) == 1;
    };
    CHECK((data["title"] == text));
    CHECK(holds(text));
    for (const char* number : {"1", "2", "3", "4", "5", "6"}) { CHECK(holds(text + number)); }
    const Json read = strings(data, data["sessions"][0]["runs"][0]["strip"]["replacement"]);
    CHECK(read[0].get<std::string>().find("\xEF\xBF\xBD<\xEF\xBF\xBD") == 0);
}

TEST_CASE("replay_html: the page asks for nothing and makes no markup out of text") {
    const std::string html = html_page(some_sessions(), "quiet");
    for (const std::string_view word : {"http://", "https://", "src=", "href=", "url(", "@import", "import(", "fetch(",
                                        "XMLHttpRequest", "innerHTML", "outerHTML", "insertAdjacent", "document.write",
                                        "eval(", "new Function", "DOMParser"}) {
        CAPTURE(word);
        CHECK(times(html, word) == 0);
    }
    CHECK(times(html, "default-src 'none'") == 1);
}

TEST_CASE("replay_html: nothing replayed is said") {
    const std::string html = html_page({}, "empty");
    CHECK(times(html, nothing_to_show) == 1);
    CHECK(data_of(html)["sessions"].empty());

    const std::string bare = html_page({SessionRun(), one_run(PolicyRun())}, "bare");
    CHECK(times(bare, nothing_to_show) == 0);
    const Json data = data_of(bare);
    CHECK(data["sessions"][0]["runs"].empty());
    CHECK(column(data, data["sessions"][1]["runs"][0]["tokens"]).empty());
    CHECK(data["limits"]["strips"] == 0);
}

TEST_CASE("replay_html: a rate that is no number is null") {
    PolicyRun run;
    run.lost.base_rate = std::numeric_limits<double>::quiet_NaN();
    const Json data = data_of(html_page({one_run(run)}, ""));
    CHECK(data["sessions"][0]["runs"][0]["evidence"]["base_rate"].is_null());
}

TEST_CASE("replay_html: texts are cut between code points") {
    using coppice_replay::page::shortened;
    CHECK(shortened("abc", 3) == "abc");
    CHECK(shortened("abcd", 3) == "abc" + std::string(cut_sign));
    CHECK(shortened("ab\xC3\xA4z", 3) == "ab" + std::string(cut_sign));
    CHECK(shortened("ab\xC3\xA4z", 4) == "ab\xC3\xA4" + std::string(cut_sign));
    CHECK(shortened("\xF0\x9F\x98\x80z", 3) == cut_sign);
    CHECK(shortened("\x80\x80\x80\x80\x80\x80", 5).size() >= 2 + cut_sign.size());
    CHECK(shortened("abc", 0) == cut_sign);
    CHECK(shortened("", 0) == "");
}

TEST_CASE("replay_html: more text than a page holds is cut, and the page says how far") {
    PolicyRun run;
    for (std::size_t i = 0; i < 60'000; ++i) {
        run.strip.push_back(entry("result", 9, std::to_string(i) + std::string(500, 'x')));
    }
    const std::string html = html_page({one_run(run)}, "much");
    CHECK(html.size() < coppice_replay::page::data_budget + 200'000);
    const Json data = data_of(html);
    const std::size_t most = data["limits"]["beginning"].get<std::size_t>();
    CHECK(most < 400);
    CHECK(most > 0);
    const Json& strip = data["sessions"][0]["runs"][0]["strip"];
    CHECK(column(data, strip["tokens"]).size() == 60'000);
    CHECK(strings(data, strip["beginning"])[7] == "7" + std::string(most - 1, 'x') + std::string(cut_sign));
}

TEST_CASE("replay_html: strips that do not fit are left out, the first policies of all sessions last") {
    std::vector<SessionRun> sessions(2);
    for (SessionRun& session : sessions) {
        session.runs.resize(3);
        for (PolicyRun& run : session.runs) { run.strip.assign(4, entry("call", 1, "")); }
    }
    coppice_replay::page::Data writer({10, 10, 13});
    const Json data = Json::parse(writer.text(sessions, "", std::string::npos));
    CHECK(data["limits"]["strips"] == 6);
    CHECK(data["limits"]["strips_left_out"] == 3);
    const auto kept = [&](std::size_t session, std::size_t run) {
        return data["sessions"][session]["runs"][run]["strip"].is_object();
    };
    CHECK(kept(0, 0));
    CHECK(kept(1, 0));
    CHECK(kept(0, 1));
    CHECK(!kept(1, 1));
    CHECK(!kept(0, 2));
    CHECK(!kept(1, 2));

    coppice_replay::page::Data small({10, 10, 13});
    CHECK(small.text(sessions, "", 40).empty());
}
