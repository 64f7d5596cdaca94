// SPDX-License-Identifier: MIT
#include <coppice/detail/outlook.hpp>

#include "../../examples/session_dialects.hpp"
#include "../../examples/session_generator.hpp"
#include "support/builders.hpp"
#include "support/pruned.hpp"
#include "support/six.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using coppice::CacheRules;
using coppice::Entry;
using coppice::Fate;
using coppice::Kind;
using coppice::none;
using coppice::Plan;
using coppice::PlainWording;
using coppice::Size;
using coppice::Transcript;
using coppice::detail::Change;
using coppice::detail::Outlook;
using Json = nlohmann::ordered_json;
using support::assistant;
using support::assistant_blocks;
using support::body;
using support::call;
using support::call_block;
using support::image;
using support::list;
using support::result;
using support::result_block;
using support::Six;
using support::text;
using support::thinking;
using support::user;
using support::user_blocks;

// Nothing that JSON escapes, and different for each number.
std::string letters(std::size_t number, std::size_t size) {
    std::string text = std::to_string(number) + ": ";
    text.resize(size, static_cast<char>('a' + number % 26));
    return text;
}

using Apply = std::function<void(const Transcript&, Plan&)>;

template <class... Policies>
Apply policies(Policies... all) {
    return [=](const Transcript& transcript, Plan& plan) { (all.apply(transcript, plan), ...); };
}

const Apply keep_two = policies(coppice::KeepRecent<2, Size{500}>{});

// A document as a reader and an outlook have it, and what a pipeline does with watched.
template <class Wording = Six>
class Watched {
public:
    explicit Watched(Json read, Apply apply = keep_two, Apply arrive = {})
        : apply_(std::move(apply)), arrive_(std::move(arrive)), document_(std::move(read)) {
        whole.source = &source_;
        const std::string refused(coppice::detail::read_request(coppice::detail::DomCursor<Json>(document_),
                                                                coppice::Dialect::detect, whole, scratch_));
        REQUIRE(refused == "");
        coppice::detail::recognise_own_texts(whole, wording(), true, [](std::string_view) { return true; },
                                             scratch_.text);
    }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

    void start() {
        if (arrive_) { start_plan(arrived_, whole.messages.size()); }
        outlook.start(whole, arrive_ ? &arrived_ : nullptr, least_bytes);
    }
    // The host has `open` messages and sent `cached` before.
    void go_to(std::size_t open, std::size_t cached) { outlook.see(open, cached); }
    std::size_t look() {
        outlook.look(planner());
        return outlook.removed();
    }
    void rewrite() { outlook.rewrite(planner()); }
    void use(Apply apply) { apply_ = std::move(apply); }

    // What a rewrite here would plan without any before it.
    void plan_anew(Plan& plan, std::size_t horizon) {
        start_plan(plan, horizon);
        apply_(whole, plan);
    }
    // What was written down, and nothing else.
    void repeat(Plan& plan, std::size_t horizon) {
        start_plan(plan, horizon);
        coppice::detail::repeat(outlook.changes(), plan);
    }

    const Json& document() const { return document_; }
    Transcript whole;
    Outlook outlook;
    std::size_t least_bytes = 256;
    std::size_t seen = 0;  ///< entries that the policies were shown when they were run last

private:
    coppice::detail::AnyWording wording() const { return coppice::detail::AnyWording::of(wording_); }
    std::vector<coppice::detail::AnyGuard> guards() const {
        using coppice::detail::AnyGuard;
        return {AnyGuard::of(pairing_), AnyGuard::of(unread_), AnyGuard::of(opaque_), AnyGuard::of(marks_),
                AnyGuard::of(blank_)};
    }
    auto planner() {
        return [this](Transcript& part) -> Plan& {
            seen = part.all().size();
            probe_.start(part, wording(), guards());
            apply_(part, probe_);
            return probe_;
        };
    }
    void start_plan(Plan& plan, std::size_t horizon) {
        whole.set_horizon(horizon);
        plan.start(whole, wording(), guards());
        if (!arrive_) { return; }
        for (Entry& entry : whole.all()) { entry.stands_for = {}; }
        whole.set_horizon(whole.messages.size());
        arrive_(whole, plan);
        for (std::size_t i = 0; i < whole.all().size(); ++i) {
            if (plan.spilled(i)) { whole.all()[i].stands_for = plan.preview_size(i); }
            if (plan.fate(i) == Fate::cap) { whole.all()[i].stands_for = plan.capped_size(i); }
        }
        whole.set_horizon(horizon);
    }

