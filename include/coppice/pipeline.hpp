// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/cadence.hpp>
#include <coppice/cadences/every_request.hpp>
#include <coppice/detail/outlook.hpp>
#include <coppice/detail/reader.hpp>
#include <coppice/detail/timing.hpp>
#include <coppice/guard.hpp>
#include <coppice/guards/blank_text.hpp>
#include <coppice/guards/cache_marks.hpp>
#include <coppice/guards/opaque.hpp>
#include <coppice/guards/pairing.hpp>
#include <coppice/guards/pinned.hpp>
#include <coppice/guards/thinking_binding.hpp>
#include <coppice/guards/unread.hpp>
#include <coppice/hints.hpp>
#include <coppice/ledger.hpp>
#include <coppice/plan.hpp>
#include <coppice/policy.hpp>
#include <coppice/prompt_cache.hpp>
#include <coppice/report.hpp>
#include <coppice/wording.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

namespace detail {

// A wording may have extra members that make it look like something else, so the order of questions matters.
template <class P>
inline constexpr bool is_part = policy<P> || cadence<P> || guard<P> || wording<P>;

// One parameter at a time, so that both compilers name the part that is wrong; told by what it has what it was
// meant to be.
template <class P>
constexpr bool check_part() {
    if constexpr (!is_part<P>) {
        constexpr bool like_pipeline = requires { &P::run; &P::commit; };
        static_assert(!like_pipeline,
                      "coppice::Pipeline: this part is a pipeline itself; a pipeline with more parts is "
                      "`pipeline.with(part, ...)`");
        constexpr bool like_cadence = requires { &P::moves; };
        constexpr bool like_guard = requires { &P::allows; };
        constexpr bool like_wording = requires { &P::recognise; };
        static_assert(
            !like_cadence,
            "coppice::Pipeline: this part has `moves` but is no cadence; that has `static constexpr "
            "std::string_view name`, `struct State` and `bool moves(State&, const Request&) const`");
        static_assert(!like_guard,
                      "coppice::Pipeline: this part has `allows` but is no guard; that has `static constexpr "
                      "std::string_view name` and `bool allows(const Transcript&, const Proposal&) const`");
        static_assert(
            !like_wording,
            "coppice::Pipeline: this part has `recognise` but is no wording; see coppice/wording.hpp for "
            "what that has beside it");
        static_assert(
            like_cadence || like_guard || like_wording || like_pipeline,
            "coppice::Pipeline: this part is no policy, cadence, guard or wording; a policy has "
            "`static constexpr std::string_view name` and `void apply(const Transcript&, Plan&) const`");
    }
    return true;
}

template <class... P>
constexpr bool names_are_distinct() {
    constexpr std::array<std::string_view, sizeof...(P)> names{std::string_view(P::name)...};
    for (std::size_t i = 0; i < names.size(); ++i) {
        for (std::size_t j = i + 1; j < names.size(); ++j) {
            if (names[i] == names[j]) { return false; }
        }
    }
    return true;
}

template <class P>
inline constexpr bool is_thinking_binding = false;
template <Binds When>
inline constexpr bool is_thinking_binding<ThinkingBinding<When>> = true;

// Position of the first part that the question is true for.
template <bool... Yes>
constexpr std::size_t position() {
    constexpr std::array<bool, sizeof...(Yes)> answers{Yes...};
    for (std::size_t i = 0; i < answers.size(); ++i) {
        if (answers[i]) { return i; }
    }
    return sizeof...(Yes);
}

template <class... P>
constexpr bool check_list() {
    // what is no part has been named already
    if constexpr ((is_part<P> && ...)) {
        static_assert(
            (cadence<P> + ... + 0) <= 1,
            "coppice::Pipeline: more than one cadence is listed; a pipeline changes at one time, keep one");
        static_assert((wording<P> + ... + 0) <= 1,
                      "coppice::Pipeline: more than one wording is listed; keep one");
        static_assert((policy<P> + ... + 0) >= 1,
                      "coppice::Pipeline: no policy is listed; write for instance "
                      "coppice::Pipeline<coppice::KeepRecent<5>>");
        static_assert(names_are_distinct<P...>(),
                      "coppice::Pipeline: the same part, or two of one `name`, are listed; list it once and "
                      "set its fields");
        constexpr std::size_t wording_at = position<wording<P>...>();
        using Wording = std::tuple_element_t<wording_at, std::tuple<P..., PlainWording>>;
        static_assert(
            previewing_wording<Wording> || !(needs_preview_v<P> || ...),
            "coppice::Pipeline: this wording writes no previews, which a policy here needs; give it "
            "`void preview(std::string&, const PreviewFacts&) const`, or use PlainWording");
        static_assert(
            capping_wording<Wording> || !(needs_cap_v<P> || ...),
            "coppice::Pipeline: this wording has no line for results that lose their middle, which a policy here "
            "needs; give it `void cap(std::string&, const CapFacts&) const`, or use PlainWording");
        static_assert(
            clipping_wording<Wording> || !(needs_clip_v<P> || ...),
            "coppice::Pipeline: this wording has no line for old results of which head and tail stay, which a policy "
            "here needs; give it `static constexpr std::size_t longest_clip` and `void clip(std::string&, const "
            "ResultFacts&, const CapFacts&) const`, or use PlainWording");
    }
    return true;
}

/// Whether the call of a result failed, where only its first text of its own can say so.
inline void judge_by_text(const Transcript& transcript, Entry& result, std::string& scratch) {
    result.outcome_known = false;
    for (const Part& part : transcript.parts_of(result)) {
        if (part.kind != Part::Kind::text) { continue; }
        const Outcome outcome = said_outcome(part.text.text(), scratch);
        result.outcome_known = outcome != Outcome::unsaid;
        result.error = outcome == Outcome::failed;
        return;
    }
}

/// Finds texts that are our own, so that nothing takes them for content. Previews are looked for only where
/// the pipeline writes some.
template <class Knows>
void recognise_own_texts(Transcript& transcript, const AnyWording& wording, bool previews, Knows knows,
                         std::string& scratch) {
    for (Entry& entry : transcript.all()) {
        for (std::size_t i = entry.first_field; i < entry.first_field + entry.field_count; ++i) {
            Field& field = transcript.fields[i];
            const bool input = entry.kind == Kind::call;
            if (!input || !wording.may_be_stub(field.text)) { continue; }
            const Recognised found = wording.recognise(decoded(field.text.text(), scratch));
            if (found.kind != Recognised::Kind::stub) { continue; }
            field.cleared = true;
            note_cleared(entry, field);
            // what names no call any more shall not name its result
            if (entry.identity_member.empty() || !stands_in(field, entry.identity_member)) { continue; }
            entry.identity = entry.identity_member = {};
            if (entry.peer != none) { transcript.all()[entry.peer].identity = {}; }
        }
        if (entry.kind != Kind::result) { continue; }
        std::size_t own = 0;
        for (std::size_t i = entry.first_part; i < entry.first_part + entry.part_count; ++i) {
            Part& part = transcript.parts[i];
            const Text text = part.text.text();
            if (part.kind != Part::Kind::text || !(previews || wording.may_be_stub(part.text))) { continue; }
            const Recognised found = wording.recognise(decoded(text, scratch));
            if (found.kind == Recognised::Kind::stub) {
                part.kind = Part::Kind::stub;
                ++own;
            } else if (found.kind == Recognised::Kind::preview && entry.part_count == 1) {
                // as it stands in the document, where it is spelled there as it reads
                const std::size_t at = text.raw().find(found.reference);
                if (found.reference.empty() || !knows(found.reference)) { continue; }
                entry.reference = at == std::string_view::npos
                                      ? transcript.keep(found.reference)
                                      : Text(text.raw().substr(at, found.reference.size()));
                entry.stands_for = found.size;
            } else if (found.kind == Recognised::Kind::capped) {
                entry.capped = entry.part_count == 1;
            }
        }
        if (entry.outcome_in_text) { judge_by_text(transcript, entry, scratch); }
        // what a stub of ours left of a result in pieces stays
        entry.stub = own > 0 && (own == entry.part_count || entry.form == Form::pieces);
        if (!entry.stub) { entry.elided += own; }
    }
}

/// Where the model binds thinking, drops what a plan makes invalid: all that stands behind its first change (with the rest
/// of that turn), and where it drops older thinking beside, all. Answers with the last of it that has to stay, `none` where
/// all of it went.
inline std::size_t drop_invalid_thinking(Transcript& transcript, Plan& plan) {
    std::size_t first = none;
    bool dropped = false;
    bool from_the_middle = false;
    bool kept = false;
    const auto entries = transcript.entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Fate fate = plan.fate(i);
        kept = kept || (fate == Fate::keep && entries[i].kind == Kind::reasoning);
        if (fate == Fate::keep || is_arrival(fate)) { continue; }
        if (fate == Fate::drop) {
            dropped = true;
            from_the_middle = from_the_middle || kept;
        } else if (first == none) {
            first = i;
        }
    }
    if (first == none && !from_the_middle) { return none; }
    transcript.may_drop_thinking = true;
    std::size_t stays = none;
    for (std::size_t i = dropped ? 0 : first; i < entries.size(); ++i) {
        if (entries[i].kind != Kind::reasoning || plan.fate(i) == Fate::drop) { continue; }
        const auto turn = [&](std::size_t entry) { return transcript.messages[entries[entry].message].user_turn_at; };
        // of a turn it goes whole or not at all
        const bool refused = stays != none && turn(stays) == turn(i);
        if (refused || !plan.drop(i, ThinkingBinding<>::name)) { stays = i; }
    }
    return stays;
}

