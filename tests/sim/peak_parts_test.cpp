// The peak explains itself: which tensors of which units and layers are alive.

#include "sim/memory/peak_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/graph/build.h"
#include "core/model/vit.h"
#include "sim/memory/step_memory.h"

namespace shardscope {
namespace {

using namespace core;
using enum MemoryCategory;

constexpr std::int64_t kBatch = 2, kTokens = 197, kWidth = 768, kLayers = 12;

struct Peak {
    Model model;
    StepGraph graph;
    sim::StepMemory memory;

    /// The one part of the category whose tensors begin with these words.
    [[nodiscard]] sim::MemoryPart part(MemoryCategory category, const std::string& tensors) const {
        for (const sim::MemoryPart& part : memory.hostOrder.parts)
            if (part.category == category && part.tensors.starts_with(tensors)) return part;
        ADD_FAILURE() << "no " << nameOf(category) << " that begin with " << tensors;
        return {};
    }
};

Peak peakOf(Plan plan) {
    Peak made;
    Workload workload;
    workload.batch = kBatch;
    workload.dtype = plan.precision.compute();
    made.model = *buildModel(*namedVit("vit_b_16"), workload);
    made.graph = *buildStepGraph(made.model, plan);
    made.memory = sim::hostOrderMemory(made.graph, made.model, ClassId(0));
    return made;
}

Plan fsdp() {
    Plan plan;
    plan.mesh.dpShard = 4;
    plan.precision = {DType::F32, DType::BF16, DType::F32};
    plan.optimizer = OptimizerKind::None;  // so that the peak lies in backward
    return plan;
}

std::vector<std::int64_t> bytesOfBlocks(const StepGraph& graph) {
    std::vector<std::int64_t> bytes;
    for (const Block& block : graph.blocks) bytes.push_back(block.bytes.value);
    return bytes;
}

/// Blocks that are live once the first action for which `wanted` holds is done.
template <class Wanted>
std::vector<std::uint8_t> liveAt(const StepGraph& graph, Wanted wanted) {
    std::vector<std::uint8_t> live;
    for (const Block& block : graph.blocks) live.push_back(block.persistent ? 1 : 0);
    for (const HostAction& action : graph.actionsOf(graph.classes.front())) {
        if (action.kind == HostActionKind::Allocate) live[action.block.index()] = 1;
        if (action.kind == HostActionKind::Release) live[action.block.index()] = 0;
        if (wanted(action)) return live;
    }
    ADD_FAILURE() << "no such action";
    return live;
}

// At the end of forward each block holds what the recordings of this model say that PyTorch saves: q, k and v packed,
// the attention's output, its clone for the projection and logsumexp; both products of the MLP; norms with their
// statistics.
TEST(PeakParts, NameTheSavedTensorsOfEachModuleOnceForAllLayers) {
    const Peak peak = peakOf(fsdp());
    const std::vector<std::int64_t> bytes = bytesOfBlocks(peak.graph);
    const auto live = liveAt(peak.graph, [](const HostAction& action) {
        return action.kind == HostActionKind::Mark && action.mark == Mark::LossBackward;
    });
    const std::vector<sim::MemoryPart> parts = sim::partsOf(peak.graph, peak.model, live, bytes);
    const std::int64_t one = kBatch * kTokens * kWidth * 2;
    const auto find = [&](const std::string& tensors) {
        const auto found = std::find_if(parts.begin(), parts.end(), [&](const sim::MemoryPart& part) {
            return part.category == Activations && part.tensors.starts_with(tensors);
        });
        EXPECT_NE(found, parts.end()) << tensors;
        return found == parts.end() ? sim::MemoryPart{} : *found;
    };
    const sim::MemoryPart attention = find("self_attention: q k v");
    EXPECT_EQ(attention.count, kLayers);
    EXPECT_EQ(attention.owner, "encoder.layers.encoder_layer_0 .. 11");
    const std::int64_t logsumexp = kBatch * 12 * kTokens * 4, randomState = 16 + 8;
    EXPECT_EQ(attention.bytes.value, kLayers * (5 * one + logsumexp + randomState));
    for (const char* product : {"mlp.0: addmm", "mlp.1: gelu"}) {
        EXPECT_EQ(find(product).count, kLayers);
        EXPECT_EQ(find(product).bytes.value, kLayers * 4 * one) << product;
    }
    EXPECT_EQ(find("ln_2: native_layer_norm, mean, rstd").bytes.value, kLayers * (one + 2 * kBatch * kTokens * 4));
    EXPECT_EQ(find("batch").owner, "embedding");
    EXPECT_LE(parts.size(), 24u) << "short enough to read";
}

TEST(PeakParts, NameParametersGradientsAndBuffersByTheirUnit) {
    const Peak peak = peakOf(fsdp());
    const std::vector<std::int64_t> bytes = bytesOfBlocks(peak.graph);
    const UnitId unit(std::size_t{10});
    ASSERT_EQ(peak.graph.units[10].name, "encoder.layers.encoder_layer_10");
    // The end of the backward of the last block but one: one unit whole, the next gathered, the previous one's
    // reduction open (framework semantics 1.6).
    const auto live = liveAt(peak.graph, [&](const HostAction& action) {
        return action.kind == HostActionKind::Mark && action.mark == Mark::PostBackward && action.unit == unit;
    });
    const std::vector<sim::MemoryPart> parts = sim::partsOf(peak.graph, peak.model, live, bytes);
    std::map<std::pair<MemoryCategory, std::string>, std::string> owners;
    for (const sim::MemoryPart& part : parts) owners[{part.category, part.tensors}] = part.owner;
    EXPECT_EQ((owners[{UnshardedParameters, "12 parameters, gathered"}]), "encoder.layers.encoder_layer_10");
    EXPECT_EQ((owners[{GatherBuffers, "all-gather output"}]), "encoder.layers.encoder_layer_9");
    EXPECT_EQ((owners[{ReduceBuffers, "reduce-scatter input"}]), "encoder.layers.encoder_layer_11");
    EXPECT_EQ((owners[{ShardedParameters, "12 parameters, the own shard"}]), "encoder.layers.encoder_layer_0 .. 11");
    EXPECT_EQ((owners[{UnshardedGradients, "mlp.3.weight, mlp.3.bias, mlp.0.weight, mlp.0.bias and 8 more"}]),
              "encoder.layers.encoder_layer_10");
    EXPECT_EQ((owners[{ShardedGradients, "reduced gradients, the own shard"}]), "encoder.layers.encoder_layer_11");
}

TEST(PeakParts, SumToThePeakUnderEveryPlan) {
    std::vector<Plan> plans(4, fsdp());
    plans[1].fsdp.reshardAfterForward = {Reshard::Kind::Group, 2};
    plans[2].policy = UnitPolicy::None;
    plans[2].mesh = {};
    plans[2].microBatches = 2;
    plans[3].schedule = StageSchedule::Naive;
    plans[3].mesh.pp = 3;
    plans[3].optimizer = OptimizerKind::AdamW;
    for (const Plan& plan : plans) {
        const Peak peak = peakOf(plan);
        std::map<MemoryCategory, std::int64_t> sums;
        for (const sim::MemoryPart& part : peak.memory.hostOrder.parts) {
            EXPECT_FALSE(part.tensors.empty());
            EXPECT_FALSE(part.owner.empty());
            EXPECT_EQ(part.bytes.value % part.count, 0);
            sums[part.category] += part.bytes.value;
        }
        for (std::size_t c = 0; c < kMemoryCategories; ++c) {
            const auto category = static_cast<MemoryCategory>(c);
            EXPECT_EQ(sums[category], peak.memory.hostOrder.byCategory[category]) << nameOf(category);
        }
    }
}

// Framework semantics 1.6: with equal units the peak is reached at the end of the backward of the last but one.
TEST(PeakParts, AtThePeakItselfTheBackwardUnderWayIsNamed) {
    const Peak peak = peakOf(fsdp());
    EXPECT_EQ(peak.part(UnshardedGradients, "mlp.3.weight").owner, "encoder.layers.encoder_layer_10");
    // Autograd let go of its own GELU's result when the MLP's backward had run.
    EXPECT_EQ(peak.part(Activations, "mlp.1: gelu").owner, "encoder.layers.encoder_layer_0 .. 9");
}

}  // namespace
}  // namespace shardscope
