// SPDX-License-Identifier: MIT
#include <coppice/call_view.hpp>

#include "support/dialects.hpp"
#include "support/nested.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace support;
using coppice::CallView;

namespace {

using Tell = std::function<std::string(const CallView&)>;

// Shows the view of a result to whoever asks, and says what the plain wording says.
struct Telling : coppice::PlainWording {
    static constexpr std::string_view name = "telling";
    const Tell* tell = nullptr;
    std::string* told = nullptr;
    void result(std::string& out, const coppice::ResultFacts& facts) const {
        REQUIRE(facts.call != nullptr);
        *told = (*tell)(*facts.call);
        PlainWording::result(out, facts);
    }
};

// What is told of the one result of a document, by both kinds of DOM and by bytes.
std::string told(const std::string& bytes, const Tell& tell) {
    std::string by_bytes, by_ordered, by_sorted;
    const auto plan = [&](const auto& document, std::string& out) {
        Telling words;
        words.tell = &tell;
        words.told = &out;
        coppice::plan(document, coppice::Pipeline{coppice::SmallAging<0>{}, words});
    };
    plan(bytes, by_bytes);
    plan(Ordered::parse(bytes), by_ordered);
    plan(nlohmann::json::parse(bytes), by_sorted);
    CHECK(by_bytes == by_ordered);
    CHECK(by_sorted == by_ordered);
    return by_bytes;
}

Ordered called(Ordered input, Ordered output = filler(0, 400), bool failed = false) {
    Ordered messages = list(user("start"));
    add_pair(messages, "c", "Bash", std::move(input), std::move(output), failed);
    messages.push_back(assistant("done"));
    return body(std::move(messages));
}

std::string told(const Ordered& document, const Tell& tell) { return told(document.dump(), tell); }

std::string joined(const std::vector<std::string>& all) {
    std::string out;
    for (const std::string& one : all) { out.append(one).append("|"); }
    return out;
}

std::string all_values(const CallView& call) {
    std::string out;
    call.for_each_value(
        [&](std::string_view key, std::string_view value) { out.append(key).append("=").append(value) += '|'; });
    return out;
}

std::string number(const std::optional<std::size_t>& lines) { return lines ? std::to_string(*lines) : "none"; }

}  // namespace

TEST_CASE("call_view: texts, numbers and literals of the input by their names") {
    const Ordered document = called({{"z", "text"},
                                     {"n", 12345678901234567890ULL},
                                     {"x", -1.5},
                                     {"t", true},
                                     {"f", false},
                                     {"null", nullptr},
                                     {"list", list(1, 2)},
                                     {"object", {{"z", "inner"}}},
                                     {"", "empty name"},
                                     {"word", "null"},
                                     {"blank", ""}});
    const auto text = [&](std::string_view name) {
        return told(document, [=](const CallView& call) { return call.text(name); });
    };
    const auto value = [&](std::string_view name) {
        return told(document, [=](const CallView& call) { return call.value(name); });
    };
    CHECK(text("z") == "text");
    CHECK(text("") == "empty name");
    CHECK(text("word") == "null");
    for (const char* name : {"n", "t", "null", "list", "object", "blank", "absent", "Z", "z "}) { CHECK(text(name) == ""); }
    CHECK(value("z") == "text");
    CHECK(value("n") == "12345678901234567890");
    CHECK(value("x") == "-1.5");
    CHECK(value("t") == "true");
    CHECK(value("f") == "false");
    CHECK(value("word") == "null");
    for (const char* name : {"null", "list", "object", "blank", "absent"}) { CHECK(value(name) == ""); }
    CHECK(told(document, all_values) == "=empty name|f=false|n=12345678901234567890|t=true|word=null|x=-1.5|z=text|");
}

