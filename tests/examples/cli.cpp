// SPDX-License-Identifier: MIT
// The program's contract: exit codes, what comes out, and that data never fails.
#ifdef COPPICE_CLI

#include "../../examples/session_dialects.hpp"
#include "../../examples/session_generator.hpp"
#include "support/folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

struct Folder : support::Folder {
    Folder() : support::Folder("coppice-cli") {}
};

struct Run {
    int exit_code = 0;
    std::string out;
    std::string err;
};

Run run_coppice(const Folder& folder, const std::string& words, const std::string& environment = "") {
    const std::string command = environment + " '" COPPICE_CLI "' " + words + " >'" + folder.at("stdout") +
                                "' 2>'" + folder.at("stderr") + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder.read("stdout"), folder.read("stderr")};
}

// The ways through the program that this build has.
std::vector<std::string> routes() {
#if COPPICE_TEST_WIRE
    return {"wire", "dom"};
#else
    return {"dom"};
#endif
}

std::string session(std::size_t results) {
    coppice_examples::SessionShape shape;
    shape.results = results;
    return coppice_examples::make_session(shape).dump();
}

void replace_all(std::string& text, const std::string& word, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += with.size()) {
        text.replace(at, word.size(), with);
    }
}

// Seven calls with big results, the first call with `input`, and `extra` members in front of them.
std::string seven_results(const std::string& input, const std::string& extra) {
    const std::string pair =
        R"({"role":"assistant","content":[{"type":"tool_use","id":"NUMBER","name":"t","input":INPUT}]},)"
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"NUMBER","content":"TEXT"}]},)";
    std::string messages;
    for (int i = 0; i < 7; ++i) {
        messages += pair;
        replace_all(messages, "NUMBER", "id" + std::to_string(i));
    }
    messages.replace(messages.find("INPUT"), 5, input);
    replace_all(messages, "INPUT", "{}");
    replace_all(messages, "TEXT", std::string(400'000, 'x'));
    return R"({"system":"s",)" + extra + R"("messages":[)" + messages +
           R"({"role":"user","content":"go on"}]})";
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

// `npos` where both are the same.
std::size_t first_difference(const std::string& left, const std::string& right) {
    if (left == right) { return std::string::npos; }
    const std::size_t common = std::min(left.size(), right.size());
    std::size_t at = 0;
    while (at < common && left[at] == right[at]) { ++at; }
    return at;
}

}  // namespace

TEST_CASE("program: prune from file to file, and the report's figures are those of the files") {
    const Folder folder;
    const std::string body = session(300);
    folder.write("in.json", body);
    for (const std::string& route : routes()) {
        for (const std::string& preset : {std::string("standard"), std::string("openswarm")}) {
            CAPTURE(route);
            CAPTURE(preset);
            const Run run = run_coppice(folder, "prune --via " + route + " --preset " + preset + " --report '" +
                                                folder.at("report.json") + "' '" + folder.at("in.json") +
                                                "' '" + folder.at("out.json") + "'");
            CHECK(run.exit_code == 0);
            CHECK(run.out.empty());
            CHECK(run.err.empty());
            const std::string out = folder.read("out.json");
            const Json report = Json::parse(folder.read("report.json"));
            CHECK(report["engaged"] == true);
            CHECK(report["preset"] == preset);
            CHECK(report["dialect"] == "anthropic");
            CHECK(report["bytes_in"] == body.size());
            CHECK(report["bytes_out"] == out.size());
            CHECK(report["saved_bytes"] == body.size() - out.size());
            CHECK(out.size() < body.size());
            std::size_t saved = 0;
            for (const Json& edit : report["edits"]) {
                saved += edit["bytes_before"].get<std::size_t>() - edit["bytes_after"].get<std::size_t>();
                for (const char* key : {"message", "block", "reason", "id", "tool"}) {
                    CHECK(edit.contains(key));
                }
            }
            CHECK(report["saved_bytes"] == saved);
            std::size_t by_reason = 0;
            for (const Json& reason : report["by_reason"]) {
                by_reason += reason["saved_bytes"].get<std::size_t>();
            }
            CHECK(by_reason == saved);
            if (route == "wire") {
                CHECK(report["first_changed_offset"] == first_difference(body, out));
            } else {
                CHECK(report["first_changed_offset"].is_null());
            }
            CHECK(report["unpaired_calls"] == 0);
            CHECK(report["tokens_after"] < report["tokens_before"]);
            for (const Json& warning : report["warnings"]) {
                CHECK(warning.get<std::string>().find("were cleared with their results") !=
                      std::string::npos);
            }
        }
    }
}

TEST_CASE("program: standard input to standard output, and a second pass changes nothing") {
    const Folder folder;
    folder.write("in.json", session(300));
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const Run first = run_coppice(folder, "prune --via " + route + " <'" + folder.at("in.json") + "'");
        CHECK(first.exit_code == 0);
        folder.write("once.json", first.out);
        const Run second = run_coppice(folder, "prune --via " + route + " - - <'" + folder.at("once.json") + "'");
        CHECK(second.exit_code == 0);
        const bool same = second.out == first.out;
        CHECK(same);
        CHECK(second.err.find("unchanged") != std::string::npos);
    }
}

