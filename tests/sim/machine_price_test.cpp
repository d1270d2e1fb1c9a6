#include "sim/price/machine_price.h"

#include <gtest/gtest.h>

#include "core/graph/build.h"
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
    machine.transfers.push_back({2, {1e-5, 1e-9}, {2e-5, 2e-9}, {3e-5, 3e-9}, {4e-5, 4e-9}});
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
        const auto bytes = op.bytes.value;
        if (op.kind == core::OpKind::Compute) {
            EXPECT_EQ(prices->duration[i], 1000 * op.kernels.count);
            ++computes;
        }
        if (op.kind == core::OpKind::AllGather) {
            EXPECT_EQ(prices->duration[i], 10'000 + bytes);
        }
        if (op.kind == core::OpKind::ReduceScatter) {
            EXPECT_EQ(prices->duration[i], 20'000 + 2 * bytes);
        }
    }
    EXPECT_GT(computes, 10u);
}

TEST(MachinePrice, SharesCoresAmongRanksThatWorkAtTheSameTime) {
    const core::Model model = tiny();
    const core::StepGraph graph = *core::buildStepGraph(model, fsdp(2));
    const auto two = priceOnMachine(graph, model, evenMachine(model, 2)),
               one = priceOnMachine(graph, model, evenMachine(model, 1));
    ASSERT_TRUE(two && one);
    for (std::size_t i = 0; i < graph.ops.size(); ++i) {
        const core::OpKind kind = graph.ops[i].kind;
        if (kind != core::OpKind::Compute && kind != core::OpKind::AllGather) continue;
        EXPECT_EQ(one->duration[i], (kind == core::OpKind::Compute ? 2 : 1) * two->duration[i]);
    }
    core::Plan naive;
    naive.policy = core::UnitPolicy::None;
    naive.schedule = core::StageSchedule::Naive;
    naive.mesh.pp = 2;
    const core::StepGraph stages = *core::buildStepGraph(model, naive);
    EXPECT_EQ(ranksAtWork(stages), 1);
    EXPECT_EQ(ranksAtWork(graph), 2);
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
    machine.issue = 1e-6;
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
