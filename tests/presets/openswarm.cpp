// SPDX-License-Identifier: MIT
#include <coppice/presets/openswarm.hpp>

#include "support/pruned.hpp"

#include <coppice/cadences/stepped.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

using namespace support;

namespace {

const std::string duplicate = "[Duplicate tool output: same content as a more recent result.]";
const std::string screenshot =
    "[Old screenshot cleared by OpenSwarm to keep this long chat inside the model's context window.]";

std::string small_stub(std::size_t size) {
    return "[Old result cleared by OpenSwarm: " + std::to_string(size) + " characters from an earlier step.]";
}
std::string big_stub(std::size_t size, bool with_image = false) {
    return "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context "
           "window: " +
           std::to_string(size) + " characters from an earlier step" +
           (with_image ? ", plus a screenshot.]" : ".]");
}
std::string field_stub(std::size_t size) {
    return "[" + std::to_string(size) +
           " characters, cleared by OpenSwarm; re-read the file if you need them]";
}

// what JavaScript's `length` says of the compact body
std::size_t utf16_size(const Ordered& document) {
    return coppice::measure(std::string_view(document.dump())).plain.utf16;
}

const coppice::presets::OpenSwarm<coppice::EveryRequest<>> every_request =
    coppice::presets::openswarm(coppice::EveryRequest<>{});

// ---- what the original answers ----

std::string filled(const Ordered& recipe) {
    const auto size = recipe.at("n").get<std::size_t>();
    const auto fill = recipe.at("fill").get<std::string>();
    std::string text;
    while (text.size() < size) { text += fill; }
    text.resize(size);
    return text;
}

// a value in which every {fill, n} is written out
Ordered expanded(const Ordered& value) {
    if (value.is_object() && value.size() == 2 && value.contains("fill") && value.contains("n")) {
        return Ordered(filled(value));
    }
    if (!value.is_object()) { return value; }
    Ordered out = Ordered::object();
    for (const auto& [key, member] : value.items()) { out[key] = expanded(member); }
    return out;
}

Ordered built_result(const Ordered& step) {
    const Ordered content = expanded(step.at("content"));
    const auto shape = step.at("shape").get<std::string>();
    Ordered parts = Ordered::array();
    if (shape == "string") {
        parts = content;
    } else if (shape == "split") {
        const auto whole = content.get<std::string>();
        parts.push_back(text(whole.substr(0, whole.size() / 2)));
        parts.push_back(text(whole.substr(whole.size() / 2)));
    } else {
        if (shape != "image") { parts.push_back(text(content.get<std::string>())); }
        if (shape != "blocks") { parts.push_back(image(step.at("image_n").get<std::size_t>())); }
    }
    return result(step.at("result"), parts, step.value("is_error", false));
}

Ordered built(const Ordered& recipe) {
    Ordered messages = Ordered::array();
    for (const Ordered& step : recipe.at("build")) {
        if (step.contains("user")) {
            messages.push_back(message("user", expanded(step["user"])));
        } else if (step.contains("call")) {
            messages.push_back(call(step["call"], step["name"], expanded(step["input"])));
        } else {
            messages.push_back(built_result(step));
        }
    }
    Ordered document = {{"model", "m"}, {"max_tokens", 1024}};
    document["messages"] = std::move(messages);
    return document;
}

Ordered answered(const Ordered& recipe, const Ordered& document) {
    Ordered out = document;
    for (const Ordered& change : recipe.at("changes")) {
        Ordered& block = out["messages"][change.at("message").get<std::size_t>()]["content"]
                            [change.at("block").get<std::size_t>()];
        if (change.contains("content")) {
            block["content"] = change["content"];
        } else {
            block["input"][change.at("input").get<std::string>()] = change.at("value");
        }
    }
    return out;
}

std::vector<Ordered> recipes() {
    std::ifstream file(std::string(COPPICE_SOURCE_DIR) + "/tests/presets/openswarm_golden.json");
    const Ordered golden = Ordered::parse(file);
    return golden.at("cases").get<std::vector<Ordered>>();
}

}  // namespace

