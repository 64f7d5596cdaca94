// SPDX-License-Identifier: MIT
// Law 10, request by request: while nothing is rewritten, what was sent before is how the next request begins. And the
// answer is a function of the body alone, whoever is asked.
#include "support/everything.hpp"
#include "support/hints.hpp"
#include "support/requests.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef COPPICE_CLI
#include <unistd.h>
#endif

namespace {

using Json = nlohmann::ordered_json;
using support::Requests;

/// A pipeline behind functions, and what has been seen of it.
struct Watched {
    std::string name;
    bool only_arrivals = false;  ///< nothing is changed later
    bool is_eager = false;       ///< moves so often that any session of some length shows it
    std::function<coppice::Report(const Json&, coppice::Workspace&)> plan;
    std::function<coppice::Report(Json&)> prune;
    std::size_t sessions = 0;
    std::size_t rewrites = 0;  ///< neighbouring requests of which the second changed what the first had sent
    std::size_t still = 0;     ///< pairs that had to begin alike, with something cleared in them
};

template <class Pipeline>
Watched watched(std::string name, const Pipeline& pipeline, bool is_eager = false) {
    Watched made;
    made.name = std::move(name);
    made.is_eager = is_eager;
    made.plan = [pipeline](const Json& body, coppice::Workspace& workspace) {
        return coppice::plan(body, pipeline, workspace);
    };
    made.prune = [pipeline](Json& body) { return coppice::prune(body, pipeline); };
    return made;
}

/// With hints on the calls of each body.
template <class Pipeline>
Watched watched_with_hints(std::string name, const Pipeline& pipeline) {
    Watched made;
    made.name = std::move(name);
    made.plan = [pipeline](const Json& body, coppice::Workspace& workspace) {
        const support::HintsOf known(body);
        coppice::Inputs inputs;
        inputs.hints = known.hints();
        return coppice::plan(body, pipeline, workspace, inputs);
    };
    made.prune = [pipeline](Json& body) {
        const support::HintsOf known(body);
        coppice::Inputs inputs;
        inputs.hints = known.hints();
        return coppice::prune(body, pipeline, inputs);
    };
    return made;
}

/// Every preset and every policy there is, and every cadence with windows so small that there is always something to
/// clear.
std::vector<Watched> all_watched() {
    std::vector<Watched> all;
    support::for_each_preset(
        [&](const char* name, const auto& pipeline) { all.push_back(watched(name, pipeline)); });
    support::for_each_cadence([&](const auto& cadence) {
        using Cadence = std::decay_t<decltype(cadence)>;
        const bool is_eager =
            std::is_same_v<Cadence, coppice::EveryRequest<>> || std::is_same_v<Cadence, coppice::Stepped<>>;
        all.push_back(watched(
            std::string(cadence.name),
            coppice::Pipeline{cadence, coppice::SmallAging<3, coppice::Size{80}, coppice::Size{900}>{},
                              coppice::Dedup<>{}, coppice::KeepRecent<2, coppice::Size{900}, 1>{},
                              coppice::BulkyInputClear<1, coppice::Size{300}>{}},
            is_eager));
        // what is cut to its ends, and stubs that look into calls whose inputs go, too
        all.push_back(
            watched(std::string(cadence.name) + ", summaries",
                    coppice::Pipeline{cadence, coppice::OversizedOutput<coppice::chars(1500), 400, 200, 2, 4>{},
                                      coppice::FailedCall<2, 4, coppice::Size{200}, 300>{},
                                      coppice::StaleInput<1, 6, coppice::chars(300), coppice::chars(150)>{},
                                      coppice::KeepEnds<2, 8, coppice::Size{600}, 6'000>{}, coppice::ToolSummaries{}},
                    is_eager));
    });
    support::for_each_policy([&](const auto& policy) {
        if constexpr (!support::needs_hints<std::decay_t<decltype(policy)>>) {
            all.push_back(watched(std::string(policy.name), coppice::Pipeline{policy, coppice::Stepped<4>{}}));
            all.back().only_arrivals = coppice::on_arrival_v<std::decay_t<decltype(policy)>>;
        }
    });
    static coppice::MemorySpillStore store;
    all.push_back(watched("spill and keep_recent",
                          coppice::Pipeline{coppice::Spill<coppice::Size{16'000}>{.store = &store},
                                            coppice::KeepRecent<2>{}, coppice::Stepped<4>{}}));
    all.push_back(watched_with_hints(
        "clear_hinted", coppice::Pipeline{coppice::ClearHinted<1>{}, coppice::Stepped<4>{}}));
    return all;
}

/// What the report says of itself, as soon as it does.
template <class Report>
bool claims(const Report& report, bool otherwise) {
    if constexpr (requires { report.rewrites; }) {
        return report.rewrites;
    } else {
        return otherwise;
    }
}

/// A request, and what would be done to it.
struct Seen {
    std::size_t request = 0;
    std::size_t messages = 0;
    coppice::Report report;
};

bool same_edit(const coppice::EditRecord& left, const coppice::EditRecord& right) {
    return left.message == right.message && left.block == right.block && left.path == right.path &&
           left.replacement == right.replacement && left.bytes_before == right.bytes_before &&
           left.bytes_after == right.bytes_after;
}

bool same_edits(const coppice::Report& left, const coppice::Report& right) {
    return std::equal(left.edits.begin(), left.edits.end(), right.edits.begin(), right.edits.end(),
                      same_edit);
}

/// The first message of `before` that `after` treats in another way; `before.messages` where there is none.
std::size_t first_difference(const Seen& before, const Seen& after) {
    auto left = before.report.edits.begin();
    auto right = after.report.edits.begin();
    const auto left_end = before.report.edits.end();
    const auto right_end =
        std::find_if(right, after.report.edits.end(),
                     [&before](const coppice::EditRecord& edit) { return edit.message >= before.messages; });
    while (left != left_end && right != right_end && same_edit(*left, *right)) { ++left, ++right; }
    std::size_t found = before.messages;
    if (left != left_end) { found = std::min(found, left->message); }
    if (right != right_end) { found = std::min(found, right->message); }
    return found;
}

/// What was sent: a hash of each message's bytes, and the bytes around them.
struct Sent {
    std::vector<std::size_t> messages;
    std::string around;
};

Sent sent(Json body, const Watched& pipeline) {
    pipeline.prune(body);
    Sent made;
    Json& history = *support::history_of(body);
    for (const Json& message : history) { made.messages.push_back(std::hash<std::string>{}(message.dump())); }
    history = Json::array();
    made.around = body.dump();
    return made;
}

/// Looks at the requests of one session through one pipeline.
class Watch {
public:
    Watch(Requests& requests, Watched& pipeline, coppice::Workspace& workspace)
        : requests_(&requests), pipeline_(&pipeline), workspace_(&workspace) {}

    /// Every `stride`-th request, the last one, and between them the latest one at which the horizon moved with the one
    /// before it. Returns whether anything was cleared in the end.
    bool run(std::size_t stride, std::size_t phase) {
        const std::size_t last = requests_->size() - 1;
        Seen before = ask(0);
        for (std::size_t i = std::min(last, 1 + phase); i <= last;
             i = i == last ? i + 1 : std::min(last, i + stride)) {
            Seen now = ask(i);
            const std::size_t moved = moved_at(now);
            if (moved != none && moved > before.request) {
                if (moved > before.request + 1) {
                    Seen just_before = ask(moved - 1);
                    if (moved_at(just_before) == moved_at(before)) { stands_still(before, just_before); }
                    before = std::move(just_before);
                }
                if (moved == i) {
                    neighbours(before, now);
                } else {
                    Seen at_move = ask(moved);
                    neighbours(before, at_move);
                    stands_still(at_move, now);
                }
            } else {
                stands_still(before, now);
            }
            before = std::move(now);
        }
        if (last > 0 && pipeline_->sessions++ % 4 == 0) {
            const Seen now = ask(last);
            same_bytes(ask(last - 1), now);
        }
        return !before.report.edits.empty();
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    Seen ask(std::size_t request) {
        const Json& body = requests_->go_to(request);
        Seen seen{request, requests_->messages(request), pipeline_->plan(body, *workspace_)};
        if (++asked_ % 8 == 0) {
            coppice::Workspace fresh;
            const coppice::Report alone = pipeline_->plan(body, fresh);
            CAPTURE(request);
            CHECK(same_edits(alone, seen.report));
            CHECK(alone.horizon == seen.report.horizon);
            CHECK(claims(alone, false) == claims(seen.report, false));
        }
        return seen;
    }

    /// The request at which the horizon moved to where it is in this one: up to all that was there, or to where a
    /// person had begun to speak.
    std::size_t moved_at(const Seen& seen) const {
        if (seen.report.horizon == 0) { return none; }
        const std::size_t request = requests_->first_with(seen.report.horizon);
        CAPTURE(seen.report.horizon);
        CHECK(request <= seen.request);
        return std::min(request, seen.request);
    }

    /// Whether the second changes what the first sent is what the report says, where it says something.
    void neighbours(const Seen& before, const Seen& now) {
        REQUIRE(before.request + 1 == now.request);
        const bool differs = first_difference(before, now) < before.messages;
        CAPTURE(now.request);
        CHECK(claims(now.report, differs) == differs);  // law 10
        if (!differs) { return; }
        if (pipeline_->rewrites++ % 25 == 0) { same_bytes(before, now); }
    }

    void stands_still(const Seen& before, const Seen& now) {
        CAPTURE(before.request);
        CAPTURE(now.request);
        CHECK(first_difference(before, now) == before.messages);  // law 10
        CHECK(!claims(now.report, false));
        pipeline_->still += !before.report.edits.empty();
    }

    /// The bytes say the same as the edits.
    void same_bytes(const Seen& before, const Seen& now) {
        const Sent left = sent(requests_->go_to(before.request), *pipeline_);
        const Sent right = sent(requests_->go_to(now.request), *pipeline_);
        REQUIRE(left.messages.size() == before.messages);
        REQUIRE(right.messages.size() == now.messages);
        const auto length = static_cast<std::ptrdiff_t>(before.messages);
        const auto differs = std::mismatch(left.messages.begin(), left.messages.end(), right.messages.begin(),
                                           right.messages.begin() + length);
        CAPTURE(before.request);
        CAPTURE(now.request);
        CHECK(static_cast<std::size_t>(differs.first - left.messages.begin()) ==
              first_difference(before, now));
        CHECK(left.around == right.around);
    }

    Requests* requests_;
    Watched* pipeline_;
    coppice::Workspace* workspace_;
    std::size_t asked_ = 0;
};

// All requests of all sessions through all pipelines would take minutes without optimisation. So a long session is
// shown to every few pipelines only, in turn, and of its requests not all are looked at. However many pipelines there
// are, a session costs about the same: messages times plans.
constexpr std::size_t messages_a_session = 2000;
// in a session of so many messages, each pipeline has a turn of its own
constexpr std::size_t messages_of_all = 1500;

std::size_t stride_of(const Requests& requests, std::size_t budget) {
    std::size_t all = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) { all += requests.messages(i); }
    return std::max<std::size_t>(1, all / budget) * support::one_of;
}

}  // namespace

TEST_CASE("prefix stability: requests are cut before the turns of the model, and the whole is the last") {
    const auto cuts = [](const char* text) {
        Requests requests(Json::parse(text));
        std::vector<std::size_t> found;
        while (requests.next()) { found.push_back(support::history_of(requests.body())->size()); }
        return found;
    };
    using Cuts = std::vector<std::size_t>;
    CHECK(cuts(R"({"messages":[{"role":"user"},{"role":"assistant"},{"role":"assistant"},{"role":"user"},
                   {"role":"user"},{"role":"assistant"}]})") == Cuts{1, 5, 6});
    CHECK(cuts(R"({"messages":[{"role":"system"},{"role":"user"},{"role":"assistant"},{"role":"tool"},
                   {"role":"tool"},{"role":"assistant"},{"role":"function"}]})") == Cuts{2, 5, 7});
    CHECK(cuts(R"({"contents":[{"parts":[]},{"role":"model"},{"role":"function"},{"role":"model"},
                   {"role":"user"}]})") == Cuts{1, 3, 5});
    CHECK(cuts(R"({"input":[{"role":"user"},{"type":"reasoning"},{"type":"message","role":"assistant"},
                   {"type":"function_call"},{"type":"function_call_output"},{"type":"custom_tool_call"},
                   {"type":"custom_tool_call_output"},{"type":"message","role":"developer"},
                   {"type":"mcp_approval_request"},{"type":"mcp_approval_response"}]})") ==
          Cuts{1, 5, 8, 10});
    CHECK(cuts(R"([{"role":"assistant"},{"role":"user"},null,{"role":"assistant"},7])") == Cuts{3, 5});
    CHECK(cuts(R"({"messages":[]})").empty());
    CHECK(cuts(R"({"input":"words"})").empty());
    CHECK(cuts("17").empty());
}

