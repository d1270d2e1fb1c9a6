// How far trajectories of different strategies drift apart is rounding that Adam amplifies: moving every initial
// parameter by one unit in the last place moves the losses of one rank as far.

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace testing;

constexpr std::int64_t kSteps = 50;

TrainConfig prepared(TrainConfig config) {
    core::VitSpec vit = tinyVit();
    vit.layers = 6;
    config.model = vit;
    config.device = DeviceKind::Cpu;
    config.plan.optimizer = core::OptimizerKind::AdamW;
    config.steps = kSteps;
    return config;
}

/// The largest relative distance of two losses up to each step.
std::vector<double> drift(const std::vector<double>& losses, const std::vector<double>& expected) {
    std::vector<double> most(expected.size(), 0);
    for (std::size_t t = 0; t < expected.size(); ++t)
        most[t] = std::max(t > 0 ? most[t - 1] : 0, std::fabs(losses[t] / expected[t] - 1));
    return most;
}

TEST(Rounding, DriftsStrategiesApartNoFurtherThanOneUnitInTheLastPlaceOfTheStart) {
    TrainConfig alone = prepared(single(24));
    const ParameterValues initial = initialParameters(modelFor(alone), 0);
    const std::vector<double> expected = train(alone).losses;
    std::vector<double> moved(expected.size(), 0);
    for (const unsigned seed : {1u, 2u, 3u, 4u}) {
        std::mt19937 random(seed);
        alone.parameters = initial;
        for (std::vector<float>& values : *alone.parameters)
            for (float& value : values) value = std::nextafter(value, (random() & 1u) != 0 ? HUGE_VALF : -HUGE_VALF);
        const std::vector<double> one = drift(train(alone).losses, expected);
        for (std::size_t t = 0; t < one.size(); ++t) moved[t] = std::max(moved[t], one[t]);
    }
    for (const TrainConfig& config : {naive(24, 3), fsdp(24, 2), fsdp(24, 3), fsdp(24, 4), ddp(24, 2)}) {
        SCOPED_TRACE(config.plan.name);
        const std::vector<double> found = drift(train(prepared(config)).losses, expected);
        for (std::size_t t = 0; t < found.size(); ++t)
            EXPECT_LE(found[t], 10 * moved[t] + 2e-7) << "step " << t;  // a loss is a float32
    }
}

}  // namespace
}  // namespace shardscope::runtime
