// SPDX-License-Identifier: MIT
#include <coppice/recap/branch.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using coppice::branch_history;
using coppice::BranchHistory;
using coppice::Cutoff;
using coppice::resolve_cutoff;
using coppice::SessionBranch;
using coppice::SessionMessage;
using Ids = std::vector<std::string_view>;
using Messages = std::vector<SessionMessage>;
using Branches = std::vector<SessionBranch>;

SessionMessage message(std::string_view id, std::string_view branch = {}) {
    SessionMessage made;
    made.id = id;
    made.branch = branch;
    return made;
}

Ids ids_of(const Messages& messages, const BranchHistory& history) {
    Ids ids;
    for (const std::size_t i : history.messages) { ids.push_back(messages[i].id); }
    return ids;
}

bool no_flags(const BranchHistory& history) {
    return !history.unknown_branch && !history.unknown_parent && !history.unknown_fork_point &&
           !history.cycle;
}

bool same_cutoff(const Cutoff& left, const Cutoff& right) {
    return left.position == right.position && left.unknown == right.unknown;
}

// By the rules, one after the other and without any index: each branch asks its parent for its history.
class Reference {
public:
    Reference(const Messages& messages, const Branches& branches)
        : messages_(messages), branches_(branches) {}

    BranchHistory history(std::string_view active) {
        BranchHistory made;
        made.messages = walk(std::string(active), made, {});
        return made;
    }

    // A message that was taken over from an ancestor is in front of the first one that was not.
    Cutoff cutoff(const BranchHistory& history, std::string_view active, std::string_view id) {
        for (std::size_t i = 0; i < history.messages.size(); ++i) {
            if (!id.empty() && messages_[history.messages[i]].id == id) { return {i, false}; }
        }
        std::vector<std::string> chain = chain_of(std::string(active));
        std::set<std::string> ancestors;
        for (auto branch = chain.rbegin(); branch != chain.rend() && !id.empty(); ++branch) {
            ancestors.insert(*branch);
            const bool holds =
                std::any_of(messages_.begin(), messages_.end(), [&](const SessionMessage& candidate) {
                    return candidate.id == id && named(candidate.branch) == *branch;
                });
            if (!holds) { continue; }
            std::optional<std::size_t> position;
            for (std::size_t i = 0; i < history.messages.size(); ++i) {
                if (ancestors.contains(named(messages_[history.messages[i]].branch))) { position = i; }
            }
            return {position, false};
        }
        return {std::nullopt, !id.empty()};
    }

private:
    static std::string named(std::string_view branch) {
        return branch.empty() ? "main" : std::string(branch);
    }

    const SessionBranch* record(const std::string& branch) const {
        for (const SessionBranch& candidate : branches_) {
            if (named(candidate.id) == branch) { return &candidate; }
        }
        return nullptr;
    }

    std::vector<std::size_t> own(const std::string& branch) const {
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < messages_.size(); ++i) {
            if (named(messages_[i].branch) == branch) { found.push_back(i); }
        }
        return found;
    }

    // the active branch first
    std::vector<std::string> chain_of(std::string active) const {
        std::vector<std::string> chain;
        std::string branch = named(active);
        while (branch != "main" && std::find(chain.begin(), chain.end(), branch) == chain.end()) {
            const SessionBranch* found = record(branch);
            if (found != nullptr || chain.empty()) { chain.push_back(branch); }
            branch = found == nullptr ? "main" : named(found->parent);
        }
        chain.push_back("main");
        return chain;
    }

    std::vector<std::size_t> walk(std::string branch, BranchHistory& flags, std::set<std::string> below) {
        branch = named(branch);
        std::vector<std::size_t> mine = own(branch);
        if (branch == "main") { return mine; }
        const SessionBranch* found = record(branch);
        std::vector<std::size_t> taken;
        below.insert(branch);
        if (found == nullptr) {
            flags.unknown_branch = true;
            taken = own("main");
        } else {
            const std::string parent = named(found->parent);
            const bool cycle = below.contains(parent);
            const bool orphan = !cycle && parent != "main" && record(parent) == nullptr;
            const bool guess = cycle || orphan;
            flags.cycle = flags.cycle || cycle;
            flags.unknown_parent = flags.unknown_parent || orphan;
            const std::vector<std::size_t> offered = guess ? own("main") : walk(parent, flags, below);
            const auto fork = std::find_if(offered.begin(), offered.end(), [&](std::size_t i) {
                return messages_[i].id == found->fork_point;
            });
            if (guess || (fork == offered.end() && !found->fork_point.empty())) {
                flags.unknown_fork_point = true;
                for (const std::size_t i : offered) {
                    if (mine.empty() || i >= mine.front()) { break; }
                    taken.push_back(i);
                }
            } else {
                taken.assign(offered.begin(), found->fork_point.empty() ? offered.end() : fork);
            }
        }
        taken.insert(taken.end(), mine.begin(), mine.end());
        return taken;
    }

    const Messages& messages_;
    const Branches& branches_;
};

