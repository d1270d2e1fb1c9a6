// Streams of the CPU device work beside each other, in the graph's order and no other; over a slow link that is what
// hides transfers. Of the executed timelines the structure is looked at, never how long something took.

#include <algorithm>
#include <map>

#include "core/graph/graph_checks.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace testing;

/// Over this link, in bytes per second, the tiny model's transfers take about as long as its kernels.
constexpr double kSlow = 0.05e9;

TrainConfig slowly(TrainConfig config, DeviceKind device = DeviceKind::Cpu) {
    config.device = device;
    config.link.bandwidth = kSlow;
    config.steps = 3;
    return config;
}

struct Span {
    std::int64_t start = 0, transferStart = 0, end = 0;
};
using Spans = std::map<std::uint32_t, Span>;  ///< by op

std::vector<Spans> spansOfRanks(const TrainReport& report) {
    const timeline::Timeline& t = report.timeline;
    std::vector<Spans> ranks(t.ranks.size());
    const auto ranges = timeline::spansOfLanes(t);
    for (std::size_t lane = 0; lane < t.lanes.size(); ++lane)
        for (std::uint32_t i = ranges[lane].begin; i < ranges[lane].end; ++i)
            ranks[t.lanes[lane].rankIndex][t.spans.op[i]] = {t.spans.start[i], t.spans.transferStart[i],
                                                             t.spans.end[i]};
    return ranks;
}

core::StepGraph graphOf(const TrainConfig& config) {
    auto graph = core::buildStepGraph(modelFor(config), config.plan);
    EXPECT_TRUE(graph) << (graph ? "" : core::describe(graph.error()));
    return graph ? std::move(*graph) : core::StepGraph{};
}

/// Transfers of that kind that move while a kernel of the same rank runs.
int hiddenTransfers(const core::StepGraph& graph, const std::vector<Spans>& ranks, core::OpKind kind) {
    int hidden = 0;
    for (const Spans& spans : ranks)
        for (const auto& [op, span] : spans) {
            const auto& transfer = span;  // clang 14 captures no structured binding
            hidden += graph.ops[op].kind == kind && std::ranges::any_of(spans, [&](const auto& other) {
                          return graph.ops[other.first].kind == core::OpKind::Compute &&
                                 other.second.start < transfer.end && transfer.transferStart < other.second.end;
                      });
        }
    return hidden;
}

// Kernels of some milliseconds and transfers as long, so that a thread which a busy machine wakes late is not too late.
TEST(Overlap, HidesTransfersBehindKernels) {
    constexpr std::int64_t kBatch = 480;
    TrainConfig sharded = slowly(fsdp(kBatch, 2)), replicated = slowly(ddp(kBatch, 2));
    sharded.link.bandwidth = replicated.link.bandwidth = kSlow / 10;
    const core::StepGraph graph = graphOf(sharded), buckets = graphOf(replicated);
    const std::vector<Spans> ranks = spansOfRanks(train(sharded));
    EXPECT_GT(hiddenTransfers(graph, ranks, core::OpKind::AllGather), 0);
    EXPECT_GT(hiddenTransfers(graph, ranks, core::OpKind::ReduceScatter), 0);
    EXPECT_GT(hiddenTransfers(buckets, spansOfRanks(train(replicated)), core::OpKind::AllReduce), 0);
}

TEST(Overlap, IsAbsentWhereTheDeviceDoesOneThingAfterAnother) {
    const TrainConfig config = slowly(fsdp(12, 2), DeviceKind::Reference);
    const core::StepGraph graph = graphOf(config);
    const std::vector<Spans> ranks = spansOfRanks(train(config));
    EXPECT_EQ(hiddenTransfers(graph, ranks, core::OpKind::AllGather), 0);
    EXPECT_EQ(hiddenTransfers(graph, ranks, core::OpKind::ReduceScatter), 0);
}

TEST(Overlap, TheTimelineSaysWhatWaitsForWhat) {
    const TrainConfig config = slowly(fsdp(12, 2));
    const core::StepGraph graph = graphOf(config);
    const timeline::Timeline t = train(config).timeline;
    const auto edges = std::ranges::count_if(
        graph.edges, [](const core::Edge& edge) { return edge.reason != core::EdgeReason::StreamOrder; });
    const auto collectives =
        std::ranges::count_if(graph.ops, [](const core::Op& op) { return core::isTransfer(op.kind); });
    std::ptrdiff_t own = 0, peers = 0;
    for (const timeline::Flow& flow : t.flows) {
        const std::uint32_t from = t.lanes[t.spans.lane[flow.from]].rankIndex,
                            to = t.lanes[t.spans.lane[flow.to]].rankIndex;
        if (flow.reason != timeline::FlowReason::Peer) {
            EXPECT_EQ(from, to);
            ++own;
            continue;
        }
        ++peers;
        EXPECT_NE(from, to);
        EXPECT_EQ(t.spans.op[flow.from], t.spans.op[flow.to]);
        EXPECT_GE(t.spans.start[flow.from], t.spans.start[flow.to]) << "the last to arrive holds up the other";
    }
    EXPECT_EQ(own, 2 * edges);
    EXPECT_EQ(peers, collectives);
}

