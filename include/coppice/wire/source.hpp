// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/detail/canonical.hpp>
#include <coppice/detail/packed_json.hpp>
#include <coppice/transcript.hpp>
#include <coppice/wire/cursor.hpp>
#include <coppice/wire/structure.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace coppice::inline v0::detail {

/// Answers for a transcript whose nodes are pieces of a JSON text.
///
/// Sizes are those of compact JSON with each string in its shortest spelling, so that a threshold means the same
/// whoever wrote the text. Most clients write it like that, and then a size is the length of a piece.
class WireSource final : public Source {
public:
    /// What a source works with, kept from call to call for its capacity.
    struct Scratch {
        CanonicalWriter<WireCursor> writer;
        PackedJsonWriter packed_writer;
    };

    WireSource(const WireStructure& structure, Scratch& scratch) : structure_(structure), scratch_(scratch) {}

    static std::string_view text_of(Node node) { return {static_cast<const char*>(node.where), node.length}; }

    /// Where a node begins in the text.
    std::size_t offset_of(Node node) const {
        return static_cast<std::size_t>(static_cast<const char*>(node.where) - structure_.json().data());
    }

    Extent serialised(Node node, std::span<const Node> except = {}) const override {
        if (!structure_.compact() || !structure_.one_spelling()) { return measure_tokens(node, except); }
        Extent size = structure_.measure(text_of(node));
        for (const Node skipped : except) { size -= structure_.measure(text_of(skipped)); }
        return size;
    }

    bool one_spelling() const override { return structure_.one_spelling(); }

    std::size_t count_members(Node node, std::string_view name) const override {
        std::size_t count = 0;
        const std::size_t end = offset_of(node) + node.length;
        for (std::uint32_t token = structure_.token_at(offset_of(node)); structure_.offset(token) < end;
             ++token) {
            if (structure_.first_char(token) != ':') { continue; }
            count += same_text(structure_.key(token - 1), name);
        }
        return count;
    }

    void append_canonical(Node node, std::string& out) const override {
        scratch_.writer.append(cursor_of(node), out);
    }

    void append_canonical(std::string_view packed, std::string& out) const override {
        scratch_.packed_writer.append_canonical(packed, out);
    }

private:
    WireCursor cursor_of(Node node) const {
        const std::uint32_t token = structure_.token_at(offset_of(node));
        return {structure_, token, structure_.container_at(token)};
    }

    Extent measure_tokens(Node node, std::span<const Node> except) const {
        Extent size;
        const std::size_t end = offset_of(node) + node.length;
        std::uint32_t token = structure_.token_at(offset_of(node));
        while (structure_.offset(token) < end) {
            if (!except.empty() && offset_of(except.front()) == structure_.offset(token)) {
                token = structure_.token_at(offset_of(except.front()) + except.front().length);
                except = except.subspan(1);
                continue;
            }
            size += measure_token(token++);
        }
        return size;
    }

    Extent measure_token(std::uint32_t token) const {
        switch (structure_.first_char(token)) {
            case '{':
            case '}':
            case '[':
            case ']':
            case ',':
            case ':': return ascii(1);
            case '"': return structure_.measured(token).extent().serialised();
            default: return ascii(structure_.scalar(token).size());
        }
    }

    const WireStructure& structure_;
    Scratch& scratch_;
};

}  // namespace coppice::detail
