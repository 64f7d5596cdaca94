// SPDX-License-Identifier: MIT
#include <coppice/detail/recap_line_writer.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

namespace {

using coppice::ResultFate;
using coppice::SessionMessage;
using coppice::SessionRole;
using coppice::detail::Shown;

const coppice::RecapOptions options;
const coppice::PlainRecapWording wording;
using Writer = coppice::detail::RecapLineWriter<coppice::PlainRecapWording>;

}  // namespace

TEST_CASE("recap line writer: it says what a line shows") {
    Writer writer(options, wording);
    std::string out;
    const std::string body(900, 'b');
    const std::string long_body(7'000, 'b');
    const SessionMessage call{.role = SessionRole::tool_call, .tool = "T", .text = "in"};
    SessionMessage result{.role = SessionRole::tool_result, .text = body};
    CHECK(writer.ask(out, "go") == Shown::line);
    CHECK(writer.call(out, call) == Shown::line);
    CHECK(writer.result(out, result, &call, 900, ResultFate::whole) == Shown::whole);
    CHECK(writer.body_chars() == 900);
    CHECK(writer.result(out, result, &call, 900, ResultFate::stub) == Shown::stub);
    CHECK(writer.result(out, result, &call, 900, ResultFate::duplicate) == Shown::duplicate);
    result.text = long_body;
    CHECK(writer.result(out, result, nullptr, 7'000, ResultFate::whole) == Shown::elided);
    CHECK(writer.body_chars() == 6'000);
    result.text = "short";
    CHECK(writer.result(out, result, &call, 5, ResultFate::stub) == Shown::whole);
}

TEST_CASE("recap line writer: a limit holds for every text of a line and can be lifted") {
    Writer writer(options, wording);
    const std::string text(500, 'x');
    const SessionMessage call{.role = SessionRole::tool_call, .tool = "T", .text = text};
    std::string unlimited;
    writer.call(unlimited, call);
    for (const std::size_t limit : {std::size_t{0}, std::size_t{1}, std::size_t{50}}) {
        writer.limit(limit);
        std::string out;
        writer.call(out, call);
        CHECK(out.size() <= limit + 60);
        out.clear();
        writer.ask(out, text);
        CHECK(out.size() <= limit + 30);
    }
    writer.limit(coppice::none);
    std::string again;
    writer.call(again, call);
    CHECK(again == unlimited);
}