/// Plans once more what earlier rewrites changed.
inline void repeat(std::span<const Change> changes, Plan& plan) {
    for (const Change& change : changes) {
        switch (change.fate) {
            case Fate::clear_fields: plan.clear_field(change.entry, change.field, change.reason); break;
            case Fate::elide:
                if (!plan.elide_images(change.entry, change.reason)) {
                    plan.elide_user_image(change.entry, change.reason);
                }
                break;
            case Fate::drop: plan.drop(change.entry, change.reason); break;
            case Fate::clip: plan.clip(change.entry, change.head, change.tail, change.reason); break;
            default: plan.clear(change.entry, change.reason);
        }
    }
}

}  // namespace detail

namespace detail {

/// Pieces of an earlier report, whose strings keep what they have allocated.
struct SpareParts {
    std::vector<EditRecord> edits;
    std::vector<std::string> warnings;
};

}  // namespace detail

/// What one pruning call works with. Kept from call to call, it spares the next one its allocations; what it holds
/// afterwards is of no use to anybody else.
struct Workspace {
    Transcript transcript;            ///< what was read
    Plan plan;                        ///< what is to be done
    Plan probe;                       ///< of a rewrite: what the request before was pruned by
    detail::ReaderScratch reader;     ///< of the dialect's reader
    std::string text;                 ///< a text, decoded
    detail::SpareParts spare;         ///< strings for the next report
    detail::Outlook outlook;          ///< what rewrites would come to
    detail::Timing timing;            ///< what the cadence said
    std::vector<std::uint64_t> seen;  ///< what results that stay whole are of, hashed
    const Ledger* ledger = nullptr;   ///< of this call
    detail::HintIndex hints;          ///< the same
};

