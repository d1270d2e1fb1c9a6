// What must hold for every plan, whatever the prices: random models and plans, random prices and clocks.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "core/graph/build.h"
#include "sim/run/breakdown_of_run.h"
#include "sim/run/simulate.h"
#include "sim/run/to_timeline.h"
#include "tests/checkers/support/recorded_case.h"
#include "tests/sim/engines_agree.h"
#include "tests/sim/random_plan.h"

namespace shardscope {
namespace {

using core::OpKind;

using tests::Draw;
using tests::Drawn;

void expectDependenciesHold(const Drawn& d, const sim::Wiring& wiring, const sim::EventRun& run) {
    for (std::size_t i = 0; i < d.ranks.size(); ++i) {
        const core::RankClass& rankClass = d.graph.classes[d.ranks[i].rankClass.index()];
        const auto at = run.timesOf(i);
        std::vector<std::int64_t> streamFree(d.graph.streams.size());
        for (std::uint32_t id = rankClass.opBegin; id < rankClass.opEnd; ++id) {
            const std::size_t place = id - rankClass.opBegin;
            const core::Op& op = d.graph.ops[id];
            ASSERT_GE(at.start[place], streamFree[op.stream]);
            streamFree[op.stream] = at.end[place];
            ASSERT_GE(at.start[place], d.ranks[i].offset + d.prices.release[id]);
            ASSERT_GE(at.transferStart[place], at.start[place]);
            const std::int64_t work = wiring.role[id] == sim::OpRole::Compute
                                          ? sim::workAt(d.prices.duration[id], d.ranks[i].computePpm)
                                          : d.prices.duration[id];
            ASSERT_GE(at.end[place] - at.transferStart[place], work);
            for (const core::Edge& edge : d.graph.waitsOf(core::OpId(id))) {
                const std::int64_t ended = at.end[edge.from.value - rankClass.opBegin];
                const bool transferOnly = edge.reason == core::EdgeReason::Communicator;
                ASSERT_GE(transferOnly ? at.transferStart[place] : at.start[place], ended)
                    << "op " << id << " " << nameOf(op.kind) << " waits for op " << edge.from.value << " "
                    << nameOf(d.graph.ops[edge.from.index()].kind) << ": " << nameOf(edge.reason);
            }
        }
    }
}

void expectBounds(const Drawn& d, const sim::Wiring& wiring, const sim::EventRun& run) {
    for (const sim::Instance& rank : d.ranks) {
        const core::RankClass& rankClass = d.graph.classes[rank.rankClass.index()];
        std::int64_t compute = 0;
        std::map<std::uint32_t, std::int64_t> queue, link;
        for (std::uint32_t id = rankClass.opBegin; id < rankClass.opEnd; ++id) {
            const core::Op& op = d.graph.ops[id];
            if (wiring.role[id] == sim::OpRole::Compute) compute += sim::workAt(d.prices.duration[id], rank.computePpm);
            if (wiring.role[id] != sim::OpRole::Transfer) continue;
            queue[d.graph.groups[op.group.index()].communicator] += d.prices.duration[id];
            for (std::uint32_t bit = 0; bit < 32; ++bit)
                if (d.prices.links[op.group.index()] >> bit & 1u) link[bit] += d.prices.duration[id];
        }
        EXPECT_GE(run.end, rank.offset + compute);
        for (const auto& [number, time] : queue) EXPECT_GE(run.end, time);
        for (const auto& [number, time] : link) EXPECT_GE(run.end, time);
    }
}

TEST(PlanProperties, FiveTimesDependenciesAndBoundsOnEveryRank) {
    std::size_t built = 0, clockEngines = 0, buckets = 0, replicas = 0;
    for (std::uint64_t seed = 0; seed < 250; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const auto d = Draw(seed).draw();
        if (!d) continue;
        ++built;
        buckets += d->graph.plan.policy == core::UnitPolicy::Ddp;
        replicas += d->graph.plan.policy == core::UnitPolicy::Fsdp && d->graph.plan.mesh.dpReplicate > 1;
        const auto wiring = sim::wire(d->graph);
        ASSERT_TRUE(wiring.has_value());
        const auto run = tests::runEvents(d->graph, d->prices, d->ranks);
        expectDependenciesHold(*d, *wiring, run);
        expectBounds(*d, *wiring, run);
        for (const auto& b : sim::breakdownOfRun(d->graph, *wiring, d->ranks, run)) {
            ASSERT_EQ(b.compute + b.transfer + b.copy + b.waiting + b.idle, run.end);
            ASSERT_GE(std::min({b.compute, b.transfer, b.copy, b.waiting, b.idle}), 0);
        }
        const auto again = tests::runEvents(d->graph, d->prices, d->ranks);
        ASSERT_EQ(again.times.start, run.times.start);
        ASSERT_EQ(again.times.transferStart, run.times.transferStart);
        ASSERT_EQ(again.times.end, run.times.end);

        tests::OwnClocks clocks(d->ranks.size());
        for (std::size_t r = 0; r < d->ranks.size(); ++r)
            clocks.offset[r] = d->ranks[r].offset, clocks.ppm[r] = d->ranks[r].computePpm;
        if (sim::ClockEngine::refusal(d->graph, *wiring, static_cast<std::int64_t>(d->ranks.size())).empty()) {
            ++clockEngines;
            tests::expectEnginesAgree(d->graph, d->prices, clocks);
        }
        if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
    EXPECT_GT(built, 120u);
    EXPECT_GT(clockEngines, 50u);
    EXPECT_GT(buckets, 30u);
    EXPECT_GT(replicas, 10u);
}

TEST(PlanProperties, FoldedEqualsRankByRankWhereAllClocksAgree) {
    std::size_t compared = 0;
    for (std::uint64_t seed = 1000; seed < 1100; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        auto d = Draw(seed).draw();
        if (!d) continue;
        for (sim::Instance& rank : d->ranks) rank.offset = 0, rank.computePpm = sim::kNominalPpm;
        const auto all = tests::runEvents(d->graph, d->prices, d->ranks);
        const auto folded = sim::simulate(d->graph, d->prices);
        ASSERT_TRUE(folded.has_value());
        ASSERT_EQ(folded->step, all.end);
        for (std::size_t i = 0; i < d->ranks.size(); ++i) {
            const auto& own = folded->ranks[d->ranks[i].rankClass.index()].at;
            ASSERT_EQ(all.timesOf(i).start, own.start);
            ASSERT_EQ(all.timesOf(i).end, own.end);
        }
        const auto line = sim::toTimeline(d->graph, d->model, d->prices, *folded);
        const auto breakdown = timeline::breakdownOf(line);
        for (std::size_t c = 0; c < breakdown.size(); ++c) ASSERT_TRUE(breakdown[c] == folded->breakdown[c]);
        ++compared;
    }
    EXPECT_GT(compared, 50u);
}

// One rank, infinite links, an infinitely fast host: the step is its compute and nothing else.
TEST(PlanProperties, OneRankWithFreeTransfersTakesItsCompute) {
    for (const auto policy : {core::UnitPolicy::None, core::UnitPolicy::Fsdp}) {
        const auto model = checkers::toyModel({});
        ASSERT_TRUE(model.has_value());
        core::Plan plan;
        plan.policy = policy;
        const auto graph = core::buildStepGraph(*model, plan);
        ASSERT_TRUE(graph.has_value());
        sim::Prices prices;
        std::int64_t compute = 0;
        for (const core::Op& op : graph->ops) {
            const bool onCompute = graph->streams[op.stream].kind == core::StreamKind::Compute;
            prices.duration.push_back(onCompute ? 1000 : 0);
            if (onCompute) compute += 1000;
        }
        prices.release.assign(graph->ops.size(), 0);
        const auto result = sim::simulate(*graph, prices);
        ASSERT_TRUE(result.has_value());
        EXPECT_EQ(result->step, compute);
        EXPECT_EQ(result->breakdown[0].gpuWaits(), 0);
    }
}

// One unit that cannot hide anything: the step is its transfers and its compute, one after another.
TEST(PlanProperties, OneUnitTakesItsTransfersAndItsCompute) {
    const auto model = checkers::toyModel({});
    ASSERT_TRUE(model.has_value());
    core::Plan plan;
    plan.mesh.dpShard = 2;
    plan.fsdp.wrap.kind = core::UnitWrap::Kind::List;  // no unit but the root
    const auto graph = core::buildStepGraph(*model, plan);
    ASSERT_TRUE(graph.has_value());
    ASSERT_EQ(graph->units.size(), 1u);
    sim::Prices prices;
    std::int64_t sum = 0;
    std::mt19937_64 random(3);
    for (const core::Op& op : graph->ops) {
        const bool copy = graph->streams[op.stream].kind != core::StreamKind::Compute && !sim::isTransfer(op.kind);
        prices.duration.push_back(copy ? 0 : static_cast<std::int64_t>(random() % 10'000));
        sum += prices.duration.back();
    }
    prices.release.assign(graph->ops.size(), 0);
    prices.slowNum = 3;
    prices.slowDen = 2;
    const auto result = sim::simulate(*graph, prices);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->step, sum);
    EXPECT_EQ(result->breakdown[0].hiddenTransfer(), 0);
}

// Equal stages, free messages, loss and optimizer: of p GPUs, p - 1 wait at any time.
TEST(PlanProperties, NaiveStagesWaitForAllTheOthers) {
    for (const std::int64_t stages : {1, 2, 3, 4, 6}) {
        for (const std::int64_t microBatches : {1, 2, 5}) {
            checkers::ToySizes sizes;
            sizes.model.blocks = 12;
            const auto model = checkers::toyModel(sizes);
            ASSERT_TRUE(model.has_value());
            core::Plan plan;
            plan.policy = core::UnitPolicy::None;
            plan.schedule = core::StageSchedule::Naive;
            plan.mesh.pp = stages;
            plan.microBatches = microBatches;
            plan.split = core::StageSplit::ByTime;
            const auto isBlock = [&](std::size_t layer) { return model->layers[layer].kind == core::LayerKind::Block; };
            for (std::size_t layer = 0; layer < model->layers.size(); ++layer)
                plan.layerWeights.push_back(isBlock(layer) ? 9 : 0);
            const auto graph = core::buildStepGraph(*model, plan);
            ASSERT_TRUE(graph.has_value()) << core::describe(graph.error());
            sim::Prices prices;
            for (const core::Op& op : graph->ops) {
                const bool block = op.kind == OpKind::Compute && isBlock(op.kernels.layer.index());
                // A block may run as several ops: the first one takes it all.
                const bool counts = block && op.kernels.first == 0;
                prices.duration.push_back(!counts ? 0 : op.kernels.backward ? 6'000'001 : 3'000'007);
            }
            prices.release.assign(graph->ops.size(), 0);
            const auto result = sim::simulate(*graph, prices);
            ASSERT_TRUE(result.has_value());
            EXPECT_EQ(result->step, microBatches * 12 * (6'000'001 + 3'000'007));
            ASSERT_EQ(result->breakdown.size(), static_cast<std::size_t>(stages));
            for (const auto& stage : result->breakdown) {
                EXPECT_EQ(stage.gpuWaits() * stages, stage.step * (stages - 1)) << stages << " stages";
                EXPECT_EQ(stage.compute * stages, stage.step);
            }
        }
    }
}

TEST(PlanProperties, CollectivesAreCountedInTheTimeline) {
    for (const std::int64_t blocks : {1, 3, 6}) {
        for (const std::int64_t ranks : {2, 4}) {
            checkers::ToySizes sizes;
            sizes.model.blocks = blocks;
            const auto model = checkers::toyModel(sizes);
            ASSERT_TRUE(model.has_value());
            core::Plan plan;
            plan.mesh.dpShard = ranks;
            const auto graph = core::buildStepGraph(*model, plan);
            ASSERT_TRUE(graph.has_value());
            sim::Prices prices;
            prices.duration.assign(graph->ops.size(), 10);
            prices.release.assign(graph->ops.size(), 0);
            const auto result = sim::simulate(*graph, prices);
            ASSERT_TRUE(result.has_value());
            const auto line = sim::toTimeline(*graph, *model, prices, *result);
            std::int64_t gathers = 0, reductions = 0, wire = 0, expected = 0;
            for (std::size_t i = 0; i < line.spans.size(); ++i) {
                const auto activity = static_cast<timeline::Activity>(line.spans.activity[i]);
                gathers += activity == timeline::Activity::AllGather;
                reductions += activity == timeline::Activity::ReduceScatter;
                if (activity == timeline::Activity::AllGather || activity == timeline::Activity::ReduceScatter)
                    wire += line.spans.bytes[i] * (ranks - 1) / ranks;
            }
            EXPECT_EQ(gathers, 2 * blocks + 1);
            EXPECT_EQ(reductions, blocks + 1);
            // Framework semantics 1.17: X (N - 1) / N a collective; three per resharded unit, two for the kept root.
            for (const core::Unit& unit : graph->units)
                expected += (unit.isRoot ? 2 : 3) * 4 * unit.paddedElements * (ranks - 1) / ranks;
            EXPECT_EQ(wire, expected);
        }
    }
}

}  // namespace
}  // namespace shardscope
