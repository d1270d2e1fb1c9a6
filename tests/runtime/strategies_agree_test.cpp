// The same training under every strategy: a batch of 12 on 1 to 4 ranks (with three, no parameter is cut evenly).

#include <numeric>

#include "core/plan/sharding.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace testing;

TrainConfig prepared(TrainConfig config) {
    config.steps = 5;
    config.seed = 11;
    config.data = TrainingData::Formula;
    config.parameters = formulaParameters(modelFor(config), -2);
    config.keepGradients = true;
    return config;
}

std::vector<std::pair<std::string, TrainConfig>> strategies() {
    std::vector<std::pair<std::string, TrainConfig>> all;
    for (std::int64_t ranks : {1, 2, 3, 4}) all.emplace_back("fsdp on " + std::to_string(ranks), fsdp(12, ranks));
    for (std::int64_t stages : {2, 3, 4}) all.emplace_back("naive on " + std::to_string(stages), naive(12, stages));
    for (std::int64_t micro : {2, 3}) all.emplace_back("naive on 3, micro-batches", naive(12, 3, micro));
    all.emplace_back("single, 4 micro-batches", single(12, 4));
    all.emplace_back("fsdp on 2, 3 micro-batches", fsdp(12, 2, 3));
    TrainConfig both = fsdp(12, 2);
    both.plan.schedule = core::StageSchedule::Naive;
    both.plan.mesh.pp = 2;
    all.emplace_back("fsdp on 2 in each of 2 naive stages", both);
    TrainConfig kept = fsdp(12, 4);
    kept.plan.fsdp.reshardAfterForward = {core::Reshard::Kind::Group, 2};
    all.emplace_back("fsdp on 4, resharded to 2", kept);
    TrainConfig whole = fsdp(12, 3);
    whole.plan.fsdp.reshardAfterForward = {core::Reshard::Kind::False, 0};
    all.emplace_back("fsdp on 3, not resharded", whole);
    TrainConfig prefetch = fsdp(12, 2);
    prefetch.plan.fsdp.forwardPrefetch = prefetch.plan.fsdp.backwardPrefetch = 2;
    all.emplace_back("fsdp on 2, explicit prefetch", prefetch);
    TrainConfig noRoot = fsdp(12, 2);
    noRoot.plan.fsdp.wrap.blocksPerUnit = 2;
    all.emplace_back("fsdp on 2, both blocks one unit", noRoot);
    for (std::int64_t shard : {1, 2, 3}) {
        TrainConfig config = fsdp(6, shard);
        config.plan.mesh.dpReplicate = 2;
        all.emplace_back("hsdp, 2 replicas of " + std::to_string(shard), config);
    }
    for (auto& run : switchedRuns()) all.push_back(std::move(run));
    for (std::int64_t ranks : {1, 2, 3, 4}) all.emplace_back("ddp on " + std::to_string(ranks), ddp(12, ranks));
    for (const bool views : {false, true})
        for (const auto sync : {core::GradientSync::EveryMicroBatch, core::GradientSync::LastMicroBatch}) {
            TrainConfig config = ddp(12, 2, 3);
            config.plan.ddp.gradientAsBucketView = views;
            config.plan.gradientSync = sync;
            all.emplace_back("ddp on 2, 3 micro-batches", config);
        }
    return all;
}

/// Every strategy, in parts that run side by side.
class StrategiesAgreeInParts : public ::testing::TestWithParam<std::size_t> {
public:
    static constexpr std::size_t kParts = 4;
};