    Apply apply_;
    Apply arrive_;
    Wording wording_{};
    coppice::Pairing pairing_;
    coppice::Unread unread_;
    coppice::Opaque opaque_;
    coppice::CacheMarks marks_;
    coppice::BlankText blank_;
    coppice::detail::DomSource<Json> source_;
    coppice::detail::ReaderScratch scratch_;
    Json document_;
    Plan probe_, arrived_;
};

// The first `count` messages, as they stand in the body with frame and commas. All ASCII: two eighths a byte.
std::size_t eighths_of(Json document, std::size_t count) {
    Json& messages = document.at("messages");
    while (messages.size() > count) { messages.erase(messages.size() - 1); }
    return 2 * document.dump().size();
}

std::string fates(const Watched<>& watched) {
    std::string out;
    for (const Change& change : watched.outlook.changes()) {
        if (!out.empty()) { out += ' '; }
        out += std::to_string(change.entry);
        switch (change.fate) {
            case Fate::stub: out += 's'; break;
            case Fate::clip: out += 'c'; break;
            case Fate::elide: out += 'i'; break;
            case Fate::drop: out += 'd'; break;
            case Fate::clear_fields: out += "." + std::to_string(change.field); break;
            default: out += '?';
        }
    }
    return out;
}

// user, then a call and a result of 1,000 characters each: results are entries 2, 4, 6, ... in messages of that number.
Json thousands(std::size_t results) {
    std::vector<Json> contents;
    for (std::size_t i = 0; i < results; ++i) { contents.emplace_back(letters(i, 1000)); }
    return support::session(contents);
}

// "1000 characters" with quotes become "[gone]" with quotes.
constexpr std::size_t one_result = 2 * (1002 - 8);

}  // namespace

TEST_CASE("outlook: what a rewrite would remove is what the stubs are shorter") {
    Watched<> watched(thousands(5));
    watched.start();
    // 1 user, then two messages a pair: with 7 messages, three results, the last one unread
    watched.go_to(1, 0);
    CHECK(watched.look() == 0);
    CHECK(watched.outlook.first() == none);
    watched.go_to(7, 5);
    CHECK(watched.look() == 0);
    watched.go_to(9, 7);
    CHECK(watched.look() == one_result);
    CHECK(watched.outlook.first() == 2);
    watched.go_to(11, 9);
    CHECK(watched.look() == 2 * one_result);
    // a request that brings nothing new is not looked at again
    watched.seen = 0;
    watched.go_to(11, 9);
    CHECK(watched.look() == 2 * one_result);
    CHECK(watched.seen == 0);
    CHECK(watched.outlook.changes().empty());
}

TEST_CASE("outlook: the body is as it was until something is rewritten and then lacks that") {
    Watched<> watched(thousands(5));
    watched.start();
    watched.go_to(9, 7);
    for (const std::size_t count : {0U, 1U, 3U, 9U, 12U}) {
        CAPTURE(count);
        CHECK(watched.outlook.eighths(count) == eighths_of(watched.document(), count));
    }
    watched.look();
    CHECK(watched.outlook.eighths(9) == eighths_of(watched.document(), 9));
    watched.rewrite();
    CHECK(watched.outlook.eighths(2) == eighths_of(watched.document(), 2));
    CHECK(watched.outlook.eighths(3) == eighths_of(watched.document(), 3) - one_result);
    CHECK(watched.outlook.eighths(9) == eighths_of(watched.document(), 9) - one_result);
}