// Many names, which outlive the views of them.
std::vector<std::string> numbered(std::string_view stem, std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) { names.push_back(std::string(stem) + std::to_string(i)); }
    return names;
}

const Messages forked = {message("m1", "main"), message("m2", "main"), message("m3", "main"),
                         message("b1", "b"),    message("b2", "b"),    message("m4", "main")};

}  // namespace

TEST_CASE("branch history: a fork takes what lies before its fork point, as OpenSwarm does") {
    const Branches branches = {{"main", {}, {}}, {"b", "main", "m3"}};
    const BranchHistory main = branch_history(forked, branches, "main");
    CHECK(ids_of(forked, main) == Ids{"m1", "m2", "m3", "m4"});
    CHECK(no_flags(main));
    const BranchHistory fork = branch_history(forked, branches, "b");
    CHECK(ids_of(forked, fork) == Ids{"m1", "m2", "b1", "b2"});
    CHECK(no_flags(fork));
}

TEST_CASE("branch history: without messages or branches there is an empty main branch") {
    const BranchHistory history = branch_history({}, {}, "");
    CHECK(history.messages.empty());
    CHECK(no_flags(history));
    REQUIRE(history.parts.size() == 1);
    CHECK(history.parts[0].branch == "main");
    CHECK(history.parts[0].end == 0);
}

TEST_CASE("branch history: an empty name is the main branch wherever it stands") {
    const Messages messages = {message("m1", ""), message("b1", "b"), message("m2", "main"),
                               message("m3", "")};
    const Branches branches = {{"b", "", "m3"}, {"c", "main", "m2"}};
    CHECK(ids_of(messages, branch_history(messages, branches, "")) == Ids{"m1", "m2", "m3"});
    CHECK(ids_of(messages, branch_history(messages, branches, "main")) == Ids{"m1", "m2", "m3"});
    CHECK(ids_of(messages, branch_history(messages, branches, "b")) == Ids{"m1", "m2", "b1"});
    CHECK(ids_of(messages, branch_history(messages, branches, "c")) == Ids{"m1"});
}

TEST_CASE("branch history: a record of the main branch changes nothing") {
    for (const std::string_view name : {"", "main"}) {
        const Branches branches = {{name, "b", "b2"}, {"b", name, "m3"}};
        CHECK(ids_of(forked, branch_history(forked, branches, "")) == Ids{"m1", "m2", "m3", "m4"});
        const BranchHistory fork = branch_history(forked, branches, "b");
        CHECK(ids_of(forked, fork) == Ids{"m1", "m2", "b1", "b2"});
        CHECK(no_flags(fork));
    }
}

