#include "sim/price/machine_price.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build.h"
#include "core/graph/graph_checks.h"
#include "core/model/spec.h"
#include "core/model/vit.h"
#include "sim/run/simulate.h"

namespace shardscope::sim {
namespace {

core::Model tiny() {
    core::Workload workload;
    workload.batch = 2;
    return *core::buildModel(*core::namedVit("vit_tiny"), workload);
}

/// Every kernel takes a microsecond.
core::MachineTimes evenMachine(const core::Model& model, std::int64_t cores) {
    core::MachineTimes machine;
    machine.cores = cores;
    machine.compute.resize(1);
    for (const core::Program& program : model.programs)
        for (const auto* kernels : {&program.forward, &program.backward})
            for (const core::Kernel& kernel : *kernels)
                machine.compute[0].kernels[core::kernelSignature(program, kernel)] = 1e-6;
    machine.transfers.push_back({2,
                                 {{{1000, 1e-5, 2e-5, 5e-6}}},
                                 {{{1000, 2e-5, 3e-5, 1e-5}}},
                                 {{{1000, 3e-5, 4e-5, 3e-5}}},
                                 {{{1000, 4e-5, 5e-5, 1e-5}}}});
    return machine;
}

core::Plan fsdp(std::int64_t ranks) {
    core::Plan plan;
    plan.policy = core::UnitPolicy::Fsdp;
    plan.mesh.dpShard = ranks;
    return plan;
}

TEST(MachinePrice, OfAnOpIsTheSumOfItsKernels) {
    const core::Model model = tiny();
    const core::StepGraph graph = *core::buildStepGraph(model, fsdp(2));
    const auto prices = priceOnMachine(graph, model, evenMachine(model, 2));
    ASSERT_TRUE(prices) << describe(prices.error());
    std::size_t computes = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const core::Op& op = graph.ops[i];
        // Beyond the largest measured size in proportion.
        const double bytes = std::max(1000.0, static_cast<double>(op.bytes.value));
        if (op.kind == core::OpKind::Compute) {
            EXPECT_EQ(prices->duration[i], 1000 * op.kernels.count);
            ++computes;
        }
        if (op.kind == core::OpKind::AllGather) {
            EXPECT_NEAR(static_cast<double>(prices->duration[i]), 10 * bytes, 1);
        }
        if (op.kind == core::OpKind::ReduceScatter) {
            EXPECT_NEAR(static_cast<double>(prices->duration[i]), 20 * bytes, 1);
        }
    }
    EXPECT_GT(computes, 10u);
}

TEST(MachinePrice, KnowsWhatATransferTakesOfTheCores) {
    const core::Model model = tiny();
    const core::StepGraph graph = *core::buildStepGraph(model, fsdp(2));
    const auto prices = priceOnMachine(graph, model, evenMachine(model, 2));
    ASSERT_TRUE(prices);
    ASSERT_TRUE(prices->shared);
    EXPECT_EQ(prices->shared->cores, 2);
    EXPECT_EQ(prices->shared->ranks, 2);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const TransferLoad& load = prices->shared->transfers[i];
        const auto duration = static_cast<double>(prices->duration[i]);
        if (graph.ops[i].kind == core::OpKind::AllGather) {
            EXPECT_NEAR(load.busy, 2 * duration, 2);
            EXPECT_NEAR(load.processor, duration / 2, 2);
        }
        EXPECT_EQ(load.atLeast, 0);
    }
    core::Plan naive;
    naive.policy = core::UnitPolicy::None;
    naive.schedule = core::StageSchedule::Naive;
    naive.mesh.pp = 2;
    const core::StepGraph stages = *core::buildStepGraph(model, naive);
    EXPECT_EQ(ranksAtWork(stages), 1);
    EXPECT_EQ(ranksAtWork(graph), 2);
}

TEST(MachinePrice, OfAnArtificialLinkIsWhatItLetsThrough) {
    const core::Model model = tiny();
    const core::StepGraph graph = *core::buildStepGraph(model, fsdp(2));
    core::MachineTimes machine = evenMachine(model, 2);
    machine.link = {1e9, 1e-3};
    const auto prices = priceOnMachine(graph, model, machine);
    ASSERT_TRUE(prices);
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        if (core::isTransfer(graph.ops[i].kind)) {
            // A ring of two sends half of the bytes, at one a nanosecond.
            EXPECT_EQ(prices->shared->transfers[i].atLeast, 1e6 + static_cast<double>(graph.ops[i].bytes.value) / 2);
        }
}

TEST(MachinePrice, IssuesOneOpAfterAnother) {
    const core::Model model = tiny();
    const core::StepGraph graph = *core::buildStepGraph(model, fsdp(2));
    core::MachineTimes machine = evenMachine(model, 2);
    machine.host.begin = 5e-6;
    machine.host.issueOp = 1e-6;
    machine.host.issueCall = 1e-7;
    const auto prices = priceOnMachine(graph, model, machine);
    ASSERT_TRUE(prices);
    for (std::size_t i = 1; i < graph.ops.size(); ++i) {
        const std::int64_t work = prices->release[i] - prices->release[i - 1];
        if (graph.ops[i].kind == core::OpKind::Compute) {
            EXPECT_NEAR(static_cast<double>(work), 1000 + 100 * graph.ops[i].kernels.count, 2);
        }
        EXPECT_GE(work, 999);
    }
    EXPECT_GE(prices->release[0], 6000);
}

TEST(MachinePrice, TakesTheTimesOfAsManyBusyRanks) {
    const core::Model model = tiny();
    core::MachineTimes machine = evenMachine(model, 4);
    machine.compute.push_back(machine.compute[0]);
    machine.compute[1].busy = 2;
    for (auto& [signature, seconds] : machine.compute[1].kernels) seconds = 3e-6;
    const core::StepGraph graph = *core::buildStepGraph(model, fsdp(2));
    const auto prices = priceOnMachine(graph, model, machine);
    ASSERT_TRUE(prices);
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        if (graph.ops[i].kind == core::OpKind::Compute) {
            EXPECT_EQ(prices->duration[i], 3000 * graph.ops[i].kernels.count);
        }
}

TEST(MachinePrice, NamesWhatWasNotMeasured) {
    const core::Model model = tiny();
    core::MachineTimes machine = evenMachine(model, 2);
    const core::StepGraph four = *core::buildStepGraph(model, fsdp(4));
    const auto size = priceOnMachine(four, model, machine);
    ASSERT_FALSE(size);
    EXPECT_NE(describe(size.error()).find("among 4 ranks"), std::string::npos);
    machine.compute[0].kernels.clear();
    const core::StepGraph graph = *core::buildStepGraph(model, fsdp(2));
    const auto kernel = priceOnMachine(graph, model, machine);
    ASSERT_FALSE(kernel);
    EXPECT_NE(describe(kernel.error()).find("was not measured"), std::string::npos);
}

TEST(MachinePrice, RunsThroughTheEngine) {
    const core::Model model = tiny();
    const core::StepGraph graph = *core::buildStepGraph(model, fsdp(2));
    core::MachineTimes machine = evenMachine(model, 2);
    machine.host.issueOp = 1e-6;
    const auto prices = priceOnMachine(graph, model, machine);
    ASSERT_TRUE(prices);
    const auto result = simulate(graph, *prices, {});
    ASSERT_TRUE(result) << describe(result.error());
    std::int64_t compute = 0;
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        if (graph.ops[i].kind == core::OpKind::Compute) compute += prices->duration[i];
    EXPECT_GT(result->step, compute);
}

}  // namespace
}  // namespace shardscope::sim
