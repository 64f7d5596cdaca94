// SPDX-License-Identifier: MIT
#include <coppice/policies/stale_media.hpp>

#include "support/dialects.hpp"
#include "support/pruned.hpp"

#include <coppice/cadences/stepped.hpp>
#include <coppice/guards/exempt_tools.hpp>
#include <coppice/pipeline.hpp>
#include <coppice/policies/bulky_input_clear.hpp>
#include <coppice/policies/ceiling.hpp>
#include <coppice/policies/dedup.hpp>
#include <coppice/policies/keep_recent.hpp>
#include <coppice/policies/small_aging.hpp>
#include <coppice/presets/openswarm.hpp>
#include <coppice/wire.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace support;

namespace {

const AllowedChanges images_too = [] {
    AllowedChanges allowed;
    allowed.user_images = true;
    return allowed;
}();

constexpr std::string_view sent = "[image cleared: sent by the user]";

coppice::Pipeline<coppice::StaleMedia<>> keeping(std::size_t images) {
    return coppice::Pipeline{coppice::StaleMedia<>{.keep_images = images}};
}

Ordered picture(std::size_t number) { return image(3000, static_cast<char>('A' + number)); }

// What each dialect makes of an image in a message; `size` bytes of data.
Ordered shown(const Spelling& in, std::size_t size = 3000) {
    const std::string data(size, 'A');
    switch (in.dialect()) {
        case coppice::Dialect::openai_chat:
            return {{"type", "image_url"}, {"image_url", {{"url", "data:image/png;base64," + data}}}};
        case coppice::Dialect::openai_responses:
            return {{"type", "input_image"}, {"image_url", "data:image/png;base64," + data}};
        case coppice::Dialect::gemini: return {{"inlineData", {{"mimeType", "image/png"}, {"data", data}}}};
        case coppice::Dialect::bedrock:
            return {{"image", {{"format", "png"}, {"source", {{"bytes", data}}}}}};
        default: return image(size);
    }
}

Ordered said(const Spelling& in, const std::string& words) {
    switch (in.dialect()) {
        case coppice::Dialect::openai_responses: return {{"type", "input_text"}, {"text", words}};
        case coppice::Dialect::gemini:
        case coppice::Dialect::bedrock: return {{"text", words}};
        default: return text(words);
    }
}

template <class... Blocks>
Ordered shows(const Spelling& in, Blocks... blocks) {
    return {{"role", "user"}, {in.is(coppice::Dialect::gemini) ? "parts" : "content", list(std::move(blocks)...)}};
}

const Ordered& blocks_at(const Spelling& in, const Ordered& document, std::size_t message) {
    return in.messages(document).at(message).at(in.is(coppice::Dialect::gemini) ? "parts" : "content");
}

// One image with whatever the test puts beside it, which the model has read, pruned with nothing kept.
Pruned alone(const Spelling& in, Ordered block) {
    return pruned(in.body(list(shows(in, said(in, "look"), std::move(block)), in.assistant("I see"))), keeping(0),
                  images_too);
}

// Asks for every entry, in every way but the one that is for images of the user's.
struct ElideResults {
    static constexpr std::string_view name = "elide_results";
    void apply(const coppice::Transcript& transcript, coppice::Plan& plan) const {
        for (std::size_t i = 0; i < transcript.entries().size(); ++i) {
            const bool result = transcript.entries()[i].kind == coppice::Kind::result;
            if (result) {
                CHECK_FALSE(plan.could_elide_user_image(i));
                CHECK_FALSE(plan.elide_user_image(i, name));
                plan.elide_images(i, name);
            } else {
                CHECK_FALSE(plan.could_elide_images(i));
                CHECK_FALSE(plan.elide_images(i, name));
                CHECK_FALSE(plan.clear(i, name));
            }
        }
    }
};

}  // namespace

