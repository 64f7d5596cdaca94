// SPDX-License-Identifier: MIT
#include <coppice/wire.hpp>

#include <coppice/coppice.hpp>

#include "../examples/session_generator.hpp"
#include "support/allocations.hpp"
#include "support/everything.hpp"
#include "support/hints.hpp"
#include "support/json_spans.hpp"
#include "support/pruned.hpp"
#include "support/respell.hpp"
#include "support/wire_laws.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace {

using coppice::PrunedBody;
using coppice::Report;
using coppice::Size;
using coppice::WireWorkspace;
using coppice_examples::make_session;
using coppice_examples::SessionShape;
using nlohmann::ordered_json;
using support::check_spans;
using support::pruned_text;
using support::PrunedText;

// All big results that were read go, and all big inputs.
constexpr coppice::Pipeline<coppice::KeepRecent<0, Size{2000}, 0>> keep_none;
constexpr coppice::Pipeline<coppice::KeepRecent<0, Size{2000}, 0>, coppice::BulkyInputClear<0, Size{2000}>>
    clear_all;
// Small enough for bodies that are broken byte by byte.
constexpr coppice::Pipeline<coppice::KeepRecent<0, Size{60}, 0>> keep_none_of_sixty;

const std::string big(5000, 'x');

std::string in_quotes(std::string_view inside) { return '"' + std::string(inside) + '"'; }

std::string replaced(std::string text, std::string_view what, std::string_view with) {
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    return text.replace(at, what.size(), with);
}

std::string use_block(const std::string& id, const std::string& input = "{}") {
    return R"({"type":"tool_use","id":")" + id + R"(","name":"Read","input":)" + input + "}";
}
std::string result_block(const std::string& id, const std::string& content) {
    return R"({"type":"tool_result","tool_use_id":")" + id + R"(","content":)" + content + "}";
}
std::string assistant(const std::string& blocks) {
    return R"({"role":"assistant","content":[)" + blocks + "]}";
}
std::string user(const std::string& blocks) { return R"({"role":"user","content":[)" + blocks + "]}"; }

std::string answered(const std::string& id, const std::string& content, const std::string& input = "{}") {
    return assistant(use_block(id, input)) + "," + user(result_block(id, content)) + ",";
}

const std::string done = R"({"role":"assistant","content":"done"})";

// `pairs` end with a comma.
std::string messages_of(const std::string& pairs) { return "[" + pairs + done + "]"; }
std::string body_of(const std::string& pairs, const std::string& rest = "") {
    return R"({"model":"m","system":"s","messages":)" + messages_of(pairs) + rest + "}";
}

std::string stub(std::size_t characters = 5000) {
    return in_quotes("[tool result cleared: " + std::to_string(characters) + " characters, ok; Read]");
}

// What comes out of a body is the body with other texts in some places: no DOM is asked.
template <class Pipeline>
Report check_becomes(const std::string& in, const std::string& expected, const Pipeline& pipeline) {
    PrunedText pruned = pruned_text(in, pipeline);
    const bool as_expected = pruned.out == expected;
    CHECK(as_expected);
    CHECK(pruned.report.engaged);
    return pruned.report;
}

// The same for bodies that are costly: they go through one call.
template <class Pipeline>
Report check_big_becomes(const std::string& in, const std::string& expected, const Pipeline& pipeline) {
    WireWorkspace workspace;
    const bool as_expected = coppice::prune(std::string_view(in), pipeline, workspace) == expected;
    CHECK(as_expected);
    CHECK(workspace.report.saved_bytes == in.size() - expected.size());
    return workspace.report;
}

// Where it is not known what becomes of a costly body: only the spans of the edits change.
template <class Pipeline>
Report check_big(const std::string& in, const Pipeline& pipeline) {
    WireWorkspace workspace;
    const std::string_view out = coppice::prune(std::string_view(in), pipeline, workspace);
    CHECK(check_spans(in, out, workspace.report) == in.size() - out.size());
    CHECK(workspace.report.saved_bytes == in.size() - out.size());
    return workspace.report;
}

bool is_refused(const Report& report) { return report.why.substr(0, 14) == "not valid JSON"; }

std::string nested(std::string_view open, std::string_view close, std::size_t depth) {
    std::string out;
    for (std::size_t i = 0; i < depth; ++i) { out += open; }
    out += "1";
    for (std::size_t i = 0; i < depth; ++i) { out += close; }
    return out;
}

std::string repeated(std::string_view unit, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) { out += unit; }
    return out;
}

// A bare session, at most `results` of them, as compact JSON.
std::string generated(std::uint64_t seed, std::size_t results) {
    SessionShape shape;
    shape.seed = seed;
    shape.results = results;
    shape.image_share = 0.05;
    shape.duplicate_share = 0.1;
    return make_session(shape).dump();
}

}  // namespace

// ---- what comes back ----

TEST_CASE("wire: where nothing changes the answer is the input itself and nothing is copied") {
    for (const std::string& body : {body_of(answered("a", in_quotes("short"))), std::string("{}"),
                                    std::string("[]"), std::string("no JSON"), std::string()}) {
        const PrunedBody pruned = coppice::prune(std::string_view(body), keep_none);
        CHECK_FALSE(pruned.report.engaged);
        CHECK_FALSE(pruned.report.why.empty());
        CHECK(pruned.bytes(body).data() == body.data());
        CHECK(pruned.bytes(body).size() == body.size());
        CHECK(pruned.rewritten.capacity() == std::string().capacity());
        WireWorkspace workspace;
        const std::string_view out = coppice::prune(std::string_view(body), keep_none, workspace);
        CHECK(out.data() == body.data());
        CHECK(out.size() == body.size());
        const auto pieces = coppice::prune_pieces(std::string_view(body), keep_none, workspace);
        REQUIRE(pieces.size() == (body.empty() ? 0 : 1));
        if (!body.empty()) { CHECK(pieces[0].data() == body.data()); }
    }
}

TEST_CASE("wire: pieces are pieces of the input and of the workspace") {
    const std::string body = body_of(answered("a", in_quotes(big)) + answered("b", in_quotes("keep")) +
                                     answered("c", in_quotes(big)));
    WireWorkspace workspace;
    const auto pieces = coppice::prune_pieces(std::string_view(body), keep_none, workspace);
    REQUIRE(pieces.size() == 5);
    const auto is_inside = [&](std::string_view piece) {
        return piece.data() >= body.data() && piece.data() + piece.size() <= body.data() + body.size();
    };
    for (std::size_t i = 0; i < pieces.size(); ++i) { CHECK(is_inside(pieces[i]) == (i % 2 == 0)); }
    CHECK(pieces[1] == stub());
    CHECK(pieces[3] == stub());
    CHECK(pieces[0].data() == body.data());
    CHECK(pieces[4].data() + pieces[4].size() == body.data() + body.size());
}

TEST_CASE("wire: what a workspace answered stays valid until it is used again") {
    const std::string body = body_of(answered("a", in_quotes(big)) + answered("c", in_quotes(big)));
    const std::string expected = body_of(answered("a", stub()) + answered("c", stub()));
    WireWorkspace workspace;
    const std::string_view out = coppice::prune(std::string_view(body), keep_none, workspace);
    WireWorkspace other;
    const auto pieces = coppice::prune_pieces(std::string_view(body), keep_none, other);
    const PrunedBody third = coppice::prune(std::string_view(body), keep_none);
    CHECK((out == expected));
    CHECK((third.rewritten == expected));
    std::string joined;
    for (const std::string_view piece : pieces) { joined += piece; }
    CHECK((joined == expected));
}

