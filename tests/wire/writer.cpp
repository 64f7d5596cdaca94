// SPDX-License-Identifier: MIT
#include <coppice/wire/writer.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::Edit;
using coppice::detail::append_json_string;
using coppice::detail::WireWriter;

constexpr coppice::BlockSpelling anthropic = {
    .type = "text", .text_key = "text", .mark_keys = {"cache_control"}};

Edit edit_of(std::string_view text, std::string_view what, std::string_view with,
             Edit::As as = Edit::As::string) {
    Edit edit;
    edit.node = {text.data() + text.find(what), what.size()};
    edit.as = as;
    edit.text = with;
    return edit;
}

std::string pieced(WireWriter& writer) {
    std::string joined;
    for (const std::string_view piece : writer.pieces()) {
        CHECK_FALSE(piece.empty());
        joined += piece;
    }
    return joined;
}

}  // namespace

TEST_CASE("wire writer: strings are spelled as nlohmann dumps them") {
    const auto check = [](const std::string& text) {
        std::string out = "kept";
        append_json_string(out, text);
        CHECK(out == "kept" + nlohmann::json(text).dump());
    };
    std::string all;
    for (int i = 0; i < 128; ++i) {
        all += static_cast<char>(i);
        check(std::string(1, static_cast<char>(i)));
        check("seven x" + std::string(1, static_cast<char>(i)) + "and more");
    }
    check("");
    check(all);
    check("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F");
    check("a line\nand \"another\" \\ one\r\n\x1B[0m");
}

TEST_CASE("wire writer: edits take the place of what they replace, the rest is the given text") {
    const std::string text = R"({"a":"one","b":["two", 3],"c":"four"})";
    WireWriter writer;
    writer.start(text);
    CHECK(writer.add(edit_of(text, R"("one")", "1"), anthropic).after == 3);
    CHECK(writer.add(edit_of(text, R"("two")", "2 \"\n"), anthropic).after == 8);
    CHECK(writer.add(edit_of(text, R"("four")", ""), anthropic).after == 2);
    const std::string expected = R"({"a":"1","b":["2 \"\n", 3],"c":""})";
    CHECK(writer.joined() == expected);
    CHECK(pieced(writer) == expected);
    CHECK(writer.pieces().size() == 7);
    CHECK(writer.pieces()[0].data() == text.data());
    CHECK(writer.first_difference() == 6);
}

TEST_CASE("wire writer: edits side by side, at the beginning and at the end leave no empty piece") {
    const std::string text = R"("one""two")";
    WireWriter writer;
    writer.start(text);
    writer.add(edit_of(text, R"("one")", "1"), anthropic);
    writer.add(edit_of(text, R"("two")", "2"), anthropic);
    CHECK(writer.pieces().size() == 2);
    CHECK(writer.joined() == R"("1""2")");
    CHECK(writer.first_difference() == 1);
}

TEST_CASE("wire writer: blocks are written with their mark, in its own spelling") {
    const std::string text = R"([{"text":"long","cache_control":{ "type" : "e\u0070" }}])";
    const std::string_view view = text;
    const auto written = [&](Edit::As as, bool marked) {
        Edit edit = edit_of(view, view, "short\t", as);
        const std::string_view mark = R"({ "type" : "e\u0070" })";
        if (marked) {
            edit.cache_mark = {view.data() + view.find(mark), mark.size()};
            edit.mark_key = "cache_control";
        }
        WireWriter writer;
        writer.start(view);
        const coppice::EditBytes bytes = writer.add(edit, anthropic);
        CHECK(bytes.after == writer.joined().size());
        return writer.joined();
    };
    CHECK(written(Edit::As::block, false) == R"({"type":"text","text":"short\t"})");
    CHECK(written(Edit::As::blocks, false) == R"([{"type":"text","text":"short\t"}])");
    CHECK(written(Edit::As::block, true) ==
          R"({"type":"text","text":"short\t","cache_control":{ "type" : "e\u0070" }})");
    CHECK(written(Edit::As::blocks, true) ==
          R"([{"type":"text","text":"short\t","cache_control":{ "type" : "e\u0070" }}])");
}

