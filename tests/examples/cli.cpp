// SPDX-License-Identifier: MIT
// The program's contract: exit codes, what comes out, and that data never fails.
#ifdef COPPICE_CLI

#include "../../examples/session_generator.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

class Folder {
public:
    Folder() : path_(fs::temp_directory_path() / ("coppice-cli-" + std::to_string(::getpid()))) {
        fs::create_directories(path_);
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string at(const std::string& name) const { return (path_ / name).string(); }

    void write(const std::string& name, const std::string& content) const {
        std::ofstream(at(name), std::ios::binary) << content;
    }
    std::string read(const std::string& name) const {
        std::ifstream file(at(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

private:
    fs::path path_;
};

struct Run {
    int exit_code = 0;
    std::string out;
    std::string err;
};

Run coppice(const Folder& folder, const std::string& words, const std::string& environment = "") {
    const std::string command = environment + " '" COPPICE_CLI "' " + words + " >'" + folder.at("stdout") +
                                "' 2>'" + folder.at("stderr") + "'";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder.read("stdout"), folder.read("stderr")};
}

std::string session(std::size_t results) {
    coppice_examples::SessionShape shape;
    shape.results = results;
    return coppice_examples::make_session(shape).dump();
}

}  // namespace

TEST_CASE("program: prune from file to file, and the report's figures are those of the files") {
    const Folder folder;
    const std::string body = session(300);
    folder.write("in.json", body);
    for (const std::string& preset : {std::string("standard"), std::string("openswarm")}) {
        CAPTURE(preset);
        const Run run =
            coppice(folder, "prune --preset " + preset + " --report '" + folder.at("report.json") + "' '" +
                                folder.at("in.json") + "' '" + folder.at("out.json") + "'");
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
        CHECK(report["first_changed_offset"].is_null());
        CHECK(report["unpaired_calls"] == 0);
        for (const Json& warning : report["warnings"]) {
            CHECK(warning.get<std::string>().find("were cleared with their results") != std::string::npos);
        }
    }
}

TEST_CASE("program: standard input to standard output, and a second pass changes nothing") {
    const Folder folder;
    folder.write("in.json", session(300));
    const Run first = coppice(folder, "prune <'" + folder.at("in.json") + "'");
    CHECK(first.exit_code == 0);
    folder.write("once.json", first.out);
    const Run second = coppice(folder, "prune - - <'" + folder.at("once.json") + "'");
    CHECK(second.exit_code == 0);
    const bool same = second.out == first.out;
    CHECK(same);
    CHECK(second.err.find("unchanged") != std::string::npos);
}

TEST_CASE(
    "program: what cannot be pruned comes back byte for byte, with exit code 0 and one line that says why") {
    const Folder folder;
    const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
    const std::string long_text(400'000, 'x');
    const std::string pair =
        R"({"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":INPUT}]},)"
        R"({"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"TEXT"}]},)";
    const auto body = [&](const std::string& input, const std::string& extra) {
        std::string messages;
        for (int i = 0; i < 7; ++i) { messages += pair; }
        messages.replace(messages.find("INPUT"), 5, input);
        for (std::size_t at = messages.find("INPUT"); at != std::string::npos; at = messages.find("INPUT")) {
            messages.replace(at, 5, "{}");
        }
        for (std::size_t at = messages.find("TEXT"); at != std::string::npos; at = messages.find("TEXT")) {
            messages.replace(at, 4, long_text);
        }
        return R"({"system":"s",)" + extra + R"("messages":[)" + messages +
               R"({"role":"user","content":"go on"}]})";
    };
    const std::string cases[] = {
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
        deep,
        "{\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"y\"}]}",
        body("{\"deep\":" + deep + "}", ""),
        body("{}", "\"n\":1234567890123456789012345,"),
        body("{}", "\"twice\":1,\"twice\":2,"),
        std::string("{\"messages\":[{\"role\":\"user\",\"content\":\"a") + '\0' + "b\"}]}",
    };
    for (const std::string& input : cases) {
        CAPTURE(input.substr(0, 60));
        folder.write("in.json", input);
        const Run run = coppice(folder, "prune --preset openswarm '" + folder.at("in.json") + "'");
        CHECK(run.exit_code == 0);
        const bool same = run.out == input;
        CHECK(same);
        CHECK(run.err.size() > 10);
        CHECK(run.err.find('\n') == run.err.size() - 1);
    }
    // the same body without the oddity is pruned
    folder.write("in.json", body("{}", ""));
    CHECK(coppice(folder, "prune --preset openswarm '" + folder.at("in.json") + "'").err.empty());
}

TEST_CASE("program: white space and byte order mark around the body stay") {
    const Folder folder;
    folder.write("in.json", "\xEF\xBB\xBF \n" + session(300) + "\r\n\n");
    const Run run = coppice(folder, "prune '" + folder.at("in.json") + "'");
    CHECK(run.exit_code == 0);
    CHECK(run.err.empty());
    CHECK(run.out.substr(0, 6) == "\xEF\xBB\xBF \n{");
    CHECK(run.out.substr(run.out.size() - 4) == "}\r\n\n");
}