TEST_CASE("wire: an answer that was moved is the same answer") {
    const std::string body = body_of(answered("a", in_quotes(big)));
    PrunedBody first = coppice::prune(std::string_view(body), keep_none);
    const PrunedBody second = std::move(first);
    CHECK((second.bytes(body) == body_of(answered("a", stub()))));
}

TEST_CASE("wire: in the steady state nothing is allocated") {
    std::vector<std::string> bodies;
    const auto openswarm = coppice::presets::openswarm();
    const auto openswarm_always = coppice::presets::openswarm(coppice::EveryRequest<>{});
    const auto standard = coppice::presets::standard();
    const auto standard_always = coppice::presets::standard(coppice::EveryRequest<>{});
    for (const std::size_t results : {150U, 5U, 400U, 40U}) {
        bodies.push_back(generated(results, results));
        bodies.push_back(pruned_text(bodies.back(), standard).out);
        bodies.push_back(pruned_text(bodies.back(), openswarm).out);
    }
    bodies.push_back(support::respelled(generated(3, 60), 3));
    bodies.push_back(body_of(answered("a", in_quotes("short"))));
    bodies.push_back("[1, 2");
    bodies.push_back(R"({"input":[]})");
    WireWorkspace workspace;
    std::array<std::size_t, 4> rounds{};
    std::size_t engaged = 0;
    for (std::size_t& round : rounds) {
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            CAPTURE(i);
            const std::string_view body = bodies[i];
            const std::size_t before = support::heap.requests;
            const auto both_forms = [&](const auto& pipeline) {
                coppice::prune(body, pipeline, workspace);
                engaged += workspace.report.engaged;
                coppice::prune_pieces(body, pipeline, workspace);
            };
            both_forms(openswarm);
            both_forms(openswarm_always);
            both_forms(standard);
            both_forms(standard_always);
            const std::size_t requests = support::heap.requests - before;
            if (&round != &rounds[0]) { CHECK(requests == 0); }
            round += requests;
        }
    }
    CHECK(engaged > 20);
    CHECK(rounds[0] > 0);
    CHECK(rounds[1] == 0);
    CHECK(rounds[3] == 0);
}

TEST_CASE("wire: two threads may prune one text with one pipeline") {
    const std::string body = generated(2, 120);
    const auto pipeline = coppice::presets::openswarm(coppice::EveryRequest<>{});
    const std::string expected = pruned_text(body, pipeline).out;
    std::array<std::size_t, 2> right{};
    std::vector<std::thread> threads;
    for (std::size_t& count : right) {
        threads.emplace_back([&] {
            WireWorkspace workspace;
            for (int i = 0; i < 5; ++i) {
                count += coppice::prune(std::string_view(body), pipeline, workspace) == expected;
            }
        });
    }
    for (std::thread& thread : threads) { thread.join(); }
    CHECK(right[0] == 5);
    CHECK(right[1] == 5);
}

// ---- spellings of one value ----

namespace {

// In whatever spelling, what comes out means what the DOM makes of it.
template <class Pipeline>
std::size_t check_respelled(const std::string& body, const Pipeline& pipeline, std::uint64_t seed) {
    ordered_json document = ordered_json::parse(body);
    const Report expected = coppice::prune(document, pipeline);
    const std::string text = support::respelled(body, seed);
    const PrunedText pruned = pruned_text(text, pipeline);
    const bool same_value = ordered_json::parse(pruned.out) == document;
    CHECK(same_value);
    support::check_same_report(pruned.report, expected, false);
    const PrunedText again = pruned_text(support::respelled(document.dump(), seed + 1), pipeline);
    CHECK_FALSE(again.report.engaged);
    return expected.edits.size();
}

}  // namespace

TEST_CASE("wire: every policy does to another spelling what it does to the value") {
    coppice::MemorySpillStore store;
    support::for_each_policy([&](auto policy) {
        if constexpr (requires { policy.store; }) { policy.store = &store; }
        CAPTURE(policy.name);
        std::size_t edits = 0;
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            CAPTURE(seed);
            edits += check_respelled(generated(seed, 20 + seed * 5), coppice::Pipeline{policy}, seed);
        }
        CHECK((edits > 0) != support::needs_hints<decltype(policy)>);
    });
}

TEST_CASE("wire: every preset does to another spelling what it does to the value") {
    support::for_each_preset([&](const char* name, const auto& pipeline) {
        CAPTURE(std::string(name));
        std::size_t edits = 0;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            CAPTURE(seed);
            edits += check_respelled(generated(seed, seed * 24), pipeline, seed);
        }
        CHECK(edits > 0);
    });
}

TEST_CASE("wire: keys may come in any order") {
    const std::string in =
        R"({"messages":[{"content":[{"input":{"b":1,"file_path":"/p"},"name":"Read","id":"a","type":"tool_use"}],)"
        R"("role":"assistant"},{"content":[{"content":"BIG","is_error":true,"tool_use_id":"a",)"
        R"("type":"tool_result"}],"role":"user"},{"content":"done","role":"assistant"}],"system":"s"})";
    const PrunedText pruned = pruned_text(replaced(in, "BIG", big), keep_none);
    REQUIRE(pruned.report.edits.size() == 1);
    const std::string& written = pruned.report.edits[0].replacement;
    CHECK(written.find("[tool result cleared: 5000 characters, failed; Read /p") == 0);
    const bool as_expected = pruned.out == replaced(in, "BIG", written);
    CHECK(as_expected);
}

TEST_CASE("wire: keys, roles, types and ids may be spelled with escapes") {
    const std::string in =
        R"({"mess\u0061ges":[{"\u0072ole":"\u0061ssistant","c\u006Fntent":[{"typ\u0065":"tool\u005fuse",)"
        R"("\u0069d":"a\/b","n\u0061me":"Re\u0061d","inp\u0075t":{"file\u005Fpath":"\/p\u002f\u0071"}}]},)"
        R"({"role":"us\u0065r","content":[{"t\u0079pe":"tool_re\u0073ult","tool_use_\u0069d":"\u0061/b",)"
        R"("cont\u0065nt":"BIG"}]},{"role":"assistant","content":"done"}]})";
    const Report report = check_becomes(
        replaced(in, "BIG", big),
        replaced(in, "BIG", "[tool result cleared: 5000 characters, ok; Read /p/q]"), keep_none);
    REQUIRE(report.edits.size() == 1);
    CHECK(report.edits[0].id == "a/b");
    CHECK(report.edits[0].tool == "Read");
    CHECK(report.unpaired_calls == 0);
}

