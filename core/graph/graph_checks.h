#pragma once

// What must hold before a StepGraph is frozen. Used by GraphBuilder::freeze, by the engines, and by tests on graphs
// that were changed. A graph that breaks it was built wrong: errors are of code Internal.

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/graph/step_graph.h"

namespace shardscope::core {

/// Collectives, sends and receives: what stands in a communicator's queue.
[[nodiscard]] constexpr bool isTransfer(OpKind kind) {
    return kind == OpKind::AllGather || kind == OpKind::ReduceScatter || kind == OpKind::AllReduce ||
           kind == OpKind::Send || kind == OpKind::Receive;
}

/// Ops of different classes that are one transfer have one number; every other op has its own. By op.
struct TransferPairs {
    std::vector<std::uint32_t> vertexOf;
    std::uint32_t vertices = 0;
};

/// Ids in range: streams, units, groups, blocks, ops of actions; ops and actions lie class by class and every op is
/// launched exactly once, in its order.
[[nodiscard]] Result<void> checkReferences(const StepGraph& graph);
/// Edges fit the ops, and lead from an op of the same class.
[[nodiscard]] Result<void> checkEdges(const StepGraph& graph);
/// Every block that is not persistent is allocated once, used, and released once after its first use was launched.
/// OptimizerState may stay: the first step makes it.
[[nodiscard]] Result<void> checkBlocks(const StepGraph& graph);
/// Classes that share a communicator issue the same sequence on it: collectives of the same kind, group, bytes and
/// dtype position by position, and a Send opposite the Receive with the same `match` and bytes.
[[nodiscard]] Result<TransferPairs> pairTransfers(const StepGraph& graph);
/// No op waits for itself, over the edges and with every transfer as one vertex.
[[nodiscard]] Result<void> checkAcyclic(const StepGraph& graph, const TransferPairs& pairs);
/// Of everything in the graph except the hash itself.
[[nodiscard]] std::uint64_t hashOf(const StepGraph& graph);
/// "op 17 (all-gather, unit blocks.3)": for messages, without a model.
[[nodiscard]] std::string describeOp(const StepGraph& graph, OpId op);

}  // namespace shardscope::core
