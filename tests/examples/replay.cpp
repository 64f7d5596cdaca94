// SPDX-License-Identifier: MIT
// `coppice replay`: what its figures mean, and the program's contract.
#include "../../examples/cli/replay/baselines.hpp"
#include "../../examples/cli/replay/cache_models.hpp"
#include "../../examples/cli/replay/figures.hpp"
#include "../../examples/cli/replay/library.hpp"
#include "../../examples/cli/replay/lines.hpp"
#include "../../examples/cli/replay/run.hpp"
#include "../../examples/cli/replay/session.hpp"
#include "support/everything.hpp"
#include "support/folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/wait.h>

namespace {

using coppice_replay::Block;
using coppice_replay::CacheModel;
using coppice_replay::CacheModels;
using coppice_replay::Json;
using coppice_replay::NamedPolicy;
using coppice_replay::PolicyRun;
using coppice_replay::Prompt;
using coppice_replay::RequestFigures;
using coppice_replay::Session;
using coppice_replay::SessionRun;
using coppice_replay::Totals;
// what `sliding-5` is
using KeepFive = coppice::Pipeline<coppice::KeepRecent<5, coppice::Size{1}, coppice::share_window, true>>;

struct Sized {
    std::uint64_t id;
    std::size_t tokens;
};

// Each block is a message of its own; the first one is the frame.
Prompt prompt(const std::vector<Sized>& blocks) {
    std::vector<Block> out;
    for (const Sized& block : blocks) { out.push_back({block.id, block.tokens, true}); }
    return Prompt(out);
}

struct Hits {
    std::size_t ideal;
    std::size_t anthropic;
    std::size_t openai;
    std::size_t deepseek;
    std::size_t suggested;

    friend bool operator==(const Hits&, const Hits&) = default;
};

Hits serve(CacheModels& models, const Prompt& sent) {
    const CacheModels::Served served = models.serve(sent);
    models.exchange_previous(sent);
    return {served.hits[0], served.hits[1], served.hits[2], served.hits[3], served.hits_suggested};
}

const NamedPolicy& baseline(const std::string& name) {
    static const std::vector<NamedPolicy> all = coppice_replay::baselines();
    return *std::find_if(all.begin(), all.end(), [&](const NamedPolicy& policy) { return policy.name == name; });
}

SessionRun replayed(Session& session, std::initializer_list<const char*> names) {
    std::vector<NamedPolicy> policies;
    for (const char* const name : names) { policies.push_back(baseline(name)); }
    return coppice_replay::replay(session, policies, true, [](const auto&, const auto&) {});
}

Json call_message(const std::string& id, const std::string& path) {
    Json block = {{"type", "tool_use"}, {"id", id}, {"name", "look"}, {"input", {{"path", path}}}};
    return {{"role", "assistant"}, {"content", Json::array({block})}};
}

Json result_message(const std::string& id, const std::string& text) {
    Json block = {{"type", "tool_result"}, {"tool_use_id", id}, {"content", text}};
    return {{"role", "user"}, {"content", Json::array({block})}};
}

// Nine calls and results, so ten requests. The eighth call looks where the first one did, and the ninth quotes a line
// of the second result.
Json ten_requests() {
    const std::string quoted(40, 'b');
    Json messages = Json::array({{{"role", "user"}, {"content", "go"}}});
    for (int i = 1; i <= 9; ++i) {
        const std::string id = "t" + std::to_string(i);
        messages.push_back(call_message(id, i == 9 ? quoted : i == 8 ? "f1" : "f" + std::to_string(i)));
        messages.push_back(result_message(
            id, i == 2 ? quoted + "\n" + std::string(3958, 'a') : std::string(4000, 'a')));
    }
    return {{"system", "s"}, {"messages", std::move(messages)}};
}

}  // namespace

TEST_CASE("replay: each preset that there is can be asked for") {
    const std::vector<NamedPolicy> all = coppice_replay::library_policies();
    for (const std::string_view preset : support::preset_names) {
        CAPTURE(preset);
        CHECK(std::any_of(all.begin(), all.end(), [&](const NamedPolicy& policy) { return policy.name == preset; }));
    }
}

