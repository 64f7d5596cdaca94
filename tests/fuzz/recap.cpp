// SPDX-License-Identifier: MIT
// The recap builder, the elider and the previews, on sessions made of the input's bytes. The first byte chooses the
// wording and the bounds; each message begins with a byte for its role and flags and ends at a byte 0xFF.
//
//     CXX=clang++ cmake -B build/fuzz && cmake --build build/fuzz --target coppice_fuzz_recap
//     mkdir -p finds && build/fuzz/tests/fuzz/coppice_fuzz_recap -max_len=4096 -timeout=20 finds tests/fuzz/seeds/recap
#include "target.hpp"

#include <coppice/elide.hpp>
#include <coppice/presets/openswarm.hpp>
#include <coppice/recap.hpp>
#include <coppice/wording.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::SessionMessage;
using coppice::SessionRole;
using fuzz::require;

std::size_t chars_of(std::string_view text) { return coppice::measure_plain(text).chars; }

void check_elided(std::string_view text, std::size_t budget) {
    const auto marker = [](std::string& out, std::size_t left_out) {
        out += "[";
        coppice::append_number(out, left_out);
        out += " left out]";
    };
    std::string once;
    coppice::append_elided(once, text, budget, marker);
    require(coppice::detail::is_utf8(once), "an elided text is UTF-8");
    require(chars_of(once) <= budget, "an elided text keeps its budget");
    std::string twice;
    coppice::append_elided(twice, once, budget, marker);
    require(once == twice, "eliding twice is eliding once");

    const coppice::NotableLines notable = coppice::notable_lines(text, budget, 40);
    std::size_t chars = 0;
    for (const std::string_view line : notable.lines) {
        chars += chars_of(line) + 1;
        require(line.find('\n') == std::string_view::npos, "a notable line is one line");
    }
    require(chars == notable.chars && chars <= budget, "notable lines keep their budget");
}

template <class Wording>
void check_preview(const Wording& wording, std::string_view text) {
    std::string content;
    std::string scratch;
    const std::string_view valid = coppice::detail::valid_utf8(text, scratch);
    while (content.size() < 17'000) { content.append(valid).append(1, '.'); }
    const coppice::Extent size = coppice::measure_plain(content);
    if (size.chars <= 4000) { return; }
    std::string preview;
    wording.preview(preview, {.content = content, .reference = "store/a.txt", .size = size});
    const coppice::Recognised found = wording.recognise(preview);
    require(found.kind == coppice::Recognised::Kind::preview, "a preview is known again");
    require(found.reference == "store/a.txt" && found.size.chars == size.chars, "with its place and size");
    require(coppice::detail::is_utf8(preview), "a preview is UTF-8");
}

std::vector<SessionMessage> session_of(std::string_view input) {
    constexpr std::array roles = {SessionRole::user, SessionRole::assistant, SessionRole::tool_call,
                                  SessionRole::tool_result, SessionRole::other};
    std::vector<SessionMessage> messages;
    while (!input.empty()) {
        const auto flags = static_cast<unsigned char>(input[0]);
        const std::size_t end = input.find('\xFF');
        const std::string_view text = input.substr(1, end == std::string_view::npos ? end : end - 1);
        SessionMessage& message = messages.emplace_back();
        message.role = roles[flags % roles.size()];
        message.hidden = (flags & 0x70U) == 0x70U;
        message.error = (flags & 0x08U) != 0;
        message.text = text;
        message.tool = text.substr(0, (flags & 0x10U) != 0 ? 40 : 0);
        message.id = text.substr(0, 2);
        message.call_id = text.substr(0, (flags & 0x20U) != 0 ? 1 : 0);
        input.remove_prefix(end == std::string_view::npos ? input.size() : end + 1);
    }
    return messages;
}

template <class Builder>
void check_recap(const Builder& builder, const std::vector<SessionMessage>& messages,
                 std::string_view cutoff) {
    const coppice::Recap recap = builder.build(messages, cutoff);
    require(recap.text.empty() == !recap.why.empty(), "an empty recap says why");
    require(builder.build(messages, cutoff).text == recap.text, "the same session gives the same recap");
    if (recap.text.empty()) { return; }
    require(coppice::detail::is_utf8(recap.text), "a recap is UTF-8");
    require(chars_of(recap.text) == recap.chars, "its length is reported");
    require(recap.chars <= builder.options().most.value && recap.tokens <= builder.options().most_tokens,
            "a recap keeps its bounds");
    std::string open;
    builder.wording().open(open, builder.wording().tags.recap);
    const std::string close = "\n</" + std::string(builder.wording().tags.recap) + ">";
    require(recap.text.substr(0, open.size()) == open, "it opens");
    require(recap.text.substr(recap.text.size() - close.size()) == close, "it closes");
    const std::string_view inside =
        std::string_view(recap.text).substr(open.size(), recap.text.size() - open.size() - close.size());
    require(coppice::find_tag(inside, builder.wording().tags) == std::string_view::npos,
            "there is one fence");

    const auto message = builder.with_message(recap, recap.text);
    require(!message, "a recap is nothing to answer");
    require(builder.with_message(recap, recap.text + "\n\nx") == recap.text + "\n\nx",
            "a recap is not sent twice");
    const std::string around = builder.with_message(recap, "x" + recap.text).value_or("");
    require(coppice::find_tag(std::string_view(around).substr(recap.text.size()), builder.wording().tags) ==
                std::string_view::npos,
            "a live message holds no fence");
    if (const auto pending = builder.with_pending(recap, messages)) {
        require(!recap.pending.empty() && pending->starts_with(recap.text),
                "the pending asks follow the recap");
        require(coppice::detail::is_utf8(*pending), "with them it is UTF-8");
    }
}

}  // namespace

std::vector<std::uint8_t> fuzz::first_bytes() { return {0, 1, 2, 3, 4, 5, 6, 7}; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) { return 0; }
    const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
    const unsigned choice = data[0];
    check_elided(input, choice);
    check_preview(coppice::PlainWording{}, input);
    check_preview(coppice::OpenSwarmWording{}, input);

    const std::vector<SessionMessage> messages = session_of(input);
    const std::string_view cutoff = (choice & 2U) != 0 ? input.substr(0, 2) : std::string_view();
    coppice::RecapOptions options;
    if ((choice & 4U) != 0) {
        options = {.ask_chars = 60,
                   .ask_head = 30,
                   .input_chars = 20,
                   .last_line_chars = 10,
                   .aging = {.whole_below = 10, .tail_chars = 100, .tail_results = 2, .item_chars = 50},
                   .most = coppice::chars(1000),
                   .most_tokens = 500};
    }
    if ((choice & 1U) != 0) {
        check_recap(coppice::presets::openswarm_recap(), messages, cutoff);
    } else {
        check_recap(coppice::RecapBuilder<>(options), messages, cutoff);
    }
    return 0;
}