TEST_CASE(
    "program: what cannot be pruned comes back byte for byte, with exit code 0 and one line that says why") {
    const Folder folder;
    const std::string anybody[] = {
        "",
        "not json",
        "{\"messages\":[",
        "\xFF\xFE",
        "[]",
        "null",
        "1e400",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]}",
        "{\"messages\":{}}",
        "{\"input\":\"hello\"}",
        nested(200'000),
        "{\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"y\"}]}",
        std::string("{\"messages\":[{\"role\":\"user\",\"content\":\"a") + '\0' + "b\"}]}",
        session(300) + "}",
        "x" + session(300),
    };
    const auto comes_back = [&](const std::string& input, const std::string& route) {
        CAPTURE(route);
        CAPTURE(input.substr(0, 60));
        folder.write("in.json", input);
        const Run run = run_coppice(folder, "prune --preset openswarm --via " + route + " --report '" +
                                            folder.at("report.json") + "' '" + folder.at("in.json") + "'");
        CHECK(run.exit_code == 0);
        const bool same = run.out == input;
        CHECK(same);
        CHECK(run.err.size() > 10);
        CHECK(run.err.find('\n') == run.err.size() - 1);
        const Json report = Json::parse(folder.read("report.json"));
        CHECK(report["engaged"] == false);
        CHECK(run.err == "coppice: unchanged: " + report["why"].get<std::string>() + "\n");
        CHECK(report["bytes_in"] == input.size());
        CHECK(report["bytes_out"] == input.size());
        CHECK(report["saved_bytes"] == 0);
        CHECK(report["first_changed_offset"].is_null());
        CHECK(report["edits"].empty());
    };
    for (const std::string& route : routes()) {
        for (const std::string& input : anybody) { comes_back(input, route); }
        // without an oddity, it is pruned
        folder.write("in.json", seven_results("{}", ""));
        CHECK(run_coppice(folder, "prune --preset openswarm --via " + route + " '" + folder.at("in.json") + "'")
                  .err.empty());
    }
    comes_back(seven_results("{\"deep\":" + nested(200'000) + "}", ""), "dom");
    comes_back(seven_results("{}", "\"n\":1234567890123456789012345,"), "dom");
    comes_back(seven_results("{}", "\"twice\":1,\"twice\":2,"), "dom");
}

#if COPPICE_TEST_WIRE

TEST_CASE("program: bytes that are not edited stay, whatever stands in them") {
    const Folder folder;
    const std::string kept[] = {
        R"("numbers" : [1e5, 1.0, -0, 1E+2, 12345678901234567890123, 1e400],)",
        R"("z": 1, "a": 2, "m": {"z": 1, "a": 2},)",
        R"("twice": {"k": 1, "k": 2},)",
        R"("lone": "\ud800 and \uDFFF", "spelled\u0020out": "\u0041\/",)",
        "\n\t \"blank\" :\r\n { \"a\" :[ ] , \"b\":{ } } ,\n",
        R"("deep": )" + nested(200'000) + ",",
    };
    std::string extra;
    for (const std::string& piece : kept) { extra += piece; }
    std::string body = seven_results(R"({ "path" : "\u0061.txt", "deep" : )" + nested(200'000) + " }", extra);
    replace_all(body, R"("role":)", "\n  \"role\" : ");
    body = "\xEF\xBB\xBF\r\n" + body + "\n\n";
    folder.write("in.json", body);
    for (const std::string& preset : {std::string("standard"), std::string("openswarm")}) {
        CAPTURE(preset);
        const Run run =
            run_coppice(folder, "prune --via wire --cadence every-request --preset " + preset + " --report '" +
                                folder.at("report.json") + "' '" + folder.at("in.json") + "'");
        CHECK(run.exit_code == 0);
        CHECK(run.err.empty());
        const Json report = Json::parse(folder.read("report.json"));
        CHECK(report["engaged"] == true);
        CHECK(report["repeated_keys"] == 1);
        CHECK(report["first_changed_offset"] == first_difference(body, run.out));
        CHECK(report["bytes_in"] == body.size());
        CHECK(report["bytes_out"] == run.out.size());
        CHECK(report["saved_bytes"] == body.size() - run.out.size());
        // every replaced value put back gives the input
        const std::string big = '"' + std::string(400'000, 'x') + '"';
        std::string restored = run.out;
        std::size_t at = 0;
        std::size_t saved = 0;
        for (const Json& edit : report["edits"]) {
            std::string written = edit["replacement"].dump();
            if (preset == "openswarm") { written = R"([{"type":"text","text":)" + written + "}]"; }
            at = restored.find(written, at);
            REQUIRE(at != std::string::npos);
            restored.replace(at, written.size(), big);
            at += big.size();
            CHECK(edit["bytes_before"] == big.size());
            CHECK(edit["bytes_after"] == written.size());
            saved += big.size() - written.size();
        }
        CHECK(report["saved_bytes"] == saved);
        const bool same = restored == body;
        CHECK(same);
    }
}

TEST_CASE("program: of a compact body, both routes make the same") {
    const Folder folder;
    folder.write("in.json", session(300));
    const std::string rest = " --report '" + folder.at("report.json") + "' '" + folder.at("in.json") + "'";
    for (const std::string words :
         {"", "--preset openswarm", "--cadence every-request", "--cadence stepped:7 --dialect anthropic",
          "--preset openswarm --cadence stepped:50"}) {
        CAPTURE(words);
        const Run wire = run_coppice(folder, "prune --via wire " + words + rest);
        Json wire_report = Json::parse(folder.read("report.json"));
        const Run dom = run_coppice(folder, "prune --via dom " + words + rest);
        const Json dom_report = Json::parse(folder.read("report.json"));
        const bool same = wire.out == dom.out;
        CHECK(same);
        wire_report["first_changed_offset"] = nullptr;
        const bool same_report = wire_report == dom_report;
        CHECK(same_report);
        const std::string explain = " " + words + " '" + folder.at("in.json") + "'";
        const Run wire_table = run_coppice(folder, "explain --via wire" + explain);
        const bool same_tables = wire_table.out == run_coppice(folder, "explain --via dom" + explain).out;
        CHECK(same_tables);
        CHECK(wire_table.out.find(std::to_string(wire.out.size()) + " of ") != std::string::npos);
        // bytes are the default
        const bool default_route = run_coppice(folder, "prune " + words + rest).out == wire.out;
        CHECK(default_route);
        CHECK(Json::parse(folder.read("report.json"))["first_changed_offset"].is_number());
    }
}

#endif

TEST_CASE("program: white space and byte order mark around the body stay") {
    const Folder folder;
    folder.write("in.json", "\xEF\xBB\xBF \n" + session(300) + "\r\n\n");
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const Run run = run_coppice(folder, "prune --via " + route + " '" + folder.at("in.json") + "'");
        CHECK(run.exit_code == 0);
        CHECK(run.err.empty());
        CHECK(run.out.substr(0, 6) == "\xEF\xBB\xBF \n{");
        CHECK(run.out.substr(run.out.size() - 4) == "}\r\n\n");
    }
}

TEST_CASE("program: every dialect is told from the body, or by its name") {
    const Folder folder;
    coppice_examples::SessionShape shape;
    shape.results = 300;
    const Json body = make_session(shape);
    const std::string in = " '" + folder.at("in.json") + "'";
    for (const coppice_examples::SessionDialect dialect : coppice_examples::session_dialects) {
        CAPTURE(std::string(name_of(dialect)));
        folder.write("in.json", render(dialect, body).dump());
        for (const std::string& route : routes()) {
            const std::string words = "prune --via " + route + " --report '" + folder.at("report.json") + "'";
            const Run found = run_coppice(folder, words + in);
            CHECK(found.exit_code == 0);
            const Json report = Json::parse(folder.read("report.json"));
            CHECK(report["engaged"] == true);
            const std::string named = report["dialect"].get<std::string>();
            const bool same = run_coppice(folder, words + " --dialect " + named + in).out == found.out;
            CHECK(same);
            CHECK(run_coppice(folder, words + " --dialect gemini" + in).out.empty() == false);
        }
    }
}

TEST_CASE("program: a session log is explained by the lines it has, and comes back from prune as it was") {
    const Folder folder;
    std::string log;
    for (int i = 0; i < 12; ++i) {
        const std::string id = "toolu_" + std::to_string(i);
        log += Json{{"type", "assistant"},
                    {"uuid", "a" + id},
                    {"parentUuid", i == 0 ? Json(nullptr) : Json("u" + std::string("toolu_") + std::to_string(i - 1))},
                    {"sessionId", "s"},
                    {"message",
                     {{"id", "m" + id},
                      {"role", "assistant"},
                      {"content", Json::array({Json{{"type", "tool_use"},
                                                    {"id", id},
                                                    {"name", "Read"},
                                                    {"input", {{"file_path", id + ".c"}}}}})}}}}
                   .dump() +
               '\n';
        log += Json{{"type", "user"},
                    {"uuid", "u" + id},
                    {"parentUuid", "a" + id},
                    {"sessionId", "s"},
                    {"message",
                     {{"role", "user"},
                      {"content", Json::array({Json{{"type", "tool_result"},
                                                    {"tool_use_id", id},
                                                    {"content", id + std::string(9000, 'x')}}})}}}}
                   .dump() +
               '\n';
    }
    folder.write("in.jsonl", log);
    const std::string in = " '" + folder.at("in.jsonl") + "'";
    const Run explained = run_coppice(folder, "explain --cadence every-request" + in);
    CHECK(explained.exit_code == 0);
    CHECK(explained.out.find("\n        2  keep_recent       Read ") != std::string::npos);
    CHECK(explained.out.find("toolu_0.c]") != std::string::npos);
    const Run pruned = run_coppice(folder, "prune --cadence every-request" + in);
    CHECK(pruned.exit_code == 0);
    const bool same = pruned.out == log;
    CHECK(same);
    CHECK(pruned.err.find("session log") != std::string::npos);
}

TEST_CASE("program: wrong usage is exit code 2 and a message, a file that cannot be used is 1") {
    const Folder folder;
    folder.write("in.json", session(10));
    const std::string in = " '" + folder.at("in.json") + "'";
    const std::string wrong[] = {
        "",
        "frobnicate",
        "prune --preset nonesuch" + in,
        "prune --cadence stepped:0" + in,
        "prune --cadence stepped:x" + in,
        "prune --cadence stepped" + in,
        "prune --cadence every-request:2" + in,
        "prune --cadence min-reclaim" + in,
        "prune --cadence min-reclaim:0" + in,
        "prune --cadence min-reclaim:99999999999999999999" + in,
        "prune --cadence watermark" + in,
        "prune --cadence watermark:100" + in,
        "prune --cadence watermark:100:" + in,
        "prune --cadence watermark:100:100" + in,
        "prune --cadence watermark:100:200" + in,
        "prune --cadence watermark:100:50:25" + in,
        "prune --cadence regrowth" + in,
        "prune --cadence regrowth:0" + in,
        "prune --cadence pressure" + in,
        "prune --cadence pressure:0" + in,
        "prune --cadence pressure:18446744073709551615" + in,
        "prune --cadence ski-rental:" + in,
        "prune --cadence ski-rental:gold" + in,
        "prune --cadence sometimes" + in,
        "prune --ledger",
        "prune --ledger=" + in,
        "prune --ledger - <'" + folder.at("in.json") + "'",
        "prune --hints",
        "prune --hints=" + in,
        "prune --hints - <'" + folder.at("in.json") + "'",
        "prune --hints - --ledger -" + in,
        "recap --hints /nonexistent/hints.json" + in,
        "recap --preset hermes" + in,
        "recap --preset triage" + in,
        "prune --config",
        "prune --config=" + in,
        "prune --config - <'" + folder.at("in.json") + "'",
        "prune --ledger - --config -" + in,
        "explain --cadence every-request --config /nonexistent/config.json" + in,
        "prune --config /nonexistent/config.json --preset standard" + in,
        "replay --config /nonexistent/config.json" + in,
        "recap --config /nonexistent/config.json" + in,
        "prune --dialect klingon" + in,
        "prune --model=" + in,
        "replay --model claude-opus-6" + in,
        "recap --model claude-opus-6" + in,
        "prune --via pigeon" + in,
        "prune --via",
#if !COPPICE_TEST_WIRE
        "prune --via wire" + in,
#endif
        "prune --nonesuch 1" + in,
        "prune --report",
        "prune --report=" + in,
        "prune --report -" + in,
        "prune --preset",
        "prune a b c",
        "explain a b"
    };
    for (const std::string& words : wrong) {
        CAPTURE(words);
        const Run run = run_coppice(folder, words);
        CHECK(run.exit_code == 2);
        CHECK(run.out.empty());
        CHECK(run.err.find("usage:") != std::string::npos);
    }
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const std::string prune = "prune --via " + route + " ";
        CHECK(run_coppice(folder, prune + "/nonexistent/in.json").exit_code == 1);
        CHECK(run_coppice(folder, prune + "/").exit_code == 1);
        CHECK(run_coppice(folder, prune + in + " /nonexistent/out.json").exit_code == 1);
        CHECK(run_coppice(folder, prune + "--report /nonexistent/report.json" + in).exit_code == 1);
        CHECK(run_coppice(folder, prune + "--ledger /nonexistent/ledger.json" + in).exit_code == 1);
        CHECK(run_coppice(folder, prune + "--config /nonexistent/config.json" + in).exit_code == 1);
        CHECK(run_coppice(folder, prune + "--hints /nonexistent/hints.json" + in).exit_code == 1);
    }
    CHECK(run_coppice(folder, "--help").exit_code == 0);
    CHECK(run_coppice(folder, "--version").out == "coppice " COPPICE_VERSION "\n");
}

TEST_CASE("program: a body that a DOM would write longer than it was comes back from there as it was") {
    const Folder folder;
    Json body = Json::parse(session(300));
    std::string numbers = "[0";
    for (int i = 0; i < 200'000; ++i) { numbers += ",1e9"; }
    std::string text = body.dump();
    text.insert(1, "\"metadata\":" + numbers + "],");
    folder.write("in.json", text);
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const Run run = run_coppice(folder, "prune --via " + route + " --report '" + folder.at("report.json") +
                                            "' '" + folder.at("in.json") + "'");
        CHECK(run.exit_code == 0);
        const bool same = run.out == text;
        CHECK(same == (route == "dom"));
        CHECK(Json::parse(folder.read("report.json"))["saved_bytes"] == text.size() - run.out.size());
    }
}

TEST_CASE("program: a report never lands on the body") {
    const Folder folder;
    const std::string body = session(300);
    folder.write("in.json", body);
    const std::string in = " '" + folder.at("in.json") + "'";
    folder.write("out.json", "kept");
    CHECK(run_coppice(folder,
                  "prune --report '" + folder.at("out.json") + "'" + in + " '" + folder.at("out.json") + "'")
              .exit_code == 2);
    CHECK(folder.read("out.json") == "kept");
    CHECK(run_coppice(folder, "prune --report" + in + in).exit_code == 2);
    const bool same = folder.read("in.json") == body;
    CHECK(same);
}

TEST_CASE("program: a file may be pruned in place, and a closed stderr does not matter") {
    const Folder folder;
    const std::string in = " '" + folder.at("in.json") + "'";
    for (const std::string& route : routes()) {
        CAPTURE(route);
        folder.write("in.json", session(300));
        const std::string prune = "prune --via " + route;
        const Run expected = run_coppice(folder, prune + in);
        CHECK(run_coppice(folder, prune + in + " 2>&-").exit_code == 0);
        CHECK(run_coppice(folder, prune + in + " /dev/full").exit_code == 1);
        CHECK(run_coppice(folder, prune + in + in).exit_code == 0);
        const bool same = folder.read("in.json") == expected.out;
        CHECK(same);
    }
}

TEST_CASE("program: a cadence on the command line replaces the preset's own") {
    const Folder folder;
    folder.write("in.json", session(300));
    const std::string rest = " --report '" + folder.at("report.json") + "' '" + folder.at("in.json") + "' '" +
                             folder.at("out.json") + "'";
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const auto horizon = [&](const std::string& words) {
            CHECK(run_coppice(folder, "prune --via " + route + " " + words + rest).exit_code == 0);
            return Json::parse(folder.read("report.json"))["horizon"].get<std::size_t>();
        };
        const std::size_t messages = Json::parse(folder.read("in.json"))["messages"].size();
        CHECK(horizon("--cadence every-request") == messages);
        CHECK(horizon("--preset=openswarm") == messages);
        CHECK(horizon("--preset openswarm --cadence stepped:50") < messages);
        CHECK(horizon("--cadence=stepped:100000") == 0);
        CHECK(horizon("--cadence min-reclaim:1") > horizon("--cadence min-reclaim:20000"));
        CHECK(horizon("--cadence min-reclaim:100000000") == 0);
        CHECK(horizon("--cadence watermark:50000:20000") > 0);
        CHECK(horizon("--cadence watermark:100000000:1") == 0);
        CHECK(horizon("--cadence regrowth:20000") > 0);
        CHECK(horizon("--cadence regrowth:100000000") == 0);
        CHECK(horizon("--cadence pressure:100000") > 0);
        CHECK(horizon("--cadence pressure:100000000") == 0);
        // the presets' own, by their names
        CHECK(horizon("--preset hermes") == horizon("--preset hermes --cadence regrowth:48000"));
        CHECK(horizon("--preset hermes") > 0);
        CHECK(horizon("--preset triage") == horizon("--preset triage --cadence pressure:1000000"));
        CHECK(horizon("--preset triage") == 0);
        CHECK(horizon("--preset triage --cadence pressure:200000") > 0);
        CHECK(horizon("--cadence ski-rental") == horizon(""));
        CHECK(horizon("--cadence ski-rental:anthropic") == horizon(""));
        CHECK(horizon("--cadence ski-rental:no-cache") > horizon(""));
    }
}

TEST_CASE("program: a cadence on the command line begins at the size at which the preset's own does") {
    const Folder folder;
    folder.write("in.json", session(60));
    CHECK(fs::file_size(folder.at("in.json")) > 40'000);
    CHECK(fs::file_size(folder.at("in.json")) < 300'000);
    const std::string in = " '" + folder.at("in.json") + "'";
    for (const std::string& route : routes()) {
        for (const std::string cadence : {"every-request", "min-reclaim:1", "ski-rental:no-cache"}) {
            CAPTURE(route);
            CAPTURE(cadence);
            const std::string words = "prune --via " + route + " --cadence " + cadence;
            CHECK(run_coppice(folder, words + in).err.empty());
            CHECK(run_coppice(folder, words + " --preset openswarm" + in).err.find("unchanged") != std::string::npos);
        }
    }
}

TEST_CASE("program: a ledger tells when the cache was gone, and one that cannot be read is exit code 2") {
    const Folder folder;
    folder.write("in.json", session(300));
    const std::size_t messages = Json::parse(folder.read("in.json"))["messages"].size();
    const std::string in = " '" + folder.at("in.json") + "'";
    const std::string ledger = " --ledger '" + folder.at("ledger.json") + "'";
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const std::string prune = "prune --via " + route + " --report '" + folder.at("report.json") + "'";
        const auto horizon = [&](const std::string& words) {
            CHECK(run_coppice(folder, prune + words + in).exit_code == 0);
            return Json::parse(folder.read("report.json"))["horizon"].get<std::size_t>();
        };
        const std::size_t without = horizon("");
        CHECK(without < messages);
        folder.write("ledger.json", R"({"notes":[{"messages":)" + std::to_string(messages) + R"(,"cold":true}]})");
        CHECK(horizon(ledger) == messages);
        folder.write("ledger.json", R"({"notes":[{"messages":1,"billed":3000,"limit":1000000000}]})");
        CHECK(horizon(ledger) <= messages);
        folder.write("ledger.json", R"({"notes":[]})");
        CHECK(horizon(ledger) == without);
    }
    const std::string malformed[] = {
        "", "not json", "[]", "{}", "null", R"({"notes":{}})", R"({"notes":[{}]})", R"({"notes":[7]})",
        R"({"notes":[{"messages":-1}]})", R"({"notes":[{"messages":1.5}]})",
        R"({"notes":[{"messages":1,"cold":"yes"}]})", R"({"notes":[{"messages":1,"warm":true}]})",
        R"({"notes":[],"more":1})", "\xFF\xFE",
    };
    for (const std::string& text : malformed) {
        CAPTURE(text);
        folder.write("ledger.json", text);
        for (const char* command : {"prune", "explain"}) {
            const Run run = run_coppice(folder, command + ledger + in);
            CHECK(run.exit_code == 2);
            CHECK(run.out.empty());
            CHECK(run.err.find("--ledger") != std::string::npos);
        }
    }
    CHECK(run_coppice(folder, "recap" + ledger + in).exit_code == 2);
}

TEST_CASE("program: a configuration says the whole pipeline, and a wrong one is exit code 2 and names the place") {
    const Folder folder;
    folder.write("in.json", session(300));
    const std::string in = " '" + folder.at("in.json") + "'";
    const std::string config = " --config '" + folder.at("config.json") + "'";
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const std::string prune = "prune --via " + route + " --report '" + folder.at("report.json") + "'";
        const auto check_same = [&](const std::string& text, const std::string& words) {
            CAPTURE(text);
            folder.write("config.json", text);
            const Run configured = run_coppice(folder, prune + config + in);
            Json report = Json::parse(folder.read("report.json"));
            const Run expected = run_coppice(folder, prune + words + in);
            CHECK(configured.exit_code == 0);
            CHECK(report["preset"] == "config");
            report["preset"] = "standard";
            CHECK(report["engaged"] == true);
            const bool same = configured.out == expected.out && report == Json::parse(folder.read("report.json"));
            CHECK(same);
        };
        check_same(R"({"preset":"standard"})", "");
        check_same(R"({"preset":"standard","cadence":{"name":"stepped","requests":7,"engage":40000}})",
                   " --cadence stepped:7");
    }
    folder.write("config.json", R"({"policies":["dedup"],"cadence":{"name":"stepped","requests":100000}})");
    CHECK(run_coppice(folder, "explain" + config + in).out ==
          "config: nothing would change: at no request so far the cadence stepped lets the history change\n");
    const std::pair<const char*, const char*> wrong[] = {
        {"", "is not valid JSON"},
        {"{", "is not valid JSON"},
        {"[]", "the document is no object"},
        {R"({"policies":["dedup",{"name":"keep_recent","keep":-1}]})", "/policies/1/keep is no whole number"},
        {R"({"policies":["spill"]})", "/policies/0 needs a store"},
    };
    for (const auto& each : wrong) {
        folder.write("config.json", each.first);
        for (const char* command : {"prune", "explain"}) {
            const Run run = run_coppice(folder, command + config + in);
            CHECK(run.exit_code == 2);
            CHECK(run.out.empty());
            CHECK(run.err.find("--config") != std::string::npos);
            CHECK(run.err.find(each.second) != std::string::npos);
        }
    }
}

TEST_CASE("program: hints keep a call as it is, and wrong ones are exit code 2 and name the place") {
    const Folder folder;
    folder.write("in.json", session(300));
    const std::string in = " '" + folder.at("in.json") + "'";
    const std::string hints = " --hints '" + folder.at("hints.json") + "'";
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const std::string prune = "prune --via " + route + " --report '" + folder.at("report.json") + "'";
        const auto edited = [&](const std::string& words) {
            CHECK(run_coppice(folder, prune + words + in).exit_code == 0);
            std::set<std::string> ids;
            const Json report = Json::parse(folder.read("report.json"));
            for (const Json& edit : report["edits"]) { ids.insert(edit["id"].get<std::string>()); }
            ids.erase("");
            return ids;
        };
        const std::set<std::string> before = edited("");
        REQUIRE(before.size() > 10);
        folder.write("hints.json", Json{{"pin", {*before.begin(), *std::next(before.begin())}}}.dump());
        const std::set<std::string> after = edited(hints);
        CHECK(after.count(*before.begin()) == 0);
        CHECK(after.count(*std::next(before.begin())) == 0);
        CHECK(after.size() > 10);

        const std::string clearing = " --config '" + folder.at("config.json") + "'";
        folder.write("config.json", R"({"policies": ["clear_hinted"]})");
        CHECK(edited(clearing).empty());
        folder.write("hints.json", Json{{"useless", {{{"id", *before.begin()}, {"messages", 3}}}}, {"regenerable", Json::array()}}.dump());
        CHECK(edited(clearing + hints) == std::set<std::string>{*before.begin()});
    }
    const std::pair<const char*, const char*> wrong[] = {
        {"", "is not valid JSON"},
        {"[]", "the hints are no object"},
        {R"({"pinned": []})", "/pinned is unknown"},
        {R"({"pin": "a"})", "/pin is no list"},
        {R"({"pin": ["a", 1]})", "/pin/1 is neither an id nor an object with one"},
        {R"({"useless": [{"messages": 1}]})", "/useless/0 is neither an id nor an object with one"},
        {R"({"useless": [{"id": "a", "messages": -1}]})", "/useless/0/messages is no whole number"},
        {R"({"useless": [{"id": "a", "since": 1}]})", "/useless/0/since is unknown"},
        {R"({"a/b~\u001b[2J\u202e": []})", "/a~1b~0 (2J? is unknown"},
        {R"({"pin": [{"id": "a", "x/\u001b]0;y\u0007": 1}]})", "/pin/0/x~1 )0;y is unknown"},
    };
    for (const auto& each : wrong) {
        folder.write("hints.json", each.first);
        const Run run = run_coppice(folder, "explain" + hints + in);
        CAPTURE(each.first);
        CHECK(run.exit_code == 2);
        CHECK(run.err.find("--hints") != std::string::npos);
        CHECK(run.err.find(each.second) != std::string::npos);
    }
}

TEST_CASE("program: what stands behind a NUL is no end of a file") {
    const Folder folder;
    folder.write("in.json", session(20));
    const std::string in = " '" + folder.at("in.json") + "'";
    const std::string nul("\0garbage}", 9);
    folder.write("config.json", R"({"preset":"hermes"})" + nul);
    folder.write("hints.json", R"({"pin":["a"]})" + nul);
    folder.write("ledger.json", R"({"notes":[]})" + nul);
    for (const char* const option : {"config", "hints", "ledger"}) {
        const Run run = run_coppice(folder, std::string("explain --") + option + " '" + folder.at(option + std::string(".json")) + "'" + in);
        CAPTURE(option);
        CHECK(run.exit_code == 2);
        CHECK(run.err.find("is not valid JSON") != std::string::npos);
    }
    folder.write("in.json", session(20) + nul);
    for (const std::string& route : routes()) {
        const Run run = run_coppice(folder, "prune --via " + route + in);
        CHECK(run.err.find("not valid JSON") != std::string::npos);
    }
    CHECK(run_coppice(folder, "replay" + in).err.find("not valid JSON") != std::string::npos);
    folder.write("in.json", R"({"messages":[]})" + nul);
    CHECK(run_coppice(folder, "recap" + in).err.find("not JSON") != std::string::npos);
}

TEST_CASE("program: a body that names no model is whose the command line says") {
    const Folder folder;
    Json document = Json::parse(session(300));
    document.erase("model");
    folder.write("in.json", document.dump());
    const auto pruned = [&](const std::string& words) {
        const Run run = run_coppice(folder, "prune --cadence every-request " + words + " '" + folder.at("in.json") + "'");
        CHECK(run.exit_code == 0);
        return run.out.size();
    };
    for (const std::string& route : routes()) {
        const std::string via = "--via " + route;
        CAPTURE(route);
        // it thinks, so that without a name it is taken for one that binds its thinking
        CHECK(pruned(via + " --model claude-opus-5-5") == pruned(via));
        CHECK(pruned(via + " --model claude-opus-4-6") < pruned(via));
    }
}

TEST_CASE("program: the switches of an OpenSwarm host hold for its preset alone") {
    const Folder folder;
    const std::string body = session(300);
    folder.write("in.json", body);
    const std::string in = " '" + folder.at("in.json") + "'";
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const std::string prune = "prune --via " + route;
        const Run off = run_coppice(folder, prune + " --preset openswarm" + in, "OSW_HISTORY_PRUNE=Off");
        CHECK(off.exit_code == 0);
        const bool same = off.out == body;
        CHECK(same);
        CHECK(off.err.find("OSW_HISTORY_PRUNE") != std::string::npos);
        CHECK(run_coppice(folder, prune + in, "OSW_HISTORY_PRUNE=off").err.empty());
        const Run debug = run_coppice(folder, prune + " --preset openswarm" + in, "OSW_HISTORY_PRUNE_DEBUG=1");
        CHECK(debug.err.substr(0, 16) == "[history-prune] ");
    }
}

TEST_CASE("program: a recap with OpenSwarm's texts is exactly the original's") {
    const Folder folder;
    std::ifstream file(std::string(COPPICE_SOURCE_DIR) + "/tests/recap/openswarm_golden.json");
    const Json golden = Json::parse(file);
    for (const Json& item : golden.at("recap")) {
        CAPTURE(item.at("name"));
        Json document;
        document["messages"] = item.at("messages");
        folder.write("session.json", document.dump());
        const std::string cutoff = item.at("cutoff").is_null() ? "" : item.at("cutoff").get<std::string>();
        for (const std::string& words : {"--cutoff=" + cutoff, "--cutoff '" + cutoff + "'"}) {
            const Run run =
                run_coppice(folder, "recap --preset openswarm " + words + " '" + folder.at("session.json") + "'");
            CHECK(run.exit_code == 0);
            const bool same = run.out == item.at("text").get<std::string>();
            CHECK(same);
        }
    }
    for (const Json& item : golden.at("branch")) {
        Json document;
        document["messages"] = item.at("messages");
        document["branches"] = item.at("branches");
        folder.write("session.json", document.dump());
        const Run run =
            run_coppice(folder, "recap --preset openswarm --branch '" + item.at("active").get<std::string>() +
                                "' - <'" + folder.at("session.json") + "'");
        for (const Json& message : item.at("messages")) {
            const Json& ids = item.at("ids");
            const bool there = std::find(ids.begin(), ids.end(), message.at("id")) != ids.end();
            const std::string line = "\nThe user asked: " + message.at("content").get<std::string>() + "\n";
            if (message.at("role") == "user") { CHECK((run.out.find(line) != std::string::npos) == there); }
        }
    }
}

TEST_CASE("program: the flags of a recap win over the session's own branch and cutoff") {
    const Folder folder;
    Json document = Json::parse(R"({"messages": [
        {"id": "u", "role": "user", "content": "go"},
        {"id": "c", "role": "tool_call", "content": {"tool": "Read", "input": {"file_path": "/a"}}},
        {"id": "r", "role": "tool_result", "content": {"tool_name": "Read", "text": "BODY"}},
        {"id": "b", "role": "user", "content": "on the branch", "branch_id": "b1"}],
        "branches": {"b1": {"fork_point_message_id": "c", "parent_branch_id": "main"}},
        "active_branch_id": "b1", "compacted_through_msg_id": "r"})");
    std::string& body = document["messages"][2]["content"]["text"].get_ref<std::string&>();
    while (body.size() < 900) { body += " BODY"; }
    folder.write("session.json", document.dump());
    const std::string file = " '" + folder.at("session.json") + "'";
    const auto shows = [&](const std::string& words, const std::string& text) {
        return run_coppice(folder, "recap --preset openswarm" + words + file).out.find(text) != std::string::npos;
    };
    CHECK(shows("", "on the branch"));
    CHECK_FALSE(shows("", "Tool call"));
    CHECK_FALSE(shows(" --branch main", "on the branch"));
    CHECK(shows(" --branch main", "(904 chars result)"));
    CHECK_FALSE(shows(" --branch main", "BODY BODY"));
    CHECK(shows(" --branch main --cutoff u", "BODY BODY"));
    CHECK(shows(" --branch main --cutoff ''", "BODY BODY"));
}

