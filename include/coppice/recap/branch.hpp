// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/recap/message.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace coppice::inline v0 {

/// How one branch of a session hangs on another one: a view of the host's own data. "" and "main" both name
/// the main branch, which hangs on nothing: a record of it is ignored.
struct SessionBranch {
    std::string_view id{};          ///< as the file has it
    std::string_view parent{};      ///< empty: the main branch
    std::string_view fork_point{};  ///< the first message not taken over from the parent; empty: all are
};

/// What a history takes from one branch of the chain.
struct BranchPart {
    std::string_view branch{};  ///< the main branch is "main"
    std::size_t end = 0;        ///< that many messages of the history are this branch's or an ancestor's
};

/// The messages of one branch, as its model saw them. Names are views of what it was made from.
struct BranchHistory {
    std::vector<std::size_t> messages{};  ///< positions in the span, in order
    std::vector<BranchPart> parts{};      ///< from the main branch to the active one
    bool unknown_branch = false;          ///< there is no record of the active branch
    bool unknown_parent = false;          ///< there is no record of a parent
    bool cycle = false;                   ///< a branch is its own ancestor
    /// A fork point is not in its parent's history, or the parent not known: storage order stands in for it.
    bool unknown_fork_point = false;
};

/// Where a cutoff lies in a history.
struct Cutoff {
    /// Of the last message before or at it, in `BranchHistory::messages`.
    std::optional<std::size_t> position{};
    bool unknown = false;  ///< no message of this history or behind one of its forks has that id
};

namespace detail {

inline std::string_view branch_name(std::string_view id) {
    return id.empty() ? std::string_view("main") : id;
}

// Numbers under names; of equal names the smallest number counts. Sorted: no choice of names makes it slow.
class SortedNames {
public:
    static constexpr std::size_t absent = static_cast<std::size_t>(-1);

    void add(std::string_view name, std::size_t number) { names_.emplace_back(name, number); }
    void sort() { std::sort(names_.begin(), names_.end()); }
    /// After `sort`.
    std::size_t find(std::string_view name) const {
        const auto at =
            std::lower_bound(names_.begin(), names_.end(), name,
                             [](const auto& entry, std::string_view key) { return entry.first < key; });
        return at == names_.end() || at->first != name ? absent : at->second;
    }

private:
    std::vector<std::pair<std::string_view, std::size_t>> names_;
};

struct BranchLink {
    std::string_view branch{};
    std::string_view fork_point{};
    bool guess = false;  // the parent is not known
};

// From the active branch to the main one, then turned around.
inline std::vector<BranchLink> branch_chain(std::span<const SessionBranch> branches, std::string_view active,
                                            BranchHistory& history) {
    SortedNames records;
    for (std::size_t i = 0; i < branches.size(); ++i) { records.add(branch_name(branches[i].id), i); }
    records.sort();
    std::vector<bool> seen(branches.size());
    std::vector<BranchLink> chain;
    for (std::string_view branch = branch_name(active); branch != "main";) {
        const std::size_t record = records.find(branch);
        if (record == SortedNames::absent && chain.empty()) {
            history.unknown_branch = true;
            chain.push_back({branch, {}, false});
            break;
        }
        if (record == SortedNames::absent || seen[record]) {
            (record == SortedNames::absent ? history.unknown_parent : history.cycle) = true;
            chain.back().guess = true;
            break;
        }
        seen[record] = true;
        chain.push_back({branch, branches[record].fork_point, false});
        branch = branch_name(branches[record].parent);
    }
    chain.push_back({"main", {}, false});
    std::reverse(chain.begin(), chain.end());
    return chain;
}

// The messages of each branch of a chain, in storage order.
class BranchMessages {
public:
    BranchMessages(std::span<const SessionMessage> messages, std::span<const BranchLink> chain)
        : ends_(chain.size() + 1) {
        SortedNames places;
        for (std::size_t i = 0; i < chain.size(); ++i) { places.add(chain[i].branch, i); }
        places.sort();
        std::vector<std::size_t> place(messages.size());
        for (std::size_t i = 0; i < messages.size(); ++i) {
            const std::string_view branch = branch_name(messages[i].branch);
            const bool as_before = i > 0 && branch == branch_name(messages[i - 1].branch);
            place[i] = as_before ? place[i - 1] : places.find(branch);
            if (place[i] != SortedNames::absent) { ++ends_[place[i] + 1]; }
        }
        for (std::size_t i = 1; i < ends_.size(); ++i) { ends_[i] += ends_[i - 1]; }
        sorted_.resize(ends_.back());
        std::vector<std::size_t> next(ends_.begin(), ends_.end() - 1);
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (place[i] != SortedNames::absent) { sorted_[next[place[i]]++] = i; }
        }
    }

    std::span<const std::size_t> of(std::size_t link) const {
        return std::span(sorted_).subspan(ends_[link], ends_[link + 1] - ends_[link]);
    }

private:
    std::vector<std::size_t> sorted_;
    std::vector<std::size_t> ends_;  // of each link, behind a zero
};

