// torch.compile as a price: chains of memory-bound kernels, and the host's launches.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build.h"
#include "core/model/vit.h"
#include "sim/memory/step_memory.h"
#include "sim/price/fused_kernels.h"
#include "sim/price/kernel_price.h"
#include "sim/price/price_graph.h"
#include "sim/run/simulate.h"

namespace shardscope::sim {
namespace {

using core::KernelKind;
using core::TensorRole;

/// y = gelu(2 x) + x in front of a product; every tensor 1,000 elements of fp32.
core::Program chain() {
    core::Program program;
    const auto tensor = [&](TensorRole role) {
        core::Tensor made;
        made.shape = {10, 100};
        made.role = role;
        program.tensors.push_back(made);
        return core::TensorId(program.tensors.size() - 1);
    };
    const auto kernel = [](KernelKind kind, std::vector<core::TensorId> inputs, core::TensorId output) {
        core::Kernel made;
        made.kind = kind;
        made.inputs = std::move(inputs);
        made.outputs = {output};
        return made;
    };
    const auto x = tensor(TensorRole::Input), twice = tensor(TensorRole::Intermediate),
               gelu = tensor(TensorRole::Intermediate), sum = tensor(TensorRole::Intermediate),
               weight = tensor(TensorRole::Parameter), y = tensor(TensorRole::Output);
    program.forward = {kernel(KernelKind::Scale, {x}, twice), kernel(KernelKind::Gelu, {twice}, gelu),
                       kernel(KernelKind::Add, {gelu, x}, sum), kernel(KernelKind::Linear, {sum, weight}, y)};
    core::fillTraffic(program);
    return program;
}

TEST(FusedKernels, AChainReadsWhatComesFromOutsideAndWritesWhatIsNeededThereOnce) {
    core::Program program = chain();
    auto fused = fuseMemoryBound(program, false, 0, 4);
    ASSERT_EQ(fused.size(), 2u);
    EXPECT_EQ(fused[0].count, 3u);
    EXPECT_EQ(fused[0].traffic, 2 * 4000) << "x in, the sum out; apart they move 7 tensors";
    EXPECT_EQ(fused[1].first, 3u);
    EXPECT_EQ(fused[1].count, 1u) << "a product stays what it is";

    // What backward reads is written.
    core::Kernel backward = program.forward[1];
    backward.kind = KernelKind::GeluGrad;
    program.backward = {backward};
    EXPECT_EQ(fuseMemoryBound(program, false, 0, 4)[0].traffic, 3 * 4000);
    // Within a part of the list alone what follows it counts as outside.
    EXPECT_EQ(fuseMemoryBound(program, false, 0, 2)[0].traffic, 3 * 4000) << "x, twice x for backward, and its GELU";
    EXPECT_EQ(fuseMemoryBound(program, false, 1, 1)[0].count, 1u);
}

core::Model vit(std::int64_t batch) {
    core::Workload workload;
    workload.batch = batch;
    workload.dtype = core::DType::BF16;
    return core::buildVit(*core::namedVit("vit_b_16"), workload).value();
}

core::StepGraph graphOf(const core::Model& model, bool compiled) {
    core::Plan plan;
    plan.mesh.dpShard = 4;
    plan.precision.param = core::DType::BF16;
    plan.compiled = compiled;
    return core::buildStepGraph(model, plan).value();
}

TEST(CompiledPrices, AComputeOpTakesItsChainsAndOtherKernelsAndLosesKeepTheirOwn) {
    const core::Model model = vit(32);
    const core::Cluster cluster = core::makeCluster("h100-sxm", "", 1).value();
    const core::StepGraph eager = graphOf(model, false), compiled = graphOf(model, true);
    const Prices before = priceGraph(eager, model, cluster), after = priceGraph(compiled, model, cluster);
    const GpuRates rates = ratesOf(cluster.gpu, {});
    std::size_t compared = 0;
    for (std::size_t i = 0; i < compiled.ops.size(); ++i) {
        const core::Op& op = compiled.ops[i];
        if (op.kind != core::OpKind::Compute) {
            EXPECT_EQ(after.duration[i], before.duration[i]);
            continue;
        }
        const core::Layer& layer = model.layers[op.kernels.layer.index()];
        if (layer.kind == core::LayerKind::Loss) {
            EXPECT_EQ(after.duration[i], before.duration[i]);
            continue;
        }
        const core::Program& program = model.programOf(layer);
        const auto& kernels = op.kernels.backward ? program.backward : program.forward;
        double seconds = 0;
        for (const FusedKernel& one : fuseMemoryBound(program, op.kernels.backward, op.kernels.first, op.kernels.count))
            seconds += one.count > 1
                           ? priceTraffic(one.traffic, 1, rates).seconds
                           : priceKernel(kernels[one.first], operandType(program, kernels[one.first]), rates).seconds;
        EXPECT_NEAR(static_cast<double>(after.duration[i]), seconds * 1e9, static_cast<double>(op.kernels.count));
        EXPECT_LE(after.duration[i], before.duration[i]);
        ++compared;
    }
    EXPECT_GT(compared, 24u);
    EXPECT_TRUE(
        std::ranges::any_of(after.caveats, [](const std::string& c) { return c.starts_with("torch.compile"); }));
}

// A small batch is bound by the host's launches: compiled code launches fewer kernels, each in less time. What is
// allocated stays.
TEST(CompiledPrices, AStepBoundByLaunchesShortensAndKeepsItsMemory) {
    const core::Model model = vit(1);
    const core::Cluster cluster = core::makeCluster("h100-sxm", "", 1).value();
    const core::StepGraph eager = graphOf(model, false), compiled = graphOf(model, true);
    const auto slow = simulate(eager, priceGraph(eager, model, cluster)).value();
    const auto fast = simulate(compiled, priceGraph(compiled, model, cluster)).value();
    EXPECT_LT(fast.step, slow.step * 3 / 4);
    const core::ClassId all(std::size_t{0});
    EXPECT_EQ(hostOrderMemory(compiled, model, all).hostOrder.total,
              hostOrderMemory(eager, model, all).hostOrder.total);
}

}  // namespace
}  // namespace shardscope::sim
