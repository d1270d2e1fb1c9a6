// What is dropped by chance depends on seed, step, sample and layer alone.

#include <atomic>
#include <numeric>

#include "runtime/device/device_kind.h"
#include "runtime/device/random_draws.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace testing;
using core::KernelKind;
using core::Workload;

TrainConfig dropping(TrainConfig config) {
    config.steps = 3;
    config.data = TrainingData::Formula;
    config.parameters = formulaParameters(modelFor(config), -2);
    config.dropout = Workload::Dropout::On;
    config.keepGradients = true;
    return config;
}

void expectTheSame(const TrainConfig& config, const TrainReport& expected, const ParameterValues& firstGradients) {
    const core::Model model = modelFor(config);
    const TrainReport report = train(config);
    ASSERT_EQ(report.losses.size(), expected.losses.size());
    for (std::size_t t = 0; t < expected.losses.size(); ++t)
        EXPECT_NEAR(report.losses[t] / expected.losses[t], 1.0, 2e-6) << "step " << t;
    TrainConfig once = config;
    once.steps = 1;
    const ParameterValues gradients = train(once).gradients;
    for (std::size_t p = 0; p < gradients.size(); ++p)
        EXPECT_LE(relativeDistance(withoutKeyBias(model.parameters[p], gradients[p]),
                                   withoutKeyBias(model.parameters[p], firstGradients[p])),
                  2e-6)
            << model.parameters[p].name;
}

TEST(Dropout, EveryStrategyDropsTheSame) {
    const TrainConfig alone = dropping(single(12));
    const TrainReport expected = train(alone);
    TrainConfig once = alone;
    once.steps = 1;
    const ParameterValues gradients = train(once).gradients;
    TrainConfig without = alone;
    without.dropout = Workload::Dropout::Off;
    const TrainReport plain = train(without);
    EXPECT_GT(std::fabs(plain.losses[0] / expected.losses[0] - 1), 1e-4);
    TrainConfig again = alone;
    again.seed = 1;
    EXPECT_NE(train(again).losses[0], expected.losses[0]);

    TrainConfig hybrid = fsdp(6, 2), both = fsdp(12, 2);
    hybrid.plan.mesh.dpReplicate = 2;
    both.plan.schedule = core::StageSchedule::Naive;
    both.plan.mesh.pp = 2;
    for (const TrainConfig& config : {single(12, 4), fsdp(12, 2), fsdp(12, 3, 2), naive(12, 3), naive(12, 4, 3),
                                      ddp(12, 3), ddp(12, 2, 3), hybrid, both})
        for (const auto mode : {core::Checkpointing::Mode::None, core::Checkpointing::Mode::Full}) {
            SCOPED_TRACE(config.plan.name);
            TrainConfig run = dropping(config);
            run.plan.checkpointing.mode = mode;
            expectTheSame(run, expected, gradients);
        }
}

TEST(Dropout, KernelsOfEveryKindDropTheSame) {
    const TrainConfig flash = dropping(single(12));
    const TrainReport expected = train(flash);
    TrainConfig once = flash;
    once.steps = 1;
    const ParameterValues gradients = train(once).gradients;
    using Kind = Workload::AttentionKind;
    for (const auto& [attention, cpuRules] :
         {std::pair{Kind::Math, false}, {Kind::Efficient, false}, {Kind::Cpu, true}, {Kind::Math, true}})
        for (const DeviceKind device : {DeviceKind::Reference, DeviceKind::Cpu}) {
            TrainConfig config = flash;
            config.attention = attention;
            config.cpuRules = cpuRules;
            config.device = device;
            expectTheSame(config, expected, gradients);
        }
}

// Each image is dropped of in its own way wherever the sampler puts it.
TEST(Dropout, FollowsTheImageThatTheSamplerDraws) {
    const auto losses = [](TrainConfig config) {
        config.steps = 3;
        config.dropout = Workload::Dropout::On;
        return train(config).losses;
    };
    const std::vector<double> expected = losses(single(12));
    for (const TrainConfig& config : {fsdp(12, 3), ddp(12, 2, 2), naive(12, 3, 4)}) {
        const std::vector<double> found = losses(config);
        for (std::size_t t = 0; t < expected.size(); ++t) EXPECT_NEAR(found[t] / expected[t], 1.0, 2e-6);
    }
}

// Its seeds follow from which samples they are; what the samples hold is for the first and the last stage alone.
TEST(Dropout, AStageInTheMiddleAsksForNoSamples) {
    TrainConfig config = dropping(naive(12, 3, 2));
    config.steps = 1;
    config.plan.checkpointing.mode = core::Checkpointing::Mode::Full;
    std::atomic<std::int64_t> asked = 0;
    config.samples = [&, samples = recordedBatch()](std::int64_t step, std::int64_t first, std::int64_t count) {
        ++asked;
        return samples(step, first, count);
    };
    train(config);
    EXPECT_EQ(asked, 2 * 2);  // stages x micro-batches
}

TEST(Dropout, AnEvaluationDropsNothing) {
    TrainConfig config = single(12);
    config.plan.evaluation = config.plan.afterEvaluation = true;
    const double plain = train(config).losses[0];
    config.dropout = Workload::Dropout::On;
    EXPECT_EQ(train(config).losses[0], plain);
}

TEST(Dropout, DropsAsManyAsItSays) {
    const auto device = deviceOf(DeviceKind::Reference);
    const StreamIndex stream = device->openStream("compute", StreamWork::Kernels);
    core::Kernel kernel;
    kernel.kind = KernelKind::Dropout;
    kernel.scalar = 0.1;
    kernel.draw = 1;
    constexpr std::size_t kElements = 100000;
    std::vector<float> x(kElements, 1.0f), y(kElements);
    std::vector<std::byte> mask(kElements);
    const core::Shape shape{4, kElements / 4};
    const TensorView in{reinterpret_cast<std::byte*>(x.data()), core::DType::F32, shape, {}};
    const TensorView out{reinterpret_cast<std::byte*>(y.data()), core::DType::F32, shape, {}};
    const TensorView kept{mask.data(), core::DType::Bool, shape, {}};
    const std::vector<TensorView> inputs{in}, outputs{out, kept};
    const std::vector<std::uint64_t> seeds{5, 6, 7, 5};
    ASSERT_TRUE(device->launch(stream, {kernel, inputs, outputs, seeds}));
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < kElements; ++i) {
        EXPECT_EQ(y[i], mask[i] == std::byte{0} ? 0.0f : static_cast<float>(1 / 0.9));
        dropped += mask[i] == std::byte{0} ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(dropped) / kElements, 0.1, 0.005);  // five deviations
    const auto sample = [&](std::size_t s) {
        const auto begin = mask.begin() + static_cast<std::ptrdiff_t>(s * kElements / 4);
        return std::vector<std::byte>(begin, begin + kElements / 4);
    };
    EXPECT_EQ(sample(0), sample(3));
    EXPECT_NE(sample(0), sample(1));
    // Without seeds nothing can be drawn.
    const auto refused = device->launch(stream, {kernel, inputs, outputs});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("samples"), std::string::npos) << refused.error().message;
}

// The sequence from 1234567 as Rosetta Code lists it ("Pseudo-random numbers/Splitmix64").
TEST(RandomDraws, AreThoseOfSplitMix64) {
    const std::uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u};
    for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(random::bitsAt(1234567, i), expected[i]);
}

}  // namespace
}  // namespace shardscope::runtime
