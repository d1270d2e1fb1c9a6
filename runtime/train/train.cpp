#include "runtime/train/train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "core/plan/sharding.h"
#include "runtime/communicator/thread_communicator.h"
#include "runtime/data/grey_shapes.h"
#include "runtime/data/sample_order.h"
#include "runtime/executor/rank_map.h"
#include "runtime/train/step_timeline.h"

namespace shardscope::runtime {

using core::Result;

namespace {

/// What the threads of the ranks share; each writes its own slots.
struct Training {
    const TrainConfig& config;
    const core::Model& model;
    const core::StepGraph& graph;
    const ParameterValues& initial;
    const ImageSet* images = nullptr;  ///< null: the samples come from elsewhere
    std::int64_t globalBatch = 0;
    std::vector<std::vector<StepOutcome>> outcomes;      ///< [rank][step]; op times of the last step only
    std::vector<RankReport> reports;                     ///< by rank
    std::vector<ParameterValues> gradients, parameters;  ///< by rank: own parts
};

/// The samples of one rank, from wherever the configuration takes them.
class RankSamples {
public:
    static Result<RankSamples> create(const Training& training, std::int64_t dataRank) {
        const core::Mesh& mesh = training.graph.plan.mesh;
        const std::int64_t ofStep = training.config.batch * training.graph.plan.microBatches;
        RankSamples samples(training, dataRank);
        if (training.images != nullptr) {
            SHARDSCOPE_ASSIGN(samples.m_order, SampleOrder::create(training.images->size(),
                                                                   {mesh.dpReplicate * mesh.dpShard, dataRank, ofStep},
                                                                   training.config.setEpoch));
        }
        return samples;
    }

    Result<Batch> of(std::int64_t step, std::uint16_t microBatch) {
        const TrainConfig& config = m_training->config;
        if (m_order) {
            const auto count = static_cast<std::size_t>(config.batch);
            const auto* vit = std::get_if<core::VitSpec>(&config.model);
            return batchOf(*m_training->images, m_order->indicesOf(step).subspan(microBatch * count, count),
                           vit->channels);
        }
        const std::int64_t first = (m_dataRank * m_training->graph.plan.microBatches + microBatch) * config.batch;
        if (config.samples) return config.samples(step, first, config.batch);
        return formulaBatch(*std::get_if<core::VitSpec>(&config.model), first, config.batch);
    }

private:
    RankSamples(const Training& training, std::int64_t dataRank) : m_training(&training), m_dataRank(dataRank) {}

