#include "core/graph/activation_plan.h"

#include <gtest/gtest.h>

#include <map>

#include "core/graph/build.h"
#include "core/graph/host_memory.h"
#include "core/model/named_decoders.h"
#include "core/model/vit.h"
#include "tests/core/kernel_slots.h"

namespace shardscope::core {
namespace {

struct Planned {
    Model model;
    std::vector<PassSlot> slots;
    ActivationPlan plan;
    std::uint32_t loss = 0;  ///< slot of the loss's backward

    [[nodiscard]] std::uint32_t slotOf(std::size_t layer, bool backward) const {
        for (std::uint32_t s = 0; s < slots.size(); ++s)
            if (slots[s].kernels.layer == LayerId(layer) && slots[s].kernels.backward == backward) return s;
        ADD_FAILURE() << "no such slot";
        return 0;
    }
    /// First and last slot of every storage that outlives an op.
    [[nodiscard]] std::map<StorageRef, std::pair<std::uint32_t, std::uint32_t>> lives() const {
        std::map<StorageRef, std::pair<std::uint32_t, std::uint32_t>> all;
        for (const ActivationPlan::Piece& piece : plan.pieces)
            for (std::uint32_t s = piece.begin; s < piece.end; ++s)
                EXPECT_TRUE(all.emplace(plan.storages[s], std::pair{piece.firstSlot, piece.lastSlot}).second)
                    << "a storage lies in one piece";
        return all;
    }
};

/// One op a layer and pass.
Planned planned() {
    Planned made;
    VitSpec spec = *namedVit("vit_tiny");
    spec.layers = 3;
    Workload workload;
    workload.batch = 2;
    made.model = *buildModel(spec, workload);
    const std::size_t layers = made.model.layers.size();
    for (const bool backward : {false, true})
        for (std::size_t i = 0; i < layers; ++i) {
            const std::size_t l = backward ? layers - 1 - i : i;
            const Program& program = made.model.programOf(made.model.layers[l]);
            const auto count = static_cast<std::uint32_t>((backward ? program.backward : program.forward).size());
            if (backward && i == 0) made.loss = static_cast<std::uint32_t>(made.slots.size());
            made.slots.push_back({PassSlot::Kind::Kernels, {LayerId(l), 0, count, backward}, false});
        }
    made.plan = planActivations(made.model, {0, 1, LayerId(std::size_t{0}), LayerId(layers)}, made.slots,
                                RecomputeTable(made.model, {}));
    return made;
}

// What crosses from forward to backward is what the programs save, each once, wherever a neighbour reads it too.
TEST(ActivationPlan, WhatLivesFromForwardToBackwardIsWhatIsSaved) {
    const Planned p = planned();
    const std::size_t layers = p.model.layers.size();
    std::set<StorageRef> saved, crossing;
    for (std::size_t l = 0; l < layers; ++l)
        for (const TensorId tensor : savedForBackward(p.model.programOf(p.model.layers[l])))
            saved.insert(resolveStorage(p.model, LayerId(std::size_t{0}), LayerId(layers), LayerId(l), tensor));
    for (const auto& [storage, life] : p.lives())
        if (life.first < p.loss && life.second >= p.loss) crossing.insert(storage);
    EXPECT_EQ(crossing, saved);
    EXPECT_GT(saved.size(), 3 * 10u);
}

TEST(ActivationPlan, AStorageLivesFromTheOpThatMakesItToTheLastThatTouchesIt) {
    const Planned p = planned();
    const auto lives = p.lives();
    std::size_t block = 0;
    while (p.model.layers[block].kind != LayerKind::Block) ++block;
    const Program& program = p.model.programOf(p.model.layers[block]);
    const auto named = [&](const char* name) {
        for (std::size_t t = 0; t < program.tensors.size(); ++t)
            if (program.tensors[t].name == name) return TensorId(t);
        ADD_FAILURE() << name;
        return TensorId();
    };
    // Saved inside the block: to the block's own backward.
    EXPECT_EQ(lives.at({LayerId(block), named("mlp.1.gelu")}),
              (std::pair{p.slotOf(block, false), p.slotOf(block, true)}));
    // Its output is the next block's input, which saves it; the gradient of that input goes the other way.
    EXPECT_EQ(lives.at({LayerId(block), findRole(program, TensorRole::Output)}),
              (std::pair{p.slotOf(block, false), p.slotOf(block + 1, true)}));
    EXPECT_EQ(lives.at({LayerId(block + 1), findRole(program, TensorRole::InputGradient)}),
              (std::pair{p.slotOf(block + 1, true), p.slotOf(block, true)}));
    // Made and dropped inside one op: workspace.
    EXPECT_FALSE(lives.contains({LayerId(block), named("mlp.1.d_input")}));
    EXPECT_GT(p.plan.workspace[p.slotOf(block, true)].value, 0);
}

/// The most that a step on one device needs if memory is taken and given back kernel by kernel: parameters, activations
/// and the gradients made so far; with several micro-batches all gradients and what a kernel adds to them. Under DDP
/// the buckets lie beside, and gradients that become views into them last as long as their kernel.
std::int64_t mostKernelByKernel(const Model& model, const Plan& plan) {
    const Stage stage{0, 1, LayerId(std::size_t{0}), LayerId(model.layers.size())};
    const RecomputeTable recompute(model, plan);
    const std::vector<PassSlot> slots = tests::kernelSlots(model, recompute);
    const ActivationPlan planned = planActivations(model, stage, slots, recompute);
    std::vector<std::int64_t> live(slots.size() + 1, 0);
    for (const ActivationPlan::Piece& piece : planned.pieces) {
        live[piece.firstSlot] += piece.bytes.value;
        live[piece.lastSlot + 1] -= piece.bytes.value;
    }
    const bool there = plan.microBatches > 1;
    const bool ddp = plan.policy == UnitPolicy::Ddp, views = ddp && plan.ddp.gradientAsBucketView;
    const std::int64_t copies = 1 + (ddp ? 1 : 0) + (there && !views ? 1 : 0);
    std::int64_t here = parameterCount(model) * sizeOf(model.workload.dtype) * copies, most = 0;
    for (std::size_t s = 0; s < slots.size(); ++s) {
        here += live[s];
        std::int64_t made = 0;
        if (slots[s].kernels.backward) {
            const Program& program = model.programOf(model.layers[slots[s].kernels.layer.index()]);
            for (const TensorId t : program.backward[slots[s].kernels.first].outputs)
                if (program.tensor(t).role == TensorRole::ParameterGradient) made += program.tensor(t).bytes().value;
        }
        most = std::max(most, here + made + planned.workspace[s].value);
        if (!there && !views) here += made;
    }
    return most;
}

// Few ops, of many kernels each, and yet the step's peak is that of its kernels.
TEST(PeakCuts, OpsOfManyKernelsPeakWhereTheirKernelsDo) {
    Plan plan;
    plan.policy = UnitPolicy::None;
    plan.optimizer = OptimizerKind::None;
    Workload workload;
    workload.batch = 3;
    VitSpec vit = *namedVit("vit_tiny");
    vit.layers = 4;
    DecoderSpec llama = *namedDecoder("tinyllama-1.1b");
    llama.layers = 3;
    llama.vocab = 97;  // the loss is not where it peaks
    for (const ModelSpec& spec : {ModelSpec(vit), ModelSpec(llama)})
        for (const auto& [mode, microBatches] : {std::pair{Checkpointing::Mode::None, 1},
                                                 {Checkpointing::Mode::Full, 1},
                                                 {Checkpointing::Mode::Selective, 1},
                                                 {Checkpointing::Mode::None, 3},
                                                 {Checkpointing::Mode::Full, 2}}) {
            plan.checkpointing.mode = mode;
            plan.microBatches = microBatches;
            workload.sequence = std::holds_alternative<VitSpec>(spec) ? 0 : 64;
            const Model model = *buildModel(spec, workload);
            const auto graph = buildStepGraph(model, plan);
            ASSERT_TRUE(graph) << describe(graph.error());
            EXPECT_EQ(peakAllocated(*graph, graph->classes[0]).value, mostKernelByKernel(model, plan))
                << model.name << " checkpointing " << static_cast<int>(mode) << ", " << microBatches
                << " micro-batches";
            std::size_t kernels = 0;
            for (const Layer& layer : model.layers)
                kernels += model.programOf(layer).forward.size() + model.programOf(layer).backward.size();
            EXPECT_LT(graph->ops.size(), kernels * static_cast<std::size_t>(microBatches) / 3);
        }
}

TEST(PeakCuts, HoldWhereDdpKeepsGradientsInBuckets) {
    Plan plan;
    plan.policy = UnitPolicy::Ddp;
    plan.optimizer = OptimizerKind::None;
    plan.mesh.dpReplicate = 2;
    Workload workload;
    workload.batch = 3;
    VitSpec vit = *namedVit("vit_tiny");
    vit.layers = 4;
    const Model model = *buildModel(vit, workload);
    for (const bool views : {false, true})
        for (const int microBatches : {1, 3}) {
            plan.ddp.gradientAsBucketView = views;
            plan.microBatches = microBatches;
            const auto graph = buildStepGraph(model, plan);
            ASSERT_TRUE(graph) << describe(graph.error());
            EXPECT_EQ(peakAllocated(*graph, graph->classes[0]).value, mostKernelByKernel(model, plan))
                << (views ? "views, " : "") << microBatches << " micro-batches";
        }
}

// AddmmBackward has its input until the bias's gradient is there, of which it reads nothing.
TEST(ActivationPlan, WhatANodeHasReadStaysUntilTheNodeHasRun) {
    Workload workload;
    workload.batch = 2;
    const Model model = *buildModel(*namedVit("vit_tiny"), workload);
    std::size_t block = 0;
    while (model.layers[block].kind != LayerKind::Block) ++block;
    const Program& program = model.programOf(model.layers[block]);
    std::vector<PassSlot> slots{{PassSlot::Kind::Kernels,
                                 {LayerId(block), 0, static_cast<std::uint32_t>(program.forward.size()), false},
                                 false}};
    for (std::uint32_t k = 0; k < program.backward.size(); ++k)
        slots.push_back({PassSlot::Kind::Kernels, {LayerId(block), k, 1, true}, false});
    const ActivationPlan planned =
        planActivations(model, {0, 1, LayerId(block), LayerId(block + 1)}, slots, RecomputeTable(model, {}));
    for (const ActivationPlan::Piece& piece : planned.pieces)
        for (std::uint32_t i = piece.begin; i < piece.end; ++i) {
            if (program.tensor(planned.storages[i].tensor).name != "mlp.1.gelu") continue;
            const Kernel& last = program.backward[slots[piece.lastSlot].kernels.first];
            EXPECT_EQ(last.kind, KernelKind::BiasGrad);
            EXPECT_EQ(program.modules[last.module].name, "mlp.3");
            return;
        }
    ADD_FAILURE() << "the GELU's result does not outlive an op";
}

// torchvision's VisionTransformer calls its encoder with the embedded patches, and has them until it returns.
TEST(ActivationPlan, TheCallerOfAModuleHasItsInputUntilTheModuleReturns) {
    const Planned p = planned();
    const Program& embedding = p.model.programOf(p.model.layers[0]);
    std::size_t norm = 0;
    while (p.model.layers[norm].kind != LayerKind::Norm) ++norm;
    for (std::size_t t = 0; t < embedding.tensors.size(); ++t) {
        if (embedding.tensors[t].name != "cat") continue;
        EXPECT_EQ(p.lives().at({LayerId(std::size_t{0}), TensorId(t)}), (std::pair{0u, p.slotOf(norm, false)}));
    }
}

}  // namespace
}  // namespace shardscope::core
