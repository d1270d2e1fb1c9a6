#pragma once

// What the graph makes its ops wait for, as flows between the spans of a timeline, simulated or executed.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/step_graph.h"
#include "traces/timeline/timeline.h"

namespace shardscope::timeline {

/// A rank of a timeline, or the first of identical ones, with the span of each of its ops.
struct RankOps {
    std::int64_t rank = 0;  ///< as core::Mesh numbers them
    core::ClassId rankClass;
    std::vector<std::uint32_t> span;  ///< by op id minus the class's opBegin; kNoIndex: not in the timeline
};

/// Appends a flow for each edge of the graph, stream order aside, and Peer flows between ranks: from a Send to its
/// Receive, and from the member of a collective that arrived last to the others. `all`: every rank of the graph is
/// among `ranks`; otherwise one that is not may have arrived later still, and there is a flow only where the transfer
/// began as the last one shown arrived.
void addGraphFlows(const core::StepGraph& graph, std::span<const RankOps> ranks, bool all, Timeline& timeline);

}  // namespace shardscope::timeline
