#pragma once

// What the ops of a graph cost: one table beside the frozen graph. Whoever fills it (sim/price/price_graph.h, a test, a
// replay of given durations), the engine only reads it.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/quantities.h"

namespace shardscope::sim {

/// Integer nanoseconds by op, in the order of StepGraph::ops.
struct Prices {
    /// Device time with nothing beside it; for collectives and point-to-point the transfer alone.
    std::vector<std::int64_t> duration;
    /// Instant (from the rank's start) before which the host has not issued the op. Zero: an infinitely fast host.
    std::vector<std::int64_t> release;
    /// Compute that runs beside a transfer of its own rank progresses at slowDen / slowNum of its speed (>= 1).
    std::int32_t slowNum = 1, slowDen = 1;
    /// By GroupId: the links that a transfer of the group occupies, one bit each. Transfers of one rank that run at the
    /// same time on a common link share it: each progresses at 1/k with k transfers there.
    std::vector<std::uint32_t> links;
    /// Values of low confidence that some price rests on; said with every answer.
    std::vector<std::string> caveats;
};

}  // namespace shardscope::sim
