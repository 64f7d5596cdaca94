// SPDX-License-Identifier: MIT
#pragma once

#include <coppice/pipeline.hpp>

#include <memory>
#include <string>
#include <utility>

namespace coppice::inline v0 {

/// Any pipeline, for hosts that choose one at run time. Every call of `plan`, `prune` and `prune_pieces` takes it as it
/// takes the pipeline itself, and gives the same; a call through it costs a few virtual calls more for each request.
///
///     coppice::AnyPipeline pruner = coppice::presets::standard();
///     if (local) { pruner = coppice::Pipeline{coppice::KeepRecent<>{.keep = 3}}; }
///
/// Copies share the pipeline, which nobody can change: any number of threads may use them. One that was moved from
/// still holds it.
class AnyPipeline {
public:
    /// Takes any pipeline.
    template <class... Parts>
    AnyPipeline(Pipeline<Parts...> pipeline)
        : model_(std::make_shared<const Model<Pipeline<Parts...>>>(std::move(pipeline))) {}

    // without moves, none is ever empty
    AnyPipeline(const AnyPipeline&) = default;
    AnyPipeline& operator=(const AnyPipeline&) = default;
    ~AnyPipeline() = default;

    // what back ends call, as of `Pipeline`
    /// As Pipeline::run.
    void run(Workspace& workspace) const { model_->run(workspace); }
    /// As Pipeline::commit.
    void commit(Workspace& workspace) const { model_->commit(workspace); }
    /// As Pipeline::prices.
    Prices prices() const { return model_->prices(); }
    /// As Pipeline::cache_rules.
    CacheRules cache_rules() const { return model_->cache_rules(); }
    /// As Pipeline::append_why_closed.
    void append_why_closed(const Transcript& transcript, const detail::Timing& timing, std::string& why) const {
        model_->append_why_closed(transcript, timing, why);
    }

private:
    struct Interface {
        Interface() = default;
        Interface(const Interface&) = delete;
        Interface& operator=(const Interface&) = delete;
        virtual ~Interface() = default;
        virtual void run(Workspace& workspace) const = 0;
        virtual void commit(Workspace& workspace) const = 0;
        virtual Prices prices() const = 0;
        virtual CacheRules cache_rules() const = 0;
        virtual void append_why_closed(const Transcript& transcript, const detail::Timing& timing,
                                       std::string& why) const = 0;
    };

    template <pipeline_like P>
    struct Model final : Interface {
        explicit Model(P chosen) : pipeline(std::move(chosen)) {}
        void run(Workspace& workspace) const override { pipeline.run(workspace); }
        void commit(Workspace& workspace) const override { pipeline.commit(workspace); }
        Prices prices() const override { return pipeline.prices(); }
        CacheRules cache_rules() const override { return pipeline.cache_rules(); }
        void append_why_closed(const Transcript& transcript, const detail::Timing& timing,
                               std::string& why) const override {
            pipeline.append_why_closed(transcript, timing, why);
        }
        P pipeline;
    };

    std::shared_ptr<const Interface> model_;
};
static_assert(pipeline_like<AnyPipeline>);

}  // namespace coppice
