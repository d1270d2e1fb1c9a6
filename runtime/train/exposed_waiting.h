#pragma once

#include <cstdint>

#include "core/graph/step_graph.h"
#include "runtime/executor/executor.h"

namespace shardscope::runtime {

/// Nanoseconds of a rank's step in which a collective or receive waits for the others while nothing computes, copies or
/// moves: timeline::Breakdown's waiting, without a timeline.
[[nodiscard]] std::int64_t exposedWaiting(const core::StepGraph& graph, const StepOutcome& outcome);

}  // namespace shardscope::runtime