TEST_CASE("wire writer: a dialect whose blocks have no type gets none") {
    const std::string text = "[1]";
    WireWriter writer;
    writer.start(text);
    writer.add(edit_of(text, "[1]", "t", Edit::As::blocks),
               {.type = {}, .text_key = "text", .mark_keys = {"cachePoint"}});
    CHECK(writer.joined() == R"([{"text":"t"}])");
}

TEST_CASE("wire writer: two edits of one place are refused") {
    const std::string text = R"(["one","two"])";
    WireWriter writer;
    writer.start(text);
    writer.add(edit_of(text, R"("two")", "2"), anthropic);
    CHECK_THROWS_AS(writer.add(edit_of(text, R"("two")", "2"), anthropic), std::logic_error);
    CHECK_THROWS_AS(writer.add(edit_of(text, R"("one")", "1"), anthropic), std::logic_error);
}

TEST_CASE("wire writer: without edits there is nothing that differs, and a new start forgets the old edits") {
    const std::string text = R"(["one"])";
    WireWriter writer;
    writer.start(text);
    CHECK_FALSE(writer.first_difference().has_value());
    CHECK(pieced(writer) == text);
    CHECK(writer.pieces()[0].data() == text.data());
    writer.add(edit_of(text, R"("one")", "1"), anthropic);
    CHECK(writer.joined() == R"(["1"])");
    const std::string other = "[2]";
    writer.start(other);
    CHECK_FALSE(writer.first_difference().has_value());
    CHECK(pieced(writer) == other);
    CHECK(writer.joined() == other);
}

TEST_CASE("wire writer: the first difference is the length of what both texts begin with") {
    const std::string text = R"(["the same beginning and then this"])";
    WireWriter writer;
    writer.start(text);
    writer.add(edit_of(text, R"("the same beginning and then this")", "the same beginning"), anthropic);
    CHECK(writer.first_difference() == 20);
    CHECK(writer.joined() == R"(["the same beginning"])");
}

TEST_CASE("wire writer: text inside a string that holds JSON is escaped twice and the rest of the string stays") {
    // both levels spell things in their own way
    const std::string text =
        R"({"a":"{ \"p\":1.0,\u0022one\":\"x\\ny\", \"\u4f60\":\"z\" ,\"two\":\"\\u0041\"}"})";
    const std::string packed = nlohmann::json::parse(text)["a"];
    const std::string_view view(text);
    const std::size_t holder_at = view.find(":\"") + 1;
    WireWriter writer;
    writer.start(text);
    const auto edit = [&](std::string_view what, std::string_view with) {
        Edit out;
        out.as = Edit::As::packed;
        out.node = {packed.data() + packed.find(what), what.size()};
        out.holder = {text.data() + holder_at, text.size() - holder_at - 1};
        out.packed = packed;
        out.text = with;
        return writer.add(out, anthropic);
    };
    const coppice::EditBytes first = edit(R"("x\ny")", "1\"\\");
    CHECK(first.before == std::string_view(R"(\"x\\ny\")").size());
    CHECK(first.after == std::string_view(R"(\"1\\\"\\\\\")").size());
    edit(R"("\u0041")", "two");
    CHECK(pieced(writer) ==
          R"({"a":"{ \"p\":1.0,\u0022one\":\"1\\\"\\\\\", \"\u4f60\":\"z\" ,\"two\":\"two\"}"})");
    const nlohmann::json inner = nlohmann::json::parse(nlohmann::json::parse(writer.joined())["a"].get<std::string>());
    CHECK(inner["one"] == "1\"\\");
    CHECK(inner["two"] == "two");
}