/// What `plan`, `prune` and `prune_pieces` take: a Pipeline, or an AnyPipeline that holds one.
template <class P>
concept pipeline_like = std::copyable<P> &&
    requires(const P& p, Workspace& workspace, const Transcript& transcript, const detail::Timing& timing,
             std::string& why) {
    { p.run(workspace) } -> std::same_as<void>;
    { p.commit(workspace) } -> std::same_as<void>;
    { p.prices() } -> std::same_as<Prices>;
    { p.cache_rules() } -> std::same_as<CacheRules>;
    { p.append_why_closed(transcript, timing, why) } -> std::same_as<void>;
};

/// Policies, in the order of running, with at most one cadence and one wording and any number of guards
/// between them. Without a cadence every request is pruned; without a wording the neutral one speaks.
/// Pairing, Unread, Opaque, CacheMarks, BlankText, Pinned and ThinkingBinding always guard.
///
///     using Pruner = coppice::Pipeline<coppice::SmallAging<30>, coppice::Dedup<>, coppice::KeepRecent<5>>;
///     coppice::Pipeline pruner{coppice::KeepRecent<>{.keep = config.keep}, coppice::Dedup<>{}};
///
/// Wrong numbers (`validate()` of a part) are a compile error in a constexpr pipeline and
/// std::invalid_argument otherwise. The object is immutable; any number of threads may use it.
template <class... Parts>
class Pipeline {
    static_assert((detail::check_part<Parts>() && ...));
    static_assert(detail::check_list<Parts...>());

public:
    constexpr Pipeline() { validate(); }
    /// Takes parts whose numbers are known at run time.
    constexpr explicit Pipeline(Parts... parts) requires(sizeof...(Parts) > 0) : parts_(std::move(parts)...) {
        validate();
    }

