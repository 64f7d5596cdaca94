// SPDX-License-Identifier: MIT
// What a pipeline sends to a model that binds its thinking to all that stood before it: over recorded and generated
// sessions, request by request, no thinking is sent behind something that has changed since.
#include "support/binding_validator.hpp"
#include "support/everything.hpp"
#include "support/requests.hpp"

#include <coppice/coppice.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

using binding_validator::BindingValidator;
using support::Requests;
using validation::Findings;
using validation::Json;

struct Sender {
    std::string name;
    std::function<coppice::Report(const Json&, coppice::Workspace&)> plan;
    std::function<coppice::Report(Json&)> prune;
    std::size_t changes = 0;  ///< requests with edits at which the horizon had moved
};

/// Every preset, and the standard one with every cadence.
std::vector<Sender> all_senders() {
    std::vector<Sender> all;
    const auto add = [&all](std::string name, const auto& pipeline) {
        Sender made;
        made.name = std::move(name);
        made.plan = [pipeline](const Json& body, coppice::Workspace& workspace) {
            return coppice::plan(body, pipeline, workspace);
        };
        made.prune = [pipeline](Json& body) { return coppice::prune(body, pipeline); };
        all.push_back(std::move(made));
    };
    support::for_each_preset(add);
    support::for_each_cadence(
        [&add](const auto& cadence) { add(std::string(cadence.name), coppice::presets::standard(cadence)); });
    return all;
}

/// A session as the newest model would be asked.
Json asked_of_a_binding_model(Json body) {
    body[body.contains("modelId") ? "modelId" : "model"] =
        body.contains("modelId") ? "anthropic.claude-opus-5-5-v1:0" : "claude-opus-5-5";
    return body;
}

/// Sends a session and follows it.
class Followed {
public:
    Followed(Requests& requests, Sender& sender, coppice::Workspace& workspace)
        : requests_(&requests), sender_(&sender), workspace_(&workspace) {}

    /// The requests at which the horizon moved and the ones before them, where nothing else can change (see
    /// prefix_stability.cpp): the newest ones up to `last`, as many as the budget of messages allows.
    Findings run(std::size_t last, std::size_t budget) {
        std::vector<std::size_t> moves;
        std::size_t cost = 0;
        for (std::size_t request = last; cost < budget;) {
            const std::size_t moved = moved_at(request);
            if (moved == none || moved == 0) { break; }
            moves.push_back(moved);
            cost += 2 * requests_->messages(moved);
            request = moved - 1;
        }
        Findings findings;
        for (auto moved = moves.rbegin(); moved != moves.rend() && findings.empty(); ++moved) {
            if (followed_ == none || followed_ + 1 < *moved) { send(*moved - 1, false, findings); }
            send(*moved, true, findings);
        }
        if (findings.empty() && followed_ != none && followed_ < last) { send(last, false, findings); }
        return findings;
    }

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    std::size_t moved_at(std::size_t request) {
        const std::size_t horizon = sender_->plan(requests_->go_to(request), *workspace_).horizon;
        return horizon == 0 ? none : std::min(requests_->first_with(horizon), request);
    }

    void send(std::size_t request, bool directly, Findings& findings) {
        const Json& had = requests_->go_to(request);
        Json sent = had;
        const coppice::Report report = sender_->prune(sent);
        findings = directly ? validator_.feed(had, sent) : validator_.skip_to(had, sent);
        followed_ = request;
        for (std::string& finding : findings) { finding += " in request " + std::to_string(request); }
        sender_->changes += directly && report.engaged;
    }

    Requests* requests_;
    Sender* sender_;
    coppice::Workspace* workspace_;
    BindingValidator validator_;
    std::size_t followed_ = none;
};

/// The first few, so that a failure can be read.
std::string shown(const Findings& findings) {
    std::string out;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, findings.size()); ++i) { out += findings[i] + "; "; }
    return findings.size() > 3 ? out + "and " + std::to_string(findings.size() - 3) + " more" : out;
}

bool has_thinking(const Json& body) {
    BindingValidator validator;
    validator.skip_to(body, body);
    return validator.thinking() > 0;
}

// messages sent and planned for one session and one pipeline, so that without optimisation it takes seconds
constexpr std::size_t messages_a_session = 6000 / support::one_of;

template <class Visit>
void for_each_session_with_thinking(Visit visit) {
    const auto with_thinking = [&visit](const std::string& name, Json body) {
        if (has_thinking(body)) { visit(name, asked_of_a_binding_model(std::move(body))); }
    };
    support::for_each_recorded_session({"anthropic"}, with_thinking);
    coppice_examples::SessionShape shape;
    shape.results = 160;
    shape.user_turn_share = 0.15;
    shape.ends_with_user_text = true;
    const Json made = coppice_examples::make_session(shape);
    with_thinking("generated anthropic", made);
    with_thinking("generated bedrock",
                  coppice_examples::render(coppice_examples::SessionDialect::bedrock, made));
}

}  // namespace

TEST_CASE("thinking binding corpus: no preset and no cadence sends thinking behind what has changed") {
    std::vector<Sender> senders = all_senders();
    coppice::Workspace workspace;
    std::size_t session = 0;
    for_each_session_with_thinking([&](const std::string& name, Json body) {
        CAPTURE(name);
        Requests requests(std::move(body));
        ++session;
        for (std::size_t i = 0; i < senders.size(); ++i) {
            // by turns up to the last, up to two thirds, up to a third: there is less to send in front
            const std::size_t third = (session + i) % 3;
            if (senders.size() > 3 && third == session / 3 % 3) { continue; }
            CAPTURE(senders[i].name);
            const std::size_t last = (requests.size() - 1) * (3 - third) / 3;
            const Findings findings =
                Followed(requests, senders[i], workspace).run(last, messages_a_session * 3 / senders.size());
            CAPTURE(shown(findings));
            CHECK(findings.empty());
        }
    });
    for (const Sender& sender : senders) {
        CAPTURE(sender.name);
        // among few sessions, not every one is long enough for each
        if (session > 15 && !support::sanitized) { CHECK(sender.changes > 0); }
    }
}

TEST_CASE("thinking binding corpus: an edit that nobody guards is found in every session") {
    for_each_session_with_thinking([&](const std::string& name, Json body) {
        CAPTURE(name);
        Requests requests(std::move(body));
        // the first thinking, and the request after it
        std::size_t request = 0;
        while (request + 1 < requests.size() && !has_thinking(requests.go_to(request))) { ++request; }
        BindingValidator validator;
        CHECK(validator.feed(requests.body(), requests.body()) == Findings{});
        Json sent = requests.go_to(requests.size() - 1);
        CHECK(validator.feed(requests.body(), sent) == Findings{});
        Json& first = sent["messages"][0]["content"];
        first = "what came first";
        const Findings findings = validator.feed(requests.body(), sent);
        CHECK(findings.size() == validator.thinking());
        CHECK(validation::names(findings, "A-Δ2"));
    });
}