TEST_CASE("program: wrong usage is exit code 2 and a message, a file that cannot be used is 1") {
    const Folder folder;
    folder.write("in.json", session(10));
    const std::string in = " '" + folder.at("in.json") + "'";
    const std::string wrong[] = {"",
                                 "frobnicate",
                                 "prune --preset nonesuch" + in,
                                 "prune --cadence stepped:0" + in,
                                 "prune --cadence stepped:x" + in,
                                 "prune --cadence sometimes" + in,
                                 "prune --dialect klingon" + in,
                                 "prune --via pigeon" + in,
                                 "prune --nonesuch 1" + in,
                                 "prune --report",
                                 "prune --report=" + in,
                                 "prune --report -" + in,
                                 "prune --preset",
                                 "prune a b c",
                                 "explain a b"};
    for (const std::string& words : wrong) {
        CAPTURE(words);
        const Run run = coppice(folder, words);
        CHECK(run.exit_code == 2);
        CHECK(run.out.empty());
        CHECK(run.err.find("usage:") != std::string::npos);
    }
    CHECK(coppice(folder, "prune /nonexistent/in.json").exit_code == 1);
    CHECK(coppice(folder, "prune /").exit_code == 1);
    CHECK(coppice(folder, "prune" + in + " /nonexistent/out.json").exit_code == 1);
    CHECK(coppice(folder, "prune --report /nonexistent/report.json" + in).exit_code == 1);
    CHECK(coppice(folder, "--help").exit_code == 0);
    CHECK(coppice(folder, "--version").out == "coppice " COPPICE_VERSION "\n");
}

TEST_CASE("program: a body that a DOM would write longer than it was comes back as it was") {
    const Folder folder;
    Json body = Json::parse(session(300));
    std::string numbers = "[0";
    for (int i = 0; i < 200'000; ++i) { numbers += ",1e9"; }
    std::string text = body.dump();
    text.insert(1, "\"metadata\":" + numbers + "],");
    folder.write("in.json", text);
    const Run run =
        coppice(folder, "prune --report '" + folder.at("report.json") + "' '" + folder.at("in.json") + "'");
    CHECK(run.exit_code == 0);
    const bool same = run.out == text;
    CHECK(same);
    CHECK(Json::parse(folder.read("report.json"))["saved_bytes"] == 0);
}

TEST_CASE("program: a report never lands on the body") {
    const Folder folder;
    const std::string body = session(300);
    folder.write("in.json", body);
    const std::string in = " '" + folder.at("in.json") + "'";
    folder.write("out.json", "kept");
    CHECK(coppice(folder,
                  "prune --report '" + folder.at("out.json") + "'" + in + " '" + folder.at("out.json") + "'")
              .exit_code == 2);
    CHECK(folder.read("out.json") == "kept");
    CHECK(coppice(folder, "prune --report" + in + in).exit_code == 2);
    const bool same = folder.read("in.json") == body;
    CHECK(same);
}

TEST_CASE("program: a file may be pruned in place, and a closed stderr does not matter") {
    const Folder folder;
    folder.write("in.json", session(300));
    const std::string in = " '" + folder.at("in.json") + "'";
    const Run expected = coppice(folder, "prune" + in);
    CHECK(coppice(folder, "prune" + in + in).exit_code == 0);
    const bool same = folder.read("in.json") == expected.out;
    CHECK(same);
    CHECK(coppice(folder, "prune" + in + " 2>&-").exit_code == 0);
    CHECK(coppice(folder, "prune" + in + " /dev/full").exit_code == 1);
}

TEST_CASE("program: a cadence on the command line replaces the preset's own") {
    const Folder folder;
    folder.write("in.json", session(300));
    const std::string rest = " --report '" + folder.at("report.json") + "' '" + folder.at("in.json") + "' '" +
                             folder.at("out.json") + "'";
    const auto horizon = [&](const std::string& words) {
        CHECK(coppice(folder, "prune " + words + rest).exit_code == 0);
        return Json::parse(folder.read("report.json"))["horizon"].get<std::size_t>();
    };
    const std::size_t messages = Json::parse(folder.read("in.json"))["messages"].size();
    CHECK(horizon("--cadence every-request") == messages);
    CHECK(horizon("--preset=openswarm") == messages);
    CHECK(horizon("--preset openswarm --cadence stepped:50") < messages);
    CHECK(horizon("--cadence=stepped:100000") == 0);
}

TEST_CASE("program: the switches of an OpenSwarm host hold for its preset alone") {
    const Folder folder;
    const std::string body = session(300);
    folder.write("in.json", body);
    const std::string in = " '" + folder.at("in.json") + "'";
    const Run off = coppice(folder, "prune --preset openswarm" + in, "OSW_HISTORY_PRUNE=Off");
    CHECK(off.exit_code == 0);
    const bool same = off.out == body;
    CHECK(same);
    CHECK(off.err.find("OSW_HISTORY_PRUNE") != std::string::npos);
    CHECK(coppice(folder, "prune" + in, "OSW_HISTORY_PRUNE=off").err.empty());
    const Run debug = coppice(folder, "prune --preset openswarm" + in, "OSW_HISTORY_PRUNE_DEBUG=1");
    CHECK(debug.err.substr(0, 16) == "[history-prune] ");
}

TEST_CASE("program: explain prints a table and never the body") {
    const Folder folder;
    folder.write("in.json", session(300));
    const Run run = coppice(folder, "explain '" + folder.at("in.json") + "'");
    CHECK(run.exit_code == 0);
    CHECK(run.out.find("keep_recent") != std::string::npos);
    CHECK(run.out.find(" left\n") != std::string::npos);
    folder.write("in.json", "{}");
    CHECK(coppice(folder, "explain '" + folder.at("in.json") + "'").out.find("nothing would change") !=
          std::string::npos);
}

#endif