TEST_CASE("wire: a batch is pruned request by request, in every wrapper") {
    const std::array<std::string, 6> bodies = {
        "A",
        messages_of(answered("a", "A")),
        R"({"custom_id":"1","params":A})",
        R"({"custom_id":"1","method":"POST","url":"/v1/messages","body":A})",
        R"({"requests":[{"custom_id":"1","params":A},{"params":A,"custom_id":"2"},{"custom_id":"3","params":{}}]})",
        R"([{"custom_id":"1","params":A},{"params":A,"custom_id":"2"}])"};
    for (const std::string& shape : bodies) {
        CAPTURE(shape);
        std::string in = shape;
        std::string out = shape;
        const bool bare = shape[0] == '[' && shape.find("params") == std::string::npos;
        std::size_t requests = 0;
        for (std::string* text : {&in, &out}) {
            const std::string content = text == &in ? in_quotes(big) : stub();
            for (std::size_t at = text->find('A'); at != std::string::npos; at = text->find('A', at)) {
                const std::string with = bare ? content : body_of(answered("a", content));
                text->replace(at, 1, with);
                at += with.size();
                requests += text == &in;
            }
        }
        const Report report = check_becomes(in, out, keep_none);
        REQUIRE(report.edits.size() == requests);
        for (std::size_t i = 0; i < requests; ++i) { CHECK(report.edits[i].request == i); }
    }
}

TEST_CASE("wire: a byte order mark and white space stay where they are") {
    for (const std::string mark : {"", "\xEF\xBB\xBF"}) {
        const std::string in = mark + " \r\n\t" +
                               replaced(R"({ "system" : "s" ,
    "messages" : [ { "role" : "assistant" , "content" : [ { "type" : "tool_use", "id":"a" ,"name":"Read","input" : { } } ] } ,
                   { "role" : "user","content":[{"type":"tool_result","tool_use_id":"a","content" :  BIG  } ] }
    , {"role":"assistant","content":"done"} ] } )",
                                        "BIG", in_quotes(big)) +
                               "\n \t\r\n";
        check_becomes(in, replaced(in, in_quotes(big), stub()), keep_none);
    }
}

TEST_CASE("wire: numbers, literals and odd strings outside the edits keep their spelling") {
    const std::string odd =
        R"({"i":123456789012345678901234567890,"n":-0,"f":1.50,"e":1E+05,"z":0.0e-0,"h":1e400,"l":-1e-4000,"d":)" +
        std::string(400, '9') +
        R"(,"s":"\u00e9\/\ud83d\uDE00\u0000","lone":["\ud800","\udc00x","\uDBFF\uDBFF","\udc00\ud800"],"k\u0000":null,)"
        R"("t":true,"ff":false,"empty":{"":[]}})";
    const std::string in =
        body_of(answered("a", in_quotes(big), odd) + answered("b", in_quotes(R"(keep \ud83d lone)")),
                R"(,"metadata":)" + odd);
    check_becomes(in, replaced(in, in_quotes(big), stub()), keep_none);
}

// ---- two members of one name ----

TEST_CASE("wire: an object that names a member twice passes through untouched, and the rest is pruned") {
    struct Case {
        const char* what;
        std::string middle;  // between two pairs that are pruned
        std::string rest;    // behind the messages
        std::size_t objects = 1;
    };
    const std::string content = in_quotes(big);
    const std::string call = assistant(use_block("b"));
    const std::string result = user(result_block("b", content));
    const std::string edits =
        R"({"edits":[{"new_string":"N"},{"new_string":"N","new_string":"N"}],"path":"/e"})";
    const std::array<Case, 14> cases = {{
        {"message",
         call + R"(,{"role":"user","content":[)" + result_block("b", content) + R"(],"role":"user"},)", ""},
        {"message content",
         call + R"(,{"role":"user","content":[],"content":[)" + result_block("b", content) + "]},", ""},
        {"block",
         call + "," +
             user(R"({"type":"tool_result","content":"","tool_use_id":"b","content":)" + content + "}") + ",",
         ""},
        {"block type, escaped",
         call + "," +
             user(R"({"type":"tool_result","\u0074ype":"tool_result","tool_use_id":"b","content":)" +
                  content + "}") +
             ",",
         ""},
        {"input", answered("b", in_quotes("ok"), R"({"content":)" + content + R"(,"x":1,"x":2})"), ""},
        {"input field",
         answered("b", in_quotes("ok"), R"({"content":)" + content + R"(,"content":)" + content + "}"), ""},
        {"call",
         assistant(R"({"type":"tool_use","id":"b","name":"Read","name":"Read","input":{"content":)" +
                   content + "}}") +
             "," + user(result_block("b", in_quotes("ok"))) + ",",
         ""},
        {"part",
         call + "," + user(result_block("b", R"([{"type":"text","text":"","text":)" + content + "}]")) + ",",
         ""},
        {"one part of two",
         call + "," +
             user(result_block(
                 "b", R"([{"type":"text","text":)" + content + R"(},{"type":"image","a":1,"a":1}])")) +
             ",",
         ""},
        {"inside a part",
         call + "," +
             user(result_block("b", R"([{"type":"image","source":{"data":)" + content +
                                        R"(,"deep":[[{"a":1,"\u0061":2}]]}}])")) +
             ",",
         ""},
        {"content",
         call + "," + user(result_block("b", R"({"type":"text","text":"","text":)" + content + "}")) + ",",
         ""},
        {"two parts",
         call + "," +
             user(result_block("b", R"([{"type":"text","text":)" + content +
                                        R"(},{"a":1,"a":{"b":0,"b":0}},{"c":0,"c":0}])")) +
             ",",
         "", 3},
        {"elsewhere", "", R"(,"metadata":{"deep":[{"a":)" + content + R"(,"b":[],"a":[1]}]})"},
        {"text block", user(R"({"type":"text","text":"hi","text":"ho"})") + ",", ""},
    }};
    for (const Case& one : cases) {
        CAPTURE(one.what);
        const auto body = [&](const std::string& text) {
            return body_of(answered("a", text) + one.middle + answered("c", text), one.rest);
        };
        const Report report = check_becomes(body(content), body(stub()), clear_all);
        CHECK(report.repeated_keys == one.objects);
    }
}

TEST_CASE("wire: an item of an edit list that names a member twice stays, and its neighbours go") {
    const auto body = [](const std::string& first, const std::string& second, const std::string& last) {
        return body_of(answered("a", in_quotes("ok"),
                                R"({"edits":[{"new_string":)" + first + R"(},{"new_string":)" + second +
                                    R"(,"new_string":)" + second + R"(},{"new_string":)" + last + "}]}"));
    };
    const std::string cleared = in_quotes("[tool input cleared: 5000 characters; edits/new_string]");
    const PrunedText pruned = pruned_text(body(in_quotes(big), in_quotes(big), in_quotes(big)), clear_all);
    REQUIRE(pruned.report.edits.size() == 2);
    CHECK(pruned.report.edits[0].path == "/input/edits/0/new_string");
    CHECK(pruned.report.edits[1].path == "/input/edits/2/new_string");
    CHECK(pruned.report.repeated_keys == 1);
}

TEST_CASE("wire: a body that names a member twice is left alone whole") {
    for (const std::string& in : {body_of(answered("a", in_quotes(big)), R"(,"model":"m")"),
                                  body_of(answered("a", in_quotes(big)), R"(,"\u006dodel":"m")"),
                                  body_of(answered("a", in_quotes(big)),
                                          ",\"messages\":" + messages_of(answered("a", in_quotes(big)))),
                                  R"({"requests":[],"requests":[{"custom_id":"1","params":)" +
                                      body_of(answered("a", in_quotes(big))) + "}]}"}) {
        const PrunedText pruned = pruned_text(in, keep_none);
        CHECK_FALSE(pruned.report.engaged);
        CHECK(pruned.report.repeated_keys == 1);
        CHECK(pruned.report.why == "a key of the body stands there twice");
    }
}

