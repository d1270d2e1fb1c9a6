#include "core/graph/graph_builder.h"

#include <gtest/gtest.h>

#include "core/graph/graph_checks.h"

namespace shardscope::core {
namespace {

Op opOn(std::uint8_t stream, OpKind kind = OpKind::Compute) {
    Op op;
    op.kind = kind;
    op.stream = stream;
    return op;
}

struct Streams {
    std::uint8_t compute, gather;
};

Streams addStreams(GraphBuilder& builder) {
    const std::uint8_t compute = builder.addStream(StreamKind::Compute);
    return {compute, builder.addStream(StreamKind::AllGather)};
}

Op collective(std::uint8_t stream, GroupId group, std::int64_t bytes = 8) {
    Op op = opOn(stream, OpKind::AllGather);
    op.group = group;
    op.bytes = {bytes};
    return op;
}

Op transfer(std::uint8_t stream, GroupId group, OpKind kind, std::uint32_t match, std::int64_t bytes = 8) {
    Op op = collective(stream, group, bytes);
    op.kind = kind;
    op.match = match;
    return op;
}

std::vector<std::pair<std::uint32_t, EdgeReason>> waits(const StepGraph& graph, std::size_t op) {
    std::vector<std::pair<std::uint32_t, EdgeReason>> list;
    for (const Edge& edge : graph.waitsOf(OpId(op))) list.emplace_back(edge.from.value, edge.reason);
    return list;
}

TEST(GraphBuilder, opsOfAStreamWaitForEachOtherInTheirOrder) {
    GraphBuilder builder;
    const Streams s = addStreams(builder);
    builder.beginClass({});
    for (int i = 0; i < 3; ++i) builder.addOp(opOn(s.compute));
    const auto graph = builder.freeze();
    ASSERT_TRUE(graph) << describe(graph.error());
    EXPECT_TRUE(waits(*graph, 0).empty());
    EXPECT_EQ(waits(*graph, 2), (std::vector<std::pair<std::uint32_t, EdgeReason>>{{1, EdgeReason::StreamOrder}}));
}

TEST(GraphBuilder, waitOfAStreamGoesToItsNextOpOnly) {
    GraphBuilder builder;
    const Streams s = addStreams(builder);
    builder.beginClass({});
    const OpId gather = builder.addOp(opOn(s.gather, OpKind::CopyOut));
    builder.waitOp(s.compute, gather, EdgeReason::Data);
    builder.addOp(opOn(s.compute));
    builder.waitOp(s.compute, gather, EdgeReason::EventWait);  // already waited for
    builder.addOp(opOn(s.compute));
    const auto graph = builder.freeze();
    ASSERT_TRUE(graph);
    EXPECT_EQ(waits(*graph, 1), (std::vector<std::pair<std::uint32_t, EdgeReason>>{{0, EdgeReason::Data}}));
    EXPECT_EQ(waits(*graph, 2), (std::vector<std::pair<std::uint32_t, EdgeReason>>{{1, EdgeReason::StreamOrder}}));
}

TEST(GraphBuilder, waitingForAStreamTakesOverWhatThatStreamWaitsFor) {
    GraphBuilder builder;
    const Streams s = addStreams(builder);
    const std::uint8_t copyIn = builder.addStream(StreamKind::AllGatherCopyIn);
    builder.beginClass({});
    const OpId first = builder.addOp(opOn(s.compute));
    builder.waitOp(copyIn, first);
    builder.waitStream(s.gather, copyIn);  // nothing was enqueued on copyIn, but its wait is passed on
    builder.addOp(opOn(s.gather, OpKind::CopyOut));
    const auto graph = builder.freeze();
    ASSERT_TRUE(graph);
    EXPECT_EQ(waits(*graph, 1), (std::vector<std::pair<std::uint32_t, EdgeReason>>{{0, EdgeReason::EventWait}}));
}

TEST(GraphBuilder, collectivesOfOneCommunicatorFollowEachOtherAcrossStreams) {
    GraphBuilder builder;
    const Streams s = addStreams(builder);
    const GroupId group = builder.addGroup({.size = 4, .name = "dp_shard"});
    builder.beginClass({});
    builder.addOp(collective(s.gather, group));
    builder.addOp(collective(s.compute, group));
    const auto graph = builder.freeze();
    ASSERT_TRUE(graph);
    EXPECT_EQ(waits(*graph, 1), (std::vector<std::pair<std::uint32_t, EdgeReason>>{{0, EdgeReason::Communicator}}));
}

TEST(GraphBuilder, aCycleIsFound) {
    GraphBuilder builder;
    const Streams s = addStreams(builder);
    builder.beginClass({});
    const OpId a = builder.addOp(opOn(s.compute));
    const OpId b = builder.addOp(opOn(s.gather, OpKind::CopyOut));
    builder.addEdge(a, b, EdgeReason::Data);
    builder.addEdge(b, a, EdgeReason::Data);
    const auto graph = builder.freeze();
    ASSERT_FALSE(graph);
    EXPECT_NE(graph.error().message.find("wait for each other"), std::string::npos);
}

// Two classes that each wait for the other's message before they send their own.
TEST(GraphBuilder, aCycleThroughTransfersIsFound) {
    GraphBuilder builder;
    const std::uint8_t in = builder.addStream(StreamKind::PointToPoint, "in");
    const std::uint8_t out = builder.addStream(StreamKind::PointToPoint, "out");
    const GroupId up = builder.addGroup({.kind = Group::Kind::Pair, .size = 2, .communicator = 0});
    const GroupId down = builder.addGroup({.kind = Group::Kind::Pair, .size = 2, .communicator = 1});
    for (const bool first : {true, false}) {
        builder.beginClass({});
        const OpId receive = builder.addOp(transfer(in, first ? down : up, OpKind::Receive, first ? 1 : 0));
        builder.waitOp(out, receive);
        builder.addOp(transfer(out, first ? up : down, OpKind::Send, first ? 0 : 1));
    }
    const auto graph = builder.freeze();
    ASSERT_FALSE(graph);
    EXPECT_NE(graph.error().message.find("wait for each other"), std::string::npos);
}

TEST(GraphBuilder, classesOnOneCommunicatorMustIssueTheSame) {
    for (const std::int64_t otherBytes : {8, 16}) {
        GraphBuilder builder;
        const Streams s = addStreams(builder);
        const GroupId group = builder.addGroup({.size = 2});
        builder.beginClass({});
        builder.addOp(collective(s.gather, group, 8));
        builder.beginClass({});
        builder.addOp(collective(s.gather, group, otherBytes));
        EXPECT_EQ(builder.freeze().has_value(), otherBytes == 8) << otherBytes;
    }
}

TEST(GraphBuilder, aSendWithoutItsReceiveIsRefused) {
    for (const OpKind otherKind : {OpKind::Receive, OpKind::Send}) {
        GraphBuilder builder;
        const std::uint8_t stream = builder.addStream(StreamKind::PointToPoint);
        const GroupId pair = builder.addGroup({.kind = Group::Kind::Pair, .size = 2});
        builder.beginClass({});
        builder.addOp(transfer(stream, pair, OpKind::Send, 0));
        builder.beginClass({});
        builder.addOp(transfer(stream, pair, otherKind, 0));
        EXPECT_EQ(builder.freeze().has_value(), otherKind == OpKind::Receive);
    }
}

TEST(GraphBuilder, blocksAreReleasedOnceAndAfterTheirFirstUse) {
    enum Fault { None, NeverReleased, ReleasedTwice, ReleasedUnused };
    for (const Fault fault : {None, NeverReleased, ReleasedTwice, ReleasedUnused}) {
        GraphBuilder builder;
        const Streams s = addStreams(builder);
        builder.beginClass({});
        const BlockId block = builder.allocate({.bytes = {64}});
        const OpId op = builder.addOp(opOn(s.compute));
        if (fault != ReleasedUnused) builder.use(block, op);
        if (fault != NeverReleased) builder.release(block);
        if (fault == ReleasedTwice) builder.release(block);
        EXPECT_EQ(builder.freeze().has_value(), fault == None) << fault;
    }
}

TEST(GraphBuilder, operandsMustExist) {
    GraphBuilder builder;
    const Streams s = addStreams(builder);
    builder.beginClass({});
    Op op = opOn(s.compute);
    op.unit = UnitId(3);
    builder.addOp(op);
    EXPECT_FALSE(builder.freeze());
}

StepGraph small() {
    GraphBuilder builder;
    const Streams s = addStreams(builder);
    const GroupId group = builder.addGroup({.size = 2, .name = "dp_shard"});
    builder.addUnit({.name = "root"});
    builder.beginClass({.name = "all ranks"});
    const BlockId block = builder.allocate({.bytes = {64}});
    builder.use(block, builder.addOp(collective(s.gather, group)));
    builder.waitStream(s.compute, s.gather);
    builder.addOp(opOn(s.compute));
    builder.release(block);
    builder.mark(Mark::OptimizerStep);
    return *builder.freeze();
}

TEST(GraphBuilder, theHashChangesWithAnything) {
    const StepGraph graph = small();
    EXPECT_EQ(graph.hash, small().hash);
    const auto differs = [&](auto change) {
        StepGraph other = graph;
        change(other);
        return hashOf(other) != graph.hash;
    };
    EXPECT_TRUE(differs([](StepGraph& g) { g.plan.microBatches = 2; }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.plan.precision.reduce = DType::BF16; }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.streams[0].name = "other"; }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.groups[0].size = 4; }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.units[0].elements = 1; }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.ops[0].bytes = {9}; }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.ops[0].kernels.backward = true; }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.ops[0].average = true; }));
    EXPECT_TRUE(differs([](StepGraph& g) { std::swap(g.ops[0], g.ops[1]); }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.edges[0].reason = EdgeReason::MemoryLimit; }));
    EXPECT_TRUE(differs([](StepGraph& g) { std::swap(g.actions[0], g.actions[1]); }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.blocks[0].pool = 1; }));
    EXPECT_TRUE(differs([](StepGraph& g) { g.classes[0].multiplicity = 2; }));
}

}  // namespace
}  // namespace shardscope::core
