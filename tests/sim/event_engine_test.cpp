// What the event engine's rules say about single situations, each small enough to be worked out by hand.

#include "sim/engine/event_engine.h"

#include <gtest/gtest.h>

#include "tests/sim/graph_by_hand.h"

namespace shardscope {
namespace {

using core::OpKind;
using core::StreamKind;
using tests::GraphByHand;

TEST(EventEngine, AnOpStartsAfterItsStreamItsWaitsAndTheHost) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute), copy = g.stream(StreamKind::AllGatherCopyIn);
    g.beginClass(1);
    const auto a = g.op(OpKind::Compute, compute, 10);
    const auto b = g.op(OpKind::GatherCopyIn, copy, 7, {a});
    g.op(OpKind::Compute, compute, 5, {b});          // waits for the copy: 17
    g.op(OpKind::Compute, compute, 5);               // its stream: 22
    g.op(OpKind::Compute, compute, 5, {}, {}, 100);  // the host: 100
    const auto graph = g.freeze();
    const auto run = tests::runEvents(graph, g.prices, sim::foldedInstances(graph));
    EXPECT_EQ(run.times.start, (std::vector<std::int64_t>{0, 10, 17, 22, 100}));
    EXPECT_EQ(run.end, 105);
}

TEST(EventEngine, ATransferStartsWithItsLastMemberAndEndsForAll) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute), net = g.stream(StreamKind::AllGather);
    const auto all = g.group(3);
    g.beginClass(3);
    const auto a = g.op(OpKind::Compute, compute, 10);
    const auto t = g.op(OpKind::AllGather, net, 100, {a}, all);
    g.op(OpKind::Compute, compute, 1, {t});
    const auto graph = g.freeze();
    auto instances = sim::allInstances(graph);
    instances[1].offset = 5;
    instances[2].computePpm = 2'500'000;
    const auto run = tests::runEvents(graph, g.prices, instances);
    const std::int64_t arrivals[] = {10, 15, 25};
    for (std::size_t rank = 0; rank < 3; ++rank) {
        const auto times = run.timesOf(rank);
        EXPECT_EQ(times.start[1], arrivals[rank]);
        EXPECT_EQ(times.transferStart[1], 25);
        EXPECT_EQ(times.end[1], 125);
        EXPECT_EQ(times.start[2], 125);
    }
    EXPECT_EQ(run.end, 128);  // 1 ns of work at 2.5 times the time, rounded up
}

TEST(EventEngine, OneCommunicatorHoldsTheTransferNotTheArrival) {
    GraphByHand g;
    const auto gather = g.stream(StreamKind::AllGather), reduce = g.stream(StreamKind::ReduceScatter);
    const auto all = g.group(2);
    g.beginClass(2);
    g.op(OpKind::AllGather, gather, 30, {}, all);
    g.op(OpKind::ReduceScatter, reduce, 20, {}, all);
    const auto graph = g.freeze();
    const auto run = tests::runEvents(graph, g.prices, sim::foldedInstances(graph));
    EXPECT_EQ(run.times.start[1], 0);
    EXPECT_EQ(run.times.transferStart[1], 30);
    EXPECT_EQ(run.times.end[1], 50);
}

TEST(EventEngine, ComputeSlowsDownBesideATransferAndRoundsUp) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute), net = g.stream(StreamKind::AllGather);
    const auto all = g.group(2);
    g.beginClass(2);
    g.op(OpKind::Compute, compute, 10);
    g.op(OpKind::AllGather, net, 6, {}, all, 4);
    g.prices.slowNum = 3;
    g.prices.slowDen = 2;
    const auto graph = g.freeze();
    const auto run = tests::runEvents(graph, g.prices, sim::foldedInstances(graph));
    // 4 free, 6 ns beside the transfer do 4 ns of work, 2 free.
    EXPECT_EQ(run.times.end[0], 12);
    g.prices.slowNum = 7;
    g.prices.slowDen = 5;
    const auto other = tests::runEvents(graph, g.prices, sim::foldedInstances(graph));
    // 4 + 6 * 5/7 = 8.29 after 10 ns: 1.71 left, so 11.71, the first whole nanosecond at which it is done is 12.
    EXPECT_EQ(other.times.end[0], 12);
    g.prices.duration[0] = 6;
    const auto inside = tests::runEvents(graph, g.prices, sim::foldedInstances(graph));
    EXPECT_EQ(inside.times.end[0], 7);  // 2 ns of work at 5/7 take 2.8
}

