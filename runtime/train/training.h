#pragma once

// What every rank of a training is given, made from the configuration alone: the same on every rank, whether ranks are
// threads of one process or processes of their own.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "core/model/model.h"
#include "runtime/data/image_set.h"
#include "runtime/train/initial_values.h"
#include "runtime/train/train.h"

namespace shardscope::runtime {

class Training {
public:
    /// Checks the configuration, builds model and graph. `config` must outlive it. Errors: whatever building refuses,
    /// images that the model does not take.
    static core::Result<std::unique_ptr<Training>> create(const TrainConfig& config);
    Training(const Training&) = delete;
    Training& operator=(const Training&) = delete;

    /// Makes the images where none were given. Before ranks are trained; a process that only puts the ranks' results
    /// together needs none of it.
    core::Result<void> loadValues();

    [[nodiscard]] const TrainConfig& config() const { return m_config; }
    [[nodiscard]] const core::Model& model() const { return m_model; }
    [[nodiscard]] const core::StepGraph& graph() const { return *m_graph; }
    /// The values to begin with, those of the configuration or made one parameter after another. Any thread. Errors:
    /// the first of `load`.
    [[nodiscard]] core::Result<void> eachInitial(
        const std::function<core::Result<void>(core::ParameterId, std::span<const float>)>& load) const;
    /// Null: the samples come from elsewhere.
    [[nodiscard]] const ImageSet* images() const { return m_images.get(); }
    [[nodiscard]] std::int64_t ranks() const { return m_graph->plan.mesh.size(); }
    [[nodiscard]] std::int64_t globalBatch() const { return m_globalBatch; }

private:
    explicit Training(const TrainConfig& config) : m_config(config) {}

    const TrainConfig& m_config;
    core::Model m_model;
    core::StepGraph m_built;
    const core::StepGraph* m_graph = nullptr;
    std::shared_ptr<const ImageSet> m_images;
    std::int64_t m_globalBatch = 0;
};

}  // namespace shardscope::runtime
