// Prices of graphs that the policies build: what must hold whatever the plan.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/graph/build.h"
#include "core/model/named_decoders.h"
#include "core/model/spec.h"
#include "core/model/vit.h"
#include "sim/price/price_graph.h"

namespace shardscope::sim {
namespace {

core::Model vit(core::DType dtype, std::int64_t batch = 2) {
    core::Workload workload;
    workload.batch = batch;
    workload.dtype = dtype;
    return core::buildVit(core::namedVit("vit_b_16").value(), workload).value();
}

core::Plan planOf(core::StageSchedule schedule, core::UnitPolicy policy, std::int64_t pp, std::int64_t shard) {
    core::Plan plan;
    plan.schedule = schedule;
    plan.policy = policy;
    plan.mesh.pp = pp;
    plan.mesh.dpShard = shard;
    return plan;
}

core::StepGraph build(const core::Model& model, const core::Plan& plan) {
    auto graph = core::buildStepGraph(model, plan);
    EXPECT_TRUE(graph) << (graph ? "" : describe(graph.error()));
    return graph ? std::move(*graph) : core::StepGraph();
}

std::int64_t sumOf(const core::StepGraph& graph, const Prices& prices, core::OpKind kind) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        if (graph.ops[i].kind == kind) sum += prices.duration[i];
    return sum;
}

TEST(PricesOfPlans, EveryPlanComputesTheSameAndEachOpHasAPrice) {
    const core::Model model = vit(core::DType::F32);
    const core::Cluster cluster = core::makeCluster("a100-sxm-80gb").value();
    const core::StepGraph single = build(model, planOf(core::StageSchedule::Single, core::UnitPolicy::None, 1, 1));
    const std::int64_t compute = sumOf(single, priceGraph(single, model, cluster), core::OpKind::Compute);
    std::int64_t layers = 0;
    for (double seconds : layerSeconds(model, cluster)) layers += core::fromSeconds(seconds).ns;
    EXPECT_NEAR(static_cast<double>(compute), static_cast<double>(layers), 100);
    for (const core::Plan& plan : {planOf(core::StageSchedule::Single, core::UnitPolicy::Fsdp, 1, 4),
                                   planOf(core::StageSchedule::Naive, core::UnitPolicy::None, 4, 1)}) {
        const core::StepGraph graph = build(model, plan);
        const Prices prices = priceGraph(graph, model, cluster);
        ASSERT_EQ(prices.duration.size(), graph.ops.size());
        ASSERT_EQ(prices.release.size(), graph.ops.size());
        ASSERT_EQ(prices.links.size(), graph.groups.size());
        EXPECT_EQ(sumOf(graph, prices, core::OpKind::Compute), compute);
        for (std::size_t i = 0; i < graph.ops.size(); ++i) {
            const core::Op& op = graph.ops[i];
            const bool works = op.bytes.value > 0 || op.read.value > 0 || op.kernels.count > 0;
            if (op.kind != core::OpKind::ReduceCopyOut && works) {
                EXPECT_GT(prices.duration[i], 0) << nameOf(op.kind) << " " << i;
            }
        }
    }
}

TEST(PricesOfPlans, BothEndsOfAMessageHaveOnePriceAndDistantStagesPayTheNetwork) {
    const core::Model model = vit(core::DType::F32);
    const core::StepGraph graph = build(model, planOf(core::StageSchedule::Naive, core::UnitPolicy::None, 4, 1));
    const core::Cluster near = core::makeCluster("a100-sxm-80gb", "dgx-a100", 1, 4).value();
    const core::Cluster far = core::makeCluster("a100-sxm-80gb", "dgx-a100", 4, 1).value();
    const Prices inside = priceGraph(graph, model, near), across = priceGraph(graph, model, far);
    std::size_t sends = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        if (graph.ops[i].kind != core::OpKind::Send) continue;
        ++sends;
        for (std::size_t j = 0; j < graph.ops.size(); ++j) {
            if (j == i || graph.ops[j].match != graph.ops[i].match) continue;
            EXPECT_EQ(graph.ops[j].kind, core::OpKind::Receive);
            EXPECT_EQ(inside.duration[i], inside.duration[j]);
        }
        EXPECT_GT(across.duration[i], inside.duration[i]);
    }
    EXPECT_EQ(sends, 6u);  // three boundaries, activations and gradients
    std::size_t used = 0;
    for (std::size_t g = 0; g < graph.groups.size(); ++g) {
        if (inside.links[g] == 0) continue;
        ++used;
        EXPECT_NE(inside.links[g], across.links[g]);
    }
    EXPECT_EQ(used, 3u);
}