TEST_CASE("call_view: a number is told alike however it is spelled, and by whomever it was read") {
    const auto value = [](const std::string& spelled) {
        std::string bytes = called({{"n", "here"}}).dump();
        const std::string place = R"("here")";
        bytes.replace(bytes.find(place), place.size(), spelled);
        return told(bytes, [](const CallView& call) { return call.value("n"); });
    };
    for (const char* spelled : {"0", "-0", "0.0", "-0.0", "0e7", "0.000", "1e-400"}) {
        CAPTURE(spelled);
        CHECK(value(spelled) == "0");
    }
    for (const char* spelled : {"200", "2e2", "2.00E+2", "200.0", "20000e-2"}) {
        CAPTURE(spelled);
        CHECK(value(spelled) == "200");
    }
    CHECK(value("0.1") == "0.1");
    CHECK(value("-15e-1") == "-1.5");
    CHECK(value("1e300") == "1e+300");
    CHECK(value("-9223372036854775808") == "-9223372036854775808");
    CHECK(value("18446744073709551615") == "18446744073709551615");
    CHECK(value("123456789012345678901") == "123456789012345683968");
    CHECK(value("-9223372036854775807") == "-9223372036854775807");
    CHECK(value("-9223372036854775809") == "-9223372036854775808");
    CHECK(value("0.1000000000000000055511151231257827") == "0.1");
    CHECK(value("5e-324") == "5e-324");
}

TEST_CASE("call_view: lists of texts, of objects by the first member that is a text, and a text for a list of one") {
    static constexpr std::array<std::string_view, 2> members = {"url", "href"};
    const auto texts = [](Ordered value) {
        return told(called({{"urls", std::move(value)}}),
                    [](const CallView& call) { return joined(call.list("urls", members)); });
    };
    CHECK(texts(list("a", "b")) == "a|b|");
    CHECK(texts("one") == "one|");
    CHECK(texts("") == "");
    CHECK(texts(list("", 1, nullptr, true, list("x"), "b")) == "b|");
    CHECK(texts(list(Ordered{{"href", "h"}, {"url", "u"}}, Ordered{{"href", "h"}}, Ordered{{"other", "x"}})) == "u|h|");
    CHECK(texts(list(Ordered{{"url", " "}, {"href", "h"}}, " \n", Ordered{{"url", 7}, {"href", "i"}},
                     Ordered{{"url", "u"}})) == "h|i|u|");
    CHECK(texts({{"url", "no list"}}) == "");
    CHECK(texts(Ordered()) == "");
    CHECK(told(called({{"urls", list(Ordered{{"url", "u"}}, "a")}}),
               [](const CallView& call) { return joined(call.list("urls")); }) == "a|");
}

TEST_CASE("call_view: lines of a text") {
    CHECK(CallView::line_count("") == 0);
    CHECK(CallView::line_count(" \n\t\n") == 0);
    CHECK(CallView::line_count("a") == 1);
    CHECK(CallView::line_count("a\n") == 2);
    CHECK(CallView::line_count("\n\na\nb") == 4);
    CHECK(CallView::line_count(std::string("\0", 1)) == 1);
    const auto lines = [](Ordered value) {
        return told(called({{"content", std::move(value)}}),
                    [](const CallView& call) { return number(call.lines("content")); });
    };
    CHECK(lines("a\nb\nc") == "3");
    CHECK(lines("") == "0");
    CHECK(lines(std::string(3000, '\n') + "x") == "3001");
    CHECK(lines(7) == "none");
    CHECK(lines(list("a")) == "none");
    CHECK(lines(nullptr) == "none");
}

TEST_CASE("call_view: what an earlier pruning cleared is not told, and all else of the input is") {
    const std::string stub = "[tool input cleared: 5120 characters; content]";
    const Ordered document = called({{"path", "/a"}, {"content", stub}, {"other", "x\ny"}, {"files", list(stub, "b")}});
    const auto tell = [&](const Tell& what) { return told(document, what); };
    CHECK(tell([](const CallView& call) { return call.text("content") + call.value("content"); }) == "");
    CHECK(tell([](const CallView& call) { return number(call.lines("content")) + number(call.lines("other")); }) ==
          "none2");
    CHECK(tell([](const CallView& call) { return joined(call.list("files")) + joined(call.list("content")); }) == "b|");
    CHECK(tell(all_values) == "other=x\ny|path=/a|");
    // near misses are what the call was made with
    const Ordered other = called({{"content", stub + " "}});
    CHECK(told(other, [](const CallView& call) { return call.text("content"); }) == stub + " ");
}