TEST_CASE("replay: what each cache serves of a request that goes on") {
    CacheModels models;
    CHECK(serve(models, prompt({{1, 2000}, {2, 500}})) == Hits{0, 0, 0, 0, 0});
    // 2500 are 19 steps of 128 and 39 units of 64
    CHECK(serve(models, prompt({{1, 2000}, {2, 500}, {3, 500}, {4, 500}})) == Hits{2500, 2500, 2432, 2496, 2500});
    CHECK(serve(models, prompt({{1, 2000}, {2, 500}, {3, 500}, {4, 500}})) == Hits{3500, 3500, 3456, 3456, 3500});
}

TEST_CASE("replay: what each cache serves of a request that was rewritten") {
    CacheModels models;
    serve(models, prompt({{1, 2000}, {2, 500}}));
    serve(models, prompt({{1, 2000}, {2, 500}, {3, 500}, {4, 500}, {5, 500}}));
    serve(models, prompt({{1, 2000}, {2, 500}, {3, 500}, {4, 500}, {5, 500}, {6, 500}, {7, 500}}));
    // The fourth block is another one. 20 blocks back from the last message there is the end of the first request.
    CHECK(serve(models, prompt({{1, 2000}, {2, 500}, {3, 500}, {44, 50}, {5, 500}, {6, 500}, {7, 500}})) ==
          Hits{3000, 2500, 2944, 2944, 2500});
    // and back again: those that forget nothing know more than the last request
    CHECK(serve(models, prompt({{1, 2000}, {2, 500}, {3, 500}, {4, 500}, {5, 500}})) ==
          Hits{3000, 4000, 3968, 3968, 4000});
}

TEST_CASE("replay: a breakpoint finds what was written twenty places back and no further") {
    const auto grown_by = [](std::size_t messages) {
        std::vector<Sized> blocks = {{1, 2000}, {2, 500}};
        CacheModels models;
        serve(models, prompt(blocks));
        for (std::size_t i = 0; i < messages; ++i) { blocks.push_back({100 + i, 10}); }
        return serve(models, prompt(blocks));
    };
    // one breakpoint stands a message before the end
    CHECK(grown_by(20).anthropic == 2500);
    CHECK(grown_by(21).anthropic == 2000);
    CHECK(grown_by(21).ideal == 2500);
}

TEST_CASE("replay: a prefix that is too short is not cached") {
    const auto hits_of = [](std::size_t tokens) {
        CacheModels models;
        serve(models, prompt({{1, 500}, {2, tokens - 500}}));
        return serve(models, prompt({{1, 500}, {2, tokens - 500}, {3, 100}}));
    };
    CHECK(hits_of(1023) == Hits{1023, 0, 0, 960, 0});
    CHECK(hits_of(1024) == Hits{1024, 1024, 1024, 1024, 1024});
}

TEST_CASE("replay: a breakpoint before the first change is one more place to look from") {
    std::vector<Sized> blocks = {{1, 2000}, {2, 500}};
    CacheModels models;
    serve(models, prompt(blocks));
    for (std::size_t i = 0; i < 30; ++i) { blocks.push_back({100 + i, 10}); }
    serve(models, prompt(blocks));
    // the first block behind what the first request had
    blocks[2].id = 7;
    CHECK(serve(models, prompt(blocks)) == Hits{2500, 2000, 2432, 2496, 2500});
}

TEST_CASE("replay: a breakpoint where the next rewrite will look is found by it") {
    std::vector<Sized> blocks = {{1, 2000}, {2, 500}};
    for (std::size_t i = 0; i < 30; ++i) { blocks.push_back({100 + i, 10}); }
    CacheModels models;
    const auto hits = [&](std::size_t unchanging) {
        const CacheModels::Served served = models.serve(prompt(blocks), {}, unchanging);
        models.exchange_previous(prompt(blocks));
        return served.hits_suggested;
    };
    CHECK(hits(7) == 0);
    blocks[7].id = 7;
    // 2500 and five of ten
    CHECK(hits(0) == 2550);
    blocks[3].id = 8;
    // there was no breakpoint
    CHECK(hits(0) == 2000);
}

