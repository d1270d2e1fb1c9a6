#pragma once

// Which of the values behind the prices of a graph are of low confidence, in words.

#include <string>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/graph/step_graph.h"
#include "core/model/model.h"

namespace shardscope::sim {

[[nodiscard]] std::vector<std::string> caveatsOf(const core::StepGraph& graph, const core::Model& model,
                                                 const core::Cluster& cluster);

}  // namespace shardscope::sim
