// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/call_identity.hpp>
#include <coppice/detail/hash.hpp>
#include <coppice/policy.hpp>

#include <string>

namespace coppice::inline v0 {

/// What must be equal, beside the content, for two results to be duplicates.
enum class SameCall : bool {
    ignored,   ///< nothing
    required,  ///< tool and arguments of the call, whatever the order of keys
};

namespace detail {

/// Compares and hashes results as a whole: parts in order, media, error flag, and the call where asked for.
class ResultIdentity {
public:
    ResultIdentity(const Transcript& transcript, SameCall same_call, Plan::Scratch& scratch)
        : transcript_(transcript),
          one_spelling_(transcript.source->one_spelling()),
          same_call_(same_call),
          left_(scratch.left),
          right_(scratch.right),
          tool_(scratch.tool) {}

    std::uint64_t size_key(const Entry& entry) const {
        std::uint64_t key = (entry.part_count * 2 + (entry.error ? 1 : 0)) ^ process_seed();
        for (const Part& part : transcript_.parts_of(entry)) {
            if (part.kind != Part::Kind::text) { continue; }
            const std::size_t least = part.text.least(Unit::bytes);
            const bool known = least == part.text.most(Unit::bytes);
            const std::size_t size = known ? least : part.text.plain().bytes;
            // pieces come in any order
            key = entry.form == Form::pieces ? key + mix(size) : mix(key + size);
        }
        return key;
    }

    // what a history is asked again and again is remembered, since it reads the whole input of the call
    std::uint64_t hash(const Entry& entry) {
        if (entry.hash == 0) { entry.hash = work_out_hash(entry); }
        return entry.hash;
    }

    bool equal(const Entry& left, const Entry& right) {
        const bool alike = left.error == right.error && left.part_count == right.part_count &&
                           (left.form == Form::pieces) == (right.form == Form::pieces);
        if (!alike || !same_parts(left, right)) { return false; }
        // what stands around the pieces may tell them apart: names, an exit code
        if (left.form == Form::pieces && content_of(left, left_) != content_of(right, right_)) { return false; }
        return same_call_ == SameCall::ignored || call_of(left, left_) == call_of(right, right_);
    }

private:
    std::uint64_t work_out_hash(const Entry& entry) {
        std::uint64_t hash = mix(size_key(entry) ^ process_seed());
        for (const Part& part : transcript_.parts_of(entry)) {
            if (is_inside(entry, part)) { continue; }
            hash = hash_bytes(bytes_of(part, left_), hash + static_cast<std::uint64_t>(part.kind));
        }
        if (entry.form == Form::pieces) { hash = hash_bytes(content_of(entry, left_), hash); }
        if (same_call_ == SameCall::required) { hash = hash_bytes(call_of(entry, left_), hash); }
        return hash;
    }

    // of a result in pieces, the content holds all but the media, which stand beside it
    static bool is_inside(const Entry& result, const Part& part) {
        return result.form == Form::pieces && part.kind != Part::Kind::image;
    }

    bool same_parts(const Entry& left, const Entry& right) const {
        const auto others = [&](const Entry& result) {
            std::size_t i = 0;
            const auto parts = transcript_.parts_of(result);
            while (i < parts.size() && is_inside(result, parts[i])) { ++i; }
            return parts.subspan(i);
        };
        if (left.form == Form::pieces) {
            const auto a = others(left);
            const auto b = others(right);
            if (a.empty() != b.empty()) { return false; }
            return a.empty() || bytes_of(a[0], left_) == bytes_of(b[0], right_);
        }
        for (std::size_t i = 0; i < left.part_count; ++i) {
            const Part& a = transcript_.parts[left.first_part + i];
            const Part& b = transcript_.parts[right.first_part + i];
            if (a.kind != b.kind || bytes_of(a, left_) != bytes_of(b, right_)) { return false; }
        }
        return true;
    }

