// The executor does what the graph says and nothing else: with an op missing or two exchanged, it refuses or computes
// something else. The altered graphs carry no edges (altered_graph.h).

#include <map>
#include <set>

#include "runtime/communicator/thread_communicator.h"
#include "tests/runtime/altered_graph.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using core::OpId;
using core::OpKind;
using namespace testing;

struct Case {
    std::string name;
    TrainConfig config;
};

/// Together they use every kind of op that a policy issues today.
std::vector<Case> cases() {
    std::vector<Case> all{{"fsdp", fsdp(8, 2)},
                          {"fsdp in fp16", fsdp(8, 4)},
                          {"fsdp, int reshard", fsdp(8, 4)},
                          {"naive, micro-batches", naive(8, 2, 2)},
                          {"fsdp, micro-batches", fsdp(8, 2, 2)}};
    all[1].config.plan.precision.param = core::DType::F16;
    all[1].config.plan.precision.reduce = core::DType::F16;
    all[2].config.plan.fsdp.reshardAfterForward = {core::Reshard::Kind::Group, 2};
    for (Case& c : all) {
        c.config.steps = 3;
        c.config.keepGradients = true;
        c.config.seed = 3;
        c.config.data = TrainingData::Formula;
        c.config.optimizer.learningRate = 1e-2;
        // The built-in head starts at zero, so that most gradients would be zero in the first step.
        c.config.parameters = formulaParameters(modelFor(c.config), -2);
    }
    return all;
}

core::StepGraph graphOf(const TrainConfig& config) {
    auto graph = core::buildStepGraph(modelFor(config), config.plan);
    EXPECT_TRUE(graph) << (graph ? "" : core::describe(graph.error()));
    return graph ? std::move(*graph) : core::StepGraph{};
}

/// "" if the altered graph was refused or gave another result; what went wrong otherwise.
std::string verdict(const Case& c, const core::StepGraph& altered, const TrainReport& expected) {
    TrainConfig config = c.config;
    config.graph = &altered;
    const auto report = trainSteps(config);
    if (!report) return report.error().message.empty() ? "refused without a reason" : "";
    // Gradients as well: Adam does not notice a factor on them.
    const bool same = report->losses == expected.losses && report->gradients == expected.gradients;
    return same ? "ran and gave the same losses and gradients" : "";
}

/// The next op of the kind in the same class that is about something else (a unit's gathers of forward and backward are
/// one and the same work); the op before if there is none.
OpId partnerOf(const core::StepGraph& graph, OpId op) {
    const core::Op& own = graph.ops[op.index()];
    for (std::size_t i = op.index() + 1; i < graph.classes[own.rankClass.index()].opEnd; ++i) {
        const core::Op& other = graph.ops[i];
        if (other.kind == own.kind && (other.unit != own.unit || other.kernels.layer != own.kernels.layer ||
                                       other.boundary != own.boundary || other.phase != own.phase))
            if (!other.unit.valid() || other.unit != own.unit || other.kernels.layer.valid()) return OpId(i);
    }
    return op.index() > graph.classes[own.rankClass.index()].opBegin ? OpId(op.index() - 1) : OpId(op.index() + 1);
}

TEST(TheExecutorHasNoSchedule, ARemovedOpIsMissed) {
    std::set<OpKind> kinds;
    for (const Case& c : cases()) {
        const core::StepGraph graph = graphOf(c.config);
        const TrainReport expected = train(c.config);
        for (std::size_t kind = 0; kind < core::kOpKinds; ++kind) {
            const std::vector<OpId> ops = opsOfKind(graph, static_cast<OpKind>(kind));
            if (ops.empty()) continue;
            kinds.insert(static_cast<OpKind>(kind));
            for (const OpId op : std::set<OpId>{ops.front(), ops[ops.size() / 2], ops.back()})
                EXPECT_EQ(verdict(c, withoutOp(graph, op), expected), "")
                    << c.name << ": op " << op.index() << ", " << core::labelOf(graph, modelFor(c.config), op);
        }
    }
    // Every kind but those that no policy issues.
    for (const OpKind kind :
         {OpKind::Compute, OpKind::GatherCopyIn, OpKind::AllGather, OpKind::CopyOut, OpKind::KeepSlice,
          OpKind::ReduceCopyIn, OpKind::PreDivide, OpKind::ReduceScatter, OpKind::PostDivide, OpKind::ReduceCopyOut,
          OpKind::Send, OpKind::Receive, OpKind::AddGradient, OpKind::OptimizerStep})
        EXPECT_TRUE(kinds.contains(kind)) << core::nameOf(kind);
}

