#include "runtime/train/training.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/data/grey_shapes.h"
#include "runtime/train/runnable.h"

namespace shardscope::runtime {

using core::Result;

namespace {

Result<void> checkConfig(const TrainConfig& config) {
    const auto positive = [](std::int64_t value, const char* what) -> Result<void> {
        if (value >= 1) return {};
        return core::fail(core::ErrorCode::Input, fmt::format("{} is {}, expected at least 1", what, value));
    };
    SHARDSCOPE_TRY(positive(config.batch, "the batch of a rank"));
    SHARDSCOPE_TRY(positive(config.steps, "the number of steps"));
    SHARDSCOPE_TRY(positive(config.plan.microBatches, "the number of micro-batches"));
    SHARDSCOPE_TRY(positive(config.plan.mesh.size(), "the number of ranks"));
    if (config.steps > 1 && config.plan.evaluation != config.plan.afterEvaluation)
        return core::fail(core::ErrorCode::Input,
                          fmt::format("{} steps of a kind that is followed by another kind", config.steps),
                          "[training] step_kind", "run one step, or choose train or evaluate");
    if (!(config.link.bandwidth >= 0 && config.link.latency >= 0))
        return core::fail(core::ErrorCode::Input,
                          fmt::format("a link of {:g} bytes/s and {:g} s, expected none below 0", config.link.bandwidth,
                                      config.link.latency));
    constexpr std::int64_t kMostThreads = 256;
    if (config.plan.mesh.size() > kMostThreads)
        return core::fail(core::ErrorCode::Unsupported,
                          fmt::format("{} ranks, this machine runs at most {}", config.plan.mesh.size(), kMostThreads),
                          {}, "simulate larger worlds instead");
    return {};
}

/// Refuses samples that the model does not take.
Result<void> checkSamples(const TrainConfig& config, const core::Model& model) {
    if (config.samples) return {};
    const auto* vit = std::get_if<core::VitSpec>(&config.model);
    if (vit == nullptr)
        return core::fail(core::ErrorCode::Unsupported,
                          "the built-in samples are images, and this model takes no images", model.name,
                          "train a vision transformer (shardscope models), or simulate this model");
    if (config.data == TrainingData::Formula) return {};
    if (config.images != nullptr) return checkImages(*config.images, *vit);
    if (vit->imageSize < GreyShapes::kLeastSide)
        return core::fail(core::ErrorCode::Unsupported,
                          fmt::format("images of {0} x {0} pixels; the generated ones have at least {1} x {1}",
                                      vit->imageSize, GreyShapes::kLeastSide),
                          model.name, "use larger images (model.image_size)");
    return {};
}

// A rank keeps its parameters in the memory of their units.
Result<void> checkUnits(const core::Model& model, const core::StepGraph& graph) {
    std::vector<bool> kept(model.parameters.size(), false);
    for (const core::Unit& unit : graph.units)
        for (const core::ParameterId p : unit.parameters) kept[p.index()] = true;
    const auto left = std::find(kept.begin(), kept.end(), false);
    if (left == kept.end()) return {};
    return core::fail(core::ErrorCode::Unsupported,
                      fmt::format("no unit holds '{}'; the reference execution keeps every parameter in a unit",
                                  model.parameters[static_cast<std::size_t>(left - kept.begin())].name),
                      "[parallelism] fsdp_wrap_root", "wrap the root too: fsdp_wrap_root = true");
}

}  // namespace

core::Workload workloadOf(const TrainConfig& config) {
    core::Workload workload;
    workload.batch = config.batch;
    workload.dtype = config.plan.precision.compute();
    workload.attention = config.attention;
    workload.dropout = config.plan.evaluation ? core::Workload::Dropout::Off : config.dropout;
    workload.cpuRules = config.cpuRules;
    workload.autocast = config.autocast;
    workload.frozen = config.frozen;
    return workload;
}

std::int64_t generatedImages(std::int64_t globalBatch) {
    return std::max<std::int64_t>(40000, globalBatch);
}

Result<std::unique_ptr<Training>> Training::create(const TrainConfig& config) {
    SHARDSCOPE_TRY(checkConfig(config));
    SHARDSCOPE_TRY(checkRunnable(config.plan));
    std::unique_ptr<Training> training(new Training(config));
    SHARDSCOPE_ASSIGN(training->m_model, core::buildModel(config.model, workloadOf(config)));
    if (config.graph == nullptr) {
        SHARDSCOPE_ASSIGN(training->m_built, core::buildStepGraph(training->m_model, config.plan));
    }
    training->m_graph = config.graph == nullptr ? &training->m_built : config.graph;
    SHARDSCOPE_TRY(checkUnits(training->m_model, *training->m_graph));
    if (config.parameters && config.parameters->size() != training->m_model.parameters.size())
        return core::fail(core::ErrorCode::Input,
                          fmt::format("values for {} parameters, the model has {}", config.parameters->size(),
                                      training->m_model.parameters.size()));
    SHARDSCOPE_TRY(checkSamples(config, training->m_model));
    const core::Mesh& mesh = training->m_graph->plan.mesh;
    training->m_globalBatch = config.batch * training->m_graph->plan.microBatches * mesh.dpReplicate * mesh.dpShard;
    return training;
}

Result<void> Training::loadValues() {
    if (m_config.samples || m_config.data == TrainingData::Formula) return {};
    m_images = m_config.images;
    if (m_images != nullptr) return {};
    const auto& vit = std::get<core::VitSpec>(m_config.model);
    auto images = std::make_shared<GreyShapes>(Split::Train, generatedImages(m_globalBatch), vit.imageSize);
    SHARDSCOPE_TRY(checkImages(*images, vit));
    m_images = std::move(images);
    return {};
}

Result<void> Training::eachInitial(
    const std::function<Result<void>(core::ParameterId, std::span<const float>)>& load) const {
    if (!m_config.parameters) return eachInitialParameter(m_model, m_config.seed, load);
    for (std::size_t p = 0; p < m_config.parameters->size(); ++p)
        SHARDSCOPE_TRY(load(core::ParameterId(p), (*m_config.parameters)[p]));
    return {};
}

}  // namespace shardscope::runtime
