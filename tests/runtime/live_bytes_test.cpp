// What the device has allocated after every op is what the graph says in host order, by category, on every rank.

#include "core/graph/host_memory.h"
#include "core/graph/optimizer_state.h"
#include "tests/runtime/training_fixture.h"

namespace shardscope::runtime {
namespace {

using namespace testing;

struct Recorded {
    core::OpId op;
    LiveBytes live;
};

void expectEqualBytes(TrainConfig config) {
    const core::Model model = modelFor(config);
    const auto built = core::buildStepGraph(model, config.plan);
    ASSERT_TRUE(built) << core::describe(built.error());
    const core::StepGraph& graph = *built;
    const auto ranks = static_cast<std::size_t>(config.plan.mesh.size());
    config.graph = &graph;
    config.steps = 2;
    std::vector<std::vector<Recorded>> recorded(ranks);
    config.launched = [&](std::int64_t rank, std::int64_t, core::OpId op, const LiveBytes& live) {
        recorded[static_cast<std::size_t>(rank)].push_back({op, live});
    };
    ASSERT_EQ(train(config).losses.size(), 2u);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::int64_t stageRanks = config.plan.mesh.dpReplicate * config.plan.mesh.dpShard;
        const auto stage = static_cast<std::int64_t>(rank) / stageRanks;
        const core::RankClass& rankClass = graph.classes[static_cast<std::size_t>(stage)];
        std::vector<core::Unit> units;
        std::vector<bool> seen(graph.units.size(), false);
        for (const core::Block& block : graph.blocks)
            if (block.unit.valid() && block.rankClass == core::ClassId(static_cast<std::size_t>(stage)) &&
                !seen[block.unit.index()]) {
                seen[block.unit.index()] = true;
                units.push_back(graph.units[block.unit.index()]);
            }
        const std::int64_t state = core::optimizerStateBytes(model, units, config.plan,
                                                             static_cast<std::int64_t>(rank) % config.plan.mesh.dpShard)
                                       .value;
        std::size_t next = 0;
        for (int step = 0; step < 2; ++step) {
            core::HostMemoryCursor cursor(graph, rankClass, state);
            while (const core::HostAction* action = cursor.next()) {
                if (action->kind != core::HostActionKind::Launch) continue;
                ASSERT_LT(next, recorded[rank].size());
                const Recorded& here = recorded[rank][next++];
                ASSERT_EQ(here.op, action->op);
                for (std::size_t c = 0; c < core::kMemoryCategories; ++c)
                    ASSERT_EQ(here.live[c], cursor.live().bytes[c])
                        << core::nameOf(static_cast<core::MemoryCategory>(c)) << " on rank " << rank << " after "
                        << core::labelOf(graph, model, action->op) << ", op " << action->op.index();
            }
        }
        EXPECT_EQ(next, recorded[rank].size());
    }
}

TEST(LiveBytes, AreThoseOfTheGraphAfterEveryOp) {
    for (std::int64_t ranks : {1, 2, 3, 4}) {
        SCOPED_TRACE("fsdp on " + std::to_string(ranks));
        expectEqualBytes(fsdp(12, ranks));
    }
    for (std::int64_t stages : {1, 2, 4}) {
        SCOPED_TRACE("naive on " + std::to_string(stages));
        expectEqualBytes(naive(12, stages, 3));
    }
    TrainConfig both = fsdp(12, 2, 2);
    both.plan.schedule = core::StageSchedule::Naive;
    both.plan.mesh.pp = 2;
    expectEqualBytes(both);
}

TEST(LiveBytes, HoldInMixedPrecisionToo) {
    for (const core::DType param : {core::DType::BF16, core::DType::F16})
        for (const core::DType reduce : {core::DType::F32, param})
            for (std::int64_t ranks : {1, 2, 4}) {
                SCOPED_TRACE(std::string(core::nameOf(param)) + " reduced in " + std::string(core::nameOf(reduce)));
                TrainConfig config = fsdp(8, ranks);
                config.plan.precision.param = param;
                config.plan.precision.reduce = reduce;
                expectEqualBytes(config);
            }
    TrainConfig alone = single(8, 2);
    alone.plan.precision.param = core::DType::BF16;
    expectEqualBytes(alone);
}

TEST(LiveBytes, HoldUnderAutocast) {
    using core::Checkpointing;
    TrainConfig views = ddp(12, 2, 3), once = ddp(12, 2, 3);
    views.plan.ddp.gradientAsBucketView = true;
    once.plan.gradientSync = core::GradientSync::LastMicroBatch;
    for (TrainConfig config : {single(12), single(12, 3), naive(12, 3, 2), ddp(12, 2), views, once})
        for (const core::DType param : {core::DType::BF16, core::DType::F16})
            for (const auto mode :
                 {Checkpointing::Mode::None, Checkpointing::Mode::Full, Checkpointing::Mode::Selective})
                for (const bool evaluation : {false, true}) {
                    SCOPED_TRACE(config.plan.name + " in " + std::string(core::nameOf(param)));
                    config.autocast = true;
                    config.plan.precision.param = param;
                    config.plan.checkpointing.mode = mode;
                    config.plan.evaluation = config.plan.afterEvaluation = evaluation;
                    expectEqualBytes(config);
                }
}

TEST(LiveBytes, HoldWithDropoutAndUnderTheRulesOfACpu) {
    using core::Checkpointing;
    for (TrainConfig config : {single(12, 2), naive(12, 3, 2), ddp(12, 2), fsdp(12, 3)})
        for (const bool cpuRules : {false, true})
            for (const auto attention :
                 {core::Workload::AttentionKind::Math,
                  cpuRules ? core::Workload::AttentionKind::Cpu : core::Workload::AttentionKind::Efficient})
                for (const auto mode : {Checkpointing::Mode::None, Checkpointing::Mode::Full})
                    for (const bool dropout : {false, true}) {
                        SCOPED_TRACE(config.plan.name + (cpuRules ? ", rules of a CPU" : ""));
                        config.cpuRules = cpuRules;
                        config.attention = attention;
                        config.dropout = dropout ? core::Workload::Dropout::On : core::Workload::Dropout::Off;
                        config.plan.precision.param = core::DType::BF16;
                        config.plan.checkpointing.mode = mode;
                        expectEqualBytes(config);
                    }
}

TEST(LiveBytes, HoldForHsdp) {
    for (std::int64_t shard : {1, 2})
        for (const core::DType reduce : {core::DType::F32, core::DType::BF16, core::DType::F16}) {
            TrainConfig config = fsdp(8, shard, 2);
            config.plan.mesh.dpReplicate = 2;
            config.plan.precision.param = reduce;
            config.plan.precision.reduce = reduce;
            expectEqualBytes(config);
        }
}

TEST(LiveBytes, HoldForDdp) {
    for (const bool views : {false, true})
        for (const auto sync : {core::GradientSync::EveryMicroBatch, core::GradientSync::LastMicroBatch})
            for (const auto param : {core::DType::F32, core::DType::BF16}) {
                SCOPED_TRACE(views ? "views" : "no views");
                TrainConfig config = ddp(12, 2, 3);
                config.plan.ddp.gradientAsBucketView = views;
                config.plan.gradientSync = sync;
                config.plan.precision.param = param;
                expectEqualBytes(config);
            }
    expectEqualBytes(ddp(6, 1));
}

TEST(LiveBytes, HoldForEverySwitchOfFsdp) {
    for (auto& [name, config] : switchedRuns())
        for (const auto param : {core::DType::F32, core::DType::BF16}) {
            SCOPED_TRACE(name);
            config.plan.precision.param = param;
            expectEqualBytes(config);
        }
}

TEST(LiveBytes, HoldInEvaluation) {
    const core::Reshard whole{core::Reshard::Kind::False, 0}, pairs{core::Reshard::Kind::Group, 2};
    TrainConfig kept = fsdp(12, 2, 2), sliced = fsdp(12, 4), hybrid = fsdp(6, 2), offloaded = fsdp(12, 2);
    kept.plan.fsdp.reshardAfterForward = whole;
    sliced.plan.fsdp.reshardAfterForward = pairs;
    hybrid.plan.mesh.dpReplicate = 2;
    offloaded.plan.fsdp.cpuOffload = true;
    for (TrainConfig config :
         {fsdp(12, 1), fsdp(12, 3), kept, sliced, hybrid, offloaded, single(12, 2), naive(12, 3, 2), ddp(12, 2)})
        for (const core::DType param : {core::DType::F32, core::DType::BF16}) {
            SCOPED_TRACE(config.plan.name);
            config.plan.evaluation = config.plan.afterEvaluation = true;
            config.plan.precision.param = param;
            expectEqualBytes(config);
        }
}

TEST(LiveBytes, HoldWithClippedGradients) {
    for (TrainConfig config : {fsdp(12, 3), single(12, 2), naive(12, 3, 2), ddp(12, 2)}) {
        SCOPED_TRACE(config.plan.name);
        config.plan.clipNorm = 0.5;
        expectEqualBytes(config);
    }
}

TEST(LiveBytes, HoldWithFrozenParametersAndOtherOptimizers) {
    for (const core::DType param : {core::DType::F32, core::DType::BF16})
        for (const std::vector<std::string>& frozen :
             {std::vector<std::string>{"encoder.layers.encoder_layer_0"},
              {"conv_proj", "class_token", "encoder.pos_embedding"},
              {"encoder.layers.encoder_layer_1.mlp.0", "encoder.layers.encoder_layer_1.ln_1"}}) {
            SCOPED_TRACE(frozen.front());
            TrainConfig config = fsdp(12, 3, 2);
            config.frozen = frozen;
            config.plan.precision.param = param;
            expectEqualBytes(config);
            config.plan.gradientSync = core::GradientSync::LastMicroBatch;
            config.plan.checkpointing.mode = core::Checkpointing::Mode::Full;
            expectEqualBytes(config);
        }
    for (const core::OptimizerKind kind : {core::OptimizerKind::Sgd, core::OptimizerKind::SgdMomentum}) {
        TrainConfig config = fsdp(12, 3);
        config.plan.optimizer = kind;
        expectEqualBytes(config);
    }
}

TEST(LiveBytes, HoldForEveryReshardAndPrefetch) {
    for (const core::Reshard reshard :
         {core::Reshard{core::Reshard::Kind::False, 0}, core::Reshard{core::Reshard::Kind::Group, 2}}) {
        TrainConfig config = fsdp(8, 4);
        config.plan.fsdp.reshardAfterForward = reshard;
        expectEqualBytes(config);
    }
    TrainConfig config = fsdp(8, 2);
    config.plan.fsdp.forwardPrefetch = config.plan.fsdp.backwardPrefetch = config.plan.fsdp.rootPrefetch = 2;
    expectEqualBytes(config);
    config = fsdp(8, 2);
    config.plan.fsdp.rootReshardAfterForward = {core::Reshard::Kind::True, 0};
    expectEqualBytes(config);
    config.attention = core::Workload::AttentionKind::Math;
    expectEqualBytes(config);
}

}  // namespace
}  // namespace shardscope::runtime