    const Training* m_training;
    std::int64_t m_dataRank;
    std::optional<SampleOrder> m_order;
};

Result<void> trainRank(Training& training, ThreadWorld& world, std::int64_t rank) {
    const TrainConfig& config = training.config;
    const RankMap place{training.graph.plan.mesh, rank};
    const auto index = static_cast<std::size_t>(rank);
    const std::unique_ptr<Device> owned = deviceOf(config.device);
    Device& device = *owned;
    const auto communicators = [&](const std::string& name, const std::vector<std::int64_t>& members) {
        return world.communicator(name, members, rank);
    };
    SHARDSCOPE_ASSIGN(const std::unique_ptr<Executor> executor,
                      Executor::create(training.model, training.graph, rank, device, communicators, config.optimizer));
    for (std::size_t p = 0; p < training.initial.size(); ++p)
        SHARDSCOPE_TRY(executor->loadParameter(core::ParameterId(p), training.initial[p]));

    RankReport& report = training.reports[index];
    report.rank = rank;
    report.rankClass = executor->rankClass().name;
    report.peak = device.liveBytes();
    SHARDSCOPE_ASSIGN(RankSamples samples, RankSamples::create(training, place.dataRank()));
    for (std::int64_t step = 0; step < config.steps; ++step) {
        StepObserver observer;
        observer.launched = [&](core::OpId op, const LiveBytes& live) {
            for (std::size_t c = 0; c < live.size(); ++c) report.peak[c] = std::max(report.peak[c], live[c]);
            report.peakTotal = std::max(report.peakTotal, std::accumulate(live.begin(), live.end(), std::int64_t{0}));
            if (config.launched) config.launched(rank, step, op, live);
        };
        if (config.keepGradients && step + 1 == config.steps)
            observer.beforeOptimizer = [&](Executor& running) -> Result<void> {
                ParameterValues& own = training.gradients[index];
                for (std::size_t p = 0; p < own.size(); ++p) {
                    SHARDSCOPE_ASSIGN(own[p], running.ownGradient(core::ParameterId(p)));
                }
                return {};
            };
        const auto batches = [&](std::uint16_t microBatch) { return samples.of(step, microBatch); };
        SHARDSCOPE_ASSIGN(StepOutcome outcome, executor->runStep(batches, observer));
        if (config.progress && !outcome.losses.empty())
            config.progress(rank, step,
                            std::accumulate(outcome.losses.begin(), outcome.losses.end(), 0.0) /
                                static_cast<double>(outcome.losses.size()));
        if (step + 1 < config.steps) outcome.times.clear();
        training.outcomes[index].push_back(std::move(outcome));
    }
    report.atEnd = device.liveBytes();
    if (config.keepParameters)
        for (std::size_t p = 0; p < training.parameters[index].size(); ++p) {
            SHARDSCOPE_ASSIGN(training.parameters[index][p], executor->ownParameter(core::ParameterId(p)));
        }
    return {};
}

/// Whole values from the ranks' own parts: shards lie in rank order along dim 0, or side by side along dim 1. Of stages
/// that hold the same (tied) parameter the first counts.
ParameterValues wholeOf(const Training& training, const std::vector<ParameterValues>& parts) {
    const core::Plan& plan = training.graph.plan;
    ParameterValues whole(training.model.parameters.size());
    for (std::size_t p = 0; p < whole.size(); ++p) {
        const auto elements = static_cast<std::size_t>(core::elementsOf(training.model.parameters[p].shape));
        for (std::size_t rank = 0; rank < parts.size() && whole[p].size() < elements; ++rank) {
            if (plan.policy != core::UnitPolicy::Fsdp && !whole[p].empty()) break;
            whole[p].insert(whole[p].end(), parts[rank][p].begin(), parts[rank][p].end());
        }
        const core::Parameter& parameter = training.model.parameters[p];
        if (plan.policy != core::UnitPolicy::Fsdp || whole[p].size() < elements ||
            !core::cutOnDim1(plan, parameter.name, parameter.shape))
            continue;
        const auto rows = static_cast<std::size_t>(parameter.shape.front()),
                   shards = static_cast<std::size_t>(plan.mesh.dpShard);
        const std::size_t width = elements / rows / shards;
        std::vector<float> side(elements);
        for (std::size_t s = 0; s < shards; ++s)
            for (std::size_t r = 0; r < rows; ++r)
                std::copy_n(whole[p].begin() + static_cast<std::ptrdiff_t>((s * rows + r) * width), width,
                            side.begin() + static_cast<std::ptrdiff_t>((r * shards + s) * width));
        whole[p] = std::move(side);
    }
    return whole;
}

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
    constexpr std::int64_t kMostThreads = 256;
    if (config.plan.mesh.size() > kMostThreads)
        return core::fail(
            core::ErrorCode::Unsupported,
            fmt::format("{} ranks, the reference device runs at most {}", config.plan.mesh.size(), kMostThreads), {},
            "simulate larger worlds instead");
    return {};
}

/// What is trained on; null where the caller gives samples, or the formula does. Errors: no images for this model.
Result<std::shared_ptr<const ImageSet>> imagesOf(const TrainConfig& config, const core::Model& model,
                                                 std::int64_t globalBatch) {
    if (config.samples) return nullptr;
    const auto* vit = std::get_if<core::VitSpec>(&config.model);
    if (vit != nullptr && config.data == TrainingData::Formula) return nullptr;
    if (vit != nullptr) {
        std::shared_ptr<const ImageSet> images = config.images;
        if (images == nullptr && vit->imageSize < GreyShapes::kLeastSide)
            return core::fail(core::ErrorCode::Unsupported,
                              fmt::format("images of {0} x {0} pixels; the generated ones have at least {1} x {1}",
                                          vit->imageSize, GreyShapes::kLeastSide),
                              model.name, "use larger images (model.image_size)");
        if (images == nullptr)
            images = std::make_shared<GreyShapes>(Split::Train, generatedImages(globalBatch), vit->imageSize);
        SHARDSCOPE_TRY(checkImages(*images, *vit));
        return images;
    }
    return core::fail(core::ErrorCode::Unsupported, "the built-in samples are images, and this model takes no images",
                      model.name, "train a vision transformer (shardscope models), or simulate this model");
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

void reportSteps(const Training& training, TrainReport& report) {
    for (std::size_t step = 0; step < static_cast<std::size_t>(training.config.steps); ++step) {
        double sum = 0;
        std::size_t count = 0;
        std::int64_t begin = training.outcomes[0][step].begin, end = training.outcomes[0][step].end;
        for (const auto& ofRank : training.outcomes) {
            for (const double loss : ofRank[step].losses) sum += loss;
            count += ofRank[step].losses.size();
            begin = std::min(begin, ofRank[step].begin);
            end = std::max(end, ofRank[step].end);
        }
        report.losses.push_back(count == 0 ? 0 : sum / static_cast<double>(count));
        report.stepNs.push_back(end - begin);
    }
}

}  // namespace

std::int64_t generatedImages(std::int64_t globalBatch) {
    return std::max<std::int64_t>(40000, globalBatch);
}

Result<TrainReport> trainSteps(const TrainConfig& config) {
    SHARDSCOPE_TRY(checkConfig(config));
    core::Workload workload;
    workload.batch = config.batch;
    workload.dtype = config.plan.precision.compute();
    workload.attention = config.attention;
    workload.frozen = config.frozen;
    SHARDSCOPE_ASSIGN(const core::Model model, core::buildModel(config.model, workload));
    core::StepGraph built;
    if (config.graph == nullptr) {
        SHARDSCOPE_ASSIGN(built, core::buildStepGraph(model, config.plan));
    }
    const core::StepGraph& graph = config.graph == nullptr ? built : *config.graph;
    SHARDSCOPE_TRY(checkUnits(model, graph));
    const core::Mesh& mesh = graph.plan.mesh;
    const ParameterValues initial = config.parameters ? *config.parameters : initialParameters(model, config.seed);
    if (initial.size() != model.parameters.size())
        return core::fail(core::ErrorCode::Input, fmt::format("values for {} parameters, the model has {}",
                                                              initial.size(), model.parameters.size()));

    const auto ranks = static_cast<std::size_t>(mesh.size());
    const std::int64_t globalBatch = config.batch * graph.plan.microBatches * mesh.dpReplicate * mesh.dpShard;
    SHARDSCOPE_ASSIGN(const std::shared_ptr<const ImageSet> images, imagesOf(config, model, globalBatch));
    Training training{config, model, graph, initial, images.get(), globalBatch, {}, {}, {}, {}};
    training.outcomes.resize(ranks);
    training.reports.resize(ranks);
    training.gradients.assign(ranks, ParameterValues(model.parameters.size()));
    training.parameters = training.gradients;
    ThreadWorld world(mesh.size());
    SHARDSCOPE_TRY(world.run([&](std::int64_t rank) { return trainRank(training, world, rank); }));

    TrainReport report;
    report.globalBatch = training.globalBatch;
    report.graphHash = graph.hash;
    report.ranks = std::move(training.reports);
    reportSteps(training, report);
    std::vector<StepOutcome> last;
    for (auto& ofRank : training.outcomes) last.push_back(std::move(ofRank.back()));
    report.timeline = timelineOf(model, graph, last);
    report.breakdown = timeline::breakdownOf(report.timeline);
    if (config.keepGradients) report.gradients = wholeOf(training, training.gradients);
    if (config.keepParameters) report.parameters = wholeOf(training, training.parameters);
    return report;
}

}  // namespace shardscope::runtime