TEST(EventEngine, ATransferThatWaitsForItsPeersDoesNotSlowCompute) {
    GraphByHand g;
    const auto compute = g.stream(StreamKind::Compute), net = g.stream(StreamKind::AllGather);
    const auto all = g.group(2);
    g.beginClass(2);
    g.op(OpKind::Compute, compute, 10);
    g.op(OpKind::AllGather, net, 6, {}, all);
    g.prices.slowNum = 2;
    const auto graph = g.freeze();
    auto instances = sim::allInstances(graph);
    instances[1].offset = 100;
    const auto run = tests::runEvents(graph, g.prices, instances);
    EXPECT_EQ(run.timesOf(0).end[0], 10);
    EXPECT_EQ(run.timesOf(1).end[0], 113);  // 6 ns at half speed, then 7
}

TEST(EventEngine, TransfersShareALinkFluidly) {
    GraphByHand g;
    const auto one = g.stream(StreamKind::AllGather), two = g.stream(StreamKind::ReduceScatter),
               three = g.stream(StreamKind::AllReduce);
    const auto a = g.group(2, 0, 0b01), b = g.group(2, 1, 0b11), c = g.group(2, 2, 0b100);
    g.beginClass(2);
    g.op(OpKind::AllGather, one, 10, {}, a);
    g.op(OpKind::ReduceScatter, two, 10, {}, b, 4);
    g.op(OpKind::AllReduce, three, 10, {}, c);  // on a link of its own
    const auto graph = g.freeze();
    const auto run = tests::runEvents(graph, g.prices, sim::foldedInstances(graph));
    // 0-4 alone: 4 done. 4-16 shared: 6 more, done at 16; the other has 6 done then and 4 left alone: 20.
    EXPECT_EQ(run.times.end, (std::vector<std::int64_t>{16, 20, 10}));
}

TEST(EventEngine, ThreeOnALinkEndAtTheFirstWholeNanosecond) {
    GraphByHand g;
    const auto one = g.stream(StreamKind::AllGather), two = g.stream(StreamKind::ReduceScatter),
               three = g.stream(StreamKind::AllReduce);
    const auto a = g.group(2, 0, 1), b = g.group(2, 1, 1), c = g.group(2, 2, 1);
    g.beginClass(2);
    g.op(OpKind::AllGather, one, 10, {}, a);
    g.op(OpKind::ReduceScatter, two, 10, {}, b);
    g.op(OpKind::AllReduce, three, 5, {}, c, 1);
    const auto graph = g.freeze();
    const auto run = tests::runEvents(graph, g.prices, sim::foldedInstances(graph));
    // 0-1 two share: 0.5 each. Three share until the third has done its 5: 15 ns, 5.5 each. 4.5 left at half speed: 9.
    EXPECT_EQ(run.times.end, (std::vector<std::int64_t>{25, 25, 16}));
}

TEST(EventEngine, TheSlowestMembersLinkDecidesForTheWholeGroup) {
    GraphByHand g;
    const auto net = g.stream(StreamKind::AllGather), side = g.stream(StreamKind::PointToPoint);
    const auto all = g.group(2, 0, 1), pair = g.group(2, 1, 1);
    g.beginClass(2, "stage 0");
    g.op(OpKind::AllGather, net, 10, {}, all);
    g.op(OpKind::Send, side, 4, {}, pair, 0, 7);
    g.beginClass(2, "stage 1");
    g.op(OpKind::Receive, side, 4, {}, pair, 0, 7);
    const auto graph = g.freeze();
    auto instances = sim::allInstances(graph);
    instances[3].offset = 50;  // the second pair meets after the gather
    const auto run = tests::runEvents(graph, g.prices, instances);
    // Rank 0 sends beside its gather: both at half speed for 8 ns, and the gather ends for rank 1 at the same instant.
    EXPECT_EQ(run.timesOf(0).end, (std::vector<std::int64_t>{14, 8}));
    EXPECT_EQ(run.timesOf(1).end, (std::vector<std::int64_t>{14, 54}));
    EXPECT_EQ(run.timesOf(2).end, (std::vector<std::int64_t>{8}));
    EXPECT_EQ(run.timesOf(3).start, (std::vector<std::int64_t>{50}));
}