TEST_CASE("wire writer: a list may become an empty one") {
    const std::string text = R"({"parts":[{"inlineData":1}]})";
    WireWriter writer;
    writer.start(text);
    writer.add(edit_of(text, R"([{"inlineData":1}])", "", Edit::As::empty), anthropic);
    CHECK(writer.joined() == R"({"parts":[]})");
}

TEST_CASE("wire writer: dropped blocks take one comma each and the white space at it") {
    const auto check = [](const std::string& text, const std::vector<std::string_view>& drops, std::size_t leading,
                          const std::string& expected) {
        CAPTURE(text);
        WireWriter writer;
        writer.start(text);
        std::size_t saved = 0;
        for (std::size_t i = 0; i < drops.size(); ++i) {
            Edit edit = edit_of(text, drops[i], "", Edit::As::drop);
            edit.leads = i < leading;
            const coppice::EditBytes bytes = writer.add(edit, anthropic);
            CHECK(bytes.after == 0);
            saved += bytes.before;
        }
        CHECK(pieced(writer) == expected);
        CHECK(writer.joined() == expected);
        CHECK(saved == text.size() - expected.size());
        const auto differs = std::mismatch(text.begin(), text.end(), expected.begin(), expected.end());
        CHECK(writer.first_difference() == static_cast<std::size_t>(differs.first - text.begin()));
    };
    check(R"([{"a":1},{"b":2}])", {R"({"a":1})"}, 1, R"([{"b":2}])");
    check(R"([{"a":1},{"b":2}])", {R"({"b":2})"}, 0, R"([{"a":1}])");
    check(R"([{"a":1},{"b":2},{"c":3}])", {R"({"a":1})", R"({"b":2})"}, 2, R"([{"c":3}])");
    check(R"([{"a":1},{"b":2},{"c":3}])", {R"({"b":2})", R"({"c":3})"}, 0, R"([{"a":1}])");
    check(R"([{"a":1},{"b":2},{"c":3}])", {R"({"a":1})", R"({"c":3})"}, 1, R"([{"b":2}])");
    check("[ {\"a\":1} ,\n\t{\"b\":2}\r\n, {\"c\":3} ]", {R"({"a":1})", R"({"c":3})"}, 1, "[ {\"b\":2}\r\n ]");
    check("[\n  {\"a\":1},\n  {\"b\":2}\n]", {R"({"a":1})"}, 1, "[\n  {\"b\":2}\n]");
    check("[\n  {\"a\":1},\n  {\"b\":2}\n]", {R"({"b":2})"}, 0, "[\n  {\"a\":1}\n]");
    // what is left begins like what went, for longer than that is
    check(R"([{"a":1},{"a":1},{"a":1}])", {R"({"a":1})"}, 1, R"([{"a":1},{"a":1}])");
}

TEST_CASE("wire writer: drops stand among other edits") {
    const std::string text = R"([{"a":1},"old",{"b":2},"older",{"c":3}])";
    WireWriter writer;
    writer.start(text);
    Edit edit = edit_of(text, R"({"a":1})", "", Edit::As::drop);
    edit.leads = true;
    writer.add(edit, anthropic);
    writer.add(edit_of(text, R"("old")", "n"), anthropic);
    writer.add(edit_of(text, R"({"b":2})", "", Edit::As::drop), anthropic);
    writer.add(edit_of(text, R"("older")", "m"), anthropic);
    writer.add(edit_of(text, R"({"c":3})", "", Edit::As::drop), anthropic);
    CHECK(writer.joined() == R"(["n","m"])");
    CHECK(writer.first_difference() == 1);
}

TEST_CASE("wire writer: a block without a neighbour is not dropped") {
    for (const std::string text : {R"([{"a":1}])", R"({"a":1})"}) {
        for (const bool leads : {false, true}) {
            WireWriter writer;
            writer.start(text);
            Edit edit = edit_of(text, R"({"a":1})", "", Edit::As::drop);
            edit.leads = leads;
            CHECK_THROWS_AS(writer.add(edit, anthropic), std::logic_error);
        }
    }
}
