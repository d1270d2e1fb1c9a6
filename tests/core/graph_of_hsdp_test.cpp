// HSDP: what FSDP2 does, and after each reduce-scatter an all-reduce over the replicas on a stream of its own
// (framework semantics 1.12). The recorded orders are held by check_schedules.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build.h"
#include "tests/checkers/support/recorded_case.h"

namespace shardscope::core {
namespace {

Plan hsdp(std::int64_t replicas, std::int64_t shard, DType reduce = DType::F32) {
    Plan plan;
    plan.mesh = {1, replicas, shard};
    plan.precision.param = DType::BF16;
    plan.precision.reduce = reduce;
    return plan;
}

StepGraph graphOf(const Plan& plan) {
    return buildStepGraph(checkers::toyModel({}, plan.precision.compute()).value(), plan).value();
}

std::vector<OpId> opsOf(const StepGraph& graph, OpKind kind) {
    std::vector<OpId> ids;
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        if (graph.ops[i].kind == kind) ids.push_back(OpId(i));
    return ids;
}

TEST(HsdpGraph, AllReducesTheShareOfEveryUnit) {
    const StepGraph graph = graphOf(hsdp(4, 2));
    const auto scatters = opsOf(graph, OpKind::ReduceScatter), sums = opsOf(graph, OpKind::AllReduce);
    ASSERT_EQ(sums.size(), scatters.size());
    ASSERT_EQ(sums.size(), graph.units.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const Op &scatter = graph.ops[scatters[i].index()], &sum = graph.ops[sums[i].index()];
        EXPECT_EQ(sum.unit, scatter.unit);
        EXPECT_EQ(sum.bytes.value * 2, scatter.bytes.value);
        EXPECT_TRUE(sum.average);
        EXPECT_NE(sum.stream, scatter.stream);
        const Group& group = graph.groups[sum.group.index()];
        EXPECT_EQ(group.size, 4);
        EXPECT_EQ(group.stride, 2) << "replicas of one shard are two ranks apart";
        EXPECT_NE(group.communicator, graph.groups[scatter.group.index()].communicator);
        EXPECT_TRUE(std::ranges::any_of(graph.waitsOf(sums[i]), [&](const Edge& e) { return e.from == scatters[i]; }));
    }
    EXPECT_EQ(graph.classes.front().multiplicity, 8);
    EXPECT_TRUE(opsOf(graphOf(hsdp(1, 2)), OpKind::AllReduce).empty());
}

// Framework semantics 1.10: fp16 is summed, divided by both groups together: before the reduce-scatter, and after the
// all-reduce.
TEST(HsdpGraph, DividesHalfPrecisionByAllRanks) {
    const StepGraph graph = graphOf(hsdp(2, 4, DType::F16));
    const auto before = opsOf(graph, OpKind::PreDivide), after = opsOf(graph, OpKind::PostDivide);
    ASSERT_EQ(before.size(), graph.units.size());
    ASSERT_EQ(after.size(), graph.units.size());
    EXPECT_EQ(graph.ops[before[0].index()].factor, 4);
    EXPECT_EQ(graph.ops[after[0].index()].factor, 2);
    EXPECT_LT(opsOf(graph, OpKind::AllReduce)[0], after[0]);
    EXPECT_FALSE(graph.ops[opsOf(graph, OpKind::AllReduce)[0].index()].average);
}

// Where the reduced share is no gradient yet (another dtype), it stays until the end of backward; otherwise it is the
// gradient's own memory.
TEST(HsdpGraph, KeepsTheReducedSharesToTheEndOfBackward) {
    const auto sharesAtTheEnd = [](DType reduce) {
        const StepGraph graph = graphOf(hsdp(2, 2, reduce));
        std::int64_t live = 0, most = 0;
        for (const HostAction& action : graph.actionsOf(graph.classes.front())) {
            if (!action.block.valid()) continue;
            const Block& block = graph.blocks[action.block.index()];
            if (block.category != MemoryCategory::ReduceBuffers || !block.firstUse.valid() ||
                graph.ops[block.firstUse.index()].kind != OpKind::ReduceScatter)
                continue;
            live += action.kind == HostActionKind::Allocate ? 1 : action.kind == HostActionKind::Release ? -1 : 0;
            most = std::max(most, live);
        }
        EXPECT_EQ(live, 0);
        return most;
    };
    EXPECT_EQ(sharesAtTheEnd(DType::BF16), static_cast<std::int64_t>(graphOf(hsdp(2, 2)).units.size()));
    EXPECT_EQ(sharesAtTheEnd(DType::F32), 0);
}

// PyTorch keeps what was all-reduced until the unit's next reduction takes its place, or the end of the last backward
// (framework semantics 1.12, 1.19).
TEST(HsdpGraph, KeepsOneSummedShareOfEveryUnitFromOneMicroBatchToTheNext) {
    for (const std::int64_t shard : {1, 2}) {
        Plan plan = hsdp(2, shard);
        plan.microBatches = 3;
        plan.fsdp.lastBackwardOnly = true;
        const auto graph = buildStepGraph(checkers::toyModel({}, plan.precision.compute()).value(), plan);
        ASSERT_TRUE(graph) << describe(graph.error());
    }
}

}  // namespace
}  // namespace shardscope::core