TEST_CASE("wire: a request of a batch that names a member twice stays, and the others are pruned") {
    const auto batch = [](const std::string& content) {
        const std::string fine = R"({"custom_id":"1","params":)" + body_of(answered("a", content)) + "}";
        return R"({"requests":[)" + fine + R"(,{"custom_id":"2","params":)" +
               body_of(answered("a", in_quotes(big)), R"(,"model":"")") +
               R"(},{"custom_id":"3","custom_id":"3","params":)" + body_of(answered("a", in_quotes(big))) +
               "}," + fine + "]}";
    };
    const Report report = check_becomes(batch(in_quotes(big)), batch(stub()), keep_none);
    CHECK(report.repeated_keys == 2);
    CHECK(report.requests == 4);
    REQUIRE(report.edits.size() == 2);
    CHECK(report.edits[1].request == 3);
}

TEST_CASE("wire: names that differ are not taken for one another") {
    // of one length, of one beginning and end, of one hash as often as chance has it
    std::string object = "{";
    for (int i = 0; i < 500; ++i) {
        const std::string n = std::to_string(1000 + i);
        object += "\"k" + n + "\":0,\"a_long_key_" + n + "_with_one_end\":0,\"" + n + "\":0,";
    }
    object +=
        R"("":0,"\u0000":0,"\u0000\u0000":0,"a":0,"a\u0000":0,"a ":0,"\"":0,"\\":0,"\/":0,"\\u0061":0})";
    const std::string in = body_of(answered("a", in_quotes(big)), R"(,"metadata":)" + object);
    CHECK(check_becomes(in, replaced(in, in_quotes(big), stub()), keep_none).repeated_keys == 0);
}

// ---- hostile bodies ----

