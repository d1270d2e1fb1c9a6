#pragma once

// Where a rank's steps go. Each step is reduced to its sums when it ends, and the steps to their medians, so that a
// long run keeps no timeline but the last one's.

#include <cstdint>
#include <vector>

#include "core/graph/step_graph.h"
#include "runtime/executor/executor.h"
#include "traces/timeline/activity_times.h"
#include "traces/timeline/breakdown.h"

namespace shardscope::runtime {

/// The first steps make kernels and touch memory for the first time: they are no measure where there are more.
inline constexpr std::size_t kWarmUpSteps = 2;

struct StepTimes {
    timeline::Breakdown breakdown;
    timeline::ActivityTimes activities{};
    friend bool operator==(const StepTimes&, const StepTimes&) = default;
};

[[nodiscard]] StepTimes stepTimesOf(const core::StepGraph& graph, const StepOutcome& outcome);

/// Each figure's median over the steps after the warm-up (all steps, where there are no more). The five times of such a
/// step need not add up to its length: they are medians of their own.
[[nodiscard]] StepTimes medianTimes(const std::vector<StepTimes>& steps);

}  // namespace shardscope::runtime
