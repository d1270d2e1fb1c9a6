// One call, whichever engine runs: what it gives back is complete and is what the timeline shows.

#include "sim/run/simulate.h"

#include <gtest/gtest.h>

#include <random>

#include "bench/fsdp_step.h"
#include "sim/run/to_timeline.h"
#include "tests/sim/graph_by_hand.h"

namespace shardscope {
namespace {

using core::OpKind;
using core::StreamKind;

sim::RunOptions someClocks(std::size_t ranks, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    sim::RunOptions options;
    for (std::size_t r = 0; r < ranks; ++r) {
        options.offsets.push_back(static_cast<std::int64_t>(random() % 3'000'000));
        options.computePpm.push_back(980'000 + static_cast<std::int64_t>(random() % 40'000));
    }
    return options;
}

void expectTimelineTellsTheSame(const core::StepGraph& graph, const sim::Prices& prices, const sim::StepResult& result,
                                const sim::RunOptions& options) {
    const auto line = sim::toTimeline(graph, core::Model(), prices, result, options);
    const auto breakdown = timeline::breakdownOf(line);
    ASSERT_EQ(breakdown.size(), result.ranks.size());
    for (std::size_t r = 0; r < breakdown.size(); ++r)
        EXPECT_TRUE(breakdown[r] == result.breakdown[result.ranks[r].row]) << result.ranks[r].name;
    EXPECT_EQ(line.end, result.step);
}

TEST(Simulate, FoldsAClassWithoutClocksOfItsOwn) {
    const auto step = bench::fsdpStep(64);
    const auto result = sim::simulate(step.graph, step.prices);
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(result->folded);
    EXPECT_EQ(result->engine, sim::Engine::Clock);
    ASSERT_EQ(result->ranks.size(), 1u);
    EXPECT_EQ(result->ranks[0].multiplicity, 64);
    EXPECT_EQ(result->breakdown[0].step, result->step);
    expectTimelineTellsTheSame(step.graph, step.prices, *result, {});
}

TEST(Simulate, KeepsTheSlowestMedianAndFastestRank) {
    const auto step = bench::fsdpStep(64);
    auto options = someClocks(64, 5);
    options.chosenRanks = {63};
    const auto result = sim::simulate(step.graph, step.prices, options);
    ASSERT_TRUE(result.has_value());
    EXPECT_FALSE(result->folded);
    ASSERT_EQ(result->breakdown.size(), 64u);
    const auto waits = [&](std::int64_t rank) { return result->breakdown[static_cast<std::size_t>(rank)].gpuWaits(); };
    std::vector<std::int64_t> all;
    for (std::int64_t rank = 0; rank < 64; ++rank) all.push_back(waits(rank));
    std::sort(all.begin(), all.end());
    bool slowest = false, median = false, fastest = false, last = false;
    EXPECT_EQ(result->ranks.front().rank, 0);
    for (const auto& rank : result->ranks) {
        if (rank.name.find("slowest") != std::string::npos) slowest = waits(rank.rank) == all.front();
        if (rank.name.find("median") != std::string::npos) median = waits(rank.rank) == all[31];
        if (rank.name.find("fastest") != std::string::npos) fastest = waits(rank.rank) == all.back();
        last |= rank.rank == 63;
    }
    EXPECT_TRUE(slowest && median && fastest && last);
    expectTimelineTellsTheSame(step.graph, step.prices, *result, options);
}

TEST(Simulate, GivesThePeakMemoryOfEveryRank) {
    const auto step = bench::fsdpStep(64);
    const auto prepared = sim::PreparedStep::prepare(step.graph).value();
    const auto own = prepared.run(step.prices, someClocks(64, 3)).value();
    // Shards of parameters and gradients and twice that of moments in fp32. Largest at the first backward: 32 quarters
    // of activations, the unit at work and the one gathered ahead, and the unit's gradients.
    constexpr std::int64_t kUnit = 404ll << 20;
    const std::int64_t expected = 4 * (32 * 2 * kUnit / 64) + (32 / 4 + 2 + 1) * kUnit;
    ASSERT_EQ(own.peakAllocated.size(), 64u);
    for (const core::Bytes& peak : own.peakAllocated) EXPECT_EQ(peak.value, expected);
    const auto folded = prepared.run(step.prices).value();
    ASSERT_EQ(folded.peakAllocated.size(), folded.breakdown.size());
    EXPECT_EQ(folded.peakAllocated.front().value, expected);
}

TEST(Simulate, TheEventEngineTakesWhatTheClockEngineDoesNot) {
    tests::GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute), link = g.stream(StreamKind::PointToPoint);
    const auto pair = g.group(2, 0, 1);
    g.beginClass(2, "stage 0");
    const auto a = g.op(OpKind::Compute, compute, 10);
    g.op(OpKind::Send, link, 4, {a}, pair, 0, 1);
    g.beginClass(2, "stage 1");
    const auto b = g.op(OpKind::Receive, link, 4, {}, pair, 0, 1);
    g.op(OpKind::Compute, compute, 10, {b});
    const auto graph = g.freeze();
    const auto result = sim::simulate(graph, g.prices);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->engine, sim::Engine::Event);
    EXPECT_EQ(result->step, 24);
    ASSERT_EQ(result->ranks.size(), 2u);
    EXPECT_EQ(result->ranks[1].rank, 2);
    EXPECT_EQ(result->breakdown[0].idle, 10);
    EXPECT_EQ(result->breakdown[1].waiting, 10);
    expectTimelineTellsTheSame(graph, g.prices, *result, {});
    const auto line = sim::toTimeline(graph, core::Model(), g.prices, *result);
    const auto peers = std::count_if(line.flows.begin(), line.flows.end(), [&](const timeline::Flow& flow) {
        return flow.reason == timeline::FlowReason::Peer && line.spans.op[flow.from] == 1 &&
               line.spans.op[flow.to] == 2;
    });
    EXPECT_EQ(peers, 1);

    sim::RunOptions options;
    options.offsets = {0, 5, 0, 0};
    const auto apart = sim::simulate(graph, g.prices, options);
    ASSERT_TRUE(apart.has_value());
    EXPECT_EQ(apart->step, 29);
    ASSERT_EQ(apart->ranks.size(), 4u);
    expectTimelineTellsTheSame(graph, g.prices, *apart, options);
}

