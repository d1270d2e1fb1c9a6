// Training over Gloo gives what training between threads gives, to the last bit and byte: losses, gradients,
// parameters, live bytes after every op.

#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "runtime/train/rank_training.h"
#include "runtime/train/training.h"
#include "tests/runtime/communicator_worlds.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace testing;
using core::Result;

/// By rank, step and op in order of issue.
struct LiveLog {
    std::mutex mutex;
    std::map<std::int64_t, std::vector<std::pair<std::uint32_t, LiveBytes>>> byRank;

    void follow(TrainConfig& config) {
        config.launched = [this](std::int64_t rank, std::int64_t, core::OpId op, const LiveBytes& live) {
            const std::lock_guard lock(mutex);
            byRank[rank].emplace_back(op.value, live);
        };
    }
};

TrainReport trainOverGloo(const TrainConfig& config) {
    auto training = Training::create(config);
    EXPECT_TRUE(training) << (training ? "" : core::describe(training.error()));
    if (!training || !(*training)->loadValues()) return {};
    std::vector<RankRecord> records(static_cast<std::size_t>((*training)->ranks()));
    const auto results = runOnGloo(
        (*training)->ranks(), std::chrono::minutes(1), [&](std::int64_t rank, const Open& open) -> Result<void> {
            SHARDSCOPE_ASSIGN(records[static_cast<std::size_t>(rank)], trainRank(**training, rank, open));
            return {};
        });
    bool whole = true;
    for (const auto& result : results) {
        EXPECT_TRUE(result) << (result ? "" : core::describe(result.error()));
        whole = whole && result.has_value();
    }
    return whole ? reportOf(**training, std::move(records)) : TrainReport{};
}

void expectTheSame(TrainConfig config, const std::string& name) {
    config.data = TrainingData::Formula;
    config.steps = config.plan.evaluation == config.plan.afterEvaluation ? 2 : 1;
    config.keepGradients = config.keepParameters = true;
    LiveLog ofThreads, ofGloo;
    ofThreads.follow(config);
    const TrainReport threads = train(config);
    ofGloo.follow(config);
    const TrainReport gloo = trainOverGloo(config);
    ASSERT_FALSE(threads.losses.empty()) << name;
    EXPECT_EQ(gloo.losses, threads.losses) << name;
    EXPECT_TRUE(gloo.gradients == threads.gradients) << name;
    EXPECT_TRUE(gloo.parameters == threads.parameters) << name;
    EXPECT_TRUE(ofGloo.byRank == ofThreads.byRank) << name;
    ASSERT_EQ(gloo.ranks.size(), threads.ranks.size()) << name;
    for (std::size_t r = 0; r < gloo.ranks.size(); ++r) {
        EXPECT_EQ(gloo.ranks[r].peak, threads.ranks[r].peak) << name;
        EXPECT_EQ(gloo.ranks[r].peakTotal, threads.ranks[r].peakTotal) << name;
        EXPECT_EQ(gloo.ranks[r].atEnd, threads.ranks[r].atEnd) << name;
    }
}

TEST(GlooTraining, EveryStrategyIsTheSameAsBetweenThreads) {
    for (const std::int64_t ranks : {2, 3, 4}) {
        expectTheSame(fsdp(12, ranks), "fsdp");
        expectTheSame(ddp(12, ranks), "ddp");
        expectTheSame(naive(12, ranks, 3), "naive");
    }
    TrainConfig hybrid = fsdp(12, 4);
    hybrid.plan.mesh = {1, 2, 2};
    expectTheSame(hybrid, "hsdp");
    hybrid.plan.precision.param = core::DType::BF16;
    expectTheSame(hybrid, "hsdp in bfloat16");
    hybrid.plan.precision.reduce = core::DType::BF16;
    expectTheSame(hybrid, "hsdp reduced in bfloat16");
    TrainConfig stages = fsdp(12, 2, 3);
    stages.plan.schedule = core::StageSchedule::Naive;
    stages.plan.mesh.pp = 2;
    expectTheSame(stages, "fsdp inside stages");
}

TEST(GlooTraining, EverySwitchIsTheSameAsBetweenThreads) {
    for (const auto& [name, config] : switchedRuns())
        if (config.plan.mesh.size() > 1) expectTheSame(config, name);
}

TEST(GlooTraining, TheCpuDeviceIsTheSameAsBetweenThreads) {
    for (TrainConfig config : {fsdp(12, 3), ddp(12, 2), naive(12, 2, 2)}) {
        config.device = DeviceKind::Cpu;
        expectTheSame(config, config.plan.name);
    }
}

}  // namespace
}  // namespace shardscope::runtime
