// What a trained model is worth: forward passes over images that it has not seen.

#include "runtime/train/evaluation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>

#include "runtime/data/grey_shapes.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

EvaluationConfig configFor(DeviceKind device, std::int64_t threads = 1) {
    EvaluationConfig config;
    config.device = device;
    config.model = testing::tinyVit();
    config.threads = threads;
    return config;
}

ParameterValues initial() {
    core::Workload workload;
    return initialParameters(*core::buildModel(testing::tinyVit(), workload), 3);
}

/// The head's bias says the same of every image.
ParameterValues alwaysSays(std::int64_t label) {
    core::Workload workload;
    const auto model = core::buildModel(testing::tinyVit(), workload);
    ParameterValues values = initialParameters(*model, 3);
    for (std::size_t p = 0; p < values.size(); ++p)
        if (model->parameters[p].name == "heads.head.bias") values[p].at(static_cast<std::size_t>(label)) = 50;
    return values;
}

TEST(Evaluation, CountsTheImagesThatAModelTellsRight) {
    const GreyShapes images(Split::Test, 230);
    for (const std::int64_t label : {0, 7}) {
        std::int64_t have = 0;
        std::vector<std::uint8_t> pixels(28 * 28);
        for (std::int64_t i = 0; i < images.size(); ++i) have += images.draw(i, pixels) == label ? 1 : 0;
        const auto said = evaluate(configFor(DeviceKind::Reference), alwaysSays(label), images);
        ASSERT_TRUE(said) << core::describe(said.error());
        EXPECT_EQ(said->images, 230);
        EXPECT_EQ(said->right, have) << "of label " << label;
    }
}

TEST(Evaluation, OfAModelThatKnowsNothingHasTheLossOfChance) {
    // torchvision's head begins at zero: ten classes as likely as each other.
    const auto said = evaluate(configFor(DeviceKind::Reference), initial(), GreyShapes(Split::Test, 60));
    ASSERT_TRUE(said) << core::describe(said.error());
    EXPECT_NEAR(said->loss, std::log(10.0), 1e-6);
}

TEST(Evaluation, IsTheSameWhoeverIsAskedAndHoweverItIsShared) {
    const GreyShapes images(Split::Test, 170);
    TrainConfig training = testing::single(20);
    training.steps = 10;
    training.keepParameters = true;
    const auto trained = trainSteps(training);
    ASSERT_TRUE(trained) << core::describe(trained.error());
    const auto alone = evaluate(configFor(DeviceKind::Reference), trained->parameters, images);
    ASSERT_TRUE(alone) << core::describe(alone.error());
    for (const DeviceKind device : {DeviceKind::Reference, DeviceKind::Cpu}) {
        const auto shared = evaluate(configFor(device, 3), trained->parameters, images);
        ASSERT_TRUE(shared) << core::describe(shared.error());
        EXPECT_EQ(shared->images, alone->images);
        EXPECT_EQ(shared->right, alone->right);
        EXPECT_NEAR(shared->loss, alone->loss, 1e-5);
    }
    EvaluationConfig few = configFor(DeviceKind::Reference);
    few.images = 33;
    EXPECT_EQ(evaluate(few, trained->parameters, images)->images, 33);
}

TEST(Evaluation, RefusesImagesOfAnotherSize) {
    EXPECT_FALSE(evaluate(configFor(DeviceKind::Reference), initial(), GreyShapes(Split::Test, 5, 14)));
}

TEST(LearningRate, GoesUpInALineAndDownInHalfACosine) {
    const auto at = [](std::int64_t step) { return learningRateFactor(LearningRateSchedule::Cosine, step, 160); };
    EXPECT_DOUBLE_EQ(at(0), 0.1);
    EXPECT_DOUBLE_EQ(at(4), 0.5);
    EXPECT_DOUBLE_EQ(at(9), 1);
    EXPECT_DOUBLE_EQ(at(10), 1);
    EXPECT_NEAR(at(85), 0.5, 1e-12) << "half-way down";
    EXPECT_LT(at(159), 1e-3);
    EXPECT_GT(at(159), 0);
    EXPECT_EQ(learningRateFactor(LearningRateSchedule::Constant, 159, 160), 1);
    EXPECT_EQ(learningRateFactor(LearningRateSchedule::Cosine, 0, 1), 1);
}

TEST(LearningRate, IsWhatTheOptimizerStepsWith) {
    // SGD keeps no state, so that a run is its steps one by one, each with its rate as a constant.
    TrainConfig config = testing::single(4);
    config.plan.optimizer = core::OptimizerKind::Sgd;
    config.keepParameters = true;
    config.steps = 32;
    config.schedule = LearningRateSchedule::Cosine;
    config.optimizer.learningRate = 0.01;
    const core::Model model = testing::modelFor(config);
    config.parameters = initialParameters(model, 1);
    std::vector<double> rates;
    for (std::int64_t step = 0; step < config.steps; ++step)
        rates.push_back(learningRateFactor(config.schedule, step, config.steps));
    TrainConfig alone = config;
    alone.steps = 1;
    alone.schedule = LearningRateSchedule::Constant;
    for (std::int64_t step = 0; step < config.steps; ++step) {
        alone.optimizer.learningRate = 0.01 * rates[static_cast<std::size_t>(step)];
        alone.samples = [&](std::int64_t, std::int64_t first, std::int64_t count) -> core::Result<Batch> {
            return formulaBatch(testing::tinyVit(), first, count);
        };
        auto done = trainSteps(alone);
        ASSERT_TRUE(done) << core::describe(done.error());
        alone.parameters = std::move(done->parameters);
    }
    config.samples = alone.samples;
    const auto together = trainSteps(config);
    ASSERT_TRUE(together) << core::describe(together.error());
    EXPECT_EQ(together->parameters, *alone.parameters);
}

TEST(Progress, ExposedAndWaitingAreTheBreakdowns) {
    for (TrainConfig config : {testing::naive(12, 2, 2), testing::fsdp(12, 3), testing::ddp(12, 2)}) {
        for (const DeviceKind device : {DeviceKind::Reference, DeviceKind::Cpu}) {
            config.device = device;
            config.steps = 3;
            std::mutex mutex;
            std::map<std::int64_t, RankStep> last;
            std::size_t told = 0;
            config.progress = [&](const RankStep& step) {
                const std::lock_guard lock(mutex);
                ++told;
                if (step.step == 2) last[step.rank] = step;
            };
            const auto report = trainSteps(config);
            ASSERT_TRUE(report) << core::describe(report.error());
            EXPECT_EQ(told, 3 * report->ranks.size());
            std::int64_t waiting = 0;
            for (std::size_t rank = 0; rank < report->ranks.size(); ++rank) {
                EXPECT_EQ(last[static_cast<std::int64_t>(rank)].waitingNs, report->breakdown[rank].waiting)
                    << config.plan.name << " rank " << rank;
                EXPECT_EQ(last[static_cast<std::int64_t>(rank)].exposedNs, report->breakdown[rank].transfer);
                // The last step is the only one after the warm-up.
                EXPECT_EQ(report->ranks[rank].typical.breakdown, report->breakdown[rank]);
                waiting += report->breakdown[rank].waiting;
                EXPECT_GT(last[static_cast<std::int64_t>(rank)].peakBytes, 0);
                EXPECT_LE(last[static_cast<std::int64_t>(rank)].peakBytes, report->ranks[rank].peakTotal);
            }
            EXPECT_GT(waiting, 0);
        }
    }
}

}  // namespace
}  // namespace shardscope::runtime
