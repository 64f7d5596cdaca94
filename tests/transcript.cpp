// SPDX-License-Identifier: MIT
#include <coppice/transcript.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::BlockSpelling;
using coppice::Entry;
using coppice::Extent;
using coppice::Kind;
using coppice::MeasuredText;
using coppice::Node;
using coppice::none;
using coppice::Part;
using coppice::Role;
using coppice::Size;
using coppice::Source;
using coppice::Text;
using coppice::Transcript;
using coppice::Unit;

// A back end whose nodes are as long as they say.
class LengthSource final : public Source {
public:
    Extent serialised(Node value, std::span<const Node> except = {}) const override {
        Extent size = coppice::ascii(value.length);
        for (const Node& node : except) { size -= coppice::ascii(node.length); }
        return size;
    }
    void append_canonical(Node, std::string&) const override {}
    void append_canonical(std::string_view, std::string&) const override {}
    bool one_spelling() const override { return true; }
    std::size_t count_members(Node, std::string_view) const override { return 0; }
};
const LengthSource lengths;

Node node(std::size_t length) { return {&lengths, length}; }

Entry entry(Kind kind, std::size_t message, std::size_t peer = none) {
    Entry out;
    out.kind = kind;
    out.message = message;
    out.peer = peer;
    return out;
}

// Messages of 100 bytes each in these roles, with one opaque entry each, in a frame of 50.
Transcript with_roles(std::initializer_list<Role> roles) {
    Transcript transcript;
    transcript.source = &lengths;
    transcript.frame_keys = coppice::ascii(20);
    transcript.frame_values = {node(10), node(20)};
    for (const Role role : roles) {
        transcript.messages.push_back({role, transcript.all().size(), node(100)});
        transcript.add() = entry(Kind::opaque, transcript.messages.size() - 1);
    }
    return transcript;
}

// One result with these text parts.
class OneResult {
public:
    explicit OneResult(const std::vector<Text>& texts) {
        transcript_.source = &lengths;
        Entry result = entry(Kind::result, 0);
        result.part_count = texts.size();
        for (const Text text : texts) {
            Part part;
            part.text = MeasuredText(text);
            transcript_.parts.push_back(part);
        }
        transcript_.add() = result;
    }
    const Transcript& transcript() const { return transcript_; }
    Entry& entry_of_it() { return transcript_.all()[0]; }
    Part& part(std::size_t i) { return transcript_.parts[i]; }

    // The quick answers are those of the exact size, for every threshold around it.
    void check_quick_answers() const {
        const Entry& result = transcript_.all()[0];
        const Extent exact = transcript_.size(result);
        for (const Unit unit : {Unit::bytes, Unit::chars, Unit::utf16}) {
            for (std::size_t wanted = 0; wanted <= exact.bytes + 20; ++wanted) {
                CAPTURE(coppice::name_of(unit));
                CAPTURE(wanted);
                REQUIRE(transcript_.at_least(result, Size{wanted, unit}) ==
                        exact.at_least(Size{wanted, unit}));
                REQUIRE(transcript_.exceeds(result, Size{wanted, unit}) == exact.exceeds(Size{wanted, unit}));
            }
        }
    }

private:
    Transcript transcript_;
};

// user, call, result, call, result: the last result is unread.
Transcript two_pairs() {
    Transcript transcript;
    transcript.source = &lengths;
    transcript.messages = {{Role::user, 0, node(10)},
                           {Role::assistant, 1, node(10)},
                           {Role::user, 2, node(10)},
                           {Role::assistant, 3, node(10)},
                           {Role::user, 4, node(10)}};
    transcript.add() = entry(Kind::user_text, 0);
    transcript.add() = entry(Kind::call, 1, 2);
    transcript.add() = entry(Kind::result, 2, 1);
    transcript.add() = entry(Kind::call, 3, 4);
    transcript.add() = entry(Kind::result, 4, 3);
    transcript.set_horizon(5);
    return transcript;
}

}  // namespace

TEST_CASE("transcript: entries end where the horizon is and all goes on") {
    Transcript transcript = two_pairs();
    CHECK(transcript.entries().size() == 5);
    transcript.set_horizon(3);
    CHECK(transcript.entries().size() == 3);
    CHECK(transcript.all().size() == 5);
    transcript.set_horizon(0);
    CHECK(transcript.entries().empty());
}

TEST_CASE("transcript: a horizon behind the last message is the last message") {
    Transcript transcript = two_pairs();
    transcript.set_horizon(1000);
    CHECK(transcript.horizon() == 5);
    CHECK(transcript.entries().size() == 5);
}

TEST_CASE("transcript: a message without entries leaves the view as it is") {
    Transcript transcript = with_roles({Role::user, Role::assistant});
    transcript.messages.push_back({Role::user, transcript.all().size(), node(100)});
    transcript.set_horizon(2);
    CHECK(transcript.entries().size() == 2);
    transcript.set_horizon(3);
    CHECK(transcript.entries().size() == 2);
}

