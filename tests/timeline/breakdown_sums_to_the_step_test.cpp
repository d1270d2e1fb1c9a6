#include <gtest/gtest.h>

#include <random>

#include "tests/timeline/hand_made.h"
#include "traces/timeline/activity_times.h"
#include "traces/timeline/breakdown.h"
#include "traces/timeline/compute_work.h"

namespace shardscope::timeline {
namespace {

TEST(Breakdown, CountsEachInstantOnceByFirstMatch) {
    HandMade t;
    t.rank("compute comm copy host", 100);
    t.span("compute", Activity::Kernels, 10, 30);
    t.span("compute", Activity::CopyOut, 30, 35);              // a copy on the compute stream is compute
    t.span("comm", Activity::AllGather, 20, 50, "a", 40);      // waits 20-40, of which 35-40 shows; transfers 40-50
    t.span("copy", Activity::MemoryCopy, 45, 60);              // shows 50-60
    t.span("comm", Activity::ReduceScatter, 55, 80, "a", 70);  // waits 55-70, of which 60-70 shows
    t.span("host", Activity::HostWork, 0, 100);                // never device work
    const Timeline timeline = t.finish();
    const Breakdown b = breakdownOf(timeline).at(0);
    EXPECT_EQ(b.compute, 25);
    EXPECT_EQ(b.transfer, 20);
    EXPECT_EQ(b.copy, 10);
    EXPECT_EQ(b.waiting, 15);
    EXPECT_EQ(b.idle, 30);
    EXPECT_EQ(b.step, 100);
    EXPECT_EQ(b.totalTransfer, 20);
    EXPECT_EQ(b.totalCopy, 15);
}

TEST(ComputeWork, NamesEveryInstantOfComputeOnce) {
    HandMade t;
    t.rank("compute comm", 100);
    t.span("compute", Activity::CopyOut, 0, 4);
    t.span("compute", Activity::Kernels, 4, 20);
    t.span("compute", Activity::Kernels, 20, 27, "", kNotIssued, core::Phase::Loss);
    t.span("compute", Activity::Kernels, 27, 60, "", kNotIssued, core::Phase::Backward);
    t.span("compute", Activity::AddGradient, 55, 65, "", kNotIssued, core::Phase::Backward);  // 5 beside the kernels
    t.span("comm", Activity::ReduceScatter, 60, 80);
    t.span("compute", Activity::OptimizerStep, 80, 93, "", kNotIssued, core::Phase::Optimizer);
    t.span("compute", Activity::Other, 94, 95);
    const Timeline timeline = t.finish();
    const ComputeWork work = computeWorkOf(timeline).at(0);
    EXPECT_EQ(work.copies, 4);
    EXPECT_EQ(work.forward, 23);
    EXPECT_EQ(work.backward, 33);
    EXPECT_EQ(work.accumulation, 5);
    EXPECT_EQ(work.optimizer, 13);
    EXPECT_EQ(work.other, 1);
    EXPECT_EQ(work.total(), breakdownOf(timeline).at(0).compute);
}

TEST(ActivityTimes, AreTheOpsTimesWhateverRunsBeside) {
    HandMade t;
    t.rank("compute comm", 100);
    t.span("compute", Activity::Kernels, 0, 30);
    t.span("compute", Activity::Kernels, 30, 70, "", kNotIssued, core::Phase::Backward);
    t.span("comm", Activity::AllGather, 0, 25, "a", 5);  // waits for 5
    t.span("comm", Activity::AllGather, 25, 40);
    t.rank("compute", 100);
    t.span("compute", Activity::Kernels, 0, 8);
    const std::vector<ActivityTimes> times = activityTimesOf(t.finish());
    ASSERT_EQ(times.size(), 2u);
    EXPECT_EQ(times[0][activitySlot(Activity::Kernels, core::Phase::Forward)], 30);
    EXPECT_EQ(times[0][activitySlot(Activity::Kernels, core::Phase::Backward)], 40);
    EXPECT_EQ(times[0][activitySlot(Activity::AllGather, core::Phase::Backward)], 35);
    EXPECT_EQ(times[1][activitySlot(Activity::Kernels, core::Phase::Forward)], 8);
    EXPECT_EQ(nameOfActivitySlot(activitySlot(Activity::Kernels, core::Phase::Backward)), "backward");
    EXPECT_EQ(nameOfActivitySlot(activitySlot(Activity::AllGather, core::Phase::Forward)), "all-gather");
}

TEST(Breakdown, HiddenTransferIsWhatRunsBesideCompute) {
    HandMade t;
    t.rank("compute comm", 100);
    t.span("compute", Activity::Kernels, 0, 40);
    t.span("comm", Activity::AllGather, 10, 60);
    const Breakdown b = breakdownOf(t.finish()).at(0);
    EXPECT_EQ(b.hiddenTransfer(), 30);
    EXPECT_DOUBLE_EQ(b.hiddenShare(), 0.6);
}

TEST(Breakdown, CutsSpansAtTheBordersOfTheStep) {
    HandMade t;
    t.rank("compute comm", 80);
    t.made.ranks[0].stepBegin = 20;
    t.span("compute", Activity::Kernels, 0, 30);
    t.span("comm", Activity::AllGather, 70, 120, "", 75);
    const Breakdown b = breakdownOf(t.finish()).at(0);
    EXPECT_EQ(b.compute, 10);
    EXPECT_EQ(b.waiting, 5);
    EXPECT_EQ(b.transfer, 5);
    EXPECT_EQ(b.idle, 40);
    EXPECT_EQ(b.step, 60);
}

TEST(Breakdown, RankWithoutSpansIsIdle) {
    HandMade t;
    t.rank("compute", 7);
    const Timeline timeline = t.finish();
    EXPECT_EQ(breakdownOf(timeline).at(0).idle, 7);
    EXPECT_EQ(segmentsOf(timeline, 0), (std::vector<Segment>{{0, 7, State::Idle, kNoIndex}}));
}

TEST(Breakdown, SegmentsNameTheSpanThatMakesTheState) {
    HandMade t;
    t.rank("compute comm", 50);
    const std::uint32_t gather = t.span("comm", Activity::AllGather, 5, 20, "a", 10);
    const std::uint32_t next = t.span("comm", Activity::AllGather, 20, 30, "b");
    const std::uint32_t forward = t.span("compute", Activity::Kernels, 25, 45);
    Timeline timeline = std::move(t.made);
    const std::vector<std::string> names = {timeline.strings[timeline.spans.name[gather]],
                                            timeline.strings[timeline.spans.name[next]],
                                            timeline.strings[timeline.spans.name[forward]]};
    arrange(timeline);
    const std::vector<Segment> segments = segmentsOf(timeline, 0);
    ASSERT_EQ(segments.size(), 6u);
    const auto name = [&](std::size_t i) { return timeline.strings[timeline.spans.name[segments[i].span]]; };
    EXPECT_EQ(segments[0], (Segment{0, 5, State::Idle, kNoIndex}));
    EXPECT_EQ(segments[1].state, State::Waiting);
    EXPECT_EQ(name(1), names[0]);
    EXPECT_EQ(segments[2].state, State::Transfer);
    EXPECT_EQ(name(2), names[0]);
    EXPECT_EQ(segments[3].state, State::Transfer);
    EXPECT_EQ(name(3), names[1]);
    EXPECT_EQ(segments[3].end, 25);
    EXPECT_EQ(name(4), names[2]);
    EXPECT_EQ(segments[5], (Segment{45, 50, State::Idle, kNoIndex}));
}

TEST(Breakdown, SumCountsAClassAsManyTimesAsItHasRanks) {
    HandMade t;
    t.rank("compute", 10).made.ranks[0].multiplicity = 1024;
    t.span("compute", Activity::Kernels, 0, 4);
    const Timeline timeline = t.finish();
    const Breakdown sum = sumOver(timeline, breakdownOf(timeline));
    EXPECT_EQ(sum.compute, 4 * 1024);
    EXPECT_EQ(sum.idle, 6 * 1024);
    EXPECT_EQ(sum.step, 10 * 1024);
}

/// The definition, instant by instant.
Breakdown countNanoseconds(const Timeline& t, std::uint32_t rankIndex) {
    const RankRow& rank = t.ranks[rankIndex];
    Breakdown b;
    b.step = rank.stepEnd - rank.stepBegin;
    for (std::int64_t now = rank.stepBegin; now < rank.stepEnd; ++now) {
        bool compute = false, transfer = false, copy = false, waiting = false;
        for (std::size_t i = 0; i < t.spans.size(); ++i) {
            const Lane& lane = t.lanes[t.spans.lane[i]];
            if (lane.rankIndex != rankIndex || now < t.spans.start[i] || now >= t.spans.end[i]) continue;
            const SpanKind kind = static_cast<SpanKind>(t.spans.kind[i]);
            if (kind == SpanKind::Collective || kind == SpanKind::PointToPoint) {
                (now < t.spans.transferStart[i] ? waiting : transfer) = true;
            } else if (kind != SpanKind::Host) {
                (lane.computeStream ? compute : copy) = true;
            }
        }
        b.totalTransfer += transfer;
        b.totalCopy += copy;
        if (compute) {
            ++b.compute;
        } else if (transfer) {
            ++b.transfer;
        } else if (copy) {
            ++b.copy;
        } else if (waiting) {
            ++b.waiting;
        } else {
            ++b.idle;
        }
    }
    return b;
}

TEST(Breakdown, EqualsACountOfEveryNanosecondOfRandomTimelines) {
    std::mt19937_64 random(7);
    const auto upTo = [&](std::int64_t n) {
        return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n + 1));
    };
    for (int round = 0; round < 300; ++round) {
        HandMade t;
        const std::int64_t ranks = 1 + upTo(2);
        for (std::int64_t r = 0; r < ranks; ++r) {
            t.rank("compute comm copy p2p host", 60 + upTo(60));
            t.made.ranks.back().stepBegin = upTo(20);
            const std::int64_t spans = upTo(25);
            for (std::int64_t i = 0; i < spans; ++i) {
                static constexpr const char* kStreams[] = {"compute", "comm", "copy", "p2p", "host"};
                static constexpr Activity kActivity[] = {Activity::Kernels, Activity::AllGather, Activity::MemoryCopy,
                                                         Activity::Receive, Activity::HostWork};
                const std::size_t lane = static_cast<std::size_t>(upTo(4));
                const std::int64_t start = upTo(110), length = upTo(30);  // overlaps, empty spans, spans past the end
                t.span(kStreams[lane], kActivity[lane], start, start + length, "", start + upTo(length));
            }
        }
        const Timeline timeline = t.finish();
        const std::vector<Breakdown> found = breakdownOf(timeline);
        for (std::uint32_t r = 0; r < timeline.ranks.size(); ++r) {
            const Breakdown counted = countNanoseconds(timeline, r);
            ASSERT_EQ(found[r], counted) << "round " << round << ", rank " << r;
            ASSERT_EQ(found[r].compute + found[r].transfer + found[r].copy + found[r].waiting + found[r].idle,
                      found[r].step);
            std::int64_t now = timeline.ranks[r].stepBegin;
            Breakdown fromSegments;
            for (const Segment& s : segmentsOf(timeline, r)) {
                ASSERT_EQ(s.begin, now);
                ASSERT_LT(s.begin, s.end);
                now = s.end;
                if (s.state == State::Waiting) fromSegments.waiting += s.end - s.begin;
                ASSERT_EQ(s.span == kNoIndex, s.state == State::Idle);
            }
            ASSERT_EQ(now, timeline.ranks[r].stepEnd);
            ASSERT_EQ(fromSegments.waiting, counted.waiting);
        }
    }
}

