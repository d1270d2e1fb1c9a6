#include "core/graph/activation_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/model/vit.h"

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

}  // namespace
}  // namespace shardscope::core