TEST_CASE("wire: two hundred thousand levels of nesting are survived anywhere") {
    const std::array<std::string, 3> deep = {nested("[", "]", 200'000), nested("{\"a\":", "}", 200'000),
                                             nested("[{\"a\":", "}]", 100'000)};
    for (const std::string& value : deep) {
        CAPTURE(value.substr(0, 8));
        const std::string pairs = answered("a", in_quotes(big)) + answered("c", in_quotes(big));
        const std::string pruned_pairs = answered("a", stub()) + answered("c", stub());
        check_big_becomes(body_of(pairs, ",\"top\":" + value), body_of(pruned_pairs, ",\"top\":" + value),
                          clear_all);
        const std::string in_input = answered("b", in_quotes("ok"), "{\"x\":" + value + "}");
        check_big_becomes(body_of(pairs + in_input), body_of(pruned_pairs + in_input), clear_all);
        const std::string beside =
            answered("b", in_quotes("ok"), "{\"x\":" + value + ",\"content\":" + in_quotes(big) + "}");
        CHECK(check_big(body_of(pairs + beside), clear_all).edits.size() == 3);
        const std::string in_user = user(value) + ",";
        check_big_becomes(body_of(pairs + in_user), body_of(pruned_pairs + in_user), clear_all);
        // the deep result itself may go or stay
        CHECK(check_big(body_of(answered("b", value) + pairs), clear_all).edits.size() >= 2);
        CHECK(check_big(body_of(answered("b", "[" + value + "]") + pairs), clear_all).edits.size() >= 2);
        const std::string around = body_of(answered("b", value) + pairs + answered("d", value));
        CHECK(check_big(around, coppice::presets::standard(coppice::EveryRequest<>{})).engaged);
        // and unclosed it is no JSON
        const std::string cut = value.substr(0, value.find('1'));
        CHECK(is_refused(check_big(body_of(pairs, ",\"top\":" + cut), clear_all)));
        CHECK(is_refused(check_big(cut, clear_all)));
    }
}

TEST_CASE("wire: two hundred thousand keys take no longer than they must, and equal ones are one object") {
    constexpr std::size_t count = 200'000;
    std::string distinct;
    std::string escaped;
    std::string equal;
    for (std::size_t i = 0; i < count; ++i) {
        distinct += "\"k" + std::to_string(i) + "\":0,";
        escaped += "\"\\u006b" + std::to_string(i) + "\":0,";
    }
    equal = repeated("\"k\":0,", count);
    for (const std::string* const keys : {&distinct, &escaped, &equal}) {
        const std::size_t objects = keys == &equal ? 1 : 0;
        CAPTURE(objects);
        const std::string object = "{" + *keys + "\"last\":1}";
        const auto elsewhere = [&](const std::string& text) {
            return body_of(answered("a", text) + answered("c", text), ",\"top\":" + object);
        };
        CHECK(check_big_becomes(elsewhere(in_quotes(big)), elsewhere(stub()), clear_all).repeated_keys ==
              objects);
        const auto in_input = [&](const std::string& text) {
            return body_of(answered("a", text) + answered("b", in_quotes("ok"), object) +
                           answered("c", text));
        };
        CHECK(check_big_becomes(in_input(in_quotes(big)), in_input(stub()), clear_all).repeated_keys ==
              objects);
        const std::string part = "[{\"type\":\"image\"," + *keys + "\"last\":1}]";
        const Report report =
            check_big(body_of(answered("a", in_quotes(big)) + answered("b", part)), clear_all);
        CHECK(report.repeated_keys == objects);
        CHECK(report.edits.size() == 2 - objects);
    }
}

TEST_CASE("wire: two hundred thousand fields, results and escapes are done in linear time") {
    constexpr std::size_t count = 200'000;
    std::string fields;
    std::string parts;
    std::string blocks;
    for (std::size_t i = 0; i < count; ++i) {
        fields += "\"\\u006b" + std::to_string(i) + "\":\"\\n\",";
        parts += R"({"type":"text","text":"\u0061"},)";
        blocks += R"({"type":"tool_r\u0065sult","tool_use_id":"\u0061","content":"\n"},)";
    }
    const std::string in =
        body_of(answered("a", "[" + parts + "{}]", "{" + fields + "\"content\":" + in_quotes(big) + "}") +
                answered("b", in_quotes(big)) + assistant(use_block("c")) + "," +
                user(blocks + result_block("c", in_quotes(big))) + ",");
    const PrunedBody pruned = coppice::prune(std::string_view(in), clear_all);
    CHECK(pruned.report.edits.size() >= 2);
    CHECK(pruned.report.saved_bytes == in.size() - pruned.rewritten.size());
    CHECK(check_spans(in, pruned.rewritten, pruned.report) == pruned.report.saved_bytes);
}

TEST_CASE("wire: a body of a hundred megabytes is pruned") {
    constexpr std::size_t small_count = 20'000;
    const std::string huge(60'000'000, 'h');
    const auto body = [&](const std::string& content, bool pruned) {
        std::string text = R"({"system":"s","messages":[)";
        text.reserve(pruned ? 60'000'000 : 110'000'000);
        text += answered("huge", content);
        for (std::size_t i = 0; i < small_count; ++i) {
            const std::string number = std::to_string(10'000'000 + i);
            std::string words = number + "\\n\\\"";
            words.resize(1900, static_cast<char>('a' + i % 26));
            const bool cleared = pruned && i + 10 < small_count;
            text += answered(number, cleared ? stub(1898) : in_quotes(words));
        }
        return text + done + "]}";
    };
    const std::string in = body(in_quotes(huge), false);
    CHECK(in.size() > 100'000'000);
    const coppice::Pipeline pipeline{coppice::KeepRecent<0, Size{2000}, 0>{},
                                     coppice::SmallAging<10, Size{80}, Size{2000}>{}};
    WireWorkspace workspace;
    const std::string_view out = coppice::prune(std::string_view(in), pipeline, workspace);
    CHECK(workspace.report.edits.size() == small_count - 10 + 1);
    CHECK(workspace.report.saved_bytes == in.size() - out.size());
    const bool as_expected = out == body(stub(60'000'000), true);
    CHECK(as_expected);
}

// ---- texts ----

TEST_CASE("wire: NUL and other escapes in results, ids and names are read as what they mean") {
    const std::string in = replaced(
        body_of(assistant(R"({"type":"tool_use","id":"a\u0000","name":"R\u0000d","input":{}})") + "," +
                user(R"({"type":"tool_result","tool_use_id":"\u0061\u0000","content":BIG})") + ","),
        "BIG", in_quotes(repeated("\\u0000", 3000)));
    const PrunedText pruned = pruned_text(in, keep_none);
    REQUIRE(pruned.report.edits.size() == 1);
    CHECK(pruned.report.edits[0].id == std::string("a\0", 2));
    CHECK(pruned.report.edits[0].tool == std::string("R\0d", 3));
    CHECK(pruned.report.edits[0].replacement == "[tool result cleared: 3000 characters, ok; R d]");
    CHECK(pruned.report.edits[0].bytes_before == 18'002);
}

TEST_CASE("wire: stubs count characters, not their spelling") {
    const auto stub_of = [](const std::string& unit, const auto& pipeline) {
        const PrunedText pruned =
            pruned_text(body_of(answered("a", in_quotes(repeated(unit, 3000)))), pipeline);
        REQUIRE(pruned.report.edits.size() == 1);
        return pruned.report.edits[0].replacement;
    };
    struct Case {
        std::string unit;
        std::size_t chars;
        std::size_t utf16;
    };
    for (const Case& one : {Case{"a", 1, 1}, Case{"\\n", 1, 1}, Case{R"(\"\\\/\b\f\n\r\t)", 8, 8},
                            Case{"\xC3\xA9", 1, 1}, Case{R"(\u00e9)", 1, 1}, Case{R"(\uD83D\uDE00)", 1, 2},
                            Case{"\xF0\x9F\x98\x80", 1, 2}, Case{R"(\u0041)", 1, 1}, Case{R"(\ud83d)", 1, 1},
                            Case{R"(\ud83d\n\ude00)", 3, 3}, Case{R"(x\ud83d\ude00\u00E9\t)", 4, 5}}) {
        CAPTURE(one.unit);
        CHECK(stub_of(one.unit, keep_none) ==
              "[tool result cleared: " + std::to_string(3000 * one.chars) + " characters, ok; Read]");
        CHECK(stub_of(one.unit, coppice::Pipeline{coppice::KeepRecent<0, coppice::utf16(2000), 0>{},
                                                  coppice::OpenSwarmWording{}})
                  .find(": " + std::to_string(3000 * one.utf16) + " characters") != std::string::npos);
    }
}

TEST_CASE("wire: a cache mark is carried over in its own spelling") {
    for (const std::string& mark :
         {std::string(R"({"type":"ephemeral"})"),
          std::string(R"({ "ttl" : "1\u0068",  "type":"ephemeral"  })"), std::string("null"),
          std::string(R"({"n":1e400,"x":"\ud800","y":[{}]})")}) {
        CAPTURE(mark);
        const std::string in = body_of(answered("a", R"([{"type":"text","text":)" + in_quotes(big) +
                                                         R"(,"cache_c\u006fntrol" : )" + mark + " }]"));
        const std::string out = pruned_text(in, keep_none).out;
        const std::string expected = body_of(
            answered("a", R"([{"type":"text","text":)" + stub() + R"(,"cache_control":)" + mark + "}]"));
        CHECK(out == expected);
    }
}

namespace {

// Texts that JSON cannot write as they are.
struct OddWording {
    static constexpr std::string_view name = "odd";
    static constexpr std::size_t longest = 100;
    static constexpr std::string_view words =
        "\"gone\" \\ \x01\x1F\x7F\b\f\n\r\t / \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";

    coppice::Shape shape = coppice::Shape::as_it_was;
    void result(std::string& out, const coppice::ResultFacts&) const { out += words; }
    void field(std::string& out, const coppice::FieldFacts&) const { out += words; }
    void image(std::string& out, const coppice::ResultFacts&) const { out += words; }
    coppice::Recognised recognise(std::string_view text) const {
        using enum coppice::Recognised::Kind;
        return {text == words ? stub : content, {}, {}};
    }
};

}  // namespace

TEST_CASE("wire: what a wording writes is escaped as a DOM does it") {
    for (const coppice::Shape shape : {coppice::Shape::as_it_was, coppice::Shape::always_blocks}) {
        OddWording wording;
        wording.shape = shape;
        const coppice::Pipeline pipeline{coppice::KeepRecent<0, Size{2000}, 0>{},
                                         coppice::BulkyInputClear<0, Size{2000}>{}, wording};
        const std::string image =
            R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":)" + in_quotes(big) +
            "}}";
        const std::string in =
            body_of(answered("a", in_quotes(big)) +
                    answered("b", R"([{"type":"text","text":)" + in_quotes(big) + "}]") +
                    answered("c", in_quotes("ok"), R"({"content":)" + in_quotes(big) + "}") +
                    answered("d", R"([{"type":"text","text":"see"},)" + image + "]"));
        ordered_json document = ordered_json::parse(in);
        const Report report = coppice::prune(document, pipeline);
        CHECK(report.edits.size() == 4);
        support::check_wire_laws(in, document.dump(), report, pipeline);
    }
}

TEST_CASE("wire: results that differ in halves of surrogate pairs alone are no duplicates") {
    const std::string rest(3000, 'x');
    const auto edits = [&](const std::string& first, const std::string& second) {
        const std::string in =
            body_of(answered("a", in_quotes(first + rest)) + answered("b", in_quotes(second + rest)));
        return pruned_text(in, coppice::Pipeline{coppice::Dedup<>{}}).report.edits.size();
    };
    CHECK(edits("x", R"(\u0078)") == 1);
    CHECK(edits(R"(\ud83d\ude00)", "\xF0\x9F\x98\x80") == 1);
    CHECK(edits(R"(\ud800)", R"(\ud801)") == 0);
    CHECK(edits(R"(\ud800)", R"(\ufffd)") == 0);
}

TEST_CASE("wire: an object whose names differ in halves of surrogate pairs alone is left as it is") {
    const std::string in = body_of(answered("a", in_quotes(big)),
                                   R"(,"metadata":{"\ud800":1,"\ud801":2,"\udc00":3,"\ufffd":4})");
    check_becomes(in, replaced(in, in_quotes(big), stub()), keep_none);
}

// ---- failures of others ----

namespace {

struct Failing {
    static constexpr std::string_view name = "failing";
    void (*fail)() = nullptr;
    void apply(const coppice::Transcript&, coppice::Plan& plan) const {
        plan.clear(1, name);
        fail();
    }
};

}  // namespace

TEST_CASE("wire: a policy that throws leaves the input as it was, and the report says what it threw") {
    const std::string body = body_of(answered("a", in_quotes(big)));
    const auto thrown = [&](void (*fail)()) {
        const coppice::Pipeline pipeline{Failing{fail}};
        const PrunedBody pruned = coppice::prune(std::string_view(body), pipeline);
        CHECK(pruned.bytes(body).data() == body.data());
        WireWorkspace workspace;
        CHECK(coppice::prune(std::string_view(body), pipeline, workspace).data() == body.data());
        const auto pieces = coppice::prune_pieces(std::string_view(body), pipeline, workspace);
        CHECK(pieces.size() == 1);
        CHECK(pieces.front().data() == body.data());
        CHECK(coppice::plan(std::string_view(body), pipeline).why == pruned.report.why);
        CHECK(workspace.report.why == pruned.report.why);
        // and the workspace is as good as new
        const std::string expected = body_of(answered("a", stub()));
        const bool right = coppice::prune(std::string_view(body), keep_none, workspace) == expected;
        CHECK(right);
        return pruned.report.why;
    };
    CHECK(thrown([] { throw std::runtime_error("no luck"); }) == "no luck");
    CHECK(thrown([] { throw 7; }) == "unknown failure");
}

TEST_CASE("wire: blocks leave a message in any spelling and the rest keeps its bytes") {
    const coppice::Pipeline<coppice::StaleReasoning<1>> open_turn_only;
    const std::string old = R"({"type":"thinking","thinking":"old","signature":"c2ln"})";
    const std::string spelled = R"({ "signature":"c2ln" , "th\u0069nking":"\u006fld","type" : "th\u0069nking"})";
    const std::string gone = R"({"type":"redacted_thinking","data":"c2ln"})";
    const std::string said = R"({"type":"text", "text":"s\u0061id"})";
    const auto body = [](const std::string& blocks) {
        return R"({"system":"s", "messages":[{"role":"user","content":"start"},{"content":[)" + blocks +
               R"(],"role":"assistant"},{"role":"user","content":"next"}]})";
    };
    check_becomes(body(old + "," + said), body(said), open_turn_only);
    check_becomes(body(said + "," + old), body(said), open_turn_only);
    check_becomes(body(old + ", " + spelled + " ,\n" + said), body(said), open_turn_only);
    check_becomes(body(" " + said + " , " + old + "\t," + gone + "\n"), body(" " + said + " \t\n"), open_turn_only);
    check_becomes(body("\n" + spelled + "\n,\n" + said + "\n,\n" + gone + "\n,\n" + said + "\n"),
                  body("\n" + said + "\n\n,\n" + said + "\n"), open_turn_only);
    const Report report = check_becomes(body(old + "," + old + "," + said + "," + gone), body(said), open_turn_only);
    REQUIRE(report.edits.size() == 3);
    CHECK(report.edits[1].bytes_before == old.size() + 1);
    CHECK(report.edits[1].bytes_after == 0);
    CHECK(report.edits[2].block == 3);
}

TEST_CASE("wire: reasoning in an object that names a member twice stays, with all of its turn") {
    const coppice::Pipeline<coppice::StaleReasoning<1>> open_turn_only;
    const std::string old = R"({"type":"thinking","thinking":"old","signature":"c2ln"})";
    const std::string twice = R"({"type":"thinking","thinking":"a","thinking":"old","signature":"c2ln"})";
    const std::string said = R"(,{"type":"text","text":"said"}])";
    const auto body = [&](const std::string& first, const std::string& second) {
        return R"({"system":"s","messages":[{"role":"user","content":"start"},{"role":"assistant","content":[)" +
               first + R"(},{"role":"assistant","content":[)" + second + R"(},{"role":"user","content":"next"}]})";
    };
    CHECK(pruned_text(body(old + said, old + said), open_turn_only).report.engaged);
    CHECK_FALSE(pruned_text(body(old + said, twice + said), open_turn_only).report.engaged);
    CHECK_FALSE(pruned_text(body(old + said + R"(,"x":1,"x":2)", old + said), open_turn_only).report.engaged);
}

TEST_CASE("wire: a hundred thousand blocks leave one message at once") {
    const coppice::Pipeline<coppice::StaleReasoning<1>> open_turn_only;
    std::string blocks;
    std::string left;
    for (int i = 0; i < 100'000; ++i) {
        const bool stays = i % 1000 == 999;
        const std::string block = stays ? R"({"type":"text","text":"said"})" : R"({"type":"thinking","thinking":"b"})";
        blocks += (i == 0 ? "" : ",") + block;
        if (stays) { left += (left.empty() ? "" : ",") + block; }
    }
    const auto body = [](const std::string& content) {
        return R"({"system":"s","messages":[{"role":"user","content":"start"},{"role":"assistant","content":[)" +
               content + R"(]},{"role":"user","content":"next"}]})";
    };
    check_big_becomes(body(blocks), body(left), open_turn_only);
}

TEST_CASE("wire: wherever memory runs out the input comes back, or all that is to be done is done") {
    const std::string pairs = answered("a", in_quotes(big)) +
                              answered("b", R"("\u0061 ok")", R"({"x":1,"x":2})") +
                              answered("c", in_quotes(big));
    const std::string body =
        R"({"requests":[{"params":)" + body_of(pairs) + R"(},{"params":)" + body_of(pairs) + "}]}";
    const std::string expected = pruned_text(body, clear_all).out;
    CHECK(expected.size() < body.size());
    // in turn: a body of its own, one that lies in the workspace, pieces of it
    for (int form = 0; form < 3; ++form) {
        CAPTURE(form);
        bool survived = false;
        for (std::size_t requests = 0; !survived; ++requests) {
            CAPTURE(requests);
            REQUIRE(requests < 10'000);
            WireWorkspace workspace;
            PrunedBody own;
            std::string_view out;
            std::span<const std::string_view> pieces;
            bool threw = false;
            support::heap.until_refusal = requests;
            try {
                if (form == 0) {
                    own = coppice::prune(std::string_view(body), clear_all);
                } else if (form == 1) {
                    out = coppice::prune(std::string_view(body), clear_all, workspace);
                } else {
                    pieces = coppice::prune_pieces(std::string_view(body), clear_all, workspace);
                }
            } catch (...) { threw = true; }
            support::heap.until_refusal = std::numeric_limits<std::size_t>::max();
            REQUIRE_FALSE(threw);
            const Report& report = form == 0 ? own.report : workspace.report;
            std::string joined(form == 0 ? own.bytes(body) : out);
            for (const std::string_view piece : pieces) { joined += piece; }
            survived = report.engaged;
            const bool right = joined == (survived ? expected : body);
            REQUIRE(right);
            REQUIRE(report.why.empty() == survived);
            const bool again = coppice::prune(std::string_view(body), clear_all, workspace) == expected;
            REQUIRE(again);
        }
    }
}

// ---- what is no JSON ----

namespace {

// As nlohmann takes it: halves of surrogate pairs become letters, exponents zeros.
std::string for_nlohmann(std::string text) {
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"') {
            in_string = !in_string;
        } else if (in_string && c == '\\') {
            ++at;
            const auto unit = [&](std::size_t from) -> unsigned {
                const std::string digits = text.substr(from, 4);
                const bool hex = digits.size() == 4 &&
                                 digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
                return hex ? static_cast<unsigned>(std::stoul(digits, nullptr, 16)) : 0;
            };
            if (at >= text.size() || text[at] != 'u') { continue; }
            const unsigned first = unit(at + 1);
            if (first < 0xD800 || first > 0xDFFF) { continue; }
            const bool follows = first < 0xDC00 && text.compare(at + 5, 2, "\\u") == 0;
            const unsigned second = follows ? unit(at + 7) : 0;
            if (second >= 0xDC00 && second <= 0xDFFF) {
                at += 10;
            } else {
                text.replace(at + 1, 4, "0041");
            }
        } else if (!in_string && (c == 'e' || c == 'E')) {
            const std::size_t digits =
                at + 1 + (at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-'));
            for (std::size_t i = digits; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
                text[i] = '0';
            }
        }
    }
    return text;
}

// A bare scalar is JSON, but no body. A NUL ends nlohmann's input.
bool is_json_body(const std::string& text) {
    if (text.find('\0') != std::string::npos) { return false; }
    const auto value = nlohmann::json::parse(for_nlohmann(text), nullptr, false);
    return value.is_structured();
}

// Both agree on whether this is JSON, and what is none comes back as it was.
bool check_agreement(const std::string& text, WireWorkspace& workspace) {
    const std::string_view out = coppice::prune(std::string_view(text), keep_none_of_sixty, workspace);
    const bool expected = is_json_body(text);
    const bool refused = is_refused(workspace.report);
    const bool agree = expected == !refused;
    const bool same = out.data() == text.data() && out.size() == text.size();
    const bool kept = workspace.report.engaged ? is_json_body(std::string(out)) : same;
    const bool said = !refused || workspace.report.why.substr(0, 23) == "not valid JSON at byte ";
    if (agree && kept && said) { return expected; }
    CAPTURE(text);
    CAPTURE(workspace.report.why);
    CHECK(agree);
    CHECK(kept);
    CHECK(said);
    return expected;
}

const std::string fragile =
    "\xEF\xBB\xBF "
    R"({"system":"\u00e9\ud83d\uDE00\"\\\/\b", "n":[0,-1.5e+3,10,[],{}, true,false ,null],"messages":[)"
    R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"T","input":{"k":"v"}}]},)"
    R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":")"
    "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 and some more words to make it long enough to be cleared"
    R"("}]},{"role":"assistant","content":"done"}]} )";

}  // namespace