TEST(Simulate, WithoutContentionComputeKeepsItsSpeed) {
    const auto step = bench::fsdpStep(64, 32, 1500, 1000);
    sim::RunOptions options;
    options.contention = false;
    const auto result = sim::simulate(step.graph, step.prices, options);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->breakdown[0].compute, 32 * 4'500'000ll + 32 * 9'000'000ll + 2'000'000);
}

TEST(Simulate, RefusesClocksThatDoNotFit) {
    const auto step = bench::fsdpStep(4);
    const auto refuses = [&](const sim::RunOptions& options) {
        return !sim::simulate(step.graph, step.prices, options).has_value();
    };
    sim::RunOptions options;
    options.offsets = {0, 0, 0};
    EXPECT_TRUE(refuses(options));
    options.offsets = {0, 0, 0, -1};
    EXPECT_TRUE(refuses(options));
    options.offsets = {0, 0, 0, 0};
    EXPECT_FALSE(refuses(options));
    options.computePpm = {1, 1, 0, 1};
    EXPECT_TRUE(refuses(options));
    options.computePpm.clear();
    options.chosenRanks = {4};
    EXPECT_TRUE(refuses(options));
}

TEST(Simulate, GivesTheSameBytesAgain) {
    const auto step = bench::fsdpStep(64);
    const auto options = someClocks(64, 9);
    const auto one = sim::simulate(step.graph, step.prices, options),
               two = sim::simulate(step.graph, step.prices, options);
    ASSERT_TRUE(one.has_value() && two.has_value());
    EXPECT_TRUE(one->breakdown == two->breakdown);
    for (std::size_t r = 0; r < one->ranks.size(); ++r) {
        EXPECT_EQ(one->ranks[r].at.start, two->ranks[r].at.start);
        EXPECT_EQ(one->ranks[r].at.end, two->ranks[r].at.end);
    }
}

}  // namespace
}  // namespace shardscope
