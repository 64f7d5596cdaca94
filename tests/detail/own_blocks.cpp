// SPDX-License-Identifier: MIT
#include <coppice/detail/own_blocks.hpp>

#include <coppice/recap/note.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace {

const coppice::PlainRecapWording wording;
const coppice::detail::OwnBlocks<coppice::PlainRecapWording> own_blocks(wording);
const std::string note = coppice::platform_note("text");

std::string removed(std::string_view text) {
    std::string scratch;
    return std::string(own_blocks.remove(text, scratch));
}

}  // namespace

TEST_CASE("own blocks: they go wherever they stand, with the white space around the rest") {
    CHECK(removed(note).empty());
    CHECK(removed(note + "\n\nlive") == "live");
    CHECK(removed("before\n" + note) == "before");
    CHECK(removed("a" + note + "b" + note + "c") == "abc");
    CHECK(removed(" text ") == " text ");
}

TEST_CASE("own blocks: what is not whole stays") {
    for (const std::string& part :
         {note.substr(1), note.substr(0, note.size() - 1), note.substr(note.find('\n'))}) {
        CHECK(removed(part) == part);
    }
    std::string other = note;
    other.insert(other.find('>'), "s");
    CHECK(removed(other) == other);
}

TEST_CASE("own blocks: an opening that nothing closes hides no block of the other kind") {
    const std::string recap_open =
        "<agent_session_recap" + note.substr(note.find('>'), note.find("\ntext") - note.find('>'));
    CHECK(removed(recap_open + "\n" + note) == recap_open);
}

TEST_CASE("own blocks: behind them is what a text goes on with") {
    CHECK(own_blocks.behind(note + "\n\n" + note + "\nlive") == "live");
    CHECK(own_blocks.behind("live " + note) == "live " + note);
    CHECK(own_blocks.behind(" live") == " live");
    CHECK(own_blocks.behind(note).empty());
    CHECK(own_blocks.behind("").empty());
}

TEST_CASE("own blocks: many openings that nothing closes are looked at once") {
    const std::string open = note.substr(0, note.find("text"));
    std::string text;
    for (int i = 0; i < 20'000; ++i) { text += open; }
    const bool same = removed(text) == text;
    CHECK(same);
}
