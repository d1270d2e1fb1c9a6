#pragma once

// Training on the processor: what is to be trained, and what comes of it. Here ranks are threads of this process, each
// running its program of the graph on a device of its own; runtime/launch makes them processes.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/build.h"
#include "core/model/spec.h"
#include "runtime/communicator/artificial_link.h"
#include "runtime/data/image_set.h"
#include "runtime/device/device_kind.h"
#include "runtime/executor/executor.h"
#include "runtime/train/initial_values.h"
#include "runtime/train/learning_rate.h"
#include "runtime/train/step_times.h"
#include "traces/timeline/breakdown.h"
#include "traces/timeline/timeline.h"

namespace shardscope::runtime {

enum class TrainingData : std::uint8_t {
    Images,   ///< TrainConfig::images, shuffled anew in every epoch
    Formula,  ///< the images of the reference vectors, the same batch in every step
};

/// What one rank did in one step.
struct RankStep {
    std::int64_t rank = 0, step = 0;
    std::optional<double> loss;           ///< mean over the micro-batches; none on ranks that compute none
    std::int64_t beginNs = 0, endNs = 0;  ///< of the ranks' clock
    std::int64_t exposedNs = 0;           ///< transfers moved bytes while nothing computed
    std::int64_t waitingNs = 0;           ///< its collectives and messages waited for the others
    std::int64_t peakBytes = 0;           ///< largest sum of all categories after an op
};

struct TrainConfig {
    DeviceKind device = DeviceKind::Reference;
    ArtificialLink link = {};  ///< between all ranks
    core::ModelSpec model;
    core::Plan plan;
    /// Samples of a micro-batch of one rank. The global batch is batch x plan.microBatches x data-parallel ranks.
    std::int64_t batch = 1;
    core::Workload::AttentionKind attention = core::Workload::AttentionKind::Flash;
    core::Workload::Dropout dropout = core::Workload::Dropout::Config;
    bool cpuRules = false, autocast = false;  ///< as in core::Workload
    std::vector<std::string> frozen = {};     ///< modules and parameters that are not trained
    std::int64_t steps = 5;
    OptimizerSettings optimizer;
    LearningRateSchedule schedule = LearningRateSchedule::Constant;
    std::uint32_t seed = 0;
    TrainingData data = TrainingData::Images;
    /// Null: generated ones (GreyShapes), as large as the model takes them.
    std::shared_ptr<const ImageSet> images = nullptr;
    bool setEpoch = true;  ///< the sampler is told each epoch; else each has the order of the first one

    // For callers with values of their own; all may be empty.
    std::optional<ParameterValues> parameters;
    /// Samples [first, first + count) of the global batch of a step. Called from the ranks' threads.
    std::function<core::Result<Batch>(std::int64_t step, std::int64_t first, std::int64_t count)> samples;
    /// Run this graph instead of the plan's own.
    const core::StepGraph* graph = nullptr;
    /// After each op, from the rank's own thread.
    std::function<void(std::int64_t rank, std::int64_t step, core::OpId op, const LiveBytes& live)> launched;
    /// After each step of each rank, from its own thread.
    std::function<void(const RankStep& step)> progress;
    bool keepGradients = false;   ///< of the last step, into the report
    bool keepParameters = false;  ///< after the last step
};

struct RankReport {
    std::int64_t rank = 0;
    std::string rankClass;       ///< "all ranks", "stage 2"
    LiveBytes peak{};            ///< largest live bytes of every category after an op, over all steps
    std::int64_t peakTotal = 0;  ///< largest sum of all categories at one moment, after an op
    LiveBytes atEnd{};           ///< after the last step
    StepTimes typical;           ///< medians over the steps
};

/// A rank's clock against that of rank 0's machine, in nanoseconds.
struct RankClock {
    std::int64_t offset = 0;    ///< what was added to its instants, at the start
    std::int64_t residual = 0;  ///< how far exchanges lie from the straight line through them at most
    double driftPerSecond = 0;
};

struct TrainReport {
    std::vector<double> losses;  ///< by step: mean over ranks and micro-batches, before the update
    /// By step: from the first rank's begin to the last one's end; where ranks began while others were still at the
    /// step before, from the end of that one, so that no time counts twice.
    std::vector<std::int64_t> stepNs;
    std::vector<RankReport> ranks;
    timeline::Timeline timeline;                 ///< of the last step, one lane a stream of every rank
    std::vector<timeline::Breakdown> breakdown;  ///< of the last step, by rank
    ParameterValues gradients, parameters;       ///< whole, put together from the ranks' own parts; see keep...
    std::int64_t globalBatch = 0;
    std::uint64_t graphHash = 0;
    std::vector<RankClock> clocks;  ///< by rank; empty where ranks are threads, which have one clock
};

/// What the model's programs are made for. An evaluation drops nothing.
[[nodiscard]] core::Workload workloadOf(const TrainConfig& config);

/// How many images are generated where none are given; at least what a step takes.
[[nodiscard]] std::int64_t generatedImages(std::int64_t globalBatch);

/// Builds model and graph, trains, reports. Errors: whatever building or a rank refuses; `where` names the rank.
[[nodiscard]] core::Result<TrainReport> trainSteps(const TrainConfig& config);

}  // namespace shardscope::runtime