TEST(PricesOfPlans, MoreRanksShardTheOptimizerAndHalfTheBytesGatherFaster) {
    const core::Model full = vit(core::DType::F32), half = vit(core::DType::BF16);
    const core::Cluster cluster = core::makeCluster("h100-sxm", "dgx-h100", 2).value();
    core::Plan plan = planOf(core::StageSchedule::Single, core::UnitPolicy::Fsdp, 1, 2);
    const core::StepGraph two = build(full, plan);
    plan.mesh.dpShard = 16;
    const core::StepGraph sixteen = build(full, plan);
    EXPECT_LT(sumOf(sixteen, priceGraph(sixteen, full, cluster), core::OpKind::OptimizerStep),
              sumOf(two, priceGraph(two, full, cluster), core::OpKind::OptimizerStep));
    EXPECT_GT(sumOf(sixteen, priceGraph(sixteen, full, cluster), core::OpKind::AllGather),
              sumOf(two, priceGraph(two, full, cluster), core::OpKind::AllGather));
    plan.precision.param = core::DType::BF16;
    const core::StepGraph mixed = build(half, plan);
    EXPECT_LT(sumOf(mixed, priceGraph(mixed, half, cluster), core::OpKind::AllGather),
              sumOf(sixteen, priceGraph(sixteen, full, cluster), core::OpKind::AllGather));
    EXPECT_LT(sumOf(mixed, priceGraph(mixed, half, cluster), core::OpKind::Compute),
              sumOf(sixteen, priceGraph(sixteen, full, cluster), core::OpKind::Compute));
}

// stas00/ml-engineering: Llama-3.1-8B, forward and backward, 1 x 8192 tokens on B200: 590.7 ms eager. The same page's
// 1B runs recompute activations, which is about a quarter of such a step; whether this one does is not said. The
// bracket holds both readings and the model's 10 to 30 % per kernel.
TEST(PricesOfPlans, AnEightBillionModelOnB200IsWithinABracketOfThePublishedStep) {
    core::Workload workload;
    workload.batch = 1;
    workload.sequence = 8192;
    workload.dtype = core::DType::BF16;
    const core::Model model = core::buildModel(core::namedDecoder("llama-3.1-8b").value(), workload).value();
    double both = 0;
    for (double seconds : layerSeconds(model, core::makeCluster("b200-sxm").value())) both += seconds;
    EXPECT_GT(both, 0.5907 * 0.75 * 0.8);
    EXPECT_LT(both, 0.5907 * 1.2);
    RecordProperty("milliseconds", static_cast<int>(both * 1e3));
}

// stas00/ml-engineering (cost model facts 4.3): Llama-3.2-1B on B200, one sequence of 512 tokens, forward and backward
// with checkpointing, takes 48.8 ms eager, of which the GPU works 8.1: the host's ops set the time. The presets' cost
// of a launch is fitted to it.
TEST(PricesOfPlans, AnEagerStepOfASmallModelTakesAsLongAsItsHostNeeds) {
    core::Workload workload;
    workload.sequence = 512;
    workload.dtype = core::DType::BF16;
    const core::Model model = core::buildModel(core::namedDecoder("llama-3.2-1b").value(), workload).value();
    core::Plan plan = planOf(core::StageSchedule::Single, core::UnitPolicy::None, 1, 1);
    plan.precision.original = core::DType::BF16;
    plan.checkpointing.mode = core::Checkpointing::Mode::Full;
    plan.optimizer = core::OptimizerKind::None;
    const core::StepGraph graph = build(model, plan);
    const Prices prices = priceGraph(graph, model, core::makeCluster("b200-sxm").value());
    std::int64_t end = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) end = std::max(end, prices.release[i]) + prices.duration[i];
    EXPECT_NEAR(static_cast<double>(end) * 1e-6, 48.8, 5);
}

}  // namespace
}  // namespace shardscope::sim
