// The table of framework semantics 1.6 (PyTorch 2.15, recorded), row by row, in host order; and section 6's bytes per
// parameter. CPU offload and several reduce-scatter buffers are not part of the graph.

#include <gtest/gtest.h>

#include <functional>

#include "core/graph/build.h"
#include "core/graph/host_memory.h"
#include "core/graph/optimizer_state.h"
#include "core/model/vit.h"
#include "sim/memory/step_memory.h"
#include "tests/checkers/support/recorded_case.h"
#include "tests/checkers/support/recorded_memory.h"

namespace shardscope {
namespace {

using namespace core;
using enum MemoryCategory;

constexpr std::int64_t kRanks = 2;

struct Toy {
    Model model;
    StepGraph graph;
    std::int64_t unit = 0, root = 0;  // padded elements of one block's unit and of the root
    std::int64_t rootOwn = 0;         // unpadded elements of the root
};

Toy toy(const std::function<void(Plan&)>& change = {}, std::int64_t blocks = 4) {
    Toy t;
    Plan plan;
    plan.mesh.dpShard = kRanks;
    plan.precision.param = DType::BF16;
    plan.precision.reduce = DType::F32;
    plan.fsdp.reshardAfterForward = {Reshard::Kind::True, 0};
    if (change) change(plan);
    checkers::ToySizes sizes;
    sizes.model = {.blocks = blocks, .d = 8, .h = 16};
    t.model = *checkers::toyModel(sizes, plan.precision.compute());
    t.graph = *buildStepGraph(t.model, plan);
    t.unit = t.graph.units.front().paddedElements;
    t.root = t.graph.units.back().paddedElements;
    t.rootOwn = t.graph.units.back().elements;
    EXPECT_EQ(t.graph.units.front().elements, t.unit) << "blocks divide evenly here";
    return t;
}

UnitId unitNamed(const StepGraph& graph, const std::string& name) {
    for (std::size_t u = 0; u < graph.units.size(); ++u)
        if (graph.units[u].name == name) return UnitId(u);
    ADD_FAILURE() << "no unit " << name;
    return {};
}

/// Live bytes once the n-th action for which `wanted` holds is done.
CategoryBytes liveAfter(const StepGraph& graph, const std::function<bool(const HostAction&)>& wanted, int n = 1) {
    HostMemoryCursor cursor(graph, graph.classes.front());
    while (const HostAction* action = cursor.next())
        if (wanted(*action) && --n == 0) return cursor.live();
    ADD_FAILURE() << "no such action";
    return {};
}

auto launches(const StepGraph& graph, OpKind kind, const std::string& unit) {
    return [&graph, kind, id = unitNamed(graph, unit)](const HostAction& a) {
        if (a.kind != HostActionKind::Launch) return false;
        const Op& op = graph.ops[a.op.index()];
        return op.kind == kind && op.unit == id;
    };
}

auto marks(const StepGraph& graph, Mark mark, const std::string& unit) {
    return [mark, id = unit.empty() ? UnitId() : unitNamed(graph, unit)](const HostAction& a) {
        return a.kind == HostActionKind::Mark && a.mark == mark && (!id.valid() || a.unit == id);
    };
}

/// What 1.6 sums up: gather buffers, unsharded parameters, reduce inputs, gradients of units that are not the root.
std::int64_t beyondRest(const Toy& t, const CategoryBytes& live) {
    return live[GatherBuffers] + live[UnshardedParameters] + live[ReduceBuffers] + live[UnshardedGradients] -
           sizeOf(t.graph.plan.precision.compute()) * t.root;
}

TEST(MemoryOfFsdp2, AtRestHoldsPaddedShardsAndTwoMomentsOfTheOwnElements) {
    const Toy t = toy();
    const sim::StepMemory memory = sim::hostOrderMemory(t.graph, t.model, ClassId(0));
    EXPECT_EQ(memory.atStart[ShardedParameters], 4 * (4 * t.unit + t.root) / kRanks);
    EXPECT_EQ(memory.atStart[ShardedGradients], 0);
    EXPECT_EQ(memory.atStart[OptimizerState], 8 * ownElements(t.model, t.graph.units, t.graph.plan, 0));
    EXPECT_EQ(memory.atStart.total().value, memory.atStart[ShardedParameters] + memory.atStart[OptimizerState]);
}

TEST(MemoryOfFsdp2, CopyInTakesACastOfTheShardAndTheGatherTheWholeUnit) {
    const Toy t = toy();
    const auto live = liveAfter(t.graph, launches(t.graph, OpKind::GatherCopyIn, "blocks.0"));
    EXPECT_EQ(live[Workspace], 2 * t.unit / kRanks);
    EXPECT_EQ(live[GatherBuffers], 2 * t.root + 2 * t.unit) << "the root's buffer waits for the next unit";
}

TEST(MemoryOfFsdp2, WithoutMixedPrecisionTheShardItselfIsCopiedIn) {
    const Toy t = toy([](Plan& plan) { plan.precision = {}; });
    EXPECT_EQ(liveAfter(t.graph, launches(t.graph, OpKind::GatherCopyIn, "blocks.0"))[Workspace], 0);
}

TEST(MemoryOfFsdp2, CopyOutDropsThePreviousBufferAndKeepsItsOwnUntilTheNextUnit) {
    const Toy t = toy();
    const auto live = liveAfter(t.graph, launches(t.graph, OpKind::CopyOut, "blocks.1"));
    EXPECT_EQ(live[GatherBuffers], 2 * t.unit);
    EXPECT_EQ(live[UnshardedParameters], 2 * t.root + 2 * t.unit);
    const auto backward = liveAfter(t.graph, marks(t.graph, Mark::GatherFreed, "blocks.1"), 2);
    EXPECT_EQ(backward[UnshardedParameters], 2 * t.root + 2 * t.unit);
}

TEST(MemoryOfFsdp2, TheFirstGatherHoldsTheRootTwice) {
    const Toy t = toy();
    const auto live = liveAfter(t.graph, launches(t.graph, OpKind::AllGather, "blocks.0"));
    EXPECT_EQ(live[GatherBuffers] + live[UnshardedParameters], 2 * (2 * t.root + t.unit));
}

TEST(MemoryOfFsdp2, ForwardHoldsTwoUnitsBesideTheRoot) {
    const Toy t = toy();
    EXPECT_EQ(beyondRest(t, liveAfter(t.graph, launches(t.graph, OpKind::CopyOut, "blocks.2"))), 2 * 2 * t.unit);
    EXPECT_EQ(beyondRest(t, liveAfter(t.graph, launches(t.graph, OpKind::AllGather, "blocks.2"))), 2 * 2 * t.unit);
}

TEST(MemoryOfFsdp2, ExplicitForwardPrefetchOfDepthKHoldsKMoreBuffers) {
    const Toy t = toy([](Plan& plan) { plan.fsdp.forwardPrefetch = 2; }, 6);
    // While blocks.1 is unsharded its own buffer and two prefetched ones are there.
    const auto live = liveAfter(t.graph, launches(t.graph, OpKind::AllGather, "blocks.3"));
    EXPECT_EQ(live[GatherBuffers], 3 * 2 * t.unit);
    EXPECT_EQ(live[UnshardedParameters], 2 * t.root + 2 * t.unit);
}

TEST(MemoryOfFsdp2, WithoutReshardEveryUnitStaysAtTheEndOfForward) {
    const Toy t = toy([](Plan& plan) { plan.fsdp.reshardAfterForward = {Reshard::Kind::False, 0}; });
    const auto live = liveAfter(t.graph, marks(t.graph, Mark::LossBackward, ""));
    EXPECT_EQ(live[UnshardedParameters], 2 * (4 * t.unit + t.root));
    EXPECT_EQ(live[GatherBuffers], 0);
}

TEST(MemoryOfFsdp2, ReshardToAGroupKeepsOneKthOfEachUnit) {
    const Toy t = toy([](Plan& plan) {
        plan.mesh.dpShard = 4;
        plan.fsdp.reshardAfterForward = {Reshard::Kind::Group, 2};
    });
    const auto live = liveAfter(t.graph, marks(t.graph, Mark::LossBackward, ""));
    EXPECT_EQ(live[UnshardedParameters], 2 * t.root + 4 * 2 * t.unit / 2);
}

TEST(MemoryOfFsdp2, BackwardHoldsOneUnitOneBufferAndOneReduceInput) {
    const Toy t = toy();
    const auto live =
        liveAfter(t.graph, launches(t.graph, OpKind::AllGather, "blocks.1"), 2);  // prefetched by blocks.2
    EXPECT_EQ(live[UnshardedParameters], 2 * t.root + 2 * t.unit);
    EXPECT_EQ(live[GatherBuffers], 2 * t.unit);
    EXPECT_EQ(live[ReduceBuffers], 4 * t.unit);
}

struct PeakCase {
    const char* name;
    std::optional<DType> param, reduce;
    std::int64_t atEndOfBackward, atCopyIn;  // bytes per element of the unit
    friend void PrintTo(const PeakCase& c, std::ostream* os) { *os << c.name; }
};

class EndOfBackward : public testing::TestWithParam<PeakCase> {};

TEST_P(EndOfBackward, IsThePeakOfEqualUnits) {
    const PeakCase& c = GetParam();
    const Toy t = toy([&](Plan& plan) { plan.precision = {DType::F32, c.param, c.reduce}; });
    const checkers::StepMoments moments = checkers::momentsOf(t.graph, t.graph.classes.front(), -1);
    const auto& m = moments.units.at("blocks.2").at("Before Post-Backward");
    EXPECT_EQ(m.live[GatherBuffers] + m.live[UnshardedParameters] + m.live[ReduceBuffers] + m.unitGradients -
                  sizeOf(t.graph.plan.precision.compute()) * t.root,
              c.atEndOfBackward * t.unit);
    const auto copyIn = liveAfter(t.graph, marks(t.graph, Mark::ReduceCopyIn, "blocks.2"));
    const std::int64_t rootGradients =
        m.live[UnshardedGradients] - m.unitGradients;  // of norm and head, there since the head's backward
    EXPECT_EQ(beyondRest(t, copyIn) - rootGradients, c.atCopyIn * t.unit);
}

INSTANTIATE_TEST_SUITE_P(Precisions, EndOfBackward,
                         testing::Values(PeakCase{"bf16_fp32", DType::BF16, DType::F32, 10, 8},
                                         PeakCase{"fp32", std::nullopt, std::nullopt, 16, 12},
                                         PeakCase{"bf16", DType::BF16, DType::BF16, 8, 6}),
                         [](const auto& test) { return test.param.name; });

TEST(MemoryOfFsdp2, ExplicitBackwardPrefetchOfDepthKHoldsKBuffers) {
    const Toy t = toy([](Plan& plan) { plan.fsdp.backwardPrefetch = 2; }, 6);
    const checkers::StepMoments moments = checkers::momentsOf(t.graph, t.graph.classes.front(), -1);
    EXPECT_EQ(moments.units.at("blocks.4").at("Before Post-Backward").live[GatherBuffers], 2 * 2 * t.unit);
}

TEST(MemoryOfFsdp2, WithoutReshardBackwardNeedsNoGatherBuffers) {
    const Toy t = toy([](Plan& plan) { plan.fsdp.reshardAfterForward = {Reshard::Kind::False, 0}; });
    const auto m =
        checkers::momentsOf(t.graph, t.graph.classes.front(), -1).units.at("blocks.2").at("Before Post-Backward");
    EXPECT_EQ(m.live[GatherBuffers], 0);
    EXPECT_EQ(m.live[UnshardedParameters], 2 * t.root + 3 * 2 * t.unit);
    EXPECT_EQ(m.live[ReduceBuffers], 4 * t.unit);
    EXPECT_EQ(m.unitGradients, 2 * t.unit);
}

TEST(MemoryOfFsdp2, TheRootIsWholeInAllOfBackwardEvenIfItWasResharded) {
    const Toy t = toy([](Plan& plan) { plan.fsdp.rootReshardAfterForward = {Reshard::Kind::True, 0}; });
    EXPECT_EQ(liveAfter(t.graph, marks(t.graph, Mark::LossBackward, ""))[UnshardedParameters], 0);
    const auto m =
        checkers::momentsOf(t.graph, t.graph.classes.front(), -1).units.at("blocks.0").at("Before Post-Backward");
    EXPECT_EQ(m.live[UnshardedParameters], 2 * t.root + 2 * t.unit);
}

TEST(MemoryOfFsdp2, TheFinalCallbackHoldsTheRootThenItsReduceInput) {
    const Toy t = toy();
    const auto begin = liveAfter(t.graph, marks(t.graph, Mark::FinalBegin, ""));
    EXPECT_EQ(begin[UnshardedParameters], 2 * t.root);
    EXPECT_EQ(begin[ReduceBuffers], 4 * t.unit);
    EXPECT_EQ(begin[UnshardedGradients], 2 * t.rootOwn);
    const auto copyIn = liveAfter(t.graph, marks(t.graph, Mark::ReduceCopyIn, "root"));
    EXPECT_EQ(copyIn[UnshardedParameters], 0);
    EXPECT_EQ(copyIn[ReduceBuffers], 4 * t.root);
    EXPECT_EQ(copyIn[UnshardedGradients], 2 * t.rootOwn);
}

TEST(MemoryOfFsdp2, ShardedGradientsStayAfterTheirReduceScatter) {
    const Toy t = toy();
    EXPECT_EQ(liveAfter(t.graph, marks(t.graph, Mark::GradientSet, "blocks.2"))[ShardedGradients],
              2 * 4 * t.unit / kRanks);
}

// 1.6: beside its input a reduction has an output of b_r P-hat / N, the sharded gradient itself if no cast is needed.
TEST(MemoryOfFsdp2, TheOutputOfAReduceScatterIsOneShareOfItsInput) {
    for (const DType reduce : {DType::F32, DType::BF16}) {
        const Toy t = toy([&](Plan& plan) { plan.precision.reduce = reduce; });
        const std::int64_t size = sizeOf(reduce);
        const auto before = liveAfter(t.graph, marks(t.graph, Mark::ReduceCopyIn, "blocks.2"));
        const auto scattered = liveAfter(t.graph, launches(t.graph, OpKind::ReduceScatter, "blocks.2"));
        EXPECT_EQ(before[ReduceBuffers], size * t.unit);
        EXPECT_EQ(scattered[ReduceBuffers] + scattered[ShardedGradients],
                  before[ReduceBuffers] + before[ShardedGradients] + size * t.unit / kRanks);
        const bool views = reduce == DType::F32;
        EXPECT_EQ(scattered[ReduceBuffers], size * t.unit + (views ? 0 : size * t.unit / kRanks));
        // The cast to the original dtype needs both; then only the sharded gradient stays.
        const auto cast = liveAfter(t.graph, launches(t.graph, OpKind::ReduceCopyOut, "blocks.2"));
        EXPECT_EQ(cast[ShardedGradients] - before[ShardedGradients], 4 * t.unit / kRanks);
        EXPECT_EQ(cast[ReduceBuffers], scattered[ReduceBuffers]);
        const auto done = liveAfter(t.graph, marks(t.graph, Mark::GradientSet, "blocks.2"));
        EXPECT_EQ(done[ReduceBuffers], size * t.unit);
        EXPECT_EQ(done[ShardedGradients], cast[ShardedGradients]);
    }
}

TEST(MemoryOfFsdp2, WithoutReshardTheLastGatherHoldsTwoBuffers) {
    const Toy t = toy([](Plan& plan) { plan.fsdp.reshardAfterForward = {Reshard::Kind::False, 0}; });
    const auto live = liveAfter(t.graph, launches(t.graph, OpKind::AllGather, "blocks.3"));
    EXPECT_EQ(live[GatherBuffers], 2 * 2 * t.unit);
    EXPECT_EQ(live[UnshardedParameters], 2 * (3 * t.unit + t.root));
}

// Section 6: persistent bytes per parameter.
TEST(BytesPerParameter, FsdpHoldsSixteenOverNAndASingleRankSixteen) {
    for (const bool mixed : {false, true}) {
        const Toy t = toy([&](Plan& plan) {
            if (!mixed) plan.precision = {};
        });
        const auto live = liveAfter(t.graph, marks(t.graph, Mark::OptimizerStep, ""));
        const std::int64_t padded = 4 * t.unit + t.root;
        EXPECT_EQ(live[ShardedParameters] + live[ShardedGradients], 8 * padded / kRanks);
        EXPECT_EQ(live[OptimizerState], 8 * ownElements(t.model, t.graph.units, t.graph.plan, 0));
    }
    const Toy single = toy([](Plan& plan) {
        plan.policy = UnitPolicy::None;
        plan.mesh = {};
        plan.precision = {};
    });
    const auto live = liveAfter(single.graph, marks(single.graph, Mark::OptimizerStep, ""));
    EXPECT_EQ(live[UnshardedParameters] + live[UnshardedGradients] + live[OptimizerState],
              16 * parameterCount(single.model));
}

TEST(BytesPerParameter, WithoutReshardTwoMoreFromForwardToBackward) {
    const Toy kept = toy([](Plan& plan) { plan.fsdp.reshardAfterForward = {Reshard::Kind::False, 0}; });
    const Toy freed = toy();
    const auto atLoss = [](const Toy& t) { return liveAfter(t.graph, marks(t.graph, Mark::LossBackward, "")); };
    EXPECT_EQ(atLoss(kept)[UnshardedParameters] - atLoss(freed)[UnshardedParameters], 2 * 4 * kept.unit);
}

TEST(MemoryOfAStep, EndsAsItBeganAndTheFirstGrowsByTheOptimizersState) {
    const Toy later = toy();
    const sim::StepMemory steady = sim::hostOrderMemory(later.graph, later.model, ClassId(0));
    EXPECT_EQ(steady.atStart, steady.atEnd);
    const Toy first = toy([](Plan& plan) { plan.firstStep = true; });
    const sim::StepMemory growing = sim::hostOrderMemory(first.graph, first.model, ClassId(0));
    EXPECT_EQ(growing.atEnd.total().value - growing.atStart.total().value, steady.atStart[OptimizerState]);
    EXPECT_EQ(growing.atEnd, steady.atStart);
}

TEST(MemoryOfAStep, ThePeakIsTheSumOfItsPartsAndSaysWhere) {
    const Toy t = toy();
    const sim::StepMemory memory = sim::hostOrderMemory(t.graph, t.model, ClassId(0));
    std::int64_t sum = 0;
    for (const sim::MemoryPart& part : memory.hostOrder.parts) sum += part.bytes.value;
    EXPECT_EQ(sum, memory.hostOrder.total.value);
    EXPECT_EQ(memory.hostOrder.byCategory.total(), memory.hostOrder.total);
    EXPECT_FALSE(memory.hostOrder.moment.empty());
    EXPECT_GE(memory.reserved, memory.hostOrder.total);
}

// The lecture: a unit that takes 32 GB whole takes 8 GB on each of four GPUs.
TEST(MemoryOfAStep, AUnitOf32GigabytesIsEightOnEachOfFourGpus) {
    checkers::ToySizes sizes;
    sizes.model = {.blocks = 1, .d = 40'000, .h = 99'998};  // 2 x 40,000 x 99,998 weights, near 8e9 parameters
    const Model model = *checkers::toyModel(sizes);
    Plan plan;
    plan.mesh.dpShard = 4;
    const StepGraph graph = *buildStepGraph(model, plan);
    const Unit& unit = graph.units.front();
    EXPECT_NEAR(static_cast<double>(unit.elements) * 4, 32e9, 0.01e9);
    std::int64_t shard = 0;
    for (const Block& block : graph.blocks)
        if (block.persistent && block.category == ShardedParameters && block.unit == UnitId(0))
            shard += block.bytes.value;
    EXPECT_NEAR(static_cast<double>(shard), 8e9, 0.01e9);
}

// Framework semantics 1.7: the lecture's root, 358,666 parameters.
TEST(MemoryOfAStep, TheLecturesRootIsPaddedForLeadingOnes) {
    for (const auto& [ranks, padded] : {std::pair{2, 510'730}, {4, 816'396}, {8, 1'427'728}}) {
        const Model model = *buildModel(*namedVit("vit_b_16_1ch10"), {});
        Plan plan;
        plan.mesh.dpShard = ranks;
        const StepGraph graph = *buildStepGraph(model, plan);
        EXPECT_EQ(graph.units.back().elements, 358'666);
        EXPECT_EQ(graph.units.back().paddedElements, padded) << ranks;
    }
}

struct ExpectedTotal {
    const char* recording;
    std::int64_t blocks, ranks;
    std::function<void(Plan&)> change;
    std::int64_t total;
};

// "Expected values" of semantics 1.6: `total` of host_order_bytes in PyTorch's recordings (d 6, h 10, vocab 11, seq 5).
TEST(MemoryOfFsdp2, LargestBytesAreThoseRecorded) {
    const auto precision = [](DType param, std::optional<DType> reduce) {
        return [=](Plan& plan) { plan.precision = {DType::F32, param, reduce}; };
    };
    const std::vector<ExpectedTotal> cases = {
        {"blocks4_raf_true", 4, 2, {}, 3280},
        {"mp_bf16_f32", 3, 2, precision(DType::BF16, DType::F32), 1936},
        {"mp_bf16_noreduce", 2, 2, precision(DType::BF16, std::nullopt), 1640},
        {"blocks3_w4", 3, 4, {}, 4016},
        {"blocks3_raf_int2_w4", 3, 4,
         [](Plan& p) {
             p.fsdp.reshardAfterForward = {Reshard::Kind::Group, 2};
         },
         4392},
        {"bwd_pf2", 4, 2, [](Plan& p) { p.fsdp.backwardPrefetch = 2; }, 3872},
        {"fwd_pf2", 4, 2, [](Plan& p) { p.fsdp.forwardPrefetch = 2; }, 3280},
        {"blocks4_raf_false", 4, 2,
         [](Plan& p) {
             p.fsdp.reshardAfterForward = {Reshard::Kind::False, 0};
         },
         3872},
        {"blocks1_raf_true", 1, 2, {}, 2416},
    };
    for (const ExpectedTotal& c : cases) {
        Plan plan;
        plan.mesh.dpShard = c.ranks;
        plan.fsdp.reshardAfterForward = {Reshard::Kind::True, 0};
        if (c.change) c.change(plan);
        checkers::ToySizes sizes;
        sizes.model.blocks = c.blocks;
        const StepGraph graph = *buildStepGraph(*checkers::toyModel(sizes, plan.precision.compute()), plan);
        EXPECT_EQ(checkers::hostOrderBytes(graph, graph.classes.front()).total, c.total) << c.recording;
    }
}

}  // namespace
}  // namespace shardscope
