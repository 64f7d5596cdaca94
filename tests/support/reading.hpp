// SPDX-License-Identifier: MIT
#pragma once

#include "batches.hpp"

#include <coppice/detail/reader.hpp>
#include <coppice/dom.hpp>
#include <coppice/pipeline.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace support {

/// A document together with what a reader made of it.
template <template <class> class Reader, class Cursor>
class ReadingThrough {
public:
    explicit ReadingThrough(nlohmann::ordered_json read, bool forced = false) : document_(std::move(read)) {
        transcript_.source = &source_;
        Reader<Cursor> reader(transcript_, scratch_);
        refused_ = reader.read(Cursor(document_), forced);
    }
    ReadingThrough(const ReadingThrough&) = delete;
    ReadingThrough& operator=(const ReadingThrough&) = delete;

    const nlohmann::ordered_json& document() const { return document_; }
    const coppice::Transcript& transcript() const { return transcript_; }
    const std::string& refused() const { return refused_; }
    std::size_t size() const { return transcript_.all().size(); }
    const coppice::Entry& operator[](std::size_t entry) const { return transcript_.all()[entry]; }
    const coppice::Part& part(const coppice::Entry& entry, std::size_t i = 0) const {
        return transcript_.parts_of(entry)[i];
    }
    const coppice::Field& field(const coppice::Entry& entry, std::size_t i = 0) const {
        return transcript_.fields_of(entry)[i];
    }

    /// Whether the call failed, by a flag or by the text of its result.
    bool failed(std::size_t entry) const {
        coppice::Entry result = (*this)[entry];
        std::string scratch;
        if (result.outcome_in_text) { coppice::detail::judge_by_text(transcript_, result, scratch); }
        return result.error;
    }

    /// The joined text, and the content as it stands in the body.
    coppice::Extent size(std::size_t entry) const { return transcript_.size((*this)[entry]); }
    coppice::Extent serialised(std::size_t entry) const { return transcript_.serialised((*this)[entry]); }

    /// Names of the fields of a call, or of the parts of a result in pieces; those in a list as `edits[1].old_string`.
    std::string names(const coppice::Entry& entry) const {
        std::string out;
        for (const coppice::Field& field : transcript_.fields_of(entry)) {
            if (!out.empty()) { out += ' '; }
            if (field.deep) {
                out += field.list.raw();
                continue;
            }
            if (field.in_list) {
                out.append(field.list.raw()).append("[").append(std::to_string(field.index)).append("].");
            }
            out += field.name.raw();
        }
        return out;
    }

    /// The call that each result answers, `-` for none.
    std::string peers() const {
        std::string out;
        for (const coppice::Entry& entry : transcript_.all()) {
            if (entry.kind != coppice::Kind::result) { continue; }
            if (!out.empty()) { out += ' '; }
            out += entry.peer == coppice::none ? "-" : std::to_string(entry.peer);
        }
        return out;
    }

private:
    coppice::detail::DomSource<nlohmann::ordered_json> source_;
    coppice::detail::ReaderScratch scratch_;
    nlohmann::ordered_json document_;
    coppice::Transcript transcript_;
    std::string refused_;
};

template <template <class> class Reader>
using ReadingOf = ReadingThrough<Reader, coppice::detail::DomCursor<nlohmann::ordered_json>>;
/// In it, an object with a member `twice` is one that repeats a key.
template <template <class> class Reader>
using RepeatingOf = ReadingThrough<Reader, RepeatingCursor<nlohmann::ordered_json>>;

inline nlohmann::ordered_json twice(nlohmann::ordered_json object) {
    object["twice"] = 1;
    return object;
}

}  // namespace support
