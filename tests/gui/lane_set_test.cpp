#include "gui/lane/lane_set.h"

#include <gtest/gtest.h>

#include <random>

#include "gui/window/start_page.h"
#include "gui/worker/answer.h"
#include "tests/timeline/hand_made.h"

namespace shardscope::gui {
namespace {

using formats::Look;
using timeline::Activity;

Answer sample(std::size_t index) {
    const Sample& chosen = samples().at(index);
    auto answer = answerTo(chosen.source, chosen.overrides, {"naive", "fsdp"});
    if (!answer) ADD_FAILURE() << core::describe(answer.error());
    return std::move(*answer);
}

TEST(MemoryCurve, ExtremesAreWhatCountingFinds) {
    std::mt19937 random(3);
    MemoryCurve curve;
    EXPECT_FALSE(curve.extremesIn(0, 10).has_value());
    std::uniform_int_distribution<int> gap(1, 9), size(0, 100), at(-10, 1600), length(1, 800);
    std::int64_t time = 5;
    for (int i = 0; i < 300; ++i) {
        curve.append(time, {size(random), 0, size(random)});
        time += gap(random);
    }
    for (int i = 0; i < 2000; ++i) {
        const std::int64_t begin = at(random), end = begin + length(random);
        std::int64_t most = -1, least = 1'000;
        for (std::size_t k = 0; k < curve.time.size(); ++k) {
            const bool later = k + 1 < curve.time.size() && curve.time[k + 1] <= begin;
            if (curve.time[k] >= end || later) continue;
            most = std::max(most, curve.total[k]);
            least = std::min(least, curve.total[k]);
        }
        const auto found = curve.extremesIn(begin, end);
        ASSERT_EQ(found.has_value(), most >= 0) << begin << " to " << end;
        if (found) {
            EXPECT_EQ(curve.total[found->largest], most) << begin << " to " << end;
            EXPECT_EQ(curve.total[found->least], least) << begin << " to " << end;
        }
    }
}

TEST(LanesOf, TheStateLaneTilesTheStepOfEveryRank) {
    const Answer answer = sample(0);
    ASSERT_EQ(answer.plans(), 2u);
    for (const LaneSet& set : answer.lanes) {
        std::size_t states = 0;
        for (const Lane& lane : set.lanes) {
            for (std::size_t i = 0; i + 1 < lane.pieces.size(); ++i)
                ASSERT_LE(lane.pieces.endOf(i), lane.pieces.beginOf(i + 1)) << lane.rank << " " << lane.stream;
            if (lane.kind != Lane::Kind::State) continue;
            ++states;
            const timeline::RankRow& rank = set.timeline->ranks[lane.rankIndex];
            ASSERT_FALSE(lane.pieces.empty());
            EXPECT_EQ(lane.pieces.front().begin, rank.stepBegin);
            EXPECT_EQ(lane.pieces.back().end, rank.stepEnd);
            for (std::size_t i = 0; i + 1 < lane.pieces.size(); ++i)
                ASSERT_EQ(lane.pieces.endOf(i), lane.pieces.beginOf(i + 1)) << lane.rank << ", piece " << i;
        }
        EXPECT_EQ(states, &set == &answer.lanes.front() ? 4u : 1u) << "stages differ; FSDP's ranks are one class";
    }
}

// The lanes show the times that the report has.
TEST(LanesOf, WorkAndWaitingAreTheReports) {
    const Answer answer = sample(0);
    for (std::size_t p = 0; p < answer.plans(); ++p) {
        std::int64_t work = 0, exposed = 0, waits = 0;
        for (const Lane& lane : answer.lanes[p].lanes) {
            if (lane.kind != Lane::Kind::State) continue;
            const std::int64_t ranks = answer.lanes[p].timeline->ranks[lane.rankIndex].multiplicity;
            for (const formats::RowPiece& piece : lane.pieces) {
                const std::int64_t time = ranks * (piece.end - piece.begin);
                if (!isGap(piece.look) && piece.look != Look::Copy) work += time;
                if (piece.look == Look::Exposed) exposed += time;
                if (piece.look == Look::Waiting || piece.look == Look::Idle) waits += time;
            }
        }
        const timeline::Breakdown& all = answer.report.plans[p].allRanks;
        EXPECT_EQ(work, all.compute);
        EXPECT_EQ(exposed, all.transfer);
        EXPECT_EQ(waits, all.gpuWaits());
    }
}

TEST(LanesOf, FoldedClassesCarryTheirCount) {
    timeline::HandMade made;
    made.rank("compute all_gather", 100);
    made.made.ranks.back().multiplicity = 1024;
    for (timeline::Lane& lane : made.made.lanes) lane.multiplicity = 1024;
    made.span("compute", Activity::Kernels, 0, 40, "blocks.0");
    made.span("all_gather", Activity::AllGather, 10, 60, "blocks.1", 20);
    const LaneSet set = lanesOf(std::make_shared<const timeline::Timeline>(made.finish()));
    ASSERT_EQ(set.lanes.size(), 2u);
    EXPECT_EQ(set.lanes[0].rank, "rank 0 x 1,024");
    EXPECT_EQ(set.lanes[1].rank, "rank 0 x 1,024");
    EXPECT_EQ(set.lanes[1].stream, "all_gather");
    ASSERT_EQ(set.lanes[1].pieces.size(), 2u) << "until all have arrived it waits, then it transfers";
    EXPECT_EQ(set.lanes[1].pieces[0].look, Look::Waiting);
    EXPECT_EQ(set.lanes[1].pieces[0].end, 20);
    EXPECT_EQ(set.lanes[1].pieces[1].look, Look::Gather);
    EXPECT_EQ(set.lanes[1].pieces[1].end, 60);
}

TEST(LanesOf, ManyIdenticalRanksAreOneLane) {
    const auto answer = answerTo(
        "llama-3.1-8b", std::vector<std::string>{"cluster.gpu=h100-sxm", "parallelism.data_parallel_shard_degree=16"},
        {"fsdp"});
    ASSERT_TRUE(answer.has_value()) << core::describe(answer.error());
    std::int64_t ranks = 0;
    for (const Lane& lane : answer->lanes[0].lanes) {
        if (lane.kind != Lane::Kind::State) continue;
        const std::int64_t count = answer->lanes[0].timeline->ranks[lane.rankIndex].multiplicity;
        ranks += count;
        if (count > 1) {
            EXPECT_TRUE(lane.rank.ends_with(" x " + std::to_string(count))) << lane.rank;
        }
    }
    EXPECT_EQ(ranks, 16);
    EXPECT_LT(answer->lanes[0].lanes.size(), 16u);
}

TEST(LanesOf, ThePeakIsTheReports) {
    const Answer answer = sample(0);
    for (std::size_t p = 0; p < answer.plans(); ++p) {
        const LaneSet& set = answer.lanes[p];
        const cli::ClassReport& tightest = answer.report.plans[p].tightest();
        ASSERT_LT(static_cast<std::size_t>(set.peak), set.memory.total.size());
        EXPECT_EQ(set.memory.total[static_cast<std::size_t>(set.peak)], tightest.memory.step.deviceTime.total.value);
        EXPECT_EQ(set.capacity, tightest.memory.reserve.usable.value);
    }
}

// The first sample is the file of the README, so that window and command line tell the same story.
TEST(Samples, TheFirstIsTheLectureOfTheExamples) {
    const auto file = cli::load(SHARDSCOPE_SOURCE_DIR "/examples/lecture.toml");
    ASSERT_TRUE(file.has_value()) << core::describe(file.error());
    const auto built = cli::load(samples()[0].source, samples()[0].overrides);
    ASSERT_TRUE(built.has_value()) << core::describe(built.error());
    EXPECT_EQ(built->scenario, file->scenario) << core::writeScenario(built->scenario);
}

TEST(Samples, AllCanBeAnswered) {
    ASSERT_EQ(samples().size(), 3u);
    for (std::size_t i = 0; i < samples().size(); ++i) {
        const Answer answer = sample(i);
        EXPECT_EQ(answer.plans(), 2u);
        EXPECT_EQ(answer.lanes.size(), 2u);
        EXPECT_EQ(answer.end, std::max(answer.report.plans[0].stepNs, answer.report.plans[1].stepNs));
    }
}

}  // namespace
}  // namespace shardscope::gui