TEST_P(StrategiesAgreeInParts, OnLossesAndGradients) {
    const TrainConfig reference = prepared(single(12));
    const core::Model model = modelFor(reference);
    const TrainReport expected = train(reference);
    TrainConfig referenceOnce = reference;
    referenceOnce.steps = 1;
    const ParameterValues expectedGradients = train(referenceOnce).gradients;
    ASSERT_EQ(expected.losses.size(), 5u);
    EXPECT_LT(expected.losses.back(), expected.losses.front());
    const auto all = strategies();
    for (std::size_t s = GetParam(); s < all.size(); s += kParts) {
        const auto& [name, config] = all[s];
        SCOPED_TRACE(name);
        const TrainReport report = train(prepared(config));
        ASSERT_EQ(report.losses.size(), 5u);
        for (std::size_t t = 0; t < 5; ++t)
            EXPECT_NEAR(report.losses[t] / expected.losses[t], 1.0, 1e-6) << "step " << t;
        // Gradients of one step from the same parameters: five steps of Adam amplify rounding.
        TrainConfig once = prepared(config);
        once.steps = 1;
        const ParameterValues gradients = train(once).gradients;
        ASSERT_EQ(gradients.size(), expectedGradients.size());
        for (std::size_t p = 0; p < gradients.size(); ++p)
            EXPECT_LE(relativeDistance(withoutKeyBias(model.parameters[p], gradients[p]),
                                       withoutKeyBias(model.parameters[p], expectedGradients[p])),
                      2e-6)
                << model.parameters[p].name;
    }
}

INSTANTIATE_TEST_SUITE_P(Parts, StrategiesAgreeInParts,
                         ::testing::Range(std::size_t{0}, StrategiesAgreeInParts::kParts));

// The gradients that reach the optimizer have the norm asked for, and the direction of those that were not clipped.
TEST(StrategiesAgree, OnClippedGradients) {
    TrainConfig hybrid = fsdp(6, 2), offloaded = fsdp(12, 2), inStages = fsdp(12, 2);
    hybrid.plan.mesh.dpReplicate = 2;
    offloaded.plan.fsdp.cpuOffload = true;
    inStages.plan.schedule = core::StageSchedule::Naive;
    inStages.plan.mesh.pp = 2;
    TrainConfig whole = prepared(single(12));
    whole.steps = 1;
    const core::Model model = modelFor(whole);
    const ParameterValues unclipped = train(whole).gradients;
    const auto normOf = [](const ParameterValues& gradients) {
        double squares = 0;
        for (const auto& values : gradients)
            for (const float value : values) squares += static_cast<double>(value) * value;
        return std::sqrt(squares);
    };
    const double norm = normOf(unclipped);
    ASSERT_GT(norm, 0);
    for (const double most : {norm / 4, norm * 4})
        for (const TrainConfig& config :
             {single(12, 3), fsdp(12, 3), naive(12, 3), naive(12, 4, 3), ddp(12, 2), hybrid, offloaded, inStages}) {
            SCOPED_TRACE(config.plan.name);
            TrainConfig clipped = prepared(config);
            clipped.steps = 1;
            clipped.plan.clipNorm = most;
            const ParameterValues gradients = train(clipped).gradients;
            EXPECT_NEAR(normOf(gradients) / std::min(norm, most), 1.0, 1e-5);
            for (std::size_t p = 0; p < gradients.size(); ++p) {
                std::vector<float> expected = withoutKeyBias(model.parameters[p], unclipped[p]);
                for (float& value : expected) value *= static_cast<float>(std::min(1.0, most / norm));
                EXPECT_LE(relativeDistance(withoutKeyBias(model.parameters[p], gradients[p]), expected), 1e-5)
                    << model.parameters[p].name;
            }
        }
}

