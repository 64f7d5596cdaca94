// SPDX-License-Identifier: MIT
// What does weighing cost? Cadences that weigh are asked at every request of the history, so that twice the history
// might take four times as long. Beside the same policies with a cadence that only counts, in the same run: the
// time for 20,000 results in times of 10,000, in which near 2 is linear; then the time for a megabyte, as bytes and
// as a DOM without its parse; then histories in which as much as possible stays open, or changes as often as
// possible.
#include "../examples/session_generator.hpp"
#include "turns.hpp"

#include <coppice/coppice.hpp>
#include <coppice/wire.hpp>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace {

using Json = nlohmann::ordered_json;
using coppice_bench::expect;
using coppice_bench::Side;

constexpr coppice::Size engage{40'000};
constexpr auto stepped = coppice::presets::standard(coppice::Stepped<10, engage>{});
constexpr auto ski_rental = coppice::presets::standard();
constexpr auto min_reclaim = coppice::presets::standard(coppice::MinReclaim<10'000, engage>{});
constexpr auto watermark = coppice::presets::standard(coppice::Watermark<>{});
constexpr auto every_request = coppice::presets::standard(coppice::EveryRequest<engage>{});
constexpr auto no_cache = coppice::presets::standard(coppice::SkiRental<coppice::prices::no_cache, engage>{});

// the policies of `standard`, and nothing ever leaves their windows
template <class Cadence>
using AllKept = coppice::Pipeline<Cadence, coppice::Dedup<>, coppice::KeepRecent<1'000'000, 400, 1'000'000>,
                                  coppice::BulkyInputClear<1'000'000, 400>>;
constexpr AllKept<coppice::Stepped<10, engage>> all_kept_stepped;
constexpr AllKept<coppice::SkiRental<coppice::prices::anthropic, engage>> all_kept;

std::string session(std::size_t results, std::size_t median, std::size_t longest) {
    coppice_examples::SessionShape shape;
    shape.results = results;
    shape.median_result_bytes = median;
    shape.max_result_bytes = longest;
    return coppice_examples::make_session(shape).dump();
}

class Rounds {
public:
    explicit Rounds(std::string_view model) {
        body_["model"] = model;
        body_["max_tokens"] = 1000;
        say("user", "Go on until all of it is done.");
    }

    void say(std::string_view role, std::string_view text) {
        Json message;
        message["role"] = role;
        message["content"] = text;
        body_["messages"].push_back(std::move(message));
    }

    // calls that a model makes at once, and what they answer
    template <class Content>
    void add(std::size_t calls, bool thinks, Content content) {
        Json assistant = Json::array();
        Json user = Json::array();
        if (thinks) {
            assistant.push_back(
                Json{{"type", "thinking"}, {"thinking", text(400)}, {"signature", std::string(200, 'A')}});
        }
        for (std::size_t i = 0; i < calls; ++i, ++number_) {
            const std::string id = fmt::format("toolu_{}", number_);
            const Json input{{"file_path", fmt::format("/src/{}.cpp", number_)}};
            assistant.push_back(Json{{"type", "tool_use"}, {"id", id}, {"name", "Read"}, {"input", input}});
            user.push_back(Json{{"type", "tool_result"}, {"tool_use_id", id}, {"content", content()}});
        }
        body_["messages"].push_back(Json{{"role", "assistant"}, {"content", std::move(assistant)}});
        body_["messages"].push_back(Json{{"role", "user"}, {"content", std::move(user)}});
    }

    // no two are equal
    std::string text(std::size_t bytes) const {
        std::string text = fmt::format("line {} of the file", number_);
        text.resize(bytes, '.');
        return text;
    }

    std::string dump() const { return body_.dump(); }

private:
    Json body_;
    std::size_t number_ = 0;
};

constexpr std::string_view model = "claude-sonnet-4-5";
constexpr std::string_view binding_model = "claude-opus-5-5";

std::string one_at_a_time(std::size_t results, std::size_t bytes) {
    Rounds rounds(model);
    for (std::size_t i = 0; i < results; ++i) {
        rounds.add(1, false, [&] { return Json(rounds.text(bytes)); });
    }
    return rounds.dump();
}

std::string equal_results(std::size_t results) {
    Rounds rounds(model);
    for (std::size_t i = 0; i < results; ++i) {
        rounds.add(1, false, [] { return Json(std::string(1000, 'x')); });
    }
    return rounds.dump();
}

// every tenth result is one
std::string images(std::size_t results) {
    Rounds rounds(model);
    for (std::size_t i = 0; i < results; ++i) {
        rounds.add(1, false, [&] {
            if (i % 10 != 0) { return Json(rounds.text(500)); }
            const Json source{{"type", "base64"}, {"media_type", "image/png"}, {"data", std::string(4000, 'A')}};
            return Json::array({Json{{"type", "image"}, {"source", source}}});
        });
    }
    return rounds.dump();
}

std::string parallel_calls(std::size_t results) {
    Rounds rounds(model);
    rounds.add(results, false, [&] { return Json(rounds.text(1000)); });
    for (std::size_t i = 0; i < 20; ++i) {
        rounds.add(1, false, [&] { return Json(rounds.text(1000)); });
    }
    return rounds.dump();
}

// a person speaks after each result, so that each time everything may change
std::string bound_turns(std::size_t results, std::size_t bytes) {
    Rounds rounds(binding_model);
    for (std::size_t i = 0; i < results; ++i) {
        rounds.add(1, true, [&] { return Json(rounds.text(bytes)); });
        rounds.say("assistant", "That is done.");
        rounds.say("user", "And the next one.");
    }
    return rounds.dump();
}

// nothing may change before a person speaks
std::string bound_loop(std::size_t results) {
    Rounds rounds(binding_model);
    for (std::size_t i = 0; i < results; ++i) {
        rounds.add(1, true, [&] { return Json(rounds.text(1000)); });
    }
    rounds.say("assistant", "That is done.");
    rounds.say("user", "And the next one.");
    return rounds.dump();
}

// what the host knows of each request
coppice::Ledger ledger_of(std::string_view body, bool cold, std::size_t limit) {
    coppice::Ledger ledger;
    const std::size_t messages = Json::parse(body)["messages"].size();
    for (std::size_t count = 1; count <= messages; count += 2) {
        if (cold) { ledger.note_cold(count); }
        if (limit != 0 && count == 1) { ledger.note_limit(count, limit); }
    }
    return ledger;
}

// One body and one pipeline, as bytes or as a DOM.
template <class Pipeline>
class Pruning {
public:
    Pruning(std::string_view body, const Pipeline& pipeline, coppice::Inputs inputs = coppice::Inputs())
        : body_(body), pipeline_(pipeline), inputs_(inputs) {}

    void take_turn(std::size_t runs) {
        side_.take_turn(runs, [&] {
            benchmark::DoNotOptimize(coppice::prune_pieces(body_, pipeline_, workspace_, inputs_));
        });
    }
    void take_turn(std::size_t runs, const Json& document) {
        side_.take_turn(runs, [&] {
            benchmark::DoNotOptimize(coppice::plan(document, pipeline_, planning_, inputs_));
        });
    }
    double seconds() const { return side_.best(); }
    double size() const { return static_cast<double>(body_.size()); }
    const coppice::Report& report() const { return workspace_.report; }

private:
    std::string_view body_;
    const Pipeline& pipeline_;
    coppice::Inputs inputs_;
    coppice::WireWorkspace workspace_;
    coppice::Workspace planning_;
    Side side_;
};

constexpr std::size_t rounds = 3;

// --- more results -----------------------------------------------------------------------------------------

constexpr std::array<std::size_t, 3> lengths = {5'000, 10'000, 20'000};
using Times = std::array<double, lengths.size()>;

template <class Pipeline>
void time_one(std::size_t length, std::string_view body, const Pipeline& pipeline, Times& times) {
    Pruning<Pipeline> pruning(body, pipeline);
    for (std::size_t round = 0; round < rounds; ++round) { pruning.take_turn(2); }
    expect(pruning.report().engaged, "there is nothing to prune in a body");
    times[length] = pruning.seconds();
}

void print_growth(std::string_view name, const Times& times, const Times& counting) {
    fmt::print("  {:<12}", name);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        fmt::print(" {:>8.2f}", 1e6 * times[i] / static_cast<double>(lengths[i]));
    }
    fmt::print(" {:>15.2f} {:>15.2f}\n", times[2] / times[1], times[2] / counting[2]);
}

void compare_lengths() {
    fmt::print("Microseconds a result with 5,000, 10,000 and 20,000 of them; times of 10,000 that 20,000 take;\n"
               "times of the cadence that counts, with 20,000.\n\n");
    fmt::print("  cadence         5,000   10,000   20,000 20,000 : 10,000    of `stepped`\n");
    Times counting{}, renting{}, reclaiming{}, marking{};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const std::string body = session(lengths[i], 600, 6000);
        time_one(i, body, stepped, counting);
        time_one(i, body, ski_rental, renting);
        time_one(i, body, min_reclaim, reclaiming);
        time_one(i, body, watermark, marking);
    }
    print_growth("stepped", counting, counting);
    print_growth("ski_rental", renting, counting);
    print_growth("min_reclaim", reclaiming, counting);
    print_growth("watermark", marking, counting);
}

// --- a megabyte -------------------------------------------------------------------------------------------

void compare_size(std::size_t results) {
    const std::string body = session(results, 600, 120'000);
    const Json document = Json::parse(body);
    Pruning bytes_counting(body, stepped);
    Pruning bytes_weighing(body, ski_rental);
    Pruning dom_counting(body, stepped);
    Pruning dom_weighing(body, ski_rental);
    for (std::size_t round = 0; round < 2 * rounds; ++round) {
        bytes_counting.take_turn(5);
        bytes_weighing.take_turn(5);
        dom_counting.take_turn(5, document);
        dom_weighing.take_turn(5, document);
    }
    const auto print = [&](std::string_view form, double weighing, double counting) {
        const double size = static_cast<double>(body.size()) / 1e6;
        fmt::print("  {:>5.1f} MB  {:<6} {:>10.2f} {:>13.2f}\n", size, form, 1e3 * weighing / size,
                   weighing / counting);
    };
    print("bytes", bytes_weighing.seconds(), bytes_counting.seconds());
    print("DOM", dom_weighing.seconds(), dom_counting.seconds());
}

void compare_sizes() {
    fmt::print("\nMilliseconds a megabyte with `ski_rental`, and that in times of `stepped`.\n\n");
    fmt::print("      body  as       ms a MB  of `stepped`\n");
    for (const std::size_t results : {std::size_t{170}, std::size_t{600}, std::size_t{2900}}) {
        compare_size(results);
    }
}

// --- the worst --------------------------------------------------------------------------------------------

// `make(results)` writes the body.
template <class Make, class Weighing, class Counting>
void compare_worst(std::string_view name, Make make, const Weighing& weighing, const Counting& counting,
                   bool cold = false, std::size_t limit = 0) {
    const std::string half_body = make(10'000);
    const std::string body = make(20'000);
    const coppice::Ledger half_ledger = ledger_of(half_body, cold, limit);
    const coppice::Ledger ledger = ledger_of(body, cold, limit);
    Pruning<Weighing> half(half_body, weighing, half_ledger);
    Pruning<Weighing> whole(body, weighing, ledger);
    Pruning<Counting> counted(body, counting);
    for (std::size_t round = 0; round < 2; ++round) {
        half.take_turn(1);
        whole.take_turn(1);
        counted.take_turn(1);
    }
    fmt::print("  {:<34} {:>8.2f} {:>15.2f} {:>13.2f}\n", name, 1e9 * whole.seconds() / whole.size(),
               whole.seconds() / half.seconds(), whole.seconds() / counted.seconds());
    std::fflush(stdout);
}

void compare_worst_cases() {
    const auto tiny = [](std::size_t results) { return one_at_a_time(results, 300); };
    const auto even = [](std::size_t results) { return one_at_a_time(results, 1000); };
    const auto turns = [](std::size_t results) { return bound_turns(results, 1000); };
    const auto tiny_turns = [](std::size_t results) { return bound_turns(results, 300); };
    fmt::print("\nThe worst: 10,000 and 20,000 results, as bytes.\n\n");
    fmt::print("  {:<34}  ms a MB 20,000 : 10,000  of `stepped`\n", "history");
    compare_worst("even results", even, ski_rental, stepped);
    compare_worst("tiny results", tiny, ski_rental, stepped);
    compare_worst("tiny results, watermark", tiny, watermark, stepped);
    compare_worst("all are kept", even, all_kept, all_kept_stepped);
    compare_worst("all are kept, a limit exceeded", even, all_kept, all_kept_stepped, false, 100'000);
    compare_worst("all are kept, the cache always cold", even, all_kept, all_kept_stepped, true);
    compare_worst("all are equal", equal_results, ski_rental, stepped);
    compare_worst("each tenth an image", images, ski_rental, stepped);
    compare_worst("parallel calls", parallel_calls, ski_rental, stepped);
    compare_worst("no cache", even, no_cache, stepped);
    compare_worst("bound turns", turns, ski_rental, stepped);
    compare_worst("bound turns, tiny results", tiny_turns, ski_rental, stepped);
    compare_worst("bound turns, tiny, every request", tiny_turns, every_request, stepped);
    compare_worst("one bound tool loop", bound_loop, ski_rental, stepped);
}

}  // namespace

int main() {
    try {
        compare_lengths();
        compare_sizes();
        compare_worst_cases();
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "bench_cadences: {}\n", error.what());
        return 1;
    }
}