// The history of one branch, turned into that of the next one by cutting its end off and appending. A
// message is appended once and cut off once at most.
class GrowingHistory {
public:
    GrowingHistory(std::span<const SessionMessage> messages, std::span<const BranchLink> chain)
        : messages_(messages), first_(chain.size(), SortedNames::absent) {
        for (std::size_t i = 0; i < chain.size(); ++i) {
            if (!chain[i].fork_point.empty()) { forks_.add(chain[i].fork_point, i); }
        }
        forks_.sort();
    }

    std::size_t size() const { return taken_.size(); }
    std::size_t message(std::size_t position) const { return taken_[position].message; }

    void append(std::size_t message) {
        const std::size_t fork = forks_.find(messages_[message].id);
        const std::size_t newest = taken_.empty() ? message : std::max(message, taken_.back().newest);
        if (fork != SortedNames::absent && first_[fork] == SortedNames::absent) { first_[fork] = size(); }
        taken_.push_back({message, newest, fork});
    }
    /// False where no message has the id of the fork point.
    bool cut_before(std::string_view fork_point) {
        const std::size_t position = first_[forks_.find(fork_point)];
        if (position == SortedNames::absent) { return false; }
        while (size() > position) { pop(); }
        return true;
    }
    /// Cuts off from the first message on that is stored behind this one, or is this one.
    void cut_before_stored(std::size_t message) {
        while (!taken_.empty() && taken_.back().newest >= message) { pop(); }
    }

private:
    struct Taken {
        std::size_t message = 0;
        std::size_t newest = 0;  // of all messages up to here, the one stored last
        std::size_t fork = 0;    // which fork point it is, if any
    };

    void pop() {
        const std::size_t fork = taken_.back().fork;
        taken_.pop_back();
        if (fork != SortedNames::absent && first_[fork] == size()) { first_[fork] = SortedNames::absent; }
    }

    std::span<const SessionMessage> messages_;
    SortedNames forks_;
    std::vector<std::size_t> first_;  // where each fork point lies in the history first
    std::vector<Taken> taken_;
};

}  // namespace detail

/// The linear history of a branch: what its parent's history holds before the fork point, which may come from
/// any ancestor, then its own messages in storage order. Of equal ids the first counts: of a message in the
/// parent's history, of a record in `branches`.
///
/// no record of the active branch   all of the main branch, then its own messages
/// fork point not found             the parent's history up to the first message not stored before the
///                                  branch's own first one; none of it where the branch has no message. So
///                                  nothing newer than the fork comes in (NousResearch/hermes-agent PR 86775)
/// unknown parent, cycle            the last branch known hangs on the main one, its fork point not found
///
/// Linear in messages and branches, but for sorting the branches' names and fork points.
inline BranchHistory branch_history(std::span<const SessionMessage> messages,
                                    std::span<const SessionBranch> branches, std::string_view active) {
    BranchHistory history;
    const std::vector<detail::BranchLink> chain = detail::branch_chain(branches, active, history);
    const detail::BranchMessages own(messages, chain);
    detail::GrowingHistory grown(messages, chain);
    std::vector<std::size_t> taken_over(chain.size());
    for (std::size_t i = 0; i < chain.size(); ++i) {
        const detail::BranchLink& link = chain[i];
        if (link.guess || (!link.fork_point.empty() && !grown.cut_before(link.fork_point))) {
            history.unknown_fork_point = true;
            grown.cut_before_stored(own.of(i).empty() ? 0 : own.of(i).front());
        }
        taken_over[i] = grown.size();
        for (const std::size_t message : own.of(i)) { grown.append(message); }
        history.parts.push_back({link.branch, grown.size()});
    }
    for (std::size_t i = chain.size() - 1; i-- > 0;) {
        // a later branch may have cut off more
        taken_over[i] = std::min(taken_over[i], taken_over[i + 1]);
        history.parts[i].end = std::min(history.parts[i].end, taken_over[i + 1]);
    }
    history.messages.reserve(grown.size());
    for (std::size_t i = 0; i < grown.size(); ++i) { history.messages.push_back(grown.message(i)); }
    return history;
}

/// Where a message id, such as the one that an earlier recap ended at, lies in the history of these messages.
/// A message of an ancestor behind the fork cuts after all that was taken over from that ancestor (perhaps
/// nothing: then there is no position), since a fork keeps its parent's ids (anomalyco/opencode issue 24781).
/// Of several messages with the id the one counts that cuts least. An empty id is no cutoff.
inline Cutoff resolve_cutoff(std::span<const SessionMessage> messages, const BranchHistory& history,
                             std::string_view id) {
    if (id.empty()) { return {}; }
    for (std::size_t i = 0; i < history.messages.size(); ++i) {
        if (messages[history.messages[i]].id == id) { return {i, false}; }
    }
    detail::SortedNames holders;
    for (const SessionMessage& message : messages) {
        if (message.id == id) { holders.add(detail::branch_name(message.branch), 0); }
    }
    holders.sort();
    for (const BranchPart& part : history.parts) {
        if (holders.find(part.branch) == detail::SortedNames::absent) { continue; }
        return {part.end == 0 ? std::nullopt : std::optional(part.end - 1), false};
    }
    return {std::nullopt, true};
}

}  // namespace coppice