TEST_CASE("replay: breakpoints stand behind the frame and behind the last two messages") {
    const auto at = [](const std::vector<bool>& starts, std::size_t suggested = 0) {
        std::vector<Block> blocks;
        for (const bool start : starts) { blocks.push_back({blocks.size(), 1, start}); }
        return coppice_replay::breakpoints_of(Prompt(blocks), suggested);
    };
    CHECK(at({true}) == std::vector<std::size_t>{1});
    CHECK(at({true, true}) == std::vector<std::size_t>{1, 2});
    CHECK(at({true, true, true, false, true, false, false}) == std::vector<std::size_t>{1, 4, 7});
    CHECK(at({true, true, true, false, true, false, false}, 2) == std::vector<std::size_t>{1, 2, 4, 7});
    CHECK(at({}).empty());
}

TEST_CASE("replay: figures of two sessions are added up") {
    const auto request = [](std::size_t tokens, std::size_t whole, std::size_t hit, bool rewrite) {
        RequestFigures figures;
        figures.tokens = tokens;
        figures.tokens_whole = whole;
        figures.hits = {hit, hit / 2, 0, 0};
        figures.hits_suggested = hit / 4;
        figures.rewrite = rewrite;
        figures.rebilled = rewrite ? 7 : 0;
        return figures;
    };
    PolicyRun first;
    first.policy = "p";
    first.requests = {request(100, 100, 0, false), request(150, 200, 80, true)};
    first.lost = {4, 2, 1, 0.25};
    first.stub_tokens = 5;
    first.removed_tokens = 50;
    PolicyRun second;
    second.requests = {request(300'000, 400'000, 20, true)};
    second.lost = {12, 3, 0, 0.125};
    second.removed_tokens = 50;
    const std::vector<SessionRun> sessions = {{"a", "anthropic", {first}}, {"b", "gemini", {second}}};
    const Totals sum = coppice_replay::totals_of(sessions).at(0);
    CHECK(sum.requests == 3);
    CHECK(sum.mean_reduction == doctest::Approx((0 + 0.25 + 0.25) / 3));
    CHECK(sum.last_reduction == doctest::Approx(0.25));
    CHECK(sum.reduction() == doctest::Approx(1 - 300'250.0 / 400'300));
    CHECK(sum.hit_rate(CacheModel::ideal) == doctest::Approx(100.0 / 300'250));
    CHECK(sum.rewrites == 2);
    CHECK(sum.rebilled == 14);
    CHECK(sum.peak == 300'000);
    CHECK(sum.long_requests == 1);
    // 5 of 16 were asked for again; of these 16, 4 * 0.25 + 12 * 0.125 = 2.5 would have been anyway
    CHECK(sum.recall_rate() == doctest::Approx(5.0 / 16 - 2.5 / 16));
    CHECK(sum.quote_rate() == doctest::Approx(1.0 / 16));
    CHECK(sum.stub_overhead() == doctest::Approx(0.05));
    const coppice::Prices prices{1250, 100};
    CHECK(sum.billed_tokens(prices, CacheModel::ideal) == doctest::Approx(0.1 * 100 + 1.25 * 300'150));
    CHECK(sum.billed_tokens(prices, CacheModel::anthropic) == doctest::Approx(0.1 * 50 + 1.25 * 300'200));
    CHECK(sum.billed_suggested(prices) == doctest::Approx(0.1 * 25 + 1.25 * 300'225));
    CHECK(sum.billed_tokens(prices, {}) == doctest::Approx(1.25 * 300'250));
}

TEST_CASE("replay: every row of prices has its cache model") {
    using coppice_replay::model_of;
    CHECK(model_of("anthropic-fable") == CacheModel::anthropic);
    CHECK(model_of("openai-half") == CacheModel::openai);
    CHECK(model_of("gemini-low") == CacheModel::openai);
    CHECK(model_of("deepseek") == CacheModel::deepseek);
    CHECK(model_of("no-cache") == std::optional<CacheModel>());
}

TEST_CASE("replay: a line counts without its indentation and its number") {
    const std::string line(40, 'x');
    std::vector<std::string> found;
    const auto lines = [&](const std::string& text) {
        found.clear();
        coppice_replay::for_each_distinctive_line(text, [&](std::string_view one) { found.emplace_back(one); });
        return found;
    };
    using Lines = std::vector<std::string>;
    CHECK(lines("  " + line + " \r\n   12\xE2\x86\x92\t" + line + "\n7: " + line) == Lines{line, line, line});
    CHECK(lines(line.substr(1)).empty());
    // forty bytes, but twenty characters
    std::string wide;
    for (int i = 0; i < 20; ++i) { wide += "\xC3\xA9"; }
    CHECK(lines(wide).empty());
    CHECK(lines("2026 " + line) == Lines{"2026 " + line});
}

TEST_CASE("replay: only a line that no other result has is a quote") {
    const std::string own(50, 'o');
    const std::string shared(50, 's');
    const std::string said(50, 'u');
    coppice_replay::Quotes quotes;
    quotes.read_other(said);
    quotes.read_result(0, own + "\n" + said);
    quotes.read_result(1, shared);
    quotes.read_model(5, own);
    quotes.read_model(6, shared + "\n" + said);
    quotes.read_result(2, shared);
    CHECK(quotes.last_quotes(3) == std::vector<std::size_t>{5, coppice::none, coppice::none});
}

TEST_CASE("replay: ten requests without pruning") {
    Session session("ten", ten_requests());
    REQUIRE(session.refusal() == "");
    const SessionRun run = replayed(session, {"none"});
    const PolicyRun& none = run.runs.at(0);
    CHECK(run.dialect == "anthropic");
    REQUIRE(none.requests.size() == 10);
    // In quarters: the frame 9, the user's message 27, a call 86 (the last one 123), a result 4077. Each is rounded up.
    for (std::size_t k = 1; k <= 10; ++k) {
        const RequestFigures& request = none.requests[k - 1];
        const std::size_t tokens = 3 + 7 + (k - 1) * (22 + 1020) + (k == 10 ? 31 - 22 : 0);
        CAPTURE(k);
        CHECK(request.messages == 2 * k - 1);
        CHECK(request.tokens == tokens);
        CHECK(request.tokens_whole == tokens);
        CHECK(!request.rewrite);
        CHECK(request.rebilled == 0);
        const std::size_t previous = k == 1 ? 0 : none.requests[k - 2].tokens;
        CHECK(request.hits[0] == previous);
        // the first request is too short for an entry
        CHECK(request.hits[1] == (k <= 2 ? 0 : previous));
        CHECK(request.hits[2] == (k <= 2 ? 0 : previous / 128 * 128));
        CHECK(request.hits[3] == previous / 64 * 64);
    }
    CHECK(none.lost.cleared == 0);
    // of nine results, the call of the first one is made again
    CHECK(none.lost.base_rate == doctest::Approx(1.0 / 9));
}

TEST_CASE("replay: ten requests of which the newest five results stay") {
    Session session("ten", ten_requests());
    const SessionRun run = replayed(session, {"none", "sliding-5"});
    const PolicyRun& sliding = run.runs.at(1);
    std::vector<std::size_t> stubs;
    for (const coppice_replay::Result& result : session.results()) {
        if (stubs.size() == 4) { break; }
        REQUIRE(result.stub.size() == 1);
        const coppice_replay::KnownEdit& edit = session.edit(result.stub[0]);
        CHECK(edit.before == 4000);
        CHECK(edit.after == coppice::ScriptAwareTokens().weight(edit.replacement));
        stubs.push_back((77 + edit.after + 3) / 4);
    }
    for (std::size_t k = 1; k <= 10; ++k) {
        const RequestFigures& request = sliding.requests.at(k - 1);
        CAPTURE(k);
        // one after the other from the seventh request on, when the sixth result is there
        const std::size_t cleared = k < 7 ? 0 : k - 6;
        std::size_t tokens = run.runs[0].requests[k - 1].tokens;
        for (std::size_t i = 0; i < cleared; ++i) { tokens -= 1020 - stubs[i]; }
        CHECK(request.tokens == tokens);
        CHECK(request.rewrite == (k >= 7));
        if (k < 7) { continue; }
        // what stands before the result that is cleared last
        std::size_t same = 3 + 7 + 22;
        for (std::size_t i = 0; i + 1 < cleared; ++i) { same += stubs[i] + 22; }
        CHECK(request.hits[0] == same);
        CHECK(request.rebilled == sliding.requests[k - 2].tokens - same);
        // the prefix of 32 tokens and some stubs was the end of no message that had a breakpoint
        CHECK(request.hits[1] == 0);
    }
    CHECK(sliding.lost.cleared == 4);
    CHECK(sliding.lost.called_again == 1);
    CHECK(sliding.lost.quoted == 1);
    CHECK(sliding.removed_tokens == 4000);
    CHECK(sliding.growths == 0);
    REQUIRE(sliding.strip.size() == 19);
    CHECK(sliding.strip[2].kind == "result");
    CHECK(sliding.strip[2].tool == "look");
    CHECK(sliding.strip[2].identity == "f1");
    CHECK(sliding.strip[2].tokens == 1020);
    CHECK(sliding.strip[2].left == stubs[0]);
    CHECK(sliding.strip[2].cleared_at == 7);
    CHECK(!sliding.strip[2].replacement.empty());
    CHECK(sliding.strip[10].cleared_at == 0);
}

TEST_CASE("replay: baselines clear when they say") {
    const auto cleared_at = [](const char* name, std::size_t result) {
        Session session("ten", ten_requests());
        const SessionRun run = replayed(session, {name});
        return run.runs.at(0).strip.at(2 * result).cleared_at;
    };
    CHECK(cleared_at("stepped-10", 4) == 10);
    CHECK(cleared_at("stepped-10", 5) == 0);
    // with nine results and the task, ten observations
    CHECK(cleared_at("swe-agent-10", 4) == 10);
    CHECK(cleared_at("swe-agent-10", 5) == 0);
    CHECK(cleared_at("swe-agent-1", 1) == 7);
    // three results have less than 3 * 1000 tokens to take out
    CHECK(cleared_at("reclaim-2k", 1) == 9);
    CHECK(cleared_at("reclaim-2k", 3) == 9);
    CHECK(cleared_at("anthropic", 1) == 0);
    CHECK(cleared_at("opencode", 1) == 0);
}

TEST_CASE("replay: a pipeline of the library is a policy like others") {
    const auto pipeline = [] {
        return std::make_unique<coppice_replay::PipelinePolicy<KeepFive>>(KeepFive());
    };
    Session session("ten", ten_requests());
    const SessionRun run = coppice_replay::replay(session, {baseline("sliding-5"), {"library", "", pipeline}}, true,
                                                  [](const auto&, const auto&) {});
    const PolicyRun& rule = run.runs.at(0);
    const PolicyRun& library = run.runs.at(1);
    for (std::size_t i = 0; i < 10; ++i) {
        CAPTURE(i);
        CHECK(library.requests.at(i).tokens == rule.requests.at(i).tokens);
        CHECK(library.requests.at(i).hits == rule.requests.at(i).hits);
        CHECK(library.requests.at(i).rewrite == rule.requests.at(i).rewrite);
    }
    CHECK(library.lost.quoted == rule.lost.quoted);
    CHECK(library.strip.at(2).replacement == rule.strip.at(2).replacement);
}

TEST_CASE("replay: what edits save is what the pruned body weighs less") {
    Json blocks = ten_requests();
    for (Json& message : blocks["messages"]) {
        if (!message["content"].is_array() || message["content"][0]["type"] != "tool_result") { continue; }
        Json& content = message["content"][0]["content"];
        content = Json::array({{{"type", "text"}, {"text", content}}});
    }
    for (const Json& body : {ten_requests(), blocks}) {
        Session session("body", body);
        const SessionRun run = replayed(session, {"sliding-5"});
        Json pruned = body;
        coppice::prune(pruned, KeepFive());
        const Session fresh("pruned", pruned);
        const auto sent = static_cast<double>(run.runs.at(0).requests.back().tokens);
        CHECK(sent == doctest::Approx(static_cast<double>(fresh.requests().back().tokens)).epsilon(0.001));
    }
}

TEST_CASE("replay: a block that leaves its message is not sent") {
    using DropReasoning = coppice::Pipeline<coppice::StaleReasoning<1>>;
    Json body = ten_requests();
    for (Json& message : body["messages"]) {
        if (message["role"] != "assistant") { continue; }
        const Json thinking = {{"type", "thinking"}, {"thinking", std::string(400, 'a')}, {"signature", "s"}};
        message["content"].insert(message["content"].begin(), thinking);
    }
    body["messages"].push_back({{"role", "assistant"}, {"content", "done"}});
    body["messages"].push_back({{"role", "user"}, {"content", "and now this"}});
    const auto pipeline = [] {
        return std::make_unique<coppice_replay::PipelinePolicy<DropReasoning>>(DropReasoning());
    };
    Session session("body", body);
    const SessionRun run = coppice_replay::replay(session, {{"drop", "", pipeline}}, true,
                                                  [](const auto&, const auto&) {});
    Json pruned = body;
    REQUIRE(coppice::prune(pruned, DropReasoning()).edits.size() == 9);
    const Session fresh("pruned", pruned);
    const RequestFigures& last = run.runs.at(0).requests.back();
    CHECK(last.tokens == fresh.requests().back().tokens);
    CHECK(last.tokens + 9 * 100 < last.tokens_whole);
    CHECK(last.rewrite);
    // reasoning is no evidence
    CHECK(run.runs[0].lost.cleared == 0);
    CHECK(run.runs[0].strip.at(1).kind == "reasoning");
    CHECK(run.runs[0].strip.at(1).left == 0);
}

TEST_CASE("replay: media count a fixed number of tokens") {
    const std::string data(100'000, 'A');
    const Json anthropic = {{"type", "image"}, {"source", {{"type", "base64"}, {"data", data}}}};
    const Json chat = {{"type", "image_url"}, {"image_url", {{"url", "data:image/png;base64," + data}}}};
    const Json gemini = {{"inlineData", {{"mimeType", "image/png"}, {"data", data}}}};
    const Json bedrock = {{"image", {{"format", "png"}, {"source", {{"bytes", data}}}}}};
    for (const Json& image : {anthropic, chat, gemini, bedrock}) {
        CHECK(coppice_replay::weight_of(image) == 1600 * 4);
    }
    CHECK(coppice_replay::weight_of("data:image/png;base64," + data) == 1600 * 4);
    CHECK(coppice_replay::weight_of({{"type", "text"}, {"text", data}}) > 20'000 * 4);
}

TEST_CASE("replay: every dialect can be replayed") {
    const std::string text(4000, 'a');
    const Json chat_call = {{"id", "c"}, {"type", "function"}, {"function", {{"name", "look"}, {"arguments", "{}"}}}};
    const Json chat = {{"messages",
                        Json::array({{{"role", "user"}, {"content", "go"}},
                                     {{"role", "assistant"}, {"tool_calls", Json::array({chat_call})}},
                                     {{"role", "tool"}, {"tool_call_id", "c"}, {"content", text}},
                                     {{"role", "assistant"}, {"content", "done"}}})}};
    const Json responses = {
        {"input", Json::array({{{"role", "user"}, {"content", "go"}},
                               {{"type", "function_call"}, {"call_id", "c"}, {"name", "look"}, {"arguments", "{}"}},
                               {{"type", "function_call_output"}, {"call_id", "c"}, {"output", text}},
                               {{"role", "assistant"}, {"content", "done"}}})}};
    const Json done = Json::array({{{"text", "done"}}});
    const Json gemini_call = {{"functionCall", {{"name", "look"}, {"args", Json::object()}}}};
    const Json gemini_result = {{"functionResponse", {{"name", "look"}, {"response", {{"output", text}}}}}};
    const Json gemini = {{"contents", Json::array({{{"role", "user"}, {"parts", Json::array({{{"text", "go"}}})}},
                                                   {{"role", "model"}, {"parts", Json::array({gemini_call})}},
                                                   {{"role", "user"}, {"parts", Json::array({gemini_result})}},
                                                   {{"role", "model"}, {"parts", done}}})}};
    const Json bedrock_call = {{"toolUse", {{"toolUseId", "c"}, {"name", "look"}, {"input", Json::object()}}}};
    const Json bedrock_result = {
        {"toolResult", {{"toolUseId", "c"}, {"content", Json::array({{{"text", text}}})}}}};
    const Json bedrock = {{"messages", Json::array({{{"role", "user"}, {"content", Json::array({{{"text", "go"}}})}},
                                                    {{"role", "assistant"}, {"content", Json::array({bedrock_call})}},
                                                    {{"role", "user"}, {"content", Json::array({bedrock_result})}},
                                                    {{"role", "assistant"}, {"content", done}}})}};
    for (const Json& body : {chat, responses, gemini, bedrock}) {
        Session session("body", body);
        CAPTURE(coppice::name_of(session.dialect()));
        CHECK(session.refusal() == "");
        // one for each turn of the model, and the last
        REQUIRE(session.requests().size() == 3);
        REQUIRE(session.results().size() == 1);
        CHECK(session.results()[0].call == 0);
        CHECK(session.results()[0].tokens >= 1000);
        REQUIRE(session.results()[0].stub.size() == 1);
        CHECK(session.edit(session.results()[0].stub[0]).before >= 4000);
        CHECK(session.edit(session.results()[0].stub[0]).before < 4100);
    }
}

TEST_CASE("replay: a request in a wrapper is one and a batch is refused") {
    Session wrapped("body", {{"custom_id", "1"}, {"body", ten_requests()}});
    CHECK(wrapped.refusal() == "");
    CHECK(wrapped.requests().size() == 10);
    Session batch("body", {{"requests", Json::array({{{"params", ten_requests()}}, {{"params", ten_requests()}}})}});
    CHECK(batch.refusal() == "a batch of several requests");
    Session bare("body", ten_requests()["messages"]);
    CHECK(bare.requests().size() == 10);
    CHECK(!Session("body", Json::array()).refusal().empty());
    CHECK(!Session("body", {{"messages", Json::array()}, {"system", "s"}}).refusal().empty());
}

#ifdef COPPICE_CLI

namespace {

struct Folder : support::Folder {
    Folder() : support::Folder("coppice-replay") { write("ten.json", ten_requests().dump()); }

    /// Runs the program with this folder as the current one.
    int run(const std::string& words) const {
        const std::string command = "cd '" + path().string() + "' && '" COPPICE_CLI "' " + words + " >out 2>err";
        const int status = std::system(command.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
};

bool contains(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("replay: the program prints every policy and says what kind of figures they are") {
    const Folder folder;
    REQUIRE(folder.run("replay ten.json") == 0);
    const std::string out = folder.read("out");
    CHECK(contains(out, "fixed-trajectory replay"));
    for (const NamedPolicy& policy : coppice_replay::baselines()) { CHECK(contains(out, "\n" + policy.name + " ")); }
    CHECK(contains(out, "\nopenswarm "));
    CHECK(contains(out, "\nstandard "));
    CHECK(folder.read("err").empty());
    std::size_t longest = 0;
    for (std::size_t at = 0; at < out.size();) {
        const std::size_t end = std::min(out.find('\n', at), out.size());
        longest = std::max(longest, end - at);
        at = end + 1;
    }
    CHECK(longest <= 120);
}

TEST_CASE("replay: chosen policies and prices alone are printed") {
    const Folder folder;
    REQUIRE(folder.run("replay --presets sliding-5 --prices deepseek ten.json") == 0);
    const std::string out = folder.read("out");
    CHECK(contains(out, "\nnone "));
    CHECK(contains(out, "\nsliding-5 "));
    CHECK(!contains(out, "\nstandard "));
    CHECK(contains(out, "deepseek"));
    CHECK(!contains(out, "anthropic"));
}

TEST_CASE("replay: the JSON holds what the table is made of") {
    const Folder folder;
    REQUIRE(folder.run("replay --json --presets standard,sliding-5 ten.json ten.json") == 0);
    const Json out = Json::parse(folder.read("out"), nullptr, false);
    REQUIRE(!out.is_discarded());
    CHECK(out["kind"] == "fixed-trajectory replay");
    REQUIRE(out["totals"].size() == 3);
    CHECK(out["totals"][0]["policy"] == "none");
    CHECK(out["totals"][0]["requests"] == 20);
    CHECK(out["totals"][0]["billed"].size() == 11);
    CHECK(out["totals"][2]["policy"] == "sliding-5");
    CHECK(out["totals"][2]["rewrites"] == 8);
    CHECK(out["totals"][2]["lost"]["called_again"] == 2);
    REQUIRE(out["sessions"].size() == 2);
    const Json& session = out["sessions"][0];
    CHECK(session["session"] == "ten.json");
    CHECK(session["entries"].size() == 19);
    REQUIRE(session["runs"].size() == 3);
    CHECK(session["runs"][2]["requests"].size() == 10);
    CHECK(session["runs"][2]["requests"][0].size() == out["request_columns"].size());
    CHECK(session["runs"][2]["changes"].size() == 4);
    CHECK(session["runs"][2]["changes"][0]["entry"] == 2);
}

TEST_CASE("replay: a page is written beside the table") {
    const Folder folder;
    REQUIRE(folder.run("replay --presets sliding-5 --html page.html ten.json") == 0);
    CHECK(contains(folder.read("page.html"), "</html>"));
    CHECK(contains(folder.read("page.html"), "ten.json"));
    CHECK(contains(folder.read("out"), "sliding-5"));
    // before any session is replayed
    CHECK(folder.run("replay --presets none --html nowhere/page.html ten.json ten.json") == 1);
    CHECK(folder.read("out").empty());
    CHECK(folder.run("replay --presets none --html unused.html no.json") == 1);
    CHECK(!std::filesystem::exists(folder.path() / "unused.html"));
}

TEST_CASE("replay: the page and figures do not meet on standard output") {
    const Folder folder;
    REQUIRE(folder.run("replay --presets sliding-5 --html - ten.json") == 0);
    const std::string out = folder.read("out");
    CHECK(out.substr(0, 15) == "<!DOCTYPE html>");
    CHECK(out.substr(out.size() - 8) == "</html>\n");
    CHECK(folder.run("replay --presets sliding-5 --json --html - ten.json") == 2);
    CHECK(folder.read("out").empty());
}

TEST_CASE("replay: session logs are sessions too") {
    const Folder folder;
    std::string log;
    Json parent = nullptr;
    const Json body = ten_requests();
    for (const Json& message : body["messages"]) {
        const std::string id = std::to_string(log.size());
        const Json line = {
            {"type", message["role"]}, {"uuid", id}, {"parentUuid", parent}, {"sessionId", "s"}, {"message", message}};
        log += line.dump() + "\n";
        parent = id;
    }
    folder.write("log.jsonl", log);
    REQUIRE(folder.run("replay --json --presets none log.jsonl") == 0);
    const Json out = Json::parse(folder.read("out"), nullptr, false);
    REQUIRE(!out.is_discarded());
    REQUIRE(out["sessions"].size() == 1);
    CHECK(out["totals"][0]["requests"] == 10);
}

TEST_CASE("replay: a body that cannot be read is left out with a word") {
    const Folder folder;
    folder.write("broken.json", "{\"messages\":");
    folder.write("deep.json", std::string(200'000, '['));
    folder.write("invalid.json", "{\"system\":\"s\",\"messages\":[{\"role\":\"user\",\"content\":\"\xFF\"}]}");
    REQUIRE(folder.run("replay --presets none broken.json deep.json invalid.json ten.json") == 0);
    CHECK(contains(folder.read("err"), "broken.json is left out: not valid JSON"));
    CHECK(contains(folder.read("err"), "deep.json is left out: nested too deeply"));
    CHECK(contains(folder.read("out"), " sessions, "));
    CHECK(folder.run("replay broken.json") == 0);
    CHECK(folder.read("out").empty());
    CHECK(contains(folder.read("err"), "no session to replay"));
    CHECK(folder.run("replay --json broken.json") == 0);
    CHECK(Json::parse(folder.read("out"), nullptr, false)["sessions"].empty());
}

TEST_CASE("replay: a file that cannot be read is exit code 1") {
    const Folder folder;
    CHECK(folder.run("replay ten.json nowhere.json") == 1);
    CHECK(folder.read("out").empty());
    CHECK(contains(folder.read("err"), "cannot read 'nowhere.json'"));
}

TEST_CASE("replay: wrong words are exit code 2") {
    const Folder folder;
    CHECK(folder.run("replay") == 2);
    CHECK(folder.run("replay --presets none,nothing ten.json") == 2);
    CHECK(contains(folder.read("err"), "sliding-5"));
    CHECK(folder.run("replay --presets= ten.json") == 2);
    CHECK(folder.run("replay --prices cheap ten.json") == 2);
    CHECK(contains(folder.read("err"), "deepseek-low"));
    CHECK(folder.run("replay --json=1 ten.json") == 2);
    CHECK(folder.run("replay --preset standard ten.json") == 2);
    CHECK(folder.run("prune --json ten.json") == 2);
    CHECK(folder.run("replay --html") == 2);
}

#endif  // COPPICE_CLI