TEST(Breakdown, TakesAMillionOverlappingSpans) {
    // A quadratic sweep would take hours at this size.
    HandMade t;
    t.rank("compute comm", 0);
    for (std::int64_t i = 0; i < 1'000'000; ++i) {
        t.span("compute", Activity::Kernels, 3 * i, 3 * i + 2);
        t.span("comm", Activity::AllGather, 3 * i, 3 * i + 3000, "", 3 * i + 1500);
    }
    const Timeline timeline = t.finish();
    const Breakdown b = breakdownOf(timeline).at(0);
    EXPECT_EQ(b.compute, 2'000'000);
    EXPECT_EQ(b.compute + b.transfer + b.copy + b.waiting + b.idle, b.step);
}

TEST(Arrange, OrdersSpansAndRenumbersFlows) {
    HandMade t;
    t.rank("compute comm", 0);
    const std::uint32_t gather = t.span("comm", Activity::AllGather, 5, 20, "a");
    const std::uint32_t late = t.span("compute", Activity::Kernels, 20, 30, "late");
    const std::uint32_t early = t.span("compute", Activity::Kernels, 0, 3, "early");
    t.flow(gather, late, FlowReason::Data);
    t.flow(early, gather, FlowReason::EventWait);
    const Timeline timeline = t.finish();
    const auto unit = [&](std::uint32_t span) { return timeline.strings[timeline.spans.unit[span]]; };
    EXPECT_EQ(unit(0), "early");
    EXPECT_EQ(unit(1), "late");
    EXPECT_EQ(unit(2), "a");
    EXPECT_EQ(unit(timeline.flows[0].from), "a");
    EXPECT_EQ(unit(timeline.flows[0].to), "late");
    EXPECT_EQ(unit(timeline.flows[1].from), "early");
    EXPECT_EQ(unit(timeline.flows[1].to), "a");
    EXPECT_EQ(timeline.end, 30);
    EXPECT_EQ(timeline.ranks[0].stepEnd, 30);
}

}  // namespace
}  // namespace shardscope::timeline