TEST(Overlap, FollowsEveryEdgeOfTheGraph) {
    TrainConfig hybrid = fsdp(12, 2, 2), both = fsdp(12, 2, 2), offloaded = fsdp(12, 2), clipped = naive(12, 3, 2);
    hybrid.plan.mesh.dpReplicate = 2;
    both.plan.schedule = core::StageSchedule::Naive;
    both.plan.mesh.pp = 2;
    offloaded.plan.fsdp.cpuOffload = true;
    clipped.plan.clipNorm = 0.5;
    for (const TrainConfig& base : {fsdp(12, 3), hybrid, both, offloaded, clipped, naive(12, 3, 2), ddp(12, 2)}) {
        const TrainConfig config = slowly(base);
        SCOPED_TRACE(config.plan.name);
        const core::StepGraph graph = graphOf(config);
        const std::vector<Spans> ranks = spansOfRanks(train(config));
        ASSERT_EQ(ranks.size(), static_cast<std::size_t>(config.plan.mesh.size()));
        for (const Spans& spans : ranks)
            for (const auto& [op, span] : spans) {
                EXPECT_LE(span.start, span.transferStart);
                EXPECT_LE(span.transferStart, span.end);
                for (const core::Edge& edge : graph.waitsOf(core::OpId(op))) {
                    const auto before = spans.find(edge.from.value);
                    if (before == spans.end()) continue;  // of another class
                    // A transfer waits for its communicator when it has arrived.
                    const bool arrives = edge.reason == core::EdgeReason::Communicator;
                    EXPECT_LE(before->second.end, arrives ? span.transferStart : span.start)
                        << "op " << op << " after " << edge.from.index() << ", " << core::nameOf(edge.reason);
                }
            }
    }
}

const Span* senderOf(const core::StepGraph& graph, const std::vector<Spans>& ranks, std::uint32_t match) {
    for (const Spans& spans : ranks)
        for (const auto& [op, span] : spans)
            if (graph.ops[op].kind == core::OpKind::Send && graph.ops[op].match == match) return &span;
    return nullptr;
}

// A transfer begins for all its members at once, when the last has arrived: the others are seen to wait. A stage has
// nothing to do but to wait for what the other computes; that it comes first depends on the machine, so it may try.
TEST(Overlap, NaiveStagesAreSeenToWait) {
    const TrainConfig config = slowly(naive(12, 2));
    const core::StepGraph graph = graphOf(config);
    int waited = 0;
    for (int run = 0; run < 20 && waited < 2; ++run) {
        const TrainReport report = train(config);
        const std::vector<Spans> ranks = spansOfRanks(report);
        int receives = 0;
        waited = 0;
        for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
            for (const auto& [op, span] : ranks[rank]) {
                if (graph.ops[op].kind != core::OpKind::Receive) continue;
                ++receives;
                const Span* sender = senderOf(graph, ranks, graph.ops[op].match);
                ASSERT_NE(sender, nullptr);
                EXPECT_EQ(span.transferStart, sender->transferStart);
                EXPECT_GE(span.transferStart, std::max(span.start, sender->start));
                waited += span.start < sender->start;
            }
            EXPECT_GT(report.breakdown[rank].waiting, 0);
            EXPECT_EQ(report.breakdown[rank].compute + report.breakdown[rank].transfer + report.breakdown[rank].copy +
                          report.breakdown[rank].waiting + report.breakdown[rank].idle,
                      report.breakdown[rank].step);
        }
        ASSERT_EQ(receives, 2);
    }
    EXPECT_EQ(waited, 2);
}

// Were an op to read or reuse memory before the graph lets it, another speed of the link would give other values.
TEST(Overlap, GivesTheSameBitsAtEverySpeedOfTheLink) {
    auto runs = switchedRuns();
    runs.emplace_back("fsdp on 4", fsdp(12, 4));
    runs.emplace_back("naive", naive(12, 3, 2));
    runs.emplace_back("ddp", ddp(12, 3));
    runs.emplace_back("clipped", fsdp(12, 2));
    runs.back().second.plan.clipNorm = 0.5;
    for (auto& [name, config] : runs) {
        SCOPED_TRACE(name);
        config.keepParameters = true;
        config.steps = 3;
        config.data = TrainingData::Formula;
        config.parameters = formulaParameters(modelFor(config), -2);
        TrainConfig slow = slowly(config), late = slow, fast = slow;
        fast.link = {};
        late.link = {0, 200e-6};
        const TrainReport expected = train(fast), loops = train(config);
        for (const TrainConfig& other : {slow, late}) {
            const TrainReport report = train(other);
            EXPECT_EQ(report.losses, expected.losses);
            EXPECT_TRUE(report.parameters == expected.parameters);
        }
        ASSERT_EQ(expected.losses.size(), loops.losses.size());
        for (std::size_t step = 0; step < loops.losses.size(); ++step)
            EXPECT_NEAR(expected.losses[step] / loops.losses[step], 1.0, 1e-5) << "step " << step;
    }
}

TEST(Overlap, AnErrorOnAStreamNamesItsRank) {
    for (const TrainConfig& base : {fsdp(12, 3), ddp(12, 3)}) {
        TrainConfig config = slowly(base);
        config.samples = [](std::int64_t step, std::int64_t first, std::int64_t count) -> core::Result<Batch> {
            Batch batch = formulaBatch(tinyVit(), first, count);
            if (step == 1 && first == 4) batch.labels.front() = 99;  // rank 1
            return batch;
        };
        const auto report = trainSteps(config);
        ASSERT_FALSE(report);
        EXPECT_NE(report.error().where.find("rank 1"), std::string::npos) << core::describe(report.error());
        EXPECT_NE(report.error().message.find("99"), std::string::npos) << core::describe(report.error());
    }
}

}  // namespace
}  // namespace shardscope::runtime