TEST_CASE("transcript: the body until a message is frame messages and the commas between them") {
    const Transcript transcript = with_roles({Role::user, Role::assistant, Role::user});
    CHECK(transcript.body_until(0) == coppice::ascii(50));
    CHECK(transcript.body_until(1) == coppice::ascii(150));
    CHECK(transcript.body_until(3) == coppice::ascii(352));
    CHECK(transcript.body() == coppice::ascii(352));
}

TEST_CASE("transcript: without messages the body is the frame") {
    const Transcript transcript = with_roles({});
    CHECK(transcript.body() == coppice::ascii(50));
}

TEST_CASE("transcript: whether a body has a size is answered as its size would") {
    for (std::size_t count = 0; count <= 3; ++count) {
        for (std::size_t wanted = 0; wanted < 400; ++wanted) {
            const Transcript fresh = with_roles({Role::user, Role::assistant, Role::user});
            const bool quick = fresh.body_at_least(count, wanted);
            CAPTURE(count);
            CAPTURE(wanted);
            REQUIRE(quick == fresh.body_until(count).at_least(wanted));
            REQUIRE(quick == fresh.body_at_least(count, wanted));
        }
    }
}

TEST_CASE("transcript: the size of a result is its joined text") {
    const OneResult result({Text("abc"), Text("caf\xC3\xA9"), Text::still_escaped(R"(\ud83d\ude00)")});
    CHECK(result.transcript().size(result.transcript().all()[0]) == Extent{12, 8, 9});
}

TEST_CASE("transcript: images and own stubs weigh nothing and other parts weigh what they are") {
    OneResult result({Text("abc"), Text("stub"), Text(), Text(), Text()});
    result.part(1).kind = Part::Kind::stub;
    result.part(2).kind = Part::Kind::image;
    result.part(3).kind = Part::Kind::document;
    result.part(4).kind = Part::Kind::other;
    for (const std::size_t i : {2U, 3U, 4U}) { result.part(i).node = node(1000 * i); }
    result.entry_of_it().images = 1;
    result.entry_of_it().documents = 1;
    result.entry_of_it().others = 1;
    CHECK(result.transcript().size(result.entry_of_it()) == coppice::ascii(3 + 3000 + 4000));
    result.check_quick_answers();
}

TEST_CASE("transcript: a preview weighs what it stands for") {
    OneResult result({Text("a preview")});
    result.entry_of_it().reference = Text("memory:1");
    result.entry_of_it().stands_for = coppice::ascii(300);
    CHECK(result.transcript().size(result.entry_of_it()) == coppice::ascii(300));
    result.check_quick_answers();
}

TEST_CASE("transcript: whether a result has a size is answered as its size would") {
    std::string mixed;
    for (int i = 0; i < 20; ++i) { mixed += "ab\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"; }
    std::string widest;
    for (int i = 0; i < 40; ++i) { widest += "\xF0\x9F\x98\x80"; }
    std::string three;
    for (int i = 0; i < 40; ++i) { three += "\xE2\x82\xAC"; }
    std::string escapes;
    for (int i = 0; i < 20; ++i) { escapes += R"(\ud83d\ude00\u00e9\n\u0041)"; }
    std::string pairs;
    for (int i = 0; i < 20; ++i) { pairs += R"(\ud83d\ude00)"; }
    for (const std::string_view text :
         {std::string_view(), std::string_view("plain"), std::string_view(mixed), std::string_view(widest),
          std::string_view(three)}) {
        OneResult({Text(text)}).check_quick_answers();
        OneResult({Text(text), Text("x"), Text(text)}).check_quick_answers();
    }
    OneResult({Text::still_escaped(escapes)}).check_quick_answers();
    OneResult({Text::still_escaped(pairs)}).check_quick_answers();
    OneResult({}).check_quick_answers();
}

TEST_CASE("transcript: whether a result of invalid bytes has a size is answered as its size would") {
    for (const char byte : {'\x80', '\xC3', '\xF0', '\xFF'}) {
        const std::string text(40, byte);
        OneResult({Text(std::string_view(text))}).check_quick_answers();
    }
}

TEST_CASE("transcript: results behind the last assistant message are unread") {
    const Transcript transcript = two_pairs();
    CHECK_FALSE(transcript.unread(transcript.all()[2]));
    CHECK(transcript.unread(transcript.all()[4]));
}

TEST_CASE("transcript: a call is unread as long as its result is") {
    const Transcript transcript = two_pairs();
    CHECK_FALSE(transcript.unread(transcript.all()[1]));
    CHECK(transcript.unread(transcript.all()[3]));
}

