#pragma once

// The timeline of an executed step.

#include <vector>

#include "core/graph/step_graph.h"
#include "runtime/executor/executor.h"
#include "traces/timeline/timeline.h"

namespace shardscope::runtime {

/// One row of lanes per rank, in the order of `outcomes`; instants count from the earliest begin.
[[nodiscard]] timeline::Timeline timelineOf(const core::Model& model, const core::StepGraph& graph,
                                            const std::vector<StepOutcome>& outcomes);

}  // namespace shardscope::runtime
