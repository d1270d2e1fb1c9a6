#pragma once

// Copies of a frozen graph in which something was taken out or moved. They are consistent in themselves, ids renumbered
// and without edges, so that nothing but the state of the data can tell the executor that something is wrong.

#include <algorithm>
#include <vector>

#include "core/graph/step_graph.h"

namespace shardscope::runtime::testing {

inline core::StepGraph withoutEdges(core::StepGraph graph) {
    graph.edges.clear();
    graph.edgeBegin.assign(graph.ops.size() + 1, 0);
    return graph;
}

inline core::StepGraph withoutOp(const core::StepGraph& original, core::OpId removed) {
    core::StepGraph graph = original;
    graph.ops.erase(graph.ops.begin() + static_cast<std::ptrdiff_t>(removed.index()));
    std::uint32_t launch = 0;
    while (graph.actions[launch].kind != core::HostActionKind::Launch || graph.actions[launch].op != removed) ++launch;
    graph.actions.erase(graph.actions.begin() + launch);
    const auto moved = [&](core::OpId op) { return op.valid() && op > removed ? core::OpId(op.index() - 1) : op; };
    for (core::HostAction& action : graph.actions) action.op = moved(action.op);
    for (core::Block& block : graph.blocks) {
        block.firstUse = moved(block.firstUse);
        block.lastUse = moved(block.lastUse);
    }
    for (core::RankClass& rankClass : graph.classes) {
        for (std::uint32_t* bound : {&rankClass.opBegin, &rankClass.opEnd})
            if (*bound > removed.value) --*bound;
        for (std::uint32_t* bound : {&rankClass.actionBegin, &rankClass.actionEnd})
            if (*bound > launch) --*bound;
    }
    return withoutEdges(std::move(graph));
}

/// The two ops are issued in each other's place.
inline core::StepGraph withSwapped(const core::StepGraph& original, core::OpId a, core::OpId b) {
    core::StepGraph graph = original;
    for (core::HostAction& action : graph.actions) {
        if (action.kind != core::HostActionKind::Launch) continue;
        if (action.op == a)
            action.op = b;
        else if (action.op == b)
            action.op = a;
    }
    return withoutEdges(std::move(graph));
}

/// Ops of that kind, in order of issue.
inline std::vector<core::OpId> opsOfKind(const core::StepGraph& graph, core::OpKind kind) {
    std::vector<core::OpId> ops;
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        if (graph.ops[i].kind == kind) ops.emplace_back(i);
    return ops;
}

}  // namespace shardscope::runtime::testing