TEST_CASE("transcript: a call without a result is unread") {
    Transcript transcript = two_pairs();
    transcript.all()[1].peer = none;
    CHECK(transcript.unread(transcript.all()[1]));
}

TEST_CASE("transcript: what is unread depends on the horizon") {
    Transcript transcript = two_pairs();
    transcript.set_horizon(3);
    CHECK(transcript.unread(transcript.all()[2]));
    CHECK(transcript.unread(transcript.all()[1]));
    transcript.set_horizon(4);
    CHECK_FALSE(transcript.unread(transcript.all()[2]));
}

TEST_CASE("transcript: several messages behind the last assistant message are all unread") {
    Transcript transcript = with_roles({Role::user, Role::assistant, Role::user, Role::other, Role::user});
    for (std::size_t i = 0; i < transcript.all().size(); ++i) { transcript.all()[i].kind = Kind::result; }
    transcript.set_horizon(5);
    CHECK_FALSE(transcript.unread(transcript.all()[0]));
    CHECK(transcript.unread(transcript.all()[2]));
    CHECK(transcript.unread(transcript.all()[3]));
    CHECK(transcript.unread(transcript.all()[4]));
}

TEST_CASE("transcript: text is never unread") {
    const Transcript transcript = with_roles({Role::user, Role::user});
    CHECK_FALSE(transcript.unread(transcript.all()[1]));
}

TEST_CASE("transcript: parts and fields of an entry are its own") {
    Transcript transcript;
    transcript.parts.resize(5);
    transcript.fields.resize(4);
    Entry with = entry(Kind::result, 0);
    with.first_part = 2;
    with.part_count = 3;
    with.first_field = 1;
    with.field_count = 2;
    CHECK(transcript.parts_of(with).data() == transcript.parts.data() + 2);
    CHECK(transcript.parts_of(with).size() == 3);
    CHECK(transcript.fields_of(with).data() == transcript.fields.data() + 1);
    CHECK(transcript.fields_of(with).size() == 2);
    CHECK(transcript.parts_of(entry(Kind::result, 0)).empty());
}

TEST_CASE("transcript: the body in eighths of a token is two for each ASCII byte") {
    const Transcript transcript = with_roles({Role::user, Role::assistant, Role::user});
    // a frame of 50, messages of 100, and commas between them
    CHECK(transcript.eighths_until(0) == 2 * 50);
    CHECK(transcript.eighths_until(1) == 2 * 150);
    CHECK(transcript.eighths_until(3) == 2 * 352);
    // asked again, in any order
    CHECK(transcript.eighths_until(2) == 2 * 251);
}