TEST_CASE("branch history: a grandchild keeps its parent's messages") {
    const Messages messages = {message("m1"),      message("m2"),      message("b1", "b"), message("b2", "b"),
                               message("c1", "c"), message("b3", "b"), message("m3")};
    const Branches branches = {{"c", "b", "b2"}, {"b", "", "m2"}};
    const BranchHistory history = branch_history(messages, branches, "c");
    CHECK(ids_of(messages, history) == Ids{"m1", "b1", "c1"});
    CHECK(no_flags(history));
    REQUIRE(history.parts.size() == 3);
    CHECK(history.parts[0].branch == "main");
    CHECK(history.parts[0].end == 1);
    CHECK(history.parts[1].branch == "b");
    CHECK(history.parts[1].end == 2);
    CHECK(history.parts[2].branch == "c");
    CHECK(history.parts[2].end == 3);
}

TEST_CASE("branch history: a fork point may lie on any ancestor") {
    const Messages messages = {message("m1"),      message("m2"),      message("m3"),
                               message("b1", "b"), message("c1", "c"), message("d1", "d")};
    const Branches branches = {{"b", "", "m3"}, {"c", "b", "b1"}, {"d", "c", "m2"}};
    const BranchHistory history = branch_history(messages, branches, "d");
    CHECK(ids_of(messages, history) == Ids{"m1", "d1"});
    CHECK(no_flags(history));
    CHECK(history.parts[1].end == 1);
    CHECK(history.parts[2].end == 1);
}

TEST_CASE("branch history: the fork point is looked up in what the parent saw") {
    // m3 is behind the fork of b, so that c cannot have seen it
    const Messages messages = {message("m1"), message("m2"), message("b1", "b"), message("c1", "c"),
                               message("m3")};
    const Branches branches = {{"b", "", "m2"}, {"c", "b", "m3"}};
    const BranchHistory history = branch_history(messages, branches, "c");
    CHECK(ids_of(messages, history) == Ids{"m1", "b1", "c1"});
    CHECK(history.unknown_fork_point);
}

TEST_CASE("branch history: without a fork point the whole parent is taken over") {
    const Branches branches = {{"b", "main", ""}};
    const BranchHistory history = branch_history(forked, branches, "b");
    CHECK(ids_of(forked, history) == Ids{"m1", "m2", "m3", "m4", "b1", "b2"});
    CHECK(no_flags(history));
}

TEST_CASE("branch history: a branch without a record is appended to the main one and flagged") {
    const BranchHistory history = branch_history(forked, {}, "b");
    CHECK(ids_of(forked, history) == Ids{"m1", "m2", "m3", "m4", "b1", "b2"});
    CHECK(history.unknown_branch);
    CHECK_FALSE(history.unknown_parent);
    CHECK_FALSE(history.unknown_fork_point);
    const BranchHistory nowhere = branch_history(forked, {}, "nowhere");
    CHECK(ids_of(forked, nowhere) == Ids{"m1", "m2", "m3", "m4"});
    CHECK(nowhere.unknown_branch);
}

TEST_CASE("branch history: an unknown fork point never brings in what is newer than the branch") {
    const Branches branches = {{"b", "", "gone"}};
    const BranchHistory history = branch_history(forked, branches, "b");
    CHECK(ids_of(forked, history) == Ids{"m1", "m2", "m3", "b1", "b2"});
    CHECK(history.unknown_fork_point);
    CHECK_FALSE(history.unknown_branch);
    CHECK_FALSE(history.unknown_parent);
    CHECK_FALSE(history.cycle);
}

TEST_CASE("branch history: an unknown fork point of a branch without messages takes nothing over") {
    const Branches branches = {{"e", "", "gone"}, {"f", "e", ""}};
    for (const std::string_view active : {"e", "f"}) {
        const BranchHistory history = branch_history(forked, branches, active);
        CHECK(history.messages.empty());
        CHECK(history.unknown_fork_point);
    }
}

