// SPDX-License-Identifier: MIT
#include <coppice/spill/names.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace coppice::detail;

namespace {

const std::vector<std::string> hostile = [] {
    std::vector<std::string> ids = {"",
                                    ".",
                                    "..",
                                    "../../x",
                                    "/abs",
                                    "a/b",
                                    "a\\b",
                                    "con",
                                    "-rf",
                                    "~",
                                    "~2f",
                                    "~~",
                                    "A",
                                    "a",
                                    ".a",
                                    ".A",
                                    "call_1",
                                    "CALL_1",
                                    "Call_1",
                                    "m-a",
                                    "s-a",
                                    std::string("a\0b", 3),
                                    std::string("a\0c", 3),
                                    "a\r\nb",
                                    "a\nb",
                                    "\xFF\xFE",
                                    "\xC3\xA9",
                                    "e\xCC\x81",
                                    "\xE4\xB8\xAD\xE6\x96\x87",
                                    "aux.txt",
                                    "a b",
                                    "a;b"};
    for (const std::size_t size : std::vector<std::size_t>{95, 96, 97, 98, 300, 100'000}) {
        ids.push_back(std::string(size, 'x'));
        ids.push_back(std::string(size, 'X'));
        ids.push_back(std::string(size, 'x') + "y");
        ids.push_back("y" + std::string(size, 'x'));
        ids.push_back(std::string(size, '\0'));
    }
    ids.push_back(std::string(32, 'x') + "~~300~" +
                  hash_name(std::string(300, 'x')));  // a long one's own name
    for (int byte = 0; byte < 256; ++byte) { ids.push_back(std::string(7, static_cast<char>(byte))); }
    return ids;
}();

}  // namespace

TEST_CASE("spill names: any id becomes one bounded component from a fixed class") {
    for (const std::string& id : hostile) {
        const std::string name = id_component('s', id);
        CHECK(name.starts_with("s-"));
        CHECK(name.size() <= 2 + spelled_id_limit);
        CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_.~-") == std::string::npos);
        const std::string file = content_name(id, "content");
        CHECK(file.size() <= content_name_limit);
        CHECK(file.size() <= 255);
        CHECK(file.find('/') == std::string::npos);
    }
}

TEST_CASE("spill names: two ids never share a component, where case is ignored too") {
    std::map<std::string, std::string> names;
    for (const std::string& id : hostile) {
        std::string name = id_component('s', id);
        std::transform(name.begin(), name.end(), name.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
        const auto [place, added] = names.try_emplace(name, id);
        CHECK((added || place->second == id));
    }
}

TEST_CASE("spill names: an id that fits is read back and a longer one is known as one") {
    std::size_t spelled = 0;
    for (const std::string& id : hostile) {
        const auto named = read_id_component('s', id_component('s', id));
        REQUIRE(named.has_value());
        const bool same = named->id == id;
        CHECK((same || !named->id));
        spelled += same ? 1U : 0U;
        const std::string file = content_name(id, "content");
        const auto content = read_content_name(file);
        REQUIRE(content.has_value());
        CHECK(content->hash == hash_name("content"));
        CHECK(content->id == named->id);
    }
    CHECK(read_id_component('s', id_component('s', std::string(96, 'x')))->id.has_value());
    CHECK_FALSE(read_id_component('s', id_component('s', std::string(97, 'x')))->id.has_value());
    CHECK(read_id_component('s', id_component('s', std::string(32, '\0')))->id.has_value());
    CHECK(spelled > hostile.size() / 2);
}

TEST_CASE("spill names: the names themselves do not change") {
    // or transcripts of an older process name files that nobody finds
    CHECK(id_component('s', "3f2a-Chat_9") == "s-3f2a-.chat_9");
    CHECK(id_component('s', "../\n") == "s-~2e~2e~2f~0a");
    const std::string content = "a content";
    CHECK(content_name("toolu_01Ab", content) == "m-toolu_01.ab-" + hash_name(content) + ".txt");
    CHECK(hash_name(content) == "16350a6afc4f4b505a26c72d9878accf");
    CHECK(id_component('m', std::string(300, 'x')) ==
          "m-" + std::string(32, 'x') + "~~300~" + hash_name(std::string(300, 'x')));
}

TEST_CASE("spill names: one id with two contents has two files") {
    std::set<std::string> files;
    for (int i = 0; i < 1000; ++i) { files.insert(content_name("call_1", "content " + std::to_string(i))); }
    CHECK(files.size() == 1000);
    CHECK(content_name("a", "bc") != content_name("ab", "c"));
}

TEST_CASE("spill names: a name that is never given is not read") {
    for (const std::string_view name : {"",
                                        "s",
                                        "s-A",
                                        "s-a/b",
                                        "s-~2F",
                                        "s-~61",
                                        "s-~4",
                                        "s-~",
                                        "s-.",
                                        "s-.1",
                                        "s-..",
                                        "s-a..",
                                        "x-a",
                                        "s-~zz",
                                        "s-a~~3~",
                                        "s-a~~~0123456789abcdef0123456789abcdef",
                                        "s-a~~3x~0123456789abcdef0123456789abcdef",
                                        "s-a~~3~0123456789abcdef0123456789abcdeF",
                                        "s-a b",
                                        ".",
                                        ".."}) {
        CAPTURE(name);
        CHECK_FALSE(read_id_component('s', name).has_value());
    }
    CHECK_FALSE(read_id_component('s', "s-" + std::string(97, 'x')).has_value());
    const std::string good = content_name("a", "b");
    CHECK(read_content_name(good).has_value());
    for (const std::string& name :
         {good + "x", "x" + good, good.substr(1), good.substr(0, good.size() - 1), std::string(".txt"),
          std::string("m-a-0123.txt"), std::string("m-a") + hash_name("b") + ".txt",
          std::string("-") + hash_name("b") + ".txt", hash_name("b") + ".txt"}) {
        CAPTURE(name);
        CHECK_FALSE(read_content_name(name).has_value());
    }
}

TEST_CASE("spill names: a temporary file is no content and the other way round") {
    const std::string name = temporary_name(1, 0xFFFF'FFFF'FFFF'FFFFULL);
    CHECK(name == "t-0000000000000001ffffffffffffffff.tmp");
    CHECK(is_temporary_name(name));
    CHECK_FALSE(read_content_name(name).has_value());
    CHECK_FALSE(is_temporary_name(content_name("t-", "x")));
    CHECK_FALSE(is_temporary_name("t-.tmp"));
    CHECK_FALSE(is_temporary_name("t-0000000000000001ffffffffffffffffx.tmp"));
}
