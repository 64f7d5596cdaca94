// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/dom.hpp>
#include <coppice/wire.hpp>

#include <nlohmann/json.hpp>

#include <concepts>
#include <span>
#include <string_view>

namespace coppice::detail {

// What all tests need of the library and what does not depend on a pipeline: compiled once, in laws.cpp.
extern template std::string_view read_request(DomCursor<nlohmann::ordered_json>, Dialect, Transcript&, ReaderScratch&);
extern template std::string_view read_request(DomCursor<nlohmann::json>, Dialect, Transcript&, ReaderScratch&);
extern template std::string_view read_request(WireCursor, Dialect, Transcript&, ReaderScratch&);
extern template class DomSource<nlohmann::ordered_json>;
extern template class DomSource<nlohmann::json>;

}  // namespace coppice::detail

namespace support {

/// Any pipeline behind function pointers, so that what is checked with it is compiled once. The pipeline and the
/// hints must outlive it.
class AnyPipeline {
public:
    using Ordered = nlohmann::ordered_json;
    using Dialect = coppice::Dialect;
    using Inputs = coppice::Inputs;

    template <class P>
    requires(!std::same_as<P, AnyPipeline> && coppice::pipeline_like<P>)
    AnyPipeline(const P& pipeline, std::span<const coppice::Hint> hints = {}) : pipeline_(&pipeline), hints_(hints) {
        plan_ = [](const void* p, const Ordered& document, const Inputs& inputs) {
            return coppice::plan(document, *static_cast<const P*>(p), inputs);
        };
        prune_ = [](const void* p, Ordered& document, const Inputs& inputs) {
            return coppice::prune(document, *static_cast<const P*>(p), inputs);
        };
        prune_sorted_ = [](const void* p, nlohmann::json& document, const Inputs& inputs) {
            return coppice::prune(document, *static_cast<const P*>(p), inputs);
        };
        plan_bytes_ = [](const void* p, std::string_view body, const Inputs& inputs) {
            return coppice::plan(body, *static_cast<const P*>(p), inputs);
        };
        prune_bytes_ = [](const void* p, std::string_view body, const Inputs& inputs) {
            return coppice::prune(body, *static_cast<const P*>(p), inputs);
        };
        prune_kept_ = [](const void* p, std::string_view body, coppice::WireWorkspace& workspace,
                         const Inputs& inputs) {
            return coppice::prune(body, *static_cast<const P*>(p), workspace, inputs);
        };
        prune_pieces_ = [](const void* p, std::string_view body, coppice::WireWorkspace& workspace,
                           const Inputs& inputs) {
            return coppice::prune_pieces(body, *static_cast<const P*>(p), workspace, inputs);
        };
    }

    coppice::Report plan(const Ordered& document, Dialect dialect) const {
        return plan_(pipeline_, document, inputs(dialect));
    }
    coppice::Report prune(Ordered& document, Dialect dialect) const {
        return prune_(pipeline_, document, inputs(dialect));
    }
    coppice::Report prune(nlohmann::json& document, Dialect dialect) const {
        return prune_sorted_(pipeline_, document, inputs(dialect));
    }
    coppice::Report plan(std::string_view body, Dialect dialect) const {
        return plan_bytes_(pipeline_, body, inputs(dialect));
    }
    coppice::PrunedBody prune(std::string_view body, Dialect dialect) const {
        return prune_bytes_(pipeline_, body, inputs(dialect));
    }
    std::string_view prune(std::string_view body, coppice::WireWorkspace& workspace, Dialect dialect) const {
        return prune_kept_(pipeline_, body, workspace, inputs(dialect));
    }
    std::span<const std::string_view> prune_pieces(std::string_view body, coppice::WireWorkspace& workspace,
                                                   Dialect dialect) const {
        return prune_pieces_(pipeline_, body, workspace, inputs(dialect));
    }

private:
    Inputs inputs(Dialect dialect) const {
        Inputs made(dialect);
        made.hints = hints_;
        return made;
    }

    const void* pipeline_;
    std::span<const coppice::Hint> hints_;
    coppice::Report (*plan_)(const void*, const Ordered&, const Inputs&) = nullptr;
    coppice::Report (*prune_)(const void*, Ordered&, const Inputs&) = nullptr;
    coppice::Report (*prune_sorted_)(const void*, nlohmann::json&, const Inputs&) = nullptr;
    coppice::Report (*plan_bytes_)(const void*, std::string_view, const Inputs&) = nullptr;
    coppice::PrunedBody (*prune_bytes_)(const void*, std::string_view, const Inputs&) = nullptr;
    std::string_view (*prune_kept_)(const void*, std::string_view, coppice::WireWorkspace&, const Inputs&) = nullptr;
    std::span<const std::string_view> (*prune_pieces_)(const void*, std::string_view, coppice::WireWorkspace&,
                                                       const Inputs&) = nullptr;
};

}  // namespace support