TEST_CASE("stale_media: in every dialect but Responses an old image of the user's becomes a line of text") {
    in_every_dialect([](const Spelling& in) {
        const Ordered document =
            in.body(list(shows(in, said(in, "before"), shown(in), said(in, "after"), shown(in, 2000)),
                         in.assistant("one"), shows(in, shown(in, 2500)), in.assistant("two"), in.user("go on")));
        const Pruned p = pruned(document, keeping(2), images_too);
        if (in.is(coppice::Dialect::openai_responses)) {
            CHECK(p.unchanged());
            return;
        }
        Ordered expected = document;
        expected[in.list_key()][0][in.is(coppice::Dialect::gemini) ? "parts" : "content"][1] =
            said(in, std::string(sent));
        const bool same = p.after == expected;
        CHECK(same);
        REQUIRE(p.report.edits.size() == 1);
        const coppice::EditRecord& edit = p.report.edits[0];
        CHECK(edit.message == 0);
        CHECK(edit.block == 1);
        CHECK(edit.path == (in.is(coppice::Dialect::openai_chat) ? "/content/1" : ""));
        CHECK(edit.replacement == sent);
        CHECK(edit.reason == "stale_media");
        CHECK(edit.id.empty());
        CHECK(edit.tool.empty());
        CHECK(pruned(document, keeping(3), images_too).unchanged());
        CHECK(pruned(document, keeping(0), images_too).report.edits.size() == 3);
    });
}

TEST_CASE("stale_media: images of results and of the user are counted together and the newest stay") {
    Ordered messages = list(user_blocks(text("look"), picture(0)));
    add_pair(messages, "a", "Shot", Ordered{{"path", "/a"}}, list(text("left"), picture(1)));
    messages.push_back(assistant("and?"));
    messages.push_back(user_blocks(picture(2)));
    add_pair(messages, "b", "Shot", Ordered{{"path", "/b"}}, list(picture(3)));
    messages.push_back(assistant("done"));
    const auto gone = [&](std::size_t keep) {
        const Pruned p = pruned(body(messages), keeping(keep), images_too);
        std::string places;
        for (const coppice::EditRecord& edit : p.report.edits) {
            places += std::to_string(edit.message) + edit.path + ' ';
        }
        return places;
    };
    CHECK(gone(4).empty());
    CHECK(gone(3) == "0 ");
    CHECK(gone(2) == "0 2/content/1 ");
    CHECK(gone(1) == "0 2/content/1 4 ");
    CHECK(gone(0) == "0 2/content/1 4 6/content/0 ");
    const Pruned p = pruned(body(messages), keeping(1), images_too);
    CHECK(result_content(p.after, 0) == list(text("left"), text("[image cleared: Shot /a]")));
    CHECK(p.after["messages"][4]["content"] == list(text(std::string(sent))));
}

TEST_CASE("stale_media: the images of one result stay or go together and count each") {
    Ordered messages = list(user_blocks(picture(0)));
    add_pair(messages, "a", "Shot", Ordered::object(), list(picture(1), picture(2), picture(3)));
    add_pair(messages, "b", "Shot", Ordered::object(), list(picture(4)));
    messages.push_back(assistant("done"));
    const auto kept = [&](std::size_t keep) { return pruned(body(messages), keeping(keep), images_too).report.edits; };
    CHECK(kept(5).empty());
    CHECK(kept(4).size() == 1);
    CHECK(kept(3).size() == 1);  // a place was left for the first of three
    CHECK(kept(2).size() == 1);
    CHECK(kept(1).size() == 4);
}

TEST_CASE("stale_media: what the model has not read stays and takes no place") {
    in_dialects({coppice::Dialect::anthropic, coppice::Dialect::openai_chat, coppice::Dialect::gemini,
                 coppice::Dialect::bedrock},
                [](const Spelling& in) {
                    const Ordered document = in.body(list(shows(in, shown(in)), in.assistant("one"),
                                                          shows(in, shown(in)), in.assistant("two"),
                                                          shows(in, shown(in)), in.user("and this")));
                    const Pruned p = pruned(document, keeping(1), images_too);
                    REQUIRE(p.report.edits.size() == 1);
                    CHECK(p.report.edits[0].message == 0);
                    CHECK(pruned(document, keeping(0), images_too).report.edits.size() == 2);
                });
}

