#pragma once

// The step of the published ASTRA-sim comparison: 32 units of 404 MiB (about a 7B model in bf16). Forward per unit:
// all-gather, 4.5 ms of compute; backward in reverse order: all-gather, 9 ms, reduce-scatter; a gather waits for the
// compute two units earlier; transfers in issue order; one optimizer op of 2 ms. 161 ops a rank. Network: one switch,
// 50 GB/s, 1 us. Memory: each rank's shard of parameters, gradients and Adam's two moments in fp32 (the comparison has
// none; sizes as FSDP2 of a bf16 unit would have them), a gathered unit until its compute is over, a unit's gradients
// until they are reduced, and a quarter of a unit of activations from forward to backward.

#include <cstdint>
#include <utility>
#include <vector>

#include "core/graph/graph_builder.h"
#include "sim/price/prices.h"

namespace shardscope::bench {

struct PricedStep {
    core::StepGraph graph;
    sim::Prices prices;
};

/// `slowNum` / `slowDen`: how much longer compute takes beside a transfer.
inline PricedStep fsdpStep(std::int64_t ranks, std::int64_t units = 32, std::int32_t slowNum = 1100,
                           std::int32_t slowDen = 1000) {
    constexpr std::int64_t kUnitBytes = 404ll << 20, kForward = 4'500'000, kBackward = 9'000'000,
                           kOptimizer = 2'000'000;
    constexpr double kBandwidth = 50.0 * (1ll << 30), kLatency = 1e-6;
    // Ring: (n - 1) steps of a 1/n share.
    const double share = static_cast<double>(kUnitBytes) / static_cast<double>(ranks);
    const auto transfer = core::fromSeconds(static_cast<double>(ranks - 1) * (kLatency + share / kBandwidth)).ns;

    PricedStep step;
    core::GraphBuilder builder;
    const auto compute = builder.addStream(core::StreamKind::Compute);
    const auto gather = builder.addStream(core::StreamKind::AllGather);
    const auto reduce = builder.addStream(core::StreamKind::ReduceScatter);
    const auto group = builder.addGroup({.size = ranks, .name = "dp_shard"});
    step.prices.links = {0b10};
    step.prices.slowNum = slowNum;
    step.prices.slowDen = slowDen;
    core::RankClass all;
    all.name = "all ranks";
    all.multiplicity = ranks;
    builder.beginClass(all);
    const auto add = [&](core::OpKind kind, core::Phase phase, std::uint8_t stream, std::int64_t duration) {
        core::Op op;
        op.kind = kind;
        op.phase = phase;
        op.stream = stream;
        if (stream != compute) {
            op.group = group;
            op.bytes = {kUnitBytes};
        }
        step.prices.duration.push_back(duration);
        step.prices.release.push_back(0);
        return builder.addOp(op);
    };
    // The gather of the next unit is issued before the compute of this one, so that it need not queue behind its
    // reduction.
    std::vector<core::OpId> gathered, computed;
    std::vector<core::BlockId> unsharded, activations, gradients;
    const auto block = [](core::MemoryCategory category, std::int64_t bytes) {
        core::Block made;
        made.category = category;
        made.bytes = {bytes};
        return made;
    };
    const std::int64_t shard = units * 2 * kUnitBytes / ranks;  // fp32
    builder.addPersistent(block(core::MemoryCategory::ShardedParameters, shard));
    builder.addPersistent(block(core::MemoryCategory::ShardedGradients, shard));
    builder.addPersistent(block(core::MemoryCategory::OptimizerState, 2 * shard));
    const auto issueGather = [&] {
        const std::size_t next = gathered.size();
        if (next == 2 * static_cast<std::size_t>(units)) return;
        if (next >= 2) builder.waitOp(gather, computed[next - 2], core::EdgeReason::MemoryLimit);
        const auto phase = next < static_cast<std::size_t>(units) ? core::Phase::Forward : core::Phase::Backward;
        unsharded.push_back(builder.allocate(block(core::MemoryCategory::UnshardedParameters, kUnitBytes)));
        gathered.push_back(add(core::OpKind::AllGather, phase, gather, transfer));
        builder.use(unsharded.back(), gathered.back());
    };
    issueGather();
    for (std::size_t i = 0; i < 2 * static_cast<std::size_t>(units); ++i) {
        issueGather();
        const bool forward = i < static_cast<std::size_t>(units);
        builder.waitOp(compute, gathered[i], core::EdgeReason::Data);
        if (forward)
            activations.push_back(builder.allocate(block(core::MemoryCategory::Activations, kUnitBytes / 4)));
        else
            gradients.push_back(builder.allocate(block(core::MemoryCategory::UnshardedGradients, kUnitBytes)));
        computed.push_back(add(core::OpKind::Compute, forward ? core::Phase::Forward : core::Phase::Backward, compute,
                               forward ? kForward : kBackward));
        builder.use(unsharded[i], computed.back());
        builder.release(unsharded[i]);
        if (forward) {
            builder.use(activations.back(), computed.back());
            continue;
        }
        const core::BlockId saved = activations[2 * static_cast<std::size_t>(units) - 1 - i];
        builder.use(saved, computed.back());
        builder.release(saved);
        builder.use(gradients.back(), computed.back());
        builder.waitOp(reduce, computed.back(), core::EdgeReason::Data);
        builder.use(gradients.back(), add(core::OpKind::ReduceScatter, core::Phase::Backward, reduce, transfer));
        builder.release(gradients.back());
    }
    builder.waitStream(compute, reduce, core::EdgeReason::Data);
    add(core::OpKind::OptimizerStep, core::Phase::Optimizer, compute, kOptimizer);
    step.graph = std::move(builder.freeze().value());
    return step;
}

}  // namespace shardscope::bench