    /// The part of this type.
    template <class P>
    constexpr const P& part() const {
        return std::get<P>(parts_);
    }

    /// The same with more parts behind its own: `presets::standard().with(ExemptPaths{})`.
    template <class... More>
    constexpr Pipeline<Parts..., More...> with(More... more) const {
        return std::apply(
            [&](const Parts&... own) { return Pipeline<Parts..., More...>(own..., std::move(more)...); }, parts_);
    }

    /// Plans a transcript that a reader has filled: `workspace.plan` says what to change. Back ends call
    /// this; `coppice::plan` and `coppice::prune` are the calls for a document.
    void run(Workspace& workspace) const {
        const detail::AnyWording wording = detail::AnyWording::of(the_wording());
        const auto knows = [this](std::string_view reference) {
            return std::apply([&](const Parts&... part) { return (knows_preview(part, reference) && ...); },
                              parts_);
        };
        detail::recognise_own_texts(workspace.transcript, wording, (on_arrival_v<Parts> || ...), knows,
                                    workspace.text);
        const auto guards = all_guards();
        Transcript& transcript = workspace.transcript;
        transcript.binds_thinking = the_binding().binds(transcript);
        transcript.binds_from = transcript.binds_thinking ? the_binding().binds_from(transcript) : 0;
        transcript.guesses_binding = transcript.binds_thinking && the_binding().guesses(transcript);
        Planner planner{this, &workspace, &wording, &guards};
        const detail::Timing& timing = workspace.timing =
            detail::find_timing(transcript, the_cadence(), workspace.ledger, workspace.outlook, planner);
        plan_at(workspace, workspace.plan, timing.horizon, timing.changes, wording, guards);
        // only a rewrite has another plan before it
        if (timing.moved) {
            plan_at(workspace, workspace.probe, timing.horizon_before, timing.changes_before, wording, guards);
            transcript.set_horizon(timing.horizon);
        }
    }

    /// What the provider bills, as far as the cadence knows.
    constexpr Prices prices() const {
        if constexpr (requires { Prices{the_cadence().prices}; }) { return the_cadence().prices; }
        return prices::anthropic;
    }
    /// How it finds cached prefixes.
    constexpr CacheRules cache_rules() const {
        if constexpr (requires { CacheRules{the_cadence().rules}; }) { return the_cadence().rules; }
        return {};
    }

    /// Carries out what policies must do before the plan may be, and takes back what they could not.
    void commit(Workspace& workspace) const {
        const auto commit_part = [&workspace](const auto& part) {
            if constexpr (committing_policy<std::remove_cvref_t<decltype(part)>>) {
                for (std::size_t i = 0; i < workspace.transcript.all().size(); ++i) {
                    if (!workspace.plan.spilled(i) || part.commit(workspace.transcript, workspace.plan, i)) { continue; }
                    workspace.plan.withdraw_spill(i);
                    // as far as anybody can tell, it could not be stored before either
                    if (workspace.timing.moved && workspace.probe.spilled(i)) { workspace.probe.withdraw_spill(i); }
                }
            }
        };
        std::apply([&](const Parts&... part) { (commit_part(part), ...); }, parts_);
    }

