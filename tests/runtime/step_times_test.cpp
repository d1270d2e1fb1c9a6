#include "runtime/train/step_times.h"

#include <gtest/gtest.h>

#include <mutex>
#include <numeric>

#include "runtime/train/train.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

StepTimes lasting(std::int64_t step, std::int64_t waiting) {
    StepTimes times;
    times.breakdown.step = step;
    times.breakdown.waiting = waiting;
    times.activities[3] = 10 * step;
    return times;
}

TEST(StepTimes, AreMediansOfEachFigureAfterTheWarmUp) {
    const StepTimes typical =
        medianTimes({lasting(99, 98), lasting(97, 96), lasting(7, 1), lasting(5, 3), lasting(6, 2)});
    EXPECT_EQ(typical.breakdown.step, 6);
    EXPECT_EQ(typical.breakdown.waiting, 2);
    EXPECT_EQ(typical.activities[3], 60);
    // Of two steps none can be left out.
    EXPECT_EQ(medianTimes({lasting(4, 0), lasting(4, 0)}).breakdown.step, 4);
    EXPECT_EQ(medianTimes({}).breakdown.step, 0);
}

TEST(StepTimes, OfAStepAreThoseOfItsTimeline) {
    for (TrainConfig config : {testing::naive(12, 2, 2), testing::fsdp(12, 3), testing::ddp(12, 2)}) {
        config.device = DeviceKind::Cpu;
        config.steps = 3;  // the last one is the only one that counts
        const auto report = trainSteps(config);
        ASSERT_TRUE(report) << core::describe(report.error());
        const auto activities = timeline::activityTimesOf(report->timeline);
        for (std::size_t rank = 0; rank < report->ranks.size(); ++rank) {
            EXPECT_EQ(report->ranks[rank].typical.breakdown, report->breakdown[rank]);
            EXPECT_EQ(report->ranks[rank].typical.activities, activities[rank]);
        }
    }
}

TEST(StepTimes, NoTimeCountsForTwoSteps) {
    TrainConfig config = testing::naive(12, 3);
    config.device = DeviceKind::Cpu;
    config.steps = 6;
    std::mutex mutex;
    std::int64_t begin = 0, end = 0;
    config.progress = [&](const RankStep& step) {
        const std::lock_guard lock(mutex);
        begin = begin == 0 ? step.beginNs : std::min(begin, step.beginNs);
        end = std::max(end, step.endNs);
    };
    const auto report = trainSteps(config);
    ASSERT_TRUE(report) << core::describe(report.error());
    EXPECT_LE(std::accumulate(report->stepNs.begin(), report->stepNs.end(), std::int64_t{0}), end - begin);
    for (const std::int64_t step : report->stepNs) EXPECT_GT(step, 0);
}

}  // namespace
}  // namespace shardscope::runtime