TEST_CASE("branch history: an unknown fork point cuts a parent stored out of order where order ends") {
    // b's own message was stored before the ones it took over
    const Messages messages = {message("b1", "b"), message("m1"), message("c1", "c"), message("m2")};
    const Branches branches = {{"b", "", "m2"}, {"c", "b", "gone"}};
    CHECK(ids_of(messages, branch_history(messages, branches, "b")) == Ids{"m1", "b1"});
    CHECK(ids_of(messages, branch_history(messages, branches, "c")) == Ids{"m1", "b1", "c1"});
    const Messages later = {message("b1", "b"), message("c1", "c"), message("m1"), message("m2")};
    CHECK(ids_of(later, branch_history(later, branches, "c")) == Ids{"c1"});
}

TEST_CASE("branch history: a fork at its own message or at a sibling's is unknown") {
    for (const std::string_view fork : {"b1", "c1"}) {
        const Messages messages = {message("m1"), message("b1", "b"), message("c1", "c"), message("m2")};
        const Branches branches = {{"b", "", fork}, {"c", "", "m2"}};
        const BranchHistory history = branch_history(messages, branches, "b");
        CHECK(ids_of(messages, history) == Ids{"m1", "b1"});
        CHECK(history.unknown_fork_point);
    }
}

TEST_CASE("branch history: an unknown parent is taken for the main branch up to the first own message") {
    const Branches branches = {{"b", "gone", "m2"}, {"c", "b", "b2"}};
    const BranchHistory history = branch_history(forked, branches, "b");
    CHECK(ids_of(forked, history) == Ids{"m1", "m2", "m3", "b1", "b2"});
    CHECK(history.unknown_parent);
    CHECK(history.unknown_fork_point);
    CHECK_FALSE(history.cycle);
    CHECK_FALSE(history.unknown_branch);
    const BranchHistory child = branch_history(forked, branches, "c");
    CHECK(ids_of(forked, child) == Ids{"m1", "m2", "m3", "b1"});
    CHECK(child.unknown_parent);
}

TEST_CASE("branch history: a parent with messages but no record is unknown") {
    const Branches branches = {{"c", "b", "b2"}};
    Messages messages = forked;
    messages.push_back(message("c1", "c"));
    const BranchHistory history = branch_history(messages, branches, "c");
    CHECK(ids_of(messages, history) == Ids{"m1", "m2", "m3", "m4", "c1"});
    CHECK(history.unknown_parent);
}

TEST_CASE("branch history: cycles of one two and many branches end and are flagged") {
    for (const std::size_t length : {1U, 2U, 3U, 1000U}) {
        CAPTURE(length);
        const std::vector<std::string> names = numbered("b", length);
        Messages messages = {message("m1")};
        Branches branches;
        for (std::size_t i = 0; i < length; ++i) {
            messages.push_back(message(names[i], names[i]));
            branches.push_back({names[i], names[(i + 1) % length], {}});
        }
        messages.push_back(message("m2"));
        const BranchHistory history = branch_history(messages, branches, names[0]);
        CHECK(history.cycle);
        CHECK(history.unknown_fork_point);
        CHECK_FALSE(history.unknown_parent);
        // the main branch before the topmost branch, then down to the active one
        Ids expected = {"m1"};
        for (std::size_t i = length; i-- > 0;) { expected.push_back(names[i]); }
        const bool equal = ids_of(messages, history) == expected;
        CHECK(equal);
    }
}

TEST_CASE("branch history: a cycle above the active branch is found, too") {
    const Messages messages = {message("m1"), message("p1", "p"), message("q1", "q"), message("b1", "b")};
    const Branches branches = {{"b", "p", "p1"}, {"p", "q", "q1"}, {"q", "p", "p1"}};
    const BranchHistory history = branch_history(messages, branches, "b");
    // q hangs on the main branch, p forks before q1 and b before p1
    CHECK(ids_of(messages, history) == Ids{"m1", "b1"});
    CHECK(history.cycle);
}