    /// Why nothing changed, as far as the cadence knows.
    void append_why_closed(const Transcript& transcript, const detail::Timing& timing, std::string& why) const {
        const auto& chosen = the_cadence();
        if (timing.waits_for_user) {
            why += "the model binds its thinking to what precedes it, so that nothing changes before the user speaks again";
            return;
        }
        if (transcript.horizon() > 0) {
            why += "nothing to clear";
            return;
        }
        if constexpr (requires {
                          { chosen.engage } -> std::convertible_to<Size>;
                      }) {
            if (!transcript.body_at_least(transcript.messages.size(), chosen.engage)) {
                why += "the body has ";
                append_number(why, transcript.body().in(chosen.engage.unit));
                why += " of ";
                append_number(why, chosen.engage.value);
                why += ' ';
                why += name_of(chosen.engage.unit);
                return;
            }
        }
        why.append("at no request so far the cadence ");
        if constexpr (requires { chosen.stands_for(); }) {
            why += chosen.stands_for();
        } else {
            why += chosen.name;
        }
        why += " lets the history change";
    }

private:
    static constexpr std::size_t cadence_at = detail::position<cadence<Parts>...>();
    static constexpr std::size_t wording_at = detail::position<wording<Parts>...>();
    static constexpr std::size_t binding_at = detail::position<detail::is_thinking_binding<Parts>...>();
    static constexpr std::size_t own_guards = 6 + (binding_at == sizeof...(Parts) ? 1 : 0);
    static constexpr std::size_t guard_count = own_guards + (guard<Parts> + ... + 0);

    constexpr void validate() const {
        const auto check = [](const auto& part) {
            if constexpr (requires { part.validate(); }) { part.validate(); }
        };
        std::apply([&](const Parts&... part) { (check(part), ...); }, parts_);
    }

    template <class P>
    static bool knows_preview(const P& part, std::string_view reference) {
        if constexpr (preview_knowing_policy<P>) { return part.knows(reference); }
        return true;
    }

    constexpr const auto& the_binding() const {
        if constexpr (binding_at < sizeof...(Parts)) {
            return std::get<binding_at>(parts_);
        } else {
            return default_binding;
        }
    }
    constexpr const auto& the_cadence() const {
        if constexpr (cadence_at < sizeof...(Parts)) {
            return std::get<cadence_at>(parts_);
        } else {
            return default_cadence;
        }
    }
    constexpr const auto& the_wording() const {
        if constexpr (wording_at < sizeof...(Parts)) {
            return std::get<wording_at>(parts_);
        } else {
            return default_wording;
        }
    }
    static constexpr EveryRequest<> default_cadence{};
    static constexpr PlainWording default_wording{};
    static constexpr ThinkingBinding<> default_binding{};

    using Guards = std::array<detail::AnyGuard, guard_count>;

    Guards all_guards() const {
        static constexpr std::tuple<Pairing, Unread, Opaque, CacheMarks, BlankText, Pinned> always;
        Guards guards;
        std::size_t count = 0;
        const auto add = [&](const auto& part) {
            if constexpr (guard<std::remove_cvref_t<decltype(part)>>) {
                guards[count++] = detail::AnyGuard::of(part);
            }
        };
        std::apply([&](const auto&... part) { (add(part), ...); }, always);
        if constexpr (binding_at == sizeof...(Parts)) { add(default_binding); }
        std::apply([&](const auto&... part) { (add(part), ...); }, parts_);
        return guards;
    }

    // Runs the policies for those who weigh.
    struct Planner {
        const Pipeline* pipeline;
        Workspace* workspace;
        const detail::AnyWording* wording;
        const Guards* guards;