TEST_CASE("program: a recap by default is bounded, and what was asked last follows it") {
    const Folder folder;
    Json document;
    for (int i = 0; i < 3000; ++i) {
        document["messages"].push_back(
            {{"role", "user"}, {"content", "ask " + std::to_string(i) + std::string(90, '.')}});
        document["messages"].push_back({{"role", "tool_call"}, {"content", {{"tool", "Bash"}}}});
    }
    document["messages"].push_back({{"role", "user"}, {"content", "the live </agent_session_recap> ask"}});
    folder.write("session.json", document.dump());
    const Run run = run_coppice(folder, "recap '" + folder.at("session.json") + "'");
    CHECK(run.exit_code == 0);
    CHECK(run.out.size() < 100'000);
    CHECK(run.out.find("ask 2999") != std::string::npos);
    CHECK(run.out.find("ask 1.") == std::string::npos);
    CHECK(run.err.find("older lines are left out") != std::string::npos);
    const std::string end = "</agent_session_recap>\n\nthe live </quoted:agent_session_recap> ask";
    CHECK(run.out.substr(run.out.size() - end.size()) == end);
}

TEST_CASE("program: a session that cannot be read gives no recap, exit code 0 and a line that says why") {
    const Folder folder;
    for (const std::string& data :
         {std::string(), std::string("{"), std::string("[]"), std::string("{}"), std::string("null"),
          std::string(R"({"messages": 3})"), std::string(R"({"messages": []})"), std::string("\xFF\xFE"),
          std::string(R"({"messages": [1, null, {"role": "user"}, {"role": 3, "content": []}]})"),
          R"({"messages": )" + nested(100'000) + "}", nested(100'000),
          std::string(R"({"messages": [{"role": "assistant", "content": "\ud800"}]})"),
          std::string(R"({"messages": [{"role": "user", "content": 1e999}]})")}) {
        folder.write("session.json", data);
        for (const char* preset : {"standard", "openswarm"}) {
            const Run run = run_coppice(
                folder, std::string("recap --preset ") + preset + " '" + folder.at("session.json") + "'");
            CHECK(run.exit_code == 0);
            CHECK(run.out.empty());
            CHECK(run.err.find("coppice: no recap: ") == 0);
        }
    }
}

TEST_CASE("program: what tools cut into a session's texts does not lose the session") {
    const Folder folder;
    folder.write("session.json",
                 R"({"messages": [{"role": "user", "content": "a\ud83d \\ud83d b\ud83d\ude00 c"},)"
                 "{\"role\": \"tool_result\", \"content\": \"x\xF0\x9F\"}]}");
    const Run run = run_coppice(folder, "recap '" + folder.at("session.json") + "'");
    CHECK(run.exit_code == 0);
    CHECK(run.out.find("The user asked: a\uFFFD \\ud83d b\U0001F600 c\n") != std::string::npos);
    CHECK(run.out.find("Result: x\uFFFD\uFFFD\n") != std::string::npos);
}

TEST_CASE("program: wrong usage of recap is exit code 2, a file that is not there is 1") {
    const Folder folder;
    for (const std::string& words :
         {std::string("recap --via dom"), std::string("recap --dialect auto"),
          std::string("recap --report=x"), std::string("recap --preset hermes"),
          std::string("recap --cutoff"), std::string("recap --what"), std::string("recap a b"),
          std::string("prune --cutoff x"), std::string("explain --branch=x")}) {
        const Run run = run_coppice(folder, words + " </dev/null");
        CHECK(run.exit_code == 2);
        CHECK(run.out.empty());
        CHECK(run.err.find("coppice: ") == 0);
    }
    CHECK(run_coppice(folder, "recap '" + folder.at("nothing") + "'").exit_code == 1);
}

TEST_CASE("program: explain prints a table and never the body") {
    const Folder folder;
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const std::string words = "explain --via " + route + " '" + folder.at("in.json") + "'";
        folder.write("in.json", session(300));
        const Run run = run_coppice(folder, words);
        CHECK(run.exit_code == 0);
        CHECK(run.out.find("keep_recent") != std::string::npos);
        CHECK(run.out.find(" left, read as anthropic\n") != std::string::npos);
        CHECK(run.out.find(" tokens left") != std::string::npos);
        CHECK(run.out.find("a summary could stand for messages ") != std::string::npos);
        CHECK(run.out.find("saturated") == std::string::npos);
        CHECK(run_coppice(folder, words + " --cadence watermark:60000:1").out.find("saturated: ") != std::string::npos);
        folder.write("in.json", "{}");
        CHECK(run_coppice(folder, words).out.find("nothing would change") != std::string::npos);
    }
}

