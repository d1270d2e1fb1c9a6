// The clock engine gives what the event engine gives rank by rank, to the nanosecond.

#include "sim/engine/clock_engine.h"

#include <gtest/gtest.h>

#include <random>

#include "bench/fsdp_step.h"
#include "tests/sim/engines_agree.h"
#include "tests/sim/random_graph.h"

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

TEST(ClockEngine, EqualsTheEventEngineOnRandomGraphsAndClocks) {
    for (std::uint64_t seed = 0; seed < 600; ++seed) {
        std::mt19937_64 random(seed);
        tests::RandomGraphShape shape;
        shape.ranks = 1 + static_cast<std::int64_t>(random() % 6);
        shape.hostTimes = random() % 2 == 0;
        const auto g = tests::randomGraph(random, shape);
        tests::OwnClocks clocks(static_cast<std::size_t>(shape.ranks));
        const std::uint64_t spread = random() % 2 == 0 ? 20 : 200'000;
        if (random() % 3 != 0)
            for (auto& offset : clocks.offset) offset = static_cast<std::int64_t>(random() % spread);
        if (random() % 3 != 0)
            for (auto& ppm : clocks.ppm) ppm = 500'000 + static_cast<std::int64_t>(random() % 1'000'000);
        SCOPED_TRACE("seed " + std::to_string(seed));
        tests::expectEnginesAgree(g.graph, g.prices, clocks);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
}

TEST(ClockEngine, RefusesWhatItCannotOrderBeforehand) {
    const auto refusal = [](const core::StepGraph& graph, std::int64_t ranks) {
        const auto wiring = sim::wire(graph);
        return sim::ClockEngine::refusal(graph, wiring.value(), ranks);
    };
    const auto step = bench::fsdpStep(8);
    EXPECT_EQ(refusal(step.graph, 8), "");
    EXPECT_EQ(refusal(step.graph, 1), "");
    EXPECT_NE(refusal(step.graph, 4), "");
    tests::GraphByHand two;
    const auto gather = two.stream(core::StreamKind::AllGather), reduce = two.stream(core::StreamKind::ReduceScatter);
    const auto a = two.group(4, 0), b = two.group(4, 1);
    two.beginClass(4);
    two.op(core::OpKind::AllGather, gather, 1, {}, a);
    two.op(core::OpKind::ReduceScatter, reduce, 1, {}, b);
    EXPECT_EQ(refusal(two.freeze(), 4), "several communicators");
    tests::GraphByHand sub;
    const auto stream = sub.stream(core::StreamKind::AllGather);
    const auto pairs = sub.group(2, 0);
    sub.beginClass(4);
    sub.op(core::OpKind::AllGather, stream, 1, {}, pairs);
    const auto graph = sub.freeze();
    EXPECT_EQ(refusal(graph, 4), "groups that are not the whole class");
    EXPECT_EQ(refusal(graph, 1), "");
}

}  // namespace
}  // namespace shardscope
