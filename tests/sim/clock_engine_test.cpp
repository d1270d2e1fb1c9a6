// The clock engine gives what the event engine gives rank by rank, to the nanosecond.

#include "sim/engine/clock_engine.h"

#include <gtest/gtest.h>

#include <random>

#include "bench/fsdp_step.h"
#include "tests/sim/engines_agree.h"

namespace shardscope {
namespace {

TEST(ClockEngine, EqualsTheEventEngineOn64RanksOfTheFsdpStep) {
    std::mt19937_64 random(1);
    for (const std::int32_t slow : {1000, 1100, 1733}) {
        const auto step = bench::fsdpStep(64, 32, slow, 1000);
        ASSERT_EQ(step.graph.ops.size(), 161u);
        tests::OwnClocks clocks(64);
        tests::expectEnginesAgree(step.graph, step.prices, clocks);
        for (auto& offset : clocks.offset) offset = static_cast<std::int64_t>(random() % 50'000'000);
        tests::expectEnginesAgree(step.graph, step.prices, clocks);
        for (auto& ppm : clocks.ppm) ppm = 950'000 + static_cast<std::int64_t>(random() % 100'000);
        tests::expectEnginesAgree(step.graph, step.prices, clocks);
    }
}

TEST(ClockEngine, EqualsTheEventEngineFolded) {
    const auto step = bench::fsdpStep(512);
    tests::expectEnginesAgree(step.graph, step.prices, tests::OwnClocks(1));
}

}  // namespace
}  // namespace shardscope