TEST_CASE("openswarm: does what the original does wherever its code keeps its rules") {
    const auto pipeline = coppice::presets::openswarm();
    std::size_t cases = 0;
    for (const Ordered& recipe : recipes()) {
        const auto name = recipe.at("name").get<std::string>();
        CAPTURE(name);
        ++cases;
        const Ordered document = built(recipe);
        REQUIRE(utf16_size(document) == recipe.at("body_chars").get<std::size_t>());
        const Pruned p = pruned_once(document, pipeline);
        const Ordered expected = answered(recipe, document);
        const bool as_the_original = p.after.dump() == expected.dump();
        CHECK(as_the_original);
        CHECK(utf16_size(p.after) == recipe.at("result_chars").get<std::size_t>());
        CHECK(p.report.engaged == !recipe.at("unchanged").get<bool>());
        CHECK(p.report.edits.size() == recipe.at("changes").size());
        for (const std::string& violation : anthropic_validator::new_violations(p.before, p.after)) {
            CHECK_MESSAGE(false, violation);
        }
    }
    CHECK(cases == 13);
}

#ifdef COPPICE_CLI
TEST_CASE("openswarm: the program does what the original does") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() /
                            ("coppice_openswarm_" + std::to_string(std::hash<std::string>{}(COPPICE_CLI)));
    fs::create_directories(folder);
    const std::string in = (folder / "in.json").string();
    const std::string out = (folder / "out.json").string();
    for (const Ordered& recipe : recipes()) {
        const auto name = recipe.at("name").get<std::string>();
        CAPTURE(name);
        const Ordered document = built(recipe);
        std::ofstream(in, std::ios::binary) << document.dump();
        const std::string command = std::string("\"") + COPPICE_CLI +
                                    "\" prune --preset openswarm --via dom \"" + in + "\" \"" + out + "\"";
        REQUIRE(std::system(command.c_str()) == 0);
        std::ifstream file(out, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        if (recipe.at("unchanged").get<bool>()) {
            const bool identical = bytes == document.dump();
            CHECK(identical);
        } else {
            const bool as_the_original = Ordered::parse(bytes) == answered(recipe, document);
            CHECK(as_the_original);
        }
    }
    fs::remove_all(folder);
}
#endif

// ---- where its rules win over its code ----

TEST_CASE("openswarm rule 1: eighty equal results are one kept and seventy-nine duplicates") {
    const Pruned p =
        pruned(session(std::vector<Ordered>(80, Ordered(filler(0, 6000)))), coppice::presets::openswarm());
    CHECK(fates(p) == times(79, 'd') + "-");
    CHECK(text_of(result_content(p.after, 0)) == duplicate);
    CHECK(p.report.by_reason.at(0).reason == "dedup");
    CHECK(p.report.by_reason.at(0).count == 79);
}

TEST_CASE("openswarm rule 1: five distinct bodies stay however many copies there are") {
    std::vector<Ordered> contents;
    for (std::size_t i = 0; i < 60; ++i) { contents.emplace_back(filler(i % 6, 6000)); }
    const Pruned p = pruned(session(contents), coppice::presets::openswarm());
    // of the newest six distinct ones the oldest is out of the window and so are its copies
    CHECK(fates(p).substr(54) == "s-----");
    CHECK(fates(p).substr(0, 6) == "sddddd");
    CHECK(text_of(result_content(p.after, 0)) == big_stub(6000));
}

TEST_CASE("openswarm rule 1: a copy inside the window collapses too") {
    std::vector<Ordered> contents;
    for (std::size_t i = 0; i < 52; ++i) { contents.emplace_back(filler(i, 6000)); }
    contents[50] = contents[51];
    const Pruned p = pruned(session(contents), coppice::presets::openswarm());
    CHECK(fates(p) == times(46, 's') + "----d-");
}