TEST_CASE("stale_media: images that no text could shorten take no place") {
    const Ordered document = body(list(user_blocks(picture(0)), assistant("one"),
                                       user_blocks(Ordered{{"type", "image"}, {"source", {{"x", 1}}}}),
                                       assistant("two"), user("go on")));
    CHECK(pruned(document, keeping(1), images_too).unchanged());
    const Pruned p = pruned(document, keeping(0), images_too);
    CHECK(p.report.edits.size() == 1);
}

TEST_CASE("stale_media: exempt images take no place") {
    Ordered messages = list(user_blocks(picture(0)));
    add_pair(messages, "a", "Skill", Ordered::object(), list(picture(1)));
    messages.push_back(assistant("done"));
    const coppice::Pipeline pipeline{coppice::StaleMedia<1>{}, coppice::ExemptTools{}};
    CHECK(pruned(body(messages), pipeline, images_too).unchanged());
    CHECK(pruned(body(messages), keeping(1), images_too).report.edits.size() == 1);
}

TEST_CASE("stale_media: no other policy touches an image of the user's") {
    in_every_dialect([](const Spelling& in) {
        Ordered messages = list(shows(in, said(in, "look"), shown(in, 60'000)), in.assistant("one"),
                                shows(in, shown(in, 60'000)), in.assistant("two"));
        const Ordered document = in.body(std::move(messages));
        const coppice::Pipeline everything{
            coppice::Dedup<coppice::Size{1}, coppice::SameCall::ignored>{},
            coppice::SmallAging<0, coppice::Size{1}>{},
            coppice::KeepRecent<0, coppice::Size{2000}, 0>{},
            coppice::BulkyInputClear<0>{},
            coppice::Ceiling<coppice::Size{100}, 0, coppice::Size{50}, coppice::Size{1}>{}};
        CHECK(pruned(document, everything).unchanged());
        CHECK(pruned(document, coppice::Pipeline{coppice::KeepRecent<0, coppice::Size{2000}, coppice::share_window>{}})
                  .unchanged());
    });
}

TEST_CASE("stale_media: a policy of the user's own reaches images of messages by their own call alone") {
    Ordered messages = list(user_blocks(text("look"), picture(0)));
    add_pair(messages, "a", "Shot", Ordered::object(), list(picture(1)));
    messages.push_back(assistant("done"));
    Ordered document = body(messages);
    const coppice::Report report = coppice::prune(document, coppice::Pipeline{ElideResults{}});
    CHECK(report.edits.size() == 1);
    CHECK(document["messages"][0] == messages[0]);
}

TEST_CASE("stale_media: a cache mark goes along with the text") {
    const Spelling anthropic(coppice::Dialect::anthropic);
    const Ordered mark = Ordered{{"type", "ephemeral"}, {"ttl", "1h"}};
    const Pruned p = alone(anthropic, marked(picture(0), mark));
    CHECK(p.after["messages"][0]["content"][1] == marked(text(std::string(sent)), mark));
    CHECK(alone(anthropic, marked(picture(0), nullptr)).after["messages"][0]["content"][1] ==
          marked(text(std::string(sent)), nullptr));

    const Spelling chat(coppice::Dialect::openai_chat);
    for (const char* const key : {"cache_control", "prompt_cache_breakpoint"}) {
        Ordered image = shown(chat);
        image[key] = Ordered{{"type", "ephemeral"}};
        const Pruned q = alone(chat, image);
        Ordered expected = text(std::string(sent));
        expected[key] = Ordered{{"type", "ephemeral"}};
        CHECK(q.after["messages"][0]["content"][1] == expected);
    }
    // a mark that the text could not carry keeps the image
    Ordered nested = picture(0);
    nested["source"]["cache_control"] = mark;
    CHECK(alone(anthropic, nested).unchanged());
    nested = marked(marked(picture(0)), mark);
    nested["source"]["cache_control"] = mark;
    CHECK(alone(anthropic, nested).unchanged());
}

TEST_CASE("stale_media: in Bedrock cache points and documents keep their neighbours") {
    const Spelling in(coppice::Dialect::bedrock);
    const Ordered point = Ordered{{"cachePoint", {{"type", "default"}}}};
    const Ordered paper =
        Ordered{{"document", {{"format", "pdf"}, {"name", "d"}, {"source", {{"bytes", std::string(3000, 'D')}}}}}};
    const Ordered document =
        in.body(list(shows(in, said(in, "read"), paper, shown(in), point, shown(in)), in.assistant("done")));
    const Pruned p = pruned(document, keeping(0), images_too);
    CHECK(p.report.edits.size() == 2);
    const Ordered line = said(in, std::string(sent));
    const bool same = blocks_at(in, p.after, 0) == list(said(in, "read"), paper, line, point, line);
    CHECK(same);
}

TEST_CASE("stale_media: documents and sound and video stay") {
    CHECK(alone(Spelling(coppice::Dialect::anthropic), document()).unchanged());
    const std::string data(3000, 'A');
    const Spelling chat(coppice::Dialect::openai_chat);
    CHECK(alone(chat, Ordered{{"type", "input_audio"}, {"input_audio", {{"data", data}, {"format", "wav"}}}})
              .unchanged());
    CHECK(alone(chat, Ordered{{"type", "file"}, {"file", {{"file_data", data}}}}).unchanged());
    const Spelling bedrock(coppice::Dialect::bedrock);
    for (const char* const kind : {"document", "video", "audio"}) {
        CHECK(alone(bedrock, Ordered{{kind, {{"format", "f"}, {"name", "n"}, {"source", {{"bytes", data}}}}}})
                  .unchanged());
    }
    CHECK(alone(bedrock, Ordered{{"guardContent", {{"image", {{"format", "png"}, {"source", {{"bytes", data}}}}}}}})
              .unchanged());
    const Spelling gemini(coppice::Dialect::gemini);
    for (const char* const type : {"audio/wav", "video/mp4", "application/pdf", "", "image", "IMAGE"}) {
        CAPTURE(type);
        CHECK(alone(gemini, Ordered{{"inlineData", {{"mimeType", type}, {"data", data}}}}).unchanged());
    }
    CHECK(alone(gemini, Ordered{{"inlineData", {{"data", data}}}}).unchanged());
}

TEST_CASE("stale_media: of Gemini an image goes in either spelling and only when nothing stands beside it") {
    const Spelling in(coppice::Dialect::gemini);
    const std::string data(3000, 'A');
    const auto line = [&](const Ordered& part) {
        const Pruned p = alone(in, part);
        return blocks_at(in, p.after, 0)[1] == said(in, std::string(sent));
    };
    const Ordered blob = Ordered{{"mimeType", "image/png"}, {"data", data}};
    const Ordered snake = Ordered{{"mime_type", "image/webp"}, {"data", data}};
    const Ordered file = Ordered{{"mimeType", "image/png"}, {"fileUri", "https://files/" + data}};
    CHECK(line({{"inlineData", blob}}));
    CHECK(line({{"inline_data", snake}}));
    CHECK(line({{"fileData", file}}));
    CHECK(line({{"file_data", file}}));
    CHECK(line({{"inlineData", blob}, {"mediaResolution", {{"level", "MEDIA_RESOLUTION_LOW"}}}}));
    CHECK(line({{"media_resolution", {{"level", "x"}}}, {"inlineData", blob}}));

    const auto stays = [&](const Ordered& part) { return alone(in, part).unchanged(); };
    CHECK(stays({{"inlineData", blob}, {"thoughtSignature", "c2ln"}}));
    CHECK(stays({{"thought_signature", "c2ln"}, {"inlineData", blob}}));
    CHECK(stays({{"inlineData", blob}, {"partMetadata", {{"a", 1}}}}));
    CHECK(stays({{"inlineData", blob}, {"videoMetadata", {{"fps", 1}}}}));
    Ordered both = blob;
    both["mime_type"] = "audio/wav";
    CHECK(stays({{"inlineData", both}}));
    both["mime_type"] = "image/png";
    CHECK(stays({{"inlineData", both}}));

    // two kinds of data are none that anybody knows
    const Ordered two = in.body(
        list(shows(in, said(in, "look"), Ordered{{"inlineData", blob}, {"fileData", file}}), in.assistant("done")));
    CHECK(pruned_once(two, keeping(0)).unchanged());
}

TEST_CASE("stale_media: images of the model and of the system stay") {
    in_dialects({coppice::Dialect::openai_chat, coppice::Dialect::gemini, coppice::Dialect::bedrock,
                 coppice::Dialect::anthropic},
                [](const Spelling& in) {
                    for (const char* const role : {"assistant", "model", "system", "developer"}) {
                        CAPTURE(role);
                        Ordered image = shows(in, said(in, "see"), shown(in));
                        image["role"] = role;
                        const Ordered document =
                            in.body(list(in.user("start"), std::move(image), in.assistant("done")));
                        CHECK(pruned_once(document, keeping(0), in.dialect()).unchanged());
                    }
                });
}

TEST_CASE("stale_media: an image behind results of its message goes without them") {
    Ordered messages = list(user("start"), call("a", "Read", Ordered{{"file_path", "/a"}}),
                            user_blocks(result_block("a", Ordered("short")), text("see also"), picture(0)),
                            assistant("done"));
    const Pruned p = pruned(body(messages), keeping(0), images_too);
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].block == 2);
    CHECK(p.after["messages"][2]["content"][2] == text(std::string(sent)));
    CHECK(p.after["messages"][2]["content"][0] == messages[2]["content"][0]);
}

TEST_CASE("stale_media: where the provider's rules keep a whole user turn its images stay") {
    // the turn answers a program's call
    const auto edits = [](const Ordered& calls) {
        const Ordered turn = user_blocks(result_block("a", Ordered("short")), picture(0));
        const Ordered document = body(list(user("start"), assistant_blocks(calls), turn, assistant("done")));
        return pruned(document, keeping(0), images_too).report.edits.size();
    };
    Ordered asks = call_block("a", "Read", Ordered::object());
    CHECK(edits(asks) == 1);
    asks["caller"] = Ordered{{"type", "code_execution_20250825"}, {"tool_id", "s"}};
    CHECK(edits(asks) == 0);
    // the server continues from here on
    const Ordered compacted = assistant_blocks(Ordered{{"type", "compaction"}, {"content", "so far"}});
    const Ordered document = body(
        list(user_blocks(picture(0)), compacted, user_blocks(picture(1)), assistant("done"), user("and now?")));
    const Pruned p = pruned_once(document, keeping(0));
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].message == 0);
}

TEST_CASE("stale_media: objects with two members of one name stay") {
    const auto unchanged = [](const std::string& bytes) {
        const coppice::PrunedBody p = coppice::prune(bytes, keeping(0));
        return !p.report.engaged;
    };
    const std::string data(3000, 'A');
    const std::string source = R"("source":{"type":"base64","media_type":"image/png","data":")" + data + R"("})";
    const auto request = [](const std::string& block, const std::string& role = R"("role":"user")") {
        return R"({"system":"s","messages":[{)" + role + R"(,"content":[{"type":"text","text":"look"},)" + block +
               R"(]},{"role":"assistant","content":"done"}]})";
    };
    CHECK_FALSE(unchanged(request(R"({"type":"image",)" + source + "}")));
    CHECK(unchanged(request(R"({"type":"image","type":"image",)" + source + "}")));
    CHECK(unchanged(request(R"({"type":"image","x":{"a":1,"a":2},)" + source + "}")));
    CHECK(unchanged(request(R"({"type":"image",)" + source + "}", R"("role":"user","role":"user")")));
}

TEST_CASE("stale_media: signed images stay") {
    Ordered signed_image = picture(0);
    signed_image["signature"] = "c2ln";
    CHECK(alone(Spelling(coppice::Dialect::anthropic), signed_image).unchanged());
}

TEST_CASE("stale_media: one workspace for all dialects writes each block in its own way") {
    coppice::Workspace workspace;
    for (int i = 0; i < 2; ++i) {
        in_dialects({coppice::Dialect::anthropic, coppice::Dialect::gemini, coppice::Dialect::openai_chat,
                     coppice::Dialect::bedrock},
                    [&](const Spelling& in) {
                        Ordered document = in.body(list(shows(in, shown(in)), in.assistant("done")));
                        coppice::prune(document, keeping(0), workspace, in.dialect());
                        CHECK(blocks_at(in, document, 0) == list(said(in, std::string(sent))));
                    });
    }
}

TEST_CASE("stale_media: images in Gemini's results become an empty list as before") {
    const Spelling in(coppice::Dialect::gemini);
    Ordered messages = list(in.user("start"));
    in.add_calls(messages, {{"a", "Shot", Ordered{{"path", "/a"}}}});
    Ordered response = Ordered{{"id", "a"}, {"name", "Shot"}, {"response", {{"output", "see"}}}};
    response["parts"] = list(shown(in), shown(in));
    messages.push_back(shows(in, Ordered{{"functionResponse", response}}, shown(in)));
    messages.push_back(in.assistant("done"));
    const Pruned p = pruned(in.body(std::move(messages)), keeping(1), images_too);
    REQUIRE(p.report.edits.size() == 1);
    CHECK(p.report.edits[0].path == "/functionResponse/parts");
    const Pruned all = pruned(p.before, keeping(0), images_too);
    REQUIRE(all.report.edits.size() == 2);
    CHECK(all.report.edits[0].path == "/functionResponse/parts");
    CHECK(all.report.edits[1].path.empty());
}

TEST_CASE("stale_media: a cadence holds it back and the prefix stays as it was") {
    Ordered messages = list(user_blocks(picture(0)));
    const coppice::Pipeline pipeline{coppice::StaleMedia<0>{}, coppice::Stepped<4>{}};
    Ordered last;
    std::size_t changes = 0;
    for (std::size_t turn = 1; turn <= 12; ++turn) {
        messages.push_back(assistant("turn " + std::to_string(turn)));
        messages.push_back(user_blocks(text("next"), picture(turn)));
        const Pruned p = pruned(body(messages), pipeline, images_too);
        if (!last.is_null()) {
            const bool same = std::equal(last.begin(), last.end(), p.after["messages"].begin());
            changes += !same;
        }
        last = p.after["messages"];
    }
    CHECK(changes > 1);
    CHECK(changes < 5);
}

TEST_CASE("stale_media: other wordings have their own line") {
    static_assert(coppice::policy<coppice::StaleMedia<>> && !coppice::on_arrival_v<coppice::StaleMedia<>>);
    const Pruned p = pruned(body(list(user_blocks(text("look"), picture(0)), assistant("done"))),
                            coppice::Pipeline{coppice::StaleMedia<0>{}, coppice::OpenSwarmWording{}}, images_too);
    const std::string line = p.after["messages"][0]["content"][1]["text"];
    CHECK(line.find("[Old screenshot cleared by OpenSwarm") == 0);
}
