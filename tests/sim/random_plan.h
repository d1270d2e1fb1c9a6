#pragma once

// Random models and plans, with random prices and a clock of its own for every rank.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "core/graph/build.h"
#include "sim/engine/event_engine.h"
#include "tests/checkers/support/recorded_case.h"

namespace shardscope::tests {

struct Drawn {
    core::Model model;
    core::StepGraph graph;
    sim::Prices prices;
    std::vector<sim::Instance> ranks;  // all, with clocks of their own
};

class Draw {
public:
    explicit Draw(std::uint64_t seed) : m_random(seed) {}
    std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(m_random() % static_cast<std::uint64_t>(n)); }
    bool coin() { return below(2) == 0; }

    core::Reshard reshard() {
        const std::int64_t kind = below(8);
        if (kind == 0) return {core::Reshard::Kind::Group, 2};
        return {kind < 3   ? core::Reshard::Kind::Unset
                : kind < 6 ? core::Reshard::Kind::True
                           : core::Reshard::Kind::False,
                0};
    }

    core::Plan plan(std::int64_t blocks) {
        core::Plan plan;
        constexpr core::UnitPolicy kPolicies[] = {core::UnitPolicy::None, core::UnitPolicy::Fsdp,
                                                  core::UnitPolicy::Fsdp, core::UnitPolicy::Ddp};
        plan.policy = kPolicies[below(4)];
        if (plan.policy != core::UnitPolicy::Ddp && below(3) == 0)
            plan.schedule = core::StageSchedule::Naive, plan.mesh.pp = 1 + below(std::min<std::int64_t>(blocks, 3));
        plan.mesh.dpShard = plan.policy == core::UnitPolicy::Fsdp ? 1 + below(4) : 1;
        if (plan.policy == core::UnitPolicy::Fsdp && below(4) == 0) plan.mesh.dpReplicate = 2;
        if (plan.policy == core::UnitPolicy::Ddp) {
            plan.mesh.dpReplicate = 1 + below(4);
            plan.ddp.bucketCap = 0.0002 * static_cast<double>(1 + below(8));
            plan.ddp.gradientAsBucketView = coin();
            if (coin()) plan.gradientSync = core::GradientSync::LastMicroBatch;
        }
        plan.fsdp.reshardAfterForward = reshard();
        plan.fsdp.rootReshardAfterForward = reshard();
        plan.fsdp.keepLastUnit = coin();
        plan.fsdp.wrap.blocksPerUnit = 1 + below(2);
        plan.fsdp.wrap.root = below(6) != 0;
        plan.fsdp.forwardPrefetch = std::max<std::int64_t>(0, below(5) - 2);
        plan.fsdp.backwardPrefetch = std::max<std::int64_t>(0, below(5) - 2);
        if (plan.policy == core::UnitPolicy::Fsdp) {
            plan.fsdp.keepBetweenMicroBatches = below(4) == 0;
            plan.fsdp.lastBackwardOnly = below(4) == 0;
            plan.fsdp.reduceInputs = 1 + below(3);
            plan.fsdp.separateReduceGroup = below(4) == 0;
            plan.fsdp.asyncUnshard = below(4) == 0;
            plan.fsdp.shareContext = !plan.fsdp.wrap.root && coin();
            plan.fsdp.hybridMesh = below(6) == 0;
            plan.fsdp.forceSum = below(4) == 0;
            if (below(4) == 0) plan.fsdp.divideFactor = static_cast<double>(1 + below(4));
            plan.fsdp.manualFinalize = below(6) == 0;
            constexpr core::GradientSync kSyncs[] = {core::GradientSync::EveryMicroBatch,
                                                     core::GradientSync::LastMicroBatch,
                                                     core::GradientSync::AllReduceLast};
            plan.gradientSync = kSyncs[below(3)];
        }
        constexpr core::Checkpointing::Mode kModes[] = {
            core::Checkpointing::Mode::None, core::Checkpointing::Mode::Full, core::Checkpointing::Mode::EveryNth,
            core::Checkpointing::Mode::Selective};
        plan.checkpointing = {kModes[below(4)], 1 + below(3), coin()};
        if (coin()) plan.precision.param = core::DType::BF16;
        plan.optimizer = coin() ? core::OptimizerKind::AdamW : core::OptimizerKind::None;
        plan.microBatches = 1 + below(3);
        return plan;
    }

    /// Nothing if the plan is refused.
    std::optional<Drawn> draw() {
        checkers::ToySizes sizes;
        sizes.model.blocks = 1 + below(5);
        constexpr const char* kKinds[] = {"mlp", "attn_mlp", "stage"};
        sizes.model.blockKind = kKinds[below(3)];
        sizes.model.tied = below(4) == 0;
        const core::Plan plan = this->plan(sizes.model.blocks);
        auto model = checkers::toyModel(sizes, plan.precision.compute());
        if (!model) return {};
        auto graph = core::buildStepGraph(*model, plan);
        if (!graph) return {};
        Drawn drawn{std::move(*model), std::move(*graph), {}, {}};
        price(drawn);
        drawn.ranks = sim::allInstances(drawn.graph);
        for (sim::Instance& rank : drawn.ranks) {
            if (coin()) rank.offset = below(3000);
            if (coin()) rank.computePpm = 900'000 + below(300'000);
        }
        return drawn;
    }

private:
    // Members of one transfer take the same time: priced by match number, kind and bytes.
    void price(Drawn& drawn) {
        std::map<std::uint32_t, std::int64_t> byMatch;
        sim::Prices& prices = drawn.prices;
        std::int64_t issued = 0;
        const bool slowHost = coin();
        for (const core::Op& op : drawn.graph.ops) {
            std::int64_t duration = below(5) == 0 ? 0 : below(1000);
            if (sim::isTransfer(op.kind) && op.match != sim::kNoOp)
                duration = byMatch.try_emplace(op.match, duration).first->second;
            prices.duration.push_back(duration);
            if (slowHost) issued += below(200);
            prices.release.push_back(issued);
        }
        for (std::size_t g = 0; g < drawn.graph.groups.size(); ++g)
            prices.links.push_back(static_cast<std::uint32_t>(below(4)));
        prices.slowNum = 1000 + static_cast<std::int32_t>(below(700));
        prices.slowDen = 1000;
    }

    std::mt19937_64 m_random;
};

}  // namespace shardscope::tests
