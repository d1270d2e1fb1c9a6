// What CPU offload costs on the host, and who waits for it.

#include "sim/price/host_price.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build.h"
#include "core/model/vit.h"
#include "sim/price/price_graph.h"
#include "sim/run/simulate.h"
#include "sim/run/to_timeline.h"
#include "traces/timeline/causes.h"

namespace shardscope::sim {
namespace {

core::Cluster h100(std::int64_t gpus) {
    return core::makeCluster("h100-sxm", {}, 1, gpus).value();
}

// Cost model facts 6.1: 55.43 GB/s host to device on an H200 behind PCIe 5, 4 to 6 times slower without pinned memory.
TEST(HostPrice, CopiesRunAtTheRateOfTheLink) {
    const double bytes = 10e9;
    const double pinned = priceHostCopy(bytes, 1, true, h100(8)).seconds;
    EXPECT_NEAR(bytes / pinned / 55.43e9, 1.0, 0.05);
    const double pageable = priceHostCopy(bytes, 1, false, h100(8)).seconds / pinned;
    EXPECT_GE(pageable, 4);
    EXPECT_LE(pageable, 6);
    EXPECT_GT(priceHostCopy(1e3, 100, true, h100(8)).seconds, priceHostCopy(1e3, 1, true, h100(8)).seconds * 20);
    EXPECT_EQ(priceHostCopy(0, 1, true, h100(8)).seconds, 0);
}

// Cost model facts 6.2, ZeRO-Offload: 1.39 s for a billion parameters of PyTorch's CPU Adam; the ranks of a node share
// its memory, so that 8 of them together are as fast as one alone.
TEST(HostPrice, RanksOfANodeShareItsMemory) {
    EXPECT_NEAR(priceHostPass(28e9, false, h100(1)).seconds, 1.39, 1e-9);
    EXPECT_NEAR(priceHostPass(28e9 / 8, false, h100(8)).seconds, 1.39, 1e-9);
    EXPECT_LT(priceHostPass(28e9, true, h100(1)).seconds, 0.3);
    core::Cluster given = h100(4);
    given.node.hostOptimizer = {80e9, "here", core::Confidence::High, true};
    EXPECT_NEAR(priceHostPass(28e9, false, given).seconds, 28.0 / 20, 1e-9);
}

TEST(HostPrice, TheGpusWaitForTheHostsOptimizerIsACauseOfItsOwn) {
    core::Workload workload;
    workload.dtype = core::DType::BF16;
    const core::Model model = core::buildVit(core::namedVit("vit_b_16").value(), workload).value();
    core::Plan plan;
    plan.mesh.dpShard = 4;
    plan.precision.param = core::DType::BF16;
    plan.fsdp.cpuOffload = true;
    const core::StepGraph graph = core::buildStepGraph(model, plan).value();
    const Prices prices = priceGraph(graph, model, h100(4));
    const StepResult result = simulate(graph, prices).value();
    const timeline::Timeline timeline = toTimeline(graph, model, prices, result);
    const auto step =
        std::ranges::find_if(graph.ops, [](const core::Op& op) { return op.kind == core::OpKind::OptimizerStep; });
    const std::int64_t optimizer = prices.duration[static_cast<std::size_t>(step - graph.ops.begin())];
    EXPECT_GT(optimizer, 0);
    std::int64_t waited = 0;
    for (const timeline::CauseTotal& total : timeline::CauseFinder(timeline).totalsOf(0))
        if (total.cause == timeline::Cause::HostOptimizer) waited += total.time;
    EXPECT_EQ(waited, optimizer);
    const timeline::Breakdown times = timeline::breakdownOf(timeline).front();
    EXPECT_EQ(times.compute + times.transfer + times.copy + times.waiting + times.idle, times.step);
    // Copies to and from the host, none of them a kernel of the compute stream.
    EXPECT_GT(times.totalCopy, 0);
}

}  // namespace
}  // namespace shardscope::sim