TEST_CASE("outlook: what is rewritten leaves it, and is not removed again") {
    Watched<> watched(thousands(5));
    watched.start();
    watched.go_to(9, 7);
    watched.rewrite();
    CHECK(fates(watched) == "2s");
    CHECK(watched.outlook.removed() == 0);
    CHECK(watched.outlook.first() == none);
    // nothing new, so nobody looks
    CHECK(watched.look() == 0);
    watched.go_to(11, 9);
    CHECK(watched.look() == one_result);
    // three pairs of the first four are left, and the newest one
    CHECK(watched.seen == 8);
    CHECK(watched.outlook.first() == 4);
    watched.rewrite();
    CHECK(fates(watched) == "2s 4s");
    CHECK(watched.outlook.changes()[1].reason == "keep_recent");
    // started again it knows nothing of before
    watched.start();
    CHECK(watched.outlook.changes().empty());
    watched.go_to(9, 7);
    CHECK(watched.look() == one_result);
}

TEST_CASE("outlook: what may never change is not looked at") {
    Json messages = list(user(letters(0, 900)), assistant(letters(1, 900)));
    support::add_pair<Json>(messages, "a", "Read", Json::object(), letters(2, 40));
    support::add_pair<Json>(messages, "b", "Write", Json{{"content", letters(3, 900)}}, "ok");
    support::add_pair<Json>(messages, "c", "Read", Json::object(), letters(4, 900));
    messages.push_back(call("open", "Read", Json{{"content", letters(5, 900)}}));
    Watched<> watched(body(messages));
    watched.start();
    watched.go_to(9, 7);
    watched.look();
    CHECK(watched.seen == 4);
    // unless it is worth a look
    watched.least_bytes = 40;
    watched.start();
    watched.go_to(9, 7);
    watched.look();
    CHECK(watched.seen == 6);
}

TEST_CASE("outlook: what stays behind the first change and was cached is rewritten") {
    Watched<> watched(thousands(5));
    const Json& document = watched.document();
    watched.start();
    const CacheRules any{.look_back = 0, .minimum_tokens = 0};
    watched.go_to(9, 7);
    CHECK(watched.outlook.rewritten(any) == 0);
    watched.look();
    // seven messages were cached, the first change is in the message of number 2
    CHECK(watched.outlook.rewritten(any) ==
          eighths_of(document, 7) - eighths_of(document, 2) - one_result);
    watched.rewrite();
    CHECK(watched.outlook.rewritten(any) == 0);
    watched.go_to(11, 9);
    watched.look();
    CHECK(watched.outlook.rewritten(any) ==
          eighths_of(document, 9) - one_result - (eighths_of(document, 4) - one_result) - one_result);
}

TEST_CASE("outlook: where entries stand at breakpoints only, none is counted on but that of the frame") {
    Watched<> watched(thousands(5));
    const Json& document = watched.document();
    watched.start();
    watched.go_to(9, 7);
    watched.look();
    // nine entries, one a message; the third is the first change: seven blocks back
    const std::size_t found = eighths_of(document, 7) - eighths_of(document, 2) - one_result;
    const std::size_t lost = eighths_of(document, 7) - eighths_of(document, 0) - one_result;
    CHECK(watched.outlook.rewritten({.look_back = 0, .minimum_tokens = 0}) == found);
    CHECK(watched.outlook.rewritten({.look_back = 20, .minimum_tokens = 0}) == lost);
    CHECK(watched.outlook.rewritten({.look_back = 6, .minimum_tokens = 0}) == lost);
    watched.rewrite();
    watched.go_to(11, 9);
    watched.look();
    // entries in front of the last rewrite were written with what it changed
    CHECK(watched.outlook.rewritten({.look_back = 20, .minimum_tokens = 0}) ==
          eighths_of(document, 9) - one_result - eighths_of(document, 0) - one_result);
    // a breakpoint of the host's finds them all the same
    CHECK(watched.outlook.rewritten({.look_back = 0, .minimum_tokens = 0}) ==
          eighths_of(document, 9) - one_result - (eighths_of(document, 4) - one_result) - one_result);
}

