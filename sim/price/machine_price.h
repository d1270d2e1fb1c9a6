#pragma once

// Prices of a graph as a measured machine runs it (core/machine/machine_times.h): kernel by kernel as they were
// measured, copies, updates and transfers by their lines.
//
//     compute op    sum of its kernels' times
//     copies        pieces x start + bytes x perByte; FSDP packs and unpacks a piece for each parameter (and part),
//                   other copies are one
//     collectives   line of the group's size, from the last rank's arrival on
//
// Ranks beyond the cores share them: with r ranks at work on c < r cores, everything that computes takes r / c as long.

#include "core/base/result.h"
#include "core/graph/step_graph.h"
#include "core/machine/machine_times.h"
#include "core/model/model.h"
#include "sim/price/prices.h"

namespace shardscope::sim {

/// Ranks that compute at the same time: one of each pipeline of naive placement, all others.
[[nodiscard]] std::int64_t ranksAtWork(const core::StepGraph& graph);

/// Errors: a kernel or a size of group that was not measured; the hint says how to.
[[nodiscard]] core::Result<Prices> priceOnMachine(const core::StepGraph& graph, const core::Model& model,
                                                  const core::MachineTimes& machine);

}  // namespace shardscope::sim