TEST_CASE("openswarm rule 1: identity is text and media and order and the error flag") {
    const Ordered words = text(filler(0, 6000));
    const auto both = [&](Ordered older, Ordered newer, bool older_failed = false) {
        Ordered messages = list(user("start"));
        add_pair(messages, "a", "Read", Ordered::object(), std::move(older), older_failed);
        add_pair(messages, "b", "Other", Ordered{{"x", 1}}, std::move(newer));
        messages.push_back(assistant("done"));
        return fates(pruned(body(std::move(messages)), every_request));
    };
    CHECK(both(list(words), list(words)) == "d-");
    CHECK(both(list(words, image()), list(words)) == "--");
    CHECK(both(list(words), list(words, image())) == "--");
    CHECK(both(list(words, image(3000, 'A')), list(words, image(3000, 'B'))) == "--");
    CHECK(both(list(words, image()), list(image(), words)) == "--");
    CHECK(both(list(words, image()), list(words, image())) == "d-");
    CHECK(both(list(words), list(words), true) == "--");
    CHECK(both(list(image()), list(image())) == "--");
}

TEST_CASE("openswarm rule 2: six results of 200000 are cleared down to the floor of two") {
    const Pruned p =
        pruned(session_of_sizes(std::vector<std::size_t>(6, 200'000)), coppice::presets::openswarm());
    CHECK(fates(p) == "ssss--");
    CHECK(p.report.under_target == false);
    CHECK(p.report.ceiling_why == "only the floor and what cannot be cleared is left");
}

TEST_CASE("openswarm rule 2: clearing goes on oldest first until the body has the target") {
    const auto at = [&](std::size_t spare) {
        // five big results of which the ceiling takes the oldest, and a text of the user that fills the body
        // up
        std::vector<std::size_t> sizes(3, 20'000);
        Ordered document = session_of_sizes(sizes);
        const std::string padding(120'000 - utf16_size(document) + spare, 'u');
        document["messages"][0]["content"] = "start" + padding;
        CHECK(utf16_size(document) == 120'000 + spare);
        const Pruned p = pruned(document, every_request);
        CHECK(p.report.under_target == true);
        return fates(p);
    };
    CHECK(at(0) == "---");
    CHECK(at(1) == "s--");
    Ordered below = session_of_sizes({20'000, 20'000, 20'000});
    below["messages"][0]["content"] = std::string(119'999 - utf16_size(below) + 5, 'u');
    CHECK(utf16_size(below) == 119'999);
    CHECK(pruned(below, every_request).unchanged());
}

TEST_CASE("openswarm rule 2: big results and inputs go before small results") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Read", Ordered::object(), Ordered(filler(0, 1900)));
    add_pair(messages, "b", "Write", Ordered{{"content", filler(1, 9000)}}, Ordered("ok"));
    add_pair(messages, "c", "Read", Ordered::object(), Ordered(filler(2, 9000)));
    add_pair(messages, "d", "Read", Ordered::object(), Ordered(filler(3, 9000)));
    add_pair(messages, "e", "Read", Ordered::object(), Ordered(filler(4, 9000)));
    messages.push_back(assistant("done"));
    const auto too_much = [&](std::size_t excess) {
        Ordered document = body(messages);
        document["messages"][0]["content"] = std::string(120'005 + excess - utf16_size(document), 'u');
        CHECK(utf16_size(document) == 120'000 + excess);
        const Pruned p = pruned(document, every_request);
        return input_fates(p) + " " + fates(p);
    };
    CHECK(too_much(0) == "----- -----");
    CHECK(too_much(8'000) == "-c--- -----");
    CHECK(too_much(12'000) == "-c--- --s--");
    CHECK(too_much(19'000) == "-c--- s-s--");
    CHECK(too_much(25'000) == "-c--- s-s--");
}

TEST_CASE("openswarm rule 3: twenty-five writes of 20000 with tiny results lose all but the newest five") {
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 25; ++i) {
        add_pair(messages, "w" + std::to_string(i), "Write",
                 Ordered{{"file_path", "/w" + std::to_string(i)}, {"content", filler(i, 20'000)}},
                 Ordered("ok"));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), coppice::presets::openswarm());
    CHECK(input_fates(p) == times(20, 'c') + "-----");
    CHECK(fates(p) == times(25, '-'));
    CHECK(call_input(p.after, 0) == Ordered{{"file_path", "/w0"}, {"content", field_stub(20'000)}});
    CHECK(p.report.by_reason.at(0).count == 20);
    CHECK(p.report.under_target == true);
}

TEST_CASE("openswarm rule 4: a body that comes back pruned keeps its numbers and its stubs take no places") {
    Ordered document = session_of_sizes(std::vector<std::size_t>(80, 6000));
    coppice::prune(document, coppice::presets::openswarm());
    REQUIRE(text_of(result_content(document, 0)) == big_stub(6000));
    Ordered& messages = document["messages"];
    for (std::size_t i = 80; i < 120; ++i) {
        add_pair(messages, "n" + std::to_string(i), "Read", Ordered::object(), Ordered(filler(i, 9000)));
    }
    messages.push_back(assistant("done"));
    const Pruned again = pruned(document, coppice::presets::openswarm());
    CHECK(fates(again) == times(75, '-') + "sssss" + times(35, 's') + "-----");
    for (std::size_t i = 0; i < 80; ++i) { CHECK(text_of(result_content(again.after, i)) == big_stub(6000)); }
    CHECK(text_of(result_content(again.after, 80)) == big_stub(9000));
}

TEST_CASE("openswarm rule 4: small stubs take no places either") {
    Ordered document = session_of_sizes(std::vector<std::size_t>(60, 1000));
    coppice::prune(document, every_request);
    REQUIRE(text_of(result_content(document, 29)) == small_stub(1000));
    for (std::size_t i = 60; i < 70; ++i) {
        add_pair(document["messages"], "n" + std::to_string(i), "Read", Ordered::object(),
                 Ordered(filler(i, 500)));
    }
    document["messages"].push_back(assistant("done"));
    const Pruned again = pruned(document, every_request);
    CHECK(fates(again) == times(30, '-') + times(10, 's') + times(30, '-'));
    CHECK(text_of(result_content(again.after, 0)) == small_stub(1000));
}

TEST_CASE("openswarm rule 4: a text that only resembles a stub is content") {
    const std::string leading_zero =
        "[Old tool output cleared by OpenSwarm to keep this long chat inside the model's context window: "
        "06000"
        " characters from an earlier step.]";
    for (const std::string& resembling : {big_stub(6000) + " ", " " + big_stub(6000),
                                          big_stub(6000).substr(1), leading_zero, duplicate + duplicate}) {
        std::vector<Ordered> contents(31);
        for (std::size_t i = 0; i < 31; ++i) { contents[i] = Ordered(filler(i, 100)); }
        contents[0] = Ordered(resembling);
        CHECK(fates(pruned(session(contents), every_request)) == "s" + times(30, '-'));
    }
}

TEST_CASE("openswarm rule 5: the figures count what was done") {
    // eighty calls without a bulky field and eighty big results
    Ordered messages = list(user("start"));
    for (std::size_t i = 0; i < 80; ++i) {
        add_pair(messages, "c" + std::to_string(i), "Bash", Ordered{{"command", "c"}},
                 Ordered(filler(i, 6000)));
    }
    messages.push_back(assistant("done"));
    const Pruned p = pruned(body(messages), coppice::presets::openswarm());
    REQUIRE(p.report.by_reason.size() == 1);
    CHECK(p.report.by_reason[0].reason == "keep_recent");
    CHECK(p.report.by_reason[0].count == 75);
    CHECK(p.report.saved_bytes == p.before.dump().size() - p.after.dump().size());
}

TEST_CASE("openswarm rule 5: fewer results than the window keeps are reported as nothing cleared") {
    Ordered document = session_of_sizes({6000, 6000, 6000});
    document["messages"][0]["content"] = std::string(90'000, 'u');
    const Pruned p = pruned(document, every_request);
    CHECK(p.unchanged());
    CHECK(p.report.edits.empty());
    CHECK(p.report.saved_bytes == 0);
    CHECK(p.report.under_target == true);
}

TEST_CASE("openswarm rule 6: documents count with their serialised size and are named by it") {
    std::vector<Ordered> contents(20, list(document(20'000)));
    for (std::size_t i = 0; i < contents.size(); ++i) {
        contents[i] = list(document(20'000, static_cast<char>('a' + i)));
    }
    const Pruned p = pruned(session(contents), coppice::presets::openswarm());
    // five in the window are still too much and the ceiling takes none of them
    CHECK(fates(p) == times(15, 's') + "-----");
    CHECK(text_of(result_content(p.after, 0)) == big_stub(document(20'000).dump().size()));
}

TEST_CASE("openswarm rule 6: a small text beside a document is no small result") {
    const Ordered mixed = list(text(filler(0, 100)), document(20'000));
    const std::size_t size = 100 + document(20'000).dump().size();
    const Pruned p = pruned(session(std::vector<Ordered>{mixed, Ordered(filler(1, 6000)),
                                                         Ordered(filler(2, 6000)), Ordered(filler(3, 6000)),
                                                         Ordered(filler(4, 6000)), Ordered(filler(5, 6000))}),
                            every_request);
    CHECK(fates(p) == "s-----");
    CHECK(text_of(result_content(p.after, 0)) == big_stub(size));
}

// ---- its texts ----

TEST_CASE("openswarm: the stubs of its results") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Read", Ordered::object(), Ordered(filler(0, 1999)));
    add_pair(messages, "b", "Read", Ordered::object(), Ordered(filler(1, 2000)));
    add_pair(messages, "c", "Shot", Ordered::object(), list(text(filler(2, 1999)), image()));
    add_pair(messages, "d", "Shot", Ordered::object(), list(image(3000, 'B')));
    add_pair(messages, "e", "Shot", Ordered::object(), list(text(filler(3, 2000)), image(3000, 'C')));
    messages.push_back(assistant("done"));
    const coppice::Pipeline pipeline{coppice::SmallAging<0, coppice::utf16(80), coppice::utf16(2000)>{},
                                     coppice::KeepRecent<0, coppice::utf16(2000), coppice::share_window>{},
                                     coppice::OpenSwarmWording{}};
    const Pruned p = pruned(body(messages), pipeline);
    const std::vector<std::string> stubs = {small_stub(1999), big_stub(2000), screenshot, screenshot,
                                            big_stub(2000, true)};
    for (std::size_t i = 0; i < stubs.size(); ++i) {
        CHECK(result_content(p.after, i) == list(text(stubs[i])));
    }
}

TEST_CASE("openswarm: sizes are UTF-16 units") {
    std::string faces;
    for (int i = 0; i < 1000; ++i) { faces += "\xF0\x9F\x98\x80"; }
    const coppice::Pipeline pipeline{coppice::KeepRecent<0, coppice::utf16(2000), coppice::share_window>{},
                                     coppice::OpenSwarmWording{}};
    const Pruned p = pruned(session({Ordered(faces), Ordered(faces.substr(4) + "x")}), pipeline);
    CHECK(fates(p) == "s-");
    CHECK(text_of(result_content(p.after, 0)) == big_stub(2000));
}

TEST_CASE("openswarm: its numbers are those of the original") {
    constexpr auto preset = coppice::presets::openswarm();
    static_assert(preset.part<coppice::EveryRequest<coppice::utf16(300'000)>>().engage ==
                  coppice::utf16(300'000));
    const Ordered document = session_of_sizes(std::vector<std::size_t>(8, 6000));
    const Pruned p = pruned_once(document, preset);
    CHECK(p.unchanged());
    CHECK(p.report.why == "the body has " + std::to_string(utf16_size(document)) + " of 300000 utf16");
}

TEST_CASE("openswarm: another cadence takes the place of its own") {
    const Ordered document = session_of_sizes(std::vector<std::size_t>(9, 6000));
    CHECK(fates(pruned(document, every_request)) == "ssss-----");
    // the ninth request has eight results
    CHECK(fates(pruned(document, coppice::presets::openswarm(coppice::Stepped<9>{}))) == "sss------");
}

TEST_CASE("openswarm: unread results and calls of every kind take their places") {
    Ordered messages = session_of_sizes(std::vector<std::size_t>(6, 6000)).at("messages");
    messages.erase(messages.size() - 1);
    CHECK(fates(pruned(body(messages), every_request)) == "s-----");

    Ordered writes = list(user("start"));
    add_pair(writes, "w", "Write", Ordered{{"content", filler(0, 3000)}}, Ordered("ok"));
    for (int i = 0; i < 5; ++i) {
        add_pair(writes, "r" + std::to_string(i), "Bash", Ordered{{"command", "ls"}}, Ordered("ok"));
    }
    writes.push_back(assistant("done"));
    CHECK(input_fates(pruned(body(writes), every_request)) == "c-----");
}