TEST_CASE("outlook: what is too short is not cached") {
    Watched<> watched(thousands(5));
    const Json& document = watched.document();
    watched.start();
    watched.go_to(9, 7);
    watched.look();
    const std::size_t cached = eighths_of(document, 7);
    const std::size_t served = eighths_of(document, 2);
    const auto rewritten = [&](std::size_t tokens) {
        return watched.outlook.rewritten({.look_back = 0, .minimum_tokens = tokens});
    };
    CHECK(rewritten(served / 8) == cached - served - one_result);
    // the beginning would not be found, so all that stays is read anew
    CHECK(rewritten(served / 8 + 1) == cached - one_result);
    CHECK(rewritten(cached / 8) == cached - one_result);
    // nothing was cached
    CHECK(rewritten(cached / 8 + 1) == 0);
}

TEST_CASE("outlook: images that went are gone, and the text beside them can go later") {
    Json messages = list(user("start"));
    for (std::size_t i = 0; i < 3; ++i) {
        support::add_pair<Json>(messages, "c" + std::to_string(i), "Shot", Json::object(),
                                list(text(letters(i, 1000)), image(2000)));
    }
    messages.push_back(assistant("done"));
    Watched<> watched(body(messages), policies(coppice::StaleMedia<1>{}));
    watched.start();
    watched.go_to(7, 5);
    // the last result is unread: of the two before it, the newest keeps its image
    const std::size_t one_image = 2 * (image(2000).dump().size() - text("[gone]").dump().size());
    CHECK(watched.look() == one_image);
    watched.rewrite();
    CHECK(fates(watched) == "2i");
    watched.use(policies(coppice::StaleMedia<1>{}, coppice::KeepRecent<1, Size{500}>{}));
    watched.go_to(8, 7);
    // the text and the stub of the image, and of the next result all
    const std::size_t beside =
        2 * (list(text(letters(0, 1000)), text("[gone]")).dump().size() - list(text("[gone]")).dump().size());
    const std::size_t all =
        2 * (list(text(letters(1, 1000)), image(2000)).dump().size() - list(text("[gone]")).dump().size());
    const std::size_t removed = watched.look();
    CHECK(removed == beside + all);
    watched.rewrite();
    CHECK(fates(watched) == "2i 2s 4s");
    Plan plan;
    watched.repeat(plan, 8);
    CHECK(plan.fate(2) == Fate::stub);
    CHECK(plan.saved_eighths(2) == one_image + beside);
}