TEST_CASE("branch history: records may come in any order and the first of equal ones counts") {
    const Messages messages = {message("m1"), message("m2"), message("b1", "b"), message("b2", "b"),
                               message("c1", "c")};
    const Branches branches = {{"c", "b", "b2"}, {"b", "", "m2"}, {"b", "", "m1"}, {"c", "", "m1"}};
    CHECK(ids_of(messages, branch_history(messages, branches, "c")) == Ids{"m1", "b1", "c1"});
    const Branches turned = {{"c", "", "m1"}, {"b", "", "m1"}, {"b", "", "m2"}, {"c", "b", "b2"}};
    CHECK(ids_of(messages, branch_history(messages, turned, "c")) == Ids{"c1"});
    CHECK(ids_of(messages, branch_history(messages, turned, "b")) == Ids{"b1", "b2"});
}

TEST_CASE("branch history: of repeated message ids the first in the parent's history counts") {
    const Messages messages = {message("m1"),     message("x"),       message("m2"),
                               message("x"),      message("x", "b"),  message("b1", "b"),
                               message("x", "b"), message("c1", "c"), message("d1", "d")};
    const Branches branches = {{"b", "", "x"}, {"c", "b", "x"}, {"d", "c", "x"}};
    const BranchHistory fork = branch_history(messages, branches, "b");
    CHECK(fork.messages == std::vector<std::size_t>{0, 4, 5, 6});
    CHECK(branch_history(messages, branches, "c").messages == std::vector<std::size_t>{0, 7});
    // what was cut off is no longer found
    const BranchHistory last = branch_history(messages, branches, "d");
    CHECK(last.messages == std::vector<std::size_t>{0, 7, 8});
    CHECK(last.unknown_fork_point);
}

TEST_CASE("branch history: a message without an id is no fork point") {
    const Messages messages = {message("m1"), message(""), message("b1", "b"), message("m2")};
    const Branches branches = {{"b", "", "m2"}};
    CHECK(branch_history(messages, branches, "b").messages == std::vector<std::size_t>{0, 1, 2});
    const Branches without = {{"b", "", ""}};
    CHECK(branch_history(messages, without, "b").messages == std::vector<std::size_t>{0, 1, 3, 2});
}

TEST_CASE("branch history: messages of other branches do not show however they are interleaved") {
    const Messages messages = {message("s1", "s"), message("b1", "b"), message("m1"), message("s2", "s"),
                               message("m2"),      message("b2", "b"), message("m3")};
    const Branches branches = {{"s", "", "m2"}, {"b", "", "m3"}};
    CHECK(ids_of(messages, branch_history(messages, branches, "b")) == Ids{"m1", "m2", "b1", "b2"});
    CHECK(ids_of(messages, branch_history(messages, branches, "s")) == Ids{"m1", "s1", "s2"});
}

TEST_CASE("cutoff: a message of the history is found at its place") {
    const Branches branches = {{"b", "main", "m3"}};
    const BranchHistory history = branch_history(forked, branches, "b");
    CHECK(same_cutoff(resolve_cutoff(forked, history, "m1"), {0, false}));
    CHECK(same_cutoff(resolve_cutoff(forked, history, "m2"), {1, false}));
    CHECK(same_cutoff(resolve_cutoff(forked, history, "b2"), {3, false}));
}

TEST_CASE("cutoff: a message behind the fork cuts after all that was taken over") {
    const Branches branches = {{"b", "main", "m3"}};
    const BranchHistory history = branch_history(forked, branches, "b");
    CHECK(same_cutoff(resolve_cutoff(forked, history, "m3"), {1, false}));
    CHECK(same_cutoff(resolve_cutoff(forked, history, "m4"), {1, false}));
    const Messages messages = {message("m1"),      message("m2"),      message("b1", "b"), message("b2", "b"),
                               message("c1", "c"), message("b3", "b"), message("m3")};
    const Branches deeper = {{"c", "b", "b2"}, {"b", "", "m2"}};
    const BranchHistory grandchild = branch_history(messages, deeper, "c");
    CHECK(same_cutoff(resolve_cutoff(messages, grandchild, "m3"), {0, false}));
    CHECK(same_cutoff(resolve_cutoff(messages, grandchild, "b3"), {1, false}));
}

