// Under FSDP the peak of a step of few ops, of many kernels each, is that of its kernels one by one: whatever is
// accumulated and resharded; little above it where parameters are kept from one micro-batch to the next.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/graph/activation_plan.h"
#include "core/graph/build.h"
#include "core/graph/host_memory.h"
#include "core/model/vit.h"
#include "tests/core/kernel_slots.h"

namespace shardscope::core {
namespace {

/// What one micro-batch's activations take while each of its kernels runs, and that kernel's own workspace.
class KernelByKernel {
public:
    KernelByKernel(const Model& model, const Plan& plan) {
        const RecomputeTable recompute(model, plan);
        const std::vector<PassSlot> slots = tests::kernelSlots(model, recompute);
        for (std::size_t s = 0; s < slots.size(); ++s) {
            const KernelRange& of = slots[s].kernels;
            m_slotOf[{of.layer.index(), of.backward, slots[s].recompute, of.first}] = s;
        }
        const Stage stage{0, 1, LayerId(std::size_t{0}), LayerId(model.layers.size())};
        const ActivationPlan planned = planActivations(model, stage, slots, recompute);
        m_bytes.assign(slots.size() + 1, 0);
        for (const ActivationPlan::Piece& piece : planned.pieces) {
            m_bytes[piece.firstSlot] += piece.bytes.value;
            m_bytes[piece.lastSlot + 1] -= piece.bytes.value;
        }
        for (std::size_t s = 1; s < m_bytes.size(); ++s) m_bytes[s] += m_bytes[s - 1];
        for (std::size_t s = 0; s < slots.size(); ++s) m_bytes[s] += planned.workspace[s].value;
    }

    [[nodiscard]] std::int64_t at(const Op& op, std::uint32_t kernel) const {
        return m_bytes[m_slotOf.at(
            {op.kernels.layer.index(), op.kernels.backward, op.phase == Phase::Recompute, kernel})];
    }

private:
    std::map<std::tuple<std::size_t, bool, bool, std::uint32_t>, std::size_t> m_slotOf;
    std::vector<std::int64_t> m_bytes;  // by slot
};

/// The most that the step takes if the memory of activations and gradients is taken and given back by its kernels.
std::int64_t mostKernelByKernel(const Model& model, const StepGraph& graph) {
    const KernelByKernel kernels(model, graph.plan);
    HostMemoryCursor cursor(graph, graph.classes[0]);
    std::int64_t most = cursor.live().total().value;
    std::int64_t fresh = 0, again = 0;  // gradients that the op to come makes: to be kept, and to be added to others
    while (const HostAction* action = cursor.next()) {
        if (action->kind == HostActionKind::Allocate) {
            const Block& block = graph.blocks[action->block.index()];
            const bool ofCompute = block.firstUse.valid() && graph.ops[block.firstUse.index()].kind == OpKind::Compute;
            if (ofCompute && block.category == MemoryCategory::UnshardedGradients) fresh += block.bytes.value;
            if (ofCompute && block.category == MemoryCategory::Workspace && block.unit.valid())
                again += block.bytes.value;
        }
        if (action->kind != HostActionKind::Launch) continue;
        const Op& op = graph.ops[action->op.index()];
        if (op.kind == OpKind::AddGradient) continue;  // kernel by kernel, each is added at once
        if (op.kind != OpKind::Compute) {
            most = std::max(most, cursor.live().total().value);
            continue;
        }
        const Program& program = model.programOf(model.layers[op.kernels.layer.index()]);
        const std::int64_t others = cursor.live().total().value - cursor.live()[MemoryCategory::Activations] -
                                    cursor.live()[MemoryCategory::Workspace] - fresh;
        EXPECT_TRUE(fresh == 0 || again == 0);
        std::int64_t sum = 0;
        for (std::uint32_t k = op.kernels.first; k < op.kernels.first + op.kernels.count; ++k) {
            std::int64_t made = 0;
            if (op.kernels.backward)
                for (const TensorId t : program.backward[k].outputs)
                    if (program.tensor(t).role == TensorRole::ParameterGradient)
                        made += program.tensor(t).bytes().value;
            sum += made;
            most = std::max(most, others + (fresh > 0 ? sum : made) + kernels.at(op, k));
        }
        EXPECT_EQ(sum, fresh + again);
        fresh = again = 0;
    }
    return most;
}

TEST(FsdpPeakCuts, OpsOfManyKernelsPeakWhereTheirKernelsDo) {
    using Mode = Checkpointing::Mode;
    VitSpec vit = *namedVit("vit_tiny");
    vit.layers = 4;
    const Reshard whole{Reshard::Kind::False, 0}, pairs{Reshard::Kind::Group, 2};
    for (const std::int64_t batch : {1, 3, 40})
        for (const Mode mode : {Mode::None, Mode::Full, Mode::Selective})
            for (const std::int64_t microBatches : {1, 3})
                for (const GradientSync sync : {GradientSync::EveryMicroBatch, GradientSync::LastMicroBatch})
                    for (const Reshard reshard : {Reshard{}, whole, pairs})
                        for (const bool kept : {false, true})
                            for (const bool offload : {false, true}) {
                                Plan plan;
                                plan.mesh.dpShard = 4;
                                plan.checkpointing.mode = mode;
                                plan.microBatches = microBatches;
                                plan.gradientSync = sync;
                                plan.fsdp.reshardAfterForward = reshard;
                                plan.fsdp.keepBetweenMicroBatches = kept;
                                plan.fsdp.cpuOffload = offload;
                                Workload workload;
                                workload.batch = batch;
                                const Model model = *buildModel(vit, workload);
                                const auto graph = buildStepGraph(model, plan);
                                ASSERT_TRUE(graph) << describe(graph.error());
                                const std::int64_t peak = peakAllocated(*graph, graph->classes[0]).value,
                                                   least = mostKernelByKernel(model, *graph);
                                SCOPED_TRACE(
                                    fmt::format("batch {}, checkpointing {}, {} micro-batches, sync {}, reshard {}{}{}",
                                                batch, static_cast<int>(mode), microBatches, static_cast<int>(sync),
                                                static_cast<int>(reshard.kind), kept ? ", kept" : "",
                                                offload ? ", offloaded" : ""));
                                const bool runAgain = mode == Mode::Full && microBatches == 1;
                                if (!(kept && microBatches > 1) && !runAgain) {
                                    EXPECT_EQ(peak, least);
                                    continue;
                                }
                                // Where parameters stay whole from one micro-batch to the next, or blocks are run again
                                // beside the gradients' shards, the limit of one op is that of another place.
                                EXPECT_GE(peak, least);
                                EXPECT_LE(static_cast<double>(peak),
                                          (runAgain ? 1.03 : 1.1) * static_cast<double>(least));
                            }
}

}  // namespace
}  // namespace shardscope::core