TEST_CASE("outlook: an image counts what it costs and not its bytes") {
    Json messages = list(user("start"));
    for (std::size_t i = 0; i < 2; ++i) {
        support::add_pair<Json>(messages, "c" + std::to_string(i), "Shot", Json::object(), list(image(40'000)));
    }
    messages.push_back(assistant("done"));
    Watched<> watched(body(messages), policies(coppice::StaleMedia<1>{}));
    watched.start();
    watched.go_to(6, 5);
    CHECK(watched.look() == 8 * coppice::image_tokens - 2 * text("[gone]").dump().size());
}

TEST_CASE("outlook: an image of the user's that went is repeated as one") {
    const Json messages = list(user_blocks(text("look"), image(2000)), assistant("yes"), user_blocks(image(2000)),
                               assistant("done"));
    Watched<> watched(body(messages), policies(coppice::StaleMedia<1>{}));
    watched.start();
    watched.go_to(4, 3);
    CHECK(watched.look() == 2 * (image(2000).dump().size() - text("[gone]").dump().size()));
    watched.rewrite();
    CHECK(fates(watched) == "1i");
    Plan repeated;
    watched.repeat(repeated, 4);
    CHECK(repeated.fate(1) == Fate::elide);
    CHECK(repeated.reason(1) == "stale_media");
}

TEST_CASE("outlook: a text is worth a look by what it means and not by how it is spelled") {
    // 400 characters, and as JSON in a string a few more; by its spelling alone it might have 70
    std::string lines = letters(0, 400);
    lines[200] = '\n';
    const Json arguments = {{"file_path", "/f"}, {"content", lines}};
    Json messages = list(user("start"));
    for (const std::string id : {"a", "b"}) {
        messages.push_back(
            Json{{"role", "assistant"},
                 {"content", nullptr},
                 {"tool_calls", list(Json{{"id", id},
                                          {"type", "function"},
                                          {"function", {{"name", "Write"}, {"arguments", arguments.dump()}}}})}});
        messages.push_back(Json{{"role", "tool"}, {"tool_call_id", id}, {"content", "ok"}});
    }
    messages.push_back(assistant("done"));
    Watched<> watched(Json{{"messages", messages}}, policies(coppice::BulkyInputClear<1, Size{300}>{}));
    watched.start();
    watched.go_to(6, 5);
    // "...\\n..." with two quotes of two characters each
    CHECK(watched.look() == 2 * (400 + 2 + 4 - 10));
    // and it is still there after a rewrite that left it
    watched.use(policies(coppice::BulkyInputClear<2, Size{300}>{}));
    watched.rewrite();
    CHECK(watched.outlook.changes().empty());
    watched.use(policies(coppice::BulkyInputClear<0, Size{300}>{}));
    watched.rewrite();
    CHECK(fates(watched) == "1.1 3.1");
}

TEST_CASE("outlook: fields are counted from the first one of the whole call") {
    Json messages = list(user("start"));
    const Json input = {{"file_path", "/f"}, {"old_string", letters(0, 400)}, {"new_string", letters(1, 600)},
                        {"content", letters(2, 800)}};
    support::add_pair<Json>(messages, "a", "Edit", input, "ok");
    support::add_pair<Json>(messages, "b", "Edit", input, "ok");
    messages.push_back(assistant("done"));
    static constexpr std::string_view only_new[] = {"new_string"};
    Watched<> watched(body(messages), policies(coppice::BulkyInputClear<0, Size{300}>{.fields = only_new}));
    watched.start();
    watched.go_to(5, 3);
    // the second call's result is unread
    CHECK(watched.look() == 2 * (602 - 8));
    watched.rewrite();
    CHECK(fates(watched) == "1.2");
    watched.use(policies(coppice::BulkyInputClear<0, Size{300}>{}));
    watched.go_to(6, 5);
    CHECK(watched.look() == 2 * (402 - 8 + 802 - 8) + 2 * (402 + 602 + 802 - 3 * 8));
    watched.rewrite();
    CHECK(fates(watched) == "1.2 1.1 1.3 3.1 3.2 3.3");
    Plan repeated, anew;
    watched.repeat(repeated, 6);
    watched.plan_anew(anew, 6);
    CHECK(repeated.first_difference(anew) == none);
    CHECK(repeated.saved_eighths(1) == 2 * (402 + 602 + 802 - 3 * 8));
    CHECK(repeated.field_reason(1) == "bulky_input_clear");
}

TEST_CASE("outlook: a duplicate is written down as what any stub says") {
    const std::string same = letters(0, 1000);
    Json messages = list(user("start"));
    for (const std::string id : {"a", "b", "c"}) {
        support::add_pair<Json>(messages, id, "Read", Json{{"file_path", "/f"}},
                                id == "b" ? Json(letters(1, 1000)) : Json(same));
    }
    messages.push_back(user("on"));
    messages.push_back(assistant("done"));
    Watched<> watched(body(messages), policies(coppice::Dedup<>{}));
    watched.start();
    watched.go_to(9, 7);
    CHECK(watched.look() == one_result);
    watched.rewrite();
    CHECK(fates(watched) == "2s");
    watched.use(policies(coppice::Dedup<>{}, coppice::KeepRecent<0, Size{500}>{}));
    // the copy goes, too, and nothing said that it would stay
    watched.go_to(9, 9);
    watched.rewrite();
    CHECK(fates(watched) == "2s 4s 6s");
    Plan repeated;
    watched.repeat(repeated, 9);
    CHECK(repeated.original(2) == none);
    CHECK(repeated.fate(2) == Fate::stub);
    CHECK(repeated.reason(2) == "dedup");
}

TEST_CASE("outlook: a result of several pieces goes piece by piece") {
    Json contents = list(Json{{"role", "user"}, {"parts", list(Json{{"text", "start"}})}});
    for (std::size_t i = 0; i < 4; ++i) {
        contents.push_back(
            Json{{"role", "model"},
                 {"parts", list(Json{{"functionCall", {{"name", "run"}, {"args", {{"command", "ls"}}}}}})}});
        contents.push_back(Json{
            {"role", "user"},
            {"parts",
             list(Json{{"functionResponse",
                        {{"name", "run"},
                         {"response", {{"stdout", letters(2 * i, 1000)}, {"stderr", letters(2 * i + 1, 500)}}}}}})}});
    }
    Watched<> watched(Json{{"contents", contents}});
    REQUIRE(watched.whole.all()[2].form == coppice::Form::pieces);
    watched.start();
    watched.go_to(9, 7);
    CHECK(watched.look() == 2 * (1002 - 8 + 502 - 8));
    watched.rewrite();
    CHECK(fates(watched) == "2s");
    Plan repeated, anew;
    watched.repeat(repeated, 9);
    watched.plan_anew(anew, 9);
    CHECK(repeated.first_difference(anew) == none);
    CHECK(repeated.saved_eighths(2) == 2 * (1002 - 8 + 502 - 8));
}

TEST_CASE("outlook: what lost its middle as it arrived has only the rest to lose") {
    Json messages = list(user("start"));
    for (std::size_t i = 0; i < 4; ++i) {
        support::add_pair<Json>(messages, "c" + std::to_string(i), "Read", Json::object(), letters(i, 20'000));
    }
    const Apply cap = policies(coppice::CapOnArrival<coppice::chars(4000), 1200, 800>{});
    Watched<PlainWording> watched(body(messages), keep_two, cap);
    watched.start();
    Plan plan;
    watched.repeat(plan, 0);
    REQUIRE(plan.fate(2) == Fate::cap);
    const std::size_t by_arrival = plan.saved_eighths(2);
    // what comes later is part of no earlier body
    watched.go_to(5, 3);
    CHECK(watched.outlook.eighths(5) == eighths_of(watched.document(), 5) - by_arrival - plan.saved_eighths(4));
    CHECK(watched.outlook.eighths(3) == eighths_of(watched.document(), 3) - by_arrival);
    watched.go_to(9, 7);
    // some 2,100 characters of the 20,000 are still there
    const std::size_t removed = watched.look();
    CHECK(removed > 2 * 1'900);
    CHECK(removed < 2 * 4'000);
    watched.rewrite();
    watched.repeat(plan, 9);
    CHECK(plan.fate(2) == Fate::stub);
    CHECK(plan.saved_eighths(2) == by_arrival + removed);
}

TEST_CASE("outlook: what was spilled as it arrived has only its preview to lose") {
    Json messages = list(user("start"));
    for (std::size_t i = 0; i < 4; ++i) {
        support::add_pair<Json>(messages, "c" + std::to_string(i), "Read", Json::object(),
                                i == 2 ? letters(i, 1000) : letters(i, 20'000));
    }
    coppice::MemorySpillStore store;
    const Apply spill = policies(coppice::Spill<Size{16'000}>{.store = &store});
    Watched<PlainWording> watched(body(messages), policies(coppice::KeepRecent<1>{}), spill);
    watched.start();
    Plan plan;
    watched.repeat(plan, 0);
    REQUIRE(plan.fate(2) == Fate::spill);
    const std::size_t by_arrival = plan.saved_eighths(2) + plan.saved_eighths(4);
    watched.go_to(9, 7);
    const std::size_t removed = watched.look();
    CHECK(removed > 0);
    watched.rewrite();
    watched.repeat(plan, 9);
    CHECK(plan.fate(2) == Fate::stub);
    CHECK(plan.saved_eighths(2) + plan.saved_eighths(4) == by_arrival + removed);
}

TEST_CASE("outlook: the output of a call may come many items later") {
    const auto call_item = [](const std::string& id, const std::string& input) {
        return Json{{"type", "function_call"},
                    {"call_id", id},
                    {"name", "Write"},
                    {"arguments", Json{{"file_path", "/" + id}, {"content", input}}.dump()}};
    };
    const auto output = [](const std::string& id, const std::string& words) {
        return Json{{"type", "function_call_output"}, {"call_id", id}, {"output", words}};
    };
    Json items = list(user("start"), call_item("late", letters(0, 900)));
    for (std::size_t i = 1; i < 5; ++i) {
        items.push_back(call_item("c" + std::to_string(i), letters(i, 600)));
        items.push_back(output("c" + std::to_string(i), letters(10 + i, 1000)));
    }
    items.push_back(output("late", letters(20, 1000)));
    items.push_back(Json{{"role", "assistant"}, {"content", "done"}});
    items.push_back(user("more"));
    const std::size_t last = items.size();
    Watched<> watched(Json{{"input", items}},
                      policies(coppice::KeepRecent<1, Size{500}>{}, coppice::BulkyInputClear<1, Size{300}>{}));
    watched.start();
    watched.go_to(6, 4);
    watched.look();
    watched.go_to(last, 6);
    watched.rewrite();
    Plan repeated, anew;
    watched.repeat(repeated, last);
    watched.plan_anew(anew, last);
    CHECK(repeated.first_difference(anew) == none);
    // the oldest call, whose output came last
    CHECK(anew.fate(1) == Fate::clear_fields);
}

namespace {

// Follows a session, looking and rewriting at some of its requests, and compares.
template <class Wording>
void follow(Watched<Wording>& watched, std::mt19937& random, bool exact) {
    watched.start();
    std::size_t before = 0;
    std::size_t horizon = 0;
    const std::size_t rarely = 1 + random() % 6;
    Transcript& whole = watched.whole;
    std::size_t rewrites = 0;
    coppice::detail::for_each_request(whole, [&](const coppice::Request& request) {
        watched.go_to(request.messages, before);
        before = request.messages;
        if (random() % 3 == 0) { watched.look(); }
        const bool last = request.messages == whole.messages.size();
        if (!last && random() % rarely > 0) { return; }
        const std::size_t body = watched.outlook.eighths(request.messages);
        const std::size_t removed = watched.look();
        watched.rewrite();
        ++rewrites;
        // a duplicate is not as long as what it is written down as
        if (exact) { REQUIRE(watched.outlook.eighths(request.messages) == body - removed); }
        horizon = request.messages;
    });
    REQUIRE(rewrites > 0);
    Plan repeated, anew;
    watched.repeat(repeated, horizon);
    watched.plan_anew(anew, horizon);
    std::size_t saved = 0;
    for (std::size_t i = 0; i < whole.all().size(); ++i) {
        CAPTURE(i);
        saved += repeated.saved_eighths(i);
        REQUIRE((repeated.fate(i) == Fate::keep) == (anew.fate(i) == Fate::keep));
    }
    CHECK(watched.outlook.eighths(before) == whole.eighths_until(before) - saved);
    if (exact) { CHECK(repeated.first_difference(anew) == none); }
}

}  // namespace

TEST_CASE("outlook: what was written down is what planning at the end gives, however often it was rewritten") {
    using namespace coppice;
    std::mt19937 random(11);
    std::size_t engaged = 0;
    for (std::size_t round = 0; round < 6; ++round) {
        coppice_examples::SessionShape shape;
        shape.seed = round + 1;
        shape.results = 20 + random() % 60;
        const Json made = coppice_examples::make_session(shape);
        for (const coppice_examples::SessionDialect dialect : coppice_examples::session_dialects) {
            const std::string_view name = coppice_examples::name_of(dialect);
            CAPTURE(name);
            CAPTURE(round);
            const std::size_t keep = random() % 5;
            const Size min{300 + random() % 600};
            const KeepRecent<> recent{.keep = keep, .big = min};
            const BulkyInputClear<> bulky{.keep = random() % 3, .min = min};
            const SmallAging<> small{.keep = random() % 8, .above = Size{300}, .big = min};
            const bool reasoning = random() % 2 == 0;
            const bool twins = random() % 2 == 0;
            const bool media = random() % 2 == 0;
            const Apply apply = [=](const Transcript& transcript, Plan& plan) {
                if (reasoning) { StaleReasoning<2>{}.apply(transcript, plan); }
                if (media) { StaleMedia<1>{}.apply(transcript, plan); }
                if (min.value > 300) { small.apply(transcript, plan); }
                if (twins) { Dedup<Size{300}>{}.apply(transcript, plan); }
                recent.apply(transcript, plan);
                bulky.apply(transcript, plan);
            };
            Watched<PlainWording> watched(coppice_examples::render(dialect, made), apply);
            // a duplicate that was cleared before its twin came is no duplicate any more
            follow(watched, random, !twins);
            engaged += !watched.outlook.changes().empty();
        }
    }
    CHECK(engaged > 40);
}

TEST_CASE("outlook: the policies of the standard preset come to the same") {
    using namespace coppice;
    std::mt19937 random(5);
    coppice_examples::SessionShape shape;
    shape.results = 70;
    shape.duplicate_share = 0;
    const Json made = coppice_examples::make_session(shape);
    for (const coppice_examples::SessionDialect dialect : coppice_examples::session_dialects) {
        const std::string_view name = coppice_examples::name_of(dialect);
        CAPTURE(name);
        Watched<PlainWording> watched(coppice_examples::render(dialect, made),
                                      policies(StaleReasoning<2>{}, Dedup<>{}, KeepRecent<8, Size{400}, 3>{},
                                               BulkyInputClear<5, Size{400}>{},
                                               Ceiling<Size{400'000}, 4, Size{2000}, Size{400}>{}));
        follow(watched, random, true);
        CHECK(watched.outlook.changes().size() > 10);
    }
}

TEST_CASE("outlook: a clip is written down with its ends, repeated as it was, and not changed by a later rewrite") {
    Watched<PlainWording> watched(thousands(6), policies(coppice::OversizedOutput<coppice::chars(500), 100, 50, 1, 2>{}));
    watched.start();
    watched.go_to(9, 7);
    CHECK(watched.look() > 2 * 1200);
    watched.rewrite();
    REQUIRE(watched.outlook.changes().size() == 2);
    for (const Change& change : watched.outlook.changes()) {
        CHECK(change.fate == Fate::clip);
        CHECK(change.head == 100);
        CHECK(change.tail == 50);
        CHECK(change.reason == "oversized_output");
    }
    Plan once;
    watched.plan_anew(once, 9);
    // the same policy with other numbers, and others: what was cut stays
    watched.use(
        policies(coppice::OversizedOutput<coppice::chars(100), 10, 20, 1, 2>{}, coppice::KeepRecent<0, Size{100}>{}));
    watched.go_to(13, 9);
    watched.rewrite();
    Plan repeated;
    watched.repeat(repeated, 13);
    std::size_t cut = 0;
    for (std::size_t i = 0; i < watched.whole.all().size(); ++i) {
        if (once.fate(i) != Fate::clip) { continue; }
        ++cut;
        CHECK(repeated.fate(i) == Fate::clip);
        CHECK(repeated.text(i) == once.text(i));
        CHECK(repeated.clipped_head(i) == 100);
        CHECK(repeated.clipped_tail(i) == 50);
    }
    CHECK(cut == 2);
    CHECK(watched.outlook.changes().size() == 5);
}