TEST_CASE("cutoff: an ancestor that the fork cut off wholly still says what was taken over") {
    const Messages messages = {message("m1"), message("m2"), message("m3"), message("b1", "b"),
                               message("c1", "c")};
    const Branches branches = {{"b", "", "m3"}, {"c", "b", "m2"}};
    const BranchHistory history = branch_history(messages, branches, "c");
    CHECK(ids_of(messages, history) == Ids{"m1", "c1"});
    CHECK(same_cutoff(resolve_cutoff(messages, history, "b1"), {0, false}));
    CHECK(same_cutoff(resolve_cutoff(messages, history, "m3"), {0, false}));
    // where nothing was taken over, nothing lies before the cutoff
    const Branches first = {{"b", "", "m1"}};
    const BranchHistory alone = branch_history(messages, first, "b");
    CHECK(same_cutoff(resolve_cutoff(messages, alone, "m2"), {std::nullopt, false}));
}

TEST_CASE("cutoff: an id of an unrelated branch or of none is flagged") {
    Messages messages = forked;
    messages.push_back(message("c1", "c"));
    const Branches branches = {{"b", "main", "m3"}, {"c", "main", "m2"}};
    const BranchHistory history = branch_history(messages, branches, "b");
    CHECK(same_cutoff(resolve_cutoff(messages, history, "c1"), {std::nullopt, true}));
    CHECK(same_cutoff(resolve_cutoff(messages, history, "gone"), {std::nullopt, true}));
    const BranchHistory main = branch_history(messages, branches, "main");
    CHECK(same_cutoff(resolve_cutoff(messages, main, "b1"), {std::nullopt, true}));
}

TEST_CASE("cutoff: no id is no cutoff and no fault") {
    const Messages messages = {message(""), message("m1")};
    const BranchHistory history = branch_history(messages, {}, "");
    CHECK(same_cutoff(resolve_cutoff(messages, history, ""), {std::nullopt, false}));
}

TEST_CASE("cutoff: of repeated ids the one counts that cuts least") {
    const Messages messages = {message("m1"), message("x", "b"),  message("x", "s"),  message("m2"),
                               message("x"),  message("b1", "b"), message("c1", "c"), message("c1", "c")};
    const Branches branches = {{"b", "", "m2"}, {"c", "b", "x"}, {"s", "", ""}};
    const BranchHistory history = branch_history(messages, branches, "c");
    CHECK(ids_of(messages, history) == Ids{"m1", "c1", "c1"});
    CHECK(same_cutoff(resolve_cutoff(messages, history, "x"), {0, false}));
    CHECK(same_cutoff(resolve_cutoff(messages, history, "c1"), {1, false}));
}

