#pragma once

#include "core/graph/step_graph.h"
#include "sim/price/prices.h"
#include "sim/run/simulate.h"
#include "traces/timeline/timeline.h"

namespace shardscope::sim {

/// The timeline of the ranks whose instants the result holds: a lane per stream that the class uses; a span per op,
/// also where it costs nothing, with unit, phase, micro-batch, payload, arrival and transfer start; a flow per edge of
/// the graph (stream order aside). Between ranks, Peer flows lead from a Send to its Receive, and from the member of a
/// collective that arrived last, if it is among these ranks, to the others. `issued` is the host's release. Arranged.
[[nodiscard]] timeline::Timeline toTimeline(const core::StepGraph& graph, const core::Model& model,
                                            const Prices& prices, const StepResult& result,
                                            const RunOptions& options = {});

}  // namespace shardscope::sim
