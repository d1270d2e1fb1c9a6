// Only a result that this rank of this training can have is put into a report, and only ranks that are to do the same
// join.

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "runtime/data/grey_shapes.h"
#include "runtime/launch/rank_collector.h"
#include "runtime/rendezvous/store_client.h"
#include "tests/runtime/communicator_worlds.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace std::chrono_literals;
using namespace testing;

/// Two stages in two micro-batches, and what the ranks tell of them.
class RankResults : public ::testing::Test {
protected:
    void SetUp() override {
        m_config = naive(4, 2, 2);
        m_config.data = TrainingData::Formula;
        m_config.keepParameters = true;
        auto training = Training::create(m_config);
        ASSERT_TRUE(training && (*training)->loadValues());
        m_training = std::move(*training);
        m_results.resize(2);
        const auto done = runOnThreadWorld(2, 20s, [&](std::int64_t rank, const Open& open) -> core::Result<void> {
            RankResult& own = m_results[static_cast<std::size_t>(rank)];
            SHARDSCOPE_ASSIGN(own.record, trainRank(*m_training, rank, open));
            own.clockAtStart = own.clockAtEnd = {{5, 0, 10}};
            return {};
        });
        for (const auto& one : done) ASSERT_TRUE(one) << core::describe(one.error());
    }
    /// What is said of rank 1's result after `change`.
    std::string refusal(const std::function<void(RankResult&)>& change) const {
        RankResult changed = m_results[1];
        change(changed);
        const auto checked = checkResult(changed, *m_training, 1);
        return checked ? "" : checked.error().message;
    }

    TrainConfig m_config;
    std::unique_ptr<Training> m_training;
    std::vector<RankResult> m_results;
};

TEST_F(RankResults, TheirOwnAreTaken) {
    for (std::int64_t rank = 0; rank < 2; ++rank) {
        const auto checked = checkResult(m_results[static_cast<std::size_t>(rank)], *m_training, rank);
        EXPECT_TRUE(checked) << core::describe(checked.error());
    }
    EXPECT_FALSE(m_results[1].record.outcomes[0].times.empty());
    EXPECT_EQ(m_results[1].record.outcomes[0].losses.size(), 2u);
}

TEST_F(RankResults, OthersAreRefused) {
    const std::int64_t never = std::numeric_limits<std::int64_t>::max();
    const auto step = [](RankResult& r) -> StepOutcome& { return r.record.outcomes[0]; };
    const auto op = [](RankResult& r) -> OpTimes& { return r.record.outcomes[0].times[0]; };
    const std::string ofStep = "the result of rank 1 has a step that ends before it begins, or never";
    const std::string ofOp = "the result of rank 1 has an op that ends before it starts, or never";
    const std::string ofClock = "the result of rank 1 has an exchange of clocks that cannot have been";
    EXPECT_EQ(refusal([](auto&) {}), "");
    const std::string ofTimes = "the result of rank 1 has times that no step takes";
    EXPECT_EQ(refusal([&](auto& r) { r.record.report.typical.breakdown.idle = never; }), ofTimes);
    EXPECT_EQ(refusal([](auto& r) { r.record.report.typical.activities[0] = -1; }), ofTimes);
    EXPECT_EQ(refusal([](auto& r) { r.record.report.rankClass = "stage 0"; }),
              "the result of rank 1 is that of another stage");
    EXPECT_EQ(refusal([&](auto& r) { step(r).losses.push_back(1); }),
              "the result of rank 1 has 3 losses of 2 micro-batches");
    EXPECT_EQ(refusal([&](auto& r) { step(r).begin = step(r).end + 1; }), ofStep);
    EXPECT_EQ(refusal([&](auto& r) { step(r).end = never; }), ofStep);
    EXPECT_EQ(refusal([&](auto& r) { step(r).begin = -never; }), ofStep);
    EXPECT_EQ(refusal([&](auto& r) { step(r).begin = step(r).end - (std::int64_t{1} << 51); }), ofStep);
    EXPECT_EQ(refusal([&](auto& r) { op(r).start = op(r).transferStart + 1; }), ofOp);
    EXPECT_EQ(refusal([&](auto& r) { op(r).transferStart = op(r).end + 1; }), ofOp);
    EXPECT_EQ(refusal([&](auto& r) { op(r).end = never; }), ofOp);
    EXPECT_EQ(refusal([&](auto& r) { op(r).op = core::OpId(std::size_t{0}); }),  // the first stage's
              "the result of rank 1 has times of an op that is none of its own");
    EXPECT_EQ(refusal([&](auto& r) { step(r).times.resize(m_training->graph().ops.size(), op(r)); }),
              "the result of rank 1 has times of more ops than there are");
    EXPECT_EQ(refusal([](auto& r) { r.clockAtEnd.resize(kClockExchanges + 1); }),
              "the result of rank 1 has more exchanges of clocks than there were");
    EXPECT_EQ(refusal([&](auto& r) { r.clockAtEnd[0].local = never; }), ofClock);
    EXPECT_EQ(refusal([&](auto& r) { r.clockAtStart[0].offset = -never; }), ofClock);
    EXPECT_EQ(refusal([](auto& r) { r.clockAtStart[0].roundTrip = -1; }), ofClock);
}

