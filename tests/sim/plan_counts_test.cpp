// What the graphs of random models and plans must add up to: collectives and their bytes, memory at both ends of a
// step, and the compute bound where nothing else takes time.

#include <gtest/gtest.h>

#include <map>

#include "core/graph/optimizer_state.h"
#include "sim/memory/step_memory.h"
#include "sim/run/simulate.h"
#include "sim/run/to_timeline.h"
#include "tests/sim/random_plan.h"

namespace shardscope {
namespace {

using core::OpKind;
using tests::Draw;
using tests::Drawn;

constexpr std::uint64_t kSeeds = 200;

std::vector<Drawn> drawn(std::uint64_t first) {
    std::vector<Drawn> all;
    for (std::uint64_t seed = first; seed < first + kSeeds; ++seed)
        if (auto d = Draw(seed).draw()) all.push_back(std::move(*d));
    EXPECT_GT(all.size(), kSeeds / 2);
    return all;
}

struct Collectives {
    std::int64_t gathers = 0, reductions = 0, bytes = 0;
    friend bool operator==(const Collectives&, const Collectives&) = default;
    friend void PrintTo(const Collectives& c, std::ostream* os) {
        *os << c.gathers << " gathers, " << c.reductions << " reductions, " << c.bytes << " bytes";
    }
};

std::int64_t onWire(std::int64_t bytes, std::int64_t ranks) {
    return bytes * (ranks - 1) / ranks;
}

/// By stage, from the timeline.
std::vector<Collectives> counted(const Drawn& d) {
    const auto result = sim::simulate(d.graph, d.prices);
    EXPECT_TRUE(result.has_value());
    const auto line = sim::toTimeline(d.graph, d.model, d.prices, *result);
    std::vector<Collectives> all(d.graph.classes.size());
    const std::vector<timeline::SpanRange> lanes = timeline::spansOfLanes(line);
    for (std::size_t row = 0; row < line.ranks.size(); ++row)
        for (std::uint32_t lane = line.ranks[row].laneBegin; lane < line.ranks[row].laneEnd; ++lane)
            for (std::uint32_t s = lanes[lane].begin; s < lanes[lane].end; ++s) {
                const auto activity = static_cast<timeline::Activity>(line.spans.activity[s]);
                const bool gather = activity == timeline::Activity::AllGather;
                if (!gather && activity != timeline::Activity::ReduceScatter) continue;
                (gather ? all[row].gathers : all[row].reductions) += 1;
                all[row].bytes += onWire(line.spans.bytes[s], line.groups[line.spans.group[s]].size);
            }
    return all;
}

/// Framework semantics 1.9, 1.11 and 1.17: in every micro-batch a unit is gathered once, and again if it was resharded
/// (among k ranks if it kept a slice); kept whole between micro-batches, once less in all but the first. Its gradients
/// are reduced after each, or after the last.
std::vector<Collectives> expected(const Drawn& d) {
    const core::Plan& plan = d.graph.plan;
    std::vector<Collectives> all(d.graph.classes.size());
    if (plan.policy == core::UnitPolicy::None || plan.mesh.dpShard == 1) return all;
    std::map<std::uint32_t, std::size_t> stageOf;
    for (const core::Op& op : d.graph.ops)
        if (op.unit.valid()) stageOf[op.unit.value] = op.rankClass.index();
    for (const auto& [unit, stage] : stageOf) {
        const core::Unit& u = d.graph.units[unit];
        if (u.elements == 0) continue;
        const std::int64_t gathered = u.paddedElements * sizeOf(plan.precision.compute());
        const std::int64_t ranks = plan.mesh.dpShard;
        Collectives& c = all[stage];
        const std::int64_t m = plan.microBatches, first = plan.fsdp.keepBetweenMicroBatches ? 1 : m;
        const std::int64_t again = u.reshard.kind == core::Reshard::Kind::False ? 0 : m;
        c.gathers += first + again;
        c.bytes += first * onWire(gathered, ranks);
        if (u.reshard.kind == core::Reshard::Kind::True) c.bytes += again * onWire(gathered, ranks);
        if (u.reshard.kind == core::Reshard::Kind::Group) c.bytes += again * onWire(gathered, u.reshard.group);
        const std::int64_t reductions = plan.gradientSync == core::GradientSync::LastMicroBatch ? 1 : m;
        c.reductions += reductions;
        c.bytes += reductions * onWire(u.paddedElements * sizeOf(plan.precision.reduction()), ranks);
    }
    return all;
}

TEST(PlanCounts, CollectivesAndBytesOfEveryPlanAreThoseOfItsUnits) {
    std::int64_t gathers = 0;
    for (const Drawn& d : drawn(3000)) {
        EXPECT_EQ(counted(d), expected(d));
        for (const Collectives& c : expected(d)) gathers += c.gathers;
    }
    EXPECT_GT(gathers, 200);
}

// From the second step on a step ends with the bytes that it began with; the first grows by the optimizer's state.
TEST(PlanCounts, EveryStepEndsWithWhatItBeganWithAndTheFirstGrowsByTheOptimizer) {
    std::int64_t grown = 0;
    for (const Drawn& d : drawn(4000)) {
        core::Plan first = d.graph.plan;
        first.firstStep = true;
        const auto firstGraph = core::buildStepGraph(d.model, first);
        ASSERT_TRUE(firstGraph.has_value()) << core::describe(firstGraph.error());
        for (std::size_t c = 0; c < d.graph.classes.size(); ++c) {
            const core::ClassId id(c);
            const sim::StepMemory later = sim::hostOrderMemory(d.graph, d.model, id);
            EXPECT_EQ(later.atStart, later.atEnd);
            const sim::StepMemory growing = sim::hostOrderMemory(*firstGraph, d.model, id);
            core::CategoryBytes withState = growing.atStart;
            EXPECT_EQ(withState[core::MemoryCategory::OptimizerState], 0);
            withState[core::MemoryCategory::OptimizerState] = later.atStart[core::MemoryCategory::OptimizerState];
            EXPECT_EQ(growing.atEnd, withState);
            EXPECT_EQ(growing.atEnd, later.atStart);
            grown += growing.atEnd != growing.atStart;
        }
    }
    EXPECT_GT(grown, 40);
}

// Infinite links, free copies and an infinitely fast host: on one stage the step is its compute, however it is sharded;
// over stages it is at least that of the busiest.
TEST(PlanCounts, WithNothingElseToPayAStepIsItsCompute) {
    int equal = 0;
    for (Drawn d : drawn(5000)) {
        std::vector<std::int64_t> compute(d.graph.classes.size(), 0);
        for (std::size_t i = 0; i < d.graph.ops.size(); ++i) {
            const core::Op& op = d.graph.ops[i];
            const bool computes = d.graph.streams[op.stream].kind == core::StreamKind::Compute;
            if (!computes) d.prices.duration[i] = 0;
            compute[op.rankClass.index()] += d.prices.duration[i];
        }
        d.prices.release.assign(d.graph.ops.size(), 0);
        const auto result = sim::simulate(d.graph, d.prices);
        ASSERT_TRUE(result.has_value());
        const std::int64_t most = *std::max_element(compute.begin(), compute.end());
        EXPECT_GE(result->step, most);
        if (compute.size() > 1) continue;
        EXPECT_EQ(result->step, most);
        EXPECT_EQ(result->breakdown[0].gpuWaits(), 0);
        ++equal;
    }
    EXPECT_GT(equal, 60);
}

}  // namespace
}  // namespace shardscope