TEST_CASE("branch history: random trees agree with asking each parent by the rules") {
    std::mt19937 random(7);
    const std::vector<std::string> branch_pool = numbered("branch", 12);
    const std::vector<std::string> id_pool = numbered("id", 60);
    std::size_t wrong = 0;
    std::size_t plain = 0;
    std::size_t cycles = 0;
    std::size_t orphans = 0;
    std::size_t guessed = 0;
    std::size_t deep = 0;
    std::size_t behind = 0;
    for (int round = 0; round < 20'000; ++round) {
        const std::size_t branch_count = random() % 13;
        const std::size_t id_count = 5 + random() % 55;
        const bool tidy = random() % 2 == 0;  // parents come before children
        const auto any_branch = [&](std::size_t limit) -> std::string_view {
            const std::size_t chosen = random() % (limit + 2);
            if (chosen < 2) { return chosen == 0 ? "" : "main"; }
            return branch_pool[chosen - 2];
        };
        Messages messages;
        for (std::size_t count = random() % 40; count > 0; --count) {
            const bool fresh = random() % 8 != 0;
            const std::string_view id =
                fresh ? id_pool[messages.size() % id_count] : id_pool[random() % id_count];
            messages.push_back(message(id, any_branch(branch_count)));
        }
        Branches branches;
        for (std::size_t i = 0; i < branch_count; ++i) {
            if (random() % 16 == 0) { continue; }
            SessionBranch branch{branch_pool[i], any_branch(tidy ? i : branch_count), {}};
            if (random() % 6 != 0) { branch.fork_point = id_pool[random() % id_count]; }
            branches.push_back(branch);
            if (random() % 16 == 0) { branches.push_back({branch_pool[i], "", id_pool[0]}); }
        }
        std::shuffle(branches.begin(), branches.end(), random);
        const std::string_view active = any_branch(branch_count);
        Reference reference(messages, branches);
        const BranchHistory expected = reference.history(active);
        const BranchHistory history = branch_history(messages, branches, active);
        wrong += history.messages != expected.messages;
        wrong += history.cycle != expected.cycle || history.unknown_branch != expected.unknown_branch;
        wrong += history.unknown_parent != expected.unknown_parent;
        wrong += history.unknown_fork_point != expected.unknown_fork_point;
        plain += no_flags(history) && history.parts.size() > 2;
        cycles += history.cycle;
        orphans += history.unknown_parent;
        guessed += history.unknown_fork_point && !history.cycle && !history.unknown_parent;
        deep += history.parts.size() > 4;
        for (std::size_t i = 0; i < id_count; ++i) {
            const Cutoff cutoff = resolve_cutoff(messages, history, id_pool[i]);
            wrong += !same_cutoff(cutoff, reference.cutoff(history, active, id_pool[i]));
            behind += cutoff.position && messages[history.messages[*cutoff.position]].id != id_pool[i];
        }
    }
    CHECK(wrong == 0);
    CHECK(plain > 200);
    CHECK(cycles > 1000);
    CHECK(orphans > 200);
    CHECK(guessed > 2000);
    CHECK(deep > 500);
    CHECK(behind > 1000);
}

