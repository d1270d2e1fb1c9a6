// torch.autocast on devices: products in bfloat16, all else and the gradients in float32.

#include <algorithm>
#include <cstring>

#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace testing;

TrainConfig prepared(TrainConfig config, bool autocast) {
    config.steps = 3;
    config.data = TrainingData::Formula;
    config.keepGradients = true;
    config.autocast = autocast;
    if (autocast) config.plan.precision.param = core::DType::BF16;
    config.parameters = formulaParameters(modelFor(config), -2);
    return config;
}

ParameterValues firstGradients(TrainConfig config) {
    config.steps = 1;
    return train(config).gradients;
}

// The same batch gives the same bits, wherever its layers run and whether they run again.
TEST(Autocast, StagesAndRecomputationChangeNoBit) {
    const TrainConfig alone = prepared(single(12), true);
    const TrainReport expected = train(alone);
    const ParameterValues gradients = firstGradients(alone);
    TrainConfig checkpointed = alone, stages = prepared(naive(12, 3), true), bucket = prepared(ddp(12, 1), true);
    checkpointed.plan.checkpointing.mode = core::Checkpointing::Mode::Full;
    for (const TrainConfig& config : {checkpointed, stages, bucket}) {
        SCOPED_TRACE(config.plan.name);
        EXPECT_EQ(train(config).losses, expected.losses);
        EXPECT_EQ(firstGradients(config), gradients);
    }
}

// Where the batch is divided, every part of a gradient is rounded to bfloat16 by itself: it lies no more than twice as
// far from float32's as that of the whole batch does, whose rounding is of the same kind.
TEST(Autocast, DividedBatchesAreAsNearToFloat32) {
    const TrainConfig alone = prepared(single(12), true);
    const ParameterValues whole = firstGradients(alone), exact = firstGradients(prepared(single(12), false));
    const core::Model model = modelFor(alone);
    const auto distance = [&](const ParameterValues& of, std::size_t p) {
        return relativeDistance(withoutKeyBias(model.parameters[p], of[p]),
                                withoutKeyBias(model.parameters[p], exact[p]));
    };
    TrainConfig views = ddp(12, 2, 3);
    views.plan.ddp.gradientAsBucketView = true;
    for (const TrainConfig& config : {single(12, 3), naive(12, 2, 3), ddp(12, 3), ddp(12, 2, 3), views}) {
        SCOPED_TRACE(config.plan.name);
        const ParameterValues found = firstGradients(prepared(config, true));
        for (std::size_t p = 0; p < found.size(); ++p)
            EXPECT_LE(distance(found, p), 2 * distance(whole, p)) << model.parameters[p].name;
    }
}

TEST(Autocast, IsNearFloat32AndNotInIt) {
    const TrainConfig narrow = prepared(single(12), true), wide = prepared(single(12), false);
    const ParameterValues near = firstGradients(narrow), exact = firstGradients(wide);
    const core::Model model = modelFor(narrow);
    for (std::size_t p = 0; p < near.size(); ++p) {
        const double distance = relativeDistance(withoutKeyBias(model.parameters[p], near[p]),
                                                 withoutKeyBias(model.parameters[p], exact[p]));
        EXPECT_LE(distance, 0.03) << model.parameters[p].name;
        EXPECT_GE(distance, 1e-5) << model.parameters[p].name;
    }
}

// A layer norm's gradient is float32 as it is made: more than bfloat16 holds. A product's is not.
TEST(Autocast, OnlyGradientsOfProductsAreRounded) {
    const TrainConfig config = prepared(single(12), true);
    const ParameterValues gradients = firstGradients(config);
    const core::Model model = modelFor(config);
    const std::vector<bool> cast =
        core::castByAutocast(model, core::LayerId(std::size_t{0}), core::LayerId(model.layers.size()));
    for (std::size_t p = 0; p < gradients.size(); ++p) {
        const bool rounded = std::ranges::all_of(gradients[p], [](float value) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            return (bits & 0xffff) == 0;
        });
        EXPECT_EQ(rounded, cast[p]) << model.parameters[p].name;
    }
}

}  // namespace
}  // namespace shardscope::runtime
