// SPDX-License-Identifier: MIT
#include <coppice/guards/blank_text.hpp>

#include "support/pruned.hpp"

#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/keep_recent.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace support;

namespace {

// A wording that would blank everything.
struct Mute {
    static constexpr std::string_view name = "mute";
    static constexpr std::size_t longest = 3;
    coppice::Shape shape = coppice::Shape::as_it_was;
    std::string_view says = " \n";

    void result(std::string& out, const coppice::ResultFacts&) const { out += says; }
    void field(std::string& out, const coppice::FieldFacts&) const { out += says; }
    void image(std::string& out, const coppice::ResultFacts&) const { out += says; }
    coppice::Recognised recognise(std::string_view) const { return {}; }
};

}  // namespace

TEST_CASE("blank_text: allows text with something to see in it") {
    const coppice::Transcript transcript;
    const auto allows = [&](std::string_view text) {
        return coppice::BlankText{}.allows(transcript,
                                           {.entry = 0, .fate = coppice::Fate::stub, .text = text});
    };
    CHECK(allows("x"));
    CHECK(allows(" \n. "));
    CHECK_FALSE(allows(""));
    CHECK_FALSE(allows(" "));
    CHECK_FALSE(allows(" \t\r\n\f\v"));
    // nothing is written there
    CHECK(coppice::BlankText{}.allows(transcript, {.entry = 0, .fate = coppice::Fate::drop}));
}

TEST_CASE("blank_text: a wording that writes nothing changes nothing") {
    Ordered messages = list(user("start"));
    add_pair(messages, "a", "Write", Ordered{{"content", filler(0, 3000)}}, Ordered(filler(1, 3000)));
    add_pair(messages, "b", "Shot", Ordered::object(), list(image()));
    messages.push_back(assistant("done"));
    for (const std::string_view says : {"", " ", " \n\t"}) {
        const coppice::Pipeline pipeline{coppice::KeepRecent<0, coppice::Size{2000}, 0>{},
                                         coppice::BulkyInputClear<0>{}, Mute{.says = says}};
        CHECK(pruned(body(messages), pipeline).unchanged());
    }
}
