#include <gtest/gtest.h>

#include <random>

#include "tests/timeline/hand_made.h"
#include "traces/timeline/causes.h"

namespace shardscope::timeline {
namespace {

/// "begin-end cause of unit (state)", a line a piece.
std::string explained(const Timeline& timeline, std::uint32_t rank = 0) {
    std::string text;
    for (const CausedInterval& piece : CauseFinder(timeline).intervalsOf(rank)) {
        text += std::to_string(piece.begin) + "-" + std::to_string(piece.end) + " " +
                describe(piece.cause, timeline.strings[piece.unit]) + " (" + std::string(nameOf(piece.state)) + ")\n";
    }
    return text;
}

TEST(Causes, ExposedGatherIsTheUnitsAndItsWaitAPeers) {
    HandMade t;
    t.rank("compute all_gather", 50);
    t.span("compute", Activity::Kernels, 0, 10, "a");
    const auto gather = t.span("all_gather", Activity::AllGather, 5, 30, "b", 15);
    const auto forward = t.span("compute", Activity::Kernels, 30, 50, "b");
    t.flow(gather, forward, FlowReason::EventWait);
    EXPECT_EQ(explained(t.finish()),
              "10-15 peer late for b (waiting)\n"
              "15-30 all-gather of b (transfer)\n");
}

TEST(Causes, WhatHeldBackIsTheLastOfWhatItWaitedFor) {
    // forward <- gather <- copy-in, whose reading ended after the host had issued the gather; the transfer of the
    // gather queued behind a reduce-scatter.
    HandMade t;
    t.rank("compute copy_in all_gather reduce_scatter", 60);
    t.span("compute", Activity::Kernels, 0, 10, "a");
    const auto copyIn = t.span("copy_in", Activity::GatherCopyIn, 4, 12, "b");
    const auto reduce = t.span("reduce_scatter", Activity::ReduceScatter, 5, 20, "c", 5);
    const auto gather = t.span("all_gather", Activity::AllGather, 12, 30, "b", 20, core::Phase::Forward, /*issued=*/6);
    const auto forward = t.span("compute", Activity::Kernels, 30, 60, "b", kNotIssued, core::Phase::Forward, 7);
    t.flow(copyIn, gather, FlowReason::Data);
    t.flow(reduce, gather, FlowReason::Communicator);
    t.flow(gather, forward, FlowReason::EventWait);
    const Timeline timeline = t.finish();
    const CauseFinder finder(timeline);
    const auto named = [&](std::string_view name) {
        for (std::uint32_t i = 0; i < timeline.spans.size(); ++i)
            if (timeline.strings[timeline.spans.name[i]] == name && timeline.spans.end[i] > 10) return i;
        return kNoIndex;
    };
    const std::string gatherName = std::string(nameOf(Activity::AllGather)) + " b";
    const auto byGather = finder.heldBack(named(std::string(nameOf(Activity::Kernels)) + " b"));
    EXPECT_EQ(byGather.by, HeldBack::By::Span);
    EXPECT_EQ(byGather.span, named(gatherName));
    EXPECT_EQ(byGather.reason, FlowReason::EventWait);
    EXPECT_EQ(byGather.end, 30);
    const auto byCopy = finder.heldBack(named(gatherName));
    EXPECT_EQ(byCopy.span, named(std::string(nameOf(Activity::GatherCopyIn)) + " b"));
    EXPECT_EQ(byCopy.end, 12);
    const auto byQueue = finder.heldBackTransfer(named(gatherName));
    EXPECT_EQ(byQueue.span, named(std::string(nameOf(Activity::ReduceScatter)) + " c"));
    EXPECT_EQ(byQueue.reason, FlowReason::Communicator);
    EXPECT_EQ(byQueue.end, 20);
    EXPECT_EQ(finder.heldBackTransfer(byQueue.span).by, HeldBack::By::Nothing);  // it moved at once
    EXPECT_EQ(finder.heldBack(byQueue.span).by, HeldBack::By::Nothing);
}

TEST(Causes, GatherInTheQueueIsBlamedOnWhatRunsBeforeIt) {
    // B of unit a needs its gather, which queued on the communicator behind the reduce-scatter of unit c.
    HandMade t;
    t.rank("compute all_gather reduce_scatter", 60);
    t.span("compute", Activity::Kernels, 0, 10, "c");
    const auto reduce = t.span("reduce_scatter", Activity::ReduceScatter, 5, 25, "c", 5);
    const auto gather = t.span("all_gather", Activity::AllGather, 8, 30, "a", 25);
    const auto backward = t.span("compute", Activity::Kernels, 30, 60, "a");
    t.flow(gather, backward, FlowReason::EventWait);
    t.flow(reduce, gather, FlowReason::Communicator);
    EXPECT_EQ(explained(t.finish()),
              "10-25 reduce-scatter of c (transfer)\n"
              "25-30 all-gather of a (transfer)\n");
}

TEST(Causes, PeerThatComesAfterTheQueueIsLate) {
    HandMade t;
    t.rank("compute all_gather reduce_scatter", 60);
    t.span("compute", Activity::Kernels, 0, 10, "c");
    const auto reduce = t.span("reduce_scatter", Activity::ReduceScatter, 5, 15, "c");
    const auto gather = t.span("all_gather", Activity::AllGather, 8, 30, "a", 22);
    const auto backward = t.span("compute", Activity::Kernels, 30, 60, "a");
    t.flow(gather, backward, FlowReason::EventWait);
    t.flow(reduce, gather, FlowReason::Communicator);
    EXPECT_EQ(explained(t.finish()),
              "10-15 reduce-scatter of c (transfer)\n"
              "15-22 peer late for a (waiting)\n"
              "22-30 all-gather of a (transfer)\n");
}

TEST(Causes, BufferHeldByAReduceScatterIsBackPressure) {
    HandMade t;
    t.rank("compute reduce_scatter", 40);
    t.span("compute", Activity::Kernels, 0, 10, "b");
    const auto reduce = t.span("reduce_scatter", Activity::ReduceScatter, 2, 25, "a");
    const auto copyIn = t.span("compute", Activity::ReduceCopyIn, 25, 40, "b");
    t.flow(reduce, copyIn, FlowReason::MemoryLimit);
    EXPECT_EQ(explained(t.finish()), "10-25 reduce-scatter back-pressure of a (transfer)\n");
}

TEST(Causes, ReduceScatterWhoseSumIsNeededIsNoBackPressure) {
    HandMade t;
    t.rank("compute reduce_scatter", 40);
    t.span("compute", Activity::Kernels, 0, 10, "a");
    const auto reduce = t.span("reduce_scatter", Activity::ReduceScatter, 2, 25, "a");
    const auto optimizer = t.span("compute", Activity::OptimizerStep, 25, 40);
    t.flow(reduce, optimizer, FlowReason::Data);
    EXPECT_EQ(explained(t.finish()), "10-25 reduce-scatter of a (transfer)\n");
}

TEST(Causes, ChainRunsThroughACopyToTheHost) {
    // forward <- gather <- copy-in <- host, which issued the copy-in at 14.
    HandMade t;
    t.rank("compute copy_in all_gather", 60);
    t.span("compute", Activity::Kernels, 0, 10, "a");
    const auto copyIn = t.span("copy_in", Activity::GatherCopyIn, 14, 20, "b", kNotIssued, core::Phase::Forward, 14);
    const auto gather = t.span("all_gather", Activity::AllGather, 20, 30, "b", kNotIssued, core::Phase::Forward, 15);
    const auto forward = t.span("compute", Activity::Kernels, 30, 60, "b", kNotIssued, core::Phase::Forward, 16);
    t.flow(copyIn, gather, FlowReason::Data);
    t.flow(gather, forward, FlowReason::EventWait);
    EXPECT_EQ(explained(t.finish()),
              "10-14 host launch (idle)\n"
              "14-20 copy (copy)\n"
              "20-30 all-gather of b (transfer)\n");
}

TEST(Causes, HostIsBlamedForWhatItDid) {
    HandMade t;
    t.rank("compute host", 100);
    t.span("host", Activity::DataLoading, 0, 20);
    t.span("host", Activity::HostWork, 20, 30);
    t.span("host", Activity::Synchronisation, 40, 55);
    t.span("host", Activity::OptimizerStep, 60, 90);
    t.span("compute", Activity::Kernels, 30, 40, "a", kNotIssued, core::Phase::Forward, 30);
    t.span("compute", Activity::Kernels, 90, 100, "b", kNotIssued, core::Phase::Forward, 90);
    EXPECT_EQ(explained(t.finish()),
              "0-20 data loading (idle)\n"
              "20-30 host launch (idle)\n"
              "40-55 synchronising call (idle)\n"
              "55-60 host launch (idle)\n"
              "60-90 host optimizer (idle)\n");
}

TEST(Causes, StagesWaitForTheirNeighboursAndThenForTheEnd) {
    HandMade t;
    t.rank("compute p2p", 100, 0);
    t.span("compute", Activity::Kernels, 0, 10, "0");
    const auto send = t.span("p2p", Activity::Send, 10, 12, "0");
    const auto gradient = t.span("p2p", Activity::Receive, 12, 60, "0", 58, core::Phase::Backward);
    const auto backward = t.span("compute", Activity::Kernels, 60, 80, "0", kNotIssued, core::Phase::Backward);
    t.flow(gradient, backward, FlowReason::Data);
    t.rank("compute p2p", 100, 1);
    const auto receive = t.span("p2p", Activity::Receive, 0, 12, "1", 10);
    const auto last = t.span("compute", Activity::Kernels, 12, 58, "1");
    t.span("p2p", Activity::Send, 58, 60, "1", kNotIssued, core::Phase::Backward);
    t.flow(receive, last, FlowReason::Data);
    t.flow(send, receive, FlowReason::Peer);
    const Timeline timeline = t.finish();
    EXPECT_EQ(explained(timeline, 0),
              "10-12 downstream stage (transfer)\n"
              "12-58 downstream stage (waiting)\n"
              "58-60 downstream stage (transfer)\n"
              "80-100 pipeline bubble (idle)\n");
    EXPECT_EQ(explained(timeline, 1),
              "0-10 upstream stage (waiting)\n"
              "10-12 upstream stage (transfer)\n"
              "58-60 upstream stage (transfer)\n"
              "60-100 pipeline bubble (idle)\n");
}

TEST(Causes, StageAtTheOtherEndIsReadFromTheFlowAndNotFromThePhase) {
    // A tied weight: the last stage receives a gradient from the first one.
    HandMade t;
    t.rank("compute p2p", 30, 0);
    const auto send = t.span("p2p", Activity::Send, 0, 10, "tied", kNotIssued, core::Phase::Reduction);
    t.rank("compute p2p", 30, 3);
    const auto receive = t.span("p2p", Activity::Receive, 0, 10, "tied", kNotIssued, core::Phase::Reduction);
    const auto add = t.span("compute", Activity::AddGradient, 10, 30, "tied");
    t.flow(send, receive, FlowReason::Peer);
    t.flow(receive, add, FlowReason::Data);
    EXPECT_EQ(explained(t.finish(), 1), "0-10 upstream stage (transfer)\n");
}

TEST(Causes, EndWithoutStagesIsAPeers) {
    HandMade t;
    t.rank("compute reduce_scatter", 50);
    t.span("compute", Activity::Kernels, 0, 10, "a");
    t.span("reduce_scatter", Activity::ReduceScatter, 12, 30, "a", 15);
    EXPECT_EQ(explained(t.finish()),
              "10-12 unknown (idle)\n"  // no flow says what held the reduce-scatter back
              "12-15 peer late for a (waiting)\n"
              "15-30 reduce-scatter of a (transfer)\n"
              "30-50 peer late (idle)\n");
}

TEST(Causes, WithoutAnyFlowTheCauseIsWhatWasUnderWay) {
    HandMade t;
    t.rank("compute comm copy", 60);
    t.span("compute", Activity::Kernels, 0, 10);
    t.span("comm", Activity::AllReduce, 10, 30);
    t.span("copy", Activity::MemoryCopy, 30, 40);
    t.span("compute", Activity::Kernels, 50, 60);
    EXPECT_EQ(explained(t.finish()),
              "10-30 all-reduce (transfer)\n"
              "30-40 copy (copy)\n"
              "40-50 unknown (idle)\n");
}

TEST(Causes, TotalsAreLargestFirstAndCountEveryRankOfAClass) {
    HandMade t;
    t.rank("compute all_gather", 50).made.ranks[0].multiplicity = 8;
    const auto first = t.span("all_gather", Activity::AllGather, 0, 5, "a");
    const auto a = t.span("compute", Activity::Kernels, 5, 10, "a");
    const auto second = t.span("all_gather", Activity::AllGather, 5, 30, "b");
    const auto b = t.span("compute", Activity::Kernels, 30, 50, "b");
    t.flow(first, a, FlowReason::EventWait);
    t.flow(second, b, FlowReason::EventWait);
    const Timeline timeline = t.finish();
    const auto own = CauseFinder(timeline).totalsOf(0);
    ASSERT_EQ(own.size(), 2u);
    EXPECT_EQ(own[0].time, 20);
    EXPECT_EQ(timeline.strings[own[0].unit], "b");
    EXPECT_EQ(own[1].time, 5);
    const auto all = sumOver(timeline, {own});
    EXPECT_EQ(all[0].time, 160);
    EXPECT_EQ(all[0].byState[static_cast<std::size_t>(State::Transfer)], 160);
}

TEST(Causes, SumToTheBreakdownStateByStateOnRandomTimelines) {
    std::mt19937_64 random(11);
    const auto upTo = [&](std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n + 1));
    };
    for (int round = 0; round < 500; ++round) {
        HandMade t;
        const std::int64_t ranks = 1 + upTo(2);
        std::vector<std::uint32_t> all;
        for (std::int64_t r = 0; r < ranks; ++r) {
            t.rank("compute comm copy p2p host", 60 + upTo(60), upTo(1));
            t.made.ranks.back().stepBegin = upTo(10);
            const std::int64_t spans = upTo(25);
            for (std::int64_t i = 0; i < spans; ++i) {
                static constexpr const char* kStreams[] = {"compute", "comm", "copy", "p2p", "host"};
                static constexpr Activity kActivity[] = {Activity::Kernels, Activity::ReduceScatter,
                                                         Activity::MemoryCopy, Activity::Receive,
                                                         Activity::DataLoading};
                const std::size_t lane = static_cast<std::size_t>(upTo(4));
                const std::int64_t start = upTo(110), length = upTo(12);
                all.push_back(t.span(kStreams[lane], kActivity[lane], start, start + length,
                                     "u" + std::to_string(upTo(3)), start + upTo(length), core::Phase::Forward,
                                     upTo(1) ? kNotIssued : upTo(start)));
            }
        }
        // Also flows that make no sense, cycles among them: a damaged trace must not hang or lose time.
        const std::int64_t flows = all.empty() ? 0 : upTo(30);
        for (std::int64_t f = 0; f < flows; ++f) {
            const auto any = [&] {
                return all[static_cast<std::size_t>(upTo(static_cast<std::int64_t>(all.size()) - 1))];
            };
            t.flow(any(), any(), static_cast<FlowReason>(upTo(6)));
        }
        const Timeline timeline = t.finish();
        const std::vector<Breakdown> breakdown = breakdownOf(timeline);
        const CauseFinder finder(timeline);
        for (std::uint32_t r = 0; r < timeline.ranks.size(); ++r) {
            std::array<std::int64_t, kStates> byState{};
            std::int64_t now = timeline.ranks[r].stepBegin;
            for (const CausedInterval& piece : finder.intervalsOf(r)) {
                ASSERT_LE(now, piece.begin) << "round " << round;
                ASSERT_LT(piece.begin, piece.end);
                now = piece.end;
                byState[static_cast<std::size_t>(piece.state)] += piece.end - piece.begin;
            }
            ASSERT_LE(now, timeline.ranks[r].stepEnd);
            ASSERT_EQ(byState[0], 0) << "compute has no cause";
            for (std::size_t s = 1; s < kStates; ++s) {
                ASSERT_EQ(byState[s], breakdown[r].of(static_cast<State>(s))) << "round " << round << ", rank " << r;
            }
            std::int64_t total = 0;
            for (const CauseTotal& cause : finder.totalsOf(r)) total += cause.time;
            ASSERT_EQ(total, breakdown[r].step - breakdown[r].compute);
        }
    }
}

}  // namespace
}  // namespace shardscope::timeline