        /// What is done to results as they arrive, in the whole history; nothing where no policy does that.
        const Plan* arrive() {
            if constexpr (shapes_arrivals) {
                Plan& plan = workspace->plan;
                plan.start(workspace->transcript, *wording, *guards);
                pipeline->plan_arrivals(workspace->transcript, plan);
                return &plan;
            }
            return nullptr;
        }
        /// A stub that takes less than five sixths away is not worth weighing.
        std::size_t least_bytes() const {
            std::string& stub = workspace->text;
            stub.clear();
            wording->result(stub, ResultFacts{});
            return 6 * stub.size();
        }
        Plan& operator()(Transcript& part) {
            Plan& plan = workspace->probe;
            const auto start = [&] { plan.start(part, *wording, *guards); };
            start();
            pipeline->apply_policies(part, plan);
            if (!part.binds_thinking) { return plan; }
            std::size_t stays = detail::drop_invalid_thinking(part, plan);
            if (stays == none) { return plan; }
            // nothing changes before thinking that has to stay
            part.bound_until = std::max(part.bound_until, {part.all()[stays].message, part.all()[stays].block});
            part.may_drop_thinking = false;
            start();
            pipeline->apply_policies(part, plan);
            stays = detail::drop_invalid_thinking(part, plan);
            if (stays != none) { start(); }
            return plan;
        }
    };

    static constexpr bool shapes_arrivals = (on_arrival_v<Parts> || ...);

    // With so many changes of the outlook's.
    void plan_at(Workspace& workspace, Plan& plan, std::size_t horizon, std::size_t changes,
                 const detail::AnyWording& wording, const Guards& guards) const {
        Transcript& transcript = workspace.transcript;
        const detail::Timing& timing = workspace.timing;
        transcript.set_horizon(horizon);
        plan.start(transcript, wording, guards);
        if constexpr (shapes_arrivals) {
            plan_arrivals(transcript, plan);
            transcript.set_horizon(horizon);
        }
        if (timing.loose_horizon > 0) {
            transcript.set_horizon(timing.loose_horizon);
            plan.follow_horizon();
            apply_policies(transcript, plan);
            transcript.set_horizon(horizon);
            plan.follow_horizon();
        }
        if (horizon == 0) { return; }
        if (changes > timing.first_change) {
            const std::span<const detail::Change> all = workspace.outlook.changes();
            detail::repeat(all.subspan(timing.first_change, changes - timing.first_change), plan);
        }
        if (!timing.keeps_changes) {
            apply_policies(transcript, plan);
        } else if (workspace.outlook.ceiling()) {
            plan.set_ceiling(*workspace.outlook.ceiling());
        }
    }

    void plan_arrivals(Transcript& transcript, Plan& plan) const {
        for (Entry& entry : transcript.all()) {
            if (entry.reference.empty()) { entry.stands_for = {}; }
        }
        transcript.set_horizon(transcript.messages.size());
        const auto arrive = [&](const auto& part) {
            using P = std::remove_cvref_t<decltype(part)>;
            if constexpr (policy<P>) {
                if constexpr (on_arrival_v<P>) { part.apply(transcript, plan); }
            }
        };
        std::apply([&](const Parts&... part) { (arrive(part), ...); }, parts_);
        // the other policies see what they will see of it from now on
        for (std::size_t i = 0; i < transcript.all().size(); ++i) {
            if (plan.spilled(i)) { transcript.all()[i].stands_for = plan.preview_size(i); }
            if (plan.fate(i) == Fate::cap) { transcript.all()[i].stands_for = plan.capped_size(i); }
        }
    }

    void apply_policies(const Transcript& transcript, Plan& plan) const {
        const auto apply = [&](const auto& part) {
            using P = std::remove_cvref_t<decltype(part)>;
            if constexpr (policy<P>) {
                if constexpr (!on_arrival_v<P>) { part.apply(transcript, plan); }
            }
        };
        std::apply([&](const Parts&... part) { (apply(part), ...); }, parts_);
    }

    std::tuple<Parts...> parts_;
};

template <class... Parts>
Pipeline(Parts...) -> Pipeline<Parts...>;

}  // namespace coppice
