#include "core/model/freeze.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build.h"
#include "core/graph/optimizer_state.h"
#include "core/model/vit.h"
#include "tests/checkers/support/recorded_case.h"

namespace shardscope::core {
namespace {

Model toy(std::vector<std::string> frozen) {
    checkers::ToySizes sizes;
    sizes.model.blocks = 3;
    sizes.frozen = std::move(frozen);
    auto model = checkers::toyModel(sizes);
    EXPECT_TRUE(model) << (model ? "" : describe(model.error()));
    return model ? std::move(*model) : Model{};
}

std::size_t backwardKernels(const Model& model, const std::string& layer) {
    for (const Layer& l : model.layers)
        if (l.name == layer) return model.programOf(l).backward.size();
    ADD_FAILURE() << layer;
    return 0;
}

TEST(Freeze, LeavesOutWhatOnlyServesFrozenGradients) {
    const Model all = toy({}), block = toy({"blocks.1"}), part = toy({"blocks.1.fc1"});
    EXPECT_EQ(backwardKernels(block, "blocks.0"), backwardKernels(all, "blocks.0"));
    // Two products' weights and their biases; a LayerNorm's backward is one kernel for input, weight and bias.
    EXPECT_EQ(backwardKernels(block, "blocks.1") + 4, backwardKernels(all, "blocks.1"));
    EXPECT_EQ(backwardKernels(part, "blocks.1") + 2, backwardKernels(all, "blocks.1"));
    EXPECT_LT(savedForBackward(block.programOf(block.layers[2])).size(),
              savedForBackward(all.programOf(all.layers[2])).size());
}

TEST(Freeze, EndsBackwardWhereNothingIsTrainedBelow) {
    const Model model = toy({"emb", "pos", "blocks.0"});
    EXPECT_EQ(backwardKernels(model, "blocks.0"), 0u);
    EXPECT_GT(backwardKernels(model, "blocks.1"), 0u);
    for (const Layer& layer : model.layers) {
        if (layer.name != "blocks.1") continue;
        for (const Kernel& kernel : model.programOf(layer).backward)
            for (const TensorId output : kernel.outputs)
                EXPECT_NE(model.programOf(layer).tensor(output).role, TensorRole::InputGradient);
    }
}

TEST(Freeze, RefusesUnknownNamesAndAModelWithoutAnythingToTrain) {
    Model model = toy({});
    const auto unknown = freeze(model, {"block.1"});
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().message.find("no module or parameter 'block.1'"), std::string::npos);
    EXPECT_NE(unknown.error().hint.find("blocks.1"), std::string::npos);
    std::vector<std::string> everything;
    for (const Parameter& parameter : model.parameters) everything.push_back(parameter.name);
    EXPECT_FALSE(freeze(model, everything));
}

TEST(Freeze, IsRefusedWhereTheGraphCannotExpressIt) {
    Plan plan;
    plan.policy = UnitPolicy::Ddp;
    plan.mesh = {1, 2, 1};
    EXPECT_FALSE(buildStepGraph(toy({"blocks.0"}), plan));
    plan = {};
    plan.policy = UnitPolicy::None;
    plan.schedule = StageSchedule::Naive;
    plan.mesh.pp = 3;
    EXPECT_TRUE(buildStepGraph(toy({"blocks.0"}), plan));
    EXPECT_FALSE(buildStepGraph(toy({"emb", "pos", "blocks.0"}), plan));
}

TEST(Freeze, SendsNoGradientOfATiedWeightThatIsFrozen) {
    Plan plan;
    plan.policy = UnitPolicy::None;
    plan.schedule = StageSchedule::Naive;
    plan.mesh.pp = 2;
    const auto messages = [&](std::vector<std::string> frozen) {
        checkers::ToySizes sizes;
        sizes.model.tied = true;
        sizes.frozen = std::move(frozen);
        const auto model = checkers::toyModel(sizes);
        const auto graph = buildStepGraph(*model, plan);
        EXPECT_TRUE(graph) << (graph ? "" : describe(graph.error()));
        return graph ? std::count_if(graph->ops.begin(), graph->ops.end(),
                                     [](const Op& op) { return op.kind == OpKind::Send; })
                     : 0;
    };
    EXPECT_EQ(messages({}), 4);  // forward, backward, and the weight's gradient both ways
    EXPECT_EQ(messages({"emb"}), 2);
}

// Without a root a unit ends with its own backward; a frozen one in front of all that is trained has none.
TEST(Freeze, OfUnitsThatBackwardNeverReachesIsRefusedWhereTheyWouldStayGathered) {
    const Model model = toy({"emb", "pos", "blocks.0"});
    Plan plan;
    plan.mesh.dpShard = 4;
    plan.fsdp.wrap.root = false;
    plan.fsdp.reshardAfterForward = {Reshard::Kind::True, 0};
    EXPECT_TRUE(buildStepGraph(model, plan));  // freed after forward: it is as before
    for (const auto& change :
         {+[](Plan& p) {
              p.fsdp.reshardAfterForward = {Reshard::Kind::False, 0};
          },
          +[](Plan& p) {
              p.fsdp.reshardAfterForward = {Reshard::Kind::Group, 2};
          },
          +[](Plan& p) { p.fsdp.shareContext = true; }, +[](Plan& p) { p.fsdp.backwardPrefetch = 1; }}) {
        Plan changed = plan;
        change(changed);
        const auto graph = buildStepGraph(model, changed);
        ASSERT_FALSE(graph);
        EXPECT_EQ(graph.error().code, ErrorCode::Unsupported);
        EXPECT_NE(graph.error().message.find("backward does not reach 'blocks.0'"), std::string::npos)
            << describe(graph.error());
        changed.fsdp.wrap.root = true;
        changed.fsdp.shareContext = false;
        // The slice of an int reshard goes with the unit's own gather, root or not.
        const bool keepsSlice = changed.fsdp.reshardAfterForward.kind == Reshard::Kind::Group;
        EXPECT_EQ(buildStepGraph(model, changed).has_value(), !keepsSlice);
    }
    plan.fsdp.wrap.root = true;
    plan.fsdp.reshardAfterForward = {Reshard::Kind::Group, 2};
    const auto sliced = buildStepGraph(model, plan);
    ASSERT_FALSE(sliced);
    EXPECT_EQ(sliced.error().code, ErrorCode::Unsupported);
    EXPECT_NE(sliced.error().message.find("slice"), std::string::npos) << describe(sliced.error());
    plan.fsdp.reshardOf.emplace_back("blocks.0", Reshard{Reshard::Kind::True, 0});
    EXPECT_TRUE(buildStepGraph(model, plan));  // what the hint says
}

TEST(OptimizerState, IsWhatEachOptimizerKeeps) {
    const Model model = toy({}), part = toy({"blocks.1"});
    Plan plan;
    plan.mesh.dpShard = 1;
    const auto units = formUnits(model, plan);
    ASSERT_TRUE(units);
    const auto bytes = [&](OptimizerKind kind, const Model& of) {
        plan.optimizer = kind;
        return optimizerStateBytes(of, *units, plan, 0).value;
    };
    const std::int64_t elements = parameterCount(model), block = 148;
    EXPECT_EQ(bytes(OptimizerKind::AdamW, model), 8 * elements);
    EXPECT_EQ(bytes(OptimizerKind::SgdMomentum, model), 4 * elements);
    EXPECT_EQ(bytes(OptimizerKind::Sgd, model), 0);
    EXPECT_EQ(bytes(OptimizerKind::AdamW, part), 8 * (elements - block));
    EXPECT_EQ(bytes(OptimizerKind::AdamW8bit, model), 8 * elements);  // every tensor is smaller than 4,096 elements

    VitSpec spec = *namedVit("vit_b_16");
    spec.layers = 1;
    const auto large = buildModel(ModelSpec(spec), Workload{});
    ASSERT_TRUE(large);
    const auto ofLarge = formUnits(*large, plan);
    ASSERT_TRUE(ofLarge);
    // About 2.05 bytes an element instead of 8: two codes and two scales of four bytes for 256 elements.
    const double perElement = static_cast<double>(optimizerStateBytes(*large, *ofLarge, plan, 0).value) /
                              static_cast<double>(parameterCount(*large));
    EXPECT_GT(perElement, 2.03);
    EXPECT_LT(perElement, 2.06);
}

}  // namespace
}  // namespace shardscope::core