TEST_CASE("call_view: what a plan clears is told all the same, whoever comes first") {
    const Ordered document = called({{"path", "/a"}, {"content", filler(1, 900)}});
    for (const bool first : {true, false}) {
        std::string out;
        const Tell tell = [](const CallView& call) { return call.text("content") + number(call.lines("content")); };
        Telling words;
        words.tell = &tell;
        words.told = &out;
        const coppice::StaleInput<0, 0> inputs;
        const coppice::SmallAging<0> results;
        if (first) {
            coppice::plan(document, coppice::Pipeline{inputs, results, words});
        } else {
            coppice::plan(document, coppice::Pipeline{results, inputs, words});
        }
        CHECK(out == filler(1, 900) + "15");
    }
}

TEST_CASE("call_view: the output as text, however it is given") {
    const Tell output = [](const CallView& call) { return call.output(); };
    CHECK(told(called({}, filler(0, 900)), output) == filler(0, 900));
    CHECK(told(called({}, list(text(filler(0, 500)), text("b\n\"c\""))), output) == filler(0, 500) + "b\n\"c\"");
    const std::string hostile = std::string("nul\0\x01 \xE2\x80\xAE", 9) + filler(0, 400);
    CHECK(told(called({}, hostile), output) == hostile);
    in_every_dialect([&](const Spelling& in) {
        const Ordered document = in.session({hostile});
        const std::string left = told(document, output);
        CHECK(left == hostile);
    });
}

TEST_CASE("call_view: texts of the input in every dialect") {
    const Ordered input = {
        {"command", "make \"all\"\n-j2"}, {"n", 1e300}, {"deep", nested(50)}, {"\xC3\xA9", "\xF0\x9F\x98\x80"}};
    in_every_dialect([&](const Spelling& in) {
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"c", "Bash", input}, filler(0, 900));
        messages.push_back(in.assistant("done"));
        const Ordered document = in.body(messages);
        CHECK(told(document, [](const CallView& call) { return call.text("command"); }) == "make \"all\"\n-j2");
        CHECK(told(document, [](const CallView& call) { return call.text("\xC3\xA9"); }) == "\xF0\x9F\x98\x80");
        CHECK(told(document, [](const CallView& call) { return call.value("n"); }) == "1e+300");
        CHECK(told(document, all_values) == "command=make \"all\"\n-j2|n=1e+300|\xC3\xA9=\xF0\x9F\x98\x80|");
    });
}

TEST_CASE("call_view: of a result in pieces, each tells its own text") {
    const auto response = [](Ordered pieces) {
        const Spelling in(coppice::Dialect::gemini);
        Ordered messages = list(in.user("start"));
        in.add_pair(messages, {"c", "Bash"}, "x");
        messages.back()["parts"][0]["functionResponse"]["response"] = std::move(pieces);
        messages.push_back(in.assistant("done"));
        return in.body(messages);
    };
    const Ordered document = response({{"stdout", filler(1, 900)}, {"code", 7}, {"stderr", "short"}});
    std::vector<std::string> outputs;
    const Tell collect = [&](const CallView& call) {
        outputs.push_back(call.output());
        return std::string();
    };
    told(document, collect);
    // by bytes and both kinds of DOM, of which one sorts the keys
    for (const std::string& output : outputs) { CHECK((output == filler(1, 900) || output == "short" || output.empty())); }
    CHECK(std::count(outputs.begin(), outputs.end(), filler(1, 900)) >= 3);
}