TEST(RankSteps, OnlyThoseThatCanHaveBeenAreTold) {
    constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
    RankStep good{1, 3, 0.5, 100, 200, 40, 1000};
    const auto with = [&](const std::function<void(RankStep&)>& change) {
        RankStep step = good;
        change(step);
        return canHaveBeen(step, 4);
    };
    EXPECT_TRUE(with([](auto&) {}));
    EXPECT_FALSE(with([](auto& s) { s.step = 4; }));
    EXPECT_FALSE(with([](auto& s) { s.step = -1; }));
    EXPECT_FALSE(with([](auto& s) { s.endNs = 99; }));
    EXPECT_FALSE(with([](auto& s) { s.endNs = kNever; }));
    EXPECT_FALSE(with([](auto& s) { s.beginNs = -kNever; }));
    EXPECT_FALSE(with([](auto& s) { s.exposedNs = -1; }));
    EXPECT_FALSE(with([](auto& s) { s.exposedNs = kNever; }));
    EXPECT_FALSE(with([](auto& s) { s.waitingNs = -1; }));
    EXPECT_FALSE(with([](auto& s) { s.waitingNs = kNever; }));
    EXPECT_FALSE(with([](auto& s) { s.peakBytes = -1; }));
    EXPECT_FALSE(with([](auto& s) { s.peakBytes = kNever; }));
}

// The store's thread has nobody above it who would catch.
TEST_F(RankResults, ACallbackThatThrowsIsAFailure) {
    m_config.progress = [](const RankStep&) { throw std::runtime_error("the screen is full"); };
    RankCollector collector(*m_training);
    const auto server = collector.serve({"127.0.0.1", 0});
    ASSERT_TRUE(server);
    auto rank =
        StoreClient::join({(*server)->endpoint(), 1, 2, fingerprintOf(*m_training)}, ConnectionPurpose::Rank, 5s);
    ASSERT_TRUE(rank) << core::describe(rank.error());
    ASSERT_TRUE(rank->tell(encode(RankStep{})));
    ASSERT_TRUE(rank->ping());  // answered after what came before it
    const auto failure = collector.failure();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->failure.error.message, "what rank 1 told could not be taken: the screen is full");
}

TEST(RanksFingerprint, KnowsOnWhatAndHowTheyTrain) {
    const auto of = [](const std::function<void(TrainConfig&)>& change) -> std::uint64_t {
        TrainConfig config = fsdp(4, 2);
        config.images = std::make_shared<GreyShapes>(Split::Train, 100, tinyVit().imageSize);
        change(config);
        const auto training = Training::create(config);
        EXPECT_TRUE(training) << (training ? "" : core::describe(training.error()));
        return training ? fingerprintOf(**training) : 0;
    };
    const auto images = [](Split split, std::int64_t size) {
        return [=](TrainConfig& c) { c.images = std::make_shared<GreyShapes>(split, size, tinyVit().imageSize); };
    };
    const std::uint64_t plain = of([](auto&) {});
    EXPECT_EQ(of(images(Split::Train, 100)), plain);
    EXPECT_NE(of(images(Split::Train, 101)), plain);
    EXPECT_NE(of(images(Split::Test, 100)), plain);
    EXPECT_NE(of([](auto& c) { c.images = nullptr; }), plain);
    EXPECT_NE(of([](auto& c) { c.data = TrainingData::Formula; }), plain);
    EXPECT_NE(of([](auto& c) { c.device = DeviceKind::Cpu; }), plain);
    EXPECT_NE(of([](auto& c) { c.link.bandwidth = 1e9; }), plain);
    EXPECT_NE(of([](auto& c) { c.link.latency = 1e-3; }), plain);
    EXPECT_NE(of([](auto& c) { c.optimizer.learningRate = 2e-3; }), plain);
    EXPECT_NE(of([](auto& c) { c.optimizer.weightDecay = 0.1; }), plain);
    EXPECT_NE(of([](auto& c) { c.dropout = core::Workload::Dropout::On; }), plain);
    EXPECT_NE(of([](auto& c) { c.cpuRules = true; }), plain);
    const auto replicated = [&](bool autocast) {
        return of([=](auto& c) {
            c.plan = ddp(4, 2).plan;
            c.plan.precision.param = core::DType::BF16;
            c.autocast = autocast;
        });
    };
    EXPECT_NE(replicated(true), replicated(false));
}

}  // namespace
}  // namespace shardscope::runtime