TEST_CASE("prefix stability: requests grow and shrink without losing anything") {
    const Json whole = coppice_examples::make_session({});
    Requests requests(whole);
    REQUIRE(requests.size() > 20);
    for (const std::size_t n : {std::size_t{7}, std::size_t{2}, std::size_t{19}, std::size_t{0}}) {
        Json expected = whole;
        auto& messages = expected["messages"].get_ref<Json::array_t&>();
        messages.resize(requests.messages(n));
        CHECK(requests.go_to(n) == expected);
        CHECK(requests.first_with(messages.size()) == n);
        CHECK(requests.first_with(messages.size() + 1) == n + 1);
    }
    CHECK(requests.next());
    CHECK(requests.body()["messages"].size() == requests.messages(1));
    CHECK(requests.go_to(requests.size() - 1) == whole);
    CHECK(!requests.next());
}

TEST_CASE("prefix stability: what was sent is how the next request begins, while nothing is rewritten") {
    std::vector<Watched> pipelines = all_watched();
    coppice::Workspace workspace;
    std::size_t session = 0;
    const auto watch = [&](const std::string& name, Json body) {
        CAPTURE(name);
        ++session;
        Requests requests(std::move(body));
        REQUIRE(requests.size() > 0);
        const std::size_t messages = requests.messages(requests.size() - 1);
        const Json& history = *support::history_of(requests.go_to(requests.size() - 1));
        // what the server has summed up stays as it is
        const bool continued = std::any_of(history.begin(), history.end(), [](const Json& item) {
            return item.value("type", "") == "compaction";
        });
        const std::size_t turns =
            std::min(pipelines.size(), (1 + messages * pipelines.size() / messages_of_all) * support::one_of);
        const std::size_t stride = stride_of(requests, turns * messages_a_session / pipelines.size());
        for (std::size_t i = session % turns; i < pipelines.size(); i += turns) {
            CAPTURE(pipelines[i].name);
            const bool cleared =
                Watch(requests, pipelines[i], workspace).run(stride, (session + i / turns) % stride);
            // in short ones, all there is may be too small or too new
            if (pipelines[i].is_eager && messages > 60 && !continued) { CHECK(cleared); }
        }
    };
    support::for_each_recorded_session(support::recorded_families, watch);
    // among few and short ones, not every pipeline meets one with something to clear
    const bool enough = session > 30 && !support::sanitized;
    coppice_examples::SessionShape shape;
    shape.results = 70;
    support::for_each_generated_session(shape, watch);
    // whoever met nothing to clear is shown one of each dialect, long enough for all there is
    shape.results = 200;
    support::for_each_generated_session(shape, [&](const std::string& name, Json body) {
        CAPTURE(name);
        Requests requests(std::move(body));
        for (Watched& pipeline : pipelines) {
            if (!enough || pipeline.only_arrivals || pipeline.rewrites > 0) { continue; }
            CAPTURE(pipeline.name);
            Watch(requests, pipeline, workspace).run(1, 0);
        }
    });
    for (const Watched& pipeline : pipelines) {
        CAPTURE(pipeline.name);
        if (pipeline.only_arrivals) {
            CHECK(pipeline.rewrites == 0);
        } else if (enough) {
            CHECK(pipeline.rewrites > 0);
        }
    }
}