TEST_CASE("wire: a body cut off anywhere is refused, and whole it is pruned") {
    WireWorkspace workspace;
    CHECK(check_agreement(fragile, workspace));
    CHECK(workspace.report.engaged);
    std::size_t accepted = 0;
    for (std::size_t size = 0; size <= fragile.size(); ++size) {
        accepted += check_agreement(fragile.substr(0, size), workspace);
    }
    CHECK(accepted == 2);  // whole, and without the blank at its end
}

TEST_CASE("wire: what a changed byte makes of a body is JSON or not as nlohmann has it") {
    const std::string bytes =
        std::string("{}[]\",:\\/019.-+eEtnubaAfFdD8 \n\t*'") +
        std::string("\0\x01\x1F\x7F\x80\x90\xA0\xBF\xC0\xC3\xE0\xE2\xED\xEF\xF0\xF4\xF5\xFF", 18);
    WireWorkspace workspace;
    std::size_t accepted = 0;
    std::size_t refused = 0;
    for (std::size_t at = 0; at < fragile.size(); ++at) {
        std::string text = fragile;
        for (const char byte : bytes) {
            text[at] = byte;
            ++(check_agreement(text, workspace) ? accepted : refused);
        }
    }
    CHECK(accepted > 1000);
    CHECK(refused > 5000);
}

