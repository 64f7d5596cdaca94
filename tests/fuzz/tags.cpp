// SPDX-License-Identifier: MIT
// Texts made harmless, against what holds of every text. The first byte chooses the names and how tags are defused, the
// rest is the text.
//
//     CXX=clang++ cmake -B build/fuzz && cmake --build build/fuzz --target coppice_fuzz_tags
//     mkdir -p finds && build/fuzz/tests/fuzz/coppice_fuzz_tags -max_len=4096 -timeout=20 finds tests/fuzz/seeds/tags
#include "target.hpp"

#include <coppice/tags.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::Defuse;
using coppice::FenceTags;
using fuzz::require;

constexpr std::array<FenceTags, 12> choices = {{
    {},
    {.defuse = Defuse::entity},
    {"openswarm_platform_note", "openswarm_session_recap", Defuse::quoted},
    {"openswarm_platform_note", "openswarm_session_recap", Defuse::entity},
    {"memo", "list_of_rooms_1", Defuse::quoted},
    {"memo", "list_of_rooms_1", Defuse::entity},
    {"viii", "am_viiii", Defuse::quoted},
    {"amp_lt_3c", "ltd_stamm", Defuse::quoted},
    {"note", "list_of_rooms", Defuse::quoted},
    {"note", "list_of_rooms", Defuse::entity},
    {"uoted_uoted", "shy_reader", Defuse::quoted},
    {"uab12_room", "ill_iii_x", Defuse::entity},
}};

std::string neutralised(std::string_view text, const FenceTags& tags) {
    std::string out;
    coppice::append_neutralised(out, text, tags);
    return out;
}

// Without each `quoted:` that was not there before.
std::string without_marks(std::string_view written, std::string_view before) {
    constexpr std::string_view mark = "quoted:";
    std::string out;
    while (!written.empty()) {
        if (written.starts_with(mark) &&
            !before.substr(std::min(out.size(), before.size())).starts_with(mark)) {
            written.remove_prefix(mark.size());
        } else {
            out += written.front();
            written.remove_prefix(1);
        }
    }
    return out;
}

void check(std::string_view text, const FenceTags& tags) {
    tags.validate();
    const std::size_t tag = coppice::find_tag(text, tags);
    const std::string once = neutralised(text, tags);
    require(coppice::find_tag(once, tags) == std::string_view::npos, "no tag is left");
    require(neutralised(once, tags) == once, "doing it twice is doing it once");
    require(neutralised(text, tags) == once, "the same text comes out the same");
    require(once.size() <= 4 * text.size(), "a text grows fourfold at most");
    require((tag == std::string_view::npos) == (once == text), "only a text with tags is changed");
    require(coppice::detail::is_utf8(once) || !coppice::detail::is_utf8(text), "valid UTF-8 stays valid");
    if (tag == std::string_view::npos) { return; }
    require(tag < text.size(), "a tag stands in its text");
    require(text.substr(0, tag) == std::string_view(once).substr(0, tag), "what is before a tag stays");
    require(coppice::find_tag(text.substr(tag), tags) == 0, "a tag is one without what stands before it");
    if (tags.defuse == Defuse::quoted) {
        require(without_marks(once, text) == text, "only `quoted:` is put in");
    }
}

}  // namespace

std::vector<std::uint8_t> fuzz::first_bytes() {
    std::vector<std::uint8_t> bytes;
    for (std::size_t i = 0; i < choices.size(); ++i) { bytes.push_back(static_cast<std::uint8_t>('0' + i)); }
    return bytes;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) { return 0; }
    // on the heap, so that reading beyond the end shows
    const std::vector<char> text(data + 1, data + size);
    check({text.data(), text.size()}, choices[static_cast<std::uint8_t>(data[0] - '0') % choices.size()]);
    return 0;
}