TEST(StrategiesAgree, OnTheLossOfAnEvaluationAndOnTrainingAfterIt) {
    TrainConfig reference = prepared(single(12));
    reference.steps = 1;
    const TrainReport expected = train(reference);
    const core::Model model = modelFor(reference);
    TrainConfig sliced = fsdp(12, 4), whole = fsdp(12, 2);
    sliced.plan.fsdp.reshardAfterForward = {core::Reshard::Kind::Group, 2};
    whole.plan.fsdp.reshardAfterForward = {core::Reshard::Kind::False, 0};
    for (const TrainConfig& config : {single(12, 2), fsdp(12, 3), sliced, whole, naive(12, 3, 2), ddp(12, 2)}) {
        SCOPED_TRACE(config.plan.name);
        for (const bool after : {false, true}) {
            TrainConfig evaluating = prepared(config);
            evaluating.keepGradients = false;
            evaluating.plan.evaluation = true;
            evaluating.plan.afterEvaluation = after;
            evaluating.steps = after ? 3 : 1;
            for (const double loss : train(evaluating).losses) EXPECT_NEAR(loss / expected.losses[0], 1.0, 1e-6);
        }
        TrainConfig training = prepared(config);
        training.steps = 1;
        training.plan.afterEvaluation = true;
        const TrainReport report = train(training);
        ASSERT_EQ(report.gradients.size(), expected.gradients.size());
        for (std::size_t p = 0; p < report.gradients.size(); ++p)
            EXPECT_LE(relativeDistance(withoutKeyBias(model.parameters[p], report.gradients[p]),
                                       withoutKeyBias(model.parameters[p], expected.gradients[p])),
                      2e-6)
                << model.parameters[p].name;
    }
    TrainConfig twice = prepared(fsdp(12, 2));
    twice.plan.evaluation = true;
    const auto refused = trainSteps(twice);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().where, "[training] step_kind");
}

TEST(StrategiesAgree, OnWhatIsTrainedWithTheRestFrozen) {
    const std::vector<std::vector<std::string>> kinds = {
        {"encoder.layers.encoder_layer_0"},  // backward goes on below it
        {"conv_proj", "class_token", "encoder.pos_embedding", "encoder.layers.encoder_layer_0"},  // and not
        {"encoder.layers.encoder_layer_1.mlp.0", "encoder.layers.encoder_layer_0.ln_1"}};         // parts of a unit
    for (const auto& frozen : kinds) {
        SCOPED_TRACE(frozen.front());
        TrainConfig plain = prepared(single(12)), alone = plain, sharded = prepared(fsdp(12, 3)),
                    stages = prepared(naive(12, 2, 3)), accumulated = prepared(fsdp(12, 2, 3));
        accumulated.plan.gradientSync = core::GradientSync::LastMicroBatch;
        const core::Model model = modelFor(plain);
        alone.frozen = frozen;
        plain.steps = alone.steps = 1;
        const ParameterValues all = train(plain).gradients, some = train(alone).gradients;
        std::size_t left = 0;
        for (std::size_t p = 0; p < all.size(); ++p) {
            if (some[p].empty()) continue;
            ++left;
            EXPECT_EQ(some[p], all[p]) << model.parameters[p].name;
        }
        EXPECT_GT(left, 0u);
        EXPECT_LT(left, all.size());
        for (TrainConfig* config : {&sharded, &stages, &accumulated}) {
            if (config == &stages && frozen.size() > 2) continue;  // no gradient for the first stage: refused
            config->frozen = frozen;
            config->steps = 1;
            const ParameterValues gradients = train(*config).gradients;
            for (std::size_t p = 0; p < all.size(); ++p) {
                ASSERT_EQ(gradients[p].size(), some[p].size()) << model.parameters[p].name;
                if (some[p].empty()) continue;
                EXPECT_LE(relativeDistance(withoutKeyBias(model.parameters[p], gradients[p]),
                                           withoutKeyBias(model.parameters[p], some[p])),
                          2e-6)
                    << model.parameters[p].name;
            }
        }
    }
}

TEST(StrategiesAgree, UnderSgdWithMomentum) {
    TrainConfig alone = prepared(single(12)), sharded = prepared(fsdp(12, 3));
    for (TrainConfig* config : {&alone, &sharded}) config->plan.optimizer = core::OptimizerKind::SgdMomentum;
    TrainConfig plain = alone;
    plain.plan.optimizer = core::OptimizerKind::Sgd;
    const auto losses = train(alone).losses, shardedLosses = train(sharded).losses, plainLosses = train(plain).losses;
    ASSERT_EQ(losses.size(), 5u);
    for (std::size_t t = 0; t < 5; ++t) EXPECT_NEAR(losses[t] / shardedLosses[t], 1.0, 1e-6) << t;
    EXPECT_EQ(losses[1], plainLosses[1]);  // the first step is plain SGD's
    EXPECT_NE(losses[3], plainLosses[3]);
}

