// Steps other than plain training, and what stands between backward and the optimizer: evaluation, clipping, CPU
// offload, tensors cut along dim 1.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/build.h"
#include "core/graph/host_memory.h"
#include "core/graph/optimizer_state.h"
#include "tests/checkers/support/recorded_case.h"

namespace shardscope::core {
namespace {

Model toy(DType dtype = DType::F32) {
    return checkers::toyModel({}, dtype).value();
}

Plan fsdp(std::int64_t ranks) {
    Plan plan;
    plan.mesh.dpShard = ranks;
    return plan;
}

Plan naive(std::int64_t stages) {
    Plan plan;
    plan.schedule = StageSchedule::Naive;
    plan.policy = UnitPolicy::None;
    plan.mesh.pp = stages;
    plan.microBatches = 2;
    return plan;
}

StepGraph built(const Plan& plan) {
    auto graph = buildStepGraph(toy(plan.precision.compute()), plan);
    EXPECT_TRUE(graph) << describe(graph.error());
    return graph ? std::move(*graph) : StepGraph{};
}

std::vector<OpId> opsOf(const StepGraph& graph, OpKind kind) {
    std::vector<OpId> ids;
    for (std::size_t i = 0; i < graph.ops.size(); ++i)
        if (graph.ops[i].kind == kind) ids.push_back(OpId(i));
    return ids;
}

bool waits(const StepGraph& graph, OpId op, OpId from) {
    return std::ranges::any_of(graph.waitsOf(op), [&](const Edge& edge) { return edge.from == from; });
}

Error refusalOf(const Plan& plan) {
    const auto graph = buildStepGraph(toy(), plan);
    EXPECT_FALSE(graph);
    return graph ? Error{} : graph.error();
}

TEST(Evaluation, RunsForwardAlone) {
    for (Plan plan : {fsdp(2), naive(2), naive(1)}) {
        plan.evaluation = plan.afterEvaluation = true;
        const StepGraph graph = built(plan);
        for (const Op& op : graph.ops) {
            EXPECT_NE(op.phase, Phase::Backward);
            EXPECT_NE(op.phase, Phase::Reduction);
            EXPECT_NE(op.phase, Phase::Optimizer);
        }
        plan.evaluation = plan.afterEvaluation = false;
        const StepGraph training = built(plan);
        const auto forward = [](const StepGraph& g) {
            std::uint64_t kernels = 0;  // ops are cut where each of the passes peaks
            for (const Op& op : g.ops)
                if (op.kind == OpKind::Compute && op.phase == Phase::Forward) kernels += op.kernels.count;
            return kernels;
        };
        EXPECT_EQ(forward(graph), forward(training));
        EXPECT_EQ(opsOf(graph, OpKind::Send).size() * 2, opsOf(training, OpKind::Send).size());
    }
}

// Without gradients nothing is saved: what one block hands to the next is dropped as soon as it was read.
TEST(Evaluation, KeepsNoActivations) {
    Plan plan = fsdp(2);
    plan.evaluation = true;
    const auto most = [](const StepGraph& graph) {
        std::int64_t peak = 0;
        HostMemoryCursor cursor(graph, graph.classes[0], 0);
        while (cursor.next() != nullptr)
            peak = std::max(peak, cursor.live().bytes[static_cast<std::size_t>(MemoryCategory::Activations)]);
        return peak;
    };
    checkers::ToySizes small, large;
    small.model.blocks = 2;
    large.model.blocks = 8;
    const auto of = [&](const checkers::ToySizes& sizes, const Plan& how) {
        return most(buildStepGraph(checkers::toyModel(sizes, DType::F32).value(), how).value());
    };
    EXPECT_EQ(of(small, plan), of(large, plan));
    plan.evaluation = false;
    EXPECT_LT(of(small, plan), of(large, plan));
}

TEST(Evaluation, FindsWholeWhatTheOneBeforeHasLeft) {
    Plan first = fsdp(2);
    first.evaluation = true;
    Plan later = first;
    later.afterEvaluation = true;
    const auto gathers = [](const StepGraph& graph) { return opsOf(graph, OpKind::AllGather).size(); };
    EXPECT_EQ(gathers(built(first)), gathers(built(later)) + 1);  // the root's
    for (const Plan& plan : {first, later}) {
        const StepGraph graph = built(plan);
        HostMemoryCursor cursor(graph, graph.classes[0], 0);
        const auto unsharded = [&] {
            return cursor.live().bytes[static_cast<std::size_t>(MemoryCategory::UnshardedParameters)];
        };
        const Unit& root = *std::ranges::find_if(graph.units, [](const Unit& unit) { return unit.isRoot; });
        const std::int64_t whole = root.paddedElements * 4;
        EXPECT_EQ(unsharded(), plan.afterEvaluation ? whole : 0);
        while (cursor.next() != nullptr) {
        }
        EXPECT_EQ(unsharded(), whole);
    }
    Plan training = fsdp(2);
    training.afterEvaluation = true;
    const StepGraph graph = built(training);
    EXPECT_EQ(gathers(graph) + 1, gathers(built(fsdp(2))));
    HostMemoryCursor cursor(graph, graph.classes[0], 0);
    while (cursor.next() != nullptr) {
    }
    EXPECT_EQ(cursor.live().bytes[static_cast<std::size_t>(MemoryCategory::UnshardedParameters)], 0);
}

// Framework semantics 1.16: one scalar over the shards (none over the replicas), gradients read once, then read and
// written.
TEST(Clipping, IsOneScalarAndTwoPassesBetweenBackwardAndOptimizer) {
    Plan plan = fsdp(2);
    plan.mesh.dpReplicate = 2;
    plan.clipNorm = 1;
    const StepGraph graph = built(plan);
    const auto norms = opsOf(graph, OpKind::GradientNorm), scales = opsOf(graph, OpKind::ScaleGradients),
               steps = opsOf(graph, OpKind::OptimizerStep);
    ASSERT_EQ(norms.size(), 1u);
    ASSERT_EQ(scales.size(), 1u);
    const std::int64_t own = ownElements(toy(), graph.units, plan, 0) * 4;
    EXPECT_EQ(graph.ops[norms[0].index()].read.value, own);
    EXPECT_EQ(graph.ops[norms[0].index()].written.value, 0);
    EXPECT_EQ((graph.ops[scales[0].index()].read + graph.ops[scales[0].index()].written).value, 2 * own);
    std::vector<OpId> scalars;
    for (const OpId id : opsOf(graph, OpKind::AllReduce))
        if (!graph.ops[id.index()].unit.valid()) scalars.push_back(id);
    ASSERT_EQ(scalars.size(), 1u);
    EXPECT_EQ(graph.ops[scalars[0].index()].bytes.value, 4);
    EXPECT_EQ(graph.groups[graph.ops[scalars[0].index()].group.index()].kind, Group::Kind::Shard);
    EXPECT_TRUE(waits(graph, scalars[0], norms[0]));
    EXPECT_TRUE(waits(graph, scales[0], scalars[0]));
    EXPECT_LT(scales[0].index(), steps[0].index());
}

TEST(Clipping, PassesTheNormOverTheStages) {
    for (const std::int64_t stages : {2, 3, 4}) {
        Plan plan = naive(stages), plain = plan;
        plan.clipNorm = 1;
        const StepGraph graph = built(plan);
        EXPECT_EQ(opsOf(graph, OpKind::Send).size() - opsOf(built(plain), OpKind::Send).size(),
                  static_cast<std::size_t>(2 * (stages - 1)));
        EXPECT_EQ(opsOf(graph, OpKind::ScaleGradients).size(), static_cast<std::size_t>(stages));
    }
}

TEST(Clipping, RefusesANormThatIsNone) {
    Plan plan = fsdp(2);
    for (const double wrong : {-1.0, 0.0 / 0.0, 1.0 / 0.0}) {
        plan.clipNorm = wrong;
        EXPECT_EQ(refusalOf(plan).where, "[training] clip_grad_norm");
    }
}

// Framework semantics 1.13 and 6: 4 P-hat / N up for every gather, 4 P / N down, nothing of it on the device.
TEST(CpuOffload, CopiesEveryGatheredShardUpAndEveryReducedOneDown) {
    for (const bool reshards : {true, false})
        for (const std::int64_t ranks : {1, 2, 3}) {
            Plan plan = fsdp(ranks);
            plan.precision.param = DType::BF16;
            plan.fsdp.cpuOffload = true;
            plan.fsdp.reshardAfterForward = {reshards ? Reshard::Kind::True : Reshard::Kind::False, 0};
            const StepGraph graph = built(plan);
            std::int64_t up = 0, down = 0, gathered = 0, reduced = 0;
            for (const Op& op : graph.ops) {
                if (op.kind == OpKind::CopyToDevice) up += op.bytes.value;
                if (op.kind == OpKind::CopyToHost) down += op.bytes.value;
            }
            for (const Unit& unit : graph.units) {
                const bool twice = unit.reshard.kind == Reshard::Kind::True;
                gathered += unit.paddedElements / ranks * 4 * (twice ? 2 : 1);
            }
            reduced = ownElements(toy(), graph.units, plan, 0) * 4;
            EXPECT_EQ(up, gathered);
            EXPECT_EQ(down, reduced);
            EXPECT_TRUE(std::ranges::none_of(graph.blocks, [](const Block& block) {
                return block.persistent || block.category == MemoryCategory::ShardedParameters ||
                       block.category == MemoryCategory::OptimizerState;
            }));
        }
}

TEST(CpuOffload, RunsTheOptimizerOnTheHostAfterTheLastCopy) {
    Plan plan = fsdp(2);
    plan.fsdp.cpuOffload = true;
    plan.microBatches = 2;
    const StepGraph graph = built(plan);
    const OpId step = opsOf(graph, OpKind::OptimizerStep).front();
    EXPECT_EQ(graph.streams[graph.ops[step.index()].stream].kind, StreamKind::Host);
    const auto copies = opsOf(graph, OpKind::CopyToHost);
    EXPECT_TRUE(waits(graph, step, copies.back()));
    // The second micro-batch's gradients are added to the first one's.
    ASSERT_EQ(copies.size(), 2 * graph.units.size());
    for (std::size_t i = 0; i < copies.size(); ++i)
        EXPECT_EQ(graph.ops[copies[i].index()].accumulate, i >= copies.size() / 2);
    Plan clipped = plan;
    clipped.clipNorm = 1;
    const StepGraph both = built(clipped);
    for (const OpKind kind : {OpKind::GradientNorm, OpKind::ScaleGradients})
        EXPECT_EQ(both.streams[both.ops[opsOf(both, kind).front().index()].stream].kind, StreamKind::Host);
}

TEST(CpuOffload, RefusesWhatWouldStayOnTheDevice) {
    Plan plan = fsdp(2);
    plan.fsdp.cpuOffload = true;
    plan.fsdp.wrap.root = false;
    EXPECT_EQ(refusalOf(plan).where, "[training] enable_cpu_offload");
    plan.fsdp.wrap.root = true;
    plan.schedule = StageSchedule::Naive;
    plan.mesh.pp = 2;
    EXPECT_EQ(refusalOf(plan).where, "[training] enable_cpu_offload");
}

TEST(ShardOnDim1, PadsNothingAndCopiesOnceMore) {
    Plan plan = fsdp(2), plain = plan;
    plan.fsdp.shardedOnDim1 = {"blocks.0.fc2.weight"};
    const StepGraph graph = built(plan), usual = built(plain);
    const Model model = toy();
    const auto weight = std::ranges::find_if(
        model.parameters, [](const Parameter& parameter) { return parameter.name == "blocks.0.fc2.weight"; });
    const std::int64_t bytes = elementsOf(weight->shape) * 4;
    const auto traffic = [](const StepGraph& g, OpKind kind) {
        std::int64_t sum = 0;
        for (const Op& op : g.ops)
            if (op.kind == kind) sum += (op.read + op.written).value;
        return sum;
    };
    EXPECT_EQ(traffic(graph, OpKind::CopyOut) - traffic(usual, OpKind::CopyOut), 2 * 2 * bytes);  // forward, backward
    EXPECT_EQ(traffic(graph, OpKind::ReduceCopyIn) - traffic(usual, OpKind::ReduceCopyIn), 2 * bytes);
    // Three rows on two ranks are padded to four; six columns are not padded.
    Plan odd = fsdp(4), cut = odd;
    cut.fsdp.shardedOnDim1 = {"head"};
    checkers::ToySizes sizes;
    sizes.model.d = 8;
    const Model eleven = checkers::toyModel(sizes, DType::F32).value();  // a head of 11 x 8
    const auto root = [&](const Plan& how) { return buildStepGraph(eleven, how).value().units.back().paddedElements; };
    EXPECT_EQ(root(odd) - root(cut), 8);
}

TEST(ShardOnDim1, RefusesWhatDoesNotDivideOrIsNotThere) {
    Plan plan = fsdp(4);
    plan.fsdp.shardedOnDim1 = {"blocks.0.fc1.weight"};  // 10 x 6
    EXPECT_NE(refusalOf(plan).message.find("does not divide evenly by 4"), std::string::npos);
    plan.mesh.dpShard = 2;
    plan.fsdp.shardedOnDim1 = {"blocks.0.fc3.weight"};
    EXPECT_NE(refusalOf(plan).hint.find("blocks.0.fc"), std::string::npos);
    plan.fsdp.shardedOnDim1 = {"blocks.0.fc1.bias"};
    EXPECT_EQ(refusalOf(plan).where, "[parallelism] fsdp_shard_dim1");
    checkers::ToySizes sizes;
    sizes.model.d = 8;
    sizes.model.h = 12;
    Plan sliced = fsdp(4);
    sliced.fsdp.shardedOnDim1 = {"blocks.0.fc1.weight"};
    sliced.fsdp.reshardAfterForward = {Reshard::Kind::Group, 2};
    const auto refused = buildStepGraph(checkers::toyModel(sizes, DType::F32).value(), sliced);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().where, "[parallelism] fsdp_shard_dim1");
}

}  // namespace
}  // namespace shardscope::core
