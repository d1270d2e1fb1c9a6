#include "sim/engine/core_engine.h"

#include <gtest/gtest.h>

#include "tests/sim/graph_by_hand.h"

namespace shardscope::sim {
namespace {

using core::OpKind;
using core::StreamKind;
using tests::GraphByHand;

/// So many cores, as many ranks; threads go on at once, transfers take no processor time.
void shareCores(Prices& prices, double cores, double ranks) {
    SharedCores shared;
    shared.cores = cores;
    shared.ranks = ranks;
    for (const std::int64_t duration : prices.duration)
        shared.transfers.push_back({static_cast<double>(duration), 0, 0});
    prices.shared = shared;
}

EventRun run(const core::StepGraph& graph, const Prices& prices, const std::vector<Instance>& instances) {
    const auto wiring = wire(graph);
    EXPECT_TRUE(wiring);
    auto made = runOnCores(graph, *wiring, prices, instances);
    EXPECT_TRUE(made) << (made ? "" : core::describe(made.error()));
    return std::move(*made);
}

TEST(CoreEngine, RanksBeyondTheCoresTakeTurns) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute);
    g.beginClass(3);
    g.op(OpKind::Compute, compute, 100);
    const auto graph = g.freeze();
    const std::vector<std::pair<double, std::int64_t>> expected{{3, 100}, {2, 150}, {1, 300}};
    for (const auto& [cores, end] : expected) {
        shareCores(g.prices, cores, 3);
        EXPECT_EQ(run(graph, g.prices, foldedInstances(graph)).end, end) << cores;
        EXPECT_EQ(run(graph, g.prices, allInstances(graph)).end, end) << cores;
    }
}

TEST(CoreEngine, NoProcessorTimeIsLostOrMade) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute), net = g.stream(StreamKind::AllGather);
    const auto all = g.group(2);
    g.beginClass(2);
    g.op(OpKind::Compute, compute, 100);
    g.op(OpKind::AllGather, net, 40, {}, all);
    const auto graph = g.freeze();
    shareCores(g.prices, 2, 2);
    EXPECT_EQ(run(graph, g.prices, foldedInstances(graph)).times.end, (std::vector<std::int64_t>{100, 40}));
    // Beside kernels it takes 80 and half a core, so that three quarters of a core are left to each rank's kernels:
    // 60 of 100 are done when it ends. 2 x 100 + 2 x 20 of processor time on two cores are 120.
    g.prices.shared->transfers[1] = {80, 20, 0};
    for (const auto& instances : {foldedInstances(graph), allInstances(graph)}) {
        const auto busy = run(graph, g.prices, instances);
        EXPECT_EQ(busy.timesOf(0).end, (std::vector<std::int64_t>{120, 80}));
    }
    g.prices.shared->cores = 4;
    EXPECT_EQ(run(graph, g.prices, foldedInstances(graph)).end, 100);
    // Where no rank computes it is as fast as alone.
    g.prices.duration[0] = 0;
    EXPECT_EQ(run(graph, g.prices, foldedInstances(graph)).end, 40);
}

TEST(CoreEngine, ATransferLastsAsLongAsItsLinkSaysAndSleepsMeanwhile) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute), net = g.stream(StreamKind::AllGather);
    const auto all = g.group(2);
    g.beginClass(2);
    g.op(OpKind::Compute, compute, 100);
    g.op(OpKind::AllGather, net, 10, {}, all);
    const auto graph = g.freeze();
    shareCores(g.prices, 2, 2);
    g.prices.shared->transfers[1] = {10, 10, 500};
    // It takes a core of each rank for 10, and nothing while it sleeps.
    EXPECT_NEAR(static_cast<double>(run(graph, g.prices, foldedInstances(graph)).times.end[0]), 110, 1);
    EXPECT_EQ(run(graph, g.prices, foldedInstances(graph)).times.end[1], 500);
}

TEST(CoreEngine, AStreamThatSleptGoesOnLater) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute), copies = g.stream(StreamKind::AllGatherCopyIn);
    g.beginClass(1);
    const auto first = g.op(OpKind::GatherCopyIn, copies, 50);
    g.op(OpKind::Compute, compute, 20);
    g.op(OpKind::Compute, compute, 20, {first});
    g.op(OpKind::Compute, compute, 20);
    const auto graph = g.freeze();
    shareCores(g.prices, 4, 1);
    g.prices.shared->wake = 7;
    g.prices.shared->wakeBusy = 7;
    g.prices.shared->finish = 3;
    const auto made = run(graph, g.prices, foldedInstances(graph));
    // Both begin asleep; the second op waits for the copy, the third follows it on its stream.
    EXPECT_EQ(made.times.start, (std::vector<std::int64_t>{7, 7, 64, 84}));
    EXPECT_EQ(made.end, 107);
}

TEST(CoreEngine, AThreadWakesLaterWhereTheCoresAreTaken) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute), one = g.stream(StreamKind::AllGatherCopyIn),
               two = g.stream(StreamKind::ReduceScatter);
    g.beginClass(2);
    const auto first = g.op(OpKind::GatherCopyIn, one, 50);
    g.op(OpKind::Compute, compute, 1000);
    g.op(OpKind::ReduceCopyIn, two, 20, {first});
    const auto graph = g.freeze();
    shareCores(g.prices, 8, 4);
    g.prices.shared->wakeBusy = 40;
    // Two of four ranks compute when the copy ends.
    EXPECT_EQ(run(graph, g.prices, foldedInstances(graph)).times.start[2], 70);
}

TEST(CoreEngine, TheHostsWorkTakesACoreToo) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute);
    g.beginClass(1);
    g.op(OpKind::Compute, compute, 100, {}, {}, 10);
    g.op(OpKind::Compute, compute, 100, {}, {}, 30);
    const auto graph = g.freeze();
    shareCores(g.prices, 2, 1);
    EXPECT_EQ(run(graph, g.prices, foldedInstances(graph)).times.end, (std::vector<std::int64_t>{110, 210}));
    // On one core the 20 of the second op's issue are taken from the first op's kernels.
    g.prices.shared->cores = 1;
    EXPECT_EQ(run(graph, g.prices, foldedInstances(graph)).times.end, (std::vector<std::int64_t>{130, 230}));
}

TEST(CoreEngine, RefusesPricesWithoutCores) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute);
    g.beginClass(1);
    g.op(OpKind::Compute, compute, 100);
    const auto graph = g.freeze();
    EXPECT_FALSE(runOnCores(graph, *wire(graph), g.prices, foldedInstances(graph)));
}

TEST(CoreEngine, RefusesTransfersThatAreLongerThanTheClock) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute);
    g.beginClass(1);
    g.op(OpKind::Compute, compute, 100);
    const auto graph = g.freeze();
    Prices prices = g.prices;
    prices.shared = SharedCores{2, 1, {{1e18, 0, 0}}};
    EXPECT_FALSE(runOnCores(graph, *wire(graph), prices, foldedInstances(graph)));
    prices.shared->transfers = {{0, 0, 0}};
    EXPECT_TRUE(runOnCores(graph, *wire(graph), prices, foldedInstances(graph)));
}

}  // namespace
}  // namespace shardscope::sim
