// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/hash.hpp>
#include <coppice/measure.hpp>
#include <coppice/text.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace coppice::inline v0::detail {

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

    /// The call that a result with this id answers, or `none`. What `gone` says of a call is that it has its answer; of
    /// the others, the first that `fits` is taken, or else the first.
    template <class Gone, class Fits>
    std::size_t answer(Text id, Gone gone, Fits fits, std::uint8_t kind = 0) {
        std::size_t& head = heads_[key(id, kind)];
        const auto same = [&](std::size_t armed) {
            return armed_[armed].kind == kind && same_text(armed_[armed].id, id);
        };
        while (head != Index::absent && same(head) && gone(armed_[head].call)) { unlink_first(head); }
        if (head == Index::absent || !same(head)) { return none; }
        std::size_t before = head;
        // nobody makes more calls with one id at once
        for (std::size_t looked = 0; looked < 64; ++looked) {
            const std::size_t found = looked == 0 ? head : armed_[before].next;
            if (found == Index::absent || !same(found)) { break; }
            if (!gone(armed_[found].call) && fits(armed_[found].call)) {
                const std::size_t call = armed_[found].call;
                if (found == head) {
                    unlink_first(head);
                } else {
                    armed_[before].next = armed_[found].next;
                    if (armed_[head].last == found) { armed_[head].last = before; }
                }
                return call;
            }
            before = found;
        }
        const std::size_t call = armed_[head].call;
        unlink_first(head);
        return call;
    }
    template <class Gone>
    std::size_t answer(Text id, Gone gone, std::uint8_t kind = 0) {
        return answer(id, gone, [](std::size_t) { return true; }, kind);
    }
    std::size_t answer(Text id) {
        return answer(id, [](std::size_t) { return false; });
    }

private:
    void unlink_first(std::size_t& head) {
        const std::size_t last = armed_[head].last;
        head = armed_[head].next;
        if (head != Index::absent) { armed_[head].last = last; }
    }

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