TEST_CASE("call_view: a member of a result that is an object, or the first line of another") {
    const auto tell = [](const Ordered& output) {
        return told(called({}, output), [](const CallView& call) { return call.output_text({"answer", "response"}); });
    };
    const std::string padding(400, ' ');
    CHECK(tell(R"({"response":"r","answer":"a\n\u00e9"})" + padding) == "a\n\xC3\xA9");
    CHECK(tell(R"( {"response":"r"})" + padding) == "r");
    CHECK(tell(R"({"answer":7,"response":"r"})" + padding) == "r");
    CHECK(tell(R"({"other":"r"})" + padding) == "");
    CHECK(tell(R"({"answer":{"answer":"inner"}})" + padding) == "");
    CHECK(tell(R"({"answer":"cut)" + padding) == R"({"answer":"cut)");
    CHECK(tell("\n  main\nor not\n" + padding) == "main");
    CHECK(tell(R"(["answer"])" + padding) == R"(["answer"])");
}

TEST_CASE("call_view: an input that is no object, and arguments that are no JSON, have nothing to tell") {
    const auto with = [](const Ordered& arguments) {
        return Ordered{
            {"model", "m"},
            {"messages",
             list(user("start"),
                  Ordered{{"role", "assistant"},
                          {"content", nullptr},
                          {"tool_calls", list(Ordered{{"id", "c"},
                                                      {"type", "function"},
                                                      {"function", {{"name", "Bash"}, {"arguments", arguments}}}})}},
                  Ordered{{"role", "tool"}, {"tool_call_id", "c"}, {"content", filler(0, 900)}}, assistant("done"))}};
    };
    const Tell everything = [](const CallView& call) {
        return call.text("a") + call.value("a") + joined(call.list("a")) + number(call.lines("a")) + all_values(call);
    };
    for (const Ordered& arguments :
         {Ordered(R"({"a":"cut)"), Ordered(R"("a")"), Ordered(R"(["a"])"), Ordered(""), Ordered("1:a"), Ordered("{1:1:a"),
          Ordered(R"({"a":"x","a":"y"})"), Ordered(7), Ordered(nullptr), Ordered(true), Ordered(list("a"))}) {
        CAPTURE(arguments);
        CHECK(told(with(arguments), everything) == "none");
    }
    CHECK(told(with(R"({"a":"x"})"), everything) == "xxx|1a=x|");
    CHECK(told(with(Ordered{{"a", "x"}}), everything) == "xxx|1a=x|");
}

TEST_CASE("call_view: huge and hostile texts are told as far as anybody would show them") {
    const Ordered document = called({{"a", std::string(2'000'000, 'x')},
                                     {"list", list(std::string(2'000'000, 'y'))},
                                     {std::string(100'000, 'k'), "v"}});
    CHECK(told(document, [](const CallView& call) { return call.text("a"); }) == std::string(1024, 'x'));
    CHECK(told(document, [](const CallView& call) { return joined(call.list("list")); }) == std::string(1024, 'y') + "|");
    CHECK(told(document, [](const CallView& call) { return number(call.lines("a")); }) == "1");
    std::string deep;
    for (int i = 0; i < 100'000; ++i) { deep += "[{\"a\":"; }
    deep += "7";
    for (int i = 0; i < 100'000; ++i) { deep += "}]"; }
    const std::string input = R"({"deep":)" + deep + R"(,"a":"x"})";
    std::string bytes = called({{"key", "put it here"}}).dump();
    const std::string place = R"({"key":"put it here"})";
    bytes.replace(bytes.find(place), place.size(), input);
    std::string out;
    const Tell tell = [](const CallView& call) { return call.text("a") + all_values(call); };
    Telling words;
    words.tell = &tell;
    words.told = &out;
    const coppice::Report report = coppice::plan(bytes, coppice::Pipeline{coppice::SmallAging<0>{}, words});
    CHECK((out == "xa=x|" || report.why != ""));
}

TEST_CASE("call_view: bytes that have a key of the input twice tell one of them, and the call stays") {
    std::string bytes = called({{"key", "put it here"}}).dump();
    const std::string place = R"({"key":"put it here"})";
    bytes.replace(bytes.find(place), place.size(), R"({"a":"x","a":"y"})");
    std::string out;
    const Tell tell = [](const CallView& call) { return call.text("a"); };
    Telling words;
    words.tell = &tell;
    words.told = &out;
    const coppice::Report report =
        coppice::plan(bytes, coppice::Pipeline{coppice::SmallAging<0>{}, coppice::StaleInput<0, 0>{}, words});
    CHECK((out == "x" || out == "y"));
    CHECK(report.edits.size() == 1);
}