#ifdef COPPICE_CLI
TEST_CASE("prefix stability: another process answers the same to the same request") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("coppice-requests-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const auto at = [&folder](const char* name) { return (folder / name).string(); };
    const auto text_of = [&at](const char* name) {
        std::ifstream file(at(name), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const auto edits_of = [](const Json& report) {
        Json edits = report.at("edits");
        // counted as they stand in the bytes there, and as a DOM has them here
        for (Json& edit : edits) { edit.erase("bytes_before"), edit.erase("bytes_after"); }
        return edits;
    };
    coppice_examples::SessionShape shape;
    shape.results = 320;
    std::size_t engaged = 0;
    for (const auto dialect :
         {coppice_examples::SessionDialect::anthropic, coppice_examples::SessionDialect::openai_responses}) {
        Requests requests(coppice_examples::render(dialect, coppice_examples::make_session(shape)));
        for (const std::string_view preset : support::preset_names) {
            // none of these sessions fills the window of this one
            const bool every = preset == "triage";
            const std::string name = std::string(preset) + (every ? "/every" : "");
            const std::string words = std::string(preset) + (every ? " --cadence every-request" : "");
            const std::vector<Watched> pipelines = all_watched();
            const auto pipeline = std::find_if(pipelines.begin(), pipelines.end(),
                                               [&name](const Watched& one) { return one.name == name; });
            REQUIRE(pipeline != pipelines.end());
            CAPTURE(pipeline->name);
            for (const std::size_t from_the_end : {100U, 13U, 1U}) {
                CAPTURE(from_the_end);
                Json body = requests.go_to(requests.size() - from_the_end);
                std::ofstream(at("in"), std::ios::binary) << body.dump();
                const coppice::Report report = pipeline->prune(body);
                engaged += report.engaged;
                for (const std::string word : {"prune", "explain"}) {
                    const std::string command = "'" COPPICE_CLI "' " + word + " --preset " + words +
                                                " --report '" + at("report") + "' '" + at("in") + "' > '" +
                                                at("out") + "' 2> '" + at("err") + "'";
                    REQUIRE(std::system(command.c_str()) == 0);
                    const Json told = Json::parse(text_of("report"));
                    CHECK(told.at("engaged") == report.engaged);
                    const bool same = edits_of(told) == edits_of(coppice::to_json(report));
                    CHECK(same);
                    if (word == "prune") {
                        const bool same_bytes = text_of("out") == body.dump();
                        CHECK(same_bytes);
                    }
                }
            }
        }
    }
    CHECK(engaged >= 6);
    fs::remove_all(folder);
}
#endif
