// FSDP2's rules as times: 4 blocks and a root (framework semantics 11), 1 unit of time = 1 ms. Nine makespans and
// exposed times, named instants, the order of the communicator's queue, and what keeping the last block changes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "core/graph/build.h"
#include "sim/run/simulate.h"
#include "tests/checkers/support/recorded_case.h"
#include "tests/sim/stream_program.h"

namespace shardscope {
namespace {

using core::OpKind;

constexpr std::int64_t kMs = 1'000'000;

struct Step {
    core::Model model;
    core::StepGraph graph;
    sim::Prices prices;
    sim::StepResult result;

    [[nodiscard]] std::string unitOf(const core::Op& op) const {
        return op.unit.valid() ? graph.units[op.unit.index()].name : "";
    }
    /// Ops of the kind and unit, in issue order, as {transfer start, end}.
    [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> timesOf(OpKind kind,
                                                                             const std::string& unit) const {
        std::vector<std::pair<std::int64_t, std::int64_t>> times;
        for (std::size_t i = 0; i < graph.ops.size(); ++i)
            if (graph.ops[i].kind == kind && unitOf(graph.ops[i]) == unit)
                times.emplace_back(result.ranks[0].at.transferStart[i], result.ranks[0].at.end[i]);
        return times;
    }
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> computeOf(const std::string& layer, bool backward) const {
        for (std::size_t i = 0; i < graph.ops.size(); ++i) {
            const core::Op& op = graph.ops[i];
            if (op.kind == OpKind::Compute && op.kernels.backward == backward &&
                model.layers[op.kernels.layer.index()].name == layer)
                return {result.ranks[0].at.start[i], result.ranks[0].at.end[i]};
        }
        return {-1, -1};
    }
    [[nodiscard]] std::size_t count(OpKind kind) const {
        return static_cast<std::size_t>(
            std::count_if(graph.ops.begin(), graph.ops.end(), [&](const core::Op& op) { return op.kind == kind; }));
    }
};

struct Case {
    std::int64_t gather, reduce;
};
constexpr Case kA{2 * kMs, 4 * kMs}, kB{5 * kMs, 10 * kMs}, kC{4 * kMs, 4 * kMs};

std::int64_t priceOf(const Step& step, const core::Op& op, const Case& durations) {
    const bool root = step.unitOf(op) == "root";
    switch (op.kind) {
        case OpKind::AllGather: return root ? kMs : durations.gather;
        case OpKind::ReduceScatter: return root ? 2 * kMs : durations.reduce;
        case OpKind::CopyOut: return (root ? 1 : 2) * kMs / 10;
        case OpKind::ReduceCopyIn: return (root ? 1 : 3) * kMs / 10;
        case OpKind::Compute: {
            const std::string& layer = step.model.layers[op.kernels.layer.index()].name;
            if (layer.starts_with("blocks.")) return (op.kernels.backward ? 6 : 3) * kMs;
            if (layer == "emb") return kMs / 2;
            if (layer == "head") return (op.kernels.backward ? 2 : 1) * kMs;
            return 0;
        }
        default: return 0;
    }
}

Step run(const core::FsdpKnobs& knobs, const Case& durations, const core::Checkpointing& checkpointing = {}) {
    Step step;
    auto model = checkers::toyModel({});
    EXPECT_TRUE(model.has_value());
    step.model = std::move(*model);
    core::Plan plan;
    plan.mesh.dpShard = 2;
    plan.fsdp = knobs;
    plan.checkpointing = checkpointing;
    plan.optimizer = core::OptimizerKind::None;
    auto graph = core::buildStepGraph(step.model, plan);
    EXPECT_TRUE(graph.has_value()) << (graph ? "" : core::describe(graph.error()));
    if (!graph) return step;
    step.graph = std::move(*graph);
    // A run of kernels that is cut in several ops: the first one takes it all.
    const auto goesOn = [&](std::size_t i) {
        for (std::size_t before = i; before-- > 0;) {
            const core::Op &op = step.graph.ops[i], &last = step.graph.ops[before];
            if (last.kind != OpKind::Compute) continue;
            return last.kernels.layer == op.kernels.layer && last.kernels.backward == op.kernels.backward &&
                   last.phase == op.phase && last.kernels.first + last.kernels.count == op.kernels.first;
        }
        return false;
    };
    for (std::size_t i = 0; i < step.graph.ops.size(); ++i) {
        const core::Op& op = step.graph.ops[i];
        const bool free = op.kind == OpKind::Compute && goesOn(i);
        step.prices.duration.push_back(free ? 0 : priceOf(step, op, durations));
    }
    step.prices.release.assign(step.graph.ops.size(), 0);
    auto result = sim::simulate(step.graph, step.prices);
    EXPECT_TRUE(result.has_value()) << (result ? "" : core::describe(result.error()));
    if (result) step.result = std::move(*result);
    return step;
}

core::FsdpKnobs resharding(core::Reshard::Kind units, core::Reshard::Kind root = core::Reshard::Kind::Unset) {
    core::FsdpKnobs knobs;
    knobs.reshardAfterForward = {units, 0};
    knobs.rootReshardAfterForward = {root, 0};
    return knobs;
}

const core::FsdpKnobs kRootKept = resharding(core::Reshard::Kind::True);
const core::FsdpKnobs kRootResharded = resharding(core::Reshard::Kind::True, core::Reshard::Kind::True);
const core::FsdpKnobs kNothingResharded = resharding(core::Reshard::Kind::False);

void expectStep(const Step& step, double makespan, double exposed) {
    EXPECT_EQ(step.result.step, std::llround(makespan * kMs));
    ASSERT_EQ(step.result.breakdown.size(), 1u);
    const auto& b = step.result.breakdown[0];
    EXPECT_EQ(b.step - b.compute, std::llround(exposed * kMs));
    EXPECT_EQ(b.compute + b.transfer + b.copy + b.waiting + b.idle, b.step);
}

TEST(GoldenTimelines, RootKept) {
    expectStep(run(kRootKept, kA), 50.9, 7.9);
    expectStep(run(kRootKept, kB), 86.1, 43.1);
    expectStep(run(kRootKept, kC), 58.3, 15.3);
}

TEST(GoldenTimelines, RootExplicitlyResharded) {
    expectStep(run(kRootResharded, kA), 51.0, 7.9);
    expectStep(run(kRootResharded, kB), 89.2, 46.1);
    expectStep(run(kRootResharded, kC), 60.4, 17.3);
}

TEST(GoldenTimelines, NothingResharded) {
    expectStep(run(kNothingResharded, kA), 50.1, 7.9);
    expectStep(run(kNothingResharded, kB), 76.5, 34.3);
    expectStep(run(kNothingResharded, kC), 54.5, 12.3);
}

TEST(GoldenTimelines, RootAndLastBlockKeptGatherOnceLess) {
    core::FsdpKnobs knobs = kRootKept;
    knobs.keepLastUnit = true;
    expectStep(run(knobs, kA), 50.7, 7.9);
    expectStep(run(knobs, kB), 85.9, 43.1);
    expectStep(run(knobs, kC), 58.1, 15.3);
    const Step kept = run(knobs, kA), not_kept = run(kRootKept, kA);
    EXPECT_EQ(not_kept.count(OpKind::AllGather), 9u);  // 2 L + 1
    EXPECT_EQ(kept.count(OpKind::AllGather), 8u);
    EXPECT_EQ(kept.timesOf(OpKind::AllGather, "blocks.3").size(), 1u);
    EXPECT_EQ(kept.count(OpKind::ReduceScatter), 5u);  // L + 1
}

// Variants of the first column, replayed from recordings (framework semantics 11).
TEST(GoldenTimelines, SwitchesSaveWhatTheyAreRecordedToSave) {
    const auto steps = [](const core::FsdpKnobs& knobs) {
        return std::array{run(knobs, kA).result.step, run(knobs, kB).result.step, run(knobs, kC).result.step};
    };
    const auto ms = [](double a, double b, double c) {
        return std::array<std::int64_t, 3>{std::llround(a * kMs), std::llround(b * kMs), std::llround(c * kMs)};
    };
    core::FsdpKnobs separate = kRootKept, two = kRootKept, deep = kRootKept;
    separate.separateReduceGroup = true;
    two.reduceInputs = 2;
    deep.backwardPrefetch = 2;
    EXPECT_EQ(steps(separate), ms(50.9, 76.7, 55.3));
    EXPECT_EQ(steps(two), ms(50.8, 85.7, 58.2));
    EXPECT_EQ(steps(deep), ms(50.9, 85.1, 56.3));

    const core::Checkpointing full{.mode = core::Checkpointing::Mode::Full};
    expectStep(run(kRootKept, kA, full), 62.9, 7.9);
    expectStep(run(kRootKept, kB, full), 89.1, 34.1);
    expectStep(run(kRootKept, kC, full), 67.3, 12.3);
}

TEST(GoldenTimelines, TheCommunicatorsQueueIsInIssueOrder) {
    const Step step = run(kRootKept, kA);
    std::vector<std::pair<std::int64_t, std::string>> transfers;
    for (std::size_t i = 0; i < step.graph.ops.size(); ++i) {
        const core::Op& op = step.graph.ops[i];
        if (!sim::isTransfer(op.kind)) continue;
        transfers.emplace_back(step.result.ranks[0].at.transferStart[i],
                               (op.kind == OpKind::AllGather ? "AG " : "RS ") + step.unitOf(op));
    }
    std::stable_sort(transfers.begin(), transfers.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> order;
    for (const auto& transfer : transfers) order.push_back(transfer.second);
    EXPECT_EQ(order, (std::vector<std::string>{"AG root", "AG blocks.0", "AG blocks.1", "AG blocks.2", "AG blocks.3",
                                               "AG blocks.3", "AG blocks.2", "RS blocks.3", "AG blocks.1",
                                               "RS blocks.2", "AG blocks.0", "RS blocks.1", "RS blocks.0", "RS root"}));
}

TEST(GoldenTimelines, NamedInstants) {
    const Step step = run(kRootKept, kA);
    using Time = std::pair<std::int64_t, std::int64_t>;
    const auto ms = [](double begin, double end) { return Time{std::llround(begin * kMs), std::llround(end * kMs)}; };
    const auto gather = [&](const char* unit, std::size_t i) { return step.timesOf(OpKind::AllGather, unit).at(i); };
    const auto reduce = [&](const char* unit) { return step.timesOf(OpKind::ReduceScatter, unit).at(0); };
    EXPECT_EQ(step.computeOf("blocks.0", false), ms(3.2, 6.2));
    EXPECT_EQ(gather("blocks.1", 0), ms(3, 5));
    EXPECT_EQ(gather("blocks.2", 0), ms(5, 7));
    EXPECT_EQ(gather("blocks.3", 1), ms(12.8, 14.8));
    EXPECT_EQ(gather("blocks.2", 1), ms(19, 21));
    EXPECT_EQ(step.computeOf("blocks.3", true), ms(19, 25));
    EXPECT_EQ(reduce("blocks.3"), ms(25.3, 29.3));
    EXPECT_EQ(gather("blocks.1", 1), ms(29.3, 31.3));
    EXPECT_EQ(step.computeOf("blocks.2", true), ms(25.5, 31.5));
    EXPECT_EQ(reduce("blocks.0"), ms(44.8, 48.8));
    EXPECT_EQ(step.timesOf(OpKind::ReduceCopyIn, "root").at(0), ms(48.8, 48.9));
    EXPECT_EQ(reduce("root"), ms(48.9, 50.9));
}

TEST(GoldenTimelines, RecordedStreamProgramsReplayExactly) {
    std::ifstream file(SHARDSCOPE_TEST_DATA "/recorded_stream_programs.json", std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    const auto recorded = core::parseJson(content, "recorded_stream_programs.json");
    ASSERT_TRUE(recorded.has_value());
    const auto& timelines = recorded->find("timelines")->items;
    EXPECT_EQ(timelines.size(), 6u);
    for (const core::Document& timeline : timelines) {
        const std::string &name = timeline.find("case")->text, &set = timeline.find("durations")->text;
        EXPECT_EQ(tests::replayDifference(timeline, *recorded->find("stream_programs")->find(name),
                                          *recorded->find("defaults"), *recorded->find("durations")->find(set)),
                  "")
            << name << " " << set;
    }
}

}  // namespace
}  // namespace shardscope
