// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/measure.hpp>
#include <coppice/text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coppice::detail {

/// Pairs calls and results. A call arms its id, and the next result with that id consumes it: ids are not unique in
/// the wild, so the first call armed is the first one answered. Where a dialect has calls of several kinds, a result
/// answers one of its own kind.
class Pairs {
public:
    /// How long a call waits for its result.
    enum class Reach : bool {
        turn,     ///< until the model speaks again
        history,  ///< to the end, unless a later turn has a call of that id
    };

    void clear(Reach reach = Reach::turn) {
        reach_ = reach;
        armed_.clear();
        heads_.start(0);
        turn_ = 0;
    }
    void next_turn() { ++turn_; }

    void arm(Text id, std::size_t call, std::uint8_t kind = 0) {
        std::size_t& head = heads_[key(id, kind)];
        armed_.push_back({id, call, Index::absent, armed_.size(), turn_, kind});
        if (head == Index::absent || armed_[head].turn != turn_) {
            head = armed_.size() - 1;
        } else {
            Armed& first = armed_[head];
            armed_[first.last].next = armed_.size() - 1;
            first.last = armed_.size() - 1;
        }
    }

    /// The call that a result with this id answers, or `none`. What `gone` says of a call is that it has its answer.
    template <class Gone>
    std::size_t answer(Text id, Gone gone, std::uint8_t kind = 0) {
        std::size_t& head = heads_[key(id, kind)];
        while (head != Index::absent && armed_[head].kind == kind && same_text(armed_[head].id, id)) {
            const Armed first = armed_[head];
            head = first.next;
            if (head != Index::absent) { armed_[head].last = first.last; }
            if (!gone(first.call)) { return first.call; }
        }
        return none;
    }
    std::size_t answer(Text id) {
        return answer(id, [](std::size_t) { return false; });
    }

private:
    struct Armed {
        Text id{};
        std::size_t call;
        std::size_t next;
        std::size_t last;
        std::uint64_t turn;
        std::uint8_t kind;
    };

    std::uint64_t key(Text id, std::uint8_t kind) {
        const std::uint64_t among = (reach_ == Reach::turn ? turn_ : 0) ^ std::uint64_t{kind} << 56U;
        return hash_bytes(exact(id, scratch_), among ^ process_seed());
    }

    Reach reach_ = Reach::turn;
    std::vector<Armed> armed_;
    Index heads_;
    std::uint64_t turn_ = 0;
    std::string scratch_;
};

}  // namespace coppice::detail
