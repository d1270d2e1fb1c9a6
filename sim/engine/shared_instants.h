#pragma once

// First pass of the clock engine: the instants that all ranks share (transfers), and every clock on which all ranks
// agree.

#include <cstdint>
#include <vector>

#include "sim/engine/clocks.h"
#include "sim/engine/op_instants.h"
#include "sim/engine/progress.h"
#include "sim/engine/static_order.h"
#include "sim/price/prices.h"

namespace shardscope::sim {

struct SharedInstants {
    Progress progress{1, 1, 0};          ///< transfers
    std::vector<Interval> at;            ///< by step: of the earliest rank; a transfer begins when it arrives
    std::vector<std::uint32_t> varying;  ///< steps whose start or end is not the same on all ranks, in order
    std::int64_t apart = 0;              ///< what varies is over by then, waiting for a transfer included
    std::int64_t finish = 0;             ///< end of the last op of all ranks
};

[[nodiscard]] SharedInstants findSharedInstants(const StaticOrder& order, const Prices& prices, const Clocks& clocks);

}  // namespace shardscope::sim