TEST_CASE("wire: what a byte more or less makes of a body is JSON or not as nlohmann has it") {
    WireWorkspace workspace;
    std::size_t accepted = 0;
    for (std::size_t at = 0; at <= fragile.size(); ++at) {
        if (at < fragile.size()) {
            accepted += check_agreement(std::string(fragile).erase(at, 1), workspace);
        }
        for (const char byte : std::string_view("{}[]\",:\\0-.e\n\x80")) {
            accepted += check_agreement(std::string(fragile).insert(at, 1, byte), workspace);
        }
    }
    CHECK(accepted > 1000);
}

TEST_CASE("wire: the report says where a text stops being JSON") {
    struct Case {
        std::string text;
        std::size_t at;
    };
    const std::vector<Case> cases = {
        {"", 0},
        {" ", 1},
        {"x", 0},
        // escapes
        {R"(["a\x"])", 3},
        {R"(["a\u12g4"])", 3},
        {R"(["a\u12"])", 3},
        {R"(["\ud800\u12"])", 8},
        {R"({"a\q":1})", 3},
        {R"(["a\'"])", 3},
        // numbers and literals
        {"[01]", 1},
        {"[1.]", 1},
        {"[-]", 1},
        {"[+1]", 1},
        {"[.5]", 1},
        {"[1e]", 1},
        {"[1e+]", 1},
        {"[0x1]", 1},
        {"[-01]", 1},
        {"[1,2,00]", 5},
        {"[nul]", 1},
        {"[truex]", 1},
        {"[True]", 1},
        {"[NaN]", 1},
        {"[1 x]", 3},
        {"[nullnull]", 1},
        // commas, colons and brackets
        {"[1 2]", 3},
        {"[\"a\" \"b\"]", 5},
        {"[\"a\"\"b\"]", 4},
        {"[1,]", 3},
        {"[,1]", 1},
        {"[1,,2]", 3},
        {R"({"a":1,})", 7},
        {R"({"a" 1})", 5},
        {R"({"a"})", 4},
        {R"({"a":})", 5},
        {R"({1:2})", 1},
        {R"({"a":1 "b":2})", 7},
        {R"({"a":1,"b":2,,"c":3})", 13},
        {R"({,"a":1})", 1},
        {R"(["a":1])", 4},
        {R"({"a",1})", 4},
        {"[1}", 2},
        {R"({"a":1])", 6},
        {"[[1]]]", 5},
        {"]", 0},
        {"[{]}", 2},
        // behind the value
        {"[] x", 3},
        {"[]]", 2},
        {"{}{}", 2},
        {"{} , {}", 3},
        // bytes
        {"[\"a\nb\"]", 3},
        {std::string("[\"a\0b\"]", 7), 3},
        {"[\"\x1F\"]", 2},
        {"[\"a\xFF\"]", 3},
        {"[\"\xC0\xAF\"]", 2},
        {"[\"\xE0\x80\xAF\"]", 2},
        {"[\"\xF0\x80\x80\xAF\"]", 2},
        {"[\"\xED\xA0\x80\"]", 2},
        {"[\"\xED\xBF\xBF\"]", 2},
        {"[\"\xF4\x90\x80\x80\"]", 2},
        {"[\"\xF5\x80\x80\x80\"]", 2},
        {"[\"\x80\"]", 2},
        {"[\"\xC3\"]", 2},
        {"[\"\xE2\x82\"]", 2},
        {"[\"\xF0\x9F\x98\"]", 2},
        {"[\xC3\xA9]", 1},
        {"[1,\x01 2]", 3},
        {"[1\xFF]", 2},
        {"\xEF\xBB", 0},
        {"\xEF\xBB\xBF", 3},
        {"\xEF\xBB\xBF[01]", 4},
        {"\xEF\xBB\xBF\xEF\xBB\xBF[]", 3},
    };
    for (const Case& one : cases) {
        CAPTURE(one.text);
        const PrunedText pruned = pruned_text(one.text, keep_none);
        CHECK(pruned.report.why == "not valid JSON at byte " + std::to_string(one.at));
        CHECK_FALSE(is_json_body(one.text));
        // the same behind something long, which the scan goes through in other steps
        if (one.text.size() < 2 || one.text[0] != '[') { continue; }
        const std::string before =
            R"(["a \"quoted\" text of some length, \u00e9 and then the rest", 12345, {"k":[]},)";
        const std::string text = before + one.text.substr(1);
        const std::size_t shift = before.size() - 1;
        if (one.text == "[]]" || one.text == "[] x") { continue; }
        CHECK(pruned_text(text, keep_none).report.why ==
              "not valid JSON at byte " + std::to_string(one.at + shift));
    }
}

