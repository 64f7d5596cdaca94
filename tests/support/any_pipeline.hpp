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

/// Any pipeline behind function pointers, so that what is checked with it is compiled once. The pipeline must outlive it.
class AnyPipeline {
public:
    using Ordered = nlohmann::ordered_json;
    using Dialect = coppice::Dialect;

    template <class P>
    requires(!std::same_as<P, AnyPipeline> && coppice::pipeline_like<P>)
    AnyPipeline(const P& pipeline) : pipeline_(&pipeline) {
        plan_ = [](const void* p, const Ordered& document, Dialect dialect) {
            return coppice::plan(document, *static_cast<const P*>(p), dialect);
        };
        prune_ = [](const void* p, Ordered& document, Dialect dialect) {
            return coppice::prune(document, *static_cast<const P*>(p), dialect);
        };
        prune_sorted_ = [](const void* p, nlohmann::json& document, Dialect dialect) {
            return coppice::prune(document, *static_cast<const P*>(p), dialect);
        };
        plan_bytes_ = [](const void* p, std::string_view body, Dialect dialect) {
            return coppice::plan(body, *static_cast<const P*>(p), dialect);
        };
        prune_bytes_ = [](const void* p, std::string_view body, Dialect dialect) {
            return coppice::prune(body, *static_cast<const P*>(p), dialect);
        };
        prune_kept_ = [](const void* p, std::string_view body, coppice::WireWorkspace& workspace, Dialect dialect) {
            return coppice::prune(body, *static_cast<const P*>(p), workspace, dialect);
        };
        prune_pieces_ = [](const void* p, std::string_view body, coppice::WireWorkspace& workspace,
                           Dialect dialect) {
            return coppice::prune_pieces(body, *static_cast<const P*>(p), workspace, dialect);
        };
    }

    coppice::Report plan(const Ordered& document, Dialect dialect) const { return plan_(pipeline_, document, dialect); }
    coppice::Report prune(Ordered& document, Dialect dialect) const { return prune_(pipeline_, document, dialect); }
    coppice::Report prune(nlohmann::json& document, Dialect dialect) const {
        return prune_sorted_(pipeline_, document, dialect);
    }
    coppice::Report plan(std::string_view body, Dialect dialect) const { return plan_bytes_(pipeline_, body, dialect); }
    coppice::PrunedBody prune(std::string_view body, Dialect dialect) const {
        return prune_bytes_(pipeline_, body, dialect);
    }
    std::string_view prune(std::string_view body, coppice::WireWorkspace& workspace, Dialect dialect) const {
        return prune_kept_(pipeline_, body, workspace, dialect);
    }
    std::span<const std::string_view> prune_pieces(std::string_view body, coppice::WireWorkspace& workspace,
                                                   Dialect dialect) const {
        return prune_pieces_(pipeline_, body, workspace, dialect);
    }

private:
    const void* pipeline_;
    coppice::Report (*plan_)(const void*, const Ordered&, Dialect) = nullptr;
    coppice::Report (*prune_)(const void*, Ordered&, Dialect) = nullptr;
    coppice::Report (*prune_sorted_)(const void*, nlohmann::json&, Dialect) = nullptr;
    coppice::Report (*plan_bytes_)(const void*, std::string_view, Dialect) = nullptr;
    coppice::PrunedBody (*prune_bytes_)(const void*, std::string_view, Dialect) = nullptr;
    std::string_view (*prune_kept_)(const void*, std::string_view, coppice::WireWorkspace&, Dialect) = nullptr;
    std::span<const std::string_view> (*prune_pieces_)(const void*, std::string_view, coppice::WireWorkspace&,
                                                       Dialect) = nullptr;
};

}  // namespace support
