#pragma once

// Prices of a graph as a measured machine runs it (core/machine/machine_times.h): kernel by kernel as they were
// measured, copies, updates and transfers by their lines.
//
//     compute op    sum of its kernels' times
//     copies        pieces x start + bytes x perByte; FSDP packs and unpacks a piece for each parameter (and part),
//                   other copies are one
//     collectives   as measured at their bytes among as many ranks, from the last one's arrival on, alone and beside
//                   kernels; an artificial link's time at least
//     host          op + calls of the device x call, one op after another; data before the first op that reads it
//
// Streams and hosts share the machine's cores, from which transfers take their processor time
// (sim/engine/core_engine.h).

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