    std::string_view bytes_of(const Part& part, std::string& scratch) const {
        if (part.kind == Part::Kind::text || part.kind == Part::Kind::stub) {
            const Text text = part.text.text();
            return one_spelling_ ? text.raw() : exact(text, scratch);
        }
        scratch.clear();
        transcript_.source->append_canonical(part.node, scratch);
        return scratch;
    }

    std::string_view content_of(const Entry& result, std::string& scratch) const {
        scratch.clear();
        transcript_.source->append_canonical(result.content, scratch);
        return scratch;
    }

    std::string_view call_of(const Entry& result, std::string& scratch) const {
        scratch.clear();
        if (result.peer != none) { append_call(transcript_, transcript_.all()[result.peer], scratch, tool_); }
        return scratch;
    }

    const Transcript& transcript_;
    bool one_spelling_;
    SameCall same_call_;
    std::string& left_;
    std::string& right_;
    std::string& tool_;
};

struct DedupOptions {
    Size min;
    SameCall same_call;
    bool media_only;
    std::string_view name;
};

inline void collapse_duplicates(const Transcript& transcript, Plan& plan, const DedupOptions& options) {
    const auto entries = transcript.entries();
    const auto candidate = [&](std::size_t i) {
        const Entry& entry = entries[i];
        // what once told two results with elided images apart is gone, and so is what two capped ones had in the middle
        const bool whole = !entry.stub && !entry.capped && entry.elided == 0 && entry.part_count > 0;
        if (entry.kind != Kind::result || !whole) { return false; }
        // and what once told two calls apart
        const bool call_counts = options.same_call == SameCall::required && entry.peer != none;
        if (call_counts && transcript.all()[entry.peer].cleared) { return false; }
        if (!options.media_only && !transcript.at_least(entry, bytes(1))) { return false; }
        return entry.images > 0 || transcript.at_least(entry, options.min);
    };
    ResultIdentity identity(transcript, options.same_call, plan.scratch());

    // most results have a size of their own and are never read
    Index& sizes = plan.scratch().sizes;
    sizes.start(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (!candidate(i)) { continue; }
        std::size_t& seen = sizes[identity.size_key(entries[i])];
        seen = seen == Index::absent ? 1 : 2;
    }

    Index& newest = plan.scratch().newest;
    newest.start(0);
    for (std::size_t i = entries.size(); i-- > 0;) {
        if (!candidate(i) || sizes[identity.size_key(entries[i])] != 2) { continue; }
        if (plan.fate(i) != Fate::keep && plan.fate(i) != Fate::spill) { continue; }
        std::size_t& found = newest[identity.hash(entries[i])];
        if (found == Index::absent) {
            found = i;
        } else if (identity.equal(entries[i], entries[found])) {
            plan.collapse(i, found, options.name);
        }
    }
}

}  // namespace detail

/// The same result again: only the newest copy stays whole, also among recent results.
///
/// keeps          the newest of equal results, with its text, media and error flag
/// changes        the older ones into a stub each that says so
/// does nothing   to results shorter than `min`; where anything differs (one byte, the order of parts, the
///                error flag, with `SameCall::required` also tool or arguments: HKUDS/nanobot #4581); where
///                the newest copy does not stay: a stub that points at it would not be true
///
/// Sizes are compared first, then hashes, then bytes.
template <Size Min = Size{200}, SameCall Call = SameCall::required, bool MediaOnly = true>
struct Dedup {
    static constexpr std::string_view name = "dedup";

    Size min = Min;               ///< joined text; a result with an image may be shorter
    SameCall same_call = Call;    ///< whether the calls must be equal, too
    bool media_only = MediaOnly;  ///< whether results without any text can be duplicates

    void apply(const Transcript& transcript, Plan& plan) const {
        detail::collapse_duplicates(transcript, plan, {min, same_call, media_only, name});
    }
};

}  // namespace coppice