TEST_CASE("transcript: an image weighs what it costs where its bytes would be more") {
    for (const std::size_t bytes : {std::size_t{100}, std::size_t{6'400}, std::size_t{6'401}, std::size_t{90'000}}) {
        CAPTURE(bytes);
        Transcript transcript;
        transcript.source = &lengths;
        transcript.messages = {{Role::user, 0, node(10)}, {Role::user, 1, node(20 + bytes)}, {Role::user, 2, node(10)}};
        transcript.add() = entry(Kind::user_text, 0);
        Entry seen = entry(Kind::user_text, 1);
        Part words;
        words.node = node(9'999);
        Part picture;
        picture.kind = Part::Kind::image;
        picture.node = node(bytes);
        transcript.parts = {words, picture};
        seen.part_count = 2;
        seen.images = 1;
        transcript.add() = seen;
        transcript.add() = entry(Kind::user_text, 2);
        const std::size_t surplus = bytes > 6'400 ? 2 * bytes - 8 * coppice::image_tokens : 0;
        CHECK(transcript.image_surplus(transcript.parts[1]) == surplus);
        CHECK(transcript.eighths_until(1) == 2 * 10);
        CHECK(transcript.eighths_until(2) == 2 * (10 + 1 + 20 + bytes) - surplus);
        CHECK(transcript.eighths_until(3) == 2 * (10 + 1 + 20 + bytes + 11) - surplus);
    }
}

TEST_CASE("transcript: the open tool loop begins where a person spoke last") {
    Transcript transcript = with_roles({Role::user, Role::assistant, Role::user, Role::assistant, Role::user});
    // a person speaks in the messages 0 and 4; in 2 there are results
    const std::size_t turns[] = {0, 0, 0, 0, 4};
    for (std::size_t i = 0; i < 5; ++i) { transcript.messages[i].user_turn_at = turns[i]; }
    const auto from = [&](std::size_t horizon) {
        transcript.set_horizon(horizon);
        return transcript.open_loop_from();
    };
    CHECK(transcript.starts_user_turn(0));
    CHECK_FALSE(transcript.starts_user_turn(2));
    CHECK(transcript.starts_user_turn(4));
    CHECK_FALSE(transcript.starts_user_turn(5));
    CHECK(from(0) == 0);
    CHECK(from(1) == 0);
    CHECK(from(3) == 0);
    // what is in front of a new turn is over
    CHECK(from(4) == 4);
    // the turn that begins within it is open
    CHECK(from(5) == 4);
    // where nobody ever spoke, all is one loop
    for (coppice::Message& message : transcript.messages) { message.user_turn_at = none; }
    CHECK(from(3) == 0);
    CHECK(from(5) == 0);
}

TEST_CASE("transcript: a part of one has its frame and words but only the entries that it is given") {
    Transcript whole = two_pairs();
    whole.dialect = "anthropic";
    whole.model = "some-model";
    whole.frame_keys = coppice::ascii(30);
    whole.binds_thinking = whole.drops_unbound_thinking = true;
    Transcript part;
    part.add() = entry(Kind::opaque, 0);
    part.messages.push_back({Role::user, 0, node(1)});
    coppice::detail::RunningSums gone;
    gone.start(whole.messages.size());
    part.narrow(whole, gone);
    CHECK(part.narrowed());
    CHECK_FALSE(whole.narrowed());
    CHECK(part.dialect == "anthropic");
    CHECK(part.model == "some-model");
    CHECK(part.source == &lengths);
    CHECK(part.binds_thinking);
    CHECK(part.drops_unbound_thinking);
    CHECK(part.all().empty());
    CHECK(part.messages.empty());
    CHECK(part.body_until(0) == coppice::ascii(30));

    // the second pair alone, while there are three messages and then all
    part.add() = entry(Kind::call, 3, 1);
    part.add() = entry(Kind::result, 4, 0);
    part.widen(whole, 3, coppice::ascii(77));
    CHECK(part.horizon() == 3);
    // one more, to see who speaks next
    CHECK(part.messages.size() == 4);
    CHECK(part.narrowed_body() == coppice::ascii(77));
    CHECK(part.entries().empty());
    CHECK(part.first_entry_of(3) == 0);
    CHECK(part.first_entry_of(4) == 2);
    part.widen(whole, 5, coppice::ascii(99));
    CHECK(part.messages.size() == 5);
    CHECK(part.entries().size() == 2);
    CHECK(part.first_entry_of(0) == 0);
    CHECK(part.first_entry_of(4) == 1);
    CHECK(part.first_entry_of(5) == 2);
    CHECK(part.unread(part.all()[1]));
    CHECK(part.narrowed_body() == coppice::ascii(99));

    std::vector<Entry> entries = {entry(Kind::reasoning, 1)};
    std::vector<Part> parts(3);
    std::vector<coppice::Field> fields(2);
    part.exchange(entries);
    part.exchange(parts, fields);
    CHECK(part.all().size() == 1);
    CHECK(part.parts.size() == 3);
    CHECK(part.fields.size() == 2);
    CHECK(entries.size() == 2);
    part.clear();
    CHECK_FALSE(part.narrowed());
    CHECK_FALSE(part.binds_thinking);
}

TEST_CASE("transcript: clear leaves nothing of what was read") {
    Transcript transcript = two_pairs();
    transcript.dialect = "anthropic";
    transcript.parts.resize(1);
    transcript.fields.resize(1);
    transcript.frame_keys = coppice::ascii(5);
    transcript.frame_values = {node(7)};
    CHECK(transcript.body() == coppice::ascii(5 + 7 + 50 + 4));
    transcript.clear();
    CHECK(transcript.dialect.empty());
    CHECK(transcript.all().empty());
    CHECK(transcript.entries().empty());
    CHECK(transcript.parts.empty());
    CHECK(transcript.fields.empty());
    CHECK(transcript.messages.empty());
    CHECK(transcript.horizon() == 0);
    CHECK(transcript.body() == Extent{});
    CHECK(transcript.source == nullptr);
}

TEST_CASE("block spelling: the frame is the block without its text") {
    using Json = nlohmann::ordered_json;
    const BlockSpelling typed{.type = "text", .text_key = "text", .mark_keys = {"cache_control"}};
    Json block = {{"type", "text"}, {"text", "abc"}};
    CHECK(typed.frame() + coppice::ascii(5) == coppice::ascii(block.dump().size()));
    block["cache_control"] = {{"type", "ephemeral"}, {"ttl", "1h"}};
    const std::size_t mark = block["cache_control"].dump().size();
    CHECK(typed.frame() + coppice::ascii(5) + typed.mark_frame(0) + coppice::ascii(mark) ==
          coppice::ascii(block.dump().size()));
}

TEST_CASE("block spelling: a block without a type has a frame too") {
    const BlockSpelling bare{.type = {}, .text_key = "text", .mark_keys = {}};
    CHECK(bare.frame() + coppice::ascii(5) == coppice::ascii(std::string_view(R"({"text":"abc"})").size()));
}
