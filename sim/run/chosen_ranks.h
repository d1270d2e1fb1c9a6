#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/graph/step_graph.h"
#include "sim/run/simulate.h"
#include "traces/timeline/breakdown.h"

namespace shardscope::sim {

struct ChosenRank {
    std::int64_t rank = 0;
    core::ClassId rankClass;
    std::string name;
};

/// The ranks whose instants a run keeps, by rank number; `breakdown` is by rank. See RunOptions.
[[nodiscard]] std::vector<ChosenRank> chooseRanks(const core::StepGraph& graph,
                                                  std::span<const timeline::Breakdown> breakdown,
                                                  const RunOptions& options);

}  // namespace shardscope::sim
