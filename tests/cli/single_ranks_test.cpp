#include "cli/face/single_ranks.h"

#include <gtest/gtest.h>

#include "tests/timeline/hand_made.h"
#include "traces/timeline/breakdown.h"
#include "traces/timeline/causes.h"

namespace shardscope::cli {
namespace {

using timeline::Activity;
using timeline::HandMade;
using timeline::Timeline;

Timeline folded(std::int64_t ranks) {
    HandMade t;
    t.rank("compute comm", 100);
    t.made.ranks[0].multiplicity = ranks;
    for (timeline::Lane& lane : t.made.lanes) lane.multiplicity = ranks;
    const auto gather = t.span("comm", Activity::AllGather, 0, 30, "a", 10);
    const auto compute = t.span("compute", Activity::Kernels, 30, 90, "a");
    t.flow(gather, compute, timeline::FlowReason::EventWait);
    t.made.counters.push_back({0, t.made.strings.intern("activations"), {0, 50}, {7, 0}});
    return t.finish();
}

TEST(SingleRanks, EveryRankOfAClassGetsTheSameRow) {
    const Timeline source = folded(4);
    const SingleRanks single = rankByRank(source);
    ASSERT_EQ(single.of, (std::vector<std::uint32_t>{0, 0, 0, 0}));
    const Timeline& t = single.timeline;
    ASSERT_EQ(t.ranks.size(), 4u);
    EXPECT_EQ(t.counters.size(), 4u);
    EXPECT_EQ(t.flows.size(), 4u);
    EXPECT_EQ(t.end, source.end);
    const auto before = timeline::breakdownOf(source), after = timeline::breakdownOf(t);
    const timeline::CauseFinder causesBefore(source), causesAfter(t);
    for (std::uint32_t row = 0; row < 4; ++row) {
        EXPECT_EQ(after[row], before[0]);
        EXPECT_EQ(t.ranks[row].rank, row);
        EXPECT_EQ(t.strings[t.ranks[row].name], "rank " + std::to_string(row));
        const auto totals = causesAfter.totalsOf(row), expected = causesBefore.totalsOf(0);
        ASSERT_EQ(totals.size(), expected.size());
        for (std::size_t i = 0; i < totals.size(); ++i) {
            EXPECT_EQ(totals[i].time, expected[i].time);
            EXPECT_EQ(t.strings[totals[i].unit], source.strings[expected[i].unit]);
        }
    }
}

TEST(SingleRanks, ManyOrSingleRanksStayAsTheyAre) {
    EXPECT_TRUE(rankByRank(folded(9)).of.empty());
    EXPECT_TRUE(rankByRank(folded(1)).of.empty());
}

}  // namespace
}  // namespace shardscope::cli
