#pragma once

// Where the time of each instance of an event run goes, by the timeline's own rules.

#include <span>
#include <vector>

#include "core/graph/step_graph.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/wiring.h"
#include "traces/timeline/breakdown.h"

namespace shardscope::sim {

/// By instance, over [0, run.end).
[[nodiscard]] std::vector<timeline::Breakdown> breakdownOfRun(const core::StepGraph& graph, const Wiring& wiring,
                                                              std::span<const Instance> instances, const EventRun& run);

}  // namespace shardscope::sim