TEST(TheExecutorHasNoSchedule, ExchangedOpsAreNoticed) {
    for (const Case& c : cases()) {
        const core::StepGraph graph = graphOf(c.config);
        const TrainReport expected = train(c.config);
        for (std::size_t kind = 0; kind < core::kOpKinds; ++kind) {
            const std::vector<OpId> ops = opsOfKind(graph, static_cast<OpKind>(kind));
            for (std::size_t i = 0; i < ops.size() && i < 3; ++i) {
                const OpId other = partnerOf(graph, ops[i]);
                EXPECT_EQ(verdict(c, withSwapped(graph, ops[i], other), expected), "")
                    << c.name << ": " << core::labelOf(graph, modelFor(c.config), ops[i]) << " with "
                    << core::labelOf(graph, modelFor(c.config), other);
            }
        }
    }
}

std::string refusalOf(const TrainConfig& base, const core::StepGraph& graph) {
    TrainConfig config = base;
    config.graph = &graph;
    const auto report = trainSteps(config);
    return report ? "ran" : report.error().message;
}

TEST(TheExecutorHasNoSchedule, RefusalsSayWhatIsNotThere) {
    const TrainConfig config = fsdp(8, 2);
    const core::StepGraph graph = graphOf(config);
    const auto first = [&](OpKind kind) { return opsOfKind(graph, kind).front(); };
    EXPECT_NE(refusalOf(config, withoutOp(graph, first(OpKind::GatherCopyIn)))
                  .find("all-gather root comes before its copy-in"),
              std::string::npos);
    EXPECT_NE(refusalOf(config, withoutOp(graph, first(OpKind::AllGather))).find("comes before its all-gather"),
              std::string::npos);
    EXPECT_NE(refusalOf(config, withoutOp(graph, first(OpKind::CopyOut)))
                  .find("reads conv_proj.weight before unit root was copied out"),
              std::string::npos);
    EXPECT_NE(refusalOf(config, withoutOp(graph, first(OpKind::ReduceScatter))).find("comes before its reduce-scatter"),
              std::string::npos);
    EXPECT_NE(refusalOf(config, withoutOp(graph, first(OpKind::Compute))).find("which was not computed"),
              std::string::npos);
}

TEST(TheExecutorHasNoSchedule, AnOpMayNotRunBeforeWhatItWaitsFor) {
    const TrainConfig config = naive(8, 2);
    core::StepGraph graph = graphOf(config);
    // A wait that the data does not need: the first op of the last stage for the last one.
    const core::RankClass& last = graph.classes.back();
    const OpId begin(last.opBegin), end(last.opEnd - 1);
    graph.edges.insert(graph.edges.begin() + graph.edgeBegin[begin.index() + 1], {end, core::EdgeReason::EventWait});
    for (std::size_t i = begin.index() + 1; i < graph.edgeBegin.size(); ++i) ++graph.edgeBegin[i];
    EXPECT_NE(refusalOf(config, graph).find("waits for optimizer step"), std::string::npos) << refusalOf(config, graph);
}

TEST(TheExecutorHasNoSchedule, RanksWithDifferentGraphsDoNotStart) {
    const core::StepGraph one = graphOf(fsdp(8, 2));
    core::StepGraph other = one;
    other.ops.back().launches += 1;
    const core::Model model = modelFor(fsdp(8, 2));
    ThreadWorld world(2);
    const auto done = world.run([&](std::int64_t rank) -> core::Result<void> {
        ReferenceDevice device;
        const auto communicators = [&](const std::string& name, const std::vector<std::int64_t>& members) {
            return world.communicator(name, members, rank);
        };
        SHARDSCOPE_ASSIGN(const auto executor,
                          Executor::create(model, rank == 0 ? one : other, rank, device, communicators));
        const auto none = [](std::uint16_t) -> core::Result<Batch> { return Batch{}; };
        SHARDSCOPE_TRY(executor->runStep(none));
        return {};
    });
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().message.find("the graph's hash"), std::string::npos) << done.error().message;
}

}  // namespace
}  // namespace shardscope::runtime
