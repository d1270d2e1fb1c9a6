#pragma once

// The fast engine: one class whose transfers all take the whole class and share one communicator, any number of ranks
// with clocks of their own. It gives what the event engine gives, to the nanosecond, in time proportional to ranks x
// ops.
//
// Why no event queue is needed. Ops are taken in a fixed order in which every transfer that does not depend on compute
// op C comes before C. When C is priced, all transfers that may run beside it are known, and those that depend on it
// start after it on every rank. A transfer starts for all ranks at once, so only the latest arrival is needed; between
// transfers, each rank is on its own. The transfers found, every rank can be replayed apart from the others.
//
// A clock that is the same on all ranks is kept as one number. So one rank that stands for a whole class costs no more
// than its ops, and ranks that differ only in their start offsets cost little more once a transfer has brought them
// together.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "sim/engine/clocks.h"
#include "sim/engine/op_instants.h"
#include "sim/engine/shared_instants.h"
#include "sim/engine/static_order.h"
#include "sim/engine/wiring.h"
#include "sim/price/prices.h"
#include "traces/timeline/breakdown.h"

namespace shardscope::sim {

struct ClockRun {
    SharedInstants shared;                       ///< transfers, and what all ranks do at the same time
    std::vector<timeline::Breakdown> breakdown;  ///< by rank, over [0, end)
    std::int64_t end = 0;                        ///< end of the last op of all ranks
};

class ClockEngine {
public:
    /// Empty if `ranks` ranks of this graph can be run here; otherwise why not, in words.
    [[nodiscard]] static std::string refusal(const core::StepGraph& graph, const Wiring& wiring, std::int64_t ranks);

    /// Prepares the order of a graph that is not refused. Neither the graph nor the wiring is kept.
    ClockEngine(const core::StepGraph& graph, const Wiring& wiring);

    /// Runs all ranks. The prices belong to the graph (checkClocks); slowNum = slowDen = 1 switches contention off.
    [[nodiscard]] ClockRun run(const Prices& prices, const Clocks& clocks) const;

    /// All instants of one rank of a finished run, by position in the class.
    [[nodiscard]] OpInstants replay(const ClockRun& run, const Prices& prices, const Clocks& clocks,
                                    std::int64_t rank) const;

private:
    StaticOrder m_order;
};

}  // namespace shardscope::sim
