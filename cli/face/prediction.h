#pragma once

// A run beside what was predicted for it: the graph that ran, priced with this machine's measured times and simulated.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/document.h"
#include "core/graph/step_graph.h"
#include "core/machine/machine_times.h"
#include "core/model/model.h"
#include "runtime/train/train.h"
#include "traces/timeline/breakdown.h"
#include "traces/timeline/timeline.h"

namespace shardscope::cli {

struct PredictedRun {
    std::int64_t step = 0;                       ///< ns
    timeline::Timeline timeline;                 ///< a row for each rank or class of ranks
    std::vector<timeline::Breakdown> breakdown;  ///< by row of the timeline
    std::int64_t peak = 0;                       ///< bytes in host order, of the rank with most
};
/// Errors: what the machine's times lack.
[[nodiscard]] core::Result<PredictedRun> predictRun(const core::StepGraph& graph, const core::Model& model,
                                                    const core::MachineTimes& machine);

/// One figure, predicted and measured: nanoseconds, or bytes.
struct PredictedFigure {
    std::string what;
    double predicted = 0, measured = 0;
    bool bytes = false;

    /// predicted / measured - 1; 0 where both are nothing.
    [[nodiscard]] double error() const;
};

/// The step (measured: the median; where there are more than two, without the first two, which make kernels and touch
/// memory for the first time);
/// of a mean rank the five times and, by activity, how long ops took (transfers from the last member's arrival on); the
/// largest peak.
[[nodiscard]] std::vector<PredictedFigure> figuresOf(const PredictedRun& predicted,
                                                     const runtime::TrainReport& measured);

[[nodiscard]] std::string predictionText(const std::vector<PredictedFigure>& figures);
[[nodiscard]] core::Document predictionDocument(const std::vector<PredictedFigure>& figures);

}  // namespace shardscope::cli