TEST_CASE("program: explain prints the report in the format that it is asked for") {
    const Folder folder;
    folder.write("in.json", session(300));
    for (const std::string& route : routes()) {
        CAPTURE(route);
        const std::string words = " --via " + route + " '" + folder.at("in.json") + "'";
        const Run plain = run_coppice(folder, "explain" + words);
        const Run text = run_coppice(folder, "explain --format text" + words);
        CHECK(text.exit_code == 0);
        const bool same = text.out == plain.out;
        CHECK(same);

        const Run json = run_coppice(folder, "explain --format=json --report '" + folder.at("report.json") + "'" + words);
        CHECK(json.exit_code == 0);
        const bool same_report = json.out == folder.read("report.json");
        CHECK(same_report);
        const Json report = Json::parse(json.out);
        CHECK(report["engaged"] == true);

        const Run markdown = run_coppice(folder, "explain --format markdown" + words);
        CHECK(markdown.exit_code == 0);
        CHECK(markdown.err.empty());
        const std::string edits = std::to_string(report["edits"].size());
        CHECK(markdown.out.find("## " + edits + " edits, ") == 0);
        CHECK(markdown.out.find("\n| all | " + edits + " | ") != std::string::npos);
        const auto rows = std::count(markdown.out.begin(), markdown.out.end(), '\n');
        CHECK(static_cast<std::size_t>(rows) > report["edits"].size() + report["by_reason"].size());
    }
    folder.write("in.json", "{}");
    const std::string in = " '" + folder.at("in.json") + "'";
    CHECK(run_coppice(folder, "explain --format markdown" + in).out.find("- nothing changed: ") != std::string::npos);
    CHECK(Json::parse(run_coppice(folder, "explain --format json" + in).out)["engaged"] == false);
    for (const char* wrong : {"explain --format xml", "explain --format", "explain --format=", "prune --format json",
                              "recap --format json", "replay --format json"}) {
        CAPTURE(wrong);
        const Run run = run_coppice(folder, wrong + in);
        CHECK(run.exit_code == 2);
        CHECK(run.out.empty());
        CHECK(run.err.find("usage:") != std::string::npos);
    }
}

#endif