TEST_CASE("branch history: a chain of a hundred thousand branches") {
    constexpr std::size_t depth = 100'000;
    const std::vector<std::string> names = numbered("branch ", depth);
    const std::vector<std::string> kept = numbered("kept ", depth);
    const std::vector<std::string> cut = numbered("cut ", depth);
    Messages messages = {message("m1"), message("m2")};
    Branches branches;
    for (std::size_t i = 0; i < depth; ++i) {
        messages.push_back(message(kept[i], names[i]));
        messages.push_back(message(cut[i], names[i]));
        branches.push_back(i == 0 ? SessionBranch{names[i], "", "m2"}
                                  : SessionBranch{names[i], names[i - 1], cut[i - 1]});
    }
    std::mt19937 random(9);
    std::shuffle(branches.begin(), branches.end(), random);

    // each branch cuts off one message of its parent
    const BranchHistory history = branch_history(messages, branches, names.back());
    CHECK(no_flags(history));
    CHECK(history.messages.size() == depth + 2);
    CHECK(history.parts.size() == depth + 1);
    bool right = true;
    for (std::size_t i = 0; i < depth; ++i) { right = right && history.messages[i + 1] == 2 + 2 * i; }
    CHECK(right);
    CHECK(same_cutoff(resolve_cutoff(messages, history, cut[50'000]), {50'001, false}));

    // all that lies between is cut off at the end
    const Messages more = [&] {
        Messages copy = messages;
        copy.push_back(message("end", "end"));
        return copy;
    }();
    branches.push_back({"end", names.back(), "m1"});
    const BranchHistory short_one = branch_history(more, branches, "end");
    CHECK(ids_of(more, short_one) == Ids{"end"});
    CHECK(same_cutoff(resolve_cutoff(more, short_one, cut[50'000]), {std::nullopt, false}));

    // no fork point is known
    for (SessionBranch& branch : branches) { branch.fork_point = "gone"; }
    const BranchHistory guessed = branch_history(more, branches, "end");
    CHECK(guessed.unknown_fork_point);
    CHECK(guessed.messages.size() == more.size());

    // and the newest branch is stored first, so that each one cuts off all before it
    Messages turned = more;
    std::reverse(turned.begin(), turned.end());
    CHECK(ids_of(turned, branch_history(turned, branches, "end")) == Ids{"end"});

    // a ring
    for (SessionBranch& branch : branches) {
        branch.fork_point = {};
        if (branch.id == names.front()) { branch.parent = "end"; }
    }
    const BranchHistory ring = branch_history(more, branches, "end");
    CHECK(ring.cycle);
    CHECK(ring.messages.size() == more.size());
}

TEST_CASE("branch history: forks deep into a long parent again and again") {
    // every branch takes over all of the main branch but its end, every second one its parent's message, too
    constexpr std::size_t count = 50'000;
    const std::vector<std::string> names = numbered("b", count);
    const std::vector<std::string> ids = numbered("m", count);
    Messages messages;
    Branches branches;
    for (std::size_t i = 0; i < count; ++i) { messages.push_back(message(ids[i])); }
    for (std::size_t i = 0; i < count; ++i) {
        messages.push_back(message(names[i], names[i]));
        branches.push_back({names[i], i == 0 ? "" : std::string_view(names[i - 1]), ids[count - 1 - i / 2]});
    }
    const BranchHistory history = branch_history(messages, branches, names.back());
    CHECK(history.unknown_fork_point);
    // half of the forks ask for a message that is cut off already: what is stored before them stays
    CHECK(history.messages.size() == count / 2 + 2);
}

TEST_CASE("branch history: ids may be hostile") {
    // ids that differ in bits that a cheap hash loses
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < 1U << 14U; ++i) {
        std::string name(14 * 16, 'q');
        for (std::size_t bit = 0; bit < 14; ++bit) {
            if ((i >> bit & 1U) == 0) { continue; }
            for (const std::size_t at : {7U, 11U, 15U}) { name[bit * 16 + at] = '\xF1'; }
        }
        names.push_back(name);
    }
    Messages messages;
    Branches branches;
    for (std::size_t i = 0; i < names.size(); ++i) {
        messages.push_back(message(names[i], i == 0 ? std::string_view() : names[i]));
        if (i > 0) { branches.push_back({names[i], i == 1 ? std::string_view() : names[i - 1], {}}); }
    }
    const BranchHistory whole = branch_history(messages, branches, names.back());
    CHECK(no_flags(whole));
    CHECK(whole.messages.size() == names.size());
    for (std::size_t i = 2; i < branches.size(); i += 2) { branches[i].fork_point = branches[i - 2].id; }
    const BranchHistory forks = branch_history(messages, branches, names.back());
    CHECK(forks.messages == std::vector<std::size_t>{0, names.size() - 1});
    CHECK(no_flags(forks));
    CHECK(same_cutoff(resolve_cutoff(messages, whole, names[9000]), {9000, false}));

    const std::string nul("a\0b", 3);
    const std::string other_nul("a\0c", 3);
    const Messages with_nul = {message(nul), message(other_nul), message("x", nul)};
    const Branches nul_branches = {{nul, "", other_nul}, {"a", "", nul}};
    CHECK(branch_history(with_nul, nul_branches, nul).messages == std::vector<std::size_t>{0, 2});
}

TEST_CASE("branch history: one id for all is no slower than many") {
    const Messages messages(200'000, message("same"));
    const std::vector<std::string> names = numbered("b", 100'000);
    Branches branches;
    for (std::size_t i = 0; i < names.size(); ++i) {
        branches.push_back({names[i], i == 0 ? std::string_view() : names[i - 1], "other"});
    }
    branches[0].fork_point = "same";
    const BranchHistory history = branch_history(messages, branches, names.back());
    CHECK(history.messages.empty());
    CHECK(history.unknown_fork_point);
    const BranchHistory main = branch_history(messages, branches, "");
    CHECK(main.messages.size() == messages.size());
    CHECK(same_cutoff(resolve_cutoff(messages, main, "same"), {0, false}));
    CHECK(same_cutoff(resolve_cutoff(messages, history, "same"), {std::nullopt, false}));
}