// With data of their own the ranks' gradients differ, and what each keeps is the mean: N times one rank's would be the
// sum.
TEST(StrategiesAgree, TheReducedGradientIsTheMeanOverRanks) {
    TrainConfig config = prepared(fsdp(12, 3)), whole = prepared(ddp(12, 3));
    config.steps = whole.steps = 1;
    const ParameterValues reduced = train(config).gradients, averaged = train(whole).gradients;
    ParameterValues mean;
    for (std::int64_t rank = 0; rank < 3; ++rank) {
        TrainConfig alone = prepared(single(4));
        alone.steps = 1;
        alone.samples = [rank](std::int64_t, std::int64_t first, std::int64_t count) -> core::Result<Batch> {
            return formulaBatch(tinyVit(), 4 * rank + first, count);
        };
        const ParameterValues own = train(alone).gradients;
        if (mean.empty())
            for (const auto& values : own) mean.emplace_back(values.size(), 0.0f);
        for (std::size_t p = 0; p < own.size(); ++p)
            for (std::size_t i = 0; i < own[p].size(); ++i) mean[p][i] += own[p][i] / 3.0f;
    }
    const core::Model model = modelFor(config);
    for (std::size_t p = 0; p < mean.size(); ++p)
        for (const auto& gradients : {reduced[p], averaged[p]})
            EXPECT_LE(relativeDistance(withoutKeyBias(model.parameters[p], gradients),
                                       withoutKeyBias(model.parameters[p], mean[p])),
                      2e-6)
                << model.parameters[p].name;
}

// After a step a rank holds its own shards and the state of what it owns, nothing of the others'.
TEST(StrategiesAgree, ARankKeepsItsOwnShareOnly) {
    const std::int64_t ranks = 3;
    TrainConfig config = prepared(fsdp(12, ranks));
    config.steps = 2;
    config.keepParameters = true;
    const TrainReport report = train(config);
    const core::Model model = modelFor(config);
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
        std::int64_t shards = 0, own = 0;
        for (const core::Parameter& parameter : model.parameters) {
            shards += core::paddedElements(parameter.shape, ranks) / ranks;
            own += core::elementsOf(core::shardShape(parameter.shape, ranks, rank));
        }
        LiveBytes expected{};
        expected[static_cast<std::size_t>(core::MemoryCategory::ShardedParameters)] = 4 * shards;
        expected[static_cast<std::size_t>(core::MemoryCategory::OptimizerState)] = 8 * own;
        EXPECT_EQ(report.ranks[static_cast<std::size_t>(rank)].atEnd, expected) << "rank " << rank;
    }
    for (std::size_t p = 0; p < model.parameters.size(); ++p)
        EXPECT_EQ(static_cast<std::int64_t>(report.parameters[p].size()), core::elementsOf(model.parameters[p].shape));
}

TEST(StrategiesAgree, TheTimelineAddsUpToTheStep) {
    const TrainReport report = train(prepared(naive(12, 3)));
    ASSERT_EQ(report.breakdown.size(), 3u);
    for (const timeline::Breakdown& rank : report.breakdown) {
        EXPECT_EQ(rank.compute + rank.transfer + rank.copy + rank.waiting + rank.idle, rank.step);
        EXPECT_GT(rank.compute, 0);
    }
    // The last stage waits for the first one's forward, the first for the last one's backward.
    EXPECT_GT(report.breakdown.front().waiting, 0);
    EXPECT_GT(report.breakdown.back().waiting, 0);
}

}  // namespace
}  // namespace shardscope::runtime
