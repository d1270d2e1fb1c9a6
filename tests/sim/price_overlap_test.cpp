#include "sim/price/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/graph/build.h"
#include "core/model/vit.h"
#include "sim/price/price_graph.h"
#include "sim/run/simulate.h"

namespace shardscope::sim {
namespace {

core::Cluster clusterOf(const char* gpu) {
    return core::makeCluster(gpu, "", 1).value();
}

core::Cluster withMultiprocessors(core::Cluster cluster, double count) {
    cluster.gpu.multiprocessors.value = count;
    return cluster;
}

TEST(Overlap, TwentyFourOfAnH100sMultiprocessorsGoToTheCollective) {
    const OverlapSlowdown slowdown = overlapSlowdownOf(clusterOf("h100-sxm"));
    EXPECT_EQ(slowdown.channels, 24);
    EXPECT_EQ(slowdown.den, 1000);
    EXPECT_EQ(slowdown.num, 1272);  // 1 + 24 / (132 - 24) + 0.05
}

// Cost model facts 5: 18.9 % on average and 40 % at most over A100, H100, MI250 and MI210 (arXiv 2507.03114).
TEST(Overlap, NvLinkMachinesStayBetweenThePublishedMeanAndMost) {
    for (const char* gpu : {"a100-sxm-80gb", "h100-sxm", "h200-sxm", "b200-sxm"}) {
        const OverlapSlowdown slowdown = overlapSlowdownOf(clusterOf(gpu));
        EXPECT_GT(slowdown.num, 1189) << gpu;
        EXPECT_LE(slowdown.num, 1400) << gpu;
    }
}

TEST(Overlap, OverPcieACollectiveHoldsFour) {
    const core::Cluster l4 = clusterOf("l4");
    const OverlapSlowdown slowdown = overlapSlowdownOf(l4);
    EXPECT_EQ(slowdown.channels, 4);
    EXPECT_LT(slowdown.num, overlapSlowdownOf(clusterOf("h100-sxm")).num);
}

TEST(Overlap, ASmallDeviceGivesAQuarterOfItselfAndMoreMultiprocessorsLoseLess) {
    const core::Cluster cluster = clusterOf("h100-sxm");
    EXPECT_EQ(overlapSlowdownOf(withMultiprocessors(cluster, 8)).channels, 2);
    std::int32_t previous = 2000;
    for (const double count : {8.0, 24.0, 96.0, 97.0, 132.0, 264.0}) {
        const OverlapSlowdown slowdown = overlapSlowdownOf(withMultiprocessors(cluster, count));
        EXPECT_GT(slowdown.num, slowdown.den) << count;
        EXPECT_LE(slowdown.num, previous) << count;
        previous = slowdown.num;
    }
}

// The engine's side: a compute op of priced length d that has a transfer of its rank beside it for o of the e ns that
// it takes has done o x den / num + (e - o) of its work.
TEST(Overlap, ComputeOfAPricedStepLosesThatMuchWhileATransferRuns) {
    const core::Cluster cluster = clusterOf("h100-sxm");
    core::Workload workload;
    workload.batch = 32;
    workload.dtype = core::DType::BF16;
    const core::Model model = *core::buildModel(*core::namedVit("vit_b_16"), workload);
    core::Plan plan;
    plan.mesh.dpShard = 8;
    plan.precision = {core::DType::F32, core::DType::BF16, core::DType::F32};
    const core::StepGraph graph = *core::buildStepGraph(model, plan);
    const Prices prices = priceGraph(graph, model, cluster);
    const StepResult result = *simulate(graph, prices);
    const OpInstants& at = result.ranks.at(0).at;
    const OverlapSlowdown slowdown = overlapSlowdownOf(cluster);
    const auto isTransfer = [](core::OpKind kind) {
        return kind == core::OpKind::AllGather || kind == core::OpKind::ReduceScatter;
    };
    std::int64_t beside = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        if (graph.ops[i].kind != core::OpKind::Compute) continue;
        std::int64_t overlapped = 0;  // transfers of one communicator do not run side by side
        for (std::size_t j = 0; j < graph.ops.size(); ++j)
            if (isTransfer(graph.ops[j].kind))
                overlapped += std::max<std::int64_t>(
                    0, std::min(at.end[i], at.end[j]) - std::max(at.start[i], at.transferStart[j]));
        beside += overlapped;
        const double done = static_cast<double>(overlapped) * slowdown.den / slowdown.num +
                            static_cast<double>(at.end[i] - at.start[i] - overlapped);
        EXPECT_NEAR(done, static_cast<double>(prices.duration[i]), 3) << core::labelOf(graph, model, core::OpId(i));
    }
    EXPECT_GT(beside, result.step / 20);
}

}  // namespace
}  // namespace shardscope::sim
