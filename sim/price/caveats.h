#pragma once

// Which of the values behind the prices of a graph are of low confidence, in words.

#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/graph/step_graph.h"
#include "core/model/model.h"
#include "sim/price/prices.h"

namespace shardscope::sim {

/// `prices`: made for this graph, model and cluster; its links tell which levels are in use.
[[nodiscard]] std::vector<std::string> caveatsOf(const core::StepGraph& graph, const core::Model& model,
                                                 const core::Cluster& cluster, const Prices& prices);

}  // namespace shardscope::sim