TEST(EventEngine, SubgroupsMeetApart) {
    GraphByHand g;
    const auto net = g.stream(StreamKind::AllGather), wide = g.stream(StreamKind::AllReduce);
    const auto near = g.group(2, 0), far = g.group(2, 1, 0, 2);
    g.beginClass(4);
    g.op(OpKind::AllGather, net, 10, {}, near);  // {0,1} {2,3}
    g.op(OpKind::AllReduce, wide, 10, {}, far);  // {0,2} {1,3}
    const auto graph = g.freeze();
    g.prices.links.clear();
    auto instances = sim::allInstances(graph);
    instances[3].offset = 100;
    const auto run = tests::runEvents(graph, g.prices, instances);
    EXPECT_EQ(run.timesOf(0).end, (std::vector<std::int64_t>{10, 10}));
    EXPECT_EQ(run.timesOf(1).end, (std::vector<std::int64_t>{10, 110}));
    EXPECT_EQ(run.timesOf(2).end, (std::vector<std::int64_t>{110, 10}));
}

TEST(EventEngine, ADeadlockIsAnErrorThatNamesAnOp) {
    GraphByHand g;
    const auto net = g.stream(StreamKind::AllGather), other = g.stream(StreamKind::ReduceScatter);
    const auto all = g.group(2, 0);
    g.beginClass(2);
    const auto a = g.op(OpKind::AllGather, net, 10, {}, all);
    const auto b = g.op(OpKind::ReduceScatter, other, 10, {a}, all);
    auto graph = g.freeze();
    // The first now waits for the second: the queue of the communicator never moves.
    graph.edges = {{b, core::EdgeReason::Data}};
    graph.edgeBegin = {0, 1, 1};
    const auto wiring = sim::wire(graph);
    ASSERT_TRUE(wiring.has_value());
    const auto run = sim::runEvents(graph, *wiring, g.prices, sim::foldedInstances(graph));
    ASSERT_FALSE(run.has_value());
    EXPECT_NE(run.error().message.find("2 of 2 ops"), std::string::npos) << run.error().message;
}

TEST(EventEngine, RefusesPricesThatDoNotFitAndGroupsSimulatedInPart) {
    GraphByHand g;
    const auto net = g.stream(StreamKind::AllGather);
    const auto all = g.group(4);
    g.beginClass(4);
    g.op(OpKind::AllGather, net, 10, {}, all);
    const auto graph = g.freeze();
    const auto wiring = sim::wire(graph);
    ASSERT_TRUE(wiring.has_value());
    const auto refuses = [&](const sim::Prices& prices, const std::vector<sim::Instance>& instances) {
        return !sim::runEvents(graph, *wiring, prices, instances).has_value();
    };
    const auto folded = sim::foldedInstances(graph);
    auto prices = g.prices;
    EXPECT_FALSE(refuses(prices, folded));
    prices.duration[0] = -1;
    EXPECT_TRUE(refuses(prices, folded));
    prices.duration[0] = std::numeric_limits<std::int64_t>::max();
    EXPECT_TRUE(refuses(prices, folded));
    prices.duration.clear();
    EXPECT_TRUE(refuses(prices, folded));
    prices = g.prices;
    prices.slowDen = 2;
    EXPECT_TRUE(refuses(prices, folded));
    auto some = sim::allInstances(graph);
    some.pop_back();
    EXPECT_TRUE(refuses(g.prices, some));
}

}  // namespace
}  // namespace shardscope
