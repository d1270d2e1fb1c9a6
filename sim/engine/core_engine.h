#pragma once

// The engine for ranks that share the cores of one machine (Prices::shared).
//
// A rank's streams are threads, and so is its host, which issues the ops one after another; each wants one core while
// it works. A transfer progresses by itself: as fast as it was measured alone where no rank computes, as fast as beside
// kernels where every rank does, and between the two in proportion. It takes its processor time from the cores
// meanwhile. What the transfers leave is shared evenly by all that want a core; where they want more than all cores, a
// twentieth is left nevertheless, and only then is more processor time handed out than there is. An op whose stream had
// nothing to do until now begins `wake` later, since a sleeping thread does not go on at once, and later still where
// the cores are taken. A transfer that is done before its link lets it sleeps until then.

#include <span>

#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "sim/engine/clocks.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/wiring.h"
#include "sim/price/prices.h"

namespace shardscope::sim {

/// Runs the graph; instances as for `runEvents`, and none stands for ranks that are not on the machine. The step ends
/// when every host has seen the end of its ops. Errors: as runEvents; prices without shared cores.
[[nodiscard]] core::Result<EventRun> runOnCores(const core::StepGraph& graph, const Wiring& wiring,
                                                const Prices& prices, std::span<const Instance> instances);

}  // namespace shardscope::sim