TEST_CASE("wire: JSON that is no body is called so") {
    for (const std::string text : {"1", " \"a\" ", "true", "null", "-1.5e3"}) {
        CAPTURE(text);
        CHECK(pruned_text(text, keep_none).report.why == "the body is neither an object nor an array");
    }
}

TEST_CASE("wire: a fault is named where it is, whatever block of the scan it falls into") {
    for (std::size_t padding = 0; padding < 140; ++padding) {
        CAPTURE(padding);
        const std::string fill(padding, 'x');
        const std::string escape = "[\"" + fill + "\\q\"]";
        CHECK(pruned_text(escape, keep_none).report.why ==
              "not valid JSON at byte " + std::to_string(padding + 2));
        const std::string invalid = "[\"" + fill + "\xE2\x28\xA1\"]";
        CHECK(pruned_text(invalid, keep_none).report.why ==
              "not valid JSON at byte " + std::to_string(padding + 2));
        const std::string control = "[\"" + fill + "\x02\"]";
        CHECK(pruned_text(control, keep_none).report.why ==
              "not valid JSON at byte " + std::to_string(padding + 2));
        const std::string number = "[\"" + fill + "\",01]";
        CHECK(pruned_text(number, keep_none).report.why ==
              "not valid JSON at byte " + std::to_string(padding + 4));
    }
}

TEST_CASE(
    "wire: the report says where a text that was cut off ends, and what comes first behind a whole one") {
    struct Case {
        std::string text;
        std::size_t at;
    };
    const std::vector<Case> cases = {
        {"[", 1},         {"{", 1},        {"[1", 2},        {"[1,", 3},
        {"[[1]", 4},      {R"({"a)", 3},   {R"({"a")", 4},   {R"({"a":)", 5},
        {R"({"a":1)", 6}, {R"(["abc)", 5}, {R"(["abc\)", 6}, {R"(["abc\")", 7},
        {"[1,x", 3},      {"[1] 2 3", 4},  {"[01],2", 1},    {"[tru,1", 1},
    };
    for (const Case& one : cases) {
        CAPTURE(one.text);
        CHECK(pruned_text(one.text, keep_none).report.why ==
              "not valid JSON at byte " + std::to_string(one.at));
    }
}

TEST_CASE("wire: what a workspace wrote can be pruned with it again") {
    support::Ordered messages = support::list(support::user("hi"));
    for (const char* id : {"a", "b", "c"}) {
        support::add_pair(messages, id, "Read", support::Ordered::object(), support::filler(1, 3000));
    }
    messages.push_back(support::assistant("done"));
    const std::string text = support::body(messages).dump();
    const coppice::Pipeline first{coppice::KeepRecent<2, coppice::Size{900}>{}};
    const coppice::Pipeline second{coppice::KeepRecent<1, coppice::Size{900}>{}};
    const coppice::Pipeline third{coppice::KeepRecent<0, coppice::Size{900}>{}};
    WireWorkspace workspace;
    const std::string_view once = coppice::prune(std::string_view(text), first, workspace);
    const std::string_view same = coppice::prune(once, first, workspace);
    const std::string_view twice = coppice::prune(same, second, workspace);
    const std::string_view thrice = coppice::prune(twice, third, workspace);
    CHECK(workspace.report.engaged);
    const PrunedBody expected = coppice::prune(std::string_view(text), third);
    const bool as_at_once = thrice == expected.bytes(text);
    CHECK(as_at_once);
}

TEST_CASE("wire: ids and names of any length cost each edit little") {
    // would be hundreds of times the body, once in the report of each edit
    const std::string name(200'000, 'n');
    support::Ordered edits = support::Ordered::array();
    for (int i = 0; i < 400; ++i) { edits.push_back({{"new_string", support::filler(1, 300)}}); }
    support::Ordered input = support::Ordered::object();
    input[name] = edits;
    const support::Ordered messages =
        support::list(support::user("hi"), support::assistant_blocks(support::call_block(name, name, input)),
                      support::user_blocks(support::result_block(name, "ok")), support::assistant("done"));
    const std::string text = support::body(messages).dump();
    const PrunedBody pruned = coppice::prune(
        std::string_view(text),
        coppice::Pipeline{coppice::BulkyInputClear<0, coppice::Size{200}>{}, coppice::ExemptTools{}});
    REQUIRE(pruned.report.edits.size() == 400);
    for (const coppice::EditRecord& edit : pruned.report.edits) {
        REQUIRE(edit.id.size() == 1024);
        REQUIRE(edit.tool.size() == 1024);
        REQUIRE(edit.path.size() < 1100);
    }
}

TEST_CASE("wire: where the content of a preview is stored is known in any spelling") {
    coppice::MemorySpillStore store;
    coppice::Spill<> spill;
    spill.store = &store;
    support::Ordered messages = support::list(support::user("hi"));
    support::add_pair(messages, "a", "Read", support::Ordered::object(), support::filler(1, 90'000));
    messages.push_back(support::assistant("done"));
    const std::string text = support::body(messages).dump();
    const PrunedBody spilled = coppice::prune(std::string_view(text), coppice::Pipeline{spill});
    REQUIRE(spilled.report.engaged);
    const coppice::Pipeline clear{coppice::KeepRecent<0>{}, spill};
    const PrunedBody plain = coppice::prune(std::string_view(spilled.rewritten), clear);
    REQUIRE(plain.report.edits.size() == 1);
    CHECK(plain.report.edits[0].replacement.find("; stored at ") != std::string::npos);
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const std::string other = support::respelled(spilled.rewritten, seed);
        const PrunedBody pruned = coppice::prune(std::string_view(other), clear);
        REQUIRE(pruned.report.edits.size() == 1);
        CHECK(pruned.report.edits[0].replacement == plain.report.edits[0].replacement);
    }
}
